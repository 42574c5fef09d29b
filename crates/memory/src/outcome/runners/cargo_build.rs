//! cargo build.

use super::rustc;
use crate::outcome::Kind;
use crate::outcome::report::Runner;

pub(super) static RUNNER: Runner =
    Runner { name: "cargo build", kind: Kind::Build, tells: &[], read: rustc::read };

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::outcome::cases::check("cargo build");
    }
}
