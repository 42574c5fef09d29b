//! The tools that an agent can call.
//!
//! [`TOOLS`] is the only list: the server, `rutter call` and the documentation read it. Descriptions are for a model:
//! when to call, when not to, and an example if the arguments need one.

use std::sync::Arc;

use rutter_memory::quote::{format_field, quote_in_backticks, sanitize_line};
use rutter_memory::store::entry::ProjectPlace;
use rutter_memory::{Clean, Id, IdSuffix, Store, StoreError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::refusal::redact_name;
use crate::schema;
use crate::server_context::{Caller, ServerContext};

mod context;
mod experience;
mod ghap;
mod memory;
mod status;
mod values;

pub use crate::refusal::ToolRefusal;

/// A tool.
pub struct ToolSpec {
    /// The name in the protocol.
    pub name: &'static str,
    /// The title for people.
    pub title: &'static str,
    /// The description for a model: when to call it.
    pub description: &'static str,
    /// Search words for a tool that is not always loaded.
    pub hint: &'static str,
    /// True if the client loads the tool in every session.
    pub always: bool,
    /// The effect on the memory.
    pub effect: ToolEffect,
    input: fn() -> Arc<Map<String, Value>>,
    output: fn() -> Arc<Map<String, Value>>,
    run: fn(Value, &mut ToolInvocation<'_>) -> Result<ToolAnswer, ToolRefusal>,
}

/// The effect of a tool on the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Reads rows of the project.
    Reads,
    /// Adds or changes rows; removes none.
    Adds,
    /// Removes rows for good.
    Removes,
    /// Reads rows of other projects.
    ReadsElsewhere,
}

impl ToolEffect {
    /// Returns true for a tool that only reads.
    pub const fn only_reads(self) -> bool {
        matches!(self, Self::Reads | Self::ReadsElsewhere)
    }

    /// Returns true for a tool that stays inside the caller's project and removes nothing.
    pub const fn stays_inside(self) -> bool {
        matches!(self, Self::Reads | Self::Adds)
    }
}

/// The result of a successful call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// A JSON object for programs.
    pub structured: Value,
    /// A short text of the same content for a model.
    pub text: String,
}

/// A call of a tool, with its context.
pub(crate) struct ToolInvocation<'a> {
    pub(crate) desk: &'a ServerContext,
    pub(crate) store: Store,
    /// The client's id of the call.
    pub(crate) tool_use: Option<&'a str>,
}

impl ToolInvocation<'_> {
    pub(crate) fn now(&self) -> rutter_memory::Time {
        (self.desk.now)()
    }

    /// Returns the owner of the call, or refuses if the user paused or excluded it. Tools call this first.
    pub(crate) fn owner(&mut self) -> Result<rutter_memory::store::GhapOwner, ToolRefusal> {
        let Caller { owner, quiet } = self.caller()?;
        self.store.set_author(self.desk.origin(&owner));
        match quiet {
            None => Ok(owner),
            Some(quiet) => Err(ToolRefusal::Refused(quiet)),
        }
    }

    /// Returns the owner and the reason for a refusal, for tools that answer in any case.
    pub(crate) fn caller(&mut self) -> Result<Caller, ToolRefusal> {
        self.desk.caller(&mut self.store, self.tool_use)
    }
}

/// The typed result of a tool, before serialization.
pub(crate) struct TypedAnswer<T> {
    pub(crate) value: T,
    pub(crate) text: String,
}

/// Builds a [`ToolSpec`] from a function between an input and an output type.
macro_rules! tool {
    ($name:literal, $title:literal, $effect:ident, $run:path: $input:ty => $output:ty, always, $description:literal) => {
        tool!(@ $name, $title, $effect, $run, $input, $output, true, "", $description)
    };
    ($name:literal, $title:literal, $effect:ident, $run:path: $input:ty => $output:ty, $hint:literal, $description:literal) => {
        tool!(@ $name, $title, $effect, $run, $input, $output, false, $hint, $description)
    };
    (@ $name:literal, $title:literal, $effect:ident, $run:path, $input:ty, $output:ty, $always:literal, $hint:literal, $description:literal) => {
        ToolSpec {
            name: $name,
            title: $title,
            description: $description,
            hint: $hint,
            always: $always,
            effect: ToolEffect::$effect,
            input: schema::input_schema::<$input>,
            output: schema::output_schema::<$output>,
            run: |arguments, call| {
                let given: TypedAnswer<$output> = $run(&parse_arguments::<$input>($name, arguments)?, call)?;
                serialize_answer(given)
            },
        }
    };
}

/// All tools.
pub const TOOLS: &[ToolSpec] = &[
    tool!(
        "start_ghap", "Start a GHAP", Adds, ghap::start_ghap: ghap::StartGhapInput => ghap::GhapAnswer, always,
        "Before acting on a guess that a test or build can settle: record goal, hypothesis, \
         action and prediction. Later runs are compared with the prediction. Not for questions \
         or edits that nothing checks. Only one at a time. Name the command, e.g. prediction: \
         \"`cargo test parser` passes\"."
    ),
    tool!(
        "update_ghap", "Update the GHAP", Adds, ghap::update_ghap: ghap::UpdateGhapInput => ghap::GhapAnswer, always,
        "When hypothesis, action or prediction changes; the old one is kept. Send only \
         what changed, or a note."
    ),
    tool!(
        "resolve_ghap", "Resolve the GHAP", Adds, ghap::resolve_ghap: ghap::ResolveGhapInput => ghap::ResolveGhapAnswer, always,
        "When a run settled the active GHAP, or you abandon it. falsified needs surprise \
         and root_cause. The newest captured run that fits is the evidence (gold), else \
         it is your claim (silver). lesson.takeaway is the rule for later sessions."
    ),
    tool!(
        "get_ghap", "Show GHAPs", Reads, ghap::get_ghap: ghap::GetGhapInput => ghap::GetGhapAnswer, "active goal hypothesis prediction orphan history list",
        "Without arguments: the active GHAP and orphans (GHAPs whose session is over). With id: \
         that GHAP in full. With status, domain or list: earlier GHAPs, newest first."
    ),
    tool!(
        "adopt_ghap", "Adopt an orphan", Adds, ghap::adopt_ghap: ghap::AdoptGhapInput => ghap::GhapAnswer, "orphan resume continue earlier session",
        "Continue a GHAP whose session is over; its history is kept. To abandon it instead: \
         resolve_ghap with its id and status abandoned."
    ),
    tool!(
        "search_experiences", "Search experiences", Reads, experience::search_experiences: experience::SearchExperiencesInput => experience::SearchExperiencesAnswer, "lessons learnt earlier failures surprises root causes",
        "Search the lessons of earlier GHAPs when a task, error or plan may have been tried \
         before. Ask in words; axis selects what is compared. Best hits first; get_ghap with an \
         id shows one in full."
    ),
    tool!(
        "search_other_projects", "Search other projects", ReadsElsewhere, experience::search_other_projects: experience::SearchOtherProjectsInput => experience::SearchExperiencesAnswer, "lessons of other repositories",
        "Search the lessons of other projects when search_experiences found nothing and the \
         user works on related repositories. Needs the user's scope.recall = \"everywhere\"."
    ),
    tool!(
        "assemble_context", "Assemble context", Reads, context::assemble_context: context::AssembleContextInput => context::AssembleContextAnswer, "background memories episodes for a prompt",
        "Get everything stored that is relevant to a task, as markdown within a budget. Hooks \
         add this to prompts; call it for a larger plan (depth rich) or a subtask. Without \
         query: the context of a new session."
    ),
    tool!(
        "premortem", "Premortem", Reads, experience::premortem: experience::PremortemInput => experience::PremortemAnswer, "risks before starting, strategy record, common failures",
        "Before a larger piece of work: earlier failures in this domain, which strategies \
         worked, which surprises and causes to watch."
    ),
    tool!(
        "remember", "Remember", Adds, memory::remember: memory::RememberInput => memory::RememberAnswer, "store fact preference decision workflow",
        "Store something that is not in the code and will be needed again: a fact about the \
         environment, a preference, a decision and its reason. Not what a test or a file \
         already says; never secrets."
    ),
    tool!(
        "recall_memories", "Recall memories", Reads, memory::recall_memories: memory::RecallMemoriesInput => memory::RecallMemoriesAnswer, "stored facts preferences decisions",
        "Search memories by words and meaning. Without query: the newest. With id: that memory \
         or lesson in full."
    ),
    tool!(
        "forget", "Forget", Removes, memory::forget_rows: memory::ForgetInput => memory::ForgetAnswer, "delete remove erase",
        "Delete wrong, outdated or private rows by id. This cannot be undone."
    ),
    tool!(
        "list_clusters", "List clusters", Reads, values::list_clusters: values::ListClustersInput => values::ListClustersAnswer, "recurring lessons patterns groups",
        "List groups of three or more similar experiences, largest first. With cluster: its \
         members. Read the members before add_value."
    ),
    tool!(
        "add_value", "Add a value", Adds, values::add_value: values::AddValueInput => values::AddValueAnswer, "principle rule generalise propose",
        "Propose in one sentence what the members of a cluster have in common, as a rule to work \
         by. It is compared with the cluster and refused, with the distance, if it is about \
         something else. Only the user can accept it. Not for a single lesson: resolve_ghap \
         stores that."
    ),
    tool!(
        "list_values", "List values", Reads, values::list_values: values::ListValuesInput => values::ListValuesAnswer, "principles rules learnt",
        "List the rules that several lessons support and that apply here, best supported first; \
         proposed ones wait for the user."
    ),
    tool!(
        "status", "Status", Reads, status::get_status: status::StatusInput => status::StatusAnswer, "project session runs counts",
        "Show the state of this project: session, active GHAP, last runs, open failures, row \
         counts."
    ),
];

fn tool_names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

impl ToolSpec {
    /// Returns the JSON Schema of the arguments.
    pub fn input(&self) -> Arc<Map<String, Value>> {
        (self.input)()
    }

    /// Checks the arguments against the schema. The call itself can still refuse them.
    pub fn check_arguments(&self, mut arguments: Value) -> Result<(), ToolRefusal> {
        default_to_object(&mut arguments);
        schema::validate_arguments(self.name, &self.input(), &mut arguments)
            .map_err(ToolRefusal::Arguments)
    }

    /// Returns the JSON Schema of the structured answer.
    pub fn output(&self) -> Arc<Map<String, Value>> {
        (self.output)()
    }

    /// Calls the tool, and returns the store handle with the answer.
    pub(crate) fn call(
        &self,
        desk: &ServerContext,
        store: Store,
        arguments: Value,
        tool_use: Option<&str>,
    ) -> (Result<ToolAnswer, ToolRefusal>, Store) {
        let mut call = ToolInvocation { desk, store, tool_use };
        let answer = (self.run)(arguments, &mut call);
        (answer, call.store)
    }
}

/// Calls a tool. `tool_use` is the client's id of the call.
pub fn call_tool(
    desk: &ServerContext,
    name: &str,
    arguments: Value,
    tool_use: Option<&str>,
) -> Result<ToolAnswer, ToolRefusal> {
    let tool = find_tool(name)?;
    tool.call(desk, desk.store()?, arguments, tool_use).0
}

/// Returns the tool with this name.
pub(crate) fn find_tool(name: &str) -> Result<&'static ToolSpec, ToolRefusal> {
    let tool = TOOLS.iter().find(|tool| tool.name == name);
    tool.ok_or_else(|| ToolRefusal::Unknown { name: redact_name(name, 60), tools: tool_names() })
}

/// Replaces missing arguments by an empty object.
fn default_to_object(arguments: &mut Value) {
    if arguments.is_null() {
        *arguments = Value::Object(Map::new());
    }
}

/// Checks the arguments against the schema and deserializes them.
fn parse_arguments<T: DeserializeOwned + JsonSchema>(
    name: &str,
    mut arguments: Value,
) -> Result<T, ToolRefusal> {
    default_to_object(&mut arguments);
    schema::validate_arguments(name, &schema::input_schema::<T>(), &mut arguments)
        .map_err(ToolRefusal::Arguments)?;
    serde_json::from_value(arguments)
        .map_err(|error| ToolRefusal::Arguments(Clean::new(&error.to_string()).to_string()))
}

fn serialize_answer<T: Serialize>(given: TypedAnswer<T>) -> Result<ToolAnswer, ToolRefusal> {
    let mut structured = serde_json::to_value(given.value)
        .map_err(|error| ToolRefusal::Refused(format!("could not write the answer: {error}")))?;
    quote_strings(&mut structured);
    // The tools quote stored text in their lines; this is the safety net for lines that forgot to.
    let lines: Vec<String> = given.text.lines().map(|line| sanitize_line(line, false)).collect();
    Ok(ToolAnswer { structured, text: lines.join("\n") })
}

/// Fields with rendered text: their parts are quoted already, and they have several lines.
const PREQUOTED_FIELDS: &[&str] = &["markdown"];

/// Neutralizes every text in an answer, because clients also show the structured answer to a model.
fn quote_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            let quoted = format_field(text);
            if *text != quoted {
                *text = quoted;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(quote_strings),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if !PREQUOTED_FIELDS.contains(&name.as_str()) {
                    quote_strings(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the mark of a row that comes from another checkout or an import and that nothing has confirmed here.
fn unconfirmed_mark(
    call: &ToolInvocation<'_>,
    row: Id,
    place: &ProjectPlace,
) -> Result<Option<String>, StoreError> {
    let reason = call.store.reader().unconfirmed_reason(row, place)?;
    Ok(reason.map(|reason| reason.mark_text().to_owned()))
}

/// Returns a mark for a line of text, with a space before it.
fn spaced_mark(mark: Option<&str>) -> String {
    mark.map_or_else(String::new, |mark| format!(" {mark}"))
}

/// Returns the origin of a row as one line, only if the row was imported. For other rows the agent can ask by id.
fn import_origin(call: &ToolInvocation<'_>, row: Id) -> Result<Option<String>, StoreError> {
    let origin = call.store.origin(row)?.filter(|origin| origin.import.is_some());
    Ok(origin.map(|origin| origin.describe(call.now())))
}

/// Returns the origin of a row as one line.
fn describe_origin(call: &ToolInvocation<'_>, row: Id) -> Result<Option<String>, StoreError> {
    Ok(call.store.origin(row)?.map(|origin| origin.describe(call.now())))
}

/// The maximum length of a text in a line of a list, in characters.
const MAX_LINE_CHARS: usize = 160;
/// The maximum length of a text in a search result, in characters.
const MAX_PASSAGE_CHARS: usize = 400;

/// Truncates a text to `most` characters.
fn truncate_chars(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Quotes a stored text for a line of an answer: MCP prompts put such lines before a model as if the user had said
/// them.
fn quote_passage(text: &str) -> String {
    quote_in_backticks(text, MAX_PASSAGE_CHARS)
}

/// Returns None for a row that was deleted since it was found.
fn if_still_there<T>(row: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match row {
        Ok(row) => Ok(Some(row)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A pagination cursor: the list continues after the last row of a page, even if that row is deleted. The letter names
/// the list.
struct PageCursor(char);

impl PageCursor {
    const GHAPS: Self = Self('g');
    const MEMORIES: Self = Self('m');

    fn parse(&self, sent: &str) -> Result<i64, ToolRefusal> {
        let position = sent.strip_prefix(self.0).and_then(|number| number.parse().ok());
        position.filter(|position| *position > 0).ok_or_else(|| {
            let what = "cursor is not the next_cursor of an earlier answer; omit it to start \
                        again";
            ToolRefusal::Arguments(what.to_owned())
        })
    }

    /// Returns the cursor after the last row of a page that still exists.
    fn after_page(
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

/// Returns the short form of an id: its last eight characters.
fn short_id(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// Parses a received id; an error names its argument.
fn parse_id(name: &str, text: &str) -> Result<IdSuffix, ToolRefusal> {
    text.parse().map_err(|error| ToolRefusal::Arguments(format!("{name}: {error}")))
}
