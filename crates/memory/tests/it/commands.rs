//! Commands that failed and the variants that worked: evidence for a hint before the command, forgetting, merging.

use rutter_memory::command_episode::CommandEndingKind;
use rutter_memory::store::ForgettableKind;
use rutter_testkit::story::HookStory;
use rutter_testkit::world::{TestWorld, time_at};

const UNKNOWN: &str = "unknown flag: --stat";

/// Plays a failure and the variant that works.
fn fail_and_find_variant(story: &mut HookStory<'_>, session: &'static str) {
    story.session = session;
    story.run_failing_command("gh pr diff 8 --stat", 1, UNKNOWN);
    story.bash("gh pr diff 8 --name-only");
}

#[test]
fn hint_needs_two_failures_since_success() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let hint = |story: &mut HookStory<'_>, session| {
        story.session = session;
        story.before_command("gh pr diff 9 --stat")
    };
    fail_and_find_variant(&mut story, "session-1");
    assert_eq!(hint(&mut story, "session-2"), "");
    fail_and_find_variant(&mut story, "session-2");
    let text = hint(&mut story, "session-3");
    assert!(text.contains("(2 times") && text.contains("`gh pr diff 8 --name-only`"), "{text}");
    // The flag exists by now.
    story.run_failing_command("gh pr diff 9 --stat", 1, UNKNOWN);
    story.bash("gh pr diff 9 --stat");
    assert_eq!(hint(&mut story, "session-4"), "");
    fail_and_find_variant(&mut story, "session-5");
    assert_eq!(hint(&mut story, "session-6"), "");
}

#[test]
fn variant_with_preparation_is_no_hint() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let rejected =
        "! [rejected] main -> main (fetch first)\nhint: use 'git pull' before pushing again";
    for session in ["session-1", "session-2"] {
        story.session = session;
        story.run_failing_command("git push origin main", 1, rejected);
        story.bash("git pull");
        story.bash("git push origin main");
    }
    let found = world.store().command_episodes(None, None).unwrap();
    assert!(found.iter().all(|one| one.variant().is_some()), "{found:?}");
    story.session = "session-3";
    assert_eq!(story.before_command("git push origin main"), "");
}

#[test]
fn variant_must_come_soon() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.run_failing_command("gh pr diff 8 --stat", 1, UNKNOWN);
    for _ in 0..8 {
        story.bash("git status");
    }
    story.bash("gh pr diff 8 --name-only");
    let found = world.store().command_episodes(None, None).unwrap();
    assert_eq!(found[0].ending.as_ref().map(|end| end.how), Some(CommandEndingKind::Left));
}

#[test]
fn harmful_variant_is_not_shown() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let signing = "error: gpg failed to sign the data";
    story.run_failing_command("git commit -m a", 128, signing);
    story.bash("git commit --no-gpg-sign -m a");
    for session in ["session-2", "session-3"] {
        story.session = session;
        assert!(!story.run_failing_command("git commit -m a", 128, signing).is_empty());
        story.run_failing_command("git commit --no-gpg-sign -m a", 128, signing);
    }
    story.session = "session-4";
    assert_eq!(story.run_failing_command("git commit -m a", 128, signing), "");
}

#[test]
fn forgets_failed_commands() {
    let world = TestWorld::new();
    let mut first = HookStory::new(&world);
    fail_and_find_variant(&mut first, "session-1");
    first.run_failing_command("deploy acme --fast", 1, "unknown flag: --fast");
    let mut store = world.store();
    let rows = store.find_rows_with_words("acme").unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].kind, ForgettableKind::Command);
    store.forget(&rows, Some("acme")).unwrap();
    assert_eq!(world.files_with("acme"), Vec::<std::path::PathBuf>::new());
    assert_eq!(store.command_episodes(None, None).unwrap().len(), 1);
    store.forget_all().unwrap();
    assert_eq!(store.command_episodes(None, None).unwrap(), []);
    drop(store.drain_spool(time_at(0)));
}

#[test]
fn projects_share_variants_after_merge() {
    let world = TestWorld::new();
    let mut first = HookStory::new(&world);
    fail_and_find_variant(&mut first, "session-1");
    let mut other = HookStory::at(&world, &world.project("boat"));
    other.session = "session-2";
    assert_eq!(other.run_failing_command("gh pr diff 8 --stat", 1, UNKNOWN), "");
    let mut store = world.store();
    let id = |store: &rutter_memory::Store, place| store.project(place).unwrap().unwrap().id;
    let (from, into) = (id(&store, &other.place()), id(&store, &first.place()));
    store.merge_projects(from, into).unwrap();
    assert_eq!(store.command_episodes(Some(&first.place().key), None).unwrap().len(), 2);
}
