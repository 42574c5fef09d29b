//! The output of `go test`, `go build` and `golangci-lint run`.

use std::collections::BTreeMap;

use super::{
    CheckFailure, CheckKind, CheckSelection, CheckTool, FailedCheck, LintFinding, RunConditions,
    RunReport, RunStyle,
};

/// Folder of Go's own sources.
const GOROOT: &str = "/usr/lib/go-1.19/src";

struct GoRun<'a> {
    conditions: &'a RunConditions<'a>,
    selection: &'a CheckSelection,
    style: RunStyle,
    failures: BTreeMap<usize, CheckFailure>,
    report: RunReport,
}

/// A package of Go: a folder with sources.
struct GoPackageFolder {
    import: String,
    build: usize,
    tests: Vec<usize>,
}

pub(super) fn execute_go_test(
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut run = GoRun::new(selection, style, conditions);
    let folders = run.folders();
    let mut dice = conditions.dice();
    let mut lines = Vec::new();
    let (mut failed, mut unbuilt) = (false, false);
    for folder in &folders {
        if let Some(failure) = run.failures.get(&folder.build).cloned() {
            let import = &folder.import;
            run.compile_error(folder, &failure, &format!("# {import} [{import}.test]"));
            lines.push(format!("FAIL\t{import} [build failed]"));
            (failed, unbuilt) = (true, true);
            continue;
        }
        run.report.passed.insert(folder.build);
        let before = run.report.lines.len();
        let seconds = format!("0.00{}s", 1 + dice.below(8));
        let cached = dice.below(2) == 0;
        failed |= run.folder(folder, &seconds, cached);
        lines.extend(run.report.lines.split_off(before).into_iter().map(|(_, line)| line));
    }
    for line in lines {
        run.report.out(line);
    }
    if failed {
        run.report.out("FAIL");
        run.report.exit = if unbuilt { 2 } else { 1 };
    }
    let last = run.report.lines.last().map(|(_, line)| line.clone());
    run.report.summary.extend(last);
    run.report
}

pub(super) fn execute_go_build(
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut run = GoRun::new(selection, style, conditions);
    for folder in run.folders() {
        match run.failures.get(&folder.build).cloned() {
            Some(failure) => {
                run.compile_error(&folder, &failure, &format!("# {}", folder.import));
                run.report.exit = 2;
            }
            None => {
                run.report.passed.insert(folder.build);
            }
        }
    }
    run.report
}

pub(super) fn execute_golangci_lint(
    selection: &CheckSelection,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut report = RunReport::default();
    let findings = conditions.lint_findings(CheckTool::GolangciLint, selection, &mut report);
    let found = findings.len();
    for LintFinding { check, file, line, column, text, failure } in findings {
        let file = conditions.shown(&file);
        let title = format!("{file}:{line}:{column}: {} ({})", failure.message[0], failure.error);
        report.out(title.clone());
        report.out(text);
        report.out(format!("\t{}^", " ".repeat(column - 2)));
        report.failed.push(FailedCheck {
            check,
            shown_by: vec![vec![title.clone()]],
            error: failure.message[0].clone(),
        });
    }
    if found == 0 {
        report.out("0 issues.");
        report.summary.push("0 issues.".to_owned());
    } else {
        report.out(format!("{found} issues:"));
        report.out(format!("* errcheck: {found}"));
        report.exit = 1;
    }
    report
}

impl<'a> GoRun<'a> {
    fn new(
        selection: &'a CheckSelection,
        style: RunStyle,
        conditions: &'a RunConditions<'a>,
    ) -> Self {
        let failures = conditions.failures();
        Self { conditions, selection, style, failures, report: RunReport::default() }
    }

    /// Returns the folder of the module, which import paths start from.
    fn module_folder(&self) -> &str {
        match &self.conditions.project.packages[..] {
            [one] => &one.folder,
            _ => "",
        }
    }

    /// Returns the folders that a command names, by import path.
    fn folders(&self) -> Vec<GoPackageFolder> {
        let project = self.conditions.project;
        let mut folders = Vec::new();
        for (build, check) in project.checks.iter().enumerate() {
            if check.kind != CheckKind::Build {
                continue;
            }
            let path = parent(&check.file).to_owned();
            let in_files = |files: &[String]| {
                files.is_empty() || files.iter().any(|file| parent(file) == path)
            };
            let tested: Vec<String> = self
                .selection
                .tests
                .iter()
                .map(|test| project.checks[*test].file.clone())
                .collect();
            let is_asked = self.conditions.covers(
                &CheckSelection { files: Vec::new(), ..self.selection.clone() },
                check.package,
                &check.file,
            ) && in_files(&self.selection.files)
                && in_files(&tested);
            if !is_asked {
                continue;
            }
            let inside = path
                .strip_prefix(self.module_folder())
                .unwrap_or(&path)
                .trim_start_matches('/')
                .to_owned();
            let tests = project
                .tests()
                .filter(|(index, test)| {
                    parent(&test.file) == path
                        && self.conditions.state.name(project, *index).is_some()
                })
                .map(|(index, _)| index)
                .collect();
            let import = format!("example.com/{}/{inside}", project.name);
            folders.push(GoPackageFolder { import, build, tests });
        }
        folders.sort_by(|a, b| a.import.cmp(&b.import));
        folders
    }

    fn compile_error(&mut self, folder: &GoPackageFolder, failure: &CheckFailure, title: &str) {
        let at = self.conditions.line_number(&failure.region, failure.line);
        let line = self.conditions.line_text(&failure.region, failure.line);
        let column = line.find(&failure.mark).unwrap_or_default() + 1;
        let file = self.conditions.file_of(&failure.region);
        let shown = self.conditions.shown(&file);
        // A file in the folder itself is printed with a dot.
        let shown = if shown.contains('/') { shown.to_owned() } else { format!("./{shown}") };
        let place = format!("{shown}:{at}:{column}: {}", failure.message[0]);
        self.report.err(title);
        self.report.err(place.clone());
        self.report.failed.push(FailedCheck {
            check: folder.build,
            shown_by: vec![vec![place]],
            error: failure.message[0].clone(),
        });
    }

    /// Returns the name of a test, with the name of its parent test.
    fn name(&self, test: usize) -> String {
        let check = &self.conditions.project.checks[test];
        let name = self.conditions.state.name(self.conditions.project, test).unwrap_or_default();
        match &check.group {
            Some(group) => format!("{group}/{name}"),
            None => name.to_owned(),
        }
    }

    fn is_selected(&self, test: usize) -> bool {
        let name = self.name(test);
        let named = self.selection.tests.is_empty() || self.selection.tests.contains(&test);
        // `-run` matches each level; a keyword without a slash matches the outer name.
        let outer = name.split('/').next().unwrap_or_default();
        named && self.selection.keyword.as_ref().is_none_or(|keyword| outer.contains(keyword))
    }

    /// Prints the tests of one folder; returns true if one failed.
    fn folder(&mut self, folder: &GoPackageFolder, seconds: &str, cached: bool) -> bool {
        let import = folder.import.clone();
        let tests: Vec<usize> =
            folder.tests.iter().copied().filter(|test| self.is_selected(*test)).collect();
        if folder.tests.is_empty() {
            self.report.out(format!("?   \t{import}\t[no test files]"));
            return false;
        }
        if tests.is_empty() {
            if self.style.verbose {
                self.report.out("testing: warning: no tests to run");
                self.report.out("PASS");
            }
            self.report.out(format!("ok  \t{import}\t{seconds} [no tests to run]"));
            return false;
        }
        let mut failed = false;
        let groups = tests.chunk_by(|a, b| {
            let checks = &self.conditions.project.checks;
            checks[*a].group.is_some() && checks[*a].group == checks[*b].group
        });
        for group in groups {
            match self.group(group) {
                GoTestOutcome::Passed => {}
                GoTestOutcome::Failed => failed = true,
                GoTestOutcome::Panicked => {
                    self.report.out(format!("FAIL\t{import}\t{seconds}"));
                    return true;
                }
            }
        }
        if failed {
            self.report.out("FAIL");
            self.report.out(format!("FAIL\t{import}\t{seconds}"));
        } else {
            if self.style.verbose {
                self.report.out("PASS");
            }
            let time = if cached { "(cached)" } else { seconds };
            self.report.out(format!("ok  \t{import}\t{time}"));
        }
        failed
    }

    /// Runs a test, or the subtests of a test.
    fn group(&mut self, tests: &[usize]) -> GoTestOutcome {
        let parent = self.conditions.project.checks[tests[0]].group.clone();
        let verbose = self.style.verbose;
        let indent = if parent.is_some() { "    " } else { "" };
        let mut ends = Vec::new();
        let mut failed = false;
        if let Some(parent) = parent.as_ref().filter(|_| verbose) {
            self.report.out(format!("=== RUN   {parent}"));
        }
        for test in tests {
            let name = self.name(*test);
            if verbose {
                self.report.out(format!("=== RUN   {name}"));
            }
            let file = self.file_name(*test);
            if let Some(reason) = self.conditions.state.skip_reason(*test) {
                let region = &self.conditions.project.checks[*test].region;
                let line = self.conditions.line_number(region, 1);
                if verbose {
                    self.report.out(format!("    {file}:{line}: {reason}"));
                    ends.push(format!("{indent}--- SKIP: {name} (0.00s)"));
                }
                continue;
            }
            let Some(failure) = self.failures.get(test).cloned() else {
                self.report.passed.insert(*test);
                if verbose {
                    ends.push(format!("{indent}--- PASS: {name} (0.00s)"));
                }
                continue;
            };
            failed = true;
            let title = format!("--- FAIL: {name} (0.00s)");
            if failure.error == "panic" {
                let line = self.panic(*test, &failure, parent.as_deref(), &ends);
                let shown_by = vec![vec![title], vec![line]];
                let error = failure.message[0].clone();
                self.report.failed.push(FailedCheck { check: *test, shown_by, error });
                return GoTestOutcome::Panicked;
            }
            let region = &self.conditions.project.checks[*test].region;
            let at = self.conditions.line_number(region, failure.line);
            let message = format!("{file}:{at}: {}", failure.message[0]);
            if verbose {
                self.report.out(format!("    {message}"));
                ends.push(format!("{indent}{title}"));
            } else {
                ends.push(format!("{indent}{title}"));
                ends.push(format!("{indent}    {message}"));
            }
            let shown_by = vec![vec![title]];
            let error = failure.message[0].clone();
            self.report.failed.push(FailedCheck { check: *test, shown_by, error });
        }
        if let Some(parent) = parent {
            let word = if failed { "FAIL" } else { "PASS" };
            if failed || verbose {
                self.report.out(format!("--- {word}: {parent} (0.00s)"));
            }
        }
        for line in ends {
            self.report.out(line);
        }
        if failed { GoTestOutcome::Failed } else { GoTestOutcome::Passed }
    }

    fn file_name(&self, test: usize) -> String {
        let file = &self.conditions.project.checks[test].file;
        file.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Prints a panic and returns the line with the location.
    fn panic(
        &mut self,
        test: usize,
        failure: &CheckFailure,
        parent_test: Option<&str>,
        ends: &[String],
    ) -> String {
        let check = &self.conditions.project.checks[test];
        let root = &self.conditions.root;
        let name = self.name(test);
        let folder = parent(&check.file);
        let inside =
            folder.strip_prefix(self.module_folder()).unwrap_or(folder).trim_start_matches('/');
        let import = format!("example.com/{}/{inside}", self.conditions.project.name);
        let frame = &failure.frames[0];
        let body = format!("{}/body", frame.unit);
        let source = self.conditions.file_of(&body);
        let at = self.conditions.line_number(&body, frame.line);
        let test_at = self.conditions.line_number(&check.region, failure.line);
        let noise = self.conditions.noise;
        let caller = match parent_test {
            Some(group) => {
                let place = self
                    .conditions
                    .project
                    .tests()
                    .filter(|(_, other)| other.file == check.file)
                    .position(|(index, _)| index == test)
                    .unwrap_or_default();
                format!("{group}.func{}", place + 1)
            }
            None => name.clone(),
        };
        let message = &failure.message[0];
        if let Some(group) = parent_test {
            self.report.out(format!("--- FAIL: {group} (0.00s)"));
            for line in ends {
                self.report.out(line.clone());
            }
            self.report.out(format!("    --- FAIL: {name} (0.00s)"));
        } else {
            for line in ends {
                self.report.out(line.clone());
            }
            self.report.out(format!("--- FAIL: {name} (0.00s)"));
        }
        let place = format!("\t{root}/{source}:{at} +0x{:x}", 0x20 + noise % 0x90);
        let object = format!("0xc000{:06x}", noise & 0xff_fff0);
        let lines = [
            format!("panic: {message} [recovered]"),
            format!("\tpanic: {message}"),
            String::new(),
            format!("goroutine {} [running]:", 6 + noise % 30),
            format!("testing.tRunner.func1.2({{0x50{:04x}, {object}}})", noise & 0xfff0),
            format!("\t{GOROOT}/testing/testing.go:1396 +0x24e"),
            "testing.tRunner.func1()".to_owned(),
            format!("\t{GOROOT}/testing/testing.go:1399 +0x39f"),
            format!("panic({{0x50{:04x}, {object}}})", noise & 0xfff0),
            format!("\t{GOROOT}/runtime/panic.go:884 +0x212"),
            format!("{import}.{}(...)", frame.function),
            place.clone(),
            format!("{import}.{caller}({object}?)"),
            format!("\t{root}/{}:{test_at} +0x{:x}", check.file, 0x18 + noise % 0x60),
            format!("testing.tRunner({object}, 0x52{:04x})", noise >> 8 & 0xfff8),
            format!("\t{GOROOT}/testing/testing.go:1446 +0x10b"),
            "created by testing.(*T).GoRun".to_owned(),
            format!("\t{GOROOT}/testing/testing.go:1493 +0x35f"),
        ];
        for line in lines {
            self.report.out(line);
        }
        place
    }
}

enum GoTestOutcome {
    Passed,
    Failed,
    Panicked,
}

/// Returns the folder of a file.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}
