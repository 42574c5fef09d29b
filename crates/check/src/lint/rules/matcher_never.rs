//! Matchers that match nothing.

use rutter_contract::spec::MatcherValues;
use rutter_contract::table;

use crate::lint::rule::lint_rule;
use crate::lint::{GroupNode, LintContext, LintFile, LintFinding, SourceMember};
use crate::matcher::{IF_EVENTS, IfRule, Matcher, MatcherReach, NameState, NeverReason};
use crate::text_edit::TextEdit;

lint_rule! {
    /// A matcher matches no value that the event can have, so its hooks never run.
    ///
    /// A list names values exactly, with upper and lower case. These forms match nothing:
    ///
    /// - permission rules: `Bash(git *)` is a regular expression here. Write the tool as matcher and the rule as `if` of the
    ///   hook.
    /// - another case: `bash`, `edit|write`.
    /// - tools that the client no longer has: `MultiEdit`, `LS`, `NotebookRead`.
    /// - a whole MCP server: `mcp__github`. Write `mcp__github__.*`.
    /// - names with a space: `Bash Edit`. Write `Bash|Edit`.
    /// - paths, conditions and negations: `Edit:*.py`, `src/`, `tool == "Bash"`, `!Bash`.
    /// - values of another event: `resume` on SessionEnd's `reason` does exist, `startup` does not.
    ///
    /// ```json
    /// { "hooks": { "PreToolUse": [{ "matcher": "Bash(git push *)", "hooks": [{ "type": "command", "command": "./guard.sh" }] }] } }
    /// ```
    ///
    /// `--fix` corrects the case, writes `mcp__github__.*`, and moves one permission rule into `if`. Names of MCP tools, agents
    /// and commands that the linter cannot know are not reported.
    MATCHER_NEVER = "matcher-never", Error, check
}

fn check(context: &LintContext<'_>, findings: &mut Vec<LintFinding>) {
    for (index, file) in context.files.iter().enumerate() {
        for group in file.groups() {
            let Some(member) = group.node.member("matcher") else { continue };
            let Some(text) = member.node.text() else { continue };
            let spec = table::event_spec(group.event);
            let Some(read) = context.matcher(group.event, text) else { continue };
            let matcher = &read.matcher;
            let is_tools = matches!(spec.matcher.values, MatcherValues::Tools);
            let is_rule = is_tools && is_permission_rule(text);
            let (message, help) = match read.reach {
                MatcherReach::Maybe if is_rule => (
                    format!(
                        "`{text}` is a permission rule: as a matcher it matches no tool, and the hooks never run"
                    ),
                    "write the tool as matcher, and one rule as `if` of each hook".to_owned(),
                ),
                MatcherReach::Maybe if is_tools && needs_foreign_sign(text) => (
                    format!("`{text}` matches no tool: names of tools have letters, digits, `_` and `-` only"),
                    "separate names with `|`; filter commands and paths with `if` or inside the hook".to_owned(),
                ),
                MatcherReach::Maybe if is_tools && is_path_rule(text) => (
                    format!("`{text}` matches no tool of the client: a matcher has no paths"),
                    "write the tools as matcher, and filter paths with `if`, such as `Edit(*.py)`".to_owned(),
                ),
                MatcherReach::Never(NeverReason::NoNames) => (
                    "this matcher names nothing: its hooks never run".to_owned(),
                    "write `*`, or remove the matcher, to match every value".to_owned(),
                ),
                MatcherReach::Never(NeverReason::NoPossibleName) => describe_names(matcher, group),
                MatcherReach::Never(NeverReason::NoListedValue) => (
                    format!(
                        "no value of {} matches: the hooks never run",
                        spec.matcher.label().unwrap_or_default()
                    ),
                    "`rutter contract events` lists the values of each event".to_owned(),
                ),
                _ => continue,
            };
            let finding =
                LintFinding::new(&MATCHER_NEVER, index, member.node.range.clone(), message, help);
            let edits = if is_rule {
                rule_edits(text, member, group, file)
            } else {
                name_edits(matcher, member)
            };
            findings.push(match edits {
                Some(edits) => finding.with_edits(edits),
                None => finding,
            });
        }
    }
}

/// Returns true for `Tool(content)`.
pub(super) fn is_permission_rule(text: &str) -> bool {
    let Some((name, rest)) = text.trim().split_once('(') else { return false };
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric());
    is_name && rest.ends_with(')') && !rest.starts_with('?')
}

/// Returns true for a list of `Tool:pattern`, in which each pattern is a path with `*`.
fn is_path_rule(text: &str) -> bool {
    text.split('|').all(|rule| {
        rule.trim().split_once(':').is_some_and(|(name, pattern)| {
            let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.chars().all(|c| c.is_ascii_alphanumeric());
            let is_path = pattern
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '*' | '.' | '/' | '_' | '-'));
            is_name && is_path && pattern.starts_with('*') && pattern.contains('.')
        })
    })
}

/// Returns true if every text that an expression matches has a character that no name of a tool has. Reads only
/// characters outside of groups and classes, and gives up at whatever it does not know.
fn needs_foreign_sign(pattern: &str) -> bool {
    let (mut depth, mut in_class) = (0_usize, false);
    let mut needs = vec![false];
    let mut signs = pattern.chars().peekable();
    while let Some(sign) = signs.next() {
        let escaped = sign == '\\';
        let literal = if escaped { signs.next().unwrap_or_default() } else { sign };
        match sign {
            '[' if !in_class => in_class = true,
            ']' if in_class => in_class = false,
            _ if in_class => {}
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => needs.push(false),
            _ => {
                let is_foreign = "/!&=;<>@#%~\"'` ,".contains(literal);
                let is_optional = matches!(signs.peek(), Some('?' | '*' | '{'));
                if depth == 0
                    && is_foreign
                    && !is_optional
                    && let Some(last) = needs.last_mut()
                {
                    *last = true;
                }
            }
        }
    }
    depth == 0 && !in_class && needs.iter().all(|needs| *needs)
}

/// Describes a list in which no name can match.
fn describe_names(matcher: &Matcher, group: GroupNode<'_>) -> (String, String) {
    let states = matcher.name_states();
    let (mut reasons, mut helps) = (Vec::new(), Vec::new());
    for (name, state) in &states {
        let (reason, help) = describe_name(name, *state, group);
        reasons.push(reason);
        if !helps.contains(&help) {
            helps.push(help);
        }
    }
    (format!("{}: the hooks never run", reasons.join("; ")), helps.join("; "))
}

/// Describes a name that never matches.
pub(super) fn describe_name(
    name: &str,
    state: NameState,
    group: GroupNode<'_>,
) -> (String, String) {
    let nearest = |nearest: Option<&str>| match nearest {
        Some(nearest) => format!("write `{nearest}`"),
        None => "`rutter contract events` lists the values of each event".to_owned(),
    };
    match state {
        NameState::Retired { instead } => {
            let help = instead
                .map_or_else(|| format!("remove `{name}`"), |instead| format!("write `{instead}`"));
            (format!("the client has no tool `{name}` any more"), help)
        }
        NameState::WrongCase(right) => {
            (format!("`{name}` does not match `{right}`: case counts"), format!("write `{right}`"))
        }
        NameState::WholeServer => (
            format!("`{name}` is an exact name, and no tool has it"),
            format!("write `{}` to match all tools that begin so", server_pattern(name)),
        ),
        NameState::Impossible => {
            (format!("`{name}` is one name with a space"), "separate names with `|`".to_owned())
        }
        NameState::NotListed { nearest: near } => {
            (format!("{} never has the value `{name}`", group.event), nearest(near))
        }
        NameState::Known(_) | NameState::Renamed(_) | NameState::Unknown { .. } => {
            (format!("`{name}` may match"), String::new())
        }
    }
}

/// Returns the pattern that matches every tool of a server, or of all servers for `mcp__`.
fn server_pattern(name: &str) -> String {
    if name.ends_with("__") { format!("{name}.*") } else { format!("{name}__.*") }
}

/// Returns the edit that corrects the names of a list, if each wrong one has one correction.
pub(super) fn name_edits(matcher: &Matcher, member: &SourceMember) -> Option<Vec<TextEdit>> {
    let states = matcher.name_states();
    let mut names = Vec::new();
    for (name, state) in &states {
        names.push(match state {
            NameState::WrongCase(right) => (*right).to_owned(),
            // One pattern in a list makes the whole list a regular expression, so only a name alone is certain.
            NameState::WholeServer if states.len() == 1 => server_pattern(name),
            state if !state.never_matches() => (*name).to_owned(),
            _ => return None,
        });
    }
    if names.is_empty() {
        return None;
    }
    let text = serde_json::to_string(&names.join("|")).ok()?;
    Some(vec![TextEdit { range: member.node.range.clone(), text }])
}

/// Returns the edits that make one permission rule the `if` of each hook of the group.
fn rule_edits(
    text: &str,
    member: &SourceMember,
    group: GroupNode<'_>,
    file: &LintFile,
) -> Option<Vec<TextEdit>> {
    let rule = text.trim();
    let (tool, content) = rule.split_once('(')?;
    let is_one = !content.contains('|') && IF_EVENTS.contains(&group.event);
    let newest = rutter_contract::version::Contract::newest();
    if !is_one || IfRule::parse(rule).find_fault(group.event, newest).is_some() {
        return None;
    }
    let mut edits =
        vec![TextEdit { range: member.node.range.clone(), text: format!("\"{tool}\"") }];
    let rule = serde_json::to_string(rule).ok()?;
    for handler in group.node.get("hooks")?.items() {
        if handler.get("if").is_some() || handler.members().is_empty() {
            return None;
        }
        edits.push(file.prepend_member(handler, &format!("\"if\": {rule}"))?);
    }
    edits.sort_by_key(|edit| edit.range.start);
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::MATCHER_NEVER;
    use crate::lint::testing::LintCase;

    #[test]
    fn finds_matchers_without_value() {
        for matcher in [
            "Bash(pytest|npm test)",
            "Bash(git *)",
            "bash",
            "MultiEdit",
            "mcp__github",
            "Bash Edit",
            "Edit:*.py|Write:*.py",
            "|",
            "LS|NotebookRead",
        ] {
            let case = LintCase::matcher("PreToolUse", matcher);
            assert_eq!(case.marked(&MATCHER_NEVER), [format!("\"{matcher}\"")], "{matcher}");
        }
        for matcher in [
            "Edit/Write",
            "!Bash",
            "tool == 'Bash' && x",
            "src/.*",
            "Edit, Write & Read",
            "!(Edit|Write)",
        ] {
            assert_eq!(
                LintCase::matcher("PreToolUse", matcher).marked(&MATCHER_NEVER).len(),
                1,
                "{matcher}"
            );
        }
        assert_eq!(LintCase::matcher("SessionStart", "start").marked(&MATCHER_NEVER).len(), 1);
        assert_eq!(LintCase::matcher("PreCompact", "^automatic$").marked(&MATCHER_NEVER).len(), 1);
    }

    #[test]
    fn certain_matchers_are_fixed() {
        let fixed = |matcher| LintCase::matcher("PreToolUse", matcher).fixed(&MATCHER_NEVER);
        assert!(fixed("edit|WRITE").contains("\"matcher\": \"Edit|Write\""));
        assert!(fixed("mcp__github").contains("\"matcher\": \"mcp__github__.*\""));
        assert!(fixed("mcp__").contains("\"matcher\": \"mcp__.*\""));
        let rule = fixed("Bash(git push *)");
        assert!(rule.contains("\"matcher\": \"Bash\""), "{rule}");
        assert!(rule.contains("{\"if\": \"Bash(git push *)\", \"type\""), "{rule}");
        assert!(fixed("MultiEdit").contains("\"MultiEdit\""));
    }

    #[test]
    fn possible_matchers_are_clean() {
        for (event, matcher) in [
            ("PreToolUse", "Bash"),
            ("PreToolUse", "Edit|MultiEdit"),
            ("PreToolUse", "Task"),
            ("PreToolUse", "mcp__github__.*"),
            ("PreToolUse", "mcp__.*__write.*"),
            ("PreToolUse", "^(?!Bash)"),
            ("PreToolUse", "(Edit|Write)"),
            ("PreToolUse", "Edit/?|Write"),
            ("PreToolUse", "mcp__x__(a/b)?c"),
            ("FileChanged", "src/main.rs"),
            ("SubagentStop", "my-reviewer"),
            ("FileChanged", "package.json|.env"),
            ("SessionStart", "startup|resume"),
            ("Notification", "permission_prompt"),
            ("Stop", "bash"),
        ] {
            assert!(
                LintCase::matcher(event, matcher).marked(&MATCHER_NEVER).is_empty(),
                "{event} {matcher}"
            );
        }
    }
}
