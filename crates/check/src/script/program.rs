//! Variables in Python and JavaScript text: their values, and the places that change them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::payload::KeyRead;
use super::tokens::{Syntax, TokenKind, Tokens};

/// A reader for the variables of a program.
pub(super) struct ProgramReader<'a> {
    pub(super) tokens: &'a Tokens<'a>,
}

impl<'a> ProgramReader<'a> {
    /// Returns true if the token is a use of the variable, not a member of that name.
    pub(super) fn is_variable(&self, at: usize, name: &str) -> bool {
        self.tokens.is_name(at)
            && self.tokens.text(at) == name
            && !(at > 0 && (self.tokens.is(at - 1, ".") || self.tokens.is(at - 1, "?.")))
    }

    /// Returns the variables that are assigned only values for which `is_wanted` is true, wherever they are assigned,
    /// and that no function has as a parameter. The argument is the index of the first token of a value.
    pub(super) fn names_holding(&self, is_wanted: impl Fn(usize) -> bool) -> BTreeSet<&'a str> {
        let tokens: &'a Tokens<'a> = self.tokens;
        let mut holds: BTreeMap<&'a str, bool> = BTreeMap::new();
        for at in 0..tokens.tokens.len() {
            if let Some(value) = self.assigned_value(at) {
                *holds.entry(tokens.text(at)).or_insert(true) &= is_wanted(value);
            }
        }
        let names = holds.into_iter().filter_map(|(name, holds)| holds.then_some(name));
        names.filter(|name| !self.is_bound_otherwise(name)).collect()
    }

    /// Returns true if one of the values of a variable is wanted.
    pub(super) fn is_assigned(&self, name: &str, is_wanted: impl Fn(usize) -> bool) -> bool {
        (0..self.tokens.tokens.len()).any(|at| {
            self.tokens.text(at) == name && self.assigned_value(at).is_some_and(&is_wanted)
        })
    }

    /// Returns the index of the value that is assigned to the variable at a token.
    fn assigned_value(&self, at: usize) -> Option<usize> {
        let tokens = self.tokens;
        if !tokens.is_name(at) || (at > 0 && tokens.is(at - 1, ".")) {
            return None;
        }
        if tokens.is(at + 1, "=") {
            return Some(at + 2);
        }
        // `name: Type = value`
        if tokens.is(at + 1, ":") {
            let statement = tokens.tokens[at].statement;
            let mut next = at + 2;
            while next < at + 12
                && tokens.tokens.get(next).is_some_and(|token| token.statement == statement)
            {
                if tokens.is(next, "=") {
                    return Some(next + 1);
                }
                let is_type = tokens.is_name(next)
                    || [".", "[", "]", "<", ">", ",", "|"].iter().any(|sign| tokens.is(next, sign))
                    || matches!(tokens.tokens[next].kind, TokenKind::Text { .. });
                if !is_type {
                    return None;
                }
                next += 1;
            }
        }
        None
    }

    /// Returns true if a name may get a value in another way than by a plain assignment.
    fn is_bound_otherwise(&self, name: &str) -> bool {
        let tokens = self.tokens;
        (0..tokens.tokens.len()).filter(|at| self.is_variable(*at, name)).any(|at| {
            let is_before = |sign| at > 0 && tokens.is(at - 1, sign);
            is_before("for")
                || is_before("as")
                || is_before("*")
                || is_before("lambda")
                || is_before("del")
                || is_before("import")
                || tokens.is(at + 1, ":=")
                || tokens.is(at + 1, "+=")
                || tokens.is(at + 1, "|=")
                || tokens.is(at + 1, "=>")
                || tokens.has_sequence(at + 1, &[".", "update"])
                || tokens.has_sequence(at + 1, &[".", "setdefault"])
                || self.is_parameter(at)
                || self.is_unpacked(at)
        })
    }

    /// Returns true if the token is in the parameter list of a function.
    fn is_parameter(&self, at: usize) -> bool {
        let tokens = self.tokens;
        let mut depth = 0_usize;
        for open in (0..at).rev() {
            match tokens.text(open) {
                ")" | "]" | "}" if tokens.tokens[open].kind == TokenKind::Sign => depth += 1,
                "(" | "[" | "{" if tokens.tokens[open].kind == TokenKind::Sign => {
                    if depth > 0 {
                        depth -= 1;
                        continue;
                    }
                    if !tokens.is(open, "(") {
                        return false;
                    }
                    let Some(close) = tokens.closing(open) else { return true };
                    let is_definition = (open >= 2 && tokens.is(open - 2, "def"))
                        || (open >= 1 && tokens.is(open - 1, "function"))
                        || (open >= 2 && tokens.is(open - 2, "function"))
                        || (open >= 1 && tokens.is(open - 1, "catch"))
                        || tokens.is(close + 1, "=>");
                    let is_method = tokens.syntax == Syntax::JavaScript
                        && tokens.is(close + 1, "{")
                        && open >= 1
                        && !["if", "while", "for", "switch"]
                            .iter()
                            .any(|keyword| tokens.is(open - 1, keyword));
                    return is_definition
                        || is_method
                        || tokens.is(close + 1, ":") && tokens.syntax == Syntax::JavaScript;
                }
                _ => {}
            }
        }
        false
    }

    /// Returns true for `a, name = …` and `name, b = …`.
    fn is_unpacked(&self, at: usize) -> bool {
        let tokens = self.tokens;
        if tokens.syntax != Syntax::Python {
            return false;
        }
        let statement = tokens.tokens[at].statement;
        let is_in_statement =
            |at: usize| tokens.tokens.get(at).is_some_and(|token| token.statement == statement);
        let mut next = at + 1;
        while tokens.is(next, ",") && is_in_statement(next) && tokens.is_name(next + 1) {
            next += 2;
        }
        let is_first = next > at + 1 && tokens.is(next, "=") && is_in_statement(next);
        let is_last = at > 0
            && tokens.is(at - 1, ",")
            && is_in_statement(at - 1)
            && tokens.is(at + 1, "=")
            && !self.is_in_brackets(at);
        is_first && !self.is_in_brackets(at) || is_last
    }

    fn is_in_brackets(&self, at: usize) -> bool {
        let statement = self.tokens.tokens[at].statement;
        let mut depth = 0_i32;
        for open in (0..at).rev() {
            if self.tokens.tokens[open].statement != statement {
                break;
            }
            match self.tokens.text(open) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        depth > 0
    }

    /// Returns true if the tokens at `at` are exactly `expected`, and the value ends there.
    pub(super) fn is_whole_value(&self, at: usize, expected: &[&str]) -> bool {
        if let ["\"\""] = expected {
            return self.tokens.plain_text(at) == Some("");
        }
        self.tokens.has_sequence(at, expected) && {
            let next = at + expected.len();
            self.tokens.tokens.get(next).is_none_or(|token| {
                token.statement != self.tokens.tokens[at].statement
                    || self.tokens.is(next, ";")
                    || self.tokens.source[self.tokens.tokens[next - 1].range.end..token.range.start]
                        .contains('\n')
            })
        }
    }

    /// Returns true if the sign at `at` ends a value.
    pub(super) fn is_end_of_value(&self, at: usize, sign: &str) -> bool {
        at > 0
            && self.tokens.is(at, sign)
            && self.tokens.tokens.get(at + 1).is_none_or(|token| {
                token.statement != self.tokens.tokens[at].statement
                    || self.tokens.is(at + 1, ";")
                    || self.tokens.source[self.tokens.tokens[at].range.end..token.range.start]
                        .contains('\n')
            })
    }

    /// Returns true if the program tests whether an object has a key, or sets the key.
    pub(super) fn is_tested_or_set(&self, name: &str, key: &str) -> bool {
        let tokens = self.tokens;
        (0..tokens.tokens.len()).any(|at| {
            if tokens.plain_text(at) == Some(key) {
                return (tokens.is(at + 1, "in") && tokens.is(at + 2, name))
                    || (tokens.has_sequence(at + 1, &["not", "in"]) && tokens.is(at + 3, name))
                    || (at > 1
                        && tokens.has_sequence(at - 2, &[name, "["])
                        && tokens.has_sequence(at + 1, &["]", "="]));
            }
            tokens.has_sequence(at, &[name, ".", key, "="])
        })
    }
}

/// Returns true if two tokens are in the values of different members of one object literal. In Python, also in different
/// arguments of `dict(name=…)`.
pub(super) fn are_in_different_members(tokens: &Tokens<'_>, first: usize, second: usize) -> bool {
    let own = members_around(tokens, first);
    let others = members_around(tokens, second);
    own.iter().any(|(open, member)| {
        others.iter().any(|(other_open, other)| open == other_open && member != other)
    })
}

/// Returns the positions of the keys of object literals whose values are the reads: `"tool_name"` in
/// `{"tool_name": payload.get("tool")}`.
pub(super) fn written_keys(tokens: &Tokens<'_>, reads: &[KeyRead]) -> Vec<Range<usize>> {
    let at_start = |read: &KeyRead| {
        tokens.tokens.binary_search_by_key(&read.range.start, |token| token.range.start).ok()
    };
    let members = reads.iter().filter_map(at_start).filter_map(|at| {
        let (_, key) = members_around(tokens, at).pop().filter(|(_, key)| *key < at)?;
        Some(tokens.tokens[key].range.clone())
    });
    members.collect()
}

/// Returns the members of object literals around a token, each as the indexes of its opening bracket and its key.
fn members_around(tokens: &Tokens<'_>, at: usize) -> Vec<(usize, usize)> {
    // Open brackets, each with the index behind its last comma.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for index in 0..at {
        if tokens.tokens[index].kind != TokenKind::Sign {
            continue;
        }
        match tokens.text(index) {
            "(" | "[" | "{" => open.push((index, index + 1)),
            ")" | "]" | "}" => drop(open.pop()),
            "," => {
                if let Some((_, start)) = open.last_mut() {
                    *start = index + 1;
                }
            }
            _ => {}
        }
    }
    open.retain(|(open, start)| {
        let is_object = tokens.is(*open, "{")
            && tokens.is(start + 1, ":")
            && (tokens.plain_text(*start).is_some() || tokens.is_name(*start));
        let is_dict = tokens.syntax == Syntax::Python
            && *open > 0
            && tokens.has_sequence(open - 1, &["dict", "("])
            && tokens.is_name(*start)
            && tokens.is(start + 1, "=");
        is_object || is_dict
    });
    open
}

/// Returns true if a program reads its command line.
pub(super) fn takes_arguments(tokens: &Tokens<'_>) -> bool {
    (0..tokens.tokens.len()).any(|at| {
        tokens.is_name(at)
            && matches!(tokens.text(at), "argv" | "argparse" | "ArgumentParser" | "click" | "typer")
    })
}
