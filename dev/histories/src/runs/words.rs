//! Command lines of the tools.

use super::{CheckSelection, CheckoutState, RunStyle};
use crate::project::{CheckTool, Package, VirtualProject};

/// Returns the words of the command that runs a tool in a folder of the checkout.
pub fn command_words(
    tool: CheckTool,
    selection: &CheckSelection,
    style: RunStyle,
    project: &VirtualProject,
    state: &CheckoutState,
    folder: &str,
) -> Vec<String> {
    let words = CommandWords { selection, style, project, state, folder };
    match tool {
        CheckTool::Pytest => words.pytest(),
        CheckTool::Ruff => words.ruff(),
        CheckTool::CargoTest => words.cargo(&["cargo", "test"]),
        CheckTool::Nextest => words.cargo(&["cargo", "nextest", "run"]),
        CheckTool::CargoCheck => words.cargo(&["cargo", "check"]),
        CheckTool::GoTest => words.go_test(),
        CheckTool::GoBuild => words.go_build(),
        CheckTool::GolangciLint => words.golangci_lint(),
        CheckTool::Vitest => words.script(&["npx", "vitest", "run"]),
        CheckTool::Jest => words.script(&["npx", "jest"]),
        CheckTool::Tsc => words.script(&["npx", "tsc", "--noEmit"]),
        CheckTool::Eslint => words.script(&["npx", "eslint"]),
    }
}

struct CommandWords<'a> {
    selection: &'a CheckSelection,
    style: RunStyle,
    project: &'a VirtualProject,
    state: &'a CheckoutState,
    folder: &'a str,
}

impl CommandWords<'_> {
    /// Returns a path of the checkout relative to the folder of the command.
    fn path(&self, path: &str) -> String {
        let inside = path.strip_prefix(self.folder).filter(|_| !self.folder.is_empty());
        inside.and_then(|rest| rest.strip_prefix('/')).unwrap_or(path).to_owned()
    }

    fn name(&self, test: usize) -> &str {
        self.state.name(self.project, test).unwrap_or_default()
    }

    /// Returns the package that the selection names, unless the command runs inside it.
    fn package(&self) -> Option<&Package> {
        let package = &self.project.packages[self.selection.package?];
        (package.folder != self.folder).then_some(package)
    }

    fn pytest(&self) -> Vec<String> {
        let mut words = vec!["pytest".to_owned()];
        let mut flag = |on: bool, text: &str| {
            if on {
                words.push(text.to_owned());
            }
        };
        flag(self.style.collect_only, "--collect-only");
        flag(self.style.quiet, "-q");
        flag(self.style.verbose, "-v");
        flag(self.style.fail_fast, "-x");
        flag(self.style.short, "--tb=short");
        if let Some(package) = self.package() {
            words.push(package.folder.clone());
        }
        words.extend(self.selection.files.iter().map(|file| self.path(file)));
        for test in &self.selection.tests {
            let check = &self.project.checks[*test];
            let group = check.group.as_ref().map_or(String::new(), |group| format!("{group}::"));
            words.push(format!("{}::{group}{}", self.path(&check.file), self.name(*test)));
        }
        if let Some(keyword) = &self.selection.keyword {
            words.extend(["-k".to_owned(), keyword.clone()]);
        }
        if let Some(without) = &self.selection.without {
            words.extend(["-k".to_owned(), format!("not {without}")]);
        }
        words
    }

    fn cargo(&self, command: &[&str]) -> Vec<String> {
        let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let mut flag = |on: bool, text: &str| {
            if on {
                words.push(text.to_owned());
            }
        };
        flag(self.style.quiet, "-q");
        flag(self.style.keep_going, "--no-fail-fast");
        flag(self.selection.library, "--lib");
        let is_workspace = self.project.packages.len() > 1;
        if let [one] = &self.project.packages[..]
            && one.folder != self.folder
        {
            words.extend(["--manifest-path".to_owned(), format!("{}/Cargo.toml", one.folder)]);
        }
        let file = self.selection.files.first();
        let test = self.selection.tests.first();
        if is_workspace && self.folder.is_empty() {
            let of = |path: &String| {
                self.project
                    .packages
                    .iter()
                    .position(|package| path.starts_with(&format!("{}/", package.folder)))
            };
            let package = self
                .selection
                .package
                .or_else(|| file.and_then(of))
                .or_else(|| test.map(|test| self.project.checks[*test].package));
            if let Some(package) = package {
                words.extend(["-p".to_owned(), self.project.packages[package].name.clone()]);
            }
        }
        if let Some(file) = file {
            let stem = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
            words.extend(["--test".to_owned(), stem.to_owned()]);
        }
        if let Some(test) = test {
            let check = &self.project.checks[*test];
            let group = check.group.as_ref().map_or(String::new(), |group| format!("{group}::"));
            words.push(format!("{group}{}", self.name(*test)));
        }
        words.extend(self.selection.keyword.clone());
        if let Some(without) = &self.selection.without {
            words.extend(["--", "--skip", without].map(str::to_owned));
        }
        words
    }

    /// Returns the folders that a Go command names.
    fn go_folders(&self) -> Vec<String> {
        let mut files: Vec<String> = self.selection.files.clone();
        let tested = self.selection.tests.iter();
        files.extend(tested.map(|test| self.project.checks[*test].file.clone()));
        let folders: Vec<String> = files
            .iter()
            .map(|file| {
                let path = self.path(file);
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                if folder.is_empty() { ".".to_owned() } else { format!("./{folder}") }
            })
            .collect();
        match (folders.is_empty(), self.package()) {
            (false, _) => folders,
            (true, Some(package)) if !package.folder.is_empty() => {
                vec![format!("./{}/...", package.folder)]
            }
            _ => vec!["./...".to_owned()],
        }
    }

    fn go_test(&self) -> Vec<String> {
        let mut words = vec!["go".to_owned(), "test".to_owned()];
        if self.style.verbose {
            words.push("-v".to_owned());
        }
        words.extend(self.go_folders());
        if let Some(test) = self.selection.tests.first() {
            let check = &self.project.checks[*test];
            let name = self.name(*test);
            words.push("-run".to_owned());
            words.push(match &check.group {
                Some(group) => format!("^{group}$/^{name}$"),
                None => format!("^{name}$"),
            });
        }
        if let Some(keyword) = &self.selection.keyword {
            words.extend(["-run".to_owned(), keyword.clone()]);
        }
        words
    }

    fn go_build(&self) -> Vec<String> {
        let mut words = vec!["go".to_owned(), "build".to_owned()];
        words.extend(self.go_folders());
        words
    }

    fn golangci_lint(&self) -> Vec<String> {
        let mut words = vec!["golangci-lint".to_owned(), "run".to_owned()];
        if !self.selection.is_everything() {
            words.extend(self.go_folders());
        }
        words
    }

    fn script(&self, command: &[&str]) -> Vec<String> {
        let mut words: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        let is_linter = command.contains(&"eslint");
        if command.contains(&"tsc") {
            if let Some(package) = self.package() {
                words.extend(["-p".to_owned(), package.folder.clone()]);
            }
            return words;
        }
        if self.style.verbose && command.contains(&"vitest") {
            words.push("--reporter=default".to_owned());
        }
        if let Some(package) = self.package() {
            words.push(package.folder.clone());
        }
        words.extend(self.selection.files.iter().map(|file| self.path(file)));
        if is_linter && words.len() == command.len() {
            words.push(".".to_owned());
        }
        let name = self.selection.keyword.clone().or_else(|| {
            let test = self.selection.tests.first()?;
            words.push(self.path(&self.project.checks[*test].file));
            Some(self.name(*test).to_owned())
        });
        if let Some(name) = name {
            words.extend(["-t".to_owned(), name]);
        }
        words
    }

    fn ruff(&self) -> Vec<String> {
        let mut words = vec!["ruff".to_owned(), "check".to_owned()];
        if self.style.short {
            words.push("--output-format=concise".to_owned());
        }
        if let Some(package) = self.package() {
            words.push(package.folder.clone());
        }
        words.extend(self.selection.files.iter().map(|file| self.path(file)));
        words
    }
}
