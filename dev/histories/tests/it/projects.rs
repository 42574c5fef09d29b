use std::collections::BTreeSet;

use rutter_histories::languages::{self, Extras, Layout};
use rutter_histories::project::{BugKind, CheckKind, Language, Project, Tool};
use rutter_histories::runs::{Conditions, Report, Selection, State, Style, execute};
use rutter_testkit::dice::Dice;

const LANGUAGES: [Language; 5] =
    [Language::Python, Language::Rust, Language::Go, Language::TypeScript, Language::JavaScript];

fn project(language: Language, layout: Layout, seed: u64) -> Project {
    languages::project(language, layout, Extras::default(), &mut Dice::new(seed))
}

fn test_tool(language: Language) -> Tool {
    match language {
        Language::Python => Tool::Pytest,
        Language::Rust => Tool::CargoTest,
        Language::Go => Tool::GoTest,
        Language::TypeScript => Tool::Vitest,
        Language::JavaScript => Tool::Jest,
    }
}

fn run(project: &Project, state: &State, tool: Tool, selection: &Selection) -> Report {
    let style = Style { keep_going: true, ..Style::default() };
    run_with(project, state, tool, selection, style)
}

fn run_with(
    project: &Project,
    state: &State,
    tool: Tool,
    selection: &Selection,
    style: Style,
) -> Report {
    let folder = match (&project.packages[..], project.language) {
        ([one], Language::Go | Language::Python | Language::Rust) => one.folder.clone(),
        _ => String::new(),
    };
    let conditions = Conditions {
        project,
        state,
        root: "/home/ada/project".to_owned(),
        folder,
        flaky: Vec::new(),
        is_remedied: true,
        noise: 7,
    };
    execute(tool, selection, style, &conditions)
}

fn text(report: &Report) -> String {
    let lines: Vec<&str> = report.lines.iter().map(|(_, line)| line.as_str()).collect();
    lines.join("\n") + "\n"
}

fn all() -> impl Iterator<Item = Project> {
    let layouts = [Layout::Single, Layout::Nested, Layout::Monorepo];
    LANGUAGES.into_iter().flat_map(move |language| {
        layouts
            .into_iter()
            .flat_map(move |layout| (0..4).map(move |seed| project(language, layout, seed)))
    })
}

#[test]
fn project_without_bugs_is_green() {
    for project in all() {
        let state = State { tree: project.tree.clone(), ..State::default() };
        let report = run(&project, &state, test_tool(project.language), &Selection::default());
        assert_eq!((report.exit, &report.failed[..]), (0, &[][..]), "{}", text(&report));
        let ran = report.passed.iter().filter(|at| project.checks[**at].kind == CheckKind::Test);
        assert_eq!(ran.count(), project.tests().count());
    }
}

#[test]
fn bugs_fail_their_checks_and_fixes_pass_them() {
    let mut seen = BTreeSet::new();
    for project in all() {
        for bug in &project.bugs {
            seen.insert(bug.kind);
            let forms = bug.forms.iter().chain(&bug.attempts).chain(&bug.halfway);
            for form in forms {
                let mut state = State { tree: project.tree.clone(), ..State::default() };
                form.write(&mut state.tree);
                assert_eq!(bug.form_in(&state.tree), Some(form), "{}", bug.key);
                for (check, _) in &form.failures {
                    let tool = match project.checks[*check].kind {
                        CheckKind::Lint(tool) => tool,
                        _ => test_tool(project.language),
                    };
                    let red = run(&project, &state, tool, &Selection::default());
                    let failed: Vec<usize> = red.failed.iter().map(|at| at.check).collect();
                    // A panic in Go ends the package: later tests do not run.
                    let is_hidden = project.language == Language::Go && !failed.is_empty();
                    assert!(failed.contains(check) || is_hidden, "{}: {}", bug.key, text(&red));
                    assert_ne!(red.exit, 0);
                    let mut fixed = state.clone();
                    bug.good.write(&mut fixed.tree);
                    assert_eq!(fixed.tree, project.tree, "{}", bug.key);
                    let green = run(&project, &fixed, tool, &Selection::default());
                    assert!(green.passed.contains(check) && green.exit == 0, "{}", bug.key);
                }
            }
        }
    }
    assert_eq!(seen.len(), [BugKind::Lint, BugKind::Compile].len() + 4);
}

#[test]
fn narrow_run_prints_only_its_test() {
    for project in all() {
        let state = State { tree: project.tree.clone(), ..State::default() };
        let tool = test_tool(project.language);
        let (test, check) = project.tests().next().unwrap();
        let selection = Selection { tests: vec![test], ..Selection::default() };
        let style = Style { verbose: true, ..Style::default() };
        let report = run_with(&project, &state, tool, &selection, style);
        let tests: Vec<usize> = report
            .passed
            .iter()
            .copied()
            .filter(|at| project.checks[*at].kind == CheckKind::Test)
            .collect();
        assert_eq!(tests, [test], "{}", text(&report));
        for (other, of) in project.tests() {
            let is_other = other != test && !of.name.contains(&check.name);
            assert!(!is_other || !text(&report).contains(&of.name), "{}", text(&report));
        }
    }
}

#[test]
fn line_numbers_follow_the_files() {
    let project = project(Language::Python, Layout::Single, 1);
    let bug = project.bugs.iter().find(|bug| bug.kind == BugKind::Exception).unwrap();
    let mut state = State { tree: project.tree.clone(), ..State::default() };
    bug.forms[0].write(&mut state.tree);
    let place = |state: &State| {
        let report = run(&project, state, Tool::Pytest, &Selection::default());
        let frame = &bug.forms[0].failures[0].1.frames[0];
        let at = state.tree.place(&format!("{}/body", frame.unit)).unwrap();
        let shown = format!("{}:{}: ", at.file, at.line + frame.line);
        assert!(text(&report).contains(&shown), "{shown} in {}", text(&report));
        at.line
    };
    let before = place(&state);
    let region = rutter_histories::source::Region::blank("above", 7);
    state.tree.insert_before(&format!("{}/gap", bug.unit), vec![region]);
    assert_eq!(place(&state), before + 7);
}

/// The output for one bug in each language. The real tools print the same (`examples/real_runners.rs`).
#[test]
fn outputs_as_people_know_them() {
    for (language, tool) in [
        (Language::Python, Tool::Pytest),
        (Language::Rust, Tool::CargoTest),
        (Language::Rust, Tool::Nextest),
        (Language::Go, Tool::GoTest),
        (Language::TypeScript, Tool::Vitest),
        (Language::JavaScript, Tool::Jest),
    ] {
        let project = project(language, Layout::Single, 3);
        let bug = project.bugs.iter().find(|bug| bug.kind == BugKind::Logic).unwrap();
        let mut state = State { tree: project.tree.clone(), ..State::default() };
        bug.forms[0].write(&mut state.tree);
        let report = run_with(&project, &state, tool, &Selection::default(), Style::default());
        insta::assert_snapshot!(format!("{}", tool.name().replace(' ', "_")), text(&report));
    }
    for (language, tool) in [
        (Language::Python, Tool::Ruff),
        (Language::Rust, Tool::CargoCheck),
        (Language::Go, Tool::GoBuild),
        (Language::Go, Tool::GolangciLint),
        (Language::TypeScript, Tool::Tsc),
        (Language::JavaScript, Tool::Eslint),
    ] {
        let project = (0..20)
            .map(|seed| project(language, Layout::Single, seed))
            .find(|project| lint_bug(project, tool).is_some())
            .unwrap();
        let bug = &project.bugs[lint_bug(&project, tool).unwrap()];
        let mut state = State { tree: project.tree.clone(), ..State::default() };
        bug.forms[0].write(&mut state.tree);
        let report = run_with(&project, &state, tool, &Selection::default(), Style::default());
        insta::assert_snapshot!(format!("{}", tool.name().replace(' ', "_")), text(&report));
    }
}

/// Returns a bug that a linter or compiler finds.
fn lint_bug(project: &Project, tool: Tool) -> Option<usize> {
    project.bugs.iter().position(|bug| {
        let kind = project.checks[bug.checks()[0]].kind;
        match tool {
            Tool::CargoCheck | Tool::GoBuild => kind == CheckKind::Build,
            tool => kind == CheckKind::Lint(tool),
        }
    })
}
