//! Virtual projects in several languages.

use std::collections::HashMap;

use rutter_testkit::dice::SeededRandom;

use crate::project::{
    Bug, BugForm, BugKind, Check, CheckFailure, CheckKind, Language, Package, UnrelatedChange,
    UnrelatedChangeKind, VirtualProject,
};
use crate::source::{Region, Tree, lines_of};
use crate::unit::{FunctionUnit, UnitDice, UnitFailure, UnitForm, UnitTest};

mod draws;
mod go;
mod python;
mod rust;
mod script;

/// Shape of a project's folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectLayout {
    /// A single package at the root.
    Single,
    /// A single package in a folder such as `backend`.
    Nested,
    /// Two packages that share module and test names.
    Monorepo,
}

/// Optional parts of a project, present only if a history needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProjectExtras {
    /// A check that needs something from the environment.
    pub need: Option<NeedKind>,
    /// A check that fails at random.
    pub flaky: bool,
}

/// Kind of difference between the failing and the working command, if a run needs a certain environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeedKind {
    /// A variable.
    Variable,
    /// An argument.
    Flag,
    /// A program in front.
    Wrapper,
}

/// Builds a project.
pub fn build_project(
    language: Language,
    layout: ProjectLayout,
    extras: ProjectExtras,
    dice: &mut SeededRandom,
) -> VirtualProject {
    match language {
        Language::Python => python::project(layout, extras, dice),
        Language::Rust => rust::project(layout, extras, dice),
        Language::Go => go::project(layout, extras, dice),
        Language::TypeScript | Language::JavaScript => {
            script::project(language, layout, extras, dice)
        }
    }
}

/// Names for projects.
const PROJECT_NAMES: [&str; 6] = ["shop", "ledger", "depot", "atlas", "harbor", "kiosk"];

/// Chooses the functions of every package by module. The second package of a monorepo has two modules of the first,
/// with the same names and other numbers.
fn choose_units(
    packages: usize,
    dice: &mut SeededRandom,
    units: impl Fn(&mut UnitDice) -> Vec<FunctionUnit>,
) -> Vec<Vec<FunctionUnit>> {
    let names = dice.next_u64();
    let mut modules: Vec<String> = units(&mut UnitDice::new(names, 0))
        .iter()
        .map(|unit| module_family(&unit.module).to_owned())
        .collect();
    modules.dedup();
    dice.shuffle(&mut modules);
    let count = 4 + dice.below(3);
    (0..packages)
        .map(|package| {
            let chosen: Vec<&String> = match package {
                0 => modules[..count].iter().collect(),
                _ => modules[..2].iter().chain(&modules[count..count + 2]).collect(),
            };
            let mut drawn = units(&mut UnitDice::new(names, dice.next_u64()));
            drawn.retain(|unit| chosen.iter().any(|module| *module == module_family(&unit.module)));
            drawn
        })
        .collect()
}

/// Returns the module that is chosen together with this one: orders need prices.
fn module_family(module: &str) -> &str {
    if module == "orders" { "pricing" } else { module }
}

/// The form in which a language writes functions and reports failures.
trait Dialect {
    /// Returns the lines that document a function.
    fn doc(&self, text: &str) -> Vec<String>;

    /// Returns true if the documentation comes before the signature.
    fn has_doc_first(&self) -> bool {
        true
    }

    /// Returns the number of lines of a test before its body.
    fn test_head(&self) -> usize {
        1
    }

    /// Describes a failing test in the form of the language's runners.
    fn failure(&self, test: &UnitTest, fail: &UnitFailure) -> CheckFailure;
}

/// A project under construction.
struct ProjectAssembly<D> {
    dialect: D,
    project: VirtualProject,
    /// Tests by package and name.
    tests: HashMap<(usize, String), (usize, UnitTest)>,
}

impl<D: Dialect> ProjectAssembly<D> {
    fn new(dialect: D, language: Language, name: &str) -> Self {
        let project = VirtualProject {
            language,
            name: name.to_owned(),
            packages: Vec::new(),
            checks: Vec::new(),
            bugs: Vec::new(),
            fillers: Vec::new(),
            tree: Tree::default(),
            need: None,
            flaky: Vec::new(),
        };
        Self { dialect, project, tests: HashMap::new() }
    }

    /// Returns the prefix of a function's regions.
    fn prefix(package: usize, unit: &FunctionUnit) -> String {
        format!("{package}/{}/{}", unit.module, unit.function)
    }

    /// Returns the regions of a function without the gap in front of it.
    fn function(&self, package: usize, unit: &FunctionUnit) -> Vec<Region> {
        let prefix = Self::prefix(package, unit);
        let doc = Region { key: format!("{prefix}/doc"), lines: self.dialect.doc(&unit.docs[0]) };
        let head = Region::new(format!("{prefix}/head"), &unit.head);
        let mut regions =
            if self.dialect.has_doc_first() { vec![doc, head] } else { vec![head, doc] };
        regions.push(Region::new(format!("{prefix}/body"), &unit.body));
        if !unit.tail.is_empty() {
            regions.push(Region::new(format!("{prefix}/tail"), &unit.tail));
        }
        regions
    }

    /// Chooses the packages. A nested package is in one of the `folders`, those of a monorepo are below `workspace`.
    fn choose_packages(
        &mut self,
        layout: ProjectLayout,
        folders: [&str; 2],
        workspace: &str,
        dice: &mut SeededRandom,
    ) {
        let single =
            |folder: &str| Package { name: self.project.name.clone(), folder: folder.to_owned() };
        self.project.packages = match layout {
            ProjectLayout::Single => vec![single("")],
            ProjectLayout::Nested => vec![single(dice.pick::<&str>(&folders))],
            ProjectLayout::Monorepo => ["api", "web"]
                .map(|name| Package {
                    name: name.to_owned(),
                    folder: format!("{workspace}/{name}"),
                })
                .to_vec(),
        };
    }

    /// Writes the configuration file that a function reads, into a folder of the package.
    fn put_setting(&mut self, package: usize, folder: &str, unit: &FunctionUnit) {
        let Some(setting) = &unit.setting else { return };
        let prefix = Self::prefix(package, unit);
        let file = self.project.packages[package].path(&format!("{folder}/{}", setting.file));
        self.project.tree.put_file(
            file,
            vec![
                Region::new(format!("{package}/settings/before"), &setting.before),
                Region::new(format!("{prefix}/setting"), &setting.line),
                Region::new(format!("{package}/settings/after"), &setting.after),
            ],
        );
    }

    /// Adds the unrelated changes of a module.
    fn module_fillers(
        &mut self,
        package: usize,
        module: &str,
        [titles, comments, versions, labels]: [&[String]; 4],
    ) {
        for (kind, part, texts) in [
            (UnrelatedChangeKind::Docstring, "title", titles),
            (UnrelatedChangeKind::Comment, "comment", comments),
            (UnrelatedChangeKind::Version, "version", versions),
            (UnrelatedChangeKind::Function, "label/body", labels),
        ] {
            self.filler(kind, Some(package), format!("{package}/{module}/{part}"), texts);
        }
    }

    /// Adds a check and returns its index.
    fn check(&mut self, check: Check) -> usize {
        self.project.checks.push(check);
        self.project.checks.len() - 1
    }

    /// Adds a test of a unit.
    fn test(&mut self, package: usize, test: &UnitTest, check: Check) {
        let index = self.check(check);
        self.tests.insert((package, test.name.clone()), (index, test.clone()));
    }

    /// Adds an unrelated change.
    fn filler(
        &mut self,
        kind: UnrelatedChangeKind,
        package: Option<usize>,
        region: String,
        texts: &[String],
    ) {
        let texts = texts.iter().map(|text| lines_of(text)).collect();
        self.project.fillers.push(UnrelatedChange { kind, package, region, texts });
    }

    /// Adds the bugs of a unit, and its documentation as an unrelated change. The tests must have been added already.
    fn bugs(&mut self, package: usize, unit: &FunctionUnit) {
        let prefix = Self::prefix(package, unit);
        let docs: Vec<String> =
            unit.docs.iter().map(|doc| self.dialect.doc(doc).join("\n")).collect();
        self.filler(UnrelatedChangeKind::Docstring, Some(package), format!("{prefix}/doc"), &docs);
        for bug in &unit.bugs {
            // Every form sets all regions that any of them changes.
            let all = || bug.forms.iter().chain(&bug.attempts).chain(&bug.halfway);
            let head = all().any(|form| form.head.is_some());
            let body = all().any(|form| form.body.is_some());
            let setting = all().any(|form| form.setting.is_some());
            let regions = |form: &UnitForm| {
                let mut regions = Vec::new();
                if head {
                    let text = form.head.as_ref().unwrap_or(&unit.head);
                    regions.push((format!("{prefix}/head"), lines_of(text)));
                }
                if body {
                    let text = form.body.as_ref().unwrap_or(&unit.body);
                    regions.push((format!("{prefix}/body"), lines_of(text)));
                }
                if setting {
                    let own = unit.setting.as_ref().map_or("", |setting| setting.line.as_str());
                    let text = form.setting.as_deref().unwrap_or(own);
                    regions.push((format!("{prefix}/setting"), lines_of(text)));
                }
                regions
            };
            let form = |form: &UnitForm| {
                let failures = form.fails.iter().map(|(name, fail)| {
                    let (check, test) = &self.tests[&(package, name.clone())];
                    let mut failure = self.dialect.failure(test, fail);
                    if bug.kind == BugKind::Compile {
                        let check = self.build_check(package, &unit.module);
                        failure.region = format!("{prefix}/body");
                        return (check, failure);
                    }
                    failure.line += self.dialect.test_head();
                    for frame in &mut failure.frames {
                        frame.unit.clone_from(&prefix);
                        frame.function.clone_from(&unit.function);
                    }
                    (*check, failure)
                });
                BugForm { regions: regions(form), failures: failures.collect() }
            };
            let forms = |forms: &[UnitForm]| forms.iter().map(form).collect::<Vec<_>>();
            let good = BugForm { regions: regions(&UnitForm::default()), failures: Vec::new() };
            let bug = Bug {
                key: format!("{}: {}", unit.function, bug.key),
                kind: bug.kind,
                package,
                unit: prefix.clone(),
                good,
                forms: forms(&bug.forms),
                attempts: forms(&bug.attempts),
                halfway: forms(&bug.halfway),
            };
            self.project.bugs.push(bug);
        }
    }

    /// Returns the check that a module compiles: per module in Go, per package in Rust.
    fn build_check(&self, package: usize, module: &str) -> usize {
        let builds = || {
            self.project
                .checks
                .iter()
                .enumerate()
                .filter(|(_, check)| check.kind == CheckKind::Build && check.package == package)
        };
        let own = builds().find(|(_, check)| check.name == module).or_else(|| builds().next());
        own.map_or_else(|| unreachable!("packages are compiled"), |(index, _)| index)
    }

    /// Adds the documents of a checkout, with possible changes to them.
    fn documents(&mut self, language: &str) {
        let name = self.project.name.clone();
        let tree = &mut self.project.tree;
        tree.put_file(
            "README.md",
            vec![
                Region::new("readme/title", &format!("# {name}\n")),
                Region::new("readme/text", &format!("A small {language} project.")),
                Region::new("readme/use", "\n## Use\n\nSee the tests for examples."),
            ],
        );
        tree.put_file(
            "CHANGELOG.md",
            vec![
                Region::new("changelog/title", "# Changelog\n\n## Unreleased\n"),
                Region::new("changelog/entry", "- First version"),
            ],
        );
        tree.put_file(
            ".editorconfig",
            vec![
                Region::new("editorconfig/root", "root = true\n\n[*]"),
                Region::new("editorconfig/width", "max_line_length = 100"),
            ],
        );
        let texts =
            |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let document = UnrelatedChangeKind::Document;
        self.filler(
            document,
            None,
            "readme/text".to_owned(),
            &texts(&[
                &format!("A small {language} project."),
                "Everything that the warehouse needs, in one place.",
                "Tools for the warehouse team.",
            ]),
        );
        self.filler(
            document,
            None,
            "readme/use".to_owned(),
            &texts(&[
                "\n## Use\n\nSee the tests for examples.",
                "\n## Use\n\nRun the suite first, then read the modules.",
            ]),
        );
        self.filler(
            document,
            None,
            "changelog/entry".to_owned(),
            &texts(&[
                "- First version",
                "- First version\n- Clearer messages",
                "- First version\n- Clearer messages\n- Faster start",
            ]),
        );
        self.filler(
            document,
            None,
            "editorconfig/width".to_owned(),
            &texts(&["max_line_length = 100", "max_line_length = 120"]),
        );
    }
}

/// Returns the functions of a module.
fn units_of<'a>(units: &'a [FunctionUnit], module: &str) -> Vec<&'a FunctionUnit> {
    units.iter().filter(|unit| unit.module == module).collect()
}

/// Creates a check of the import of a test file or the compilation of a package.
fn whole_check(kind: CheckKind, package: usize, file: &str, name: &str) -> Check {
    Check {
        kind,
        package,
        file: file.to_owned(),
        region: String::new(),
        group: None,
        name: name.to_owned(),
    }
}
