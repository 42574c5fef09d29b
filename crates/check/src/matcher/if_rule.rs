//! The `if` rule of a handler: one permission rule, `Tool` or `Tool(content)`.

use rutter_contract::EventName;
use rutter_contract::version::Contract;

use super::names::{NameState, current_tool_name, tool_names, tool_state};

/// The events on which an `if` rule is evaluated. On every other event a handler with a rule never runs.
pub const IF_EVENTS: [EventName; 5] = [
    EventName::PreToolUse,
    EventName::PostToolUse,
    EventName::PostToolUseFailure,
    EventName::PermissionRequest,
    EventName::PermissionDenied,
];

/// The tools that compare the content of a rule with a call. The newer client also has `Monitor`.
/// A rule with content for any other tool never matches.
const CONTENT_TOOLS: [&str; 8] =
    ["Bash", "Edit", "Glob", "Grep", "NotebookEdit", "PowerShell", "Read", "Write"];

/// An `if` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IfRule {
    /// The text is empty: the handler has no rule.
    Empty,
    /// One tool, and the content that a call must have.
    Tool {
        /// The tool as written.
        name: String,
        /// The text in the parentheses; `None` without parentheses, and for `()` and `(*)`, which match every call.
        content: Option<String>,
    },
    /// A text with parentheses that the client cannot read. It never matches.
    Malformed(IfFault),
}

/// The reason for which a handler with an `if` rule never runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfFault {
    /// The client does not evaluate rules on this event.
    WrongEvent,
    /// The text names several tools. A rule has one; two handlers with the same command can have two rules.
    ToolList,
    /// A parenthesis has no partner.
    UnbalancedParentheses,
    /// Text follows the closing parenthesis.
    TextAfterContent,
    /// The text starts with a parenthesis.
    NoTool,
    /// The name has spaces around it or inside it.
    SpaceInName,
    /// The name has a `*`. Rules name one tool exactly.
    WildcardInName,
    /// No tool has this name, for the reason given.
    ImpossibleTool(NameState),
    /// The tool does not compare contents of rules.
    ToolWithoutContent,
}

impl IfRule {
    /// Parses the `if` of a handler.
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::Empty;
        }
        let open = find_unescaped(text, '(', false);
        let close = find_unescaped(text, ')', true);
        let (open, close) = match (open, close) {
            (None, None) => return Self::Tool { name: text.to_owned(), content: None },
            (Some(open), Some(close)) if open < close => (open, close),
            _ => return Self::Malformed(IfFault::UnbalancedParentheses),
        };
        if close + 1 != text.len() {
            let rest = text[close + 1..].trim_start();
            let is_list = rest.starts_with(['|', ',', '&']);
            let fault = if is_list { IfFault::ToolList } else { IfFault::TextAfterContent };
            return Self::Malformed(fault);
        }
        let name = &text[..open];
        if name.is_empty() {
            return Self::Malformed(IfFault::NoTool);
        }
        if name.contains(['(', ')']) {
            return Self::Malformed(IfFault::UnbalancedParentheses);
        }
        let content = &text[open + 1..close];
        let is_any = content.is_empty() || content == "*";
        Self::Tool { name: name.to_owned(), content: (!is_any).then(|| content.to_owned()) }
    }

    /// Returns the reason for which a handler with this rule never runs on an event, or `None` if it may run.
    pub fn find_fault(&self, event: EventName, contract: Contract) -> Option<IfFault> {
        let (name, content) = match self {
            Self::Empty => return None,
            Self::Malformed(_) | Self::Tool { .. } if !IF_EVENTS.contains(&event) => {
                return Some(IfFault::WrongEvent);
            }
            Self::Malformed(fault) => return Some(*fault),
            Self::Tool { name, content } => (name, content),
        };
        if name.contains(['|', ',']) || content.as_deref().is_some_and(has_second_rule) {
            return Some(IfFault::ToolList);
        }
        if name.contains(char::is_whitespace) {
            return Some(IfFault::SpaceInName);
        }
        if name.contains('*') {
            return Some(IfFault::WildcardInName);
        }
        let known = tool_names(contract);
        let current = current_tool_name(name, contract);
        if !known.contains(&current)
            && let Some(state) = tool_state(current, &known, contract)
        {
            return Some(IfFault::ImpossibleTool(state));
        }
        let compares_content = CONTENT_TOOLS.contains(&current)
            || current == "Monitor" && contract.has(Contract::NEWEST);
        let is_judged = known.contains(&current) || current.starts_with("mcp__");
        (content.is_some() && is_judged && !compares_content).then_some(IfFault::ToolWithoutContent)
    }
}

/// Returns true if the text between the first and the last parenthesis has the end of a rule and the start of another:
/// `git *) || Edit(*.ts`. The client takes all of it as the content of the first.
fn has_second_rule(content: &str) -> bool {
    content.match_indices(')').any(|(at, _)| {
        let rest = content[at + 1..].trim_start();
        let start = rest.trim_start_matches(['|', ',', '&', ' ']);
        let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
        let second = start.split('(').next().filter(|second| second.len() < start.len());
        // Only a name in the form of a tool: a command may have ` || ` between parentheses too.
        rest.len() > start.len()
            && second.is_some_and(|name| {
                name.starts_with(|sign: char| sign.is_ascii_uppercase())
                    && name.chars().all(is_name)
            })
    })
}

/// Returns the first or last position of a parenthesis that has no odd number of backslashes before it.
fn find_unescaped(text: &str, sign: char, last: bool) -> Option<usize> {
    let is_plain =
        |at: &usize| text[..*at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0;
    let mut places = text.match_indices(sign).map(|(at, _)| at).filter(is_plain);
    if last { places.next_back() } else { places.next() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Option<IfFault> {
        IfRule::parse(text).find_fault(EventName::PreToolUse, Contract::newest())
    }

    #[test]
    fn readable_rules_have_no_fault() {
        for text in [
            "",
            "Bash",
            "Bash(git *)",
            "Bash(*)",
            "Bash()",
            r"Bash(echo \(x\))",
            "Bash(a (b) c)",
            "Bash(a $(b) || c (d))",
            "Edit(*.ts)",
            "Task",
            "Agent(*)",
            "mcp__srv__tool",
            "NewTool",
            "NewTool(x)",
            "Monitor(echo *)",
        ] {
            assert_eq!(fault(text), None, "{text}");
        }
    }

    #[test]
    fn faults_name_their_cause() {
        for (text, expected) in [
            ("Bash|Read", IfFault::ToolList),
            ("Bash||Read", IfFault::ToolList),
            ("Bash,Read", IfFault::ToolList),
            ("Bash(git *)|Read", IfFault::ToolList),
            ("Bash(git *) || Edit(*.ts)", IfFault::ToolList),
            ("Bash(a),Read(b),Edit(c)", IfFault::ToolList),
            ("Bash(git", IfFault::UnbalancedParentheses),
            ("Bash)", IfFault::UnbalancedParentheses),
            (")(", IfFault::UnbalancedParentheses),
            (r"Bash\(x)", IfFault::UnbalancedParentheses),
            ("Bash(git *)x", IfFault::TextAfterContent),
            ("(git *)", IfFault::NoTool),
            (" Bash", IfFault::SpaceInName),
            ("Bash (git *)", IfFault::SpaceInName),
            ("   ", IfFault::SpaceInName),
            ("mcp__srv__*", IfFault::WildcardInName),
            ("bash(git *)", IfFault::ImpossibleTool(NameState::WrongCase("Bash"))),
            ("MultiEdit", IfFault::ImpossibleTool(NameState::Retired { instead: Some("Edit") })),
            ("mcp__srv", IfFault::ImpossibleTool(NameState::WholeServer)),
            ("WebFetch(domain:example.com)", IfFault::ToolWithoutContent),
            ("Task(Explore)", IfFault::ToolWithoutContent),
            ("mcp__srv__tool(x)", IfFault::ToolWithoutContent),
        ] {
            assert_eq!(fault(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn contents_of_any_call_are_none() {
        let parsed = |text| match IfRule::parse(text) {
            IfRule::Tool { name, content } => (name, content),
            other => panic!("{other:?}"),
        };
        assert_eq!(parsed("Bash(git *)"), ("Bash".to_owned(), Some("git *".to_owned())));
        for text in ["Bash", "Bash()", "Bash(*)"] {
            assert_eq!(parsed(text), ("Bash".to_owned(), None), "{text}");
        }
    }

    #[test]
    fn other_events_never_run_rules() {
        for event in EventName::ALL {
            let wrong = (!IF_EVENTS.contains(&event)).then_some(IfFault::WrongEvent);
            assert_eq!(IfRule::parse("Bash").find_fault(event, Contract::newest()), wrong);
            assert_eq!(IfRule::parse("").find_fault(event, Contract::newest()), None);
        }
    }
}
