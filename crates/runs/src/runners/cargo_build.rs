//! cargo build.

use super::rustc;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader =
    OutputReader::new("cargo build", RunKind::Build, rustc::KEYWORDS, rustc::read_build_output);
