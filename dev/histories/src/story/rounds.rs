//! A round of work: a red run, a repair among other changes, a green run; and the return of the failure in a later
//! session.

use super::{StoryBuilder, draw_weighted};
use crate::project::CheckKind;
use crate::runs::CheckoutState;
use crate::truth::{ChangeRole, FailureCause};
use crate::world::ChangeMethod;

/// Rounds after which a repair is given up; far more than any history needs.
const MAX_REPAIR_ROUNDS: usize = 12;

impl StoryBuilder {
    /// Returns the bugs of a list that are in the files.
    pub(super) fn present_bugs(&self, bugs: &[usize]) -> Vec<usize> {
        let tree = &self.world.state().tree;
        bugs.iter().copied().filter(|bug| self.bug(*bug).form_in(tree).is_some()).collect()
    }

    /// Repairs bugs: red runs, attempts, unrelated edits, fixes, and a green run at the end.
    pub(super) fn repair_bugs(&mut self, bugs: &[usize], is_red_seen: bool) {
        let mut is_red_seen = is_red_seen;
        for _ in 0..MAX_REPAIR_ROUNDS {
            let present = self.present_bugs(bugs);
            let Some(first) = present.first().copied() else { break };
            let tool = self.tool_for(first);
            if !is_red_seen {
                self.run_red(tool, "red");
            }
            is_red_seen = false;
            let open: Vec<usize> = present
                .iter()
                .copied()
                .filter(|bug| {
                    self.bug(*bug).checks().iter().any(|check| self.world.is_open(*check))
                })
                .collect();
            let seen = if open.is_empty() { vec![first] } else { open };
            let now: Vec<usize> = if self.chance(45) { seen } else { vec![seen[0]] };
            for bug in now {
                self.repair_one(bug);
            }
            if self.chance(50) {
                self.run_formatter();
            }
            if self.chance(15) {
                self.run_harmless_commands();
            }
        }
        self.close_failures(bugs);
    }

    fn repair_one(&mut self, bug: usize) {
        let tool = self.tool_for(bug);
        let check = self.bug(bug).checks()[0];
        if self.chance(24) {
            self.try_wrong_repair(bug);
        }
        if self.chance(26) {
            self.run_uncovered(tool, check);
        }
        if self.chance(22) {
            self.make_unrelated_edits(1, Some(bug));
        }
        if self.present_bugs(&[bug]).is_empty() {
            return;
        }
        self.fix_bug(bug);
        if self.chance(62) {
            let count = 1 + self.world.dice.below(3);
            self.make_unrelated_edits(count, Some(bug));
        }
    }

    /// Makes green runs until no failure that was shown is open.
    pub(super) fn close_failures(&mut self, bugs: &[usize]) {
        let mut checks: Vec<usize> = Vec::new();
        for bug in bugs {
            let forms = &self.bug(*bug).forms;
            checks.extend(
                forms.iter().flat_map(|form| form.failures.iter().map(|(check, _)| *check)),
            );
        }
        checks.sort_unstable();
        checks.dedup();
        let mut tools = Vec::new();
        for check in &checks {
            let tool = match self.world.project.checks[*check].kind {
                CheckKind::Lint(tool) => tool,
                _ => self.test_tool(),
            };
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        for tool in tools {
            let of_tool: Vec<usize> = checks
                .iter()
                .copied()
                .filter(|check| {
                    let kind = self.world.project.checks[*check].kind;
                    let own = match kind {
                        CheckKind::Lint(linter) => linter,
                        _ => self.test_tool(),
                    };
                    own == tool && self.world.is_open(*check)
                })
                .collect();
            let Some(first) = of_tool.first().copied() else { continue };
            if self.chance(22) {
                self.run_uncovered(tool, first);
            }
            self.run_green(tool, &of_tool);
            // Most agents run everything before they stop.
            if of_tool.iter().any(|check| self.world.is_open(*check)) && self.chance(85) {
                let spec = self.wide_run(tool);
                self.world.run(&spec, "green");
            }
        }
    }

    /// Begins a later session, brings bugs back, and returns them.
    pub(super) fn bring_back(&mut self, bugs: &[usize], learnt_in: &CheckoutState) -> Vec<usize> {
        let count =
            draw_weighted(&mut self.world.dice, &[(1, 62), (2, 28), (3, 10)]).min(bugs.len());
        let mut returning = bugs.to_vec();
        self.world.dice.shuffle(&mut returning);
        returning.truncate(count);
        let pause = 60 * (1 + i64::try_from(self.world.dice.below(24 * 9)).unwrap_or_default());
        if self.chance(14) {
            // Another checkout that never had the fix.
            let checkout = self.world.add_checkout(learnt_in.clone());
            self.world.begin_session(checkout, pause);
            let present = self.present_bugs(bugs);
            for bug in &present {
                self.world.tag_return(FailureCause::Bug(*bug), "return: in another checkout");
            }
            return present;
        }
        let form = self.world.dice.below(2);
        let is_edit = self.chance(50);
        let how = if is_edit { "return: by an edit" } else { "return: from outside" };
        let shift = self.chance(34);
        let moves = !shift && self.chance(16);
        let mut shifted = Vec::new();
        if !is_edit {
            for bug in &returning {
                let broken = self.bug_form(*bug, form);
                let mut state = self.world.state().clone();
                broken.write(&mut state.tree);
                if shift {
                    self.shift_lines(&mut state, *bug);
                    shifted.push(*bug);
                }
                if moves && self.move_function(&mut state, *bug) {
                    self.world.tag_return(FailureCause::Bug(*bug), "return: moved to another file");
                }
                self.world.change_files(
                    &ChangeMethod::Outside,
                    ChangeRole::Break(*bug),
                    "pulled",
                    |now| *now = state,
                );
            }
        }
        self.world.begin_session(0, pause);
        if self.chance(40) {
            self.run_harmless_commands();
        }
        if is_edit {
            for bug in &returning {
                if shift {
                    let mut state = self.world.state().clone();
                    self.shift_lines(&mut state, *bug);
                    if state != *self.world.state() {
                        self.world.change_files(
                            &ChangeMethod::Edit,
                            ChangeRole::Unrelated,
                            "a new function",
                            |now| {
                                *now = state;
                            },
                        );
                        shifted.push(*bug);
                    }
                }
                let broken = self.bug_form(*bug, form);
                self.world.change_files(
                    &ChangeMethod::Edit,
                    ChangeRole::Break(*bug),
                    "a refactoring",
                    |state| {
                        broken.write(&mut state.tree);
                    },
                );
            }
        }
        for bug in &returning {
            let cause = FailureCause::Bug(*bug);
            self.world.tag_return(cause, how);
            if form == 1 && self.bug(*bug).forms.len() > 1 {
                self.world.tag_return(cause, "return: written differently");
            }
            if shifted.contains(bug) {
                self.world.tag_return(cause, "return: on other lines");
            }
            if returning.len() > 1 {
                self.world.tag_return(cause, "return: several at once");
            }
        }
        returning
    }

    /// Brings bugs back once or twice, and repairs them again most of the time.
    pub(super) fn return_bugs(&mut self, bugs: &[usize], learnt_in: &CheckoutState) {
        let rounds = 1 + usize::from(self.chance(35));
        for round in 0..rounds {
            let returning = self.bring_back(bugs, learnt_in);
            let Some(first) = returning.first().copied() else { break };
            let tool = self.tool_for(first);
            let subagent = self.chance(10);
            if subagent {
                self.world.set_agent(true);
            }
            self.run_red(tool, "it is back");
            if subagent {
                self.world.set_agent(false);
            }
            let is_last = round + 1 == rounds;
            if !is_last || self.chance(60) {
                self.repair_bugs(&returning, true);
            }
            self.world.end_session();
        }
    }
}
