//! The HTML page of `rutter values report`: a map of the clusters on each axis, and the values derived from them.
//!
//! The page is one file without scripts and without external resources. Stored text is untrusted: it is escaped
//! everywhere, and the content security policy of the page blocks all requests.

use std::collections::HashMap;
use std::fmt::{self, Display, Write as _};

use rutter_memory::ghap::Tier;
use rutter_memory::quote::visible_chars;
use rutter_memory::store::{
    Cluster, ClusterFilter, ClusterMember, PlottedExperience, ValueFilter, ValueWithEffects,
};
use rutter_memory::value::ValueStanding;
use rutter_memory::{Id, Store, StoreError, Time};
use rutter_search::cluster::Axis;

mod map;

use map::{ClusterDisc, ClusterMap, MapPoint, layout_map};

/// Maximum number of experiences on one map. More would be unreadable and slow in a browser.
const MAX_MAP_EXPERIENCES: usize = 1_500;
/// Maximum number of experiences on one map that belong to no cluster.
const MAX_LONE_EXPERIENCES: usize = 400;
/// Characters of a text in the line below a map, and in the name below a cluster.
const DETAIL_LINE_CHARS: usize = 118;
const CLUSTER_NAME_CHARS: usize = 34;
/// Number of values shown without unfolding, so that the map below stays in view.
const MAX_VISIBLE_VALUES: usize = 6;
/// Number of members listed per cluster.
const MAX_LISTED_MEMBERS: usize = 100;

const STYLE: &str = include_str!("values_page/style.css");

/// Renders the page of all current clusters and values.
pub(crate) fn render_page(store: &Store, now: Time) -> Result<String, StoreError> {
    let values = store.values(&ValueFilter { retired: true, ..ValueFilter::default() })?;
    let mut panels = Vec::new();
    for &axis in Axis::ALL {
        panels.push(AxisPanel::load(store, axis)?);
    }
    let mut page = String::new();
    // Writing to a String does not fail.
    let _ = write_page(&mut page, &panels, &values, now);
    Ok(page)
}

/// The clusters and lone experiences of one axis.
struct AxisPanel {
    axis: Axis,
    clusters: Vec<(Cluster, Vec<PlottedExperience>)>,
    lone: Vec<PlottedExperience>,
    /// Number of experiences, and number of those that belong to a cluster.
    counted: (u64, u64),
}

impl AxisPanel {
    fn load(store: &Store, axis: Axis) -> Result<Self, StoreError> {
        let clusters = store.clusters(&ClusterFilter { axis: Some(axis), ..Default::default() })?;
        let mut members: HashMap<Id, Vec<PlottedExperience>> = HashMap::new();
        let mut lone = Vec::new();
        for one in store.plot_experiences(axis, MAX_MAP_EXPERIENCES)? {
            match one.cluster {
                Some(cluster) => members.entry(cluster).or_default().push(one),
                None => lone.push(one),
            }
        }
        lone.truncate(MAX_LONE_EXPERIENCES);
        let mut all: Vec<(Cluster, Vec<PlottedExperience>)> = Vec::new();
        for cluster in clusters {
            let mut members = members.remove(&cluster.id).unwrap_or_default();
            members.sort_by(|one, other| {
                let (one, other) = (&one.member, &other.member);
                one.distance.total_cmp(&other.distance).then(one.ghap.cmp(&other.ghap))
            });
            if !members.is_empty() {
                all.push((cluster, members));
            }
        }
        Ok(Self { axis, clusters: all, lone, counted: store.count_grouped(axis)? })
    }

    fn layout(&self) -> ClusterMap {
        let vectors =
            |of: &[PlottedExperience]| of.iter().map(|one| one.vector).collect::<Vec<_>>();
        let clusters: Vec<_> = self.clusters.iter().map(|(_, members)| vectors(members)).collect();
        layout_map(&clusters, &vectors(&self.lone))
    }

    fn drawn_count(&self) -> usize {
        self.lone.len() + self.clusters.iter().map(|(_, members)| members.len()).sum::<usize>()
    }
}

/// Returns the title of an axis on the page.
const fn axis_title(axis: Axis) -> &'static str {
    match axis {
        Axis::Full => "Everything",
        Axis::Strategy => "Strategy",
        Axis::Surprise => "What surprised",
        Axis::RootCause => "Root cause",
    }
}

/// Untrusted text. It is displayed on one line, with HTML escapes and without hidden characters.
struct EscapedText<'a>(&'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.0.split_whitespace().collect::<Vec<_>>().join(" ");
        for sign in visible_chars(&line) {
            match sign {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                sign => f.write_char(sign)?,
            }
        }
        Ok(())
    }
}

/// Returns the beginning of a text.
fn truncate_text(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

fn format_day(at: Time) -> String {
    at.to_string().chars().take(10).collect()
}

fn pluralize(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns the hue of a cluster. Neighbours in the list get very different hues.
fn cluster_hue(number: usize) -> usize {
    (number * 137 + 25) % 360
}

fn write_page(
    page: &mut String,
    panels: &[AxisPanel],
    values: &[ValueWithEffects],
    now: Time,
) -> fmt::Result {
    let (all, grouped) = panels.first().map_or((0, 0), |panel| panel.counted);
    let clusters: usize = panels.iter().map(|panel| panel.clusters.len()).sum();
    page.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>Rutter: \
         clusters and values</title>\n<style>\n",
    );
    page.push_str(STYLE);
    for axis in Axis::ALL {
        writeln!(
            page,
            "#tab-{axis}:checked ~ #panel-{axis} {{ display: block; }}\n\
             #tab-{axis}:checked ~ .tabs label[for=tab-{axis}] {{ background: var(--card); border-color: var(--line); color: var(--ink); }}\n\
             #tab-{axis}:focus-visible ~ .tabs label[for=tab-{axis}] {{ outline: 2px solid; }}"
        )?;
    }
    page.push_str("</style>\n</head>\n<body>\n<header>\n<h1>Clusters and values</h1>\n");
    let held = values.iter().filter(|held| held.value.standing != ValueStanding::Retired).count();
    writeln!(
        page,
        "<p class=\"soft\">{}: {}, {grouped} of them in a cluster by their full text; {} on \
         four axes; {}.</p>\n</header>",
        format_day(now),
        pluralize(all, "experience"),
        pluralize(clusters as u64, "cluster"),
        pluralize(held as u64, "value")
    )?;
    let numbers = cluster_numbers(panels);
    write_values(page, values, &numbers)?;
    page.push_str("<section>\n<h2>Clusters</h2>\n");
    // The first tab is open, unless it has no cluster yet.
    let first = panels.iter().find(|panel| !panel.clusters.is_empty()).or(panels.first());
    for panel in panels {
        let axis = panel.axis;
        let checked = if first.is_some_and(|first| first.axis == axis) { " checked" } else { "" };
        writeln!(
            page,
            "<input class=\"tab\" type=\"radio\" name=\"axis\" id=\"tab-{axis}\"{checked}>"
        )?;
    }
    page.push_str("<nav class=\"tabs\">");
    for panel in panels {
        let (axis, count) = (panel.axis, panel.clusters.len());
        write!(
            page,
            "<label for=\"tab-{axis}\">{} <small>{count}</small></label>",
            axis_title(axis)
        )?;
    }
    page.push_str("</nav>\n");
    for panel in panels {
        write_panel(page, panel, values)?;
    }
    page.push_str(
        "</section>\n<footer class=\"soft\">Made by <code>rutter values report</code>. \
         Texts are quoted as they were stored.</footer>\n</body>\n</html>\n",
    );
    Ok(())
}

/// Returns the axis of each cluster, and its number on that axis.
fn cluster_numbers(panels: &[AxisPanel]) -> HashMap<Id, (Axis, usize)> {
    let mut numbers = HashMap::new();
    for panel in panels {
        for (number, (cluster, _)) in (1..).zip(&panel.clusters) {
            numbers.insert(cluster.id, (panel.axis, number));
        }
    }
    numbers
}

fn write_values(
    page: &mut String,
    values: &[ValueWithEffects],
    numbers: &HashMap<Id, (Axis, usize)>,
) -> fmt::Result {
    page.push_str("<section>\n<h2>Values</h2>\n");
    let is_retired = |held: &&ValueWithEffects| held.value.standing == ValueStanding::Retired;
    if values.iter().all(|held| is_retired(&held)) {
        page.push_str(
            "<p class=\"soft\">None yet. Rutter proposes a value when three sessions have \
             learnt the same lesson; <code>rutter values add</code> adds one.</p>\n",
        );
    }
    let item = |page: &mut String, held: &ValueWithEffects| {
        let value = &held.value;
        write!(
            page,
            "<li><span class=\"badge {0}\">{0}</span><span>{1}</span><small>{2}",
            value.standing,
            EscapedText(&value.text),
            pluralize(value.support.into(), "independent experience")
        )?;
        if let Some(at) = value.doubted {
            write!(page, ", doubted since {at}")?;
        }
        if value.contradicted > 0 {
            write!(page, ", contradicted {} since", pluralize(value.contradicted.into(), "time"))?;
        }
        if held.effects.helped + held.effects.hurt > 0 {
            write!(
                page,
                "; shown, it helped {} and hurt {}",
                held.effects.helped, held.effects.hurt
            )?;
        }
        match &value.project {
            Some(project) => write!(page, "; in {}", EscapedText(&project.to_string()))?,
            None => page.push_str("; everywhere"),
        }
        if let Some((axis, number)) = value.cluster.and_then(|cluster| numbers.get(&cluster)) {
            write!(page, "; cluster {number} of “{}”", axis_title(*axis))?;
        }
        writeln!(page, "</small></li>")
    };
    page.push_str("<ol class=\"values\">\n");
    let current: Vec<&ValueWithEffects> = values.iter().filter(|held| !is_retired(held)).collect();
    let (first, others) = current.split_at(current.len().min(MAX_VISIBLE_VALUES));
    for held in first {
        item(page, held)?;
    }
    page.push_str("</ol>\n");
    if !others.is_empty() {
        writeln!(page, "<details><summary>{} more</summary><ol class=\"values\">", others.len())?;
        for held in others {
            item(page, held)?;
        }
        page.push_str("</ol></details>\n");
    }
    let retired: Vec<&ValueWithEffects> = values.iter().filter(is_retired).collect();
    if !retired.is_empty() {
        writeln!(
            page,
            "<details><summary>{} retired</summary><ol class=\"values\">",
            retired.len()
        )?;
        for held in retired {
            item(page, held)?;
        }
        page.push_str("</ol></details>\n");
    }
    page.push_str("</section>\n");
    Ok(())
}

fn write_panel(page: &mut String, panel: &AxisPanel, values: &[ValueWithEffects]) -> fmt::Result {
    let (axis, (all, grouped)) = (panel.axis, panel.counted);
    writeln!(page, "<div class=\"panel\" id=\"panel-{axis}\">")?;
    if panel.clusters.is_empty() {
        writeln!(
            page,
            "<p class=\"soft\">No cluster yet: {} here, and a cluster needs three similar \
             ones.</p>\n</div>",
            pluralize(all, "experience")
        )?;
        return Ok(());
    }
    write_map(page, panel)?;
    page.push_str(
        "<p class=\"legend\"><span><i class=\"key full\"></i>confirmed</span><span><i \
         class=\"key\"></i>falsified or abandoned</span><span><i class=\"key none\"></i>in no \
         cluster</span><span>Clusters on similar topics are near each other. The most typical \
         experience of a cluster is in its middle.</span>",
    );
    write!(page, "<span>{grouped} of {all} are in a cluster")?;
    let drawn = panel.drawn_count();
    if (drawn as u64) < all {
        write!(page, "; {drawn} are drawn")?;
    }
    page.push_str(".</span></p>\n<ol>\n");
    for (number, (cluster, members)) in panel.clusters.iter().enumerate() {
        write_cluster(page, number, cluster, members, values)?;
    }
    page.push_str("</ol>\n</div>\n");
    Ok(())
}

fn write_cluster(
    page: &mut String,
    number: usize,
    cluster: &Cluster,
    members: &[PlottedExperience],
    values: &[ValueWithEffects],
) -> fmt::Result {
    write!(
        page,
        "<li class=\"cluster\" id=\"c-{0}\" style=\"--h:{1}\"><b>{2}</b><div>{3}</div>",
        cluster.id.short(),
        cluster_hue(number),
        number + 1,
        EscapedText(cluster.text.as_deref().unwrap_or("(the central experience was forgotten)"))
    )?;
    for held in values.iter().filter(|held| cluster.values.contains(&held.value.id)) {
        write!(
            page,
            "<p class=\"held\">{} <span class=\"badge {1}\">{1}</span></p>",
            EscapedText(&held.value.text),
            held.value.standing
        )?;
    }
    let projects: Vec<String> = cluster.projects.iter().map(ToString::to_string).collect();
    write!(
        page,
        "<details><summary>{}, {:.0} % similar, <code>{}</code>, {}</summary><table>",
        pluralize(cluster.size.into(), "experience"),
        cluster.cohesion * 100.0,
        cluster.id.short(),
        EscapedText(&truncate_text(&projects.join(", "), 160))
    )?;
    for PlottedExperience { member, .. } in members.iter().take(MAX_LISTED_MEMBERS) {
        write!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.2}</td><td>{}</td></tr>",
            format_day(member.at),
            member.domain,
            describe_outcome(member),
            member.distance,
            EscapedText(&member.text)
        )?;
    }
    page.push_str("</table>");
    let more = (cluster.size as usize).saturating_sub(members.len().min(MAX_LISTED_MEMBERS));
    if more > 0 {
        write!(
            page,
            "<small>and {more} more: <code>rutter values show {}</code></small>",
            cluster.id.short()
        )?;
    }
    writeln!(page, "</details></li>")
}

/// Returns the status of an experience, with its evidence tier.
fn describe_outcome(member: &ClusterMember) -> String {
    let tier = member.tier.filter(|tier| *tier != Tier::Abandoned);
    tier.map_or_else(|| member.status.to_string(), |tier| format!("{}, {tier}", member.status))
}

fn write_map(page: &mut String, panel: &AxisPanel) -> fmt::Result {
    let map = panel.layout();
    // The letter size grows with the map, so that text has the same size on the screen.
    let letter = (map.width / 78.0).max(5.0);
    let (below, foot) = (map.height + letter, letter * 3.4);
    writeln!(
        page,
        "<svg viewBox=\"0 0 {:.0} {:.0}\" role=\"img\" aria-label=\"Map of clusters: {}\" font-size=\"{letter:.1}\">",
        map.width,
        below + foot,
        axis_title(panel.axis)
    )?;
    writeln!(
        page,
        "<text class=\"quiet\" x=\"{letter:.1}\" y=\"{:.1}\">Point at a dot to read it; click a \
         cluster to see its members.</text>",
        below + letter
    )?;
    let placed = || panel.clusters.iter().zip(&map.discs).enumerate();
    for (number, ((cluster, members), disc)) in placed() {
        write!(
            page,
            "<g style=\"--h:{}\"><a href=\"#c-{}\"><circle class=\"disc\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\"/><title>{}: {}</title></a>",
            cluster_hue(number),
            cluster.id.short(),
            disc.middle.x,
            disc.middle.y,
            disc.radius,
            number + 1,
            EscapedText(cluster.text.as_deref().unwrap_or_default())
        )?;
        for (one, spot) in members.iter().zip(&disc.members) {
            write_dot(page, one, *spot, (below, foot, map.width, letter))?;
        }
        writeln!(page, "</g>")?;
    }
    for (one, spot) in panel.lone.iter().zip(&map.lone) {
        write_dot(page, one, *spot, (below, foot, map.width, letter))?;
    }
    // Labels are written last, above all shapes. Larger clusters come first; a cluster without room for its name gets
    // only its number.
    let mut taken: Vec<MapRect> =
        map.discs.iter().map(|disc| MapRect::around(disc, letter)).collect();
    for (number, ((cluster, _), disc)) in placed() {
        let (x, top) = (disc.middle.x, disc.middle.y - disc.radius - letter * 0.3);
        write!(
            page,
            "<text class=\"label number\" x=\"{x:.1}\" y=\"{top:.1}\">{}</text>",
            number + 1
        )?;
        let name = truncate_text(cluster.text.as_deref().unwrap_or_default(), CLUSTER_NAME_CHARS);
        let y = disc.middle.y + disc.radius + letter;
        #[expect(clippy::cast_precision_loss, reason = "a count of signs")]
        let half = name.chars().count() as f64 * letter * 0.23;
        let words = MapRect {
            left: x - half,
            right: x + half,
            top: y - letter * 0.9,
            bottom: y + letter * 0.3,
        };
        if taken.iter().all(|other| !words.overlaps(other)) {
            taken.push(words);
            write!(
                page,
                "<text class=\"label quiet\" x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{:.1}\">{}</text>",
                letter * 0.85,
                EscapedText(&name)
            )?;
        }
    }
    page.push_str("</svg>\n");
    Ok(())
}

/// A rectangle on the map that is taken by a shape or a label.
struct MapRect {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl MapRect {
    /// Returns the rectangle around a cluster and the number above it.
    fn around(disc: &ClusterDisc, letter: f64) -> Self {
        let ClusterDisc { middle, radius, .. } = disc;
        let (left, right) = (middle.x - radius, middle.x + radius);
        Self { left, right, top: middle.y - radius - letter * 1.2, bottom: middle.y + radius }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// Writes the dot of an experience, and the text that appears below the map when the pointer is on the dot.
fn write_dot(
    page: &mut String,
    one: &PlottedExperience,
    spot: MapPoint,
    (below, foot, width, letter): (f64, f64, f64, f64),
) -> fmt::Result {
    let member = &one.member;
    let lone = if one.cluster.is_none() { " lone" } else { "" };
    let confirmed = member.status == rutter_memory::ghap::GhapStatus::Confirmed;
    let status = if confirmed { "" } else { " falsified" };
    let about =
        format!("{}, {}, {}", format_day(member.at), member.domain, describe_outcome(member));
    write!(
        page,
        "<g class=\"dot{lone}{status}\"><circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.2\"><title>{}&#10;{}</title></circle>\
         <g class=\"say\"><rect class=\"cover\" x=\"1\" y=\"{below:.1}\" width=\"{:.1}\" height=\"{foot:.1}\"/>\
         <text x=\"{letter:.1}\" y=\"{:.1}\">{}</text><text class=\"quiet\" x=\"{letter:.1}\" y=\"{:.1}\">{}; {}</text></g></g>",
        spot.x,
        spot.y,
        EscapedText(&truncate_text(&member.text, 600)),
        EscapedText(&about),
        width - 2.0,
        below + letter,
        EscapedText(&truncate_text(&member.text, DETAIL_LINE_CHARS)),
        below + letter * 2.4,
        EscapedText(&about),
        EscapedText(&truncate_text(&member.project.to_string(), 60))
    )
}

#[cfg(test)]
mod tests;
