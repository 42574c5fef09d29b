//! `rutter init` and `uninstall` in every scope: local, user, project, plugin.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rutter_testkit::CommandOutput;
use serde_json::Value;

use crate::support::{TestHome, assert_output, read_tree};

/// A user with a home directory and rutter on PATH.
struct ScopeUser {
    home: TestHome,
    /// The value of PATH.
    search: String,
}

impl ScopeUser {
    fn new() -> Self {
        let home = TestHome::new();
        let bin = Path::new(&home.program("bin")).parent().unwrap().to_owned();
        Self { search: format!("{}:/usr/bin:/bin", bin.display()), home }
    }

    fn rutter(&self, args: &[&str]) -> CommandOutput {
        let mut command = self.home.command(args);
        command.env("PATH", &self.search).stdin(Stdio::null());
        CommandOutput::run(&mut command)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns every file and directory except the data directory.
    fn read_tree(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = read_tree(&self.path(""));
        found.retain(|path, _| !path.starts_with(self.home.memory()));
        found
    }
}

/// Settings files of users, named by their peculiarity.
const SETTINGS_SHAPES: [(&str, Option<&str>); 9] = [
    ("none", None),
    ("empty", Some("")),
    ("nothing in it", Some("{}\n")),
    (
        "minified",
        Some(
            r#"{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}"#,
        ),
    ),
    (
        "tabs",
        Some("{\n\t\"permissions\": {\n\t\t\"allow\": [\n\t\t\t\"Bash(ls:*)\"\n\t\t]\n\t}\n}\n"),
    ),
    ("carriage returns", Some("{\r\n  \"model\": \"opus\"\r\n}\r\n")),
    (
        "other hooks",
        Some(
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [ { \"type\": \"command\", \"command\": \"guard\" } ] }\n    ]\n  },\n  \"model\": \"opus\"\n}\n",
        ),
    ),
    ("unicode", Some("{ \"statusLine\": \"größe → 日本 \\u00e9\" }")),
    ("a byte order mark", Some("\u{feff}{\n  \"a\": 1\n}\n")),
];

#[test]
fn scopes_restore_settings_exactly() {
    for (scope, file) in [
        ("--local", "ship/.claude/settings.local.json"),
        ("--user", "user/.claude/settings.json"),
        ("--project", "ship/.claude/settings.json"),
    ] {
        for (shape, text) in SETTINGS_SHAPES {
            let user = ScopeUser::new();
            if let Some(text) = text {
                user.write(file, text);
            }
            let before = user.read_tree();
            let program = user.path("bin/rutter");
            let mut args = vec!["init", scope];
            if scope != "--project" {
                args.extend(["--bin", program.to_str().unwrap()]);
            }
            let shown = user.rutter(&[&args[..], &["--dry-run"]].concat()).assert_success();
            assert_eq!(user.read_tree(), before, "{scope}, {shape}: {shown}");
            drop(user.rutter(&args).assert_success());
            let installed = user.text(file);
            let installed = installed.trim_start_matches('\u{feff}');
            let value: Value = serde_json::from_str(installed).unwrap();
            assert!(value["hooks"]["SubagentStart"].is_array(), "{scope}, {shape}: {installed}");
            let again = user.rutter(&args).assert_success();
            assert!(again.stdout.contains("nothing to do"), "{scope}, {shape}: {again}");
            drop(user.rutter(&["uninstall", scope, "--dry-run"]).assert_success());
            assert_eq!(user.text(file).trim_start_matches('\u{feff}'), installed);
            drop(user.rutter(&["uninstall", scope]).assert_success());
            assert_eq!(user.read_tree(), before, "{scope}, {shape}");
        }
    }
}

#[test]
fn settings_with_comments_are_refused() {
    for (scope, file) in
        [("--user", "user/.claude/settings.json"), ("--project", "ship/.claude/settings.json")]
    {
        let user = ScopeUser::new();
        user.write(file, "{\n  // mine\n}\n");
        for verb in ["init", "uninstall"] {
            let bin = user.home.program("bin");
            let args: &[&str] =
                if verb == "init" && scope == "--user" { &["--bin", &bin] } else { &[] };
            let ran = user.rutter(&[&[verb, scope], args].concat());
            assert_eq!(ran.exit, Some(1), "{ran}");
            let place = format!("{}:2:3: this is not JSON", user.path(file).display());
            assert!(ran.stderr.contains(&place), "{ran}");
            assert_eq!(user.text(file), "{\n  // mine\n}\n");
        }
    }
}

#[test]
fn user_settings_moved_or_linked() {
    let user = ScopeUser::new();
    let bin = user.home.program("bin");
    let run = |args: &[&str], folder: &Path| {
        let mut command = user.home.command(args);
        command.env("CLAUDE_CONFIG_DIR", folder);
        CommandOutput::run(command.stdin(Stdio::null())).assert_success()
    };
    let before = user.read_tree();
    let deep = user.path("else/where");
    drop(run(&["init", "--user", "--bin", &bin], &deep));
    assert!(deep.join("settings.json").is_file() && !user.path("user/.claude").exists());
    drop(run(&["uninstall", "--user"], &deep));
    assert_eq!(user.read_tree(), before, "every folder that had to be made is gone");

    user.write("dotfiles/claude.json", "{}");
    fs::create_dir(user.path("user/.claude")).unwrap();
    let link = user.path("user/.claude/settings.json");
    std::os::unix::fs::symlink("../../dotfiles/claude.json", &link).unwrap();
    drop(user.rutter(&["init", "--user", "--bin", &bin]).assert_success());
    assert!(link.is_symlink() && user.text("dotfiles/claude.json").contains("SessionStart"));
    drop(user.rutter(&["uninstall", "--user"]).assert_success());
    assert!(link.is_symlink());
    assert_eq!(user.text("dotfiles/claude.json"), "{}");
}

#[test]
fn shared_hook_checks_for_program() {
    let user = ScopeUser::new();
    let ran = user.rutter(&["init", "--project"]).assert_success();
    assert_eq!(ran.stderr, "");
    let (_, next) = ran.stdout.split_once("\n\n").unwrap();
    assert_output!(user.home, next, @"
    The memory is in [HOME]/memory.
    Commit [HOME]/ship/.claude/settings.json and [HOME]/ship/.mcp.json: new sessions in this folder then run the hooks and have the tools, for everyone who has rutter in PATH.
    Claude Code asks each person once whether to use the server; newer versions suggest not to. Without rutter the hooks do nothing. If a person's own settings run rutter, these hooks do nothing either.
    Claude Code may warn about hooks and ask whether you trust the folder. These hooks run only `rutter hook`, and in a terminal they do not run until you say yes.
    `rutter doctor` checks them, `rutter uninstall --project` removes them.
    ");
    let text = user.text("ship/.claude/settings.json");
    assert!(!text.contains(user.path("").to_str().unwrap()), "no path of this machine: {text}");
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["hooks"].as_object().unwrap().len(), 9);
    let line = value["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();

    // Without rutter on PATH the line prints nothing and succeeds, and an unread payload does not matter.
    let shell = |search: &str| {
        let mut command = std::process::Command::new("/bin/sh");
        command.args(["-c", line]).env_clear().env("PATH", search).stdin(Stdio::null());
        CommandOutput::run(&mut command)
    };
    let without = shell("/nowhere");
    assert_eq!((without.exit, &*without.stdout, &*without.stderr), (Some(0), "", ""));
    user.write("bin/rutter", "#!/bin/sh\necho \"$@\"\n");
    assert_eq!(shell(&user.search).assert_success().stdout, "hook --from project\n");

    let mut alone = user.home.command(&["init", "--project"]);
    let ran = CommandOutput::run(alone.stdin(Stdio::null())).assert_success();
    assert!(ran.stderr.contains("rutter is not in PATH"), "{ran}");
    let ran = user.rutter(&["init", "--project", "--bin", "bin/rutter"]);
    assert!(ran.exit == Some(1) && ran.stderr.contains("is for the whole team"), "{ran}");
    drop(user.rutter(&["init", "--project", "--bin", "/opt/our tools/rutter"]).assert_success());
    let text = user.text("ship/.claude/settings.json");
    assert!(text.contains("exec '/opt/our tools/rutter' hook --from project; fi"), "{text}");
    drop(user.rutter(&["uninstall", "--project"]).assert_success());
    assert!(!user.path("ship/.claude").exists());
}

#[test]
fn second_installation_is_reported() {
    let user = ScopeUser::new();
    let (bin, other) = (user.home.program("bin"), user.home.program("other"));
    drop(user.rutter(&["init", "--user", "--bin", &other]).assert_success());
    let ran = user.rutter(&["init", "--bin", &bin]).assert_success();
    let twice = format!(
        "note: {} also runs rutter, by {other}: every event would be recorded twice; run `rutter uninstall --user` to remove it\n",
        user.path("user/.claude/settings.json").display()
    );
    assert_eq!(ran.stderr, twice);
    // The client runs identical commands once, and shared hooks defer.
    for args in [&["init", "--user", "--bin", &bin][..], &["init", "--project"]] {
        assert_eq!(user.rutter(args).assert_success().stderr, "", "{args:?}");
    }
    drop(user.rutter(&["uninstall"]).assert_success());
    let ran = user.rutter(&["uninstall"]).assert_success();
    assert!(ran.stdout.contains("`rutter uninstall --project`"), "{ran}");
    assert!(ran.stdout.contains("`rutter uninstall --user`"), "{ran}");
    let ran = user.rutter(&["init", "--user", "--project"]);
    assert_eq!(ran.exit, Some(2), "{ran}");
}

#[test]
fn plugin_files_are_removed_completely() {
    let user = ScopeUser::new();
    let before = user.read_tree();
    let shown = user.rutter(&["init", "--plugin", "made/for us", "--dry-run"]).assert_success();
    assert_eq!(user.read_tree(), before, "{shown}");
    assert_output!(user.home, user.rutter(&["init", "--plugin", "made/for us"]), @r#"
    exit 0
    --- stdout
    made [HOME]/ship/made/for us/.claude-plugin/plugin.json
    made [HOME]/ship/made/for us/.claude-plugin/marketplace.json
    made [HOME]/ship/made/for us/hooks/hooks.json
    made [HOME]/ship/made/for us/.mcp.json
    made [HOME]/ship/made/for us/README.md
    made [HOME]/ship/made/for us/skills/ghap/SKILL.md

    For one session:   claude --plugin-dir '[HOME]/ship/made/for us'
    For all sessions:  claude plugin marketplace add '[HOME]/ship/made/for us'
                       claude plugin install rutter@rutter
    A plugin cannot allow its own tools. Claude Code asks before each call unless you add this to your settings:
    {"permissions":{"allow":["mcp__plugin_rutter_rutter__start_ghap","mcp__plugin_rutter_rutter__update_ghap","mcp__plugin_rutter_rutter__resolve_ghap","mcp__plugin_rutter_rutter__get_ghap","mcp__plugin_rutter_rutter__adopt_ghap","mcp__plugin_rutter_rutter__search_experiences","mcp__plugin_rutter_rutter__assemble_context","mcp__plugin_rutter_rutter__premortem","mcp__plugin_rutter_rutter__remember","mcp__plugin_rutter_rutter__recall_memories","mcp__plugin_rutter_rutter__list_clusters","mcp__plugin_rutter_rutter__add_value","mcp__plugin_rutter_rutter__list_values","mcp__plugin_rutter_rutter__status"]}}
    `rutter uninstall --plugin '[HOME]/ship/made/for us'` removes the files.
    "#);
    let hooks: Value =
        serde_json::from_str(&user.text("ship/made/for us/hooks/hooks.json")).unwrap();
    assert_eq!(hooks["hooks"].as_object().unwrap().len(), 9);
    assert_eq!(
        hooks["hooks"]["Stop"][0]["hooks"][0]["command"],
        "if command -v rutter >/dev/null 2>&1; then exec rutter hook --from plugin; fi"
    );
    let again = user.rutter(&["init", "--plugin", "made/for us"]).assert_success();
    assert!(again.stdout.contains("nothing to do"), "{again}");
    drop(user.rutter(&["uninstall", "--plugin", "made/for us", "--dry-run"]).assert_success());
    drop(user.rutter(&["uninstall", "--plugin", "made/for us"]).assert_success());
    assert_eq!(user.read_tree(), before);
    let nothing = user.rutter(&["uninstall", "--plugin", "made/for us"]).assert_success();
    assert!(nothing.stdout.contains("has no files of rutter"), "{nothing}");
}

#[test]
fn foreign_plugin_files_stay() {
    let user = ScopeUser::new();
    user.write("ship/p/README.md", "# Mine\n");
    let before = user.read_tree();
    let ran = user.rutter(&["init", "--plugin", "p"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("p/README.md was not written by rutter or was edited"), "{ran}");
    assert_eq!(user.read_tree(), before, "{ran}");

    // If one file cannot be written, none is.
    fs::remove_file(user.path("ship/p/README.md")).unwrap();
    user.write("ship/p/skills", "a file in the way");
    let before = user.read_tree();
    let ran = user.rutter(&["init", "--plugin", "p"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert_eq!(user.read_tree(), before, "{ran}");
    fs::remove_file(user.path("ship/p/skills")).unwrap();

    // Edited files belong to the user. Unedited ones are updated and removed.
    drop(user.rutter(&["init", "--plugin", "p", "--bin", "/opt/x/rutter"]).assert_success());
    assert!(user.text("ship/p/hooks/hooks.json").contains("/opt/x/rutter"));
    drop(user.rutter(&["init", "--plugin", "p"]).assert_success());
    assert!(!user.text("ship/p/hooks/hooks.json").contains("/opt/x/rutter"));
    user.write("ship/p/README.md", "# Mine, after all\n");
    let ran = user.rutter(&["uninstall", "--plugin", "p"]).assert_success();
    assert!(ran.stderr.contains("p/README.md was edited, so it was kept"), "{ran}");
    let left: Vec<_> = fs::read_dir(user.path("ship/p"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["README.md"]);
}

#[test]
fn shared_hook_defers_to_nearer() {
    let user = ScopeUser::new();
    let client = std::cell::Cell::new("claude-code_2-1-325_harness");
    let home = std::cell::Cell::new("user");
    let hear = |from: &str| {
        let mut command = user.home.command(&["hook", "--from", from]);
        command.env("HOME", user.path(home.get()));
        command.env("CLAUDE_PROJECT_DIR", user.path("ship")).env("AI_AGENT", client.get());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let payload = serde_json::json!({
            "hook_event_name": "SessionStart", "session_id": next_session_id(), "source": "startup",
            "transcript_path": "/t", "cwd": user.path("ship"),
        });
        // A hook that defers may exit without reading the payload.
        let mut pipe = child.stdin.take().unwrap();
        drop(std::io::Write::write_all(&mut pipe, payload.to_string().as_bytes()));
        drop(pipe);
        let ran: CommandOutput = child.wait_with_output().unwrap().into();
        !ran.assert_success().stdout.is_empty()
    };
    user.home.write_config(&[]);
    user.home.ok(&["memories"]);
    let bin = user.home.program("bin");
    assert!(hear("project") && hear("plugin"));
    drop(user.rutter(&["init", "--project"]).assert_success());
    assert!(hear("project") && !hear("plugin"));
    drop(user.rutter(&["init", "--user", "--bin", &bin]).assert_success());
    assert!(!hear("project") && !hear("plugin"));
    // The shared hook does not defer to a missing program.
    fs::remove_file(&bin).unwrap();
    assert!(hear("project"));
    user.home.program("bin");
    assert!(!hear("project"));
    // Nor to a file that the client skips, or that mentions rutter elsewhere.
    user.write("user/.claude/settings.json", "{ // rutter hook\n}");
    assert!(hear("project"));
    user.write("user/.claude/settings.json", r#"{"permissions":{"allow":["Bash(rutter:*)"]}}"#);
    assert!(hear("project"));
    drop(user.rutter(&["init", "--bin", &bin]).assert_success());
    assert!(!hear("project"));
    // Nor to a hook on another event.
    let settings = user.text("ship/.claude/settings.local.json");
    user.write("ship/.claude/settings.local.json", &settings.replace("SessionStart", "Setup"));
    assert!(hear("project"));
    // Nor to another shared hook in the user's settings.
    user.write("user/.claude/settings.json", &user.text("ship/.claude/settings.json"));
    assert!(hear("project"));
    // Nor to a pipe of that name, which would never end.
    fs::remove_file(user.path("ship/.claude/settings.local.json")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(user.path("ship/.claude/settings.local.json"))
        .status();
    assert!(made.unwrap().success());
    assert!(hear("project"));
    fs::remove_file(user.path("ship/.claude/settings.local.json")).unwrap();
    // In a worktree, newer clients also read the local settings of the main checkout.
    let git = |folder: &str, args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(args).current_dir(user.path(folder)).env("HOME", user.path("user"));
        git.args(["-q"]).env("GIT_CONFIG_NOSYSTEM", "1");
        drop(CommandOutput::run(&mut git).assert_success());
    };
    fs::create_dir(user.path("main")).unwrap();
    git("main", &["init"]);
    git("main", &["-c", "user.name=x", "-c", "user.email=x", "commit", "--allow-empty", "-m", "x"]);
    fs::remove_dir_all(user.path("ship")).unwrap();
    git("main", &["worktree", "add", "../ship"]);
    assert!(hear("project"));
    user.write("main/.claude/settings.local.json", &settings);
    assert!(!hear("project"));
    // Unless the main checkout is the home directory; the doctor has the same rule.
    home.set("main");
    assert!(hear("project"));
    home.set("user");
    assert!(!hear("project"));
    client.set("claude-code_2-1-197_harness");
    assert!(hear("project"));
}

#[test]
fn project_scope_refused_in_home() {
    let user = ScopeUser::new();
    let run = |args: &[&str]| {
        let mut command = user.home.command(args);
        command.env("HOME", user.path("user")).env("PATH", &user.search).stdin(Stdio::null());
        CommandOutput::run(command.current_dir(user.path("user")))
    };
    let bin = user.home.program("bin");
    drop(run(&["init", "--user", "--bin", &bin]).assert_success());
    let before = user.text("user/.claude/settings.json");
    let ran = run(&["init", "--project"]);
    assert_eq!(ran.exit, Some(1), "{ran}");
    assert!(ran.stderr.contains("use `rutter init --user`"), "{ran}");
    assert_eq!(user.text("user/.claude/settings.json"), before);
    // Nor does `init --user` report its own file as a second installation.
    assert_eq!(
        run(&["init", "--user", "--bin", &user.home.program("other")]).assert_success().stderr,
        ""
    );
}

#[test]
fn uninstall_order_leaves_no_directory() {
    for order in [["--local", "--project"], ["--project", "--local"]] {
        let user = ScopeUser::new();
        let before = user.read_tree();
        let bin = user.home.program("bin");
        drop(user.rutter(&["init", "--bin", &bin]).assert_success());
        drop(user.rutter(&["init", "--project"]).assert_success());
        for scope in order {
            drop(user.rutter(&["uninstall", scope]).assert_success());
        }
        assert_eq!(user.read_tree(), before, "{order:?}");
    }
}

#[test]
fn concurrent_inits_install_once() {
    for _ in 0..5 {
        let user = ScopeUser::new();
        let before = user.read_tree();
        let bin = user.home.program("bin");
        let running: Vec<_> = (0..6)
            .map(|_| {
                let mut command = user.home.command(&["init", "--bin", &bin]);
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                command.spawn().unwrap()
            })
            .collect();
        let done = running.into_iter().filter_map(|mut child| child.wait().ok());
        assert!(done.filter(std::process::ExitStatus::success).count() > 0);
        drop(user.rutter(&["uninstall"]).assert_success());
        assert_eq!(user.read_tree(), before);
    }
}

/// Returns a new session id.
fn next_session_id() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("00000000-0000-4000-8000-{:012}", NEXT.fetch_add(1, Ordering::Relaxed))
}

#[test]
fn global_option_suggests_user() {
    let home = TestHome::new();
    for command in ["init", "uninstall"] {
        let ran = home.rutter(&[command, "--global"]);
        assert_eq!(ran.exit, Some(2), "{ran}");
        assert_eq!(
            ran.stderr,
            "error: there is no option --global; use --user to install rutter for you in every folder\n"
        );
    }
    assert!(!home.path("user/.claude").exists());
}
