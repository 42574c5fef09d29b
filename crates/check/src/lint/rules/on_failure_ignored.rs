//! `onFailure` where it has no effect.

use rutter_contract::EventName;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, SourceNode};

lint_rule! {
    /// `onFailure: "block"` has no effect here, so the hook fails open.
    ///
    /// The client ignores it on Stop, SubagentStop, TaskCompleted and TeammateIdle, and for `async` hooks. Clients before
    /// 2.1.295 ignore it everywhere.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh", "onFailure": "block" }] }] } }
    /// ```
    ///
    /// Exit with 2 in the hook itself, whatever fails in it.
    ON_FAILURE_IGNORED = "on-failure-ignored", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers() {
            let Some(field) = handler.node.member("onFailure") else { continue };
            if field.node.text() != Some("block") {
                continue;
            }
            let is_stop = matches!(
                handler.event,
                EventName::Stop
                    | EventName::SubagentStop
                    | EventName::TaskCompleted
                    | EventName::TeammateIdle
            );
            let is_async = ["async", "asyncRewake"]
                .iter()
                .any(|key| handler.node.get(key).and_then(SourceNode::flag) == Some(true));
            let reason = if !context.contract.reads_on_failure() {
                format!("client {} does not know `onFailure`", context.contract.version())
            } else if is_async {
                "`onFailure` has no effect on an `async` hook".to_owned()
            } else if is_stop {
                format!("`onFailure` has no effect on {}", handler.event)
            } else {
                continue;
            };
            let message = format!("{reason}: if the hook fails, the client goes on");
            let help = "exit with 2 in the hook itself, whatever fails in it";
            findings.push(LintFinding::new(
                &ON_FAILURE_IGNORED,
                index,
                field.range(),
                message,
                help,
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ON_FAILURE_IGNORED;
    use crate::lint::testing::LintCase;

    #[test]
    fn depends_on_event_and_version() {
        let case = |event, more| {
            LintCase::command(
                event,
                &format!("\"command\": \"true\", \"onFailure\": \"block\"{more}"),
            )
        };
        assert_eq!(case("Stop", "").marked(&ON_FAILURE_IGNORED), ["\"onFailure\": \"block\""]);
        assert_eq!(case("PreToolUse", ", \"async\": true").marked(&ON_FAILURE_IGNORED).len(), 1);
        assert!(case("PreToolUse", "").marked(&ON_FAILURE_IGNORED).is_empty());
        let old = case("PreToolUse", "").on_client("2.1.197").messages(&ON_FAILURE_IGNORED);
        assert!(old[0].starts_with("client 2.1.197 does not know"), "{old:?}");
    }
}
