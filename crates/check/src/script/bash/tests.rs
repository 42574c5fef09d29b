use serde_json::json;

use super::super::*;

fn read(text: &str, events: &[EventName]) -> ScriptReport {
    let context = ScriptContext { events, ..ScriptContext::default() };
    let report = read_script(text, ScriptLanguage::Bash, &context);
    assert!(report.is_read, "not read: {text}");
    report
}

fn keys(text: &str) -> Vec<String> {
    keys_of(text, &[EventName::PreToolUse])
}

fn keys_of(text: &str, events: &[EventName]) -> Vec<String> {
    read(text, events).unsent_keys.into_iter().map(|key| key.key).collect()
}

#[test]
fn unsent_keys_of_stdin_are_found() {
    for text in [
        "INPUT=$(cat)\nTOOL=$(echo \"$INPUT\" | jq -r '.tool // empty')",
        "input=\"$(cat || true)\"; t=$(jq -r .tool <<< \"$input\")",
        "jq -r '.tool'",
        "tool_name=$(jq -r .tool); [ \"$tool_name\" = Bash ] && echo \"${tool_name}\" >&2",
        "cat | jq -er '.tool'",
        "TOOL=$(jq -r '.tool')",
        "read -r line\nprintf '%s' \"$line\" | jq '.tool'",
        "INPUT=$(</dev/stdin)\nif true; then echo \"$INPUT\" | jq -r '.tool | ascii_downcase'; fi",
        "f() { local t; t=$(echo \"$INPUT\" | jq -r '.tool'); }\nINPUT=$(cat); f",
        "INPUT=$(cat)\necho \"$INPUT\" | python3 -c \"import json,sys; print(json.load(sys.stdin).get('x'))\"\necho \"$INPUT\" | python3 -c 'import json,sys; d = json.load(sys.stdin); print(d[\"tool\"])'",
    ] {
        assert_eq!(keys(text), ["tool"], "{text}");
    }
}

#[test]
fn found_key_has_place_and_meaning() {
    let text = "INPUT=$(cat)\nC=$(echo \"$INPUT\" | jq -r '.command')\n";
    let [key] = &read(text, &[EventName::PreToolUse]).unsent_keys[..] else { panic!("one key") };
    assert_eq!(&text[key.range.clone()], "'.command'");
    assert_eq!((key.meant, &key.sent_by[..]), (Some("tool_input.command"), &[][..]));
    let text = "jq -r .tool_response.stdout";
    let [key] = &read(text, &[EventName::PreToolUse]).unsent_keys[..] else { panic!("one key") };
    assert_eq!(key.sent_by, [EventName::PostToolUse]);
    assert_eq!(keys_of(text, &[EventName::PostToolUse]), [""; 0]);
    assert_eq!(keys_of(text, &[EventName::PreToolUse, EventName::Stop]), [""; 0]);
}

#[test]
fn exit_code_is_in_no_payload() {
    let text = "INPUT=$(cat); E=$(echo \"$INPUT\" | jq -r '.exit_code // 0')";
    assert_eq!(keys_of(text, &[EventName::PostToolUse]), ["exit_code"]);
    assert_eq!(keys_of(text, &[]), ["exit_code"]);
}

#[test]
fn other_json_is_no_payload() {
    for text in [
        // Tolerant reads.
        "INPUT=$(cat); echo \"$INPUT\" | jq -r '.tool_name // .tool'",
        "INPUT=$(cat); T=$(echo \"$INPUT\" | jq -r .tool_name); [ -z \"$T\" ] && T=$(echo \"$INPUT\" | jq -r .tool)",
        // Files, filters, commands, arguments.
        "jq -r .tool config.json",
        "jq -r .tool < config.json",
        "cat config.json | jq -r .tool",
        "INPUT=$(cat); echo \"$INPUT\" | jq .tool_input | jq -r .tool",
        "gh pr view --json tool | jq -r .tool",
        "jq -n '.tool'",
        "jq -R '.tool'",
        "INPUT=$1; echo \"$INPUT\" | jq -r .tool",
        "INPUT=$(cat); INPUT=$(curl x); echo \"$INPUT\" | jq -r .tool",
        "INPUT=$(cat | jq .x); echo \"$INPUT\" | jq -r .tool",
        "while read -r line; do echo \"$line\" | jq -r .tool; done < log",
        "cat log | while read -r line; do echo \"$line\" | jq -r .tool; done",
        "INPUT=$(cat); X=$(echo \"$INPUT\" | jq -r \".$KEY\")",
        "f() { jq -r .tool; }; cat config.json | f",
        "for f in *; do jq -r .tool; done",
        // A key that an extension may send.
        "jq -r .project",
        // A script for several programs.
        "# for Claude Code and Cursor\njq -r .tool",
    ] {
        assert_eq!(keys(text), [""; 0], "{text}");
    }
}

#[test]
fn wrong_keys_of_tool_input_need_exact_tools() {
    let text = "INPUT=$(cat); F=$(echo \"$INPUT\" | jq -r '.tool_input.path')";
    let read_with = |tools: &[&str]| {
        let context =
            ScriptContext { events: &[EventName::PreToolUse], tools, ..Default::default() };
        read_script(text, ScriptLanguage::Bash, &context).unsent_keys
    };
    let [key] = &read_with(&["Edit", "Write"])[..] else { panic!("one key") };
    assert_eq!((key.key.as_str(), key.meant), ("tool_input.path", Some("tool_input.file_path")));
    assert_eq!(read_with(&[]), []);
    assert_eq!(read_with(&["Edit", "Grep"]), []);
}

fn answers(text: &str) -> Vec<AnswerLiteral> {
    read(text, &[]).answers
}

#[test]
fn printed_objects_are_answers() {
    let block = json!({"decision": "block", "reason": "no"});
    for text in [
        "echo '{\"decision\": \"block\", \"reason\": \"no\"}'",
        "echo \"{\\\"decision\\\": \\\"block\\\", \\\"reason\\\": \\\"no\\\"}\"",
        "printf '%s\\n' '{\"decision\": \"block\", \"reason\": \"no\"}'",
        "printf '{\"decision\": \"block\", \"reason\": \"no\"}\\n'",
        "cat <<'EOF'\n{\n  \"decision\": \"block\",\n  \"reason\": \"no\"\n}\nEOF\nexit 0",
        "jq -n '{decision: \"block\", reason: \"no\"}'",
        "deny() { echo '{\"decision\": \"block\", \"reason\": \"no\"}'; exit 0; }\nif true; then deny; fi",
        "if true; then\n  cat <<-EOF\n\t{\"decision\": \"block\", \"reason\": \"no\"}\n\tEOF\nfi",
    ] {
        let [answer] = &answers(text)[..] else { panic!("one answer: {text}") };
        assert_eq!(answer.value.as_ref(), Some(&block), "{text}");
        assert!(answer.is_denial() && !answer.has_placeholders && answer.stdout.is_some());
        assert_eq!(answer.keys, ["decision", "reason"]);
    }
}

#[test]
fn expressions_in_text_are_placeholders() {
    for text in [
        "echo \"{\\\"decision\\\": \\\"block\\\", \\\"reason\\\": \\\"no $FILE\\\"}\"",
        "cat <<EOF\n{\"decision\": \"block\", \"reason\": \"no ${FILE}\"}\nEOF",
        "printf '{\"decision\":\"block\",\"reason\":\"no %s\"}' \"$FILE\"",
        "cat <<EOF\n{\"decision\": \"block\", \"reason\": \"no $1\"}\nEOF",
    ] {
        let [answer] = &answers(text)[..] else { panic!("one answer: {text}") };
        assert_eq!(answer.value, Some(json!({"decision": "block", "reason": "no …"})), "{text}");
        assert!(answer.has_placeholders);
    }
    let text = "jq -n --arg r \"$R\" '{decision: \"block\", reason: $r}'";
    assert_eq!(answers(text)[0].value, Some(json!({"decision": "block", "reason": "…"})));
    // A decision that is computed.
    let text = "echo \"{\\\"decision\\\": \\\"$D\\\", \\\"reason\\\": \\\"r\\\"}\"";
    let [answer] = &answers(text)[..] else { panic!("one answer") };
    assert_eq!((&answer.value, &answer.stdout), (&None, &None));
    assert_eq!(answer.keys, ["decision", "reason"]);
    let text = "cat <<EOF\n{\"decision\": \"$1\", \"reason\": \"$?\"}\nEOF";
    assert_eq!(answers(text)[0].value, None, "a parameter of a function");
}

#[test]
fn output_that_goes_elsewhere_is_no_answer() {
    for text in [
        "X=$(echo '{\"a\": 1}')",
        "echo '{\"a\": 1}' | curl -d @- http://localhost",
        "echo '{\"a\": 1}' >> log",
        "echo '{\"a\": 1}' >&2",
        "{ echo '{\"a\": 1}'; } > log",
        "( echo '{\"a\": 1}' ) | jq .",
        "if true; then echo '{\"a\": 1}'; fi > log",
        "while true; do echo '{\"a\": 1}'; done | sort",
        "f() { echo '{\"a\": 1}'; }; x=$(f)",
        "f() { echo '{\"a\": 1}'; }; g() { f; }; x=$(g)",
        "f() { echo '{\"a\": 1}'; }",
        "exec > log\necho '{\"a\": 1}'",
        "cat > config.json <<EOF\n{\"a\": 1}\nEOF",
        "echo '{'; echo '\"a\": 1'; echo '}'",
        "echo {a,b}",
        "jq '{a: .x}'",
    ] {
        assert_eq!(answers(text), [], "{text}");
    }
}

#[test]
fn broken_json_is_answer_without_value() {
    let [answer] = &answers("echo '{\"decision\": \"block\",}'")[..] else { panic!("one answer") };
    assert_eq!(answer.value, None);
    assert_eq!(answer.stdout.as_deref(), Some("{\"decision\": \"block\",}"));
}

#[test]
fn text_before_answer_on_same_path_is_noise() {
    let text = "echo \"Checking\"\nif true; then\n  echo '{\"decision\": \"block\"}'\nfi";
    let [noise] = &read(text, &[]).noise[..] else { panic!("noise") };
    assert_eq!(&text[noise.range.clone()], "echo \"Checking\"");
    for text in [
        "echo Checking >&2\necho '{\"decision\": \"block\"}'",
        "if a; then echo Checking; else echo '{\"decision\": \"block\"}'; fi",
        "[ -z x ] && echo Checking\necho '{\"decision\": \"block\"}'",
        "usage() { echo Usage; }\nusage\necho '{\"decision\": \"block\"}'",
        "case $1 in a) echo A;; *) echo '{\"decision\": \"block\"}';; esac",
        "echo\necho '{\"decision\": \"block\"}'",
    ] {
        assert_eq!(read(text, &[]).noise, [], "{text}");
    }
}

#[test]
fn exits_and_their_reasons_are_found() {
    let text = "#!/bin/bash\nset -euo pipefail\nif x; then\n  echo \"BLOCKED: no\" >&2\n  exit 1\nfi\n(exit 3)\nexit 0";
    let exits = read(text, &[]).exits;
    assert!(exits.sets_errexit && !exits.has_trap && !exits.has_computed_exit);
    assert_eq!(exits.exits.iter().map(|exit| exit.code).collect::<Vec<_>>(), [1, 0]);
    let [failed] = &exits.failed_blocks().collect::<Vec<_>>()[..] else { panic!("{exits:?}") };
    assert_eq!(&text[failed.reason.clone().unwrap()], "echo \"BLOCKED: no\" >&2");
    for text in [
        "echo 'jq not found' >&2; exit 1",
        "if a; then echo blocked >&2; exit 2; fi; echo blocked >&2; exit 1",
        "echo blocked; exit 1",
        "echo blocked >&2; exit $CODE",
        "echo '{\"decision\": \"block\"}'; echo blocked >&2; exit 1",
    ] {
        assert_eq!(read(text, &[]).exits.failed_blocks().count(), 0, "{text}");
    }
    assert!(read("set -o errexit\ntrap 'exit 2' ERR", &[]).exits.has_trap);
    assert!(!read("set +e", &[]).exits.sets_errexit);
}

fn variables(text: &str, language: ScriptLanguage) -> Vec<String> {
    let report = read_script(text, language, &ScriptContext::default());
    assert!(report.is_read, "{text}");
    report.unset_variables.into_iter().map(|variable| variable.name).collect()
}

#[test]
fn unset_variables_are_found() {
    for text in [
        "prettier --write $CLAUDE_FILE_PATHS",
        "echo \"${CLAUDE_FILE_PATHS:-}\" | xargs prettier",
        "FILE=$(echo \"$CLAUDE_FILE_PATHS\" | jq -r .x)",
    ] {
        assert_eq!(variables(text, ScriptLanguage::Command), ["CLAUDE_FILE_PATHS"], "{text}");
        assert_eq!(variables(text, ScriptLanguage::Bash), ["CLAUDE_FILE_PATHS"], "{text}");
    }
    for text in [
        "CLAUDE_FILE_PATHS=$(jq -r .x)\necho $CLAUDE_FILE_PATHS",
        "echo ${CLAUDE_FILE_PATHS:-$(jq -r .tool_input.file_path)}",
        "echo $CLAUDE_PROJECT_DIR $CLAUDE_SOMETHING_NEW",
        "echo '$CLAUDE_FILE_PATHS'",
        ". ./env.sh; echo $CLAUDE_FILE_PATHS",
    ] {
        assert_eq!(variables(text, ScriptLanguage::Command), [""; 0], "{text}");
    }
    // The script reads its input too: the variable may be for another program.
    let text = "F=$CLAUDE_FILE_PATHS\n[ -z \"$F\" ] && F=$(jq -r .tool_input.file_path)";
    assert_eq!(variables(text, ScriptLanguage::Bash), [""; 0]);
    let context = ScriptContext { variables: &["CLAUDE_MODEL"], ..ScriptContext::default() };
    let report = read_script("echo $CLAUDE_MODEL", ScriptLanguage::Command, &context);
    assert_eq!(report.unset_variables, []);
}

#[test]
fn bash_syntax_is_found() {
    use BashConstruct as Construct;
    for (text, construct) in [
        ("[[ -f x ]] && echo y", Construct::DoubleBrackets),
        ("jq . <<< \"$x\"", Construct::HereString),
        ("diff <(a) <(b)", Construct::ProcessSubstitution),
        ("a &> log", Construct::RedirectBoth),
        ("a |& b", Construct::PipeBoth),
        ("x=(1 2)", Construct::Array),
        ("source x", Construct::Source),
        ("set -eo pipefail", Construct::Pipefail),
        ("((x++))", Construct::Arithmetic),
        ("function f { a; }", Construct::FunctionKeyword),
        ("echo ${x//a/b}", Construct::Expansion),
    ] {
        let report = read(text, &[]);
        assert_eq!(report.bash_syntax.first().map(|(_, found)| *found), Some(construct), "{text}");
    }
    for text in [
        "[ -f x ] && . ./x; echo \"[[ $((1 + 2)) <<< ${x:-a} ${x%/*} ${x#a} \"",
        "case $x in a|b) c;; esac; f() { a; }; a > log 2>&1 & wait",
        "bash -c 'source x; [[ a ]]'",
        "cat <<'EOF'\n[[ x ]]\nEOF",
    ] {
        assert_eq!(read(text, &[]).bash_syntax, [], "{text}");
    }
}

#[test]
fn broken_lists_of_words_end() {
    for text in ["for x in a & b", "x=(a & b)", "case x in a & b", "[[ a & b", "for x in )", "x=(;"]
    {
        let report = read_script(text, ScriptLanguage::Bash, &ScriptContext::default());
        assert!(!report.is_read, "{text}");
    }
}

/// Returns the number of blocks with 1 in a guard whose branch has a head such as `case "$command" in rm)`.
fn count_failed_blocks(assignment: &str, head: &str, message: &str, tail: &str) -> usize {
    let text = format!(
        "#!/bin/bash\ninput=$(cat)\n{assignment}\n{head}\n  echo '{message}' >&2\n  exit 1\n{tail}\nexit 0\n"
    );
    let report = read(&text, &[]);
    assert!(report.exits.has_exit(1), "{text}");
    report.exits.failed_blocks().count()
}

const COMMAND: &str = "command=$(printf '%s' \"$input\" | jq -r '.tool_input.command // \"\"')";

#[test]
fn exits_in_a_branch_for_the_input_are_known() {
    for head in [
        "case \"$command\" in *\"terraform destroy\"* | *prod*)",
        "case $command in\n  ok) true ;;\n  rm\\ *)",
    ] {
        assert_eq!(count_failed_blocks(COMMAND, head, "use the pipeline", ";;\nesac"), 1, "{head}");
    }
    for head in [
        "if echo \"$command\" | grep -qE '(^|;)rm -rf'; then",
        "if a; then\n  b\nelif printf '%s' \"$command\" | grep -q 'git push'; then",
        "if grep -q prod <<< \"$command\"; then",
        "if [[ \"$command\" == *prod* ]]; then",
        "if [[ ${command} =~ prod$ ]]; then",
    ] {
        assert_eq!(count_failed_blocks(COMMAND, head, "use the pipeline", "fi"), 1, "{head}");
    }
    for assignment in [
        "command=$(jq -r .tool_input.command <<< \"$input\")",
        "command=$(echo \"$input\" | jq -r '.tool_input.command // empty' 2>/dev/null || echo \"\")",
        "export command=$(echo \"$input\" | jq -r '.tool_input.command')",
    ] {
        let head = "case \"$command\" in *prod*)";
        assert_eq!(count_failed_blocks(assignment, head, "use it", ";;\nesac"), 1, "{assignment}");
    }
}

#[test]
fn exits_in_other_branches_are_unknown() {
    for (head, message) in [
        ("case \"$command\" in ok) true ;; *)", "use the pipeline"),
        ("case \"$command\" in \"\")", "no command"),
        ("case \"$command\" in \"\" | null)", "no command"),
        ("case \"$other\" in *prod*)", "use the pipeline"),
        ("case \"$command$other\" in *prod*)", "use the pipeline"),
        ("case \"$command\" in *prod*)", "warning: this is for prod"),
        ("case \"$command\" in *prod*) if a; then b; exit 0; fi ;; esac\ncase $x in x)", "use it"),
    ] {
        assert_eq!(count_failed_blocks(COMMAND, head, message, ";;\nesac"), 0, "{head} {message}");
    }
    for head in [
        "if [ -z \"$command\" ]; then",
        "if ! echo \"$command\" | grep -q ok; then",
        "if echo \"$command\" | grep -qv ok; then",
        "if echo \"$command\" | grep -qE '^$|^null$'; then",
        "if echo \"$command\" | grep -qE '^[[:space:]]*$'; then",
        "if echo \"$other\" | grep -q prod; then",
        "if echo \"$command\" | grep -q prod || true; then",
        "if echo \"$command\" | grep -q prod; then\n  true\nelse",
        "if [[ \"$command\" != *ok* ]]; then",
        "if ! [[ \"$command\" == *ok* ]]; then",
        "if [[ ! \"$command\" == *ok* ]]; then",
        "if [[ \"$command\" == \"\" ]]; then",
        "if [[ \"$command\" == prod || -z \"$command\" ]]; then",
        "if [[ \"$command\" == \"$prod\" ]]; then",
        "if a || [[ \"$command\" == prod ]]; then",
    ] {
        assert_eq!(count_failed_blocks(COMMAND, head, "use the pipeline", "fi"), 0, "{head}");
    }
    for assignment in [
        "command=$(echo \"$input\" | jq -r '.tool_name')",
        "command=$(echo \"$input\" | jq -r '.tool_input.command, .cwd')",
        "command=$(echo \"$input\" | sed s/a/b/ | jq -r '.tool_input.command')",
        "command=$(git status)",
        "command=$(echo \"$input\" | jq -r '.tool_input.command')\ncommand=$(git status)",
        "command=$(echo \"$input\" | jq -r '.tool_input.command')\nfor command in a b; do true; done",
        "command=$(echo \"$input\" | jq -r '.tool_input.command')\nread -r command",
        "command=$(jq -r '.tool_input.command' file.json)",
    ] {
        let head = "case \"$command\" in *prod*)";
        assert_eq!(count_failed_blocks(assignment, head, "use it", ";;\nesac"), 0, "{assignment}");
    }
}

#[test]
fn guard_without_exit_0_is_unknown() {
    let guard = format!("{COMMAND}\ncase \"$command\" in prod)\n  echo no >&2\n  exit 1;;\nesac\n");
    let blocks = |text: &str| {
        let text = format!("input=$(cat)\n{text}");
        read(&text, &[]).exits.failed_blocks().count()
    };
    assert_eq!(blocks(&format!("{guard}exit 0\n")), 1);
    assert_eq!(blocks(&format!("{guard}run\n")), 0);
    assert_eq!(blocks(&format!("{guard}exit 0\nexit 2\n")), 0);
    assert_eq!(blocks(&format!("{guard}echo \"$permissionDecision\"\nexit 0\n")), 0);
}
