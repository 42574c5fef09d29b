//! go build.

use super::go_errors;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "go build",
    kind: RunKind::Build,
    keywords: go_errors::KEYWORDS,
    silent_on_success: true,
    read: go_errors::read_build_output,
};
