//! `rutter-torture run ROUNDS FOLDER`, and the subcommands of the processes that it starts and kills.

#![allow(clippy::print_stdout, reason = "a program of the repository says what it did")]

use std::path::Path;

use anyhow::{Context as _, bail};
use rutter_torture::{TorturePlan, maintain_until_killed, run_rounds, write_entries};

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
        ["run", rounds, folder] => {
            let rounds = rounds.parse().context("a number of rounds")?;
            let plan = TorturePlan {
                program: std::env::current_exe()?,
                folder: folder.into(),
                rounds,
                writers: 4,
                seed: 0x0072_7574_7465_7221,
            };
            let begun = std::time::Instant::now();
            let toll = run_rounds(&plan, |round| {
                if (round + 1) % 500 == 0 {
                    println!("{} rounds, {} s", round + 1, begun.elapsed().as_secs());
                }
            })?;
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
        _ => bail!("rutter-torture run ROUNDS FOLDER"),
    }
}
