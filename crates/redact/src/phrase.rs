//! Secrets made of words: `correct horse battery staple`, a mnemonic of twelve words.
//!
//! Sentences are made of words too. So a phrase is searched for only after a name that announces one, and it has
//! next to none of the short words of sentences.

use super::Finding;
use super::alphabet::{self, LOWER, NAME, QUOTE, SPACE};

/// Minimum number of words of a phrase.
const MIN_WORDS: usize = 4;
/// Minimum number of words of a mnemonic. A sentence of that length has short words.
const MIN_MNEMONIC_WORDS: usize = 11;
/// Length of text between `backup codes` and the codes.
const MAX_CODES_GAP_BYTES: usize = 80;
/// Longest phrase that is examined.
const MAX_BYTES: usize = 320;

/// Returns true for four or more words without a word of sentences or of secret names.
pub(super) fn is_phrase(value: &[u8]) -> bool {
    let parting = match value.iter().skip(1).find(|&&byte| !alphabet::has_class(byte, LOWER)) {
        Some(&sign) if matches!(sign, b' ' | b'-' | b'_' | b'.') => sign,
        _ => return false,
    };
    let mut count = 0;
    let words = value.split(|&byte| byte == parting).all(|word| {
        count += 1;
        let mut lower = [0; 10];
        let Some(lower) = lower.get_mut(..word.len()) else { return false };
        lower.copy_from_slice(word);
        if parting != b' ' && !lower.is_empty() {
            lower[0] = lower[0].to_ascii_lowercase();
        }
        is_word(lower) && !is_ordinary(lower)
    });
    words && count >= MIN_WORDS && value.len() <= MAX_BYTES
}

/// Returns the phrase after the word from `at` to `end`: `seed phrase: a b c …`, `the passphrase is "a b c d"`.
pub(super) fn after_name(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    if !is_name(text, at, end) {
        return None;
    }
    let gap = SPACE | QUOTE | alphabet::COLON | alphabet::EQUALS;
    let mut start = alphabet::run(text, end, gap);
    let mut announced = text[end..start].iter().any(|&byte| !alphabet::has_class(byte, SPACE));
    for verb in [&b"is"[..], b"was"] {
        let after = start + verb.len();
        if start > end && alphabet::starts(text, start, verb) && alphabet::is_at(text, after, gap) {
            announced = true;
            start = alphabet::run(text, after, gap);
        }
    }
    // `the passphrase for the key is …`.
    if start > end && !announced && !text[at..end].eq_ignore_ascii_case(b"password") {
        let window = &text[end..text.len().min(end + 48)];
        let line = window.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let links = |part: &[u8]| part == b" is " || part.starts_with(b": ");
        if let Some(verb) = line.windows(4).position(links) {
            announced = true;
            start = alphabet::run(text, end + verb + if line[verb] == b':' { 2 } else { 4 }, gap);
        }
    } else if start - end > 12 {
        return None;
    }
    if start == end {
        return None;
    }
    if let Some(found) = whole_line(text, at, end, start) {
        return Some(found);
    }
    if let Some(found) = quoted(text, start).filter(|_| announced) {
        return Some(found);
    }
    let (mut count, mut ordinary, mut stop) = (0, 0, start);
    // Words before the first ordinary one.
    let (mut phrase_count, mut phrase_stop) = (0, start);
    let mut next = start;
    while next < start + MAX_BYTES {
        let word = alphabet::run(text, next, LOWER);
        let joined =
            text.get(word).is_some_and(|&byte| alphabet::has_class(byte, NAME) && byte != b'.');
        if joined || !is_word(&text[next..word]) {
            break;
        }
        count += 1;
        stop = word;
        ordinary += usize::from(is_ordinary(&text[next..word]));
        if ordinary == 0 {
            (phrase_count, phrase_stop) = (count, word);
        }
        if text.get(word) != Some(&b' ') {
            break;
        }
        next = word + 1;
    }
    let found = |end| Some(Finding { start, end, kind: "passphrase" });
    if count >= MIN_MNEMONIC_WORDS && ordinary * 4 <= count {
        return found(stop);
    }
    // `copper kettle under moss`: one ordinary word, and the sentence ends.
    let first = &text[start..alphabet::run(text, start, LOWER)];
    let is_over =
        text.get(stop).is_none_or(|&byte| !alphabet::has_class(byte, SPACE) || stop == text.len());
    if announced
        && (MIN_WORDS..=8).contains(&count)
        && ordinary * 4 <= count
        && is_over
        && !text[at..end].eq_ignore_ascii_case(b"password")
        && !is_ordinary(first)
        && !first.ends_with(b"ed")
        && !first.ends_with(b"ing")
        && !first.ends_with(b"en")
    {
        return found(stop);
    }
    if announced && phrase_count >= MIN_WORDS { found(phrase_stop) } else { None }
}

/// Returns the words between quotes at `start` if at most every third belongs to a sentence.
fn quoted(text: &[u8], start: usize) -> Option<Finding> {
    let quote = text[start - 1];
    let window = &text[start.min(text.len())..text.len().min(start + MAX_BYTES)];
    let length = window
        .iter()
        .position(|&byte| byte == quote)
        .filter(|_| alphabet::has_class(quote, QUOTE))?;
    let (mut count, mut ordinary) = (0, 0);
    let words = window[..length].split(|&byte| byte == b' ').all(|word| {
        count += 1;
        ordinary += usize::from(word.len() < 3 || is_ordinary(word));
        (1..=10).contains(&word.len()) && word.iter().all(|&byte| alphabet::has_class(byte, LOWER))
    });
    let is_phrase = words && count >= MIN_WORDS && ordinary * 3 <= count;
    is_phrase.then_some(Finding { start, end: start + length, kind: "passphrase" })
}

/// Returns true for three or more words with a number among them if at most every third belongs to a sentence.
pub(super) fn is_loose_phrase(value: &[u8]) -> bool {
    let (mut count, mut ordinary) = (0, 0);
    let are_words = value.split(|&byte| byte == b' ').all(|word| {
        count += 1;
        ordinary += usize::from(
            word.len() < 3 && !word.iter().all(u8::is_ascii_digit) || is_ordinary(word),
        );
        (1..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_alphanumeric)
    });
    are_words && count >= 3 && ordinary * 3 <= count && value.iter().any(u8::is_ascii_digit)
}

/// Returns the rest of a line of a configuration file: `passphrase = Four words or more`. The name is from `at` to
/// `end`.
fn whole_line(text: &[u8], at: usize, end: usize, start: usize) -> Option<Finding> {
    let sign = alphabet::run(text, end, SPACE);
    let is_passphrase = text[at..end].eq_ignore_ascii_case(b"passphrase");
    if !is_passphrase || !matches!(text.get(sign), Some(b'=' | b':')) {
        return None;
    }
    let name = alphabet::run_back(text, end, NAME, end.min(64));
    let line = alphabet::run_back(text, name, SPACE, name.min(40));
    if line > 0 && text[line - 1] != b'\n' {
        return None;
    }
    let window = &text[start..text.len().min(start + MAX_BYTES)];
    let length = window.iter().position(|&byte| alphabet::has_class(byte, alphabet::NEWLINE));
    let value = &window[..length.unwrap_or(window.len())];
    let mut words = 0;
    let plain = value.split(|&byte| byte == b' ').all(|word| {
        words += 1;
        !word.is_empty() && word.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte >= 128)
    });
    let is_code = value.split(|&byte| byte == b' ').any(is_code_word);
    (plain && words >= MIN_WORDS && !is_code).then_some(Finding {
        start,
        end: start + value.len(),
        kind: "passphrase",
    })
}

/// Returns true for words of expressions and of instructions.
fn is_code_word(word: &[u8]) -> bool {
    let words: [&[u8]; 10] =
        [b"or", b"and", b"if", b"else", b"not", b"await", b"new", b"None", b"your", b"must"];
    words.contains(&word) || is_ordinary(word)
}

/// Returns the codes after `backup codes` and `recovery code`. The last word is from `at` to `end`.
pub(super) fn codes(text: &[u8], at: usize, end: usize) -> Option<Finding> {
    let word = &text[at..end];
    let before = &text[at.saturating_sub(9)..at];
    let named = word.eq_ignore_ascii_case(b"code") || word.eq_ignore_ascii_case(b"codes");
    let kinds: [&[u8]; 4] = [b"ackup ", b"ackup_", b"ecovery ", b"ecovery_"];
    let typed: [&[u8]; 17] = [
        b"airing ",
        b"ccess ",
        b"ntry ",
        b"ctivation ",
        b"larm ",
        b"gate ",
        b"ne-time ",
        b"fication ",
        b"OTP ",
        b"otp ",
        b"2FA ",
        b"MFA ",
        b"SMS ",
        b"oor ",
        b"nlock ",
        b"ecurity ",
        b"ogin ",
    ];
    let is_typed = typed.iter().any(|kind| before.ends_with(kind));
    if !named || !is_typed && !kinds.iter().any(|kind| before.ends_with(kind)) {
        return None;
    }
    let gap = SPACE | QUOTE | alphabet::COLON | alphabet::EQUALS;
    let mut start = alphabet::run(text, end, gap);
    for verb in [&b"is "[..], b"was ", b"are "] {
        if alphabet::starts(text, start, verb) {
            start = alphabet::run(text, start + verb.len(), gap);
        }
    }
    // `two backup codes are left for the login: X and Y`.
    if !alphabet::is_at(text, start, alphabet::DIGIT) && !is_typed && word.len() == 5 {
        let window = &text[end..text.len().min(end + MAX_CODES_GAP_BYTES)];
        let line = window.split(|&byte| byte == b'\n').next().unwrap_or_default();
        start = line.windows(2).position(|two| two == b": ").map_or(start, |sign| end + sign + 2);
    }
    let (mut next, mut stop) = (start, start);
    while next < start + MAX_BYTES {
        let code = alphabet::run(text, next, alphabet::ALNUM | alphabet::DASH);
        let value = &text[next..code];
        let over = text
            .get(code)
            .is_none_or(|&byte| alphabet::has_class(byte, alphabet::END) || byte == b'.');
        let is_code = over
            && (!is_typed
                || value.len() <= 12
                    && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-'))
            && (if is_typed { 4 } else { 6 }..=24).contains(&value.len())
            && value.iter().any(u8::is_ascii_digit);
        if !is_code {
            break;
        }
        stop = code;
        let comma = usize::from(text.get(code) == Some(&b','));
        next = alphabet::run(text, code + comma, alphabet::BLANK);
        for word in [&b"and "[..], b"und ", b"or "] {
            next += if alphabet::starts(text, next, word) { word.len() } else { 0 };
        }
        if next == code {
            break;
        }
    }
    (start > end && stop > start).then_some(Finding { start, end: stop, kind: "code" })
}

/// Returns the number after `OTP`. The word ends at `end`.
pub(super) fn one_time(text: &[u8], end: usize) -> Option<Finding> {
    let start = alphabet::run(text, end, SPACE | alphabet::COLON | alphabet::EQUALS);
    let stop = alphabet::run(text, start, alphabet::DIGIT);
    let over =
        text.get(stop).is_none_or(|&byte| alphabet::has_class(byte, alphabet::END) || byte == b'.');
    let is_code = start > end && (6..=8).contains(&(stop - start)) && over;
    is_code.then_some(Finding { start, end: stop, kind: "code" })
}

/// Returns true if a word, together with the one before it, announces a phrase.
fn is_name(text: &[u8], at: usize, end: usize) -> bool {
    let word = &text[at..end];
    let is = |known: &[u8]| word.eq_ignore_ascii_case(known);
    if is(b"passphrase") || is(b"mnemonic") || is(b"password") || is(b"seedphrase") {
        return true;
    }
    let before = &text[at.saturating_sub(10)..at];
    let before = before.strip_suffix(b" ").or(before.strip_suffix(b"_")).unwrap_or_default();
    let kinds: [&[u8]; 5] = [b"seed", b"recovery", b"mnemonic", b"backup", b"wallet"];
    let kind = |kind: &&[u8]| {
        before.len() >= kind.len() && before[before.len() - kind.len()..].eq_ignore_ascii_case(kind)
    };
    (is(b"phrase") || is(b"words")) && kinds.iter().any(kind)
}

/// Returns true for a word of three to ten small letters.
fn is_word(word: &[u8]) -> bool {
    (3..=10).contains(&word.len()) && word.iter().all(|&byte| alphabet::has_class(byte, LOWER))
}

/// Returns true for words of sentences, forms and names.
#[rustfmt::skip]
fn is_ordinary(word: &[u8]) -> bool {
    matches!(
        word,
        b"access" | b"account" | b"admin" | b"after" | b"again" | b"all" | b"and" | b"any" | b"api" | b"app" | b"are"
        | b"argon" | b"asked" | b"auth" | b"bcrypt" | b"been" | b"before" | b"both" | b"but" | b"cannot" | b"can"
        | b"change" | b"changed" | b"check" | b"checked" | b"client" | b"code" | b"config" | b"confirm" | b"contain"
        | b"correctly" | b"could" | b"current" | b"default" | b"different" | b"does" | b"each" | b"either" | b"email"
        | b"empty" | b"enter" | b"env" | b"every" | b"expired" | b"fails" | b"field" | b"file" | b"first" | b"for"
        | b"forgot" | b"from" | b"given" | b"had" | b"has" | b"hash" | b"hashed" | b"have" | b"her" | b"here" | b"his"
        | b"how" | b"input" | b"into" | b"invalid" | b"its" | b"just" | b"key" | b"last" | b"least" | b"length" | b"less"
        | b"list" | b"login" | b"long" | b"longer" | b"match" | b"matches" | b"may" | b"might" | b"missing" | b"more"
        | b"must" | b"name" | b"need" | b"needed" | b"needs" | b"never" | b"new" | b"not" | b"now" | b"off" | b"old"
        | b"once" | b"one" | b"only" | b"optional" | b"other" | b"our" | b"out" | b"pass" | b"passphrase" | b"password"
        | b"path" | b"phrase" | b"please" | b"prompt" | b"random" | b"read" | b"repeat" | b"required" | b"reset"
        | b"same" | b"secret" | b"seed" | b"sent" | b"server" | b"service" | b"set" | b"should" | b"show" | b"shown"
        | b"sign" | b"since" | b"some" | b"stored" | b"strong" | b"such" | b"test" | b"than" | b"that" | b"the"
        | b"their" | b"them" | b"then" | b"there" | b"these" | b"they" | b"this" | b"those" | b"through" | b"token"
        | b"too" | b"two" | b"type" | b"under" | b"until" | b"use" | b"used" | b"user" | b"username" | b"uses"
        | b"using" | b"valid" | b"value" | b"vault" | b"via" | b"was" | b"wasn" | b"well" | b"were" | b"what" | b"when"
        | b"where" | b"which" | b"while" | b"who" | b"why" | b"will" | b"with" | b"without" | b"words" | b"work"
        | b"works" | b"would" | b"wrong" | b"you" | b"your"
    )
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn phrases_go_and_sentences_stay() {
        for text in [
            "passphrase: correct horse battery staple",
            "the passphrase is \"correct horse battery staple\".",
            "password: \"correct horse battery staple\"",
            "DB_PASSWORD=correct-horse-battery-staple",
            "seed phrase: ripple orbit canyon velvet lemon husband tiger soup marble acid fox wolf",
            "invalid mnemonic ripple orbit canyon velvet lemon husband tiger soup marble acid fox wolf",
        ] {
            let left = redact(text);
            assert!(!left.contains("battery") && !left.contains("canyon"), "{left}");
        }
        for text in [
            "the passphrase is asked for when the agent starts",
            "password: \"must contain eight characters\"",
            "passphrase: enter the new one twice",
            "mnemonic for the opcode is move",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
