//! Values in the database: held against their cluster when they are written, weighed by what happened since.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::entry::Place;
use super::hot::HotStore;
use super::{Store, StoreError, effects, projects, tables};
use crate::injection::Effects;
use crate::project::ProjectKey;
use crate::value::{self, Standing, Value};
use crate::{Id, IdSuffix, Time};
use rutter_search::cluster::FEWEST;

mod against;
mod bearing;
mod fit;
mod forming;
mod propose;
mod sentence;
mod weigh;
mod witness;

pub use bearing::Bearing;
pub(crate) use bearing::bearing;
use fit::{Candidate, Judged, fit, pointing};
pub use forming::Followed;
pub(crate) use forming::{follow, unite};
pub(crate) use sentence::Sentence;
pub(crate) use weigh::{every, is_due, weigh};

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
    /// Whether it is a person, who may hold again what was retired.
    pub revives: bool,
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
    /// What came of it when it was shown.
    #[serde(flatten)]
    pub effects: Effects,
}

/// What came of writing a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Written {
    /// As it is now.
    pub value: Value,
    /// Whether it was said before, so that there still is one.
    pub merged: bool,
    /// Whether that one had been retired, and is held again.
    pub revived: bool,
    /// Values about the same thing that seem to say the opposite.
    pub conflicts: Vec<Value>,
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
        doubted: row.get("doubted")?,
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
                                contradicted, since, created, changed, doubted)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
             ON CONFLICT (uid) DO UPDATE SET project = excluded.project, text = excluded.text, axis = excluded.axis,
                 cluster = excluded.cluster, standing = excluded.standing, source = excluded.source,
                 distance = excluded.distance, threshold = excluded.threshold, support = excluded.support,
                 contradicted = excluded.contradicted, since = excluded.since, created = excluded.created,
                 changed = excluded.changed, doubted = excluded.doubted,
                 tried = iif(text = excluded.text AND axis = excluded.axis, tried, 0),
                 weighed = iif(text = excluded.text AND since <= excluded.since, weighed, 0)",
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
            value.doubted,
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

impl Store {
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
    let mut held = list(connection, &ValueFilter { project, ..ValueFilter::default() })?;
    held.retain(|held| is_worth_saying(&held.value, held.effects));
    // What the project and everybody say is said once.
    let mut said: Vec<(Held, Sentence)> = Vec::with_capacity(most.min(held.len()));
    for one in held {
        if said.len() == most {
            break;
        }
        let sentence = Sentence::of(&one.value.text);
        // Who hears what somebody holds has no need of what was only found about the same.
        let is_found = one.value.standing == Standing::Proposed;
        let is_new = |(other, known): &(Held, Sentence)| {
            let is_held = other.value.standing == Standing::Accepted;
            !(known.says(&sentence) || (is_found && is_held && known.repeats(&sentence)))
        };
        if said.iter().all(is_new) {
            said.push((one, sentence));
        }
    }
    Ok(said.into_iter().map(|(held, _)| held).collect())
}

/// Whether a value may be put before somebody who did not ask: not where it hurt or is doubted, not one that nobody holds and
/// hardly anybody says any more, and not one that is too long to be said whole.
fn is_worth_saying(value: &Value, effects: Effects) -> bool {
    let is_held = value.standing == Standing::Accepted;
    let is_said = value.source.is_none() || value.support as usize >= FEWEST;
    (is_held || (is_said && value.doubted.is_none()))
        && !effects.is_harmful()
        && value::is_sentence(&value.text)
}

fn held(connection: &Connection, value: Value) -> Result<Held, StoreError> {
    let effects = effects::of(connection, value.id, value.since)?;
    Ok(Held { value, effects })
}

/// So much younger is worth twice as much that speaks for it.
const HALF_LIFE: f64 = 180.0 * 24.0 * 60.0 * 60.0 * 1_000.0;

/// What a value is ordered by among others: what speaks for it, halved with the time since anything last did.
fn worth(held: &Held, grown: Option<Time>) -> f64 {
    let Held { value, effects } = held;
    let behind = f64::from(value.support) + f64::from(effects.helped);
    let against = f64::from(value.contradicted) + f64::from(effects.hurt);
    let last = grown.map_or(value.changed, |grown| grown.max(value.changed));
    #[expect(clippy::cast_precision_loss, reason = "days are enough")]
    let age = last.millis() as f64 / HALF_LIFE;
    // As a logarithm: what is halved as time goes by stays in the order that it has, whatever time it is.
    (1.0 + (behind - 2.0 * against).max(0.0)).log2() + age
}

/// Accepted before proposed, this project's before everybody's, then by what speaks for them and how new that is.
fn list(connection: &Connection, filter: &ValueFilter) -> Result<Vec<Held>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT value.*, project.key AS project_key, cluster.changed AS grown
         FROM value LEFT JOIN project ON project.id = value.project LEFT JOIN cluster ON cluster.uid = value.cluster
         WHERE (?1 IS NULL OR project.key = ?1 OR value.project IS NULL)
             AND (?2 IS NULL OR standing = ?2) AND (?3 IS NULL OR value.cluster = ?3)
             AND (?4 OR ?2 IS NOT NULL OR standing != 'retired')
         ORDER BY value.id",
    )?;
    let found = select
        .query_map(
            params![filter.project, filter.standing, filter.cluster, filter.retired],
            |row| Ok((read(row)?, row.get("grown")?)),
        )?
        .collect::<Result<Vec<(Value, Option<Time>)>, _>>()?;
    let mut all = Vec::with_capacity(found.len());
    for (value, grown) in found {
        let held = held(connection, value)?;
        all.push((worth(&held, grown), held));
    }
    all.sort_by(|(one_worth, one), (other_worth, other)| {
        let rank = |held: &Held| {
            let standing = match held.value.standing {
                Standing::Accepted => 0,
                Standing::Proposed => 1,
                Standing::Retired => 2,
            };
            (standing, held.value.project.is_none())
        };
        rank(one)
            .cmp(&rank(other))
            .then(other_worth.total_cmp(one_worth))
            .then(other.value.changed.cmp(&one.value.changed))
    });
    all.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(all.into_iter().map(|(_, held)| held).collect())
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
    use crate::Clean;
    use rutter_search::cluster::Axis;

    #[test]
    fn what_speaks_for_a_value_fades_and_what_speaks_against_it_counts_twice() {
        let held = |support, contradicted, hurt, days: i64| {
            let at = Time::from_millis(1_763_200_000_000 + days * 86_400_000);
            let value = Value {
                id: Id::new(at),
                project: None,
                text: Clean::new("pin direct dependencies"),
                axis: Axis::Full,
                cluster: None,
                standing: Standing::Accepted,
                source: None,
                distance: 0.0,
                threshold: 1.0,
                support,
                contradicted,
                since: at,
                doubted: None,
                created: at,
                changed: at,
            };
            Held { value, effects: Effects { helped: 0, hurt } }
        };
        let of = |support, contradicted, hurt, days| {
            worth(&held(support, contradicted, hurt, days), None)
        };
        assert!(of(4, 0, 0, 0) > of(3, 0, 0, 0) && of(3, 0, 0, 10) > of(3, 0, 0, 0));
        assert!(of(8, 0, 0, 0) > of(3, 0, 0, 100), "much that is a little older");
        assert!(of(3, 0, 0, 365) > of(7, 0, 0, 0), "little that is much younger");
        assert!((of(7, 1, 1, 0) - of(3, 0, 0, 0)).abs() < 1e-9);
        let (old, grown) = (held(3, 0, 0, 0), Time::from_millis(1_763_200_000_000 + 86_400_000));
        assert!(worth(&old, Some(grown)) > worth(&old, None), "somebody has said it since");
    }
}
