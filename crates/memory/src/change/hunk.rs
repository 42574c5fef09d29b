//! Lines that went and lines that came, and what is left of several changes once those that undo each other are gone.

use std::fmt::Write as _;

use super::command::{Undoing, undoing};
use super::{Change, READ, Sort};
use crate::Clean;

/// What parts two hunks in a text.
const PART: &str = "@@";

/// One place of a change.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// Lines that went.
    pub removed: Vec<String>,
    /// Lines that came.
    pub added: Vec<String>,
}

impl Hunk {
    /// From the lines of a diff: `-` went, `+` came, anything else stands around.
    pub fn of<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Self> {
        let mut hunks = Vec::new();
        let mut hunk = Self::default();
        for line in lines {
            match line.as_bytes().first() {
                Some(b'-') => {
                    // What goes after something came is another place.
                    if !hunk.added.is_empty() {
                        hunks.push(std::mem::take(&mut hunk));
                    }
                    hunk.removed.push(line[1..].to_owned());
                }
                Some(b'+') => hunk.added.push(line[1..].to_owned()),
                // `\ No newline at end of file`
                Some(b'\\') => {}
                _ if hunk.is_empty() => {}
                _ => hunks.push(std::mem::take(&mut hunk)),
            }
        }
        if !hunk.is_empty() {
            hunks.push(hunk);
        }
        hunks
    }

    /// A text in place of another.
    pub fn replaced(old: &str, new: &str) -> Self {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        Self { removed: lines(old), added: lines(new) }
    }

    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn changes_nothing(&self) -> bool {
        self.removed == self.added
    }

    /// Whether nothing but blanks is different. Where a line is set in by them, they mean something.
    pub(super) fn only_formats(&self, file: &str) -> bool {
        const MEANING: &[&str] = &[
            ".py", ".yml", ".yaml", ".mk", "akefile", ".txt", ".md", ".snap", ".haml", ".slim",
            ".pug", ".sass", ".coffee", ".nim", ".fs", ".hs", ".csv", ".tsv",
        ];
        let meaning = MEANING.iter().any(|end| file.ends_with(end));
        let without = |lines: &[String]| -> String {
            let kept: Vec<String> = lines
                .iter()
                .map(|line| {
                    let line = line.trim_end();
                    if meaning { format!("{line}\n") } else { line.split_whitespace().collect() }
                })
                .filter(|line| !line.trim().is_empty())
                .collect();
            kept.concat()
        };
        without(&self.removed) == without(&self.added)
    }

    fn size(&self) -> usize {
        self.removed.iter().chain(&self.added).map(|line| line.len() + 2).sum()
    }
}

/// Hunks as text, without secrets, at most `size` bytes; what had to be left out is said in the last line.
///
/// Secrets are looked for in the lines as they stood in the file: with signs before them, a key over several lines
/// would be none.
pub(super) fn written(hunks: &[Hunk], size: usize) -> Clean {
    let (mut lines, mut read) = (Vec::new(), 0);
    for hunk in hunks {
        read += hunk.size();
        if read > READ {
            break;
        }
        if !lines.is_empty() {
            lines.push(PART.to_owned());
        }
        for (sign, part) in [('-', &hunk.removed), ('+', &hunk.added)] {
            let clean = Clean::new(&part.join("\n"));
            if !part.is_empty() {
                lines.extend(clean.split('\n').map(|line| format!("{sign}{line}")));
            }
        }
    }
    let total: usize = hunks.iter().map(|hunk| hunk.removed.len() + hunk.added.len()).sum();
    let mut text = String::new();
    let mut kept = 0;
    for line in &lines {
        // Room for the last line.
        if text.len() + line.len() + 40 > size {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        kept += usize::from(line != PART);
    }
    if kept < total && (kept < lines.iter().filter(|line| *line != PART).count() || read > READ) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "… {} more lines", total - kept);
    }
    Clean::new(&text)
}

/// Hunks out of a text that [`written`] made.
pub(super) fn read(patch: &str) -> Vec<Hunk> {
    if patch.is_empty() { Vec::new() } else { Hunk::of(patch.lines()) }
}

/// The changes, oldest first, that are in the tree after all of them: not what git has put away or taken back since, and
/// not the commands that did so.
pub(crate) fn in_tree(changes: &[Change]) -> Vec<Change> {
    let (mut there, mut away) = (Vec::<Change>::new(), Vec::new());
    for change in changes {
        let git = match change.sort {
            Sort::Command => undoing(&change.name),
            Sort::Edit => None,
        };
        match git {
            None => there.push(change.clone()),
            Some(Undoing::PutsAway) => away.append(&mut there),
            Some(Undoing::BringsBack) => {
                away.append(&mut there);
                there = std::mem::take(&mut away);
            }
            Some(Undoing::TakesAll) => there.clear(),
            // A path may be told from a folder inside.
            Some(Undoing::Takes(files)) => there.retain(|earlier| {
                let name = earlier.name.as_str();
                !files.iter().any(|file| {
                    let folder = format!("{file}/");
                    name == file || name.starts_with(&folder) || name.ends_with(&format!("/{file}"))
                })
            }),
        }
    }
    there
}

/// What is left of changes, oldest first, once those that undo each other are taken out and those that go on where
/// another ended are one. A change goes where its last part was made.
pub fn net(changes: &[Change]) -> Vec<Change> {
    // Which change a hunk belongs to, and the hunk.
    let mut kept: Vec<(usize, Hunk)> = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        for hunk in change.hunks() {
            let before = kept.iter().rposition(|(earlier, other)| {
                changes[*earlier].name == change.name
                    && !hunk.removed.is_empty()
                    && other.added == hunk.removed
            });
            match before {
                Some(at) => {
                    let (_, earlier) = kept.remove(at);
                    let joined = Hunk { removed: earlier.removed, added: hunk.added };
                    if !joined.changes_nothing() && !joined.is_empty() {
                        kept.push((number, joined));
                    }
                }
                // Lines that come back where others only went.
                None => match kept.iter().rposition(|(earlier, other)| {
                    changes[*earlier].name == change.name
                        && hunk.removed.is_empty()
                        && other.added.is_empty()
                        && other.removed == hunk.added
                }) {
                    Some(at) => drop(kept.remove(at)),
                    None => kept.push((number, hunk)),
                },
            }
        }
    }
    let mut left = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        let hunks: Vec<Hunk> =
            kept.iter().filter(|(of, _)| *of == number).map(|(_, hunk)| hunk.clone()).collect();
        match change.sort {
            Sort::Command => left.push(change.clone()),
            // Of what was too long to be kept nobody can say that it was undone.
            Sort::Edit if hunks.is_empty() && !change.hunks().is_empty() => {}
            Sort::Edit if hunks == change.hunks() => left.push(change.clone()),
            Sort::Edit => left.push(change.with(&hunks)),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    fn edit(second: i64, file: &str, diff: &[&str]) -> Change {
        Change::edit(file, &Hunk::of(diff.iter().copied()), Time::from_millis(second * 1_000))
    }

    fn shown(changes: &[Change]) -> Vec<String> {
        changes
            .iter()
            .map(|change| format!("{} {}", change.name, change.patch.replace('\n', " ")))
            .collect()
    }

    #[test]
    fn a_diff_is_its_changed_lines() {
        let change =
            edit(1, "a.py", &[" x", "-old", "+new", " y", "+more", "\\ No newline at end of file"]);
        assert_eq!(change.patch.as_str(), "-old\n+new\n@@\n+more");
        assert_eq!(
            change.hunks(),
            [
                Hunk { removed: vec!["old".into()], added: vec!["new".into()] },
                Hunk { removed: vec![], added: vec!["more".into()] }
            ]
        );
        assert_eq!(
            edit(1, "a.py", &["-- a list item", "+- another"]).patch.as_str(),
            "-- a list item\n+- another"
        );
    }

    #[test]
    fn what_was_undone_is_gone_and_what_went_on_is_one() {
        let wrong = edit(1, "a.py", &["-a", "+b"]);
        let undone = edit(2, "a.py", &["-b", "+a"]);
        let right = edit(3, "b.py", &["-c", "+d"]);
        assert_eq!(shown(&net(&[wrong.clone(), undone, right.clone()])), ["b.py -c +d"]);
        let further = edit(2, "a.py", &["-b", "+e"]);
        assert_eq!(
            shown(&net(&[wrong.clone(), right.clone(), further])),
            ["b.py -c +d", "a.py -a +e"]
        );
        // Another file's lines undo nothing.
        let elsewhere = edit(2, "b.py", &["-b", "+a"]);
        assert_eq!(net(&[wrong, elsewhere]).len(), 2);
        let (came, went) = (edit(1, "a.py", &["+print"]), edit(2, "a.py", &["-print"]));
        assert_eq!(net(&[came.clone(), went.clone()]), []);
        assert_eq!(net(&[went, came]), []);
        let command = Change::command("git stash", Time::from_millis(0));
        assert_eq!(net(std::slice::from_ref(&command)), [command]);
    }

    #[test]
    fn what_git_took_back_is_not_in_the_tree() {
        let run = |line: &str| Change::command(line, Time::from_millis(0));
        let (a, b) = (edit(1, "src/a.rs", &["-a", "+b"]), edit(2, "src/b.rs", &["-c", "+d"]));
        let left = |commands: &[&str]| {
            let mut all = vec![a.clone(), b.clone()];
            all.extend(commands.iter().map(|line| run(line)));
            shown(&in_tree(&all))
        };
        assert_eq!(left(&["git stash"]), [] as [&str; 0]);
        assert_eq!(left(&["git stash", "git stash pop"]), ["src/a.rs -a +b", "src/b.rs -c +d"]);
        assert_eq!(left(&["git checkout main"]), [] as [&str; 0]);
        assert_eq!(left(&["git checkout -- src/b.rs"]), ["src/a.rs -a +b"]);
        assert_eq!(left(&["cd src && git restore a.rs"]), ["src/b.rs -c +d"]);
        assert_eq!(left(&["git restore src"]), [] as [&str; 0]);
        assert_eq!(left(&["npm ci"]).len(), 3);
    }

    #[test]
    fn what_was_too_long_to_be_kept_still_happened() {
        let change = edit(1, "a.min.js", &[&format!("+{}", "x".repeat(3_000))]);
        assert_eq!(net(std::slice::from_ref(&change)), [change]);
    }

    #[test]
    fn blanks_mean_something_in_some_files() {
        let formats = |file: &str, diff: &[&str]| edit(1, file, diff).only_formats();
        assert!(formats("a.rs", &["-f(a,b)", "+f(a,", "+  b)"]));
        assert!(formats("a.py", &["+", "-x = 1  ", "+x = 1"]));
        assert!(!formats("a.py", &["-x = 1", "+    x = 1"]));
        assert!(!formats("a.rs", &["-f(a,b)", "+f(b,a)"]));
        assert!(!formats("a.min.js", &[&format!("+{}", "x".repeat(3_000))]));
    }

    #[test]
    fn a_long_change_is_cut_at_a_line_and_says_so() {
        let lines: Vec<String> = (0..500).map(|number| format!("+line {number}")).collect();
        let change = edit(1, "a.py", &lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(change.patch.len() <= super::super::SIZE, "{}", change.patch.len());
        let kept = change.patch.lines().count() - 1;
        assert!(
            change.patch.ends_with(&format!("\n… {} more lines", 500 - kept)),
            "{}",
            change.patch
        );
        let one = format!("+{}", "x ".repeat(200_000));
        let change = edit(1, "a.py", &[&one]);
        assert_eq!(change.patch.as_str(), "… 1 more lines");
    }

    #[test]
    fn secrets_do_not_come_along() {
        let key = [
            "-----BEGIN RSA PRIVATE KEY-----",
            "MIIEowIBAAKCAQEA7bq",
            "-----END RSA PRIVATE KEY-----",
        ];
        let diff: Vec<String> = key.iter().map(|line| format!("+{line}")).collect();
        let change = edit(1, "key.pem", &diff.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!change.patch.contains("MIIEow"), "{}", change.patch);
        let change = edit(
            1,
            ".env",
            &["-API_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789", "+API_TOKEN="],
        );
        assert!(!change.patch.contains("ghp_abc"), "{}", change.patch);
        let change = Change::command(
            "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789' https://x\necho",
            Time::from_millis(0),
        );
        assert!(!change.name.contains("abcdefgh") && change.name.ends_with('…'), "{}", change.name);
    }
}
