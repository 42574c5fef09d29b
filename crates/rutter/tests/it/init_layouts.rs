use std::fs;
use std::os::unix::fs::MetadataExt as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{TestHome, assert_output};

/// Settings of users, in every layout seen so far.
const LAYOUTS: &[(&str, &str)] = &[
    ("empty object", "{}"),
    ("empty object with a blank", "{ }\n"),
    ("empty object over lines", "{\n}\n"),
    ("empty file", ""),
    ("blank file", "\n"),
    ("two spaces", "{\n  \"model\": \"opus\"\n}\n"),
    ("no last newline", "{\n  \"model\": \"opus\"\n}"),
    ("four spaces", "{\n    \"env\": {\n        \"A\": \"b\"\n    },\n    \"x\": 1\n}\n"),
    ("tabs", "{\n\t\"permissions\": {\n\t\t\"allow\": []\n\t}\n}\n"),
    ("CRLF", "{\r\n  \"model\": \"opus\"\r\n}\r\n"),
    ("minified", r#"{"model":"opus","hooks":{"Stop":[{"hooks":[]}],"SessionStart":[]}}"#),
    ("one line", r#"{ "model": "opus", "hooks": { "SessionEnd": [ { "hooks": [] } ] } }"#),
    ("byte order mark", "\u{feff}{\n  \"model\": \"opus\"\n}\n"),
    ("unicode and escapes", "{\n  \"größe\": \"漢\\u00e9\\ud83d 🦀\",\n  \"n\": 1e999\n}\n"),
    ("a key like ours", "{\n  \"env\": {\"hooks\": \"{\\\"hooks\\\": {\"}\n}\n"),
    ("empty hooks", "{\n  \"hooks\": {},\n  \"z\": 1\n}\n"),
    (
        "other people's hooks",
        r#"{
  "hooks": {
    "PostToolUse": [
      { "matcher": "Bash", "hooks": [ {"type":"command","command":"fmt"} ] },
      "strange", {"hooks": 3}
    ],
    "SessionStart": [{"hooks": [{"command": "x", "type": "command"}]}],
    "NoSuchEvent": []
  },
  "after": true
}
"#,
    ),
];

#[test]
fn foreign_entries_stay_in_place() {
    let home = TestHome::new();
    let (_, text) = LAYOUTS.last().unwrap();
    home.write_settings(text);
    let ran = home.init(&["-v"]).assert_success();
    let old = |line: &&str| line.starts_with("changed ") || line.starts_with(['-', '@']);
    assert_output!(home, ran.stdout.lines().filter(old).collect::<Vec<_>>().join("\n"), @r#"
    changed [HOME]/ship/.claude/settings.local.json: hooks on 9 events, and 14 rules that let the agent call rutter's tools (not `search_other_projects` and `forget`)
    --- [HOME]/ship/.claude/settings.local.json
    @@ -2,10 +2,128 @@
    -      "strange", {"hooks": 3}
    -    "SessionStart": [{"hooks": [{"command": "x", "type": "command"}]}],
    -    "NoSuchEvent": []
    -  "after": true
    --- /dev/null
    @@ projects → [HOME]/ship → mcpServers → rutter @@
    "#);
    let after = fs::read_to_string(home.settings()).unwrap();
    let foreign = [
        r#"      { "matcher": "Bash", "hooks": [ {"type":"command","command":"fmt"} ] },"#,
        r#"      "strange", {"hooks": 3}, {"#,
        r#"    "SessionStart": [{"hooks": [{"command": "x", "type": "command"}]}, {"#,
        r#"    "NoSuchEvent": [],"#,
        r#"  "after": true,"#,
    ];
    for line in foreign {
        assert!(after.lines().any(|own| own.starts_with(line)), "{line}: {after}");
    }
    let mut settings: Value = serde_json::from_str(&after).unwrap();
    let theirs: Value = serde_json::from_str(text).unwrap();
    for (event, groups) in theirs["hooks"].as_object().unwrap() {
        let all = settings["hooks"][event].as_array_mut().unwrap();
        let own = all.split_off(groups.as_array().unwrap().len());
        assert_eq!(json!(all), *groups, "{event}");
        *all = own;
    }
    let settings = settings.as_object_mut().unwrap();
    assert_eq!(settings.remove("after"), Some(json!(true)));
    settings["hooks"].as_object_mut().unwrap().retain(|_, groups| *groups != json!([]));
    let empty = TestHome::new();
    drop(empty.init(&[]).assert_success());
    let alone = fs::read_to_string(empty.settings()).unwrap();
    let alone = alone.replace(empty.path("").to_str().unwrap(), home.path("").to_str().unwrap());
    assert_eq!(json!(settings), serde_json::from_str::<Value>(&alone).unwrap());
}

#[test]
fn every_layout_is_restored_exactly() {
    let home = TestHome::new();
    for (name, text) in LAYOUTS {
        home.write_settings(text);
        drop(home.init(&[]).assert_success());
        let after = fs::read_to_string(home.settings()).unwrap();
        let value = after.trim_start_matches('\u{feff}');
        assert_eq!(after.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{name}");
        assert_eq!(value.contains('\r'), text.contains('\r'), "{name}");
        assert!(!value.replace("\r\n", "").contains('\r'), "{name}");
        assert!(text.is_empty() || value.ends_with('\n') == text.ends_with('\n'), "{name}");
        if text.contains('\r') {
            assert!(!value.replace("\r\n", "").contains('\n'), "{name}");
        }
        // A second `init` does not touch the file.
        let metadata = fs::metadata(home.settings()).unwrap();
        let again = home.init(&[]).assert_success();
        assert!(again.stdout.ends_with("; nothing to do\n"), "{name}: {again}");
        let now = fs::metadata(home.settings()).unwrap();
        assert_eq!(
            (metadata.ino(), metadata.mtime_nsec()),
            (now.ino(), now.mtime_nsec()),
            "{name}"
        );

        home.ok(&["uninstall"]);
        assert_eq!(fs::read_to_string(home.settings()).unwrap(), *text, "{name}");
    }
}

#[test]
fn uninstall_without_record_keeps_content() {
    for (name, text) in LAYOUTS {
        let home = TestHome::new();
        home.write_settings(text);
        drop(home.init(&[]).assert_success());
        fs::remove_dir_all(home.memory().join("backups")).unwrap();
        home.ok(&["uninstall"]);
        let after = fs::read_to_string(home.settings()).unwrap();
        assert!(!after.contains("rutter"), "{name}: {after}");
        // Apart from whitespace, only values that were empty before differ.
        let tight = |text: &str| {
            let tight = text.replace(char::is_whitespace, "");
            let tight = tight.replace(",\"SessionStart\":[]", "").replace("\"hooks\":{},", "");
            tight.replace("\"permissions\":{\"allow\":[]}", "")
        };
        if text.trim().is_empty() {
            assert_eq!(after, "{}\n", "{name}");
        } else {
            assert_eq!(tight(&after), tight(text), "{name}");
        }
    }
}

/// Generates settings that a user could have.
fn any_settings() -> impl Strategy<Value = Value> {
    let event = prop::sample::select(vec!["SessionStart", "PostToolUse", "Stop", "SessionEnd"]);
    let group = ("[A-Z][a-z]{0,3}", "[a-zé/ ]{1,6}").prop_map(|(matcher, command)| {
        json!({ "matcher": matcher, "hooks": [{ "type": "command", "command": command }] })
    });
    let hooks = prop::collection::btree_map(event, prop::collection::vec(group, 0..3), 0..4);
    let others = prop::collection::btree_map("[a-gi-z]{1,4}", "\\PC{0,6}", 0..4);
    (others, prop::option::of(hooks)).prop_map(|(others, hooks)| {
        let mut settings = json!(others);
        if let Some(hooks) = hooks {
            settings["hooks"] = json!(hooks);
        }
        settings
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// The library tests this property with more cases and stranger layouts. This test uses the binary and real files.
    #[test]
    fn random_settings_are_restored_exactly(settings in any_settings(), pretty: bool, newline: bool) {
        let home = TestHome::new();
        let text = if pretty { format!("{settings:#}") } else { settings.to_string() };
        let text = if newline { text + "\n" } else { text };
        home.write_settings(&text);
        drop(home.init(&[]).assert_success());
        prop_assert_ne!(&fs::read_to_string(home.settings()).unwrap(), &text);
        home.ok(&["uninstall"]);
        prop_assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
    }
}
