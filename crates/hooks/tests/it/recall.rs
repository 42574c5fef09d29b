use rutter_memory::Store;
use rutter_memory::document::{Axis, DocumentKind};
use rutter_memory::ghap::{Domain, GhapStatus};
use rutter_memory::store::maintain::{MaintenanceLimits, maintain};
use rutter_memory::store::{MemoryEdit, NewMemory, RecallRequest, RecalledRow};

use rutter_testkit::story::HookStory;
use rutter_testkit::world::{
    FACT, TestWorld, falsify_fields, remember_fact, start_fields, time_at,
};

fn new_ask(text: &str) -> RecallRequest<'_> {
    RecallRequest {
        text,
        axis: Axis::Full,
        place: None,
        all: false,
        kind: None,
        domain: None,
        outcome: None,
        limit: 10,
    }
}

fn recalled_texts(found: &[RecalledRow]) -> Vec<&str> {
    found.iter().map(|recall| recall.text.as_str()).collect()
}

const REDIS: &str =
    "The test suite leaks Redis connections: close the client in the fixture's teardown";
const UNITS: &str = "All amounts are integers in cents; never use floats for money";
const DEPLOY: &str = "Deploys go out on Tuesdays from the release branch";

/// Returns lessons about unrelated subjects.
fn unrelated_texts(count: usize) -> Vec<String> {
    let things = [
        "parser", "cache", "mailer", "queue", "login", "chart", "upload", "search", "invoice",
        "backup",
    ];
    let faults = [
        "drops the last line",
        "ignores time zones",
        "retries for ever",
        "needs a lock",
        "is slow when cold",
    ];
    (0..count)
        .map(|n| format!("the {} {} in version {n}", things[n % 10], faults[n / 10 % 5]))
        .collect()
}

#[test]
fn store_size_does_not_change_ranking() {
    for count in [0, 17, 400] {
        let world = TestWorld::new();
        let mut store = world.store();
        for text in [REDIS, UNITS, DEPLOY].map(str::to_owned).iter().chain(&unrelated_texts(count))
        {
            remember_fact(&mut store, &world.place(), text);
        }
        for (query, expected) in [
            ("why do redis connections pile up in tests", REDIS),
            ("may I store the price as a float", UNITS),
            ("when is the next deploy", DEPLOY),
        ] {
            let found = store.recall(&new_ask(query), time_at(9)).unwrap();
            assert_eq!(
                found[0].text.as_str(),
                expected,
                "{query} among {count}: {:?}",
                recalled_texts(&found)
            );
        }
    }
}

#[test]
fn single_row_store_respects_floor() {
    let world = TestWorld::new();
    let mut store = world.store();
    remember_fact(&mut store, &world.place(), REDIS);
    let found =
        store.recall(&new_ask("redis connections leak in the test suite"), time_at(9)).unwrap();
    assert!(found[0].above_floor, "{found:?}");
    for unrelated in
        ["thanks, go on", "rename the button on the start page", "what is the weather like"]
    {
        let found = store.recall(&new_ask(unrelated), time_at(9)).unwrap();
        assert!(found.iter().all(|recall| !recall.above_floor), "{unrelated}: {found:?}");
    }
    assert_eq!(store.recall(&new_ask(""), time_at(9)).unwrap(), []);
}

#[test]
fn finds_writes_but_not_deletions() {
    let world = TestWorld::new();
    let mut store = world.store();
    let id = remember_fact(&mut store, &world.place(), REDIS);
    assert_eq!(recalled_texts(&store.recall(&new_ask("redis"), time_at(9)).unwrap()), [REDIS]);
    let edit = MemoryEdit { text: Some(UNITS), ..MemoryEdit::default() };
    store.edit_memory(id, &edit, time_at(2)).unwrap();
    let lexical = |store: &mut Store, text: &str| -> f64 {
        store
            .recall(&new_ask(text), time_at(9))
            .unwrap()
            .first()
            .map_or(0.0, |recall| recall.hit.fit.lexical)
    };
    assert!(lexical(&mut store, "redis") == 0.0 && lexical(&mut store, "cents") > 0.0);
    let rows = store.find_rows_with_words("cents").unwrap();
    store.forget(&rows, None).unwrap();
    assert_eq!(store.recall(&new_ask("cents"), time_at(9)).unwrap(), []);
    assert_eq!(world.files_with("cent"), [] as [std::path::PathBuf; 0]);
}

#[test]
fn recalls_resolved_work_only() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    // An open GHAP is not a lesson yet.
    assert_eq!(store.recall(&new_ask("lexer splits lines"), time_at(9)).unwrap(), []);
    store.resolve_ghap(&world.owner(), &falsify_fields(), time_at(2)).unwrap();
    for axis in [Axis::Full, Axis::Strategy, Axis::Surprise, Axis::RootCause] {
        let found = store
            .recall(
                &RecallRequest { axis, ..new_ask("the lexer splits lines in two places") },
                time_at(9),
            )
            .unwrap();
        assert_eq!(found.len(), 1, "{axis}");
        assert_eq!(found[0].hit.kind, DocumentKind::Experience);
    }
    let by =
        |ask: RecallRequest<'_>, store: &mut Store| store.recall(&ask, time_at(9)).unwrap().len();
    let query = new_ask("the lexer splits lines");
    assert_eq!(by(RecallRequest { outcome: Some(GhapStatus::Falsified), ..query }, &mut store), 1);
    assert_eq!(by(RecallRequest { outcome: Some(GhapStatus::Confirmed), ..query }, &mut store), 0);
    assert_eq!(by(RecallRequest { domain: Some(Domain::Security), ..query }, &mut store), 0);
    assert_eq!(by(RecallRequest { kind: Some(DocumentKind::Memory), ..query }, &mut store), 0);

    let shown = HookStory::new(&world);
    shown.red("cargo test", &[("cart::tests::total", "the total is wrong: 90")]);
    shown.edit("src/cart.rs", &["-    sum * 9 / 10", "+    sum"]);
    assert_eq!(
        by(
            RecallRequest { kind: Some(DocumentKind::Episode), ..new_ask("cart total") },
            &mut store
        ),
        0
    );
    shown.green("cargo test");
    let found = store.recall(&new_ask("the total of the cart is wrong"), time_at(9)).unwrap();
    assert_eq!(found[0].text.as_str(), "cart::tests::total: panicked: the total is wrong: 90");
}

#[test]
fn other_projects_only_on_demand() {
    let world = TestWorld::new();
    let mut store = world.store();
    remember_fact(&mut store, &world.place(), REDIS);
    let elsewhere = world.place_of("boat");
    remember_fact(&mut store, &elsewhere, &REDIS.replace("fixture's", "fixtures'"));
    let here = world.place();
    let found = store
        .recall(&RecallRequest { place: Some(&here), ..new_ask("redis connections") }, time_at(9))
        .unwrap();
    assert_eq!(recalled_texts(&found), [REDIS]);
    let nowhere = rutter_memory::store::entry::ProjectPlace::from(
        &rutter_memory::project::LocatedProject::find(&world.project("new")),
    );
    assert_eq!(
        store
            .recall(&RecallRequest { place: Some(&nowhere), ..new_ask("redis") }, time_at(9))
            .unwrap(),
        []
    );
    let found = store
        .recall(
            &RecallRequest { place: Some(&here), all: true, ..new_ask("redis connections") },
            time_at(9),
        )
        .unwrap();
    // Both have the same content: only the one of this project is returned.
    assert_eq!((recalled_texts(&found), found[0].others), (vec![REDIS], 1));
}

#[test]
fn ranking_ignores_write_order() {
    let orders: Vec<Vec<String>> = [false, true]
        .map(|backwards| {
            let world = TestWorld::new();
            let mut store = world.store();
            let mut all = unrelated_texts(60);
            all.extend([REDIS, UNITS, DEPLOY].map(str::to_owned));
            if backwards {
                all.reverse();
            }
            for text in &all {
                remember_fact(&mut store, &world.place(), text);
            }
            let found = store
                .recall(&new_ask("the cache retries for ever and needs a lock"), time_at(9))
                .unwrap();
            let mut shown: Vec<(String, String)> = found
                .iter()
                .map(|recall| (format!("{:.9}", recall.hit.score), recall.text.to_string()))
                .collect();
            // Ties are ordered by id, and each store has other ids.
            shown.sort_by(|one, other| other.cmp(one));
            shown.into_iter().map(|(score, text)| format!("{score} {text}")).take(5).collect()
        })
        .to_vec();
    assert_eq!(orders[0], orders[1]);
    assert_eq!(orders[0].len(), 5);
}

/// The wanted row ranks behind hundreds of closer rows of another kind, with and without index files.
#[test]
fn kind_filter_finds_rare_rows() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    store.resolve_ghap(&world.owner(), &falsify_fields(), time_at(2)).unwrap();
    for text in unrelated_texts(700) {
        remember_fact(
            &mut store,
            &world.place(),
            &format!("CRLF: {text} of the parser that splits lines"),
        );
    }
    let asked = RecallRequest {
        kind: Some(DocumentKind::Experience),
        ..new_ask("the parser splits lines with CRLF")
    };
    let look = |store: &mut Store| {
        let found = store.recall(&asked, time_at(9)).unwrap();
        assert_eq!(recalled_texts(&found), ["look for every split"]);
        let any = store.recall(&RecallRequest { kind: None, ..asked }, time_at(9)).unwrap();
        assert!(
            any.iter().all(|recall| recall.hit.kind == DocumentKind::Memory),
            "{:?}",
            recalled_texts(&any)
        );
    };
    look(&mut store);
    drop(store);
    maintain(&world.memory(), &MaintenanceLimits::default(), time_at(10)).unwrap();
    assert!(world.memory().join("vectors").exists());
    look(&mut world.store());
}

#[test]
fn phrase_brings_lesson_to_prompt() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let prompt = "why does my commit fail when I work over ssh without a terminal?";
    let phrases = ["committing over ssh fails without a terminal".to_owned()];
    let place = story.place();
    let lesson = NewMemory { place: Some(&place), text: "export GPG_TTY", ..FACT };
    world.store().remember(&lesson, story.now()).unwrap();
    assert_eq!(story.prompt(prompt), "");
    let with_phrases = NewMemory { applies_when: &phrases, ..lesson };
    assert!(world.store().remember(&with_phrases, story.now()).unwrap().is_known);
    story.session = "session-2";
    let said = story.prompt(prompt);
    assert!(said.contains("export GPG_TTY"), "{said}");
    // The phrase takes no space in the context.
    assert!(!said.contains("committing"), "{said}");
    assert_eq!(story.prompt("write the release notes of the parser"), "");
}

/// Returns one lesson as many people wrote it down.
fn crowd_texts(count: usize) -> Vec<String> {
    let tables = ["orders", "carts", "users", "events", "refunds", "mails", "tags", "visits"];
    let endings = [
        "I forgot it and writes hung for minutes.",
        "On staging it looked fine.",
        "The release was rolled back.",
        "Use a file of its own.",
        "Reviewers should look for it.",
    ];
    (0..count)
        .map(|n| {
            format!(
                "Adding an index to {} blocked all writers until it was built: use CREATE INDEX CONCURRENTLY. {}",
                tables[n % 8],
                endings[n / 8]
            )
        })
        .collect()
}

#[test]
fn crowd_is_shown_once() {
    let prompt = "writers hung while the new index was added, what can we use";
    let shown = |texts: &[String]| {
        let world = TestWorld::new();
        let mut store = world.store();
        for text in texts.iter().chain(&unrelated_texts(50)) {
            remember_fact(&mut store, &world.place(), text);
        }
        let found = store.recall(&new_ask(prompt), time_at(9)).unwrap();
        drop(store);
        let said = HookStory::new(&world).prompt(prompt);
        (found[0].hit.fit.is_in_crowd, said.matches("CREATE INDEX CONCURRENTLY").count())
    };
    let crowd = crowd_texts(40);
    assert_eq!(shown(&crowd[..1]), (false, 1));
    assert_eq!(shown(&crowd), (true, 1));
    assert_eq!(shown(&[]).1, 0);
}

#[test]
fn near_miss_is_logged() {
    let world = TestWorld::new();
    let mut store = world.store();
    remember_fact(&mut store, &world.place(), REDIS);
    for (prompt, is_logged) in [
        ("thanks, go on", false),
        ("redis teardown is slow", true),
        ("why are redis connections leaked", false),
    ] {
        let best = store.recall(&new_ask(prompt), time_at(9)).unwrap();
        let confidence = best.first().map_or(0.0, |best| best.hit.confidence);
        assert_eq!((0.25..0.5).contains(&confidence), is_logged, "{prompt}: {confidence}");
        let before = store.near_misses().unwrap().len();
        let said = HookStory::new(&world).prompt(prompt);
        let logged = store.near_misses().unwrap();
        assert_eq!(logged.len() - before, usize::from(is_logged), "{prompt}: {said}");
        if let Some(last) = logged.last() {
            assert_eq!(store.row_description(last.row).unwrap().unwrap().1.as_str(), REDIS);
        }
    }
}
