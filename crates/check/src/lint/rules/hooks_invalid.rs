//! A `hooks` value that is no object of events.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::HookFaultKind;

lint_rule! {
    /// `hooks` is not an object of events, so no hook of the file runs.
    ///
    /// ```json
    /// { "hooks": [{ "event": "Stop", "command": "./check.sh" }] }
    /// ```
    ///
    /// The client skips the whole file if `hooks` is an array with an object in it, and only `hooks` otherwise.
    HOOKS_INVALID = "hooks-invalid", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for (fault, at) in file.hook_faults() {
            let HookFaultKind::HooksNotObject { found } = fault.kind else { continue };
            let message = format!(
                "`hooks` must be an object of events, not {found}; {}",
                file.skip_note(fault)
            );
            let help = "write \"hooks\": { \"EVENT\": [ { \"hooks\": [ … ] } ] }";
            let range = file.node_at(at).map_or(at..at, |node| node.range.clone());
            findings.push(
                LintFinding::new(&HOOKS_INVALID, index, range, message, help)
                    .voiding_file(fault.skips_file),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::HOOKS_INVALID;
    use crate::lint::testing::LintCase;

    #[test]
    fn array_of_objects_voids_file() {
        let messages = |text| LintCase::settings(text).messages(&HOOKS_INVALID);
        assert!(messages(r#"{"hooks": [{}]}"#)[0].contains("skips the whole file"));
        assert!(messages(r#"{"hooks": []}"#)[0].ends_with("the client skips it"));
        assert!(messages(r#"{"hooks": {}}"#).is_empty());
    }
}
