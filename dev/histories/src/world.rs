//! A simulated coding session: it changes files, runs tools, sends the payloads of the client's hooks, and records the
//! truth.

use std::collections::{BTreeMap, BTreeSet};

use rutter_testkit::dice::SeededRandom;
use serde_json::{Value, json};

use crate::command::{ProjectTask, RunResult, RunSpec, Shell};
use crate::diff;
use crate::history::{GitAction, History, HistoryStep};
use crate::project::VirtualProject;
use crate::runs::CheckoutState;
use crate::truth::{
    ChangeRole, ChangeTruth, FailureCause, FailureEnding, HistoryTruth, normalise_line,
};

mod payload;
mod record;

/// Placeholder of the folder with the checkouts, until a history is played.
pub const BASE_PLACEHOLDER: &str = "@BASE@";

/// A checkout of the project.
#[derive(Debug, Clone)]
struct Checkout {
    /// Folder below the base.
    folder: String,
    state: CheckoutState,
    /// Committed states, the newest last.
    commits: Vec<CheckoutState>,
}

/// A lesson from a failure.
#[derive(Debug, Clone)]
struct LearnedLesson {
    check: usize,
    cause: FailureCause,
    session: usize,
    resolution: FailureEnding,
    tags: BTreeSet<String>,
    is_thin: bool,
}

/// The way a change reaches the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeMethod {
    /// The client's Edit tool.
    Edit,
    /// The client's Write tool, with the whole file.
    Write,
    /// A command with its output.
    Command {
        /// The command line.
        line: String,
        /// The output.
        output: String,
        /// Git commands that do the same to a real checkout.
        git: Vec<Vec<String>>,
    },
    /// A change from outside, such as a pull: no hook is called.
    Outside,
}

/// The simulated session.
#[derive(Debug)]
pub struct SimulatedSession {
    /// Source of random numbers.
    pub dice: SeededRandom,
    /// The project.
    pub project: VirtualProject,
    /// Tasks of the project.
    pub tasks: Vec<ProjectTask>,
    seed: u64,
    checkouts: Vec<Checkout>,
    here: usize,
    session: usize,
    agent: Option<String>,
    shell_folder: String,
    clock: i64,
    calls: usize,
    steps: Vec<HistoryStep>,
    truth: HistoryTruth,
    disk: BTreeMap<String, String>,
    learned: Vec<LearnedLesson>,
    /// Open failures by checkout and check, as indexes into the truth.
    open: BTreeMap<(usize, usize), usize>,
    /// Contexts that were due to get a lesson already.
    due: BTreeSet<(usize, Option<String>, usize)>,
    /// Commands and the checks that they showed as failing.
    failing_commands: BTreeMap<String, BTreeSet<usize>>,
    /// Tags for the next sightings of a cause.
    return_tags: BTreeMap<FailureCause, BTreeSet<String>>,
    /// Tags of the whole history.
    tags: BTreeSet<String>,
    uses_git: bool,
}

impl SimulatedSession {
    /// Creates a world with one checkout of a project.
    pub fn new(
        seed: u64,
        dice: SeededRandom,
        project: VirtualProject,
        tasks: Vec<ProjectTask>,
    ) -> Self {
        let state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        let folder = project.name.clone();
        let truth = HistoryTruth {
            remedy: project.need.as_ref().map(|need| need.remedy.text()),
            ..HistoryTruth::default()
        };
        Self {
            dice,
            tasks,
            seed,
            checkouts: vec![Checkout { folder, state: state.clone(), commits: vec![state] }],
            here: 0,
            session: 0,
            agent: None,
            shell_folder: String::new(),
            clock: 0,
            calls: 0,
            steps: Vec::new(),
            truth,
            disk: BTreeMap::new(),
            learned: Vec::new(),
            open: BTreeMap::new(),
            due: BTreeSet::new(),
            failing_commands: BTreeMap::new(),
            return_tags: BTreeMap::new(),
            tags: BTreeSet::new(),
            uses_git: false,
            project,
        }
    }

    /// Returns the files and tests of the current checkout.
    pub fn state(&self) -> &CheckoutState {
        &self.checkouts[self.here].state
    }

    /// Changes the checkout before the first payload: the initial state of the history.
    pub fn prepare(&mut self, change: impl FnOnce(&mut CheckoutState)) {
        let checkout = &mut self.checkouts[self.here];
        change(&mut checkout.state);
        checkout.commits = vec![checkout.state.clone()];
    }

    /// Returns the folder of the shell, from the root of the checkout.
    pub fn shell_folder(&self) -> &str {
        &self.shell_folder
    }

    /// Adds a tag to the whole history.
    pub fn tag(&mut self, tag: &str) {
        self.tags.insert(tag.to_owned());
    }

    /// Adds a tag to the next sightings of a cause.
    pub fn tag_return(&mut self, cause: FailureCause, tag: &str) {
        self.return_tags.entry(cause).or_default().insert(tag.to_owned());
    }

    /// Adds a tag to every open failure of this checkout.
    pub fn tag_open(&mut self, tag: &str) {
        for ((checkout, _), index) in &self.open {
            if *checkout == self.here {
                self.truth.failures[*index].tags.insert(tag.to_owned());
            }
        }
    }

    /// Returns true if this checkout has an open failure of a check.
    pub fn is_open(&self, check: usize) -> bool {
        self.open.contains_key(&(self.here, check))
    }

    /// Returns the number of the session.
    pub fn session(&self) -> usize {
        self.session
    }

    /// Adds a checkout with the given state and returns its index.
    pub fn add_checkout(&mut self, state: CheckoutState) -> usize {
        let number = self.checkouts.len() + 1;
        let folder = format!("{}-{number}", self.project.name);
        self.checkouts.push(Checkout { folder, state: state.clone(), commits: vec![state] });
        self.checkouts.len() - 1
    }

    /// Begins a session in a checkout, some time after the last one.
    pub fn begin_session(&mut self, checkout: usize, pause_minutes: i64) {
        self.clock += pause_minutes * 60_000;
        self.session += 1;
        self.here = checkout;
        self.shell_folder = String::new();
        self.agent = None;
        let fields = json!({ "hook_event_name": "SessionStart", "source": "startup" });
        self.emit(fields, "session starts", Vec::new());
        let prompts = [
            "Please get everything green again.",
            "Continue with the next task.",
            "Have a look at what is broken.",
            "Go on, please.",
        ];
        let prompt = *self.dice.pick(&prompts);
        let fields = json!({ "hook_event_name": "UserPromptSubmit", "prompt": prompt });
        self.emit(fields, &format!("user: {prompt}"), Vec::new());
    }

    /// Ends the session.
    pub fn end_session(&mut self) {
        self.agent = None;
        let fields = json!({ "hook_event_name": "SessionEnd", "reason": "other" });
        self.emit(fields, "session ends", Vec::new());
    }

    /// Switches to a subagent, or back to the main agent.
    pub fn set_agent(&mut self, on: bool) {
        self.agent = None;
        if on {
            let id = format!("a{:016x}", self.dice.next_u64());
            self.agent = Some(id);
            let fields = json!({ "hook_event_name": "SubagentStart" });
            self.emit(fields, "a subagent starts", Vec::new());
        }
    }

    /// Runs a command that neither tests nor changes anything.
    pub fn run_harmless_command(&mut self, command: &str, output: &str) {
        self.bash(command, output, 0, None, |_| {}, Vec::new());
    }

    /// Reads a file.
    pub fn read(&mut self, path: &str) {
        let file = format!("{}/{path}", self.root());
        let fields = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Read",
            "tool_input": { "file_path": file },
        });
        self.emit_call(fields, &format!("reads {path}"), Vec::new());
    }

    /// Returns the result of a run without recording it.
    pub fn preview(&self, spec: &RunSpec) -> RunResult {
        self.shell().run(spec)
    }

    /// Runs a tool.
    pub fn run(&mut self, spec: &RunSpec, note: &str) -> RunResult {
        let result = self.shell().run(spec);
        let note = if note.is_empty() { String::new() } else { format!("   [{note}]") };
        let failed = result.report.failed.len();
        let passed = result.report.passed.len();
        let title = format!("$ {}   → {passed} passed, {failed} failed{note}", result.command);
        let folder = result.folder_after.clone();
        self.bash(
            &result.command,
            &result.text,
            result.exit,
            Some(&title),
            |world| {
                world.shell_folder = folder;
            },
            Vec::new(),
        );
        self.record_run(spec, &result);
        result
    }

    fn shell(&self) -> Shell<'_> {
        Shell {
            project: &self.project,
            state: self.state(),
            root: self.root(),
            folder: self.shell_folder.clone(),
            noise: self.seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.steps.len() as u64 * 7919)
                & 0xffff_ffff_ffff,
        }
    }

    /// Returns the folder of the checkout.
    pub fn root(&self) -> String {
        format!("{BASE_PLACEHOLDER}/{}", self.checkouts[self.here].folder)
    }

    /// Changes files and records the role of the change.
    pub fn change_files(
        &mut self,
        hand: &ChangeMethod,
        role: ChangeRole,
        kind: &str,
        mutate: impl FnOnce(&mut CheckoutState),
    ) {
        let before = self.state().clone();
        let mut after = before.clone();
        mutate(&mut after);
        let files = before.tree.changed_files(&after.tree);
        let mut lines = Vec::new();
        for file in &files {
            let old = before.tree.text(file).unwrap_or_default();
            let new = after.tree.text(file).unwrap_or_default();
            lines.extend(diff::changed_lines(&old, &new).iter().map(|line| normalise_line(line)));
        }
        let here = self.here;
        let command = match hand {
            ChangeMethod::Command { line, .. } => Some(line.clone()),
            _ => None,
        };
        match hand {
            ChangeMethod::Edit | ChangeMethod::Write => {
                for file in &files {
                    self.edit_file(hand, file, &before, &after, kind);
                }
                self.checkouts[here].state = after;
            }
            ChangeMethod::Command { line, output, git } => {
                let title = format!("$ {}   [{kind}]", first_line(line));
                let git: Vec<GitAction> = git
                    .iter()
                    .map(|arguments| GitAction { checkout: here, arguments: arguments.clone() })
                    .collect();
                self.uses_git |= !git.is_empty();
                self.bash(
                    line,
                    output,
                    0,
                    Some(&title),
                    move |world| {
                        world.checkouts[here].state = after;
                    },
                    git,
                );
            }
            ChangeMethod::Outside => self.checkouts[here].state = after,
        }
        let step = self.steps.len().saturating_sub(1);
        let change = ChangeTruth {
            step,
            checkout: here,
            role,
            files,
            lines,
            command,
            kind: kind.to_owned(),
        };
        self.record_change(change);
    }

    /// Commits everything.
    pub fn commit(&mut self, message: &str) {
        let here = self.here;
        let state = self.state().clone();
        self.checkouts[here].commits.push(state);
        self.uses_git = true;
        let hash = self.dice.next_u64() & 0xfff_ffff;
        let output =
            format!("[main {hash:07x}] {message}\n 1 file changed, 1 insertion(+), 1 deletion(-)");
        let words = |words: &[&str]| GitAction {
            checkout: here,
            arguments: words.iter().map(|word| (*word).to_owned()).collect(),
        };
        let git = vec![words(&["add", "-A"]), words(&["commit", "-qm", message])];
        self.bash(&format!("git commit -qam '{message}'"), &output, 0, None, |_| {}, git);
    }

    /// Returns the committed state from `ago` commits ago, or the oldest one.
    pub fn committed_state(&self, ago: usize) -> &CheckoutState {
        let commits = &self.checkouts[self.here].commits;
        &commits[commits.len() - 1 - ago.min(commits.len() - 1)]
    }

    /// Adds a revert to the commits.
    pub fn note_revert(&mut self) {
        let state = self.state().clone();
        self.checkouts[self.here].commits.push(state);
    }

    /// Records the lines between two states as part of a fix that are not the fix itself.
    pub fn note_companion(&mut self, bug: usize, before: &CheckoutState, after: &CheckoutState) {
        let mut lines = Vec::new();
        for file in before.tree.changed_files(&after.tree) {
            let old = before.tree.text(&file).unwrap_or_default();
            let new = after.tree.text(&file).unwrap_or_default();
            lines.extend(diff::changed_lines(&old, &new).iter().map(|line| normalise_line(line)));
        }
        let right = self.truth.right.entry(FailureCause::Bug(bug)).or_default();
        for line in &lines {
            right.remove(line);
        }
        self.truth.neutral.entry(FailureCause::Bug(bug)).or_default().extend(lines);
    }

    /// Returns the truth so far.
    pub fn truth(&self) -> &HistoryTruth {
        &self.truth
    }

    /// Ends the history.
    pub fn finish(mut self) -> History {
        self.separate_shared_lines();
        History {
            seed: self.seed,
            language: self.project.language,
            project: self.project,
            folders: self.checkouts.into_iter().map(|checkout| checkout.folder).collect(),
            steps: self.steps,
            truth: self.truth,
            tags: self.tags,
            uses_git: self.uses_git,
        }
    }

    /// Sends the two payloads of a Bash call. The files and the shell change between them.
    fn bash(
        &mut self,
        command: &str,
        text: &str,
        exit: i32,
        title: Option<&str>,
        change: impl FnOnce(&mut Self),
        git: Vec<GitAction>,
    ) {
        let input = json!({ "command": command, "description": describe_command(command) });
        let before = json!({
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input,
        });
        self.emit_call(before, "", Vec::new());
        change(self);
        let text = text.trim_end();
        let ends_in_grep =
            command.rsplit('|').next().is_some_and(|last| last.trim().starts_with("grep"));
        let mut after = json!({ "tool_name": "Bash", "tool_input": input });
        if exit != 0 && !(ends_in_grep && exit == 1) {
            after["hook_event_name"] = json!("PostToolUseFailure");
            after["error"] = if text.is_empty() {
                json!(format!("Exit code {exit}"))
            } else {
                json!(format!("Exit code {exit}\n{text}"))
            };
            after["is_interrupt"] = json!(false);
        } else {
            after["hook_event_name"] = json!("PostToolUse");
            after["tool_response"] = json!({
                "stdout": text, "stderr": "", "interrupted": false, "isImage": false,
                "noOutputExpected": false,
            });
            if exit == 1 {
                after["tool_response"]["returnCodeInterpretation"] = json!("No matches found");
            }
        }
        after["duration_ms"] = json!(40 + self.dice.below(900));
        let own = format!("$ {}", first_line(command));
        self.emit_call_again(after, title.unwrap_or(&own), git);
    }

    /// Returns an unused call id.
    fn next_call(&mut self) -> String {
        self.calls += 1;
        format!("toolu_{:08x}{:06x}", self.seed & 0xffff_ffff, self.calls)
    }

    fn emit_call(&mut self, mut fields: Value, note: &str, git: Vec<GitAction>) {
        fields["tool_use_id"] = json!(self.next_call());
        self.emit(fields, note, git);
    }

    /// Sends a payload of the same call as the previous one.
    fn emit_call_again(&mut self, mut fields: Value, note: &str, git: Vec<GitAction>) {
        let id = format!("toolu_{:08x}{:06x}", self.seed & 0xffff_ffff, self.calls);
        fields["tool_use_id"] = json!(id);
        self.emit(fields, note, git);
    }
}

/// Returns the first line of a command, with an ellipsis if there are more.
pub fn first_line(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, _)) => format!("{first} …"),
        None => text.to_owned(),
    }
}

/// Describes a command as the client's model does.
fn describe_command(command: &str) -> String {
    let word = command.split_whitespace().next().unwrap_or_default();
    format!("Run {word}")
}
