//! Quotes paths and arguments in commands that the user is advised to type.

use std::fmt::Write as _;

/// Returns a text as one shell word, quoted only if necessary. The word contains no line break, so that a printed
/// command cannot start a line of its own. Control characters are written as `$'\x0a'`, which bash, zsh and ksh read.
pub(crate) fn quote_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.-_+@:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else if text.contains(char::is_control) {
        let mut word = String::from("$'");
        for sign in text.chars() {
            if sign.is_control() {
                for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(word, "\\x{byte:02x}");
                }
            } else if matches!(sign, '\\' | '\'') {
                word.extend(['\\', sign]);
            } else {
                word.push(sign);
            }
        }
        word.push('\'');
        word
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn shell_reads_one_word() {
        assert_eq!(quote_word("/opt/x-1.0_a+b@c:/rutter"), "/opt/x-1.0_a+b@c:/rutter");
        assert_eq!(quote_word("/my files/it's"), "'/my files/it'\\''s'");
        for text in ["", "a b", "it's", "''", "$HOME", "`id`", "a  b", "~", "x;y", "\\", "\"", "é"]
        {
            let line = format!("printf '[%s]' {}", quote_word(text));
            let output = Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("[{text}]"));
        }
    }

    #[test]
    fn words_have_no_line_breaks() {
        assert_eq!(quote_word("a\nb"), "$'a\\x0ab'");
        for text in ["a\nb", "\n", "it's\ta \\ $x", "\u{85}1\u{1b}[2J"] {
            assert!(!quote_word(text).contains(char::is_control), "{text:?}");
            let line = format!("printf '[%s]' {}", quote_word(text));
            // Some systems have no bash.
            if let Ok(output) = Command::new("bash").args(["-c", &line]).output() {
                assert_eq!(String::from_utf8_lossy(&output.stdout), format!("[{text}]"));
            }
        }
    }
}
