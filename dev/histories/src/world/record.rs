//! Records the truth while a history is generated.

use std::collections::{BTreeMap, BTreeSet};

use super::{LearnedLesson, SimulatedSession};
use crate::command::{OutputPipe, ProjectTaskRunner, RunResult, RunSpec, RunWrapper};
use crate::diff;
use crate::project::{BugKind, CheckKind, CheckTool, Remedy};
use crate::runs::TestStatus;
use crate::truth::{
    ChangeRole, ChangeTruth, CheckName, ExpectedText, FailureCause, FailureEnding, FailureSighting,
    FailureTruth, RunTruth, normalise_line,
};

impl SimulatedSession {
    /// Returns the cause of every failure of a run, by check.
    fn causes(&self, spec: &RunSpec) -> BTreeMap<usize, FailureCause> {
        let mut causes = BTreeMap::new();
        for (index, bug) in self.project.bugs.iter().enumerate() {
            if let Some(form) = bug.form_in(&self.state().tree) {
                for (check, _) in &form.failures {
                    causes.entry(*check).or_insert(FailureCause::Bug(index));
                }
            }
        }
        if let Some(need) = self.project.need.as_ref().filter(|_| !spec.is_remedied) {
            for (check, _) in &need.failures {
                causes.entry(*check).or_insert(FailureCause::Environment);
            }
        }
        for check in &spec.flaky {
            causes.entry(*check).or_insert(FailureCause::Chance);
        }
        causes
    }

    /// Returns the name of a check as its runner prints it.
    fn check_name(&self, check: usize, cause: FailureCause) -> CheckName {
        let of = &self.project.checks[check];
        if of.kind == CheckKind::Test {
            let name = self.state().name(&self.project, check).unwrap_or(&of.name);
            return CheckName::Test(name.to_owned());
        }
        let mut texts: Vec<String> = Vec::new();
        let file = of.file.rsplit('/').next().unwrap_or_default();
        if of.kind != CheckKind::Build {
            texts.push(file.to_owned());
        }
        if let FailureCause::Bug(bug) = cause {
            let failures = self.project.bugs[bug].forms[0].failures.iter();
            let failure = failures.clone().find(|(index, _)| *index == check);
            if let Some((_, failure)) = failure.filter(|_| of.kind == CheckKind::Build) {
                texts.push(failure.mark.clone());
            }
        }
        CheckName::Finding(texts)
    }

    /// Records a run that has just been sent.
    pub(super) fn record_run(&mut self, spec: &RunSpec, result: &RunResult) {
        let step = self.steps.len() - 1;
        let here = self.here;
        let causes = self.causes(spec);
        let tags = spelling_tags(spec);
        let tool = match &spec.wrapper {
            RunWrapper::Task(task) => task.tool.name(),
            _ => spec.tool.name(),
        };
        self.truth.runs.push(RunTruth { step, tool, is_failed: result.report.exit != 0 });
        for failed in &result.report.failed {
            let Some(cause) = causes.get(&failed.check).copied() else { continue };
            let is_named = failed.shown_by.iter().any(|texts| result.shows(texts));
            let is_placed = self.is_placed(spec, result, failed.check);
            let name = self.check_name(failed.check, cause);
            let index = if let Some(index) = self.open.get(&(here, failed.check)) {
                *index
            } else {
                self.truth.failures.push(FailureTruth {
                    check: failed.check,
                    checkout: here,
                    cause,
                    opened: step,
                    is_named: false,
                    is_placed: false,
                    failed_at: Vec::new(),
                    passed_at: Vec::new(),
                    required_at: None,
                    removed_at: None,
                    resolution: None,
                    session: self.session,
                    name: name.clone(),
                    tags: BTreeSet::new(),
                    is_thin: false,
                });
                self.open.insert((here, failed.check), self.truth.failures.len() - 1);
                self.truth.failures.len() - 1
            };
            let failure = &mut self.truth.failures[index];
            failure.cause = cause;
            failure.is_named |= is_named;
            failure.is_placed |= is_placed;
            failure.tags.extend(tags.iter().map(|tag| format!("red: {tag}")));
            if is_named {
                let command = result.command.clone();
                self.failing_commands.entry(command).or_default().insert(failed.check);
            }
            let is_error_shown = result.text.contains(failed.error.as_str());
            let lookalikes = self.lookalikes(failed.check, cause, is_placed, is_error_shown);
            let is_clear = is_named && lookalikes.is_empty();
            let expectation = match self.expectation(failed.check, cause, is_clear) {
                ExpectedText::Silence | ExpectedText::OtherCause if !lookalikes.is_empty() => {
                    ExpectedText::Free
                }
                expectation => expectation,
            };
            let mut sighting_tags = self.lesson_tags(failed.check, cause);
            sighting_tags.extend(self.return_tags.get(&cause).cloned().unwrap_or_default());
            sighting_tags.extend(tags.iter().map(|tag| format!("return: {tag}")));
            if self.agent.is_some() {
                sighting_tags.insert("return: in a subagent".to_owned());
            }
            self.truth.sightings.push(FailureSighting {
                step,
                context: (self.session, self.agent.clone()),
                check: failed.check,
                cause,
                name,
                expectation,
                lookalikes,
                tags: sighting_tags,
                tool,
            });
        }
        // A renamed test has two failures: the one of the old name may end with the new one.
        for failure in self.truth.failures.iter_mut().filter(|at| at.checkout == here) {
            if result.report.failed.iter().any(|failed| failed.check == failure.check) {
                failure.failed_at.push(step);
            } else if result.report.passed.contains(&failure.check) {
                failure.passed_at.push(step);
            }
        }
        self.mark_several(step);
        self.record_passes(spec, result, step, &tags);
    }

    /// Tags the failures of a run with several failures.
    fn mark_several(&mut self, step: usize) {
        let of_run: Vec<usize> = self
            .open
            .values()
            .copied()
            .filter(|index| self.truth.failures[*index].failed_at.last() == Some(&step))
            .collect();
        let causes: BTreeSet<FailureCause> =
            of_run.iter().map(|index| self.truth.failures[*index].cause).collect();
        for index in &of_run {
            let failure = &mut self.truth.failures[*index];
            if causes.len() > 1 {
                failure.tags.insert("several failures at once".to_owned());
            }
            let cause = failure.cause;
            let same =
                of_run.iter().filter(|other| self.truth.failures[**other].cause == cause).count();
            if same > 1 {
                let tag = "one bug fails several tests".to_owned();
                self.truth.failures[*index].tags.insert(tag);
            }
        }
    }

    fn record_passes(
        &mut self,
        spec: &RunSpec,
        result: &RunResult,
        step: usize,
        tags: &BTreeSet<String>,
    ) {
        let here = self.here;
        let is_green = result.is_known_green(spec);
        let open: Vec<(usize, usize)> = self
            .open
            .iter()
            .filter(|((checkout, _), _)| *checkout == here)
            .map(|((_, check), index)| (*check, *index))
            .collect();
        for (check, index) in open {
            if !result.report.passed.contains(&check) {
                let is_failing = result.report.failed.iter().any(|failed| failed.check == check);
                if !is_failing && result.report.exit == 0 {
                    let tag = "a green run in between that does not cover it".to_owned();
                    self.truth.failures[index].tags.insert(tag);
                    self.truth.uncovered.push((step, index));
                }
                continue;
            }
            // A list of tests shows that a file can be imported, but runs nothing.
            let is_covered = !spec.style.collect_only
                && self.is_coverage_known(spec, result, check)
                && (self.truth.failures[index].is_placed || !is_narrow(spec));
            let failure = &mut self.truth.failures[index];
            if is_green && is_covered {
                failure.required_at = Some(step);
                failure.session = self.session;
                failure.tags.extend(tags.iter().map(|tag| format!("green: {tag}")));
                self.resolve(index, here, check);
            }
        }
    }

    /// Returns true if a run shows the package of a check: by its path, its folder or its selection.
    fn is_placed(&self, spec: &RunSpec, result: &RunResult, check: usize) -> bool {
        let package = self.project.checks[check].package;
        let folder = &self.project.packages[package].folder;
        self.project.packages.len() == 1 || is_narrow(spec) || result.text.contains(folder.as_str())
    }

    /// Returns the causes of lessons that the output of a run cannot distinguish from a failure: those of tests of the
    /// same name, if the package is not shown, and those of the same test, if the error is not shown.
    fn lookalikes(
        &self,
        check: usize,
        cause: FailureCause,
        is_placed: bool,
        is_error_shown: bool,
    ) -> Vec<FailureCause> {
        let name = &self.project.checks[check].name;
        let is_alike = |lesson: &&LearnedLesson| {
            let is_same = lesson.check == check;
            let is_twin = !is_same && self.project.checks[lesson.check].name == *name;
            lesson.cause != cause && ((is_same && !is_error_shown) || (is_twin && !is_placed))
        };
        self.learned.iter().filter(is_alike).map(|lesson| lesson.cause).collect()
    }

    /// Returns true if the command or its output shows that a check was executed.
    fn is_coverage_known(&self, spec: &RunSpec, result: &RunResult, check: usize) -> bool {
        let RunWrapper::Task(task) = &spec.wrapper else { return true };
        if task.runner != ProjectTaskRunner::Script {
            return true;
        }
        let of = &self.project.checks[check];
        let name = self.state().name(&self.project, check).unwrap_or_default();
        let seen = self.failing_commands.get(&result.command);
        seen.is_some_and(|checks| checks.contains(&check))
            || result.text.contains(name) && !of.region.is_empty()
    }

    /// Ends a failure after a run that is known to have passed its check.
    fn resolve(&mut self, index: usize, checkout: usize, check: usize) {
        self.open.remove(&(checkout, check));
        let failure = &self.truth.failures[index];
        let cause = failure.cause;
        let opened = failure.opened;
        let resolution = match cause {
            FailureCause::Bug(_) => FailureEnding::Fixed,
            FailureCause::Environment => FailureEnding::Command,
            FailureCause::Chance => FailureEnding::Flaky,
        };
        let mut tags = failure.tags.clone();
        tags.extend(self.fix_tags(checkout, cause, opened));
        let is_thin = match cause {
            FailureCause::Bug(bug) => self.is_thin(bug, check),
            _ => false,
        };
        let failure = &mut self.truth.failures[index];
        failure.resolution = Some(resolution);
        failure.tags.clone_from(&tags);
        failure.is_thin = is_thin;
        let session = failure.session;
        self.learned.push(LearnedLesson { check, cause, session, resolution, tags, is_thin });
    }

    /// Returns true if nothing in a failure points to the location of its fix.
    fn is_thin(&self, bug: usize, check: usize) -> bool {
        let bug = &self.project.bugs[bug];
        let check = &self.project.checks[check];
        if bug.kind == BugKind::Configuration {
            return true;
        }
        if check.kind != CheckKind::Test {
            return false;
        }
        // A test of one function that fails because of another function does not name it.
        let bare = |text: &str| text.to_lowercase().replace('_', "");
        let function = bare(bug.unit.rsplit('/').next().unwrap_or_default());
        let name = bare(&format!("{} {}", check.group.as_deref().unwrap_or_default(), check.name));
        !name.contains(&function)
    }

    /// Returns the kinds of mess between the first run with a failure and its fix.
    fn fix_tags(&self, checkout: usize, cause: FailureCause, opened: usize) -> BTreeSet<String> {
        let mut tags = BTreeSet::new();
        let changes: Vec<&ChangeTruth> = self
            .truth
            .changes
            .iter()
            .filter(|change| change.checkout == checkout && change.step >= opened)
            .collect();
        let FailureCause::Bug(bug) = cause else {
            if let (FailureCause::Environment, Some(need)) = (cause, &self.project.need) {
                tags.insert(match need.remedy {
                    Remedy::Variable(..) => "fix: a variable".to_owned(),
                    Remedy::Flag(_) => "fix: a flag".to_owned(),
                    Remedy::Wrapper(_) => "fix: a wrapper".to_owned(),
                });
            }
            if !changes.is_empty() {
                tags.insert("unrelated edits in between".to_owned());
            }
            return tags;
        };
        tags.insert(format!("bug: {}", self.project.bugs[bug].kind.name()));
        let fixes: Vec<&&ChangeTruth> =
            changes.iter().filter(|change| change.role == ChangeRole::Fix(bug)).collect();
        let files: BTreeSet<&String> = fixes.iter().flat_map(|change| &change.files).collect();
        for fix in &fixes {
            tags.insert(format!("fix: {}", fix.kind));
        }
        if fixes.len() > 1 {
            tags.insert("fix: in two edits".to_owned());
        }
        let last_fix = fixes.iter().map(|fix| fix.step).max().unwrap_or_default();
        for change in &changes {
            let is_same = change.files.iter().any(|file| files.contains(file));
            let place = if is_same { "the same file" } else { "another file" };
            match change.role {
                ChangeRole::Unrelated => {
                    let time = if change.step > last_fix { "after" } else { "before" };
                    tags.insert(format!("decoy {time} the fix in {place}"));
                    tags.insert(format!("decoy: {}", change.kind));
                }
                ChangeRole::Attempt(of) if of == bug => {
                    let undone = changes.iter().any(|other| other.role == ChangeRole::Undo(bug));
                    let what = if undone { "undone" } else { "left" };
                    tags.insert(format!("a wrong attempt, {what}"));
                }
                ChangeRole::Fix(other) if other != bug => {
                    tags.insert("another fix in between".to_owned());
                }
                _ => {}
            }
        }
        if changes.len() > 1 {
            tags.insert("several edits".to_owned());
        }
        tags
    }

    /// Returns the tags of the lesson about a failure.
    fn lesson_tags(&self, check: usize, cause: FailureCause) -> BTreeSet<String> {
        let lesson =
            self.learned.iter().rev().find(|lesson| lesson.check == check && lesson.cause == cause);
        lesson.map(|lesson| lesson.tags.clone()).unwrap_or_default()
    }

    /// Decides the expected text for a failing check.
    fn expectation(&mut self, check: usize, cause: FailureCause, is_named: bool) -> ExpectedText {
        let taught = |lesson: &&LearnedLesson| {
            lesson.check == check
                && matches!(lesson.resolution, FailureEnding::Fixed | FailureEnding::Command)
        };
        let of_check: Vec<&LearnedLesson> = self.learned.iter().filter(taught).collect();
        let same: Vec<&&LearnedLesson> =
            of_check.iter().filter(|lesson| lesson.cause == cause).collect();
        if same.is_empty() {
            // Another lesson about the test may be right by accident, or come from weak evidence.
            let is_weak = self.truth.failures.iter().any(|failure| {
                failure.check == check
                    && failure.cause == cause
                    && failure.required_at.is_none()
                    && !failure.passed_at.is_empty()
            });
            return if is_weak {
                ExpectedText::Free
            } else if of_check.is_empty() {
                ExpectedText::Silence
            } else {
                ExpectedText::OtherCause
            };
        }
        let key = (self.session, self.agent.clone(), check);
        let in_session = same.iter().any(|lesson| lesson.session == self.session);
        let is_thin = same.iter().any(|lesson| lesson.is_thin);
        if !is_named || in_session || self.due.contains(&key) {
            return ExpectedText::Free;
        }
        self.due.insert(key);
        if is_thin { ExpectedText::ShowOrHedge } else { ExpectedText::Show }
    }

    /// Records a change.
    pub(super) fn record_change(&mut self, change: ChangeTruth) {
        match change.role {
            ChangeRole::Fix(bug) => {
                let right = self.truth.right.entry(FailureCause::Bug(bug)).or_default();
                right.extend(change.lines.iter().cloned());
                let of = &self.project.bugs[bug];
                for form in of.forms.iter().chain(&of.attempts).chain(&of.halfway) {
                    for ((_, old), (_, new)) in form.regions.iter().zip(&of.good.regions) {
                        let [old, new] = [old, new].map(|lines| lines.join("\n") + "\n");
                        let lines = diff::changed_lines(&old, &new);
                        right.extend(lines.iter().map(|line| normalise_line(line)));
                    }
                }
            }
            ChangeRole::Companion(bug) => {
                let neutral = self.truth.neutral.entry(FailureCause::Bug(bug)).or_default();
                neutral.extend(change.lines.iter().cloned());
            }
            _ => {}
        }
        if let Some(command) = &change.command {
            let is_relative = ["git revert", "git stash", "git checkout", "git restore"]
                .iter()
                .any(|start| command.contains(start));
            if is_relative || !matches!(change.role, ChangeRole::Fix(_) | ChangeRole::Companion(_))
            {
                self.truth.wrong_commands.push(command.clone());
            }
        }
        self.truth.changes.push(change);
    }

    /// Records that the last step also executed and passed checks, like a linter that repairs its findings.
    pub fn note_pass(&mut self, checks: &[usize]) {
        let step = self.steps.len().saturating_sub(1);
        for failure in self.truth.failures.iter_mut().filter(|at| at.checkout == self.here) {
            if checks.contains(&failure.check) {
                failure.passed_at.push(step);
            }
        }
    }

    /// Records that a test was removed, renamed or skipped.
    pub fn record_removal(&mut self, check: usize, status: &TestStatus) {
        let step = self.steps.len().saturating_sub(1);
        let what = match status {
            TestStatus::Skipped(_) => "skipped",
            TestStatus::Removed => "removed",
            TestStatus::Renamed(_) => "renamed",
        };
        if let Some(index) = self.open.get(&(self.here, check)) {
            let failure = &mut self.truth.failures[*index];
            failure.removed_at = Some(step);
            failure.resolution = Some(FailureEnding::Removed);
            failure.tags.insert(format!("the test is {what}"));
            self.open.remove(&(self.here, check));
        }
    }

    /// Moves lines of a fix that unrelated changes have too, or that are very short, to the neutral lines.
    pub(super) fn separate_shared_lines(&mut self) {
        let unrelated: BTreeSet<String> = self
            .truth
            .changes
            .iter()
            .filter(|change| change.role == ChangeRole::Unrelated)
            .flat_map(|change| change.lines.iter().cloned())
            .collect();
        for (cause, right) in &mut self.truth.right {
            let shared: Vec<String> = right
                .iter()
                .filter(|line| unrelated.contains(*line) || line.len() < 4)
                .cloned()
                .collect();
            for line in shared {
                right.remove(&line);
                self.truth.neutral.entry(*cause).or_default().insert(line);
            }
        }
    }
}

/// Returns true if a run is limited to one package, by its folder or its selection.
fn is_narrow(spec: &RunSpec) -> bool {
    let selection = &spec.selection;
    !matches!(spec.wrapper, RunWrapper::Task(_))
        && (!spec.folder.is_empty()
            || selection.package.is_some()
            || !selection.files.is_empty()
            || !selection.tests.is_empty())
}

/// Returns the tags that describe the command line of a run.
fn spelling_tags(spec: &RunSpec) -> BTreeSet<String> {
    let mut tags = BTreeSet::new();
    let mut tag = |text: &str| {
        tags.insert(text.to_owned());
    };
    match &spec.wrapper {
        RunWrapper::Task(task) => tag(task.runner.command()),
        RunWrapper::Prefix(prefix) => tag(prefix),
        RunWrapper::None => {}
    }
    match &spec.pipe {
        OutputPipe::None => {}
        OutputPipe::Tail(_) => tag("| tail"),
        OutputPipe::Head(_) => tag("| head"),
        OutputPipe::Grep(_) => tag("| grep"),
        OutputPipe::EchoStatus => tag("; echo $?"),
    }
    let selection = &spec.selection;
    let is_task = matches!(spec.wrapper, RunWrapper::Task(_));
    if !is_task {
        if !selection.tests.is_empty() {
            tag("by name");
        } else if selection.keyword.is_some() {
            tag("by keyword");
        } else if !selection.files.is_empty() {
            tag("by file");
        } else if selection.package.is_some() || !spec.folder.is_empty() {
            tag("by package or folder");
        } else {
            tag("whole suite");
        }
    }
    if spec.tool == CheckTool::Nextest && !is_task {
        tag("cargo nextest");
    }
    tags
}
