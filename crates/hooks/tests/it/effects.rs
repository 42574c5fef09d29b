//! Effects of injected text, derived from later hook events.

use rutter_memory::document::Axis;
use rutter_memory::ghap::{GhapResolve, GhapStart};
use rutter_memory::injection::ShownEffect;
use rutter_memory::store::{InjectionFilter, NewMemory, RecallRequest, ValueEdit, ValueFilter};
use rutter_memory::value::ValueStanding;
use rutter_memory::{Clean, Time};

use rutter_testkit::story::{HookStory, TOTAL};
use rutter_testkit::world::{FACT, TestWorld, confirm_fields, falsify_fields, start_fields};
use rutter_testkit::world::{record_lesson, repeated_lesson};

const FIX: [&str; 2] = ["-* 9", "+* 10"];

/// Returns the event and the effect of every injection, oldest first.
fn injection_effects(story: &HookStory<'_>) -> Vec<(String, Option<ShownEffect>)> {
    let mut memory = story.world.store();
    memory.update_clusters(story.now()).unwrap();
    let shown = memory.injections(&InjectionFilter::default()).unwrap();
    let effect = |shown: rutter_memory::store::InjectionWithText| {
        (shown.injection.event.to_string(), shown.injection.effect)
    };
    shown.into_iter().rev().map(effect).collect()
}

fn failure_injection(effect: Option<ShownEffect>) -> (String, Option<ShownEffect>) {
    ("PostToolUseFailure".to_owned(), effect)
}

/// Records a failure and its fix, then switches to a new session.
fn record_earlier_fix(story: &mut HookStory<'_>) {
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &FIX);
    story.green("cargo test");
    story.session = "session-2";
}

#[test]
fn shown_fix_helps_when_failure_disappears() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    record_earlier_fix(&mut story);
    assert!(story.red("cargo test", &[TOTAL]).contains("* 10"));
    assert_eq!(injection_effects(&story), [failure_injection(None)]);
    // A second run without an edit does not count.
    story.red("cargo test", &[TOTAL]);
    assert_eq!(injection_effects(&story), [failure_injection(None)]);
    story.edit("src/cart.rs", &FIX);
    // Another test fails; this one does not.
    story.red("cargo test", &[("cart::names", "left: 1, right: 2")]);
    assert_eq!(injection_effects(&story), [failure_injection(Some(ShownEffect::Helped))]);
    // The first effect is final.
    story.edit("src/cart.rs", &["-* 10", "+* 9"]);
    story.red("cargo test", &[TOTAL]);
    assert_eq!(injection_effects(&story), [failure_injection(Some(ShownEffect::Helped))]);
}

#[test]
fn fix_that_hurt_twice_is_hidden() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    record_earlier_fix(&mut story);
    for (session, times) in [("session-2", 1), ("session-3", 2)] {
        story.session = session;
        assert!(story.red("cargo test", &[TOTAL]).contains("* 10"), "{session}");
        // A failed run after other edits does not count against the fix.
        story.edit("README.md", &["+Totals are in cents."]);
        story.edit("src/cart.rs", &["+dbg!(total);"]);
        story.red("cargo test", &[TOTAL]);
        story.edit("src/cart.rs", &FIX);
        story.red("cargo test", &[TOTAL]);
        assert_eq!(
            injection_effects(&story),
            vec![failure_injection(Some(ShownEffect::Hurt)); times]
        );
    }
    story.session = "session-4";
    let said = story.red("cargo test", &[TOTAL]);
    assert!(!said.contains("* 10"), "it led astray twice: {said}");
}

#[test]
fn unrelated_edit_has_no_effect() {
    let back = ["-* 10", "+* 9"];
    for (edits, green) in [(vec![&FIX[..], &back[..]], false), (vec![&["+// a remark"][..]], true)]
    {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        record_earlier_fix(&mut story);
        assert_ne!(story.red("cargo test", &[TOTAL]), "");
        for edit in edits {
            story.edit("src/cart.rs", edit);
        }
        if green {
            story.green("cargo test");
        } else {
            story.red("cargo test", &[TOTAL]);
        }
        assert_eq!(injection_effects(&story), [failure_injection(None)], "{green}");
    }
}

#[test]
fn other_agents_run_has_no_effect() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    record_earlier_fix(&mut story);
    assert_ne!(story.red("cargo test", &[TOTAL]), "");
    story.agent = Some("agent-7");
    story.edit("src/cart.rs", &FIX);
    story.green("cargo test");
    assert_eq!(injection_effects(&story), [failure_injection(None)]);
}

#[test]
fn different_failure_has_no_effect() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    record_earlier_fix(&mut story);
    assert_ne!(story.red("cargo test", &[TOTAL]), "");
    story.edit("src/cart.rs", &FIX);
    story.red("cargo test", &[(TOTAL.0, "called `Option::unwrap()` on a `None` value")]);
    assert_eq!(injection_effects(&story), [failure_injection(None)]);
}

#[test]
fn related_prompt_injection_helps() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story
        .remember_fact("cart::tests::total: the discount is applied twice, the total is wrong: 90");
    story.remember_fact("the changelog of the release is written by hand in CHANGELOG.md");
    story.red("cargo test", &[TOTAL]);
    let said = story.prompt("cart::tests::total fails, the total is wrong: 90; it is the discount");
    assert!(said.contains("applied twice"), "{said}");
    let said = story.prompt("and write the changelog of the release, CHANGELOG.md");
    assert!(said.contains("by hand"), "{said}");
    story
        .edit("src/cart.rs", &["-let sum = discount(discount(sum));", "+let sum = discount(sum);"]);
    story.green("cargo test");
    let of = |effect| ("UserPromptSubmit".to_owned(), effect);
    assert_eq!(injection_effects(&story), [of(Some(ShownEffect::Helped)), of(None)]);
}

#[test]
fn word_of_phrase_has_no_effect() {
    for (phrase, effect) in [("the discount is wrong", None), ("x", Some(ShownEffect::Helped))] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        let cause = if effect.is_some() { "the discount" } else { "a rebate" };
        let text = format!("cart::tests::total: {cause} is applied twice, the total is wrong: 90");
        let phrases = [phrase.to_owned()];
        let place = story.place();
        let new = NewMemory { place: Some(&place), text: &text, applies_when: &phrases, ..FACT };
        world.store().remember(&new, story.now()).unwrap();
        story.red("cargo test", &[TOTAL]);
        assert_ne!(story.prompt("cart::tests::total fails, the total is wrong: 90"), "");
        story.edit("src/cart.rs", &["-shipping(discount(sum));", "+discount(sum);"]);
        story.green("cargo test");
        assert_eq!(injection_effects(&story), [("UserPromptSubmit".to_owned(), effect)]);
    }
}

#[test]
fn untimely_injection_has_no_effect() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    let asked = "cart::tests::total fails, the total is wrong: 90; it is the discount";
    story
        .remember_fact("cart::tests::total: the discount is applied twice, the total is wrong: 90");
    assert_ne!(story.prompt(asked), "");
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &FIX);
    story.green("cargo test");
    story.session = "session-2";
    story.red("cargo test", &[TOTAL]);
    assert_ne!(story.prompt(asked), "");
    story.edit("src/cart.rs", &["-* 9", "+* 11"]);
    story.red("cargo test", &[TOTAL]);
    story.edit("src/cart.rs", &["-* 11", "+* 10"]);
    story.green("cargo test");
    let prompts: Vec<_> = injection_effects(&story)
        .into_iter()
        .filter(|(event, _)| event == "UserPromptSubmit")
        .collect();
    assert_eq!(prompts, vec![("UserPromptSubmit".to_owned(), None); 2]);
}

/// Starts a GHAP with the hypothesis, runs tests that confirm or refute it, and resolves it.
fn act_on_hypothesis(story: &HookStory<'_>, hypothesis: &str, comes_true: bool) {
    let start = GhapStart {
        goal: "the upload test is green",
        hypothesis,
        action: "change that and nothing else",
        prediction: "`cargo test` passes",
        ..start_fields()
    };
    story.world.store().start_ghap(&story.owner(), &start, story.now()).unwrap();
    story.edit("src/upload.rs", &["-a", "+b"]);
    let resolve = if comes_true {
        let fields = serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": "cargo test" },
            "tool_response": { "stdout": rutter_testkit::story::cargo_test_output(5, &[]), "stderr": "", "interrupted": false } });
        story.send_event("PostToolUse", &fields);
        confirm_fields()
    } else {
        story.red("cargo test", &[("upload::resumes", "left: 3, right: 2")]);
        GhapResolve {
            result: "it failed as before",
            surprise: Some("the clock of the container stood still"),
            takeaway: Some("look at the clock of the machine first"),
            ..falsify_fields()
        }
    };
    story.world.store().resolve_ghap(&story.owner(), &resolve, story.now()).unwrap();
}

#[test]
fn acted_on_memory_follows_run() {
    for (comes_true, effect) in [(true, ShownEffect::Helped), (false, ShownEffect::Hurt)] {
        let world = TestWorld::new();
        let story = HookStory::new(&world);
        story.remember_fact("a slow upload needs a longer timeout of the proxy");
        story.remember_fact("uploads are named by the hash of their content");
        let said = story.prompt("the upload test is slow: is it the timeout of the proxy?");
        assert!(said.contains("longer timeout"), "{said}");
        let said = story.prompt("by which hash of their content are uploads named?");
        assert!(said.contains("named by the hash"), "{said}");
        act_on_hypothesis(
            &story,
            "the timeout of the proxy is too short for a slow upload",
            comes_true,
        );
        let of = |effect| ("UserPromptSubmit".to_owned(), effect);
        assert_eq!(injection_effects(&story), [of(Some(effect)), of(None)], "{comes_true}");
    }
}

#[test]
fn helpful_memory_gains_prior() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.remember_fact("a slow upload needs a longer timeout of the proxy");
    assert_ne!(story.prompt("the upload test is slow: is it the timeout of the proxy?"), "");
    let recalled = |story: &HookStory<'_>| {
        let mut memory = story.world.store();
        memory.update_clusters(story.now()).unwrap();
        let place = story.place();
        let ask = RecallRequest {
            text: "timeout of the proxy for a slow upload",
            axis: Axis::Full,
            place: Some(&place),
            all: false,
            kind: None,
            domain: None,
            outcome: None,
            limit: 5,
        };
        let mut found = memory.recall(&ask, story.now()).unwrap();
        found.retain(|recall| recall.text.contains("longer timeout"));
        found.remove(0)
    };
    let before = recalled(&story);
    act_on_hypothesis(&story, "the timeout of the proxy is too short for a slow upload", true);
    let after = recalled(&story);
    assert_eq!((before.effects.helped, after.effects.helped), (0, 1));
    assert!(after.prior > before.prior, "{} {}", after.prior, before.prior);
}

/// Records the same lesson in three sessions, long ago.
fn record_earlier_lessons(story: &HookStory<'_>) {
    for number in 0..3 {
        let mut owner = story.owner();
        owner.client = Some(Clean::new(&format!("learner-{number}")));
        record_lesson(&mut story.world.store(), &owner, &repeated_lesson(number));
    }
    story.clock.set(1_000_000_000);
}

#[test]
fn failed_value_loses_standing_once() {
    let world = TestWorld::new();
    // Recent work would show the same text.
    world.set_hook_option("session_start", "recent_work = 0\nlessons = 0");
    let mut story = HookStory::new(&world);
    record_earlier_lessons(&story);
    let value = |story: &HookStory<'_>| {
        let mut memory = story.world.store();
        memory.update_clusters(story.now()).unwrap();
        let [held] = memory
            .values(&ValueFilter { retired: true, ..ValueFilter::default() })
            .unwrap()
            .try_into()
            .unwrap();
        held
    };
    let accepted = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    let id = value(&story).value.id;
    world.store().edit_value(id, &accepted, story.now()).unwrap();
    for (session, hurt, standing) in
        [("session-1", 1, ValueStanding::Accepted), ("session-2", 0, ValueStanding::Proposed)]
    {
        story.session = session;
        assert!(story.start("startup").contains("finally block"), "{session}");
        act_on_hypothesis(
            &story,
            "it would help to release the connection in a finally block",
            false,
        );
        let held = value(&story);
        assert_eq!((held.effects.hurt, held.value.contradicted), (hurt, 0), "{session}");
        assert_eq!((held.value.standing, held.value.support), (standing, 3), "{session}");
    }
    // The failures that lowered the standing do not count again; and a doubted value is not injected.
    story.session = "session-3";
    assert!(!story.start("startup").contains("finally block"));
    act_on_hypothesis(&story, "it would help to release the connection in a finally block", false);
    let held = value(&story);
    assert_eq!((held.effects.hurt, held.value.contradicted), (0, 1));
    assert!(held.value.standing == ValueStanding::Proposed && held.value.doubted.is_some());
}

#[test]
fn effect_counts_when_observed() {
    let world = TestWorld::new();
    let mut story = HookStory::new(&world);
    record_earlier_lessons(&story);
    world.store().update_clusters(story.now()).unwrap();
    let sessions = ["session-1", "session-2"];
    for session in sessions {
        story.session = session;
        assert!(story.start("startup").contains("finally block"), "{session}");
    }
    // The value is accepted while both sessions are active.
    let mut memory = world.store();
    let id = memory.values(&ValueFilter::default()).unwrap()[0].value.id;
    let accepted = ValueEdit { standing: Some(ValueStanding::Accepted), ..ValueEdit::default() };
    memory.edit_value(id, &accepted, story.now()).unwrap();
    for session in sessions {
        story.session = session;
        act_on_hypothesis(
            &story,
            "it would help to release the connection in a finally block",
            false,
        );
    }
    memory.update_clusters(story.now()).unwrap();
    assert_eq!(memory.value(id).unwrap().value.standing, ValueStanding::Proposed);
}

#[test]
fn regrouping_waits_for_spool_lock() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    for number in 0..3 {
        record_lesson(&mut world.store(), &story.owner(), &repeated_lesson(number));
    }
    // This call creates the folder that is locked below.
    world.store().update_effects(story.now()).unwrap();
    let spool = std::fs::File::open(world.files().spool()).unwrap();
    spool.lock().unwrap();
    let (asks, asked) = std::sync::mpsc::channel();
    let mut memory = world.store();
    let asking = std::thread::spawn(move || {
        asks.send(()).unwrap();
        memory.update_clusters(Time::from_millis(1_800_000_000_000)).unwrap()
    });
    asked.recv().unwrap();
    spool.unlock().unwrap();
    assert!(asking.join().unwrap().born > 0);
}

#[test]
fn compacted_injection_has_no_effect() {
    let asked = "cart::tests::total fails, the total is wrong: 90; it is the discount";
    for (compacted, mended) in [(false, "+fn unrelated() {}"), (true, "+let sum = discount(sum);")]
    {
        let world = TestWorld::new();
        let mut story = HookStory::new(&world);
        story.remember_fact(
            "cart::tests::total: the discount is applied twice, the total is wrong: 90",
        );
        record_earlier_fix(&mut story);
        story.red("cargo test", &[TOTAL]);
        assert_ne!(story.prompt(asked), "");
        if compacted {
            story.start("compact");
        }
        story.edit("src/lib.rs", &[mended]);
        story.green("cargo test");
        assert!(
            injection_effects(&story).iter().all(|(_, effect)| effect.is_none()),
            "{compacted}"
        );
    }
}

#[test]
fn second_compaction_gives_no_credit() {
    let world = TestWorld::new();
    let story = HookStory::new(&world);
    story.remember_fact("a slow upload needs a longer timeout of the proxy");
    assert_ne!(story.prompt("the upload test is slow: is it the timeout of the proxy?"), "");
    story.start("compact");
    act_on_hypothesis(&story, "the timeout of the proxy is too short for a slow upload", true);
    story.start("compact");
    assert_eq!(injection_effects(&story), [("UserPromptSubmit".to_owned(), None)]);
}
