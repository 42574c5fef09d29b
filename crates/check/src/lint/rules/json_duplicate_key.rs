//! Keys that occur twice in one object.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::{DuplicateKey, SettingsFault};

lint_rule! {
    /// A key occurs twice in an object, so the client ignores the first one.
    ///
    /// Two blocks of `PreToolUse`, or two `hooks`, are not joined: the last one counts, and the hooks of the first never run.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "./a.sh" }] }],
    ///              "Stop": [{ "hooks": [{ "type": "command", "command": "./b.sh" }] }] } }
    /// ```
    ///
    /// Join the two values. The rule looks at the whole file, at `hooks` and `env`.
    JSON_DUPLICATE_KEY = "json-duplicate-key", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for fault in &file.faults {
            let SettingsFault::DuplicateKey(DuplicateKey { key, second, .. }) = fault else {
                continue;
            };
            let message =
                format!("`{key}` occurs a second time here, and the client ignores the first one");
            let help = "join the two values under one key";
            let end = second.start + file.text.get(second.clone()).map_or(0, key_length);
            findings.push(LintFinding::new(
                &JSON_DUPLICATE_KEY,
                index,
                second.start..end,
                message,
                help,
            ));
        }
    }
}

/// Returns the length of the key at the start of a member.
fn key_length(member: &str) -> usize {
    member.find(':').map_or(member.len(), |colon| member[..colon].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::JSON_DUPLICATE_KEY;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_second_occurrence() {
        let text = r#"{"hooks": {"Stop": [], "PreCompact": [], "Stop": []}}"#;
        assert_eq!(LintCase::settings(text).all(), ["json-duplicate-key 1:42"]);
        assert_eq!(LintCase::settings(text).marked(&JSON_DUPLICATE_KEY), ["\"Stop\""]);
        assert!(LintCase::settings(r#"{"a": {"x": 1}, "b": {"x": 1}}"#).all().is_empty());
    }
}
