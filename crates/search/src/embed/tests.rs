use super::*;

/// Tokens and vectors of a thousand texts from the reference tokeniser and numpy, made by `tools/distill/fixtures.py`.
const REFERENCE_TEXTS: &str = include_str!("../../fixtures/embed/texts.jsonl");

type ReferenceLine = (String, usize, usize, String, Option<String>);

fn reference_lines() -> impl Iterator<Item = ReferenceLine> {
    REFERENCE_TEXTS.lines().map(|line| serde_json::from_str(line).unwrap())
}

fn fnv32_hex(bytes: impl IntoIterator<Item = u8>) -> String {
    let hash = bytes
        .into_iter()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{hash:08x}")
}

fn tokenise(text: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let _ = wordpiece::Tokeniser::default().tokens(text, &mut |token| {
        all.push(token);
        ControlFlow::Continue(())
    });
    all
}

#[test]
fn tokens_match_reference() {
    let mut count = 0;
    for (text, times, length, hash, _) in reference_lines() {
        let found = tokenise(&text.repeat(times));
        assert_eq!(found.len(), length, "{text:?}");
        assert_eq!(
            fnv32_hex(found.iter().flat_map(|token| token.number().to_le_bytes())),
            hash,
            "{text:?}"
        );
        count += 1;
    }
    assert!(count >= 1_000, "{count}");
}

/// Equal to the bit: both add in single precision and in the same order.
#[test]
fn vectors_match_reference() {
    let mut known = 0;
    for (text, times, _, _, hash) in reference_lines() {
        let found = embed(&text.repeat(times));
        assert_eq!(found.map(|vector| fnv32_hex(vector.numbers)), hash, "{text:?}");
        known += usize::from(hash.is_some());
    }
    assert!(known >= 700, "{known}");
}

#[test]
fn unknown_words_have_no_vector() {
    for text in ["", " \n", "\u{10ffff}", &"x".repeat(101), "\u{301}\u{200b}"] {
        assert_eq!(embed(text), None, "{text:?}");
    }
    assert_eq!(Vector::new([0; VECTOR_DIMS]), None);
}

#[test]
fn texts_about_the_same_are_nearer() {
    let near = |a: &str, b: &str| embed(a).unwrap().cosine(&embed(b).unwrap());
    let same = near("the database is locked", "sqlite connection busy");
    let other = near("the database is locked", "rename the button on the page");
    assert!(same > other + 0.1, "{same} {other}");
    assert!((near("parseHttpHeader", "parse_http_header") - 1.0).abs() < 1e-6);
    assert!((near("one text", "one text") - 1.0).abs() < 1e-6);
}

#[test]
fn limits_number_of_tokens() {
    let word = "failed ".repeat(MAX_TOKENS);
    assert_eq!(embed(&word), embed(&(word.clone() + "and then everything else")));
    assert_ne!(embed("failed"), embed("failed and then everything else"));
}
