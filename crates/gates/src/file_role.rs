//! The role of a file in a project, by its path.

use rutter_redact::choice;

use crate::language::Language;

choice! {
    /// The role of a file. Only implementation needs a test.
    FileRole, "file role" {
        /// A test, or a file that tests use
        Test = "test",
        /// Documentation, an example or a story
        Documentation = "documentation",
        /// Configuration, a manifest or a lock file
        Configuration = "configuration",
        /// Continuous integration, containers, deployment, scripts, migrations
        Infrastructure = "infrastructure",
        /// A generated file or build output
        Generated = "generated",
        /// Code of others
        Vendored = "vendored",
        /// Markup, style, data or a picture
        Data = "data",
        /// Declarations of types without code
        Declarations = "declarations",
        /// A file of a language without rules for tests
        Unknown = "unknown",
        /// Implementation code
        Implementation = "implementation",
    }
}

const TEST_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "Tests",
    "spec",
    "specs",
    "testdata",
    "test_data",
    "test-data",
    "fixtures",
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "e2e",
    "cypress",
    "androidTest",
    "testFixtures",
    "integrationTest",
    "integration_tests",
    "step_definitions",
    "unittests",
    "benches",
    "benchmarks",
];
const DOCUMENTATION_FOLDERS: &[&str] =
    &["docs", "doc", "examples", "example", "samples", "stories", ".storybook"];
const INFRASTRUCTURE_FOLDERS: &[&str] = &[
    ".github",
    ".gitlab",
    ".circleci",
    ".buildkite",
    ".husky",
    "ci",
    ".ci",
    "deploy",
    "deployment",
    "infra",
    "infrastructure",
    "terraform",
    "ansible",
    "helm",
    "charts",
    "k8s",
    "docker",
    "migrations",
    "migrate",
    "alembic",
    "scripts",
    "script",
    "hack",
    "buildSrc",
];
const GENERATED_FOLDERS: &[&str] = &[
    "generated",
    "__generated__",
    "gen",
    "dist",
    "build",
    "out",
    "target",
    "coverage",
    ".next",
    ".nuxt",
    "obj",
    "__pycache__",
    "_build",
];
const VENDORED_FOLDERS: &[&str] = &[
    "vendor",
    "vendored",
    "node_modules",
    "third_party",
    "third-party",
    "thirdparty",
    "external",
    "bower_components",
    "venv",
    ".venv",
    "site-packages",
    "Pods",
    "Carthage",
];
const DOCUMENTATION_EXTENSIONS: &[&str] =
    &["md", "mdx", "markdown", "rst", "txt", "adoc", "asciidoc", "org", "tex", "ipynb"];
const CONFIGURATION_EXTENSIONS: &[&str] = &[
    "json",
    "jsonc",
    "json5",
    "yaml",
    "yml",
    "toml",
    "ini",
    "cfg",
    "conf",
    "properties",
    "plist",
    "xml",
    "env",
    "lock",
    "editorconfig",
    "csproj",
    "fsproj",
    "vbproj",
    "sln",
    "props",
    "targets",
    "gradle",
    "kts",
    "sbt",
    "cmake",
    "gemspec",
    "podspec",
    "exs",
    "mk",
    "ninja",
    "bazel",
    "bzl",
    "nix",
    "pri",
    "pro",
];
const INFRASTRUCTURE_EXTENSIONS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "fish",
    "ps1",
    "psm1",
    "bat",
    "cmd",
    "tf",
    "tfvars",
    "hcl",
    "sql",
    "dockerfile",
    "service",
    "rake",
];
const DATA_EXTENSIONS: &[&str] = &[
    "css",
    "scss",
    "sass",
    "less",
    "styl",
    "pcss",
    "html",
    "htm",
    "xhtml",
    "svg",
    "hbs",
    "ejs",
    "pug",
    "erb",
    "haml",
    "slim",
    "heex",
    "leex",
    "eex",
    "jinja",
    "jinja2",
    "j2",
    "mustache",
    "twig",
    "liquid",
    "csv",
    "tsv",
    "parquet",
    "proto",
    "graphql",
    "gql",
    "png",
    "jpg",
    "jpeg",
    "gif",
    "ico",
    "webp",
    "woff",
    "woff2",
    "ttf",
    "storyboard",
    "xib",
    "strings",
    "po",
    "pot",
    "ftl",
    "snap",
    "wasm",
    "pdf",
    "cshtml",
    "razor",
    "xaml",
    "resx",
];
/// Files with code that configures a tool or starts a program.
const CONFIGURATION_FILES: &[&str] = &[
    "setup.py",
    "conf.py",
    "noxfile.py",
    "fabfile.py",
    "manage.py",
    "wsgi.py",
    "asgi.py",
    "gulpfile.js",
    "gulpfile.ts",
    "Gruntfile.js",
    "Jakefile.js",
    "Package.swift",
    "AssemblyInfo.cs",
    "GlobalUsings.cs",
];
const INFRASTRUCTURE_FILES: &[&str] = &["build.rs", "Build.cs"];

impl FileRole {
    /// Classifies a file by its path, relative to the root of the project, with `/`.
    pub fn classify(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folders: Vec<&str> = folders.split('/').filter(|folder| !folder.is_empty()).collect();
        let is_in = |names: &[&str]| folders.iter().any(|folder| names.contains(folder));
        let is_in_any_case = |names: &[&str]| {
            folders.iter().any(|folder| names.contains(&folder.to_ascii_lowercase().as_str()))
        };
        // `src/build` is code of many projects; output folders are at the top of a package.
        let is_below_source = folders.first().is_some_and(|folder| is_source_folder(folder));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let lower = extension.to_ascii_lowercase();
        let extension = lower.as_str();
        if is_in(VENDORED_FOLDERS) || folders.first() == Some(&"deps") && extension != "py" {
            return Self::Vendored;
        }
        if is_generated_name(name) || (!is_below_source && is_in(GENERATED_FOLDERS)) {
            return Self::Generated;
        }
        if folders.iter().any(|folder| is_generated_source_folder(folder)) {
            return Self::Generated;
        }
        if is_test_name(stem, extension) || folders.iter().any(|folder| is_test_folder(folder)) {
            return Self::Test;
        }
        if is_declaration_name(name) {
            return Self::Declarations;
        }
        let is_documentation = DOCUMENTATION_EXTENSIONS.contains(&extension)
            || is_in_any_case(DOCUMENTATION_FOLDERS)
            || matches!(stem.rsplit('.').next(), Some("stories" | "story") if stem.contains('.'))
            || name.starts_with("README")
            || name.starts_with("LICENSE")
            || name.starts_with("CHANGELOG");
        if is_documentation && name != "CMakeLists.txt" {
            return Self::Documentation;
        }
        if INFRASTRUCTURE_EXTENSIONS.contains(&extension)
            || INFRASTRUCTURE_FILES.contains(&name)
            || is_in_any_case(INFRASTRUCTURE_FOLDERS)
            || name.starts_with("Dockerfile")
            || path.contains("db/migrate/")
        {
            return Self::Infrastructure;
        }
        if is_configuration(name, stem, extension, &folders) {
            return Self::Configuration;
        }
        if DATA_EXTENSIONS.contains(&extension) || name.ends_with(".blade.php") {
            return Self::Data;
        }
        if Language::from_extension(extension).is_some() {
            Self::Implementation
        } else {
            Self::Unknown
        }
    }
}

/// Returns true if a text says at its start that it is generated.
pub fn is_generated_text(text: &str) -> bool {
    let is_mark = |line: &str| {
        let line = line.to_ascii_lowercase();
        let is_comment = ["//", "#", "/*", "*", "--", "<!--", "\"\"\""]
            .iter()
            .any(|sign| line.trim_start().starts_with(sign));
        is_comment
            && (line.contains("@generated")
                || line.contains("do not edit")
                || line.contains("auto-generated")
                || line.contains("autogenerated"))
    };
    text.lines().take(10).any(is_mark)
}

/// Returns true for a folder that has the sources of a package.
pub(crate) fn is_source_folder(folder: &str) -> bool {
    matches!(
        folder,
        "src" | "lib" | "app" | "source" | "Sources" | "Source" | "internal" | "pkg" | "cmd"
    )
}

/// Returns true for a folder for tests and their data.
pub(crate) fn is_test_folder(folder: &str) -> bool {
    TEST_FOLDERS.contains(&folder) || is_test_project(folder)
}

/// Returns true for a folder with code of others or with output.
pub(crate) fn is_foreign_folder(folder: &str) -> bool {
    VENDORED_FOLDERS.contains(&folder) || GENERATED_FOLDERS.contains(&folder)
}

/// Returns true for a folder of generated sources wherever it is.
fn is_generated_source_folder(folder: &str) -> bool {
    matches!(folder, "generated" | "__generated__" | "generated-sources")
}

/// Returns true for the folder of a test project: `Shop.Tests`, `ShopTests`.
fn is_test_project(folder: &str) -> bool {
    [".Tests", ".Test", ".UnitTests", ".IntegrationTests", "Tests"]
        .iter()
        .any(|end| folder.len() > end.len() && folder.ends_with(end))
}

fn is_generated_name(name: &str) -> bool {
    [
        ".pb.go",
        "_pb2.py",
        "_pb2.pyi",
        "_pb2_grpc.py",
        ".pb.cc",
        ".pb.h",
        ".g.cs",
        ".g.dart",
        ".Designer.cs",
        ".designer.cs",
        ".gen.go",
        ".gen.ts",
        ".min.js",
        ".bundle.js",
        "_gen.go",
        "_generated.go",
        "_generated.rs",
        "_string.go",
    ]
    .iter()
    .any(|end| name.ends_with(end))
        || name.contains(".generated.")
        || name.contains(".freezed.")
}

fn is_declaration_name(name: &str) -> bool {
    [".d.ts", ".d.mts", ".d.cts", ".pyi", ".rbi", ".rbs"].iter().any(|end| name.ends_with(end))
        || matches!(name, "package-info.java" | "module-info.java")
}

/// Returns true for the name of a test by the habits of the language.
pub(crate) fn is_test_name(stem: &str, extension: &str) -> bool {
    let ends = |ends: &[&str]| ends.iter().any(|end| stem.len() > end.len() && stem.ends_with(end));
    let begins = |begin: &str| stem.starts_with(begin) && stem.len() > begin.len();
    match Language::from_extension(extension) {
        Some(Language::Python) => {
            begins("test_") || ends(&["_test", "_tests"]) || matches!(stem, "conftest" | "tests")
        }
        Some(Language::JavaScript) => {
            ends(&[".test", ".spec", "-test", "-spec", "_test", "_spec", ".cy", ".e2e", ".test-d"])
                || matches!(stem, "setupTests" | "jest.setup" | "vitest.setup")
        }
        Some(Language::Go) => ends(&["_test"]),
        Some(Language::Rust) => {
            ends(&["_test", "_tests"]) || begins("test_") || matches!(stem, "tests" | "test")
        }
        Some(Language::Jvm) => {
            ends(&["Test", "Tests", "IT", "Spec", "TestCase"]) || begins_camel(stem, "Test")
        }
        Some(Language::CSharp | Language::Swift) => ends(&["Test", "Tests", "Spec", "Specs"]),
        Some(Language::Ruby) => {
            ends(&["_spec", "_test"])
                || begins("test_")
                || matches!(stem, "spec_helper" | "rails_helper")
        }
        Some(Language::Php) => ends(&["Test", "TestCase", "Cest"]),
        Some(Language::C) => {
            ends(&["_test", "_tests", "_unittest", ".test", "-test"])
                || begins("test_")
                || begins("test-")
                || ends(&["Test", "Tests"])
        }
        Some(Language::Elixir) | None => {
            extension == "exs" && (ends(&["_test"]) || stem == "test_helper")
        }
    }
}

/// Returns true if a name is this word followed by another one in camel case: `TestCart`, not `Testament`.
fn begins_camel(stem: &str, word: &str) -> bool {
    stem.strip_prefix(word)
        .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_uppercase()))
}

fn is_configuration(name: &str, stem: &str, extension: &str, folders: &[&str]) -> bool {
    let is_code_of_configuration = matches!(extension, "rb" | "php" | "js" | "ts" | "exs")
        && folders
            .last()
            .is_some_and(|folder| matches!(*folder, "config" | "initializers" | "environments"));
    CONFIGURATION_EXTENSIONS.contains(&extension)
        || CONFIGURATION_FILES.contains(&name)
        || name.starts_with('.')
        || (stem.contains('.') && matches!(stem.rsplit('.').next(), Some("config" | "conf")))
        || stem.ends_with("rc") && stem.starts_with('.')
        || matches!(
            name,
            "CMakeLists.txt"
                | "Makefile"
                | "Rakefile"
                | "Gemfile"
                | "Podfile"
                | "Brewfile"
                | "Procfile"
        )
        || is_code_of_configuration
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_names_and_folders() {
        for (path, role) in [
            ("src/cart.py", FileRole::Implementation),
            ("src/build/cart.rs", FileRole::Implementation),
            ("build/cart.js", FileRole::Generated),
            ("tests/helpers.py", FileRole::Test),
            ("src/contest.py", FileRole::Implementation),
            ("src/main/java/Contest.java", FileRole::Implementation),
            ("src/main/java/Testament.java", FileRole::Implementation),
            ("src/latest.ts", FileRole::Implementation),
            ("src/cart.spec.ts", FileRole::Test),
            ("src/cart.d.ts", FileRole::Declarations),
            ("vite.config.ts", FileRole::Configuration),
            ("docs/conf.py", FileRole::Documentation),
            ("CMakeLists.txt", FileRole::Configuration),
            ("app/models/cart.rb", FileRole::Implementation),
            ("config/routes.rb", FileRole::Configuration),
            ("db/migrate/1_carts.rb", FileRole::Infrastructure),
            ("vendor/x/cart.go", FileRole::Vendored),
            ("api/cart.pb.go", FileRole::Generated),
            ("a/cart.zig", FileRole::Unknown),
            ("Shop.Tests/Helper.cs", FileRole::Test),
            ("style.css", FileRole::Data),
        ] {
            assert_eq!(FileRole::classify(path), role, "{path}");
        }
    }

    #[test]
    fn generated_texts_say_so_in_comments() {
        assert!(is_generated_text("// Code generated by x. DO NOT EDIT.\npackage a"));
        assert!(!is_generated_text("let note = \"do not edit\";"));
    }
}
