//! cargo check.

use super::rustc;
use crate::RunKind;
use crate::report::OutputReader;

pub(super) static RUNNER: OutputReader =
    OutputReader::new("cargo check", RunKind::Typecheck, rustc::KEYWORDS, rustc::read_build_output);
