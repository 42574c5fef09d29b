//! Generated experiences with known causes: resolved GHAPs, each labelled with its cause.
//!
//! Their distribution follows real stores: three fifths belong to one domain, work comes in bursts, a few causes make
//! up most of them, seven tenths of the predictions come true and a tenth is given up. The texts never name a cause;
//! they are drawn from several people's wordings, and mixed with unrelated details of the work at the time.

use crate::dice::SeededRandom;

/// A generated lesson with its cause, if it has a recurring one.
#[derive(Debug, Clone)]
pub struct GeneratedLesson {
    /// The cause, hidden from the tested methods; `None` for a unique lesson.
    pub label: Option<usize>,
    /// The time, in seconds since the first.
    pub at: i64,
    /// The number of its session.
    pub session: usize,
    /// The name of the domain.
    pub domain: &'static str,
    /// The name of the strategy.
    pub strategy: &'static str,
    /// `confirmed`, `falsified` or `abandoned`.
    pub status: &'static str,
    /// The goal.
    pub goal: String,
    /// The hypothesis.
    pub hypothesis: String,
    /// The action.
    pub action: String,
    /// The prediction.
    pub prediction: String,
    /// The actual result.
    pub result: String,
    /// The surprise; only if the prediction failed.
    pub surprise: Option<String>,
    /// The category of the cause and the cause in words; only if the prediction failed.
    pub cause: Option<(&'static str, String)>,
    /// The part that worked; only if the prediction came true, and not always then.
    pub what_worked: Option<String>,
    /// The takeaway; none if the work was given up.
    pub takeaway: Option<String>,
    /// True if a run proves it.
    pub proven: bool,
}

struct LessonCause {
    category: &'static str,
    domains: Vec<&'static str>,
    beliefs: Vec<&'static str>,
    surprises: Vec<&'static str>,
    causes: Vec<&'static str>,
    lessons: Vec<&'static str>,
}

const STRATEGIES: [&str; 9] = [
    "systematic-elimination",
    "trial-and-error",
    "research-first",
    "divide-and-conquer",
    "root-cause-analysis",
    "copy-from-similar",
    "check-assumptions",
    "read-the-error",
    "ask-user",
];
const PREDICTIONS: [&str; 8] = [
    "the tests pass",
    "the failing test goes green",
    "the whole suite stays green",
    "the reported case works and nothing else changes",
    "the build succeeds",
    "the numbers agree with the reference",
    "the error is gone from the log",
    "the page renders as designed",
];
const CAME_TRUE: [&str; 6] = [
    "as predicted, everything passed",
    "green on the first run",
    "it passed after the change",
    "confirmed by the suite",
    "works, also by hand",
    "the reported case is gone",
];
const FAILED: [&str; 6] = [
    "the same test still fails",
    "it failed with another message than before",
    "no change at all",
    "two tests went green and one is red",
    "still reproducible by hand",
    "the suite is red",
];
const GIVEN_UP: [&str; 4] = [
    "priorities changed",
    "the ticket was closed by somebody else",
    "session ended before there was an answer",
    "out of scope for now",
];
/// Names to insert into texts, so that entries differ.
const NAMES: [&str; 24] = [
    "orders.py",
    "cart.ts",
    "sync.go",
    "report_job",
    "SessionStore",
    "parse_row",
    "billing/api.rs",
    "test_export",
    "UserService",
    "queue.ts",
    "invoice.html",
    "deploy.yml",
    "settings.toml",
    "price_model",
    "mailer.rb",
    "AuthMiddleware",
    "importer/csv.rs",
    "test_totals",
    "worker.js",
    "catalogue.json",
    "schema.sql",
    "ProfileView",
    "limits.go",
    "feature_flags.py",
];
/// Interval of unique lessons: every tenth has no recurring cause.
const UNIQUE_LESSON_INTERVAL: usize = 10;

fn load_causes() -> Vec<LessonCause> {
    let mut causes: Vec<LessonCause> = Vec::new();
    for line in content_lines(include_str!("lessons/causes.txt")) {
        let (letter, text) = line.split_at(2);
        if letter == "= " {
            let mut words = text.split(' ').skip(1);
            causes.push(LessonCause {
                category: words.next().expect("a category"),
                domains: words.collect(),
                beliefs: Vec::new(),
                surprises: Vec::new(),
                causes: Vec::new(),
                lessons: Vec::new(),
            });
            continue;
        }
        let cause = causes.last_mut().expect("a cause first");
        match letter {
            "h " => cause.beliefs.push(text),
            "s " => cause.surprises.push(text),
            "c " => cause.causes.push(text),
            _ => cause.lessons.push(text),
        }
    }
    causes
}

/// Returns the lessons of a cause, in several people's wordings.
pub fn lessons_of_cause(label: usize) -> Vec<&'static str> {
    load_causes().swap_remove(label).lessons
}

fn content_lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Generates lessons in chronological order; the same seed gives the same lessons.
///
/// # Panics
///
/// If the included files are malformed.
pub fn generate_lessons(seed: u64, count: usize) -> Vec<GeneratedLesson> {
    let causes = load_causes();
    let alone: Vec<&'static str> = content_lines(include_str!("lessons/alone.txt")).collect();
    let places: Vec<(&str, &str)> = content_lines(include_str!("lessons/places.txt"))
        .map(|line| line.split_once(" | ").expect("a goal and an action"))
        .collect();
    let mut dice = SeededRandom::new(seed);
    // A few causes make up most lessons: the n-th is 1/(n + 3) as frequent.
    let mut order: Vec<usize> = (0..causes.len()).collect();
    dice.shuffle(&mut order);
    let mut singles: Vec<usize> = (0..alone.len()).collect();
    dice.shuffle(&mut singles);
    let mut at = 0;
    let (mut session, mut place, mut left) = (0, 0, 0);
    let mut made = Vec::with_capacity(count);
    for number in 0..count {
        // A burst: a few entries of one session about one subject, minutes apart; then hours or days without any.
        if left == 0 {
            session += 1;
            left = 1 + dice.below(6);
            place = dice.below(places.len());
            at += 3_600 * (1 + i64::try_from(dice.below(70)).unwrap_or(0));
        }
        left -= 1;
        at += 60 * (5 + i64::try_from(dice.below(40)).unwrap_or(0));
        let single = if number % UNIQUE_LESSON_INTERVAL == UNIQUE_LESSON_INTERVAL - 1 {
            singles.pop()
        } else {
            None
        };
        let label =
            if single.is_some() { None } else { Some(order[dice.weighted_below(causes.len())]) };
        let status = match dice.below(10) {
            0..7 => "confirmed",
            7..9 => "falsified",
            _ => "abandoned",
        };
        let (surprise, category, cause, takeaway, worked, belief, domain) = match (label, single) {
            (Some(label), _) => {
                let cause = &causes[label];
                (
                    *dice.pick(&cause.surprises),
                    cause.category,
                    *dice.pick(&cause.causes),
                    *dice.pick(&cause.lessons),
                    *dice.pick(&cause.lessons),
                    *dice.pick(&cause.beliefs),
                    *dice.pick(&cause.domains),
                )
            }
            (None, single) => {
                let mut parts = alone[single.unwrap_or(0)].split(" | ");
                let mut part = || parts.next().expect("three parts");
                let (surprise, cause, takeaway) = (part(), part(), part());
                (surprise, "missing-knowledge", cause, takeaway, takeaway, cause, "feature")
            }
        };
        let domain = if dice.below(10) < 6 { "debugging" } else { domain };
        // A failed prediction rests on another belief, possibly one that belongs to another cause.
        let belief = if status == "falsified" {
            let other = &causes[dice.below(causes.len())];
            *dice.pick(&other.beliefs)
        } else {
            belief
        };
        let (goal, action) =
            places[if dice.below(3) == 0 { dice.below(places.len()) } else { place }];
        let mut named = |text: &str| match dice.below(3) {
            0 => format!("{text} ({})", dice.pick(&NAMES)),
            1 => format!("{}: {text}", dice.pick(&NAMES)),
            _ => text.to_owned(),
        };
        let failed = status == "falsified";
        let surprise = failed.then(|| named(surprise));
        let cause = failed.then(|| (category, named(cause)));
        let worked = (status == "confirmed").then(|| named(worked));
        let takeaway = (status != "abandoned").then(|| named(takeaway));
        let action = named(action);
        let result = match status {
            "confirmed" => dice.pick(&CAME_TRUE),
            "falsified" => dice.pick(&FAILED),
            _ => dice.pick(&GIVEN_UP),
        };
        made.push(GeneratedLesson {
            label,
            at,
            session,
            domain,
            strategy: dice.pick::<&str>(&STRATEGIES),
            status,
            goal: goal.to_owned(),
            hypothesis: belief.to_owned(),
            action,
            prediction: (*dice.pick(&PREDICTIONS)).to_owned(),
            result: (*result).to_owned(),
            surprise,
            cause,
            // Not every lesson has both texts.
            what_worked: worked.filter(|_| dice.below(2) == 0),
            takeaway,
            proven: dice.below(10) < 4,
        });
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_follows_real_stores() {
        let made = generate_lessons(1, 1_000);
        let share =
            |of: &dyn Fn(&GeneratedLesson) -> bool| made.iter().filter(|one| of(one)).count();
        assert!((550..750).contains(&share(&|one| one.domain == "debugging")));
        assert!((650..750).contains(&share(&|one| one.status == "confirmed")));
        assert!((150..250).contains(&share(&|one| one.status == "falsified")));
        assert_eq!(share(&|one| one.label.is_none()), 60);
        for label in 0..40 {
            assert!(share(&|one| one.label == Some(label)) >= 3, "{label}");
        }
        assert!(made.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert_eq!(format!("{made:?}"), format!("{:?}", generate_lessons(1, 1_000)));
        assert_ne!(format!("{made:?}"), format!("{:?}", generate_lessons(2, 1_000)));
    }

    #[test]
    fn causes_have_several_wordings() {
        for cause in load_causes() {
            assert!(cause.domains.len() >= 2 && cause.beliefs.len() >= 2);
            for said in [&cause.surprises, &cause.causes, &cause.lessons] {
                assert!(said.len() >= 4, "{said:?}");
            }
        }
    }
}
