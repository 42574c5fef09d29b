//! Tests of the memory from outside.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files, have their own clock and are told about tools"
)]
