//! Property tests: installation in and removal from arbitrary settings and server files, in any layout.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::places::{Installed, Place, install, is_installed, uninstall};
use super::record::{Made, Record};
use super::server::{self, RULE};
use super::table::Start;

const PROGRAM: &str = "/opt/rutter";

/// Returns the content for a settings file.
fn wanted(program: &str) -> Vec<Place> {
    vec![Place::Hooks(super::table::groups(&Start::Path(program.to_owned()))), Place::Rule(true)]
}

/// Returns the content for removal.
fn unwanted() -> Vec<Place> {
    vec![Place::Hooks(Vec::new()), Place::Rule(false)]
}

/// Returns the record of an installation.
fn record(before: &str, installed: &Installed) -> Record {
    Record::new(before, installed, Made::default().and_in(installed))
}

/// Writes JSON with various whitespace between its tokens.
fn spell(value: &Value, blanks: &mut impl FnMut() -> String) -> String {
    let mut out = blanks();
    match value {
        Value::Array(items) => {
            out.push('[');
            let items: Vec<_> = items.iter().map(|item| spell(item, blanks)).collect();
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
                    format!("{}{}{}:{}", blanks(), json!(key), blanks(), spell(value, blanks))
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

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z \"\\\\\n{}\\[\\],:é漢🦀]{0,8}".prop_map(Value::from),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,3}", inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates a handler of another program, or an arbitrary value in its place.
fn handler() -> impl Strategy<Value = Value> {
    prop_oneof![
        "[a-z]{1,5}".prop_map(|name| json!({ "type": "command", "command": format!("/x/{name}") })),
        Just(json!({ "type": "command", "command": "/x/rutter", "args": ["tend"] })),
        anything(),
    ]
}

fn group() -> impl Strategy<Value = Value> {
    let groups = (prop::option::of("[A-Z|]{0,4}"), prop::collection::vec(handler(), 0..3));
    prop_oneof![
        4 => groups.prop_map(|(matcher, hooks)| match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": hooks }),
            None => json!({ "hooks": hooks }),
        }),
        1 => anything(),
    ]
}

/// Generates permissions with rules of the user and arbitrary other keys.
fn permissions() -> impl Strategy<Value = Value> {
    let rules = prop::collection::vec(
        prop_oneof![2 => "Bash\\([a-z]{1,3}\\)".prop_map(Value::from), 1 => scalar()],
        0..3,
    );
    let allow = prop::option::of(rules)
        .prop_map(|rules| rules.map(|rules| ("allow".to_owned(), rules.into())));
    (allow, prop::collection::vec(("[a-z]{2}", anything()), 0..2), any::<bool>()).prop_map(
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
fn settings() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("SessionStart"),
        Just("SessionEnd"),
        Just("PostToolUse"),
        Just("PostToolUseFailure"),
        Just("Stop"),
        Just("NoSuchEvent"),
    ];
    let hooks = prop::collection::vec((name, prop::collection::vec(group(), 0..3)), 0..5);
    let hooks = hooks.prop_map(|events| {
        let events =
            events.into_iter().map(|(name, groups)| (name.to_owned(), Value::from(groups)));
        Value::Object(events.collect())
    });
    let special = [("hooks", hooks.boxed()), ("permissions", permissions().boxed())];
    object_with(special.map(|(key, value)| (key.to_owned(), value)).to_vec())
}

/// Generates an object with some of these members among others.
fn object_with(special: Vec<(String, BoxedStrategy<Value>)>) -> impl Strategy<Value = Value> {
    let special: Vec<_> = special
        .into_iter()
        .map(|(key, value)| (Just(key), prop::option::of(value), any::<prop::sample::Index>()))
        .collect();
    let others = prop::collection::vec(("[a-z]{1,4}", anything()), 0..4);
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

fn keys() -> Vec<String> {
    KEYS.map(str::to_owned).to_vec()
}

fn server(program: &str) -> [Place; 1] {
    let entry = server::entry(&Start::Path(program.to_owned()));
    [Place::Server(keys(), Some(entry))]
}

/// Generates a client's state, optionally with servers of the user.
fn state() -> impl Strategy<Value = Value> {
    let servers = prop::collection::vec(("[a-q]{1,3}", anything()), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    let project = object_with(vec![(KEYS[2].to_owned(), servers.boxed())]);
    let projects = object_with(vec![(KEYS[1].to_owned(), project.boxed())]);
    object_with(vec![(KEYS[0].to_owned(), projects.boxed())])
}

/// Generates the text of settings, in an arbitrary layout.
fn text() -> impl Strategy<Value = String> {
    spelled(settings().boxed())
}

/// Generates the text of a value, in an arbitrary layout.
fn spelled(value: BoxedStrategy<Value>) -> impl Strategy<Value = String> {
    let blanks = prop::collection::vec(
        prop::sample::select(vec!["", "", " ", "\n", "\r\n", "\n  ", "\n\t", "\r\n    "]),
        1..7,
    );
    let wild = (value.clone(), blanks).prop_map(|(value, blanks)| {
        let mut blanks = blanks.into_iter().cycle();
        spell(&value, &mut || blanks.next().unwrap_or_default().to_owned())
    });
    let tidy = (value.clone(), any::<bool>())
        .prop_map(|(value, newline)| format!("{value:#}{}", if newline { "\n" } else { "" }));
    let flat = value.prop_map(|value| value.to_string());
    prop_oneof![2 => wild, 2 => tidy, 1 => flat, 1 => "[ \n\t]{0,3}"]
}

/// Returns the settings without empty events, hooks and rules.
fn others(text: &str) -> Value {
    let mut value = parsed(text);
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

fn parsed(text: &str) -> Value {
    if text.trim().is_empty() { json!({}) } else { serde_json::from_str(text).unwrap() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_put_in_comes_out_to_the_byte(text in text()) {
        let installed = install(&text, &wanted(PROGRAM)).unwrap();
        prop_assert!(is_installed(&installed.text, &unwanted()).unwrap());
        let value: Value = serde_json::from_str(&installed.text).unwrap();
        for group in super::table::groups(&Start::Path(PROGRAM.to_owned())) {
            let there = value["hooks"][group.event.as_str()].as_array().unwrap();
            prop_assert_eq!(there.iter().filter(|there| **there == group.value).count(), 1);
        }
        let rules = value["permissions"]["allow"].as_array().unwrap();
        for wanted in server::tool_rules(RULE) {
            prop_assert_eq!(rules.iter().filter(|rule| **rule == wanted).count(), 1);
        }
        prop_assert_eq!(record(&text, &installed).undo(&installed.text), Some(text.clone()));
        // Without the record, the meaning is restored, but not the exact bytes.
        let out = uninstall(&installed.text, &unwanted(), usize::MAX).unwrap();
        prop_assert!(!is_installed(&out, &unwanted()).unwrap());
        prop_assert!(!out.contains(RULE));
        prop_assert_eq!(others(&out), others(&text));
    }

    #[test]
    fn a_second_time_changes_nothing(text in text()) {
        let once = install(&text, &wanted(PROGRAM)).unwrap().text;
        let twice = install(&once, &wanted(PROGRAM)).unwrap();
        prop_assert_eq!(twice.text, once);
        prop_assert!(twice.edits.is_none() && !twice.within.rule);
    }

    #[test]
    fn another_program_takes_the_place_of_the_first(text in text()) {
        let first = install(&text, &wanted("/old folder/rutter")).unwrap().text;
        let second = install(&first, &wanted(PROGRAM)).unwrap().text;
        prop_assert!(!second.contains("/old folder/"));
        // In the same positions. Whitespace may differ if the file's own is unusual.
        prop_assert_eq!(parsed(&second), parsed(&install(&text, &wanted(PROGRAM)).unwrap().text));
    }

    #[test]
    fn an_edit_in_between_stays(text in text(), key in "[A-Z]{3}", value in anything()) {
        let installed = install(&text, &wanted(PROGRAM)).unwrap();
        let mut edited: Value = serde_json::from_str(&installed.text).unwrap();
        edited[&key] = value.clone();
        let edited = format!("{edited:#}");
        prop_assert_eq!(record(&text, &installed).undo(&edited), None);
        let out = uninstall(&edited, &unwanted(), installed.within.around).unwrap();
        prop_assert!(!is_installed(&out, &unwanted()).unwrap());
        let mut expected = others(&text);
        expected[&key] = value;
        prop_assert_eq!(others(&out), expected);
    }

    #[test]
    fn an_older_installation_gets_the_rule(text in text()) {
        let older = install(&text, &wanted(PROGRAM)[..1]).unwrap().text;
        let newer = install(&older, &wanted(PROGRAM)).unwrap();
        prop_assert!(newer.within.rule);
        prop_assert_eq!(parsed(&newer.text), parsed(&install(&text, &wanted(PROGRAM)).unwrap().text));
    }

    #[test]
    fn a_server_comes_and_goes(text in spelled(state().boxed())) {
        let installed = install(&text, &server(PROGRAM)).unwrap();
        let value: Value = serde_json::from_str(&installed.text).unwrap();
        let entry = KEYS.iter().fold(&value, |value, key| &value[*key]).get("rutter").unwrap();
        prop_assert_eq!(&entry["command"], PROGRAM);
        prop_assert_eq!(record(&text, &installed).undo(&installed.text), Some(text.clone()));
        let again = install(&installed.text, &server(PROGRAM)).unwrap();
        prop_assert_eq!(&again.text, &installed.text);
        prop_assert!(again.edits.is_none());
        // With only the created containers from the record, the meaning is restored exactly.
        let gone = [Place::Server(keys(), None)];
        let out = uninstall(&installed.text, &gone, installed.within.around).unwrap();
        prop_assert_eq!(parsed(&out), parsed(&text));
        prop_assert_eq!(uninstall(&out, &gone, installed.within.around).unwrap(), out);
    }

    #[test]
    fn what_a_client_writes_meanwhile_stays(text in spelled(state().boxed()), value in anything()) {
        let installed = install(&text, &server("/old/rutter")).unwrap();
        let mut written: Value = serde_json::from_str(&installed.text).unwrap();
        let mut expected = parsed(&text);
        for value_of in [&mut written, &mut expected] {
            value_of["LATER"] = value.clone();
            value_of[KEYS[0]][KEYS[1]]["LATER"] = value.clone();
        }
        let written = format!("{written:#}");
        let moved = install(&written, &server(PROGRAM)).unwrap();
        prop_assert!(moved.text.contains(PROGRAM) && !moved.text.contains("/old/"));
        let out = uninstall(&moved.text, &[Place::Server(keys(), None)], installed.within.around).unwrap();
        prop_assert_eq!(parsed(&out), expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",: a\n]{0,30}|\\PC{0,20}") {
        if let Ok(installed) = install(&text, &wanted(PROGRAM)) {
            prop_assert_eq!(record(&text, &installed).undo(&installed.text), Some(text.clone()));
        }
        if let Ok(installed) = install(&text, &server(PROGRAM)) {
            prop_assert_eq!(record(&text, &installed).undo(&installed.text), Some(text));
        }
    }
}

#[test]
fn what_is_in_the_way_is_named_and_left_alone() {
    let start = Start::Path(PROGRAM.to_owned());
    let place = [Place::Server(vec!["mcpServers".to_owned()], Some(server::entry(&start)))];
    for (text, complaint) in [
        ("{\"mcpServers\": []}", ":1:16: `mcpServers` has to be an object"),
        ("{\"mcpServers\": {},\n\"mcpServers\": {}}", ":2:1: a second `mcpServers`"),
        ("{\"mcpServers\": {\"rutter\": {\"command\": \"x\"}}}", ":1:17: a server called `rutter`"),
        ("{\"mcpServers\": {\"rutter\": 1, \"rutter\": 2}}", ":1:30: a second `rutter`"),
    ] {
        let error = install(text, &place).unwrap_err().to_string();
        assert!(error.starts_with(complaint), "{error}");
        // None of these texts contains an entry of ours.
        let gone = [Place::Server(vec!["mcpServers".to_owned()], None)];
        assert_eq!(uninstall(text, &gone, usize::MAX).unwrap(), text);
    }
    for (text, complaint) in [
        ("{\"permissions\": 1}", ":1:17: `permissions` has to be an object"),
        ("{\"permissions\": {\"allow\": \"x\"}}", ":1:27: `allow` has to be an array"),
    ] {
        assert!(
            install(text, &[Place::Rule(true)]).unwrap_err().to_string().starts_with(complaint)
        );
        assert_eq!(uninstall(text, &[Place::Rule(false)], usize::MAX).unwrap(), text);
    }
}

#[test]
fn a_rule_with_a_star_is_enough() {
    let text = "{\"permissions\": {\"allow\": [\"mcp__rutter__*\"]}}";
    let installed = install(text, &[Place::Rule(true)]).unwrap();
    assert_eq!(installed.text, text);
    assert_eq!(uninstall(text, &[Place::Rule(false)], usize::MAX).unwrap(), text);
}
