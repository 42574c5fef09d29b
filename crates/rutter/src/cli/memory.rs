//! Arguments of the commands that read and write the memory.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_memory::IdSuffix;
use rutter_memory::document::{Axis, DocumentKind};
use rutter_memory::episode::EpisodeEndingKind;
use rutter_memory::ghap::expect::Expects;
use rutter_memory::ghap::{CauseCategory, Domain, GhapStatus, Strategy};
use rutter_memory::memory::MemoryCategory;

use super::FormatArgs;

/// A parser for a closed vocabulary: errors, help and completions list its values.
macro_rules! one_of {
    ($choice:ty) => {
        PossibleValuesParser::new(<$choice>::NAMES).try_map(|text| text.parse::<$choice>())
    };
}

pub(super) use one_of;

/// Returns the name of an ending on the command line. The stored name of `expired` is `left`.
pub(crate) fn ending_name(ending: EpisodeEndingKind) -> &'static str {
    match ending {
        EpisodeEndingKind::Left => "expired",
        ending => ending.as_str(),
    }
}

/// Returns a parser for the endings of episodes, which also accepts stored names.
fn ending_parser() -> impl TypedValueParser<Value = EpisodeEndingKind> {
    let values = EpisodeEndingKind::ALL
        .iter()
        .map(|ending| PossibleValue::new(ending_name(*ending)).alias(ending.as_str()));
    PossibleValuesParser::new(values).try_map(|text| {
        let is_named = |ending: &&EpisodeEndingKind| ending_name(**ending) == text;
        EpisodeEndingKind::ALL.iter().find(is_named).map_or_else(|| text.parse(), |one| Ok(*one))
    })
}

pub(super) fn parse_positive(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("not a whole number of 1 or more".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// `rutter ghap …`
#[derive(Debug, Subcommand)]
pub enum GhapCommand {
    /// Start a GHAP: state your goal, hypothesis, action and prediction
    ///
    /// On a terminal it asks for missing texts.
    Start(GhapStartArgs),
    /// Change the hypothesis, action or prediction; the old ones are kept as a revision
    Update(GhapUpdateArgs),
    /// Add a note to the active GHAP
    Note(GhapNoteArgs),
    /// Resolve the active GHAP: confirmed, falsified (with surprise and root cause), or abandoned
    ///
    /// The newest captured run that fits the prediction is the evidence. Without one, the result counts as your claim.
    Resolve(GhapResolveArgs),
    /// Take over a GHAP from a session that is over
    Adopt(GhapAdoptArgs),
    /// Abandon the active GHAP, or one from a session that is over
    Abandon(GhapAbandonArgs),
    /// Show one GHAP, by default the active one
    Show(GhapShowArgs),
    /// List GHAPs of this project, newest first
    List(GhapListArgs),
}

/// The run that tests a prediction, and the confidence in the prediction.
#[derive(Debug, Args)]
pub struct PredictionTestArgs {
    /// The result of the run that makes the prediction true [default: read from the prediction]
    #[arg(long, value_parser = one_of!(Expects))]
    pub expects: Option<Expects>,
    /// The command, test or file that the prediction is about [default: read from the prediction]
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// Your confidence, from 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
}

/// `rutter ghap start`
#[derive(Debug, Args)]
pub struct GhapStartArgs {
    /// The kind of work
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// Your strategy
    #[arg(long, value_parser = one_of!(Strategy))]
    pub strategy: Option<Strategy>,
    /// Your goal
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// Your hypothesis
    #[arg(long, value_name = "TEXT")]
    pub hypothesis: Option<String>,
    /// The action that you take
    #[arg(long, value_name = "TEXT")]
    pub action: Option<String>,
    /// The result that you expect to see if the hypothesis is right
    #[arg(long, value_name = "TEXT")]
    pub prediction: Option<String>,
    /// The expected run and the confidence.
    #[command(flatten)]
    pub test: PredictionTestArgs,
    /// Write the missing texts in $EDITOR
    #[arg(long)]
    pub editor: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap update`
#[derive(Debug, Args)]
pub struct GhapUpdateArgs {
    /// Your new hypothesis
    #[arg(long, value_name = "TEXT")]
    pub hypothesis: Option<String>,
    /// Your new action
    #[arg(long, value_name = "TEXT")]
    pub action: Option<String>,
    /// Your new prediction
    #[arg(long, value_name = "TEXT")]
    pub prediction: Option<String>,
    /// Your new strategy
    #[arg(long, value_parser = one_of!(Strategy))]
    pub strategy: Option<Strategy>,
    /// The expected run and the confidence.
    #[command(flatten)]
    pub test: PredictionTestArgs,
    /// A note to add
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap note`
#[derive(Debug, Args)]
pub struct GhapNoteArgs {
    /// The note
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap resolve`
#[derive(Debug, Args)]
pub struct GhapResolveArgs {
    /// The final status
    #[arg(long, value_parser = PossibleValuesParser::new(&GhapStatus::NAMES[1..]).try_map(|text| text.parse::<GhapStatus>()))]
    pub status: Option<GhapStatus>,
    /// The observed result
    #[arg(long, value_name = "TEXT")]
    pub result: Option<String>,
    /// The part of the result that you did not expect; required with `falsified`
    #[arg(long, value_name = "TEXT")]
    pub surprise: Option<String>,
    /// The kind of root cause; required with `falsified`
    #[arg(long, value_parser = one_of!(CauseCategory))]
    pub root_cause_category: Option<CauseCategory>,
    /// The reason why the prediction failed; required with `falsified`
    #[arg(long, value_name = "TEXT")]
    pub root_cause: Option<String>,
    /// The solution that worked in the end
    #[arg(long, value_name = "TEXT")]
    pub what_worked: Option<String>,
    /// The lesson to remember
    #[arg(long, value_name = "TEXT")]
    pub takeaway: Option<String>,
    /// A phrase that a user would type before knowing the cause; give 4 to 6, each in other words
    #[arg(long, value_name = "PHRASE")]
    pub applies_when: Vec<String>,
    /// The captured run that is the evidence [default: the newest that fits the prediction]
    #[arg(long, value_name = "ID")]
    pub outcome: Option<IdSuffix>,
    /// Write the missing texts in $EDITOR
    #[arg(long)]
    pub editor: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap adopt`
#[derive(Debug, Args)]
pub struct GhapAdoptArgs {
    /// The GHAP [default: the only orphan of this project]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap abandon`
#[derive(Debug, Args)]
pub struct GhapAbandonArgs {
    /// The GHAP [default: the active one]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap show`
#[derive(Debug, Args)]
pub struct GhapShowArgs {
    /// The GHAP [default: the active one]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap list`
#[derive(Debug, Args)]
pub struct GhapListArgs {
    /// Only GHAPs with this status
    #[arg(long, value_parser = one_of!(GhapStatus))]
    pub status: Option<GhapStatus>,
    /// Only GHAPs of this kind of work
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// Only active GHAPs from sessions that are over
    #[arg(long, conflicts_with = "status")]
    pub orphaned: bool,
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter remember`
#[derive(Debug, Args)]
pub struct RememberArgs {
    /// The text of the memory
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// The kind of memory
    #[arg(long, value_parser = one_of!(MemoryCategory))]
    pub category: MemoryCategory,
    /// From 0 to 1; sessions begin with preferences of importance 1 [default: 1 for a preference, else 0.5]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<f64>,
    /// A word to find it by; can be given up to 20 times
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,
    /// A phrase that a user who needs it would type, in other words than TEXT; give 4 to 6
    #[arg(long, value_name = "PHRASE")]
    pub applies_when: Vec<String>,
    /// Apply the memory to every project, not only to this one
    #[arg(long)]
    pub everywhere: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter memories`
#[derive(Debug, Args)]
pub struct MemoriesArgs {
    /// Only memories of this kind
    #[arg(long, value_parser = one_of!(MemoryCategory))]
    pub category: Option<MemoryCategory>,
    /// Only memories with this tag; can be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,
    /// Only memories that apply to every project
    #[arg(long, conflicts_with = "all")]
    pub everywhere: bool,
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter edit`
#[derive(Debug, Args)]
pub struct MemoryEditArgs {
    /// The memory, or the GHAP with the lesson to change
    #[arg(value_name = "ID")]
    pub id: IdSuffix,
    /// The new text [default: written in $EDITOR, if no other option is given]
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// The new kind of memory
    #[arg(long, value_parser = one_of!(MemoryCategory))]
    pub category: Option<MemoryCategory>,
    /// The new importance, from 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<f64>,
    /// The new tags; they replace the old ones
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Option<Vec<String>>,
    /// For a GHAP: the solution that worked in the end
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text", "category", "importance", "tags"])]
    pub what_worked: Option<String>,
    /// For a GHAP: the lesson to remember
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text", "category", "importance", "tags"])]
    pub takeaway: Option<String>,
    /// The new phrases of a user who needs it; they replace the old ones, and an empty one removes them
    #[arg(long, value_name = "PHRASE")]
    pub applies_when: Option<Vec<String>>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Export only the named project, or without a name this one
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub project: Option<String>,
    /// The file to write [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `rutter import …`
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Import a file that `rutter export` wrote; imports nothing if a line is wrong
    ///
    /// Shows a summary of the file first. The rows are marked as imported: they never count as evidence, change no
    /// existing row, and can be removed again. Accepted values, texts for every project and project aliases wait for
    /// `rutter review`. Without a terminal it needs --yes.
    Jsonl(ImportJsonlArgs),
    /// List the imports that still have rows
    List(ImportListArgs),
    /// Remove every row that an import added
    Undo(ImportUndoArgs),
    /// Anything that is not a format, usually a file name.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// `rutter import jsonl`
#[derive(Debug, Args)]
pub struct ImportJsonlArgs {
    /// The file; `-` is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The rows are your own, from another machine or a backup: import them unmarked; the later of two versions wins
    #[arg(long)]
    pub own: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter import list`
#[derive(Debug, Args)]
pub struct ImportListArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter import undo`
#[derive(Debug, Args)]
pub struct ImportUndoArgs {
    /// The import [default: the newest]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
}

/// `rutter show`
#[derive(Debug, Args)]
pub struct ShowRowArgs {
    /// The row
    #[arg(value_name = "ID")]
    pub id: IdSuffix,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// The subcommand; without one the waiting rows are listed
    #[command(subcommand)]
    pub command: Option<ReviewCommand>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter review …`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Accept waiting rows; for an import, adopt its rows as your own
    Accept(ReviewIdsArgs),
    /// Reject waiting rows; removes the rows of an import, retires a value
    Reject(ReviewIdsArgs),
}

/// The rows to accept or reject.
#[derive(Debug, Args)]
pub struct ReviewIdsArgs {
    /// The rows
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<IdSuffix>,
}

/// `rutter forget`
#[derive(Debug, Args)]
#[group(required = true, multiple = false, id = "what")]
pub struct ForgetSelectionArgs {
    /// The row: a memory, GHAP, episode or outcome
    #[arg(value_name = "ID", group = "what")]
    pub id: Option<IdSuffix>,
    /// Every row that contains all of these words, as whole words, in any case
    #[arg(long, value_name = "WORDS", group = "what")]
    pub query: Option<String>,
    /// The named project, or without a name this one, with all its rows
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", group = "what")]
    pub project: Option<String>,
    /// All rows of all projects
    #[arg(long, group = "what")]
    pub all: bool,
}

/// `rutter forget`, with confirmation and output format.
#[derive(Debug, Args)]
pub struct ForgetCommandArgs {
    /// The rows to forget.
    #[command(flatten)]
    pub what: ForgetSelectionArgs,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project …`
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// List the projects that have rows, most recent first
    List(ProjectListArgs),
    /// Show one project, by default this one
    Show(ProjectShowArgs),
    /// Move all rows of one project into another, so that both places share one project from now on
    ///
    /// A merge cannot be undone, because the rows do not keep their old project. An empty name ("") is the project of
    /// this folder.
    Merge(ProjectMergeArgs),
}

/// `rutter project list`
#[derive(Debug, Args)]
pub struct ProjectListArgs {
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project show`
#[derive(Debug, Args)]
pub struct ProjectShowArgs {
    /// The project: its name, a key, or its id [default: the project of this folder]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project merge`
#[derive(Debug, Args)]
pub struct ProjectMergeArgs {
    /// The project to remove: its name, a key, or its id
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The project to keep: its name, a key, or its id
    #[arg(value_name = "INTO")]
    pub into: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub yes: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Salvage the readable rows of a damaged database, drain the spool, restrict file permissions to the user
    ///
    /// Never changes settings: `rutter init` repairs those.
    #[arg(long)]
    pub repair: bool,
    /// Start the installed client, offline and in a scratch folder, and check the text that reaches the model
    #[arg(long)]
    pub live: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter maintain`
#[derive(Debug, Args)]
pub struct MaintainArgs {
    /// Run in a new process session, as hooks start it
    #[arg(long)]
    pub detached: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter recall`
#[derive(Debug, Args)]
pub struct RecallArgs {
    /// The words to search for
    #[arg(value_name = "QUERY")]
    pub query: String,
    /// The part of a row to search: all of its text, the strategy, the surprise, or the root cause
    #[arg(long, value_parser = one_of!(Axis), default_value = "full")]
    pub axis: Axis,
    /// Only rows of this kind
    #[arg(long, value_parser = one_of!(DocumentKind))]
    pub kind: Option<DocumentKind>,
    /// Only experiences of this kind of work
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// Only experiences with this final status
    #[arg(long, value_parser = one_of!(GhapStatus))]
    pub outcome: Option<GhapStatus>,
    /// Include other projects, ranked after this one
    #[arg(long)]
    pub all: bool,
    /// Maximum number of rows
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = 10, value_parser = parse_positive)]
    pub limit: usize,
    /// Show how each score is computed
    #[arg(long)]
    pub why: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter episodes …`
#[derive(Debug, Subcommand)]
pub enum EpisodesCommand {
    /// List episodes, most recent first
    List(EpisodesListArgs),
    /// Show an episode: the failure, the runs, the changes
    Show(EpisodesShowArgs),
}

/// `rutter episodes list`
#[derive(Debug, Args)]
pub struct EpisodesListArgs {
    /// Include all projects
    #[arg(long)]
    pub all: bool,
    /// List failed commands that are no test run, with what worked instead
    #[arg(long, conflicts_with_all = ["open", "ending"])]
    pub commands: bool,
    /// Only episodes that still fail
    #[arg(long, conflicts_with = "ending")]
    pub open: bool,
    /// Only episodes that ended in this way
    #[arg(long, value_name = "HOW", value_parser = ending_parser())]
    pub ending: Option<EpisodeEndingKind>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_positive)]
    pub limit: usize,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter episodes show`
#[derive(Debug, Args)]
pub struct EpisodesShowArgs {
    /// The episode: any unique end of its id
    pub id: IdSuffix,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The event, for a hand-written payload without an event name
    pub event: Option<String>,
    /// The scope that starts the hook, project or plugin: the hook exits if settings nearer to the user run rutter
    #[arg(long, value_name = "SCOPE")]
    pub from: Option<String>,
}

/// `rutter outcome`
#[derive(Debug, Args)]
pub struct OutcomeArgs {
    /// The command line that was run
    #[arg(long, value_name = "CMD")]
    pub command: String,
    /// The exit status of the command
    #[arg(long, value_name = "N")]
    pub exit: Option<i32>,
    /// The output is incomplete
    #[arg(long)]
    pub cut: bool,
    /// The output format.
    #[command(flatten)]
    pub format: FormatArgs,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Cli, CliCommand};

    #[test]
    fn ending_left_means_expired() {
        for (name, ending) in [
            ("expired", EpisodeEndingKind::Left),
            ("left", EpisodeEndingKind::Left),
            ("fixed", EpisodeEndingKind::Fixed),
        ] {
            let words = ["rutter", "episodes", "list", "--ending", name];
            let command = Cli::try_parse_from(words).unwrap().command;
            let CliCommand::Episodes { command: EpisodesCommand::List(args) } = command else {
                panic!("{command:?}")
            };
            assert_eq!(args.ending, Some(ending), "{name}");
        }
    }
}
