//! Settings keys for which a value of the wrong type makes the client skip the whole file.
//!
//! Each was tested on clients 2.1.325 and 2.1.197 with a value of another type in a file with a hook, which then did
//! not run. Keys with wrong values that the client tolerates are left out, as are keys that users do not write by hand.

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::codes;
use super::document::ClientDocument;
use super::finding::DoctorFinding;

/// The required type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingType {
    Text,
    Flag,
    /// A flag, or `null` in newer clients, which counts as absent.
    FlagOrNull,
    Number,
    /// A number greater than zero.
    Positive,
    Object,
    FlagOrObject,
    Texts,
    /// A list of strings, or a single string.
    TextsOrText,
}

use SettingType::{
    Flag, FlagOrNull, FlagOrObject, Number, Object, Positive, Text, Texts, TextsOrText,
};

const TYPED_KEYS: &[(&str, SettingType)] = &[
    ("apiKeyHelper", Text),
    ("awsCredentialExport", Text),
    ("awsAuthRefresh", Text),
    ("otelHeadersHelper", Text),
    ("model", Text),
    ("outputStyle", Text),
    ("language", Text),
    ("agent", Text),
    ("plansDirectory", Text),
    ("minimumVersion", Text),
    ("autoMemoryDirectory", Text),
    ("respectGitignore", Flag),
    ("includeCoAuthoredBy", Flag),
    ("includeGitInstructions", Flag),
    ("enableAllProjectMcpServers", Flag),
    ("disableAllHooks", Flag),
    ("disableSkillShellExecution", Flag),
    ("skipWebFetchPreflight", Flag),
    ("spinnerTipsEnabled", Flag),
    ("syntaxHighlightingDisabled", Flag),
    ("alwaysThinkingEnabled", Flag),
    ("fastMode", Flag),
    ("promptSuggestionEnabled", Flag),
    ("autoMemoryEnabled", Flag),
    ("prefersReducedMotion", Flag),
    ("verbose", Flag),
    ("autoCompactEnabled", Flag),
    ("showTurnDuration", Flag),
    ("fileCheckpointingEnabled", Flag),
    ("terminalProgressBarEnabled", Flag),
    ("skipDangerousModePermissionPrompt", Flag),
    ("allowManagedHooksOnly", FlagOrNull),
    ("cleanupPeriodDays", Positive),
    ("feedbackSurveyRate", Number),
    ("env", Object),
    ("attribution", FlagOrObject),
    ("permissions", Object),
    ("statusLine", Object),
    ("fileSuggestion", Object),
    ("worktree", Object),
    ("sandbox", Object),
    ("enabledPlugins", Object),
    ("pluginConfigs", Object),
    ("modelOverrides", Object),
    ("skillOverrides", Object),
    ("spinnerVerbs", Object),
    ("enabledMcpjsonServers", TextsOrText),
    ("disabledMcpjsonServers", TextsOrText),
    ("availableModels", Texts),
    ("companyAnnouncements", Texts),
    ("claudeMdExcludes", Texts),
    ("allowedHttpHookUrls", Texts),
    ("httpHookAllowedEnvVars", Texts),
    ("fallbackModel", Texts),
];

impl SettingType {
    fn accepts(self, node: &JsonNode, contract: Contract) -> bool {
        match (self, &node.kind) {
            (Text | TextsOrText, JsonKind::Text(_))
            | (Flag | FlagOrNull | FlagOrObject, JsonKind::Bool(_))
            | (Number, JsonKind::Number(_))
            | (Object | FlagOrObject, JsonKind::Object(_)) => true,
            (FlagOrNull, JsonKind::Null) => contract.malformed_handler_is_skipped_alone(),
            (Positive, JsonKind::Number(number)) => {
                number.parse::<f64>().is_ok_and(|number| number > 0.0 && number.is_finite())
            }
            (Texts | TextsOrText, JsonKind::List(items)) => {
                items.iter().all(|item| matches!(item.kind, JsonKind::Text(_)))
            }
            _ => false,
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Text => "a string",
            Flag | FlagOrNull => "true or false",
            Number => "a number",
            Positive => "a number over 0",
            Object => "an object",
            FlagOrObject => "true, false or an object",
            Texts | TextsOrText => "an array of strings",
        }
    }
}

/// Finds values for which the client skips the whole file. Does not check the hooks.
pub(super) fn check_keys(document: &ClientDocument, contract: Contract) -> Vec<DoctorFinding> {
    let wrong = document.root.members().iter().filter_map(|(key, node)| {
        let (name, wanted) = TYPED_KEYS.iter().find(|(name, _)| name == key)?;
        if wanted.accepts(node, contract) {
            return None;
        }
        // The value is not quoted: it may be a misplaced secret.
        let what = format!(
            "`{name}` must be {}, not {}; the client skips the whole file",
            wanted.description(),
            describe_value(node, *wanted)
        );
        let finding = DoctorFinding::new(&codes::SETTINGS_KEY_WRONG, what)
            .with_location(document.location(node.at));
        Some(finding.with_advice(format!("write {}, or remove `{name}`", wanted.description())))
    });
    wrong.collect()
}

fn describe_value(node: &JsonNode, wanted: SettingType) -> &'static str {
    match &node.kind {
        JsonKind::Number(_) if wanted == Positive => "none",
        JsonKind::List(_) if matches!(wanted, Texts | TextsOrText) => "an array of something else",
        kind => kind.name(),
    }
}
