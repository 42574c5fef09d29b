//! Which hooks run rutter, and how an entry that does is told from anybody else's.

use std::path::Path;

use rutter_contract::EventName;
use serde_json::{Value, json};

use super::Scope;

/// An event and the tools it is wanted for; no matcher is every firing of it.
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

/// The one list. `init` makes the settings say this, whatever an older rutter had them say.
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

/// Seconds after which the client gives up on a hook. Ours are silent long before; this is for a machine that stands
/// still, where the client's own ten minutes would be the user's.
const TIMEOUT: u32 = 5;

/// What a program is called that can be found again.
pub(super) const PROGRAM: &str = "rutter";

/// A matcher group of an event, as the settings have it.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) event: EventName,
    pub(crate) value: Value,
}

/// How the client is to start rutter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Start {
    /// By a path of this machine, in exec form: no shell reads it.
    Path(String),
    /// In a file that others get as well. Where there is no such program it does nothing and says nothing, which takes
    /// a shell to ask; and where the settings of the user run rutter already, the one that is started here steps back.
    Shared {
        /// A name to be found in `PATH`, or a path that is the same for everybody.
        program: String,
        /// Whose file it is.
        scope: Scope,
    },
}

impl Start {
    /// The program that it names.
    pub(crate) fn program(&self) -> &str {
        match self {
            Self::Path(program) | Self::Shared { program, .. } => program,
        }
    }

    /// The entry that it makes.
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

// The parts of the line that asks first. `exec` leaves no shell behind to wait for.
pub(super) const GUARD: &str = "if command -v ";
pub(super) const ASKS: &str = " >/dev/null 2>&1; then exec";
pub(super) const ENDS: &str = "; fi";
/// The option by which a hook is told whose file started it.
pub(crate) const FROM: &str = "--from";

/// A word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+');
    if word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The groups that have the client run rutter.
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

/// Whether a handler runs `rutter hook`, whichever rutter that is.
pub(crate) fn is_ours(handler: &Value) -> bool {
    let Some(command) = handler["command"].as_str().filter(|_| handler["type"] == "command") else {
        return false;
    };
    match handler.get("args") {
        Some(args) => args[0] == "hook" && is_program(command),
        None => is_shell_form(command) || guarded(command).is_some(),
    }
}

/// The program that an entry of ours starts, as far as its text tells.
pub(crate) fn program(handler: &Value) -> Option<&str> {
    let command = handler["command"].as_str().filter(|_| is_ours(handler))?;
    if handler.get("args").is_some() {
        return Some(command);
    }
    guarded(command).or_else(|| Some(words(command)?.0))
}

/// Whether an entry of ours stands in a file that others get as well.
pub(crate) fn is_shared(handler: &Value) -> bool {
    let command = handler["command"].as_str();
    handler.get("args").is_none() && command.is_some_and(|line| guarded(line).is_some())
}

/// The program of a line that asks first. It is ours only as we write it, to the byte: a line that does anything else is
/// somebody's own, and nothing of it may be run or taken out.
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

/// `/x/rutter hook`, its path perhaps in quotes, perhaps with the event behind it. A line that does something else
/// as well is the user's.
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

/// A line of a shell as far as it is plain: the program, its path perhaps in quotes, and the words behind it. Only blanks
/// and tabs part words: the end of a line is the end of a command, and what else looks blank is a part of a word.
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
            // To a shell, that one is the program `/opt/a`.
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
