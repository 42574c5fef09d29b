//! `rutter pause`: stops all hooks until the user ends the pause.

use std::io;

use rutter_memory::quote::PathLine as _;
use rutter_memory::store::DataDir;
use rutter_memory::{Clean, pause};
use serde::Serialize;

use crate::cli::Format;
use crate::cli::steer::PauseArgs;
use crate::environment::{self, Environment};
use crate::ui::Ui;
use crate::{CommandError, CommandResult};

/// The reason why hooks say nothing to agents.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum QuietReason {
    /// `RUTTER=off` is set in this environment; a client has a separate one.
    Off,
    /// The user paused everything.
    Paused,
    /// The user paused this session.
    SessionPaused,
    /// The user's configuration excludes the folder.
    Excluded,
    /// The session is in the control cohort: hooks record it and say nothing.
    Watched,
}

impl QuietReason {
    /// Returns None if hooks are active.
    pub(super) fn current(
        env: &Environment,
        session: Option<&Clean>,
    ) -> CommandResult<Option<Self>> {
        let ActivePauses { everywhere, sessions } = ActivePauses::load(&env.data_dir())?;
        let named = |session: &Clean| sessions.iter().any(|one| one == session.as_str());
        Ok(if environment::is_rutter_off() {
            Some(Self::Off)
        } else if everywhere {
            Some(Self::Paused)
        } else if session.is_some_and(named) {
            Some(Self::SessionPaused)
        } else if env
            .load_folder_config()?
            .scope
            .excludes(env.working_dir()?, crate::environment::home_dir().as_deref())
        {
            Some(Self::Excluded)
        } else if let Some(session) = session
            && env.load_folder_config()?.cohort.is_control(session)
        {
            Some(Self::Watched)
        } else {
            None
        })
    }

    /// Returns the reason as text, with the command that ends it where one exists.
    pub(super) const fn reason(&self) -> &'static str {
        match self {
            Self::Off => "RUTTER=off is set here",
            Self::Paused => "all hooks are paused; `rutter pause --off` ends the pause",
            Self::SessionPaused => {
                "this session is paused; `rutter pause --session --off` ends \
                                    the pause"
            }
            Self::Excluded => "this folder is excluded by the configuration",
            Self::Watched => {
                "this session is in the control group (`cohort.control`): it is \
                              recorded and gets no context"
            }
        }
    }
}

/// All active pauses.
#[derive(Serialize)]
struct ActivePauses {
    everywhere: bool,
    /// The client's session ids.
    sessions: Vec<String>,
}

impl ActivePauses {
    fn load(files: &DataDir) -> CommandResult<Self> {
        let all = pause::paused_sessions(files)
            .map_err(|error| pause_file_failure("read", files, &error))?;
        let (everything, sessions): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one == pause::ALL_SESSIONS);
        Ok(Self { everywhere: !everything.is_empty(), sessions })
    }
}

fn pause_file_failure(what: &str, files: &DataDir, error: &io::Error) -> CommandError {
    CommandError::Refused(format!("cannot {what} {}: {error}", files.paused().to_line()))
}

pub(crate) fn run(args: &PauseArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    let files = env.data_dir();
    let session = match &args.session {
        Some(name) => Some(find_session(name, args.off, env, ui)?),
        None => None,
    };
    let write = |error: io::Error| pause_file_failure("write", &files, &error);
    let was = if args.off {
        pause::resume(&files, session.as_ref()).map_err(write)?
    } else {
        pause::pause(&files, session.as_ref()).map_err(write)?;
        true
    };
    let paused = ActivePauses::load(&files)?;
    if args.format.chosen() == Format::Json {
        return ui.print_json(&paused);
    }
    if !was {
        ui.print_note("nothing was paused")?;
    }
    if paused.everywhere {
        writeln!(ui.out, "paused everywhere: hooks record nothing and say nothing")?;
        writeln!(ui.out, "  `rutter pause --off` ends the pause")?;
    }
    for session in &paused.sessions {
        writeln!(
            ui.out,
            "paused in session {session}: hooks record nothing and say nothing there"
        )?;
        writeln!(ui.out, "  `rutter pause --session {session} --off` ends the pause")?;
    }
    if !paused.everywhere && paused.sessions.is_empty() {
        writeln!(ui.out, "nothing is paused")?;
    }
    Ok(())
}

/// Returns the client's id of the session. Opens the store only if it has to look the name up, because the user may
/// pause the hooks when the store is broken.
fn find_session(name: &str, off: bool, env: &Environment, ui: &mut Ui<'_>) -> CommandResult<Clean> {
    let own = env.session_id();
    if name.is_empty() {
        return own.ok_or_else(|| {
            CommandError::Usage(
                "this command does not run inside a Claude Code session; give a session id from \
                 `rutter sessions list`"
                    .to_owned(),
            )
        });
    }
    let typed = Clean::new(name);
    let listed = off && ActivePauses::load(&env.data_dir())?.sessions.iter().any(|one| one == name);
    if listed || own.as_ref() == Some(&typed) {
        return Ok(typed);
    }
    let mut store = env.open_store(ui)?;
    store.try_drain_spool(env.now)?;
    Ok(store.session_named(name)?.session.client)
}
