//! cargo test: one section per binary, from `running 3 tests` to `test result: …`, with cargo's messages between them.
//!
//! Tests can print anything, even a summary. So a summary counts only if its numbers add up to the announced number, as
//! many results were seen before it, and it is where the harness prints it.

mod reasons;
mod section;

use reasons::build_failures;
use section::{SectionSummary, TestBinaryOutput, parse_summary};

use super::rustc;
use crate::place::with_package;
use crate::report::{OutputReader, OutputReport, PassedTests, ReportedFailure};
use crate::scan::{self, split_number};
use crate::{RunKind, TestCounts, Verdict};

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "cargo test",
    kind: RunKind::Test,
    keywords: &["\ntest result: ", "FAILED\n", "\nerror: ", "\nerror[", ": error: ", ": error["],
    silent_on_success: false,
    read: read_output,
};

fn read_output(text: &str) -> OutputReport {
    let mut sections: Vec<TestBinaryOutput> = Vec::new();
    // The binaries that cargo started, and their number since the start of the last section.
    let mut binaries: Vec<Option<String>> = Vec::new();
    let mut fresh = 0_usize;
    let mut cargo_spoke = false;
    let mut foreign = false;
    let mut said_failed = false;
    let mut stray = false;
    let mut crash = None;
    // The names in a list of a section that began before the text.
    let mut headless: Vec<&str> = Vec::new();
    // Tests that failed by their result line, for a text from which a filter removed the section starts.
    let mut filtered: Vec<&str> = Vec::new();
    let mut reruns: Vec<CargoRerun> = Vec::new();
    for line in text.lines() {
        let section = sections.last_mut().filter(|section| section.ended.is_none());
        let captured = section.as_ref().is_some_and(|section| section.is_past_results());
        if !captured {
            if let Some(announced) = parse_announced(line) {
                let binary = binaries.last().cloned().flatten().filter(|_| fresh == 1);
                sections.push(TestBinaryOutput::new(announced, binary));
                fresh = 0;
                continue;
            }
            cargo_spoke |= line.starts_with("   Compiling ") || line.starts_with("    Finished ");
            if starts_binary(line) {
                binaries.push(parse_binary(line));
                fresh += 1;
            }
            said_failed |= reports_failure(line);
            reruns.extend(CargoRerun::parse(line));
            crash = crash.or_else(|| parse_crash(line));
        }
        if let Some(section) = section {
            section.read_line(line);
            continue;
        }
        if sections.is_empty()
            && let Some(test) = parse_failed_test(line)
        {
            filtered.push(test);
        }
        foreign |= !sections.is_empty() && !is_harness_line(line);
        if let Some(summary) = parse_summary(line) {
            // The start of the text is missing. A failure counts, but a success does not: an earlier part may have
            // failed.
            stray = true;
            if saturating_len(&headless) != summary.counts.failed {
                headless.clear();
            }
            said_failed |= !summary.ok && sections.is_empty();
        } else if sections.is_empty() && !stray {
            match line.strip_prefix("    ") {
                Some(name) if !name.starts_with(' ') => headless.push(name),
                _ if line == "failures:" => headless.clear(),
                _ => {}
            }
        }
    }

    let compile = if text.lines().any(rustc::reports_uncompiled) || (sections.is_empty() && !stray)
    {
        rustc::collect_errors(text.lines())
    } else {
        Vec::new()
    };
    let started = saturating_len(&binaries);
    if binaries.len() == sections.len() {
        // Cargo's messages may all come before or after the output of the binaries.
        for (section, binary) in sections.iter_mut().zip(binaries) {
            section.binary = binary;
        }
    }
    name_packages(&mut sections, &reruns);
    let complete = sections.iter().all(|section| section.ended.is_some());
    let said_failed = said_failed
        || !compile.is_empty()
        || (sections.is_empty() && !filtered.is_empty())
        || sections.iter().any(|section| section.ended.is_some_and(|summary| !summary.ok))
        || sections.last().is_some_and(TestBinaryOutput::has_certain_failure);
    // Cargo announces each binary, unless it is quiet or its messages went elsewhere. In that case, a line between the
    // sections belongs to a binary with a custom harness.
    let all = started == saturating_len(&sections) || (started == 0 && !cargo_spoke && !foreign);
    let counts = (complete && all && !stray && !sections.is_empty() && !ends_in_next_section(text))
        .then(|| total_counts(&sections));
    let verdict = match counts {
        _ if said_failed => Verdict::Failed,
        Some(counts) if counts.passed > 0 => Verdict::Passed,
        _ => Verdict::Unknown,
    };
    let failures = if verdict == Verdict::Failed {
        let headless = match stray && !headless.is_empty() {
            true => headless,
            false if sections.is_empty() => filtered,
            false => Vec::new(),
        };
        let mut failures = build_failures(text, &sections, &headless, compile, crash);
        if let [rerun] = reruns.as_slice() {
            for failure in failures.iter_mut().filter(|failure| failure.test.is_some()) {
                failure.scope = failure.scope.take().or_else(|| rerun.scope());
            }
        }
        failures
    } else {
        Vec::new()
    };
    let took = sections.iter().filter_map(|section| section.ended).map(|summary| summary.millis);
    let mut passed = PassedTests::default();
    for section in &sections {
        for test in &section.passed {
            passed.add(section.binary.as_deref(), || (*test).to_owned());
        }
    }
    OutputReport {
        verdict,
        counts,
        passed: passed.without_failed(&failures),
        failures,
        duration: counts.map(|_| took.fold(0, u64::saturating_add)),
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

fn total_counts(sections: &[TestBinaryOutput]) -> TestCounts {
    let ended = sections.iter().filter_map(|section| section.ended);
    ended.fold(TestCounts::default(), |sum, SectionSummary { counts, .. }| TestCounts {
        passed: sum.passed.saturating_add(counts.passed),
        failed: sum.failed.saturating_add(counts.failed),
        skipped: sum.skipped.saturating_add(counts.skipped),
    })
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
