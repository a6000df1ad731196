//! Functions that do not come with the engine: methods of external services, scripts.
//!
//! A plan refers to functions for ever (`&'static`), so each name gets one definition that is never
//! freed; what it does stands behind a lock and is replaced when the function is. What is kept is
//! thus bounded by the number of different names, not by updates, and capped by [`NAMES_MAX`].
//! Running rules take over a replaced function with the next rule that names it; one that was
//! dropped works on in them as it was.

#[cfg(feature = "script")]
pub mod script;
mod service;
mod uri;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use rekuiper_connect::Services;
use rekuiper_functions::{Cx, ExternalFn, FunctionDef, Kind};
use rekuiper_value::{Error, Result, Value};

use crate::catalog::Catalog;

/// Most names of functions (scalars and aggregates apart) that a process keeps.
const NAMES_MAX: usize = 4096;

/// See the module's doc.
pub struct Externals {
    catalog: Arc<Catalog>,
    services: Arc<Services>,
    /// By name in lower case, and whether it is an aggregate.
    slots: Mutex<HashMap<(String, bool), &'static Slot>>,
}

struct Slot {
    def: std::sync::OnceLock<FunctionDef>,
    current: RwLock<Current>,
}

/// What a function does now, and of which text it was made.
struct Current {
    version: String,
    function: Arc<dyn ExternalFn>,
}

impl ExternalFn for Slot {
    fn call(&self, args: &[Value], cx: Option<&Cx<'_>>) -> Result<Value> {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        let function = current.function.clone();
        drop(current); // a call may take seconds
        function.call(args, cx)
    }
}

/// A function whose definition cannot be read: every call says why.
struct Broken(Error);

impl ExternalFn for Broken {
    fn call(&self, _args: &[Value], _cx: Option<&Cx<'_>>) -> Result<Value> {
        Err(self.0.clone())
    }
}

/// What is known of a function before it is made.
struct Found {
    aggregate: bool,
    /// Changes whenever the function does.
    version: String,
    make: Box<dyn Fn() -> Result<Arc<dyn ExternalFn>>>,
}

impl Externals {
    pub fn new(catalog: Arc<Catalog>, services: Arc<Services>) -> Self {
        Externals { catalog, services, slots: Mutex::default() }
    }

    /// The function of that name, whatever its letters' case. Scripts come before services.
    pub fn function(&self, name: &str) -> Option<&'static FunctionDef> {
        let found = self.script(name).or_else(|| self.service(name))?;
        let key = (name.to_ascii_lowercase(), found.aggregate);
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(&key) {
            let mut current = slot.current.write().unwrap_or_else(PoisonError::into_inner);
            if current.version != found.version {
                *current = found.current();
            }
            return slot.def.get();
        }
        if slots.len() >= NAMES_MAX {
            tracing::warn!(name, "{NAMES_MAX} external functions were used; restart for more");
            return None;
        }
        let slot: &'static Slot = Box::leak(Box::new(Slot {
            def: std::sync::OnceLock::new(),
            current: RwLock::new(found.current()),
        }));
        let kept: &'static str = Box::leak(key.0.clone().into_boxed_str());
        slots.insert(key, slot);
        Some(slot.def.get_or_init(|| FunctionDef {
            name: kept,
            family: "external",
            variadic: true,
            doc: "A function of an external service or a script.",
            ..FunctionDef::of(Kind::External { function: slot, aggregate: found.aggregate })
        }))
    }

    fn service(&self, name: &str) -> Option<Found> {
        let all = self.catalog.service_functions();
        let own = all.into_iter().find(|f| f.name.eq_ignore_ascii_case(name))?;
        let interface =
            self.catalog.service(&own.service)?.shown["Interfaces"][&own.interface].clone();
        let dirs = &self.catalog.config.dirs;
        let folders = [&dirs.data, &dirs.etc].map(|dir| dir.join("services/schemas"));
        let file = interface["Schema"]["SchemaFile"].as_str().unwrap_or_default();
        let schema = service::schema_text(&folders, file).unwrap_or_default();
        let services = self.services.clone();
        Some(Found {
            aggregate: false,
            version: format!("{} {interface} {schema}", own.to_value()),
            make: Box::new(move || service::make(&own, &interface, &folders, services.clone())),
        })
    }

    #[cfg(feature = "script")]
    fn script(&self, name: &str) -> Option<Found> {
        let all = self.catalog.scripts();
        let (id, own) = all.into_iter().find(|(id, _)| id.eq_ignore_ascii_case(name))?;
        let code = own.get("script").and_then(|s| s.as_str()).unwrap_or_default().to_owned();
        Some(Found {
            aggregate: own.get("isAgg").and_then(|a| a.as_bool()).unwrap_or(false),
            version: code.clone(),
            make: Box::new(move || {
                script::Script::new(&id, &code).map(|s| Arc::new(s) as Arc<dyn ExternalFn>)
            }),
        })
    }

    #[cfg(not(feature = "script"))]
    fn script(&self, name: &str) -> Option<Found> {
        let all = self.catalog.scripts();
        let (id, own) = all.into_iter().find(|(id, _)| id.eq_ignore_ascii_case(name))?;
        Some(Found {
            aggregate: own.get("isAgg").and_then(|a| a.as_bool()).unwrap_or(false),
            version: "none".into(),
            make: Box::new(move || {
                Err(Error::new(format!(
                    "function {id} is written in JavaScript, which this build cannot run: it was \
                     made without the feature script"
                )))
            }),
        })
    }
}

impl Found {
    fn current(&self) -> Current {
        let function = (self.make)().unwrap_or_else(|e| {
            tracing::warn!("an external function cannot be used: {}", e.0);
            Arc::new(Broken(e))
        });
        Current { version: self.version.clone(), function }
    }
}
