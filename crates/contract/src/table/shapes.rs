//! The nested objects of the contract.

use super::prelude::*;
use crate::spec::{Shape, Union};

/// How hard the model is told to think.
pub static EFFORT: Shape = Shape {
    name: "Effort",
    doc: "How hard the model is told to think.",
    fields: &[Field::required("level", Choice(&choices::EFFORT_LEVEL), Observed)],
};

/// Where an `mcp__` tool comes from.
pub static MCP_SERVER: Shape = Shape {
    name: "McpServer",
    doc: "Where an `mcp__` tool comes from.",
    fields: &[
        Field::required("name", Text, Observed),
        Field::required("source", Text, Observed).note(
            "an open set: sdk, plugin, user, project, local, dynamic, managed, enterprise, claudeai, agent",
        ),
    ],
};

/// A task that is still running when the agent stops.
pub static BACKGROUND_TASK: Shape = Shape {
    name: "BackgroundTask",
    doc: "A task that is still running when the agent stops. Its strings are cut at 1,000 characters.",
    fields: &[
        Field::required("id", Text, Typed),
        Field::required("type", Text, Typed),
        Field::required("status", Text, Typed),
        Field::required("description", Text, Typed),
        Field::optional("command", Text, Typed),
        Field::optional("agent_type", Text, Typed),
        Field::optional("server", Text, Typed),
        Field::optional("tool", Text, Typed),
        Field::optional("name", Text, Typed),
    ],
};

/// A prompt that the session has scheduled.
pub static SESSION_CRON: Shape = Shape {
    name: "SessionCron",
    doc: "A prompt that the session has scheduled.",
    fields: &[
        Field::required("id", Text, Typed),
        Field::required("schedule", Text, Typed),
        Field::required("recurring", Flag, Typed),
        Field::required("prompt", Text, Typed),
    ],
};

/// One call of a batch.
pub static TOOL_CALL: Shape = Shape {
    name: "ToolCall",
    doc: "One call of a batch; denied and failed calls are there too.",
    fields: &[
        Field::required("tool_name", Text, Observed),
        Field::required("tool_input", Object, Observed),
        Field::required("tool_use_id", Text, Observed),
        Field::optional("tool_response", Any, Observed)
            .note("the result as the model reads it, unlike PostToolUse's"),
    ],
};

static PERMISSION_RULE: Shape = Shape {
    name: "PermissionRule",
    doc: "A permission rule, taken apart: `Bash(git *)` is toolName `Bash`, ruleContent `git *`.",
    fields: &[
        Field::required("toolName", Text, Observed),
        Field::optional("ruleContent", Text, Observed),
    ],
};

const DESTINATION: Field =
    Field::required("destination", Choice(&choices::RULE_DESTINATION), Observed);

const RULES: &[Field] = &[
    Field::required("rules", Shapes(&PERMISSION_RULE), Observed),
    Field::required("behavior", Choice(&choices::RULE_BEHAVIOR), Observed),
    DESTINATION,
];

const DIRECTORIES: &[Field] = &[Field::required("directories", TextList, Observed), DESTINATION];

/// A change to the permissions that the user is offered, or that an answer makes.
pub static PERMISSION_UPDATE: Union = Union {
    name: "PermissionUpdate",
    doc: "A change to the permissions that the user is offered, or that an answer makes.",
    tag: "type",
    variants: &[
        ("addRules", RULES),
        ("replaceRules", RULES),
        ("removeRules", RULES),
        (
            "setMode",
            &[Field::required("mode", Choice(&choices::PERMISSION_MODE), Observed), DESTINATION],
        ),
        ("addDirectories", DIRECTORIES),
        ("removeDirectories", DIRECTORIES),
    ],
};

/// The answer to a permission request.
pub static PERMISSION_VERDICT: Union = Union {
    name: "PermissionVerdict",
    doc: "The answer to a permission request. The client ignores a field of the other variant.",
    tag: "behavior",
    variants: &[
        (
            "allow",
            &[
                Field::optional("updatedInput", Object, Observed).note("replaces the tool's input"),
                Field::optional("updatedPermissions", Unions(&PERMISSION_UPDATE), Typed),
            ],
        ),
        (
            "deny",
            &[
                Field::optional("message", Text, Observed).note("goes to the model"),
                Field::optional("interrupt", Flag, Observed).note("true ends the turn as well"),
            ],
        ),
    ],
};
