//! Values in the database: held against their cluster when they are written, weighed by what happened since.

use std::sync::LazyLock;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::entry::Place;
use super::hot::HotStore;
use super::{Store, StoreError, projects, tables};
use crate::cluster::{Axis, Common};
use crate::embed::Vector;
use crate::project::ProjectKey;
use crate::value::{self, Standing, Value, ValueError};
use crate::{Clean, Id, IdSuffix, Time};

mod bearing;
mod fit;
mod weigh;

pub(crate) use bearing::bearing;
use fit::{Candidate, Judged, fit, pointing};
pub(crate) use weigh::{every, is_due, weigh};

/// Texts so near to each other say the same.
const SAME: f32 = 0.8;
/// Texts so near are about the same, and may say the opposite.
const ABOUT: f32 = 0.45;

/// Something to work by.
#[derive(Debug, Clone, Copy)]
pub struct NewValue<'a> {
    /// Where it holds; none is everywhere.
    pub place: Option<&'a Place>,
    /// The cluster that it stands for.
    pub cluster: Id,
    /// What it says.
    pub text: &'a str,
    /// Whether whoever says it also holds it.
    pub standing: Standing,
}

/// What to change about a value. What is `None` stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueEdit<'a> {
    /// What it says.
    pub text: Option<&'a str>,
    /// What it is worth. Whoever accepts one that was doubted clears it of what spoke against it.
    pub standing: Option<Standing>,
    /// Where it holds: in a place, or everywhere.
    pub place: Option<Option<&'a Place>>,
}

/// Which values to list.
#[derive(Debug, Clone, Default)]
pub struct ValueFilter {
    /// Those that hold in one project: its own, and those that hold everywhere.
    pub project: Option<ProjectKey>,
    /// Those of one standing; none is all but those that are retired.
    pub standing: Option<Standing>,
    /// Those of one cluster.
    pub cluster: Option<Id>,
    /// Also those that are retired.
    pub retired: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A value, and what it did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// The value.
    #[serde(flatten)]
    pub value: Value,
    /// How often it was shown and the next outcome was better.
    pub helped: u32,
    /// How often it was worse.
    pub hurt: u32,
}

/// What came of writing a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written {
    /// As it is now.
    pub value: Value,
    /// Whether it was said before, so that there still is one.
    pub merged: bool,
    /// Values about the same thing that seem to say the opposite.
    pub conflicts: Vec<Value>,
}

/// What sentences have in common, whatever is stored: so that what says the same here says the same everywhere.
static PLAIN: LazyLock<Common> = LazyLock::new(|| Common::of(Axis::Surprise, []));

/// What somebody says, to be compared with what others say.
struct Sentence {
    words: Vec<String>,
    vector: Option<Vector>,
    text: Clean,
}

impl Sentence {
    fn of(text: &Clean) -> Self {
        let words = text.split(|sign: char| !sign.is_alphanumeric());
        let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        Self { words, vector: pointing(&PLAIN, text), text: text.clone() }
    }

    /// How near two are to each other.
    fn nearness(&self, other: &Self) -> f32 {
        match (&self.vector, &other.vector) {
            (Some(one), Some(other)) => one.cosine(other),
            _ => 0.0,
        }
    }

    /// Whether both say the same.
    fn says(&self, other: &Self) -> bool {
        self.words == other.words
            || (self.nearness(other) >= SAME && !value::opposed(&self.text, &other.text))
    }

    /// Whether both are about the same and seem to say the opposite.
    fn contradicts(&self, other: &Self) -> bool {
        value::opposed(&self.text, &other.text) && self.nearness(other) >= ABOUT
    }
}

pub(crate) const SELECT: &str = "SELECT value.*, project.key AS project_key FROM value LEFT JOIN project ON project.id = value.project";

pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Value> {
    Ok(Value {
        id: row.get("uid")?,
        project: row.get("project_key")?,
        text: row.get("text")?,
        axis: row.get("axis")?,
        cluster: row.get("cluster")?,
        standing: row.get("standing")?,
        source: row.get("source")?,
        distance: row.get("distance")?,
        threshold: row.get("threshold")?,
        support: row.get("support")?,
        contradicted: row.get("contradicted")?,
        since: row.get("since")?,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}

/// Writes a value down as it is, in place of an older one.
pub(crate) fn insert(
    connection: &Connection,
    project: Option<i64>,
    value: &Value,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO value (uid, project, text, axis, cluster, standing, source, distance, threshold, support,
                                contradicted, since, created, changed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
             ON CONFLICT (uid) DO UPDATE SET project = excluded.project, text = excluded.text, axis = excluded.axis,
                 cluster = excluded.cluster, standing = excluded.standing, source = excluded.source,
                 distance = excluded.distance, threshold = excluded.threshold, support = excluded.support,
                 contradicted = excluded.contradicted, since = excluded.since, created = excluded.created,
                 changed = excluded.changed",
        )?
        .execute(params![
            value.id,
            project,
            value.text,
            value.axis,
            value.cluster,
            value.standing,
            value.source,
            value.distance,
            value.threshold,
            value.support,
            value.contradicted,
            value.since,
            value.created,
            value.changed,
        ])?;
    Ok(())
}

/// Writes a value down that stays where it holds.
fn update(connection: &Connection, value: &Value) -> Result<(), StoreError> {
    let project = connection
        .prepare_cached("SELECT project FROM value WHERE uid = ?1")?
        .query_row([value.id], |row| row.get(0))?;
    insert(connection, project, value)
}

pub(crate) fn one(connection: &Connection, id: Id) -> Result<Value, StoreError> {
    let query = format!("{SELECT} WHERE value.uid = ?1");
    let found = connection.prepare_cached(&query)?.query_row([id], read).optional()?;
    found.ok_or_else(|| StoreError::NotFound { what: "value", id: id.into() })
}

/// How often a value helped and hurt since a time.
fn effects(connection: &Connection, value: Id, since: Time) -> Result<(u32, u32), StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FILTER (WHERE effect = 'helped'), count(*) FILTER (WHERE effect = 'hurt')
             FROM injection WHERE row = ?1 AND at > ?2",
        )?
        .query_row(params![value, since], |row| Ok((row.get(0)?, row.get(1)?)))?)
}

/// Values about the same that seem to say the opposite.
fn conflicts(connection: &Connection, value: &Value) -> Result<Vec<Value>, StoreError> {
    let sentence = Sentence::of(&value.text);
    let mut all = every(connection)?;
    all.retain(|other| {
        other.id != value.id
            && other.standing != Standing::Retired
            && Sentence::of(&other.text).contradicts(&sentence)
    });
    Ok(all)
}

impl Store {
    /// Adds a value, if it fits its cluster. What was said before is not said twice: then the one that is there is what comes back,
    /// with the higher standing of the two.
    pub fn add_value(&mut self, new: &NewValue<'_>, now: Time) -> Result<Written, StoreError> {
        let text = value::text(new.text)?;
        let cluster = self.cluster(new.cluster)?;
        self.write(|transaction| {
            let Judged { distance, threshold } = fit(transaction, cluster.id, cluster.axis, &text)?;
            let project =
                new.place.map(|place| projects::row_of(transaction, place, now)).transpose()?;
            let sentence = Sentence::of(&text);
            let mut known = every(transaction)?.into_iter();
            let known = known.find(|other| Sentence::of(&other.text).says(&sentence));
            let merged = known.is_some();
            let value = if let Some(known) = known {
                let held = known.standing == Standing::Accepted;
                let standing = if held { Standing::Accepted } else { new.standing };
                let since = if known.standing == Standing::Retired { now } else { known.since };
                let cluster = known.cluster.or(Some(cluster.id));
                let changed = Time::from_millis(known.changed.millis() + 1).max(now);
                let value = Value { cluster, standing, since, changed, ..known };
                update(transaction, &value)?;
                value
            } else {
                let value = Value {
                    id: Id::new(now),
                    project: None,
                    text,
                    axis: cluster.axis,
                    cluster: Some(cluster.id),
                    standing: new.standing,
                    source: None,
                    distance,
                    threshold,
                    support: 0,
                    contradicted: 0,
                    since: now,
                    created: now,
                    changed: now,
                };
                insert(transaction, project, &value)?;
                value
            };
            weigh(transaction, now, &mut super::Regrouped::default())?;
            let conflicts = conflicts(transaction, &value)?;
            Ok(Written { value: one(transaction, value.id)?, merged, conflicts })
        })
    }

    /// Changes a value. Other words have to fit its cluster too.
    pub fn edit_value(
        &mut self,
        id: Id,
        edit: &ValueEdit<'_>,
        now: Time,
    ) -> Result<Written, StoreError> {
        if edit.text.is_none() && edit.standing.is_none() && edit.place.is_none() {
            return Err(ValueError::NothingToChange.into());
        }
        let text = edit.text.map(value::text).transpose()?;
        self.write(|transaction| {
            let mut value = one(transaction, id)?;
            if let Some(text) = text {
                if let Some(cluster) = value.cluster {
                    let judged = fit(transaction, cluster, value.axis, &text)?;
                    (value.distance, value.threshold) = (judged.distance, judged.threshold);
                }
                // Words of somebody's own are no longer those of a lesson, and stay when that is forgotten.
                (value.text, value.source) = (text, None);
            }
            if let Some(standing) = edit.standing {
                if standing == Standing::Accepted && value.standing != Standing::Accepted {
                    value.since = now;
                }
                value.standing = standing;
            }
            value.changed = Time::from_millis(value.changed.millis() + 1).max(now);
            update(transaction, &value)?;
            if let Some(place) = edit.place {
                let project = place.map(|place| projects::row_of(transaction, place, now));
                transaction.execute(
                    "UPDATE value SET project = ?2 WHERE uid = ?1",
                    params![id, project.transpose()?],
                )?;
            }
            let conflicts = conflicts(transaction, &value)?;
            Ok(Written { value: one(transaction, id)?, merged: false, conflicts })
        })
    }

    /// No longer holds a value. It is kept, so that nobody proposes it again.
    pub fn retire_value(&mut self, id: Id, now: Time) -> Result<Value, StoreError> {
        let edit = ValueEdit { standing: Some(Standing::Retired), ..ValueEdit::default() };
        Ok(self.edit_value(id, &edit, now)?.value)
    }

    /// One, by its id.
    pub fn value(&self, id: Id) -> Result<Held, StoreError> {
        held(&self.connection, one(&self.connection, id)?)
    }

    /// The value that a person means.
    pub fn value_id(&self, id: &IdSuffix) -> Result<Id, StoreError> {
        tables::by_suffix(&self.connection, "value", "value", id)
    }

    /// Those that are worth most first.
    pub fn values(&self, filter: &ValueFilter) -> Result<Vec<Held>, StoreError> {
        list(&self.connection, filter)
    }
}

impl HotStore {
    /// The values that hold in a place, those that are worth most there first. Reads one small table, and makes nothing anew.
    pub fn values(&self, place: &Place, most: usize) -> Result<Vec<Held>, StoreError> {
        held_in(&self.connection, place, most)
    }
}

/// The values that hold in a place, those that are worth most there first.
pub(crate) fn held_in(
    connection: &Connection,
    place: &Place,
    most: usize,
) -> Result<Vec<Held>, StoreError> {
    let project = Some(projects::key_of(connection, place)?);
    list(connection, &ValueFilter { project, limit: Some(most), ..ValueFilter::default() })
}

fn held(connection: &Connection, value: Value) -> Result<Held, StoreError> {
    let (helped, hurt) = effects(connection, value.id, value.since)?;
    Ok(Held { value, helped, hurt })
}

/// Accepted before proposed, this project's before everybody's, then by what speaks for them and how new that is.
fn list(connection: &Connection, filter: &ValueFilter) -> Result<Vec<Held>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "{SELECT} WHERE (?1 IS NULL OR project.key = ?1 OR value.project IS NULL)
             AND (?2 IS NULL OR standing = ?2) AND (?3 IS NULL OR value.cluster = ?3)
             AND (?4 OR ?2 IS NOT NULL OR standing != 'retired')
         ORDER BY value.id"
    ))?;
    let found = select
        .query_map(params![filter.project, filter.standing, filter.cluster, filter.retired], read)?
        .collect::<Result<Vec<Value>, _>>()?;
    let mut all: Vec<Held> =
        found.into_iter().map(|value| held(connection, value)).collect::<Result<_, _>>()?;
    all.sort_by_key(|held| {
        let worth = i64::from(held.value.support) + i64::from(held.helped)
            - 2 * i64::from(held.value.contradicted)
            - 2 * i64::from(held.hurt);
        let standing = match held.value.standing {
            Standing::Accepted => 0,
            Standing::Proposed => 1,
            Standing::Retired => 2,
        };
        (standing, held.value.project.is_none(), -worth, -held.value.changed.millis())
    });
    all.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(all)
}

/// What it says, for whoever looks for words.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    vec![&value.text]
}

/// A value from elsewhere: what changed last stays.
pub(crate) fn newer(
    connection: &Connection,
    value: &Value,
) -> Result<Option<bool>, rusqlite::Error> {
    let ours: Option<Time> = connection
        .prepare_cached("SELECT changed FROM value WHERE uid = ?1")?
        .query_row([value.id], |row| row.get(0))
        .optional()?;
    Ok(ours.map(|ours| ours < value.changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Sentence {
        Sentence::of(&Clean::new(text))
    }

    #[test]
    fn what_says_the_same_is_one_and_what_says_the_opposite_is_not() {
        let same = |one: &str, other: &str| said(one).says(&said(other));
        assert!(same("Pin the dependencies.", "pin the  dependencies"));
        assert!(same(
            "pin direct dependencies and commit the lock file",
            "commit the lock file and pin all direct dependencies",
        ));
        assert!(!same("mock the payment client", "never mock the payment client"));
        assert!(!same("pin direct dependencies", "release the connection in finally"));
    }

    #[test]
    fn what_is_about_something_else_contradicts_nothing() {
        let against = |one: &str, other: &str| said(one).contradicts(&said(other));
        assert!(against("always mock the payment client", "never mock the payment client"));
        assert!(!against("pin direct dependencies", "never hold the connection"));
        assert!(!against("never mock the payment client", "do not mock the payment client"));
    }
}
