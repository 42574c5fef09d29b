//! The readers, one file per runner.

mod autopep8;
mod ava;
mod bats;
mod biome;
mod black;
mod bun_test;
mod cargo_build;
mod cargo_check;
mod cargo_clippy;
mod cargo_deny;
mod cargo_fmt;
mod cargo_nextest;
mod cargo_test;
mod cmake;
mod count_sums;
mod ctest;
mod cypress_run;
mod dart;
mod deno;
mod diagnostics;
mod dotnet_build;
mod dotnet_test;
mod esbuild;
mod eslint;
mod findings;
mod flake8;
mod go_build;
mod go_errors;
mod go_test;
mod go_vet;
mod gofmt;
mod golangci_lint;
mod gotestsum;
mod gradle;
mod isort;
mod jasmine;
mod java;
mod jest;
mod karma;
mod make;
mod minitest;
mod mix_test;
mod mocha;
mod mvn;
mod mypy;
mod next_build;
mod ninja;
mod node_test;
mod oxlint;
mod panics;
mod pest;
mod phpunit;
mod playwright_test;
mod pre_commit;
mod prettier;
mod prove;
mod pylint;
mod pyright;
mod pytest;
mod rspec;
mod rubocop;
mod ruff;
mod rust_failure;
mod rustc;
mod shellcheck;
mod stack;
mod stylelint;
mod traceback;
mod tree;
mod tsc;
mod ty;
mod unittest;
mod vite_build;
mod vitest;
mod webpack;
mod xctest;

use super::keywords;
use super::report::OutputReader;

/// All readers.
pub static RUNNERS: &[&OutputReader] = &[
    // One per line, in alphabetical order.
    &autopep8::RUNNER,
    &ava::RUNNER,
    &bats::RUNNER,
    &biome::RUNNER,
    &black::RUNNER,
    &bun_test::RUNNER,
    &cargo_build::RUNNER,
    &cargo_check::RUNNER,
    &cargo_clippy::RUNNER,
    &cargo_deny::RUNNER,
    &cargo_fmt::RUNNER,
    &cargo_nextest::RUNNER,
    &cargo_test::RUNNER,
    &cmake::RUNNER,
    &ctest::RUNNER,
    &cypress_run::RUNNER,
    &dart::RUNNER_FLUTTER_TEST,
    &dart::RUNNER_DART_TEST,
    &dart::RUNNER_DART_ANALYZE,
    &dart::RUNNER_FLUTTER_ANALYZE,
    &deno::RUNNER_TEST,
    &deno::RUNNER_LINT,
    &deno::RUNNER_CHECK,
    &diagnostics::RUNNER_CC,
    &diagnostics::RUNNER_JAVAC,
    &diagnostics::RUNNER_KOTLINC,
    &dotnet_build::RUNNER,
    &dotnet_test::RUNNER,
    &esbuild::RUNNER,
    &eslint::RUNNER,
    &flake8::RUNNER,
    &go_build::RUNNER,
    &go_test::RUNNER,
    &go_vet::RUNNER,
    &gofmt::RUNNER,
    &golangci_lint::RUNNER,
    &gotestsum::RUNNER,
    &gradle::RUNNER,
    &isort::RUNNER,
    &jasmine::RUNNER,
    &jest::RUNNER,
    &karma::RUNNER,
    &make::RUNNER,
    &minitest::RUNNER,
    &mix_test::RUNNER,
    &mocha::RUNNER,
    &mvn::RUNNER,
    &mypy::RUNNER,
    &next_build::RUNNER,
    &ninja::RUNNER,
    &node_test::RUNNER,
    &oxlint::RUNNER,
    &pest::RUNNER,
    &phpunit::RUNNER,
    &playwright_test::RUNNER,
    &pre_commit::RUNNER,
    &prettier::RUNNER,
    &prove::RUNNER,
    &pylint::RUNNER,
    &pyright::RUNNER,
    &pytest::RUNNER,
    &rspec::RUNNER,
    &rubocop::RUNNER,
    &ruff::RUNNER,
    &shellcheck::RUNNER,
    &stylelint::RUNNER,
    &tsc::RUNNER,
    &ty::RUNNER,
    &unittest::RUNNER,
    &vite_build::RUNNER,
    &vitest::RUNNER,
    &webpack::RUNNER,
    &xctest::RUNNER_SWIFT_BUILD,
    &xctest::RUNNER_SWIFT_TEST,
    &xctest::RUNNER_XCODEBUILD,
    &xctest::RUNNER_XCODEBUILD_TEST,
];

/// Returns the reader of the runner with this name.
pub fn find_reader(name: &str) -> Option<&'static OutputReader> {
    RUNNERS.iter().copied().find(|runner| runner.name == name)
}

/// Returns the readers that may understand the output of an unknown program, by their keywords.
pub(crate) fn select_readers(text: &str) -> Vec<&'static OutputReader> {
    keywords::select_readers(RUNNERS, text)
}
