//! `.claude/hooks/config.yaml`: the configuration of an earlier description of these hooks.
//!
//! Neither the client nor Rutter uses it. Rutter tells its owner which keys exist in Rutter, under which names, and
//! which have no effect. Only the parts of YAML that such a file needs are parsed: tables by indentation, texts,
//! numbers and lists of texts.

use serde::Serialize;

use super::keys::{ConfigKey, ConfigValue, ConfigValueKind, KEYS};

/// Path of the file from the root of a checkout.
pub const HOOKS_YAML: &str = ".claude/hooks/config.yaml";

/// A key of the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct YamlKey {
    /// Line number, from 1.
    pub line: usize,
    /// Full name of the key.
    pub path: String,
    /// The equivalent in Rutter's configuration.
    #[serde(flatten)]
    pub meaning: YamlMeaning,
}

/// The equivalent of a key in Rutter's configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum YamlMeaning {
    /// A key with this value.
    Key {
        /// Full name of Rutter's key.
        key: String,
        /// The value as TOML.
        set: String,
        /// True if this is the default value.
        is_default: bool,
        /// The difference from the written value.
        note: Option<String>,
    },
    /// No equivalent, with the reason.
    Nothing(String),
}

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} cannot be read: {why}")]
pub struct YamlError {
    /// Line number, from 1.
    pub line: usize,
    /// The problem.
    pub why: &'static str,
}

/// Parses such a file and returns the equivalent of each key.
pub fn read_hooks_yaml(text: &str) -> Result<Vec<YamlKey>, YamlError> {
    let key = |(line, path, written): YamlEntry| {
        let meaning = find_meaning(&path, &written);
        YamlKey { line, path, meaning }
    };
    Ok(parse_entries(text)?.into_iter().map(key).collect())
}

/// A value: one text, or a list of them.
enum YamlValue {
    One(String),
    List(Vec<String>),
}

type YamlEntry = (usize, String, YamlValue);

/// Returns the keys with values, by their full names, in the order of the file.
fn parse_entries(text: &str) -> Result<Vec<YamlEntry>, YamlError> {
    let mut tables: Vec<(usize, String)> = Vec::new();
    let mut entries: Vec<YamlEntry> = Vec::new();
    // The key that is alone in its line, and its indentation: a list or a table follows.
    let mut open: Option<(usize, usize, String)> = None;
    for (number, raw) in text.lines().enumerate() {
        let line = strip_comment(raw);
        if line.trim().is_empty() || line.trim() == "---" {
            continue;
        }
        let error = |why| YamlError { line: number + 1, why };
        let indent = line.len() - line.trim_start_matches(' ').len();
        let content = line.trim();
        if line[indent..].starts_with('\t') {
            return Err(error("it is indented by a tab"));
        }
        if let Some(item) = content.strip_prefix('-') {
            let item = unquote(item.trim()).ok_or(error("a quote is not closed"))?;
            match (open.take(), entries.last_mut()) {
                (Some((_, at, path)), _) => entries.push((at, path, YamlValue::List(vec![item]))),
                (None, Some((_, _, YamlValue::List(items)))) => items.push(item),
                _ => return Err(error("a list without a key")),
            }
            continue;
        }
        if let Some((indent, _, path)) = open.take() {
            tables.push((indent, path));
        }
        while tables.last().is_some_and(|(of, _)| *of >= indent) {
            tables.pop();
        }
        let (name, value) = content.split_once(':').ok_or(error("it is not `key: value`"))?;
        let name = unquote(name.trim()).ok_or(error("a quote is not closed"))?;
        let path = match tables.last() {
            Some((_, table)) => format!("{table}.{name}"),
            None => name,
        };
        let value = value.trim();
        if value.is_empty() {
            open = Some((indent, number + 1, path));
        } else if let Some(list) = value.strip_prefix('[') {
            let list = list.strip_suffix(']').ok_or(error("a list is not closed"))?;
            let items = list.split(',').map(str::trim).filter(|item| !item.is_empty());
            let items: Option<Vec<String>> = items.map(unquote).collect();
            let items = items.ok_or(error("a quote is not closed"))?;
            entries.push((number + 1, path, YamlValue::List(items)));
        } else {
            let value = unquote(value).ok_or(error("a quote is not closed"))?;
            entries.push((number + 1, path, YamlValue::One(value)));
        }
    }
    Ok(entries)
}

/// Removes the comment from a line. A `#` inside quotes, or without a space before it, starts no comment.
fn strip_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, sign) in line.char_indices() {
        match (quote, sign) {
            (None, '#') if before.is_whitespace() => return line[..at].trim_end(),
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if open == sign => quote = None,
            _ => {}
        }
        before = sign;
    }
    line.trim_end()
}

/// Removes the quotes around a text. Returns None if one is not closed.
fn unquote(text: &str) -> Option<String> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.strip_suffix(quote).map(str::to_owned);
        }
    }
    Some(text.to_owned())
}

/// Returns the equivalent of a key with a value.
fn find_meaning(path: &str, written: &YamlValue) -> YamlMeaning {
    let (section, name) = path.rsplit_once('.').unwrap_or(("", path));
    match name {
        "timeout_ms" => return YamlMeaning::Nothing("deadlines are fixed".to_owned()),
        "script" => {
            return YamlMeaning::Nothing(
                "every hook runs `rutter hook`; `rutter init` registers it".to_owned(),
            );
        }
        _ => {}
    }
    let Some(key) = KEYS.iter().find(|key| key.section == section && key.name == name) else {
        return YamlMeaning::Nothing("there is no such key".to_owned());
    };
    let default = key.value(&super::Config::default());
    match convert_yaml_value(key, written) {
        Some((value, note)) => YamlMeaning::Key {
            key: key.path(),
            is_default: value == default,
            set: value.to_string(),
            note,
        },
        None => YamlMeaning::Nothing(format!("`{}` takes {}", key.path(), key.expected())),
    }
}

/// Converts a value for a key, limited to its range, with a note if it was changed.
fn convert_yaml_value(
    key: &ConfigKey,
    written: &YamlValue,
) -> Option<(ConfigValue, Option<String>)> {
    let one = match written {
        YamlValue::One(text) => Some(text.as_str()),
        YamlValue::List(_) => None,
    };
    match key.kind() {
        ConfigValueKind::Flag => Some((ConfigValue::Flag(parse_flag(one?)?), None)),
        ConfigValueKind::Number => {
            let number: u32 = one?.replace('_', "").parse().ok()?;
            let (least, most) = key.range;
            let kept = number.clamp(least, most);
            let bound = if number > most { "most" } else { "least" };
            let note = (kept != number).then(|| format!("{kept} is the {bound}"));
            Some((ConfigValue::Number(kept), note))
        }
        ConfigValueKind::Share => {
            let share: f64 = one?.parse().ok()?;
            (0.0..=1.0).contains(&share).then_some((ConfigValue::Share(share), None))
        }
        ConfigValueKind::Words => match written {
            YamlValue::List(words) => Some((ConfigValue::Words(words.clone()), None)),
            YamlValue::One(word) => Some((ConfigValue::Words(vec![word.clone()]), None)),
        },
        ConfigValueKind::Choice(names) => {
            let name = names.iter().find(|name| Some(**name) == one)?;
            Some((ConfigValue::Choice(name), None))
        }
    }
}

fn parse_flag(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let key = |key: YamlKey| match key.meaning {
            YamlMeaning::Key { key: ours, set, is_default, note } => {
                let default = if is_default { " (default)" } else { "" };
                let note = note.map(|note| format!(" ({note})")).unwrap_or_default();
                format!("{} {} -> {ours} = {set}{default}{note}", key.line, key.path)
            }
            YamlMeaning::Nothing(why) => format!("{} {} -> {why}", key.line, key.path),
        };
        read_hooks_yaml(text).unwrap().into_iter().map(key).collect()
    }

    #[test]
    fn maps_every_key() {
        let text = r#"
hooks:
  # Session lifecycle
  session_start:
    enabled: true
    script: .claude/hooks/session_start.sh
    timeout_ms: 5000
    inject_light_context: true

  user_prompt_submit:
    context_depth: rich  # light | rich
    token_budget: 2000

  ghap_checkin:
    frequency: 10  # Every N tool calls
  outcome_capture:
    matchers:
      - "pytest"
      - 'npm test'
    auto_capture: true
  session_end:
    enabled: false
    colour: blue
"#;
        insta::assert_snapshot!(shown(text).join("\n"), @r#"
        5 hooks.session_start.enabled -> hooks.session_start.enabled = true (default)
        6 hooks.session_start.script -> every hook runs `rutter hook`; `rutter init` registers it
        7 hooks.session_start.timeout_ms -> deadlines are fixed
        8 hooks.session_start.inject_light_context -> hooks.session_start.inject_light_context = true (default)
        11 hooks.user_prompt_submit.context_depth -> hooks.user_prompt_submit.context_depth = "rich"
        12 hooks.user_prompt_submit.token_budget -> hooks.user_prompt_submit.token_budget = 2000
        15 hooks.ghap_checkin.frequency -> hooks.ghap_checkin.frequency = 10 (default)
        17 hooks.outcome_capture.matchers -> hooks.outcome_capture.matchers = ["pytest", "npm test"]
        20 hooks.outcome_capture.auto_capture -> hooks.outcome_capture.auto_capture = true (default)
        22 hooks.session_end.enabled -> hooks.session_end.enabled = false
        23 hooks.session_end.colour -> there is no such key
        "#);
    }

    #[test]
    fn reads_lists_and_quotes() {
        let text = "---\nhooks:\n  outcome_capture:\n    matchers: [\"make test\", 'a # b']\n    enabled: maybe\n";
        insta::assert_snapshot!(shown(text).join("\n"), @r#"
        4 hooks.outcome_capture.matchers -> hooks.outcome_capture.matchers = ["make test", "a # b"]
        5 hooks.outcome_capture.enabled -> `hooks.outcome_capture.enabled` takes true or false
        "#);
    }

    #[test]
    fn names_line_that_cannot_be_read() {
        for (text, line, why) in [
            ("hooks:\n  - a: b\nx", 3, "it is not `key: value`"),
            ("- a", 1, "a list without a key"),
            ("a: \"b", 1, "a quote is not closed"),
            ("a: [b", 1, "a list is not closed"),
            ("a:\n\tb: c", 2, "it is indented by a tab"),
        ] {
            assert_eq!(read_hooks_yaml(text), Err(YamlError { line, why }), "{text}");
        }
    }
}
