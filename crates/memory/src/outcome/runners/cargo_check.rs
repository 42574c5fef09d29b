//! cargo check.

use super::rustc;
use crate::outcome::Kind;
use crate::outcome::report::Runner;

pub(super) static RUNNER: Runner =
    Runner { name: "cargo check", kind: Kind::Typecheck, tells: &[], read: rustc::read };

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::outcome::cases::check("cargo check");
    }
}
