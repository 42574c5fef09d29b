//! The gate for tests: an implementation file needs a test before it is written.

use std::path::PathBuf;

use serde::Serialize;

use crate::change_effect::ChangeEffect;
use crate::declarations::{only_declares, public_names};
use crate::file_pattern::{expand_braces, matches_pattern};
use crate::file_role::{FileRole, is_generated_text};
use crate::language::Language;
use crate::project_tree::ProjectTree;
use crate::test_habit::TestHabit;
use crate::test_places::{TestPlace, join, test_places};

/// Maximum length of a denial in characters.
const MAX_DENIAL_CHARS: usize = 1_000;
/// Number of places that a denial names.
const NAMED_PLACES: usize = 3;

/// The settings of the gate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TestsFirstSettings {
    /// Files that need no test: paths with `*` and `**`.
    pub exclude: Vec<String>,
    /// Further places of tests, with `{folder}`, `{name}` and `{ext}`: `{folder}/{name}.check.{ext}`.
    pub places: Vec<String>,
    /// True if the test must name the file or something that it defines.
    pub must_mention: bool,
}

/// A change of a file that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file, as in the call.
    pub path: PathBuf,
    /// The folder that a relative path starts from.
    pub folder: PathBuf,
    /// The text after the change, or None if it is unknown.
    pub new_text: Option<String>,
    /// The text before the change, or None if the file does not exist.
    pub old_text: Option<String>,
}

/// The decision about a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
pub enum ChangeDecision {
    /// The change may be made.
    Pass {
        /// The file, relative to the root; as in the call if it is outside.
        file: String,
        /// The reason.
        reason: PassReason,
    },
    /// The file has no test.
    Deny {
        /// The file, relative to the root.
        file: String,
        /// The paths where the test may be, in order of the project's habit.
        places: Vec<String>,
        /// A test that exists and does not mention the file.
        silent_test: Option<String>,
        /// True if the change adds a definition that others can use, or if that is unknown.
        adds_definition: bool,
    },
}

/// The reason for which a change passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum PassReason {
    /// The file is not in the project.
    Outside,
    /// The file is no implementation.
    Role {
        /// Its role.
        role: String,
    },
    /// The settings exclude the file.
    Excluded {
        /// The pattern.
        pattern: String,
    },
    /// The change adds no code.
    Effect {
        /// Its effect.
        effect: String,
    },
    /// The text only declares or re-exports.
    Declares,
    /// The text says that it is generated.
    Generated,
    /// The file has a test.
    Tested {
        /// The test; the file itself for tests inside it.
        test: String,
    },
}

/// Decides about a change. `tracked` returns the tracked files with one of these names, for tests in unusual places.
pub fn decide_change(
    change: &FileChange,
    tree: &ProjectTree,
    settings: &TestsFirstSettings,
    tracked: impl FnOnce(&[&str]) -> Vec<String>,
) -> ChangeDecision {
    let Some(file) = tree.relative_path(&change.path, &change.folder) else {
        let file = change.path.to_string_lossy().into_owned();
        return ChangeDecision::Pass { file, reason: PassReason::Outside };
    };
    let pass = |reason| ChangeDecision::Pass { file: file.clone(), reason };
    let role = FileRole::classify(&file);
    let language = file
        .rsplit_once('.')
        .and_then(|(_, extension)| Language::from_extension(&extension.to_ascii_lowercase()));
    let Some(language) = language.filter(|_| role == FileRole::Implementation) else {
        return pass(PassReason::Role { role: role.to_string() });
    };
    if let Some(pattern) = settings.exclude.iter().find(|pattern| matches_path(pattern, &file)) {
        return pass(PassReason::Excluded { pattern: pattern.clone() });
    }
    let old = change.old_text.as_deref();
    if let Some(new) = change.new_text.as_deref() {
        if only_declares(new, language) {
            return pass(PassReason::Declares);
        }
        if is_generated_text(new) || old.is_some_and(is_generated_text) {
            return pass(PassReason::Generated);
        }
        if let Some(old) = old {
            let effect = ChangeEffect::compare(&file, language, old, new);
            if effect.is_harmless() {
                return pass(PassReason::Effect { effect: effect.to_string() });
            }
        }
    }
    if has_inline_tests(change, language) {
        return pass(PassReason::Tested { test: file.clone() });
    }
    if is_header_with_source(&file, tree) {
        return pass(PassReason::Role { role: FileRole::Declarations.to_string() });
    }
    let packages = tree.packages(&file);
    let mut places = configured_places(settings, &file);
    places.extend(test_places(&file, language, &packages));
    let found = find_test(&places, tree);
    let mut silent_test = None;
    if let Some(test) = found.or_else(|| find_tracked_test(&places, &packages, tracked)) {
        if !settings.must_mention || mentions_unit(tree, &test, &file, change, language) {
            return pass(PassReason::Tested { test });
        }
        silent_test = Some(test);
    }
    let package = packages.first().map_or("", String::as_str);
    let mut tests = tree.find_tests(package, language);
    if tests.is_empty() && !package.is_empty() {
        tests = tree.find_tests("", language);
    }
    let habit = TestHabit::read(&tests);
    let places = habit.sort_paths(&places, NAMED_PLACES);
    let adds_definition = adds_definition(change, language);
    ChangeDecision::Deny { file, places, silent_test, adds_definition }
}

/// Renders the denial of a change: one sentence that says where the test belongs, and one about the other places.
pub fn render_denial(file: &str, places: &[String], silent_test: Option<&str>) -> String {
    let text = match (silent_test, places) {
        (Some(test), _) => format!(
            "Tests first: `{test}` does not mention `{file}`; add a test of this code there, then repeat this call."
        ),
        (None, [first, others @ ..]) => {
            let mut text = format!(
                "Tests first: `{file}` has no test; write it in `{first}`, then repeat this call."
            );
            if !others.is_empty() {
                let others: Vec<String> = others.iter().map(|place| format!("`{place}`")).collect();
                text += " Also accepted: ";
                text += &others.join(", ");
                text.push('.');
            }
            if file.rsplit('.').next() == Some("rs") {
                text.push_str(" Or write a `#[cfg(test)]` module into the file itself.");
            }
            text
        }
        (None, []) => {
            format!("Tests first: `{file}` has no test; write it, then repeat this call.")
        }
    };
    if text.chars().count() > MAX_DENIAL_CHARS {
        return "Tests first: this file has no test; write it, then repeat this call.".to_owned();
    }
    text
}

/// Returns true if the tests of a Rust file are in it, before or after the change.
fn has_inline_tests(change: &FileChange, language: Language) -> bool {
    let has_tests = |text: &Option<String>| {
        text.as_deref().is_some_and(|text| {
            text.lines().map(str::trim_start).any(|line| {
                line.starts_with("#[cfg(test)]")
                    || line.starts_with("#[test]")
                    || line.starts_with("#[cfg(all(test")
            })
        })
    };
    language == Language::Rust && (has_tests(&change.new_text) || has_tests(&change.old_text))
}

/// Returns true for a header whose source file stands beside it: the source file needs the test.
fn is_header_with_source(file: &str, tree: &ProjectTree) -> bool {
    let Some((stem, extension)) = file.rsplit_once('.') else { return false };
    let is_header = matches!(extension, "h" | "hh" | "hpp" | "hxx");
    is_header
        && ["c", "cc", "cpp", "cxx", "m", "mm"]
            .iter()
            .any(|source| tree.has_file(&format!("{stem}.{source}")))
}

fn configured_places(settings: &TestsFirstSettings, file: &str) -> Vec<TestPlace> {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let place = |pattern: &String| {
        let path =
            pattern.replace("{folder}", folder).replace("{name}", stem).replace("{ext}", extension);
        let path = path.trim_start_matches('/');
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        TestPlace { folder: folder.to_owned(), names: vec![name.to_owned()], is_usual: true }
    };
    settings.places.iter().map(place).collect()
}

fn find_test(places: &[TestPlace], tree: &ProjectTree) -> Option<String> {
    places.iter().filter(|place| tree.has_folder(&place.folder)).find_map(|place| {
        place.names.iter().map(|name| join(&place.folder, name)).find(|path| tree.has_file(path))
    })
}

/// Finds a test by its exact name among the tracked files of the same package. A name without a sign of a test, such as
/// `test/cart.js`, counts only in its usual place.
fn find_tracked_test(
    places: &[TestPlace],
    packages: &[String],
    tracked: impl FnOnce(&[&str]) -> Vec<String>,
) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for name in places.iter().flat_map(|place| &place.names) {
        let is_test = !name.contains('/') && FileRole::classify(name) == FileRole::Test;
        let is_general = matches!(name.as_str(), "tests.rs" | "test.rs" | "tests.py");
        if is_test && !is_general && !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let package = packages.first().map_or("", String::as_str);
    tracked(&names).into_iter().find(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_inside = package.is_empty() || path.starts_with(&format!("{package}/"));
        is_inside && names.contains(&name) && FileRole::classify(path) == FileRole::Test
    })
}

/// Returns true if a test names the file's module or something that the file defines.
fn mentions_unit(
    tree: &ProjectTree,
    test: &str,
    file: &str,
    change: &FileChange,
    language: Language,
) -> bool {
    let Some(content) = tree.read(test) else { return true };
    let stem = file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or(file);
    let texts = change.new_text.iter().chain(&change.old_text);
    let mut names: Vec<String> = texts.flat_map(|text| public_names(text, language)).collect();
    names.push(stem.to_owned());
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    names.iter().any(|name| {
        content.match_indices(name.as_str()).any(|(at, _)| {
            !content[..at].ends_with(is_part) && !content[at + name.len()..].starts_with(is_part)
        })
    })
}

/// Returns true if a change adds a definition that others can use, or if that is unknown.
fn adds_definition(change: &FileChange, language: Language) -> bool {
    let (Some(new), Some(old)) = (&change.new_text, &change.old_text) else { return true };
    let known = public_names(old, language);
    public_names(new, language).iter().any(|name| !known.contains(name))
}

/// Returns true if a path matches a pattern of the settings. A folder stands for everything in it.
fn matches_path(pattern: &str, path: &str) -> bool {
    let pattern = pattern.trim_start_matches("./");
    let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
    expand_braces(&whole).iter().any(|pattern| matches_pattern(pattern, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("scripts/", "scripts/a/b.py", true),
            ("scripts/*.py", "scripts/a/b.py", false),
            ("**/*.py", "scripts/a/b.py", true),
            ("**/legacy/**", "src/legacy/a.py", true),
            ("src/*.py", "src/a.py", true),
            ("src/a.py", "src/a.pyc", false),
            ("src/*.{ts,tsx}", "src/a.tsx", true),
        ] {
            assert_eq!(matches_path(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn denial_names_the_first_place() {
        let places = ["tests/test_a.py".to_owned(), "test_a.py".to_owned()];
        let text = render_denial("a.py", &places, None);
        assert_eq!(
            text,
            "Tests first: `a.py` has no test; write it in `tests/test_a.py`, then repeat this call. Also accepted: `test_a.py`."
        );
        let long = "x/".repeat(600);
        assert!(render_denial(&long, &places, None).chars().count() <= MAX_DENIAL_CHARS);
    }
}
