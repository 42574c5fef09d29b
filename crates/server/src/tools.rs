//! What an agent can call.
//!
//! The table below is the one list: the server, `rutter call` and the documentation read it. Descriptions are for a model: when to call,
//! when not, and an example where the arguments do not speak for themselves.

use std::sync::Arc;

use rutter_memory::quote::{cite, field, harmless};
use rutter_memory::{Clean, Id, IdSuffix, Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::desk::{Caller, Desk};
use crate::schema;

mod context;
mod experience;
mod ghap;
mod memory;
mod status;
mod values;

/// A tool.
pub struct Tool {
    /// What it is called.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// When to call it.
    pub description: &'static str,
    /// Words to find it by, where it is not always at hand.
    pub hint: &'static str,
    /// Whether it is always at hand.
    pub always: bool,
    /// What it does to the memory.
    pub effect: Effect,
    input: fn() -> Arc<Map<String, Value>>,
    output: fn() -> Arc<Map<String, Value>>,
    run: fn(Value, &mut Call<'_>) -> Result<Answer, Refusal>,
}

/// What a tool does to the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It looks.
    Reads,
    /// It adds or changes; nothing is lost.
    Adds,
    /// What it takes away is gone.
    Removes,
    /// It looks into other projects.
    ReadsElsewhere,
}

impl Effect {
    /// Returns true for a tool that changes nothing.
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::Reads | Self::ReadsElsewhere)
    }

    /// Returns true for a tool that stays inside the caller's project and removes nothing.
    pub const fn stays_inside(self) -> bool {
        matches!(self, Self::Reads | Self::Adds)
    }
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// For programs: an object.
    pub structured: Value,
    /// The same for a model, in a few words.
    pub text: String,
}

/// Why nothing came of it, and what to send instead.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such tool.
    #[error("there is no tool `{0}`; there are: {names}", names = names())]
    Unknown(String),
    /// What was sent is not what it takes.
    #[error("{0}")]
    Arguments(String),
    /// What was asked cannot be done.
    #[error("{0}")]
    Refused(String),
    /// The memory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// One call, and what it works with.
pub(crate) struct Call<'a> {
    pub(crate) desk: &'a Desk,
    pub(crate) store: Store,
    /// The client's name for it.
    pub(crate) tool_use: Option<&'a str>,
}

impl Call<'_> {
    pub(crate) fn now(&self) -> rutter_memory::Time {
        (self.desk.now)()
    }

    /// On whose behalf, unless somebody wants quiet there. Asked for before anything else is done.
    pub(crate) fn owner(&mut self) -> Result<rutter_memory::store::Owner, Refusal> {
        let Caller { owner, quiet } = self.caller()?;
        self.store.write_as(self.desk.origin(&owner));
        match quiet {
            None => Ok(owner),
            Some(quiet) => Err(Refusal::Refused(quiet)),
        }
    }

    /// The same for what may be answered in any case.
    pub(crate) fn caller(&mut self) -> Result<Caller, Refusal> {
        self.desk.caller(&mut self.store, self.tool_use)
    }
}

/// What a call gives, in types.
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) text: String,
}

/// Makes a tool of a function from one type to another.
macro_rules! tool {
    ($name:literal, $title:literal, $effect:ident, $run:path: $input:ty => $output:ty, always, $description:literal) => {
        tool!(@ $name, $title, $effect, $run, $input, $output, true, "", $description)
    };
    ($name:literal, $title:literal, $effect:ident, $run:path: $input:ty => $output:ty, $hint:literal, $description:literal) => {
        tool!(@ $name, $title, $effect, $run, $input, $output, false, $hint, $description)
    };
    (@ $name:literal, $title:literal, $effect:ident, $run:path, $input:ty, $output:ty, $always:literal, $hint:literal, $description:literal) => {
        Tool {
            name: $name,
            title: $title,
            description: $description,
            hint: $hint,
            always: $always,
            effect: Effect::$effect,
            input: schema::sent::<$input>,
            output: schema::given::<$output>,
            run: |arguments, call| {
                let given: Given<$output> = $run(&read::<$input>($name, arguments)?, call)?;
                answer(given)
            },
        }
    };
}

/// The list.
pub const TOOLS: &[Tool] = &[
    tool!(
        "start_ghap", "Start a GHAP", Adds, ghap::start: ghap::Start => ghap::Started, always,
        "Before acting on a guess that a test or build can settle: say goal, hypothesis, action and prediction. Later runs are held against the prediction. Not for questions or edits that nothing checks. One is active at a time. Name the command in the prediction, e.g. prediction: \"`cargo test parser` passes\"."
    ),
    tool!(
        "update_ghap", "Change what you believe", Adds, ghap::update: ghap::Update => ghap::Started, always,
        "When you believe, do or predict something else now; the old belief is kept. Send only what changed, or a note."
    ),
    tool!(
        "resolve_ghap", "Say how it ended", Adds, ghap::resolve: ghap::Resolve => ghap::Resolved, always,
        "When a run has settled the active GHAP, or you give it up. falsified needs surprise and root_cause: that is what can be learnt. The newest captured run that fits is the evidence (gold); without one it is your word (silver). lesson.takeaway is the rule for whoever meets the trap next."
    ),
    tool!(
        "get_ghap", "Look at GHAPs", Reads, ghap::get: ghap::Get => ghap::Found, "active goal hypothesis prediction orphan history list",
        "Without arguments: the active GHAP and those whose session is over (orphans). With id: that one, whole. With status, domain or list: earlier ones, newest first."
    ),
    tool!(
        "adopt_ghap", "Take over an orphan", Adds, ghap::adopt: ghap::Adopt => ghap::Started, "orphan resume continue earlier session",
        "Go on with a GHAP whose session is over; its history stays. To give it up instead: resolve_ghap with its id and status abandoned."
    ),
    tool!(
        "search_experiences", "Search experiences", Reads, experience::search: experience::Search => experience::Found, "lessons learnt earlier failures surprises root causes",
        "What earlier GHAPs taught: when a task, error or plan may have been tried before. Ask in words; axis narrows what is compared. Hits come best first; get_ghap with an id shows one whole."
    ),
    tool!(
        "search_other_projects", "Search other projects", ReadsElsewhere, experience::search_elsewhere: experience::SearchElsewhere => experience::Found, "lessons of other repositories",
        "What GHAPs of other projects taught, for when search_experiences found nothing and the user works on related repositories. Needs the user's scope.recall = \"everywhere\"."
    ),
    tool!(
        "assemble_context", "Assemble context", Reads, context::assemble: context::Assemble => context::Assembled, "background memories episodes for a prompt",
        "Everything known that bears on a task, as markdown within a budget. Prompts get this by themselves; call it for a larger plan (depth rich) or a subtask. Without query: what a session begins with."
    ),
    tool!(
        "premortem", "What could go wrong", Reads, experience::premortem: experience::Ahead => experience::Premortem, "risks before starting, strategy record, common failures",
        "Before a larger piece of work: what went wrong in this domain before, which strategies held, which surprises and causes to watch."
    ),
    tool!(
        "remember", "Remember", Adds, memory::remember: memory::Remember => memory::Remembered, "store fact preference decision workflow",
        "Keep something that is not in the code and will be needed again: a fact about the environment, a preference, a decision and its reason. Not what a test or a file already says; never secrets."
    ),
    tool!(
        "recall_memories", "Recall memories", Reads, memory::recall: memory::Recall => memory::Recalled, "stored facts preferences decisions",
        "Find what was remembered, by words and meaning. Without query: the newest. With id: that one, whole."
    ),
    tool!(
        "forget", "Forget", Removes, memory::forget: memory::Forget => memory::Forgotten, "delete remove erase",
        "Delete rows for good, by id: what is wrong, outdated or private. Nothing brings them back."
    ),
    tool!(
        "list_clusters", "Experiences that belong together", Reads, values::clusters: values::Clusters => values::Grouped, "recurring lessons patterns groups",
        "What experiences have in common: groups of three or more that are alike, the largest first. With cluster: its members. Before add_value, read the members."
    ),
    tool!(
        "add_value", "Say what a cluster teaches", Adds, values::add: values::Add => values::Added, "principle rule generalise accept a proposed value",
        "Say in one sentence what the members of a cluster have in common, as a rule to work by; later sessions begin with it. It is held against the cluster and refused, with the distance, if it says something else. To accept a proposed value, send its text. Not for a single lesson: resolve_ghap keeps that."
    ),
    tool!(
        "list_values", "Values", Reads, values::values: values::Values => values::Listed, "principles rules learnt",
        "The rules that were made of lessons and hold here, best founded first; proposed ones wait for add_value."
    ),
    tool!(
        "status", "Status", Reads, status::status: status::Ask => status::Status, "project session runs counts",
        "Where things stand here: project, session, active GHAP, last runs, open failures, how much is known."
    ),
];

fn names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

impl Tool {
    /// What it takes, as JSON Schema.
    pub fn input(&self) -> Arc<Map<String, Value>> {
        (self.input)()
    }

    /// Whether it takes these arguments, or what is wrong with them. What it does with them may still be refused.
    pub fn takes(&self, mut arguments: Value) -> Result<(), Refusal> {
        plain(&mut arguments);
        schema::fit(self.name, &self.input(), &mut arguments).map_err(Refusal::Arguments)
    }

    /// What it gives, as JSON Schema.
    pub fn output(&self) -> Arc<Map<String, Value>> {
        (self.output)()
    }

    /// Calls it, and gives the handle back.
    pub(crate) fn call(
        &self,
        desk: &Desk,
        store: Store,
        arguments: Value,
        tool_use: Option<&str>,
    ) -> (Result<Answer, Refusal>, Store) {
        let mut call = Call { desk, store, tool_use };
        let answer = (self.run)(arguments, &mut call);
        (answer, call.store)
    }
}

/// Calls a tool. `tool_use` is the client's name for the call.
pub fn call(
    desk: &Desk,
    name: &str,
    arguments: Value,
    tool_use: Option<&str>,
) -> Result<Answer, Refusal> {
    let tool = named(name)?;
    tool.call(desk, desk.store()?, arguments, tool_use).0
}

/// The tool of a name.
pub(crate) fn named(name: &str) -> Result<&'static Tool, Refusal> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    tool.ok_or_else(|| Refusal::Unknown(sent(name, 60)))
}

/// A name that was sent, to be said again: a secret may have slipped into it.
pub(crate) fn sent(name: &str, most: usize) -> String {
    Clean::new(name).chars().take(most).collect()
}

/// Nothing at all is no arguments.
fn plain(arguments: &mut Value) {
    if arguments.is_null() {
        *arguments = Value::Object(Map::new());
    }
}

/// What was sent, as what it should be.
fn read<T: DeserializeOwned + JsonSchema>(name: &str, mut arguments: Value) -> Result<T, Refusal> {
    plain(&mut arguments);
    schema::fit(name, &schema::sent::<T>(), &mut arguments).map_err(Refusal::Arguments)?;
    serde_json::from_value(arguments)
        .map_err(|error| Refusal::Arguments(Clean::new(&error.to_string()).to_string()))
}

fn answer<T: Serialize>(given: Given<T>) -> Result<Answer, Refusal> {
    let mut structured = serde_json::to_value(given.value)
        .map_err(|error| Refusal::Refused(format!("the answer cannot be written: {error}")))?;
    quote_strings(&mut structured);
    // What is told in words was quoted where it was written; this holds for what may have been forgotten.
    let lines: Vec<String> = given.text.lines().map(|line| harmless(line, false)).collect();
    Ok(Answer { structured, text: lines.join("\n") })
}

/// Fields that are put together of quotations, and have lines of their own.
const RENDERED: &[&str] = &["markdown"];

/// Makes data of every text in an answer: clients show a model the answer for programs too.
fn quote_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            let quoted = field(text);
            if *text != quoted {
                *text = quoted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(quote_strings),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if !RENDERED.contains(&name.as_str()) {
                    quote_strings(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The origin of a row in one line, if it was imported: of other rows whoever wants to know asks for one by its id.
fn foreign_origin(call: &Call<'_>, row: Id) -> Result<Option<String>, StoreError> {
    let origin = call.store.origin(row)?.filter(|origin| origin.import.is_some());
    Ok(origin.map(|origin| origin.describe(call.now())))
}

/// The origin of a row in one line.
fn origin(call: &Call<'_>, row: Id) -> Result<Option<String>, StoreError> {
    Ok(call.store.origin(row)?.map(|origin| origin.describe(call.now())))
}

/// How much of a text stands on a line of a list.
const LINE: usize = 160;
/// How much of a text is told of one of several that were found.
const PASSAGE: usize = 400;

/// The first so many characters of a text, for where it is one of many.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// A stored text in a line of others: prompts put such lines before a model as if the user had said them.
fn quoted(text: &str) -> String {
    cite(text, PASSAGE)
}

/// A row that was found a moment ago. Somebody may have forgotten it since, which is nobody's fault.
fn still_there<T>(row: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where a list goes on: behind the last row of a page, whatever becomes of that row. The letter says of which list.
struct Cursor(char);

impl Cursor {
    const GHAPS: Self = Self('g');
    const MEMORIES: Self = Self('m');

    fn read(&self, sent: &str) -> Result<i64, Refusal> {
        let position = sent.strip_prefix(self.0).and_then(|number| number.parse().ok());
        position.filter(|position| *position > 0).ok_or_else(|| {
            let what = "cursor is the next_cursor of an earlier answer; leave it out to begin anew";
            Refusal::Arguments(what.to_owned())
        })
    }

    /// Behind the last of a page that is still there.
    fn behind(
        &self,
        page: impl DoubleEndedIterator<Item = Id>,
        position: impl Fn(Id) -> Result<Option<i64>, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        for id in page.rev() {
            if let Some(position) = position(id)? {
                return Ok(Some(format!("{}{position}", self.0)));
            }
        }
        Ok(None)
    }
}

/// The end of an identity, by which people call it.
fn short(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// An identity that was sent, by the name of its argument.
fn id(name: &str, text: &str) -> Result<IdSuffix, Refusal> {
    text.parse().map_err(|error| Refusal::Arguments(format!("{name}: {error}")))
}
