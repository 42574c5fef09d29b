//! cargo check.

use super::rustc;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader = OutputReader {
    name: "cargo check",
    kind: RunKind::Typecheck,
    keywords: rustc::KEYWORDS,
    silent_on_success: false,
    read: rustc::read_build_output,
};
