//! Any settings, in any layout: in and out again.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::record::{Made, Record};
use super::settings::{install, is_installed, uninstall};
use super::table::{Group, Start};

const PROGRAM: &str = "/opt/rutter";

fn groups(program: &str) -> Vec<Group> {
    super::table::groups(&Start::Path(program.to_owned()))
}

/// JSON with blanks of all kinds between its tokens.
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

/// A handler of somebody else's, or whatever somebody else put in its place.
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

/// Settings with hooks of somebody else's among them, or none.
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
    let others = prop::collection::vec(("[a-z]{1,4}", anything()), 0..4);
    (others, prop::option::of(hooks), any::<prop::sample::Index>()).prop_map(
        |(others, hooks, at)| {
            let mut members: Vec<(String, Value)> = others;
            if let Some(hooks) = hooks {
                members.insert(at.index(members.len() + 1), ("hooks".to_owned(), hooks));
            }
            Value::Object(members.into_iter().collect())
        },
    )
}

/// The text of some settings, in some layout.
fn text() -> impl Strategy<Value = String> {
    let blanks = prop::collection::vec(
        prop::sample::select(vec!["", "", " ", "\n", "\r\n", "\n  ", "\n\t", "\r\n    "]),
        1..7,
    );
    let wild = (settings(), blanks).prop_map(|(value, blanks)| {
        let mut blanks = blanks.into_iter().cycle();
        spell(&value, &mut || blanks.next().unwrap_or_default().to_owned())
    });
    let tidy = (settings(), any::<bool>())
        .prop_map(|(value, newline)| format!("{value:#}{}", if newline { "\n" } else { "" }));
    let flat = settings().prop_map(|value| value.to_string());
    prop_oneof![2 => wild, 2 => tidy, 1 => flat, 1 => "[ \n\t]{0,3}"]
}

/// What somebody else has in settings: without groups, events and hooks that hold nothing.
fn others(text: &str) -> Value {
    let mut value: Value =
        if text.trim().is_empty() { json!({}) } else { serde_json::from_str(text).unwrap() };
    if let Some(events) = value.get_mut("hooks").and_then(Value::as_object_mut) {
        events.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
        if events.is_empty() {
            value.as_object_mut().unwrap().remove("hooks");
        }
    }
    value
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_put_in_comes_out_to_the_byte(text in text()) {
        let installed = install(&text, &groups(PROGRAM)).unwrap();
        prop_assert!(is_installed(&installed.text).unwrap());
        let value: Value = serde_json::from_str(&installed.text).unwrap();
        for group in groups(PROGRAM) {
            let there = value["hooks"][group.event.as_str()].as_array().unwrap();
            prop_assert_eq!(there.iter().filter(|there| **there == group.value).count(), 1);
        }
        let record = Record::new(&text, &installed, Made::default());
        prop_assert_eq!(record.undo(&installed.text), Some(text.clone()));
        // Without the record: to the meaning, if not to the byte.
        let out = uninstall(&installed.text).unwrap();
        prop_assert!(!is_installed(&out).unwrap());
        prop_assert_eq!(others(&out), others(&text));
    }

    #[test]
    fn a_second_time_changes_nothing(text in text()) {
        let once = install(&text, &groups(PROGRAM)).unwrap().text;
        let twice = install(&once, &groups(PROGRAM)).unwrap();
        prop_assert_eq!(twice.text, once);
        prop_assert!(twice.edits.is_none());
    }

    #[test]
    fn another_program_takes_the_place_of_the_first(text in text()) {
        let first = install(&text, &groups("/old folder/rutter")).unwrap().text;
        let second = install(&first, &groups(PROGRAM)).unwrap().text;
        prop_assert!(!second.contains("/old folder/"));
        // In the same places; blanks may differ where the file's own are odd.
        let [second, fresh] = [&second, &install(&text, &groups(PROGRAM)).unwrap().text]
            .map(|text| serde_json::from_str::<Value>(text).unwrap());
        prop_assert_eq!(second, fresh);
    }

    #[test]
    fn an_edit_in_between_stays(text in text(), key in "[A-Z]{3}", value in anything()) {
        let installed = install(&text, &groups(PROGRAM)).unwrap();
        let record = Record::new(&text, &installed, Made::default());
        let mut edited: Value = serde_json::from_str(&installed.text).unwrap();
        edited[&key] = value.clone();
        let edited = format!("{edited:#}");
        prop_assert_eq!(record.undo(&edited), None);
        let out = uninstall(&edited).unwrap();
        prop_assert!(!is_installed(&out).unwrap());
        let mut expected = others(&text);
        expected[&key] = value;
        prop_assert_eq!(others(&out), expected);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[\\[\\]{}\",: a\n]{0,30}|\\PC{0,20}") {
        if let Ok(installed) = install(&text, &groups(PROGRAM)) {
            let record = Record::new(&text, &installed, Made::default());
            prop_assert_eq!(record.undo(&installed.text), Some(text));
        }
    }
}
