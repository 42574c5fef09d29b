//! Answers, key by key. The first eight tests have the names of an older hook library's tests; they expect
//! the form that the client honours.

use serde_json::json;

use super::*;
use crate::input::*;
use crate::table::{EVENTS, event_spec};

/// The library printed `{"continue":true}`; the client needs no output at all.
#[test]
fn basic_output() {
    assert_eq!(HookOutput::<SessionStart>::new().answer(), HookAnswer::default());
    assert_eq!(HookOutput::<SessionStart>::new().to_value(), json!({}));
}

#[test]
fn system_message_is_top_level() {
    let value = HookOutput::<PreToolUse>::new().allow().system_message("hello").to_value();
    assert_eq!(value["systemMessage"], "hello");
    assert_eq!(value["hookSpecificOutput"].get("systemMessage"), None);
}

#[test]
fn decision_and_reason() {
    let value = HookOutput::<Stop>::new().block("tests are red").to_value();
    assert_eq!(value, json!({ "decision": "block", "reason": "tests are red" }));
}

#[test]
fn user_prompt_submit_schema() {
    let value = HookOutput::<UserPromptSubmit>::new().context("Context: tests/").to_value();
    assert_eq!(
        value,
        json!({ "hookSpecificOutput":
            { "hookEventName": "UserPromptSubmit", "additionalContext": "Context: tests/" } })
    );
}

/// The client drops the decision at the top level, where the library put it, and the tool runs.
#[test]
fn permission_decision() {
    let value = HookOutput::<PreToolUse>::new().deny("not here").to_value();
    assert_eq!(
        value,
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": "not here" } })
    );
}

/// The card goes to the user, the facts go to the model: the library had only the card.
#[test]
fn session_start_typical_output() {
    let value = HookOutput::<SessionStart>::new()
        .system_message("Session started\n   Branch: develop")
        .context("Branch: develop")
        .to_value();
    assert_eq!(
        value,
        json!({ "systemMessage": "Session started\n   Branch: develop", "hookSpecificOutput":
            { "hookEventName": "SessionStart", "additionalContext": "Branch: develop" } })
    );
}

#[test]
fn json_serializable() {
    let text = "quote \" backslash \\ newline \n nul \0 emoji 😀 paragraph \u{2029}";
    let answer = HookOutput::<PostToolUse>::new().block(text).context(text).answer();
    let read: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(read["reason"], text);
    assert_eq!(read["hookSpecificOutput"]["additionalContext"], text);
    assert!(!answer.stdout.contains('\n'));
}

#[test]
fn user_prompt_submit_with_system_message() {
    let value = HookOutput::<UserPromptSubmit>::new()
        .system_message("for you")
        .context("for it")
        .to_value();
    assert_eq!(value["systemMessage"], "for you");
    assert_eq!(value["hookSpecificOutput"]["additionalContext"], "for it");
}

#[test]
fn context_appends_lines() {
    let value = HookOutput::<Stop>::new().context("one").context("two").to_value();
    assert_eq!(value["hookSpecificOutput"]["additionalContext"], "one\ntwo");
}

#[test]
fn cuts_texts_but_not_payloads() {
    let long = "漢".repeat(12_000);
    let answer = HookOutput::<PostToolUse>::new()
        .context(&long)
        .system_message(&long)
        .classifier_context(&long)
        .updated_tool_output(json!({ "stdout": long }))
        .block(&long)
        .to_value();
    let units = |value: &Value| utf16_units(value.as_str().unwrap());
    let specific = &answer["hookSpecificOutput"];
    assert_eq!(units(&specific["additionalContext"]), 10_000);
    assert_eq!(units(&answer["systemMessage"]), 10_000);
    assert_eq!(units(&specific["classifierContext"]), 2_000);
    assert_eq!(specific["updatedToolOutput"]["stdout"], long);
    assert_eq!(answer["reason"], long);

    let object: Map<String, Value> = [("text".to_owned(), json!(long))].into_iter().collect();
    let specific = |value: Value| value["hookSpecificOutput"].clone();
    let input = HookOutput::<PreToolUse>::new().updated_input(object.clone()).to_value();
    assert_eq!(specific(input)["updatedInput"]["text"], long);
    let content = HookOutput::<Elicitation>::new().accept(object.clone()).to_value();
    assert_eq!(specific(content)["content"]["text"], long);
    let shown = HookOutput::<MessageDisplay>::new().display(&long).to_value();
    assert_eq!(specific(shown)["displayContent"], long);
    let allow = PermissionGrant::default().updated_input(object);
    let granted = HookOutput::<PermissionRequest>::new().allow_with(allow).to_value();
    assert_eq!(specific(granted)["decision"]["updatedInput"]["text"], long);
}

#[test]
fn plain_text_never_parses_as_json() {
    let long = "x".repeat(20_000);
    assert_eq!(utf16_units(&HookOutput::<SessionStart>::plain(&long).stdout), 10_000);
    for text in [r#"{"decision":"block"}"#, "\u{feff}\n {x", "{"] {
        let stdout = HookOutput::<PreCompact>::plain(text).stdout;
        assert!(stdout.starts_with("Text: {"), "{stdout}");
    }
    assert_eq!(
        HookOutput::<PreCompact>::plain("keep the failing test").stdout,
        "keep the failing test"
    );
}

#[test]
fn later_elicitation_answer_replaces_values() {
    let content: Map<String, Value> = [("name".to_owned(), json!("x"))].into_iter().collect();
    let value = HookOutput::<Elicitation>::new().accept(content).decline().to_value();
    assert_eq!(
        value["hookSpecificOutput"],
        json!({ "hookEventName": "Elicitation", "action": "decline" })
    );
}

#[test]
fn answers_by_exit_code() {
    let kept = HookOutput::<TeammateIdle>::keep_working("one test is red");
    assert_eq!((kept.exit, kept.stdout.as_str(), kept.stderr.as_str()), (2, "", "one test is red"));
    assert_eq!(HookOutput::<WorktreeCreate>::path("/w/a").stdout, "/w/a\n");
    assert_eq!(HookOutput::<WorktreeCreate>::fail("no space").exit, 2);
}

/// The builder has a method for every effective field of every `hookSpecificOutput`, and no others.
#[test]
fn builder_covers_table_fields() {
    let object: Map<String, Value> = [("k".to_owned(), json!(1))].into_iter().collect();
    let said = [
        HookOutput::<PreToolUse>::new()
            .ask("r")
            .updated_input(object.clone())
            .context("c")
            .to_value(),
        HookOutput::<PostToolUse>::new()
            .context("c")
            .classifier_context("k")
            .updated_tool_output(1)
            .updated_mcp_tool_output(2)
            .to_value(),
        HookOutput::<PostToolUseFailure>::new().context("c").to_value(),
        HookOutput::<PostToolBatch>::new().context("c").to_value(),
        json!({ "hookSpecificOutput": { "hookEventName": "Notification" } }),
        HookOutput::<UserPromptSubmit>::new()
            .context("c")
            .session_title("t")
            .block_silently("r")
            .to_value(),
        HookOutput::<UserPromptExpansion>::new().context("c").block_silently("r").to_value(),
        HookOutput::<SessionStart>::new()
            .context("c")
            .initial_user_message("m")
            .session_title("t")
            .watch_paths(["/a"])
            .reload_skills()
            .to_value(),
        HookOutput::<Stop>::new().context("c").to_value(),
        HookOutput::<SubagentStart>::new().context("c").to_value(),
        HookOutput::<SubagentStop>::new().context("c").to_value(),
        HookOutput::<PreModelSwitch>::new().deny("r").to_value(),
        HookOutput::<PostModelSwitch>::new().context("c").to_value(),
        HookOutput::<PermissionRequest>::new().deny_and_interrupt("m").to_value(),
        HookOutput::<PermissionDenied>::new().retry().to_value(),
        json!({ "hookSpecificOutput": { "hookEventName": "Setup" } }),
        HookOutput::<Elicitation>::new().accept(object.clone()).to_value(),
        HookOutput::<ElicitationResult>::new().accept(object).to_value(),
        HookOutput::<WorktreeCreate>::http_path("/w"),
        HookOutput::<CwdChanged>::new().watch_paths(["/a"]).to_value(),
        HookOutput::<FileChanged>::new().watch_paths(["/a"]).to_value(),
        HookOutput::<MessageDisplay>::new().display("d").to_value(),
    ];
    let mut seen = Vec::new();
    for value in &said {
        let specific = value["hookSpecificOutput"].as_object().unwrap();
        let name: crate::EventName = specific["hookEventName"].as_str().unwrap().parse().unwrap();
        let mut keys: Vec<&str> = specific.keys().map(String::as_str).skip(1).collect();
        let mut listed: Vec<&str> = event_spec(name)
            .output
            .unwrap()
            .iter()
            .filter(|field| !field.inert)
            .map(|field| field.name)
            .collect();
        keys.sort_unstable();
        listed.sort_unstable();
        assert_eq!(keys, listed, "{name}");
        seen.push(name);
    }
    let with_output = EVENTS.iter().filter(|event| event.output.is_some()).count();
    assert_eq!((seen.len(), with_output), (22, 22));
}

/// A suggested update can be granted; an update that the client would refuse cannot be sent.
#[test]
fn rejects_unsendable_permission_updates() {
    let update = |json: Value| serde_json::from_value::<PermissionUpdate>(json).unwrap();
    let suggested = update(
        json!({ "type": "addRules", "behavior": "allow", "destination": "session", "novelty": 1,
        "rules": [{ "toolName": "Bash", "ruleContent": "ls", "novelty": 2 }] }),
    );
    let allow = PermissionGrant::default().updated_permission(&suggested).unwrap();
    let value = HookOutput::<PermissionRequest>::new().allow_with(allow).to_value();
    assert_eq!(
        value["hookSpecificOutput"]["decision"]["updatedPermissions"],
        json!([{ "type": "addRules", "behavior": "allow", "destination": "session",
            "rules": [{ "toolName": "Bash", "ruleContent": "ls" }] }])
    );
    for (refused, path) in [
        (json!({ "type": "grantMoon" }), "/type"),
        (json!({ "type": "setMode", "mode": "yolo", "destination": "session" }), "/mode"),
        (
            json!({ "type": "addDirectories", "directories": [], "destination": "moon" }),
            "/destination",
        ),
    ] {
        let error = PermissionGrant::default().updated_permission(&update(refused)).unwrap_err();
        assert_eq!(error.path, path);
    }
}

#[test]
fn later_decision_removes_reason() {
    let value = HookOutput::<PreToolUse>::new().deny("no").allow().to_value();
    assert_eq!(
        value,
        json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "permissionDecision": "allow" } })
    );
}
