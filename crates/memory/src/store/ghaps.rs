//! GHAPs in the database: their whole life cycle, one transaction per step.

use rusqlite::{Connection, params};

use super::entry::ProjectPlace;
use super::tables::list_to_json;
use super::values::FollowedValue;
use super::{Store, StoreResult, origins, sessions, values};
use crate::applies_when::validate_phrases;
use crate::ghap::{
    self, Domain, Expectation, Ghap, GhapError, GhapResolve, GhapStart, GhapStatus, GhapUpdate,
    LessonEdit,
};
use crate::outcome::Outcome;
use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, Time};

mod derived_phrases;
mod resolution;
mod rows;

use resolution::CheckedResolution;
pub(crate) use resolution::{abandon_ghap, newest_matching_run};
pub(crate) use rows::find_ghap;
pub(crate) use rows::{
    SELECT, abandon_merged, load_ghap, load_revisions_and_notes, read_full_ghap, select_ghaps,
    upsert_ghap,
};

/// The session, agent and place that an operation on a GHAP acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GhapOwner {
    /// The client's name for the session, or None for the standing session of the command line.
    pub client: Option<Clean>,
    /// The agent, or None for the main agent.
    pub agent: Option<Clean>,
    /// The place.
    pub place: ProjectPlace,
}

/// A filter for GHAPs.
#[derive(Debug, Clone, Default)]
pub struct GhapFilter {
    /// Only this project.
    pub project: Option<ProjectKey>,
    /// Only this status.
    pub status: Option<GhapStatus>,
    /// Only this domain.
    pub domain: Option<Domain>,
    /// Only active GHAPs in sessions that are over.
    pub orphaned: bool,
    /// Only GHAPs written here, or imported and accepted.
    pub own: bool,
    /// Only GHAPs before this position, as returned by [`Store::ghap_position`].
    pub before: Option<i64>,
    /// Maximum number.
    pub limit: Option<usize>,
}

/// The result of resolving a GHAP.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedGhap {
    /// The resolved GHAP.
    pub ghap: Ghap,
    /// The run that the claim was compared with.
    pub outcome: Option<Outcome>,
}

impl Store {
    /// Starts a GHAP. Fails if the agent already has an active one in this session and project.
    pub fn start_ghap(
        &mut self,
        owner: &GhapOwner,
        start: &GhapStart<'_>,
        now: Time,
    ) -> StoreResult<Ghap> {
        let short = |text, what| Clean::within(text, what, Limit::Short).map_err(GhapError::from);
        let goal = short(start.goal, "the goal")?;
        let hypothesis = short(start.hypothesis, "the hypothesis")?;
        let action = short(start.action, "the action")?;
        let prediction = short(start.prediction, "the prediction")?;
        let target = start.target.map(|target| short(target, "the target")).transpose()?;
        let confidence = start.confidence.map(ghap::validate_confidence).transpose()?;
        let Expectation { expects, target, stated, testable } =
            Expectation::from_prediction(&prediction, &action, start.expects, target);
        let author = self.author.clone();
        self.write(|transaction| {
            let at = owner_rows(transaction, owner, now)?;
            if let Some(active) = find_active(transaction, &at)? {
                return Err(GhapError::Active { id: active.id.short(), goal: active.goal }.into());
            }
            let ghap = Ghap {
                id: Id::new(now),
                // `put` gets the project and session as rows; their names are read back below.
                project: owner.place.key.clone(),
                session: Clean::default(),
                agent: owner.agent.clone(),
                domain: start.domain,
                strategy: start.strategy,
                goal,
                hypothesis,
                action,
                prediction,
                expects,
                target,
                stated,
                testable,
                confidence,
                predicted: now,
                revisions: Vec::new(),
                notes: Vec::new(),
                status: GhapStatus::Active,
                resolution: None,
                created: now,
                changed: now,
            };
            upsert_ghap(transaction, at.project, at.session, &ghap)?;
            origins::insert_origin_if_known(transaction, ghap.id, author.as_ref())?;
            load_ghap(transaction, ghap.id)
        })
    }

    /// Returns the active GHAP of an owner.
    pub fn active_ghap(&self, owner: &GhapOwner) -> StoreResult<Option<Ghap>> {
        let Some(project) = self.project(&owner.place)? else { return Ok(None) };
        let client = match &owner.client {
            Some(client) => client.clone(),
            None => sessions::standing_session_name(project.id),
        };
        let agent = owner.agent.clone().unwrap_or_default();
        find_ghap(
            &self.connection,
            "WHERE project.uid = ?1 AND session.client = ?2 AND ghap.agent = ?3 AND status = 'active'",
            &[&project.id, &client, &agent],
        )
    }

    /// Changes the active GHAP. If its hypothesis, action or prediction changes, the old ones are kept as a revision.
    pub fn update_ghap(
        &mut self,
        owner: &GhapOwner,
        update: &GhapUpdate<'_>,
        now: Time,
    ) -> StoreResult<Ghap> {
        let short = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Short).map_err(GhapError::from))
                .transpose()
        };
        let hypothesis = short(update.hypothesis, "the hypothesis")?;
        let action = short(update.action, "the action")?;
        let prediction = short(update.prediction, "the prediction")?;
        let target = short(update.target, "the target")?;
        let confidence = update.confidence.map(ghap::validate_confidence).transpose()?;
        let note = update.note.map(check_note).transpose()?;
        if hypothesis.is_none()
            && action.is_none()
            && prediction.is_none()
            && target.is_none()
            && confidence.is_none()
            && note.is_none()
            && update.strategy.is_none()
            && update.expects.is_none()
        {
            return Err(GhapError::NothingToChange.into());
        }
        self.write(|transaction| {
            let old = require_active(transaction, owner, now)?;
            let hypothesis = hypothesis.unwrap_or_else(|| old.hypothesis.clone());
            let action = action.unwrap_or_else(|| old.action.clone());
            let prediction = prediction.unwrap_or_else(|| old.prediction.clone());
            let changed = (&hypothesis, &action, &prediction) != (&old.hypothesis, &old.action, &old.prediction);
            // An explicitly stated expectation or target stays until it is stated again; the rest is derived from the
            // new text.
            let expects = update.expects.or(old.stated.expects.then_some(old.expects));
            let target = target.or_else(|| old.target.clone().filter(|_| old.stated.target));
            let Expectation { expects, target, stated, testable } =
                Expectation::from_prediction(&prediction, &action, expects, target);
            if changed {
                transaction.execute(
                    "INSERT INTO ghap_revision (ghap, at, hypothesis, action, prediction)
                     SELECT id, ?2, hypothesis, action, prediction FROM ghap WHERE uid = ?1",
                    params![old.id, now.max(old.predicted)],
                )?;
            }
            // After a change of the target, runs from before must not confirm the prediction.
            let moved = changed || (expects, &target) != (old.expects, &old.target);
            transaction.execute(
                "UPDATE ghap SET hypothesis = ?2, action = ?3, prediction = ?4, expects = ?5, target = ?6,
                        stated_expects = ?7, stated_target = ?8, testable = ?9, strategy = ?10,
                        confidence = coalesce(?11, confidence), changed = max(changed + 1, ?12),
                        predicted = CASE WHEN ?13 THEN max(predicted, ?12) ELSE predicted END, calls = 0,
                        told = CASE WHEN ?13 THEN NULL ELSE told END, stopped = CASE WHEN ?13 THEN 0 ELSE stopped END
                 WHERE uid = ?1",
                params![
                    old.id,
                    hypothesis,
                    action,
                    prediction,
                    expects,
                    target,
                    stated.expects,
                    stated.target,
                    testable,
                    update.strategy.unwrap_or(old.strategy),
                    confidence,
                    now,
                    moved,
                ],
            )?;
            note.map(|note| add_note(transaction, old.id, &note, now)).transpose()?;
            load_ghap(transaction, old.id)
        })
    }

    /// Adds a note to the active GHAP.
    pub fn note_ghap(&mut self, owner: &GhapOwner, text: &str, now: Time) -> StoreResult<Ghap> {
        let note = check_note(text)?;
        self.write(|transaction| {
            let ghap = require_active(transaction, owner, now)?;
            add_note(transaction, ghap.id, &note, now)?;
            load_ghap(transaction, ghap.id)
        })
    }

    /// Resolves the active GHAP and creates its experience in the same transaction, so that neither exists without the
    /// other.
    pub fn resolve_ghap(
        &mut self,
        owner: &GhapOwner,
        resolve: &GhapResolve<'_>,
        now: Time,
    ) -> StoreResult<ResolvedGhap> {
        let ending = CheckedResolution::validate(resolve)?;
        self.write(|transaction| {
            let ghap = require_active(transaction, owner, now)?;
            let outcome = if resolve.outcome.is_none() && resolve.ignores_other_runs {
                None
            } else {
                resolution::find_evidence(transaction, &ghap, resolve.outcome)?
            };
            resolution::write_resolution(transaction, &ghap, &ending, outcome, now)
        })
    }

    /// Moves a GHAP of a session that is over to another owner. It keeps its history.
    pub fn adopt_ghap(&mut self, owner: &GhapOwner, id: Id, now: Time) -> StoreResult<Ghap> {
        self.write(|transaction| {
            let ghap = load_ghap(transaction, id)?;
            let at = owner_rows(transaction, owner, now)?;
            if let Some(active) = find_active(transaction, &at)? {
                let (id, goal) = (active.id.short(), active.goal);
                return Err(if active.id == ghap.id { GhapError::Own { id } } else { GhapError::Active { id, goal } }.into());
            }
            check_orphaned(transaction, &ghap, now)?;
            let here: ProjectKey =
                transaction.query_row("SELECT key FROM project WHERE id = ?1", [at.project], |row| row.get(0))?;
            if ghap.project != here {
                return Err(GhapError::Elsewhere { id: ghap.id.short(), project: ghap.project }.into());
            }
            transaction.execute(
                "UPDATE ghap SET session = ?2, agent = ?3, project = ?4, changed = max(changed + 1, ?5),
                        calls = 0, told = NULL, stopped = 0
                 WHERE uid = ?1",
                params![ghap.id, at.session, at.agent, at.project, now],
            )?;
            load_ghap(transaction, ghap.id)
        })
    }

    /// Abandons a GHAP: the active one, or any in a session that is over.
    pub fn abandon_ghap(
        &mut self,
        owner: &GhapOwner,
        id: Option<Id>,
        reason: &str,
        now: Time,
    ) -> StoreResult<Ghap> {
        let ending = CheckedResolution::validate(&GhapResolve {
            status: GhapStatus::Abandoned,
            result: reason,
            surprise: None,
            root_cause: None,
            what_worked: None,
            takeaway: None,
            applies_when: &[],
            outcome: None,
            ignores_other_runs: false,
        })?;
        self.write(|transaction| {
            let own = find_active(transaction, &owner_rows(transaction, owner, now)?)?;
            let ghap = match (id, own) {
                (None, None) => return Err(GhapError::NoneActive.into()),
                (None, Some(own)) => own,
                (Some(id), Some(own)) if own.id == id => own,
                (Some(id), _) => {
                    let ghap = load_ghap(transaction, id)?;
                    check_orphaned(transaction, &ghap, now)?;
                    ghap
                }
            };
            Ok(resolution::write_resolution(transaction, &ghap, &ending, None, now)?.ghap)
        })
    }

    /// Changes the lesson of a resolved GHAP. Returns it with the values that quoted the old lesson, which were updated or
    /// deleted. A text that is not given stays.
    pub fn edit_lesson(
        &mut self,
        id: Id,
        edit: &LessonEdit<'_>,
        now: Time,
    ) -> StoreResult<(Ghap, Vec<FollowedValue>)> {
        let long = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Long))
                .transpose()
                .map_err(GhapError::from)
        };
        let (what_worked, takeaway) =
            (long(edit.what_worked, "what worked")?, long(edit.takeaway, "the takeaway")?);
        let phrases =
            edit.applies_when.map(validate_phrases).transpose().map_err(GhapError::from)?;
        self.write(|transaction| {
            let ghap = load_ghap(transaction, id)?;
            if ghap.status == GhapStatus::Active {
                return Err(GhapError::NotEnded { id: id.short() }.into());
            }
            transaction.execute(
                "UPDATE ghap SET what_worked = coalesce(?2, what_worked), takeaway = coalesce(?3, takeaway),
                        applies_when = coalesce(?5, applies_when), phrases_derived = phrases_derived AND ?5 IS NULL,
                        changed = max(changed + 1, ?4)
                 WHERE uid = ?1",
                params![id, what_worked, takeaway, now, phrases.as_deref().map(list_to_json)],
            )?;
            let followed = values::follow_lesson(transaction, id, now)?;
            Ok((load_ghap(transaction, id)?, followed))
        })
    }

    /// Returns a GHAP by its id.
    pub fn ghap(&self, id: Id) -> StoreResult<Ghap> {
        load_ghap(&self.connection, id)
    }

    /// Returns GHAPs, the newest first.
    pub fn ghaps(&self, filter: &GhapFilter, now: Time) -> StoreResult<Vec<Ghap>> {
        // Only an active GHAP can be orphaned. The resolved ones, which are most, are not even read.
        let mut found = select_ghaps(
            &self.connection,
            &format!(
                "WHERE (?1 IS NULL OR project.key = ?1) AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR domain = ?3)
                       AND (?4 IS NULL OR ghap.id < ?4) AND (NOT ?5 OR status = 'active') AND (NOT ?6 OR {})
                 ORDER BY ghap.id DESC",
                origins::own_row_condition("ghap.uid")
            ),
            &[
                &filter.project,
                &filter.status,
                &filter.domain,
                &filter.before,
                &filter.orphaned,
                &filter.own,
            ],
            |ghap| Ok(!filter.orphaned || self.is_orphaned(ghap, now)?),
            filter.limit,
        )?;
        load_revisions_and_notes(&self.connection, &mut found)?;
        Ok(found)
    }

    /// Returns true if a GHAP is active and its session is over.
    pub fn is_orphaned(&self, ghap: &Ghap, now: Time) -> StoreResult<bool> {
        if ghap.status != GhapStatus::Active {
            return Ok(false);
        }
        Ok(self.session(&ghap.session)?.is_none_or(|session| session.is_over(now)))
    }
}

fn check_note(text: &str) -> Result<Clean, GhapError> {
    Ok(Clean::within(text, "the note", Limit::Long)?)
}

fn add_note(connection: &Connection, id: Id, text: &Clean, now: Time) -> StoreResult {
    connection.execute(
        "INSERT INTO ghap_note (ghap, at, text) SELECT id, ?2, ?3 FROM ghap WHERE uid = ?1",
        params![id, now, text],
    )?;
    connection.execute(
        "UPDATE ghap SET changed = max(changed + 1, ?2) WHERE uid = ?1",
        params![id, now],
    )?;
    Ok(())
}

/// The database rows of a [`GhapOwner`].
struct OwnerRows {
    project: i64,
    session: i64,
    agent: Clean,
}

fn owner_rows(connection: &Connection, owner: &GhapOwner, now: Time) -> StoreResult<OwnerRows> {
    let (session, project) =
        sessions::find_acting_session(connection, owner.client.as_ref(), &owner.place, now)?;
    Ok(OwnerRows { project, session, agent: owner.agent.clone().unwrap_or_default() })
}

fn find_active(connection: &Connection, at: &OwnerRows) -> StoreResult<Option<Ghap>> {
    find_ghap(
        connection,
        "WHERE ghap.project = ?1 AND ghap.session = ?2 AND ghap.agent = ?3 AND status = 'active'",
        &[&at.project, &at.session, &at.agent],
    )
}

fn require_active(connection: &Connection, owner: &GhapOwner, now: Time) -> StoreResult<Ghap> {
    find_active(connection, &owner_rows(connection, owner, now)?)?
        .ok_or_else(|| GhapError::NoneActive.into())
}

fn check_orphaned(connection: &Connection, ghap: &Ghap, now: Time) -> StoreResult {
    let id = ghap.id.short();
    if ghap.status != GhapStatus::Active {
        return Err(GhapError::Ended { id, status: ghap.status }.into());
    }
    let session = sessions::find_session(connection, &ghap.session)?;
    if session.is_some_and(|session| !session.is_over(now)) {
        Err(GhapError::Alive { id }.into())
    } else {
        Ok(())
    }
}
