use super::*;
use crate::Time;

fn edit_change(second: i64, file: &str, diff: &[&str]) -> Change {
    Change::from_edit(
        file,
        &Hunk::parse(diff.iter().copied(), 0, 0),
        Time::from_millis(second * 1_000),
    )
}

fn shown_changes(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|change| {
            format!("{} {}", change.name, change.patch.replace("@@\n", "").replace('\n', " "))
        })
        .collect()
}

#[test]
fn diff_has_only_changed_lines() {
    let change = edit_change(
        1,
        "a.py",
        &[" x", "-old", "+new", " y", "+more", "\\ No newline at end of file"],
    );
    assert_eq!(change.patch.as_str(), "@@ -1 +1 @@\n-old\n+new\n@@ -3 +3 @@\n+more");
    assert_eq!(
        change.hunks(),
        [
            Hunk {
                old_line: 1,
                new_line: 1,
                removed: vec!["old".into()],
                added: vec!["new".into()],
                ..Hunk::default()
            },
            Hunk {
                old_line: 3,
                new_line: 3,
                removed: vec![],
                added: vec!["more".into()],
                ..Hunk::default()
            }
        ]
    );
    assert_eq!(
        edit_change(1, "a.py", &["-- a list item", "+- another"]).patch.as_str(),
        "@@\n-- a list item\n+- another"
    );
}

#[test]
fn net_changes_cancel_and_join() {
    let wrong = edit_change(1, "a.py", &["-a", "+b"]);
    let undone = edit_change(2, "a.py", &["-b", "+a"]);
    let right = edit_change(3, "b.py", &["-c", "+d"]);
    assert_eq!(
        shown_changes(&net_changes(&[wrong.clone(), undone, right.clone()])),
        ["b.py -c +d"]
    );
    let further = edit_change(2, "a.py", &["-b", "+e"]);
    assert_eq!(
        shown_changes(&net_changes(&[wrong.clone(), right.clone(), further])),
        ["b.py -c +d", "a.py -a +e"]
    );
    // Lines of another file do not undo a change.
    let elsewhere = edit_change(2, "b.py", &["-b", "+a"]);
    assert_eq!(net_changes(&[wrong, elsewhere]).len(), 2);
    let (came, went) = (edit_change(1, "a.py", &["+print"]), edit_change(2, "a.py", &["-print"]));
    assert_eq!(net_changes(&[came.clone(), went.clone()]), []);
    assert_eq!(net_changes(&[went, came]), []);
    let command = Change::from_command("git stash", Time::from_millis(0));
    assert_eq!(net_changes(std::slice::from_ref(&command)), [command]);
}

#[test]
fn git_reverts_leave_the_tree() {
    let run = |line: &str| Change::from_command(line, Time::from_millis(0));
    let (a, b) =
        (edit_change(1, "src/a.rs", &["-a", "+b"]), edit_change(2, "src/b.rs", &["-c", "+d"]));
    let left = |commands: &[&str]| {
        let mut all = vec![a.clone(), b.clone()];
        all.extend(commands.iter().map(|line| run(line)));
        let edits: Vec<Change> = changes_in_tree(&all)
            .into_iter()
            .filter(|change| change.kind == ChangeKind::Edit)
            .collect();
        shown_changes(&edits)
    };
    assert_eq!(left(&["git stash"]), [] as [&str; 0]);
    assert_eq!(left(&["git stash", "git stash pop"]), ["src/a.rs -a +b", "src/b.rs -c +d"]);
    assert_eq!(left(&["git checkout main"]), [] as [&str; 0]);
    assert_eq!(left(&["git checkout -- src/b.rs"]), ["src/a.rs -a +b"]);
    assert_eq!(left(&["cd src && git restore a.rs"]), ["src/b.rs -c +d"]);
    assert_eq!(left(&["git restore src"]), [] as [&str; 0]);
    assert_eq!(left(&["npm ci"]).len(), 2);
}

#[test]
fn oversized_change_is_kept() {
    let change = edit_change(1, "a.min.js", &[&format!("+{}", "x".repeat(3_000))]);
    assert_eq!(net_changes(std::slice::from_ref(&change)), [change]);
}

#[test]
fn indentation_matters_in_some_languages() {
    let formats = |file: &str, diff: &[&str]| edit_change(1, file, diff).only_formats();
    assert!(formats("a.rs", &["-f(a,b)", "+f(a,", "+  b)"]));
    assert!(formats("a.py", &["+", "-x = 1  ", "+x = 1"]));
    assert!(!formats("a.py", &["-x = 1", "+    x = 1"]));
    assert!(!formats("a.rs", &["-f(a,b)", "+f(b,a)"]));
    assert!(!formats("a.min.js", &[&format!("+{}", "x".repeat(3_000))]));
}

#[test]
fn long_change_is_cut_at_line() {
    let lines: Vec<String> = (0..1_500).map(|number| format!("+line {number}")).collect();
    let change = edit_change(1, "a.py", &lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(change.patch.len() <= super::super::MAX_CHANGE_BYTES, "{}", change.patch.len());
    let kept = change.patch.lines().count() - 2;
    assert!(
        change.patch.ends_with(&format!("\n… {} more lines", 1_500 - kept)),
        "{}",
        change.patch
    );
    let one = format!("+{}", "x ".repeat(200_000));
    let change = edit_change(1, "a.py", &[&one]);
    assert_eq!(change.patch.as_str(), "… 1 more lines");
}

#[test]
fn secrets_are_redacted() {
    let key =
        ["-----BEGIN RSA PRIVATE KEY-----", "MIIEowIBAAKCAQEA7bq", "-----END RSA PRIVATE KEY-----"];
    let diff: Vec<String> = key.iter().map(|line| format!("+{line}")).collect();
    let change = edit_change(1, "key.pem", &diff.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(!change.patch.contains("MIIEow"), "{}", change.patch);
    let change = edit_change(
        1,
        ".env",
        &["-API_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "+API_TOKEN="],
    );
    assert!(!change.patch.contains("ghp_abc"), "{}", change.patch);
    let change = Change::from_command(
        "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789' https://x\necho",
        Time::from_millis(0),
    );
    assert!(!change.name.contains("abcdefgh") && change.name.ends_with('…'), "{}", change.name);
}

#[test]
fn later_edits_continue_earlier_ones() {
    let first = edit_change(1, "a.py", &["-old", "+one", "+two", "+three"]);
    let second = edit_change(2, "a.py", &["-two", "+TWO"]);
    assert_eq!(shown_changes(&net_changes(&[first, second])), ["a.py -old +one +TWO +three"]);
}

#[test]
fn hunks_survive_writing() {
    let text = "class Cart:\n    def total(self):\n        return 1\n";
    let hunks: Vec<Hunk> = Hunk::parse(
        ["         return 0", "-        return 1", "+        return 2"].into_iter(),
        2,
        2,
    )
    .into_iter()
    .map(|hunk| hunk.locate(text, true, "a.py"))
    .collect();
    let change = Change::from_edit("a.py", &hunks, Time::from_millis(0));
    assert_eq!(
        change.patch.as_str(),
        "@@ -3 +3 @@ def total(self):\n-        return 1\n+        return 2"
    );
    assert_eq!(change.hunks(), hunks);
    let comment = Hunk { in_comment: true, added: vec!["x".into()], ..Hunk::default() };
    let change = Change::from_edit("a.py", std::slice::from_ref(&comment), Time::from_millis(0));
    assert_eq!(change.hunks(), [comment]);
}

#[test]
fn new_files_are_cut_at_definitions() {
    let hunks = Hunk::new_file("import os\n\ndef a():\n    pass\n\ndef b():\n    pass\n");
    let lines: Vec<u32> = hunks.iter().map(|hunk| hunk.new_line).collect();
    assert_eq!(lines, [1, 3, 6]);
}

#[test]
fn trivial_hunks() {
    let is_trivial = |file: &str, diff: &[&str]| {
        Hunk::parse(diff.iter().copied(), 1, 1).iter().all(|hunk| hunk.is_trivial(file))
    };
    for (file, diff) in [
        ("a.py", &["-# old", "+# new"][..]),
        ("a.rs", &["+// words"]),
        ("a.py", &["+import json", "+from x import y"]),
        ("a.ts", &["-import { a } from './a';", "+import { a, b } from './a';"]),
        ("a.py", &["-__version__ = \"1.2\"", "+__version__ = \"1.3\""]),
        ("a.py", &["+    print(total)"]),
        ("a.go", &["-x:=1", "+x := 1"]),
        ("a.py", &["-    \"\"\"Adds.\"\"\"", "+    \"\"\"Adds up.\"\"\""]),
    ] {
        assert!(is_trivial(file, diff), "{diff:?}");
    }
    for (file, diff) in [
        ("a.py", &["-    return 1", "+    return 2"][..]),
        ("a.rs", &["+#[derive(Debug)]"]),
        ("a.c", &["+#define MAX 3"]),
        ("a.py", &["+import json", "+x = json.loads(t)"]),
    ] {
        assert!(!is_trivial(file, diff), "{diff:?}");
    }
}

#[test]
fn differences_between_texts() {
    let hunks = Hunk::diff("a\nb\nc\n", "a\nB\nc\nd\n");
    assert_eq!(hunks.len(), 2);
    assert_eq!(
        (hunks[0].old_line, &hunks[0].removed[0], &hunks[0].added[0]),
        (2, &"b".to_owned(), &"B".to_owned())
    );
    assert_eq!((hunks[1].removed.len(), &hunks[1].added[0]), (0, &"d".to_owned()));
}
