//! Command lines that run a tool: folders, wrappers, pipes, and the output that the client shows.

use crate::project::{CheckTool, Language, Remedy, VirtualProject};
use crate::runs::{
    self, CheckSelection, CheckoutState, OutputStream, RunConditions, RunReport, RunStyle,
};

/// A program that runs the project's tests under another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTaskRunner {
    /// `make test`
    Make,
    /// `just test`
    Just,
    /// `mise run test`
    Mise,
    /// `npm test`
    Npm,
    /// `pnpm test`
    Pnpm,
    /// `yarn test`
    Yarn,
    /// `./run_tests.sh`
    Script,
    /// `tox`
    Tox,
}

impl ProjectTaskRunner {
    /// Returns the command as typed.
    pub fn command(self) -> &'static str {
        match self {
            Self::Make => "make test",
            Self::Just => "just test",
            Self::Mise => "mise run test",
            Self::Npm => "npm test",
            Self::Pnpm => "pnpm test",
            Self::Yarn => "yarn test",
            Self::Script => "./run_tests.sh",
            Self::Tox => "tox",
        }
    }
}

/// A task of the project: a run started by a task runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectTask {
    /// Program that runs the task.
    pub runner: ProjectTaskRunner,
    /// Tool that the task runs.
    pub tool: CheckTool,
    /// Options of the tool.
    pub style: RunStyle,
    /// Folder that the task changes to first; empty for the root.
    pub folder: String,
    /// Command in the task file.
    pub inner: String,
    /// Line of the task file.
    pub line: usize,
}

/// A program between the shell and the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunWrapper {
    /// No wrapper.
    None,
    /// A task of the project.
    Task(ProjectTask),
    /// A program in front of the tool.
    Prefix(String),
}

/// The end of a command line that processes the output of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OutputPipe {
    /// The client gets the whole output.
    None,
    /// `| tail -N`
    Tail(usize),
    /// `| head -N`
    Head(usize),
    /// `| grep -E 'A|B'`
    Grep(Vec<String>),
    /// `; echo "exit: $?"`
    EchoStatus,
}

/// The way to change to the folder of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnterFolder {
    /// `cd FOLDER &&` with the shortest path.
    Change,
    /// `cd /FULL/PATH &&`
    ChangeByFullPath,
    /// `(cd FOLDER && …)`
    Subshell,
}

/// A run as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// Tool.
    pub tool: CheckTool,
    /// Checks that the run selects.
    pub selection: CheckSelection,
    /// Options.
    pub style: RunStyle,
    /// Folder that it runs in, from the root of the checkout.
    pub folder: String,
    /// Way to that folder, if the shell is in another one.
    pub enter: EnterFolder,
    /// True if the command provides the environment that the project needs.
    pub is_remedied: bool,
    /// Program in front of the tool.
    pub wrapper: RunWrapper,
    /// Pipe after the tool.
    pub pipe: OutputPipe,
    /// True if standard error is redirected to standard output.
    pub is_merged: bool,
    /// Checks that fail at random in this run.
    pub flaky: Vec<usize>,
}

impl RunSpec {
    /// Creates a plain run of everything at the root.
    pub fn new(tool: CheckTool) -> Self {
        Self {
            tool,
            selection: CheckSelection::default(),
            style: RunStyle::default(),
            folder: String::new(),
            enter: EnterFolder::Change,
            is_remedied: false,
            wrapper: RunWrapper::None,
            pipe: OutputPipe::None,
            is_merged: false,
            flaky: Vec::new(),
        }
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct RunResult {
    /// The command line.
    pub command: String,
    /// The text that the client shows.
    pub text: String,
    /// Exit status of the line.
    pub exit: i32,
    /// True if the exit status of the line is that of the run.
    pub is_exit_known: bool,
    /// Part of the output that the command line leaves.
    pub cut: OutputCut,
    /// Everything that the run executed and printed.
    pub report: RunReport,
    /// Folder of the shell afterwards, from the root of the checkout.
    pub folder_after: String,
}

/// Part of an output that a command line leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputCut {
    /// Everything.
    Whole,
    /// The beginning.
    Start,
    /// The end.
    End,
    /// Some lines.
    Filtered,
}

impl RunResult {
    /// Returns true if the text that the client shows contains all of these texts.
    pub fn shows(&self, texts: &[String]) -> bool {
        texts.iter().all(|text| self.text.contains(text.as_str()))
    }

    /// Returns true if the command and its visible output prove that the run passed.
    pub fn is_known_green(&self, spec: &RunSpec) -> bool {
        if self.report.exit != 0 {
            return false;
        }
        if self.is_exit_known {
            return true;
        }
        let tool = match &spec.wrapper {
            RunWrapper::Task(task) => task.tool,
            _ => spec.tool,
        };
        let summary = &self.report.summary;
        let shown = |text: &String| self.text.contains(text.trim());
        match (tool, self.cut) {
            // A filter may have dropped the failing lines.
            (_, OutputCut::Filtered) => false,
            // No output is a pass if no line could get lost.
            (CheckTool::Tsc | CheckTool::Eslint | CheckTool::GoBuild, cut) => {
                cut == OutputCut::Whole || (spec.is_merged && self.text.is_empty())
            }
            // Each test program has a separate summary line, and the last one proves nothing about the others.
            (CheckTool::CargoTest | CheckTool::CargoCheck, _) => {
                !summary.is_empty() && summary.iter().all(shown)
            }
            // A failing run ends with the line `FAIL`, so its beginning proves nothing.
            (CheckTool::GoTest, cut) => cut != OutputCut::Start && summary.iter().any(shown),
            _ => summary.iter().any(shown),
        }
    }
}

/// The checkout and the shell that a command is typed in.
#[derive(Debug)]
pub struct Shell<'a> {
    /// The project.
    pub project: &'a VirtualProject,
    /// Files and tests.
    pub state: &'a CheckoutState,
    /// Folder of the checkout as an absolute path.
    pub root: String,
    /// Folder of the shell, from the root of the checkout.
    pub folder: String,
    /// Seed of durations and the like.
    pub noise: u64,
}

impl Shell<'_> {
    /// Runs a tool as the command line specifies.
    pub fn run(&self, spec: &RunSpec) -> RunResult {
        let (tool, selection, style, folder) = match &spec.wrapper {
            RunWrapper::Task(task) => {
                (task.tool, CheckSelection::default(), task.style, task.folder.clone())
            }
            _ => (spec.tool, spec.selection.clone(), spec.style, spec.folder.clone()),
        };
        let conditions = RunConditions {
            project: self.project,
            state: self.state,
            root: self.root.clone(),
            folder,
            flaky: spec.flaky.clone(),
            is_remedied: spec.is_remedied || self.project.need.is_none(),
            noise: self.noise,
        };
        let report = runs::execute_run(tool, &selection, style, &conditions);
        let (lines, exit) = self.wrap_output(spec, &report);
        let (text, exit, is_exit_known) = pipe_output(spec, &lines, exit);
        let cut = match &spec.pipe {
            OutputPipe::None | OutputPipe::EchoStatus => OutputCut::Whole,
            OutputPipe::Tail(count) | OutputPipe::Head(count) if lines.len() < *count => {
                OutputCut::Whole
            }
            OutputPipe::Tail(_) => OutputCut::End,
            OutputPipe::Head(_) => OutputCut::Start,
            OutputPipe::Grep(_) => OutputCut::Filtered,
        };
        let command = self.command(spec);
        // The client asks the shell for its folder only after a command that succeeded.
        let stays = exit != 0 || spec.enter == EnterFolder::Subshell || spec.folder == self.folder;
        let folder_after = if stays { self.folder.clone() } else { spec.folder.clone() };
        RunResult { command, text, exit, is_exit_known, cut, report, folder_after }
    }

    /// Returns the command line.
    fn command(&self, spec: &RunSpec) -> String {
        let mut inner = match &spec.wrapper {
            RunWrapper::Task(task) => task.runner.command().to_owned(),
            RunWrapper::Prefix(prefix) => self.prefixed_command(spec, prefix),
            RunWrapper::None => self.command_words(spec),
        };
        if let Some(need) = self.project.need.as_ref().filter(|_| spec.is_remedied) {
            inner = match &need.remedy {
                Remedy::Variable(name, value) => format!("{name}={value} {inner}"),
                Remedy::Flag(flag) => format!("{inner} {flag}"),
                Remedy::Wrapper(program) => format!("{program} {inner}"),
            };
        }
        let merged = if spec.is_merged { " 2>&1" } else { "" };
        let piped = match &spec.pipe {
            OutputPipe::None => format!("{inner}{merged}"),
            OutputPipe::Tail(count) => format!("{inner}{merged} | tail -{count}"),
            OutputPipe::Head(count) => format!("{inner}{merged} | head -{count}"),
            OutputPipe::Grep(parts) => format!("{inner}{merged} | grep -E '{}'", parts.join("|")),
            OutputPipe::EchoStatus => format!("{inner}{merged}; echo \"exit: $?\""),
        };
        if spec.folder == self.folder {
            return piped;
        }
        let full = if spec.folder.is_empty() {
            self.root.clone()
        } else {
            format!("{}/{}", self.root, spec.folder)
        };
        let near = self.folder.is_empty();
        match spec.enter {
            EnterFolder::Subshell if near => format!("(cd {} && {piped})", spec.folder),
            EnterFolder::Subshell => format!("(cd {full} && {piped})"),
            EnterFolder::Change if near => format!("cd {} && {piped}", spec.folder),
            EnterFolder::Change | EnterFolder::ChangeByFullPath => format!("cd {full} && {piped}"),
        }
    }

    fn command_words(&self, spec: &RunSpec) -> String {
        let words = runs::command_words(
            spec.tool,
            &spec.selection,
            spec.style,
            self.project,
            self.state,
            &spec.folder,
        );
        words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" ")
    }

    fn prefixed_command(&self, spec: &RunSpec, prefix: &str) -> String {
        let words = self.command_words(spec);
        // These prefixes start a tool of the project themselves.
        let replaces = ["pnpm exec", "yarn", "bunx"].contains(&prefix);
        match words.strip_prefix("npx ").filter(|_| replaces) {
            Some(rest) => format!("{prefix} {rest}"),
            None => format!("{prefix} {words}"),
        }
    }

    /// Adds the wrapper's lines around the output of the tool.
    fn wrap_output(
        &self,
        spec: &RunSpec,
        report: &RunReport,
    ) -> (Vec<(OutputStream, String)>, i32) {
        let mut lines = report.lines.clone();
        let out = |text: String| (OutputStream::Out, text);
        let err = |text: String| (OutputStream::Err, text);
        let failed = report.exit != 0;
        let RunWrapper::Task(task) = &spec.wrapper else {
            if let RunWrapper::Prefix(prefix) = &spec.wrapper
                && prefix.starts_with("docker compose")
            {
                let name = &self.project.name;
                lines.insert(0, err(format!(" Container {name}-db-1  Running")));
            }
            return (lines, report.exit);
        };
        let inner = task.inner.clone();
        match task.runner {
            ProjectTaskRunner::Make => {
                lines.insert(0, out(inner));
                if failed {
                    let line = task.line;
                    let code = report.exit;
                    lines.push(err(format!("make: *** [Makefile:{line}: test] Error {code}")));
                }
                (lines, if failed { 2 } else { 0 })
            }
            ProjectTaskRunner::Just => {
                lines.insert(0, err(inner));
                if failed {
                    lines.push(err(format!(
                        "error: recipe `test` failed on line {} with exit code {}",
                        task.line, report.exit
                    )));
                }
                (lines, report.exit)
            }
            ProjectTaskRunner::Mise => {
                lines.insert(0, err(format!("[test] $ {inner}")));
                if failed {
                    lines.push(err("[test] ERROR task failed".to_owned()));
                }
                (lines, i32::from(failed))
            }
            ProjectTaskRunner::Npm | ProjectTaskRunner::Pnpm => {
                let (name, version) = self.package_version();
                let place = if task.runner == ProjectTaskRunner::Pnpm {
                    format!(" {}", self.root)
                } else {
                    String::new()
                };
                let head = [
                    String::new(),
                    format!("> {name}{version} test{place}"),
                    format!("> {inner}"),
                    String::new(),
                ];
                lines.splice(0..0, head.map(out));
                if failed && task.runner == ProjectTaskRunner::Pnpm {
                    lines.push(out(
                        "\u{2009}ELIFECYCLE\u{2009} Test failed. See above for more details."
                            .to_owned(),
                    ));
                }
                (lines, report.exit)
            }
            ProjectTaskRunner::Yarn => {
                lines
                    .splice(0..0, [out("yarn run v1.22.22".to_owned()), out(format!("$ {inner}"))]);
                if failed {
                    let code = report.exit;
                    lines.push(err(format!("error Command failed with exit code {code}.")));
                    lines.push(out("info Visit https://yarnpkg.com/en/docs/cli/run for documentation about this command.".to_owned()));
                } else {
                    lines.push(out(format!("Done in 0.{}s.", 30 + self.noise % 60)));
                }
                (lines, report.exit)
            }
            ProjectTaskRunner::Script => {
                lines.insert(0, out("==> running the tests".to_owned()));
                if !failed {
                    lines.push(out("==> done".to_owned()));
                }
                (lines, report.exit)
            }
            ProjectTaskRunner::Tox => {
                lines.insert(0, out(format!("py311: commands[0]> {inner}")));
                let tail = if failed {
                    let (code, pid) = (report.exit, 20_000 + self.noise % 9_000);
                    vec![
                        format!(
                            "py311: exit {code} (0.31 seconds) {}> {inner} pid={pid}",
                            self.root
                        ),
                        format!("  py311: FAIL code {code} (0.36=setup[0.05]+cmd[0.31] seconds)"),
                        "  evaluation failed :( (0.42 seconds)".to_owned(),
                    ]
                } else {
                    vec![
                        "  py311: OK (0.36=setup[0.05]+cmd[0.31] seconds)".to_owned(),
                        "  congratulations :) (0.42 seconds)".to_owned(),
                    ]
                };
                lines.extend(tail.into_iter().map(out));
                (lines, report.exit)
            }
        }
    }

    /// Returns the name and version that npm prints for the root package.
    fn package_version(&self) -> (String, String) {
        if let Some(line) = self.state.tree.region("0/json/version")
            && self.project.packages.len() == 1
            && self.project.packages[0].folder.is_empty()
        {
            let version = line[0].split('"').nth(3).unwrap_or("1.0.0").to_owned();
            return (self.project.name.clone(), format!("@{version}"));
        }
        (format!("{}-root", self.project.name), "@1.0.0".to_owned())
    }
}

/// Sends the output through the pipe at the end of a command line.
fn pipe_output(spec: &RunSpec, lines: &[(OutputStream, String)], exit: i32) -> (String, i32, bool) {
    let all = || lines.iter().map(|(_, line)| line.as_str());
    if spec.pipe == OutputPipe::None {
        return (all().collect::<Vec<_>>().join("\n"), exit, true);
    }
    if spec.pipe == OutputPipe::EchoStatus {
        let mut text: Vec<&str> = all().collect();
        let status = format!("exit: {exit}");
        text.push(&status);
        return (text.join("\n"), 0, false);
    }
    // Standard error bypasses the pipe unless it was merged.
    let through = |stream: OutputStream| spec.is_merged || stream == OutputStream::Out;
    let direct: Vec<&str> = lines
        .iter()
        .filter(|(stream, _)| !through(*stream))
        .map(|(_, line)| line.as_str())
        .collect();
    let input: Vec<&str> = lines
        .iter()
        .filter(|(stream, _)| through(*stream))
        .map(|(_, line)| line.as_str())
        .collect();
    let kept: Vec<&str> = match &spec.pipe {
        OutputPipe::Tail(count) => input[input.len().saturating_sub(*count)..].to_vec(),
        OutputPipe::Head(count) => input.iter().copied().take(*count).collect(),
        OutputPipe::Grep(parts) => {
            let has = |line: &&str| parts.iter().any(|part| line.contains(part.as_str()));
            input.iter().copied().filter(has).collect()
        }
        OutputPipe::None | OutputPipe::EchoStatus => input,
    };
    let status = i32::from(matches!(spec.pipe, OutputPipe::Grep(_)) && kept.is_empty());
    ([direct, kept].concat().join("\n"), status, false)
}

/// Quotes a word for the shell.
fn quote_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if word.contains('\'') {
        format!("\"{word}\"")
    } else {
        format!("'{word}'")
    }
}

/// Adds the task files of a project and returns its tasks.
pub fn add_tasks(project: &mut VirtualProject, wanted: &[ProjectTaskRunner]) -> Vec<ProjectTask> {
    use crate::source::Region;
    let folder = match &project.packages[..] {
        [one] => one.folder.clone(),
        _ => String::new(),
    };
    let (tool, plain, style) = match project.language {
        Language::Python => {
            (CheckTool::Pytest, "pytest -q", RunStyle { quiet: true, ..RunStyle::default() })
        }
        Language::Rust => (CheckTool::CargoTest, "cargo test", RunStyle::default()),
        Language::Go => (CheckTool::GoTest, "go test ./...", RunStyle::default()),
        Language::TypeScript => (CheckTool::Vitest, "npx vitest run", RunStyle::default()),
        Language::JavaScript => (CheckTool::Jest, "npx jest", RunStyle::default()),
    };
    // The script runners find every test below the root.
    let is_script = matches!(project.language, Language::TypeScript | Language::JavaScript);
    let folder = if is_script { String::new() } else { folder };
    let entered =
        if folder.is_empty() { plain.to_owned() } else { format!("cd {folder} && {plain}") };
    let mut tasks = Vec::new();
    for runner in wanted {
        let mut task = ProjectTask {
            runner: *runner,
            tool,
            style,
            folder: folder.clone(),
            inner: entered.clone(),
            line: 0,
        };
        let file = match runner {
            ProjectTaskRunner::Make => {
                task.line = 4;
                Some(("Makefile", format!(".PHONY: test\n\ntest:\n\t{entered}")))
            }
            ProjectTaskRunner::Just => {
                task.line = 4;
                Some(("justfile", format!("# Tasks of the project.\n\ntest:\n    {entered}")))
            }
            ProjectTaskRunner::Mise => {
                Some(("mise.toml", format!("[tasks.test]\nrun = \"{entered}\"")))
            }
            ProjectTaskRunner::Script => Some((
                "run_tests.sh",
                format!(
                    "#!/usr/bin/env bash\nset -euo pipefail\necho \"==> running the tests\"\n{entered}\necho \"==> done\""
                ),
            )),
            ProjectTaskRunner::Tox => Some((
                "tox.ini",
                format!(
                    "[tox]\nenv_list = py311\nskipsdist = true\n\n[testenv]\ndeps = pytest\ncommands = {plain}"
                ),
            )),
            ProjectTaskRunner::Npm | ProjectTaskRunner::Pnpm | ProjectTaskRunner::Yarn => {
                plain.trim_start_matches("npx ").clone_into(&mut task.inner);
                None
            }
        };
        if let Some((path, text)) = file {
            project.tree.put_file(path, vec![Region::new(format!("task/{path}"), &text)]);
        }
        tasks.push(task);
    }
    tasks
}
