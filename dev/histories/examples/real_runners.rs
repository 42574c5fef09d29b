//! Compares the output of virtual runs with that of the real tools.
//!
//! `cargo run -p rutter-histories --example real_runners -- python 0..4` writes projects to a temporary folder, puts
//! every bug into them in every form, runs the real tool, and prints each difference. The tools must be in `PATH`.

#![allow(clippy::print_stdout, reason = "the example's result")]
#![allow(clippy::disallowed_methods, reason = "files of a scratch folder")]
#![allow(clippy::unwrap_used, reason = "a developer reads the panic")]
#![allow(clippy::format_push_string, reason = "not in a hurry")]
#![allow(clippy::similar_names, reason = "`text` and `test` are the words of this domain")]

use std::path::Path;
use std::process::Command;

use rutter_histories::languages::{self, NeedKind, ProjectExtras, ProjectLayout};
use rutter_histories::project::{BugForm, CheckKind, CheckTool, Language, VirtualProject};
use rutter_histories::runs::{
    CheckSelection, CheckoutState, OutputStream, RunConditions, RunStyle, command_words,
    execute_run,
};
use rutter_histories::source::Tree;
use rutter_testkit::dice::SeededRandom;

#[path = "support/mask.rs"]
mod mask;

use mask::{NPM_WARNING, masked};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (from, to) = arguments[1].split_once("..").unwrap();
    let seeds = from.parse::<u64>().unwrap()..to.parse().unwrap();
    let (mut compared, mut wrong) = (0, 0);
    for seed in seeds {
        let mut dice = SeededRandom::new(seed);
        let layout = [ProjectLayout::Single, ProjectLayout::Nested, ProjectLayout::Monorepo]
            [usize::try_from(seed % 3).unwrap()];
        let need = match seed % 5 {
            1 => Some(NeedKind::Variable),
            2 => Some(NeedKind::Flag),
            3 => Some(NeedKind::Wrapper),
            _ => None,
        };
        let language = match arguments[0].as_str() {
            "python" => Language::Python,
            "rust" => Language::Rust,
            "go" => Language::Go,
            "typescript" => Language::TypeScript,
            "javascript" => Language::JavaScript,
            other => panic!("no language {other}"),
        };
        let extras = ProjectExtras { need, flaky: false };
        let project = languages::build_project(language, layout, extras, &mut dice);
        let mut lab = RunnerComparison::new(project);
        if let Some(modules) = std::env::var_os("NODE_MODULES") {
            std::fs::create_dir_all(lab.root()).unwrap();
            let to = Path::new(&lab.root()).join("node_modules");
            std::os::unix::fs::symlink(modules, to).unwrap();
        }
        lab.all(&mut dice);
        compared += lab.compared;
        wrong += lab.wrong;
        println!("seed {seed}: {} compared, {} differ", lab.compared, lab.wrong);
    }
    println!("{compared} outputs compared, {wrong} differ");
}

struct RunnerComparison {
    project: VirtualProject,
    folder: tempfile::TempDir,
    written: Tree,
    compared: usize,
    wrong: usize,
}

impl RunnerComparison {
    fn new(project: VirtualProject) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { project, folder, written: Tree::default(), compared: 0, wrong: 0 }
    }

    fn root(&self) -> String {
        self.folder.path().canonicalize().unwrap().join(&self.project.name).display().to_string()
    }

    fn write(&mut self, tree: &Tree) {
        for path in self.written.changed_files(tree) {
            let to = Path::new(&self.root()).join(&path);
            match tree.text(&path) {
                Some(text) => {
                    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
                    std::fs::write(to, text).unwrap();
                }
                None => std::fs::remove_file(to).unwrap(),
            }
        }
        self.written = tree.clone();
    }

    /// Runs every bug in every form, with the whole suite and with narrower runs.
    fn all(&mut self, dice: &mut SeededRandom) {
        let project = self.project.clone();
        let good = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        self.runs(&good, "no bug", None, dice);
        for bug in &project.bugs {
            for (name, forms) in
                [("form", &bug.forms), ("attempt", &bug.attempts), ("half", &bug.halfway)]
            {
                for form in forms {
                    let mut state = good.clone();
                    form.write(&mut state.tree);
                    self.runs(&state, &format!("{} ({name})", bug.key), Some(form), dice);
                }
            }
        }
    }

    fn runs(
        &mut self,
        state: &CheckoutState,
        what: &str,
        form: Option<&BugForm>,
        dice: &mut SeededRandom,
    ) {
        let project = self.project.clone();
        let lint = form.and_then(|form| match project.checks[form.failures[0].0].kind {
            CheckKind::Lint(tool) => Some(tool),
            _ => None,
        });
        let mut nested = project.packages.len() == 1 && !project.packages[0].folder.is_empty();
        // Go must run in the folder of its module.
        let go_folder = if nested && project.language == Language::Go {
            nested = false;
            project.packages[0].folder.clone()
        } else {
            String::new()
        };
        for tool in tools(project.language) {
            if lint.is_some() != is_lint(*tool) && form.is_some() {
                continue;
            }
            let everything =
                CheckSelection { package: nested.then_some(0), ..CheckSelection::default() };
            let folder = go_folder.clone();
            let styles = [
                RunStyle::default(),
                RunStyle { quiet: true, ..RunStyle::default() },
                RunStyle { verbose: true, ..RunStyle::default() },
                RunStyle { short: true, ..RunStyle::default() },
                RunStyle { fail_fast: true, ..RunStyle::default() },
                RunStyle { keep_going: true, ..RunStyle::default() },
            ];
            self.compare(*tool, &everything, RunStyle::default(), state, &folder, what);
            let style = *dice.pick(&styles);
            self.compare(*tool, &everything, style, state, &folder, what);
            let package = form.map_or(0, |form| project.checks[form.failures[0].0].package);
            let inside = CheckSelection::default();
            let folder = project.packages[package].folder.clone();
            let style = *dice.pick(&styles);
            self.compare(*tool, &inside, style, state, &folder, what);
            if let Some(form) = form.filter(|_| lint.is_none()) {
                let check = form.failures[0].0;
                let file = CheckSelection {
                    files: vec![project.checks[check].file.clone()],
                    ..CheckSelection::default()
                };
                let is_file = project.language != Language::Rust
                    || project.checks[check].file.contains("tests/");
                if is_file {
                    self.compare(*tool, &file, RunStyle::default(), state, &go_folder, what);
                }
                if project.checks[check].kind == CheckKind::Test {
                    let one = CheckSelection { tests: vec![check], ..CheckSelection::default() };
                    self.compare(*tool, &one, RunStyle::default(), state, &folder, what);
                    let name = &project.checks[check].name;
                    let keyword = name.rsplit(['_', ' ']).next().unwrap().to_owned();
                    let some = CheckSelection {
                        keyword: Some(keyword),
                        package: everything.package,
                        ..CheckSelection::default()
                    };
                    self.compare(*tool, &some, RunStyle::default(), state, &go_folder, what);
                }
            }
        }
    }

    fn compare(
        &mut self,
        tool: CheckTool,
        selection: &CheckSelection,
        style: RunStyle,
        state: &CheckoutState,
        folder: &str,
        what: &str,
    ) {
        self.write(&state.tree);
        let conditions = RunConditions {
            project: &self.project,
            state,
            root: self.root(),
            folder: folder.to_owned(),
            flaky: Vec::new(),
            is_remedied: false,
            noise: 7,
        };
        let report = execute_run(tool, selection, style, &conditions);
        let words = command_words(tool, selection, style, &self.project, state, folder);
        let output = Command::new(&words[0])
            .args(&words[1..])
            .current_dir(Path::new(&self.root()).join(folder))
            .env("TZ", "America/New_York")
            .env("CLAUDECODE", "1")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("CI")
            .env("RUST_TEST_THREADS", "1")
            .env("GOFLAGS", "-count=1")
            .env_remove("RUST_BACKTRACE")
            .output()
            .unwrap();
        let streams = [(OutputStream::Out, &output.stdout), (OutputStream::Err, &output.stderr)];
        let mut differs = output.status.code() != Some(report.exit);
        let mut shown = String::new();
        if differs {
            shown += &format!("  exit {:?}, expected {}\n", output.status.code(), report.exit);
        }
        for (stream, real) in streams {
            let real = String::from_utf8_lossy(real).replace(NPM_WARNING, "");
            let real = masked(&real);
            let own: Vec<&str> = report
                .lines
                .iter()
                .filter(|(of, _)| *of == stream)
                .map(|(_, line)| line.as_str())
                .collect();
            let virtual_text = masked(&own.join("\n"));
            if real != virtual_text {
                differs = true;
                let diff = similar::TextDiff::from_lines(&real, &virtual_text);
                shown += &diff.unified_diff().header("real", "virtual").to_string();
            }
        }
        self.compared += 1;
        if differs {
            self.wrong += 1;
            println!("== {what}: {} (in `{folder}`)\n{shown}", words.join(" "));
        }
    }
}

fn tools(language: Language) -> &'static [CheckTool] {
    match language {
        Language::Python => &[CheckTool::Pytest, CheckTool::Ruff],
        Language::Rust => &[CheckTool::CargoTest, CheckTool::CargoCheck],
        Language::Go => &[CheckTool::GoTest, CheckTool::GoBuild],
        Language::TypeScript => &[CheckTool::Vitest, CheckTool::Tsc],
        Language::JavaScript => &[CheckTool::Jest, CheckTool::Eslint],
    }
}

fn is_lint(tool: CheckTool) -> bool {
    matches!(
        tool,
        CheckTool::Ruff
            | CheckTool::CargoCheck
            | CheckTool::GoBuild
            | CheckTool::Tsc
            | CheckTool::Eslint
    )
}
