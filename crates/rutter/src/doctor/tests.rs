//! Tests of situations that an integration test cannot set up: managed settings, shared entries, and arbitrary text.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use proptest::prelude::*;
use rutter_contract::EventName;
use rutter_contract::version::Contract;
use serde_json::json;

use super::entry::{Entry, Start};
use super::finding::{Finding, Place};
use super::layers::{Layer, State, Whose, read, switches};
use super::places::{Places, Variables, managed, managed_servers};
use super::servers::{Around, Servers, State as Registered};
use super::trust::ClientState;
use super::{hooks, program};
use crate::install::{self, groups, install, is_installed};

fn places(folder: &Path) -> Places {
    Places {
        folder: folder.join("ship"),
        managed: managed(&folder.join("etc")),
        managed_servers: managed_servers(&folder.join("etc")),
        config: Some(folder.join("home/.claude")),
        state: Some(folder.join("home/.claude.json")),
        variables: Variables {
            rutter_home: Some(folder.join("memory").into_os_string()),
            ..Variables::default()
        },
        search: Vec::new(),
    }
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn found(places: &Places, folder: &Path) -> Vec<(&'static str, String)> {
    let mut findings = Vec::new();
    let layers = read(places, Contract::newest(), &mut findings);
    findings.extend(switches(&layers, places, Contract::newest(), &folder.join("memory")));
    let shown = |place: Option<Place>| {
        let place = place.map(|place| place.to_string()).unwrap_or_default();
        place.replace(folder.to_str().unwrap(), "")
    };
    findings.into_iter().map(|Finding { code, place, .. }| (code.name, shown(place))).collect()
}

fn start(program: &str) -> crate::install::Start {
    crate::install::Start::Path(program.to_owned())
}

/// Returns the changes of `init` to the settings.
fn wanted(program: &str) -> [install::Place; 2] {
    [install::Place::Hooks(groups(&start(program))), install::Place::Rule(true)]
}

#[test]
fn an_organisation_decides() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    put(&at("ship/.claude/settings.local.json"), "{\"disableAllHooks\": false}");
    let whole = at("etc/managed-settings.json");
    for (text, code, place) in [
        ("{\"allowManagedHooksOnly\": true}", "hooks-managed-only", ":1:27"),
        ("{\"strictPluginOnlyCustomization\": true}", "hooks-managed-only", ":1:35"),
        ("{\"strictPluginOnlyCustomization\": [\"hooks\"]}", "hooks-managed-only", ":1:35"),
        ("{\"disableAllHooks\": true}", "hooks-disabled", ":1:21"),
        ("{\"allowManagedHooksOnly\": true,}", "settings-not-json", ":1:32"),
    ] {
        put(&whole, text);
        let expected = vec![(code, format!("/etc/managed-settings.json{place}"))];
        assert_eq!(found(&places(folder.path()), folder.path()), expected, "{text}");
    }
    put(&whole, "{\"strictPluginOnlyCustomization\": [\"skills\"], \"disableAllHooks\": true}");
    // Files of the `.d` folder take precedence over the main file, and later names over earlier ones.
    put(&at("etc/managed-settings.d/10-a.json"), "{\"disableAllHooks\": true}");
    put(&at("etc/managed-settings.d/20-b.json"), "{\"disableAllHooks\": false}");
    assert_eq!(found(&places(folder.path()), folder.path()), []);
}

#[test]
fn an_organisation_decides_about_servers() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let at = |name: &str| root.join(name);
    let allow = "{\"permissions\": {\"allow\": [\"mcp__rutter__status\"]}}";
    put(&at("ship/.claude/settings.local.json"), allow);
    let server = json!({ "rutter": { "command": "/opt/rutter", "args": ["mcp"] } });
    put(&at("home/.claude.json"), &json!({ "mcpServers": server }).to_string());
    let found = || {
        let places = places(&root);
        let mut findings = Vec::new();
        let layers = read(&places, Contract::newest(), &mut findings);
        let state = ClientState::read(&places, Contract::newest(), &mut findings);
        let around = Around { places: &places, state: &state, layers: &layers };
        let mut servers = Servers::read(&around, &[], &mut findings);
        servers.examine(&around, &mut findings);
        let untrusted = |finding: &Finding| finding.code.name == "folder-untrusted";
        findings.retain(|finding| !untrusted(finding));
        let shown = |finding: Finding| {
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
        put(&at("etc").join(file), text);
        let expected = (code, format!("/etc/{file}{position}"));
        let expected = (expected.0, expected.1, "ask whoever manages this machine".to_owned());
        assert_eq!(found(), [expected], "{text}");
        std::fs::remove_file(at("etc").join(file)).unwrap();
    }
    let own = "{\"allowManagedPermissionRulesOnly\": true, \"permissions\": {\"allow\": [\"mcp__rutter__status\"]}}";
    put(&at("etc").join(settings), own);
    put(&at("etc").join(servers), &json!({ "mcpServers": server }).to_string());
    assert_eq!(found(), []);
}

#[test]
fn an_entry_that_looks_for_rutter_finds_none() {
    let folder = tempfile::tempdir().unwrap();
    let line = "if command -v rutter >/dev/null 2>&1; then exec rutter hook --from project; fi";
    let place = Place::file(Path::new("/ship/.claude/settings.json"));
    let entry = Entry {
        event: EventName::Stop,
        matcher: None,
        matcher_place: place.clone(),
        place,
        handler: json!({ "type": "command", "command": line }),
        plugin: None,
        whose: Whose::Project,
    };
    let places = places(folder.path());
    let start = entry.start(&places);
    assert!(matches!(start, Start::Guarded { .. }));
    let mut findings = Vec::new();
    assert!(!program::examine(&start, entry.place.clone(), &places, None, &mut findings));
    let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    assert_eq!(
        (finding.code.name, finding.advice.as_str()),
        ("program-not-in-path", "add the folder of rutter to PATH")
    );
}

#[test]
fn lines_for_a_shell_are_taken_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut places = places(folder.path());
    places.variables.home = Some("/home/me".into());
    for (line, word, path) in [
        ("/x/rutter hook", "/x/rutter", "/x/rutter"),
        ("'/x y/rutter' hook Stop", "'/x y/rutter'", "/x y/rutter"),
        ("\"$HOME/bin/rutter\" hook", "\"$HOME/bin/rutter\"", "/home/me/bin/rutter"),
        ("~/bin/rutter hook", "~/bin/rutter", "/home/me/bin/rutter"),
    ] {
        let place = Place::file(Path::new("/s"));
        let entry = Entry {
            event: EventName::Stop,
            matcher: None,
            matcher_place: place.clone(),
            place,
            handler: json!({ "type": "command", "command": line }),
            plugin: None,
            whose: Whose::User,
        };
        let start = entry.start(&places);
        assert_eq!(start, Start::Shell { line: line.to_owned(), word: word.to_owned() });
        assert_eq!(program::resolve(&start, &places).unwrap(), Path::new(path));
    }
}

/// Reads a text as the user's local settings file.
fn layer(folder: &Path, text: &str, contract: Contract) -> (Layer, Vec<Finding>) {
    let path = folder.join("ship/.claude/settings.local.json");
    put(&path, text);
    let mut findings = Vec::new();
    let layer = Layer::read(Whose::Local, &path, None, contract, &mut findings);
    (layer, findings)
}

/// Generates valid and invalid settings.
fn settings() -> impl Strategy<Value = String> {
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
    fn no_settings_make_it_panic(text in prop_oneof![3 => settings(), 1 => "[\\[\\]{}\",: a\n]{0,30}|\\PC{0,20}"]) {
        let folder = tempfile::tempdir().unwrap();
        for contract in Contract::MEASURED.map(Contract::for_client) {
            let (layer, findings) = layer(folder.path(), &text, contract);
            prop_assert!(findings.iter().all(|finding| finding.place.is_some()));
            let layers = [layer];
            let places = places(folder.path());
            drop(switches(&layers, &places, contract, folder.path()));
            drop(hooks::examine(&layers, &places));
        }
    }

    #[test]
    fn what_is_well_and_complete_is_installed(text in settings(), program in prop::sample::select(vec!["/opt/rutter", "/a b/rutter"])) {
        let folder = tempfile::tempdir().unwrap();
        // If `init` accepts the file, its own entries are complete afterwards. Other faults stay.
        let Ok(installed) = install(&text, &wanted(program)) else { return Ok(()) };
        let (layer, findings) = layer(folder.path(), &installed.text, Contract::newest());
        let void = findings.iter().any(|finding| {
            matches!(finding.code.name, "settings-voided" | "settings-key-wrong")
        });
        prop_assert_eq!(layer.state == State::Void, void, "{:?}", findings);
        if !void {
            let ours = groups(&start(program)).len();
            prop_assert_eq!(layer.ours, ours, "{}", installed.text);
            prop_assert!(is_installed(&installed.text, &wanted(program)).unwrap());
            let layers = [layer];
            let missing = hooks::examine(&layers, &places(folder.path()));
            prop_assert!(missing.is_empty(), "{:?}", missing);
        }
    }

    #[test]
    fn where_nothing_is_found_ours_are_there(text in settings()) {
        let folder = tempfile::tempdir().unwrap();
        let (layer, mut findings) = layer(folder.path(), &text, Contract::newest());
        let layers = [layer];
        findings.extend(hooks::examine(&layers, &places(folder.path())));
        if findings.is_empty() {
            prop_assert!(is_installed(&text, &wanted("/opt/rutter")).unwrap());
        }
    }
}

proptest! {
    // Each case writes several files.
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_servers_make_it_panic(one in settings(), other in settings()) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let places = places(&root);
        std::fs::create_dir_all(&places.folder).unwrap();
        let ship = places.folder.to_str().unwrap();
        let of = |value: &str| format!("{{\"mcpServers\":{{\"rutter\":{value}}}}}");
        for (shared, noted) in [(of(&one), of(&other)), (one.clone(), format!("{{\"mcpServers\":{other}}}"))] {
            put(&root.join("ship/.mcp.json"), &shared);
            let state = format!(
                "{{\"projects\":{{\"{ship}\":{noted}}},\"mcpServers\":{one},\"disabledMcpServers\":{other}}}"
            );
            put(&root.join("home/.claude.json"), &state);
            put(
                &root.join("ship/.claude/settings.json"),
                &format!(
                    "{{\"permissions\":{{\"deny\":{one},\"allow\":{other}}},\"allowedMcpServers\":[{one}],\
                     \"deniedMcpServers\":{other}}}"
                ),
            );
            let mut findings = Vec::new();
            let layers = read(&places, Contract::newest(), &mut findings);
            let state = ClientState::read(&places, Contract::newest(), &mut findings);
            let around = Around { places: &places, state: &state, layers: &layers };
            let mut servers = Servers::read(&around, &[], &mut findings);
            servers.examine(&around, &mut findings);
            prop_assert!(findings.iter().all(|finding| finding.place.is_some()), "{:?}", findings);
            let used = servers.all.iter().filter(|server| server.state == Registered::Used).count();
            prop_assert!(used <= 1, "one of a name is used");
        }
    }
}
