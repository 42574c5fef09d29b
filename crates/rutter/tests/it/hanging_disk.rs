//! Hooks on a hanging disk: the client continues after one second.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rutter_testkit::report_skip;
use serde_json::json;

use crate::hook::assert_silent;
use crate::support::{TestHome, lock_database};

/// The hook's limit of one second, plus a margin for a busy machine.
const MAX_HOOK_DURATION: Duration = Duration::from_millis(2_500);

/// A file system image mounted as the data directory. It is thawed and unmounted on drop.
struct FreezableDisk(PathBuf);

impl FreezableDisk {
    /// Returns None if the test may not mount a file system.
    fn mount(home: &TestHome) -> Option<Self> {
        let image = home.path("image");
        fs::create_dir(home.memory()).unwrap();
        fs::File::create(&image).unwrap().set_len(32 * 1024 * 1024).unwrap();
        let disk = Self(home.memory());
        let is_mounted = run_program("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), &image])
            && run_program("mount", &["-o".as_ref(), "loop".as_ref(), &image, &disk.0]);
        if !is_mounted {
            report_skip("a disk that hangs", "this machine lets nobody mount one");
            return None;
        }
        fs::remove_dir(home.memory().join("lost+found")).unwrap();
        fs::set_permissions(home.memory(), fs::Permissions::from_mode(0o700)).unwrap();
        Some(disk)
    }

    /// Blocks every write to the disk. Returns false if that is not possible.
    fn freeze(&self) -> bool {
        // Thaws the disk even if this process is killed: a process that is blocked by a frozen disk cannot be killed.
        let rescue = Command::new("sh")
            .args(["-c", "sleep 30; fsfreeze -u \"$0\""])
            .arg(&self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        rescue.is_ok() && run_program("fsfreeze", &["-f".as_ref(), &self.0])
    }

    fn thaw(&self) -> bool {
        run_program("fsfreeze", &["-u".as_ref(), &self.0])
    }
}

impl Drop for FreezableDisk {
    fn drop(&mut self) {
        self.thaw();
        // A worker left behind by a hook may still run for a moment.
        let until = Instant::now() + Duration::from_secs(10);
        while !run_program("umount", &[&self.0]) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn run_program(program: &str, args: &[&Path]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn hanging_disk_does_not_block_client() {
    let home = TestHome::new();
    let Some(disk) = FreezableDisk::mount(&home) else { return };
    home.ok(&["maintain"]);
    if !disk.freeze() {
        return report_skip("a disk that hangs", "this machine lets nobody freeze one");
    }
    let mut waited = Vec::new();
    for payload in [home.failing_run("one"), home.event("one", "Stop", &json!({}))] {
        let begun = Instant::now();
        // Returns when the hook has ended and its pipes are closed, as the client requires.
        let ran = home.hook(&payload);
        waited.push(begun.elapsed());
        assert_silent(&ran);
        if waited.iter().any(|waited| *waited > MAX_HOOK_DURATION) {
            break;
        }
    }
    assert!(disk.thaw());
    assert!(waited.iter().all(|waited| *waited < MAX_HOOK_DURATION), "{waited:?}");
    // The worker left behind finishes: the run is recorded late.
    let until = Instant::now() + Duration::from_secs(10);
    let is_recorded = || !home.json(&["episodes", "list"]).as_array().unwrap().is_empty();
    while !is_recorded() {
        assert!(Instant::now() < until, "the run was lost");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits for the hook's worker and returns it once it has given up the hook's pipes.
fn wait_for_worker(hook: u32) -> Pid {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let children = fs::read_to_string(format!("/proc/{hook}/task/{hook}/children")).unwrap();
        if let Ok(worker) = children.trim().parse()
            && fs::read_link(format!("/proc/{worker}/fd/1"))
                .is_ok_and(|file| file == Path::new("/dev/null"))
        {
            return Pid::from_raw(worker).unwrap();
        }
        assert!(Instant::now() < until, "no worker");
        std::thread::yield_now();
    }
}

#[test]
fn hook_leaves_stopped_worker() {
    let home = TestHome::new();
    home.write_config(&[]);
    home.ok(&["maintain"]);
    // Has the worker wait for half a second, in which it can be found and stopped.
    let holder = lock_database(&home.memory().join("rutter.db"), "EXCLUSIVE");
    let begun = Instant::now();
    let mut hook = home.command(&["hook"]);
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(home.failing_run("one").to_string().as_bytes()).unwrap();
    let worker = wait_for_worker(hook.id());
    kill_process(worker, Signal::STOP).unwrap();
    let ended = hook.wait_with_output().unwrap();
    let waited = begun.elapsed();
    kill_process(worker, Signal::KILL).unwrap();
    drop(holder);
    assert!(ended.status.success() && ended.stdout.is_empty(), "{ended:?}");
    assert!(waited > Duration::from_millis(900) && waited < MAX_HOOK_DURATION, "{waited:?}");
    let log = fs::read_to_string(home.memory().join("log/rutter.log")).unwrap();
    assert!(log.contains("hook: ended after one second"), "{log}");
}
