//! What changes between the last failure and the green run say about each other.

use super::{Episode, How, PATCH};
use crate::Time;
use crate::change::{Change, Hunk, Sort, in_tree, net};

/// By these a test is told not to run, or all others are told to.
const SKIPPING: &[&str] = &[
    "@pytest.mark.skip",
    "pytest.skip(",
    "@pytest.mark.xfail",
    "@unittest.skip",
    "@unittest.expectedFailure",
    "self.skipTest(",
    "#[ignore",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "it.todo(",
    "test.todo(",
    "it.only(",
    "test.only(",
    "describe.only(",
    "xit(",
    "xdescribe(",
    "xtest(",
    "@Disabled",
    "@Ignore",
    "t.Skip",
    "markTestSkipped",
    "skip: true",
    "pending(",
];
/// Before the name of a test stands one of these, where it is defined and not called.
const DEFINING: &[&str] =
    &["fn", "def", "func", "function", "fun", "sub", "void", "Task", "it", "test", "describe"];

/// How an episode ended with a green run at `until`, and what turned it green. `changes` are all since it opened, oldest
/// first.
pub(crate) fn judge(episode: &Episode, changes: &[Change], until: Time) -> (How, Vec<Change>) {
    let until = episode.gone.unwrap_or(until);
    let before: Vec<Change> = changes.iter().filter(|change| change.at <= until).cloned().collect();
    // What was tried before and undone since is no part of it; what was tried and stayed, and did not help, neither. And
    // no test was ever mended by another layout.
    let mut fix: Vec<Change> = net(&in_tree(&before))
        .into_iter()
        .filter(|change| change.at > episode.seen)
        .filter(|change| episode.test.is_none() || !change.only_formats())
        .collect();
    if fix.is_empty() {
        return (How::Flaky, fix);
    }
    let how =
        if took_away(episode, &fix) || skips(episode, &fix) { How::Removed } else { How::Fixed };
    fix.sort_by_key(|change| (rank(episode, change), std::cmp::Reverse(change.at)));
    (how, bounded(fix))
}

/// The name that a test has in its file: the last part of what the runner calls it.
pub(crate) fn own_name(test: &str) -> &str {
    // `test_x (tests.test_a.A.test_x)` begins with it, `tests/a.py::A::test_x[1]`, `a::tests::x` and `tests.a.A.test_x`
    // end with it. A title in words is its own name.
    let test = test.split(" (").next().unwrap_or(test);
    let test = test.split('[').next().unwrap_or(test);
    let test = test.rsplit("::").next().unwrap_or(test);
    let test = test.rsplit(" > ").next().unwrap_or(test).trim();
    if test.contains(' ') { test } else { test.rsplit('.').next().unwrap_or(test) }
}

/// Whether the failing test itself went, under whatever name it may have come back.
fn took_away(episode: &Episode, fix: &[Change]) -> bool {
    let Some(test) = episode.test.as_deref() else { return false };
    let name = own_name(test);
    if name.len() < 3 {
        return false;
    }
    let hunks: Vec<Hunk> = fix.iter().flat_map(Change::hunks).collect();
    let has = |lines: &[String]| lines.iter().any(|line| holds_name(line, name));
    hunks.iter().any(|hunk| has(&hunk.removed)) && !hunks.iter().any(|hunk| has(&hunk.added))
}

/// Whether a line defines the name: it stands there whole, and nobody calls it. What is called a test is never called.
fn holds_name(line: &str, name: &str) -> bool {
    let is_test = name.to_lowercase().starts_with("test");
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let word = before
            .trim_end_matches(['(', '"', '\'', '`', ' '])
            .rsplit(|sign: char| !is_of_a_name(sign))
            .next();
        !before.ends_with(is_of_a_name)
            && !after.starts_with(is_of_a_name)
            && (is_test || word.is_some_and(|word| DEFINING.contains(&word)))
    })
}

fn is_of_a_name(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Whether a line has one of the marks, and not as the end of a longer word.
fn is_skipping(line: &str) -> bool {
    SKIPPING
        .iter()
        .any(|mark| line.match_indices(mark).any(|(at, _)| !line[..at].ends_with(is_of_a_name)))
}

/// Whether nothing was done but to tell tests not to run.
fn skips(episode: &Episode, fix: &[Change]) -> bool {
    episode.test.is_some()
        && fix.iter().all(|change| {
            let hunks = change.hunks();
            change.sort == Sort::Edit
                && !hunks.is_empty()
                && hunks.iter().all(|hunk| {
                    hunk.added.iter().any(|line| is_skipping(line))
                        || hunk
                            .added
                            .iter()
                            .all(|line| line.starts_with("import ") || line.starts_with("from "))
                })
        })
}

/// What matters first: the file that the failure points at, then code, then tests, then commands, then the rest.
fn rank(episode: &Episode, change: &Change) -> u8 {
    let name = change.name.as_str();
    let last = name.rsplit('/').next().unwrap_or(name);
    let points_at = |text: &str| text.contains(last);
    let is_test = name.to_lowercase().contains("test") || name.to_lowercase().contains("spec");
    let is_prose = [".md", ".txt", ".rst", ".lock", ".log", "-lock.json"]
        .iter()
        .any(|end| name.ends_with(end));
    match change.sort {
        Sort::Command => 3,
        Sort::Edit if is_prose => 4,
        Sort::Edit if !is_test && episode.file.as_deref().is_some_and(points_at) => 0,
        Sort::Edit if !is_test => 1,
        Sort::Edit => 2,
    }
}

/// The first changes that have room together.
fn bounded(fix: Vec<Change>) -> Vec<Change> {
    let mut left = PATCH;
    let mut kept = Vec::new();
    for change in fix {
        let size = change.patch.len() + change.name.len();
        if size > left {
            // Named at least; its lines would be a part of a part.
            if change.name.len() <= left {
                left -= change.name.len();
                kept.push(Change { patch: crate::Clean::default(), ..change });
            }
            continue;
        }
        left -= size;
        kept.push(change);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::ProjectKey;
    use crate::runs::selection::Selection;
    use crate::{Clean, Id};

    fn at(second: i64) -> Time {
        Time::from_millis(second * 1_000)
    }

    fn episode(test: &str, seen: i64) -> Episode {
        Episode {
            id: Id::new(at(0)),
            project: ProjectKey::new("dir:/x"),
            root: "/x".into(),
            selection: Selection::of("pytest", "").unwrap(),
            signature: "s".into(),
            test: Some(Clean::new(test)),
            error: "AssertionError: 1 != 2".into(),
            file: Some("shop/cart.py".into()),
            first: None,
            last: None,
            attempts: 1,
            opened: at(0),
            seen: at(seen),
            gone: None,
            ending: None,
        }
    }

    fn edit(second: i64, file: &str, diff: &[&str]) -> Change {
        Change::edit(file, &Hunk::of(diff.iter().copied()), at(second))
    }

    fn names(fix: &[Change]) -> Vec<&str> {
        fix.iter().map(|change| change.name.as_str()).collect()
    }

    #[test]
    fn the_changes_after_the_last_failure_are_the_fix_and_the_pointed_at_file_comes_first() {
        let episode = episode("tests/test_cart.py::test_total", 2);
        let changes = [
            edit(1, "shop/guess.py", &["-a", "+b"]),
            edit(3, "README.md", &["+a word"]),
            edit(4, "tests/conftest.py", &["+x = 1"]),
            edit(5, "shop/cart.py", &["-r * 0.9", "+r"]),
            Change::command("pip install x", at(6)),
            edit(9, "shop/later.py", &["+y"]),
        ];
        let (how, fix) = judge(&episode, &changes, at(8));
        assert_eq!(how, How::Fixed);
        assert_eq!(
            names(&fix),
            ["shop/cart.py", "tests/conftest.py", "pip install x", "README.md"]
        );
        // A run in between had other failures, but no longer this one.
        let (_, fix) = judge(&Episode { gone: Some(at(5)), ..episode }, &changes, at(8));
        assert_eq!(names(&fix), ["shop/cart.py", "tests/conftest.py", "README.md"]);
    }

    #[test]
    fn green_without_a_change_teaches_nothing() {
        let episode = episode("tests/test_cart.py::test_total", 2);
        assert_eq!(judge(&episode, &[], at(8)), (How::Flaky, vec![]));
        // Tried before the last failure, and undone after it.
        let changes = [edit(1, "a.py", &["-a", "+b"]), edit(3, "a.py", &["-b", "+a"])];
        assert_eq!(judge(&episode, &changes, at(8)), (How::Flaky, vec![]));
        let changes = [&changes[..], &[edit(4, "c.py", &["-c", "+d"])]].concat();
        assert_eq!(names(&judge(&episode, &changes, at(8)).1), ["c.py"]);
    }

    #[test]
    fn a_test_that_was_taken_away_was_not_fixed() {
        let removed = |test: &str, diff: &[&str]| {
            judge(&episode(test, 2), &[edit(3, "tests/test_cart.py", diff)], at(8)).0
        };
        let test = "tests/test_cart.py::test_total[eur]";
        assert_eq!(
            removed(test, &["-def test_total(c):", "-    assert c", "+def test_sum(c):"]),
            How::Removed
        );
        assert_eq!(removed(test, &["-def test_total(c):", "-    assert c"]), How::Removed);
        assert_eq!(removed(test, &["-def test_total(c):", "+def test_total(c, d):"]), How::Fixed);
        assert_eq!(removed(test, &["-    assert test_total_of(c)", "+    assert c"]), How::Fixed);
        assert_eq!(
            removed(
                "test_total (tests.test_cart.Cart.test_total)",
                &["-    def test_total(self):"]
            ),
            How::Removed
        );
        assert_eq!(
            removed("tests.test_cart.Cart.test_total", &["-    def test_total(self):"]),
            How::Removed
        );
        assert_eq!(
            removed("cart::tests::total", &["-    fn total() {", "+    fn total_of() {"]),
            How::Removed
        );
        assert_eq!(removed(test, &["+@pytest.mark.skip(reason='later')"]), How::Removed);
        assert_eq!(
            removed(test, &["+import pytest", " ", "+@pytest.mark.skip(reason='later')"]),
            How::Removed
        );
        assert_eq!(
            removed(test, &["-    assert total(x) == 1", "+    assert total(x) == 2"]),
            How::Fixed
        );
    }

    #[test]
    fn what_has_the_name_of_a_test_or_of_a_mark_is_not_yet_one() {
        let how = |test: &str, diff: &[&str]| {
            judge(&episode(test, 2), &[edit(3, "src/cart.rs", diff)], at(8)).0
        };
        assert_eq!(how("cart::tests::total", &["-  let t = total(&i);", "+  sum(&i)"]), How::Fixed);
        assert_eq!(how("cart > adds", &["-  it('adds', () => {", "-  })"]), How::Removed);
        assert_eq!(how("cart::tests::first", &["+  items.iter().skip(1)"]), How::Fixed);
        assert_eq!(how("cart::tests::first", &["+  std::process::exit(1)"]), How::Fixed);
        assert_eq!(how("cart > adds", &["-it('x', f)", "+it.only('x', f)"]), How::Removed);
    }

    #[test]
    fn what_is_not_in_the_tree_or_only_laid_out_is_no_fix() {
        let episode = episode("tests/test_cart.py::test_total", 2);
        let wrong = edit(3, "shop/cart.py", &["-a", "+b"]);
        let how = |more: &[Change]| {
            judge(&episode, &[std::slice::from_ref(&wrong), more].concat(), at(8))
        };
        assert_eq!(how(&[Change::command("git stash", at(4))]), (How::Flaky, vec![]));
        assert_eq!(how(&[Change::command("git checkout main", at(4))]), (How::Flaky, vec![]));
        let right = edit(5, "shop/tax.py", &["-c", "+d"]);
        let (_, fix) = how(&[Change::command("git restore shop/cart.py", at(4)), right]);
        assert_eq!(names(&fix), ["shop/tax.py"]);
        let layout = [edit(3, "a.rs", &["-f(a)", "+f( a )"]), Change::command("cargo fmt", at(4))];
        assert_eq!(judge(&episode, &layout, at(8)), (How::Flaky, vec![]));
        let lint = Episode { test: None, ..episode.clone() };
        assert_eq!(judge(&lint, &layout, at(8)).0, How::Fixed);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_is_named() {
        let long: Vec<String> =
            (0..60).map(|line| format!("+a line of some length {line}")).collect();
        let long: Vec<&str> = long.iter().map(String::as_str).collect();
        let changes: Vec<Change> =
            (3..8).map(|second| edit(second, &format!("f{second}.py"), &long)).collect();
        let (_, fix) = judge(&episode("t", 2), &changes, at(9));
        assert_eq!(names(&fix), ["f7.py", "f6.py", "f5.py", "f4.py", "f3.py"]);
        let size: usize = fix.iter().map(|change| change.patch.len() + change.name.len()).sum();
        assert!(size <= PATCH, "{size}");
        assert!(!fix[0].patch.is_empty() && fix[4].patch.is_empty());
    }
}
