use proptest::prelude::*;
use rutter_contract::table::event_spec;
use rutter_contract::version::Version;

use super::*;

fn parse_on(event: EventName, text: &str) -> Matcher {
    Matcher::parse(Some(text), event_spec(event), Contract::newest())
}

fn tools(text: &str) -> Matcher {
    parse_on(EventName::PreToolUse, text)
}

fn oldest() -> Contract {
    Contract::for_client(Contract::MEASURED[0])
}

#[test]
fn empty_and_star_match_all() {
    for text in [None, Some(""), Some("*")] {
        let matcher = Matcher::parse(text, event_spec(EventName::PreToolUse), Contract::newest());
        assert!(matches!(matcher.kind(), MatcherKind::All), "{text:?}");
        assert_eq!(matcher.matches("anything"), Some(true));
        assert_eq!(matcher.reach(), MatcherReach::Every);
    }
}

#[test]
fn ignored_matchers_match_all() {
    let matcher = parse_on(EventName::Stop, "[");
    assert!(matches!(matcher.kind(), MatcherKind::Ignored));
    assert_eq!(matcher.matches("x"), Some(true));
}

#[test]
fn lists_are_exact() {
    let matcher = tools(" Edit , Write|Bash|");
    assert_eq!(matcher.name_states().len(), 3);
    for (name, expected) in
        [("Edit", true), ("Bash", true), ("NotebookEdit", false), ("edit", false)]
    {
        assert_eq!(matcher.matches(name), Some(expected), "{name}");
    }
    assert_eq!(matcher.reach(), MatcherReach::Known(vec!["Bash", "Edit", "Write"]));
}

#[test]
fn patterns_are_not_anchored() {
    for text in [".*Edit", "Edit.*", "(Edit)"] {
        let reach = tools(text).reach();
        assert_eq!(reach, MatcherReach::Known(vec!["Edit", "NotebookEdit"]), "{text}");
    }
    let reach = tools(r"\bEdit\b").reach();
    assert_eq!(reach, MatcherReach::Known(vec!["Edit"]));
    assert_eq!(tools("Bash(git *)").reach(), MatcherReach::Maybe);
}

#[test]
fn patterns_have_javascript_syntax() {
    for (text, expected) in [
        ("(?i:bash)", true),
        ("(?<a>Bash)|(?<a>Read)", true),
        ("(?<=B)ash", true),
        (r"\u0042ash", true),
        // Without the `u` flag these are letters.
        (r"\u{42}ash", false),
        (r"\u{0}Bash", true),
        (r"\B\as\h", true),
        (r"\Z", false),
        ("[[:alpha:]]", false),
    ] {
        assert!(matches!(tools(text).kind(), MatcherKind::Pattern(_)), "{text}");
        assert_eq!(tools(text).matches("Bash"), Some(expected), "{text}");
    }
}

#[test]
fn narrow_events_read_commas_as_patterns() {
    for event in [EventName::FileChanged, EventName::StopFailure] {
        for text in ["a,b", "a-b", "a b"] {
            assert!(matches!(parse_on(event, text).kind(), MatcherKind::Pattern(_)), "{text}");
        }
        assert!(matches!(parse_on(event, "a|b").kind(), MatcherKind::Names(_)));
    }
}

#[test]
fn old_tool_names_match() {
    for text in ["Task", "^Task$", "Agent"] {
        assert_eq!(tools(text).matches("Agent"), Some(true), "{text}");
    }
    assert_eq!(tools("Task").name_states(), [("Task", NameState::Renamed("Agent"))]);
    // A payload never has an old name.
    assert_eq!(tools("Task").matches("Task"), Some(false));
}

#[test]
fn task_output_left_with_its_aliases() {
    let spec = event_spec(EventName::PreToolUse);
    for name in ["TaskOutput", "BashOutput"] {
        let old = Matcher::parse(Some(name), spec, oldest());
        assert_eq!(old.matches("TaskOutput"), Some(true));
        assert_eq!(old.reach(), MatcherReach::Known(vec!["TaskOutput"]));
        let new = tools(name);
        assert_eq!(new.reach(), MatcherReach::Never(NeverReason::NoPossibleName));
    }
}

#[test]
fn impossible_names_never_match() {
    for (text, state) in [
        ("MultiEdit", NameState::Retired { instead: Some("Edit") }),
        ("LS", NameState::Retired { instead: None }),
        ("ls", NameState::Retired { instead: None }),
        ("bash", NameState::WrongCase("Bash")),
        ("task", NameState::WrongCase("Task")),
        ("mcp__srv", NameState::WholeServer),
        ("Bash Read", NameState::Impossible),
    ] {
        let matcher = tools(text);
        assert_eq!(matcher.name_states(), [(text, state)]);
        assert_eq!(matcher.reach(), MatcherReach::Never(NeverReason::NoPossibleName), "{text}");
    }
    assert_eq!(tools("Edit|MultiEdit").reach(), MatcherReach::Known(vec!["Edit"]));
    assert_eq!(tools(" |,").reach(), MatcherReach::Never(NeverReason::NoNames));
}

#[test]
fn open_sets_are_maybe() {
    for text in ["mcp__srv__tool", "SomeNewTool", "mcp__.*", "Bsh|mcp__srv"] {
        assert_eq!(tools(text).reach(), MatcherReach::Maybe, "{text}");
    }
    assert_eq!(parse_on(EventName::SubagentStop, "my-agent").reach(), MatcherReach::Maybe);
    let plugin = parse_on(EventName::SubagentStop, "plugin:agent");
    assert_eq!(plugin.matches("plugin:agent"), Some(true));
    assert_eq!(tools("Bsh").name_states(), [("Bsh", NameState::Unknown { nearest: Some("Bash") })]);
}

#[test]
fn closed_lists_are_certain() {
    let sources = |text| parse_on(EventName::SessionStart, text);
    assert_eq!(sources("startup").reach(), MatcherReach::Known(vec!["startup"]));
    let wrong = sources("Startup");
    assert_eq!(wrong.name_states(), [("Startup", NameState::WrongCase("startup"))]);
    assert_eq!(sources("begin").name_states(), [("begin", NameState::NotListed { nearest: None })]);
    assert_eq!(sources("begin.*").reach(), MatcherReach::Never(NeverReason::NoListedValue));
}

#[test]
fn invalid_patterns_never_match() {
    for text in [
        "[", "(?i)bash", "**", "*Edit", "(?P<x>a)", "a++", "+", "Bash|*", "a{2,1}", "[z-a]", r"\b+",
    ] {
        let matcher = tools(text);
        assert!(matches!(matcher.kind(), MatcherKind::InvalidPattern { .. }), "{text}");
        assert_eq!(matcher.reach(), MatcherReach::Never(NeverReason::InvalidPattern));
    }
}

#[test]
fn unjudged_patterns_are_maybe() {
    let long = ".".repeat(MAX_PATTERN_BYTES + 1);
    for text in ["(a+)+!", "(?:a|b)*c", &long] {
        let matcher = tools(text);
        assert!(matches!(matcher.kind(), MatcherKind::Unjudged { .. }), "{:?}", matcher.kind());
        assert_eq!(matcher.matches("Bash"), None);
        assert_eq!(matcher.reach(), MatcherReach::Maybe);
    }
    assert_eq!(tools(".*.*x").matches(&"a".repeat(10_000)), None);
}

#[test]
fn model_ids_lose_their_context_suffix() {
    let models = |text| parse_on(EventName::PreModelSwitch, text);
    for text in ["claude-sonnet-5[1m]", "a|claude-sonnet-5[1M] , b"] {
        assert!(matches!(models(text).kind(), MatcherKind::Names(_)), "{text}");
        assert_eq!(models(text).matches("claude-sonnet-5"), Some(true), "{text}");
    }
    for text in ["claude[1m]x", "[1m]", "é[", "[1m"] {
        assert!(!matches!(models(text).kind(), MatcherKind::Names(_)), "{text}");
    }
    assert!(matches!(tools("a[1m]").kind(), MatcherKind::Pattern(_)));
}

#[test]
fn monitor_calls_run_hooks_for_bash() {
    for (text, expected) in [
        ("Bash", true),
        ("Ba.*", true),
        ("Bash|Monitor", false),
        ("[^E]as", false),
        ("(?!E)Bash", true),
        ("Edit", false),
    ] {
        assert_eq!(tools(text).matches_as_bash(), expected, "{text}");
    }
    assert!(!parse_on(EventName::PostToolUse, "Bash").matches_as_bash());
    let old = Matcher::parse(Some("Bash"), event_spec(EventName::PreToolUse), oldest());
    assert!(!old.matches_as_bash());
}

#[test]
fn tools_differ_between_clients() {
    let [old, new] = [oldest(), Contract::newest()].map(tool_names);
    for name in ["Agent", "Bash", "Edit", "NotebookEdit", "TodoWrite"] {
        assert!(old.contains(&name) && new.contains(&name), "{name}");
    }
    assert!(old.contains(&"TaskOutput") && !new.contains(&"TaskOutput"));
    let between = tool_names(Contract::for_client(Version::new(2, 1, 250)));
    assert!(between.contains(&"TaskOutput") && between.contains(&"SendFeedback"));
}

#[test]
fn aliases_and_families_name_tools() {
    let known = tool_names(Contract::newest());
    for (old, new) in rutter_contract::table::TOOL_ALIASES {
        assert!(known.contains(new) && !known.contains(old), "{old}");
    }
    assert_eq!(tools("Artifact").matches("ArtifactData"), Some(true));
    assert_eq!(tools("ArtifactData").matches("Artifact"), Some(false));
}

proptest! {
    #[test]
    fn parsing_never_panics(text in any::<String>(), value in any::<String>(), event in 0..EventName::ALL.len()) {
        let matcher = parse_on(EventName::ALL[event], &text);
        drop((matcher.matches(&value), matcher.reach(), matcher.matches_as_bash()));
        let _fault = IfRule::parse(&text).find_fault(EventName::PreToolUse, Contract::newest());
    }

    #[test]
    fn pattern_like_texts_never_panic(text in r"[\[\](){}|*+?^$\\.,<>=!:\-BEdit12kpu é]{0,24}") {
        let matcher = tools(&text);
        let reach = matcher.reach();
        prop_assert_eq!(matches!(reach, MatcherReach::Every), text.is_empty() || text == "*");
        let _fault = IfRule::parse(&text).find_fault(EventName::PreToolUse, Contract::newest());
    }
}
