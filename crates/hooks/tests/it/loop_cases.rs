//! Episodes on the shapes of real work: wrapped and narrow runs, fixes among other edits, fixes by commands.
//!
//! These tests check the table in `docs/reference/episodes.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rutter_hooks::fix_message::NOT_CLAIMED;
use rutter_memory::episode::EpisodeEndingKind;
use serde_json::json;

use rutter_testkit::story::{HookStory, cargo_test_output};
use rutter_testkit::world::TestWorld;

const TOTAL: (&str, &str) = ("cart::tests::total", "the total is wrong: 90");

/// Returns pytest's output for `tests/test_cart.py`: failing tests with their errors, and the number of passed tests.
pub(crate) fn pytest_output(failing: &[(&str, &str)], passed: usize) -> String {
    let mut text = String::new();
    if !failing.is_empty() {
        text +=
            "=================================== FAILURES ===================================\n";
        for (test, error) in failing {
            let _ = write!(
                text,
                "_________________ {test} _________________\n\n    def {test}():\n>       assert {name}(1) == 2\nE       {error}\n\n\
                 tests/test_cart.py:7: {kind}\n",
                name = test.trim_start_matches("test_"),
                kind = error.split(':').next().unwrap()
            );
        }
        text +=
            "=========================== short test summary info ============================\n";
        for (test, error) in failing {
            let _ = writeln!(text, "FAILED tests/test_cart.py::{test} - {error}");
        }
    }
    let counts = match failing.len() {
        0 => format!("{passed} passed"),
        failed => format!("{failed} failed, {passed} passed"),
    };
    text + &format!(
        "============================== {counts} in 0.12s ===============================\n"
    )
}

pub(crate) fn vitest_output(failing: &[&str]) -> String {
    if failing.is_empty() {
        return "\n RUN  v4.1.12 /p\n\n ✓ src/cart.test.ts (2 tests) 2ms\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n   Start at  13:15:05\n   Duration  1.5s (x)\n".to_owned();
    }
    let mut text = "\n RUN  v4.1.12 /p\n\n❯ src/cart.test.ts (2 tests | 1 failed) 3ms\n\n⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n".to_owned();
    for test in failing {
        let _ = write!(
            text,
            "\n FAIL  src/cart.test.ts > cart > {test}\nAssertionError: expected 3 to be 2\n ❯ src/cart.test.ts:5:20\n\n⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯\n"
        );
    }
    text + "\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n   Start at  13:15:05\n   Duration  1.5s (x)\n"
}

pub(crate) fn go_failure_output(test: &str, package: &str) -> String {
    format!(
        "--- FAIL: {test} (0.00s)\n    cart_test.go:9: got 3, want 2\nFAIL\nFAIL\texample.com/shop/{package}\t0.002s\nFAIL\n"
    )
}

pub(crate) fn go_success_output(package: &str) -> String {
    format!("ok  \texample.com/shop/{package}\t0.002s\n")
}

pub(crate) const CART: &str = "\"\"\"The cart.\"\"\"\n__version__ = \"1.2\"\n\nimport os\n\ndef total(items):\n    \"\"\"Adds up.\"\"\"\n    return sum(items) * 0.9\n\ndef name(user):\n    return user.upper()\n\ndef first(items):\n    return items[1]\n\ndef last(items):\n    return items[len(items)]\n\ndef count(items):\n    return items.size\n";

#[test]
fn fix_is_shown_before_later_edits() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("shop/cart.py", CART);
    let red = pytest_output(&[("test_total", "AssertionError: assert 90 == 100")], 3);
    story.run_failing_command("pytest", 1, &red);
    story.edit_on_disk("shop/cart.py", "    return sum(items) * 0.9", "    return sum(items)");
    story.edit_on_disk("shop/cart.py", "\"\"\"Adds up.\"\"\"", "\"\"\"Adds up all of it.\"\"\"");
    story.edit_on_disk("shop/cart.py", "__version__ = \"1.2\"", "__version__ = \"1.3\"");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    story.session = "session-2";
    let said = story.run_failing_command("pytest", 1, &red);
    assert!(said.contains("Fixed in `shop/cart.py`:\n> @@ def total(items):\n> -return sum(items) * 0.9\n> +return sum(items)\n"), "{said}");
    assert!(!said.contains("__version__") && !said.contains("all of it"), "{said}");
}

#[test]
fn each_failure_gets_its_change() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("shop/cart.py", CART);
    let failures = [
        ("test_total", "AssertionError: assert 90 == 100"),
        ("test_name", "AttributeError: 'int' object has no attribute 'upper'"),
        ("test_first", "IndexError: list index out of range"),
        ("test_last", "IndexError: tuple index out of range"),
        ("test_count", "AttributeError: 'list' object has no attribute 'size'"),
    ];
    story.run_failing_command("pytest", 1, &pytest_output(&failures, 1));
    story.edit_on_disk("shop/cart.py", "    return sum(items) * 0.9", "    return sum(items)");
    story.edit_on_disk("shop/cart.py", "user.upper()", "str(user).upper()");
    story.edit_on_disk("shop/cart.py", "items[1]", "items[0]");
    story.edit_on_disk("shop/cart.py", "items[len(items)]", "items[-1]");
    story.edit_on_disk("shop/cart.py", "items.size", "len(items)");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 6));
    let fixes = [
        "+return sum(items)",
        "+return str(user)",
        "+return items[0]",
        "+return items[-1]",
        "+return len(items)",
    ];
    for (number, (failure, fix)) in failures.iter().zip(fixes).enumerate() {
        story.session = ["a", "b", "c", "d", "e"][number];
        let said = story.run_failing_command("pytest", 1, &pytest_output(&[*failure], 5));
        let first = said.lines().find(|line| line.starts_with("> +")).unwrap_or_default();
        assert!(first.starts_with(&format!("> {fix}")), "{failure:?}: {said}");
    }
}

#[test]
fn import_error_fix_has_named_symbol() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("shop/cart.py", CART);
    story.write_file("shop/tax.py", "RATE = 1\n");
    let red = "ImportError while importing test module '/p/tests/test_tax.py'.\n\
        ==================================== ERRORS ====================================\n\
        _____________________ ERROR collecting tests/test_tax.py ______________________\n\
        tests/test_tax.py:1: in <module>\n    from shop.tax import rate_for\n\
        E   ImportError: cannot import name 'rate_for' from 'shop.tax' (/p/shop/tax.py)\n\
        =========================== short test summary info ============================\n\
        ERROR tests/test_tax.py\n!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n\
        =============================== 1 error in 0.05s ===============================\n";
    story.run_failing_command("pytest", 2, red);
    story.edit_on_disk("shop/cart.py", "items[1]", "items[0]");
    story.edit_on_disk(
        "shop/tax.py",
        "RATE = 1\n",
        "RATE = 1\n\ndef rate_for(country):\n    return RATE\n",
    );
    story.edit_on_disk("shop/cart.py", "__version__ = \"1.2\"", "__version__ = \"1.3\"");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    story.session = "session-2";
    let said = story.run_failing_command("pytest", 2, red);
    assert!(
        said.contains("Fixed in `shop/tax.py`:") && said.contains("> +def rate_for(country):"),
        "{said}"
    );
    assert!(!said.contains("items[0]"), "{said}");
}

#[test]
fn without_evidence_changes_are_listed() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("a.py", "x = 1\n");
    story.write_file("b.py", "y = 1\n");
    let red = pytest_output(&[("test_flow", "AssertionError: assert 500 == 200")], 3);
    story.run_failing_command("pytest", 1, &red);
    story.edit_on_disk("a.py", "x = 1", "x = 2");
    story.edit_on_disk("b.py", "y = 1", "y = 2");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    story.session = "session-2";
    let said = story.run_failing_command("pytest", 1, &red);
    assert!(said.contains(NOT_CLAIMED) && !said.contains("Fixed in"), "{said}");
    assert!(
        said.contains("Also changed: `a.py`.") || said.contains("Also changed: `b.py`."),
        "{said}"
    );
}

#[test]
fn commands_are_stored_as_diff() {
    let sed = |root: &Path| {
        let text = fs::read_to_string(root.join("shop/cart.py")).unwrap();
        fs::write(root.join("shop/cart.py"), text.replace(" * 0.9", "")).unwrap();
    };
    for command in [
        "sed -i 's/ \\* 0.9//' shop/cart.py",
        "cat > shop/cart.py <<'EOF'\nanything\nEOF",
        "python3 - <<'EOF'\nfrom pathlib import Path\np = Path('shop/cart.py')\np.write_text(p.read_text().replace(' * 0.9', ''))\nEOF",
        "git apply fix.patch",
        "cd shop && perl -pi -e 's/ \\* 0.9//' cart.py",
        "git checkout shop/cart.py",
        "git stash",
        "git revert --no-edit HEAD",
    ] {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        story.write_file("shop/cart.py", CART);
        story.write_file("fix.patch", "--- a/shop/cart.py\n+++ b/shop/cart.py\n@@ -1 +1 @@\n");
        let red = pytest_output(&[("test_total", "AssertionError: assert 90 == 100")], 3).replace(
            "tests/test_cart.py:7: Asser",
            "shop/cart.py:8: in total\ntests/test_cart.py:7: Asser",
        );
        story.run_failing_command("pytest", 1, &red);
        story.run_changing_command(command, sed);
        story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        story.session = "session-2";
        let said = story.run_failing_command("pytest", 1, &red);
        assert!(
            said.contains("> -return sum(items) * 0.9\n> +return sum(items)\n"),
            "{command}: {said}"
        );
        assert!(!said.contains("git "), "{command}: {said}");
        assert!(fs::read_dir(world.files().snapshots()).unwrap().next().is_none(), "{command}");
    }
}

#[test]
fn relative_commands_are_never_advised() {
    for command in
        ["git revert HEAD", "git checkout shop/cart.py", "git stash", "git reset --hard HEAD~1"]
    {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        let red = cargo_test_output(4, &[TOTAL]);
        story.run_failing_command("cargo test", 101, &red);
        story.bash(command);
        story.run_with_hidden_status("cargo test", &cargo_test_output(5, &[]));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        story.session = "session-2";
        assert_eq!(story.run_failing_command("cargo test", 101, &red), "", "{command}");
    }
}

#[test]
fn formatter_is_fix_of_formatting() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let red = "would reformat shop/cart.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted.\n";
    story.run_failing_command("black --check .", 1, red);
    story.bash("black .");
    story.run_with_hidden_status(
        "black --check .",
        "All done! ✨ 🍰 ✨\n1 file would be left unchanged.\n",
    );
    story.session = "session-2";
    let said = story.run_failing_command("black --check .", 1, red);
    assert!(said.contains("Fixed by `black .`."), "{said}");
}

#[test]
fn variable_can_be_the_fix() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let red = go_failure_output("TestClone", "git");
    story.run_failing_command("go test ./...", 1, &red);
    story.run_with_hidden_status(
        "GIT_CONFIG_GLOBAL=/dev/null go test ./...",
        &go_success_output("git"),
    );
    assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed));
    story.session = "session-2";
    let said = story.run_failing_command("go test ./...", 1, &red);
    assert!(said.contains("It passed when run with `GIT_CONFIG_GLOBAL=/dev/null`."), "{said}");
}

#[test]
fn writes_in_run_command_count() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("ruff.toml", "select = []\n");
    let red = "shop/cart.py:3:1: E501 Line too long (120 > 88)\nFound 1 error.\n";
    story.run_failing_command("ruff check .", 1, red);
    let command = "echo 'line-length = 120' >> ruff.toml && ruff check .";
    let call = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "toolu_1" });
    story.send_event("PreToolUse", &call);
    story.write_file("ruff.toml", "select = []\nline-length = 120\n");
    let mut done = call;
    done["tool_response"] =
        json!({ "stdout": "All checks passed!\n", "stderr": "", "interrupted": false });
    story.send_event("PostToolUse", &done);
    assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed));
    story.session = "session-2";
    let said = story.run_failing_command("ruff check .", 1, red);
    assert!(said.contains("> +line-length = 120"), "{said}");
}

#[test]
fn wrappers_do_not_collapse_failures() {
    let wrapped = |inner: &str| {
        format!("cargo test\n{inner}error: Recipe `test` failed on line 2 with exit code 101\n")
    };
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let (total, name) =
        (("cart::tests::total", "the total is wrong"), ("user::tests::name", "no name"));
    story.run_failing_command("just test", 101, &wrapped(&cargo_test_output(4, &[total])));
    story.edit("src/cart.rs", &["-a", "+b"]);
    story
        .run_with_hidden_status("just test", &format!("cargo test\n{}", cargo_test_output(5, &[])));
    story.session = "session-2";
    // Another failure under the same wrapper does not match.
    assert_eq!(
        story.run_failing_command("just test", 101, &wrapped(&cargo_test_output(4, &[name]))),
        ""
    );
    let said =
        story.run_failing_command("just test", 101, &wrapped(&cargo_test_output(4, &[total])));
    assert!(said.contains("> +b"), "{said}");
    for (command, line) in [
        ("bun run lint", "error: script \"lint\" exited with code 1\n"),
        ("npm test", "npm ERR! Test failed.  See above for more details.\n"),
        ("pnpm test", " ELIFECYCLE  Test failed. See above for more details.\n"),
        ("make test", "make: *** [Makefile:2: test] Error 1\n"),
        ("mise run lint", "[lint] ERROR task failed\n"),
        ("rtk bun run test", "error: unrecognized subcommand 'bun'\n"),
    ] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        story.run_failing_command(command, 1, line);
        assert_eq!(story.episodes(), [], "{command}");
    }
}

#[test]
fn packages_keep_same_tests_apart() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    for package in ["packages/api", "packages/web"] {
        story.write_file(&format!("{package}/src/cart.test.ts"), "it('adds', f);\n");
    }
    let red = vitest_output(&["adds"]);
    story.run_failing_command("cd packages/api && npx vitest run", 1, &red);
    story.edit("packages/api/src/cart.ts", &["-a", "+b"]);
    // A green run of the other package does not close this failure.
    story.run_with_hidden_status("cd packages/web && npx vitest run", &vitest_output(&[]));
    assert_eq!(story.only_ending(), None);
    story.run_with_hidden_status("cd packages/api && npx vitest run", &vitest_output(&[]));
    assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed));
    story.session = "session-2";
    assert_eq!(story.run_failing_command("cd packages/web && npx vitest run", 1, &red), "");
    let said = story.run_failing_command("cd packages/api && npx vitest run", 1, &red);
    assert!(said.contains("packages/api/src/cart.test.ts"), "{said}");
}

/// Each case has a red run, a green run with another command line, and whether it closes the failure.
#[test]
fn covering_green_run_closes_failure() {
    let npm = "\n> shop@1.0.0 test\n> vitest run\n\n";
    let python = || pytest_output(&[("test_discount", "AssertionError: assert 90 == 80")], 3);
    let rust = cargo_test_output(4, &[TOTAL]);
    let nextest = "────────────\n Nextest run ID x with nextest profile: default\n    Starting 5 tests across 1 binary\n        PASS [   0.004s] shop cart::tests::total\n        PASS [   0.004s] shop a\n        PASS [   0.004s] shop b\n        PASS [   0.004s] shop c\n        PASS [   0.004s] shop d\n────────────\n     Summary [   0.011s] 5 tests run: 5 passed, 0 skipped\n";
    let two = "==== 1 passed, 3 deselected in 0.02s ====\n";
    for (red, red_text, green, green_text, closed) in [
        ("make test", python(), "pytest -q", pytest_output(&[], 4), true),
        ("make test", python(), "pytest -q tests/test_user.py", pytest_output(&[], 4), false),
        ("./run_tests.sh", python(), "bash ./run_tests.sh -v", pytest_output(&[], 4), false),
        ("./run_tests.sh", python(), "./run_tests.sh", pytest_output(&[], 4), true),
        (
            "npm test",
            format!("{npm}{}", vitest_output(&["adds"])),
            "npx vitest run src/cart.test.ts",
            vitest_output(&[]),
            true,
        ),
        (
            "npm test",
            format!("{npm}{}", vitest_output(&["adds"])),
            "npx vitest run src/tax.test.ts",
            vitest_output(&[]),
            false,
        ),
        (
            "npx vitest run src/cart.test.ts",
            vitest_output(&["adds"]),
            "npm test",
            format!("{npm}{}", vitest_output(&[])),
            true,
        ),
        (
            "npx vitest run",
            vitest_output(&["adds"]),
            "npm test",
            format!("{npm}{}", vitest_output(&[])),
            true,
        ),
        ("cargo test", rust.clone(), "cargo nextest run", nextest.to_owned(), true),
        (
            "cargo test",
            rust.clone(),
            "cargo nextest run",
            nextest.replace("cart::tests::total", "e"),
            false,
        ),
        ("cargo test", rust.clone(), "cargo build", String::new(), false),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test ./cart -run TestTotal",
            go_success_output("cart"),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test ./cart -run TestName",
            go_success_output("cart"),
            false,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test ./user",
            go_success_output("user"),
            false,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test ./cart -run TestTotal",
            "ok  \texample.com/shop/cart\t0.002s [no tests to run]\n".into(),
            false,
        ),
        ("pytest", python(), "pytest -k discount", two.to_owned(), true),
        ("pytest", python(), "pytest -k total", two.to_owned(), false),
        (
            "pytest",
            python(),
            "pytest -k discount",
            two.replace("3 deselected", "1 skipped, 2 deselected"),
            false,
        ),
        (
            "cd backend && pytest",
            python(),
            "pytest backend/tests/test_cart.py",
            pytest_output(&[], 4),
            true,
        ),
        ("pytest", python(), "pytest", pytest_output(&[], 2), false),
        (
            "mise run test",
            format!("[test] $ go test ./...\n{}", go_failure_output("TestTotal", "cart")),
            "go test ./...",
            go_success_output("cart"),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "mise run test",
            format!("[test] $ go test ./...\n{}", go_success_output("cart")),
            true,
        ),
        (
            "docker compose run --rm app pytest",
            python(),
            "uv run pytest",
            pytest_output(&[], 4),
            true,
        ),
    ] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        story.write_file("backend/tests/test_cart.py", "");
        story.run_failing_command(red, 1, &red_text);
        story.edit("shop/cart.py", &["-a", "+b"]);
        story.run_with_hidden_status(green, &green_text);
        let ending = story.only_ending();
        assert_eq!(
            ending == Some(EpisodeEndingKind::Fixed),
            closed,
            "{green} after {red}: {ending:?}"
        );
    }
}

#[test]
fn partial_output_opens_episode() {
    for (command, text, test) in [
        (
            "go test ./... 2>&1 | grep -E 'FAIL|ok'",
            "--- FAIL: TestTotal (0.00s)\nFAIL\n",
            "TestTotal",
        ),
        ("go test ./... | head -20", &go_failure_output("TestTotal", "cart"), "TestTotal"),
        ("cargo test 2>&1 | head -12", &cargo_test_output(4, &[TOTAL])[..120], ""),
        (
            "pytest | tail -3",
            &pytest_output(&[("test_total", "AssertionError: no")], 3),
            "tests/test_cart.py::test_total",
        ),
    ] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        story.run_with_hidden_status(command, text);
        let names: Vec<String> = story.episodes().into_iter().map(|(test, ..)| test).collect();
        let expected: Vec<&str> = Some(test).filter(|test| !test.is_empty()).into_iter().collect();
        assert_eq!(names, expected, "{command}");
    }
}

#[test]
fn configured_commands_are_followed() {
    let world = TestWorld::new();
    world.set_hook_option("outcome_capture", "matchers = [\"./verify_all\"]");
    let story = HookStory::new(&world);
    for command in ["./verify_all", "bash ./verify_all -x", "cd api && ./verify_all"] {
        story.run_failing_command(command, 1, &cargo_test_output(4, &[TOTAL]));
    }
    assert_eq!(world.store().last_runs(&world.place(), 10).unwrap().len(), 3);
    let world = TestWorld::new();
    world.set_hook_option("outcome_capture", "only = [\"cargo test -p shop\"]");
    let story = HookStory::new(&world);
    story.run_failing_command(
        "pytest",
        1,
        &pytest_output(&[("test_total", "AssertionError: no")], 3),
    );
    story.run_failing_command("cargo test", 101, &cargo_test_output(4, &[TOTAL]));
    story.run_failing_command("cargo test -p shop", 101, &cargo_test_output(4, &[TOTAL]));
    assert_eq!(world.store().last_runs(&world.place(), 10).unwrap().len(), 1);
}

#[test]
fn unknown_runs_are_counted() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.bash("platformio test -e native");
    story.bash("platformio test");
    story.bash("ls tests");
    let project = world.store().project(&world.place()).unwrap().unwrap();
    let found = world.store().unrecognized_commands(project.id, 3).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0.as_str(), found[0].1), ("platformio test", 2));
}
