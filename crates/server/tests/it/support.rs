use std::path::PathBuf;

use rutter_hooks::HookResult;
use rutter_memory::outcome::{Outcome, Verdict};
use rutter_memory::store::DataDir;
use rutter_memory::store::entry::{EntryKind, SessionEntry};
use rutter_memory::{Clean, Id, Store, StoreError};
use rutter_server::tools::{self, ToolAnswer, ToolRefusal};
use rutter_server::{CallChannel, CallerIdentity, ServerContext};
use rutter_testkit::story::{HookStory, handle_payload, hook_env};
use rutter_testkit::world::TestWorld;
pub(crate) use rutter_testkit::world::{advance_clock, now};
use serde_json::{Value, json};

/// A store, a project, and a server context.
pub(crate) struct ToolTestEnv {
    pub(crate) world: TestWorld,
    pub(crate) desk: ServerContext,
}

impl ToolTestEnv {
    pub(crate) fn new() -> Self {
        let world = TestWorld::new();
        let ship = world.project("ship");
        let config = world.path("config.toml");
        std::fs::write(&config, "").unwrap();
        let desk = ServerContext {
            data: world.memory(),
            config,
            folder: ship.canonicalize().unwrap(),
            started_in: None,
            start_place: None,
            default_caller: CallerIdentity::Session(Clean::new("session-1")),
            channel: CallChannel::Client,
            off: false,
            home: || None,
            now,
            called: || "rutter".to_owned(),
        };
        Self { world, desk }
    }

    /// Returns a context for another session with the same store.
    pub(crate) fn session(&self, name: &str) -> ServerContext {
        ServerContext {
            default_caller: CallerIdentity::Session(Clean::new(name)),
            ..self.desk.clone()
        }
    }

    /// Returns a context for a session in another project.
    pub(crate) fn elsewhere(&self, name: &str) -> ServerContext {
        let folder = self.world.project(name).canonicalize().unwrap();
        let default_caller = CallerIdentity::Session(Clean::new(&format!("session in {name}")));
        ServerContext { folder, default_caller, ..self.desk.clone() }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.desk.data, now()).unwrap()
    }

    pub(crate) fn files(&self) -> DataDir {
        self.world.files()
    }

    /// Calls a tool that must succeed.
    pub(crate) fn call_ok(&self, tool: &str, arguments: Value) -> Value {
        call_ok(&self.desk, tool, arguments)
    }

    pub(crate) fn call_answer(&self, tool: &str, arguments: Value) -> ToolAnswer {
        advance_clock(1);
        tools::call_tool(&self.desk, tool, arguments.clone(), None)
            .unwrap_or_else(|refusal| panic!("{tool} {arguments}: {refusal}"))
    }

    /// Calls a tool that must refuse, and checks that no row changed.
    pub(crate) fn call_refused(&self, tool: &str, arguments: Value) -> String {
        call_refused(&self.desk, tool, arguments)
    }

    /// Runs a hook and returns its message to the agent.
    pub(crate) fn run_hook_message(&self, session: &str, event: &str, fields: Value) -> String {
        HookStory::context_text(&self.run_hook(session, event, fields))
    }

    pub(crate) fn run_hook(&self, session: &str, event: &str, fields: Value) -> HookResult {
        advance_clock(1);
        let env = hook_env(&self.world, now());
        handle_payload(env, session, &self.desk.folder, event, &fields)
    }

    /// Records a run of a session, as a hook does.
    pub(crate) fn record_run(&self, session: &str, command: &str, verdict: Verdict) -> Id {
        advance_clock(1);
        let outcome = self.outcome(session, command, verdict);
        self.world.record(&self.entry(session, EntryKind::Ran(Box::new(outcome.clone().into()))));
        outcome.id
    }

    pub(crate) fn outcome(&self, session: &str, command: &str, verdict: Verdict) -> Outcome {
        Outcome {
            id: Id::new(now()),
            session: Some(Clean::new(session)),
            command: Clean::new(command),
            at: now(),
            ..self.world.outcome(0, verdict)
        }
    }

    pub(crate) fn entry(&self, session: &str, kind: EntryKind) -> SessionEntry {
        SessionEntry { at: now(), ..self.world.entry(session, 0, kind) }
    }

    /// Ends a session, as its last hook does.
    pub(crate) fn end_session(&self, session: &str) {
        advance_clock(1);
        self.world.record(&self.entry(session, EntryKind::Ended { abandon: false }));
    }

    /// Returns the files that contain a text.
    pub(crate) fn files_with(&self, text: &str) -> Vec<PathBuf> {
        self.world.files_with(text)
    }
}

pub(crate) fn call_ok(desk: &ServerContext, tool: &str, arguments: Value) -> Value {
    advance_clock(1);
    match tools::call_tool(desk, tool, arguments.clone(), None) {
        Ok(answer) => answer.structured,
        Err(refusal) => panic!("{tool} {arguments}: {refusal}"),
    }
}

pub(crate) fn call_refused(desk: &ServerContext, tool: &str, arguments: Value) -> String {
    advance_clock(1);
    let before = exported_rows(desk);
    let refusal: ToolRefusal = match tools::call_tool(desk, tool, arguments.clone(), None) {
        Ok(answer) => panic!("{tool} {arguments}: {}", answer.structured),
        Err(refusal) => refusal,
    };
    assert_eq!(
        exported_rows(desk),
        before,
        "{tool} {arguments} was refused and has changed something"
    );
    refusal.to_string()
}

/// Returns all rows of the store, as `export` writes them.
pub(crate) fn exported_rows(desk: &ServerContext) -> Vec<String> {
    let mut rows = Vec::new();
    let mut store = Store::open(&desk.data, now()).unwrap();
    store
        .export::<StoreError>(None, |record| {
            rows.push(serde_json::to_string(record).unwrap());
            Ok(())
        })
        .unwrap();
    rows
}

pub(crate) fn ghap_start_arguments() -> Value {
    json!({
        "domain": "debugging", "strategy": "read-the-error", "goal": "CRLF files parse",
        "hypothesis": "lines are split at LF alone", "action": "use lines()",
        "prediction": "`cargo test parser` passes",
    })
}

pub(crate) fn falsify_arguments() -> Value {
    json!({
        "status": "falsified", "result": "still red", "surprise": "the lexer splits before the parser",
        "root_cause": { "category": "wrong-scope", "description": "two places split lines" },
        "lesson": { "takeaway": "look for every place that splits lines" },
    })
}

pub(crate) fn confirm_arguments() -> Value {
    json!({ "status": "confirmed", "result": "all green", "lesson": { "what_worked": "lines()" } })
}

/// Returns an object with some fields replaced.
pub(crate) fn with_fields(mut object: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    object.as_object_mut().unwrap().extend(fields);
    object
}

/// Returns JSON with each array and object that fits on one line.
pub(crate) fn compact_json(value: &Value, indent: usize) -> String {
    const MAX_CHARS: usize = 180;
    let parts = |separator: &str, indent: usize| -> String {
        let shown: Vec<String> = match value {
            Value::Array(all) => all.iter().map(|one| compact_json(one, indent)).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| format!("{key:?}: {}", compact_json(value, indent)))
                .collect(),
            _ => return value.to_string(),
        };
        shown.join(separator)
    };
    let (open, close) = match value {
        Value::Array(_) => ("[", "]"),
        Value::Object(_) => ("{ ", " }"),
        _ => return value.to_string(),
    };
    let line = match parts(", ", 0) {
        none if none.is_empty() => format!("{}{}", open.trim(), close.trim()),
        parts => format!("{open}{parts}{close}"),
    };
    if !line.contains('\n') && line.chars().count() + indent <= MAX_CHARS {
        return line;
    }
    let (inner, outer) = (" ".repeat(indent + 2), " ".repeat(indent));
    let separator = format!(",\n{inner}");
    format!("{}\n{inner}{}\n{outer}{}", open.trim(), parts(&separator, indent + 2), close.trim())
}

/// Compares the text and the structured answer with a snapshot; ids and times are replaced.
macro_rules! assert_answer {
    ($answer:expr, @$expected:literal) => {
        let answer = $answer;
        let shown =
            format!("{}\n{}", answer.text, $crate::support::compact_json(&answer.structured, 0));
        insta::with_settings!({filters => vec![
            (r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{12}Z", "[TIME]"),
            (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "[UUID]"),
            (r"\b[0-9a-f]{8}\b", "[ID]"),
            (r" in /[^ ,]*/", " in [FOLDER]/"),
        ]}, { insta::assert_snapshot!(shown, @$expected) })
    };
}
pub(crate) use assert_answer;

/// Compares a refusal with a snapshot; ids are replaced.
macro_rules! assert_refused {
    ($refusal:expr, @$expected:literal) => {
        insta::with_settings!({filters => vec![(r"\b[0-9a-f]{8}\b", "[ID]")]}, {
            insta::assert_snapshot!($refusal, @$expected)
        })
    };
}
pub(crate) use assert_refused;
