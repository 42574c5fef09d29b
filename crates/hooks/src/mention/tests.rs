use super::*;
use rutter_memory::change::{Change, Hunk};
use rutter_memory::episode::{EpisodeEnding, EpisodeEndingKind};
use rutter_memory::project::ProjectKey;
use rutter_memory::{Clean, Id, Time};

fn episode(test: Option<&str>, error: &str, file: Option<&str>) -> Episode {
    let now = Time::from_millis(1);
    Episode {
        test: test.map(Clean::new),
        error: Clean::new(error),
        file: file.map(Clean::new),
        ..rutter_testkit::world::open_episode(Id::new(now), ProjectKey::new("dir:/ship"), now)
    }
}

fn names_failure_or_file(prompt: &str, episode: &Episode) -> bool {
    Mentions::parse(prompt).names_failure(episode)
}

#[test]
fn names_test_by_its_own_name() {
    let total = "tests/test_cart.py::Cart::test_total[gold]";
    for (test, prompt, expected) in [
        (total, "test_total fails again", true),
        (total, "why does `test_total` fail?", true),
        (total, "look at Cart::test_total.", true),
        // Near misses: part of a longer name, different case, single words of the name.
        (total, "test_totals fails again", false),
        (total, "my_test_total fails again", false),
        (total, "the total in the test is wrong", false),
        (total, "test the total of the cart", false),
        ("TestEvictsOldest", "TestEvictsOldest hangs", true),
        ("TestEvictsOldest", "TestEvictsOldestFirst hangs", false),
        ("TestEvictsOldest", "test that it evicts the oldest", false),
        // An ordinary word is a test name only with a sign that it is one.
        ("cart::tests::total", "the total is wrong", false),
        ("cart::tests::total", "the total test coverage is low", false),
        ("cart::tests::total", "`total` fails", true),
        ("cart::tests::total", "cart::total fails", true),
        ("cart::tests::total", "invoice::total fails", false),
        ("cart::tests::total", "the total test fails", true),
        ("cart::tests::total", "fix test total", true),
        ("cart::tests::sum", "`sum` fails", false),
        // A title of several words must be quoted.
        (
            "cart > returns 404 when the user is gone",
            "returns 404 when the user is gone is red",
            true,
        ),
        ("cart > returns 404 when the user is gone", "it returns 404 when a user is gone", false),
        ("cart > adds tax", "make sure that it adds tax", false),
    ] {
        let episode = episode(Some(test), "assert 90 == 100", None);
        assert_eq!(names_failure_or_file(prompt, &episode), expected, "{test}: {prompt}");
    }
}

#[test]
fn names_file_by_path_or_name() {
    let mut cart =
        episode(Some("Cart.test_x"), "discount rounding differs", Some("tests/test_cart.py"));
    let hunk = Hunk::diff("a\n", "b\n");
    let edit = Change::from_edit("shop/cart.py", &hunk, Time::from_millis(2));
    let command = Change::from_command("sed -i s/a/b/ shop/other.py", Time::from_millis(2));
    cart.ending = Some(EpisodeEnding {
        how: EpisodeEndingKind::Fixed,
        at: Time::from_millis(3),
        outcome: None,
        fix: vec![edit, command],
    });
    for (prompt, expected) in [
        ("clean up shop/cart.py please", true),
        ("clean up cart.py, please", true),
        ("@shop/cart.py:12 is odd", true),
        ("see ./shop/cart.py:12:5.", true),
        ("see /home/ada/ship/shop/cart.py", true),
        ("run tests/test_cart.py::Cart", true),
        ("(test_cart.py)", true),
        // Near misses.
        ("clean up shopping_cart.py", false),
        ("clean up shop/cart.pyx", false),
        ("clean up cart.py.bak", false),
        ("clean up other/cart.py", false),
        ("clean up shop/other.py", false),
        ("clean up the cart", false),
        ("clean up the shop/ folder", false),
        ("see https://example.com/shop/cart.py", false),
    ] {
        let about = |prompt: &str| Mentions::parse(prompt).is_about_failure_in_file(&cart);
        assert_eq!(about(&format!("discount and rounding: {prompt}")), expected, "{prompt}");
        assert!(!about(prompt), "the file alone: {prompt}");
    }
}

#[test]
fn names_error_by_a_distinctive_part() {
    for (error, prompt, expected) in [
        ("the total is wrong: 90", "I see that the total is wrong: 80", true),
        ("func in shop/api/cart is unwrapped", "why does it return in shop/api/cart.py?", false),
        ("the total is wrong: 90", "the wrong total is shown", false),
        ("no such calendar month: 13", "there is no such calendar month", true),
        ("no such calendar month: 13", "no such luck this month", false),
        ("no such month: 13", "no such month", false),
        // Less than most of the error, and only two words with information.
        (
            "checkRemote() returned error: failed to fetch metadata",
            "it says: failed to fetch metadata",
            false,
        ),
        (
            "Expected session ID conflict error when shadow branch has commits from different session",
            "Warning: Session ID conflict detected! The shadow branch already has checkpoints from a different session",
            false,
        ),
        (
            "goconst: string 'main' has 5 occurrences, make it a constant",
            "string `main` has 5 occurrences, make it a constant (goconst)",
            true,
        ),
        // Words that most errors contain identify none of them.
        ("assertion `left == right` failed: 3", "assertion `left == right` failed: 7", false),
        ("AssertionError: 90.0 != 100", "AssertionError: 80.0 != 100 in the cart", false),
        ("AssertionError: 90.0 != 100", "AssertionError: 90.0 != 100 in the cart", true),
        ("Cannot find module './cart'", "Cannot find module './user'", false),
        ("Cannot find module './cart'", "Cannot find module './cart' in CI", true),
        ("TypeError: x is not a function", "it says that y is not a function", false),
        // A type or a code, and words of the message.
        ("KeyError: 'customer'", "I get a KeyError for customer", true),
        ("KeyError: 'customer'", "I get a KeyError for order", false),
        ("KeyError: 'customer'", "the customer is missing", false),
        ("error[E0382]: borrow of moved value: `config`", "E0382 about config", true),
        ("error[E0382]: borrow of moved value: `config`", "E0382 about settings", false),
        (
            "ValueError: unknown currency EUR of account",
            "a ValueError: currency of an account",
            true,
        ),
        ("ValueError: unknown currency EUR of account", "a ValueError about a currency", false),
        ("ENOENT: no such file, open '/tmp/lock'", "ENOENT when it opens the lock", false),
        ("ENOENT: no such file, open '/tmp/lock'", "ENOENT: open of the lock in tmp", true),
    ] {
        let episode = episode(None, error, None);
        assert_eq!(names_failure_or_file(prompt, &episode), expected, "{error}: {prompt}");
    }
}

#[test]
fn finds_paths_of_prompt() {
    for (prompt, expected) in [
        ("fix src/lib.rs:12 and `docs/a b.md`", vec!["src/lib.rs", "docs/a", "b.md"]),
        ("is 2.1.325 new? e.g. and/or", vec!["e.g", "and/or"]),
        ("Makefile is fine", vec![]),
        ("src/lib.rs, src/lib.rs", vec!["src/lib.rs"]),
        ("C:/x.rs", vec![]),
    ] {
        assert_eq!(Mentions::parse(prompt).paths(), expected, "{prompt}");
    }
}
