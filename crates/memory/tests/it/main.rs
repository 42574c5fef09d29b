//! Tests of the memory from outside: real files, real SQLite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests write their own files, have their own clock and are told about tools"
)]

/// What a session begins with: order, budget, and what the user sees of it.
mod beginnings;
/// Whose call of a tool of ours it is.
mod callers;
/// What the client told a hook of real runs.
mod calls;
/// Secrets by the channel they come by, through hooks into a store and back.
mod channels;
/// Which experiences belong together, and how long their names last.
mod clusters;
/// Files before a command.
mod copies;
/// The texts redaction is measured on.
mod corpus;
/// What the crate is allowed to depend on.
mod dependencies;
/// What came of what was shown.
mod effects;
/// A failure, what was tried, what turned it green, and the same failure again.
mod episodes;
/// Out as lines of JSON and in again, without loss, and in any order.
mod exchange;
/// Disks that are full or read-only, files that are broken, clocks that run backwards.
mod faults;
/// What is forgotten is nowhere.
mod forget;
/// The life of a GHAP, from start to what it leaves.
mod ghaps;
/// Repositories that the real git made.
mod git_world;
/// The handle of a hook.
mod hot;
/// Rows of somebody else, and where rows came from.
mod imports;
/// The files that are searched: torn, missing, foreign, old.
mod index;
/// What must not be taken for a fix, and what must not be missed.
mod lessons;
mod loop_cases;
mod loop_changes;
mod loop_runs;
/// Which failures a prompt brings up: those that it names.
mod mentions;
/// Any sequence of commands, with reopening in between.
mod model;
/// What is said after a failure that nothing is known about.
mod offer;
/// What real runs printed, whole, cut off, coloured and mixed up.
mod outcomes;
/// What the client sends, with anything anywhere.
mod payloads;
/// Which project a folder belongs to, against what git says about it.
mod project;
/// Repositories, archives and users that try to choose somebody else's project.
mod project_attacks;
/// Projects that take a stronger key, and projects that stay apart.
mod projects;
/// Rules that hold for every reader of runner output.
mod readers;
/// Finding the right lesson for an ordinary sentence.
mod recall;
/// What real runs printed, and what is to be read of it.
mod recordings;
/// How much of what is secret is taken, and how little of what is not.
mod redaction;
/// It is silent where nothing fits.
mod restraint;
/// A secret planted in any text is nowhere.
mod secrets;
/// What is said about what an agent set out to do.
mod spoken;
/// A session as the hooks are told of it.
mod story;
/// A world of its own for each test.
mod support;
/// Housekeeping and its bounds.
mod tend;
/// What many experiences say together, and what becomes of it.
mod values;
/// Whose a value is: of which project, of which lesson, of which machine.
mod values_places;
/// What hooks and commands say of them.
mod values_said;
/// Databases of every version there ever was.
mod versions;

#[test]
fn no_test_file_is_forgotten() {
    rutter_testkit::assert_every_file_is_declared(
        env!("CARGO_MANIFEST_DIR"),
        include_str!("main.rs"),
    );
}
