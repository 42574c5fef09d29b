use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use rutter_memory::episode::{Episode, How};
use rutter_memory::hook::{Around, Heard, hear};
use rutter_memory::outcome::call::WINDOW;
use rutter_memory::store::EpisodeFilter;
use rutter_memory::store::tend::{Bounds, tend};
use rutter_memory::{Clean, Time};
use serde_json::{Value, json};

use crate::support::World;

/// Sessions of a client in one checkout, told to the hooks as the client tells them.
pub(crate) struct Story<'a> {
    pub(crate) world: &'a World,
    folder: PathBuf,
    /// Where the client says it was started.
    started_in: Option<PathBuf>,
    clock: std::cell::Cell<i64>,
    pub(crate) session: &'static str,
    pub(crate) agent: Option<&'static str>,
}

impl<'a> Story<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        drop(world.store());
        Self::at(world, &world.project("ship"))
    }

    pub(crate) fn at(world: &'a World, folder: &Path) -> Self {
        let folder = folder.canonicalize().unwrap();
        Self { world, folder, started_in: None, clock: 0.into(), session: "session-1", agent: None }
    }

    pub(crate) fn tell(&self, event: &str, fields: &Value) -> Heard {
        self.clock.set(self.clock.get() + 60_000);
        let mut payload =
            json!({ "session_id": self.session, "cwd": self.folder, "hook_event_name": event });
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        if let Some(agent) = self.agent {
            payload["agent_id"] = agent.into();
        }
        let around = Around {
            files: self.world.files(),
            now: Time::from_millis(1_763_200_000_000 + self.clock.get()),
            begun: Instant::now(),
            window: WINDOW,
            started_in: self.started_in.clone(),
            parent: None,
        };
        hear(payload.to_string().as_bytes(), None, || around)
    }

    fn said(heard: &Heard) -> String {
        assert_eq!(heard.faults, [] as [Clean; 0]);
        if heard.stdout.is_empty() {
            return String::new();
        }
        let answer: Value = serde_json::from_str(&heard.stdout).unwrap();
        answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
    }

    /// A run that fails: tests and what each panics with.
    pub(crate) fn red(&self, command: &str, failing: &[(&str, &str)]) -> String {
        let error = format!("Exit code 101\n{}", output(5 - failing.len(), failing));
        Self::said(&self.tell(
            "PostToolUseFailure",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": error, "is_interrupt": false }),
        ))
    }

    pub(crate) fn green(&self, command: &str) {
        self.bash_with(command, &output(5, &[]));
    }

    pub(crate) fn bash(&self, command: &str) {
        self.bash_with(command, "");
    }

    fn bash_with(&self, command: &str, stdout: &str) {
        let response =
            &json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
        let heard = self.tell(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response }),
        );
        assert_eq!(Self::said(&heard), "");
    }

    /// A run of anything that fails with this text.
    fn fails(&self, command: &str, exit: i32, text: &str) -> String {
        let error = format!("Exit code {exit}\n{text}");
        Self::said(&self.tell(
            "PostToolUseFailure",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "error": error }),
        ))
    }

    /// One whose status a pipe hides.
    fn shows(&self, command: &str, text: &str) -> String {
        let response = &json!({ "stdout": text, "stderr": "", "interrupted": false });
        Self::said(&self.tell(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response }),
        ))
    }

    pub(crate) fn edit(&self, file: &str, lines: &[&str]) {
        let path = self.folder.join(file);
        let response = json!({ "filePath": path, "originalFile": "", "structuredPatch": [{ "lines": lines }] });
        let heard =
            self.tell("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
        assert_eq!(Self::said(&heard), "");
    }

    pub(crate) fn start(&self, source: &str) {
        assert_eq!(Self::said(&self.tell("SessionStart", &json!({ "source": source }))), "");
    }

    /// Every episode, oldest first: test, ending, what turned it green.
    pub(crate) fn episodes(&self) -> Vec<(String, Option<How>, String)> {
        let shown = |episode: Episode| {
            let ending = episode.ending;
            let fix = ending.iter().flat_map(|ending| &ending.fix);
            let fix: Vec<String> = fix
                .map(|change| format!("{} {}", change.name, change.patch.replace('\n', " ")))
                .collect();
            (
                episode.test.map_or(String::new(), |test| test.to_string()),
                ending.map(|ending| ending.how),
                fix.join("; ").trim().to_owned(),
            )
        };
        let mut all = self.world.store().episodes(&EpisodeFilter::default()).unwrap();
        all.sort_by_key(|episode| (episode.opened, episode.test.clone(), episode.seen));
        all.into_iter().map(shown).collect()
    }
}

/// What `cargo test` prints.
fn output(passed: usize, failing: &[(&str, &str)]) -> String {
    let mut text = format!("\nrunning {} tests\n", passed + failing.len());
    for number in 0..passed {
        let _ = writeln!(text, "test other::number_{number} ... ok");
    }
    for (test, _) in failing {
        let _ = writeln!(text, "test {test} ... FAILED");
    }
    if !failing.is_empty() {
        text += "\nfailures:\n\n";
        for (test, error) in failing {
            let _ = write!(
                text,
                "---- {test} stdout ----\n\nthread '{test}' panicked at src/lib.rs:5:9:\n{error}\n\n"
            );
        }
        text += "\nfailures:\n";
        for (test, _) in failing {
            let _ = writeln!(text, "    {test}");
        }
        text += "\n";
    }
    let (verdict, failed) = if failing.is_empty() { ("ok", 0) } else { ("FAILED", failing.len()) };
    text + &format!(
        "test result: {verdict}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n"
    )
}

const TOTAL: (&str, &str) = ("cart::tests::total", "the total is wrong: 90");
const NAME: (&str, &str) = ("user::tests::name", "no name was given");
const EMPTY: (&str, &str) = ("cart::tests::empty", "index out of bounds");

fn fixed(test: &str, fix: &str) -> (String, Option<How>, String) {
    ended(test, How::Fixed, fix)
}

fn ended(test: &str, how: How, fix: &str) -> (String, Option<How>, String) {
    (test.to_owned(), Some(how), fix.to_owned())
}

fn open(test: &str) -> (String, Option<How>, String) {
    (test.to_owned(), None, String::new())
}

#[test]
fn a_failure_an_edit_a_green_run_and_the_same_failure_again() {
    let world = World::new();
    let mut story = Story::new(&world);
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.edit("src/cart.rs", &[" fn total() {", "-    sum * 9 / 10", "+    sum", " }"]);
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -    sum * 9 / 10 +    sum")]);
    // Whoever fixed it has it before them.
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.green("cargo test");
    story.session = "session-2";
    insta::assert_snapshot!(story.red("cargo test", &[TOTAL]), @"
    Seen before and fixed 3 minutes ago: `cart::tests::total`, `panicked: the total is wrong: 90`. Turned green by this in `src/cart.rs`:
    > -sum * 9 / 10
    > +sum
    ");
    // While it stands in the context, once is enough.
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.start("resume");
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    story.start("compact");
    assert!(story.red("cargo test", &[TOTAL]).contains("cart.rs"));
    // A subagent has a context of its own.
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
    // The same test in another way is told as that.
    insta::assert_snapshot!(story.red("cargo test", &[(TOTAL.0, "attempt to divide by zero")]), @"
    Same test, another failure, fixed 2 minutes ago: `cart::tests::total`, `panicked: the total is wrong: 90`. Turned green by this in `src/cart.rs`:
    > -a
    > +b
    ");
}

#[test]
fn each_failure_has_its_own_fix() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL, NAME, EMPTY]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    // Three become one.
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
    // Fewer tests ran: a test binary before it failed.
    let error = format!("Exit code 101\n{}", output(1, &[NAME]));
    story.tell(
        "PostToolUseFailure",
        &json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" }, "error": error }),
    );
    story.edit("src/b.rs", &["-c", "+d"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [fixed(TOTAL.0, "src/b.rs -c +d; src/a.rs -a +b"), fixed(NAME.0, "src/b.rs -c +d")]
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
    assert!(said.ends_with("> +sum\nThe file no longer has it."), "{said}");
    story.edit("cart.rs", &["-    sum * 9 / 10", "+    sum"]);
    std::fs::write(&file, "fn total() {\n    sum\n}\n").unwrap();
    story.green("cargo test");
    story.session = "session-3";
    let said = story.red("cargo test", &[TOTAL]);
    assert!(said.starts_with("Seen before and fixed 1 minute ago (2 times): "), "{said}");
    assert!(said.ends_with("\nThe file still has it."), "{said}");
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
    // Of both the whole way counts, from the code that failed to the code that did not.
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
    insta::assert_snapshot!(story.red("cargo test", &[TOTAL]), @"Seen before and fixed 1 minute ago: `cart::tests::total`, `panicked: the total is wrong: 90`. Turned green by `sed -i 's/9/10/' src/cart.rs`.");
    // Whatever the text says that it writes.
    story.bash("cat > test.sh <<'EOF'\n#!/bin/sh\ncargo test\nEOF");
    story.green("cargo test");
    assert_eq!(story.episodes()[1], fixed(TOTAL.0, "cat > test.sh <<'EOF' …"));
    // In the line of the run itself.
    story.red("cargo test", &[NAME]);
    story.green("cargo add chrono && cargo test");
    assert_eq!(story.episodes()[2], fixed(NAME.0, "cargo add chrono && cargo test"));
}

#[test]
fn what_a_run_prints_into_a_file_or_does_afterwards_is_no_change() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test 2>&1 | tee out.txt", &[TOTAL]);
    story.green("cargo test 2>&1 | tee out.txt; rm out.txt");
    assert_eq!(story.episodes(), [ended(TOTAL.0, How::Flaky, "")]);
}

#[test]
fn what_does_not_compile_is_over_when_the_tests_run() {
    let world = World::new();
    let story = Story::new(&world);
    let broken = "error[E0425]: cannot find value `sum` in this scope\n --> src/cart.rs:3:5\n\n\
                  error: could not compile `ship` (lib) due to 1 previous error\n";
    story.fails("cargo test", 101, broken);
    story.edit("src/cart.rs", &["-sum", "+self.sum"]);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-* 9", "+* 10"]);
    story.green("cargo test");
    assert_eq!(
        story.episodes(),
        [fixed("", "src/cart.rs -sum +self.sum"), fixed(TOTAL.0, "src/cart.rs -* 9 +* 10")]
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
fn a_run_that_could_not_read_the_tests_says_nothing_about_them() {
    let world = World::new();
    let story = Story::new(&world);
    story.fails("pytest -q", 1, PYTEST_RED);
    story.edit("shop.py", &["-def total(items):", "+def total(:"]);
    story.fails("pytest -q", 2, PYTEST_BROKEN);
    // Not even a test was counted, nor an error.
    story.fails("pytest -q", 3, "INTERNALERROR> boom\n");
    story.edit("shop.py", &["-def total(:", "+def total(items):"]);
    story.edit("shop.py", &["-    return sum(items) * 0.9", "+    return sum(items)"]);
    story.shows("pytest -q", PYTEST_GREEN);
    let fix = "shop.py -    return sum(items) * 0.9 +    return sum(items)";
    assert!(story.episodes().contains(&fixed("tests/test_cart.py::test_total", fix)));
}

#[test]
fn the_end_of_an_output_shows_the_same_failure_and_hides_others() {
    let world = World::new();
    let mut story = Story::new(&world);
    let end =
        "FAILED tests/test_cart.py::test_total - assert 90.0 == 100\n1 failed, 2 passed in 0.03s\n";
    story.fails("pytest", 1, PYTEST_RED);
    story.shows("pytest 2>&1 | tail -2", end);
    assert_eq!(story.episodes(), [open("tests/test_cart.py::test_total")]);
    // Two failed, and one is named.
    let other =
        "FAILED tests/test_user.py::test_name - KeyError: 'name'\n2 failed, 1 passed in 0.03s\n";
    story.edit("shop/user.py", &["-a", "+b"]);
    story.shows("pytest 2>&1 | tail -2", other);
    story.edit("shop/cart.py", &["-c", "+d"]);
    story.shows("pytest", PYTEST_GREEN);
    assert_eq!(
        story.episodes()[0],
        fixed("tests/test_cart.py::test_total", "shop/cart.py -c +d; shop/user.py -a +b")
    );
    story.session = "session-2";
    let said = story.shows("pytest 2>&1 | tail -2", end);
    assert!(said.starts_with("Seen before and fixed "), "{said}");
}

#[test]
fn of_checkers_a_new_error_may_hide_the_old_ones() {
    let world = World::new();
    let story = Story::new(&world);
    let (a, b) = (
        "src/a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
        "src/b.ts(1,7): error TS2304: Cannot find name 'total'.\n",
    );
    story.fails("npx tsc --noEmit", 2, &[a, b].concat());
    story.edit("src/b.ts", &["-total", "+sum"]);
    // One of two that were known is gone.
    story.fails("npx tsc --noEmit", 2, a);
    story.edit("src/a.ts", &["-{", "+{{"]);
    story.fails("npx tsc --noEmit", 2, "src/a.ts(9,1): error TS1005: '}' expected.\n");
    story.edit("src/a.ts", &["-{{", "+{"]);
    story.edit("src/a.ts", &["-number", "+string"]);
    story.bash("npx tsc --noEmit");
    let fixes: Vec<_> = story.episodes().into_iter().map(|(_, how, fix)| (how, fix)).collect();
    assert!(fixes.contains(&(Some(How::Fixed), "src/b.ts -total +sum".into())), "{fixes:?}");
    assert!(fixes.contains(&(Some(How::Fixed), "src/a.ts -number +string".into())), "{fixes:?}");
}

#[test]
fn what_was_put_away_or_taken_away_fixed_nothing() {
    let world = World::new();
    let mut story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    story.green("git stash && cargo test");
    assert_eq!(story.episodes(), [ended(TOTAL.0, How::Flaky, "")]);
    story.bash("git stash pop");
    story.session = "session-2";
    assert_eq!(story.red("cargo test", &[TOTAL]), "");
    // Fewer tests are green than ran before.
    story.bash("rm tests/cart.rs");
    story.bash_with("cargo test", &output(4, &[]));
    assert_eq!(story.episodes()[1].1, Some(How::Removed));
}

#[test]
fn a_clock_that_was_set_back_makes_nobody_repeat_himself() {
    let world = World::new();
    let mut story = Story::new(&world);
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
fn an_edit_that_cannot_be_read_is_a_line_for_the_log() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    let response = json!({ "filePath": 1 });
    let heard =
        story.tell("PostToolUse", &json!({ "tool_name": "Edit", "tool_response": response }));
    assert_eq!((heard.stdout.as_str(), heard.faults.len()), ("", 1), "{heard:?}");
}

#[test]
fn a_file_that_was_written_as_it_was_is_no_change() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL]);
    let response = json!({ "type": "update", "filePath": story.folder.join("a.rs"), "content": "a\n", "structuredPatch": [] });
    story.tell("PostToolUse", &json!({ "tool_name": "Write", "tool_response": response }));
    story.green("cargo test");
    assert_eq!(story.episodes(), [ended(TOTAL.0, How::Flaky, "")]);
}

#[test]
fn a_run_in_another_checkout_is_that_ones() {
    let world = World::new();
    let story = Story::new(&world);
    let other = world.project("other").canonicalize().unwrap();
    git(&other, &["init", "-q"]);
    std::fs::create_dir(other.join("api")).unwrap();
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+b"]);
    // The client's shell was brought back from there.
    story.green(&format!("cd {} && cargo test", other.display()));
    assert_eq!(story.episodes(), [open(TOTAL.0)]);
    story.green(&format!("cd {}/api && cargo test", story.folder.display()));
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -a +b")]);
    // Of two packages of one checkout each has its own.
    story.red(&format!("cd {}/api && cargo test", other.display()), &[NAME]);
    story.green(&format!("cd {} && cargo test", other.display()));
    assert_eq!(story.episodes()[1], open(NAME.0));
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

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
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
    // The database is free again, but the red run is not in it yet: both wait behind it.
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
    // Behind an option, and where a text is cut.
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
        assert_eq!(story.tell(event, &fields), Heard::default(), "{event}");
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

/// What `pytest -q` prints, whole and as `tail` leaves it.
const PYTEST: &str = "F.                                                                       [100%]\n\
    =================================== FAILURES ===================================\n\
    __________________________________ test_total __________________________________\n\n    \
    def test_total():\n>       assert total([50, 50]) == 100\nE       assert 90.0 == 100\n\
    E        +  where 90.0 = total([50, 50])\n\ntest_cart.py:5: AssertionError\n\
    =========================== short test summary info ============================\n\
    FAILED test_cart.py::test_total - assert 90.0 == 100\n1 failed, 1 passed in 0.02s\n";

impl Story<'_> {
    /// A run whose exit status a pipe hides.
    fn piped(&self, command: &str, stdout: &str) -> String {
        let response = json!({ "stdout": stdout.trim_end(), "stderr": "", "interrupted": false });
        Self::said(&self.tell(
            "PostToolUse",
            &json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": response }),
        ))
    }
}

#[test]
fn a_run_of_which_only_the_end_was_looked_at_is_the_same_failure() {
    let world = World::new();
    let mut story = Story::new(&world);
    let end: String = PYTEST
        .lines()
        .rev()
        .take(2)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(story.piped("pytest -q | cat", PYTEST), "");
    story.piped("pytest -q 2>&1 | tail -2", &end);
    story.edit("cart.py", &["-    return sum(items) * 0.9", "+    return sum(items)"]);
    story.piped("pytest -q 2>&1 | tail -2", "..   [100%]\n2 passed in 0.01s");
    assert_eq!(
        story.episodes(),
        [fixed(
            "test_cart.py::test_total",
            "cart.py -    return sum(items) * 0.9 +    return sum(items)"
        )]
    );
    story.session = "session-2";
    let said = story.piped("pytest -q 2>&1 | tail -2", &end);
    assert!(said.starts_with("Seen before and fixed"), "{said}");
}

#[test]
fn what_tail_leaves_out_is_not_gone() {
    let world = World::new();
    let story = Story::new(&world);
    story.red("cargo test", &[TOTAL, NAME]);
    story.edit("src/a.rs", &["-a", "+b"]);
    let whole = output(3, &[TOTAL, NAME]);
    let end = &whole[whole.find("---- user").unwrap()..];
    story.piped("cargo test 2>&1 | tail -9", end);
    story.edit("src/b.rs", &["-c", "+d"]);
    story.green("cargo test");
    let fixes: Vec<String> = story.episodes().into_iter().map(|(_, _, fix)| fix).collect();
    assert!(fixes.iter().all(|fix| fix.contains("src/b.rs -c +d")), "{fixes:?}");
}

#[test]
fn without_git_the_folder_that_the_client_was_started_in_is_the_project() {
    let world = World::new();
    drop(world.store());
    let mut story = Story::at(&world, &world.project("ship"));
    story.started_in = Some(story.folder.clone());
    story.red("cargo test", &[TOTAL]);
    // The shell has gone on to a folder inside of it.
    story.folder = world.project("ship/src").canonicalize().unwrap();
    story.edit("cart.rs", &["-a", "+b"]);
    story.folder = world.project("ship").canonicalize().unwrap();
    story.green("cargo test");
    assert_eq!(story.episodes(), [fixed(TOTAL.0, "src/cart.rs -a +b")]);
}
