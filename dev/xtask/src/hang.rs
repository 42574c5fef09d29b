//! `cargo xtask hang`: measures a client's wait for a hook if the disk hangs.
//!
//! Needs root. Creates a file system in a file, puts a store on it, freezes it, and runs `rutter hook` with captured
//! payloads. Always thaws and unmounts the file system.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

/// Events on which a hook records, queries or only counts.
const TESTED_EVENTS: [&str; 5] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
/// Time after which a hook counts as hung.
const HANG_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum wait of a client: one second, plus a margin for a busy machine.
const MAX_CLIENT_WAIT: Duration = Duration::from_millis(1_250);

/// Prints the time of each event; returns an error if a hook exceeds the maximum.
#[expect(clippy::print_stdout, reason = "a task reports to whoever runs it")]
pub(crate) fn run(root: &Path, binary: Option<&str>) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "mounting and freezing a file system needs root");
    let binary = match binary {
        Some(binary) => PathBuf::from(binary).canonicalize().context(binary.to_owned())?,
        None => crate::dist::build_release(root)?,
    };
    let disk = LoopDisk::mount()?;
    let home = disk.folder.join("memory");
    let rutter = |args: &[&str]| {
        let mut command = Command::new(&binary);
        command.args(args).env_clear().env("RUTTER_HOME", &home).env("PATH", "/usr/bin:/bin");
        command
    };
    run_checked(&mut rutter(&["remember", "the mast is made of oak", "--category", "fact"]))?;
    println!("{:<18} {:>12} {:>12}", "event", "well", "frozen");
    let mut longest = Duration::ZERO;
    for event in TESTED_EVENTS {
        let payload = rutter(&["contract", "payload", event]).output()?.stdout;
        let well = time_hook(rutter(&["hook"]), &payload)?;
        let frozen = {
            let _frozen = disk.freeze()?;
            time_hook(rutter(&["hook"]), &payload)?
        };
        println!("{event:<18} {:>9.1} ms {:>9.1} ms", to_millis(well), to_millis(frozen));
        longest = longest.max(frozen);
    }
    // Give the processes that hung time to end.
    std::thread::sleep(Duration::from_secs(1));
    if longest > MAX_CLIENT_WAIT {
        bail!(
            "a client waits {:.1} ms, and {:.1} are promised",
            to_millis(longest),
            to_millis(MAX_CLIENT_WAIT)
        );
    }
    Ok(())
}

fn to_millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Runs a hook like a client; returns the time until the hook has ended and its output pipes are closed.
fn time_hook(mut command: Command, payload: &[u8]) -> Result<Duration> {
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdin.take().context("piped")?.write_all(payload));
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let (ended, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut said = Vec::new();
        drop(stdout.as_mut().map(|pipe| pipe.read_to_end(&mut said)));
        drop(stderr.as_mut().map(|pipe| pipe.read_to_end(&mut said)));
        drop(ended.send(child.wait().map(|status| (status, begun.elapsed()))));
    });
    match end.recv_timeout(HANG_TIMEOUT) {
        Ok(ended) => {
            let (status, time) = ended?;
            ensure!(status.success(), "the hook ended with {status}");
            Ok(time)
        }
        Err(_) => Ok(HANG_TIMEOUT),
    }
}

/// A file system in a file.
struct LoopDisk {
    place: tempfile::TempDir,
    folder: PathBuf,
}

impl LoopDisk {
    fn mount() -> Result<Self> {
        let place = tempfile::tempdir()?;
        let (image, folder) = (place.path().join("image"), place.path().join("disk"));
        std::fs::create_dir(&folder)?;
        std::fs::File::create(&image)?.set_len(64 * 1024 * 1024)?;
        run_checked(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        run_checked(Command::new("mount").args(["-o", "loop"]).arg(&image).arg(&folder))?;
        Ok(Self { place, folder })
    }

    fn freeze(&self) -> Result<FreezeGuard<'_>> {
        // A safety net if this process is killed: every process that touches a frozen file system hangs.
        Command::new("sh")
            .args(["-c", "sleep 60; fsfreeze -u \"$0\" 2>/dev/null"])
            .arg(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let frozen = FreezeGuard(self);
        run_checked(Command::new("fsfreeze").arg("-f").arg(&self.folder))?;
        Ok(frozen)
    }
}

/// A frozen file system, which is thawed on drop.
struct FreezeGuard<'a>(&'a LoopDisk);

impl Drop for FreezeGuard<'_> {
    fn drop(&mut self) {
        drop(run_checked(Command::new("fsfreeze").arg("-u").arg(&self.0.folder)));
    }
}

impl Drop for LoopDisk {
    #[expect(clippy::print_stderr, reason = "whoever runs it has to unmount it")]
    fn drop(&mut self) {
        for _ in 0..20 {
            if run_checked(Command::new("umount").arg(&self.folder).stderr(Stdio::null())).is_ok() {
                return;
            }
            // A hook that is still running ends soon.
            std::thread::sleep(Duration::from_millis(100));
        }
        eprintln!("{} stays mounted", self.place.path().display());
    }
}

fn run_checked(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status();
    let status =
        status.with_context(|| format!("{} cannot be started", command.get_program().display()))?;
    ensure!(status.success(), "{} ended with {status}", command.get_program().display());
    Ok(())
}
