//! The output of pytest 9 on a terminal of 80 columns without colours.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CheckFailure, CheckKind, CheckSelection, FailedCheck, RunConditions, RunReport, RunStyle,
};
use crate::project::Check;

/// Width that pytest assumes without a terminal.
const TERMINAL_COLUMNS: usize = 80;

/// A run while it is printed.
struct PytestRun<'a> {
    conditions: &'a RunConditions<'a>,
    style: RunStyle,
    failures: BTreeMap<usize, CheckFailure>,
    report: RunReport,
    seconds: String,
}

pub(super) fn execute(
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut dice = conditions.dice();
    let seconds = format!("0.0{}", 1 + dice.below(8));
    let failures = conditions.failures();
    let mut run = PytestRun { conditions, style, failures, report: RunReport::default(), seconds };
    let wide = CheckSelection { keyword: None, without: None, ..selection.clone() };
    let collected = conditions.selected(&wide, |_, _, _| true);
    let tests = conditions.selected(selection, is_keyword);
    let files: BTreeSet<&str> =
        collected.iter().map(|test| conditions.project.checks[*test].file.as_str()).collect();
    let broken: Vec<usize> = run
        .failures
        .keys()
        .copied()
        .filter(|check| {
            let check = &conditions.project.checks[*check];
            check.kind == CheckKind::Import && files.contains(check.file.as_str())
        })
        .collect();
    run.header(selection);
    if broken.is_empty() {
        for check in conditions.project.checks.iter().enumerate() {
            if check.1.kind == CheckKind::Import && files.contains(check.1.file.as_str()) {
                run.report.passed.insert(check.0);
            }
        }
        run.tests(&collected, &tests);
    } else {
        run.import_errors(selection, &collected, &tests, &broken);
    }
    run.report
}

/// Returns true if `-k text` selects a test: by its name, its class or its file.
fn is_keyword(check: &Check, name: &str, text: &str) -> bool {
    let text = text.to_lowercase();
    let file = check.file.rsplit('/').next().unwrap_or_default();
    let group = check.group.as_deref().unwrap_or_default();
    [name, group, file].iter().any(|part| part.to_lowercase().contains(&text))
}

/// Returns a title between two rows of a sign, as wide as the terminal.
fn title_rule(sign: &str, title: &str) -> String {
    let side = sign.repeat((TERMINAL_COLUMNS - title.len() - 2) / 2);
    let line = format!("{side} {title} {side}");
    if line.len() < TERMINAL_COLUMNS { line + sign } else { line }
}

impl PytestRun<'_> {
    fn check(&self, test: usize) -> &Check {
        &self.conditions.project.checks[test]
    }

    fn name(&self, test: usize) -> &str {
        self.conditions.state.name(self.conditions.project, test).unwrap_or_default()
    }

    /// Returns the name of a test as pytest prints it.
    fn node(&self, test: usize) -> String {
        let check = self.check(test);
        let file = self.conditions.shown(&check.file);
        match &check.group {
            Some(group) => format!("{file}::{group}::{}", self.name(test)),
            None => format!("{file}::{}", self.name(test)),
        }
    }

    /// Returns the folder that pytest uses as the root: the nearest one with a configuration.
    fn rootdir(&self, selection: &CheckSelection) -> String {
        let packages = &self.conditions.project.packages;
        let asked = selection.package.or_else(|| {
            let file =
                selection.files.first().cloned().or_else(|| {
                    selection.tests.first().map(|test| self.check(*test).file.clone())
                })?;
            packages.iter().position(|package| {
                !package.folder.is_empty() && file.starts_with(&format!("{}/", package.folder))
            })
        });
        let folder = match asked {
            Some(package) => packages[package].folder.clone(),
            None => self.conditions.folder.clone(),
        };
        let root = &self.conditions.root;
        if folder.is_empty() { root.clone() } else { format!("{root}/{folder}") }
    }

    fn header(&mut self, selection: &CheckSelection) {
        if self.style.quiet {
            return;
        }
        let rootdir = self.rootdir(selection);
        let python = format!("{}/.venv/bin/python3", self.conditions.root);
        let version = "platform linux -- Python 3.11.7, pytest-9.2.0, pluggy-1.7.0";
        self.report.out(title_rule("=", "test session starts"));
        if self.style.verbose {
            self.report.out(format!("{version} -- {python}"));
            self.report.out("cachedir: .pytest_cache");
        } else {
            self.report.out(version);
        }
        self.report.out(format!("rootdir: {rootdir}"));
        self.report.out("configfile: pyproject.toml");
        let here = &self.conditions.folder;
        let root = &self.conditions.root;
        let at_root =
            rootdir == if here.is_empty() { root.clone() } else { format!("{root}/{here}") };
        if at_root
            && selection.files.is_empty()
            && selection.tests.is_empty()
            && selection.package.is_none()
        {
            let one = self.conditions.project.packages.len() == 1 || !here.is_empty();
            self.report.out(if one { "testpaths: tests" } else { "testpaths: packages" });
        }
    }

    fn collected(&mut self, text: &str) {
        if self.style.quiet {
            return;
        }
        let start = if self.style.verbose { "collecting ... " } else { "" };
        self.report.out(format!("{start}{text}"));
        self.report.out("");
    }

    fn tests(&mut self, collected: &[usize], tests: &[usize]) {
        let deselected = collected.len() - tests.len();
        let items = |count: usize| format!("{count} item{}", if count == 1 { "" } else { "s" });
        if self.style.collect_only {
            self.list(tests, deselected);
            return;
        }
        let line = match deselected {
            0 => format!("collected {}", items(collected.len())),
            _ => format!(
                "collected {} / {deselected} deselected / {} selected",
                items(collected.len()),
                tests.len()
            ),
        };
        self.collected(&line);
        let mut ran = Vec::new();
        let mut failed = Vec::new();
        let mut skipped = 0;
        for test in tests {
            ran.push(*test);
            if self.conditions.state.skip_reason(*test).is_some() {
                skipped += 1;
            } else if self.failures.contains_key(test) {
                failed.push(*test);
                if self.style.fail_fast {
                    break;
                }
            } else {
                self.report.passed.insert(*test);
            }
        }
        self.progress(&ran, tests.len());
        let passed = ran.len() - failed.len() - skipped;
        if !failed.is_empty() {
            self.report.out(title_rule("=", "FAILURES"));
            for test in &failed {
                self.failure(*test);
            }
            self.report.out(title_rule("=", "short test summary info"));
            for test in &failed {
                self.summary_line("FAILED", &self.node(*test), *test);
            }
        }
        if self.style.fail_fast && !failed.is_empty() {
            self.report.out(title_rule("!", "stopping after 1 failures"));
        }
        let counts = [
            (failed.len(), "failed"),
            (passed, "passed"),
            (skipped, "skipped"),
            (deselected, "deselected"),
        ];
        self.end(&counts);
        self.report.exit = i32::from(!failed.is_empty());
        if ran.is_empty() {
            self.report.exit = 5;
        }
    }

    /// Prints the last line.
    fn end(&mut self, counts: &[(usize, &str)]) {
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let counts = if counts.is_empty() { "no tests ran".to_owned() } else { counts.join(", ") };
        let text = format!("{counts} in {}s", self.seconds);
        self.report.summary.push(text.clone());
        self.report.out(if self.style.quiet { text } else { title_rule("=", &text) });
    }

    fn list(&mut self, tests: &[usize], deselected: usize) {
        for test in tests {
            let node = self.node(*test);
            self.report.out(node);
        }
        let count = tests.len();
        let words = if count == 1 { "test" } else { "tests" };
        let text = match deselected {
            0 => format!("{count} {words} collected in {}s", self.seconds),
            _ => format!(
                "{count}/{} tests collected ({deselected} deselected) in {}s",
                count + deselected,
                self.seconds
            ),
        };
        self.report.out("");
        self.report.out(text);
    }

    fn progress(&mut self, ran: &[usize], all: usize) {
        let percent = |done: usize| format!("[{:3}%]", done * 100 / all.max(1));
        let filled = |line: &str, done: usize| {
            let fill = (TERMINAL_COLUMNS - 1).saturating_sub(line.len());
            format!("{line}{:>fill$}", format!(" {}", percent(done)))
        };
        let sign = |test: usize| {
            if self.conditions.state.skip_reason(test).is_some() {
                's'
            } else if self.failures.contains_key(&test) {
                'F'
            } else {
                '.'
            }
        };
        let mut lines = Vec::new();
        // A run that ends at its first failure does not finish the line.
        let stops =
            self.style.fail_fast && ran.last().is_some_and(|test| self.failures.contains_key(test));
        if self.style.verbose {
            for (done, test) in ran.iter().enumerate() {
                let word = match (sign(*test), self.conditions.state.skip_reason(*test)) {
                    (_, Some(reason)) => format!("SKIPPED ({reason})"),
                    ('F', _) => "FAILED".to_owned(),
                    _ => "PASSED".to_owned(),
                };
                lines.push(filled(&format!("{} {word}", self.node(*test)), done + 1));
            }
        } else if self.style.quiet {
            let signs: String = ran.iter().map(|test| sign(*test)).collect();
            lines.push(if ran.len() == all && !stops { filled(&signs, all) } else { signs });
        } else {
            let mut done = 0;
            for group in ran.chunk_by(|a, b| self.check(*a).file == self.check(*b).file) {
                let signs: String = group.iter().map(|test| sign(*test)).collect();
                done += group.len();
                let line = format!("{} {signs}", self.conditions.shown(&self.check(group[0]).file));
                let stopped = done == ran.len() && (ran.len() < all || stops);
                lines.push(if stopped { line } else { filled(&line, done) });
            }
        }
        for line in lines {
            self.report.out(line);
        }
        if !self.style.quiet {
            self.report.out("");
        }
    }

    /// Prints the traceback of a failing test.
    fn failure(&mut self, test: usize) {
        let conditions = self.conditions;
        let failure = self.failures[&test].clone();
        let check = self.check(test).clone();
        let name = self.name(test).to_owned();
        let title = match &check.group {
            Some(group) => format!("{group}.{name}"),
            None => name.clone(),
        };
        let title = title_rule("_", &title);
        self.report.out(title.clone());
        let lines = deindented(conditions.state.tree.region(&check.region).unwrap_or_default());
        // A skipped test has a decorator before it; here the failing line is counted from the signature.
        let at = conditions.line_number(&check.region, failure.line);
        let file = conditions.shown(&check.file).to_owned();
        let mut place = format!("{file}:{at}: {}", failure.error);
        if self.style.short {
            self.report.out(format!("{file}:{at}: in {name}"));
            let line = &lines[failure.line];
            self.report.out(format!("    {}", line.trim()));
            if let Some(caret) = caret(line.trim(), &failure.mark) {
                self.report.out(format!("    {caret}"));
            }
        } else {
            self.report.out("");
            let mut arguments = Vec::new();
            if let Some(group) = &check.group {
                let module = file.rsplit('/').next().unwrap_or_default().trim_end_matches(".py");
                let module =
                    if conditions.folder.is_empty() && conditions.project.packages.len() > 1 {
                        check.file.trim_end_matches(".py").replace('/', ".")
                    } else {
                        module.to_owned()
                    };
                arguments.push(format!("self = <{module}.{group} object at {}>", self.address()));
            }
            if lines[0].contains("pytestconfig") {
                arguments.push(format!(
                    "pytestconfig = <_pytest.config.Config object at {}>",
                    self.address()
                ));
            }
            if !arguments.is_empty() {
                self.report.out(arguments.join(", "));
                self.report.out("");
            }
            self.source(&lines[..=failure.line], &failure.mark);
        }
        let mut indent = lines[failure.line].len() - lines[failure.line].trim_start().len();
        for frame in &failure.frames {
            let parts = ["head", "doc", "body"].map(|part| format!("{}/{part}", frame.unit));
            let mut lines = Vec::new();
            for part in &parts {
                lines.extend(conditions.state.tree.region(part).unwrap_or_default().to_vec());
            }
            let body = conditions.state.tree.region(&parts[2]).unwrap_or_default();
            let last = lines.len() - body.len() + frame.line;
            let at = conditions.line_number(&parts[2], frame.line);
            let file = conditions.file_of(&parts[2]);
            let inner = conditions.shown(&file).to_owned();
            if self.style.short {
                self.report.out(format!("{inner}:{at}: in {}", frame.function));
                self.report.out(format!("    {}", lines[last].trim()));
                if let Some(caret) = caret(lines[last].trim(), &frame.mark) {
                    self.report.out(format!("    {caret}"));
                }
            } else {
                self.report.out("");
                self.report.out(format!(
                    "{} ",
                    place.split(": ").next().unwrap_or_default().to_owned() + ":"
                ));
                self.report.out("_ ".repeat(TERMINAL_COLUMNS / 2));
                self.report.out("");
                let arguments: Vec<String> = frame
                    .arguments
                    .iter()
                    .map(|(name, value)| format!("{name} = {value}"))
                    .collect();
                self.report.out(arguments.join(", "));
                self.report.out("");
                self.source(&lines[..=last], &frame.mark);
            }
            place = format!("{inner}:{at}: {}", failure.error);
            indent = lines[last].len() - lines[last].trim_start().len();
        }
        let indent = if self.style.short { 3 } else { 3 + indent };
        for line in &failure.message {
            let line = line.replace("$address", &self.address());
            self.report.out(format!("E{}{line}", " ".repeat(indent)));
        }
        if !self.style.short {
            self.report.out("");
            self.report.out(place.clone());
        }
        let node = format!("FAILED {}", self.node(test));
        let first = failure.message[0].clone();
        self.report.failed.push(FailedCheck {
            check: test,
            shown_by: vec![vec![node], vec![title, place]],
            error: first,
        });
    }

    /// Prints the lines of a function up to the one that fails.
    fn source(&mut self, lines: &[String], mark: &str) {
        let (last, before) =
            lines.split_last().unwrap_or_else(|| unreachable!("a function has lines"));
        for line in before {
            let line = format!("    {line}");
            self.report.out(if line.trim().is_empty() { String::new() } else { line });
        }
        self.report.out(format!(">   {last}"));
        let indent = last.len() - last.trim_start().len();
        if let Some(caret) = caret(last.trim(), mark) {
            self.report.out(format!("    {}{caret}", " ".repeat(indent)));
        }
    }

    fn address(&self) -> String {
        format!("0x7f{:010x}", self.conditions.noise & 0xff_ffff_fff0)
    }

    /// Prints a line of the short summary, cut to the width of the terminal.
    fn summary_line(&mut self, word: &str, node: &str, check: usize) {
        let line = format!("{word} {node}");
        let message = &self.failures[&check].message[0];
        let room = TERMINAL_COLUMNS.saturating_sub(line.len());
        let rest = format!(" - {message}");
        let rest = if rest.len() <= room {
            rest
        } else if room >= " - ...".len() {
            let cut = room - " - ...".len();
            format!(" - {}...", message.chars().take(cut).collect::<String>())
        } else {
            String::new()
        };
        self.report.out(format!("{line}{rest}"));
    }

    fn import_errors(
        &mut self,
        selection: &CheckSelection,
        collected: &[usize],
        tests: &[usize],
        broken: &[usize],
    ) {
        let mut broken = broken.to_vec();
        broken.sort_by_key(|check| self.check(*check).file.clone());
        let files: Vec<String> =
            broken.iter().map(|check| self.check(*check).file.clone()).collect();
        let stops = self.style.fail_fast;
        let reached = |tests: &[usize]| {
            tests
                .iter()
                .map(|test| &self.check(*test).file)
                .filter(|file| !files.contains(file) && (!stops || **file < files[0]))
                .count()
        };
        let (count, selected) = (reached(collected), reached(tests));
        let is_last = collected.iter().all(|test| self.check(*test).file <= files[0]);
        broken.truncate(if stops { 1 } else { broken.len() });
        let errors = format!("{} error{}", broken.len(), if broken.len() == 1 { "" } else { "s" });
        let items = format!("{count} item{}", if count == 1 { "" } else { "s" });
        let deselected = count - selected;
        let narrowed = match deselected {
            0 => String::new(),
            _ => format!(" / {deselected} deselected / {selected} selected"),
        };
        self.collected(&format!("collected {items} / {errors}{narrowed}"));
        if self.style.quiet {
            self.report.out("");
        }
        self.report.out(title_rule("=", "ERRORS"));
        for check in &broken {
            let file = self.check(*check).file.clone();
            let shown = self.conditions.shown(&file).to_owned();
            let failure = self.failures[check].clone();
            let root = &self.conditions.root;
            let absolute = format!("{root}/{file}");
            let rootdir = format!("{}/", self.rootdir(selection));
            let from_root = absolute.strip_prefix(&rootdir).unwrap_or(&file);
            let title = title_rule("_", &format!("ERROR collecting {from_root}"));
            self.report.out(title.clone());
            self.report.out(format!("ImportError while importing test module '{absolute}'."));
            self.report.out("Hint: make sure your test modules/packages have valid Python names.");
            self.report.out("Traceback:");
            // The root of a monorepo is configured for another import mode.
            let is_plain =
                self.conditions.project.packages.len() == 1 || self.rootdir(selection) != *root;
            if is_plain {
                self.report.out("/usr/lib/python3.11/importlib/__init__.py:126: in import_module");
                self.report.out("    return _bootstrap._gcd_import(name[level:], package, level)");
                self.report.out("           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^");
            }
            let text = self.conditions.state.tree.text(&file).unwrap_or_default();
            let found = text.lines().enumerate().find(|(_, line)| line.starts_with(&failure.mark));
            let (at, line) = found.unwrap_or_default();
            self.report.out(format!("{shown}:{}: in <module>", at + 1));
            self.report.out(format!("    {line}"));
            if let Some(note) = failure.notes.first() {
                let text = self.conditions.state.tree.text(&failure.region).unwrap_or_default();
                let at = text.lines().position(|line| line == note).unwrap_or_default();
                let inner = self.conditions.shown(&failure.region).to_owned();
                self.report.out(format!("{inner}:{}: in <module>", at + 1));
                self.report.out(format!("    {note}"));
            }
            let message = failure.message[0].replace("$root", root);
            self.report.out(format!("E   {message}"));
            self.report.failed.push(FailedCheck {
                check: *check,
                shown_by: vec![vec![format!("ERROR {shown}")], vec![title, message.clone()]],
                error: message,
            });
        }
        self.report.out(title_rule("=", "short test summary info"));
        for check in &broken {
            let shown = self.conditions.shown(&self.check(*check).file).to_owned();
            self.report.out(format!("ERROR {shown}"));
        }
        if stops {
            self.report.out(title_rule("!", "stopping after 1 failures"));
        }
        let interrupts = !stops || is_last;
        if interrupts {
            self.report.out(title_rule("!", &format!("Interrupted: {errors} during collection")));
        }
        let word = if broken.len() == 1 { "error" } else { "errors" };
        self.end(&[(deselected, "deselected"), (broken.len(), word)]);
        self.report.exit = if interrupts { 2 } else { 1 };
    }
}

/// Removes the indentation that all lines share.
fn deindented(lines: &[String]) -> Vec<String> {
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or_default();
    lines.iter().map(|line| line.get(indent..).unwrap_or_default().to_owned()).collect()
}

/// Returns a row of carets below a part of a line, or None if the part is missing or is the whole line.
fn caret(line: &str, mark: &str) -> Option<String> {
    let at = line.find(mark).filter(|_| !mark.is_empty() && mark != line)?;
    Some(format!("{}{}", " ".repeat(at), "^".repeat(mark.chars().count())))
}
