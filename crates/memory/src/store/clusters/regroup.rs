//! Updates the clusters of an axis.
//!
//! Only new texts are processed. They are compared with the stored sums of the clusters, and members are read only if
//! enough came or went to check them again. The mean of all texts stays the same meanwhile, otherwise the sums would be
//! invalid. Once the number of texts has grown by a tenth, or one was forgotten, everything is read again and summed
//! anew. The same happens if the stored sums do not fit the members.
//!
//! The computation reads one snapshot and blocks no writer; afterwards only the changes are written. The caller holds
//! the maintenance lock, so no two processes do this at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::read_lesson_vector;
use crate::Id;
use crate::ghap::Tier;
use crate::store::StoreError;
use rutter_search::cluster::{
    Axis, Group, GroupShape, GroupState, Grouping, GroupingRule, MeanDirection, TextPoint,
};
use rutter_search::embed::Vector;

#[cfg(test)]
mod tests;
mod write;

pub(super) use write::write_regrouping;

/// Number of texts below which everything is read each time. That costs little, and one more text still changes the
/// mean.
const MIN_INCREMENTAL_TEXTS: u64 = 500;
/// The mean is computed again once one in this many texts is new.
const MEAN_REFRESH_DIVISOR: u64 = 10;

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

/// The stored state of an axis.
struct AxisState {
    mean: Vec<u8>,
    seen: i64,
    /// Number of experiences that were forgotten since.
    stale: i64,
    /// Number of texts in the mean, and of those that came since.
    texts: u64,
    came: u64,
}

impl AxisState {
    fn load(connection: &Connection, axis: Axis) -> Result<Option<Self>, StoreError> {
        Ok(connection
            .prepare_cached("SELECT mean, seen, stale, texts, came FROM common WHERE axis = ?1")?
            .query_row([axis], |row| {
                Ok(Self {
                    mean: row.get(0)?,
                    seen: row.get(1)?,
                    stale: row.get(2)?,
                    texts: row.get(3)?,
                    came: row.get(4)?,
                })
            })
            .optional()?)
    }
}

/// The changes to write.
pub(super) struct RegroupDraft {
    axis: Axis,
    /// The mean and its number of texts, if it was computed again.
    taken: Option<(MeanDirection, u64)>,
    seen: i64,
    stale: i64,
    came: u64,
    placed: Vec<GroupedText>,
    /// Group number of each text in `placed`.
    of: Vec<Option<u32>>,
    /// Row ids of the stored clusters, by group number.
    known: Vec<i64>,
    /// Groups that exist.
    alive: BTreeSet<u32>,
    /// Groups that changed.
    changed: BTreeSet<u32>,
    /// The sums of groups that have to be written.
    left: BTreeMap<u32, GroupState>,
    shapes: BTreeMap<u32, GroupShape>,
    merged: Vec<(u32, u32)>,
    /// Merged groups with members that were not read, as (from, into).
    parts: Vec<(u32, u32)>,
    /// Experiences that no longer have a text on this axis.
    gone: Vec<Id>,
}

/// The reason why an incremental update stopped.
enum IncrementalHalt {
    /// The stored sums do not fit or are too old: everything has to be read.
    ReadEverything,
    Store(StoreError),
}

impl<E: Into<StoreError>> From<E> for IncrementalHalt {
    fn from(error: E) -> Self {
        Self::Store(error.into())
    }
}

/// Returns true if texts came, changed or were removed since the last update of the axis.
pub(super) fn is_due(connection: &Connection, axis: Axis) -> Result<bool, StoreError> {
    let known = AxisState::load(connection, axis)?;
    let (seen, stale) = known.map_or((0, 0), |known| (known.seen, known.stale));
    let due: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM document WHERE id > ?1 AND axis = ?2 AND kind = 'experience')
                 OR EXISTS (SELECT 1 FROM grouped WHERE axis = ?2 AND document = 0)",
        )?
        .query_row(params![seen, axis], |row| row.get(0))?;
    Ok(stale != 0 || due)
}

/// Groups the new texts of an axis: incrementally if possible, otherwise by reading everything.
pub(super) fn draft_regrouping(
    moment: &Connection,
    axis: Axis,
) -> Result<RegroupDraft, StoreError> {
    let known = AxisState::load(moment, axis)?;
    if let Some(known) = &known {
        match group_incrementally(moment, axis, known) {
            Ok(draft) => return Ok(draft),
            Err(IncrementalHalt::Store(error)) => return Err(error),
            Err(IncrementalHalt::ReadEverything) => {}
        }
    }
    group_everything(moment, axis, known.as_ref(), None)
}

/// Groups incrementally: reads the new texts, those without a cluster, and members that have to be checked.
fn group_incrementally(
    moment: &Connection,
    axis: Axis,
    known: &AxisState,
) -> Result<RegroupDraft, IncrementalHalt> {
    let common = MeanDirection::from_bytes(&known.mean)
        .filter(|_| known.stale == 0)
        .ok_or(IncrementalHalt::ReadEverything)?;
    let clusters = StoredClusters::load(moment, axis)?;
    let mut left = clusters.group_states()?;
    let texts = TextReader { common: &common };

    let most = known.texts.div_ceil(MEAN_REFRESH_DIVISOR).saturating_sub(known.came);
    let mut select = moment.prepare_cached(
        // CROSS JOIN makes SQLite start with the new documents, the shorter list, regardless of its statistics.
        "SELECT document.id, document.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
         FROM document CROSS JOIN ghap ON ghap.uid = document.row
         LEFT JOIN document AS work ON ?1 = 'full' AND work.row = document.row AND work.axis = 'strategy'
         LEFT JOIN grouped ON grouped.row = document.row AND grouped.axis = document.axis
         WHERE document.id > ?2 AND document.axis = ?1 AND document.kind = 'experience' ORDER BY document.id",
    )?;
    let mut rows = select.query(params![axis, known.seen])?;
    let mut fresh = Vec::new();
    while let Some(row) = rows.next()? {
        fresh.extend(texts.read_row(row)?);
        if fresh.len() as u64 >= most {
            return Err(IncrementalHalt::ReadEverything);
        }
    }
    let came = known.came + fresh.len() as u64;
    if known.texts + came < MIN_INCREMENTAL_TEXTS {
        return Err(IncrementalHalt::ReadEverything);
    }

    // A member with a changed text cannot be subtracted from its group's sum, because the old text is gone.
    let gone = texts_removed(moment, axis)?;
    let lost: Vec<u32> = gone.iter().filter_map(|(_, cluster)| clusters.number(*cluster)).collect();
    let edited: Vec<u32> =
        fresh.iter().filter_map(|(placed, _)| clusters.number(placed.cluster())).collect();
    fresh.retain(|(placed, _)| clusters.number(placed.cluster()).is_none());
    let mut whole = Vec::new();
    for &number in lost.iter().chain(&edited).collect::<BTreeSet<_>>() {
        let members = texts.read_members(moment, clusters.ids[number as usize])?;
        let missing = lost.iter().filter(|lost| **lost == number).count();
        clusters.check_size(number, members.len() + missing)?;
        if let Some(left) = left.get_mut(&number) {
            left.group = Group::from_members(members.iter().map(|(_, point)| point));
        }
        whole.push((number, members));
    }

    let mut grouping = Grouping::from_states(GroupingRule::for_axis(axis), left);
    let mut placed: Vec<GroupedText> = Vec::new();
    let mut add = |grouping: &mut Grouping<'_>, (text, point): (GroupedText, TextPoint), of| {
        let at = grouping.add(text.document, &point, of);
        let new = text.is_new().then_some((text.document, at));
        placed.push(text);
        new
    };
    let mut new = Vec::new();
    for text in texts.read_ungrouped(moment, axis, known.seen)? {
        add(&mut grouping, text, None);
    }
    for (number, members) in whole {
        grouping.mark_read(number);
        new.extend(members.into_iter().filter_map(|text| add(&mut grouping, text, Some(number))));
    }
    new.extend(fresh.into_iter().filter_map(|text| add(&mut grouping, text, None)));
    new.sort_unstable();
    let new: Vec<usize> = new.into_iter().map(|(_, at)| at).collect();

    let mut read = |number: u32| -> Result<Vec<(i64, TextPoint)>, IncrementalHalt> {
        let members = texts.read_members(moment, clusters.ids[number as usize])?;
        clusters.check_size(number, members.len())?;
        let (texts, points): (Vec<GroupedText>, Vec<TextPoint>) = members.into_iter().unzip();
        let order: Vec<i64> = texts.iter().map(|text| text.document).collect();
        placed.extend(texts);
        Ok(order.into_iter().zip(points).collect())
    };
    for number in lost {
        grouping.mark_for_check(number);
    }
    grouping.grow_with(&new, &mut read)?;
    let shown: BTreeSet<u32> =
        grouping.checked().chain(clusters.without_medoid(&grouping)).collect();
    for &number in &shown {
        grouping.read_members(number, &mut read)?;
    }
    let changed: BTreeSet<u32> = grouping.changed().chain(shown.iter().copied()).collect();
    let left = grouping.states().filter(|(number, _)| changed.contains(number)).collect();
    Ok(RegroupDraft {
        axis,
        taken: None,
        seen: last_document(moment)?,
        stale: known.stale,
        came,
        of: grouping.group_numbers().to_vec(),
        alive: grouping.states().map(|(number, _)| number).collect(),
        shapes: grouping.shapes(&shown),
        merged: grouping.merged().to_vec(),
        parts: grouping.unread_parts().filter(|(from, into)| from != into).collect(),
        gone: gone.into_iter().map(|(row, _)| row).collect(),
        known: clusters.ids,
        placed,
        changed,
        left,
    })
}

/// Groups by reading everything. Computes the mean again unless `common` is given.
fn group_everything(
    moment: &Connection,
    axis: Axis,
    known: Option<&AxisState>,
    common: Option<MeanDirection>,
) -> Result<RegroupDraft, StoreError> {
    let stale = known.map_or(0, |known| known.stale);
    let clusters = StoredClusters::load(moment, axis)?;
    let (mut placed, mut vectors, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    // If the axis has few of all documents, the query does not search all of them.
    let few =
        known.filter(|known| known.texts > 0 && known.texts + known.came < MIN_INCREMENTAL_TEXTS);
    let among = if few.is_some() {
        "(SELECT row FROM grouped INDEXED BY grouped_axis WHERE axis = ?1 UNION
          SELECT row FROM document WHERE id > ?2 AND axis = ?1 AND kind = 'experience') AS own
         CROSS JOIN document ON document.row = own.row"
    } else {
        "document"
    };
    let mut select = moment.prepare_cached(&format!(
        "SELECT document.id, document.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
         FROM {among} CROSS JOIN ghap ON ghap.uid = document.row
         LEFT JOIN document AS work ON ?1 = 'full' AND work.row = document.row AND work.axis = 'strategy'
         LEFT JOIN grouped ON grouped.row = document.row AND grouped.axis = document.axis
         WHERE document.axis = ?1 AND document.kind = 'experience' ORDER BY document.id",
    ))?;
    let mut rows = match few {
        Some(known) => select.query(params![axis, known.seen])?,
        None => select.query([axis])?,
    };
    while let Some(row) = rows.next()? {
        let Some((text, vector, weight)) = read_text(row)? else { continue };
        placed.push(text);
        vectors.push(vector);
        weights.push(weight);
    }
    let common = common.unwrap_or_else(|| MeanDirection::from_texts(axis, &vectors));
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
        Grouping::new(GroupingRule::for_axis(axis), &points, of).with_unrest(&clusters.unrest());
    let gone = texts_removed(moment, axis)?;
    let lost = gone.iter().filter_map(|(_, cluster)| clusters.number(*cluster));
    for number in lost.chain(clusters.unsummed()) {
        grouping.mark_for_check(number);
    }
    let new: Vec<usize> = (0..placed.len()).filter(|at| placed[*at].is_new()).collect();
    grouping.grow(&new);
    let shown: BTreeSet<u32> =
        grouping.checked().chain(clusters.without_medoid(&grouping)).collect();
    Ok(RegroupDraft {
        axis,
        taken: Some((common, placed.len() as u64)),
        seen: last_document(moment)?,
        stale,
        came: 0,
        of: grouping.group_numbers().to_vec(),
        alive: grouping.states().map(|(number, _)| number).collect(),
        changed: grouping.changed().chain(shown.iter().copied()).collect(),
        left: grouping.states().collect(),
        shapes: grouping.shapes(&shown),
        merged: grouping.merged().to_vec(),
        parts: Vec::new(),
        gone: gone.into_iter().map(|(row, _)| row).collect(),
        known: clusters.ids,
        placed,
    })
}

/// Returns the id of the last document.
fn last_document(moment: &Connection) -> Result<i64, StoreError> {
    Ok(moment.query_row(
        "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'document'",
        [],
        |row| row.get(0),
    )?)
}

/// Returns the experiences that no longer have a text on an axis, with their clusters.
fn texts_removed(moment: &Connection, axis: Axis) -> Result<Vec<(Id, Option<i64>)>, StoreError> {
    let mut select = moment.prepare_cached(
        "SELECT row, cluster FROM grouped WHERE axis = ?1 AND document = 0 AND NOT EXISTS (
             SELECT 1 FROM document
             WHERE document.row = grouped.row AND document.axis = ?1 AND document.vector IS NOT NULL)",
    )?;
    Ok(select.query_map([axis], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
}

/// The clusters of an axis, numbered by age.
struct StoredClusters {
    ids: Vec<i64>,
    numbers: HashMap<i64, u32>,
    kept: Vec<StoredCluster>,
}

/// A cluster in the database.
struct StoredCluster {
    size: usize,
    has_middle: bool,
    /// The sum of its members, their number, and the number that came or went since the members were checked.
    sum: Option<(Vec<u8>, usize, usize)>,
}

impl StoredClusters {
    fn load(moment: &Connection, axis: Axis) -> Result<Self, StoreError> {
        let mut select = moment.prepare_cached(
            "SELECT cluster.id, cluster.size, medoid IS NOT NULL, sum, summed.size, unrest
             FROM cluster LEFT JOIN summed ON summed.cluster = cluster.id
             WHERE axis = ?1 ORDER BY cluster.id",
        )?;
        let (mut ids, mut kept) = (Vec::new(), Vec::new());
        let mut rows = select.query([axis])?;
        while let Some(row) = rows.next()? {
            ids.push(row.get(0)?);
            let sum = match row.get(3)? {
                Some(sum) => Some((sum, row.get(4)?, row.get(5)?)),
                None => None,
            };
            kept.push(StoredCluster { size: row.get(1)?, has_middle: row.get(2)?, sum });
        }
        let numbers = ids.iter().copied().zip(0..).collect();
        Ok(Self { ids, numbers, kept })
    }

    fn number(&self, cluster: Option<i64>) -> Option<u32> {
        self.numbers.get(&cluster?).copied()
    }

    /// Returns the sums of all clusters. Halts if one is missing or has another number of members.
    fn group_states(&self) -> Result<BTreeMap<u32, GroupState>, IncrementalHalt> {
        let left = (0..).zip(&self.kept).map(|(number, kept)| {
            let (sum, size, unrest) =
                kept.sum.as_ref().filter(|(_, size, _)| *size == kept.size)?;
            let group = Group::from_bytes(sum, *size)?;
            Some((number, GroupState { group, unrest: *unrest }))
        });
        left.collect::<Option<_>>().ok_or(IncrementalHalt::ReadEverything)
    }

    /// Returns the clusters that lost a member to forgetting, which removed their sums.
    fn unsummed(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.kept).filter(|(_, kept)| kept.sum.is_none()).map(|(number, _)| number)
    }

    fn unrest(&self) -> BTreeMap<u32, usize> {
        let of = |kept: &StoredCluster| kept.sum.as_ref().map_or(0, |(_, _, unrest)| *unrest);
        (0..).zip(self.kept.iter().map(of)).collect()
    }

    /// Halts unless the number of members is as stored.
    fn check_size(&self, number: u32, found: usize) -> Result<(), IncrementalHalt> {
        if self.kept[number as usize].size == found {
            Ok(())
        } else {
            Err(IncrementalHalt::ReadEverything)
        }
    }

    /// Returns the clusters that lost their medoid and still exist.
    fn without_medoid(&self, grouping: &Grouping<'_>) -> Vec<u32> {
        let kept = (0..).zip(&self.kept).filter(|(_, kept)| !kept.has_middle);
        kept.map(|(number, _)| number).filter(|number| grouping.contains(*number)).collect()
    }
}

/// Reads texts and subtracts the mean from their vectors.
struct TextReader<'a> {
    common: &'a MeanDirection,
}

impl TextReader<'_> {
    fn read_row(&self, row: &Row<'_>) -> Result<Option<(GroupedText, TextPoint)>, StoreError> {
        Ok(read_text(row)?.map(|(text, vector, weight)| {
            let vector = self.common.subtract_from(&vector).unwrap_or(vector);
            (text, TextPoint { vector, weight })
        }))
    }

    /// Returns the members of a cluster.
    fn read_members(
        &self,
        moment: &Connection,
        cluster: i64,
    ) -> Result<Vec<(GroupedText, TextPoint)>, StoreError> {
        let mut select = moment.prepare_cached(
            "SELECT document.id, grouped.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
             FROM grouped CROSS JOIN document ON document.row = grouped.row AND document.axis = grouped.axis
             CROSS JOIN ghap ON ghap.uid = grouped.row
             LEFT JOIN document AS work
                ON grouped.axis = 'full' AND work.row = grouped.row AND work.axis = 'strategy'
             WHERE grouped.cluster = ?1",
        )?;
        self.read_rows(select.query([cluster])?)
    }

    /// Returns the grouped texts that belong to no cluster.
    fn read_ungrouped(
        &self,
        moment: &Connection,
        axis: Axis,
        seen: i64,
    ) -> Result<Vec<(GroupedText, TextPoint)>, StoreError> {
        let mut select = moment.prepare_cached(
            "SELECT document.id, grouped.row, document.vector, ghap.tier, grouped.document, grouped.cluster, work.vector
             FROM grouped INDEXED BY grouped_axis
             CROSS JOIN document ON document.row = grouped.row AND document.axis = grouped.axis
             CROSS JOIN ghap ON ghap.uid = grouped.row
             LEFT JOIN document AS work ON ?1 = 'full' AND work.row = grouped.row AND work.axis = 'strategy'
             WHERE grouped.axis = ?1 AND grouped.cluster IS NULL AND document.id <= ?2",
        )?;
        self.read_rows(select.query(params![axis, seen])?)
    }

    fn read_rows(
        &self,
        mut rows: rusqlite::Rows<'_>,
    ) -> Result<Vec<(GroupedText, TextPoint)>, StoreError> {
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.extend(self.read_row(row)?);
        }
        found.sort_by_key(|(text, _)| text.document);
        Ok(found)
    }
}

/// Reads a text with its vector and weight, or returns None if it has no vector.
fn read_text(row: &Row<'_>) -> Result<Option<(GroupedText, Vector, f32)>, StoreError> {
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
