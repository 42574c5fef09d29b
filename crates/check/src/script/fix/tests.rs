use EventName::{PostToolUse, PreToolUse, SessionStart, Stop, SubagentStop, UserPromptSubmit};
use ScriptLanguage as L;

use super::*;

fn fix(language: ScriptLanguage, event: EventName, text: &str) -> ScriptFix {
    fix_script(text, language, &[event], Contract::newest())
}

fn fixed(language: ScriptLanguage, event: EventName, text: &str) -> String {
    let found = fix(language, event, text);
    found.text.unwrap_or_else(|| panic!("{text}: {:?}", found.remarks))
}

#[test]
fn corrections_keep_text_and_layout() {
    for (language, event, before, after) in [
        (
            L::Bash,
            SessionStart,
            "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"a\"}}'",
            "echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"a\"}}'",
        ),
        (
            L::Bash,
            PreToolUse,
            "echo \"{\\\"permissionDecision\\\": \\\"deny\\\", \\\"permissionDecisionReason\\\": \\\"no $x \\$5\\\"}\"",
            "echo \"{\\\"hookSpecificOutput\\\": {\\\"hookEventName\\\": \\\"PreToolUse\\\", \\\"permissionDecision\\\": \\\"deny\\\", \\\"permissionDecisionReason\\\": \\\"no $x \\$5\\\"}}\"",
        ),
        (
            L::Bash,
            PostToolUse,
            "cat <<EOF\n{\n    \"type\": \"note\",\n    \"content\": \"a $(date)\"\n}\nEOF\n",
            "cat <<EOF\n{\n    \"hookSpecificOutput\": {\n        \"hookEventName\": \"PostToolUse\",\n        \"additionalContext\": \"a $(date)\"\n    }\n}\nEOF\n",
        ),
        (
            L::Bash,
            SubagentStop,
            "jq -n --arg r \"$R\" '{hookSpecificOutput: {hookEventName: \"SubagentStop\", permissionDecision: \"deny\", permissionDecisionReason: (\"no: \" + $r)}}'",
            "jq -n --arg r \"$R\" '{decision: \"block\", reason: (\"no: \" + $r)}'",
        ),
        (
            L::Python,
            PreToolUse,
            "print(json.dumps({'decision': 'deny', 'reason': why(x), 'suppressOutput': True}))\n",
            "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny', 'permissionDecisionReason': why(x)}}))\n",
        ),
        (
            L::Python,
            PreToolUse,
            "print(json.dumps({\n    \"hookSpecificOutput\": {\n        # the guard\n        \"permissionDecision\": \"deny\",\n        \"permissionDecisionReason\": f\"no {x}\",\n    }\n}))\n",
            "print(json.dumps({\n    \"hookSpecificOutput\": {\n        # the guard\n        \"hookEventName\": \"PreToolUse\",\n        \"permissionDecision\": \"deny\",\n        \"permissionDecisionReason\": f\"no {x}\",\n    }\n}))\n",
        ),
        (
            L::Bash,
            Stop,
            "echo '{\"decision\": \"block\", \"reason\": \"x\",}'",
            "echo '{\"decision\": \"block\", \"reason\": \"x\"}'",
        ),
        (
            L::JavaScript,
            Stop,
            "console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason } }));",
            "console.log(JSON.stringify({ decision: 'block', reason: reason }));",
        ),
    ] {
        assert_eq!(fixed(language, event, before), after, "{before}");
    }
}

#[test]
fn right_scripts_stay() {
    for (language, event, text) in [
        (L::Bash, SessionStart, "echo 'branch main'"),
        (L::Bash, Stop, "echo '{\"decision\": \"block\", \"reason\": \"x\"}'; exit 0"),
        (L::Bash, PreToolUse, "echo '{}'"),
        (L::Bash, PreToolUse, "echo '{\"continue\": true, \"suppressOutput\": true}'"),
        (L::Bash, PreToolUse, "echo '{\"time\": \"now\"}' >> log"),
        (L::Bash, PreToolUse, "echo '{\"version\": 1, \"items\": []}'"),
        (
            L::Bash,
            PreToolUse,
            "answer() { cat <<EOF\n{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"$1\", \"permissionDecisionReason\": \"$2\"}}\nEOF\n}\nanswer deny no",
        ),
        (
            L::Python,
            PreToolUse,
            "print(json.dumps({\"hookSpecificOutput\": {\"hookEventName\": data[\"hook_event_name\"], \"permissionDecision\": choose(), \"permissionDecisionReason\": why}}))",
        ),
        (
            L::JavaScript,
            UserPromptSubmit,
            "console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: a + b } }));",
        ),
        (L::Python, Stop, "sys.exit(1)"),
    ] {
        assert_eq!(fix(language, event, text), ScriptFix::default(), "{text}");
    }
}

#[test]
fn uncertain_answers_get_a_remark() {
    for (language, event, text, reason) in [
        (
            L::Python,
            PreToolUse,
            "print(json.dumps({\"decision\": choose(), \"reason\": why}))",
            "the value of `decision` is computed",
        ),
        (
            L::Bash,
            SubagentStop,
            "jq -n --arg d \"$D\" '{hookSpecificOutput: {hookEventName: \"SubagentStop\", permissionDecision: $d}}'",
            "the value of `permissionDecision` is computed",
        ),
        (L::Bash, Stop, "echo '{\"decision\": \"approve\"}'", "leave it out"),
        (L::Bash, SessionStart, "cat <<'EOF'\n{\"context\": \"a\nb\"}\nEOF", "JSON"),
        (
            L::Python,
            PreToolUse,
            "print(json.dumps({\"ok\": False, \"error\": str(e)}))",
            "no place for `error`",
        ),
        (
            L::JavaScript,
            PreToolUse,
            "console.log(JSON.stringify({ ok: false, error: 'no database' }));",
            "no place for `error`",
        ),
        (
            L::JavaScript,
            PreToolUse,
            "console.log(JSON.stringify({ decision: 'deny', reason, message: `x ${y}` }));",
            "no place for `message`",
        ),
        // The arguments of `printf` would change their order.
        (
            L::Bash,
            PreToolUse,
            "printf '{\"permissionDecisionReason\": \"%s\", \"additionalContext\": \"%s\", \"permissionDecision\": \"deny\", \"systemMessage\": \"%s\"}' a b c",
            "cannot be written",
        ),
        // The shell `sh` may replace `\\n` before JSON is read.
        (
            L::Sh,
            PostToolUse,
            "echo '{\"type\": \"a\", \"content\": \"b\", \"prompt\": \"c\"}'",
            "cannot be written",
        ),
    ] {
        let found = fix(language, event, text);
        assert_eq!(found.text, None, "{text}");
        let [remark] = &found.remarks[..] else { panic!("{text}: {found:?}") };
        assert!(remark.reason.contains(reason), "{text}: {}", remark.reason);
    }
}

#[test]
fn answers_choose_among_several_events() {
    let text = "if a; then\n  echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolCall\", \"additionalContext\": \"x\"}}'\nelse\n  echo '{\"context\": \"y\"}'\nfi\n";
    let found = fix_script(text, L::Bash, &[PreToolUse, PostToolUse], Contract::newest());
    assert!(found.text.unwrap().contains("\"hookEventName\": \"PreToolUse\""));
    assert!(found.remarks[0].reason.contains("--event"), "{:?}", found.remarks);
}

proptest::proptest! {
    /// Answers of any keys, values and quotes: a correction is right, and stays.
    #[test]
    fn corrections_are_final(
        keys in proptest::collection::vec((0_usize..12, 0_usize..7), 1..5),
        is_nested in proptest::bool::ANY,
        form in 0_usize..6,
        event in 0_usize..EventName::ALL.len(),
    ) {
        const KEYS: [&str; 12] = [
            "permissionDecision", "permissionDecisionReason", "decision", "reason", "additionalContext", "context",
            "type", "content", "hookEventName", "continue", "systemMessage", "action",
        ];
        const VALUES: [&str; 7] = ["\"deny\"", "\"approve\"", "\"x y\"", "true", "\"PreToolCall\"", "\"\"", "false"];
        let mut seen = Vec::new();
        let mut members = Vec::new();
        for (key, value) in keys {
            if !seen.contains(&key) {
                seen.push(key);
                members.push(format!("\"{}\": {}", KEYS[key], VALUES[value]));
            }
        }
        let mut object = format!("{{{}}}", members.join(", "));
        if is_nested {
            object = format!("{{\"hookSpecificOutput\": {object}}}");
        }
        let (language, text) = match form {
            0 => (L::Bash, format!("echo '{object}'\n")),
            1 => (L::Bash, format!("echo \"{}\"\n", object.replace('"', "\\\""))),
            2 => (L::Bash, format!("cat <<EOF\n{object}\nEOF\n")),
            3 => (L::Bash, format!("jq -n '{object}'\n")),
            4 => (L::Python, format!("print(json.dumps({}))\n", object.replace("true", "True").replace("false", "False"))),
            _ => (L::JavaScript, format!("console.log(JSON.stringify({object}));\n")),
        };
        let event = EventName::ALL.into_iter().nth(event).unwrap();
        if let Some(after) = fix(language, event, &text).text {
            let again = fix(language, event, &after);
            proptest::prop_assert_eq!(again.text, None, "{} {}", event, after);
            proptest::prop_assert!(again.remarks.is_empty(), "{} {} {:?}", event, after, again.remarks);
        }
    }
}
