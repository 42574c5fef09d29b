//! The output of `cargo test`, `cargo nextest run` and `cargo check`.

use std::collections::BTreeMap;

use super::{
    CheckFailure, CheckKind, CheckSelection, CheckTool, FailedCheck, RunConditions, RunReport,
    RunStyle,
};
use crate::project::{Check, Package};

/// A test program: that of the library, or of a file below `tests`.
struct TestProgram {
    package: usize,
    /// Name of the file below `tests`, without its ending; None for the library.
    file: Option<String>,
    tests: Vec<usize>,
    /// Number of tests that the filter leaves out.
    filtered: usize,
}

struct CargoRun<'a> {
    conditions: &'a RunConditions<'a>,
    style: RunStyle,
    failures: BTreeMap<usize, CheckFailure>,
    report: RunReport,
}

/// Runs `cargo test`, `cargo nextest run` or `cargo check`.
pub(super) fn execute(
    tool: CheckTool,
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut run = CargoRun::new(style, conditions);
    let packages = run.packages(selection);
    let is_built = run.build(&packages, tool != CheckTool::CargoCheck);
    match tool {
        CheckTool::CargoTest if is_built => run.tests(selection, &packages),
        CheckTool::Nextest if is_built => run.nextest(selection, &packages),
        _ => {}
    }
    run.report
}

impl<'a> CargoRun<'a> {
    fn new(style: RunStyle, conditions: &'a RunConditions<'a>) -> Self {
        let failures = conditions.failures();
        Self { conditions, style, failures, report: RunReport::default() }
    }

    /// Returns the packages of a command: those that it names, or those of its folder.
    fn packages(&self, selection: &CheckSelection) -> Vec<usize> {
        let packages = &self.conditions.project.packages;
        let of_files = |package: usize| {
            let of = |file: &String| file.starts_with(&format!("{}/", packages[package].folder));
            selection.files.is_empty() || packages.len() == 1 || selection.files.iter().any(of)
        };
        let of_tests = |package: usize| {
            let of = |test: &usize| self.conditions.project.checks[*test].package == package;
            selection.tests.is_empty() || selection.tests.iter().any(of)
        };
        (0..packages.len())
            .filter(|package| selection.package.is_none_or(|asked| asked == *package))
            .filter(|package| {
                let folder = &self.conditions.folder;
                folder.is_empty() || *folder == packages[*package].folder
            })
            .filter(|package| of_files(*package) && of_tests(*package))
            .collect()
    }

    fn package(&self, package: usize) -> &Package {
        &self.conditions.project.packages[package]
    }

    /// Returns the folder of the workspace, which printed paths start from.
    fn workspace(&self) -> String {
        match &self.conditions.project.packages[..] {
            [one] => one.folder.clone(),
            _ => String::new(),
        }
    }

    /// Returns a path as cargo prints it: from the root of the workspace.
    fn workspace_path(&self, path: &str) -> String {
        let workspace = self.workspace();
        let inside = path.strip_prefix(&workspace).filter(|_| !workspace.is_empty());
        inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned()
    }

    fn version(&self, package: usize) -> String {
        let line = self.conditions.line_text(&format!("{package}/cargo/version"), 0);
        line.split('"').nth(1).unwrap_or("0.1.0").to_owned()
    }

    /// Compiles packages and returns true if all of them compile.
    fn build(&mut self, packages: &[usize], is_test: bool) -> bool {
        let verb = if is_test { "   Compiling" } else { "    Checking" };
        if !self.style.quiet {
            for package in packages {
                let name = self.package(*package).name.clone();
                let root = &self.conditions.root;
                let folder = &self.package(*package).folder;
                let path =
                    if folder.is_empty() { root.clone() } else { format!("{root}/{folder}") };
                let version = self.version(*package);
                self.report.err(format!("{verb} {name} v{version} ({path})"));
            }
        }
        let mut broken = Vec::new();
        for (index, check) in self.conditions.project.checks.iter().enumerate() {
            if check.kind != CheckKind::Build || !packages.contains(&check.package) {
                continue;
            }
            match self.failures.get(&index) {
                Some(failure) => broken.push((index, check.package, failure.clone())),
                None => {
                    self.report.passed.insert(index);
                }
            }
        }
        for (at, (index, package, failure)) in broken.iter().enumerate() {
            let name = self.package(*package).name.clone();
            self.diagnostic(*index, failure);
            if at == 0 {
                let code = &failure.error;
                self.report.err(format!(
                    "For more information about this error, try `rustc --explain {code}`."
                ));
            }
            self.report
                .err(format!("error: could not compile `{name}` (lib) due to 1 previous error"));
            if is_test && at == 0 {
                self.report.err("warning: build failed, waiting for other jobs to finish...");
            }
            if is_test {
                self.report.err(format!(
                    "error: could not compile `{name}` (lib test) due to 1 previous error"
                ));
            }
        }
        if !broken.is_empty() {
            self.report.exit = 101;
            return false;
        }
        let mut dice = self.conditions.dice();
        let profile = if is_test { "test" } else { "dev" };
        let seconds = format!("0.{:02}", 3 + dice.below(90));
        let finished = format!(
            "    Finished `{profile}` profile [unoptimized + debuginfo] target(s) in {seconds}s"
        );
        if !is_test {
            self.report.summary.push(finished.trim().to_owned());
        }
        if !self.style.quiet {
            self.report.err(finished);
        }
        true
    }

    /// Prints an error of the compiler.
    fn diagnostic(&mut self, check: usize, failure: &CheckFailure) {
        let at = self.conditions.line_number(&failure.region, failure.line);
        let line = self.conditions.line_text(&failure.region, failure.line);
        let column = line.find(&failure.mark).unwrap_or_default() + 1;
        let file = self.workspace_path(&self.conditions.file_of(&failure.region));
        let title = format!("error[{}]: {}", failure.error, failure.message[0]);
        let place = format!("{file}:{at}:{column}");
        let width = at.to_string().len();
        let gutter = " ".repeat(width + 1);
        let meant = failure.notes.first().cloned().unwrap_or_default();
        self.report.err(title.clone());
        self.report.err(format!("{}--> {place}", " ".repeat(width)));
        self.report.err(format!("{gutter}|"));
        self.report.err(format!("{at} | {line}"));
        let marks = "^".repeat(failure.mark.len());
        self.report.err(format!("{gutter}| {}{marks}", " ".repeat(column - 1)));
        self.report.err(format!("{gutter}|"));
        self.report.err("help: a local variable with a similar name exists");
        self.report.err(format!("{gutter}|"));
        self.report.err(format!("{at} - {line}"));
        self.report.err(format!("{at} + {}", line.replacen(&failure.mark, &meant, 1)));
        self.report.err(format!("{gutter}|"));
        self.report.err("");
        self.report.failed.push(FailedCheck {
            check,
            shown_by: vec![vec![title.clone(), place]],
            error: title,
        });
    }

    /// Returns the full name of a test within its program.
    fn name(&self, test: usize) -> String {
        let check = &self.conditions.project.checks[test];
        let name = self.conditions.state.name(self.conditions.project, test).unwrap_or_default();
        match &check.group {
            Some(group) => format!("{group}::{name}"),
            None => name.to_owned(),
        }
    }

    fn binaries(&self, selection: &CheckSelection, packages: &[usize]) -> Vec<TestProgram> {
        let project = self.conditions.project;
        let mut binaries: Vec<TestProgram> = Vec::new();
        for package in packages {
            let of = |check: &Check| -> Option<String> {
                let file = check.file.rsplit('/').next()?.trim_end_matches(".rs").to_owned();
                check.group.is_none().then_some(file)
            };
            let mut files: Vec<Option<String>> = project
                .tests()
                .filter(|(_, check)| check.package == *package)
                .map(|(_, check)| of(check))
                .collect();
            files.push(None);
            files.sort_unstable();
            files.dedup();
            for file in files {
                // `--test FILE` runs one program, `--lib` another.
                let path = file
                    .as_ref()
                    .map(|file| self.package(*package).path(&format!("tests/{file}.rs")));
                let by_file = selection.files.is_empty()
                    || path.as_ref().is_some_and(|path| selection.files.contains(path));
                let by_library = !selection.library || file.is_none();
                if !by_file || !by_library {
                    continue;
                }
                let in_binary: Vec<usize> = project
                    .tests()
                    .filter(|(index, check)| {
                        check.package == *package
                            && of(check) == file
                            && self.conditions.state.name(project, *index).is_some()
                    })
                    .map(|(index, _)| index)
                    .collect();
                let mut tests: Vec<usize> = in_binary
                    .iter()
                    .copied()
                    .filter(|test| self.is_selected(selection, *test))
                    .collect();
                tests.sort_by_key(|test| self.name(*test));
                let filtered = in_binary.len() - tests.len();
                binaries.push(TestProgram { package: *package, file, tests, filtered });
            }
        }
        binaries
    }

    fn is_selected(&self, selection: &CheckSelection, test: usize) -> bool {
        let name = self.name(test);
        // A name passed to cargo matches a part of the test name.
        let by_name = selection.tests.is_empty()
            || selection.tests.iter().any(|asked| name.contains(&self.name(*asked)));
        let by_keyword = selection.keyword.as_ref().is_none_or(|keyword| name.contains(keyword));
        let skipped = selection.without.as_ref().is_some_and(|without| name.contains(without));
        by_name && by_keyword && !skipped
    }

    fn tests(&mut self, selection: &CheckSelection, packages: &[usize]) {
        let mut failed_targets = Vec::new();
        let is_workspace = self.conditions.project.packages.len() > 1;
        let in_member = is_workspace && !self.conditions.folder.is_empty();
        for binary in self.binaries(selection, packages) {
            let package = self.package(binary.package).clone();
            let target = match &binary.file {
                None => "--lib".to_owned(),
                Some(file) => format!("--test {file}"),
            };
            let target = if is_workspace && !in_member {
                format!("-p {} {target}", package.name)
            } else {
                target
            };
            if !self.style.quiet {
                let (source, stem) = match &binary.file {
                    None => ("unittests src/lib.rs".to_owned(), package.name.clone()),
                    Some(file) => (format!("tests/{file}.rs"), file.clone()),
                };
                let hash = program_hash(&format!("{stem}{}", binary.package));
                let root = if in_member {
                    format!("{}/", self.conditions.root)
                } else if self.workspace() != self.conditions.folder {
                    format!("{}/", self.workspace())
                } else {
                    String::new()
                };
                self.report
                    .err(format!("     Running {source} ({root}target/debug/deps/{stem}-{hash})"));
            }
            if self.binary(&binary) {
                self.report.err(format!("error: test failed, to rerun pass `{target}`"));
                failed_targets.push(target);
                if !self.style.keep_going {
                    self.report.exit = 101;
                    return;
                }
            }
        }
        // cargo does not build doc tests for a name that no example can have.
        let doc_tests = selection.files.is_empty()
            && !selection.library
            && selection.tests.is_empty()
            && selection.keyword.is_none();
        if doc_tests {
            for package in packages {
                if !self.style.quiet {
                    let name = self.package(*package).name.clone();
                    self.report.err(format!("   Doc-tests {name}"));
                }
                self.report.out("");
                self.report.out("running 0 tests");
                self.report.out("");
                self.report.out("test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s");
                self.report.out("");
            }
        }
        if !failed_targets.is_empty() {
            self.report.exit = 101;
            let count = failed_targets.len();
            let plural = if count == 1 { "" } else { "s" };
            self.report.err(format!("error: {count} target{plural} failed:"));
            for target in failed_targets {
                self.report.err(format!("    `{target}`"));
            }
        }
    }

    /// Prints the run of a program and returns true if a test failed.
    fn binary(&mut self, binary: &TestProgram) -> bool {
        let count = binary.tests.len();
        let plural = if count == 1 { "" } else { "s" };
        self.report.out("");
        self.report.out(format!("running {count} test{plural}"));
        let mut failed = Vec::new();
        let mut ignored = 0;
        let mut dots = String::new();
        for (done, test) in binary.tests.iter().enumerate() {
            let name = self.name(*test);
            let reason = self.conditions.state.skip_reason(*test).map(str::to_owned);
            let word = if let Some(reason) = reason {
                ignored += 1;
                format!("ignored, {reason}")
            } else if self.failures.contains_key(test) {
                failed.push(*test);
                "FAILED".to_owned()
            } else {
                self.report.passed.insert(*test);
                "ok".to_owned()
            };
            if self.style.quiet {
                if word == "FAILED" {
                    if !dots.is_empty() {
                        let dots = std::mem::take(&mut dots);
                        self.report.out(format!("{dots} {done}/{count}"));
                    }
                    self.report.out(format!("{name} --- FAILED"));
                } else {
                    dots.push(if word == "ok" { '.' } else { 'i' });
                }
            } else {
                self.report.out(format!("test {name} ... {word}"));
            }
        }
        let ends_with_dots = self.style.quiet && !dots.is_empty();
        if ends_with_dots {
            self.report.out(dots);
        }
        if !failed.is_empty() {
            if !ends_with_dots {
                self.report.out("");
            }
            self.report.out("failures:");
            self.report.out("");
            for (place, test) in failed.iter().enumerate() {
                let name = self.name(*test);
                let title = format!("---- {name} stdout ----");
                self.report.out(title.clone());
                let mut lines = self.panic(*test);
                if place > 0 {
                    // A process prints the hint only once.
                    lines.pop();
                }
                for line in &lines {
                    self.report.out(line.clone());
                }
                self.report.out("");
                let error = self.failures[test].message[0].clone();
                let shown_by = vec![
                    vec![format!("test {name} ... FAILED")],
                    vec![format!("{name} --- FAILED")],
                    vec![title, lines[1].clone()],
                    vec![format!("    {name}")],
                ];
                self.report.failed.push(FailedCheck { check: *test, shown_by, error });
            }
            self.report.out("");
            self.report.out("failures:");
            for test in &failed {
                let name = self.name(*test);
                self.report.out(format!("    {name}"));
            }
        }
        if !ends_with_dots || !failed.is_empty() {
            self.report.out("");
        }
        let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
        let passed = count - failed.len() - ignored;
        let line = format!(
            "test result: {verdict}. {passed} passed; {} failed; {ignored} ignored; 0 measured; {} filtered out; finished in 0.00s",
            failed.len(),
            binary.filtered
        );
        self.report.out(line.clone());
        self.report.out("");
        self.report.summary.push(line);
        !failed.is_empty()
    }

    /// Returns the lines that a panicking test prints.
    fn panic(&self, test: usize) -> Vec<String> {
        let conditions = self.conditions;
        let failure = &self.failures[&test];
        let check = &conditions.project.checks[test];
        let (region, line, mark) = match failure.frames.last() {
            Some(frame) => (format!("{}/body", frame.unit), frame.line, frame.mark.clone()),
            None if !failure.region.is_empty() => {
                let line = failure.notes.first().and_then(|note| note.parse().ok());
                (failure.region.clone(), line.unwrap_or_default(), failure.mark.clone())
            }
            None => (check.region.clone(), failure.line, failure.mark.clone()),
        };
        let text = conditions.line_text(&region, line);
        let column = text.find(&mark).unwrap_or_default() + 1;
        let at = conditions.line_number(&region, line);
        let file = self.workspace_path(&conditions.file_of(&region));
        let thread = 10_000 + (conditions.noise.wrapping_add(test as u64) % 50_000);
        let mut lines = vec![
            String::new(),
            format!("thread '{}' ({thread}) panicked at {file}:{at}:{column}:", self.name(test)),
        ];
        lines.extend(failure.message.iter().cloned());
        lines.push(
            "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"
                .to_owned(),
        );
        lines
    }

    fn nextest(&mut self, selection: &CheckSelection, packages: &[usize]) {
        let rule = "────────────";
        let mut dice = self.conditions.dice();
        let mut time = || format!("[   0.0{:02}s]", 4 + dice.below(60));
        let binaries = self.binaries(selection, packages);
        let tests: Vec<(String, usize, usize)> = binaries
            .iter()
            .flat_map(|binary| {
                let package = &self.package(binary.package).name;
                let program = match &binary.file {
                    None => package.clone(),
                    Some(file) => format!("{package}::{file}"),
                };
                let all = binary.tests.len() + binary.filtered;
                binary.tests.iter().map(move |test| (program.clone(), *test, all - 1))
            })
            .collect();
        let ignored = |test: usize| self.conditions.state.skip_reason(test).is_some();
        let skipped: usize = binaries.iter().map(|binary| binary.filtered).sum::<usize>()
            + tests.iter().filter(|(_, test, _)| ignored(*test)).count();
        let tests: Vec<(String, usize, usize)> =
            tests.into_iter().filter(|(_, test, _)| !ignored(*test)).collect();
        let count = tests.len();
        let words = |count: usize| if count == 1 { "test" } else { "tests" };
        let across = if binaries.len() == 1 { "binary" } else { "binaries" };
        let left_out = match skipped {
            0 => String::new(),
            _ => format!(" ({skipped} {} skipped)", words(skipped)),
        };
        let run = self.conditions.noise;
        self.report.err(rule);
        self.report.err(format!(
            " Nextest run ID {:08x}-{:04x}-4{:03x}-8{:03x}-{:012x} with nextest profile: default",
            run & 0xffff_ffff,
            run >> 8 & 0xffff,
            run >> 16 & 0xfff,
            run >> 24 & 0xfff,
            run & 0xffff_ffff_ffff
        ));
        self.report.err(format!(
            "    Starting {count} {} across {} {across}{left_out}",
            words(count),
            binaries.len()
        ));
        let mut failed = Vec::new();
        let mut ran = 0;
        for (place, (program, test, others)) in tests.iter().enumerate() {
            let name = self.name(*test);
            let width = count.to_string().len();
            let what = format!("({:>width$}/{count}) {program} {name}", place + 1);
            ran += 1;
            if !self.failures.contains_key(test) {
                self.report.passed.insert(*test);
                self.report.err(format!("        PASS {} {what}", time()));
                continue;
            }
            let line = format!("        FAIL {} {what}", time());
            self.report.err(line.clone());
            let mut block = vec![
                "  stdout ───".to_owned(),
                String::new(),
                "    running 1 test".to_owned(),
                format!("    test {name} ... FAILED"),
                String::new(),
                "    failures:".to_owned(),
                String::new(),
                "    failures:".to_owned(),
                format!("        {name}"),
                String::new(),
                format!(
                    "    test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; {others} filtered out; finished in 0.00s"
                ),
                String::new(),
                "  stderr ───".to_owned(),
            ];
            let panic = self.panic(*test);
            block.extend(
                panic.iter().map(|line| {
                    if line.is_empty() { String::new() } else { format!("    {line}") }
                }),
            );
            block.push(String::new());
            for line in block {
                self.report.err(line);
            }
            let error = self.failures[test].message[0].clone();
            let shown_by = vec![
                vec![line.clone()],
                vec![format!("test {name} ... FAILED")],
                vec![panic[1].clone()],
            ];
            self.report.failed.push(FailedCheck { check: *test, shown_by, error });
            failed.push(line);
            if !self.style.keep_going && ran < count {
                self.report.err("  Cancelling due to test failure: ");
                break;
            }
        }
        self.report.err(rule);
        let passed = ran - failed.len();
        let failures = match failed.len() {
            0 => String::new(),
            count => format!(", {count} failed"),
        };
        let counts = format!("{passed} passed{failures}, {skipped} skipped");
        let of = if ran < count { format!("{ran}/{count}") } else { ran.to_string() };
        let summary = format!("     Summary {} {of} {} run: {counts}", time(), words(count));
        self.report.summary.push(summary.trim().to_owned());
        self.report.err(summary);
        for line in &failed {
            self.report.err(line.clone());
        }
        if ran < count {
            let left = count - ran;
            let were = if left == 1 { "test was" } else { "tests were" };
            self.report.err(format!("warning: {left}/{count} {were} not run due to test failure (run with --no-fail-fast to run all tests, or run with --max-fail)"));
        }
        if !failed.is_empty() {
            self.report.err("error: test run failed");
            self.report.exit = 100;
        }
    }
}

/// Returns the sixteen hex digits after the name of a test program.
fn program_hash(text: &str) -> String {
    let sum = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{sum:016x}")
}
