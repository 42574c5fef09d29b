//! Runs of a tool over a virtual checkout: the checks that they execute, and their output.

use std::collections::{BTreeMap, BTreeSet};

use rutter_testkit::dice::SeededRandom;

use crate::project::{Check, CheckFailure, CheckKind, CheckTool, VirtualProject};
use crate::source::Tree;

mod cargo;
mod go;
mod pytest;
mod ruff;
mod script;
mod words;

pub use words::command_words;

/// State of a changed test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestStatus {
    /// The test is skipped, for the given reason.
    Skipped(String),
    /// The test was removed.
    Removed,
    /// The test has another name.
    Renamed(String),
}

/// Files of a checkout and its changed tests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckoutState {
    /// Files.
    pub tree: Tree,
    /// Tests that were skipped, removed or renamed.
    pub tests: BTreeMap<usize, TestStatus>,
}

impl CheckoutState {
    /// Returns the name of a test, or None if it was removed.
    pub fn name<'a>(&'a self, project: &'a VirtualProject, check: usize) -> Option<&'a str> {
        match self.tests.get(&check) {
            Some(TestStatus::Removed) => None,
            Some(TestStatus::Renamed(name)) => Some(name),
            _ => Some(&project.checks[check].name),
        }
    }

    /// Returns true if a test exists and is not skipped.
    pub fn is_active(&self, check: usize) -> bool {
        !matches!(self.tests.get(&check), Some(TestStatus::Removed | TestStatus::Skipped(_)))
    }

    /// Returns the reason why a test is skipped, if it is.
    pub fn skip_reason(&self, check: usize) -> Option<&str> {
        match self.tests.get(&check) {
            Some(TestStatus::Skipped(reason)) => Some(reason),
            _ => None,
        }
    }
}

/// The checks that a command selects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckSelection {
    /// Only this package.
    pub package: Option<usize>,
    /// Only these files.
    pub files: Vec<String>,
    /// Only these tests.
    pub tests: Vec<usize>,
    /// Only tests with a name that contains this text.
    pub keyword: Option<String>,
    /// No tests with a name that contains this text.
    pub without: Option<String>,
    /// Only unit tests of the library (Rust).
    pub library: bool,
}

impl CheckSelection {
    /// Returns true if nothing narrows the run.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }
}

/// Options of a run that do not change its selection.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of a command line")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunStyle {
    /// Fewer lines.
    pub quiet: bool,
    /// A line for each test.
    pub verbose: bool,
    /// Stop at the first failure.
    pub fail_fast: bool,
    /// List the tests and run none.
    pub collect_only: bool,
    /// Continue after a test program has failed (cargo).
    pub keep_going: bool,
    /// Short tracebacks, or one line for each finding.
    pub short: bool,
}

/// Everything that determines the result of a run.
#[derive(Debug)]
pub struct RunConditions<'a> {
    /// The project.
    pub project: &'a VirtualProject,
    /// Files and tests.
    pub state: &'a CheckoutState,
    /// Folder of the checkout, as an absolute path.
    pub root: String,
    /// Folder that the tool runs in, from the root of the checkout.
    pub folder: String,
    /// Checks that fail at random in this run.
    pub flaky: Vec<usize>,
    /// True if the environment meets the project's needs.
    pub is_remedied: bool,
    /// Seed of durations, process ids and similar values.
    pub noise: u64,
}

impl RunConditions<'_> {
    /// Returns every failure in this state, by check.
    pub fn failures(&self) -> BTreeMap<usize, CheckFailure> {
        let mut failures = BTreeMap::new();
        let mut add = |found: &[(usize, CheckFailure)]| {
            for (check, failure) in found {
                failures.entry(*check).or_insert_with(|| failure.clone());
            }
        };
        for bug in &self.project.bugs {
            if let Some(form) = bug.form_in(&self.state.tree) {
                add(&form.failures);
            }
        }
        if let Some(need) = self.project.need.as_ref().filter(|_| !self.is_remedied) {
            add(&need.failures);
        }
        for (check, failure) in &self.project.flaky {
            if self.flaky.contains(check) {
                add(&[(*check, failure.clone())]);
            }
        }
        failures
    }

    /// Returns a path as the tool prints it: relative to the folder of the run.
    fn shown<'a>(&self, path: &'a str) -> &'a str {
        if self.folder.is_empty() {
            return path;
        }
        path.strip_prefix(&self.folder).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path)
    }

    /// Returns the line number of a line of a region.
    fn line_number(&self, region: &str, line: usize) -> usize {
        self.state.tree.region_location(region).map_or(0, |place| place.line + line)
    }

    /// Returns the file of a region.
    fn file_of(&self, region: &str) -> String {
        self.state.tree.region_location(region).map(|place| place.file).unwrap_or_default()
    }

    /// Returns a line of a region.
    fn line_text(&self, region: &str, line: usize) -> String {
        let lines = self.state.tree.region(region).unwrap_or_default();
        lines.get(line).cloned().unwrap_or_default()
    }

    /// Returns true if a linter run includes a file.
    fn covers(&self, selection: &CheckSelection, package: usize, file: &str) -> bool {
        let in_folder = self.folder.is_empty() || file.starts_with(&format!("{}/", self.folder));
        let in_package = selection.package.is_none_or(|asked| asked == package);
        let in_files = selection.files.is_empty() || selection.files.iter().any(|at| at == file);
        in_folder && in_package && in_files
    }

    /// Runs the checks of a linter. Returns its findings, and adds the other checks to the passed ones of the report.
    fn lint_findings(
        &self,
        tool: CheckTool,
        selection: &CheckSelection,
        report: &mut RunReport,
    ) -> Vec<LintFinding> {
        let mut failures = self.failures();
        let mut findings = Vec::new();
        for (index, check) in self.project.checks.iter().enumerate() {
            if check.kind != CheckKind::Lint(tool)
                || !self.covers(selection, check.package, &check.file)
            {
                continue;
            }
            let Some(failure) = failures.remove(&index) else {
                report.passed.insert(index);
                continue;
            };
            let text = self.line_text(&failure.region, failure.line);
            findings.push(LintFinding {
                check: index,
                file: check.file.clone(),
                line: self.line_number(&failure.region, failure.line),
                column: text.find(&failure.mark).unwrap_or_default() + 1,
                text,
                failure,
            });
        }
        findings
    }

    fn dice(&self) -> SeededRandom {
        SeededRandom::new(self.noise)
    }

    /// Returns the tests of a selection in order: by file, then by position. Skipped tests are included.
    fn selected(
        &self,
        selection: &CheckSelection,
        matches: impl Fn(&Check, &str, &str) -> bool,
    ) -> Vec<usize> {
        let mut tests: Vec<usize> = Vec::new();
        for (index, check) in self.project.tests() {
            let Some(name) = self.state.name(self.project, index) else { continue };
            let in_folder =
                self.folder.is_empty() || check.file.starts_with(&format!("{}/", self.folder));
            let in_package =
                in_folder && selection.package.is_none_or(|package| package == check.package);
            let in_file = selection.files.is_empty() || selection.files.contains(&check.file);
            let named = selection.tests.is_empty() || selection.tests.contains(&index);
            let has = |text: &Option<String>, default: bool| {
                text.as_ref().map_or(default, |text| matches(check, name, text))
            };
            if in_package
                && in_file
                && named
                && has(&selection.keyword, true)
                && !has(&selection.without, false)
            {
                tests.push(index);
            }
        }
        tests.sort_by_key(|index| {
            let check = &self.project.checks[*index];
            (check.file.clone(), self.line_number(&check.region, 0))
        });
        tests
    }
}

/// A finding of a linter or type checker.
struct LintFinding {
    check: usize,
    /// File, from the root of the checkout.
    file: String,
    /// Number of the line in the file.
    line: usize,
    column: usize,
    /// The whole line.
    text: String,
    failure: CheckFailure,
}

/// Stream that a line is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// A failing check in a report, and the texts that identify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    /// The check.
    pub check: usize,
    /// Ways to recognise the check in the output. All texts of one way must be present.
    pub shown_by: Vec<Vec<String>>,
    /// A text from the error itself.
    pub error: String,
}

/// Everything that a run executed and printed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunReport {
    /// Lines in the order in which they were written.
    pub lines: Vec<(OutputStream, String)>,
    /// Exit status.
    pub exit: i32,
    /// Checks that were executed and passed.
    pub passed: BTreeSet<usize>,
    /// Checks that failed.
    pub failed: Vec<FailedCheck>,
    /// Texts that show the result without the exit status. One of them must be visible.
    pub summary: Vec<String>,
}

impl RunReport {
    /// Writes a line to standard output.
    fn out(&mut self, line: impl Into<String>) {
        self.lines.push((OutputStream::Out, line.into()));
    }

    /// Writes a line to standard error.
    fn err(&mut self, line: impl Into<String>) {
        self.lines.push((OutputStream::Err, line.into()));
    }
}

/// Runs a tool.
pub fn execute_run(
    tool: CheckTool,
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    match tool {
        CheckTool::Pytest => pytest::execute(selection, style, conditions),
        CheckTool::Ruff => ruff::execute(selection, style, conditions),
        CheckTool::CargoTest | CheckTool::Nextest | CheckTool::CargoCheck => {
            cargo::execute(tool, selection, style, conditions)
        }
        CheckTool::GoTest => go::execute_go_test(selection, style, conditions),
        CheckTool::GoBuild => go::execute_go_build(selection, style, conditions),
        CheckTool::GolangciLint => go::execute_golangci_lint(selection, conditions),
        CheckTool::Vitest => script::execute_vitest(selection, style, conditions),
        CheckTool::Jest => script::execute_jest(selection, conditions),
        CheckTool::Tsc | CheckTool::Eslint => {
            script::execute_script_lint(tool, selection, conditions)
        }
    }
}
