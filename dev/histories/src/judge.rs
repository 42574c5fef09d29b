//! Compares a played history with its truth.

use std::collections::{BTreeMap, BTreeSet};

use crate::history::History;
use crate::play::{EpisodeEvent, EpisodeView, PlayedHistory};
use crate::truth::{
    CheckName, ExpectedText, FailureCause, FailureEnding, FailureSighting, FailureTruth,
};

mod text;

use text::{LessonBlock, LineKind};

/// Words with which the product shows changes without claiming that they are the fix.
pub const HEDGE: &str = "between red and green";

/// Words with which the product reports that a test failed in another way before.
pub const OTHER_FAILURE: [&str; 4] =
    ["another failure", "other failure", "in another way", "another cause"];

/// The product's answer to a recurring failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnAnswer {
    /// The fix was shown first.
    Right,
    /// Something else was shown first; the string describes it.
    Wrong(String),
    /// No recognisable line was shown.
    Silent,
}

/// A run with a recurring failure, and the answer.
#[derive(Debug, Clone)]
pub struct ReturnVerdict {
    /// Step of the run.
    pub step: usize,
    /// The answer.
    pub answer: ReturnAnswer,
    /// True if the evidence is thin, so that the fix cannot be distinguished from other changes.
    pub is_thin: bool,
    /// Number of failures of the run that should be answered, and number of right answers.
    pub each: (usize, usize),
    /// Kinds of mess.
    pub tags: BTreeSet<String>,
    /// Tool of the run.
    pub tool: &'static str,
}

/// A failure that a run is known to have passed, with the state of its episode at that time.
#[derive(Debug, Clone)]
pub struct ClosingVerdict {
    /// True if the episode was closed.
    pub is_closed: bool,
    /// True if there was an episode at all.
    pub is_opened: bool,
    /// Step at which the episode had to be closed.
    pub step: usize,
    /// Name of the check.
    pub name: String,
    /// Kinds of mess.
    pub tags: BTreeSet<String>,
    /// Tool that shows the failure.
    pub tool: &'static str,
}

/// A fault of the product.
#[derive(Debug, Clone)]
pub struct ProductFault {
    /// Step.
    pub step: usize,
    /// Description in one line.
    pub what: String,
    /// Kinds of mess.
    pub tags: BTreeSet<String>,
}

/// The judgement of one history.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// Recurring failures.
    pub returns: Vec<ReturnVerdict>,
    /// Failures that were covered by a green run.
    pub closings: Vec<ClosingVerdict>,
    /// Number of texts that claim a fix.
    pub claims: usize,
    /// Claims with a wrong line.
    pub wrong_claims: Vec<ProductFault>,
    /// Number of claims that begin with a wrong line.
    pub wrong_leads: usize,
    /// Green runs that did not execute the check of an open failure.
    pub uncovered_runs: usize,
    /// Episodes that were closed although their check had not passed.
    pub uncovered_closings: Vec<ProductFault>,
    /// Number of failing runs that should get no text.
    pub silences: usize,
    /// Failing runs among these that got a text.
    pub spoken: Vec<ProductFault>,
    /// Number of opened episodes.
    pub opened: usize,
    /// Episodes about something that did not fail, such as a line of a wrapper.
    pub strays: Vec<ProductFault>,
    /// Faults that the product logged.
    pub logged: Vec<ProductFault>,
    /// Shown lines that belong to no change of the history.
    pub unknown_lines: Vec<ProductFault>,
}

/// Judges a history.
pub fn judge_history(history: &History, played: &PlayedHistory) -> Judgement {
    let mut judge = HistoryJudge {
        history,
        played,
        judgement: Judgement::default(),
        known: known_lines(history),
    };
    judge.judge_texts();
    judge.judge_episodes();
    judge.judgement.logged = played
        .faults
        .iter()
        .map(|(step, what)| ProductFault { step: *step, what: what.clone(), tags: BTreeSet::new() })
        .collect();
    judge.judgement
}

/// Returns every line of every change, with the step of its first change.
fn known_lines(history: &History) -> BTreeMap<String, usize> {
    let mut known = BTreeMap::new();
    for change in &history.truth.changes {
        for line in &change.lines {
            known.entry(line.clone()).or_insert(change.step);
        }
    }
    for line in history.truth.right.values().chain(history.truth.neutral.values()).flatten() {
        known.entry(line.clone()).or_insert(0);
    }
    known
}

struct HistoryJudge<'a> {
    history: &'a History,
    played: &'a PlayedHistory,
    judgement: Judgement,
    known: BTreeMap<String, usize>,
}

impl HistoryJudge<'_> {
    /// Judges the text after every failing run.
    fn judge_texts(&mut self) {
        let mut steps: Vec<usize> =
            self.history.truth.sightings.iter().map(|sighting| sighting.step).collect();
        steps.dedup();
        for step in steps {
            let sightings: Vec<&FailureSighting> =
                self.history.truth.sightings.iter().filter(|at| at.step == step).collect();
            self.judge_run(step, &sightings);
        }
    }

    fn judge_run(&mut self, step: usize, sightings: &[&FailureSighting]) {
        let said = &self.played.said[step];
        let blocks = text::split_lessons(said, sightings, &self.known);
        let judged: Vec<(Vec<usize>, Vec<LineKind>)> = blocks
            .iter()
            .map(|block| (block.owners.clone(), self.line_kinds(block, sightings)))
            .collect();
        let mut tags: BTreeSet<String> =
            sightings.iter().flat_map(|sighting| sighting.tags.iter().cloned()).collect();
        tags.extend(sightings.iter().map(|sighting| format!("tool: {}", sighting.tool)));
        let mut is_speaking = false;
        for (block, (_, kinds)) in blocks.iter().zip(&judged) {
            is_speaking |= !kinds.is_empty();
            let claimed: Vec<&LineKind> = kinds
                .iter()
                .filter(|kind| !matches!(kind, LineKind::Hedged(_) | LineKind::Neutral))
                .collect();
            for line in &block.unknown {
                self.judgement.unknown_lines.push(ProductFault {
                    step,
                    what: line.clone(),
                    tags: tags.clone(),
                });
            }
            let is_other = OTHER_FAILURE.iter().any(|words| block.heading.contains(words));
            if claimed.is_empty() || is_other {
                continue;
            }
            self.judgement.claims += 1;
            let wrong = claimed.iter().find_map(|kind| match kind {
                LineKind::Wrong(line) => Some(line.clone()),
                _ => None,
            });
            if let Some(line) = wrong {
                let what = format!("claims `{line}`");
                self.judgement.wrong_claims.push(ProductFault { step, what, tags: tags.clone() });
            }
            if matches!(claimed[0], LineKind::Wrong(_)) {
                self.judgement.wrong_leads += 1;
            }
        }
        if sightings.iter().all(|sighting| sighting.expectation == ExpectedText::Silence) {
            self.judgement.silences += 1;
            let right = judged.iter().flat_map(|(_, kinds)| kinds).any(|kind| {
                matches!(kind, LineKind::Right)
                    || matches!(kind, LineKind::Hedged(inner) if **inner == LineKind::Right)
            });
            if is_speaking && !right {
                let what = format!("nothing was learnt, and it says: {}", first_line_of(said));
                self.judgement.spoken.push(ProductFault { step, what, tags: tags.clone() });
            }
        }
        self.judge_returns(step, sightings, &judged, &tags);
    }

    /// Judges the recurring failures of a run.
    fn judge_returns(
        &mut self,
        step: usize,
        sightings: &[&FailureSighting],
        judged: &[(Vec<usize>, Vec<LineKind>)],
        tags: &BTreeSet<String>,
    ) {
        let of = |expectation: ExpectedText| -> Vec<&&FailureSighting> {
            sightings.iter().filter(|sighting| sighting.expectation == expectation).collect()
        };
        let (plain, thin) = (of(ExpectedText::Show), of(ExpectedText::ShowOrHedge));
        let is_thin = plain.is_empty();
        let due = if is_thin { thin } else { plain };
        if due.is_empty() {
            return;
        }
        let answers: Vec<ReturnAnswer> = due
            .iter()
            .map(|sighting| self.judge_answer(step, sighting, sightings, judged))
            .collect();
        let right = answers.iter().filter(|answer| **answer == ReturnAnswer::Right).count();
        // One lesson is enough for a run; the first one must be right.
        let wrong = answers.iter().find(|answer| matches!(answer, ReturnAnswer::Wrong(_)));
        let answer = match (right, wrong) {
            (0, Some(wrong)) => wrong.clone(),
            (0, None) => ReturnAnswer::Silent,
            _ => ReturnAnswer::Right,
        };
        let mut tags = tags.clone();
        if due.len() > 1 {
            tags.insert("return: several in one run".to_owned());
        }
        self.judgement.returns.push(ReturnVerdict {
            step,
            answer,
            is_thin,
            each: (right, due.len()),
            tags,
            tool: due[0].tool,
        });
    }

    fn judge_answer(
        &self,
        step: usize,
        sighting: &FailureSighting,
        all: &[&FailureSighting],
        judged: &[(Vec<usize>, Vec<LineKind>)],
    ) -> ReturnAnswer {
        let own = judged.iter().filter(|(owners, _)| owners.contains(&sighting.check));
        let nobody = judged.iter().filter(|(owners, _)| owners.is_empty());
        // Tests that fail for the same reason share their fix.
        let shared = judged.iter().filter(|(owners, _)| {
            !owners.contains(&sighting.check)
                && owners.iter().any(|owner| {
                    all.iter().any(|at| at.check == *owner && at.cause == sighting.cause)
                })
        });
        for (_, kinds) in own.chain(nobody).chain(shared) {
            let first = kinds.iter().find_map(|kind| match kind {
                LineKind::Hedged(inner) => Some(&**inner),
                LineKind::Neutral => None,
                kind => Some(kind),
            });
            match first {
                Some(LineKind::Right) => return ReturnAnswer::Right,
                Some(LineKind::Wrong(line)) => return ReturnAnswer::Wrong(line.clone()),
                _ => {}
            }
        }
        if self.was_shown_before(step, sighting) {
            ReturnAnswer::Right
        } else {
            ReturnAnswer::Silent
        }
    }

    /// Returns true if the session has read the fix already.
    fn was_shown_before(&self, step: usize, sighting: &FailureSighting) -> bool {
        let session = &self.history.steps[step].payload["session_id"];
        let agent = &self.history.steps[step].payload["agent_id"];
        let right = self.history.truth.right.get(&sighting.cause);
        (0..step)
            .filter(|at| {
                let payload = &self.history.steps[*at].payload;
                payload["session_id"] == *session && payload["agent_id"] == *agent
            })
            .any(|at| {
                let said = &self.played.said[at];
                !said.is_empty() && right.is_some_and(|right| text::has_any(said, right))
            })
    }

    /// Classifies the lines and commands of a block.
    fn line_kinds(&self, block: &LessonBlock, sightings: &[&FailureSighting]) -> Vec<LineKind> {
        let causes: BTreeSet<FailureCause> = sightings
            .iter()
            .filter(|sighting| block.owners.is_empty() || block.owners.contains(&sighting.check))
            .map(|sighting| sighting.cause)
            .collect();
        let truth = &self.history.truth;
        let in_set = |sets: &BTreeMap<FailureCause, BTreeSet<String>>, line: &str| {
            causes.iter().any(|cause| sets.get(cause).is_some_and(|set| set.contains(line)))
        };
        // The output does not distinguish these from the failure that it shows.
        let alike = |line: &str| {
            sightings
                .iter()
                .flat_map(|sighting| &sighting.lookalikes)
                .any(|cause| truth.right.get(cause).is_some_and(|set| set.contains(line)))
        };
        let mut kinds = Vec::new();
        if causes.contains(&FailureCause::Environment)
            && let Some(remedy) = &truth.remedy
            && block.whole.contains(remedy.as_str())
        {
            kinds.push(LineKind::Right);
        }
        for shown in &block.lines {
            let kind = if shown.matches.iter().any(|line| in_set(&truth.right, line)) {
                LineKind::Right
            } else if shown.matches.iter().any(|line| in_set(&truth.neutral, line) || alike(line)) {
                LineKind::Neutral
            } else {
                LineKind::Wrong(shown.text.clone())
            };
            kinds.push(if shown.is_hedged && kind != LineKind::Neutral {
                LineKind::Hedged(Box::new(kind))
            } else {
                kind
            });
        }
        let is_hedged = block.whole.to_lowercase().contains(HEDGE);
        for command in &truth.wrong_commands {
            if text::names_command(&block.heading, command) && !is_hedged {
                kinds.push(LineKind::Wrong(command.lines().next().unwrap_or_default().to_owned()));
            }
        }
        kinds
    }

    /// Judges when episodes were closed.
    fn judge_episodes(&mut self) {
        let truth = &self.history.truth;
        let mut bound: BTreeMap<String, usize> = BTreeMap::new();
        let mut closed_at: BTreeMap<String, usize> = BTreeMap::new();
        for event in &self.played.events {
            if event.is_opened {
                self.judgement.opened += 1;
                if let Some(failure) = self.find_failure(event, &bound) {
                    bound.insert(event.episode.id.clone(), failure);
                } else {
                    let episode = &event.episode;
                    let about = episode.test.as_deref().unwrap_or(&episode.words);
                    let what = format!("an episode about `{about}`");
                    let tags = BTreeSet::new();
                    self.judgement.strays.push(ProductFault { step: event.step, what, tags });
                }
                continue;
            }
            closed_at.insert(event.episode.id.clone(), event.step);
            let Some(failure) = bound.get(&event.episode.id) else { continue };
            if let Some(what) = improper_closing(&truth.failures[*failure], event) {
                let tags = truth.failures[*failure].tags.clone();
                self.judgement.uncovered_closings.push(ProductFault {
                    step: event.step,
                    what,
                    tags,
                });
            }
        }
        self.judgement.uncovered_runs = truth.uncovered.len();
        for (index, failure) in truth.failures.iter().enumerate() {
            let Some(required) = failure.required_at.filter(|_| failure.is_named) else { continue };
            if failure.resolution == Some(FailureEnding::Removed) {
                continue;
            }
            // An episode that should have been closed earlier continues with the next failure of the same check.
            let is_same = |other: usize| {
                let other = &truth.failures[other];
                other.check == failure.check
                    && other.checkout == failure.checkout
                    && other.opened <= failure.opened
            };
            let own: Vec<&String> = bound
                .iter()
                .filter(|(_, of)| **of == index || is_same(**of))
                .map(|(id, _)| id)
                .collect();
            let is_opened = !own.is_empty();
            let in_time = |id: &&String| closed_at.get(*id).is_some_and(|at| *at <= required);
            self.judgement.closings.push(ClosingVerdict {
                is_closed: is_opened && own.iter().all(in_time),
                is_opened,
                step: required,
                name: self.history.project.checks[failure.check].name.clone(),
                tags: failure.tags.clone(),
                tool: self.tool_of(failure),
            });
        }
    }

    fn tool_of(&self, failure: &FailureTruth) -> &'static str {
        let sightings = &self.history.truth.sightings;
        sightings
            .iter()
            .find(|sighting| sighting.check == failure.check && sighting.step == failure.opened)
            .map_or("", |sighting| sighting.tool)
    }

    /// Finds the failure that a new episode is about.
    fn find_failure(&self, event: &EpisodeEvent, bound: &BTreeMap<String, usize>) -> Option<usize> {
        let folders = &self.history.folders;
        let failures = self.history.truth.failures.iter().enumerate();
        let fits = |(_, failure): &(usize, &FailureTruth)| {
            let folder = &folders[failure.checkout];
            failure.failed_at.contains(&event.step)
                && failure.required_at.is_none_or(|at| at >= event.step)
                && failure.removed_at.is_none_or(|at| at >= event.step)
                && (event.episode.root.ends_with(&format!("/{folder}")) || folders.len() == 1)
                && is_about(&failure.name, &event.episode)
        };
        let fitting: Vec<(usize, &FailureTruth)> = failures.filter(fits).collect();
        // Two packages may have tests of the same name; the folder distinguishes them if it is known.
        let by_folder = fitting.iter().find(|(_, failure)| {
            let check = &self.history.project.checks[failure.check];
            let folder = &self.history.project.packages[check.package].folder;
            let words = format!("{:?} {}", event.episode.test, event.episode.words);
            !folder.is_empty() && words.contains(folder.as_str())
        });
        let free = fitting.iter().find(|(index, _)| !bound.values().any(|other| other == index));
        by_folder.or(free).or(fitting.first()).map(|(index, _)| *index)
    }
}

/// Returns the reason why an episode should not have been closed, if there is one.
fn improper_closing(failure: &FailureTruth, event: &EpisodeEvent) -> Option<String> {
    let ending = event.episode.ending.as_deref().unwrap_or_default();
    let test = event.episode.test.as_deref().unwrap_or(&event.episode.words);
    let is_removed = failure.removed_at.is_some_and(|at| at <= event.step);
    let is_proper = match ending {
        "left" => true,
        "removed" | "renamed" => is_removed || failure.may_close_at(event.step),
        _ => failure.may_close_at(event.step),
    };
    (!is_proper).then(|| format!("`{test}` was closed as {ending} by a run that did not pass it"))
}

/// Returns true if an episode is about the check of a name.
fn is_about(name: &CheckName, episode: &EpisodeView) -> bool {
    match name {
        CheckName::Test(leaf) => {
            episode.test.as_ref().is_some_and(|test| text::is_test_name(test, leaf))
        }
        CheckName::Finding(texts) => {
            let words =
                format!("{} {}", episode.test.as_deref().unwrap_or_default(), episode.words);
            texts.iter().all(|text| words.contains(text.as_str()))
        }
    }
}

/// Returns the beginning of a text in one line.
fn first_line_of(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(90).collect()
}
