//! Hunks of a change: the removed and added lines at one place. Also reduces several changes to their net effect.

use std::fmt::Write as _;

use super::command::{GitEffect, git_effect};
use super::patch::KEY_MARK;
use super::section::{enclosing_definition, has_extension, is_definition, is_in_comment};
use super::{Change, ChangeKind, MAX_READ_BYTES};
use crate::command_line::CommandLine;
use rutter_redact::Clean;

/// Start of the line above a hunk: `@@ -12 +14 @@ def total(items):`.
const HEADER: &str = "@@";
/// Start of the line above a hunk that changes only a comment.
const COMMENT_HEADER: &str = "@#";
/// Maximum number of lines of a new file in one hunk.
const MAX_NEW_LINES: usize = 24;

/// The removed and added lines at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hunk {
    /// The first line in the old file, counted from 1; 0 if unknown.
    pub old_line: u32,
    /// The first line in the new file.
    pub new_line: u32,
    /// The definition around it.
    pub section: String,
    /// True if it is inside a comment or a docstring.
    pub in_comment: bool,
    /// Removed lines.
    pub removed: Vec<String>,
    /// Added lines.
    pub added: Vec<String>,
}

impl Hunk {
    /// Parses the lines of a diff: `-` is removed, `+` is added, anything else is context. `old` and `new` are the
    /// numbers of the first line.
    pub fn parse<'a>(lines: impl Iterator<Item = &'a str>, old: u32, new: u32) -> Vec<Self> {
        let mut hunks = Vec::new();
        let mut hunk = Self::default();
        let (mut old, mut new) = (old, new);
        for line in lines {
            let sign = line.as_bytes().first();
            if matches!(sign, Some(b'-' | b'+')) && hunk.is_empty() {
                (hunk.old_line, hunk.new_line) = (old, new);
            }
            match sign {
                Some(b'-') => {
                    // A removed line after an added one begins another hunk.
                    if !hunk.added.is_empty() {
                        hunks.push(std::mem::take(&mut hunk));
                        (hunk.old_line, hunk.new_line) = (old, new);
                    }
                    hunk.removed.push(line[1..].to_owned());
                    old = old.saturating_add(1);
                }
                Some(b'+') => {
                    hunk.added.push(line[1..].to_owned());
                    new = new.saturating_add(1);
                }
                // `\ No newline at end of file`
                Some(b'\\') => {}
                _ => {
                    if !hunk.is_empty() {
                        hunks.push(std::mem::take(&mut hunk));
                    }
                    (old, new) = (old.saturating_add(1), new.saturating_add(1));
                }
            }
        }
        if !hunk.is_empty() {
            hunks.push(hunk);
        }
        hunks
    }

    /// Computes the hunks between two versions of a text.
    pub fn diff(old: &str, new: &str) -> Vec<Self> {
        let diff = similar::TextDiff::from_lines(old, new);
        let mut hunks: Vec<Self> = Vec::new();
        for op in diff.ops().iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
            let lines = |slices: &[&str]| {
                slices.iter().map(|line| line.trim_end_matches(['\n', '\r']).to_owned()).collect()
            };
            let number = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
            hunks.push(Self {
                old_line: number(op.old_range().start),
                new_line: number(op.new_range().start),
                removed: lines(&diff.old_slices()[op.old_range()]),
                added: lines(&diff.new_slices()[op.new_range()]),
                ..Self::default()
            });
        }
        hunks
    }

    /// Splits a new file into hunks that begin at definitions.
    pub fn new_file(content: &str) -> Vec<Self> {
        let mut hunks: Vec<Self> = Vec::new();
        for (at, line) in content.lines().enumerate() {
            let full = hunks.last().is_none_or(|hunk| hunk.added.len() >= MAX_NEW_LINES);
            let begins = !line.starts_with(char::is_whitespace) && is_definition(line);
            if full || begins {
                let new_line = u32::try_from(at + 1).unwrap_or(u32::MAX);
                hunks.push(Self { new_line, ..Self::default() });
            }
            if let Some(hunk) = hunks.last_mut() {
                hunk.added.push(line.to_owned());
            }
        }
        hunks
    }

    /// Sets the definition around the hunk, and the flag for comments. `text` is the old file if `is_old`, else the new
    /// one.
    #[must_use]
    pub fn locate(mut self, text: &str, is_old: bool, file: &str) -> Self {
        let line = if is_old { self.old_line } else { self.new_line };
        if line > 0 {
            // A hunk that only adds lines comes after the line above it.
            let above = if is_old && self.removed.is_empty() {
                line.saturating_sub(1).max(1)
            } else {
                line
            };
            self.section = enclosing_definition(text, above).unwrap_or_default();
            self.in_comment = is_in_comment(text, line, file);
        }
        self
    }

    fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn changes_nothing(&self) -> bool {
        self.removed == self.added
    }

    /// Returns every removed or added line.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.removed.iter().chain(&self.added).map(String::as_str)
    }

    /// Returns true if only whitespace differs. In languages with significant indentation, indentation counts as a
    /// change.
    pub fn only_formats(&self, file: &str) -> bool {
        const INDENTED_LANGUAGES: &[&str] = &[
            ".py", ".yml", ".yaml", ".mk", "akefile", ".txt", ".md", ".snap", ".haml", ".slim",
            ".pug", ".sass", ".coffee", ".nim", ".fs", ".hs", ".csv", ".tsv",
        ];
        let meaning = INDENTED_LANGUAGES.iter().any(|end| file.ends_with(end));
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

    /// Returns true if it changes only comments, imports, blank lines, debug output or a version number.
    pub fn is_trivial(&self, file: &str) -> bool {
        self.in_comment
            || self.only_formats(file)
            || self.lines().any(|line| line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> "))
            || self.lines().all(|line| {
                is_comment(line, file)
                    || is_import(line)
                    || is_version(line)
                    || is_debug_output(line)
                    || line.trim().is_empty()
            })
    }

    /// Returns true if it changes only comments.
    pub fn only_comments(&self, file: &str) -> bool {
        self.in_comment || self.lines().all(|line| line.trim().is_empty() || is_comment(line, file))
    }

    /// Returns true if it changes only imports.
    pub fn only_imports(&self) -> bool {
        let mut lines = self.lines().filter(|line| !line.trim().is_empty()).peekable();
        lines.peek().is_some() && lines.all(is_import)
    }

    fn size(&self) -> usize {
        self.lines().map(|line| line.len() + 2).sum()
    }
}

/// Returns true if a file does not contain code: documents, lock files, notes.
pub fn is_trivial_file(file: &str) -> bool {
    let last = file.rsplit('/').next().unwrap_or(file);
    has_extension(last, &["md", "rst", "lock", "patch", "diff", "log", "adoc", "gitignore"])
        || last.ends_with("-lock.json")
        || last.ends_with("-lock.yaml")
        || last == "go.sum"
        || last.starts_with("LICENSE")
        || last.starts_with("CHANGELOG")
}

fn is_comment(line: &str, file: &str) -> bool {
    let line = line.trim();
    if is_directive(line) {
        return false;
    }
    let hash = has_extension(
        file,
        &["py", "pyi", "sh", "rb", "yml", "yaml", "toml", "pl", "r", "ex", "exs", "mk"],
    ) || file.ends_with("akefile");
    (hash && line.starts_with('#') && !line.starts_with("#!"))
        || line.starts_with("//")
        || line.strip_prefix("/*").is_some_and(|rest| {
            // Code may follow the comment.
            rest.split_once("*/").is_none_or(|(_, behind)| behind.trim().is_empty())
        })
        || line
            .strip_prefix("* ")
            .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_alphabetic() || sign == '@'))
        || line == "*"
        || line == "*/"
        || line.starts_with("<!--")
        || (line.starts_with("--") && has_extension(file, &["sql", "lua", "hs", "elm"]))
        || (has_extension(file, &["py", "pyi"]) && is_docstring_line(line))
}

/// Returns true if a comment is a directive for a tool.
fn is_directive(line: &str) -> bool {
    const DIRECTIVES: &[&str] = &[
        "noqa",
        "type: ignore",
        "pylint:",
        "eslint-",
        "@ts-",
        "nolint",
        "prettier-ignore",
        "biome-ignore",
        "fmt: ",
        "go:build",
        "+build",
        "pragma",
        "rubocop:",
        "shellcheck ",
        "SAFETY:",
        "istanbul ",
        "c8 ",
        "v8 ignore",
        "#nosec",
    ];
    DIRECTIVES.iter().any(|directive| line.contains(directive))
}

/// Returns true for a one-line docstring, or its first or last line.
fn is_docstring_line(line: &str) -> bool {
    ["\"\"\"", "'''"].iter().any(|quote| line.starts_with(quote) || line == *quote)
}

fn is_import(line: &str) -> bool {
    let line = line.trim();
    let begins = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    begins(&["import ", "from ", "use ", "pub use ", "#include ", "using ", "require(", "require ", "require_relative ", "package ", "export * from ", "mod "])
        || (line.contains("require(") && begins(&["const ", "let ", "var "]))
        // A line of an import over several lines.
        || (line.len() < 80 && line.ends_with(',') && line.trim_end_matches(',').chars().all(|sign| sign.is_alphanumeric() || sign == '_'))
        || matches!(line, ")" | "} from" )
        || line.starts_with("} from ")
        || (line.starts_with('"') && line.ends_with('"') && line.contains('/') && !line.contains(' '))
}

fn is_version(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.contains("version")
        && line.bytes().any(|byte| byte.is_ascii_digit())
        && !line.contains('(')
}

fn is_debug_output(line: &str) -> bool {
    let line = line.trim();
    [
        "print(",
        "println!(",
        "eprintln!(",
        "dbg!(",
        "console.log(",
        "console.error(",
        "fmt.Println(",
        "fmt.Printf(",
        "t.Log",
        "puts ",
        "debugger",
    ]
    .iter()
    .any(|call| line.starts_with(call))
}

/// Writes hunks as redacted text of at most `size` bytes; the last line counts the omitted lines.
///
/// Redacts the lines without their `-` and `+` signs, which would hide a private key of several lines from redaction.
pub(super) fn write_hunks(hunks: &[Hunk], size: usize) -> Clean {
    let (mut lines, mut read) = (Vec::new(), 0);
    for hunk in hunks {
        read += hunk.size();
        if read > MAX_READ_BYTES {
            break;
        }
        let header = if hunk.in_comment { COMMENT_HEADER } else { HEADER };
        let mut above = header.to_owned();
        if hunk.old_line > 0 || hunk.new_line > 0 {
            let _ = write!(above, " -{} +{} {HEADER}", hunk.old_line, hunk.new_line);
            if !hunk.section.is_empty() {
                let _ = write!(above, " {}", Clean::new(&hunk.section).as_str());
            }
        }
        lines.push(above);
        for (sign, part) in [('-', &hunk.removed), ('+', &hunk.added)] {
            let clean = Clean::new(&part.join("\n"));
            if !part.is_empty() {
                lines.extend(clean.split('\n').map(|line| format!("{sign}{line}")));
            }
        }
    }
    // A key of many lines becomes one placeholder.
    lines.dedup_by(|line, before| line == before && line.ends_with(KEY_MARK));
    let is_line = |line: &&String| !line.starts_with('@');
    let total: usize = hunks.iter().map(|hunk| hunk.removed.len() + hunk.added.len()).sum();
    let mut text = String::new();
    let mut kept = 0;
    for line in &lines {
        // Leaves room for the last line.
        if text.len() + line.len() + 40 > size {
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        kept += usize::from(is_line(&line));
    }
    if kept < total && (kept < lines.iter().filter(is_line).count() || read > MAX_READ_BYTES) {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "… {} more lines", total - kept);
    }
    Clean::new(&text)
}

/// Parses hunks from a text of [`write_hunks`], including older texts without line numbers.
pub(super) fn read_hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut rest = patch;
    while !rest.is_empty() {
        let header = rest.starts_with('@').then(|| rest.split_once('\n').unwrap_or((rest, "")));
        let (header, body) = header.map_or(("", rest), |(header, body)| (header, body));
        let end = body
            .match_indices('\n')
            .find(|(at, _)| body[at + 1..].starts_with('@'))
            .map_or(body.len(), |(at, _)| at);
        let (mine, next) = body.split_at(end);
        let mut numbers = header.split(' ').filter_map(|word| {
            word.strip_prefix(['-', '+']).and_then(|number| number.parse().ok())
        });
        let (old, new) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        let section = header
            .get(2..)
            .and_then(|rest| rest.split_once("@@ "))
            .map_or("", |(_, section)| section);
        for mut hunk in Hunk::parse(mine.lines(), old, new) {
            section.clone_into(&mut hunk.section);
            hunk.in_comment = header.starts_with(COMMENT_HEADER);
            hunks.push(hunk);
        }
        rest = next.strip_prefix('\n').unwrap_or(next);
    }
    hunks
}

/// Returns the changes, oldest first, that are still in the working tree: without those that git has stashed or
/// reverted since. The git commands stay, because they may have made a failing test pass.
pub fn changes_in_tree(changes: &[Change]) -> Vec<Change> {
    let (mut there, mut away) = (Vec::<Change>::new(), Vec::new());
    for change in changes {
        let git = match change.kind {
            ChangeKind::Command => git_effect(&CommandLine::parse(&change.name)),
            ChangeKind::Edit | ChangeKind::Invocation => None,
        };
        // Observed edits of the command describe its effect better.
        let is_seen = changes
            .iter()
            .any(|other| other.made_by.as_ref() == Some(&change.name) && other.at == change.at);
        match git {
            None => {}
            Some(_) if is_seen => {}
            Some(GitEffect::Stashes) => away.append(&mut there),
            Some(GitEffect::Unstashes) => {
                away.append(&mut there);
                there = std::mem::take(&mut away);
            }
            Some(GitEffect::RevertsAll) => there.clear(),
            // A path may be typed relative to a subfolder.
            Some(GitEffect::Reverts(files)) => there.retain(|earlier| {
                let name = earlier.name.as_str();
                !files.iter().any(|file| {
                    let folder = format!("{file}/");
                    name == file || name.starts_with(&folder) || name.ends_with(&format!("/{file}"))
                })
            }),
        }
        there.push(change.clone());
    }
    there
}

/// Reduces changes, oldest first, to their net effect: removes changes that cancel each other, and joins changes that
/// continue each other.
pub fn net_changes(changes: &[Change]) -> Vec<Change> {
    // Each hunk with the index of its change.
    let mut kept: Vec<(usize, Hunk)> = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        for hunk in change.hunks() {
            let same_file = |earlier: usize| changes[earlier].name == change.name;
            let continued = kept.iter().rposition(|(earlier, other)| {
                same_file(*earlier)
                    && !hunk.removed.is_empty()
                    && find_lines(&other.added, &hunk.removed).is_some()
            });
            if let Some(at) = continued {
                let (_, earlier) = kept.remove(at);
                let joined = continue_hunk(earlier, hunk);
                if !joined.changes_nothing() && !joined.is_empty() {
                    kept.push((number, joined));
                }
                continue;
            }
            // Lines that restore an earlier deletion.
            let restored = kept.iter().rposition(|(earlier, other)| {
                same_file(*earlier)
                    && hunk.removed.is_empty()
                    && other.added.is_empty()
                    && other.removed == hunk.added
            });
            match restored {
                Some(at) => drop(kept.remove(at)),
                None => kept.push((number, hunk)),
            }
        }
    }
    let mut left = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        let hunks: Vec<Hunk> =
            kept.iter().filter(|(of, _)| *of == number).map(|(_, hunk)| hunk.clone()).collect();
        match change.kind {
            ChangeKind::Command | ChangeKind::Invocation => left.push(change.clone()),
            // A change without stored hunks (too long) stays, as it may not have been undone.
            ChangeKind::Edit if hunks.is_empty() && !change.hunks().is_empty() => {}
            ChangeKind::Edit if hunks == change.hunks() => left.push(change.clone()),
            ChangeKind::Edit => left.push(change.with_hunks(&hunks)),
        }
    }
    left
}

/// Returns the position of consecutive lines among others.
fn find_lines(lines: &[String], part: &[String]) -> Option<usize> {
    if part.is_empty() || part.len() > lines.len() {
        return None;
    }
    lines.windows(part.len()).position(|window| window == part)
}

/// Joins a hunk with one that continues it: replaces the lines that the later one removed again.
fn continue_hunk(earlier: Hunk, later: Hunk) -> Hunk {
    let Some(at) = find_lines(&earlier.added, &later.removed) else { return later };
    let mut added = earlier.added;
    added.splice(at..at + later.removed.len(), later.added);
    let section = if later.section.is_empty() { earlier.section } else { later.section };
    without_equal_ends(Hunk { section, added, ..earlier })
}

/// Removes equal lines at the start and end of the removed and added lines.
fn without_equal_ends(mut hunk: Hunk) -> Hunk {
    let equal = |(one, other): &(&String, &String)| one == other;
    let start = hunk.removed.iter().zip(&hunk.added).take_while(equal).count();
    hunk.removed.drain(..start);
    hunk.added.drain(..start);
    let lines = u32::try_from(start).unwrap_or(u32::MAX);
    hunk.old_line = hunk.old_line.saturating_add(lines);
    hunk.new_line = hunk.new_line.saturating_add(lines);
    let end = hunk.removed.iter().rev().zip(hunk.added.iter().rev()).take_while(equal).count();
    hunk.removed.truncate(hunk.removed.len() - end);
    hunk.added.truncate(hunk.added.len() - end);
    hunk
}

#[cfg(test)]
mod tests;
