//! Go: one folder for each module, tests next to the code.

use rutter_testkit::dice::SeededRandom;

use super::{
    Dialect, NeedKind, PROJECT_NAMES, ProjectAssembly, ProjectExtras, ProjectLayout, choose_units,
    units_of, whole_check,
};
use crate::project::{
    Bug, BugForm, BugKind, Check, CheckFailure, CheckKind, CheckTool, EnvironmentNeed, Frame,
    Language, Remedy, VirtualProject,
};
use crate::source::{Region, lines_of};
use crate::unit::{FunctionUnit, UnitFailure, UnitTest};

mod units;

struct Go;

impl Dialect for Go {
    fn doc(&self, text: &str) -> Vec<String> {
        vec![format!("// {text}")]
    }

    fn failure(&self, test: &UnitTest, fail: &UnitFailure) -> CheckFailure {
        let failure = CheckFailure { line: test.line, ..CheckFailure::default() };
        match fail {
            UnitFailure::Equal { got, want, .. } => {
                let function = test.call.split('(').next().unwrap_or_default();
                CheckFailure {
                    message: vec![format!("{function} = {got}, want {want}")],
                    ..failure
                }
            }
            UnitFailure::Message(message) => CheckFailure { message: message.clone(), ..failure },
            UnitFailure::Raised { line, mark, error, message, .. } if error == "undefined" => {
                CheckFailure {
                    line: *line,
                    mark: mark.clone(),
                    message: vec![message.clone()],
                    ..CheckFailure::default()
                }
            }
            UnitFailure::Raised { line, mark, message, .. } => CheckFailure {
                // The call is in the line before the one that reports.
                line: test.line.saturating_sub(1),
                frames: vec![Frame {
                    unit: String::new(),
                    line: *line,
                    mark: mark.clone(),
                    function: String::new(),
                    arguments: Vec::new(),
                }],
                error: "panic".to_owned(),
                message: vec![message.clone()],
                ..CheckFailure::default()
            },
        }
    }
}

/// Builds a Go project.
pub(super) fn project(
    layout: ProjectLayout,
    extras: ProjectExtras,
    dice: &mut SeededRandom,
) -> VirtualProject {
    let name = *dice.pick(&PROJECT_NAMES);
    let mut assembly = ProjectAssembly::new(Go, Language::Go, name);
    assembly.choose_packages(layout, ["backend", "server"], "services", dice);
    let first = &assembly.project.packages[0];
    let go_mod =
        if layout == ProjectLayout::Nested { first.path("go.mod") } else { "go.mod".to_owned() };
    let text = format!("module example.com/{name}\n\ngo 1.19");
    assembly.project.tree.put_file(go_mod, vec![Region::new("go.mod", &text)]);
    let units = choose_units(assembly.project.packages.len(), dice, units::units);
    // The same choice for both packages: the tests have the same names.
    let tables = dice.next_u64();
    for (package, units) in units.iter().enumerate() {
        assembly.package(package, units, tables, dice);
    }
    if let Some(need) = extras.need {
        assembly.need(need);
    }
    if extras.flaky {
        assembly.flaky();
    }
    assembly.documents("Go");
    assembly.project
}

impl ProjectAssembly<Go> {
    /// Returns the import path of a package's folder.
    fn import_path(&self, package: usize) -> String {
        let name = &self.project.name;
        match &self.project.packages[..] {
            [_] => format!("example.com/{name}"),
            packages => format!("example.com/{name}/{}", packages[package].folder),
        }
    }

    fn package(
        &mut self,
        package: usize,
        units: &[FunctionUnit],
        tables: u64,
        dice: &mut SeededRandom,
    ) {
        let mut modules: Vec<&str> = units.iter().map(|unit| unit.module.as_str()).collect();
        modules.dedup();
        for module in &modules {
            let of = units_of(units, module);
            let table = (tables >> (module.len() % 60)) & 1 == 1;
            self.module(package, module, &of);
            self.test_file(package, module, &of, table);
        }
        for unit in units {
            self.bugs(package, unit);
        }
        let linted = *dice.pick(&modules);
        self.unchecked_error(package, linted);
    }

    fn module(&mut self, package: usize, module: &str, units: &[&FunctionUnit]) {
        let own = self.project.packages[package].clone();
        let key = |part: &str| format!("{package}/{module}/{part}");
        let path = own.path(&format!("{module}/{module}.go"));
        let titles = [
            format!("// Package {module} has everything about {module}.\npackage {module}"),
            format!(
                "// Package {module} has the rules; see the tests for examples.\npackage {module}"
            ),
        ];
        let mut regions = vec![Region::new(key("title"), &titles[0])];
        let imports: Vec<String> = units
            .iter()
            .flat_map(|unit| &unit.imports)
            .map(|path| path.replace("$module", &self.import_path(package)))
            .map(|path| if path.contains('"') { path } else { format!("\"{path}\"") })
            .collect();
        match &imports[..] {
            [] => {}
            [one] => regions.push(Region::new(key("imports"), &format!("\nimport {one}"))),
            several => {
                let lines: Vec<String> = several.iter().map(|path| format!("\t{path}")).collect();
                let text = format!("\nimport (\n{}\n)", lines.join("\n"));
                regions.push(Region::new(key("imports"), &text));
            }
        }
        let comments =
            ["\n// Amounts are whole numbers.", "\n// Amounts are whole numbers, never floats."]
                .map(|text| format!("{text}\n"));
        regions.push(Region::new(key("comment"), &comments[0]));
        let versions = [3, 4, 5].map(|number| {
            format!("// RulesVersion counts changes of the rules.\nconst RulesVersion = {number}")
        });
        regions.push(Region::new(key("version"), &versions[0]));
        for unit in units {
            let prefix = Self::prefix(package, unit);
            if !unit.prelude.is_empty() {
                regions.push(Region::new(
                    format!("{package}/{module}/prelude"),
                    &format!("\n{}", unit.prelude),
                ));
            }
            regions.push(Region::blank(format!("{prefix}/gap"), 1));
            regions.extend(self.function(package, unit));
            self.put_setting(package, module, unit);
        }
        let labels = [
            format!("\treturn \"{module}:\" + name"),
            format!("\treturn \"{module}/\" + name"),
            format!("\treturn name + \" ({module})\""),
        ];
        regions.push(Region::new(
            key("label/head"),
            "\n// Label is the name of an entry in the logs.\nfunc Label(name string) string {",
        ));
        regions.push(Region::new(key("label/body"), &labels[0]));
        regions.push(Region::new(key("label/tail"), "}"));
        self.project.tree.put_file(path.clone(), regions);
        self.check(whole_check(CheckKind::Build, package, &path, module));
        self.module_fillers(package, module, [&titles, &comments, &versions, &labels]);
    }

    fn test_file(&mut self, package: usize, module: &str, units: &[&FunctionUnit], table: bool) {
        let own = self.project.packages[package].clone();
        let key = |part: &str| format!("{package}/tests/{module}/{part}");
        let path = own.path(&format!("{module}/{module}_test.go"));
        let title = format!("package {module}\n\nimport \"testing\"");
        let mut regions = vec![Region::new(key("title"), &title)];
        let parent = format!("Test{}", units[0].function);
        if table {
            let text = format!("\nfunc {parent}(t *testing.T) {{");
            regions.push(Region::new(key("head"), &text));
        }
        for (unit, test) in
            units.iter().flat_map(|unit| unit.tests.iter().map(move |test| (unit, test)))
        {
            let (name, group, head, indent, tail) = if table {
                let short = snake(test.name.strip_prefix(&unit.function).unwrap_or(&test.name));
                let head = format!("\tt.Run(\"{short}\", func(t *testing.T) {{");
                (short, Some(parent.clone()), head, "\t\t", "\t})")
            } else {
                let name = format!("Test{}", test.name);
                let head = format!("func {name}(t *testing.T) {{");
                (name, None, head, "\t", "}")
            };
            let region = key(&test.name);
            let body: Vec<String> =
                test.body.lines().map(|line| format!("{indent}{line}")).collect();
            if !table {
                regions.push(Region::blank(format!("{region}/gap"), 1));
            }
            let text = format!("{head}\n{}\n{tail}", body.join("\n"));
            regions.push(Region { key: region.clone(), lines: lines_of(&text) });
            let check =
                Check { kind: CheckKind::Test, package, file: path.clone(), region, group, name };
            self.test(package, test, check);
        }
        if table {
            regions.push(Region::new(key("tail"), "}"));
        }
        self.project.tree.put_file(path, regions);
    }

    /// Adds the bug of an unchecked error, which only a linter finds.
    fn unchecked_error(&mut self, package: usize, module: &str) {
        let own = self.project.packages[package].clone();
        let path = own.path(&format!("{module}/journal.go"));
        let region = format!("{package}/{module}/journal/body");
        self.project.tree.put_file(path.clone(), vec![
            Region::new(
                format!("{package}/{module}/journal/head"),
                &format!("package {module}\n\nimport \"os\"\n\n// Note adds a line to a file.\nfunc Note(file *os.File, line string) error {{"),
            ),
            Region::new(region.clone(), "\t_, err := file.WriteString(line)\n\treturn err"),
            Region::new(format!("{package}/{module}/journal/tail"), "}"),
        ]);
        let check = self.check(whole_check(
            CheckKind::Lint(CheckTool::GolangciLint),
            package,
            &path,
            "errcheck",
        ));
        let form = |text: &str, fails: bool| {
            let failure = CheckFailure {
                line: 0,
                mark: "(line)".to_owned(),
                error: "errcheck".to_owned(),
                message: vec!["Error return value of `file.WriteString` is not checked".to_owned()],
                region: region.clone(),
                ..CheckFailure::default()
            };
            let failures = if fails { vec![(check, failure)] } else { Vec::new() };
            BugForm { regions: vec![(region.clone(), lines_of(text))], failures }
        };
        self.project.bugs.push(Bug {
            key: format!("{module}: an error is not looked at"),
            kind: BugKind::Lint,
            package,
            unit: String::new(),
            good: form("\t_, err := file.WriteString(line)\n\treturn err", false),
            forms: vec![form("\tfile.WriteString(line)\n\treturn nil", true)],
            attempts: Vec::new(),
            halfway: Vec::new(),
        });
    }

    /// Adds a module with one test.
    fn extra_module(&mut self, module: &str, code: &str, name: &str, body: &str) -> usize {
        let own = self.project.packages[0].clone();
        let key = |part: &str| format!("extra/{module}/{part}");
        let source = own.path(&format!("{module}/{module}.go"));
        let tests = own.path(&format!("{module}/{module}_test.go"));
        self.project.tree.put_file(source.clone(), vec![Region::new(key("code"), code)]);
        self.project.tree.put_file(
            tests.clone(),
            vec![
                Region::new(key("title"), &format!("package {module}\n\nimport \"testing\"\n")),
                Region::new(key("test"), &format!("func {name}(t *testing.T) {{\n{body}\n}}")),
            ],
        );
        self.check(whole_check(CheckKind::Build, 0, &source, module));
        self.check(Check {
            kind: CheckKind::Test,
            package: 0,
            file: tests,
            region: key("test"),
            group: None,
            name: name.to_owned(),
        })
    }

    /// Adds a function and a test that only pass in a certain environment.
    fn need(&mut self, kind: NeedKind) {
        let failure = |text: &str| CheckFailure {
            line: 2,
            message: vec![text.to_owned()],
            ..CheckFailure::default()
        };
        let (remedy, check, failure) = match kind {
            NeedKind::Variable => {
                let check = self.extra_module(
                    "clocks",
                    "// Package clocks has times as people read them.\npackage clocks\n\nimport \"time\"\n\n// LocalDay is the day of a time stamp on this machine.\nfunc LocalDay(stamp int64) string {\n\treturn time.Unix(stamp, 0).Format(\"2006-01-02\")\n}",
                    "TestLocalDayIsTheDayInUTC",
                    "\tif got := LocalDay(1700010000); got != \"2023-11-15\" {\n\t\tt.Errorf(\"LocalDay = %q, want %q\", got, \"2023-11-15\")\n\t}",
                );
                let remedy = Remedy::Variable("TZ".to_owned(), "UTC".to_owned());
                (remedy, check, failure("LocalDay = \"2023-11-14\", want \"2023-11-15\""))
            }
            NeedKind::Flag => {
                let check = self.extra_module(
                    "network",
                    "// Package network says whether the network may be used.\npackage network\n\nimport \"flag\"\n\nvar offline = flag.Bool(\"offline\", false, \"do not use the network\")\n\n// IsOffline reports whether the network must not be used.\nfunc IsOffline() bool {\n\treturn *offline\n}",
                    "TestOfflineModeIsOn",
                    "\tif got := IsOffline(); !got {\n\t\tt.Errorf(\"IsOffline = %t, want true\", got)\n\t}",
                );
                let remedy = Remedy::Flag("-offline".to_owned());
                (remedy, check, failure("IsOffline = false, want true"))
            }
            NeedKind::Wrapper => {
                let check = self.extra_module(
                    "settings",
                    "// Package settings has the settings of the process.\npackage settings\n\nimport \"os\"\n\n// Database is the address of the database.\nfunc Database() string {\n\treturn os.Getenv(\"DATABASE_URL\")\n}",
                    "TestDatabaseIsSet",
                    "\tif got := Database(); got == \"\" {\n\t\tt.Errorf(\"Database = %q, want an address\", got)\n\t}",
                );
                let remedy = Remedy::Wrapper("direnv exec .".to_owned());
                (remedy, check, failure("Database = \"\", want an address"))
            }
        };
        self.project.need = Some(EnvironmentNeed { remedy, failures: vec![(check, failure)] });
    }

    /// Adds a function with a test that depends on the load of the machine.
    fn flaky(&mut self) {
        let check = self.extra_module(
            "timing",
            "// Package timing measures work.\npackage timing\n\nimport \"time\"\n\n// RoundTrip is the time that a round of work takes.\nfunc RoundTrip() time.Duration {\n\tstart := time.Now()\n\treturn time.Since(start)\n}",
            "TestRoundTripIsQuick",
            "\tif got := RoundTrip(); got > 5*time.Millisecond {\n\t\tt.Errorf(\"RoundTrip = %s, want at most 5ms\", got)\n\t}",
        );
        let failure = CheckFailure {
            line: 2,
            message: vec!["RoundTrip = 17.204911ms, want at most 5ms".to_owned()],
            ..CheckFailure::default()
        };
        let title = "package timing\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n";
        self.project.tree.set_region("extra/timing/title", &lines_of(title));
        self.project.flaky.push((check, failure));
    }
}

/// Returns a name in lower case with underscores.
fn snake(name: &str) -> String {
    let mut text = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
