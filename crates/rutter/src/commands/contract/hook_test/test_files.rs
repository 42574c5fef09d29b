//! `rutter contract test --tests`: runs the tests that an author keeps, and prints the results in four formats.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rutter_check::tester::{HookStart, HookTestCase, HookTestFile, HookTestResult, TrialRunner};
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;

use super::isolation::{Isolation, TrialFolder};
use crate::cli::hook_test::{HookTestArgs, HookTestFormat};
use crate::ui::{Ui, format_count, one_line};
use crate::{CommandError, CommandResult};

/// A test file, and the hook that its tests run.
pub(super) struct PlannedFile {
    path: PathBuf,
    pub(super) start: HookStart,
    cases: Vec<HookTestCase>,
}

/// The results of all files.
#[derive(Debug, Serialize)]
struct TestFilesRun {
    client: String,
    isolation: Isolation,
    files: Vec<TestFileResults>,
}

/// The results of a file.
#[derive(Debug, Serialize)]
struct TestFileResults {
    file: String,
    tests: Vec<HookTestResult>,
}

/// Reads the test files. `start` is the hook of the command line, which takes precedence over that of a file.
pub(super) fn load_files(
    paths: &[PathBuf],
    start: Option<&HookStart>,
) -> CommandResult<Vec<PlannedFile>> {
    paths.iter().map(|path| load_file(path, start)).collect()
}

fn load_file(path: &Path, start: Option<&HookStart>) -> CommandResult<PlannedFile> {
    let name = path.to_line();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::Usage(format!("could not read {name}: {error}")))?;
    let file = HookTestFile::parse(&text).map_err(|error| {
        CommandError::Usage(format!("{name}: {}", one_line(&error.to_string())))
    })?;
    let start = start.cloned().or(file.start).ok_or_else(|| {
        CommandError::Usage(format!(
            "{name} names no hook; add `command = \"…\"`, or give one behind `--`"
        ))
    })?;
    Ok(PlannedFile { path: path.to_owned(), start, cases: file.cases })
}

/// Runs the tests and prints the results.
pub(super) fn run_files(
    files: &[PlannedFile],
    args: &HookTestArgs,
    (folder, isolation): (TrialFolder, Isolation),
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let runner = TrialRunner::new(folder.environment)?;
    let results = files.iter().map(|file| TestFileResults {
        file: file.path.to_line(),
        tests: file.cases.iter().map(|case| case.run(&runner, &file.start, contract)).collect(),
    });
    let run = TestFilesRun {
        client: contract.version().to_string(),
        isolation,
        files: results.collect(),
    };
    drop(runner);
    match args.chosen_format() {
        HookTestFormat::Json => ui.print_json(&run)?,
        HookTestFormat::Text => write!(ui.out, "{}", render_text(&run))?,
        HookTestFormat::Tap => write!(ui.out, "{}", render_tap(&run))?,
        HookTestFormat::Junit => write!(ui.out, "{}", render_junit(&run))?,
    }
    if run.tests().any(|(_, test)| !test.failures.is_empty()) {
        return Err(CommandError::Findings);
    }
    Ok(())
}

impl TestFilesRun {
    /// Returns all tests with their files.
    fn tests(&self) -> impl Iterator<Item = (&str, &HookTestResult)> {
        self.files.iter().flat_map(|file| file.tests.iter().map(|test| (file.file.as_str(), test)))
    }
}

fn render_text(run: &TestFilesRun) -> String {
    let mut text = String::new();
    for (file, test) in run.tests().filter(|(_, test)| !test.failures.is_empty()) {
        let _ = writeln!(text, "failed: {} ({file})", one_line(&test.name));
        for failure in &test.failures {
            let _ = writeln!(text, "  {}", one_line(failure));
        }
    }
    let all = run.tests().count();
    let failed = run.tests().filter(|(_, test)| !test.failures.is_empty()).count();
    let _ = writeln!(
        text,
        "{}, {} passed, {failed} failed",
        format_count(all as u64, "test"),
        all - failed
    );
    text
}

fn render_tap(run: &TestFilesRun) -> String {
    let mut text = format!("TAP version 13\n1..{}\n", run.tests().count());
    for (number, (_, test)) in run.tests().enumerate() {
        let state = if test.failures.is_empty() { "ok" } else { "not ok" };
        // `#` starts a directive.
        let name = one_line(&test.name).replace('#', "\\#");
        let _ = writeln!(text, "{state} {} - {name}", number + 1);
        for failure in &test.failures {
            let _ = writeln!(text, "# {}", one_line(failure));
        }
    }
    text
}

fn render_junit(run: &TestFilesRun) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n".to_owned();
    for file in &run.files {
        let failures = file.tests.iter().filter(|test| !test.failures.is_empty()).count();
        let (name, tests) = (escape_xml(&file.file), file.tests.len());
        let _ = writeln!(
            text,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">"
        );
        for test in &file.tests {
            let seconds = test.milliseconds / 1000.0;
            let case = escape_xml(&test.name);
            let _ = write!(
                text,
                "    <testcase classname=\"{name}\" name=\"{case}\" time=\"{seconds:.4}\""
            );
            if test.failures.is_empty() {
                text.push_str("/>\n");
                continue;
            }
            let message = escape_xml(&test.failures.join("; "));
            let _ = writeln!(text, ">\n      <failure message=\"{message}\"/>\n    </testcase>");
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// Escapes a text for an attribute of XML, as one line.
fn escape_xml(text: &str) -> String {
    let text = one_line(text);
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use rutter_check::tester::TrialEffect;

    use super::*;

    fn sample() -> TestFilesRun {
        let test = |name: &str, failures: &[&str]| HookTestResult {
            name: name.to_owned(),
            failures: failures.iter().map(|failure| (*failure).to_owned()).collect(),
            effect: TrialEffect::Silent,
            milliseconds: 12.5,
        };
        let tests =
            vec![test("push #1", &[]), test("a <b> & \"c\"", &["expected\nblocked", "late"])];
        TestFilesRun {
            client: "1.2.3".to_owned(),
            isolation: Isolation {
                project_copy: true,
                scratch_home: true,
                no_network: true,
                read_only_files: true,
                hidden_home: true,
                own_processes: true,
            },
            files: vec![TestFileResults { file: "x.hooktest.toml".to_owned(), tests }],
        }
    }

    #[test]
    fn formats_name_failures() {
        assert_eq!(
            render_text(&sample()),
            "failed: a <b> & \"c\" (x.hooktest.toml)\n  expected blocked\n  late\n2 tests, 1 passed, 1 failed\n"
        );
        assert_eq!(
            render_tap(&sample()),
            "TAP version 13\n1..2\nok 1 - push \\#1\nnot ok 2 - a <b> & \"c\"\n# expected blocked\n# late\n"
        );
        let junit = render_junit(&sample());
        for line in [
            "<testsuite name=\"x.hooktest.toml\" tests=\"2\" failures=\"1\">",
            "<testcase classname=\"x.hooktest.toml\" name=\"push #1\" time=\"0.0125\"/>",
            "name=\"a &lt;b&gt; &amp; &quot;c&quot;\" time=\"0.0125\">",
            "<failure message=\"expected blocked; late\"/>",
        ] {
            assert!(junit.contains(line), "{line}: {junit}");
        }
    }
}
