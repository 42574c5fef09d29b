//! Helpers for sessions with many Bash calls and a hook on each.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::time::Duration;

use rutter_check::live::{ClientBinary, ModelScript, ModelTurn, RunRecord, Sandbox, TestHook};
use rutter_contract::EventName;
use rutter_contract::input::RawPayload;
use rutter_hooks::bash_call::{BashCall, DEFAULT_WINDOW_BYTES};
use serde_json::{Value, json};

/// A finished session of Bash calls.
pub(crate) struct BashSession {
    /// The record, which also keeps the session's files.
    pub(crate) record: RunRecord,
    payloads: HashMap<String, Vec<u8>>,
}

/// Returns a sandbox with the project's `bin` in `PATH` and a hook after every Bash call.
pub(crate) fn bash_sandbox() -> Sandbox {
    let mut sandbox = Sandbox::new().unwrap();
    let path = format!("{}:/usr/bin:/bin", sandbox.project().join("bin").display());
    sandbox.env("PATH", path).args(["--allowedTools", "Bash"]).limit(Duration::from_mins(5));
    for event in [EventName::PostToolUse, EventName::PostToolUseFailure] {
        sandbox.hook(TestHook::for_event(event).matching("Bash"));
    }
    // A stand-in for a test runner: it evaluates its argument.
    sandbox.program("bin/pytest", "#!/bin/sh\neval \"$1\"\n");
    sandbox
}

/// Returns a turn with one Bash call.
pub(crate) fn bash_turn(command: &str) -> ModelTurn {
    ModelTurn::call("Bash", json!({ "command": command, "description": "a step of a test" }))
}

impl BashSession {
    /// Makes the calls, one after another.
    pub(crate) fn run(mut sandbox: Sandbox, client: &ClientBinary, turns: Vec<ModelTurn>) -> Self {
        sandbox.script(ModelScript::new(turns));
        Self::from_record(sandbox.run(client).unwrap())
    }

    /// Collects the hook payloads of a run.
    pub(crate) fn from_record(record: RunRecord) -> Self {
        let mut payloads = HashMap::new();
        for call in &record.calls {
            let wire = RawPayload::parse(&call.stdin).unwrap();
            if let Some(command) = BashCall::finished_command(&wire) {
                let again = payloads.insert(command.into_owned(), call.stdin.clone());
                assert!(again.is_none(), "two calls cannot be told apart");
            }
        }
        Self { record, payloads }
    }

    /// Returns the payload for a command, if there was one.
    pub(crate) fn payload(&self, command: &str) -> Option<&[u8]> {
        self.payloads.get(command).map(Vec::as_slice)
    }

    /// Parses the payload for a command.
    pub(crate) fn call(&self, command: &str) -> Result<BashCall<'_>, &'static str> {
        self.call_with_window(command, DEFAULT_WINDOW_BYTES)
    }

    /// Parses the payload for a command, if the client was configured with another output window.
    pub(crate) fn call_with_window(
        &self,
        command: &str,
        window: usize,
    ) -> Result<BashCall<'_>, &'static str> {
        let payload = self.payload(command).unwrap_or_else(|| {
            panic!("no hook was told of {command}: {}{}", self.record.stdout, self.record.stderr)
        });
        BashCall::parse_run(&RawPayload::parse(payload).unwrap(), window)
            .unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(payload)))
    }

    /// Saves the payload as a fixture of `rutter-memory`, with neutral ids, times and paths. Only with
    /// `RUTTER_WRITE_CALLS=1`.
    pub(crate) fn save_fixture(&self, name: &str, command: &str) {
        if std::env::var_os("RUTTER_WRITE_CALLS").is_none() {
            return;
        }
        let root = self.record.project().parent().unwrap().display().to_string();
        let text = String::from_utf8(self.payload(command).unwrap().to_vec()).unwrap();
        let mut payload: Value = serde_json::from_str(&text.replace(&root, "/home/user")).unwrap();
        let id = "00000000-0000-4000-8000-000000000000";
        let transcript = format!("/home/user/.claude/projects/-home-user-project/{id}.jsonl");
        for (key, value) in [
            ("session_id", json!(id)),
            ("prompt_id", json!(id)),
            ("transcript_path", json!(transcript)),
            ("cwd", json!("/home/user/project")),
            ("tool_use_id", json!("toolu_01ABC")),
            ("duration_ms", json!(1000)),
        ] {
            payload[key] = value;
        }
        if let Some(kept) = payload.pointer_mut("/tool_response/persistedOutputPath") {
            let folder = transcript.trim_end_matches(".jsonl");
            *kept = json!(format!("{folder}/tool-results/b01abcdef.txt"));
        }
        let folder = rutter_testkit::repository_root().join("crates/hooks/fixtures/calls");
        let path = folder.join(name).with_extension("json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(format!("{payload}\n").as_bytes()).unwrap();
    }

    /// Returns the payload as JSON.
    pub(crate) fn payload_json(&self, command: &str) -> Value {
        serde_json::from_slice(self.payload(command).unwrap()).unwrap()
    }
}

/// Returns a call's output as text.
pub(crate) fn output_text(call: &BashCall<'_>) -> String {
    String::from_utf8_lossy(&call.output).into_owned()
}
