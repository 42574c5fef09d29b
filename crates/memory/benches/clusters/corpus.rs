//! Lessons with known causes as vectors, one list for each axis.

use rutter_memory::document::{Axis, ghap_texts};
use rutter_memory::ghap::expect::Expects;
use rutter_memory::ghap::{
    Ghap, GhapLesson as Said, GhapStatus, Resolution, ResolutionEvidence, RootCause, StatedParts,
    Tier,
};
use rutter_memory::project::ProjectKey;
use rutter_memory::{Clean, Id, Time};
use rutter_search::cluster::subtract_work as lesson_of;
use rutter_search::embed::{Vector, embed};
use rutter_testkit::lessons::GeneratedLesson;

/// A text with its vector, its weight and its known cause.
#[derive(Clone)]
pub(crate) struct LessonPoint {
    pub(crate) vector: Vector,
    pub(crate) weight: f32,
    pub(crate) label: Option<usize>,
    pub(crate) text: String,
}

/// Returns the texts of lessons on an axis; lessons without text on it are left out.
pub(crate) fn lesson_points(lessons: &[GeneratedLesson], axis: Axis) -> Vec<LessonPoint> {
    lessons.iter().filter_map(|lesson| lesson_point(lesson, axis)).collect()
}

fn lesson_point(lesson: &GeneratedLesson, axis: Axis) -> Option<LessonPoint> {
    let ghap = lesson_ghap(lesson);
    let mut texts = ghap_texts(&ghap);
    let work =
        texts.iter().find(|(own, _)| *own == Axis::Strategy).and_then(|(_, text)| embed(text));
    let at = texts.iter().position(|(own, _)| *own == axis)?;
    let (_, text) = texts.swap_remove(at);
    let mut vector = embed(&text)?;
    if let (Axis::Full, Some(work)) = (axis, work) {
        vector = lesson_of(&vector, &work);
    }
    #[expect(clippy::cast_possible_truncation, reason = "a weight has one digit")]
    let weight = ghap.resolution.map_or(1.0, |resolution| resolution.tier.weight()) as f32;
    Some(LessonPoint { vector, weight, label: lesson.label, text })
}

/// Returns the time of a lesson.
pub(crate) fn lesson_time(lesson: &GeneratedLesson) -> Time {
    Time::from_millis(1_763_200_000_000 + lesson.at * 1_000)
}

pub(crate) fn lesson_ghap(lesson: &GeneratedLesson) -> Ghap {
    let at = lesson_time(lesson);
    let status: GhapStatus = lesson.status.parse().expect("a status");
    let tier = match (status, lesson.proven) {
        (GhapStatus::Abandoned, _) => Tier::Abandoned,
        (_, true) => Tier::Gold,
        _ => Tier::Silver,
    };
    let clean = |text: &Option<String>| text.as_deref().map(Clean::new);
    Ghap {
        id: Id::new(at),
        project: ProjectKey::new("bench"),
        session: Clean::new(&format!("session-{}", lesson.session)),
        agent: None,
        domain: lesson.domain.parse().expect("a domain"),
        strategy: lesson.strategy.parse().expect("a strategy"),
        goal: Clean::new(&lesson.goal),
        hypothesis: Clean::new(&lesson.hypothesis),
        action: Clean::new(&lesson.action),
        prediction: Clean::new(&lesson.prediction),
        expects: Expects::Pass,
        target: None,
        stated: StatedParts::default(),
        testable: true,
        confidence: None,
        predicted: at,
        revisions: Vec::new(),
        notes: Vec::new(),
        status,
        resolution: Some(Resolution {
            at,
            result: Clean::new(&lesson.result),
            surprise: clean(&lesson.surprise),
            root_cause: lesson.cause.as_ref().map(|(category, text)| RootCause {
                category: category.parse().expect("a category"),
                text: Clean::new(text),
            }),
            lesson: Some(Said {
                what_worked: clean(&lesson.what_worked),
                takeaway: clean(&lesson.takeaway),
            }),
            applies_when: Vec::new(),
            has_derived_phrases: false,
            tier,
            evidence: Some(ResolutionEvidence { outcome: None, supports: lesson.proven }),
        }),
        created: at,
        changed: at,
    }
}
