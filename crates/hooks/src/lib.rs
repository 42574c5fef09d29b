//! Handlers for the hook events of the client.
//!
//! A handler first records the event, in the database or, if the database is not available in time, in the spool.
//! Only then, and only before its deadline, may it print context for the model. Every error becomes a log line; the
//! caller exits with 0.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rutter_contract::EventName;
use rutter_contract::input::RawPayload;
use rutter_contract::output::{HookOutput, ShowsMessage, TakesContext};

use crate::context::Context;
use crate::quiet::Quiet;
use rutter_memory::config::{Config, Hooks, Notify};
use rutter_memory::injection::Injection;
use rutter_memory::project::Located;
use rutter_memory::quote::start_of;
use rutter_memory::session::Process;
use rutter_memory::store::entry::{Entry, Place, What};
use rutter_memory::store::hot::{HotStore, Unready};
use rutter_memory::store::{Files, StoreError, spool};
use rutter_memory::{Clean, Id, Time};

/// Extracts the settings that all hooks share from the settings of one hook.
macro_rules! settings {
    ($of:expr) => {
        Settings {
            enabled: $of.enabled,
            deadline: std::time::Duration::from_millis($of.deadline_ms.into()),
        }
    };
}

pub mod bash_call;
mod bash_result;
mod card;
mod compact;
pub mod context;
mod edit_result;
mod file_references;
pub mod fix_message;
mod mention;
mod offer;
mod pre_tool;
mod prompt;
pub mod quiet;
pub mod recall_context;
mod reference;
pub mod session_context;
mod session_events;
mod snapshot;
mod speech;
mod stop;
mod subagent;
pub mod tally;

pub use prompt::asked;
pub use speech::Hands;

/// Maximum length of the user's notice if it is taken from the text for the model.
const NOTICE_CHARS: usize = 160;
/// WAL size above which the hook asks for maintenance, which checkpoints it.
const FOLD: u64 = 1024 * 1024;

/// Everything a hook needs from outside of the payload: data directory, clock, configuration.
#[derive(Debug)]
pub struct Around {
    /// The data directory.
    pub files: Files,
    /// The current time.
    pub now: Time,
    /// The start of this process; deadlines count from here.
    pub begun: Instant,
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
    pub called: fn() -> String,
    /// Returns true if a session started in this folder has the tools of our server, and None if that is unknown.
    /// Called only if there is a text for the agent.
    pub has_tools: fn(&Path) -> Option<bool>,
    /// Returns the project file that registers another program under the name of our server. Takes the folder in which
    /// the client was started, and the server name. Called only before a call of one of our tools.
    pub foreign_server: fn(&Path, &str) -> Option<PathBuf>,
}

/// The result of handling one hook event.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The event and the client's session id, if the contract has the event.
    pub event: Option<(EventName, Clean)>,
    /// The text to print; empty for silence.
    pub stdout: String,
    /// True if the caller should start `rutter tend`.
    pub tend: bool,
    /// Errors, for the log.
    pub faults: Vec<Clean>,
    /// Other lines for the log.
    pub notes: Vec<Clean>,
}

impl Heard {
    /// Returns the value, or adds the error to the faults and returns None.
    fn take<T>(&mut self, what: &str, done: Result<T, StoreError>) -> Option<T> {
        done.map_err(|error| self.faults.push(Clean::new(&format!("{what}: {error}")))).ok()
    }
}

/// Handles one hook event.
///
/// `named` is the event name for a handwritten payload without `hook_event_name`. `around` is called once there is
/// work to do. Most calls end before that, and until then nothing outside of the process is touched.
pub fn hear(stdin: &[u8], named: Option<&str>, around: impl FnOnce() -> Around) -> Heard {
    let mut heard = Heard::default();
    let wire = match RawPayload::parse(stdin) {
        Ok(wire) => wire,
        Err(error) => {
            heard = guard_cut_payload(stdin, named, around);
            heard.faults.push(Clean::new(&error.to_string()));
            return heard;
        }
    };
    let Some(event) = wire.hook_event_name() else {
        if let Some(payload) = named.and_then(|event| with_name(stdin, event)) {
            return hear(&payload, None, around);
        }
        heard.faults.push(Clean::new("the payload has no `hook_event_name`"));
        return heard;
    };
    let session = || Clean::new(&wire.text("session_id").unwrap_or_default());
    heard.event = event.parse().ok().map(|event| (event, session()));
    let tool = || wire.text("tool_name").unwrap_or_default();
    // Events that need no action end here, before any file is opened.
    match &*event {
        "SessionStart" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.session_start));
            session_events::start(&wire, call, &mut heard);
        }
        "SessionEnd" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.session_end));
            session_events::end(call, &mut heard);
        }
        "UserPromptSubmit" => prompt::hear(
            &wire,
            || Call::of(&wire, around, |hooks| settings!(hooks.user_prompt_submit)),
            &mut heard,
        ),
        "PreToolUse" => {
            let tool = tool();
            let settings = |hooks: &Hooks| match settings!(hooks.ghap_checkin) {
                // PreToolUse on Agent both counts the call and looks up lessons for the subagent.
                asks if pre_tool::is_agent(&tool) => {
                    let parks = settings!(hooks.subagent_start);
                    Settings { enabled: asks.enabled || parks.enabled, ..parks }
                }
                // The caller of our own tools must be recorded even if check-ins are disabled.
                asks if pre_tool::is_ours(&tool) => Settings { enabled: true, ..asks },
                // Before a command, the files that it may change are copied.
                asks if tool == "Bash" => {
                    Settings { enabled: asks.enabled || hooks.outcome_capture.enabled, ..asks }
                }
                asks => asks,
            };
            if pre_tool::is_ours(&tool) {
                // Must precede the settings: a file of the project must not be able to disable this question.
                let around = around();
                if let Some(file) = pre_tool::find_foreign_server(&wire, &tool, &around) {
                    pre_tool::ask_about(&file, &mut heard);
                } else {
                    let call = || Call::of(&wire, || around, settings);
                    pre_tool::hear(&wire, &tool, call, &mut heard);
                }
            } else {
                pre_tool::hear(&wire, &tool, || Call::of(&wire, around, settings), &mut heard);
            }
        }
        "PostToolUse" | "PostToolUseFailure" if tool() == "Bash" => {
            bash_result::hear(&wire, around, &event, &mut heard);
        }
        "PostToolUse" if matches!(&*tool(), "Edit" | "Write" | "NotebookEdit") => {
            edit_result::hear(
                &wire,
                Call::of(&wire, around, |hooks| settings!(hooks.edits)),
                &mut heard,
            );
        }
        "SubagentStart" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.subagent_start));
            subagent::hear(&wire, call, &mut heard);
        }
        "PreCompact" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.pre_compact));
            compact::hear(call, &mut heard);
        }
        "Stop" => {
            stop::hear(
                &wire,
                || Call::of(&wire, around, |hooks| settings!(hooks.stop)),
                &mut heard,
            );
        }
        _ => {}
    }
    heard
}

/// Handles a payload that is readable only at its head: it is too long, came too late, or is malformed further on.
///
/// Records nothing. Only asks about a foreign server, because input of any length must not prevent that question. The
/// client writes the tool's name before its input.
pub fn guard_cut_payload(
    payload: &[u8],
    named: Option<&str>,
    around: impl FnOnce() -> Around,
) -> Heard {
    let mut heard = Heard::default();
    let wire = RawPayload::parse_head(payload);
    let event = wire.hook_event_name();
    let tool = wire.text("tool_name").unwrap_or_default();
    if pre_tool::is_ours(&tool) && event.as_deref().or(named).is_none_or(|it| it == "PreToolUse") {
        pre_tool::guard_unread_call(&wire, &tool, &around(), &mut heard);
    }
    heard
}

/// The settings that every hook has.
struct Settings {
    enabled: bool,
    deadline: Duration,
}

/// Returns a checksum that stands for a text in the database without revealing it.
fn fingerprint(text: &str) -> Clean {
    let sum = rutter_redact::checksum::of(text.as_bytes());
    Clean::new(&format!("{sum:016x}"))
}

/// Adds the event name to a handwritten payload.
fn with_name(payload: &[u8], event: &str) -> Option<Vec<u8>> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(payload).ok()?;
    fields.insert("hook_event_name".to_owned(), event.into());
    serde_json::to_vec(&fields).ok()
}

/// Returns the client's process: the parent of the hook, unless that is a shell, which exits right after the hook.
fn client(pid: u32) -> Option<Process> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let shell =
        matches!(name.trim(), "sh" | "bash" | "dash" | "zsh" | "fish" | "ash" | "ksh" | "busybox");
    (!shell && pid > 1).then(|| Process::of(pid))
}

/// Returns a folder relative to the root; empty if it is outside.
fn folder_in(root: &Path, folder: &Path) -> String {
    let settled = folder.canonicalize();
    let inside = settled.as_deref().unwrap_or(folder).strip_prefix(root);
    inside.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A call of a hook: its session, project, settings and database.
struct Call {
    around: Around,
    client: Clean,
    agent: Option<Clean>,
    located: Located,
    place: Place,
    /// The client's working directory, relative to the root of the checkout.
    folder: String,
    config: Config,
    deadline: Duration,
    /// The database, opened on first use.
    store: Option<Result<HotStore, Unready>>,
    /// True if an entry went to the spool.
    behind: bool,
    /// The notice for the user, if it is not the start of the text for the model.
    notice: Option<String>,
}

impl Call {
    /// Returns None if the payload has no session id or absolute working directory, if the hook is disabled, or if the
    /// folder is excluded or paused.
    fn of(
        wire: &RawPayload<'_>,
        around: impl FnOnce() -> Around,
        settings: impl FnOnce(&Hooks) -> Settings,
    ) -> Option<Self> {
        let (client, cwd) = (wire.text("session_id")?, wire.text("cwd")?);
        let (client, cwd) = (Clean::new(&client), Path::new(&*cwd));
        if client.is_empty() || !cwd.is_absolute() {
            return None;
        }
        let around = around();
        let started_in = around.started_in.as_deref();
        let data = around.files.folder();
        let (located, loaded) = Located::find_configured(cwd, started_in, &around.config, data);
        let config = loaded.config;
        let Settings { enabled, deadline } = settings(&config.hooks);
        if !enabled || Quiet::of(&around.files, &config, Some(&client), cwd, around.home).is_some()
        {
            return None;
        }
        Some(Self {
            config,
            around,
            client,
            agent: wire.text("agent_id").filter(|id| !id.is_empty()).map(|id| Clean::new(&id)),
            place: Place::from(&located),
            folder: folder_in(&located.root, cwd),
            located,
            deadline,
            store: None,
            behind: false,
            notice: None,
        })
    }

    /// Switches to another folder as the place of the event. Returns false if that folder is excluded.
    fn enter(&mut self, folder: &Path) -> bool {
        let located = Located::find_from(folder, self.around.started_in.as_deref());
        if self.located.root != located.root {
            let data = self.around.files.folder();
            self.config = Config::load(&self.around.config, Some(&located.root), data).config;
        }
        self.located = located.identified_by(self.config.identity);
        self.place = Place::from(&self.located);
        self.folder = folder_in(&self.located.root, folder);
        !self.is_excluded(folder)
    }

    /// Returns true if the configuration excludes the folder from recording.
    fn is_excluded(&self, folder: &Path) -> bool {
        let scope = &self.config.scope;
        !scope.exclude.is_empty() && scope.excludes(folder, (self.around.home)().as_deref())
    }

    fn is_in_time(&self) -> bool {
        self.around.begun.elapsed() < self.deadline
    }

    /// Returns true if the deadline has not passed, all entries are in the database, and the session is not in the
    /// control cohort. With an entry in the spool the same text would be shown again later.
    fn may_speak(&self) -> bool {
        self.is_in_time() && !self.behind && !self.config.cohort.is_control(&self.client)
    }

    /// Returns the interface that texts for this agent should name: tools if the session has called one or has our
    /// server, else commands. A text never names a tool that the agent may not have.
    fn hands(&mut self) -> Hands {
        let client = self.client.clone();
        let called = self.tells(|store| store.has_called(&client));
        self.hands_if(|call| called || call.has_tools() == Some(true))
    }

    /// Returns the same for the start of a session, and true if a tool was called before in this session or project. An
    /// earlier call alone does not decide, as the server may have been removed since.
    fn hands_here(&mut self) -> (Hands, bool) {
        let (client, place) = (self.client.clone(), self.place.clone());
        let called =
            self.tells(|store| Ok(store.has_called(&client)? || store.is_called_in(&place)?));
        (self.hands_if(|call| call.has_tools().unwrap_or(called)), called)
    }

    fn hands_if(&self, tools: impl FnOnce(&Self) -> bool) -> Hands {
        if tools(self) { Hands::Tools } else { Hands::Commands((self.around.called)()) }
    }

    fn has_tools(&self) -> Option<bool> {
        let folder = self.around.started_in.as_deref().unwrap_or(&self.located.root);
        (self.around.has_tools)(folder)
    }

    /// Returns the database's answer, or false if the database is not available.
    fn tells(&mut self, has: impl FnOnce(&HotStore) -> Result<bool, StoreError>) -> bool {
        self.store().as_ref().is_ok_and(|store| has(store).unwrap_or_default())
    }

    /// Prints context for the model and, if configured, a notice for the user. Does not check the deadline: the caller
    /// did so before it recorded the text as shown, and a text that is recorded but not printed would be lost.
    fn say<E: TakesContext + ShowsMessage>(&self, text: &str, heard: &mut Heard) {
        let message = match self.config.notify {
            Notify::Off => String::new(),
            Notify::Brief | Notify::Card => self.notice.clone().unwrap_or_else(|| {
                let first = text.lines().find(|line| !line.ends_with("instructions):"));
                start_of(first.unwrap_or_default(), NOTICE_CHARS)
            }),
        };
        self.say_with_message::<E>(text, if text.is_empty() { "" } else { &message }, heard);
    }

    /// Prints one text for the model and another for the user, each unless it is empty.
    fn say_with_message<E: TakesContext + ShowsMessage>(
        &self,
        text: &str,
        message: &str,
        heard: &mut Heard,
    ) {
        if self.behind || (text.is_empty() && message.is_empty()) {
            return;
        }
        let mut answer = HookOutput::<E>::new();
        if !text.is_empty() {
            answer = answer.context(text);
        }
        if !message.is_empty() {
            answer = answer.system_message(format!("rutter: {message}"));
        }
        heard.stdout = answer.answer().stdout;
    }

    /// Returns the entries for rows that are about to be shown in full, with how well each fits. `prompt` is the
    /// fingerprint of what they are shown for.
    fn shown(&self, event: &str, prompt: &Clean, rows: &[(Id, f64)]) -> Vec<What> {
        self.shown_as(event, prompt, rows, false)
    }

    /// Returns the entries for a context that is about to be shown: its items in full and its references.
    fn shown_context(&self, event: &str, prompt: &Clean, context: &Context) -> Vec<What> {
        let mut whats = self.shown_as(event, prompt, &context.rows(), false);
        whats.extend(self.shown_as(event, prompt, &context.referred_rows(), true));
        whats
    }

    fn shown_as(&self, event: &str, prompt: &Clean, rows: &[(Id, f64)], brief: bool) -> Vec<What> {
        let now = self.around.now;
        let of = |(row, score): &(Id, f64)| {
            What::Shown(Box::new(Injection {
                id: Id::new(now),
                session: self.client.clone(),
                agent: self.agent.clone(),
                event: Clean::new(event),
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
    fn store(&mut self) -> &mut Result<HotStore, Unready> {
        let (files, deadline) = (&self.around.files, self.deadline);
        self.store.get_or_insert_with(|| HotStore::open(files, deadline))
    }

    fn entry(&self, what: What) -> Entry {
        Entry {
            client: self.client.clone(),
            place: self.place.clone(),
            process: match what {
                What::Began(_) => self.around.parent.and_then(client),
                _ => None,
            },
            at: self.around.now,
            what,
        }
    }

    /// Records a text that is about to be shown, in the database only: an entry in the spool would count as shown
    /// although the text is withheld. Returns true on success.
    fn record_said(&mut self, whats: Vec<What>, heard: &mut Heard) -> bool {
        let entries: Vec<Entry> = whats.into_iter().map(|what| self.entry(what)).collect();
        let written = match self.store() {
            Ok(store) => store.write(&entries),
            Err(_) => Err(StoreError::Busy),
        };
        if let Err(error) = &written {
            heard.faults.push(Clean::new(&format!("not said: {error}")));
        }
        written.is_ok()
    }

    /// Records an event in the database, or in the spool if the database is not available.
    fn record(&mut self, whats: Vec<What>, heard: &mut Heard) {
        let entries: Vec<Entry> = whats.into_iter().map(|what| self.entry(what)).collect();
        let files = self.around.files.clone();
        // Runs and changes must stay in order (failure, change, success), so they queue behind a non-empty spool.
        let ordered =
            entries.iter().any(|entry| matches!(entry.what, What::Ran(_) | What::Changed(..)));
        let unready = if ordered && spool::waits(&files) {
            Unready::Behind
        } else {
            match self.store() {
                Ok(store) => match store.write(&entries) {
                    Ok(()) => {
                        heard.tend |= store.unfinished.get();
                        heard.tend |= files.wal().metadata().is_ok_and(|wal| wal.len() > FOLD);
                        return;
                    }
                    Err(error) => Unready::Store(error),
                },
                Err(_) => match self.store.replace(Err(Unready::Missing)) {
                    Some(Err(unready)) => unready,
                    _ => Unready::Missing,
                },
            }
        };
        heard.tend = true;
        self.behind = true;
        match spool::append(&files, &entries) {
            // A missing database or a non-empty spool is normal and not logged as a fault.
            Ok(()) if matches!(unready, Unready::Missing | Unready::Behind) => {}
            Ok(()) => heard.faults.push(Clean::new(&format!("spooled: {unready}"))),
            Err(error) => heard.faults.push(Clean::new(&format!("lost: {unready}; {error}"))),
        }
    }
}
