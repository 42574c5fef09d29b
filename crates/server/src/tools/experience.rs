//! The tools that search experiences, that is resolved GHAPs, and that compute a premortem from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rutter_memory::config::RecallScope;
use rutter_memory::document::{Axis, DocumentKind};
use rutter_memory::ghap::{Domain, Ghap, GhapStatus, Strategy};
use rutter_memory::store::{GhapFilter, MIN_CASES, RecallRequest};
use rutter_memory::{Clean, Id, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MAX_PASSAGE_CHARS, ToolInvocation, ToolRefusal, TypedAnswer, if_still_there, import_origin,
    quote_passage, short_id, spaced_mark, truncate_chars, unconfirmed_mark,
};
use crate::schema;

/// `search_experiences`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchExperiencesInput {
    #[schemars(length(min = 1, max = 10000))]
    query: String,
    #[schemars(schema_with = "schema::axis")]
    #[serde(default)]
    axis: Option<Axis>,
    #[schemars(schema_with = "schema::domain")]
    #[serde(default)]
    domain: Option<Domain>,
    #[schemars(schema_with = "schema::strategy")]
    #[serde(default)]
    strategy: Option<Strategy>,
    #[schemars(schema_with = "schema::ending")]
    #[serde(default)]
    outcome: Option<GhapStatus>,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default)]
    limit: Option<usize>,
}

/// `search_other_projects`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchOtherProjectsInput {
    #[schemars(length(min = 1, max = 10000))]
    query: String,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default)]
    limit: Option<usize>,
}

/// The answer of the searches, best first.
#[derive(Serialize, JsonSchema)]
pub(super) struct SearchExperiencesAnswer {
    results: Vec<ExperienceHit>,
    count: usize,
    /// Advice if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ExperienceHit {
    id: String,
    /// From 0 to 1.
    score: f64,
    goal: String,
    outcome: String,
    domain: String,
    strategy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    /// Origin, if it was imported.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<String>,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// `premortem`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PremortemInput {
    #[schemars(schema_with = "schema::domain")]
    domain: Domain,
    #[schemars(schema_with = "schema::strategy")]
    #[serde(default)]
    strategy: Option<Strategy>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    goal: Option<String>,
}

/// The answer of `premortem`.
#[derive(Serialize, JsonSchema)]
pub(super) struct PremortemAnswer {
    /// Resolved GHAPs among the last 200 of this domain.
    resolved: usize,
    /// Falsified ones among them.
    falsified: usize,
    /// Results by strategy, most often falsified first.
    strategies: Vec<StrategyRecord>,
    /// Root causes, most frequent first.
    root_causes: Vec<RootCauseCount>,
    /// Failures nearest to the goal, or the newest.
    failures: Vec<FailedGhapEntry>,
    /// Values that are relevant to the work.
    principles: Vec<Principle>,
}

#[derive(Serialize, JsonSchema)]
struct Principle {
    id: String,
    text: String,
    standing: String,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct StrategyRecord {
    strategy: String,
    confirmed: usize,
    falsified: usize,
}

#[derive(Serialize, JsonSchema)]
struct RootCauseCount {
    category: String,
    times: usize,
}

#[derive(Serialize, JsonSchema)]
struct FailedGhapEntry {
    id: String,
    goal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// The maximum number of GHAPs that a premortem reads, newest first.
const MAX_PREMORTEM_GHAPS: usize = 200;
/// The maximum number of values in a premortem.
const MAX_PRINCIPLES: usize = 3;
/// The maximum number of failures in a premortem.
const MAX_FAILURES: usize = 3;

fn surprise(ghap: &Ghap) -> Option<&Clean> {
    ghap.resolution.as_ref()?.surprise.as_ref()
}

fn takeaway(ghap: &Ghap) -> Option<&Clean> {
    ghap.resolution.as_ref()?.lesson.as_ref()?.takeaway.as_ref()
}

pub(super) fn search_experiences(
    search: &SearchExperiencesInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<SearchExperiencesAnswer>, ToolRefusal> {
    find_experiences(search, false, call)
}

pub(super) fn search_other_projects(
    search: &SearchOtherProjectsInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<SearchExperiencesAnswer>, ToolRefusal> {
    let place = call.owner()?.place;
    if call.desk.checkout_config(&place.root).scope.recall != RecallScope::Everywhere {
        return Err(ToolRefusal::Refused(
            "other projects may not be searched: the user allows it with `recall = \
             \"everywhere\"` below `[scope]` in the configuration file (`rutter config path` \
             prints its path)"
                .to_owned(),
        ));
    }
    let search = SearchExperiencesInput {
        query: search.query.clone(),
        axis: None,
        domain: None,
        strategy: None,
        outcome: None,
        limit: search.limit,
    };
    find_experiences(&search, true, call)
}

fn find_experiences(
    search: &SearchExperiencesInput,
    elsewhere: bool,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<SearchExperiencesAnswer>, ToolRefusal> {
    if search.query.trim().is_empty() {
        return Err(ToolRefusal::Arguments(
            "query is empty; describe in words what to search for".to_owned(),
        ));
    }
    let limit = search.limit.unwrap_or(10);
    let now = call.now();
    let place = call.owner()?.place;
    call.store.try_drain_spool(now)?;
    let ask = RecallRequest {
        text: &search.query,
        axis: search.axis.unwrap_or(Axis::Full),
        place: Some(&place),
        all: elsewhere,
        kind: Some(DocumentKind::Experience),
        domain: search.domain,
        outcome: search.outcome,
        // The search cannot filter by strategy, so it fetches more rows to filter below.
        limit: if search.strategy.is_some() { limit * 9 } else { limit },
    };
    let mut results = Vec::new();
    for recall in call.store.recall(&ask, now)? {
        let Some(ghap) = if_still_there(call.store.ghap(recall.hit.row))? else { continue };
        if search.strategy.is_some_and(|strategy| strategy != ghap.strategy)
            || results.len() == limit
        {
            continue;
        }
        results.push(ExperienceHit {
            id: ghap.id.to_string(),
            score: (recall.rank.clamp(0.0, 1.0) * 1000.0).round() / 1000.0,
            goal: truncate_chars(&ghap.goal, MAX_PASSAGE_CHARS),
            outcome: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            strategy: ghap.strategy.to_string(),
            surprise: surprise(&ghap).map(|text| truncate_chars(text, MAX_PASSAGE_CHARS)),
            takeaway: takeaway(&ghap).map(|text| truncate_chars(text, MAX_PASSAGE_CHARS)),
            tier: ghap.resolution.as_ref().map(|ended| ended.tier.to_string()),
            origin: import_origin(call, ghap.id)?,
            unconfirmed: unconfirmed_mark(call, ghap.id, &place)?,
        });
    }
    let lines: Vec<String> = results
        .iter()
        .map(|hit| {
            let said = hit.takeaway.as_ref().or(hit.surprise.as_ref());
            let said = said.map_or_else(String::new, |said| format!(" — {}", quote_passage(said)));
            let goal = quote_passage(&hit.goal);
            let mark = spaced_mark(hit.unconfirmed.as_deref());
            format!("{:.2} {} {}: {goal}{said}{mark}", hit.score, short_id(&hit.id), hit.outcome)
        })
        .collect();
    let hint = results.is_empty().then(|| search.empty_result_hint().to_owned());
    let text = match &hint {
        Some(hint) => format!("Nothing was found; {hint}."),
        None => lines.join("\n"),
    };
    Ok(TypedAnswer { value: SearchExperiencesAnswer { count: results.len(), results, hint }, text })
}

impl SearchExperiencesInput {
    /// Returns advice for an empty result.
    fn empty_result_hint(&self) -> &'static str {
        let is_narrow = self.axis.is_some()
            || self.domain.is_some()
            || self.strategy.is_some()
            || self.outcome.is_some();
        if is_narrow {
            "omit axis, domain, strategy and outcome to find more"
        } else {
            "use other words, or call recall_memories"
        }
    }
}

pub(super) fn premortem(
    ahead: &PremortemInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<PremortemAnswer>, ToolRefusal> {
    let now = call.now();
    let place = call.owner()?.place;
    call.store.try_drain_spool(now)?;
    let mut rows = Vec::new();
    if let Some(project) = call.store.project(&place)? {
        let filter = GhapFilter {
            project: Some(project.key),
            domain: Some(ahead.domain),
            // Imported ones are no evidence.
            own: true,
            limit: Some(MAX_PREMORTEM_GHAPS),
            ..GhapFilter::default()
        };
        rows = call.store.ghaps(&filter, now)?;
    }
    rows.retain(|ghap| matches!(ghap.status, GhapStatus::Confirmed | GhapStatus::Falsified));
    let is_wrong = |ghap: &Ghap| ghap.status == GhapStatus::Falsified;
    let mut strategies: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    // Figures of a few cases are meaningless.
    let counted = if has_enough_cases(rows.len()) { rows.as_slice() } else { &[] };
    for ghap in counted {
        let record = strategies.entry(ghap.strategy.as_str()).or_default();
        if is_wrong(ghap) {
            record.1 += 1;
            let cause = ghap.resolution.as_ref().and_then(|ended| ended.root_cause.as_ref());
            if let Some(cause) = cause {
                *causes.entry(cause.category.as_str()).or_default() += 1;
            }
        } else {
            record.0 += 1;
        }
    }
    let mut strategies: Vec<StrategyRecord> = strategies
        .into_iter()
        .filter(|(name, _)| ahead.strategy.is_none_or(|only| only.as_str() == *name))
        .map(|(strategy, (confirmed, falsified))| StrategyRecord {
            strategy: strategy.to_owned(),
            confirmed,
            falsified,
        })
        .collect();
    strategies.sort_by_key(|record| std::cmp::Reverse(record.falsified));
    let mut root_causes: Vec<RootCauseCount> = causes
        .into_iter()
        .map(|(category, times)| RootCauseCount { category: category.to_owned(), times })
        .collect();
    root_causes.sort_by_key(|cause| std::cmp::Reverse(cause.times));
    let failures = nearest_failures(ahead, &rows, &place, call)?;
    let principles = call
        .store
        .principles(&place, Some(ahead.domain), ahead.goal.as_deref(), MAX_PRINCIPLES)?
        .into_iter()
        .map(|held| {
            Ok(Principle {
                id: held.value.id.to_string(),
                text: truncate_chars(&held.value.text, MAX_PASSAGE_CHARS),
                standing: held.value.standing.to_string(),
                unconfirmed: unconfirmed_mark(call, held.value.id, &place)?,
            })
        })
        .collect::<Result<_, StoreError>>()?;
    let premortem = PremortemAnswer {
        resolved: rows.len(),
        falsified: rows.iter().filter(|ghap| is_wrong(ghap)).count(),
        strategies,
        root_causes,
        failures,
        principles,
    };
    let text = render_premortem(&premortem, ahead.domain);
    Ok(TypedAnswer { value: premortem, text })
}

/// Returns the falsified GHAPs nearest to the goal; without a goal or a match, the newest.
fn nearest_failures(
    ahead: &PremortemInput,
    rows: &[Ghap],
    place: &rutter_memory::store::entry::ProjectPlace,
    call: &mut ToolInvocation<'_>,
) -> Result<Vec<FailedGhapEntry>, StoreError> {
    let now = call.now();
    let mut chosen: Vec<Id> = Vec::new();
    if let Some(goal) = ahead.goal.as_deref().filter(|goal| !goal.trim().is_empty()) {
        // A failure can be similar in its goal, its surprise or its root cause.
        for axis in [Axis::Full, Axis::Surprise, Axis::RootCause] {
            let ask = RecallRequest {
                text: goal,
                axis,
                place: Some(place),
                all: false,
                kind: Some(DocumentKind::Experience),
                domain: Some(ahead.domain),
                outcome: Some(GhapStatus::Falsified),
                // Imported ones are left out below.
                limit: MAX_FAILURES * 9,
            };
            let mut found = 0;
            for recall in call.store.recall(&ask, now)? {
                let row = recall.hit.row;
                if found == MAX_FAILURES || is_unconfirmed_import(call, row)? {
                    continue;
                }
                found += 1;
                if !chosen.contains(&row) {
                    chosen.push(row);
                }
            }
        }
    }
    let newest =
        rows.iter().filter(|ghap| ghap.status == GhapStatus::Falsified).map(|ghap| ghap.id);
    if chosen.is_empty() {
        chosen.extend(newest);
    }
    let mut failures = Vec::new();
    for row in chosen.into_iter().take(MAX_FAILURES) {
        let Some(ghap) = if_still_there(call.store.ghap(row))? else { continue };
        let cause = ghap.resolution.as_ref().and_then(|ended| ended.root_cause.as_ref());
        failures.push(FailedGhapEntry {
            id: ghap.id.to_string(),
            goal: truncate_chars(&ghap.goal, MAX_PASSAGE_CHARS),
            surprise: surprise(&ghap).map(|text| truncate_chars(text, MAX_PASSAGE_CHARS)),
            root_cause: cause.map(|cause| {
                format!("{}: {}", cause.category, truncate_chars(&cause.text, MAX_PASSAGE_CHARS))
            }),
            takeaway: takeaway(&ghap).map(|text| truncate_chars(text, MAX_PASSAGE_CHARS)),
            unconfirmed: unconfirmed_mark(call, ghap.id, place)?,
        });
    }
    Ok(failures)
}

/// Returns true if a row came from a file and nobody has accepted it.
fn is_unconfirmed_import(call: &ToolInvocation<'_>, row: Id) -> Result<bool, StoreError> {
    Ok(call.store.origin(row)?.is_some_and(|origin| origin.is_unconfirmed_import()))
}

/// Returns true if so many resolved hypotheses are enough to count strategies and root causes.
fn has_enough_cases(resolved: usize) -> bool {
    resolved >= MIN_CASES as usize
}

fn render_premortem(premortem: &PremortemAnswer, domain: Domain) -> String {
    if premortem.resolved == 0 && premortem.principles.is_empty() {
        return format!("Nothing is stored about {domain} here yet.");
    }
    let mut text = match premortem.resolved {
        0 => format!("{domain}: no hypothesis was resolved here yet."),
        resolved if has_enough_cases(resolved) => {
            format!("{domain}: {} of the last {resolved} were falsified.", premortem.falsified)
        }
        1 => format!("{domain}: 1 hypothesis was resolved here."),
        resolved => format!("{domain}: {resolved} hypotheses were resolved here."),
    };
    let strategies: Vec<String> = premortem
        .strategies
        .iter()
        .map(|record| {
            format!("{} {} right, {} wrong", record.strategy, record.confirmed, record.falsified)
        })
        .collect();
    let causes: Vec<String> = premortem
        .root_causes
        .iter()
        .map(|cause| format!("{} ({})", cause.category, cause.times))
        .collect();
    for (name, list) in [("Strategies", strategies), ("Root causes", causes)] {
        if !list.is_empty() {
            let _ = write!(text, "\n{name}: {}.", list.join("; "));
        }
    }
    for principle in &premortem.principles {
        let mark = spaced_mark(principle.unconfirmed.as_deref());
        let said = quote_passage(&principle.text);
        let _ = write!(text, "\nValue ({}): {said}{mark}", principle.standing);
    }
    for failure in &premortem.failures {
        let why = failure.takeaway.as_ref().or(failure.surprise.as_ref());
        let why = why.map_or_else(String::new, |why| format!(" — {}", quote_passage(why)));
        let mark = spaced_mark(failure.unconfirmed.as_deref());
        let _ = write!(text, "\nFailed: {}{why}{mark}", quote_passage(&failure.goal));
    }
    text
}
