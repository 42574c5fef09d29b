//! `hooks` inside `hooks`.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// `hooks` stands twice, one inside the other, so no hook of the file runs.
    ///
    /// Settings and the `hooks.json` of a plugin have the same form: one `hooks` with the events in it.
    ///
    /// ```json
    /// { "hooks": { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } } }
    /// ```
    ///
    /// `--fix` removes the outer one.
    WRAPPER_DOUBLED = "wrapper-doubled", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        let Some(outer) = file.get("hooks") else { continue };
        let Some(inner) = outer.member("hooks").filter(|inner| inner.node.is_object()) else {
            continue;
        };
        let voids_file = file.hook_faults().any(|(fault, _)| fault.skips_file);
        let message = "`hooks` stands inside `hooks`: the client finds no event, and no hook runs";
        let finding = LintFinding::new(
            &WRAPPER_DOUBLED,
            index,
            inner.key_range.clone(),
            message,
            "remove one of them",
        )
        .voiding_file(voids_file);
        let alone = outer.members().len() == 1;
        findings.push(match file.text.get(inner.node.range.clone()).filter(|_| alone) {
            Some(text) => finding.with_edit(outer.range.clone(), text),
            None => finding,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::WRAPPER_DOUBLED;
    use crate::lint::testing::LintCase;

    #[test]
    fn inner_hooks_are_kept() {
        let text = r#"{"hooks": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}}"#;
        let case = LintCase::settings(text);
        assert_eq!(case.marked(&WRAPPER_DOUBLED), ["\"hooks\""]);
        let fixed = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
        assert_eq!(case.fixed(&WRAPPER_DOUBLED), fixed);
        assert!(LintCase::settings(fixed).all().is_empty());
    }
}
