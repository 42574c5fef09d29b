//! SessionEnd hooks that are ended early.

use rutter_contract::EventName;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A SessionEnd hook has less time than its `timeout` says.
    ///
    /// The client ends a hook of SessionEnd after 1.5 seconds. A `timeout` of the hook raises that in settings, to at most 60
    /// seconds. In a plugin it has no effect.
    ///
    /// ```json
    /// { "hooks": { "SessionEnd": [{ "hooks": [{ "type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/upload.sh", "timeout": 30 }] }] } }
    /// ```
    ///
    /// Start the slow part in the background, detached from the hook.
    SESSION_END_TIMEOUT = "session-end-timeout", Info, check
}

const PLUGIN_SESSION_END_SECONDS: f64 = 1.5;
const MAX_SESSION_END_SECONDS: f64 = 60.0;

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        let (most, message) = if file.is_plugin() {
            let message = "the client ends SessionEnd hooks of a plugin after 1.5 seconds, whatever their timeout";
            (PLUGIN_SESSION_END_SECONDS, message)
        } else {
            (MAX_SESSION_END_SECONDS, "SessionEnd hooks get 60 seconds at most")
        };
        for handler in file.handlers().filter(|handler| handler.event == EventName::SessionEnd) {
            let Some(timeout) = handler.node.member("timeout") else { continue };
            if timeout.node.number().is_some_and(|seconds| seconds > most) {
                let help = "start the slow part in the background, detached from the hook";
                findings.push(LintFinding::new(
                    &SESSION_END_TIMEOUT,
                    index,
                    timeout.range(),
                    message,
                    help,
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SESSION_END_TIMEOUT;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_long_timeouts_of_plugins() {
        let text = |seconds: &str| {
            format!(
                r#"{{"hooks": {{"SessionEnd": [{{"hooks": [{{"type": "command", "command": "true", "timeout": {seconds}}}]}}]}}}}"#
            )
        };
        let plugin = |seconds: &str| {
            LintCase::plugin(&[
                (".claude-plugin/plugin.json", "{\"name\": \"a\"}"),
                ("hooks/hooks.json", &text(seconds)),
            ])
        };
        assert_eq!(plugin("30").marked(&SESSION_END_TIMEOUT), ["\"timeout\": 30"]);
        assert!(plugin("1").marked(&SESSION_END_TIMEOUT).is_empty());
        assert_eq!(
            LintCase::settings(&text("90")).marked(&SESSION_END_TIMEOUT),
            ["\"timeout\": 90"]
        );
        assert!(LintCase::settings(&text("30")).marked(&SESSION_END_TIMEOUT).is_empty());
    }
}
