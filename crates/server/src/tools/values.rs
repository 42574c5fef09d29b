//! The tools for values and for the clusters of experiences behind them.

use std::fmt::Write as _;

use rutter_memory::project::ProjectKey;
use rutter_memory::store::entry::Place;
use rutter_memory::store::{
    Cluster, ClusterFilter, Held, Member as Experience, NewValue, ValueFilter,
};
use rutter_memory::value::{self, Axis, Standing, Value};
use rutter_memory::{Id, IdSuffix, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Call, Given, LINE, PASSAGE, Refusal, cut, id, quoted, short};
use crate::schema;

/// `list_clusters`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Clusters {
    /// Cluster id, to list its members
    #[serde(default)]
    cluster: Option<String>,
    #[schemars(schema_with = "schema::axis")]
    #[serde(default)]
    axis: Option<Axis>,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    limit: Option<usize>,
}

/// `add_value`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Add {
    /// Id of the value's cluster
    cluster: String,
    #[schemars(length(min = 1, max = value::LONGEST))]
    text: String,
}

/// `list_values`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Values {
    #[schemars(schema_with = "schema::standing")]
    #[serde(default)]
    standing: Option<Standing>,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    limit: Option<usize>,
}

/// The answer of `list_clusters`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Grouped {
    clusters: Vec<Group>,
    count: usize,
    /// Members of the requested cluster, nearest to its middle first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<Member>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Group {
    id: String,
    axis: String,
    size: u32,
    /// Number of members in other projects, not shown.
    #[serde(skip_serializing_if = "is_none")]
    elsewhere: usize,
    /// Members' similarity, 0 to 1.
    cohesion: f64,
    /// Id of the shown member nearest to the middle.
    #[serde(skip_serializing_if = "Option::is_none")]
    medoid: Option<String>,
    /// Text of the medoid.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Number of its values.
    values: usize,
}

#[derive(Serialize, JsonSchema)]
struct Member {
    id: String,
    distance: f64,
    outcome: String,
    domain: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    text: String,
}

/// The answer of `add_value`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Added {
    ok: bool,
    id: String,
    standing: String,
    /// Distance from the middle of its cluster; at most threshold.
    distance: f64,
    threshold: f64,
    support: u32,
    /// True if the value existed already.
    merged: bool,
    /// Values here that seem to contradict it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Conflict>,
}

#[derive(Serialize, JsonSchema)]
struct Conflict {
    id: String,
    text: String,
}

/// The answer of `list_values`.
#[derive(Serialize, JsonSchema)]
pub(super) struct Listed {
    values: Vec<Shown>,
    count: usize,
}

#[derive(Serialize, JsonSchema)]
struct Shown {
    id: String,
    text: String,
    standing: String,
    axis: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<String>,
    /// Number of independent experiences that support it.
    support: u32,
    helped: u32,
    hurt: u32,
    /// Times it was followed since, and the prediction failed.
    contradicted: u32,
    everywhere: bool,
}

/// The length of a list without a `limit`.
const MOST: usize = 20;

/// Rounds to thousandths, which is precise enough for comparisons.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The project of the caller; experiences of other projects are not shown.
struct Scope(ProjectKey);

impl Scope {
    fn of(place: &Place, call: &Call<'_>) -> Result<Self, StoreError> {
        Ok(Self(call.store.project_key(place)?))
    }

    fn holds(&self, project: &ProjectKey) -> bool {
        self.0 == *project
    }

    /// Returns the members of a cluster in this project, nearest to the middle first, and the number of other members.
    fn members(&self, cluster: Id, store: &Store) -> Result<(Vec<Experience>, usize), StoreError> {
        let mut members = store.members(cluster)?;
        let all = members.len();
        members.retain(|member| self.holds(&member.project));
        let elsewhere = all - members.len();
        Ok((members, elsewhere))
    }

    /// Returns a cluster with the members of this project, or None if it has no member here.
    fn group(&self, cluster: &Cluster, store: &Store) -> Result<Option<Group>, StoreError> {
        let mut group = Group::new(cluster);
        if cluster.projects.iter().all(|project| self.holds(project)) {
            return Ok(Some(group));
        }
        let (members, elsewhere) = self.members(cluster.id, store)?;
        let Some(middle) = members.first() else { return Ok(None) };
        // The medoid may belong to another project.
        if members.iter().all(|member| Some(member.ghap) != cluster.medoid) {
            group.medoid = Some(middle.ghap.to_string());
            group.text = Some(cut(&middle.text, LINE));
        }
        group.elsewhere = elsewhere;
        Ok(Some(group))
    }
}

impl Group {
    fn new(cluster: &Cluster) -> Self {
        Self {
            id: cluster.id.to_string(),
            axis: cluster.axis.to_string(),
            size: cluster.size,
            elsewhere: 0,
            cohesion: rounded(cluster.cohesion),
            medoid: cluster.medoid.map(|medoid| medoid.to_string()),
            text: cluster.text.as_deref().map(|text| cut(text, LINE)),
            values: cluster.values.len(),
        }
    }

    fn line(&self) -> String {
        let text = self.text.as_deref().map(quoted).unwrap_or_default();
        let elsewhere = match self.elsewhere {
            0 => String::new(),
            elsewhere => format!(" ({elsewhere} elsewhere)"),
        };
        let (id, axis, size) = (short(&self.id), &self.axis, self.size);
        format!("{id} {axis}, {size} experiences{elsewhere}: {text}")
    }
}

impl Shown {
    pub(super) fn new(held: &Held) -> Self {
        let value = &held.value;
        Self {
            id: value.id.to_string(),
            text: value.text.to_string(),
            standing: value.standing.to_string(),
            axis: value.axis.to_string(),
            cluster: value.cluster.map(|cluster| cluster.to_string()),
            support: value.support,
            helped: held.effects.helped,
            hurt: held.effects.hurt,
            contradicted: value.contradicted,
            everywhere: value.project.is_none(),
        }
    }
}

/// Brings values and clusters up to date, and returns the caller's place. Hooks never wait for this.
fn up_to_date(call: &mut Call<'_>) -> Result<Place, Refusal> {
    let place = call.owner()?.place;
    let now = call.now();
    // If another process is writing, slightly old rows are good enough.
    call.store.freshen_values(now)?;
    Ok(place)
}

pub(super) fn clusters(ask: &Clusters, call: &mut Call<'_>) -> Result<Given<Grouped>, Refusal> {
    let place = up_to_date(call)?;
    let scope = Scope::of(&place, call)?;
    if let Some(text) = &ask.cluster {
        return one(text, ask, &scope, &call.store);
    }
    let filter = ClusterFilter {
        axis: ask.axis,
        project: Some(scope.0.clone()),
        limit: Some(ask.limit.unwrap_or(MOST)),
    };
    let mut clusters = Vec::new();
    for cluster in call.store.clusters(&filter)? {
        clusters.extend(scope.group(&cluster, &call.store)?);
    }
    let hint = clusters.is_empty().then(|| {
        "there are none: a cluster is three experiences or more that are alike".to_owned()
    });
    let text = match &hint {
        Some(hint) => format!("Nothing belongs together yet; {hint}."),
        None => clusters.iter().map(Group::line).collect::<Vec<_>>().join("\n"),
    };
    Ok(Given {
        value: Grouped { count: clusters.len(), clusters, members: Vec::new(), hint },
        text,
    })
}

/// Returns a cluster with its members.
fn one(
    id_sent: &str,
    ask: &Clusters,
    scope: &Scope,
    store: &Store,
) -> Result<Given<Grouped>, Refusal> {
    let cluster = store.cluster(store.cluster_id(&id("cluster", id_sent)?)?)?;
    let Some(group) = scope.group(&cluster, store)? else {
        return Err(unknown_cluster(id("cluster", id_sent)?));
    };
    let members: Vec<Member> = scope
        .members(cluster.id, store)?
        .0
        .iter()
        .take(ask.limit.unwrap_or(MOST))
        .map(|member| Member {
            id: member.ghap.to_string(),
            distance: rounded(member.distance),
            outcome: member.status.to_string(),
            domain: member.domain.to_string(),
            tier: member.tier.map(|tier| tier.to_string()),
            text: cut(&member.text, PASSAGE),
        })
        .collect();
    let lines = members.iter().map(|member| {
        format!(
            "\n{:.2} {} {}: {}",
            member.distance,
            short(&member.id),
            member.outcome,
            quoted(&member.text)
        )
    });
    let text = group.line() + &lines.collect::<String>();
    Ok(Given { value: Grouped { clusters: vec![group], count: 1, members, hint: None }, text })
}

/// Returns the refusal for a cluster without a member in this project: the same as for one that does not exist.
fn unknown_cluster(meant: IdSuffix) -> Refusal {
    StoreError::NotFound { what: "cluster", id: meant }.into()
}

pub(super) fn add(new: &Add, call: &mut Call<'_>) -> Result<Given<Added>, Refusal> {
    let place = up_to_date(call)?;
    let cluster = call.store.cluster_id(&id("cluster", &new.cluster)?)?;
    let scope = Scope::of(&place, call)?;
    if scope.group(&call.store.cluster(cluster)?, &call.store)?.is_none() {
        return Err(unknown_cluster(id("cluster", &new.cluster)?));
    }
    let new = NewValue {
        place: Some(&place),
        cluster,
        text: &new.text,
        standing: Standing::Accepted,
        revives: false,
    };
    let written = call.store.add_value(&new, call.now())?;
    // Values of other projects must not be revealed here.
    let own = call.store.project_key(&place)?;
    let holds = |value: &&Value| value.project.as_ref().is_none_or(|project| *project == own);
    let conflicts: Vec<Conflict> = written
        .conflicts
        .iter()
        .filter(holds)
        .map(|other| Conflict { id: other.id.to_string(), text: cut(&other.text, PASSAGE) })
        .collect();
    let value = &written.value;
    let mut text = format!(
        "{} as {}, supported by {} experience{}.",
        if written.merged { "It was known; held" } else { "Held" },
        value.id.short(),
        value.support,
        if value.support == 1 { "" } else { "s" }
    );
    for other in &conflicts {
        let said = quoted(&other.text);
        let _ = write!(text, " {} seems to say the opposite: {said}", short(&other.id));
    }
    Ok(Given {
        text,
        value: Added {
            ok: true,
            id: value.id.to_string(),
            standing: value.standing.to_string(),
            distance: rounded(value.distance),
            threshold: rounded(value.threshold),
            support: value.support,
            merged: written.merged,
            conflicts,
        },
    })
}

pub(super) fn values(ask: &Values, call: &mut Call<'_>) -> Result<Given<Listed>, Refusal> {
    let place = up_to_date(call)?;
    let filter = ValueFilter {
        project: Some(call.store.project_key(&place)?),
        standing: ask.standing,
        retired: ask.standing == Some(Standing::Retired),
        limit: Some(ask.limit.unwrap_or(MOST)),
        ..ValueFilter::default()
    };
    let values: Vec<Shown> = call.store.values(&filter)?.iter().map(Shown::new).collect();
    let lines: Vec<String> = values
        .iter()
        .map(|shown| format!("{} {}: {}", short(&shown.id), shown.standing, quoted(&shown.text)))
        .collect();
    let text = if lines.is_empty() { "There are none yet.".to_owned() } else { lines.join("\n") };
    Ok(Given { value: Listed { count: values.len(), values }, text })
}
