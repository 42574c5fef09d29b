use rutter_memory::store::GhapOwner;
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::{Clean, Store, StoreError};

use rutter_testkit::world::{
    TestWorld, all_ghaps, confirm_fields, project_key, remember_fact, start_fields, time_at,
};

fn new_place(strongest: &str, aliases: &[&str]) -> ProjectPlace {
    ProjectPlace {
        key: project_key(strongest),
        aliases: aliases.iter().map(|alias| project_key(alias)).collect(),
        root: Clean::new("/home/ada/ship"),
        name: Clean::new("ship"),
    }
}

fn project_keys(store: &Store) -> Vec<(String, u64)> {
    let mut keys: Vec<_> = store
        .projects()
        .unwrap()
        .into_iter()
        .map(|summary| (summary.project.key.to_string(), summary.memories))
        .collect();
    keys.sort();
    keys
}

#[test]
fn project_survives_stronger_keys() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (folder, git, remote) =
        ("dir:/home/ada/ship", "git:/home/ada/ship/.git", "github.com/ada/ship");
    remember_fact(&mut store, &new_place(folder, &[]), "one");
    remember_fact(&mut store, &new_place(git, &[folder]), "two");
    remember_fact(&mut store, &new_place(remote, &[git, folder]), "three");
    assert_eq!(project_keys(&store), [(remote.to_owned(), 3)]);
    let project = store.project(&new_place(remote, &[])).unwrap().unwrap();
    assert_eq!(project.aliases, [project_key(folder), project_key(git)]);
    // Without its remote it is still the same project.
    remember_fact(&mut store, &new_place(git, &[folder]), "four");
    assert_eq!(project_keys(&store), [(remote.to_owned(), 4)]);
}

#[test]
fn known_remote_merges_nothing() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (folder, git, remote) =
        ("dir:/home/ada/ship", "git:/home/ada/ship/.git", "github.com/ada/ship");
    remember_fact(&mut store, &new_place(remote, &["git:/home/ada/clone/.git"]), "from a clone");
    remember_fact(&mut store, &new_place(git, &[folder]), "from before");
    let before = new_place(git, &[folder]);
    let earlier = store.project(&before).unwrap().unwrap();
    let now = new_place(remote, &[git, folder]);
    for text in ["one", "two"] {
        remember_fact(&mut store, &now, text);
    }
    assert_eq!(project_keys(&store), [(git.to_owned(), 1), (remote.to_owned(), 3)]);
    // The user is told about it and can merge the two in either direction.
    let found = store.earlier_projects(&now).unwrap();
    assert_eq!(found.iter().map(|one| one.project.id).collect::<Vec<_>>(), [earlier.id]);
    assert_eq!(store.find_project_by_name(git).unwrap().project.id, earlier.id);
    // Without the remote it is the earlier project.
    assert_eq!(store.project(&before).unwrap().unwrap().id, earlier.id);
    let into = store.project(&now).unwrap().unwrap().id;
    store.merge_projects(earlier.id, into).unwrap();
    assert_eq!(project_keys(&store), [(remote.to_owned(), 4)]);
    assert_eq!(store.earlier_projects(&now).unwrap(), []);
}

#[test]
fn merges_in_other_direction() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (git, remote) = ("git:/home/ada/ship/.git", "github.com/ada/ship");
    remember_fact(&mut store, &new_place(git, &[]), "from before");
    remember_fact(&mut store, &new_place(remote, &["git:/home/ada/clone/.git"]), "from a clone");
    let now = new_place(remote, &[git]);
    remember_fact(&mut store, &now, "after");
    let id = |store: &Store, key: &str| store.find_project_by_name(key).unwrap().project.id;
    let (from, into) = (id(&store, remote), id(&store, git));
    store.merge_projects(from, into).unwrap();
    remember_fact(&mut store, &now, "later");
    assert_eq!(project_keys(&store), [(git.to_owned(), 4)]);
}

#[test]
fn changed_remote_moves_no_rows() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (git, folder) = ("git:/home/ada/ship/.git", "dir:/home/ada/ship");
    let mine = new_place("github.com/ada/ship", &[git, folder]);
    let victim = ProjectPlace {
        root: Clean::new("/home/ada/bank"),
        ..new_place("github.com/ada/bank", &["git:/home/ada/bank/.git", "dir:/home/ada/bank"])
    };
    remember_fact(&mut store, &mine, "of the ship");
    remember_fact(&mut store, &victim, "of the bank");
    // `git remote set-url` to another project, to an unknown one, and back.
    remember_fact(&mut store, &new_place("github.com/ada/bank", &[git, folder]), "claims the bank");
    remember_fact(
        &mut store,
        &new_place("github.com/evil/new", &[git, folder]),
        "claims nothing known",
    );
    remember_fact(&mut store, &mine, "of the ship again");
    assert_eq!(
        project_keys(&store),
        [
            ("github.com/ada/bank".to_owned(), 2),
            ("github.com/ada/ship".to_owned(), 2),
            ("github.com/evil/new".to_owned(), 1)
        ]
    );
    assert_eq!(store.project(&victim).unwrap().unwrap().key, victim.key);
    let before = store.earlier_projects(&mine).unwrap();
    let before: Vec<&str> = before.iter().map(|one| one.project.key.as_str()).collect();
    assert!(before.contains(&"github.com/evil/new"), "{before:?}");
}

#[test]
fn carries_strongest_earlier_project() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (git, folder) = ("git:/home/ada/ship/.git", "dir:/home/ada/ship");
    remember_fact(&mut store, &new_place(git, &[]), "of the repository");
    remember_fact(&mut store, &new_place(folder, &[]), "of the folder");
    remember_fact(&mut store, &new_place("github.com/ada/ship", &[git, folder]), "with a remote");
    assert_eq!(
        project_keys(&store),
        [(folder.to_owned(), 1), ("github.com/ada/ship".to_owned(), 2)]
    );
}

#[test]
fn identity_by_path_can_be_switched() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (git, folder, remote) =
        ("git:/home/ada/ship/.git", "dir:/home/ada/ship", "github.com/ada/ship");
    let (by_remote, by_path) = (new_place(remote, &[git, folder]), new_place(folder, &[git]));
    let other = new_place(remote, &["git:/home/ada/fork/.git", "dir:/home/ada/fork"]);
    remember_fact(&mut store, &by_remote, "shared");
    remember_fact(&mut store, &other, "shared by the fork");
    for round in 1..3 {
        remember_fact(&mut store, &by_path, &format!("own {round}"));
        remember_fact(&mut store, &by_remote, &format!("shared {round}"));
        assert_eq!(
            project_keys(&store),
            [(folder.to_owned(), round), (remote.to_owned(), 2 + round)]
        );
    }
    // A repository without a remote stays one project.
    let (git, folder) = ("git:/home/ada/boat/.git", "dir:/home/ada/boat");
    remember_fact(&mut store, &new_place(git, &[folder]), "one");
    remember_fact(&mut store, &new_place(folder, &[git]), "two");
    remember_fact(&mut store, &new_place(git, &[folder]), "three");
    assert_eq!(project_keys(&store)[0], (folder.to_owned(), 3));
}

#[test]
fn new_remote_is_new_project() {
    let world = TestWorld::new();
    let mut store = world.store();
    let git = "git:/home/ada/ship/.git";
    remember_fact(&mut store, &new_place("github.com/ada/ship", &[git]), "the ship");
    remember_fact(&mut store, &new_place("github.com/ada/boat", &[git]), "the boat");
    assert_eq!(
        project_keys(&store),
        [("github.com/ada/boat".to_owned(), 1), ("github.com/ada/ship".to_owned(), 1)]
    );
}

#[test]
fn same_named_folders_share_nothing() {
    let world = TestWorld::new();
    let mut store = world.store();
    remember_fact(&mut store, &new_place("dir:/a/ship", &[]), "one");
    remember_fact(&mut store, &new_place("dir:/b/ship", &[]), "two");
    assert_eq!(project_keys(&store).len(), 2);
    assert!(matches!(
        store.find_project_by_name("ship"),
        Err(StoreError::SeveralProjects { count: 2, .. })
    ));
    assert_eq!(store.find_project_by_name("dir:/a/ship").unwrap().memories, 1);
    assert!(matches!(store.find_project_by_name("boat"), Err(StoreError::NoProject(_))));
}

#[test]
fn merged_projects_stay_merged() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (old, new) =
        (new_place("github.com/ada/ship", &[]), new_place("github.com/fleet/ship", &[]));
    for (number, place) in [&old, &new].into_iter().enumerate() {
        remember_fact(&mut store, place, "one");
        let owner =
            GhapOwner { client: Some(Clean::new("session-1")), agent: None, place: place.clone() };
        store.start_ghap(&owner, &start_fields(), time_at(i64::try_from(number).unwrap())).unwrap();
    }
    let id = |store: &Store, place: &ProjectPlace| store.project(place).unwrap().unwrap().id;
    let (from, into) = (id(&store, &old), id(&store, &new));
    store.merge_projects(from, into).unwrap();
    assert_eq!(project_keys(&store), [("github.com/fleet/ship".to_owned(), 2)]);
    assert_eq!(id(&store, &old), into, "the old key leads to the project it was merged into");
    remember_fact(&mut store, &old, "two");
    assert_eq!(project_keys(&store), [("github.com/fleet/ship".to_owned(), 3)]);
    // Of two active GHAPs of one session, the younger stays active.
    let status: Vec<_> = all_ghaps(&mut store).iter().map(|ghap| ghap.status.as_str()).collect();
    assert_eq!(status, ["abandoned", "active"]);
    let owner = GhapOwner { client: Some(Clean::new("session-1")), agent: None, place: old };
    store.resolve_ghap(&owner, &confirm_fields(), time_at(9)).unwrap();
    for ghap in all_ghaps(&mut store) {
        ghap.validate().unwrap();
    }
}

#[test]
fn folder_replacing_clone_is_new_project() {
    let world = TestWorld::new();
    let mut store = world.store();
    let folder = "dir:/home/ada/ship";
    remember_fact(
        &mut store,
        &new_place("github.com/ada/ship", &["git:/home/ada/ship/.git", folder]),
        "the ship",
    );
    assert_eq!(store.project(&new_place(folder, &[])).unwrap(), None);
    remember_fact(&mut store, &new_place(folder, &[]), "something else");
    assert_eq!(project_keys(&store).len(), 2);
}

#[test]
fn merged_folder_stays_merged() {
    let world = TestWorld::new();
    let mut store = world.store();
    let (boat, ship) =
        (new_place("dir:/home/ada/boat", &[]), new_place("github.com/ada/ship", &[]));
    remember_fact(&mut store, &boat, "one");
    remember_fact(&mut store, &ship, "two");
    let id = |store: &Store, place: &ProjectPlace| store.project(place).unwrap().unwrap().id;
    let (from, into) = (id(&store, &boat), id(&store, &ship));
    store.merge_projects(from, into).unwrap();
    remember_fact(&mut store, &boat, "three");
    assert_eq!(project_keys(&store), [("github.com/ada/ship".to_owned(), 3)]);
    assert_eq!(store.project(&ship).unwrap().unwrap().merged, [boat.key]);
}

#[test]
fn merged_projects_share_command_session() {
    for other_has_one in [false, true] {
        let world = TestWorld::new();
        let mut store = world.store();
        let (boat, ship) =
            (new_place("github.com/ada/boat", &[]), new_place("github.com/ada/ship", &[]));
        let owner =
            |place: &ProjectPlace| GhapOwner { client: None, agent: None, place: place.clone() };
        remember_fact(&mut store, &ship, "one");
        if other_has_one {
            store.start_ghap(&owner(&ship), &start_fields(), time_at(1)).unwrap();
        }
        let younger = store.start_ghap(&owner(&boat), &start_fields(), time_at(2)).unwrap();
        let id = |store: &Store, place: &ProjectPlace| store.project(place).unwrap().unwrap().id;
        let (from, into) = (id(&store, &boat), id(&store, &ship));
        store.merge_projects(from, into).unwrap();
        for place in [&boat, &ship] {
            assert_eq!(
                store.active_ghap(&owner(place)).unwrap().map(|ghap| ghap.id),
                Some(younger.id)
            );
        }
        store.resolve_ghap(&owner(&ship), &confirm_fields(), time_at(9)).unwrap();
    }
}
