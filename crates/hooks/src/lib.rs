//! Handlers for the hook events of the client.
//!
//! A handler first records the event, in the database or, if the database is not available in time, in the spool.
//! Only then, and only before its deadline, may it print context for the model. Every error becomes a log line; the
//! caller exits with 0.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rutter_contract::EventName;
use rutter_contract::input::RawPayload;
use rutter_contract::output::{HookOutput, ShowsMessage, TakesContext};

use crate::context::Context;
use crate::silence::SilenceReason;
use rutter_memory::config::{Config, GateMode, Notify};
use rutter_memory::injection::Injection;
use rutter_memory::project::LocatedProject;
use rutter_memory::quote::truncate_end;
use rutter_memory::session::SessionProcess;
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::hook_store::{HookStore, StoreNotReady};
use rutter_memory::store::recorder::{EntryDestination, RecordError, Recorder};
use rutter_memory::store::{DataDir, StoreError};
use rutter_memory::{Clean, Id, Time};

pub mod bash_call;
mod bash_result;
mod card;
mod command_hint;
mod command_message;
mod command_result;
mod compact;
pub mod context;
mod deadlines;
mod edit_input;
mod edit_result;
pub mod event_counts;
mod file_references;
mod fix_guard;
pub mod fix_message;
mod known_commands;
mod mention;
mod messages;
mod offer;
mod pre_tool;
mod prompt;
pub mod recall_context;
mod reference;
pub mod session_context;
mod session_events;
pub mod silence;
mod snapshot;
mod stop;
mod subagent;
mod tests_first;
mod tool_filter;

pub use deadlines::deadline;
pub use messages::AgentInterface;
pub use prompt::strip_slash_command;
pub use tests_first::{decide_change_in, gate_fault_answer};
pub use tool_filter::FilteredCall;

/// Maximum length of the user's notice if it is taken from the text for the model.
const NOTICE_CHARS: usize = 160;
/// WAL size above which the hook asks for maintenance, which checkpoints it.
const CHECKPOINT_WAL_BYTES: u64 = 1024 * 1024;

/// Everything a hook needs from outside of the payload: data directory, clock, configuration.
#[derive(Debug)]
pub struct HookEnv {
    /// The data directory.
    pub files: DataDir,
    /// The current time.
    pub now: Time,
    /// The start of this process; deadlines count from here.
    pub started_at: Instant,
    /// Minimum deadline of every hook; zero except in tests, checks and the demo, which must not fail on a busy machine.
    pub min_deadline: Duration,
    /// Number of bytes of a command's output that the client passes on.
    pub window: usize,
    /// The folder in which the client was started, if known.
    pub started_in: Option<PathBuf>,
    /// The id of the parent process.
    pub parent: Option<u32>,
    /// The path of the user's configuration file, which may not exist.
    pub config: PathBuf,
    /// Returns the user's home, for settings that refer to it.
    pub home: fn() -> Option<PathBuf>,
    /// Returns the command with which an agent can start this program. Called only if there is a text for the agent.
    pub own_command: fn() -> String,
    /// Returns true if a session started in this folder has the tools of our server, and None if that is unknown.
    /// Called only if there is a text for the agent.
    pub has_tools: fn(&Path) -> Option<bool>,
    /// Returns the project file that registers another program under the name of our server. Takes the folder in which
    /// the client was started, and the server name. Called only before a call of one of our tools.
    pub foreign_server: fn(&Path, &str) -> Option<PathBuf>,
}

/// The result of handling one hook event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HookResult {
    /// The event and the client's session id, if the contract has the event.
    pub event: Option<(EventName, Clean)>,
    /// The text to print; empty for silence.
    pub stdout: String,
    /// True if the caller should start `rutter maintain`.
    pub needs_maintenance: bool,
    /// Errors, for the log.
    pub errors: Vec<Clean>,
    /// Other lines for the log.
    pub notes: Vec<Clean>,
}

impl HookResult {
    /// Returns the value, or adds the error to the faults and returns None.
    fn ok_or_log<T>(&mut self, what: &str, done: Result<T, StoreError>) -> Option<T> {
        done.map_err(|error| self.errors.push(Clean::new(&format!("{what}: {error}")))).ok()
    }
}

/// Handles one hook event.
///
/// `named` is the event name for a handwritten payload without `hook_event_name`. `env` is called once there is
/// work to do. Most calls end before that, and until then nothing outside of the process is touched.
pub fn handle_event(
    stdin: &[u8],
    named: Option<&str>,
    env: impl FnOnce() -> HookEnv,
) -> HookResult {
    let mut result = HookResult::default();
    let wire = match RawPayload::parse(stdin) {
        Ok(wire) => wire,
        Err(error) => {
            result = guard_cut_payload(stdin, named, env);
            result.errors.push(Clean::new(&error.to_string()));
            return result;
        }
    };
    let Some(event) = wire.hook_event_name() else {
        if let Some(payload) = named.and_then(|event| add_event_name(stdin, event)) {
            return handle_event(&payload, None, env);
        }
        result.errors.push(Clean::new("the payload has no `hook_event_name`"));
        return result;
    };
    let Ok(name) = event.parse::<EventName>() else { return result };
    result.event = Some((name, Clean::new(&wire.text("session_id").unwrap_or_default())));
    let tool = wire.text("tool_name").unwrap_or_default();
    let event = ReceivedEvent { wire: &wire, name, tool };
    // Events that need no action end here, before any file is opened.
    match name {
        EventName::SessionStart => {
            session_events::handle_session_start(&event, env, &mut result);
        }
        EventName::SessionEnd => session_events::handle_session_end(&event, env, &mut result),
        EventName::UserPromptSubmit => prompt::handle_prompt(&event, env, &mut result),
        EventName::PreToolUse => pre_tool::handle_pre_tool(&event, env, &mut result),
        EventName::PostToolUse | EventName::PostToolUseFailure if event.tool == "Bash" => {
            bash_result::handle_bash_result(&event, env, &mut result);
        }
        EventName::PostToolUse if matches!(&*event.tool, "Edit" | "Write" | "NotebookEdit") => {
            edit_result::handle_edit_result(&event, env, &mut result);
        }
        EventName::SubagentStart => subagent::handle_subagent_start(&event, env, &mut result),
        EventName::PreCompact => compact::handle_pre_compact(&event, env, &mut result),
        EventName::Stop => stop::handle_stop(&event, env, &mut result),
        _ => {}
    }
    result
}

/// A hook event as the client sent it.
struct ReceivedEvent<'a> {
    wire: &'a RawPayload<'a>,
    name: EventName,
    /// The tool that the event is about; empty if it is about none.
    tool: Cow<'a, str>,
}

impl ReceivedEvent<'_> {
    /// Returns true if the hook that handles the event is enabled.
    fn is_enabled(&self, config: &Config) -> bool {
        let hooks = &config.hooks;
        let has_gate = config.gates.tests_first.mode != GateMode::Off;
        let check_in = hooks.ghap_checkin.enabled;
        match self.name {
            EventName::SessionStart => hooks.session_start.enabled,
            EventName::SessionEnd => hooks.session_end.enabled,
            EventName::UserPromptSubmit => hooks.user_prompt_submit.enabled,
            // PreToolUse on Agent both counts the call and looks up lessons for the subagent.
            EventName::PreToolUse if pre_tool::starts_agent(&self.tool) => {
                check_in || hooks.subagent_start.enabled
            }
            // The caller of our own tools must be recorded even if check-ins are disabled.
            EventName::PreToolUse if pre_tool::is_own_tool(&self.tool) => true,
            // Before a command, the files that it may change are copied.
            EventName::PreToolUse if self.tool == "Bash" => {
                has_gate || check_in || hooks.outcome_capture.enabled || hooks.action_hints.enabled
            }
            EventName::PreToolUse if edit_input::edits_text(&self.tool) => {
                has_gate || check_in || hooks.action_hints.enabled
            }
            EventName::PreToolUse => check_in,
            EventName::PostToolUse | EventName::PostToolUseFailure if self.tool == "Bash" => {
                hooks.outcome_capture.enabled
            }
            EventName::PostToolUse => hooks.edits.enabled,
            EventName::SubagentStart => hooks.subagent_start.enabled,
            EventName::PreCompact => hooks.pre_compact.enabled,
            EventName::Stop => hooks.stop.enabled,
            _ => false,
        }
    }
}

/// Handles a payload that is readable only at its head: it is too long, came too late, or is malformed further on.
///
/// Records nothing. Only asks about a foreign server, because input of any length must not prevent that question. The
/// client writes the tool's name before its input.
pub fn guard_cut_payload(
    payload: &[u8],
    named: Option<&str>,
    env: impl FnOnce() -> HookEnv,
) -> HookResult {
    let mut result = HookResult::default();
    let wire = RawPayload::parse_head(payload);
    let event = wire.hook_event_name();
    let tool = wire.text("tool_name").unwrap_or_default();
    if pre_tool::is_own_tool(&tool)
        && event.as_deref().or(named).is_none_or(|it| it == EventName::PreToolUse.as_str())
    {
        pre_tool::guard_unread_call(&wire, &tool, &env(), &mut result);
    }
    result
}

/// Returns a checksum that stands for a text in the database without revealing it.
fn fingerprint(text: &str) -> Clean {
    let sum = rutter_redact::checksum::fnv1a(text.as_bytes());
    Clean::new(&format!("{sum:016x}"))
}

/// Adds the event name to a handwritten payload.
fn add_event_name(payload: &[u8], event: &str) -> Option<Vec<u8>> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(payload).ok()?;
    fields.insert("hook_event_name".to_owned(), event.into());
    serde_json::to_vec(&fields).ok()
}

/// Returns the client's process: the parent of the hook, unless that is a shell, which exits right after the hook.
fn client_process(pid: u32) -> Option<SessionProcess> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let shell =
        matches!(name.trim(), "sh" | "bash" | "dash" | "zsh" | "fish" | "ash" | "ksh" | "busybox");
    (!shell && pid > 1).then(|| SessionProcess::from_pid(pid))
}

/// Returns a folder relative to the root; empty if it is outside.
fn relative_folder(root: &Path, folder: &Path) -> String {
    let canonical = folder.canonicalize();
    let inside = canonical.as_deref().unwrap_or(folder).strip_prefix(root);
    inside.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A call of a hook: its session, project, settings and database.
///
/// A call makes at most two write transactions: it records its event, and then the texts that it is about to print. Only
/// SessionStart and PostToolUse of Bash need both. One transaction for both would break the rule to record first. The
/// texts depend on what the event changed (a failing run may end episodes and judge earlier lessons), so the run would
/// have to wait until they are assembled, and a call that panics or is killed meanwhile would lose its run. Reading
/// inside the transaction would also block other hooks.
struct HookCall {
    event: EventName,
    env: HookEnv,
    client: Clean,
    agent: Option<Clean>,
    located: LocatedProject,
    place: ProjectPlace,
    /// The place in which the client was started, if the event is in another project.
    session_place: Option<ProjectPlace>,
    /// The client's working directory, relative to the root of the checkout.
    folder: String,
    config: Config,
    deadline: Duration,
    recorder: Recorder,
    /// True if an entry went to the spool.
    is_spooled: bool,
    /// The notice for the user, if it is not the start of the text for the model.
    notice: Option<String>,
}

impl HookCall {
    /// Returns None if the payload has no session id or absolute working directory, if the hook is disabled, or if the
    /// folder is excluded or paused.
    fn open(event: &ReceivedEvent<'_>, env: impl FnOnce() -> HookEnv) -> Option<Self> {
        let wire = event.wire;
        let (client, cwd) = (wire.text("session_id")?, wire.text("cwd")?);
        let (client, cwd) = (Clean::new(&client), Path::new(&*cwd));
        if client.is_empty() || !cwd.is_absolute() {
            return None;
        }
        let env = env();
        let started_in = env.started_in.as_deref();
        let data = env.files.folder();
        let (located, loaded) = LocatedProject::find_configured(cwd, started_in, &env.config, data);
        let config = loaded.config;
        let deadline = deadlines::deadline(event.name, &event.tool).max(env.min_deadline);
        if !event.is_enabled(&config)
            || SilenceReason::check(&env.files, &config, Some(&client), cwd, env.home).is_some()
        {
            return None;
        }
        let start = started_in.filter(|start| start.is_absolute() && *start != cwd);
        let session_place = start.and_then(|start| {
            let (start, _) = LocatedProject::find_configured(start, None, &env.config, data);
            (start.home != located.home).then(|| ProjectPlace::from(&start))
        });
        Some(Self {
            event: event.name,
            session_place,
            recorder: Recorder::new(&env.files, deadline),
            config,
            env,
            client,
            agent: wire.text("agent_id").filter(|id| !id.is_empty()).map(|id| Clean::new(&id)),
            place: ProjectPlace::from(&located),
            folder: relative_folder(&located.root, cwd),
            located,
            deadline,
            is_spooled: false,
            notice: None,
        })
    }

    /// Switches to another folder as the place of the event. Returns false if that folder is excluded.
    fn enter_folder(&mut self, folder: &Path) -> bool {
        let located = LocatedProject::find_from(folder, self.env.started_in.as_deref());
        if self.located.root != located.root {
            let data = self.env.files.folder();
            self.config = Config::load(&self.env.config, Some(&located.root), data).config;
        }
        // The first event of a session may be a command that starts in another project.
        if self.session_place.is_none() && located.home != self.located.home {
            self.session_place = Some(self.place.clone());
        }
        self.located = located.identified_by(self.config.identity);
        self.place = ProjectPlace::from(&self.located);
        self.folder = relative_folder(&self.located.root, folder);
        !self.is_excluded(folder)
    }

    /// Switches to the folder in which the client was started, if the event is in another project. Returns false if
    /// that folder is excluded.
    fn enter_session_folder(&mut self) -> bool {
        match (&self.session_place, self.env.started_in.clone()) {
            (Some(_), Some(start)) => {
                let may_enter = self.enter_folder(&start);
                self.session_place = None;
                may_enter
            }
            _ => true,
        }
    }

    /// Returns true if the configuration excludes the folder from recording.
    fn is_excluded(&self, folder: &Path) -> bool {
        let scope = &self.config.scope;
        !scope.exclude.is_empty() && scope.excludes(folder, (self.env.home)().as_deref())
    }

    fn is_before_deadline(&self) -> bool {
        self.env.started_at.elapsed() < self.deadline
    }

    /// Returns true if the deadline has not passed, all entries are in the database, and the session is not in the
    /// control cohort. With an entry in the spool the same text would be shown again later.
    fn may_print(&self) -> bool {
        self.is_before_deadline()
            && !self.is_spooled
            && !self.config.cohort.is_control(&self.client)
    }

    /// Returns the interface that texts for this agent should name: tools if the session has called one or has our
    /// server, else commands. A text never names a tool that the agent may not have.
    fn interface(&mut self) -> AgentInterface {
        let client = self.client.clone();
        let called = self.query_store(|store| store.has_called_tool(&client));
        self.interface_if(|call| called || call.has_tools() == Some(true))
    }

    /// Returns the same for the start of a session, and true if a tool was called before in this session or project. An
    /// earlier call alone does not decide, as the server may have been removed since.
    fn interface_at_start(&mut self) -> (AgentInterface, bool) {
        let (client, place) = (self.client.clone(), self.place.clone());
        let called = self.query_store(|store| {
            Ok(store.has_called_tool(&client)? || store.has_recent_tool_calls(&place)?)
        });
        (self.interface_if(|call| call.has_tools().unwrap_or(called)), called)
    }

    fn interface_if(&self, tools: impl FnOnce(&Self) -> bool) -> AgentInterface {
        if tools(self) {
            AgentInterface::McpTools
        } else {
            AgentInterface::Cli((self.env.own_command)())
        }
    }

    fn has_tools(&self) -> Option<bool> {
        let folder = self.env.started_in.as_deref().unwrap_or(&self.located.root);
        (self.env.has_tools)(folder)
    }

    /// Returns the database's answer, or false if the database is not available.
    fn query_store(&mut self, has: impl FnOnce(&HookStore) -> Result<bool, StoreError>) -> bool {
        self.store().is_ok_and(|store| has(store).unwrap_or_default())
    }

    /// Prints context for the model and, if configured, a notice for the user. Does not check the deadline: the caller
    /// did so before it recorded the text as shown, and a text that is recorded but not printed would be lost.
    fn print_context<E: TakesContext + ShowsMessage>(&self, text: &str, result: &mut HookResult) {
        let message = match self.config.notify {
            Notify::Off => String::new(),
            Notify::Brief | Notify::Card => self.notice.clone().unwrap_or_else(|| {
                let first = text.lines().find(|line| !line.ends_with("instructions):"));
                truncate_end(first.unwrap_or_default(), NOTICE_CHARS)
            }),
        };
        self.print_context_and_message::<E>(
            text,
            if text.is_empty() { "" } else { &message },
            result,
        );
    }

    /// Prints one text for the model and another for the user, each unless it is empty.
    fn print_context_and_message<E: TakesContext + ShowsMessage>(
        &self,
        text: &str,
        message: &str,
        result: &mut HookResult,
    ) {
        if self.is_spooled || (text.is_empty() && message.is_empty()) {
            return;
        }
        let mut answer = HookOutput::<E>::new();
        if !text.is_empty() {
            answer = answer.context(text);
        }
        if !message.is_empty() {
            answer = answer.system_message(format!("rutter: {message}"));
        }
        result.stdout = answer.answer().stdout;
    }

    /// Returns the entries for rows that are about to be shown in full, with how well each fits. `prompt` is the
    /// fingerprint of what they are shown for.
    fn shown_entries(&self, prompt: &Clean, rows: &[(Id, f64)]) -> Vec<EntryKind> {
        self.shown_entries_as(prompt, rows, false)
    }

    /// Returns the entries for a context that is about to be shown: its items in full and its references.
    fn shown_context_entries(&self, prompt: &Clean, context: &Context) -> Vec<EntryKind> {
        let mut entries = self.shown_entries_as(prompt, &context.full_rows(), false);
        entries.extend(self.shown_entries_as(prompt, &context.reference_rows(), true));
        entries
    }

    fn shown_entries_as(&self, prompt: &Clean, rows: &[(Id, f64)], brief: bool) -> Vec<EntryKind> {
        let now = self.env.now;
        let of = |(row, score): &(Id, f64)| {
            EntryKind::Shown(Box::new(Injection {
                id: Id::new(now),
                session: self.client.clone(),
                agent: self.agent.clone(),
                event: Clean::new(self.event.as_str()),
                row: *row,
                score: *score,
                prompt: prompt.clone(),
                at: now,
                effect: None,
                brief,
            }))
        };
        rows.iter().map(of).collect()
    }

    /// Returns the database, which is opened on the first call.
    fn store(&mut self) -> Result<&mut HookStore, Arc<StoreNotReady>> {
        self.recorder.store()
    }

    fn new_entry(&self, place: &ProjectPlace, kind: EntryKind) -> SessionEntry {
        SessionEntry {
            client: self.client.clone(),
            place: place.clone(),
            process: match kind {
                EntryKind::Began(_) => self.env.parent.and_then(client_process),
                _ => None,
            },
            at: self.env.now,
            kind,
        }
    }

    fn new_entries(&self, entries: Vec<EntryKind>) -> Vec<SessionEntry> {
        // The first entry of a session decides its project, so an event elsewhere must not be the first.
        let seen = self.session_place.as_ref().filter(|_| !entries.is_empty());
        let seen = seen.map(|place| self.new_entry(place, EntryKind::Seen));
        seen.into_iter()
            .chain(entries.into_iter().map(|kind| self.new_entry(&self.place, kind)))
            .collect()
    }

    /// Records an event.
    fn record(&mut self, entries: Vec<EntryKind>, result: &mut HookResult) {
        self.record_with_shown(entries, Vec::new(), result);
    }

    /// Records an event, and texts that are about to be shown. Returns true if the texts may be shown.
    fn record_with_shown(
        &mut self,
        entries: Vec<EntryKind>,
        shown: Vec<EntryKind>,
        result: &mut HookResult,
    ) -> bool {
        let (entries, shown) = (self.new_entries(entries), self.new_entries(shown));
        let recorded = self.recorder.record_with_shown(&entries, &shown);
        self.report_destination(recorded, result);
        !self.is_spooled
    }

    /// Records texts that are about to be shown. Returns true if they may be shown.
    fn record_shown(&mut self, shown: Vec<EntryKind>, result: &mut HookResult) -> bool {
        let shown = self.new_entries(shown);
        let written = self.recorder.record_shown(&shown);
        if let Err(error) = &written {
            result.errors.push(Clean::new(&format!("not said: {error}")));
        }
        written.is_ok()
    }

    /// Takes the rows that were parked for a subagent, and records the texts that it is about to be shown. Returns false
    /// if another hook has taken them, and None if they must not be shown.
    fn take_parked_rows(
        &mut self,
        parked: i64,
        shown: Vec<EntryKind>,
        result: &mut HookResult,
    ) -> Option<bool> {
        let shown = self.new_entries(shown);
        let taken = self.recorder.take_parked_rows(parked, &shown);
        taken.map_err(|error| result.errors.push(Clean::new(&format!("not said: {error}")))).ok()
    }

    /// Logs the entries that were lost or spooled, and asks for maintenance if there is work to do.
    fn report_destination(
        &mut self,
        recorded: Result<EntryDestination, RecordError>,
        result: &mut HookResult,
    ) {
        if matches!(recorded, Ok(EntryDestination::Stored)) {
            let wal = self.env.files.wal().metadata();
            result.needs_maintenance |= wal.is_ok_and(|wal| wal.len() > CHECKPOINT_WAL_BYTES)
                || self.recorder.store().is_ok_and(|store| store.unfinished.get());
            return;
        }
        result.needs_maintenance = true;
        self.is_spooled = true;
        match recorded {
            Ok(EntryDestination::Spooled(reason)) => match *reason {
                // A missing database or a non-empty spool is normal and not logged as a fault.
                StoreNotReady::Missing | StoreNotReady::SpoolNotEmpty => {}
                _ => result.errors.push(Clean::new(&format!("spooled: {reason}"))),
            },
            Err(error) => result.errors.push(Clean::new(&format!("lost: {error}"))),
            Ok(EntryDestination::Stored) => {}
        }
    }
}
