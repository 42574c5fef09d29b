//! Word lists for phrases.

/// Nouns that can pass or fail.
pub(super) const RUN_NOUNS: &[&str] = &[
    "test", "tests", "suite", "suites", "spec", "specs", "build", "ci", "pipeline", "check", "checks",
    "lint", "linter", "clippy", "compilation", "compiler", "typecheck", "type-check", "typechecker", "run",
    "reruns", "rerun", "job", "jobs", "workflow", "assertion", "assertions", "assert", "pytest", "jest",
    "vitest", "mocha", "rspec", "phpunit", "tsc", "mypy", "eslint", "ruff", "cargo", "doctest", "doctests",
    "benchmark", "e2e", "testcase", "unittest", "unittests",
];

/// Words that make a statement of a participle.
pub(super) const STATE_WORDS: &[&str] = &[
    "be", "is", "are", "was", "were", "been", "being", "keep", "keeps", "stay", "stays", "start", "starts",
    "remain", "remains", "still", "now", "stop", "stops", "stopped", "longer", "without", "from",
    "continue",
];

pub(super) const MODAL_WORDS: &[&str] = &[
    "will", "should", "would", "must", "can", "could", "now", "still", "does", "it'll",
];

pub(super) const NEGATIONS: &[&str] = &[
    "not", "never", "cannot", "unlikely", "doubt", "nor", "wont", "dont", "doesnt", "cant", "isnt", "didnt",
    "shouldnt",
];

/// Negations that apply only to the next word, skipping [`FILLERS`].
pub(super) const ADJACENT_NEGATIONS: &[&str] = &[
    "no", "zero", "without", "none", "nothing", "neither", "free",
];

pub(super) const FILLERS: &[&str] = &[
    "test", "tests", "case", "cases", "of", "the", "them", "these", "any", "a", "an", "single", "new",
    "more", "other", "further", "existing", "compile", "compiler", "compilation", "build", "type", "lint",
    "unit", "integration", "clippy", "or", "should", "will", "would", "must", "can", "else", "that",
    "checks", "check", "runtime", "remaining", "error", "warnings", "unexpected", "our", "my", "in",
];

/// Nouns for failures.
pub(super) const FAILURE_NOUNS: &[&str] = &[
    "error", "errors", "failure", "failures", "exception", "exceptions", "traceback", "warning", "warnings",
    "regression", "regressions", "crash", "crashes", "panic", "panics", "segfault",
];

/// Second parts of compounds that are not failures: "error handling".
pub(super) const COMPOUND_TAILS: &[&str] = &[
    "handling", "handler", "handlers", "message", "messages", "path", "paths", "code", "codes", "type",
    "types", "case", "log", "logs", "boundary", "rate", "reporting", "time", "page", "response", "state",
    "text",
];

/// Words for the end of a failure.
pub(super) const FAILURE_GONE_WORDS: &[&str] = &[
    "gone", "disappear", "disappears", "vanish", "vanishes", "resolved", "fixed", "cleared", "eliminated",
    "fix", "fixes", "resolve", "resolves", "remove", "removes", "eliminate", "eliminates", "prevent",
    "prevents", "avoid", "avoids", "clear", "clears", "silence", "silences", "stop", "stops", "cure",
    "cures",
];

/// Words for the presence of a failure.
pub(super) const FAILURE_PRESENT_WORDS: &[&str] = &[
    "persist", "persists", "remain", "remains", "still", "same", "again", "reappear", "reappears", "occurs",
    "see", "get", "gets", "hit", "hits", "trigger", "triggers", "show", "shows", "appear", "appears",
    "surfaces", "produce", "produces",
];

/// Words after "pass" if it means to hand over.
pub(super) const HANDED_OVER_WORDS: &[&str] = &[
    "the", "a", "an", "along", "through", "down", "this", "its", "it", "them", "these", "those", "some",
    "null", "none", "to", "over", "our", "their", "my", "arguments", "args", "data", "as",
];

pub(super) const COLOUR_VERBS: &[&str] = &[
    "go", "goes", "going", "went", "turn", "turns", "turned", "be", "is", "are", "stay", "stays", "remain",
    "remains", "back", "all", "everything", "to", "come", "comes", "still", "get", "gets", "keep", "keeps",
    "now", "from",
];

/// Things with a colour, for which "green" is not a result.
pub(super) const COLOURED_THINGS: &[&str] = &[
    "button", "buttons", "badge", "icon", "text", "border", "background", "cell", "cells", "row", "rows",
    "led", "light", "banner", "label", "color", "colour", "line", "dot", "pixel", "pixels", "theme",
];
