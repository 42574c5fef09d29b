//! The names that matchers can name: built-in tools, built-in agents, and old names of tools.

use rutter_contract::find_nearest;
use rutter_contract::spec::{EventSpec, MatcherValues};
use rutter_contract::table::TOOL_ALIASES;
use rutter_contract::version::Contract;

/// Prefix of the names of MCP tools: `mcp__<server>__<tool>`.
const MCP_PREFIX: &str = "mcp__";

/// The measured clients that have a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolClients {
    Both,
    OldestOnly,
    NewestOnly,
}
use ToolClients::{Both, NewestOnly, OldestOnly};

/// The built-in tools, from the definitions in the clients' binaries. Some need a switch, a platform or an account.
const TOOLS: &[(&str, ToolClients)] = &[
    ("Agent", Both),
    ("Artifact", Both),
    ("ArtifactCheck", NewestOnly),
    ("ArtifactComments", NewestOnly),
    ("ArtifactData", NewestOnly),
    ("AskUserQuestion", Both),
    ("Bash", Both),
    ("ClaudeDesign", NewestOnly),
    ("CronCreate", Both),
    ("CronDelete", Both),
    ("CronList", Both),
    ("DesignSync", Both),
    ("Edit", Both),
    ("EndConversation", NewestOnly),
    ("EnterPlanMode", Both),
    ("EnterWorktree", Both),
    ("ExitPlanMode", Both),
    ("ExitWorktree", Both),
    ("Glob", Both),
    ("Grep", Both),
    ("LSP", Both),
    ("ListAgents", Both),
    ("ListMcpResourcesTool", Both),
    ("Monitor", Both),
    ("NotebookEdit", Both),
    ("OfferChromeSetup", NewestOnly),
    ("PowerShell", Both),
    ("Projects", Both),
    ("ProposeGoal", NewestOnly),
    ("PushNotification", Both),
    ("REPL", Both),
    ("Read", Both),
    ("ReadMcpResourceDirTool", Both),
    ("ReadMcpResourceTool", Both),
    ("ReadNotifications", NewestOnly),
    ("RemoteTrigger", Both),
    ("ReportFindings", Both),
    ("ScheduleWakeup", Both),
    ("SendFeedback", NewestOnly),
    ("SendMessage", Both),
    ("SendUserFile", Both),
    ("SendUserMessage", Both),
    ("ShareOnboardingGuide", Both),
    ("ShowOnboardingRolePicker", Both),
    ("Skill", Both),
    ("StructuredOutput", Both),
    ("SubagentHandback", NewestOnly),
    ("TaskCreate", Both),
    ("TaskGet", Both),
    ("TaskList", Both),
    ("TaskOutput", OldestOnly),
    ("TaskStop", Both),
    ("TaskUpdate", Both),
    ("TodoWrite", Both),
    ("ToolSearch", Both),
    ("WaitForMcpServers", Both),
    ("WebFetch", Both),
    ("WebSearch", Both),
    ("Workflow", Both),
    ("Write", Both),
    ("propose_skills", NewestOnly),
];

/// Old names of a tool that only the older client has.
const OLDEST_ALIASES: &[(&str, &str)] = &[
    ("AgentOutputTool", "TaskOutput"),
    ("BashOutputTool", "TaskOutput"),
    ("AgentOutput", "TaskOutput"),
    ("BashOutput", "TaskOutput"),
];

/// Tools that no measured client has, each with the tool that does its work now.
///
/// Neither binary defines them. They occur there in permission lists, in lists of retired tools, or nowhere.
const RETIRED_TOOLS: &[(&str, Option<&str>)] = &[
    ("MultiEdit", Some("Edit")),
    ("LS", None),
    ("NotebookRead", Some("Read")),
    ("TodoRead", None),
    ("SlashCommand", Some("Skill")),
    ("exit_plan_mode", Some("ExitPlanMode")),
    ("TeamCreate", None),
    ("TeamDelete", None),
];

/// Names without a tool that the newer client lists as retired, and that the older client still has.
const RETIRED_IN_NEWEST: &[&str] =
    &["TaskOutput", "AgentOutputTool", "BashOutputTool", "AgentOutput", "BashOutput"];

/// Tools whose calls the newer client also compares by the name of their family.
const TOOL_FAMILIES: &[(&str, &str)] = &[
    ("ArtifactCheck", "Artifact"),
    ("ArtifactComments", "Artifact"),
    ("ArtifactData", "Artifact"),
];

/// The built-in agents of both measured clients. Users and plugins add others.
pub const BUILT_IN_AGENTS: &[&str] =
    &["Explore", "Plan", "claude", "general-purpose", "statusline-setup"];

/// The client's knowledge of a name in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameState {
    /// A known value of the event.
    Known(&'static str),
    /// An old name of a tool, which still matches the tool with this name.
    Renamed(&'static str),
    /// A tool that the client no longer has. It never matches.
    Retired {
        /// The tool that does its work now.
        instead: Option<&'static str>,
    },
    /// The name of a known value, or an old name of a tool, in another case. It never matches, because names are compared exactly.
    WrongCase(&'static str),
    /// `mcp__<server>` without a tool. It never matches; `mcp__<server>__.*` matches the server's tools.
    WholeServer,
    /// A text that cannot be the name of a tool because of a space. It never matches.
    Impossible,
    /// A value that the event does not have.
    NotListed {
        /// The event's value with the nearest name.
        nearest: Option<&'static str>,
    },
    /// A value that may exist: a tool of a server, an agent or command of the user, a tool of a newer client.
    Unknown {
        /// The known value with the nearest name.
        nearest: Option<&'static str>,
    },
}

impl NameState {
    /// Returns true if no value of the event can be equal to the name.
    pub fn never_matches(self) -> bool {
        !matches!(self, Self::Known(_) | Self::Renamed(_) | Self::Unknown { .. })
    }

    /// Returns the known value that the name matches.
    pub fn value(self) -> Option<&'static str> {
        match self {
            Self::Known(value) | Self::Renamed(value) => Some(value),
            _ => None,
        }
    }
}

/// Returns true if `contract` is that of the newest measured client.
fn is_newest(contract: Contract) -> bool {
    contract.has(Contract::NEWEST)
}

/// Returns true if a `Monitor` call with a command also runs the hooks for `Bash`.
pub(super) fn has_monitor_as_bash(contract: Contract) -> bool {
    is_newest(contract)
}

/// Returns the old and new names of tools in `contract`.
fn aliases(contract: Contract) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more: &[_] = if is_newest(contract) { &[] } else { OLDEST_ALIASES };
    TOOL_ALIASES.iter().chain(more).copied()
}

/// Returns the name that payloads have for a tool name in a matcher: `Agent` for `Task`.
pub fn current_tool_name(name: &str, contract: Contract) -> &str {
    aliases(contract).find(|(old, _)| *old == name).map_or(name, |(_, new)| new)
}

/// Returns the old names of a tool. A pattern that matches one of them matches the tool.
pub fn old_tool_names(name: &str, contract: Contract) -> impl Iterator<Item = &'static str> {
    aliases(contract).filter(move |(_, new)| *new == name).map(|(old, _)| old)
}

/// Returns the tool whose name in a matcher also matches the tool `name`.
pub(super) fn family_of(name: &str, contract: Contract) -> Option<&'static str> {
    let family = TOOL_FAMILIES.iter().find(|(member, _)| *member == name)?.1;
    is_newest(contract).then_some(family)
}

/// Returns the names of the client's built-in tools, as payloads have them.
pub fn tool_names(contract: Contract) -> Vec<&'static str> {
    let is_there = |clients: ToolClients| match clients {
        Both => true,
        OldestOnly => !is_newest(contract),
        // The version between the measured ones that introduced a tool is not known. A tool too many does no harm.
        NewestOnly => contract.version() > Contract::MEASURED[0],
    };
    TOOLS.iter().filter(|(_, clients)| is_there(*clients)).map(|(name, _)| *name).collect()
}

/// Returns the known values that a matcher of an event is compared with. Empty if they all come from the user.
pub fn known_values(spec: &EventSpec, contract: Contract) -> Vec<&'static str> {
    match spec.matcher.values {
        MatcherValues::Tools => tool_names(contract),
        MatcherValues::List(list) => list.values_at(contract).collect(),
        MatcherValues::Names(_) if spec.matcher.field == Some("agent_type") => {
            BUILT_IN_AGENTS.to_vec()
        }
        MatcherValues::Names(_) | MatcherValues::Files(_) | MatcherValues::Ignored => Vec::new(),
    }
}

/// Returns the knowledge of a name in a list on an event.
pub(super) fn name_state(name: &str, spec: &EventSpec, contract: Contract) -> NameState {
    let known = known_values(spec, contract);
    let find = |name: &str| known.iter().copied().find(|value| *value == name);
    // The client replaces old names on all events, also where they are not tools.
    let current = current_tool_name(name, contract);
    if let Some(value) = find(current) {
        return if current == name { NameState::Known(value) } else { NameState::Renamed(value) };
    }
    let nearest = find_nearest(name, known.iter().map(|&value| (value, value)));
    match spec.matcher.values {
        MatcherValues::Tools => {
            tool_state(name, &known, contract).unwrap_or(NameState::Unknown { nearest })
        }
        MatcherValues::List(list) if !list.open => match find_other_case(name, &known) {
            Some(value) => NameState::WrongCase(value),
            None => NameState::NotListed { nearest },
        },
        _ => NameState::Unknown { nearest },
    }
}

/// Returns the reason for which no tool has a name, or `None` if one may have it.
pub(super) fn tool_state(
    name: &str,
    known: &[&'static str],
    contract: Contract,
) -> Option<NameState> {
    if let Some(rest) = name.strip_prefix(MCP_PREFIX) {
        return (!rest.contains("__")).then_some(NameState::WholeServer);
    }
    if name.contains(' ') {
        return Some(NameState::Impossible);
    }
    if let Some((_, instead)) =
        RETIRED_TOOLS.iter().find(|(retired, _)| retired.eq_ignore_ascii_case(name))
    {
        return Some(NameState::Retired { instead: *instead });
    }
    if is_newest(contract) && RETIRED_IN_NEWEST.contains(&name) {
        return Some(NameState::Retired { instead: None });
    }
    let old: Vec<&'static str> = aliases(contract).map(|(old, _)| old).collect();
    find_other_case(name, known).or_else(|| find_other_case(name, &old)).map(NameState::WrongCase)
}

/// Returns the value that differs from `name` only in case.
fn find_other_case(name: &str, known: &[&'static str]) -> Option<&'static str> {
    known.iter().copied().find(|value| value.eq_ignore_ascii_case(name))
}
