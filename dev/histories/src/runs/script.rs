//! The output of vitest and jest as an agent gets it, of `tsc` and of `eslint`.
//!
//! Both test runners detect an agent by its environment and then print only the failures.

use std::collections::BTreeMap;

use super::{
    CheckFailure, CheckSelection, CheckTool, FailedCheck, LintFinding, RunConditions, RunReport,
    RunStyle,
};
use crate::project::Check;

/// A test file with its tests.
struct TestSuiteFile {
    file: String,
    /// Tests that run.
    tests: Vec<usize>,
    /// Tests that a filter or a mark leaves out.
    skipped: Vec<usize>,
}

struct ScriptRun<'a> {
    conditions: &'a RunConditions<'a>,
    failures: BTreeMap<usize, CheckFailure>,
    report: RunReport,
}

impl<'a> ScriptRun<'a> {
    fn new(conditions: &'a RunConditions<'a>) -> Self {
        Self { conditions, failures: conditions.failures(), report: RunReport::default() }
    }

    fn check(&self, test: usize) -> &'a Check {
        &self.conditions.project.checks[test]
    }

    fn name(&self, test: usize) -> &str {
        self.conditions.state.name(self.conditions.project, test).unwrap_or_default()
    }

    /// Returns the names of a test and its groups, outermost first, joined by a sign.
    fn full_name(&self, test: usize, sign: &str) -> String {
        match &self.check(test).group {
            Some(group) => format!("{group}{sign}{}", self.name(test)),
            None => self.name(test).to_owned(),
        }
    }

    /// Returns the test files that a command selects; a word matches a part of a path.
    fn suites(&self, selection: &CheckSelection) -> Vec<TestSuiteFile> {
        let mut suites: Vec<TestSuiteFile> = Vec::new();
        let wide = CheckSelection { keyword: None, tests: Vec::new(), ..selection.clone() };
        let mut files: Vec<String> =
            selection.tests.iter().map(|test| self.check(*test).file.clone()).collect();
        files.sort_unstable();
        for test in self.conditions.selected(&wide, |_, _, _| true) {
            let file = &self.check(test).file;
            if !files.is_empty() && !files.contains(file) {
                continue;
            }
            let name = self.full_name(test, " ");
            let asked = selection.keyword.as_ref().is_none_or(|keyword| name.contains(keyword))
                && (selection.tests.is_empty()
                    || selection.tests.iter().any(|asked| name.contains(self.name(*asked))));
            let runs = asked && self.conditions.state.skip_reason(test).is_none();
            if suites.last().is_none_or(|suite| suite.file != *file) {
                suites.push(TestSuiteFile {
                    file: file.clone(),
                    tests: Vec::new(),
                    skipped: Vec::new(),
                });
            }
            let Some(suite) = suites.last_mut() else { continue };
            if runs {
                suite.tests.push(test);
            } else {
                suite.skipped.push(test);
            }
        }
        suites
    }

    fn failed_of(&self, suite: &TestSuiteFile) -> Vec<usize> {
        suite.tests.iter().copied().filter(|test| self.failures.contains_key(test)).collect()
    }

    /// Returns the location of a failure: printed file, line, column, and function name.
    fn place(&self, test: usize) -> (String, usize, usize, Option<String>) {
        let failure = &self.failures[&test];
        if let Some(frame) = failure.frames.last() {
            let region = format!("{}/body", frame.unit);
            let text = self.conditions.line_text(&region, frame.line);
            let file = self.conditions.file_of(&region);
            let column = text.find(&frame.mark).unwrap_or_default() + 1;
            // `throw new Error` is reported at the construction of the error.
            let line = self.conditions.line_number(&region, frame.line);
            (file, line, column, Some(frame.function.clone()))
        } else {
            let (file, line, column) = self.test_place(test);
            (file, line, column, None)
        }
    }

    fn test_place(&self, test: usize) -> (String, usize, usize) {
        let failure = &self.failures[&test];
        let check = self.check(test);
        let text = self.conditions.line_text(&check.region, failure.line);
        let column = text.find(&failure.mark).unwrap_or_default() + 1;
        (check.file.clone(), self.conditions.line_number(&check.region, failure.line), column)
    }

    fn file_lines(&self, file: &str) -> Vec<String> {
        let text = self.conditions.state.tree.text(file).unwrap_or_default();
        text.split('\n').map(str::to_owned).collect()
    }
}

pub(super) fn execute_vitest(
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut run = ScriptRun::new(conditions);
    let suites = run.suites(selection);
    let mut dice = conditions.dice();
    let mut milliseconds = || 1 + dice.below(9);
    let root = &conditions.root;
    let folder = &conditions.folder;
    let here = if folder.is_empty() { root.clone() } else { format!("{root}/{folder}") };
    run.report.out("");
    run.report.out(format!(" RUN  v4.1.12 {here}"));
    run.report.out("");
    let mut failed = Vec::new();
    let (mut passed_suites, mut skipped_suites, mut failed_suites) = (0, 0, 0);
    let (mut passed, mut skipped) = (0, 0);
    let mut shown_suites = 0;
    for suite in &suites {
        let of = run.failed_of(suite);
        skipped += suite.skipped.len();
        passed += suite.tests.len() - of.len();
        for test in suite.tests.iter().filter(|test| !of.contains(test)) {
            run.report.passed.insert(*test);
        }
        let all = suite.tests.len() + suite.skipped.len();
        let count = format!("{all} test{}", if all == 1 { "" } else { "s" });
        let file = conditions.shown(&suite.file);
        let left_out = match suite.skipped.len() {
            0 => String::new(),
            skipped => format!(" | {skipped} skipped"),
        };
        if of.is_empty() && suite.tests.is_empty() {
            skipped_suites += 1;
            if style.verbose {
                run.report.out(format!(" ↓ {file} ({count}{left_out})"));
                shown_suites += 1;
            }
            continue;
        }
        if of.is_empty() {
            passed_suites += 1;
            if style.verbose {
                run.report.out(format!(" ✓ {file} ({count}{left_out}) {}ms", milliseconds()));
                shown_suites += 1;
            }
            continue;
        }
        failed_suites += 1;
        shown_suites += 1;
        run.report.out(format!(
            " ❯ {file} ({count} | {} failed{left_out}) {}ms",
            of.len(),
            milliseconds()
        ));
        let mut listed = [&suite.tests[..], &suite.skipped[..]].concat();
        listed.sort_by_key(|test| conditions.line_number(&run.check(*test).region, 0));
        for test in &listed {
            let indent = if run.check(*test).group.is_some() { "     " } else { "   " };
            let name = run.name(*test).to_owned();
            if of.contains(test) {
                run.report.out(format!("{indent}× {name} {}ms", milliseconds()));
            } else if suite.skipped.contains(test) {
                if style.verbose {
                    run.report.out(format!("{indent}↓ {name}"));
                }
            } else if style.verbose {
                run.report.out(format!("{indent}✓ {name} {}ms", milliseconds()));
            }
        }
        failed.extend(of);
    }
    if suites.is_empty() {
        run.report.err("No test files found, exiting with code 1");
        run.report.exit = 1;
        return run.report;
    }
    if shown_suites > 0 || !style.verbose {
        run.report.out("");
    }
    if !failed.is_empty() {
        run.report.err("");
        let title = format!(" Failed Tests {} ", failed.len());
        run.report.err(format!("⎯⎯⎯⎯⎯⎯⎯{title}⎯⎯⎯⎯⎯⎯⎯"));
        run.report.err("");
        for (place, test) in failed.iter().enumerate() {
            run.vitest_failure(*test);
            let mark = format!("[{}/{}]⎯", place + 1, failed.len());
            let width = 30_usize.saturating_sub(mark.chars().count());
            run.report.err(format!("{}{mark}", "⎯".repeat(width)));
            run.report.err("");
        }
    }
    let counts = |parts: &[(usize, &str)]| {
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        parts.join(" | ")
    };
    let files = counts(&[
        (failed_suites, "failed"),
        (passed_suites, "passed"),
        (skipped_suites, "skipped"),
    ]);
    run.report.out(format!(" Test Files  {files} ({})", suites.len()));
    let tests = counts(&[(failed.len(), "failed"), (passed, "passed"), (skipped, "skipped")]);
    let summary = format!("      Tests  {tests} ({})", failed.len() + passed + skipped);
    run.report.summary.push(summary.clone());
    run.report.out(summary);
    run.report.out("   Start at  14:01:51");
    run.report.out(format!(
        "   Duration  {}ms (transform {}ms, setup 0ms, import {}ms, tests {}ms, environment 0ms)",
        200 + milliseconds() * 11,
        20 + milliseconds(),
        30 + milliseconds(),
        milliseconds()
    ));
    run.report.out("");
    run.report.exit = i32::from(!failed.is_empty());
    run.report
}

impl ScriptRun<'_> {
    fn vitest_failure(&mut self, test: usize) {
        let failure = self.failures[&test].clone();
        let check = self.check(test);
        let shown = self.conditions.shown(&check.file).to_owned();
        let title = format!(" FAIL  {shown} > {}", self.full_name(test, " > "));
        self.report.err(title.clone());
        let error = match &failure.values {
            Some((got, want)) => {
                let plain = |text: &str| match text.strip_prefix('"') {
                    Some(rest) => format!("'{}'", rest.trim_end_matches('"')),
                    None => text.to_owned(),
                };
                format!(
                    "AssertionError: expected {} to be {} // Object.is equality",
                    plain(got),
                    plain(want)
                )
            }
            None => format!("{}: {}", failure.error, failure.message[0]),
        };
        self.report.err(error.clone());
        if let Some((got, want)) = &failure.values {
            self.report.err("");
            if got.starts_with('"') {
                self.report.err(format!("Expected: {want}"));
                self.report.err(format!("Received: {got}"));
            } else {
                self.report.err("- Expected");
                self.report.err("+ Received");
                self.report.err("");
                self.report.err(format!("- {want}"));
                self.report.err(format!("+ {got}"));
            }
            self.report.err("");
        }
        let (file, line, column, function) = self.place(test);
        let at = self.conditions.shown(&file).to_owned();
        let function = function.map_or(String::new(), |name| format!("{name} "));
        let place = format!(" ❯ {function}{at}:{line}:{column}");
        self.report.err(place.clone());
        let lines = self.file_lines(&file);
        for number in line.saturating_sub(2).max(1)..=(line + 2).min(lines.len()) {
            let text = cut_extract(&lines[number - 1]);
            self.report.err(format!("{number:>7}| {text}").trim_end().to_owned());
            if number == line {
                self.report.err(format!("       | {}^", " ".repeat(column - 1)));
            }
        }
        if !failure.frames.is_empty() {
            let (_, line, column) = self.test_place(test);
            self.report.err(format!(" ❯ {shown}:{line}:{column}"));
        }
        self.report.err("");
        self.report.failed.push(FailedCheck { check: test, shown_by: vec![vec![title]], error });
    }
}

/// Cuts a line as vitest does in its extracts.
fn cut_extract(line: &str) -> String {
    const EXTRACT_COLUMNS: usize = 71;
    if line.chars().count() <= EXTRACT_COLUMNS {
        return line.to_owned();
    }
    line.chars().take(EXTRACT_COLUMNS - 1).collect::<String>() + "…"
}

pub(super) fn execute_jest(
    selection: &CheckSelection,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut run = ScriptRun::new(conditions);
    let suites = run.suites(selection);
    let mut dice = conditions.dice();
    let (mut failed, mut passed, mut skipped) = (0, 0, 0);
    let (mut failed_suites, mut passed_suites, mut skipped_suites) = (0, 0, 0);
    for suite in &suites {
        let of = run.failed_of(suite);
        skipped += suite.skipped.len();
        failed += of.len();
        passed += suite.tests.len() - of.len();
        for test in suite.tests.iter().filter(|test| !of.contains(test)) {
            run.report.passed.insert(*test);
        }
        if suite.tests.is_empty() {
            skipped_suites += 1;
        } else if of.is_empty() {
            passed_suites += 1;
        } else {
            failed_suites += 1;
            run.report.err(format!("FAIL {}", conditions.shown(&suite.file)));
            for test in of {
                run.jest_failure(test);
            }
        }
    }
    if suites.is_empty() {
        run.report.out("No tests found, exiting with code 1");
        run.report.exit = 1;
        return run.report;
    }
    if suites.len() > 1 {
        run.report.err("");
    }
    let counts = |parts: &[(usize, &str)]| {
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}, "))
            .collect();
        parts.concat()
    };
    let all = suites.len();
    let total = if skipped_suites > 0 {
        format!("{} of {all}", all - skipped_suites)
    } else {
        all.to_string()
    };
    run.report.err(format!(
        "Test Suites: {}{total} total",
        counts(&[
            (failed_suites, "failed"),
            (skipped_suites, "skipped"),
            (passed_suites, "passed"),
        ])
    ));
    let tests = format!(
        "Tests:       {}{} total",
        counts(&[(failed, "failed"), (skipped, "skipped"), (passed, "passed")]),
        failed + passed + skipped
    );
    run.report.summary.push(tests.clone());
    run.report.err(tests);
    run.report.err("Snapshots:   0 total");
    run.report.err(format!("Time:        0.{} s, estimated 1 s", 210 + dice.below(700)));
    let matching = match (&selection.files[..], &selection.tests[..], &selection.package) {
        ([], [], None) => String::new(),
        ([], [], Some(package)) => {
            format!(" matching {}", conditions.project.packages[*package].folder)
        }
        ([], [test, ..], _) => {
            format!(" matching {}", conditions.shown(&conditions.project.checks[*test].file))
        }
        (files, _, _) => {
            let files: Vec<&str> = files.iter().map(|file| conditions.shown(file)).collect();
            format!(" matching {}", files.join("|"))
        }
    };
    let name = selection
        .keyword
        .clone()
        .or_else(|| selection.tests.first().map(|test| run.name(*test).to_owned()));
    let named = name.map_or(String::new(), |name| format!(" with tests matching \"{name}\""));
    run.report.err(format!("Ran all test suites{matching}{named}."));
    run.report.exit = i32::from(failed > 0);
    run.report
}

impl ScriptRun<'_> {
    fn jest_failure(&mut self, test: usize) {
        let failure = self.failures[&test].clone();
        let title = format!("  ● {}", self.full_name(test, " › "));
        self.report.err(title.clone());
        self.report.err("");
        let error = if let Some((got, want)) = &failure.values {
            self.report.err("    expect(received).toBe(expected) // Object.is equality");
            self.report.err("");
            self.report.err(format!("    Expected: {want}"));
            self.report.err(format!("    Received: {got}"));
            format!("Received: {got}")
        } else {
            let error = if failure.error == "Error" {
                failure.message[0].clone()
            } else {
                format!("{}: {}", failure.error, failure.message[0])
            };
            self.report.err(format!("    {error}"));
            error
        };
        self.report.err("");
        let (file, line, column, function) = self.place(test);
        let lines = self.file_lines(&file);
        let (first, last) = (line.saturating_sub(2).max(1), (line + 3).min(lines.len()));
        let width = last.to_string().len();
        for number in first..=last {
            let sign = if number == line { '>' } else { ' ' };
            let text = format!("    {sign} {number:>width$} | {}", lines[number - 1]);
            self.report.err(text.trim_end().to_owned());
            if number == line {
                let gap = " ".repeat(width + 7);
                self.report.err(format!("{gap}| {}^", " ".repeat(column - 1)));
            }
        }
        self.report.err("");
        let at = self.conditions.shown(&file).to_owned();
        let (test_file, test_line, test_column) = self.test_place(test);
        let test_at = format!("{}:{test_line}:{test_column}", self.conditions.shown(&test_file));
        let place = if let Some(function) = function {
            // The printed name is that of the failing call, if the source map has it.
            let frame = &failure.frames[0];
            let called = match frame.mark.strip_prefix("new ") {
                Some(_) => function.clone(),
                None => frame.mark.clone(),
            };
            let place = format!("      at {called} ({at}:{line}:{column})");
            self.report.err(place.clone());
            self.report.err(format!("      at Object.{function} ({test_at})"));
            place
        } else {
            let place = format!("      at Object.toBe ({test_at})");
            self.report.err(place.clone());
            place
        };
        self.report.err("");
        self.report.failed.push(FailedCheck {
            check: test,
            shown_by: vec![vec![title, place]],
            error,
        });
    }
}

/// Runs `tsc` or `eslint`.
pub(super) fn execute_script_lint(
    tool: CheckTool,
    selection: &CheckSelection,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut report = RunReport::default();
    let mut findings = conditions.lint_findings(tool, selection, &mut report);
    findings.sort_by_key(|finding| finding.file.clone());
    for LintFinding { check, file: path, line, column, failure, .. } in &findings {
        let file = conditions.shown(path);
        let (code, message) = (&failure.error, &failure.message[0]);
        let shown_by = if tool == CheckTool::Tsc {
            let text = format!("{file}({line},{column}): error {code}: {message}");
            report.out(text.clone());
            vec![text]
        } else {
            let path = format!("{}/{path}", conditions.root);
            let text = format!("  {line}:{column}  error  {message}  {code}");
            report.out("");
            report.out(path.clone());
            report.out(text.clone());
            vec![path, text]
        };
        report.failed.push(FailedCheck {
            check: *check,
            shown_by: vec![shown_by],
            error: message.clone(),
        });
    }
    if tool == CheckTool::Eslint && !findings.is_empty() {
        let count = findings.len();
        let plural = if count == 1 { "" } else { "s" };
        report.out("");
        report.out(format!("✖ {count} problem{plural} ({count} error{plural}, 0 warnings)"));
        report.out("");
    }
    if !findings.is_empty() {
        report.exit = if tool == CheckTool::Tsc { 2 } else { 1 };
    }
    report
}
