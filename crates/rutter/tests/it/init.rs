use std::fs;
use std::os::unix::fs::MetadataExt as _;

use serde_json::{Value, json};

use crate::support::{TestHome, assert_output, contains_text, read_all_bytes};

#[test]
fn init_and_uninstall_without_settings() {
    let home = TestHome::new();
    assert_output!(home, home.init(&["--verbose"]), @r#"
    exit 0
    --- stdout
    made [HOME]/ship/.claude/settings.local.json: hooks on 9 events, and 14 rules that let the agent call rutter's tools (not `search_other_projects` and `forget`)
    made [HOME]/user/.claude.json: rutter's MCP server

    --- /dev/null
    +++ [HOME]/ship/.claude/settings.local.json
    @@ -0,0 +1,151 @@
    +{
    +  "hooks": {
    +    "SessionStart": [
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
    +    "PostToolUse": [
    +      {
    +        "matcher": "Bash|Edit|Write|NotebookEdit",
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
    +    ],
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
    +  },
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
    +}
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
    Claude Code may warn about hooks and ask whether you trust the folder. These hooks run only `[HOME]/bin/rutter hook`, and in a terminal they do not run until you say yes.
    `rutter doctor` checks them, `rutter uninstall` removes them.
    "#);
    assert_output!(home, home.init(&["--local"]), @"
    exit 0
    --- stdout
    [HOME]/ship/.claude/settings.local.json already runs rutter; nothing to do
    ");
    assert!(home.memory().join("rutter.db").is_file());
    assert_eq!(fs::metadata(home.settings()).unwrap().mode() & 0o777, 0o600);
    let gone = home.rutter(&["uninstall"]).assert_success();
    let start =
        format!("--- {}\n+++ /dev/null\n@@ -1,151 +0,0 @@\n-{{\n", home.settings().display());
    assert!(gone.stdout.starts_with(&start), "{gone}");
    assert_output!(home, gone.stdout.rsplit_once("\n\n").unwrap().1, @"The memory is kept in [HOME]/memory; `rm -r [HOME]/memory` removes it.");
    assert!(!home.path("ship/.claude").exists());
    assert_output!(home, home.rutter(&["uninstall", "--local"]), @"
    exit 0
    --- stdout
    [HOME]/ship/.claude/settings.local.json has no entries of rutter; if you ran `rutter init` in another folder, go there
    ");
    assert_eq!(home.doctor_codes(), [] as [&str; 0]);
}

#[test]
fn older_entries_are_replaced_in_place() {
    let home = TestHome::new();
    home.write_settings(
        r#"{
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "/old/rutter hook" } ] }
    ],
    "PostToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "/old/rutter", "args": ["hook"], "timeout": 60 }
        ]
      },
      { "matcher": "Edit", "hooks": [ { "type": "command", "command": "fmt" } ] }
    ],
    "SessionStart": [
      {
        "hooks": [
          { "type": "command", "command": "'/old folder/rutter' hook SessionStart" },
          { "type": "command", "command": "mine" },
          { "type": "command", "command": "rutter", "args": ["hook", "SessionStart"] }
        ]
      },
      { "hooks": [ { "type": "command", "command": "/old/rutter", "args": ["hook"] } ] },
      { "hooks": [ { "type": "command", "command": "/older/rutter", "args": ["hook"] } ] }
    ],
    "UserPromptSubmit": [
      { "hooks": [ { "type": "command", "command": "/old/rutter", "args": ["hook"] } ] },
      { "hooks": [ { "type": "command", "command": "mine too" } ] }
    ]
  }
}
"#,
    );
    drop(home.init(&[]).assert_success());
    let after = fs::read_to_string(home.settings()).unwrap();
    let (replaced, added) = after.split_once("    \"SessionEnd\": [").unwrap();
    assert_output!(home, replaced, @r#"
    {
      "hooks": {
        "Stop": [
          {"hooks": [{"type": "command", "command": "[HOME]/bin/rutter", "args": ["hook"], "timeout": 5}]}
        ],
        "PostToolUse": [
          {
            "matcher": "Bash|Edit|Write|NotebookEdit",
            "hooks": [
              {
                "type": "command",
                "command": "[HOME]/bin/rutter",
                "args": [
                  "hook"
                ],
                "timeout": 5
              }
            ]
          },
          { "matcher": "Edit", "hooks": [ { "type": "command", "command": "fmt" } ] }
        ],
        "SessionStart": [
          {
            "hooks": [
              { "type": "command", "command": "mine" }
            ]
          },
          {"hooks": [{"type": "command", "command": "[HOME]/bin/rutter", "args": ["hook"], "timeout": 5}]}
        ],
        "UserPromptSubmit": [
          {"hooks": [{"type": "command", "command": "[HOME]/bin/rutter", "args": ["hook"], "timeout": 5}]},
          { "hooks": [ { "type": "command", "command": "mine too" } ] }
        ],
    "#);
    for event in ["Stop", "PostToolUse", "SessionStart", "UserPromptSubmit"] {
        assert!(!added.contains(&format!("\"{event}\"")), "{added}");
    }
    let nothing = home.init(&[]).assert_success();
    assert!(nothing.stdout.contains("nothing to do"), "{nothing}");
    home.ok(&["uninstall"]);
    assert_output!(home, fs::read_to_string(home.settings()).unwrap(), @r#"
    {
      "hooks": {
        "PostToolUse": [
          { "matcher": "Edit", "hooks": [ { "type": "command", "command": "fmt" } ] }
        ],
        "SessionStart": [
          {
            "hooks": [
              { "type": "command", "command": "mine" }
            ]
          }
        ],
        "UserPromptSubmit": [
          { "hooks": [ { "type": "command", "command": "mine too" } ] }
        ]
      }
    }
    "#);
}

#[test]
fn changed_program_keeps_undo_record() {
    let home = TestHome::new();
    let text = "{ \"model\": \"opus\",\n\"hooks\" : { } }";
    home.write_settings(text);
    drop(home.init(&[]).assert_success());
    let first = fs::read_to_string(home.settings()).unwrap();
    let other = home.program("elsewhere/bin");
    home.ok(&["init", "--bin", &other]);
    let second = fs::read_to_string(home.settings()).unwrap();
    assert_eq!(first.replace("/bin/rutter", "/elsewhere/bin/rutter"), second);
    home.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
}

#[test]
fn dry_run_changes_nothing() {
    let home = TestHome::new();
    let shown = home.init(&["--dry-run"]).assert_success();
    assert!(!home.path("ship/.claude").exists() && !home.memory().exists(), "{shown}");
    let diff =
        |ran: &rutter_testkit::CommandOutput| ran.stdout.split_once("\n\n").unwrap().1.to_owned();
    let done = home.init(&["--verbose"]).assert_success();
    assert!(diff(&done).starts_with(&diff(&shown)), "{shown}{done}");
    assert!(shown.stderr.contains("nothing was changed"), "{shown}");
    let before = fs::read(home.settings()).unwrap();
    let shown = home.rutter(&["uninstall", "--dry-run"]).assert_success();
    assert_eq!(fs::read(home.settings()).unwrap(), before);
    let done = home.rutter(&["uninstall"]).assert_success();
    assert!(done.stdout.starts_with(&shown.stdout), "{shown}{done}");
}

#[test]
fn settings_secrets_are_not_copied() {
    let home = TestHome::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    home.write_settings(format!(
        "{{\n  \"env\": {{\n    \"GITHUB_TOKEN\": \"{token}\"\n  }}\n}}\n"
    ));
    let ran = home.init(&["-v"]).assert_success();
    assert!(ran.stdout.contains("GITHUB_TOKEN") && !ran.stdout.contains(token), "{ran}");
    assert!(!contains_text(&read_all_bytes(&home.memory()), token));
    assert!(!home.rutter(&["uninstall"]).assert_success().stdout.contains(token));
    assert!(fs::read_to_string(home.settings()).unwrap().contains(token));
}

#[test]
fn uninstall_keeps_user_edits() {
    let home = TestHome::new();
    drop(home.init(&[]).assert_success());
    // The client writes this when the user allows a command.
    let mut settings: Value = serde_json::from_slice(&fs::read(home.settings()).unwrap()).unwrap();
    settings["permissions"] = json!({ "allow": ["Bash(ls)"] });
    home.write_settings(settings.to_string());
    home.ok(&["uninstall"]);
    let left = fs::read_to_string(home.settings()).unwrap();
    assert_eq!(left, r#"{"permissions":{"allow":["Bash(ls)"]}}"#);

    fs::remove_dir_all(home.path("ship/.claude")).unwrap();
    drop(home.init(&[]).assert_success());
    let minified: Value = serde_json::from_slice(&fs::read(home.settings()).unwrap()).unwrap();
    home.write_settings(minified.to_string());
    fs::write(home.path("ship/.claude/notes.md"), "mine").unwrap();
    home.ok(&["uninstall"]);
    assert!(!home.settings().exists());
    assert!(home.path("ship/.claude/notes.md").exists());
}
