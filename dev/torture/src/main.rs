//! `rutter-torture hooks RUTTER ROUNDS FOLDER` kills the real hook, `rutter-torture run ROUNDS FOLDER` writers that use the
//! library. The other subcommands are for the processes that the latter starts and kills.

#![allow(clippy::print_stdout, reason = "a program of the repository says what it did")]

use std::path::Path;

use anyhow::{Context as _, bail};
use rutter_torture::hooks::{HookTorturePlan, run_hook_rounds};
use rutter_torture::{TorturePlan, maintain_until_killed, run_rounds, write_entries};

/// The seed of the random kill times.
const RANDOM_SEED: u64 = 0x0072_7574_7465_7221;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", count, client, folder] => {
            write_entries(Path::new(folder), client, count.parse()?)?;
            // Wait to be killed: a writer that ends by itself counts as a failure.
            loop {
                std::thread::park();
            }
        }
        ["write-some", count, client, folder] => {
            write_entries(Path::new(folder), client, count.parse()?)
        }
        ["tend", folder] => maintain_until_killed(Path::new(folder)),
        ["hooks", rutter, rounds, folder] => {
            let plan = HookTorturePlan {
                rutter: rutter.into(),
                folder: folder.into(),
                rounds: rounds.parse().context("a number of rounds")?,
                sessions: 4,
                seed: RANDOM_SEED,
            };
            let counts = run_hook_rounds(&plan, print_progress())?;
            println!(
                "{rounds} rounds, {} hooks and {} other processes killed: {} calls acknowledged, none lost, none twice, all in \
                 order; {} more were stored by hooks that were killed before they ended; the spool was used in {} rounds",
                counts.hook_kills,
                counts.other_kills,
                counts.acknowledged,
                counts.unacknowledged,
                counts.rounds_with_spool,
            );
            Ok(())
        }
        ["run", rounds, folder] => {
            let rounds = rounds.parse().context("a number of rounds")?;
            let plan = TorturePlan {
                program: std::env::current_exe()?,
                folder: folder.into(),
                rounds,
                writers: 4,
                seed: RANDOM_SEED,
            };
            let toll = run_rounds(&plan, print_progress())?;
            println!(
                "{rounds} rounds, {} kills: {} acknowledged entries ({} stored, {} spooled), none lost, none twice; {} more were \
                 written by processes that died before they could say so",
                toll.kills,
                toll.stored + toll.spooled,
                toll.stored,
                toll.spooled,
                toll.unacknowledged,
            );
            Ok(())
        }
        _ => bail!("rutter-torture hooks RUTTER ROUNDS FOLDER | rutter-torture run ROUNDS FOLDER"),
    }
}

/// Returns a function that prints the time of every 500 rounds.
fn print_progress() -> impl FnMut(u32) {
    let begun = std::time::Instant::now();
    move |round| {
        if (round + 1).is_multiple_of(500) {
            println!("{} rounds, {} s", round + 1, begun.elapsed().as_secs());
        }
    }
}
