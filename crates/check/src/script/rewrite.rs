//! Answers with `updatedInput`, whatever their values are.
//!
//! An answer that a program computes has no literal, but its keys are certain.

use super::shell::{Part, SimpleCommand};
use super::tokens::Tokens;

const REWRITE_KEY: &str = "updatedInput";

/// Programs that print a text or an object that their words or here-documents contain.
const PRINTING_COMMANDS: [&str; 4] = ["jq", "echo", "printf", "cat"];

/// Returns true if a shell command prints an object with `updatedInput`.
pub(super) fn prints_rewrite(source: &str, command: &SimpleCommand) -> bool {
    let is_printing = command.name().is_some_and(|name| PRINTING_COMMANDS.contains(&name.as_str()));
    let mut parts = command.words.iter().flat_map(|word| &word.parts);
    let bodies = command.redirects.iter().filter_map(|redirect| redirect.heredoc.as_ref());
    is_printing
        && (parts.any(|part| matches!(part, Part::Text { text, .. } if has_key(text)))
            || bodies.filter_map(|heredoc| source.get(heredoc.body.clone())).any(has_key))
}

/// Returns true if a program in Python or JavaScript builds an object with `updatedInput`, and prints JSON.
pub(super) fn builds_rewrite(tokens: &Tokens<'_>) -> bool {
    let count = tokens.tokens.len();
    let prints = (0..count).any(|at| {
        [
            &["JSON", ".", "stringify", "("][..],
            &["json", ".", "dumps", "("],
            &["json", ".", "dump", "("],
        ]
        .iter()
        .any(|call| tokens.has_sequence(at, call))
    });
    prints
        && (0..count).any(|at| {
            let is_key = tokens.plain_text(at) == Some(REWRITE_KEY) || tokens.is(at, REWRITE_KEY);
            let is_member = tokens.is(at + 1, "]") && tokens.is(at + 2, "=");
            let is_property = at > 0 && tokens.is(at - 1, ".") && tokens.is(at + 1, "=");
            is_key && (tokens.is(at + 1, ":") || is_member || is_property)
        })
}

/// Returns true if a text has the key in an object.
fn has_key(text: &str) -> bool {
    text.split(REWRITE_KEY).skip(1).any(|rest| {
        let rest = rest.strip_prefix("\\\"").unwrap_or(rest);
        rest.trim_start_matches(['"', ' ']).starts_with(':')
    })
}

#[cfg(test)]
mod tests {
    use crate::script::{ScriptContext, ScriptLanguage, read_script};

    #[test]
    fn computed_rewrites_are_found() {
        use ScriptLanguage as L;
        for (language, text, expected) in [
            (L::Sh, "jq -c '{hookSpecificOutput: {updatedInput: (.tool_input | .a = 1)}}'", true),
            (L::Sh, "cat <<END\n{\"hookSpecificOutput\": {\"updatedInput\": $input}}\nEND\n", true),
            (L::Sh, "jq -r '.hookSpecificOutput.updatedInput'", false),
            (L::Sh, "jq -c '{updatedInput: .a}' > log", false),
            (L::Sh, "# prints updatedInput: never\ntrue", false),
            (L::Python, "print(json.dumps({'updatedInput': new_input}))", true),
            (L::Python, "out['updatedInput'] = x\njson.dump(out, sys.stdout)", true),
            (L::Python, "x = data['updatedInput']\nprint(json.dumps(x))", false),
            (L::JavaScript, "console.log(JSON.stringify({updatedInput: next}))", true),
            (L::JavaScript, "out.updatedInput = next; console.log(JSON.stringify(out))", true),
            (L::JavaScript, "const a = JSON.stringify(b.updatedInput);", false),
        ] {
            let report = read_script(text, language, &ScriptContext::default());
            assert_eq!((report.is_read, report.rewrites_input), (true, expected), "{text}");
        }
    }
}
