//! Counts the paragraphs of files that contain each term, and prints the common terms for `search/background.txt`.
//!
//! File names are read from stdin, project by project. Only the first paragraphs of each project count, so that no
//! project dominates.

use std::collections::{BTreeMap, BTreeSet};

use rutter_search::terms::extract_terms;

/// Minimum frequency of a common term, in paragraphs per ten thousand. Rarer terms count as rare.
const MIN_PARAGRAPHS_PER_10K: f64 = 4.0;

/// Maximum number of paragraphs that count per project.
const MAX_PARAGRAPHS_PER_PROJECT: u32 = 150;

/// Returns the project of a file: the folder that has a version in its name.
fn project_of_path(path: &str) -> String {
    let versioned = |part: &&str| {
        let (_, end) = part.rsplit_once('-').unwrap_or_default();
        end.starts_with(|sign: char| sign.is_ascii_digit()) && end.contains('.')
    };
    path.split('/').find(versioned).unwrap_or(path).to_owned()
}

#[allow(clippy::print_stdout, reason = "that is what it is for")]
fn main() {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut paragraphs = 0_u32;
    let mut of_project: BTreeMap<String, u32> = BTreeMap::new();
    for path in std::io::stdin().lines().map_while(Result::ok) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let prose = if path.rsplit('.').next() == Some("rs") { doc_comments(&text) } else { text };
        for paragraph in
            prose.split("\n\n").filter(|paragraph| paragraph.split_whitespace().count() >= 8)
        {
            let own = of_project.entry(project_of_path(&path)).or_default();
            *own += 1;
            if *own > MAX_PARAGRAPHS_PER_PROJECT {
                break;
            }
            paragraphs += 1;
            let words: Vec<&str> = paragraph.split_whitespace().take(80).collect();
            let found: BTreeSet<String> =
                extract_terms(&words.join(" ")).into_iter().map(|term| term.text).collect();
            for term in found {
                *counts.entry(term).or_default() += 1;
            }
        }
    }
    let mut lines: Vec<String> = counts
        .into_iter()
        .filter_map(|(term, count)| {
            let share = f64::from(count) * 10_000.0 / f64::from(paragraphs.max(1));
            (share >= MIN_PARAGRAPHS_PER_10K).then(|| format!("{term} {share:.0}"))
        })
        .collect();
    lines.sort();
    for line in &lines {
        println!("{line}");
    }
}

/// Returns the doc comments of a source file, paragraph by paragraph.
fn doc_comments(text: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_start();
        line.strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
            .map_or("", str::trim)
            .to_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
