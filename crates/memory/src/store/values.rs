//! Values in the database: compared with their cluster when they are written, and weighed by later evidence.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;

use super::entry::ProjectPlace;
use super::{Store, StoreError, StoreResult, effects, projects, tables};
use crate::injection::EffectCounts;
use crate::project::ProjectKey;
use crate::value::{self, Value, ValueStanding};
use crate::{Id, IdSuffix, Time};
use rutter_search::cluster::MIN_CLUSTER_SIZE;

mod against;
mod belief;
mod fit;
mod forming;
mod propose;
mod sentence;
mod support;
mod weigh;
mod witness;

pub(crate) use belief::{BELIEF_COLUMNS, Belief};
use fit::{ClusterFit, SentenceCandidate, check_cluster_fit};
pub use forming::FollowedValue;
pub(crate) use forming::{follow_lesson, unite_duplicates};
pub(crate) use sentence::Sentence;
use sentence::centered_vector;
pub(crate) use weigh::{all_values, has_unweighed_evidence, weigh_values};

/// A value to add: a rule to work by.
#[derive(Debug, Clone, Copy)]
pub struct NewValue<'a> {
    /// The project that it holds in; everywhere if None.
    pub place: Option<&'a ProjectPlace>,
    /// The cluster that it belongs to.
    pub cluster: Id,
    /// Text of the value.
    pub text: &'a str,
    /// Accepted if the author also accepts it, otherwise proposed.
    pub standing: ValueStanding,
    /// True if the author is a person, who may revive a retired value.
    pub revives: bool,
}

/// Changes to a value. Fields that are `None` stay.
#[derive(Debug, Clone, Copy, Default)]
pub struct ValueEdit<'a> {
    /// New text.
    pub text: Option<&'a str>,
    /// New standing. Accepting a doubted value clears the evidence against it.
    pub standing: Option<ValueStanding>,
    /// New scope: a project, or everywhere.
    pub place: Option<Option<&'a ProjectPlace>>,
}

/// A filter for the list of values.
#[derive(Debug, Clone, Default)]
pub struct ValueFilter {
    /// Only values that hold in this project, including those that hold everywhere.
    pub project: Option<ProjectKey>,
    /// Only values of this standing; if None, all except retired ones.
    pub standing: Option<ValueStanding>,
    /// Only values of this cluster.
    pub cluster: Option<Id>,
    /// Includes retired values.
    pub retired: bool,
    /// Maximum number of values.
    pub limit: Option<usize>,
}

/// A value and its effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueWithEffects {
    /// The value.
    #[serde(flatten)]
    pub value: Value,
    /// Number of times it helped and hurt after it was shown.
    #[serde(flatten)]
    pub effects: EffectCounts,
}

/// The result of writing a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueWriteResult {
    /// The value after the write.
    pub value: Value,
    /// True if a value with the same meaning existed, so none was added.
    pub merged: bool,
    /// True if the existing value was retired and now holds again.
    pub revived: bool,
    /// Values about the same thing that seem to say the opposite.
    pub conflicts: Vec<Value>,
}

pub(crate) const SELECT_VALUE: &str = "SELECT value.*, project.key AS project_key FROM value LEFT JOIN project ON project.id = value.project";

pub(crate) fn read_value(row: &Row<'_>) -> rusqlite::Result<Value> {
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

/// Inserts a value, or replaces the one with the same id.
pub(crate) fn upsert_value(
    connection: &Connection,
    project: Option<i64>,
    value: &Value,
) -> StoreResult {
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

/// Writes a value without changing its project.
fn update_value(connection: &Connection, value: &Value) -> StoreResult {
    let project = connection
        .prepare_cached("SELECT project FROM value WHERE uid = ?1")?
        .query_row([value.id], |row| row.get(0))?;
    upsert_value(connection, project, value)
}

pub(crate) fn find_value(connection: &Connection, id: Id) -> StoreResult<Value> {
    let query = format!("{SELECT_VALUE} WHERE value.uid = ?1");
    let found = connection.prepare_cached(&query)?.query_row([id], read_value).optional()?;
    found.ok_or_else(|| StoreError::NotFound { what: "value", id: id.into() })
}

impl Store {
    /// Returns the value with an id.
    pub fn value(&self, id: Id) -> StoreResult<ValueWithEffects> {
        load_effects(&self.connection, find_value(&self.connection, id)?)
    }

    /// Finds a value by the id or id suffix that a user typed.
    pub fn value_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        tables::find_by_suffix(&self.connection, "value", "value", id)
    }

    /// Lists values, the most valuable first.
    pub fn values(&self, filter: &ValueFilter) -> StoreResult<Vec<ValueWithEffects>> {
        list_values(&self.connection, filter)
    }
}

/// Returns the values to show in a place, the most valuable first.
pub(crate) fn values_to_show(
    connection: &Connection,
    place: &ProjectPlace,
    most: usize,
) -> StoreResult<Vec<ValueWithEffects>> {
    let project = Some(projects::project_key(connection, place)?);
    let mut held = list_values(connection, &ValueFilter { project, ..ValueFilter::default() })?;
    held.retain(|held| may_show_unasked(&held.value, held.effects));
    // A rule that holds both in the project and everywhere is shown once.
    let mut said: Vec<(ValueWithEffects, Sentence)> = Vec::with_capacity(most.min(held.len()));
    for one in held {
        if said.len() == most {
            break;
        }
        let sentence = Sentence::new(&one.value.text);
        // An accepted value makes a proposed one about the same thing unnecessary.
        let is_found = one.value.standing == ValueStanding::Proposed;
        let is_new = |(other, known): &(ValueWithEffects, Sentence)| {
            let is_held = other.value.standing == ValueStanding::Accepted;
            !(known.says_same(&sentence)
                || (is_found && is_held && known.makes_redundant(&sentence)))
        };
        if said.iter().all(is_new) {
            said.push((one, sentence));
        }
    }
    Ok(said.into_iter().map(|(held, _)| held).collect())
}

/// Returns true if a value may be shown without being asked for: it must not be harmful, a value that is not accepted
/// must not be doubted and needs support if it comes from a lesson, and the text must be short enough to be shown
/// whole.
pub(super) fn may_show_unasked(value: &Value, effects: EffectCounts) -> bool {
    let is_held = value.standing == ValueStanding::Accepted;
    let is_said = value.source.is_none() || value.support as usize >= MIN_CLUSTER_SIZE;
    (is_held || (is_said && value.doubted.is_none()))
        && !effects.is_harmful()
        && value::is_sentence(&value.text)
}

pub(super) fn load_effects(connection: &Connection, value: Value) -> StoreResult<ValueWithEffects> {
    let effects = effects::effects_since(connection, value.id, value.since)?;
    Ok(ValueWithEffects { value, effects })
}

/// Age difference, in milliseconds, that counts as much as twice the evidence: 180 days.
const EVIDENCE_HALF_LIFE_MILLIS: f64 = 180.0 * 24.0 * 60.0 * 60.0 * 1_000.0;

/// Returns the sort key of a value: its evidence, halved with the time since the last evidence.
fn rank_value(held: &ValueWithEffects, grown: Option<Time>) -> f64 {
    let ValueWithEffects { value, effects } = held;
    let behind = f64::from(value.support) + f64::from(effects.helped);
    let against = f64::from(value.contradicted) + f64::from(effects.hurt);
    let last = grown.map_or(value.changed, |grown| grown.max(value.changed));
    #[expect(clippy::cast_precision_loss, reason = "days are enough")]
    let age = last.millis() as f64 / EVIDENCE_HALF_LIFE_MILLIS;
    // A logarithm, so that the order of values does not depend on the current time.
    (1.0 + (behind - 2.0 * against).max(0.0)).log2() + age
}

/// Lists values: accepted before proposed, those of the project before those that hold everywhere, then by [`rank_value`].
fn list_values(
    connection: &Connection,
    filter: &ValueFilter,
) -> StoreResult<Vec<ValueWithEffects>> {
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
            |row| Ok((read_value(row)?, row.get("grown")?)),
        )?
        .collect::<Result<Vec<(Value, Option<Time>)>, _>>()?;
    let mut all = Vec::with_capacity(found.len());
    for (value, grown) in found {
        let held = load_effects(connection, value)?;
        all.push((rank_value(&held, grown), held));
    }
    all.sort_by(|(one_worth, one), (other_worth, other)| {
        let rank = |held: &ValueWithEffects| {
            let standing = match held.value.standing {
                ValueStanding::Accepted => 0,
                ValueStanding::Proposed => 1,
                ValueStanding::Retired => 2,
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

/// Returns the texts of a value for a word search.
pub(crate) fn value_texts(value: &Value) -> Vec<&str> {
    vec![&value.text]
}

/// Compares an imported value with the stored one: true if the imported one changed later, None if no value with its id
/// is stored.
pub(crate) fn is_newer_than_stored(
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
    fn support_fades_and_contradictions_count_twice() {
        let held = |support, contradicted, hurt, days: i64| {
            let at = Time::from_millis(1_763_200_000_000 + days * 86_400_000);
            let value = Value {
                id: Id::new(at),
                project: None,
                text: Clean::new("pin direct dependencies"),
                axis: Axis::Full,
                cluster: None,
                standing: ValueStanding::Accepted,
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
            ValueWithEffects { value, effects: EffectCounts { helped: 0, hurt } }
        };
        let of = |support, contradicted, hurt, days| {
            rank_value(&held(support, contradicted, hurt, days), None)
        };
        assert!(of(4, 0, 0, 0) > of(3, 0, 0, 0) && of(3, 0, 0, 10) > of(3, 0, 0, 0));
        assert!(of(8, 0, 0, 0) > of(3, 0, 0, 100), "much that is a little older");
        assert!(of(3, 0, 0, 365) > of(7, 0, 0, 0), "little that is much younger");
        assert!((of(7, 1, 1, 0) - of(3, 0, 0, 0)).abs() < 1e-9);
        let (old, grown) = (held(3, 0, 0, 0), Time::from_millis(1_763_200_000_000 + 86_400_000));
        assert!(
            rank_value(&old, Some(grown)) > rank_value(&old, None),
            "somebody has said it since"
        );
    }
}
