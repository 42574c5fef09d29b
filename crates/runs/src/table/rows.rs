//! The rows of the table.

use super::Runner;
use super::arguments::{
    CARGO, CHECKER, CTEST, DOTNET, GO, JEST, JS_TEST, JVM, MOCHA, NEXTEST, PYTEST, RSPEC,
    RunnerArguments, TSC, UNITTEST, UNKNOWN_ARGUMENTS,
};
use crate::RunKind::{self, Build, Lint, Test, Typecheck};

/// Builds a row with its name as reader and family.
const fn runner_row(
    name: &'static str,
    kind: RunKind,
    language: &'static str,
    starts: &'static [&'static str],
    arguments: &'static RunnerArguments,
) -> Runner {
    let kind = Some(kind);
    Runner {
        name,
        kind,
        language,
        starts,
        only_with: &[],
        arguments,
        reader: name,
        family: name,
        has_one_summary: false,
        ran_nothing: &[],
    }
}

/// Builds a row for a command that is not a test, build or check, but about which a GHAP may make predictions.
const fn predictable_row(
    name: &'static str,
    language: &'static str,
    starts: &'static [&'static str],
) -> Runner {
    Runner { kind: None, ..runner_row(name, Build, language, starts, &UNKNOWN_ARGUMENTS) }
}

impl Runner {
    /// Sets another reader.
    const fn read_by(self, reader: &'static str) -> Self {
        Self { reader, ..self }
    }

    /// Sets the family.
    const fn in_family(self, family: &'static str) -> Self {
        Self { family, ..self }
    }

    /// Declares that one summary includes failures.
    const fn with_one_summary(self) -> Self {
        Self { has_one_summary: true, ..self }
    }

    /// Sets the exit statuses that mean that it ran no test.
    const fn ran_nothing_at(self, ran_nothing: &'static [i32]) -> Self {
        Self { ran_nothing, ..self }
    }

    /// Restricts the row to command lines with one of these words.
    const fn only_with(self, only_with: &'static [&'static str]) -> Self {
        Self { only_with, ..self }
    }
}

pub(super) static ROWS: &[Runner] = &[
    // Rust
    runner_row(
        "cargo test",
        Test,
        "rust",
        &["cargo test", "cargo t", "cargo insta test", "cargo llvm-cov", "cross test"],
        &CARGO,
    )
    .in_family("cargo"),
    runner_row("cargo nextest", Test, "rust", &["cargo nextest run", "cargo nextest r"], &NEXTEST)
        .in_family("cargo"),
    runner_row(
        "cargo build",
        Build,
        "rust",
        &["cargo build", "cargo b", "cargo rustc", "cross build"],
        &CARGO,
    )
    .in_family("cargo"),
    runner_row("cargo check", Typecheck, "rust", &["cargo check", "cargo c"], &CARGO)
        .in_family("cargo"),
    runner_row("cargo clippy", Lint, "rust", &["cargo clippy"], &CARGO).in_family("cargo"),
    runner_row("cargo fmt", Lint, "rust", &["cargo fmt", "rustfmt"], &CHECKER)
        .only_with(&["--check"]),
    runner_row(
        "cargo deny",
        Lint,
        "rust",
        &["cargo deny check", "cargo audit"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row("cargo doc", Build, "rust", &["cargo doc"], &CARGO)
        .read_by("cargo build")
        .in_family("cargo"),
    predictable_row("cargo bench", "rust", &["cargo bench"]),
    predictable_row("cargo run", "rust", &["cargo run"]),
    // Python
    runner_row("pytest", Test, "python", &["pytest", "hatch test"], &PYTEST)
        .with_one_summary()
        .ran_nothing_at(&[4, 5])
        .in_family("python"),
    runner_row("unittest", Test, "python", &["unittest"], &UNITTEST)
        .ran_nothing_at(&[5])
        .in_family("python"),
    runner_row(
        "manage.py test",
        Test,
        "python",
        &["manage.py test", "django-admin test"],
        &UNITTEST,
    )
    .read_by("unittest")
    .in_family("python"),
    runner_row("mypy", Typecheck, "python", &["mypy", "dmypy run"], &CHECKER),
    runner_row("pyright", Typecheck, "python", &["pyright", "basedpyright"], &CHECKER),
    runner_row("ty", Typecheck, "python", &["ty check"], &CHECKER),
    runner_row("ruff", Lint, "python", &["ruff check", "ruff"], &CHECKER),
    runner_row("ruff format", Lint, "python", &["ruff format"], &CHECKER)
        .only_with(&["--check", "--diff"]),
    runner_row("flake8", Lint, "python", &["flake8"], &CHECKER),
    runner_row("pylint", Lint, "python", &["pylint"], &CHECKER),
    runner_row("black", Lint, "python", &["black"], &CHECKER).only_with(&["--check", "--diff"]),
    runner_row("isort", Lint, "python", &["isort"], &CHECKER).only_with(&[
        "--check",
        "--check-only",
        "-c",
        "--diff",
    ]),
    runner_row("autopep8", Lint, "python", &["autopep8"], &CHECKER).only_with(&[
        "--diff",
        "-d",
        "--exit-code",
    ]),
    runner_row("bandit", Lint, "python", &["bandit"], &CHECKER),
    runner_row("pre-commit", Lint, "any", &["pre-commit run", "prek run"], &UNKNOWN_ARGUMENTS),
    // Go
    runner_row("go test", Test, "go", &["go test"], &GO).in_family("go"),
    runner_row("gotestsum", Test, "go", &["gotestsum"], &GO).in_family("go"),
    runner_row("go build", Build, "go", &["go build", "go install"], &GO).in_family("go"),
    runner_row("go vet", Lint, "go", &["go vet"], &GO).in_family("go"),
    runner_row("golangci-lint", Lint, "go", &["golangci-lint run", "golangci-lint fmt"], &GO)
        .in_family("go"),
    runner_row("staticcheck", Lint, "go", &["staticcheck"], &GO).read_by("go vet").in_family("go"),
    runner_row("gofmt", Lint, "go", &["gofmt", "gofumpt", "goimports"], &CHECKER)
        .only_with(&["-l", "-d"]),
    predictable_row("go run", "go", &["go run"]),
    // JavaScript and TypeScript
    runner_row("jest", Test, "javascript", &["jest", "react-scripts test"], &JEST)
        .with_one_summary(),
    runner_row("vitest", Test, "javascript", &["vitest"], &JEST).with_one_summary(),
    runner_row("mocha", Test, "javascript", &["mocha"], &MOCHA),
    runner_row("ava", Test, "javascript", &["ava"], &JS_TEST),
    runner_row("node --test", Test, "javascript", &["node --test"], &JS_TEST),
    runner_row("bun test", Test, "javascript", &["bun test"], &JS_TEST).with_one_summary(),
    runner_row("deno test", Test, "javascript", &["deno test"], &JS_TEST),
    runner_row("deno lint", Lint, "javascript", &["deno lint"], &CHECKER),
    runner_row("deno check", Typecheck, "javascript", &["deno check"], &CHECKER),
    runner_row("jasmine", Test, "javascript", &["jasmine"], &JS_TEST),
    runner_row("playwright test", Test, "javascript", &["playwright test"], &JS_TEST)
        .with_one_summary(),
    runner_row("cypress run", Test, "javascript", &["cypress run"], &JS_TEST),
    runner_row("karma", Test, "javascript", &["karma start", "ng test"], &UNKNOWN_ARGUMENTS),
    runner_row(
        "tsc",
        Typecheck,
        "javascript",
        &["tsc", "vue-tsc", "tsgo", "svelte-check", "astro check"],
        &TSC,
    ),
    runner_row(
        "eslint",
        Lint,
        "javascript",
        &["eslint", "next lint", "ng lint", "xo", "standard"],
        &CHECKER,
    ),
    runner_row(
        "biome",
        Lint,
        "javascript",
        &["biome check", "biome lint", "biome ci", "biome format"],
        &CHECKER,
    ),
    runner_row("oxlint", Lint, "javascript", &["oxlint"], &CHECKER),
    runner_row("prettier", Lint, "javascript", &["prettier"], &CHECKER).only_with(&[
        "--check",
        "-c",
        "--list-different",
        "-l",
    ]),
    runner_row("stylelint", Lint, "javascript", &["stylelint"], &CHECKER),
    runner_row("vite build", Build, "javascript", &["vite build"], &UNKNOWN_ARGUMENTS),
    runner_row("webpack", Build, "javascript", &["webpack"], &UNKNOWN_ARGUMENTS),
    runner_row(
        "next build",
        Build,
        "javascript",
        &["next build", "nuxt build", "astro build", "ng build"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row(
        "esbuild",
        Build,
        "javascript",
        &["esbuild", "tsup", "rollup", "parcel build", "bun build"],
        &UNKNOWN_ARGUMENTS,
    ),
    // Ruby, PHP
    runner_row("rspec", Test, "ruby", &["rspec"], &RSPEC).with_one_summary(),
    runner_row("minitest", Test, "ruby", &["rails test"], &RSPEC),
    runner_row("pest", Test, "php", &["pest", "artisan test"], &RSPEC),
    runner_row("rubocop", Lint, "ruby", &["rubocop", "standardrb"], &CHECKER),
    runner_row("phpunit", Test, "php", &["phpunit"], &RSPEC),
    runner_row(
        "phpstan",
        Typecheck,
        "php",
        &["phpstan analyse", "phpstan analyze", "phpstan", "psalm"],
        &CHECKER,
    ),
    // The JVM
    runner_row("mvn", Test, "java", &["mvn"], &JVM).only_with(&[
        "test",
        "verify",
        "package",
        "install",
        "integration-test",
        "compile",
        "test-compile",
    ]),
    runner_row("gradle", Test, "java", &["gradle"], &JVM)
        .only_with(&["*test", "*Test", "check", "build", "assemble", "*Check"]),
    runner_row("sbt", Test, "java", &["sbt test", "sbt compile", "sbt testOnly"], &JVM),
    runner_row("javac", Build, "java", &["javac", "scalac"], &UNKNOWN_ARGUMENTS),
    runner_row("kotlinc", Build, "java", &["kotlinc"], &UNKNOWN_ARGUMENTS),
    // .NET
    runner_row("dotnet test", Test, "dotnet", &["dotnet test"], &DOTNET),
    runner_row(
        "dotnet build",
        Build,
        "dotnet",
        &["dotnet build", "dotnet publish", "msbuild"],
        &DOTNET,
    ),
    // C, C++, Swift
    runner_row("ctest", Test, "c", &["ctest", "meson test"], &CTEST),
    runner_row(
        "gcc",
        Build,
        "c",
        &["gcc", "g++", "cc", "c++", "clang", "clang++"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row("cmake", Build, "c", &["cmake"], &UNKNOWN_ARGUMENTS).only_with(&["--build"]),
    runner_row("ninja", Build, "c", &["ninja"], &UNKNOWN_ARGUMENTS),
    runner_row("swift test", Test, "swift", &["swift test"], &UNKNOWN_ARGUMENTS),
    runner_row("swift build", Build, "swift", &["swift build"], &UNKNOWN_ARGUMENTS),
    runner_row("xcodebuild test", Test, "swift", &["xcodebuild"], &UNKNOWN_ARGUMENTS)
        .only_with(&["test", "test-without-building"]),
    runner_row("xcodebuild", Build, "swift", &["xcodebuild"], &UNKNOWN_ARGUMENTS),
    runner_row("swiftlint", Lint, "swift", &["swiftlint"], &CHECKER),
    // Other languages
    runner_row("flutter test", Test, "dart", &["flutter test"], &JS_TEST),
    runner_row("dart test", Test, "dart", &["dart test"], &JS_TEST),
    runner_row("dart analyze", Typecheck, "dart", &["dart analyze"], &CHECKER),
    runner_row("flutter analyze", Typecheck, "dart", &["flutter analyze"], &CHECKER),
    runner_row("flutter build", Build, "dart", &["flutter build"], &UNKNOWN_ARGUMENTS),
    runner_row("mix test", Test, "elixir", &["mix test"], &RSPEC),
    runner_row(
        "mix compile",
        Build,
        "elixir",
        &["mix compile", "mix credo", "mix dialyzer"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row("bats", Test, "shell", &["bats"], &RSPEC),
    runner_row("prove", Test, "other", &["prove"], &RSPEC),
    runner_row("shellcheck", Lint, "shell", &["shellcheck"], &CHECKER),
    runner_row("zig build", Build, "other", &["zig build", "zig test"], &UNKNOWN_ARGUMENTS)
        .read_by("gcc"),
    runner_row(
        "dune",
        Build,
        "other",
        &["dune build", "dune test", "dune runtest"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row(
        "stack",
        Test,
        "other",
        &["stack test", "stack build", "cabal test", "cabal build"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row(
        "terraform validate",
        Lint,
        "other",
        &["terraform validate", "tofu validate", "helm lint", "hadolint"],
        &UNKNOWN_ARGUMENTS,
    ),
    runner_row(
        "yamllint",
        Lint,
        "other",
        &["yamllint", "markdownlint", "markdownlint-cli2", "actionlint", "buf lint"],
        &CHECKER,
    ),
    // Reads the output of builds that no other reader understands.
    runner_row("make", Build, "any", &[], &UNKNOWN_ARGUMENTS),
];
