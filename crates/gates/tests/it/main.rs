//! Integration tests of the gates.

mod tests_first;
