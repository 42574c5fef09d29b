//! GHAPs: what an agent set out to do.

use rutter_memory::ghap::expect::Expects;
use rutter_memory::ghap::{self, Cause, Domain, GhapError, Status, Strategy, Tier};
use rutter_memory::store::{GhapFilter, Owner};
use rutter_memory::{Id, IdSuffix, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Given, Refusal, limit};
use crate::schema;

/// `start_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Start {
    #[schemars(schema_with = "schema::domain")]
    domain: Domain,
    #[schemars(schema_with = "schema::strategy")]
    strategy: Strategy,
    #[schemars(length(min = 1, max = 1000))]
    goal: String,
    #[schemars(length(min = 1, max = 1000))]
    hypothesis: String,
    #[schemars(length(min = 1, max = 1000))]
    action: String,
    #[schemars(length(min = 1, max = 1000))]
    prediction: String,
    /// What the run must say; read from the prediction if absent
    #[schemars(schema_with = "schema::expects")]
    #[serde(default)]
    expects: Option<Expects>,
    /// The command, test or file it is about; likewise
    #[serde(default)]
    target: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    confidence: Option<f64>,
}

/// `update_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Update {
    #[schemars(length(max = 1000))]
    #[serde(default)]
    hypothesis: Option<String>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    action: Option<String>,
    #[schemars(length(max = 1000))]
    #[serde(default)]
    prediction: Option<String>,
    /// As in start_ghap
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    strategy: Option<Strategy>,
    #[schemars(schema_with = "schema::expects")]
    #[serde(default)]
    expects: Option<Expects>,
    #[serde(default)]
    target: Option<String>,
    #[schemars(range(min = 0, max = 1))]
    #[serde(default)]
    confidence: Option<f64>,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    note: Option<String>,
}

/// `resolve_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resolve {
    #[schemars(schema_with = "schema::ending")]
    status: Status,
    /// What happened
    #[schemars(length(min = 1, max = 2000))]
    result: String,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    surprise: Option<String>,
    #[serde(default)]
    root_cause: Option<RootCause>,
    #[serde(default)]
    lesson: Option<Lesson>,
    /// Id of the captured run that shows it
    #[serde(default)]
    outcome: Option<String>,
    /// Take the newest captured run that fits (the default)
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "a captured run is looked for in any case: evidence beats opinion"
    )]
    auto_captured: Option<bool>,
    /// An orphan's, to abandon it
    #[serde(default)]
    id: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RootCause {
    #[schemars(schema_with = "schema::cause")]
    category: Cause,
    #[schemars(length(min = 1, max = 2000))]
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Lesson {
    #[schemars(length(max = 2000))]
    #[serde(default)]
    what_worked: Option<String>,
    #[schemars(length(max = 2000))]
    #[serde(default)]
    takeaway: Option<String>,
}

/// `get_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Get {
    #[serde(default)]
    id: Option<String>,
    #[schemars(schema_with = "schema::status")]
    #[serde(default)]
    status: Option<Status>,
    #[schemars(schema_with = "schema::domain")]
    #[serde(default)]
    domain: Option<Domain>,
    /// All of this project
    #[serde(default)]
    list: bool,
    /// Only orphans
    #[serde(default)]
    orphans: bool,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    limit: Option<usize>,
    /// next_cursor of the last answer
    #[serde(default)]
    cursor: Option<String>,
}

/// `adopt_ghap`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Adopt {
    /// Which, if there are several
    #[serde(default)]
    id: Option<String>,
}

/// What is worked on now.
#[derive(Serialize, JsonSchema)]
pub(super) struct Started {
    ok: bool,
    id: Id_,
    /// What a run must say for the prediction to come true.
    expects: String,
    /// Of which command, test or file.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    /// Whether any run could tell.
    testable: bool,
    /// How often the belief has changed.
    revisions: usize,
}

/// How it ended.
#[derive(Serialize, JsonSchema)]
pub(super) struct Resolved {
    ok: bool,
    id: Id_,
    status: String,
    tier: String,
    /// The captured run it was held against.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// Why it has that tier.
    why: String,
}

#[derive(Serialize, JsonSchema)]
struct Outcome {
    id: Id_,
    command: String,
    verdict: String,
}

/// What was found.
#[derive(Serialize, JsonSchema)]
pub(super) struct Found {
    has_active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    active: Option<Shown>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    orphans: Vec<Shown>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entries: Vec<Shown>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// One GHAP.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Shown {
    pub(crate) id: Id_,
    pub(crate) status: String,
    domain: String,
    strategy: String,
    goal: String,
    hypothesis: String,
    action: String,
    prediction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    revisions: Vec<Revision>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surprise: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    root_cause: Option<Cause_>,
    #[serde(skip_serializing_if = "Option::is_none")]
    what_worked: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    takeaway: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    created: String,
}

#[derive(Serialize, JsonSchema)]
struct Revision {
    hypothesis: String,
    action: String,
    prediction: String,
}

#[derive(Serialize, JsonSchema)]
struct Cause_ {
    category: String,
    description: String,
}

/// An identity, as text.
type Id_ = String;

impl From<&ghap::Ghap> for Shown {
    fn from(ghap: &ghap::Ghap) -> Self {
        let ended = ghap.resolution.as_ref();
        let lesson = ended.and_then(|ended| ended.lesson.as_ref());
        let text = |text: &rutter_memory::Clean| text.to_string();
        Self {
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            domain: ghap.domain.to_string(),
            strategy: ghap.strategy.to_string(),
            goal: text(&ghap.goal),
            hypothesis: text(&ghap.hypothesis),
            action: text(&ghap.action),
            prediction: text(&ghap.prediction),
            confidence: ghap.confidence,
            revisions: ghap
                .revisions
                .iter()
                .map(|old| Revision {
                    hypothesis: text(&old.hypothesis),
                    action: text(&old.action),
                    prediction: text(&old.prediction),
                })
                .collect(),
            notes: ghap.notes.iter().map(|note| text(&note.text)).collect(),
            result: ended.map(|ended| text(&ended.result)),
            surprise: ended.and_then(|ended| ended.surprise.as_ref()).map(text),
            root_cause: ended.and_then(|ended| ended.root_cause.as_ref()).map(|cause| Cause_ {
                category: cause.category.to_string(),
                description: text(&cause.text),
            }),
            what_worked: lesson.and_then(|lesson| lesson.what_worked.as_ref()).map(text),
            takeaway: lesson.and_then(|lesson| lesson.takeaway.as_ref()).map(text),
            tier: ended.map(|ended| ended.tier.to_string()),
            created: ghap.created.to_string(),
        }
    }
}

impl Shown {
    /// On a few lines.
    fn lines(&self) -> String {
        let mut text = format!(
            "{} {} ({}, {}): {}\nhypothesis: {}\naction: {}\nprediction: {}",
            short(&self.id),
            self.status,
            self.domain,
            self.strategy,
            self.goal,
            self.hypothesis,
            self.action,
            self.prediction
        );
        for (name, what) in
            [("result", &self.result), ("surprise", &self.surprise), ("takeaway", &self.takeaway)]
        {
            if let Some(what) = what {
                text += &format!("\n{name}: {what}");
            }
        }
        text
    }

    /// On one.
    fn line(&self) -> String {
        format!("{} {}: {}", short(&self.id), self.status, self.goal)
    }
}

/// The end of an identity, by which people call it.
fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// An identity that was sent.
pub(super) fn id(text: &str) -> Result<IdSuffix, Refusal> {
    text.parse().map_err(|error| Refusal::Arguments(format!("id: {error}")))
}

pub(super) fn start(start: Start, call: &mut Call<'_>) -> Result<Given<Started>, Refusal> {
    let owner = call.owner()?;
    let ghap = call.store.start_ghap(
        &owner,
        &ghap::Start {
            domain: start.domain,
            strategy: start.strategy,
            goal: &start.goal,
            hypothesis: &start.hypothesis,
            action: &start.action,
            prediction: &start.prediction,
            expects: start.expects,
            target: start.target.as_deref(),
            confidence: start.confidence,
        },
        call.now(),
    );
    Ok(standing("started", &ghap.map_err(tools_words)?))
}

pub(super) fn update(update: Update, call: &mut Call<'_>) -> Result<Given<Started>, Refusal> {
    let owner = call.owner()?;
    let ghap = call.store.update_ghap(
        &owner,
        &ghap::Update {
            hypothesis: update.hypothesis.as_deref(),
            action: update.action.as_deref(),
            prediction: update.prediction.as_deref(),
            strategy: update.strategy,
            expects: update.expects,
            target: update.target.as_deref(),
            confidence: update.confidence,
            note: update.note.as_deref(),
        },
        call.now(),
    );
    Ok(standing("updated", &ghap.map_err(tools_words)?))
}

pub(super) fn adopt(adopt: Adopt, call: &mut Call<'_>) -> Result<Given<Started>, Refusal> {
    let owner = call.owner()?;
    let which = match adopt.id {
        Some(text) => call.store.ghap_id(&id(&text)?)?,
        None => match &orphans(call, &owner)?[..] {
            [only] => only.id,
            [] => {
                return Err(Refusal::Refused(
                    "no GHAP of this project has lost its session; start_ghap begins one"
                        .to_owned(),
                ));
            }
            several => {
                let ids: Vec<_> = several.iter().map(|ghap| ghap.id.short()).collect();
                return Err(Refusal::Arguments(format!(
                    "several have lost their session; send one as id: {}",
                    ids.join(", ")
                )));
            }
        },
    };
    let ghap = call.store.adopt_ghap(&owner, which, call.now());
    Ok(standing("adopted", &ghap.map_err(tools_words)?))
}

fn standing(verb: &str, ghap: &ghap::Ghap) -> Given<Started> {
    let id = ghap.id.to_string();
    let about = match &ghap.target {
        Some(target) => format!("{target} to {}", ghap.expects),
        None => format!("a run to {}", ghap.expects),
    };
    let text = if ghap.testable {
        format!("GHAP {} {verb}; it expects {about}.", short(&id))
    } else {
        format!(
            "GHAP {} {verb}; no run can settle it: name a command or test in the prediction.",
            short(&id)
        )
    };
    Given {
        value: Started {
            ok: true,
            expects: ghap.expects.to_string(),
            target: ghap.target.as_ref().map(ToString::to_string),
            testable: ghap.testable,
            revisions: ghap.revisions.len(),
            id,
        },
        text,
    }
}

pub(super) fn resolve(resolve: Resolve, call: &mut Call<'_>) -> Result<Given<Resolved>, Refusal> {
    let owner = call.owner()?;
    let now = call.now();
    if let Some(text) = &resolve.id {
        let which = call.store.ghap_id(&id(text)?)?;
        let own = call.store.active_ghap(&owner)?.is_some_and(|active| active.id == which);
        if !own {
            return abandon_orphan(&resolve, which, &owner, call);
        }
    }
    // The run that settles it may have been left in the spool a moment ago.
    call.store.gather_if_free(now)?;
    let outcome = match &resolve.outcome {
        Some(text) => Some(call.store.outcome_id(&id(text)?)?),
        None => None,
    };
    let lesson = resolve.lesson.as_ref();
    let resolved = call.store.resolve_ghap(
        &owner,
        &ghap::Resolve {
            status: resolve.status,
            result: &resolve.result,
            surprise: resolve.surprise.as_deref(),
            root_cause: resolve
                .root_cause
                .as_ref()
                .map(|cause| (cause.category, cause.description.as_str())),
            what_worked: lesson.and_then(|lesson| lesson.what_worked.as_deref()),
            takeaway: lesson.and_then(|lesson| lesson.takeaway.as_deref()),
            outcome,
        },
        now,
    );
    let resolved = resolved.map_err(tools_words)?;
    let ended = resolved.ghap.resolution.as_ref();
    let tier = ended.map_or(Tier::Bronze, |ended| ended.tier);
    let why = match (tier, &resolved.outcome) {
        (Tier::Gold, _) => "a captured run shows it",
        (Tier::Silver, Some(_)) => "it is your word: the captured run says otherwise",
        (Tier::Silver, None) => "it is your word: no captured run since the prediction fits it",
        (Tier::Bronze, _) => "nothing that a run could show was predicted",
        (Tier::Abandoned, _) => "it was given up",
    };
    let outcome = resolved.outcome.as_ref().map(|outcome| Outcome {
        id: outcome.id.to_string(),
        command: outcome.command.to_string(),
        verdict: outcome.verdict.to_string(),
    });
    let text = format!(
        "GHAP {} {}, {tier}: {why}{}.",
        resolved.ghap.id.short(),
        resolved.ghap.status,
        outcome.as_ref().map_or_else(String::new, |run| format!(
            " ({} {}, {})",
            short(&run.id),
            run.verdict,
            run.command
        )),
    );
    Ok(Given {
        value: Resolved {
            ok: true,
            id: resolved.ghap.id.to_string(),
            status: resolved.ghap.status.to_string(),
            tier: tier.to_string(),
            outcome,
            why: why.to_owned(),
        },
        text,
    })
}

fn abandon_orphan(
    resolve: &Resolve,
    which: Id,
    owner: &Owner,
    call: &mut Call<'_>,
) -> Result<Given<Resolved>, Refusal> {
    if resolve.status != Status::Abandoned {
        return Err(Refusal::Arguments(
            "id names a GHAP that is not yours: it can be abandoned, or taken over with adopt_ghap and then resolved".to_owned(),
        ));
    }
    let now = call.now();
    let ghap =
        call.store.abandon_ghap(owner, Some(which), &resolve.result, now).map_err(tools_words)?;
    Ok(Given {
        text: format!("GHAP {} abandoned.", ghap.id.short()),
        value: Resolved {
            ok: true,
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            tier: Tier::Abandoned.to_string(),
            outcome: None,
            why: "it was given up".to_owned(),
        },
    })
}

fn orphans(call: &Call<'_>, owner: &Owner) -> Result<Vec<ghap::Ghap>, StoreError> {
    let Some(project) = call.store.project(&owner.place)? else { return Ok(Vec::new()) };
    let filter = GhapFilter { project: Some(project.key), orphaned: true, ..GhapFilter::default() };
    call.store.ghaps(&filter, call.now())
}

pub(super) fn get(get: Get, call: &mut Call<'_>) -> Result<Given<Found>, Refusal> {
    let owner = call.owner()?;
    let mut found = Found {
        has_active: false,
        active: None,
        orphans: Vec::new(),
        entries: Vec::new(),
        next_cursor: None,
    };
    let active = call.store.active_ghap(&owner)?;
    found.has_active = active.is_some();
    if let Some(text) = &get.id {
        let which = call.store.ghap_id(&id(text)?)?;
        let one = Shown::from(&call.store.ghap(which)?);
        let text = one.lines();
        found.entries.push(one);
        return Ok(Given { value: found, text });
    }
    if get.list
        || get.orphans
        || get.status.is_some()
        || get.domain.is_some()
        || get.cursor.is_some()
    {
        let limit = limit(get.limit, 20, 100)?;
        let before: usize = match &get.cursor {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| {
                Refusal::Arguments(
                    "cursor is the next_cursor of an earlier answer; leave it out to begin"
                        .to_owned(),
                )
            })?,
        };
        let mut rows = Vec::new();
        if let Some(project) = call.store.project(&owner.place)? {
            let filter = GhapFilter {
                project: Some(project.key),
                status: get.status,
                domain: get.domain,
                orphaned: get.orphans,
                limit: Some(before.saturating_add(limit).saturating_add(1)),
            };
            rows = call.store.ghaps(&filter, call.now())?;
        }
        let more = rows.len() > before + limit;
        found.entries = rows.iter().skip(before).take(limit).map(Shown::from).collect();
        found.next_cursor = more.then(|| (before + limit).to_string());
        let mut text = match &found.entries[..] {
            [] => "There are none.".to_owned(),
            entries => entries.iter().map(Shown::line).collect::<Vec<_>>().join("\n"),
        };
        if let Some(cursor) = &found.next_cursor {
            text += &format!("\nMore with cursor {cursor}.");
        }
        return Ok(Given { value: found, text });
    }
    let mut text = match &active {
        Some(active) => Shown::from(active).lines(),
        None => "No GHAP is active; start_ghap begins one.".to_owned(),
    };
    found.active = active.as_ref().map(Shown::from);
    let own = active.as_ref().map(|active| active.id);
    let left = orphans(call, &owner)?;
    found.orphans = left.iter().filter(|ghap| Some(ghap.id) != own).map(Shown::from).collect();
    for orphan in &found.orphans {
        text += &format!("\nLeft open by an earlier session: {}", orphan.line());
    }
    Ok(Given { value: found, text })
}

/// What went wrong, in the words of a tool: what commands say speaks of options.
fn tools_words(error: StoreError) -> Refusal {
    match &error {
        StoreError::Ghap(GhapError::Active { id, goal }) => Refusal::Refused(format!(
            "a GHAP is active already: {id} \"{goal}\"; resolve_ghap ends it, update_ghap changes it"
        )),
        StoreError::Ghap(GhapError::NoneActive) => {
            Refusal::Refused("no GHAP is active here; start_ghap begins one".to_owned())
        }
        StoreError::Ghap(GhapError::NothingToChange) => Refusal::Arguments(
            "nothing was sent to change; send hypothesis, action, prediction, strategy or a note"
                .to_owned(),
        ),
        StoreError::Ghap(GhapError::Falsified { missing }) => Refusal::Arguments(format!(
            "a falsified GHAP needs {missing}: send surprise (text) and root_cause {{category, description}}"
        )),
        _ => Refusal::Store(error),
    }
}
