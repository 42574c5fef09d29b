//! Parses one configuration file into its settings and mistakes.

use std::path::Path;

use rutter_contract::find_nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::finding::{Finding, Mistake, Position, shown};
use super::keys::{KEYS, Key, Kind, SECTIONS, Value};

/// Maximum number of findings per file. Each costs a hook time, and users do not read more.
const MOST: usize = 50;

/// Keys of hooks from older descriptions, and their replacements.
const REPLACED: &[(&str, &str)] = &[
    ("script", "every hook runs `rutter hook`; leave it out"),
    ("command", "every hook runs `rutter hook`; leave it out"),
    ("timeout_ms", "`deadline_ms` says when a hook stops trying to speak"),
    ("timeout", "`deadline_ms` says when a hook stops trying to speak"),
    ("once", "a hook says a thing once anyway; leave it out"),
    ("matcher", "`matchers` in [hooks.outcome_capture] names further commands to watch"),
];

/// Tables that are named after an event, and their real names.
const EVENTS: &[(&str, &str)] = &[
    ("PreToolCall", "ghap_checkin"),
    ("PreToolUse", "ghap_checkin"),
    ("PostToolCall", "outcome_capture"),
    ("PostToolUse", "outcome_capture"),
    ("PostToolUseFailure", "outcome_capture"),
];

/// The settings of a file.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub(super) entries: Vec<Entry>,
    pub(super) findings: Vec<Finding>,
}

/// A setting.
#[derive(Debug)]
pub(super) struct Entry {
    /// Index of the key in [`KEYS`].
    pub(super) key: usize,
    pub(super) value: Value,
    pub(super) position: Position,
}

impl Layer {
    /// Parses a file. A file that is not valid TOML sets nothing.
    pub(super) fn parse(file: &Path, bytes: &[u8]) -> Self {
        let mut reader = Reader { file, text: "", layer: Self::default() };
        match str::from_utf8(bytes) {
            Ok(text) => {
                reader.text = text.strip_prefix('\u{feff}').unwrap_or(text);
                match DeTable::parse(reader.text) {
                    Ok(table) => reader.table("", table.get_ref()),
                    Err(error) => {
                        let at = error.span().map_or(0, |span| span.start);
                        reader.syntax(at, error.message());
                    }
                }
            }
            Err(error) => {
                reader.text = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                reader.syntax(reader.text.len(), "this is not UTF-8");
            }
        }
        reader.layer.findings.sort_by_key(|finding| finding.position);
        reader.layer
    }
}

struct Reader<'a> {
    file: &'a Path,
    text: &'a str,
    layer: Layer,
}

impl Reader<'_> {
    fn table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let (at, name) = (name.span().start, name.get_ref());
            if let Some(place) = place(section, name) {
                self.key(place, value);
                continue;
            }
            let inner = join(section, name);
            match value.get_ref() {
                DeValue::Table(table) if is_section(&inner) => self.table(&inner, table),
                _ if is_section(&inner) => {
                    let what = format!("`{inner}` is a table");
                    self.find(at, Mistake::WrongValue, &inner, what, format!("write [{inner}]"));
                }
                _ => self.unknown(at, section, name),
            }
        }
    }

    fn key(&mut self, place: usize, value: &Spanned<DeValue<'_>>) {
        let key = &KEYS[place];
        let at = value.span().start;
        match read(key, value.get_ref()) {
            Some(value) => {
                let position = Position::of(self.text, at);
                self.layer.entries.push(Entry { key: place, value, position });
            }
            None if self.is_full() => {}
            None => {
                let path = key.path();
                let what = format!("`{path}` cannot be {}", described(key, value.get_ref()));
                let advice = format!("write {}", key.expected());
                self.find(at, Mistake::WrongValue, &path, what, advice);
            }
        }
    }

    fn unknown(&mut self, at: usize, section: &str, name: &str) {
        if self.is_full() {
            return;
        }
        let path = join(section, name);
        let place = if section.is_empty() { "at the top" } else { section };
        let replaced = REPLACED.iter().find(|(old, _)| *old == name);
        if let Some((_, instead)) = replaced.filter(|_| section.starts_with("hooks")) {
            let what = format!("`{name}` means nothing in [{section}]");
            return self.find(at, Mistake::Replaced, &path, what, (*instead).to_owned());
        }
        let advice = match meant(section, name) {
            Some(advice) => advice,
            None => "`rutter config show --defaults` lists all of them".to_owned(),
        };
        let what = if section.is_empty() {
            format!("there is no `{}` {place}", shown(name))
        } else {
            format!("there is no `{}` in [{place}]", shown(name))
        };
        self.find(at, Mistake::UnknownKey, &path, what, advice);
    }

    fn syntax(&mut self, at: usize, message: &str) {
        let what = format!("this is no TOML: {}", shown(message));
        let advice = "mend it; until then the whole file counts for nothing".to_owned();
        self.find(at, Mistake::Syntax, "", what, advice);
    }

    fn is_full(&self) -> bool {
        self.layer.findings.len() >= MOST
    }

    fn find(&mut self, at: usize, mistake: Mistake, key: &str, what: String, advice: String) {
        if self.is_full() {
            return;
        }
        self.layer.findings.push(Finding {
            file: self.file.to_owned(),
            position: Some(Position::of(self.text, at)),
            mistake,
            key: (!key.is_empty()).then(|| shown(key)),
            what,
            advice,
        });
    }
}

fn join(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

fn place(section: &str, name: &str) -> Option<usize> {
    KEYS.iter().position(|key| key.name == name && key.section == section)
}

/// Returns true for the path of a known table or of a parent of one.
fn is_section(path: &str) -> bool {
    SECTIONS.iter().any(|(section, _)| {
        section
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || (rest.starts_with('.') && !path.is_empty()))
    })
}

/// Returns a suggestion for an unknown name.
fn meant(section: &str, name: &str) -> Option<String> {
    // The right name in the wrong table: at the end of a file every key belongs to the last table.
    let mut elsewhere = KEYS.iter().filter(|key| key.name == name);
    if let (Some(key), None) = (elsewhere.next(), elsewhere.next()) {
        return Some(if key.section.is_empty() {
            format!("`{name}` stands at the top, before the first table")
        } else {
            format!("`{name}` stands in [{}]", key.section)
        });
    }
    let hooks = section.is_empty() || section == "hooks";
    if let Some((_, right)) = EVENTS.iter().find(|(event, _)| hooks && *event == name) {
        return Some(format!("write [hooks.{right}]"));
    }
    // Tables are also found by their last name: `[session_start]` lacks the first part.
    let tables = SECTIONS.iter().filter_map(|(path, _)| {
        let rest = if section.is_empty() {
            *path
        } else {
            path.strip_prefix(section)?.strip_prefix('.')?
        };
        Some((rest.rsplit('.').next().unwrap_or(rest), format!("did you mean [{path}]?")))
    });
    let keys = KEYS
        .iter()
        .filter(|key| key.section == section)
        .map(|key| (key.name, format!("did you mean `{}`?", key.name)));
    let elsewhere = || {
        let keys = KEYS.iter().filter(|key| key.name != "enabled" && !key.section.is_empty());
        find_nearest(name, keys.map(|key| (key.name, key)))
            .map(|key| format!("did you mean `{}` in [{}]?", key.name, key.section))
    };
    find_nearest(name, keys.chain(tables)).or_else(elsewhere)
}

/// Converts a value, or returns None if the key cannot have it.
fn read(key: &Key, value: &DeValue<'_>) -> Option<Value> {
    let (least, most) = key.range;
    match (key.kind(), value) {
        (Kind::Flag, DeValue::Boolean(flag)) => Some(Value::Flag(*flag)),
        (Kind::Number, DeValue::Integer(number)) => {
            let number = u32::from_str_radix(number.as_str(), number.radix()).ok()?;
            (least..=most).contains(&number).then_some(Value::Number(number))
        }
        (Kind::Share, DeValue::Float(share)) => {
            let share: f64 = share.as_str().parse().ok()?;
            (0.0..=1.0).contains(&share).then_some(Value::Share(share))
        }
        (Kind::Share, DeValue::Integer(share)) => {
            let share = u8::from_str_radix(share.as_str(), share.radix()).ok()?;
            (share <= 1).then_some(Value::Share(f64::from(share)))
        }
        (Kind::Words, DeValue::Array(words)) => {
            let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
                DeValue::String(word) if !word.trim().is_empty() => Some(word.clone().into_owned()),
                _ => None,
            };
            words.iter().map(word).collect::<Option<Vec<String>>>().map(Value::Words)
        }
        (Kind::Choice(names), DeValue::String(word)) => {
            names.iter().find(|name| *name == word).map(|name| Value::Choice(name))
        }
        _ => None,
    }
}

/// Describes an unexpected value for a message. Does not quote texts.
fn described(key: &Key, value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => number.to_string().chars().take(24).collect(),
        DeValue::Float(number) => number.to_string().chars().take(24).collect(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::String(word) => match key.kind() {
            Kind::Choice(_) => format!("\"{}\"", shown(word)),
            _ => "a text".to_owned(),
        },
        DeValue::Array(_) if key.kind() == Kind::Words => "this list".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
    }
}
