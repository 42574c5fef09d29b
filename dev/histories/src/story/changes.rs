//! Changes: fixes, wrong attempts and unrelated edits.

use super::StoryBuilder;
use crate::diff;
use crate::project::{BugForm, BugKind, Language, UnrelatedChangeKind};
use crate::source::Region;
use crate::truth::ChangeRole;
use crate::world::ChangeMethod;

/// A way to fix a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixMethod {
    Edit,
    Write,
    Mixed,
    Sed,
    Heredoc,
    Script,
    Patch,
}

/// Methods with their weights.
const METHODS: [(FixMethod, usize); 7] = [
    (FixMethod::Edit, 57),
    (FixMethod::Write, 6),
    (FixMethod::Mixed, 7),
    (FixMethod::Sed, 10),
    (FixMethod::Heredoc, 7),
    (FixMethod::Script, 8),
    (FixMethod::Patch, 5),
];

impl StoryBuilder {
    /// Returns a form of a bug.
    pub(super) fn bug_form(&self, bug: usize, form: usize) -> BugForm {
        let forms = &self.world.project.bugs[bug].forms;
        forms[form % forms.len()].clone()
    }

    /// Fixes a bug.
    pub(super) fn fix_bug(&mut self, bug: usize) {
        let good = self.world.project.bugs[bug].good.clone();
        if !self.world.project.bugs[bug].halfway.is_empty() {
            self.fix_in_two(bug, &good);
            return;
        }
        let is_ruff = self.world.project.bugs[bug].kind == BugKind::Lint
            && self.world.project.language == Language::Python;
        let is_below = self.one_file(&good).is_some_and(|(file, ..)| {
            let folder = self.world.shell_folder();
            folder.is_empty() || file.starts_with(&format!("{folder}/"))
        });
        if is_ruff && is_below && self.chance(40) {
            self.fix_with_ruff(bug, &good);
            return;
        }
        let drawn = super::draw_weighted(&mut self.world.dice, &METHODS);
        let is_done = match drawn {
            FixMethod::Edit => false,
            FixMethod::Write => {
                self.world.change_files(
                    &ChangeMethod::Write,
                    ChangeRole::Fix(bug),
                    "the whole file written",
                    |state| {
                        good.write(&mut state.tree);
                    },
                );
                true
            }
            FixMethod::Mixed => self.fix_mixed(bug, &good),
            FixMethod::Sed => self.fix_by_sed(bug, &good),
            FixMethod::Heredoc => self.fix_by_heredoc(bug, &good),
            FixMethod::Script => self.fix_by_script(bug, &good),
            FixMethod::Patch => self.fix_by_patch(bug, &good),
        };
        if !is_done {
            self.world.change_files(
                &ChangeMethod::Edit,
                ChangeRole::Fix(bug),
                "an edit",
                |state| {
                    good.write(&mut state.tree);
                },
            );
        }
    }

    /// Fixes the signature and the body in two edits.
    fn fix_in_two(&mut self, bug: usize, good: &BugForm) {
        let mut regions = good.regions.clone();
        regions.retain(|(key, lines)| self.world.state().tree.region(key) != Some(lines));
        for (key, lines) in regions {
            self.world.change_files(
                &ChangeMethod::Edit,
                ChangeRole::Fix(bug),
                "an edit",
                |state| {
                    state.tree.set_region(&key, &lines);
                },
            );
            if self.chance(30) {
                self.make_unrelated_edits(1, Some(bug));
            }
        }
    }

    /// Fixes a bug and rewrites the documentation of the function in the same edit.
    fn fix_mixed(&mut self, bug: usize, good: &BugForm) -> bool {
        let doc = format!("{}/doc", self.world.project.bugs[bug].unit);
        let filler = self.world.project.fillers.iter().find(|filler| filler.region == doc);
        let Some(filler) = filler.cloned() else { return false };
        let now = self.world.state().tree.region(&doc).unwrap_or_default().to_vec();
        let other = filler.texts.iter().find(|text| **text != now).cloned().unwrap_or_default();
        let before = self.world.state().clone();
        let mut with_doc = before.clone();
        with_doc.tree.set_region(&doc, &other);
        self.world.change_files(
            &ChangeMethod::Edit,
            ChangeRole::Fix(bug),
            "an edit that also rewrites the docs",
            |state| {
                state.tree.set_region(&doc, &other);
                good.write(&mut state.tree);
            },
        );
        self.world.note_companion(bug, &before, &with_doc);
        true
    }

    /// Returns the only file that a form changes, with its text before and after.
    fn one_file(&self, good: &BugForm) -> Option<(String, String, String)> {
        let before = self.world.state().clone();
        let mut after = before.clone();
        good.write(&mut after.tree);
        let files = before.tree.changed_files(&after.tree);
        let [file] = &files[..] else { return None };
        let (old, new) = (before.tree.text(file)?, after.tree.text(file)?);
        Some((file.clone(), old, new))
    }

    /// Returns a path of the checkout relative to the shell's folder.
    fn typed_path(&self, file: &str) -> String {
        let folder = self.world.shell_folder();
        if folder.is_empty() {
            return file.to_owned();
        }
        match file.strip_prefix(&format!("{folder}/")) {
            Some(inside) => inside.to_owned(),
            None => format!("{}/{file}", self.world.root()),
        }
    }

    fn fix_by_sed(&mut self, bug: usize, good: &BugForm) -> bool {
        let Some((file, old, new)) = self.one_file(good) else { return false };
        let Some(line) = sed_command(&old, &new, &self.typed_path(&file)) else { return false };
        let hand = ChangeMethod::Command { line, output: String::new(), git: Vec::new() };
        self.world.change_files(&hand, ChangeRole::Fix(bug), "sed -i", |state| {
            good.write(&mut state.tree);
        });
        true
    }

    fn fix_by_heredoc(&mut self, bug: usize, good: &BugForm) -> bool {
        let Some((file, _, new)) = self.one_file(good) else { return false };
        let line = format!("cat > {} <<'EOF'\n{new}EOF", self.typed_path(&file));
        let hand = ChangeMethod::Command { line, output: String::new(), git: Vec::new() };
        self.world.change_files(&hand, ChangeRole::Fix(bug), "cat > file <<'EOF'", |state| {
            good.write(&mut state.tree);
        });
        true
    }

    fn fix_by_script(&mut self, bug: usize, good: &BugForm) -> bool {
        let Some((file, old, new)) = self.one_file(good) else { return false };
        let removed: Vec<String> = signed_lines(&old, &new, '-');
        let added: Vec<String> = signed_lines(&old, &new, '+');
        let hunks = diff::diff_hunks(&old, &new);
        if hunks.len() != 1 || removed.is_empty() || !is_contiguous(&hunks[0].lines) {
            return false;
        }
        let (from, to) = (removed.join("\n"), added.join("\n"));
        if from.contains("'''")
            || old.matches(&from).count() != 1
            || from.contains('\\')
            || to.contains('\\')
        {
            return false;
        }
        let path = self.typed_path(&file);
        let line = format!(
            "python3 - <<'EOF'\nfrom pathlib import Path\n\npath = Path(\"{path}\")\ntext = path.read_text()\ntext = text.replace('''{from}''', '''{to}''')\npath.write_text(text)\nEOF"
        );
        let hand = ChangeMethod::Command { line, output: String::new(), git: Vec::new() };
        self.world.change_files(&hand, ChangeRole::Fix(bug), "python3 - <<'EOF'", |state| {
            good.write(&mut state.tree);
        });
        true
    }

    fn fix_by_patch(&mut self, bug: usize, good: &BugForm) -> bool {
        if !self.world.shell_folder().is_empty() {
            return false;
        }
        let Some((file, old, new)) = self.one_file(good) else { return false };
        let patch = diff::unified_patch(&file, &old, &new);
        let text = patch.trim_end_matches('\n').to_owned();
        self.world.change_files(
            &ChangeMethod::Write,
            ChangeRole::Companion(bug),
            "a patch file",
            |state| {
                state.tree.put_file("fix.patch", vec![Region::new("fix.patch", &text)]);
            },
        );
        let line = "git apply fix.patch".to_owned();
        let git = vec![vec!["apply".to_owned(), "fix.patch".to_owned()]];
        let hand = ChangeMethod::Command { line, output: String::new(), git };
        self.world.change_files(&hand, ChangeRole::Fix(bug), "git apply", |state| {
            good.write(&mut state.tree);
        });
        if self.chance(50) {
            let hand = ChangeMethod::Command {
                line: "rm fix.patch".to_owned(),
                output: String::new(),
                git: Vec::new(),
            };
            self.world.change_files(
                &hand,
                ChangeRole::Companion(bug),
                "the patch file removed",
                |state| {
                    state.tree.files.remove("fix.patch");
                },
            );
        }
        true
    }

    /// Runs `ruff check --fix`, which removes the import and the empty line that it leaves, and checks everything.
    fn fix_with_ruff(&mut self, bug: usize, good: &BugForm) {
        let hand = ChangeMethod::Command {
            line: "ruff check --fix".to_owned(),
            output: "Found 2 errors (2 fixed, 0 remaining).".to_owned(),
            git: Vec::new(),
        };
        self.world.change_files(&hand, ChangeRole::Fix(bug), "ruff check --fix", |state| {
            good.write(&mut state.tree);
        });
        let checks = self.world.project.bugs[bug].checks();
        self.world.note_pass(&checks);
    }

    /// Tries a wrong repair, and sometimes undoes it.
    pub(super) fn try_wrong_repair(&mut self, bug: usize) {
        let attempts = self.world.project.bugs[bug].attempts.clone();
        let before = self.world.state().clone();
        let in_place = !attempts.is_empty() && self.chance(70);
        if in_place {
            let form = self.world.dice.pick(&attempts).clone();
            self.world.change_files(
                &ChangeMethod::Edit,
                ChangeRole::Attempt(bug),
                "a wrong attempt",
                |state| {
                    form.write(&mut state.tree);
                },
            );
        } else {
            // Elsewhere: it neither helps nor hurts.
            self.change_filler(
                ChangeRole::Attempt(bug),
                Some(bug),
                &[UnrelatedChangeKind::Function],
                "a wrong attempt",
            );
        }
        let tool = self.tool_for(bug);
        let check = self.world.project.bugs[bug].checks()[0];
        if self.chance(70) {
            if self.chance(50) {
                self.red_narrow(tool, check);
            } else {
                self.run_red(tool, "still red");
            }
        }
        if self.chance(60) {
            let files = before.tree.changed_files(&self.world.state().tree);
            if files.len() == 1 {
                self.world.change_files(
                    &ChangeMethod::Edit,
                    ChangeRole::Undo(bug),
                    "taken back",
                    |state| {
                        state.tree = before.tree;
                    },
                );
            }
        }
    }

    /// Makes unrelated edits, some near a bug.
    pub(super) fn make_unrelated_edits(&mut self, count: usize, near: Option<usize>) {
        for _ in 0..count {
            let is_near = self.chance(55);
            let kinds: &[UnrelatedChangeKind] = if is_near {
                &[
                    UnrelatedChangeKind::Docstring,
                    UnrelatedChangeKind::Comment,
                    UnrelatedChangeKind::Version,
                    UnrelatedChangeKind::Imports,
                    UnrelatedChangeKind::Function,
                ]
            } else {
                &[
                    UnrelatedChangeKind::Document,
                    UnrelatedChangeKind::Document,
                    UnrelatedChangeKind::Function,
                    UnrelatedChangeKind::Version,
                    UnrelatedChangeKind::Docstring,
                ]
            };
            let near = near.filter(|_| is_near);
            self.change_filler(ChangeRole::Unrelated, near, kinds, "");
        }
        if self.chance(8) {
            let command = match self.world.project.language {
                Language::Python => "pip install -e .",
                Language::Rust => "cargo update",
                Language::Go => "go mod tidy",
                Language::TypeScript | Language::JavaScript => "npm install",
            };
            let hand = ChangeMethod::Command {
                line: command.to_owned(),
                output: String::new(),
                git: Vec::new(),
            };
            self.world.change_files(&hand, ChangeRole::Unrelated, command, |_| {});
        }
    }

    /// Changes one of the project's unrelated regions, in the file of a bug if one is given.
    fn change_filler(
        &mut self,
        role: ChangeRole,
        near: Option<usize>,
        kinds: &[UnrelatedChangeKind],
        kind: &str,
    ) {
        let tree = self.world.state().tree.clone();
        let file = near.and_then(|bug| {
            let key = &self.world.project.bugs[bug].good.regions[0].0;
            tree.region_location(key).map(|place| place.file)
        });
        let fits = |filler: &&crate::project::UnrelatedChange| {
            let place = tree.region_location(&filler.region);
            let is_there = place
                .as_ref()
                .is_some_and(|place| file.as_ref().is_none_or(|file| place.file == *file));
            is_there && kinds.contains(&filler.kind)
        };
        let fillers: Vec<crate::project::UnrelatedChange> =
            self.world.project.fillers.iter().filter(fits).cloned().collect();
        if fillers.is_empty() {
            return;
        }
        let filler = self.world.dice.pick(&fillers).clone();
        let now = tree.region(&filler.region).unwrap_or_default().to_vec();
        let others: Vec<Vec<String>> =
            filler.texts.iter().filter(|text| **text != now).cloned().collect();
        let text = self.world.dice.pick(&others).clone();
        let kind = if kind.is_empty() { filler.kind.name() } else { kind };
        let hand = if filler.kind == UnrelatedChangeKind::Version && self.chance(25) {
            let mut after = self.world.state().clone();
            after.tree.set_region(&filler.region, &text);
            let path =
                tree.region_location(&filler.region).map(|place| place.file).unwrap_or_default();
            let (old, new) =
                (tree.text(&path).unwrap_or_default(), after.tree.text(&path).unwrap_or_default());
            match sed_command(&old, &new, &self.typed_path(&path)) {
                Some(line) => {
                    ChangeMethod::Command { line, output: String::new(), git: Vec::new() }
                }
                None => ChangeMethod::Edit,
            }
        } else if self.chance(6) {
            ChangeMethod::Write
        } else {
            ChangeMethod::Edit
        };
        self.world
            .change_files(&hand, role, kind, |state| state.tree.set_region(&filler.region, &text));
    }

    /// Formats a line badly before the history begins.
    pub(super) fn add_unformatted_line(&mut self) {
        let fillers: Vec<crate::project::UnrelatedChange> = self
            .world
            .project
            .fillers
            .iter()
            .filter(|filler| {
                filler.kind == UnrelatedChangeKind::Version
                    && filler.region.ends_with("/version")
                    && !filler.region.contains("json")
                    && !filler.region.contains("cargo")
                    && !filler.region.contains("pyproject")
            })
            .cloned()
            .collect();
        if fillers.is_empty() {
            return;
        }
        let filler = self.world.dice.pick(&fillers).clone();
        let good = filler.texts[0].clone();
        let bad: Vec<String> =
            good.iter().map(|line| line.replace(" = ", "=").replace(": u32", ":u32")).collect();
        let region = filler.region.clone();
        self.world.prepare(|state| state.tree.set_region(&region, &bad));
        self.unformatted = Some((region, good));
    }

    /// Runs the formatter, which repairs that line.
    pub(super) fn run_formatter(&mut self) {
        let Some((region, good)) = self.unformatted.take() else { return };
        let (line, output) = match self.world.project.language {
            Language::Python => ("ruff format .", "1 file reformatted, 9 files left unchanged"),
            Language::Rust => ("cargo fmt", ""),
            Language::Go => ("gofmt -w .", ""),
            Language::TypeScript | Language::JavaScript => {
                ("npx prettier --write src", "src/pricing.ts 21ms (unchanged)")
            }
        };
        let hand = ChangeMethod::Command {
            line: line.to_owned(),
            output: output.to_owned(),
            git: Vec::new(),
        };
        self.world.change_files(&hand, ChangeRole::Unrelated, "a formatter", |state| {
            state.tree.set_region(&region, &good);
        });
    }

    /// Runs commands that neither test nor change anything.
    pub(super) fn run_harmless_commands(&mut self) {
        for _ in 0..self.world.dice.below(3) {
            match self.world.dice.below(4) {
                0 => {
                    let changed =
                        self.world.committed_state(0).tree.changed_files(&self.world.state().tree);
                    let lines: Vec<String> =
                        changed.iter().map(|file| format!(" M {file}")).collect();
                    self.world.run_harmless_command("git status --short", &lines.join("\n"));
                }
                1 => self.world.run_harmless_command(
                    "git log --oneline -3",
                    "1f2e3d4 Tidy up\n5a6b7c8 First version",
                ),
                2 => {
                    let files: Vec<String> =
                        self.world.state().tree.files.keys().cloned().collect();
                    let file = self.world.dice.pick(&files).clone();
                    self.world.read(&file);
                }
                _ => self.world.run_harmless_command("ls", "CHANGELOG.md\nREADME.md"),
            }
        }
    }

    /// Returns true if a linter would find nothing that is missing in the truth.
    pub(super) fn is_lint_clean(&self) -> bool {
        if self.world.project.language != Language::Python {
            return true;
        }
        let tree = &self.world.state().tree;
        let imports = self
            .world
            .project
            .fillers
            .iter()
            .filter(|filler| filler.kind == UnrelatedChangeKind::Imports);
        imports.into_iter().all(|filler| tree.region(&filler.region) == Some(&filler.texts[0]))
            && !tree
                .files
                .values()
                .flat_map(|file| &file.regions)
                .any(|region| region.key.contains("/moved"))
    }
}

/// Returns the removed or added lines between two texts, without the sign.
fn signed_lines(old: &str, new: &str, sign: char) -> Vec<String> {
    let lines = diff::changed_lines(old, new);
    lines.iter().filter_map(|line| line.strip_prefix(sign)).map(str::to_owned).collect()
}

/// Returns true if the removed lines of a hunk are contiguous, and the added ones too.
fn is_contiguous(lines: &[String]) -> bool {
    let first = lines.iter().position(|line| !line.starts_with(' ')).unwrap_or_default();
    let last = lines.iter().rposition(|line| !line.starts_with(' ')).unwrap_or_default();
    lines[first..=last].iter().all(|line| !line.starts_with(' '))
}

/// Returns the `sed` command that turns one text into another, if a single line differs.
fn sed_command(old: &str, new: &str, path: &str) -> Option<String> {
    let (removed, added) = (signed_lines(old, new, '-'), signed_lines(old, new, '+'));
    let ([from], [to]) = (&removed[..], &added[..]) else { return None };
    let (from, to) = (from.trim(), to.trim());
    if from.is_empty() || old.matches(from).count() != 1 || from.contains('\'') || to.contains('\'')
    {
        return None;
    }
    let escape = |text: &str, special: &str| {
        text.chars().fold(String::new(), |mut escaped, letter| {
            if special.contains(letter) {
                escaped.push('\\');
            }
            escaped.push(letter);
            escaped
        })
    };
    let (from, to) = (escape(from, "\\.*^$[]|"), escape(to, "\\&|"));
    Some(format!("sed -i 's|{from}|{to}|' {path}"))
}
