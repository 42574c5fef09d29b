//! `cargo xtask eval loop`: plays generated histories with known truth into the product.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail, ensure};
use rutter_histories::judge::judge_history;
use rutter_histories::play::{Binary, InProcess, PlayFolders, Product, play_history};
use rutter_histories::report::LoopReport;
use rutter_histories::{dump, generate, show};

/// The range of seeds without `--seeds`.
const DEFAULT_SEEDS: (u64, u64) = (0, 400);

/// Arguments of the task.
#[derive(Default)]
struct LoopArguments {
    seeds: Option<(u64, u64)>,
    is_held_out: bool,
    is_verbose: bool,
    is_full: bool,
    binary: Option<PathBuf>,
    dump: Option<PathBuf>,
}

impl LoopArguments {
    fn parse(words: &[&str]) -> Result<Self> {
        let mut arguments = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            match *word {
                "--seeds" => {
                    let (from, to) = value()?.split_once("..").context("seeds are A..B")?;
                    arguments.seeds = Some((from.parse()?, to.parse()?));
                }
                "--held-out" => arguments.is_held_out = true,
                "--verbose" => arguments.is_verbose = true,
                "--full" => (arguments.is_verbose, arguments.is_full) = (true, true),
                "--binary" => arguments.binary = Some(value()?.into()),
                "--dump" => arguments.dump = Some(value()?.into()),
                other => bail!("no such option: {other}"),
            }
        }
        Ok(arguments)
    }

    /// Returns the seeds of the chosen half: even ones for development, odd ones are set aside.
    fn selected_seeds(&self) -> Vec<u64> {
        let (from, to) = self.seeds.unwrap_or(DEFAULT_SEEDS);
        (from..to).filter(|seed| (seed % 2 == 1) == self.is_held_out).collect()
    }
}

/// Plays histories and prints the report; exit code 1 if a goal is missed.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode> {
    let arguments = LoopArguments::parse(words)?;
    let seeds = arguments.selected_seeds();
    ensure!(!seeds.is_empty(), "no seeds of this half; odd seeds need --held-out");
    if let Some(folder) = &arguments.dump {
        for seed in &seeds {
            println!("{}", dump::dump_history(&generate(*seed), folder)?.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let next = AtomicUsize::new(0);
    let report = Mutex::new(LoopReport::default());
    let workers = if arguments.is_verbose {
        1
    } else {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    };
    let work = || -> Result<()> {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = play_seed(*seed, &arguments).with_context(|| format!("seed {seed}"))?;
            report.lock().unwrap_or_else(std::sync::PoisonError::into_inner).join(one);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            thread.join().map_err(|_| anyhow::anyhow!("a worker panicked"))??;
        }
        anyhow::Ok(())
    })?;
    let report = report.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    print_text(&report.text());
    Ok(if report.is_met() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints a text. A closed pipe ends the output and nothing else.
fn print_text(text: &str) {
    drop(writeln!(std::io::stdout(), "{text}"));
}

fn play_seed(seed: u64, arguments: &LoopArguments) -> Result<LoopReport> {
    let history = generate(seed);
    let stage = PlayFolders::new()?;
    let mut product: Box<dyn Product> = match &arguments.binary {
        Some(program) => Box::new(Binary::new(program, &stage)?),
        None => Box::new(InProcess::new(&stage)?),
    };
    let played = play_history(&history, &stage, &mut *product)?;
    let judgement = judge_history(&history, &played);
    if arguments.is_verbose {
        print_text(&show::render_history(&history, Some(&played), arguments.is_full));
    }
    let mut report = LoopReport::default();
    report.add(&history, &judgement);
    Ok(report)
}
