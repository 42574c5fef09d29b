//! A virtual project: its files, its checks, and the bugs that it can have.
//!
//! The files decide which checks fail. A bug is present in a tree if its regions hold the text of one of its forms;
//! each form lists the failing checks and their failures. Only two other things make a check fail: a flaky check and a
//! missing environment, which are parameters of a run.

use crate::source::Tree;

/// Language of a project; it decides the layout and the runners.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// Python with pytest and ruff.
    Python,
    /// Rust with cargo.
    Rust,
    /// Go with its own tools and golangci-lint.
    Go,
    /// TypeScript with vitest, tsc and eslint.
    TypeScript,
    /// JavaScript with jest and eslint.
    JavaScript,
}

/// A tool that runs checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckTool {
    /// `pytest`
    Pytest,
    /// `ruff check`
    Ruff,
    /// `cargo test`
    CargoTest,
    /// `cargo nextest run`
    Nextest,
    /// `cargo check`
    CargoCheck,
    /// `go test`
    GoTest,
    /// `go build`
    GoBuild,
    /// `golangci-lint run`
    GolangciLint,
    /// `vitest run`
    Vitest,
    /// `jest`
    Jest,
    /// `tsc --noEmit`
    Tsc,
    /// `eslint`
    Eslint,
}

impl CheckTool {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Ruff => "ruff",
            Self::CargoTest => "cargo test",
            Self::Nextest => "cargo nextest",
            Self::CargoCheck => "cargo check",
            Self::GoTest => "go test",
            Self::GoBuild => "go build",
            Self::GolangciLint => "golangci-lint",
            Self::Vitest => "vitest",
            Self::Jest => "jest",
            Self::Tsc => "tsc",
            Self::Eslint => "eslint",
        }
    }
}

/// Kind of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckKind {
    /// A test.
    Test,
    /// The import of a test file. If it fails, nothing in that file runs.
    Import,
    /// The compilation of a package. If it fails, none of its tests run.
    Build,
    /// A finding of a linter or type checker.
    Lint(CheckTool),
}

/// A check that a run passes or fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Kind of the check.
    pub kind: CheckKind,
    /// Index of its package.
    pub package: usize,
    /// File that it belongs to, from the root of the checkout.
    pub file: String,
    /// Region of a test; empty for other kinds.
    pub region: String,
    /// Class, describe block or module of a test.
    pub group: Option<String>,
    /// Name of a test, or code of a finding.
    pub name: String,
}

/// A call below a test, as a traceback shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Prefix of the function's regions: `…/head`, `…/doc` and `…/body` follow it.
    pub unit: String,
    /// Line in the body.
    pub line: usize,
    /// Part of the line that the runner points at.
    pub mark: String,
    /// Name of the function.
    pub function: String,
    /// Arguments and their values as Python prints them.
    pub arguments: Vec<(String, String)>,
}

/// The way in which a check fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckFailure {
    /// Line of the test that fails, counted within its region; of a lint finding, within [`CheckFailure::region`].
    pub line: usize,
    /// Part of that line that the runner points at.
    pub mark: String,
    /// Calls below the test, outermost first.
    pub frames: Vec<Frame>,
    /// Type or code of the error; empty if the runner prints none.
    pub error: String,
    /// Message as the runner prints it.
    pub message: Vec<String>,
    /// Actual and expected value, if an equality failed.
    pub values: Option<(String, String)>,
    /// Region that a compiler or linter points at.
    pub region: String,
    /// Lines that a compiler or linter prints below the location, with their indentation.
    pub notes: Vec<String>,
}

/// A way to write a bug.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BugForm {
    /// Regions and their lines in this form.
    pub regions: Vec<(String, Vec<String>)>,
    /// Checks that fail, and how.
    pub failures: Vec<(usize, CheckFailure)>,
}

impl BugForm {
    /// Returns true if a tree has this form.
    pub fn is_in(&self, tree: &Tree) -> bool {
        self.regions.iter().all(|(key, lines)| tree.region(key) == Some(lines.as_slice()))
    }

    /// Writes this form into a tree.
    pub fn write(&self, tree: &mut Tree) {
        for (key, lines) in &self.regions {
            tree.set_region(key, lines);
        }
    }
}

/// Kind of mistake behind a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BugKind {
    /// The code computes something else; an assertion fails.
    Logic,
    /// The code raises, throws or panics.
    Exception,
    /// A name that a test file imports does not exist.
    Import,
    /// The code does not compile.
    Compile,
    /// A value in a configuration file is wrong; the failure does not name that file.
    Configuration,
    /// A linter or type checker reports it; no test fails.
    Lint,
}

impl BugKind {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logic => "assertion",
            Self::Exception => "exception",
            Self::Import => "import error",
            Self::Compile => "compile error",
            Self::Configuration => "configuration value",
            Self::Lint => "lint finding",
        }
    }
}

/// A mistake that the project can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bug {
    /// Name for human readers.
    pub key: String,
    /// Kind of mistake.
    pub kind: BugKind,
    /// Index of its package.
    pub package: usize,
    /// Prefix of the regions of the function with the bug; empty if it is not in a function.
    pub unit: String,
    /// The correct text.
    pub good: BugForm,
    /// Ways to write the mistake. All have the same cause; the numbers in the messages may differ.
    pub forms: Vec<BugForm>,
    /// Wrong repairs, which leave a check failing.
    pub attempts: Vec<BugForm>,
    /// States between the mistake and its repair, if the repair takes two edits; each still fails.
    pub halfway: Vec<BugForm>,
}

impl Bug {
    /// Returns the form that a tree has, or None if the bug is not there.
    pub fn form_in(&self, tree: &Tree) -> Option<&BugForm> {
        self.forms.iter().chain(&self.attempts).chain(&self.halfway).find(|form| form.is_in(tree))
    }

    /// Returns the checks that fail because of the bug in its first form.
    pub fn checks(&self) -> Vec<usize> {
        self.forms[0].failures.iter().map(|(check, _)| *check).collect()
    }
}

/// A part of a project with its own tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Name, in the form of the language.
    pub name: String,
    /// Folder from the root of the checkout; empty for the root itself.
    pub folder: String,
}

impl Package {
    /// Returns a path inside the package as a path from the root of the checkout.
    pub fn path(&self, inside: &str) -> String {
        if self.folder.is_empty() { inside.to_owned() } else { format!("{}/{inside}", self.folder) }
    }
}

/// A change that has nothing to do with any failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrelatedChange {
    /// Kind of change, for reports.
    pub kind: UnrelatedChangeKind,
    /// Package of the change; None for files of the whole checkout.
    pub package: Option<usize>,
    /// Region that it changes.
    pub region: String,
    /// Texts that the region can have; the first is the original.
    pub texts: Vec<Vec<String>>,
}

/// Kind of an unrelated change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnrelatedChangeKind {
    /// Documentation of a function.
    Docstring,
    /// A comment.
    Comment,
    /// A version constant.
    Version,
    /// The order of imports.
    Imports,
    /// Another function.
    Function,
    /// README, changelog or configuration.
    Document,
}

impl UnrelatedChangeKind {
    /// Returns the name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Docstring => "docstring",
            Self::Comment => "comment",
            Self::Version => "version constant",
            Self::Imports => "import order",
            Self::Function => "another function",
            Self::Document => "document",
        }
    }
}

/// A requirement of a run on its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvironmentNeed {
    /// The difference that makes the run green.
    pub remedy: Remedy,
    /// Checks that fail without the remedy, and how.
    pub failures: Vec<(usize, CheckFailure)>,
}

/// The difference between a failing command and a working one, if no file changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// A variable in front of the command.
    Variable(String, String),
    /// An argument of the runner.
    Flag(String),
    /// A program in front of the runner, such as `uv run`.
    Wrapper(String),
}

impl Remedy {
    /// Returns the text that a command has with the remedy and lacks without it.
    pub fn text(&self) -> String {
        match self {
            Self::Variable(name, value) => format!("{name}={value}"),
            Self::Flag(text) | Self::Wrapper(text) => text.clone(),
        }
    }
}

/// A virtual project.
#[derive(Debug, Clone)]
pub struct VirtualProject {
    /// Language.
    pub language: Language,
    /// Name; also the folder of the first checkout.
    pub name: String,
    /// Packages; more than one in a monorepo.
    pub packages: Vec<Package>,
    /// All checks.
    pub checks: Vec<Check>,
    /// Mistakes that it can have.
    pub bugs: Vec<Bug>,
    /// Unrelated changes that can be made.
    pub fillers: Vec<UnrelatedChange>,
    /// Files without any bug.
    pub tree: Tree,
    /// Environment that some checks need.
    pub need: Option<EnvironmentNeed>,
    /// Checks that can fail at random, and how.
    pub flaky: Vec<(usize, CheckFailure)>,
}

impl VirtualProject {
    /// Returns the tests, each with its index.
    pub fn tests(&self) -> impl Iterator<Item = (usize, &Check)> {
        self.checks.iter().enumerate().filter(|(_, check)| check.kind == CheckKind::Test)
    }

    /// Finds a check by its package, kind and name.
    pub fn find_check(&self, package: usize, kind: CheckKind, name: &str) -> Option<usize> {
        self.checks
            .iter()
            .position(|check| check.package == package && check.kind == kind && check.name == name)
    }
}

/// Replaces each `$name` by its value.
pub fn fill_values(text: &str, values: &[(&str, &str)]) -> String {
    // Longer names first, so that `$rate` is not read as `$r`.
    let mut values = values.to_vec();
    values.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    values
        .iter()
        .fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}
