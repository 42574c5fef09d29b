use proptest::prelude::*;
use rutter_histories::generate;
use rutter_histories::judge::{Judgement, judge};
use rutter_histories::play::{InProcess, Played, Stage, play};
use rutter_histories::report::LoopReport;

fn examine(seed: u64) -> (Judgement, Played, LoopReport) {
    let history = generate(seed);
    let stage = Stage::new().unwrap();
    let mut product = InProcess::new(&stage).unwrap();
    let played = play(&history, &stage, &mut product).unwrap();
    let judgement = judge(&history, &played);
    let mut report = LoopReport::default();
    report.add(&history, &judgement);
    (judgement, played, report)
}

/// A few histories of the development half; `cargo xtask eval loop` plays many.
#[test]
fn meets_the_goals_on_a_few_histories() {
    let mut report = LoopReport::default();
    for seed in (0..48).step_by(2) {
        report.join(examine(seed).2);
    }
    assert!(report.is_met(), "{}", report.text());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// No run that did not execute a test closes its episode.
    #[test]
    fn no_uncovered_run_closes_an_episode(half in 0_u64..2_500) {
        let (judgement, ..) = examine(half * 2);
        prop_assert!(judgement.uncovered_closings.is_empty(), "seed {}: {:?}", half * 2, judgement.uncovered_closings);
    }
}

#[test]
fn playing_twice_gives_the_same() {
    let (_, one, _) = examine(8);
    let (_, other, _) = examine(8);
    assert_eq!(one.said, other.said);
    assert_eq!(one.events.len(), other.events.len());
}
