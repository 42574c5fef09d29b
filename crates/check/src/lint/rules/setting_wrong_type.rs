//! Settings of the wrong type, for which the client skips the file.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::{SettingsFault, WrongType};

lint_rule! {
    /// A setting has a value of the wrong type, so the client skips the whole file, with its hooks.
    ///
    /// ```json
    /// { "env": "DEBUG=1", "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./check.sh" }] }] } }
    /// ```
    ///
    /// The rule knows the settings for which this was measured on clients 2.1.325 and 2.1.197. Other settings with wrong
    /// values are tolerated by the client and not reported.
    SETTING_WRONG_TYPE = "setting-wrong-type", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for fault in &file.faults {
            let SettingsFault::WrongType(WrongType { key, wanted, found, location }) = fault else {
                continue;
            };
            let at = location.position.map_or(0, |position| file.offset(position));
            let range = file.node_at(at).map_or(at..at, |node| node.range.clone());
            let wanted = wanted.description();
            let message = format!(
                "`{key}` must be {wanted}, not {found}; the client skips the whole file, with its hooks"
            );
            let help = format!("write {wanted}, or remove `{key}`");
            findings.push(
                LintFinding::new(&SETTING_WRONG_TYPE, index, range, message, help)
                    .voiding_file(true),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SETTING_WRONG_TYPE;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_wrong_types() {
        let case = LintCase::settings(r#"{"env": "A=1", "model": "x", "unknown": 1}"#);
        assert_eq!(case.marked(&SETTING_WRONG_TYPE), ["\"A=1\""]);
        assert_eq!(case.all(), ["setting-wrong-type 1:9"]);
    }
}
