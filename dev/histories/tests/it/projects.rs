use std::collections::BTreeSet;

use rutter_histories::languages::{self, ProjectExtras, ProjectLayout};
use rutter_histories::project::{BugKind, CheckKind, CheckTool, Language, VirtualProject};
use rutter_histories::runs::{
    CheckSelection, CheckoutState, RunConditions, RunReport, RunStyle, execute_run,
};
use rutter_testkit::dice::SeededRandom;

const LANGUAGES: [Language; 5] =
    [Language::Python, Language::Rust, Language::Go, Language::TypeScript, Language::JavaScript];

fn project(language: Language, layout: ProjectLayout, seed: u64) -> VirtualProject {
    languages::build_project(
        language,
        layout,
        ProjectExtras::default(),
        &mut SeededRandom::new(seed),
    )
}

fn test_tool(language: Language) -> CheckTool {
    match language {
        Language::Python => CheckTool::Pytest,
        Language::Rust => CheckTool::CargoTest,
        Language::Go => CheckTool::GoTest,
        Language::TypeScript => CheckTool::Vitest,
        Language::JavaScript => CheckTool::Jest,
    }
}

fn run_all(
    project: &VirtualProject,
    state: &CheckoutState,
    tool: CheckTool,
    selection: &CheckSelection,
) -> RunReport {
    let style = RunStyle { keep_going: true, ..RunStyle::default() };
    run_with(project, state, tool, selection, style)
}

fn run_with(
    project: &VirtualProject,
    state: &CheckoutState,
    tool: CheckTool,
    selection: &CheckSelection,
    style: RunStyle,
) -> RunReport {
    let folder = match (&project.packages[..], project.language) {
        ([one], Language::Go | Language::Python | Language::Rust) => one.folder.clone(),
        _ => String::new(),
    };
    let conditions = RunConditions {
        project,
        state,
        root: "/home/ada/project".to_owned(),
        folder,
        flaky: Vec::new(),
        is_remedied: true,
        noise: 7,
    };
    execute_run(tool, selection, style, &conditions)
}

fn report_text(report: &RunReport) -> String {
    let lines: Vec<&str> = report.lines.iter().map(|(_, line)| line.as_str()).collect();
    lines.join("\n") + "\n"
}

fn all_projects() -> impl Iterator<Item = VirtualProject> {
    let layouts = [ProjectLayout::Single, ProjectLayout::Nested, ProjectLayout::Monorepo];
    LANGUAGES.into_iter().flat_map(move |language| {
        layouts
            .into_iter()
            .flat_map(move |layout| (0..4).map(move |seed| project(language, layout, seed)))
    })
}

#[test]
fn project_without_bugs_is_green() {
    for project in all_projects() {
        let state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        let report =
            run_all(&project, &state, test_tool(project.language), &CheckSelection::default());
        assert_eq!((report.exit, &report.failed[..]), (0, &[][..]), "{}", report_text(&report));
        let ran = report.passed.iter().filter(|at| project.checks[**at].kind == CheckKind::Test);
        assert_eq!(ran.count(), project.tests().count());
    }
}

#[test]
fn bugs_fail_and_fixes_pass() {
    let mut seen = BTreeSet::new();
    for project in all_projects() {
        for bug in &project.bugs {
            seen.insert(bug.kind);
            let forms = bug.forms.iter().chain(&bug.attempts).chain(&bug.halfway);
            for form in forms {
                let mut state =
                    CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
                form.write(&mut state.tree);
                assert_eq!(bug.form_in(&state.tree), Some(form), "{}", bug.key);
                for (check, _) in &form.failures {
                    let tool = match project.checks[*check].kind {
                        CheckKind::Lint(tool) => tool,
                        _ => test_tool(project.language),
                    };
                    let red = run_all(&project, &state, tool, &CheckSelection::default());
                    let failed: Vec<usize> = red.failed.iter().map(|at| at.check).collect();
                    // A panic in Go ends the package: later tests do not run.
                    let is_hidden = project.language == Language::Go && !failed.is_empty();
                    assert!(
                        failed.contains(check) || is_hidden,
                        "{}: {}",
                        bug.key,
                        report_text(&red)
                    );
                    assert_ne!(red.exit, 0);
                    let mut fixed = state.clone();
                    bug.good.write(&mut fixed.tree);
                    assert_eq!(fixed.tree, project.tree, "{}", bug.key);
                    let green = run_all(&project, &fixed, tool, &CheckSelection::default());
                    assert!(green.passed.contains(check) && green.exit == 0, "{}", bug.key);
                }
            }
        }
    }
    assert_eq!(seen.len(), [BugKind::Lint, BugKind::Compile].len() + 4);
}

#[test]
fn narrow_run_prints_only_its_test() {
    for project in all_projects() {
        let state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        let tool = test_tool(project.language);
        let (test, check) = project.tests().next().unwrap();
        let selection = CheckSelection { tests: vec![test], ..CheckSelection::default() };
        let style = RunStyle { verbose: true, ..RunStyle::default() };
        let report = run_with(&project, &state, tool, &selection, style);
        let tests: Vec<usize> = report
            .passed
            .iter()
            .copied()
            .filter(|at| project.checks[*at].kind == CheckKind::Test)
            .collect();
        assert_eq!(tests, [test], "{}", report_text(&report));
        for (other, of) in project.tests() {
            let is_other = other != test && !of.name.contains(&check.name);
            assert!(
                !is_other || !report_text(&report).contains(&of.name),
                "{}",
                report_text(&report)
            );
        }
    }
}

#[test]
fn line_numbers_follow_the_files() {
    let project = project(Language::Python, ProjectLayout::Single, 1);
    let bug = project.bugs.iter().find(|bug| bug.kind == BugKind::Exception).unwrap();
    let mut state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
    bug.forms[0].write(&mut state.tree);
    let place = |state: &CheckoutState| {
        let report = run_all(&project, state, CheckTool::Pytest, &CheckSelection::default());
        let frame = &bug.forms[0].failures[0].1.frames[0];
        let at = state.tree.region_location(&format!("{}/body", frame.unit)).unwrap();
        let shown = format!("{}:{}: ", at.file, at.line + frame.line);
        assert!(report_text(&report).contains(&shown), "{shown} in {}", report_text(&report));
        at.line
    };
    let before = place(&state);
    let region = rutter_histories::source::Region::blank("above", 7);
    state.tree.insert_before(&format!("{}/gap", bug.unit), vec![region]);
    assert_eq!(place(&state), before + 7);
}

/// The output for one bug in each language. The real tools print the same (`examples/real_runners.rs`).
#[test]
fn tool_outputs_match_snapshots() {
    for (language, tool) in [
        (Language::Python, CheckTool::Pytest),
        (Language::Rust, CheckTool::CargoTest),
        (Language::Rust, CheckTool::Nextest),
        (Language::Go, CheckTool::GoTest),
        (Language::TypeScript, CheckTool::Vitest),
        (Language::JavaScript, CheckTool::Jest),
    ] {
        let project = project(language, ProjectLayout::Single, 3);
        let bug = project.bugs.iter().find(|bug| bug.kind == BugKind::Logic).unwrap();
        let mut state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        bug.forms[0].write(&mut state.tree);
        let report =
            run_with(&project, &state, tool, &CheckSelection::default(), RunStyle::default());
        insta::assert_snapshot!(format!("{}", tool.name().replace(' ', "_")), report_text(&report));
    }
    for (language, tool) in [
        (Language::Python, CheckTool::Ruff),
        (Language::Rust, CheckTool::CargoCheck),
        (Language::Go, CheckTool::GoBuild),
        (Language::Go, CheckTool::GolangciLint),
        (Language::TypeScript, CheckTool::Tsc),
        (Language::JavaScript, CheckTool::Eslint),
    ] {
        let project = (0..20)
            .map(|seed| project(language, ProjectLayout::Single, seed))
            .find(|project| lint_bug(project, tool).is_some())
            .unwrap();
        let bug = &project.bugs[lint_bug(&project, tool).unwrap()];
        let mut state = CheckoutState { tree: project.tree.clone(), ..CheckoutState::default() };
        bug.forms[0].write(&mut state.tree);
        let report =
            run_with(&project, &state, tool, &CheckSelection::default(), RunStyle::default());
        insta::assert_snapshot!(format!("{}", tool.name().replace(' ', "_")), report_text(&report));
    }
}

/// Returns a bug that a linter or compiler finds.
fn lint_bug(project: &VirtualProject, tool: CheckTool) -> Option<usize> {
    project.bugs.iter().position(|bug| {
        let kind = project.checks[bug.checks()[0]].kind;
        match tool {
            CheckTool::CargoCheck | CheckTool::GoBuild => kind == CheckKind::Build,
            tool => kind == CheckKind::Lint(tool),
        }
    })
}
