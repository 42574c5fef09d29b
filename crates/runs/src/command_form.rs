//! The form of a command, and the difference between two of them.
//!
//! A form is a simple command without the values that change from call to call: the program with its subcommand, the
//! arguments with masked values, variables, wrappers and folder. The difference between a form that failed and one that
//! worked is only reported if it explains the failure: the error names what was left out, the output proposes what was
//! added, or nothing else changed.

use std::path::Path;

use rutter_redact::{Clean, checksum};
use serde::{Deserialize, Serialize};

use super::command_line::{CommandFolder, CommandLine, ParsedCommand};
use super::place::RunPlace;
use super::shell::Joiner;
use super::table;

mod words;

pub use words::mask_word;
use words::{
    NEUTRAL_WRAPPERS, is_code_program, is_installer, is_query_flag, is_risky_word, is_same_tool,
    quote_word, subcommand_positions, takes_text,
};

/// Maximum number of characters of a rendered command.
const MAX_RENDERED_CHARS: usize = 200;
/// Minimum length of an argument that identifies a command if an error names it.
const MIN_TELLING_CHARS: usize = 5;

/// The form of a simple command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandForm {
    /// The program with its subcommand: `git commit`.
    pub program: String,
    /// Variables, wrappers and arguments, in this order, with masked values.
    parts: Vec<FormPart>,
    /// The folder, from the root of the checkout if it is inside.
    pub folder: Option<String>,
    /// The command as it can be shown, without long values.
    pub text: String,
}

/// A part of a command beside its program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FormPart {
    kind: PartKind,
    /// The masked text.
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum PartKind {
    /// The program as it was typed: `.venv/bin/ruff`.
    Program,
    Variable,
    Wrapper,
    Flag,
    Plain,
}

/// The difference between a failing command and one that worked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandDifference {
    /// Parts that only the failing command has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Clean>,
    /// Parts that only the working command has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Clean>,
    /// The folder of the working command, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<Clean>,
    /// The command that ran in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Clean>,
}

/// The relation of a working command to a failing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariantRelation {
    /// The same command worked without a visible reason.
    Same,
    /// The difference explains why it worked.
    Explained(CommandDifference),
    /// Another command, or a difference that explains nothing.
    Unclear,
}

/// A failure to which a working command is compared.
#[derive(Debug, Clone, Copy)]
pub struct FailureEvidence<'a> {
    /// The output of the failing command.
    pub output: &'a str,
    /// True if a path was missing: then only another folder explains it.
    pub is_path_missing: bool,
    /// Number of Bash calls since the failure, with the working one.
    pub calls: u32,
}

impl FailureEvidence<'_> {
    /// Returns true if the output says that a module or program is missing.
    fn says_what_lacks(&self) -> bool {
        let lower = self.output.to_lowercase();
        [
            "not found",
            "cannot find",
            "no module",
            "not installed",
            "missing",
            "not trusted",
            "run install",
        ]
        .iter()
        .any(|words| lower.contains(words))
    }
}

/// Maximum number of Bash calls after which a difference that the output does not name still explains a failure.
const MAX_UNNAMED_CALLS: u32 = 4;

impl CommandForm {
    /// Returns the form of a command of a line that was run in a place.
    pub fn new(command: &ParsedCommand, place: &RunPlace<'_>) -> Option<Self> {
        let cwd = place.folder;
        let name = command.words.first().filter(|word| !word.is_empty())?;
        let key = subcommand_positions(&command.words);
        let mut program = command.program().to_owned();
        let mut parts = Vec::new();
        for (name, value) in &command.variables {
            let text = format!("{name}={}", mask_word(value));
            parts.push(FormPart { kind: PartKind::Variable, text });
        }
        let is_neutral =
            command.wrappers.first().is_some_and(|word| NEUTRAL_WRAPPERS.contains(&word.as_str()));
        if let Some(first) = command.wrappers.first() {
            // The seconds of `timeout` do not matter.
            let text = if is_neutral { first.clone() } else { command.wrappers.join(" ") };
            parts.push(FormPart { kind: PartKind::Wrapper, text });
        }
        parts.push(FormPart { kind: PartKind::Program, text: name.clone() });
        for (at, word) in command.words.iter().enumerate().skip(1) {
            if key.contains(&at) {
                program.push(' ');
                program.push_str(word);
                continue;
            }
            let is_flag = word.len() > 1 && word.starts_with('-');
            let kind = if is_flag { PartKind::Flag } else { PartKind::Plain };
            let is_text = !is_flag && takes_text(&command.words[at - 1]);
            let text = if is_text { "…".to_owned() } else { mask_word(word) };
            parts.push(FormPart { kind, text });
        }
        let mut text = String::new();
        for (name, value) in &command.variables {
            text.extend([name, "=", &quote_word(value), " "]);
        }
        let words = if is_neutral { &[][..] } else { &command.wrappers };
        let mut last = "";
        for word in words.iter().chain([name]).chain(&command.words[1..]) {
            // The message of a commit is not a part of the lesson.
            let is_message = takes_text(last) && !matches!(last, "--jq" | "-q");
            text.push_str(&if is_message { "…".to_owned() } else { quote_word(word) });
            text.push(' ');
            last = word;
        }
        text.pop();
        if text.chars().count() > MAX_RENDERED_CHARS {
            text = text.chars().take(MAX_RENDERED_CHARS - 1).collect();
            text.push('…');
        }
        let folder = match &command.folder {
            CommandFolder::Relative(path) if path.is_empty() => Some(cwd.to_owned()),
            // The client may report the folder after the line.
            CommandFolder::Relative(path) if is_below(cwd, path) => Some(cwd.to_owned()),
            CommandFolder::Relative(path) if path.starts_with("..") => None,
            CommandFolder::Relative(path) if cwd.is_empty() => Some(path.clone()),
            CommandFolder::Relative(path) => Some(format!("{cwd}/{path}")),
            CommandFolder::Absolute(path) => {
                let inside = Path::new(path).strip_prefix(place.root).ok().and_then(Path::to_str);
                Some(inside.unwrap_or(path).to_owned())
            }
            CommandFolder::Unknown => None,
        };
        Some(Self { program, parts, folder, text })
    }

    /// Returns a number that stands for the command with masked values. Equal for commands that fail alike.
    pub fn fingerprint(&self) -> u64 {
        let mut text = self.program.clone();
        for part in &self.parts {
            text.push('\u{1f}');
            text.push_str(&part.text);
        }
        text.push('\u{1e}');
        text.push_str(self.folder.as_deref().unwrap_or("?"));
        checksum::fnv1a(text.as_bytes())
    }

    /// Returns true if both run the same program with the same subcommand; `python3` is the same as `python`.
    pub fn has_program(&self, program: &str) -> bool {
        is_same_tool(&self.program, program)
    }

    /// Returns the relation of a working command to this one, which failed. `between` are commands that succeeded in
    /// between, oldest first.
    pub fn compare(
        &self,
        worked: &Self,
        failure: FailureEvidence<'_>,
        between: &[Self],
    ) -> VariantRelation {
        let is_neutral = |group: &PartGroup| {
            group.kind == PartKind::Wrapper
                && NEUTRAL_WRAPPERS.contains(&group.text.as_str())
                && !contains_word(failure.output, &group.text)
        };
        let mut removed = group_parts(&self.parts, &worked.parts);
        let mut added = group_parts(&worked.parts, &self.parts);
        removed.retain(|group| !is_neutral(group));
        added.retain(|group| !is_neutral(group));
        let is_moved = match (&self.folder, &worked.folder) {
            (Some(from), Some(to)) => from != to,
            _ => false,
        };
        let is_equal = removed.is_empty() && added.is_empty();
        if added.iter().any(|group| group.has(is_risky_word) || group.has(is_query_flag)) {
            return VariantRelation::Unclear;
        }
        if failure.is_path_missing {
            return if is_equal && is_moved {
                explained(&[], &[], worked.folder.as_deref())
            } else if is_equal && worked.fingerprint() == self.fingerprint() {
                VariantRelation::Same
            } else {
                VariantRelation::Unclear
            };
        }
        let lacks = failure.says_what_lacks();
        let before = between.iter().rev().filter(|one| one.program != self.program).find(|one| {
            one.is_proposed_by(failure.output) || (is_equal && lacks && is_installer(&one.program))
        });
        if let Some(before) = before {
            return VariantRelation::Explained(CommandDifference {
                before: Some(Clean::new(&before.text)),
                ..CommandDifference::default()
            });
        }
        if is_equal {
            return if is_moved {
                explained(&[], &[], worked.folder.as_deref())
            } else {
                VariantRelation::Same
            };
        }
        if is_moved {
            return VariantRelation::Unclear;
        }
        // The wrapper does not know the program: its arguments do not matter.
        let wrapper = removed.iter().find(|group| group.kind == PartKind::Wrapper);
        if let Some(wrapper) = wrapper
            && !added.iter().any(|group| group.kind == PartKind::Wrapper)
            && self.is_unknown_to_wrapper(failure.output)
        {
            return explained_by(&[wrapper], &[]);
        }
        let named: Vec<&PartGroup> =
            removed.iter().filter(|group| group.is_named_in(failure.output)).collect();
        if !named.is_empty() && named.iter().any(|group| group.kind != PartKind::Plain) {
            // Other arguments may have changed for another purpose.
            let added: &[PartGroup] = if added.len() == 1 { &added } else { &[] };
            return explained_by(&named, &added.iter().collect::<Vec<_>>());
        }
        if let ([old], [new]) = (removed.as_slice(), added.as_slice())
            && old.kind == PartKind::Plain
            && new.kind == PartKind::Plain
        {
            let is_name = |text: &str| !text.contains(['/', '.', ' ', '#', '…']);
            let is_renamed = old.is_named_in(failure.output) && is_name(&old.text);
            if is_renamed || is_same_endpoint(&self.program, &old.text, &new.text) {
                return explained_by(&[old], &[new]);
            }
        }
        let is_proposed =
            |group: &PartGroup| group.kind != PartKind::Plain && group.is_flag_in(failure.output);
        if removed.is_empty() && added.len() <= 2 && added.iter().any(is_proposed) {
            return explained_by(&[], &added.iter().collect::<Vec<_>>());
        }
        if removed.len() + added.len() == 1 && failure.calls <= MAX_UNNAMED_CALLS {
            let Some(group) = removed.first().or(added.first()) else {
                return VariantRelation::Unclear;
            };
            let is_setting = matches!(group.kind, PartKind::Variable | PartKind::Wrapper)
                || (group.kind == PartKind::Flag && !is_code_program(&self.program));
            if is_setting {
                return explained_by(
                    &removed.iter().collect::<Vec<_>>(),
                    &added.iter().collect::<Vec<_>>(),
                );
            }
        }
        VariantRelation::Unclear
    }

    /// Returns true if the output says that the wrapper does not know the program.
    fn is_unknown_to_wrapper(&self, output: &str) -> bool {
        let tool = self.tool();
        ["'", "`", "\""].iter().any(|quote| {
            output.contains(&format!("subcommand {quote}{tool}"))
                || output.contains(&format!("command {quote}{tool}"))
        })
    }

    /// Returns the program without its subcommand.
    fn tool(&self) -> &str {
        self.program.split(' ').next().unwrap_or_default()
    }

    /// Returns true if a difference leaves out the wrapper of this command, and both have the same tool.
    pub fn shares_wrapper(&self, program: &str, difference: &CommandDifference) -> bool {
        let is_wrapper = |text: &Clean| {
            self.parts.iter().any(|part| part.kind == PartKind::Wrapper && part.text == **text)
        };
        program.split(' ').next() == Some(self.tool())
            && difference.added.is_empty()
            && !difference.removed.is_empty()
            && difference.removed.iter().all(is_wrapper)
    }

    /// Returns true if a difference can be applied to this command, which failed: it has the parts to remove, and lacks
    /// a part to add.
    pub fn can_take(&self, difference: &CommandDifference) -> bool {
        let has = |text: &Clean| self.has_group(text);
        difference.removed.iter().all(has)
            && (difference.added.is_empty() || !difference.added.iter().all(has))
            && difference
                .folder
                .as_deref()
                .is_none_or(|folder| self.folder.as_deref() != Some(folder))
    }

    /// Returns true if a difference is applied in this command.
    pub fn has_taken(&self, difference: &CommandDifference) -> bool {
        let has = |text: &Clean| self.has_group(text);
        !difference.removed.iter().any(has)
            && difference.added.iter().all(has)
            && difference
                .folder
                .as_deref()
                .is_none_or(|folder| self.folder.as_deref() == Some(folder))
            && difference.before.is_none()
    }

    /// Returns true if the words of a group follow each other in this command.
    fn has_group(&self, group: &str) -> bool {
        let joined: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        (0..joined.len())
            .any(|from| (from + 1..=joined.len()).any(|to| joined[from..to].join(" ") == group))
    }

    /// Returns true if the output of a failing command names this one: by its words, or by a file that it takes.
    fn is_proposed_by(&self, output: &str) -> bool {
        let is_removal = self.program == "rm";
        let is_risky = |part: &FormPart| match part.text.as_str() {
            flag if is_removal => flag.starts_with('-') && flag != "-f",
            word => is_risky_word(word),
        };
        if self.parts.iter().any(is_risky) {
            return false;
        }
        // Tests change nothing, though a log may name them.
        let words: Vec<String> = self.program.split(' ').map(str::to_owned).collect();
        let names_command = self.program.contains(' ')
            && !table::is_run(&words)
            && self.program != "git add"
            && contains_word(output, &self.program);
        let names_file = || {
            self.parts.iter().filter(|part| part.kind == PartKind::Plain).any(|part| {
                let name = part.text.rsplit('/').next().unwrap_or_default();
                name.len() >= MIN_TELLING_CHARS && name.contains('.') && contains_word(output, name)
            })
        };
        names_command || (is_removal && names_file() && output.contains("lock"))
    }
}

/// Returns true if `path` is the end of `folder`.
fn is_below(folder: &str, path: &str) -> bool {
    folder == path || folder.strip_suffix(path).is_some_and(|rest| rest.ends_with('/'))
}

/// Parts that belong together: a flag and its value.
#[derive(Debug)]
struct PartGroup {
    kind: PartKind,
    text: String,
}

impl PartGroup {
    fn has(&self, is: fn(&str) -> bool) -> bool {
        self.text.split(' ').any(is)
    }

    /// Returns true if a text names the part: a flag without its value, or the whole of another part.
    fn is_named_in(&self, text: &str) -> bool {
        match self.kind {
            PartKind::Flag => self.is_flag_in(text),
            PartKind::Variable => {
                self.text.split('=').next().is_some_and(|name| contains_word(text, name))
            }
            PartKind::Program | PartKind::Wrapper | PartKind::Plain => {
                self.text.len() > 1 && contains_word(text, &self.text)
            }
        }
    }

    fn is_flag_in(&self, text: &str) -> bool {
        let flag = self.text.split([' ', '=']).next().unwrap_or_default();
        match flag.strip_prefix('-') {
            // Some programs name the letter alone: `illegal option -- A`.
            Some("u") if text.contains("--set-upstream") => true,
            Some(letter) if letter.len() == 1 => {
                text.contains(&format!("option -- {letter}"))
                    || text.contains(&format!("option -- '{letter}'"))
                    || contains_word(text, flag)
            }
            Some(_) => contains_word(text, flag),
            None => false,
        }
    }
}

/// Returns true if a text contains a word that no letter, digit or dash continues.
fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |sign: char| sign.is_alphanumeric() || matches!(sign, '-' | '_');
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Returns the parts of `these` that are not in `others`, flags together with their new values.
fn group_parts(these: &[FormPart], others: &[FormPart]) -> Vec<PartGroup> {
    let mut left: Vec<&FormPart> = others.iter().collect();
    let mut groups: Vec<PartGroup> = Vec::new();
    let mut flag_at = None;
    for (at, part) in these.iter().enumerate() {
        if let Some(known) = left.iter().position(|other| *other == part) {
            left.swap_remove(known);
            continue;
        }
        match groups.last_mut() {
            Some(group) if part.kind == PartKind::Plain && flag_at == Some(at) => {
                group.text.push(' ');
                group.text.push_str(&part.text);
            }
            _ => groups.push(PartGroup { kind: part.kind, text: part.text.clone() }),
        }
        flag_at = (part.kind == PartKind::Flag && !part.text.contains('=')).then_some(at + 1);
    }
    groups
}

/// Returns true if two arguments are paths of one web interface, up to the resource.
fn is_same_endpoint(program: &str, old: &str, new: &str) -> bool {
    let segments = |text: &str| -> Vec<String> {
        let path = text.split('?').next().unwrap_or_default();
        path.trim_start_matches('/').split('/').map(str::to_owned).collect()
    };
    let (old, new) = (segments(old), segments(new));
    program == "gh api" && old.len() > 3 && new.len() > 3 && old[..4] == new[..4]
}

fn explained(
    removed: &[&PartGroup],
    added: &[&PartGroup],
    folder: Option<&str>,
) -> VariantRelation {
    let texts =
        |groups: &[&PartGroup]| groups.iter().map(|group| Clean::new(&group.text)).collect();
    VariantRelation::Explained(CommandDifference {
        removed: texts(removed),
        added: texts(added),
        folder: folder.map(Clean::new),
        before: None,
    })
}

fn explained_by(removed: &[&PartGroup], added: &[&PartGroup]) -> VariantRelation {
    explained(removed, added, None)
}

/// Returns the forms of the commands that must have succeeded if the line did: those of its last list. A command whose
/// output goes through a filter counts only with `filters_hide_nothing`.
pub fn succeeded_commands(
    line: &CommandLine,
    place: &RunPlace<'_>,
    filters_hide_nothing: bool,
) -> Vec<CommandForm> {
    let commands: Vec<&ParsedCommand> =
        line.commands.iter().filter(|one| one.joiner != Joiner::Substitution).collect();
    let before_last = commands.len().saturating_sub(1);
    let start = commands[..before_last]
        .iter()
        .rposition(|one| matches!(one.joiner, Joiner::Then | Joiner::Background))
        .map_or(0, |at| at + 1);
    let list = &commands[start..];
    if list.iter().any(|one| one.joiner == Joiner::Or || one.is_condition) {
        return Vec::new();
    }
    list.iter()
        .filter(|one| one.joiner != Joiner::Pipe || filters_hide_nothing)
        .filter_map(|one| CommandForm::new(one, place))
        .collect()
}

#[cfg(test)]
mod tests;
