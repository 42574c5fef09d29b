//! HTTP hooks that the settings do not allow.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};
use crate::settings::LayerState;

lint_rule! {
    /// `allowedHttpHookUrls` does not allow the URL of an HTTP hook, so the client does not send the request.
    ///
    /// If any settings file has this list, the client sends requests only to URLs that a pattern of one of the lists matches.
    /// `*` stands for any text.
    ///
    /// ```json
    /// { "allowedHttpHookUrls": ["https://audit.example.com/*"],
    ///   "hooks": { "Stop": [{ "hooks": [{ "type": "http", "url": "https://log.example.com/stop" }] }] } }
    /// ```
    ///
    /// Add the URL to the list, or correct it.
    HTTP_BLOCKED = "http-blocked", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let read = context
        .files
        .iter()
        .filter(|file| file.state == LayerState::Read && file.whose.has_settings());
    let lists: Vec<_> = read.filter_map(|file| file.get("allowedHttpHookUrls")).collect();
    if lists.is_empty() {
        return;
    }
    let patterns: Vec<&str> =
        lists.iter().flat_map(|list| list.items()).filter_map(|item| item.text()).collect();
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("http")) {
            let Some(member) = handler.node.member("url") else { continue };
            let Some(url) = member.node.text() else { continue };
            if !patterns.iter().any(|pattern| matches_pattern(pattern, url)) {
                let message = "no pattern of `allowedHttpHookUrls` matches this URL: the client does not send the request";
                let help = "add the URL to `allowedHttpHookUrls`, or correct it";
                findings.push(LintFinding::new(
                    &HTTP_BLOCKED,
                    index,
                    member.range(),
                    message,
                    help,
                ));
            }
        }
    }
}

/// Returns true if a text matches a pattern in which `*` stands for any text.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::{HTTP_BLOCKED, matches_pattern};
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_urls_outside_the_list() {
        let case = |list: &str| {
            LintCase::settings(&format!(
                r#"{{{list} "hooks": {{"Stop": [{{"hooks": [{{"type": "http", "url": "https://a.example/stop"}}]}}]}}}}"#
            ))
        };
        assert_eq!(
            case(r#""allowedHttpHookUrls": ["https://b.example/*"],"#).marked(&HTTP_BLOCKED).len(),
            1
        );
        assert!(
            case(r#""allowedHttpHookUrls": ["https://a.example/*"],"#)
                .marked(&HTTP_BLOCKED)
                .is_empty()
        );
        assert!(case("").marked(&HTTP_BLOCKED).is_empty());
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(matches_pattern("https://*.x/*/y", "https://a.x/b/c/y"));
        assert!(matches_pattern("a", "a") && !matches_pattern("a", "ab"));
        assert!(!matches_pattern("https://*.x/", "https://a.y/"));
    }
}
