//! Variants of a run: whole or narrow, wrapped, piped, from another folder.

use super::StoryBuilder;
use crate::command::{EnterFolder, OutputPipe, RunResult, RunSpec, RunWrapper};
use crate::project::{CheckKind, CheckTool, Language};
use crate::runs::{CheckSelection, RunStyle};

/// Number of draws after which the search for a fitting run ends.
const MAX_DRAWS: usize = 24;

impl StoryBuilder {
    /// Returns a plain run of everything that a tool can check.
    pub(super) fn wide_run(&mut self, tool: CheckTool) -> RunSpec {
        let mut spec = RunSpec::new(tool);
        self.choose_folder(&mut spec);
        spec
    }

    /// Chooses the folder of a run of everything.
    fn choose_folder(&mut self, spec: &mut RunSpec) {
        let packages = self.world.project.packages.clone();
        let nested = packages.len() == 1 && !packages[0].folder.is_empty();
        let inside = packages[0].folder.clone();
        let stays = self.world.shell_folder() == inside && nested;
        let goes = nested
            && match self.world.project.language {
                // Go and cargo must run in the folder of their manifest; cargo has an option for it.
                Language::Go => true,
                Language::TypeScript | Language::JavaScript => stays || self.chance(40),
                Language::Python | Language::Rust => stays || self.chance(60),
            };
        if goes {
            spec.folder = inside;
        } else if nested && self.world.project.language == Language::Python {
            spec.selection.package = Some(0);
        }
        if packages.len() > 1 && spec.folder.is_empty() && !self.world.shell_folder().is_empty() {
            // The shell is still in a package, but the run is at the root.
            spec.enter = EnterFolder::ChangeByFullPath;
            return;
        }
        spec.enter = *self.world.dice.pick(&[
            EnterFolder::Change,
            EnterFolder::Change,
            EnterFolder::ChangeByFullPath,
            EnterFolder::Subshell,
        ]);
    }

    /// Draws a run of everything: plain, wrapped or with options.
    pub(super) fn draw_wide(&mut self, tool: CheckTool) -> RunSpec {
        let is_test = tool == self.test_tool();
        let has_need = self.world.project.need.is_some();
        if is_test && !has_need && !self.world.tasks.is_empty() && self.chance(30) {
            let task = self.world.dice.pick(&self.world.tasks.clone()).clone();
            return RunSpec {
                wrapper: RunWrapper::Task(task),
                enter: EnterFolder::ChangeByFullPath,
                ..RunSpec::new(tool)
            };
        }
        let tool = match tool {
            CheckTool::CargoTest if self.chance(25) => CheckTool::Nextest,
            tool => tool,
        };
        let mut spec = self.wide_run(tool);
        spec.style = self.draw_style(tool);
        if is_test && !has_need && self.chance(22) {
            let prefixes: &[&str] = match self.world.project.language {
                Language::Python => {
                    &["uv run", "poetry run", "python -m", "rtk", "docker compose run --rm app"]
                }
                Language::Rust | Language::Go => &["rtk", "direnv exec .", "nice"],
                Language::TypeScript => &["pnpm exec", "yarn", "bunx", "rtk"],
                Language::JavaScript => &["pnpm exec", "yarn", "rtk"],
            };
            let prefix = *self.world.dice.pick(prefixes);
            spec.wrapper = RunWrapper::Prefix(prefix.to_owned());
            if prefix.starts_with("docker") {
                // The container has another folder; the short form does not print it.
                spec.style = RunStyle { quiet: true, ..RunStyle::default() };
            }
        }
        spec
    }

    fn draw_style(&mut self, tool: CheckTool) -> RunStyle {
        let plain = RunStyle::default();
        let styles: Vec<RunStyle> = match tool {
            CheckTool::Pytest => vec![
                plain,
                RunStyle { quiet: true, ..plain },
                RunStyle { quiet: true, ..plain },
                RunStyle { verbose: true, ..plain },
                RunStyle { short: true, ..plain },
                RunStyle { quiet: true, short: true, ..plain },
                RunStyle { quiet: true, fail_fast: true, ..plain },
            ],
            CheckTool::CargoTest => {
                vec![
                    plain,
                    plain,
                    RunStyle { quiet: true, ..plain },
                    RunStyle { keep_going: true, ..plain },
                ]
            }
            CheckTool::Nextest => vec![plain, RunStyle { keep_going: true, ..plain }],
            CheckTool::GoTest | CheckTool::Vitest => {
                vec![plain, plain, RunStyle { verbose: true, ..plain }]
            }
            CheckTool::Ruff => vec![plain, RunStyle { short: true, ..plain }],
            _ => vec![plain],
        };
        *self.world.dice.pick(&styles)
    }

    /// Draws the pipe after a run.
    fn draw_pipe(&mut self, spec: &mut RunSpec, percent: usize) {
        if !self.chance(percent) {
            spec.is_merged = self.chance(20);
            return;
        }
        let words: &[&str] = match spec.tool {
            CheckTool::Pytest => &["FAILED", "ERROR", "passed", "failed", "error"],
            CheckTool::CargoTest | CheckTool::Nextest => &["test ", "FAIL", "panicked", "error"],
            CheckTool::GoTest => &["FAIL", "ok ", "panic", "_test.go"],
            CheckTool::Vitest | CheckTool::Jest => {
                &["FAIL", "✓", "×", "●", "Tests", "Error", "expected"]
            }
            _ => &["error", "warning", "issues", "Found"],
        };
        let lines = 3 + self.world.dice.below(38);
        spec.pipe = match self.world.dice.below(10) {
            0..=4 => OutputPipe::Tail(lines),
            5..=6 => OutputPipe::Head(8 + lines),
            7..=8 => OutputPipe::Grep(words.iter().map(|word| (*word).to_owned()).collect()),
            _ => OutputPipe::EchoStatus,
        };
        spec.is_merged = spec.pipe != OutputPipe::EchoStatus && self.chance(85);
    }

    /// Draws a narrow run that executes a check.
    fn draw_narrow(&mut self, tool: CheckTool, check: usize) -> RunSpec {
        let of = self.world.project.checks[check].clone();
        let package = self.world.project.packages[of.package].clone();
        let language = self.world.project.language;
        let mut spec = RunSpec::new(match tool {
            CheckTool::CargoTest if self.chance(25) => CheckTool::Nextest,
            tool => tool,
        });
        spec.style = self.draw_style(spec.tool);
        let is_test = of.kind == CheckKind::Test;
        // A package of a monorepo runs from the root or from inside; a nested one mostly from inside.
        let must_enter = package.folder != *self.world.shell_folder()
            && !package.folder.is_empty()
            && language == Language::Go
            && self.world.project.packages.len() == 1;
        let is_inside = must_enter
            || (!package.folder.is_empty()
                && (package.folder == self.world.shell_folder() || self.chance(45)));
        if is_inside {
            spec.folder.clone_from(&package.folder);
        }
        spec.enter = *self.world.dice.pick(&[
            EnterFolder::Change,
            EnterFolder::Change,
            EnterFolder::ChangeByFullPath,
            EnterFolder::Subshell,
        ]);
        let mut selection = CheckSelection::default();
        let by_file =
            || CheckSelection { files: vec![of.file.clone()], ..CheckSelection::default() };
        match self.world.dice.below(4) {
            0 if is_test => selection.tests = vec![check],
            1 if is_test => {
                let keyword = self.keyword(check);
                selection.keyword = Some(keyword);
                // Without a package the keyword would match everywhere, which is fine as well.
                if !is_inside && self.chance(50) && language != Language::Go {
                    selection.package = (!package.folder.is_empty()).then_some(of.package);
                }
            }
            2 if !package.folder.is_empty() => {
                selection.package = (!is_inside).then_some(of.package);
            }
            _ if of.kind == CheckKind::Build && language == Language::Rust => {
                selection.package =
                    (self.world.project.packages.len() > 1 && !is_inside).then_some(of.package);
            }
            _ if language == Language::Rust && is_test && of.group.is_some() => {
                // cargo cannot select files of the library; its modules are parts of test names.
                selection.keyword.clone_from(&of.group);
            }
            _ if matches!(of.kind, CheckKind::Lint(CheckTool::Tsc)) => {
                selection.package =
                    (!package.folder.is_empty() && !is_inside).then_some(of.package);
            }
            _ => selection = by_file(),
        }
        if language == Language::Python
            && !is_inside
            && selection.files.is_empty()
            && selection.tests.is_empty()
            && self.world.project.packages.len() == 1
            && !package.folder.is_empty()
        {
            selection.package = Some(0);
        }
        spec.selection = selection;
        spec
    }

    /// Returns a part of a test's name.
    fn keyword(&mut self, check: usize) -> String {
        let name =
            self.world.state().name(&self.world.project, check).unwrap_or_default().to_owned();
        let of = &self.world.project.checks[check];
        match self.world.project.language {
            Language::Python | Language::Rust => {
                let words: Vec<&str> = name.split('_').filter(|word| word.len() > 4).collect();
                let words = if words.is_empty() { vec![name.as_str()] } else { words };
                (*self.world.dice.pick(&words)).to_owned()
            }
            Language::Go => of.group.clone().unwrap_or(name),
            Language::TypeScript | Language::JavaScript => {
                let words: Vec<&str> = name.splitn(2, ' ').collect();
                words.last().copied().unwrap_or_default().to_owned()
            }
        }
    }

    /// Makes a run that shows failures. If its cut output shows none of them, another run follows.
    pub(super) fn run_red(&mut self, tool: CheckTool, note: &str) -> RunResult {
        let mut spec = self.draw_wide(tool);
        self.draw_pipe(&mut spec, 34);
        let result = self.world.run(&spec, note);
        let shows = |result: &RunResult| {
            result
                .report
                .failed
                .iter()
                .any(|failed| failed.shown_by.iter().any(|texts| result.shows(texts)))
        };
        if shows(&result) {
            return result;
        }
        let spec = self.wide_run(tool);
        self.world.run(&spec, note)
    }

    /// Runs a single failing check.
    pub(super) fn red_narrow(&mut self, tool: CheckTool, check: usize) {
        for _ in 0..MAX_DRAWS {
            let mut spec = self.draw_narrow(tool, check);
            self.draw_pipe(&mut spec, 20);
            let result = self.world.preview(&spec);
            if result.report.failed.iter().any(|failed| failed.check == check) {
                self.world.run(&spec, "only this");
                return;
            }
        }
    }

    /// Makes runs in which checks pass, one wide or several narrow ones; returns false if no such run was found.
    pub(super) fn run_green(&mut self, tool: CheckTool, checks: &[usize]) -> bool {
        let narrow = self.chance(45) && checks.len() <= 3;
        if narrow {
            for check in checks {
                self.green_narrow(tool, *check);
            }
            if checks.iter().all(|check| !self.world.is_open(*check)) {
                return true;
            }
        }
        for _ in 0..MAX_DRAWS {
            let mut spec = self.draw_wide(tool);
            self.draw_pipe(&mut spec, 22);
            let result = self.world.preview(&spec);
            let ends = checks.iter().all(|check| result.report.passed.contains(check));
            if ends && result.report.exit == 0 {
                self.world.run(&spec, "green");
                return true;
            }
        }
        false
    }

    /// Runs a single passing check.
    fn green_narrow(&mut self, tool: CheckTool, check: usize) {
        for _ in 0..MAX_DRAWS {
            let mut spec = self.draw_narrow(tool, check);
            self.draw_pipe(&mut spec, 15);
            let result = self.world.preview(&spec);
            if result.report.passed.contains(&check) && result.report.exit == 0 {
                self.world.run(&spec, "green, narrow");
                return;
            }
        }
    }

    /// Makes a green run that does not execute a check.
    pub(super) fn run_uncovered(&mut self, tool: CheckTool, check: usize) {
        let of = self.world.project.checks[check].clone();
        for _ in 0..MAX_DRAWS {
            let (mut spec, kind) = self.draw_uncovered(tool, &of, check);
            let result = self.world.preview(&spec);
            let executes = result.report.passed.contains(&check)
                || result.report.failed.iter().any(|failed| failed.check == check);
            let does_something = !result.report.passed.is_empty() || spec.style.collect_only;
            if !executes && result.report.exit == 0 && does_something {
                if self.chance(25) && spec.pipe == OutputPipe::None {
                    spec.pipe = OutputPipe::Tail(5);
                    spec.is_merged = true;
                }
                self.world.tag_open(&format!("not covered by: {kind}"));
                self.world.run(&spec, &format!("does not run it: {kind}"));
                return;
            }
        }
    }

    fn draw_uncovered(
        &mut self,
        tool: CheckTool,
        of: &crate::project::Check,
        check: usize,
    ) -> (RunSpec, &'static str) {
        let project = self.world.project.clone();
        let language = project.language;
        let others: Vec<usize> = project
            .tests()
            .filter(|(index, other)| {
                *index != check && self.world.state().is_active(*index) && other.region != of.region
            })
            .map(|(index, _)| index)
            .collect();
        let other = *self.world.dice.pick(&others);
        match self.world.dice.below(8) {
            0 => {
                let mut spec = self.draw_narrow(tool, other);
                spec.selection = CheckSelection { tests: vec![other], ..CheckSelection::default() };
                (spec, "another test")
            }
            1 => {
                let mut spec = self.draw_narrow(tool, other);
                spec.selection.tests = Vec::new();
                spec.selection.keyword = Some(self.keyword(other));
                spec.selection.files = Vec::new();
                (spec, "another keyword")
            }
            2 if project.packages.len() > 1 => {
                let mut spec = RunSpec::new(tool);
                let package = 1 - of.package;
                if self.chance(50) {
                    spec.folder.clone_from(&project.packages[package].folder);
                } else {
                    spec.selection.package = Some(package);
                    spec.enter = EnterFolder::ChangeByFullPath;
                }
                (spec, "another package")
            }
            3 if language == Language::Rust && of.group.is_none() => {
                let mut spec = self.wide_run(CheckTool::CargoTest);
                spec.selection.library = true;
                (spec, "only the library")
            }
            4 if language == Language::Python => {
                let mut spec = self.wide_run(tool);
                spec.selection.without = Some(self.keyword(check));
                (spec, "deselected")
            }
            5 if language == Language::Python => {
                let mut spec = self.wide_run(tool);
                spec.style = RunStyle { quiet: true, collect_only: true, ..RunStyle::default() };
                (spec, "only collected")
            }
            6 if of.kind == CheckKind::Test && self.is_lint_clean() => {
                let linter = match language {
                    Language::Python => CheckTool::Ruff,
                    Language::Rust => CheckTool::CargoCheck,
                    Language::Go => CheckTool::GoBuild,
                    Language::TypeScript => CheckTool::Tsc,
                    Language::JavaScript => CheckTool::Eslint,
                };
                (self.wide_run(linter), "a linter or build")
            }
            _ => {
                let file = project.checks[other].file.clone();
                let mut spec = self.draw_narrow(tool, other);
                if language == Language::Rust && project.checks[other].group.is_some() {
                    spec.selection = CheckSelection {
                        keyword: project.checks[other].group.clone(),
                        ..CheckSelection::default()
                    };
                } else {
                    spec.selection =
                        CheckSelection { files: vec![file], ..CheckSelection::default() };
                }
                (spec, "another file")
            }
        }
    }
}
