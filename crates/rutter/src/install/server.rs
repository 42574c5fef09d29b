//! The registration entry of rutter's MCP server, and the tests that recognize it.
//!
//! A server that fails is not silent: measured on 2.1.325, the model reads in every session that `rutter` "failed to
//! connect" and that this does not mean a missing capability. So the committed entry of a team falls back to a one-line
//! server that answers and has no tools if rutter is not installed. That server causes no message (measured on 2.1.325
//! and 2.1.197: nothing in the request, nothing on the screen, and the session does not wait for it).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use rutter_check::settings::{name_in_tools, project_servers_file};
use rutter_server::tools::TOOLS;
use serde_json::{Value, json};

use super::InstallScope;
use super::table::{
    GUARD_END, GUARD_START, GUARD_THEN, ProgramReference, is_rutter_path, quote_shell_word,
};

/// Name of the server. The client uses it in the names of the tools.
pub(crate) const SERVER_NAME: &str = "rutter";

/// Settings path of the rules that allow tool calls.
pub(super) const ALLOW_RULES_PATH: [&str; 2] = ["permissions", "allow"];

/// The rule that allows all tools of the server, `forget` included. Older versions of `init` wrote it.
pub(crate) const SERVER_RULE: &str = "mcp__rutter";
pub(super) const SERVER_WILDCARD_RULE: &str = "mcp__rutter__*";

/// Returns the rules for the tools that stay inside the agent's project and remove nothing. `server` is the rule for
/// the whole server. A rule cannot restrict arguments, so the client asks for every tool that may do more.
pub(crate) fn tool_rules(server: &str) -> impl Iterator<Item = String> {
    let tools = TOOLS.iter().filter(|tool| tool.effect.stays_inside());
    tools.map(move |tool| format!("{server}__{}", tool.name))
}

/// Returns the names of the tools that [`tool_rules`] leaves out.
pub(crate) fn tools_without_rule() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().filter(|tool| !tool.effect.stays_inside()).map(|tool| tool.name)
}

/// The rule that allows all tools of the plugin's server, which has the plugin's name in its name. A plugin cannot
/// contain rules.
pub(crate) const PLUGIN_SERVER_RULE: &str = "mcp__plugin_rutter_rutter";

/// Subcommand that starts the server.
const SERVER_SUBCOMMAND: &str = "mcp";

/// Shell loop that answers as a server without tools. Every request needs an answer, because a waiting client delays
/// the session. It contains no `${…}`, which the client would expand as its own variables.
const STAND_IN_SERVER_LOOP: &str = r#"while read -r m; do printf '%s\n' "$m" | sed -n -e '/"initialize"/s/.*"id":\([^,}]*\).*/{"jsonrpc":"2.0","id":\1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"rutter","version":"0"}}}/p' -e t -e 's/.*"id":\([^,}]*\).*/{"jsonrpc":"2.0","id":\1,"error":{"code":-32601,"message":"there is no rutter here"}}/p'; done"#;

/// Returns the entry that makes the client start the server.
pub(crate) fn build_server_entry(start: &ProgramReference) -> Value {
    match start {
        ProgramReference::Path(path) => {
            json!({ "type": "stdio", "command": path, "args": [SERVER_SUBCOMMAND] })
        }
        ProgramReference::Shared { program, .. } => {
            json!({ "type": "stdio", "command": "sh", "args": ["-c", guarded_server_line(program)] })
        }
    }
}

/// Returns the shell line that starts the program if it exists, and otherwise the stand-in.
fn guarded_server_line(program: &str) -> String {
    let program = quote_shell_word(program);
    format!(
        "{GUARD_START}{program}{GUARD_THEN} {program} {SERVER_SUBCOMMAND}{GUARD_END}; {STAND_IN_SERVER_LOOP}"
    )
}

/// Returns true if an entry starts `rutter mcp` with any rutter program.
pub(crate) fn is_our_server(entry: &Value) -> bool {
    if entry.get("type").is_some_and(|kind| kind != "stdio") {
        return false;
    }
    let Some(command) = entry["command"].as_str() else { return false };
    is_rutter_path(command) && entry["args"][0] == SERVER_SUBCOMMAND
        || command == "sh" && entry["args"][1].as_str().is_some_and(is_guarded_server_line)
}

/// Returns true if an entry connects to an HTTP server on this machine, in the form that `rutter mcp --http` tells
/// users to register. Such an entry is never changed: the user has written it, and it contains the token.
pub(crate) fn is_http_server(entry: &Value) -> bool {
    let Some(url) = entry["url"].as_str().filter(|_| entry["type"] == "http") else { return false };
    let place =
        url.strip_prefix("http://").and_then(|url| url.strip_suffix(rutter_server::http::PATH));
    place.is_some_and(|place| {
        // The whole authority is checked: a user name and password before the host would look like a host and a port.
        let host = match place.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() => host,
            _ => place,
        };
        let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        host == "localhost"
            || host.parse::<Ipv4Addr>().is_ok_and(|host| host.is_loopback())
            || address.is_some_and(|host| host.parse() == Ok(Ipv6Addr::LOCALHOST))
    })
}

/// Returns the corrected form of an entry of ours, or None if it is correct. Keeps other fields of the user, such as
/// variables.
pub(super) fn corrected_entry(there: &Value, wanted: &Value) -> Option<Value> {
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

/// Returns the program that an entry of ours starts, as written in the entry.
pub(crate) fn server_program(entry: &Value) -> Option<&str> {
    let command = entry["command"].as_str().filter(|_| is_our_server(entry))?;
    if is_rutter_path(command) {
        return Some(command);
    }
    tested_program(entry["args"][1].as_str()?)
}

/// Returns true if an entry of ours is the one that `init` writes, apart from variables of the user.
pub(crate) fn is_correct_entry(there: &Value) -> bool {
    let Some(program) = server_program(there) else { return false };
    let start = if there["command"] == "sh" {
        ProgramReference::Shared { program: program.to_owned(), scope: InstallScope::Project }
    } else {
        ProgramReference::Path(program.to_owned())
    };
    corrected_entry(there, &build_server_entry(&start)).is_none()
}

/// Returns true if an entry starts rutter with any arguments.
pub(crate) fn starts_rutter(entry: &Value) -> bool {
    entry["command"].as_str().is_some_and(is_rutter_path)
}

/// Maximum length of a `.mcp.json` that is read. A longer one counts as foreign.
const MAX_SERVERS_FILE_BYTES: u64 = 256 * 1024;

/// Finds a `.mcp.json` in the folder or a parent that defines a server with this name and does not start the running
/// program. The client reads all of these files, and prefers their servers to those of the user.
pub(crate) fn find_foreign_server(folder: &Path, name: &str) -> Option<PathBuf> {
    // Both the given and the canonical path are searched, because the folder may be a link.
    let real = folder.canonicalize().unwrap_or_default();
    let folders = folder.ancestors().chain(real.ancestors());
    folders.map(project_servers_file).find(|path| {
        let Ok(metadata) = path.metadata() else { return path.is_symlink() };
        if !metadata.is_file() || metadata.len() > MAX_SERVERS_FILE_BYTES {
            return true;
        }
        // A file that cannot be opened here cannot be opened by the client. Invalid JSON here may be valid for the
        // client.
        let Ok(text) = std::fs::read(path) else { return false };
        let Ok(file) = serde_json::from_slice::<Value>(&text) else { return true };
        let servers = file["mcpServers"].as_object().into_iter().flatten();
        servers
            .filter(|(key, _)| name_in_tools(key) == name)
            .any(|(key, entry)| key != SERVER_NAME || !starts_this_program(entry))
    })
}

/// Returns true if an entry starts the program that a shell finds as `rutter`, as `init --project` writes it, or this
/// program. A path inside the project would be the project's own program.
fn starts_this_program(there: &Value) -> bool {
    let shared =
        ProgramReference::Shared { program: SERVER_NAME.to_owned(), scope: InstallScope::Project };
    let Some(program) = server_program(there).filter(|_| there.get("env").is_none()) else {
        return false;
    };
    if *there == build_server_entry(&shared)
        || (program == SERVER_NAME && there["args"] == json!([SERVER_SUBCOMMAND]))
    {
        return true;
    }
    let own = crate::environment::current_program();
    is_correct_entry(there)
        && Path::new(program).is_absolute()
        && own.is_some_and(|own| Path::new(program).canonicalize().is_ok_and(|path| path == own))
}

/// Returns true if a shell line tests for rutter and starts the server. Only the exact line that `init` writes counts.
fn is_guarded_server_line(line: &str) -> bool {
    tested_program(line)
        .is_some_and(|program| is_rutter_path(program) && line == guarded_server_line(program))
}

/// Returns the program that a shell line tests for.
fn tested_program(line: &str) -> Option<&str> {
    let (word, _) = line.strip_prefix(GUARD_START)?.split_once(GUARD_THEN)?;
    Some(word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')).unwrap_or(word))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn shared_entry(program: &str) -> Value {
        build_server_entry(&ProgramReference::Shared {
            program: program.to_owned(),
            scope: InstallScope::Project,
        })
    }

    #[test]
    fn recognizes_our_servers() {
        for entry in [
            build_server_entry(&ProgramReference::Path("/x y/rutter".to_owned())),
            shared_entry("rutter"),
            shared_entry("/opt/our tools/rutter"),
            json!({ "command": "rutter", "args": ["mcp"] }),
            json!({ "type": "stdio", "command": "/a/rutter", "args": ["mcp", "--x"], "env": {} }),
        ] {
            assert!(is_our_server(&entry), "{entry}");
        }
        for entry in [
            json!({ "type": "http", "url": "http://localhost", "command": "rutter", "args": ["mcp"] }),
            json!({ "command": "rutter", "args": ["hook"] }),
            json!({ "command": "rutter mcp" }),
            json!({ "command": "npx", "args": ["rutter", "mcp"] }),
            json!({ "command": "sh", "args": ["-c", "rutter mcp"] }),
            json!({ "command": "sh", "args": ["-c", "if command -v rutter >/dev/null 2>&1; then exec mine mcp; fi"] }),
            json!({ "command": "sh", "args": ["-c", "if command -v rutter >/dev/null 2>&1; then exec rutter mcp; fi; rm -r x"] }),
            json!({ "command": "sh" }),
            json!("rutter mcp"),
            json!(null),
        ] {
            assert!(!is_our_server(&entry), "{entry}");
        }
    }

    #[test]
    fn http_server_must_be_local() {
        for url in [
            "http://127.0.0.1:7888/mcp",
            "http://127.0.0.2:1/mcp",
            "http://localhost:7888/mcp",
            "http://localhost/mcp",
            "http://[::1]:7888/mcp",
            "http://[::1]/mcp",
        ] {
            let entry = json!({ "type": "http", "url": url, "headers": { "Authorization": "x" } });
            assert!(is_http_server(&entry) && !is_our_server(&entry), "{url}");
            assert!(!is_http_server(&json!({ "type": "sse", "url": url })), "{url}");
            assert!(!is_http_server(&json!({ "url": url })), "{url}");
        }
        for url in [
            "http://localhost:7888@example.com/mcp",
            "http://localhost:7888:x@example.com:80/mcp",
            "http://localhost.example.com/mcp",
            "http://10.0.0.1:7888/mcp",
            "http://[::1]x/mcp",
            "https://localhost:7888/mcp",
            "http://localhost:7888/mcp/",
            "http://localhost:7888/",
            "http:///mcp",
            "/mcp",
            "",
        ] {
            assert!(!is_http_server(&json!({ "type": "http", "url": url })), "{url}");
        }
    }

    #[test]
    fn finds_foreign_project_servers() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("deep/inside");
        std::fs::create_dir_all(&inside).unwrap();
        let file = folder.path().join(".mcp.json");
        let is_foreign = |text: &str| {
            std::fs::File::create(&file)
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .unwrap();
            find_foreign_server(&inside, SERVER_NAME).is_some()
        };
        assert_eq!(find_foreign_server(&inside, SERVER_NAME), None);
        let of = |entry: &Value| json!({ "mcpServers": { "rutter": entry } }).to_string();
        for entry in [
            json!({ "command": "/x/rutter", "args": ["mcp"] }),
            json!({ "command": "rutter", "args": ["mcp", "--http"] }),
            json!({ "type": "http", "url": "http://localhost:1/mcp" }),
            shared_entry("./rutter"),
            json!({ "type": "stdio", "command": "sh", "args": shared_entry("rutter")["args"], "env": { "PATH": "." } }),
        ] {
            assert!(is_foreign(&of(&entry)), "{entry}");
        }
        assert!(is_foreign("\u{feff}{\"mcpServers\": {}}"), "the client may read it");
        assert!(is_foreign(&format!("{{\"x\": \"{}\"}}", "x".repeat(300_000))), "it is too long");
        assert!(is_foreign("{\"mcpServers\": {\"\\u0072utter\": {\"command\": \"x\"}}}"));
        assert!(!is_foreign(&of(&shared_entry("rutter"))));
        assert!(!is_foreign(&of(&json!({ "command": "rutter", "args": ["mcp"] }))));
        assert!(!is_foreign("{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}"));
        let plugin = json!({ "mcpServers": { "plugin.rutter.rutter": shared_entry("rutter") } });
        std::fs::File::create(&file)
            .and_then(|mut file| file.write_all(plugin.to_string().as_bytes()))
            .unwrap();
        assert!(find_foreign_server(&inside, "plugin_rutter_rutter").is_some());
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", &file).unwrap();
        assert!(
            find_foreign_server(&inside, SERVER_NAME).is_some(),
            "it may lead somewhere for the client"
        );
    }

    #[test]
    fn correction_keeps_other_fields() {
        let wanted = build_server_entry(&ProgramReference::Path("/new/rutter".to_owned()));
        assert_eq!(corrected_entry(&wanted, &wanted), None);
        let mine = json!({ "args": ["mcp"], "command": "/new/rutter", "env": { "A": "b" } });
        assert_eq!(corrected_entry(&mine, &wanted), None);
        let old = json!({ "command": "/old/rutter", "args": ["mcp"], "env": { "A": "b" } });
        let expected = json!({ "command": "/new/rutter", "args": ["mcp"], "env": { "A": "b" }, "type": "stdio" });
        assert_eq!(corrected_entry(&old, &wanted), Some(expected));
    }
}
