//! The context that an agent reads: few items from earlier work, each short, quoted, and shown once.
//!
//! Hooks, the command line and servers share this implementation. Omitted items are kept with the reason, so that a
//! user can see why an item was not shown.

use crate::fix_message::{FixFacts, render_fix_item};
use rutter_memory::episode::Episode;
use rutter_memory::ghap::{Ghap, GhapStatus};
use rutter_memory::memory::Memory;
use rutter_memory::origin::UnconfirmedReason;
use rutter_memory::quote::{DATA_LABEL, estimate_tokens, format_age, quote_in_backticks};
use rutter_memory::value::{self, Value, ValueStanding};
use rutter_memory::{Id, Time};

pub use rutter_memory::config::ContextDepth as Depth;
pub use rutter_memory::injection::InjectionSource;

/// The way in which an agent looks up a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LessonLookup {
    /// An MCP tool.
    Tool,
    /// A shell command.
    Command,
}

/// The part of a context that an item belongs to. The heading of each part marks its items as quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContextSection {
    /// Items that fit a prompt.
    Recalled,
    /// References to failures in the files that a prompt names.
    Files,
    /// Preferences that a session begins with.
    Preferences,
    /// Values that a session begins with.
    Values,
    /// Lessons that an agent can look up by their ids.
    Lessons(LessonLookup),
    /// Recent fixes and lessons.
    RecentWork,
}

impl ContextSection {
    /// Returns the line above its items.
    pub fn heading(self) -> String {
        let what = match self {
            Self::Recalled => "From earlier work here",
            Self::Files => "About files in the prompt",
            // An agent can record one too.
            Self::Preferences => "Recorded preferences",
            Self::Values => "What several earlier sessions learnt",
            Self::Lessons(LessonLookup::Tool) => {
                "Lessons recorded here; `recall_memories` with an id shows one in full"
            }
            Self::Lessons(LessonLookup::Command) => {
                "Lessons recorded here; `rutter show ID` prints one in full"
            }
            Self::RecentWork => "Recent work",
        };
        format!("{what} ({DATA_LABEL}):")
    }

    /// Returns true if its items are one-line references. A row shown as a reference may still be shown in full later.
    pub const fn is_brief(self) -> bool {
        matches!(self, Self::Files | Self::Lessons(_) | Self::RecentWork)
    }

    /// Returns its share of a session's token budget, in twentieths. Lessons get what values leave of theirs.
    const fn session_share(self) -> usize {
        match self {
            Self::Preferences => 4,
            Self::Values => 6,
            Self::Lessons(_) => 8,
            Self::RecentWork => 5,
            Self::Recalled | Self::Files => 20,
        }
    }
}

/// Returns the maximum number of tokens of one item.
const fn item_tokens(depth: Depth) -> usize {
    match depth {
        Depth::Light => 100,
        Depth::Rich => 200,
    }
}

/// Maximum number of tokens of one preference; a longer one is cut.
const PREFERENCE_TOKENS: usize = 50;

/// The share of the budget that each kind may take in the first round.
const KIND_SHARES: [(InjectionSource, f64); 4] = [
    (InjectionSource::Experience, 0.4),
    (InjectionSource::Episode, 0.25),
    (InjectionSource::Memory, 0.2),
    (InjectionSource::Value, 0.15),
];

/// An item that could be shown to an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextCandidate {
    /// The id of its row.
    pub row: Id,
    /// The kind of its row.
    pub kind: InjectionSource,
    /// The part of the context that it belongs to.
    pub section: ContextSection,
    /// The probability that it is relevant.
    pub confidence: f64,
    /// The reason to omit it, if one is known before the budget is applied.
    pub refused: Option<OmissionReason>,
    /// The text to show.
    pub text: String,
}

/// The reason why an item is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OmissionReason {
    /// The confidence is below the floor.
    BelowFloor,
    /// The agent has it in its context already.
    Shown,
    /// The item is an episode, and the prompt names neither its test nor its error.
    NotNamed,
    /// Another item has nearly the same text.
    SaysTheSame,
    /// The maximum number of items is reached.
    Limit,
    /// The text exceeds the token budget.
    NoRoom,
}

impl OmissionReason {
    /// Returns the reason as a text for the user.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::BelowFloor => "not likely enough",
            Self::Shown => "already in the context",
            Self::NotNamed => "the prompt names neither its test nor its error",
            Self::SaysTheSame => "another row says the same",
            Self::Limit => "over the row limit",
            Self::NoRoom => "over the token limit",
        }
    }
}

/// The context for an agent, with the omitted items.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Context {
    /// Text before the items: the open GHAP. Only at session start.
    pub before: String,
    /// The shown items, best first.
    pub items: Vec<ContextCandidate>,
    /// Text after the items: branch, last runs. Only at session start.
    pub after: String,
    /// The omitted items, each with the reason.
    pub left_out: Vec<(ContextCandidate, OmissionReason)>,
}

impl Context {
    /// Chooses from candidates that are sorted best first. A candidate that does not fit is skipped, and later ones may
    /// still fit.
    pub fn choose(
        candidates: Vec<ContextCandidate>,
        depth: Depth,
        limit: usize,
        room: usize,
    ) -> Self {
        let mut states: Vec<Option<OmissionReason>> =
            candidates.iter().map(|one| one.refused).collect();
        let mut taken = vec![false; candidates.len()];
        let mut said: Vec<&str> = Vec::new();
        for (at, candidate) in candidates.iter().enumerate() {
            if states[at].is_none() {
                if said.iter().any(|text| is_similar(text, &candidate.text)) {
                    states[at] = Some(OmissionReason::SaysTheSame);
                } else {
                    said.push(&candidate.text);
                }
            }
        }
        let cost = |at: usize| estimate_tokens(&candidates[at].text) + 1;
        let mut left =
            room.saturating_sub(estimate_tokens(&ContextSection::Recalled.heading()) + 1);
        let mut count = 0;
        // First each kind within its share, then any that still fit.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a share of a few tokens"
        )]
        let mut shares = KIND_SHARES.map(|(kind, share)| (kind, (left as f64 * share) as usize));
        for first in [depth == Depth::Rich, false] {
            for at in 0..candidates.len() {
                if taken[at] || states[at].is_some() || count >= limit || cost(at) > left {
                    continue;
                }
                let share = shares.iter_mut().find(|(kind, _)| *kind == candidates[at].kind);
                match share {
                    Some((_, share)) if first && cost(at) > *share => continue,
                    Some((_, share)) if first => *share -= cost(at),
                    _ => {}
                }
                taken[at] = true;
                left -= cost(at);
                count += 1;
            }
        }
        let mut context = Self::default();
        for (at, candidate) in candidates.into_iter().enumerate() {
            if taken[at] {
                context.items.push(candidate);
                continue;
            }
            let over = if count >= limit { OmissionReason::Limit } else { OmissionReason::NoRoom };
            context.left_out.push((candidate, states[at].unwrap_or(over)));
        }
        context
    }

    /// Adds references after the items, within the limits for the whole context.
    pub fn add_references(&mut self, references: Vec<ContextCandidate>, limit: usize, room: usize) {
        for candidate in references {
            let over = if self.items.len() >= limit {
                OmissionReason::Limit
            } else {
                OmissionReason::NoRoom
            };
            let is_full = self.items.len() >= limit || self.tokens_with(&candidate) > room;
            match candidate.refused.or(is_full.then_some(over)) {
                Some(reason) => self.left_out.push((candidate, reason)),
                None => self.items.push(candidate),
            }
        }
    }

    /// Assembles the context at session start: `before`, then the candidates in their order, then the texts of `after`
    /// that fit. Each section is limited to its share of `room`, and the whole text to `room`.
    pub fn for_session(
        before: String,
        candidates: Vec<ContextCandidate>,
        after: Vec<String>,
        limit: usize,
        room: usize,
    ) -> Self {
        let before = if estimate_tokens(&before) < room { before } else { String::new() };
        let mut context = Self { before, ..Self::default() };
        for candidate in candidates {
            let section = candidate.section;
            let shares_budget = |item: &&ContextCandidate| {
                item.section == section
                    || (matches!(section, ContextSection::Lessons(_))
                        && item.section == ContextSection::Values)
            };
            let used: usize = context
                .items
                .iter()
                .filter(shares_budget)
                .map(|item| estimate_tokens(&item.text) + 1)
                .sum();
            let own =
                estimate_tokens(&section.heading()) + used + estimate_tokens(&candidate.text) + 2;
            let is_said = context.items.iter().any(|item| is_similar(&item.text, &candidate.text));
            let over = match (is_said, context.items.len() >= limit) {
                (true, _) => OmissionReason::SaysTheSame,
                (false, true) => OmissionReason::Limit,
                (false, false) => OmissionReason::NoRoom,
            };
            let is_full = is_said
                || context.items.len() >= limit
                || own > room * section.session_share() / 20
                || context.tokens_with(&candidate) > room;
            match candidate.refused.or(is_full.then_some(over)) {
                Some(reason) => context.left_out.push((candidate, reason)),
                None => context.items.push(candidate),
            }
        }
        for text in after.into_iter().filter(|text| !text.is_empty()) {
            if estimate_tokens(&context.markdown()) + estimate_tokens(&text) + 1 < room {
                if !context.after.is_empty() {
                    context.after.push_str("\n\n");
                }
                context.after.push_str(&text);
            }
        }
        context
    }

    /// Returns the tokens of the whole text with one more item.
    fn tokens_with(&self, candidate: &ContextCandidate) -> usize {
        let known = self.items.iter().any(|item| item.section == candidate.section);
        let heading = if known { 0 } else { estimate_tokens(&candidate.section.heading()) + 1 };
        estimate_tokens(&self.markdown()) + heading + estimate_tokens(&candidate.text) + 2
    }

    /// Returns the rows that are shown in full, each with its confidence.
    pub fn full_rows(&self) -> Vec<(Id, f64)> {
        self.rows_where(|section| !section.is_brief())
    }

    /// Returns the rows that are shown as references, each with its confidence.
    pub fn reference_rows(&self) -> Vec<(Id, f64)> {
        self.rows_where(ContextSection::is_brief)
    }

    fn rows_where(&self, is_wanted: impl Fn(ContextSection) -> bool) -> Vec<(Id, f64)> {
        let items = self.items.iter().filter(|item| is_wanted(item.section));
        items.map(|item| (item.row, item.confidence)).collect()
    }

    /// Renders the context for the agent; empty without items and texts.
    pub fn markdown(&self) -> String {
        let mut text = self.before.clone();
        let mut section = None;
        for item in &self.items {
            if section != Some(item.section) {
                section = Some(item.section);
                if !text.is_empty() {
                    text.push_str("\n\n");
                }
                text.push_str(&item.section.heading());
            }
            text.push_str("\n- ");
            text.push_str(&item.text.replace('\n', "\n  "));
        }
        if !text.is_empty() && !self.after.is_empty() {
            text.push_str("\n\n");
        }
        text + &self.after
    }
}

/// Returns true if four fifths of the words of the shorter text are in the other one.
fn is_similar(one: &str, other: &str) -> bool {
    let words = |text: &str| -> std::collections::BTreeSet<String> {
        text.split(|sign: char| !sign.is_alphanumeric())
            .filter(|word| word.len() > 2)
            .map(str::to_lowercase)
            .collect()
    };
    let (one, other) = (words(one), words(other));
    let shared = one.intersection(&other).count();
    let fewer = one.len().min(other.len());
    fewer > 5 && shared * 5 >= fewer * 4
}

/// Renders a memory.
pub(crate) fn render_memory(memory: &Memory, depth: Depth) -> String {
    format!(
        "Remembered ({}): {}",
        memory.category,
        quote_in_backticks(&memory.text, item_tokens(depth) - 10)
    )
}

/// Renders a value. One that the user has not accepted is marked as proposed.
pub(crate) fn render_value(value: &Value, depth: Depth) -> String {
    let proposed = if value.standing == ValueStanding::Accepted { "" } else { " (proposed)" };
    format!("Value{proposed}: {}", quote_in_backticks(&value.text, item_tokens(depth) - 10))
}

/// Renders a value for the section of values.
pub(crate) fn render_session_value(value: &Value) -> String {
    let proposed = if value.standing == ValueStanding::Accepted { "" } else { "(proposed) " };
    format!("{proposed}{}", quote_in_backticks(&value.text, value::MAX_VALUE_TOKENS))
}

/// Renders a preference for the section of preferences.
pub(crate) fn render_preference(memory: &Memory) -> String {
    quote_in_backticks(&memory.text, PREFERENCE_TOKENS)
}

/// Renders a resolved GHAP; None for an active one. A falsified hypothesis is marked as such.
pub(crate) fn render_ghap(ghap: &Ghap, depth: Depth, now: Time) -> Option<String> {
    let resolution = ghap.resolution.as_ref()?;
    let when = format_age(resolution.at, now);
    let lesson = resolution.lesson.as_ref();
    let takeaway = lesson.and_then(|lesson| lesson.takeaway.as_ref());
    let worked = lesson.and_then(|lesson| lesson.what_worked.as_ref());
    // The most important part comes first and gets the largest share.
    let part = item_tokens(depth) / 4;
    let mut text = match ghap.status {
        GhapStatus::Falsified => format!(
            "Tried and falsified {when}: goal {}, hypothesis {}.",
            quote_in_backticks(&ghap.goal, part / 2 + 4),
            quote_in_backticks(&ghap.hypothesis, part)
        ),
        GhapStatus::Confirmed => format!(
            "Confirmed {when}: goal {}, {}.",
            quote_in_backticks(&ghap.goal, part / 2 + 4),
            quote_in_backticks(&ghap.hypothesis, part)
        ),
        GhapStatus::Abandoned => format!(
            "Abandoned {when}: goal {}, because {}.",
            quote_in_backticks(&ghap.goal, part),
            quote_in_backticks(&resolution.result, part)
        ),
        GhapStatus::Active => return None,
    };
    let mut add = |what: &str, said: Option<&crate::Clean>| {
        if let Some(said) = said {
            let room = item_tokens(depth)
                .saturating_sub(estimate_tokens(&text) + estimate_tokens(what) + 2);
            if room > 6 {
                text.push_str(what);
                text.push_str(&quote_in_backticks(said, room.min(part + part / 2)));
                text.push('.');
            }
        }
    };
    add(" Lesson: ", takeaway);
    add(" What worked: ", worked);
    if ghap.status == GhapStatus::Falsified {
        let cause = resolution.root_cause.as_ref();
        let what = cause.map(|cause| format!(" Cause ({}): ", cause.category)).unwrap_or_default();
        add(&what, cause.map(|cause| &cause.text));
        add(" Surprise: ", resolution.surprise.as_ref());
    }
    Some(text)
}

/// Renders a fixed failure.
pub(crate) fn render_episode(
    episode: &Episode,
    depth: Depth,
    unconfirmed: Option<UnconfirmedReason>,
    now: Time,
) -> Option<String> {
    render_fix_item(
        episode,
        &FixFacts { times: 1, in_place: None, is_cause_seen: true, unconfirmed, now },
        item_tokens(depth),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_candidate(kind: InjectionSource, text: &str) -> ContextCandidate {
        ContextCandidate {
            row: Id::new(Time::from_millis(1)),
            kind,
            section: ContextSection::Recalled,
            confidence: 0.9,
            refused: None,
            text: text.to_owned(),
        }
    }

    fn omission_reasons(context: &Context) -> Vec<OmissionReason> {
        context.left_out.iter().map(|(_, reason)| *reason).collect()
    }

    #[test]
    fn oversized_candidate_is_skipped() {
        let all = vec![
            new_candidate(InjectionSource::Memory, "short one"),
            new_candidate(InjectionSource::Memory, &"far too long for what is left ".repeat(20)),
            new_candidate(InjectionSource::Memory, "another"),
            new_candidate(InjectionSource::Memory, "a fourth"),
            new_candidate(InjectionSource::Memory, "a fifth"),
        ];
        let context = Context::choose(all, Depth::Light, 3, 60);
        assert_eq!(context.items.len(), 3);
        assert!(estimate_tokens(&context.markdown()) <= 60);
        assert_eq!(omission_reasons(&context), [OmissionReason::Limit, OmissionReason::Limit]);
        let none =
            Context::choose(vec![new_candidate(InjectionSource::Memory, "x")], Depth::Light, 3, 5);
        assert_eq!(
            (none.markdown(), omission_reasons(&none)),
            (String::new(), vec![OmissionReason::NoRoom])
        );
    }

    #[test]
    fn kinds_keep_to_their_share() {
        let mut all: Vec<ContextCandidate> = (0..20)
            .map(|n| {
                new_candidate(
                    InjectionSource::Memory,
                    &format!("memory {n} {}", "word ".repeat(20 + n)),
                )
            })
            .collect();
        all.push(new_candidate(
            InjectionSource::Experience,
            &format!("experience {}", "thing ".repeat(20)),
        ));
        let rich = Context::choose(all.clone(), Depth::Rich, 20, 300);
        assert!(rich.items.iter().any(|item| item.kind == InjectionSource::Experience));
        assert!(
            rich.items.iter().filter(|item| item.kind == InjectionSource::Memory).count() > 3,
            "what is left is shared"
        );
        let light = Context::choose(all, Depth::Light, 3, 300);
        assert!(
            light.items.iter().all(|item| item.kind == InjectionSource::Memory),
            "the best come first"
        );
    }

    #[test]
    fn similar_texts_are_shown_once() {
        let text = "always close the redis client in the teardown of the fixture";
        let all = vec![
            new_candidate(InjectionSource::Memory, text),
            new_candidate(InjectionSource::Experience, &format!("{text}, please")),
            ContextCandidate {
                refused: Some(OmissionReason::Shown),
                ..new_candidate(InjectionSource::Memory, "something else")
            },
        ];
        let context = Context::choose(all, Depth::Light, 3, 300);
        assert_eq!(
            omission_reasons(&context),
            [OmissionReason::SaysTheSame, OmissionReason::Shown]
        );
    }
}
