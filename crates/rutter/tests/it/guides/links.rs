//! Checks that every relative link in a page of the repository leads to a file, and every anchor to a heading.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rutter_testkit::repository_root;

use super::collect_pages;

/// Returns the lines outside of fenced blocks.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// Returns the link targets of a page, without those in fenced blocks or between backticks.
fn link_targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    // A link can span two lines.
    let text: String = prose_lines(text).flat_map(|line| [line, "\n"]).collect();
    for (place, _) in text.match_indices("](") {
        let before = text[..place].rfind("\n\n").map_or(0, |start| start);
        if text[before..place].matches('`').count() % 2 == 1 {
            continue;
        }
        let target = text[place + 2..].split(')').next().unwrap_or_default();
        targets.push(target.split_whitespace().next().unwrap_or_default().to_owned());
    }
    targets
}

/// Returns the anchors of the headings of a page, as GitHub generates them.
fn heading_anchors(text: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let headings = prose_lines(text).filter_map(|line| {
        let rest = line.trim_start_matches('#');
        (line.len() - rest.len() > 0).then(|| rest.strip_prefix(' ')).flatten()
    });
    for heading in headings {
        let heading = strip_links(heading).to_lowercase();
        let kept = |sign: &char| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_');
        let name: String = heading
            .trim()
            .chars()
            .filter(kept)
            .map(|sign| if sign == ' ' { '-' } else { sign })
            .collect();
        let mut numbered = name.clone();
        for number in 1.. {
            if anchors.insert(numbered) {
                break;
            }
            numbered = format!("{name}-{number}");
        }
    }
    anchors
}

/// Replaces the links of a heading by their texts.
fn strip_links(heading: &str) -> String {
    let mut out = String::new();
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once('[') {
        out += before;
        let Some((text, behind)) = link.split_once("](") else {
            out += link;
            return out;
        };
        out += text;
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// Returns a message for every broken link of a page with this text.
fn broken_links(page: &Path, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for target in link_targets(text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let there =
            if path.is_empty() { page.to_owned() } else { page.parent().unwrap().join(path) };
        if target.starts_with('/') || !there.exists() {
            wrong.push(format!("{}: {target} leads nowhere", page.display()));
        } else if !anchor.is_empty() {
            let text = if path.is_empty() {
                text.to_owned()
            } else {
                fs::read_to_string(&there).unwrap_or_default()
            };
            if !heading_anchors(&text).contains(anchor) {
                wrong.push(format!("{}: {target}: no heading of that name", page.display()));
            }
        }
    }
    wrong
}

#[test]
fn every_link_resolves() {
    let mut found = Vec::new();
    collect_pages(&repository_root(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    let text = |page: &PathBuf| fs::read_to_string(page).unwrap();
    let links: usize = found.iter().map(|page| link_targets(&text(page)).len()).sum();
    assert!(links > 100, "{links} links");
    let wrong: Vec<String> =
        found.iter().flat_map(|page| broken_links(page, &text(page))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_links_are_found() {
    let page = repository_root().join("docs/reference/store.md");
    let wrong = |text: &str| broken_links(&page, text);
    for text in [
        "see [it](nowhere.md)",
        "see [it](../nowhere/store.md#files)",
        "see [it](/etc/passwd)",
        "# Here\n\nsee [it](#there)",
        "see [it](store.md#no-such-heading)",
        "see [it\nthere](nowhere.md)",
    ] {
        assert_eq!(wrong(text).len(), 1, "{text}");
    }
    for text in [
        "see [it](store.md#files) and [that](https://example.org/#x)",
        "## A heading, `with` [a link](store.md)!\n\n[here](#a-heading-with-a-link)",
        "# Twice\n# Twice\n[here](#twice-1)",
        "```text\n[it](nowhere.md)\n```\n",
        "`[it](nowhere.md)` is how a link is written",
    ] {
        assert_eq!(wrong(text), [""; 0], "{text}");
    }
}
