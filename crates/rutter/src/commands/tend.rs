//! `rutter tend`: maintenance of the store, usually started by hooks.

use rutter_memory::store::maintain::{MaintenanceLimits, maintain};

use crate::CommandError;
use crate::cli::Format;
use crate::cli::memory::TendArgs;
use crate::environment::Environment;
use crate::ui::Ui;

/// The highest nice value, that is the lowest priority.
const LOWEST_PRIORITY: i32 = 19;

pub(crate) fn run(args: &TendArgs, env: &Environment, ui: &mut Ui<'_>) -> Result<(), CommandError> {
    if args.detached {
        // Both only spare other processes; the work is done even if they fail.
        let _ = rustix::process::setsid();
        let _ = rustix::process::nice(LOWEST_PRIORITY);
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
        (Format::Text, None) => Ok(ui.print_note("another process is at it")?),
        (Format::Text, Some(tended)) => {
            let folded = if tended.folded { "folded" } else { "in use, left for later" };
            writeln!(
                ui.out,
                "{} entries drained, {} outcomes retired, log of changes {folded}",
                tended.drained, tended.retired
            )?;
            for (count, what) in [
                (tended.held, "are of a newer form and wait for a newer rutter"),
                (tended.refused, "were refused; the log says why"),
            ] {
                if count > 0 {
                    ui.print_note(&format!("{count} entries {what}"))?;
                }
            }
            Ok(())
        }
    }
}
