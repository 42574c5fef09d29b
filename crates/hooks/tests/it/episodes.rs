use std::path::PathBuf;

use rutter_hooks::{Heard, hear};
use rutter_memory::Time;
use rutter_memory::episode::How;
use rutter_memory::store::tend::{Bounds, tend};
use serde_json::json;

use rutter_testkit::story::{EMPTY, NAME, Story, TOTAL, ended, fixed, git, open, output};
use rutter_testkit::world::World;

#[test]
fn a_failure_an_edit_a_green_run_and_the_same_failure_again() {
    let world = World::new();
    let mut story = Story::new(&world);
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.edit("src/cart.rs", &[" fn total() {", "-    sum * 9 / 10", "+    sum", " }"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -    sum * 9 / 10 +    sum")]);
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
fn another_failure_brings_nothing() {
    let world = World::new();
    let mut story = Story::new(&world);
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
fn each_failure_has_its_own_fix() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL, NAME, EMPTY]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    // Two of the three failures are gone.
    story.red("cargo test", &[NAME]);
    assert_eq!(story.episodes(), [open(EMPTY.0), open(TOTAL.0), open(NAME.0)]);
    story.edit("src/user.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [
            fixed(EMPTY.0, "src/cart.rs -a +b"),
            fixed(TOTAL.0, "src/cart.rs -a +b"),
            fixed(NAME.0, "src/user.rs -c +d")
        ]
    );
}

#[test]
fn a_run_that_ended_early_says_nothing_about_what_it_did_not_reach() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL, NAME]);
    story.edit("src/a.rs", &["-a", "+b"]);
    // Fewer tests ran because an earlier test binary failed.
    let error = format!("Exit code 101\n{}", output(1, &[NAME]));
    story.tell(
        "PostToolUseFailure",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": error }),
    );
    story.edit("src/b.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [fixed(TOTAL.0, "src/a.rs -a +b; src/b.rs -c +d"), fixed(NAME.0, "src/b.rs -c +d")]
    );
}

#[test]
fn green_without_a_change_is_flaky_and_never_told() {
    let world = World::new();
    let mut story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.bash("git status");
    story.green("cargo test");
    assert_eq!(story.episodes(), [ended(TOTAL.0, How::Flaky, "")]);
    story.session = "session-2";
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
}

#[test]
fn what_was_tried_and_undone_is_no_part_of_the_fix() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/guess.rs", &["-a", "+b"]);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/guess.rs", &["-b", "+a"]);
    story.edit("src/cart.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -c +d")]);
}

#[test]
fn a_fix_that_was_reverted_is_told_as_gone_and_counted_when_it_comes_again() {
    let world = World::new();
    let mut story = Story::new(&world);
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
fn a_test_under_a_new_name_goes_on_and_one_that_is_gone_was_not_fixed() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-    fn total() {", "+    fn total_of_all() {"]);
    story.red("cargo test", &[("cart::tests::total_of_all", TOTAL.1)]);
    assert_eq!(
        story.episodes(),
        [ended(TOTAL.0, How::Renamed, ""), open("cart::tests::total_of_all")]
    );
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    assert_eq!(story.episodes()[1], fixed("cart::tests::total_of_all", "src/cart.rs -a +b"));
    story.red("cargo test", &[NAME]);
    story.edit("src/user.rs", &["-    fn name() {", "-        assert!(name());", "-    }"]);
    story.green("cargo test");
    assert_eq!(story.episodes()[2].1, Some(How::Removed));
}

#[test]
fn it_goes_on_over_sessions_and_only_the_same_command_ends_it() {
    let world = World::new();
    let mut story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.session = "session-2";
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test user");
    story.green("cargo test -p other");
    story.bash("cargo build");
    assert_eq!(story.episodes(), [open(TOTAL.0)]);
    story.session = "session-3";
    story.green("RUST_BACKTRACE=1 cargo test 2>&1 | tail -20");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -a +b")]);
}

#[test]
fn a_failure_that_changes_its_words_is_one_story() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.red("cargo test", &[(TOTAL.0, "attempt to divide by zero")]);
    story.edit("src/cart.rs", &["-b", "+c"]);
    story.green("cargo test");
    // Each episode records its whole change, from the failing code to the passing code.
    assert_eq!(
        story.episodes(),
        [fixed(TOTAL.0, "src/cart.rs -a +c"), fixed(TOTAL.0, "src/cart.rs -b +c")]
    );
}

#[test]
fn commands_that_change_something_are_named() {
    let world = World::new();
    let mut story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.bash("ls -la");
    story.bash("sed -i 's/9/10/' src/cart.rs");
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "sed -i 's/9/10/' src/cart.rs")]);
    story.session = "session-2";
    insta::assert_snapshot!(story.red("cargo test", &[TOTAL]), @"");
    // Writing a file counts as a change even if the heredoc contains a test command.
    story.bash("cat > test.sh <<'EOF'\n#!/bin/sh\ncargo test\nEOF");
    story.green("cargo test");
    assert_eq!(story.episodes()[1], fixed(TOTAL.0, "cat > test.sh <<'EOF' …"));
    // A change in the command line of the run itself.
    story.red("cargo test", &[NAME]);
    story.green("cargo add chrono && cargo test");
    assert_eq!(story.episodes()[2], fixed(NAME.0, "cargo add chrono && cargo test"));
}

#[test]
fn a_pipe_and_true_do_not_end_an_episode() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.bash("cargo test || true");
    story.bash("cargo test | head -1");
    assert_eq!(story.episodes(), [open(TOTAL.0)]);
}

#[test]
fn worktrees_share_what_was_learnt_but_not_their_edits_and_projects_share_nothing() {
    let world = World::new();
    drop(world.store());
    let main = world.project("main");
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "a"]);
    git(&main, &["worktree", "add", "-q", "../other"]);
    let (here, mut there) = (Story::at(&world, &main), Story::at(&world, &world.project("other")));
    here.red("cargo test", &[TOTAL]);
    there.clock.set(60_000);
    there.edit("src/cart.rs", &["-a", "+b"]);
    there.green("cargo test");
    assert_eq!(here.episodes(), [open(TOTAL.0)]);
    here.clock.set(600_000);
    here.edit("src/cart.rs", &["-c", "+d"]);
    here.green("cargo test");
    assert_eq!(here.episodes(), [fixed(TOTAL.0, "src/cart.rs -c +d")]);
    (there.session, there.clock) = ("session-2", 900_000.into());
    assert!(there.red("cargo test", &[TOTAL]).contains("+d"));
    let mut elsewhere = Story::at(&world, &world.project("elsewhere"));
    (elsewhere.session, elsewhere.clock) = ("session-3", 900_000.into());
    assert_eq!(elsewhere.red("cargo test", &[TOTAL]), "");
}

#[test]
fn what_went_through_the_spool_is_followed_in_order() {
    let world = World::new();
    let mut story = Story::new(&world);
    let other = rusqlite::Connection::open(world.files().database()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = format!("Exit code 101\n{}", output(4, &[TOTAL]));
    let red =
        &json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": error });
    let heard = story.tell("PostToolUseFailure", red);
    assert!(heard.tend && heard.faults[0].starts_with("spooled: another process"), "{heard:?}");
    other.execute_batch("COMMIT").unwrap();
    // The database is free again, but the red run is still in the spool: the edit and the green run queue behind it.
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), []);
    tend(&world.memory(), &Bounds::default(), Time::from_millis(1_763_300_000_000))
        .unwrap()
        .unwrap();
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -a +b")]);
    story.session = "session-2";
    assert!(story.red("cargo test", &[TOTAL]).contains("+b"));
}

#[test]
fn secrets_in_edits_errors_and_commands_are_not_kept() {
    let world = World::new();
    let story = Story::new(&world);
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
fn what_is_nobodys_opens_nothing() {
    let world = World::new();
    let story = Story { world: &world, ..Story::at(&world, &world.project("ship")) };
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
        let heard = story.tell(event, &fields);
        assert_eq!(heard.event.is_some(), event != "SomethingNew", "{event}");
        assert_eq!(Heard { event: None, ..heard }, Heard::default(), "{event}");
    }
    assert!(!world.memory().exists());
}

#[test]
fn what_cannot_be_read_is_a_line_for_the_log() {
    let world = World::new();
    for payload in ["", "{", "[]", "null", "{}", "{\"hook_event_name\": 1}", "\u{0}"] {
        let heard = hear(payload.as_bytes(), None, || unreachable!("there is nothing to do"));
        assert_eq!((heard.stdout.as_str(), heard.faults.len()), ("", 1), "{payload}: {heard:?}");
    }
    assert!(!world.memory().exists());
}

#[test]
fn without_git_the_folder_that_the_client_was_started_in_is_the_project() {
    let world = World::new();
    drop(world.store());
    let mut story = Story::at(&world, &world.project("ship"));
    story.started_in = Some(story.folder.clone());
    story.red("cargo test", &[TOTAL]);
    // The shell changes into a subfolder.
    story.folder = world.project("ship/src").canonicalize().unwrap();
    story.edit("cart.rs", &["-a", "+b"]);
    story.folder = world.project("ship").canonicalize().unwrap();
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -a +b")]);
}
