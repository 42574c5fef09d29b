//! Generates histories from a seed: the work of an agent in several sessions, with different kinds of mess.

use rutter_testkit::dice::SeededRandom;

use crate::command::{ProjectTaskRunner, add_tasks};
use crate::history::History;
use crate::languages::{self, NeedKind, ProjectExtras, ProjectLayout};
use crate::project::{BugKind, CheckKind, CheckTool, Language};
use crate::world::SimulatedSession;

mod changes;
mod moves;
mod rounds;
mod runs;
mod scenarios;

/// The kind of story in a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoryScenario {
    /// Bugs are fixed among other changes and recur.
    Plain,
    /// A linter, type checker or compiler reports an error.
    Lint,
    /// The command has to change, but no file.
    Environment,
    /// A test fails at random.
    Flaky,
    /// A failing test is removed, renamed or skipped.
    Removed,
    /// A test of the same name fails in another package.
    OtherPackage,
    /// The same test fails for another reason.
    OtherFailure,
    /// A change that broke a test is reverted with git.
    Git,
}

/// Scenarios with their weights.
const SCENARIOS: [(StoryScenario, usize); 8] = [
    (StoryScenario::Plain, 52),
    (StoryScenario::Lint, 10),
    (StoryScenario::Environment, 8),
    (StoryScenario::Flaky, 6),
    (StoryScenario::Removed, 6),
    (StoryScenario::OtherPackage, 6),
    (StoryScenario::OtherFailure, 6),
    (StoryScenario::Git, 6),
];

/// Languages with their weights.
const LANGUAGES: [(Language, usize); 5] = [
    (Language::Python, 30),
    (Language::TypeScript, 20),
    (Language::Go, 20),
    (Language::Rust, 20),
    (Language::JavaScript, 10),
];

/// Draws one of several, by weight.
fn draw_weighted<T: Copy>(dice: &mut SeededRandom, all: &[(T, usize)]) -> T {
    let mut drawn = dice.below(all.iter().map(|(_, weight)| weight).sum());
    for (value, weight) in all {
        if drawn < *weight {
            return *value;
        }
        drawn -= weight;
    }
    all[0].0
}

/// Generates the history of a seed. The same seed always gives the same history.
pub fn generate(seed: u64) -> History {
    let mut dice = SeededRandom::new(seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(seed));
    let scenario = draw_weighted(&mut dice, &SCENARIOS);
    let language = draw_weighted(&mut dice, &LANGUAGES);
    let layout = match scenario {
        StoryScenario::OtherPackage => ProjectLayout::Monorepo,
        _ => draw_weighted(
            &mut dice,
            &[
                (ProjectLayout::Single, 50),
                (ProjectLayout::Nested, 22),
                (ProjectLayout::Monorepo, 28),
            ],
        ),
    };
    let extras = ProjectExtras {
        need: (scenario == StoryScenario::Environment).then(|| {
            *dice.pick(&[NeedKind::Variable, NeedKind::Variable, NeedKind::Flag, NeedKind::Wrapper])
        }),
        flaky: scenario == StoryScenario::Flaky,
    };
    let mut project = languages::build_project(language, layout, extras, &mut dice);
    let tasks = draw_tasks(language, layout, &mut dice);
    let tasks = add_tasks(&mut project, &tasks);
    let mut world = SimulatedSession::new(seed, dice, project, tasks);
    world.tag(&format!("scenario: {scenario:?}").to_lowercase());
    let mut story = StoryBuilder { world, unformatted: None };
    match scenario {
        StoryScenario::Plain => story.play_plain(),
        StoryScenario::Lint => story.play_lint(),
        StoryScenario::Environment => story.play_environment(),
        StoryScenario::Flaky => story.play_flaky(),
        StoryScenario::Removed => story.play_removed(),
        StoryScenario::OtherPackage => story.play_other_package(),
        StoryScenario::OtherFailure => story.play_other_failure(),
        StoryScenario::Git => story.play_git(),
    }
    story.world.finish()
}

/// Draws the task runners of a project.
fn draw_tasks(
    language: Language,
    layout: ProjectLayout,
    dice: &mut SeededRandom,
) -> Vec<ProjectTaskRunner> {
    use ProjectTaskRunner::{Just, Make, Mise, Npm, Pnpm, Script, Tox, Yarn};
    let mut all = match language {
        Language::Python if layout == ProjectLayout::Single => vec![Make, Just, Mise, Script, Tox],
        Language::Python | Language::Rust | Language::Go => vec![Make, Just, Mise, Script],
        Language::TypeScript | Language::JavaScript => vec![Npm, Pnpm, Yarn, Make, Script],
    };
    dice.shuffle(&mut all);
    all.truncate(2);
    all
}

/// A history under construction.
struct StoryBuilder {
    world: SimulatedSession,
    /// A region that a formatter would change, and the formatted text.
    unformatted: Option<(String, Vec<String>)>,
}

impl StoryBuilder {
    /// Returns true with a probability in percent.
    fn chance(&mut self, percent: usize) -> bool {
        self.world.dice.below(100) < percent
    }

    /// Returns the tool that runs the tests of the project.
    fn test_tool(&self) -> CheckTool {
        match self.world.project.language {
            Language::Python => CheckTool::Pytest,
            Language::Rust => CheckTool::CargoTest,
            Language::Go => CheckTool::GoTest,
            Language::TypeScript => CheckTool::Vitest,
            Language::JavaScript => CheckTool::Jest,
        }
    }

    /// Returns the tool that finds a bug.
    fn tool_for(&self, bug: usize) -> CheckTool {
        let bug = &self.world.project.bugs[bug];
        match self.world.project.checks[bug.checks()[0]].kind {
            CheckKind::Lint(tool) => tool,
            _ => self.test_tool(),
        }
    }

    /// Draws bugs that can exist at the same time: in different functions, and without a shared check.
    fn draw_bugs(&mut self, count: usize, fits: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.world.project.bugs.len()).collect();
        self.world.dice.shuffle(&mut all);
        let mut chosen: Vec<usize> = Vec::new();
        for index in all {
            if chosen.len() == count {
                break;
            }
            if fits(self, index) && chosen.iter().all(|other| !self.is_near(index, *other)) {
                chosen.push(index);
            }
        }
        chosen
    }

    /// Returns true if two bugs share a function, a region or a check.
    fn is_near(&self, one: usize, other: usize) -> bool {
        let bugs = &self.world.project.bugs;
        let (one, other) = (&bugs[one], &bugs[other]);
        let checks = |bug: &crate::project::Bug| -> Vec<usize> {
            let forms = bug.forms.iter().chain(&bug.attempts).chain(&bug.halfway);
            forms.flat_map(|form| form.failures.iter().map(|(check, _)| *check)).collect()
        };
        let ours = checks(one);
        // Orders use prices: a mistake in prices also fails tests of orders.
        (!one.unit.is_empty() && one.unit == other.unit)
            || checks(other).iter().any(|check| ours.contains(check))
    }

    /// Returns true for bugs that tests find and that do not prevent other tests from running.
    fn is_ordinary(&self, bug: usize) -> bool {
        !matches!(self.world.project.bugs[bug].kind, BugKind::Lint)
    }
}
