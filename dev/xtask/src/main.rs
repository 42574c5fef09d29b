//! `cargo xtask`: maintenance tasks of the project.

#![allow(clippy::disallowed_methods, reason = "a task runs in its developer's environment")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

mod bench;
mod client;
mod dist;
mod eval;
mod files;
mod fuzz_seeds;
mod generate;
mod hang;
mod picture;
mod torture;

const USAGE: &str = "\
usage: cargo xtask TASK

  generate [--check]     write the files that follow from the event table, or say which are stale
  bench                  measure speed, as ratios in one run, and fail where a promise is not kept
  bench hooks [--json]   the same for what a client waits for on every event
  bench recall [--json]  the same for a search in small and large memories
  bench mcp [--json]     the same for the tools of an agent, over both transports
  bench clusters [FILE]  how well lessons are grouped, how long names last and how fast it is
                         (`speed`: only that); or the groups of a file with a `text` on each line, for a person to read
  eval retrieval FILE… [--json]
                         how well the right text is found, beside plain BM25
  eval injection STORE PROMPTS [--json]
                         how often something is shown that does not fit, beside how often what fits is
  eval loop [--seeds A..B] [--held-out] [--verbose|--full] [--binary PATH] [--dump DIR]
                         generated histories with known truth, played into the hooks: is the right change shown,
                         is the right failure closed; odd seeds are set aside (--held-out)
  eval picture           the same of our own sets, drawn over the floor, into docs/reference/injection.svg
  picture                what `rutter demo` prints, drawn into docs/demo.svg
  torture [ROUNDS] [--library]
                         kill hooks at random, 10,000 rounds unless told otherwise, and count what is left;
                         with --library, processes that only write to the memory, which is faster
  hang [BINARY]          how long a client waits for a hook whose disk hangs, as root: freezes a file system of its own
  fuzz-seeds             write the captured payloads and measured answers as fuzzing corpora
  dist [--target TRIPLE] build the archive that users unpack: static binary, completions, man pages, schemas
  client VERSION         fetch a measured client for the live suite, and print its path; exit 75 where the
                         npm registry does not answer
";

fn main() -> Result<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["generate"] => generate::run(&repository_root()?, false)?,
        ["generate", "--check"] => generate::run(&repository_root()?, true)?,
        ["bench"] => bench::run(&repository_root()?)?,
        ["bench", "hooks"] => bench::hooks::run(&repository_root()?, false)?,
        ["bench", "hooks", "--json"] => bench::hooks::run(&repository_root()?, true)?,
        ["bench", "recall"] => bench::recall::run(&repository_root()?, false)?,
        ["bench", "recall", "--json"] => bench::recall::run(&repository_root()?, true)?,
        ["bench", "mcp"] => bench::mcp::run(&repository_root()?, false)?,
        ["bench", "mcp", "--json"] => bench::mcp::run(&repository_root()?, true)?,
        ["bench", "clusters"] => bench::bench_clusters(&repository_root()?, None)?,
        ["bench", "clusters", file] => bench::bench_clusters(&repository_root()?, Some(file))?,
        ["eval", "retrieval", ref files @ ..] if !files.is_empty() => eval::eval_retrieval(files)?,
        ["eval", "injection", store, prompts] => eval::eval_injection(store, prompts, false)?,
        ["eval", "injection", store, prompts, "--json"] => {
            eval::eval_injection(store, prompts, true)?;
        }
        ["eval", "loop", ref words @ ..] => return eval::silent_loop(words),
        ["eval", "picture"] => eval::draw_injection_curve(&repository_root()?)?,
        ["picture"] => picture::run(&repository_root()?)?,
        ["torture", ref words @ ..] => torture::run(&repository_root()?, words)?,
        ["hang"] => hang::run(&repository_root()?, None)?,
        ["hang", binary] => hang::run(&repository_root()?, Some(binary))?,
        ["fuzz-seeds"] => fuzz_seeds::run(&repository_root()?)?,
        ["dist"] => dist::run(&repository_root()?, None)?,
        ["dist", "--target", target] => dist::run(&repository_root()?, Some(target))?,
        ["client", version] => return client::run(version),
        _ => bail!(USAGE),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the root of the repository, independent of the current folder.
fn repository_root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map(Path::to_owned).context("dev/xtask lies two levels below the root")
}
