//! Timeouts that were meant in milliseconds.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, Severity};

lint_rule! {
    /// A `timeout` is longer than an hour, or was probably meant in milliseconds.
    ///
    /// The client reads `timeout` in seconds: `5000` is 83 minutes. A hook that hangs stops the session for that long.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "./guard.sh", "timeout": 5000 }] }] } }
    /// ```
    ///
    /// Values over 3600 are a warning. A multiple of 500 from 1000 that is no whole number of minutes is a remark. `--fix`
    /// divides a multiple of 1000 over 3600 by 1000.
    TIMEOUT_TOO_LONG = "timeout-too-long", Warning, check
}

const MAX_USUAL_TIMEOUT_SECONDS: f64 = 3600.0;

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(timeout) = handler.node.member("timeout") else { continue };
            let Some(seconds) = timeout.node.number().filter(|seconds| seconds.is_finite()) else {
                continue;
            };
            let is_long = seconds > MAX_USUAL_TIMEOUT_SECONDS;
            let is_suspicious =
                seconds >= 1000.0 && seconds % 500.0 == 0.0 && seconds % 60.0 != 0.0;
            if !is_long && !is_suspicious {
                continue;
            }
            let message =
                format!("`timeout` is in seconds: this is {}", describe_duration(seconds));
            let help = if seconds % 1000.0 == 0.0 {
                format!("write {} if you mean {} ms", seconds / 1000.0, seconds)
            } else {
                "write the time in seconds".to_owned()
            };
            let severity = if is_long { Severity::Warning } else { Severity::Info };
            let finding =
                LintFinding::new(&TIMEOUT_TOO_LONG, index, timeout.range(), message, help)
                    .with_severity(severity);
            findings.push(if is_long && seconds % 1000.0 == 0.0 {
                finding.with_edit(timeout.node.range.clone(), format!("{}", seconds / 1000.0))
            } else {
                finding
            });
        }
    }
}

fn describe_duration(seconds: f64) -> String {
    if seconds >= 7200.0 {
        format!("{:.1} hours", seconds / 3600.0)
    } else {
        format!("{:.0} minutes", seconds / 60.0)
    }
}

#[cfg(test)]
mod tests {
    use super::TIMEOUT_TOO_LONG;
    use crate::lint::testing::LintCase;

    fn case(timeout: &str) -> LintCase {
        LintCase::command("Stop", &format!("\"command\": \"true\", \"timeout\": {timeout}"))
    }

    #[test]
    fn finds_milliseconds() {
        assert_eq!(
            case("5000").messages(&TIMEOUT_TOO_LONG),
            ["`timeout` is in seconds: this is 83 minutes"]
        );
        assert!(case("5000").fixed(&TIMEOUT_TOO_LONG).contains("\"timeout\": 5}"));
        assert_eq!(case("2000").marked(&TIMEOUT_TOO_LONG), ["\"timeout\": 2000"]);
        assert!(case("2000").fixed(&TIMEOUT_TOO_LONG).contains("\"timeout\": 2000"));
    }

    #[test]
    fn usual_times_are_clean() {
        for timeout in ["5", "600", "1200", "1800", "3600", "0.5", "900"] {
            assert!(case(timeout).marked(&TIMEOUT_TOO_LONG).is_empty(), "{timeout}");
        }
    }
}
