//! The tools that start, change, resolve and list GHAPs.

use std::fmt::Write as _;

use rutter_memory::ghap::{self, Ghap, GhapError, GhapStatus, Tier};
use rutter_memory::quote::format_field;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{GhapFilter, GhapOwner};
use rutter_memory::{Id, StoreError};

use super::{
    PageCursor, ToolInvocation, ToolRefusal, TypedAnswer, describe_origin, parse_id, short_id,
    unconfirmed_mark,
};

mod input;
mod output;

pub(super) use input::{
    AdoptGhapInput, GetGhapInput, ResolveGhapInput, StartGhapInput, UpdateGhapInput,
};
pub(super) use output::{GetGhapAnswer, GhapAnswer, GhapBrief, ResolveGhapAnswer};

use output::{GhapDetails, RunSummary};

pub(super) fn start_ghap(
    start: &StartGhapInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<GhapAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let ghap = call.store.start_ghap(
        &owner,
        &ghap::GhapStart {
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
    let ghap = ghap.map_err(to_refusal)?;
    tie_to_process(&owner, call)?;
    Ok(ghap_answer("started", &ghap))
}

pub(super) fn update_ghap(
    update: &UpdateGhapInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<GhapAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let ghap = call.store.update_ghap(
        &owner,
        &ghap::GhapUpdate {
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
    Ok(ghap_answer("updated", &ghap.map_err(to_refusal)?))
}

pub(super) fn adopt_ghap(
    adopt: &AdoptGhapInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<GhapAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let which = match &adopt.id {
        Some(text) => call.store.ghap_id_in(&parse_id("id", text)?, &owner.place)?,
        None => match &find_orphans(call, &owner)?[..] {
            [only] => only.id,
            [] => {
                return Err(ToolRefusal::Refused(
                    "this project has no orphaned GHAP; start_ghap starts one".to_owned(),
                ));
            }
            several => {
                let ids: Vec<_> = several.iter().map(|ghap| ghap.id.short()).collect();
                return Err(ToolRefusal::Arguments(format!(
                    "several GHAPs are orphaned; send one as id: {}",
                    ids.join(", ")
                )));
            }
        },
    };
    let ghap = call.store.adopt_ghap(&owner, which, call.now()).map_err(to_refusal)?;
    tie_to_process(&owner, call)?;
    Ok(ghap_answer("adopted", &ghap))
}

/// Ties a session without hooks to the server process: it is over when the process is gone, and its GHAP becomes an
/// orphan.
fn tie_to_process(owner: &GhapOwner, call: &mut ToolInvocation<'_>) -> Result<(), ToolRefusal> {
    if let (Some(process), Some(client)) = (call.desk.process_of(owner), &owner.client) {
        call.store.bind_session_to_process(client, &owner.place, process, call.now())?;
    }
    Ok(())
}

/// The hint for a prediction that no run can test.
const HINT: &str = "no run can test it: name a command or test in the prediction";

fn ghap_answer(verb: &str, ghap: &ghap::Ghap) -> TypedAnswer<GhapAnswer> {
    let id = ghap.id.to_string();
    let about = match &ghap.target {
        Some(target) => format!("{} to {}", format_field(target), ghap.expects),
        None => format!("a run to {}", ghap.expects),
    };
    let hint = (!ghap.testable).then(|| HINT.to_owned());
    let text = match &hint {
        None => format!("GHAP {} {verb}; it expects {about}.", short_id(&id)),
        Some(hint) => format!("GHAP {} {verb}; {hint}.", short_id(&id)),
    };
    TypedAnswer {
        value: GhapAnswer {
            ok: true,
            expects: ghap.expects.to_string(),
            target: ghap.target.as_ref().map(ToString::to_string),
            testable: ghap.testable,
            revisions: ghap.revisions.len(),
            hint,
            id,
        },
        text,
    }
}

pub(super) fn resolve_ghap(
    resolve: &ResolveGhapInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<ResolveGhapAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let now = call.now();
    if let Some(text) = &resolve.id {
        let which = call.store.ghap_id_in(&parse_id("id", text)?, &owner.place)?;
        let own = call.store.active_ghap(&owner)?.is_some_and(|active| active.id == which);
        if !own {
            return abandon_orphan(resolve, which, &owner, call);
        }
    }
    if resolve.lesson.as_ref().is_some_and(input::LessonInput::is_empty) {
        return Err(ToolRefusal::Arguments("lesson needs takeaway or what_worked".to_owned()));
    }
    // The run that is the evidence may still be in the spool.
    call.store.try_drain_spool(now)?;
    let outcome = match &resolve.outcome {
        Some(text) => Some(call.store.outcome_id_in(&parse_id("outcome", text)?, &owner.place)?),
        None => None,
    };
    let lesson = resolve.lesson.as_ref();
    let resolved = call.store.resolve_ghap(
        &owner,
        &ghap::GhapResolve {
            status: resolve.status,
            result: &resolve.result,
            surprise: resolve.surprise.as_deref(),
            root_cause: resolve
                .root_cause
                .as_ref()
                .map(|cause| (cause.category, cause.description.as_str())),
            what_worked: lesson.and_then(|lesson| lesson.what_worked.as_deref()),
            takeaway: lesson.and_then(|lesson| lesson.takeaway.as_deref()),
            applies_when: &resolve.applies_when,
            outcome,
            ignores_other_runs: resolve.auto_captured == Some(false),
        },
        now,
    );
    let resolved = resolved.map_err(to_refusal)?;
    let ended = resolved.ghap.resolution.as_ref();
    let tier = ended.map_or(Tier::Bronze, |ended| ended.tier);
    let why = match (tier, &resolved.outcome) {
        (Tier::Gold, _) => "a captured run confirms it",
        (Tier::Silver, Some(_)) => "it is your claim: the captured run contradicts it",
        (Tier::Silver, None) if resolve.auto_captured == Some(false) => {
            "it is your claim: no captured run was searched, as requested"
        }
        (Tier::Silver, None) => "it is your claim: no captured run since the prediction fits it",
        (Tier::Bronze, _) => "the prediction names no result that a run can show",
        (Tier::Abandoned, _) => "it ended without a result",
    };
    let outcome = resolved.outcome.as_ref().map(RunSummary::from);
    let status = resolved.ghap.status;
    // For an abandoned GHAP, status and tier have the same name.
    let ended = if status == GhapStatus::Abandoned {
        status.to_string()
    } else {
        format!("{status}, {tier}")
    };
    let text = format!(
        "GHAP {} {ended}: {why}{}.",
        resolved.ghap.id.short(),
        outcome.as_ref().map_or_else(String::new, |run| format!(
            " ({} {}, {})",
            short_id(&run.id),
            run.verdict,
            run.command
        )),
    );
    Ok(TypedAnswer {
        value: ResolveGhapAnswer {
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
    resolve: &ResolveGhapInput,
    which: Id,
    owner: &GhapOwner,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<ResolveGhapAnswer>, ToolRefusal> {
    if resolve.status != GhapStatus::Abandoned {
        return Err(ToolRefusal::Arguments(
            "id names a GHAP of another session: abandon it, or call adopt_ghap and then \
             resolve it"
                .to_owned(),
        ));
    }
    // A GHAP of another project can only be abandoned there.
    let project = call.store.ghap(which)?.project;
    if call.store.project(&owner.place)?.is_none_or(|here| here.key != project) {
        let elsewhere = GhapError::Elsewhere { id: which.short(), project };
        return Err(StoreError::from(elsewhere).into());
    }
    let now = call.now();
    let ghap =
        call.store.abandon_ghap(owner, Some(which), &resolve.result, now).map_err(to_refusal)?;
    Ok(TypedAnswer {
        text: format!("GHAP {} abandoned.", ghap.id.short()),
        value: ResolveGhapAnswer {
            ok: true,
            id: ghap.id.to_string(),
            status: ghap.status.to_string(),
            tier: Tier::Abandoned.to_string(),
            outcome: None,
            why: "it ended without a result".to_owned(),
        },
    })
}

fn find_orphans(
    call: &ToolInvocation<'_>,
    owner: &GhapOwner,
) -> Result<Vec<ghap::Ghap>, StoreError> {
    let Some(project) = call.store.project(&owner.place)? else { return Ok(Vec::new()) };
    let filter = GhapFilter { project: Some(project.key), orphaned: true, ..GhapFilter::default() };
    call.store.ghaps(&filter, call.now())
}

pub(super) fn get_ghap(
    get: &GetGhapInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<GetGhapAnswer>, ToolRefusal> {
    let owner = call.owner()?;
    let active = call.store.active_ghap(&owner)?;
    let found = GetGhapAnswer {
        has_active: active.is_some(),
        active: None,
        ghap: None,
        orphans: Vec::new(),
        entries: Vec::new(),
        next_cursor: None,
    };
    if let Some(text) = &get.id {
        let ghap = call.store.ghap(call.store.ghap_id_in(&parse_id("id", text)?, &owner.place)?)?;
        let evidence = ghap.resolution.as_ref().and_then(|ended| ended.evidence);
        let run = match evidence.and_then(|evidence| evidence.outcome) {
            Some(run) => call.store.outcome(run)?,
            None => None,
        };
        let mut one = GhapDetails::new(&ghap, run.as_ref());
        one.origin = describe_origin(call, ghap.id)?;
        one.unconfirmed = unconfirmed_mark(call, ghap.id, &owner.place)?;
        let text = one.lines();
        return Ok(TypedAnswer { value: GetGhapAnswer { ghap: Some(one), ..found }, text });
    }
    let asks_for_a_list = get.list
        || get.orphans
        || get.status.is_some()
        || get.domain.is_some()
        || get.limit.is_some()
        || get.cursor.is_some();
    if asks_for_a_list {
        return list_ghaps(get, &owner, found, call);
    }
    let mut text = match &active {
        Some(active) => GhapDetails::new(active, None).lines(),
        None => "No GHAP is active; start_ghap starts one.".to_owned(),
    };
    let own = active.as_ref().map(|active| active.id);
    let mut orphans = find_orphans(call, &owner)?;
    orphans.retain(|ghap| Some(ghap.id) != own);
    let orphans = brief_entries(&orphans, &owner.place, call)?;
    for orphan in &orphans {
        let _ = write!(text, "\nLeft open by an earlier session: {}", orphan.line());
    }
    let active = active.as_ref().map(|active| GhapDetails::new(active, None));
    Ok(TypedAnswer { value: GetGhapAnswer { active, orphans, ..found }, text })
}

/// Returns GHAPs as entries of a list, each with its mark.
fn brief_entries(
    ghaps: &[Ghap],
    place: &ProjectPlace,
    call: &ToolInvocation<'_>,
) -> Result<Vec<GhapBrief>, StoreError> {
    let entry = |ghap: &Ghap| {
        let mut brief = GhapBrief::from(ghap);
        brief.unconfirmed = unconfirmed_mark(call, ghap.id, place)?;
        Ok(brief)
    };
    ghaps.iter().map(entry).collect()
}

/// Returns a page of GHAPs. Rows that are added or deleted between two pages do not shift the list.
fn list_ghaps(
    get: &GetGhapInput,
    owner: &GhapOwner,
    mut found: GetGhapAnswer,
    call: &ToolInvocation<'_>,
) -> Result<TypedAnswer<GetGhapAnswer>, ToolRefusal> {
    let limit = get.limit.unwrap_or(20);
    let before = get.cursor.as_deref().map(|cursor| PageCursor::GHAPS.parse(cursor)).transpose()?;
    let mut rows = Vec::new();
    if let Some(project) = call.store.project(&owner.place)? {
        let filter = GhapFilter {
            project: Some(project.key),
            status: get.status,
            domain: get.domain,
            orphaned: get.orphans,
            own: false,
            before,
            limit: Some(limit + 1),
        };
        rows = call.store.ghaps(&filter, call.now())?;
    }
    if rows.len() > limit {
        rows.truncate(limit);
        let page = rows.iter().map(|ghap| ghap.id);
        found.next_cursor =
            PageCursor::GHAPS.after_page(page, |id| call.store.ghap_position(id))?;
    }
    found.entries = brief_entries(&rows, &owner.place, call)?;
    let mut text = match &found.entries[..] {
        [] => "There are no GHAPs.".to_owned(),
        entries => entries.iter().map(GhapBrief::line).collect::<Vec<_>>().join("\n"),
    };
    if let Some(cursor) = &found.next_cursor {
        let _ = write!(text, "\nMore with cursor {cursor}.");
    }
    Ok(TypedAnswer { value: found, text })
}

/// Converts a store error to a refusal that names tool arguments; the store's own messages name command line options.
fn to_refusal(error: StoreError) -> ToolRefusal {
    match &error {
        StoreError::Ghap(GhapError::Active { id, goal }) => ToolRefusal::Refused(format!(
            "a GHAP is already active: {id} \"{goal}\"; resolve_ghap ends it, update_ghap \
             changes it"
        )),
        StoreError::Ghap(GhapError::NoneActive) => {
            ToolRefusal::Refused("no GHAP is active here; start_ghap starts one".to_owned())
        }
        StoreError::Ghap(GhapError::NothingToChange) => ToolRefusal::Arguments(
            "nothing to change; send hypothesis, action, prediction, strategy, expects, target, \
             confidence or a note"
                .to_owned(),
        ),
        StoreError::Ghap(GhapError::Falsified { missing }) => ToolRefusal::Arguments(format!(
            "a falsified GHAP needs {missing}: send surprise (text) and root_cause {{category, description}}"
        )),
        _ => ToolRefusal::Store(error),
    }
}
