//! Findings as JSON, as SARIF, and as commands of GitHub Actions.

use std::fmt::Write as _;
use std::path::Path;

use rutter_check::lint::{LintFile, LintFinding, LintRule, RULES, Severity};
use rutter_redact::redact;
use serde_json::{Value, json};

use super::{LintRun, position};
use crate::CommandResult;
use crate::ui::{Ui, one_line};

/// Version of the JSON report. It changes if a field is removed or gets another meaning.
const REPORT_VERSION: u32 = 1;

/// Prints the findings as one JSON object.
pub(super) fn print_json(run: &LintRun<'_>, ui: &mut Ui<'_>) -> CommandResult {
    let findings: Vec<Value> =
        run.located().map(|(finding, file)| finding_json(finding, file)).collect();
    let files: Vec<Value> = (run.config_files())
        .map(|file| {
            json!({
                "file": file.path, "source": file.whose, "state": file.state,
                "hooks": file.handlers().count(),
            })
        })
        .collect();
    ui.print_json(&json!({
        "version": REPORT_VERSION,
        "client": run.contract.version().to_string(),
        "files": files,
        "findings": findings,
    }))
}

fn finding_json(finding: &LintFinding, file: &LintFile) -> Value {
    let (line, column) = position(finding, file);
    let (end_line, end_column) = file.line_and_column(finding.range.end);
    // A redacted edit would destroy the file, and one with a secret must not be printed.
    let fix = finding.fix.as_ref();
    let fix = fix.filter(|fix| fix.edits.iter().all(|edit| redact(&edit.text) == edit.text));
    let edits = fix.map(|fix| {
        let edits = fix.edits.iter().map(
            |edit| json!({ "start": edit.range.start, "end": edit.range.end, "text": edit.text }),
        );
        edits.collect::<Vec<_>>()
    });
    json!({
        "rule": finding.rule.id,
        "severity": finding.severity,
        "file": file.path,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "message": redact(&finding.message),
        "help": redact(&finding.help),
        "voids_file": finding.voids_file,
        "fix": edits,
    })
}

/// Prints the findings as a SARIF 2.1.0 log.
pub(super) fn print_sarif(run: &LintRun<'_>, folder: &Path, ui: &mut Ui<'_>) -> CommandResult {
    let results: Vec<Value> = (run.located())
        .map(|(finding, file)| {
            let (line, column) = position(finding, file);
            let (end_line, end_column) = file.line_and_column(finding.range.end);
            json!({
                "ruleId": finding.rule.id,
                "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule.id),
                "level": sarif_level(finding.severity),
                "message": { "text": redact(&format!("{}. Help: {}", finding.message, finding.help)) },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": file_uri(&file.path, folder) },
                    "region": {
                        "startLine": line, "startColumn": column,
                        "endLine": end_line, "endColumn": end_column,
                    },
                } }],
            })
        })
        .collect();
    let rules: Vec<Value> = RULES.iter().map(|rule| sarif_rule(rule)).collect();
    ui.print_json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rutter", "version": env!("CARGO_PKG_VERSION"), "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

fn sarif_rule(rule: &LintRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary() },
        "help": { "text": rule.page(), "markdown": rule.page() },
        "defaultConfiguration": { "level": sarif_level(rule.severity) },
    })
}

const fn sarif_level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// Returns the path from the folder, or the whole path of a file elsewhere, as a URI.
fn file_uri(path: &Path, folder: &Path) -> String {
    let (start, path) = match path.strip_prefix(folder) {
        Ok(inside) => ("", inside),
        Err(_) if path.is_absolute() => ("file://", path),
        Err(_) => ("", path),
    };
    let mut uri = start.to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => {
                uri.push(char::from(byte));
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Prints a command of GitHub Actions for each finding.
pub(super) fn print_github(run: &LintRun<'_>, folder: &Path, ui: &mut Ui<'_>) -> CommandResult {
    for (finding, file) in run.located() {
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let (line, column) = position(finding, file);
        let path = file.path.strip_prefix(folder).unwrap_or(&file.path).to_string_lossy();
        let message = one_line(&format!("{}. Help: {}", finding.message, finding.help));
        writeln!(
            ui.out,
            "::{level} file={},line={line},col={column},title={}::{}",
            escape_property(&path),
            finding.rule.id,
            escape_data(&redact(&message))
        )?;
    }
    Ok(writeln!(ui.out, "{}", run.summary())?)
}

fn escape_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escape_property(text: &str) -> String {
    escape_data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_and_properties_are_escaped() {
        let folder = Path::new("/shop");
        assert_eq!(file_uri(Path::new("/shop/a b/ä.json"), folder), "a%20b/%C3%A4.json");
        assert_eq!(file_uri(Path::new("/etc/x.json"), folder), "file:///etc/x.json");
        assert_eq!(escape_property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }
}
