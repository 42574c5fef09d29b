//! cargo clippy.

use super::rustc;
use crate::runs::Kind;
use crate::runs::report::Runner;

pub(super) static RUNNER: Runner = Runner {
    name: "cargo clippy",
    kind: Kind::Lint,
    tells: rustc::TELLS,
    silent_on_success: false,
    read: rustc::read,
};

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::runs::cases::check("cargo clippy");
    }
}
