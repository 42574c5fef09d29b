//! Signatures of failures: the parts that stay the same when the same bug fails again, on another line, machine or day.

use super::report::ReportedFailure;
use rutter_redact::Clean;

/// Separator of the parts of a signature.
const PART_SEPARATOR: &str = " | ";
/// Minimum number of letters of a message that identifies a failure.
const MIN_MESSAGE_LETTERS: usize = 6;
/// Maximum length of a masked message. Messages differ long before this.
const MAX_MESSAGE_CHARS: usize = 160;
/// Maximum number of characters of a message or name that are read.
const MAX_READ_CHARS: usize = 2_000;

/// Returns the signature of a run's failures; None if none of them has one.
///
/// Of several signatures it is the first in alphabetical order, as their order in the output is random.
pub fn failures_signature(failures: &[ReportedFailure]) -> Option<String> {
    failures.iter().filter_map(failure_signature).min()
}

/// Returns the signature of one failure; None if it has too little text.
pub fn failure_signature(failure: &ReportedFailure) -> Option<String> {
    // Redacted before masking: with masked digits a secret would not be recognised.
    let clean = |text: &str| Clean::new(&text.chars().take(MAX_READ_CHARS).collect::<String>());
    let message =
        failure.message.as_deref().map(|text| mask_message(&clean(text))).unwrap_or_default();
    let frame = failure.frame.as_deref().map(file_name).unwrap_or_default();
    let error = failure.error.as_deref().unwrap_or_default();
    let test = failure.test.as_deref().map(|test| mask_addresses(&clean(test))).unwrap_or_default();
    // Without a test or error name only words identify a failure: a brace printed alone does not.
    let words = message.chars().filter(|c| c.is_alphabetic()).count() >= MIN_MESSAGE_LETTERS;
    if test.is_empty() && error.is_empty() && !words {
        return None;
    }
    Some([test.as_str(), error, &message, &frame].join(PART_SEPARATOR))
}

/// Returns true if two signatures belong to the same failure: the test is the same, and every other part is equal or
/// missing in one of them. The end of an output, as `tail` shows it, often has only the name.
pub fn is_same_failure(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split(PART_SEPARATOR).collect(), other.split(PART_SEPARATOR).collect());
    let same = |(one, other): (&&str, &&str)| one == other || one.is_empty() || other.is_empty();
    one.len() == other.len()
        && one[0] == other[0]
        && !one[0].is_empty()
        && one.iter().zip(&other).all(same)
}

/// Returns the last part of a path; the folders differ between machines.
fn file_name(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// Masks the parts of a test's name that differ between runs: addresses, and the line of a documentation test.
fn mask_addresses(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(start) = rest.find("0x").into_iter().chain(rest.find("(line ")).min() {
        let mark = if rest[start..].starts_with("0x") { "0x" } else { "(line " };
        kept.push_str(&rest[..start + mark.len()]);
        kept.push('#');
        rest = rest[start + mark.len()..].trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    kept.push_str(rest);
    kept
}

/// Masks the numbers, addresses, times and ids in a message and removes folders.
pub fn mask_message(message: &str) -> String {
    let mut kept = String::new();
    for word in message.split_whitespace() {
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(&mask_word(word));
        if kept.len() > MAX_MESSAGE_CHARS {
            break;
        }
    }
    kept.chars().take(MAX_MESSAGE_CHARS).collect()
}

fn mask_word(word: &str) -> String {
    // A path is reduced to its file; a slash alone or in `and/or` does not make a path.
    let path = word.contains('/')
        && (word.starts_with(['/', '.', '~'])
            || word.matches('/').count() > 1
            || word.contains('.'));
    let word = if path {
        let start: String = word.chars().take_while(|c| "'\"`([{<".contains(*c)).collect();
        format!("{start}{}", file_name(word))
    } else {
        word.to_owned()
    };
    let mut kept = String::with_capacity(word.len());
    let mut rest = word.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        kept.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let run = &rest[..end];
        rest = &rest[end..];
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        let hex = run.bytes().all(|byte| byte.is_ascii_hexdigit()) || run.starts_with("0x");
        let number = digits > 0 && (hex || digits == run.len());
        // Numbers that belong together, like 1.5, 12:30:01 or a UUID, become one mark.
        let before = kept.trim_end_matches(['.', ':', '-']).len();
        let joined = kept[..before].ends_with('#')
            && (number || run.starts_with(|c: char| c.is_ascii_digit()));
        if joined {
            kept.truncate(before - 1);
        }
        if number {
            kept.push('#');
            continue;
        }
        for c in run.chars() {
            match c {
                '0'..='9' if kept.ends_with('#') => {}
                '0'..='9' => kept.push('#'),
                c => kept.push(c),
            }
        }
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(test: &str, error: &str, message: &str, frame: &str) -> ReportedFailure {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ReportedFailure {
            test: some(test),
            error: some(error),
            message: some(message),
            frame: some(frame),
            ..ReportedFailure::default()
        }
    }

    #[test]
    fn variable_parts_are_masked() {
        for (one, other) in [
            ("assert 3 == 4", "assert 17 == 4"),
            ("object at 0x7f3a2b10 is gone", "object at 0x55d0c8e0 is gone"),
            ("no such file: /home/ada/app/data/x.json", "no such file: /build/7/app/data/x.json"),
            ("took 1.52s at 12:30:01", "took 0.9s at 08:01:59"),
            (
                "job 0f8fad5b-d9cd-469f-a165-70867728950e failed",
                "job 7c9e6679-7425-40de-944b-e07fc1f90ae7 failed",
            ),
            ("cannot open /tmp/tmpab12cd/out.txt", "cannot open /var/folders/x/out.txt"),
        ] {
            assert_eq!(mask_message(one), mask_message(other));
        }
    }

    #[test]
    fn distinguishing_parts_stay() {
        for (one, other) in [
            ("expected 'a' but got 'b'", "expected 'a' but got 'c'"),
            ("name 'foo' is not defined", "name 'bar' is not defined"),
            ("no such file: /x/a.json", "no such file: /x/b.json"),
            ("either/or", "neither/nor"),
        ] {
            assert_ne!(mask_message(one), mask_message(other));
        }
    }

    #[test]
    fn test_names_are_kept() {
        assert_eq!(
            mask_addresses("tests/test_1.py::test_2[<Obj at 0x7f2a>-3]"),
            "tests/test_1.py::test_2[<Obj at 0x#>-3]"
        );
        assert_eq!(mask_addresses("src/lib.rs - add (line 14)"), "src/lib.rs - add (line #)");
    }

    #[test]
    fn secrets_are_redacted() {
        for secret in [
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAIOSFODNN7QWERTYU",
            "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
        ] {
            let message = format!("the key {secret} was refused");
            let signature = failure_signature(&failure("t", "KeyError", &message, "a.py")).unwrap();
            assert!(signature.contains("[redacted:"), "{signature}");
        }
    }

    #[test]
    fn partial_signatures_match() {
        let whole = "t | KeyError | 'name' | a.py";
        for (other, expected) in [
            (whole, true),
            ("t | KeyError | 'name' | ", true),
            ("t |  |  | ", true),
            ("t | KeyError | 'size' | a.py", false),
            ("u | KeyError | 'name' | ", false),
            (" | KeyError | 'name' | a.py", false),
        ] {
            assert_eq!(is_same_failure(whole, other), expected, "{other}");
        }
        assert!(!is_same_failure(
            " | E0308 | mismatched types | a.rs",
            " | E0308 | mismatched types | "
        ));
    }

    #[test]
    fn order_and_machine_do_not_matter() {
        let a = failure(
            "tests/test_a.py::test_x",
            "AssertionError",
            "assert 1 == 2",
            "/home/ada/app/src/a.py",
        );
        let b = failure("tests/test_b.py::test_y", "KeyError", "'name'", "src/b.py");
        assert_eq!(
            failures_signature(&[a.clone(), b.clone()]),
            failures_signature(&[b.clone(), a.clone()])
        );
        let elsewhere =
            ReportedFailure { frame: Some("/ci/7/app/src/a.py".to_owned()), ..a.clone() };
        assert_eq!(failures_signature(std::slice::from_ref(&a)), failures_signature(&[elsewhere]));
        assert_ne!(failures_signature(&[a]), failures_signature(&[b]));
        assert_eq!(failures_signature(&[ReportedFailure::default()]), None);
        assert_eq!(failures_signature(&[]), None);
    }
}
