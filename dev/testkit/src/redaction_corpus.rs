//! Texts that redaction is measured on, generated from templates.

use serde::Deserialize;

/// A template in its stored form.
#[derive(Deserialize)]
struct RedactionTemplate {
    name: String,
    text: String,
}

/// A text and the secrets in it.
pub struct RedactionCase {
    pub name: String,
    pub text: String,
    pub secrets: Vec<String>,
}

/// Role of a case: rules were written for it, or only figures are taken from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CorpusPart {
    /// Rules were written for these.
    Tuning,
    /// Read once when the rules were done; its misses have been fixed since.
    HeldOut,
    /// Written after that reading and read once after those fixes; its misses have been fixed in turn.
    Second,
    /// Written after that and read once; its misses have been fixed since.
    Third,
    /// Half of a fourth, broader set, written without knowledge of the rules. Rules were written for this half.
    FourthTuning,
    /// The other half, read once when those rules were done; its misses have been fixed since.
    FourthHeldOut,
    /// A fifth set, by an author who had not seen the rules, read once. No rule was written for it.
    Fifth,
}

impl RedactionCase {
    pub fn part(&self) -> CorpusPart {
        let held_out = fnv1a(&self.name) & (1 << 16) != 0;
        match self.name.split_once('-') {
            Some(("second", _)) => CorpusPart::Second,
            Some(("third", _)) => CorpusPart::Third,
            Some(("fifth", _)) => CorpusPart::Fifth,
            Some(("fourth", _)) if held_out => CorpusPart::FourthHeldOut,
            Some(("fourth", _)) => CorpusPart::FourthTuning,
            _ if held_out => CorpusPart::HeldOut,
            _ => CorpusPart::Tuning,
        }
    }
}

/// Returns the texts with a secret.
pub fn secrets() -> Vec<RedactionCase> {
    load_cases(&SECRETS, 0)
}

/// Returns the texts without a secret.
pub fn lookalikes() -> Vec<RedactionCase> {
    load_cases(&LOOKALIKES, 0)
}

/// Returns both sets for a round; every round except 0 draws other random characters.
pub fn cases_of_round(round: u64) -> (Vec<RedactionCase>, Vec<RedactionCase>) {
    (load_cases(&SECRETS, round), load_cases(&LOOKALIKES, round))
}

static SECRETS: [&str; 5] = [
    include_str!("../../../crates/redact/fixtures/secrets.json"),
    include_str!("../../../crates/redact/fixtures/secrets-2.json"),
    include_str!("../../../crates/redact/fixtures/secrets-3.json"),
    include_str!("../../../crates/redact/fixtures/secrets-4.json"),
    include_str!("../../../crates/redact/fixtures/secrets-5.json"),
];

static LOOKALIKES: [&str; 5] = [
    include_str!("../../../crates/redact/fixtures/lookalikes.json"),
    include_str!("../../../crates/redact/fixtures/lookalikes-2.json"),
    include_str!("../../../crates/redact/fixtures/lookalikes-3.json"),
    include_str!("../../../crates/redact/fixtures/lookalikes-4.json"),
    include_str!("../../../crates/redact/fixtures/lookalikes-5.json"),
];

fn load_cases(files: &[&str], round: u64) -> Vec<RedactionCase> {
    let read = |json: &&str| -> Vec<RedactionTemplate> { serde_json::from_str(json).unwrap() };
    files.iter().flat_map(read).map(|template| expand_template(template, round)).collect()
}

/// The channel through which a text reaches the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextChannel {
    /// A command line.
    Command,
    /// A line of an error message.
    Error,
    /// A file before and after an edit.
    Edit,
    /// An agent's text about its work.
    Prose,
    /// The name of a file, a folder, a branch or a test.
    Name,
}

/// A template of the sixth set or a later one.
#[derive(Deserialize)]
struct ChannelTemplate {
    name: String,
    channel: TextChannel,
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

/// Role of a case of the sixth set or a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelPart {
    /// Half of the sixth set. Rules were written for it.
    SixthTuning,
    /// The other half, read once when those rules were done; its misses have been fixed since.
    SixthHeldOut,
    /// Written without knowledge of the rules and read once; its misses have been fixed since.
    Seventh,
    /// Written without knowledge of the rules, read once when the current rules were done. No rule was written for it.
    Eighth,
    /// Half of the ninth set, prose only, by an author who had not seen the rules. Rules were written for it.
    NinthTuning,
    /// The other half, read once when those rules were done; its misses have been fixed since.
    NinthHeldOut,
}

/// A text of the sixth set or a later one and its channel.
pub struct ChannelCase {
    pub name: String,
    pub channel: TextChannel,
    /// The kind of a name: `file`, `folder`, `branch` or `test`.
    pub kind: String,
    /// The text; for an edit, the file after it.
    pub text: String,
    /// The file before an edit, and its name.
    pub before: String,
    pub file: String,
    /// The file after a second edit that replaces every value.
    pub rotated: String,
    pub secrets: Vec<String>,
}

impl ChannelPart {
    pub const ALL: [Self; 6] = [
        Self::SixthTuning,
        Self::SixthHeldOut,
        Self::Seventh,
        Self::Eighth,
        Self::NinthTuning,
        Self::NinthHeldOut,
    ];
}

impl ChannelCase {
    /// Returns the set and the half of the case.
    pub fn part(&self) -> ChannelPart {
        match fnv1a(&self.name) & (1 << 16) {
            _ if self.name.starts_with("seventh-") => ChannelPart::Seventh,
            _ if self.name.starts_with("eighth-") => ChannelPart::Eighth,
            0 if self.name.starts_with("ninth-") => ChannelPart::NinthTuning,
            _ if self.name.starts_with("ninth-") => ChannelPart::NinthHeldOut,
            0 => ChannelPart::SixthTuning,
            _ => ChannelPart::SixthHeldOut,
        }
    }
}

/// Returns the texts with a secret from the sixth set onwards.
pub fn channel_secrets() -> Vec<ChannelCase> {
    load_channel_cases(&[
        include_str!("../../../crates/redact/fixtures/secrets-6.json"),
        include_str!("../../../crates/redact/fixtures/secrets-7.json"),
        include_str!("../../../crates/redact/fixtures/secrets-8.json"),
        include_str!("../../../crates/redact/fixtures/secrets-9.json"),
    ])
}

/// Returns the texts without a secret from the sixth set onwards.
pub fn channel_lookalikes() -> Vec<ChannelCase> {
    load_channel_cases(&[
        include_str!("../../../crates/redact/fixtures/lookalikes-6.json"),
        include_str!("../../../crates/redact/fixtures/lookalikes-7.json"),
        include_str!("../../../crates/redact/fixtures/lookalikes-8.json"),
        include_str!("../../../crates/redact/fixtures/lookalikes-9.json"),
    ])
}

fn load_channel_cases(files: &[&str]) -> Vec<ChannelCase> {
    let read = |json: &&str| -> Vec<ChannelTemplate> { serde_json::from_str(json).unwrap() };
    files.iter().flat_map(read).map(expand_channel).collect()
}

/// Fills in a template. Lines that a file has both before and after an edit get the same random values.
fn expand_channel(template: ChannelTemplate) -> ChannelCase {
    let ChannelTemplate { name, channel, kind, text, file, before, after } = template;
    let draw = |text: &str, salt: &str| {
        let template = RedactionTemplate { name: format!("{name}{salt}"), text: text.to_owned() };
        expand_template(template, 0)
    };
    if channel != TextChannel::Edit {
        let RedactionCase { text, secrets, .. } = draw(&text, "");
        return ChannelCase { name, channel, kind, text, before, file, rotated: after, secrets };
    }
    let mut secrets = Vec::new();
    let mut file_of = |text: &str, other: Option<&str>, salt: &str| {
        let mut lines = Vec::new();
        for (at, line) in text.split('\n').enumerate() {
            let shared = other.is_some_and(|other| other.split('\n').any(|there| there == line));
            // The same line may occur in a file more than once.
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

/// Computes the 32-bit FNV-1a hash.
fn fnv1a(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Replaces every `{class:length}` in a template.
fn expand_template(template: RedactionTemplate, round: u64) -> RedactionCase {
    let RedactionTemplate { name, text } = template;
    let mut state = u64::from(fnv1a(&name)) << 16 | 0x9e37 | round << 48;
    let (mut out, mut secrets) = (String::new(), Vec::new());
    let mut rest = text.as_str();
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let Some((piece, secret, after)) = expand_placeholder(&from[1..], &mut state) else {
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
    RedactionCase { name, text: out, secrets }
}

/// Expands the placeholder at the start of `inside`: its text, true if it is secret, and the rest after it.
fn expand_placeholder<'a>(inside: &'a str, state: &mut u64) -> Option<(String, bool, &'a str)> {
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
            let mut hex = |length| draw_chars("0123456789abcdef", length, state);
            format!("{}-{}-4{}-a{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12))
        }
        _ => draw_chars(class_alphabet(class)?, length, state),
    };
    Some((piece, secret, after))
}

fn class_alphabet(class: &str) -> Option<&'static str> {
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

/// Draws random characters with SplitMix64, which is small and gives the same result on every platform.
fn draw_chars(alphabet: &str, length: usize, state: &mut u64) -> String {
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
