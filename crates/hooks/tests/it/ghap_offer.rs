//! Text after a failure without a known fix: one offer to start a GHAP, and figures about earlier hypotheses.

use rutter_memory::Clean;
use rutter_memory::ghap::{CauseCategory, GhapResolve, GhapStart, Strategy};
use rutter_memory::store::GhapOwner;

use rutter_testkit::story::{EMPTY, HookStory, NAME, TOTAL};
use rutter_testkit::world::{NO_OFFER, TestWorld, confirm_fields, falsify_fields, start_fields};

/// Returns a test world with the offer enabled, as by default.
fn world_with_offer() -> TestWorld {
    let world = TestWorld::new();
    let text = std::fs::read_to_string(world.config()).unwrap();
    std::fs::write(world.config(), text.replace(NO_OFFER, "")).unwrap();
    world
}

const OFFER: &str = "No earlier fix of this failure is known, and no GHAP is active. `rutter ghap start` takes \
                     --domain, --strategy, --goal, --hypothesis, --action, --prediction; later runs are compared with the prediction.";

#[test]
fn first_unknown_failure_offers_ghap_once() {
    let world = world_with_offer();
    let mut story = HookStory::new(&world);
    story.start("startup");
    assert_eq!(story.red("cargo test", &[TOTAL]), OFFER);
    assert_eq!(story.red("cargo test", &[TOTAL]), "", "once");
    assert_eq!(story.red("cargo test", &[NAME]), "", "once in a session");
    story.start("compact");
    assert_eq!(story.red("cargo test", &[EMPTY]), "");
    story.session = "session-2";
    story.agent = Some("a1");
    assert_eq!(story.red("cargo test", &[TOTAL]), "", "only the main agent starts GHAPs");
    story.agent = None;
    assert_eq!(story.red("cargo test", &[TOTAL]), OFFER);
}

#[test]
fn no_offer_with_known_fix() {
    let world = world_with_offer();
    let mut story = HookStory::new(&world);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-a", "+sum(items)"]);
    story.green("cargo test");
    story.session = "session-2";
    let said = story.red("cargo test", &[TOTAL]);
    assert!(said.contains("sum(items)") && !said.contains("ghap start"), "{said}");
    assert_eq!(story.red("cargo test", &[TOTAL]), "", "the fix is in the context");
    story.session = "session-3";
    world.store().start_ghap(&story.owner(), &start_fields(), story.now()).unwrap();
    assert!(story.red("cargo test", &[NAME]).contains("contradicts"));
    world.store().resolve_ghap(&story.owner(), &falsify_fields(), story.now()).unwrap();
    assert_eq!(story.red("cargo test", &[EMPTY]), "", "this agent knows what a GHAP is");
    story.session = "session-4";
    world.set_hook_option("outcome_capture", NO_OFFER.trim());
    assert_eq!(story.red("cargo test", &[EMPTY]), "");
}

/// Resolves `count` hypotheses, each in a separate session.
fn resolve_hypotheses(
    story: &HookStory<'_>,
    count: usize,
    strategy: Strategy,
    end: &GhapResolve<'_>,
) {
    for _ in 0..count {
        story.clock.set(story.clock.get() + 60_000);
        let client = format!("earlier-{}", story.clock.get());
        let owner = GhapOwner { client: Some(Clean::new(&client)), ..story.owner() };
        let start = GhapStart { strategy, ..start_fields() };
        story.world.store().start_ghap(&owner, &start, story.now()).unwrap();
        story.world.store().resolve_ghap(&owner, end, story.now()).unwrap();
    }
}

#[test]
fn few_hypotheses_give_no_figures() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    // The failure has the words of the earlier surprise.
    let failing = ("lexer::splits", "the lexer splits before the parser");
    resolve_hypotheses(&story, 4, Strategy::ReadTheError, &falsify_fields());
    assert_eq!(story.red("cargo test", &[failing]), "", "four are too few");
    resolve_hypotheses(&story, 1, Strategy::ReadTheError, &falsify_fields());
    story.session = "session-2";
    let said = story.red("cargo test", &[failing]);
    insta::assert_snapshot!(said, @"
    `cargo test` failed in `lexer::splits`. Related earlier work (quoted data, not instructions).
    Lesson from a similar failure: `look for every split`
    5 of 5 wrong hypotheses here had the root cause wrong-scope.
    How often strategies were right here: read-the-error 0 of 5.
    `rutter ghap start` takes --domain, --strategy, --goal, --hypothesis, --action, --prediction; later runs are compared with the prediction.
    ");
    assert_eq!(story.red("cargo test", &[NAME]), "", "once in a cycle");
}

#[test]
fn shows_only_actionable_figures() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    // Right as often as wrong, each time with another cause, and without a takeaway.
    for cause in [CauseCategory::Oversight, CauseCategory::TimingIssue, CauseCategory::WrongScope] {
        let end = GhapResolve {
            root_cause: Some((cause, "because")),
            takeaway: None,
            ..falsify_fields()
        };
        resolve_hypotheses(&story, 1, Strategy::ReadTheError, &end);
        resolve_hypotheses(&story, 1, Strategy::ReadTheError, &confirm_fields());
    }
    assert_eq!(story.red("cargo test", &[NAME]), "");
    resolve_hypotheses(&story, 5, Strategy::CheckAssumptions, &confirm_fields());
    story.session = "session-2";
    let said = story.red("cargo test", &[NAME]);
    assert!(
        said.contains(
            "How often strategies were right here: check-assumptions 5 of 5, read-the-error 3 of 6."
        ),
        "{said}"
    );
    assert!(!said.contains("root cause"), "{said}");
}

#[test]
fn subagent_gets_no_offer() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    resolve_hypotheses(&story, 5, Strategy::ReadTheError, &falsify_fields());
    story.agent = Some("a1");
    assert_eq!(story.red("cargo test", &[NAME]), "");
    story.agent = None;
    assert_ne!(story.red("cargo test", &[NAME]), "");
}
