//! Findings about the faults of a settings file: code, description and advice for each fault.

use rutter_check::settings::{
    DocumentFault, DocumentFaultKind, DuplicateKey, EntryFault, FileLocation, HookFault,
    HookFaultKind, LoadFault, MAX_DOCUMENT_BYTES, SettingsFault, WrongType, entry_types,
};
use rutter_contract::EventName;
use serde_json::Value;

use super::codes::{self, FindingCode};
use super::finding::{DoctorFinding, display_name};
use crate::install::is_our_hook;
use crate::ui::format_size;

/// End of a message about a skipped file.
const SKIPPED_FILE_NOTE: &str = "the client skips the whole file";

/// Returns the finding about a fault of a settings file.
pub(super) fn settings_fault_finding(fault: &SettingsFault) -> DoctorFinding {
    match fault {
        SettingsFault::Document(fault) => document_fault_finding(fault),
        SettingsFault::NotUtf8(location) => {
            let what = "this is not UTF-8: the client replaces the invalid bytes";
            located_finding(&codes::SETTINGS_NOT_UTF8, what, location)
        }
        SettingsFault::DuplicateKey(DuplicateKey { key, location, .. }) => {
            let what = format!(
                "`{}` occurs a second time here, and the client ignores the first",
                display_name(key)
            );
            located_finding(&codes::SETTINGS_KEY_TWICE, what, location)
        }
        SettingsFault::WrongType(WrongType { key, wanted, found, location }) => {
            let wanted = wanted.description();
            let what = format!("`{key}` must be {wanted}, not {found}; {SKIPPED_FILE_NOTE}");
            located_finding(&codes::SETTINGS_KEY_WRONG, what, location)
                .with_advice(format!("write {wanted}, or remove `{key}`"))
        }
        SettingsFault::Hooks(fault) => hook_fault_finding(fault),
    }
}

fn located_finding(
    code: &'static FindingCode,
    what: impl Into<String>,
    location: &FileLocation,
) -> DoctorFinding {
    DoctorFinding::new(code, what).with_location(location.clone())
}

fn document_fault_finding(fault: &DocumentFault) -> DoctorFinding {
    let (code, what) = match &fault.kind {
        DocumentFaultKind::NotRegular => {
            (&codes::SETTINGS_UNREADABLE, "this is not a file".to_owned())
        }
        DocumentFaultKind::TooLarge => {
            let what = format!("this is larger than {}", format_size(MAX_DOCUMENT_BYTES));
            (&codes::SETTINGS_UNREADABLE, what)
        }
        DocumentFaultKind::DanglingLink => {
            (&codes::SETTINGS_UNREADABLE, "this is a broken symbolic link".to_owned())
        }
        DocumentFaultKind::Unreadable(error) => {
            (&codes::SETTINGS_UNREADABLE, format!("this cannot be read: {error}"))
        }
        DocumentFaultKind::NotJson { expected, .. } => {
            let what =
                format!("this is not JSON: expected {expected}; the client skips the whole file");
            (&codes::SETTINGS_NOT_JSON, what)
        }
        DocumentFaultKind::NotYaml { message } => {
            let what = format!("this is not YAML: {message}; the client ignores the frontmatter");
            (&codes::SETTINGS_NOT_JSON, what)
        }
        DocumentFaultKind::NotObject { found } => {
            let what =
                format!("settings must be an object, not {found}; the client skips the whole file");
            (&codes::SETTINGS_NOT_OBJECT, what)
        }
    };
    located_finding(code, what, &fault.location)
}

/// Returns the finding about a fault of hooks. `codes::SETTINGS_VOIDED` replaces the code of every fault for which the
/// client skips the whole file.
fn hook_fault_finding(fault: &HookFault) -> DoctorFinding {
    let HookFault { kind, location, skips_file } = fault;
    let (code, what, advice): (_, String, Option<String>) = match kind {
        HookFaultKind::HooksIgnored => {
            let what = "the client ignores hooks in agents and commands of a plugin".to_owned();
            (&codes::SETTINGS_VOIDED, what, Some("move them into `hooks/hooks.json`".to_owned()))
        }
        HookFaultKind::GuardsOutside { key } => {
            let what = format!(
                "hooks of PreToolUse or PermissionRequest are outside `hooks`, under `{}`",
                display_name(key)
            );
            (&codes::SETTINGS_VOIDED, what, Some("move them into `hooks`".to_owned()))
        }
        HookFaultKind::HooksIsGroup => {
            let what = "`hooks` is a single matcher group".to_owned();
            (&codes::SETTINGS_VOIDED, what, Some("wrap it in an event".to_owned()))
        }
        HookFaultKind::HooksNotObject { found } if *skips_file => {
            let found = if *found == "array" { "an array" } else { found };
            let what = format!("`hooks` must be an object of events, not {found}");
            let advice = "wrap the groups in events: { \"EVENT\": [ … ] }".to_owned();
            (&codes::SETTINGS_VOIDED, what, Some(advice))
        }
        HookFaultKind::HooksNotObject { found } => {
            let what =
                format!("`hooks` must be an object of events, not {found}; the client ignores it");
            (&codes::HOOKS_WRONG, what, None)
        }
        HookFaultKind::GuardsUnderUnknownEvent { name } => {
            let what = format!(
                "`{}` is not an event, and has hooks of PreToolUse or PermissionRequest",
                display_name(name)
            );
            let advice = "put them under the name of an event".to_owned();
            (&codes::SETTINGS_VOIDED, what, Some(advice))
        }
        HookFaultKind::UnknownEvent { name, meant } => {
            let what = format!("there is no event `{}`; these hooks never run", display_name(name));
            let advice =
                meant.map(|event| format!("write `{event}`, or see `rutter contract events`"));
            (&codes::EVENT_UNKNOWN, what, advice)
        }
        HookFaultKind::EventNotList { event, found } => {
            let what = format!("`{event}` must be an array of matcher groups, not {found}");
            if *skips_file {
                (&codes::SETTINGS_VOIDED, what, Some(codes::EVENT_WRONG.advice.to_owned()))
            } else {
                (&codes::EVENT_WRONG, format!("{what}; the client ignores it"), None)
            }
        }
        HookFaultKind::GuardsInGroup => {
            let what =
                "hooks of PreToolUse or PermissionRequest are in the place of a matcher group";
            let advice = "move them to the event itself".to_owned();
            (&codes::SETTINGS_VOIDED, what.to_owned(), Some(advice))
        }
        HookFaultKind::Unloadable { event, reason, lost } => {
            let what = format!("{event}: {}", describe_load_fault(reason));
            if *skips_file {
                (&codes::SETTINGS_VOIDED, what, None)
            } else {
                let ours = lost.iter().any(is_our_hook);
                let code = if ours { &codes::HOOK_WRONG } else { &codes::ENTRY_WRONG };
                (code, format!("{what}; the client skips it"), None)
            }
        }
    };
    let what = if *skips_file { format!("{what}; {SKIPPED_FILE_NOTE}") } else { what };
    let finding = located_finding(code, what, location);
    match advice {
        Some(advice) => finding.with_advice(advice),
        None => finding,
    }
}

fn describe_load_fault(fault: &LoadFault) -> String {
    match fault {
        LoadFault::GroupNotObject { found } => {
            format!("a matcher group must be an object, not {found}")
        }
        LoadFault::GroupHooksNotList { found } => {
            let found = found.unwrap_or("missing");
            format!("`hooks` of a matcher group must be an array, not {found}")
        }
        LoadFault::MatcherNotText { found } => {
            format!("`matcher` must be a string, not {found}")
        }
        LoadFault::Entry(fault) => describe_entry_fault(fault),
    }
}

fn describe_entry_fault(fault: &EntryFault) -> String {
    let types = || entry_types().collect::<Vec<_>>().join(", ");
    match fault {
        EntryFault::NotObject { found } => {
            format!("an entry must be an object, not {found}")
        }
        EntryFault::NoType => format!("an entry has no `type`; use one of {}", types()),
        EntryFault::TypeNotText { found } => {
            format!("`type` must be a string, not {found}")
        }
        EntryFault::UnknownType { name } => {
            format!("unknown `type` \"{}\"; use one of {}", display_name(name), types())
        }
        EntryFault::MissingField { form, field } => format!("a `{form}` entry needs `{field}`"),
        EntryFault::WrongField { field, wanted } => {
            format!("`{field}` must be {}", wanted.description())
        }
    }
}

/// Returns the event of an entry of ours that the client cannot load.
pub(super) fn lost_event(fault: &SettingsFault) -> Option<EventName> {
    let is_ours = |lost: &[Value]| lost.iter().any(is_our_hook);
    match fault {
        SettingsFault::Hooks(HookFault {
            kind: HookFaultKind::Unloadable { event, lost, .. },
            ..
        }) if is_ours(lost) => Some(*event),
        _ => None,
    }
}
