//! Names of tests and files, and their relations.

/// The kind of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    Test,
    File,
    /// A command, or an unknown name.
    Other,
}

/// File extensions by language.
const LANGUAGE_EXTENSIONS: &[(&str, &[&str])] = &[
    ("rust", &["rs"]),
    ("python", &["py", "pyi"]),
    ("javascript", &["js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"]),
    ("go", &["go"]),
    ("java", &["java", "kt", "kts", "scala", "groovy"]),
    ("ruby", &["rb"]),
    ("php", &["php"]),
    ("dotnet", &["cs", "fs", "vb"]),
    ("c", &["c", "cc", "cpp", "cxx", "h", "hpp", "hh"]),
    ("elixir", &["ex", "exs"]),
    ("swift", &["swift"]),
    ("shell", &["sh", "bash", "bats"]),
];

/// Products with names that look like files, such as `Node.js`.
const PRODUCT_NAMES: &[&str] =
    &["node", "next", "vue", "nuxt", "express", "react", "three", "d3", "chart", "discord"];

/// Classifies a single word by its form alone.
pub(super) fn classify(word: &str) -> NameKind {
    if word.is_empty() || word.contains(char::is_whitespace) || word.contains("://") {
        return NameKind::Other;
    }
    let plain = strip_line_number(word);
    if let Some((file, rest)) = plain.split_once("::")
        && language_of_file(file).is_some()
    {
        return if rest.is_empty() { NameKind::File } else { NameKind::Test };
    }
    if language_of_file(plain).is_some() {
        let stem = plain.rsplit_once('.').map_or("", |(stem, _)| stem);
        let spec = [".spec", ".test", ".cy", ".e2e"].iter().any(|mark| stem.ends_with(mark));
        return if spec { NameKind::Test } else { NameKind::File };
    }
    if plain.contains('/') || plain.starts_with('-') || plain.contains('=') {
        return NameKind::Other;
    }
    let pieces: Vec<&str> = plain.split(['.', '#']).flat_map(|part| part.split("::")).collect();
    let named = pieces.iter().all(|piece| is_identifier(piece))
        && pieces.iter().any(|piece| is_test_name(piece));
    // `tests::x` is a test in a module of tests.
    let module = pieces.len() > 1
        && plain.contains("::")
        && pieces[..pieces.len() - 1].iter().any(|piece| matches!(*piece, "tests" | "test"))
        && pieces.iter().all(|piece| is_identifier(piece));
    if named || module { NameKind::Test } else { NameKind::Other }
}

/// Returns true if a word next to "test" can be the name of a test: `parses_empty_input`, `mod::case`.
pub(super) fn may_name_a_test(word: &str) -> bool {
    let pieces: Vec<&str> = word.split("::").collect();
    let compound = pieces.len() > 1 || word.trim_matches('_').contains('_');
    compound && pieces.iter().all(|piece| is_identifier(piece))
}

fn is_identifier(text: &str) -> bool {
    let first = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    first && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_test_name(name: &str) -> bool {
    let upper = |c: char| c.is_ascii_uppercase();
    let camel = name.starts_with(upper);
    let after =
        name.strip_prefix("Test").is_some_and(|rest| rest.starts_with(|c| upper(c) || c == '_'));
    let before = ["Test", "Tests", "Spec", "TestCase"]
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|rest| !rest.is_empty()));
    let snake = name.strip_prefix("test_").is_some_and(|rest| !rest.is_empty())
        || ["_test", "_tests", "_spec"]
            .iter()
            .any(|end| name.strip_suffix(end).is_some_and(|rest| !rest.is_empty()));
    (camel && (after || before)) || snake
}

/// Removes line numbers: `src/a.rs:10:5` gives `src/a.rs`.
pub(super) fn strip_line_number(word: &str) -> &str {
    let mut word = word;
    while let Some((rest, line)) = word.rsplit_once(':')
        && !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
    {
        word = rest;
    }
    word
}

fn language_of_file(word: &str) -> Option<&'static str> {
    let (stem, extension) = word.rsplit_once('.')?;
    let known = LANGUAGE_EXTENSIONS.iter().find(|(_, extensions)| extensions.contains(&extension));
    let odd = stem.is_empty()
        || !stem.chars().all(|c| c.is_alphanumeric() || "_-./@+[]~".contains(c))
        || stem.ends_with('/')
        || (extension == "js" && PRODUCT_NAMES.contains(&stem.to_lowercase().as_str()));
    known.filter(|_| !odd).map(|(language, _)| *language)
}

/// Returns the possible languages of a test or file; empty if its name does not show them.
pub(super) fn possible_languages(name: &str) -> &'static [&'static str] {
    let file = name.split("::").next().unwrap_or(name);
    let last = name.rsplit(['.', '#']).next().unwrap_or(name);
    match language_of_file(strip_line_number(file)) {
        Some("rust") => &["rust"],
        Some("python") => &["python"],
        Some("javascript") => &["javascript"],
        Some("go") => &["go"],
        Some("java") => &["java"],
        Some("ruby") => &["ruby"],
        Some("php") => &["php"],
        Some("dotnet") => &["dotnet"],
        Some("c") => &["c"],
        Some(_) => &["other"],
        None if name.contains("::") => &["rust", "c"],
        None if last.starts_with("test_") => &["python", "rust", "c", "ruby", "php"],
        None if name.starts_with("Test") => {
            &["go", "python", "java", "dotnet", "php", "c", "swift"]
        }
        None => &[],
    }
}

/// Returns the parts of a name, without the parameters of a test case.
pub(super) fn split_test_name(name: &str) -> Vec<&str> {
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    name.split(['.', '/', '#', ' ', '>', ':', '$'])
        .filter(|part| !part.is_empty())
        .map(|part| part.strip_suffix("()").unwrap_or(part))
        .collect()
}

/// Returns true if one of two names contains the other: a module its test, a long name its short form.
pub(super) fn is_within(one: &[&str], other: &[&str]) -> bool {
    let holds = |long: &[&str], short: &[&str]| {
        !short.is_empty() && long.windows(short.len()).any(|window| window == short)
    };
    // A short name matches a long one only at its end: a file is not each of its tests.
    holds(other, one) || (one.ends_with(other) && !other.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_form() {
        for test in [
            "test_foo",
            "mod::tests::bar",
            "tests::bar",
            "TestFoo",
            "TestFoo.test_bar",
            "foo.spec.ts",
            "LoginTest",
            "FooServiceTests#saves",
            "src/a/foo.test.tsx",
            "tests/test_a.py::test_b",
            "pkg.test_mod.TestCase.test_x",
            "tests/test_a.py::TestB::test_c",
            "roundtrip_test",
            "Test_Foo",
        ] {
            assert_eq!(classify(test), NameKind::Test, "{test}");
        }
        for file in
            ["src/foo.rs", "auth_test.go", "test_a.py", "src/foo.rs:10:5", "a/b/[id].ts", "lib.rs"]
        {
            assert_eq!(classify(file), NameKind::File, "{file}");
        }
        for other in [
            "",
            "test",
            "tests",
            "the",
            "Test",
            "Tests",
            "pytest",
            "foo::bar",
            "foo_bar",
            "Node.js",
            "a.b",
            "README.md",
            "Cargo.toml",
            "https://x.org/a.py",
            "--test_x",
            "x=test_y",
            "Latest",
            "contest",
            "./scripts/test",
            "v1.2.3",
            "e.g",
            "Testing",
            ".rs",
            "latest_release",
            "test_",
        ] {
            assert_eq!(classify(other), NameKind::Other, "{other}");
        }
    }

    #[test]
    fn short_name_matches_long_forms() {
        for (one, other) in [
            ("test_b", "tests/test_a.py::test_b"),
            ("tests/test_a.py::test_b", "test_b"),
            ("test_b", "tests/test_a.py::test_b[1-x]"),
            ("mod::tests::bar", "crate::mod::tests::bar"),
            ("TestFoo", "TestFoo/sub_case"),
            ("TestLogin", "tests/x.py::TestLogin::test_a"),
            ("foo.spec.ts", "src/foo.spec.ts > renders"),
            ("LoginTest.saves", "org.x.LoginTest.saves()"),
        ] {
            assert!(is_within(&split_test_name(one), &split_test_name(other)), "{one} {other}");
        }
        for (one, other) in [
            ("test_b", "test_bc"),
            ("test_b", "tests/test_a.py::test_c"),
            ("tests/test_a.py::test_b", "tests/test_x.py::test_b"),
            ("tests/test_a.py::test_b", "tests/test_a.py"),
            ("test_b", ""),
        ] {
            assert!(!is_within(&split_test_name(one), &split_test_name(other)), "{one} {other}");
        }
    }
}
