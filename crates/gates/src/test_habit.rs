//! Where a project keeps its tests, by the tests that it has.

use crate::test_places::{KIND_FOLDERS, TestPlace, join};

/// The tests of a project in one language.
#[derive(Debug, Default)]
pub(crate) struct TestHabit {
    tests: Vec<TestTraits>,
}

/// The traits of a test's path that projects repeat.
#[derive(Debug, PartialEq, Eq)]
struct TestTraits {
    /// The folder up to the one for tests; None for a test beside its code.
    test_folder: Option<String>,
    /// The folder for one kind of tests in it, such as `unit`.
    kind: Option<String>,
    /// The first folder inside the test folder.
    inner: Option<String>,
    /// True if the test is in that folder itself.
    is_flat: bool,
    /// What the name has before and behind the subject: `test_*.py`.
    form: Option<&'static str>,
    extension: String,
}

impl TestHabit {
    /// Reads the paths of tests.
    pub(crate) fn read(tests: &[String]) -> Self {
        Self { tests: tests.iter().map(|test| TestTraits::read(test)).collect() }
    }

    /// Returns the paths of the places, the most habitual first. Each folder appears once, with its most habitual name.
    pub(crate) fn sort_paths(&self, places: &[TestPlace], most: usize) -> Vec<String> {
        let mut paths: Vec<(usize, String)> = Vec::new();
        let is_known = |place: &&TestPlace| {
            place.is_usual || place.first_path().is_some_and(|path| self.has_folder_like(&path))
        };
        for place in places.iter().filter(is_known) {
            let best = (place.names.iter())
                .map(|name| join(&place.folder, name))
                .map(|path| (self.count_alike(&path), path))
                // Of equals the first: the usual name comes first.
                .reduce(|best, next| if next.0 > best.0 { next } else { best });
            paths.extend(best);
        }
        paths.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        paths.into_iter().take(most).map(|(_, path)| path).collect()
    }

    /// Returns true if a test is in the same folder of a test folder, or below it.
    fn has_folder_like(&self, path: &str) -> bool {
        let traits = TestTraits::read(path);
        self.tests.iter().any(|it| it.test_folder == traits.test_folder && it.inner == traits.inner)
    }

    /// Returns a score: how many tests share each trait of a path.
    fn count_alike(&self, path: &str) -> usize {
        let traits = TestTraits::read(path);
        let count = |is_alike: &dyn Fn(&TestTraits) -> bool| {
            self.tests.iter().filter(|it| is_alike(it)).count()
        };
        // The folder decides, then flat or nested, then the name.
        16 * count(&|it| it.test_folder == traits.test_folder)
            + 4 * count(&|it| it.test_folder == traits.test_folder && it.is_flat == traits.is_flat)
            + 4 * count(&|it| it.test_folder == traits.test_folder && it.kind == traits.kind)
            + 2 * count(&|it| it.form.is_some() && it.form == traits.form)
            + count(&|it| it.extension == traits.extension)
    }
}

impl TestTraits {
    fn read(path: &str) -> Self {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
        let at = parts.iter().position(|part| is_test_folder(part));
        let form = [
            "test_*", "*_test", "*_tests", "*.test", "*.spec", "*-test", "*_spec", "*Tests",
            "*Test", "*Spec", "*IT",
        ]
        .into_iter()
        .find(|form| match form.split_once('*') {
            Some((before, behind)) => stem.starts_with(before) && stem.ends_with(behind),
            None => false,
        });
        // Names of Rust's test programs have no sign of a test.
        let is_bare = form.is_none() && extension == "rs" && at.is_some();
        let form = if is_bare { Some("*") } else { form };
        // `__tests__` stands beside the code, in each folder.
        let test_folder = at.map(|at| {
            if parts[at] == "__tests__" { "__tests__".to_owned() } else { parts[..=at].join("/") }
        });
        let inner = at.map_or(&[][..], |at| &parts[at + 1..]);
        let kind =
            inner.first().filter(|name| KIND_FOLDERS.contains(name)).map(|name| (*name).to_owned());
        Self {
            is_flat: inner.len() == usize::from(kind.is_some()),
            kind,
            inner: inner.first().map(|name| (*name).to_owned()),
            test_folder,
            form,
            extension: extension.to_owned(),
        }
    }
}

fn is_test_folder(name: &str) -> bool {
    matches!(name, "tests" | "test" | "__tests__" | "spec" | "specs" | "Tests" | "unittests")
        || name.ends_with(".Tests")
        || (name.ends_with("Tests") && name.len() > 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &str, names: &[&str]) -> TestPlace {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        TestPlace { folder: folder.to_owned(), names, is_usual: true }
    }

    #[test]
    fn habit_decides_the_order() {
        let places = [
            place("src", &["cart.test.ts", "cart.spec.ts"]),
            place("src/__tests__", &["cart.test.ts", "cart.spec.ts"]),
            place("tests", &["cart.test.ts", "cart.spec.ts"]),
        ];
        let first = |tests: &[&str]| {
            let tests: Vec<String> = tests.iter().map(|test| (*test).to_owned()).collect();
            TestHabit::read(&tests).sort_paths(&places, 1).remove(0)
        };
        assert_eq!(first(&[]), "src/cart.test.ts");
        assert_eq!(first(&["lib/a.spec.ts"]), "src/cart.spec.ts");
        assert_eq!(
            first(&["tests/a.test.ts", "tests/b.test.ts", "lib/a.spec.ts"]),
            "tests/cart.test.ts"
        );
        assert_eq!(first(&["lib/__tests__/a.test.ts"]), "src/__tests__/cart.test.ts");
    }
}
