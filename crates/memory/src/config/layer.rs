//! Parses one configuration file into its settings and mistakes.

use std::path::Path;

use rutter_contract::find_nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::finding::{ConfigFinding, ConfigMistake, FilePosition, shorten_name};
use super::keys::{ConfigKey, ConfigValue, ConfigValueKind, KEYS, SECTIONS};

/// Maximum number of findings per file. Each costs a hook time, and users do not read more.
const MAX_FINDINGS: usize = 50;

/// The table with the settings for single projects.
pub(super) const PROJECTS_TABLE: &str = "projects";

/// Advice for a key that sets the deadline of a hook.
const FIXED_DEADLINE_ADVICE: &str = "deadlines are fixed; remove this key";

/// Keys of hooks from older versions and descriptions, and their replacements.
const REPLACED_KEYS: &[(&str, &str)] = &[
    ("script", "every hook runs `rutter hook`; remove this key"),
    ("command", "every hook runs `rutter hook`; remove this key"),
    ("deadline_ms", FIXED_DEADLINE_ADVICE),
    ("timeout_ms", FIXED_DEADLINE_ADVICE),
    ("timeout", FIXED_DEADLINE_ADVICE),
    ("once", "a hook never repeats a text; remove this key"),
    ("matcher", "`matchers` in [hooks.outcome_capture] names further commands to watch"),
];

/// Tables that are named after an event, and their real names.
const EVENT_TABLES: &[(&str, &str)] = &[
    ("PreToolCall", "ghap_checkin"),
    ("PreToolUse", "ghap_checkin"),
    ("PostToolCall", "outcome_capture"),
    ("PostToolUse", "outcome_capture"),
    ("PostToolUseFailure", "outcome_capture"),
];

/// The settings of a file.
#[derive(Debug, Default)]
pub(super) struct ConfigLayer {
    pub(super) entries: Vec<ConfigEntry>,
    /// The settings for single projects, by the name of each table.
    pub(super) projects: Vec<ProjectTable>,
    pub(super) findings: Vec<ConfigFinding>,
}

/// The settings for one project, `[projects."github.com/o/r"]`.
#[derive(Debug)]
pub(super) struct ProjectTable {
    /// A key of the project, or the path of its folder.
    pub(super) name: String,
    pub(super) position: FilePosition,
    pub(super) entries: Vec<ConfigEntry>,
}

/// A setting.
#[derive(Debug)]
pub(super) struct ConfigEntry {
    /// Index of the key in [`KEYS`].
    pub(super) key: usize,
    pub(super) value: ConfigValue,
    pub(super) position: FilePosition,
}

impl ConfigLayer {
    /// Parses a file. A file that is not valid TOML sets nothing.
    pub(super) fn parse(file: &Path, bytes: &[u8]) -> Self {
        let mut reader = ConfigLayerReader { file, text: "", layer: Self::default() };
        match str::from_utf8(bytes) {
            Ok(text) => {
                reader.text = text.strip_prefix('\u{feff}').unwrap_or(text);
                match DeTable::parse(reader.text) {
                    Ok(table) => reader.read_table("", table.get_ref()),
                    Err(error) => {
                        let at = error.span().map_or(0, |span| span.start);
                        reader.report_syntax_error(at, error.message());
                    }
                }
            }
            Err(error) => {
                reader.text = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
                reader.report_syntax_error(reader.text.len(), "this is not UTF-8");
            }
        }
        reader.layer.findings.sort_by_key(|finding| finding.position);
        reader.layer
    }
}

struct ConfigLayerReader<'a> {
    file: &'a Path,
    text: &'a str,
    layer: ConfigLayer,
}

impl ConfigLayerReader<'_> {
    fn read_table(&mut self, section: &str, table: &DeTable<'_>) {
        for (name, value) in table {
            let (at, name) = (name.span().start, name.get_ref());
            if let Some(place) = find_key_index(section, name) {
                self.read_key(place, value);
                continue;
            }
            let inner = join_key_path(section, name);
            if inner == PROJECTS_TABLE {
                self.read_projects(at, value.get_ref());
                continue;
            }
            match value.get_ref() {
                DeValue::Table(table) if is_section(&inner) => self.read_table(&inner, table),
                _ if is_section(&inner) => {
                    let what = format!("`{inner}` is a table");
                    self.add_finding(
                        at,
                        ConfigMistake::WrongValue,
                        &inner,
                        what,
                        format!("write [{inner}]"),
                    );
                }
                _ => self.report_unknown_key(at, section, name),
            }
        }
    }

    /// Reads the tables for single projects. Each has the keys of the file.
    fn read_projects(&mut self, at: usize, value: &DeValue<'_>) {
        let DeValue::Table(tables) = value else {
            let what = format!("`{PROJECTS_TABLE}` is a table");
            let advice = format!("write [{PROJECTS_TABLE}.\"github.com/owner/repo\"]");
            return self.add_finding(at, ConfigMistake::WrongValue, PROJECTS_TABLE, what, advice);
        };
        for (name, value) in tables {
            let position = FilePosition::at_byte(self.text, name.span().start);
            let DeValue::Table(table) = value.get_ref() else {
                let path = join_key_path(PROJECTS_TABLE, name.get_ref());
                let what = format!("`{}` is a table", shorten_name(&path));
                let advice = format!("write [{PROJECTS_TABLE}.\"github.com/owner/repo\"]");
                let at = name.span().start;
                self.add_finding(at, ConfigMistake::WrongValue, &path, what, advice);
                continue;
            };
            let others = std::mem::take(&mut self.layer.entries);
            self.read_table("", table);
            let entries = std::mem::replace(&mut self.layer.entries, others);
            let name = name.get_ref().to_string();
            self.layer.projects.push(ProjectTable { name, position, entries });
        }
    }

    fn read_key(&mut self, place: usize, value: &Spanned<DeValue<'_>>) {
        let key = &KEYS[place];
        let at = value.span().start;
        match convert_value(key, value.get_ref()) {
            Some(value) => {
                let position = FilePosition::at_byte(self.text, at);
                self.layer.entries.push(ConfigEntry { key: place, value, position });
            }
            None if self.is_full() => {}
            None => {
                let path = key.path();
                let what = format!("`{path}` cannot be {}", describe_value(key, value.get_ref()));
                let advice = format!("write {}", key.expected());
                self.add_finding(at, ConfigMistake::WrongValue, &path, what, advice);
            }
        }
    }

    fn report_unknown_key(&mut self, at: usize, section: &str, name: &str) {
        if self.is_full() {
            return;
        }
        let path = join_key_path(section, name);
        let place = if section.is_empty() { "at the top" } else { section };
        let replaced = REPLACED_KEYS.iter().find(|(old, _)| *old == name);
        if let Some((_, instead)) = replaced.filter(|_| section.starts_with("hooks")) {
            let what = format!("`{name}` has no meaning in [{section}]");
            return self.add_finding(
                at,
                ConfigMistake::Replaced,
                &path,
                what,
                (*instead).to_owned(),
            );
        }
        let advice = match suggest_key(section, name) {
            Some(advice) => advice,
            None => "`rutter config show --defaults` lists all of them".to_owned(),
        };
        let what = if section.is_empty() {
            format!("there is no `{}` {place}", shorten_name(name))
        } else {
            format!("there is no `{}` in [{place}]", shorten_name(name))
        };
        self.add_finding(at, ConfigMistake::UnknownKey, &path, what, advice);
    }

    fn report_syntax_error(&mut self, at: usize, message: &str) {
        let what = format!("this is not TOML: {}", shorten_name(message));
        let advice = "fix it; until then the whole file is ignored".to_owned();
        self.add_finding(at, ConfigMistake::Syntax, "", what, advice);
    }

    fn is_full(&self) -> bool {
        self.layer.findings.len() >= MAX_FINDINGS
    }

    fn add_finding(
        &mut self,
        at: usize,
        mistake: ConfigMistake,
        key: &str,
        what: String,
        advice: String,
    ) {
        if self.is_full() {
            return;
        }
        self.layer.findings.push(ConfigFinding {
            file: self.file.to_owned(),
            position: Some(FilePosition::at_byte(self.text, at)),
            mistake,
            key: (!key.is_empty()).then(|| shorten_name(key)),
            what,
            advice,
        });
    }
}

fn join_key_path(section: &str, name: &str) -> String {
    if section.is_empty() { name.to_owned() } else { format!("{section}.{name}") }
}

fn find_key_index(section: &str, name: &str) -> Option<usize> {
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
fn suggest_key(section: &str, name: &str) -> Option<String> {
    // The right name in the wrong table: at the end of a file every key belongs to the last table.
    let mut elsewhere = KEYS.iter().filter(|key| key.name == name);
    if let (Some(key), None) = (elsewhere.next(), elsewhere.next()) {
        return Some(if key.section.is_empty() {
            format!("`{name}` belongs at the top, before the first table")
        } else {
            format!("`{name}` belongs in [{}]", key.section)
        });
    }
    let hooks = section.is_empty() || section == "hooks";
    if let Some((_, right)) = EVENT_TABLES.iter().find(|(event, _)| hooks && *event == name) {
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
fn convert_value(key: &ConfigKey, value: &DeValue<'_>) -> Option<ConfigValue> {
    let (least, most) = key.range;
    match (key.kind(), value) {
        (ConfigValueKind::Flag, DeValue::Boolean(flag)) => Some(ConfigValue::Flag(*flag)),
        (ConfigValueKind::Number, DeValue::Integer(number)) => {
            let number = u32::from_str_radix(number.as_str(), number.radix()).ok()?;
            (least..=most).contains(&number).then_some(ConfigValue::Number(number))
        }
        (ConfigValueKind::Share, DeValue::Float(share)) => {
            let share: f64 = share.as_str().parse().ok()?;
            (0.0..=1.0).contains(&share).then_some(ConfigValue::Share(share))
        }
        (ConfigValueKind::Share, DeValue::Integer(share)) => {
            let share = u8::from_str_radix(share.as_str(), share.radix()).ok()?;
            (share <= 1).then_some(ConfigValue::Share(f64::from(share)))
        }
        (ConfigValueKind::Words, DeValue::Array(words)) => {
            let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
                DeValue::String(word) if !word.trim().is_empty() => Some(word.clone().into_owned()),
                _ => None,
            };
            words.iter().map(word).collect::<Option<Vec<String>>>().map(ConfigValue::Words)
        }
        (ConfigValueKind::Choice(names), DeValue::String(word)) => {
            names.iter().find(|name| *name == word).map(|name| ConfigValue::Choice(name))
        }
        _ => None,
    }
}

/// Describes an unexpected value for a message. Does not quote texts.
fn describe_value(key: &ConfigKey, value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => number.to_string().chars().take(24).collect(),
        DeValue::Float(number) => number.to_string().chars().take(24).collect(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::String(word) => match key.kind() {
            ConfigValueKind::Choice(_) => format!("\"{}\"", shorten_name(word)),
            _ => "a text".to_owned(),
        },
        DeValue::Array(_) if key.kind() == ConfigValueKind::Words => "this list".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Datetime(_) => "a date".to_owned(),
    }
}
