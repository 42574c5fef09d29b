//! GHAPs in the database: their whole life, each step one transaction.

use rusqlite::types::ToSql;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::entry::Place;
use super::{Store, StoreError, outcomes, sessions};
use crate::ghap::{
    self, Domain, Evidence, Expectation, Ghap, GhapError, Lesson, Note, Resolution, Resolve,
    Revision, RootCause, Start, Stated, Status, Tier, Update,
};
use crate::outcome::Outcome;
use crate::project::ProjectKey;
use crate::{Clean, Id, Limit, Time};

/// On whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The client's name for its session; none is the standing session of the command line.
    pub client: Option<Clean>,
    /// The agent; none is the main one.
    pub agent: Option<Clean>,
    /// Where.
    pub place: Place,
}

/// Which GHAPs to list.
#[derive(Debug, Clone, Default)]
pub struct GhapFilter {
    /// Of one project.
    pub project: Option<ProjectKey>,
    /// In one status.
    pub status: Option<Status>,
    /// Of one kind of work.
    pub domain: Option<Domain>,
    /// Active, and their session is over.
    pub orphaned: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// What came of resolving.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// As it is now.
    pub ghap: Ghap,
    /// The run it was held against.
    pub outcome: Option<Outcome>,
}

const SELECT: &str = "SELECT ghap.*, project.key AS project_key, session.client AS session_client,
         outcome.uid AS outcome_uid
     FROM ghap JOIN project ON project.id = ghap.project JOIN session ON session.id = ghap.session
     LEFT JOIN outcome ON outcome.id = ghap.outcome";

impl Store {
    /// Starts one. There must be no other for this session and agent here.
    pub fn start_ghap(
        &mut self,
        owner: &Owner,
        start: &Start<'_>,
        now: Time,
    ) -> Result<Ghap, StoreError> {
        let short = |text, what| Clean::within(text, what, Limit::Short).map_err(GhapError::from);
        let goal = short(start.goal, "the goal")?;
        let hypothesis = short(start.hypothesis, "the hypothesis")?;
        let action = short(start.action, "the action")?;
        let prediction = short(start.prediction, "the prediction")?;
        let target = start.target.map(|target| short(target, "the target")).transpose()?;
        let confidence = start.confidence.map(ghap::confidence).transpose()?;
        let Expectation { expects, target, stated, testable } =
            Expectation::of(&prediction, &action, start.expects, target);
        self.write(|transaction| {
            let at = standing(transaction, owner, now)?;
            if let Some(active) = active(transaction, &at)? {
                return Err(GhapError::Active { id: active.id.short(), goal: active.goal }.into());
            }
            let ghap = Ghap {
                id: Id::new(now),
                // The row knows both; the names are read back below.
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
                status: Status::Active,
                resolution: None,
                created: now,
                changed: now,
            };
            put(transaction, at.project, at.session, &ghap)?;
            by_id(transaction, ghap.id)
        })
    }

    /// The active one of this session and agent.
    pub fn active_ghap(&self, owner: &Owner) -> Result<Option<Ghap>, StoreError> {
        let Some(project) = self.project(&owner.place)? else { return Ok(None) };
        let client = match &owner.client {
            Some(client) => client.clone(),
            None => sessions::standing_name(project.id),
        };
        let agent = owner.agent.clone().unwrap_or_default();
        one(
            &self.connection,
            "WHERE project.uid = ?1 AND session.client = ?2 AND ghap.agent = ?3 AND status = 'active'",
            &[&project.id, &client, &agent],
        )
    }

    /// Changes the active one. A changed belief pushes the old one to the revisions.
    pub fn update_ghap(
        &mut self,
        owner: &Owner,
        update: &Update<'_>,
        now: Time,
    ) -> Result<Ghap, StoreError> {
        let short = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Short).map_err(GhapError::from))
                .transpose()
        };
        let hypothesis = short(update.hypothesis, "the hypothesis")?;
        let action = short(update.action, "the action")?;
        let prediction = short(update.prediction, "the prediction")?;
        let target = short(update.target, "the target")?;
        let confidence = update.confidence.map(ghap::confidence).transpose()?;
        let note = update.note.map(checked_note).transpose()?;
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
            let old = own(transaction, owner, now)?;
            let hypothesis = hypothesis.unwrap_or_else(|| old.hypothesis.clone());
            let action = action.unwrap_or_else(|| old.action.clone());
            let prediction = prediction.unwrap_or_else(|| old.prediction.clone());
            let changed = (&hypothesis, &action, &prediction) != (&old.hypothesis, &old.action, &old.prediction);
            // What was stated once holds until it is stated anew; the rest follows the words.
            let expects = update.expects.or(old.stated.expects.then_some(old.expects));
            let target = target.or_else(|| old.target.clone().filter(|_| old.stated.target));
            let Expectation { expects, target, stated, testable } =
                Expectation::of(&prediction, &action, expects, target);
            if changed {
                transaction.execute(
                    "INSERT INTO ghap_revision (ghap, at, hypothesis, action, prediction)
                     SELECT id, ?2, hypothesis, action, prediction FROM ghap WHERE uid = ?1",
                    params![old.id, now.max(old.predicted)],
                )?;
            }
            // Whoever moves the target must not be borne out by a run from before.
            let moved = changed || (expects, &target) != (old.expects, &old.target);
            transaction.execute(
                "UPDATE ghap SET hypothesis = ?2, action = ?3, prediction = ?4, expects = ?5, target = ?6,
                        stated_expects = ?7, stated_target = ?8, testable = ?9, strategy = ?10,
                        confidence = coalesce(?11, confidence), changed = max(changed + 1, ?12),
                        predicted = CASE WHEN ?13 THEN max(predicted, ?12) ELSE predicted END
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
            by_id(transaction, old.id)
        })
    }

    /// Adds a remark to the active one.
    pub fn note_ghap(&mut self, owner: &Owner, text: &str, now: Time) -> Result<Ghap, StoreError> {
        let note = checked_note(text)?;
        self.write(|transaction| {
            let ghap = own(transaction, owner, now)?;
            add_note(transaction, ghap.id, &note, now)?;
            by_id(transaction, ghap.id)
        })
    }

    /// Ends the active one, and leaves an experience: one transaction, so that there is never one without the other.
    pub fn resolve_ghap(
        &mut self,
        owner: &Owner,
        resolve: &Resolve<'_>,
        now: Time,
    ) -> Result<Resolved, StoreError> {
        let ending = Ending::check(resolve)?;
        self.write(|transaction| {
            let ghap = own(transaction, owner, now)?;
            let outcome = evidence(transaction, &ghap, resolve.outcome)?;
            end(transaction, &ghap, &ending, outcome, now)
        })
    }

    /// Takes over one whose session is over. It keeps its history.
    pub fn adopt_ghap(&mut self, owner: &Owner, id: Id, now: Time) -> Result<Ghap, StoreError> {
        self.write(|transaction| {
            let ghap = by_id(transaction, id)?;
            let at = standing(transaction, owner, now)?;
            if let Some(active) = active(transaction, &at)? {
                let (id, goal) = (active.id.short(), active.goal);
                return Err(if active.id == ghap.id { GhapError::Own { id } } else { GhapError::Active { id, goal } }.into());
            }
            must_be_orphaned(transaction, &ghap, now)?;
            let here: ProjectKey =
                transaction.query_row("SELECT key FROM project WHERE id = ?1", [at.project], |row| row.get(0))?;
            if ghap.project != here {
                return Err(GhapError::Elsewhere { id: ghap.id.short(), project: ghap.project }.into());
            }
            transaction.execute(
                "UPDATE ghap SET session = ?2, agent = ?3, project = ?4, changed = max(changed + 1, ?5) WHERE uid = ?1",
                params![ghap.id, at.session, at.agent, at.project, now],
            )?;
            by_id(transaction, ghap.id)
        })
    }

    /// Gives one up: the active one, or any whose session is over.
    pub fn abandon_ghap(
        &mut self,
        owner: &Owner,
        id: Option<Id>,
        reason: &str,
        now: Time,
    ) -> Result<Ghap, StoreError> {
        let ending = Ending::check(&Resolve {
            status: Status::Abandoned,
            result: reason,
            surprise: None,
            root_cause: None,
            what_worked: None,
            takeaway: None,
            outcome: None,
        })?;
        self.write(|transaction| {
            let own = active(transaction, &standing(transaction, owner, now)?)?;
            let ghap = match (id, own) {
                (None, None) => return Err(GhapError::NoneActive.into()),
                (None, Some(own)) => own,
                (Some(id), Some(own)) if own.id == id => own,
                (Some(id), _) => {
                    let ghap = by_id(transaction, id)?;
                    must_be_orphaned(transaction, &ghap, now)?;
                    ghap
                }
            };
            Ok(end(transaction, &ghap, &ending, None, now)?.ghap)
        })
    }

    /// Says anew what to take along from one that has ended. What is `None` stays.
    pub fn edit_lesson(
        &mut self,
        id: Id,
        what_worked: Option<&str>,
        takeaway: Option<&str>,
        now: Time,
    ) -> Result<Ghap, StoreError> {
        let long = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Long))
                .transpose()
                .map_err(GhapError::from)
        };
        let (what_worked, takeaway) =
            (long(what_worked, "what worked")?, long(takeaway, "the takeaway")?);
        self.write(|transaction| {
            let ghap = by_id(transaction, id)?;
            if ghap.status == Status::Active {
                return Err(GhapError::NotEnded { id: id.short() }.into());
            }
            transaction.execute(
                "UPDATE ghap SET what_worked = coalesce(?2, what_worked), takeaway = coalesce(?3, takeaway),
                        changed = max(changed + 1, ?4)
                 WHERE uid = ?1",
                params![id, what_worked, takeaway, now],
            )?;
            by_id(transaction, id)
        })
    }

    /// One, by its id.
    pub fn ghap(&self, id: Id) -> Result<Ghap, StoreError> {
        by_id(&self.connection, id)
    }

    /// The newest first.
    pub fn ghaps(&self, filter: &GhapFilter, now: Time) -> Result<Vec<Ghap>, StoreError> {
        let mut found = many(
            &self.connection,
            "WHERE (?1 IS NULL OR project.key = ?1) AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR domain = ?3)
             ORDER BY ghap.id DESC",
            &[&filter.project, &filter.status, &filter.domain],
            |ghap| {
                Ok(!filter.orphaned || self.orphaned(ghap, now)?)
            },
            filter.limit,
        )?;
        children(&self.connection, &mut found)?;
        Ok(found)
    }

    /// Whether it is active and its session is over.
    pub fn orphaned(&self, ghap: &Ghap, now: Time) -> Result<bool, StoreError> {
        if ghap.status != Status::Active {
            return Ok(false);
        }
        Ok(self.session(&ghap.session)?.is_none_or(|session| session.over(now)))
    }
}

fn checked_note(text: &str) -> Result<Clean, GhapError> {
    Ok(Clean::within(text, "the note", Limit::Long)?)
}

fn add_note(connection: &Connection, id: Id, text: &Clean, now: Time) -> Result<(), StoreError> {
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

/// Where an owner stands, by rows.
struct Standing {
    project: i64,
    session: i64,
    agent: Clean,
}

fn standing(connection: &Connection, owner: &Owner, now: Time) -> Result<Standing, StoreError> {
    let (session, project) =
        sessions::acting(connection, owner.client.as_ref(), &owner.place, now)?;
    Ok(Standing { project, session, agent: owner.agent.clone().unwrap_or_default() })
}

fn active(connection: &Connection, at: &Standing) -> Result<Option<Ghap>, StoreError> {
    one(
        connection,
        "WHERE ghap.project = ?1 AND ghap.session = ?2 AND ghap.agent = ?3 AND status = 'active'",
        &[&at.project, &at.session, &at.agent],
    )
}

fn own(connection: &Connection, owner: &Owner, now: Time) -> Result<Ghap, StoreError> {
    active(connection, &standing(connection, owner, now)?)?
        .ok_or_else(|| GhapError::NoneActive.into())
}

fn must_be_orphaned(connection: &Connection, ghap: &Ghap, now: Time) -> Result<(), StoreError> {
    let id = ghap.id.short();
    if ghap.status != Status::Active {
        return Err(GhapError::Ended { id, status: ghap.status }.into());
    }
    let session = sessions::by_client(connection, &ghap.session)?;
    if session.is_some_and(|session| !session.over(now)) {
        Err(GhapError::Alive { id }.into())
    } else {
        Ok(())
    }
}

/// The texts of a resolution, checked before anything is touched.
struct Ending {
    status: Status,
    result: Clean,
    surprise: Option<Clean>,
    root_cause: Option<RootCause>,
    lesson: Option<Lesson>,
}

impl Ending {
    fn check(resolve: &Resolve<'_>) -> Result<Self, GhapError> {
        if resolve.status == Status::Active {
            return Err(GhapError::StillActive);
        }
        let long = |text: Option<&str>, what| {
            text.map(|text| Clean::within(text, what, Limit::Long)).transpose()
        };
        let root_cause = match resolve.root_cause {
            Some((category, text)) => Some(RootCause {
                category,
                text: Clean::within(text, "the root cause", Limit::Long)?,
            }),
            None => None,
        };
        let surprise = long(resolve.surprise, "the surprise")?;
        let (what_worked, takeaway) =
            (long(resolve.what_worked, "what worked")?, long(resolve.takeaway, "the takeaway")?);
        ghap::need_for(resolve.status, surprise.is_some(), root_cause.is_some())?;
        Ok(Self {
            status: resolve.status,
            result: Clean::within(resolve.result, "the result", Limit::Long)?,
            surprise,
            root_cause,
            lesson: (what_worked.is_some() || takeaway.is_some())
                .then_some(Lesson { what_worked, takeaway }),
        })
    }
}

/// The run to hold the claim against: the one that was named, which must fit, or the newest that does.
fn evidence(
    connection: &Connection,
    ghap: &Ghap,
    named: Option<Id>,
) -> Result<Option<(Outcome, bool)>, StoreError> {
    if let Some(id) = named {
        let refuse = |why| StoreError::from(GhapError::NoEvidence { id: id.short(), why });
        let outcome = outcomes::select(connection, "WHERE outcome.uid = ?1", [id])?.pop();
        let outcome = outcome.ok_or_else(|| refuse("there is no such outcome"))?;
        let came_true = ghap.compare(&outcome).map_err(refuse)?;
        return Ok(Some((outcome, came_true)));
    }
    // By the time they ended: one that waited in the spool was written later than it ran.
    let recent = outcomes::select(
        connection,
        "WHERE project.key = ?1 AND outcome.at >= ?2 AND (session.client = ?3 OR outcome.session IS NULL)
         ORDER BY outcome.at DESC, outcome.id DESC LIMIT 500",
        params![ghap.project, ghap.predicted, ghap.session],
    )?;
    Ok(recent
        .into_iter()
        .find_map(|outcome| ghap.compare(&outcome).ok().map(|came_true| (outcome, came_true))))
}

fn end(
    connection: &Connection,
    ghap: &Ghap,
    ending: &Ending,
    outcome: Option<(Outcome, bool)>,
    now: Time,
) -> Result<Resolved, StoreError> {
    // Whoever gives up claims nothing that a run could bear out.
    let evidence = outcome.as_ref().filter(|_| ending.status != Status::Abandoned).map(
        |(outcome, came_true)| Evidence {
            outcome: Some(outcome.id),
            supports: *came_true == (ending.status == Status::Confirmed),
        },
    );
    let tier = ghap::tier(ending.status, ghap.testable, evidence);
    let (cause, cause_text) =
        ending.root_cause.as_ref().map(|cause| (cause.category, &cause.text)).unzip();
    let lesson = ending.lesson.as_ref();
    let at = now.max(ghap.created);
    connection.execute(
        "UPDATE ghap SET status = ?2, resolved = ?3, result = ?4, surprise = ?5, cause = ?6, cause_text = ?7,
                what_worked = ?8, takeaway = ?9, tier = ?10, supports = ?11,
                outcome = (SELECT id FROM outcome WHERE uid = ?12), changed = max(changed + 1, ?3)
         WHERE uid = ?1",
        params![
            ghap.id,
            ending.status,
            at,
            ending.result,
            ending.surprise,
            cause,
            cause_text,
            lesson.and_then(|lesson| lesson.what_worked.as_ref()),
            lesson.and_then(|lesson| lesson.takeaway.as_ref()),
            tier,
            evidence.map(|evidence| evidence.supports),
            evidence.and_then(|evidence| evidence.outcome),
        ],
    )?;
    connection.execute(
        "INSERT INTO experience (uid, project, ghap, tier, created) SELECT ?2, project, id, ?3, ?4 FROM ghap WHERE uid = ?1",
        params![ghap.id, Id::new(now), tier, at],
    )?;
    Ok(Resolved {
        ghap: by_id(connection, ghap.id)?,
        outcome: evidence.and(outcome).map(|(outcome, _)| outcome),
    })
}

fn by_id(connection: &Connection, id: Id) -> Result<Ghap, StoreError> {
    one(connection, "WHERE ghap.uid = ?1", &[&id])?
        .ok_or_else(|| StoreError::NotFound { what: "GHAP", id: id.into() })
}

fn one(
    connection: &Connection,
    rest: &str,
    params: &[&dyn ToSql],
) -> Result<Option<Ghap>, StoreError> {
    let mut ghap = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    Ok(ghap.query_row(params, |row| read_whole(connection, row)).optional()?)
}

/// Those of a query, without their revisions and notes.
pub(crate) fn many(
    connection: &Connection,
    rest: &str,
    params: &[&dyn ToSql],
    mut keep: impl FnMut(&Ghap) -> Result<bool, StoreError>,
    limit: Option<usize>,
) -> Result<Vec<Ghap>, StoreError> {
    let mut ghaps = connection.prepare_cached(&format!("{SELECT} {rest}"))?;
    let mut rows = ghaps.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()?
        && limit.is_none_or(|limit| found.len() < limit)
    {
        let ghap = read(row)?;
        if keep(&ghap)? {
            found.push(ghap);
        }
    }
    Ok(found)
}

/// Reads revisions and notes in.
pub(crate) fn children(connection: &Connection, ghaps: &mut [Ghap]) -> rusqlite::Result<()> {
    let mut revisions = connection.prepare_cached(
        "SELECT at, hypothesis, action, prediction FROM ghap_revision
         WHERE ghap = (SELECT id FROM ghap WHERE uid = ?1) ORDER BY id",
    )?;
    let mut notes = connection.prepare_cached(
        "SELECT at, text FROM ghap_note WHERE ghap = (SELECT id FROM ghap WHERE uid = ?1) ORDER BY id",
    )?;
    for ghap in ghaps {
        ghap.revisions = revisions
            .query_map([ghap.id], |row| {
                Ok(Revision {
                    at: row.get(0)?,
                    hypothesis: row.get(1)?,
                    action: row.get(2)?,
                    prediction: row.get(3)?,
                })
            })?
            .collect::<Result<_, _>>()?;
        ghap.notes = notes
            .query_map([ghap.id], |row| Ok(Note { at: row.get(0)?, text: row.get(1)? }))?
            .collect::<Result<_, _>>()?;
    }
    Ok(())
}

/// Gives up an active one because two places became one, and another goes on there.
pub(crate) fn lay_down(connection: &Connection, id: Id) -> rusqlite::Result<()> {
    connection.execute(
        "UPDATE ghap SET status = ?2, tier = ?3, result = ?4, resolved = changed, changed = changed + 1 WHERE uid = ?1",
        params![id, Status::Abandoned, Tier::Abandoned, Resolution::LAID_DOWN],
    )?;
    Ok(())
}

/// Writes one down as it is, in place of an older one.
pub(crate) fn put(
    connection: &Connection,
    project: i64,
    session: i64,
    ghap: &Ghap,
) -> rusqlite::Result<()> {
    let resolution = ghap.resolution.as_ref();
    let cause = resolution.and_then(|resolution| resolution.root_cause.as_ref());
    let lesson = resolution.and_then(|resolution| resolution.lesson.as_ref());
    let evidence = resolution.and_then(|resolution| resolution.evidence);
    let number: i64 = connection
        .prepare_cached(
            "INSERT INTO ghap (uid, project, session, agent, domain, strategy, goal, hypothesis, action, prediction,
                               expects, target, stated_expects, stated_target, testable, confidence, status, resolved,
                               result, surprise, cause, cause_text, what_worked, takeaway, tier, outcome, supports,
                               created, changed, predicted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
                     ?23, ?24, ?25, (SELECT id FROM outcome WHERE uid = ?26), ?27, ?28, ?29, ?30)
             ON CONFLICT (uid) DO UPDATE SET
                 project = excluded.project, session = excluded.session, agent = excluded.agent,
                 domain = excluded.domain, strategy = excluded.strategy, goal = excluded.goal,
                 hypothesis = excluded.hypothesis, action = excluded.action, prediction = excluded.prediction,
                 expects = excluded.expects, target = excluded.target, stated_expects = excluded.stated_expects,
                 stated_target = excluded.stated_target, testable = excluded.testable,
                 confidence = excluded.confidence, status = excluded.status, resolved = excluded.resolved,
                 result = excluded.result, surprise = excluded.surprise, cause = excluded.cause,
                 cause_text = excluded.cause_text, what_worked = excluded.what_worked, takeaway = excluded.takeaway,
                 tier = excluded.tier, outcome = excluded.outcome, supports = excluded.supports,
                 created = excluded.created, changed = excluded.changed, predicted = excluded.predicted
             RETURNING id",
        )?
        .query_row(
            params![
                ghap.id,
                project,
                session,
                ghap.agent.clone().unwrap_or_default(),
                ghap.domain,
                ghap.strategy,
                ghap.goal,
                ghap.hypothesis,
                ghap.action,
                ghap.prediction,
                ghap.expects,
                ghap.target,
                ghap.stated.expects,
                ghap.stated.target,
                ghap.testable,
                ghap.confidence,
                ghap.status,
                resolution.map(|resolution| resolution.at),
                resolution.map(|resolution| &resolution.result),
                resolution.and_then(|resolution| resolution.surprise.as_ref()),
                cause.map(|cause| cause.category),
                cause.map(|cause| &cause.text),
                lesson.and_then(|lesson| lesson.what_worked.as_ref()),
                lesson.and_then(|lesson| lesson.takeaway.as_ref()),
                resolution.map(|resolution| resolution.tier),
                evidence.and_then(|evidence| evidence.outcome),
                evidence.map(|evidence| evidence.supports),
                ghap.created,
                ghap.changed,
                ghap.predicted,
            ],
            |row| row.get(0),
        )?;
    for table in ["ghap_revision", "ghap_note"] {
        connection
            .prepare_cached(&format!("DELETE FROM {table} WHERE ghap = ?1"))?
            .execute([number])?;
    }
    for Revision { at, hypothesis, action, prediction } in &ghap.revisions {
        connection
            .prepare_cached(
                "INSERT INTO ghap_revision (ghap, at, hypothesis, action, prediction) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![number, at, hypothesis, action, prediction])?;
    }
    for Note { at, text } in &ghap.notes {
        connection
            .prepare_cached("INSERT INTO ghap_note (ghap, at, text) VALUES (?1, ?2, ?3)")?
            .execute(params![number, at, text])?;
    }
    Ok(())
}

/// One row with its revisions and notes.
pub(crate) fn read_whole(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Ghap> {
    let mut ghap = [read(row)?];
    children(connection, &mut ghap)?;
    let [ghap] = ghap;
    Ok(ghap)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Ghap> {
    let agent: Clean = row.get("agent")?;
    let tier: Option<Tier> = row.get("tier")?;
    let resolution = match tier {
        None => None,
        Some(tier) => Some(Resolution {
            at: row.get("resolved")?,
            result: row.get("result")?,
            surprise: row.get("surprise")?,
            root_cause: match row.get("cause")? {
                Some(category) => Some(RootCause { category, text: row.get("cause_text")? }),
                None => None,
            },
            lesson: match (row.get("what_worked")?, row.get("takeaway")?) {
                (None, None) => None,
                (what_worked, takeaway) => Some(Lesson { what_worked, takeaway }),
            },
            tier,
            evidence: match row.get("supports")? {
                Some(supports) => Some(Evidence { outcome: row.get("outcome_uid")?, supports }),
                None => None,
            },
        }),
    };
    Ok(Ghap {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        session: row.get("session_client")?,
        agent: (!agent.is_empty()).then_some(agent),
        domain: row.get("domain")?,
        strategy: row.get("strategy")?,
        goal: row.get("goal")?,
        hypothesis: row.get("hypothesis")?,
        action: row.get("action")?,
        prediction: row.get("prediction")?,
        expects: row.get("expects")?,
        target: row.get("target")?,
        stated: Stated { expects: row.get("stated_expects")?, target: row.get("stated_target")? },
        testable: row.get("testable")?,
        confidence: row.get("confidence")?,
        predicted: row.get("predicted")?,
        revisions: Vec::new(),
        notes: Vec::new(),
        status: row.get("status")?,
        resolution,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}
