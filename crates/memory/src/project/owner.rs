//! Whose git directories are read, as with git's `safe.directory`.
//!
//! Another user can put a `.git` into any folder that both can write to, such as `/tmp`.

use std::sync::OnceLock;

/// The user who started this process with `sudo`.
static SUDO_USER: OnceLock<u32> = OnceLock::new();

/// Lets git directories of the user be read who ran this process with `sudo`. Counts only where the process runs as root,
/// and only the first time.
pub fn set_sudo_user(user: u32) {
    SUDO_USER.get_or_init(|| user);
}

/// Returns true if git directories of this user are read: those of the user who runs this, of root, and of who became root
/// with `sudo`.
pub(super) fn is_trusted(owner: u32) -> bool {
    may_own(owner, rustix::process::geteuid().as_raw(), SUDO_USER.get().copied())
}

fn may_own(owner: u32, user: u32, sudo_user: Option<u32>) -> bool {
    owner == user || owner == 0 || (user == 0 && sudo_user == Some(owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_and_root_directories_are_read() {
        assert!(may_own(1000, 1000, None));
        assert!(may_own(0, 1000, None));
        assert!(may_own(0, 0, None));
        assert!(!may_own(1001, 1000, None));
        assert!(!may_own(1000, 0, None));
        assert!(may_own(1000, 0, Some(1000)));
        assert!(!may_own(1001, 0, Some(1000)));
        // A variable of the environment lends nothing to who is not root.
        assert!(!may_own(1001, 1000, Some(1001)));
    }
}
