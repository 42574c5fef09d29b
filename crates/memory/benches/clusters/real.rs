//! Groups the texts of a file for a person to read.

use std::collections::BTreeMap;

use rutter_search::cluster::Axis;
use rutter_search::embed::embed;

use super::corpus::LessonPoint;
use super::measure::measure_growth;

/// Number of characters shown of each text.
const SHOWN_CHARS: usize = 150;

/// Groups the lines of a file in their order, one by one, by the rule for whole lessons and by the rule for causes.
pub(crate) fn show_groups(file: &str) {
    let text = std::fs::read_to_string(file).expect("a file that can be read");
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON on each line")).collect();
    let points: Vec<LessonPoint> = lines
        .iter()
        .filter_map(|line| {
            let text = line["text"].as_str()?.to_owned();
            Some(LessonPoint { vector: embed(&text)?, weight: 1.0, label: None, text })
        })
        .collect();
    for axis in [Axis::Full, Axis::RootCause] {
        let growth = measure_growth(axis, &points);
        let mut groups: BTreeMap<Option<usize>, Vec<&str>> = BTreeMap::new();
        for (point, name) in points.iter().zip(&growth.of) {
            groups.entry(*name).or_default().push(&point.text);
        }
        let alone = groups.get(&None).map_or(0, Vec::len);
        println!(
            "\nby the rule for {axis}: {} texts, {} groups, {alone} in none, {} changes while they came",
            points.len(),
            groups.keys().flatten().count(),
            growth.changes,
        );
        for (name, members) in groups {
            println!("{}", name.map_or("in none".to_owned(), |name| format!("group {name}")));
            for member in members {
                println!(
                    "  {}",
                    member.chars().take(SHOWN_CHARS).collect::<String>().replace('\n', " ")
                );
            }
        }
    }
}
