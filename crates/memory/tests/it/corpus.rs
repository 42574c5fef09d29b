//! The texts redaction is measured on, made from their templates.

use serde::Deserialize;

/// A template as it is stored.
#[derive(Deserialize)]
struct Template {
    name: String,
    text: String,
}

/// A text, and the pieces of it that are secret.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) secrets: Vec<String>,
}

/// Which cases rules were written for, and which the figures are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rules were written for these.
    Tuning,
    /// Read once when the rules were done; what it showed has been mended since.
    HeldOut,
    /// Written after that reading, read once after the mending, and mended for in turn.
    Second,
    /// Written after that, and read once; its misses have been mended for since.
    Third,
    /// A fourth and broader set, written without a look at the rules; rules were made for this half of it.
    FourthTuning,
    /// The other half, read once when those rules were done; its misses have been mended for since.
    FourthHeldOut,
    /// A fifth set, by somebody who had not seen the rules, read once. No rule was made for it.
    Fifth,
}

impl Case {
    pub(crate) fn part(&self) -> Part {
        let held_out = hash(&self.name) & (1 << 16) != 0;
        match self.name.split_once('-') {
            Some(("second", _)) => Part::Second,
            Some(("third", _)) => Part::Third,
            Some(("fifth", _)) => Part::Fifth,
            Some(("fourth", _)) if held_out => Part::FourthHeldOut,
            Some(("fourth", _)) => Part::FourthTuning,
            _ if held_out => Part::HeldOut,
            _ => Part::Tuning,
        }
    }
}

/// Texts that hold a secret.
pub(crate) fn secrets() -> Vec<Case> {
    drawn(&SECRETS, 0)
}

/// Texts that hold none.
pub(crate) fn lookalikes() -> Vec<Case> {
    drawn(&LOOKALIKES, 0)
}

/// Both again, with other random characters in every round but 0.
pub(crate) fn redrawn(round: u64) -> (Vec<Case>, Vec<Case>) {
    (drawn(&SECRETS, round), drawn(&LOOKALIKES, round))
}

static SECRETS: [&str; 5] = [
    include_str!("../../fixtures/redaction/secrets.json"),
    include_str!("../../fixtures/redaction/secrets-2.json"),
    include_str!("../../fixtures/redaction/secrets-3.json"),
    include_str!("../../fixtures/redaction/secrets-4.json"),
    include_str!("../../fixtures/redaction/secrets-5.json"),
];

static LOOKALIKES: [&str; 5] = [
    include_str!("../../fixtures/redaction/lookalikes.json"),
    include_str!("../../fixtures/redaction/lookalikes-2.json"),
    include_str!("../../fixtures/redaction/lookalikes-3.json"),
    include_str!("../../fixtures/redaction/lookalikes-4.json"),
    include_str!("../../fixtures/redaction/lookalikes-5.json"),
];

fn drawn(files: &[&str], round: u64) -> Vec<Case> {
    let read = |json: &&str| -> Vec<Template> { serde_json::from_str(json).unwrap() };
    files.iter().flat_map(read).map(|template| expand(template, round)).collect()
}

/// FNV-1a, 32 bits.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Replaces every `{class:length}` of a template.
fn expand(template: Template, round: u64) -> Case {
    let Template { name, text } = template;
    let mut state = u64::from(hash(&name)) << 16 | 0x9e37 | round << 48;
    let (mut out, mut secrets) = (String::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some((piece, secret, after)) = placeholder(&from[1..], &mut state) else {
            out.push('{');
            rest = &from[1..];
            continue;
        };
        out.push_str(&piece);
        if secret {
            secrets.push(piece);
        }
        rest = after;
    }
    out.push_str(rest);
    Case { name, text: out, secrets }
}

/// What the placeholder whose inside begins here stands for, whether it is secret, and what follows it.
fn placeholder<'a>(inside: &'a str, state: &mut u64) -> Option<(String, bool, &'a str)> {
    let (inner, after) = inside.split_once('}')?;
    let (class, argument) = inner.split_once(':')?;
    if class == "lit" {
        return Some((argument.to_owned(), true, after));
    }
    let length: usize = argument.parse().ok()?;
    let (class, secret) = class.strip_prefix('~').map_or((class, true), |class| (class, false));
    let piece = match class {
        "dashes" => return Some(("-".repeat(length), false, after)),
        "uuid" => {
            let mut hex = |length| draw("0123456789abcdef", length, state);
            format!("{}-{}-4{}-a{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12))
        }
        _ => draw(alphabet(class)?, length, state),
    };
    Some((piece, secret, after))
}

fn alphabet(class: &str) -> Option<&'static str> {
    Some(match class {
        "alnum" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "letters" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "lower" => "abcdefghijklmnopqrstuvwxyz0123456789",
        "upper" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
        "base32" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
        "base64" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "base64url" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
        "digits" => "0123456789",
        "hex" => "0123456789abcdef",
        "HEX" => "0123456789ABCDEF",
        "pass" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!%^*-_+.~=",
        "pass2" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#%^*-_+.~=@?,:",
        _ => return None,
    })
}

/// SplitMix64: small, and the same everywhere.
fn draw(alphabet: &str, length: usize, state: &mut u64) -> String {
    let letters = alphabet.as_bytes();
    (0..length)
        .map(|_| {
            *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = *state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let index = (mixed ^ (mixed >> 31)) % letters.len() as u64;
            char::from(letters[usize::try_from(index).unwrap()])
        })
        .collect()
}
