//! Findings as text with code frames.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use rutter_check::lint::{LintFile, LintFinding, Severity};
use rutter_memory::quote::PathLine as _;
use rutter_redact::redact;

use super::{LintRun, position};
use crate::CommandResult;
use crate::ui::{Ui, one_line};

/// Longest line that is shown in a frame, in bytes.
const MAX_FRAME_LINE_BYTES: usize = 400;

/// Prints the findings and a summary.
pub(super) fn print_text(run: &LintRun<'_>, ui: &mut Ui<'_>) -> CommandResult {
    let colours = ui.screen.is_some_and(|screen| screen.colours);
    let renderer = if colours { Renderer::styled() } else { Renderer::plain() };
    for (finding, file) in run.located() {
        writeln!(ui.out, "{}\n", render_finding(finding, file, &renderer))?;
    }
    writeln!(ui.out, "{}", run.summary())?;
    let fixable = run.count_fixable();
    if fixable > 0 {
        writeln!(ui.out, "`rutter contract lint --fix` corrects {fixable} of them")?;
    }
    Ok(())
}

fn render_finding(finding: &LintFinding, file: &LintFile, renderer: &Renderer) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let [message, help] =
        [&finding.message, &finding.help].map(|text| redact(&one_line(text)).into_owned());
    let path = file.path.to_line();
    let (line, column) = position(finding, file);
    let mut group = Group::with_title(level.primary_title(&message).id(finding.rule.id));
    group = match framed_lines(finding, file) {
        Some((lines, range)) => group.element(
            Snippet::source(lines)
                .path(&path)
                .line_start(line)
                .annotation(AnnotationKind::Primary.span(range)),
        ),
        None => group.element(Origin::path(&path).line(line).char_column(column)),
    };
    group = group.element(Level::HELP.message(&help));
    renderer.render(&[group])
}

/// Returns the first line of a finding and the range in it. Returns None for a line with a secret, a control character
/// or too many characters, and for a finding about the file as a whole.
fn framed_lines<'a>(finding: &LintFinding, file: &'a LintFile) -> Option<(&'a str, Range<usize>)> {
    let Range { start, end } = finding.range.clone();
    let text = file.text.as_str();
    let line_start = text.get(..start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text.get(start..)?.find('\n').map_or(text.len(), |newline| start + newline);
    let line = text.get(line_start..line_end)?.trim_end_matches('\r');
    let is_shown = !line.is_empty()
        && end > start
        && line.len() <= MAX_FRAME_LINE_BYTES
        && !line.chars().any(|c| c.is_control() && c != '\t')
        && redact(line) == line;
    let range = start - line_start..end.min(line_start + line.len()) - line_start;
    is_shown.then_some((line, range))
}
