//! One fault at a time in a healthy setup. The doctor must name it with place and advice, and report nothing else.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rutter::doctor::codes::CODES;
use serde_json::{Value, json};

use crate::doctor::Setup;

const LOCAL: &str = "ship/.claude/settings.local.json";
const USER: &str = "home/.claude/settings.json";

/// Defines one test per line: plants a fault in a setup and asserts the finding.
macro_rules! faults {
    ($($name:ident: $plant:expr => ($code:literal, $place:expr, $advice:expr);)*) => {
        $(#[test]
        fn $name() {
            let mut setup = Setup::new();
            let plant: fn(&mut Setup) = $plant;
            plant(&mut setup);
            let place = Spot::from($place).in_settings(&setup);
            setup.finds($code, &place, $advice);
        })*
    };
}

/// The expected place of a finding. Places in the settings of `init` are computed, because that file keeps growing.
enum Spot {
    Place(&'static str),
    /// Rutter's entry of an event in the settings that `init` wrote.
    Entry(&'static str),
    /// The value of the first key with the second name after the first name.
    Value(&'static str, &'static str),
    /// The last bracket of the settings.
    End,
}

impl From<&'static str> for Spot {
    fn from(place: &'static str) -> Self {
        Self::Place(place)
    }
}

impl Spot {
    fn in_settings(self, setup: &Setup) -> String {
        let text = fs::read_to_string(setup.path(LOCAL)).unwrap_or_default();
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
        format!("[HOME]/{LOCAL}:{line}:{column}")
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A hook group of another tool.
fn others() -> Value {
    json!([{ "hooks": [{ "type": "command", "command": "true" }] }])
}

/// Replaces rutter on Stop by a script that prints rutter's version and runs `on_events` for an event.
fn impostor(setup: &Setup, on_events: &str) {
    let version = env!("CARGO_PKG_VERSION");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'rutter {version}'; exit; }}\ncat >/dev/null\n{on_events}\n"
    );
    setup.program("other/rutter", &script);
    setup.edit_entry("Stop", "command", setup.text("other/rutter"));
}

/// Sets back the modification time of a file.
fn age(path: &Path, hours: u64) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let then = std::time::SystemTime::now() - Duration::from_hours(hours);
    file.set_modified(then).unwrap();
}

fn patch_database(setup: &Setup, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    setup.ok(&["tend"]);
    let database = setup.memory().join("rutter.db");
    let file = fs::OpenOptions::new().write(true).open(database).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

faults! {
    // The client.
    a_client_that_is_nowhere: |setup| fs::remove_file(setup.path("bin/claude")).unwrap()
        => ("client-missing", "-", "install Claude Code, or add its folder to PATH");
    a_client_without_a_version: |setup| setup.has_client("hello")
        => ("client-unusable", "[HOME]/bin/claude", "claude --version");
    a_client_that_knows_no_args: |setup| setup.has_client("2.1.138 (Claude Code)")
        => ("client-too-old", "[HOME]/bin/claude", "claude update");
    a_client_that_is_told_to_skip_hooks: |setup| setup.variables.push(("CLAUDE_CODE_SIMPLE", "1".to_owned()))
        => ("client-simple", "-", "unset CLAUDE_CODE_SIMPLE");
    a_folder_that_was_never_trusted: |setup| setup.trusts_nothing()
        => ("folder-untrusted", "[HOME]/ship", "start claude here once and accept its question");
    notes_of_the_client_that_cannot_be_read: |setup| setup.write("home/.claude.json", "{\n  \"projects\": {")
        => ("client-state-unreadable", "[HOME]/home/.claude.json:2:16", "mend it there, or move it away: the client makes a new one");

    // Settings.
    settings_that_are_a_folder: |setup| fs::create_dir_all(setup.path(USER)).unwrap()
        => ("settings-unreadable", "[HOME]/home/.claude/settings.json", "make it a file that you may read");
    settings_with_a_comment: |setup| setup.write(USER, "{\n  // mine\n  \"model\": \"opus\"\n}\n")
        => ("settings-not-json", "[HOME]/home/.claude/settings.json:2:3", "mend it there; comments and trailing commas are not allowed");
    settings_with_a_trailing_comma_in_our_own_file: |setup| {
        let text = fs::read_to_string(setup.path(LOCAL)).unwrap();
        setup.write(LOCAL, &format!("{},\n}}\n", text.trim_end().trim_end_matches('}').trim_end()));
    } => ("settings-not-json", Spot::End, "mend it there; comments and trailing commas are not allowed");
    settings_that_are_a_list: |setup| setup.write(USER, " []")
        => ("settings-not-object", "[HOME]/home/.claude/settings.json:1:2", "write { … }");
    settings_in_latin_1: |setup| {
        setup.write(USER, "");
        fs::write(setup.path(USER), b"{ \"language\": \"fran\xe7ais\" }").unwrap();
    } => ("settings-not-utf8", "[HOME]/home/.claude/settings.json", "save it as UTF-8");
    a_key_of_the_wrong_type: |setup| setup.write(USER, "{\n  \"cleanupPeriodDays\": \"30\"\n}")
        => ("settings-key-wrong", "[HOME]/home/.claude/settings.json:2:24", "write a number over 0, or take `cleanupPeriodDays` out");
    a_key_of_the_wrong_type_beside_ours: |setup| setup.edit(|settings| settings["disableAllHooks"] = json!("no"))
        => ("settings-key-wrong", Spot::Value("disableAllHooks", "disableAllHooks"), "write true or false, or take `disableAllHooks` out");
    somebody_elses_guard_that_cannot_be_loaded: |setup| setup.edit(|settings| {
        settings["hooks"]["PermissionRequest"] = json!([{ "hooks": [{ "type": "script", "command": "x" }] }]);
    }) => ("settings-voided", Spot::Value("PermissionRequest", "type"), "mend that entry, or take it out");
    guards_outside_of_hooks: |setup| setup.write(USER, &json!({ "PreToolUse": others() }).to_string())
        => ("settings-voided", "[HOME]/home/.claude/settings.json:1:15", "move them into `hooks`");
    hooks_that_are_a_list_of_groups: |setup| setup.write(USER, &json!({ "hooks": others() }).to_string())
        => ("settings-voided", "[HOME]/home/.claude/settings.json:1:10", "put events around the groups: { \"<event>\": [ … ] }");
    an_entry_that_an_older_client_does_not_forgive: |setup| {
        setup.has_client("2.1.197 (Claude Code)");
        setup.write(USER, &json!({ "hooks": { "Stop": [{ "hooks": [{ "command": "x" }] }] } }).to_string());
    } => ("settings-voided", "[HOME]/home/.claude/settings.json:1:29", "mend that entry, or take it out");
    a_key_that_stands_twice: |setup| setup.write(USER, "{\"model\": \"opus\",\n\"model\": \"haiku\"}")
        => ("settings-key-twice", "[HOME]/home/.claude/settings.json:2:1", "make the two one");
    a_copy_of_settings_that_was_left: |setup| {
        setup.write("ship/.claude/.rutter-x1", "{}");
        age(&setup.path("ship/.claude/.rutter-x1"), 2);
    } => ("settings-leftover", "[HOME]/ship/.claude/.rutter-x1", "rm [HOME]/ship/.claude/.rutter-x1");
    a_copy_of_settings_with_a_name_for_a_shell: |setup| {
        setup.write("ship/.claude/.rutter-it's  $HOME", "{}");
        age(&setup.path("ship/.claude/.rutter-it's  $HOME"), 2);
    } => ("settings-leftover", "[HOME]/ship/.claude/.rutter-it's  $HOME", "rm '[HOME]/ship/.claude/.rutter-it'\\''s  $HOME'");
    hooks_that_are_a_text: |setup| setup.write(USER, "{\"hooks\": \"all\"}")
        => ("hooks-wrong", "[HOME]/home/.claude/settings.json:1:11", "write { \"<event>\": [ … ] }");
    an_event_of_the_wrong_name: |setup| setup.write(USER, &json!({ "hooks": { "PreToolCall": others() } }).to_string())
        => ("event-unknown", "[HOME]/home/.claude/settings.json:1:25", "write `PreToolUse`, or see `rutter contract events`");
    an_event_that_is_no_list: |setup| setup.write(USER, "{\"hooks\":{\"Notification\":{}}}")
        => ("event-wrong", "[HOME]/home/.claude/settings.json:1:26", "write [ { \"hooks\": [ … ] } ]");
    a_group_without_hooks: |setup| setup.write(USER, "{\"hooks\":{\"Stop\":[{\"matcher\":\"x\"}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:19", "mend it, or take it out");
    an_entry_without_a_type: |setup| setup.write(USER, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"x\"}]}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:29", "mend it, or take it out");
    an_entry_without_time: |setup| setup.write(USER, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"prompt\",\"prompt\":\"x\",\"timeout\":0}]}]}}")
        => ("entry-wrong", "[HOME]/home/.claude/settings.json:1:69", "mend it, or take it out");
    hooks_that_are_switched_off: |setup| setup.write("ship/.claude/settings.json", "{\n  \"disableAllHooks\": true\n}")
        => ("hooks-disabled", "[HOME]/ship/.claude/settings.json:2:22", "take `disableAllHooks` out there");
    settings_that_switch_rutter_off: |setup| setup.write(USER, "{\"env\":{\"RUTTER\":\"off\"}}")
        => ("env-off", "[HOME]/home/.claude/settings.json:1:18", "take `RUTTER` out of `env` there");
    settings_that_move_the_memory: |setup| setup.write(USER, "{\"env\":{\"XDG_DATA_HOME\":\"/elsewhere\"}}")
        => ("env-moves-memory", "[HOME]/home/.claude/settings.json:1:25", "set the same here, or take it out there");
    settings_that_make_the_client_simple: |setup| setup.write(USER, "{\"env\":{\"CLAUDE_CODE_SIMPLE\":1}}")
        => ("env-simple", "[HOME]/home/.claude/settings.json:1:30", "take `CLAUDE_CODE_SIMPLE` out of `env` there");

    // Rutter's entries.
    no_entries: |setup| setup.ok(&["uninstall"])
        => ("hooks-none", "[HOME]/ship/.claude/settings.local.json", "rutter init");
    entries_of_an_older_version: |setup| setup.edit(|settings| {
        let hooks = settings["hooks"].as_object_mut().unwrap();
        hooks.shift_remove("PreCompact");
        hooks.shift_remove("SubagentStart");
    }) => ("hooks-missing", "[HOME]/ship/.claude/settings.local.json", "rutter init");
    an_entry_too_many: |setup| setup.edit(|settings| {
        settings["hooks"]["Notification"] = settings["hooks"]["Stop"].clone();
    }) => ("hooks-extra", Spot::Entry("Notification"), "rutter init");
    two_rutters: |setup| {
        fs::create_dir(setup.path("second")).unwrap();
        fs::hard_link(setup.path("bin/rutter"), setup.path("second/rutter")).unwrap();
        let settings = fs::read_to_string(setup.path(LOCAL)).unwrap();
        setup.write(USER, &settings.replace(&setup.text("bin/rutter"), &setup.text("second/rutter")));
    } => ("hooks-twice", "[HOME]/home/.claude/settings.json:6:11", "rutter uninstall --user");
    an_entry_of_ours_that_cannot_be_loaded: |setup| setup.edit_entry("Stop", "timeout", -5)
        => ("hook-wrong", Spot::Value("Stop", "timeout"), "rutter init");
    a_matcher_in_the_form_of_a_permission: |setup| setup.edit(|settings| {
        settings["hooks"]["PostToolUse"][0]["matcher"] = json!("Bash(pytest|npm test)");
    }) => ("hook-matcher-never", Spot::Value("PostToolUse", "matcher"), "rutter init");
    a_matcher_in_lower_case: |setup| setup.edit(|settings| {
        settings["hooks"]["PostToolUseFailure"][0]["matcher"] = json!("bash");
    }) => ("hook-matcher-never", Spot::Value("PostToolUseFailure", "matcher"), "rutter init");
    a_matcher_for_less: |setup| setup.edit(|settings| {
        settings["hooks"]["SessionStart"][0]["matcher"] = json!("startup");
    }) => ("hook-matcher-differs", Spot::Value("SessionStart", "matcher"), "rutter init");
    a_timeout_in_milliseconds: |setup| setup.edit_entry("Stop", "timeout", 5000)
        => ("hook-timeout", Spot::Entry("Stop"), "rutter init");
    a_condition: |setup| setup.edit_entry("Stop", "if", "Bash(cargo *)")
        => ("hook-condition", Spot::Entry("Stop"), "rutter init");
    an_entry_in_the_background: |setup| setup.edit_entry("Stop", "async", true)
        => ("hook-async", Spot::Entry("Stop"), "rutter init");
    an_entry_that_blocks_when_it_fails: |setup| setup.edit_entry("PreToolUse", "onFailure", "block")
        => ("hook-on-failure", Spot::Entry("PreToolUse"), "rutter init");
    a_field_that_nobody_reads: |setup| setup.edit_entry("Stop", "once", true)
        => ("hook-field", Spot::Entry("Stop"), "rutter init");
    a_line_for_a_shell: |setup| {
        let line = format!("'{}' hook", setup.text("bin/rutter"));
        setup.edit_entry("Stop", "command", line);
        setup.edit(|settings| {
            settings["hooks"]["Stop"][0]["hooks"][0].as_object_mut().unwrap().shift_remove("args");
        });
    } => ("hook-shell", Spot::Entry("Stop"), "rutter init");

    // The program of the hooks.
    a_program_that_is_gone: |setup| fs::remove_file(setup.path("bin/rutter")).unwrap()
        => ("program-missing", Spot::Entry("SessionStart"), "rutter init");
    a_program_without_the_right_to_run: |setup| {
        impostor(setup, "");
        mode(&setup.path("other/rutter"), 0o644);
    } => ("program-not-executable", Spot::Entry("Stop"), "chmod +x [HOME]/other/rutter");
    a_program_of_another_machine: |setup| {
        setup.program("other/rutter", "\x7fELF is not enough");
        setup.runs("other/rutter");
    } => ("program-broken", Spot::Entry("SessionStart"), "rutter init");
    a_script_without_its_interpreter: |setup| {
        setup.program("other/rutter", "#!/nowhere/python3\n");
        setup.runs("other/rutter");
    } => ("program-broken", Spot::Entry("SessionStart"), "rutter init");
    a_program_of_the_same_name: |setup| {
        setup.program("other/rutter", "#!/bin/sh\necho 'a router, 1.0'\n");
        setup.runs("other/rutter");
    } => ("program-other", Spot::Entry("SessionStart"), "rutter init");
    a_program_of_another_version: |setup| {
        setup.program("other/rutter", "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 'rutter 0.0.9'\nexec \"${0%/*}/../bin/rutter\" \"$@\"\n");
        setup.runs("other/rutter");
    } => ("program-version", Spot::Entry("SessionStart"), "rutter init");
    a_program_in_a_build_folder: |setup| {
        setup.write("target/CACHEDIR.TAG", "");
        fs::create_dir_all(setup.path("target/debug")).unwrap();
        fs::hard_link(setup.path("bin/rutter"), setup.path("target/debug/rutter")).unwrap();
        setup.runs("target/debug/rutter");
    } => ("program-is-build", Spot::Entry("SessionStart"), "rutter init --bin PATH");
    a_program_that_others_may_replace: |setup| mode(&setup.path("bin"), 0o777)
        => ("program-writable", Spot::Entry("SessionStart"), "chmod go-w [HOME]/bin");

    // Test runs of the hooks.
    a_hook_that_fails: |setup| impostor(setup, "exit 3")
        => ("hook-fails", Spot::Entry("Stop"), "rutter init");
    a_hook_whose_answer_nobody_reads: |setup| impostor(setup, "echo '{\"additionalContext\":\"x\"}'")
        => ("hook-answer", Spot::Entry("Stop"), "pipe its answer into `rutter contract explain Stop`");
    a_hook_that_decides: |setup| impostor(setup, "echo '{\"decision\":\"block\",\"reason\":\"x\"}'")
        => ("hook-answer", Spot::Entry("Stop"), "pipe its answer into `rutter contract explain Stop`");
    a_hook_that_hangs: |setup| {
        impostor(setup, "exec tail -f /dev/null");
        setup.edit_entry("Stop", "timeout", 1);
    } => ("hook-fails", Spot::Entry("Stop"), "rutter init");
    a_hook_that_is_slow: |setup| {
        let path = "home/.config/rutter/config.toml";
        let text = fs::read_to_string(setup.path(path)).unwrap();
        // Every process takes longer than half of this deadline.
        setup.write(path, &text.replace("[hooks.stop]\ndeadline_ms = 1000", "[hooks.stop]\ndeadline_ms = 1"));
    } => ("hook-slow", Spot::Entry("Stop"), "run rutter doctor again when the machine is quiet");

    // The data directory.
    a_memory_that_is_a_file: |setup| {
        fs::remove_dir_all(setup.memory()).unwrap();
        fs::write(setup.memory(), "").unwrap();
    } => ("memory-unreadable", "[HOME]/home/.local/share/rutter", "make it a folder of your own");
    a_memory_that_nothing_can_be_written_to: |setup| {
        fs::remove_dir_all(setup.path("home/.local/share")).unwrap();
        fs::write(setup.path("home/.local/share"), "").unwrap();
    } => ("memory-unwritable", "[HOME]/home/.local/share", "make it a folder of your own");
    a_damaged_database: |setup| patch_database(setup, 0, &[0; 4096])
        => ("memory-damaged", "-", "rutter doctor --repair");
    a_newer_database: |setup| patch_database(setup, 60, &99_u32.to_be_bytes())
        => ("memory-newer", "[HOME]/home/.local/share/rutter/rutter.db", "update rutter");
    a_database_of_another_program: |setup| patch_database(setup, 68, &7_u32.to_be_bytes())
        => ("memory-foreign", "[HOME]/home/.local/share/rutter/rutter.db", "move it away, or set RUTTER_HOME to another folder");
    an_older_database: |setup| patch_database(setup, 60, &1_u32.to_be_bytes())
        => ("memory-older", "[HOME]/home/.local/share/rutter/rutter.db", "rutter tend");
    a_database_that_was_put_aside: |setup| drop(setup.keep("rutter.db.damaged-1", b"x"))
        => ("memory-set-aside", "[HOME]/home/.local/share/rutter/rutter.db.damaged-1", "rutter doctor --repair");
    a_repair_that_was_interrupted: |setup| {
        fs::create_dir(setup.memory().join("salvage-1")).unwrap();
        mode(&setup.memory().join("salvage-1"), 0o700);
    } => ("memory-repairing", "[HOME]/home/.local/share/rutter/salvage-1", "rutter doctor --repair");
    a_memory_that_others_may_read: |setup| mode(&setup.memory(), 0o755)
        => ("memory-readable", "[HOME]/home/.local/share/rutter", "chmod go= [HOME]/home/.local/share/rutter");
    others_may_write: |setup| mode(&setup.memory(), 0o770)
        => ("memory-writable-by-others", "[HOME]/home/.local/share/rutter", "chmod go= [HOME]/home/.local/share/rutter");
    others_could_write: |setup| {
        mode(&setup.memory(), 0o770);
        setup.ok(&["memories"]);
    } => ("memory-was-open", "[HOME]/home/.local/share/rutter", "rutter doctor, and look at what rutter memories and rutter values list show");
    link_in_data_folder: |setup| {
        std::os::unix::fs::symlink("/dev/null", setup.memory().join("vectors")).unwrap();
    } => ("memory-link", "[HOME]/home/.local/share/rutter/vectors", "rm [HOME]/home/.local/share/rutter/vectors, or put what it leads to in its place");
    a_large_database: |setup| {
        setup.ok(&["tend"]);
        let database = fs::OpenOptions::new().write(true).open(setup.memory().join("rutter.db")).unwrap();
        database.set_len(1024 * 1024 * 1024 + 4096).unwrap();
    } => ("memory-large", "-", "rutter forget --project frees the space of a project");
    much_in_the_spool: |setup| {
        fs::create_dir_all(setup.memory().join("spool")).unwrap();
        mode(&setup.memory().join("spool"), 0o700);
        setup.keep("spool/current.jsonl", &vec![b'\n'; 9 * 1024 * 1024]);
    } => ("memory-waiting", "-", "rutter tend");
    files_to_search_that_fit_nothing: |setup| {
        setup.ok(&["remember", "the mast is made of oak", "--category", "fact"]);
        setup.ok(&["tend"]);
        assert!(setup.memory().join("vectors").exists());
        setup.keep("vectors", b"of another table");
    } => ("memory-misfiled", "-", "rutter tend");
    a_file_of_a_killed_process: |setup| age(&setup.keep("terms.new", b""), 2)
        => ("memory-leftovers", "[HOME]/home/.local/share/rutter/terms.new", "rm [HOME]/home/.local/share/rutter/terms.new");
    a_spool_that_nobody_drained: |setup| {
        fs::create_dir_all(setup.memory().join("spool")).unwrap();
        mode(&setup.memory().join("spool"), 0o700);
        age(&setup.keep("spool/current.jsonl", b"{}\n"), 48);
    } => ("spool-old", "[HOME]/home/.local/share/rutter/spool/current.jsonl", "rutter tend");
    hooks_that_could_not_do_their_work: |setup| {
        let now = rutter_memory::Time::from(std::time::SystemTime::now());
        let files = rutter_memory::store::Files::new(setup.memory());
        let line = rutter_memory::Clean::new("hook: spooled: the database is locked");
        rutter_memory::log::append(&files, now, &line).unwrap();
    } => ("log-faults", "[HOME]/home/.local/share/rutter/log/rutter.log", "grep ' hook: ' [HOME]/home/.local/share/rutter/log/rutter.log");

    // Configuration.
    a_configuration_that_is_no_toml: |setup| setup.write("ship/.rutter.toml", "notify = \n")
        => ("config-void", "[HOME]/ship/.rutter.toml:1:10", "mend it; until then the whole file counts for nothing");
    a_key_that_there_is_not: |setup| setup.write("ship/.rutter.toml", "notifi = \"off\"\n")
        => ("config-wrong", "[HOME]/ship/.rutter.toml:1:1", "did you mean `notify`?");
    a_checkout_that_wants_more: |setup| setup.write("ship/.rutter.toml", "notify = \"card\"\n")
        => ("config-untrusted", "[HOME]/ship/.rutter.toml:1:10", "`rutter trust` shows what the file wants, and lets it have it");
    a_configuration_in_yaml: |setup| {
        setup.write("ship/.claude/hooks/config.yaml", "hooks:\n  session_start:\n    enabled: true\n");
    } => ("config-hooks-yaml", "[HOME]/ship/.claude/hooks/config.yaml", "rutter config check");
    a_git_configuration_that_is_too_large: |setup| {
        for part in ["objects", "refs"] {
            fs::create_dir_all(setup.path("ship/.git").join(part)).unwrap();
        }
        setup.write("ship/.git/HEAD", "ref: refs/heads/main\n");
        setup.write("ship/.git/config", &"[a]\n".repeat(70_000));
    } => ("config-git-ignored", "[HOME]/ship/.git/config", "`git remote remove NAME` and `git branch -D NAME` make it shorter");
    a_hook_that_is_switched_off: |setup| setup.write("ship/.rutter.toml", "[hooks.edits]\nenabled = false\n")
        => ("hook-off", "-", "rutter config show --origin");
    a_folder_that_is_excluded: |setup| setup.write("ship/.rutter.toml", "[scope]\nexclude = [\".\"]\n")
        => ("folder-excluded", "[HOME]/ship", "take it out of scope.exclude");
    everything_paused: |setup| setup.ok(&["pause"])
        => ("paused", "[HOME]/home/.local/share/rutter/paused", "rutter pause --off");
    this_session_paused: |setup| {
        setup.variables.push(("CLAUDE_CODE_SESSION_ID", "one".to_owned()));
        setup.ok(&["pause", "--session", "one"]);
    } => ("paused", "[HOME]/home/.local/share/rutter/paused", "rutter pause --session --off");
    rutter_switched_off_here: |setup| setup.variables.push(("RUTTER", "off".to_owned()))
        => ("switched-off", "-", "unset RUTTER");

    // Other memory tools.
    a_rival_as_a_plugin: |setup| setup.write(USER, "{\"enabledPlugins\":{\"claude-mem@thedotmack\":true,\"engram@x\":false}}")
        => ("rival-memory", "[HOME]/home/.claude/settings.json", "claude plugin disable claude-mem@thedotmack");
    a_rival_with_a_hook: |setup| setup.write(USER, "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"/opt/icm/bin/icm hook stop\"}]}]}}")
        => ("rival-memory", "[HOME]/home/.claude/settings.json:1:29", "take its entries out there");
    a_rival_as_a_server_of_the_project: |setup| setup.write("ship/.mcp.json", "{\"mcpServers\":{\"notes\":{\"command\":\"uvx\",\"args\":[\"basic-memory\",\"mcp\"]}}}")
        => ("rival-memory", "[HOME]/ship/.mcp.json:1:24", "claude mcp remove notes");
    a_rival_as_a_server_of_the_user: |setup| {
        setup.notes(|state| state["mcpServers"] = json!({ "mem0": {} }));
    } => ("rival-memory", "[HOME]/home/.claude.json:20:13", "claude mcp remove mem0");
}

#[test]
fn what_is_no_fault_is_not_named() {
    let setup = Setup::new();
    // Settings overridden by a stronger layer, a byte order mark, and a directory with the name of another memory tool.
    setup.write(
        USER,
        "\u{feff}{ \"disableAllHooks\": true, \"env\": { \"RUTTER\": \"off\", \"A\": 1 } }",
    );
    setup.write(
        "ship/.claude/settings.json",
        &json!({
            "disableAllHooks": false,
            "env": { "RUTTER": "on" },
            "allowManagedHooksOnly": true,
            "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "/src/engram/lint.sh" }] }], "Setup": others() },
        })
        .to_string(),
    );
    let report = setup.report();
    assert_eq!(report["findings"], json!([]), "{report:#}");
    // The same command in two layers runs once.
    fs::copy(setup.path(LOCAL), setup.path(USER)).unwrap();
    assert_eq!(setup.report()["findings"], json!([]));
}

#[test]
fn a_plugin_that_runs_rutter_is_a_layer_and_runs_beside_the_settings() {
    let setup = Setup::new();
    let hooks = fs::read_to_string(setup.path(LOCAL)).unwrap();
    setup.write("plugins/rutter/hooks/hooks.json", &hooks);
    setup.write(
        "plugins/rutter/.claude-plugin/plugin.json",
        "{\"name\":\"rutter\",\"hooks\":\"./hooks/hooks.json\"}",
    );
    let installed = json!({ "version": 2, "plugins": { "rutter@here": [{ "scope": "user", "installPath": setup.text("plugins/rutter") }] } });
    setup.write("home/.claude/plugins/installed_plugins.json", &installed.to_string());
    setup.write(USER, "{\"enabledPlugins\":{\"rutter@here\":true}}");
    setup.finds(
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
    setup.finds(
        "server-not-allowed",
        "[HOME]/plugins/rutter/hooks/hooks.json",
        "add the rules that `rutter init --plugin` names to permissions.allow of your settings",
    );
    let allow = json!({ "allow": ["mcp__plugin_rutter_rutter__status"] });
    let user = json!({ "enabledPlugins": { "rutter@here": true }, "permissions": allow });
    setup.write(USER, &user.to_string());
    assert_eq!(setup.report()["findings"], json!([]));
}

/// Every finding code appears in a test: in these files, or beside the code where a test of the binary cannot cause the
/// fault.
#[test]
fn every_code_is_planted() {
    let root = rutter_testkit::root();
    let sources: String = [
        "crates/rutter/tests/it/doctor_faults.rs",
        "crates/rutter/tests/it/data_folder.rs",
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
