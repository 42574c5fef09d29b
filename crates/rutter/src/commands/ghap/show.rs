//! Text and JSON output of GHAPs.

use rutter_memory::Store;
use rutter_memory::StoreError;
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::Outcome;
use rutter_memory::store::ResolvedGhap;
use serde::Serialize;

use crate::CommandResult;
use crate::cli::Format;
use crate::environment::Environment;
use crate::ui::{Ui, first_line};

/// A GHAP with its short id, state and origin.
#[derive(Serialize)]
struct GhapOutput<'a> {
    /// The short id.
    short: String,
    /// True if the GHAP is active and its session is over.
    orphaned: bool,
    /// A description of the origin.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    #[serde(flatten)]
    ghap: &'a Ghap,
}

impl<'a> GhapOutput<'a> {
    fn new(ghap: &'a Ghap, store: &Store, env: &Environment) -> Result<Self, StoreError> {
        let origin = store.origin(ghap.id)?.map(|origin| origin.describe(env.now));
        let orphaned = store.is_orphaned(ghap, env.now)?;
        Ok(Self { short: ghap.id.short(), orphaned, origin, ghap })
    }

    fn state(&self) -> &'static str {
        if self.orphaned { "orphaned" } else { self.ghap.status.as_str() }
    }
}

/// Prints a GHAP with its origin.
pub(in crate::commands) fn print_with_origin(
    ghap: &Ghap,
    store: &Store,
    format: Format,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    print_ghap(ghap, store, format, env, ui)?;
    let origin = crate::commands::show::describe_origin(ghap.id, store, env)?;
    match origin.filter(|_| format == Format::Text) {
        Some(origin) => Ok(writeln!(ui.out, "  {:<11} {origin}", "origin")?),
        None => Ok(()),
    }
}

pub(in crate::commands) fn print_ghap(
    ghap: &Ghap,
    store: &Store,
    format: Format,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let shown = GhapOutput::new(ghap, store, env)?;
    match format {
        Format::Json => ui.print_json(&shown),
        Format::Text => print_text(&shown, ui),
    }
}

pub(super) fn print_resolved(
    resolved: &ResolvedGhap,
    store: &Store,
    format: Format,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    print_ghap(&resolved.ghap, store, format, env, ui)?;
    let evidence = resolved.ghap.resolution.as_ref().and_then(|resolution| resolution.evidence);
    if let (Some(evidence), Some(Outcome { id, verdict, command, .. })) =
        (evidence, &resolved.outcome)
        && !evidence.supports
    {
        ui.print_note(&format!(
            "the last run contradicts this: `{}` {verdict} ({}); both are stored",
            first_line(command),
            id.short()
        ))?;
    }
    Ok(())
}

pub(super) fn print_list(
    ghaps: &[Ghap],
    store: &Store,
    format: Format,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let shown = ghaps
        .iter()
        .map(|ghap| GhapOutput::new(ghap, store, env))
        .collect::<Result<Vec<_>, _>>()?;
    if format == Format::Json {
        return ui.print_json(&shown);
    }
    if shown.is_empty() {
        return Ok(ui.print_note("there are no GHAPs; `rutter ghap start` starts one")?);
    }
    let rows = shown.iter().map(|shown| {
        [
            shown.short.clone(),
            shown.state().to_owned(),
            shown
                .ghap
                .resolution
                .as_ref()
                .map_or("-", |resolution| resolution.tier.as_str())
                .to_owned(),
            shown.ghap.domain.to_string(),
            shown.ghap.created.to_string(),
            first_line(&shown.ghap.goal),
        ]
    });
    Ok(ui.print_table(["ID", "STATUS", "TIER", "DOMAIN", "STARTED", "GOAL"], rows)?)
}

fn print_text(shown: &GhapOutput<'_>, ui: &mut Ui<'_>) -> CommandResult {
    let ghap = shown.ghap;
    writeln!(
        ui.out,
        "{} {}, {} by {}, started {}",
        shown.short,
        shown.state(),
        ghap.domain,
        ghap.strategy,
        ghap.created
    )?;
    let mut lines: Vec<(&str, String)> = vec![
        ("goal", ghap.goal.to_string()),
        ("hypothesis", ghap.hypothesis.to_string()),
        ("action", ghap.action.to_string()),
        ("prediction", ghap.prediction.to_string()),
    ];
    let expects = match (&ghap.target, ghap.testable) {
        (Some(target), _) => format!("{} of `{target}`", ghap.expects),
        (None, true) => format!("{} of a run", ghap.expects),
        (None, false) => "no result that a run can show".to_owned(),
    };
    lines.push(("expects", expects));
    lines.extend(ghap.confidence.map(|confidence| ("confidence", confidence.to_string())));
    lines.extend(ghap.revisions.iter().map(|revision| {
        (
            "before",
            format!("{} / {} / {}", revision.hypothesis, revision.action, revision.prediction),
        )
    }));
    lines.extend(ghap.notes.iter().map(|note| ("note", note.text.to_string())));
    if let Some(resolution) = &ghap.resolution {
        lines.push(("result", resolution.result.to_string()));
        lines.extend(resolution.surprise.as_ref().map(|text| ("surprise", text.to_string())));
        lines.extend(
            resolution
                .root_cause
                .as_ref()
                .map(|cause| ("root cause", format!("{}: {}", cause.category, cause.text))),
        );
        if let Some(lesson) = &resolution.lesson {
            lines.extend(lesson.what_worked.as_ref().map(|text| ("worked", text.to_string())));
            lines.extend(lesson.takeaway.as_ref().map(|text| ("takeaway", text.to_string())));
        }
        let name = if resolution.has_derived_phrases { "run error" } else { "when" };
        let phrases = resolution.applies_when.iter();
        lines.extend(phrases.map(|phrase| (name, phrase.to_string())));
        let evidence = match resolution.evidence {
            None => String::new(),
            Some(evidence) => {
                let says =
                    if evidence.supports { "confirmed by a run" } else { "contradicted by a run" };
                match evidence.outcome {
                    Some(id) => format!(", {says}: {}", id.short()),
                    None => format!(", {says} (the run was deleted)"),
                }
            }
        };
        lines.push(("tier", format!("{}{evidence}", resolution.tier)));
    }
    for (name, text) in lines {
        // Indents further lines of a text under its first.
        let text = text.replace('\n', "\n              ");
        writeln!(ui.out, "  {name:<11} {text}")?;
    }
    Ok(())
}
