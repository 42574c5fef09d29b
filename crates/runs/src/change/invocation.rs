//! The difference between a command that succeeded and the one that failed: a variable, a flag, a wrapper, or the
//! folder. If there was no other change, that difference is the fix.

use crate::command_line::{CommandFolder, CommandLine, ParsedCommand};
use crate::table::{self, FlagEffect};

/// Variables that affect only output.
const SHOWING_VARIABLES: &[&str] = &[
    "RUST_BACKTRACE",
    "RUST_LOG",
    "DEBUG",
    "FORCE_COLOR",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CARGO_TERM_COLOR",
    "TERM",
    "COLUMNS",
    "LINES",
    "PYTHONUNBUFFERED",
    "VERBOSE",
    "PY_COLORS",
    "LOG_LEVEL",
    "GOTRACEBACK",
    "PYTHONFAULTHANDLER",
];
/// Wrappers that do not affect the command. Those of JavaScript all start the program of the same package.
const PLAIN_WRAPPERS: &[&str] = &[
    "time", "timeout", "gtimeout", "nohup", "nice", "stdbuf", "unbuffer", "command", "exec", "rtk",
    "npx", "bunx", "bun", "yarn", "pnpm", "pnpx", "npm", "dlx", "x", "run",
];
/// Wrappers that set variables.
const ENVIRONMENT_WRAPPERS: &[&str] = &[
    "direnv",
    "dotenv",
    "dotenvx",
    "env-cmd",
    "doppler",
    "op",
    "infisical",
    "chamber",
    "aws-vault",
    "nix",
    "devbox",
    "flox",
];
/// Flags that give the folder of a project, as `cd` does.
const FOLDER_FLAGS: &[&str] = &["--manifest-path", "-C", "--prefix", "--cwd", "--dir", "--rootdir"];

/// The difference between two ways to run a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InvocationDifference {
    /// Variables and flags: `with TZ=UTC`. They were typed on purpose.
    pub settings: Vec<String>,
    /// The wrapper and the folder: `through uv run`, `in web`. They often differ by chance.
    pub surroundings: Vec<String>,
}

/// Describes how the second line runs its last run differently from the first; None if both run it alike.
pub fn invocation_difference(failed: &str, succeeded: &str) -> Option<InvocationDifference> {
    let (failed, succeeded) = (CommandLine::parse(failed), CommandLine::parse(succeeded));
    let (red, green) = (last_run(&failed)?, last_run(&succeeded)?);
    let mut parts = Vec::new();
    let mut surroundings = Vec::new();
    let shows = |name: &str| SHOWING_VARIABLES.contains(&name);
    let (red_variables, green_variables) =
        (run_variables(&failed, red), run_variables(&succeeded, green));
    for (name, value) in &green_variables {
        if !shows(name) && !red_variables.contains(&(name.clone(), value.clone())) {
            parts.push(format!("with {name}={value}"));
        }
    }
    for (name, _) in &red_variables {
        if !shows(name) && !green_variables.iter().any(|(known, _)| known == name) {
            parts.push(format!("without {name}"));
        }
    }
    let (red_wrappers, green_wrappers) = (relevant_wrappers(red), relevant_wrappers(green));
    if red_wrappers != green_wrappers && !green_wrappers.is_empty() {
        let sets_up =
            green_wrappers.first().is_some_and(|first| ENVIRONMENT_WRAPPERS.contains(first));
        let list = if sets_up { &mut parts } else { &mut surroundings };
        list.push(format!("through {}", green_wrappers.join(" ")));
    }
    if runner_family(red) == runner_family(green) {
        let (red_settings, green_settings) = (setting_flags(red), setting_flags(green));
        for flag in &green_settings {
            if !red_settings.contains(flag) {
                parts.push(format!("with {flag}"));
            }
        }
        for flag in &red_settings {
            if !green_settings.contains(flag) {
                parts.push(format!("without {flag}"));
            }
        }
    }
    if let (CommandFolder::Relative(red), CommandFolder::Relative(green)) =
        (&red.folder, &green.folder)
        && red != green
        && !green.is_empty()
    {
        surroundings.push(format!("in {green}"));
    }
    let found = InvocationDifference { settings: parts, surroundings };
    (found != InvocationDifference::default()).then_some(found)
}

fn last_run(line: &CommandLine) -> Option<&ParsedCommand> {
    line.commands.iter().rfind(|command| table::is_run(&command.words))
}

/// Returns the family of a command's runner, or its first word. Flags have one meaning within a family.
fn runner_family(command: &ParsedCommand) -> &str {
    table::find_runner(&command.words)
        .map_or_else(|| command.program(), |found| found.runner.family)
}

/// Returns the variables that are set for a run, by the command or exported before it.
fn run_variables(line: &CommandLine, run: &ParsedCommand) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for command in line.commands.iter().take_while(|command| !std::ptr::eq(*command, run)) {
        if command.program() == "export" {
            let pairs = command.words[1..].iter().filter_map(|word| word.split_once('='));
            found.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
    }
    found.extend(run.variables.iter().cloned());
    found
}

/// Returns the wrapper words of a run that matter: without leading plain wrappers such as `timeout 60`.
fn relevant_wrappers(command: &ParsedCommand) -> Vec<&str> {
    let mut words = command.wrappers.iter().map(String::as_str).peekable();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        // Behind another word it belongs to that wrapper: `uv run`, `direnv exec`.
        let is_plain = PLAIN_WRAPPERS.contains(&word) && kept.is_empty();
        if is_plain {
            // `timeout 60`
            words.next_if(|next| next.starts_with(|sign: char| sign.is_ascii_digit()));
        } else {
            kept.push(word);
        }
    }
    kept
}

/// Returns the flags of a run that set something.
fn setting_flags(command: &ParsedCommand) -> Vec<String> {
    let Some(found) = table::find_runner(&command.words) else { return Vec::new() };
    let arguments = found.runner.arguments;
    let mut flags = Vec::new();
    let mut words = command.words[found.arguments.min(command.words.len())..].iter();
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "--" || word == "-" {
            continue;
        }
        let (flag, value) =
            word.split_once('=').map_or((word.as_str(), None), |(flag, value)| (flag, Some(value)));
        let (effect, valued) = arguments.effect(flag);
        let next = if valued && value.is_none() { words.next().map(String::as_str) } else { value };
        // `-xvs` of pytest sets nothing.
        let joined_short =
            found.runner.name == "pytest" && flag.len() > 2 && !flag.starts_with("--");
        if effect == FlagEffect::Sets
            && !FOLDER_FLAGS.contains(&flag)
            && !joined_short
            && !flag[1..].bytes().all(|byte| b"vqslx".contains(&byte))
        {
            flags.push(match next {
                Some(value) => format!("{flag} {value}"),
                None => flag.to_owned(),
            });
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_that_matter() {
        for (failed, succeeded, expected) in [
            (
                "go test ./...",
                "GIT_CONFIG_GLOBAL=/dev/null go test ./...",
                Some("with GIT_CONFIG_GLOBAL=/dev/null"),
            ),
            ("pytest", "TZ=UTC pytest -q | tail -3", Some("with TZ=UTC")),
            ("pytest", "export TZ=UTC && pytest", Some("with TZ=UTC")),
            ("CI=1 npm test", "npm test", Some("without CI")),
            ("pytest", "uv run pytest", Some("through uv run")),
            ("cargo test", "cargo test --features sqlite", Some("with --features sqlite")),
            ("npm test", "cd web && npm test", Some("in web")),
            ("rtk npx vitest run", "bunx vitest run", None),
            ("cargo test --manifest-path a/Cargo.toml", "cargo test", None),
            ("pytest -x", "pytest -v tests/a.py", None),
            ("pytest", "timeout 60 pytest", None),
            ("cargo test", "RUST_BACKTRACE=1 cargo test -- --nocapture", None),
            ("pytest", "pytest -k total", None),
        ] {
            let found = invocation_difference(failed, succeeded)
                .map(|found| [found.settings, found.surroundings].concat().join(", "));
            assert_eq!(found.as_deref(), expected, "{failed} {succeeded}");
        }
    }
}
