use std::path::PathBuf;

use rutter_hooks::{HookResult, handle_event};
use rutter_memory::Time;
use rutter_memory::episode::EpisodeEndingKind;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use serde_json::json;

use rutter_testkit::story::{
    EMPTY, HookStory, NAME, TOTAL, cargo_test_output, ended_episode, fixed_episode, open_episode,
    run_git,
};
use rutter_testkit::world::TestWorld;

#[test]
fn recurring_failure_shows_earlier_fix() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.edit("src/cart.rs", &[" fn total() {", "-    sum * 9 / 10", "+    sum", " }"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [fixed_episode(TOTAL.0, "src/cart.rs -    sum * 9 / 10 +    sum")]
    );
    // The agent that fixed it still has the fix in its context.
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.green("cargo test");
    story.session = "session-2";
    insta::assert_snapshot!(story.red("cargo test", &[TOTAL]), @"
    Recorded data: this failure was fixed before.
    `cart::tests::total`: `panicked: the total is wrong: 90`
    Fixed in `src/cart.rs`:
    > -sum * 9 / 10
    > +sum
    3 minutes ago.
    ");
    // The text is not repeated while it is in the context.
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.start("resume");
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.start("compact");
    assert!(story.red("cargo test", &[TOTAL]).contains("cart.rs"));
    // A subagent has a separate context.
    story.agent = Some("a1");
    assert!(story.red("cargo test", &[TOTAL]).contains("cart.rs"));
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
}

#[test]
fn unknown_failure_shows_nothing() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    story.session = "session-2";
    assert_eq!(story.red("cargo test", &[NAME]), "");
    // Another failure of the same test is labelled as such.
    insta::assert_snapshot!(story.red("cargo test", &[(TOTAL.0, "attempt to divide by zero")]), @"
    Recorded data: same test, another failure.
    `cart::tests::total`: `panicked: the total is wrong: 90`
    Fixed in `src/cart.rs`:
    > -a
    > +b
    2 minutes ago.
    ");
}

#[test]
fn failures_have_separate_fixes() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL, NAME, EMPTY]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    // Two of the three failures are gone.
    story.red("cargo test", &[NAME]);
    assert_eq!(
        story.episodes(),
        [open_episode(EMPTY.0), open_episode(TOTAL.0), open_episode(NAME.0)]
    );
    story.edit("src/user.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [
            fixed_episode(EMPTY.0, "src/cart.rs -a +b"),
            fixed_episode(TOTAL.0, "src/cart.rs -a +b"),
            fixed_episode(NAME.0, "src/user.rs -c +d")
        ]
    );
}

#[test]
fn partial_run_keeps_episodes_open() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL, NAME]);
    story.edit("src/a.rs", &["-a", "+b"]);
    // Fewer tests ran because an earlier test binary failed.
    let error = format!("Exit code 101\n{}", cargo_test_output(1, &[NAME]));
    story.send_event(
        "PostToolUseFailure",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": error }),
    );
    story.edit("src/b.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [
            fixed_episode(TOTAL.0, "src/a.rs -a +b; src/b.rs -c +d"),
            fixed_episode(NAME.0, "src/b.rs -c +d")
        ]
    );
}

#[test]
fn green_without_change_is_flaky() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.bash("git status");
    story.green("cargo test");
    assert_eq!(story.episodes(), [ended_episode(TOTAL.0, EpisodeEndingKind::Flaky, "")]);
    story.session = "session-2";
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
}

#[test]
fn undone_attempt_is_not_fix() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/guess.rs", &["-a", "+b"]);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/guess.rs", &["-b", "+a"]);
    story.edit("src/cart.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -c +d")]);
}

#[test]
fn reverted_fix_is_marked_missing() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let file = world.project("ship").join("cart.rs");
    story.red("cargo test", &[TOTAL]);
    story.edit("cart.rs", &["-    sum * 9 / 10", "+    sum"]);
    std::fs::write(&file, "fn total() {\n    sum\n}\n").unwrap();
    story.green("cargo test");
    story.session = "session-2";
    std::fs::write(&file, "fn total() {\n    sum * 9 / 10\n}\n").unwrap();
    let said = story.red("cargo test", &[TOTAL]);
    assert!(said.ends_with("> +sum\n1 minute ago. This change is not in the file now."), "{said}");
    story.edit("cart.rs", &["-    sum * 9 / 10", "+    sum"]);
    std::fs::write(&file, "fn total() {\n    sum\n}\n").unwrap();
    story.green("cargo test");
    story.session = "session-3";
    let said = story.red("cargo test", &[TOTAL]);
    assert!(said.ends_with("1 minute ago, fixed 2 times. The file has this change now."), "{said}");
}

#[test]
fn renamed_test_continues_episode() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-    fn total() {", "+    fn total_of_all() {"]);
    story.red("cargo test", &[("cart::tests::total_of_all", TOTAL.1)]);
    assert_eq!(
        story.episodes(),
        [
            ended_episode(TOTAL.0, EpisodeEndingKind::Renamed, ""),
            open_episode("cart::tests::total_of_all")
        ]
    );
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes()[1],
        fixed_episode("cart::tests::total_of_all", "src/cart.rs -a +b")
    );
    story.red("cargo test", &[NAME]);
    story.edit("src/user.rs", &["-    fn name() {", "-        assert!(name());", "-    }"]);
    story.green("cargo test");
    assert_eq!(story.episodes()[2].1, Some(EpisodeEndingKind::Removed));
}

#[test]
fn same_command_closes_across_sessions() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.session = "session-2";
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test user");
    story.green("cargo test -p other");
    story.bash("cargo build");
    assert_eq!(story.episodes(), [open_episode(TOTAL.0)]);
    story.session = "session-3";
    story.green("RUST_BACKTRACE=1 cargo test 2>&1 | tail -20");
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -a +b")]);
}

#[test]
fn changed_message_keeps_whole_fix() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.red("cargo test", &[(TOTAL.0, "attempt to divide by zero")]);
    story.edit("src/cart.rs", &["-b", "+c"]);
    story.green("cargo test");
    // Each episode records its whole change, from the failing code to the passing code.
    assert_eq!(
        story.episodes(),
        [fixed_episode(TOTAL.0, "src/cart.rs -a +c"), fixed_episode(TOTAL.0, "src/cart.rs -b +c")]
    );
}

#[test]
fn changing_commands_are_recorded() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.bash("ls -la");
    story.bash("sed -i 's/9/10/' src/cart.rs");
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "sed -i 's/9/10/' src/cart.rs")]);
    story.session = "session-2";
    insta::assert_snapshot!(story.red("cargo test", &[TOTAL]), @"");
    // Writing a file counts as a change even if the heredoc contains a test command.
    story.bash("cat > test.sh <<'EOF'\n#!/bin/sh\ncargo test\nEOF");
    story.green("cargo test");
    assert_eq!(story.episodes()[1], fixed_episode(TOTAL.0, "cat > test.sh <<'EOF' …"));
    // A change in the command line of the run itself.
    story.red("cargo test", &[NAME]);
    story.green("cargo add chrono && cargo test");
    assert_eq!(story.episodes()[2], fixed_episode(NAME.0, "cargo add chrono && cargo test"));
}

#[test]
fn hidden_status_keeps_episode_open() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.bash("cargo test || true");
    story.bash("cargo test | head -1");
    assert_eq!(story.episodes(), [open_episode(TOTAL.0)]);
}

#[test]
fn worktrees_share_fixes_not_edits() {
    let world = TestWorld::new();
    drop(world.store());
    let main = world.project("main");
    run_git(&main, &["init", "-q"]);
    run_git(&main, &["commit", "-q", "--allow-empty", "-m", "a"]);
    run_git(&main, &["worktree", "add", "-q", "../other"]);
    let (here, mut there) =
        (HookStory::at(&world, &main), HookStory::at(&world, &world.project("other")));
    here.red("cargo test", &[TOTAL]);
    there.clock.set(60_000);
    there.edit("src/cart.rs", &["-a", "+b"]);
    there.green("cargo test");
    assert_eq!(here.episodes(), [open_episode(TOTAL.0)]);
    here.clock.set(600_000);
    here.edit("src/cart.rs", &["-c", "+d"]);
    here.green("cargo test");
    assert_eq!(here.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -c +d")]);
    (there.session, there.clock) = ("session-2", 900_000.into());
    assert!(there.red("cargo test", &[TOTAL]).contains("+d"));
    let mut elsewhere = HookStory::at(&world, &world.project("elsewhere"));
    (elsewhere.session, elsewhere.clock) = ("session-3", 900_000.into());
    assert_eq!(elsewhere.red("cargo test", &[TOTAL]), "");
}

#[test]
fn spooled_events_keep_order() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let other = rusqlite::Connection::open(world.files().database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = format!("Exit code 101\n{}", cargo_test_output(4, &[TOTAL]));
    let red =
        &json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": error });
    let result = story.send_event("PostToolUseFailure", red);
    assert!(
        result.needs_maintenance && result.errors[0].starts_with("spooled: another process"),
        "{result:?}"
    );
    other.execute_batch("COMMIT").unwrap();
    // The database is free again, but the red run is still in the spool: the edit and the green run queue behind it.
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), []);
    maintain(&world.memory(), &MaintenanceLimits::default(), Time::from_millis(1_763_300_000_000))
        .unwrap()
        .unwrap();
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -a +b")]);
    story.session = "session-2";
    assert!(story.red("cargo test", &[TOTAL]).contains("+b"));
}

#[test]
fn episodes_store_no_secrets() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    story.red("cargo test", &[(TOTAL.0, &format!("token {secret} was refused"))]);
    // A secret after an option, and secrets at the point where a text is cut.
    story.red("cargo test -- --db-password hunter2hunter2", &[NAME]);
    story.red("cargo test", &[(EMPTY.0, &format!("{} {secret}", "word ".repeat(36)))]);
    story.red(&format!("cargo test {} {secret}", "word ".repeat(395)), &[EMPTY]);
    story.edit("src/cart.rs", &[&format!("-let token = \"{secret}\";"), "+let token = env();"]);
    story.bash(&format!("export TOKEN={secret}; npm install"));
    story.green("cargo test");
    assert_eq!(story.episodes().len(), 4);
    for part in ["ghp_abc", "defghijklmn", "hunter2"] {
        assert_eq!(world.files_with(part), [] as [PathBuf; 0], "{part}");
    }
    assert!(!world.files_with("was refused").is_empty());
}

#[test]
fn irrelevant_events_open_no_store() {
    let world = TestWorld::new();
    let story = HookStory { world: &world, ..HookStory::at(&world, &world.project("ship")) };
    for (event, fields) in [
        ("PreToolUse", json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" } })),
        ("PostToolUse", json!({ "tool_name": "Read" })),
        (
            "PostToolUse",
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": {} }),
        ),
        ("PostToolUse", json!({ "tool_name": "Bash", "tool_input": {} })),
        ("PostToolUseFailure", json!({ "tool_name": "Edit", "error": "no such file" })),
        ("UserPromptSubmit", json!({ "prompt": "cargo test" })),
        ("SomethingNew", json!({})),
        ("Stop", json!({ "stop_hook_active": false })),
    ] {
        let result = story.send_event(event, &fields);
        assert_eq!(result.event.is_some(), event != "SomethingNew", "{event}");
        assert_eq!(HookResult { event: None, ..result }, HookResult::default(), "{event}");
    }
    assert!(!world.memory().exists());
}

#[test]
fn unreadable_payload_is_logged() {
    let world = TestWorld::new();
    for payload in ["", "{", "[]", "null", "{}", "{\"hook_event_name\": 1}", "\u{0}"] {
        let result =
            handle_event(payload.as_bytes(), None, || unreachable!("there is nothing to do"));
        assert_eq!((result.stdout.as_str(), result.errors.len()), ("", 1), "{payload}: {result:?}");
    }
    assert!(!world.memory().exists());
}

#[test]
fn start_folder_is_project_without_git() {
    let world = TestWorld::new();
    drop(world.store());
    let mut story = HookStory::at(&world, &world.project("ship"));
    story.started_in = Some(story.folder.clone());
    story.red("cargo test", &[TOTAL]);
    // The shell changes into a subfolder.
    story.folder = world.project("ship/src").canonicalize().unwrap();
    story.edit("cart.rs", &["-a", "+b"]);
    story.folder = world.project("ship").canonicalize().unwrap();
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -a +b")]);
}
