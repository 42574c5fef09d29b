//! git's configuration syntax, as `git config` reads it.

#[cfg(test)]
mod tests;

/// What configuration files say, in their order.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// Full names as git prints them (`remote.origin.url`: section and variable in lower case), and values;
    /// `None` for a variable without `=`, which is to be read as true.
    entries: Vec<Entry>,
}

type Entry = (Vec<u8>, Option<Vec<u8>>);

impl Config {
    /// Adds what another file says. At a line that is no configuration git gives up altogether; here what stands
    /// before it counts. Whether the whole text was understood is the answer.
    pub(super) fn add(&mut self, text: &[u8]) -> bool {
        let mut reader = Reader { text: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text), at: 0 };
        reader.entries(&mut self.entries).is_some()
    }

    /// The last value of a variable: the one that counts, where there can be only one.
    pub(super) fn last(&self, name: &[u8]) -> Option<&[u8]> {
        let (_, value) = self.entries.iter().rfind(|(entry, _)| entry == name)?;
        value.as_deref()
    }

    /// Whether the last value of a variable means yes.
    pub(super) fn is_true(&self, name: &[u8]) -> bool {
        match self.entries.iter().rfind(|(entry, _)| entry == name) {
            None => false,
            Some((_, None)) => true,
            Some((_, Some(value))) => ["true", "yes", "on", "1"]
                .iter()
                .any(|yes| value.eq_ignore_ascii_case(yes.as_bytes())),
        }
    }

    /// All values of a variable in every subsection of a section, with the subsection's name.
    pub(super) fn of<'a>(
        &'a self,
        section: &'a [u8],
        variable: &'a [u8],
    ) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.entries.iter().filter_map(move |(name, value)| {
            // A subsection may have dots of its own; the first and the last one are the separators.
            let name = name.strip_prefix(section)?.strip_prefix(b".")?;
            let subsection = name.strip_suffix(variable)?.strip_suffix(b".")?;
            Some((subsection, value.as_deref()))
        })
    }
}

/// Reads one text. `None` from any of these means that git would refuse it here.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The next byte. Line ends of Windows are plain ones, and the end of the text is the end of a line.
    fn next(&mut self) -> u8 {
        let rest = &self.text[self.at.min(self.text.len())..];
        let (byte, length) = match rest {
            [] => (b'\n', 1),
            [b'\r', b'\n', ..] => (b'\n', 2),
            [byte, ..] => (*byte, 1),
        };
        self.at += length;
        byte
    }

    /// Whether the last byte was the end of the text rather than a byte of it.
    fn ended(&self) -> bool {
        self.at > self.text.len()
    }

    fn entries(&mut self, entries: &mut Vec<Entry>) -> Option<()> {
        let mut section = Vec::new();
        loop {
            match self.next() {
                b'\n' if self.ended() => return Some(()),
                byte if is_space(byte) => {}
                b'#' | b';' => while self.next() != b'\n' {},
                b'[' => {
                    section = self.section()?;
                    section.push(b'.');
                }
                byte if byte.is_ascii_alphabetic() => {
                    let mut name = section.clone();
                    name.push(byte.to_ascii_lowercase());
                    entries.push(self.variable(name)?);
                }
                _ => return None,
            }
            // A comment may have run into the end.
            if self.ended() {
                return Some(());
            }
        }
    }

    /// The rest of `[section]`, `[section.sub]` (of old, in any case) or `[section "Sub"]`.
    fn section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.next() {
                b']' => return (!name.is_empty()).then_some(name),
                byte if is_space(byte) && !self.ended() => {
                    self.subsection(byte, &mut name)?;
                    return Some(name);
                }
                byte if is_name(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    fn subsection(&mut self, mut byte: u8, name: &mut Vec<u8>) -> Option<()> {
        while is_space(byte) {
            if byte == b'\n' {
                return None;
            }
            byte = self.next();
        }
        if byte != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            match self.next() {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next() {
                    b'\n' => return None,
                    escaped => name.push(escaped),
                },
                byte => name.push(byte),
            }
        }
        (self.next() == b']').then_some(())
    }

    /// The rest of a variable's name, and its value.
    fn variable(&mut self, mut name: Vec<u8>) -> Option<Entry> {
        let mut byte = self.next();
        while is_name(byte) {
            name.push(byte.to_ascii_lowercase());
            byte = self.next();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        match byte {
            b'\n' => Some((name, None)),
            b'=' => Some((name, Some(self.value()?))),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut quoted = false;
        // How long the value is without the blanks at its end.
        let mut kept = 0;
        loop {
            let byte = self.next();
            match byte {
                b'\n' if quoted => return None,
                b'\n' => break,
                b'#' | b';' if !quoted => {
                    while self.next() != b'\n' {}
                    break;
                }
                byte if is_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'"' => quoted = !quoted,
                b'\\' => match self.next() {
                    b'\n' => {}
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                byte => value.push(byte),
            }
            kept = value.len();
        }
        value.truncate(kept);
        // git keeps values as C strings.
        let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
        value.truncate(end);
        Some(value)
    }
}

/// What git calls a space: neither form feeds nor vertical tabs.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
