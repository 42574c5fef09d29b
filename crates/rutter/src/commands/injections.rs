//! `rutter injections`: lists the rows that agents were shown, and their effect.

use rutter_memory::injection::{Injection, InjectionSource, ShownEffect};
use rutter_memory::log::NearMiss;
use rutter_memory::store::{InjectionFilter, InjectionWithText};
use rutter_memory::{Clean, Id, Store, Time};
use serde::Serialize;

use crate::CommandResult;
use crate::cli::Format;
use crate::cli::steer::InjectionsArgs;
use crate::environment::Environment;
use crate::ui::{Ui, first_line};

/// An injection in the JSON output.
#[derive(Serialize)]
struct InjectionJson<'a> {
    /// The short id of the row.
    short: String,
    #[serde(flatten)]
    shown: &'a InjectionWithText,
}

pub(crate) fn run(args: &InjectionsArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Includes injections that hooks could only write to the spool.
    if !store.refresh_effects(env.now)? {
        ui.print_note(super::values::STALE)?;
    }
    if args.near_misses {
        return print_near_misses(&store, args, ui);
    }
    let session = match &args.session {
        Some(name) => Some(store.session_named(name)?.session.client),
        None => None,
    };
    let row = args.row.as_ref().map(|row| store.find_shown_row(row)).transpose()?;
    // A named session or row is looked up in all projects.
    let anywhere = args.all || session.is_some() || row.is_some();
    let project = if anywhere { None } else { store.project(&env.owner()?.place)? };
    let found = if project.is_none() && !anywhere {
        Vec::new()
    } else {
        let project = project.map(|project| project.id);
        store.injections(&InjectionFilter { session, row, project, limit: Some(args.limit) })?
    };
    if args.format.chosen() == Format::Json {
        let shown =
            found.iter().map(|shown| InjectionJson { short: shown.injection.row.short(), shown });
        return ui.print_json(&shown.collect::<Vec<_>>());
    }
    if found.is_empty() {
        let hint = if anywhere {
            ""
        } else {
            " in this project; add `--all` to list other \
                                              projects"
        };
        return Ok(ui.print_note(&format!("nothing was shown{hint}"))?);
    }
    let rows = found.iter().map(|shown| {
        let Injection { at, event, agent, effect, row, .. } = &shown.injection;
        [
            at.to_string(),
            first_line(event),
            agent.as_ref().map_or_else(|| "main".to_owned(), |agent| first_line(agent)),
            format_confidence(&shown.injection),
            effect.map_or("-", ShownEffect::as_str).to_owned(),
            row.short(),
            row_kind(shown).to_owned(),
            row_text(shown),
        ]
    });
    let head = ["WHEN", "EVENT", "AGENT", "LIKELY", "EFFECT", "ROW", "KIND", "TEXT"];
    Ok(ui.print_table(head, rows)?)
}

/// A near miss in the JSON output.
#[derive(Serialize)]
struct NearMissJson {
    at: Time,
    row: Id,
    short: String,
    confidence: f64,
    kind: InjectionSource,
    text: Clean,
}

/// Prints the near misses whose rows still exist.
fn print_near_misses(store: &Store, args: &InjectionsArgs, ui: &mut Ui<'_>) -> CommandResult {
    let mut found = Vec::new();
    for missed in store.near_misses()?.into_iter().rev() {
        if found.len() < args.limit
            && let Some((kind, text)) = store.row_description(missed.row)?
        {
            let NearMiss { at, row, confidence, .. } = missed;
            found.push(NearMissJson { at, row, short: row.short(), confidence, kind, text });
        }
    }
    if args.format.chosen() == Format::Json {
        return ui.print_json(&found);
    }
    if found.is_empty() {
        return Ok(ui.print_note("no row was just below the floor")?);
    }
    let rows = found.iter().map(|missed| {
        [
            missed.at.to_string(),
            format!("{:.0} %", missed.confidence * 100.0),
            missed.short.clone(),
            missed.kind.as_str().to_owned(),
            first_line(&missed.text),
        ]
    });
    Ok(ui.print_table(["WHEN", "LIKELY", "ROW", "KIND", "TEXT"], rows)?)
}

/// Returns the confidence as a percentage, or "in short" for a one-line reference.
fn format_confidence(injection: &Injection) -> String {
    if injection.brief {
        "in short".to_owned()
    } else {
        format!("{:.0} %", injection.score * 100.0)
    }
}

fn row_kind(shown: &InjectionWithText) -> &'static str {
    shown.kind.map_or("gone", |kind| kind.as_str())
}

/// Returns the current first line of the row, which can differ from the text that was shown.
fn row_text(shown: &InjectionWithText) -> String {
    shown.text.as_ref().map_or_else(String::new, |text| first_line(text))
}

/// Formats an injection as one line, for a session that is already named.
pub(super) fn format_injection(shown: &InjectionWithText) -> String {
    let Injection { at, event, agent, effect, row, brief, .. } = &shown.injection;
    let to = agent.as_ref().map_or_else(String::new, |agent| format!(" to {}", first_line(agent)));
    let came = effect.map_or_else(String::new, |effect| format!(", {effect}"));
    let (event, id, what) = (first_line(event), row.short(), row_kind(shown));
    let how = format_confidence(&shown.injection) + if *brief { "" } else { " likely" };
    format!("{at} {event}{to}: {id} {what}, {how}{came} {}", row_text(shown)).trim_end().to_owned()
}
