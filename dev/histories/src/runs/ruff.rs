//! The output of `ruff check`.

use super::{
    CheckSelection, CheckTool, FailedCheck, LintFinding, RunConditions, RunReport, RunStyle,
};

/// Lines of the file that ruff shows on either side of a finding.
const CONTEXT_LINES: usize = 2;

pub(super) fn execute(
    selection: &CheckSelection,
    style: RunStyle,
    conditions: &RunConditions<'_>,
) -> RunReport {
    let mut report = RunReport::default();
    let findings = conditions.lint_findings(CheckTool::Ruff, selection, &mut report);
    for LintFinding { check, file, line, column, failure, .. } in &findings {
        let title = format!("{} [*] {}", failure.error, failure.message[0]);
        let place = format!("{}:{line}:{column}", conditions.shown(file));
        if style.short {
            report.out(format!("{place}: {title}"));
        } else {
            let text = conditions.state.tree.text(file).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            block(&mut report, &title, &place, &lines, *line, *column, &failure.mark);
        }
        let shown_by = vec![if style.short {
            vec![format!("{place}: {title}")]
        } else {
            vec![title.clone(), place]
        }];
        report.failed.push(FailedCheck { check: *check, shown_by, error: title });
    }
    let found = findings.len();
    if found == 0 {
        report.out("All checks passed!");
        report.summary.push("All checks passed!".to_owned());
        return report;
    }
    let plural = if found == 1 { "" } else { "s" };
    report.out(format!("Found {found} error{plural}."));
    report.out(format!("[*] {found} fixable with `--fix`."));
    report.exit = 1;
    report
}

fn block(
    report: &mut RunReport,
    title: &str,
    place: &str,
    lines: &[&str],
    at: usize,
    column: usize,
    mark: &str,
) {
    let mut first = at.saturating_sub(CONTEXT_LINES).max(1);
    let mut last = (at + CONTEXT_LINES).min(lines.len());
    while first < at && lines[first - 1].is_empty() {
        first += 1;
    }
    while last > at && lines[last - 1].is_empty() {
        last -= 1;
    }
    let width = last.to_string().len();
    let gutter = " ".repeat(width + 1);
    let numbered = |number: usize, text: &str| {
        let line = format!("{number:>width$} | {text}");
        line.trim_end().to_owned()
    };
    report.out(title);
    report.out(format!("{}--> {place}", " ".repeat(width)));
    report.out(format!("{gutter}|"));
    for number in first..=last {
        report.out(numbered(number, lines[number - 1]));
        if number == at {
            report.out(format!("{gutter}| {}{}", " ".repeat(column - 1), "^".repeat(mark.len())));
        }
    }
    report.out(format!("{gutter}|"));
    report.out(format!("help: Remove unused import: `{mark}`"));
    report.out(format!("{gutter}|"));
    report.out(numbered(at - 1, lines[at - 2]));
    report.out(format!("{} - {}", " ".repeat(width), lines[at - 1]));
    report.out(numbered(at, lines[at]));
    report.out(format!("{gutter}|"));
    report.out("");
}
