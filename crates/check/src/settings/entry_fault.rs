//! Validates one entry under `hooks` by the rules with which the client loads it.

use std::fmt;

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

/// The reason for which the client cannot load an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryFault {
    /// The entry is not an object.
    NotObject {
        /// Name of its type.
        found: &'static str,
    },
    /// The entry has no `type`.
    NoType,
    /// `type` is not a string.
    TypeNotText {
        /// Name of its type.
        found: &'static str,
    },
    /// The client does not know the `type`.
    UnknownType {
        /// The value of `type`.
        name: String,
    },
    /// A required field is missing.
    MissingField {
        /// The kind of entry.
        form: &'static str,
        /// The field.
        field: &'static str,
    },
    /// A field has a value of the wrong type.
    WrongField {
        /// The field.
        field: &'static str,
        /// The required type.
        wanted: EntryFieldType,
    },
}

impl fmt::Display for EntryFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotObject { found } => write!(f, "a hook must be an object, not {found}"),
            Self::NoType => f.write_str("a hook without `type`"),
            Self::TypeNotText { found } => write!(f, "`type` must be a string, not {found}"),
            Self::UnknownType { name } => write!(f, "unknown `type` \"{name}\""),
            Self::MissingField { form, field } => write!(f, "a `{form}` hook needs `{field}`"),
            Self::WrongField { field, wanted } => {
                write!(f, "`{field}` must be {}", wanted.description())
            }
        }
    }
}

/// The required type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryFieldType {
    /// A string.
    Text,
    /// A URL.
    Url,
    /// True or false.
    Flag,
    /// A number greater than zero.
    Seconds,
    /// A list of strings.
    Texts,
    /// An object.
    Object,
    /// An object of strings.
    TextObject,
    /// One of these strings.
    OneOf(&'static [&'static str]),
}

use EntryFieldType::{Flag, Object, OneOf, Seconds, Text, TextObject, Texts, Url};

/// Fields that every kind of entry may have.
const COMMON_FIELDS: &[(&str, EntryFieldType)] =
    &[("if", Text), ("timeout", Seconds), ("statusMessage", Text), ("once", Flag)];
const ON_FAILURE_FIELD: (&str, EntryFieldType) = ("onFailure", OneOf(&["continue", "block"]));

/// A kind of entry: its name, its required fields, and its optional fields in addition to [`COMMON_FIELDS`].
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

    /// Returns the type in words.
    pub fn description(self) -> String {
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

/// Returns the values of `type` that the client knows.
pub fn entry_types() -> impl Iterator<Item = &'static str> {
    ENTRY_FORMS.iter().map(|(name, ..)| *name)
}

/// Returns the names of the fields of a type of entry, without the [common ones](common_entry_fields). Returns None if
/// the client does not know the type.
pub fn entry_fields(name: &str) -> Option<impl Iterator<Item = &'static str> + Clone> {
    let (_, needs, may) = ENTRY_FORMS.iter().find(|(form, ..)| *form == name)?;
    Some(needs.iter().chain(*may).map(|(name, _)| *name))
}

/// A field of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryField {
    /// The name.
    pub name: &'static str,
    /// The required type of the value.
    pub value: EntryFieldType,
    /// True if the client does not load an entry without it.
    pub is_required: bool,
}

/// Returns the fields of a type of entry, the common ones last, without `type`. Returns None if the client does not know
/// the type.
pub fn entry_form(name: &str) -> Option<Vec<EntryField>> {
    let (_, needs, may) = ENTRY_FORMS.iter().find(|(form, ..)| *form == name)?;
    let field = |is_required: bool| {
        move |(name, value): &(&'static str, EntryFieldType)| EntryField {
            name,
            value: *value,
            is_required,
        }
    };
    let may = may.iter().chain(COMMON_FIELDS).map(field(false));
    Some(needs.iter().map(field(true)).chain(may).collect())
}

/// Returns the names of the fields that every type of entry may have.
pub fn common_entry_fields() -> impl Iterator<Item = &'static str> + Clone {
    COMMON_FIELDS.iter().map(|(name, _)| *name)
}

/// Returns the reason for which the client cannot load an entry, if any, and the wrong field. The field is None if one
/// is missing or the entry as a whole is wrong.
pub(super) fn find_entry_fault(
    entry: &JsonNode,
    contract: Contract,
) -> Option<(EntryFault, Option<&JsonNode>)> {
    if !matches!(entry.kind, JsonKind::Object(_)) {
        return Some((EntryFault::NotObject { found: entry.kind.name() }, None));
    }
    let Some(at) = entry.get("type") else { return Some((EntryFault::NoType, None)) };
    let Some(name) = at.text() else {
        return Some((EntryFault::TypeNotText { found: at.kind.name() }, Some(at)));
    };
    let Some((form, needs, may)) = ENTRY_FORMS.iter().find(|(form, ..)| *form == name) else {
        return Some((EntryFault::UnknownType { name: name.to_owned() }, Some(at)));
    };
    for (field, _) in *needs {
        if entry.get(field).is_none() {
            return Some((EntryFault::MissingField { form, field }, None));
        }
    }
    let known = needs.iter().chain(*may).chain(COMMON_FIELDS);
    // Clients that do not support `onFailure` ignore it like any unknown key.
    let mut known = known.filter(|(field, _)| *field != "onFailure" || contract.reads_on_failure());
    known.find_map(|(field, wanted)| {
        let node = entry.get(field).filter(|node| !wanted.accepts(node))?;
        Some((EntryFault::WrongField { field, wanted: *wanted }, Some(node)))
    })
}
