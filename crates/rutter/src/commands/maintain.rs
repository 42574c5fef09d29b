//! `rutter maintain`: maintenance of the store, usually started by hooks.

use rutter_memory::store::maintain::{MaintenanceLimits, maintain};

use crate::CommandResult;
use crate::cli::Format;
use crate::cli::memory::MaintainArgs;
use crate::environment::Environment;
use crate::ui::Ui;

pub(crate) fn run(args: &MaintainArgs, env: &Environment, ui: &mut Ui<'_>) -> CommandResult {
    if args.detached {
        // The work is done even if it fails. The priority stays normal: a process of low priority that holds the database
        // lock on a busy machine makes hooks wait for it, and what they record goes to the spool.
        let _ = rustix::process::setsid();
    }
    // A hook starts it for an existing data directory. If the user has removed that since, do not create it again.
    if args.detached && !env.data.exists() {
        return Ok(());
    }
    // A project's configuration does not apply: all projects share one store.
    let bounds = MaintenanceLimits::from(&env.load_config(None).config.retention);
    let tended = maintain(&env.data, &bounds, env.now)?;
    match (args.format.chosen(), tended) {
        (Format::Json, tended) => ui.print_json(&tended),
        (Format::Text, None) => Ok(ui.print_note(
            "another process is already maintaining the \
                                                  memory",
        )?),
        (Format::Text, Some(tended)) => {
            let folded = if tended.folded {
                "merged into the database"
            } else {
                "in use by another process, not \
                merged"
            };
            writeln!(
                ui.out,
                "{} entries stored, {} expired rows deleted, write-ahead log {folded}",
                tended.drained, tended.retired
            )?;
            for (count, what) in [
                (tended.held, "have a newer format and wait for a newer rutter"),
                (tended.refused, "were refused; the log has the reasons"),
            ] {
                if count > 0 {
                    ui.print_note(&format!("{count} entries {what}"))?;
                }
            }
            Ok(())
        }
    }
}
