//! Validates one entry under `hooks` by the rules with which the client loads it.

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::finding::display_name;

/// The reason for which the client cannot load an entry.
pub(super) struct EntryFault<'a> {
    /// The wrong field. None if a field is missing or the entry as a whole is wrong.
    pub(super) at: Option<&'a JsonNode>,
    pub(super) what: String,
}

/// The required type of a field.
#[derive(Clone, Copy)]
enum EntryFieldType {
    Text,
    Url,
    Flag,
    /// A number greater than zero.
    Seconds,
    Texts,
    Object,
    TextObject,
    OneOf(&'static [&'static str]),
}

use EntryFieldType::{Flag, Object, OneOf, Seconds, Text, TextObject, Texts, Url};

/// Fields that every kind of entry may have.
const COMMON_FIELDS: &[(&str, EntryFieldType)] =
    &[("if", Text), ("timeout", Seconds), ("statusMessage", Text), ("once", Flag)];
const ON_FAILURE_FIELD: (&str, EntryFieldType) = ("onFailure", OneOf(&["continue", "block"]));

/// A kind of entry: its name, its required fields, and its optional fields in addition to [`COMMON`].
type EntryForm = (
    &'static str,
    &'static [(&'static str, EntryFieldType)],
    &'static [(&'static str, EntryFieldType)],
);

const ENTRY_FORMS: &[EntryForm] = &[
    (
        "command",
        &[("command", Text)],
        &[
            ("args", Texts),
            ("shell", OneOf(&["bash", "powershell"])),
            ("async", Flag),
            ("asyncRewake", Flag),
            ON_FAILURE_FIELD,
        ],
    ),
    ("prompt", &[("prompt", Text)], &[("model", Text), ("continueOnBlock", Flag)]),
    ("agent", &[("prompt", Text)], &[("model", Text)]),
    (
        "http",
        &[("url", Url)],
        &[("headers", TextObject), ("allowedEnvVars", Texts), ON_FAILURE_FIELD],
    ),
    ("mcp_tool", &[("server", Text), ("tool", Text)], &[("input", Object)]),
];

impl EntryFieldType {
    fn accepts(self, node: &JsonNode) -> bool {
        match (self, &node.kind) {
            (Text, JsonKind::Text(_))
            | (Flag, JsonKind::Bool(_))
            | (Object, JsonKind::Object(_)) => true,
            (Url, JsonKind::Text(text)) => text.split_once(':').is_some_and(|(scheme, rest)| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.is_empty()
            }),
            (Seconds, JsonKind::Number(number)) => {
                number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite())
            }
            (Texts, JsonKind::List(items)) => {
                items.iter().all(|item| matches!(item.kind, JsonKind::Text(_)))
            }
            (TextObject, JsonKind::Object(members)) => {
                members.iter().all(|(_, node)| matches!(node.kind, JsonKind::Text(_)))
            }
            (OneOf(words), JsonKind::Text(text)) => words.contains(&text.as_str()),
            _ => false,
        }
    }

    fn description(self) -> String {
        match self {
            Text => "a string".to_owned(),
            Url => "a URL".to_owned(),
            Flag => "true or false".to_owned(),
            Seconds => "a number over 0".to_owned(),
            Texts => "an array of strings".to_owned(),
            Object => "an object".to_owned(),
            TextObject => "an object of strings".to_owned(),
            OneOf(words) => words.join(" or "),
        }
    }
}

/// Returns the reason for which the client cannot load an entry, if any.
pub(super) fn find_entry_fault(entry: &JsonNode, contract: Contract) -> Option<EntryFault<'_>> {
    let whole = |what: String| Some(EntryFault { at: None, what });
    if !matches!(entry.kind, JsonKind::Object(_)) {
        return whole(format!("an entry must be an object, not {}", entry.kind.name()));
    }
    let types = || ENTRY_FORMS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let Some(at) = entry.get("type") else {
        return whole(format!("an entry has no `type`; use one of {}", types()));
    };
    let Some(name) = at.text() else {
        let what = format!("`type` must be a string, not {}", at.kind.name());
        return Some(EntryFault { at: Some(at), what });
    };
    let Some((_, needs, may)) = ENTRY_FORMS.iter().find(|(form, ..)| *form == name) else {
        let what = format!("unknown `type` \"{}\"; use one of {}", display_name(name), types());
        return Some(EntryFault { at: Some(at), what });
    };
    for (field, _) in *needs {
        if entry.get(field).is_none() {
            return whole(format!("a `{name}` entry needs `{field}`"));
        }
    }
    let known = needs.iter().chain(*may).chain(COMMON_FIELDS);
    // Clients that do not support `onFailure` ignore it like any unknown key.
    let mut known = known.filter(|(field, _)| *field != "onFailure" || contract.reads_on_failure());
    known.find_map(|(field, wanted)| {
        let node = entry.get(field).filter(|node| !wanted.accepts(node))?;
        let what = format!("`{field}` must be {}", wanted.description());
        Some(EntryFault { at: Some(node), what })
    })
}
