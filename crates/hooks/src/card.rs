//! The card that a user sees when a session begins: the state of the project in a few lines.
//!
//! It is for people and contains no text for the model.

use super::{HookCall, HookResult};
use rutter_memory::ghap::Ghap;
use rutter_memory::outcome::Verdict;
use rutter_memory::project::WorkTreeSurvey;
use rutter_memory::quote::{escape_in_line, format_age, truncate_end};

/// Maximum length of a command or a goal.
const TEXT_CHARS: usize = 72;

/// Describes the project: branch, changed files, language, last run, open GHAP.
pub(super) fn project_card(call: &mut HookCall, result: &mut HookResult) -> String {
    let (place, client, now) = (call.place.clone(), call.client.clone(), call.env.now);
    let survey = WorkTreeSurvey::inspect(&call.located.root);
    let text = |text: &str| truncate_end(&escape_in_line(text), TEXT_CHARS);
    let mut lines = vec![text(&call.located.name)];
    let mut line = |name: &str, text: String| lines.push(format!("  {name:<9} {text}"));
    if let Some(branch) = &call.located.branch {
        line("branch", text(branch));
    }
    if let Some(changed) = survey.changed {
        line(
            "changes",
            match changed {
                0 => "no tracked file differs from git's index (by size and time)".to_owned(),
                1 => "1 tracked file differs from git's index (by size and time)".to_owned(),
                many => format!("{many} tracked files differ from git's index (by size and time)"),
            },
        );
    }
    if let Some(language) = survey.language {
        line("language", language.to_owned());
    }
    let Ok(store) = call.store() else { return lines.join("\n") };
    let runs = result.ok_or_log("card", store.last_runs(&place, 1)).unwrap_or_default();
    if let Some(run) = runs.first() {
        let verdict = match run.verdict {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Unknown => "unknown result",
        };
        line("last run", format!("{verdict} {}: {}", format_age(run.at, now), text(&run.command)));
    }
    let own = result.ok_or_log("card", store.active_ghap(&place, &client, None)).flatten();
    let of = |ghap: &Ghap| format!("{} {}", ghap.id.short(), text(&ghap.goal));
    if let Some(ghap) = own {
        line("GHAP", of(&ghap));
        return lines.join("\n");
    }
    let left =
        result.ok_or_log("card", store.orphaned_ghaps(&place, &client, now)).unwrap_or_default();
    if let Some(ghap) = left.first() {
        line("GHAP", format!("{} (left open {})", of(ghap), format_age(ghap.changed, now)));
    }
    lines.join("\n")
}
