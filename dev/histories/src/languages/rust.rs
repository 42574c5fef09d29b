//! Rust: modules below `src`, their tests at the end of the module or below `tests`.

use rutter_testkit::dice::SeededRandom;

use super::{
    Dialect, NeedKind, PROJECT_NAMES, ProjectAssembly, ProjectExtras, ProjectLayout, choose_units,
    units_of, whole_check,
};
use crate::project::{
    Check, CheckFailure, CheckKind, EnvironmentNeed, Frame, Language, Remedy, UnrelatedChangeKind,
    VirtualProject,
};
use crate::source::{Region, lines_of};
use crate::unit::{FunctionUnit, UnitFailure, UnitTest};

mod units;

struct Rust;

impl Dialect for Rust {
    fn doc(&self, text: &str) -> Vec<String> {
        vec![format!("/// {text}")]
    }

    fn test_head(&self) -> usize {
        2
    }

    fn failure(&self, test: &UnitTest, fail: &UnitFailure) -> CheckFailure {
        let failure = CheckFailure { line: test.line, ..CheckFailure::default() };
        match fail {
            UnitFailure::Equal { got, want, .. } => CheckFailure {
                mark: "assert_eq!".to_owned(),
                message: vec![
                    "assertion `left == right` failed".to_owned(),
                    format!("  left: {got}"),
                    format!(" right: {want}"),
                ],
                values: Some((got.clone(), want.clone())),
                ..failure
            },
            UnitFailure::Message(message) => {
                CheckFailure { mark: "assert!".to_owned(), message: message.clone(), ..failure }
            }
            UnitFailure::Raised { line, mark, error, message, arguments }
                if error.starts_with('E') =>
            {
                CheckFailure {
                    line: *line,
                    mark: mark.clone(),
                    error: error.clone(),
                    message: vec![message.clone()],
                    notes: arguments.iter().map(|(_, meant)| meant.clone()).collect(),
                    ..CheckFailure::default()
                }
            }
            UnitFailure::Raised { line, mark, message, .. } => CheckFailure {
                frames: vec![Frame {
                    unit: String::new(),
                    line: *line,
                    mark: mark.clone(),
                    function: String::new(),
                    arguments: Vec::new(),
                }],
                message: vec![message.clone()],
                ..failure
            },
        }
    }
}

/// Builds a Rust project.
pub(super) fn project(
    layout: ProjectLayout,
    extras: ProjectExtras,
    dice: &mut SeededRandom,
) -> VirtualProject {
    let name = *dice.pick(&PROJECT_NAMES);
    let mut assembly = ProjectAssembly::new(Rust, Language::Rust, name);
    assembly.choose_packages(layout, ["backend", "server"], "crates", dice);
    let units = choose_units(assembly.project.packages.len(), dice, units::units);
    // The same choice for both packages: the test files have the same names.
    let integration = dice.next_u64();
    for (package, units) in units.iter().enumerate() {
        assembly.package(package, units, integration, extras);
    }
    if layout == ProjectLayout::Monorepo {
        assembly.project.tree.put_file(
            "Cargo.toml",
            vec![Region::new(
                "workspace",
                "[workspace]\nmembers = [\"crates/api\", \"crates/web\"]\nresolver = \"3\"",
            )],
        );
    }
    assembly
        .project
        .tree
        .put_file(".gitignore", vec![Region::new("gitignore", "target\nCargo.lock")]);
    if let Some(need) = extras.need {
        assembly.need(need);
    }
    if extras.flaky {
        assembly.flaky(dice);
    }
    assembly.documents("Rust");
    assembly.project
}

impl ProjectAssembly<Rust> {
    fn package(
        &mut self,
        package: usize,
        units: &[FunctionUnit],
        integration: u64,
        extras: ProjectExtras,
    ) {
        let own = self.project.packages[package].clone();
        let name = &own.name;
        let feature = if package == 0 && extras.need == Some(NeedKind::Flag) {
            "\n\n[features]\noffline = []"
        } else {
            ""
        };
        let versions = ["0.4.0", "0.4.1", "0.5.0"].map(|number| format!("version = \"{number}\""));
        self.project.tree.put_file(
            own.path("Cargo.toml"),
            vec![
                Region::new(
                    format!("{package}/cargo/name"),
                    &format!("[package]\nname = \"{name}\""),
                ),
                Region::new(format!("{package}/cargo/version"), &versions[0]),
                Region::new(
                    format!("{package}/cargo/rest"),
                    &format!("edition = \"2024\"\npublish = false{feature}"),
                ),
            ],
        );
        self.filler(
            UnrelatedChangeKind::Version,
            Some(package),
            format!("{package}/cargo/version"),
            &versions,
        );
        let build = whole_check(CheckKind::Build, package, &own.path("src/lib.rs"), name);
        self.check(build);
        let mut modules: Vec<&str> = units.iter().map(|unit| unit.module.as_str()).collect();
        modules.sort_unstable();
        modules.dedup();
        let declared = modules.iter().map(|module| format!("pub mod {module};"));
        let declared = declared.collect::<Vec<_>>().join("\n");
        self.project.tree.put_file(
            own.path("src/lib.rs"),
            vec![
                Region::new(format!("{package}/lib/title"), &format!("//! The {name} crate.\n")),
                Region::new(format!("{package}/lib/modules"), &declared),
            ],
        );
        for module in modules {
            let of = units_of(units, module);
            let apart = (integration >> (module.len() % 60)) & 1 == 1;
            self.module(package, module, &of, apart);
        }
        for unit in units {
            self.bugs(package, unit);
        }
    }

    fn module(&mut self, package: usize, module: &str, units: &[&FunctionUnit], apart: bool) {
        let own = self.project.packages[package].clone();
        let key = |part: &str| format!("{package}/{module}/{part}");
        let titles = [
            format!("//! Everything about {module}."),
            format!("//! Rules for {module}; see the tests for examples."),
        ];
        let mut regions = vec![Region::new(key("title"), &titles[0])];
        let imports: Vec<&str> =
            units.iter().flat_map(|unit| &unit.imports).map(String::as_str).collect();
        if !imports.is_empty() {
            regions.push(Region::blank(key("imports-gap"), 1));
            regions.push(Region::new(key("imports"), &imports.join("\n")));
        }
        let comments =
            ["\n// Amounts are whole numbers.", "\n// Amounts are whole numbers, never floats."]
                .map(str::to_owned);
        regions.push(Region::new(key("comment"), &comments[0]));
        let versions = [3, 4, 5].map(|number| format!("pub const RULES_VERSION: u32 = {number};"));
        regions.push(Region::new(key("version"), &versions[0]));
        for unit in units {
            let prefix = Self::prefix(package, unit);
            regions.push(Region::blank(format!("{prefix}/gap"), 1));
            regions.extend(self.function(package, unit));
            self.put_setting(package, "src", unit);
        }
        let labels = [
            format!("    format!(\"{module}:{{name}}\")"),
            format!("    [\"{module}\", name].join(\"/\")"),
            format!("    String::from(\"{module} \") + name"),
        ];
        regions.push(Region::new(
            key("label/head"),
            "\n/// Name of an entry in the logs.\npub fn label(name: &str) -> String {",
        ));
        regions.push(Region::new(key("label/body"), &labels[0]));
        regions.push(Region::new(key("label/tail"), "}"));
        let file = own.path(&format!("src/{module}.rs"));
        let tests = own.path(&format!("tests/{module}.rs"));
        let indent = if apart { "" } else { "    " };
        let mut test_regions = if apart {
            let mut names: Vec<&str> = units.iter().map(|unit| unit.function.as_str()).collect();
            names.sort_unstable();
            let names = match names[..] {
                [one] => one.to_owned(),
                _ => format!("{{{}}}", names.join(", ")),
            };
            vec![Region::new(
                format!("{package}/tests/{module}/imports"),
                &format!("use {}::{module}::{names};", own.name),
            )]
        } else {
            vec![Region::new(
                format!("{package}/tests/{module}/head"),
                "\n#[cfg(test)]\nmod tests {\n    use super::*;",
            )]
        };
        for test in units.iter().flat_map(|unit| &unit.tests) {
            let region = format!("{package}/tests/{module}/{}", test.name);
            let body: Vec<String> =
                test.body.lines().map(|line| format!("{indent}    {line}")).collect();
            let text = format!(
                "{indent}#[test]\n{indent}fn {}() {{\n{}\n{indent}}}",
                test.name,
                body.join("\n")
            );
            test_regions.push(Region::blank(format!("{region}/gap"), 1));
            test_regions.push(Region { key: region.clone(), lines: lines_of(&text) });
            let check = Check {
                kind: CheckKind::Test,
                package,
                file: if apart { tests.clone() } else { file.clone() },
                region,
                group: (!apart).then(|| format!("{module}::tests")),
                name: test.name.clone(),
            };
            self.test(package, test, check);
        }
        if apart {
            self.project.tree.put_file(tests, test_regions);
        } else {
            regions.extend(test_regions);
            regions.push(Region::new(format!("{package}/tests/{module}/tail"), "}"));
        }
        self.project.tree.put_file(file, regions);
        self.module_fillers(package, module, [&titles, &comments, &versions, &labels]);
    }

    /// Adds a module that is declared after the others.
    fn extra_module(&mut self, module: &str, code: &str, test: (&str, &str)) -> usize {
        let own = self.project.packages[0].clone();
        let (name, body) = test;
        let key = |part: &str| format!("extra/{module}/{part}");
        let text = format!("    #[test]\n    fn {name}() {{\n        {body}\n    }}");
        self.project.tree.put_file(
            own.path(&format!("src/{module}.rs")),
            vec![
                Region::new(key("code"), code),
                Region::new(key("head"), "\n#[cfg(test)]\nmod tests {\n    use super::*;\n"),
                Region::new(key("test"), &text),
                Region::new(key("tail"), "}"),
            ],
        );
        self.project.tree.append(
            &own.path("src/lib.rs"),
            vec![Region::new(key("declared"), &format!("pub mod {module};"))],
        );
        self.check(Check {
            kind: CheckKind::Test,
            package: 0,
            file: own.path(&format!("src/{module}.rs")),
            region: key("test"),
            group: Some(format!("{module}::tests")),
            name: name.to_owned(),
        })
    }

    /// Adds a function and a test that only pass in a certain environment.
    fn need(&mut self, kind: NeedKind) {
        let variable = Remedy::Variable("DATABASE_URL".to_owned(), "sqlite::memory:".to_owned());
        let (remedy, check, failure) = match kind {
            NeedKind::Variable | NeedKind::Wrapper => {
                let check = self.extra_module(
                    "settings",
                    "//! Settings of the process.\n\n/// Address of the database.\npub fn database() -> String {\n    std::env::var(\"DATABASE_URL\").expect(\"DATABASE_URL must be set\")\n}",
                    ("database_is_in_memory", "assert_eq!(database(), \"sqlite::memory:\");"),
                );
                let remedy = match kind {
                    NeedKind::Variable => variable,
                    _ => Remedy::Wrapper("direnv exec .".to_owned()),
                };
                let failure = CheckFailure {
                    line: 2,
                    region: "extra/settings/code".to_owned(),
                    notes: vec!["4".to_owned()],
                    mark: "expect(".to_owned(),
                    message: vec!["DATABASE_URL must be set: NotPresent".to_owned()],
                    ..CheckFailure::default()
                };
                (remedy, check, failure)
            }
            NeedKind::Flag => {
                let check = self.extra_module(
                    "network",
                    "//! Use of the network.\n\n/// Whether the network must not be used.\npub fn is_offline() -> bool {\n    cfg!(feature = \"offline\")\n}",
                    ("offline_mode_is_on", "assert!(is_offline());"),
                );
                let failure = CheckFailure {
                    line: 2,
                    mark: "assert!".to_owned(),
                    message: vec!["assertion failed: is_offline()".to_owned()],
                    ..CheckFailure::default()
                };
                (Remedy::Flag("--features offline".to_owned()), check, failure)
            }
        };
        self.project.need = Some(EnvironmentNeed { remedy, failures: vec![(check, failure)] });
    }

    /// Adds a function with a test that depends on the load of the machine.
    fn flaky(&mut self, dice: &mut SeededRandom) {
        let check = self.extra_module(
            "timing",
            "//! Time that work takes.\n\n/// Milliseconds that a round of work takes.\npub fn round_trip() -> u128 {\n    let start = std::time::Instant::now();\n    std::thread::yield_now();\n    start.elapsed().as_millis()\n}",
            ("round_trip_is_quick", "assert!(round_trip() < 5, \"the round trip took too long\");"),
        );
        let _ = dice.next_u64();
        self.project.flaky.push((
            check,
            CheckFailure {
                line: 2,
                mark: "assert!".to_owned(),
                message: vec!["the round trip took too long".to_owned()],
                ..CheckFailure::default()
            },
        ));
    }
}
