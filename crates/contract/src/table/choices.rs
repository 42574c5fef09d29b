//! The enumerated strings of the contract.
//!
//! The generated types keep unknown values, because a newer client may send them. The schemas list the values
//! of the client of their version, unless the client itself calls the set open.

use crate::spec::{Choice, ChoiceValue};
use crate::version::Version;

const fn value(text: &'static str) -> ChoiceValue {
    ChoiceValue { text, since: None }
}

const fn since(text: &'static str, version: (u16, u16, u16)) -> ChoiceValue {
    ChoiceValue { text, since: Some(Version::of(version)) }
}

/// The decision on a tool call.
pub static TOOL_PERMISSION: Choice = Choice {
    name: "ToolPermission",
    doc: "What becomes of a tool call.",
    values: &[value("allow"), value("deny"), value("ask"), since("defer", (2, 1, 89))],
    open: false,
};

/// The decision on a model switch.
pub static SWITCH_PERMISSION: Choice = Choice {
    name: "SwitchPermission",
    doc: "What becomes of a model switch.",
    values: &[value("allow"), value("deny"), value("ask")],
    open: false,
};

/// The session's permission mode.
pub static PERMISSION_MODE: Choice = Choice {
    name: "PermissionMode",
    doc: "How the session asks for permission.",
    values: &[
        value("default"),
        value("acceptEdits"),
        value("plan"),
        value("auto"),
        value("dontAsk"),
        value("bypassPermissions"),
    ],
    open: false,
};

/// The reasoning effort that the model is asked for.
pub static EFFORT_LEVEL: Choice = Choice {
    name: "EffortLevel",
    doc: "How hard the model is told to think.",
    values: &[value("low"), value("medium"), value("high"), value("xhigh"), value("max")],
    open: true,
};

/// The subject of a notification.
pub static NOTIFICATION_TYPE: Choice = Choice {
    name: "NotificationType",
    doc: "What a notification is about.",
    values: &[
        value("permission_prompt"),
        value("idle_prompt"),
        value("auth_success"),
        value("elicitation_dialog"),
        since("agent_needs_input", (2, 1, 198)),
        since("agent_completed", (2, 1, 198)),
        value("elicitation_url_dialog"),
        value("worker_permission_prompt"),
        value("push_notification"),
        value("computer_use_enter"),
        value("computer_use_exit"),
        value("quota_auto_resume_fired"),
        value("quota_auto_resume_stale"),
        value("quota_auto_resume_disabled"),
        value("model_refusal_fallback"),
        value("auth_storage_failure"),
        value("plugin_notification"),
        value("elicitation_complete"),
        value("elicitation_response"),
    ],
    open: true,
};

/// The submitter of a prompt.
pub static PROMPT_SOURCE: Choice = Choice {
    name: "PromptSource",
    doc: "Who submitted a prompt.",
    values: &[
        value("user"),
        value("sdk"),
        value("system"),
        value("loop_wakeup"),
        value("schedule_wakeup"),
        value("poll_event"),
    ],
    open: false,
};

/// The kind of text that is expanded.
pub static EXPANSION_TYPE: Choice = Choice {
    name: "ExpansionType",
    doc: "What is expanded.",
    values: &[value("slash_command"), value("mcp_prompt")],
    open: false,
};

/// The way in which a session started.
pub static SESSION_SOURCE: Choice = Choice {
    name: "SessionSource",
    doc: "How a session came about.",
    values: &[
        value("startup"),
        value("resume"),
        value("clear"),
        value("compact"),
        since("fork", (2, 1, 214)),
    ],
    open: false,
};

/// The reason for the end of a session.
pub static END_REASON: Choice = Choice {
    name: "EndReason",
    doc: "Why a session ends.",
    values: &[
        value("clear"),
        value("resume"),
        value("logout"),
        value("prompt_input_exit"),
        value("other"),
    ],
    open: false,
};

/// The API error that ended a turn.
pub static STOP_ERROR: Choice = Choice {
    name: "StopError",
    doc: "Which API error ended a turn.",
    values: &[
        value("authentication_failed"),
        value("oauth_org_not_allowed"),
        value("account_on_hold"),
        value("verification_required"),
        value("billing_error"),
        value("rate_limit"),
        value("overloaded"),
        value("invalid_request"),
        value("model_not_found"),
        value("server_error"),
        value("unknown"),
        value("max_output_tokens"),
        value("cloud_credential_error"),
    ],
    open: false,
};

/// The trigger of a compaction.
pub static COMPACT_TRIGGER: Choice = Choice {
    name: "CompactTrigger",
    doc: "Who asked for a compaction.",
    values: &[value("manual"), value("auto")],
    open: false,
};

/// The place where a model switch was requested.
pub static SWITCH_REQUEST_SOURCE: Choice = Choice {
    name: "SwitchRequestSource",
    doc: "Where a model switch was asked for.",
    values: &[value("command"), value("picker"), value("sdk")],
    open: false,
};

/// The cause of a model change.
pub static SWITCH_SOURCE: Choice = Choice {
    name: "SwitchSource",
    doc: "What changed the model.",
    values: &[value("command"), value("picker"), value("sdk"), value("auto"), value("resume")],
    open: false,
};

/// The lifetime of the prompt cache.
pub static CACHE_TTL: Choice = Choice {
    name: "CacheTtl",
    doc: "How long the prompt cache lives.",
    values: &[value("5m"), value("1h")],
    open: false,
};

/// The source of an estimate's prices.
pub static PRICING: Choice = Choice {
    name: "Pricing",
    doc: "Where an estimate's prices come from.",
    values: &[value("configured"), value("catalog"), value("default")],
    open: false,
};

/// The requested kind of setup.
pub static SETUP_TRIGGER: Choice = Choice {
    name: "SetupTrigger",
    doc: "Which setup was asked for.",
    values: &[value("init"), value("maintenance")],
    open: false,
};

/// The way in which an MCP server asks.
pub static ELICITATION_MODE: Choice = Choice {
    name: "ElicitationMode",
    doc: "How an MCP server asks.",
    values: &[value("form"), value("url")],
    open: false,
};

/// The answer to an elicitation.
pub static ELICITATION_ACTION: Choice = Choice {
    name: "ElicitationAction",
    doc: "How an elicitation is answered.",
    values: &[value("accept"), value("decline"), value("cancel")],
    open: false,
};

/// The configuration that changed.
pub static CONFIG_SOURCE: Choice = Choice {
    name: "ConfigSource",
    doc: "Which configuration changed.",
    values: &[
        value("user_settings"),
        value("project_settings"),
        value("local_settings"),
        value("policy_settings"),
        value("skills"),
    ],
    open: false,
};

/// The scope of an instruction file.
pub static MEMORY_TYPE: Choice = Choice {
    name: "MemoryType",
    doc: "Whose instructions a file holds.",
    values: &[value("User"), value("Project"), value("Local"), value("Managed")],
    open: false,
};

/// The reason for loading an instruction file.
pub static LOAD_REASON: Choice = Choice {
    name: "LoadReason",
    doc: "Why an instruction file is loaded.",
    values: &[
        value("session_start"),
        value("nested_traversal"),
        value("path_glob_match"),
        value("include"),
        value("compact"),
    ],
    open: false,
};

/// The change of a watched file.
pub static FILE_EVENT: Choice = Choice {
    name: "FileEvent",
    doc: "What happened to a watched file.",
    values: &[value("change"), value("add"), value("unlink")],
    open: false,
};

/// The origin of an added directory.
pub static DIRECTORY_SOURCE: Choice = Choice {
    name: "DirectorySource",
    doc: "Who added a directory.",
    values: &[value("slash_command"), value("register_repo_root")],
    open: false,
};

/// The effect of a permission rule.
pub static RULE_BEHAVIOR: Choice = Choice {
    name: "RuleBehavior",
    doc: "What a permission rule does.",
    values: &[value("allow"), value("deny"), value("ask")],
    open: false,
};

/// The place where the client stores a permission update.
pub static RULE_DESTINATION: Choice = Choice {
    name: "RuleDestination",
    doc: "Where a permission update is kept.",
    values: &[
        value("userSettings"),
        value("projectSettings"),
        value("localSettings"),
        value("session"),
        value("cliArg"),
    ],
    open: false,
};
