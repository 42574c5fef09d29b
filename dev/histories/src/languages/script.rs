//! TypeScript with vitest, and JavaScript with jest: modules below `src`, tests next to them or below `tests`.

use rutter_testkit::dice::SeededRandom;

use super::{
    Dialect, NeedKind, PROJECT_NAMES, ProjectAssembly, ProjectExtras, ProjectLayout, choose_units,
    units_of, whole_check,
};
use crate::project::{
    Bug, BugForm, BugKind, Check, CheckFailure, CheckKind, CheckTool, EnvironmentNeed, Frame,
    Language, Remedy, UnrelatedChangeKind, VirtualProject,
};
use crate::source::{Region, lines_of};
use crate::unit::{FunctionUnit, UnitDice, UnitFailure, UnitForm, UnitTest};

mod units;

struct ScriptDialect {
    language: Language,
    /// True if tests are in a `describe` block.
    describes: bool,
    /// True if tests are below `tests` instead of next to the code.
    apart: bool,
}

impl Dialect for ScriptDialect {
    fn doc(&self, text: &str) -> Vec<String> {
        vec![format!("/** {text} */")]
    }

    fn failure(&self, test: &UnitTest, fail: &UnitFailure) -> CheckFailure {
        let failure = CheckFailure { line: test.line, ..CheckFailure::default() };
        match fail {
            UnitFailure::Equal { got, want, .. } => CheckFailure {
                mark: "toBe(".to_owned(),
                values: Some((got.clone(), want.clone())),
                message: vec![format!("expected {got} to be {want}")],
                ..failure
            },
            UnitFailure::Message(message) => {
                CheckFailure { mark: "toBe(".to_owned(), message: message.clone(), ..failure }
            }
            UnitFailure::Raised { line, mark, error, message, .. } => CheckFailure {
                mark: test.call.split('(').next().unwrap_or_default().to_owned(),
                frames: vec![Frame {
                    unit: String::new(),
                    line: *line,
                    mark: mark.clone(),
                    function: String::new(),
                    arguments: Vec::new(),
                }],
                error: error.clone(),
                message: vec![message.clone()],
                ..failure
            },
        }
    }
}

/// Builds a TypeScript or JavaScript project.
pub(super) fn project(
    language: Language,
    layout: ProjectLayout,
    extras: ProjectExtras,
    dice: &mut SeededRandom,
) -> VirtualProject {
    let name = *dice.pick(&PROJECT_NAMES);
    let script =
        ScriptDialect { language, describes: dice.below(3) > 0, apart: dice.below(2) == 0 };
    let is_typed = language == Language::TypeScript;
    let mut assembly = ProjectAssembly::new(script, language, name);
    assembly.choose_packages(layout, ["frontend", "client"], "packages", dice);
    let drawn = |pick: &mut UnitDice| {
        units::units(pick).into_iter().map(|unit| typed(unit, is_typed)).collect()
    };
    let units = choose_units(assembly.project.packages.len(), dice, drawn);
    for (package, units) in units.iter().enumerate() {
        assembly.package(package, units, dice);
    }
    if layout != ProjectLayout::Single {
        let text = format!(
            "{{\n  \"name\": \"{name}-root\",\n  \"version\": \"1.0.0\",\n  \"private\": true,\n{}  \"workspaces\": [\"packages/*\"]\n}}",
            assembly.scripts()
        );
        assembly.project.tree.put_file("package.json", vec![Region::new("package.json", &text)]);
        assembly.tool_settings("");
    }
    if let Some(need) = extras.need {
        assembly.need(need);
    }
    if extras.flaky {
        assembly.flaky();
    }
    assembly.documents(if is_typed { "TypeScript" } else { "JavaScript" });
    assembly.project
}

/// Keeps or drops the parts of a unit that are only for TypeScript.
fn typed(mut unit: FunctionUnit, is_typed: bool) -> FunctionUnit {
    let text = |text: &str| {
        let mut kept = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('«') {
            let (inside, after) = after.split_once('»').unwrap_or((after, ""));
            kept.push_str(before);
            if is_typed {
                kept.push_str(inside);
            }
            rest = after;
        }
        kept + rest
    };
    let form = |form: &mut UnitForm| {
        form.head = form.head.as_deref().map(text);
        form.body = form.body.as_deref().map(text);
    };
    unit.head = text(&unit.head);
    unit.body = text(&unit.body);
    for bug in &mut unit.bugs {
        bug.forms.iter_mut().chain(&mut bug.attempts).chain(&mut bug.halfway).for_each(form);
    }
    unit
}

impl ProjectAssembly<ScriptDialect> {
    fn is_typed(&self) -> bool {
        self.dialect.language == Language::TypeScript
    }

    fn ending(&self) -> &'static str {
        if self.is_typed() { "ts" } else { "js" }
    }

    fn scripts(&self) -> String {
        if self.is_typed() {
            "  \"type\": \"module\",\n  \"scripts\": {\n    \"test\": \"vitest run\",\n    \"typecheck\": \"tsc --noEmit\"\n  },\n".to_owned()
        } else {
            "  \"scripts\": {\n    \"test\": \"jest\",\n    \"lint\": \"eslint src\"\n  },\n"
                .to_owned()
        }
    }

    /// Adds the configuration of type checker or linter.
    fn tool_settings(&mut self, folder: &str) {
        let path = |file: &str| {
            if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
        };
        let key = |part: &str| format!("{folder}/settings/{part}");
        if self.is_typed() {
            self.project.tree.put_file(path("tsconfig.json"), vec![Region::new(
                key("tsconfig"),
                "{\n  \"compilerOptions\": {\n    \"target\": \"ES2022\",\n    \"module\": \"ESNext\",\n    \"moduleResolution\": \"bundler\",\n    \"resolveJsonModule\": true,\n    \"skipLibCheck\": true,\n    \"types\": [],\n    \"strict\": true,\n    \"noEmit\": true\n  }\n}",
            )]);
        } else {
            self.project.tree.put_file(path("eslint.config.js"), vec![Region::new(
                key("eslint"),
                "module.exports = [\n  {\n    files: [\"**/*.js\"],\n    languageOptions: { sourceType: \"commonjs\" },\n    rules: { \"no-unused-vars\": \"error\" },\n  },\n];",
            )]);
        }
    }

    fn package(&mut self, package: usize, units: &[FunctionUnit], dice: &mut SeededRandom) {
        let own = self.project.packages[package].clone();
        let versions =
            ["1.4.0", "1.4.1", "1.5.0"].map(|number| format!("  \"version\": \"{number}\","));
        let scripts = self.scripts();
        self.project.tree.put_file(
            own.path("package.json"),
            vec![
                Region::new(
                    format!("{package}/json/name"),
                    &format!("{{\n  \"name\": \"{}\",", own.name),
                ),
                Region::new(format!("{package}/json/version"), &versions[0]),
                Region::new(
                    format!("{package}/json/rest"),
                    &format!("{scripts}  \"license\": \"MIT\"\n}}"),
                ),
            ],
        );
        self.filler(
            UnrelatedChangeKind::Version,
            Some(package),
            format!("{package}/json/version"),
            &versions,
        );
        self.tool_settings(&own.folder);
        let mut modules: Vec<&str> = units.iter().map(|unit| unit.module.as_str()).collect();
        modules.dedup();
        for module in &modules {
            let of = units_of(units, module);
            self.module(package, module, &of);
            self.test_file(package, module, &of);
        }
        for unit in units {
            self.bugs(package, unit);
        }
        self.type_errors(package);
        let linted = *dice.pick(&modules);
        self.lint_bug(package, linted);
    }

    fn import_line(&self, names: &str, from: &str) -> String {
        let is_json = from.rsplit('.').next() == Some("json");
        match (self.is_typed(), is_json) {
            (true, true) => format!("import {names} from \"{from}\";"),
            (true, false) => format!("import {{ {names} }} from \"{from}\";"),
            (false, true) => format!("const {names} = require(\"{from}\");"),
            (false, false) => format!("const {{ {names} }} = require(\"{from}\");"),
        }
    }

    fn module(&mut self, package: usize, module: &str, units: &[&FunctionUnit]) {
        let own = self.project.packages[package].clone();
        let key = |part: &str| format!("{package}/{module}/{part}");
        let path = own.path(&format!("src/{module}.{}", self.ending()));
        let titles = [
            format!("// Everything about {module}."),
            format!("// Rules for {module}; see the tests for examples."),
        ];
        let mut regions = vec![Region::new(key("title"), &titles[0])];
        let imports: Vec<String> = units
            .iter()
            .flat_map(|unit| &unit.imports)
            .filter_map(|import| import.split_once(' '))
            .map(|(names, from)| self.import_line(names, from))
            .collect();
        if !imports.is_empty() {
            regions.push(Region::new(key("imports"), &imports.join("\n")));
        }
        regions.push(Region::new(key("lint"), ""));
        let comments =
            ["\n// Amounts are whole numbers.", "\n// Amounts are whole numbers, never floats."]
                .map(str::to_owned);
        regions.push(Region::new(key("comment"), &comments[0]));
        let export = if self.is_typed() { "export " } else { "" };
        let versions = [3, 4, 5].map(|number| format!("{export}const RULES_VERSION = {number};"));
        regions.push(Region::new(key("version"), &versions[0]));
        for unit in units {
            let prefix = Self::prefix(package, unit);
            regions.push(Region::blank(format!("{prefix}/gap"), 1));
            regions.extend(self.function(package, unit));
            self.put_setting(package, "src", unit);
        }
        let labels = [
            format!("  return `{module}:${{name}}`;"),
            format!("  return \"{module}/\" + name;"),
            format!("  return [\"{module}\", name].join(\" \");"),
        ];
        let types = if self.is_typed() { (": string", ": string") } else { ("", "") };
        regions.push(Region::new(
            key("label/head"),
            &format!(
                "\n/** Name of an entry in the logs. */\n{export}function label(name{}){} {{",
                types.0, types.1
            ),
        ));
        regions.push(Region::new(key("label/body"), &labels[0]));
        regions.push(Region::new(key("label/tail"), "}"));
        if !self.is_typed() {
            let mut names: Vec<&str> = units.iter().map(|unit| unit.function.as_str()).collect();
            names.extend(["RULES_VERSION", "label"]);
            names.sort_unstable();
            let text = format!("\nmodule.exports = {{ {} }};", names.join(", "));
            regions.push(Region::new(key("exports"), &text));
        }
        self.project.tree.put_file(path, regions);
        self.module_fillers(package, module, [&titles, &comments, &versions, &labels]);
    }

    fn test_path(&self, package: usize, module: &str) -> (String, String) {
        let own = &self.project.packages[package];
        let ending = self.ending();
        if self.dialect.apart {
            (own.path(&format!("tests/{module}.test.{ending}")), format!("../src/{module}"))
        } else {
            (own.path(&format!("src/{module}.test.{ending}")), format!("./{module}"))
        }
    }

    fn test_file(&mut self, package: usize, module: &str, units: &[&FunctionUnit]) {
        let key = |part: &str| format!("{package}/tests/{module}/{part}");
        let (path, from) = self.test_path(package, module);
        let mut names: Vec<&str> = units.iter().map(|unit| unit.function.as_str()).collect();
        names.sort_unstable();
        let import = self.import_line(&names.join(", "), &from);
        let group = self.dialect.describes.then(|| module.to_owned());
        let imports = match (self.is_typed(), group.is_some()) {
            (true, true) => format!("import {{ describe, expect, it }} from \"vitest\";\n{import}"),
            (true, false) => format!("import {{ expect, it }} from \"vitest\";\n{import}"),
            (false, _) => import,
        };
        let mut regions = vec![Region::new(key("imports"), &imports)];
        if let Some(group) = &group {
            let text = format!("\ndescribe(\"{group}\", () => {{");
            regions.push(Region::new(key("describe"), &text));
        }
        let indent = if group.is_some() { "  " } else { "" };
        for (place, test) in units.iter().flat_map(|unit| &unit.tests).enumerate() {
            let region = key(&test.name);
            if place > 0 || group.is_none() {
                regions.push(Region::blank(format!("{region}/gap"), 1));
            }
            let body: Vec<String> =
                test.body.lines().map(|line| format!("{indent}  {line}")).collect();
            let text = format!(
                "{indent}it(\"{}\", () => {{\n{}\n{indent}}});",
                test.name,
                body.join("\n")
            );
            regions.push(Region { key: region.clone(), lines: lines_of(&text) });
            let check = Check {
                kind: CheckKind::Test,
                package,
                file: path.clone(),
                region,
                group: group.clone(),
                name: test.name.clone(),
            };
            self.test(package, test, check);
        }
        if group.is_some() {
            regions.push(Region::new(key("end"), "});"));
        }
        self.project.tree.put_file(path, regions);
    }

    /// Lets the type checker find misspelt names, which also fail when they are executed.
    fn type_errors(&mut self, package: usize) {
        if !self.is_typed() {
            return;
        }
        let files: Vec<(usize, String)> = self
            .project
            .bugs
            .iter()
            .enumerate()
            .filter(|(_, bug)| bug.package == package && bug.key.ends_with("a name is misspelt"))
            .map(|(at, bug)| (at, bug.unit.clone()))
            .collect();
        for (at, unit) in files {
            let region = format!("{unit}/body");
            let file = self
                .project
                .tree
                .region_location(&region)
                .map(|place| place.file)
                .unwrap_or_default();
            let check =
                self.check(whole_check(CheckKind::Lint(CheckTool::Tsc), package, &file, "TS2552"));
            for form in &mut self.project.bugs[at].forms {
                let frame = form.failures[0].1.frames[0].clone();
                let meant = if frame.mark == "titel" { "title" } else { "size" };
                let failure = CheckFailure {
                    line: frame.line,
                    mark: frame.mark.clone(),
                    error: "TS2552".to_owned(),
                    message: vec![format!(
                        "Cannot find name '{}'. Did you mean '{meant}'?",
                        frame.mark
                    )],
                    region: region.clone(),
                    ..CheckFailure::default()
                };
                form.failures.push((check, failure));
            }
        }
    }

    /// Adds a bug that only the type checker or the linter finds.
    fn lint_bug(&mut self, package: usize, module: &str) {
        let region = format!("{package}/{module}/lint");
        let file = self.project.packages[package].path(&format!("src/{module}.{}", self.ending()));
        let (tool, code, good, bad, mark, message) = if self.is_typed() {
            (
                CheckTool::Tsc,
                "TS2322",
                "\nexport const PAGE_SIZE: number = 20;",
                "\nexport const PAGE_SIZE: number = \"20\";",
                "PAGE_SIZE",
                "Type 'string' is not assignable to type 'number'.",
            )
        } else {
            (
                CheckTool::Eslint,
                "no-unused-vars",
                "",
                "\nconst os = require(\"os\");",
                "os",
                "'os' is assigned a value but never used",
            )
        };
        self.project.tree.set_region(&region, &lines_of(good));
        let check = self.check(whole_check(CheckKind::Lint(tool), package, &file, code));
        let failure = CheckFailure {
            line: 1,
            mark: mark.to_owned(),
            error: code.to_owned(),
            message: vec![message.to_owned()],
            region: region.clone(),
            ..CheckFailure::default()
        };
        let form = |text: &str, failures: Vec<(usize, CheckFailure)>| BugForm {
            regions: vec![(region.clone(), lines_of(text))],
            failures,
        };
        self.project.bugs.push(Bug {
            key: format!("{module}: {message}"),
            kind: BugKind::Lint,
            package,
            unit: String::new(),
            good: form(good, Vec::new()),
            forms: vec![form(bad, vec![(check, failure)])],
            attempts: Vec::new(),
            halfway: Vec::new(),
        });
    }

    /// Adds a module with one test.
    fn extra_module(
        &mut self,
        module: &str,
        function: &str,
        code: &str,
        name: &str,
        body: &str,
    ) -> usize {
        let own = self.project.packages[0].clone();
        let key = |part: &str| format!("extra/{module}/{part}");
        let (path, from) = self.test_path(0, module);
        let code = if self.is_typed() {
            format!("export {code}")
        } else {
            format!("{code}\n\nmodule.exports = {{ {function} }};")
        };
        let source = own.path(&format!("src/{module}.{}", self.ending()));
        self.project.tree.put_file(source, vec![Region::new(key("code"), &code)]);
        let import = self.import_line(function, &from);
        let imports = if self.is_typed() {
            format!("import {{ expect, it }} from \"vitest\";\n{import}\n")
        } else {
            format!("{import}\n")
        };
        self.project.tree.put_file(
            path.clone(),
            vec![
                Region::new(key("imports"), &imports),
                Region::new(key("test"), &format!("it(\"{name}\", () => {{\n  {body}\n}});")),
            ],
        );
        self.check(Check {
            kind: CheckKind::Test,
            package: 0,
            file: path,
            region: key("test"),
            group: None,
            name: name.to_owned(),
        })
    }

    /// Adds a function and a test that only pass in a certain environment.
    fn need(&mut self, kind: NeedKind) {
        let types = if self.is_typed() { (": number", ": string") } else { ("", "") };
        let check = self.extra_module(
            "clocks",
            "localDay",
            &format!(
                "function localDay(stamp{}){} {{\n  const day = new Date(stamp * 1000);\n  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].join(\"-\");\n}}",
                types.0, types.1
            ),
            "localDay is the day in UTC",
            "expect(localDay(1700010000)).toBe(\"2023-11-15\");",
        );
        let failure = CheckFailure {
            line: 1,
            mark: "toBe(".to_owned(),
            values: Some(("\"2023-11-14\"".to_owned(), "\"2023-11-15\"".to_owned())),
            message: vec!["expected \"2023-11-14\" to be \"2023-11-15\"".to_owned()],
            ..CheckFailure::default()
        };
        let remedy = match kind {
            NeedKind::Variable | NeedKind::Flag => {
                Remedy::Variable("TZ".to_owned(), "UTC".to_owned())
            }
            NeedKind::Wrapper => Remedy::Wrapper("dotenv -e .env.test --".to_owned()),
        };
        self.project.need = Some(EnvironmentNeed { remedy, failures: vec![(check, failure)] });
    }

    /// Adds a function with a test that depends on the load of the machine.
    fn flaky(&mut self) {
        let types = if self.is_typed() { ": number" } else { "" };
        let check = self.extra_module(
            "timing",
            "roundTrip",
            &format!("function roundTrip(){types} {{\n  const start = Date.now();\n  return Date.now() - start;\n}}"),
            "roundTrip is quick",
            "expect(roundTrip()).toBe(0);",
        );
        let failure = CheckFailure {
            line: 1,
            mark: "toBe(".to_owned(),
            values: Some(("7".to_owned(), "0".to_owned())),
            message: vec!["expected 7 to be 0".to_owned()],
            ..CheckFailure::default()
        };
        self.project.flaky.push((check, failure));
    }
}
