//! Proposes values from lessons that came often enough.

use rusqlite::{Connection, params};

use super::against::begins;
use super::weigh::{Asked, Support, lesson, support};
use super::{Sentence, insert, pointing};
use crate::origin::{Origin, Writer};
use crate::store::clusters::{Middle, Regrouped, common};
use crate::store::{StoreError, origins};
use crate::value::{self, Standing, Value};
use crate::{Id, Time};
use rutter_search::cluster::{Axis, FEWEST};

/// Minimum cohesion, on the full axis, of a cluster with a member that can speak for the others.
const ALIKE: f32 = 0.3;
/// Number of members, from the middle of a cluster outwards, that are searched for a sentence fit to be shown.
const LOOKED_AT: usize = 5;

/// Existing sentences with the row of the project that they hold in; None is everywhere.
type Said = Vec<(Option<i64>, Sentence)>;

/// Proposes the lesson in the middle of every cluster that was not weighed yet, if it came often enough and most
/// members say it: once in its own project, and in every other project where it came often enough. A value of one
/// project does not keep others from having the same.
pub(super) fn propose(
    connection: &Connection,
    now: Time,
    done: &mut Regrouped,
) -> Result<(), StoreError> {
    let mut said: Said = connection
        .prepare_cached("SELECT project, text FROM value ORDER BY id")?
        .query_map([], |row| Ok((row.get(0)?, Sentence::of(&row.get(1)?))))?
        .collect::<Result<_, _>>()?;
    // The strategy axis groups work by its subject; the middle of such a cluster is not a lesson for other work.
    for axis in [Axis::RootCause, Axis::Surprise, Axis::Full] {
        let unweighed: Vec<Id> = connection
            .prepare_cached(
                "SELECT uid FROM cluster WHERE axis = ?1 AND size >= ?2 AND unweighed ORDER BY id",
            )?
            .query_map(params![axis, FEWEST], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for cluster in unweighed {
            let mut held: Vec<Option<i64>> = connection
                .prepare_cached("SELECT project FROM value WHERE cluster = ?1")?
                .query_map([cluster], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let homes = homes(connection, cluster)?;
            let mut places: Vec<Option<Home>> = Vec::new();
            if held.is_empty() {
                places.push(None);
            }
            // If all members are of one project, the first proposal was for it.
            if homes.len() > 1 || !held.is_empty() {
                places.extend(homes.into_iter().filter(|home| home.1 >= FEWEST).map(Some));
            }
            for place in places {
                let is_held = |(project, _): Home| held.contains(&Some(project));
                if held.contains(&None) || place.is_some_and(is_held) {
                    continue;
                }
                let found = proposal(connection, axis, cluster, place, &said, now)?;
                if let Some((value, project)) = found {
                    said.push((Some(project), Sentence::of(&value.text)));
                    held.push(Some(project));
                    insert(connection, Some(project), &value)?;
                    let origin = Origin { writer: Some(Writer::Lessons), ..Origin::default() };
                    origins::insert(connection, value.id, &origin, None)?;
                    begins(connection, value.id)?;
                    done.proposed += 1;
                }
            }
        }
    }
    Ok(())
}

/// A project with members of a cluster, and their number.
type Home = (i64, usize);

fn homes(connection: &Connection, cluster: Id) -> Result<Vec<Home>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT ghap.project, count(*) FROM cluster JOIN grouped ON grouped.cluster = cluster.id
         JOIN ghap ON ghap.uid = grouped.row WHERE cluster.uid = ?1 GROUP BY ghap.project ORDER BY ghap.project",
    )?;
    Ok(select
        .query_map([cluster], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?)
}

/// Returns the lesson in the middle of a cluster, or of one project's members, and the project that it comes from.
fn proposal(
    connection: &Connection,
    axis: Axis,
    cluster: Id,
    of: Option<Home>,
    said: &Said,
    now: Time,
) -> Result<Option<(Value, i64)>, StoreError> {
    let own = Middle::of(connection, cluster, axis, &common(connection, axis)?)?;
    let mut members: Vec<(f64, Id)> =
        own.members.iter().map(|(row, point)| (own.distance(&point.vector), *row)).collect();
    let common = common(connection, Axis::Full)?;
    let middle = Middle::of(connection, cluster, Axis::Full, &common)?;
    if middle.cohesion() < ALIKE {
        return Ok(None);
    }
    members.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut looked_at = 0;
    let asked = Asked { project: of, ..Asked::default() };
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
        let Some(text) = lesson(connection, row)?.filter(|text| value::is_sentence(text)) else {
            continue;
        };
        looked_at += 1;
        if looked_at > LOOKED_AT {
            break;
        }
        let Some(vector) = pointing(&common, &text) else { continue };
        // The sentence is a member's lesson word for word, so its nearness to the nearest lesson is 1.
        let distance = value::distance(middle.nearness(&vector), Some(1.0));
        let threshold = value::threshold(axis);
        if distance > threshold {
            continue;
        }
        let sentence = Sentence::of(&text);
        let Support { independent: support, by_most } =
            support(connection, &middle, &vector, &sentence, &asked)?;
        if !by_most || support < u32::try_from(FEWEST).unwrap_or(u32::MAX) {
            continue;
        }
        // There is or was such a value, possibly retired.
        let here = |place: Option<i64>| place.is_none_or(|place| place == project);
        if said.iter().any(|(place, other)| here(*place) && other.repeats(&sentence))
            || is_said_of_them(connection, cluster, project, &sentence)?
        {
            return Ok(None);
        }
        let value = Value {
            id: Id::new(now),
            project: None,
            text,
            axis,
            cluster: Some(cluster),
            standing: Standing::Proposed,
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
fn is_said_of_them(
    connection: &Connection,
    cluster: Id,
    project: i64,
    sentence: &Sentence,
) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT value.text FROM cluster AS own, cluster AS other JOIN value ON value.cluster = other.uid
         WHERE own.uid = ?1 AND other.uid != ?1 AND (value.project IS NULL OR value.project = ?2)
           AND 2 * (SELECT count(*) FROM grouped AS here JOIN grouped AS there ON there.row = here.row
                    WHERE here.cluster = own.id AND there.cluster = other.id) > own.size",
    )?;
    let mut texts = select.query(params![cluster, project])?;
    while let Some(row) = texts.next()? {
        if Sentence::of(&row.get(0)?).is_about(sentence) {
            return Ok(true);
        }
    }
    Ok(false)
}
