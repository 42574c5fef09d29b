use proptest::prelude::*;

use super::*;

/// Formats the expected result and target; `-` for no target, `nothing` if the text is not testable.
fn format_derived(prediction: &str, action: &str) -> String {
    let derived = derive(prediction, action);
    if !derived.testable {
        assert_eq!((derived.expects, &derived.target), (Expects::Pass, &None), "{prediction}");
        return "nothing".to_owned();
    }
    format!("{} {}", derived.expects, derived.target.as_deref().unwrap_or("-"))
}

/// Predictions in the style of agents. Ambiguous ones have the reason for our reading above them.
const PREDICTIONS: &[(&str, &str)] = &[
    // Plain.
    ("All tests should pass", "pass -"),
    ("The tests will pass.", "pass -"),
    ("Tests pass", "pass -"),
    ("the suite goes green", "pass -"),
    ("CI turns green", "pass -"),
    ("everything stays green", "pass -"),
    ("The build succeeds", "pass -"),
    ("It compiles", "pass -"),
    ("the crate should build", "pass -"),
    ("it builds without warnings", "pass -"),
    ("compilation will be successful", "pass -"),
    ("clippy is clean", "pass -"),
    ("cargo clippy comes back clean", "pass cargo clippy"),
    ("lint and typecheck are green", "pass -"),
    ("exits with code 0", "pass -"),
    ("The test will fail", "fail -"),
    ("the new test still fails", "fail -"),
    ("tests keep failing", "fail -"),
    ("CI turns red", "fail -"),
    ("the suite will be red", "fail -"),
    ("it fails with a KeyError", "fail -"),
    ("The run crashes on startup", "fail -"),
    ("the test panics at unwrap", "fail -"),
    ("The bug reproduces", "fail -"),
    ("the script reproduces the deadlock", "fail -"),
    ("exit code 1", "fail -"),
    ("exits non-zero", "fail -"),
    ("the test times out", "fail -"),
    ("this will break the build", "fail -"),
    // Negated.
    ("the test no longer fails", "pass -"),
    ("tests won't fail anymore", "pass -"),
    ("It doesn’t fail", "pass -"),
    ("does not pass", "fail -"),
    ("won't compile", "fail -"),
    ("The code will not compile", "fail -"),
    ("fails to compile", "fail -"),
    ("no longer fails to compile", "pass -"),
    ("the tests stop failing", "pass -"),
    ("the tests stop passing", "fail -"),
    ("the bug no longer reproduces", "pass -"),
    ("cannot be reproduced", "pass -"),
    ("compiles without errors", "pass -"),
    ("without any errors or warnings", "pass -"),
    ("There are no errors", "pass -"),
    ("no test failures", "pass -"),
    ("no regressions", "pass -"),
    ("none of the tests fail", "pass -"),
    ("nothing breaks", "pass -"),
    ("this does not break existing tests", "pass -"),
    ("not all tests pass", "fail -"),
    ("the tests are unlikely to pass", "fail -"),
    ("I doubt that the suite passes", "fail -"),
    ("not only compiles but passes", "pass -"),
    ("the test will never pass", "fail -"),
    ("the panic is gone", "pass -"),
    ("the type error disappears", "pass -"),
    ("the failure goes away", "pass -"),
    ("this fixes the compile error", "pass -"),
    ("we still see the same error", "fail -"),
    ("the compile error persists", "fail -"),
    ("passes instead of failing", "pass -"),
    // Counts.
    ("0 failures", "pass -"),
    ("12 passed, 0 failed", "pass -"),
    ("all 14 tests pass", "pass -"),
    ("2 tests fail", "fail -"),
    // One failing test makes the run fail.
    ("11 passed, 1 failed", "fail -"),
    ("zero errors", "pass -"),
    ("3 failing tests", "fail -"),
    ("no failing tests remain", "pass -"),
    ("3 of 5 tests pass", "fail -"),
    ("5 of 5 tests pass", "pass -"),
    ("4/5 tests pass", "fail -"),
    ("`npm run lint` reports 0 errors and 3 warnings", "pass npm run lint"),
    ("`cargo test -p x verdict` will show 1 failed test", "fail cargo test -p x verdict"),
    ("it will pass with 42 tests and 0 failures", "pass -"),
    // Named errors, and programs that complain.
    ("ImportError disappears", "pass -"),
    ("we still get a TypeError", "fail -"),
    ("mypy complains about the return type", "fail mypy"),
    ("the linter will not complain", "pass -"),
    ("I expect a failure in test_parse", "fail test_parse"),
    ("cargo build fails with error[E0433]: failed to resolve", "fail cargo build"),
    // The word describes the test, not the result.
    ("the failing test passes", "pass -"),
    ("The previously failing tests should now pass", "pass -"),
    ("currently passing tests will fail", "fail -"),
    // Before and after: the state after the change is the prediction.
    ("will fail before the fix and pass after", "pass -"),
    ("Before the fix the test fails, after it the test passes", "pass -"),
    ("the test fails on main but passes with the fix", "pass -"),
    ("red -> green", "pass -"),
    ("goes from failing to passing", "pass -"),
    ("goes from red to green", "pass -"),
    ("the test first fails, then passes", "pass -"),
    ("cargo test fails now but passes after the patch", "pass cargo test"),
    ("tests pass before, fail after", "fail -"),
    // Only the state before the change is mentioned, so the next run is compared with that.
    ("the test will fail before the fix", "fail -"),
    ("without the change test_login fails", "fail test_login"),
    ("The tests won't pass until the migration is applied", "fail -"),
    ("the build passes only after the lockfile is regenerated", "pass -"),
    ("this should turn the suite from red to green", "pass -"),
    // Reasons and conditions.
    ("the test fails because the mock passes None", "fail -"),
    ("tests pass since the fixture no longer fails", "pass -"),
    ("if the cache is the cause, the test passes", "pass -"),
    ("the test passes if the mock is set and fails otherwise", "pass -"),
    // A condition alone predicts nothing, and without a target there is nothing to compare with.
    ("if it fails, the parser is wrong", "nothing"),
    // The clause that names the run decides, then the one that names the target.
    ("the service crashes at startup but the unit tests pass", "pass -"),
    ("test_a passes but test_b still fails", "pass test_a"),
    ("the build succeeds but test_login fails with AssertionError", "fail test_login"),
    ("`cargo build` succeeds, and the tests fail", "pass cargo build"),
    // Of two equal clauses the first counts.
    ("unit tests pass; e2e tests fail", "pass -"),
    ("test passes locally but CI fails", "pass -"),
    ("this will cause test_old to fail and test_new to pass", "fail test_old"),
    // Targets.
    ("test_foo passes", "pass test_foo"),
    ("`test_foo` will pass", "pass test_foo"),
    ("test_foo() passes", "pass test_foo"),
    ("parser::tests::roundtrip should pass", "pass parser::tests::roundtrip"),
    ("TestLogin fails with a nil pointer", "fail TestLogin"),
    ("login.spec.ts goes green", "pass login.spec.ts"),
    ("`pytest tests/test_a.py::test_b` passes", "pass tests/test_a.py::test_b"),
    ("pytest tests/test_a.py -q passes", "pass pytest tests/test_a.py -q"),
    ("`cargo test -p rutter-memory` passes", "pass cargo test -p rutter-memory"),
    ("cargo test -p x should pass", "pass cargo test -p x"),
    ("cargo nextest run is green", "pass cargo nextest run"),
    ("npm run build succeeds", "pass npm run build"),
    ("make check passes", "pass make check"),
    // English: "make" is a verb here.
    ("this will make tests pass", "pass -"),
    ("go test ./... passes", "pass go test ./..."),
    ("go test -run TestFoo ./pkg fails", "fail TestFoo"),
    ("uv run pytest -q passes", "pass uv run pytest -q"),
    ("python -m pytest passes", "pass python -m pytest"),
    ("src/foo.rs compiles", "pass src/foo.rs"),
    ("auth_test.go passes", "pass auth_test.go"),
    ("the parses_empty_input test passes", "pass parses_empty_input"),
    ("test `rejects_bad_token` fails", "fail rejects_bad_token"),
    ("`cargo test` passes, src/a.rs is untouched", "pass cargo test"),
    ("src/a.rs:10:5 no longer fails to compile under `cargo check`", "pass cargo check"),
    ("tsc reports no errors", "pass tsc"),
    // "the login test" is a description, not a name.
    ("the login test passes", "pass -"),
    // A name without a result: a pass of the named command is expected.
    ("`cargo test` shows what is wrong", "pass cargo test"),
    // Not testable.
    ("the user will like it", "nothing"),
    ("latency drops", "nothing"),
    ("latency drops by half", "nothing"),
    ("the page renders faster", "nothing"),
    ("memory usage stays below 100 MB", "nothing"),
    ("we pass the token to the handler", "nothing"),
    ("the config is passed along to the worker", "nothing"),
    ("the button turns red", "nothing"),
    ("better error handling", "nothing"),
    ("the endpoint returns an error for bad input", "nothing"),
    ("Node.js is installed", "nothing"),
    ("the README is clearer", "nothing"),
    ("cleaner code", "nothing"),
    ("a breaking change for users", "nothing"),
    // Fewer failures are neither a pass nor a fail.
    ("fewer failures than before", "nothing"),
    ("", "nothing"),
];

#[test]
fn derives_result_and_target() {
    let mut wrong = Vec::new();
    for (prediction, expected) in PREDICTIONS {
        let got = format_derived(prediction, "");
        if got != *expected {
            wrong.push(format!("{prediction}: {got}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(PREDICTIONS.len() >= 80);
}

#[test]
fn action_completes_prediction() {
    for (prediction, action, expected) in [
        ("it passes", "run `cargo test -p x`", "pass cargo test -p x"),
        ("it will fail", "add test_foo to tests/test_a.py", "fail test_foo"),
        ("`cargo build` succeeds", "add test_x", "pass cargo build"),
        ("src/foo.rs works", "run pytest tests/test_foo.py", "pass pytest tests/test_foo.py"),
        ("src/foo.rs works", "edit src/bar.rs", "pass src/foo.rs"),
        ("the user will like it", "edit src/bar.rs", "pass src/bar.rs"),
        // Only the prediction decides the result.
        ("the user will like it", "make the failing tests fail less", "nothing"),
        ("latency drops", "cache the query", "nothing"),
    ] {
        assert_eq!(format_derived(prediction, action), expected, "{prediction} / {action}");
    }
}

const NO_TESTS: &[&str] = &[];

#[test]
fn ignores_prefixes_and_other_flags() {
    for (target, command) in [
        ("cargo test -p x", "cargo test -p x"),
        (
            "cargo test -p x",
            "cd crates && RUST_BACKTRACE=1 cargo test -p x -- --nocapture 2>&1 | tail -20",
        ),
        ("cargo test -p x", "cargo test --package=y -p x || cargo test -p x"),
        ("cargo test", "cargo nextest run --no-fail-fast"),
        ("cargo test", "cargo +nightly t --workspace"),
        ("cargo nextest run", "cargo test"),
        ("pytest -q", "timeout 60 uv run pytest -q -x"),
        ("pytest", "python3 -m pytest -n 4 tests/"),
        ("python -m pytest", "uv run --with hypothesis pytest"),
        ("pytest tests/test_a.py", "poetry run pytest ./tests/test_a.py -v"),
        ("npm run build", "npm run build --silent"),
        ("npm test", "npm run test"),
        ("npm run test", "CI=1 npm t"),
        ("jest", "npx --yes jest --ci"),
        ("jest", "./node_modules/.bin/jest"),
        ("make check", "make -j4 check"),
        ("make check", "make -C sub check V=1"),
        ("go test", "go test ./..."),
        ("go test ./...", "go test -race ./..."),
        ("./gradlew test", "gradle test --info"),
        ("bash scripts/test.sh", "./scripts/test.sh"),
        ("./scripts/test", "scripts/test"),
        ("cargo fmt && cargo test", "cargo test"),
        ("pytest -q", "bash -lc 'cd x && pytest -q'"),
        ("tsc", "npx tsc --noEmit"),
    ] {
        assert!(matches_target(Some(target), command, NO_TESTS), "{target} / {command}");
    }
}

#[test]
fn other_commands_do_not_fit() {
    for (target, command) in [
        ("cargo test -p x", "cargo test"),
        ("cargo test -p x", "cargo test -p y"),
        ("cargo test", "cargo build"),
        // Narrower: a pass of a part does not mean a pass of the whole.
        ("cargo test", "cargo test -p x"),
        ("cargo test", "cargo test some_filter"),
        ("cargo test", "cargo test --lib"),
        ("cargo test", "cargo test -- --skip slow"),
        ("pytest", "pytest tests/test_a.py"),
        ("pytest", "pytest -k login"),
        ("pytest", "pytest --lf"),
        ("pytest tests/test_a.py", "pytest tests/test_b.py"),
        ("npm run build", "npm test"),
        ("make check", "make"),
        ("make check", "make build"),
        ("go test ./auth", "go test ./..."),
        ("cargo test", "echo cargo test"),
        ("cargo test", "git commit -m 'cargo test passes'"),
        ("cargo test", ""),
        ("jest", "vitest run"),
    ] {
        assert!(!matches_target(Some(target), command, NO_TESTS), "{target} / {command}");
    }
}

#[test]
fn tests_fit_where_they_ran() {
    for (target, command, failed) in [
        ("test_foo", "pytest", &[][..]),
        ("test_foo", "pytest -q tests/", &[]),
        ("test_foo", "pytest -k test_foo", &[]),
        ("test_foo", "pytest -k 'test_foo or test_bar'", &[]),
        ("test_foo", "pytest -k foo", &[]),
        ("test_foo", "pytest tests/test_a.py::test_foo", &[]),
        ("test_foo", "cargo test test_foo -- --exact", &[]),
        ("test_foo", "make test", &[]),
        ("test_foo", "pytest tests/test_other.py", &["tests/test_other.py::test_foo"]),
        ("tests/test_a.py::test_foo", "pytest tests/test_a.py", &[]),
        ("tests/test_a.py::test_foo", "pytest tests/test_a.py::test_foo -x", &[]),
        (
            "tests/test_a.py::test_foo",
            "pytest",
            &["tests/test_a.py::test_foo[1]", "tests/test_b.py::x"],
        ),
        ("mod::tests::bar", "cargo test", &[]),
        ("mod::tests::bar", "cargo nextest run mod::tests", &[]),
        ("mod::tests::bar", "cargo test -p x bar", &[]),
        ("mod::tests::bar", "cargo test", &["mod::tests::bar"]),
        ("TestFoo", "go test ./...", &[]),
        ("TestFoo", "go test -run '^TestFoo$' ./pkg", &[]),
        ("TestFoo", "go test ./...", &["TestFoo/case_1"]),
        ("login.spec.ts", "npx vitest run src/login.spec.ts", &[]),
        ("login.spec.ts", "npm test", &[]),
        ("login.spec.ts", "npm test", &["src/login.spec.ts > logs in"]),
        ("LoginTest", "mvn test", &[]),
    ] {
        assert!(matches_target(Some(target), command, failed), "{target} / {command} / {failed:?}");
    }
}

#[test]
fn tests_do_not_fit_elsewhere() {
    for (target, command, failed) in [
        ("test_foo", "cargo build", &[][..]),
        ("test_foo", "npm run build", &[]),
        // Its file is unknown, so the test may or may not be in this file.
        ("test_foo", "pytest tests/test_other.py", &[]),
        ("tests/test_a.py::test_foo", "pytest tests/test_other.py", &[]),
        ("tests/test_a.py::test_foo", "pytest tests/test_a.py::test_bar", &[]),
        ("test_foo", "pytest -k 'not test_foo'", &[]),
        ("test_foo", "pytest --deselect tests/test_a.py::test_foo", &[]),
        ("test_foo", "cargo test -- --skip test_foo", &[]),
        ("test_foo", "jest", &[]),
        ("test_foo", "go test ./...", &[]),
        ("mod::tests::bar", "pytest", &[]),
        ("mod::tests::bar", "cargo test other", &[]),
        ("mod::tests::bar", "cargo test -p x", &[]),
        ("login.spec.ts", "cargo test", &[]),
        // Another test failed, which is unrelated to this one.
        ("test_foo", "pytest", &["tests/test_a.py::test_bar"]),
        ("test_foo", "pytest -x", &["test_foobar"]),
        ("test_foo", "git status", &[]),
        ("test_foo", "", &[]),
    ] {
        assert!(
            !matches_target(Some(target), command, failed),
            "{target} / {command} / {failed:?}"
        );
    }
}

#[test]
fn files_fit_where_they_ran() {
    for (target, command) in [
        ("src/foo.rs", "cargo test"),
        ("src/foo.rs", "cargo build --release"),
        ("tests/test_a.py", "pytest tests/test_a.py -q"),
        ("tests/test_a.py", "pytest tests/test_a.py::test_b"),
        ("test_a.py", "pytest tests/test_a.py"),
        ("tests/test_a.py", "pytest tests"),
        ("tests/unit/test_a.py", "pytest tests/unit"),
        ("auth/auth_test.go", "go test ./auth/..."),
        ("auth/auth_test.go", "go test ./auth"),
        ("auth_test.go", "go test ./..."),
        ("tests/cli.rs", "cargo test --test cli"),
        ("scripts/check.sh", "bash scripts/check.sh"),
        ("src/foo.ts", "npx tsc --noEmit"),
        ("src/foo.rs", "make test"),
    ] {
        assert!(matches_target(Some(target), command, NO_TESTS), "{target} / {command}");
    }
    for (target, command) in [
        ("src/foo.rs", "pytest"),
        ("src/foo.rs", "cargo test -p x"),
        ("src/foo.rs", "cargo test bar"),
        ("tests/test_a.py", "pytest tests/test_b.py"),
        ("tests/unit/test_a.py", "pytest tests/integration"),
        ("auth/auth_test.go", "go test ./db"),
        ("tests/cli.rs", "cargo test --test other"),
        ("src/foo.rs", "cat src/bar.rs"),
        ("tests/test_a.py", "pytest --ignore tests/test_a.py"),
        ("src/foo.rs", ""),
    ] {
        assert!(!matches_target(Some(target), command, NO_TESTS), "{target} / {command}");
    }
}

#[test]
fn missing_target_matches_every_command() {
    assert!(
        matches_target(None, "cargo build", NO_TESTS)
            && matches_target(Some(" "), "pytest", &["x"])
    );
}

#[test]
fn expectations_round_trip() {
    for expects in Expects::ALL {
        assert_eq!(expects.to_string().parse(), Ok(*expects));
        let json = serde_json::to_string(&expects).unwrap();
        assert_eq!(json, format!("\"{expects}\""));
        assert_eq!(serde_json::from_str::<Expects>(&json).unwrap(), *expects);
    }
    let message = "maybe".parse::<Expects>().unwrap_err().to_string();
    assert_eq!(message, "`maybe` is no expectation; the values are: pass, fail");
}

proptest! {
    #[test]
    fn parses_any_text(prediction in ".{0,80}", action in ".{0,40}", test in ".{0,20}") {
        drop(derive(&prediction, &action));
        matches_target(Some(&prediction), &action, &[test]);
    }

    /// Relevant words in random order. A target that is derived from a command fits a run of that command.
    #[test]
    fn parses_any_word_order(
        words in prop::collection::vec(prop::sample::select(&[
            "not", "no", "longer", "fails", "pass", "to", "from", "0", "3", "errors", "`cargo test`", "and", "if", "->",
            ",", "test_foo", "the", "exit", "code", "instead", "of", "before", "stop", "failing", "-p", "pytest", "make",
            "check", "`", "uv", "run", "src/a.rs:3", "npm", "&&", "'", "\"", "timeout", "FOO=1", "::",
        ][..]), 0..20),
    ) {
        let text = words.join(" ");
        let derived = derive(&text, &text);
        prop_assert_eq!(derived.testable || derived.target.is_none(), true);
        matches_target(derived.target.as_deref(), &text, NO_TESTS);
        matches_target(Some(&text), &text, &[&text]);
    }
}
