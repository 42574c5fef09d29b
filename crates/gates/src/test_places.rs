//! The places where the tests of a file may be, by the rules of its language.
//!
//! Names are exact: `data.test.ts` is no test of `a.ts`. Folders are those beside the file, and the test folders of the
//! file's package, with the file's own folders below them, a part of those, or none. Another package's tests do not count.

use crate::file_role::is_source_folder;
use crate::language::Language;

/// Maximum number of folders that are looked at.
const MAX_FOLDERS: usize = 160;
/// Folders for one kind of tests, inside a test folder.
pub(crate) const KIND_FOLDERS: &[&str] = &[
    "unit",
    "Unit",
    "integration",
    "Integration",
    "Feature",
    "functional",
    "it",
    "unit_tests",
    "e2e",
];

/// A folder in which a test may be, and the names that it may have there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPlace {
    /// The folder, relative to the root of the project; empty for the root.
    pub folder: String,
    /// File names. The usual one is first.
    pub names: Vec<String>,
    /// True for a place that is suggested even if no test of the project is in one like it.
    pub is_usual: bool,
}

impl TestPlace {
    /// Returns the path of the usual name.
    pub fn first_path(&self) -> Option<String> {
        self.names.first().map(|name| join(&self.folder, name))
    }
}

/// Returns the places of a file's tests, the usual ones first. `packages` are the folders with a manifest above the file,
/// relative to the root, the nearest first. Without one, the root is the package.
pub fn test_places(path: &str, language: Language, packages: &[String]) -> Vec<TestPlace> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let package = packages.first().map_or("", String::as_str);
    let file = TestedFile { folder, stem, extension, package, language };
    let mut places = PlaceList::default();
    // Where the project has no habit, the first place is suggested.
    let is_local_usual = !matches!(language, Language::Python | Language::C);
    if is_local_usual {
        file.add_local_places(&mut places);
    }
    file.add_package_places(&mut places);
    if !is_local_usual {
        file.add_local_places(&mut places);
    }
    if !package.is_empty() {
        file.add_root_places(&mut places);
    }
    places.places
}

/// A file for which tests are looked for.
struct TestedFile<'a> {
    folder: &'a str,
    stem: &'a str,
    extension: &'a str,
    package: &'a str,
    language: Language,
}

#[derive(Default)]
struct PlaceList {
    places: Vec<TestPlace>,
}

impl PlaceList {
    fn add(&mut self, folder: &str, names: &[String]) {
        self.add_place(folder, names, true);
    }

    fn add_place(&mut self, folder: &str, names: &[String], is_usual: bool) {
        if names.is_empty() || self.places.len() >= MAX_FOLDERS {
            return;
        }
        match self.places.iter_mut().find(|place| place.folder == folder) {
            Some(place) => {
                for name in names {
                    if !place.names.contains(name) {
                        place.names.push(name.clone());
                    }
                }
            }
            None => self.places.push(TestPlace {
                folder: folder.to_owned(),
                names: names.to_vec(),
                is_usual,
            }),
        }
    }
}

impl TestedFile<'_> {
    /// Returns the words that a test's name may contain: the file's, or that of its folder for an entry file.
    fn subjects(&self) -> Vec<String> {
        let mut subjects = vec![self.stem.to_owned()];
        let folder = self.folder.rsplit('/').next().filter(|name| !name.is_empty());
        let is_entry = match self.language {
            Language::Rust => matches!(self.stem, "mod" | "lib" | "main"),
            Language::Python => matches!(self.stem, "__init__" | "__main__"),
            Language::JavaScript => self.stem == "index",
            _ => false,
        };
        if let Some(folder) = folder.filter(|folder| is_entry && !is_source_folder(folder)) {
            if self.stem == "index" {
                subjects.push(folder.to_owned());
            } else {
                subjects.insert(0, folder.to_owned());
            }
        }
        if is_entry && self.folder.rsplit('/').next().is_none_or(is_source_folder) {
            // The root file of a package is also tested under the package's name.
            if let Some(package) = self.package.rsplit('/').next().filter(|name| !name.is_empty()) {
                subjects.push(package.replace('-', "_"));
            }
        }
        if self.language == Language::Python && !self.stem.starts_with("__") {
            let bare = self.stem.trim_start_matches('_');
            if bare.len() < self.stem.len() {
                subjects.push(bare.to_owned());
            }
        }
        subjects
    }

    /// Returns the names of tests anywhere.
    fn names(&self) -> Vec<String> {
        self.subjects().iter().flat_map(|subject| self.names_for(subject)).collect()
    }

    fn names_for(&self, subject: &str) -> Vec<String> {
        let forms: &[(&str, &str)] = match self.language {
            Language::Rust => &[("", "_test"), ("", "_tests"), ("test_", "")],
            Language::Python => &[("test_", ""), ("", "_test"), ("", "_tests"), ("tests_", "")],
            Language::JavaScript => &[
                ("", ".test"),
                ("", ".spec"),
                ("", "-test"),
                ("", "_test"),
                ("", "-spec"),
                ("", ".cy"),
            ],
            Language::Jvm => &[
                ("", "Test"),
                ("", "Tests"),
                ("Test", ""),
                ("", "IT"),
                ("", "Spec"),
                ("", "TestCase"),
            ],
            Language::CSharp => {
                &[("", "Tests"), ("", "Test"), ("", "Specs"), ("", "Spec"), ("Test", "")]
            }
            Language::Ruby => &[("", "_spec"), ("", "_test"), ("test_", "")],
            Language::Php => &[("", "Test"), ("", "Cest"), ("", "Spec")],
            Language::C => &[
                ("test_", ""),
                ("", "_test"),
                ("", "_tests"),
                ("", "_unittest"),
                ("", ".test"),
                ("", "-test"),
                ("test-", ""),
                ("", "Test"),
                ("", "Tests"),
                ("Test", ""),
            ],
            Language::Swift => &[("", "Tests"), ("", "Test"), ("", "Spec")],
            Language::Go | Language::Elixir => &[("", "_test")],
        };
        let extensions = self.test_extensions();
        let mut names = Vec::with_capacity(forms.len() * extensions.len());
        for (before, behind) in forms {
            for extension in &extensions {
                names.push(format!("{before}{subject}{behind}.{extension}"));
            }
        }
        names
    }

    /// Returns the names of tests inside a folder for tests: those of anywhere, and in some languages the file's own.
    fn names_in_test_folder(&self) -> Vec<String> {
        let has_bare_names =
            matches!(self.language, Language::Rust | Language::JavaScript | Language::C);
        let mut bare = Vec::new();
        for subject in self.subjects().iter().filter(|_| has_bare_names) {
            bare.extend(
                self.test_extensions().iter().map(|extension| format!("{subject}.{extension}")),
            );
        }
        if self.language != Language::Rust {
            return [self.names(), bare].concat();
        }
        // Every file in Rust's `tests` is a test, so the bare name is the usual one.
        let folders = self
            .subjects()
            .into_iter()
            .flat_map(|subject| [format!("{subject}/main.rs"), format!("{subject}/mod.rs")]);
        [bare, self.names(), folders.collect()].concat()
    }

    /// Returns the extensions of tests, the file's own first.
    fn test_extensions(&self) -> Vec<&'static str> {
        let all = self.language.test_extensions();
        let own = all.iter().filter(|extension| **extension == self.extension);
        let others = all.iter().filter(|extension| **extension != self.extension);
        own.chain(others).copied().collect()
    }

    /// Adds the places beside the file.
    fn add_local_places(&self, places: &mut PlaceList) {
        let names = self.names();
        let in_folder = |name: &str| join(self.folder, name);
        match self.language {
            Language::Rust => {
                let tests = ["tests.rs".to_owned(), "test.rs".to_owned()];
                if self.stem == "mod" {
                    places.add(self.folder, &tests);
                } else {
                    places.add(&in_folder(self.stem), &tests);
                }
                places.add(self.folder, &names);
                places.add(&in_folder("tests"), &self.names_in_test_folder());
            }
            Language::Go => places.add(self.folder, &names),
            Language::JavaScript => {
                places.add(self.folder, &names);
                for folder in ["__tests__", "tests", "test", "spec"] {
                    places.add(&in_folder(folder), &self.names_in_test_folder());
                }
            }
            Language::Python => {
                places.add(self.folder, &names);
                places.add(&in_folder("tests"), &names);
                places.add(&in_folder("test"), &names);
                if is_django_module(self.stem) {
                    places.add(self.folder, &["tests.py".to_owned()]);
                }
            }
            Language::C => {
                places.add(self.folder, &names);
                for folder in ["tests", "test"] {
                    places.add(&in_folder(folder), &self.names_in_test_folder());
                }
            }
            // Their build tools look for tests in folders of their own.
            Language::Jvm
            | Language::CSharp
            | Language::Swift
            | Language::Php
            | Language::Ruby
            | Language::Elixir => {}
        }
    }

    /// Returns the names of test folders, the usual one first.
    fn test_folders(&self) -> &'static [&'static str] {
        match self.language {
            Language::Rust => &["tests"],
            Language::Python => &["tests", "test"],
            Language::JavaScript => &["tests", "test", "__tests__", "spec"],
            Language::Go => &[],
            Language::Jvm => &[
                "src/test/java",
                "src/test/kotlin",
                "src/test/groovy",
                "src/test/scala",
                "test",
                "tests",
            ],
            Language::CSharp => &["tests", "test", "Tests"],
            Language::Ruby => &["spec", "test"],
            Language::Php => &["tests", "test", "Tests", "spec"],
            Language::C => &["tests", "test", "unittests", "unittest"],
            Language::Swift => &["Tests"],
            Language::Elixir => &["test"],
        }
    }

    /// Adds the places in the test folders of the package, and of each folder between it and the file.
    fn add_package_places(&self, places: &mut PlaceList) {
        let below =
            self.folder.strip_prefix(self.package).unwrap_or(self.folder).trim_start_matches('/');
        let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
        match self.language {
            Language::Jvm => self.add_jvm_places(&parts, places),
            Language::CSharp => self.add_csharp_places(&parts, places),
            Language::Swift => self.add_swift_places(&parts, places),
            _ => {}
        }
        let names = self.names_in_test_folder();
        let source = parts.iter().position(|part| is_source_folder(part));
        // The package's own test folder first, then those nearer to the file.
        for depth in 0..=parts.len() {
            let base = join(self.package, &parts[..depth].join("/"));
            let rest = &parts[depth..];
            // Test folders stand beside the source folder.
            let is_usual = source.map_or(depth == 0, |source| source == depth);
            for (number, folder) in self.test_folders().iter().enumerate() {
                let tests = join(&base, folder);
                for inner in self.inner_folders(rest) {
                    // A test folder seldom repeats the source folder, except for `lib` in Ruby.
                    let repeats_source = self.language != Language::Ruby
                        && inner.split('/').next().is_some_and(is_source_folder);
                    let is_usual = is_usual && number == 0 && !repeats_source;
                    places.add_place(&join(&tests, &inner), &names, is_usual);
                    for kind in KIND_FOLDERS.iter().filter(|_| is_usual) {
                        places.add_place(&join(&join(&tests, kind), &inner), &names, false);
                    }
                }
            }
        }
        if self.language == Language::Python {
            // `tests/test_shop_cart.py` for `shop/cart.py`
            let dotted: Vec<String> = (parts.iter().filter(|part| !is_source_folder(part)))
                .map(|part| (*part).to_owned())
                .chain([self.stem.to_owned()])
                .collect();
            let names: Vec<String> = (0..dotted.len().saturating_sub(1))
                .map(|from| format!("test_{}.py", dotted[from..].join("_")))
                .collect();
            places.add(&join(self.package, "tests"), &names);
        }
    }

    /// Returns the folders inside a test folder: the file's, without its source folder, the ends of those, and none.
    fn inner_folders(&self, rest: &[&str]) -> Vec<String> {
        let mut inner: Vec<String> = Vec::new();
        let mut add = |parts: &[&str]| {
            let text = parts.join("/");
            if !inner.contains(&text) {
                inner.push(text);
            }
        };
        let without_source = match rest {
            [first, others @ ..] if is_source_folder(first) => others,
            _ => rest,
        };
        add(without_source);
        add(rest);
        // The package of a JVM or Elixir test is that of its code, and so is a Rails folder.
        if !matches!(self.language, Language::Jvm | Language::Elixir | Language::Ruby) {
            for from in 1..=without_source.len() {
                add(&without_source[from..]);
            }
        } else if self.language == Language::Ruby && without_source.len() > 1 {
            // A gem repeats its name below `lib`: `lib/shop/cart.rb`, `spec/cart_spec.rb`.
            add(&without_source[1..]);
        } else if self.language == Language::Ruby {
            add(&[]);
        }
        inner
    }

    fn add_jvm_places(&self, parts: &[&str], places: &mut PlaceList) {
        let Some(at) =
            parts.windows(2).position(|pair| pair[0] == "src" && is_jvm_source_set(pair[1]))
        else {
            return;
        };
        let base = join(self.package, &parts[..at].join("/"));
        // `src/main/java/…`, but also `src/main/…` of old projects
        let language_folder = parts
            .get(at + 2)
            .filter(|part| matches!(**part, "java" | "kotlin" | "groovy" | "scala"));
        let inner = parts[at + 2 + usize::from(language_folder.is_some())..].join("/");
        let own = language_folder.copied().unwrap_or("java");
        let sets = ["test", "integrationTest", "androidTest", "commonTest", "jvmTest", "it"];
        let languages = [own, "java", "kotlin", "groovy", "scala"];
        for set in sets {
            for language in languages {
                places.add(&join(&base, &format!("src/{set}/{language}/{inner}")), &self.names());
            }
        }
    }

    fn add_csharp_places(&self, parts: &[&str], places: &mut PlaceList) {
        // The project's folder is the package (it has the `.csproj`), or one of the folders of the path.
        let package: Vec<&str> = self.package.split('/').filter(|part| !part.is_empty()).collect();
        let whole: Vec<&str> = package.iter().chain(parts).copied().collect();
        for at in (0..whole.len()).rev() {
            let name = whole[at];
            if is_source_folder(name) && at == 0 {
                continue;
            }
            let inner = whole[at + 1..].join("/");
            let above: Vec<&str> = whole[..at].to_vec();
            let mut bases = vec![above.join("/")];
            let outer = above
                .iter()
                .filter(|part| !is_source_folder(part))
                .copied()
                .collect::<Vec<_>>()
                .join("/");
            for folder in ["tests", "test", "Tests"] {
                bases.push(join(&outer, folder));
            }
            for base in bases {
                for end in [".Tests", ".Test", ".UnitTests", ".IntegrationTests", "Tests"] {
                    let project = join(&base, &format!("{name}{end}"));
                    places.add(&join(&project, &inner), &self.names());
                    places.add(&project, &self.names());
                }
            }
        }
    }

    fn add_swift_places(&self, parts: &[&str], places: &mut PlaceList) {
        let (target, inner) = match parts {
            ["Sources" | "Source", target, inner @ ..] | [target, inner @ ..] => (*target, inner),
            [] => return,
        };
        for base in [join(self.package, "Tests"), self.package.to_owned()] {
            let tests = join(&base, &format!("{target}Tests"));
            places.add(&join(&tests, &inner.join("/")), &self.names());
            places.add(&tests, &self.names());
        }
    }

    /// Adds the test folders of the root, which mirror a package with its whole path.
    fn add_root_places(&self, places: &mut PlaceList) {
        let names = self.names_in_test_folder();
        let whole: Vec<&str> = self.folder.split('/').filter(|part| !part.is_empty()).collect();
        let package_parts = self.package.split('/').count();
        let inner = whole[package_parts.min(whole.len())..].to_vec();
        let without_source = match &inner[..] {
            [first, others @ ..] if is_source_folder(first) => others,
            _ => &inner[..],
        };
        let short: Vec<&str> =
            whole[..package_parts.min(whole.len())].iter().chain(without_source).copied().collect();
        for folder in self.test_folders() {
            places.add_place(&join(folder, &whole.join("/")), &names, false);
            places.add_place(&join(folder, &short.join("/")), &names, false);
        }
    }
}

fn is_jvm_source_set(name: &str) -> bool {
    matches!(name, "main" | "commonMain" | "jvmMain" | "androidMain" | "release" | "debug")
}

/// Returns true for the modules of a Django application, whose tests are in its `tests.py`.
fn is_django_module(stem: &str) -> bool {
    matches!(
        stem,
        "models"
            | "views"
            | "forms"
            | "serializers"
            | "signals"
            | "managers"
            | "urls"
            | "admin"
            | "apps"
    )
}

/// Joins two paths, of which each may be empty.
pub(crate) fn join(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str, language: Language, packages: &[&str]) -> Vec<String> {
        let packages: Vec<String> = packages.iter().map(|package| (*package).to_owned()).collect();
        let places = test_places(path, language, &packages);
        places
            .iter()
            .flat_map(|place| place.names.iter().map(|name| join(&place.folder, name)))
            .collect()
    }

    #[test]
    fn usual_layouts_are_known() {
        for (path, language, packages, test) in [
            ("src/shop/cart.py", Language::Python, &[][..], "tests/test_cart.py"),
            ("src/shop/cart.py", Language::Python, &[], "tests/shop/test_cart.py"),
            ("src/shop/cart.py", Language::Python, &[], "tests/unit/shop/test_cart.py"),
            ("shop/_cart.py", Language::Python, &[], "tests/test_cart.py"),
            ("src/cart.ts", Language::JavaScript, &[], "src/__tests__/cart.test.ts"),
            ("lib/cart.js", Language::JavaScript, &[], "test/cart.js"),
            (
                "packages/a/src/x.ts",
                Language::JavaScript,
                &["packages/a"],
                "packages/a/tests/x.test.ts",
            ),
            ("src/cart/index.ts", Language::JavaScript, &[], "src/cart/cart.test.ts"),
            ("cart/cart.go", Language::Go, &[], "cart/cart_test.go"),
            ("src/main/java/a/Cart.java", Language::Jvm, &[], "src/test/java/a/CartTest.java"),
            (
                "m/src/main/kotlin/a/Cart.kt",
                Language::Jvm,
                &["m"],
                "m/src/test/kotlin/a/CartSpec.kt",
            ),
            (
                "src/Shop/Model/Cart.cs",
                Language::CSharp,
                &["src/Shop"],
                "tests/Shop.Tests/Model/CartTests.cs",
            ),
            ("Shop/Cart.cs", Language::CSharp, &["Shop"], "Shop.Tests/CartTests.cs"),
            ("app/models/cart.rb", Language::Ruby, &[], "spec/models/cart_spec.rb"),
            ("lib/shop/cart.rb", Language::Ruby, &[], "spec/shop/cart_spec.rb"),
            ("lib/shop/cart.rb", Language::Ruby, &[], "spec/lib/shop/cart_spec.rb"),
            ("src/Model/Cart.php", Language::Php, &[], "tests/Unit/Model/CartTest.php"),
            ("src/cart.c", Language::C, &[], "tests/test_cart.c"),
            ("Sources/Shop/Cart.swift", Language::Swift, &[], "Tests/ShopTests/CartTests.swift"),
            ("lib/shop/cart.ex", Language::Elixir, &[], "test/shop/cart_test.exs"),
            ("src/cart.rs", Language::Rust, &[], "src/cart/tests.rs"),
            ("src/cart/mod.rs", Language::Rust, &[], "src/cart/tests.rs"),
            ("src/cart.rs", Language::Rust, &[], "tests/cart.rs"),
        ] {
            let found = paths(path, language, packages);
            assert!(found.iter().any(|it| it == test), "{path}: {test} is missing in {found:#?}");
        }
    }

    #[test]
    fn other_packages_and_substrings_are_no_places() {
        let found = paths("packages/a/src/x.ts", Language::JavaScript, &["packages/a"]);
        for wrong in
            ["packages/b/tests/x.test.ts", "tests/x.test.ts", "packages/a/tests/max.test.ts"]
        {
            assert!(!found.iter().any(|it| it == wrong), "{wrong}");
        }
        let found = paths("src/main/java/a/Cart.java", Language::Jvm, &[]);
        assert!(!found.iter().any(|it| it == "src/test/java/b/CartTest.java"));
    }

    #[test]
    fn number_of_places_is_bounded() {
        let deep = format!("src/{}cart.py", "a/".repeat(200));
        assert!(test_places(&deep, Language::Python, &[]).len() <= MAX_FOLDERS);
    }
}
