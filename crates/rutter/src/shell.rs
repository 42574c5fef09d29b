//! What is typed into a shell: a command that somebody is told to type has to mean what it says, whatever a path in it is
//! called.

/// A text as one word of a shell's, as it stands where that is enough.
pub(crate) fn word(text: &str) -> String {
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
    fn a_shell_takes_it_for_one_word() {
        assert_eq!(word("/opt/x-1.0_a+b@c:/rutter"), "/opt/x-1.0_a+b@c:/rutter");
        assert_eq!(word("/my files/it's"), "'/my files/it'\\''s'");
        for text in
            ["", "a b", "it's", "''", "$HOME", "`id`", "a  b", "~", "x;y", "a\nb", "\\", "\"", "é"]
        {
            let line = format!("printf '[%s]' {}", word(text));
            let output = Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), format!("[{text}]"));
        }
    }
}
