//! `rutter pause`: stops all hooks until the user ends the pause.

use std::io;

use rutter_memory::store::Files;
use rutter_memory::{Clean, pause};
use serde::Serialize;

use crate::Failure;
use crate::cli::Format;
use crate::cli::steer::PauseArgs;
use crate::environment::{self, Environment};
use crate::ui::Ui;

/// The reason why hooks say nothing to agents.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Quiet {
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

impl Quiet {
    /// Returns None if hooks are active.
    pub(super) fn of(env: &Environment, session: Option<&Clean>) -> Result<Option<Self>, Failure> {
        let Paused { everywhere, sessions } = Paused::read(&env.files())?;
        let named = |session: &Clean| sessions.iter().any(|one| one == session.as_str());
        Ok(if environment::is_off() {
            Some(Self::Off)
        } else if everywhere {
            Some(Self::Paused)
        } else if session.is_some_and(named) {
            Some(Self::SessionPaused)
        } else if env
            .settings()?
            .scope
            .excludes(env.folder()?, crate::environment::home().as_deref())
        {
            Some(Self::Excluded)
        } else if let Some(session) = session
            && env.settings()?.cohort.is_control(session)
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
            Self::Paused => "everything is paused; `rutter pause --off` ends it",
            Self::SessionPaused => "this session is paused; `rutter pause --session --off` ends it",
            Self::Excluded => "this folder is excluded by the configuration",
            Self::Watched => "this session is recorded and told nothing, by `cohort.control`",
        }
    }
}

/// All active pauses.
#[derive(Serialize)]
struct Paused {
    everywhere: bool,
    /// The client's session ids.
    sessions: Vec<String>,
}

impl Paused {
    fn read(files: &Files) -> Result<Self, Failure> {
        let all = pause::paused(files).map_err(|error| failed("read", files, &error))?;
        let (everything, sessions): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|one| one == pause::EVERYTHING);
        Ok(Self { everywhere: !everything.is_empty(), sessions })
    }
}

fn failed(what: &str, files: &Files, error: &io::Error) -> Failure {
    Failure::Refused(format!("cannot {what} {}: {error}", files.paused().display()))
}

pub(crate) fn run(args: &PauseArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), Failure> {
    let files = env.files();
    let session = match &args.session {
        Some(name) => Some(named(name, args.off, env, ui)?),
        None => None,
    };
    let write = |error: io::Error| failed("write", &files, &error);
    let was = if args.off {
        pause::resume(&files, session.as_ref()).map_err(write)?
    } else {
        pause::pause(&files, session.as_ref()).map_err(write)?;
        true
    };
    let paused = Paused::read(&files)?;
    if args.format.chosen() == Format::Json {
        return ui.json(&paused);
    }
    if !was {
        ui.remark("there was nothing to end")?;
    }
    if paused.everywhere {
        writeln!(ui.out, "paused everywhere: hooks neither record nor say anything")?;
        writeln!(ui.out, "  `rutter pause --off` ends it")?;
    }
    for session in &paused.sessions {
        writeln!(
            ui.out,
            "paused in session {session}: hooks neither record nor say anything there"
        )?;
        writeln!(ui.out, "  `rutter pause --session {session} --off` ends it")?;
    }
    if !paused.everywhere && paused.sessions.is_empty() {
        writeln!(ui.out, "nothing is paused")?;
    }
    Ok(())
}

/// Returns the client's id of the session. Opens the store only if it has to look the name up, because the user may
/// pause the hooks when the store is broken.
fn named(name: &str, off: bool, env: &Environment, ui: &mut Ui<'_>) -> Result<Clean, Failure> {
    let own = env.session();
    if name.is_empty() {
        return own.ok_or_else(|| {
            Failure::Usage(
                "this is typed outside a session of the client; name one, as `rutter sessions list` shows them"
                    .to_owned(),
            )
        });
    }
    let typed = Clean::new(name);
    let listed = off && Paused::read(&env.files())?.sessions.iter().any(|one| one == name);
    if listed || own.as_ref() == Some(&typed) {
        return Ok(typed);
    }
    let mut store = env.store(ui)?;
    store.gather_if_free(env.now)?;
    Ok(store.session_named(name)?.session.client)
}
