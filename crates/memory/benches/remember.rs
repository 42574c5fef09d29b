//! Measures the time to add a row to an existing store, in process. Part of `cargo xtask bench recall`, which passes
//! the data directory. Prints a name and a median in microseconds.

#![allow(clippy::disallowed_methods, reason = "a bench has a clock of its own")]

use std::path::PathBuf;
use std::time::Instant;

use rutter_memory::memory::MemoryCategory;
use rutter_memory::project::LocatedProject;
use rutter_memory::store::NewMemory;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::{Store, Time};

const MEASURED_ROUNDS: i64 = 200;

#[expect(clippy::print_stdout, reason = "the figure")]
fn main() {
    // Cargo passes arguments too.
    let Some(folder) = std::env::args().skip(1).find(|word| !word.starts_with("--")) else {
        return;
    };
    let folder = PathBuf::from(folder);
    let at = |round: i64| Time::from_millis(1_779_000_000_000 + round);
    let place = ProjectPlace::from(&LocatedProject::find(&folder));
    let mut store = Store::open(&folder, at(0)).expect("a store");
    let mut times: Vec<f64> = (0..MEASURED_ROUNDS)
        .map(|round| {
            let text = format!(
                "The parser of configuration files keeps a carriage return at the end of line {round} when a file has CRLF: \
                 split with lines() in read_config, and look for every other split in src/config/read.rs before you go on"
            );
            let new = NewMemory {
                place: Some(&place),
                category: MemoryCategory::Fact,
                text: &text,
                importance: 0.5,
                tags: &[],
                applies_when: &[],
            };
            let from = Instant::now();
            store.remember(&new, at(round)).expect("remembered");
            from.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("remember {:.1}", times[times.len() / 2]);
}
