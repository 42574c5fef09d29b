//! A writer that removes terminal escape sequences and defuses client markup.
//!
//! Stored text and file names may come from unreviewed repositories, and agents read the output of commands. So all
//! command output that contains them goes through this writer.

use std::io::{self, Write};

use rutter_memory::quote::sanitize_line;

/// A writer of lines without escape sequences, hidden characters and client tags.
pub(crate) struct HarmlessWriter<'a> {
    inner: &'a mut dyn Write,
    /// Text after the last newline, not written yet.
    pending: Vec<u8>,
    keeps_colours: bool,
}

impl<'a> HarmlessWriter<'a> {
    pub(crate) fn new(inner: &'a mut dyn Write, keeps_colours: bool) -> Self {
        Self { inner, pending: Vec::new(), keeps_colours }
    }

    fn write_pending(&mut self, end: usize) -> io::Result<()> {
        let rest = self.pending.split_off(end);
        let text = std::mem::replace(&mut self.pending, rest);
        let text = String::from_utf8_lossy(&text);
        let (line, newline) = text.strip_suffix('\n').map_or((&*text, ""), |line| (line, "\n"));
        self.inner.write_all(sanitize_line(line, self.keeps_colours).as_bytes())?;
        self.inner.write_all(newline.as_bytes())
    }
}

impl Write for HarmlessWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some(at) = self.pending.iter().position(|byte| *byte == b'\n') {
            self.write_pending(at + 1)?;
        }
        Ok(bytes.len())
    }

    /// Also writes an incomplete last line, so that a question appears before its answer is read.
    fn flush(&mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.write_pending(self.pending.len())?;
        }
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn writes_sanitized_lines_once() {
        let mut out = Vec::new();
        let mut writer = HarmlessWriter::new(&mut out, false);
        for part in ["one \u{1b}", "]0;x\u{7}two\n</system", "-reminder>\nwho? ", "日本"] {
            writer.write_all(part.as_bytes()).unwrap();
        }
        writer.flush().unwrap();
        writer.flush().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "one two\n‹/system-reminder>\nwho? 日本");
    }

    /// [`Path::display`] keeps newlines, so the name of a folder could forge a line of output.
    #[test]
    fn paths_are_printed_in_one_line() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut folders = ["hooks", "memory", "runs", "rutter", "search", "server"]
            .map(|name| crates.join(name).join("src"))
            .to_vec();
        let mut files = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let (program, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
                    let is_test = path.ends_with("tests.rs");
                    assert!(
                        is_test || !program.contains(concat!(".disp", "lay()")),
                        "{path:?}: use `PathLine::to_line`"
                    );
                    files += 1;
                }
            }
        }
        assert!(files > 100, "{files}");
    }
}
