//! `rutter values`: lists, shows and changes values and the clusters behind them.

use rutter_memory::project::ProjectKey;
use rutter_memory::quote::PathLine as _;
use rutter_memory::store::{
    Cluster, ClusterFilter, ClusterMember, NewValue, ValueEdit, ValueFilter, ValueWithEffects,
    ValueWriteResult,
};
use rutter_memory::value::{Axis, Value, ValueStanding};
use rutter_memory::{Id, Store};
use serde::Serialize;

use crate::cli::Format;
use crate::cli::values::{
    AcceptValueArgs, AddValueArgs, ClusterShowArgs, ClustersArgs, EditValueArgs, RetireValueArgs,
    ValuesCommand, ValuesListArgs, ValuesReportArgs,
};
use crate::environment::Environment;
use crate::ui::{Ui, first_line, format_count, one_line};
use crate::{CommandResult, atomic_file, values_page};

/// The remark if rows could not be brought up to date.
pub(super) const STALE: &str = "another process is writing, so this list may be out of date; \
                                try again";

pub(crate) fn run(command: &ValuesCommand, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let mut store = env.open_store(ui)?;
    // Brings the values up to date for the reader; hooks never wait for this.
    let fresh = store.refresh_values(env.now)?;
    let looks = !matches!(
        command,
        ValuesCommand::Add(_)
            | ValuesCommand::Accept(_)
            | ValuesCommand::Edit(_)
            | ValuesCommand::Retire(_)
    );
    // A command that writes reports this itself.
    if looks && !fresh {
        ui.print_note(STALE)?;
    }
    match command {
        ValuesCommand::List(args) => list_values(args, &store, env, ui),
        ValuesCommand::Clusters(args) => list_clusters(args, &store, env, ui),
        ValuesCommand::Show(args) => show_cluster(args, &store, ui),
        ValuesCommand::Add(args) => add_value(args, &mut store, env, ui),
        ValuesCommand::Accept(args) => accept_value(args, &mut store, env, ui),
        ValuesCommand::Edit(args) => edit_value(args, &mut store, env, ui),
        ValuesCommand::Retire(args) => retire_value(args, &mut store, env, ui),
        ValuesCommand::Report(args) => write_report(args, &store, env, ui),
    }
}

/// A row with its short id.
#[derive(Serialize)]
struct WithShortId<T> {
    short: String,
    #[serde(flatten)]
    row: T,
}

fn with_short_id<T>(id: Id, row: T) -> WithShortId<T> {
    WithShortId { short: id.short(), row }
}

fn with_short_ids<T>(rows: &[T], id: impl Fn(&T) -> Id) -> Vec<WithShortId<&T>> {
    rows.iter().map(|row| with_short_id(id(row), row)).collect()
}

fn list_values(
    args: &ValuesListArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    // An unknown project only has the values that apply to every project.
    let project = if args.all { None } else { Some(store.project_key(&env.owner()?.place)?) };
    let filter = ValueFilter {
        project,
        standing: args.standing,
        retired: args.standing == Some(ValueStanding::Retired),
        limit: Some(args.limit),
        ..ValueFilter::default()
    };
    let values = store.values(&filter)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&with_short_ids(&values, |held| held.value.id));
    }
    if values.is_empty() {
        return Ok(ui.print_note(
            "there are no values; `rutter values clusters` lists groups of similar experiences, \
             `rutter values add` adds a value for one",
        )?);
    }
    // With `--all` the list names the project of each value.
    let projects = if args.all { store.projects()? } else { Vec::new() };
    let place = |key: &ProjectKey| {
        let known = projects.iter().map(|summary| &summary.project);
        let Some(own) = known.clone().find(|project| project.key == *key) else {
            return "project".to_owned();
        };
        let alone = known.filter(|project| project.name == own.name).count() == 1;
        if alone { first_line(&own.name) } else { one_line(own.key.as_str()) }
    };
    let rows = values.iter().map(|held| {
        let value = &held.value;
        [
            value.id.short(),
            describe_standing(value),
            value.support.to_string(),
            format!("+{} -{}", held.effects.helped, held.effects.hurt + value.contradicted),
            value.project.as_ref().map_or_else(|| "everywhere".to_owned(), place),
            first_line(&value.text),
        ]
    });
    Ok(ui.print_table(["ID", "STANDING", "SUPPORT", "EFFECT", "WHERE", "TEXT"], rows)?)
}

/// Returns the standing of a value, and "doubted" if it is in doubt.
fn describe_standing(value: &Value) -> String {
    match value.doubted {
        Some(_) => format!("{}, doubted", value.standing),
        None => value.standing.to_string(),
    }
}

fn list_clusters(
    args: &ClustersArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let project = if args.here { Some(store.project_key(&env.owner()?.place)?) } else { None };
    let filter = ClusterFilter { axis: args.axis, project, limit: Some(args.limit) };
    let clusters = store.clusters(&filter)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&with_short_ids(&clusters, |cluster| cluster.id));
    }
    if clusters.is_empty() {
        let (said, _) = store.count_grouped(args.axis.unwrap_or(Axis::Full))?;
        return Ok(ui.print_note(&format!(
            "there are no clusters: a cluster needs three or more similar experiences, and \
             there {}",
            if said == 1 { "is 1".to_owned() } else { format!("are {said}") }
        ))?);
    }
    let rows = clusters.iter().map(|cluster| {
        [
            cluster.id.short(),
            cluster.axis.to_string(),
            cluster.size.to_string(),
            format!("{:.2}", cluster.cohesion),
            cluster.values.len().to_string(),
            first_line(cluster.text.as_deref().unwrap_or_default()),
        ]
    });
    Ok(ui.print_table(["ID", "AXIS", "SIZE", "ALIKE", "VALUES", "MOST TYPICAL"], rows)?)
}

/// A cluster with its members and values.
#[derive(Serialize)]
struct ClusterDetailsJson<'a> {
    #[serde(flatten)]
    cluster: WithShortId<&'a Cluster>,
    members: Vec<WithShortId<&'a ClusterMember>>,
    stands_for: Vec<WithShortId<&'a ValueWithEffects>>,
}

fn show_cluster(args: &ClusterShowArgs, store: &Store, ui: &mut Ui<'_>) -> CommandResult {
    let cluster = store.cluster(store.cluster_id(&args.id)?)?;
    let members = store.members(cluster.id)?;
    let filter = ValueFilter { cluster: Some(cluster.id), ..ValueFilter::default() };
    let values = store.values(&filter)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&ClusterDetailsJson {
            cluster: with_short_id(cluster.id, &cluster),
            members: with_short_ids(&members, |member| member.ghap),
            stands_for: with_short_ids(&values, |held| held.value.id),
        });
    }
    writeln!(
        ui.out,
        "{} {}, {}, since {}",
        cluster.id.short(),
        cluster.axis,
        format_count(u64::from(cluster.size), "experience"),
        cluster.created
    )?;
    for held in &values {
        let (id, standing) = (held.value.id.short(), describe_standing(&held.value));
        writeln!(ui.out, "  value {id}, {standing}: {}", one_line(&held.value.text))?;
    }
    let rows = members.iter().map(|member| {
        [
            member.ghap.short(),
            format!("{:.2}", member.distance),
            member.status.to_string(),
            member.tier.map(|tier| tier.to_string()).unwrap_or_default(),
            member.at.to_string(),
            first_line(&member.text),
        ]
    });
    Ok(ui.print_table(["GHAP", "DISTANCE", "ENDED", "TIER", "WHEN", "SAYS"], rows)?)
}

/// Prints the result of adding or changing a value.
fn print_written_value(
    written: &ValueWriteResult,
    format: Format,
    ui: &mut Ui<'_>,
) -> CommandResult {
    #[derive(Serialize)]
    struct WrittenValueJson<'a> {
        #[serde(flatten)]
        value: WithShortId<&'a Value>,
        merged: bool,
        conflicts: Vec<WithShortId<&'a Value>>,
    }
    let value = &written.value;
    if format == Format::Json {
        return ui.print_json(&WrittenValueJson {
            value: with_short_id(value.id, value),
            merged: written.merged,
            conflicts: with_short_ids(&written.conflicts, |value| value.id),
        });
    }
    if written.revived {
        ui.print_note(&format!("{} was retired and is accepted again", value.id.short()))?;
    } else if written.merged {
        ui.print_note(&format!(
            "{} has the same meaning, so no second value was added",
            value.id.short()
        ))?;
    }
    for other in &written.conflicts {
        ui.print_note(&format!(
            "{} seems to say the opposite: {}; run `rutter values retire {}` if it is wrong",
            other.id.short(),
            one_line(&other.text),
            other.id.short()
        ))?;
    }
    Ok(writeln!(
        ui.out,
        "{} {}, supported by {}, distance {:.2} of {:.2}: {}",
        value.id.short(),
        value.standing,
        format_count(u64::from(value.support), "experience"),
        value.distance,
        value.threshold,
        one_line(&value.text)
    )?)
}

fn add_value(
    args: &AddValueArgs,
    store: &mut Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let place = env.owner()?.place;
    let new = NewValue {
        place: (!args.everywhere).then_some(&place),
        cluster: store.cluster_id(&args.cluster)?,
        text: &args.text,
        standing: if args.proposed { ValueStanding::Proposed } else { ValueStanding::Accepted },
        revives: true,
    };
    let written = store.add_value(&new, env.now)?;
    print_written_value(&written, args.format.chosen(), ui)
}

fn accept_value(
    args: &AcceptValueArgs,
    store: &mut Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let edit = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    let written = store.edit_value(store.value_id(&args.id)?, &edit, env.now)?;
    print_written_value(&written, args.format.chosen(), ui)
}

fn edit_value(
    args: &EditValueArgs,
    store: &mut Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let place = env.owner()?.place;
    let edit = ValueEdit {
        text: args.text.as_deref(),
        standing: args.standing,
        place: match (args.everywhere, args.here) {
            (true, _) => Some(None),
            (false, true) => Some(Some(&place)),
            (false, false) => None,
        },
    };
    let written = store.edit_value(store.value_id(&args.id)?, &edit, env.now)?;
    print_written_value(&written, args.format.chosen(), ui)
}

fn write_report(
    args: &ValuesReportArgs,
    store: &Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let page = values_page::render_page(store, env.now)?;
    atomic_file::write_atomically(&args.html, |out| Ok(out.write_all(page.as_bytes())?))?;
    Ok(ui.print_note(&format!("wrote {}; open it in a browser", args.html.to_line()))?)
}

fn retire_value(
    args: &RetireValueArgs,
    store: &mut Store,
    env: &Environment,
    ui: &mut Ui<'_>,
) -> CommandResult {
    let value = store.retire_value(store.value_id(&args.id)?, env.now)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&with_short_id(value.id, &value));
    }
    Ok(writeln!(ui.out, "{} retired: {}", value.id.short(), one_line(&value.text))?)
}
