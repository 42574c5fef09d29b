//! Determines which changes between the last failure and the green run fixed the failure.
//!
//! Each hunk is judged by itself: does it touch lines, symbols or files that the failure names? A hunk with such
//! evidence, or the only change, is called the fix. Everything else is only listed as changed.

use super::{Episode, EpisodeEndingKind, MAX_FIX_BYTES};
use crate::change::{
    Change, ChangeKind, Hunk, InvocationDifference, changes_in_tree, is_repeatable,
    is_trivial_file, net_changes,
};
use crate::{Clean, Time};
use rutter_runs::clues::{Clues, is_code_name, own_name};
use rutter_runs::place::has_path;
use rutter_runs::place::{file_stem, tested_unit};

/// Minimum points of a hunk with good evidence.
const CERTAIN_POINTS: i32 = 6;
/// Distance in points from the best hunk that excludes a hunk from the fix.
const MAX_POINTS_BEHIND_BEST: i32 = 4;
/// Reason for a change that is the only one.
const ONLY_CHANGE: &str = "the only change between the last failing and the first passing run";
/// Reason for a change that is the only one besides comments, imports and the like.
const ONLY_CHANGE_THAT_COUNTS: &str =
    "the only change of code between the last failing and the first passing run";
/// Points of a hunk at a line that the failure names.
const POINTS_AT_PLACE: i32 = 7;
/// Penalty in points for a hunk in another package than that of the failure.
const OTHER_PACKAGE_PENALTY: i32 = 3;
/// Penalty in points for a hunk if a file of the same name is nearer to the failure.
const FARTHER_NAMESAKE_PENALTY: i32 = 6;
/// Minimum points of the only change if it turned several failures green, because it may have fixed another one.
const MIN_SHARED_POINTS: i32 = 4;
/// Maximum distance in lines of a hunk that is at a place that the failure names.
const NEAR_LINES: u32 = 3;
/// Maximum distance in lines of a hunk that is near such a place.
const AROUND_LINES: u32 = 20;

/// Marks that disable a test, or all others but one.
const SKIP_MARKS: &[&str] = &[
    "@pytest.mark.skip",
    "pytest.skip(",
    "@pytest.mark.xfail",
    "@unittest.skip",
    "@unittest.expectedFailure",
    "self.skipTest(",
    "#[ignore",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "it.todo(",
    "test.todo(",
    "it.only(",
    "test.only(",
    "describe.only(",
    "xit(",
    "xdescribe(",
    "xtest(",
    "@Disabled",
    "@Ignore",
    "t.Skip",
    "markTestSkipped",
    "skip: true",
    "pending(",
];
/// Words before the name of a test where it is defined, not called.
const DEFINING_WORDS: &[&str] =
    &["fn", "def", "func", "function", "fun", "sub", "void", "Task", "it", "test", "describe"];

/// The run that turned a failure green.
#[derive(Debug, Clone, Default)]
pub(crate) struct GreenRun<'a> {
    /// The end of the run.
    pub(crate) at: Option<Time>,
    /// The difference between its command and the one that failed.
    pub(crate) difference: Option<&'a InvocationDifference>,
    /// True if it turned several failures green. Then a change without evidence for this failure may have fixed
    /// another.
    pub(crate) is_shared: bool,
}

/// Decides how an episode ended with a green run, and returns the changes that fixed it, best first. `clues` are the
/// names in the failure, `changes` all changes since the episode opened, oldest first.
pub(crate) fn attribute_fix(
    episode: &Episode,
    clues: &Clues,
    changes: &[Change],
    green: &GreenRun<'_>,
) -> (EpisodeEndingKind, Vec<Change>) {
    let until = episode.gone.or(green.at).unwrap_or(Time::from_millis(i64::MAX));
    let before: Vec<Change> = changes.iter().filter(|change| change.at <= until).cloned().collect();
    // Changes that were undone are not a part of the fix, and neither are those before the last failure, which did not
    // help. Formatting never fixes a test.
    let fix: Vec<Change> = net_changes(&changes_in_tree(&before))
        .into_iter()
        .filter(|change| change.at > episode.seen)
        .filter(|change| {
            episode.test.is_none() || !(change.only_formats() || change.only_comments())
        })
        .collect();
    let difference = green.difference.filter(|_| episode.gone.is_none());
    if fix.is_empty() && difference.is_none() {
        return (EpisodeEndingKind::Flaky, fix);
    }
    let fix = with_later_changes(fix, changes, episode, green);
    let removed = takes_test_away(episode, &fix) || skips_test(episode, &fix);
    let how = if removed { EpisodeEndingKind::Removed } else { EpisodeEndingKind::Fixed };
    (
        how,
        limit_fix_size(rank_changes(
            episode,
            clues,
            fix,
            &GreenRun { at: Some(until), difference, ..*green },
        )),
    )
}

/// Updates the fix of a failure that disappeared before the green run: its lines may have been changed again until
/// then.
fn with_later_changes(
    fix: Vec<Change>,
    changes: &[Change],
    episode: &Episode,
    green: &GreenRun<'_>,
) -> Vec<Change> {
    let (Some(_), Some(until)) = (episode.gone, green.at) else { return fix };
    let all: Vec<Change> = changes.iter().filter(|change| change.at <= until).cloned().collect();
    let all = net_changes(&changes_in_tree(&all));
    let hunks_of = |file: &Clean| -> Vec<Hunk> {
        all.iter().filter(|change| change.name == *file).flat_map(Change::hunks).collect()
    };
    fix.into_iter()
        .map(|change| {
            let later = hunks_of(&change.name);
            let hunks = change.hunks().into_iter().map(|hunk| {
                let same =
                    |other: &&Hunk| !hunk.removed.is_empty() && other.removed == hunk.removed;
                later.iter().find(same).cloned().unwrap_or(hunk)
            });
            change.with_hunks(&hunks.collect::<Vec<_>>())
        })
        .collect()
}

/// Returns true if a finding is only about formatting.
fn is_about_format(episode: &Episode) -> bool {
    const WORDS: &[&str] = &[
        "would reformat",
        "would be reformatted",
        "formatter would have printed",
        "not formatted",
        "not properly formatted",
        "file is not `gofmt`",
        "file is not `goimports`",
        "not sorted",
        "code style issues",
        "diff in ",
        "incorrectly formatted",
        "prettier/prettier",
        "formatting",
    ];
    let error = episode.error.to_lowercase();
    episode.test.is_none() && WORDS.iter().any(|word| error.contains(word))
}

/// A hunk or command, with its evidence.
struct FixCandidate {
    change: Change,
    points: i32,
    /// True if it touches names or lines of the failure, not only its surroundings.
    is_named: bool,
    reasons: Vec<String>,
    is_trivial: bool,
}

/// Sorts changes by evidence, one entry for each hunk, and marks those that are certain.
fn rank_changes(
    episode: &Episode,
    clues: &Clues,
    fix: Vec<Change>,
    green: &GreenRun<'_>,
) -> Vec<Change> {
    let mut candidates: Vec<FixCandidate> = Vec::new();
    let is_format = is_about_format(episode);
    for change in fix {
        // Any file may be formatted wrongly: an edit of this one teaches nothing, but the formatter command does.
        if is_format && change.kind == ChangeKind::Edit {
            continue;
        }
        let hunks = change.hunks();
        if change.kind != ChangeKind::Edit || hunks.is_empty() {
            // The edits that a command made may also be candidates.
            candidates.push(judge_command(episode, change));
            continue;
        }
        for hunk in hunks {
            candidates.push(judge_hunk(episode, clues, &change, &hunk));
        }
    }
    // A command adds nothing if its edits are candidates.
    let seen: Vec<Clean> = candidates.iter().filter_map(|one| one.change.made_by.clone()).collect();
    candidates
        .retain(|one| one.change.kind != ChangeKind::Command || !seen.contains(&one.change.name));
    prefer_own_package(episode, &mut candidates);
    // Of equal ones the earliest is probably the fix, and later ones are cleanup.
    candidates.sort_by_key(|one| (one.is_trivial, -one.points, one.change.at));
    let substantive = candidates.iter().filter(|one| !one.is_trivial).count();
    let best = candidates.first().map_or(0, |one| one.points);
    let has_fix = substantive > 0 && best > 0;
    let difference =
        green.difference.and_then(|found| describe_difference(found, episode, has_fix));
    // A flaky test passes after any change: without evidence, even the only change is not called the fix.
    let enough = if green.is_shared { MIN_SHARED_POINTS } else { 1 };
    let is_only = substantive == 1 && best >= enough;
    let candidate_count = candidates.len();
    for one in candidates.iter_mut().filter(|one| !one.is_trivial) {
        if is_only && difference.is_none() {
            one.reasons.push(
                if candidate_count == 1 { ONLY_CHANGE } else { ONLY_CHANGE_THAT_COUNTS }.to_owned(),
            );
        }
        let is_best = one.points == best || one.is_named;
        one.change.is_certain = (is_only && difference.is_none())
            || (is_best
                && one.points >= CERTAIN_POINTS
                && one.points + MAX_POINTS_BEHIND_BEST > best);
    }
    let mut ranked: Vec<Change> = candidates
        .into_iter()
        .map(|one| {
            let reason = if one.reasons.is_empty() {
                "changed in between".to_owned()
            } else {
                one.reasons.join("; ")
            };
            Change { reason: Some(Clean::new(&reason)), ..one.change }
        })
        .collect();
    if let Some(difference) = difference {
        let mut change = Change::from_invocation(&difference, green.at.unwrap_or(episode.seen));
        change.is_certain = substantive == 0;
        change.reason =
            Some(Clean::new("the passing command differs from the failing one by this"));
        // Edits with good evidence come before it, all others after it.
        let at = ranked.iter().take_while(|one| one.is_certain).count();
        ranked.insert(at, change);
    }
    ranked
}

/// Describes the part of a difference that can be the fix. If there is a likely edit, a wrapper or a folder counts only
/// for a failure that the surroundings explain.
fn describe_difference(
    difference: &InvocationDifference,
    episode: &Episode,
    has_fix: bool,
) -> Option<String> {
    let mut parts = difference.settings.clone();
    if !has_fix || is_about_surroundings(episode) {
        parts.extend(difference.surroundings.iter().cloned());
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn judge_command(episode: &Episode, change: Change) -> FixCandidate {
    let repeatable = change.kind != ChangeKind::Command || is_repeatable(&change.name);
    let (points, reason) = match repeatable {
        // A command can provide a missing package or file, or format a line; it does not fix a failing test.
        true if episode.test.is_none() || is_about_surroundings(episode) => {
            (2, "a command that can fix what the failure says")
        }
        true => (0, "a command that changes things"),
        false => (-2, "a command"),
    };
    let reasons = vec![reason.to_owned()];
    FixCandidate { change, points, is_named: false, reasons, is_trivial: false }
}

/// Returns true if a failure is about something missing around the code: a module, a program, a file.
fn is_about_surroundings(episode: &Episode) -> bool {
    const WORDS: &[&str] = &[
        "no module named",
        "modulenotfound",
        "cannot find module",
        "cannot find package",
        "could not resolve",
        "not found",
        "no such file",
        "enoent",
        "connection refused",
        "does not exist",
    ];
    let error = episode.error.to_lowercase();
    WORDS.iter().any(|words| error.contains(words))
}

fn judge_hunk(episode: &Episode, clues: &Clues, change: &Change, hunk: &Hunk) -> FixCandidate {
    let file = change.name.as_str();
    let mut points = 0;
    let mut reasons = Vec::new();
    let is_test_file = is_test_file(file);
    let mut is_named = false;
    if let Some((reason, more)) = rate_place(clues, episode, file, hunk) {
        is_named |= more >= POINTS_AT_PLACE;
        // A line in a test is where the failure is detected, seldom its cause.
        points += if is_test_file { more / 2 } else { more };
        reasons.push(reason);
    }
    let (words, more, has_name) = shared_words(clues, file, hunk);
    points += more;
    is_named |= has_name;
    if !words.is_empty() {
        reasons.push(format!("it shares `{}` with the failure", words.join("`, `")));
    }
    if let Some(stem) = tested_stem(episode)
        && stem == file_stem(file)
        && !is_test_file
    {
        points += 2;
        reasons.push(format!("the failing test is about `{stem}`"));
    }
    let mut is_trivial = hunk.is_trivial(file) || is_trivial_file(file);
    let is_import_named =
        names_import(clues, hunk) || changes_named_line(clues, episode, file, hunk);
    if is_trivial && hunk.only_imports() && is_import_named {
        is_named = true;
        // A missing or unused name is often a missing or unused import.
        is_trivial = false;
        points += 4;
        reasons.push("it imports what the failure names".to_owned());
    }
    if is_test_file && episode.test.as_deref().is_none_or(|test| !test.starts_with(file)) {
        points -= 2;
    }
    let change =
        Change { patch: Clean::default(), ..change.clone() }.with_hunks(std::slice::from_ref(hunk));
    FixCandidate { change, points, is_named, reasons, is_trivial }
}

/// Takes points from files with the same name as another candidate that are farther from the failure: in a monorepo
/// several packages have a `cart.py`.
fn prefer_own_package(episode: &Episode, candidates: &mut [FixCandidate]) {
    let home = episode.test.as_deref().filter(|test| has_path(test)).or(episode.file.as_deref());
    // A path of another machine is unrelated to the folders here.
    let Some(home) = home.filter(|home| !home.starts_with('/')) else { return };
    let last = |file: &str| file.rsplit('/').next().unwrap_or(file).to_owned();
    let shared = |file: &str| {
        file.split('/').zip(home.split('/')).take_while(|(one, other)| one == other).count()
    };
    let files: Vec<(String, usize)> =
        candidates.iter().map(|one| (last(&one.change.name), shared(&one.change.name))).collect();
    let package = package_folder(home);
    for one in candidates.iter_mut().filter(|one| one.change.kind == ChangeKind::Edit) {
        if !package.is_empty() && !one.change.name.starts_with(package) {
            one.points -= OTHER_PACKAGE_PENALTY;
        }
    }
    for (one, (name, depth)) in candidates.iter_mut().zip(&files) {
        let is_farther = files.iter().any(|(other, deeper)| other == name && deeper > depth);
        if is_farther && one.change.kind == ChangeKind::Edit {
            one.is_named = false;
            one.points -= FARTHER_NAMESAKE_PENALTY;
        }
    }
}

/// Returns the folder of a package, with its `/`, from the path of one of its files; empty if the path does not show
/// it.
fn package_folder(file: &str) -> &str {
    let ends = ["/tests/", "/test/", "/src/", "/__tests__/", "/spec/", "/lib/"];
    let end = ends.iter().filter_map(|end| file.find(end)).min();
    end.map_or("", |end| &file[..=end])
}

/// Rates the distance between a hunk and the places that the failure names.
fn rate_place(clues: &Clues, episode: &Episode, file: &str, hunk: &Hunk) -> Option<(String, i32)> {
    let same = |place: &str| {
        place == file || (!place.contains('/') && file.rsplit('/').next() == Some(place))
    };
    let nearest = clues
        .places
        .iter()
        .filter(|place| same(&place.file))
        .map(|place| lines_between(hunk, place.line))
        .min();
    match nearest {
        Some(lines) if lines <= NEAR_LINES => {
            Some(("it changes a line that the failure names".to_owned(), POINTS_AT_PLACE))
        }
        Some(lines) if lines <= AROUND_LINES => {
            Some(("it is near a line that the failure names".to_owned(), 4))
        }
        Some(_) => Some(("it is in a file that the failure names".to_owned(), 2)),
        None if episode.file.as_deref().is_some_and(same) => {
            Some(("it is in the file that the failure names".to_owned(), 2))
        }
        None => None,
    }
}

/// Counts the lines between a hunk and a line of the file at the time of the failure.
fn lines_between(hunk: &Hunk, line: u32) -> u32 {
    let first = hunk.old_line.max(1);
    let last = first + u32::try_from(hunk.removed.len().saturating_sub(1)).unwrap_or(0);
    if line < first { first - line } else { line.saturating_sub(last) }
}

/// Returns the identifiers that a hunk shares with a failure and their points. The last value is true if one of them is
/// a name in code from the failure itself, or the name that the hunk defines.
fn shared_words(clues: &Clues, file: &str, hunk: &Hunk) -> (Vec<String>, i32, bool) {
    let in_section = words_in(&hunk.section);
    let in_lines: Vec<&str> = hunk.lines().flat_map(words_in).collect();
    let defined = defined_name(&hunk.section);
    let stem = file_stem(file);
    let mut points = 0;
    let mut words = Vec::new();
    let mut has_name = false;
    for (list, worth) in [(&clues.named, 4), (&clues.near, 2)] {
        for word in list.iter().map(Clean::as_str) {
            let is_stem = stem.eq_ignore_ascii_case(word);
            // The name of a file is in many of its lines.
            let found = !is_stem && (in_section.contains(&word) || in_lines.contains(&word));
            if !(found || is_stem) {
                continue;
            }
            has_name |= defined == Some(word) || (worth == 4 && found && is_code_name(word));
            // A hunk changes the definition around it. A plain word is in many places, a name in code is not.
            points += match (defined == Some(word), is_code_name(word), found) {
                (true, ..) => worth + 2,
                (_, true, true) => worth,
                (_, false, true) => worth / 2,
                (_, _, false) => 1,
            };
            if words.len() < 3 && found {
                words.push(word.to_owned());
            }
        }
    }
    (words, points.min(10), has_name)
}

/// Returns the name that a definition defines: `total` for `pub fn total(&self) -> u32 {`.
fn defined_name(section: &str) -> Option<&str> {
    let head = section.split(['(', '=', ':', '{', '<']).next()?;
    head.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).rfind(|word| word.len() > 2)
}

fn words_in(text: &str) -> Vec<&str> {
    text.split(|sign: char| !(sign.is_alphanumeric() || sign == '_'))
        .filter(|word| word.len() > 2)
        .collect()
}

/// Returns true if a hunk changes exactly the line of a finding.
fn changes_named_line(clues: &Clues, episode: &Episode, file: &str, hunk: &Hunk) -> bool {
    episode.test.is_none()
        && !hunk.removed.is_empty()
        && clues
            .places
            .iter()
            .any(|place| place.file.as_str() == file && lines_between(hunk, place.line) == 0)
}

/// Returns true if an import contains a name from the failure.
fn names_import(clues: &Clues, hunk: &Hunk) -> bool {
    hunk.lines()
        .flat_map(words_in)
        .any(|word| clues.named.iter().any(|named| named.as_str() == word))
}

/// Returns true if a file contains tests.
fn is_test_file(file: &str) -> bool {
    let last = file.rsplit('/').next().unwrap_or(file).to_lowercase();
    let in_folder = file
        .split('/')
        .rev()
        .skip(1)
        .any(|part| matches!(part, "tests" | "test" | "spec" | "__tests__" | "e2e"));
    in_folder
        || last.starts_with("test_")
        || last.contains("_test.")
        || last.contains(".test.")
        || last.contains(".spec.")
        || last.contains("_spec.")
}

/// Returns the subject of the failing test, from the name of its file: `test_cart.py` tests `cart`.
fn tested_stem(episode: &Episode) -> Option<&str> {
    let test = episode.test.as_deref()?;
    let stem = if has_path(test) {
        tested_unit(test.split("::").next()?.split(" > ").next()?)
    } else {
        // `test_total (tests.test_cart.Cart.test_total)`: the module is a part of the name.
        let parts: Vec<&str> = test.split(['.', ' ', '(', ')']).collect();
        let module = parts.iter().rev().skip(1).find(|part| {
            (part.starts_with("test_") || part.ends_with("_test")) && **part != parts[0]
        });
        tested_unit(module.copied().or(episode.file.as_deref())?)
    };
    (stem.len() > 2).then_some(stem)
}

/// Returns true if the failing test itself was removed or renamed.
fn takes_test_away(episode: &Episode, fix: &[Change]) -> bool {
    let Some(test) = episode.test.as_deref() else { return false };
    let name = own_name(test);
    if name.len() < 3 {
        return false;
    }
    let hunks: Vec<Hunk> = fix.iter().flat_map(Change::hunks).collect();
    // `t.Run("keeps digits", …)` is `TestSlug/keeps_digits`.
    let subtest = test.rsplit_once('/').filter(|(parent, _)| parent.starts_with("Test"));
    let subtest = subtest.map(|(_, own)| format!("\"{own}\""));
    let has = |lines: &[String]| {
        lines.iter().any(|line| match &subtest {
            Some(own) => line.replace(' ', "_").contains(own.as_str()),
            None => defines_name(line, name),
        })
    };
    hunks.iter().any(|hunk| has(&hunk.removed)) && !hunks.iter().any(|hunk| has(&hunk.added))
}

/// Returns true if a line defines a name: the name is a whole word and not a call. The name of a test is never a call.
fn defines_name(line: &str, name: &str) -> bool {
    let is_test = name.to_lowercase().starts_with("test");
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        let word = before
            .trim_end_matches(['(', '"', '\'', '`', ' '])
            .rsplit(|sign: char| !is_name_sign(sign))
            .next();
        !before.ends_with(is_name_sign)
            && !after.starts_with(is_name_sign)
            && (is_test || word.is_some_and(|word| DEFINING_WORDS.contains(&word)))
    })
}

fn is_name_sign(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Returns true if a line contains one of the marks, and not as the end of a longer word.
fn is_skipping(line: &str) -> bool {
    SKIP_MARKS
        .iter()
        .any(|mark| line.match_indices(mark).any(|(at, _)| !line[..at].ends_with(is_name_sign)))
}

/// Returns true if a change disables tests. It may be another test, but in doubt nothing was fixed.
fn skips_test(episode: &Episode, fix: &[Change]) -> bool {
    let skips = |hunk: &Hunk| {
        let comes = hunk.added.iter().filter(|line| is_skipping(line)).count();
        comes > hunk.removed.iter().filter(|line| is_skipping(line)).count()
    };
    episode.test.is_some() && fix.iter().flat_map(Change::hunks).any(|hunk| skips(&hunk))
}

/// Keeps the first changes that fit into the limit, and only the names of the others.
fn limit_fix_size(fix: Vec<Change>) -> Vec<Change> {
    let mut left = MAX_FIX_BYTES;
    let mut kept: Vec<Change> = Vec::new();
    for change in fix {
        let size = change.patch.len() + change.name.len();
        if size <= left {
            left -= size;
            kept.push(change);
        } else if change.name.len() <= left && !kept.iter().any(|known| known.name == change.name) {
            left -= change.name.len();
            kept.push(Change { patch: Clean::default(), ..change });
        }
    }
    kept
}

#[cfg(test)]
mod tests;
