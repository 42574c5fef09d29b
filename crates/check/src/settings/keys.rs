//! Settings keys for which a value of the wrong type makes the client skip the whole file.
//!
//! Each was tested on clients 2.1.325 and 2.1.197 with a value of another type in a file with a hook, which then did
//! not run. Keys with wrong values that the client tolerates are left out, as are keys that users do not write by hand.

use rutter_contract::javascript::{JsonKind, JsonNode};
use rutter_contract::version::Contract;

use super::document::ClientDocument;
use super::location::FileLocation;

/// The required type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingType {
    /// A string.
    Text,
    /// True or false.
    Flag,
    /// A flag, or `null` in newer clients, which counts as absent.
    FlagOrNull,
    /// A number.
    Number,
    /// A number greater than zero.
    Positive,
    /// An object.
    Object,
    /// True, false or an object.
    FlagOrObject,
    /// A list of strings.
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

    /// Returns the type in words.
    pub const fn description(self) -> &'static str {
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

/// A value of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongType {
    /// The key.
    pub key: &'static str,
    /// The required type.
    pub wanted: SettingType,
    /// The type of the value, in contrast to the required one. The value itself may be a misplaced secret.
    pub found: &'static str,
    /// Position of the value.
    pub location: FileLocation,
}

/// Finds values for which the client skips the whole file. Does not check the hooks.
pub(super) fn find_wrong_types(document: &ClientDocument, contract: Contract) -> Vec<WrongType> {
    let wrong = document.root.members().iter().filter_map(|(key, node)| {
        let (name, wanted) = TYPED_KEYS.iter().find(|(name, _)| name == key)?;
        (!wanted.accepts(node, contract)).then(|| WrongType {
            key: name,
            wanted: *wanted,
            found: describe_value(node, *wanted),
            location: document.location(node.at),
        })
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::document::LoadedDocument;
    use super::*;

    #[test]
    fn finds_values_of_wrong_type() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let found = |text: &str, contract: Contract| -> Vec<(&str, &str)> {
            use std::io::Write as _;
            std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
            let LoadedDocument::Document(document) = LoadedDocument::load(Path::new(&path)) else {
                panic!("{text}")
            };
            let wrong = find_wrong_types(&document, contract);
            wrong.iter().map(|wrong| (wrong.key, wrong.found)).collect()
        };
        let [older, newer] = Contract::MEASURED.map(Contract::for_client);
        assert_eq!(found("{\"model\": \"x\", \"unknown\": 1}", newer), []);
        assert_eq!(found("{\"cleanupPeriodDays\": 0}", newer), [("cleanupPeriodDays", "none")]);
        assert_eq!(
            found("{\"env\": [], \"model\": 1}", newer),
            [("env", "array"), ("model", "number")]
        );
        let null = "{\"allowManagedHooksOnly\": null}";
        assert_eq!(found(null, newer), []);
        assert_eq!(found(null, older), [("allowManagedHooksOnly", "null")]);
    }
}
