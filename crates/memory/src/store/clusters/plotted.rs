//! Experiences with their vectors, for a map of clusters.

use std::collections::HashMap;

use rusqlite::params;

use super::{Axis, ClusterMember, load_mean, read_lesson_vector, text_on_axis};
use crate::ghap::Tier;
use crate::store::{Store, StoreResult};
use crate::{Id, Time};
use rutter_search::cluster::{Group, TextPoint};
use rutter_search::embed::Vector;

/// An experience on a map.
#[derive(Debug, Clone, PartialEq)]
pub struct PlottedExperience {
    /// The experience. Its distance is 1 if it belongs to no cluster.
    pub member: ClusterMember,
    /// The cluster that it belongs to.
    pub cluster: Option<Id>,
    /// Vector of the experience, without the mean of all texts.
    pub vector: Vector,
}

impl Store {
    /// Returns up to `most` experiences that have a text on an axis: members of clusters first, then the newest.
    pub fn plot_experiences(&self, axis: Axis, most: usize) -> StoreResult<Vec<PlottedExperience>> {
        let common = load_mean(&self.connection, axis)?;
        let mut select = self.connection.prepare_cached(
            "SELECT ghap.*, project.key AS project_key, document.vector AS vector, work.vector AS work, cluster.uid AS cluster_uid
             FROM grouped JOIN document ON document.row = grouped.row AND document.axis = grouped.axis
             LEFT JOIN document AS work ON ?1 = 'full' AND work.row = grouped.row AND work.axis = 'strategy'
             JOIN ghap ON ghap.uid = grouped.row JOIN project ON project.id = ghap.project
             LEFT JOIN cluster ON cluster.id = grouped.cluster
             WHERE grouped.axis = ?1 ORDER BY grouped.cluster IS NULL, ghap.id DESC LIMIT ?2",
        )?;
        let mut rows = select.query(params![axis, i64::try_from(most).unwrap_or(i64::MAX)])?;
        let mut found: Vec<PlottedExperience> = Vec::new();
        let mut groups: HashMap<Id, Vec<TextPoint>> = HashMap::new();
        while let Some(row) = rows.next()? {
            let Some(vector) = read_lesson_vector(row, "vector", "work")? else { continue };
            let vector = common.subtract_from(&vector).unwrap_or(vector);
            let (cluster, tier): (Option<Id>, Option<Tier>) =
                (row.get("cluster_uid")?, row.get("tier")?);
            if let Some(cluster) = cluster {
                #[expect(clippy::cast_possible_truncation, reason = "a weight has one digit")]
                let weight = tier.map_or(1.0, Tier::weight) as f32;
                groups.entry(cluster).or_default().push(TextPoint { vector, weight });
            }
            let member = ClusterMember {
                ghap: row.get("uid")?,
                project: row.get("project_key")?,
                domain: row.get("domain")?,
                status: row.get("status")?,
                tier,
                at: row.get::<_, Option<Time>>("resolved")?.unwrap_or(Time::from_millis(0)),
                distance: 1.0,
                text: text_on_axis(row, axis)?,
            };
            found.push(PlottedExperience { member, cluster, vector });
        }
        let groups: HashMap<Id, Group> =
            groups.into_iter().map(|(id, points)| (id, Group::from_members(&points))).collect();
        for one in &mut found {
            let middle = one.cluster.and_then(|id| groups.get(&id)).and_then(Group::direction);
            if let Some(middle) = middle {
                let near = f64::from(middle.cosine(&one.vector));
                one.member.distance = (1.0 - near).clamp(0.0, 2.0);
            }
        }
        Ok(found)
    }
}
