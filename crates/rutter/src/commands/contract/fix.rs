//! `rutter contract fix`: corrects the answers that a hook script prints, in the script itself.

use std::ops::Range;

use rutter_check::script::{
    ScriptFix, ScriptLanguage, find_meant_events, fix_script, is_for_other_programs,
};
use rutter_check::settings::line_and_column;
use rutter_contract::EventName;
use rutter_contract::table::event_spec;
use rutter_contract::version::Contract;
use rutter_memory::quote::PathLine as _;
use serde::Serialize;

use crate::cli::fix::FixArgs;
use crate::install::{FileChange, FileContents};
use crate::ui::{Ui, format_count, one_line};
use crate::{CommandError, CommandResult};

/// Largest script that is read.
const MAX_SCRIPT_BYTES: usize = 1024 * 1024;

/// The JSON form.
#[derive(Debug, Serialize)]
struct FixReport<'a> {
    client: String,
    file: String,
    events: &'a [EventName],
    corrections: Vec<LineRemark<'a>>,
    uncorrected: Vec<LineRemark<'a>>,
    /// The corrected script. None if there is nothing to correct.
    text: Option<&'a str>,
    is_written: bool,
}

/// A mistake and its line.
#[derive(Debug, Serialize)]
struct LineRemark<'a> {
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    message: &'a str,
}

pub(crate) fn run(args: &FixArgs, ui: &mut Ui<'_>) -> CommandResult {
    let contract = super::contract_for(&args.client, ui)?;
    let name = args.file.to_line();
    let contents = FileContents::load(&args.file)?;
    if contents.bytes().is_none() {
        return Err(CommandError::Usage(format!("{name} does not exist; give a hook script")));
    }
    let refused = |what: &str| CommandError::Usage(format!("{name} {what}; give a hook script"));
    let source = contents.decode().map_err(|_| refused("is not UTF-8"))?;
    if source.body.len() > MAX_SCRIPT_BYTES {
        return Err(refused("is too long"));
    }
    let text = source.body.replace("\r\n", "\n");
    let has_returns = text.len() < source.body.len();
    if has_returns && text.matches('\n').count() != source.body.matches("\r\n").count() {
        return Err(refused("has two kinds of line ends"));
    }
    let language = ScriptLanguage::detect(&args.file, &text).ok_or_else(|| {
        refused("is not a script in shell, Python, JavaScript or TypeScript, as far as its shebang and extension say")
    })?;
    let events = find_events(args, &text, &name, contract)?;
    let fix = fix_script(&text, language, &events, contract);
    let change = fix.text.as_ref().map(|after| {
        let after = if has_returns { after.replace('\n', "\r\n") } else { after.clone() };
        source.encode(&after)
    });
    let change = change.map(|after| {
        FileContents::load(&args.file).map(|contents| FileChange::new(contents, Some(after)))
    });
    let change = change.transpose()?;
    if let Some(change) = change.as_ref().filter(|_| args.write) {
        change.apply()?;
    }
    if args.json {
        let report = FixReport {
            client: contract.version().to_string(),
            file: name,
            events: &events,
            corrections: corrections(&fix, &text),
            uncorrected: remarks(&fix, &text),
            text: fix.text.as_deref(),
            is_written: args.write && change.is_some(),
        };
        ui.print_json(&report)?;
    } else {
        print_fix(args, &fix, &text, &events, change.as_ref(), ui)?;
    }
    let is_left = !fix.remarks.is_empty() || (fix.text.is_some() && !args.write);
    if is_left { Err(CommandError::Findings) } else { Ok(()) }
}

/// Returns the given event, or those that the script names.
fn find_events(
    args: &FixArgs,
    text: &str,
    name: &str,
    contract: Contract,
) -> CommandResult<Vec<EventName>> {
    let Some(event) = args.event else {
        let events = find_meant_events(text);
        if events.is_empty() {
            return Err(CommandError::Usage(format!(
                "{name} names no event; add --event with the event on which it is registered"
            )));
        }
        if is_for_other_programs(text) {
            return Err(CommandError::Usage(format!(
                "{name} names another program, whose answers may have another form; add --event with the event on which Claude Code runs it"
            )));
        }
        return Ok(events);
    };
    let spec = event_spec(event);
    if spec.is_at(contract) {
        Ok(vec![event])
    } else {
        Err(super::missing_event_failure(spec, contract))
    }
}

fn print_fix(
    args: &FixArgs,
    fix: &ScriptFix,
    text: &str,
    events: &[EventName],
    change: Option<&FileChange>,
    ui: &mut Ui<'_>,
) -> CommandResult {
    if args.event.is_none() {
        let names: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
        let names = names.join(", ");
        ui.print_note(&format!("for {names}, which the script names; --event chooses another"))?;
    }
    if let Some(change) = change.filter(|_| !args.write) {
        change.print_diff(ui)?;
        // The diff comes before the remarks, which go to stderr.
        ui.out.flush()?;
    }
    let name = args.file.to_line();
    for LineRemark { line, code, message } in corrections(fix, text) {
        let code = code.unwrap_or_default();
        writeln!(ui.err, "{name}:{line}: {code}: {}", one_line(message))?;
    }
    for LineRemark { line, message, .. } in remarks(fix, text) {
        writeln!(ui.err, "{name}:{line}: not corrected: {}", one_line(message))?;
    }
    let count = fix.corrections.len() as u64;
    match (change.is_some(), args.write) {
        (true, true) => writeln!(ui.err, "corrected {name}")?,
        (true, false) => {
            writeln!(
                ui.err,
                "{} in {name}; --write applies it",
                format_count(count, "correction")
            )?;
        }
        (false, _) if fix.remarks.is_empty() => {
            ui.print_note("no literal answer in this script has a mistake")?;
        }
        (false, _) => {}
    }
    Ok(())
}

fn line_of(text: &str, range: &Range<usize>) -> usize {
    line_and_column(text, range.start).0
}

fn corrections<'a>(fix: &'a ScriptFix, text: &str) -> Vec<LineRemark<'a>> {
    let all = fix.corrections.iter().map(|correction| LineRemark {
        line: line_of(text, &correction.range),
        code: Some(correction.code),
        message: &correction.message,
    });
    all.collect()
}

fn remarks<'a>(fix: &'a ScriptFix, text: &str) -> Vec<LineRemark<'a>> {
    let all = fix.remarks.iter().map(|remark| LineRemark {
        line: line_of(text, &remark.range),
        code: None,
        message: &remark.reason,
    });
    all.collect()
}
