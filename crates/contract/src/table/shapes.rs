//! The nested objects of the contract.

use super::prelude::*;
use crate::spec::{ShapeSpec, UnionSpec};

/// The reasoning effort that the model is asked for.
pub static EFFORT: ShapeSpec = ShapeSpec {
    name: "Effort",
    doc: "Effort level of the model.",
    fields: &[
        FieldSpec::required("level", Choice(&choices::EFFORT_LEVEL), Observed).note("the level")
    ],
};

/// The MCP server of an `mcp__` tool.
pub static MCP_SERVER: ShapeSpec = ShapeSpec {
    name: "McpServer",
    doc: "Origin of an `mcp__` tool.",
    fields: &[
        FieldSpec::required("name", Text, Observed).note("the name to give"),
        FieldSpec::required("source", Text, Observed).note(
            "an open set: sdk, plugin, user, project, local, dynamic, managed, \
enterprise, claudeai, agent",
        ),
    ],
};

/// A task that still runs when the agent stops.
pub static BACKGROUND_TASK: ShapeSpec = ShapeSpec {
    name: "BackgroundTask",
    doc: "A task that is still running when the agent stops. Its strings are cut at \
1,000 characters.",
    fields: &[
        FieldSpec::required("id", Text, Typed).note("id of the task"),
        FieldSpec::required("type", Text, Typed).note("kind of the task"),
        FieldSpec::required("status", Text, Typed).note("status of the task"),
        FieldSpec::required("description", Text, Typed).note("description of the task"),
        FieldSpec::optional("command", Text, Typed).note("the command"),
        FieldSpec::optional("agent_type", Text, Typed)
            .note("kind of the agent; empty for the fork that compacts"),
        FieldSpec::optional("server", Text, Typed).note("the MCP server"),
        FieldSpec::optional("tool", Text, Typed).note("the tool"),
        FieldSpec::optional("name", Text, Typed).note("the name to give"),
    ],
};

/// A prompt that the session has scheduled.
pub static SESSION_CRON: ShapeSpec = ShapeSpec {
    name: "SessionCron",
    doc: "A prompt that the session has scheduled.",
    fields: &[
        FieldSpec::required("id", Text, Typed).note("id of the task"),
        FieldSpec::required("schedule", Text, Typed).note("when"),
        FieldSpec::required("recurring", Flag, Typed).note("true if the task recurs"),
        FieldSpec::required("prompt", Text, Typed).note("submitted text"),
    ],
};

/// A call of a batch.
pub static TOOL_CALL: ShapeSpec = ShapeSpec {
    name: "ToolCall",
    doc: "A call of a batch, including denied and failed calls.",
    fields: &[
        FieldSpec::required("tool_name", Text, Observed).note("the tool"),
        FieldSpec::required("tool_input", Object, Observed).note("input of the call"),
        FieldSpec::required("tool_use_id", Text, Observed)
            .note("the call; PostToolUse and the transcript have the same"),
        FieldSpec::optional("tool_response", Any, Observed)
            .note("the result as the model reads it, unlike PostToolUse's"),
    ],
};

static PERMISSION_RULE: ShapeSpec = ShapeSpec {
    name: "PermissionRule",
    doc: "A permission rule, taken apart: `Bash(git *)` is toolName `Bash`, \
ruleContent `git *`.",
    fields: &[
        FieldSpec::required("toolName", Text, Observed).note("the tool"),
        FieldSpec::optional("ruleContent", Text, Observed).note("text in the brackets of the rule"),
    ],
};

const DESTINATION: FieldSpec =
    FieldSpec::required("destination", Choice(&choices::RULE_DESTINATION), Observed)
        .note("settings file that keeps the update");

const RULES: &[FieldSpec] = &[
    FieldSpec::required("rules", Shapes(&PERMISSION_RULE), Observed).note("the rules"),
    FieldSpec::required("behavior", Choice(&choices::RULE_BEHAVIOR), Observed)
        .note("effect of the rules"),
    DESTINATION,
];

const DIRECTORIES: &[FieldSpec] =
    &[FieldSpec::required("directories", TextList, Observed).note("the directories"), DESTINATION];

/// A change to the permissions that the user is offered, or that an answer makes.
pub static PERMISSION_UPDATE: UnionSpec = UnionSpec {
    name: "PermissionUpdate",
    doc: "A change to the permissions that the user is offered, or that an answer makes.",
    tag: "type",
    variants: &[
        ("addRules", RULES),
        ("replaceRules", RULES),
        ("removeRules", RULES),
        (
            "setMode",
            &[
                FieldSpec::required("mode", Choice(&choices::PERMISSION_MODE), Observed)
                    .note("form of the request"),
                DESTINATION,
            ],
        ),
        ("addDirectories", DIRECTORIES),
        ("removeDirectories", DIRECTORIES),
    ],
};

/// The answer to a permission request.
pub static PERMISSION_VERDICT: UnionSpec = UnionSpec {
    name: "PermissionVerdict",
    doc: "The answer to a permission request. The client ignores a field of the other \
variant.",
    tag: "behavior",
    variants: &[
        (
            "allow",
            &[
                FieldSpec::optional("updatedInput", Object, Observed)
                    .note("replaces the tool's input"),
                FieldSpec::optional("updatedPermissions", Unions(&PERMISSION_UPDATE), Typed)
                    .note("permission updates for later calls"),
            ],
        ),
        (
            "deny",
            &[
                FieldSpec::optional("message", Text, Observed).note("goes to the model"),
                FieldSpec::optional("interrupt", Flag, Observed).note("true ends the turn as well"),
            ],
        ),
    ],
};
