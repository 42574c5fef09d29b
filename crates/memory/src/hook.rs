//! What each hook of the client does with what it is told.
//!
//! One rule over all: the record comes first. It goes into the database or, where that is not there in time, into the
//! spool. Only then, and only while there is time left, is anything said. Whatever goes wrong is a line for the log and
//! nothing else; the caller exits with 0.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rutter_contract::EventName;
use rutter_contract::input::Wire;
use rutter_contract::output::{HookOutput, ShowsMessage, TakesContext};

use crate::config::{Config, Hooks, Notify};
use crate::context::Context;
use crate::injection::Injection;
use crate::project::Located;
use crate::quiet::Quiet;
use crate::quote::start_of;
use crate::session::Process;
use crate::speech::Hands;
use crate::store::entry::{Entry, Place, What};
use crate::store::hot::{HotStore, Unready};
use crate::store::{Files, StoreError, spool};
use crate::{Clean, Id, Time};

/// Of a hook's own settings those that all have.
macro_rules! settings {
    ($of:expr) => {
        Settings {
            enabled: $of.enabled,
            deadline: std::time::Duration::from_millis($of.deadline_ms.into()),
        }
    };
}

mod bash;
mod card;
mod compact;
mod edit;
mod offer;
mod prompt;
mod session;
mod snapshot;
mod stop;
mod subagent;
mod tool;

pub use prompt::asked;

/// Length of the line that the user sees where a hook has none of its own.
const NOTICE_CHARS: usize = 160;
/// A log of changes that is longer is worth a process that folds it.
const FOLD: u64 = 1024 * 1024;

/// What a hook knows beside what it is told.
#[derive(Debug)]
pub struct Around {
    /// The memory.
    pub files: Files,
    /// What time it is.
    pub now: Time,
    /// When the process began to work.
    pub begun: Instant,
    /// How much of a command's output the client passes on.
    pub window: usize,
    /// The folder that the client was started in, where it says so.
    pub started_in: Option<PathBuf>,
    /// The number of the process that started this one.
    pub parent: Option<u32>,
    /// The user's configuration, if there is one.
    pub config: PathBuf,
    /// The user's home, where a setting speaks of it.
    pub home: fn() -> Option<PathBuf>,
    /// How an agent can start this program. Asked only when something is said.
    pub called: fn() -> String,
    /// Whether a session that was started in a folder has the tools of our server, where that can be told. Asked only when
    /// something is said.
    pub has_tools: fn(&Path) -> Option<bool>,
    /// The file of a project that names a server as ours is named and starts something else: the folder that the client was
    /// started in, and the name. Asked only before a tool of ours is called.
    pub foreign_server: fn(&Path, &str) -> Option<PathBuf>,
}

/// What comes of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The event and the client's session, where it is an event that the contract knows.
    pub event: Option<(EventName, Clean)>,
    /// What to print; empty is silence.
    pub stdout: String,
    /// Whether there is work for `rutter tend`.
    pub tend: bool,
    /// What went wrong.
    pub faults: Vec<Clean>,
    /// What the log is to have besides.
    pub notes: Vec<Clean>,
}

impl Heard {
    /// What came of something, or a line for the log.
    fn take<T>(&mut self, what: &str, done: Result<T, StoreError>) -> Option<T> {
        done.map_err(|error| self.faults.push(Clean::new(&format!("{what}: {error}")))).ok()
    }
}

/// Takes in what a hook is told.
///
/// `named` is the event where the payload does not say: one that was written by hand. `around` is asked for once there is
/// something to do; nearly every call of a day ends before that, and nothing outside of the process is touched until then.
pub fn hear(stdin: &[u8], named: Option<&str>, around: impl FnOnce() -> Around) -> Heard {
    let mut heard = Heard::default();
    let wire = match Wire::parse(stdin) {
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
    // What is not ours ends here, before anything is opened.
    match &*event {
        "SessionStart" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.session_start));
            session::start(&wire, call, &mut heard);
        }
        "SessionEnd" => {
            let call = Call::of(&wire, around, |hooks| settings!(hooks.session_end));
            session::end(call, &mut heard);
        }
        "UserPromptSubmit" => prompt::hear(
            &wire,
            || Call::of(&wire, around, |hooks| settings!(hooks.user_prompt_submit)),
            &mut heard,
        ),
        "PreToolUse" => {
            let tool = tool();
            let settings = |hooks: &Hooks| match settings!(hooks.ghap_checkin) {
                // It is there for two things then.
                asks if tool::is_agent(&tool) => {
                    let parks = settings!(hooks.subagent_start);
                    Settings { enabled: asks.enabled || parks.enabled, ..parks }
                }
                // Whose call it is has to be known, whoever is asked about anything.
                asks if tool::is_ours(&tool) => Settings { enabled: true, ..asks },
                // Before a command, the files that it may change are looked at.
                asks if tool == "Bash" => {
                    Settings { enabled: asks.enabled || hooks.outcome_capture.enabled, ..asks }
                }
                asks => asks,
            };
            if tool::is_ours(&tool) {
                // Before any setting is read: a file of the project must not decide about this.
                let around = around();
                if let Some(file) = tool::find_foreign_server(&wire, &tool, &around) {
                    tool::ask_about(&file, &mut heard);
                } else {
                    let call = || Call::of(&wire, || around, settings);
                    tool::hear(&wire, &tool, call, &mut heard);
                }
            } else {
                tool::hear(&wire, &tool, || Call::of(&wire, around, settings), &mut heard);
            }
        }
        "PostToolUse" | "PostToolUseFailure" if tool() == "Bash" => {
            bash::hear(&wire, around, &event, &mut heard);
        }
        "PostToolUse" if matches!(&*tool(), "Edit" | "Write" | "NotebookEdit") => {
            edit::hear(&wire, Call::of(&wire, around, |hooks| settings!(hooks.edits)), &mut heard);
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

/// Handles a payload of which only the head can be read: because it is too long, came too late, or is no JSON further on.
///
/// Nothing is recorded. Only the question about a foreign server is asked, since input of any length must not silence it. The
/// client writes the tool's name before its input.
pub fn guard_cut_payload(
    payload: &[u8],
    named: Option<&str>,
    around: impl FnOnce() -> Around,
) -> Heard {
    let mut heard = Heard::default();
    let wire = Wire::parse_head(payload);
    let event = wire.hook_event_name();
    let tool = wire.text("tool_name").unwrap_or_default();
    if tool::is_ours(&tool) && event.as_deref().or(named).is_none_or(|it| it == "PreToolUse") {
        tool::guard_unread_call(&wire, &tool, &around(), &mut heard);
    }
    heard
}

/// What every hook can be told: whether it is wanted, and when it stops trying to speak.
struct Settings {
    enabled: bool,
    deadline: Duration,
}

/// Stands for a text without telling it.
fn fingerprint(text: &str) -> Clean {
    let sum = crate::checksum::of(text.as_bytes());
    Clean::new(&format!("{sum:016x}"))
}

/// A payload that was written by hand, with the name of its event.
fn with_name(payload: &[u8], event: &str) -> Option<Vec<u8>> {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(payload).ok()?;
    fields.insert("hook_event_name".to_owned(), event.into());
    serde_json::to_vec(&fields).ok()
}

/// The client's process: whoever started the hook, unless that was a shell, which is gone in a moment.
fn client(pid: u32) -> Option<Process> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    let shell =
        matches!(name.trim(), "sh" | "bash" | "dash" | "zsh" | "fish" | "ash" | "ksh" | "busybox");
    (!shell && pid > 1).then(|| Process::of(pid))
}

/// A folder by its path from the root.
fn folder_in(root: &Path, folder: &Path) -> String {
    let settled = folder.canonicalize();
    let inside = settled.as_deref().unwrap_or(folder).strip_prefix(root);
    inside.map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}

/// One call of a hook, and what it works with.
struct Call {
    around: Around,
    client: Clean,
    agent: Option<Clean>,
    located: Located,
    place: Place,
    /// Where the client's shell is, from the root of the checkout.
    folder: String,
    config: Config,
    deadline: Duration,
    /// The database, once it was asked for.
    store: Option<Result<HotStore, Unready>>,
    /// Whether something went to the spool.
    behind: bool,
    /// What a user who wants a line is told, where it is not the beginning of what the model is told.
    notice: Option<String>,
}

impl Call {
    /// None where the client says neither who nor where it is, and where nobody wants it.
    fn of(
        wire: &Wire<'_>,
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

    /// Takes another folder for the one where it happened; whether it is one that anything may be kept of.
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

    /// Whether nothing may be kept of a folder.
    fn is_excluded(&self, folder: &Path) -> bool {
        let scope = &self.config.scope;
        !scope.exclude.is_empty() && scope.excludes(folder, (self.around.home)().as_deref())
    }

    fn is_in_time(&self) -> bool {
        self.around.begun.elapsed() < self.deadline
    }

    /// Whether anything may be said: in time, and not to a session that is only watched. Nor where something could not be
    /// written down: what was said would be said again.
    fn may_speak(&self) -> bool {
        self.is_in_time() && !self.behind && !self.config.cohort.is_control(&self.client)
    }

    /// What the agent of this session does things with: what it has done them with, or what it has. It is told of nothing that
    /// it may not have.
    fn hands(&mut self) -> Hands {
        let client = self.client.clone();
        let called = self.tells(|store| store.has_called(&client));
        self.hands_if(|call| called || call.has_tools() == Some(true))
    }

    /// The same where a session begins, and whether a tool was called before, in it or in others here. The server may be gone
    /// since.
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

    /// What the database says, if it does.
    fn tells(&mut self, has: impl FnOnce(&HotStore) -> Result<bool, StoreError>) -> bool {
        self.store().as_ref().is_ok_and(|store| has(store).unwrap_or_default())
    }

    /// Says something to the model, and a line of it to a user who wants that. Whether there is time was looked at before
    /// it was written down as said; from then on it is said, or nobody would read it and nobody be told again.
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

    /// Says one text to the model and another to the user; an empty one is not said.
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

    /// The database, opened once.
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

    /// Writes down what is about to be said, into the database and nowhere else: what waits in the spool would count as
    /// said, and is not said. Whether it could be.
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

    /// Writes down what happened, into the database or the spool.
    fn record(&mut self, whats: Vec<What>, heard: &mut Heard) {
        let entries: Vec<Entry> = whats.into_iter().map(|what| self.entry(what)).collect();
        let files = self.around.files.clone();
        // What is followed is followed in order: red, then the change, then green.
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
            // That there is none yet, or that others wait as well, is no fault.
            Ok(()) if matches!(unready, Unready::Missing | Unready::Behind) => {}
            Ok(()) => heard.faults.push(Clean::new(&format!("spooled: {unready}"))),
            Err(error) => heard.faults.push(Clean::new(&format!("lost: {unready}; {error}"))),
        }
    }
}
