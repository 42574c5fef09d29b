//! The enumerated strings of the contract.
//!
//! The generated types keep unknown values, because a newer client may send them. The schemas list the values
//! of the client of their version, unless the client itself calls the set open.

use crate::spec::{ChoiceSpec, ChoiceValue};
use crate::version::Version;

const fn choice_value(text: &'static str) -> ChoiceValue {
    ChoiceValue { text, since: None }
}

const fn choice_value_since(text: &'static str, version: (u16, u16, u16)) -> ChoiceValue {
    ChoiceValue { text, since: Some(Version::from_tuple(version)) }
}

/// The decision on a tool call.
pub static TOOL_PERMISSION: ChoiceSpec = ChoiceSpec {
    name: "ToolPermission",
    doc: "Decision about a tool call.",
    values: &[
        choice_value("allow"),
        choice_value("deny"),
        choice_value("ask"),
        choice_value_since("defer", (2, 1, 89)),
    ],
    open: false,
};

/// The decision on a model switch.
pub static SWITCH_PERMISSION: ChoiceSpec = ChoiceSpec {
    name: "SwitchPermission",
    doc: "Decision about a model switch.",
    values: &[choice_value("allow"), choice_value("deny"), choice_value("ask")],
    open: false,
};

/// The session's permission mode.
pub static PERMISSION_MODE: ChoiceSpec = ChoiceSpec {
    name: "PermissionMode",
    doc: "Permission mode of the session.",
    values: &[
        choice_value("default"),
        choice_value("acceptEdits"),
        choice_value("plan"),
        choice_value("auto"),
        choice_value("dontAsk"),
        choice_value("bypassPermissions"),
    ],
    open: false,
};

/// The reasoning effort that the model is asked for.
pub static EFFORT_LEVEL: ChoiceSpec = ChoiceSpec {
    name: "EffortLevel",
    doc: "Effort level of the model.",
    values: &[
        choice_value("low"),
        choice_value("medium"),
        choice_value("high"),
        choice_value("xhigh"),
        choice_value("max"),
    ],
    open: true,
};

/// The subject of a notification.
pub static NOTIFICATION_TYPE: ChoiceSpec = ChoiceSpec {
    name: "NotificationType",
    doc: "Subject of a notification.",
    values: &[
        choice_value("permission_prompt"),
        choice_value("idle_prompt"),
        choice_value("auth_success"),
        choice_value("elicitation_dialog"),
        choice_value_since("agent_needs_input", (2, 1, 198)),
        choice_value_since("agent_completed", (2, 1, 198)),
        choice_value("elicitation_url_dialog"),
        choice_value("worker_permission_prompt"),
        choice_value("push_notification"),
        choice_value("computer_use_enter"),
        choice_value("computer_use_exit"),
        choice_value("quota_auto_resume_fired"),
        choice_value("quota_auto_resume_stale"),
        choice_value("quota_auto_resume_disabled"),
        choice_value("model_refusal_fallback"),
        choice_value("auth_storage_failure"),
        choice_value("plugin_notification"),
        choice_value("elicitation_complete"),
        choice_value("elicitation_response"),
    ],
    open: true,
};

/// The submitter of a prompt.
pub static PROMPT_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "PromptSource",
    doc: "Origin of a prompt.",
    values: &[
        choice_value("user"),
        choice_value("sdk"),
        choice_value("system"),
        choice_value("loop_wakeup"),
        choice_value("schedule_wakeup"),
        choice_value("poll_event"),
    ],
    open: false,
};

/// The kind of text that is expanded.
pub static EXPANSION_TYPE: ChoiceSpec = ChoiceSpec {
    name: "ExpansionType",
    doc: "Kind of an expanded command.",
    values: &[choice_value("slash_command"), choice_value("mcp_prompt")],
    open: false,
};

/// The way in which a session started.
pub static SESSION_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "SessionSource",
    doc: "Cause of a session start.",
    values: &[
        choice_value("startup"),
        choice_value("resume"),
        choice_value("clear"),
        choice_value("compact"),
        choice_value_since("fork", (2, 1, 214)),
    ],
    open: false,
};

/// The reason for the end of a session.
pub static END_REASON: ChoiceSpec = ChoiceSpec {
    name: "EndReason",
    doc: "Reason for the end of a session.",
    values: &[
        choice_value("clear"),
        choice_value("resume"),
        choice_value("logout"),
        choice_value("prompt_input_exit"),
        choice_value("other"),
    ],
    open: false,
};

/// The API error that ended a turn.
pub static STOP_ERROR: ChoiceSpec = ChoiceSpec {
    name: "StopError",
    doc: "Which API error ended a turn.",
    values: &[
        choice_value("authentication_failed"),
        choice_value("oauth_org_not_allowed"),
        choice_value("account_on_hold"),
        choice_value("verification_required"),
        choice_value("billing_error"),
        choice_value("rate_limit"),
        choice_value("overloaded"),
        choice_value("invalid_request"),
        choice_value("model_not_found"),
        choice_value("server_error"),
        choice_value("unknown"),
        choice_value("max_output_tokens"),
        choice_value("cloud_credential_error"),
    ],
    open: false,
};

/// The trigger of a compaction.
pub static COMPACT_TRIGGER: ChoiceSpec = ChoiceSpec {
    name: "CompactTrigger",
    doc: "Origin of a compaction.",
    values: &[choice_value("manual"), choice_value("auto")],
    open: false,
};

/// The place where a model switch was requested.
pub static SWITCH_REQUEST_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "SwitchRequestSource",
    doc: "Origin of a model switch.",
    values: &[choice_value("command"), choice_value("picker"), choice_value("sdk")],
    open: false,
};

/// The cause of a model change.
pub static SWITCH_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "SwitchSource",
    doc: "Cause of a model switch.",
    values: &[
        choice_value("command"),
        choice_value("picker"),
        choice_value("sdk"),
        choice_value("auto"),
        choice_value("resume"),
    ],
    open: false,
};

/// The lifetime of the prompt cache.
pub static CACHE_TTL: ChoiceSpec = ChoiceSpec {
    name: "CacheTtl",
    doc: "Lifetime of the prompt cache.",
    values: &[choice_value("5m"), choice_value("1h")],
    open: false,
};

/// The source of an estimate's prices.
pub static PRICING: ChoiceSpec = ChoiceSpec {
    name: "Pricing",
    doc: "Source of the prices of an estimate.",
    values: &[choice_value("configured"), choice_value("catalog"), choice_value("default")],
    open: false,
};

/// The requested kind of setup.
pub static SETUP_TRIGGER: ChoiceSpec = ChoiceSpec {
    name: "SetupTrigger",
    doc: "Which setup was asked for.",
    values: &[choice_value("init"), choice_value("maintenance")],
    open: false,
};

/// The way in which an MCP server asks.
pub static ELICITATION_MODE: ChoiceSpec = ChoiceSpec {
    name: "ElicitationMode",
    doc: "Form of a request by an MCP server.",
    values: &[choice_value("form"), choice_value("url")],
    open: false,
};

/// The answer to an elicitation.
pub static ELICITATION_ACTION: ChoiceSpec = ChoiceSpec {
    name: "ElicitationAction",
    doc: "Answer to an elicitation.",
    values: &[choice_value("accept"), choice_value("decline"), choice_value("cancel")],
    open: false,
};

/// The configuration that changed.
pub static CONFIG_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "ConfigSource",
    doc: "Which configuration changed.",
    values: &[
        choice_value("user_settings"),
        choice_value("project_settings"),
        choice_value("local_settings"),
        choice_value("policy_settings"),
        choice_value("skills"),
    ],
    open: false,
};

/// The scope of an instruction file.
pub static MEMORY_TYPE: ChoiceSpec = ChoiceSpec {
    name: "MemoryType",
    doc: "Owner of an instruction file.",
    values: &[
        choice_value("User"),
        choice_value("Project"),
        choice_value("Local"),
        choice_value("Managed"),
    ],
    open: false,
};

/// The reason for loading an instruction file.
pub static LOAD_REASON: ChoiceSpec = ChoiceSpec {
    name: "LoadReason",
    doc: "Reason for loading an instruction file.",
    values: &[
        choice_value("session_start"),
        choice_value("nested_traversal"),
        choice_value("path_glob_match"),
        choice_value("include"),
        choice_value("compact"),
    ],
    open: false,
};

/// The change of a watched file.
pub static FILE_EVENT: ChoiceSpec = ChoiceSpec {
    name: "FileEvent",
    doc: "Change of a watched file.",
    values: &[choice_value("change"), choice_value("add"), choice_value("unlink")],
    open: false,
};

/// The origin of an added directory.
pub static DIRECTORY_SOURCE: ChoiceSpec = ChoiceSpec {
    name: "DirectorySource",
    doc: "Origin of an added directory.",
    values: &[choice_value("slash_command"), choice_value("register_repo_root")],
    open: false,
};

/// The effect of a permission rule.
pub static RULE_BEHAVIOR: ChoiceSpec = ChoiceSpec {
    name: "RuleBehavior",
    doc: "Effect of a permission rule.",
    values: &[choice_value("allow"), choice_value("deny"), choice_value("ask")],
    open: false,
};

/// The place where the client stores a permission update.
pub static RULE_DESTINATION: ChoiceSpec = ChoiceSpec {
    name: "RuleDestination",
    doc: "Settings file that keeps a permission update.",
    values: &[
        choice_value("userSettings"),
        choice_value("projectSettings"),
        choice_value("localSettings"),
        choice_value("session"),
        choice_value("cliArg"),
    ],
    open: false,
};
