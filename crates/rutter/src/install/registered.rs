//! Determines if a client that was started here has rutter's server, so that hooks mention tools only if they are
//! available.
//!
//! Hooks call this, so it must be cheap. The client's own file may hold megabytes of other data and is not parsed. The
//! client writes it in one layout: two spaces per level, and no newlines inside strings. So a few text searches find
//! the relevant entry, and only that is parsed: 50 µs for a file of 20 kB, 0.2 ms for 200 kB. The result is unknown if
//! the layout differs.

use std::path::Path;

use rutter_check::settings::{client_storage_folder, project_servers_file, read_regular_file};
use serde_json::Value;

use super::precedence::find_deny_rule;
use super::server::{self, SERVER_NAME};

/// Largest file that is searched. A hook has no time for a longer one.
const MAX_CLIENT_FILE_BYTES: u64 = 512 * 1024;

/// Returns true if sessions in this folder have the tools, or None if that cannot be determined.
///
/// `client` is the client's folder with the user's settings, `file` its file with the user's servers.
pub(crate) fn is_registered(folder: &Path, client: Option<&Path>, file: &Path) -> Option<bool> {
    let bytes = read_regular_file(file, MAX_CLIENT_FILE_BYTES).ok()?;
    let text = str::from_utf8(&bytes).ok()?;
    let registered = is_registered_in_text(text, client_storage_folder(folder).to_str()?, || {
        has_project_server(folder)
    })?;
    // If all tools are denied, the server has no effect.
    Some(registered && find_deny_rule(folder, client).is_none())
}

/// Determines the same from the text of the client's file. `is_shared` returns true if the project defines a server
/// with our name, which counts only after the user has approved it.
fn is_registered_in_text(
    text: &str,
    folder: &str,
    is_shared: impl FnOnce() -> bool,
) -> Option<bool> {
    // In another layout, the searches would miss existing entries.
    if !text.starts_with("{\n  \"") || !text.trim_end().ends_with("\n}") {
        return None;
    }
    // At this depth, only the entries of `projects` have paths as keys.
    if let Some(project) = object_text(text, 2, folder) {
        if is_disabled(project) {
            return Some(false);
        }
        if let Some(entry) =
            object_text(project, 3, "mcpServers").and_then(|all| object_text(all, 4, SERVER_NAME))
        {
            return is_rutter_entry(entry);
        }
    }
    if is_shared() {
        return None;
    }
    match object_text(text, 1, "mcpServers").and_then(|all| object_text(all, 2, SERVER_NAME)) {
        Some(entry) => is_rutter_entry(entry),
        None => Some(false),
    }
}

/// Returns the text between the opening and the closing line of an object with this key at this depth.
fn object_text<'a>(text: &'a str, depth: usize, key: &str) -> Option<&'a str> {
    let indent = "  ".repeat(depth);
    let key = Value::from(key);
    let (_, behind) = text.split_once(&format!("\n{indent}{key}: {{\n"))?;
    // The block starts with its newline, so that a further search also finds a key on its first line.
    let start = text.len() - behind.len() - 1;
    let end = text[start..].find(&format!("\n{indent}}}"))?;
    text.get(start..start + end)
}

/// Returns true if the user has disabled the server in a folder.
fn is_disabled(project: &str) -> bool {
    let list = project.split_once("\n      \"disabledMcpServers\": [\n");
    let list = list.and_then(|(_, behind)| behind.split_once("\n      ]"));
    list.is_some_and(|(list, _)| list.contains("\"rutter\""))
}

/// Returns true if an entry starts our server, or connects to one.
fn is_rutter_entry(members: &str) -> Option<bool> {
    let entry: Value = serde_json::from_str(&format!("{{{members}}}")).ok()?;
    Some(server::is_our_server(&entry) || server::is_http_server(&entry))
}

/// Returns true if a project defines a server with our name.
fn has_project_server(folder: &Path) -> bool {
    folder.ancestors().any(|folder| {
        let servers = read_regular_file(&project_servers_file(folder), MAX_CLIENT_FILE_BYTES);
        servers.is_ok_and(|bytes| bytes.windows(8).any(|word| word == b"\"rutter\""))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn our_entry() -> Value {
        json!({ "type": "stdio", "command": "/x/rutter", "args": ["mcp"], "env": {} })
    }

    fn lookup(state: &Value, shared: bool) -> Option<bool> {
        is_registered_in_text(&format!("{state:#}\n"), "/home/ada/ship \"1\"", || shared)
    }

    #[test]
    fn finds_effective_registration() {
        let local = |entry: Value| {
            json!({
                "numStartups": 3,
                "projects": {
                    "/home/ada": { "mcpServers": { "rutter": our_entry() } },
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
        assert_eq!(lookup(&local(our_entry()), true), Some(true));
        assert_eq!(lookup(&local(http.clone()), false), Some(true));
        // A local server takes precedence over the user's.
        let mut both = local(foreign.clone());
        both["mcpServers"] = json!({ "rutter": our_entry() });
        assert_eq!(lookup(&both, false), Some(false));
        assert_eq!(lookup(&local(json!(7)), false), Some(false));

        let mut off = local(our_entry());
        off["projects"]["/home/ada/ship \"1\""]["disabledMcpServers"] = json!(["a", "rutter"]);
        assert_eq!(lookup(&off, false), Some(false));
        off["projects"]["/home/ada/ship \"1\""]["disabledMcpServers"] = json!(["a"]);
        assert_eq!(lookup(&off, false), Some(true));

        let user =
            |entry: Value| json!({ "a": 1, "mcpServers": { "rutter": entry }, "projects": {} });
        for (entry, expected) in [(our_entry(), true), (http, true), (foreign, false)] {
            assert_eq!(lookup(&user(entry.clone()), false), Some(expected));
            // The project's server takes precedence, and its approval is unknown here.
            assert_eq!(lookup(&user(entry), true), None);
        }
        // A server of another folder does not count.
        let other =
            json!({ "projects": { "/home/ada": { "mcpServers": { "rutter": our_entry() } } } });
        assert_eq!(lookup(&other, false), Some(false));
        let emptied = json!({ "mcpServers": {}, "projects": { "/home/ada/ship \"1\"": { "mcpServers": {} } } });
        assert_eq!(lookup(&emptied, false), Some(false));
    }

    #[test]
    fn other_layout_is_unknown() {
        let state = json!({ "mcpServers": { "rutter": our_entry() } });
        for text in [state.to_string(), format!("{state:#}").replace("  ", "\t"), String::new()] {
            assert_eq!(is_registered_in_text(&text, "/x", || false), None, "{text}");
        }
        // A truncated file, as it is while the client writes it.
        let text = format!("{state:#}");
        for cut in 1..text.len() {
            let found = is_registered_in_text(&text[..cut], "/x", || false);
            assert!(found.is_none(), "{found:?}: {}", &text[..cut]);
        }
    }
}
