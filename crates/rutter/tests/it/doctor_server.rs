//! `rutter doctor` on registrations of the MCP server: one fault at a time, and valid ones.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rutter_testkit::CommandOutput;
use serde_json::{Value, json};

use crate::doctor::DoctorSetup;

const LOCAL_SETTINGS: &str = "ship/.claude/settings.local.json";
const PROJECT_SETTINGS: &str = "ship/.claude/settings.json";
const USER_SETTINGS: &str = "home/.claude/settings.json";
const CLIENT_STATE: &str = "home/.claude.json";
const SHARED_SERVERS: &str = "ship/.mcp.json";

/// Returns the place of a text in a file, or of the value after it if the text ends in `: `.
fn text_place(setup: &DoctorSetup, file: &str, text: &str) -> String {
    let whole = fs::read_to_string(setup.path(file)).unwrap();
    let found = whole.find(text).unwrap_or_else(|| panic!("{text}: {whole}"));
    let at = if text.ends_with(": ") { found + text.len() } else { found };
    let line = whole[..at].matches('\n').count() + 1;
    let column = at - whole[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
    format!("[HOME]/{file}:{line}:{column}")
}

/// The place of the server entry that `init` wrote.
fn entry_place(setup: &DoctorSetup) -> String {
    text_place(setup, CLIENT_STATE, "\"rutter\": ")
}

/// Changes the server entry that `init` wrote.
fn edit_server_entry(setup: &DoctorSetup, change: impl FnOnce(&mut Value)) {
    let ship = setup.text("ship");
    setup.edit_client_state(|state| change(&mut state["projects"][&ship]["mcpServers"]["rutter"]));
}

/// Sets a key of the project in the client's state file.
fn set_project_state(setup: &DoctorSetup, key: &str, value: Value) {
    let ship = setup.text("ship");
    setup.edit_client_state(|state| state["projects"][&ship][key] = value);
}

/// Replaces rutter by a script that runs `as_server` as the MCP server, and the real rutter otherwise.
fn install_impostor(setup: &DoctorSetup, as_server: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let rutter = setup.text("bin/rutter");
    setup.program(
        "other/rutter",
        &format!(
            "#!/bin/sh\ncase $1 in\n--version) echo 'rutter {version}';;\nmcp) {as_server};;\n*) exec {rutter} \"$@\";;\nesac\n"
        ),
    );
    setup.replace_program("other/rutter");
}

fn shared_servers(command: &str) -> String {
    json!({ "mcpServers": { "rutter": { "command": command, "args": ["serve"] } } }).to_string()
}

/// Creates a setup with shared project settings and an approved server.
fn project_setup() -> DoctorSetup {
    let setup = DoctorSetup::without_init();
    setup.ok(&["init", "--project"]);
    setup
}

macro_rules! faults {
    ($($name:ident: $plant:expr => ($code:literal, $place:expr, $advice:expr);)*) => {
        $(#[test]
        fn $name() {
            let setup = DoctorSetup::new();
            let plant: fn(&DoctorSetup) = $plant;
            plant(&setup);
            let place: fn(&DoctorSetup) -> String = $place;
            setup.assert_only_finding($code, &place(&setup), $advice);
        })*
    };
}

const INIT_ADVICE: &str = "rutter init";

faults! {
    // The registration.
    hooks_without_server: |setup| set_project_state(setup, "mcpServers", json!({}))
        => ("server-missing", |_| format!("[HOME]/{LOCAL_SETTINGS}"), INIT_ADVICE);
    servers_are_array: |setup| setup.edit_client_state(|state| state["mcpServers"] = json!([]))
        => ("servers-void", |setup| text_place(setup, CLIENT_STATE, "[]\n}"), "write { \"mcpServers\": { … } }");
    shared_servers_with_trailing_comma: |setup| setup.write(SHARED_SERVERS, "{\"mcpServers\":{},}")
        => ("servers-void", |_| format!("[HOME]/{SHARED_SERVERS}:1:18"), "fix it there; comments and trailing commas are not allowed");
    servers_without_key: |setup| setup.write(SHARED_SERVERS, "{\"rutter\":{\"command\":\"rutter\",\"args\":[\"mcp\"]}}")
        => ("servers-void", |_| format!("[HOME]/{SHARED_SERVERS}:1:1"), "write { \"mcpServers\": { … } }");
    server_with_other_arguments: |setup| edit_server_entry(setup, |entry| entry["args"] = json!(["mcp", "--http"]))
        => ("server-wrong", entry_place, INIT_ADVICE);
    server_entry_runs_hook: |setup| edit_server_entry(setup, |entry| entry["args"] = json!(["hook"]))
        => ("server-wrong", entry_place, "claude mcp remove rutter -s local && rutter init");
    invalid_server_entry: |setup| edit_server_entry(setup, |entry| entry["env"] = json!({ "A": 1 }))
        => ("server-wrong", entry_place, "claude mcp remove rutter -s local && rutter init");
    server_with_other_data_dir: |setup| edit_server_entry(setup, |entry| entry["env"] = json!({ "RUTTER_HOME": "/x" }))
        => ("env-moves-memory", entry_place, "set the same variable here, or remove it there");

    // The program.
    server_program_missing: |setup| edit_server_entry(setup, |entry| entry["command"] = json!("/nowhere/rutter"))
        => ("program-missing", entry_place, INIT_ADVICE);
    server_program_not_executable: |setup| {
        setup.write("other/rutter", "");
        let path = setup.text("other/rutter");
        edit_server_entry(setup, |entry| entry["command"] = json!(path));
    } => ("program-not-executable", entry_place, "chmod +x [HOME]/other/rutter");
    server_of_other_rutter: |setup| {
        fs::create_dir(setup.path("other")).unwrap();
        fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
        let path = setup.text("other/rutter");
        edit_server_entry(setup, |entry| entry["command"] = json!(path));
    } => ("server-program-differs", entry_place, INIT_ADVICE);

    // Another server with the name `rutter`.
    foreign_server_shadows_ours: |setup| {
        setup.edit_settings(|settings| settings["permissions"]["allow"] = json!([]));
        edit_server_entry(setup, |entry| *entry = json!({ "type": "http", "url": "https://rutter.example/mcp" }));
    } => ("server-foreign", entry_place, "claude mcp remove rutter -s local && rutter init");
    foreign_server_is_allowed: |setup| {
        edit_server_entry(setup, |entry| *entry = json!({ "command": "npx", "args": ["rutter", "mcp"] }));
    } => ("server-foreign-allowed", entry_place, "claude mcp remove rutter -s local");

    // Permissions.
    rule_denies_all_servers: |setup| setup.write(USER_SETTINGS, "{\"permissions\":{\"deny\":[\"WebFetch\",\"mcp__*\"]}}")
        => ("server-denied", |_| format!("[HOME]/{USER_SETTINGS}:1:36"), "remove that rule there");
    rule_asks_for_server: |setup| setup.write(USER_SETTINGS, "{\"permissions\":{\"ask\":[\"mcp__rutter\"]}}")
        => ("server-asks", |_| format!("[HOME]/{USER_SETTINGS}:1:24"), "remove that rule there");
    missing_allow_rule: |setup| setup.edit_settings(|settings| settings["permissions"] = json!({ "allow": ["mcp__*"] }))
        => ("server-not-allowed", |_| format!("[HOME]/{LOCAL_SETTINGS}"), INIT_ADVICE);

    // Switched off.
    server_switched_off: |setup| set_project_state(setup, "disabledMcpServers", json!(["rutter"]))
        => ("server-off", |setup| text_place(setup, CLIENT_STATE, "\"disabledMcpServers\": "), "enable it again: type /mcp in claude");
    server_denied_by_name: |setup| setup.write(PROJECT_SETTINGS, "{\"deniedMcpServers\":[{\"serverName\":\"rutter\"}]}")
        => ("server-not-admitted", |_| format!("[HOME]/{PROJECT_SETTINGS}:1:22"), "remove it there");
    server_denied_by_command: |setup| {
        let command = json!([setup.text("bin/rutter"), "mcp"]);
        setup.write(USER_SETTINGS, &json!({ "deniedMcpServers": [{ "serverCommand": command }] }).to_string());
    } => ("server-not-admitted", |_| format!("[HOME]/{USER_SETTINGS}:1:22"), "remove it there");
    server_not_on_allowlist: |setup| setup.write(USER_SETTINGS, "{\"allowedMcpServers\":[{\"serverName\":\"x\"}]}")
        => ("server-not-admitted", |_| format!("[HOME]/{USER_SETTINGS}:1:22"), "add { \"serverName\": \"rutter\" } there");

    // A test run of the server.
    failing_server: |setup| install_impostor(setup, "exit 3")
        => ("server-fails", entry_place, INIT_ADVICE);
    server_without_tools: |setup| install_impostor(setup, concat!(
        "printf '%s\\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"rutter\",\"version\":\"1\"}}}' ",
        "'{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}'"
    )) => ("server-fails", entry_place, INIT_ADVICE);
    hanging_server: |setup| install_impostor(setup, "exec tail -f /dev/null")
        => ("server-fails", entry_place, INIT_ADVICE);
    slow_server: |setup| install_impostor(setup, "sleep 1.1; exec \"$(dirname \"$0\")/../bin/rutter\" mcp")
        => ("server-slow", entry_place, "run rutter doctor again when the machine is idle");
}

#[test]
fn failed_start_reports_duration() {
    let setup = DoctorSetup::new();
    install_impostor(&setup, "exit 3");
    let report = setup.report();
    let what = report["findings"][0]["what"].as_str().unwrap();
    assert!(what.starts_with("the server did not answer `initialize` after "), "{what}");
    assert!(what.ends_with(" ms, and exited with 3"), "{what}");
}

/// If the advice is `rutter init`, running it removes the finding.
#[test]
fn init_repairs_server_faults() {
    let faults: [fn(&DoctorSetup); 4] = [
        |setup| set_project_state(setup, "mcpServers", json!({})),
        |setup| edit_server_entry(setup, |entry| entry["args"] = json!(["mcp", "--http"])),
        |setup| edit_server_entry(setup, |entry| entry["command"] = json!("/nowhere/rutter")),
        |setup| setup.edit_settings(|settings| settings["permissions"] = json!({})),
    ];
    for plant in faults {
        let setup = DoctorSetup::new();
        plant(&setup);
        let report = setup.report();
        assert_eq!(report["findings"][0]["advice"], INIT_ADVICE, "{report:#}");
        // With `--bin`, because `init` refuses by default a program in a build directory.
        setup.ok(&["init", "--bin", &setup.text("bin/rutter")]);
        assert_eq!(setup.report()["findings"], json!([]));
    }
}

#[test]
fn healthy_scopes_have_no_findings() {
    for (scope, whose) in [("--local", "local"), ("--user", "user"), ("--project", "project")] {
        let setup = DoctorSetup::without_init();
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
    let setup = DoctorSetup::without_init();
    setup.ok(&["init", "--no-allow", "--bin", &setup.text("bin/rutter")]);
    setup.assert_only_finding(
        "server-not-allowed",
        &format!("[HOME]/{LOCAL_SETTINGS}"),
        INIT_ADVICE,
    );
    drop(setup.rutter(&["doctor"]).assert_success());
    // Rules for some tools are the user's choice, and bypassPermissions needs no rule.
    for permissions in [
        json!({ "allow": ["mcp__rutter__s*"] }),
        json!({ "allow": ["mcp__rutter__start_ghap"] }),
        json!({ "defaultMode": "bypassPermissions" }),
    ] {
        setup.edit_settings(|settings| settings["permissions"] = permissions.clone());
        assert_eq!(setup.report()["findings"], json!([]), "{permissions}");
    }
}

#[test]
fn harmless_servers_have_no_findings() {
    let setup = DoctorSetup::new();
    // Other servers, rules about other servers or single tools, and lists that admit rutter.
    setup.write(
        USER_SETTINGS,
        &json!({
            "permissions": { "deny": ["mcp__other", "mcp__rutter__forget", "Bash(x)"], "ask": ["mcp__rutterx"] },
            "allowedMcpServers": [{ "serverName": "x" }],
            "deniedMcpServers": [{ "serverName": "y" }, { "serverCommand": ["rutter", "mcp"] }],
            "disabledMcpjsonServers": ["rutter"],
        })
        .to_string(),
    );
    setup.write(PROJECT_SETTINGS, "{\"allowedMcpServers\":[{\"serverName\":\"rutter\"}]}");
    setup.write(SHARED_SERVERS, "{\"mcpServers\":{\"bad\":5,\"other\":{\"command\":\"x\"}}}");
    setup.edit_client_state(|state| state["mcpServers"] = json!({ "other": { "command": "x" } }));
    assert_eq!(setup.report()["findings"], json!([]));
    // The same entry in two scopes, and a shared entry together with the user's entries.
    setup.write(USER_SETTINGS, "{}");
    setup.write(SHARED_SERVERS, "{}");
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    setup.ok(&["init", "--project"]);
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    let states: Vec<&Value> =
        report["servers"].as_array().unwrap().iter().map(|server| &server["state"]).collect();
    assert_eq!(states, ["used", "shadowed", "shadowed"], "{report:#}");
    // A local HTTP server is not started, and does not count as foreign.
    edit_server_entry(&setup, |entry| {
        *entry = json!({ "type": "http", "url": "http://127.0.0.1:4000/mcp" });
    });
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["servers"][0]["kind"], "http");
}

#[test]
fn text_report_shows_server_state() {
    let said = |setup: &DoctorSetup| {
        let text = setup.rutter(&["doctor"]).stdout;
        let line = text.lines().find(|line| line.starts_with("server ")).unwrap_or_default();
        line.split(": ").next().unwrap().trim_end().to_owned()
    };
    let setup = DoctorSetup::new();
    set_project_state(&setup, "disabledMcpServers", json!(["rutter"]));
    assert_eq!(said(&setup), "server    local    OFF");
    edit_server_entry(&setup, |entry| *entry = json!({ "command": 1 }));
    assert_eq!(said(&setup), "server    local    SKIPPED by the client");
    set_project_state(&setup, "disabledMcpServers", json!([]));
    edit_server_entry(&setup, |entry| *entry = json!({ "command": "npx" }));
    assert_eq!(said(&setup), "server    local    NOT RUTTER");
    edit_server_entry(&setup, |entry| {
        *entry = json!({ "type": "http", "url": "http://[::1]:9/mcp" });
    });
    assert_eq!(said(&setup), "server    local    over HTTP, not tried");
    set_project_state(&setup, "mcpServers", json!({}));
    assert_eq!(said(&setup), "server    no rutter entry");
    let setup = project_setup();
    set_project_state(&setup, "enabledMcpjsonServers", json!([]));
    let waits = said(&setup);
    assert!(waits.starts_with("server    project  waits for approval, 16 tools in "), "{waits}");
}

#[test]
fn shared_server_needs_approval() {
    let setup = project_setup();
    let name = || text_place(&setup, SHARED_SERVERS, "\"rutter\": ");
    set_project_state(&setup, "enabledMcpjsonServers", json!([]));
    setup.assert_only_finding(
        "server-pending",
        &name(),
        "start claude here once and choose to use the server",
    );
    // The user may approve all project servers.
    setup.write(USER_SETTINGS, "{\"enableAllProjectMcpServers\":true}");
    assert_eq!(setup.report()["findings"], json!([]));
    // A rejection takes precedence.
    setup.write(
        USER_SETTINGS,
        "{\"enableAllProjectMcpServers\":true,\"disabledMcpjsonServers\":[\"rutter\"]}",
    );
    let advice = "remove `rutter` from disabledMcpjsonServers there";
    setup.assert_only_finding("server-off", &format!("[HOME]/{USER_SETTINGS}:1:61"), advice);
    fs::remove_file(setup.path(USER_SETTINGS)).unwrap();
    set_project_state(&setup, "disabledMcpjsonServers", json!(["rutter"]));
    setup.assert_only_finding(
        "server-off",
        &text_place(&setup, CLIENT_STATE, "\"disabledMcpjsonServers\": "),
        advice,
    );
    // Then the client uses the server of the user scope.
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    assert_eq!(report["servers"][1]["state"], "used", "{report:#}");
}

#[test]
fn shared_server_found_from_subdir() {
    let setup = project_setup();
    fs::create_dir_all(setup.path("ship/deep/er")).unwrap();
    let mut doctor = setup.command(&["doctor", "--json"]);
    let ran = CommandOutput::run(doctor.current_dir(setup.path("ship/deep/er")));
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["servers"][0]["whose"], "project", "{report:#}");
    assert_eq!(report["servers"][0]["tools"], 16, "{report:#}");
}

#[test]
fn project_server_impostor_is_reported() {
    let setup = DoctorSetup::without_init();
    setup.ok(&["init", "--user", "--bin", &setup.text("bin/rutter")]);
    setup.program("ship/mischief", &format!("#!/bin/sh\ntouch '{}'\n", setup.text("ran")));
    setup.write(SHARED_SERVERS, &shared_servers("./mischief"));
    let place = format!("[HOME]/{SHARED_SERVERS}:1:25");
    let advice = "claude mcp remove rutter -s project";
    setup.assert_only_finding("server-foreign-allowed", &place, advice);
    // `claude -p` does not wait for an approval.
    set_project_state(&setup, "enabledMcpjsonServers", json!([]));
    setup.assert_only_finding("server-foreign-allowed", &place, advice);
    let report = setup.report();
    let states: Vec<&Value> =
        report["servers"].as_array().unwrap().iter().map(|server| &server["state"]).collect();
    assert_eq!(states, ["pending", "used"], "{report:#}");
    // A nearer registration of rutter or a rejection prevents it.
    setup.ok(&["init", "--bin", &setup.text("bin/rutter")]);
    assert_eq!(setup.report()["findings"], json!([]));
    setup.ok(&["uninstall"]);
    set_project_state(&setup, "disabledMcpjsonServers", json!(["rutter"]));
    assert_eq!(setup.report()["findings"], json!([]));
    assert!(!setup.path("ran").exists());
}

#[test]
fn untrusted_server_is_not_started() {
    let setup = project_setup();
    setup.program("ship/tools/rutter", &format!("#!/bin/sh\n: >'{}'\n", setup.text("ran")));
    let ours = fs::read_to_string(setup.path(SHARED_SERVERS)).unwrap();
    let mut with_variables: Value = serde_json::from_str(&ours).unwrap();
    let preload = json!({ "PATH": setup.text("ship/tools") });
    with_variables["mcpServers"]["rutter"]["env"] = preload;
    let inside =
        json!({ "mcpServers": { "rutter": { "command": "./tools/rutter", "args": ["mcp"] } } });
    for servers in [with_variables, inside] {
        setup.write(SHARED_SERVERS, &servers.to_string());
        setup.distrust_all();
        let report = setup.report();
        assert_eq!(report["servers"][0]["tools"], json!(null), "{report:#}");
        assert!(!setup.path("ran").exists(), "{report:#}");
        // If the client trusts the checkout, it starts the server, and so does the doctor.
        setup.trust_dir(&setup.path("ship"));
        drop(setup.report());
        assert!(setup.path("ran").exists(), "{servers}");
        fs::remove_file(setup.path("ran")).unwrap();
    }
}

#[test]
fn plugin_server_is_second_server() {
    let setup = DoctorSetup::new();
    setup.ok(&["init", "--plugin", &setup.text("plugins/rutter")]);
    let folder = json!([{ "scope": "user", "installPath": setup.text("plugins/rutter") }]);
    let installed = json!({ "version": 2, "plugins": { "rutter@rutter": folder } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    let settings = json!({
        "enabledPlugins": { "rutter@rutter": true },
        "permissions": { "allow": ["mcp__plugin_rutter_rutter__status"] },
    });
    setup.write(USER_SETTINGS, &settings.to_string());
    let twice = text_place(&setup, "plugins/rutter/.mcp.json", "\"rutter\": ");
    setup.assert_only_finding("server-twice", &twice, "claude plugin disable rutter@rutter");
    // The plugin alone is valid, also together with an identical entry.
    setup.ok(&["uninstall"]);
    assert_eq!(setup.report()["findings"], json!([]));
    setup.ok(&["init", "--project"]);
    assert_eq!(setup.report()["findings"], json!([]));
}

#[test]
fn shadowed_program_is_reported() {
    let setup = DoctorSetup::new();
    fs::create_dir(setup.path("other")).unwrap();
    fs::copy(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    let entry = json!({ "command": setup.text("other/rutter"), "args": ["mcp"] });
    setup.edit_client_state(|state| state["mcpServers"] = json!({ "rutter": entry }));
    let whole = fs::read_to_string(setup.path(CLIENT_STATE)).unwrap();
    let at = whole.rfind("\"rutter\": ").unwrap() + "\"rutter\": ".len();
    let line = whole[..at].matches('\n').count() + 1;
    let column = at - whole[..at].rfind('\n').unwrap();
    let place = format!("[HOME]/{CLIENT_STATE}:{line}:{column}");
    setup.assert_only_finding("server-shadowed", &place, "rutter uninstall --user");
}

#[test]
fn shared_server_needs_path() {
    let setup = project_setup();
    // The hooks need it too, and the finding appears once.
    fs::remove_file(setup.path("bin/rutter")).unwrap();
    let report = setup.report();
    let codes: Vec<&Value> =
        report["findings"].as_array().unwrap().iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["program-not-in-path"], "{report:#}");
    // Hooks with a fixed path do not need it.
    let setup = project_setup();
    setup.write("other/rutter", "");
    fs::rename(setup.path("bin/rutter"), setup.path("other/rutter")).unwrap();
    fs::set_permissions(setup.path("other/rutter"), fs::Permissions::from_mode(0o755)).unwrap();
    setup.ok(&["uninstall", "--project"]);
    setup.ok(&["init", "--bin", &setup.text("other/rutter")]);
    set_project_state(&setup, "mcpServers", json!({}));
    let other = DoctorSetup::without_init();
    other.ok(&["init", "--project"]);
    fs::copy(other.path(SHARED_SERVERS), setup.path(SHARED_SERVERS)).unwrap();
    let name = text_place(&setup, SHARED_SERVERS, "\"rutter\": ");
    setup.assert_only_finding("program-not-in-path", &name, "add the folder of rutter to PATH");
}

#[test]
fn rule_for_whole_server_is_reported() {
    let setup = DoctorSetup::new();
    setup.write(USER_SETTINGS, "{\"permissions\":{\"allow\":[\"mcp__rutter\"]}}");
    let advice = "rutter init, which allows the tools by name";
    setup.assert_only_finding(
        "server-allowed-whole",
        &format!("[HOME]/{USER_SETTINGS}:1:26"),
        advice,
    );
    // A star is the user's own, and `init` leaves it alone.
    let advice = "remove the rule, then run rutter init, which allows the tools by name";
    for rule in ["mcp__rutter__*", "mcp__rutter__**"] {
        setup.write(USER_SETTINGS, &json!({ "permissions": { "allow": [rule] } }).to_string());
        setup.assert_only_finding(
            "server-allowed-whole",
            &format!("[HOME]/{USER_SETTINGS}:1:26"),
            advice,
        );
    }
}
