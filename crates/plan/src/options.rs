//! Rule options as far as they change the plan or forbid it.

use crate::error::{PlanError, Result};
use crate::scope::Scope;

/// See the module's doc. The default is that of eKuiper.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleOptions {
    pub is_event_time: bool,
    pub late_tolerance_ms: i64,
    pub send_meta_to_sink: bool,
    pub send_nil_field: bool,
    /// 0: not given.
    pub concurrency: i64,
    pub disable_buffer_full_discard: bool,
    pub qos: i64,
    /// The rule is a temporary one: may read TEMP streams.
    pub temp: bool,
    /// Windows keep their rows even where aggregates alone would do. For tests.
    pub force_buffered: bool,
}

/// Options that do not go together with what the rule reads.
pub(crate) fn check(options: &RuleOptions, scope: &Scope, has_window: bool) -> Result<()> {
    let refuse = |message: String| Err(PlanError::general(message));
    if options.concurrency < 0 {
        return refuse(format!(
            "option concurrency must be 1 or more, not {}",
            options.concurrency
        ));
    }
    if !(0..=2).contains(&options.qos) {
        return refuse(format!("option qos must be 0, 1 or 2, not {}", options.qos));
    }
    if options.late_tolerance_ms < 0 {
        return refuse("option lateTolerance must not be negative".to_owned());
    }
    if options.send_meta_to_sink && (has_window || scope.sources.len() > 1) {
        return refuse(
            "option sendMetaToSink works only for rules on one stream without a window: a result \
             of several rows has no single metadata"
                .to_owned(),
        );
    }
    for source in &scope.sources {
        let (name, set) = (&source.name, &source.info.def.options);
        if options.disable_buffer_full_discard && set.shared == Some(true) {
            return refuse(format!(
                "option disableBufferFullDiscard cannot be used with the shared stream {name}: one \
                 slow rule would hold up all others"
            ));
        }
        if set.temp == Some(true) && !options.temp {
            return refuse(format!(
                "stream {name} is temporary: only a temporary rule may read it"
            ));
        }
        let timeless = set.timestamp.as_deref().unwrap_or_default().is_empty();
        if options.is_event_time && timeless && !source.is_lookup() {
            return refuse(format!(
                "option isEventTime needs to know each row's time, but {name} has no TIMESTAMP: \
                 set it in the definition, or leave isEventTime out"
            ));
        }
    }
    Ok(())
}
