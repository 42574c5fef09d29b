//! Types of hooks that an event does not run.

use rutter_contract::EventName;
use rutter_contract::spec::HandlerType;
use rutter_contract::table;
use rutter_contract::version::Contract;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// The event does not run hooks of this type.
    ///
    /// Prompt and agent hooks ask a model, which needs a conversation. HTTP hooks do not run before the session has begun.
    /// The client accepts such a hook, and skips it or reports an error each time.
    ///
    /// ```json
    /// { "hooks": { "SessionStart": [{ "hooks": [{ "type": "prompt", "prompt": "Check the branch" }] }] } }
    /// ```
    ///
    /// PermissionRequest runs no agent hooks: 2.1.325 reports an error for them, and 2.1.197 still ran them.
    ///
    /// Use a `command` hook, which every event runs. `rutter contract events` lists the types of each event.
    HANDLER_NOT_RUN = "handler-not-run", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(form) = handler.node.member("type") else { continue };
            let Some(name) = form.node.text() else { continue };
            let runs = table::event_spec(handler.event).handlers.value;
            let exists = ["command", "http", "mcp_tool", "prompt", "agent"].contains(&name);
            let is_run = |form: HandlerType| {
                runs.contains(&form)
                    && !(form == HandlerType::Agent
                        && handler.event == EventName::PermissionRequest
                        && context.contract.has(Contract::NEWEST))
            };
            let runs = runs.iter().copied().filter(|form| is_run(*form));
            let runs: Vec<&str> = runs.map(HandlerType::as_str).collect();
            if !exists || runs.contains(&name) {
                continue;
            }
            let message = format!("{} does not run `{name}` hooks", handler.event);
            let help = format!("use one of these types: {}", runs.join(", "));
            findings.push(LintFinding::new(&HANDLER_NOT_RUN, index, form.range(), message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HANDLER_NOT_RUN;
    use crate::lint::testing::LintCase;

    fn case(event: &str, hook: &str) -> LintCase {
        LintCase::settings(&format!("{{\"hooks\": {{\"{event}\": [{{\"hooks\": [{hook}]}}]}}}}"))
    }

    #[test]
    fn finds_types_that_do_not_run() {
        let prompt = r#"{"type": "prompt", "prompt": "x"}"#;
        assert_eq!(case("SessionStart", prompt).marked(&HANDLER_NOT_RUN), ["\"type\": \"prompt\""]);
        assert!(case("Stop", prompt).marked(&HANDLER_NOT_RUN).is_empty());
        let agent = r#"{"type": "agent", "prompt": "x"}"#;
        assert_eq!(case("PermissionRequest", agent).marked(&HANDLER_NOT_RUN).len(), 1);
        let old = case("PermissionRequest", agent).on_client("2.1.197");
        assert!(old.marked(&HANDLER_NOT_RUN).is_empty());
        let http = r#"{"type": "http", "url": "http://127.0.0.1:1/x"}"#;
        assert_eq!(case("Setup", http).marked(&HANDLER_NOT_RUN), ["\"type\": \"http\""]);
        assert!(case("PostToolUse", http).marked(&HANDLER_NOT_RUN).is_empty());
    }
}
