//! What became of values since, and which lessons have come often enough to be one.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::{Judged, Sentence, insert, judge, pointing, read};
use crate::cluster::{Axis, FEWEST};
use crate::embed::Vector;
use crate::ghap::Status;
use crate::injection::Effects;
use crate::store::clusters::{Middle, Regrouped, common};
use crate::store::effects::{self, BELIEF, Belief};
use crate::store::{StoreError, values};
use crate::value::{self, Standing, Value};
use crate::{Clean, Id, Time};

/// Fewer failures are chance.
const FAILURES: u32 = 2;
/// How many of a cluster, from its middle on, are looked at for a sentence that can be put before everybody.
const LOOKED_AT: usize = 5;
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// What makes an experience another one than the next: two of one session and day are one, and so are two of one failure.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Witness {
    session: i64,
    day: i64,
    episode: Option<Clean>,
}

/// How many of them have nothing to do with each other.
fn independent(witnesses: impl IntoIterator<Item = Witness>) -> u32 {
    let (mut times, mut episodes) = (HashSet::new(), HashSet::new());
    let mut count = 0;
    for witness in witnesses {
        let known = witness.episode.as_ref().is_some_and(|episode| episodes.contains(episode));
        if known || !times.insert((witness.session, witness.day)) {
            continue;
        }
        episodes.extend(witness.episode);
        count += 1;
    }
    count
}

/// What speaks for a GHAP to be an experience of its own.
fn witness(
    connection: &Connection,
    ghap: Id,
) -> Result<Option<(Witness, Status, i64)>, StoreError> {
    let mut select = connection.prepare_cached(
        "SELECT ghap.session, coalesce(ghap.resolved, ghap.changed), ghap.status, ghap.project, outcome.signature,
                (SELECT min(signature) FROM episode WHERE closed = ghap.outcome OR first = ghap.outcome OR last = ghap.outcome)
         FROM ghap LEFT JOIN outcome ON outcome.id = ghap.outcome WHERE ghap.uid = ?1",
    )?;
    let mut rows = select.query([ghap])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let at: Time = row.get(1)?;
    let (signature, closed): (Option<Clean>, Option<Clean>) = (row.get(4)?, row.get(5)?);
    let witness = Witness {
        session: row.get(0)?,
        day: at.millis().div_euclid(DAY),
        episode: signature.or(closed),
    };
    Ok(Some((witness, row.get(2)?, row.get(3)?)))
}

/// How many experiences of a cluster that have nothing to do with each other say what a text says, and in which projects.
fn support(
    connection: &Connection,
    middle: &Middle,
    vector: &Vector,
) -> Result<(u32, Vec<i64>), StoreError> {
    let mut witnesses = Vec::new();
    let mut projects = Vec::new();
    for (row, point) in &middle.members {
        if f64::from(point.vector.cosine(vector)) < 1.0 - value::LEAST {
            continue;
        }
        let Some((witness, status, project)) = witness(connection, *row)? else { continue };
        // Whoever gave up has learnt nothing that holds.
        if matches!(status, Status::Confirmed | Status::Falsified) {
            witnesses.push(witness);
            projects.push(project);
        }
    }
    projects.sort_unstable();
    projects.dedup();
    Ok((independent(witnesses), projects))
}

/// A prediction that failed, and what had been believed.
struct Failure {
    at: Time,
    witness: Witness,
    belief: Belief,
}

fn failures(connection: &Connection) -> Result<Vec<Failure>, StoreError> {
    let mut select = connection.prepare_cached(&format!(
        "SELECT uid, resolved, {BELIEF}
         FROM ghap WHERE status = 'falsified' AND resolved > (SELECT min(since) FROM value WHERE standing != 'retired')",
    ))?;
    let mut rows = select.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (belief, learnt): (String, String) = (row.get(2)?, row.get(3)?);
        if let Some(belief) = Belief::of(&belief, &learnt)
            && let Some((witness, ..)) = witness(connection, row.get(0)?)?
        {
            found.push(Failure { at: row.get(1)?, witness, belief });
        }
    }
    Ok(found)
}

/// Weighs every value anew, and proposes what has come often enough.
pub(crate) fn weigh(
    connection: &Connection,
    now: Time,
    done: &mut Regrouped,
) -> Result<(), StoreError> {
    let failures = failures(connection)?;
    for mut value in values::every(connection)? {
        let before = value.clone();
        if value.cluster.is_none_or(|cluster| !exists(connection, cluster).unwrap_or(true)) {
            value.cluster = fitting(connection, &value)?;
        }
        if value.standing != Standing::Retired {
            let moved = value.cluster != before.cluster || value.support == 0;
            count(connection, &mut value, moved, &failures, now)?;
            let Effects { helped, hurt } = effects::of(connection, value.id, value.since)?;
            let against = value.contradicted + hurt;
            let behind = value.support + helped;
            let fallen = match value.standing {
                Standing::Accepted if against >= FAILURES && against * 2 > behind => {
                    Some(Standing::Proposed)
                }
                Standing::Proposed if against >= FAILURES && against > behind => {
                    Some(Standing::Retired)
                }
                _ => None,
            };
            if let Some(standing) = fallen {
                value.standing = standing;
                value.changed = now.max(value.changed);
                done.doubted += 1;
            }
        }
        if value != before {
            values::update(connection, &value)?;
        }
    }
    connection.execute(&format!("UPDATE value SET weighed = {CAME}"), [])?;
    propose(connection, now, done)
}

/// Of how much that was shown of a value it is known what came of it.
const CAME: &str = "(SELECT count(*) FROM injection
                      WHERE injection.row = value.uid AND effect IS NOT NULL AND injection.at > value.since)";

/// Whether anything speaks for or against a value that nobody has weighed: that comes without a document.
pub(crate) fn is_due(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(&format!("SELECT EXISTS (SELECT 1 FROM value WHERE weighed != {CAME})"))?
        .query_row([], |row| row.get(0))?)
}

fn exists(connection: &Connection, cluster: Id) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE uid = ?1)")?
        .query_row([cluster], |row| row.get(0))?)
}

/// The cluster that a value without one fits best, if it fits any.
fn fitting(connection: &Connection, value: &Value) -> Result<Option<Id>, StoreError> {
    let common = common(connection, Axis::Full)?;
    let Some(vector) = pointing(&common, &value.text) else { return Ok(None) };
    let mut best: Option<(f64, Id)> = None;
    for cluster in of_axis(connection, value.axis)? {
        let Judged { distance, threshold } =
            judge(&Middle::of(connection, cluster, Axis::Full, &common)?, &vector);
        if distance <= threshold && best.is_none_or(|(so_far, _)| distance < so_far) {
            best = Some((distance, cluster));
        }
    }
    Ok(best.map(|(_, cluster)| cluster))
}

pub(super) fn of_axis(connection: &Connection, axis: Axis) -> Result<Vec<Id>, StoreError> {
    let mut clusters =
        connection.prepare_cached("SELECT uid FROM cluster WHERE axis = ?1 ORDER BY id")?;
    Ok(clusters.query_map([axis], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Counts what speaks for a value and what against it.
fn count(
    connection: &Connection,
    value: &mut Value,
    moved: bool,
    failures: &[Failure],
    now: Time,
) -> Result<(), StoreError> {
    if value.cluster.is_none() {
        value.support = 0;
    }
    // Nobody who was not there before says it where nobody came or went.
    if let Some(cluster) = value.cluster
        && (moved || has_changed(connection, cluster, now)?)
    {
        value.support = 0;
        let common = common(connection, Axis::Full)?;
        if let Some(vector) = pointing(&common, &value.text) {
            let middle = Middle::of(connection, cluster, Axis::Full, &common)?;
            value.support = support(connection, &middle, &vector)?.0;
        }
    }
    let Some(vector) = values::pointing_plainly(&value.text) else { return Ok(()) };
    let mut against = Vec::new();
    for failure in failures {
        // Whoever had been shown it is counted among those whom it hurt.
        if failure.at > value.since
            && failure.belief.rests_on(&vector)
            && !was_shown(connection, value, failure)?
        {
            against.push(failure.witness.clone());
        }
    }
    value.contradicted = independent(against);
    Ok(())
}

/// Whether something came of a value that was shown in the session of a failure before it.
fn was_shown(
    connection: &Connection,
    value: &Value,
    failure: &Failure,
) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM injection WHERE session = ?1 AND row = ?2 AND at <= ?3 AND effect IS NOT NULL)",
        )?
        .query_row(params![failure.witness.session, value.id, failure.at], |row| row.get(0))?)
}

/// Whether a cluster won or lost a member in the run that this is a part of.
fn has_changed(connection: &Connection, cluster: Id, now: Time) -> Result<bool, StoreError> {
    Ok(connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM cluster WHERE uid = ?1 AND changed >= ?2)")?
        .query_row(params![cluster, now], |row| row.get(0))?)
}

/// Of every cluster that has changed and that nobody has said anything of: the lesson in its middle, if it came often enough.
fn propose(connection: &Connection, now: Time, done: &mut Regrouped) -> Result<(), StoreError> {
    let mut said: Vec<Sentence> =
        every(connection)?.iter().map(|value| Sentence::of(&value.text)).collect();
    // Along the strategy work is grouped by what it was about, and its middle is no lesson for anything else.
    for axis in [Axis::RootCause, Axis::Surprise, Axis::Full] {
        let unsaid: Vec<Id> = connection
            .prepare_cached(
                "SELECT uid FROM cluster WHERE axis = ?1 AND size >= ?2 AND changed >= ?3
                    AND NOT EXISTS (SELECT 1 FROM value WHERE value.cluster = cluster.uid) ORDER BY id",
            )?
            .query_map(params![axis, FEWEST, now], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        for cluster in unsaid {
            if let Some(value) = proposal(connection, axis, cluster, &said, now)? {
                said.push(Sentence::of(&value.0.text));
                insert(connection, value.1, &value.0)?;
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
    members.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut looked_at = 0;
    for (_, row) in members {
        let lesson: Option<Clean> = connection
            .prepare_cached(
                "SELECT coalesce(takeaway, what_worked) FROM ghap WHERE uid = ?1 AND status != 'abandoned'",
            )?
            .query_row([row], |row| row.get(0))
            .or_else(|error| match error {
                rusqlite::Error::QueryReturnedNoRows => Ok(None),
                error => Err(error),
            })?;
        // A lesson that is longer is a story.
        let Some(text) = lesson.filter(|text| value::is_sentence(text)) else { continue };
        looked_at += 1;
        if looked_at > LOOKED_AT {
            break;
        }
        let Some(vector) = pointing(&common, &text) else { continue };
        let Judged { distance, threshold } = judge(&middle, &vector);
        if distance > threshold {
            continue;
        }
        let (support, projects) = support(connection, &middle, &vector)?;
        if support < u32::try_from(FEWEST).unwrap_or(u32::MAX) {
            continue;
        }
        // It is said already, or was and is no longer held.
        let sentence = Sentence::of(&text);
        if said.iter().any(|other| other.says(&sentence))
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
            created: now,
            changed: now,
        };
        let project = match projects.as_slice() {
            [one] => Some(*one),
            _ => None,
        };
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

/// Values as they are kept, in the order in which they were formed.
pub(crate) fn every(connection: &Connection) -> Result<Vec<Value>, StoreError> {
    let mut all = connection.prepare_cached(&format!("{} ORDER BY value.id", super::SELECT))?;
    Ok(all.query_map([], read)?.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(session: i64, day: i64, episode: Option<&str>) -> Witness {
        Witness { session, day, episode: episode.map(Clean::new) }
    }

    #[test]
    fn one_session_of_one_day_and_one_failure_count_once() {
        assert_eq!(independent([]), 0);
        assert_eq!(independent([at(1, 1, None), at(1, 1, None), at(1, 1, None)]), 1);
        assert_eq!(independent([at(1, 1, None), at(1, 2, None), at(2, 2, None)]), 3);
        assert_eq!(independent([at(1, 1, Some("a")), at(2, 2, Some("a")), at(3, 3, Some("b"))]), 2);
    }
}
