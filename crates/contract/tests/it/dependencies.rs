//! The crate is promised to be serde and nothing else.

use std::process::Command;

use rutter_testkit::{Ran, root};

#[test]
fn serde_and_what_serde_brings() {
    let tree = Ran::of(
        Command::new(env!("CARGO"))
            .args([
                "tree",
                "-p",
                "rutter-contract",
                "--edges",
                "normal,no-proc-macro",
                "--prefix",
                "none",
            ])
            .args(["--format", "{p}", "--no-dedupe", "--offline", "--locked"])
            .current_dir(root()),
    )
    .success();
    let mut crates: Vec<&str> =
        tree.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    crates.sort_unstable();
    crates.dedup();
    assert_eq!(
        crates,
        [
            "equivalent",
            "hashbrown",
            "indexmap",
            "itoa",
            "memchr",
            "rutter-contract",
            "serde",
            "serde_core",
            "serde_json",
            "zmij"
        ]
    );
}
