//! The commands of the memory.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use rutter_memory::IdSuffix;
use rutter_memory::episode::How;
use rutter_memory::ghap::expect::Expects;
use rutter_memory::ghap::{Cause, Domain, Status, Strategy};
use rutter_memory::memory::Category;
use rutter_memory::search::document::{Axis, Kind};

use super::FormatArgs;

/// A parser for a closed vocabulary: errors, help and completions list its values.
macro_rules! one_of {
    ($choice:ty) => {
        PossibleValuesParser::new(<$choice>::NAMES).try_map(|text| text.parse::<$choice>())
    };
}

pub(super) use one_of;

pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a number from 1 on".to_owned()),
        Ok(number) => Ok(number),
    }
}

/// `rutter ghap …`
#[derive(Debug, Subcommand)]
pub enum GhapCommand {
    /// Say what you are after, what you believe, what you do about it, and what you will see if you are right
    ///
    /// What is missing is asked for on a terminal. For example: rutter ghap start --domain debugging
    /// --strategy read-the-error --goal 'CRLF files parse' --hypothesis 'lines are split at LF alone' --action 'use
    /// lines()' --prediction '`cargo test parser` passes'
    Start(StartArgs),
    /// Change what you believe, do or predict; the old belief is kept as a revision
    Update(UpdateArgs),
    /// Add a remark to the active GHAP
    Note(NoteArgs),
    /// Say how it ended: confirmed, falsified (with what surprised you and why), or abandoned
    ///
    /// The newest captured run that fits the prediction is taken as evidence; without one it is your word.
    Resolve(ResolveArgs),
    /// Take over a GHAP whose session is over
    Adopt(AdoptArgs),
    /// Give up the active GHAP, or one whose session is over
    Abandon(AbandonArgs),
    /// Show one GHAP, by default the active one
    Show(ShowArgs),
    /// List GHAPs of this project, the newest first
    List(ListArgs),
}

/// What a prediction is held against, and how sure one is of it.
#[derive(Debug, Args)]
pub struct TestArgs {
    /// What a run must say for the prediction to come true [default: read from the prediction]
    #[arg(long, value_parser = one_of!(Expects))]
    pub expects: Option<Expects>,
    /// The command, test or file that the prediction is about [default: read from the prediction]
    #[arg(long, value_name = "TEXT")]
    pub target: Option<String>,
    /// How sure you are, from 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub confidence: Option<f64>,
}

/// `rutter ghap start`
#[derive(Debug, Args)]
pub struct StartArgs {
    /// What kind of work it is
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// How you go about it
    #[arg(long, value_parser = one_of!(Strategy))]
    pub strategy: Option<Strategy>,
    /// What you want
    #[arg(long, value_name = "TEXT")]
    pub goal: Option<String>,
    /// What you believe
    #[arg(long, value_name = "TEXT")]
    pub hypothesis: Option<String>,
    /// What you do about it
    #[arg(long, value_name = "TEXT")]
    pub action: Option<String>,
    /// What you will see if you are right
    #[arg(long, value_name = "TEXT")]
    pub prediction: Option<String>,
    /// How it can be tested.
    #[command(flatten)]
    pub test: TestArgs,
    /// Write what is missing in $EDITOR
    #[arg(long)]
    pub editor: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap update`
#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// What you believe now
    #[arg(long, value_name = "TEXT")]
    pub hypothesis: Option<String>,
    /// What you do about it now
    #[arg(long, value_name = "TEXT")]
    pub action: Option<String>,
    /// What you will see now
    #[arg(long, value_name = "TEXT")]
    pub prediction: Option<String>,
    /// How you go about it now
    #[arg(long, value_parser = one_of!(Strategy))]
    pub strategy: Option<Strategy>,
    /// How it can be tested.
    #[command(flatten)]
    pub test: TestArgs,
    /// A remark to add as well
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap note`
#[derive(Debug, Args)]
pub struct NoteArgs {
    /// The remark
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap resolve`
#[derive(Debug, Args)]
pub struct ResolveArgs {
    /// How it ended
    #[arg(long, value_parser = PossibleValuesParser::new(&Status::NAMES[1..]).try_map(|text| text.parse::<Status>()))]
    pub status: Option<Status>,
    /// What happened
    #[arg(long, value_name = "TEXT")]
    pub result: Option<String>,
    /// What you did not expect; needed when falsified
    #[arg(long, value_name = "TEXT")]
    pub surprise: Option<String>,
    /// Why it came otherwise, in one word; needed when falsified
    #[arg(long, value_parser = one_of!(Cause))]
    pub root_cause_category: Option<Cause>,
    /// Why it came otherwise; needed when falsified
    #[arg(long, value_name = "TEXT")]
    pub root_cause: Option<String>,
    /// What did it in the end
    #[arg(long, value_name = "TEXT")]
    pub what_worked: Option<String>,
    /// What to remember
    #[arg(long, value_name = "TEXT")]
    pub takeaway: Option<String>,
    /// The captured run that shows it [default: the newest that fits the prediction]
    #[arg(long, value_name = "ID")]
    pub outcome: Option<IdSuffix>,
    /// Write what is missing in $EDITOR
    #[arg(long)]
    pub editor: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap adopt`
#[derive(Debug, Args)]
pub struct AdoptArgs {
    /// The GHAP [default: the only orphan of this project]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap abandon`
#[derive(Debug, Args)]
pub struct AbandonArgs {
    /// The GHAP [default: the active one]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap show`
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The GHAP [default: the active one]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter ghap list`
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only in this status
    #[arg(long, value_parser = one_of!(Status))]
    pub status: Option<Status>,
    /// Only of this kind of work
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// Only active ones whose session is over
    #[arg(long, conflicts_with = "status")]
    pub orphaned: bool,
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter remember`
#[derive(Debug, Args)]
pub struct RememberArgs {
    /// What to remember
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// What kind of thing it is
    #[arg(long, value_parser = one_of!(Category))]
    pub category: Category,
    /// From 0 to 1; sessions begin with preferences of importance 1 [default: 1 for a preference, else 0.5]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<f64>,
    /// A word to find it by; may be given up to 20 times
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,
    /// For every project, not just this one
    #[arg(long)]
    pub everywhere: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter memories`
#[derive(Debug, Args)]
pub struct MemoriesArgs {
    /// Only of this kind
    #[arg(long, value_parser = one_of!(Category))]
    pub category: Option<Category>,
    /// Only with this word; may be given more than once
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Vec<String>,
    /// Only those for every project
    #[arg(long, conflicts_with = "all")]
    pub everywhere: bool,
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter edit`
#[derive(Debug, Args)]
pub struct EditArgs {
    /// The memory, or the GHAP whose lesson is to change
    #[arg(value_name = "ID")]
    pub id: IdSuffix,
    /// What to remember instead [default: written in $EDITOR, when nothing else is given]
    #[arg(long, value_name = "TEXT")]
    pub text: Option<String>,
    /// What kind of thing it is
    #[arg(long, value_parser = one_of!(Category))]
    pub category: Option<Category>,
    /// From 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub importance: Option<f64>,
    /// The words to find it by, in place of those it has
    #[arg(long = "tag", value_name = "WORD")]
    pub tags: Option<Vec<String>>,
    /// Of a GHAP: what did it in the end
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text", "category", "importance", "tags"])]
    pub what_worked: Option<String>,
    /// Of a GHAP: what to remember
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text", "category", "importance", "tags"])]
    pub takeaway: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Only this project, or the one named
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub project: Option<String>,
    /// Where to write it [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `rutter import …`
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Take in what `rutter export` wrote: all of it, or nothing when a line is wrong
    ///
    /// What the file holds is shown first. Its rows are marked as imported: they are no evidence, change no row that is
    /// here, and can be taken out again. Accepted values, texts for every project and other names of projects wait for
    /// `rutter review`. Without a terminal it needs --yes.
    Jsonl(ImportArgs),
    /// List the imports that have rows here
    List(ImportListArgs),
    /// Take out every row that an import has added
    Undo(ImportUndoArgs),
    /// Something that is no format: a file, mostly.
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// `rutter import jsonl`
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The file; `-` is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The rows are your own, from another machine or a backup: take them as they are, and of two versions the later one
    #[arg(long)]
    pub own: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter import list`
#[derive(Debug, Args)]
pub struct ImportListArgs {
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter import undo`
#[derive(Debug, Args)]
pub struct ImportUndoArgs {
    /// The import [default: the newest]
    #[arg(value_name = "ID")]
    pub id: Option<IdSuffix>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

/// `rutter show`
#[derive(Debug, Args)]
pub struct ShowRowArgs {
    /// The row
    #[arg(value_name = "ID")]
    pub id: IdSuffix,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter review`
#[derive(Debug, Args)]
pub struct ReviewArgs {
    /// What to do [default: list]
    #[command(subcommand)]
    pub command: Option<ReviewCommand>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter review …`
#[derive(Debug, Subcommand)]
pub enum ReviewCommand {
    /// Let it hold; of an import: take its rows for your own
    Accept(ReviewIds),
    /// Drop it; of an import: take its rows out; of a value: retire it
    Reject(ReviewIds),
}

/// The rows that are decided.
#[derive(Debug, Args)]
pub struct ReviewIds {
    /// The rows
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<IdSuffix>,
}

/// `rutter forget`
#[derive(Debug, Args)]
#[group(required = true, multiple = false, id = "what")]
pub struct ForgetArgs {
    /// The GHAP, memory or outcome
    #[arg(value_name = "ID", group = "what")]
    pub id: Option<IdSuffix>,
    /// Every row that holds all of these words, each as a whole word, in any case
    #[arg(long, value_name = "WORDS", group = "what")]
    pub query: Option<String>,
    /// This project and everything in it, or the one named
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "", group = "what")]
    pub project: Option<String>,
    /// Everything
    #[arg(long, group = "what")]
    pub all: bool,
}

/// `rutter forget`, with how it goes about it.
#[derive(Debug, Args)]
pub struct ForgetCommand {
    /// What to forget.
    #[command(flatten)]
    pub what: ForgetArgs,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project …`
#[derive(Debug, Subcommand)]
pub enum ProjectCommand {
    /// List the projects there is something about, the last one seen first
    List(ProjectListArgs),
    /// Show one project, by default this one
    Show(ProjectShowArgs),
    /// Move everything of one project into another, so that both places share from now on
    ///
    /// There is no way back: afterwards nothing tells whose a row was. An empty name ("") is the project of this folder.
    Merge(ProjectMergeArgs),
}

/// `rutter project list`
#[derive(Debug, Args)]
pub struct ProjectListArgs {
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project show`
#[derive(Debug, Args)]
pub struct ProjectShowArgs {
    /// The project: its name, a key, or its id [default: that of this folder]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter project merge`
#[derive(Debug, Args)]
pub struct ProjectMergeArgs {
    /// The project that goes: its name, a key, or its id
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The project that stays: its name, a key, or its id
    #[arg(value_name = "INTO")]
    pub into: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Save what can be read of a damaged database, take in what waits in the spool, close the memory to others
    ///
    /// Settings are never touched: `rutter init` puts those right.
    #[arg(long)]
    pub repair: bool,
    /// Start the client that is installed, offline and in a folder of its own, and see what reaches the model
    #[arg(long)]
    pub live: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter tend`
#[derive(Debug, Args)]
pub struct TendArgs {
    /// In a process session of its own and with the lowest priority, as hooks start it
    #[arg(long)]
    pub detached: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter recall`
#[derive(Debug, Args)]
pub struct RecallArgs {
    /// What to look for, in words
    #[arg(value_name = "QUERY")]
    pub query: String,
    /// On what to ask: all that is said, how it was gone about, what surprised, why it was so
    #[arg(long, value_parser = one_of!(Axis), default_value = "full")]
    pub axis: Axis,
    /// Only of this kind
    #[arg(long, value_parser = one_of!(Kind))]
    pub kind: Option<Kind>,
    /// Only experiences of this kind of work
    #[arg(long, value_parser = one_of!(Domain))]
    pub domain: Option<Domain>,
    /// Only experiences that ended so
    #[arg(long, value_parser = one_of!(Status))]
    pub outcome: Option<Status>,
    /// Those of other projects as well, behind
    #[arg(long)]
    pub all: bool,
    /// At most so many
    #[arg(short = 'k', long = "limit", value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub limit: usize,
    /// Show what each score is made of
    #[arg(long)]
    pub why: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter episodes …`
#[derive(Debug, Subcommand)]
pub enum EpisodesCommand {
    /// List them, those that were seen last first
    List(EpisodesListArgs),
    /// Show one: the failure, the runs, the changes
    Show(EpisodesShowArgs),
}

/// `rutter episodes list`
#[derive(Debug, Args)]
pub struct EpisodesListArgs {
    /// Of all projects
    #[arg(long)]
    pub all: bool,
    /// Only those that still fail
    #[arg(long, conflicts_with = "ending")]
    pub open: bool,
    /// Only those that ended so
    #[arg(long, value_name = "HOW", value_parser = one_of!(How))]
    pub ending: Option<How>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub limit: usize,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter episodes show`
#[derive(Debug, Args)]
pub struct EpisodesShowArgs {
    /// Which: any end of its id that is unique
    pub id: IdSuffix,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}

/// `rutter hook`
#[derive(Debug, Args)]
pub struct HookArgs {
    /// The event, for a payload that was written by hand and does not say
    pub event: Option<String>,
    /// Whose file has it run, project or plugin: it steps back where settings that are nearer to the user run rutter
    #[arg(long, value_name = "SCOPE")]
    pub from: Option<String>,
}

/// `rutter outcome`
#[derive(Debug, Args)]
pub struct OutcomeArgs {
    /// The command line that was run
    #[arg(long, value_name = "CMD")]
    pub command: String,
    /// Its exit status
    #[arg(long, value_name = "N")]
    pub exit: Option<i32>,
    /// Some of the output is missing
    #[arg(long)]
    pub cut: bool,
    /// How to print.
    #[command(flatten)]
    pub format: FormatArgs,
}
