//! Which lessons have come often enough to be proposed.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::against::begins;
use super::weigh::{Support, every, lesson, support};
use super::{Sentence, insert, pointing};
use crate::cluster::{Axis, FEWEST};
use crate::store::StoreError;
use crate::store::clusters::{Middle, Regrouped, common};
use crate::value::{self, Standing, Value};
use crate::{Id, Time};

/// Where members are less alike, in all that they say, none of them speaks for the others.
const ALIKE: f32 = 0.3;
/// How many of a cluster, from its middle on, are looked at for a sentence that can be put before everybody.
const LOOKED_AT: usize = 5;

/// Of every cluster that nobody has weighed yet and nobody has said anything of: the lesson in its middle, if it came often enough
/// and most of them say it.
pub(super) fn propose(
    connection: &Connection,
    now: Time,
    done: &mut Regrouped,
) -> Result<(), StoreError> {
    let mut said: Vec<Sentence> =
        every(connection)?.iter().map(|value| Sentence::of(&value.text)).collect();
    // Along the strategy work is grouped by what it was about, and its middle is no lesson for anything else.
    for axis in [Axis::RootCause, Axis::Surprise, Axis::Full] {
        let unsaid: Vec<Id> = connection
            .prepare_cached(
                "SELECT uid FROM cluster WHERE axis = ?1 AND size >= ?2 AND unweighed
                    AND NOT EXISTS (SELECT 1 FROM value WHERE value.cluster = cluster.uid) ORDER BY id",
            )?
            .query_map(params![axis, FEWEST], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for cluster in unsaid {
            if let Some(value) = proposal(connection, axis, cluster, &said, now)? {
                said.push(Sentence::of(&value.0.text));
                insert(connection, value.1, &value.0)?;
                begins(connection, value.0.id)?;
                done.proposed += 1;
            }
        }
    }
    Ok(())
}

fn proposal(
    connection: &Connection,
    axis: Axis,
    cluster: Id,
    said: &[Sentence],
    now: Time,
) -> Result<Option<(Value, Option<i64>)>, StoreError> {
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
    for (_, row) in members {
        // A lesson that is longer is a story.
        let Some(text) = lesson(connection, row)?.filter(|text| value::is_sentence(text)) else {
            continue;
        };
        looked_at += 1;
        if looked_at > LOOKED_AT {
            break;
        }
        let Some(vector) = pointing(&common, &text) else { continue };
        // It is a lesson of theirs in its own words.
        let distance = value::distance(middle.nearness(&vector), Some(1.0));
        let threshold = value::threshold(axis);
        if distance > threshold {
            continue;
        }
        let sentence = Sentence::of(&text);
        let Support { independent: support, by_most } =
            support(connection, &middle, &vector, &sentence, &BTreeSet::new())?;
        if !by_most || support < u32::try_from(FEWEST).unwrap_or(u32::MAX) {
            continue;
        }
        // It is said already, or was and is no longer held.
        if said.iter().any(|other| other.repeats(&sentence))
            || is_said_of_them(connection, cluster, &sentence)?
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
        // It holds where it was learnt until somebody says that it holds elsewhere: what one project's lessons say is nobody else's
        // business unasked.
        let project = connection
            .prepare_cached("SELECT project FROM ghap WHERE uid = ?1")?
            .query_row([row], |row| row.get(0))?;
        return Ok(Some((value, project)));
    }
    Ok(None)
}

/// Whether a value about the same stands for most of the members already: they are a cluster along another axis too, and would
/// be heard twice.
fn is_said_of_them(
    connection: &Connection,
    cluster: Id,
    sentence: &Sentence,
) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT value.text FROM cluster AS own, cluster AS other JOIN value ON value.cluster = other.uid
         WHERE own.uid = ?1 AND other.uid != ?1
           AND 2 * (SELECT count(*) FROM grouped AS here JOIN grouped AS there ON there.row = here.row
                    WHERE here.cluster = own.id AND there.cluster = other.id) > own.size",
    )?;
    let mut texts = select.query([cluster])?;
    while let Some(row) = texts.next()? {
        if Sentence::of(&row.get(0)?).is_about(sentence) {
            return Ok(true);
        }
    }
    Ok(false)
}
