//! Which hooks run rutter, and how an entry that does is told from anybody else's.

use std::path::Path;

use rutter_contract::EventName;
use serde_json::{Value, json};

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
pub(crate) struct Group {
    pub(crate) event: EventName,
    pub(crate) value: Value,
}

/// The groups that have the client run this program: exec form, so no shell reads its path.
pub(crate) fn groups(command: &str) -> Vec<Group> {
    let handler =
        json!({ "type": "command", "command": command, "args": ["hook"], "timeout": TIMEOUT });
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
        None => is_shell_form(command),
    }
}

fn is_program(path: &str) -> bool {
    Path::new(path).file_name().is_some_and(|name| name == PROGRAM)
}

/// `/x/rutter hook`, its path perhaps in quotes, perhaps with the event behind it. A line that does something else
/// as well is the user's.
fn is_shell_form(line: &str) -> bool {
    let line = line.trim();
    let quote = line.chars().next().filter(|first| matches!(first, '"' | '\''));
    let parts = match quote {
        Some(quote) => line[1..].split_once(quote),
        None => line.split_once(char::is_whitespace),
    };
    let Some((program, rest)) = parts else { return false };
    let words: Vec<&str> = rest.split_whitespace().collect();
    let ours = match words[..] {
        ["hook"] => true,
        ["hook", event] => event.chars().all(char::is_alphanumeric),
        _ => false,
    };
    ours && is_program(program)
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
            json!({ "type": "command", "command": "sh -c 'rutter hook'" }),
            json!({ "type": "command", "command": "\"rutter hook" }),
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
