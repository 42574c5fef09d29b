//! Matchers on events that have none.

use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A matcher stands on an event that has none, so the hook runs every time.
    ///
    /// Some events, such as UserPromptSubmit and Stop, have nothing that a matcher could be compared with. The client
    /// ignores the matcher and runs the hook on each of these events.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }
    /// ```
    ///
    /// Filter inside the hook, or use an event with a matcher. An empty matcher and `*` are not reported: they say what
    /// happens.
    MATCHER_IGNORED = "matcher-ignored", Warning, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for group in file.groups() {
            let Some(matcher) = group.node.member("matcher") else { continue };
            let is_filter =
                matcher.node.text().is_some_and(|text| !matches!(text, "" | "*" | ".*"));
            if is_filter && table::event_spec(group.event).matcher.field.is_none() {
                let message = format!(
                    "{} has no matcher: the client ignores it, and the hook runs every time",
                    group.event
                );
                let help = "remove the matcher, or filter inside the hook";
                findings.push(LintFinding::new(
                    &MATCHER_IGNORED,
                    index,
                    matcher.range(),
                    message,
                    help,
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MATCHER_IGNORED;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_filters_only() {
        let marked = |event, matcher| LintCase::matcher(event, matcher).marked(&MATCHER_IGNORED);
        assert_eq!(marked("Stop", "Bash"), ["\"matcher\": \"Bash\""]);
        assert_eq!(marked("UserPromptSubmit", "^fix"), ["\"matcher\": \"^fix\""]);
        for (event, matcher) in
            [("Stop", ""), ("Stop", "*"), ("UserPromptSubmit", ".*"), ("PreToolUse", "Bash")]
        {
            assert!(marked(event, matcher).is_empty(), "{event} {matcher}");
        }
    }
}
