//! The rows of the table.

use super::Runner;
use super::arguments::{
    Arguments, CARGO, CHECKER, CTEST, DOTNET, GO, JEST, JS_TEST, JVM, MOCHA, NEXTEST, PYTEST,
    RSPEC, TSC, UNITTEST, UNKNOWN,
};
use crate::Kind::{self, Build, Lint, Test, Typecheck};

/// Builds a row with its name as reader and family.
const fn row(
    name: &'static str,
    kind: Kind,
    language: &'static str,
    starts: &'static [&'static str],
    arguments: &'static Arguments,
) -> Runner {
    let kind = Some(kind);
    Runner { name, kind, language, starts, only_with: &[], arguments, reader: name, family: name }
}

/// Builds a row for a command that is not a test, build or check, but about which a GHAP may make predictions.
const fn predictable(
    name: &'static str,
    language: &'static str,
    starts: &'static [&'static str],
) -> Runner {
    Runner { kind: None, ..row(name, Build, language, starts, &UNKNOWN) }
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

    /// Restricts the row to command lines with one of these words.
    const fn only_with(self, only_with: &'static [&'static str]) -> Self {
        Self { only_with, ..self }
    }
}

pub(super) static ROWS: &[Runner] = &[
    // Rust
    row(
        "cargo test",
        Test,
        "rust",
        &["cargo test", "cargo t", "cargo insta test", "cargo llvm-cov", "cross test"],
        &CARGO,
    )
    .in_family("cargo"),
    row("cargo nextest", Test, "rust", &["cargo nextest run", "cargo nextest r"], &NEXTEST)
        .in_family("cargo"),
    row(
        "cargo build",
        Build,
        "rust",
        &["cargo build", "cargo b", "cargo rustc", "cross build"],
        &CARGO,
    )
    .in_family("cargo"),
    row("cargo check", Typecheck, "rust", &["cargo check", "cargo c"], &CARGO).in_family("cargo"),
    row("cargo clippy", Lint, "rust", &["cargo clippy"], &CARGO).in_family("cargo"),
    row("cargo fmt", Lint, "rust", &["cargo fmt", "rustfmt"], &CHECKER).only_with(&["--check"]),
    row("cargo deny", Lint, "rust", &["cargo deny check", "cargo audit"], &UNKNOWN),
    row("cargo doc", Build, "rust", &["cargo doc"], &CARGO)
        .read_by("cargo build")
        .in_family("cargo"),
    predictable("cargo bench", "rust", &["cargo bench"]),
    predictable("cargo run", "rust", &["cargo run"]),
    // Python
    row("pytest", Test, "python", &["pytest", "hatch test"], &PYTEST).in_family("python"),
    row("unittest", Test, "python", &["unittest"], &UNITTEST).in_family("python"),
    row("manage.py test", Test, "python", &["manage.py test", "django-admin test"], &UNITTEST)
        .read_by("unittest")
        .in_family("python"),
    row("mypy", Typecheck, "python", &["mypy", "dmypy run"], &CHECKER),
    row("pyright", Typecheck, "python", &["pyright", "basedpyright"], &CHECKER),
    row("ty", Typecheck, "python", &["ty check"], &CHECKER),
    row("ruff", Lint, "python", &["ruff check", "ruff"], &CHECKER),
    row("ruff format", Lint, "python", &["ruff format"], &CHECKER)
        .only_with(&["--check", "--diff"]),
    row("flake8", Lint, "python", &["flake8"], &CHECKER),
    row("pylint", Lint, "python", &["pylint"], &CHECKER),
    row("black", Lint, "python", &["black"], &CHECKER).only_with(&["--check", "--diff"]),
    row("isort", Lint, "python", &["isort"], &CHECKER).only_with(&[
        "--check",
        "--check-only",
        "-c",
        "--diff",
    ]),
    row("autopep8", Lint, "python", &["autopep8"], &CHECKER).only_with(&[
        "--diff",
        "-d",
        "--exit-code",
    ]),
    row("bandit", Lint, "python", &["bandit"], &CHECKER),
    row("pre-commit", Lint, "any", &["pre-commit run", "prek run"], &UNKNOWN),
    // Go
    row("go test", Test, "go", &["go test"], &GO).in_family("go"),
    row("gotestsum", Test, "go", &["gotestsum"], &GO).in_family("go"),
    row("go build", Build, "go", &["go build", "go install"], &GO).in_family("go"),
    row("go vet", Lint, "go", &["go vet"], &GO).in_family("go"),
    row("golangci-lint", Lint, "go", &["golangci-lint run", "golangci-lint fmt"], &GO)
        .in_family("go"),
    row("staticcheck", Lint, "go", &["staticcheck"], &GO).read_by("go vet").in_family("go"),
    row("gofmt", Lint, "go", &["gofmt", "gofumpt", "goimports"], &CHECKER).only_with(&["-l", "-d"]),
    predictable("go run", "go", &["go run"]),
    // JavaScript and TypeScript
    row("jest", Test, "javascript", &["jest", "react-scripts test"], &JEST),
    row("vitest", Test, "javascript", &["vitest"], &JEST),
    row("mocha", Test, "javascript", &["mocha"], &MOCHA),
    row("ava", Test, "javascript", &["ava"], &JS_TEST),
    row("node --test", Test, "javascript", &["node --test"], &JS_TEST),
    row("bun test", Test, "javascript", &["bun test"], &JS_TEST),
    row("deno test", Test, "javascript", &["deno test"], &JS_TEST),
    row("deno lint", Lint, "javascript", &["deno lint"], &CHECKER),
    row("deno check", Typecheck, "javascript", &["deno check"], &CHECKER),
    row("jasmine", Test, "javascript", &["jasmine"], &JS_TEST),
    row("playwright test", Test, "javascript", &["playwright test"], &JS_TEST),
    row("cypress run", Test, "javascript", &["cypress run"], &JS_TEST),
    row("karma", Test, "javascript", &["karma start", "ng test"], &UNKNOWN),
    row(
        "tsc",
        Typecheck,
        "javascript",
        &["tsc", "vue-tsc", "tsgo", "svelte-check", "astro check"],
        &TSC,
    ),
    row(
        "eslint",
        Lint,
        "javascript",
        &["eslint", "next lint", "ng lint", "xo", "standard"],
        &CHECKER,
    ),
    row(
        "biome",
        Lint,
        "javascript",
        &["biome check", "biome lint", "biome ci", "biome format"],
        &CHECKER,
    ),
    row("oxlint", Lint, "javascript", &["oxlint"], &CHECKER),
    row("prettier", Lint, "javascript", &["prettier"], &CHECKER).only_with(&[
        "--check",
        "-c",
        "--list-different",
        "-l",
    ]),
    row("stylelint", Lint, "javascript", &["stylelint"], &CHECKER),
    row("vite build", Build, "javascript", &["vite build"], &UNKNOWN),
    row("webpack", Build, "javascript", &["webpack"], &UNKNOWN),
    row(
        "next build",
        Build,
        "javascript",
        &["next build", "nuxt build", "astro build", "ng build"],
        &UNKNOWN,
    ),
    row(
        "esbuild",
        Build,
        "javascript",
        &["esbuild", "tsup", "rollup", "parcel build", "bun build"],
        &UNKNOWN,
    ),
    // Ruby, PHP
    row("rspec", Test, "ruby", &["rspec"], &RSPEC),
    row("minitest", Test, "ruby", &["rails test"], &RSPEC),
    row("pest", Test, "php", &["pest", "artisan test"], &RSPEC),
    row("rubocop", Lint, "ruby", &["rubocop", "standardrb"], &CHECKER),
    row("phpunit", Test, "php", &["phpunit"], &RSPEC),
    row(
        "phpstan",
        Typecheck,
        "php",
        &["phpstan analyse", "phpstan analyze", "phpstan", "psalm"],
        &CHECKER,
    ),
    // The JVM
    row("mvn", Test, "java", &["mvn"], &JVM).only_with(&[
        "test",
        "verify",
        "package",
        "install",
        "integration-test",
        "compile",
        "test-compile",
    ]),
    row("gradle", Test, "java", &["gradle"], &JVM)
        .only_with(&["*test", "*Test", "check", "build", "assemble", "*Check"]),
    row("sbt", Test, "java", &["sbt test", "sbt compile", "sbt testOnly"], &JVM),
    row("javac", Build, "java", &["javac", "scalac"], &UNKNOWN),
    row("kotlinc", Build, "java", &["kotlinc"], &UNKNOWN),
    // .NET
    row("dotnet test", Test, "dotnet", &["dotnet test"], &DOTNET),
    row("dotnet build", Build, "dotnet", &["dotnet build", "dotnet publish", "msbuild"], &DOTNET),
    // C, C++, Swift
    row("ctest", Test, "c", &["ctest", "meson test"], &CTEST),
    row("gcc", Build, "c", &["gcc", "g++", "cc", "c++", "clang", "clang++"], &UNKNOWN),
    row("cmake", Build, "c", &["cmake"], &UNKNOWN).only_with(&["--build"]),
    row("ninja", Build, "c", &["ninja"], &UNKNOWN),
    row("swift test", Test, "swift", &["swift test"], &UNKNOWN),
    row("swift build", Build, "swift", &["swift build"], &UNKNOWN),
    row("xcodebuild test", Test, "swift", &["xcodebuild"], &UNKNOWN)
        .only_with(&["test", "test-without-building"]),
    row("xcodebuild", Build, "swift", &["xcodebuild"], &UNKNOWN),
    row("swiftlint", Lint, "swift", &["swiftlint"], &CHECKER),
    // Other languages
    row("flutter test", Test, "dart", &["flutter test"], &JS_TEST),
    row("dart test", Test, "dart", &["dart test"], &JS_TEST),
    row("dart analyze", Typecheck, "dart", &["dart analyze"], &CHECKER),
    row("flutter analyze", Typecheck, "dart", &["flutter analyze"], &CHECKER),
    row("flutter build", Build, "dart", &["flutter build"], &UNKNOWN),
    row("mix test", Test, "elixir", &["mix test"], &RSPEC),
    row("mix compile", Build, "elixir", &["mix compile", "mix credo", "mix dialyzer"], &UNKNOWN),
    row("bats", Test, "shell", &["bats"], &RSPEC),
    row("prove", Test, "other", &["prove"], &RSPEC),
    row("shellcheck", Lint, "shell", &["shellcheck"], &CHECKER),
    row("zig build", Build, "other", &["zig build", "zig test"], &UNKNOWN).read_by("gcc"),
    row("dune", Build, "other", &["dune build", "dune test", "dune runtest"], &UNKNOWN),
    row(
        "stack",
        Test,
        "other",
        &["stack test", "stack build", "cabal test", "cabal build"],
        &UNKNOWN,
    ),
    row(
        "terraform validate",
        Lint,
        "other",
        &["terraform validate", "tofu validate", "helm lint", "hadolint"],
        &UNKNOWN,
    ),
    row(
        "yamllint",
        Lint,
        "other",
        &["yamllint", "markdownlint", "markdownlint-cli2", "actionlint", "buf lint"],
        &CHECKER,
    ),
    // Reads the output of builds that no other reader understands.
    row("make", Build, "any", &[], &UNKNOWN),
];
