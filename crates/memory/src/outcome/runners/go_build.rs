//! go build.

use super::go_errors;
use crate::outcome::Kind;
use crate::outcome::report::Runner;

pub(super) static RUNNER: Runner =
    Runner { name: "go build", kind: Kind::Build, tells: &[], read: go_errors::read };

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::outcome::cases::check("go build");
    }
}
