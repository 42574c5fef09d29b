//! Scenarios that make each event fire without a terminal.

use rutter_contract::EventName;
use rutter_contract::input::WorktreeCreate;
use rutter_contract::output::HookOutput;
use serde_json::json;

use super::LiveError;
use super::conversation::{Conversation, ConversationStep};
use super::hook::TestHook;
use super::sandbox::Sandbox;
use super::script::{ModelScript, ModelTurn};

/// The file that a scenario's tool call creates in the project; it shows whether the call ran.
pub const RAN_FILE: &str = "ran.txt";
/// The output of a scenario's tool call.
pub const TOOL_OUTPUT: &str = "TOOL-RAN";
/// A text in the prompt of a scenario's subagent.
pub const SUBAGENT_MARKER: &str = "SUBAGENT-PROMPT";
/// The file that a scenario watches.
pub const WATCHED_FILE: &str = "watched.txt";
/// The new value of a changed setting; the scenario's tool prints it.
pub const CHANGED_SETTING: &str = "CHANGED-SETTING";
/// A folder that a hook can return as a worktree.
pub const WORKTREE_FOLDER: &str = "worktree";
/// The response of a scenario's subagent.
pub const SUBAGENT_RESPONSE: &str = "the subagent's words";
/// The name of the teammate in its scenario.
pub const TEAMMATE_NAME: &str = "mate";
/// The MCP server of the scenarios that need one; its tool asks the user for a name.
pub const MCP_SERVER_NAME: &str = "asker";
/// The model that a scenario switches to.
pub const OTHER_MODEL: &str = "claude-sonnet-5";

/// A scenario in which an event fires.
#[derive(Debug, Clone, Copy)]
pub struct EventScenario {
    event: EventName,
}

impl EventScenario {
    /// Creates the scenario of an event.
    pub fn for_event(event: EventName) -> Self {
        Self { event }
    }

    /// Returns a hook on the event with an empty answer and the matcher that the scenario needs.
    pub fn hook(self) -> TestHook {
        let hook = TestHook::for_event(self.event);
        // On FileChanged a matcher also lists the watched files; on other events it only selects.
        if self.event == EventName::FileChanged { hook.matching(WATCHED_FILE) } else { hook }
    }

    /// Creates a sandbox in which the event fires.
    pub fn sandbox(self) -> Result<Sandbox, LiveError> {
        let mut sandbox = Sandbox::new()?;
        self.prepare(&mut sandbox);
        Ok(sandbox)
    }

    /// Prepares a sandbox so that the event fires.
    pub fn prepare(self, sandbox: &mut Sandbox) {
        use EventName as E;
        let shell = |command: &str| {
            ModelTurn::call(
                "Bash",
                json!({ "command": command, "description": "a step of a test" }),
            )
        };
        let runs = format!("touch {RAN_FILE}; echo {TOOL_OUTPUT}");
        // The client recognizes commands that only edit, but not inside another shell.
        let hidden = shell(&format!("sh -c '{runs}'"));
        match self.event {
            E::PreToolUse | E::PostToolUse | E::PostToolBatch => {
                sandbox.script(ModelScript::new([shell(&runs)])).args(["--allowedTools", "Bash"]);
            }
            E::PostToolUseFailure => {
                let fails = shell(&format!("{runs}; exit 3"));
                sandbox.script(ModelScript::new([fails])).args(["--allowedTools", "Bash"]);
            }
            E::PermissionRequest => {
                sandbox.script(ModelScript::new([hidden]));
            }
            E::PermissionDenied => {
                // Auto mode asks a service that the scripted model does not provide, and so denies.
                sandbox.script(ModelScript::new([hidden])).args(["--permission-mode", "auto"]);
            }
            E::UserPromptExpansion => {
                sandbox.file(".claude/commands/greet.md", "Greet $ARGUMENTS.").prompt("/greet Ada");
            }
            E::StopFailure => {
                // Fail every time: the client retries without the parts that it suspects.
                let fails =
                    ModelTurn::fails(400, "invalid_request_error", "the model fails as scripted");
                sandbox.script(ModelScript::default().then_always(fails));
                sandbox.conversation(turn_then_hook(E::StopFailure));
            }
            E::SubagentStart | E::SubagentStop => {
                sandbox.script(subagent_script()).args(["--allowedTools", "Agent"]);
            }
            E::PreCompact | E::PostCompact => {
                // Two turns: some clients find nothing to compact in one.
                sandbox.conversation(prompt_turns(["go", "go on", "/compact", "go on"]));
            }
            E::Setup => {
                sandbox.args(["--init"]);
            }
            E::InstructionsLoaded => {
                sandbox.file("CLAUDE.md", "Speak plainly.");
                sandbox.conversation(turn_then_hook(E::InstructionsLoaded));
            }
            E::TaskCreated | E::TaskCompleted => {
                let create = json!({ "subject": "a task", "description": "what to do" });
                let complete = json!({ "taskId": "1", "status": "completed" });
                let turns = [
                    ModelTurn::call("TaskCreate", create),
                    ModelTurn::call("TaskUpdate", complete),
                ];
                sandbox
                    .script(ModelScript::new(turns))
                    .args(["--allowedTools", "TaskCreate,TaskUpdate"]);
            }
            E::CwdChanged => {
                sandbox.file("sub/file.txt", "").script(ModelScript::new([shell("cd sub")]));
                sandbox.args(["--allowedTools", "Bash"]);
                sandbox.conversation(turn_then_hook(E::CwdChanged).append(prompt_turns(["go on"])));
            }
            E::FileChanged => {
                let change = ConversationStep::ChangeUntilHookRuns(
                    WATCHED_FILE.into(),
                    "after".to_owned(),
                    E::FileChanged,
                );
                let talk = prompt_turns(["go"]).then(change).append(prompt_turns(["go on"]));
                sandbox.file(WATCHED_FILE, "before").conversation(talk);
            }
            E::ConfigChange => {
                // The second turn shows whether the new setting is in force.
                let settings = ".claude/settings.local.json";
                let new = json!({ "env": { "SETTING": CHANGED_SETTING } }).to_string();
                let change =
                    ConversationStep::ChangeUntilHookRuns(settings.into(), new, E::ConfigChange);
                let script = ModelScript::new([
                    ModelTurn::text("waiting"),
                    shell("echo setting: $SETTING."),
                ]);
                sandbox.file(settings, "{}").script(script).args(["--allowedTools", "Bash"]);
                sandbox.conversation(
                    prompt_turns(["go"]).then(change).append(prompt_turns(["go on"])),
                );
            }
            E::WorktreeCreate => add_worktree_calls(sandbox),
            E::WorktreeRemove => {
                add_worktree_calls(sandbox);
                let made = sandbox.project().join(WORKTREE_FOLDER).display().to_string();
                let answer = HookOutput::<WorktreeCreate>::path(&made);
                sandbox.hook(TestHook::for_event(E::WorktreeCreate).answers(answer));
            }
            E::Elicitation | E::ElicitationResult => {
                add_elicitation(sandbox, prompt_turns(["go"]));
            }
            E::Notification => add_elicitation(sandbox, turn_then_hook(E::Notification)),
            E::DirectoryAdded => {
                let directory = sandbox.project().join("sub").display().to_string();
                let add = json!({ "subtype": "register_repo_root", "directory": directory });
                let talk = prompt_turns(["go"])
                    .then(ConversationStep::Control(add))
                    .then(ConversationStep::HookRan(E::DirectoryAdded));
                sandbox.file("sub/file.txt", "").conversation(talk);
            }
            E::PreModelSwitch | E::PostModelSwitch => {
                let switch = json!({ "subtype": "set_model", "model": OTHER_MODEL });
                let talk = prompt_turns(["go"])
                    .then(ConversationStep::Control(switch))
                    .append(prompt_turns(["go on"]));
                sandbox.conversation(talk);
            }
            E::TeammateIdle => {
                // The arguments that a lead passes to its teammates.
                let mate = [
                    "--agent-id",
                    "mate@crew",
                    "--agent-name",
                    TEAMMATE_NAME,
                    "--team-name",
                    "crew",
                ];
                sandbox.env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1").args(mate);
            }
            E::SessionEnd => {
                // The default timeout is 1.5 s, which a busy machine may need to start a shell.
                sandbox.env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "30000");
            }
            E::SessionStart | E::UserPromptSubmit | E::Stop | E::MessageDisplay => {}
        }
    }
}

/// Returns a conversation of prompts, each with its turn.
fn prompt_turns<const N: usize>(prompts: [&str; N]) -> Conversation {
    let steps = prompts
        .map(|prompt| [ConversationStep::Prompt(prompt.to_owned()), ConversationStep::TurnEnds]);
    Conversation::new(steps.into_iter().flatten())
}

/// Returns a conversation of one turn that waits for a hook. The client starts this hook without waiting for
/// it: after its only prompt it would exit and kill the hook.
fn turn_then_hook(event: EventName) -> Conversation {
    prompt_turns(["go"]).then(ConversationStep::HookRan(event))
}

/// Returns a script in which the main thread starts a subagent and waits for it.
fn subagent_script() -> ModelScript {
    let input = json!({
        "description": "a part of a test",
        "prompt": format!("{SUBAGENT_MARKER} do it"),
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    ModelScript::new([ModelTurn::call("Agent", input)])
        .subagent(SUBAGENT_MARKER, [ModelTurn::text(SUBAGENT_RESPONSE)])
}

/// Adds calls that enter a worktree and remove it again, and a folder that a hook can return as the worktree.
fn add_worktree_calls(sandbox: &mut Sandbox) {
    // Without git the client demands confirmation that it may remove the folder.
    let leave = json!({ "action": "remove", "discard_changes": true });
    let turns = [
        ModelTurn::call("EnterWorktree", json!({ "name": "new" })),
        ModelTurn::call("ExitWorktree", leave),
    ];
    sandbox
        .script(ModelScript::new(turns))
        .args(["--allowedTools", "EnterWorktree,ExitWorktree"])
        .file(format!("{WORKTREE_FOLDER}/file.txt"), "");
}

/// Adds a call of a tool that asks the user for a name, and the reply of the user's program.
fn add_elicitation(sandbox: &mut Sandbox, talk: Conversation) {
    let server = sandbox.project().join("asker.sh").display().to_string();
    let servers =
        json!({ "mcpServers": { MCP_SERVER_NAME: { "command": "sh", "args": [server] } } });
    let tool = format!("mcp__{MCP_SERVER_NAME}__ask");
    sandbox
        .file("asker.sh", include_str!("scenario/asker.sh"))
        .file("servers.json", servers.to_string())
        .args(["--mcp-config", "servers.json", "--allowedTools", &tool])
        .script(ModelScript::new([ModelTurn::call(tool, json!({}))]))
        .conversation(
            talk.reply_to(
                "elicitation",
                json!({ "action": "accept", "content": { "name": "Ada" } }),
            ),
        );
}
