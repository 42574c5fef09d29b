//! Updates the clusters of an axis.
//!
//! All texts of the axis are read each time, and the grouping starts from their present clusters. This takes less than a
//! second for 10,000 lessons.
//!
//! The computation reads one snapshot and blocks no writer; afterwards only the changes are written. The caller holds
//! the maintenance lock, so no two processes do this at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::read_lesson_vector;
use crate::Id;
use crate::ghap::Tier;
use crate::store::StoreResult;
use rutter_search::cluster::{Axis, GroupShape, Grouping, GroupingRule, MeanDirection, TextPoint};
use rutter_search::embed::Vector;

#[cfg(test)]
mod tests;
mod write;

pub(crate) use write::write_regrouping;

/// An experience on an axis: its current document and the last result.
struct GroupedText {
    row: Id,
    document: i64,
    /// The document that was grouped last, and its cluster.
    before: Option<(i64, Option<i64>)>,
}

impl GroupedText {
    /// Returns true if the current document was not grouped yet.
    fn is_new(&self) -> bool {
        self.before.is_none_or(|(document, _)| document != self.document)
    }

    fn cluster(&self) -> Option<i64> {
        self.before.and_then(|(_, cluster)| cluster)
    }
}

/// The stored state of an axis: the last document that was grouped, and the number of experiences that were forgotten
/// since.
#[derive(Default)]
struct AxisState {
    seen: i64,
    stale: i64,
}

impl AxisState {
    fn load(connection: &Connection, axis: Axis) -> StoreResult<Self> {
        let known = connection
            .prepare_cached("SELECT seen, stale FROM common WHERE axis = ?1")?
            .query_row([axis], |row| Ok(Self { seen: row.get(0)?, stale: row.get(1)? }))
            .optional()?;
        Ok(known.unwrap_or_default())
    }
}

/// The changes to write.
pub(crate) struct RegroupDraft {
    axis: Axis,
    /// The mean of all texts.
    common: MeanDirection,
    seen: i64,
    stale: i64,
    placed: Vec<GroupedText>,
    /// Group number of each text in `placed`.
    of: Vec<Option<u32>>,
    /// Row ids of the stored clusters, by group number.
    known: Vec<i64>,
    /// Number of members of every group.
    sizes: BTreeMap<u32, usize>,
    /// Groups that changed.
    changed: BTreeSet<u32>,
    shapes: BTreeMap<u32, GroupShape>,
    merged: Vec<(u32, u32)>,
    /// Experiences that no longer have a text on this axis.
    gone: Vec<Id>,
}

/// Returns true if texts came, changed or were removed since the last update of the axis.
pub(crate) fn is_due(connection: &Connection, axis: Axis) -> StoreResult<bool> {
    let known = AxisState::load(connection, axis)?;
    let due: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM document WHERE id > ?1 AND axis = ?2 AND kind = 'experience')
                 OR EXISTS (SELECT 1 FROM grouped WHERE axis = ?2 AND document = 0)",
        )?
        .query_row(params![known.seen, axis], |row| row.get(0))?;
    Ok(known.stale != 0 || due)
}

/// Groups the texts of an axis, starting from their present clusters.
pub(crate) fn draft_regrouping(moment: &Connection, axis: Axis) -> StoreResult<RegroupDraft> {
    let clusters = StoredClusters::load(moment, axis)?;
    let (mut placed, mut vectors, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    let mut select = moment.prepare_cached(
        "SELECT document.id, document.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
         FROM document CROSS JOIN ghap ON ghap.uid = document.row
         LEFT JOIN document AS work ON ?1 = 'full' AND work.row = document.row AND work.axis = 'strategy'
         LEFT JOIN grouped ON grouped.row = document.row AND grouped.axis = document.axis
         WHERE document.axis = ?1 AND document.kind = 'experience' ORDER BY document.id",
    )?;
    let mut rows = select.query([axis])?;
    while let Some(row) = rows.next()? {
        let Some((text, vector, weight)) = read_text(row)? else { continue };
        placed.push(text);
        vectors.push(vector);
        weights.push(weight);
    }
    let common = MeanDirection::from_texts(axis, &vectors);
    let points: Vec<TextPoint> = vectors
        .iter()
        .zip(weights)
        .map(|(vector, weight)| TextPoint {
            vector: common.subtract_from(vector).unwrap_or(*vector),
            weight,
        })
        .collect();
    let of = placed.iter().map(|text| clusters.number(text.cluster())).collect();
    let mut grouping =
        Grouping::new(GroupingRule::for_axis(axis), &points, of).numbered_from(clusters.next);
    let gone = texts_removed(moment, axis)?;
    let lost = gone.iter().filter_map(|(_, cluster)| clusters.number(*cluster));
    for number in lost.chain(clusters.unchecked.iter().copied()) {
        grouping.mark_for_check(number);
    }
    let new: Vec<usize> = (0..placed.len()).filter(|at| placed[*at].is_new()).collect();
    grouping.grow(&new);
    let sizes: BTreeMap<u32, usize> = grouping.sizes().collect();
    let changed: BTreeSet<u32> = grouping.changed().collect();
    Ok(RegroupDraft {
        axis,
        common,
        seen: last_document(moment)?,
        stale: AxisState::load(moment, axis)?.stale,
        of: grouping.group_numbers().to_vec(),
        shapes: grouping.shapes(&changed),
        merged: grouping.merged().to_vec(),
        gone: gone.into_iter().map(|(row, _)| row).collect(),
        known: clusters.ids,
        placed,
        sizes,
        changed,
    })
}

/// Returns the id of the last document.
fn last_document(moment: &Connection) -> StoreResult<i64> {
    Ok(moment.query_row(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document'",
        [],
        |row| row.get(0),
    )?)
}

/// Returns the experiences that no longer have a text on an axis, with their clusters.
fn texts_removed(moment: &Connection, axis: Axis) -> StoreResult<Vec<(Id, Option<i64>)>> {
    let mut select = moment.prepare_cached(
        "SELECT row, cluster FROM grouped WHERE axis = ?1 AND document = 0 AND NOT EXISTS (
             SELECT 1 FROM document
             WHERE document.row = grouped.row AND document.axis = ?1 AND document.vector IS NOT NULL)",
    )?;
    Ok(select.query_map([axis], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// The clusters of an axis, numbered by age.
#[derive(Default)]
struct StoredClusters {
    ids: Vec<i64>,
    numbers: HashMap<i64, u32>,
    /// The first unused number.
    next: u32,
    /// Clusters that lost a member or their medoid to forgetting.
    unchecked: Vec<u32>,
}

impl StoredClusters {
    fn load(moment: &Connection, axis: Axis) -> StoreResult<Self> {
        let mut clusters = Self::default();
        let mut select = moment.prepare_cached(
            "SELECT id, asked = 0 OR medoid IS NULL FROM cluster WHERE axis = ?1 ORDER BY id",
        )?;
        let mut rows = select.query([axis])?;
        while let Some(row) = rows.next()? {
            let (id, number) = (row.get(0)?, clusters.next);
            clusters.ids.push(id);
            clusters.numbers.insert(id, number);
            if row.get(1)? {
                clusters.unchecked.push(number);
            }
            clusters.next += 1;
        }
        Ok(clusters)
    }

    fn number(&self, cluster: Option<i64>) -> Option<u32> {
        self.numbers.get(&cluster?).copied()
    }
}

/// Reads a text with its vector and weight, or returns None if it has no vector.
fn read_text(row: &Row<'_>) -> StoreResult<Option<(GroupedText, Vector, f32)>> {
    let Some(vector) = read_lesson_vector(row, 2, 6)? else { return Ok(None) };
    let before: Option<i64> = row.get(4)?;
    let cluster: Option<i64> = row.get(5)?;
    let text = GroupedText {
        row: row.get(1)?,
        document: row.get(0)?,
        before: before.map(|before| (before, cluster)),
    };
    #[expect(clippy::cast_possible_truncation, reason = "a weight has one digit")]
    let weight = row.get::<_, Option<Tier>>(3)?.map_or(1.0, Tier::weight) as f32;
    Ok(Some((text, vector, weight)))
}
