//! The gate for tests on a table of calls and trees, written by an author who had not seen the rules.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rutter_gates::{
    ChangeDecision, FileChange, ProjectTree, TestsFirstSettings, command_changes, decide_change,
};
use rutter_runs::command_line::CommandLine;
use serde::Deserialize;

#[derive(Deserialize)]
struct CaseFile {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    tool: String,
    path: Option<String>,
    command: Option<String>,
    content: Option<String>,
    old: Option<String>,
    new: Option<String>,
    #[serde(default)]
    tree: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    expect: String,
    why: String,
    first: Option<String>,
}

impl Case {
    /// Creates the tree and decides about the call. Returns the denied file and its places.
    fn decide(&self) -> Option<(String, Vec<String>)> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in self.tree.iter().chain(self.files.keys()) {
            let text = self.files.get(path).map_or("", String::as_str);
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        let tree = ProjectTree::new(root.clone());
        let settings = TestsFirstSettings::default();
        for change in self.changes(&root) {
            let decision = decide_change(&change, &tree, &settings, |_| Vec::new());
            if let ChangeDecision::Deny { file, places, .. } = decision {
                return Some((file, places));
            }
        }
        None
    }

    fn changes(&self, root: &Path) -> Vec<FileChange> {
        let read = |path: &Path| fs::read_to_string(path).ok();
        if let Some(command) = &self.command {
            return command_changes(&CommandLine::parse(command), root, read);
        }
        let Some(path) = self.path.as_ref().filter(|path| !path.is_empty()) else {
            return Vec::new();
        };
        let path = PathBuf::from(path);
        let old_text = read(&root.join(&path));
        let new_text = match (&self.old, &self.new) {
            (Some(old), Some(new)) => old_text.as_ref().map(|text| text.replacen(old, new, 1)),
            _ => self.content.clone(),
        };
        vec![FileChange { path, folder: root.to_owned(), new_text, old_text }]
    }
}

/// Returns the cases that came out otherwise than expected, and those whose first place did, with the number of each.
fn run_cases(file: &str) -> (usize, Vec<String>, usize, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/gates").join(file);
    let cases: CaseFile = toml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let (mut wrong, mut misplaced, mut placed) = (Vec::new(), Vec::new(), 0);
    for case in &cases.case {
        let denied = case.decide();
        let expected = case.expect == "deny";
        if denied.is_some() != expected {
            wrong.push(format!(
                "{} ({}): expected {}: {}; got {denied:?}",
                case.name, case.tool, case.expect, case.why
            ));
        }
        if let (Some(first), Some((_, places))) = (&case.first, &denied) {
            placed += 1;
            if places.first() != Some(first) {
                misplaced.push(format!("{}: expected {first}; got {places:?}", case.name));
            }
        }
    }
    (cases.case.len(), wrong, placed, misplaced)
}

#[test]
fn tuned_cases_are_decided_as_expected() {
    let (count, wrong, placed, misplaced) = run_cases("tests-first-tuned.toml");
    println!(
        "{} of {count} right, {} of {placed} places right",
        count - wrong.len(),
        placed - misplaced.len()
    );
    println!("{}", misplaced.join("\n"));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(misplaced.is_empty(), "{} misplaced:\n{}", misplaced.len(), misplaced.join("\n"));
}

#[test]
fn set_aside_cases_are_decided_as_expected() {
    let (count, wrong, placed, misplaced) = run_cases("tests-first-set-aside.toml");
    println!(
        "{} of {count} right, {} of {placed} places right",
        count - wrong.len(),
        placed - misplaced.len()
    );
    assert!(wrong.len() * 50 <= count, "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
