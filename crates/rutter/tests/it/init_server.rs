//! The server entry in `.mcp.json` and `~/.claude.json`: `init` adds it, `uninstall` removes it, and the rest stays.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use rutter_testkit::{CommandOutput, skip_test};
use serde_json::{Value, json};

use crate::support::{TestHome, assert_output, contains_text, read_all_bytes};

/// Server files of users, named by their peculiarity.
const SERVER_FILE_SHAPES: [(&str, Option<&str>); 10] = [
    ("none", None),
    ("empty", Some("")),
    ("nothing in it", Some("{}\n")),
    ("no servers", Some("{\n  \"mcpServers\": {}\n}")),
    ("minified", Some(r#"{"mcpServers":{"a":{"type":"http","url":"https://a"}},"x":1}"#)),
    (
        "tabs",
        Some("{\n\t\"mcpServers\": {\n\t\t\"a\": {\n\t\t\t\"command\": \"a\"\n\t\t}\n\t}\n}\n"),
    ),
    ("carriage returns", Some("{\r\n  \"numStartups\": 3\r\n}\r\n")),
    ("one line", Some("{ \"mcpServers\": { \"a\": { \"command\": \"a\", \"args\": [ ] } } }")),
    ("unicode", Some("{ \"tip\": \"größe → 日本 \\u00e9 \\ud83d\" }")),
    ("a byte order mark", Some("\u{feff}{\n  \"a\": 1\n}\n")),
];

/// The option of each scope, and its file.
pub(crate) const SCOPES: [(&str, &str); 3] = [
    ("--local", "user/.claude.json"),
    ("--user", "user/.claude.json"),
    ("--project", "ship/.mcp.json"),
];

/// Runs `init` in a scope.
pub(crate) fn init_scope(home: &TestHome, scope: &str, more: &[&str]) -> CommandOutput {
    let program = home.program("bin");
    let args: &[&str] = if scope == "--project" { &[] } else { &["--bin", &program] };
    let mut command = home.command(&[&["init", scope], args, more].concat());
    let search = format!("{}:/usr/bin:/bin", home.path("bin").display());
    CommandOutput::run(command.env("PATH", search).stdin(Stdio::null()))
}

/// Returns the server entry of a scope.
pub(crate) fn server_entry(home: &TestHome, scope: &str) -> Value {
    let (_, file) = SCOPES.iter().find(|(name, _)| *name == scope).unwrap();
    let value = read_json(&home.path(file));
    let folder = home.path("ship").canonicalize().unwrap();
    let servers = match scope {
        "--local" => &value["projects"][folder.to_str().unwrap()]["mcpServers"],
        _ => &value["mcpServers"],
    };
    servers["rutter"].clone()
}

/// Reads a file like the client: skips a byte order mark and replaces a lone surrogate.
fn read_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_default();
    let text = text.trim_start_matches('\u{feff}').replace("\\ud83d", "\u{fffd}");
    if text.is_empty() { json!({}) } else { serde_json::from_str(&text).unwrap() }
}

#[test]
fn scopes_restore_server_files_exactly() {
    for (scope, file) in SCOPES {
        for (shape, text) in SERVER_FILE_SHAPES {
            let home = TestHome::new();
            let path = home.path(file);
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            }
            drop(init_scope(&home, scope, &["--dry-run"]).assert_success());
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "{scope}, {shape}");
            drop(init_scope(&home, scope, &[]).assert_success());
            let entry = server_entry(&home, scope);
            if scope == "--project" {
                assert_eq!(entry["command"], "sh", "{scope}, {shape}");
                let text = fs::read_to_string(&path).unwrap();
                assert!(!text.contains(home.path("").to_str().unwrap()), "of this machine: {text}");
            } else {
                let expected =
                    json!({ "type": "stdio", "command": home.path("bin/rutter"), "args": ["mcp"] });
                assert_eq!(entry, expected, "{scope}, {shape}");
            }
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, if text.is_some() { 0o640 } else { 0o600 }, "{scope}, {shape}");
            let installed = fs::read(&path).unwrap();
            let again = init_scope(&home, scope, &[]).assert_success();
            assert!(again.stdout.contains("nothing to do"), "{scope}, {shape}: {again}");
            drop(home.rutter(&["uninstall", scope, "--dry-run"]).assert_success());
            assert_eq!(fs::read(&path).unwrap(), installed, "{scope}, {shape}");
            drop(home.rutter(&["uninstall", scope]).assert_success());
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), text, "{scope}, {shape}");
            assert!(!home.path("user/.claude.json.lock").exists());
        }
    }
}

#[test]
fn client_changes_stay() {
    for scope in ["--local", "--user"] {
        for (shape, text) in SERVER_FILE_SHAPES {
            let home = TestHome::new();
            let path = home.path("user/.claude.json");
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            let mut expected: Value = read_json(&path);
            drop(init_scope(&home, scope, &[]).assert_success());
            // The client reads the file, changes it and writes it in its layout.
            let mut written: Value = read_json(&path);
            for value in [&mut written, &mut expected] {
                value["numStartups"] = json!(4);
                value["projects"]["/elsewhere"] = json!({ "mcpServers": {} });
            }
            fs::write(&path, format!("{written:#}")).unwrap();
            assert!(
                init_scope(&home, scope, &[]).assert_success().stdout.contains("nothing to do")
            );
            drop(home.rutter(&["uninstall", scope]).assert_success());
            assert_eq!(read_json(&path), expected, "{scope}, {shape}");
        }
    }
}

#[test]
fn uninstall_keeps_empty_server_maps() {
    let home = TestHome::new();
    let path = home.path("user/.claude.json");
    let folder = home.path("ship").canonicalize().unwrap();
    let own = json!({ "projects": { folder.to_str().unwrap(): { "mcpServers": {} } } });
    fs::write(&path, own.to_string()).unwrap();
    drop(init_scope(&home, "--local", &[]).assert_success());
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "\n").unwrap();
    drop(home.rutter(&["uninstall"]).assert_success());
    assert_eq!(fs::read_to_string(&path).unwrap(), own.to_string() + "\n");

    // Without its undo record, `uninstall` keeps an empty `mcpServers`: the client complains about a file without it.
    drop(init_scope(&home, "--project", &[]).assert_success());
    fs::remove_dir_all(home.memory().join("backups")).unwrap();
    drop(home.rutter(&["uninstall", "--project"]).assert_success());
    let left: Value =
        serde_json::from_slice(&fs::read(home.path("ship/.mcp.json")).unwrap()).unwrap();
    assert_eq!(left, json!({ "mcpServers": {} }));
}

#[test]
fn client_state_moved_or_linked() {
    let home = TestHome::new();
    let program = home.program("bin");
    let run = |args: &[&str], folder: &Path| {
        let mut command = home.command(args);
        CommandOutput::run(command.env("CLAUDE_CONFIG_DIR", folder).stdin(Stdio::null()))
            .assert_success()
    };
    let deep = home.path("else/where");
    drop(run(&["init", "--user", "--bin", &program], &deep));
    assert!(deep.join(".claude.json").is_file());
    assert!(!home.path("user/.claude.json").exists());
    drop(run(&["uninstall", "--user"], &deep));
    assert!(!home.path("else").exists());
    // A file with the older name takes precedence.
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join(".config.json"), "{}").unwrap();
    drop(run(&["init", "--user", "--bin", &program], &deep));
    assert!(fs::read_to_string(deep.join(".config.json")).unwrap().contains("mcpServers"));
    assert!(!deep.join(".claude.json").exists());
    drop(run(&["uninstall", "--user"], &deep));
    assert_eq!(fs::read_to_string(deep.join(".config.json")).unwrap(), "{}");

    fs::create_dir(home.path("dotfiles")).unwrap();
    let real = home.path("dotfiles/claude.json");
    fs::write(&real, "{\n}\n").unwrap();
    let link = home.path("user/.claude.json");
    symlink("../dotfiles/claude.json", &link).unwrap();
    drop(init_scope(&home, "--user", &[]).assert_success());
    assert!(link.is_symlink() && fs::read_to_string(&real).unwrap().contains("mcpServers"));
    drop(home.rutter(&["uninstall", "--user"]).assert_success());
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\n}\n");
}

#[test]
fn unreadable_server_file_is_refused() {
    for (scope, file) in SCOPES {
        for (text, complaint) in [
            ("{\n  // mine\n}\n", ":2:3: this is not JSON"),
            ("[]", ":1:1: this has to be an object"),
            ("{\"mcpServers\": [],\n\"projects\": []}", " has to be an object"),
        ] {
            let home = TestHome::new();
            let path = home.path(file);
            fs::write(&path, text).unwrap();
            let ran = init_scope(&home, scope, &[]);
            assert_eq!(ran.exit, Some(1), "{scope}, {text}: {ran}");
            let place = format!("error: {}:", path.display());
            assert!(ran.stderr.starts_with(&place) && ran.stderr.contains(complaint), "{ran}");
            assert!(ran.stderr.ends_with("Mend it and run `rutter init` again\n"), "{ran}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert!(!home.path("ship/.claude").exists() && !home.path("user/.claude").exists());
            assert!(!home.memory().exists(), "{scope}: {ran}");
        }
    }
}

#[test]
fn foreign_server_is_left_alone() {
    let home = TestHome::new();
    let text = "{\n  \"mcpServers\": {\n    \"rutter\": { \"command\": \"npx\", \"args\": [\"rutter\"] }\n  }\n}\n";
    fs::write(home.path("ship/.mcp.json"), text).unwrap();
    assert_output!(home, init_scope(&home, "--project", &[]), @"
    exit 1
    --- stderr
    error: [HOME]/ship/.mcp.json:3:5: a server called `rutter` starts another program, so rutter does not change it; rename it, or remove it with `claude mcp remove rutter`. Nothing was changed. Mend it and run `rutter init` again
    ");
    assert!(!home.path("ship/.claude").exists());
    let nothing = home.rutter(&["uninstall", "--project"]).assert_success();
    assert!(nothing.stdout.contains("nothing of rutter's"), "{nothing}");
    assert_eq!(fs::read_to_string(home.path("ship/.mcp.json")).unwrap(), text);
}

#[test]
fn user_http_server_stays() {
    for (scope, file) in SCOPES {
        let home = TestHome::new();
        let path = home.path(file);
        let ship = home.path("ship").canonicalize().unwrap();
        // Written like `claude mcp add --transport http` does.
        let mine = json!({
            "type": "http",
            "url": "http://127.0.0.1:7888/mcp",
            "headers": { "Authorization": "Bearer 0123456789abcdef" },
        });
        let servers = json!({ "rutter": mine });
        let value = match scope {
            "--local" => {
                json!({ "projects": { ship.to_str().unwrap(): { "mcpServers": servers } } })
            }
            _ => json!({ "mcpServers": servers }),
        };
        let text = format!("{value:#}\n");
        fs::write(&path, &text).unwrap();
        let told = format!("{} has registered the server over HTTP", path.display());
        for _ in 0..2 {
            let ran = init_scope(&home, scope, &[]).assert_success();
            assert!(ran.stderr.contains(&told), "{scope}: {ran}");
            assert!(!format!("{ran}").contains("0123456789abcdef"), "{scope}: {ran}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{scope}");
        }
        let settings = match scope {
            "--local" => "ship/.claude/settings.local.json",
            "--user" => "user/.claude/settings.json",
            _ => "ship/.claude/settings.json",
        };
        let settings = home.path(settings);
        let installed = read_json(&settings);
        assert!(installed["hooks"]["SessionStart"].is_array(), "{scope}: {installed}");
        assert_eq!(
            installed["permissions"]["allow"],
            json!(crate::init_rules::expected_rules()),
            "{scope}"
        );
        // Twice: the second run prints only this note.
        for _ in 0..2 {
            let ran = home.rutter(&["uninstall", scope]).assert_success();
            assert!(
                ran.stderr.contains("`claude mcp remove rutter` takes it out"),
                "{scope}: {ran}"
            );
            assert!(!format!("{ran}").contains("0123456789abcdef"), "{scope}: {ran}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text, "{scope}");
            assert!(!settings.exists(), "{scope}");
        }
    }
    // A server of that name on another host is foreign, although its URL looks local.
    let home = TestHome::new();
    let foreign = json!({ "mcpServers": { "rutter": { "type": "http", "url": "http://localhost:1@example.com/mcp" } } });
    fs::write(home.path("user/.claude.json"), foreign.to_string()).unwrap();
    let ran = init_scope(&home, "--user", &[]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("starts something else"), "{ran}");
}

#[test]
fn failed_write_restores_first_file() {
    for (scope, file) in SCOPES {
        let home = TestHome::new();
        let path = home.path(file);
        fs::write(&path, "{}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let settings = "{ \"model\": \"opus\" }";
        home.write_settings(settings);
        let before = read_all_bytes(&home.path("ship"));
        let ran = init_scope(&home, scope, &[]);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert!(ran.stderr.contains("; nothing was changed"), "{ran}");
        assert_eq!(read_all_bytes(&home.path("ship")), before, "{scope}: {ran}");
        assert!(!home.path("user/.claude").exists());
        let notes = fs::read_dir(home.memory().join("backups")).unwrap().count();
        assert_eq!(notes, 0, "{scope}: what was not done is not noted");
        // The same for `uninstall`.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        drop(init_scope(&home, scope, &[]).assert_success());
        let [ship, user] = ["ship", "user"].map(|name| read_all_bytes(&home.path(name)));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let ran = home.rutter(&["uninstall", scope]);
        assert_eq!(ran.exit, Some(1), "{ran}");
        assert_eq!([ship, user], ["ship", "user"].map(|name| read_all_bytes(&home.path(name))));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        drop(home.rutter(&["uninstall", scope]).assert_success());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), settings);
    }
}

#[test]
fn diff_shows_only_server_entry() {
    let home = TestHome::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    // A text that no redaction rule recognizes as a secret, in each place next to rutter's entry.
    for text in [
        format!(
            "{{\n  \"mcpServers\": {{\n    \"a\": {{ \"headers\": \"hush {token}\" }}\n  }},\n  \"key\": \"hush\"\n}}\n"
        ),
        format!("{{\"projects\":{{\"/x\":{{\"history\":[\"hush {token}\"]}}}},\"key\":\"hush\"}}"),
    ] {
        fs::write(home.path("user/.claude.json"), &text).unwrap();
        for scope in ["--local", "--user"] {
            let shown = init_scope(&home, scope, &["--dry-run"]).assert_success();
            let done = init_scope(&home, scope, &["--verbose"]).assert_success();
            let diff = |ran: &rutter_testkit::CommandOutput| {
                let (_, diff) = ran.stdout.split_once("\n\n").unwrap();
                diff.to_owned()
            };
            assert!(diff(&done).starts_with(&diff(&shown)), "{shown}{done}");
            let gone = home.rutter(&["uninstall", scope]).assert_success();
            for ran in [shown, done, gone] {
                assert!(ran.stdout.contains("mcpServers → rutter @@\n"), "{ran}");
                assert!(!ran.stdout.contains("hush") && !ran.stdout.contains(token), "{ran}");
            }
            assert_eq!(fs::read_to_string(home.path("user/.claude.json")).unwrap(), text);
        }
    }
    assert!(!contains_text(&read_all_bytes(&home.memory()), token));
}

#[test]
fn changed_program_keeps_variables() {
    let home = TestHome::new();
    drop(init_scope(&home, "--user", &[]).assert_success());
    let path = home.path("user/.claude.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    value["mcpServers"]["rutter"]["env"] = json!({ "RUTTER_HOME": "/mine" });
    fs::write(&path, format!("{value:#}")).unwrap();
    assert!(init_scope(&home, "--user", &[]).assert_success().stdout.contains("nothing to do"));
    let other = home.program("other");
    let ran = home.rutter(&["init", "--user", "-v", "--bin", &other]).assert_success();
    let diff = ran.stdout.split_inclusive('\n').skip_while(|line| *line != "\n").skip(1);
    let diff = diff.skip_while(|line| !line.contains(".claude.json"));
    assert_output!(home, diff.take_while(|line| *line != "\n").collect::<String>(), @r#"
    --- [HOME]/user/.claude.json
    +++ [HOME]/user/.claude.json
    @@ mcpServers → rutter @@
     {
       "type": "stdio",
    -  "command": "[HOME]/bin/rutter",
    +  "command": "[HOME]/other/rutter",
       "args": [
         "mcp"
       ],
       "env": {
         "RUTTER_HOME": "/mine"
       }
     }
    "#);
}

#[test]
fn repository_shares_server_entry() {
    let home = TestHome::new();
    let ship = home.path("ship");
    if Command::new("git").arg("--version").output().is_err() {
        return skip_test("a server that worktrees share", "there is no git");
    }
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(args).current_dir(&ship);
        git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path("user"));
        drop(CommandOutput::run(&mut git).assert_success());
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "-m", "first"]);
    git(&["worktree", "add", "--quiet", home.path("tree").to_str().unwrap()]);
    fs::create_dir(ship.join("inside")).unwrap();
    let program = home.program("bin");
    let run = |folder: &Path, args: &[&str]| {
        CommandOutput::run(home.command(args).current_dir(folder).stdin(Stdio::null()))
            .assert_success()
    };
    let folders = [ship.clone(), ship.join("inside"), home.path("tree")];
    for folder in &folders {
        drop(run(folder, &["init", "--bin", &program]));
        assert_eq!(server_entry(&home, "--local")["command"], program, "{}", folder.display());
    }
    let text = fs::read_to_string(home.path("user/.claude.json")).unwrap();
    assert_eq!(text.matches("\"mcpServers\"").count(), 1, "{text}");
    for (folder, other) in [(&folders[0], &folders[1]), (&folders[1], &folders[2])] {
        let ran = run(folder, &["uninstall"]);
        let told = format!("the server stays registered, because {} runs rutter", other.display());
        assert!(ran.stderr.contains(&told), "{ran}");
        assert_eq!(server_entry(&home, "--local")["command"], program);
    }
    assert_eq!(run(&folders[2], &["uninstall"]).stderr, "");
    assert!(!home.path("user/.claude.json").exists());

    // A deleted directory does not need the server.
    drop(run(&folders[2], &["init", "--bin", &program]));
    drop(run(&folders[0], &["init", "--bin", &program]));
    fs::remove_dir_all(&folders[2]).unwrap();
    assert_eq!(run(&folders[0], &["uninstall"]).stderr, "");
    assert!(!home.path("user/.claude.json").exists());
}

#[test]
fn stale_client_lock_is_taken() {
    let home = TestHome::new();
    let lock = home.path("user/.claude.json.lock");
    fs::create_dir(&lock).unwrap();
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    fs::File::open(&lock).unwrap().set_modified(long_ago).unwrap();
    drop(init_scope(&home, "--user", &[]).assert_success());
    assert!(!lock.exists());
    // A fresh lock is respected.
    fs::create_dir(&lock).unwrap();
    let before = [read_all_bytes(&home.path("user")), read_all_bytes(&home.path("ship"))];
    let ran = home.rutter(&["uninstall", "--user"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("by which the client says that it writes"), "{ran}");
    assert_eq!([read_all_bytes(&home.path("user")), read_all_bytes(&home.path("ship"))], before);
    fs::remove_dir(&lock).unwrap();
    drop(home.rutter(&["uninstall", "--user"]).assert_success());
}

#[test]
fn concurrent_inits_keep_all_entries() {
    // All directories of a user are in the single state file of the client.
    let home = TestHome::new();
    let program = home.program("bin");
    drop(home.rutter(&["memories"]).assert_success());
    fs::write(home.path("user/.claude.json"), "{\n  \"numStartups\": 1\n}\n").unwrap();
    let folders: Vec<_> = (0..8).map(|number| home.path(&format!("p{number}"))).collect();
    let all = |args: &[&str]| {
        let children: Vec<_> = folders
            .iter()
            .map(|folder| {
                fs::create_dir_all(folder).unwrap();
                let mut command = home.command(args);
                command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null());
                command.spawn().unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
    };
    all(&["init", "--bin", &program]);
    let text = fs::read_to_string(home.path("user/.claude.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["projects"].as_object().unwrap().len(), folders.len(), "{text}");
    all(&["uninstall"]);
    let text = fs::read_to_string(home.path("user/.claude.json")).unwrap();
    assert!(!text.contains("rutter\""), "{text}");
    assert!(!home.path("user/.claude.json.lock").exists());
}

#[test]
fn shared_server_without_rutter_is_empty() {
    let home = TestHome::new();
    drop(init_scope(&home, "--project", &[]).assert_success());
    let entry = server_entry(&home, "--project");
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let shell = |search: &str, stdin: &str| {
        let mut command = Command::new("/bin/sh");
        command.args(&args).env_clear().env("PATH", search);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin.as_bytes()).unwrap();
        CommandOutput::from(child.wait_with_output().unwrap()).assert_success()
    };
    // The first three lines of a client, and a ping.
    let said = "{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\",\"method\":\"server/discover\",\"params\":{}}\n\
        {\"method\":\"initialize\",\"params\":{\"clientInfo\":{\"name\":\"claude\"}},\"jsonrpc\":\"2.0\",\"id\":0}\n\
        {\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\
        {\"method\":\"ping\",\"jsonrpc\":\"2.0\",\"id\":1}\n";
    let without = shell("/usr/bin:/bin", said);
    let answers: Vec<Value> =
        without.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!("server-discover-probe-1"), &json!(0), &json!(1)]);
    assert_eq!(answers[1]["result"]["capabilities"], json!({}));
    assert_eq!((&answers[0]["error"]["code"], &*without.stderr), (&json!(-32601), ""));

    fs::write(home.path("bin/rutter"), "#!/bin/sh\necho \"$@\"\n").unwrap();
    let search = format!("{}:/usr/bin:/bin", home.path("bin").display());
    assert_eq!(shell(&search, "").stdout, "mcp\n");
}
