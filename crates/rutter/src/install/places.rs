//! The content of rutter in a client's file, and the edits that install and remove it.
//!
//! Installation has two steps, each a list of edits of the text. *Mending* handles our existing content: it keeps it,
//! replaces it in place, or removes it together with containers that become empty. *Adding* appends missing content.

use std::ops::Range;

use serde_json::Value;

use super::document::{Addition, Document, Malformed, fresh};
use super::hooks::{self, HOOKS};
use super::layout::{Edit, apply};
use super::outline::Shape;
use super::record::Within;
use super::server;
use super::table::Group;

/// Content that must be in a file, or must not.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Matcher groups under the names of their events.
    Hooks(Vec<Group>),
    /// The rules that allow the agent to call rutter's tools (true), or no such rules (false).
    Rule(bool),
    /// The server, under its name in the object at these keys, or no such server (None).
    Server(Vec<String>, Option<Value>),
}

/// Our existing content in a file, and the changes that it needs.
pub(super) struct Found {
    /// True if the file has content of ours.
    pub(super) ours: bool,
    pub(super) replaced: Vec<Edit>,
    /// Items to remove.
    pub(super) gone: Vec<Range<usize>>,
    pub(super) missing: Vec<Addition>,
}

/// A text after the installation.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) text: String,
    /// The edits that made the text. None if content of ours was there before: reverting the edits would then not
    /// restore the user's original text.
    pub(super) edits: Option<Vec<Edit>>,
    /// Other content that was added.
    pub(super) within: Within,
}

impl Place {
    /// Returns the keys that lead to the content. None for hooks, which have many paths.
    fn path(&self) -> Option<Vec<String>> {
        match self {
            Self::Hooks(_) => None,
            Self::Rule(_) => Some(server::RULES.map(str::to_owned).to_vec()),
            Self::Server(path, _) => Some(path.clone()),
        }
    }

    /// Returns the additions for a file without any of the content.
    fn additions(&self) -> Vec<Addition> {
        let path = self.path().unwrap_or_default();
        match self {
            Self::Hooks(groups) => groups.iter().map(hooks::addition).collect(),
            Self::Rule(true) => server::tool_rules(server::RULE)
                .map(|rule| Addition { path: path.clone(), entry: (None, rule.into()) })
                .collect(),
            Self::Server(_, Some(value)) => {
                vec![Addition { path, entry: (Some(server::NAME.to_owned()), value.clone()) }]
            }
            Self::Rule(false) | Self::Server(_, None) => Vec::new(),
        }
    }

    fn look(&self, document: &Document<'_>) -> Result<Found, Malformed> {
        match self {
            Self::Hooks(groups) => hooks::look(document, groups),
            Self::Rule(wanted) => self.look_for_rule(document, *wanted),
            Self::Server(path, wanted) => self.look_for_server(document, path, wanted.as_ref()),
        }
    }

    fn look_for_rule(&self, document: &Document<'_>, wanted: bool) -> Result<Found, Malformed> {
        let path = self.path().unwrap_or_default();
        let (list, depth) = match document.reach(&path, Shape::List) {
            // A value of another type contains no rule of ours.
            Err(_) if !wanted => return Ok(Found::nothing()),
            reached => reached?,
        };
        let items = if depth == path.len() { document.outline.items(&list) } else { Vec::new() };
        let is = |range: &Range<usize>, rule: &Value| {
            serde_json::from_str::<Value>(document.outline.slice(range)).is_ok_and(|it| it == *rule)
        };
        let mut found = Found::nothing();
        if wanted {
            let there = |rule: &Value| items.iter().any(|item| is(&item.value, rule));
            // The user has chosen to allow all tools.
            if !there(&server::RULE_FOR_EACH.into()) {
                found.missing = self.additions();
                found.missing.retain(|addition| !there(&addition.entry.1));
            }
            let whole = items.into_iter().filter(|item| is(&item.value, &server::RULE.into()));
            found.gone = whole.map(|item| item.range).collect();
        } else {
            let rules: Vec<Value> = server::tool_rules(server::RULE)
                .chain([server::RULE.to_owned()])
                .map(Value::from)
                .collect();
            let ours =
                items.into_iter().filter(|item| rules.iter().any(|rule| is(&item.value, rule)));
            found.gone = ours.map(|item| item.range).collect();
        }
        Ok(found)
    }

    fn look_for_server(
        &self,
        document: &Document<'_>,
        path: &[String],
        wanted: Option<&Value>,
    ) -> Result<Found, Malformed> {
        let outline = &document.outline;
        let (servers, depth) = match document.reach(path, Shape::Object) {
            Err(_) if wanted.is_none() => return Ok(Found::nothing()),
            reached => reached?,
        };
        let item = match document.only(&servers, server::NAME) {
            _ if depth < path.len() => None,
            Err(_) if wanted.is_none() => return Ok(Found::nothing()),
            item => item?,
        };
        let mut found = Found::nothing();
        let Some(item) = item else {
            found.missing = self.additions();
            return Ok(found);
        };
        let there = serde_json::from_str(outline.slice(&item.value)).unwrap_or(Value::Null);
        found.ours = server::is_ours(&there);
        match wanted {
            None if found.ours => found.gone.push(item.range),
            None => {}
            Some(_) if server::is_over_http(&there) => {}
            Some(_) if !found.ours => {
                let what = "a server called `rutter` that starts something else, which is left alone; give it another \
                            name, or take it out with `claude mcp remove rutter`";
                return Err(Malformed::at(outline.text, item.range.start, what));
            }
            Some(wanted) => {
                if let Some(value) = server::mended(&there, wanted) {
                    found.replaced.push(document.layout.replace(outline, &item.value, value));
                }
            }
        }
        Ok(found)
    }
}

impl Found {
    fn nothing() -> Self {
        Self { ours: false, replaced: Vec::new(), gone: Vec::new(), missing: Vec::new() }
    }

    fn all(document: &Document<'_>, places: &[Place]) -> Result<Self, Malformed> {
        let mut all = Self::nothing();
        for place in places {
            let found = place.look(document)?;
            all.ours |= found.ours;
            all.replaced.extend(found.replaced);
            all.gone.extend(found.gone);
            all.missing.extend(found.missing);
        }
        Ok(all)
    }
}

/// Returns true if a text has any content of ours, correct or not. Rules do not count: the user may have written the
/// same ones.
pub(crate) fn is_installed(text: &str, places: &[Place]) -> Result<bool, Malformed> {
    match Document::read(text)? {
        Some(document) => Ok(Found::all(&document, places)?.ours),
        None => Ok(false),
    }
}

/// Returns the text with exactly this content of ours.
pub(crate) fn install(text: &str, places: &[Place]) -> Result<Installed, Malformed> {
    let Some(document) = Document::read(text)? else {
        let missing: Vec<Addition> = places.iter().flat_map(Place::additions).collect();
        let edit = Edit { range: 0..text.len(), text: fresh(&missing) };
        let within = made(None, &missing);
        return Ok(Installed { text: edit.text.clone(), edits: Some(vec![edit]), within });
    };
    let Found { ours, replaced, gone, missing } = Found::all(&document, places)?;
    if replaced.is_empty() && gone.is_empty() {
        let edits = document.add(&missing);
        let within = made(Some(&document), &missing);
        let text = apply(text, &edits);
        return Ok(Installed { text, edits: (!ours).then_some(edits), within });
    }
    let mended = mend(text, &document, replaced, &gone, &is_of_hooks);
    let (text, within) = match Document::read(&mended)? {
        Some(document) => {
            (apply(&mended, &document.add(&missing)), made(Some(&document), &missing))
        }
        None => (mended, Within::default()),
    };
    Ok(Installed { text, edits: None, within })
}

/// Returns the text without our content. Also removes up to `around` objects and arrays around the rule or the server,
/// from the inside, if they become empty. Empty containers of hooks are always removed.
pub(crate) fn uninstall(text: &str, places: &[Place], around: usize) -> Result<String, Malformed> {
    let Some(document) = Document::read(text)? else { return Ok(text.to_owned()) };
    let Found { gone, .. } = Found::all(&document, places)?;
    let paths: Vec<Vec<String>> = places.iter().filter_map(Place::path).collect();
    Ok(mend(text, &document, Vec::new(), &gone, &|path| {
        let made = |whole: &Vec<String>| {
            whole.starts_with(path) && path.len() > whole.len().saturating_sub(around)
        };
        is_of_hooks(path) || paths.iter().any(made)
    }))
}

/// Returns the text of the server's entry, if it is ours.
pub(crate) fn entry<'a>(text: &'a str, path: &[String]) -> Option<&'a str> {
    any_entry(text, path).filter(|(_, entry)| server::is_ours(entry)).map(|(text, _)| text)
}

/// Returns true if the user has registered the server over HTTP in this text.
pub(crate) fn is_over_http(text: &str, places: &[Place]) -> bool {
    places.iter().any(|place| match place {
        Place::Server(path, _) => {
            any_entry(text, path).is_some_and(|(_, entry)| server::is_over_http(&entry))
        }
        Place::Hooks(_) | Place::Rule(_) => false,
    })
}

/// Returns the entry with the server's name, as text and as value.
fn any_entry<'a>(text: &'a str, path: &[String]) -> Option<(&'a str, Value)> {
    let document = Document::read(text).ok()??;
    let (servers, depth) = document.reach(path, Shape::Object).ok()?;
    let servers = (depth == path.len()).then_some(servers)?;
    let text = document.outline.slice(&document.outline.member(&servers, server::NAME)?);
    Some((text, serde_json::from_str(text).ok()?))
}

/// Returns true if a text is blank or an object without members.
pub(crate) fn is_empty(text: &str) -> bool {
    let mut solid = text.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
    matches!((solid.next(), solid.next(), solid.next()), (None, ..) | (Some('{'), Some('}'), None))
}

fn mend(
    text: &str,
    document: &Document<'_>,
    mut edits: Vec<Edit>,
    gone: &[Range<usize>],
    vanishes: &dyn Fn(&[String]) -> bool,
) -> String {
    edits.extend(document.prune(gone, vanishes));
    edits.sort_by_key(|edit| edit.range.start);
    apply(text, &edits)
}

/// Returns true if a path leads to `hooks` or to one of its events.
fn is_of_hooks(path: &[String]) -> bool {
    path.len() <= 2 && path.first().is_some_and(|key| key == HOOKS)
}

/// Returns the rules and containers that the missing content adds, apart from hooks.
fn made(document: Option<&Document<'_>>, missing: &[Addition]) -> Within {
    let mut within = Within::default();
    for Addition { path, .. } in missing.iter().filter(|addition| !is_of_hooks(&addition.path)) {
        let rule = *path == server::RULES;
        let shape = if rule { Shape::List } else { Shape::Object };
        let there = document.and_then(|document| document.reach(path, shape).ok());
        let around = path.len() - there.map_or(0, |(_, depth)| depth);
        within.rule |= rule;
        within.around = within.around.max(around);
    }
    within
}
