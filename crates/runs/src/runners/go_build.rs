//! go build.

use super::go_errors;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader = OutputReader::new(
    "go build",
    RunKind::Build,
    go_errors::KEYWORDS,
    go_errors::read_build_output,
)
.silent_on_success();

#[cfg(test)]
mod tests {
    #[test]
    fn recorded_outputs() {
        crate::cases::check_recorded_cases("go build");
    }
}
