//! A command that failed, and is no run of tests: which command of a line it was, and the shape of its error.
//!
//! Commands that only look for something are left out, because their failure is an answer: `grep` without a match, `ls`
//! of a missing file. So are failures of a moment, such as a lost connection.

use super::command_form::CommandForm;
use super::command_line::{CommandLine, ParsedCommand};
use super::place::RunPlace;
use super::shell::Joiner;

/// Maximum length of an error line.
const MAX_ERROR_CHARS: usize = 160;
/// Maximum number of lines of an output in which a line may name the error without beginning like one.
const MAX_PLAIN_LINES: usize = 12;
/// Maximum number of lines of an output whose error may be in any line.
const MAX_USAGE_LINES: usize = 40;
/// Maximum size of the kept output.
const MAX_OUTPUT_BYTES: usize = 1_500;

/// A failed command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCommand {
    /// The form of the command.
    pub form: CommandForm,
    /// The line of the output that names the error.
    pub error: String,
    /// The error with masked values.
    pub signature: String,
}

/// Programs that look for something or wait for something.
const QUERY_PROGRAMS: &[&str] = &[
    "[",
    "[[",
    "ack",
    "ag",
    "awk",
    "basename",
    "bat",
    "cat",
    "cd",
    "cmp",
    "comm",
    "command",
    "curl",
    "cut",
    "date",
    "df",
    "diff",
    "dig",
    "dirname",
    "du",
    "echo",
    "egrep",
    "env",
    "eza",
    "fd",
    "fgrep",
    "file",
    "find",
    "fzf",
    "grep",
    "hash",
    "head",
    "host",
    "hostname",
    "http",
    "id",
    "jq",
    "kill",
    "killall",
    "less",
    "ls",
    "lsof",
    "man",
    "md5sum",
    "more",
    "nc",
    "netstat",
    "nslookup",
    "pgrep",
    "ping",
    "pkill",
    "printenv",
    "printf",
    "ps",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "shasum",
    "sleep",
    // Their arguments are programs of another kind.
    "ssh",
    "psql",
    "sqlite3",
    "mysql",
    "redis-cli",
    "osascript",
    "sort",
    "ss",
    "stat",
    "strings",
    "tail",
    "tee",
    "test",
    "time",
    "top",
    "tr",
    "tree",
    "type",
    "uname",
    "uniq",
    "wait",
    "wc",
    "wget",
    "whereis",
    "which",
    "whoami",
    "xxd",
    "yq",
    "zgrep",
    "exit",
    "false",
    "true",
    "lsusb",
    "column",
    "nl",
    "od",
    "hexdump",
    "locate",
    "mdfind",
];

/// Subcommands that look for something.
const QUERY_SUBCOMMANDS: &[&str] = &[
    "git grep",
    "git ls-files",
    "git ls-remote",
    "git rev-parse",
    "git merge-base",
    "git check-ignore",
    "git config",
    "git show-ref",
    "git cat-file",
    "git diff-index",
    "git symbolic-ref",
    "git blame",
    "gh run",
    "gh auth",
    "gh pr checks",
    "systemctl status",
    "docker inspect",
    "brew list",
    "pip show",
    "npm ls",
    "npm view",
    "npm outdated",
    "npm audit",
    "go vet",
    "kubectl get",
    "pip check",
    "pip index",
    "npm search",
    "npm list",
    "git remote get-url",
    "git remote show",
];

/// Commands before another one that rarely fail, and say their name if they do.
const PREPARATIONS: &[&str] = &[
    "git add",
    "git fetch",
    "git status",
    "git stage",
    "mkdir",
    "rm",
    "cp",
    "mv",
    "touch",
    "chmod",
    "export",
    "set",
    "source",
    ".",
    "pushd",
    "popd",
    "ulimit",
    "unset",
    "git checkout",
    "git switch",
    "git pull",
];

/// Words of an error that says that a path of the command does not exist.
const MISSING_PATH: &[&str] = &[
    "no such file or directory",
    "cannot access",
    "cannot find the path",
    "does not exist",
    "enoent",
    "did not match any file",
    "file not found",
    "is not a directory",
    "not a directory",
    "no such path",
];

/// Words of an error after which a run did not begin: the command itself was wrong.
const BEFORE_RUN: &[&str] = &[
    "unrecognized subcommand",
    "unknown command",
    "unknown flag",
    "unknown option",
    "unknown argument",
    "unrecognized option",
    "unrecognized argument",
    "unexpected argument",
    "no such option",
    "no such command",
    "invalid option",
    "command not found",
    "missing script",
    "missing package.json",
    "could not read package.json",
    "file or directory not found",
    "not a git repository",
    "could not find `cargo.toml`",
    "cannot find main module",
    "no rule to make target",
    "flag provided but not defined",
];

/// Words of a failure that another way to write the command cannot prevent, or that passes by itself.
const NOT_OF_THE_COMMAND: &[&str] = &[
    "conflict (",
    "merge conflict",
    "fix conflicts",
    "nothing to commit",
    "nothing added to commit",
    "no changes added to commit",
    "could not resolve host",
    "connection refused",
    "connection reset",
    "connection timed out",
    "network is unreachable",
    "rate limit",
    "timed out",
    "temporary failure",
    "parse error near",
    "unmatched",
    "unexpected eof while looking",
    "syntax error near",
    "no space left",
    "bad gateway",
    "service unavailable",
    "could not read from remote repository",
    "traceback (most recent",
    "already exists and is not an empty",
];

/// Starts of a line that names an error.
const ERROR_STARTS: &[&str] = &[
    "fatal:",
    "error:",
    "error ",
    "error[",
    "modulenotfounderror",
    "err!",
    "npm err!",
    "npm error",
    "unknown ",
    "unrecognized ",
    "unrecognised ",
    "invalid ",
    "illegal ",
    "cannot ",
    "can't ",
    "could not ",
    "unable to ",
    "permission denied",
    "failed to ",
    "failed:",
    "! [",
    "missing ",
    "usage error",
    "not found",
    "no such ",
    "command not found",
    "access denied",
    "exception",
    "refusing ",
    "denied",
];

/// Parts of a line that names an error.
const ERROR_PARTS: &[&str] = &[
    "error:",
    "fatal:",
    "command not found",
    "not found",
    "permission denied",
    "cannot ",
    "could not ",
    "unable to ",
    "unrecognized ",
    "unknown option",
    "unknown flag",
    "unknown command",
    "illegal option",
    "invalid option",
    "unexpected argument",
    "is required",
    "not allowed",
    "must be ",
    "rejected",
    "refused",
    "failed",
    "no such",
];

impl FailedCommand {
    /// Finds the command that failed, and its error. Returns None if that is uncertain, or if nothing can be learnt
    /// from it.
    pub fn find(
        line: &CommandLine,
        place: &RunPlace<'_>,
        exit: Option<i32>,
        output: &str,
    ) -> Option<Self> {
        let exit = exit?;
        // Ended by a signal, or by `timeout`.
        if exit == 0 || exit == 124 || (130..=160).contains(&exit) {
            return None;
        }
        let lower = output.to_lowercase();
        let is_excluded = |words: &&str| {
            lower.contains(*words)
                // A module that is not found is a matter of the environment.
                && !(words.starts_with("traceback") && lower.contains("modulenotfounderror"))
        };
        if NOT_OF_THE_COMMAND.iter().any(is_excluded) {
            return None;
        }
        let error = find_error_line(output)?;
        let form = find_failed_form(line, place, error, &lower)?;
        let lines = output.lines().filter(|line| !line.trim().is_empty()).count();
        let is_log = match form.program.as_str() {
            // What a hook printed is not about the command.
            "git commit" | "git push" => lines > MAX_PLAIN_LINES,
            // A usage text follows its error; a log comes before it.
            _ => lines > MAX_USAGE_LINES && !is_among_first_lines(output, error),
        };
        if is_log || is_query(&form) {
            return None;
        }
        Some(Self {
            signature: mask_error(error),
            error: error.chars().take(MAX_ERROR_CHARS).collect(),
            form,
        })
    }

    /// Returns true if the error says that the command itself was wrong, so that the run that it names did not begin.
    pub fn is_before_run(error: &str) -> bool {
        let error = error.to_lowercase();
        BEFORE_RUN.iter().any(|words| error.contains(words))
    }

    /// Returns true if the error says that a path does not exist. Then only the folder may be wrong.
    pub fn is_path_missing(error: &str) -> bool {
        let error = error.to_lowercase();
        MISSING_PATH.iter().any(|words| error.contains(words))
    }
}

/// Returns true if a command only looks for something.
pub fn is_query(form: &CommandForm) -> bool {
    let name = form.program.split(' ').next().unwrap_or_default();
    QUERY_PROGRAMS.contains(&name)
        || QUERY_SUBCOMMANDS.iter().any(|words| {
            form.program == *words
                || form.program.strip_prefix(words).is_some_and(|rest| rest.starts_with(' '))
        })
}

/// Returns the form of the command that failed; None if it may have been one of several.
fn find_failed_form(
    line: &CommandLine,
    place: &RunPlace<'_>,
    error: &str,
    lower: &str,
) -> Option<CommandForm> {
    let commands: Vec<&ParsedCommand> =
        line.commands.iter().filter(|one| one.joiner != Joiner::Substitution).collect();
    let is_control = |one: &ParsedCommand| {
        one.is_condition
            || matches!(
                one.program(),
                "for" | "do" | "done" | "case" | "esac" | "fi" | "select" | "function" | "{" | "}"
            )
    };
    if commands.iter().any(|one| is_control(one) || one.joiner == Joiner::Or) {
        return None;
    }
    // The status of a pipe is that of its last command.
    let mut candidates: Vec<(bool, CommandForm)> = Vec::new();
    let last = commands.len().saturating_sub(1);
    for (at, one) in commands.iter().enumerate() {
        if one.joiner == Joiner::Pipe {
            continue;
        }
        let Some(form) = CommandForm::new(one, place) else { continue };
        let is_passive = matches!(
            one.program(),
            "cd" | "pushd"
                | "echo"
                | "printf"
                | "set"
                | "export"
                | "source"
                | "."
                | "sleep"
                | "true"
        );
        if is_passive && at != last {
            continue;
        }
        // The line goes on after it, so its status does not count, but its output is in the way.
        let is_free = at != last && matches!(one.joiner, Joiner::Then | Joiner::Background);
        if is_free {
            return None;
        }
        let is_preparation = PREPARATIONS.contains(&form.program.as_str())
            || PREPARATIONS.contains(&form.program.split(' ').next().unwrap_or_default());
        candidates.push((is_preparation, form));
    }
    let (_, form) = candidates.pop()?;
    if candidates.is_empty() {
        return Some(form);
    }
    let is_preparing = candidates.iter().all(|(is_preparation, _)| *is_preparation);
    let names_add = lower.contains("pathspec") || lower.contains("ignored by one of your");
    let names_other = candidates.iter().any(|(_, other)| {
        let name = other.program.split(' ').next().unwrap_or_default();
        name != "git" && error.starts_with(&format!("{name}: "))
    });
    (is_preparing && !names_add && !names_other).then_some(form)
}

/// Returns the line of an output that names the error.
fn find_error_line(output: &str) -> Option<&str> {
    let lines: Vec<&str> = output
        .lines()
        .map(str::trim)
        .filter(|line| {
            let lower = line.to_lowercase();
            !line.is_empty() && !lower.starts_with("hint:") && !lower.contains("warning:")
        })
        .collect();
    let starts = |line: &&&str| {
        let lower = line.to_lowercase();
        let mut rest = lower.as_str();
        loop {
            if ERROR_STARTS.iter().any(|start| rest.starts_with(start)) {
                return true;
            }
            // `gh: Not Found`, `bash: line 1: …`
            match rest.split_once(": ") {
                Some((name, after)) if name.split(' ').count() <= 2 => rest = after,
                _ => return false,
            }
        }
    };
    let has_part = |line: &&&str| {
        let lower = line.to_lowercase();
        ERROR_PARTS.iter().any(|part| lower.contains(part))
    };
    // A long output is a log, in which such words say little.
    let by_part = || lines.iter().find(has_part).filter(|_| lines.len() <= MAX_PLAIN_LINES);
    let found = lines.iter().find(starts).or_else(by_part);
    found.or(if lines.len() <= 2 { lines.first() } else { None }).copied()
}

/// Returns true if a line is one of the first three of an output.
fn is_among_first_lines(output: &str, line: &str) -> bool {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.by_ref().take(3).any(|first| first == line)
}

/// Returns true if an output has a line that names an error.
pub fn names_error(output: &str) -> bool {
    output.lines().any(|line| {
        let lower = line.trim().to_lowercase();
        ERROR_STARTS.iter().any(|start| lower.starts_with(start))
    })
}

/// Masks numbers, hashes, paths and quoted values of an error. Flags and status codes of HTTP stay: they decide what is
/// wrong.
fn mask_error(error: &str) -> String {
    let mut masked = String::new();
    let mut last = "";
    let mut quote: Option<char> = None;
    for word in error.split_whitespace() {
        if let Some(end) = quote {
            if word.contains(end) {
                quote = None;
            }
            continue;
        }
        if !masked.is_empty() {
            masked.push(' ');
        }
        let start = word.trim_start_matches(['(', '[', '{']);
        let opening =
            start.chars().next().filter(|sign| matches!(sign, '\'' | '"' | '`' | '‘' | '“'));
        if last.ends_with("HTTP") {
            masked.push_str(word);
        } else if let Some(sign) = opening
            && !start[sign.len_utf8()..].starts_with('-')
        {
            let closing = match sign {
                '‘' => '’',
                '“' => '”',
                other => other,
            };
            let inner = &start[sign.len_utf8()..];
            let is_closed = inner.contains(closing) || (sign == '`' && inner.contains('\''));
            if !is_closed {
                quote = Some(closing);
            }
            masked.push('…');
        } else if word.contains('/') && !word.starts_with('-') {
            masked.push('…');
        } else {
            masked.push_str(&super::command_form::mask_word(word));
        }
        last = word;
        if masked.chars().count() > MAX_ERROR_CHARS {
            break;
        }
    }
    masked.chars().take(MAX_ERROR_CHARS).collect()
}

/// Returns the first and the last part of a long output, in whole lines.
pub fn shorten_output(output: &str) -> String {
    let output = output.trim();
    if output.len() <= MAX_OUTPUT_BYTES {
        return output.to_owned();
    }
    let half = MAX_OUTPUT_BYTES / 2;
    let (mut head, mut tail) = (half, output.len() - half);
    while !output.is_char_boundary(head) {
        head -= 1;
    }
    while !output.is_char_boundary(tail) {
        tail += 1;
    }
    let head = output[..head].rfind('\n').unwrap_or(head);
    let tail = output[tail..].find('\n').map_or(tail, |at| tail + at);
    format!("{}\n{}", &output[..head], output[tail..].trim_start())
}

#[cfg(test)]
mod tests;
