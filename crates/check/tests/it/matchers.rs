//! Matchers and `if` rules, given to the client.
//!
//! One run per client has all of them: each is a hook of its own, which appends its payloads to a file of its own.

use std::collections::BTreeSet;

use rutter_check::live::scenario::MCP_SERVER_NAME;
use rutter_check::live::{
    ClientBinary, ContentBlock, EventScenario, ModelScript, ModelTurn, RunRecord, Sandbox,
};
use rutter_check::matcher::{IF_EVENTS, IfRule, Matcher, MatcherKind, MatcherReach};
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use serde_json::{Value, json};

use crate::support;

/// A text in the prompt of the subagent.
const SUBAGENT_MARKER: &str = "SUBAGENT-4e1a";
/// The command of the `Monitor` call.
const MONITOR_COMMAND: &str = "echo monitor";
/// The tools of the run that every client has.
const CALLED_TOOLS: [&str; 8] =
    ["Agent", "Bash", "Edit", "NotebookEdit", "Read", "WebFetch", "Write", "mcp__asker__ask"];
/// Names that no measured client has a tool for.
const DEAD_TOOLS: [&str; 6] =
    ["MultiEdit", "LS", "NotebookRead", "TodoRead", "SlashCommand", "exit_plan_mode"];

/// Matchers on `PreToolUse`. Their results are those of [`Matcher::matches`].
const MATCHERS: &[&str] = &[
    "",
    "*",
    "Bash",
    "Bash|Read",
    "Bash,Read",
    "Bash, Read",
    " Bash ",
    "Bash|",
    "Ba",
    "bash",
    "Ba.*",
    "^Bash$",
    "Bash(pytest|npm test)",
    "Bash(echo *)",
    "[",
    "(?i)bash",
    "**",
    "!Bash",
    "^(?!Bash).*",
    "Bash Read",
    "mcp__asker",
    "mcp__asker__.*",
    "mcp__*",
    "mcp__asker__ask",
    "mcp__.*__ask",
    "Edit",
    ".*Edit",
    "Edit.*",
    "Edit|Write",
    "(Edit|Write)",
    "edit",
    "Bash(git *)",
    "Bash:*",
    "Task",
    " Bash",
    "Bash ,Read",
    r"\bEdit\b",
    "^(Edit|MultiEdit)$",
    "(?<!Notebook)Edit",
    "(?<=Notebook)Edit",
    "(?<tool>Edit)",
    "[[:alpha:]]",
    r"\d",
    "(?P<x>a)",
    r"\Z",
    "a++",
    "{",
    "+",
    "*Edit",
    "Bash*",
    "Bash.",
    "Bash/",
    "é",
    "Bash\n",
    r"Ba\u0073h",
    r"\x42ash",
    "[A-Z]{2,}",
    ", |",
    "|",
    " ",
    "^Task$",
    "Task.*",
    "Bash.*",
    "(?i:bash)",
    "^bash$",
    "(?<a>Bash)|(?<a>Read)",
    "Agent",
    "Agent$",
    "TaskOutput",
    r"\p{Lu}",
    "[^a-z]sh",
    "Bash|*",
    "*|Bash",
    ".*",
    "mcp__asker__.*|Bash",
    "Edit|Write|",
    "Read;",
    "B{1}ash",
    "Web Fetch",
    "Monitor",
    "Bash|Monitor$",
    r"\k<x>",
    r"(?<x>a)\k<x>",
    "]",
    "}",
    "(?=B)*ash",
    "a{2,1}",
    "[z-a]",
    "(",
    "\\",
    r"Read\",
    "(?=Edit)",
    "$",
    "^",
    "()",
    r"(.)\1",
    r"\w+__\w+",
    "mcp__ask",
    "mcp-asker",
    r"\cA|\c",
    "[\\c]",
    r"\8|\07",
    "x{,2}|Edit",
    "(?<!(?=B))ash",
    r"[\d-z]",
    r"[\w-]+Edit",
    r"\u{45}dit",
    r"E\dit",
    "(?:B|(?<n>R))e?.*",
    "(?:)*Edit$",
    "^.{4}$",
    "[]",
    "[^]",
    "MultiEdit",
    "LS",
    "plugin:agent",
    r"\b*ash",
    r"\B?ash",
    r"(?:\b)?Edit",
    "(?-s:Edit)",
    "(a+)+!",
];

/// `if` rules of hooks without a matcher, the tools for which they run, and true if also for `Monitor`.
const IF_RULES: &[(&str, &[&str], bool)] = &[
    ("", &CALLED_TOOLS, true),
    ("Bash", &["Bash"], true),
    ("Bash(git *)", &["Bash"], false),
    ("Bash(git:*)", &["Bash"], false),
    ("Bash(echo *)", &["Bash"], true),
    ("Bash(npm *)", &[], false),
    ("Bash(*)", &["Bash"], true),
    ("Bash()", &["Bash"], true),
    ("Bash(echo *)|Read", &[], false),
    ("Bash|Read", &[], false),
    ("Bash||Read", &[], false),
    ("Bash(git *) || Read(*)", &[], false),
    ("Bash, Read", &[], false),
    ("Bash(", &[], false),
    ("Bash)", &[], false),
    ("Bash(git", &[], false),
    ("Bash(git *)x", &[], false),
    ("(git *)", &[], false),
    (" Bash", &[], false),
    ("Bash (git *)", &[], false),
    ("   ", &[], false),
    ("bash", &[], false),
    ("*", &[], false),
    ("Ba*", &[], false),
    ("Edit", &["Edit"], false),
    ("Edit(*.txt)", &["Edit"], false),
    ("Edit(*.ts)", &[], false),
    ("Edit(*.ipynb)", &[], false),
    ("NotebookEdit(*.ipynb)", &["NotebookEdit"], false),
    ("Write(*.txt)", &["Write"], false),
    ("mcp__asker", &[], false),
    ("mcp__asker__ask", &["mcp__asker__ask"], false),
    ("mcp__asker__*", &[], false),
    ("mcp__asker__ask(x)", &[], false),
    ("mcp__asker__ask(*)", &["mcp__asker__ask"], false),
    ("Task", &["Agent"], false),
    ("Agent(general-purpose)", &[], false),
    ("WebFetch", &["WebFetch"], false),
    ("WebFetch(domain:127.0.0.1)", &[], false),
    ("MultiEdit", &[], false),
];

/// Returns a group of one hook that appends its payloads to a file in the folder `ran`.
fn recording_group(file: &str) -> Value {
    let command = format!("cat >> \"$CLAUDE_PROJECT_DIR/ran/{file}\"");
    json!({ "hooks": [{ "type": "command", "command": command }] })
}

/// Returns a call of the model.
fn call(tool: &str, input: Value) -> ContentBlock {
    ContentBlock::Call { tool: tool.to_owned(), input }
}

/// Returns a sandbox with a server, files, and calls of all tools.
fn calling_sandbox() -> Sandbox {
    let mut sandbox = EventScenario::for_event(EventName::Elicitation).sandbox().unwrap();
    let project = sandbox.project();
    let path = |name: &str| project.join(name).display().to_string();
    let mut first = vec![
        call("Bash", json!({ "command": "A=1 git --version; echo hi", "description": "a step" })),
        call("Read", json!({ "file_path": path("a.txt") })),
        call("Read", json!({ "file_path": path("n.ipynb") })),
        call("Write", json!({ "file_path": path("b.txt"), "content": "x" })),
        call(&format!("mcp__{MCP_SERVER_NAME}__ask"), json!({})),
        call("WebFetch", json!({ "url": "http://127.0.0.1:1/", "prompt": "x" })),
        call(
            "Monitor",
            json!({ "command": MONITOR_COMMAND, "description": "a step", "timeout_ms": 1000, "persistent": false }),
        ),
        call(
            "Agent",
            json!({
                "description": "a part", "prompt": format!("{SUBAGENT_MARKER} do it"),
                "subagent_type": "general-purpose", "run_in_background": false,
            }),
        ),
    ];
    first.extend(DEAD_TOOLS.map(|tool| call(tool, json!({}))));
    let second = vec![
        call(
            "Edit",
            json!({ "file_path": path("a.txt"), "old_string": "one", "new_string": "two" }),
        ),
        call(
            "NotebookEdit",
            json!({ "notebook_path": path("n.ipynb"), "cell_id": "c1", "new_source": "2" }),
        ),
    ];
    let script = ModelScript::new([ModelTurn::Content(first), ModelTurn::Content(second)])
        .subagent(SUBAGENT_MARKER, [ModelTurn::text("ok")]);
    let cell = json!({ "cell_type": "code", "id": "c1", "metadata": {}, "outputs": [], "execution_count": null, "source": ["1"] });
    let notebook = json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 });
    sandbox
        .script(script)
        .prompt("go")
        .file("a.txt", "one\n")
        .file("n.ipynb", notebook.to_string())
        .file("ran/empty", "");
    sandbox
}

/// Runs all matchers and rules on a client.
fn run_all(client: &ClientBinary) -> RunRecord {
    let mut groups = Vec::new();
    for (number, matcher) in MATCHERS.iter().enumerate() {
        let mut group = recording_group(&format!("matcher-{number}"));
        group["matcher"] = json!(matcher);
        groups.push(group);
    }
    for (number, (rule, ..)) in IF_RULES.iter().enumerate() {
        let mut group = recording_group(&format!("if-{number}"));
        group["hooks"][0]["if"] = json!(rule);
        groups.push(group);
    }
    let with_rule = |file: &str, rule: &str| {
        let mut group = recording_group(file);
        group["hooks"][0]["if"] = json!(rule);
        group
    };
    let hooks = json!({
        "PreToolUse": groups,
        "UserPromptSubmit": [with_rule("prompt-without", ""), with_rule("prompt-with", "Bash")],
        "Stop": [with_rule("stop-without", ""), with_rule("stop-with", "Bash")],
    });
    let mut sandbox = calling_sandbox();
    sandbox.setting("hooks", hooks);
    sandbox.run(client).unwrap()
}

/// Returns the payloads that a hook got.
fn payloads(record: &RunRecord, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(record.project().join("ran").join(file)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the tools in the payloads of a hook. A `Monitor` call that is presented as `Bash` is left out.
fn tools_of(payloads: &[Value]) -> BTreeSet<&str> {
    let calls = payloads.iter().filter(|payload| !is_monitor_as_bash(payload));
    calls.map(|payload| payload["tool_name"].as_str().unwrap()).collect()
}

fn is_monitor_as_bash(payload: &Value) -> bool {
    payload["tool_name"] == "Bash" && payload["tool_input"]["command"] == MONITOR_COMMAND
}

fn check_client(client: Option<ClientBinary>) {
    let Some(client) = client else { return };
    let contract = Contract::for_client(client.version());
    let record = run_all(&client);
    let has_monitor = contract.has(Contract::NEWEST);
    let mut called = BTreeSet::from(CALLED_TOOLS);
    if has_monitor {
        called.insert("Monitor");
    }
    let spec = event_spec(EventName::PreToolUse);
    let mut faults = Vec::new();
    for (number, text) in MATCHERS.iter().enumerate() {
        let matcher = Matcher::parse(Some(text), spec, contract);
        let payloads = payloads(&record, &format!("matcher-{number}"));
        let ran = tools_of(&payloads);
        if matches!(matcher.kind(), MatcherKind::Unjudged { .. }) {
            assert_eq!(*text, "(a+)+!", "not judged");
            continue;
        }
        let expected: BTreeSet<&str> =
            called.iter().copied().filter(|tool| matcher.matches(tool) == Some(true)).collect();
        let as_bash = payloads.iter().any(is_monitor_as_bash);
        let never = matches!(matcher.reach(), MatcherReach::Never(_)) && !payloads.is_empty();
        if ran != expected || as_bash != matcher.matches_as_bash() || never {
            faults.push(format!("{text:?}: ran for {ran:?}, as Bash: {as_bash}; {matcher:?}"));
        }
        if text.is_empty() {
            assert_eq!(ran, called, "some tool was not called:\n{}", record.stdout);
        }
    }
    for (number, (text, tools, for_monitor)) in IF_RULES.iter().enumerate() {
        let payloads = payloads(&record, &format!("if-{number}"));
        let ran = tools_of(&payloads);
        let mut expected: BTreeSet<&str> = tools.iter().copied().collect();
        if has_monitor && *for_monitor {
            expected.insert("Monitor");
        }
        let fault = IfRule::parse(text).find_fault(EventName::PreToolUse, contract);
        if ran != expected || fault.is_some() && !ran.is_empty() {
            faults.push(format!("if {text:?}: ran for {ran:?}; {fault:?}"));
        }
    }
    assert!(faults.is_empty(), "{} differs:\n{}", client.version(), faults.join("\n"));

    for event in ["prompt", "stop"] {
        assert!(!payloads(&record, &format!("{event}-without")).is_empty(), "{event}");
        assert!(payloads(&record, &format!("{event}-with")).is_empty(), "{event}");
    }
    for tool in DEAD_TOOLS {
        let refusal = format!("No such tool available: {tool}");
        assert!(record.reached_model(&refusal).is_some(), "{tool}");
    }
}

#[test]
fn newest_client_agrees() {
    check_client(support::client());
}

#[test]
fn oldest_client_agrees() {
    check_client(support::old_client());
}

#[test]
fn rules_that_match_have_no_fault() {
    assert!(IF_EVENTS.contains(&EventName::PreToolUse));
    for (text, tools, _) in IF_RULES {
        let fault = IfRule::parse(text).find_fault(EventName::PreToolUse, Contract::newest());
        // Three rules are right, and no call of the run has such a content.
        let unmet = ["Bash(npm *)", "Edit(*.ts)", "Edit(*.ipynb)"].contains(text);
        assert_eq!(fault.is_some(), tools.is_empty() && !unmet, "{text:?}: {fault:?}");
    }
}
