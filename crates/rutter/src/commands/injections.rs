//! `rutter injections`: what agents were shown, and what came of it.

use rutter_memory::injection::{Effect, Injection};
use rutter_memory::store::{InjectionFilter, WasShown};
use serde::Serialize;

use crate::Failure;
use crate::cli::Format;
use crate::cli::steer::InjectionsArgs;
use crate::environment::Environment;
use crate::ui::{Ui, first_line};

/// What was shown, for programs.
#[derive(Serialize)]
struct Shown<'a> {
    /// What people call the row.
    short: String,
    #[serde(flatten)]
    shown: &'a WasShown,
}

pub(crate) fn run(
    args: &InjectionsArgs,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> Result<(), Failure> {
    let mut store = env.store(ui)?;
    // What hooks could not write in time was shown all the same.
    if !store.freshen_shown(env.now)? {
        ui.remark(super::values::STALE)?;
    }
    let session = match &args.session {
        Some(name) => Some(store.session_named(name)?.session.client),
        None => None,
    };
    let row = args.row.as_ref().map(|row| store.shown_row(row)).transpose()?;
    // Whoever names a session or a row means it wherever it is.
    let anywhere = args.all || session.is_some() || row.is_some();
    let project = if anywhere { None } else { store.project(&env.owner()?.place)? };
    let found = if project.is_none() && !anywhere {
        Vec::new()
    } else {
        let project = project.map(|project| project.id);
        store.injections(&InjectionFilter { session, row, project, limit: Some(args.limit) })?
    };
    if args.format.chosen() == Format::Json {
        let shown = found.iter().map(|shown| Shown { short: shown.injection.row.short(), shown });
        return ui.json(&shown.collect::<Vec<_>>());
    }
    if found.is_empty() {
        let hint = if anywhere { "" } else { " here; `--all` lists that of other projects" };
        return Ok(ui.remark(&format!("nothing was shown{hint}"))?);
    }
    let rows = found.iter().map(|shown| {
        let Injection { at, event, agent, effect, row, .. } = &shown.injection;
        [
            at.to_string(),
            first_line(event),
            agent.as_ref().map_or_else(|| "main".to_owned(), |agent| first_line(agent)),
            likely(&shown.injection),
            effect.map_or("-", Effect::as_str).to_owned(),
            row.short(),
            kind(shown).to_owned(),
            text(shown),
        ]
    });
    let head = ["WHEN", "EVENT", "AGENT", "LIKELY", "EFFECT", "ROW", "KIND", "TEXT"];
    Ok(ui.table(head, rows)?)
}

/// How likely it was meant; of a one-line reference, that it was one.
fn likely(injection: &Injection) -> String {
    if injection.brief {
        "in short".to_owned()
    } else {
        format!("{:.0} %", injection.score * 100.0)
    }
}

fn kind(shown: &WasShown) -> &'static str {
    shown.kind.map_or("gone", |kind| kind.as_str())
}

/// What the row says today, which need not be what was shown of it.
fn text(shown: &WasShown) -> String {
    shown.text.as_ref().map_or_else(String::new, |text| first_line(text))
}

/// In one line, where the session is known.
pub(super) fn line(shown: &WasShown) -> String {
    let Injection { at, event, agent, effect, row, brief, .. } = &shown.injection;
    let to = agent.as_ref().map_or_else(String::new, |agent| format!(" to {}", first_line(agent)));
    let came = effect.map_or_else(String::new, |effect| format!(", {effect}"));
    let (event, id, what) = (first_line(event), row.short(), kind(shown));
    let how = likely(&shown.injection) + if *brief { "" } else { " likely" };
    format!("{at} {event}{to}: {id} {what}, {how}{came} {}", text(shown)).trim_end().to_owned()
}
