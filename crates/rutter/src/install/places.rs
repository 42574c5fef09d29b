//! What of ours is to be in a file, and where.
//!
//! Two steps, each a list of edits of the text. *Mending* goes through what is there of ours: it stays, becomes what it
//! should be where it stands, or goes, with whatever is empty because of that. *Adding* puts what is still missing at the
//! ends.

use std::ops::Range;

use serde_json::Value;

use super::document::{Addition, Document, Malformed, fresh};
use super::hooks::{self, HOOKS};
use super::layout::{Edit, apply};
use super::outline::Shape;
use super::record::Within;
use super::server;
use super::table::Group;

/// What is to be in a file.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Matcher groups under the names of their events.
    Hooks(Vec<Group>),
    /// The rule by which the agent may call rutter's tools, or no such rule.
    Rule(bool),
    /// The server, under its name in the object that these keys lead to, or no such server.
    Server(Vec<String>, Option<Value>),
}

/// What is there of ours at a place, and what is to become of it.
pub(super) struct Found {
    /// Whether there is anything.
    pub(super) ours: bool,
    pub(super) replaced: Vec<Edit>,
    /// Items that go.
    pub(super) gone: Vec<Range<usize>>,
    pub(super) missing: Vec<Addition>,
}

/// A text with rutter in it.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) text: String,
    /// The edits that made it, where nothing of ours was there before: only then can taking them back leave what the
    /// user had.
    pub(super) edits: Option<Vec<Edit>>,
    /// What else was not there before.
    pub(super) within: Within,
}

impl Place {
    /// The keys that lead to it; none for hooks, which are in many places.
    fn path(&self) -> Option<Vec<String>> {
        match self {
            Self::Hooks(_) => None,
            Self::Rule(_) => Some(server::RULES.map(str::to_owned).to_vec()),
            Self::Server(path, _) => Some(path.clone()),
        }
    }

    /// What is wanted of it in a file that has nothing.
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
            // Whatever stands there instead of rules is nothing of ours.
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
            // Somebody has chosen to allow all of them.
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

/// Whether a text has anything of ours at these places, right or wrong. A rule is nobody's: the user may have written
/// the same.
pub(crate) fn is_installed(text: &str, places: &[Place]) -> Result<bool, Malformed> {
    match Document::read(text)? {
        Some(document) => Ok(Found::all(&document, places)?.ours),
        None => Ok(false),
    }
}

/// The text with exactly this of ours in it.
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

/// The text without anything of ours, and without so many of the objects and arrays around the rule or the server, from
/// the inside, if there is nothing else in them. Hooks take theirs with them.
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

/// The text of the server's entry, if it is ours.
pub(crate) fn entry<'a>(text: &'a str, path: &[String]) -> Option<&'a str> {
    any_entry(text, path).filter(|(_, entry)| server::is_ours(entry)).map(|(text, _)| text)
}

/// Whether one of these places has the server registered over HTTP, which the user has done.
pub(crate) fn is_over_http(text: &str, places: &[Place]) -> bool {
    places.iter().any(|place| match place {
        Place::Server(path, _) => {
            any_entry(text, path).is_some_and(|(_, entry)| server::is_over_http(&entry))
        }
        Place::Hooks(_) | Place::Rule(_) => false,
    })
}

/// What is registered by the server's name.
fn any_entry<'a>(text: &'a str, path: &[String]) -> Option<(&'a str, Value)> {
    let document = Document::read(text).ok()??;
    let (servers, depth) = document.reach(path, Shape::Object).ok()?;
    let servers = (depth == path.len()).then_some(servers)?;
    let text = document.outline.slice(&document.outline.member(&servers, server::NAME)?);
    Some((text, serde_json::from_str(text).ok()?))
}

/// Whether a text says nothing: it is blank, or an object without members.
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

/// Whether a path leads to `hooks` or to one of its events.
fn is_of_hooks(path: &[String]) -> bool {
    path.len() <= 2 && path.first().is_some_and(|key| key == HOOKS)
}

/// What has to be made for what is missing beside hooks.
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
