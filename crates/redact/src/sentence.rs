//! Secrets anywhere in a sentence about a password, a login or a key: `the wifi password, on a note by the door, is X`,
//! `don't use X any more, that password leaked`, `behind basic auth (preview / X)`.
//!
//! The grammar of such a sentence is not parsed. Two measures decide about each of its words: its likelihood to be a
//! password ([`Likeness`]), and the strength of the word before it as the announcement of a value ([`Cue`]). The more
//! there is of one, the less is needed of the other.

use super::adjacent::link;
use super::alphabet::{self, ALNUM, BLANK, DIGIT, LETTER, LOWER, NAME, NEWLINE, QUOTE, SPACE};
use super::handmade::{self, Likeness};
use super::name::{self, NameClass};
use super::{
    Finding, adjacent, character_mix, phrase, placeholder, prefix, proximity, randomness, value,
};

/// Length of text after a naming word that is searched.
const MAX_BYTES_AFTER: usize = 200;
/// Length of text before a naming word that is searched.
const MAX_BYTES_BEFORE: usize = 160;
/// Longest value that is examined.
const MAX_VALUE_BYTES: usize = 72;
/// Shortest hexadecimal value that is taken.
const MIN_HEX_BYTES: usize = 32;
/// Shortest line that a sentence may continue from onto the next line.
const MIN_WRAPPED_LINE_BYTES: usize = 48;

/// The subject of a sentence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Topic {
    Password,
    Login,
    /// A token, a secret or a key.
    Key,
}

/// The part of a text that a naming word makes suspect.
#[derive(Clone, Copy)]
pub(super) struct Suspect {
    pub(super) end: usize,
    topic: Topic,
}

impl Suspect {
    pub(super) const NOTHING: Self = Self { end: 0, topic: Topic::Key };

    /// Returns the union with the sentence of a later word at `at`. A password remains the topic of its sentence.
    pub(super) fn extend(self, at: usize, next: Self) -> Self {
        let is_over = self.end <= at || next.topic < self.topic;
        let topic = if is_over { next.topic } else { self.topic };
        Self { end: next.end.max(self.end), topic }
    }
}

/// Returns the sentence after the word from `at` to `end` if the word names a password, a login or a key.
pub(super) fn suspect(text: &[u8], at: usize, end: usize, known: Suspect) -> Option<Suspect> {
    let mut topic = topic(text, at, end)?;
    // In a text full of such words, the ends of sentences are not searched for at each of them.
    if topic >= known.topic && known.end > end + MAX_BYTES_AFTER / 2 {
        return None;
    }
    // `the password dialog is Dialog-42`.
    let next = text.get(end + 1..text.len().min(end + 24)).unwrap_or_default();
    let length = next.iter().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(next.len());
    if topic == Topic::Password && link::is_attribute(&next[..length]) {
        topic = Topic::Login;
    }
    Some(Suspect { end: sentences_end(text, end), topic })
}

/// Words that name a password. Some need more around them, see [`topic`].
static PASSWORD_WORDS: [&str; 22] = [
    "password",
    "passwords",
    "passphrase",
    "passcode",
    "passwd",
    "pwd",
    "pw",
    "psk",
    "creds",
    "credentials",
    "passwort",
    "kennwort",
    "zugangsdaten",
    "wachtwoord",
    "contrasena",
    "contrase",
    "senha",
    "parola",
    "passord",
    "heslo",
    "adgangskode",
    "mdp",
];
/// Words that name a login or a key, some of them only after another word.
static OTHER_WORDS: [&str; 13] = [
    "login",
    "logins",
    "in",
    "into",
    "sudo",
    "superuser",
    "auth",
    "token",
    "secret",
    "key",
    "passe",
    "string",
    "has",
];

/// For every first letter, the lengths of the words above that begin with it. It dismisses most words of a text.
static WORD_LENGTHS: [u16; 32] = word_lengths();

const fn word_lengths() -> [u16; 32] {
    let mut table = [0; 32];
    let mut at = 0;
    while at < PASSWORD_WORDS.len() + OTHER_WORDS.len() {
        let is_password = at < PASSWORD_WORDS.len();
        let word =
            if is_password { PASSWORD_WORDS[at] } else { OTHER_WORDS[at - PASSWORD_WORDS.len()] };
        table[(word.as_bytes()[0] & 31) as usize] |= 1 << word.len();
        at += 1;
    }
    table
}

/// Returns the topic that a word names.
#[inline]
fn topic(text: &[u8], at: usize, end: usize) -> Option<Topic> {
    let is_possible =
        end - at < 16 && WORD_LENGTHS[usize::from(text[at] & 31)] & (1 << (end - at)) != 0;
    if is_possible { named_topic(text, at, end) } else { None }
}

fn named_topic(text: &[u8], at: usize, end: usize) -> Option<Topic> {
    let word = &text[at..end];
    let is = |known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    let follows = |before: &str| text[..at].ends_with(before.as_bytes());
    let topic = if PASSWORD_WORDS.iter().any(|known| is(known))
        || is("passe") && follows("ot de ")
        || is("string") && follows("ommunity ")
        || is("has") && alphabet::starts(text, end, "ło".as_bytes())
    {
        Topic::Password
    } else if is("login")
        || is("logins")
        || is("sudo")
        || is("superuser")
        || (is("in") || is("into")) && proximity::is_log_in(text, at)
        || is("auth") && follows("asic ")
    {
        Topic::Login
    } else if is("token") || is("secret") || is("key") {
        Topic::Key
    } else {
        return None;
    };
    if !is_prose_word(text, at, end) {
        return None;
    }
    if !is("key") {
        return Some(topic);
    }
    if speaks_of_wifi(&text[at.saturating_sub(48)..at]) {
        return Some(Topic::Password);
    }
    let start = alphabet::run_back(text, end, NAME | SPACE, end.min(24));
    let named = name::classify(&text[start..end])?;
    (named.class == NameClass::Secret).then_some(Topic::Key)
}

fn speaks_of_wifi(window: &[u8]) -> bool {
    let words: [&[u8]; 5] = [b"wifi", b"wi-fi", b"wlan", b"wpa", b"ssid"];
    words.iter().any(|word| window.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// Returns true if a word is in prose rather than in code: blanks or the punctuation of sentences are around it.
fn is_prose_word(text: &[u8], at: usize, end: usize) -> bool {
    let opens = at == 0
        || alphabet::has_class(text[at - 1], BLANK | QUOTE)
        || matches!(text[at - 1], b'(' | b'-' | b'/' | b'*' | 128..)
        || text[at - 1] == b'_' && text.get(end) != Some(&b':');
    let close = end + alphabet::run(&text[end..], 0, QUOTE).min(1);
    let closes = match text.get(close) {
        None | Some(b' ' | b'\n' | 128..) => true,
        Some(b',' | b':' | b';' | b'.' | b')' | b'?' | b'!' | b'*') => text
            .get(close + 1)
            .is_none_or(|&byte| alphabet::has_class(byte, BLANK | QUOTE) || byte == b'*'),
        _ => false,
    };
    opens && closes
}

/// Returns the end of the sentence after the one at `from`, but not beyond the line.
fn sentences_end(text: &[u8], from: usize) -> usize {
    let limit = text.len().min(from + MAX_BYTES_AFTER);
    let mut ends = (from..limit).filter(|&at| ends_sentence(text, at));
    let is_line_end = |at: usize| alphabet::has_class(text[at], NEWLINE);
    match (ends.next(), ends.next()) {
        (Some(first), _) if is_line_end(first) => first,
        (Some(_), Some(second)) => second,
        _ => limit,
    }
}

/// Returns true if a sentence ends with the byte at `at`.
fn ends_sentence(text: &[u8], at: usize) -> bool {
    match text[at] {
        b'\n' => !is_wrapped(text, at),
        b'.' | b'!' | b'?' => {
            alphabet::is_at(text, at + 1, BLANK)
                && text.get(at + 2).is_none_or(|&byte| !byte.is_ascii_lowercase())
        }
        _ => false,
    }
}

/// Returns true if a sentence continues on the line after the line break at `at`.
fn is_wrapped(text: &[u8], at: usize) -> bool {
    let floor = at.saturating_sub(MIN_WRAPPED_LINE_BYTES);
    let is_long = floor > 0 && !text[floor..at].contains(&b'\n');
    is_long
        && (alphabet::has_class(text[at - 1], LETTER) || text[at - 1] == b',')
        && alphabet::is_at(text, at + 1, ALNUM | QUOTE)
}

/// Returns the value that begins around the word at `at` in a suspect sentence.
pub(super) fn value(
    text: &[u8],
    at: usize,
    end: usize,
    done: usize,
    suspect: Suspect,
) -> Option<Finding> {
    // Most words have only small letters and blanks around them.
    let is_plain = text[at..end].iter().all(|&byte| alphabet::has_class(byte, LOWER))
        && at > 0
        && alphabet::has_class(text[at - 1], BLANK)
        && text
            .get(end)
            .is_none_or(|&byte| alphabet::has_class(byte, BLANK) || matches!(byte, b',' | b'.'));
    if is_plain && end - at != 4 {
        return None;
    }
    let floor = at.saturating_sub(3).max(done);
    let start =
        (floor..at).rev().find(|&before| opens_value(text[before])).map(|before| before + 1);
    let start = start.or((floor == 0).then_some(0)).unwrap_or(at);
    if start > done && !opens_value(text[start - 1]) {
        return if suspect.topic == Topic::Key { None } else { login_part(text, at, done) };
    }
    if suspect.topic == Topic::Password
        && let Some(found) = quoted_phrase(text, start, done)
    {
        return Some(found);
    }
    if suspect.topic == Topic::Password
        && let Some(found) = groups(text, start, done)
    {
        return Some(found);
    }
    if let Some(found) = spaced_login_part(text, start, done) {
        return Some(found).filter(|_| suspect.topic != Topic::Key);
    }
    judge(text, start, suspect.topic, done)
}

/// Returns the value in the sentence before the naming word at `at`. Text before `from` was searched already.
pub(super) fn value_before(
    text: &[u8],
    at: usize,
    from: usize,
    suspect: Suspect,
) -> Option<Finding> {
    // The form of a key before its name is enough for other rules. A second reading starts after `at`.
    if suspect.topic == Topic::Key || from >= at {
        return None;
    }
    let floor = at.saturating_sub(MAX_BYTES_BEFORE).max(from);
    let begin = (floor..at.saturating_sub(1)).rev().find(|&before| ends_sentence(text, before));
    let begin = begin.map_or(floor, |before| before + 1);
    if !text[begin..at].iter().any(u8::is_ascii_digit) {
        return None;
    }
    let mut start = begin;
    while start < at {
        let is_free = start == 0 || opens_value(text[start - 1]);
        if is_free
            && !opens_value(text[start])
            && let Some(found) = spaced_login_part(text, start, from)
                .or_else(|| pair_at(text, start, from))
                .or_else(|| judge(text, start, suspect.topic, from))
            && found.end <= at
        {
            return Some(found);
        }
        start += 1;
    }
    None
}

fn opens_value(byte: u8) -> bool {
    alphabet::has_class(byte, BLANK | QUOTE) || byte == b'('
}

/// Returns the end of the value at `start`, without the punctuation of the sentence.
fn value_end(text: &[u8], start: usize) -> Option<usize> {
    let quote = start
        .checked_sub(1)
        .map(|open| text[open])
        .filter(|&byte| alphabet::has_class(byte, QUOTE));
    let window = &text[start..text.len().min(start + MAX_VALUE_BYTES)];
    let length = match quote {
        Some(quote) => {
            window.iter().position(|&byte| byte == quote || alphabet::has_class(byte, BLANK))?
        }
        None => window
            .iter()
            .position(|&byte| alphabet::has_class(byte, BLANK | QUOTE) || byte == b')')
            .or((start + window.len() == text.len()).then_some(window.len()))?,
    };
    let mut end = start + length;
    if quote == text.get(end).copied() && quote.is_some() {
        return Some(end);
    }
    while end > start && matches!(text[end - 1], b'.' | b',' | b';' | b':' | b']') {
        end -= 1;
    }
    // An exclamation mark in the middle of a sentence belongs to the value.
    let is_last = text.get(end).is_none_or(|&byte| !alphabet::has_class(byte, SPACE))
        || text.get(end + 1).is_none_or(|&byte| !byte.is_ascii_lowercase());
    if is_last && end > start && matches!(text[end - 1], b'!' | b'?') {
        end -= 1;
    }
    Some(end)
}

/// Returns the word at `start` if its likeness and its cue make it a secret.
fn judge(text: &[u8], start: usize, topic: Topic, done: usize) -> Option<Finding> {
    let end = value_end(text, start)?;
    let value = &text[start..end];
    if value.len() < 6 || prefix::token(text, start).is_some() {
        return None;
    }
    if topic == Topic::Key {
        let is_key = adjacent::is_in_groups(value)
            || is_key(value)
                && cue(text, start, done) >= Cue::Weak
                && !has_other_topic(text, start, done)
            || handmade::likeness(value) >= Likeness::Likely
                && cue(text, start, done) == Cue::Equals;
        let is_key = is_key && !proximity::has_other_name(text, start, done);
        return is_key.then_some(Finding { start, end, kind: "secret" });
    }
    let is_quoted = start > done && alphabet::has_class(text[start - 1], QUOTE);
    let is_secret = match handmade::likeness(value) {
        Likeness::Possible => {
            let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
            let is_plain = is_quoted || digits >= 2 && ends_clause(text, end);
            topic == Topic::Password && is_plain && cue(text, start, done) == Cue::Equals
        }
        Likeness::None if value::is_pin(value) => {
            topic == Topic::Password && cue(text, start, done) == Cue::Equals
        }
        Likeness::None => false,
        Likeness::Likely => match cue(text, start, done) {
            Cue::Strong => true,
            Cue::Equals => topic == Topic::Password,
            Cue::Cold | Cue::Nothing | Cue::Weak => false,
        },
        Likeness::Certain => true,
    };
    let is_secret = is_secret && !proximity::has_other_name(text, start, done);
    is_secret.then_some(Finding { start, end, kind: "password" })
}

fn ends_clause(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|&byte| !alphabet::has_class(byte, SPACE | ALNUM))
}

/// Returns true for a hexadecimal value that is long enough for a key. Git's object names and fingerprints have 40
/// digits.
fn is_key(value: &[u8]) -> bool {
    value.len() >= MIN_HEX_BYTES
        && value.len() != 40
        && randomness::is_hex(value)
        && !value.contains(&b'-')
        && character_mix::is_random(value)
        && !placeholder::is_placeholder(value)
}

/// Returns true if the text before a value is about a digest or a public key.
fn has_other_topic(text: &[u8], start: usize, done: usize) -> bool {
    let window = &text[start.saturating_sub(80).max(done)..start];
    let words: [&[u8]; 9] =
        [b"sha", b"md5", b"igest", b"hecksum", b"ngerprint", b"ommit", b"etag", b" id ", b"ublic"];
    words.iter().any(|word| window.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word)))
}

/// Strength of the word before a value as its announcement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Cue {
    /// A preposition of place, or a noun that has the value as its name.
    Cold,
    Nothing,
    /// A word that may be before a value: a conjunction, an adverb.
    Weak,
    /// A verb with a value as its object: `use`, `type`.
    Strong,
    /// A verb or a sign of equality: `is`, `:`.
    Equals,
}

/// Returns the cue before the value at `start`.
fn cue(text: &[u8], start: usize, done: usize) -> Cue {
    let floor = start.saturating_sub(32).max(done);
    let mut end = start;
    while end > floor
        && (alphabet::has_class(text[end - 1], QUOTE) || matches!(text[end - 1], b'(' | b'*'))
    {
        end -= 1;
    }
    let is_opened = end < start;
    let end = alphabet::run_back(text, end, BLANK, end - floor);
    let begin = (floor..end)
        .rev()
        .find(|&at| alphabet::has_class(text[at], BLANK))
        .map_or(floor, |at| at + 1);
    let word = &text[begin..end];
    match word {
        // The last pattern matches typographic dashes and arrows.
        [.., b':'] | [b'=' | b'-'] | [b'-' | b'=', b'>'] | [0xe2, 0x80 | 0x86, _] => {
            return Cue::Equals;
        }
        [.., b',' | b';'] => return Cue::Weak,
        [] => return if is_opened { Cue::Weak } else { Cue::Nothing },
        _ => {}
    }
    // `login works with Chrome-120`.
    if matches!(word, b"with" | b"With") && is_about_tools(&text[floor..begin]) {
        return Cue::Cold;
    }
    if matches!(word, b"and" | b"und" | b"et" | b"y" | b"e") && ends_with_user(&text[floor..begin])
    {
        return Cue::Strong;
    }
    let mut lower = [0; 12];
    let Some(lower) = lower.get_mut(..word.len()) else { return Cue::Nothing };
    lower.copy_from_slice(word);
    lower.make_ascii_lowercase();
    if matches!(&*lower, b"to" | b"from" | b"into" | b"in" | b"auf" | b"von") {
        let window = &text[start.saturating_sub(96).max(done)..begin];
        return if speaks_of_change(window) { Cue::Strong } else { Cue::Cold };
    }
    word_cue(lower)
}

/// Returns true if a text ends with a verb whose `with` introduces a tool: `works with`, `tested with`.
fn is_about_tools(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let verbs: [&[u8]; 16] = [
        b"works",
        b"work",
        b"fails",
        b"failed",
        b"done",
        b"ompatible",
        b"ested",
        b"built",
        b"ashed",
        b"alted",
        b"signed",
        b"ogether",
        b"long",
        b"igrated",
        b"replaced",
        b"touch",
    ];
    verbs.iter().any(|verb| before.ends_with(verb))
}

/// Returns true if the last word is an account: an e-mail address, or a name that many systems have.
fn ends_with_user(before: &[u8]) -> bool {
    let word = before
        .trim_ascii_end()
        .rsplit(|&byte| alphabet::has_class(byte, BLANK))
        .next()
        .unwrap_or_default();
    let word = word.trim_ascii_end();
    let word: &[u8] = match word {
        [first, inner @ .., last] if alphabet::has_class(*first, QUOTE) && first == last => inner,
        word => word,
    };
    let users: [&[u8]; 6] = [b"admin", b"root", b"administrator", b"guest", b"postgres", b"sa"];
    word.contains(&b'@') || users.iter().any(|user| word.eq_ignore_ascii_case(user))
}

/// Returns true if a text is about a change. Systems are moved and migrated; passwords are changed.
fn speaks_of_change(window: &[u8]) -> bool {
    let words: [&[u8]; 12] = [
        b"chang",
        b"rotat",
        b"reset",
        b"updat",
        b"replac",
        b"set ",
        b"ndert",
        b"setzt",
        b"cambia",
        b"modifi",
        b"switched",
        b"alter",
    ];
    let has = |word: &&[u8]| window.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    words.iter().any(has)
}

#[rustfmt::skip]
fn word_cue(word: &[u8]) -> Cue {
    match word {
        b"use" | b"used" | b"using" | b"enter" | b"entered" | b"enters" | b"entering" | b"type" | b"typed" | b"types"
        | b"typing" | b"try" | b"tried" | b"trying" | b"paste" | b"pasted" | b"simply" | b"but" | b"with" | b"mit" | b"avec" | b"con" | b"com" | b"met" | b"wants" | b"expects" | b"expected" | b"accepts"
        | b"accepted" | b"takes" | b"took" | b"says" | b"said" | b"supply" | b"supplied" | b"provide" | b"provided" | b"give"
        | b"gave" | b"given" | b"got" | b"set" | b"becomes" | b"equals" | b"reads" | b"answer" | b"answered"
        | b"nutze" | b"benutze" | b"nimm" | b"utilise" | b"utiliser" | b"usa" | b"usar" | b"works:" | b"guessed" | b"chose"
        | b"picked" | b"remember" | b"was:" | b"sent" | b"send" | b"sends" | b"submitted" | b"passed" | b"passing" | b"remains"
        | b"stays" | b"stayed" | b"literally" | b"actually" | b"again" | b"jetzt" | b"has" | b"had" | b"hat"
        | b"plaintext" | b"text" => Cue::Strong,
        b"is" | b"was" | b"are" | b"be" | b"were" | b"it's" | b"that's" | b"i.e." | b"ie" | b"namely" | b"ist" | b"lautet" | b"est" | b"es"
        | b"era" | b"war" | b"\xc3\xa9" | b"\xc3\xa8" | b"jest" | b"hei\xc3\x9ft" | b"means" | b"password" | b"passphrase" | b"secret" => Cue::Equals,
        b"and" | b"or" | b"uses" | b"und" | b"oder" | b"et" | b"y" | b"e" | b"now" | b"still"
        | b"just" | b"then" | b"not" | b"always" | b"only" | b"one" | b"of" | b"like" | b"instead" | b"een" | b"token" | b"key" => Cue::Weak,
        b"on" | b"at" | b"by" | b"via" | b"for" | b"per" | b"see" | b"as" | b"than" | b"since" | b"until" | b"under" | b"within"
        | b"tenant" | b"vault" | b"repo" | b"host" | b"server" | b"user" | b"username" | b"account" | b"role" | b"ticket" | b"issue"
        | b"release" | b"version" | b"build" | b"node" | b"pod" | b"class" | b"method" | b"function" | b"field" | b"column" | b"table"
        | b"file" | b"chart" | b"project" | b"branch" | b"tag" | b"image" | b"region" | b"group" | b"section" | b"map" | b"folder"
        | b"bucket" | b"cluster" | b"namespace" | b"device" | b"model" | b"machine" | b"box" | b"network" | b"ssid" | b"named"
        | b"called" | b"algorithm" | b"cipher" | b"curve" | b"the" | b"a" | b"an" | b"our" | b"your" => Cue::Cold,
        _ => Cue::Nothing,
    }
}

/// Returns the second part of `user:X` or `user/X` if it begins at `at`.
fn login_part(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let sign = at.checked_sub(1)?;
    let user = alphabet::run_back(text, sign, NAME, (sign - done).min(40));
    let is_free = user == 0 || opens_value(text[user - 1]);
    let is_user = user < sign && is_free && character_mix::is_wordy(&text[user..sign]);
    if !matches!(text[sign], b':' | b'/') || !is_user || proximity::has_other_name(text, at, done) {
        return None;
    }
    let end = value_end(text, at)?;
    pair_password(text, at, end, cue(text, user, done) >= Cue::Strong)
}

/// Returns the password of the pair `user:X` or `user/X` that begins at `start`.
fn pair_at(text: &[u8], start: usize, done: usize) -> Option<Finding> {
    let window = &text[start..text.len().min(start + 41)];
    let sign = start + alphabet::run(window, 0, NAME);
    let is_pair = sign > start && matches!(text.get(sign), Some(b':' | b'/'));
    if is_pair { login_part(text, sign + 1, done) } else { None }
}

/// Returns the second part of `user / X` if it begins at `start`.
fn spaced_login_part(text: &[u8], start: usize, done: usize) -> Option<Finding> {
    let quote = usize::from(start > done && alphabet::has_class(text[start - 1], QUOTE));
    let before = text.get(done..start - quote)?.strip_suffix(b" / ")?;
    let user = before
        .iter()
        .rev()
        .take_while(|&&byte| alphabet::has_class(byte, NAME | QUOTE) || byte == b'@')
        .count();
    // `// a comment` has no user.
    if user < 2 {
        return None;
    }
    let end = value_end(text, start)?;
    pair_password(text, start, end, true)
}

/// Returns the password of a pair from `start` to `end`. A cue before the pair lowers the bar.
fn pair_password(text: &[u8], start: usize, end: usize, is_announced: bool) -> Option<Finding> {
    let value = &text[start..end];
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_secret = match handmade::likeness(value) {
        Likeness::None => false,
        Likeness::Possible => is_announced || digits >= 2 && text[start - 1] == b':',
        Likeness::Likely | Likeness::Certain => true,
    };
    is_secret.then_some(Finding { start, end, kind: "password" })
}

/// Returns the words between quotes that begin at `start`, after a verb: `it's "seven green Bicycles 1999"`.
fn quoted_phrase(text: &[u8], start: usize, done: usize) -> Option<Finding> {
    let quote = start
        .checked_sub(1)
        .map(|open| text[open])
        .filter(|&byte| alphabet::has_class(byte, QUOTE))?;
    let window = &text[start..text.len().min(start + MAX_VALUE_BYTES)];
    let length = window.iter().position(|&byte| byte == quote)?;
    let is_phrase =
        phrase::is_loose_phrase(&window[..length]) && cue(text, start, done) >= Cue::Strong;
    is_phrase.then_some(Finding { start, end: start + length, kind: "passphrase" })
}

/// Returns four groups of four characters at `start`, the form of app passwords: `qzvt hbwk xmrd lpfy`.
fn groups(text: &[u8], start: usize, done: usize) -> Option<Finding> {
    const GROUP_BYTES: usize = 4;
    let length = 4 * (GROUP_BYTES + 1) - 1;
    let window = text.get(start..start + length)?;
    let is_over = text.get(start + length).is_none_or(|&byte| !alphabet::has_class(byte, ALNUM));
    let mut joined = [0; 4 * GROUP_BYTES];
    for (group, room) in window.split(|&byte| byte == b' ').zip(joined.chunks_mut(GROUP_BYTES)) {
        if group.len() != GROUP_BYTES
            || !group.iter().all(|&byte| alphabet::has_class(byte, LOWER | DIGIT))
        {
            return None;
        }
        room.copy_from_slice(group);
    }
    let is_secret =
        is_over && randomness::has_rare_pairs(&joined) && cue(text, start, done) == Cue::Equals;
    is_secret.then_some(Finding { start, end: start + length, kind: "password" })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn passwords_anywhere_in_a_sentence() {
        for text in [
            "Don't use Hamburg-2019 any more, that password leaked.",
            "The passphrase has a hyphen, it's Mondlicht-12.",
            "When it asks for the password, type Hamburg_2019.",
            "behind basic auth (preview / Morgentau55), so Playwright fails",
            "The broker's credentials are orders:morgentau55, vhost /orders.",
            "The password was changed from Regenbogen1 to Sturmflut-29 yesterday.",
            "VNC on the kiosk: kiosk!77 (that's the password)",
            "an app password: qzvt hbwk xmrd lpfy.",
            "`WEBHOOK_SECRET` is `57b43ae8ad1edcac896705c9e3d99574d2f302c357b43ae8`, in CI too",
            "GPG asks for a passphrase; it's \"seven green Bicycles 1999\".",
        ] {
            assert_ne!(redact(text), text);
        }
    }

    #[test]
    fn names_beside_passwords_stay() {
        for text in [
            "Login works with Chrome-120 and Firefox-121, the password field is Dialog-42.",
            "The password is stored in 1Password, vault Infra-2024.",
            "Switched password hashing from bcrypt to Argon2id.",
            "PROJ-1234 tracks the login redirect loop.",
            "Login moved from /admin-v1 to /admin-v2.",
            "The login cache is cleared with Ctrl+Shift+F5.",
            "credentials file, see aws/aws-cli#847.",
            "I logged in as QA-User-07 on Build-2024.",
            "// password / a comment",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
