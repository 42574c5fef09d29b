//! cargo clippy.

use super::rustc;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader =
    OutputReader::new("cargo clippy", RunKind::Lint, rustc::KEYWORDS, rustc::read_build_output);
