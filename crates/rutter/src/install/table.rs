//! The table of hooks that run rutter, and the tests that recognize their entries.

use std::path::Path;

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::InstallScope;

/// An event and its matcher. Without a matcher, the hook runs on every occurrence of the event.
struct HookRegistration {
    event: EventName,
    matcher: Option<&'static str>,
}

const fn on_every_event(event: EventName) -> HookRegistration {
    HookRegistration { event, matcher: None }
}

const fn on_matching_event(event: EventName, matcher: &'static str) -> HookRegistration {
    HookRegistration { event, matcher: Some(matcher) }
}

/// All hooks of rutter. `init` replaces the entries of other versions by these.
const HOOK_REGISTRATIONS: [HookRegistration; 9] = [
    on_every_event(EventName::SessionStart),
    on_every_event(EventName::SessionEnd),
    on_every_event(EventName::UserPromptSubmit),
    on_matching_event(EventName::PreToolUse, "*"),
    on_matching_event(EventName::PostToolUse, "Bash|Edit|Write|NotebookEdit"),
    on_matching_event(EventName::PostToolUseFailure, "Bash"),
    on_every_event(EventName::SubagentStart),
    on_every_event(EventName::PreCompact),
    on_every_event(EventName::Stop),
];

/// Timeout of our hooks in seconds. They end long before it. It limits the wait on a hanging machine, where the
/// client's default is ten minutes.
const HOOK_TIMEOUT_SECONDS: u32 = 5;

/// File name of the program, by which entries are recognized.
pub(super) const PROGRAM_NAME: &str = "rutter";

/// A matcher group of an event, as written in the settings.
#[derive(Debug, Clone)]
pub(crate) struct HookGroup {
    pub(crate) event: EventName,
    pub(crate) value: Value,
}

/// The way in which the client starts rutter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ProgramReference {
    /// By a path on this machine, in exec form, without a shell.
    Path(String),
    /// In a shared file. A shell line tests that the program exists, and otherwise does nothing. The started hook
    /// defers to the user's own settings if they run rutter already.
    Shared {
        /// A name to find in `PATH`, or a path that is the same on all machines.
        program: String,
        /// Scope of the shared file.
        scope: InstallScope,
    },
}

impl ProgramReference {
    /// Returns the program.
    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Path(program) | Self::Shared { program, .. } => program,
        }
    }

    /// Returns the hook entry.
    pub(crate) fn hook_entry(&self) -> Value {
        match self {
            Self::Path(path) => {
                json!({ "type": "command", "command": path, "args": ["hook"], "timeout": HOOK_TIMEOUT_SECONDS })
            }
            Self::Shared { program, scope } => {
                let program = quote_shell_word(program);
                let line = format!(
                    "{GUARD_START}{program}{GUARD_THEN} {program} hook {FROM_OPTION} {}{GUARD_END}",
                    scope.as_str()
                );
                json!({ "type": "command", "command": line, "timeout": HOOK_TIMEOUT_SECONDS })
            }
        }
    }
}

// The parts of the guarded shell line, which tests that the program exists. `exec` leaves no waiting shell behind.
pub(super) const GUARD_START: &str = "if command -v ";
pub(super) const GUARD_THEN: &str = " >/dev/null 2>&1; then exec";
pub(super) const GUARD_END: &str = "; fi";
/// The option that passes the scope of the shared file to the hook.
pub(crate) const FROM_OPTION: &str = "--from";

/// Quotes a shell word if necessary.
pub(crate) fn quote_shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+');
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Returns the groups that make the client run rutter.
pub(crate) fn hook_groups(start: &ProgramReference) -> Vec<HookGroup> {
    let handler = start.hook_entry();
    HOOK_REGISTRATIONS
        .iter()
        .map(|HookRegistration { event, matcher }| {
            let value = match matcher {
                Some(matcher) => json!({ "matcher": matcher, "hooks": [handler] }),
                None => json!({ "hooks": [handler] }),
            };
            HookGroup { event: *event, value }
        })
        .collect()
}

/// Returns true if a handler runs `rutter hook` with any rutter program.
pub(crate) fn is_our_hook(handler: &Value) -> bool {
    let Some(command) = handler["command"].as_str().filter(|_| handler["type"] == "command") else {
        return false;
    };
    match handler.get("args") {
        Some(args) => args[0] == "hook" && is_rutter_path(command),
        None => is_shell_form(command) || guarded_hook_program(command).is_some(),
    }
}

/// Returns the program that an entry of ours starts, as written in the entry.
pub(crate) fn hook_program(handler: &Value) -> Option<&str> {
    let command = handler["command"].as_str().filter(|_| is_our_hook(handler))?;
    if handler.get("args").is_some() {
        return Some(command);
    }
    guarded_hook_program(command).or_else(|| Some(split_shell_words(command)?.0))
}

/// Returns true if an entry of ours has the form for shared files.
pub(crate) fn is_shared_hook(handler: &Value) -> bool {
    let command = handler["command"].as_str();
    handler.get("args").is_none()
        && command.is_some_and(|line| guarded_hook_program(line).is_some())
}

/// Returns the program of a guarded line. Only the exact line that `init` writes is ours. Any other line belongs to the
/// user, and must be neither run nor removed.
fn guarded_hook_program(line: &str) -> Option<&str> {
    let (asked, runs) =
        line.strip_prefix(GUARD_START)?.strip_suffix(GUARD_END)?.split_once(GUARD_THEN)?;
    let program =
        asked.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(asked);
    let ours = [InstallScope::Project, InstallScope::Plugin].iter().any(|scope| {
        runs.strip_prefix(' ') == Some(&format!("{asked} hook {FROM_OPTION} {}", scope.as_str()))
    });
    (ours && quote_shell_word(program) == asked && is_rutter_path(program)).then_some(program)
}

pub(super) fn is_rutter_path(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name == PROGRAM_NAME)
}

/// Returns true for lines like `/x/rutter hook`, with an optionally quoted path and an optional event. A line that does
/// anything else belongs to the user.
fn is_shell_form(line: &str) -> bool {
    let Some((program, words)) = split_shell_words(line) else { return false };
    let plain = |word: &str| word.chars().all(char::is_alphanumeric);
    let ours = match words[..] {
        ["hook"] => true,
        ["hook", FROM_OPTION, scope] => plain(scope),
        ["hook", event] => plain(event),
        _ => false,
    };
    ours && is_rutter_path(program)
}

/// Splits a simple shell line into the program, optionally quoted, and the words after it. Only spaces and tabs
/// separate words: a newline ends a command, and other whitespace is part of a word.
fn split_shell_words(line: &str) -> Option<(&str, Vec<&str>)> {
    const WORD_SEPARATORS: [char; 2] = [' ', '\t'];
    let line = line.trim_matches([' ', '\t', '\n']);
    if line.chars().any(|c| (c.is_whitespace() || c.is_control()) && !WORD_SEPARATORS.contains(&c))
    {
        return None;
    }
    let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (program, rest) = match quote {
        Some(quote) => line[1..].split_once(quote),
        None => line.split_once(WORD_SEPARATORS),
    }?;
    Some((program, rest.split(WORD_SEPARATORS).filter(|word| !word.is_empty()).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_our_hooks() {
        for handler in [
            json!({ "type": "command", "command": "/usr/bin/rutter", "args": ["hook"] }),
            json!({ "type": "command", "command": "rutter", "args": ["hook", "Stop"], "timeout": 1 }),
            json!({ "type": "command", "command": "/opt/a b/rutter hook" }),
            json!({ "type": "command", "command": "'/opt/a b/rutter' hook" }),
            json!({ "type": "command", "command": "  \"$HOME/bin/rutter\"  hook SessionStart\n" }),
        ] {
            let shell_words = handler["command"] == "/opt/a b/rutter hook";
            // A shell would run this one as the program `/opt/a`.
            assert_eq!(is_our_hook(&handler), !shell_words, "{handler}");
        }
    }

    #[test]
    fn shared_hook_tests_for_program() {
        let shared = |program: &str| ProgramReference::Shared {
            program: program.to_owned(),
            scope: InstallScope::Project,
        };
        let handler = shared("rutter").hook_entry();
        assert_eq!(
            handler["command"],
            "if command -v rutter >/dev/null 2>&1; then exec rutter hook --from project; fi"
        );
        assert!(is_our_hook(&handler) && is_shared_hook(&handler));
        assert_eq!(hook_program(&handler), Some("rutter"));
        let handler = shared("/opt/our tools/rutter").hook_entry();
        assert!(is_our_hook(&handler) && is_shared_hook(&handler), "{handler}");
        assert_eq!(hook_program(&handler), Some("/opt/our tools/rutter"));
        let handler = ProgramReference::Path("/x y/rutter".to_owned()).hook_entry();
        assert!(is_our_hook(&handler) && !is_shared_hook(&handler));
        assert_eq!(hook_program(&handler), Some("/x y/rutter"));
    }

    #[test]
    fn rejects_foreign_hooks() {
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
            assert!(!is_our_hook(&handler), "{handler}");
        }
    }
}
