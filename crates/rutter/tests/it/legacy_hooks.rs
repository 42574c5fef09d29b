use rutter_check::live::{ModelScript, ModelTurn, RunRecord, Sandbox};
use serde_json::{Map, Value, json};

use crate::live_support::client_from_env;
use crate::support::run_rutter_with_stdin;

const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");

/// A hook in a form that other documentation describes.
struct LegacyHook {
    /// The event for which it was written.
    event: &'static str,
    /// The event on which it is registered.
    registered: &'static str,
    /// A text in its answer.
    mark: &'static str,
    /// The script.
    script: &'static str,
}

/// Hooks that give context. Without the adapter, none of their texts reaches the model.
const CONTEXT_HOOKS: &[LegacyHook] = &[
    LegacyHook {
        event: "SessionStart",
        registered: "SessionStart",
        mark: "LEGACY-CONTENT-1",
        script: r#"echo '{"type":"context","content":"LEGACY-CONTENT-1","token_count":12}'"#,
    },
    LegacyHook {
        event: "UserPromptSubmit",
        registered: "UserPromptSubmit",
        mark: "LEGACY-CONTEXT-2",
        script: r#"grep -q '"userPrompt"' && echo '{"context":"LEGACY-CONTEXT-2"}'"#,
    },
    LegacyHook {
        event: "UserPromptSubmit",
        registered: "UserPromptSubmit",
        mark: "LEGACY-NAMELESS-3",
        script: r#"echo '{"hookSpecificOutput":{"additionalContext":"LEGACY-NAMELESS-3"}}'"#,
    },
    LegacyHook {
        event: "PreToolCall",
        registered: "PreToolUse",
        mark: "LEGACY-REMINDER-4",
        script: r#"grep -q '"tool":"Bash"' && echo '{"type":"reminder","content":"LEGACY-REMINDER-4"}'"#,
    },
    LegacyHook {
        event: "PreToolCall",
        registered: "PreToolUse",
        mark: "LEGACY-NAME-5",
        script: r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolCall","additionalContext":"LEGACY-NAME-5"}}'"#,
    },
    LegacyHook {
        event: "PostToolCall",
        registered: "PostToolUseFailure",
        mark: "LEGACY-OUTCOME-6",
        script: r#"grep -q '"exit_code":3' && echo '{"type":"suggestion","content":"LEGACY-OUTCOME-6","suggested_action":"x"}'"#,
    },
];

/// Hooks that deny a call or send a subagent back.
const DENYING_HOOKS: &[LegacyHook] = &[
    LegacyHook {
        event: "PreToolUse",
        registered: "PreToolUse",
        mark: "LEGACY-DENY-7",
        script: r#"echo '{"continue":true,"permissionDecision":"deny","permissionDecisionReason":"LEGACY-DENY-7"}'"#,
    },
    LegacyHook {
        event: "PreToolUse",
        registered: "PreToolUse",
        mark: "LEGACY-DECISION-8",
        script: r#"echo '{"decision":"deny","reason":"LEGACY-DECISION-8"}'"#,
    },
];

fn settings(hooks: &[LegacyHook], is_adapted: bool) -> Value {
    let mut events: Map<String, Value> = Map::new();
    for (number, hook) in hooks.iter().enumerate() {
        let script = format!("\"$CLAUDE_PROJECT_DIR\"/hook{number}.sh");
        let command = if is_adapted {
            format!("\"{RUTTER}\" contract adapt {} -- {script}", hook.event)
        } else {
            script
        };
        let group = json!({ "hooks": [{ "type": "command", "command": command }] });
        let groups = events.entry(hook.registered).or_insert_with(|| json!([]));
        groups.as_array_mut().unwrap().push(group);
    }
    Value::Object(events)
}

/// Runs a session in which a Bash call fails with exit code 3.
fn run_session(hooks: &[LegacyHook], is_adapted: bool) -> Option<RunRecord> {
    let client = client_from_env("RUTTER_TEST_CLIENT")?;
    let mut sandbox = Sandbox::new().unwrap();
    for (number, hook) in hooks.iter().enumerate() {
        sandbox.program(format!("hook{number}.sh"), format!("#!/bin/sh\n{}\n", hook.script));
    }
    sandbox.setting("hooks", settings(hooks, is_adapted)).args(["--allowedTools", "Bash"]);
    let input = json!({ "command": "touch ran.txt; exit 3", "description": "x" });
    sandbox.script(ModelScript::new([ModelTurn::call("Bash", input), ModelTurn::text("ok")]));
    Some(sandbox.run(&client).unwrap())
}

#[test]
fn adapted_context_reaches_model() {
    let Some(plain) = run_session(CONTEXT_HOOKS, false) else { return };
    let adapted = run_session(CONTEXT_HOOKS, true).unwrap();
    for hook in CONTEXT_HOOKS {
        assert!(
            plain.reached_model(hook.mark).is_none(),
            "{} arrives without the adapter",
            hook.mark
        );
        assert!(adapted.reached_model(hook.mark).is_some(), "{} does not arrive", hook.mark);
    }
}

#[test]
fn adapted_denials_block() {
    for hook in DENYING_HOOKS {
        let hook = std::slice::from_ref(hook);
        let Some(plain) = run_session(hook, false) else { return };
        assert!(
            plain.project().join("ran.txt").exists(),
            "{} blocks without the adapter",
            hook[0].mark
        );
        let adapted = run_session(hook, true).unwrap();
        assert!(!adapted.project().join("ran.txt").exists(), "{} does not block", hook[0].mark);
        assert!(adapted.reached_model(hook[0].mark).is_some(), "{}", hook[0].mark);
    }
}

#[test]
fn subagent_denial_becomes_block() {
    let payload = br#"{"hook_event_name":"SubagentStop","agent_type":"x"}"#;
    let script = r#"echo '{"hookSpecificOutput":{"hookEventName":"SubagentStop","permissionDecision":"deny","permissionDecisionReason":"tests fail"}}'"#;
    let ran = run_rutter_with_stdin(
        &["contract", "adapt", "SubagentStop", "--", "sh", "-c", script],
        payload,
    );
    let answer: Value = serde_json::from_str(&ran.assert_success().stdout).unwrap();
    assert_eq!((&answer["decision"], &answer["reason"]), (&json!("block"), &json!("tests fail")));
}
