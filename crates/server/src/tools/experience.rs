//! The tools that search experiences, that is resolved GHAPs, and that compute a premortem from them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rutter_memory::config::Recall;
use rutter_memory::document::{Axis, Kind};
use rutter_memory::ghap::{Domain, Ghap, Status, Strategy};
use rutter_memory::store::{Ask, GhapFilter, MIN_CASES};
use rutter_memory::{Clean, Id, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Given, PASSAGE, Refusal, cut, foreign_origin, quoted, short, still_there};
use crate::schema;

/// `search_experiences`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Search {
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
    outcome: Option<Status>,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default)]
    limit: Option<usize>,
}

/// `search_other_projects`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchElsewhere {
    #[schemars(length(min = 1, max = 10000))]
    query: String,
    #[schemars(range(min = 1, max = 50))]
    #[serde(default)]
    limit: Option<usize>,
}

/// The answer of the searches, best first.
#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    results: Vec<Hit>,
    count: usize,
    /// Advice if nothing was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Hit {
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
}

/// `premortem`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ahead {
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
pub(super) struct Premortem {
    /// Resolved GHAPs among the last 200 of this domain.
    resolved: usize,
    /// Falsified ones among them.
    falsified: usize,
    /// Results by strategy, most often falsified first.
    strategies: Vec<Record>,
    /// Root causes, most frequent first.
    root_causes: Vec<Cause>,
    /// Failures nearest to the goal, or the newest.
    failures: Vec<Failure>,
    /// Values that are relevant to the work.
    principles: Vec<Principle>,
}

#[derive(Serialize, JsonSchema)]
struct Principle {
    id: String,
    text: String,
    standing: String,
}

#[derive(Serialize, JsonSchema)]
struct Record {
    strategy: String,
    confirmed: usize,
    falsified: usize,
}

#[derive(Serialize, JsonSchema)]
struct Cause {
    category: String,
    times: usize,
}

#[derive(Serialize, JsonSchema)]
struct Failure {
    id: String,
    goal: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
}

/// The maximum number of GHAPs that a premortem reads, newest first.
const RECENT: usize = 200;
/// The maximum number of values in a premortem.
const PRINCIPLES: usize = 3;
/// The maximum number of failures in a premortem.
const FAILURES: usize = 3;

fn surprise(ghap: &Ghap) -> Option<&Clean> {
    ghap.resolution.as_ref()?.surprise.as_ref()
}

fn takeaway(ghap: &Ghap) -> Option<&Clean> {
    ghap.resolution.as_ref()?.lesson.as_ref()?.takeaway.as_ref()
}

pub(super) fn search(search: &Search, call: &mut Call<'_>) -> Result<Given<Found>, Refusal> {
    find(search, false, call)
}

pub(super) fn search_elsewhere(
    search: &SearchElsewhere,
    call: &mut Call<'_>,
) -> Result<Given<Found>, Refusal> {
    let place = call.owner()?.place;
    if call.desk.settings(&place.root).scope.recall != Recall::Everywhere {
        return Err(Refusal::Refused(
            "other projects are closed: the user opens them with `recall = \"everywhere\"` below `[scope]` in the \
             configuration, which `rutter config path` names"
                .to_owned(),
        ));
    }
    let search = Search {
        query: search.query.clone(),
        axis: None,
        domain: None,
        strategy: None,
        outcome: None,
        limit: search.limit,
    };
    find(&search, true, call)
}

fn find(search: &Search, elsewhere: bool, call: &mut Call<'_>) -> Result<Given<Found>, Refusal> {
    if search.query.trim().is_empty() {
        return Err(Refusal::Arguments("query is empty; say in words what to look for".to_owned()));
    }
    let limit = search.limit.unwrap_or(10);
    let now = call.now();
    let place = call.owner()?.place;
    call.store.gather_if_free(now)?;
    let ask = Ask {
        text: &search.query,
        axis: search.axis.unwrap_or(Axis::Full),
        place: Some(&place),
        all: elsewhere,
        kind: Some(Kind::Experience),
        domain: search.domain,
        outcome: search.outcome,
        // The search cannot filter by strategy, so it fetches more rows to filter below.
        limit: if search.strategy.is_some() { limit * 9 } else { limit },
    };
    let mut results = Vec::new();
    for recall in call.store.recall(&ask, now)? {
        let Some(ghap) = still_there(call.store.ghap(recall.hit.row))? else { continue };
        if search.strategy.is_some_and(|strategy| strategy != ghap.strategy)
            || results.len() == limit
        {
            continue;
        }
        results.push(Hit {
            id: ghap.id.to_string(),
            score: (recall.rank.clamp(0.0, 1.0) * 1000.0).round() / 1000.0,
            goal: cut(&ghap.goal, PASSAGE),
            outcome: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            strategy: ghap.strategy.to_string(),
            surprise: surprise(&ghap).map(|text| cut(text, PASSAGE)),
            takeaway: takeaway(&ghap).map(|text| cut(text, PASSAGE)),
            tier: ghap.resolution.as_ref().map(|ended| ended.tier.to_string()),
            origin: foreign_origin(call, ghap.id)?,
        });
    }
    let lines: Vec<String> = results
        .iter()
        .map(|hit| {
            let said = hit.takeaway.as_ref().or(hit.surprise.as_ref());
            let said = said.map_or_else(String::new, |said| format!(" — {}", quoted(said)));
            let goal = quoted(&hit.goal);
            format!("{:.2} {} {}: {goal}{said}", hit.score, short(&hit.id), hit.outcome)
        })
        .collect();
    let hint = results.is_empty().then(|| search.elsewhere().to_owned());
    let text = match &hint {
        Some(hint) => format!("Nothing was found; {hint}."),
        None => lines.join("\n"),
    };
    Ok(Given { value: Found { count: results.len(), results, hint }, text })
}

impl Search {
    /// Returns advice for an empty result.
    fn elsewhere(&self) -> &'static str {
        let is_narrow = self.axis.is_some()
            || self.domain.is_some()
            || self.strategy.is_some()
            || self.outcome.is_some();
        if is_narrow {
            "leave out axis, domain, strategy and outcome to find more"
        } else {
            "say it in other words, or ask recall_memories"
        }
    }
}

pub(super) fn premortem(ahead: &Ahead, call: &mut Call<'_>) -> Result<Given<Premortem>, Refusal> {
    let now = call.now();
    let place = call.owner()?.place;
    call.store.gather_if_free(now)?;
    let mut rows = Vec::new();
    if let Some(project) = call.store.project(&place)? {
        let filter = GhapFilter {
            project: Some(project.key),
            domain: Some(ahead.domain),
            // Imported ones are no evidence.
            own: true,
            limit: Some(RECENT),
            ..GhapFilter::default()
        };
        rows = call.store.ghaps(&filter, now)?;
    }
    rows.retain(|ghap| matches!(ghap.status, Status::Confirmed | Status::Falsified));
    let is_wrong = |ghap: &Ghap| ghap.status == Status::Falsified;
    let mut strategies: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut causes: BTreeMap<&str, usize> = BTreeMap::new();
    // Figures of a few cases are meaningless.
    let counted = if is_enough(rows.len()) { rows.as_slice() } else { &[] };
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
    let mut strategies: Vec<Record> = strategies
        .into_iter()
        .filter(|(name, _)| ahead.strategy.is_none_or(|only| only.as_str() == *name))
        .map(|(strategy, (confirmed, falsified))| Record {
            strategy: strategy.to_owned(),
            confirmed,
            falsified,
        })
        .collect();
    strategies.sort_by_key(|record| std::cmp::Reverse(record.falsified));
    let mut root_causes: Vec<Cause> = causes
        .into_iter()
        .map(|(category, times)| Cause { category: category.to_owned(), times })
        .collect();
    root_causes.sort_by_key(|cause| std::cmp::Reverse(cause.times));
    let failures = nearest(ahead, &rows, &place, call)?;
    let principles = call
        .store
        .principles(&place, Some(ahead.domain), ahead.goal.as_deref(), PRINCIPLES)?
        .into_iter()
        .map(|held| Principle {
            id: held.value.id.to_string(),
            text: cut(&held.value.text, PASSAGE),
            standing: held.value.standing.to_string(),
        })
        .collect();
    let premortem = Premortem {
        resolved: rows.len(),
        falsified: rows.iter().filter(|ghap| is_wrong(ghap)).count(),
        strategies,
        root_causes,
        failures,
        principles,
    };
    let text = told(&premortem, ahead.domain);
    Ok(Given { value: premortem, text })
}

/// Returns the falsified GHAPs nearest to the goal; without a goal or a match, the newest.
fn nearest(
    ahead: &Ahead,
    rows: &[Ghap],
    place: &rutter_memory::store::entry::Place,
    call: &mut Call<'_>,
) -> Result<Vec<Failure>, StoreError> {
    let now = call.now();
    let mut chosen: Vec<Id> = Vec::new();
    if let Some(goal) = ahead.goal.as_deref().filter(|goal| !goal.trim().is_empty()) {
        // A failure can be similar in its goal, its surprise or its root cause.
        for axis in [Axis::Full, Axis::Surprise, Axis::RootCause] {
            let ask = Ask {
                text: goal,
                axis,
                place: Some(place),
                all: false,
                kind: Some(Kind::Experience),
                domain: Some(ahead.domain),
                outcome: Some(Status::Falsified),
                // Imported ones are left out below.
                limit: FAILURES * 9,
            };
            let mut found = 0;
            for recall in call.store.recall(&ask, now)? {
                let row = recall.hit.row;
                if found == FAILURES || is_unconfirmed_import(call, row)? {
                    continue;
                }
                found += 1;
                if !chosen.contains(&row) {
                    chosen.push(row);
                }
            }
        }
    }
    let newest = rows.iter().filter(|ghap| ghap.status == Status::Falsified).map(|ghap| ghap.id);
    if chosen.is_empty() {
        chosen.extend(newest);
    }
    let mut failures = Vec::new();
    for row in chosen.into_iter().take(FAILURES) {
        let Some(ghap) = still_there(call.store.ghap(row))? else { continue };
        let cause = ghap.resolution.as_ref().and_then(|ended| ended.root_cause.as_ref());
        failures.push(Failure {
            id: ghap.id.to_string(),
            goal: cut(&ghap.goal, PASSAGE),
            surprise: surprise(&ghap).map(|text| cut(text, PASSAGE)),
            root_cause: cause
                .map(|cause| format!("{}: {}", cause.category, cut(&cause.text, PASSAGE))),
            takeaway: takeaway(&ghap).map(|text| cut(text, PASSAGE)),
        });
    }
    Ok(failures)
}

/// Returns true if a row came from a file and nobody has accepted it.
fn is_unconfirmed_import(call: &Call<'_>, row: Id) -> Result<bool, StoreError> {
    Ok(call.store.origin(row)?.is_some_and(|origin| origin.is_unconfirmed_import()))
}

/// Returns true if so many resolved hypotheses are enough to count strategies and root causes.
fn is_enough(resolved: usize) -> bool {
    resolved >= MIN_CASES as usize
}

fn told(premortem: &Premortem, domain: Domain) -> String {
    if premortem.resolved == 0 && premortem.principles.is_empty() {
        return format!("Nothing is known of {domain} here yet.");
    }
    let mut text = match premortem.resolved {
        0 => format!("{domain}: nothing was resolved here yet."),
        resolved if is_enough(resolved) => {
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
        let _ = write!(text, "\nWork by ({}): {}", principle.standing, quoted(&principle.text));
    }
    for failure in &premortem.failures {
        let why = failure.takeaway.as_ref().or(failure.surprise.as_ref());
        let why = why.map_or_else(String::new, |why| format!(" — {}", quoted(why)));
        let _ = write!(text, "\nFailed: {}{why}", quoted(&failure.goal));
    }
    text
}
