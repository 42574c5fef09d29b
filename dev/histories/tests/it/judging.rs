use rutter_histories::generate;
use rutter_histories::history::History;
use rutter_histories::judge::{Answer, HEDGE, judge};
use rutter_histories::play::{EpisodeEvent, EpisodeView, Played};
use rutter_histories::report::LoopReport;
use rutter_histories::truth::{Cause, Expectation, Name, Resolution, Role, Sighting};

/// Returns a run in which one fix is due.
fn due(history: &History) -> Option<&Sighting> {
    let truth = &history.truth;
    truth.sightings.iter().find(|sighting| {
        let of_run = truth.sightings.iter().filter(|other| other.step == sighting.step).count();
        sighting.expectation == Expectation::Show
            && of_run == 1
            && matches!(sighting.cause, Cause::Bug(_))
            && matches!(sighting.name, Name::Test(_))
            && truth.changes.iter().any(|change| {
                change.role == Role::Unrelated
                    && !change.lines.is_empty()
                    && change.step < sighting.step
            })
    })
}

fn example() -> (History, usize) {
    let history = (0..400).map(generate).find(|history| due(history).is_some()).unwrap();
    let step = due(&history).unwrap().step;
    (history, step)
}

fn said(history: &History, step: usize, text: &str) -> Played {
    let mut said = vec![String::new(); history.steps.len()];
    text.clone_into(&mut said[step]);
    Played { said, ..Played::default() }
}

fn fix_lines(history: &History, cause: Cause) -> Vec<String> {
    history.truth.right[&cause].iter().map(|line| format!("> {line}")).collect()
}

fn decoy(history: &History) -> String {
    let changes = history.truth.changes.iter();
    let lines = changes.filter(|change| change.role == Role::Unrelated).flat_map(|at| &at.lines);
    let line = lines.max_by_key(|line| line.len()).unwrap();
    format!("> {line}")
}

fn name(sighting: &Sighting) -> String {
    match &sighting.name {
        Name::Test(leaf) => leaf.clone(),
        Name::Finding(texts) => texts.join(" "),
    }
}

#[test]
fn fix_first_is_right() {
    let (history, step) = example();
    let sighting = due(&history).unwrap();
    let text = format!(
        "Fixed before: `{}`:\n{}",
        name(sighting),
        fix_lines(&history, sighting.cause).join("\n")
    );
    let judgement = judge(&history, &said(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, Answer::Right);
    assert_eq!((judgement.claims, judgement.wrong_claims.len()), (1, 0));
}

#[test]
fn decoy_first_is_wrong_and_hedged_it_is_no_claim() {
    let (history, step) = example();
    let sighting = due(&history).unwrap();
    let lines = [decoy(&history), fix_lines(&history, sighting.cause).join("\n")].join("\n");
    let text = format!("Fixed before: `{}`:\n{lines}", name(sighting));
    let judgement = judge(&history, &said(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert!(matches!(verdict.answer, Answer::Wrong(_)));
    assert_eq!((judgement.claims, judgement.wrong_claims.len(), judgement.wrong_leads), (1, 1, 1));
    let text = format!("`{}` failed before; {HEDGE}:\n{}", name(sighting), decoy(&history));
    let judgement = judge(&history, &said(&history, step, &text));
    assert_eq!((judgement.claims, judgement.wrong_claims.len()), (0, 0));
}

#[test]
fn decoy_after_the_fix_is_a_wrong_claim_all_the_same() {
    let (history, step) = example();
    let sighting = due(&history).unwrap();
    let fix = fix_lines(&history, sighting.cause).join("\n");
    let text = format!("Fixed before: `{}`:\n{fix}\n{}", name(sighting), decoy(&history));
    let judgement = judge(&history, &said(&history, step, &text));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, Answer::Right);
    assert_eq!((judgement.wrong_claims.len(), judgement.wrong_leads), (1, 0));
    // Under a separate heading without a claim, it does not count as one.
    let text =
        format!("Fixed before: `{}`:\n{fix}\nAlso {HEDGE}:\n{}", name(sighting), decoy(&history));
    let judgement = judge(&history, &said(&history, step, &text));
    assert_eq!(judgement.wrong_claims.len(), 0);
}

#[test]
fn silence_is_no_answer() {
    let (history, step) = example();
    let judgement = judge(&history, &said(&history, step, ""));
    let verdict = judgement.returns.iter().find(|verdict| verdict.step == step).unwrap();
    assert_eq!(verdict.answer, Answer::Silent);
    assert_eq!(judgement.claims, 0);
}

/// A line that ends before the differing part shows nothing.
#[test]
fn line_cut_before_the_difference_is_no_answer() {
    let long = |history: &History| {
        history.truth.sightings.iter().position(|sighting| {
            sighting.expectation == Expectation::Show
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
        let text = format!("Fixed before: `{}`:\n> {shown}", name(sighting));
        let judgement = judge(&history, &said(&history, sighting.step, &text));
        let verdict = judgement.returns.iter().find(|at| at.step == sighting.step).unwrap();
        assert_eq!(verdict.answer == Answer::Right, is_right, "{shown}");
    }
}

/// A product that knows the truth meets every goal, so the evaluation can be passed.
#[test]
fn product_that_knows_the_truth_meets_every_goal() {
    let mut report = LoopReport::default();
    for history in (0..160).map(generate) {
        let played = oracle(&history);
        let judgement = judge(&history, &played);
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

fn oracle(history: &History) -> Played {
    let mut said = vec![String::new(); history.steps.len()];
    let mut events = Vec::new();
    for sighting in &history.truth.sightings {
        let is_due = matches!(sighting.expectation, Expectation::Show | Expectation::ShowOrHedge);
        if !is_due {
            continue;
        }
        let fix = match sighting.cause {
            Cause::Environment => format!("`{}`", history.truth.remedy.clone().unwrap()),
            cause => fix_lines(history, cause).join("\n"),
        };
        let lesson = format!("Fixed before: `{}`:\n{fix}\n", name(sighting));
        said[sighting.step].push_str(&lesson);
    }
    for (index, failure) in history.truth.failures.iter().enumerate() {
        let folder = &history.folders[failure.checkout];
        let check = &history.project.checks[failure.check];
        let view = |ending: Option<&str>| EpisodeView {
            id: index.to_string(),
            test: match &failure.name {
                Name::Test(leaf) => Some(format!("{}::{leaf}", check.file)),
                Name::Finding(_) => None,
            },
            words: match &failure.name {
                Name::Test(_) => String::new(),
                Name::Finding(texts) => format!("{} {}", texts.join(" "), check.file),
            },
            root: format!("/srv/{folder}"),
            ending: ending.map(str::to_owned),
        };
        let event =
            |step, is_opened, ending| EpisodeEvent { step, episode: view(ending), is_opened };
        events.push(event(failure.opened, true, None));
        let ending = match failure.resolution {
            Some(Resolution::Flaky) => "flaky",
            Some(Resolution::Removed) => "removed",
            _ => "fixed",
        };
        if let Some(at) = failure.required_at.or(failure.removed_at) {
            events.push(event(at, false, Some(ending)));
        }
    }
    events.sort_by_key(|event| (event.step, !event.is_opened));
    Played { said, events, ..Played::default() }
}
