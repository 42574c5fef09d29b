//! Assignments within percent-encoded URLs: `next=https%3A%2F%2Fhost%3Ftoken%3Dx`, `%22password%22%3A%22x%22`.

use super::Finding;
use super::alphabet::{self, NAME, TILDE};
use super::name;
use super::value::{self, ValueContext};
use super::value_span::ValueForm;

/// Returns the secret after the encoded separator at `at`.
pub(super) fn secret(text: &[u8], at: usize, done: usize) -> Option<Finding> {
    let separator = text.get(at..at + 3)?;
    if !matches!(separator, b"%3D" | b"%3d" | b"%3A" | b"%3a") {
        return None;
    }
    let before = &text[at.saturating_sub(3).max(done)..at];
    let end = if before == b"%22" || before == b"%27" { at - 3 } else { at };
    let start = alphabet::run_back(text, end, NAME, (end - done).min(name::MAX_NAME_BYTES));
    // The digits of the escape before the name do not belong to it.
    let start = if start > done && text[start - 1] == b'%' { (start + 2).min(end) } else { start };
    let named = name::classify(&text[start..end])?;
    let mut from = at + 3;
    while alphabet::starts(text, from, b"%22")
        || alphabet::starts(text, from, b"%27")
        || alphabet::starts(text, from, b"%20")
    {
        from += 3;
    }
    let to = alphabet::run(text, from, NAME | TILDE);
    let value = &text[from..to];
    let secret =
        !value.is_empty() && value::is_secret(value, named, ValueContext::plain(ValueForm::Tight));
    secret.then_some(Finding { start: from, end: to, kind: named.kind })
}

#[cfg(test)]
mod tests {
    use crate::redact;

    #[test]
    fn encoded_assignments() {
        for (text, left) in [
            (
                "u=https%3A%2F%2Fh%3Ftoken%3Dk3Xw9QzA1b",
                "u=https%3A%2F%2Fh%3Ftoken%3D[redacted:token]",
            ),
            ("%22password%22%3A%22hunter22%22", "%22password%22%3A%22[redacted:password]%22"),
        ] {
            assert_eq!(redact(text), left);
        }
        let text = "q=token%3Arefresh&x=a%3Db";
        assert_eq!(redact(text), text);
    }
}
