use std::fs;
use std::path::Path;
use std::process::Command;

use rutter_testkit::{Ran, skip};

use crate::support::{Home, assert_output};

/// Creates a project that is a Git repository. Reports a skip and returns None if git is missing.
fn repository() -> Option<Home> {
    let home = Home::new();
    if Command::new("git").arg("--version").output().is_err() {
        skip("settings inside a repository", "there is no git");
        return None;
    }
    git(&home, &home.path("ship"), &["init", "--quiet"]);
    git(&home, &home.path("ship"), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    Some(home)
}

fn git(home: &Home, folder: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=n", "-c", "user.email=e"]).args(args).current_dir(folder);
    git.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", home.path(""));
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    Ran::of(&mut git).success().stdout
}

fn list(home: &Home) -> String {
    fs::read_to_string(home.path("ship/.git/info/exclude")).unwrap_or_default()
}

#[test]
fn git_leaves_the_settings_alone() {
    let Some(home) = repository() else { return };
    fs::write(home.path("ship/.git/info/exclude"), "*.tmp\n").unwrap();
    let ran = home.init(&["-v"]).success();
    assert_eq!(git(&home, &home.path("ship"), &["status", "--short"]), "");
    let diff = ran.stdout.split_inclusive('\n').skip_while(|line| !line.contains("/info/exclude"));
    assert_output!(home, diff.collect::<String>(), @r#"
    changed [HOME]/ship/.git/info/exclude: keeps the settings file out of git

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
    --- [HOME]/ship/.git/info/exclude
    +++ [HOME]/ship/.git/info/exclude
    @@ -1 +1,3 @@
     *.tmp
    +# rutter: hooks with a path of this machine; `rutter uninstall` takes this away
    +/.claude/settings.local.json

    The memory is in [HOME]/memory.
    Start claude in this folder: new sessions run the hooks and have the tools.
    Claude Code may warn that hooks run commands and ask whether you trust the folder: these run only `[HOME]/bin/rutter hook`, and in a terminal none of them runs until you say yes.
    `rutter doctor` tells whether they work, `rutter uninstall` takes this back.
    "#);
    assert!(home.init(&[]).success().stdout.contains("nothing to do"));
    home.ok(&["uninstall"]);
    assert_eq!(list(&home), "*.tmp\n");
    assert_eq!(git(&home, &home.path("ship"), &["status", "--short"]), "");
}

#[test]
fn the_list_comes_back_to_the_byte() {
    let Some(home) = repository() else { return };
    let path = home.path("ship/.git/info/exclude");
    for text in ["", "\n", "a", "a\n", "a\r\n", "# x\n\n", ".claude/settings.local.json.bak"] {
        fs::write(&path, text).unwrap();
        drop(home.init(&[]).success());
        assert_eq!(git(&home, &home.path("ship"), &["status", "--short"]), "", "{text:?}");
        home.ok(&["uninstall"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
    // A line that excludes the file already stays, and `init` adds none.
    for text in [".claude/settings.local.json\n", "/.claude/\n", "**/.claude/settings.local.json\n"]
    {
        fs::write(&path, text).unwrap();
        drop(home.init(&[]).success());
        assert_eq!(list(&home), text);
        home.ok(&["uninstall"]);
        assert_eq!(list(&home), text);
    }
    fs::remove_file(&path).unwrap();
    fs::write(home.path("ship/.gitignore"), "target\n.claude/settings.local.json\n").unwrap();
    drop(home.init(&[]).success());
    assert!(!path.exists());
    home.ok(&["uninstall"]);
    fs::remove_file(home.path("ship/.gitignore")).unwrap();
    drop(home.init(&[]).success());
    assert!(path.exists());
    home.ok(&["uninstall"]);
    assert!(!path.exists());
}

#[test]
fn a_folder_inside_has_settings_of_its_own() {
    let Some(home) = repository() else { return };
    let inside = home.path("ship/crates/[a] b*");
    fs::create_dir_all(&inside).unwrap();
    let program = home.program("bin");
    let run = |args: &[&str]| Ran::of(home.command(args).current_dir(&inside)).success();
    let ran = run(&["init", "--bin", &program]);
    assert!(inside.join(".claude/settings.local.json").exists());
    assert_output!(home, ran.stdout.rsplit_once("\n\n").unwrap().1, @"
    The memory is in [HOME]/memory.
    Start claude in this folder: new sessions run the hooks and have the tools.
    Claude Code may warn that hooks run commands and ask whether you trust the folder: these run only `[HOME]/bin/rutter hook`, and in a terminal none of them runs until you say yes.
    Elsewhere in the repository the hooks do not run; for that, `rutter init` in [HOME]/ship.
    `rutter doctor` tells whether they work, `rutter uninstall` takes this back.
    ");
    assert_eq!(git(&home, &home.path("ship"), &["status", "--short"]), "");
    let nothing = home.rutter(&["uninstall"]).success();
    assert!(nothing.stdout.starts_with("nothing of rutter's is in "), "{nothing}");
    drop(run(&["uninstall"]));
    assert!(!inside.join(".claude").exists());
    assert!(!list(&home).contains("rutter"));
}

#[test]
fn a_worktree_shares_the_list_of_its_repository() {
    let Some(home) = repository() else { return };
    let tree = home.path("tree");
    git(&home, &home.path("ship"), &["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    let program = home.program("bin");
    let run = |args: &[&str]| Ran::of(home.command(args).current_dir(&tree)).success();
    let before = list(&home);
    drop(run(&["init", "--bin", &program]));
    assert!(tree.join(".claude/settings.local.json").exists());
    assert!(list(&home).contains("/.claude/settings.local.json"));
    assert_eq!(git(&home, &tree, &["status", "--short"]), "");
    drop(run(&["uninstall"]));
    assert_eq!(list(&home), before);
    assert!(!tree.join(".claude").exists());
    // The line goes with the last worktree that needs it.
    drop(run(&["init", "--bin", &program]));
    drop(home.init(&[]).success());
    drop(run(&["uninstall"]));
    assert_eq!(git(&home, &home.path("ship"), &["status", "--short"]), "");
    home.ok(&["uninstall"]);
    assert_eq!(list(&home), before);
}

#[test]
fn a_file_that_git_tracks_is_told_of() {
    let Some(home) = repository() else { return };
    home.has_settings("{}");
    git(&home, &home.path("ship"), &["add", "--force", ".claude/settings.local.json"]);
    git(&home, &home.path("ship"), &["commit", "--quiet", "-m", "settings"]);
    let before = list(&home);
    let ran = home.init(&[]).success();
    let advice = "which is to name a path of this machine; `git rm --cached .claude/settings.local.json` ends that";
    assert!(ran.stderr.contains(advice), "{ran}");
    assert_eq!(list(&home), before, "no list would help");
    git(&home, &home.path("ship"), &["rm", "--quiet", "--cached", ".claude/settings.local.json"]);
    assert_eq!(home.init(&[]).success().stderr, "");
    assert!(list(&home).contains("/.claude/settings.local.json"));
}

#[test]
fn a_git_that_does_not_work_is_passed_over() {
    let home = Home::new();
    for made in [true, false] {
        if made {
            fs::create_dir(home.path("ship/.git")).unwrap();
        } else {
            fs::remove_dir(home.path("ship/.git")).unwrap();
            fs::write(home.path("ship/.git"), "gitdir: /nowhere\n").unwrap();
        }
        let ran = home.init(&[]).success();
        assert!(ran.stderr.is_empty(), "{ran}");
        home.ok(&["uninstall"]);
        assert!(!home.path("ship/.claude").exists());
    }
}

#[test]
fn a_list_that_cannot_be_used_is_no_reason_to_refuse() {
    let Some(home) = repository() else { return };
    let path = home.path("ship/.git/info/exclude");
    drop(fs::remove_file(&path));
    fs::create_dir(&path).unwrap();
    let ran = home.init(&[]).success();
    assert!(ran.stderr.starts_with("note: git's list of files to leave alone: "), "{ran}");
    assert!(home.settings().exists());
    home.ok(&["uninstall"]);
    assert!(!home.settings().exists());
}
