use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use rutter_check::live::{ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_contract::EventName;
use rutter_contract::answer::{AnswerPart, answer_parts, build_answer};
use rutter_contract::version::Contract;
use rutter_testkit::{CommandOutput, repository_root, skip_test};
use serde_json::{Map, Value, json};

use crate::live_support::client_from_env;
use crate::support::run_rutter_with_stdin;

const REASON: &str = "REASON-7f2c1";
const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");

#[test]
fn shell_scripts_answer_and_read() {
    let payload = br#"{"tool_name":"Bash","tool_input":{"command":"git push --force"}}"#;
    let field = run_rutter_with_stdin(&["contract", "field", "tool_input.command"], payload);
    assert_eq!(field.assert_success().stdout, "git push --force\n");
    let answer = run_rutter_with_stdin(&["contract", "answer", "Stop", "block", "tests fail"], b"");
    let expected = "{\"decision\":\"block\",\"reason\":\"tests fail\"}\n";
    assert_eq!(answer.assert_success().stdout, expected);
}

#[test]
fn mistakes_name_the_answers_of_the_event() {
    for (args, exit, words) in [
        (
            &["contract", "answer", "PostToolUse", "deny", "x"][..],
            2,
            "it takes block, stop, context, message",
        ),
        (&["contract", "answer", "Stop", "forbid"], 2, "Stop takes block"),
        (&["contract", "answer", "Stop", "context"], 2, "`context` needs a text"),
        (&["contract", "adapt", "PostToolCal", "--", "true"], 2, "there is no such event"),
        (&["contract", "field", "a", "b"], 2, "unexpected argument"),
    ] {
        let ran = run_rutter_with_stdin(args, b"{}");
        assert_eq!(ran.exit, Some(exit), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(words) && ran.stdout.is_empty(), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn outcome_hook_is_registered_on_both_events() {
    let args =
        ["contract", "adapt", "PostToolCall", "--print-settings", "--", "./on-failure.sh", "-v"];
    let settings: Value =
        serde_json::from_str(&run_rutter_with_stdin(&args, b"").assert_success().stdout).unwrap();
    let hooks = settings["hooks"].as_object().unwrap();
    assert_eq!(hooks.keys().collect::<Vec<_>>(), ["PostToolUse", "PostToolUseFailure"]);
    let expected = json!(["contract", "adapt", "PostToolCall", "--", "./on-failure.sh", "-v"]);
    assert_eq!(hooks["PostToolUse"][0]["hooks"][0]["args"], expected);
}

/// Returns a part with a text, and the call of the Python method that adds it.
fn sample_part(name: &str) -> (AnswerPart, &'static str) {
    let text = || "ä \"b\"\n".to_owned();
    let input = Map::from_iter([("command".to_owned(), json!("ls"))]);
    match name {
        "allow" => (AnswerPart::Allow, "allow()"),
        "deny" => (AnswerPart::Deny(text()), "deny(TEXT)"),
        "ask" => (AnswerPart::Ask(text()), "ask(TEXT)"),
        "defer" => (AnswerPart::Defer, "defer()"),
        "block" => (AnswerPart::Block(text()), "block(TEXT)"),
        "stop" => (AnswerPart::Stop(text()), "stop(TEXT)"),
        "context" => (AnswerPart::Context(text()), "context(TEXT)"),
        "message" => (AnswerPart::Message(text()), "message(TEXT)"),
        _ => (AnswerPart::Input(input), "input({\"command\": \"ls\"})"),
    }
}

#[test]
fn python_module_builds_the_same_answers() {
    let Some(python) = std::env::var_os("RUTTER_TEST_PYTHON") else {
        return skip_test(
            "the Python module",
            "RUTTER_TEST_PYTHON is not set; scripts/test sets it",
        );
    };
    let contract = Contract::newest();
    let mut script = "import json, rutter_hooks as h\nTEXT = 'ä \"b\"\\n'\nout = []\n".to_owned();
    let mut expected = Vec::new();
    for event in EventName::ALL {
        for name in answer_parts(event, contract) {
            let (part, call) = sample_part(name);
            expected.push(build_answer(event, &[part], contract).unwrap().stdout);
            let _ = writeln!(script, "out.append(str(h.{event}().{call}))");
        }
    }
    script += "print(json.dumps(out))\n";
    let ran = CommandOutput::run(
        Command::new(python)
            .args(["-c", &script])
            .env("PYTHONPATH", repository_root().join("schemas/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1"),
    );
    let built: Vec<String> = serde_json::from_str(&ran.assert_success().stdout).unwrap();
    assert!(built.len() > 50);
    for (built, expected) in built.iter().zip(&expected) {
        let parse =
            |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|_| json!(text));
        assert_eq!(parse(built), parse(expected));
    }
    assert_eq!(built.len(), expected.len());
}

/// Runs a Bash call in the client with a PreToolUse hook.
fn run_guarded_call(hooks: Value, files: &[(&str, &str)]) -> Option<RunRecord> {
    let client = client_from_env("RUTTER_TEST_CLIENT")?;
    let mut sandbox = Sandbox::new().unwrap();
    for (path, text) in files {
        sandbox.program(*path, *text);
    }
    sandbox.setting("hooks", hooks);
    sandbox.args(["--allowedTools", "Bash"]);
    let call = ModelTurn::call("Bash", json!({ "command": "touch ran.txt", "description": "x" }));
    sandbox.script(ModelScript::new([call, ModelTurn::text("ok")]));
    Some(sandbox.run(&client).unwrap())
}

fn hook_on(event: &str, command: &str) -> Value {
    json!({ event: [{ "hooks": [{ "type": "command", "command": command }] }] })
}

#[test]
fn shell_guard_denies_in_client() {
    let guard = format!(
        "#!/bin/sh\ncase $(\"{RUTTER}\" contract field tool_input.command) in\n  touch*) \"{RUTTER}\" contract answer PreToolUse deny {REASON} ;;\nesac\n"
    );
    let hooks = hook_on("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/guard.sh");
    let Some(record) = run_guarded_call(hooks, &[("guard.sh", &guard)]) else { return };
    assert!(!record.project().join("ran.txt").exists(), "the guard did not block");
    assert!(record.reached_model(REASON).is_some());
}

#[test]
fn adapted_legacy_hook_denies_in_client() {
    let guard = format!(
        "#!/bin/sh\ngrep -q '\"tool\":\"Bash\"' && echo '{{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"{REASON}\"}}'\n"
    );
    let plain = hook_on("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/guard.sh");
    let Some(record) = run_guarded_call(plain, &[("guard.sh", &guard)]) else { return };
    assert!(record.project().join("ran.txt").exists(), "or the case shows nothing");
    let command =
        format!("\"{RUTTER}\" contract adapt PreToolCall -- \"$CLAUDE_PROJECT_DIR\"/guard.sh");
    let record =
        run_guarded_call(hook_on("PreToolUse", &command), &[("guard.sh", &guard)]).unwrap();
    assert!(!record.project().join("ran.txt").exists(), "the adapted guard did not block");
    assert!(record.reached_model(REASON).is_some());
}

#[test]
fn python_guard_denies_in_client() {
    if std::env::var_os("RUTTER_TEST_PYTHON").is_none() {
        return skip_test(
            "the Python module",
            "RUTTER_TEST_PYTHON is not set; scripts/test sets it",
        );
    }
    let python = std::env::var("RUTTER_TEST_PYTHON").unwrap();
    let module = std::fs::read_to_string(repository_root().join("schemas/python/rutter_hooks.py"));
    let guard = format!(
        "from rutter_hooks import PreToolUse, read_payload\nif read_payload()['tool_input']['command'].startswith('touch'):\n    PreToolUse().deny('{REASON}').send()\n"
    );
    let command = format!("\"{python}\" \"$CLAUDE_PROJECT_DIR\"/guard.py");
    let files = [("guard.py", guard.as_str()), ("rutter_hooks.py", &module.unwrap())];
    let Some(record) = run_guarded_call(hook_on("PreToolUse", &command), &files) else { return };
    assert!(!record.project().join("ran.txt").exists(), "the guard did not block");
    assert!(record.reached_model(REASON).is_some());
    assert!(Path::new(&python).is_absolute());
}
