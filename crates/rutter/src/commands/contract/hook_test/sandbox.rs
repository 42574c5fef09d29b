//! Namespaces and mounts that keep hooks under test away from the user's files, processes and network.
//!
//! A process enters new namespaces and starts a second one, the first in its namespace of processes. The second one reads
//! what it must know, makes the file system read-only, gives up its capabilities, and runs the hooks. Whatever a hook leaves
//! behind ends with it. Reading is not restricted outside the home folder and the folders of sockets.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_change,
    move_mount, open_tree,
};
use rustix::process::{Signal, set_parent_process_death_signal};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
    set_no_new_privs, unshare_unsafe,
};

use crate::cli::hook_test::Namespaces;

/// Folders for temporary files, which a hook may write to: it sees a folder of the run in their place.
const TEMPORARY_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Folders with sockets of other programs and with terminals, which are empty for a hook.
const SOCKET_FOLDERS: [&str; 2] = ["/run", "/dev/pts"];
/// Folders beside a folder of programs that show that they belong together.
const INSTALLATION_FOLDERS: [&str; 2] = ["lib", "versions"];

/// The files that hooks see.
#[derive(Debug, Default)]
pub(super) struct FileView {
    /// An empty folder of this process, for what is mounted in the place of hidden folders.
    pub(super) empty: PathBuf,
    /// The folder in the place of folders for temporary files.
    pub(super) temporary: PathBuf,
    /// Folders that a hook may write to.
    pub(super) writable: Vec<PathBuf>,
    /// Files and folders that stay visible, although a folder above them is hidden.
    pub(super) kept: Vec<PathBuf>,
    /// The user's home folder, which is hidden.
    pub(super) home: Option<PathBuf>,
}

/// A tree of files and the path at which it is mounted.
struct Mounted {
    path: PathBuf,
    tree: OwnedFd,
    /// True for an empty folder in the place of a hidden one.
    is_empty: bool,
}

/// Ends this process when its parent ends.
pub(super) fn end_with_parent() {
    // Where it is not supported, the process ends by itself, later.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

/// Moves this process, which must have one thread, into new namespaces. Its next child is the first process of the new
/// namespace of processes. Returns the namespaces that the system allows.
pub(super) fn enter_namespaces() -> Namespaces {
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    let network = UnshareFlags::NEWUSER | UnshareFlags::NEWNET;
    let own = network | UnshareFlags::NEWNS | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    let entered = if unshare(own).is_ok() {
        Namespaces::Own
    } else if unshare(network).is_ok() {
        Namespaces::Network
    } else {
        return Namespaces::Shared;
    };
    let (user, group) = (user.as_raw(), group.as_raw());
    // Without the maps, files belong to nobody. The file system is then not protected, which the run finds out.
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    let is_mapped = maps.iter().all(|(path, text)| write_existing(path, text).is_ok());
    end_with_parent();
    if entered == Namespaces::Own && is_mapped && keep_capabilities().is_ok() {
        return Namespaces::Own;
    }
    Namespaces::Network
}

#[expect(unsafe_code, reason = "rustix has no safe form")]
fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: the table of file descriptors stays shared.
    Ok(unsafe { unshare_unsafe(flags) }?)
}

/// Writes a file of the kernel, with one call.
fn write_existing(path: &str, text: &str) -> io::Result<()> {
    io::Write::write_all(&mut File::options().write(true).open(path)?, text.as_bytes())
}

/// Passes the capabilities that the next program needs, which a user other than root would lose.
fn keep_capabilities() -> io::Result<()> {
    let kept = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP;
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: kept };
    set_capabilities(None, sets)?;
    for capability in kept.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Makes the file system read-only except the writable folders, hides folders, and gives up all capabilities, so that no
/// hook can undo it. Returns true if the home folder is hidden.
pub(super) fn restrict_files(view: &FileView) -> io::Result<bool> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let (mounts, hides_home) = plan_mounts(view)?;
    set_read_only(CWD, Path::new("/"), true)?;
    for mounted in &mounts {
        create_mount_point(mounted)?;
        let from = mounted.tree.as_fd();
        move_mount(from, "", CWD, &mounted.path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    }
    for empty in mounts.iter().filter(|mounted| mounted.is_empty) {
        set_read_only(CWD, &empty.path, false)?;
    }
    // Of its own processes only. A container may not allow it, and the other one is read-only.
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", "/proc", "proc", flags, None);
    drop_capabilities()?;
    Ok(hides_home)
}

/// Returns the trees to mount, those at shorter paths first, and true if the home folder is hidden.
fn plan_mounts(view: &FileView) -> io::Result<(Vec<Mounted>, bool)> {
    let is_writable = |path: &Path| view.writable.iter().any(|folder| path.starts_with(folder));
    let kept: Vec<&PathBuf> = view.kept.iter().filter(|path| !is_writable(path)).collect();
    let mut mounts = Vec::new();
    let mut hidden: Vec<PathBuf> = Vec::new();
    let mut hides_home = false;
    let folders = TEMPORARY_FOLDERS.iter().map(|path| (Path::new(path), Some(&view.temporary)));
    let sockets = SOCKET_FOLDERS.iter().map(|path| (Path::new(path), None));
    let home = view.home.iter().map(|home| (home.as_path(), None));
    for (number, (path, shown)) in folders.chain(sockets).chain(home).enumerate() {
        let Ok(path) = path.canonicalize() else { continue };
        // What must stay visible may contain the folder.
        let is_needed =
            view.writable.iter().chain(kept.iter().copied()).any(|kept| path.starts_with(kept));
        if !path.is_dir() || path.parent().is_none() || is_needed || hidden.contains(&path) {
            continue;
        }
        let is_empty = shown.is_none();
        let folder = match shown {
            Some(shown) => shown.clone(),
            None => view.empty.join(number.to_string()),
        };
        fs::create_dir_all(&folder)?;
        hides_home |=
            view.home.as_ref().and_then(|home| home.canonicalize().ok()).as_ref() == Some(&path);
        mounts.push(Mounted { path: path.clone(), tree: clone_tree(&folder)?, is_empty });
        hidden.push(path);
    }
    for path in kept.into_iter().filter(|path| hidden.iter().any(|hidden| path.starts_with(hidden)))
    {
        // A path that does not exist needs no place.
        let Ok(tree) = clone_tree(path) else { continue };
        set_read_only(tree.as_fd(), Path::new(""), true)?;
        mounts.push(Mounted { path: path.clone(), tree, is_empty: false });
    }
    for path in &view.writable {
        mounts.push(Mounted { path: path.clone(), tree: clone_tree(path)?, is_empty: false });
    }
    mounts.sort_by_key(|mounted| mounted.path.components().count());
    Ok((mounts, hides_home))
}

fn clone_tree(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn create_mount_point(mounted: &Mounted) -> io::Result<()> {
    if mounted.path.symlink_metadata().is_ok() {
        return Ok(());
    }
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&mounted.tree)?.st_mode);
    if kind.is_dir() {
        return fs::create_dir_all(&mounted.path);
    }
    if let Some(folder) = mounted.path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::create(&mounted.path).map(drop)
}

/// Makes a mount read-only, with all mounts below it if `is_recursive`. With an empty path, the mount of the descriptor.
#[expect(unsafe_code, reason = "rustix does not have this system call")]
fn set_read_only(folder: BorrowedFd<'_>, path: &Path, is_recursive: bool) -> io::Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    let flags = libc::AT_EMPTY_PATH | if is_recursive { libc::AT_RECURSIVE } else { 0 };
    // `struct mount_attr`: attributes to set, attributes to clear, propagation, user namespace.
    let attributes: [u64; 4] = [1 /* MOUNT_ATTR_RDONLY */, 0, 0, 0];
    // SAFETY: the path ends with a zero byte, and the structure has the size that is passed; the kernel only reads both.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            path.as_ptr(),
            flags,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Gives up all capabilities, also for the programs that this process starts.
fn drop_capabilities() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        match remove_capability_from_bounding_set(capability) {
            // The kernel does not know it.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(set_no_new_privs(true)?)
}

/// Returns the folders to keep visible for programs of a search path: with the folders beside it, if they belong together.
pub(super) fn program_folders(search: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in search.iter().filter(|folder| folder.is_absolute()) {
        let installation = folder.parent().filter(|parent| {
            parent.parent().is_some()
                && Some(*parent) != home
                && INSTALLATION_FOLDERS.iter().any(|name| parent.join(name).is_dir())
        });
        add_with_target(installation.unwrap_or(folder), &mut folders);
    }
    folders
}

/// Adds a path, and the path to which its symbolic links lead.
pub(super) fn add_with_target(path: &Path, paths: &mut Vec<PathBuf>) {
    let target = path.canonicalize().ok();
    for path in [Some(path.to_owned()), target].into_iter().flatten() {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}
