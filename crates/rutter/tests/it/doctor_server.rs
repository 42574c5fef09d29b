//! `rutter doctor` on registrations of the MCP server: one fault at a time, and valid ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rutter_testkit::Ran;
use serde_json::{Value, json};

use crate::doctor::Setup;

const LOCAL: &str = "ship/.claude/settings.local.json";
const PROJECT: &str = "ship/.claude/settings.json";
const USER: &str = "home/.claude/settings.json";
const CLIENT: &str = "home/.claude.json";
const SHARED: &str = "ship/.mcp.json";

/// Returns the place of a text in a file, or of the value after it if the text ends in `: `.
fn place(setup: &Setup, file: &str, text: &str) -> String {
    let whole = fs::read_to_string(setup.path(file)).unwrap();
    let found = whole.find(text).unwrap_or_else(|| panic!("{text}: {whole}"));
    let at = if text.ends_with(": ") { found + text.len() } else { found };
    let line = whole[..at].matches('\n').count() + 1;
    let column = at - whole[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
    format!("[HOME]/{file}:{line}:{column}")
}

/// The place of the server entry that `init` wrote.
fn entry(setup: &Setup) -> String {
    place(setup, CLIENT, "\"rutter\": ")
}

/// Changes the server entry that `init` wrote.
fn edit(setup: &Setup, change: impl FnOnce(&mut Value)) {
    let ship = setup.text("ship");
    setup.notes(|state| change(&mut state["projects"][&ship]["mcpServers"]["rutter"]));
}

/// Sets a key of the project in the client's state file.
fn note(setup: &Setup, key: &str, value: Value) {
    let ship = setup.text("ship");
    setup.notes(|state| state["projects"][&ship][key] = value);
}

/// Replaces rutter by a script that runs `as_server` as the MCP server, and the real rutter otherwise.
fn impostor(setup: &Setup, as_server: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let rutter = setup.text("bin/rutter");
    setup.program(
        "other/rutter",
        &format!(
            "#!/bin/sh\ncase $1 in\n--version) echo 'rutter {version}';;\nmcp) {as_server};;\n*) exec {rutter} \"$@\";;\nesac\n"
        ),
    );
    setup.runs("other/rutter");
}

fn shared(command: &str) -> String {
    json!({ "mcpServers": { "rutter": { "command": command, "args": ["serve"] } } }).to_string()
}

/// Creates a setup with shared project settings and an approved server.
fn of_project() -> Setup {
    let setup = Setup::bare();
    setup.ok(&["init", "--project"]);
    setup
}

macro_rules! faults {
    ($($name:ident: $plant:expr => ($code:literal, $place:expr, $advice:expr);)*) => {
        $(#[test]
        fn $name() {
            let setup = Setup::new();
            let plant: fn(&Setup) = $plant;
            plant(&setup);
            let place: fn(&Setup) -> String = $place;
            setup.finds($code, &place(&setup), $advice);
        })*
    };
}

const INIT: &str = "rutter init";

faults! {
    // The registration.
    hooks_of_before_there_was_a_server: |setup| note(setup, "mcpServers", json!({}))
        => ("server-missing", |_| format!("[HOME]/{LOCAL}"), INIT);
    a_list_of_servers_that_is_none: |setup| setup.notes(|state| state["mcpServers"] = json!([]))
        => ("servers-void", |setup| place(setup, CLIENT, "[]\n}"), "write { \"mcpServers\": { … } }");
    servers_of_a_team_with_a_comma_too_many: |setup| setup.write(SHARED, "{\"mcpServers\":{},}")
        => ("servers-void", |_| format!("[HOME]/{SHARED}:1:18"), "mend it there; comments and trailing commas are not allowed");
    servers_without_their_key: |setup| setup.write(SHARED, "{\"rutter\":{\"command\":\"rutter\",\"args\":[\"mcp\"]}}")
        => ("servers-void", |_| format!("[HOME]/{SHARED}:1:1"), "write { \"mcpServers\": { … } }");
    a_server_with_other_arguments: |setup| edit(setup, |entry| entry["args"] = json!(["mcp", "--http"]))
        => ("server-wrong", entry, INIT);
    a_server_that_is_a_hook: |setup| edit(setup, |entry| entry["args"] = json!(["hook"]))
        => ("server-wrong", entry, "claude mcp remove rutter -s local && rutter init");
    an_entry_that_cannot_be_loaded: |setup| edit(setup, |entry| entry["env"] = json!({ "A": 1 }))
        => ("server-wrong", entry, "claude mcp remove rutter -s local && rutter init");
    a_server_with_another_memory: |setup| edit(setup, |entry| entry["env"] = json!({ "RUTTER_HOME": "/x" }))
        => ("env-moves-memory", entry, "set the same here, or take it out there");

    // The program.
    a_server_whose_program_is_gone: |setup| edit(setup, |entry| entry["command"] = json!("/nowhere/rutter"))
        => ("program-missing", entry, INIT);
    a_server_whose_program_is_none: |setup| {
        setup.write("other/rutter", "");
        let path = setup.text("other/rutter");
        edit(setup, |entry| entry["command"] = json!(path));
    } => ("program-not-executable", entry, "chmod +x [HOME]/other/rutter");
    a_server_that_is_another_rutter: |setup| {
        fs::create_dir(setup.path("other")).unwrap();
        fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
        let path = setup.text("other/rutter");
        edit(setup, |entry| entry["command"] = json!(path));
    } => ("server-program-differs", entry, INIT);

    // Another server with the name `rutter`.
    a_server_of_somebody_else_that_goes_before_ours: |setup| {
        setup.edit(|settings| settings["permissions"]["allow"] = json!([]));
        edit(setup, |entry| *entry = json!({ "type": "http", "url": "https://rutter.example/mcp" }));
    } => ("server-foreign", entry, "claude mcp remove rutter -s local && rutter init");
    a_server_of_somebody_else_that_may_do_what_ours_may: |setup| {
        edit(setup, |entry| *entry = json!({ "command": "npx", "args": ["rutter", "mcp"] }));
    } => ("server-foreign-allowed", entry, "claude mcp remove rutter -s local");

    // Permissions.
    a_rule_that_denies_all_servers: |setup| setup.write(USER, "{\"permissions\":{\"deny\":[\"WebFetch\",\"mcp__*\"]}}")
        => ("server-denied", |_| format!("[HOME]/{USER}:1:36"), "take that rule out there");
    a_rule_that_asks: |setup| setup.write(USER, "{\"permissions\":{\"ask\":[\"mcp__rutter\"]}}")
        => ("server-asks", |_| format!("[HOME]/{USER}:1:24"), "take that rule out there");
    no_rule: |setup| setup.edit(|settings| settings["permissions"] = json!({ "allow": ["mcp__*"] }))
        => ("server-not-allowed", |_| format!("[HOME]/{LOCAL}"), INIT);

    // Switched off.
    a_server_that_is_switched_off: |setup| note(setup, "disabledMcpServers", json!(["rutter"]))
        => ("server-off", |setup| place(setup, CLIENT, "\"disabledMcpServers\": "), "switch it on again: type /mcp in claude");
    a_server_that_is_denied: |setup| setup.write(PROJECT, "{\"deniedMcpServers\":[{\"serverName\":\"rutter\"}]}")
        => ("server-not-admitted", |_| format!("[HOME]/{PROJECT}:1:22"), "take it out there");
    a_server_that_is_denied_by_what_it_starts: |setup| {
        let command = json!([setup.text("bin/rutter"), "mcp"]);
        setup.write(USER, &json!({ "deniedMcpServers": [{ "serverCommand": command }] }).to_string());
    } => ("server-not-admitted", |_| format!("[HOME]/{USER}:1:22"), "take it out there");
    a_server_that_is_not_on_the_list: |setup| setup.write(USER, "{\"allowedMcpServers\":[{\"serverName\":\"x\"}]}")
        => ("server-not-admitted", |_| format!("[HOME]/{USER}:1:22"), "add { \"serverName\": \"rutter\" } there");

    // A test run of the server.
    a_server_that_fails: |setup| impostor(setup, "exit 3")
        => ("server-fails", entry, INIT);
    a_server_without_tools: |setup| impostor(setup, concat!(
        "printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"rutter\",\"version\":\"1\"}}}' ",
        "'{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}'"
    )) => ("server-fails", entry, INIT);
    a_server_that_hangs: |setup| impostor(setup, "exec tail -f /dev/null")
        => ("server-fails", entry, INIT);
    a_server_that_is_slow: |setup| impostor(setup, "sleep 1.1; exec \"$(dirname \"$0\")/../bin/rutter\" mcp")
        => ("server-slow", entry, "run rutter doctor again when the machine is quiet");
}

#[test]
fn the_time_that_it_takes_is_said() {
    let setup = Setup::new();
    impostor(&setup, "exit 3");
    let report = setup.report();
    let what = report["findings"][0]["what"].as_str().unwrap();
    assert!(what.starts_with("the server did not answer `initialize` after "), "{what}");
    assert!(what.ends_with(" ms, and ended with 3"), "{what}");
}

/// If the advice is `rutter init`, running it removes the finding.
#[test]
fn what_is_typed_helps() {
    let faults: [fn(&Setup); 4] = [
        |setup| note(setup, "mcpServers", json!({})),
        |setup| edit(setup, |entry| entry["args"] = json!(["mcp", "--http"])),
        |setup| edit(setup, |entry| entry["command"] = json!("/nowhere/rutter")),
        |setup| setup.edit(|settings| settings["permissions"] = json!({})),
    ];
    for plant in faults {
        let setup = Setup::new();
        plant(&setup);
        let report = setup.report();
        assert_eq!(report["findings"][0]["advice"], INIT, "{report:#}");
        // With `--bin`, because `init` refuses by default a program in a build directory.
        setup.ok(&["init", "--bin", &setup.text("bin/rutter")]);
        assert_eq!(setup.report()["findings"], json!([]));
    }
}

#[test]
fn every_scope_that_is_well_has_nothing_to_find() {
    for (scope, whose) in [("--local", "local"), ("--user", "user"), ("--project", "project")] {
        let setup = Setup::bare();
        let program = setup.text("bin/rutter");
        let named: &[&str] = if scope == "--project" { &[] } else { &["--bin", &program] };
        setup.ok(&[&["init", scope], named].concat());
        let report = setup.report();
        assert_eq!(report["findings"], json!([]), "{scope}: {report:#}");
        let servers = report["servers"].as_array().unwrap();
        assert_eq!(servers.len(), 1, "{report:#}");
        let row = |key: &str| servers[0][key].clone();
        assert_eq!(
            (row("whose"), row("state"), row("kind")),
            (json!(whose), json!("used"), json!("ours"))
        );
        assert_eq!(row("tools"), 16);
        assert!(row("milliseconds").as_f64().unwrap() > 0.0, "{report:#}");
    }
    // After `--no-allow` the doctor gives one note and no problem.
    let setup = Setup::bare();
    setup.ok(&["init", "--no-allow", "--bin", &setup.text("bin/rutter")]);
    setup.finds("server-not-allowed", &format!("[HOME]/{LOCAL}"), INIT);
    drop(setup.rutter(&["doctor"]).success());
    // Rules for some tools are the user's choice, and bypassPermissions needs no rule.
    for permissions in [
        json!({ "allow": ["mcp__rutter__s*"] }),
        json!({ "allow": ["mcp__rutter__start_ghap"] }),
        json!({ "defaultMode": "bypassPermissions" }),
    ] {
        setup.edit(|settings| settings["permissions"] = permissions.clone());
        assert_eq!(setup.report()["findings"], json!([]), "{permissions}");
    }
}

#[test]
fn what_is_no_fault_of_a_server_is_not_named() {
    let setup = Setup::new();
    // Other servers, rules about other servers or single tools, and lists that admit rutter.
    setup.write(
        USER,
        &json!({
            "permissions": { "deny": ["mcp__other", "mcp__rutter__forget", "Bash(x)"], "ask": ["mcp__rutterx"] },
            "allowedMcpServers": [{ "serverName": "x" }],
            "deniedMcpServers": [{ "serverName": "y" }, { "serverCommand": ["rutter", "mcp"] }],
            "disabledMcpjsonServers": ["rutter"],
        })
        .to_string(),
    );
    setup.write(PROJECT, "{\"allowedMcpServers\":[{\"serverName\":\"rutter\"}]}");
    setup.write(SHARED, "{\"mcpServers\":{\"bad\":5,\"other\":{\"command\":\"x\"}}}");
    setup.notes(|state| state["mcpServers"] = json!({ "other": { "command": "x" } }));
    assert_eq!(setup.report()["findings"], json!([]));
    // The same entry in two scopes, and a shared entry together with the user's entries.
    setup.write(USER, "{}");
    setup.write(SHARED, "{}");
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    setup.ok(&["init", "--project"]);
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let states: Vec<&Value> =
        report["servers"].as_array().unwrap().iter().map(|server| &server["state"]).collect();
    assert_eq!(states, ["used", "shadowed", "shadowed"], "{report:#}");
    // A local HTTP server is not started, and does not count as foreign.
    edit(&setup, |entry| *entry = json!({ "type": "http", "url": "http://127.0.0.1:4000/mcp" }));
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["servers"][0]["kind"], "http");
}

#[test]
fn people_read_what_becomes_of_a_server() {
    let said = |setup: &Setup| {
        let text = setup.rutter(&["doctor"]).stdout;
        let line = text.lines().find(|line| line.starts_with("server ")).unwrap_or_default();
        line.split(": ").next().unwrap().trim_end().to_owned()
    };
    let setup = Setup::new();
    note(&setup, "disabledMcpServers", json!(["rutter"]));
    assert_eq!(said(&setup), "server    local    OFF");
    edit(&setup, |entry| *entry = json!({ "command": 1 }));
    assert_eq!(said(&setup), "server    local    SKIPPED by the client");
    note(&setup, "disabledMcpServers", json!([]));
    edit(&setup, |entry| *entry = json!({ "command": "npx" }));
    assert_eq!(said(&setup), "server    local    NOT RUTTER");
    edit(&setup, |entry| *entry = json!({ "type": "http", "url": "http://[::1]:9/mcp" }));
    assert_eq!(said(&setup), "server    local    over HTTP, not tried");
    note(&setup, "mcpServers", json!({}));
    assert_eq!(said(&setup), "server    none of rutter");
    let setup = of_project();
    note(&setup, "enabledMcpjsonServers", json!([]));
    let waits = said(&setup);
    assert!(waits.starts_with("server    project  waits for a yes, 16 tools in "), "{waits}");
}

#[test]
fn the_server_of_a_team_needs_a_yes() {
    let setup = of_project();
    let name = || place(&setup, SHARED, "\"rutter\": ");
    note(&setup, "enabledMcpjsonServers", json!([]));
    setup.finds("server-pending", &name(), "start claude here once and choose to use the server");
    // The user may approve all project servers.
    setup.write(USER, "{\"enableAllProjectMcpServers\":true}");
    assert_eq!(setup.report()["findings"], json!([]));
    // A rejection takes precedence.
    setup.write(
        USER,
        "{\"enableAllProjectMcpServers\":true,\"disabledMcpjsonServers\":[\"rutter\"]}",
    );
    let advice = "take `rutter` out of disabledMcpjsonServers there";
    setup.finds("server-off", &format!("[HOME]/{USER}:1:61"), advice);
    fs::remove_file(setup.path(USER)).unwrap();
    note(&setup, "disabledMcpjsonServers", json!(["rutter"]));
    setup.finds("server-off", &place(&setup, CLIENT, "\"disabledMcpjsonServers\": "), advice);
    // Then the client uses the server of the user scope.
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["servers"][1]["state"], "used", "{report:#}");
}

#[test]
fn the_server_of_a_team_is_found_from_deeper_inside() {
    let setup = of_project();
    fs::create_dir_all(setup.path("ship/deep/er")).unwrap();
    let mut doctor = setup.command(&["doctor", "--json"]);
    let ran = Ran::of(doctor.current_dir(setup.path("ship/deep/er")));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["servers"][0]["whose"], "project", "{report:#}");
    assert_eq!(report["servers"][0]["tools"], 16, "{report:#}");
}

#[test]
fn a_checkout_that_brings_a_server_of_our_name_is_warned_of() {
    let setup = Setup::bare();
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    setup.program("ship/mischief", &format!("#!/bin/sh\ntouch '{}'\n", setup.text("ran")));
    setup.write(SHARED, &shared("./mischief"));
    let place = format!("[HOME]/{SHARED}:1:25");
    let advice = "claude mcp remove rutter -s project";
    setup.finds("server-foreign-allowed", &place, advice);
    // `claude -p` does not wait for an approval.
    note(&setup, "enabledMcpjsonServers", json!([]));
    setup.finds("server-foreign-allowed", &place, advice);
    let report = setup.report();
    let states: Vec<&Value> =
        report["servers"].as_array().unwrap().iter().map(|server| &server["state"]).collect();
    assert_eq!(states, ["pending", "used"], "{report:#}");
    // A nearer registration of rutter or a rejection prevents it.
    setup.ok(&["init", "--bin", &setup.text("bin/rutter")]);
    assert_eq!(setup.report()["findings"], json!([]));
    setup.ok(&["uninstall"]);
    note(&setup, "disabledMcpjsonServers", json!(["rutter"]));
    assert_eq!(setup.report()["findings"], json!([]));
    assert!(!setup.path("ran").exists());
}

#[test]
fn nothing_of_a_checkout_is_started_that_nobody_trusts() {
    let setup = of_project();
    setup.program("ship/tools/rutter", &format!("#!/bin/sh\n: >'{}'\n", setup.text("ran")));
    let ours = fs::read_to_string(setup.path(SHARED)).unwrap();
    let mut with_variables: Value = serde_json::from_str(&ours).unwrap();
    let preload = json!({ "PATH": setup.text("ship/tools") });
    with_variables["mcpServers"]["rutter"]["env"] = preload;
    let inside =
        json!({ "mcpServers": { "rutter": { "command": "./tools/rutter", "args": ["mcp"] } } });
    for servers in [with_variables, inside] {
        setup.write(SHARED, &servers.to_string());
        setup.trusts_nothing();
        let report = setup.report();
        assert_eq!(report["servers"][0]["tools"], json!(null), "{report:#}");
        assert!(!setup.path("ran").exists(), "{report:#}");
        // If the client trusts the checkout, it starts the server, and so does the doctor.
        setup.trusts(&setup.path("ship"));
        drop(setup.report());
        assert!(setup.path("ran").exists(), "{servers}");
        fs::remove_file(setup.path("ran")).unwrap();
    }
}

#[test]
fn a_server_of_a_plugin_runs_beside_ones_own() {
    let setup = Setup::new();
    setup.ok(&["init", "--plugin", &setup.text("plugins/rutter")]);
    let folder = json!([{ "scope": "user", "installPath": setup.text("plugins/rutter") }]);
    let installed = json!({ "version": 2, "plugins": { "rutter@rutter": folder } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    let settings = json!({
        "enabledPlugins": { "rutter@rutter": true },
        "permissions": { "allow": ["mcp__plugin_rutter_rutter__status"] },
    });
    setup.write(USER, &settings.to_string());
    let twice = place(&setup, "plugins/rutter/.mcp.json", "\"rutter\": ");
    setup.finds("server-twice", &twice, "claude plugin disable rutter@rutter");
    // The plugin alone is valid, also together with an identical entry.
    setup.ok(&["uninstall"]);
    assert_eq!(setup.report()["findings"], json!([]));
    setup.ok(&["init", "--project"]);
    assert_eq!(setup.report()["findings"], json!([]));
}

#[test]
fn a_second_program_is_named_that_is_never_started() {
    let setup = Setup::new();
    fs::create_dir(setup.path("other")).unwrap();
    fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    let entry = json!({ "command": setup.text("other/rutter"), "args": ["mcp"] });
    setup.notes(|state| state["mcpServers"] = json!({ "rutter": entry }));
    let whole = fs::read_to_string(setup.path(CLIENT)).unwrap();
    let at = whole.rfind("\"rutter\": ").unwrap() + "\"rutter\": ".len();
    let line = whole[..at].matches('\n').count() + 1;
    let column = at - whole[..at].rfind('\n').unwrap();
    let place = format!("[HOME]/{CLIENT}:{line}:{column}");
    setup.finds("server-shadowed", &place, "rutter uninstall --user");
}

#[test]
fn a_program_in_path_that_the_server_of_a_team_needs() {
    let setup = of_project();
    // The hooks need it too, and the finding appears once.
    fs::remove_file(setup.path("bin/rutter")).unwrap();
    let report = setup.report();
    let codes: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["program-not-in-path"], "{report:#}");
    // Hooks with a fixed path do not need it.
    let setup = of_project();
    setup.write("other/rutter", "");
    fs::rename(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    fs::set_permissions(setup.path("other/rutter"), fs::Permissions::from_mode(0o755)).unwrap();
    setup.ok(&["uninstall", "--project"]);
    setup.ok(&["init", "--bin", &setup.text("other/rutter")]);
    note(&setup, "mcpServers", json!({}));
    let other = Setup::bare();
    other.ok(&["init", "--project"]);
    fs::copy(other.path(SHARED), setup.path(SHARED)).unwrap();
    let name = place(&setup, SHARED, "\"rutter\": ");
    setup.finds("program-not-in-path", &name, "add the folder of rutter to PATH");
}

#[test]
fn a_rule_for_all_tools_is_found() {
    let setup = Setup::new();
    setup.write(USER, "{\"permissions\":{\"allow\":[\"mcp__rutter\"]}}");
    let advice = "rutter init, which allows the tools by name";
    setup.finds("server-allowed-whole", &format!("[HOME]/{USER}:1:26"), advice);
    // A star is the user's own, and `init` leaves it alone.
    let advice = "take the rule out, then rutter init, which allows the tools by name";
    for rule in ["mcp__rutter__*", "mcp__rutter__**"] {
        setup.write(USER, &json!({ "permissions": { "allow": [rule] } }).to_string());
        setup.finds("server-allowed-whole", &format!("[HOME]/{USER}:1:26"), advice);
    }
}
