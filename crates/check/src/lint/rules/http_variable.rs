//! Variables in the headers of an HTTP hook that the client does not fill in.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding, SourceNode};

lint_rule! {
    /// A header names a variable that `allowedEnvVars` does not list, so the header is sent without it.
    ///
    /// The client replaces `$NAME` and `${NAME}` in headers only for the variables that the hook lists. Others become an empty
    /// text, and a request with an empty token is refused.
    ///
    /// ```json
    /// { "hooks": { "Stop": [{ "hooks": [{ "type": "http", "url": "https://log.example.com/stop",
    ///   "headers": { "Authorization": "Bearer $LOG_TOKEN" } }] }] } }
    /// ```
    ///
    /// Write `"allowedEnvVars": ["LOG_TOKEN"]` beside the headers.
    HTTP_VARIABLE = "http-variable", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for handler in file.handlers().filter(|handler| handler.is_type("http")) {
            let allowed = handler.node.get("allowedEnvVars").map_or(&[][..], SourceNode::items);
            let allowed: Vec<&str> = allowed.iter().filter_map(SourceNode::text).collect();
            let headers = handler.node.get("headers").map_or(&[][..], SourceNode::members);
            for header in headers {
                let names = header.node.text().map(variable_names).unwrap_or_default();
                for name in names.into_iter().filter(|name| !allowed.contains(name)) {
                    let message = format!(
                        "`allowedEnvVars` does not list {name}: the header is sent without it"
                    );
                    let help = format!("write \"allowedEnvVars\": [\"{name}\"] beside the headers");
                    findings.push(LintFinding::new(
                        &HTTP_VARIABLE,
                        index,
                        header.range(),
                        message,
                        help,
                    ));
                }
            }
        }
    }
}

/// Returns the names of `$NAME` and `${NAME}` in a text.
fn variable_names(text: &str) -> Vec<&str> {
    let parts = text.split('$').skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let name = &rest[..end];
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(name)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::{HTTP_VARIABLE, variable_names};
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_variables_that_are_not_listed() {
        let case = |more: &str| {
            LintCase::settings(&format!(
                r#"{{"hooks": {{"Stop": [{{"hooks": [{{"type": "http", "url": "https://a.example", "headers": {{"A": "Bearer $TOKEN"}}{more}}}]}}]}}}}"#
            ))
        };
        assert_eq!(case("").marked(&HTTP_VARIABLE), ["\"A\": \"Bearer $TOKEN\""]);
        assert!(case(r#", "allowedEnvVars": ["TOKEN"]"#).marked(&HTTP_VARIABLE).is_empty());
        assert_eq!(variable_names("$A-${B_1}x$ 5$"), ["A", "B_1"]);
    }
}
