//! go vet.

use super::go_errors;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader =
    OutputReader::new("go vet", RunKind::Lint, go_errors::KEYWORDS, go_errors::read_build_output)
        .silent_on_success();
