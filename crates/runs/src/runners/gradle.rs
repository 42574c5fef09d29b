//! Gradle: tasks, failed tests, and the end of the build. It prints numbers of tests only for a task with failures.

use super::count_sums::sum_counts;
use super::java;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, CodePlace, find_count, has_extension, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "gradle",
    RunKind::Test,
    &[
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
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut output = GradleOutput::default();
    for line in text.lines() {
        output.read_line(line);
    }
    output.finish()
}

/// The output of a Gradle build, as far as it was read.
#[derive(Default)]
struct GradleOutput<'a> {
    tasks: GradleTestTasks,
    /// Numbers of tests, one for each task with failures.
    task_counts: Vec<TestCounts>,
    failures: Vec<ReportedFailure>,
    passed: PassedTests,
    /// True if the stack of the last failure follows.
    in_stack: bool,
    has_failure_line: bool,
    /// The lines below `* What went wrong:`.
    explanation_lines: Vec<&'a str>,
    in_explanation: bool,
    /// Result of the build; false if one of several builds failed.
    succeeded: Option<bool>,
    duration: Option<u64>,
}

impl<'a> GradleOutput<'a> {
    fn read_line(&mut self, line: &'a str) {
        if let Some((succeeded, duration)) = parse_build_end(line) {
            self.succeeded = Some(succeeded && self.succeeded != Some(false));
            self.duration = duration;
        } else if self.tasks.read_line(line) {
            self.in_stack = false;
        } else if let Some(test) = parse_result(line, " FAILED") {
            self.failures.push(ReportedFailure { test: Some(test), ..ReportedFailure::default() });
            self.in_stack = true;
        } else if let Some(test) = parse_result(line, " PASSED") {
            self.passed.add(None, || test);
            self.in_stack = false;
        } else if let Some(failure) = parse_compiler_error(line) {
            self.failures.push(failure);
            self.in_stack = false;
        } else if let Some(counts) = parse_completed(line) {
            self.task_counts.push(counts);
        } else if line.starts_with("FAILURE: Build ") {
            self.has_failure_line = true;
            self.in_stack = false;
        } else if line == "* What went wrong:" {
            self.in_explanation = true;
        } else if line == "* Try:" {
            self.in_explanation = false;
        } else if self.in_explanation && !line.is_empty() {
            self.explanation_lines.push(line);
        } else if let Some(failure) = self.failures.last_mut().filter(|_| self.in_stack) {
            if line.is_empty() {
                self.in_stack = false;
            } else {
                read_detail(failure, line);
            }
        }
    }

    fn finish(mut self) -> OutputReport {
        let tasks = &self.tasks;
        let is_counted = tasks.ran > 0 && tasks.ran == self.task_counts.len();
        let counts = is_counted.then(|| sum_counts(self.task_counts.iter().copied()));
        let has_failures = !self.failures.is_empty()
            || self.has_failure_line
            || counts.is_some_and(|counts| counts.failed > 0);
        let verdict = match self.succeeded {
            Some(false) => Verdict::Failed,
            _ if has_failures => Verdict::Failed,
            // Tests that are up to date did not run; a build without test tasks is only a build.
            Some(true) if tasks.ran > 0 || tasks.idle == 0 => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        if verdict == Verdict::Failed {
            java::keep_each_failure_once(&mut self.failures);
            if self.failures.is_empty() {
                self.failures.extend(self.explained_failure());
            }
        }
        OutputReport {
            verdict,
            counts,
            passed: self.passed.without_failed(&self.failures),
            failures: self.failures,
            duration: self.duration,
        }
    }

    /// Returns the failure that the explanation is about. Its second line has the reason; the first names only the
    /// task.
    fn explained_failure(&self) -> Option<ReportedFailure> {
        let line = self.explanation_lines.get(1).or_else(|| self.explanation_lines.first())?;
        let message = line.trim_start_matches("> ").trim().to_owned();
        Some(ReportedFailure { message: Some(message), ..ReportedFailure::default() })
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
