//! Validates one entry under `hooks` by the rules with which the client loads it.

use rutter_contract::javascript::{Kind, Node};
use rutter_contract::version::Contract;

use super::finding::named;

/// The reason for which the client cannot load an entry.
pub(super) struct Fault<'a> {
    /// The wrong field. None if a field is missing or the entry as a whole is wrong.
    pub(super) at: Option<&'a Node>,
    pub(super) what: String,
}

/// The required type of a field.
#[derive(Clone, Copy)]
enum Type {
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

use Type::{Flag, Object, OneOf, Seconds, Text, TextObject, Texts, Url};

/// Fields that every kind of entry may have.
const COMMON: &[(&str, Type)] =
    &[("if", Text), ("timeout", Seconds), ("statusMessage", Text), ("once", Flag)];
const ON_FAILURE: (&str, Type) = ("onFailure", OneOf(&["continue", "block"]));

/// A kind of entry: its name, its required fields, and its optional fields in addition to [`COMMON`].
type Form = (&'static str, &'static [(&'static str, Type)], &'static [(&'static str, Type)]);

const FORMS: &[Form] = &[
    (
        "command",
        &[("command", Text)],
        &[
            ("args", Texts),
            ("shell", OneOf(&["bash", "powershell"])),
            ("async", Flag),
            ("asyncRewake", Flag),
            ON_FAILURE,
        ],
    ),
    ("prompt", &[("prompt", Text)], &[("model", Text), ("continueOnBlock", Flag)]),
    ("agent", &[("prompt", Text)], &[("model", Text)]),
    ("http", &[("url", Url)], &[("headers", TextObject), ("allowedEnvVars", Texts), ON_FAILURE]),
    ("mcp_tool", &[("server", Text), ("tool", Text)], &[("input", Object)]),
];

impl Type {
    fn takes(self, node: &Node) -> bool {
        match (self, &node.kind) {
            (Text, Kind::Text(_)) | (Flag, Kind::Bool(_)) | (Object, Kind::Object(_)) => true,
            (Url, Kind::Text(text)) => text.split_once(':').is_some_and(|(scheme, rest)| {
                scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && !rest.is_empty()
            }),
            (Seconds, Kind::Number(number)) => {
                number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite())
            }
            (Texts, Kind::List(items)) => {
                items.iter().all(|item| matches!(item.kind, Kind::Text(_)))
            }
            (TextObject, Kind::Object(members)) => {
                members.iter().all(|(_, node)| matches!(node.kind, Kind::Text(_)))
            }
            (OneOf(words), Kind::Text(text)) => words.contains(&text.as_str()),
            _ => false,
        }
    }

    fn wanted(self) -> String {
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
pub(super) fn fault(entry: &Node, contract: Contract) -> Option<Fault<'_>> {
    let whole = |what: String| Some(Fault { at: None, what });
    if !matches!(entry.kind, Kind::Object(_)) {
        return whole(format!("an entry has to be an object, and is {}", entry.kind.name()));
    }
    let types = || FORMS.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(", ");
    let Some(at) = entry.get("type") else {
        return whole(format!("an entry has no `type`; there are {}", types()));
    };
    let Some(name) = at.text() else {
        let what = format!("`type` has to be a string, and is {}", at.kind.name());
        return Some(Fault { at: Some(at), what });
    };
    let Some((_, needs, may)) = FORMS.iter().find(|(form, ..)| *form == name) else {
        let what = format!("there is no `type` \"{}\"; there are {}", named(name), types());
        return Some(Fault { at: Some(at), what });
    };
    for (field, _) in *needs {
        if entry.get(field).is_none() {
            return whole(format!("a `{name}` entry needs `{field}`"));
        }
    }
    let known = needs.iter().chain(*may).chain(COMMON);
    // Clients that do not support `onFailure` ignore it like any unknown key.
    let mut known = known.filter(|(field, _)| *field != "onFailure" || contract.reads_on_failure());
    known.find_map(|(field, wanted)| {
        let node = entry.get(field).filter(|node| !wanted.takes(node))?;
        let what = format!("`{field}` has to be {}", wanted.wanted());
        Some(Fault { at: Some(node), what })
    })
}
