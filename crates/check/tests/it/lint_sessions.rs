//! Mistakes whose sessions are not those of the other cases.

use std::path::Path;

use rutter_check::lint::{LintContext, LintFile, LintMachine, run_rules};
use rutter_check::live::scenario::RAN_FILE;
use rutter_check::live::{ClientBinary, EventScenario, ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_check::settings::{HookFile, SettingsLayer, SettingsSource};
use rutter_contract::EventName;
use rutter_contract::version::{Contract, Version};
use serde_json::{Value, json};

use crate::support::{MARK, client, old_client};

/// The file to which hooks append a line.
const RAN: &str = "ran.log";

/// Returns the ids of the rules that report a file.
fn reported_rules(layer: SettingsLayer, contract: Contract) -> Vec<&'static str> {
    let file = LintFile::from_layer(layer, None, None, contract).unwrap();
    let machine = LintMachine::default();
    let context = LintContext::new(vec![file], Vec::new(), contract, &machine);
    run_rules(&context, &|_, _| false).iter().map(|finding| finding.rule.id).collect()
}

/// Returns the ids of the rules that report project settings.
fn reported_settings(text: &str, version: Version) -> Vec<&'static str> {
    let (contract, path) = (Contract::for_client(version), Path::new("settings.json"));
    let source = SettingsSource::Project;
    reported_rules(SettingsLayer::parse(source, path, None, text.as_bytes(), contract), contract)
}

#[test]
fn event_of_newer_client_does_not_fire() {
    for (client, rules) in [(old_client(), &["event-too-new"][..]), (client(), &[])] {
        let Some(client) = client else { return };
        let hook = json!({ "type": "command", "command": format!("echo x >> {RAN}") });
        let hooks = json!({ "PostModelSwitch": [{ "hooks": [hook] }] });
        let text = json!({ "hooks": hooks }).to_string();
        assert_eq!(reported_settings(&text, client.version()), rules);
        let mut sandbox = EventScenario::for_event(EventName::PostModelSwitch).sandbox().unwrap();
        sandbox.setting("hooks", hooks);
        let record = sandbox.run(&client).unwrap();
        assert_eq!(record.project().join(RAN).exists(), rules.is_empty(), "{}", client.version());
    }
}

/// Hooks with `once`, and the number of their calls in a skill or command and in an agent.
const ONCE_HOOKS: &[(&str, &str, [usize; 2])] = &[
    ("PostToolUse", "", [3, 2]),
    ("PostToolUse", "Bash", [1, 2]),
    ("PostToolUse", "*", [3, 2]),
    ("PostToolUse", ".*", [3, 2]),
    ("PostToolUse", "^Ba", [3, 2]),
    ("PreToolUse", "Bash|Read", [3, 2]),
    ("PreToolUse", "Bash,", [3, 2]),
    ("PreToolUse", "^Bash$", [3, 2]),
    ("PreToolUse", "Bash", [1, 2]),
    ("PostToolBatch", "", [1, 2]),
];

/// Returns the frontmatter of a file with hooks that run once.
fn once_frontmatter(hooks: &[(&str, &str, [usize; 2])]) -> String {
    let mut lines = vec!["---\nname: probe\ndescription: a test\nhooks:".to_owned()];
    for event in ["PreToolUse", "PostToolUse", "PostToolBatch"] {
        let of_event: Vec<_> = hooks.iter().filter(|(name, ..)| *name == event).collect();
        if !of_event.is_empty() {
            lines.push(format!("  {event}:"));
        }
        for (_, matcher, _) in of_event {
            let file = once_file(event, matcher);
            lines.push(format!("    - matcher: '{matcher}'\n      hooks:"));
            lines.push("        - type: command\n          once: true".to_owned());
            let command = format!("echo x >> \"$CLAUDE_PROJECT_DIR\"/{file}");
            lines.push(format!("          command: '{command}'"));
        }
    }
    lines.push("---\nRun the command.\n".to_owned());
    lines.join("\n")
}

/// Returns the name of the file to which a hook appends a line.
fn once_file(event: &str, matcher: &str) -> String {
    let matcher = matcher.replace('*', "star").replace('|', "-or-").replace('^', "start-");
    format!("ran-{event}-{matcher}")
}

#[test]
fn once_needs_skill_and_tool_as_matcher() {
    for client in [client(), old_client()] {
        let Some(client) = client else { return };
        let contract = Contract::for_client(client.version());
        for (path, column) in [
            (".claude/skills/probe/SKILL.md", 0),
            (".claude/commands/probe.md", 0),
            (".claude/agents/probe.md", 1),
        ] {
            let mut sandbox = Sandbox::new().unwrap();
            let trust = json!({ "hasTrustDialogAccepted": true });
            let state = json!({ "projects": { sandbox.project().to_str().unwrap(): trust } });
            let call =
                || ModelTurn::call("Bash", json!({ "command": "true", "description": "a step" }));
            let input = json!({ "description": "a part", "prompt": "AGENT-PROMPT",
                "subagent_type": "probe", "run_in_background": false });
            let (prompt, script) = if column == 1 {
                let script = ModelScript::new([ModelTurn::call("Agent", input)]);
                ("go", script.subagent("AGENT-PROMPT", [call(), call(), ModelTurn::text("done")]))
            } else {
                ("/probe", ModelScript::new([call(), call(), call()]))
            };
            sandbox
                .file("../home/.claude.json", state.to_string())
                .file(path, once_frontmatter(ONCE_HOOKS))
                .script(script)
                .prompt(prompt)
                .args(["--allowedTools", "Bash,Agent,Skill"]);
            let record = sandbox.run(&client).unwrap();
            let file = HookFile::classify(&record.project().join(path), None).unwrap();
            for hook in ONCE_HOOKS {
                let (event, matcher, lines) = hook;
                let ran = record.project().join(once_file(event, matcher));
                let found = std::fs::read_to_string(ran).unwrap_or_default().lines().count();
                let place = format!("{} {path} {event} {matcher:?}", client.version());
                assert_eq!(found, lines[column], "{place}");
                let text = once_frontmatter(std::slice::from_ref(hook));
                let layer = file.parse(text.as_bytes(), contract).unwrap();
                let expected: &[&str] = if found > 1 { &["once-ignored"] } else { &[] };
                assert_eq!(reported_rules(layer, contract), expected, "{place}");
            }
        }
    }
}

/// Runs a session in which nobody but a hook on PermissionRequest can allow a call.
fn run_unallowed(client: &ClientBinary, command: &str) -> RunRecord {
    let mut sandbox = EventScenario::for_event(EventName::PermissionRequest).sandbox().unwrap();
    let hook = json!({ "hooks": [{ "type": "command", "command": command }] });
    sandbox.setting("hooks", json!({ "PermissionRequest": [hook] }));
    sandbox.run(client).unwrap()
}

#[test]
fn permission_request_drops_reason_of_exit_2() {
    let Some(client) = client() else { return };
    let record = run_unallowed(&client, &format!("echo x > {RAN}; echo {MARK} >&2; exit 2"));
    assert!(record.project().join(RAN).exists(), "the hook runs");
    assert_eq!(record.reached_model(MARK), None);
    let answer = json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest",
        "decision": { "behavior": "deny", "message": MARK } } });
    let record = run_unallowed(&client, &format!("echo '{answer}'"));
    assert!(record.reached_model(MARK).is_some());
}

#[test]
fn prompt_hooks_fail_on_compaction() {
    for client in [client(), old_client()] {
        let Some(client) = client else { return };
        for event in [EventName::PreCompact, EventName::PostCompact] {
            let hooks = json!({ event.as_str(): [{ "hooks": [
                { "type": "prompt", "prompt": MARK },
                { "type": "agent", "prompt": MARK },
            ] }] });
            let text = json!({ "hooks": hooks }).to_string();
            assert_eq!(reported_settings(&text, client.version()), ["handler-not-run"; 2]);
            let mut sandbox = EventScenario::for_event(event).sandbox().unwrap();
            sandbox.setting("hooks", hooks);
            let record = sandbox.run(&client).unwrap();
            let texts = record.texts_to_model();
            let texts: Vec<&str> =
                texts.iter().map(|one| one.text).filter(|text| text.contains(MARK)).collect();
            // The model never gets the prompt, only the client's report of the failure.
            for kind in ["Prompt", "Agent"] {
                let report = format!(
                    "[{MARK}] failed: {kind} stop hooks are not yet supported outside REPL"
                );
                assert!(!texts.is_empty(), "{event} {kind}");
                assert!(texts.iter().all(|text| text.contains(&report)), "{event}: {texts:?}");
            }
        }
    }
}

#[test]
fn permission_request_runs_no_agent_on_newest() {
    for (client, rules) in [(client(), &["handler-not-run"][..]), (old_client(), &[])] {
        let Some(client) = client else { return };
        let hook = json!({ "type": "agent", "prompt": MARK });
        let hooks = json!({ "PermissionRequest": [{ "hooks": [hook] }] });
        let text = json!({ "hooks": hooks }).to_string();
        let mut sandbox = EventScenario::for_event(EventName::PermissionRequest).sandbox().unwrap();
        sandbox.setting("hooks", hooks);
        if rules.is_empty() {
            // This client asks hooks only if somebody else can be asked too.
            sandbox.args(["--permission-prompt-tool", "stdio"]);
            assert!(sandbox.run(&client).unwrap().reached_model(MARK).is_some());
        } else {
            let record = sandbox.run(&client).unwrap();
            assert_eq!(record.reached_model(MARK), None);
            assert!(record.debug_log.contains("agent-type hooks are not supported"));
        }
        assert_eq!(reported_settings(&text, client.version()), rules);
    }
}

/// Runs a session with one call of Bash, which is allowed. Returns true if the call ran.
fn call_runs(client: &ClientBinary, hooks: Value) -> bool {
    let mut sandbox = EventScenario::for_event(EventName::PreToolUse).sandbox().unwrap();
    sandbox.setting("hooks", hooks);
    sandbox.run(client).unwrap().project().join(RAN_FILE).exists()
}

#[test]
fn older_client_ignores_on_failure() {
    for (client, rules) in [(old_client(), &["on-failure-ignored"][..]), (client(), &[])] {
        let Some(client) = client else { return };
        let hook = json!({ "type": "command", "command": "exit 1", "onFailure": "block" });
        let hooks = json!({ "PreToolUse": [{ "hooks": [hook] }] });
        let text = json!({ "hooks": hooks }).to_string();
        assert_eq!(reported_settings(&text, client.version()), rules);
        assert_eq!(call_runs(&client, hooks), !rules.is_empty(), "{}", client.version());
    }
}

#[test]
fn equal_commands_run_once_per_event() {
    for client in [client(), old_client()] {
        let Some(client) = client else { return };
        let hook = json!({ "type": "command", "command": format!("echo x >> {RAN}") });
        let mut filtered = hook.clone();
        filtered["if"] = json!("Bash(touch *)");
        for (groups, lines, reported) in [
            (
                json!([{ "matcher": "Bash", "hooks": [hook] }, { "matcher": "Bash|Read", "hooks": [hook] }]),
                1,
                &["handler-twice"][..],
            ),
            (json!([{ "matcher": "Bash", "hooks": [hook, filtered] }]), 2, &[]),
        ] {
            let hooks = json!({ "PostToolUse": groups });
            let text = json!({ "hooks": hooks }).to_string();
            assert_eq!(reported_settings(&text, client.version()), reported);
            let mut sandbox = EventScenario::for_event(EventName::PostToolUse).sandbox().unwrap();
            sandbox.setting("hooks", hooks);
            let record = sandbox.run(&client).unwrap();
            let ran = std::fs::read_to_string(record.project().join(RAN)).unwrap();
            assert_eq!(ran.lines().count(), lines, "{} {text}", client.version());
        }
    }
}

#[test]
fn session_end_timeout_counts_in_settings() {
    for client in [client(), old_client()] {
        let Some(client) = client else { return };
        let slow = |file: &str| json!({ "type": "command", "command": format!("sleep 3 && echo x > {file}") });
        let mut patient = slow("patient");
        patient["timeout"] = json!(30);
        let hooks = json!({ "SessionEnd": [{ "hooks": [patient, slow("hasty")] }] });
        let mut sandbox = Sandbox::new().unwrap();
        sandbox.setting("hooks", hooks);
        let record = sandbox.run(&client).unwrap();
        assert!(record.project().join("patient").exists(), "{}", client.version());
        // The time of another hook does not help.
        assert!(!record.project().join("hasty").exists(), "{}", client.version());
    }
}
