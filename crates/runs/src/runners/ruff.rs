//! Ruff, as linter and as formatter.
//!
//! A finding is `F401 [*] …` with ` --> a.py:1:8` below, or in the concise form a single line.

use super::findings::Findings;
use crate::RunKind;
use crate::report::{OutputReader, OutputReport};
use crate::scan::{self, CodePlace};

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "ruff",
    RunKind::Lint,
    &[
        ".py",
        ".ipynb",
        ".toml:",
        ".md:",
        "Would reformat: ",
        "All checks passed!",
        "formatted",
        "\nFound ",
        "\nWould fix ",
    ],
    read_output,
);

fn read_output(text: &str) -> OutputReport {
    let mut findings = Findings::default();
    let mut above = "";
    let mut is_biome = None;
    for line in text.lines() {
        let place = line.trim_start().strip_prefix("--> ").filter(|_| !above.is_empty());
        if let Some((place, _)) = place.and_then(scan::parse_located_prefix)
            && let Some((rule, message)) = split_rule(above)
            && is_python(place.path)
        {
            findings.add(Some(place), Some(rule), message);
        } else if let Some((place, rest)) = scan::parse_located_prefix(line)
            && let Some((rule, message)) = rest.strip_prefix(": ").and_then(split_rule)
            && is_python(place.path)
        {
            findings.add(Some(place), Some(rule), message);
        } else if let Some(path) = line.strip_prefix("Would reformat: ") {
            let place = CodePlace { path, line: None };
            findings.add(Some(place), Some("unformatted"), "File would be reformatted");
        } else if line == "All checks passed!" || is_formatted(line) {
            findings.good = true;
        } else if let Some(found) =
            line.strip_prefix("Found ").or_else(|| line.strip_prefix("Would fix "))
        {
            // Biome prints the same summary, and draws rules. The text is searched for them only once.
            findings.bad = findings.bad
                || (counts_errors(found)
                    && !above.starts_with("Checked ")
                    && !*is_biome.get_or_insert_with(|| text.contains("━━")));
        } else if is_unformatted(line) {
            findings.bad = true;
        }
        above = line;
    }
    findings.report()
}

/// Returns true if Ruff checks files with this extension.
fn is_python(path: &str) -> bool {
    ["py", "pyi", "pyw", "ipynb", "toml", "md"].iter().any(|kind| scan::has_extension(path, kind))
}

/// Returns true for `4 errors.` and `5 errors (4 fixed, 1 remaining).`, but not if none remains.
fn counts_errors(found: &str) -> bool {
    scan::split_amount(found).is_some_and(|(number, what)| {
        let is_whole = matches!(what, "error." | "errors.") || what.ends_with(" remaining).");
        number > 0 && what.starts_with("error") && is_whole && !what.ends_with(", 0 remaining).")
    })
}

/// Returns true for `2 files would be reformatted, 1 file already formatted`. Black ends its line with a dot.
fn is_unformatted(line: &str) -> bool {
    let would_be = line.ends_with(" would be reformatted")
        || (line.contains(" would be reformatted, ") && line.ends_with(" already formatted"));
    would_be && scan::split_amount(line).is_some()
}

/// Returns true for a line that is only `3 files already formatted`.
fn is_formatted(line: &str) -> bool {
    scan::split_amount(line).is_some_and(|(number, what)| {
        number > 0 && matches!(what, "file already formatted" | "files already formatted")
    })
}

/// Splits rule and message: `F401 [*] …`, or `invalid-syntax: …`.
fn split_rule(text: &str) -> Option<(&str, &str)> {
    let (rule, message) = text.split_once(' ')?;
    let is_code = |rule: &str| {
        let digits = rule.trim_start_matches(|sign: char| sign.is_ascii_uppercase());
        digits.len() < rule.len()
            && !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let named = rule.strip_suffix(':').filter(|name| {
        let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        !name.is_empty()
            && is_name
            && !matches!(*name, "error" | "warning" | "note" | "help" | "info")
    });
    let rule = named.or_else(|| is_code(rule).then_some(rule))?;
    Some((rule, message.strip_prefix("[*] ").unwrap_or(message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn fixed_findings_do_not_fail() {
        let verdict = |text| read_output(text).verdict;
        assert_eq!(verdict("Found 5 errors (5 fixed, 0 remaining).\n"), Verdict::Unknown);
        assert_eq!(verdict("Found 5 errors (4 fixed, 1 remaining).\n"), Verdict::Failed);
        assert_eq!(verdict("3 files already formatted\n"), Verdict::Passed);
        let mixed = "1 file would be reformatted, 3 files already formatted\n";
        assert_eq!(verdict(mixed), Verdict::Failed);
    }

    #[test]
    fn rules_are_codes_or_names() {
        assert_eq!(split_rule("F401 [*] `os` imported"), Some(("F401", "`os` imported")));
        assert_eq!(split_rule("invalid-syntax: x"), Some(("invalid-syntax", "x")));
        for text in ["hello world", "F x", "401 x", ": x", "F401"] {
            assert_eq!(split_rule(text), None, "{text}");
        }
    }
}
