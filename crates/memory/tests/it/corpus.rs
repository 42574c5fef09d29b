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

/// The channel by which a text reaches the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Channel {
    /// A command line.
    Command,
    /// A line of an error.
    Error,
    /// A file before and after an edit.
    Edit,
    /// What an agent writes about its work.
    Prose,
    /// The name of a file, a folder, a branch or a test.
    Name,
}

/// A template of the sixth or the seventh set.
#[derive(Deserialize)]
struct ChannelTemplate {
    name: String,
    channel: Channel,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
}

/// Parts of the texts that come by channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelPart {
    /// Rules were made for this half of the sixth set.
    SixthTuning,
    /// The other half, read once when those rules were done; its misses have been mended for since.
    SixthHeldOut,
    /// Written without a look at the rules, read once when the rules of today were done. No rule was made for it.
    Seventh,
}

/// A text of the sixth or the seventh set, with the channel it comes by.
pub(crate) struct ChannelCase {
    pub(crate) name: String,
    pub(crate) channel: Channel,
    /// The kind of a name: a file, a folder, a branch, a test.
    pub(crate) kind: String,
    /// The text; of an edit the file after it.
    pub(crate) text: String,
    /// The file before an edit, and its name.
    pub(crate) before: String,
    pub(crate) file: String,
    /// The file after a second edit that draws every value anew.
    pub(crate) rotated: String,
    pub(crate) secrets: Vec<String>,
}

impl ChannelCase {
    /// The set and the half that the case belongs to.
    pub(crate) fn part(&self) -> ChannelPart {
        match hash(&self.name) & (1 << 16) {
            _ if self.name.starts_with("seventh-") => ChannelPart::Seventh,
            0 => ChannelPart::SixthTuning,
            _ => ChannelPart::SixthHeldOut,
        }
    }
}

/// The sixth and the seventh set: texts that hold a secret.
pub(crate) fn channel_secrets() -> Vec<ChannelCase> {
    read_channels(&[
        include_str!("../../fixtures/redaction/secrets-6.json"),
        include_str!("../../fixtures/redaction/secrets-7.json"),
    ])
}

/// The sixth and the seventh set: texts that hold none.
pub(crate) fn channel_lookalikes() -> Vec<ChannelCase> {
    read_channels(&[
        include_str!("../../fixtures/redaction/lookalikes-6.json"),
        include_str!("../../fixtures/redaction/lookalikes-7.json"),
    ])
}

fn read_channels(files: &[&str]) -> Vec<ChannelCase> {
    let read = |json: &&str| -> Vec<ChannelTemplate> { serde_json::from_str(json).unwrap() };
    files.iter().flat_map(read).map(expand_channel).collect()
}

/// Lines that a file has before and after an edit are drawn once.
fn expand_channel(template: ChannelTemplate) -> ChannelCase {
    let ChannelTemplate { name, channel, kind, text, file, before, after } = template;
    let draw = |text: &str, salt: &str| {
        let template = Template { name: format!("{name}{salt}"), text: text.to_owned() };
        expand(template, 0)
    };
    if channel != Channel::Edit {
        let Case { text, secrets, .. } = draw(&text, "");
        return ChannelCase { name, channel, kind, text, before, file, rotated: after, secrets };
    }
    let mut secrets = Vec::new();
    let mut file_of = |text: &str, other: Option<&str>, salt: &str| {
        let mut lines = Vec::new();
        for (at, line) in text.split('\n').enumerate() {
            let shared = other.is_some_and(|other| other.split('\n').any(|there| there == line));
            // The same line may stand in a file more than once.
            let nth = text.split('\n').take(at).filter(|there| *there == line).count();
            let own = if shared || other.is_none() { "" } else { salt };
            let drawn = draw(line, &format!("{line}{nth}{own}"));
            secrets.extend(drawn.secrets);
            lines.push(drawn.text);
        }
        lines.join("\n")
    };
    let is_rotated = before == after;
    let before_text = file_of(&before, None, "");
    let text = file_of(&after, if is_rotated { Some("") } else { Some(&before) }, "after");
    let rotated = file_of(&after, Some(""), "rotated");
    let file = draw(&file, "file");
    secrets.extend(file.secrets);
    ChannelCase {
        name,
        channel,
        kind,
        text,
        before: before_text,
        file: file.text,
        rotated,
        secrets,
    }
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
