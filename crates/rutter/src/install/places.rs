//! The content of rutter in a client's file, and the edits that install and remove it.
//!
//! Installation has two steps, each a list of edits of the text. *Mending* handles our existing content: it keeps it,
//! replaces it in place, or removes it together with containers that become empty. *Adding* appends missing content.

use std::ops::Range;

use rutter_check::settings::JsonType;
use rutter_check::text_edit::{TextEdit, apply_edits};
use serde_json::Value;

use super::document::{EditableDocument, EntryAddition, MalformedFile, new_file_text};
use super::hooks::{self, HOOKS_KEY};
use super::record::AddedContent;
use super::server;
use super::table::HookGroup;

/// Content that must be in a file, or must not.
#[derive(Debug, Clone)]
pub(crate) enum WantedContent {
    /// Matcher groups under the names of their events.
    Hooks(Vec<HookGroup>),
    /// The rules that allow the agent to call rutter's tools (true), or no such rules (false).
    Rule(bool),
    /// The server, under its name in the object at these keys, or no such server (None).
    Server(Vec<String>, Option<Value>),
}

/// Our existing content in a file, and the changes that it needs.
pub(super) struct ContentDiff {
    /// True if the file has content of ours.
    pub(super) ours: bool,
    pub(super) replaced: Vec<TextEdit>,
    /// Items to remove.
    pub(super) gone: Vec<Range<usize>>,
    pub(super) missing: Vec<EntryAddition>,
}

/// A text after the installation.
#[derive(Debug)]
pub(crate) struct InstalledText {
    pub(crate) text: String,
    /// The edits that made the text. None if content of ours was there before: reverting the edits would then not
    /// restore the user's original text.
    pub(super) edits: Option<Vec<TextEdit>>,
    /// Other content that was added.
    pub(super) within: AddedContent,
}

impl WantedContent {
    /// Returns the keys that lead to the content. None for hooks, which have many paths.
    fn key_path(&self) -> Option<Vec<String>> {
        match self {
            Self::Hooks(_) => None,
            Self::Rule(_) => Some(server::ALLOW_RULES_PATH.map(str::to_owned).to_vec()),
            Self::Server(path, _) => Some(path.clone()),
        }
    }

    /// Returns the additions for a file without any of the content.
    fn additions(&self) -> Vec<EntryAddition> {
        let path = self.key_path().unwrap_or_default();
        match self {
            Self::Hooks(groups) => groups.iter().map(hooks::group_addition).collect(),
            Self::Rule(true) => server::tool_rules(server::SERVER_RULE)
                .map(|rule| EntryAddition { path: path.clone(), entry: (None, rule.into()) })
                .collect(),
            Self::Server(_, Some(value)) => {
                vec![EntryAddition {
                    path,
                    entry: (Some(server::SERVER_NAME.to_owned()), value.clone()),
                }]
            }
            Self::Rule(false) | Self::Server(_, None) => Vec::new(),
        }
    }

    fn compare(&self, document: &EditableDocument<'_>) -> Result<ContentDiff, MalformedFile> {
        match self {
            Self::Hooks(groups) => hooks::compare_hooks(document, groups),
            Self::Rule(wanted) => self.compare_rules(document, *wanted),
            Self::Server(path, wanted) => self.compare_server(document, path, wanted.as_ref()),
        }
    }

    fn compare_rules(
        &self,
        document: &EditableDocument<'_>,
        wanted: bool,
    ) -> Result<ContentDiff, MalformedFile> {
        let path = self.key_path().unwrap_or_default();
        let (list, depth) = match document.resolve_path(&path, JsonType::List) {
            // A value of another type contains no rule of ours.
            Err(_) if !wanted => return Ok(ContentDiff::empty()),
            reached => reached?,
        };
        let items = if depth == path.len() { document.outline.items(&list) } else { Vec::new() };
        let is = |range: &Range<usize>, rule: &Value| {
            serde_json::from_str::<Value>(document.outline.slice(range)).is_ok_and(|it| it == *rule)
        };
        let mut found = ContentDiff::empty();
        if wanted {
            let there = |rule: &Value| items.iter().any(|item| is(&item.value, rule));
            // The user has chosen to allow all tools.
            if !there(&server::SERVER_WILDCARD_RULE.into()) {
                found.missing = self.additions();
                found.missing.retain(|addition| !there(&addition.entry.1));
            }
            let whole =
                items.into_iter().filter(|item| is(&item.value, &server::SERVER_RULE.into()));
            found.gone = whole.map(|item| item.range).collect();
        } else {
            let rules: Vec<Value> = server::tool_rules(server::SERVER_RULE)
                .chain([server::SERVER_RULE.to_owned()])
                .map(Value::from)
                .collect();
            let ours =
                items.into_iter().filter(|item| rules.iter().any(|rule| is(&item.value, rule)));
            found.gone = ours.map(|item| item.range).collect();
        }
        Ok(found)
    }

    fn compare_server(
        &self,
        document: &EditableDocument<'_>,
        path: &[String],
        wanted: Option<&Value>,
    ) -> Result<ContentDiff, MalformedFile> {
        let outline = &document.outline;
        let (servers, depth) = match document.resolve_path(path, JsonType::Object) {
            Err(_) if wanted.is_none() => return Ok(ContentDiff::empty()),
            reached => reached?,
        };
        let item = match document.unique_member(&servers, server::SERVER_NAME) {
            _ if depth < path.len() => None,
            Err(_) if wanted.is_none() => return Ok(ContentDiff::empty()),
            item => item?,
        };
        let mut found = ContentDiff::empty();
        let Some(item) = item else {
            found.missing = self.additions();
            return Ok(found);
        };
        let there = serde_json::from_str(outline.slice(&item.value)).unwrap_or(Value::Null);
        found.ours = server::is_our_server(&there);
        match wanted {
            None if found.ours => found.gone.push(item.range),
            None => {}
            Some(_) if server::is_http_server(&there) => {}
            Some(_) if !found.ours => {
                let what = "a server called `rutter` starts another program, so rutter does not \
                            change it; rename it, or remove it with `claude mcp remove rutter`";
                return Err(MalformedFile::at_offset(outline.text, item.range.start, what));
            }
            Some(wanted) => {
                if let Some(value) = server::corrected_entry(&there, wanted) {
                    found.replaced.push(document.layout.replace_value(outline, &item.value, value));
                }
            }
        }
        Ok(found)
    }
}

impl ContentDiff {
    fn empty() -> Self {
        Self { ours: false, replaced: Vec::new(), gone: Vec::new(), missing: Vec::new() }
    }

    fn compare_all(
        document: &EditableDocument<'_>,
        places: &[WantedContent],
    ) -> Result<Self, MalformedFile> {
        let mut all = Self::empty();
        for place in places {
            let found = place.compare(document)?;
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
pub(crate) fn has_our_content(text: &str, places: &[WantedContent]) -> Result<bool, MalformedFile> {
    match EditableDocument::parse(text)? {
        Some(document) => Ok(ContentDiff::compare_all(&document, places)?.ours),
        None => Ok(false),
    }
}

/// Returns the text with exactly this content of ours.
pub(crate) fn install(
    text: &str,
    places: &[WantedContent],
) -> Result<InstalledText, MalformedFile> {
    let Some(document) = EditableDocument::parse(text)? else {
        let missing: Vec<EntryAddition> =
            places.iter().flat_map(WantedContent::additions).collect();
        let edit = TextEdit { range: 0..text.len(), text: new_file_text(&missing) };
        let within = added_content(None, &missing);
        return Ok(InstalledText { text: edit.text.clone(), edits: Some(vec![edit]), within });
    };
    let ContentDiff { ours, replaced, gone, missing } =
        ContentDiff::compare_all(&document, places)?;
    if replaced.is_empty() && gone.is_empty() {
        let edits = document.plan_additions(&missing);
        let within = added_content(Some(&document), &missing);
        let text = apply_edits(text, &edits);
        return Ok(InstalledText { text, edits: (!ours).then_some(edits), within });
    }
    let mended = apply_removals(text, &document, replaced, &gone, &is_hooks_path);
    let (text, within) = match EditableDocument::parse(&mended)? {
        Some(document) => (
            apply_edits(&mended, &document.plan_additions(&missing)),
            added_content(Some(&document), &missing),
        ),
        None => (mended, AddedContent::default()),
    };
    Ok(InstalledText { text, edits: None, within })
}

/// Returns the text without our content. Also removes up to `around` objects and arrays around the rule or the server,
/// from the inside, if they become empty. Empty containers of hooks are always removed.
pub(crate) fn uninstall(
    text: &str,
    places: &[WantedContent],
    around: usize,
) -> Result<String, MalformedFile> {
    let Some(document) = EditableDocument::parse(text)? else { return Ok(text.to_owned()) };
    let ContentDiff { gone, .. } = ContentDiff::compare_all(&document, places)?;
    let paths: Vec<Vec<String>> = places.iter().filter_map(WantedContent::key_path).collect();
    Ok(apply_removals(text, &document, Vec::new(), &gone, &|path| {
        let made = |whole: &Vec<String>| {
            whole.starts_with(path) && path.len() > whole.len().saturating_sub(around)
        };
        is_hooks_path(path) || paths.iter().any(made)
    }))
}

/// Returns the text of the server's entry, if it is ours.
pub(crate) fn server_entry_text<'a>(text: &'a str, path: &[String]) -> Option<&'a str> {
    find_server_entry(text, path)
        .filter(|(_, entry)| server::is_our_server(entry))
        .map(|(text, _)| text)
}

/// Returns true if the user has registered the server over HTTP in this text.
pub(crate) fn has_http_server(text: &str, places: &[WantedContent]) -> bool {
    places.iter().any(|place| match place {
        WantedContent::Server(path, _) => {
            find_server_entry(text, path).is_some_and(|(_, entry)| server::is_http_server(&entry))
        }
        WantedContent::Hooks(_) | WantedContent::Rule(_) => false,
    })
}

/// Returns the entry with the server's name, as text and as value.
fn find_server_entry<'a>(text: &'a str, path: &[String]) -> Option<(&'a str, Value)> {
    let document = EditableDocument::parse(text).ok()??;
    let (servers, depth) = document.resolve_path(path, JsonType::Object).ok()?;
    let servers = (depth == path.len()).then_some(servers)?;
    let text = document.outline.slice(&document.outline.member(&servers, server::SERVER_NAME)?);
    Some((text, serde_json::from_str(text).ok()?))
}

/// Returns true if a text is blank or an object without members.
pub(crate) fn is_empty_json(text: &str) -> bool {
    let mut solid = text.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r'));
    matches!((solid.next(), solid.next(), solid.next()), (None, ..) | (Some('{'), Some('}'), None))
}

fn apply_removals(
    text: &str,
    document: &EditableDocument<'_>,
    mut edits: Vec<TextEdit>,
    gone: &[Range<usize>],
    vanishes: &dyn Fn(&[String]) -> bool,
) -> String {
    edits.extend(document.plan_removals(gone, vanishes));
    edits.sort_by_key(|edit| edit.range.start);
    apply_edits(text, &edits)
}

/// Returns true if a path leads to `hooks` or to one of its events.
fn is_hooks_path(path: &[String]) -> bool {
    path.len() <= 2 && path.first().is_some_and(|key| key == HOOKS_KEY)
}

/// Returns the rules and containers that the missing content adds, apart from hooks.
fn added_content(
    document: Option<&EditableDocument<'_>>,
    missing: &[EntryAddition],
) -> AddedContent {
    let mut within = AddedContent::default();
    for EntryAddition { path, .. } in
        missing.iter().filter(|addition| !is_hooks_path(&addition.path))
    {
        let rule = *path == server::ALLOW_RULES_PATH;
        let shape = if rule { JsonType::List } else { JsonType::Object };
        let there = document.and_then(|document| document.resolve_path(path, shape).ok());
        let around = path.len() - there.map_or(0, |(_, depth)| depth);
        within.rule |= rule;
        within.around = within.around.max(around);
    }
    within
}
