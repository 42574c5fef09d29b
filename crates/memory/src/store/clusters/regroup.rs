//! Brings the clusters of an axis up to date.
//!
//! What is computed is computed of one moment, without keeping anybody from writing; only what changed is written then. Whoever
//! does so holds the lock of whoever tends, so that no two do.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::{Regrouped, pointing};
use crate::cluster::{Axis, Common, Grouping, Point, Rule, Shape};
use crate::ghap::Tier;
use crate::store::StoreError;
use crate::{Id, Time};

/// An experience on an axis, as it was left and as it is.
struct Placed {
    row: Id,
    document: i64,
    /// Which of its documents was looked at, and what came of it.
    before: Option<(i64, Option<i64>)>,
}

/// What is to be written.
pub(super) struct Draft {
    axis: Axis,
    common: Common,
    seen: i64,
    placed: Vec<Placed>,
    /// For each the number of its group.
    of: Vec<Option<u32>>,
    /// The clusters that groups were before, by their numbers.
    known: Vec<i64>,
    merged: Vec<(u32, u32)>,
    shapes: BTreeMap<u32, Shape>,
}

/// Whether anything came or went since an axis was looked at.
pub(super) fn is_due(connection: &Connection, axis: Axis) -> Result<bool, StoreError> {
    let known: Option<(i64, bool)> = connection
        .prepare_cached("SELECT seen, stale FROM common WHERE axis = ?1")?
        .query_row([axis], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (seen, stale) = known.unwrap_or((0, false));
    let newer: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM document WHERE id > ?1 AND axis = ?2 AND kind = 'experience')",
        )?
        .query_row(params![seen, axis], |row| row.get(0))?;
    Ok(stale || newer)
}

/// Looks at everything on an axis, and finds a place for what is new.
pub(super) fn draft(moment: &Connection, axis: Axis) -> Result<Draft, StoreError> {
    let known: Vec<i64> = moment
        .prepare_cached("SELECT id FROM cluster WHERE axis = ?1 ORDER BY id")?
        .query_map([axis], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let numbers: HashMap<i64, u32> = known.iter().copied().zip(0..).collect();
    let (mut placed, mut vectors, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let (mut of, mut new) = (Vec::new(), Vec::new());
    let mut select = moment.prepare_cached(
        "SELECT document.id, document.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
         FROM document JOIN ghap ON ghap.uid = document.row
         LEFT JOIN document AS work ON ?1 = 'full' AND work.row = document.row AND work.axis = 'strategy'
         LEFT JOIN grouped ON grouped.row = document.row AND grouped.axis = document.axis
         WHERE document.axis = ?1 AND document.kind = 'experience' ORDER BY document.id",
    )?;
    let mut rows = select.query([axis])?;
    while let Some(row) = rows.next()? {
        let Some(vector) = pointing(row, 2, 6)? else { continue };
        let tier: Option<Tier> = row.get(3)?;
        let (document, before): (i64, Option<i64>) = (row.get(0)?, row.get(4)?);
        let cluster: Option<i64> = row.get(5)?;
        if before != Some(document) {
            new.push(placed.len());
        }
        placed.push(Placed {
            row: row.get(1)?,
            document,
            before: before.map(|before| (before, cluster)),
        });
        of.push(cluster.and_then(|cluster| numbers.get(&cluster).copied()));
        vectors.push(vector);
        #[expect(clippy::cast_possible_truncation, reason = "a weight has one digit")]
        weights.push(tier.map_or(1.0, Tier::weight) as f32);
    }
    let common = Common::of(axis, &vectors);
    let points: Vec<Point> = vectors
        .iter()
        .zip(weights)
        .map(|(vector, weight)| Point { vector: common.without(vector).unwrap_or(*vector), weight })
        .collect();
    let before = of.clone();
    let mut grouping = Grouping::new(Rule::of(axis), &points, of);
    grouping.grow(&new);
    let of = grouping.of().to_vec();
    // Only what won or lost a member looks different.
    let mut moved: BTreeSet<u32> = new.iter().filter_map(|at| of[*at]).collect();
    for (before, after) in before.iter().zip(&of).filter(|(before, after)| before != after) {
        moved.extend(before.iter().chain(after));
    }
    let short = shrunken(moment, axis)?;
    moved.extend(known.iter().zip(0..).filter(|(id, _)| short.contains(id)).map(|(_, at)| at));
    let shapes =
        moved.iter().filter_map(|number| Some((*number, grouping.shape(*number)?))).collect();
    let seen = moment.query_row(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document'",
        [],
        |row| row.get(0),
    )?;
    let merged = grouping.merged().to_vec();
    Ok(Draft { axis, common, seen, placed, of, known, merged, shapes })
}

/// Clusters that lost their middle, or a member to oblivion.
fn shrunken(moment: &Connection, axis: Axis) -> Result<BTreeSet<i64>, StoreError> {
    let mut rows = moment.prepare_cached(
        "SELECT id FROM cluster WHERE axis = ?1
            AND (medoid IS NULL OR (SELECT stale FROM common WHERE common.axis = ?1))",
    )?;
    Ok(rows.query_map([axis], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Writes down what changed.
pub(super) fn write(
    transaction: &Transaction<'_>,
    draft: &Draft,
    now: Time,
    done: &mut Regrouped,
) -> Result<(), StoreError> {
    let axis = draft.axis;
    let mut ids: HashMap<u32, i64> = (0..).zip(draft.known.iter().copied()).collect();
    for (number, shape) in &draft.shapes {
        let medoid = draft.placed[shape.medoid].row;
        if let Some(id) = ids.get(number) {
            transaction
                .prepare_cached(
                    "UPDATE cluster SET size = ?2, cohesion = ?3, medoid = ?4, changed = ?5 WHERE id = ?1",
                )?
                .execute(params![id, shape.size, shape.cohesion, medoid, now])?;
            done.changed += 1;
        } else {
            transaction
                .prepare_cached(
                    "INSERT INTO cluster (uid, axis, size, cohesion, medoid, created, changed)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
                )?
                .execute(params![Id::new(now), axis, shape.size, shape.cohesion, medoid, now])?;
            ids.insert(*number, transaction.last_insert_rowid());
            done.born += 1;
        }
    }
    let mut place = transaction.prepare_cached(
        // Whoever was forgotten meanwhile stays so.
        "INSERT INTO grouped (row, axis, document, cluster)
         SELECT ?1, ?2, ?3, ?4 WHERE EXISTS (SELECT 1 FROM ghap WHERE uid = ?1)
         ON CONFLICT (row, axis) DO UPDATE SET document = excluded.document, cluster = excluded.cluster",
    )?;
    for (placed, number) in draft.placed.iter().zip(&draft.of) {
        let cluster = number.and_then(|number| ids.get(&number)).copied();
        if placed.before != Some((placed.document, cluster)) {
            place.execute(params![placed.row, axis, placed.document, cluster])?;
            let had = placed.before.and_then(|(_, cluster)| cluster);
            done.placed += usize::from(placed.before.is_none());
            done.moved += usize::from(had.is_some() && had != cluster);
        }
    }
    // What has nothing to say on this axis any more.
    transaction.execute(
        "DELETE FROM grouped WHERE axis = ?1 AND NOT EXISTS (
             SELECT 1 FROM document WHERE document.row = grouped.row AND document.axis = ?1)",
        [axis],
    )?;
    for (from, into) in &draft.merged {
        if let (Some(from), Some(into)) = (ids.get(from), ids.get(into)) {
            transaction.execute(
                "UPDATE value SET cluster = (SELECT uid FROM cluster WHERE id = ?2)
                 WHERE cluster = (SELECT uid FROM cluster WHERE id = ?1)",
                [from, into],
            )?;
        }
    }
    let alive: BTreeSet<u32> = draft.of.iter().flatten().copied().collect();
    for (id, _) in draft.known.iter().zip(0..).filter(|(_, number)| !alive.contains(number)) {
        transaction.execute(
            "UPDATE value SET cluster = NULL WHERE cluster = (SELECT uid FROM cluster WHERE id = ?1)",
            [id],
        )?;
        transaction.execute("DELETE FROM cluster WHERE id = ?1", [id])?;
        done.gone += 1;
    }
    transaction.execute(
        "INSERT INTO common (axis, mean, seen, stale) VALUES (?1, ?2, ?3, 0)
         ON CONFLICT (axis) DO UPDATE SET mean = excluded.mean, seen = excluded.seen, stale = 0",
        params![axis, draft.common.bytes(), draft.seen],
    )?;
    Ok(())
}
