//! Measures the hot handle and the spool, in process: `cargo bench -p rutter-memory --bench store`, or as a part of
//! `cargo xtask bench`. Prints a name and a median in microseconds per line.

#![allow(clippy::disallowed_methods, reason = "a bench has a clock of its own")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use rutter_memory::outcome::{Outcome, RunKind, Verdict};
use rutter_memory::project::LocatedProject;
use rutter_memory::store::entry::{EntryKind, ProjectPlace, SessionEntry};
use rutter_memory::store::hook_store::HookStore;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{DataDir, spool};
use rutter_memory::{Clean, Id, Store, Time};

const MEASURED_ROUNDS: i64 = 2_000;
/// Number of runs in the store before the measurement.
const STORED_RUN_COUNT: i64 = 20_000;
const WRITE_BUDGET: Duration = Duration::from_millis(50);

fn time_at(millis: i64) -> Time {
    Time::from_millis(1_763_200_000_000 + millis)
}

fn sample_entries(place: &ProjectPlace, now: Time) -> [SessionEntry; 2] {
    let outcome = Outcome {
        id: Id::new(now),
        project: place.key.clone(),
        session: Some(Clean::new("session")),
        agent: None,
        command: Clean::new("cargo test -p parser"),
        kind: RunKind::Test,
        runner: Clean::new("cargo test"),
        verdict: Verdict::Failed,
        counts: None,
        failing: vec![Clean::new("parser::tests::takes_crlf")],
        signature: Some(Clean::new("parser::tests::takes_crlf assertion left == right")),
        exit: Some(101),
        duration: Some(1_200),
        at: now,
    };
    let entry = |kind| SessionEntry {
        client: Clean::new("session"),
        place: place.clone(),
        process: None,
        at: now,
        kind,
    };
    [entry(EntryKind::Called(None)), entry(EntryKind::Ran(Box::new(outcome.into())))]
}

#[expect(clippy::print_stdout, reason = "the figures")]
fn print_median(name: &str, mut times: Vec<Duration>) {
    times.sort();
    println!("{name} {:.1}", times[times.len() / 2].as_secs_f64() * 1e6);
}

/// WAL size above which hooks start a checkpoint.
const MAX_WAL_BYTES: u64 = 1024 * 1024;

fn measure_rounds(files: &DataDir, mut work: impl FnMut(i64)) -> Vec<Duration> {
    (0..MEASURED_ROUNDS)
        .map(|round| {
            if files.wal().metadata().is_ok_and(|wal| wal.len() > MAX_WAL_BYTES) {
                maintain(files.folder(), &MaintenanceLimits::default(), time_at(STORED_RUN_COUNT))
                    .expect("tended");
            }
            let from = Instant::now();
            work(round);
            from.elapsed()
        })
        .collect()
}

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = DataDir::new(folder.path().join("memory"));
    let place = ProjectPlace::from(&LocatedProject::find(folder.path()));
    drop(Store::open(files.folder(), time_at(0)).expect("a store"));
    for batch in 0..STORED_RUN_COUNT / 1_000 {
        let many: Vec<SessionEntry> = (0..1_000)
            .flat_map(|row| sample_entries(&place, time_at(batch * 1_000 + row)))
            .collect();
        HookStore::open(&files, WRITE_BUDGET)
            .expect("ready")
            .write_entries(&many)
            .expect("written");
        maintain(files.folder(), &MaintenanceLimits::default(), time_at(batch)).expect("tended");
    }
    maintain(files.folder(), &MaintenanceLimits::default(), time_at(STORED_RUN_COUNT))
        .expect("tended");

    print_median(
        "open",
        measure_rounds(&files, |_| {
            drop(black_box(HookStore::open(&files, WRITE_BUDGET).expect("ready")));
        }),
    );
    print_median(
        "open-write-close",
        measure_rounds(&files, |round| {
            let entries = sample_entries(&place, time_at(STORED_RUN_COUNT + round));
            HookStore::open(&files, WRITE_BUDGET)
                .expect("ready")
                .write_entries(&entries)
                .expect("written");
        }),
    );
    print_median(
        "spool",
        measure_rounds(&files, |round| {
            spool::append_entries(&files, &sample_entries(&place, time_at(round)))
                .expect("spooled");
        }),
    );
    print_median(
        "locate",
        measure_rounds(&files, |_| drop(black_box(LocatedProject::find(folder.path())))),
    );
}
