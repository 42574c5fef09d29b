//! `rutter contract answer` and `rutter contract field`, which scripts start on every tool call.
//!
//! Both are handled before the command line is parsed by clap, which takes as long as starting the process. A request for
//! help, and a mistake, is left to clap.

use std::io::Read;

use rutter_contract::EventName;
use rutter_contract::answer::{AnswerPart, build_answer};
use rutter_contract::javascript;
use rutter_contract::version::Contract;
use serde_json::{Map, Value};

/// Largest payload that is read.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// The result of a quick command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickResult {
    /// Text for stdout.
    pub stdout: String,
    /// Message for stderr; empty if all went well.
    pub message: String,
    /// The exit code.
    pub exit: u8,
}

impl QuickResult {
    fn success(stdout: String) -> Self {
        Self { stdout, message: String::new(), exit: 0 }
    }

    fn failure(exit: u8, message: String) -> Self {
        Self { stdout: String::new(), message, exit }
    }
}

/// Runs `contract answer …` or `contract field …`. Returns None for other commands and for whatever clap should answer.
pub fn run_quick_command(arguments: &[&str], stdin: impl Read) -> Option<QuickResult> {
    match arguments {
        ["contract", "answer", rest @ ..] if !asks_for_help(rest) => print_answer(rest),
        ["contract", "field", rest @ ..] if !asks_for_help(rest) => print_field(rest, stdin),
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
        Err(message) => return Some(QuickResult::failure(2, message)),
    };
    Some(match build_answer(event, &parts, Contract::newest()) {
        Ok(answer) => QuickResult::success(answer.stdout),
        Err(error) => QuickResult::failure(2, error.to_string()),
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
        return Some(QuickResult::failure(1, "could not read stdin".to_owned()));
    }
    let payload = String::from_utf8_lossy(&bytes);
    let Ok(root) = javascript::parse(&payload) else {
        let message = "stdin is not JSON; a hook gets its payload there".to_owned();
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
        (None, None) => QuickResult::failure(1, String::new()),
    })
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
        assert_eq!((result.exit, result.message.as_str()), (0, ""), "{arguments:?}");
        result.stdout
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
        assert!(result.message.contains("would drop `deny` on PostToolUse"), "{}", result.message);
        let input = run(&["contract", "answer", "PreToolUse", "input", "[]"], "").unwrap();
        assert_eq!((input.exit, input.stdout.as_str()), (2, ""));
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
    fn fields_are_printed() {
        let payload = r#"{"tool_name":"Bash","tool_input":{"command":"git push\n--force","n":[1,{"a":true}]},"x":null}"#;
        let field = |name: &str| stdout(&["contract", "field", name], payload);
        assert_eq!(field("tool_input.command"), "git push\n--force");
        assert_eq!(field(".tool_name"), "Bash");
        assert_eq!(field("tool_input.n"), r#"[1,{"a":true}]"#);
        assert_eq!(field("tool_input.n.1.a"), "true");
        let missing = run(&["contract", "field", "x.y"], payload).unwrap();
        assert_eq!((missing.exit, missing.message.as_str()), (1, ""));
        assert_eq!(stdout(&["contract", "field", "x", "--default", "none"], payload), "none");
        assert_eq!(run(&["contract", "field", "a"], "no json").unwrap().exit, 1);
    }
}
