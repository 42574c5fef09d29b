//! Exit statuses that a command line prints: `pytest; echo "exit $?"`, `go build && echo OK || echo FAILED`.

use super::command_line::{CommandLine, ParsedCommand};
use super::shell::Joiner;

/// Returns the exit status of the command at position `at`, if a later command of the line printed it.
pub(super) fn printed_exit_status(line: &CommandLine, at: usize, text: &str) -> Option<i32> {
    if line.commands[at].is_condition {
        return None;
    }
    let next = line.commands.get(at + 1).filter(|next| next.program() == "echo")?;
    match line.commands[at].joiner {
        Joiner::Then => parse_printed_status(next, text),
        Joiner::And => {
            if has_line(text, &echo_text(next)?) {
                return Some(0);
            }
            let other = line.commands.get(at + 2).filter(|_| next.joiner == Joiner::Or)?;
            (other.program() == "echo" && has_line(text, &echo_text(other)?)).then_some(1)
        }
        Joiner::Or => has_line(text, &echo_text(next)?).then_some(1),
        _ => None,
    }
}

/// Returns the number that `echo "exit: $?"` printed.
fn parse_printed_status(echo: &ParsedCommand, text: &str) -> Option<i32> {
    let said = echo.words[1..].join(" ");
    let (before, after) = said.split_once("$?")?;
    // A text with other variables cannot be compared.
    if before.contains('$') || after.contains('$') {
        return None;
    }
    text.lines().rev().take(40).find_map(|line| {
        let number = line.strip_prefix(before)?.strip_suffix(after)?;
        number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// Returns the text that an `echo` prints; None if it has variables, or is too short to identify a line.
fn echo_text(echo: &ParsedCommand) -> Option<String> {
    let said = echo.words[1..].join(" ");
    let plain = said.len() > 1 && !said.contains(['$', '\\', '*']) && !said.starts_with('-');
    plain.then_some(said)
}

fn has_line(text: &str, wanted: &str) -> bool {
    text.lines().any(|line| line.trim_end() == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_statuses_are_read() {
        for (line, text, expected) in [
            ("pytest; echo $?", "x\n1\n", Some(1)),
            ("pytest; echo \"exit: $?\"", "exit: 0\n", Some(0)),
            ("pytest; echo \"$HOME $?\"", "/home 0\n", None),
            ("go build && echo OK", "OK\n", Some(0)),
            ("go build && echo OK", "x.go:1:1: no\n", None),
            ("go build && echo \"BUILD OK\" || echo \"BUILD FAILED\"", "BUILD FAILED\n", Some(1)),
            ("go build || echo failed", "failed\n", Some(1)),
            ("pytest | tail -3; echo $?", "0\n", None),
        ] {
            assert_eq!(printed_exit_status(&CommandLine::parse(line), 0, text), expected, "{line}");
        }
    }
}
