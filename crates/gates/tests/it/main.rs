//! Integration tests of the gates.

mod task_index;
mod tests_first;
