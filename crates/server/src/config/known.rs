//! The keys of kuiper.yaml: which have an effect, which are taken for compatibility only, and why.

use serde_json::Value;

/// Keys that do something, in lower case; a `*` at the end stands for everything below.
const WORKING: &[&str] = &[
    "basic.loglevel", "basic.debug", "basic.consolelog", "basic.filelog",
    "basic.logdisabletimestamp", "basic.syslog.*", "basic.rotatetime", "basic.maxage",
    "basic.rotatesize", "basic.rotatecount", "basic.timezone", "basic.ignorecase",
    "basic.restip", "basic.restport",
    "basic.resttls.*", "basic.authentication", "basic.prometheus", "basic.prometheusport",
    "basic.pprof", "basic.pprofip", "basic.pprofport",
    "basic.pluginhosts", "basic.rulepatrolinterval", "basic.aeskey",
    "basic.gracefulshutdowntimeout", "basic.resourceprofileconfig.enable",
    "basic.metricsdumpconfig.*",
    "basic.enablerestauditlog", "basic.enableprivatenet", "basic.allowexternalfileaccess",
    "rule.iseventtime", "rule.latetolerance", "rule.concurrency", "rule.bufferlength",
    "rule.sendmetatosink", "rule.senderror", "rule.qos", "rule.checkpointinterval",
    "rule.restartstrategy.attempts", "source.httpserverip", "source.httpserverport",
    "source.httpservertls.*", "store.type", "store.extstatetype", "store.sqlite.name",
    "opentelemetry.localtracecapacity", "opentelemetry.enablelocalstorage",
    "opentelemetry.servicename", "opentelemetry.enableremotecollector",
    "opentelemetry.remoteendpoint", "security.tls.*",
    "security.encryption.*", "broker.enable", "broker.listener",
];

/// Keys that are read over, each with the reason.
pub const SILENT: &[(&str, &str)] = &[
    ("basic.ip", "the command line tool speaks to the REST port"),
    ("basic.port", "the command line tool speaks to the REST port"),
    ("basic.sql.*", "there is no sql connector in this build"),
    ("basic.enableopenziti", "there is no OpenZiti in this build"),
    ("basic.connection.*", "connections are tried again for as long as they are wanted"),
    ("basic.cfgstoragetype", "configuration keys are kept in the store"),
    ("basic.resourceprofileconfig.interval", "CPU time is counted as it is spent"),
    ("rule.restartstrategy.*", "only attempts counts: a failed rule starts again at each patrol"),
    ("sink.*", "sinks keep no cache on disk"),
    ("store.redis.*", "definitions and states are kept in data/rekuiper.db"),
    ("store.pebble.*", "definitions and states are kept in data/rekuiper.db"),
    ("store.fdb.*", "definitions and states are kept in data/rekuiper.db"),
    ("portable.*", "portable plugins are registered, but not run"),
    ("hack.*", "it is internal to eKuiper"),
];

/// What is to be said at start of settings that do nothing. `own` is what the user wrote, in
/// lower case; `defaults` are the built-in ones: who writes them out again needs no warning.
pub fn remarks(own: &Value, defaults: &Value) -> Vec<String> {
    let mut out = Vec::new();
    walk(own, Some(defaults), &mut Vec::new(), &mut out);
    out
}

fn walk(own: &Value, default: Option<&Value>, path: &mut Vec<String>, out: &mut Vec<String>) {
    if let Value::Object(members) = own {
        for (key, value) in members {
            path.push(key.clone());
            walk(value, default.and_then(|d| d.get(key)), path, out);
            path.pop();
        }
        return;
    }
    let key = path.join(".");
    let set = !matches!(own, Value::Null | Value::Bool(false)) && own != "" && default != Some(own);
    if !set || WORKING.iter().any(|known| stands_for(known, &key)) {
        return;
    }
    out.push(match SILENT.iter().find(|(known, _)| stands_for(known, &key)) {
        Some((_, why)) => format!("setting {key} has no effect: {why}"),
        None if key.starts_with("rule.") => {
            format!("setting {key} has no effect: it is an option of a single rule")
        }
        None => format!("setting {key} is not known and has no effect"),
    });
}

fn stands_for(known: &str, key: &str) -> bool {
    match known.strip_suffix('*') {
        Some(above) => key.starts_with(above),
        None => known == key,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_does_nothing_is_told() {
        let own = json!({
            "basic": {"restport": 1, "port": 20499, "pprof": false, "restprot": 2,
                      "syslog": {"enable": true}},
            "sink": {"enablecache": true, "resendinterval": "0s"},
            "rule": {"qos": 1, "sendnilfield": true}});
        let defaults = json!({"sink": {"resendinterval": "0s"}});
        assert_eq!(
            remarks(&own, &defaults),
            [
                "setting basic.port has no effect: the command line tool speaks to the REST port",
                "setting basic.restprot is not known and has no effect",
                "setting sink.enablecache has no effect: sinks keep no cache on disk",
                "setting rule.sendnilfield has no effect: it is an option of a single rule",
            ]
        );
    }

    #[test]
    fn every_built_in_setting_is_listed() {
        let defaults = crate::config::tree::parse(crate::config::DEFAULTS).unwrap();
        let unknown = |line: &String| line.contains("is not known");
        let all = remarks(&defaults, &Value::Null);
        assert!(!all.iter().any(unknown), "{all:?}");
    }

    /// The keys of eKuiper 2.4, section by section.
    const OF_EKUIPER: &[(&str, &str)] = &[
        (
            "basic",
            "logLevel debug consoleLog fileLog logDisableTimestamp syslog.enable syslog.network \
             syslog.address syslog.level syslog.tag rotateTime maxAge rotateSize rotateCount \
             timezone ip port restIp restPort restTls.certfile restTls.keyfile authentication \
             prometheus prometheusPort pprof pprofIp pprofPort pluginHosts ignoreCase \
             sql.maxConnections rulePatrolInterval enableOpenZiti aesKey \
             gracefulShutdownTimeout ResourceProfileConfig.enable ResourceProfileConfig.interval \
             metricsDumpConfig.enable metricsDumpConfig.retainedDuration enableRestAuditLog \
             enablePrivateNet allowExternalFileAccess connection.backoffMaxElapsedDuration \
             cfgStorageType",
        ),
        (
            "rule",
            "debug logFilename isEventTime lateTolerance concurrency bufferLength sendMetaToSink \
             sendNilField sendError qos checkpointInterval restartStrategy.attempts \
             restartStrategy.delay restartStrategy.multiplier restartStrategy.maxDelay \
             restartStrategy.jitterFactor cron duration cronDatetimeRange planOptimizeStrategy \
             disableBufferFullDiscard notifySub enableSaveStateBeforeStop forceExitTimeout \
             experiment.useSliceTuple enableRuleTracer",
        ),
        (
            "sink",
            "enableCache memoryCacheThreshold maxDiskCache bufferPageSize resendInterval \
             cleanCacheAtStop resendAlterQueue resendPriority resendIndicatorField \
             resendDestination",
        ),
        ("source", "httpServerIp httpServerPort httpServerTls.certfile httpServerTls.keyfile"),
        (
            "store",
            "type extStateType redis.host redis.port redis.password redis.timeout \
             redis.connectionSelector sqlite.name pebble.path pebble.name fdb.path",
        ),
        ("portable", "pythonBin initTimeout sendTimeout recvTimeout"),
        (
            "openTelemetry",
            "serviceName enableRemoteCollector remoteEndpoint localTraceCapacity \
             enableLocalStorage",
        ),
        (
            "security",
            "encryption.algorithm encryption.properties encryption.key tls.insecureSkipVerify \
             tls.certificationPath tls.privateKeyPath tls.rootCaPath tls.certificationRaw \
             tls.privateKeyRaw tls.rootCARaw tls.tlsMinVersion tls.renegotiationSupport \
             tls.decrypt",
        ),
        ("hack", "cold"),
    ];

    #[test]
    fn every_key_of_ekuiper_works_or_is_told_with_the_reason() {
        for (section, keys) in OF_EKUIPER {
            for key in keys.split_whitespace() {
                let path = format!("{section}.{key}").to_lowercase();
                let set = path.rsplit('.').fold(json!(7), |below, key| json!({ key: below }));
                let told = remarks(&set, &Value::Null);
                let works = WORKING.iter().any(|known| stands_for(known, &path));
                assert_eq!(told.is_empty(), works, "{path}");
                assert!(told.iter().all(|line| line.contains("has no effect: ")), "{told:?}");
            }
        }
    }

    #[test]
    fn what_is_said_to_work_is_read() {
        // these sections are read where they are used
        let elsewhere = ["security.", "opentelemetry.", "store."];
        let asked = crate::config::asked_paths();
        for key in WORKING.iter().filter(|key| !elsewhere.iter().any(|e| key.starts_with(e))) {
            assert!(asked.iter().any(|path| stands_for(key, path)), "{key} is read by nobody");
        }
        for path in &asked {
            let works = WORKING.iter().any(|known| stands_for(known, path));
            let told = SILENT.iter().any(|(known, _)| stands_for(known, path));
            assert!(works || !told, "{path} is read although it is told to have no effect");
        }
    }

    #[test]
    fn the_guide_names_every_setting_without_effect() {
        let guide = include_str!("../../../../docs/guide/configuration.md").to_lowercase();
        for (key, _) in SILENT {
            assert!(guide.contains(&format!("`{key}`")), "{key} is not in the guide");
        }
        for key in WORKING {
            assert!(guide.contains(&format!("`{key}`")), "{key} is not in the guide");
        }
    }
}
