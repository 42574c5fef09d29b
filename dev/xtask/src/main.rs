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

  generate [--check]     write all generated files; with --check, list the outdated ones
  bench                  measure speed as ratios within one run; fails if a limit is exceeded
  bench hooks [--json]   measure the time that a client waits for each hook event
  bench recall [--json]  measure searches in small and large memories
  bench mcp [--json]     measure the agent's tools over both transports
  bench lint             measure `rutter contract lint` on a large settings file, and on a machine with plugins
  bench toolkit          measure what the recorder, the adapter, `rutter contract test` and the gate for tests add to the time of a hook
  bench clusters [FILE]  measure the quality, stability and speed of clusters (`speed`: only the speed), or print the
                         clusters of a file with a `text` on each line
  eval retrieval FILE… [--json]
                         measure how well recall finds the right text, compared with plain BM25
  eval injection STORE PROMPTS [--json] [--applies-when FILE] [--measures FILE]
                         measure how often prompts get matching and other rows; FILE has phrases for lessons of
                         STORE: JSON with `id` and the list `applies_when` on each line
  eval loop [--seeds A..B] [--held-out] [--verbose|--full] [--binary PATH] [--dump DIR]
                         play generated histories with known truth into the hooks, and measure whether the right
                         change is shown and the right failure closed; --held-out uses the odd seeds
  eval commands [--binary PATH] HISTORY…
                         play the Bash calls of recorded histories into the hooks, and list what is said about failing
                         commands
  eval said [--binary PATH] [--event NAME] [--json] HISTORY…
                         play recorded histories into the hooks, and list every text that an agent would have read
                         with the prompt or command before it
  eval picture           draw the injection curve of our own sets into docs/measurements/injection.svg
  picture                draw the output of `rutter demo` into docs/demo.svg
  torture [ROUNDS] [--library]
                         kill hooks at random (10,000 rounds by default) and count the rows that remain;
                         with --library, kill processes that only write to the memory, which is faster
  hang [BINARY]          measure how long a client waits for a hook on a hanging disk; needs root, because it
                         creates and freezes a file system
  fuzz-seeds             write the captured payloads and measured answers as fuzzing corpora
  dist [--target TRIPLE] build the archive for users: static binary, completions, man pages, schemas
  client VERSION         download a measured client for the live suite and print its path; exits with 75 if the
                         npm registry does not respond
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
        ["bench", "toolkit"] => bench::toolkit::run(&repository_root()?)?,
        ["bench", "lint"] => bench::lint::run(&repository_root()?)?,
        ["bench", "clusters"] => bench::bench_clusters(&repository_root()?, None)?,
        ["bench", "clusters", file] => bench::bench_clusters(&repository_root()?, Some(file))?,
        ["eval", "retrieval", ref files @ ..] if !files.is_empty() => eval::eval_retrieval(files)?,
        ["eval", "injection", store, prompts, ref options @ ..] => {
            eval::eval_injection(store, prompts, options)?;
        }
        ["eval", "loop", ref words @ ..] => return eval::silent_loop(words),
        ["eval", "commands", ref words @ ..] => eval::eval_commands(&repository_root()?, words)?,
        ["eval", "said", ref words @ ..] => eval::eval_said(&repository_root()?, words)?,
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
