use rutter_memory::ghap::{
    Domain, GhapError, GhapResolve, GhapStart, GhapStatus, GhapUpdate, Tier, expect::Expects,
};
use rutter_memory::outcome::Verdict;
use rutter_memory::session::StoredSessionSource;
use rutter_memory::store::entry::EntryKind;
use rutter_memory::store::{ExportRecord, GhapFilter, GhapOwner};
use rutter_memory::{Clean, Id, Store, StoreError};

use rutter_testkit::world::{
    TestWorld, all_ghaps, all_records, confirm_fields, falsify_fields, start_fields, time_at,
};

fn ghap_error<T: std::fmt::Debug>(result: Result<T, StoreError>) -> GhapError {
    match result {
        Err(StoreError::Ghap(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn confirmed_prediction_becomes_gold() {
    let world = TestWorld::new();
    let mut store = world.store();
    let owner = world.owner();
    let ghap = store.start_ghap(&owner, &start_fields(), time_at(1)).unwrap();
    assert_eq!((ghap.status, ghap.expects), (GhapStatus::Active, Expects::Pass));
    assert_eq!(store.active_ghap(&owner).unwrap(), Some(ghap.clone()));

    store.note_ghap(&owner, "the lexer is clean", time_at(2)).unwrap();
    world.record_run(&world.outcome(3, Verdict::Passed));
    let resolved = store.resolve_ghap(&owner, &confirm_fields(), time_at(4)).unwrap();
    let resolution = resolved.ghap.resolution.clone().unwrap();
    assert_eq!((resolved.ghap.status, resolution.tier), (GhapStatus::Confirmed, Tier::Gold));
    assert_eq!(resolved.outcome.unwrap().verdict, Verdict::Passed);
    assert!(resolution.evidence.unwrap().supports);
    assert_eq!(resolved.ghap.notes[0].text.as_str(), "the lexer is clean");
    assert_eq!(store.active_ghap(&owner).unwrap(), None);

    let experiences: Vec<_> = all_records(&mut store)
        .into_iter()
        .filter_map(|record| match record {
            ExportRecord::Experience(experience) => Some(experience),
            _ => None,
        })
        .collect();
    assert_eq!(experiences.len(), 1);
    assert_eq!((experiences[0].ghap, experiences[0].tier), (ghap.id, Tier::Gold));
}

#[test]
fn one_active_ghap_per_agent() {
    let world = TestWorld::new();
    let mut store = world.store();
    let first = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let error = ghap_error(store.start_ghap(&world.owner(), &start_fields(), time_at(2)));
    assert_eq!(error, GhapError::Active { id: first.id.short(), goal: first.goal });
    let subagent = GhapOwner { agent: Some(Clean::new("agent-7")), ..world.owner() };
    store.start_ghap(&subagent, &start_fields(), time_at(3)).unwrap();
    store.start_ghap(&world.other_session("session-2"), &start_fields(), time_at(4)).unwrap();
    let elsewhere = GhapOwner {
        place: (&rutter_memory::project::LocatedProject::find(&world.project("other"))).into(),
        ..world.owner()
    };
    store.start_ghap(&elsewhere, &start_fields(), time_at(5)).unwrap();
    assert_eq!(all_ghaps(&mut store).len(), 4);
}

#[test]
fn changed_hypothesis_adds_revision() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let update = GhapUpdate { hypothesis: Some("the lexer splits too"), ..GhapUpdate::default() };
    let ghap = store.update_ghap(&world.owner(), &update, time_at(2)).unwrap();
    assert_eq!(ghap.revisions.len(), 1);
    assert_eq!(ghap.revisions[0].hypothesis.as_str(), start_fields().hypothesis);
    assert_eq!(ghap.revisions[0].prediction.as_str(), start_fields().prediction);
    // An unchanged hypothesis and a new strategy add no revision.
    let update =
        GhapUpdate { strategy: Some(rutter_memory::ghap::Strategy::ResearchFirst), ..update };
    let ghap = store.update_ghap(&world.owner(), &update, time_at(3)).unwrap();
    assert_eq!(ghap.revisions.len(), 1);
    assert_eq!(ghap.strategy, rutter_memory::ghap::Strategy::ResearchFirst);
    assert_eq!(
        ghap_error(store.update_ghap(&world.owner(), &GhapUpdate::default(), time_at(4))),
        GhapError::NothingToChange
    );
}

#[test]
fn stated_expectation_survives_new_prediction() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let update =
        GhapUpdate { prediction: Some("`cargo test -p lexer` will fail"), ..GhapUpdate::default() };
    let ghap = store.update_ghap(&world.owner(), &update, time_at(2)).unwrap();
    assert_eq!(
        (ghap.expects, ghap.target.as_deref()),
        (Expects::Fail, Some("cargo test -p lexer"))
    );
    let update = GhapUpdate { expects: Some(Expects::Pass), ..GhapUpdate::default() };
    store.update_ghap(&world.owner(), &update, time_at(3)).unwrap();
    let update = GhapUpdate {
        prediction: Some("`cargo test -p parser` will fail"),
        ..GhapUpdate::default()
    };
    let ghap = store.update_ghap(&world.owner(), &update, time_at(4)).unwrap();
    assert_eq!(
        (ghap.expects, ghap.target.as_deref()),
        (Expects::Pass, Some("cargo test -p parser"))
    );
}

#[test]
fn gold_requires_supporting_run() {
    let world = TestWorld::new();
    let mut store = world.store();
    let mut tier = |from: i64, run: Option<(i64, Verdict)>, resolve: &GhapResolve<'_>| {
        store.start_ghap(&world.owner(), &start_fields(), time_at(from)).unwrap();
        if let Some((seconds, verdict)) = run {
            world.record_run(&world.outcome(seconds, verdict));
        }
        let ghap = store.resolve_ghap(&world.owner(), resolve, time_at(from + 9)).unwrap().ghap;
        let resolution = ghap.resolution.unwrap();
        (resolution.tier, resolution.evidence.map(|evidence| evidence.supports))
    };
    assert_eq!(tier(0, None, &confirm_fields()), (Tier::Silver, None));
    assert_eq!(tier(10, Some((11, Verdict::Passed)), &confirm_fields()), (Tier::Gold, Some(true)));
    assert_eq!(tier(20, Some((21, Verdict::Failed)), &falsify_fields()), (Tier::Gold, Some(true)));
    // The run contradicts the claim: it is stored with the claim, and the tier stays silver.
    assert_eq!(
        tier(30, Some((31, Verdict::Failed)), &confirm_fields()),
        (Tier::Silver, Some(false))
    );
    assert_eq!(
        tier(40, Some((41, Verdict::Passed)), &falsify_fields()),
        (Tier::Silver, Some(false))
    );
    // A run with an unknown verdict, or from before the prediction.
    assert_eq!(tier(50, Some((51, Verdict::Unknown)), &confirm_fields()), (Tier::Silver, None));
    assert_eq!(tier(60, Some((59, Verdict::Passed)), &confirm_fields()), (Tier::Silver, None));
}

#[test]
fn named_run_must_fit() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(10)).unwrap();
    let (early, fitting) = (world.outcome(9, Verdict::Passed), world.outcome(11, Verdict::Passed));
    let newest = world.outcome(12, Verdict::Failed);
    let mut other = world.outcome(11, Verdict::Passed);
    other.session = Some(Clean::new("session-2"));
    for outcome in [&early, &fitting, &newest] {
        world.record_run(outcome);
    }
    world.record(&world.entry("session-2", 11, EntryKind::Ran(Box::new(other.clone().into()))));
    let mut named = |id| {
        store.resolve_ghap(
            &world.owner(),
            &GhapResolve { outcome: Some(id), ..confirm_fields() },
            time_at(13),
        )
    };
    for (id, why) in [
        (early.id, "it ran before the prediction was made"),
        (other.id, "it ran in another session"),
        (Id::new(time_at(0)), "there is no such outcome"),
    ] {
        assert_eq!(ghap_error(named(id)), GhapError::NoEvidence { id: id.short(), why });
    }
    assert_eq!(named(fitting.id).unwrap().ghap.resolution.unwrap().tier, Tier::Gold);
}

#[test]
fn untestable_prediction_is_bronze() {
    let world = TestWorld::new();
    let mut store = world.store();
    let vague = GhapStart {
        prediction: "the reader will like it",
        action: "rewrite the introduction",
        ..start_fields()
    };
    let ghap = store.start_ghap(&world.owner(), &vague, time_at(1)).unwrap();
    assert!(!ghap.testable);
    // A passing run does not count as evidence here and does not make the tier gold.
    let run = world.outcome(2, Verdict::Passed);
    world.record_run(&run);
    let named = GhapResolve { outcome: Some(run.id), ..confirm_fields() };
    assert!(store.resolve_ghap(&world.owner(), &named, time_at(2)).is_err());
    let ghap = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(2)).unwrap().ghap;
    assert_eq!(ghap.resolution.unwrap().tier, Tier::Bronze);
}

#[test]
fn refused_resolution_changes_nothing() {
    let world = TestWorld::new();
    let mut store = world.store();
    let before = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let long = "x".repeat(2_001);
    for resolve in [
        GhapResolve { surprise: None, ..falsify_fields() },
        GhapResolve { root_cause: None, ..falsify_fields() },
        GhapResolve { status: GhapStatus::Active, ..confirm_fields() },
        GhapResolve { result: " ", ..confirm_fields() },
        GhapResolve { takeaway: Some(&long), ..confirm_fields() },
    ] {
        ghap_error(store.resolve_ghap(&world.owner(), &resolve, time_at(2)));
    }
    assert_eq!(store.active_ghap(&world.owner()).unwrap(), Some(before));
}

#[test]
fn rejects_texts_over_limit() {
    let world = TestWorld::new();
    let mut store = world.store();
    let long = "x".repeat(1_001);
    for start in [
        GhapStart { goal: "", ..start_fields() },
        GhapStart { goal: &long, ..start_fields() },
        GhapStart { hypothesis: &long, ..start_fields() },
        GhapStart { action: "\n", ..start_fields() },
        GhapStart { prediction: &long, ..start_fields() },
        GhapStart { target: Some(&long), ..start_fields() },
        GhapStart { confidence: Some(1.5), ..start_fields() },
        GhapStart { confidence: Some(f64::NAN), ..start_fields() },
    ] {
        ghap_error(store.start_ghap(&world.owner(), &start, time_at(1)));
    }
    assert_eq!(all_records(&mut store).len(), 1, "nothing but the header");
    let fits = "ä".repeat(1_000);
    assert_eq!(
        store
            .start_ghap(&world.owner(), &GhapStart { goal: &fits, ..start_fields() }, time_at(1))
            .unwrap()
            .goal
            .as_str(),
        fits
    );
}

#[test]
fn only_orphans_can_be_adopted() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    store.note_ghap(&world.owner(), "half way", time_at(2)).unwrap();
    let heir = world.other_session("session-2");
    assert_eq!(
        ghap_error(store.adopt_ghap(&heir, ghap.id, time_at(3))),
        GhapError::Alive { id: ghap.id.short() }
    );
    assert_eq!(
        ghap_error(store.abandon_ghap(&heir, Some(ghap.id), "not mine", time_at(3))),
        GhapError::Alive { id: ghap.id.short() }
    );
    let orphans = GhapFilter { orphaned: true, ..GhapFilter::default() };
    assert_eq!(store.ghaps(&orphans, time_at(3)).unwrap().len(), 0);

    // `/clear` ends the session, so its GHAP is an orphan at once.
    world.record(&world.entry("session-1", 4, EntryKind::Ended { abandon: false }));
    world.record(&world.entry("session-2", 4, EntryKind::Began(StoredSessionSource::Clear)));
    assert_eq!(store.ghaps(&orphans, time_at(4)).unwrap().len(), 1);
    let adopted = store.adopt_ghap(&heir, ghap.id, time_at(5)).unwrap();
    assert_eq!(adopted.session.as_str(), "session-2");
    assert_eq!((adopted.id, adopted.created, adopted.notes.len()), (ghap.id, ghap.created, 1));
    assert_eq!(
        ghap_error(store.adopt_ghap(&heir, ghap.id, time_at(6))),
        GhapError::Own { id: ghap.id.short() }
    );
    store.resolve_ghap(&heir, &confirm_fields(), time_at(7)).unwrap();
    assert_eq!(
        ghap_error(store.adopt_ghap(&world.other_session("session-3"), ghap.id, time_at(8))),
        GhapError::Ended { id: ghap.id.short(), status: GhapStatus::Confirmed }
    );
}

#[test]
fn resumed_session_keeps_its_ghap() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    world.record(&world.entry("session-1", 2, EntryKind::Ended { abandon: false }));
    assert!(store.is_orphaned(&ghap, time_at(3)).unwrap());
    world.record(&world.entry("session-1", 4, EntryKind::Began(StoredSessionSource::Resume)));
    assert!(!store.is_orphaned(&ghap, time_at(5)).unwrap());
    assert_eq!(store.active_ghap(&world.owner()).unwrap().unwrap().id, ghap.id);
}

#[test]
fn orphan_can_be_abandoned() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    world.record(&world.entry("session-1", 2, EntryKind::Ended { abandon: false }));
    let ghap = store
        .abandon_ghap(&world.other_session("session-2"), Some(ghap.id), "overtaken", time_at(3))
        .unwrap();
    let resolution = ghap.resolution.unwrap();
    assert_eq!(
        (ghap.status, resolution.tier, resolution.result.as_str()),
        (GhapStatus::Abandoned, Tier::Abandoned, "overtaken")
    );
    assert_eq!(
        ghap_error(store.abandon_ghap(&world.other_session("session-2"), None, "x", time_at(4))),
        GhapError::NoneActive
    );
}

#[test]
fn processes_share_ghap_without_client() {
    let world = TestWorld::new();
    let standing = GhapOwner { client: None, ..world.owner() };
    let ghap = world.store().start_ghap(&standing, &start_fields(), time_at(1)).unwrap();
    // The next day: the session was silent for long and is still the same one.
    let next = time_at(40 * 3_600);
    let mut store: Store = world.store();
    assert_eq!(store.active_ghap(&standing).unwrap().unwrap().id, ghap.id);
    assert_eq!(store.resolve_ghap(&standing, &confirm_fields(), next).unwrap().ghap.id, ghap.id);
}

#[test]
fn lists_filter_newest_first() {
    let world = TestWorld::new();
    let mut store = world.store();
    for (number, domain) in
        [Domain::Debugging, Domain::Feature, Domain::Debugging].into_iter().enumerate()
    {
        let now = time_at(i64::try_from(number).unwrap() * 10);
        store.start_ghap(&world.owner(), &GhapStart { domain, ..start_fields() }, now).unwrap();
        store
            .resolve_ghap(
                &world.owner(),
                &if number == 0 { falsify_fields() } else { confirm_fields() },
                now,
            )
            .unwrap();
    }
    let count = |filter: GhapFilter| store.ghaps(&filter, time_at(100)).unwrap().len();
    assert_eq!(count(GhapFilter::default()), 3);
    assert_eq!(count(GhapFilter { domain: Some(Domain::Debugging), ..GhapFilter::default() }), 2);
    assert_eq!(
        count(GhapFilter { status: Some(GhapStatus::Falsified), ..GhapFilter::default() }),
        1
    );
    assert_eq!(count(GhapFilter { limit: Some(2), ..GhapFilter::default() }), 2);
    assert_eq!(
        count(GhapFilter {
            project: Some(rutter_testkit::world::project_key("dir:/elsewhere")),
            ..GhapFilter::default()
        }),
        0
    );
    let newest = store.ghaps(&GhapFilter::default(), time_at(100)).unwrap();
    assert!(newest.windows(2).all(|pair| pair[0].created > pair[1].created));
}

#[test]
fn moved_target_ignores_earlier_runs() {
    for (begin, verdict, update) in [
        (
            start_fields(),
            Verdict::Failed,
            GhapUpdate { expects: Some(Expects::Fail), ..GhapUpdate::default() },
        ),
        (
            GhapStart { target: Some("cargo test other"), ..start_fields() },
            Verdict::Passed,
            GhapUpdate { target: Some("cargo test"), ..GhapUpdate::default() },
        ),
    ] {
        let world = TestWorld::new();
        let mut store = world.store();
        store.start_ghap(&world.owner(), &begin, time_at(1)).unwrap();
        world.record_run(&world.outcome(2, verdict));
        store.update_ghap(&world.owner(), &update, time_at(3)).unwrap();
        let resolved = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(4)).unwrap();
        assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Silver);
    }
}

#[test]
fn newest_run_is_by_end_time() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let spooled = world.entry(
        "session-1",
        2,
        EntryKind::Ran(Box::new(world.outcome(2, Verdict::Failed).into())),
    );
    rutter_memory::store::spool::append_entries(&world.files(), &[spooled]).unwrap();
    world.record_run(&world.outcome(3, Verdict::Passed));
    store.try_drain_spool(time_at(4)).unwrap();
    let resolved = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(5)).unwrap();
    assert_eq!(resolved.outcome.unwrap().verdict, Verdict::Passed);
}

#[test]
fn other_sessions_do_not_hide_runs() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    world.record_run(&world.outcome(2, Verdict::Passed));
    let others: Vec<_> = (3..600)
        .map(|second| {
            let mut outcome = world.outcome(second, Verdict::Failed);
            outcome.session = Some(Clean::new("session-2"));
            world.entry("session-2", second, EntryKind::Ran(Box::new(outcome.into())))
        })
        .collect();
    let budget = std::time::Duration::from_secs(2);
    rutter_memory::store::recorder::Recorder::new(&world.files(), budget).record(&others).unwrap();
    let resolved = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(700)).unwrap();
    assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Gold);
}

/// A subagent works for the session that started it, so its runs are the session's.
#[test]
fn subagent_run_is_evidence() {
    let world = TestWorld::new();
    let mut store = world.store();
    store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let mut outcome = world.outcome(2, Verdict::Passed);
    outcome.agent = Some(Clean::new("agent-7"));
    world.record_run(&outcome);
    let resolved = store.resolve_ghap(&world.owner(), &confirm_fields(), time_at(5)).unwrap();
    assert_eq!(resolved.ghap.resolution.unwrap().tier, Tier::Gold);
}

#[test]
fn orphan_is_adopted_in_its_project() {
    let world = TestWorld::new();
    let mut store = world.store();
    let ghap = store.start_ghap(&world.owner(), &start_fields(), time_at(1)).unwrap();
    let elsewhere = GhapOwner {
        place: (&rutter_memory::project::LocatedProject::find(&world.project("other"))).into(),
        ..world.other_session("session-2")
    };
    let error = ghap_error(store.adopt_ghap(&elsewhere, ghap.id, time_at(100_000)));
    assert_eq!(error, GhapError::Elsewhere { id: ghap.id.short(), project: ghap.project });
}
