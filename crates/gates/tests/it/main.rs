//! Integration tests of the gates.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(clippy::print_stdout, reason = "tests print what they measured")]

mod task_index;
mod tests_first;
