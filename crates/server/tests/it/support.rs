use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rutter_hooks::bash_call::DEFAULT_WINDOW_BYTES;
use rutter_hooks::{HookEnv, HookResult, handle_event};
use rutter_memory::outcome::{Outcome, RunKind, Verdict};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::DataDir;
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::recorder::Recorder;
use rutter_memory::{Clean, Id, Store, StoreError, Time};
use rutter_server::tools::{self, ToolAnswer, ToolRefusal};
use rutter_server::{CallChannel, CallerIdentity, ServerContext};
use rutter_testkit::MIN_HOOK_DEADLINE;
use serde_json::{Value, json};

thread_local! {
    /// The clock of a test; each test has a separate thread.
    static CLOCK: Cell<i64> = const { Cell::new(0) };
}

pub(crate) fn now() -> Time {
    Time::from_millis(1_763_200_000_000 + CLOCK.get())
}

pub(crate) fn advance_clock(seconds: i64) {
    CLOCK.set(CLOCK.get() + seconds * 1_000);
}

/// A store, a project, and a server context.
pub(crate) struct ToolTestEnv {
    folder: tempfile::TempDir,
    pub(crate) desk: ServerContext,
}

impl ToolTestEnv {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ship = folder.path().join("ship");
        std::fs::create_dir(&ship).unwrap();
        let config = folder.path().join("config.toml");
        let desk = ServerContext {
            data: folder.path().join("memory"),
            config,
            folder: ship.canonicalize().unwrap(),
            started_in: None,
            default_caller: CallerIdentity::Session(Clean::new("session-1")),
            channel: CallChannel::Client,
            off: false,
            home: || None,
            now,
            called: || "rutter".to_owned(),
        };
        Self { folder, desk }
    }

    /// Returns a context for another session with the same store.
    pub(crate) fn session(&self, name: &str) -> ServerContext {
        ServerContext {
            default_caller: CallerIdentity::Session(Clean::new(name)),
            ..self.desk.clone()
        }
    }

    /// Returns a context for the same session in another project.
    pub(crate) fn elsewhere(&self, name: &str) -> ServerContext {
        let folder = self.folder.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        ServerContext { folder: folder.canonicalize().unwrap(), ..self.desk.clone() }
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(&self.desk.data, now()).unwrap()
    }

    pub(crate) fn files(&self) -> DataDir {
        DataDir::new(self.desk.data.clone())
    }

    pub(crate) fn place(&self) -> ProjectPlace {
        (&LocatedProject::find(&self.desk.folder)).into()
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
        hook_message(&self.run_hook(session, event, fields))
    }

    pub(crate) fn run_hook(&self, session: &str, event: &str, fields: Value) -> HookResult {
        advance_clock(1);
        let mut payload =
            json!({ "session_id": session, "cwd": self.desk.folder, "hook_event_name": event });
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        payload.as_object_mut().unwrap().extend(fields);
        let around = HookEnv {
            files: self.files(),
            now: now(),
            started_at: Instant::now(),
            min_deadline: MIN_HOOK_DEADLINE,
            window: DEFAULT_WINDOW_BYTES,
            started_in: None,
            parent: None,
            config: self.desk.config.clone(),
            home: || None,
            own_command: || "rutter".to_owned(),
            has_tools: |_| None,
            foreign_server: |_, _| None,
        };
        handle_event(payload.to_string().as_bytes(), None, || around)
    }

    /// Records a run of a session, as a hook does.
    pub(crate) fn record_run(&self, session: &str, command: &str, verdict: Verdict) -> Id {
        advance_clock(1);
        let outcome = self.outcome(session, command, verdict);
        self.record(self.entry(session, EntryKind::Ran(Box::new(outcome.clone().into()))));
        outcome.id
    }

    pub(crate) fn outcome(&self, session: &str, command: &str, verdict: Verdict) -> Outcome {
        Outcome {
            id: Id::new(now()),
            project: self.place().key,
            session: Some(Clean::new(session)),
            agent: None,
            command: Clean::new(command),
            kind: RunKind::Test,
            runner: Clean::new("cargo test"),
            verdict,
            counts: None,
            failing: Vec::new(),
            signature: None,
            exit: None,
            duration: None,
            at: now(),
        }
    }

    pub(crate) fn entry(&self, session: &str, kind: EntryKind) -> SessionEntry {
        SessionEntry {
            client: Clean::new(session),
            place: self.place(),
            process: None,
            at: now(),
            kind,
        }
    }

    pub(crate) fn record(&self, entry: SessionEntry) {
        let budget = std::time::Duration::from_secs(2);
        Recorder::new(&self.files(), budget).record(&[entry]).unwrap();
    }

    /// Ends a session, as its last hook does.
    pub(crate) fn end_session(&self, session: &str) {
        advance_clock(1);
        self.record(self.entry(session, EntryKind::Ended { abandon: false }));
    }

    /// Returns the files that contain a text.
    pub(crate) fn files_with(&self, text: &str) -> Vec<PathBuf> {
        let holds = |path: &PathBuf| {
            let bytes = std::fs::read(path).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        };
        files_below(&self.desk.data).into_iter().filter(holds).collect()
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for path in entries {
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found
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

pub(crate) fn hook_message(heard: &HookResult) -> String {
    assert_eq!(heard.errors, [] as [Clean; 0]);
    if heard.stdout.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&heard.stdout).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
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

/// Compares the text and the structured answer with a snapshot; ids and times are replaced.
macro_rules! assert_answer {
    ($answer:expr, @$expected:literal) => {
        let answer = $answer;
        let shown = format!("{}\n{:#}", answer.text, answer.structured);
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
