//! Signatures of failures: the parts that stay the same when the same bug fails again, on another line, machine or day.

use super::report::Failure;
use rutter_redact::Clean;

/// Separator of the parts of a signature.
const PART: &str = " | ";
/// Minimum number of letters of a message that identifies a failure.
const WORDS: usize = 6;
/// Maximum length of a masked message. Messages differ long before this.
const LENGTH: usize = 160;
/// Maximum number of characters of a message or name that are read.
const READ: usize = 2_000;

/// Returns the signature of a run's failures; None if none of them has one.
///
/// Of several signatures it is the first in alphabetical order, as their order in the output is random.
pub fn of_failures(failures: &[Failure]) -> Option<String> {
    failures.iter().filter_map(of_failure).min()
}

/// Returns the signature of one failure; None if it has too little text.
pub fn of_failure(failure: &Failure) -> Option<String> {
    // Redacted before masking: with masked digits a secret would not be recognised.
    let clean = |text: &str| Clean::new(&text.chars().take(READ).collect::<String>());
    let message = failure.message.as_deref().map(|text| masked(&clean(text))).unwrap_or_default();
    let frame = failure.frame.as_deref().map(file_of).unwrap_or_default();
    let error = failure.error.as_deref().unwrap_or_default();
    let test =
        failure.test.as_deref().map(|test| without_addresses(&clean(test))).unwrap_or_default();
    // Without a test or error name only words identify a failure: a brace printed alone does not.
    let words = message.chars().filter(|c| c.is_alphabetic()).count() >= WORDS;
    if test.is_empty() && error.is_empty() && !words {
        return None;
    }
    Some([test.as_str(), error, &message, &frame].join(PART))
}

/// Returns true if two signatures belong to the same failure: the test is the same, and every other part is equal or
/// missing in one of them. The end of an output, as `tail` shows it, often has only the name.
pub fn alike(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other): (Vec<&str>, Vec<&str>) =
        (one.split(PART).collect(), other.split(PART).collect());
    let same = |(one, other): (&&str, &&str)| one == other || one.is_empty() || other.is_empty();
    one.len() == other.len()
        && one[0] == other[0]
        && !one[0].is_empty()
        && one.iter().zip(&other).all(same)
}

/// Returns the last part of a path; the folders differ between machines.
fn file_of(path: &str) -> String {
    path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned()
}

/// Masks the parts of a test's name that differ between runs: addresses, and the line of a documentation test.
fn without_addresses(name: &str) -> String {
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
pub fn masked(message: &str) -> String {
    let mut kept = String::new();
    for word in message.split_whitespace() {
        if !kept.is_empty() {
            kept.push(' ');
        }
        kept.push_str(&masked_word(word));
        if kept.len() > LENGTH {
            break;
        }
    }
    kept.chars().take(LENGTH).collect()
}

fn masked_word(word: &str) -> String {
    // A path is reduced to its file; a slash alone or in `and/or` does not make a path.
    let path = word.contains('/')
        && (word.starts_with(['/', '.', '~'])
            || word.matches('/').count() > 1
            || word.contains('.'));
    let word = if path {
        let start: String = word.chars().take_while(|c| "'\"`([{<".contains(*c)).collect();
        format!("{start}{}", file_of(word))
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

    fn failure(test: &str, error: &str, message: &str, frame: &str) -> Failure {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Failure {
            test: some(test),
            error: some(error),
            message: some(message),
            frame: some(frame),
            ..Failure::default()
        }
    }

    #[test]
    fn what_changes_from_run_to_run_is_masked() {
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
            assert_eq!(masked(one), masked(other));
        }
    }

    #[test]
    fn what_tells_bugs_apart_stays() {
        for (one, other) in [
            ("expected 'a' but got 'b'", "expected 'a' but got 'c'"),
            ("name 'foo' is not defined", "name 'bar' is not defined"),
            ("no such file: /x/a.json", "no such file: /x/b.json"),
            ("either/or", "neither/nor"),
        ] {
            assert_ne!(masked(one), masked(other));
        }
    }

    #[test]
    fn names_of_tests_keep_what_is_theirs() {
        assert_eq!(
            without_addresses("tests/test_1.py::test_2[<Obj at 0x7f2a>-3]"),
            "tests/test_1.py::test_2[<Obj at 0x#>-3]"
        );
        assert_eq!(without_addresses("src/lib.rs - add (line 14)"), "src/lib.rs - add (line #)");
    }

    #[test]
    fn of_a_secret_nothing_is_left() {
        for secret in [
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "AKIAIOSFODNN7QWERTYU",
            "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
        ] {
            let message = format!("the key {secret} was refused");
            let signature = of_failure(&failure("t", "KeyError", &message, "a.py")).unwrap();
            assert!(signature.contains("[redacted:"), "{signature}");
        }
    }

    #[test]
    fn what_says_less_is_alike() {
        let whole = "t | KeyError | 'name' | a.py";
        for (other, expected) in [
            (whole, true),
            ("t | KeyError | 'name' | ", true),
            ("t |  |  | ", true),
            ("t | KeyError | 'size' | a.py", false),
            ("u | KeyError | 'name' | ", false),
            (" | KeyError | 'name' | a.py", false),
        ] {
            assert_eq!(alike(whole, other), expected, "{other}");
        }
        assert!(!alike(" | E0308 | mismatched types | a.rs", " | E0308 | mismatched types | "));
    }

    #[test]
    fn order_does_not_matter_and_places_on_other_machines_do_not_either() {
        let a = failure(
            "tests/test_a.py::test_x",
            "AssertionError",
            "assert 1 == 2",
            "/home/ada/app/src/a.py",
        );
        let b = failure("tests/test_b.py::test_y", "KeyError", "'name'", "src/b.py");
        assert_eq!(of_failures(&[a.clone(), b.clone()]), of_failures(&[b.clone(), a.clone()]));
        let elsewhere = Failure { frame: Some("/ci/7/app/src/a.py".to_owned()), ..a.clone() };
        assert_eq!(of_failures(std::slice::from_ref(&a)), of_failures(&[elsewhere]));
        assert_ne!(of_failures(&[a]), of_failures(&[b]));
        assert_eq!(of_failures(&[Failure::default()]), None);
        assert_eq!(of_failures(&[]), None);
    }
}
