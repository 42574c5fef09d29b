//! Property tests: installation in and removal from arbitrary settings and server files, in any layout.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::places::{InstalledText, WantedContent, has_our_content, install, uninstall};
use super::record::{CreatedItems, InstallRecord};
use super::server::{self, SERVER_RULE};
use super::table::ProgramReference;

const PROGRAM: &str = "/opt/rutter";

/// Returns the content for a settings file.
fn wanted_content(program: &str) -> Vec<WantedContent> {
    vec![
        WantedContent::Hooks(super::table::hook_groups(&ProgramReference::Path(
            program.to_owned(),
        ))),
        WantedContent::Rule(true),
    ]
}

/// Returns the content for removal.
fn no_content() -> Vec<WantedContent> {
    vec![WantedContent::Hooks(Vec::new()), WantedContent::Rule(false)]
}

/// Returns the record of an installation.
fn install_record(before: &str, installed: &InstalledText) -> InstallRecord {
    InstallRecord::new(before, installed, CreatedItems::default().with_added_content(installed))
}

/// Writes JSON with various whitespace between its tokens.
fn format_with_blanks(value: &Value, blanks: &mut impl FnMut() -> String) -> String {
    let mut out = blanks();
    match value {
        Value::Array(items) => {
            out.push('[');
            let items: Vec<_> = items.iter().map(|item| format_with_blanks(item, blanks)).collect();
            out += &items.join(",");
            if items.is_empty() {
                out += &blanks();
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            let members: Vec<_> = members
                .iter()
                .map(|(key, value)| {
                    format!(
                        "{}{}{}:{}",
                        blanks(),
                        json!(key),
                        blanks(),
                        format_with_blanks(value, blanks)
                    )
                })
                .collect();
            out += &members.join(",");
            if members.is_empty() {
                out += &blanks();
            }
            out.push('}');
        }
        scalar => out += &scalar.to_string(),
    }
    out + &blanks()
}

fn arbitrary_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z \"\\\\\n{}\\[\\],:é漢🦀]{0,8}".prop_map(Value::from),
    ]
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    arbitrary_scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,3}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates a handler of another program, or an arbitrary value in its place.
fn foreign_handler() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z]{1,5}".prop_map(|name| json!({ "type": "command", "command": format!("/x/{name}") })),
        Just(json!({ "type": "command", "command": "/x/rutter", "args": ["tend"] })),
        arbitrary_json(),
    ]
}

fn foreign_group() -> impl Strategy<Value = Value> {
    let groups = (prop::option::of("[A-Z|]{0,4}"), prop::collection::vec(foreign_handler(), 0..3));
    prop_oneof![
        4 => groups.prop_map(|(matcher, hooks)| match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": hooks }),
            None => json!({ "hooks": hooks }),
        }),
        1 => arbitrary_json(),
    ]
}

/// Generates permissions with rules of the user and arbitrary other keys.
fn foreign_permissions() -> impl Strategy<Value = Value> {
    let rules = prop::collection::vec(
        prop_oneof![2 => "Bash\\([a-z]{1,3}\\)".prop_map(Value::from), 1 => arbitrary_scalar()],
        0..3,
    );
    let allow = prop::option::of(rules)
        .prop_map(|rules| rules.map(|rules| ("allow".to_owned(), rules.into())));
    (allow, prop::collection::vec(("[a-z]{2}", arbitrary_json()), 0..2), any::<bool>()).prop_map(
        |(allow, others, first)| {
            let mut members: Vec<(String, Value)> = others;
            let at = if first { 0 } else { members.len() };
            if let Some(allow) = allow {
                members.insert(at, allow);
            }
            Value::Object(members.into_iter().collect())
        },
    )
}

/// Generates settings, optionally with hooks and rules of the user.
fn foreign_settings() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("SessionStart"),
        Just("SessionEnd"),
        Just("PostToolUse"),
        Just("PostToolUseFailure"),
        Just("Stop"),
        Just("NoSuchEvent"),
    ];
    let hooks = prop::collection::vec((name, prop::collection::vec(foreign_group(), 0..3)), 0..5);
    let hooks = hooks.prop_map(|events| {
        let events =
            events.into_iter().map(|(name, groups)| (name.to_owned(), Value::from(groups)));
        Value::Object(events.collect())
    });
    let special = [("hooks", hooks.boxed()), ("permissions", foreign_permissions().boxed())];
    object_with(special.map(|(key, value)| (key.to_owned(), value)).to_vec())
}

/// Generates an object with some of these members among others.
fn object_with(special: Vec<(String, BoxedStrategy<Value>)>) -> impl Strategy<Value = Value> {
    let special: Vec<_> = special
        .into_iter()
        .map(|(key, value)| (Just(key), prop::option::of(value), any::<prop::sample::Index>()))
        .collect();
    let others = prop::collection::vec(("[a-z]{1,4}", arbitrary_json()), 0..4);
    (others, special).prop_map(|(others, special)| {
        let mut members: Vec<(String, Value)> = others;
        for (key, value, at) in special {
            let Some(value) = value else { continue };
            members.insert(at.index(members.len() + 1), (key, value));
        }
        Value::Object(members.into_iter().collect())
    })
}

/// Path of a folder's servers in the client's file. The folder's name needs escapes.
const KEYS: [&str; 3] = ["projects", "/a \"b\"/ü\\", "mcpServers"];

fn server_keys() -> Vec<String> {
    KEYS.map(str::to_owned).to_vec()
}

fn server_content(program: &str) -> [WantedContent; 1] {
    let entry = server::build_server_entry(&ProgramReference::Path(program.to_owned()));
    [WantedContent::Server(server_keys(), Some(entry))]
}

/// Generates a client's state, optionally with servers of the user.
fn client_state() -> impl Strategy<Value = Value> {
    let servers = prop::collection::vec(("[a-q]{1,3}", arbitrary_json()), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let project = object_with(vec![(KEYS[2].to_owned(), servers.boxed())]);
    let projects = object_with(vec![(KEYS[1].to_owned(), project.boxed())]);
    object_with(vec![(KEYS[0].to_owned(), projects.boxed())])
}

/// Generates the text of settings, in an arbitrary layout.
fn settings_text() -> impl Strategy<Value = String> {
    formatted_json(foreign_settings().boxed())
}

/// Generates the text of a value, in an arbitrary layout.
fn formatted_json(value: BoxedStrategy<Value>) -> impl Strategy<Value = String> {
    let blanks = prop::collection::vec(
        prop::sample::select(vec!["", "", " ", "\n", "\r\n", "\n  ", "\n\t", "\r\n    "]),
        1..7,
    );
    let wild = (value.clone(), blanks).prop_map(|(value, blanks)| {
        let mut blanks = blanks.into_iter().cycle();
        format_with_blanks(&value, &mut || blanks.next().unwrap_or_default().to_owned())
    });
    let tidy = (value.clone(), any::<bool>())
        .prop_map(|(value, newline)| format!("{value:#}{}", if newline { "\n" } else { "" }));
    let flat = value.prop_map(|value| value.to_string());
    prop_oneof![2 => wild, 2 => tidy, 1 => flat, 1 => "[ \n\t]{0,3}"]
}

/// Returns the settings without empty events, hooks and rules.
fn without_empty_containers(text: &str) -> Value {
    let mut value = parse_json_or_blank(text);
    if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if events.is_empty() {
            value.as_object_mut().unwrap().remove("hooks");
        }
    }
    if let Some(rules) = value.get_mut("permissions").and_then(Value::as_object_mut) {
        rules.retain(|key, rules| key != "allow" || *rules != json!([]));
        if rules.is_empty() {
            value.as_object_mut().unwrap().remove("permissions");
        }
    }
    value
}

fn parse_json_or_blank(text: &str) -> Value {
    if text.trim().is_empty() { json!({}) } else { serde_json::from_str(text).unwrap() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn uninstall_restores_exact_bytes(text in settings_text()) {
        let installed = install(&text, &wanted_content(PROGRAM)).unwrap();
        prop_assert!(has_our_content(&installed.text, &no_content()).unwrap());
        let value: Value = serde_json::from_str(&installed.text).unwrap();
        for group in super::table::hook_groups(&ProgramReference::Path(PROGRAM.to_owned())) {
            let there = value["hooks"][group.event.as_str()].as_array().unwrap();
            prop_assert_eq!(there.iter().filter(|there| **there == group.value).count(), 1);
        }
        let rules = value["permissions"]["allow"].as_array().unwrap();
        for wanted in server::tool_rules(SERVER_RULE) {
            prop_assert_eq!(rules.iter().filter(|rule| **rule == wanted).count(), 1);
        }
        prop_assert_eq!(install_record(&text, &installed).undo(&installed.text), Some(text.clone()));
        // Without the record, the meaning is restored, but not the exact bytes.
        let out = uninstall(&installed.text, &no_content(), usize::MAX).unwrap();
        prop_assert!(!has_our_content(&out, &no_content()).unwrap());
        prop_assert!(!out.contains(SERVER_RULE));
        prop_assert_eq!(without_empty_containers(&out), without_empty_containers(&text));
    }

    #[test]
    fn install_is_idempotent(text in settings_text()) {
        let once = install(&text, &wanted_content(PROGRAM)).unwrap().text;
        let twice = install(&once, &wanted_content(PROGRAM)).unwrap();
        prop_assert_eq!(twice.text, once);
        prop_assert!(twice.edits.is_none() && !twice.within.rule);
    }

    #[test]
    fn install_replaces_other_program(text in settings_text()) {
        let first = install(&text, &wanted_content("/old folder/rutter")).unwrap().text;
        let second = install(&first, &wanted_content(PROGRAM)).unwrap().text;
        prop_assert!(!second.contains("/old folder/"));
        // In the same positions. Whitespace may differ if the file's own is unusual.
        prop_assert_eq!(parse_json_or_blank(&second), parse_json_or_blank(&install(&text, &wanted_content(PROGRAM)).unwrap().text));
    }

    #[test]
    fn uninstall_keeps_later_edits(text in settings_text(), key in "[A-Z]{3}", value in arbitrary_json()) {
        let installed = install(&text, &wanted_content(PROGRAM)).unwrap();
        let mut edited: Value = serde_json::from_str(&installed.text).unwrap();
        edited[&key] = value.clone();
        let edited = format!("{edited:#}");
        prop_assert_eq!(install_record(&text, &installed).undo(&edited), None);
        let out = uninstall(&edited, &no_content(), installed.within.around).unwrap();
        prop_assert!(!has_our_content(&out, &no_content()).unwrap());
        let mut expected = without_empty_containers(&text);
        expected[&key] = value;
        prop_assert_eq!(without_empty_containers(&out), expected);
    }

    #[test]
    fn install_adds_missing_rule(text in settings_text()) {
        let older = install(&text, &wanted_content(PROGRAM)[..1]).unwrap().text;
        let newer = install(&older, &wanted_content(PROGRAM)).unwrap();
        prop_assert!(newer.within.rule);
        prop_assert_eq!(parse_json_or_blank(&newer.text), parse_json_or_blank(&install(&text, &wanted_content(PROGRAM)).unwrap().text));
    }

    #[test]
    fn server_install_is_reversible(text in formatted_json(client_state().boxed())) {
        let installed = install(&text, &server_content(PROGRAM)).unwrap();
        let value: Value = serde_json::from_str(&installed.text).unwrap();
        let entry = KEYS.iter().fold(&value, |value, key| &value[*key]).get("rutter").unwrap();
        prop_assert_eq!(&entry["command"], PROGRAM);
        prop_assert_eq!(install_record(&text, &installed).undo(&installed.text), Some(text.clone()));
        let again = install(&installed.text, &server_content(PROGRAM)).unwrap();
        prop_assert_eq!(&again.text, &installed.text);
        prop_assert!(again.edits.is_none());
        // With only the created containers from the record, the meaning is restored exactly.
        let gone = [WantedContent::Server(server_keys(), None)];
        let out = uninstall(&installed.text, &gone, installed.within.around).unwrap();
        prop_assert_eq!(parse_json_or_blank(&out), parse_json_or_blank(&text));
        prop_assert_eq!(uninstall(&out, &gone, installed.within.around).unwrap(), out);
    }

    #[test]
    fn keeps_concurrent_client_writes(text in formatted_json(client_state().boxed()), value in arbitrary_json()) {
        let installed = install(&text, &server_content("/old/rutter")).unwrap();
        let mut written: Value = serde_json::from_str(&installed.text).unwrap();
        let mut expected = parse_json_or_blank(&text);
        for value_of in [&mut written, &mut expected] {
            value_of["LATER"] = value.clone();
            value_of[KEYS[0]][KEYS[1]]["LATER"] = value.clone();
        }
        let written = format!("{written:#}");
        let moved = install(&written, &server_content(PROGRAM)).unwrap();
        prop_assert!(moved.text.contains(PROGRAM) && !moved.text.contains("/old/"));
        let out = uninstall(&moved.text, &[WantedContent::Server(server_keys(), None)], installed.within.around).unwrap();
        prop_assert_eq!(parse_json_or_blank(&out), expected);
    }

    #[test]
    fn text_never_panics(text in "[\\[\\]{}\",: a\n]{0,30}|\\PC{0,20}") {
        if let Ok(installed) = install(&text, &wanted_content(PROGRAM)) {
            prop_assert_eq!(install_record(&text, &installed).undo(&installed.text), Some(text.clone()));
        }
        if let Ok(installed) = install(&text, &server_content(PROGRAM)) {
            prop_assert_eq!(install_record(&text, &installed).undo(&installed.text), Some(text));
        }
    }
}

#[test]
fn rejects_conflicting_content() {
    let start = ProgramReference::Path(PROGRAM.to_owned());
    let place = [WantedContent::Server(
        vec!["mcpServers".to_owned()],
        Some(server::build_server_entry(&start)),
    )];
    for (text, complaint) in [
        ("{\"mcpServers\": []}", ":1:16: `mcpServers` must be an object"),
        ("{\"mcpServers\": {},\n\"mcpServers\": {}}", ":2:1: `mcpServers` occurs a second time"),
        ("{\"mcpServers\": {\"rutter\": {\"command\": \"x\"}}}", ":1:17: a server called `rutter`"),
        (
            "{\"mcpServers\": {\"rutter\": 1, \"rutter\": 2}}",
            ":1:30: `rutter` occurs a second time",
        ),
    ] {
        let error = install(text, &place).unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
        // None of these texts contains an entry of ours.
        let gone = [WantedContent::Server(vec!["mcpServers".to_owned()], None)];
        assert_eq!(uninstall(text, &gone, usize::MAX).unwrap(), text);
    }
    for (text, complaint) in [
        ("{\"permissions\": 1}", ":1:17: `permissions` must be an object"),
        ("{\"permissions\": {\"allow\": \"x\"}}", ":1:27: `allow` must be an array"),
    ] {
        assert!(
            install(text, &[WantedContent::Rule(true)])
                .unwrap_err()
                .to_string()
                .starts_with(complaint)
        );
        assert_eq!(uninstall(text, &[WantedContent::Rule(false)], usize::MAX).unwrap(), text);
    }
}

#[test]
fn wildcard_rule_is_enough() {
    let text = "{\"permissions\": {\"allow\": [\"mcp__rutter__*\"]}}";
    let installed = install(text, &[WantedContent::Rule(true)]).unwrap();
    assert_eq!(installed.text, text);
    assert_eq!(uninstall(text, &[WantedContent::Rule(false)], usize::MAX).unwrap(), text);
}
