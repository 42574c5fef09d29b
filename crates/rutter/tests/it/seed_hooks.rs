//! Hooks of other systems: the diagnosis of each in `fixtures/seeds`, and the hooks below the adapter in the real client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rutter_check::live::{ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_check::tester::{
    HookStart, HookTrial, JudgedTrial, TestedHook, TrialEnding, judge_trial,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use rutter_testkit::{CommandOutput, repository_root};
use serde_json::{Value, json};
use tempfile::TempDir;
use toml::de::{DeTable, DeValue};

use crate::live_support::client_from_env;
use crate::support::rutter_command;

const RUTTER: &str = env!("CARGO_BIN_EXE_rutter");
const SYSTEMS: [&str; 5] = ["clams-before", "clams-after", "jerry", "moai", "collective"];

/// A system as a project, and its table.
struct SeedSystem {
    name: &'static str,
    folder: TempDir,
    expected: Value,
}

impl SeedSystem {
    fn open(name: &'static str) -> Self {
        let source = source_folder(name);
        let folder = tempfile::tempdir().unwrap();
        let claude = folder.path().join("project/.claude");
        for (path, text) in seed_files(&source) {
            let target = claude.join(path.strip_prefix(&source).unwrap());
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            fs::write(&target, text).unwrap();
            fs::set_permissions(&target, path.metadata().unwrap().permissions()).unwrap();
        }
        let expected = fs::read_to_string(source.join("expected.toml")).unwrap();
        let expected = DeTable::parse(&expected).unwrap().into_inner();
        let expected = toml_value(DeValue::Table(expected));
        Self { name, folder, expected }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn hooks(&self) -> &[Value] {
        self.expected["hook"].as_array().unwrap()
    }

    fn rutter(&self, args: &[&str]) -> Command {
        let mut command = rutter_command(args);
        command
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.folder.path().join("home"))
            .current_dir(self.project());
        command
    }

    fn prepare(&self, hook: &Value) {
        for file in hook["files"].as_array().into_iter().flatten() {
            let path = self.project().join(file.as_str().unwrap());
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }
}

fn source_folder(name: &str) -> PathBuf {
    repository_root().join("fixtures/seeds").join(name)
}

/// Returns the settings and scripts of a system.
fn seed_files(source: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let scripts = fs::read_dir(source.join("hooks")).unwrap().map(|entry| entry.unwrap().path());
    let files = scripts.filter(|path| path.is_file()).chain([source.join("settings.json")]);
    files.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

fn toml_value(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.into(),
        DeValue::Integer(number) => number.as_str().parse::<i32>().unwrap().into(),
        DeValue::Array(items) => {
            items.into_iter().map(|item| toml_value(item.into_inner())).collect()
        }
        DeValue::Table(table) => {
            let members = table.into_iter();
            members.map(|(key, value)| (key.into_inner(), toml_value(value.into_inner()))).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap()).collect()
}

fn event_of(hook: &Value) -> EventName {
    hook["event"].as_str().unwrap().parse().unwrap()
}

/// Returns the event that the hook was written for.
fn written_for(hook: &Value) -> &str {
    hook["written_for"].as_str().unwrap_or(hook["event"].as_str().unwrap())
}

/// Runs a command with a payload.
fn run_with_payload(command: &mut Command, payload: &str) -> CommandOutput {
    use std::io::Write as _;
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child.wait_with_output().unwrap().into()
}

fn judge(event: EventName, ran: &CommandOutput) -> JudgedTrial {
    let start = HookStart::Shell(String::new());
    let hook = TestedHook { event, start, plugin: None, timeout: None, blocks_on_failure: false };
    let trial = HookTrial {
        ending: TrialEnding::Exited(ran.exit.unwrap()),
        stdout: ran.stdout.clone().into_bytes(),
        stderr: ran.stderr.clone().into_bytes(),
        took: Duration::ZERO,
    };
    judge_trial(&hook, trial, Contract::newest())
}

#[test]
fn lint_names_the_mistakes() {
    for name in SYSTEMS {
        let system = SeedSystem::open(name);
        let ran = CommandOutput::run(&mut system.rutter(&["contract", "lint", "--json", "."]));
        let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
        let mut found: Vec<String> = (report["findings"].as_array().unwrap().iter())
            .map(|finding| {
                let file = finding["file"].as_str().unwrap();
                let file = file.rsplit_once("/.claude/").unwrap_or(("", file)).1;
                format!("{file}:{} {}", finding["line"], finding["rule"].as_str().unwrap())
            })
            .collect();
        let mut expected: Vec<String> =
            texts(&system.expected["lint"]).into_iter().map(str::to_owned).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn tester_concludes_as_expected() {
    std::thread::scope(|scope| {
        for name in SYSTEMS {
            scope.spawn(move || compare_conclusions(name));
        }
    });
}

fn compare_conclusions(name: &'static str) {
    let system = SeedSystem::open(name);
    for hook in system.hooks() {
        system.prepare(hook);
        let mut args = vec!["contract", "test", "--yes", "--json", "--event"];
        args.push(hook["event"].as_str().unwrap());
        for tool in texts(&hook["tools"]) {
            args.extend(["--tool", tool]);
        }
        args.extend(["--", hook["command"].as_str().unwrap()]);
        let mut command = system.rutter(&args);
        command.env("TMPDIR", system.folder.path());
        let ran = CommandOutput::run(&mut command);
        let report: Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{args:?}: {ran}"));
        let report = &report["hooks"][0];
        let mut codes: Vec<&str> = (report["defects"].as_array().unwrap().iter())
            .map(|defect| defect["code"].as_str().unwrap())
            .collect();
        codes.sort_unstable();
        let found = (report["conclusion"].as_str().unwrap(), codes);
        let expected = (hook["test"].as_str().unwrap(), texts(&hook["defects"]));
        assert_eq!(found, expected, "{name}: {}", hook["command"]);
    }
}

#[test]
fn documented_answers_are_explained() {
    for name in SYSTEMS {
        let system = SeedSystem::open(name);
        for hook in system.hooks() {
            system.prepare(hook);
            for answer in hook["answer"].as_array().unwrap() {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", hook["command"].as_str().unwrap()]);
                shell.current_dir(system.project());
                let ran = run_with_payload(&mut shell, answer["payload"].as_str().unwrap());
                let place = format!("{name}: {} {}: {ran}", hook["command"], answer["payload"]);
                assert_eq!(
                    ran.exit,
                    answer["exit"].as_i64().or(Some(0)).and_then(|exit| i32::try_from(exit).ok())
                );

                let event = event_of(hook);
                assert_eq!(judge(event, &ran).effect.as_str(), answer["effect"], "{place}");
                let exit = ran.exit.unwrap().to_string();
                let args = ["contract", "explain", event.as_str(), "--json", "--exit", &exit];
                let explained = run_with_payload(&mut rutter_command(&args), &ran.stdout);
                let verdict: Value = serde_json::from_str(&explained.stdout).unwrap();
                let mut codes: Vec<&str> = (verdict["diagnostics"].as_array().unwrap().iter())
                    .map(|found| found["code"].as_str().unwrap())
                    .collect();
                codes.sort_unstable();
                codes.dedup();
                assert_eq!(codes, texts(&answer["explain"]), "{place}");
            }
        }
    }
}

#[test]
fn adapted_answers_work() {
    for name in SYSTEMS {
        let system = SeedSystem::open(name);
        for hook in system.hooks() {
            system.prepare(hook);
            for answer in hook["answer"].as_array().unwrap() {
                let event =
                    answer["real_event"].as_str().unwrap_or(hook["event"].as_str().unwrap());
                let payload = answer["real_payload"].as_str().unwrap_or_default();
                let payload = if payload.is_empty() { &answer["payload"] } else { &json!(payload) };
                let mut payload: Value = serde_json::from_str(payload.as_str().unwrap()).unwrap();
                payload["hook_event_name"] = event.into();
                let line = hook["command"].as_str().unwrap();
                let args = ["contract", "adapt", written_for(hook), "--", "sh", "-c", line];
                let ran = run_with_payload(&mut system.rutter(&args), &payload.to_string());
                let judged = judge(event.parse().unwrap(), &ran);
                let place = format!("{}: {line} {payload}: {ran}", system.name);
                assert_eq!(judged.effect.as_str(), answer["adapted"]["effect"], "{place}");
                if let Some(text) = answer["adapted"]["text"].as_str() {
                    let verdict = judged.verdict.unwrap();
                    let reads = verdict.to_model.iter().any(|said| said.text.contains(text));
                    assert!(reads, "{place}");
                }
            }
        }
    }
}

#[test]
fn corrected_scripts_answer_as_meant() {
    for (name, script, effects) in [
        ("clams-before", "ghap_checkin.sh", &["context"][..]),
        ("clams-before", "outcome_capture.sh", &["context", "context"]),
        ("clams-after", "ghap_checkin.sh", &["context"]),
        ("clams-after", "outcome_capture.sh", &["context", "context"]),
        ("jerry", "user_prompt_submit.py", &["context"]),
        ("jerry", "pre_tool_use.py", &["blocked", "allowed"]),
        ("collective", "subagent-validation.sh", &["blocked", "voided"]),
    ] {
        let system = SeedSystem::open(name);
        let hooks = system.hooks().iter();
        let mut of_script = hooks.filter(|hook| hook["command"].as_str().unwrap().contains(script));
        let hook = of_script.next().unwrap();
        let (file, event) = (format!(".claude/hooks/{script}"), event_of(hook));
        let args = ["contract", "fix", &file, "--event", event.as_str(), "--write"];
        let ran = CommandOutput::run(&mut system.rutter(&args));
        assert!(ran.stderr.contains("corrected .claude"), "{ran}");
        let answers = hook["answer"].as_array().unwrap();
        assert_eq!(answers.len(), effects.len());
        for (answer, effect) in answers.iter().zip(effects) {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", hook["command"].as_str().unwrap()]).current_dir(system.project());
            let ran = run_with_payload(&mut shell, answer["payload"].as_str().unwrap());
            assert_eq!(judge(event, &ran).effect.as_str(), *effect, "{name} {script}: {ran}");
        }
    }
}

/// What a session of the real client shows of a system.
struct LiveSystem {
    name: &'static str,
    /// Texts that reach the model only below the adapter.
    repaired: &'static [&'static str],
    /// Texts that reach it in any case.
    right: &'static [&'static str],
    turns: fn(&Path) -> ModelScript,
}

const LIVE_SYSTEMS: [LiveSystem; 5] = [
    LiveSystem {
        name: "clams-before",
        repaired: &["CLAMS-CHECKIN", "CLAMS-OUTCOME"],
        right: &["CLAMS-START", "CLAMS-PROMPT"],
        turns: |_| ModelScript::new([bash("pytest tests/ || exit 3"), ModelTurn::text("ok")]),
    },
    LiveSystem {
        name: "clams-after",
        repaired: &["CLAMS-CHECKIN", "CLAMS-OUTCOME"],
        right: &["CLAMS-START", "CLAMS-PROMPT"],
        turns: |_| ModelScript::new([bash("pytest tests/ || exit 3"), ModelTurn::text("ok")]),
    },
    LiveSystem {
        name: "jerry",
        repaired: &["JERRY-QUALITY", "JERRY-HANDOFF: "],
        right: &["JERRY-GUARD"],
        turns: |_| {
            let turns = [bash("rm -rf nothing; touch ran.txt"), subagent(), ModelTurn::text("ok")];
            let said = ModelTurn::text("done ##HANDOFF:qa##");
            ModelScript::new(turns).subagent("SEED-TASK", [said])
        },
    },
    LiveSystem {
        name: "moai",
        repaired: &["MOAI-PROMPT", "MOAI-PERMISSION"],
        right: &["MOAI-BOTH", "MOAI-DECISION"],
        turns: |_| ModelScript::new([bash("touch moai.txt"), ModelTurn::text("ok")]),
    },
    LiveSystem {
        name: "collective",
        repaired: &["write the test of a\"b.ts first", "DEPLOY-GATE", "VALIDATION-GATE"],
        right: &["write the test of plain.ts first"],
        turns: |project| {
            let write = |name: &str| {
                let path = project.join("src").join(name);
                ModelTurn::call("Write", json!({ "file_path": path, "content": "1" }))
            };
            let preflight = bash("sh .claude/hooks/preflight.sh");
            let writes = [write("plain.ts"), write("a\"b.ts")];
            let turns = [subagent(), preflight, subagent(), ModelTurn::text("ok")];
            ModelScript::new(writes.into_iter().chain(turns)).subagent("SEED-TASK", [])
        },
    },
];

fn bash(line: &str) -> ModelTurn {
    ModelTurn::call("Bash", json!({ "command": line, "description": "x" }))
}

fn subagent() -> ModelTurn {
    let input = json!({
        "description": "x", "prompt": "SEED-TASK", "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    ModelTurn::call("Agent", input)
}

/// Returns the hooks of a system, each below the adapter on the events for which it was written.
fn adapted_hooks(system: &SeedSystem) -> Value {
    let mut events = serde_json::Map::new();
    for hook in system.hooks() {
        let line = hook["command"].as_str().unwrap();
        let name = written_for(hook);
        let command = format!("\"{RUTTER}\" contract adapt {name} -- sh -c '{line}'");
        for event in rutter_check::adapt::registered_events(name).unwrap() {
            let mut group = json!({ "hooks": [{ "type": "command", "command": command }] });
            let tools = texts(&hook["tools"]);
            if !tools.is_empty() {
                group["matcher"] = tools.join("|").into();
            }
            let groups = events.entry(event.as_str()).or_insert_with(|| json!([]));
            groups.as_array_mut().unwrap().push(group);
        }
    }
    events.into()
}

fn run_session(live: &LiveSystem, is_adapted: bool) -> Option<RunRecord> {
    let client = client_from_env("RUTTER_TEST_CLIENT")?;
    let mut sandbox = Sandbox::new().unwrap();
    let source = source_folder(live.name);
    for (path, text) in seed_files(&source) {
        let target = Path::new(".claude").join(path.strip_prefix(&source).unwrap());
        if target.ends_with("settings.json") {
            let settings: Value = serde_json::from_slice(&text).unwrap();
            let adapted = is_adapted.then(|| adapted_hooks(&SeedSystem::open(live.name)));
            sandbox.setting("hooks", adapted.unwrap_or_else(|| settings["hooks"].clone()));
        } else {
            sandbox.program(target, text);
        }
    }
    sandbox.args(["--allowedTools", "Bash,Write,Agent"]);
    let script = (live.turns)(&sandbox.project());
    sandbox.script(script);
    Some(sandbox.run(&client).unwrap())
}

#[test]
fn adapted_systems_work_in_client() {
    for live in &LIVE_SYSTEMS {
        let Some(plain) = run_session(live, false) else { return };
        let adapted = run_session(live, true).unwrap();
        let name = live.name;
        for mark in live.repaired {
            assert!(plain.reached_model(mark).is_none(), "{name}: {mark} arrives as it is");
            assert!(adapted.reached_model(mark).is_some(), "{name}: {mark} does not arrive");
        }
        for mark in live.right {
            assert!(plain.reached_model(mark).is_some(), "{name}: {mark} is lost");
            assert!(adapted.reached_model(mark).is_some(), "{name}: the adapter loses {mark}");
        }
        let files: &[(&str, bool)] = match name {
            "jerry" => &[("ran.txt", false)],
            "moai" => &[("moai.txt", true)],
            "collective" => &[("src/a\"b.ts", true), ("src/plain.ts", false)],
            _ => &[],
        };
        for (file, is_lost) in files {
            let exists = |record: &RunRecord| record.project().join(file).exists();
            assert_eq!((exists(&plain), exists(&adapted)), (*is_lost, false), "{name}: {file}");
        }
    }
}
