//! The tools for values and for the clusters of experiences behind them.

use std::fmt::Write as _;

use rutter_memory::project::ProjectKey;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::store::{
    Cluster, ClusterFilter, ClusterMember as Experience, NewValue, ValueFilter, ValueWithEffects,
};
use rutter_memory::value::{self, Axis, Value, ValueStanding};
use rutter_memory::{Id, IdSuffix, Store, StoreError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MAX_LINE_CHARS, MAX_PASSAGE_CHARS, ToolInvocation, ToolRefusal, TypedAnswer, parse_id,
    quote_passage, short_id, spaced_mark, truncate_chars, unconfirmed_mark,
};
use crate::schema;

/// `list_clusters`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListClustersInput {
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
pub(super) struct AddValueInput {
    /// Id of the value's cluster
    cluster: String,
    #[schemars(length(min = 1, max = value::MAX_VALUE_CHARS))]
    text: String,
}

/// `list_values`
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListValuesInput {
    #[schemars(schema_with = "schema::standing")]
    #[serde(default)]
    standing: Option<ValueStanding>,
    #[schemars(range(min = 1, max = 100))]
    #[serde(default)]
    limit: Option<usize>,
}

/// The answer of `list_clusters`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ListClustersAnswer {
    clusters: Vec<ClusterEntry>,
    count: usize,
    /// Members of the requested cluster, nearest to its middle first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    members: Vec<ClusterMemberEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct ClusterEntry {
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
struct ClusterMemberEntry {
    id: String,
    distance: f64,
    outcome: String,
    domain: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tier: Option<String>,
    text: String,
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// The answer of `add_value`.
#[derive(Serialize, JsonSchema)]
pub(super) struct AddValueAnswer {
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
    conflicts: Vec<ConflictingValue>,
}

#[derive(Serialize, JsonSchema)]
struct ConflictingValue {
    id: String,
    text: String,
}

/// The answer of `list_values`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ListValuesAnswer {
    values: Vec<ValueEntry>,
    count: usize,
}

#[derive(Serialize, JsonSchema)]
struct ValueEntry {
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
    /// Mark of a row from another checkout or an import.
    #[serde(skip_serializing_if = "Option::is_none")]
    unconfirmed: Option<String>,
}

/// The length of a list without a `limit`.
const DEFAULT_LIST_LIMIT: usize = 20;

/// Rounds to thousandths, which is precise enough for comparisons.
fn round_to_thousandths(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The project of the caller; experiences of other projects are not shown.
struct CallerProject(ProjectKey);

impl CallerProject {
    fn for_place(place: &ProjectPlace, call: &ToolInvocation<'_>) -> Result<Self, StoreError> {
        Ok(Self(call.store.project_key(place)?))
    }

    fn contains(&self, project: &ProjectKey) -> bool {
        self.0 == *project
    }

    /// Returns the members of a cluster in this project, nearest to the middle first, and the number of other members.
    fn members(&self, cluster: Id, store: &Store) -> Result<(Vec<Experience>, usize), StoreError> {
        let mut members = store.members(cluster)?;
        let all = members.len();
        members.retain(|member| self.contains(&member.project));
        let elsewhere = all - members.len();
        Ok((members, elsewhere))
    }

    /// Returns a cluster with the members of this project, or None if it has no member here.
    fn cluster_entry(
        &self,
        cluster: &Cluster,
        store: &Store,
    ) -> Result<Option<ClusterEntry>, StoreError> {
        let mut group = ClusterEntry::new(cluster);
        if cluster.projects.iter().all(|project| self.contains(project)) {
            return Ok(Some(group));
        }
        let (members, elsewhere) = self.members(cluster.id, store)?;
        let Some(middle) = members.first() else { return Ok(None) };
        // The medoid may belong to another project.
        if members.iter().all(|member| Some(member.ghap) != cluster.medoid) {
            group.medoid = Some(middle.ghap.to_string());
            group.text = Some(truncate_chars(&middle.text, MAX_LINE_CHARS));
        }
        group.elsewhere = elsewhere;
        Ok(Some(group))
    }
}

impl ClusterEntry {
    fn new(cluster: &Cluster) -> Self {
        Self {
            id: cluster.id.to_string(),
            axis: cluster.axis.to_string(),
            size: cluster.size,
            elsewhere: 0,
            cohesion: round_to_thousandths(cluster.cohesion),
            medoid: cluster.medoid.map(|medoid| medoid.to_string()),
            text: cluster.text.as_deref().map(|text| truncate_chars(text, MAX_LINE_CHARS)),
            values: cluster.values.len(),
        }
    }

    fn line(&self) -> String {
        let text = self.text.as_deref().map(quote_passage).unwrap_or_default();
        let elsewhere = match self.elsewhere {
            0 => String::new(),
            elsewhere => format!(" ({elsewhere} elsewhere)"),
        };
        let (id, axis, size) = (short_id(&self.id), &self.axis, self.size);
        format!("{id} {axis}, {size} experiences{elsewhere}: {text}")
    }
}

impl ValueEntry {
    pub(super) fn new(held: &ValueWithEffects) -> Self {
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
            unconfirmed: None,
        }
    }
}

/// Brings values and clusters up to date, and returns the caller's place. Hooks never wait for this.
fn refresh_values(call: &mut ToolInvocation<'_>) -> Result<ProjectPlace, ToolRefusal> {
    let place = call.owner()?.place;
    let now = call.now();
    // If another process is writing, slightly old rows are good enough.
    call.store.refresh_values(now)?;
    Ok(place)
}

pub(super) fn list_clusters(
    ask: &ListClustersInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<ListClustersAnswer>, ToolRefusal> {
    let place = refresh_values(call)?;
    let scope = CallerProject::for_place(&place, call)?;
    if let Some(text) = &ask.cluster {
        return show_cluster(text, ask, &scope, &place, call);
    }
    let filter = ClusterFilter {
        axis: ask.axis,
        project: Some(scope.0.clone()),
        limit: Some(ask.limit.unwrap_or(DEFAULT_LIST_LIMIT)),
    };
    let mut clusters = Vec::new();
    for cluster in call.store.clusters(&filter)? {
        clusters.extend(scope.cluster_entry(&cluster, &call.store)?);
    }
    let hint =
        clusters.is_empty().then(|| "a cluster needs three or more similar experiences".to_owned());
    let text = match &hint {
        Some(hint) => format!("There are no clusters yet; {hint}."),
        None => clusters.iter().map(ClusterEntry::line).collect::<Vec<_>>().join("\n"),
    };
    Ok(TypedAnswer {
        value: ListClustersAnswer { count: clusters.len(), clusters, members: Vec::new(), hint },
        text,
    })
}

/// Returns a cluster with its members.
fn show_cluster(
    id_sent: &str,
    ask: &ListClustersInput,
    scope: &CallerProject,
    place: &ProjectPlace,
    call: &ToolInvocation<'_>,
) -> Result<TypedAnswer<ListClustersAnswer>, ToolRefusal> {
    let store = &call.store;
    let cluster = store.cluster(store.cluster_id(&parse_id("cluster", id_sent)?)?)?;
    let Some(group) = scope.cluster_entry(&cluster, store)? else {
        return Err(unknown_cluster(parse_id("cluster", id_sent)?));
    };
    let mut members = Vec::new();
    for member in
        scope.members(cluster.id, store)?.0.iter().take(ask.limit.unwrap_or(DEFAULT_LIST_LIMIT))
    {
        members.push(ClusterMemberEntry {
            id: member.ghap.to_string(),
            distance: round_to_thousandths(member.distance),
            outcome: member.status.to_string(),
            domain: member.domain.to_string(),
            tier: member.tier.map(|tier| tier.to_string()),
            text: truncate_chars(&member.text, MAX_PASSAGE_CHARS),
            unconfirmed: unconfirmed_mark(call, member.ghap, place)?,
        });
    }
    let lines = members.iter().map(|member| {
        format!(
            "\n{:.2} {} {}: {}{}",
            member.distance,
            short_id(&member.id),
            member.outcome,
            quote_passage(&member.text),
            spaced_mark(member.unconfirmed.as_deref())
        )
    });
    let text = group.line() + &lines.collect::<String>();
    Ok(TypedAnswer {
        value: ListClustersAnswer { clusters: vec![group], count: 1, members, hint: None },
        text,
    })
}

/// Returns the refusal for a cluster without a member in this project: the same as for one that does not exist.
fn unknown_cluster(meant: IdSuffix) -> ToolRefusal {
    StoreError::NotFound { what: "cluster", id: meant }.into()
}

pub(super) fn add_value(
    new: &AddValueInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<AddValueAnswer>, ToolRefusal> {
    let place = refresh_values(call)?;
    let cluster = call.store.cluster_id(&parse_id("cluster", &new.cluster)?)?;
    let scope = CallerProject::for_place(&place, call)?;
    if scope.cluster_entry(&call.store.cluster(cluster)?, &call.store)?.is_none() {
        return Err(unknown_cluster(parse_id("cluster", &new.cluster)?));
    }
    let new = NewValue {
        place: Some(&place),
        cluster,
        text: &new.text,
        // Only a person accepts a value.
        standing: ValueStanding::Proposed,
        revives: false,
    };
    let written = call.store.add_value(&new, call.now())?;
    // Values of other projects must not be revealed here.
    let own = call.store.project_key(&place)?;
    let holds = |value: &&Value| value.project.as_ref().is_none_or(|project| *project == own);
    let conflicts: Vec<ConflictingValue> = written
        .conflicts
        .iter()
        .filter(holds)
        .map(|other| ConflictingValue {
            id: other.id.to_string(),
            text: truncate_chars(&other.text, MAX_PASSAGE_CHARS),
        })
        .collect();
    let value = &written.value;
    let mut text = format!(
        "{} as {}, supported by {} experience{}.",
        if written.merged { "It existed already; stored" } else { "Stored" },
        value.id.short(),
        value.support,
        if value.support == 1 { "" } else { "s" }
    );
    if value.standing == ValueStanding::Proposed {
        text += " It is proposed: the user accepts it with `rutter review`.";
    }
    for other in &conflicts {
        let said = quote_passage(&other.text);
        let _ = write!(text, " {} seems to say the opposite: {said}", short_id(&other.id));
    }
    Ok(TypedAnswer {
        text,
        value: AddValueAnswer {
            ok: true,
            id: value.id.to_string(),
            standing: value.standing.to_string(),
            distance: round_to_thousandths(value.distance),
            threshold: round_to_thousandths(value.threshold),
            support: value.support,
            merged: written.merged,
            conflicts,
        },
    })
}

pub(super) fn list_values(
    ask: &ListValuesInput,
    call: &mut ToolInvocation<'_>,
) -> Result<TypedAnswer<ListValuesAnswer>, ToolRefusal> {
    let place = refresh_values(call)?;
    let filter = ValueFilter {
        project: Some(call.store.project_key(&place)?),
        standing: ask.standing,
        retired: ask.standing == Some(ValueStanding::Retired),
        limit: Some(ask.limit.unwrap_or(DEFAULT_LIST_LIMIT)),
        ..ValueFilter::default()
    };
    let mut values = Vec::new();
    for held in call.store.values(&filter)? {
        let unconfirmed = unconfirmed_mark(call, held.value.id, &place)?;
        values.push(ValueEntry { unconfirmed, ..ValueEntry::new(&held) });
    }
    let lines: Vec<String> = values
        .iter()
        .map(|shown| {
            let mark = spaced_mark(shown.unconfirmed.as_deref());
            let said = quote_passage(&shown.text);
            format!("{} {}: {said}{mark}", short_id(&shown.id), shown.standing)
        })
        .collect();
    let text = if lines.is_empty() { "There are none yet.".to_owned() } else { lines.join("\n") };
    Ok(TypedAnswer { value: ListValuesAnswer { count: values.len(), values }, text })
}
