//! Text before the JSON of an answer.

use crate::lint::rule::lint_rule;
use crate::lint::{LintContext, LintFinding};

lint_rule! {
    /// A script prints text before its JSON, so the client does not read the JSON.
    ///
    /// The client parses stdout as a whole. With a line of text before the object, everything is plain text: a denial is
    /// lost, and on some events the raw JSON goes to the model.
    ///
    /// ```sh
    /// echo "checking…"
    /// echo '{"decision": "block", "reason": "tests fail"}'
    /// ```
    ///
    /// Write messages to stderr: `echo "checking…" >&2`.
    OUTPUT_BEFORE_JSON = "output-before-json", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    let message =
        "this text is printed before the JSON answer, so the client does not read the answer";
    let help = "write it to stderr: >&2";
    for reading in &context.commands {
        for noise in &reading.report.inline.noise {
            let range = reading.range_in_file(&context.files, None, &noise.range);
            findings.push(LintFinding::new(
                &OUTPUT_BEFORE_JSON,
                reading.file,
                range,
                message,
                help,
            ));
        }
    }
    for script in &context.scripts {
        for noise in &script.report.noise {
            let range = noise.range.clone();
            findings.push(LintFinding::new(&OUTPUT_BEFORE_JSON, script.file, range, message, help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::OUTPUT_BEFORE_JSON;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_text_before_answers() {
        let case = |first: &str| {
            LintCase::command("Stop", "\"command\": \"\\\"$CLAUDE_PROJECT_DIR\\\"/a.sh\"").with_text(
                "a.sh!",
                &format!("#!/bin/sh\n{first}\necho '{{\"decision\": \"block\", \"reason\": \"x\"}}'\n"),
            )
        };
        assert_eq!(case("echo checking").marked(&OUTPUT_BEFORE_JSON), ["echo checking"]);
        assert!(case("echo checking >&2").marked(&OUTPUT_BEFORE_JSON).is_empty());
    }
}
