//! Runs every runnable snippet of `docs/guide/` and compares its output with the guide.
//!
//! Shell snippets are in `pages`. This module runs the others, which need Python with jsonschema and pytest, and ajv.
//! `scripts/test` installs these tools and sets `RUTTER_TEST_PYTHON` and `RUTTER_TEST_NODE_MODULES`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use rutter_testkit::{CommandOutput, repository_root, skip_test};

/// Links and anchors of every page in the repository.
mod links;
/// Every fenced block of the README, the guides and the security page.
mod pages;
/// Cells of every table in the repository.
mod tables;

/// Directories with files of other projects.
const SKIPPED_DIRS: [&str; 2] = ["target", "node_modules"];

/// Collects the Markdown pages below a directory.
fn collect_pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && !SKIPPED_DIRS.contains(&name.as_str()) {
                collect_pages(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}

/// Returns language and text of the fenced blocks of a page.
fn read_blocks(page: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(repository_root().join("docs/guide").join(page)).unwrap();
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language.to_owned(), body.join("\n") + "\n"));
        }
    }
    blocks
}

/// Returns the blocks in `language` that `keep` accepts, each with the text of the next block.
fn find_snippets(language: &str, keep: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let all = read_blocks("schemas.md");
    let followed = all.iter().zip(all.iter().skip(1).map(Some).chain([None]));
    let found: Vec<_> = followed
        .filter(|((name, text), _)| name == language && keep(text))
        .map(|((_, text), next)| {
            (text.clone(), next.map(|(_, text)| text.clone()).unwrap_or_default())
        })
        .collect();
    assert!(!found.is_empty(), "the guide has no such {language} snippet");
    found
}

fn tool_from_env(variable: &str, what: &str) -> Option<OsString> {
    let found = std::env::var_os(variable);
    if found.is_none() {
        skip_test(what, &format!("{variable} is not set; scripts/test sets it"));
    }
    found
}

fn run_script(program: &Path, script: &Path) -> CommandOutput {
    CommandOutput::run(Command::new(program).arg(script).current_dir(repository_root()))
}

#[test]
fn python_snippets_match_guide() {
    let Some(python) = tool_from_env("RUTTER_TEST_PYTHON", "the guide's Python snippet") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (code, expected) in find_snippets("python", |text| !text.contains("def test_")) {
        let script = folder.path().join("snippet.py");
        write_file(&script, &code);
        assert_eq!(run_script(Path::new(&python), &script).assert_success().stdout, expected);
    }
}

#[test]
fn guide_contract_test_passes() {
    let Some(python) = tool_from_env("RUTTER_TEST_PYTHON", "the guide's contract test") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let [(code, _)] = &find_snippets("python", |text| text.contains("def test_"))[..] else {
        panic!("one contract test")
    };
    write_file(&folder.path().join("test_hook.py"), code);
    let ran = CommandOutput::run(
        Command::new(python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .env("RUTTER", env!("CARGO_BIN_EXE_rutter"))
            .current_dir(folder.path()),
    );
    assert!(ran.assert_success().stdout.contains("1 passed"));
}

#[test]
fn javascript_snippets_match_guide() {
    let Some(modules) = tool_from_env("RUTTER_TEST_NODE_MODULES", "the guide's ajv snippet") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    for (code, expected) in find_snippets("js", |_| true) {
        let script = folder.path().join("snippet.js");
        write_file(&script, &code);
        let ran = run_script(Path::new("node"), &script).assert_success();
        assert_eq!((ran.stdout, ran.stderr), (expected, String::new()));
    }
}

fn write_file(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}
