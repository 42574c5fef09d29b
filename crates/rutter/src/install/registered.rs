//! Whether a client that was started here has rutter's server, so that a hook speaks of tools only where there are some.
//!
//! A hook asks this, so it has to be cheap: the client's own file may have megabytes of other things in it, and is not parsed.
//! The client writes it in one layout, two blanks for each depth, and no string has a line end in it. So a few searches
//! find the one entry that counts, and only that is read: 50 µs for a file of 20 kB, 0.2 ms for 200 kB. Whatever is not as expected is not known, and then no claim is made.

use std::path::Path;

use serde_json::Value;

use super::checkout::checkout;
use super::nearer::{denied, read_up_to};
use super::server::{self, NAME};

/// A longer file is not looked at: a hook has no time for it.
const LONGEST: u64 = 512 * 1024;

/// Whether sessions in this folder have the tools; nothing where that cannot be told.
///
/// `client` is where the client keeps the user's settings, `file` where it keeps the user's servers.
pub(crate) fn is_registered(folder: &Path, client: Option<&Path>, file: &Path) -> Option<bool> {
    let bytes = read_up_to(file, LONGEST)?;
    let text = str::from_utf8(&bytes).ok()?;
    let registered = in_text(text, checkout(folder).to_str()?, || is_shared(folder))?;
    // A server whose tools are all denied is as good as none.
    Some(registered && denied(folder, client).is_none())
}

/// The same by the text of the client's file. `is_shared` is whether the project brings a server of that name, which counts once
/// somebody has said yes to it.
fn in_text(text: &str, folder: &str, is_shared: impl FnOnce() -> bool) -> Option<bool> {
    // In another layout nothing would be found that is there.
    if !text.starts_with("{\n  \"") || !text.trim_end().ends_with("\n}") {
        return None;
    }
    // Nothing else has a path for its name so deep.
    if let Some(project) = block(text, 2, folder) {
        if is_switched_off(project) {
            return Some(false);
        }
        if let Some(entry) = block(project, 3, "mcpServers").and_then(|all| block(all, 4, NAME)) {
            return is_rutters(entry);
        }
    }
    if is_shared() {
        return None;
    }
    match block(text, 1, "mcpServers").and_then(|all| block(all, 2, NAME)) {
        Some(entry) => is_rutters(entry),
        None => Some(false),
    }
}

/// What stands between the lines that open and close an object of this name, so deep in the text.
fn block<'a>(text: &'a str, depth: usize, key: &str) -> Option<&'a str> {
    let indent = "  ".repeat(depth);
    let key = Value::from(key);
    let (_, behind) = text.split_once(&format!("\n{indent}{key}: {{\n"))?;
    // From the line end on, so that the first line of the block can be found in it.
    let start = text.len() - behind.len() - 1;
    let end = text[start..].find(&format!("\n{indent}}}"))?;
    text.get(start..start + end)
}

/// Whether the user has switched the server off in a folder.
fn is_switched_off(project: &str) -> bool {
    let list = project.split_once("\n      \"disabledMcpServers\": [\n");
    let list = list.and_then(|(_, behind)| behind.split_once("\n      ]"));
    list.is_some_and(|(list, _)| list.contains("\"rutter\""))
}

/// Whether an entry starts our server, or leads to one.
fn is_rutters(members: &str) -> Option<bool> {
    let entry: Value = serde_json::from_str(&format!("{{{members}}}")).ok()?;
    Some(server::is_ours(&entry) || server::is_over_http(&entry))
}

/// Whether a project brings a server of our name.
fn is_shared(folder: &Path) -> bool {
    folder.ancestors().any(|folder| {
        let servers = read_up_to(&folder.join(".mcp.json"), LONGEST);
        servers.is_some_and(|bytes| bytes.windows(8).any(|word| word == b"\"rutter\""))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours() -> Value {
        json!({ "type": "stdio", "command": "/x/rutter", "args": ["mcp"], "env": {} })
    }

    fn told(state: &Value, shared: bool) -> Option<bool> {
        in_text(&format!("{state:#}\n"), "/home/ada/ship \"1\"", || shared)
    }

    #[test]
    fn what_is_registered_is_found_where_it_counts() {
        let local = |entry: Value| {
            json!({
                "numStartups": 3,
                "projects": {
                    "/home/ada": { "mcpServers": { "rutter": ours() } },
                    "/home/ada/ship \"1\"": {
                        "allowedTools": [], "mcpServers": { "a": { "command": "rutter" }, "rutter": entry }, "x": {},
                    },
                    "/home/ada/ship": { "mcpServers": {} },
                },
                "tips": { "rutter": {} },
            })
        };
        let http = json!({ "type": "http", "url": "http://127.0.0.1:7888/mcp" });
        let foreign = json!({ "command": "npx", "args": ["rutter"] });
        assert_eq!(told(&local(ours()), true), Some(true));
        assert_eq!(told(&local(http.clone()), false), Some(true));
        // It goes before one of the user's.
        let mut both = local(foreign.clone());
        both["mcpServers"] = json!({ "rutter": ours() });
        assert_eq!(told(&both, false), Some(false));
        assert_eq!(told(&local(json!(7)), false), Some(false));

        let mut off = local(ours());
        off["projects"]["/home/ada/ship \"1\""]["disabledMcpServers"] = json!(["a", "rutter"]);
        assert_eq!(told(&off, false), Some(false));
        off["projects"]["/home/ada/ship \"1\""]["disabledMcpServers"] = json!(["a"]);
        assert_eq!(told(&off, false), Some(true));

        let user =
            |entry: Value| json!({ "a": 1, "mcpServers": { "rutter": entry }, "projects": {} });
        for (entry, expected) in [(ours(), true), (http, true), (foreign, false)] {
            assert_eq!(told(&user(entry.clone()), false), Some(expected));
            // What a team brings goes before it, and nobody here knows whether it was said yes to.
            assert_eq!(told(&user(entry), true), None);
        }
        // Another folder's is not this one's.
        let other = json!({ "projects": { "/home/ada": { "mcpServers": { "rutter": ours() } } } });
        assert_eq!(told(&other, false), Some(false));
        let emptied = json!({ "mcpServers": {}, "projects": { "/home/ada/ship \"1\"": { "mcpServers": {} } } });
        assert_eq!(told(&emptied, false), Some(false));
    }

    #[test]
    fn of_another_layout_nothing_is_said() {
        let state = json!({ "mcpServers": { "rutter": ours() } });
        for text in [state.to_string(), format!("{state:#}").replace("  ", "\t"), String::new()] {
            assert_eq!(in_text(&text, "/x", || false), None, "{text}");
        }
        // Half of a file, from a client that is about to write it.
        let text = format!("{state:#}");
        for cut in 1..text.len() {
            let told = in_text(&text[..cut], "/x", || false);
            assert!(told.is_none(), "{told:?}: {}", &text[..cut]);
        }
    }
}
