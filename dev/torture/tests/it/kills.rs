use std::collections::HashSet;
use std::process::{Command, Stdio};

use rutter_memory::Id;
use rutter_torture::{Plan, Toll, run, verify};

const PROGRAM: &str = env!("CARGO_BIN_EXE_rutter-torture");

#[test]
fn two_hundred_rounds_of_kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan {
        program: PROGRAM.into(),
        folder: folder.path().join("memory"),
        rounds: 200,
        writers: 2,
        seed: 42,
    };
    let toll = run(&plan, |_| {}).unwrap();
    // Both paths were taken: into the database, and into the spool while the database was missing or locked.
    assert!(toll.stored > 100 && toll.spooled > 0, "{toll:?}");
}

#[test]
fn thirty_two_writers_at_once_lose_nothing() {
    const WRITERS: usize = 32;
    const ENTRIES: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    let children: Vec<_> = (0..WRITERS)
        .map(|writer| {
            Command::new(PROGRAM)
                .args(["write-some", &ENTRIES.to_string(), &format!("writer-{writer}")])
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
    assert_eq!(acknowledged.len(), WRITERS * ENTRIES);
    let mut toll = Toll::default();
    verify(&memory, &acknowledged, &mut toll).unwrap();
    assert_eq!(toll.unsaid, 0);
}
