//! Reading of a command line and its output: the outcome of each run in it, or the reason why it has none.
//!
//! The exit status comes first, as far as the command line passes it on; the text second. A visible failure is a
//! failure. A pass is never guessed: if the two contradict each other, or neither decides, the outcome is unknown.

use std::borrow::Cow;

use super::command_line::{CommandFolder, CommandLine};
use super::report::{OutputReport, PassedTest, ReportedFailure};
use super::run_finder::{
    ExitStatusMeaning, FoundRun, OutputFilter, RunProgram, ShownOutput, find_runs,
};
use super::table::{self, RunTask, Runner};
use super::wrapper_output::{InnerCommand, PackageOutput, read_task_output, split_by_package};
use super::{RunKind, TestCounts, Verdict, printed_status, runners, signature, text};

/// The exit status and output of a finished command line.
#[derive(Debug, Clone, Copy)]
pub struct CapturedOutput<'a> {
    /// The exit status of the line, if known.
    pub exit: Option<i32>,
    /// The bytes of stdout and stderr, in any order.
    pub output: &'a [u8],
    /// True if the client truncated the output.
    pub cut: bool,
}

/// The outcome of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedOutcome {
    /// Tests, a build or a check.
    pub kind: RunKind,
    /// The runner's name, or that of the task if its runner is unknown.
    pub runner: String,
    /// The verdict.
    pub verdict: Verdict,
    /// Numbers of tests, if the text has them.
    pub counts: Option<TestCounts>,
    /// Names of the failing tests, as the runner prints them.
    pub failing: Vec<String>,
    /// The signature of the failure.
    pub signature: Option<String>,
    /// The exit status, if it is that of the run.
    pub exit: Option<i32>,
    /// Duration that the runner prints, in milliseconds.
    pub duration: Option<u64>,
    /// The reason for the verdict.
    pub because: &'static str,
    /// The failures that the text shows.
    pub failures: Vec<ReportedFailure>,
    /// Tests that the text names as passed.
    pub passed: Vec<PassedTest>,
    /// True if the text is complete, so that `failures` has every failure of the run.
    pub is_whole: bool,
    /// The command lines that make up the run; several if a line starts the same runner more than once.
    pub invocations: Vec<Invocation>,
}

/// A command line of a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The runner's name, or that of the task if its runner is unknown.
    pub program: String,
    /// The words after the start of the runner's command line.
    pub arguments: Vec<String>,
    /// The folder in which it ran, relative to the working directory of the line.
    pub folder: CommandFolder,
    /// The task that started it, with the arguments passed to it: `make test`.
    pub task: Option<String>,
    /// True if some arguments are unknown because the task does not print its command.
    pub is_partial: bool,
    /// The package of the task, if its wrapper names it.
    pub package: Option<String>,
}

/// The reason why most command lines have no outcome.
pub const NO_RUN: &str =
    "no command in it is a run of tests, a build or a check that is waited for";

/// The reason why a run has no outcome if `only` lists other commands.
pub const NOT_WANTED: &str = "`hooks.outcome_capture.only` lists other commands";

/// Reads every run of a command line, or returns the reason why it has no outcome. The worst run comes last.
pub fn read_runs(
    line: &CommandLine,
    seen: &CapturedOutput<'_>,
) -> Result<Vec<ParsedOutcome>, &'static str> {
    let runs = find_runs(line);
    if runs.is_empty() {
        return Err(NO_RUN);
    }
    if let Some(last) = runs.last().filter(|run| run.status == ExitStatusMeaning::Own) {
        let timed = line.commands[last.at].wrappers.iter().any(|word| word.ends_with("timeout"));
        match seen.exit {
            Some(126 | 127) => return Err("it could not be started"),
            Some(124) if timed => return Err("it ran out of time"),
            Some(exit) if exit > 128 => return Err("a signal or a time-out ended it"),
            _ => {}
        }
    }
    let text = text::plain_text(seen.output);
    let mut readings: Vec<ParsedOutcome> = Vec::new();
    let mut unreached = None;
    for group in group_by_runner(&runs) {
        if unreached.is_some_and(|after: usize| group[0].at > after) {
            continue;
        }
        let read =
            RunGroup { line, seen, text: &text, runs: &group, alone: runs.len() == group.len() };
        let found = read.read_outcomes();
        // Commands that `&&` joins after a failed run did not run.
        if found.iter().any(|one| one.verdict == Verdict::Failed) && read.stops_the_line() {
            unreached = Some(group[group.len() - 1].at);
        }
        readings.extend(found);
    }
    if readings.is_empty() {
        return Err(NO_RUN);
    }
    // The sort is stable: runs with the same verdict stay in typed order.
    readings.sort_by_key(|reading| match reading.verdict {
        Verdict::Unknown => 0,
        Verdict::Passed => 1,
        Verdict::Failed => 2,
    });
    Ok(readings)
}

/// Reads a command line as one run: the worst of its runs.
pub fn read_line(command: &str, seen: &CapturedOutput<'_>) -> Result<ParsedOutcome, &'static str> {
    let mut readings = read_runs(&CommandLine::parse(command), seen)?;
    readings.pop().ok_or(NO_RUN)
}

/// Commands that the user has configured.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConfiguredRuns<'a> {
    /// Commands that count as runs in addition to the known ones.
    pub matchers: &'a [String],
    /// If not empty, no other commands count as runs.
    pub only: &'a [String],
}

impl ConfiguredRuns<'_> {
    /// Reads every run of a command line that the configuration includes, or returns the reason why it has no outcome.
    pub fn read_runs(
        self,
        line: &CommandLine,
        seen: &CapturedOutput<'_>,
    ) -> Result<Vec<ParsedOutcome>, &'static str> {
        if !self.only.is_empty() && find_matcher(self.only, line).is_none() {
            return Err(NOT_WANTED);
        }
        match read_runs(line, seen) {
            Err(NO_RUN) => {
                let name =
                    find_matcher(self.matchers, line).or_else(|| find_matcher(self.only, line));
                Ok(vec![read_configured(line, seen, name.ok_or(NO_RUN)?)?])
            }
            known => known,
        }
    }
}

/// Returns the first configured command that a command of the line starts with. `./run_tests.sh` also matches
/// `bash ./run_tests.sh -x`.
fn find_matcher<'a>(configured: &'a [String], line: &CommandLine) -> Option<&'a str> {
    configured.iter().map(|matcher| matcher.trim()).find(|matcher| {
        let wanted = CommandLine::parse(matcher);
        let Some(wanted) = wanted.commands.first().filter(|wanted| !wanted.words.is_empty()) else {
            return false;
        };
        line.commands.iter().any(|command| command.words.starts_with(&wanted.words))
    })
}

/// Reads a command line that the user has configured as a run, under its configured name.
fn read_configured(
    line: &CommandLine,
    seen: &CapturedOutput<'_>,
    name: &str,
) -> Result<ParsedOutcome, &'static str> {
    // The exit status of a line with several commands may belong to any of them.
    let exit = seen.exit.filter(|_| line.commands.len() == 1);
    if exit.is_some_and(|exit| matches!(exit, 126 | 127) || exit > 128) {
        return Err("it could not be started, or a signal or a time-out ended it");
    }
    let kind = table::kind_of_name(name).unwrap_or(RunKind::Test);
    let text = text::plain_text(seen.output);
    let output = read_task_output(&text, true);
    let (runner, report) = read_unknown_output(&output.text).into_iter().next().map_or_else(
        || (name.to_owned(), OutputReport::unknown()),
        |(runner, report)| (runner.name.to_owned(), report),
    );
    let words = line.commands.first().map(|command| command.words.clone()).unwrap_or_default();
    let invocation = Invocation {
        program: runner.clone(),
        arguments: Vec::new(),
        folder: line
            .commands
            .first()
            .map_or(CommandFolder::Unknown, |command| command.folder.clone()),
        task: Some(words.join(" ")),
        is_partial: true,
        package: None,
    };
    let evidence = RunEvidence {
        exit,
        if_reached: false,
        is_task: true,
        wrapper_failed: output.failed,
        missing: if seen.cut { MissingOutput::Cut } else { MissingOutput::Nothing },
        is_silent: false,
        ends_well: false,
    };
    Ok(conclude_run(runner, kind, report, &evidence, vec![invocation]))
}

/// Groups runs of the same runner: they print into one text, which is read as one report.
fn group_by_runner(runs: &[FoundRun]) -> Vec<Vec<FoundRun>> {
    let same = |one: &FoundRun, other: &FoundRun| match (&one.program, &other.program) {
        (RunProgram::Runner(one), RunProgram::Runner(other)) => one.runner == other.runner,
        (RunProgram::Task(one), RunProgram::Task(other)) => one.name == other.name,
        _ => false,
    };
    let mut groups: Vec<Vec<FoundRun>> = Vec::new();
    for run in runs {
        match groups.iter_mut().find(|group| same(&group[0], run)) {
            Some(group) => group.push(run.clone()),
            None => groups.push(vec![run.clone()]),
        }
    }
    groups
}

/// Maximum number of blank lines that the client may have removed from the end of a text.
const MAX_BLANK_LINES: usize = 3;

/// The part of a run's output that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MissingOutput {
    Nothing,
    /// The start, cut off by `tail`. The summary is there.
    Beginning,
    /// Lines that a filter dropped: the end, or lines in between.
    Filtered,
    /// Any part, because the client truncated the output.
    Cut,
}

/// Evidence besides the report of a reader.
#[expect(clippy::struct_excessive_bools, reason = "each is an observation of its own")]
struct RunEvidence {
    /// The exit status, if it is that of the run.
    exit: Option<i32>,
    /// True if a status other than 0 may be that of a command before the run.
    if_reached: bool,
    is_task: bool,
    wrapper_failed: bool,
    missing: MissingOutput,
    /// True if the runner prints nothing on success, and printed nothing.
    is_silent: bool,
    /// True if the end of the output is there, which would report a failure.
    ends_well: bool,
}

struct RunGroup<'a> {
    line: &'a CommandLine,
    seen: &'a CapturedOutput<'a>,
    text: &'a str,
    runs: &'a [FoundRun],
    /// True if no other runs print into the text.
    alone: bool,
}

impl RunGroup<'_> {
    fn read_outcomes(&self) -> Vec<ParsedOutcome> {
        let first = &self.runs[0];
        // Redirected output is not in the text.
        let text = if first.shown.is_lost { "" } else { self.text };
        match &first.program {
            RunProgram::Runner(found) => vec![self.read_runner(found.runner, text)],
            RunProgram::Task(task) => self.read_task(task, text),
        }
    }

    /// Returns true if a failure of this run prevents the rest of the line from running.
    fn stops_the_line(&self) -> bool {
        let last = &self.runs[self.runs.len() - 1];
        matches!(
            last.status,
            ExitStatusMeaning::ZeroOnly | ExitStatusMeaning::Own | ExitStatusMeaning::OwnIfReached
        )
    }

    fn read_runner(&self, runner: &'static Runner, text: &str) -> ParsedOutcome {
        let report =
            runner.reader().map_or_else(OutputReport::unknown, |reader| (reader.read)(text));
        let silent = runner.reader().is_some_and(|reader| reader.silent_on_success);
        let shown = &self.runs[0].shown;
        let is_silent = silent
            && self.alone
            && text.trim().is_empty()
            && !shown.is_lost
            && !shown.loses_errors
            && !self.seen.cut
            && !shown.filters.contains(&OutputFilter::Some);
        let evidence = RunEvidence { is_silent, ..self.evidence(false) };
        // cargo reports a failure at the very end.
        let ends_well = runner.name == "cargo test"
            && self.alone
            && evidence.missing == MissingOutput::Beginning
            && !shown.loses_errors
            && text
                .trim_end()
                .lines()
                .next_back()
                .is_some_and(|line| line.starts_with("test result: ok. "));
        let evidence = RunEvidence { ends_well, ..evidence };
        let invocations = self
            .runs
            .iter()
            .filter_map(|run| {
                let command = &self.line.commands[run.at];
                let RunProgram::Runner(found) = &run.program else { return None };
                Some(Invocation {
                    program: runner.name.to_owned(),
                    arguments: command.words[found.arguments.min(command.words.len())..].to_vec(),
                    folder: command.folder.clone(),
                    task: None,
                    is_partial: false,
                    package: None,
                })
            })
            .collect();
        let kind = runner.kind.unwrap_or(RunKind::Test);
        conclude_run(runner.name.to_owned(), kind, report, &evidence, invocations)
    }

    /// Reads the outcomes of a task, which may use several runners, each in several packages.
    fn read_task(&self, task: &RunTask, text: &str) -> Vec<ParsedOutcome> {
        let command = &self.line.commands[self.runs[0].at];
        let mut readings = Vec::new();
        for output in split_by_package(text) {
            readings.extend(self.read_package(task, &output));
        }
        correct_part_verdicts(&mut readings, self.evidence(true).exit);
        if readings.is_empty()
            && let Some(kind) = task.kind
        {
            let invocation = Invocation {
                program: task.name.clone(),
                arguments: command.words[1..].to_vec(),
                folder: command.folder.clone(),
                task: None,
                is_partial: true,
                package: None,
            };
            let wrapper_failed = read_task_output(text, false).failed;
            let evidence = RunEvidence { wrapper_failed, ..self.evidence(true) };
            let report = OutputReport::unknown();
            readings.push(conclude_run(
                task.name.clone(),
                kind,
                report,
                &evidence,
                vec![invocation],
            ));
        }
        readings
    }

    /// Reads the outcomes of a task in one package.
    fn read_package(&self, task: &RunTask, output: &PackageOutput<'_>) -> Vec<ParsedOutcome> {
        let command = &self.line.commands[self.runs[0].at];
        let echoes = matches!(command.program(), "make" | "just") || task.name.contains('.');
        let package = output.package.map(str::to_owned);
        let output = read_task_output(&output.text, echoes);
        let evidence = RunEvidence { wrapper_failed: output.failed, ..self.evidence(true) };
        let passed_on = &command.words[task.arguments.min(command.words.len())..];
        let spelled = command.words.join(" ");
        let inner = inner_runs(&output.commands, passed_on, &command.folder, &spelled);
        if inner.is_empty() {
            let read = read_unknown_output(&output.text).into_iter().map(|(runner, report)| {
                let invocation = Invocation {
                    program: runner.name.to_owned(),
                    arguments: Vec::new(),
                    folder: command.folder.clone(),
                    task: Some(spelled.clone()),
                    is_partial: true,
                    package: package.clone(),
                };
                let kind = runner.kind.unwrap_or(RunKind::Test);
                conclude_run(runner.name.to_owned(), kind, report, &evidence, vec![invocation])
            });
            return read.collect();
        }
        let read = inner.into_iter().map(|(runner, mut invocations)| {
            for invocation in &mut invocations {
                invocation.package = invocation.package.take().or_else(|| package.clone());
            }
            let reader = runner.reader();
            let report =
                reader.map_or_else(OutputReport::unknown, |reader| (reader.read)(&output.text));
            let kind = runner.kind.unwrap_or(RunKind::Test);
            conclude_run(runner.name.to_owned(), kind, report, &evidence, invocations)
        });
        read.collect()
    }

    /// Collects the exit status and the missing part of the output.
    fn evidence(&self, is_task: bool) -> RunEvidence {
        let last = &self.runs[self.runs.len() - 1];
        let mut if_reached = false;
        let mut exit = match (last.status, self.seen.exit) {
            (ExitStatusMeaning::Hidden, _) | (_, None) => None,
            (_, Some(0)) => Some(0),
            (ExitStatusMeaning::ZeroOnly, Some(_)) => None,
            (ExitStatusMeaning::Own, Some(code)) => Some(code),
            (ExitStatusMeaning::OwnIfReached, Some(code)) => {
                if_reached = true;
                Some(code)
            }
        };
        // For several runs a status of 0 means that all succeeded, any other that one of them failed.
        if self.runs.len() > 1 {
            let hidden = self.runs.iter().any(|run| run.status == ExitStatusMeaning::Hidden);
            if_reached = true;
            if hidden {
                exit = None;
            }
        } else if exit.is_none()
            && let Some(told) = printed_status::printed_exit_status(self.line, last.at, self.text)
        {
            exit = Some(told);
        }
        let missing = self
            .runs
            .iter()
            .map(|run| {
                find_missing_output(&run.shown, self.text, self.alone && self.runs.len() == 1)
            })
            .fold(
                if self.seen.cut { MissingOutput::Cut } else { MissingOutput::Nothing },
                MissingOutput::worse,
            );
        RunEvidence {
            exit,
            if_reached,
            is_task,
            wrapper_failed: false,
            missing,
            is_silent: false,
            ends_well: false,
        }
    }
}

impl MissingOutput {
    fn worse(self, other: Self) -> Self {
        self.max(other)
    }
}

/// Determines the missing part of a run's output. `alone` is true if the text has only this run: then a `head -20` that
/// printed 12 lines has cut nothing off.
fn find_missing_output(shown: &ShownOutput, text: &str, alone: bool) -> MissingOutput {
    let lines = text.lines().count();
    // The client removes blank lines at the end.
    let has_all =
        |count: Option<usize>| alone && count.is_some_and(|count| lines + MAX_BLANK_LINES < count);
    shown.filters.iter().fold(MissingOutput::Nothing, |known, filter| {
        known.worse(match filter {
            OutputFilter::Head(count) | OutputFilter::Tail(count) if has_all(*count) => {
                MissingOutput::Nothing
            }
            OutputFilter::Tail(_) => MissingOutput::Beginning,
            OutputFilter::Head(_) | OutputFilter::Some => MissingOutput::Filtered,
        })
    })
}

/// Returns the runs in the commands that a task printed, by runner.
fn inner_runs(
    commands: &[InnerCommand<'_>],
    passed_on: &[String],
    folder: &CommandFolder,
    task: &str,
) -> Vec<(&'static Runner, Vec<Invocation>)> {
    let mut found: Vec<(&'static Runner, Vec<Invocation>)> = Vec::new();
    for inner in commands {
        let line = CommandLine::parse(inner.line);
        for command in &line.commands {
            let Some(runner) = table::find_runner(&command.words) else { continue };
            let mut arguments = command.words[runner.arguments.min(command.words.len())..].to_vec();
            if inner.is_cut {
                // The last word is incomplete; the arguments passed to the task come after it.
                arguments.pop();
                arguments.extend_from_slice(passed_on);
            }
            let invocation = Invocation {
                program: runner.runner.name.to_owned(),
                arguments,
                folder: match inner.folder {
                    Some(path) => CommandFolder::Absolute(path.to_owned()).join(&command.folder),
                    None => folder.join(&command.folder),
                },
                task: Some(task.to_owned()),
                is_partial: inner.is_cut,
                package: inner.package.map(str::to_owned),
            };
            match found.iter_mut().find(|(known, _)| *known == runner.runner) {
                Some((_, invocations)) => invocations.push(invocation),
                None => found.push((runner.runner, vec![invocation])),
            }
        }
    }
    found
}

/// Corrects the verdicts of a task with several parts, as a status other than 0 belongs to only one. If a part failed
/// by its text, the others did not fail by the status; otherwise the last part that is not known to have passed failed.
fn correct_part_verdicts(readings: &mut [ParsedOutcome], exit: Option<i32>) {
    if readings.len() < 2 || exit.is_none_or(|exit| exit == 0) {
        return;
    }
    let failed = |reading: &ParsedOutcome| {
        !reading.failures.is_empty() || reading.counts.is_some_and(|counts| counts.failed > 0)
    };
    let passed = |reading: &ParsedOutcome| reading.counts.is_some_and(|counts| counts.passed > 0);
    let blamed = if readings.iter().any(failed) {
        None
    } else {
        readings.iter().rposition(|reading| !passed(reading))
    };
    for (at, reading) in readings.iter_mut().enumerate() {
        if failed(reading) || blamed == Some(at) {
            continue;
        }
        (reading.verdict, reading.because) = if passed(reading) {
            (Verdict::Passed, "its text says that it passed; the status is another command's")
        } else {
            (
                Verdict::Unknown,
                "something in the task failed, and its text does not say that it was this",
            )
        };
    }
}

/// Returns the reports of the readers that understand the output of an unknown program.
fn read_unknown_output(text: &str) -> Vec<(&'static Runner, OutputReport)> {
    let reports = runners::select_readers(text).into_iter().filter_map(|reader| {
        let runner = table::find_runner_by_name(reader.name)?;
        let report = (reader.read)(text);
        report.is_known().then_some((runner, report))
    });
    let mut reports: Vec<(&'static Runner, OutputReport)> = reports.collect();
    // Readers that count tests have more information than readers that list findings, which may report the same
    // failure.
    reports.sort_by_key(|(_, report)| report.counts.is_none());
    let counted = reports.iter().filter(|(_, report)| report.counts.is_some()).count();
    if counted > 0 {
        reports.truncate(counted);
    }
    reports.truncate(2);
    reports
}

/// Combines runner, report and evidence into a reading.
fn conclude_run(
    runner: String,
    kind: RunKind,
    report: OutputReport,
    evidence: &RunEvidence,
    invocations: Vec<Invocation>,
) -> ParsedOutcome {
    let (verdict, because) = decide_verdict(&report, &runner, evidence);
    let failed = verdict == Verdict::Failed;
    let mut failing = Vec::new();
    if failed {
        for test in report.failures.iter().filter_map(|failure| failure.test.as_ref()) {
            if !failing.contains(test) {
                failing.push(test.clone());
            }
        }
    }
    ParsedOutcome {
        kind,
        runner,
        verdict,
        counts: report.counts,
        failing,
        signature: if failed { signature::failures_signature(&report.failures) } else { None },
        exit: evidence.exit,
        duration: report.duration,
        because,
        failures: if failed { report.failures } else { Vec::new() },
        passed: report.passed,
        is_whole: evidence.missing == MissingOutput::Nothing,
        invocations,
    }
}

fn decide_verdict(
    report: &OutputReport,
    runner: &str,
    evidence: &RunEvidence,
) -> (Verdict, &'static str) {
    let row = table::find_runner_by_name(runner);
    let ran_none = report.counts.is_some_and(|counts| counts.passed + counts.failed == 0);
    match (evidence.exit, report.verdict) {
        (Some(0), Verdict::Failed) if evidence.is_task => (
            Verdict::Failed,
            "its text says that something failed, and its wrapper hides the exit status",
        ),
        (Some(0), Verdict::Failed) => {
            (Verdict::Unknown, "it exited with 0, and its text says that something failed")
        }
        (Some(0), _) if ran_none => (Verdict::Unknown, "nothing ran"),
        (Some(0), _) => (Verdict::Passed, "it exited with 0"),
        (Some(code), _) if row.is_some_and(|row| row.ran_nothing.contains(&code)) => {
            (Verdict::Unknown, "its exit status says that nothing ran")
        }
        (Some(_), Verdict::Failed) => {
            (Verdict::Failed, "it failed by its exit status and by its text")
        }
        (Some(_), Verdict::Passed) if evidence.if_reached => {
            (Verdict::Passed, "its text says that it passed; the status is another command's")
        }
        (Some(_), _) if evidence.if_reached => (
            Verdict::Unknown,
            "the line failed, and perhaps before the run: its text does not say that it failed",
        ),
        (Some(_), _) => (Verdict::Failed, "its exit status is not 0"),
        (None, Verdict::Failed) => {
            (Verdict::Failed, "the exit status is hidden; its text says that it failed")
        }
        (None, _) if evidence.wrapper_failed => {
            (Verdict::Failed, "the exit status is hidden; its wrapper says that it failed")
        }
        // With several parts each has its summary, and that of the failed part may be missing.
        (None, Verdict::Passed)
            if evidence.missing == MissingOutput::Cut
                || (evidence.missing == MissingOutput::Filtered
                    && !row.is_some_and(|row| row.has_one_summary)) =>
        {
            (Verdict::Unknown, "the exit status is hidden, and some of the text is missing")
        }
        (None, Verdict::Passed) => {
            (Verdict::Passed, "the exit status is hidden; its summary says that it passed")
        }
        (None, Verdict::Unknown) if evidence.is_silent => {
            (Verdict::Passed, "it prints nothing when all is well, and printed nothing")
        }
        (None, Verdict::Unknown) if evidence.ends_well => {
            (Verdict::Passed, "the exit status is hidden; its end says that nothing failed")
        }
        (None, Verdict::Unknown) => {
            (Verdict::Unknown, "the exit status is hidden, and the text does not say")
        }
    }
}

/// Returns the plain text of an output for readers.
pub fn plain_text(output: &[u8]) -> Cow<'_, str> {
    text::plain_text(output)
}

#[cfg(test)]
mod tests;
