//! Tests of situations that an integration test cannot set up: managed settings, shared entries, and arbitrary text.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use rutter_check::settings::{
    ClientFiles, ClientState, EntrySource, FileLocation, HookEntry, LayerState, ServerState,
    SettingsLayer, SettingsSource, load_layers, load_servers, managed_servers_file,
    managed_settings_files,
};
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use serde_json::json;

use super::codes::FindingSeverity;
use super::entry::{self, LaunchCommand};
use super::finding::DoctorFinding;
use super::layers::{check_layers, check_switches, our_entries};
use super::places::{ClientEnvironment, ClientVariables};
use super::servers::ServerRegistrations;
use super::{hooks, program, trust};
use crate::install::{self, has_our_content, hook_groups, install};

fn client_environment(folder: &Path) -> ClientEnvironment {
    ClientEnvironment {
        files: ClientFiles {
            folder: folder.join("ship"),
            managed: managed_settings_files(&folder.join("etc")),
            managed_servers: managed_servers_file(&folder.join("etc")),
            config: Some(folder.join("home/.claude")),
            state: Some(folder.join("home/.claude.json")),
            ..ClientFiles::default()
        },
        variables: ClientVariables {
            rutter_home: Some(folder.join("memory")),
            ..ClientVariables::default()
        },
        search: Vec::new(),
    }
}

fn write_file(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn find_codes(places: &ClientEnvironment, folder: &Path) -> Vec<(&'static str, String)> {
    let layers = load_layers(&places.files, Contract::newest());
    let mut findings: Vec<DoctorFinding> = check_layers(&layers).collect();
    findings.extend(check_switches(&layers, places, Contract::newest(), &folder.join("memory")));
    let shown = |place: Option<FileLocation>| {
        let place = place.map(|place| place.to_string()).unwrap_or_default();
        place.replace(folder.to_str().unwrap(), "")
    };
    findings
        .into_iter()
        .map(|DoctorFinding { code, place, .. }| (code.name, shown(place)))
        .collect()
}

fn program_reference(program: &str) -> crate::install::ProgramReference {
    crate::install::ProgramReference::Path(program.to_owned())
}

/// Returns the changes of `init` to the settings.
fn init_content(program: &str) -> [install::WantedContent; 2] {
    [
        install::WantedContent::Hooks(hook_groups(&program_reference(program))),
        install::WantedContent::Rule(true),
    ]
}

#[test]
fn managed_settings_win() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_file(&at("ship/.claude/settings.local.json"), "{\"disableAllHooks\": false}");
    let whole = at("etc/managed-settings.json");
    for (text, code, place) in [
        ("{\"allowManagedHooksOnly\": true}", "hooks-managed-only", ":1:27"),
        ("{\"strictPluginOnlyCustomization\": true}", "hooks-managed-only", ":1:35"),
        ("{\"strictPluginOnlyCustomization\": [\"hooks\"]}", "hooks-managed-only", ":1:35"),
        ("{\"disableAllHooks\": true}", "hooks-disabled", ":1:21"),
        ("{\"allowManagedHooksOnly\": true,}", "settings-not-json", ":1:32"),
    ] {
        write_file(&whole, text);
        let expected = vec![(code, format!("/etc/managed-settings.json{place}"))];
        assert_eq!(
            find_codes(&client_environment(folder.path()), folder.path()),
            expected,
            "{text}"
        );
    }
    write_file(
        &whole,
        "{\"strictPluginOnlyCustomization\": [\"skills\"], \"disableAllHooks\": true}",
    );
    // Files of the `.d` folder take precedence over the main file, and later names over earlier ones.
    write_file(&at("etc/managed-settings.d/10-a.json"), "{\"disableAllHooks\": true}");
    write_file(&at("etc/managed-settings.d/20-b.json"), "{\"disableAllHooks\": false}");
    assert_eq!(find_codes(&client_environment(folder.path()), folder.path()), []);
}

#[test]
fn managed_settings_decide_servers() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |name: &str| root.join(name);
    let allow = "{\"permissions\": {\"allow\": [\"mcp__rutter__status\"]}}";
    write_file(&at("ship/.claude/settings.local.json"), allow);
    let server = json!({ "rutter": { "command": "/opt/rutter", "args": ["mcp"] } });
    write_file(&at("home/.claude.json"), &json!({ "mcpServers": server }).to_string());
    let found = || {
        let places = client_environment(&root);
        let layers = load_layers(&places.files, Contract::newest());
        let mut findings: Vec<DoctorFinding> = check_layers(&layers).collect();
        let state = ClientState::load(&places.files, Contract::newest());
        findings.extend(trust::check_trust(&state, &places.files));
        let loaded = load_servers(&places.files, &state, &layers, &[]);
        let servers = ServerRegistrations::new(loaded, &state, &mut findings);
        servers.check_states(&layers, &mut findings);
        let untrusted = |finding: &DoctorFinding| finding.code.name == "folder-untrusted";
        findings.retain(|finding| !untrusted(finding));
        let shown = |finding: DoctorFinding| {
            let place = finding.place.map(|place| place.to_string()).unwrap_or_default();
            (finding.code.name, place.replace(root.to_str().unwrap(), ""), finding.advice)
        };
        findings.into_iter().map(shown).collect::<Vec<_>>()
    };
    assert_eq!(found(), []);
    let settings = "managed-settings.json";
    let servers = "managed-mcp.json";
    for (file, text, code, position) in [
        (servers, "{\"mcpServers\": {\"x\": {}}}", "server-not-admitted", ""),
        (
            settings,
            "{\"strictPluginOnlyCustomization\": [\"mcp\"]}",
            "server-not-admitted",
            ":1:35",
        ),
        (
            settings,
            "{\"deniedMcpServers\": [{\"serverName\": \"rutter\"}]}",
            "server-not-admitted",
            ":1:23",
        ),
        (settings, "{\"allowedMcpServers\": []}", "server-not-admitted", ":1:23"),
        (settings, "{\"permissions\": {\"deny\": [\"mcp__rutter__*\"]}}", "server-denied", ":1:27"),
        (settings, "{\"allowManagedPermissionRulesOnly\": true}", "server-not-allowed", ":1:37"),
    ] {
        write_file(&at("etc").join(file), text);
        let expected = (code, format!("/etc/{file}{position}"));
        let expected = (expected.0, expected.1, "ask the administrator of this machine".to_owned());
        assert_eq!(found(), [expected], "{text}");
        std::fs::remove_file(at("etc").join(file)).unwrap();
    }
    let own = "{\"allowManagedPermissionRulesOnly\": true, \"permissions\": {\"allow\": [\"mcp__rutter__status\"]}}";
    write_file(&at("etc").join(settings), own);
    write_file(&at("etc").join(servers), &json!({ "mcpServers": server }).to_string());
    assert_eq!(found(), []);
}

#[test]
fn guarded_entry_reports_missing_program() {
    let folder = tempfile::tempdir().unwrap();
    let line = "if command -v rutter >/dev/null 2>&1; then exec rutter hook --from project; fi";
    let place = FileLocation::whole_file(Path::new("/ship/.claude/settings.json"));
    let entry = HookEntry {
        event: EventName::Stop,
        matcher: None,
        matcher_place: place.clone(),
        place,
        handler: json!({ "type": "command", "command": line }),
        plugin: None,
        whose: SettingsSource::Project,
        source: EntrySource::default(),
    };
    let places = client_environment(folder.path());
    let start = entry::launch_command(&entry, &places);
    assert!(matches!(start, LaunchCommand::Guarded { .. }));
    let mut findings = Vec::new();
    assert!(!program::examine_program(&start, entry.place.clone(), &places, &mut findings));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(
        (finding.code.name, finding.advice.as_str()),
        ("program-not-in-path", "add the folder of rutter to PATH")
    );
}

#[test]
fn dynamic_build_is_reported() {
    assert!(program::check_linking(true).is_none());
    let finding = program::check_linking(false).unwrap();
    assert_eq!((finding.code.name, finding.severity()), ("build-dynamic", FindingSeverity::Note));
    assert!(finding.advice.starts_with("cargo install --path"), "{}", finding.advice);
}

#[test]
fn parses_shell_lines() {
    let folder = tempfile::tempdir().unwrap();
    let mut places = client_environment(folder.path());
    places.files.home = Some("/home/me".into());
    for (line, word, path) in [
        ("/x/rutter hook", "/x/rutter", "/x/rutter"),
        ("'/x y/rutter' hook Stop", "'/x y/rutter'", "/x y/rutter"),
        ("\"$HOME/bin/rutter\" hook", "\"$HOME/bin/rutter\"", "/home/me/bin/rutter"),
        ("~/bin/rutter hook", "~/bin/rutter", "/home/me/bin/rutter"),
    ] {
        let place = FileLocation::whole_file(Path::new("/s"));
        let entry = HookEntry {
            event: EventName::Stop,
            matcher: None,
            matcher_place: place.clone(),
            place,
            handler: json!({ "type": "command", "command": line }),
            plugin: None,
            whose: SettingsSource::User,
            source: EntrySource::default(),
        };
        let start = entry::launch_command(&entry, &places);
        assert_eq!(start, LaunchCommand::Shell { line: line.to_owned(), word: word.to_owned() });
        assert_eq!(program::resolve_program(&start, &places).unwrap(), Path::new(path));
    }
}

/// Reads a text as the user's local settings file.
fn read_layer(
    folder: &Path,
    text: &str,
    contract: Contract,
) -> (SettingsLayer, Vec<DoctorFinding>) {
    let path = folder.join("ship/.claude/settings.local.json");
    write_file(&path, text);
    let layer = SettingsLayer::load(SettingsSource::Local, &path, None, contract);
    let findings = check_layers(std::slice::from_ref(&layer)).collect();
    (layer, findings)
}

/// Generates valid and invalid settings.
fn arbitrary_settings() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "null",
        "1",
        "-1",
        "\"x\"",
        "true",
        "[]",
        "{}",
        "[null]",
        "\"Bash\"",
        "[{}]",
        "{\"type\":\"command\",\"command\":\"/x/rutter\",\"args\":[\"hook\"]}",
        "{\"type\":\"command\",\"command\":\"rutter hook\",\"timeout\":0}",
        "{\"type\":\"prompt\"}",
        "\"\\ud800\"",
        "1e999",
        "{\"hooks\":[{}],\"matcher\":1}",
    ]);
    let key = prop::sample::select(vec![
        "hooks",
        "matcher",
        "type",
        "Stop",
        "PreToolUse",
        "PermissionRequest",
        "env",
        "x",
        "SessionStart",
        "model",
    ]);
    let leaf = value.prop_map(str::to_owned);
    leaf.prop_recursive(5, 40, 4, move |inner| {
        let members =
            prop::collection::vec((key.clone(), inner.clone()), 0..4).prop_map(|members| {
                let members: Vec<_> =
                    members.into_iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(",\n"))
            });
        let items =
            prop::collection::vec(inner, 0..3).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![2 => members, 1 => items]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn settings_never_panic(text in prop_oneof![3 => arbitrary_settings(), 1 => "[\\[\\]{}\",: a\n]{0,30}|\\PC{0,20}"]) {
        let folder = tempfile::tempdir().unwrap();
        for contract in Contract::MEASURED.map(Contract::for_client) {
            let (layer, findings) = read_layer(folder.path(), &text, contract);
            prop_assert!(findings.iter().all(|finding| finding.place.is_some()));
            let layers = [layer];
            let places = client_environment(folder.path());
            drop(check_switches(&layers, &places, contract, folder.path()));
            drop(hooks::check_entries(&layers, &places));
        }
    }

    #[test]
    fn installed_settings_pass_checks(text in arbitrary_settings(), program in prop::sample::select(vec!["/opt/rutter", "/a b/rutter"])) {
        let folder = tempfile::tempdir().unwrap();
        // If `init` accepts the file, its own entries are complete afterwards. Other faults stay.
        let Ok(installed) = install(&text, &init_content(program)) else { return Ok(()) };
        let (layer, findings) = read_layer(folder.path(), &installed.text, Contract::newest());
        let void = findings.iter().any(|finding| {
            matches!(finding.code.name, "settings-voided" | "settings-key-wrong")
        });
        prop_assert_eq!(layer.state == LayerState::Void, void, "{:?}", findings);
        if !void {
            let ours = hook_groups(&program_reference(program)).len();
            let layers = [layer];
            prop_assert_eq!(our_entries(&layers).count(), ours, "{}", installed.text);
            prop_assert!(has_our_content(&installed.text, &init_content(program)).unwrap());
            let missing = hooks::check_entries(&layers, &client_environment(folder.path()));
            prop_assert!(missing.is_empty(), "{:?}", missing);
        }
    }

    #[test]
    fn no_findings_imply_installed(text in arbitrary_settings()) {
        let folder = tempfile::tempdir().unwrap();
        let (layer, mut findings) = read_layer(folder.path(), &text, Contract::newest());
        let layers = [layer];
        findings.extend(hooks::check_entries(&layers, &client_environment(folder.path())));
        if findings.is_empty() {
            prop_assert!(has_our_content(&text, &init_content("/opt/rutter")).unwrap());
        }
    }
}

proptest! {
    // Each case writes several files.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn servers_never_panic(one in arbitrary_settings(), other in arbitrary_settings()) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = client_environment(&root);
        std::fs::create_dir_all(&places.files.folder).unwrap();
        let ship = places.files.folder.to_str().unwrap();
        let of = |value: &str| format!("{{\"mcpServers\":{{\"rutter\":{value}}}}}");
        for (shared, noted) in [(of(&one), of(&other)), (one.clone(), format!("{{\"mcpServers\":{other}}}"))] {
            write_file(&root.join("ship/.mcp.json"), &shared);
            let state = format!(
                "{{\"projects\":{{\"{ship}\":{noted}}},\"mcpServers\":{one},\"disabledMcpServers\":{other}}}"
            );
            write_file(&root.join("home/.claude.json"), &state);
            write_file(
                &root.join("ship/.claude/settings.json"),
                &format!(
                    "{{\"permissions\":{{\"deny\":{one},\"allow\":{other}}},\"allowedMcpServers\":[{one}],\
                     \"deniedMcpServers\":{other}}}"
                ),
            );
            let layers = load_layers(&places.files, Contract::newest());
            let mut findings: Vec<DoctorFinding> = check_layers(&layers).collect();
            let state = ClientState::load(&places.files, Contract::newest());
            findings.extend(trust::check_trust(&state, &places.files));
            let loaded = load_servers(&places.files, &state, &layers, &[]);
            let servers = ServerRegistrations::new(loaded, &state, &mut findings);
            servers.check_states(&layers, &mut findings);
            prop_assert!(findings.iter().all(|finding| finding.place.is_some()), "{:?}", findings);
            let used = servers.all.iter().filter(|server| server.registered.state == ServerState::Used).count();
            prop_assert!(used <= 1, "one of a name is used");
        }
    }
}
