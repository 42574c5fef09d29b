//! Python: modules below `src`, pytest tests below `tests`.

use rutter_testkit::dice::SeededRandom;

use super::{
    Dialect, NeedKind, PROJECT_NAMES, ProjectAssembly, ProjectExtras, ProjectLayout, choose_units,
    units_of, whole_check,
};
use crate::project::{
    Bug, BugForm, BugKind, Check, CheckFailure, CheckKind, CheckTool, EnvironmentNeed, Frame,
    Language, Package, Remedy, UnrelatedChangeKind, VirtualProject,
};
use crate::source::{Region, lines_of};
use crate::unit::{FunctionUnit, UnitFailure, UnitTest};

mod units;

struct Python {
    /// True if tests are methods of a class.
    classes: bool,
}

impl Dialect for Python {
    fn doc(&self, text: &str) -> Vec<String> {
        vec![format!("    \"\"\"{text}\"\"\"")]
    }

    fn has_doc_first(&self) -> bool {
        false
    }

    fn failure(&self, test: &UnitTest, fail: &UnitFailure) -> CheckFailure {
        let failure = CheckFailure { line: test.line, ..CheckFailure::default() };
        match fail {
            UnitFailure::Equal { got, want, detail } => {
                let message = if detail.is_empty() {
                    let call = test.call.replace('"', "'");
                    // pytest omits the type unless the message has a quote.
                    let start = if call.contains('\'') { "AssertionError: " } else { "" };
                    vec![
                        format!("{start}assert {got} == {want}"),
                        format!(" +  where {got} = {call}"),
                    ]
                } else {
                    let mut lines =
                        vec![format!("AssertionError: assert {got} == {want}"), "  ".to_owned()];
                    lines.extend(detail.iter().map(|line| format!("  {line}")));
                    lines
                };
                CheckFailure { error: "AssertionError".to_owned(), message, ..failure }
            }
            UnitFailure::Message(message) => CheckFailure {
                error: "AssertionError".to_owned(),
                message: message.clone(),
                ..failure
            },
            UnitFailure::Raised { line, mark, error, message, arguments } => CheckFailure {
                mark: test.call.clone(),
                frames: vec![Frame {
                    unit: String::new(),
                    line: *line,
                    mark: mark.clone(),
                    function: String::new(),
                    arguments: arguments.clone(),
                }],
                error: error.rsplit('.').next().unwrap_or_default().to_owned(),
                message: vec![format!("{error}: {message}")],
                ..failure
            },
        }
    }
}

/// Modules of the standard library for imports that are never used.
const UNUSED_IMPORTS: [&str; 4] = ["os", "sys", "textwrap", "string"];

/// Builds a Python project.
pub(super) fn project(
    layout: ProjectLayout,
    extras: ProjectExtras,
    dice: &mut SeededRandom,
) -> VirtualProject {
    let name = *dice.pick(&PROJECT_NAMES);
    let classes = dice.below(4) == 0;
    let mut assembly = ProjectAssembly::new(Python { classes }, Language::Python, name);
    assembly.choose_packages(layout, ["backend", "server"], "packages", dice);
    let units = choose_units(assembly.project.packages.len(), dice, units::units);
    for (package, units) in units.iter().enumerate() {
        assembly.package(package, units, dice);
    }
    if layout == ProjectLayout::Monorepo {
        assembly.project.tree.put_file("pyproject.toml", vec![Region::new(
            "pyproject",
            "[tool.pytest.ini_options]\naddopts = \"--import-mode=importlib\"\npythonpath = [\"packages/api/src\", \"packages/web/src\"]\ntestpaths = [\"packages\"]",
        )]);
    }
    if let Some(need) = extras.need {
        assembly.need(need);
    }
    if extras.flaky {
        assembly.flaky(dice);
    }
    assembly.documents("Python");
    assembly.project
}

impl ProjectAssembly<Python> {
    fn package(&mut self, package: usize, units: &[FunctionUnit], dice: &mut SeededRandom) {
        let Package { name, .. } = self.project.packages[package].clone();
        let path = |inside: &str| self.project.packages[package].path(inside);
        let [pyproject, init] = [path("pyproject.toml"), path(&format!("src/{name}/__init__.py"))];
        self.project.tree.put_file(pyproject, vec![
            Region::new(format!("{package}/pyproject/name"), &format!("[project]\nname = \"{name}\"")),
            Region::new(format!("{package}/pyproject/version"), "version = \"0.4.0\""),
            Region::new(
                format!("{package}/pyproject/rest"),
                "requires-python = \">=3.9\"\n\n[tool.pytest.ini_options]\npythonpath = [\"src\"]\ntestpaths = [\"tests\"]\n\n[tool.ruff]\nline-length = 100",
            ),
        ]);
        self.filler(
            UnrelatedChangeKind::Version,
            Some(package),
            format!("{package}/pyproject/version"),
            &[
                "version = \"0.4.0\"".to_owned(),
                "version = \"0.4.1\"".to_owned(),
                "version = \"0.5.0\"".to_owned(),
            ],
        );
        self.project.tree.put_file(
            init,
            vec![Region::new(
                format!("{package}/init"),
                &format!("\"\"\"The {name} package.\"\"\""),
            )],
        );
        let mut modules: Vec<&str> = units.iter().map(|unit| unit.module.as_str()).collect();
        modules.dedup();
        for module in modules {
            let of = units_of(units, module);
            self.module(package, module, &of);
            self.test_file(package, module, &of);
        }
        for unit in units {
            self.bugs(package, unit);
        }
        self.name_errors(package, &name);
        for unit in units.iter().filter(|unit| unit.module != "pricing") {
            self.renamed(package, unit);
        }
        let plain: Vec<&FunctionUnit> =
            units.iter().filter(|unit| unit.imports.is_empty()).collect();
        let linted = *dice.pick(&plain);
        let unused: &str = dice.pick::<&str>(&UNUSED_IMPORTS);
        self.unused_import(package, linted, unused);
    }

    fn module(&mut self, package: usize, module: &str, units: &[&FunctionUnit]) {
        let name = self.project.packages[package].name.clone();
        let path = self.project.packages[package].path(&format!("src/{name}/{module}.py"));
        let key = |part: &str| format!("{package}/{module}/{part}");
        let mut imports: Vec<String> = units
            .iter()
            .flat_map(|unit| &unit.imports)
            .map(|line| line.replace("$package", &name))
            .collect();
        imports.dedup();
        let title =
            |text: &str| format!("\"\"\"{text}\"\"\"\n\nfrom __future__ import annotations");
        let titles = [
            title(&format!("Everything about {module}.")),
            title(&format!("Rules for {module}; see the tests for examples.")),
        ];
        let mut regions = vec![Region::new(key("title"), &titles[0])];
        if !imports.is_empty() {
            regions.push(Region::blank(key("imports-gap"), 1));
            regions.push(Region::new(key("imports"), &imports.join("\n")));
        }
        regions.push(Region::new(key("lint"), ""));
        let comments = [
            "\n# Amounts are whole numbers.".to_owned(),
            "\n# Amounts are whole numbers, never floats.".to_owned(),
        ];
        regions.push(Region::new(key("comment"), &comments[0]));
        let versions = [
            "RULES_VERSION = 3".to_owned(),
            "RULES_VERSION = 4".to_owned(),
            "RULES_VERSION = 5".to_owned(),
        ];
        regions.push(Region::new(key("version"), &versions[0]));
        for unit in units {
            let prefix = Self::prefix(package, unit);
            if !unit.prelude.is_empty() {
                let text = format!("\n\n{}", unit.prelude);
                regions.push(Region::new(format!("{package}/{module}/prelude"), &text));
            }
            regions.push(Region::blank(format!("{prefix}/gap"), 2));
            regions.extend(self.function(package, unit));
            self.put_setting(package, &format!("src/{name}"), unit);
        }
        let labels = [
            format!("    return f\"{module}:{{name}}\""),
            format!("    return \"{module}/\" + name"),
            format!("    return f\"{{name}} ({module})\""),
        ];
        regions.push(Region::new(
            key("label/head"),
            "\n\ndef label(name):\n    \"\"\"Name of an entry in the logs.\"\"\"",
        ));
        regions.push(Region::new(key("label/body"), &labels[0]));
        self.project.tree.put_file(path, regions);
        self.module_fillers(package, module, [&titles, &comments, &versions, &labels]);
        if imports.len() > 1 {
            let forward = imports.join("\n");
            imports.reverse();
            let orders = [forward, imports.join("\n")];
            self.filler(UnrelatedChangeKind::Imports, Some(package), key("imports"), &orders);
        }
    }

    fn test_file(&mut self, package: usize, module: &str, units: &[&FunctionUnit]) {
        let name = self.project.packages[package].name.clone();
        let path = self.project.packages[package].path(&format!("tests/test_{module}.py"));
        let key = |part: &str| format!("{package}/tests/{module}/{part}");
        let mut names: Vec<&str> = units
            .iter()
            .flat_map(|unit| unit.also.iter().chain([&unit.function]))
            .map(String::as_str)
            .collect();
        names.sort_unstable();
        let mut imports = format!("from {name}.{module} import {}", names.join(", "));
        let bodies: Vec<&str> =
            units.iter().flat_map(|unit| &unit.tests).map(|test| test.body.as_str()).collect();
        if bodies.iter().any(|body| body.contains("pytest.")) {
            imports = format!("import pytest\n\n{imports}");
        }
        let mut regions = vec![Region::new(key("imports"), &imports)];
        let class = self.dialect.classes.then(|| class_name(module));
        if let Some(class) = &class {
            regions.push(Region::new(key("class"), &format!("\n\nclass {class}:")));
        }
        let mut first = true;
        for test in units.iter().flat_map(|unit| &unit.tests) {
            let test_name = format!("test_{}", test.name);
            let region = key(&test_name);
            let lines = if class.is_none() {
                regions.push(Region::blank(format!("{region}/gap"), 2));
                lines_of(&format!("def {test_name}():\n{}", test.body))
            } else {
                if !first {
                    regions.push(Region::blank(format!("{region}/gap"), 1));
                }
                let text = format!("def {test_name}(self):\n{}", test.body);
                lines_of(&text).iter().map(|line| format!("    {line}")).collect()
            };
            first = false;
            regions.push(Region { key: region.clone(), lines });
            let check = Check {
                kind: CheckKind::Test,
                package,
                file: path.clone(),
                region,
                group: class.clone(),
                name: test_name,
            };
            self.test(package, test, check);
        }
        self.project.tree.put_file(path.clone(), regions);
        self.check(whole_check(CheckKind::Import, package, &path, module));
    }

    /// Replaces `$module` in messages by the module, which pytest prints before the names of its errors.
    fn name_errors(&mut self, package: usize, name: &str) {
        for bug in self.project.bugs.iter_mut().filter(|bug| bug.package == package) {
            let module = bug.unit.split('/').nth(1).unwrap_or_default().to_owned();
            let forms = bug.forms.iter_mut().chain(&mut bug.attempts).chain(&mut bug.halfway);
            for (_, failure) in forms.flat_map(|form| &mut form.failures) {
                for line in &mut failure.message {
                    *line = line.replace("$module", &format!("{name}.{module}"));
                }
            }
        }
    }

    /// Adds the bug of a function with another name than its tests import.
    fn renamed(&mut self, package: usize, unit: &FunctionUnit) {
        let prefix = Self::prefix(package, unit);
        let Package { name, .. } = self.project.packages[package].clone();
        let module = &unit.module;
        let function = &unit.function;
        let check = self.project.find_check(package, CheckKind::Import, module);
        let Some(check) = check else { return };
        let file = self.project.packages[package].path(&format!("src/{name}/{module}.py"));
        let failure = CheckFailure {
            error: "ImportError".to_owned(),
            message: vec![format!(
                "ImportError: cannot import name '{function}' from '{name}.{module}' ($root/{file})"
            )],
            mark: format!("from {name}.{module} import"),
            ..CheckFailure::default()
        };
        let head = |name: &str| {
            let text = unit.head.replacen(&format!("def {function}("), &format!("def {name}("), 1);
            vec![(format!("{prefix}/head"), lines_of(&text))]
        };
        let form =
            |name: &str| BugForm { regions: head(name), failures: vec![(check, failure.clone())] };
        self.project.bugs.push(Bug {
            key: format!("{function}: it has another name"),
            kind: BugKind::Import,
            package,
            unit: prefix.clone(),
            good: BugForm { regions: head(function), failures: Vec::new() },
            forms: vec![form(&format!("compute_{function}")), form(&format!("_{function}"))],
            attempts: vec![form(&format!("{function}_of"))],
            halfway: Vec::new(),
        });
    }

    /// Adds the bug of an unused import.
    fn unused_import(&mut self, package: usize, unit: &FunctionUnit, unused: &str) {
        let Package { name, .. } = self.project.packages[package].clone();
        let module = &unit.module;
        let file = self.project.packages[package].path(&format!("src/{name}/{module}.py"));
        let region = format!("{package}/{module}/lint");
        let check =
            self.check(whole_check(CheckKind::Lint(CheckTool::Ruff), package, &file, "F401"));
        let lines = lines_of(&format!("\nimport {unused}"));
        let failure = CheckFailure {
            line: lines.len() - 1,
            mark: unused.to_owned(),
            error: "F401".to_owned(),
            message: vec![format!("`{unused}` imported but unused")],
            region: region.clone(),
            ..CheckFailure::default()
        };
        self.project.bugs.push(Bug {
            key: format!("{module}: {unused} is not used"),
            kind: BugKind::Lint,
            package,
            unit: String::new(),
            good: BugForm { regions: vec![(region.clone(), Vec::new())], failures: Vec::new() },
            forms: vec![BugForm {
                regions: vec![(region, lines)],
                failures: vec![(check, failure)],
            }],
            attempts: Vec::new(),
            halfway: Vec::new(),
        });
    }

    /// Adds a function and a test that only pass in a certain environment.
    fn need(&mut self, kind: NeedKind) {
        let first = self.project.packages[0].clone();
        let name = &first.name;
        let path = |inside: &str| first.path(inside);
        let (source, tests) =
            (path(&format!("src/{name}/clocks.py")), path("tests/test_clocks.py"));
        let (code, test, call) = match kind {
            NeedKind::Variable => (
                "\"\"\"Times as people read them.\"\"\"\n\nfrom datetime import datetime\n\n\ndef local_day(stamp):\n    \"\"\"Day of a time stamp on this machine.\"\"\"\n    return datetime.fromtimestamp(stamp).strftime(\"%Y-%m-%d\")".to_owned(),
                "def test_local_day_is_the_day_in_utc():\n    assert local_day(1700010000) == \"2023-11-15\"".to_owned(),
                "local_day",
            ),
            NeedKind::Flag => (
                "\"\"\"Settings of a run.\"\"\"\n\n\ndef is_offline(config):\n    \"\"\"Whether the network must not be used.\"\"\"\n    return bool(config.getoption(\"--offline\"))".to_owned(),
                "def test_offline_mode_is_on(pytestconfig):\n    assert is_offline(pytestconfig)".to_owned(),
                "is_offline",
            ),
            NeedKind::Wrapper => (
                "\"\"\"Times of other zones.\"\"\"\n\nfrom dateutil import tz\n\n\ndef zone_name(name):\n    \"\"\"Name of a zone, if there is one.\"\"\"\n    return str(tz.gettz(name))".to_owned(),
                "def test_zone_name_of_nowhere():\n    assert zone_name(\"Nowhere/City\") == \"None\"".to_owned(),
                "zone_name",
            ),
        };
        self.project.tree.put_file(source.clone(), vec![Region::new("need/code", &code)]);
        let imports = format!("from {name}.clocks import {call}\n\n");
        self.project.tree.put_file(
            tests.clone(),
            vec![Region::new("need/imports", &imports), Region::new("need/test", &test)],
        );
        let test_name = test.split(['(', ' ']).nth(1).unwrap_or_default().to_owned();
        let check = self.check(Check {
            kind: CheckKind::Test,
            package: 0,
            file: tests.clone(),
            region: "need/test".to_owned(),
            group: None,
            name: test_name,
        });
        let import = self.check(whole_check(CheckKind::Import, 0, &tests, "clocks"));
        let failure = |message: &[&str]| CheckFailure {
            line: 1,
            error: "AssertionError".to_owned(),
            message: message.iter().map(|line| (*line).to_owned()).collect(),
            ..CheckFailure::default()
        };
        let (remedy, check, failure) = match kind {
            NeedKind::Variable => (
                Remedy::Variable("TZ".to_owned(), "UTC".to_owned()),
                check,
                failure(&[
                    "AssertionError: assert '2023-11-14' == '2023-11-15'",
                    "  ",
                    "  - 2023-11-15",
                    "  ?          ^",
                    "  + 2023-11-14",
                    "  ?          ^",
                ]),
            ),
            NeedKind::Flag => {
                let conftest = path("conftest.py");
                self.project.tree.put_file(conftest, vec![Region::new(
                    "need/conftest",
                    "def pytest_addoption(parser):\n    parser.addoption(\"--offline\", action=\"store_true\")",
                )]);
                let lines = [
                    "assert False",
                    " +  where False = is_offline(<_pytest.config.Config object at $address>)",
                ];
                (Remedy::Flag("--offline".to_owned()), check, failure(&lines))
            }
            NeedKind::Wrapper => {
                let missing = CheckFailure {
                    error: "ModuleNotFoundError".to_owned(),
                    message: vec!["ModuleNotFoundError: No module named 'dateutil'".to_owned()],
                    mark: format!("from {name}.clocks import"),
                    region: source,
                    notes: vec!["from dateutil import tz".to_owned()],
                    ..CheckFailure::default()
                };
                (Remedy::Wrapper("uv run".to_owned()), import, missing)
            }
        };
        self.project.need = Some(EnvironmentNeed { remedy, failures: vec![(check, failure)] });
    }

    /// Adds a function with a test that depends on the load of the machine.
    fn flaky(&mut self, dice: &mut SeededRandom) {
        let first = self.project.packages[0].clone();
        let name = &first.name;
        let path = |inside: &str| first.path(inside);
        let (source, tests) =
            (path(&format!("src/{name}/queues.py")), path("tests/test_queues.py"));
        self.project.tree.put_file(source, vec![Region::new(
            "flaky/code",
            "\"\"\"Work that waits.\"\"\"\n\nimport time\n\n\ndef drain(count):\n    \"\"\"Seconds that it takes to drain a queue.\"\"\"\n    start = time.perf_counter()\n    for _ in range(count):\n        pass\n    return time.perf_counter() - start",
        )]);
        self.project.tree.put_file(
            tests.clone(),
            vec![
                Region::new("flaky/imports", &format!("from {name}.queues import drain\n\n")),
                Region::new(
                    "flaky/test",
                    "def test_drain_is_quick():\n    assert drain(1000) < 0.005",
                ),
            ],
        );
        let check = self.check(Check {
            kind: CheckKind::Test,
            package: 0,
            file: tests.clone(),
            region: "flaky/test".to_owned(),
            group: None,
            name: "test_drain_is_quick".to_owned(),
        });
        self.check(whole_check(CheckKind::Import, 0, &tests, "queues"));
        let took = format!("0.0{}", 11_000 + dice.below(80_000));
        self.project.flaky.push((
            check,
            CheckFailure {
                line: 1,
                error: "AssertionError".to_owned(),
                message: vec![
                    format!("assert {took} < 0.005"),
                    format!(" +  where {took} = drain(1000)"),
                ],
                ..CheckFailure::default()
            },
        ));
    }
}

/// Returns the name of the class that has the tests of a module.
fn class_name(module: &str) -> String {
    let mut letters = module.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    format!("Test{}{}", first.unwrap_or_default(), letters.as_str())
}
