//! cargo test: one section per binary, from `running 3 tests` to `test result: …`, with cargo's messages between them.
//!
//! Tests can print anything, even a summary. So a summary counts only if its numbers add up to the announced number, as
//! many results were seen before it, and it is where the harness prints it.

mod reasons;
mod section;

use reasons::build_failures;
use section::{SectionSummary, TestBinaryOutput, parse_summary};

use super::count_sums::sum_counts;
use super::rustc;
use crate::place::with_package;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "cargo test",
    RunKind::Test,
    &["\ntest result: ", "FAILED\n", "\nerror: ", "\nerror[", ": error: ", ": error["],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut output = CargoTestOutput::default();
    for line in text.lines() {
        output.read_line(line);
    }
    output.finish(text)
}

/// The output of `cargo test`, as far as it was read.
#[expect(clippy::struct_excessive_bools, reason = "each is an observation of its own")]
#[derive(Default)]
struct CargoTestOutput<'a> {
    sections: Vec<TestBinaryOutput<'a>>,
    /// The binaries that cargo started.
    binaries: Vec<Option<String>>,
    /// Number of binaries that cargo started since the start of the last section.
    new_binaries: usize,
    /// True if cargo compiled something or finished compiling.
    has_cargo_messages: bool,
    /// True if a line after a section is printed by neither the harness nor cargo.
    has_foreign_lines: bool,
    /// True if cargo or a summary without its section reports a failure.
    reports_failure: bool,
    /// True if there is a summary without its section: the start of the text is missing.
    has_headless_summary: bool,
    /// The names in a list of a section that began before the text.
    headless_failures: Vec<&'a str>,
    /// Tests that failed by their result line, for a text from which a filter removed the section starts.
    filtered_failures: Vec<&'a str>,
    /// The reason why a binary ended without a summary.
    crash: Option<&'a str>,
    reruns: Vec<CargoRerun<'a>>,
}

impl<'a> CargoTestOutput<'a> {
    fn read_line(&mut self, line: &'a str) {
        let open = self.sections.last().filter(|section| section.ended.is_none());
        let is_captured = open.is_some_and(TestBinaryOutput::is_past_results);
        if !is_captured {
            if let Some(announced) = parse_announced(line) {
                let binary = self.binaries.last().cloned().flatten();
                let binary = binary.filter(|_| self.new_binaries == 1);
                self.sections.push(TestBinaryOutput::new(announced, binary));
                self.new_binaries = 0;
                return;
            }
            self.read_cargo_message(line);
        }
        match self.sections.last_mut().filter(|section| section.ended.is_none()) {
            Some(section) => section.read_line(line),
            None => self.read_line_between_sections(line),
        }
    }

    fn read_cargo_message(&mut self, line: &'a str) {
        self.has_cargo_messages |=
            line.starts_with("   Compiling ") || line.starts_with("    Finished ");
        if starts_binary(line) {
            self.binaries.push(parse_binary(line));
            self.new_binaries += 1;
        }
        self.reports_failure |= reports_failure(line);
        self.reruns.extend(CargoRerun::parse(line));
        self.crash = self.crash.or_else(|| parse_crash(line));
    }

    fn read_line_between_sections(&mut self, line: &'a str) {
        let is_before_sections = self.sections.is_empty();
        if is_before_sections && let Some(test) = parse_failed_test(line) {
            self.filtered_failures.push(test);
        }
        self.has_foreign_lines |= !is_before_sections && !is_harness_line(line);
        if let Some(summary) = parse_summary(line) {
            // The start of the text is missing. A failure counts, but a success does not: an earlier part may have
            // failed.
            self.has_headless_summary = true;
            if saturating_len(&self.headless_failures) != summary.counts.failed {
                self.headless_failures.clear();
            }
            self.reports_failure |= !summary.ok && is_before_sections;
        } else if is_before_sections && !self.has_headless_summary {
            match line.strip_prefix("    ") {
                Some(name) if !name.starts_with(' ') => self.headless_failures.push(name),
                _ if line == "failures:" => self.headless_failures.clear(),
                _ => {}
            }
        }
    }

    fn finish(mut self, text: &str) -> OutputReport {
        let compile_errors = self.collect_compile_errors(text);
        self.name_binaries();
        let counts = self.complete_counts(text);
        let verdict = match counts {
            _ if !compile_errors.is_empty() || self.has_failed() => Verdict::Failed,
            Some(counts) if counts.passed > 0 => Verdict::Passed,
            _ => Verdict::Unknown,
        };
        let failures = match verdict {
            Verdict::Failed => self.collect_failures(text, compile_errors),
            _ => Vec::new(),
        };
        let mut passed = PassedTests::default();
        for section in &self.sections {
            for test in &section.passed {
                passed.add(section.binary.as_deref(), || (*test).to_owned());
            }
        }
        let millis = self.summaries().map(|summary| summary.millis);
        OutputReport {
            verdict,
            counts,
            passed: passed.without_failed(&failures),
            duration: counts.map(|_| millis.fold(0, u64::saturating_add)),
            failures,
        }
    }

    fn summaries(&self) -> impl Iterator<Item = SectionSummary> {
        self.sections.iter().filter_map(|section| section.ended)
    }

    fn collect_compile_errors(&self, text: &str) -> Vec<ReportedFailure> {
        let has_no_tests = self.sections.is_empty() && !self.has_headless_summary;
        if has_no_tests || text.lines().any(rustc::reports_uncompiled) {
            rustc::collect_errors(text.lines())
        } else {
            Vec::new()
        }
    }

    /// Names the binaries of the sections by the messages of cargo, which may all come before or after their output.
    fn name_binaries(&mut self) {
        if self.binaries.len() == self.sections.len() {
            for (section, binary) in self.sections.iter_mut().zip(&mut self.binaries) {
                section.binary = binary.take();
            }
        }
        name_packages(&mut self.sections, &self.reruns);
    }

    /// Returns the numbers of tests if the text has the output of all binaries.
    fn complete_counts(&self, text: &str) -> Option<TestCounts> {
        // Cargo announces each binary, unless it is quiet or its messages went elsewhere. In that case, a line between
        // the sections belongs to a binary with a custom harness.
        let is_quiet =
            self.binaries.is_empty() && !self.has_cargo_messages && !self.has_foreign_lines;
        let is_complete = !self.sections.is_empty()
            && self.sections.iter().all(|section| section.ended.is_some())
            && (self.binaries.len() == self.sections.len() || is_quiet)
            && !self.has_headless_summary
            && !ends_in_next_section(text);
        is_complete.then(|| sum_counts(self.summaries().map(|summary| summary.counts)))
    }

    fn has_failed(&self) -> bool {
        self.reports_failure
            || (self.sections.is_empty() && !self.filtered_failures.is_empty())
            || self.summaries().any(|summary| !summary.ok)
            || self.sections.last().is_some_and(TestBinaryOutput::has_certain_failure)
    }

    fn collect_failures(
        &self,
        text: &str,
        compile_errors: Vec<ReportedFailure>,
    ) -> Vec<ReportedFailure> {
        let headless = if self.has_headless_summary && !self.headless_failures.is_empty() {
            self.headless_failures.as_slice()
        } else if self.sections.is_empty() {
            self.filtered_failures.as_slice()
        } else {
            &[]
        };
        let mut failures =
            build_failures(text, &self.sections, headless, compile_errors, self.crash);
        if let [rerun] = self.reruns.as_slice() {
            for failure in failures.iter_mut().filter(|failure| failure.test.is_some()) {
                failure.scope = failure.scope.take().or_else(|| rerun.scope());
            }
        }
        failures
    }
}

/// Returns true if a line between sections is printed by the harness or cargo.
fn is_harness_line(line: &str) -> bool {
    line.is_empty()
        || line.starts_with("error")
        || line.starts_with("all doctests ran in ")
        || scan::is_timing(line)
}

/// Returns true if cargo announces the start of a binary, even in a truncated line.
fn starts_binary(line: &str) -> bool {
    line.starts_with("     Running ") || line.starts_with("   Doc-tests ")
}

/// Parses the name of the binary in `     Running unittests src/lib.rs (target/debug/deps/shop-0123456789abcdef)`, or
/// `doc shop` for `   Doc-tests shop`.
fn parse_binary(line: &str) -> Option<String> {
    if let Some(name) = line.strip_prefix("   Doc-tests ") {
        return Some(format!("doc {name}"));
    }
    let rest = line.strip_prefix("     Running ")?;
    // Before cargo 1.56 the line had only the path.
    let path = match rest.rsplit_once('(') {
        Some((_, path)) => path.strip_suffix(')')?,
        None => rest,
    };
    let (name, _) = path.rsplit(['/', '\\']).next()?.rsplit_once('-')?;
    Some(name.to_owned())
}

/// Returns true if the text ends within the first line of another section, which follows a blank line, or within the
/// name of its binary.
fn ends_in_next_section(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let starts = ["running ", "     Running ", "   Doc-tests "];
    let begun = !last.is_empty() && starts.iter().any(|start| start.starts_with(last));
    let unnamed = last.starts_with("     Running ") && !last.ends_with(')');
    let begun = begun || last.starts_with("running ");
    text.ends_with("\n\n\n") || begun || unnamed
}

/// Parses the number of `running 5 tests`.
fn parse_announced(line: &str) -> Option<u32> {
    let (announced, rest) = split_number(line.strip_prefix("running ")?)?;
    matches!(rest, " test" | " tests").then_some(announced)
}

/// Returns true if cargo reports a failure.
fn reports_failure(line: &str) -> bool {
    rustc::reports_uncompiled(line)
        || line.starts_with("error: test failed, to rerun pass `")
        || line.starts_with("error: doctest failed, to rerun pass `")
}

/// Parses the test of `test cart::total ... FAILED`, or of `cart::total --- FAILED` in a quiet run.
fn parse_failed_test(line: &str) -> Option<&str> {
    let loud = || line.strip_prefix("test ")?.strip_suffix(" ... FAILED");
    let test = line.strip_suffix(" --- FAILED").or_else(loud)?;
    // `test src/lib.rs - add (line 3)` is a doc test.
    (!test.contains(' ') || test.contains(" - ")).then_some(test)
}

/// The arguments with which cargo suggests to run one test binary again: `-p api --test retries`.
struct CargoRerun<'a> {
    package: Option<&'a str>,
    /// The binary; None for the unit tests of a library and for doc tests.
    binary: Option<&'a str>,
}

impl<'a> CargoRerun<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        // A run that continued after a failure lists them at its end.
        let listed = || line.strip_prefix("    `").filter(|rest| rest.starts_with('-'));
        let said = line.strip_prefix("error: test failed, to rerun pass `").or_else(listed)?;
        let words: Vec<&str> = said.strip_suffix('`')?.split(' ').collect();
        let value = |flag: &str| {
            let at = words.iter().position(|word| *word == flag)?;
            words.get(at + 1).copied()
        };
        Some(Self { package: value("-p"), binary: value("--test").or_else(|| value("--bin")) })
    }

    fn scope(&self) -> Option<String> {
        match (self.package, self.binary) {
            (Some(package), Some(binary)) => Some(with_package(binary, package)),
            (None, Some(binary)) => Some(binary.to_owned()),
            (package, None) => package.map(|package| package.replace('-', "_")),
        }
    }
}

/// Adds the packages that cargo names to the failed binaries, as two packages may have binaries of the same name.
fn name_packages(sections: &mut [TestBinaryOutput<'_>], reruns: &[CargoRerun<'_>]) {
    let mut reruns: Vec<&CargoRerun<'_>> = reruns.iter().collect();
    for section in sections {
        let Some(binary) = &section.binary else { continue };
        if section.ended.is_none_or(|summary| summary.ok) {
            continue;
        }
        if let Some(at) = reruns.iter().position(|rerun| rerun.binary == Some(binary)) {
            let package = reruns.remove(at).package;
            section.binary = package
                .map(|package| with_package(binary, package))
                .or_else(|| section.binary.take());
        }
    }
}

/// Parses the reason why a test binary ended without a summary: `signal: 6, SIGABRT: process abort signal`.
fn parse_crash(line: &str) -> Option<&str> {
    let (_, how) =
        line.strip_prefix("  process didn't exit successfully: `")?.rsplit_once("` (")?;
    how.strip_suffix(')')
}

fn saturating_len<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headless_summary_is_no_success() {
        let line = "test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(read_output(line).verdict, Verdict::Unknown);
        let line = "test result: FAILED. 4 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        assert_eq!(read_output(line).verdict, Verdict::Failed);
    }
}
