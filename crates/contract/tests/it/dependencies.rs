//! The crate promises to depend on serde alone.

use std::process::Command;

use rutter_testkit::{Ran, root};

#[test]
fn serde_is_all_it_depends_on() {
    let tree = Ran::of(
        Command::new(env!("CARGO"))
            .args(["tree", "-p", "rutter-contract", "--edges", "normal", "--depth", "1"])
            .args(["--prefix", "none", "--format", "{p}", "--offline", "--locked"])
            .current_dir(root()),
    )
    .success();
    let crates: Vec<&str> =
        tree.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(crates, ["rutter-contract", "serde", "serde_json"]);
}
