//! What a change does to the code of a file.

use std::collections::{HashMap, HashSet};

use rutter_redact::choice;
use rutter_runs::change::Hunk;

use crate::declarations::import_lines;
use crate::language::Language;

choice! {
    /// The effect of a change on a file's code.
    ChangeEffect, "effect of a change" {
        /// It changes nothing
        Nothing = "nothing",
        /// It changes comments only
        Comments = "comments",
        /// It changes imports only
        Imports = "imports",
        /// It changes white space only
        Formatting = "formatting",
        /// It removes lines, or moves some
        Removal = "removal",
        /// It gives names of the file other names
        Renaming = "renaming",
        /// It adds or changes code
        Code = "code",
    }
}

impl ChangeEffect {
    /// Compares two texts of a file.
    pub fn compare(path: &str, language: Language, old: &str, new: &str) -> Self {
        let hunks: Vec<Hunk> = Hunk::diff(old, new)
            .into_iter()
            .map(|hunk| {
                let is_old = hunk.added.is_empty();
                hunk.locate(if is_old { old } else { new }, is_old, path)
            })
            .collect();
        if hunks.is_empty() {
            return Self::Nothing;
        }
        // Several kinds in one change: the last one in this order names it.
        let mut effect = Self::Nothing;
        let mut rest = Vec::new();
        let imports = (import_lines(old, language), import_lines(new, language));
        for hunk in &hunks {
            let own = if hunk.only_formats(path) {
                Self::Formatting
            } else if hunk.only_comments(path) {
                Self::Comments
            } else if only_imports(hunk, &imports) {
                Self::Imports
            } else {
                rest.push(hunk);
                continue;
            };
            effect = effect.max(own);
        }
        if rest.is_empty() {
            return effect;
        }
        if only_removes(&rest, path) {
            return Self::Removal;
        }
        let is_renaming = has_same_indentation(path, old, new) && is_renaming(old, new);
        if is_renaming { Self::Renaming } else { Self::Code }
    }

    /// Returns true if the change adds no behaviour.
    pub fn is_harmless(self) -> bool {
        self != Self::Code
    }
}

/// Returns true if a hunk changes only lines of imports, by their numbers in both texts.
fn only_imports(hunk: &Hunk, (old, new): &(HashSet<usize>, HashSet<usize>)) -> bool {
    let are_imports = |lines: &[String], from: u32, imports: &HashSet<usize>| {
        let mut numbered = lines.iter().zip(from as usize..);
        numbered.all(|(line, number)| line.trim().is_empty() || imports.contains(&number))
    };
    are_imports(&hunk.removed, hunk.old_line, old) && are_imports(&hunk.added, hunk.new_line, new)
}

/// Returns true if every added line of code was removed somewhere else. In Python, another indentation is another line.
fn only_removes(hunks: &[&Hunk], path: &str) -> bool {
    let is_indented = is_indented_language(path);
    let mut removed: HashMap<&str, usize> = HashMap::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.removed) {
        *removed.entry(code_of(line, is_indented)).or_default() += 1;
    }
    hunks.iter().flat_map(|hunk| &hunk.added).all(|line| {
        let is_comment = Hunk { added: vec![line.clone()], ..Hunk::default() }.only_comments(path);
        is_comment
            || removed.get_mut(code_of(line, is_indented)).is_some_and(|count| {
                let was_left = *count > 0;
                *count = count.saturating_sub(1);
                was_left
            })
    })
}

fn is_indented_language(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "py")
}

/// Returns true if indentation means nothing in a file, or is the same in both texts.
fn has_same_indentation(path: &str, old: &str, new: &str) -> bool {
    let indents = |text: &str| -> Vec<usize> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| line.len() - line.trim_start().len()).collect()
    };
    !is_indented_language(path) || indents(old) == indents(new)
}

/// Returns a line without the white space that means nothing.
fn code_of(line: &str, is_indented: bool) -> &str {
    if is_indented { line.trim_end() } else { line.trim() }
}

/// Returns true if both texts are the same but for names that are always replaced by the same new names. A name that
/// occurs once may be one of another file, so replacing it may change what the code does.
fn is_renaming(old: &str, new: &str) -> bool {
    let (old, new) = (tokens(old), tokens(new));
    if old.len() != new.len() {
        return false;
    }
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for token in &old {
        *counts.entry(token).or_default() += 1;
    }
    let old_names: HashSet<&str> = old.iter().copied().collect();
    let mut names: HashMap<&str, &str> = HashMap::new();
    for (before, after) in old.iter().zip(&new) {
        if names.get(before).is_some_and(|known| known != after) {
            return false;
        }
        if before == after {
            names.insert(before, after);
            continue;
        }
        let is_new_name = !old_names.contains(after);
        if !is_name(before) || !is_name(after) || !is_new_name || counts[before] < 2 {
            return false;
        }
        names.insert(before, after);
    }
    // Two names must not become one.
    let mut targets = HashSet::new();
    names.values().all(|after| targets.insert(*after))
}

fn is_name(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
}

/// Splits a text into names, numbers and single signs, without white space.
fn tokens(text: &str) -> Vec<&str> {
    let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_part(first) {
            rest.find(|sign| !is_part(sign)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, behind) = rest.split_at(length);
        if !first.is_whitespace() {
            tokens.push(token);
        }
        rest = behind;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_named() {
        let old =
            "import os\n\ndef total(items):\n    # sum\n    value = sum(items)\n    return value\n";
        for (from, to, effect) in [
            ("", "", ChangeEffect::Nothing),
            ("# sum", "# the sum", ChangeEffect::Comments),
            ("import os", "import sys", ChangeEffect::Imports),
            ("import os\n\n", "import os\n\n\n", ChangeEffect::Formatting),
            ("    value = sum(items)\n", "", ChangeEffect::Removal),
            (
                "value = sum(items)\n    return value",
                "result = sum(items)\n    return result",
                ChangeEffect::Renaming,
            ),
            ("sum(items)", "max(items)", ChangeEffect::Code),
            ("return value", "return value + 1", ChangeEffect::Code),
            ("    return value\n", "        return value\n", ChangeEffect::Code),
        ] {
            let new = old.replacen(from, to, 1);
            assert_eq!(
                ChangeEffect::compare("a.py", Language::Python, old, &new),
                effect,
                "{from:?} → {to:?}"
            );
        }
    }

    #[test]
    fn imports_are_found_by_their_lines() {
        let old = "package a\n\nimport (\n\t\"fmt\"\n)\n\nvar names = []string{\n\t\"a\",\n}\n";
        let imported = old.replace("\t\"fmt\"", "\t\"fmt\"\n\t\"os\"");
        let listed = old.replace("\t\"a\",", "\t\"a\",\n\t\"b\",");
        let effect = |new: &str| ChangeEffect::compare("a.go", Language::Go, old, new);
        assert_eq!(effect(&imported), ChangeEffect::Imports);
        assert_eq!(effect(&listed), ChangeEffect::Code);
        let class = "<?php\nclass A {\n}\n";
        let mixed = "<?php\nclass A {\n    use B;\n}\n";
        assert_eq!(ChangeEffect::compare("A.php", Language::Php, class, mixed), ChangeEffect::Code);
    }

    #[test]
    fn exchanged_names_are_code() {
        let old = "int f(int a, int b) { return a - b; }\n";
        let swapped = "int f(int a, int b) { return b - a; }\n";
        let joined = "int f(int a, int a) { return a - a; }\n";
        assert_eq!(ChangeEffect::compare("a.c", Language::C, old, swapped), ChangeEffect::Code);
        assert_eq!(ChangeEffect::compare("a.c", Language::C, old, joined), ChangeEffect::Code);
    }

    #[test]
    fn formatting_of_braces_is_no_code() {
        let old = "fn a() { b() }\n";
        let new = "fn a() {\n    b()\n}\n";
        assert_eq!(
            ChangeEffect::compare("a.rs", Language::Rust, old, new),
            ChangeEffect::Formatting
        );
    }
}
