use super::*;
use crate::Id;
use crate::project::ProjectKey;
use rutter_runs::clues::ClueLine;
use rutter_runs::selection::TestSelection;

fn at_second(second: i64) -> Time {
    Time::from_millis(second * 1_000)
}

fn episode(test: &str, seen: i64) -> Episode {
    Episode {
        test: Some(Clean::new(test)),
        error: "AssertionError: 1 != 2".into(),
        file: Some("tests/test_cart.py".into()),
        seen: at_second(seen),
        ..open_pytest_episode(Id::new(at_second(0)), ProjectKey::new("dir:/x"), at_second(0))
    }
}

fn clues(named: &[&str], places: &[(&str, u32)]) -> Clues {
    Clues {
        named: named.iter().map(|word| Clean::new(word)).collect(),
        places: places
            .iter()
            .map(|(file, line)| ClueLine { file: Clean::new(file), line: *line })
            .collect(),
        ..Clues::default()
    }
}

/// Returns an edit at a line of a file.
fn edit_at(second: i64, file: &str, line: u32, section: &str, diff: &[&str]) -> Change {
    let hunks: Vec<Hunk> = Hunk::parse(diff.iter().copied(), line, line)
        .into_iter()
        .map(|hunk| Hunk { section: section.to_owned(), ..hunk })
        .collect();
    Change::from_edit(file, &hunks, at_second(second))
}

fn edit(second: i64, file: &str, diff: &[&str]) -> Change {
    edit_at(second, file, 0, "", diff)
}

fn attribute_changes(
    episode: &Episode,
    clues: &Clues,
    changes: &[Change],
) -> (EpisodeEndingKind, Vec<Change>) {
    attribute_fix(
        episode,
        clues,
        changes,
        &GreenRun { at: Some(at_second(8)), ..GreenRun::default() },
    )
}

fn change_names(fix: &[Change]) -> Vec<&str> {
    fix.iter().map(|change| change.name.as_str()).collect()
}

fn certain_changes(fix: &[Change]) -> Vec<String> {
    fix.iter()
        .filter(|change| change.is_certain)
        .map(|change| change.patch.replace('\n', " "))
        .collect()
}

#[test]
fn hunk_with_evidence_comes_first() {
    let episode = episode("tests/test_cart.py::test_total", 2);
    let clues = clues(&["total"], &[("tests/test_cart.py", 5)]);
    // A function is fixed, then a docstring and a version are changed.
    let changes = [
        edit_at(
            3,
            "shop/cart.py",
            20,
            "def total(items):",
            &["-    return r * 0.9", "+    return r"],
        ),
        edit_at(4, "shop/cart.py", 2, "", &["-__version__ = \"1.2\"", "+__version__ = \"1.3\""]),
        edit_at(5, "shop/cart.py", 30, "def name():", &["-    return 'a'", "+    return 'b'"]),
        edit(6, "README.md", &["+a word"]),
    ];
    let (how, fix) = attribute_changes(&episode, &clues, &changes);
    assert_eq!(how, EpisodeEndingKind::Fixed);
    assert!(fix[0].patch.contains("r * 0.9"), "{fix:#?}");
    assert_eq!(certain_changes(&fix).len(), 1, "{fix:#?}");
    assert!(fix[0].reason.as_deref().unwrap().contains("`total`"));
}

#[test]
fn test_file_names_subject() {
    for test in ["tests/test_cart.py::test_sum", "tests.test_cart.Cart.test_sum", "test_sum"] {
        let changes = [
            edit(1, "shop/user.py", &["-x = 1", "+x = 2"]),
            edit(2, "shop/cart.py", &["-y = 1", "+y = 2"]),
        ];
        let (_, fix) = attribute_changes(&episode(test, 0), &Clues::default(), &changes);
        assert_eq!(change_names(&fix), ["shop/cart.py", "shop/user.py"], "{test}");
        assert_eq!(fix[0].reason.as_deref(), Some("the failing test is about `cart`"), "{test}");
    }
}

#[test]
fn container_paths_do_not_hide_fix() {
    let mut failed = episode("tests.test_cart.Cart.test_sum", 0);
    failed.file = Some("/app/tests/test_cart.py".into());
    let changes = [
        edit(1, "shop/cart.py", &["-y = 1", "+y = 2"]),
        edit(2, "shop/cart.py", &["-__version__ = '1.2'", "+__version__ = '1.3'"]),
    ];
    let (_, fix) = attribute_changes(&failed, &Clues::default(), &changes);
    assert_eq!(certain_changes(&fix), ["@@ -y = 1 +y = 2"]);
}

#[test]
fn line_of_the_failure_is_evidence() {
    let lint = Episode { test: None, file: Some("cmd/a.go".into()), ..episode("", 2) };
    let clues = clues(&[], &[("cmd/a.go", 40)]);
    let changes = [
        edit_at(3, "cmd/a.go", 40, "func Run() {", &["-  x := f()", "+  _ = f()"]),
        edit_at(4, "cmd/a.go", 300, "func Other() {", &["-  y", "+  z"]),
        edit_at(5, "cmd/b.go", 40, "func B() {", &["-  y", "+  z"]),
    ];
    let (_, fix) = attribute_changes(&lint, &clues, &changes);
    assert!(fix[0].patch.contains("x := f()"), "{fix:#?}");
    assert_eq!(certain_changes(&fix).len(), 1, "{fix:#?}");
}

#[test]
fn without_evidence_nothing_is_claimed() {
    let episode = episode("tests/test_flow.py::test_all", 2);
    let changes = [edit(3, "a.py", &["-a", "+b"]), edit(4, "b.py", &["-c", "+d"])];
    let (how, fix) = attribute_changes(&episode, &Clues::default(), &changes);
    assert_eq!((how, fix.len()), (EpisodeEndingKind::Fixed, 2));
    assert_eq!(certain_changes(&fix), [""; 0]);
    // A single change is an experiment, but a test may fail by chance, so some evidence is needed.
    let (_, fix) = attribute_changes(&episode, &Clues::default(), &changes[..1]);
    assert_eq!(certain_changes(&fix), [""; 0]);
    let (_, fix) = attribute_changes(&episode, &clues(&[], &[("a.py", 90)]), &changes[..1]);
    assert_eq!(certain_changes(&fix).len(), 1);
    let (_, fix) = attribute_changes(&episode, &clues(&[], &[("a.py", 90)]), &changes);
    assert_eq!(certain_changes(&fix), [""; 0]);
}

#[test]
fn imports_count_where_they_are_named() {
    let episode = episode("tests/test_cart.py::test_json", 2);
    let changes = [
        edit(3, "shop/cart.py", &["+import json"]),
        edit(4, "shop/cart.py", &["-x = 1", "+x = 2"]),
    ];
    let (_, fix) = attribute_changes(&episode, &clues(&["json"], &[]), &changes);
    assert!(fix[0].patch.contains("import json"), "{fix:#?}");
    let (_, fix) = attribute_changes(&episode, &clues(&["total"], &[]), &changes);
    assert!(fix[0].patch.contains("x = 1"), "{fix:#?}");
}

#[test]
fn only_changes_after_the_last_failure() {
    let red = episode("tests/test_cart.py::test_total", 2);
    let changes = [
        edit(1, "shop/guess.py", &["-a", "+b"]),
        edit(5, "shop/cart.py", &["-r * 0.9", "+r"]),
        Change::from_command("pip install x", at_second(6)),
        edit(9, "shop/later.py", &["+y"]),
    ];
    let (_, fix) = attribute_changes(&red, &Clues::default(), &changes);
    assert_eq!(change_names(&fix), ["shop/cart.py", "pip install x"]);
    // A run in between had other failures, but not this one any more.
    let (_, fix) = attribute_changes(
        &Episode { gone: Some(at_second(5)), ..red },
        &Clues::default(),
        &changes,
    );
    assert_eq!(change_names(&fix), ["shop/cart.py"]);
}

#[test]
fn green_without_change_is_flaky() {
    let episode = episode("tests/test_cart.py::test_total", 2);
    let none = Clues::default();
    assert_eq!(attribute_changes(&episode, &none, &[]).0, EpisodeEndingKind::Flaky);
    // Changed before the last failure, and undone after it.
    let changes = [edit(1, "a.py", &["-a", "+b"]), edit(3, "a.py", &["-b", "+a"])];
    assert_eq!(attribute_changes(&episode, &none, &changes).0, EpisodeEndingKind::Flaky);
    let changes = [&changes[..], &[edit(4, "c.py", &["-c", "+d"])]].concat();
    assert_eq!(change_names(&attribute_changes(&episode, &none, &changes).1), ["c.py"]);
}

#[test]
fn other_invocation_is_the_fix() {
    let episode = episode("TestClone", 2);
    let difference = InvocationDifference {
        settings: vec!["with GIT_CONFIG_GLOBAL=/dev/null".to_owned()],
        surroundings: Vec::new(),
    };
    let green =
        GreenRun { at: Some(at_second(8)), difference: Some(&difference), ..GreenRun::default() };
    let (how, fix) = attribute_fix(&episode, &Clues::default(), &[], &green);
    assert_eq!((how, fix.len(), fix[0].is_certain), (EpisodeEndingKind::Fixed, 1, true));
    // It comes before edits without evidence and after edits with evidence.
    let edits =
        [edit(3, "a.go", &["-a", "+b"]), edit_at(4, "b.go", 7, "func Clone() {", &["-c", "+d"])];
    let (_, fix) = attribute_fix(&episode, &Clues::default(), &edits, &green);
    assert_eq!(fix[0].kind, ChangeKind::Invocation);
    assert!(!fix[0].is_certain);
    let (_, fix) = attribute_fix(&episode, &clues(&["Clone"], &[("b.go", 7)]), &edits, &green);
    assert_eq!(change_names(&fix)[..2], ["b.go", "with GIT_CONFIG_GLOBAL=/dev/null"]);
    // Its surroundings are mentioned only without a likely edit, or for a failure that they explain.
    let surroundings = vec!["through uv run".to_owned()];
    let difference = InvocationDifference { settings: Vec::new(), surroundings };
    let green =
        GreenRun { at: Some(at_second(8)), difference: Some(&difference), ..GreenRun::default() };
    let (_, fix) = attribute_fix(&episode, &Clues::default(), &[], &green);
    assert_eq!(change_names(&fix), ["through uv run"]);
    let (_, fix) = attribute_fix(&episode, &clues(&[], &[("b.go", 90)]), &edits, &green);
    assert_eq!(change_names(&fix), ["b.go", "a.go"]);
    let missing = Episode { error: "No module named 'yaml'".into(), ..episode };
    let (_, fix) = attribute_fix(&missing, &Clues::default(), &edits, &green);
    assert_eq!(change_names(&fix)[0], "through uv run");
}

#[test]
fn removed_tests_were_not_fixed() {
    let removed = |test: &str, diff: &[&str]| {
        attribute_changes(
            &episode(test, 2),
            &Clues::default(),
            &[edit(3, "tests/test_cart.py", diff)],
        )
        .0
    };
    let test = "tests/test_cart.py::test_total[eur]";
    for (test, diff, expected) in [
        (
            test,
            &["-def test_total(c):", "-    assert c", "+def test_sum(c):"][..],
            EpisodeEndingKind::Removed,
        ),
        (test, &["-def test_total(c):", "-    assert c"], EpisodeEndingKind::Removed),
        (test, &["-def test_total(c):", "+def test_total(c, d):"], EpisodeEndingKind::Fixed),
        (test, &["-    assert test_total_of(c)", "+    assert c"], EpisodeEndingKind::Fixed),
        (
            "test_total (tests.test_cart.Cart.test_total)",
            &["-    def test_total(self):"],
            EpisodeEndingKind::Removed,
        ),
        (
            "tests.test_cart.Cart.test_total",
            &["-    def test_total(self):"],
            EpisodeEndingKind::Removed,
        ),
        (
            "cart::tests::total",
            &["-    fn total() {", "+    fn total_of() {"],
            EpisodeEndingKind::Removed,
        ),
        (test, &["+@pytest.mark.skip(reason='later')"], EpisodeEndingKind::Removed),
        (
            test,
            &["+import pytest", " ", "+@pytest.mark.skip(reason='later')"],
            EpisodeEndingKind::Removed,
        ),
        (
            test,
            &["-    assert total(x) == 1", "+    assert total(x) == 2"],
            EpisodeEndingKind::Fixed,
        ),
        ("cart::tests::total", &["-  let t = total(&i);", "+  sum(&i)"], EpisodeEndingKind::Fixed),
        ("cart > adds", &["-  it('adds', () => {", "-  })"], EpisodeEndingKind::Removed),
        ("cart::tests::first", &["+  items.iter().skip(1)"], EpisodeEndingKind::Fixed),
        ("cart::tests::first", &["+  std::process::exit(1)"], EpisodeEndingKind::Fixed),
        ("cart > adds", &["-it('x', f)", "+it.only('x', f)"], EpisodeEndingKind::Removed),
    ] {
        assert_eq!(removed(test, diff), expected, "{test} {diff:?}");
    }
}

#[test]
fn undone_and_formatting_do_not_count() {
    let episode = episode("tests/test_cart.py::test_total", 2);
    let none = Clues::default();
    let wrong = edit(3, "shop/cart.py", &["-a", "+b"]);
    let how = |more: &[Change]| {
        attribute_changes(&episode, &none, &[std::slice::from_ref(&wrong), more].concat())
    };
    // Changes reverted by git are not the fix, and the git command is not advice.
    let (ended, fix) = how(&[Change::from_command("git checkout -- shop/cart.py", at_second(4))]);
    assert_eq!(
        (ended, change_names(&fix)),
        (EpisodeEndingKind::Fixed, vec!["git checkout -- shop/cart.py"])
    );
    let right = edit(5, "shop/tax.py", &["-c", "+d"]);
    let (_, fix) = how(&[Change::from_command("git restore shop/cart.py", at_second(4)), right]);
    assert_eq!(fix[0].name.as_str(), "shop/tax.py");
    let layout =
        [edit(3, "a.rs", &["-f(a)", "+f( a )"]), Change::from_command("cargo fmt", at_second(4))];
    assert_eq!(attribute_changes(&episode, &none, &layout).0, EpisodeEndingKind::Flaky);
    let lint = Episode { test: None, ..episode.clone() };
    assert_eq!(attribute_changes(&lint, &none, &layout).0, EpisodeEndingKind::Fixed);
}

#[test]
fn fix_is_bounded() {
    let long: Vec<String> = (0..90).map(|line| format!("+a line of some length {line}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let changes: Vec<Change> =
        (3..8).map(|second| edit(second, &format!("f{second}.py"), &long)).collect();
    let (_, fix) = attribute_changes(&episode("t", 2), &Clues::default(), &changes);
    assert_eq!(change_names(&fix), ["f3.py", "f4.py", "f5.py", "f6.py", "f7.py"]);
    let size: usize = fix.iter().map(|change| change.patch.len() + change.name.len()).sum();
    assert!(size <= MAX_FIX_BYTES, "{size}");
    assert!(!fix[0].patch.is_empty() && fix[4].patch.is_empty());
}

#[test]
fn formatters_fix_formatting() {
    let unformatted = Episode {
        test: None,
        error: "format: Formatter would have printed the following content:".into(),
        ..episode("", 2)
    };
    let edits = [edit(3, "a.ts", &["-a( b )", "+c"])];
    assert_eq!(
        attribute_changes(&unformatted, &Clues::default(), &edits),
        (EpisodeEndingKind::Fixed, vec![])
    );
    let changes = [&edits[..], &[Change::from_command("bun run format", at_second(4))]].concat();
    let (_, fix) = attribute_changes(&unformatted, &Clues::default(), &changes);
    assert_eq!((change_names(&fix), fix[0].is_certain), (vec!["bun run format"], true));
}

/// Returns an open episode of a run of pytest.
fn open_pytest_episode(id: Id, project: ProjectKey, at: Time) -> Episode {
    let selection = TestSelection {
        program: "pytest".into(),
        folder: Clean::default(),
        arguments: Vec::new(),
        stops: false,
        task: None,
        is_partial: false,
        package: None,
    };
    Episode {
        id,
        project,
        root: "/x".into(),
        selection,
        signature: "s".into(),
        test: None,
        error: Clean::default(),
        scope: None,
        file: None,
        is_compile_error: false,
        first: None,
        last: None,
        attempts: 1,
        opened: at,
        seen: at,
        gone: None,
        ending: None,
    }
}
