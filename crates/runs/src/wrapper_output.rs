//! Lines that task runners print around their program: the command that they start, and that it failed.
//!
//! `npm test` does not reveal the test runner; the line that npm prints first does. A wrapper's message is never the
//! failure: `script "lint" exited with code 1` is the same line for every lint error.

use std::borrow::Cow;

use super::command_line::CommandLine;
use super::table;

/// Maximum number of commands read from one output.
const MAX_INNER_COMMANDS: usize = 8;

/// The output of a task, without the messages of its wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskOutput<'a> {
    /// The commands that the wrapper prints before it starts them.
    pub commands: Vec<InnerCommand<'a>>,
    /// True if the wrapper reports that its program failed or could not be started.
    pub failed: bool,
    /// The output without the wrapper's messages.
    pub text: Cow<'a, str>,
}

/// A command that a wrapper prints before it starts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerCommand<'a> {
    /// The command line.
    pub line: &'a str,
    /// True if the wrapper truncated it.
    pub is_cut: bool,
    /// The package of the task, if the wrapper names it: `> shop@1.0.0 test`.
    pub package: Option<&'a str>,
    /// The folder in which it runs, if the wrapper prints its full path: `> shop@1.0.0 test /home/ada/shop`.
    pub folder: Option<&'a str>,
}

/// The output of one package among several that a wrapper ran in parallel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageOutput<'a> {
    /// The package; None if the wrapper runs only one, or does not name it.
    pub package: Option<&'a str>,
    /// The package's lines, without the wrapper's prefix.
    pub text: Cow<'a, str>,
}

/// Minimum number of lines with a package prefix for a text with the output of several packages.
const MIN_PREFIXED_LINES: usize = 3;

/// Splits the output of a wrapper that prefixes each line with the package: turbo, `pnpm -r`, docker compose.
pub fn split_by_package(text: &str) -> Vec<PackageOutput<'_>> {
    let (mut prefixed, mut lines) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        lines += 1;
        prefixed += usize::from(package_prefix(line).is_some());
    }
    if prefixed < MIN_PREFIXED_LINES || prefixed * 2 < lines {
        return vec![PackageOutput { package: None, text: Cow::Borrowed(text) }];
    }
    let mut outputs: Vec<(&str, String)> = Vec::new();
    for (package, rest) in text.lines().filter_map(package_prefix) {
        let at = outputs.iter().position(|(known, _)| *known == package).unwrap_or_else(|| {
            outputs.push((package, String::new()));
            outputs.len() - 1
        });
        outputs[at].1.push_str(rest);
        outputs[at].1.push('\n');
    }
    outputs
        .into_iter()
        .map(|(package, text)| PackageOutput { package: Some(package), text: Cow::Owned(text) })
        .collect()
}

/// Splits a line into its package prefix and the rest: `web:test: FAIL a`, `packages/web test: FAIL a`,
/// `app-1  | FAIL a`.
fn package_prefix(line: &str) -> Option<(&str, &str)> {
    let is_name = |text: &str| {
        !text.is_empty()
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"@/._-".contains(&byte))
    };
    if let Some((service, rest)) =
        line.split_once(" | ").or_else(|| line.strip_suffix(" |").map(|service| (service, "")))
    {
        let service = service.trim_end();
        return is_name(service).then_some((service, rest));
    }
    let (head, rest) = match line.split_once(": ") {
        Some(parts) => parts,
        None => (line.strip_suffix(':')?, ""),
    };
    // turbo: `web:test`; pnpm: `packages/web test`
    let (package, task) = head.split_once(':').or_else(|| head.split_once(' '))?;
    (is_name(package)
        && is_name(task)
        && !task.contains('/')
        && table::kind_of_name(task).is_some())
    .then_some((package, rest))
}

/// Reads the lines that wrappers print. `echoes` is true for a wrapper that prints its commands unchanged: make, just.
pub fn read_task_output(text: &str, echoes: bool) -> TaskOutput<'_> {
    let mut commands: Vec<InnerCommand<'_>> = Vec::new();
    let mut failed = false;
    let mut kept: Option<String> = None;
    let mut above = "";
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end_matches('\n');
        if is_wrapper_failure(line) {
            failed = true;
            kept.get_or_insert_with(|| text[..start].to_owned());
            above = line;
            continue;
        }
        if let Some(kept) = &mut kept {
            kept.push_str(&text[start..at]);
        }
        let command = printed_command(line, above, start == 0)
            .or_else(|| Some(line).filter(|line| echoes && is_echoed_run(line)));
        if let Some(command) = command.filter(|_| commands.len() < MAX_INNER_COMMANDS) {
            let cut = command.strip_suffix('…');
            let heading = above.strip_prefix("> ").filter(|_| line.starts_with("> "));
            let (package, folder) = heading.map_or((None, None), read_heading);
            let line = cut.unwrap_or(command);
            commands.push(InnerCommand { line, is_cut: cut.is_some(), package, folder });
        }
        above = line;
    }
    TaskOutput { commands, failed, text: kept.map_or(Cow::Borrowed(text), Cow::Owned) }
}

/// Returns the command in a line with which a wrapper announces it.
fn printed_command<'a>(line: &'a str, above: &str, is_first: bool) -> Option<&'a str> {
    // npm, and pnpm up to 10: `> shop@1.0.0 test /home/ada/project`, then `> jest --ci`; without a version
    // `> shop test`.
    if let Some(command) = line.strip_prefix("> ") {
        let heading = above.strip_prefix("> ").is_some_and(|above| {
            above.contains('@') || above.starts_with("nx run ") || above.split(' ').count() <= 2
        });
        return heading.then_some(command);
    }
    // yarn and bun, and pnpm since 11: `$ jest --ci`, as the first line or after yarn's heading.
    if let Some(command) = line.strip_prefix("$ ") {
        let heading =
            above.starts_with("yarn run v") || above.starts_with("warning ") || above.is_empty();
        return (is_first || heading).then_some(command);
    }
    // mise: `[test] $ go test ./...`
    if let Some((_, command)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] $ ")) {
        return Some(command);
    }
    // task: `task: [test] go test ./...`
    if let Some((_, command)) = line.strip_prefix("task: [").and_then(|rest| rest.split_once("] "))
    {
        return Some(command);
    }
    // tox: `py311: commands[0]> pytest -q`; older: `py311 run-test: commands[0] | pytest`
    if let Some((_, rest)) = line.split_once(" commands[") {
        let (_, command) = rest.split_once("]> ").or_else(|| rest.split_once("] | "))?;
        return Some(command);
    }
    for prefix in ["nox > ", "Poe => ", "+ ", "Task ", "[cargo-make] INFO - Execute Command: "] {
        if let Some(command) = line.strip_prefix(prefix) {
            return is_echoed_run(command).then_some(command);
        }
    }
    // pnpm -r: `packages/web test$ vitest run`
    if let Some((task, command)) = line.split_once("$ ")
        && task.split(' ').count() == 2
        && !task.ends_with(' ')
    {
        return is_echoed_run(command).then_some(command);
    }
    None
}

/// Returns the package and the folder in `shop@1.0.0 test /home/ada/shop`.
fn read_heading(heading: &str) -> (Option<&str>, Option<&str>) {
    if let Some(target) = heading.strip_prefix("nx run ") {
        return (target.split(':').next(), None);
    }
    let mut words = heading.split(' ');
    let package = words.next().and_then(|first| {
        let end = first.rfind('@').filter(|end| *end > 0)?;
        Some(&first[..end])
    });
    (package, words.next_back().filter(|last| last.starts_with('/')))
}

/// Returns true if a line is a command that starts a runner.
fn is_echoed_run(line: &str) -> bool {
    // Most lines of an output are not commands, and parsing each one would take too long for a hook.
    let head = line.split([' ', '=']).next().unwrap_or_default();
    let plausible = line.len() < 400
        && !line.starts_with(char::is_whitespace)
        && !head.is_empty()
        && head.len() < 32
        && head.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/+".contains(&byte));
    plausible
        && CommandLine::parse(line)
            .commands
            .iter()
            .any(|command| table::find_runner(&command.words).is_some())
}

/// Returns true if a line is a wrapper's message that its program failed or could not be started.
pub fn is_wrapper_failure(line: &str) -> bool {
    let line = line.trim_start();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| line.starts_with(prefix));
    if starts(&[
        "npm ERR! ",
        "npm error ",
        "[ELIFECYCLE] ",
        "\u{2009}ELIFECYCLE\u{2009} ",
        "ELIFECYCLE ",
        "ERR_PNPM_",
        "error Command failed with exit code ",
        "info Visit https://yarnpkg.com/",
        "task: Failed to run task ",
        "ERROR: InvocationError for command",
        "mise ERROR ",
        "ERROR  run failed: command ",
        "Failed:    ",
        "lerna ERR! ",
        "NX   Running target ",
        "NX   Ran target ",
        "Error: Recipe ",
        "error: Recipe ",
        "error: recipe ",
        "error: Justfile does not contain recipe",
        "error: unrecognized subcommand ",
        "error: Script not found ",
        "nox > Command ",
        "nox > Session ",
        "Poe failed",
        "rake aborted!",
        "Script @",
    ]) {
        return true;
    }
    // bun: `error: script "lint" exited with code 1`
    (line.starts_with("error: script \"") && line.contains("\" exited with code "))
        // mise: `[lint] ERROR task failed`
        || (line.starts_with('[') && line.contains("] ERROR task failed"))
        // make: `make[1]: *** [Makefile:3: test] Error 1`
        || ((line.starts_with("make") || line.starts_with("gmake")) && line.contains(": *** "))
        // turbo: `web#test: command (/home/ada/web) npm run test exited (1)`
        || (line.contains('#') && line.contains(": command (") && line.ends_with(')') && line.contains(" exited ("))
        // tox: `  py311: FAIL code 1 (0.31=setup[0.02]+cmd[0.29] seconds)`
        || line.contains(": FAIL code ")
        || (line.starts_with("evaluation failed :(") || line.starts_with("ERROR: ") && line.contains(": commands failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner_commands(text: &str, echoes: bool) -> Vec<String> {
        let read = read_task_output(text, echoes);
        read.commands.iter().map(|command| command.line.to_owned()).collect()
    }

    #[test]
    fn inner_commands_are_found() {
        for (text, echoes, expected) in [
            ("\n> shop@1.0.0 unit\n> jest --ci\n\nPASS a\n", false, &["jest --ci"][..]),
            ("\n> build\n> tsc && vite build\n", false, &["tsc && vite build"]),
            ("> shop@1.0.0 test /p\n> mocha\n\n", false, &["mocha"]),
            ("$ jest --ci\nFAIL a\n", false, &["jest --ci"]),
            ("yarn run v1.22.22\nwarning x\n$ jest\n", false, &["jest"]),
            ("[lint] $ golangci-lint run ./...\n", false, &["golangci-lint run ./..."]),
            (
                "[it] $ go test -tags=integration ./cmd/inte…\n",
                false,
                &["go test -tags=integration ./cmd/inte"],
            ),
            ("task: [test] go test ./...\n", false, &["go test ./..."]),
            ("py311: commands[0]> pytest -q\n", false, &["pytest -q"]),
            ("nox > pytest tests\n", false, &["pytest tests"]),
            ("cargo test --workspace\n   Compiling x\n", true, &["cargo test --workspace"]),
            ("cargo test --workspace\n   Compiling x\n", false, &[]),
            ("packages/web test$ vitest run\n", false, &["vitest run"]),
            ("> a quote of many words here\n> and its second line\n", false, &[]),
            ("PASS a\n$ rm -rf x\n", false, &[]),
        ] {
            assert_eq!(inner_commands(text, echoes), expected, "{text}");
        }
        assert!(read_task_output("[it] $ go test ./cmd/inte…\n", false).commands[0].is_cut);
        let pnpm = "> @acme/web@1.0.0 test /home/ada/shop/web\n> vitest run\n";
        let inner = &read_task_output(pnpm, false).commands[0];
        assert_eq!((inner.package, inner.folder), (Some("@acme/web"), Some("/home/ada/shop/web")));
    }

    #[test]
    fn packages_are_separated() {
        let turbo = "• Packages in scope: api, web\nweb:test: cache miss\nweb:test: \nweb:test: FAIL src/a.test.ts\napi:test: PASS src/a.test.ts\n";
        let found = split_by_package(turbo);
        assert_eq!(found.len(), 2);
        assert_eq!(
            (found[0].package, found[0].text.as_ref()),
            (Some("web"), "cache miss\n\nFAIL src/a.test.ts\n")
        );
        let pnpm = "packages/web test: a\npackages/web test: b\npackages/web test: c\n";
        assert_eq!(split_by_package(pnpm)[0].package, Some("packages/web"));
        let compose = "app-1  | a\napp-1  | b\napp-1  |\n";
        assert_eq!(split_by_package(compose)[0].text, "a\nb\n\n");
        for plain in [
            "error: a\nerror: b\nerror: c\n",
            "a | b\n",
            "src/a.ts:3: x\nsrc/a.ts:4: y\nsrc/b.ts:1: z\n",
        ] {
            assert_eq!(split_by_package(plain).len(), 1);
            assert_eq!(split_by_package(plain)[0].package, None, "{plain}");
        }
    }

    #[test]
    fn wrapper_lines_are_removed() {
        for (text, left) in [
            ("FAIL a\nerror: script \"lint\" exited with code 1\n", "FAIL a\n"),
            ("x\n ELIFECYCLE  Test failed. See above for more details.\n", "x\n"),
            ("x\nnpm ERR! code ELIFECYCLE\nnpm ERR! errno 1\ny\n", "x\ny\n"),
            ("x\nmake: *** [Makefile:2: test] Error 1\n", "x\n"),
            ("x\nerror: Recipe `test` failed on line 3 with exit code 1\n", "x\n"),
            ("[test] ERROR task failed\n", ""),
            ("error: unrecognized subcommand 'bun'\n", ""),
        ] {
            let read = read_task_output(text, false);
            assert_eq!((read.text.as_ref(), read.failed), (left, true), "{text}");
        }
        let plain = read_task_output("3 passed in 0.1s\n", false);
        assert!(!plain.failed && matches!(plain.text, Cow::Borrowed(_)));
    }
}
