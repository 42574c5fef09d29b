//! Properties of the linter and its fixes for arbitrary broken configurations.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use rutter_contract::version::Contract;

use super::{LintContext, LintFile, LintFinding, LintMachine, fix_file, run_rules, select_edits};
use crate::settings::HookFile;
use crate::text_edit::{TextEdit, apply_edits};

/// Valid files with hooks of all kinds.
const SETTINGS: [&str; 4] = [
    r#"{
  "permissions": {"allow": ["Bash(git *)"]}, "env": {"A": "é 𝄞"},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "echo é", "timeout": 5}]},
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "if": "Bash(git *)"}]}
    ],
    "Stop": [{"hooks": [{"type": "prompt", "prompt": "done?"}]}]
  }
}
"#,
    r#"{"hooks":{"PermissionRequest":[{"matcher":"*","hooks":[{"type":"http","url":"https://a.example/x"}]}],"SessionEnd":[{"hooks":[{"type":"command","command":"bash -c 'exit 1'","async":true,"once":true}]}]},"disableAllHooks":false}"#,
    "{\r\n\t\"hooks\" : {\r\n\t\t\"PostToolUse\" : [ { \"matcher\" : \"mcp__a__.*\" , \"hooks\" : [ { \"type\" : \"command\" , \"command\" : \"cat\" , \"args\" : [ \"a\" , \"ä\" ] } ] } ]\r\n\t}\r\n}",
    r#"{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": [1, 2.5e3, null]}}, {"type": "command", "command": "echo $CLAUDE_PROJECT_DIR/é.sh"}]}], "Notification": [{"matcher": "idle_prompt", "hooks": [{"type": "agent", "prompt": "é"}]}]}}"#,
];

const FRONTMATTER: &str = "---\nname: a\nhooks:\n  PreToolUse:\n    - matcher: 'Bash'\n      hooks:\n        - type: command\n          command: \"echo é\"\n          timeout: 5\n  Stop:\n    - hooks:\n        - {type: command, command: x}\n---\ntext\n";

/// Returns what a mutation inserts: tokens of JSON and YAML, names that are wrong, and parts of hooks.
fn inserted_part() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ",,",
        ":",
        "\"",
        "'",
        "\\",
        " ",
        "\n",
        "\r\n",
        "\t",
        "// é\n",
        "/* é */",
        "# é\n",
        "é",
        "𝄞",
        "\u{feff}",
        "null",
        "true",
        "\"true\"",
        "0",
        "-1",
        "5000",
        "99999",
        "1e999",
        "\"5\"",
        "\"PreToolCall\": [],",
        "\"Stopp\":",
        "\"matcher\": \"(\",",
        "\"matcher\": \"Bash(pytest)\",",
        "\"matcher\": \"bash, Edit\",",
        "\"matcher\": [\"Bash\", \"Edit\"],",
        "\"matcher\": \"MultiEdit|Edit\",",
        "\"timeout_ms\": 5,",
        "\"timeout\": 60000,",
        "\"once\": true,",
        "\"enabled\": true,",
        "\"if\": \"Bash(a), Edit\",",
        "\"if\": [\"Bash(a)\"],",
        "\"hooks\": [",
        "\"hooks\": {",
        "{\"type\": \"command\", \"command\": \"true\"}",
        "{\"command\": \"true\"},",
        "\"command\": \"a\",",
        "\"type\": \"script\",",
        "\"async\": true,",
        "\"onFailure\": \"block\",",
        "\"shell\": \"bash\",",
        "exit 1",
        "$CLAUDE_TOOL_INPUT",
        "${CLAUDE_PLUGIN_ROOT}/x.sh",
        "[[ a ]]",
        "- ",
        "  ",
        "hooks:\n",
    ]);
    prop_oneof![8 => known.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

/// A change of a text: a place, the number of tokens that are removed there, and what is inserted.
type Mutation = (prop::sample::Index, usize, Option<String>);

/// Splits a text into words, strings of quotes and blanks, and single characters.
fn split_tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.chars().all(is_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

fn broken_text(valid: &str, mutations: &[Mutation]) -> String {
    let mut tokens = split_tokens(valid);
    for (place, removed, inserted) in mutations {
        let at = place.index(tokens.len() + 1);
        let end = (at + removed).min(tokens.len());
        tokens.splice(at..end, inserted.clone());
    }
    tokens.concat()
}

/// Mistakes that leave the text valid JSON: a part, and what replaces it.
const MISTAKES: &[(&str, &str)] = &[
    ("\"PreToolUse\"", "\"PreToolCall\""),
    ("\"Stop\"", "\"Stopp\""),
    ("\"Bash|Edit\"", "\"Bash(git *)\""),
    ("\"Bash|Edit\"", "\"bash|MultiEdit|Edit\""),
    ("\"Bash\"", "[\"Bash\", \"Edit\"]"),
    ("\"Bash\"", "\"(?i)bash\""),
    ("\"*\"", "\"**\""),
    ("\"mcp__a__.*\"", "\"mcp__a__*\""),
    ("\"mcp__a__.*\"", "\"Edit.*\""),
    ("\"idle_prompt\"", "\"idle\""),
    ("\"timeout\": 5", "\"timeout\": \"5\""),
    ("\"timeout\": 5", "\"timeout\": 60000"),
    ("\"timeout\": 5", "\"timeout_ms\": 5"),
    ("\"timeout\": 5", "\"once\": true, \"enabled\": false"),
    ("\"type\": \"command\", ", ""),
    ("\"type\": \"command\"", "\"type\": \"Command\""),
    ("\"echo é\"", "\"cat [[ é ]] \\\\x\\\\y.sh $CLAUDE_TOOL_INPUT\""),
    ("\"echo é\"", "\"python3 -c 'exit(1)'\", \"onFailure\": \"block\", \"async\": true"),
    ("\"true\"", "\"echo x; echo '{}'; exit 1\""),
    ("\"Bash(git *)\"}]}", "\"Bash(git *), Edit\"}]}"),
    ("\"if\"", "\"command\": \"true\", \"if\""),
    ("{\"matcher\": \"Bash\", \"hooks\": [{", "{\"matcher\": \"Bash\", "),
    ("\"hooks\": {\n", "\"hooks\": {\"hooks\": {}, \n"),
    ("[{\"hooks\": [{\"type\": \"prompt\", \"prompt\": \"done?\"}]}]", "{\"hooks\": []}"),
    ("\"Stop\"", "\"PreToolUse\""),
    ("\"Stop\": [{", "\"Stop\": [{\"matcher\": \"é\", "),
    (
        "{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"true\", \"if\": \"Bash(git *)\"}]}",
        "{\"matcher\": \"Bash\", \"command\": \"true\"}",
    ),
    (
        "\"Stop\": [{\"hooks\": [{\"type\": \"prompt\", \"prompt\": \"done?\"}]}]",
        "\"Stop\": {\"hooks\": [{\"type\": \"prompt\", \"prompt\": \"done?\"}]}",
    ),
    ("\"SessionEnd\"", "\"SessionStart\""),
    ("\"UserPromptSubmit\"", "\"PreCompact\""),
    ("\"disableAllHooks\":false", "\"disableAllHooks\":true"),
    ("\"env\": {", "\"env\": [], \"a\": {"),
    ("\"url\"", "\"href\""),
    ("type: command", "type: script"),
    ("timeout: 5", "timeout: 60000"),
    ("  Stop:", "  Stopp:"),
];

/// Returns a name of a file and its broken text.
/// Returns a name of a file and its broken text.
fn broken_file() -> impl Strategy<Value = (&'static str, String)> {
    let json = prop::sample::select(vec![
        ("/p/.claude/settings.json", SETTINGS[0]),
        ("/p/.claude/settings.local.json", SETTINGS[1]),
        ("/g/hooks/hooks.json", SETTINGS[2]),
        ("/g/.claude-plugin/plugin.json", SETTINGS[3]),
        ("/p/.claude/settings.json", SETTINGS[3]),
        ("/p/.claude/agents/a.md", FRONTMATTER),
        ("/p/.claude/skills/a/SKILL.md", FRONTMATTER),
    ]);
    let inserted = prop::option::weighted(0.8, inserted_part());
    let mutation = (any::<prop::sample::Index>(), 0usize..3, inserted);
    let mistakes = prop::collection::vec(prop::sample::select(MISTAKES), 0..6);
    let mutations = prop_oneof![
        2 => Just(Vec::new()).boxed(),
        1 => prop::collection::vec(mutation, 1..5).boxed(),
    ];
    (json, mistakes, mutations).prop_map(|((name, valid), mistakes, mutations)| {
        let replace =
            |text: String, (part, mistake): &(&str, &str)| text.replacen(part, mistake, 1);
        let text = mistakes.iter().fold(valid.to_owned(), replace);
        (name, broken_text(&text, &mutations))
    })
}

fn load_file(name: &str, text: &str, contract: Contract) -> Option<LintFile> {
    let file = HookFile::from_name(Path::new(name), None).unwrap();
    let layer = file.parse(text.as_bytes(), contract)?;
    LintFile::from_layer(layer, file.plugin, None, contract)
}

fn lint_file(file: LintFile, contract: Contract) -> LintContext<'static> {
    static MACHINE: LintMachine =
        LintMachine { home: None, search: Vec::new(), has_bash_as_sh: false };
    LintContext::new(vec![file], Vec::new(), contract, &MACHINE)
}

/// Asserts that a range lies in a text, on boundaries of characters.
fn assert_inside(text: &str, range: &std::ops::Range<usize>, rule: &str) {
    assert!(text.get(range.clone()).is_some(), "{rule}: {range:?} in {text:?}");
}

/// Asserts that ranges are usable and that the edits of each fix are sorted and do not overlap.
fn check_findings(file: &LintFile, findings: &[LintFinding]) {
    for finding in findings {
        let rule = finding.rule.id;
        assert_inside(&file.text, &finding.range, rule);
        assert!(!finding.message.is_empty() && !finding.help.is_empty(), "{rule}");
        let Some(fix) = &finding.fix else { continue };
        assert!(!fix.edits.is_empty(), "{rule}: a fix without edits in {:?}", file.text);
        for edit in &fix.edits {
            assert_inside(&file.text, &edit.range, rule);
            let is_change = file.text[edit.range.clone()] != edit.text;
            assert!(is_change, "{rule}: an edit without effect in {:?}", file.text);
        }
        for pair in fix.edits.windows(2) {
            assert!(pair[0].range.end <= pair[1].range.start, "{rule}: {:?}", file.text);
        }
    }
}

/// Asserts that the text outside of the edits is the same before and after them.
fn check_kept_bytes(before: &str, edits: &[TextEdit], after: &str) {
    let mut rest = after;
    let mut at = 0;
    for edit in edits {
        let kept = &before[at..edit.range.start];
        rest = rest.strip_prefix(kept).and_then(|rest| rest.strip_prefix(&*edit.text)).unwrap();
        at = edit.range.end;
    }
    assert_eq!(rest, &before[at..]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn fixes_are_safe_and_idempotent((name, text) in broken_file(), is_old in any::<bool>()) {
        let contract = Contract::for_client(Contract::MEASURED[usize::from(is_old)]);
        if let Some(file) = load_file(name, &text, contract) {
            let context = lint_file(file, contract);
            let (file, findings) = (&context.files[0], run_rules(&context, &|_, _| false));
            check_findings(file, &findings);
            let edits = select_edits(file, findings.iter());
            check_kept_bytes(&file.text, &edits, &apply_edits(&file.text, &edits));
            let fixed = fix_file(&context, 0, &findings, &|_, _| false);
            prop_assert_eq!(fixed.is_some(), !edits.is_empty());
            if let Some(fixed) = fixed {
                let again = lint_file(file.with_text(&fixed, contract), contract);
                let findings = run_rules(&again, &|_, _| false);
                check_findings(&again.files[0], &findings);
                let left = select_edits(&again.files[0], findings.iter());
                prop_assert!(left.is_empty(), "{:?} -> {:?}: {:?}", text, fixed, left);
            }
        }
    }
}

/// Found by the property above.
#[test]
fn backslash_can_be_the_last_character() {
    for text in ["{'a\\", "{\"a\\", "[1, '\\", "'\\", "\"\\", "\\"] {
        let file = load_file("/p/.claude/settings.json", text, Contract::newest()).unwrap();
        let context = lint_file(file, Contract::newest());
        let findings = run_rules(&context, &|_, _| false);
        assert_eq!(findings.len(), 1, "{text}");
        check_findings(&context.files[0], &findings);
    }
}

/// The property above would hold too if no file had a fix.
#[test]
fn broken_files_have_findings_of_many_rules() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let (mut runner, contract) = (TestRunner::deterministic(), Contract::newest());
    let (mut rules, mut fixed_rules) = (BTreeSet::new(), BTreeSet::new());
    let mut fixed_files = 0;
    for _ in 0..1500 {
        let (name, text) = broken_file().new_tree(&mut runner).unwrap().current();
        let Some(file) = load_file(name, &text, contract) else { continue };
        let context = lint_file(file, contract);
        let findings = run_rules(&context, &|_, _| false);
        rules.extend(findings.iter().map(|finding| finding.rule.id));
        let fixed = findings.iter().filter(|finding| finding.fix.is_some());
        fixed_rules.extend(fixed.map(|finding| finding.rule.id));
        fixed_files += usize::from(!select_edits(&context.files[0], findings.iter()).is_empty());
    }
    assert!(fixed_files > 150, "{fixed_files} files");
    assert!(rules.len() >= 20, "{rules:?}");
    assert!(fixed_rules.len() >= 8, "{fixed_rules:?}");
}
