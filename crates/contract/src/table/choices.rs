//! The enumerated strings of the contract.
//!
//! The generated types keep unknown values, because a newer client may send them. The schemas list the values
//! of the client of their version, unless the client itself calls the set open.

use crate::spec::{ChoiceSpec, ChoiceValue};
use crate::version::Version;

/// Defines [`ChoiceSpec`]s. The doc comment of a choice is also the documentation of its generated type; `open` means
/// that the client is known to send other values too.
macro_rules! choices {
    (@since) => { None };
    (@since $version:tt) => { Some(Version::from_tuple($version)) };
    (@is_open open) => { true };
    (@is_open closed) => { false };
    ($(
        #[doc = $doc:literal]
        $constant:ident: $kind:ident $name:literal = [
            $($text:literal $(since $version:tt)?),+ $(,)?
        ];
    )+) => {$(
        #[doc = $doc]
        pub static $constant: ChoiceSpec = ChoiceSpec {
            name: $name,
            doc: $doc.trim_ascii(),
            values: &[$(ChoiceValue { text: $text, since: choices!(@since $($version)?) }),+],
            open: choices!(@is_open $kind),
        };
    )+};
}

choices! {
    /// Decision about a tool call.
    TOOL_PERMISSION: closed "ToolPermission" = ["allow", "deny", "ask", "defer" since (2, 1, 89)];

    /// Decision about a model switch.
    SWITCH_PERMISSION: closed "SwitchPermission" = ["allow", "deny", "ask"];

    /// Permission mode of the session.
    PERMISSION_MODE: closed "PermissionMode" = [
        "default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions",
    ];

    /// Effort level of the model.
    EFFORT_LEVEL: open "EffortLevel" = ["low", "medium", "high", "xhigh", "max"];

    /// Subject of a notification.
    NOTIFICATION_TYPE: open "NotificationType" = [
        "permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog",
        "agent_needs_input" since (2, 1, 198), "agent_completed" since (2, 1, 198),
        "elicitation_url_dialog", "worker_permission_prompt", "push_notification",
        "computer_use_enter", "computer_use_exit", "quota_auto_resume_fired",
        "quota_auto_resume_stale", "quota_auto_resume_disabled", "model_refusal_fallback",
        "auth_storage_failure", "plugin_notification", "elicitation_complete",
        "elicitation_response",
    ];

    /// Origin of a prompt.
    PROMPT_SOURCE: closed "PromptSource" = [
        "user", "sdk", "system", "loop_wakeup", "schedule_wakeup", "poll_event",
    ];

    /// Kind of an expanded command.
    EXPANSION_TYPE: closed "ExpansionType" = ["slash_command", "mcp_prompt"];

    /// Cause of a session start.
    SESSION_SOURCE: closed "SessionSource" = [
        "startup", "resume", "clear", "compact", "fork" since (2, 1, 214),
    ];

    /// Reason for the end of a session.
    END_REASON: closed "EndReason" = ["clear", "resume", "logout", "prompt_input_exit", "other"];

    /// Which API error ended a turn.
    STOP_ERROR: closed "StopError" = [
        "authentication_failed", "oauth_org_not_allowed", "account_on_hold",
        "verification_required", "billing_error", "rate_limit", "overloaded", "invalid_request",
        "model_not_found", "server_error", "unknown", "max_output_tokens", "cloud_credential_error",
    ];

    /// Origin of a compaction.
    COMPACT_TRIGGER: closed "CompactTrigger" = ["manual", "auto"];

    /// Origin of a model switch.
    SWITCH_REQUEST_SOURCE: closed "SwitchRequestSource" = ["command", "picker", "sdk"];

    /// Cause of a model switch.
    SWITCH_SOURCE: closed "SwitchSource" = ["command", "picker", "sdk", "auto", "resume"];

    /// Lifetime of the prompt cache.
    CACHE_TTL: closed "CacheTtl" = ["5m", "1h"];

    /// Source of the prices of an estimate.
    PRICING: closed "Pricing" = ["configured", "catalog", "default"];

    /// Which setup was asked for.
    SETUP_TRIGGER: closed "SetupTrigger" = ["init", "maintenance"];

    /// Form of a request by an MCP server.
    ELICITATION_MODE: closed "ElicitationMode" = ["form", "url"];

    /// Answer to an elicitation.
    ELICITATION_ACTION: closed "ElicitationAction" = ["accept", "decline", "cancel"];

    /// Which configuration changed.
    CONFIG_SOURCE: closed "ConfigSource" = [
        "user_settings", "project_settings", "local_settings", "policy_settings", "skills",
    ];

    /// Owner of an instruction file.
    MEMORY_TYPE: closed "MemoryType" = ["User", "Project", "Local", "Managed"];

    /// Reason for loading an instruction file.
    LOAD_REASON: closed "LoadReason" = [
        "session_start", "nested_traversal", "path_glob_match", "include", "compact",
    ];

    /// Change of a watched file.
    FILE_EVENT: closed "FileEvent" = ["change", "add", "unlink"];

    /// Origin of an added directory.
    DIRECTORY_SOURCE: closed "DirectorySource" = ["slash_command", "register_repo_root"];

    /// Effect of a permission rule.
    RULE_BEHAVIOR: closed "RuleBehavior" = ["allow", "deny", "ask"];

    /// Settings file that keeps a permission update.
    RULE_DESTINATION: closed "RuleDestination" = [
        "userSettings", "projectSettings", "localSettings", "session", "cliArg",
    ];
}
