//! The table of hooks that run rutter, and the tests that recognize their entries.

use std::path::Path;

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::Scope;

/// An event and its matcher. Without a matcher, the hook runs on every occurrence of the event.
struct Registration {
    event: EventName,
    matcher: Option<&'static str>,
}

const fn every(event: EventName) -> Registration {
    Registration { event, matcher: None }
}

const fn matching(event: EventName, matcher: &'static str) -> Registration {
    Registration { event, matcher: Some(matcher) }
}

/// All hooks of rutter. `init` replaces the entries of other versions by these.
const HOOKS: [Registration; 9] = [
    every(EventName::SessionStart),
    every(EventName::SessionEnd),
    every(EventName::UserPromptSubmit),
    matching(EventName::PreToolUse, "*"),
    matching(EventName::PostToolUse, "Bash|Edit|Write|NotebookEdit"),
    matching(EventName::PostToolUseFailure, "Bash"),
    every(EventName::SubagentStart),
    every(EventName::PreCompact),
    every(EventName::Stop),
];

/// Timeout of our hooks in seconds. They end long before it. It limits the wait on a hanging machine, where the
/// client's default is ten minutes.
const TIMEOUT: u32 = 5;

/// File name of the program, by which entries are recognized.
pub(super) const PROGRAM: &str = "rutter";

/// A matcher group of an event, as written in the settings.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) event: EventName,
    pub(crate) value: Value,
}

/// The way in which the client starts rutter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// By a path on this machine, in exec form, without a shell.
    Path(String),
    /// In a shared file. A shell line tests that the program exists, and otherwise does nothing. The started hook
    /// defers to the user's own settings if they run rutter already.
    Shared {
        /// A name to find in `PATH`, or a path that is the same on all machines.
        program: String,
        /// Scope of the shared file.
        scope: Scope,
    },
}

impl Start {
    /// Returns the program.
    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Path(program) | Self::Shared { program, .. } => program,
        }
    }

    /// Returns the hook entry.
    pub(crate) fn handler(&self) -> Value {
        match self {
            Self::Path(path) => {
                json!({ "type": "command", "command": path, "args": ["hook"], "timeout": TIMEOUT })
            }
            Self::Shared { program, scope } => {
                let program = quoted(program);
                let line =
                    format!("{GUARD}{program}{ASKS} {program} hook {FROM} {}{ENDS}", scope.word());
                json!({ "type": "command", "command": line, "timeout": TIMEOUT })
            }
        }
    }
}

// The parts of the guarded shell line, which tests that the program exists. `exec` leaves no waiting shell behind.
pub(super) const GUARD: &str = "if command -v ";
pub(super) const ASKS: &str = " >/dev/null 2>&1; then exec";
pub(super) const ENDS: &str = "; fi";
/// The option that passes the scope of the shared file to the hook.
pub(crate) const FROM: &str = "--from";

/// Quotes a shell word if necessary.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+');
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the groups that make the client run rutter.
pub(crate) fn groups(start: &Start) -> Vec<Group> {
    let handler = start.handler();
    HOOKS
        .iter()
        .map(|Registration { event, matcher }| {
            let value = match matcher {
                Some(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
                None => json!({ "hooks": [handler] }),
            };
            Group { event: *event, value }
        })
        .collect()
}

/// Returns true if a handler runs `rutter hook` with any rutter program.
pub(crate) fn is_ours(handler: &Value) -> bool {
    let Some(command) = handler["command"].as_str().filter(|_| handler["type"] == "command") else {
        return false;
    };
    match handler.get("args") {
        Some(args) => args[0] == "hook" && is_program(command),
        None => is_shell_form(command) || guarded(command).is_some(),
    }
}

/// Returns the program that an entry of ours starts, as written in the entry.
pub(crate) fn program(handler: &Value) -> Option<&str> {
    let command = handler["command"].as_str().filter(|_| is_ours(handler))?;
    if handler.get("args").is_some() {
        return Some(command);
    }
    guarded(command).or_else(|| Some(words(command)?.0))
}

/// Returns true if an entry of ours has the form for shared files.
pub(crate) fn is_shared(handler: &Value) -> bool {
    let command = handler["command"].as_str();
    handler.get("args").is_none() && command.is_some_and(|line| guarded(line).is_some())
}

/// Returns the program of a guarded line. Only the exact line that `init` writes is ours. Any other line belongs to the
/// user, and must be neither run nor removed.
fn guarded(line: &str) -> Option<&str> {
    let (asked, runs) = line.strip_prefix(GUARD)?.strip_suffix(ENDS)?.split_once(ASKS)?;
    let program =
        asked.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(asked);
    let ours = [Scope::Project, Scope::Plugin].iter().any(|scope| {
        runs.strip_prefix(' ') == Some(&format!("{asked} hook {FROM} {}", scope.word()))
    });
    (ours && quoted(program) == asked && is_program(program)).then_some(program)
}

pub(super) fn is_program(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name == PROGRAM)
}

/// Returns true for lines like `/x/rutter hook`, with an optionally quoted path and an optional event. A line that does
/// anything else belongs to the user.
fn is_shell_form(line: &str) -> bool {
    let Some((program, words)) = words(line) else { return false };
    let plain = |word: &str| word.chars().all(char::is_alphanumeric);
    let ours = match words[..] {
        ["hook"] => true,
        ["hook", FROM, scope] => plain(scope),
        ["hook", event] => plain(event),
        _ => false,
    };
    ours && is_program(program)
}

/// Splits a simple shell line into the program, optionally quoted, and the words after it. Only spaces and tabs
/// separate words: a newline ends a command, and other whitespace is part of a word.
fn words(line: &str) -> Option<(&str, Vec<&str>)> {
    const BLANKS: [char; 2] = [' ', '\t'];
    let line = line.trim_matches([' ', '\t', '\n']);
    if line.chars().any(|c| (c.is_whitespace() || c.is_control()) && !BLANKS.contains(&c)) {
        return None;
    }
    let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (program, rest) = match quote {
        Some(quote) => line[1..].split_once(quote),
        None => line.split_once(BLANKS),
    }?;
    Some((program, rest.split(BLANKS).filter(|word| !word.is_empty()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_are_known_wherever_the_program_is() {
        for handler in [
            json!({ "type": "command", "command": "/usr/bin/rutter", "args": ["hook"] }),
            json!({ "type": "command", "command": "rutter", "args": ["hook", "Stop"], "timeout": 1 }),
            json!({ "type": "command", "command": "/opt/a b/rutter hook" }),
            json!({ "type": "command", "command": "'/opt/a b/rutter' hook" }),
            json!({ "type": "command", "command": "  \"$HOME/bin/rutter\"  hook SessionStart\n" }),
        ] {
            let shell_words = handler["command"] == "/opt/a b/rutter hook";
            // A shell would run this one as the program `/opt/a`.
            assert_eq!(is_ours(&handler), !shell_words, "{handler}");
        }
    }

    #[test]
    fn what_others_get_asks_first() {
        let shared =
            |program: &str| Start::Shared { program: program.to_owned(), scope: Scope::Project };
        let handler = shared("rutter").handler();
        assert_eq!(
            handler["command"],
            "if command -v rutter >/dev/null 2>&1; then exec rutter hook --from project; fi"
        );
        assert!(is_ours(&handler) && is_shared(&handler));
        assert_eq!(program(&handler), Some("rutter"));
        let handler = shared("/opt/our tools/rutter").handler();
        assert!(is_ours(&handler) && is_shared(&handler), "{handler}");
        assert_eq!(program(&handler), Some("/opt/our tools/rutter"));
        let handler = Start::Path("/x y/rutter".to_owned()).handler();
        assert!(is_ours(&handler) && !is_shared(&handler));
        assert_eq!(program(&handler), Some("/x y/rutter"));
    }

    #[test]
    fn nobody_elses_is_ours() {
        for handler in [
            json!({ "type": "command", "command": "/usr/bin/rutter", "args": ["tend"] }),
            json!({ "type": "command", "command": "/usr/bin/rutter", "args": [] }),
            json!({ "type": "command", "command": "/usr/bin/rutter", "args": "hook" }),
            json!({ "type": "command", "command": "/usr/bin/rutter" }),
            json!({ "type": "command", "command": "/usr/bin/rutter-hook", "args": ["hook"] }),
            json!({ "type": "command", "command": "/rutter/run", "args": ["hook"] }),
            json!({ "type": "command", "command": "rutter hook && say done" }),
            json!({ "type": "command", "command": "rutter hook;say" }),
            json!({ "type": "command", "command": "rutter hook\nmischief" }),
            json!({ "type": "command", "command": "rutter\nhook" }),
            json!({ "type": "command", "command": "'/x/rutter'\nhook" }),
            json!({ "type": "command", "command": "'/x\n/rutter' hook" }),
            json!({ "type": "command", "command": "rutter hook\rmischief" }),
            json!({ "type": "command", "command": "rutter\u{a0}hook" }),
            json!({ "type": "command", "command": "sh -c 'rutter hook'" }),
            json!({ "type": "command", "command": "\"rutter hook" }),
            json!({ "type": "command", "command": "rutter hook --from project && say" }),
            json!({ "type": "command", "command": "if command -v rutter >/dev/null 2>&1; then exec mine hook; fi" }),
            json!({ "type": "command", "command": "if command -v rutter >/dev/null 2>&1; then exec rutter hook; fi; say" }),
            json!({ "type": "command", "command": "if command -v rutter; touch /x; true >/dev/null 2>&1; then exec rutter hook --from project; fi" }),
            json!({ "type": "command", "command": "if command -v notify-send && notify-send done >/dev/null 2>&1; then exec rutter hook; fi" }),
            json!({ "type": "command", "command": "if command -v $(x)/rutter >/dev/null 2>&1; then exec $(x)/rutter hook --from project; fi" }),
            json!({ "type": "command", "command": "if command -v a;/x/rutter >/dev/null 2>&1; then exec a;/x/rutter hook --from project; fi" }),
            json!({ "type": "command", "command": "" }),
            json!({ "type": "prompt", "command": "rutter", "args": ["hook"] }),
            json!({ "command": "rutter", "args": ["hook"] }),
            json!("rutter hook"),
            json!(null),
        ] {
            assert!(!is_ours(&handler), "{handler}");
        }
    }
}
