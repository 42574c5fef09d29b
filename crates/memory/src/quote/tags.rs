//! Decides which `<` of a stored text is shown. Known forms of code keep theirs; every other `<` is escaped.
//!
//! A list of dangerous tags is never complete: spaces, hidden characters, accents and letters of other alphabets give
//! each tag many spellings. So the list here is of harmless forms, such as `a < b`, `Vec<u8>` and `#include <stdio.h>`,
//! in ASCII only.

/// The character that replaces a `<`.
const ESCAPED: char = '‹';

/// Number of characters after a `<` that are examined, with each run of spaces counted as one.
const MAX_AHEAD_CHARS: usize = 48;

/// Names of tags that a client or a model could interpret, also after an identifier. `-` and `_` are part of a name only
/// where they are listed.
const TAG_NAMES: &[&str] = &[
    "agent-",
    "antml",
    "assistant",
    "background-",
    "bash-",
    "command-",
    "endoftext",
    "function",
    "functions",
    "human",
    "ide_",
    "im_",
    "instruction",
    "instructions",
    "invoke",
    "local-command",
    "new-diagnostics",
    "parameter",
    "persisted-output",
    "reminder",
    "sys",
    "system",
    "task-",
    "teammate-",
    "thinking",
    "tool-",
    "tool_",
    "user",
];

/// Names between `<` and `>` that runtimes print. Clients have no such tags.
const HARMLESS_NAMES: &[&str] = &[
    "anonymous",
    "class",
    "clinit",
    "dictcomp",
    "dyn",
    "genexpr",
    "init",
    "lambda",
    "listcomp",
    "locals",
    "module",
    "stdin",
    "string",
    "unknown",
];

/// Returns true for a `<` and for characters that become one in a normalisation form.
pub(super) const fn is_opening(sign: char) -> bool {
    matches!(sign, '<' | '\u{fe64}' | '\u{ff1c}' | '\u{226e}')
}

/// Returns the escaped form of a character that looks like a `<`, and other characters unchanged.
pub(super) const fn escape_lookalike(sign: char) -> char {
    match sign {
        '\u{2c2}' | '\u{1438}' | '\u{16b2}' | '\u{2329}' | '\u{276c}' | '\u{276e}' | '\u{2770}'
        | '\u{27e8}' | '\u{29fc}' | '\u{3008}' | '\u{fe3f}' => ESCAPED,
        _ => sign,
    }
}

/// Returns the form in which an opening character is shown. `before` is the visible text before it in its line, `after`
/// the visible characters after it.
pub(super) fn shown_opening(
    opening: char,
    before: &str,
    after: impl Iterator<Item = char>,
) -> char {
    match opening {
        _ if !is_harmless(before, &look_ahead(after)) => ESCAPED,
        '\u{226e}' => opening,
        _ => '<',
    }
}

/// Returns the start of a text with each run of spaces as one space.
fn look_ahead(after: impl Iterator<Item = char>) -> String {
    let mut last = 'x';
    after
        .filter(|sign| {
            let is_repeated = sign.is_whitespace() && last.is_whitespace();
            last = *sign;
            !is_repeated
        })
        .take(MAX_AHEAD_CHARS)
        .map(|sign| if sign.is_whitespace() { ' ' } else { sign })
        .collect()
}

fn is_word_char(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

/// Returns true if a `<` between these texts is one of the known forms of code.
fn is_harmless(before: &str, ahead: &str) -> bool {
    let Some(first) = ahead.chars().next() else { return false };
    // `a <= b`, `<3`. No name of a tag starts like this.
    if first == '=' || first.is_ascii_digit() {
        return true;
    }
    if has_foreign_name(ahead) {
        return false;
    }
    let line = before.trim_end();
    if line.ends_with("include") && is_header_name(ahead) {
        return true;
    }
    if starts_with_tag_name(ahead) || is_markup(ahead) {
        return false;
    }
    let second = ahead[first.len_utf8()..].chars().next();
    let follows_word = before.ends_with(is_word_char) || before.ends_with(['<', '$']);
    match first {
        // `a << b`, `x <- y`, `a <> b`, `<-channel`, `<<-'EOF'`
        '<' | '>' => true,
        '-' => second.is_some_and(|second| is_word_char(second) || " '\"(*&".contains(second)),
        // `a < b`
        ' ' => {
            let follows_operand = line.ends_with(is_word_char)
                || before.ends_with('<')
                || line.ends_with([')', ']', '}', '"', '\'', '`', '%']);
            let operand = |sign: char| is_word_char(sign) || "(&*-+$\"'.@".contains(sign);
            follows_operand && second.is_some_and(operand)
        }
        // `List<? extends T>`
        '?' => follows_word && second.is_some_and(|second| matches!(second, ' ' | '>' | ',')),
        // `Vec<u8>`, `parse::<u8>`, `template <typename T>`, `#include <stdio.h>`
        _ if follows_word || line.ends_with("::") || line.ends_with("template") => {
            is_word_char(first) || "'\"&([{*".contains(first)
        }
        _ if line.ends_with("include") => is_word_char(first),
        _ => is_harmless_name(ahead),
    }
}

/// Returns true for the name of a header: `sys/types.h>`.
fn is_header_name(ahead: &str) -> bool {
    ahead.split_once('>').is_some_and(|(name, _)| {
        name.contains('.') && name.chars().all(|sign| is_word_char(sign) || "/.+-".contains(sign))
    })
}

/// Returns true for the name of an element with a hyphen, or for a name with an attribute: `x-y>`, `x y="z">`.
fn is_markup(ahead: &str) -> bool {
    let end = ahead.find(|sign| !is_word_char(sign) && sign != '-').unwrap_or(ahead.len());
    let (name, rest) = ahead.split_at(end);
    let has_attribute = || {
        let attribute =
            rest.trim_start().trim_start_matches(|sign| is_word_char(sign) || sign == '-');
        rest.starts_with(' ')
            && attribute.len() < rest.trim_start().len()
            && attribute.starts_with("=\"")
    };
    let has_hyphen =
        name.starts_with(|sign: char| sign.is_ascii_alphabetic()) && name.contains('-');
    has_hyphen && rest.starts_with('>') || !name.is_empty() && has_attribute()
}

/// Returns true for a name that is harmless at any place: of one letter, of a runtime, or before ` as `.
fn is_harmless_name(ahead: &str) -> bool {
    let end = ahead.find(|sign| !is_word_char(sign)).unwrap_or(ahead.len());
    let (name, rest) = ahead.split_at(end);
    !name.is_empty()
        && (name.len() == 1 || HARMLESS_NAMES.contains(&name) || rest.starts_with(" as "))
        && rest.starts_with(['>', ' ', ',', ':'])
}

/// Returns true if the name after a `<` has a character that may stand for a letter of another spelling. Every character
/// outside of ASCII counts, except punctuation of prose.
fn has_foreign_name(ahead: &str) -> bool {
    let mut in_name = false;
    for sign in ahead.chars() {
        match sign {
            '–' | '—' | '‘' | '’' | '“' | '”' | '…' | '←'..='⇿' | '⏎' => {
                return !in_name;
            }
            _ if !sign.is_ascii() => return true,
            _ if is_word_char(sign) => in_name = true,
            ' ' | '-' | '_' => {}
            _ if in_name => return false,
            _ => {}
        }
    }
    false
}

/// Returns true if the first name after a `<` is one of a tag, also with spaces inside.
fn starts_with_tag_name(ahead: &str) -> bool {
    let start = ahead.trim_start_matches(|sign: char| !sign.is_ascii_alphanumeric());
    let word = start.find(|sign: char| !sign.is_ascii_alphanumeric()).unwrap_or(start.len());
    let joined: String =
        start.chars().filter(|sign| *sign != ' ').collect::<String>().to_ascii_lowercase();
    TAG_NAMES.iter().any(|name| {
        // A longer word is another one, such as `SystemTime`.
        joined.starts_with(name) && (word <= name.len() || name.ends_with(['-', '_']))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rutter_redact::escape::without_sequences;
    use unicode_normalization::UnicodeNormalization as _;
    use unicode_normalization::char::is_combining_mark;

    use super::super::{escape_in_line, escape_quotation, format_field, sanitize_line};
    use super::*;

    fn all_forms(text: &str) -> [String; 5] {
        [
            sanitize_line(text, false),
            sanitize_line(text, true),
            format_field(text),
            escape_quotation(text),
            escape_in_line(text),
        ]
    }

    #[test]
    fn no_spelling_of_a_tag_passes() {
        let spaces = " ".repeat(64);
        let mut texts: Vec<String> = [
            "<\u{300}/system-reminder>",
            "<𝐬ystem>",
            "<ſystem>",
            "<ｓystem>",
            "<ⓢystem>",
            "<🅂ystem>",
            "<🇸ystem>",
            "<ѕystem>",
            "<sys\u{301}tem>",
            "<\t/system>",
            "<\n/system>",
            "＜/system＞",
            "﹤system﹥",
            "❮/system❯",
            "〈/system〉",
            "⟨system⟩",
            "ᐸ/system>",
            "≮/system>",
            "<\u{2044}system>",
            "<\u{2215}system>",
            "<\u{29f8}system>",
            "<\u{2571}system>",
            "<|im_start|>system",
            "<|system|>",
            "<!-- system -->",
            "<?system?>",
            "<task-notification>",
            "<context>",
            "<my_rules>",
            "x <sys tem>",
            "x < \u{1d42c}ystem>",
            "Vec<system>",
            "x<tool_use>",
            "x<invoke>",
            "x<task-notification>",
            "x<persisted-output>",
            "x<new-diagnostics>",
            "x<ide_selection>",
            "Vec<channel source=\"slack\">",
            "x < s y s t e m >",
            "if a < /system>",
            "a <",
        ]
        .map(str::to_owned)
        .to_vec();
        texts.push(format!("<{spaces}/system-reminder>"));
        texts.push(format!("a <{spaces}system>"));
        texts.push(format!("a <s{spaces}ystem>"));
        texts.push(format!("a <{}/system>", "\u{3000}".repeat(64)));
        texts.push(format!("a <{}/system>", "\u{300}".repeat(64)));
        texts.push(format!("a <{}/system>", "\u{200b}".repeat(64)));
        for text in &texts {
            for said in all_forms(text) {
                assert!(!said.contains(['<', '＜', '﹤', '❮', '≮', '〈']), "{text:?}: {said:?}");
                assert!(said.contains('‹'), "{text:?}: {said:?}");
            }
        }
    }

    #[test]
    fn code_stays_readable() {
        for text in [
            "Vec<T>",
            "a < b",
            "x <= y",
            "x <=y",
            "#include <stdio.h>",
            "#include <vector>",
            "HashMap<String, Vec<u8>>",
            "Foo<'a, T>",
            "impl<'a> Foo<'a>",
            "Box<dyn Fn()>",
            "Result<(), Error>",
            "Vec<&str>",
            "Option<[u8; 4]>",
            "iter.collect::<Vec<_>>()",
            "<T as Trait>::NAME",
            "template <typename T>",
            "std::vector<uint8_t>",
            "Vec<SystemTime>",
            "for (i = 0; i<n; i++)",
            "for (i = 0; i < n - 1; i++)",
            "if (items[0] < limit)",
            "f(x) < g(x)",
            "assert left < right — the order",
            "1 << 4",
            "cout << x",
            "cat <<EOF",
            "x <- c(1, 2)",
            "a <> b",
            "1<2",
            "i <3",
            "List<? extends Number>",
            "const f = <T>(x: T) => x",
            "tests.<locals>.inner",
            "File \"<stdin>\", line 1",
            "<class 'int'>",
            "-> Arc<Mutex<State>>",
            "v := <-ch",
            "case <-ctx.Done():",
            "cat <<-'EOF'",
            "#include <sys/types.h>",
        ] {
            for said in all_forms(text) {
                assert_eq!(said, text);
            }
        }
    }

    /// Reads a text as leniently as any reader could: without spaces and accents, with plain letters.
    fn fold(text: &str) -> String {
        without_sequences(text)
            .nfkd()
            .filter(|sign| !sign.is_whitespace() && !is_combining_mark(*sign))
            .map(|sign| match sign {
                '❮' | '⟨' | '〈' | 'ᐸ' | '˂' => '<',
                '\u{2044}' | '\u{2215}' | '\u{29f8}' => '/',
                _ => sign,
            })
            .flat_map(char::to_lowercase)
            .collect()
    }

    fn has_tag(folded: &str) -> bool {
        folded.match_indices('<').any(|(at, _)| {
            let rest = folded[at + 1..].trim_start_matches('/');
            TAG_NAMES.iter().any(|name| {
                let ends = |after: &str| !after.starts_with(char::is_alphanumeric);
                rest.strip_prefix(name)
                    .is_some_and(|after| name.ends_with(['-', '_']) || ends(after))
            })
        })
    }

    const PIECES: &[&str] = &[
        "<",
        "<",
        "<",
        "＜",
        "﹤",
        "❮",
        "〈",
        "≮",
        "‹",
        "/",
        "⁄",
        "∕",
        "⧸",
        "／",
        " ",
        "  ",
        "\t",
        "\n",
        "\u{a0}",
        "\u{3000}",
        "\u{300}",
        "\u{338}",
        "\u{200b}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{1b}[31m",
        "\u{1b}]0;t\u{7}",
        "system",
        "𝐬ystem",
        "ſystem",
        "ＳＹＳＴＥＭ",
        "ⓢystem",
        "SysTem",
        "sys",
        "tem",
        "s",
        "-reminder",
        "_use",
        "tool",
        "thinking",
        "function",
        "_calls",
        "antml:",
        "invoke",
        "user",
        "Human",
        "task",
        "-notification",
        ">",
        "＞",
        "|",
        "x",
        "a ",
        "Vec",
        "1",
        "(",
        ")",
        "=",
        "-",
        "::",
        "include ",
        "template ",
        "as ",
        "…",
        "—",
        "\"",
        "'",
        "&",
        "?",
        "!",
        ".",
        "é",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn no_mixture_forms_a_tag(pieces in prop::collection::vec(prop::sample::select(PIECES), 1..14)) {
            let text = pieces.concat();
            for said in all_forms(&text) {
                prop_assert!(!has_tag(&fold(&said)), "{text:?} is said as {said:?}");
            }
        }
    }
}
