//! How to make each event fire without a terminal.

use rutter_contract::EventName;
use rutter_contract::input::WorktreeCreate;
use rutter_contract::output::HookOutput;
use serde_json::json;

use super::LiveError;
use super::conversation::{Conversation, Step};
use super::hook::Hook;
use super::sandbox::Sandbox;
use super::script::{Script, Turn};

/// The file that a call of a scenario's tool leaves in the project: it ran, or it did not.
pub const RAN: &str = "ran.txt";
/// What a call of a scenario's tool prints.
pub const TOOL_OUTPUT: &str = "TOOL-RAN";
/// What the prompt of a scenario's subagent holds.
pub const SUBAGENT: &str = "SUBAGENT-PROMPT";
/// The file whose changes a scenario watches.
pub const WATCHED: &str = "watched.txt";
/// A setting that a scenario changes to this; its tool prints it.
pub const CHANGED_SETTING: &str = "CHANGED-SETTING";
/// A folder for a hook to give out as a worktree.
pub const WORKTREE: &str = "worktree";
/// What the subagent of a scenario says.
pub const SUBAGENT_SAYS: &str = "the subagent's words";
/// The name of the teammate that a scenario is.
pub const MATE: &str = "mate";
/// The MCP server of the scenarios that need one; its tool asks the user for a name.
pub const SERVER: &str = "asker";
/// The model that a scenario switches to.
pub const OTHER_MODEL: &str = "claude-sonnet-5";

/// An event, and how to make it fire.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    event: EventName,
}

impl Scenario {
    /// The scenario of an event.
    pub fn of(event: EventName) -> Self {
        Self { event }
    }

    /// A silent hook on the event, with the matcher that the scenario needs.
    pub fn hook(self) -> Hook {
        let hook = Hook::on(self.event);
        // Elsewhere a matcher only selects; here it is also the list of what is watched.
        if self.event == EventName::FileChanged { hook.matching(WATCHED) } else { hook }
    }

    /// A sandbox in which the event fires.
    pub fn sandbox(self) -> Result<Sandbox, LiveError> {
        use EventName as E;
        let mut sandbox = Sandbox::new()?;
        let shell = |command: &str| {
            Turn::call("Bash", json!({ "command": command, "description": "a step of a test" }))
        };
        let runs = format!("touch {RAN}; echo {TOOL_OUTPUT}");
        // The client sees through commands that only edit; not when another shell runs them.
        let hidden = shell(&format!("sh -c '{runs}'"));
        match self.event {
            E::PreToolUse | E::PostToolUse | E::PostToolBatch => {
                sandbox.script(Script::new([shell(&runs)])).args(["--allowedTools", "Bash"]);
            }
            E::PostToolUseFailure => {
                let fails = shell(&format!("{runs}; exit 3"));
                sandbox.script(Script::new([fails])).args(["--allowedTools", "Bash"]);
            }
            E::PermissionRequest => {
                sandbox.script(Script::new([hidden]));
            }
            E::PermissionDenied => {
                // Auto mode asks a service that a scripted model does not have, and so denies.
                sandbox.script(Script::new([hidden])).args(["--permission-mode", "auto"]);
            }
            E::UserPromptExpansion => {
                sandbox.file(".claude/commands/greet.md", "Greet $ARGUMENTS.").prompt("/greet Ada");
            }
            E::StopFailure => {
                // Once is not enough: the client tries again without whatever it guesses to be at fault.
                let fails =
                    Turn::fails(400, "invalid_request_error", "the model fails as scripted");
                sandbox.script(Script::default().ever_after(fails));
                sandbox.conversation(awaiting(E::StopFailure));
            }
            E::SubagentStart | E::SubagentStop => {
                sandbox.script(subagent()).args(["--allowedTools", "Agent"]);
            }
            E::PreCompact | E::PostCompact => {
                // Two turns: there are clients that see nothing to compact in one.
                sandbox.conversation(turns(["go", "go on", "/compact", "go on"]));
            }
            E::Setup => {
                sandbox.args(["--init"]);
            }
            E::InstructionsLoaded => {
                sandbox.file("CLAUDE.md", "Speak plainly.");
                sandbox.conversation(awaiting(E::InstructionsLoaded));
            }
            E::TaskCreated | E::TaskCompleted => {
                let create = json!({ "subject": "a task", "description": "what to do" });
                let complete = json!({ "taskId": "1", "status": "completed" });
                let turns = [Turn::call("TaskCreate", create), Turn::call("TaskUpdate", complete)];
                sandbox
                    .script(Script::new(turns))
                    .args(["--allowedTools", "TaskCreate,TaskUpdate"]);
            }
            E::CwdChanged => {
                sandbox.file("sub/file.txt", "").script(Script::new([shell("cd sub")]));
                sandbox.args(["--allowedTools", "Bash"]);
                sandbox.conversation(awaiting(E::CwdChanged).and(turns(["go on"])));
            }
            E::FileChanged => {
                let change =
                    Step::ChangeUntilHeard(WATCHED.into(), "after".to_owned(), E::FileChanged);
                let talk = turns(["go"]).then(change).and(turns(["go on"]));
                sandbox.file(WATCHED, "before").conversation(talk);
            }
            E::ConfigChange => {
                // The second turn shows whether the new setting is in force.
                let settings = ".claude/settings.local.json";
                let new = json!({ "env": { "SETTING": CHANGED_SETTING } }).to_string();
                let change = Step::ChangeUntilHeard(settings.into(), new, E::ConfigChange);
                let script = Script::new([Turn::text("waiting"), shell("echo setting: $SETTING.")]);
                sandbox.file(settings, "{}").script(script).args(["--allowedTools", "Bash"]);
                sandbox.conversation(turns(["go"]).then(change).and(turns(["go on"])));
            }
            E::WorktreeCreate => in_and_out_of_worktree(&mut sandbox),
            E::WorktreeRemove => {
                in_and_out_of_worktree(&mut sandbox);
                let made = sandbox.project().join(WORKTREE).display().to_string();
                let answer = HookOutput::<WorktreeCreate>::path(&made);
                sandbox.hook(Hook::on(E::WorktreeCreate).answers(answer));
            }
            E::Elicitation | E::ElicitationResult => asked_by_server(&mut sandbox, turns(["go"])),
            E::Notification => asked_by_server(&mut sandbox, awaiting(E::Notification)),
            E::DirectoryAdded => {
                let directory = sandbox.project().join("sub").display().to_string();
                let add = json!({ "subtype": "register_repo_root", "directory": directory });
                let talk =
                    turns(["go"]).then(Step::Control(add)).then(Step::HookRan(E::DirectoryAdded));
                sandbox.file("sub/file.txt", "").conversation(talk);
            }
            E::PreModelSwitch | E::PostModelSwitch => {
                let switch = json!({ "subtype": "set_model", "model": OTHER_MODEL });
                let talk = turns(["go"]).then(Step::Control(switch)).and(turns(["go on"]));
                sandbox.conversation(talk);
            }
            E::TeammateIdle => {
                // The arguments that a lead gives the teammates it starts.
                let mate = ["--agent-id", "mate@crew", "--agent-name", MATE, "--team-name", "crew"];
                sandbox.env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1").args(mate);
            }
            E::SessionEnd => {
                // A hook has 1.5 s by default, which a busy machine may need to start a shell.
                sandbox.env("CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS", "30000");
            }
            E::SessionStart | E::UserPromptSubmit | E::Stop | E::MessageDisplay => {}
        }
        Ok(sandbox)
    }
}

/// Prompts, each with its turn.
fn turns<const N: usize>(prompts: [&str; N]) -> Conversation {
    let steps = prompts.map(|prompt| [Step::Prompt(prompt.to_owned()), Step::TurnEnds]);
    Conversation::new(steps.into_iter().flatten())
}

/// A turn, and a hook that the client starts and does not wait for: with its only prompt answered it
/// would exit, and take the hook with it.
fn awaiting(event: EventName) -> Conversation {
    turns(["go"]).then(Step::HookRan(event))
}

/// A main thread that starts one subagent and waits for it.
fn subagent() -> Script {
    let input = json!({
        "description": "a part of a test",
        "prompt": format!("{SUBAGENT} do it"),
        "subagent_type": "general-purpose",
        "run_in_background": false,
    });
    Script::new([Turn::call("Agent", input)]).subagent(SUBAGENT, [Turn::text(SUBAGENT_SAYS)])
}

/// Calls that enter a worktree and remove it again, and a folder that a hook may say it is.
fn in_and_out_of_worktree(sandbox: &mut Sandbox) {
    // Without git nothing vouches for the folder, and the client wants to hear that it may go.
    let leave = json!({ "action": "remove", "discard_changes": true });
    let turns =
        [Turn::call("EnterWorktree", json!({ "name": "new" })), Turn::call("ExitWorktree", leave)];
    sandbox
        .script(Script::new(turns))
        .args(["--allowedTools", "EnterWorktree,ExitWorktree"])
        .file(format!("{WORKTREE}/file.txt"), "");
}

/// A call of a tool that asks the user for a name, and a user's program that gives one.
fn asked_by_server(sandbox: &mut Sandbox, talk: Conversation) {
    let server = sandbox.project().join("asker.sh").display().to_string();
    let servers = json!({ "mcpServers": { SERVER: { "command": "sh", "args": [server] } } });
    let tool = format!("mcp__{SERVER}__ask");
    sandbox
        .file("asker.sh", include_str!("scenario/asker.sh"))
        .file("servers.json", servers.to_string())
        .args(["--mcp-config", "servers.json", "--allowedTools", &tool])
        .script(Script::new([Turn::call(tool, json!({}))]))
        .conversation(
            talk.replying(
                "elicitation",
                json!({ "action": "accept", "content": { "name": "Ada" } }),
            ),
        );
}
