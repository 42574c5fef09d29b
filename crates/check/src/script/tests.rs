//! Tests of Python, JavaScript, and of arbitrary text.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const TOOL_CALL: ScriptContext<'static> =
    ScriptContext { events: &[EventName::PreToolUse], tools: &[], variables: &[] };

fn read(text: &str, language: ScriptLanguage) -> ScriptReport {
    let report = read_script(text, language, &TOOL_CALL);
    assert!(report.is_read, "not read: {text}");
    report
}

fn keys(text: &str, language: ScriptLanguage) -> Vec<String> {
    read(text, language).unsent_keys.into_iter().map(|key| key.key).collect()
}

#[test]
fn python_reads_of_unsent_keys_are_found() {
    for text in [
        "data = json.load(sys.stdin)\nif data[\"tool\"] == 'Bash':\n    pass",
        "raw = sys.stdin.read()\ndata = json.loads(raw)\nt = data.get('tool', '')",
        "def main():\n    try:\n        data = json.load(sys.stdin)\n    except ValueError:\n        data = {}\n    t = data.get(\"tool\")",
        "data: dict = json.loads(sys.stdin.read())\nprint(data['tool'])",
    ] {
        assert_eq!(keys(text, ScriptLanguage::Python), ["tool"], "{text}");
    }
}

#[test]
fn python_reads_in_doubt_are_not_reported() {
    for text in [
        "data = json.load(sys.stdin)\nt = data.get('tool_name') or data.get('tool')",
        "data = json.load(sys.stdin)\nt = data.get('tool_name', data.get('tool'))",
        "data = json.load(sys.stdin)\nt = data.get('tool_name')\nif not t:\n    t = data.get('tool')",
        "data = json.load(sys.stdin)\nif 'tool' in data:\n    t = data['tool']",
        "data = json.load(sys.stdin)\ndata['tool'] = 1\nprint(data['tool'])",
        "data = json.load(open('f'))\nprint(data['tool'])",
        "data = json.load(sys.stdin)\ndata = data['x']\nprint(data['tool'])",
        "data = json.load(sys.stdin)['tool_input']\nprint(data['tool'])",
        "data = json.load(sys.stdin)\ndef f(data):\n    return data['tool']",
        "data = json.load(sys.stdin)\nfor data in x:\n    print(data['tool'])",
        "data = json.load(sys.stdin)\ndata.update(x)\nprint(data['tool'])",
        "a, data = json.load(sys.stdin)\nprint(data['tool'])",
        "def f():\n    data = json.load(sys.stdin)\ndef g():\n    data = load()\n    return data['tool']",
        "# data = json.load(sys.stdin)\nprint(data['tool'])",
        "# Cursor sends this\ndata = json.load(sys.stdin)\nprint(data['tool'])",
    ] {
        let found = keys(text, ScriptLanguage::Python);
        assert!(!found.contains(&"tool".to_owned()), "{text}: {found:?}");
    }
}

#[test]
fn javascript_reads_of_unsent_keys_are_found() {
    for text in [
        "const input = JSON.parse(fs.readFileSync(0, 'utf8'));\nif (input.toolName === 'Bash') {}",
        "const raw = readFileSync('/dev/stdin', 'utf-8');\nconst input = JSON.parse(raw);\nfoo(input?.toolName)",
        "let data = '';\nprocess.stdin.on('data', c => data += c);\nprocess.stdin.on('end', () => {\n  const input = JSON.parse(data);\n  const t = input['toolName'];\n});",
        "let s = ''\nfor await (const c of process.stdin) s += c\nconst input = JSON.parse(s)\nconst { toolName, cwd } = input\n",
        "const input: HookInput = JSON.parse(await Bun.stdin.text());\nconsole.error(input.toolName)",
        "const input = await Bun.stdin.json() as Payload\nrun(input.toolName)",
    ] {
        assert_eq!(keys(text, ScriptLanguage::JavaScript), ["toolName"], "{text}");
    }
}

#[test]
fn javascript_reads_in_doubt_are_not_reported() {
    for text in [
        "const input = JSON.parse(fs.readFileSync(0));\nconst t = input.tool_name || input.toolName;",
        "const input = JSON.parse(fs.readFileSync(0));\nconst { tool_name, toolName } = input;",
        "const input = JSON.parse(fs.readFileSync('x'));\nfoo(input.toolName);",
        "const input = JSON.parse(fs.readFileSync(0)).x;\nfoo(input.toolName);",
        "let input = JSON.parse(fs.readFileSync(0));\ninput = input.x;\nfoo(input.toolName);",
        "const input = JSON.parse(fs.readFileSync(0));\nfunction f(input) { return input.toolName; }",
        "const input = JSON.parse(fs.readFileSync(0));\nxs.map(input => input.toolName);",
        "const input = JSON.parse(fs.readFileSync(0));\ninput.toolName = 1;\nfoo(input.toolName);",
        "const input = JSON.parse(fs.readFileSync(0));\ninput.hasOwnProperty('a');\n// input.toolName",
        "const c = spawn('x');\nlet d = '';\nc.stdout.on('data', x => d += x);\nprocess.stdin.on('data', x => {});\nconst input = JSON.parse(d);\nfoo(input.toolName);",
    ] {
        assert_eq!(keys(text, ScriptLanguage::JavaScript), [""; 0], "{text}");
    }
}

#[test]
fn wrong_input_keys_are_found_through_variables() {
    let context = ScriptContext { tools: &["Bash"], ..TOOL_CALL };
    for (text, language) in [
        (
            "data = json.load(sys.stdin)\nti = data.get('tool_input', {})\nprint(ti.get('cmd'))",
            ScriptLanguage::Python,
        ),
        (
            "const d = JSON.parse(fs.readFileSync(0));\nfoo(d.tool_input.cmd);",
            ScriptLanguage::JavaScript,
        ),
        (
            "const d = JSON.parse(fs.readFileSync(0));\nfoo(d.tool_input?.cmd);",
            ScriptLanguage::JavaScript,
        ),
    ] {
        let found = read_script(text, language, &context).unsent_keys;
        assert_eq!(
            found.iter().map(|key| key.key.as_str()).collect::<Vec<_>>(),
            ["tool_input.cmd"],
            "{text}"
        );
        assert_eq!(read(text, language).unsent_keys, [], "{text}");
    }
}

#[test]
fn printed_literals_are_answers() {
    let expected = json!({"decision": "block", "reason": "…"});
    for (text, language) in [
        ("print(json.dumps({'decision': 'block', 'reason': f'no {x}'}))", ScriptLanguage::Python),
        (
            "out = {\n    \"decision\": \"block\",\n    \"reason\": why,\n}\nprint(json.dumps(out))\nsys.exit(0)",
            ScriptLanguage::Python,
        ),
        (
            "json.dump({'decision': 'block', 'reason': \"a\" + x}, sys.stdout)",
            ScriptLanguage::Python,
        ),
        ("console.log(JSON.stringify({ decision: 'block', reason }));", ScriptLanguage::JavaScript),
        (
            "const out = { decision: 'block', reason: why() };\nconsole.log(JSON.stringify(out));",
            ScriptLanguage::JavaScript,
        ),
        (
            "process.stdout.write(JSON.stringify({ \"decision\": \"block\", reason: a ? b : c }) + '\\n');",
            ScriptLanguage::JavaScript,
        ),
    ] {
        let [answer] = &read(text, language).answers[..] else { panic!("one answer: {text}") };
        let value = answer.value.clone().unwrap();
        assert_eq!(value["decision"], expected["decision"], "{text}");
        assert!(value["reason"].as_str().unwrap().contains('…'), "{text}");
        assert!(answer.is_denial() && answer.has_placeholders);
    }
}

#[test]
fn computed_objects_are_no_literals() {
    for (text, language) in [
        ("print(json.dumps({**base, 'decision': 'block'}))", ScriptLanguage::Python),
        ("print(json.dumps({key: 'block'}))", ScriptLanguage::Python),
        ("print(json.dumps({k: v for k, v in x}))", ScriptLanguage::Python),
        ("print(json.dumps(x))", ScriptLanguage::Python),
        ("print(json.dumps({'a': 1}), file=sys.stderr)", ScriptLanguage::Python),
        ("out = {'a': 1}\nout['b'] = 2\nprint(json.dumps(out))", ScriptLanguage::Python),
        (
            "if a:\n    out = {'a': 1}\nelse:\n    out = {'b': 1}\nprint(json.dumps(out))",
            ScriptLanguage::Python,
        ),
        ("console.log(JSON.stringify({ ...base, a: 1 }))", ScriptLanguage::JavaScript),
        ("console.log(JSON.stringify({ [key]: 1 }))", ScriptLanguage::JavaScript),
        ("console.error(JSON.stringify({ a: 1 }))", ScriptLanguage::JavaScript),
        (
            "const o = { a: 1 };\no.b = 2;\nconsole.log(JSON.stringify(o))",
            ScriptLanguage::JavaScript,
        ),
        (
            "parser = argparse.ArgumentParser()\nprint(json.dumps({'status': 'ok'}))",
            ScriptLanguage::Python,
        ),
    ] {
        assert_eq!(read(text, language).answers, [], "{text}");
    }
    let text = "print(json.dumps({'continue': ok, 'reason': 'r'}))";
    let [answer] = &read(text, ScriptLanguage::Python).answers[..] else { panic!("one answer") };
    assert_eq!(
        (&answer.value, &answer.keys[..]),
        (&None, &["continue".to_owned(), "reason".to_owned()][..])
    );
}

#[test]
fn written_keys_are_no_alternatives() {
    const PYTHON: &str = "payload = json.load(sys.stdin)\n";
    const JAVASCRIPT: &str = "const payload = JSON.parse(fs.readFileSync(0));\n";
    for (line, key) in [
        (
            "print(json.dumps({'session': payload.get('session_id'), 'exit_code': payload.get('exit_code')}))",
            "exit_code",
        ),
        ("log({'cwd': payload['cwd'], 'command': payload['command'], 'n': 1})", "command"),
        ("log({'tool_name': payload.get('tool'), 'cwd': payload.get('cwd')})", "tool"),
        ("log(dict(cwd=payload['cwd'], tool_name=payload['tool']))", "tool"),
        (
            "rows.append({'at': [payload['cwd']], 'what': {'exit': payload['exit_code']}})",
            "exit_code",
        ),
    ] {
        assert_eq!(keys(&format!("{PYTHON}{line}"), ScriptLanguage::Python), [key], "{line}");
    }
    for (line, key) in [
        ("log({ session: payload.session_id, exit: payload.exit_code });", "exit_code"),
        ("log({ tool_name: payload.tool, cwd: payload.cwd });", "tool"),
    ] {
        let text = format!("{JAVASCRIPT}{line}");
        assert_eq!(keys(&text, ScriptLanguage::JavaScript), [key], "{line}");
    }
}

#[test]
fn alternatives_of_one_member_are_tolerant() {
    const PYTHON: &str = "payload = json.load(sys.stdin)\n";
    const JAVASCRIPT: &str = "const payload = JSON.parse(fs.readFileSync(0));\n";
    for line in [
        "log({'tool': payload.get('tool_name') or payload.get('tool')})",
        "log({'tool': payload.get('tool'), 'name': payload.get('tool_name')})",
        "log(pick(payload.get('session_id'), payload.get('exit_code')))",
        "log({'id': pick(payload.get('session_id'), payload.get('exit_code'))})",
        "log({'tool_name': payload.get('tool'), 'text': doc('tool_name')})",
        "log({payload.get('cwd'), payload.get('exit_code')})",
        "log({'exit_code': result['exit_code'], 'cwd': payload['cwd']})",
    ] {
        assert_eq!(keys(&format!("{PYTHON}{line}"), ScriptLanguage::Python), [""; 0], "{line}");
    }
    for line in [
        "log({ tool: payload.tool_name ?? payload.tool });",
        "const { tool_name: tool } = payload; log({ a: payload.tool });",
    ] {
        let text = format!("{JAVASCRIPT}{line}");
        assert_eq!(keys(&text, ScriptLanguage::JavaScript), [""; 0], "{line}");
    }
}

#[test]
fn expressions_under_dropped_keys_are_placeholders() {
    for (text, language) in [
        ("print(json.dumps({'context': text}))", ScriptLanguage::Python),
        ("print(json.dumps({'context': {'branch': b}}))", ScriptLanguage::Python),
        (
            "out = {'type': kind, 'content': f'x {y}'}\nprint(json.dumps(out))",
            ScriptLanguage::Python,
        ),
        (
            "json.dump({'permissionDecision': d, 'permissionDecisionReason': r}, sys.stdout)",
            ScriptLanguage::Python,
        ),
        ("console.log(JSON.stringify({ context }));", ScriptLanguage::JavaScript),
        (
            "console.log(JSON.stringify({ type: 'x', content: a ? b : c, prompt: `${p}` }));",
            ScriptLanguage::JavaScript,
        ),
        ("jq -n --arg c \"$text\" '{context: $c}'", ScriptLanguage::Sh),
        ("jq -n --arg c \"$text\" '{context: {branch: $c}}'", ScriptLanguage::Sh),
        ("printf '{\"context\": \"%s\"}' \"$text\"", ScriptLanguage::Sh),
        ("echo \"{\\\"context\\\": $text}\"", ScriptLanguage::Bash),
        ("cat <<END\n{\"context\": \"$text\"}\nEND\n", ScriptLanguage::Sh),
    ] {
        let [answer] = &read(text, language).answers[..] else { panic!("one answer: {text}") };
        assert!(answer.stdout.as_ref().is_some_and(|out| out.contains('…')), "{text} {answer:?}");
        assert!(answer.has_placeholders && !answer.is_denial(), "{text}");
    }
    for (text, language) in [
        ("print(json.dumps({'context': text, 'decision': d}))", ScriptLanguage::Python),
        (
            "print(json.dumps({'hookSpecificOutput': {'permissionDecision': d}}))",
            ScriptLanguage::Python,
        ),
        (
            "print(json.dumps({'hookSpecificOutput': {'action': 'accept', 'content': c}}))",
            ScriptLanguage::Python,
        ),
        ("console.log(JSON.stringify({ status: s }));", ScriptLanguage::JavaScript),
        ("jq -n --arg c \"$x\" '{decision: $c}'", ScriptLanguage::Sh),
    ] {
        let [answer] = &read(text, language).answers[..] else { panic!("one answer: {text}") };
        assert_eq!((&answer.value, &answer.stdout), (&None, &None), "{text}");
    }
    let computed = "print(json.dumps({'context': text, **more}))";
    assert_eq!(read(computed, ScriptLanguage::Python).answers, []);
}

#[test]
fn python_text_before_answer_is_noise() {
    let text = "print('Checking')\nif x:\n    pass\nprint(json.dumps({'decision': 'block'}))";
    let [noise] = &read(text, ScriptLanguage::Python).noise[..] else { panic!("noise") };
    assert_eq!(&text[noise.range.clone()], "print('Checking')");
    for text in [
        "print('Checking', file=sys.stderr)\nprint(json.dumps({'decision': 'block'}))",
        "if x:\n    print('Checking')\nprint(json.dumps({'decision': 'block'}))",
        "if x:\n    print('Checking')\nelse:\n    print(json.dumps({'decision': 'block'}))",
        "def f():\n    print('Checking')\ndef g():\n    print(json.dumps({'decision': 'block'}))",
    ] {
        assert_eq!(read(text, ScriptLanguage::Python).noise, [], "{text}");
    }
}

#[test]
fn failing_exits_of_programs_are_found() {
    for (text, language) in [
        (
            "if x:\n    print(\"Blocked: no\", file=sys.stderr)\n    sys.exit(1)",
            ScriptLanguage::Python,
        ),
        (
            "if (x) {\n  console.error('Blocked: no');\n  process.exit(1);\n}",
            ScriptLanguage::JavaScript,
        ),
    ] {
        let exits = read(text, language).exits;
        assert_eq!(exits.failed_blocks().count(), 1, "{text}");
        let known = text.replacen("1)", "2)", 1);
        let both = format!("{text}\n{known}");
        assert_eq!(read(&both, language).exits.failed_blocks().count(), 0, "{both}");
    }
    assert!(read("sys.exit(main())", ScriptLanguage::Python).exits.has_computed_exit);
}

#[test]
fn unset_variables_of_programs_are_found() {
    for (text, language) in [
        ("x = os.environ.get('CLAUDE_TOOL_INPUT', '')", ScriptLanguage::Python),
        ("x = os.environ['CLAUDE_TOOL_INPUT']", ScriptLanguage::Python),
        ("x = os.getenv('CLAUDE_TOOL_INPUT')", ScriptLanguage::Python),
        ("const x = process.env.CLAUDE_TOOL_INPUT || '{}';", ScriptLanguage::JavaScript),
    ] {
        let found = read(text, language).unset_variables;
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(found[0].name, "CLAUDE_TOOL_INPUT");
        let with_stdin = format!("{text}\ny = read(sys.stdin)");
        assert_eq!(read(&with_stdin, language).unset_variables, [], "{with_stdin}");
    }
    for (text, language) in [
        ("x = data.get('p') or os.environ.get('CLAUDE_TOOL_INPUT')", ScriptLanguage::Python),
        ("x = os.environ.get('CLAUDE_TOOL_INPUT') or read()", ScriptLanguage::Python),
        ("const x = data.p || process.env.CLAUDE_TOOL_INPUT;", ScriptLanguage::JavaScript),
        ("module.exports = { x: process.env.CLAUDE_TOOL_INPUT };", ScriptLanguage::JavaScript),
    ] {
        assert_eq!(read(text, language).unset_variables, [], "{text}");
    }
}

#[test]
fn language_follows_shebang_then_extension() {
    for (path, text, language) in [
        ("x", "#!/usr/bin/env python3\n", Some(ScriptLanguage::Python)),
        ("x.sh", "#!/bin/sh\n", Some(ScriptLanguage::Sh)),
        ("x", "#!/usr/bin/env -S uv run --script\n", Some(ScriptLanguage::Python)),
        ("x", "#!/usr/bin/env bash\r\n", Some(ScriptLanguage::Bash)),
        ("x.ts", "", Some(ScriptLanguage::JavaScript)),
        ("x.rb", "", None),
        ("x.py", "#!/usr/bin/ruby\n", None),
    ] {
        assert_eq!(ScriptLanguage::detect(Path::new(path), text), language, "{path} {text}");
    }
}

/// Text of pieces that the readers look for.
fn scripts() -> impl Strategy<Value = String> {
    let pieces = [
        "INPUT=$(cat)",
        "echo \"$INPUT\" | jq -r '.tool'",
        "${",
        "}",
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "<<EOF\n",
        "EOF\n",
        "\n",
        " ",
        "if ",
        "then ",
        "fi",
        "case x in",
        "esac",
        ";;",
        "[[ ",
        " ]]",
        "((",
        "))",
        "{",
        "echo '{\"a\":",
        "é",
        "json.load(sys.stdin)",
        "data = ",
        "data['tool']",
        ".get('",
        "print(json.dumps(",
        "sys.exit(1)",
        "/",
        "//",
        "/*",
        "const input = JSON.parse(",
        "fs.readFileSync(0)",
        "input.tool",
        "=> ",
        "\\",
        "#",
        "f\"{x}\"",
        "\"\"\"",
        "exit 1",
        "jq -n '{a: \"\\(.x)\"}'",
        "process.exit(",
        "export A=",
        "<(",
        "|",
        "&&",
        "%",
        "-",
        "~/",
        "$CLAUDE_PROJECT_DIR/x",
    ];
    let piece = prop_oneof![
        4 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned),
        1 => ".{0,4}",
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn arbitrary_text_is_read_without_panic(text in scripts()) {
        for language in [ScriptLanguage::Command, ScriptLanguage::Sh, ScriptLanguage::Bash, ScriptLanguage::Python, ScriptLanguage::JavaScript] {
            let report = read_script(&text, language, &TOOL_CALL);
            for key in report.unsent_keys {
                prop_assert!(text.get(key.range).is_some());
            }
            for answer in report.answers {
                prop_assert!(text.get(answer.range).is_some());
            }
            for exit in report.exits.exits {
                prop_assert!(text.get(exit.range).is_some());
            }
        }
        let context = command::tests::context(&|_| true, &|_| HookFile::Missing);
        for args in [None, Some(&[text.clone()][..])] {
            let command = HookCommand { command: &text, args, shell: None };
            for fault in read_command(&command, &context).faults {
                prop_assert!(text.get(fault.range).is_some());
            }
        }
    }
}
