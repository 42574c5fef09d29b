use proptest::prelude::*;
use rutter_histories::generate;
use rutter_histories::judge::{Judgement, judge_history};
use rutter_histories::play::{InProcess, PlayFolders, PlayedHistory, play_history};
use rutter_histories::report::LoopReport;

fn play_and_judge(seed: u64) -> (Judgement, PlayedHistory, LoopReport) {
    let history = generate(seed);
    let stage = PlayFolders::new().unwrap();
    let mut product = InProcess::new(&stage).unwrap();
    let played = play_history(&history, &stage, &mut product).unwrap();
    let judgement = judge_history(&history, &played);
    let mut report = LoopReport::default();
    report.add(&history, &judgement);
    (judgement, played, report)
}

/// A few histories of the development half; `cargo xtask eval loop` plays many.
#[test]
fn few_histories_meet_the_goals() {
    let mut report = LoopReport::default();
    for seed in (0..48).step_by(2) {
        report.join(play_and_judge(seed).2);
    }
    assert!(report.is_met(), "{}", report.text());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    /// No run that did not execute a test closes its episode.
    #[test]
    fn uncovered_run_closes_no_episode(half in 0_u64..2_500) {
        let (judgement, ..) = play_and_judge(half * 2);
        prop_assert!(judgement.uncovered_closings.is_empty(), "seed {}: {:?}", half * 2, judgement.uncovered_closings);
    }
}

#[test]
fn playing_is_deterministic() {
    let (_, one, _) = play_and_judge(8);
    let (_, other, _) = play_and_judge(8);
    assert_eq!(one.said, other.said);
    assert_eq!(one.events.len(), other.events.len());
}
