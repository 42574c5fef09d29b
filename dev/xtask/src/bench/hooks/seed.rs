//! The seeded store: three months of data, the same on every run except for its end date.

use std::io::Write;

use anyhow::Result;
use rutter_memory::change::{Change, Hunk};
use rutter_memory::episode::{Episode, EpisodeEnding, EpisodeEndingKind};
use rutter_memory::outcome::{Outcome, RunKind, TestCounts, Verdict};
use rutter_memory::project::{LocatedProject, ProjectKey};
use rutter_memory::session::{Session, StoredSessionSource};
use rutter_memory::store::{ExportRecord, Project};
use rutter_memory::{Clean, Id, Time};
use rutter_runs::selection::TestSelection;

pub(super) const OUTCOME_COUNT: u32 = 20_000;
pub(super) const EPISODE_COUNT: u32 = 2_000;
pub(super) const SESSION_COUNT: u32 = 50;

/// Every third run belongs to another project.
const OTHER_PROJECT_INTERVAL: u32 = 3;
const SEED_AGE_MILLIS: i64 = 90 * 24 * 60 * 60 * 1_000;

/// Writes the data as an export: the project of a checkout, another one, and the records of both.
pub(super) fn write_seed(checkout: &LocatedProject, now: Time, mut out: impl Write) -> Result<()> {
    let began = now.millis() - SEED_AGE_MILLIS;
    let at = |number: u32, of: u32| {
        Time::from_millis(began + SEED_AGE_MILLIS / i64::from(of) * i64::from(number))
    };
    let other = ProjectKey::new("github.com/ada/harbour");
    let mut put = |record: &ExportRecord| -> Result<()> {
        serde_json::to_writer(&mut out, record)?;
        Ok(out.write_all(b"\n")?)
    };
    put(&ExportRecord::RutterExport { schema: rutter_memory::store::SCHEMA_VERSION })?;
    let root = Clean::new(&checkout.root.to_string_lossy());
    for (number, key) in (0..).zip([&checkout.key, &other]) {
        let aliases = if number == 0 { checkout.aliases.clone() } else { Vec::new() };
        put(&ExportRecord::Project(Project {
            id: seed_id(1, number)?,
            key: key.clone(),
            aliases,
            merged: Vec::new(),
            name: Clean::new(key.as_str().rsplit('/').next().unwrap_or_default()),
            root: root.clone(),
            created: at(0, 1),
            changed: at(0, 1),
        }))?;
    }
    let project = |number: u32| {
        if number.is_multiple_of(OTHER_PROJECT_INTERVAL) { &other } else { &checkout.key }
    };
    let client = |number: u32| Clean::new(&format!("7d1f0c7e-5a0b-4c86-9a35-{number:012x}"));
    for number in 0..SESSION_COUNT {
        put(&ExportRecord::Session(Session {
            id: seed_id(2, number)?,
            client: client(number),
            project: project(number).clone(),
            source: StoredSessionSource::Startup,
            started: at(number, SESSION_COUNT),
            seen: at(number, SESSION_COUNT),
            ended: Some(at(number, SESSION_COUNT)),
            process: None,
            cohort: None,
            calls: 400,
            refreshed: None,
        }))?;
    }
    for number in 0..OUTCOME_COUNT {
        let fails = number % 4 == 1;
        put(&ExportRecord::Outcome(Outcome {
            id: seed_id(3, number)?,
            project: project(number).clone(),
            session: Some(client(number % SESSION_COUNT)),
            agent: None,
            command: Clean::new("python -m pytest tests -q"),
            kind: RunKind::Test,
            runner: Clean::new("pytest"),
            verdict: if fails { Verdict::Failed } else { Verdict::Passed },
            counts: Some(TestCounts { passed: 120, failed: u32::from(fails), skipped: 2 }),
            failing: if fails { vec![Clean::new(&test_name(number))] } else { Vec::new() },
            signature: fails.then(|| Clean::new(&failure_signature(number))),
            exit: Some(i32::from(fails)),
            duration: Some(1_000 + u64::from(number % 5_000)),
            at: at(number, OUTCOME_COUNT),
        }))?;
    }
    for number in 0..EPISODE_COUNT {
        put(&ExportRecord::Episode(Box::new(seed_episode(number, project(number), &root, at)?)))?;
    }
    Ok(())
}

fn seed_episode(
    number: u32,
    project: &ProjectKey,
    root: &Clean,
    at: impl Fn(u32, u32) -> Time,
) -> Result<Episode> {
    let (opened, ended) =
        (at(number * 2, EPISODE_COUNT * 2), at(number * 2 + 1, EPISODE_COUNT * 2));
    let run = number * (OUTCOME_COUNT / EPISODE_COUNT);
    // Every failure occurs twice.
    let name = number - number % 2;
    let hunk = Hunk {
        removed: vec![format!("    stock = rows[{}:]", number % 9), "    return stock".to_owned()],
        added: vec![
            format!("    stock = rows[{}:]", number % 9 + 1),
            format!("    return [row for row in stock if row.count > {number}]"),
        ],
        ..Hunk::default()
    };
    Ok(Episode {
        id: seed_id(4, number)?,
        project: project.clone(),
        root: root.clone(),
        selection: TestSelection {
            package: None,
            program: Clean::new("pytest"),
            folder: Clean::default(),
            arguments: vec![Clean::new("tests")],
            stops: false,
            task: None,
            is_partial: false,
        },
        signature: Clean::new(&failure_signature(name)),
        test: Some(Clean::new(&test_name(name))),
        error: Clean::new(&format!("AssertionError: assert {number} == {}", number + 1)),
        scope: None,
        is_compile_error: false,
        file: Some(Clean::new(&format!("tests/test_module_{}.py", name % 40))),
        first: Some(seed_id(3, run)?),
        last: Some(seed_id(3, run + 1)?),
        attempts: 2,
        opened,
        seen: opened,
        gone: None,
        ending: Some(EpisodeEnding {
            how: EpisodeEndingKind::Fixed,
            at: ended,
            outcome: Some(seed_id(3, run + 2)?),
            fix: vec![Change {
                is_certain: true,
                ..Change::from_edit(&format!("shop/module_{}.py", name % 40), &[hunk], ended)
            }],
        }),
    })
}

fn test_name(number: u32) -> String {
    format!("tests/test_module_{}.py::TestStock::test_case_{number}", number % 40)
}

fn failure_signature(number: u32) -> String {
    format!(
        "{} | AssertionError | assert # == # | test_module_{}.py",
        test_name(number),
        number % 40
    )
}

/// Returns the same id on every run.
fn seed_id(kind: u32, number: u32) -> Result<Id> {
    Ok(format!("019a86e0-0000-7000-800{kind}-{number:012x}").parse()?)
}
