//! `rutter recall`: searches lessons and memories, and explains each score.

use rutter_memory::Clean;
use rutter_memory::document::DocumentKind;
use rutter_memory::episode::Episode;
use rutter_memory::injection::EffectCounts;
use rutter_memory::store::{RecallRequest, RecalledRow};
use rutter_search::score::{COVERAGE_WEIGHT, MEANING_SHARE, MIN_CONFIDENCE};
use serde::Serialize;

use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::RecallArgs;
use crate::environment::Environment;
use crate::ui::{Ui, first_line};

/// Returns the reason why each change of an episode counts as part of its fix.
fn fix_reasons(episode: &Episode) -> Vec<String> {
    let changes = episode.ending.iter().flat_map(|ending| &ending.fix);
    let reasons = changes.filter_map(|change| {
        let reason = change.reason.as_ref()?;
        let claim = if change.is_certain { "fixed in" } else { "changed" };
        Some(format!("{claim} {}: {reason}", first_line(&change.name)))
    });
    reasons.collect()
}

/// A search result in the JSON output.
#[derive(Serialize)]
struct RecallHitJson<'a> {
    short: String,
    id: rutter_memory::Id,
    kind: DocumentKind,
    score: f64,
    lexical: f64,
    evidence: f64,
    meaning: f64,
    covered: f64,
    confidence: f64,
    prior: f64,
    rank: f64,
    #[serde(flatten)]
    effects: EffectCounts,
    above_floor: bool,
    others: usize,
    text: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    applies_when: &'a [Clean],
    at: rutter_memory::Time,
}

impl<'a> RecallHitJson<'a> {
    fn new(recall: &'a RecalledRow, applies_when: &'a [Clean]) -> Self {
        let hit = &recall.hit;
        Self {
            short: hit.row.short(),
            id: hit.row,
            kind: hit.kind,
            score: hit.score,
            lexical: hit.fit.lexical,
            evidence: hit.fit.evidence,
            meaning: hit.fit.meaning,
            covered: hit.fit.coverage.question,
            confidence: hit.confidence,
            prior: recall.prior,
            rank: recall.rank,
            effects: recall.effects,
            above_floor: recall.above_floor,
            others: recall.others,
            text: &recall.text,
            applies_when,
            at: hit.at,
        }
    }
}

pub(crate) fn run(args: &RecallArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Also finds rows that hooks could only write to the spool.
    store.try_drain_spool(env.now)?;
    let place = env.owner()?.place;
    let ask = RecallRequest {
        text: &args.query,
        axis: args.axis,
        place: Some(&place),
        all: args.all,
        kind: args.kind,
        domain: args.domain,
        outcome: args.outcome,
        limit: args.limit,
    };
    let found = store.recall(&ask, env.now)?;
    let rows: Vec<_> = found.iter().map(|recall| (recall.hit.kind, recall.hit.row)).collect();
    let phrases = store.reader().written_phrases(&rows)?;
    if args.format.chosen() == Format::Json {
        let hits = found.iter().zip(&phrases);
        let hits = hits.map(|(recall, phrases)| RecallHitJson::new(recall, phrases));
        return ui.print_json(&hits.collect::<Vec<_>>());
    }
    if found.is_empty() {
        let hint = if args.all { "" } else { "; add `--all` to search other projects too" };
        return Ok(ui.print_note(&format!("nothing was found{hint}"))?);
    }
    let rows = found.iter().map(|recall| {
        let mark = if recall.above_floor { "" } else { " -" };
        [
            recall.hit.row.short(),
            recall.hit.kind.to_string(),
            format!("{:.2}{mark}", recall.hit.score),
            first_line(&recall.text),
        ]
    });
    ui.print_table(["ID", "KIND", "SCORE", "WHAT"], rows)?;
    if args.why {
        writeln!(ui.out)?;
        for (recall, phrases) in found.iter().zip(&phrases) {
            let hit = &recall.hit;
            writeln!(
                ui.out,
                "{} ({:.1} × {:.2} for words + {MEANING_SHARE:.1} × {:.2} for meaning + \
                 {COVERAGE_WEIGHT:.1} × {:.2} for coverage) / {:.1} = {:.2}; × {:.2} for \
                 project, tier, age and effect = {:.2}; likely {:.0} %{}{}",
                hit.row.short(),
                1.0 - MEANING_SHARE,
                hit.fit.lexical,
                hit.fit.meaning.max(0.0),
                hit.fit.coverage.question,
                1.0 + COVERAGE_WEIGHT,
                hit.score,
                recall.prior,
                recall.rank,
                hit.confidence * 100.0,
                match recall.effects {
                    EffectCounts { helped: 0, hurt: 0 } => String::new(),
                    EffectCounts { helped, hurt } =>
                        format!("; when shown, it helped {helped} and hurt {hurt}"),
                },
                match recall.others {
                    0 => String::new(),
                    others => format!("; {others} more say the same"),
                },
            )?;
            for phrase in phrases {
                writeln!(ui.out, "  applies when: {}", first_line(phrase))?;
            }
            if let Some(origin) = super::show::describe_origin(hit.row, &store, env)? {
                writeln!(ui.out, "  origin: {origin}")?;
            }
            if hit.kind == DocumentKind::Episode {
                for line in fix_reasons(&store.episode(hit.row)?) {
                    writeln!(ui.out, "  {line}")?;
                }
            }
        }
    }
    if found.iter().any(|recall| recall.hit.confidence < MIN_CONFIDENCE) {
        ui.print_note(&format!(
            "- marks rows below {:.0} %: hooks do not show them unasked",
            MIN_CONFIDENCE * 100.0
        ))?;
    }
    if found.iter().any(|recall| recall.effects.is_harmful()) {
        ui.print_note(
            "- marks rows that hurt more often than they helped: hooks do not show them",
        )?;
    }
    Ok(())
}
