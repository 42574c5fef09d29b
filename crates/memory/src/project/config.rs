//! Parses git's configuration syntax like `git config` does.

#[cfg(test)]
mod tests;

/// Variables that are used here. Others are skipped, because a hostile configuration may have very many.
const USED_VARIABLES: [&[u8]; 6] =
    [b"bare", b"insteadof", b"objectformat", b"url", b"worktree", b"worktreeconfig"];

/// Maximum length of a section name in bytes; variables of longer ones are skipped. Section names are compared with
/// each other.
const MAX_SECTION_BYTES: usize = 2048;

/// The variables of configuration files, in order.
#[derive(Debug, Default)]
pub(super) struct GitConfig {
    /// Section names in the form that git prints: `core`, `remote.origin`, the first part in lower case.
    sections: Vec<Vec<u8>>,
    entries: Vec<GitConfigEntry>,
}

/// A line of a configuration.
#[derive(Debug)]
struct GitConfigEntry {
    /// Index of its section. Names are not copied: one long name can have very many variables.
    section: usize,
    /// The name in lower case.
    variable: Vec<u8>,
    /// The value, or `None` for a variable without `=`, which means true.
    value: Option<Vec<u8>>,
}

impl GitConfig {
    /// Adds the used variables of another file. If git would refuse a line and with it the whole file, the lines before
    /// it count here. Returns true if the whole text was valid.
    pub(super) fn add(&mut self, text: &[u8]) -> bool {
        self.add_if(text, |variable| USED_VARIABLES.contains(&variable))
    }

    fn add_if(&mut self, text: &[u8], is_used: fn(&[u8]) -> bool) -> bool {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        GitConfigParser { text, at: 0, is_used }.read_into(self).is_some()
    }

    /// Returns the last value of a variable, which is the effective one.
    pub(super) fn last_value(&self, name: &[u8]) -> Option<&[u8]> {
        self.last_entry(name)?.value.as_deref()
    }

    /// Returns true if the last value of a variable means yes.
    pub(super) fn is_true(&self, name: &[u8]) -> bool {
        match self.last_entry(name).map(|entry| &entry.value) {
            None => false,
            Some(None) => true,
            Some(Some(value)) => ["true", "yes", "on", "1"]
                .iter()
                .any(|yes| value.eq_ignore_ascii_case(yes.as_bytes())),
        }
    }

    fn last_entry(&self, name: &[u8]) -> Option<&GitConfigEntry> {
        // A subsection may contain dots; the first and the last dot are the separators.
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        let (section, variable) = (&name[..dot], &name[dot + 1..]);
        self.entries
            .iter()
            .rfind(|entry| entry.variable == variable && self.sections[entry.section] == section)
    }

    /// Returns all values of a variable in every subsection of a section, with the subsection's name.
    pub(super) fn subsection_values<'a>(
        &'a self,
        section: &'a [u8],
        variable: &'a [u8],
    ) -> impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)> {
        self.entries.iter().filter(move |entry| entry.variable == variable).filter_map(
            move |entry| {
                let name = self.sections[entry.section].strip_prefix(section)?;
                Some((name.strip_prefix(b".")?, entry.value.as_deref()))
            },
        )
    }
}

/// Parses one text. `None` from any method means that git would refuse the text here.
struct GitConfigParser<'a> {
    text: &'a [u8],
    at: usize,
    /// Returns true for variables that are kept.
    is_used: fn(&[u8]) -> bool,
}

impl GitConfigParser<'_> {
    /// Returns the next byte. Windows line ends count as plain ones, and the end of the text as the end of a line.
    fn next_byte(&mut self) -> u8 {
        let rest = &self.text[self.at.min(self.text.len())..];
        let (byte, length) = match rest {
            [] => (b'\n', 1),
            [b'\r', b'\n', ..] => (b'\n', 2),
            [byte, ..] => (*byte, 1),
        };
        self.at += length;
        byte
    }

    /// Returns true if the last byte was the end of the text and not a byte of it.
    fn is_at_end(&self) -> bool {
        self.at > self.text.len()
    }

    fn read_into(&mut self, config: &mut GitConfig) -> Option<()> {
        let mut section = Vec::new();
        let mut is_known = false;
        loop {
            match self.next_byte() {
                b'\n' if self.is_at_end() => return Some(()),
                byte if is_git_space(byte) => {}
                b'#' | b';' => while self.next_byte() != b'\n' {},
                b'[' => {
                    section = self.parse_section()?;
                    is_known = false;
                }
                byte if byte.is_ascii_alphabetic() => {
                    let (variable, value) = self.parse_variable(byte)?;
                    if (self.is_used)(&variable) && section.len() <= MAX_SECTION_BYTES {
                        if !is_known {
                            config.sections.push(section.clone());
                            is_known = true;
                        }
                        let section = config.sections.len() - 1;
                        config.entries.push(GitConfigEntry { section, variable, value });
                    }
                }
                _ => return None,
            }
            // A comment may have reached the end of the text.
            if self.is_at_end() {
                return Some(());
            }
        }
    }

    /// Parses the rest of `[section]`, `[section.sub]` (old, in any case) or `[section "Sub"]`.
    fn parse_section(&mut self) -> Option<Vec<u8>> {
        let mut name = Vec::new();
        loop {
            match self.next_byte() {
                b']' => return (!name.is_empty()).then_some(name),
                byte if is_git_space(byte) && !self.is_at_end() => {
                    self.parse_subsection(byte, &mut name)?;
                    return Some(name);
                }
                byte if is_name_byte(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                _ => return None,
            }
        }
    }

    fn parse_subsection(&mut self, mut byte: u8, name: &mut Vec<u8>) -> Option<()> {
        while is_git_space(byte) {
            if byte == b'\n' {
                return None;
            }
            byte = self.next_byte();
        }
        if byte != b'"' {
            return None;
        }
        name.push(b'.');
        loop {
            match self.next_byte() {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next_byte() {
                    b'\n' => return None,
                    escaped => name.push(escaped),
                },
                byte => name.push(byte),
            }
        }
        (self.next_byte() == b']').then_some(())
    }

    /// Parses a variable that begins with this byte, and its value.
    fn parse_variable(&mut self, first: u8) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let mut name = vec![first.to_ascii_lowercase()];
        let mut byte = self.next_byte();
        while is_name_byte(byte) {
            name.push(byte.to_ascii_lowercase());
            byte = self.next_byte();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next_byte();
        }
        match byte {
            b'\n' => Some((name, None)),
            b'=' => Some((name, Some(self.parse_value()?))),
            _ => None,
        }
    }

    fn parse_value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut quoted = false;
        // Length of the value without trailing spaces.
        let mut kept = 0;
        loop {
            let byte = self.next_byte();
            match byte {
                b'\n' if quoted => return None,
                b'\n' => break,
                b'#' | b';' if !quoted => {
                    while self.next_byte() != b'\n' {}
                    break;
                }
                byte if is_git_space(byte) && !quoted => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                    continue;
                }
                b'"' => quoted = !quoted,
                b'\\' => match self.next_byte() {
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
        // git stores values as C strings.
        let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
        value.truncate(end);
        Some(value)
    }
}

/// Returns true for the characters that git treats as spaces: neither form feeds nor vertical tabs.
fn is_git_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}
