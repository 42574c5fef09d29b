//! Broken hook scripts before and after their correction, run as the client runs them.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rutter_check::script::{ScriptLanguage, fix_script};
use rutter_check::tester::{
    HookStart, JudgedTrial, TestedHook, TrialEnvironment, TrialRunner, base_payload, judge_trial,
};
use rutter_contract::EventName;
use rutter_contract::verdict::MistakeSeverity;
use rutter_contract::version::Contract;

/// A script that the client does not understand as it is meant.
struct BrokenScript {
    /// The name with its extension, which decides the language.
    name: &'static str,
    event: EventName,
    text: &'static str,
    /// The effect before and after the correction.
    effects: [&'static str; 2],
    /// A text that the model reads after it.
    says: &'static str,
}

const fn broken(
    name: &'static str,
    event: EventName,
    effects: [&'static str; 2],
    says: &'static str,
    text: &'static str,
) -> BrokenScript {
    BrokenScript { name, event, text, effects, says }
}

use EventName::{PostToolUse, PreToolUse, SessionStart, Stop, SubagentStop, UserPromptSubmit};

const LOST_CONTEXT: [&str; 2] = ["voided", "context"];
const LOST_BLOCK: [&str; 2] = ["voided", "blocked"];

#[rustfmt::skip]
const BROKEN: &[BrokenScript] = &[
    broken("top-level-context.sh", SessionStart, LOST_CONTEXT, "branch main",
        "#!/bin/bash\necho '{\"additionalContext\": \"branch main\"}'\n"),
    broken("context-key.sh", UserPromptSubmit, LOST_CONTEXT, "use tabs",
        "#!/bin/bash\necho '{\"context\":\"use tabs\"}'\n"),
    broken("double-quotes.sh", UserPromptSubmit, LOST_CONTEXT, "run in /",
        "#!/bin/bash\nfolder=/\necho \"{\\\"context\\\": \\\"run in $folder\\\"}\"\n"),
    broken("mixed-quotes.sh", UserPromptSubmit, LOST_CONTEXT, "it is Monday now",
        "#!/bin/bash\nday=Monday\necho '{\"context\": \"it is '\"$day\"' now\"}'\n"),
    broken("name-missing.sh", SessionStart, LOST_CONTEXT, "branch main",
        "#!/bin/bash\necho '{\"hookSpecificOutput\":{\"additionalContext\":\"branch main\"}}'\n"),
    broken("name-legacy.sh", PreToolUse, LOST_CONTEXT, "check in",
        "#!/bin/bash\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolCall\",\"additionalContext\":\"check in\"}}'\n"),
    broken("name-case.sh", PreToolUse, LOST_BLOCK, "not here",
        "#!/bin/bash\necho '{\"hookSpecificOutput\": {\"hookEventName\": \"pretooluse\", \"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"not here\"}}'\n"),
    broken("top-level-permission.sh", PreToolUse, LOST_BLOCK, "not here",
        "#!/bin/bash\necho '{\"permissionDecision\": \"deny\", \"permissionDecisionReason\": \"not here\"}'\n"),
    broken("decision-deny.sh", PreToolUse, LOST_BLOCK, "not here",
        "#!/bin/bash\necho '{\"decision\": \"deny\", \"reason\": \"not here\"}'\nexit 0\n"),
    broken("decision-allow.sh", PreToolUse, ["voided", "allowed"], "",
        "#!/bin/bash\necho '{\"decision\": \"allow\"}'\n"),
    broken("decision-approve.sh", PreToolUse, ["allowed", "allowed"], "",
        "#!/bin/bash\nif true; then\n  echo '{\"decision\": \"approve\", \"reason\": \"fine\"}'\nfi\n"),
    broken("permission-block.sh", PreToolUse, LOST_BLOCK, "no x",
        "#!/bin/bash\nwhat=x\ncat <<EOF\n{\n  \"hookSpecificOutput\": {\n    \"hookEventName\": \"PreToolUse\",\n    \"permissionDecision\": \"block\",\n    \"permissionDecisionReason\": \"no $what\"\n  }\n}\nEOF\n"),
    broken("type-content.sh", PostToolUse, LOST_CONTEXT, "Track it?",
        "#!/bin/bash\nn=3\ncat <<EOF\n{\n  \"type\": \"suggestion\",\n  \"content\": \"## $n tests failed\",\n  \"prompt\": \"Track it?\"\n}\nEOF\n"),
    broken("quoted-heredoc.sh", SessionStart, LOST_CONTEXT, "rules: $HOME stays",
        "#!/bin/bash\ncat <<'EOF'\n{\n    \"type\": \"context\",\n    \"content\": \"rules: $HOME stays\"\n}\nEOF\n"),
    broken("indented-heredoc.sh", Stop, LOST_BLOCK, "tests fail",
        "#!/bin/bash\nif ! grep -q '\"stop_hook_active\":true'; then\n\tcat <<-EOF\n\t{\"hookSpecificOutput\": {\"hookEventName\": \"Stop\", \"decision\": \"block\", \"reason\": \"tests fail\"}}\n\tEOF\nfi\n"),
    broken("subagent-deny.sh", SubagentStop, ["voided", "blocked"], "missing files",
        "#!/bin/bash\ngrep -q '\"stop_hook_active\":true' && exit 0\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"SubagentStop\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"missing files\"}}'\n"),
    broken("action.sh", PreToolUse, LOST_BLOCK, "too risky",
        "#!/bin/sh\nprintf '{\"action\": \"block\", \"message\": \"too risky\"}\\n'\n"),
    broken("printf-text.sh", PreToolUse, LOST_BLOCK, "no rm",
        "#!/bin/bash\ntool=rm\nprintf '%s\\n' \"{\\\"decision\\\":\\\"deny\\\",\\\"reason\\\":\\\"no $tool\\\"}\"\n"),
    broken("printf-format.sh", PreToolUse, LOST_BLOCK, "100 % no rm",
        "#!/bin/bash\ntool=rm\nprintf '{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"100 %% no %s\"}\\n' \"$tool\"\n"),
    broken("ok-false.sh", Stop, LOST_BLOCK, "not done",
        "#!/bin/bash\ngrep -q '\"stop_hook_active\":true' && exit 0\necho '{\"ok\": false, \"reason\": \"not done\"}'\n"),
    broken("jq.sh", PreToolUse, LOST_BLOCK, "no rm",
        "#!/bin/bash\njq -n --arg r \"no rm\" '{decision: \"deny\", reason: $r}'\n"),
    broken("jq-lines.sh", PostToolUse, LOST_CONTEXT, "second",
        "#!/bin/bash\njq -nc --arg text first --arg next second '{\n  type: \"note\",\n  content: $text,\n  prompt: $next\n}'\n"),
    broken("jq-name.sh", UserPromptSubmit, LOST_CONTEXT, "ctx-1",
        "#!/bin/bash\njq -n --arg ctx ctx-1 '{hookSpecificOutput: {additionalContext: $ctx}}'\n"),
    broken("noise.sh", PreToolUse, LOST_BLOCK, "not here",
        "#!/bin/bash\necho \"Checking the command\"\necho '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not here\"}}'\n"),
    broken("exit-1.sh", PreToolUse, ["failed", "blocked"], "Blocked: no pushes",
        "#!/bin/bash\nif grep -q tool_name; then\n  echo \"Blocked: no pushes\" >&2\n  exit 1\nfi\nexit 0\n"),
    broken("dict.py", PreToolUse, LOST_BLOCK, "not here",
        "import json\n\nprint(json.dumps({\"decision\": \"deny\", \"reason\": \"not here\"}))\n"),
    broken("dict-lines.py", PreToolUse, LOST_BLOCK, "no Bash",
        "import json\nimport sys\n\ndef deny(tool):\n    print(json.dumps({\n        'permissionDecision': 'deny',\n        'permissionDecisionReason': f'no {tool}',\n    }))\n    sys.exit(0)\n\ndeny(json.load(sys.stdin).get('tool_name', ''))\n"),
    broken("dict-name.py", UserPromptSubmit, LOST_CONTEXT, "rules",
        "import json\nctx = \"rules\"\nprint(json.dumps({\"hookSpecificOutput\": {\"additionalContext\": ctx}}))\n"),
    broken("dict-variable.py", Stop, LOST_BLOCK, "tests fail",
        "import json\nimport sys\npayload = json.load(sys.stdin)\nif payload.get(\"stop_hook_active\"):\n    sys.exit(0)\nanswer = {\n    \"hookSpecificOutput\": {\n        \"hookEventName\": \"Stop\",\n        \"decision\": \"block\",\n        \"reason\": \"tests fail\",\n    }\n}\nprint(json.dumps(answer))\n"),
    broken("dump.py", SessionStart, LOST_CONTEXT, "one\n\ntwo",
        "import json\nimport sys\nlast = \"two\"\njson.dump({\"type\": \"start\", \"content\": \"one\", \"prompt\": last or \"none\"}, sys.stdout)\n"),
    broken("text.py", PreToolUse, LOST_BLOCK, "not here",
        "print('{\"decision\": \"deny\", \"reason\": \"not here\"}')\n"),
    broken("format.py", UserPromptSubmit, LOST_CONTEXT, "in main",
        "branch = \"main\"\nprint(f'{{\"context\": \"in {branch}\"}}')\n"),
    broken("computed.py", PreToolUse, LOST_BLOCK, "why",
        "import json\nd = \"deny\"\nprint(json.dumps({\"permissionDecision\": d, \"permissionDecisionReason\": \"why\"}))\n"),
    broken("noise.py", SessionStart, ["context", "context"], "branch main",
        "import json, sys\nprint(\"Loading\")\nprint(json.dumps({\"hookSpecificOutput\": {\"hookEventName\": \"SessionStart\", \"additionalContext\": \"branch main\"}}))\n"),
    broken("exit-1.py", PreToolUse, ["failed", "blocked"], "Blocked",
        "import json\nimport sys\npayload = json.load(sys.stdin)\nif payload.get(\"tool_name\"):\n    print(\"Blocked: not allowed\", file=sys.stderr)\n    sys.exit(1)\nsys.exit(0)\n"),
    broken("object.js", PreToolUse, LOST_BLOCK, "not here",
        "console.log(JSON.stringify({ decision: 'deny', reason: 'not here' }));\n"),
    broken("object-lines.js", UserPromptSubmit, LOST_CONTEXT, "in main",
        "const branch = 'main';\nconsole.log(\n  JSON.stringify({\n    additionalContext: `in ${branch}`,\n  }),\n);\n"),
    broken("shorthand.mjs", PreToolUse, LOST_BLOCK, "why",
        "const reason = 'why';\nprocess.stdout.write(JSON.stringify({ action: \"block\", reason }) + '\\n');\n"),
    broken("variable.js", SessionStart, LOST_CONTEXT, "start",
        "const out = {\"hookSpecificOutput\": {\"hookEventName\": \"sessionStart\", \"additionalContext\": \"start\"}};\nconsole.log(JSON.stringify(out));\n"),
    broken("rewrite.js", PreToolUse, ["voided", "rewritten"], "",
        "const input = { command: 'ls' };\nconsole.log(JSON.stringify({ hookSpecificOutput: { permissionDecision: 'allow', updatedInput: input } }));\n"),
    broken("text.js", UserPromptSubmit, LOST_CONTEXT, "use \"tabs\"",
        "console.log('{\"context\": \"use \\\\\"tabs\\\\\"\"}');\n"),
    broken("exit-1.js", PreToolUse, ["failed", "blocked"], "Blocked",
        "const tool = JSON.parse(require('fs').readFileSync(0, 'utf8')).tool_name;\nif (tool) {\n  console.error('Blocked: not allowed');\n  process.exit(1);\n}\n"),
];

fn language(name: &str) -> ScriptLanguage {
    ScriptLanguage::detect(Path::new(name), "").unwrap()
}

fn correct(name: &str, text: &str, event: EventName) -> Option<String> {
    fix_script(text, language(name), &[event], Contract::newest()).text
}

fn run(folder: &Path, name: &str, text: &str, event: EventName) -> JudgedTrial {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let program = match language(name) {
        ScriptLanguage::Python => "python3",
        ScriptLanguage::JavaScript => "node",
        _ if text.starts_with("#!/bin/sh") => "sh",
        _ => "bash",
    };
    let environment = TrialEnvironment {
        project: folder.to_owned(),
        home: folder.to_owned(),
        temporary: folder.to_owned(),
        is_copy: true,
        variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
    };
    let runner = TrialRunner::new(environment.clone()).unwrap();
    let args = vec![path.display().to_string()];
    let start = HookStart::Exec { program: program.to_owned(), args };
    let hook = TestedHook { event, start, plugin: None, timeout: None, blocks_on_failure: false };
    let payload = base_payload(event, None, &environment).unwrap();
    judge_trial(&hook, runner.run(&hook, &payload), Contract::newest())
}

fn has_programs() -> bool {
    let found = |name: &str| Path::new("/usr/bin").join(name).exists();
    let all = ["bash", "jq", "python3", "node"].into_iter().all(found);
    if !all {
        rutter_testkit::skip_test("the corrected scripts", "bash, jq, python3 or node is missing");
    }
    all
}

#[test]
fn corrected_scripts_have_intended_effect() {
    if !has_programs() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for case in BROKEN {
        let BrokenScript { name, event, text, effects, says } = case;
        let before = run(folder.path(), name, text, *event);
        let Some(after) = correct(name, text, *event) else {
            let fix = fix_script(text, language(name), &[*event], Contract::newest());
            failures.push(format!("{name} is not corrected: {:?}", fix.remarks));
            continue;
        };
        let judged = run(folder.path(), name, &after, *event);
        let verdict = judged.verdict.as_ref().unwrap();
        let is_clean =
            verdict.diagnostics.iter().all(|found| found.severity == MistakeSeverity::Info)
                && verdict.dropped.is_empty();
        let found = [before.effect.as_str(), judged.effect.as_str()];
        let is_said = says.is_empty() || judged.texts().iter().any(|text| text.contains(says));
        if found != *effects || !is_clean || !is_said {
            failures.push(format!("{name}: {found:?}\n{after}\n{:?}", verdict.diagnostics));
        }
        if let Some(again) = correct(name, &after, *event) {
            failures.push(format!("{name} is corrected twice:\n{after}\n{again}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(BROKEN.len() >= 30);
}
