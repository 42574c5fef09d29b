//! How the client starts the server, and how an entry that does is told from anybody else's.
//!
//! A server that fails is not silent: measured on 2.1.325, the model is told in every session that `rutter` "failed to
//! connect" and that this is no missing capability. So what a team commits is, where there is no rutter, a server of one
//! line that answers and has no tools. Of that, nobody is told anything (measured on 2.1.325 and 2.1.197: nothing about it in
//! the request, nothing on the screen, and the session does not wait for it).

use serde_json::{Value, json};

use super::table::{ASKS, ENDS, GUARD, Start, is_program, quoted, words};

/// What the server is called, by which the client names its tools.
pub(super) const NAME: &str = "rutter";

/// Where the rules are by which the agent may call tools.
pub(super) const RULES: [&str; 2] = ["permissions", "allow"];

/// The rule that lets the agent call all tools of the server. A user may say the same with a star.
pub(super) const RULE: &str = "mcp__rutter";
pub(super) const RULE_FOR_EACH: &str = "mcp__rutter__*";

/// The same for the server of the plugin, whose name has the plugin's in it. No plugin can bring a rule.
pub(crate) const PLUGIN_RULE: &str = "mcp__plugin_rutter_rutter";

/// What the command line calls the server.
const VERB: &str = "mcp";

/// Answers as a server does that has nothing. Every request needs an answer: a client that waits for one holds up the
/// session. It has no `${…}` in it, which the client would take for variables of its own.
const STAND_IN: &str = r#"while read -r m; do printf '%s\n' "$m" | sed -n -e '/"initialize"/s/.*"id":\([^,}]*\).*/{"jsonrpc":"2.0","id":\1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"rutter","version":"0"}}}/p' -e t -e 's/.*"id":\([^,}]*\).*/{"jsonrpc":"2.0","id":\1,"error":{"code":-32601,"message":"there is no rutter here"}}/p'; done"#;

/// The entry that has the client start the server.
pub(crate) fn entry(start: &Start) -> Value {
    match start {
        Start::Path(path) => json!({ "type": "stdio", "command": path, "args": [VERB] }),
        Start::Shared { program, .. } => {
            let program = quoted(program);
            let line = format!("{GUARD}{program}{ASKS} {program} {VERB}{ENDS}; {STAND_IN}");
            json!({ "type": "stdio", "command": "sh", "args": ["-c", line] })
        }
    }
}

/// Whether an entry starts `rutter mcp`, whichever rutter that is.
pub(super) fn is_ours(entry: &Value) -> bool {
    if entry.get("type").is_some_and(|kind| kind != "stdio") {
        return false;
    }
    let Some(command) = entry["command"].as_str() else { return false };
    is_program(command) && entry["args"][0] == VERB
        || command == "sh" && entry["args"][1].as_str().is_some_and(is_guarded)
}

/// What an entry of ours has to become; nothing if it is right. What the user has set beside, variables for example, is
/// theirs.
pub(super) fn mended(there: &Value, wanted: &Value) -> Option<Value> {
    let same = |key: &str| there.get(key) == wanted.get(key);
    if same("command") && same("args") {
        return None;
    }
    let mut value = there.clone();
    for key in ["type", "command", "args"] {
        value[key] = wanted[key].clone();
    }
    Some(value)
}

/// Whether a rule that denies is about all tools of the server.
pub(super) fn denies(rule: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(start) => format!("{RULE}__").starts_with(start),
        None => rule == RULE,
    }
}

/// Whether a line asks for rutter, and starts the server where there is one.
fn is_guarded(line: &str) -> bool {
    let asked = line.trim().strip_prefix(GUARD).and_then(|line| line.split_once(ASKS));
    let started = asked.and_then(|(_, rest)| rest.split_once(ENDS));
    started.and_then(|(line, _)| words(line)).is_some_and(|(program, words)| {
        is_program(program) && words.first().is_some_and(|word| *word == VERB)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Scope;
    use super::*;

    fn shared(program: &str) -> Value {
        entry(&Start::Shared { program: program.to_owned(), scope: Scope::Project })
    }

    #[test]
    fn ours_are_known_wherever_the_program_is() {
        for entry in [
            entry(&Start::Path("/x y/rutter".to_owned())),
            shared("rutter"),
            shared("/opt/our tools/rutter"),
            json!({ "command": "rutter", "args": ["mcp"] }),
            json!({ "type": "stdio", "command": "/a/rutter", "args": ["mcp", "--x"], "env": {} }),
        ] {
            assert!(is_ours(&entry), "{entry}");
        }
        for entry in [
            json!({ "type": "http", "url": "http://localhost", "command": "rutter", "args": ["mcp"] }),
            json!({ "command": "rutter", "args": ["hook"] }),
            json!({ "command": "rutter mcp" }),
            json!({ "command": "npx", "args": ["rutter", "mcp"] }),
            json!({ "command": "sh", "args": ["-c", "rutter mcp"] }),
            json!({ "command": "sh", "args": ["-c", "if command -v rutter >/dev/null 2>&1; then exec mine mcp; fi"] }),
            json!({ "command": "sh" }),
            json!("rutter mcp"),
            json!(null),
        ] {
            assert!(!is_ours(&entry), "{entry}");
        }
    }

    #[test]
    fn what_is_set_beside_stays() {
        let wanted = entry(&Start::Path("/new/rutter".to_owned()));
        assert_eq!(mended(&wanted, &wanted), None);
        let mine = json!({ "args": ["mcp"], "command": "/new/rutter", "env": { "A": "b" } });
        assert_eq!(mended(&mine, &wanted), None);
        let old = json!({ "command": "/old/rutter", "args": ["mcp"], "env": { "A": "b" } });
        let expected = json!({ "command": "/new/rutter", "args": ["mcp"], "env": { "A": "b" }, "type": "stdio" });
        assert_eq!(mended(&old, &wanted), Some(expected));
    }

    #[test]
    fn rules_that_deny_all_of_it_are_understood() {
        for rule in ["mcp__rutter", "mcp__rutter__*", "mcp__rut*", "mcp__*", "*"] {
            assert!(denies(rule), "{rule}");
        }
        for rule in ["mcp__rutter__status", "mcp__rutter__s*", "mcp__other", "Bash", "Bash(*)", ""]
        {
            assert!(!denies(rule), "{rule}");
        }
    }
}
