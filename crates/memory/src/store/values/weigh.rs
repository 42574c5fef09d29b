//! Weighs values: evidence for and against each one, and the standing that follows from it.

use rusqlite::{Connection, params};

use super::against::{self, FailedPredictions};
use super::fit::clusters_of_axis;
use super::propose::propose_values;
use super::support::{SupportFilter, count_support};
use super::{ClusterFit, Sentence, SentenceCandidate, centered_vector, read_value};
use crate::injection::EffectCounts;
use crate::store::clusters::{ClusterCenter, RegroupReport, load_mean};
use crate::store::{StoreResult, effects, values};
use crate::value::{Value, ValueStanding};
use crate::{Id, Time};
use rutter_search::cluster::Axis;

/// Minimum number of failures that cost a value its standing. Fewer may be chance.
const MIN_FAILURES: u32 = 2;

/// Weighs every value, and proposes new ones.
pub(crate) fn weigh_values(
    connection: &Connection,
    now: Time,
    done: &mut RegroupReport,
) -> StoreResult {
    let all = all_values(connection)?;
    let failures = FailedPredictions::load(connection, &all)?;
    for mut value in all {
        let before = value.clone();
        if value.cluster.is_none_or(|cluster| !cluster_exists(connection, cluster).unwrap_or(true))
        {
            value.cluster = find_fitting_cluster(connection, &value, now)?;
        }
        if value.standing != ValueStanding::Retired {
            value.contradicted = failures.count_against(connection, &value)?;
            let moved = value.cluster != before.cluster
                || value.contradicted != before.contradicted
                || value.support == 0;
            value.support = support_of_value(connection, &value, moved)?;
            let EffectCounts { helped, hurt } =
                effects::effects_since(connection, value.id, value.since)?;
            let against = value.contradicted + hurt;
            let behind = value.support + helped;
            let fallen = match value.standing {
                ValueStanding::Accepted if against >= MIN_FAILURES && against * 2 > behind => {
                    Some(ValueStanding::Proposed)
                }
                ValueStanding::Proposed if against >= MIN_FAILURES && against > behind => {
                    Some(ValueStanding::Retired)
                }
                _ => None,
            };
            if let Some(standing) = fallen {
                if value.standing == ValueStanding::Accepted {
                    value.doubted = Some(now);
                }
                value.standing = standing;
                value.changed = now.max(value.changed);
                // Evidence that cost the value one standing does not count against the next standing.
                (value.since, value.contradicted) = (now.max(value.since), 0);
                done.doubted += 1;
            }
        }
        if value != before {
            values::update_value(connection, &value)?;
        }
    }
    propose_values(connection, now, done)?;
    connection.execute(&format!("UPDATE value SET came = {KNOWN_EFFECTS_SQL}"), [])?;
    connection.execute("UPDATE cluster SET unweighed = 0 WHERE unweighed", [])?;
    Ok(())
}

/// SQL for the number of times that a value was shown with a known effect.
const KNOWN_EFFECTS_SQL: &str = "(SELECT count(*) FROM injection
                      WHERE injection.row = value.uid AND effect IS NOT NULL
                         AND coalesce(injection.came, injection.at) > value.since)";

/// Returns true if there is evidence for or against a value that was not weighed yet.
pub(crate) fn has_unweighed_evidence(connection: &Connection) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM cluster WHERE unweighed) OR EXISTS (SELECT 1 FROM value WHERE came != {KNOWN_EFFECTS_SQL})"
        ))?
        .query_row([], |row| row.get(0))?)
}

fn cluster_exists(connection: &Connection, cluster: Id) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE uid = ?1)")?
        .query_row([cluster], |row| row.get(0))?)
}

/// Returns the cluster that a value without a cluster fits best, if any. Skips clusters whose members were not checked
/// again since the value was last compared with them.
fn find_fitting_cluster(
    connection: &Connection,
    value: &Value,
    now: Time,
) -> StoreResult<Option<Id>> {
    let tried: Time = connection
        .prepare_cached("SELECT iif(cluster IS NULL, tried, 0) FROM value WHERE uid = ?1")?
        .query_row([value.id], |row| row.get(0))?;
    connection
        .prepare_cached("UPDATE value SET tried = ?2 WHERE uid = ?1")?
        .execute(params![value.id, now])?;
    let common = load_mean(connection, Axis::Full)?;
    let Some(candidate) = SentenceCandidate::new(&common, &value.text) else { return Ok(None) };
    let mut best: Option<(f64, Id)> = None;
    for cluster in clusters_of_axis(connection, value.axis)? {
        let asked: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE uid = ?1 AND asked >= ?2)")?
            .query_row(params![cluster, tried], |row| row.get(0))?;
        if !asked {
            continue;
        }
        let ClusterFit { distance, threshold } =
            candidate.compare(connection, (cluster, value.axis), &common)?;
        if distance <= threshold && best.is_none_or(|(so_far, _)| distance < so_far) {
            best = Some((distance, cluster));
        }
    }
    Ok(best.map(|(_, cluster)| cluster))
}

/// Returns the row of the project in which a value holds, or None if it holds everywhere.
fn project_of_value(connection: &Connection, value: Id) -> StoreResult<Option<i64>> {
    Ok(connection
        .prepare_cached("SELECT project FROM value WHERE uid = ?1")?
        .query_row([value], |row| row.get(0))?)
}

/// Counts the support for a value.
fn support_of_value(connection: &Connection, value: &Value, moved: bool) -> StoreResult<u32> {
    let Some(cluster) = value.cluster else { return Ok(0) };
    // The support can hardly have changed if few members came or went.
    if !moved && !is_unweighed(connection, cluster)? {
        return Ok(value.support);
    }
    let common = load_mean(connection, Axis::Full)?;
    let Some(vector) = centered_vector(&common, &value.text) else { return Ok(0) };
    let middle = ClusterCenter::load(connection, cluster, Axis::Full, &common)?;
    // An experience that acted on the value and failed does not also count as support.
    let mut asked =
        SupportFilter { but: against::ghaps_against(connection, value.id)?, project: None };
    // A value of one project is supported by experiences of that project only, and a value that holds everywhere by
    // those of all projects.
    if let Some(project) = project_of_value(connection, value.id)? {
        asked.project = Some((project, middle.members.len()));
    }
    let sentence = Sentence::new(&value.text);
    Ok(count_support(connection, &middle, &vector, &sentence, &asked)?.independent)
}

/// Returns true if the members of a cluster were checked again and its values were not weighed since.
fn is_unweighed(connection: &Connection, cluster: Id) -> StoreResult<bool> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE uid = ?1 AND unweighed)")?
        .query_row([cluster], |row| row.get(0))?)
}

/// Returns all values in the order of their creation.
pub(crate) fn all_values(connection: &Connection) -> StoreResult<Vec<Value>> {
    let mut all =
        connection.prepare_cached(&format!("{} ORDER BY value.id", super::SELECT_VALUE))?;
    Ok(all.query_map([], read_value)?.collect::<Result<_, _>>()?)
}
