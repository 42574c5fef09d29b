//! Texts for an agent about GHAPs, runs and open failures. They contain quoted facts and the commands to type, and give
//! no orders. The text about an earlier fix is in [`crate::fix_message`].

use std::fmt::Write as _;

use rutter_memory::episode::Episode;
use rutter_memory::ghap::{Ghap, PredictionVerdict};
use rutter_memory::origin::UnconfirmedReason;
use rutter_memory::outcome::{Outcome, Verdict};
use rutter_memory::quote::{DATA_LABEL, format_age, quote_in_backticks};
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::{Premortem, RunVerdict};
use rutter_memory::value::{self, Value, ValueStanding};
use rutter_memory::{Id, Time};

/// Maximum number of tokens of one quoted text.
const QUOTE_TOKENS: usize = 60;

/// A text for an agent, and the entries that record it as shown.
pub(crate) struct AgentText {
    pub(crate) text: String,
    pub(crate) shown: Vec<EntryKind>,
}

/// The interface through which an agent uses Rutter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentInterface {
    /// MCP tools: the agent has called one, or the server is registered.
    McpTools,
    /// Shell commands that start with this text.
    Cli(String),
}

impl AgentInterface {
    /// Describes how to start a GHAP.
    fn start_instruction(&self) -> String {
        match self {
            Self::McpTools => {
                "`start_ghap` takes domain, strategy, goal, hypothesis, action, prediction"
                    .to_owned()
            }
            Self::Cli(rutter) => format!(
                "`{rutter} ghap start` takes --domain, --strategy, --goal, --hypothesis, --action, --prediction"
            ),
        }
    }

    /// Describes how to update and resolve a GHAP.
    fn update_instruction(&self) -> String {
        match self {
            Self::McpTools => {
                "`update_ghap` records a change, `resolve_ghap` the result.".to_owned()
            }
            Self::Cli(rutter) => format!(
                "`{rutter} ghap update` records a change, `{rutter} ghap resolve` the result."
            ),
        }
    }
}

/// Renders goal, hypothesis and prediction of a GHAP, one per line.
fn render_ghap_lines(ghap: &Ghap) -> String {
    format!(
        "Goal: {}\nHypothesis: {}\nPrediction: {}",
        quote_in_backticks(&ghap.goal, QUOTE_TOKENS),
        quote_in_backticks(&ghap.hypothesis, QUOTE_TOKENS),
        quote_in_backticks(&ghap.prediction, QUOTE_TOKENS)
    )
}

/// Renders the check-in after a number of tool calls.
pub(crate) fn render_check_in(ghap: &Ghap, calls: u32, interface: &AgentInterface) -> String {
    format!(
        "GHAP check-in, {calls} tool calls since the last change or check-in \
         ({DATA_LABEL}).\n{}\nStill valid? {}",
        render_ghap_lines(ghap),
        interface.update_instruction()
    )
}

/// Renders the active GHAP, for a compaction, a resumed session or the end of a turn.
pub(crate) fn render_active_ghap(ghap: &Ghap, interface: &AgentInterface) -> String {
    format!(
        "Active GHAP {}, {} ({DATA_LABEL}).\n{}\nAction: {}\n{}",
        ghap.id.short(),
        ghap.domain,
        render_ghap_lines(ghap),
        quote_in_backticks(&ghap.action, QUOTE_TOKENS),
        interface.update_instruction()
    )
}

/// Renders a GHAP that an earlier session left open.
pub(crate) fn render_orphan_ghap(
    ghap: &Ghap,
    unconfirmed: Option<UnconfirmedReason>,
    now: Time,
    interface: &AgentInterface,
) -> String {
    let id = ghap.id.short();
    let what = match interface {
        AgentInterface::McpTools => format!(
            "`adopt_ghap` with id {id} continues it, `resolve_ghap` with that id and status \
             abandoned closes it."
        ),
        AgentInterface::Cli(rutter) => format!(
            "`{rutter} ghap adopt {id}` continues it, `{rutter} ghap abandon {id} --reason \
             TEXT` closes it."
        ),
    };
    format!(
        "An earlier session left GHAP {id} open{} ({}; {DATA_LABEL}).\n{}\n{what}",
        mark(unconfirmed),
        format_age(ghap.changed, now),
        render_ghap_lines(ghap)
    )
}

/// Summarises a run.
fn summarize_run(outcome: &Outcome) -> String {
    let verdict = match outcome.verdict {
        Verdict::Passed => "passed",
        Verdict::Failed => "failed",
        Verdict::Unknown => "ended, result unknown",
    };
    let mut text = format!("{} {verdict}", quote_in_backticks(&outcome.command, 30));
    if let Some(first) = outcome.failing.first() {
        let _ = write!(text, " in {}", quote_in_backticks(first, 30));
        if outcome.failing.len() > 1 {
            let _ = write!(text, " and {} more", outcome.failing.len() - 1);
        }
    } else if let Some(counts) = outcome.counts.filter(|_| outcome.verdict == Verdict::Passed) {
        let tests = if counts.passed == 1 { "test" } else { "tests" };
        let _ = write!(text, " ({} {tests})", counts.passed);
    }
    text
}

/// Renders the verdict of a run on a prediction, with both quoted.
pub(crate) fn render_verdict(settled: &RunVerdict, interface: &AgentInterface) -> String {
    let RunVerdict { ghap, outcome, told: verdict, before } = settled;
    let prediction = quote_in_backticks(&ghap.prediction, QUOTE_TOKENS);
    let run = summarize_run(outcome);
    let id = outcome.id.short();
    match verdict {
        PredictionVerdict::Matches => {
            let keep = match interface {
                AgentInterface::McpTools => {
                    "`resolve_ghap` with status confirmed and result records it".to_owned()
                }
                AgentInterface::Cli(rutter) => {
                    format!("`{rutter} ghap resolve --status confirmed --result TEXT` records it")
                }
            };
            format!(
                "Prediction {prediction}: {run}. It came true ({DATA_LABEL}).\nHypothesis: {}\n{keep}, with run {id} as evidence.",
                quote_in_backticks(&ghap.hypothesis, QUOTE_TOKENS)
            )
        }
        PredictionVerdict::Contradicts => {
            let (takes, changes) = match interface {
                AgentInterface::McpTools => (
                    "`resolve_ghap` with status falsified takes result, surprise, root_cause, lesson, applies_when (4–6 phrases that a user would type before knowing the cause)".to_owned(),
                    "`update_ghap` takes a new hypothesis".to_owned(),
                ),
                AgentInterface::Cli(rutter) => (
                    format!(
                        "`{rutter} ghap resolve --status falsified` takes --result, --surprise, --root-cause-category, --root-cause, --takeaway, --applies-when (4–6 phrases that a user would type before knowing the cause)"
                    ),
                    format!("`{rutter} ghap update` takes a new hypothesis"),
                ),
            };
            format!(
                "Prediction {prediction}: {run}. That contradicts it ({DATA_LABEL}).\nHypothesis: {}\n{takes}, with run {id} as evidence; {changes}.",
                quote_in_backticks(&ghap.hypothesis, QUOTE_TOKENS)
            )
        }
        PredictionVerdict::Partial => format!(
            "Prediction {prediction}: {run}. Not yet, but fewer fail than before ({} of {}; {DATA_LABEL}).",
            outcome.failing.len().max(outcome.counts.map_or(0, |counts| counts.failed as usize)),
            before.unwrap_or_default()
        ),
    }
}

/// Renders the lessons of earlier hypotheses for a failed run without an active GHAP.
pub(crate) fn render_premortem(
    outcome: &Outcome,
    premortem: &Premortem,
    unconfirmed: impl Fn(Id) -> Option<UnconfirmedReason>,
    interface: &AgentInterface,
) -> String {
    let mut text = format!("{}. Related earlier work ({DATA_LABEL}).", summarize_run(outcome));
    for (row, _, lesson) in &premortem.lessons {
        let (lesson, mark) = (quote_in_backticks(lesson, 40), mark(unconfirmed(*row)));
        let _ = write!(text, "\nLesson from a similar failure: {lesson}{mark}");
    }
    if let Some((cause, times, (row, lesson))) = &premortem.cause {
        let _ = write!(
            text,
            "\n{times} of {} wrong hypotheses here had the root cause {cause}",
            premortem.falsified
        );
        if premortem.lessons.iter().any(|(_, _, known)| known == lesson) {
            text.push('.');
        } else {
            let (lesson, mark) = (quote_in_backticks(lesson, 40), mark(unconfirmed(*row)));
            let _ = write!(text, "; newest lesson: {lesson}{mark}");
        }
    }
    let strategies: Vec<String> = premortem
        .strategies
        .iter()
        .map(|(strategy, right, wrong)| format!("{strategy} {right} of {}", right + wrong))
        .collect();
    if !strategies.is_empty() {
        let _ = write!(text, "\nHow often strategies were right here: {}.", strategies.join(", "));
    }
    for (value, _) in &premortem.principles {
        let _ = write!(
            text,
            "\nPrinciple{}: {}{}",
            proposed_mark(value),
            quote_in_backticks(&value.text, value::MAX_VALUE_TOKENS),
            mark(unconfirmed(value.id))
        );
    }
    let _ = write!(
        text,
        "\n{}; later runs are compared with the prediction.",
        interface.start_instruction()
    );
    text
}

/// Renders the offer to start a GHAP for a failure without a known fix.
pub(crate) fn render_offer(interface: &AgentInterface) -> String {
    format!(
        "No earlier fix of this failure is known, and no GHAP is active. {}; later runs are compared with the prediction.",
        interface.start_instruction()
    )
}

/// Renders an open failure, for the summary of a compaction.
pub(crate) fn render_open_failure(episode: &Episode) -> String {
    let mut text = format!("A failure that is not fixed yet ({DATA_LABEL}): ");
    if let Some(test) = &episode.test {
        let _ = write!(text, "{}, ", quote_in_backticks(test, 40));
    }
    let _ = write!(text, "{}", quote_in_backticks(&episode.error, 40));
    text
}

/// Renders branch and last runs, for the start of a session.
pub(crate) fn render_runs_card(
    branch: Option<&str>,
    runs: &[Outcome],
    unconfirmed: impl Fn(Id) -> Option<UnconfirmedReason>,
    now: Time,
) -> String {
    let mut parts = Vec::new();
    if let Some(branch) = branch {
        parts.push(format!("Branch {} ({DATA_LABEL}).", quote_in_backticks(branch, 20)));
    }
    if !runs.is_empty() {
        let runs: Vec<String> = runs
            .iter()
            .map(|outcome| {
                let (age, mark) = (format_age(outcome.at, now), mark(unconfirmed(outcome.id)));
                format!("{} {age}{mark}", summarize_run(outcome))
            })
            .collect();
        let label = if parts.is_empty() { format!(" ({DATA_LABEL})") } else { String::new() };
        parts.push(format!("Last runs{label}: {}.", runs.join("; ")));
    }
    parts.join(" ")
}

/// Returns the mark of an unconfirmed row, with a space before it.
fn mark(unconfirmed: Option<UnconfirmedReason>) -> String {
    unconfirmed.map_or_else(String::new, |reason| format!(" {}", reason.mark_text()))
}

/// Returns a mark for a value that the user has not accepted.
fn proposed_mark(value: &Value) -> &'static str {
    if value.standing == ValueStanding::Accepted { "" } else { " (proposed)" }
}

/// Renders a short introduction to GHAPs.
pub(crate) fn render_introduction(interface: &AgentInterface) -> String {
    let AgentInterface::Cli(rutter) = interface else {
        // The instructions of our server explain the rest.
        return "Rutter records predictions and results. Before acting on a guess: \
                `start_ghap`.\nTest and build runs are compared with the prediction."
            .to_owned();
    };
    format!(
        "Rutter records predictions and results. Before acting on a guess: `{rutter} ghap start \
         --domain D --strategy S --goal TEXT --hypothesis TEXT --action TEXT --prediction \
         TEXT`.\nTest and build runs are compared with the prediction; `{rutter} ghap resolve` \
         stores the lesson for later sessions.\n`{rutter} recall TEXT` finds earlier lessons."
    )
}
