//! The runners, one file each.

mod bun_test;
mod cargo_build;
mod cargo_check;
mod cargo_clippy;
mod cargo_nextest;
mod cargo_test;
mod ctest;
mod dotnet_test;
mod eslint;
mod findings;
mod flake8;
mod go_build;
mod go_errors;
mod go_test;
mod go_vet;
mod gradle;
mod java;
mod jest;
mod make;
mod minitest;
mod mocha;
mod mvn;
mod mypy;
mod node_test;
mod panics;
mod phpunit;
mod prove;
mod pyright;
mod pytest;
mod rspec;
mod ruff;
mod rust_failure;
mod rustc;
mod stack;
mod tally;
mod traceback;
mod tsc;
mod unittest;
mod vite_build;
mod vitest;
mod webpack;

use super::report::Runner;

/// Every runner there is a reader for.
pub static RUNNERS: &[&Runner] = &[
    // One a line, in the order of the alphabet.
    &bun_test::RUNNER,
    &cargo_build::RUNNER,
    &cargo_check::RUNNER,
    &cargo_clippy::RUNNER,
    &cargo_nextest::RUNNER,
    &cargo_test::RUNNER,
    &ctest::RUNNER,
    &dotnet_test::RUNNER,
    &eslint::RUNNER,
    &flake8::RUNNER,
    &go_build::RUNNER,
    &go_test::RUNNER,
    &go_vet::RUNNER,
    &gradle::RUNNER,
    &jest::RUNNER,
    &make::RUNNER,
    &minitest::RUNNER,
    &mocha::RUNNER,
    &mvn::RUNNER,
    &mypy::RUNNER,
    &node_test::RUNNER,
    &phpunit::RUNNER,
    &prove::RUNNER,
    &pyright::RUNNER,
    &pytest::RUNNER,
    &rspec::RUNNER,
    &ruff::RUNNER,
    &tsc::RUNNER,
    &unittest::RUNNER,
    &vite_build::RUNNER,
    &vitest::RUNNER,
    &webpack::RUNNER,
];

/// The runner of a name.
pub fn named(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().copied().find(|runner| runner.name == name)
}
