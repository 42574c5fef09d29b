//! Proposes values from lessons that came often enough.

use rusqlite::{Connection, params};

use super::against::skip_earlier_failures;
use super::support::{SentenceSupport, SupportFilter, count_support, load_lesson};
use super::{Sentence, centered_vector, upsert_value};
use crate::origin::{Origin, Writer};
use crate::store::clusters::{ClusterCenter, RegroupReport, load_mean};
use crate::store::{StoreResult, origins};
use crate::value::{self, Value, ValueStanding};
use crate::{Id, Time};
use rutter_search::cluster::{Axis, MIN_CLUSTER_SIZE};

/// Minimum cohesion, on the full axis, of a cluster with a member that can speak for the others.
const MIN_PROPOSAL_COHESION: f32 = 0.3;
/// Number of members, from the middle of a cluster outwards, that are searched for a sentence fit to be shown.
const MAX_PROPOSAL_CANDIDATES: usize = 5;

/// Existing sentences with the row of the project that they hold in; None is everywhere.
type ExistingSentences = Vec<(Option<i64>, Sentence)>;

/// Proposes the lesson in the middle of every cluster that was not weighed yet, if it came often enough and most
/// members say it: once in its own project, and in every other project where it came often enough. A value of one
/// project does not keep others from having the same.
pub(super) fn propose_values(
    connection: &Connection,
    now: Time,
    done: &mut RegroupReport,
) -> StoreResult {
    let mut said: ExistingSentences = connection
        .prepare_cached("SELECT project, text FROM value ORDER BY id")?
        .query_map([], |row| Ok((row.get(0)?, Sentence::new(&row.get(1)?))))?
        .collect::<Result<_, _>>()?;
    // The strategy axis groups work by its subject; the middle of such a cluster is not a lesson for other work.
    for axis in [Axis::RootCause, Axis::Surprise, Axis::Full] {
        let unweighed: Vec<Id> = connection
            .prepare_cached(
                "SELECT uid FROM cluster WHERE axis = ?1 AND size >= ?2 AND unweighed ORDER BY id",
            )?
            .query_map(params![axis, MIN_CLUSTER_SIZE], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for cluster in unweighed {
            let mut held: Vec<Option<i64>> = connection
                .prepare_cached("SELECT project FROM value WHERE cluster = ?1")?
                .query_map([cluster], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let homes = project_shares(connection, cluster)?;
            let mut places: Vec<Option<ProjectShare>> = Vec::new();
            if held.is_empty() {
                places.push(None);
            }
            // If all members are of one project, the first proposal was for it.
            if homes.len() > 1 || !held.is_empty() {
                places
                    .extend(homes.into_iter().filter(|home| home.1 >= MIN_CLUSTER_SIZE).map(Some));
            }
            for place in places {
                let is_held = |(project, _): ProjectShare| held.contains(&Some(project));
                if held.contains(&None) || place.is_some_and(is_held) {
                    continue;
                }
                let found = find_proposal(connection, axis, cluster, place, &said, now)?;
                if let Some((value, project)) = found {
                    said.push((Some(project), Sentence::new(&value.text)));
                    held.push(Some(project));
                    upsert_value(connection, Some(project), &value)?;
                    // The words are those of one lesson, so they come from its checkout.
                    let source = value.source.map(|row| origins::find_origin(connection, row));
                    let checkout = source.transpose()?.flatten().and_then(|of| of.checkout);
                    let writer = Some(Writer::Lessons);
                    let origin = Origin { writer, checkout, ..Origin::default() };
                    origins::insert_origin(connection, value.id, &origin, None)?;
                    skip_earlier_failures(connection, value.id)?;
                    done.proposed += 1;
                }
            }
        }
    }
    Ok(())
}

/// A project with members of a cluster, and their number.
type ProjectShare = (i64, usize);

fn project_shares(connection: &Connection, cluster: Id) -> StoreResult<Vec<ProjectShare>> {
    let mut select = connection.prepare_cached(
        "SELECT ghap.project, count(*) FROM cluster JOIN grouped ON grouped.cluster = cluster.id
         JOIN ghap ON ghap.uid = grouped.row WHERE cluster.uid = ?1 GROUP BY ghap.project ORDER BY ghap.project",
    )?;
    Ok(select
        .query_map([cluster], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

/// Returns the lesson in the middle of a cluster, or of one project's members, and the project that it comes from.
fn find_proposal(
    connection: &Connection,
    axis: Axis,
    cluster: Id,
    of: Option<ProjectShare>,
    said: &ExistingSentences,
    now: Time,
) -> StoreResult<Option<(Value, i64)>> {
    let own = ClusterCenter::load(connection, cluster, axis, &load_mean(connection, axis)?)?;
    let mut members: Vec<(f64, Id)> =
        own.members.iter().map(|(row, point)| (own.distance(&point.vector), *row)).collect();
    let common = load_mean(connection, Axis::Full)?;
    let middle = ClusterCenter::load(connection, cluster, Axis::Full, &common)?;
    if middle.cohesion() < MIN_PROPOSAL_COHESION {
        return Ok(None);
    }
    members.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut looked_at = 0;
    let asked = SupportFilter { project: of, ..SupportFilter::default() };
    for (_, row) in members {
        let project: i64 = connection
            .prepare_cached("SELECT project FROM ghap WHERE uid = ?1")?
            .query_row([row], |row| row.get(0))?;
        if of.is_some_and(|(of, _)| of != project)
            || origins::is_unconfirmed_import(connection, row)?
        {
            continue;
        }
        // A longer lesson is a story, not a rule.
        let Some(text) = load_lesson(connection, row)?.filter(|text| value::is_sentence(text))
        else {
            continue;
        };
        looked_at += 1;
        if looked_at > MAX_PROPOSAL_CANDIDATES {
            break;
        }
        let Some(vector) = centered_vector(&common, &text) else { continue };
        // The sentence is a member's lesson word for word, so its nearness to the nearest lesson is 1.
        let distance = value::cluster_distance(middle.nearness(&vector), Some(1.0));
        let threshold = value::max_cluster_distance(axis);
        if distance > threshold {
            continue;
        }
        let sentence = Sentence::new(&text);
        let SentenceSupport { independent: support, by_most } =
            count_support(connection, &middle, &vector, &sentence, &asked)?;
        if !by_most || support < u32::try_from(MIN_CLUSTER_SIZE).unwrap_or(u32::MAX) {
            continue;
        }
        // There is or was such a value, possibly retired.
        let here = |place: Option<i64>| place.is_none_or(|place| place == project);
        if said.iter().any(|(place, other)| here(*place) && other.makes_redundant(&sentence))
            || is_covered_by_other_cluster(connection, cluster, project, &sentence)?
        {
            return Ok(None);
        }
        let value = Value {
            id: Id::new(now),
            project: None,
            text,
            axis,
            cluster: Some(cluster),
            standing: ValueStanding::Proposed,
            source: Some(row),
            distance,
            threshold,
            support,
            contradicted: 0,
            since: now,
            doubted: None,
            created: now,
            changed: now,
        };
        // It holds in the project where it was learnt until a person extends it: other projects do not get to see the
        // lessons of this one unasked.
        return Ok(Some((value, project)));
    }
    Ok(None)
}

/// Returns true if a value about the same subject already stands for most of the members: they form a cluster along
/// another axis too, and the lesson would be shown twice.
fn is_covered_by_other_cluster(
    connection: &Connection,
    cluster: Id,
    project: i64,
    sentence: &Sentence,
) -> StoreResult<bool> {
    let mut select = connection.prepare_cached(
        "SELECT value.text FROM cluster AS own, cluster AS other JOIN value ON value.cluster = other.uid
         WHERE own.uid = ?1 AND other.uid != ?1 AND (value.project IS NULL OR value.project = ?2)
           AND 2 * (SELECT count(*) FROM grouped AS here JOIN grouped AS there ON there.row = here.row
                    WHERE here.cluster = own.id AND there.cluster = other.id) > own.size",
    )?;
    let mut texts = select.query(params![cluster, project])?;
    while let Some(row) = texts.next()? {
        if Sentence::new(&row.get(0)?).is_about(sentence) {
            return Ok(true);
        }
    }
    Ok(false)
}
