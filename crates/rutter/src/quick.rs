//! `rutter contract answer`, `field` and `adapt`, which hooks start on every tool call.
//!
//! They are handled before the command line is parsed by clap, which takes as long as starting the process. A request for
//! help, and a mistake, is left to clap.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use rutter_check::adapt::{
    adapt_answer, event_of_payload, expects_former_tool_name, is_agent_call, legacy_payload,
    registered_events, use_former_tool_name,
};
use rutter_check::settings::read_regular_file;
use rutter_contract::EventName;
use rutter_contract::answer::{AnswerPart, build_answer};
use rutter_contract::javascript;
use rutter_contract::version::Contract;
use rutter_memory::quote::sanitize_line;
use serde_json::{Map, Value};

/// Largest script that is searched for the name of a tool.
const MAX_SCRIPT_BYTES: u64 = 256 * 1024;
/// Largest payload that is read.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// The result of a quick command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickResult {
    /// Bytes for stdout.
    pub stdout: Vec<u8>,
    /// Bytes for stderr.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub exit: u8,
}

impl QuickResult {
    /// Creates the result of a command that prints a line, or nothing.
    fn success(mut line: String) -> Self {
        if !line.is_empty() {
            line.push('\n');
        }
        Self { stdout: line.into_bytes(), stderr: Vec::new(), exit: 0 }
    }

    /// Creates the result of a command that fails with a message, or silently.
    fn failure(exit: u8, message: &str) -> Self {
        let message = if message.is_empty() {
            String::new()
        } else {
            format!("error: {}\n", sanitize_line(message, false))
        };
        Self { stdout: Vec::new(), stderr: message.into_bytes(), exit }
    }
}

/// Runs `contract answer …`, `contract field …` or `contract adapt …`. Returns None for other commands and for whatever clap should answer.
pub fn run_quick_command(arguments: &[&str], stdin: impl Read) -> Option<QuickResult> {
    match arguments {
        ["contract", "answer", rest @ ..] if !asks_for_help(rest) => print_answer(rest),
        ["contract", "field", rest @ ..] if !asks_for_help(rest) => print_field(rest, stdin),
        ["contract", "adapt", event, "--", command @ ..] => run_adapted(event, command, stdin),
        _ => None,
    }
}

fn asks_for_help(arguments: &[&str]) -> bool {
    arguments.iter().any(|word| matches!(*word, "--help" | "-h"))
}

/// Prints a correct answer. A mistake exits with 2, which blocks where something can be blocked: a guard that is written
/// wrongly must not let everything through.
fn print_answer(arguments: &[&str]) -> Option<QuickResult> {
    let (event, rest) = arguments.split_first()?;
    let event: EventName = match event.parse() {
        Ok(event) => event,
        Err(_) => return None,
    };
    let parts = match parse_parts(rest)? {
        Ok(parts) => parts,
        Err(message) => return Some(QuickResult::failure(2, &message)),
    };
    Some(match build_answer(event, &parts, Contract::newest()) {
        Ok(answer) => QuickResult::success(answer.stdout),
        Err(error) => QuickResult::failure(2, &error.to_string()),
    })
}

/// Parses `VERB [TEXT] [--reason TEXT] [--context TEXT] [--message TEXT] [--input JSON]`. Returns None for other words.
fn parse_parts(arguments: &[&str]) -> Option<Result<Vec<AnswerPart>, String>> {
    let mut parts = Vec::new();
    let (mut verb, mut text) = (None, None);
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "--reason" => text = Some(words.next()?.to_owned()),
            "--context" => parts.push(AnswerPart::Context(words.next()?.to_owned())),
            "--message" => parts.push(AnswerPart::Message(words.next()?.to_owned())),
            "--input" => match parse_input(words.next()?) {
                Ok(input) => parts.push(AnswerPart::Input(input)),
                Err(message) => return Some(Err(message)),
            },
            _ if word.starts_with("--") => return None,
            _ if verb.is_none() => verb = Some(word),
            _ if text.is_none() => text = Some(word.to_owned()),
            _ => return None,
        }
    }
    let reason = text.clone().unwrap_or_default();
    let part = match verb {
        None if parts.is_empty() => return None,
        None => return Some(Ok(parts)),
        Some("allow") => AnswerPart::Allow,
        Some("deny") => AnswerPart::Deny(reason),
        Some("ask") => AnswerPart::Ask(reason),
        Some("defer") => AnswerPart::Defer,
        Some("block") => AnswerPart::Block(reason),
        Some("stop") => AnswerPart::Stop(reason),
        Some("context") => AnswerPart::Context(text?),
        Some("message") => AnswerPart::Message(text?),
        Some("input") => match parse_input(&text?) {
            Ok(input) => AnswerPart::Input(input),
            Err(message) => return Some(Err(message)),
        },
        Some(_) => return None,
    };
    parts.insert(0, part);
    Some(Ok(parts))
}

fn parse_input(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(input)) => Ok(input),
        _ => Err("the new input must be a JSON object with all fields of the tool".to_owned()),
    }
}

/// Prints a field of the payload on stdin: a text as it is, any other value as JSON. A missing field prints nothing and exits
/// with 1, or prints the text of `--default`.
fn print_field(arguments: &[&str], stdin: impl Read) -> Option<QuickResult> {
    let (name, default) = match arguments {
        [name] => (*name, None),
        [name, "--default", default] | ["--default", default, name] => (*name, Some(*default)),
        _ => return None,
    };
    if name.starts_with('-') {
        return None;
    }
    let mut bytes = Vec::new();
    if stdin.take(MAX_PAYLOAD_BYTES).read_to_end(&mut bytes).is_err() {
        return Some(QuickResult::failure(1, "could not read stdin"));
    }
    let payload = String::from_utf8_lossy(&bytes);
    let Ok(root) = javascript::parse(&payload) else {
        let message = "stdin is not JSON; a hook gets its payload there";
        return Some(QuickResult::failure(1, message));
    };
    let path = name.trim_start_matches('.');
    let node = path.split('.').try_fold(&root, |node, key| match &node.kind {
        javascript::JsonKind::List(items) => items.get(key.parse::<usize>().ok()?),
        _ => node.get(key),
    });
    let found = node.filter(|node| node.kind != javascript::JsonKind::Null);
    Some(match (found, default) {
        (Some(node), _) => QuickResult::success(match node.text() {
            Some(text) => text.to_owned(),
            None => json_at(&payload, node.at),
        }),
        (None, Some(default)) => QuickResult::success(default.to_owned()),
        (None, None) => QuickResult::failure(1, ""),
    })
}

/// Runs a legacy hook: adds the keys that it reads to the payload, and corrects its answer.
fn run_adapted(name: &str, command: &[&str], stdin: impl Read) -> Option<QuickResult> {
    let (program, arguments) = command.split_first()?;
    registered_events(name)?;
    let mut bytes = Vec::new();
    if stdin.take(MAX_PAYLOAD_BYTES).read_to_end(&mut bytes).is_err() {
        return Some(QuickResult::failure(1, "could not read stdin"));
    }
    let payload: Option<Value> = serde_json::from_slice(&bytes).ok();
    let event = payload.as_ref().and_then(|payload| event_of_payload(name, payload));
    let event = event.or_else(|| registered_events(name)?.first().copied())?;
    // A payload that serde_json does not read, with a lone surrogate for example, passes as it is.
    let input = payload.map_or(bytes, |mut payload| {
        if is_agent_call(&payload)
            && script_texts(command).iter().any(|text| expects_former_tool_name(text))
        {
            use_former_tool_name(&mut payload);
        }
        legacy_payload(payload).to_string().into_bytes()
    });
    let output = match run_with_input(program, arguments, input) {
        Ok(output) => output,
        Err(error) => {
            let exit = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
            return Some(QuickResult::failure(
                exit,
                &format!("could not start {program}: {error}"),
            ));
        }
    };
    // A hook that was ended by a signal decides nothing.
    let exit = output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let answer = adapt_answer(event, output.stdout, &stderr, exit, Contract::newest());
    Some(QuickResult { stdout: answer.stdout, stderr: output.stderr, exit: answer.exit })
}

/// Returns the texts of a command: its words, and the files that they name.
fn script_texts(command: &[&str]) -> Vec<String> {
    let mut texts: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    for word in command.iter().flat_map(|word| word.split([' ', '"', '\'', ';'])) {
        let word = word.replace("$CLAUDE_PROJECT_DIR/", "").replace("${CLAUDE_PROJECT_DIR}/", "");
        if word.contains(['/', '.'])
            && let Ok(bytes) = read_regular_file(Path::new(&word), MAX_SCRIPT_BYTES)
        {
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    texts
}

/// Runs a program with an input and collects its output. A program that does not read its input is no failure.
fn run_with_input(
    program: &str,
    arguments: &[&str],
    input: Vec<u8>,
) -> io::Result<std::process::Output> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let writer =
        child.stdin.take().map(|mut pipe| std::thread::spawn(move || drop(pipe.write_all(&input))));
    let output = child.wait_with_output()?;
    if let Some(writer) = writer {
        drop(writer.join());
    }
    Ok(output)
}

/// Returns the JSON text of the value at an offset.
fn json_at(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let length = javascript::parse_first(rest).map_or(0, |(_, length)| length);
    rest.get(..length).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &[&str], stdin: &str) -> Option<QuickResult> {
        run_quick_command(arguments, stdin.as_bytes())
    }

    fn stdout(arguments: &[&str], stdin: &str) -> String {
        let result = run(arguments, stdin).unwrap();
        assert_eq!((result.exit, &result.stderr[..]), (0, &b""[..]), "{arguments:?}");
        String::from_utf8(result.stdout).unwrap().trim_end_matches('\n').to_owned()
    }

    #[test]
    fn answers_are_built_from_words() {
        let deny = ["contract", "answer", "PreToolUse", "deny", "--reason", "no force push"];
        let json = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no force push"}}"#;
        assert_eq!(stdout(&deny, ""), json);
        let plain = ["contract", "answer", "PreToolUse", "deny", "no force push"];
        assert_eq!(stdout(&plain, ""), json);
        let context = ["contract", "answer", "SessionStart", "context", "branch main"];
        assert!(stdout(&context, "").contains("\"additionalContext\":\"branch main\""));
        let message = ["contract", "answer", "Stop", "--message", "done"];
        assert_eq!(stdout(&message, ""), r#"{"systemMessage":"done"}"#);
    }

    #[test]
    fn dropped_answers_block() {
        let result = run(&["contract", "answer", "PostToolUse", "deny", "x"], "").unwrap();
        assert_eq!(result.exit, 2);
        let message = String::from_utf8(result.stderr).unwrap();
        assert!(message.contains("would drop `deny` on PostToolUse"), "{message}");
        let input = run(&["contract", "answer", "PreToolUse", "input", "[]"], "").unwrap();
        assert_eq!((input.exit, &input.stdout[..]), (2, &b""[..]));
    }

    #[test]
    fn other_words_are_left_to_clap() {
        for arguments in [
            &["contract", "answer"][..],
            &["contract", "answer", "PreToolCall", "deny"],
            &["contract", "answer", "Stop", "--help"],
            &["contract", "answer", "Stop", "context"],
            &["contract", "answer", "Stop", "--bogus"],
            &["contract", "field"],
            &["contract", "events"],
            &["recall", "x"],
        ] {
            assert_eq!(run(arguments, "{}"), None, "{arguments:?}");
        }
    }

    #[test]
    fn legacy_hooks_are_adapted() {
        let payload = r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"make"},"error":"Exit code 2\nred"}"#;
        let script = r#"input=$(cat); case "$input" in *'"exit_code":2'*) echo '{"context":"it failed"}';; esac"#;
        let adapted =
            stdout(&["contract", "adapt", "PostToolCall", "--", "sh", "-c", script], payload);
        assert_eq!(
            adapted,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"it failed"}}"#
        );
        let result = run(
            &["contract", "adapt", "PreToolUse", "--", "sh", "-c", "echo no >&2; exit 2"],
            "{}",
        )
        .unwrap();
        assert_eq!((result.exit, &result.stderr[..]), (2, &b"no\n"[..]));
        let missing = run(&["contract", "adapt", "Stop", "--", "/no/such/hook"], "{}").unwrap();
        assert_eq!(missing.exit, 127);
        assert_eq!(run(&["contract", "adapt", "Nothing", "--", "true"], "{}"), None);
    }

    #[test]
    fn hooks_that_ignore_their_input_are_adapted() {
        let payload = format!("{{\"prompt\":\"{}\"}}", "x".repeat(400_000));
        assert_eq!(stdout(&["contract", "adapt", "Stop", "--", "true"], &payload), "");
    }

    #[test]
    fn fields_are_printed() {
        let payload = r#"{"tool_name":"Bash","tool_input":{"command":"git push\n--force","n":[1,{"a":true}]},"x":null}"#;
        let field = |name: &str| stdout(&["contract", "field", name], payload);
        assert_eq!(field("tool_input.command"), "git push\n--force");
        assert_eq!(field(".tool_name"), "Bash");
        assert_eq!(field("tool_input.n"), r#"[1,{"a":true}]"#);
        assert_eq!(field("tool_input.n.1.a"), "true");
        let missing = run(&["contract", "field", "x.y"], payload).unwrap();
        assert_eq!((missing.exit, missing.stderr.len()), (1, 0));
        assert_eq!(stdout(&["contract", "field", "x", "--default", "none"], payload), "none");
        assert_eq!(run(&["contract", "field", "a"], "no json").unwrap().exit, 1);
    }
}
