//! Writes a new grouping to the database.

use std::collections::HashMap;

use rusqlite::{Transaction, params};

use super::RegroupDraft;
use crate::store::StoreResult;
use crate::store::clusters::RegroupReport;
use crate::{Id, Time};

/// Writes all changes of a draft: the clusters, the cluster of each text, and the mean.
pub(crate) fn write_regrouping(
    transaction: &Transaction<'_>,
    draft: &RegroupDraft,
    now: Time,
    done: &mut RegroupReport,
) -> StoreResult {
    let ids = write_clusters(transaction, draft, now, done)?;
    let missed = write_memberships(transaction, draft, &ids, done)?;
    delete_ended_clusters(transaction, draft, &ids, done)?;
    write_sizes(transaction, draft, &ids)?;
    // The mean still contains experiences that were forgotten since the draft was made; `stale` records that.
    transaction.execute(
        "INSERT INTO common (axis, mean, seen, stale) VALUES (?1, ?2, ?3, ?5)
         ON CONFLICT (axis) DO UPDATE SET mean = excluded.mean, seen = excluded.seen, stale = max(stale - ?4, 0) + ?5",
        params![draft.axis, draft.common.to_bytes(), draft.seen, draft.stale, missed],
    )?;
    Ok(())
}

/// Writes the clusters and returns the row id of each group number.
fn write_clusters(
    transaction: &Transaction<'_>,
    draft: &RegroupDraft,
    now: Time,
    done: &mut RegroupReport,
) -> StoreResult<HashMap<u32, i64>> {
    let mut ids: HashMap<u32, i64> = (0..).zip(draft.known.iter().copied()).collect();
    for number in &draft.changed {
        let id = if let Some(id) = ids.get(number) {
            done.changed += 1;
            *id
        } else {
            transaction
                .prepare_cached(
                    "INSERT INTO cluster (uid, axis, size, cohesion, created, changed)
                     VALUES (?1, ?2, 0, 0, ?3, ?3)",
                )?
                .execute(params![Id::new(now), draft.axis, now])?;
            done.born += 1;
            let id = transaction.last_insert_rowid();
            ids.insert(*number, id);
            id
        };
        transaction
            .prepare_cached("UPDATE cluster SET changed = ?2 WHERE id = ?1")?
            .execute(params![id, now])?;
        if let Some(shape) = draft.shapes.get(number) {
            let medoid = draft.placed[shape.medoid].row;
            transaction
                .prepare_cached(
                    // An experience that was forgotten meanwhile cannot be the medoid; the next update finds another.
                    "UPDATE cluster SET cohesion = ?2, medoid = (SELECT uid FROM ghap WHERE uid = ?3), asked = ?4, unweighed = 1 WHERE id = ?1",
                )?
                .execute(params![id, shape.cohesion, medoid, now])?;
        }
    }
    Ok(ids)
}

/// Writes the cluster of each text. Returns the number of texts that no longer exist.
fn write_memberships(
    transaction: &Transaction<'_>,
    draft: &RegroupDraft,
    ids: &HashMap<u32, i64>,
    done: &mut RegroupReport,
) -> StoreResult<usize> {
    let mut place = transaction.prepare_cached(
        // Skips experiences that were forgotten meanwhile. Texts that changed meanwhile get document 0, so they are
        // grouped again.
        "INSERT INTO grouped (row, axis, document, cluster)
         SELECT ?1, ?2, coalesce((SELECT id FROM document WHERE id = ?3), 0), ?4
         WHERE EXISTS (SELECT 1 FROM ghap WHERE uid = ?1)
         ON CONFLICT (row, axis) DO UPDATE SET document = excluded.document, cluster = excluded.cluster",
    )?;
    let mut missed = 0;
    for (placed, number) in draft.placed.iter().zip(&draft.of) {
        let cluster = number.and_then(|number| ids.get(&number)).copied();
        if placed.before != Some((placed.document, cluster)) {
            let there = place.execute(params![placed.row, draft.axis, placed.document, cluster])?;
            missed += 1 - there.min(1);
            let had = placed.cluster();
            done.placed += usize::from(placed.before.is_none());
            done.moved += usize::from(had.is_some() && had != cluster);
        }
    }
    for row in &draft.gone {
        transaction
            .prepare_cached("DELETE FROM grouped WHERE row = ?1 AND axis = ?2")?
            .execute(params![row, draft.axis])?;
    }
    Ok(missed)
}

/// Deletes clusters that ended, and moves their values to the clusters that absorbed them.
fn delete_ended_clusters(
    transaction: &Transaction<'_>,
    draft: &RegroupDraft,
    ids: &HashMap<u32, i64>,
    done: &mut RegroupReport,
) -> StoreResult {
    let merged: HashMap<u32, u32> = draft.merged.iter().copied().collect();
    for (number, id) in
        (0..).zip(&draft.known).filter(|(number, _)| !draft.sizes.contains_key(number))
    {
        let mut into = number;
        while let Some(next) = merged.get(&into) {
            into = *next;
        }
        // If no cluster absorbed it, the next weighing of values finds another cluster for them.
        let into = ids.get(&into).filter(|_| draft.sizes.contains_key(&into));
        transaction.execute(
            "UPDATE value SET cluster = (SELECT uid FROM cluster WHERE id = ?2), tried = 0
             WHERE cluster = (SELECT uid FROM cluster WHERE id = ?1)",
            params![id, into],
        )?;
        transaction.execute("DELETE FROM cluster WHERE id = ?1", [id])?;
        done.gone += 1;
    }
    Ok(())
}

/// Writes the sizes of clusters.
fn write_sizes(
    transaction: &Transaction<'_>,
    draft: &RegroupDraft,
    ids: &HashMap<u32, i64>,
) -> StoreResult {
    let mut size =
        transaction.prepare_cached("UPDATE cluster SET size = ?2 WHERE id = ?1 AND size != ?2")?;
    for (number, members) in &draft.sizes {
        if let Some(id) = ids.get(number) {
            size.execute(params![id, members])?;
        }
    }
    Ok(())
}
