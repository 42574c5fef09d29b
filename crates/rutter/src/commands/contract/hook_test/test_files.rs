//! `rutter contract test --tests`: runs the tests that an author keeps, and prints the results in four formats.

use std::fmt::Write as _;
use std::fs::File;
use std::path::{Path, PathBuf};

use rutter_check::settings::read_regular_file;
use rutter_check::tester::{
    CaseAnswer, HookStart, HookTestCase, HookTestFile, HookTestResult, JudgedTrial, ObservedAnswer,
    PayloadKind, TestPayload, TrialEffect, TrialRunner, judge_trial, merge_answers, update_tests,
};
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;

use super::isolation::{Isolation, TrialFolder};
use super::plan::{HookPlan, command_start};
use crate::atomic_file::write_atomically;
use crate::cli::hook_test::{HookTestArgs, HookTestFormat};
use crate::doctor::ClientEnvironment;
use crate::ui::{Ui, format_count, one_line};
use crate::{CommandError, CommandResult};

/// The file in the scratch folder with what was observed.
const OBSERVED_FILE: &str = "observed.json";
/// Largest such file.
const MAX_OBSERVED_BYTES: u64 = 64 * 1024 * 1024;

/// A test file, and the hooks that its tests run.
pub(super) struct PlannedFile {
    path: PathBuf,
    text: String,
    hooks: FileHooks,
    cases: Vec<HookTestCase>,
}

/// The hooks of a test file.
enum FileHooks {
    /// One hook, which runs on every payload.
    Command(HookStart),
    /// The hooks of settings, those that the client would run for a payload.
    Settings(HookPlan),
}

impl PlannedFile {
    /// Returns the starts of the hooks, with the folders of their plugins.
    pub(super) fn starts(&self) -> Vec<(&HookStart, Option<&Path>)> {
        match &self.hooks {
            FileHooks::Command(start) => vec![(start, None)],
            FileHooks::Settings(plan) => {
                let hooks = plan.hooks.iter();
                hooks.map(|hook| (&hook.hook.start, hook.hook.plugin.as_deref())).collect()
            }
        }
    }

    /// Returns remarks on hooks that are not run.
    pub(super) fn notes(&self) -> &[String] {
        match &self.hooks {
            FileHooks::Command(_) => &[],
            FileHooks::Settings(plan) => &plan.notes,
        }
    }
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

/// Reads the test files. A hook of the command line takes precedence over those of a file.
pub(super) fn load_files(
    args: &HookTestArgs,
    places: &ClientEnvironment,
    contract: Contract,
) -> CommandResult<Vec<PlannedFile>> {
    args.tests.iter().map(|path| load_file(path, args, places, contract)).collect()
}

fn load_file(
    path: &Path,
    args: &HookTestArgs,
    places: &ClientEnvironment,
    contract: Contract,
) -> CommandResult<PlannedFile> {
    let name = path.to_line();
    let text = std::fs::read_to_string(path)
        .map_err(|error| CommandError::Usage(format!("could not read {name}: {error}")))?;
    let file = HookTestFile::parse(&text, args.update).map_err(|error| {
        CommandError::Usage(format!("{name}: {}", one_line(&error.to_string())))
    })?;
    let start = command_start(args, &places.files.folder).or(file.start);
    let hooks = match (start, file.settings) {
        (Some(start), _) => FileHooks::Command(start),
        (None, Some(settings)) => {
            let plan = HookPlan::from_settings(Path::new(&settings), places, contract)?;
            if plan.project != places.files.folder {
                return Err(CommandError::Usage(format!(
                    "{name}: the settings are those of another project; run the tests in that folder"
                )));
            }
            FileHooks::Settings(plan)
        }
        (None, None) => {
            return Err(CommandError::Usage(format!(
                "{name} names no hook; add `command = \"…\"` or `settings = \"…\"`, or give a hook behind `--`"
            )));
        }
    };
    Ok(PlannedFile { path: path.to_owned(), text, hooks, cases: file.cases })
}

/// Runs the tests and prints the results. With `--update`, leaves what was observed in the scratch folder.
pub(super) fn run_files(
    files: &[PlannedFile],
    args: &HookTestArgs,
    (folder, isolation): (TrialFolder, Isolation),
    contract: Contract,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let scratch = folder.path().to_owned();
    let runner = TrialRunner::new(folder.environment)?;
    let results = files.iter().map(|file| TestFileResults {
        file: file.path.to_line(),
        tests: file.cases.iter().map(|case| run_case(case, file, &runner, contract)).collect(),
    });
    let run = TestFilesRun {
        client: contract.version().to_string(),
        isolation,
        files: results.collect(),
    };
    drop(runner);
    if args.update {
        let observed: Vec<Vec<_>> = (run.files.iter())
            .map(|file| file.tests.iter().map(|test| test.observed.clone()).collect())
            .collect();
        serde_json::to_writer(File::create(scratch.join(OBSERVED_FILE))?, &observed)
            .map_err(std::io::Error::from)?;
    }
    match args.chosen_format() {
        HookTestFormat::Json => ui.print_json(&run)?,
        HookTestFormat::Text => write!(ui.out, "{}", render_text(&run))?,
        HookTestFormat::Tap => write!(ui.out, "{}", render_tap(&run))?,
        HookTestFormat::Junit => write!(ui.out, "{}", render_junit(&run))?,
    }
    let is_failed = |test: &HookTestResult| {
        let updates = test.observed.as_ref().filter(|_| args.update);
        test.failures.len() > updates.map_or(0, ObservedAnswer::len)
    };
    if run.tests().any(|(_, test)| is_failed(test)) {
        return Err(CommandError::Findings);
    }
    Ok(())
}

fn run_case(
    case: &HookTestCase,
    file: &PlannedFile,
    runner: &TrialRunner,
    contract: Contract,
) -> HookTestResult {
    match &file.hooks {
        FileHooks::Command(start) => case.run(runner, start, contract),
        FileHooks::Settings(plan) => run_case_on_settings(case, plan, runner, contract),
    }
}

/// Runs all hooks that the client would run for the payload of a test, and compares their merged answer.
fn run_case_on_settings(
    case: &HookTestCase,
    plan: &HookPlan,
    runner: &TrialRunner,
    contract: Contract,
) -> HookTestResult {
    let environment = runner.environment();
    let Some(value) = case.payload(environment) else {
        return case.fail(format!("{} has no tool", case.event));
    };
    let payload = TestPayload { name: case.name.clone(), kind: PayloadKind::Ordinary, value };
    let hooks = plan.hooks.iter().filter(|hook| hook.hook.event == case.event && !hook.is_async);
    let hooks = hooks.filter(|hook| hook.takes(&payload, contract));
    let trials: Vec<JudgedTrial> = hooks
        .map(|hook| hook.in_folder(&plan.project, &environment.project))
        .map(|hook| judge_trial(&hook.hook, runner.run(&hook.hook, &payload.value), contract))
        .collect();
    let numbered: Vec<(usize, &JudgedTrial)> = trials.iter().enumerate().collect();
    let merged = merge_answers(case.event, &numbered);
    let deciding = merged.as_ref().and_then(|merged| trials.get(*merged.decided_by.first()?));
    case.compare(&CaseAnswer {
        effect: merged.as_ref().map_or(TrialEffect::Silent, |merged| merged.effect),
        sentence: deciding.map_or_else(
            || "No hook of the settings runs for this payload.".to_owned(),
            JudgedTrial::sentence,
        ),
        texts: trials.iter().flat_map(JudgedTrial::texts).map(str::to_owned).collect(),
        ending: None,
        took: trials.iter().map(|trial| trial.trial.took).max().unwrap_or_default(),
    })
}

/// Writes what was observed into the test files, and prints the changes.
pub(super) fn update_files(
    files: &[PlannedFile],
    scratch: &Path,
    args: &HookTestArgs,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let Ok(bytes) = read_regular_file(&scratch.join(OBSERVED_FILE), MAX_OBSERVED_BYTES) else {
        return Ok(());
    };
    let observed: Vec<Vec<Option<ObservedAnswer>>> =
        serde_json::from_slice(&bytes).map_err(std::io::Error::from)?;
    for (file, observed) in files.iter().zip(&observed) {
        let updated = update_tests(&file.text, observed);
        let name = file.path.to_line();
        for test in &updated.refused {
            ui.print_note(&format!("{name}: edit the test `{}` yourself", one_line(test)))?;
        }
        if updated.text == file.text {
            continue;
        }
        if std::fs::read_to_string(&file.path).ok().as_deref() != Some(&file.text) {
            return Err(CommandError::Refused(format!(
                "{name} has changed during the run; run it again"
            )));
        }
        write_tests(&file.path, &updated.text)?;
        for change in &updated.changes {
            let change = format!("updated {name}: {}", one_line(change));
            match args.chosen_format() {
                HookTestFormat::Text => writeln!(ui.out, "{change}")?,
                _ => ui.print_note(&change)?,
            }
        }
    }
    Ok(())
}

/// Replaces a file, behind a symbolic link too, with its permissions.
fn write_tests(path: &Path, text: &str) -> CommandResult {
    let path = path.canonicalize()?;
    let permissions = path.metadata()?.permissions();
    write_atomically(&path, |out| Ok(out.write_all(text.as_bytes())?))?;
    Ok(std::fs::set_permissions(&path, permissions)?)
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
    use super::*;

    fn sample() -> TestFilesRun {
        let test = |name: &str, failures: &[&str]| HookTestResult {
            name: name.to_owned(),
            failures: failures.iter().map(|failure| (*failure).to_owned()).collect(),
            effect: TrialEffect::Silent,
            milliseconds: 12.5,
            observed: None,
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
