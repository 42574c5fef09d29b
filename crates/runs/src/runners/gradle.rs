//! Gradle: tasks, failed tests, and the end of the build. It prints numbers of tests only for a task with failures.

use super::java;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace, find_count, has_extension, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "gradle",
    kind: RunKind::Test,
    keywords: &[
        "\nBUILD ",
        " FAILED\n",
        "\nFAILURE: Build ",
        " tests completed",
        " test completed",
        ".java",
        ".kt",
        ".groovy",
        ".scala",
    ],
    silent_on_success: false,
    read: read_output,
};

fn read_output(text: &str) -> OutputReport {
    let mut failures: Vec<ReportedFailure> = Vec::new();
    let mut counts: Vec<TestCounts> = Vec::new();
    let mut tasks = GradleTestTasks::default();
    let mut passed = PassedTests::default();
    let mut ended: Option<bool> = None;
    let mut took = None;
    let mut said_failed = false;
    let mut wrong: Vec<&str> = Vec::new();
    let mut explaining = false;
    let mut open = false;
    for line in text.lines() {
        if let Some((good, time)) = parse_build_end(line) {
            ended = Some(good && ended != Some(false));
            took = time;
        } else if tasks.read_line(line) {
            open = false;
        } else if let Some(test) = parse_result(line, " FAILED") {
            failures.push(ReportedFailure { test: Some(test), ..ReportedFailure::default() });
            open = true;
        } else if let Some(test) = parse_result(line, " PASSED") {
            passed.add(None, || test);
            open = false;
        } else if let Some(failure) = parse_compiler_error(line) {
            failures.push(failure);
            open = false;
        } else if let Some(of_task) = parse_completed(line) {
            counts.push(of_task);
        } else if line.starts_with("FAILURE: Build ") {
            said_failed = true;
            open = false;
        } else if line == "* What went wrong:" {
            explaining = true;
        } else if line == "* Try:" {
            explaining = false;
        } else if explaining && !line.is_empty() {
            wrong.push(line);
        } else if let Some(failure) = failures.last_mut().filter(|_| open) {
            if line.is_empty() {
                open = false;
            } else {
                read_detail(failure, line);
            }
        }
    }
    let known = tasks.ran > 0 && tasks.ran == counts.len();
    let counts = known.then(|| {
        counts.iter().fold(TestCounts::default(), |sum, one| TestCounts {
            passed: sum.passed.saturating_add(one.passed),
            failed: sum.failed.saturating_add(one.failed),
            skipped: sum.skipped.saturating_add(one.skipped),
        })
    });
    let clean =
        failures.is_empty() && !said_failed && counts.is_none_or(|counts| counts.failed == 0);
    let verdict = match ended {
        Some(false) => Verdict::Failed,
        // Tests that are up to date did not run; a build without test tasks is only a build.
        Some(true) if clean && (tasks.ran > 0 || tasks.idle == 0) => Verdict::Passed,
        _ if !clean => Verdict::Failed,
        _ => Verdict::Unknown,
    };
    if verdict == Verdict::Failed {
        let mut seen = std::collections::HashSet::new();
        failures.retain(|one| {
            seen.insert((one.test.clone(), one.message.clone().filter(|_| one.test.is_none())))
        });
        if failures.is_empty() {
            // The second line has the reason; the first names only the task.
            let message = wrong.get(1).or_else(|| wrong.first());
            let message = message.map(|line| line.trim_start_matches("> ").trim().to_owned());
            failures.extend(message.map(|message| ReportedFailure {
                message: Some(message),
                ..ReportedFailure::default()
            }));
        }
    }
    OutputReport {
        verdict,
        counts,
        passed: passed.without_failed(&failures),
        failures,
        duration: took,
    }
}

/// The test tasks: those that ran, and those without work.
#[derive(Default)]
struct GradleTestTasks {
    ran: usize,
    idle: usize,
}

impl GradleTestTasks {
    /// Reads `> Task :app:test FAILED`, or `:app:test` of versions before 4.7, which name a failed task twice.
    /// Returns true if the line names a task.
    fn read_line(&mut self, line: &str) -> bool {
        let Some(task) =
            line.strip_prefix("> Task ").or(Some(line)).filter(|task| task.starts_with(':'))
        else {
            return false;
        };
        let (path, outcome) = task.split_once(' ').unwrap_or((task, ""));
        let name = path.rsplit(':').next().unwrap_or(path);
        let tests = name == "test"
            || name.ends_with("Test")
            || (name.starts_with("test") && name.ends_with("UnitTest"));
        match outcome {
            "" if tests => self.ran += 1,
            "FAILED" if tests && line.starts_with('>') => self.ran += 1,
            "UP-TO-DATE" | "NO-SOURCE" | "FROM-CACHE" | "SKIPPED" if tests => self.idle += 1,
            _ => {}
        }
        !path.contains(['/', '.'])
    }
}

/// Parses `BUILD SUCCESSFUL in 6s` into result and milliseconds.
fn parse_build_end(line: &str) -> Option<(bool, Option<u64>)> {
    let rest = line.strip_prefix("BUILD ")?;
    let (said, time) = rest.split_once(" in ")?;
    let good = match said {
        "SUCCESSFUL" => true,
        "FAILED" => false,
        _ => return None,
    };
    // `1h 2m 3s`, or `812ms`.
    let mut millis: u64 = 0;
    for part in time.split(' ') {
        let (value, unit) = split_number(part)?;
        let unit = match unit {
            "ms" => 1,
            "s" => 1000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        millis = millis.checked_add(u64::from(value).checked_mul(unit)?)?;
    }
    Some((good, Some(millis)))
}

/// Parses the test of `com.acme.LedgerTest > adds FAILED` or `… PASSED`, in the form that `--tests` accepts.
fn parse_result(line: &str, word: &str) -> Option<String> {
    let test =
        line.strip_suffix(word).filter(|test| test.contains(" > ") && !test.starts_with(' '))?;
    let parts: Vec<&str> =
        test.split(" > ").map(|part| part.split('(').next().unwrap_or(part).trim()).collect();
    Some(parts.join("."))
}

/// Parses `4 tests completed, 1 failed, 1 skipped`.
fn parse_completed(line: &str) -> Option<TestCounts> {
    let (all, rest) = split_number(line)?;
    rest.strip_prefix(" tests completed").or_else(|| rest.strip_prefix(" test completed"))?;
    let failed = find_count(line, "failed")?;
    let skipped = find_count(line, "skipped").unwrap_or(0);
    Some(TestCounts { passed: all.checked_sub(failed)?.checked_sub(skipped)?, failed, skipped })
}

/// Parses `/home/ada/Ledger.java:4: error: incompatible types`, or Kotlin's `e: file:///home/ada/A.kt:4:2 Unresolved`.
fn parse_compiler_error(line: &str) -> Option<ReportedFailure> {
    let (place, message) = match line.strip_prefix("e: ") {
        Some(rest) => rest.strip_prefix("file://").unwrap_or(rest).split_once(' ')?,
        None => line.split_once(": error: ")?,
    };
    let unnumbered = CodePlace { path: place.trim_end_matches(':'), line: None };
    let place = scan::parse_place(place).unwrap_or(unnumbered);
    let source =
        ["java", "kt", "kts", "groovy", "scala"].iter().any(|kind| has_extension(place.path, kind));
    let failure =
        ReportedFailure { message: Some(message.to_owned()), ..ReportedFailure::default() };
    source.then(|| failure.with_place(Some(place)))
}

/// Reads a line below a failed test: the short form `java.lang.AssertionError at LedgerTest.java:7`, or a whole stack.
fn read_detail(failure: &mut ReportedFailure, line: &str) {
    if failure.error.is_none()
        && let Some((class, place)) = line.trim().split_once(" at ")
        && !class.contains([' ', ':'])
    {
        failure.error = Some(class.to_owned());
        if let Some(place) = scan::parse_place(place) {
            failure.set_place(place);
        }
    } else if failure.frame.is_none() {
        java::read_stack_line(failure, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_versions() {
        let text = "> Task :compileJava\n> Task :test FAILED\n\nLedgerTest > adds() FAILED\n    \
            org.opentest4j.AssertionFailedError at LedgerTest.java:7\n\n4 tests completed, 1 failed\n\n\
            FAILURE: Build failed with an exception.\n\nBUILD FAILED in 812ms\n2 actionable tasks: 2 executed\n";
        let report = read_output(text);
        assert_eq!(report.verdict, Verdict::Failed);
        assert_eq!(report.counts.map(|counts| counts.failed), Some(1));
        assert_eq!(report.failures[0].test.as_deref(), Some("LedgerTest.adds"));
        assert_eq!(report.duration, Some(812));
        let text = "> Task :test\n\nBUILD SUCCESSFUL in 1m 2s\n2 actionable tasks: 2 executed\n";
        assert_eq!(read_output(text).verdict, Verdict::Passed);
    }
}
