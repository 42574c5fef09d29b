//! The variables of a Python script that hold the payload, and the reads of its keys.

use std::collections::BTreeSet;

use super::payload::KeyRead;
use super::program::ProgramReader;
use super::tokens::Tokens;

/// Expressions that are the payload.
const PAYLOAD_CALLS: [&[&str]; 3] = [
    &["json", ".", "load", "(", "sys", ".", "stdin", ")"],
    &["json", ".", "loads", "(", "sys", ".", "stdin", ".", "read", "(", ")", ")"],
    &[
        "json", ".", "loads", "(", "sys", ".", "stdin", ".", "read", "(", ")", ".", "strip", "(",
        ")", ")",
    ],
];

/// Expressions that are the text of the payload.
const TEXT_CALLS: [&[&str]; 2] = [
    &["sys", ".", "stdin", ".", "read", "(", ")"],
    &["sys", ".", "stdin", ".", "read", "(", ")", ".", "strip", "(", ")"],
];

/// Expressions that stand for a missing payload.
const EMPTY_VALUES: [&[&str]; 3] = [&["{", "}"], &["None"], &["dict", "(", ")"]];

/// The variables of a program that hold the payload or its `tool_input`.
pub(super) struct PayloadNames<'a> {
    pub(super) payloads: BTreeSet<&'a str>,
    pub(super) inputs: BTreeSet<&'a str>,
}

/// Returns the variables that hold the payload or its `tool_input` wherever they are assigned.
pub(super) fn find_payload_names<'a>(tokens: &'a Tokens<'a>) -> PayloadNames<'a> {
    let program = ProgramReader { tokens };
    let texts = program.names_holding(|at| {
        TEXT_CALLS.iter().any(|call| program.is_whole_value(at, call))
            || program.is_whole_value(at, &["\"\""])
    });
    let payloads = program.names_holding(|at| {
        PAYLOAD_CALLS.iter().chain(&EMPTY_VALUES).any(|call| program.is_whole_value(at, call))
            || (tokens.has_sequence(at, &["json", ".", "loads", "("])
                && texts.contains(tokens.text(at + 4))
                && program.is_end_of_value(at + 5, ")"))
    });
    let payloads: BTreeSet<&str> = payloads
        .into_iter()
        .filter(|name| {
            program.is_assigned(name, |at| {
                PAYLOAD_CALLS.iter().any(|call| tokens.has_sequence(at, call))
                    || tokens.has_sequence(at, &["json", ".", "loads", "("])
            })
        })
        .collect();
    let inputs = program.names_holding(|at| {
        payloads.iter().any(|payload| {
            tokens.is(at, payload)
                && read_key(tokens, at, false).is_some_and(|read| read.key == "tool_input")
                && ends_after_key(tokens, at)
        })
    });
    PayloadNames { payloads, inputs }
}

/// Returns the key that the expression `name["key"]` or `name.get("key")` at a token reads.
pub(super) fn read_key(tokens: &Tokens<'_>, at: usize, is_tool_input: bool) -> Option<KeyRead> {
    let (key, key_at) = if tokens.is(at + 1, "[") && tokens.is(at + 3, "]") {
        if tokens.is(at + 4, "=") {
            return None;
        }
        (tokens.plain_text(at + 2)?, at + 2)
    } else if tokens.has_sequence(at + 1, &[".", "get", "("]) {
        (tokens.plain_text(at + 4)?, at + 4)
    } else {
        return None;
    };
    let range = tokens.tokens[at].range.start..tokens.tokens[key_at].range.end;
    Some(KeyRead { range, is_tool_input, key: key.to_owned(), alternatives: Vec::new() })
}

/// Returns true if nothing follows the read of a key but a default.
fn ends_after_key(tokens: &Tokens<'_>, at: usize) -> bool {
    let open = if tokens.is(at + 1, "[") { at + 1 } else { at + 3 };
    let Some(close) = tokens.closing(open) else { return false };
    let statement = tokens.tokens[at].statement;
    let next = tokens.tokens.get(close + 1);
    next.is_none_or(|next| next.statement != statement)
        || tokens.has_sequence(close + 1, &["or", "{", "}"])
}
