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
    assert_output!(home, home.init(&["-v"]), @r#"
    exit 0
    --- stdout
    changed [HOME]/ship/.claude/settings.local.json: hooks on 9 events, and 14 rules that let the agent call rutter's tools (not `search_other_projects` and `forget`)
    made [HOME]/user/.claude.json: rutter's MCP server

    --- [HOME]/ship/.claude/settings.local.json
    +++ [HOME]/ship/.claude/settings.local.json
    @@ -2,10 +2,128 @@
       "hooks": {
         "PostToolUse": [
           { "matcher": "Bash", "hooks": [ {"type":"command","command":"fmt"} ] },
    -      "strange", {"hooks": 3}
    +      "strange", {"hooks": 3}, {"matcher": "Bash|Edit|Write|NotebookEdit", "hooks": [{"type": "command", "command": "[HOME]/bin/rutter", "args": ["hook"], "timeout": 5}]}
    +    ],
    +    "SessionStart": [{"hooks": [{"command": "x", "type": "command"}]}, {"hooks": [{"type": "command", "command": "[HOME]/bin/rutter", "args": ["hook"], "timeout": 5}]}],
    +    "NoSuchEvent": [],
    +    "SessionEnd": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "UserPromptSubmit": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "PreToolUse": [
    +      {
    +        "matcher": "*",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "PostToolUseFailure": [
    +      {
    +        "matcher": "Bash",
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "SubagentStart": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ],
    +    "PreCompact": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
         ],
    -    "SessionStart": [{"hooks": [{"command": "x", "type": "command"}]}],
    -    "NoSuchEvent": []
    +    "Stop": [
    +      {
    +        "hooks": [
    +          {
    +            "type": "command",
    +            "command": "[HOME]/bin/rutter",
    +            "args": [
    +              "hook"
    +            ],
    +            "timeout": 5
    +          }
    +        ]
    +      }
    +    ]
       },
    -  "after": true
    +  "after": true,
    +  "permissions": {
    +    "allow": [
    +      "mcp__rutter__start_ghap",
    +      "mcp__rutter__update_ghap",
    +      "mcp__rutter__resolve_ghap",
    +      "mcp__rutter__get_ghap",
    +      "mcp__rutter__adopt_ghap",
    +      "mcp__rutter__search_experiences",
    +      "mcp__rutter__assemble_context",
    +      "mcp__rutter__premortem",
    +      "mcp__rutter__remember",
    +      "mcp__rutter__recall_memories",
    +      "mcp__rutter__list_clusters",
    +      "mcp__rutter__add_value",
    +      "mcp__rutter__list_values",
    +      "mcp__rutter__status"
    +    ]
    +  }
     }
    --- /dev/null
    +++ [HOME]/user/.claude.json
    @@ projects → [HOME]/ship → mcpServers → rutter @@
    +{
    +  "type": "stdio",
    +  "command": "[HOME]/bin/rutter",
    +  "args": [
    +    "mcp"
    +  ]
    +}

    The memory is in [HOME]/memory.
    Start claude in this folder: new sessions run the hooks and have the tools.
    Claude Code may warn that hooks run commands and ask whether you trust the folder: these run only `[HOME]/bin/rutter hook`, and in a terminal none of them runs until you say yes.
    `rutter doctor` tells whether they work, `rutter uninstall` takes this back.
    "#);
    let after = fs::read_to_string(home.settings()).unwrap();
    for line in text.lines().filter(|line| line.contains("strange") || line.contains("fmt")) {
        assert!(after.contains(line), "{after}");
    }
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
        assert!(again.stdout.ends_with("there is nothing to do\n"), "{name}: {again}");
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
