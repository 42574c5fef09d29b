//! Runs that are recognized, failures that count as the same, and the text about several failures.
//!
//! These tests check the table in `docs/reference/episodes.md`.

use std::fmt::Write as _;

use rutter_memory::episode::{Episode, EpisodeEndingKind};
use rutter_memory::outcome::Verdict;
use rutter_memory::store::EpisodeFilter;
use rutter_runs::command_line::CommandLine;
use rutter_runs::read::{CapturedOutput, read_runs};
use serde_json::json;

use crate::loop_cases::{CART, go_failure_output, go_success_output, pytest_output, vitest_output};
use rutter_testkit::recordings::{RecordedRun, load_recordings};
use rutter_testkit::story::{HookStory, NAME, TOTAL, cargo_test_output};
use rutter_testkit::world::TestWorld;

const DISCOUNT: (&str, &str) = ("test_discount", "AssertionError: assert 90 == 80");
const SIZE: (&str, &str) = ("test_size", "KeyError: 'size'");

/// Returns the recording named `runner/case`.
fn find_recording<'a>(all: &'a [RecordedRun], name: &str) -> &'a RecordedRun {
    all.iter().find(|fixture| fixture.name == name).unwrap_or_else(|| panic!("no {name}"))
}

fn recorded_text(all: &[RecordedRun], name: &str) -> String {
    String::from_utf8(find_recording(all, name).full_output()).unwrap()
}

/// Returns the last lines of a text.
fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len() - count..].join("\n") + "\n"
}

/// Wraps the output of one package as turbo prints it.
fn turbo_output(inner: &str) -> String {
    let mut text = "• Packages in scope: web\n• Running test in 1 packages\n".to_owned();
    text += "web:test: cache miss, executing 3d1c\n";
    for line in inner.lines() {
        let _ = writeln!(text, "web:test: {line}");
    }
    text + "web:test: ERROR: command finished with error: command (/p/web) npm run test exited (1)\n\n Tasks:    0 successful, 1 total\n Failed:    web#test\n"
}

/// A function that returns a wrapper's output for some failing tests.
type PrintOutput<'a> = &'a dyn Fn(&[(&str, &str)]) -> String;

#[test]
fn wrapper_failures_stay_separate() {
    let python = |failing: &[(&str, &str)]| pytest_output(failing, 4 - failing.len());
    let script = |failing: &[(&str, &str)]| {
        vitest_output(&failing.iter().map(|(test, _)| *test).collect::<Vec<_>>())
    };
    let npm = |failing: &[(&str, &str)]| {
        format!(
            "\n> shop@1.0.0 test\n> vitest run\n\n{}npm ERR! Test failed.  See above for more details.\n",
            script(failing)
        )
    };
    let make = |failing: &[(&str, &str)]| {
        format!("pytest -q\n{}make: *** [Makefile:2: test] Error 1\n", python(failing))
    };
    let tox = |failing: &[(&str, &str)]| {
        format!(
            "unit: commands[0]> pytest -q tests\n{}unit: exit 1 (0.71 seconds) /p> pytest -q tests pid=3615\n  \
             unit: FAIL code 1 (0.95=setup[0.24]+cmd[0.71] seconds)\n  evaluation failed :( (1.00 seconds)\n",
            python(failing)
        )
    };
    let of_turbo = |failing: &[(&str, &str)]| turbo_output(&script(failing));
    let wrappers: [(&str, PrintOutput<'_>); 5] = [
        ("npm test", &npm),
        ("make test", &make),
        ("tox -e unit", &tox),
        ("turbo run test", &of_turbo),
        ("npx turbo run test --filter=web", &of_turbo),
    ];
    for (command, print) in wrappers {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        assert_eq!(story.run_failing_command(command, 1, &print(&[DISCOUNT])), "");
        assert_eq!(story.only_ending(), None, "{command}");
        story.edit("shop/cart.py", &["-a", "+b"]);
        let green = print(&[]).replace("exit 1", "exit 0");
        let green: Vec<&str> = green
            .lines()
            .filter(|line| {
                !["ERR", "***", "FAIL", "failed", "Failed", "exit 0"]
                    .iter()
                    .any(|word| line.contains(word))
            })
            .collect();
        story.run_with_hidden_status(command, &(green.join("\n") + "\n"));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        story.session = "session-2";
        assert_eq!(story.run_failing_command(command, 1, &print(&[SIZE])), "", "{command}");
        let said = story.run_failing_command(command, 1, &print(&[DISCOUNT]));
        assert!(said.contains("test_discount") && said.contains("> +b"), "{command}: {said}");
    }
}

/// Returns a story in which one failure of `test_total` was fixed.
fn story_with_fixed_total(world: &TestWorld) -> HookStory<'_> {
    let mut story = HookStory::new(world);
    story.write_file("shop/cart.py", CART);
    story.run_failing_command(
        "pytest",
        1,
        &pytest_output(&[("test_total", "AssertionError: assert 90 == 100")], 3),
    );
    story.edit_on_disk("shop/cart.py", "    return sum(items) * 0.9", "    return sum(items)");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed));
    story.session = "session-2";
    story
}

#[test]
fn different_failure_is_labelled() {
    let world = TestWorld::new();
    let story = story_with_fixed_total(&world);
    let said = story.run_failing_command(
        "pytest",
        1,
        &pytest_output(&[("test_total", "KeyError: 'price'")], 3),
    );
    assert!(said.starts_with("Recorded data: same test, another failure.\n"), "{said}");
    assert!(said.contains("assert 90 == 100") && said.contains("> +return sum(items)"), "{said}");
    // An uncertain fix is not shown for another failure.
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.run_failing_command(
        "pytest",
        1,
        &pytest_output(&[("test_flow", "AssertionError: assert 500 == 200")], 3),
    );
    story.edit("a.py", &["-x", "+y"]);
    story.edit("b.py", &["-x", "+y"]);
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed));
    story.session = "session-2";
    assert_eq!(
        story.run_failing_command(
            "pytest",
            1,
            &pytest_output(&[("test_flow", "KeyError: 'price'")], 3)
        ),
        ""
    );
}

#[test]
fn hidden_error_matches_by_test() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.run_failing_command("go test ./...", 1, &go_failure_output("TestTotal", "cart"));
    story.edit("cart/cart.go", &["-\treturn 3", "+\treturn 2"]);
    story.run_with_hidden_status("go test ./...", "ok  \texample.com/shop/cart\t0.002s\n");
    story.session = "session-2";
    let said = story
        .run_with_hidden_status("go test ./... | grep FAIL", "--- FAIL: TestTotal (0.00s)\nFAIL\n");
    assert!(said.starts_with("Recorded data: this test was fixed before.\n"), "{said}");
    assert!(said.contains("> +return 2"), "{said}");
}

#[test]
fn fix_from_subfolder_shows_at_root() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("backend/tests/test_cart.py", "");
    story.run_failing_command("cd backend && pytest", 1, &pytest_output(&[DISCOUNT], 3));
    story.edit("backend/shop/cart.py", &["-a", "+b"]);
    story.run_with_hidden_status("cd backend && pytest", &pytest_output(&[], 4));
    let at_root =
        pytest_output(&[DISCOUNT], 3).replace("tests/test_cart.py", "backend/tests/test_cart.py");
    for (number, command) in
        ["pytest", "pytest backend/tests/test_cart.py", "uv run pytest backend"].iter().enumerate()
    {
        story.session = ["a", "b", "c"][number];
        let said = story.run_failing_command(command, 1, &at_root);
        assert!(
            said.starts_with("Recorded data: this failure was fixed before."),
            "{command}: {said}"
        );
        assert!(said.contains("> +b"), "{command}: {said}");
    }
}

/// Command, recorded output of such a run, and a part of the failure that opens an episode.
const FAILING: &[(&str, &str, &str)] = &[
    ("./run_tests.sh -x", "pytest/fail", "test_shop.py::"),
    ("bash scripts/run_tests.sh", "unittest/fail", "TestShop.test_empty"),
    ("./test.sh", "pytest/fail", "test_shop.py::"),
    ("./test.sh --fast", "go-test/assertion", "TestAdd/small"),
    ("docker compose run --rm app pytest", "pytest/fail", "test_shop.py::"),
    ("docker compose exec -T app pytest -q", "pytest/fail", "test_shop.py::"),
    ("python manage.py test", "unittest/django_failing", "shop.tests.TotalTests.test_broken"),
    ("gcc -o book book.c", "gcc/fails", "‘totl’ undeclared"),
    ("cmake --build build -j4", "cmake/build_fails", "‘totl’ undeclared"),
    ("ninja -C build", "ninja/compile_error", "‘totl’ undeclared"),
    ("ninja", "ninja/link_error", "undefined reference"),
    ("npx playwright test", "playwright-test/failing_list", "e2e/shop.spec.ts > adds up"),
    ("yarn playwright test", "playwright-test/failing_dot", "e2e/shop.spec.ts > adds up"),
    ("npx nx test shop", "jest/fail", "shop > adds up"),
    ("hatch test", "pytest/fail", "test_shop.py::"),
    ("pre-commit run --all-files", "pre-commit/failing", "F401"),
    ("golangci-lint run", "golangci-lint/fails", "that stutters"),
    ("gotestsum ./...", "gotestsum/failing-pkgname", "TestAdd/small"),
    ("mise run test", "go-test/assertion", "TestAdd/small"),
    ("mise run lint", "golangci-lint/fails_task", "`file.Close` is not checked"),
    ("flutter test", "flutter-test/failing", "Till adds up"),
    ("bats test", "bats/failing_tap", "adds two numbers"),
    ("rtk bun test", "bun-test/fail", "shop > adds up"),
    ("rtk test bun run test", "bun-test/fail", "shop > adds up"),
    ("rtk go test ./...", "go-test/assertion", "TestAdd/small"),
    ("xcodebuild build -scheme Shop", "xcodebuild/build_failing", "cannot find 'total' in scope"),
    ("xcodebuild test -scheme Shop", "xcodebuild-test/test_failing", "TillTests.testAdds"),
    ("cargo deny check bans", "cargo-deny/banned", "explicitly banned"),
    ("cargo deny check", "cargo-deny/licence_rejected", "rejected"),
    ("yarn vitest", "vitest/fail", "shop > adds up"),
    ("dotnet build", "dotnet-build/failing", "Cannot implicitly convert type"),
    ("npx biome check", "biome/check_fails", "noDoubleEquals"),
    ("npx @biomejs/biome check src", "biome/check_fails", "noDoubleEquals"),
    ("pnpm --filter web exec vitest run", "vitest/fail", "shop > adds up"),
    ("uvx ty check", "ty/fails", "Cannot resolve imported module"),
    ("cargo build 2>&1 | tail -27", "cargo-build/mismatch", "cannot add"),
    ("go test ./...", "go-test/setup-failed-import", "no required module"),
    ("go test ./... 2>&1 | tail -6", "go-test/setup-failed-import", "no required module"),
    ("npx playwright test 2>&1 | tail -40", "playwright-test/failing_list", "till > throws"),
];

/// Plays a failing run and returns the texts of the episodes that it opened.
fn opened_episodes(command: &str, exit: i32, printed: &str) -> Vec<String> {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    match exit {
        0 => story.run_with_hidden_status(command, printed),
        exit => story.run_failing_command(command, exit, printed),
    };
    let episodes = world.store().episodes(&EpisodeFilter::default()).unwrap();
    let text = |one: &Episode| {
        format!("{} {} {}", one.test.as_deref().unwrap_or_default(), one.error, one.signature)
    };
    episodes.iter().map(text).collect()
}

#[test]
fn failing_runs_open_episodes() {
    let all = load_recordings();
    for (command, name, expected) in FAILING {
        let fixture = find_recording(&all, name);
        let mut printed = String::from_utf8(fixture.full_output()).unwrap();
        let piped = command.rsplit_once("tail -");
        if let Some((_, count)) = piped {
            printed = last_lines(&printed, count.parse().unwrap());
        }
        let exit = if piped.is_some() { 0 } else { fixture.case.exit };
        let found = opened_episodes(command, exit, &printed);
        assert!(found.iter().any(|text| text.contains(expected)), "{command}: {found:?}");
    }
    // A package without a version.
    let build = format!("\n> build\n> tsc\n\n{}", recorded_text(&all, "tsc/fail"));
    let found = opened_episodes("npm run build", 2, &build);
    assert!(found[0].contains("is not assignable to type 'number'"), "{found:?}");
}

/// Stored verdicts of runs with a hidden exit status.
#[test]
fn verdict_with_hidden_status() {
    let all = load_recordings();
    let go =
        format!("FAIL\nFAIL\texample.com/shop/cart\t0.002s\nFAIL\n{}", go_success_output("user"));
    let traceback = "  File \"/p/cart.py\", line 3, in total\nAssertionError\n=== 3 failed, 19 passed in 2.55s ===\n";
    let timed = format!(
        "{}pytest -q  0.52s user 0.08s system 98% cpu 0.612 total\n",
        pytest_output(&[DISCOUNT], 3)
    );
    let bun = format!("error: no price\n{}", last_lines(&recorded_text(&all, "bun-test/fail"), 5));
    for (command, printed, verdict) in [
        ("go test ./cart | tail -3 && go test ./user | tail -1", go, Verdict::Failed),
        ("pytest 2>&1 | tail -3", traceback.to_owned(), Verdict::Failed),
        ("time pytest -q || true", timed, Verdict::Failed),
        ("bun test 2>&1 | tail -6", bun, Verdict::Failed),
        (
            "npx biome check | tail -20",
            recorded_text(&all, "biome/check_fails_tail"),
            Verdict::Failed,
        ),
        ("pytest | tail -1", "1 failed, 3 passed in 0.12s\n".to_owned(), Verdict::Failed),
        ("pytest | tail -1", "4 passed in 0.12s\n".to_owned(), Verdict::Passed),
        ("pytest | head -3", "collected 4 items\n".to_owned(), Verdict::Unknown),
        ("go build ./... 2>&1 | head", String::new(), Verdict::Passed),
    ] {
        let world = TestWorld::new();
        HookStory::new(&world).run_with_hidden_status(command, &printed);
        let runs = world.store().last_runs(&world.place(), 5).unwrap();
        assert_eq!(runs.iter().map(|run| run.verdict).collect::<Vec<_>>(), [verdict], "{command}");
    }
}

#[test]
fn cut_output_opens_an_episode() {
    let failing = pytest_output(&[DISCOUNT], 3);
    let noise = "collecting the tests of this project ...\n".repeat(1_000);
    let mark = "... [12345 characters truncated] ...";
    // The client cuts the middle out of a failure; it saves a success to a file and sends only the beginning.
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.run_failing_command("pytest", 1, &format!("{}\n\n{mark}\n\n{failing}", &noise[..5_000]));
    assert_eq!(story.episodes().len(), 1);
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let path = story.folder.join("output.txt");
    let whole = format!("{noise}{failing}");
    std::fs::write(&path, &whole).unwrap();
    let response = json!({
        "stdout": &whole[..2_000], "stderr": "", "interrupted": false,
        "persistedOutputPath": path, "persistedOutputSize": whole.len(),
    });
    story.send_event("PostToolUse", &json!({ "tool_name": "Bash", "tool_input": { "command": "pytest | cat" }, "tool_response": response }));
    let tests: Vec<String> = story.episodes().into_iter().map(|(test, ..)| test).collect();
    assert_eq!(tests, ["tests/test_cart.py::test_discount"]);
}

#[test]
fn silent_checker_passes() {
    for (command, verdict) in [
        ("go vet ./... | head", Verdict::Passed),
        ("go vet ./... 2>&1 | head -20", Verdict::Passed),
        ("go vet ./... 2>/dev/null | head", Verdict::Unknown),
        ("go vet ./... 2>&1 | grep cart", Verdict::Unknown),
        ("npx tsc --noEmit | head -30", Verdict::Passed),
        ("tsc --noEmit 2>&1 | head", Verdict::Passed),
        ("npx tsc --noEmit | grep src/cart", Verdict::Unknown),
        ("go test ./... 2>&1 | head", Verdict::Unknown),
    ] {
        let seen = CapturedOutput { exit: Some(0), output: b"", cut: false };
        let read = read_runs(&CommandLine::parse(command), &seen).unwrap();
        assert_eq!(read[0].verdict, verdict, "{command}");
    }
    for (command, red) in [
        (
            "go vet ./... 2>&1 | head",
            "# example.com/shop/cart\ncart/cart.go:3:2: undefined: total\n",
        ),
        (
            "npx tsc --noEmit | head -30",
            "src/cart.ts(1,7): error TS2304: Cannot find name 'total'.\n",
        ),
    ] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        story.run_with_hidden_status(command, red);
        story.edit("src/cart.ts", &["-total", "+sum"]);
        story.run_with_hidden_status(command, "");
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
    }
}

#[test]
fn wrapper_or_flag_is_the_fix() {
    let missing = "ModuleNotFoundError: No module named 'requests'";
    let sqlite = "running 1 test\ntest cart::tests::total ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    for (red, red_text, green, green_text, fix) in [
        (
            "pytest",
            pytest_output(&[("test_total", missing)], 3),
            "uv run pytest",
            pytest_output(&[], 4),
            "through `uv run`",
        ),
        (
            "cargo test",
            cargo_test_output(0, &[TOTAL]),
            "cargo test --features sqlite",
            sqlite.to_owned(),
            "with `--features sqlite`",
        ),
        (
            "cargo test",
            cargo_test_output(0, &[TOTAL]),
            "cargo test --all-features",
            sqlite.to_owned(),
            "with `--all-features`",
        ),
    ] {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        story.run_failing_command(red, 1, &red_text);
        story.run_with_hidden_status(green, &green_text);
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{green}");
        story.session = "session-2";
        let said = story.run_failing_command(red, 1, &red_text);
        assert!(said.contains(&format!("It passed when run {fix}.")), "{green}: {said}");
    }
}

#[test]
fn comment_only_changes_are_hidden() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story.write_file("shop/cart.py", CART);
    story.write_file("shop/tax.py", "RATE = 1\n");
    let red = pytest_output(&[("test_flow", "AssertionError: assert 500 == 200")], 3);
    story.run_failing_command("pytest", 1, &red);
    story.edit_on_disk("shop/cart.py", "import os\n", "import os\nimport sys\n");
    story.edit_on_disk("shop/tax.py", "RATE = 1\n", "# The rate of the country.\nRATE = 1\n");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    story.session = "session-2";
    assert_eq!(story.run_failing_command("pytest", 1, &red), "");
    story.edit_on_disk("shop/cart.py", "import os\n", "import os\nimport re\n");
    story.edit_on_disk("shop/tax.py", "RATE = 1\n", "RATE = 2\n");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    story.session = "session-3";
    let said = story.run_failing_command("pytest", 1, &red);
    assert!(said.contains("> -RATE = 1\n> +RATE = 2\n"), "{said}");
    assert!(!said.contains("import") && !said.contains("of the country"), "{said}");
}

#[test]
fn three_fixes_share_one_label() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let names = ["alpha", "bravo", "charlie", "delta"];
    let tests =
        names.map(|name| (format!("{name}::tests::{name}_works"), format!("{name} is wrong")));
    let failing: Vec<(&str, &str)> =
        tests.iter().map(|(test, error)| (test.as_str(), error.as_str())).collect();
    for (name, failure) in names.iter().zip(&failing) {
        story.red("cargo test", &[*failure]);
        story.edit(
            &format!("src/{name}.rs"),
            &[&format!("-    old_{name}()"), &format!("+    new_{name}()")],
        );
        story.green("cargo test");
    }
    story.session = "session-2";
    let said = story.red("cargo test", &failing);
    assert!(said.starts_with("Recorded data: these failures were fixed before.\n"), "{said}");
    assert_eq!(said.matches("Recorded data").count(), 1, "{said}");
    assert_eq!(said.matches("Fixed in").count(), 3, "{said}");
    for name in ["bravo", "charlie", "delta"] {
        assert!(said.contains(&format!("> +new_{name}()")), "{said}");
    }
    // One known failure and one unknown.
    story.session = "session-3";
    let said = story.red("cargo test", &[failing[0], NAME]);
    assert!(said.starts_with("Recorded data: this failure was fixed before.\n"), "{said}");
    assert!(said.contains("> +new_alpha()") && !said.contains(NAME.0), "{said}");
}

/// More cases in the form of the table in `loop_cases`.
#[test]
fn narrow_runs_close_covered_failures() {
    let py = || pytest_output(&[DISCOUNT], 3);
    let npm = "\n> shop@1.0.0 test\n> vitest run\n\n";
    let one = "==== 1 passed in 0.01s ====\n";
    let only = |test: &str| {
        format!(
            "running 1 test\ntest {test} ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 4 filtered out; finished in 0.00s\n"
        )
    };
    let quiet = "....                                                                     [100%]\n4 passed in 0.01s\n".to_owned();
    for (red, red_text, green, green_text, closed) in [
        ("make test", py(), "pytest -q", quiet.clone(), true),
        ("make test", py(), "uv run pytest -q tests/test_cart.py", quiet.clone(), true),
        (
            "make test",
            py(),
            "python -m pytest tests/test_cart.py::test_discount",
            one.to_owned(),
            true,
        ),
        (
            "make test",
            py(),
            "python -m pytest tests/test_cart.py::test_total",
            one.to_owned(),
            false,
        ),
        ("make test", py(), "make test-unit", quiet.clone(), false),
        ("pytest -x", py(), "pytest", quiet.clone(), true),
        ("pytest --lf", py(), "pytest", quiet.clone(), true),
        ("pytest", py(), "pytest --lf", one.to_owned(), true),
        (
            "pytest tests/",
            py(),
            "pytest tests/test_cart.py -k discount",
            "==== 1 passed, 3 deselected in 0.01s ====\n".to_owned(),
            true,
        ),
        (
            "pytest",
            py(),
            "pytest -k 'not discount'",
            "==== 3 passed, 1 deselected in 0.01s ====\n".to_owned(),
            false,
        ),
        (
            "pytest",
            py(),
            "pytest -m slow",
            "==== 3 passed, 1 deselected in 0.01s ====\n".to_owned(),
            false,
        ),
        (
            "pytest",
            py(),
            "tox",
            format!(
                "py: commands[0]> pytest\n{quiet}  py: OK (1.00=setup[0.1]+cmd[0.9] seconds)\n  congratulations :) (1.1 seconds)\n"
            ),
            true,
        ),
        (
            "npm test",
            format!("{npm}{}", vitest_output(&["adds"])),
            "npx vitest run -t adds",
            vitest_output(&[]),
            true,
        ),
        (
            "npm test",
            format!("{npm}{}", vitest_output(&["adds"])),
            "pnpm vitest run",
            vitest_output(&[]),
            true,
        ),
        (
            "npm test",
            format!("{npm}{}", vitest_output(&["adds"])),
            "bun run test",
            format!("$ vitest run\n{}", vitest_output(&[])),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test ./... 2>&1 | tail -5",
            go_success_output("cart"),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "cd cart && go test .",
            go_success_output("cart"),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "go test -run 'TestTotal|TestX' ./cart/...",
            go_success_output("cart"),
            true,
        ),
        (
            "go test ./...",
            go_failure_output("TestTotal", "cart"),
            "gotestsum ./...",
            "✓  cart (2ms)\n\nDONE 5 tests in 0.5s\n".to_owned(),
            true,
        ),
        (
            "cargo test",
            cargo_test_output(4, &[TOTAL]),
            "cargo test cart::",
            only("cart::tests::total"),
            true,
        ),
        (
            "cargo test",
            cargo_test_output(4, &[TOTAL]),
            "cargo test user::",
            only("user::tests::name"),
            false,
        ),
        (
            "cargo test",
            cargo_test_output(4, &[TOTAL]),
            "just test",
            format!("cargo test\n{}", cargo_test_output(5, &[])),
            true,
        ),
        ("cd backend && pytest", py(), "cd backend && uv run pytest -q", quiet.clone(), true),
        ("cd backend && pytest", py(), "pytest frontend", quiet.clone(), false),
    ] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
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
