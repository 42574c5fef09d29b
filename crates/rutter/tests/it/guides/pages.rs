//! Runs or parses every fenced block of the user documentation. A block that cannot be run has a mark in the page with
//! the reason.
//!
//! The shell blocks of a page run from top to bottom in one shell, in a fresh home directory and repository with rutter
//! installed. Output shown after a command must match the real output.

use std::collections::BTreeSet;
use std::fs;

use rutter_testkit::repository_root;

mod block;
mod runner;
mod scene;
mod shell;
mod text;

use runner::check_page;

/// The only valid reasons for not running a block. Each names something that the test does not have.
const SKIP_REASONS: [&str; 6] = [
    "needs the client",
    "needs GitHub",
    "installs a program",
    "asks on a terminal",
    "takes minutes",
    "needs a tool that may not be here",
];

/// Pages with text blocks that no command prints, such as messages to an agent or file contents.
const PAGES_WITH_TEXT: [&str; 6] = [
    "README.md",
    "docs/guide/first-hour.md",
    "docs/guide/ghap.md",
    "docs/guide/loop.md",
    "docs/guide/schemas.md",
    "docs/guide/values.md",
];

/// The page with Python and JavaScript blocks, which `guides.rs` runs.
const PAGE_WITH_PROGRAMS: &str = "docs/guide/schemas.md";

/// Pages without blocks.
const PAGES_WITHOUT_BLOCKS: [&str; 1] = ["docs/README.md"];

macro_rules! pages {
    ($($test:ident: $page:literal,)+) => {
        /// Pages with blocks.
        const PAGES: &[&str] = &[$($page),+];
        $(
            #[test]
            fn $test() {
                assert_page_runs($page);
            }
        )+
    };
}

pages! {
    readme_page_runs: "README.md",
    gates_page_runs: "docs/guide/gates.md",
    security_page_runs: "SECURITY.md",
    authors_page_runs: "docs/guide/authors.md",
    first_hour_page_runs: "docs/guide/first-hour.md",
    ghap_page_runs: "docs/guide/ghap.md",
    hooks_page_runs: "docs/guide/hooks.md",
    install_page_runs: "docs/guide/install.md",
    lint_page_runs: "docs/guide/lint.md",
    loop_page_runs: "docs/guide/loop.md",
    memory_page_runs: "docs/guide/memory.md",
    privacy_page_runs: "docs/guide/privacy.md",
    record_page_runs: "docs/guide/record.md",
    schemas_page_runs: "docs/guide/schemas.md",
    tasks_page_runs: "docs/guide/tasks.md",
    troubleshooting_page_runs: "docs/guide/troubleshooting.md",
    values_page_runs: "docs/guide/values.md",
}

#[track_caller]
fn assert_page_runs(page: &str) {
    let text = fs::read_to_string(repository_root().join(page)).unwrap();
    let complaints = check_page(page, &text);
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

#[test]
fn every_guide_is_listed() {
    let guides = fs::read_dir(repository_root().join("docs/guide")).unwrap();
    let there: BTreeSet<String> = guides
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .map(|name| format!("docs/guide/{name}"))
        .collect();
    let listed = PAGES.iter().filter(|page| page.starts_with("docs/guide/"));
    let listed: BTreeSet<String> = listed.map(|page| (*page).to_owned()).collect();
    assert_eq!(there, listed);
    for page in PAGES_WITHOUT_BLOCKS {
        let text = fs::read_to_string(repository_root().join(page)).unwrap();
        assert_eq!(
            block::parse_blocks(&text).unwrap().len(),
            0,
            "{page} has blocks: list it with the others"
        );
    }
}

/// Each claim on the security page names its test, so a renamed test must be renamed there too.
#[test]
fn security_page_names_existing_tests() {
    let page = fs::read_to_string(repository_root().join("SECURITY.md")).unwrap();
    let is_name = |word: &&str| {
        let plain = |sign: char| sign.is_ascii_lowercase() || sign == '_';
        word.matches('_').count() > 1 && word.chars().all(plain)
    };
    let named: BTreeSet<&str> = page.split('`').filter(is_name).collect();
    assert!(named.len() > 10, "{named:?}");
    let mut sources = String::new();
    let mut folders = vec![repository_root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                sources += &fs::read_to_string(path).unwrap();
            }
        }
    }
    let missing = named.iter().filter(|name| !sources.contains(&format!("fn {name}(")));
    assert_eq!(missing.collect::<Vec<_>>(), [&""; 0], "no test has this name");
}

/// Checks a page with this text and returns the only complaint.
fn only_complaint(text: &str) -> String {
    let complaints = check_page("docs/guide/ghap.md", text);
    assert_eq!(complaints.len(), 1, "{complaints:#?}");
    complaints[0].clone()
}

fn console_page(lines: &str) -> String {
    format!("# A page\n\n```console\n{lines}\n```\n")
}

#[test]
fn correct_page_passes() {
    // Ids and times differ from the page. Each id of the page stands for the same row everywhere.
    let page = console_page(
        "$ rutter remember \"CI runs on Postgres 17\" --category fact --tag ci\n\
         1234abcd fact #ci: CI runs on Postgres 17\n\
         $ rutter memories\n\
         ID        CATEGORY  IMPORTANCE  WHERE    TAGS  TEXT\n\
         1234abcd  fact      0.5         project  ci    CI runs on Postgres 17\n\
         $ rutter forget 1234abcd --yes\n\
         $ rutter memories\n\
         note: there are no memories; `rutter remember` adds one",
    );
    assert_eq!(check_page("docs/guide/ghap.md", &page), [""; 0]);
    let page = console_page(
        "$ cat <<'END'\na $ b\nEND\na $ b\n$ cd .. && \\\n  cd shop\n$ pwd\n/home/ada/shop",
    );
    assert_eq!(check_page("docs/guide/ghap.md", &page), [""; 0]);
}

#[test]
fn wrong_output_is_reported() {
    let said = only_complaint(&console_page(
        "$ rutter config path\nuser     /home/ada/config.toml (not there)\n…",
    ));
    assert!(
        said.contains("docs/guide/ghap.md:4: `rutter config path` prints something else"),
        "{said}"
    );
    assert!(said.contains("/home/ada/.config/rutter/config.toml (not there)"), "{said}");
    let said = only_complaint(&console_page("$ echo one; echo two\none"));
    assert!(said.contains("prints something else"), "a line too many: {said}");
    let said = only_complaint(&console_page("$ echo one\none\ntwo"));
    assert!(said.contains("prints something else"), "a line too few: {said}");
    let said = only_complaint(&console_page("$ true\n0000aaaa active"));
    assert!(said.contains("prints something else"), "nothing at all: {said}");
}

#[test]
fn failing_command_is_reported() {
    let said = only_complaint(&console_page("$ rutter ghap shew"));
    assert!(said.contains("ends with exit 2"), "{said}");
    let said = only_complaint(&console_page("$ no-such-program"));
    assert!(said.contains("ends with exit 127"), "{said}");
    let said = only_complaint(&console_page("$ exit 0"));
    assert!(said.contains("ended the shell"), "{said}");
    let said = only_complaint(&console_page("$ rutter episodes show beef\n…"));
    assert!(said.contains("ends with exit 1"), "{said}");
    // A command may fail if the page shows its error.
    let page =
        console_page("$ rutter episodes show beef\nerror: no episode has an id that ends in beef");
    assert_eq!(check_page("docs/guide/ghap.md", &page), [""; 0]);
}

#[test]
fn unknown_id_is_reported() {
    let said = only_complaint(&console_page("$ rutter episodes show 4be2d90f\n…"));
    assert!(said.contains("4be2d90f is shown by no command above"), "{said}");
    // An id of the page cannot stand for two rows.
    let echo = |half: u32| format!("$ printf '%s%s\\n' {half} {half}\n1111aaaa");
    let said = only_complaint(&console_page(&format!("{}\n{}", echo(2222), echo(3333))));
    assert!(said.contains("1111aaaa was 22222222 above and is 33333333 here"), "{said}");
}

#[test]
fn skipped_block_needs_reason() {
    let block = "```console\n$ claude\n```\n";
    assert_eq!(
        check_page("docs/guide/ghap.md", &format!("<!-- not run: needs the client -->\n{block}")),
        [""; 0]
    );
    let said = only_complaint(&format!("<!-- not run: too much work -->\n{block}"));
    assert!(said.contains("`too much work` is no reason"), "{said}");
    let said = only_complaint(&format!("<!-- not run: needs the client -->\n\nclaude\n\n{block}"));
    assert!(said.contains(":1: no block follows this mark"), "{said}");
    let said = only_complaint(&format!("<!-- scene: a war -->\n{block}"));
    assert!(said.contains("there is no scene `a war`"), "{said}");
}

#[test]
fn every_block_kind_is_checked() {
    let fenced = |language: &str, body: &str| format!("```{language}\n{body}\n```\n");
    for (page, expected) in [
        ("no block at all\n".to_owned(), "has no block"),
        (fenced("", "x"), "a block without a language"),
        (fenced("ruby", "puts 1"), "nobody knows what to do with `ruby`"),
        (fenced("python", "print(1)"), "is run in docs/guide/schemas.md alone"),
        (fenced("json", "{\"a\": }"), "is no JSON"),
        (fenced("toml", "notify = \"brief\""), "begins with the name of its file"),
        (fenced("toml", "# .rutter.toml\nnotify = \"loud\""), "`rutter config check` finds"),
        (fenced("toml", "# .rutter.toml\nnotify = "), "`rutter config check` finds"),
        (fenced("sh", "exit 3"), "ends with exit 3"),
        (fenced("console", "rutter status"), "no command stands before it"),
        ("```console\n$ true\n".to_owned(), "is never closed"),
        ("- x\n  ```console\n  $ false\n  ```\n".to_owned(), "begins its line"),
    ] {
        let said = only_complaint(&page);
        assert!(said.contains(expected), "{page} {said}");
    }
    let said = check_page("docs/guide/privacy.md", &fenced("text", "anything"));
    assert!(said[0].contains("may show no text"), "{said:?}");
    for page in [
        fenced("json", "{\"a\": 1}"),
        fenced("toml", "# ~/.config/rutter/config.toml\nnotify = \"brief\""),
        fenced("sh", "command -v rutter"),
        fenced("text", "anything"),
    ] {
        assert_eq!(check_page("docs/guide/ghap.md", &page), [""; 0]);
    }
}
