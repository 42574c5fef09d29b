//! Fixes made by commands and by git, the check if a change is still in the file, and the file copies that are
//! compared.
//!
//! These tests check the table in `docs/reference/episodes.md`.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rutter_memory::episode::EpisodeEndingKind;
use rutter_memory::store::EpisodeFilter;
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use serde_json::{Value, json};

use crate::loop_cases::{CART, pytest_output};
use rutter_testkit::story::{HookStory, TOTAL, run_git};
use rutter_testkit::world::{TestWorld, time_at};

const FIX: &str = "> -return sum(items) * 0.9\n> +return sum(items)\n";

fn red_output() -> String {
    pytest_output(&[("test_total", "AssertionError: assert 90 == 100")], 3)
}

/// Removes the mistake from some files.
fn remove_mistake(root: &Path, files: &[&str]) {
    for file in files {
        let text = fs::read_to_string(root.join(file)).unwrap();
        assert!(text.contains(" * 0.9"), "{file}");
        fs::write(root.join(file), text.replace(" * 0.9", "")).unwrap();
    }
}

/// Creates a checkout with the cart and its test in one commit.
fn committed_checkout<'a>(world: &'a TestWorld, cart: &str) -> HookStory<'a> {
    let story = HookStory::new(world);
    story.write_file("shop/cart.py", cart);
    story.write_file("shop/tax.py", "RATE = 0.2 * 0.9\n");
    story.write_file("tests/test_cart.py", "def test_total():\n    assert total(1) == 2\n");
    run_git(&story.folder, &["init", "-q"]);
    run_git(&story.folder, &["add", "-A"]);
    run_git(&story.folder, &["commit", "-q", "-m", "a"]);
    story
}

/// Repeats the failure in another session and returns the hook's text.
fn text_on_return(story: &mut HookStory<'_>) -> String {
    story.session = "session-2";
    story.run_failing_command("pytest", 1, &red_output())
}

#[test]
fn sed_on_many_files_is_stored() {
    for command in [
        "sed -i 's/ \\* 0.9//' shop/tax.py shop/cart.py",
        "sed -i 's/ \\* 0.9//' shop/*.py",
        "sed -i -e 's/.0.9//g' *.py shop/*.py",
        "find . -name '*.py' -exec sed -i 's/.0.9//g' {} +",
        "grep -rl 0.9 shop | xargs sed -i 's/ \\* 0.9//'",
    ] {
        let world = TestWorld::new();
        let mut story = committed_checkout(&world, CART);
        story.run_failing_command("pytest", 1, &red_output());
        story.run_changing_command(command, |root| {
            remove_mistake(root, &["shop/tax.py", "shop/cart.py"]);
        });
        story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        let said = text_on_return(&mut story);
        assert!(said.contains(FIX) && !said.contains("sed"), "{command}: {said}");
        assert!(!said.contains("RATE"), "{command}: {said}");
    }
}

#[test]
fn scripts_are_stored_as_diff() {
    for command in [
        "cat > /tmp/fix.py <<'EOF'\nopen('shop/cart.py', 'w').write(x)\nEOF\npython3 /tmp/fix.py",
        "cat <<'EOF' | python3 -\nopen('shop/cart.py', 'w').write(x)\nEOF",
        "python3 - <<'EOF'\nimport json\np = 'shop/cart.py'\njson.dump(x, open(p, 'w'))\nEOF",
        "python3 -c \"p='shop/cart.py'; s=open(p).read(); open(p,'w').write(s)\"",
        "node <<'EOF'\nrequire('fs').writeFileSync('shop/cart.py', '')\nEOF",
        "bash -c \"sed -i 's/a/b/' shop/cart.py\"",
        "for f in shop/*.py; do sed -i 's/a/b/' $f; done",
        "sed 's/a/b/' shop/cart.py > t && mv t shop/cart.py",
        "patch -p1 < fix.patch",
        "git show HEAD:shop/cart.py > shop/cart.py",
        "printf 'x' > shop/cart.py",
        "npm run lint:fix",
        "ruff format .",
    ] {
        let world = TestWorld::new();
        let mut story = committed_checkout(&world, CART);
        story.write_file("fix.patch", "--- a/shop/cart.py\n+++ b/shop/cart.py\n");
        story.run_failing_command("pytest", 1, &red_output());
        story.run_changing_command(command, |root| remove_mistake(root, &["shop/cart.py"]));
        story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        let said = text_on_return(&mut story);
        assert!(said.contains(FIX), "{command}: {said}");
    }
}

#[test]
fn formatters_are_stored_as_diff() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    story
        .write_file("shop/cart.py", "def total(items, user):\n    return sum(items), user, user\n");
    let red = "shop/cart.py:2:80: E501 line too long (90 > 79 characters)\n";
    story.run_failing_command("flake8", 1, red);
    story.run_changing_command("black shop/cart.py", |root| {
        let text =
            "def total(items, user):\n    return (\n        sum(items),\n        user,\n    )\n";
        fs::write(root.join("shop/cart.py"), text).unwrap();
    });
    story.run_with_hidden_status("flake8", "");
    let episodes = world.store().episodes(&EpisodeFilter::default()).unwrap();
    let fix = &episodes[0].ending.as_ref().unwrap().fix[0];
    assert_eq!(fix.name.as_str(), "shop/cart.py");
    assert_eq!(fix.made_by.as_deref(), Some("black shop/cart.py"));
    assert!(fix.patch.contains("-    return sum(items), user, user\n+    return ("), "{fix:?}");
    story.session = "session-2";
    let said = story.run_failing_command("flake8", 1, red);
    assert!(said.contains("> -return sum(items), user, user\n> +return (\n"), "{said}");
}

#[test]
fn git_revert_is_shown_as_diff() {
    for command in [
        "git checkout shop/cart.py",
        "git checkout -- .",
        "git restore shop/cart.py",
        "git stash",
        "git reset --hard",
    ] {
        let world = TestWorld::new();
        let good = CART.replace(" * 0.9", "");
        let mut story = committed_checkout(&world, &good);
        // The file was broken before the first recorded run.
        story.write_file("shop/cart.py", CART);
        story.run_failing_command("pytest", 1, &red_output());
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        story.run_changing_command(command, |root| run_git(root, &words));
        story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
        assert_eq!(story.only_ending(), Some(EpisodeEndingKind::Fixed), "{command}");
        let said = text_on_return(&mut story);
        assert!(said.contains(FIX) && !said.contains("git "), "{command}: {said}");
    }
}

#[test]
fn reverted_edits_are_shown() {
    for command in ["git checkout shop/cart.py", "git stash"] {
        let world = TestWorld::new();
        let mut story = committed_checkout(&world, &CART.replace(" * 0.9", ""));
        story.run_failing_command(
            "pytest",
            1,
            &pytest_output(&[("test_name", "KeyError: 'name'")], 3),
        );
        story.edit_on_disk("shop/cart.py", "return sum(items)", "return sum(items) * 0.9");
        story.run_failing_command("pytest", 1, &red_output());
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        story.run_changing_command(command, |root| run_git(root, &words));
        story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
        let ended = story.episodes().into_iter().find(|(test, ..)| test.ends_with("test_total"));
        assert_eq!(ended.unwrap().1, Some(EpisodeEndingKind::Fixed), "{command}");
        let said = text_on_return(&mut story);
        assert!(said.contains(FIX) && !said.contains("git "), "{command}: {said}");
    }
}

#[test]
fn reverted_commit_is_shown_as_diff() {
    let world = TestWorld::new();
    let mut story = committed_checkout(&world, &CART.replace(" * 0.9", ""));
    story.write_file("shop/cart.py", CART);
    run_git(&story.folder, &["commit", "-qam", "b"]);
    // The failure names only the test, and git's index shows no change.
    assert!(!red_output().contains("shop/cart.py"));
    story.run_failing_command("pytest", 1, &red_output());
    story.run_changing_command("git revert --no-edit HEAD", |root| {
        run_git(root, &["revert", "--no-edit", "HEAD"]);
    });
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    let said = text_on_return(&mut story);
    assert!(said.contains(FIX) && !said.contains("revert"), "{said}");
}

#[test]
fn deletions_are_checked_in_file() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let broken = CART.replace("    return sum(items)", "    items.pop()\n    return sum(items)");
    story.write_file("shop/cart.py", &broken);
    story.run_failing_command("pytest", 1, &red_output());
    story.edit_on_disk("shop/cart.py", "    items.pop()\n", "");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    let has_it = text_on_return(&mut story);
    assert!(has_it.contains("> -items.pop()\n"), "{has_it}");
    assert!(has_it.ends_with(" The file has this change now."), "{has_it}");
    story.write_file("shop/cart.py", &broken);
    story.session = "session-3";
    let gone = story.run_failing_command("pytest", 1, &red_output());
    assert!(gone.ends_with(" This change is not in the file now."), "{gone}");
}

#[test]
fn fresh_worktree_lacks_the_change() {
    let world = TestWorld::new();
    let story = committed_checkout(&world, CART);
    story.run_failing_command("pytest", 1, &red_output());
    story.edit_on_disk("shop/cart.py", "sum(items) * 0.9", "sum(items)");
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    let tree = story.folder.parent().unwrap().join("tree");
    run_git(&story.folder, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let mut tree = HookStory::at(&world, &tree);
    tree.clock.set(3_600_000);
    let said = text_on_return(&mut tree);
    assert!(said.contains(FIX), "{said}");
    assert!(said.ends_with(" This change is not in the file now."), "{said}");
}

#[test]
fn long_lines_keep_their_difference() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let line = |rate: &str| {
        format!("    return sum({}) * {rate}{}", "item.price, ".repeat(30), " + 0".repeat(40))
    };
    story.write_file("shop/cart.py", &format!("def total(items):\n{}\n", line("0.9")));
    story.run_failing_command("pytest", 1, &red_output());
    story.edit_on_disk("shop/cart.py", &line("0.9"), &line("1.0"));
    story.run_with_hidden_status("pytest", &pytest_output(&[], 4));
    let said = text_on_return(&mut story);
    let shown: Vec<&str> =
        said.lines().filter(|line| line.starts_with("> -") || line.starts_with("> +")).collect();
    assert!(
        shown.len() == 2 && shown[0].contains("* 0.9 + 0") && shown[1].contains("* 1.0 + 0"),
        "{said}"
    );
    let label = said.lines().next().unwrap();
    assert!(label.split_whitespace().count() <= 8, "{label}");
}

/// Returns the copies left behind by commands.
fn snapshots(world: &TestWorld) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(world.files().snapshots()) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Sends the hook before a command, but never the one after it. Returns the names of the copied files and the copies.
fn start_command(story: &HookStory<'_>, command: &str) -> (Vec<String>, String) {
    let call = json!({
        "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": command,
    });
    let before = snapshots(story.world);
    assert_eq!(HookStory::context_text(&story.send_event("PreToolUse", &call)), "");
    let made = snapshots(story.world).into_iter().find(|path| !before.contains(path));
    let Some(made) = made else { return (Vec::new(), String::new()) };
    let text = fs::read_to_string(made).unwrap();
    let copies: Value = serde_json::from_str(&text).unwrap();
    let files = copies["files"].as_array().unwrap();
    (files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect(), text)
}

#[test]
fn copies_of_files_are_bounded() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let names = |numbers: std::ops::Range<usize>| -> Vec<String> {
        numbers.map(|number| format!("f{number}.py")).collect()
    };
    for name in names(0..40) {
        story.write_file(&name, "x = 1\n");
    }
    story.write_file("big.py", &"x = 1\n".repeat(30_000));
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        story.write_file(name, &"x = 1\n".repeat(20_000));
    }
    story.write_file(".git/config.py", "x = 1\n");
    story.write_file("key.py", "token = \"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"\n");
    symlink(story.folder.join("f1.py"), story.folder.join("link.py")).unwrap();
    story.write_file("../outside.py", "x = 1\n");
    // No file is copied while no failure is open.
    assert_eq!(start_command(&story, "sed -i s/1/2/ f1.py").0, [] as [&str; 0]);
    story.red("cargo test", &[TOTAL]);
    assert_eq!(start_command(&story, "cat f1.py").0, [] as [&str; 0], "nothing is changed");
    assert_eq!(
        start_command(&story, &format!("sed -i s/1/2/ {}", names(0..40).join(" "))).0,
        names(0..32)
    );
    let odd = "sed -i s/1/2/ big.py link.py .git/config.py ../outside.py f1.py new.py";
    assert_eq!(start_command(&story, odd).0, ["f1.py", "new.py"]);
    let (files, _) = start_command(&story, "sed -i s/1/2/ a.txt b.txt c.txt d.txt");
    assert_eq!(files, ["a.txt", "b.txt", "c.txt"], "384 KB together");
    let (files, text) = start_command(&story, "sed -i s/1/2/ key.py");
    assert_eq!(files, ["key.py"]);
    assert!(text.contains("redacted") && !text.contains("ghp_"), "{text}");
    for path in snapshots(&world) {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn leftover_copies_are_removed() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.write_file("a.py", "x = 1\n");
    story.red("cargo test", &[TOTAL]);
    for command in ["sed -i s/1/2/ a.py", "sed -i s/1/3/ a.py"] {
        assert_eq!(start_command(&story, command).0, ["a.py"]);
    }
    let now = time_at(100_000);
    for (path, hours) in snapshots(&world).iter().zip([1, 25]) {
        let age = Duration::from_hours(hours);
        let millis = u64::try_from(now.millis()).unwrap();
        let modified = UNIX_EPOCH + Duration::from_millis(millis) - age;
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }
    maintain(&world.memory(), &MaintenanceLimits::default(), now).unwrap().unwrap();
    assert_eq!(snapshots(&world).len(), 1, "the one of a day ago is gone");
    let mut memory = world.store();
    let rows = memory.find_rows_with_words("total").unwrap();
    assert!(!rows.is_empty());
    memory.forget(&rows, None).unwrap();
    assert_eq!(snapshots(&world), [] as [PathBuf; 0]);
}
