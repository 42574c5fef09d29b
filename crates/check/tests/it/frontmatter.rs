//! Hooks in the frontmatter of skills, agents and commands, and in plugins: the reader says what the client does.

use std::path::Path;

use rutter_check::live::{ClientBinary, ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_check::settings::{HookFile, LayerState, load_plugin_folder};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use serde_json::json;

use crate::support::{client, old_client};

/// The file to which hooks append the name of their event.
const LOG_FILE: &str = "ran.log";
/// A text in the prompt of the agent under test.
const AGENT_PROMPT: &str = "AGENT-PROMPT";

/// Returns YAML with a hook of an event, for the place below `hooks:`.
fn yaml_hook(event: &str) -> String {
    format!(
        "  {event}:\n    - hooks:\n        - type: command\n          command: 'echo {event} >> \"$CLAUDE_PROJECT_DIR/{LOG_FILE}\"'\n"
    )
}

fn markdown(frontmatter: &str) -> String {
    format!("---\nname: probe\ndescription: a test\n{frontmatter}---\nRun the command.\n")
}

/// Invokes the skill, command or agent in a file, in a trusted folder. The model then runs a command.
fn run_file(client: &ClientBinary, file: &str, text: &str) -> RunRecord {
    let mut sandbox = Sandbox::new().unwrap();
    let project = sandbox.project();
    let trust = json!({ "hasTrustDialogAccepted": true });
    let state = json!({ "projects": { project.to_str().unwrap(): trust } });
    sandbox.file("../home/.claude.json", state.to_string());
    sandbox.file(file, text).args(["--allowedTools", "Bash,Agent,Skill"]);
    let is_plugin = file.starts_with("plug/");
    if is_plugin {
        sandbox.file("plug/.claude-plugin/plugin.json", "{\"name\": \"plug\"}");
        sandbox.args(["--plugin-dir", "plug"]);
    }
    let name = if is_plugin { "plug:probe" } else { "probe" };
    let call = ModelTurn::call("Bash", json!({ "command": "true", "description": "a step" }));
    if file.contains("agents/") {
        let input = json!({ "description": "a part", "prompt": AGENT_PROMPT,
            "subagent_type": name, "run_in_background": false });
        let script = ModelScript::new([ModelTurn::call("Agent", input)]);
        sandbox.script(script.subagent(AGENT_PROMPT, [call, ModelTurn::text("done")]));
    } else {
        sandbox.script(ModelScript::new([call])).prompt(format!("/{name}"));
    }
    sandbox.run(client).unwrap()
}

/// Returns the events whose hooks ran, sorted and each once.
fn events_that_ran(record: &RunRecord) -> Vec<EventName> {
    let log = std::fs::read_to_string(record.project().join(LOG_FILE)).unwrap_or_default();
    let mut events: Vec<EventName> = log.lines().map(|line| line.trim().parse().unwrap()).collect();
    events.sort();
    events.dedup();
    events
}

/// Asserts that exactly the hooks ran that the reader expects.
fn assert_reader_agrees(client: &ClientBinary, file: &str, text: &str) -> Vec<EventName> {
    let record = run_file(client, file, text);
    let ran = events_that_ran(&record);
    let path = record.project().join(file);
    let contract = Contract::for_client(client.version());
    let layer = HookFile::classify(&path, None).unwrap().load(contract).unwrap();
    let mut expected: Vec<EventName> = if layer.state == LayerState::Read {
        layer.entries.iter().map(|entry| entry.event).collect()
    } else {
        Vec::new()
    };
    expected.sort();
    expected.dedup();
    assert_eq!(ran, expected, "{} {file}\n{text}\n{:?}", client.version(), layer.faults);
    ran
}

/// Returns frontmatter with the number of hooks that run on the newer and on the older client.
fn measured_frontmatter() -> Vec<(String, [usize; 2])> {
    let both = ["Stop", "PostToolUse"].map(yaml_hook).concat();
    let post = yaml_hook("PostToolUse");
    let no_type = |event: &str| format!("  {event}:\n    - hooks:\n        - command: x\n");
    vec![
        (format!("hooks:\n{both}"), [2, 2]),
        // The client puts the value into quotes.
        (format!("hooks:\n{both}x: [1\n"), [2, 2]),
        (format!("hooks:\n{}", both.replace("    ", "\t\t")), [2, 2]),
        (format!("hooks:\n{both}  Stopp: []\n"), [2, 0]),
        (format!("hooks:\n{post}{}", no_type("Stop")), [1, 0]),
        (format!("hooks:\n{post}{}", no_type("PreToolUse")), [0, 0]),
        (format!("hooks:\n{post}  Stop: {{}}\n"), [1, 0]),
        ("hooks: []\n".to_owned(), [0, 0]),
        (format!("hooks:\n  hooks:\n{}", yaml_hook("Stop").replace("  ", "   ")), [0, 0]),
        (yaml_hook("Stop").replacen("  Stop", "Stop", 1), [0, 0]),
        (format!("hooks:\n{post}{}", yaml_hook("PostToolUse")), [1, 1]),
        (format!("hooks:\n{post}x:\n  - *\n"), [0, 0]),
        (format!("metadata: &m\n{post}hooks:\n  <<: *m\n"), [1, 1]),
        (format!("hooks:\n{}", post.replace("- type", "- async: no\n          type")), [0, 0]),
    ]
}

fn check_file(file: &str, client: &ClientBinary, column: usize) {
    for (text, counts) in measured_frontmatter() {
        let ran = assert_reader_agrees(client, file, &markdown(&text));
        assert_eq!(ran.len(), counts[column], "{file}\n{text}");
    }
}

#[test]
fn skill_hooks_run_like_read() {
    let Some(client) = client() else { return };
    check_file(".claude/skills/probe/SKILL.md", &client, 0);
}

#[test]
fn command_hooks_run_like_read() {
    let Some(client) = client() else { return };
    check_file(".claude/commands/probe.md", &client, 0);
}

#[test]
fn agent_hooks_run_like_read() {
    let Some(client) = client() else { return };
    check_file(".claude/agents/deep/probe.md", &client, 0);
}

#[test]
fn older_client_ignores_all_hooks_of_file() {
    let Some(client) = old_client() else { return };
    check_file(".claude/skills/probe/SKILL.md", &client, 1);
    check_file(".claude/agents/probe.md", &client, 1);
}

#[test]
fn plugin_runs_hooks_of_skills_only() {
    let text = markdown(&format!("hooks:\n{}", yaml_hook("PostToolUse")));
    for client in [client(), old_client()] {
        let Some(client) = client else { return };
        for (file, count) in [
            ("plug/skills/probe/SKILL.md", 1),
            ("plug/commands/probe.md", 0),
            ("plug/agents/probe.md", 0),
        ] {
            assert_eq!(assert_reader_agrees(&client, file, &text).len(), count, "{file}");
        }
    }
}

#[test]
fn byte_order_mark_hides_frontmatter_from_older_client() {
    let text = markdown(&format!("hooks:\n{}", yaml_hook("PostToolUse")));
    let (Some(new), Some(old)) = (client(), old_client()) else { return };
    let file = ".claude/skills/probe/SKILL.md";
    let marked = format!("\u{feff}{text}");
    assert_eq!(assert_reader_agrees(&new, file, &marked).len(), 1);
    assert_eq!(assert_reader_agrees(&old, file, &marked).len(), 0);
    let lines = text.replace('\n', "\r\n");
    assert_eq!(assert_reader_agrees(&new, file, &lines).len(), 1);
    assert_eq!(assert_reader_agrees(&old, file, &lines).len(), 1);
}

/// Paths and texts of files.
type PluginFiles = Vec<(&'static str, String)>;

/// Files of a plugin with the number of events that run on the newer and on the older client.
fn measured_plugins() -> Vec<(PluginFiles, [usize; 2])> {
    let command = |event: &str| format!("echo {event} >> \\\"$CLAUDE_PROJECT_DIR/{LOG_FILE}\\\"");
    let hook = |event: &str| {
        let command = command(event);
        format!("\"{event}\":[{{\"hooks\":[{{\"type\":\"command\",\"command\":\"{command}\"}}]}}]")
    };
    let (stop, end) = (hook("Stop"), hook("PostToolUse"));
    let wrapped = format!("{{\"hooks\":{{{stop}}}}}");
    let (hooks, manifest) = ("hooks/hooks.json", ".claude-plugin/plugin.json");
    let named = |value: &str| format!("{{\"name\":\"plug\",\"hooks\":{value}}}");
    let bad_guard = "\"PreToolUse\":[{\"hooks\":[{}]}]";
    vec![
        (vec![(hooks, wrapped.clone())], [1, 1]),
        (vec![(hooks, format!("{{{stop}}}"))], [0, 0]),
        (vec![(hooks, format!("{{\"hooks\":{wrapped}}}"))], [0, 0]),
        (vec![(hooks, format!("{{\"hooks\":{{\"Stopp\":[],{stop}}}}}"))], [1, 0]),
        (vec![(hooks, format!("{{\"hooks\":{{{bad_guard},{stop}}}}}"))], [0, 0]),
        (vec![(hooks, format!("\u{feff}{wrapped}"))], [0, 0]),
        (vec![(hooks, String::new()), (manifest, named(&format!("{{{end}}}")))], [1, 1]),
        (vec![(hooks, wrapped.clone()), (manifest, "{".to_owned())], [0, 0]),
        (vec![(hooks, wrapped.clone()), (manifest, named("5"))], [0, 0]),
        (vec![(hooks, wrapped.clone()), (manifest, named("\"./gone.json\""))], [1, 1]),
        (vec![("x.json", wrapped.clone()), (manifest, named("\"x.json\""))], [0, 0]),
        (
            vec![
                ("x.json", wrapped.clone()),
                (manifest, named(&format!("[\"./x.json\",{{{end}}}]"))),
            ],
            [2, 2],
        ),
        (vec![(hooks, wrapped), (manifest, named(&format!("{{{bad_guard},{end}}}")))], [0, 0]),
    ]
}

#[test]
fn plugin_hooks_run_like_read() {
    for (column, client) in [client(), old_client()].into_iter().enumerate() {
        let Some(client) = client else { return };
        for (files, counts) in measured_plugins() {
            let mut sandbox = Sandbox::new().unwrap();
            sandbox.file("plug/.claude-plugin/plugin.json", "{\"name\": \"plug\"}");
            for (path, text) in &files {
                sandbox.file(Path::new("plug").join(path), text.as_str());
            }
            let call = json!({ "command": "true", "description": "a step" });
            sandbox.script(ModelScript::new([ModelTurn::call("Bash", call)]));
            sandbox.args(["--allowedTools", "Bash", "--plugin-dir", "plug"]);
            let record = sandbox.run(&client).unwrap();
            let ran = events_that_ran(&record);
            let contract = Contract::for_client(client.version());
            let plugin = load_plugin_folder(&record.project().join("plug"), contract);
            let read = plugin.layers.iter().filter(|layer| layer.state == LayerState::Read);
            let mut expected: Vec<EventName> =
                read.flat_map(|layer| layer.entries.iter().map(|entry| entry.event)).collect();
            expected.sort();
            assert_eq!(ran, expected, "{} {files:?} {:?}", client.version(), plugin.faults);
            assert_eq!(ran.len(), counts[column], "{} {files:?}", client.version());
        }
    }
}

#[test]
fn project_agents_need_trust() {
    let Some(client) = client() else { return };
    let mut sandbox = Sandbox::new().unwrap();
    let text = markdown(&format!("hooks:\n{}", yaml_hook("PostToolUse")));
    let input = json!({ "description": "a part", "prompt": AGENT_PROMPT,
        "subagent_type": "probe", "run_in_background": false });
    let call = ModelTurn::call("Bash", json!({ "command": "true", "description": "a step" }));
    let script = ModelScript::new([ModelTurn::call("Agent", input)]);
    sandbox.script(script.subagent(AGENT_PROMPT, [call, ModelTurn::text("done")]));
    sandbox.file(".claude/agents/probe.md", text).args(["--allowedTools", "Bash,Agent"]);
    let record = sandbox.run(&client).unwrap();
    assert!(record.reached_model("Run the command.").is_some(), "the agent runs");
    assert_eq!(events_that_ran(&record), []);
    assert!(record.debug_log.contains("Skipping frontmatter hooks for agent"));
}
