//! Decides which users' git directories are read, like git's `safe.directory`.
//!
//! Another user can create a `.git` in any folder that both can write to, such as `/tmp`.

use std::sync::OnceLock;

/// The user who started this process with `sudo`.
static SUDO_USER: OnceLock<u32> = OnceLock::new();

/// Allows git directories of the user who ran this process with `sudo`. Applies only if the process runs as root, and
/// only the first call counts.
pub fn set_sudo_user(user: u32) {
    SUDO_USER.get_or_init(|| user);
}

/// Returns true if git directories of this user are read: those of the current user, of root, and of the user who
/// became root with `sudo`.
pub(super) fn is_trusted_owner(owner: u32) -> bool {
    may_own(owner, rustix::process::geteuid().as_raw(), SUDO_USER.get().copied())
}

fn may_own(owner: u32, user: u32, sudo_user: Option<u32>) -> bool {
    owner == user || owner == 0 || (user == 0 && sudo_user == Some(owner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_own_and_root_directories() {
        assert!(may_own(1000, 1000, None));
        assert!(may_own(0, 1000, None));
        assert!(may_own(0, 0, None));
        assert!(!may_own(1001, 1000, None));
        assert!(!may_own(1000, 0, None));
        assert!(may_own(1000, 0, Some(1000)));
        assert!(!may_own(1001, 0, Some(1000)));
        // The environment variable has no effect for a user who is not root.
        assert!(!may_own(1001, 1000, Some(1001)));
    }
}
