//! Clusters in the database: experiences that belong together on each axis.
//!
//! Clusters span all projects: the same mistakes happen in other projects in other words, one project rarely has three
//! of a kind, and a cluster must not fall apart when two projects turn out to be one. A value, not its cluster, records
//! the project it holds in.

use rusqlite::{Connection, OptionalExtension as _, Row, RowIndex, params};
use serde::Serialize;

use super::{Store, StoreError, StoreResult, tables};
use crate::ghap::{Domain, GhapStatus, Tier};
use crate::project::ProjectKey;
use crate::{Clean, Id, IdSuffix, Time};
use rutter_search::cluster::{self, Axis, Group, MeanDirection, TextPoint};
use rutter_search::embed::Vector;

mod plotted;
mod regroup;

pub use plotted::PlottedExperience;
pub(crate) use regroup::{draft_regrouping, is_due, write_regrouping};

/// The result of an update of clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RegroupReport {
    /// Experiences that were grouped for the first time, counted per axis.
    pub placed: usize,
    /// Experiences that moved to another cluster or left theirs.
    pub moved: usize,
    /// New clusters.
    pub born: usize,
    /// Clusters that gained or lost a member.
    pub changed: usize,
    /// Clusters that ended.
    pub gone: usize,
    /// Values that were proposed.
    pub proposed: usize,
    /// Values that lost their standing.
    pub doubted: usize,
    /// True if nothing was done because another process took too long with its update.
    pub put_off: bool,
}

/// A group of experiences about the same subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cluster {
    /// Id, which stays while members come and go.
    pub id: Id,
    /// The axis on which the members are similar.
    pub axis: Axis,
    /// Number of members.
    pub size: u32,
    /// Average similarity of the members, from 0 to 1.
    pub cohesion: f64,
    /// The GHAP in the middle.
    pub medoid: Option<Id>,
    /// The text of the medoid on the axis.
    pub text: Option<Clean>,
    /// The projects of the members.
    pub projects: Vec<ProjectKey>,
    /// Values of the cluster that are not retired.
    pub values: Vec<Id>,
    /// Time when the cluster was created.
    pub created: Time,
    /// Time when it last gained or lost a member.
    pub changed: Time,
}

/// A member of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClusterMember {
    /// The GHAP.
    pub ghap: Id,
    /// The project of the GHAP.
    pub project: ProjectKey,
    /// The kind of work.
    pub domain: Domain,
    /// The result of the GHAP.
    pub status: GhapStatus,
    /// Quality of its evidence.
    pub tier: Option<Tier>,
    /// Time when it was resolved.
    pub at: Time,
    /// Distance from the middle, from 0 to 2.
    pub distance: f64,
    /// Text of the GHAP on the axis.
    pub text: Clean,
}

/// A filter for the list of clusters.
#[derive(Debug, Clone, Default)]
pub struct ClusterFilter {
    /// Only clusters of this axis.
    pub axis: Option<Axis>,
    /// Only clusters with a member of this project.
    pub project: Option<ProjectKey>,
    /// Maximum number of clusters.
    pub limit: Option<usize>,
}

impl Store {
    /// Lists clusters, the largest first.
    pub fn clusters(&self, filter: &ClusterFilter) -> StoreResult<Vec<Cluster>> {
        let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
        let mut clusters = self.connection.prepare_cached(
            "SELECT * FROM cluster WHERE (?1 IS NULL OR axis = ?1) AND (?2 IS NULL OR EXISTS (
                 SELECT 1 FROM grouped JOIN ghap ON ghap.uid = grouped.row JOIN project ON project.id = ghap.project
                 WHERE grouped.cluster = cluster.id AND project.key = ?2))
             ORDER BY size DESC, id LIMIT ?3",
        )?;
        let found = clusters
            .query_map(params![filter.axis, filter.project, limit], |row| {
                read_cluster(&self.connection, row)
            })?
            .collect::<Result<_, _>>()?;
        Ok(found)
    }

    /// Returns the cluster with an id.
    pub fn cluster(&self, id: Id) -> StoreResult<Cluster> {
        let found = self
            .connection
            .prepare_cached("SELECT * FROM cluster WHERE uid = ?1")?
            .query_row([id], |row| read_cluster(&self.connection, row))
            .optional()?;
        found.ok_or_else(|| StoreError::NotFound { what: "cluster", id: id.into() })
    }

    /// Returns the experiences of a cluster, those nearest to its middle first.
    pub fn members(&self, id: Id) -> StoreResult<Vec<ClusterMember>> {
        let cluster = self.cluster(id)?;
        let common = load_mean(&self.connection, cluster.axis)?;
        let middle = ClusterCenter::load(&self.connection, id, cluster.axis, &common)?;
        let mut members = Vec::with_capacity(middle.members.len());
        let mut select = self.connection.prepare_cached(
            "SELECT ghap.*, project.key AS project_key FROM ghap JOIN project ON project.id = ghap.project
             WHERE ghap.uid = ?1",
        )?;
        for (row, point) in &middle.members {
            members.push(select.query_row([row], |found| {
                Ok(ClusterMember {
                    ghap: *row,
                    project: found.get("project_key")?,
                    domain: found.get("domain")?,
                    status: found.get("status")?,
                    tier: found.get("tier")?,
                    at: found.get::<_, Option<Time>>("resolved")?.unwrap_or(Time::from_millis(0)),
                    distance: middle.distance(&point.vector),
                    text: text_on_axis(found, cluster.axis)?,
                })
            })?);
        }
        members.sort_by(|one, other| {
            one.distance.total_cmp(&other.distance).then(one.ghap.cmp(&other.ghap))
        });
        Ok(members)
    }

    /// Finds a cluster by the id or id suffix that a user typed.
    pub fn cluster_id(&self, id: &IdSuffix) -> StoreResult<Id> {
        tables::find_by_suffix(&self.connection, "cluster", "cluster", id)
    }

    /// Returns the cluster of an experience on an axis, or None if it belongs to none.
    pub fn cluster_of(&self, ghap: Id, axis: Axis) -> StoreResult<Option<Id>> {
        let found = self
            .connection
            .prepare_cached(
                "SELECT cluster.uid FROM grouped JOIN cluster ON cluster.id = grouped.cluster
                 WHERE grouped.row = ?1 AND grouped.axis = ?2",
            )?
            .query_row(params![ghap, axis], |row| row.get(0))
            .optional()?;
        Ok(found)
    }

    /// Returns the number of experiences with a text on an axis, and how many of them belong to a cluster.
    pub fn count_grouped(&self, axis: Axis) -> StoreResult<(u64, u64)> {
        Ok(self.connection.query_row(
            "SELECT count(*), count(cluster) FROM grouped WHERE axis = ?1",
            [axis],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?)
    }
}

fn read_cluster(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Cluster> {
    let (number, axis): (i64, Axis) = (row.get("id")?, row.get("axis")?);
    let (id, medoid): (Id, Option<Id>) = (row.get("uid")?, row.get("medoid")?);
    let text = match medoid {
        Some(medoid) => connection
            .prepare_cached("SELECT * FROM ghap WHERE uid = ?1")?
            .query_row([medoid], |row| text_on_axis(row, axis))
            .optional()?,
        None => None,
    };
    let projects = connection
        .prepare_cached(
            "SELECT DISTINCT project.key FROM grouped JOIN ghap ON ghap.uid = grouped.row
             JOIN project ON project.id = ghap.project WHERE grouped.cluster = ?1 ORDER BY project.key",
        )?
        .query_map([number], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let values = connection
        .prepare_cached(
            "SELECT uid FROM value WHERE cluster = ?1 AND standing != 'retired' ORDER BY id",
        )?
        .query_map([id], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(Cluster {
        id,
        axis,
        size: row.get("size")?,
        cohesion: row.get("cohesion")?,
        medoid,
        text,
        projects,
        values,
        created: row.get("created")?,
        changed: row.get("changed")?,
    })
}

/// Returns the text of a resolved GHAP on an axis: the first of its columns that is filled.
fn text_on_axis(row: &Row<'_>, axis: Axis) -> rusqlite::Result<Clean> {
    let columns: &[&str] = match axis {
        Axis::Full => &["takeaway", "what_worked", "cause_text", "surprise", "goal"],
        Axis::Strategy => &["what_worked", "action", "goal"],
        Axis::Surprise => &["surprise", "goal"],
        Axis::RootCause => &["cause_text", "goal"],
    };
    for column in columns {
        if let Some(text) = row.get::<_, Option<Clean>>(*column)? {
            return Ok(text);
        }
    }
    Ok(Clean::default())
}

/// Returns the mean of the texts of an axis, from the last update.
pub(super) fn load_mean(connection: &Connection, axis: Axis) -> StoreResult<MeanDirection> {
    let kept: Option<Vec<u8>> = connection
        .prepare_cached("SELECT mean FROM common WHERE axis = ?1")?
        .query_row([axis], |row| row.get(0))
        .optional()?;
    Ok(kept
        .and_then(|kept| MeanDirection::from_bytes(&kept))
        .unwrap_or_else(|| MeanDirection::from_texts(axis, [])))
}

/// Returns the vector of a lesson on an axis. On the full axis the work is subtracted, which is another document of the
/// same row.
fn read_lesson_vector(
    row: &Row<'_>,
    own: impl RowIndex,
    work: impl RowIndex,
) -> rusqlite::Result<Option<Vector>> {
    let vector = |bytes: Option<&[u8]>| bytes.and_then(Vector::from_bytes);
    let own = vector(row.get_ref(own)?.as_blob_or_null().unwrap_or_default());
    let work = vector(row.get_ref(work)?.as_blob_or_null().unwrap_or_default());
    Ok(match (own, work) {
        (Some(own), Some(work)) => Some(cluster::subtract_work(&own, &work)),
        (own, _) => own,
    })
}

/// A cluster with the vectors of its members.
pub(super) struct ClusterCenter {
    pub(super) members: Vec<(Id, TextPoint)>,
    group: Group,
}

impl ClusterCenter {
    /// Reads the texts of the members on an axis, which may differ from the axis of the cluster.
    pub(super) fn load(
        connection: &Connection,
        cluster: Id,
        axis: Axis,
        common: &MeanDirection,
    ) -> StoreResult<Self> {
        let mut select = connection.prepare_cached(
            "SELECT grouped.row, document.vector, ghap.tier, work.vector
             FROM cluster JOIN grouped ON grouped.cluster = cluster.id
             JOIN document ON document.row = grouped.row AND document.axis = ?2
             JOIN ghap ON ghap.uid = grouped.row
             LEFT JOIN document AS work ON ?2 = 'full' AND work.row = grouped.row AND work.axis = 'strategy'
             WHERE cluster.uid = ?1",
        )?;
        let mut rows = select.query(params![cluster, axis])?;
        let mut members = Vec::new();
        while let Some(row) = rows.next()? {
            let Some(vector) = read_lesson_vector(row, 1, 3)? else { continue };
            #[expect(clippy::cast_possible_truncation, reason = "a weight has one digit")]
            let weight = row.get::<_, Option<Tier>>(2)?.map_or(1.0, Tier::weight) as f32;
            let vector = common.subtract_from(&vector).unwrap_or(vector);
            members.push((row.get(0)?, TextPoint { vector, weight }));
        }
        let group = Group::from_members(members.iter().map(|(_, point)| point));
        Ok(Self { members, group })
    }

    /// Returns the average similarity of the members.
    pub(super) fn cohesion(&self) -> f32 {
        self.group.cohesion()
    }

    /// Returns the similarity of a text to the mean direction of the members.
    pub(super) fn nearness(&self, vector: &Vector) -> f64 {
        self.group.direction().map_or(0.0, |direction| f64::from(direction.cosine(vector)))
    }

    /// Returns the distance of a text from the mean direction of the members.
    pub(super) fn distance(&self, vector: &Vector) -> f64 {
        (1.0 - self.nearness(vector)).clamp(0.0, 2.0)
    }
}

/// Deletes data derived from forgotten experiences: the means of their vectors, and clusters without a member. Earlier
/// versions also stored a sum for each cluster. Marks the clusters that lost a member, so that the next update checks the
/// others.
pub(super) fn forget_derived(connection: &Connection) -> StoreResult {
    Ok(connection.execute_batch(
        "DELETE FROM common;
         DELETE FROM summed;
         UPDATE cluster SET asked = 0 WHERE unweighed;
         DELETE FROM cluster WHERE NOT EXISTS (SELECT 1 FROM grouped WHERE grouped.cluster = cluster.id);",
    )?)
}
