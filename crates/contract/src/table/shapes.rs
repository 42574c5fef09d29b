//! The nested objects of the contract.

use super::prelude::*;
use crate::spec::{Shape, Union};

/// The reasoning effort that the model is asked for.
pub static EFFORT: Shape = Shape {
    name: "Effort",
    doc: "How hard the model is told to think.",
    fields: &[Field::required("level", Choice(&choices::EFFORT_LEVEL), Observed).note("the level")],
};

/// The MCP server of an `mcp__` tool.
pub static MCP_SERVER: Shape = Shape {
    name: "McpServer",
    doc: "Where an `mcp__` tool comes from.",
    fields: &[
        Field::required("name", Text, Observed).note("the name to give"),
        Field::required("source", Text, Observed).note(
            "an open set: sdk, plugin, user, project, local, dynamic, managed, \
enterprise, claudeai, agent",
        ),
    ],
};

/// A task that still runs when the agent stops.
pub static BACKGROUND_TASK: Shape = Shape {
    name: "BackgroundTask",
    doc: "A task that is still running when the agent stops. Its strings are cut at \
1,000 characters.",
    fields: &[
        Field::required("id", Text, Typed).note("its id"),
        Field::required("type", Text, Typed).note("its kind"),
        Field::required("status", Text, Typed).note("its status"),
        Field::required("description", Text, Typed).note("its description"),
        Field::optional("command", Text, Typed).note("the command"),
        Field::optional("agent_type", Text, Typed)
            .note("its kind; empty for the fork that compacts"),
        Field::optional("server", Text, Typed).note("the MCP server"),
        Field::optional("tool", Text, Typed).note("the tool"),
        Field::optional("name", Text, Typed).note("the name to give"),
    ],
};

/// A prompt that the session has scheduled.
pub static SESSION_CRON: Shape = Shape {
    name: "SessionCron",
    doc: "A prompt that the session has scheduled.",
    fields: &[
        Field::required("id", Text, Typed).note("its id"),
        Field::required("schedule", Text, Typed).note("when"),
        Field::required("recurring", Flag, Typed).note("whether it comes back"),
        Field::required("prompt", Text, Typed).note("what was submitted"),
    ],
};

/// A call of a batch.
pub static TOOL_CALL: Shape = Shape {
    name: "ToolCall",
    doc: "One call of a batch; denied and failed calls are there too.",
    fields: &[
        Field::required("tool_name", Text, Observed).note("the tool"),
        Field::required("tool_input", Object, Observed).note("what the tool is called with"),
        Field::required("tool_use_id", Text, Observed)
            .note("the call; PostToolUse and the transcript have the same"),
        Field::optional("tool_response", Any, Observed)
            .note("the result as the model reads it, unlike PostToolUse's"),
    ],
};

static PERMISSION_RULE: Shape = Shape {
    name: "PermissionRule",
    doc: "A permission rule, taken apart: `Bash(git *)` is toolName `Bash`, \
ruleContent `git *`.",
    fields: &[
        Field::required("toolName", Text, Observed).note("the tool"),
        Field::optional("ruleContent", Text, Observed).note("what stands in the brackets"),
    ],
};

const DESTINATION: Field =
    Field::required("destination", Choice(&choices::RULE_DESTINATION), Observed)
        .note("where it is kept");

const RULES: &[Field] = &[
    Field::required("rules", Shapes(&PERMISSION_RULE), Observed).note("the rules"),
    Field::required("behavior", Choice(&choices::RULE_BEHAVIOR), Observed)
        .note("what the rules do"),
    DESTINATION,
];

const DIRECTORIES: &[Field] =
    &[Field::required("directories", TextList, Observed).note("the directories"), DESTINATION];

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
            &[
                Field::required("mode", Choice(&choices::PERMISSION_MODE), Observed)
                    .note("how it asks"),
                DESTINATION,
            ],
        ),
        ("addDirectories", DIRECTORIES),
        ("removeDirectories", DIRECTORIES),
    ],
};

/// The answer to a permission request.
pub static PERMISSION_VERDICT: Union = Union {
    name: "PermissionVerdict",
    doc: "The answer to a permission request. The client ignores a field of the other \
variant.",
    tag: "behavior",
    variants: &[
        (
            "allow",
            &[
                Field::optional("updatedInput", Object, Observed).note("replaces the tool's input"),
                Field::optional("updatedPermissions", Unions(&PERMISSION_UPDATE), Typed)
                    .note("what changes for later calls"),
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
