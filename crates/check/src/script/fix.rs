//! Corrections of the answers that a script prints, as edits of its text.
//!
//! An answer is read with the places of its keys and values. The verdict engine judges it with symbols in place of its texts,
//! and its correction is written back with the source of each text. Nothing is proposed if a value that decides is
//! computed, or if the corrected script cannot be read as the correction.

use std::ops::Range;

use rutter_contract::EventName;
use rutter_contract::verdict::{
    AnswerDiagnostic, HookRun, MistakeSeverity, ToolCallEffect, TurnEffect, Verdict, judge_answer,
};
use rutter_contract::version::Contract;
use serde_json::Value;

use self::render::AnswerWriter;
use self::symbols::SymbolicAnswer;
use self::tree::{Dialect, SourceKind, SourceNode, read_tree};
use super::{AnswerLiteral, ScriptContext, ScriptLanguage, ScriptReport, read_script};
use crate::adapt::registered_events;
use crate::text_edit::{TextEdit, apply_edits};

mod decoded;
mod render;
mod symbols;
mod tree;

/// Times that a script is corrected: one edit may make the next possible.
const MAX_PASSES: usize = 4;

/// The corrections of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptFix {
    /// The corrections, in the order of the text.
    pub corrections: Vec<ScriptCorrection>,
    /// The mistakes without a correction.
    pub remarks: Vec<ScriptRemark>,
    /// The corrected text. None if there is nothing to correct.
    pub text: Option<String>,
}

/// A correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptCorrection {
    /// Position of the mistake in the original text.
    pub range: Range<usize>,
    /// The code of the mistake.
    pub code: &'static str,
    /// A description of the mistake.
    pub message: String,
    /// The edits.
    pub edits: Vec<TextEdit>,
}

/// A mistake without a correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptRemark {
    /// Position in the original text.
    pub range: Range<usize>,
    /// The reason why nothing is proposed.
    pub reason: String,
}

/// The correction of one answer.
enum AnswerFix {
    Right,
    Corrected(ScriptCorrection),
    Unsure(String),
}

/// Corrects a script that answers to one of the events.
pub fn fix_script(
    text: &str,
    language: ScriptLanguage,
    events: &[EventName],
    contract: Contract,
) -> ScriptFix {
    let mut fix = fix_once(text, language, events, contract);
    let Some(mut current) = fix.text.clone() else { return fix };
    for _ in 1..MAX_PASSES {
        let next = fix_once(&current, language, events, contract);
        let Some(text) = next.text else { break };
        current = text;
    }
    fix.text = Some(current);
    fix
}

fn fix_once(
    text: &str,
    language: ScriptLanguage,
    events: &[EventName],
    contract: Contract,
) -> ScriptFix {
    let context = ScriptContext { events, ..ScriptContext::default() };
    let report = read_script(text, language, &context);
    let mut fix = ScriptFix::default();
    for index in 0..report.answers.len() {
        let answer = &report.answers[index];
        let found = match choose_event(answer, text, language, events) {
            Some(event) => fix_answer(text, language, &report, index, event, contract),
            None => AnswerFix::Unsure(
                "the script is for several events; --event chooses the one that gets this answer"
                    .to_owned(),
            ),
        };
        match found {
            AnswerFix::Right => {}
            AnswerFix::Corrected(correction) => fix.corrections.push(correction),
            AnswerFix::Unsure(reason) => {
                fix.remarks.push(ScriptRemark { range: answer.range.clone(), reason });
            }
        }
    }
    fix_noise(text, language, &report, &mut fix);
    if let [event] = events {
        fix_exits(&report, text, *event, contract, &mut fix);
    }
    fix.corrections.sort_by_key(|correction| correction.range.start);
    let mut edits: Vec<TextEdit> = Vec::new();
    for edit in fix.corrections.iter().flat_map(|correction| &correction.edits) {
        let overlaps = |known: &TextEdit| {
            edit.range.start < known.range.end && known.range.start < edit.range.end
                || edit.range == known.range
        };
        if !edits.iter().any(overlaps) {
            edits.push(edit.clone());
        }
    }
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    fix.text = (!edits.is_empty()).then(|| apply_edits(text, &edits));
    fix
}

/// Returns the edits that correct an answer of a script, for the linter.
pub(crate) fn answer_edits(
    text: &str,
    language: ScriptLanguage,
    report: &ScriptReport,
    answer: &AnswerLiteral,
    event: EventName,
    contract: Contract,
) -> Option<Vec<TextEdit>> {
    let index = report.answers.iter().position(|own| own == answer)?;
    match fix_answer(text, language, report, index, event, contract) {
        AnswerFix::Corrected(correction) => Some(correction.edits),
        _ => None,
    }
}

/// Returns the event that an answer is for: the only one, or the one that it names.
fn choose_event(
    answer: &AnswerLiteral,
    text: &str,
    language: ScriptLanguage,
    events: &[EventName],
) -> Option<EventName> {
    if let [event] = events {
        return Some(*event);
    }
    let (tree, _) = read_tree(text, answer, language)?;
    let name = tree.get("hookSpecificOutput")?.get("hookEventName")?;
    let SourceKind::Text(Some(name)) = &name.kind else { return None };
    let meant = registered_events(name)?;
    events.iter().copied().find(|event| meant.contains(event))
}

fn fix_answer(
    text: &str,
    language: ScriptLanguage,
    report: &ScriptReport,
    index: usize,
    event: EventName,
    contract: Contract,
) -> AnswerFix {
    let Some(answer) = report.answers.get(index) else { return AnswerFix::Right };
    let Some((tree, dialect)) = read_tree(text, answer, language) else {
        return unreadable_answer(answer, event, contract);
    };
    let symbolic = SymbolicAnswer::new(&tree, event);
    let verdict = judge(&symbolic.value, event, contract);
    let has_last_comma = matches!(dialect, Dialect::Json { has_last_comma: true, .. });
    let Some(mistake) = find_mistake(&verdict, answer) else {
        if !has_last_comma {
            return AnswerFix::Right;
        }
        let value = symbolic.value.clone();
        let mut writer = AnswerWriter::new(text, dialect, &symbolic);
        let written = writer.write_answer(&value, &tree);
        let message = "a comma in front of a closing brace is not JSON".to_owned();
        return match written.filter(|_| answer.has_known_key()) {
            Some(written) => AnswerFix::Corrected(ScriptCorrection {
                range: answer.range.clone(),
                code: "broken-json",
                message,
                edits: vec![TextEdit { range: tree.range, text: written }],
            }),
            None => AnswerFix::Unsure(message),
        };
    };
    if let Some(key) = &symbolic.computed_key {
        return AnswerFix::Unsure(format!("the value of `{key}` is computed; {}", mistake.help));
    }
    let Some(corrected) = &verdict.corrected else {
        return AnswerFix::Unsure(format!("{}; {}", mistake.message, mistake.help));
    };
    let Ok(corrected_value) = serde_json::from_str::<Value>(&corrected.stdout) else {
        return AnswerFix::Unsure(format!("{}; {}", mistake.message, mistake.help));
    };
    let expected = judge(&corrected_value, event, contract);
    let mut value = corrected_value.clone();
    if let (Some(object), Some(hidden)) =
        (value.as_object_mut(), symbolic.value.get("suppressOutput"))
    {
        object.insert("suppressOutput".to_owned(), hidden.clone());
        if !judge(&value, event, contract).dropped.is_empty() {
            value = corrected_value;
        }
    }
    let mut writer = AnswerWriter::new(text, dialect, &symbolic);
    let mut candidates = vec![edit_in_place(&tree, &value, &writer)];
    if symbolic.unknown_text.is_none()
        && let Some(written) = writer.write_answer(&value, &tree)
    {
        candidates.push(vec![TextEdit { range: tree.range.clone(), text: written }]);
    }
    for edits in candidates.into_iter().filter(|edits| !edits.is_empty()) {
        let after = apply_edits(text, &edits);
        let context = ScriptContext { events: &[event], ..ScriptContext::default() };
        let again = read_script(&after, language, &context);
        if again.answers.len() != report.answers.len() {
            continue;
        }
        let Some((tree, _)) = read_tree(&after, &again.answers[index], language) else { continue };
        let changed = SymbolicAnswer::new(&tree, event);
        let verdict = judge(&changed.value, event, contract);
        let is_right = find_mistake(&verdict, answer).is_none() && verdict.dropped.is_empty();
        if is_right && changed.computed_key.is_none() && effect(&verdict) == effect(&expected) {
            return AnswerFix::Corrected(ScriptCorrection {
                range: answer.range.clone(),
                code: mistake.code,
                message: mistake.message.clone(),
                edits,
            });
        }
    }
    if let Some(key) = symbolic.unknown_text.as_deref().or_else(|| writer.lost_key()) {
        return AnswerFix::Unsure(format!(
            "{}; the corrected answer has no place for `{key}`: {}",
            mistake.message, mistake.help
        ));
    }
    AnswerFix::Unsure(format!(
        "{}; the correction cannot be written into this line with certainty: {}",
        mistake.message, mistake.help
    ))
}

/// Judges text that cannot be read as an object. Only a mistake that is certain is worth a remark.
fn unreadable_answer(answer: &AnswerLiteral, event: EventName, contract: Contract) -> AnswerFix {
    let Some(stdout) = answer.stdout.as_deref() else { return AnswerFix::Right };
    let verdict = judge_answer(&HookRun { event, stdout, stderr: "", exit: 0 }, contract);
    match find_mistake(&verdict, answer) {
        Some(mistake) => AnswerFix::Unsure(format!("{}; {}", mistake.message, mistake.help)),
        None => AnswerFix::Right,
    }
}

fn judge(value: &Value, event: EventName, contract: Contract) -> Verdict {
    let stdout = value.to_string();
    judge_answer(&HookRun { event, stdout: &stdout, stderr: "", exit: 0 }, contract)
}

/// Returns the first mistake that is about the form of the answer.
fn find_mistake<'a>(verdict: &'a Verdict, answer: &AnswerLiteral) -> Option<&'a AnswerDiagnostic> {
    const OTHER_CODES: [&str; 4] = ["no-reason", "too-long", "context-unread", "newer-key"];
    let is_about_form = |found: &&AnswerDiagnostic| {
        found.severity != MistakeSeverity::Info
            && !OTHER_CODES.contains(&found.code)
            && (answer.has_known_key() || found.code != "unknown-key")
    };
    let mut found: Vec<&AnswerDiagnostic> =
        verdict.diagnostics.iter().filter(is_about_form).collect();
    found.sort_by_key(|found| found.severity != MistakeSeverity::Error);
    found.first().copied()
}

/// The parts of a verdict that a correction must have in common with the corrected answer.
fn effect(verdict: &Verdict) -> (Option<ToolCallEffect>, TurnEffect, bool, usize, usize) {
    let (model, user) = (verdict.to_model.len(), verdict.to_user.len());
    (verdict.tool, verdict.turn, verdict.is_prevented, model, user)
}

/// Returns edits that only change names and values: they keep the rest of the answer as it is.
fn edit_in_place(tree: &SourceNode, value: &Value, writer: &AnswerWriter<'_>) -> Vec<TextEdit> {
    let mut edits = Vec::new();
    let mut replace = |node: Option<&SourceNode>, value: Option<&Value>| {
        let (Some(node), Some(Value::String(text))) = (node, value) else { return };
        if matches!(&node.kind, SourceKind::Text(Some(old)) if old != text) {
            edits.push(TextEdit { range: node.range.clone(), text: writer.write_literal(text) });
        }
    };
    replace(tree.get("decision"), value.get("decision"));
    if let (Some(output), Some(own)) =
        (tree.get("hookSpecificOutput"), value.get("hookSpecificOutput"))
    {
        replace(output.get("hookEventName"), own.get("hookEventName"));
        replace(output.get("permissionDecision"), own.get("permissionDecision"));
        if let (None, Some(first), Some(name)) = (
            output.get("hookEventName"),
            output.members().first(),
            own.get("hookEventName").and_then(Value::as_str),
        ) {
            let source = writer.source;
            let behind = source.get(first.key_range.end..first.node.range.start);
            let has_space = behind.is_none_or(|behind| behind.contains(' ') || behind.is_empty());
            let head = source.get(output.range.start..first.key_range.start).unwrap_or_default();
            let gap = match head.rfind('\n') {
                Some(line) => format!(",{}", &head[line..]),
                None if has_space => ", ".to_owned(),
                None => ",".to_owned(),
            };
            let colon = if has_space { ": " } else { ":" };
            let key = writer.write_key("hookEventName");
            let text = format!("{key}{colon}{}{gap}", writer.write_literal(name));
            let at = first.key_range.start;
            edits.push(TextEdit { range: at..at, text });
        }
    }
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

/// Sends plain text in front of an answer to stderr.
fn fix_noise(text: &str, language: ScriptLanguage, report: &ScriptReport, fix: &mut ScriptFix) {
    let message = "text before the JSON makes all of it plain text".to_owned();
    for noise in &report.noise {
        let Some(statement) = text.get(noise.range.clone()) else { continue };
        let (start, end) = (noise.range.start, noise.range.end);
        let edits = match language {
            ScriptLanguage::Command | ScriptLanguage::Sh | ScriptLanguage::Bash => {
                let end = start + statement.trim_end().len();
                vec![TextEdit { range: end..end, text: " >&2".to_owned() }]
            }
            ScriptLanguage::Python => {
                let imports = text.lines().any(|line| {
                    line.strip_prefix("import ")
                        .is_some_and(|names| names.split(',').any(|name| name.trim() == "sys"))
                });
                let at = end - 1;
                if imports && statement.ends_with(')') {
                    vec![TextEdit { range: at..at, text: ", file=sys.stderr".to_owned() }]
                } else {
                    Vec::new()
                }
            }
            ScriptLanguage::JavaScript => {
                let pairs =
                    [("console.log", "console.error"), ("process.stdout", "process.stderr")];
                let pair = pairs.iter().find(|(old, _)| statement.starts_with(old));
                let edit = pair.map(|(old, new)| TextEdit {
                    range: start..start + old.len(),
                    text: (*new).to_owned(),
                });
                edit.into_iter().collect()
            }
        };
        let (range, code) = (noise.range.clone(), "text-before-json");
        if edits.is_empty() {
            let reason = format!("{message}; print it to stderr");
            fix.remarks.push(ScriptRemark { range, reason });
        } else if !fix.corrections.iter().any(|known| known.range == range) {
            fix.corrections.push(ScriptCorrection { range, code, message: message.clone(), edits });
        }
    }
}

/// Changes exits with 1 that are meant to block.
fn fix_exits(
    report: &ScriptReport,
    text: &str,
    event: EventName,
    contract: Contract,
    fix: &mut ScriptFix,
) {
    let run = HookRun { event, stdout: "", stderr: "no", exit: 2 };
    let verdict = judge_answer(&run, contract);
    let blocks = verdict.tool == Some(ToolCallEffect::Blocked)
        || matches!(verdict.turn, TurnEffect::Erased | TurnEffect::KeptGoing)
        || verdict.is_prevented;
    if !blocks {
        return;
    }
    for exit in report.exits.failed_blocks() {
        let Some(at) = text.get(exit.range.clone()).and_then(|own| own.rfind('1')) else {
            continue;
        };
        let at = exit.range.start + at;
        fix.corrections.push(ScriptCorrection {
            range: exit.range.clone(),
            code: "exit-1",
            message: "exit 1 does not block".to_owned(),
            edits: vec![TextEdit { range: at..at + 1, text: "2".to_owned() }],
        });
    }
}

#[cfg(test)]
mod tests;
