use super::*;

use crate::command_line::CommandLine;
use crate::read::{CapturedOutput, read_runs};

/// Returns the selection of the last run in a line that printed `output`.
fn selection_of(command: &str, output: &str) -> TestSelection {
    let seen = CapturedOutput { exit: Some(0), output: output.as_bytes(), cut: false };
    let readings = read_runs(&CommandLine::parse(command), &seen)
        .unwrap_or_else(|why| panic!("{command}: {why}"));
    TestSelection::new(
        readings[readings.len() - 1].invocations.last().unwrap(),
        &RunPlace { root: Path::new("/nowhere"), folder: "" },
    )
}

fn selection(command: &str) -> TestSelection {
    selection_of(command, "")
}

fn covers(green: &TestSelection, red: &TestSelection, test: Option<&str>) -> bool {
    let failed = FailedTest { test, is_compile_error: test.is_none(), ..FailedTest::default() };
    green.covers(red, &failed) != Coverage::No
}

#[test]
fn other_spelling_is_same_command() {
    for (one, other) in [
        ("pytest", "python -m pytest -q --tb=short 2>&1 | tail -5"),
        ("pytest tests/a.py", "uv run pytest -x ./tests/a.py -v"),
        ("cargo test", "RUST_BACKTRACE=1 cargo test -- --nocapture"),
        ("cargo test parse", "cargo +nightly test parse --no-fail-fast -j 4"),
        ("npm test", "npm test --silent"),
        ("npx vitest run", "vitest --reporter=verbose"),
        ("node --test test/", "node --test test/ || true"),
        ("cd api && pytest", "cd api; pytest -v"),
        ("make -j8 test", "make test"),
        ("ruff check .", "ruff check"),
        ("tsc", "npx tsc --noEmit"),
    ] {
        let (one, other) = (selection(one), selection(other));
        assert_eq!(
            (&one.program, &one.folder, &one.arguments),
            (&other.program, &other.folder, &other.arguments)
        );
    }
}

#[test]
fn other_selection_is_another_command() {
    for (one, other) in [
        ("pytest tests/a.py", "pytest tests/b.py"),
        ("npx jest", "npx vitest"),
        ("cargo test -p a", "cargo test -p b"),
        ("npm test", "npm run test:unit"),
        ("cd api && pytest", "cd web && pytest"),
        ("npm run lint", "npm run build"),
        ("cargo clippy", "cargo clippy -- -D warnings"),
        ("mypy", "mypy --strict"),
        ("ruff check", "ruff check --select ALL"),
        ("tsc", "tsc -b"),
    ] {
        let (one, other) = (selection(one), selection(other));
        assert!(!covers(&one, &other, None), "{one:?} {other:?}");
    }
}

#[test]
fn unloadable_file_ignores_name_patterns() {
    for (green, red, expected) in [
        ("pytest -k total", "pytest -k name", true),
        ("pytest tests/b.py -k total", "pytest", false),
        ("npx jest -t adds", "npx jest", true),
    ] {
        let file = Some(if green.contains("jest") { "src/a.test.js" } else { "tests/a.py" });
        assert_eq!(covers(&selection(green), &selection(red), file), expected, "{green}");
    }
    let compile =
        FailedTest { is_compile_error: true, file: Some("src/cart.rs"), ..FailedTest::default() };
    for (green, expected) in [
        ("cargo test total", Coverage::IfNoMoreSkipped),
        ("cargo test --test it", Coverage::IfAsMany),
        ("cargo test --doc", Coverage::No),
    ] {
        assert_eq!(
            selection(green).covers(&selection("cargo test"), &compile),
            expected,
            "{green}"
        );
    }
}

#[test]
fn run_covers_executed_tests() {
    for (green, red, test, expected) in [
        ("pytest", "pytest tests/a.py", "tests/a.py::test_x", true),
        ("pytest tests/a.py", "pytest", "tests/a.py::test_x", true),
        ("pytest tests/", "pytest", "tests/a.py::test_x", true),
        ("pytest tests/a.py::test_x", "pytest", "tests/a.py::test_x", true),
        ("pytest tests/a.py::test_x", "pytest", "tests/a.py::test_x_y", false),
        ("pytest tests/b.py", "pytest", "tests/a.py::test_x", false),
        ("pytest tests/a.py -k other", "pytest", "tests/a.py::test_x", false),
        ("pytest tests/a.py tests/b.py", "pytest tests/b.py", "tests/b.py::test_x", true),
        ("cargo test", "cargo test parse", "parse::tests::empty", true),
        ("cargo test parse", "cargo test", "parse::tests::empty", true),
        ("cargo test other", "cargo test", "parse::tests::empty", false),
        ("cargo test", "cargo test -p core", "parse::tests::empty", false),
        ("cargo test -p core", "cargo test", "parse::tests::empty", false),
        ("cargo test --lib", "cargo test", "parse::tests::empty", false),
        ("go test", "go test ./...", "TestX", false),
        ("go test ./...", "go test ./...", "TestX", true),
        (
            "python -m unittest tests.test_a",
            "python -m unittest",
            "test_x (tests.test_a.A.test_x)",
            true,
        ),
        (
            "python -m unittest tests.test_b",
            "python -m unittest",
            "test_x (tests.test_a.A.test_x)",
            false,
        ),
        ("npx jest", "npx jest cart", "cart adds", true),
        ("npx jest cart", "npx jest", "cart adds", false),
        ("npx jest cart", "npx jest", "src/cart.test.js > adds", true),
        ("npx jest api", "npx jest", "src/cart.test.js > adds", false),
        (
            "npx vitest run src/cart.test.ts",
            "npx vitest run",
            "src/cart.test.ts > cart > adds",
            true,
        ),
        ("npx vitest run -t adds", "npx vitest run", "src/cart.test.ts > cart > adds", true),
        ("npx vitest run -t removes", "npx vitest run", "src/cart.test.ts > cart > adds", false),
        ("pytest -k discount", "pytest", "tests/a.py::test_discount", true),
        ("pytest -k 'not discount'", "pytest", "tests/a.py::test_discount", false),
        ("pytest --ignore tests/b.py", "pytest", "tests/a.py::total", true),
        ("pytest --ignore tests/a.py", "pytest", "tests/a.py::total", false),
        ("pytest --deselect tests/a.py::total", "pytest", "tests/a.py::total", false),
        ("cargo nextest run", "cargo test", "parse::x", true),
        ("cargo nextest run parse", "cargo test", "parse::x", true),
        ("cargo build", "cargo test", "parse::x", false),
        ("python -m unittest", "pytest", "tests/test_a.py::A::test_x", true),
        ("pytest tests/test_a.py", "make test", "tests/test_a.py::test_x", false),
        // A run with another name pattern need not have executed the test.
        ("pytest tests/a.py -k name", "pytest tests/a.py -k total", "tests/a.py::total", false),
        ("pytest", "pytest -k total", "tests/a.py::total", true),
        ("pytest", "pytest -m slow", "tests/a.py::total", false),
        ("pytest tests/a.py", "pytest -m slow", "tests/a.py::total", false),
        ("cargo test -p b parse", "cargo test -p a", "parse::x", false),
        ("cargo test -p a parse", "cargo test -p a", "parse::x", true),
        ("cargo test -p a", "cargo test -p a parse", "parse::x", true),
        ("cargo test", "cargo test --features x", "parse::x", false),
        ("cargo test parse", "cargo test --features x", "parse::x", false),
        ("cargo test", "cargo test -- --ignored", "parse::x", false),
        ("cargo test", "cargo test --test it parse", "parse::x", true),
        ("cargo test --workspace", "cargo test -p a", "parse::x", true),
        ("cargo test parse::x -- --exact", "cargo test", "parse::x", true),
        ("cargo test parse -- --exact", "cargo test", "parse::x", false),
        ("npx jest", "npx jest --config e2e.js", "cart adds", false),
        ("rspec --color spec/a_spec.rb", "rspec", "Cart adds", false),
        ("pytest tests/a.py -xvs", "pytest -q -rf", "tests/a.py::total", true),
        ("pytest --lf", "pytest", "tests/a.py::total", true),
        ("go test ./...", "go test ./cart -run TestX", "TestX", true),
        ("go test -count=1 ./...", "go test ./...", "TestX", true),
        ("pnpm test", "pnpm --filter web test", "cart adds", false),
        ("yarn test", "yarn workspace web test", "cart adds", false),
    ] {
        let covers = covers(&selection(green), &selection(red), Some(test));
        assert_eq!(covers, expected, "{green} after {red}");
    }
}

#[test]
fn test_run_covers_compile_error() {
    for (green, red, test, expected) in [
        ("cargo test", "cargo check", None, true),
        ("cargo test -p a", "cargo build -p a", None, true),
        ("cargo test -p a", "cargo build", None, false),
        ("cargo check", "cargo test", None, false),
        ("cargo test", "cargo check", Some("a::b"), false),
        ("cargo test", "cargo clippy", None, false),
    ] {
        assert_eq!(
            covers(&selection(green), &selection(red), test),
            expected,
            "{green} after {red}"
        );
    }
}

#[test]
fn stopping_runs_are_recognised() {
    for (command, stops) in [
        ("pytest", false),
        ("pytest -x", true),
        ("pytest --maxfail=2", true),
        ("pytest -xvs tests/a.py", true),
        ("go test -failfast ./...", true),
        ("cargo test", true),
        ("cargo test --no-fail-fast", false),
        ("go test ./...", false),
        ("npm test", true),
        ("make test", true),
    ] {
        assert_eq!(selection(command).stops, stops, "{command}");
    }
}

#[test]
fn printed_task_command_is_used() {
    let npm = "\n> shop@1.0.0 test\n> vitest run\n\n";
    let task = selection_of("npm test", npm);
    assert_eq!((task.program.as_str(), task.task.as_deref()), ("vitest", Some("npm test")));
    let test = Some("src/cart.test.ts > cart > adds");
    assert!(covers(&selection("npx vitest run src/cart.test.ts"), &task, test));
    assert!(covers(&task, &selection("npx vitest run src/cart.test.ts"), test));
    assert!(!covers(&selection("npx vitest run src/tax.test.ts"), &task, test));
    // If a task does not print its command, only the same task covers its failures.
    let green = "===== 3 passed in 0.12s =====\n";
    let silent = selection_of("./run.sh", green);
    assert!(silent.is_partial && silent.program.as_str() == "pytest");
    assert!(covers(&silent, &selection_of("bash ./run.sh", green), Some("tests/a.py::test_x")));
    assert!(!covers(&silent, &selection("pytest"), Some("tests/a.py::test_x")));
    assert!(covers(&selection("pytest -q"), &silent, Some("tests/a.py::test_x")));
    assert!(!covers(&selection("pytest tests/b.py"), &silent, Some("tests/a.py::test_x")));
}

#[test]
fn packages_of_go() {
    let failed = |scope: &'static str| FailedTest {
        test: Some("TestX"),
        scope: Some(scope),
        ..FailedTest::default()
    };
    for (green, red, scope, expected) in [
        ("go test ./cart -run TestX", "go test ./...", "example.com/shop/cart", true),
        ("go test ./cart", "go test ./...", "example.com/shop/cart", true),
        ("go test ./cart/...", "go test ./...", "example.com/shop/cart/tax", true),
        ("go test ./tax", "go test ./...", "example.com/shop/cart", false),
        ("go test ./cart -run TestY", "go test ./...", "example.com/shop/cart", false),
        ("go test -tags=it ./cart", "go test ./...", "example.com/shop/cart", false),
        ("go test ./cart", "go test -tags=it ./...", "example.com/shop/cart", false),
        ("cd cart && go test", "go test ./...", "example.com/shop/cart", true),
        ("cd tax && go test", "go test ./...", "example.com/shop/cart", false),
        ("go test example.com/shop/cart", "go test ./...", "example.com/shop/cart", true),
        ("gotestsum ./...", "go test ./...", "example.com/shop/cart", true),
    ] {
        let found = selection(green).covers(&selection(red), &failed(scope)) != Coverage::No;
        assert_eq!(found, expected, "{green} after {red}");
    }
}

#[test]
fn folders_of_a_monorepo() {
    let test = Some("packages/api/src/a.test.ts > adds");
    let red = selection("cd packages/api && npx vitest run");
    assert!(covers(&selection("cd packages/api && npx vitest run src/a.test.ts"), &red, test));
    assert!(covers(&selection("npx vitest run"), &red, test));
    assert!(covers(&selection("npx vitest run packages/api"), &red, test));
    assert!(!covers(&selection("cd packages/web && npx vitest run"), &red, test));
    assert!(!covers(&selection("cd packages/web && npx vitest run src/a.test.ts"), &red, test));
    let test = Some("backend/tests/test_a.py::test_x");
    let red = selection("cd backend && pytest");
    assert!(covers(&selection("pytest backend/tests/test_a.py"), &red, test));
    assert!(covers(&selection("pytest"), &red, test));
    assert!(!covers(&selection("cd frontend && pytest"), &red, test));
}

#[test]
fn folders_are_not_entered_twice() {
    let place = |folder| RunPlace { root: Path::new("/repo"), folder };
    for (folder, entered, expected) in [
        ("", CommandFolder::Relative(String::new()), ""),
        ("", CommandFolder::Relative("api".into()), "api"),
        ("api", CommandFolder::Relative("api".into()), "api"),
        ("services/api", CommandFolder::Relative("api".into()), "services/api"),
        ("web", CommandFolder::Relative("api".into()), "web/api"),
        ("api", CommandFolder::Relative("..".into()), "api"),
        ("", CommandFolder::Absolute("/repo/web".into()), "web"),
        ("api", CommandFolder::Absolute("/elsewhere".into()), "api"),
        ("api", CommandFolder::Unknown, "api"),
    ] {
        assert_eq!(folder_of_run(&place(folder), &entered), expected, "{folder} {entered:?}");
    }
}

#[test]
fn compile_errors_need_compiling_run() {
    let failed = |file: &'static str| FailedTest {
        file: Some(file),
        is_compile_error: true,
        ..FailedTest::default()
    };
    for (green, red, file, expected) in [
        ("go build ./...", "go vet ./...", "cart/a.go", true),
        ("go build ./...", "go test ./...", "cart/a_test.go", false),
        ("go test ./cart", "go build ./...", "cart/a.go", true),
        ("go test ./tax", "go build ./...", "cart/a.go", false),
        ("golangci-lint run ./...", "go build ./...", "cart/a.go", true),
        ("cargo test", "cargo check", "src/a.rs", true),
        ("cargo clippy", "cargo check", "src/a.rs", true),
        ("cargo check", "cargo clippy", "src/a.rs", false),
    ] {
        let found = selection(green).covers(&selection(red), &failed(file)) != Coverage::No;
        assert_eq!(found, expected, "{green} after {red}");
    }
}
