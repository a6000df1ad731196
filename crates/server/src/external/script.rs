//! Functions in JavaScript. Each has an engine of its own with bounded memory and stack, and a
//! bounded time for each call; what a script keeps in global variables lives as long as the engine.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rekuiper_functions::{Cx, ExternalFn};
use rekuiper_value::{Error, Result, Value, json};
use rquickjs::function::Args;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Function, Runtime};

const MEMORY_BYTES_MAX: usize = 64 << 20;
const STACK_BYTES_MAX: usize = 256 << 10;
/// Longest time of a call.
const CALL_MS_MAX: u64 = 1_000;

/// See the module's doc.
pub struct Script {
    id: String,
    /// One call at a time: the engine knows no threads.
    engine: Mutex<Engine>,
}

struct Engine {
    context: Context,
    started: Instant,
    /// When the call under way is broken off: milliseconds after `started`.
    deadline: Arc<AtomicU64>,
    _runtime: Runtime,
}

impl Script {
    /// Runs the script's text once; it must define a function called `id`.
    pub fn new(id: &str, code: &str) -> Result<Script> {
        let failed = |e: rquickjs::Error| Error::new(format!("script {id}: no engine: {e}"));
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        let (started, deadline) = (Instant::now(), Arc::new(AtomicU64::new(u64::MAX)));
        let until = deadline.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            started.elapsed().as_millis() as u64 > until.load(Relaxed)
        })));
        let context = Context::full(&runtime).map_err(failed)?;
        let engine = Engine { context, started, deadline, _runtime: runtime };
        engine.with_deadline(|ctx| {
            let done: rquickjs::Result<rquickjs::Value<'_>> = ctx.eval(code);
            done.catch(ctx).map_err(|e| Error::new(format!("script {id}: {}", said(&e))))?;
            function(ctx, id).map(drop)
        })?;
        Ok(Script { id: id.to_owned(), engine: Mutex::new(engine) })
    }
}

impl Engine {
    fn with_deadline<T>(&self, work: impl FnOnce(&Ctx<'_>) -> Result<T>) -> Result<T> {
        let now = self.started.elapsed().as_millis() as u64;
        self.deadline.store(now + CALL_MS_MAX, Relaxed);
        self.context.with(|ctx| work(&ctx))
    }
}

/// The function by its name; also where `let` or `const` define it, which makes no global member.
fn function<'js>(ctx: &Ctx<'js>, id: &str) -> Result<Function<'js>> {
    let missing = || Error::new(format!("the script defines no function called {id}"));
    let word = id.chars().all(|c| c.is_alphanumeric() || "_$".contains(c));
    if !word {
        return Err(missing());
    }
    ctx.eval::<Function<'js>, _>(id).catch(ctx).map_err(|_| missing())
}

impl ExternalFn for Script {
    fn call(&self, args: &[Value], _cx: Option<&Cx<'_>>) -> Result<Value> {
        let engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        engine.with_deadline(|ctx| {
            let wrong = |e: CaughtError<'_>| {
                Error::new(format!("function {}: {}", self.id, said(&e)))
            };
            let function = function(ctx, &self.id)?;
            let mut given = Args::new(ctx.clone(), args.len());
            for arg in args {
                let text = json::to_string(arg)?;
                let value = ctx.json_parse(text).catch(ctx).map_err(wrong)?;
                given.push_arg(value).catch(ctx).map_err(wrong)?;
            }
            let result: rquickjs::Value<'_> =
                function.call_arg(given).catch(ctx).map_err(wrong)?;
            if result.as_float().is_some_and(|f| !f.is_finite()) {
                return Err(Error::new(format!(
                    "function {}: its result is NaN or infinite",
                    self.id
                )));
            }
            let text = ctx.json_stringify(result).catch(ctx).map_err(wrong)?;
            let Some(text) = text else { return Ok(Value::Null) };
            let text = text.to_string().catch(ctx).map_err(wrong)?;
            let value = serde_json::from_str(&text)
                .map_err(|e| Error::new(format!("function {}: its result: {e}", self.id)))?;
            Ok(json::from_serde(&value, false))
        })
    }
}

/// An exception in words.
fn said(e: &CaughtError<'_>) -> String {
    match e {
        CaughtError::Exception(e) => match e.message() {
            Some(text) if text == "interrupted" => {
                format!("it took more than {CALL_MS_MAX} ms and was broken off")
            }
            Some(text) => text,
            None => "it threw an exception without a message".to_owned(),
        },
        CaughtError::Value(v) => match v.as_string().and_then(|s| s.to_string().ok()) {
            Some(text) => text,
            None => "it threw something that is no error".to_owned(),
        },
        CaughtError::Error(e) => e.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, code: &str, args: &[Value]) -> Result<Value> {
        Script::new(id, code)?.call(args, None)
    }

    #[test]
    fn plain_values_in_and_out() {
        let (one, two) = (Value::Float(1.0), Value::Int(2));
        let add = "function add(a, b) { return a + b; }";
        assert_eq!(run("add", add, &[one.clone(), two]), Ok(Value::Float(3.0)));
        let arrow = "const f = (a) => ({x: [a, a + '!']});";
        let wanted = rekuiper_value::json::parse(br#"{"x":["q","q!"]}"#);
        assert_eq!(run("f", arrow, &[Value::from("q")]), wanted);
        assert_eq!(run("f", "function f() {}", &[]), Ok(Value::Null));
        let nulls = "function f(a) { return a === null }";
        assert_eq!(run("f", nulls, &[Value::Null]), Ok(Value::Bool(true)));
    }

    #[test]
    fn an_engine_remembers() {
        let script = Script::new("n", "var c = 0; function n() { return ++c; }").expect("made");
        let counts = [script.call(&[], None), script.call(&[], None)];
        assert_eq!(counts, [Ok(Value::Float(1.0)), Ok(Value::Float(2.0))]);
    }

    #[test]
    fn what_goes_wrong_is_said_and_harms_nothing() {
        for (id, code, part) in [
            ("f", "function (", "script f"),
            ("f", "function g() {}", "defines no function"),
            ("f", "function f() { throw new Error('no way') }", "no way"),
            ("f", "function f() { throw 'text' }", "text"),
            ("f", "function f() { return 0 / 0 }", "NaN"),
            ("f", "function f() { return 1 / 0 }", "infinite"),
            ("f", "function f() { return f() }", "f"),
            ("f", "function f() { while (true) {} }", "broken off"),
            ("f", "while (true) {}", "broken off"),
            ("f", "function f() { let s = 'x'; while (true) s += s; }", "f"),
            ("f; g", "function f() {}", "defines no function"),
        ] {
            let error = run(id, code, &[]).expect_err(code);
            assert!(error.0.contains(part), "{code}: {error:?}");
        }
    }
}
