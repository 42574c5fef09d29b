//! Quotes paths and arguments in commands that the user is advised to type.

/// Returns a text as one shell word, quoted only if necessary.
pub(crate) fn quote_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/.-_+@:".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
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
        for text in
            ["", "a b", "it's", "''", "$HOME", "`id`", "a  b", "~", "x;y", "a\nb", "\\", "\"", "é"]
        {
            let line = format!("printf '[%s]' {}", quote_word(text));
            let output = Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("[{text}]"));
        }
    }
}
