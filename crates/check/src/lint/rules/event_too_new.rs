//! Events that the client version does not have.

use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// The client version does not have this event yet, so its hooks never run.
    ///
    /// The client ignores events that it does not know. The rule compares each event with the version given with `--client`,
    /// or else with the installed client.
    ///
    /// ```console
    /// $ rutter contract lint --client 2.1.197
    /// ```
    ///
    /// Update the client, or use an older event.
    EVENT_TOO_NEW = "event-too-new", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for member in file.events() {
            let Ok(event) = member.key.parse() else { continue };
            let spec = table::event_spec(event);
            if !spec.is_at(context.contract) {
                let message = format!(
                    "client {} does not have the event {event}, which came with {}: its hooks do not run",
                    context.contract.version(),
                    spec.since
                );
                let help = format!("update the client to {} or later", spec.since.version);
                findings.push(LintFinding::new(
                    &EVENT_TOO_NEW,
                    index,
                    member.key_range.clone(),
                    message,
                    help,
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EVENT_TOO_NEW;
    use crate::lint::testing::LintCase;

    #[test]
    fn depends_on_client_version() {
        let case = || LintCase::command("PreModelSwitch", "\"command\": \"true\"");
        assert_eq!(case().on_client("2.1.197").marked(&EVENT_TOO_NEW), ["\"PreModelSwitch\""]);
        assert!(case().marked(&EVENT_TOO_NEW).is_empty());
    }
}
