use rutter_memory::ghap::{
    Domain, GhapError, Resolve, Start, Status, Tier, Update, expect::Expects,
};
use rutter_memory::outcome::Verdict;
use rutter_memory::session::Source;
use rutter_memory::store::entry::What;
use rutter_memory::store::{GhapFilter, Owner, Record};
use rutter_memory::{Clean, Id, Store, StoreError};

use rutter_testkit::world::{World, all, at, confirm, falsify, ghaps, start};

fn ghap_error<T: std::fmt::Debug>(result: Result<T, StoreError>) -> GhapError {
    match result {
        Err(StoreError::Ghap(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_story_of_a_prediction_that_came_true() {
    let world = World::new();
    let mut store = world.store();
    let owner = world.owner();
    let ghap = store.start_ghap(&owner, &start(), at(1)).unwrap();
    assert_eq!((ghap.status, ghap.expects), (Status::Active, Expects::Pass));
    assert_eq!(store.active_ghap(&owner).unwrap(), Some(ghap.clone()));

    store.note_ghap(&owner, "the lexer is clean", at(2)).unwrap();
    world.ran(&world.outcome(3, Verdict::Passed));
    let resolved = store.resolve_ghap(&owner, &confirm(), at(4)).unwrap();
    let resolution = resolved.ghap.resolution.clone().unwrap();
    assert_eq!((resolved.ghap.status, resolution.tier), (Status::Confirmed, Tier::Gold));
    assert_eq!(resolved.outcome.unwrap().verdict, Verdict::Passed);
    assert!(resolution.evidence.unwrap().supports);
    assert_eq!(resolved.ghap.notes[0].text.as_str(), "the lexer is clean");
    assert_eq!(store.active_ghap(&owner).unwrap(), None);

    let experiences: Vec<_> = all(&mut store)
        .into_iter()
        .filter_map(|record| match record {
            Record::Experience(experience) => Some(experience),
            _ => None,
        })
        .collect();
    assert_eq!(experiences.len(), 1);
    assert_eq!((experiences[0].ghap, experiences[0].tier), (ghap.id, Tier::Gold));
}

#[test]
fn one_active_per_project_session_and_agent() {
    let world = World::new();
    let mut store = world.store();
    let first = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let error = ghap_error(store.start_ghap(&world.owner(), &start(), at(2)));
    assert_eq!(error, GhapError::Active { id: first.id.short(), goal: first.goal });
    let subagent = Owner { agent: Some(Clean::new("agent-7")), ..world.owner() };
    store.start_ghap(&subagent, &start(), at(3)).unwrap();
    store.start_ghap(&world.other("session-2"), &start(), at(4)).unwrap();
    let elsewhere = Owner {
        place: (&rutter_memory::project::Located::find(&world.project("other"))).into(),
        ..world.owner()
    };
    store.start_ghap(&elsewhere, &start(), at(5)).unwrap();
    assert_eq!(ghaps(&mut store).len(), 4);
}

#[test]
fn a_changed_belief_leaves_the_old_one_behind() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let update = Update { hypothesis: Some("the lexer splits too"), ..Update::default() };
    let ghap = store.update_ghap(&world.owner(), &update, at(2)).unwrap();
    assert_eq!(ghap.revisions.len(), 1);
    assert_eq!(ghap.revisions[0].hypothesis.as_str(), start().hypothesis);
    assert_eq!(ghap.revisions[0].prediction.as_str(), start().prediction);
    // An unchanged hypothesis and a new strategy add no revision.
    let update = Update { strategy: Some(rutter_memory::ghap::Strategy::ResearchFirst), ..update };
    let ghap = store.update_ghap(&world.owner(), &update, at(3)).unwrap();
    assert_eq!(ghap.revisions.len(), 1);
    assert_eq!(ghap.strategy, rutter_memory::ghap::Strategy::ResearchFirst);
    assert_eq!(
        ghap_error(store.update_ghap(&world.owner(), &Update::default(), at(4))),
        GhapError::NothingToChange
    );
}

#[test]
fn a_new_prediction_is_read_anew_but_what_was_stated_holds() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let update =
        Update { prediction: Some("`cargo test -p lexer` will fail"), ..Update::default() };
    let ghap = store.update_ghap(&world.owner(), &update, at(2)).unwrap();
    assert_eq!(
        (ghap.expects, ghap.target.as_deref()),
        (Expects::Fail, Some("cargo test -p lexer"))
    );
    let update = Update { expects: Some(Expects::Pass), ..Update::default() };
    store.update_ghap(&world.owner(), &update, at(3)).unwrap();
    let update =
        Update { prediction: Some("`cargo test -p parser` will fail"), ..Update::default() };
    let ghap = store.update_ghap(&world.owner(), &update, at(4)).unwrap();
    assert_eq!(
        (ghap.expects, ghap.target.as_deref()),
        (Expects::Pass, Some("cargo test -p parser"))
    );
}

#[test]
fn only_a_run_makes_gold() {
    let world = World::new();
    let mut store = world.store();
    let mut tier = |from: i64, run: Option<(i64, Verdict)>, resolve: &Resolve<'_>| {
        store.start_ghap(&world.owner(), &start(), at(from)).unwrap();
        if let Some((seconds, verdict)) = run {
            world.ran(&world.outcome(seconds, verdict));
        }
        let ghap = store.resolve_ghap(&world.owner(), resolve, at(from + 9)).unwrap().ghap;
        let resolution = ghap.resolution.unwrap();
        (resolution.tier, resolution.evidence.map(|evidence| evidence.supports))
    };
    assert_eq!(tier(0, None, &confirm()), (Tier::Silver, None));
    assert_eq!(tier(10, Some((11, Verdict::Passed)), &confirm()), (Tier::Gold, Some(true)));
    assert_eq!(tier(20, Some((21, Verdict::Failed)), &falsify()), (Tier::Gold, Some(true)));
    // The run contradicts the claim: it is stored with the claim, and the tier stays silver.
    assert_eq!(tier(30, Some((31, Verdict::Failed)), &confirm()), (Tier::Silver, Some(false)));
    assert_eq!(tier(40, Some((41, Verdict::Passed)), &falsify()), (Tier::Silver, Some(false)));
    // A run with an unknown verdict, or from before the prediction.
    assert_eq!(tier(50, Some((51, Verdict::Unknown)), &confirm()), (Tier::Silver, None));
    assert_eq!(tier(60, Some((59, Verdict::Passed)), &confirm()), (Tier::Silver, None));
}

#[test]
fn a_run_that_was_named_must_fit() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(10)).unwrap();
    let (early, fitting) = (world.outcome(9, Verdict::Passed), world.outcome(11, Verdict::Passed));
    let newest = world.outcome(12, Verdict::Failed);
    let mut other = world.outcome(11, Verdict::Passed);
    other.session = Some(Clean::new("session-2"));
    for outcome in [&early, &fitting, &newest] {
        world.ran(outcome);
    }
    world.record(&world.entry("session-2", 11, What::Ran(Box::new(other.clone().into()))));
    let mut named = |id| {
        store.resolve_ghap(&world.owner(), &Resolve { outcome: Some(id), ..confirm() }, at(13))
    };
    for (id, why) in [
        (early.id, "it ran before the prediction was made"),
        (other.id, "it ran in another session"),
        (Id::new(at(0)), "there is no such outcome"),
    ] {
        assert_eq!(ghap_error(named(id)), GhapError::NoEvidence { id: id.short(), why });
    }
    assert_eq!(named(fitting.id).unwrap().ghap.resolution.unwrap().tier, Tier::Gold);
}

#[test]
fn nothing_testable_is_bronze() {
    let world = World::new();
    let mut store = world.store();
    let vague = Start {
        prediction: "the reader will like it",
        action: "rewrite the introduction",
        ..start()
    };
    let ghap = store.start_ghap(&world.owner(), &vague, at(1)).unwrap();
    assert!(!ghap.testable);
    // A passing run does not count as evidence here and does not make the tier gold.
    let run = world.outcome(2, Verdict::Passed);
    world.ran(&run);
    let named = Resolve { outcome: Some(run.id), ..confirm() };
    assert!(store.resolve_ghap(&world.owner(), &named, at(2)).is_err());
    let ghap = store.resolve_ghap(&world.owner(), &confirm(), at(2)).unwrap().ghap;
    assert_eq!(ghap.resolution.unwrap().tier, Tier::Bronze);
}

#[test]
fn a_refused_resolution_changes_nothing() {
    let world = World::new();
    let mut store = world.store();
    let before = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let long = "x".repeat(2_001);
    for resolve in [
        Resolve { surprise: None, ..falsify() },
        Resolve { root_cause: None, ..falsify() },
        Resolve { status: Status::Active, ..confirm() },
        Resolve { result: " ", ..confirm() },
        Resolve { takeaway: Some(&long), ..confirm() },
    ] {
        ghap_error(store.resolve_ghap(&world.owner(), &resolve, at(2)));
    }
    assert_eq!(store.active_ghap(&world.owner()).unwrap(), Some(before));
}

#[test]
fn texts_have_limits_and_nothing_is_cut() {
    let world = World::new();
    let mut store = world.store();
    let long = "x".repeat(1_001);
    for start in [
        Start { goal: "", ..start() },
        Start { goal: &long, ..start() },
        Start { hypothesis: &long, ..start() },
        Start { action: "\n", ..start() },
        Start { prediction: &long, ..start() },
        Start { target: Some(&long), ..start() },
        Start { confidence: Some(1.5), ..start() },
        Start { confidence: Some(f64::NAN), ..start() },
    ] {
        ghap_error(store.start_ghap(&world.owner(), &start, at(1)));
    }
    assert_eq!(all(&mut store).len(), 1, "nothing but the header");
    let fits = "ä".repeat(1_000);
    assert_eq!(
        store
            .start_ghap(&world.owner(), &Start { goal: &fits, ..start() }, at(1))
            .unwrap()
            .goal
            .as_str(),
        fits
    );
}

#[test]
fn an_orphan_can_be_adopted_and_a_living_sessions_ghap_cannot() {
    let world = World::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    store.note_ghap(&world.owner(), "half way", at(2)).unwrap();
    let heir = world.other("session-2");
    assert_eq!(
        ghap_error(store.adopt_ghap(&heir, ghap.id, at(3))),
        GhapError::Alive { id: ghap.id.short() }
    );
    assert_eq!(
        ghap_error(store.abandon_ghap(&heir, Some(ghap.id), "not mine", at(3))),
        GhapError::Alive { id: ghap.id.short() }
    );
    let orphans = GhapFilter { orphaned: true, ..GhapFilter::default() };
    assert_eq!(store.ghaps(&orphans, at(3)).unwrap().len(), 0);

    // `/clear` ends the session, so its GHAP is an orphan at once.
    world.record(&world.entry("session-1", 4, What::Ended { abandon: false }));
    world.record(&world.entry("session-2", 4, What::Began(Source::Clear)));
    assert_eq!(store.ghaps(&orphans, at(4)).unwrap().len(), 1);
    let adopted = store.adopt_ghap(&heir, ghap.id, at(5)).unwrap();
    assert_eq!(adopted.session.as_str(), "session-2");
    assert_eq!((adopted.id, adopted.created, adopted.notes.len()), (ghap.id, ghap.created, 1));
    assert_eq!(
        ghap_error(store.adopt_ghap(&heir, ghap.id, at(6))),
        GhapError::Own { id: ghap.id.short() }
    );
    store.resolve_ghap(&heir, &confirm(), at(7)).unwrap();
    assert_eq!(
        ghap_error(store.adopt_ghap(&world.other("session-3"), ghap.id, at(8))),
        GhapError::Ended { id: ghap.id.short(), status: Status::Confirmed }
    );
}

#[test]
fn a_session_that_goes_on_finds_its_ghap_again() {
    let world = World::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    world.record(&world.entry("session-1", 2, What::Ended { abandon: false }));
    assert!(store.orphaned(&ghap, at(3)).unwrap());
    world.record(&world.entry("session-1", 4, What::Began(Source::Resume)));
    assert!(!store.orphaned(&ghap, at(5)).unwrap());
    assert_eq!(store.active_ghap(&world.owner()).unwrap().unwrap().id, ghap.id);
}

#[test]
fn an_orphan_can_be_given_up_with_a_reason() {
    let world = World::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    world.record(&world.entry("session-1", 2, What::Ended { abandon: false }));
    let ghap =
        store.abandon_ghap(&world.other("session-2"), Some(ghap.id), "overtaken", at(3)).unwrap();
    let resolution = ghap.resolution.unwrap();
    assert_eq!(
        (ghap.status, resolution.tier, resolution.result.as_str()),
        (Status::Abandoned, Tier::Abandoned, "overtaken")
    );
    assert_eq!(
        ghap_error(store.abandon_ghap(&world.other("session-2"), None, "x", at(4))),
        GhapError::NoneActive
    );
}

#[test]
fn outside_a_client_one_process_goes_on_where_another_stopped() {
    let world = World::new();
    let standing = Owner { client: None, ..world.owner() };
    let ghap = world.store().start_ghap(&standing, &start(), at(1)).unwrap();
    // The next day: the session was silent for long and is still the same one.
    let next = at(40 * 3_600);
    let mut store: Store = world.store();
    assert_eq!(store.active_ghap(&standing).unwrap().unwrap().id, ghap.id);
    assert_eq!(store.resolve_ghap(&standing, &confirm(), next).unwrap().ghap.id, ghap.id);
}

#[test]
fn lists_are_filtered_and_the_newest_comes_first() {
    let world = World::new();
    let mut store = world.store();
    for (number, domain) in
        [Domain::Debugging, Domain::Feature, Domain::Debugging].into_iter().enumerate()
    {
        let now = at(i64::try_from(number).unwrap() * 10);
        store.start_ghap(&world.owner(), &Start { domain, ..start() }, now).unwrap();
        store
            .resolve_ghap(&world.owner(), &if number == 0 { falsify() } else { confirm() }, now)
            .unwrap();
    }
    let count = |filter: GhapFilter| store.ghaps(&filter, at(100)).unwrap().len();
    assert_eq!(count(GhapFilter::default()), 3);
    assert_eq!(count(GhapFilter { domain: Some(Domain::Debugging), ..GhapFilter::default() }), 2);
    assert_eq!(count(GhapFilter { status: Some(Status::Falsified), ..GhapFilter::default() }), 1);
    assert_eq!(count(GhapFilter { limit: Some(2), ..GhapFilter::default() }), 2);
    assert_eq!(
        count(GhapFilter {
            project: Some(rutter_testkit::world::key("dir:/elsewhere")),
            ..GhapFilter::default()
        }),
        0
    );
    let newest = store.ghaps(&GhapFilter::default(), at(100)).unwrap();
    assert!(newest.windows(2).all(|pair| pair[0].created > pair[1].created));
}

#[test]
fn whoever_moves_the_target_is_not_borne_out_by_an_earlier_run() {
    for (begin, verdict, update) in [
        (start(), Verdict::Failed, Update { expects: Some(Expects::Fail), ..Update::default() }),
        (
            Start { target: Some("cargo test other"), ..start() },
            Verdict::Passed,
            Update { target: Some("cargo test"), ..Update::default() },
        ),
    ] {
        let world = World::new();
        let mut store = world.store();
        store.start_ghap(&world.owner(), &begin, at(1)).unwrap();
        world.ran(&world.outcome(2, verdict));
        store.update_ghap(&world.owner(), &update, at(3)).unwrap();
        let resolved = store.resolve_ghap(&world.owner(), &confirm(), at(4)).unwrap();
        assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Silver);
    }
}

#[test]
fn the_newest_run_is_the_one_that_ended_last_not_the_one_that_was_written_last() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let spooled =
        world.entry("session-1", 2, What::Ran(Box::new(world.outcome(2, Verdict::Failed).into())));
    rutter_memory::store::spool::append(&world.files(), &[spooled]).unwrap();
    world.ran(&world.outcome(3, Verdict::Passed));
    store.gather_if_free(at(4)).unwrap();
    let resolved = store.resolve_ghap(&world.owner(), &confirm(), at(5)).unwrap();
    assert_eq!(resolved.outcome.unwrap().verdict, Verdict::Passed);
}

#[test]
fn runs_of_other_sessions_do_not_hide_ones_own() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    world.ran(&world.outcome(2, Verdict::Passed));
    let others: Vec<_> = (3..600)
        .map(|second| {
            let mut outcome = world.outcome(second, Verdict::Failed);
            outcome.session = Some(Clean::new("session-2"));
            world.entry("session-2", second, What::Ran(Box::new(outcome.into())))
        })
        .collect();
    let budget = std::time::Duration::from_secs(2);
    rutter_memory::store::hot::record(&world.files(), &others, budget).unwrap();
    let resolved = store.resolve_ghap(&world.owner(), &confirm(), at(700)).unwrap();
    assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Gold);
}

/// A subagent works for the session that started it, so its runs are the session's.
#[test]
fn a_subagents_run_is_evidence_for_the_main_agent() {
    let world = World::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let mut outcome = world.outcome(2, Verdict::Passed);
    outcome.agent = Some(Clean::new("agent-7"));
    world.ran(&outcome);
    let resolved = store.resolve_ghap(&world.owner(), &confirm(), at(5)).unwrap();
    assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Gold);
}

#[test]
fn an_orphan_is_adopted_where_it_belongs() {
    let world = World::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start(), at(1)).unwrap();
    let elsewhere = Owner {
        place: (&rutter_memory::project::Located::find(&world.project("other"))).into(),
        ..world.other("session-2")
    };
    let error = ghap_error(store.adopt_ghap(&elsewhere, ghap.id, at(100_000)));
    assert_eq!(error, GhapError::Elsewhere { id: ghap.id.short(), project: ghap.project });
}
