use rutter_memory::episode::EpisodeEndingKind;
use serde_json::json;

use rutter_testkit::story::{
    HookStory, NAME, TOTAL, cargo_test_output, ended_episode, fixed_episode, open_episode, run_git,
};
use rutter_testkit::world::TestWorld;

#[test]
fn output_file_is_not_a_change() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test 2>&1 | tee out.txt", &[TOTAL]);
    story.green("cargo test 2>&1 | tee out.txt; rm out.txt");
    assert_eq!(story.episodes(), [ended_episode(TOTAL.0, EpisodeEndingKind::Flaky, "")]);
}

#[test]
fn compile_error_ends_when_tests_run() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let broken = "error[E0425]: cannot find value `sum` in this scope\n --> src/cart.rs:3:5\n\n\
                  error: could not compile `ship` (lib) due to 1 previous error\n";
    story.run_failing_command("cargo test", 101, broken);
    story.edit("src/cart.rs", &["-sum", "+self.sum"]);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-* 9", "+* 10"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [
            fixed_episode("", "src/cart.rs -sum +self.sum"),
            fixed_episode(TOTAL.0, "src/cart.rs -* 9 +* 10")
        ]
    );
}

const PYTEST_RED: &str = "\
F..                                                                      [100%]
=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([50, 50]) == 100
E       assert 90.0 == 100

tests/test_cart.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 90.0 == 100
1 failed, 2 passed in 0.03s
";
const PYTEST_GREEN: &str = "...                                                                      [100%]\n3 passed in 0.01s\n";
const PYTEST_BROKEN: &str = "
==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_cart.py ______________________
tests/test_cart.py:1: in <module>
    from shop import total
E     File \"/ship/shop.py\", line 1
E       def total(:
E                 ^
E   SyntaxError: invalid syntax
=========================== short test summary info ============================
ERROR tests/test_cart.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
1 error in 0.05s
";

#[test]
fn collection_error_keeps_episode_open() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.run_failing_command("pytest -q", 1, PYTEST_RED);
    story.edit("shop.py", &["-def total(items):", "+def total(:"]);
    story.run_failing_command("pytest -q", 2, PYTEST_BROKEN);
    // This output counts neither tests nor errors.
    story.run_failing_command("pytest -q", 3, "INTERNALERROR> boom\n");
    story.edit("shop.py", &["-def total(:", "+def total(items):"]);
    story.edit("shop.py", &["-    return sum(items) * 0.9", "+    return sum(items)"]);
    story.run_with_hidden_status("pytest -q", PYTEST_GREEN);
    let fix = "shop.py -    return sum(items) * 0.9 +    return sum(items)";
    assert!(story.episodes().contains(&fixed_episode("tests/test_cart.py::test_total", fix)));
}

#[test]
fn tail_output_matches_known_failure() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let end =
        "FAILED tests/test_cart.py::test_total - assert 90.0 == 100\n1 failed, 2 passed in 0.03s\n";
    story.run_failing_command("pytest", 1, PYTEST_RED);
    story.run_with_hidden_status("pytest 2>&1 | tail -2", end);
    assert_eq!(story.episodes(), [open_episode("tests/test_cart.py::test_total")]);
    // Two tests failed, and one is named.
    let other =
        "FAILED tests/test_user.py::test_name - KeyError: 'name'\n2 failed, 1 passed in 0.03s\n";
    story.edit("shop/user.py", &["-a", "+b"]);
    story.run_with_hidden_status("pytest 2>&1 | tail -2", other);
    story.edit("shop/cart.py", &["-c", "+d"]);
    story.run_with_hidden_status("pytest", PYTEST_GREEN);
    assert_eq!(
        story.episodes()[0],
        fixed_episode("tests/test_cart.py::test_total", "shop/cart.py -c +d; shop/user.py -a +b")
    );
    story.session = "session-2";
    let said = story.run_with_hidden_status("pytest 2>&1 | tail -2", end);
    assert!(said.starts_with("Recorded data: this failure"), "{said}");
}

#[test]
fn new_checker_error_hides_others() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let (a, b) = (
        "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
        "src/b.ts(1,7): error TS2304: Cannot find name 'total'.\n",
    );
    story.run_failing_command("npx tsc --noEmit", 2, &[a, b].concat());
    story.edit("src/b.ts", &["-total", "+sum"]);
    // One of the two known errors is gone.
    story.run_failing_command("npx tsc --noEmit", 2, a);
    story.edit("src/a.ts", &["-{", "+{{"]);
    story.run_failing_command(
        "npx tsc --noEmit",
        2,
        "src/a.ts(9,1): error TS1005: '}' expected.\n",
    );
    story.edit("src/a.ts", &["-{{", "+{"]);
    story.edit("src/a.ts", &["-number", "+string"]);
    story.bash("npx tsc --noEmit");
    let fixes: Vec<_> = story.episodes().into_iter().map(|(_, how, fix)| (how, fix)).collect();
    assert!(
        fixes.contains(&(Some(EpisodeEndingKind::Fixed), "src/b.ts -total +sum".into())),
        "{fixes:?}"
    );
    assert!(
        fixes.contains(&(Some(EpisodeEndingKind::Fixed), "src/a.ts -number +string".into())),
        "{fixes:?}"
    );
}

#[test]
fn stash_and_removal_fix_nothing() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("git stash && cargo test");
    // Not flaky; but git's change can be neither shown nor recommended.
    assert_eq!(
        story.episodes(),
        [ended_episode(TOTAL.0, EpisodeEndingKind::Fixed, "git stash && cargo test")]
    );
    story.bash("git stash pop");
    story.session = "session-2";
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    // Fewer tests pass than ran before.
    story.bash("rm tests/cart.rs");
    story.bash_with("cargo test", &cargo_test_output(4, &[]));
    assert_eq!(story.episodes()[1].1, Some(EpisodeEndingKind::Removed));
}

#[test]
fn clock_reset_repeats_nothing() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("cargo test");
    story.session = "session-2";
    story.clock.set(3_600_000);
    story.start("compact");
    story.clock.set(600_000);
    assert!(!story.red("cargo test", &[TOTAL]).is_empty());
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
}

#[test]
fn unreadable_edit_is_logged() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    let response = json!({ "filePath": 1 });
    let result =
        story.send_event("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
    assert_eq!((result.stdout.as_str(), result.errors.len()), ("", 1), "{result:?}");
}

#[test]
fn unchanged_write_is_not_a_change() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    let response = json!({ "type": "update", "filePath": story.folder.join("a.rs"), "content": "a\n", "structuredPatch": [] });
    story.send_event("PostToolUse", &json!({ "tool_name": "Write", "tool_response": response }));
    story.green("cargo test");
    assert_eq!(story.episodes(), [ended_episode(TOTAL.0, EpisodeEndingKind::Flaky, "")]);
}

#[test]
fn run_belongs_to_its_checkout() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let other = world.project("other").canonicalize().unwrap();
    run_git(&other, &["init", "-q"]);
    std::fs::create_dir(other.join("api")).unwrap();
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    // The client's shell has returned from there.
    story.green(&format!("cd {} && cargo test", other.display()));
    assert_eq!(story.episodes(), [open_episode(TOTAL.0)]);
    story.green(&format!("cd {}/api && cargo test", story.folder.display()));
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed_episode(TOTAL.0, "src/cart.rs -a +b")]);
    // Two packages of one checkout have separate failures.
    story.red(&format!("cd {}/api && cargo test", other.display()), &[NAME]);
    story.green(&format!("cd {} && cargo test", other.display()));
    assert_eq!(story.episodes()[1], open_episode(NAME.0));
}

/// Complete output of `pytest -q`. The test also uses its end, as `tail` leaves it.
const PYTEST: &str = "F.                                                                       [100%]\n\
    =================================== FAILURES ===================================\n\
    __________________________________ test_total __________________________________\n\n    \
    def test_total():\n>       assert total([50, 50]) == 100\nE       assert 90.0 == 100\n\
    E        +  where 90.0 = total([50, 50])\n\ntest_cart.py:5: AssertionError\n\
    =========================== short test summary info ============================\n\
    FAILED test_cart.py::test_total - assert 90.0 == 100\n1 failed, 1 passed in 0.02s\n";

#[test]
fn tail_of_run_is_same_failure() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let end: String = PYTEST
        .lines()
        .rev()
        .take(2)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(story.run_with_hidden_status("pytest -q | cat", PYTEST), "");
    story.run_with_hidden_status("pytest -q 2>&1 | tail -2", &end);
    story.edit("cart.py", &["-    return sum(items) * 0.9", "+    return sum(items)"]);
    story.run_with_hidden_status("pytest -q 2>&1 | tail -2", "..   [100%]\n2 passed in 0.01s");
    assert_eq!(
        story.episodes(),
        [fixed_episode(
            "test_cart.py::test_total",
            "cart.py -    return sum(items) * 0.9 +    return sum(items)"
        )]
    );
    story.session = "session-2";
    let said = story.run_with_hidden_status("pytest -q 2>&1 | tail -2", &end);
    assert!(said.starts_with("Recorded data: this failure"), "{said}");
}

#[test]
fn tail_does_not_close_hidden_failures() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL, NAME]);
    story.edit("src/a.rs", &["-a", "+b"]);
    let whole = cargo_test_output(3, &[TOTAL, NAME]);
    let end = &whole[whole.find("---- user").unwrap()..];
    story.run_with_hidden_status("cargo test 2>&1 | tail -9", end);
    story.edit("src/b.rs", &["-c", "+d"]);
    story.green("cargo test");
    let fixes: Vec<String> = story.episodes().into_iter().map(|(_, _, fix)| fix).collect();
    assert!(fixes.iter().all(|fix| fix.contains("src/b.rs -c +d")), "{fixes:?}");
}
