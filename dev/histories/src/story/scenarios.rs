//! The scenarios.

use super::{StoryBuilder, draw_weighted};
use crate::project::{BugKind, CheckKind, Language};
use crate::runs::{CheckoutState, TestStatus};
use crate::source::lines_of;
use crate::truth::{ChangeRole, FailureCause};
use crate::world::ChangeMethod;

impl StoryBuilder {
    /// Bugs that existed when the first session began are repaired, and recur.
    pub(super) fn play_plain(&mut self) {
        let count =
            draw_weighted(&mut self.world.dice, &[(1, 34), (2, 30), (3, 18), (4, 11), (5, 7)]);
        let bugs = self.draw_bugs(count, super::StoryBuilder::is_ordinary);
        self.play_sessions(&bugs);
    }

    /// A linter, type checker or compiler reports an error.
    pub(super) fn play_lint(&mut self) {
        let bugs = self.draw_bugs(1, |story, bug| {
            matches!(story.bug(bug).kind, BugKind::Lint | BugKind::Compile)
        });
        if bugs.is_empty() {
            self.play_plain();
            return;
        }
        self.play_sessions(&bugs);
    }

    /// Plays a first session with bugs in the files, and later sessions in which they recur.
    fn play_sessions(&mut self, bugs: &[usize]) {
        let form = self.world.dice.below(2);
        let forms: Vec<_> = bugs.iter().map(|bug| self.bug_form(*bug, form)).collect();
        if self.chance(12) {
            self.add_unformatted_line();
        }
        self.world.prepare(|state| {
            for form in &forms {
                form.write(&mut state.tree);
            }
        });
        let broken = self.world.state().clone();
        self.world.begin_session(0, 0);
        self.run_harmless_commands();
        let tool = self.tool_for(bugs[0]);
        self.run_red(tool, "red");
        self.repair_bugs(bugs, true);
        if self.chance(30) {
            self.world.commit("Repair the suite");
        }
        self.world.end_session();
        self.return_bugs(bugs, &broken);
    }

    /// The command has to change, but no file.
    pub(super) fn play_environment(&mut self) {
        self.world.begin_session(0, 0);
        self.run_harmless_commands();
        let tool = self.test_tool();
        let checks: Vec<usize> = self.need_checks();
        self.run_red(tool, "red without the environment");
        if self.chance(40) {
            // An attempt that does not help is reverted.
            self.make_unrelated_edits(1, None);
        }
        if self.chance(30) {
            self.run_red(tool, "still red");
        }
        self.run_remedied(tool, &checks);
        self.world.end_session();
        for _ in 0..=self.world.dice.below(2) {
            let pause = 60 * (1 + i64::try_from(self.world.dice.below(200)).unwrap_or_default());
            self.world.begin_session(0, pause);
            self.run_harmless_commands();
            self.run_red(tool, "red without the environment again");
            if self.chance(60) {
                self.run_remedied(tool, &checks);
            }
            self.world.end_session();
        }
    }

    fn need_checks(&self) -> Vec<usize> {
        let need = self.world.project.need.as_ref();
        need.map(|need| need.failures.iter().map(|(check, _)| *check).collect()).unwrap_or_default()
    }

    /// Repeats the run with the required environment.
    fn run_remedied(&mut self, tool: crate::project::CheckTool, checks: &[usize]) {
        let mut spec = self.wide_run(tool);
        spec.is_remedied = true;
        let result = self.world.preview(&spec);
        debug_assert!(checks.iter().all(|check| result.report.passed.contains(check)));
        self.world.run(&spec, "green with the environment");
    }

    /// A test fails at random.
    pub(super) fn play_flaky(&mut self) {
        let (check, _) = self.world.project.flaky[0].clone();
        let tool = self.test_tool();
        let bugs = if self.chance(50) {
            self.draw_bugs(1, |story, bug| story.bug(bug).kind == BugKind::Logic)
        } else {
            Vec::new()
        };
        let forms: Vec<_> = bugs.iter().map(|bug| self.bug_form(*bug, 0)).collect();
        self.world.prepare(|state| {
            for form in &forms {
                form.write(&mut state.tree);
            }
        });
        self.world.begin_session(0, 0);
        self.run_harmless_commands();
        let mut spec = self.wide_run(tool);
        spec.flaky = vec![check];
        self.world.run(&spec, "red by chance");
        if bugs.is_empty() {
            if self.chance(40) {
                self.make_unrelated_edits(1, None);
            }
            self.run_green(tool, &[check]);
        } else {
            self.repair_bugs(&bugs, true);
        }
        self.world.end_session();
        self.world.begin_session(0, 60 * 30);
        self.world.tag_return(FailureCause::Chance, "return: by chance");
        let mut spec = self.draw_wide(tool);
        spec.flaky = vec![check];
        self.world.run(&spec, "red by chance again");
        self.run_green(tool, &[check]);
        self.world.end_session();
    }

    /// A failing test is removed, renamed or skipped.
    pub(super) fn play_removed(&mut self) {
        let bugs = self.draw_bugs(2, |story, bug| {
            matches!(story.bug(bug).kind, BugKind::Logic | BugKind::Exception)
                && story.bug(bug).forms[0].failures.len() == 1
                && story.world.project.checks[story.bug(bug).checks()[0]].kind == CheckKind::Test
        });
        let Some(bug) = bugs.first().copied() else { return self.play_plain() };
        let check = self.bug(bug).checks()[0];
        let form = self.bug_form(bug, 0);
        self.world.prepare(|state| form.write(&mut state.tree));
        self.world.begin_session(0, 0);
        let tool = self.test_tool();
        self.run_red(tool, "red");
        if self.chance(40) {
            self.make_unrelated_edits(1, Some(bug));
        }
        let original = self.world.state().clone();
        let status = self.take_test_away(check);
        if self.chance(40) {
            self.make_unrelated_edits(1, None);
        }
        let renamed = matches!(status, TestStatus::Renamed(_));
        let spec = self.wide_run(tool);
        self.world.run(&spec, "after the test was changed");
        if renamed && self.chance(70) {
            self.repair_bugs(&[bug], true);
        }
        self.world.end_session();
        let pause = 60 * 24;
        if !renamed {
            // The test is restored and fails: it was never fixed.
            let region = self.world.project.checks[check].region.clone();
            let lines = original.tree.region(&region).unwrap_or_default().to_vec();
            self.world.change_files(
                &ChangeMethod::Outside,
                ChangeRole::Unrelated,
                "pulled",
                |state| {
                    state.tests.remove(&check);
                    state.tree.set_region(&region, &lines);
                },
            );
        }
        self.world.begin_session(0, pause);
        if renamed && self.present_bugs(&[bug]).is_empty() {
            self.break_by_refactoring(bug);
            self.world.tag_return(FailureCause::Bug(bug), "return: of a renamed test");
        }
        self.run_red(tool, "red again");
        self.repair_bugs(&[bug], true);
        self.world.end_session();
    }

    /// Writes a bug into the files as a part of a refactoring.
    fn break_by_refactoring(&mut self, bug: usize) {
        let form = self.bug_form(bug, 0);
        self.world.change_files(
            &ChangeMethod::Edit,
            ChangeRole::Break(bug),
            "a refactoring",
            |state| form.write(&mut state.tree),
        );
    }

    /// Removes, renames or skips a test in its file.
    fn take_test_away(&mut self, check: usize) -> TestStatus {
        let of = self.world.project.checks[check].clone();
        let region = of.region.clone();
        let lines = self.world.state().tree.region(&region).unwrap_or_default().to_vec();
        let indent: String = lines[0].chars().take_while(|letter| letter.is_whitespace()).collect();
        let language = self.world.project.language;
        let status = match self.world.dice.below(3) {
            0 => TestStatus::Removed,
            1 => TestStatus::Skipped("flaky on CI".to_owned()),
            _ => TestStatus::Renamed(match language {
                Language::Go if of.group.is_none() => format!("{}Again", of.name),
                Language::TypeScript | Language::JavaScript => format!("{} again", of.name),
                _ => format!("{}_again", of.name),
            }),
        };
        let text: Vec<String> = match &status {
            TestStatus::Removed => Vec::new(),
            TestStatus::Renamed(name) => {
                lines.iter().map(|line| line.replacen(&of.name, name, 1)).collect()
            }
            TestStatus::Skipped(reason) => {
                let mut lines = lines.clone();
                match language {
                    Language::Python => {
                        lines.insert(0, format!("{indent}@pytest.mark.skip(reason=\"{reason}\")"));
                    }
                    Language::Rust => {
                        lines.insert(1, format!("{indent}#[ignore = \"{reason}\"]"));
                    }
                    Language::Go => lines.insert(1, format!("{indent}\tt.Skip(\"{reason}\")")),
                    Language::TypeScript | Language::JavaScript => {
                        lines[0] = lines[0].replacen("it(", "it.skip(", 1);
                    }
                }
                lines
            }
        };
        let imports = region.rsplit_once('/').map(|(start, _)| format!("{start}/imports"));
        let needs_import = language == Language::Python
            && matches!(status, TestStatus::Skipped(_))
            && imports.as_ref().is_some_and(|key| {
                let lines = self.world.state().tree.region(key).unwrap_or_default();
                !lines.iter().any(|line| line == "import pytest")
            });
        let shown = status.clone();
        self.world.change_files(
            &ChangeMethod::Edit,
            ChangeRole::Unrelated,
            "the test taken away",
            |state| {
                state.tests.insert(check, shown);
                state.tree.set_region(&region, &text);
                if let Some(key) = imports.filter(|_| needs_import) {
                    let mut lines = lines_of("import pytest\n");
                    lines.extend(state.tree.region(&key).unwrap_or_default().to_vec());
                    state.tree.set_region(&key, &lines);
                }
            },
        );
        self.world.record_removal(check, &status);
        status
    }

    /// A test of the same name fails in another package, for another reason.
    pub(super) fn play_other_package(&mut self) {
        let Some((first, second)) = self.find_twin_bugs() else { return self.play_plain() };
        self.world.tag("the same test name in another package");
        let form = self.bug_form(first, 0);
        self.world.prepare(|state| form.write(&mut state.tree));
        self.world.begin_session(0, 0);
        self.run_harmless_commands();
        let both = self.chance(40);
        if both {
            // Both fail at the same time: two tests, not one.
            self.break_by_refactoring(second);
            self.repair_bugs(&[first, second], false);
            self.world.end_session();
            let state = self.with_bugs(&[first, second]);
            self.return_bugs(&[first, second], &state);
            return;
        }
        self.repair_bugs(&[first], false);
        self.world.end_session();
        self.world.begin_session(0, 60 * 48);
        self.break_by_refactoring(second);
        self.repair_bugs(&[second], false);
        self.world.end_session();
    }

    /// Returns the files with bugs in them, like a checkout made before the repair.
    fn with_bugs(&self, bugs: &[usize]) -> CheckoutState {
        let mut state = self.world.state().clone();
        for bug in bugs {
            self.bug_form(*bug, 0).write(&mut state.tree);
        }
        state
    }

    /// Finds bugs of two packages that fail a test of the same name in different ways.
    fn find_twin_bugs(&mut self) -> Option<(usize, usize)> {
        let project = &self.world.project;
        let mut pairs = Vec::new();
        for (one, first) in project.bugs.iter().enumerate() {
            for (other, second) in project.bugs.iter().enumerate() {
                let names = |bug: &crate::project::Bug| -> Vec<String> {
                    bug.checks().iter().map(|check| project.checks[*check].name.clone()).collect()
                };
                let is_test = |bug: &crate::project::Bug| {
                    bug.checks().iter().all(|check| project.checks[*check].kind == CheckKind::Test)
                };
                let differ = first.good.regions[0].1 != second.forms[0].regions[0].1
                    && first.key != second.key;
                if first.package == 0
                    && second.package == 1
                    && differ
                    && is_test(first)
                    && is_test(second)
                    && names(first).iter().any(|name| names(second).contains(name))
                {
                    pairs.push((one, other));
                }
            }
        }
        if pairs.is_empty() { None } else { Some(*self.world.dice.pick(&pairs)) }
    }

    /// The same test fails again for another reason.
    pub(super) fn play_other_failure(&mut self) {
        let pairs = {
            let project = &self.world.project;
            let mut pairs = Vec::new();
            for (one, first) in project.bugs.iter().enumerate() {
                for (other, second) in project.bugs.iter().enumerate() {
                    let shares = first.checks().iter().any(|check| {
                        second.checks().contains(check)
                            && project.checks[*check].kind == CheckKind::Test
                    });
                    let kinds = [first.kind, second.kind];
                    let is_plain = kinds
                        .iter()
                        .all(|kind| matches!(kind, BugKind::Logic | BugKind::Exception));
                    if one != other && shares && is_plain && kinds[0] != kinds[1] {
                        pairs.push((one, other));
                    }
                }
            }
            pairs
        };
        if pairs.is_empty() {
            return self.play_plain();
        }
        let (first, second) = *self.world.dice.pick(&pairs);
        self.world.tag("the same test fails in another way");
        let form = self.bug_form(first, 0);
        self.world.prepare(|state| form.write(&mut state.tree));
        self.world.begin_session(0, 0);
        self.repair_bugs(&[first], false);
        self.world.end_session();
        self.world.begin_session(0, 60 * 24 * 3);
        self.break_by_refactoring(second);
        self.world.tag_return(FailureCause::Bug(second), "return: the same test in another way");
        self.repair_bugs(&[second], false);
        self.world.end_session();
        let state = self.with_bugs(&[second]);
        self.return_bugs(&[second], &state);
    }

    /// A change that broke a test is reverted with git.
    pub(super) fn play_git(&mut self) {
        let bugs = self.draw_bugs(1, |story, bug| {
            story.is_ordinary(bug) && story.bug(bug).kind != BugKind::Import
        });
        let Some(bug) = bugs.first().copied() else { return self.play_plain() };
        let tool = self.tool_for(bug);
        self.world.begin_session(0, 0);
        self.run_harmless_commands();
        self.break_by_refactoring(bug);
        let way = self.world.dice.below(3);
        if way == 2 {
            self.world.commit("Tidy up");
        }
        self.run_red(tool, "red");
        if self.chance(30) {
            let check = self.bug(bug).checks()[0];
            self.run_uncovered(tool, check);
        }
        self.revert_with_git(bug, way);
        if self.chance(30) {
            self.make_unrelated_edits(1, None);
        }
        self.close_failures(&[bug]);
        self.world.end_session();
        let state = self.with_bugs(&[bug]);
        self.return_bugs(&[bug], &state);
    }

    fn revert_with_git(&mut self, bug: usize, way: usize) {
        let key = self.bug(bug).good.regions[0].0.clone();
        let file = self
            .world
            .state()
            .tree
            .region_location(&key)
            .map(|place| place.file)
            .unwrap_or_default();
        let words =
            |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let folder = self.world.shell_folder().to_owned();
        let typed = match file.strip_prefix(&format!("{folder}/")).filter(|_| !folder.is_empty()) {
            Some(inside) => inside.to_owned(),
            None if folder.is_empty() => file.clone(),
            None => format!("{}/{file}", self.world.root()),
        };
        match way {
            0 => {
                let committed = self.world.committed_state(0).clone();
                let hand = ChangeMethod::Command {
                    line: format!("git checkout -- {typed}"),
                    output: String::new(),
                    git: vec![words(&["checkout", "-q", "--", &file])],
                };
                self.world.change_files(
                    &hand,
                    ChangeRole::Fix(bug),
                    "git checkout FILE",
                    |state| {
                        if let Some(text) = committed.tree.files.get(&file) {
                            state.tree.files.insert(file.clone(), text.clone());
                        }
                    },
                );
            }
            1 => {
                let committed = self.world.committed_state(0).clone();
                let hand = ChangeMethod::Command {
                    line: "git stash".to_owned(),
                    output:
                        "Saved working directory and index state WIP on main: 1f2e3d4 First version"
                            .to_owned(),
                    git: vec![words(&["stash", "-q"])],
                };
                self.world.change_files(&hand, ChangeRole::Fix(bug), "git stash", |state| {
                    *state = committed;
                });
            }
            _ => {
                let before = self.world.committed_state(1).clone();
                let hand = ChangeMethod::Command {
                    line: "git revert HEAD --no-edit".to_owned(),
                    output: "[main 9a8b7c6] Revert \"Tidy up\"\n 1 file changed, 1 insertion(+), 1 deletion(-)".to_owned(),
                    git: vec![words(&["revert", "--no-edit", "HEAD"])],
                };
                self.world.change_files(&hand, ChangeRole::Fix(bug), "git revert", |state| {
                    *state = before;
                });
                self.world.note_revert();
            }
        }
    }
}
