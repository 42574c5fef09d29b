//! Copies of files made before a command runs, and the files that are never copied.

use std::fs;

use serde_json::json;

use rutter_testkit::story::HookStory;
use rutter_testkit::world::TestWorld;

const TOTAL: (&str, &str) = ("cart::tests::total", "the total is wrong: 90");

/// Fails a run, announces a command that changes files, and returns the copies.
fn copies_before(world: &TestWorld, story: &HookStory, command: &str) -> Vec<String> {
    story.red("cargo test", &[TOTAL]);
    story.send_event(
        "PreToolUse",
        &json!({ "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": { "command": command } }),
    );
    read_copies(world)
}

fn read_copies(world: &TestWorld) -> Vec<String> {
    let Ok(entries) = fs::read_dir(world.files().snapshots()) else { return Vec::new() };
    entries.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn skips_excluded_and_linked_folders() {
    let world = TestWorld::new();
    let root = world.project("ship").canonicalize().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("notes.py"), "elsewhere = 1\n").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), root.join("linked")).unwrap();
    for (folder, text) in [("private", "private_key = 1\n"), ("shop", "total = 1\n")] {
        fs::create_dir_all(root.join(folder)).unwrap();
        fs::write(root.join(folder).join("cart.py"), text).unwrap();
    }
    let text = fs::read_to_string(world.config()).unwrap();
    let exclude = root.join("private");
    fs::write(world.config(), format!("[scope]\nexclude = [\"{}\"]\n{text}", exclude.display()))
        .unwrap();
    let story = HookStory::new(&world);
    let command = "sed -i s/1/2/ linked/notes.py private/cart.py shop/*.py";
    let copies = copies_before(&world, &story, command);
    assert_eq!(copies.len(), 1);
    assert!(copies[0].contains("shop/cart.py"), "{copies:?}");
    assert!(!copies[0].contains("elsewhere") && !copies[0].contains("private"), "{copies:?}");
}

#[test]
fn closed_failure_removes_copies() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    fs::create_dir_all(story.folder.join("shop")).unwrap();
    fs::write(story.folder.join("shop/cart.py"), "total = 1\n").unwrap();
    let command = "sed -i s/1/2/ shop/cart.py";
    assert_eq!(copies_before(&world, &story, command).len(), 1);
    // Meanwhile another run of the same checkout passes: no failure is open any more.
    story.green("cargo test");
    story.send_event(
        "PostToolUse",
        &json!({
            "tool_name": "Bash",
            "tool_use_id": "toolu_1",
            "tool_input": { "command": command },
            "tool_response": { "stdout": "", "stderr": "", "interrupted": false },
        }),
    );
    assert_eq!(read_copies(&world), [""; 0]);
}

#[test]
fn folder_replaced_by_link_is_not_read() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("cart.py"), "elsewhere = 1\n").unwrap();
    story.write_file("shop/cart.py", "total = 1\n");
    story.write_file("till.py", "till = 1\n");
    story.red("cargo test", &[TOTAL]);
    story.run_changing_command("sed -i s/1/2/ shop/cart.py till.py", |folder| {
        fs::remove_dir_all(folder.join("shop")).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), folder.join("shop")).unwrap();
        fs::write(folder.join("till.py"), "till = 2\n").unwrap();
    });
    story.green("cargo test");
    let episodes = story.episodes();
    assert!(episodes[0].2.contains("till.py -till = 1 +till = 2"), "{episodes:?}");
    assert!(!episodes[0].2.contains("elsewhere"), "{episodes:?}");
}
