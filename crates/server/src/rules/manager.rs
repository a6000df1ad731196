//! All rules: their definitions, their machines, and the task that lets time go on for them.

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock, Weak};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rekuiper_store::Batch;
use serde_json::Value;
use tokio::sync::Notify;

use super::definition::{RuleDef, RuleOptions};
use super::machine::{Fact, Todo, Why};
use super::rule::{Rule, sources};
use crate::catalog::{Catalog, space};
use crate::engine::{OnEnd, RuleEngine, RunEnd};
use crate::error::{ApiError, ApiResult};

/// Gives the time in ms since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

pub fn system_clock() -> Clock {
    Arc::new(|| Timestamp::now().as_millisecond())
}

pub struct Rules {
    pub(super) catalog: Arc<Catalog>,
    engine: Arc<dyn RuleEngine>,
    pub(super) clock: Clock,
    zone: RwLock<TimeZone>,
    rules: RwLock<BTreeMap<String, Arc<Rule>>>,
    /// Held while rules come and go.
    registry: tokio::sync::Mutex<()>,
    pub(super) changed: Notify,
}

impl Rules {
    pub fn new(
        catalog: Arc<Catalog>,
        engine: Arc<dyn RuleEngine>,
        clock: Clock,
        zone: TimeZone,
    ) -> Arc<Rules> {
        Arc::new(Rules {
            catalog,
            engine,
            clock,
            zone: RwLock::new(zone),
            rules: RwLock::default(),
            registry: tokio::sync::Mutex::new(()),
            changed: Notify::new(),
        })
    }

    fn defaults(&self) -> &RuleOptions {
        &self.catalog.config.rule
    }

    pub(super) fn zone(&self) -> TimeZone {
        self.zone.read().unwrap_or_else(|e| e.into_inner()).clone()
    }

    pub fn set_zone(&self, zone: TimeZone) {
        *self.zone.write().unwrap_or_else(|e| e.into_inner()) = zone;
    }

    pub fn all(&self) -> Vec<Arc<Rule>> {
        self.rules
            .read()
            .unwrap_or_else(|e| e.into_inner())
            .values()
            .cloned()
            .collect()
    }

    pub fn get(&self, id: &str) -> Option<Arc<Rule>> {
        self.rules
            .read()
            .unwrap_or_else(|e| e.into_inner())
            .get(id)
            .cloned()
    }

    pub fn find(&self, id: &str) -> ApiResult<Arc<Rule>> {
        self.get(id)
            .ok_or_else(|| ApiError::not_found(format!("rule {id} is not found")))
    }

    /// Whether this rule is the one of its name: not dropped while its turn was waited for. Asked
    /// in its turn.
    fn is_there(&self, rule: &Arc<Rule>) -> bool {
        self.get(&rule.id).is_some_and(|r| Arc::ptr_eq(&r, rule))
    }

    fn still(&self, rule: &Arc<Rule>) -> ApiResult<()> {
        if self.is_there(rule) {
            return Ok(());
        }
        Err(ApiError::not_found(format!("rule {} is not found", rule.id)))
    }

    /// Running rules that read this stream or table.
    pub fn users_of(&self, source: &str) -> Vec<String> {
        self.all()
            .iter()
            .filter(|r| r.uses(source))
            .map(|r| r.id.clone())
            .collect()
    }

    /// Brings the kept rules back; those that are triggered are started in the background.
    /// Gives whether there was nothing at all in the store.
    pub fn restore(self: &Arc<Self>) -> Result<bool, String> {
        let mut to_start = Vec::new();
        let kept = self.catalog.stored_rules()?;
        let fresh = kept.is_empty() && self.catalog.is_fresh();
        for (id, text) in kept {
            match RuleDef::parse(&text, Some(&id), self.defaults()) {
                Ok(def) => {
                    let rule = self.insert(Arc::new(def));
                    if rule.def().triggered {
                        to_start.push(rule);
                    }
                }
                Err(e) => tracing::error!("rule {id} is not usable and left out: {e}"),
            }
        }
        let rules = self.clone();
        tokio::spawn(async move {
            for rule in to_start {
                let _turn = rule.turn.lock().await;
                if !rules.is_there(&rule) {
                    continue;
                }
                if let Err(e) = rules.feed(&rule, Fact::Start).await {
                    tracing::error!("rule {} is not started: {e}", rule.id);
                }
            }
        });
        Ok(fresh)
    }

    fn insert(&self, def: Arc<RuleDef>) -> Arc<Rule> {
        let rule = Arc::new(Rule::new(def));
        let mut rules = self.rules.write().unwrap_or_else(|e| e.into_inner());
        rules.insert(rule.id.clone(), rule.clone());
        rule
    }

    pub fn parse(&self, body: &str, id: Option<&str>) -> ApiResult<RuleDef> {
        RuleDef::parse(body, id, self.defaults())
    }

    async fn keep(&self, def: &RuleDef) -> ApiResult<()> {
        if def.temp {
            return Ok(());
        }
        self.catalog
            .keep(Batch::new().put(space::RULE, &def.id, def.text.as_bytes()))
            .await
    }

    /// Makes a rule and starts it when it is triggered. Nothing is kept when it is refused.
    pub async fn create(self: &Arc<Self>, def: RuleDef) -> ApiResult<Arc<Rule>> {
        let registry = self.registry.lock().await;
        if self.get(&def.id).is_some() {
            return Err(ApiError::bad(format!("rule {} already exists", def.id)));
        }
        let def = Arc::new(def);
        self.engine.check(&def).await?;
        self.keep(&def).await?;
        let rule = self.insert(def.clone());
        let _turn = rule.turn.lock().await;
        drop(registry);
        if def.triggered
            && let Err(e) = self.feed(&rule, Fact::Start).await
        {
            tracing::error!("rule {} does not start: {e}", rule.id);
        }
        drop(_turn);
        Ok(rule)
    }

    /// Replaces a rule or makes it. What is refused leaves the old one running.
    pub async fn update(self: &Arc<Self>, id: &str, def: RuleDef) -> ApiResult<()> {
        let Some(rule) = self.get(id) else {
            return self.create(def).await.map(drop);
        };
        let _turn = rule.turn.lock().await;
        if !self.is_there(&rule) {
            return self.create(def).await.map(drop);
        }
        let old = rule.def();
        let (was, is) = (&old.version, &def.version);
        if (!was.is_empty() || !is.is_empty()) && is <= was {
            return Err(ApiError::bad(format!(
                "rule {id} has version {was:?}, the new version {is:?} is not greater"
            )));
        }
        let def = Arc::new(def);
        self.engine.check(&def).await?;
        self.keep(&def).await?;
        self.feed(&rule, Fact::Stop(Why::Update)).await?;
        {
            let mut inner = rule.inner();
            inner.machine.redefine(&def);
            inner.def = def.clone();
            inner.trace = false;
        }
        if def.triggered
            && let Err(e) = self.feed(&rule, Fact::Start).await
        {
            tracing::error!("rule {id} does not start: {e}");
        }
        Ok(())
    }

    /// What its sinks still write is waited for only so long as their user would not notice.
    pub async fn delete(&self, id: &str) -> ApiResult<()> {
        let missing = || ApiError::bad(format!("rule {id} does not exist"));
        let rule = self.get(id).ok_or_else(missing)?;
        let _turn = rule.turn.lock().await;
        if !self.is_there(&rule) {
            return Err(missing());
        }
        self.catalog
            .keep(Batch::new().delete(space::RULE, id))
            .await?;
        // No run of it may be started or reported from here on.
        {
            let mut inner = rule.inner();
            inner.run += 1;
            inner.machine.step(Fact::Stop(Why::Manual), (self.clock)(), &self.zone());
        }
        self.engine.forget(id).await;
        self.rules
            .write()
            .unwrap_or_else(|e| e.into_inner())
            .remove(id);
        Ok(())
    }

    /// Drops all rules, as before an import that replaces everything.
    pub async fn clear(&self) -> ApiResult<()> {
        let all = self.all();
        let mut ends = all.iter().map(|r| self.delete(&r.id)).collect::<FuturesUnordered<_>>();
        while let Some(end) = ends.next().await {
            end?;
        }
        Ok(())
    }

    pub async fn start(self: &Arc<Self>, id: &str) -> ApiResult<()> {
        let rule = self.find(id)?;
        let _turn = rule.turn.lock().await;
        self.still(&rule)?;
        self.start_in_turn(&rule).await
    }

    async fn start_in_turn(self: &Arc<Self>, rule: &Arc<Rule>) -> ApiResult<()> {
        let def = rule.def();
        if !rule.state().is_running() {
            // A refusal must leave the state as it was.
            self.engine.check(&def).await?;
        }
        self.set(rule, &[("triggered", true.into())]).await?;
        self.feed(rule, Fact::Start).await
    }

    pub async fn stop(self: &Arc<Self>, id: &str) -> ApiResult<()> {
        let rule = self.find(id)?;
        let _turn = rule.turn.lock().await;
        self.still(&rule)?;
        self.set(&rule, &[("triggered", false.into())]).await?;
        self.feed(&rule, Fact::Stop(Why::Manual)).await
    }

    pub async fn restart(self: &Arc<Self>, id: &str) -> ApiResult<()> {
        let rule = self.find(id)?;
        let _turn = rule.turn.lock().await;
        self.still(&rule)?;
        self.feed(&rule, Fact::Stop(Why::Manual)).await?;
        self.start_in_turn(&rule).await
    }

    pub async fn set_tags(
        &self,
        id: &str,
        change: impl Fn(Vec<String>) -> Vec<String>,
    ) -> ApiResult<()> {
        let rule = self.find(id)?;
        let _turn = rule.turn.lock().await;
        self.still(&rule)?;
        let tags = change(rule.def().tags.clone().unwrap_or_default());
        self.set(&rule, &[("tags", tags.into())]).await
    }

    /// Changes members of the kept definition.
    async fn set(&self, rule: &Rule, members: &[(&str, Value)]) -> ApiResult<()> {
        let def = rule.def().with(members, self.defaults())?;
        self.keep(&def).await?;
        rule.inner().def = Arc::new(def);
        Ok(())
    }

    /// Tells the machine a fact and does what it asks for. The rule's turn must be held.
    pub(super) async fn feed(self: &Arc<Self>, rule: &Arc<Rule>, fact: Fact) -> ApiResult<()> {
        let mut facts = vec![fact];
        let mut result = Ok(());
        while let Some(fact) = facts.pop() {
            let todos = rule
                .inner()
                .machine
                .step(fact, (self.clock)(), &self.zone());
            for todo in todos {
                match todo {
                    Todo::Run => match self.run(rule).await {
                        Ok(()) => facts.push(Fact::Started),
                        Err(e) => {
                            facts.push(Fact::StartFailed(e.message.clone()));
                            result = Err(e);
                        }
                    },
                    Todo::Halt(why) => {
                        rule.inner().run += 1;
                        self.engine.stop(&rule.id).await;
                        facts.push(Fact::Halted(why));
                    }
                    Todo::Untrigger => self.set(rule, &[("triggered", false.into())]).await?,
                }
            }
        }
        self.changed.notify_one();
        result
    }

    async fn run(self: &Arc<Self>, rule: &Arc<Rule>) -> ApiResult<()> {
        let (def, run) = {
            let mut inner = rule.inner();
            inner.run += 1;
            (inner.def.clone(), inner.run)
        };
        let sources = sources(&def);
        let on_end = self.on_end(rule, run);
        self.engine.start(def, on_end).await?;
        let mut inner = rule.inner();
        inner.ever_started = true;
        inner.sources = sources;
        Ok(())
    }

    /// Brings the end of a run back to its rule, in its turn.
    fn on_end(self: &Arc<Self>, rule: &Arc<Rule>, run: u64) -> OnEnd {
        let (rules, rule): (Weak<Rules>, Weak<Rule>) = (Arc::downgrade(self), Arc::downgrade(rule));
        let runtime = tokio::runtime::Handle::current();
        Box::new(move |end: RunEnd| {
            runtime.spawn(async move {
                let (Some(rules), Some(rule)) = (rules.upgrade(), rule.upgrade()) else {
                    return;
                };
                let _turn = rule.turn.lock().await;
                if rule.inner().run != run {
                    return;
                }
                if let RunEnd::Failed(why) = &end {
                    tracing::error!("rule {} stopped by error: {why}", rule.id);
                }
                if let Err(e) = rules.feed(&rule, Fact::Ended(end)).await {
                    tracing::error!("rule {}: {e}", rule.id);
                }
            });
        })
    }

    /// Ends all runs, for the end of the process; definitions stay as they are. All at once: a
    /// sink that hangs must not take the others their time.
    pub async fn halt_all(&self) {
        let all = self.all();
        let halt = |rule: &Arc<Rule>| {
            let (id, runs) = (rule.id.clone(), rule.state().is_running());
            if runs {
                rule.inner().run += 1;
            }
            async move {
                if runs {
                    self.engine.stop(&id).await;
                }
            }
        };
        all.iter().map(halt).collect::<FuturesUnordered<_>>().collect::<()>().await;
    }
}
