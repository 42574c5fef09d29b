use rutter_histories::generate;
use rutter_histories::history::History;
use rutter_histories::judge::{HEDGE, ReturnAnswer, judge_history};
use rutter_histories::play::{EpisodeEvent, EpisodeView, PlayedHistory};
use rutter_histories::report::LoopReport;
use rutter_histories::truth::{
    ChangeRole, CheckName, ExpectedText, FailureCause, FailureEnding, FailureSighting,
};

/// Returns a run in which one fix is due.
fn find_due_sighting(history: &History) -> Option<&FailureSighting> {
    let truth = &history.truth;
    truth.sightings.iter().find(|sighting| {
        let of_run = truth.sightings.iter().filter(|other| other.step == sighting.step).count();
        sighting.expectation == ExpectedText::Show
            && of_run == 1
            && matches!(sighting.cause, FailureCause::Bug(_))
            && matches!(sighting.name, CheckName::Test(_))
            && truth.changes.iter().any(|change| {
                change.role == ChangeRole::Unrelated
                    && !change.lines.is_empty()
                    && change.step < sighting.step
            })
    })
}

fn history_with_due_fix() -> (History, usize) {
    let history =
        (0..400).map(generate).find(|history| find_due_sighting(history).is_some()).unwrap();
    let step = find_due_sighting(&history).unwrap().step;
    (history, step)
}

fn played_with_text(history: &History, step: usize, text: &str) -> PlayedHistory {
    let mut said = vec![String::new(); history.steps.len()];
    text.clone_into(&mut said[step]);
    PlayedHistory { said, ..PlayedHistory::default() }
}

fn fix_lines(history: &History, cause: FailureCause) -> Vec<String> {
    history.truth.right[&cause].iter().map(|line| format!("> {line}")).collect()
}

fn decoy_line(history: &History) -> String {
    let changes = history.truth.changes.iter();
    let lines =
        changes.filter(|change| change.role == ChangeRole::Unrelated).flat_map(|at| &at.lines);
    let line = lines.max_by_key(|line| line.len()).unwrap();
    format!("> {line}")
}

fn check_name(sighting: &FailureSighting) -> String {
    match &sighting.name {
        CheckName::Test(leaf) => leaf.clone(),
        CheckName::Finding(texts) => texts.join(" "),
    }
}

#[test]
fn fix_first_is_right() {
    let (history, step) = history_with_due_fix();
    let sighting = find_due_sighting(&history).unwrap();
    let text = format!(
        "Fixed before: `{}`:\n{}",
        check_name(sighting),
        fix_lines(&history, sighting.cause).join("\n")
    );
    let judgement = judge_history(&history, &played_with_text(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, ReturnAnswer::Right);
    assert_eq!((judgement.claims, judgement.wrong_claims.len()), (1, 0));
}

#[test]
fn leading_decoy_is_wrong_unless_hedged() {
    let (history, step) = history_with_due_fix();
    let sighting = find_due_sighting(&history).unwrap();
    let lines = [decoy_line(&history), fix_lines(&history, sighting.cause).join("\n")].join("\n");
    let text = format!("Fixed before: `{}`:\n{lines}", check_name(sighting));
    let judgement = judge_history(&history, &played_with_text(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert!(matches!(verdict.answer, ReturnAnswer::Wrong(_)));
    assert_eq!((judgement.claims, judgement.wrong_claims.len(), judgement.wrong_leads), (1, 1, 1));
    let text =
        format!("`{}` failed before; {HEDGE}:\n{}", check_name(sighting), decoy_line(&history));
    let judgement = judge_history(&history, &played_with_text(&history, step, &text));
    assert_eq!((judgement.claims, judgement.wrong_claims.len()), (0, 0));
}

#[test]
fn trailing_decoy_is_wrong_claim() {
    let (history, step) = history_with_due_fix();
    let sighting = find_due_sighting(&history).unwrap();
    let fix = fix_lines(&history, sighting.cause).join("\n");
    let text =
        format!("Fixed before: `{}`:\n{fix}\n{}", check_name(sighting), decoy_line(&history));
    let judgement = judge_history(&history, &played_with_text(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, ReturnAnswer::Right);
    assert_eq!((judgement.wrong_claims.len(), judgement.wrong_leads), (1, 0));
    // Under a separate heading without a claim, it does not count as one.
    let text = format!(
        "Fixed before: `{}`:\n{fix}\nAlso {HEDGE}:\n{}",
        check_name(sighting),
        decoy_line(&history)
    );
    let judgement = judge_history(&history, &played_with_text(&history, step, &text));
    assert_eq!(judgement.wrong_claims.len(), 0);
}

#[test]
fn silence_is_not_an_answer() {
    let (history, step) = history_with_due_fix();
    let judgement = judge_history(&history, &played_with_text(&history, step, ""));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, ReturnAnswer::Silent);
    assert_eq!(judgement.claims, 0);
}

/// A line that ends before the differing part shows nothing.
#[test]
fn cut_line_is_not_an_answer() {
    let long = |history: &History| {
        history.truth.sightings.iter().position(|sighting| {
            sighting.expectation == ExpectedText::Show
                && history.truth.right.get(&sighting.cause).is_some_and(|right| {
                    right.iter().any(|line| line.contains("coupon") && line.len() > 60)
                })
        })
    };
    let history = (0..2_000).map(generate).find(|history| long(history).is_some()).unwrap();
    let sighting = &history.truth.sightings[long(&history).unwrap()];
    let line = history.truth.right[&sighting.cause].iter().find(|line| line.len() > 60).unwrap();
    let (start, end) = (&line[..40], &line[line.len() - 24..]);
    for (shown, is_right) in [(format!("{start}…"), false), (format!("{}…{end}", &line[..1]), true)]
    {
        let text = format!("Fixed before: `{}`:\n> {shown}", check_name(sighting));
        let judgement = judge_history(&history, &played_with_text(&history, sighting.step, &text));
        let verdict = judgement.returns.iter().find(|at| at.step == sighting.step).unwrap();
        assert_eq!(verdict.answer == ReturnAnswer::Right, is_right, "{shown}");
    }
}

/// A product that knows the truth meets every goal, so the evaluation can be passed.
#[test]
fn oracle_meets_every_goal() {
    let mut report = LoopReport::default();
    for history in (0..160).map(generate) {
        let played = play_as_oracle(&history);
        let judgement = judge_history(&history, &played);
        let faults = [
            &judgement.wrong_claims[..],
            &judgement.uncovered_closings,
            &judgement.spoken,
            &judgement.strays,
            &judgement.unknown_lines,
        ]
        .concat();
        assert!(faults.is_empty(), "seed {}: {faults:?}", history.seed);
        report.add(&history, &judgement);
    }
    assert!(report.is_met(), "{}", report.text());
}

fn play_as_oracle(history: &History) -> PlayedHistory {
    let mut said = vec![String::new(); history.steps.len()];
    let mut events = Vec::new();
    for sighting in &history.truth.sightings {
        let is_due = matches!(sighting.expectation, ExpectedText::Show | ExpectedText::ShowOrHedge);
        if !is_due {
            continue;
        }
        let fix = match sighting.cause {
            FailureCause::Environment => format!("`{}`", history.truth.remedy.clone().unwrap()),
            cause => fix_lines(history, cause).join("\n"),
        };
        let lesson = format!("Fixed before: `{}`:\n{fix}\n", check_name(sighting));
        said[sighting.step].push_str(&lesson);
    }
    for (index, failure) in history.truth.failures.iter().enumerate() {
        let folder = &history.folders[failure.checkout];
        let check = &history.project.checks[failure.check];
        let view = |ending: Option<&str>| EpisodeView {
            id: index.to_string(),
            test: match &failure.name {
                CheckName::Test(leaf) => Some(format!("{}::{leaf}", check.file)),
                CheckName::Finding(_) => None,
            },
            words: match &failure.name {
                CheckName::Test(_) => String::new(),
                CheckName::Finding(texts) => format!("{} {}", texts.join(" "), check.file),
            },
            root: format!("/srv/{folder}"),
            ending: ending.map(str::to_owned),
        };
        let event =
            |step, is_opened, ending| EpisodeEvent { step, episode: view(ending), is_opened };
        events.push(event(failure.opened, true, None));
        let ending = match failure.resolution {
            Some(FailureEnding::Flaky) => "flaky",
            Some(FailureEnding::Removed) => "removed",
            _ => "fixed",
        };
        if let Some(at) = failure.required_at.or(failure.removed_at) {
            events.push(event(at, false, Some(ending)));
        }
    }
    events.sort_by_key(|event| (event.step, !event.is_opened));
    PlayedHistory { said, events, ..PlayedHistory::default() }
}
