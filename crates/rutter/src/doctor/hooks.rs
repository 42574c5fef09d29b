//! Compares our entries with those that `rutter init` writes.

use std::path::{Path, PathBuf};

use rutter_check::settings::{
    ClientFiles, FileLocation, HookEntry, SettingsLayer, SettingsSource, is_same_path,
    local_settings_file, project_settings_file,
};
use rutter_contract::spec::MatcherValues;
use rutter_contract::{EventName, table};
use rutter_memory::quote::PathLine as _;
use serde_json::Value;

use super::advice;
use super::codes::{self, FindingCode};
use super::entry::{self, LaunchCommand};
use super::finding::{DoctorFinding, display_name};
use super::layers::{lost_events, may_have_our_entries, our_entries};
use super::places::ClientEnvironment;
use crate::install::{self, HookGroup, InstallScope, has_our_hooks, hook_groups};

/// Longest plausible timeout in seconds. A larger number was meant as milliseconds.
const MAX_TIMEOUT_SECONDS: f64 = 60.0;
/// Shortest safe timeout in seconds: our hook may take this long to end itself.
const MIN_TIMEOUT_SECONDS: f64 = 1.0;

/// Runs all checks of our entries that need no process.
pub(crate) fn check_entries(
    layers: &[SettingsLayer],
    places: &ClientEnvironment,
) -> Vec<DoctorFinding> {
    let wanted = hook_groups(&install::ProgramReference::Path(super::PROGRAM_NAME.to_owned()));
    let entries: Vec<&HookEntry> = our_entries(layers).collect();
    let lost: Vec<EventName> = lost_events(layers).collect();
    let mut findings = Vec::new();
    if entries.is_empty() && lost.is_empty() {
        // An unreadable file may contain entries. It has its own finding.
        if !layers.iter().any(may_have_our_entries) {
            findings.push(no_hooks_finding(&places.files));
        }
        return findings;
    }
    let heard = effective_entries(&entries);
    findings.extend(check_missing_events(&heard, &lost, &wanted));
    let mut remarks = EntryRemarks::default();
    for entry in &entries {
        if let Some(group) = wanted.iter().find(|group| group.event == entry.event) {
            check_matcher(entry, group, &mut remarks);
            check_fields(entry, &group.value["hooks"][0], &mut remarks);
        } else {
            let what = "rutter does not handle";
            remarks.add(&codes::HOOKS_EXTRA, entry, &entry.place, what);
        }
        if entry.whose == SettingsSource::User && entry::shared_scope(entry).is_some() {
            let what = "an entry for a team is in your own settings, for";
            remarks.add(&codes::HOOKS_SHARED_OWN, entry, &entry.place, what);
        }
        if matches!(entry::launch_command(entry, places), LaunchCommand::Shell { .. }) {
            remarks.add(
                &codes::HOOK_SHELL,
                entry,
                &entry.place,
                "a shell starts rutter, which costs one more process, for",
            );
        }
    }
    findings.extend(remarks.into_findings());
    findings.extend(check_duplicate_entries(&heard, layers));
    findings
}

/// Returns the entries that do not defer to another entry.
fn effective_entries<'a>(entries: &[&'a HookEntry]) -> Vec<&'a HookEntry> {
    entries.iter().copied().filter(|entry| !defers_to_entry(entry, entries)).collect()
}

/// Returns true if an entry defers to another one on the same event, by the rule of the hook itself: a shared entry
/// defers to the user's own, and a plugin's entry also to the project's. Entries with a missing program do not count,
/// nor does the same file under another path.
fn defers_to_entry(entry: &HookEntry, entries: &[&HookEntry]) -> bool {
    let Some(scope) = entry::shared_scope(entry) else { return false };
    let is_nearer = |other: &HookEntry| match other.whose {
        SettingsSource::Local | SettingsSource::Checkout | SettingsSource::User => {
            entry::shared_scope(other).is_none()
        }
        SettingsSource::Project => scope == InstallScope::Plugin,
        SettingsSource::Managed
        | SettingsSource::Plugin
        | SettingsSource::Skill
        | SettingsSource::Agent
        | SettingsSource::Command => false,
    };
    entries.iter().any(|other| {
        other.event == entry.event
            && is_nearer(other)
            && entry::program_exists(other)
            && !is_same_path(&other.place.file, &entry.place.file)
    })
}

fn no_hooks_finding(files: &ClientFiles) -> DoctorFinding {
    let elsewhere = find_other_installation(files).map_or_else(String::new, |folder| {
        format!(
            "; {} has rutter's hooks, but older clients read settings only in the folder where \
             they are started",
            folder.to_line()
        )
    });
    let what = format!("no settings file that applies here runs rutter{elsewhere}");
    DoctorFinding::new(&codes::HOOKS_NONE, what)
        .with_location(FileLocation::whole_file(&files.local_settings()))
}

/// Returns a parent folder, or the main checkout of a worktree, with settings that run rutter.
fn find_other_installation(files: &ClientFiles) -> Option<PathBuf> {
    let folder = &files.folder;
    let settled = folder.canonicalize().unwrap_or_else(|_| folder.clone());
    let tree = files.work_tree.as_ref();
    let main = tree.and_then(|tree| tree.common_dir.parent()).map(Path::to_owned);
    let above = settled.ancestors().skip(1).map(Path::to_owned);
    above.chain(main).find(|folder| {
        has_our_hooks(&local_settings_file(folder)) || has_our_hooks(&project_settings_file(folder))
    })
}

fn check_missing_events(
    entries: &[&HookEntry],
    lost: &[EventName],
    wanted: &[HookGroup],
) -> Option<DoctorFinding> {
    let there = |event| entries.iter().any(|entry| entry.event == event) || lost.contains(&event);
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|group| !there(group.event))
        .map(|group| group.event.as_str())
        .collect();
    let place = entries.first().map(|entry| FileLocation::whole_file(&entry.place.file));
    (!missing.is_empty()).then(|| {
        let what = format!("no entry runs rutter on {}", missing.join(", "));
        let finding = DoctorFinding::new(&codes::HOOKS_MISSING, what);
        match place {
            Some(place) => finding.with_location(place),
            None => finding,
        }
    })
}

/// Remarks about entries. Equal remarks about several entries of a file become one finding.
#[derive(Default)]
struct EntryRemarks(Vec<EntryRemark>);

struct EntryRemark {
    code: &'static FindingCode,
    what: String,
    place: FileLocation,
    events: Vec<EventName>,
}

impl EntryRemarks {
    fn add(
        &mut self,
        code: &'static FindingCode,
        entry: &HookEntry,
        place: &FileLocation,
        what: impl Into<String>,
    ) {
        let what = what.into();
        let same = self.0.iter_mut().find(|remark| {
            remark.code == code && remark.what == what && remark.place.file == place.file
        });
        match same {
            Some(remark) if remark.events.contains(&entry.event) => {}
            Some(remark) => remark.events.push(entry.event),
            None => {
                let (place, events) = (place.clone(), vec![entry.event]);
                self.0.push(EntryRemark { code, what, place, events });
            }
        }
    }

    fn into_findings(self) -> impl Iterator<Item = DoctorFinding> {
        self.0.into_iter().map(|EntryRemark { code, what, place, events }| {
            let events: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
            DoctorFinding::new(code, format!("{what} {}", events.join(", "))).with_location(place)
        })
    }
}

fn check_matcher(entry: &HookEntry, wanted: &HookGroup, remarks: &mut EntryRemarks) {
    let values = table::event_spec(entry.event).matcher.values;
    if matches!(values, MatcherValues::Ignored) {
        return;
    }
    let found = entry.matcher.as_deref().filter(|matcher| !matches_everything(matcher));
    let wanted = wanted.value["matcher"].as_str().filter(|matcher| !matches_everything(matcher));
    if found == wanted {
        return;
    }
    let init = |wanted: Option<&str>| {
        wanted.map_or_else(|| "omits it".to_owned(), |wanted| format!("writes `{wanted}`"))
    };
    let place = &entry.matcher_place;
    let Some(text) = found else {
        let what =
            format!("the matcher matches everything, but `rutter init` {}, for", init(wanted));
        return remarks.add(&codes::HOOK_MATCHER_DIFFERS, entry, place, what);
    };
    let shown = display_name(text);
    // The names in rutter's own matcher, else the possible values of the event if they are known.
    let known = wanted.and_then(parse_matcher_names).or_else(|| match values {
        MatcherValues::List(choice) => {
            Some(choice.values.iter().map(|value| value.text.to_owned()).collect())
        }
        _ => None,
    });
    let never = match (parse_matcher_names(text), &known) {
        (Some(names), Some(known)) => !names.iter().any(|name| known.contains(name)),
        (Some(names), None) => names.is_empty(),
        (None, Some(known)) => required_matcher_texts(text).is_some_and(|needed| {
            !known.iter().any(|name| needed.iter().any(|needed| name.contains(needed)))
        }),
        (None, None) => false,
    };
    if never {
        let what = format!("the matcher `{shown}` matches nothing that rutter handles on");
        return remarks.add(&codes::HOOK_MATCHER_NEVER, entry, place, what);
    }
    let what = format!("the matcher is `{shown}`, but `rutter init` {}, for", init(wanted));
    remarks.add(&codes::HOOK_MATCHER_DIFFERS, entry, place, what);
}

fn matches_everything(matcher: &str) -> bool {
    matches!(matcher, "" | "*")
}

/// Returns the names that a matcher lists, or None if the client treats the matcher as a regular expression.
fn parse_matcher_names(matcher: &str) -> Option<Vec<String>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' ' | ',' | '|');
    matcher.chars().all(plain).then(|| {
        let names = matcher.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    })
}

/// Returns the texts of which a name must contain one to match a matcher in the form of a permission rule, such as
/// `Bash(pytest|npm test)`. The client treats it as a regular expression with a group. Returns None if the texts cannot
/// be determined without a regex engine.
fn required_matcher_texts(matcher: &str) -> Option<Vec<String>> {
    let (tool, rest) = matcher.split_once('(')?;
    let group = rest.strip_suffix(')')?;
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let begin = |choice: &str| {
        let mut signs = choice.chars();
        let first = signs.next().filter(char::is_ascii_alphanumeric)?;
        let optional = signs.next().is_some_and(|second| matches!(second, '*' | '?' | '{'));
        (!optional).then(|| format!("{tool}{first}"))
    };
    let named = !tool.is_empty() && plain(tool) && !group.contains(['(', ')']);
    if named { group.split('|').map(begin).collect() } else { None }
}

fn check_fields(entry: &HookEntry, wanted: &Value, remarks: &mut EntryRemarks) {
    let place = &entry.place;
    for (key, value) in entry.handler.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("timeout", value) => {
                let seconds = value.as_f64().unwrap_or_default();
                if !(MIN_TIMEOUT_SECONDS..=MAX_TIMEOUT_SECONDS).contains(&seconds) {
                    let what = format!(
                        "`timeout` is {seconds} seconds, but `rutter init` writes {}, for",
                        wanted["timeout"]
                    );
                    remarks.add(&codes::HOOK_TIMEOUT, entry, place, what);
                }
            }
            ("if", Value::String(rule)) if !rule.is_empty() => {
                let tools =
                    matches!(table::event_spec(entry.event).matcher.values, MatcherValues::Tools);
                let what = if tools {
                    "an `if` restricts rutter on"
                } else {
                    "an `if` stops rutter from running on"
                };
                remarks.add(&codes::HOOK_CONDITION, entry, place, what);
            }
            ("async" | "asyncRewake", Value::Bool(true)) => {
                let what = format!(
                    "`{key}` runs rutter in the background, so its answer is \
                                    lost on"
                );
                remarks.add(&codes::HOOK_ASYNC, entry, place, what);
            }
            ("onFailure", Value::String(word)) if word == "block" => {
                let what = "`onFailure` blocks the agent if rutter cannot be started on";
                remarks.add(&codes::HOOK_ON_FAILURE, entry, place, what);
            }
            (
                "type" | "command" | "args" | "statusMessage" | "shell" | "if" | "async"
                | "asyncRewake" | "onFailure",
                _,
            )
            | ("once", Value::Bool(false)) => {}
            (key, _) => {
                let what = format!("the client ignores `{}` in the entry of", display_name(key));
                remarks.add(&codes::HOOK_FIELD, entry, place, what);
            }
        }
    }
}

/// Returns a finding if two different entries run on one event. It points at the one that the user should remove.
fn check_duplicate_entries(
    entries: &[&HookEntry],
    layers: &[SettingsLayer],
) -> Option<DoctorFinding> {
    let mut events = Vec::new();
    let mut pair: Option<(&HookEntry, &HookEntry)> = None;
    // An entry with a missing program does not run, and has its own finding.
    let entries: Vec<&HookEntry> =
        entries.iter().copied().filter(|entry| entry::program_exists(entry)).collect();
    for (at, entry) in entries.iter().enumerate() {
        let other = entries[..at]
            .iter()
            .find(|other| other.event == entry.event && other.dedup_key() != entry.dedup_key());
        let Some(other) = other else { continue };
        pair.get_or_insert((other, entry));
        if !events.contains(&entry.event.as_str()) {
            events.push(entry.event.as_str());
        }
    }
    let (first, second) = pair?;
    let is_further = advice::removal_rank(second.whose) >= advice::removal_rank(first.whose);
    let (near, far) = if is_further { (first, second) } else { (second, first) };
    let what = format!("this and {} both run rutter on {}", near.place, events.join(", "));
    let finding = DoctorFinding::new(&codes::HOOKS_TWICE, what).with_location(far.place.clone());
    if near.place.file == far.place.file {
        // `init` merges entries within one file.
        return Some(finding.with_advice("rutter init"));
    }
    let layer = layers.iter().find(|layer| layer.path == far.place.file);
    Some(match layer.and_then(advice::removal_command) {
        Some(advice) => finding.with_advice(advice),
        None => finding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_permission_rule_matchers() {
        let needs = |matcher: &str| required_matcher_texts(matcher).map(|needed| needed.join(" "));
        assert_eq!(needs("Bash(pytest|npm test)").as_deref(), Some("Bashp Bashn"));
        assert_eq!(needs("Bash(echo *)").as_deref(), Some("Bashe"));
        for open in
            ["Bash()", "Bash(x|)", "Bash(x*)", "Bash(x)?", "Bash|(Edit)", "(Bash)", "Bash((x))"]
        {
            assert_eq!(required_matcher_texts(open), None, "{open}");
        }
    }
}
