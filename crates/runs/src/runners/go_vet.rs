//! go vet.

use super::go_errors;
use crate::Kind;
use crate::report::Runner;

pub(super) static RUNNER: Runner = Runner {
    name: "go vet",
    kind: Kind::Lint,
    tells: go_errors::TELLS,
    silent_on_success: true,
    read: go_errors::read,
};

#[cfg(test)]
mod tests {
    #[test]
    fn fixtures() {
        crate::cases::check("go vet");
    }
}
