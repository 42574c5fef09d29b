//! Checks that every row of every Markdown table in the repository has as many cells as its header.
//!
//! GitHub drops cells that a row has too many, so a row of another table would go unnoticed.

use std::fs;
use std::path::Path;

use super::collect_pages;

/// Returns the number of cells of a row. As on GitHub, `\|` is part of a cell, and any other pipe ends one, even inside
/// a code span.
fn count_cells(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let pipes = row.match_indices('|').filter(|(place, _)| !row[..*place].ends_with('\\')).count();
    let ends_with_pipe = row.ends_with('|') && !row.ends_with("\\|");
    if ends_with_pipe { pipes } else { pipes + 1 }
}

/// Returns true for the line between the header and the rows of a table, such as `|---|--:|`.
fn is_delimiter_row(line: &str) -> bool {
    let line = line.trim();
    line.contains('|')
        && line.contains('-')
        && line.chars().all(|character| matches!(character, '|' | '-' | ':' | ' '))
}

/// Returns the number of rows in all tables of a page, and a message for each row with another number of cells than its
/// header.
fn check_tables(page: &Path, text: &str) -> (usize, Vec<String>) {
    let (mut rows, mut wrong) = (0, Vec::new());
    let mut is_fenced = false;
    let mut previous = "";
    let mut header_cells = None;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            header_cells = None;
            continue;
        }
        if is_fenced {
            continue;
        }
        if header_cells.is_none() && is_delimiter_row(line) {
            header_cells = Some(count_cells(previous));
        } else if !line.contains('|') {
            header_cells = None;
        }
        if let Some(expected) = header_cells {
            rows += 1;
            let cells = count_cells(line);
            if cells != expected {
                let (page, number) = (page.display(), index + 1);
                wrong.push(format!(
                    "{page}:{number}: {cells} cells, the header has {expected}: {line}"
                ));
            }
        }
        previous = line;
    }
    (rows, wrong)
}

#[test]
fn tables_have_equal_rows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    collect_pages(&root, &mut pages);
    let (mut rows, mut wrong) = (0, Vec::new());
    for page in &pages {
        let (found, unequal) = check_tables(page, &fs::read_to_string(page).unwrap());
        rows += found;
        wrong.extend(unequal);
    }
    assert!(rows > 500, "only {rows} rows in {} pages", pages.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unequal_rows_are_found() {
    let wrong = |text: &str| check_tables(Path::new("page.md"), text).1.len();
    for text in [
        "| a | b |\n|---|--:|\n| 1 | 2 | 3 |",
        "| a | b |\n|---|--:|\n| 1 |",
        "| a | b |\n|---|\n",
        "| a | b |\n|---|---|\n| `x|y` | 2 |",
        "a | b\n--- | ---\n1 | 2 | 3",
    ] {
        assert_eq!(wrong(text), 1, "{text}");
    }
    for text in [
        "| a | b |\n|---|--:|\n| 1 | 2 |\n\n| not | a | table |",
        "| a | b |\n|---|---|\n| `x \\| y` | 2 |\n| x \\|\\| y | |",
        "```text\n| a | b |\n|---|---|\n| 1 |\n```",
        "a | b\n--- | ---\n1 | 2",
        "--a | b\n\n---\n\ntext | text",
    ] {
        assert_eq!(wrong(text), 0, "{text}");
    }
}
