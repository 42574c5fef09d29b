//! cargo clippy.

use super::rustc;
use crate::Kind;
use crate::report::Runner;

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
        crate::cases::check("cargo clippy");
    }
}
