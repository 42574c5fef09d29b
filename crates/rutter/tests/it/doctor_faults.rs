//! One fault at a time in a healthy setup. The doctor must name it with place and advice, and report nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rutter::doctor::codes::CODES;
use serde_json::{Value, json};

use crate::doctor::DoctorSetup;

const LOCAL_SETTINGS: &str = "ship/.claude/settings.local.json";
const USER_SETTINGS: &str = "home/.claude/settings.json";

/// Defines one test per line: plants a fault in a setup and asserts the finding.
macro_rules! faults {
    ($($name:ident: $plant:expr => ($code:literal, $place:expr, $advice:expr);)*) => {
        $(#[test]
        fn $name() {
            let mut setup = DoctorSetup::new();
            let plant: fn(&mut DoctorSetup) = $plant;
            plant(&mut setup);
            let place = ExpectedPlace::from($place).locate(&setup);
            setup.assert_only_finding($code, &place, $advice);
        })*
    };
}

/// The expected place of a finding. Places in the settings of `init` are computed, because that file keeps growing.
enum ExpectedPlace {
    Place(&'static str),
    /// Rutter's entry of an event in the settings that `init` wrote.
    Entry(&'static str),
    /// The value of the first key with the second name after the first name.
    Value(&'static str, &'static str),
    /// The last bracket of the settings.
    End,
}

impl From<&'static str> for ExpectedPlace {
    fn from(place: &'static str) -> Self {
        Self::Place(place)
    }
}

impl ExpectedPlace {
    fn locate(self, setup: &DoctorSetup) -> String {
        let text = fs::read_to_string(setup.path(LOCAL_SETTINGS)).unwrap_or_default();
        let behind = |event: &str| text.find(&format!("\"{event}\"")).unwrap();
        let key = |from: usize, key: &str| from + text[from..].find(&format!("\"{key}\"")).unwrap();
        let at = match self {
            Self::Place(place) => return place.to_owned(),
            Self::Entry(event) => text[..key(behind(event), "type")].rfind('{').unwrap(),
            Self::Value(event, name) => key(behind(event), name) + name.len() + "\"\": ".len(),
            Self::End => text.rfind('}').unwrap(),
        };
        let line = text[..at].matches('\n').count() + 1;
        let column = at - text[..at].rfind('\n').map_or(0, |newline| newline + 1) + 1;
        format!("[HOME]/{LOCAL_SETTINGS}:{line}:{column}")
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook group of another tool.
fn foreign_group() -> Value {
    json!([{ "hooks": [{ "type": "command", "command": "true" }] }])
}

/// Replaces rutter on Stop by a script that prints rutter's version and runs `on_events` for an event.
fn install_impostor(setup: &DoctorSetup, on_events: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'rutter {version}'; exit; }}\ncat >/dev/null\n{on_events}\n"
    );
    setup.program("other/rutter", &script);
    setup.edit_entry("Stop", "command", setup.text("other/rutter"));
}

/// Sets back the modification time of a file.
fn set_age_hours(path: &Path, hours: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let then = std::time::SystemTime::now() - Duration::from_hours(hours);
    file.set_modified(then).unwrap();
}

fn patch_database(setup: &DoctorSetup, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    setup.ok(&["maintain"]);
    let database = setup.memory().join("rutter.db");
    let file = fs::OpenOptions::new().write(true).open(database).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// Adds a table that no version of rutter has, and changes the header.
fn alter_database(setup: &DoctorSetup, header: &str) {
    setup.ok(&["tend"]);
    let program = "import sqlite3, sys\n\
        sqlite3.connect(sys.argv[1]).executescript('CREATE TABLE news (text TEXT); PRAGMA ' + sys.argv[2])\n";
    let mut python = Command::new("python3");
    python.args(["-c", program]).arg(setup.memory().join("rutter.db")).arg(header);
    assert!(python.status().unwrap().success());
}

faults! {
    // The client.
    missing_client: |setup| fs::remove_file(setup.path("bin/claude")).unwrap()
        => ("client-missing", "-", "install Claude Code, or add its folder to PATH");
    client_without_version: |setup| setup.install_client("hello")
        => ("client-unusable", "[HOME]/bin/claude", "claude --version");
    client_too_old_for_args: |setup| setup.install_client("2.1.138 (Claude Code)")
        => ("client-too-old", "[HOME]/bin/claude", "claude update");
    simple_client_by_variable: |setup| setup.variables.push(("CLAUDE_CODE_SIMPLE", "1".to_owned()))
        => ("client-simple", "-", "unset CLAUDE_CODE_SIMPLE");
    untrusted_folder: |setup| setup.distrust_all()
        => ("folder-untrusted", "[HOME]/ship", "start claude here once and accept the trust question");
    unreadable_client_state: |setup| setup.write("home/.claude.json", "{\n  \"projects\": {")
        => ("client-state-unreadable", "[HOME]/home/.claude.json:2:16", "fix the file, or move it away: the client makes a new one");

    // Settings.
    settings_file_is_directory: |setup| fs::create_dir_all(setup.path(USER_SETTINGS)).unwrap()
        => ("settings-unreadable", "[HOME]/home/.claude/settings.json", "make it a file that you may read");
    settings_with_comment: |setup| setup.write(USER_SETTINGS, "{\n  // mine\n  \"model\": \"opus\"\n}\n")
        => ("settings-not-json", "[HOME]/home/.claude/settings.json:2:3", "fix it there; comments and trailing commas are not allowed");
    local_settings_with_trailing_comma: |setup| {
        let text = fs::read_to_string(setup.path(LOCAL_SETTINGS)).unwrap();
        setup.write(LOCAL_SETTINGS, &format!("{},\n}}\n", text.trim_end().trim_end_matches('}').trim_end()));
    } => ("settings-not-json", ExpectedPlace::End, "fix it there; comments and trailing commas are not allowed");
    settings_are_array: |setup| setup.write(USER_SETTINGS, " []")
        => ("settings-not-object", "[HOME]/home/.claude/settings.json:1:2", "write { … }");
    settings_in_latin_1: |setup| {
        setup.write(USER_SETTINGS, "");
        fs::write(setup.path(USER_SETTINGS), b"{ \"language\": \"fran\xe7ais\" }").unwrap();
    } => ("settings-not-utf8", "[HOME]/home/.claude/settings.json", "save it as UTF-8");
    settings_key_of_wrong_type: |setup| setup.write(USER_SETTINGS, "{\n  \"cleanupPeriodDays\": \"30\"\n}")
        => ("settings-key-wrong", "[HOME]/home/.claude/settings.json:2:24", "write a number over 0, or remove `cleanupPeriodDays`");
    wrong_key_in_local_settings: |setup| setup.edit_settings(|settings| settings["disableAllHooks"] = json!("no"))
        => ("settings-key-wrong", ExpectedPlace::Value("disableAllHooks", "disableAllHooks"), "write true or false, or remove `disableAllHooks`");
    invalid_foreign_guard: |setup| setup.edit_settings(|settings| {
        settings["hooks"]["PermissionRequest"] = json!([{ "hooks": [{ "type": "script", "command": "x" }] }]);
    }) => ("settings-voided", ExpectedPlace::Value("PermissionRequest", "type"), "fix that entry, or remove it");
    guards_outside_of_hooks: |setup| setup.write(USER_SETTINGS, &json!({ "PreToolUse": foreign_group() }).to_string())
        => ("settings-voided", "[HOME]/home/.claude/settings.json:1:15", "move them into `hooks`");
    hooks_are_array_of_groups: |setup| setup.write(USER_SETTINGS, &json!({ "hooks": foreign_group() }).to_string())
        => ("settings-voided", "[HOME]/home/.claude/settings.json:1:10", "wrap the groups in events: { \"EVENT\": [ … ] }");
    entry_invalid_for_older_client: |setup| {
        setup.install_client("2.1.197 (Claude Code)");
        setup.write(USER_SETTINGS, &json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "x" }] }] } }).to_string());
    } => ("settings-voided", "[HOME]/home/.claude/settings.json:1:29", "fix that entry, or remove it");
    duplicate_settings_key: |setup| setup.write(USER_SETTINGS, "{\"model\": \"opus\",\n\"model\": \"haiku\"}")
        => ("settings-key-twice", "[HOME]/home/.claude/settings.json:2:1", "merge the two into one");
    leftover_settings_copy: |setup| {
        setup.write("ship/.claude/.rutter-x1", "{}");
        set_age_hours(&setup.path("ship/.claude/.rutter-x1"), 2);
    } => ("settings-leftover", "[HOME]/ship/.claude/.rutter-x1", "rm [HOME]/ship/.claude/.rutter-x1");
    leftover_copy_with_quoted_name: |setup| {
        setup.write("ship/.claude/.rutter-it's  $HOME", "{}");
        set_age_hours(&setup.path("ship/.claude/.rutter-it's  $HOME"), 2);
    } => ("settings-leftover", "[HOME]/ship/.claude/.rutter-it's  $HOME", "rm '[HOME]/ship/.claude/.rutter-it'\\''s  $HOME'");
    hooks_are_recorded: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"exec rutter contract recorded-run Stop 00ff -- ./x\"}]}]}}")
        => ("hooks-recorded", "[HOME]/home/.claude/settings.json", "rutter contract record off");
    hooks_are_string: |setup| setup.write(USER_SETTINGS, "{\"hooks\": \"all\"}")
        => ("hooks-wrong", "[HOME]/home/.claude/settings.json:1:11", "write { \"EVENT\": [ … ] }");
    misspelt_event_name: |setup| setup.write(USER_SETTINGS, &json!({ "hooks": { "PreToolCall": foreign_group() } }).to_string())
        => ("event-unknown", "[HOME]/home/.claude/settings.json:1:25", "write `PreToolUse`, or see `rutter contract events`");
    event_is_not_array: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Notification\":{}}}")
        => ("event-wrong", "[HOME]/home/.claude/settings.json:1:26", "write [ { \"hooks\": [ … ] } ]");
    group_without_hooks: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Stop\":[{\"matcher\":\"x\"}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:19", "fix it, or remove it");
    entry_without_type: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:29", "fix it, or remove it");
    entry_with_zero_timeout: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"prompt\",\"prompt\":\"x\",\"timeout\":0}]}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:69", "fix it, or remove it");
    hooks_disabled_in_settings: |setup| setup.write("ship/.claude/settings.json", "{\n  \"disableAllHooks\": true\n}")
        => ("hooks-disabled", "[HOME]/ship/.claude/settings.json:2:22", "remove `disableAllHooks` there");
    settings_switch_rutter_off: |setup| setup.write(USER_SETTINGS, "{\"env\":{\"RUTTER\":\"off\"}}")
        => ("env-off", "[HOME]/home/.claude/settings.json:1:18", "remove `RUTTER` from `env` there");
    settings_move_data_dir: |setup| setup.write(USER_SETTINGS, "{\"env\":{\"XDG_DATA_HOME\":\"/elsewhere\"}}")
        => ("env-moves-memory", "[HOME]/home/.claude/settings.json:1:25", "set the same variable here, or remove it there");
    settings_make_client_simple: |setup| setup.write(USER_SETTINGS, "{\"env\":{\"CLAUDE_CODE_SIMPLE\":1}}")
        => ("env-simple", "[HOME]/home/.claude/settings.json:1:30", "remove `CLAUDE_CODE_SIMPLE` from `env` there");

    // Rutter's entries.
    no_hook_entries: |setup| setup.ok(&["uninstall"])
        => ("hooks-none", "[HOME]/ship/.claude/settings.local.json", "rutter init");
    missing_hook_entries: |setup| setup.edit_settings(|settings| {
        let hooks = settings["hooks"].as_object_mut().unwrap();
        hooks.shift_remove("PreCompact");
        hooks.shift_remove("SubagentStart");
    }) => ("hooks-missing", "[HOME]/ship/.claude/settings.local.json", "rutter init");
    surplus_hook_entry: |setup| setup.edit_settings(|settings| {
        settings["hooks"]["Notification"] = settings["hooks"]["Stop"].clone();
    }) => ("hooks-extra", ExpectedPlace::Entry("Notification"), "rutter init");
    two_rutter_programs: |setup| {
        fs::create_dir(setup.path("second")).unwrap();
        fs::hard_link(setup.path("bin/rutter"), setup.path("second/rutter")).unwrap();
        let settings = fs::read_to_string(setup.path(LOCAL_SETTINGS)).unwrap();
        setup.write(USER_SETTINGS, &settings.replace(&setup.text("bin/rutter"), &setup.text("second/rutter")));
    } => ("hooks-twice", "[HOME]/home/.claude/settings.json:6:11", "rutter uninstall --user");
    invalid_rutter_entry: |setup| setup.edit_entry("Stop", "timeout", -5)
        => ("hook-wrong", ExpectedPlace::Value("Stop", "timeout"), "rutter init");
    matcher_like_permission_rule: |setup| setup.edit_settings(|settings| {
        settings["hooks"]["PostToolUse"][0]["matcher"] = json!("Bash(pytest|npm test)");
    }) => ("hook-matcher-never", ExpectedPlace::Value("PostToolUse", "matcher"), "rutter init");
    matcher_in_lower_case: |setup| setup.edit_settings(|settings| {
        settings["hooks"]["PostToolUseFailure"][0]["matcher"] = json!("bash");
    }) => ("hook-matcher-never", ExpectedPlace::Value("PostToolUseFailure", "matcher"), "rutter init");
    matcher_too_narrow: |setup| setup.edit_settings(|settings| {
        settings["hooks"]["SessionStart"][0]["matcher"] = json!("startup");
    }) => ("hook-matcher-differs", ExpectedPlace::Value("SessionStart", "matcher"), "rutter init");
    timeout_in_milliseconds: |setup| setup.edit_entry("Stop", "timeout", 5000)
        => ("hook-timeout", ExpectedPlace::Entry("Stop"), "rutter init");
    entry_with_condition: |setup| setup.edit_entry("Stop", "if", "Bash(cargo *)")
        => ("hook-condition", ExpectedPlace::Entry("Stop"), "rutter init");
    async_entry: |setup| setup.edit_entry("Stop", "async", true)
        => ("hook-async", ExpectedPlace::Entry("Stop"), "rutter init");
    entry_blocks_on_failure: |setup| setup.edit_entry("PreToolUse", "onFailure", "block")
        => ("hook-on-failure", ExpectedPlace::Entry("PreToolUse"), "rutter init");
    unknown_entry_field: |setup| setup.edit_entry("Stop", "once", true)
        => ("hook-field", ExpectedPlace::Entry("Stop"), "rutter init");
    entry_as_shell_line: |setup| {
        let line = format!("'{}' hook", setup.text("bin/rutter"));
        setup.edit_entry("Stop", "command", line);
        setup.edit_settings(|settings| {
            settings["hooks"]["Stop"][0]["hooks"][0].as_object_mut().unwrap().shift_remove("args");
        });
    } => ("hook-shell", ExpectedPlace::Entry("Stop"), "rutter init");

    // The program of the hooks.
    missing_hook_program: |setup| fs::remove_file(setup.path("bin/rutter")).unwrap()
        => ("program-missing", ExpectedPlace::Entry("SessionStart"), "rutter init");
    non_executable_program: |setup| {
        install_impostor(setup, "");
        set_mode(&setup.path("other/rutter"), 0o644);
    } => ("program-not-executable", ExpectedPlace::Entry("Stop"), "chmod +x [HOME]/other/rutter");
    program_for_other_machine: |setup| {
        setup.program("other/rutter", "\x7fELF is not enough");
        setup.replace_program("other/rutter");
    } => ("program-broken", ExpectedPlace::Entry("SessionStart"), "rutter init");
    script_without_interpreter: |setup| {
        setup.program("other/rutter", "#!/nowhere/python3\n");
        setup.replace_program("other/rutter");
    } => ("program-broken", ExpectedPlace::Entry("SessionStart"), "rutter init");
    foreign_program_named_rutter: |setup| {
        setup.program("other/rutter", "#!/bin/sh\necho 'a router, 1.0'\n");
        setup.replace_program("other/rutter");
    } => ("program-other", ExpectedPlace::Entry("SessionStart"), "rutter init");
    program_of_other_version: |setup| {
        setup.program("other/rutter", "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'rutter 0.0.9'\nexec \"${0%/*}/../bin/rutter\" \"$@\"\n");
        setup.replace_program("other/rutter");
    } => ("program-version", ExpectedPlace::Entry("SessionStart"), "rutter init");
    program_in_build_dir: |setup| {
        setup.write("target/CACHEDIR.TAG", "");
        fs::create_dir_all(setup.path("target/debug")).unwrap();
        fs::hard_link(setup.path("bin/rutter"), setup.path("target/debug/rutter")).unwrap();
        setup.replace_program("target/debug/rutter");
    } => ("program-is-build", ExpectedPlace::Entry("SessionStart"), "rutter init --bin PATH");
    program_writable_by_others: |setup| set_mode(&setup.path("bin"), 0o777)
        => ("program-writable", ExpectedPlace::Entry("SessionStart"), "chmod go-w [HOME]/bin");

    // Test runs of the hooks.
    failing_hook: |setup| install_impostor(setup, "exit 3")
        => ("hook-fails", ExpectedPlace::Entry("Stop"), "rutter init");
    hook_with_dropped_answer: |setup| install_impostor(setup, "echo '{\"additionalContext\":\"x\"}'")
        => ("hook-answer", ExpectedPlace::Entry("Stop"), "pipe its answer into `rutter contract explain Stop`");
    hook_that_blocks: |setup| install_impostor(setup, "echo '{\"decision\":\"block\",\"reason\":\"x\"}'")
        => ("hook-answer", ExpectedPlace::Entry("Stop"), "pipe its answer into `rutter contract explain Stop`");
    hanging_hook: |setup| {
        install_impostor(setup, "exec tail -f /dev/null");
        setup.edit_entry("Stop", "timeout", 1);
    } => ("hook-fails", ExpectedPlace::Entry("Stop"), "rutter init");
    slow_hook: |setup| {
        // More than half of the deadline, which is a second in tests.
        install_impostor(setup, "exec sleep 0.6");
    } => ("hook-slow", ExpectedPlace::Entry("Stop"), "run rutter doctor again when the machine is idle");

    // The data directory.
    data_dir_is_file: |setup| {
        fs::remove_dir_all(setup.memory()).unwrap();
        fs::write(setup.memory(), "").unwrap();
    } => ("memory-unreadable", "[HOME]/home/.local/share/rutter", "make it a folder that belongs to you");
    unwritable_data_dir: |setup| {
        fs::remove_dir_all(setup.path("home/.local/share")).unwrap();
        fs::write(setup.path("home/.local/share"), "").unwrap();
    } => ("memory-unwritable", "[HOME]/home/.local/share", "make it a folder that belongs to you");
    damaged_database: |setup| patch_database(setup, 0, &[0; 4096])
        => ("memory-damaged", "-", "rutter doctor --repair");
    newer_database: |setup| alter_database(setup, "user_version = 99")
        => ("memory-newer", "[HOME]/home/.local/share/rutter/rutter.db", "update rutter");
    foreign_database: |setup| alter_database(setup, "application_id = 7")
        => ("memory-foreign", "[HOME]/home/.local/share/rutter/rutter.db", "move it away, or set RUTTER_HOME to another folder");
    database_with_damaged_version: |setup| patch_database(setup, 60, &99_u32.to_be_bytes())
        => ("memory-damaged", "-", "rutter doctor --repair");
    older_database: |setup| {
        let oldest = concat!(env!("CARGO_MANIFEST_DIR"), "/../memory/fixtures/store/1.db");
        setup.ok(&["tend"]);
        setup.write_data_file("rutter.db", &fs::read(oldest).unwrap());
    } => ("memory-older", "[HOME]/home/.local/share/rutter/rutter.db", "rutter maintain");
    database_set_aside: |setup| drop(setup.write_data_file("rutter.db.damaged-1", b"x"))
        => ("memory-set-aside", "[HOME]/home/.local/share/rutter/rutter.db.damaged-1", "rutter doctor --repair");
    interrupted_repair: |setup| {
        fs::create_dir(setup.memory().join("salvage-1")).unwrap();
        set_mode(&setup.memory().join("salvage-1"), 0o700);
    } => ("memory-repairing", "[HOME]/home/.local/share/rutter/salvage-1", "rutter doctor --repair");
    data_dir_readable_by_others: |setup| set_mode(&setup.memory(), 0o755)
        => ("memory-readable", "[HOME]/home/.local/share/rutter", "chmod go= [HOME]/home/.local/share/rutter");
    data_dir_writable_by_others: |setup| set_mode(&setup.memory(), 0o770)
        => ("memory-writable-by-others", "[HOME]/home/.local/share/rutter", "chmod go= [HOME]/home/.local/share/rutter");
    data_dir_was_writable: |setup| {
        set_mode(&setup.memory(), 0o770);
        setup.ok(&["memories"]);
    } => ("memory-was-open", "[HOME]/home/.local/share/rutter", "rutter doctor, and check the output of rutter memories and rutter values list");
    link_in_data_dir: |setup| {
        std::os::unix::fs::symlink("/dev/null", setup.memory().join("vectors")).unwrap();
    } => ("memory-link", "[HOME]/home/.local/share/rutter/vectors", "rm [HOME]/home/.local/share/rutter/vectors, or replace it with its target");
    large_database: |setup| {
        setup.ok(&["maintain"]);
        let database = fs::OpenOptions::new().write(true).open(setup.memory().join("rutter.db")).unwrap();
        database.set_len(1024 * 1024 * 1024 + 4096).unwrap();
    } => ("memory-large", "-", "rutter forget --project frees the space of a project");
    large_spool: |setup| {
        fs::create_dir_all(setup.memory().join("spool")).unwrap();
        set_mode(&setup.memory().join("spool"), 0o700);
        setup.write_data_file("spool/current.jsonl", &vec![b'\n'; 9 * 1024 * 1024]);
    } => ("memory-waiting", "-", "rutter maintain");
    mismatched_search_files: |setup| {
        setup.ok(&["remember", "the mast is made of oak", "--category", "fact"]);
        setup.ok(&["maintain"]);
        assert!(setup.memory().join("vectors").exists());
        setup.write_data_file("vectors", b"of another table");
    } => ("memory-misfiled", "-", "rutter maintain");
    leftover_of_killed_process: |setup| set_age_hours(&setup.write_data_file("terms.new", b""), 2)
        => ("memory-leftovers", "[HOME]/home/.local/share/rutter/terms.new", "rm [HOME]/home/.local/share/rutter/terms.new");
    old_spool: |setup| {
        fs::create_dir_all(setup.memory().join("spool")).unwrap();
        set_mode(&setup.memory().join("spool"), 0o700);
        set_age_hours(&setup.write_data_file("spool/current.jsonl", b"{}\n"), 48);
    } => ("spool-old", "[HOME]/home/.local/share/rutter/spool/current.jsonl", "rutter maintain");
    faults_in_log: |setup| {
        let now = rutter_memory::Time::from(std::time::SystemTime::now());
        let files = rutter_memory::store::DataDir::new(setup.memory());
        let line = rutter_memory::Clean::new("hook: spooled: the database is locked");
        rutter_memory::log::append_line(&files, now, &line).unwrap();
    } => ("log-faults", "[HOME]/home/.local/share/rutter/log/rutter.log", "grep ' hook: ' [HOME]/home/.local/share/rutter/log/rutter.log");

    // Configuration.
    invalid_toml_config: |setup| setup.write("ship/.rutter.toml", "notify = \n")
        => ("config-void", "[HOME]/ship/.rutter.toml:1:10", "fix it; until then the whole file is ignored");
    unknown_config_key: |setup| setup.write("ship/.rutter.toml", "notifi = \"off\"\n")
        => ("config-wrong", "[HOME]/ship/.rutter.toml:1:1", "did you mean `notify`?");
    config_needs_trust: |setup| setup.write("ship/.rutter.toml", "notify = \"card\"\n")
        => ("config-untrusted", "[HOME]/ship/.rutter.toml:1:10", "`rutter trust` shows the requested changes, and trusts the file");
    hooks_yaml_config: |setup| {
        setup.write("ship/.claude/hooks/config.yaml", "hooks:\n  session_start:\n    enabled: true\n");
    } => ("config-hooks-yaml", "[HOME]/ship/.claude/hooks/config.yaml", "rutter config check");
    oversized_git_config: |setup| {
        for part in ["objects", "refs"] {
            fs::create_dir_all(setup.path("ship/.git").join(part)).unwrap();
        }
        setup.write("ship/.git/HEAD", "ref: refs/heads/main\n");
        setup.write("ship/.git/config", &"[a]\n".repeat(70_000));
    } => ("config-git-ignored", "[HOME]/ship/.git/config", "run `git remote remove NAME` or `git branch -D NAME` to make it smaller");
    hook_disabled_in_config: |setup| setup.write("ship/.rutter.toml", "[hooks.edits]\nenabled = false\n")
        => ("hook-off", "-", "rutter config show --origin");
    excluded_folder: |setup| setup.write("ship/.rutter.toml", "[scope]\nexclude = [\".\"]\n")
        => ("folder-excluded", "[HOME]/ship", "remove it from scope.exclude");
    everything_paused: |setup| setup.ok(&["pause"])
        => ("paused", "[HOME]/home/.local/share/rutter/paused", "rutter pause --off");
    this_session_paused: |setup| {
        setup.variables.push(("CLAUDE_CODE_SESSION_ID", "one".to_owned()));
        setup.ok(&["pause", "--session", "one"]);
    } => ("paused", "[HOME]/home/.local/share/rutter/paused", "rutter pause --session --off");
    rutter_off_by_variable: |setup| setup.variables.push(("RUTTER", "off".to_owned()))
        => ("switched-off", "-", "unset RUTTER");

    // Other memory tools.
    rival_memory_plugin: |setup| setup.write(USER_SETTINGS, "{\"enabledPlugins\":{\"claude-mem@thedotmack\":true,\"engram@x\":false}}")
        => ("rival-memory", "[HOME]/home/.claude/settings.json", "claude plugin disable claude-mem@thedotmack");
    rival_memory_hook: |setup| setup.write(USER_SETTINGS, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/opt/icm/bin/icm hook stop\"}]}]}}")
        => ("rival-memory", "[HOME]/home/.claude/settings.json:1:29", "remove its entries there");
    rival_memory_project_server: |setup| setup.write("ship/.mcp.json", "{\"mcpServers\":{\"notes\":{\"command\":\"uvx\",\"args\":[\"basic-memory\",\"mcp\"]}}}")
        => ("rival-memory", "[HOME]/ship/.mcp.json:1:24", "claude mcp remove notes");
    rival_memory_user_server: |setup| {
        setup.edit_client_state(|state| state["mcpServers"] = json!({ "mem0": {} }));
    } => ("rival-memory", "[HOME]/home/.claude.json:20:13", "claude mcp remove mem0");
}

#[test]
fn harmless_settings_have_no_findings() {
    let setup = DoctorSetup::new();
    // Settings overridden by a stronger layer, a byte order mark, and a directory with the name of another memory tool.
    setup.write(
        USER_SETTINGS,
        "\u{feff}{ \"disableAllHooks\": true, \"env\": { \"RUTTER\": \"off\", \"A\": 1 } }",
    );
    setup.write(
        "ship/.claude/settings.json",
        &json!({
            "disableAllHooks": false,
            "env": { "RUTTER": "on" },
            "allowManagedHooksOnly": true,
            "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "/src/engram/lint.sh" }] }], "Setup": foreign_group() },
        })
        .to_string(),
    );
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    // The same command in two layers runs once.
    fs::copy(setup.path(LOCAL_SETTINGS), setup.path(USER_SETTINGS)).unwrap();
    assert_eq!(setup.report()["findings"], json!([]));
}

#[test]
fn plugin_counts_as_layer() {
    let setup = DoctorSetup::new();
    let hooks = fs::read_to_string(setup.path(LOCAL_SETTINGS)).unwrap();
    setup.write("plugins/rutter/hooks/hooks.json", &hooks);
    setup.write(
        "plugins/rutter/.claude-plugin/plugin.json",
        "{\"name\":\"rutter\",\"hooks\":\"./hooks/hooks.json\"}",
    );
    let installed = json!({ "version": 2, "plugins": { "rutter@here": [{ "scope": "user", "installPath": setup.text("plugins/rutter") }] } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    setup.write(USER_SETTINGS, "{\"enabledPlugins\":{\"rutter@here\":true}}");
    setup.assert_only_finding(
        "hooks-twice",
        "[HOME]/plugins/rutter/hooks/hooks.json:6:11",
        "claude plugin disable rutter@here",
    );
    let report = setup.report();
    let plugin =
        report["layers"].as_array().unwrap().iter().find(|layer| layer["whose"] == "plugin");
    assert_eq!(plugin.unwrap()["ours"], 9, "{report:#}");
    // The plugin alone is enough, with its MCP server.
    let program = setup.text("bin/rutter");
    let servers = json!({ "mcpServers": { "rutter": { "command": program, "args": ["mcp"] } } });
    setup.write("plugins/rutter/.mcp.json", &servers.to_string());
    setup.ok(&["uninstall"]);
    setup.assert_only_finding(
        "server-not-allowed",
        "[HOME]/plugins/rutter/hooks/hooks.json",
        "add the rules that `rutter init --plugin` prints to permissions.allow of your settings",
    );
    let allow = json!({ "allow": ["mcp__plugin_rutter_rutter__status"] });
    let user = json!({ "enabledPlugins": { "rutter@here": true }, "permissions": allow });
    setup.write(USER_SETTINGS, &user.to_string());
    assert_eq!(setup.report()["findings"], json!([]));
}

/// Every finding code appears in a test: in these files, or beside the code where a test of the binary cannot cause the
/// fault.
#[test]
fn every_finding_code_is_tested() {
    let root = rutter_testkit::repository_root();
    let sources: String = [
        "crates/rutter/tests/it/doctor_faults.rs",
        "crates/rutter/tests/it/data_dir.rs",
        "crates/rutter/tests/it/doctor.rs",
        "crates/rutter/tests/it/doctor_live.rs",
        "crates/rutter/tests/it/doctor_scopes.rs",
        "crates/rutter/tests/it/doctor_server.rs",
        "crates/rutter/src/doctor/tests.rs",
        "crates/rutter/src/doctor/memory.rs",
        "crates/memory/tests/it/index.rs",
        "crates/memory/tests/it/forget.rs",
    ]
    .iter()
    .map(|path| fs::read_to_string(root.join(path)).unwrap())
    .collect();
    let planted: BTreeSet<&str> = CODES
        .iter()
        .map(|code| code.name)
        .filter(|name| sources.contains(&format!("\"{name}\"")))
        .collect();
    let missing: Vec<&str> =
        CODES.iter().map(|code| code.name).filter(|name| !planted.contains(name)).collect();
    assert_eq!(missing, [] as [&str; 0]);
}
