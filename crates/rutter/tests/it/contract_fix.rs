use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rutter_check::live::{ModelScript, ModelTurn, RunRecord, Sandbox};
use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::live_support::client_from_env;
use crate::support::TestHome;

const GUARD: &str = "#!/bin/bash\n# A guard on PreToolUse.\nif grep -q 'touch'; then\n  echo '{\"decision\": \"deny\", \"reason\": \"no touch\"}'\nfi\n";

fn fix(home: &TestHome, args: &[&str]) -> CommandOutput {
    home.rutter(&[&["contract", "fix"], args].concat())
}

fn write(home: &TestHome, name: &str, text: &str) -> std::path::PathBuf {
    let path = home.path("ship").join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn corrections_are_a_diff() {
    let home = TestHome::new();
    let path = write(&home, "guard.sh", GUARD);
    let ran = fix(&home, &["guard.sh"]);
    insta::assert_snapshot!(ran, @r#"
    exit 1
    --- stdout
    --- guard.sh
    +++ guard.sh
    @@ -1,5 +1,5 @@
     #!/bin/bash
     # A guard on PreToolUse.
     if grep -q 'touch'; then
    -  echo '{"decision": "deny", "reason": "no touch"}'
    +  echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no touch"}}'
     fi
    --- stderr
    note: for PreToolUse, which the script names; --event chooses another
    guard.sh:4: decision-value: decision is `deny`, not block or approve: the whole answer is void
    1 correction in guard.sh; --write applies it
    "#);
    assert_eq!(fs::read_to_string(path).unwrap(), GUARD, "nothing is written");
}

#[test]
fn write_keeps_mode_link_and_line_ends() {
    let home = TestHome::new();
    let path = write(&home, "guard.sh", &GUARD.replace('\n', "\r\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink(&path, home.path("ship").join("link.sh")).unwrap();
    let ran = fix(&home, &["link.sh", "--write"]);
    assert_eq!(ran.exit, Some(0), "{ran}");
    let after = fs::read_to_string(&path).unwrap();
    assert!(after.contains("\"permissionDecision\": \"deny\""), "{after}");
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o750);
    assert!(home.path("ship").join("link.sh").is_symlink());
    let again = fix(&home, &["link.sh", "--write"]);
    assert!(again.stderr.contains("no literal answer in this script has a mistake"), "{again}");
    assert_eq!((again.exit, fs::read_to_string(&path).unwrap()), (Some(0), after));
}

#[test]
fn computed_decisions_are_named() {
    let home = TestHome::new();
    let text = "import json\nanswer = choose()\nprint(json.dumps({\"decision\": answer, \"reason\": \"x\"}))\n";
    let path = write(&home, "guard.py", text);
    let ran = fix(&home, &["guard.py", "--event", "PreToolUse", "--write"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(
        ran.stderr.contains("guard.py:3: not corrected: the value of `decision` is computed"),
        "{ran}"
    );
    assert_eq!(fs::read_to_string(path).unwrap(), text);
}

#[test]
fn refused_files_say_why() {
    let home = TestHome::new();
    write(&home, "a.rb", "puts 1\n");
    write(&home, "nameless.sh", "echo '{\"context\": \"x\"}'\n");
    write(
        &home,
        "shared.sh",
        "# SessionStart, and agentSpawn of Kiro\necho '{\"context\": \"x\"}'\n",
    );
    for (args, message) in [
        (&["a.rb"][..], "is not a script in shell"),
        (&["missing.sh"], "does not exist"),
        (&["nameless.sh"], "names no event; add --event"),
        (&["shared.sh"], "names another program"),
    ] {
        let ran = fix(&home, args);
        assert_eq!(ran.exit, Some(2), "{ran}");
        assert!(ran.stderr.contains(message) && ran.stdout.is_empty(), "{ran}");
    }
}

#[test]
fn json_has_lines_and_text() {
    let home = TestHome::new();
    write(&home, "guard.sh", GUARD);
    let ran = fix(&home, &["guard.sh", "--json"]);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["corrections"][0]["line"], 4);
    assert_eq!(report["corrections"][0]["code"], "decision-value");
    assert_eq!((&report["events"], &report["is_written"]), (&json!(["PreToolUse"]), &json!(false)));
    assert!(report["text"].as_str().unwrap().contains("permissionDecisionReason"), "{ran}");
}

/// Scripts that the client misunderstands: the name, the event and the text that the model reads after the correction.
const LIVE_SCRIPTS: [(&str, &str, &str, &str); 5] = [
    (
        "start.sh",
        "SessionStart",
        "FIX-START",
        "#!/bin/bash\nfor text in FIX-START; do\n  cat <<EOF\n{\n  \"type\": \"context\",\n  \"content\": \"$text\"\n}\nEOF\ndone\n",
    ),
    (
        "prompt.py",
        "UserPromptSubmit",
        "FIX-PROMPT",
        "import json\ntext = \"FIX-PROMPT\"\nprint(json.dumps({\n    \"hookSpecificOutput\": {\n        \"additionalContext\": text,\n    },\n}))\n",
    ),
    (
        "result.js",
        "PostToolUse",
        "FIX-RESULT",
        "const tool = 'Bash';\nconsole.log(JSON.stringify({ context: `FIX-RESULT of ${tool}` }));\n",
    ),
    (
        "end.sh",
        "Stop",
        "FIX-STOP",
        "#!/bin/bash\ngrep -q '\"stop_hook_active\":true' && exit 0\njq -n --arg why FIX-STOP '{hookSpecificOutput: {hookEventName: \"Stop\", decision: \"block\", reason: $why}}'\n",
    ),
    ("guard.sh", "PreToolUse", "no touch", GUARD),
];

fn run_session(is_fixed: bool) -> Option<RunRecord> {
    let client = client_from_env("RUTTER_TEST_CLIENT")?;
    let home = TestHome::new();
    let mut sandbox = Sandbox::new().unwrap();
    let mut hooks = serde_json::Map::new();
    for (name, event, _, text) in LIVE_SCRIPTS {
        let path = write(&home, name, text);
        if is_fixed {
            drop(fix(&home, &[name, "--event", event, "--write"]).assert_success());
        }
        sandbox.program(name, fs::read_to_string(path).unwrap());
        let program = match name.rsplit_once('.').unwrap().1 {
            "py" => "python3",
            "js" => "node",
            _ => "bash",
        };
        let command = format!("{program} \"$CLAUDE_PROJECT_DIR\"/{name}");
        hooks.insert(
            event.to_owned(),
            json!([{ "hooks": [{ "type": "command", "command": command }] }]),
        );
    }
    sandbox.setting("hooks", Value::Object(hooks)).args(["--allowedTools", "Bash"]);
    let bash = |line: &str| ModelTurn::call("Bash", json!({ "command": line, "description": "x" }));
    sandbox.script(ModelScript::new([bash("true"), bash("touch ran.txt"), ModelTurn::text("ok")]));
    Some(sandbox.run(&client).unwrap())
}

#[test]
fn corrected_scripts_work_in_client() {
    let Some(broken) = run_session(false) else { return };
    let corrected = run_session(true).unwrap();
    for (name, _, mark, _) in LIVE_SCRIPTS {
        assert!(broken.reached_model(mark).is_none(), "{name} works as it is");
        assert!(corrected.reached_model(mark).is_some(), "{name} is not corrected");
    }
    assert!(broken.project().join("ran.txt").exists());
    assert!(!corrected.project().join("ran.txt").exists(), "the guard does not block");
}
