use std::collections::HashSet;
use std::process::{Command, Stdio};

use rutter_memory::Id;
use rutter_torture::{TortureCounts, TorturePlan, run_rounds, verify_store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_rutter-torture");

#[test]
fn kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = TorturePlan {
        program: PROGRAM.into(),
        folder: folder.path().join("memory"),
        rounds: 200,
        writers: 2,
        seed: 42,
    };
    let toll = run_rounds(&plan, |_| {}).unwrap();
    // Both paths were taken: into the database, and into the spool while the database was missing or locked.
    assert!(toll.stored > 100 && toll.spooled > 0, "{toll:?}");
}

#[test]
fn concurrent_writers_lose_nothing() {
    const WRITER_COUNT: usize = 32;
    const PAIRS_PER_WRITER: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    let children: Vec<_> = (0..WRITER_COUNT)
        .map(|writer| {
            Command::new(PROGRAM)
                .args(["write-some", &PAIRS_PER_WRITER.to_string(), &format!("writer-{writer}")])
                .arg(&memory)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    // Maintenance creates the store while the writers run.
    let mut tender = Command::new(PROGRAM).arg("tend").arg(&memory).spawn().unwrap();
    let mut acknowledged: HashSet<Id> = HashSet::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let lines = String::from_utf8(output.stdout).unwrap();
        acknowledged.extend(
            lines.lines().map(|line| line.split(' ').next().unwrap().parse::<Id>().unwrap()),
        );
    }
    tender.kill().unwrap();
    tender.wait().unwrap();
    assert_eq!(acknowledged.len(), WRITER_COUNT * PAIRS_PER_WRITER);
    let mut toll = TortureCounts::default();
    verify_store(&memory, &acknowledged, &mut toll).unwrap();
    assert_eq!(toll.unacknowledged, 0);
}
