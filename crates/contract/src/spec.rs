//! The types of the event table: the properties of an event, and the source of each fact.

use serde::{Serialize, Serializer};

use crate::name::EventName;
use crate::version::{Contract, Version};

/// The source of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Seen in the real client, run against a scripted model on loopback.
    Observed,
    /// In the type declarations of the client's SDK.
    Typed,
    /// In the official documentation.
    Documented,
    /// Read from texts inside the client's binary.
    Binary,
    /// Found in secondary sources: changelog copies, wikis.
    ThirdParty,
    /// Concluded from similar events or fields; no source states it.
    Inferred,
}

/// The degree of trust in a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Confidence {
    Low,
    Medium,
    High,
    Highest,
}

impl Source {
    /// Returns the mark of this source in the documents.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Observed => "O",
            Self::Typed => "T",
            Self::Documented => "D",
            Self::Binary => "B",
            Self::ThirdParty => "3",
            Self::Inferred => "I",
        }
    }

    /// Returns the name of this source in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Typed => "typed",
            Self::Documented => "documented",
            Self::Binary => "binary",
            Self::ThirdParty => "third-party",
            Self::Inferred => "inferred",
        }
    }

    /// Returns the confidence in facts from this source.
    pub const fn confidence(self) -> Confidence {
        match self {
            Self::Observed => Confidence::Highest,
            Self::Typed | Self::Documented => Confidence::High,
            Self::Binary => Confidence::Medium,
            Self::ThirdParty | Self::Inferred => Confidence::Low,
        }
    }
}

impl Confidence {
    /// Returns the name of this degree in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Highest => "highest",
        }
    }
}

/// A statement about the client and its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<T> {
    /// The statement.
    pub value: T,
    /// The source of the statement.
    pub source: Source,
}

impl<T> Fact<T> {
    pub(crate) const fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}

/// The client version that introduced an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// The first version that certainly has the event.
    pub version: Version,
    /// The last version known not to have the event; set if an earlier version than `version` may have introduced it.
    pub earliest: Option<Version>,
    /// True if `version` introduced the event; false if `version` only is known to have it.
    pub exact: bool,
    /// The source of these versions.
    pub source: Source,
}

impl Since {
    pub(crate) const fn exact(version: (u16, u16, u16), source: Source) -> Self {
        Self { version: Version::from_tuple(version), earliest: None, exact: true, source }
    }

    pub(crate) const fn at_most(version: (u16, u16, u16), source: Source) -> Self {
        Self { version: Version::from_tuple(version), earliest: None, exact: false, source }
    }

    pub(crate) const fn between(
        earliest: (u16, u16, u16),
        version: (u16, u16, u16),
        source: Source,
    ) -> Self {
        let version = Version::from_tuple(version);
        Self { version, earliest: Some(Version::from_tuple(earliest)), exact: false, source }
    }
}

impl std::fmt::Display for Since {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.exact, self.earliest) {
            (true, _) => write!(f, "{}", self.version),
            (false, Some(earliest)) => write!(f, "{earliest}–{}", self.version),
            (false, None) => write!(f, "≤{}", self.version),
        }
    }
}

/// An enumerated string.
#[derive(Debug)]
pub struct ChoiceSpec {
    /// The name of its Rust type.
    pub name: &'static str,
    /// The documentation of the type.
    pub doc: &'static str,
    /// The known values.
    pub values: &'static [ChoiceValue],
    /// True if the client is known to send other values too.
    pub open: bool,
}

/// A value of a [`ChoiceSpec`].
#[derive(Debug, Clone, Copy)]
pub struct ChoiceValue {
    /// The value as the client writes it.
    pub text: &'static str,
    /// The client version that introduced the value, if it is newer than the field.
    pub since: Option<Version>,
}

impl ChoiceSpec {
    /// Returns the values that `contract` has.
    pub fn values_at(&self, contract: Contract) -> impl Iterator<Item = &'static str> + '_ {
        self.values
            .iter()
            .filter(move |value| value.since.is_none_or(|since| contract.has(since)))
            .map(|value| value.text)
    }
}

/// A nested object with typed fields.
#[derive(Debug)]
pub struct ShapeSpec {
    /// The name of its Rust type.
    pub name: &'static str,
    /// The documentation of the type.
    pub doc: &'static str,
    /// The object's fields.
    pub fields: &'static [FieldSpec],
}

/// A nested object in variants: a tag field selects the other fields.
#[derive(Debug)]
pub struct UnionSpec {
    /// The name of its Rust type.
    pub name: &'static str,
    /// The documentation of the type.
    pub doc: &'static str,
    /// The field that distinguishes the variants.
    pub tag: &'static str,
    /// Values of the tag, each with its fields.
    pub variants: &'static [(&'static str, &'static [FieldSpec])],
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// A string.
    Text,
    /// A string that holds a UUID.
    Uuid,
    /// A boolean.
    Flag,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// Any JSON value; its type depends on the tool.
    Any,
    /// An object with keys that the contract does not define.
    Object,
    /// A string or an explicit `null`.
    NullableText,
    /// An array of strings.
    TextList,
    /// An enumerated string.
    Choice(&'static ChoiceSpec),
    /// A nested object.
    Shape(&'static ShapeSpec),
    /// An array of nested objects.
    Shapes(&'static ShapeSpec),
    /// A nested object in variants.
    Union(&'static UnionSpec),
    /// An array of nested objects in variants.
    Unions(&'static UnionSpec),
}

impl FieldType {
    /// Returns the type's name for tables and JSON.
    pub fn label(self) -> String {
        match self {
            Self::Text | Self::Choice(_) => "string".to_owned(),
            Self::Uuid => "uuid".to_owned(),
            Self::Flag => "boolean".to_owned(),
            Self::Number => "number".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::Any => "any".to_owned(),
            Self::Object => "object".to_owned(),
            Self::NullableText => "string|null".to_owned(),
            Self::TextList => "string[]".to_owned(),
            Self::Shape(shape) => shape.name.to_owned(),
            Self::Shapes(shape) => format!("{}[]", shape.name),
            Self::Union(union) => union.name.to_owned(),
            Self::Unions(union) => format!("{}[]", union.name),
        }
    }
}

/// A field of an input, of an answer, or of a nested object.
#[derive(Debug, Clone, Copy)]
pub struct FieldSpec {
    /// The field's key.
    pub name: &'static str,
    /// The field's type.
    pub ty: FieldType,
    /// True if the field is always present (inputs) or must be present (answers).
    pub required: bool,
    /// A remark for the reader; may be empty.
    pub note: &'static str,
    /// The client version that introduced the field, if it is newer than its event.
    pub since: Option<Version>,
    /// True if the client still accepts or sends the field, but hooks should avoid it.
    pub deprecated: bool,
    /// True if the client accepts the field and does nothing with it.
    pub inert: bool,
    /// The source of these facts.
    pub source: Source,
}

impl FieldSpec {
    pub(crate) const fn required(name: &'static str, ty: FieldType, source: Source) -> Self {
        Self {
            name,
            ty,
            required: true,
            note: "",
            since: None,
            deprecated: false,
            inert: false,
            source,
        }
    }

    pub(crate) const fn optional(name: &'static str, ty: FieldType, source: Source) -> Self {
        Self { required: false, ..Self::required(name, ty, source) }
    }

    pub(crate) const fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub(crate) const fn since(self, version: (u16, u16, u16)) -> Self {
        Self { since: Some(Version::from_tuple(version)), ..self }
    }

    pub(crate) const fn deprecated(self) -> Self {
        Self { deprecated: true, ..self }
    }

    pub(crate) const fn inert(self) -> Self {
        Self { inert: true, ..self }
    }

    /// Returns true if `contract` has this field.
    pub fn is_at(&self, contract: Contract) -> bool {
        self.since.is_none_or(|since| contract.has(since))
    }
}

/// The matcher semantics of an event.
#[derive(Debug, Clone, Copy)]
pub struct MatcherSpec {
    /// The input field that a matcher is compared with; `None` if the client ignores matchers and always runs the hook.
    pub field: Option<&'static str>,
    /// The values that a matcher can name.
    pub values: MatcherValues,
    /// True if an exact list may hold only letters, digits, `_` and `|`; the client then reads any other
    /// text as a regular expression.
    pub has_narrow_lists: bool,
    /// The source of these facts.
    pub source: Source,
}

/// The values that a matcher can name.
#[derive(Debug, Clone, Copy)]
pub enum MatcherValues {
    /// No values: the client ignores matchers on this event.
    Ignored,
    /// Tool names.
    Tools,
    /// A known list.
    List(&'static ChoiceSpec),
    /// Names from the user's setup; the text describes them.
    Names(&'static str),
    /// File names, which the client watches because a matcher names them.
    Files(&'static str),
}

impl MatcherSpec {
    pub(crate) const fn none(source: Source) -> Self {
        Self { field: None, values: MatcherValues::Ignored, has_narrow_lists: false, source }
    }

    pub(crate) const fn tools(source: Source) -> Self {
        Self {
            field: Some("tool_name"),
            values: MatcherValues::Tools,
            has_narrow_lists: false,
            source,
        }
    }

    pub(crate) const fn list(
        field: &'static str,
        list: &'static ChoiceSpec,
        source: Source,
    ) -> Self {
        Self {
            field: Some(field),
            values: MatcherValues::List(list),
            has_narrow_lists: false,
            source,
        }
    }

    pub(crate) const fn names(field: &'static str, what: &'static str, source: Source) -> Self {
        Self {
            field: Some(field),
            values: MatcherValues::Names(what),
            has_narrow_lists: false,
            source,
        }
    }

    pub(crate) const fn files(field: &'static str, what: &'static str, source: Source) -> Self {
        Self {
            field: Some(field),
            values: MatcherValues::Files(what),
            has_narrow_lists: false,
            source,
        }
    }

    /// Returns the compared value as shown to a reader.
    pub fn label(&self) -> Option<String> {
        self.field.map(|field| match self.values {
            MatcherValues::Files(_) => format!("basename({field})"),
            _ => field.to_owned(),
        })
    }

    pub(crate) const fn with_narrow_lists(self) -> Self {
        Self { has_narrow_lists: true, ..self }
    }
}

/// The form of a decision in an answer to this event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionModel {
    /// `{"decision":"block","reason":…}`.
    TopLevelBlock,
    /// `hookSpecificOutput.permissionDecision`.
    PermissionDecision,
    /// `hookSpecificOutput.decision.behavior`.
    DecisionBehavior,
    /// The printed path, or `hookSpecificOutput.worktreePath` over HTTP.
    PathReturn,
    /// `hookSpecificOutput.action`.
    ElicitationAction,
    /// `hookSpecificOutput.retry`.
    Retry,
    /// `hookSpecificOutput.displayContent`.
    RewriteDisplay,
    /// No decision; an answer may add context.
    ContextOnly,
    /// Exit 2, or `continue: false`.
    ExitOrContinue,
    /// Exit 2, or `{"decision":"block","reason":…}`.
    ExitOrTopLevelBlock,
    /// No decision and no context.
    None,
}

impl DecisionModel {
    /// Returns the model's name in JSON and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TopLevelBlock => "top_level_block",
            Self::PermissionDecision => "permissionDecision",
            Self::DecisionBehavior => "decision.behavior",
            Self::PathReturn => "path_return",
            Self::ElicitationAction => "elicitation_action",
            Self::Retry => "retry",
            Self::RewriteDisplay => "rewrite_display",
            Self::ContextOnly => "context_only",
            Self::ExitOrContinue => "exit_or_continue",
            Self::ExitOrTopLevelBlock => "exit_or_top_level_block",
            Self::None => "none",
        }
    }
}

/// The client's treatment of a top-level field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Honoured {
    /// The client acts on it.
    Yes,
    /// The client acts on it, and its documentation advises against it.
    Deprecated,
    /// The client acts on it in a terminal; without a terminal there is nothing to see.
    Terminal,
    /// The client ignores it.
    No,
    /// Not yet observed.
    Unknown,
}

/// The effect of a top-level field on this event.
#[derive(Debug, Clone, Copy)]
pub struct FieldEffect {
    /// The client's treatment of the field.
    pub honoured: Honoured,
    /// The effect, in words.
    pub fact: Fact<&'static str>,
}

impl FieldEffect {
    pub(crate) const fn new(honoured: Honoured, text: &'static str, source: Source) -> Self {
        Self { honoured, fact: Fact::new(text, source) }
    }
}

/// The effects of exit codes on this event, beyond the decision in the JSON on stdout.
#[derive(Debug, Clone, Copy)]
pub struct ExitCodes {
    /// Exit 0.
    pub zero: Fact<&'static str>,
    /// Exit 2.
    pub two: Fact<&'static str>,
    /// Any other exit code.
    pub other: Fact<&'static str>,
}

/// The destination of stdout that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainStdout {
    /// The model's context.
    Context,
    /// The end of the compaction instructions.
    CompactPrompt,
    /// The user.
    User,
    /// The answer itself: the client takes the last line as a path.
    Path,
    /// The debug log only.
    DebugLog,
}

/// The types of hook handlers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the settings file's")]
pub enum HandlerType {
    Command,
    Http,
    McpTool,
    Prompt,
    Agent,
}

impl HandlerType {
    /// Returns the value of `type` in a settings file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::McpTool => "mcp_tool",
            Self::Prompt => "prompt",
            Self::Agent => "agent",
        }
    }
}

/// A row of the table: all facts about one event.
#[derive(Debug)]
pub struct EventSpec {
    /// The event's name.
    pub name: EventName,
    /// The client version that introduced the event.
    pub since: Since,
    /// The moment at which the event fires.
    pub when: Fact<&'static str>,
    /// The matcher semantics.
    pub matcher: MatcherSpec,
    /// The payload fields beyond [`crate::table::UNIVERSAL_INPUT`].
    pub input: &'static [FieldSpec],
    /// The form of a decision.
    pub decision: Fact<DecisionModel>,
    /// The fields of `hookSpecificOutput` besides `hookEventName`; `None` if the client rejects the object.
    pub output: Option<&'static [FieldSpec]>,
    /// The source of `output`.
    pub output_source: Source,
    /// The effect of a top-level `decision`.
    pub top_level_decision: FieldEffect,
    /// The effect of `continue: false`.
    pub continue_false: FieldEffect,
    /// The effect of `systemMessage`.
    pub system_message: FieldEffect,
    /// The effects of exit codes.
    pub exit: ExitCodes,
    /// True if a hook can prevent the announced action.
    pub can_block: Fact<bool>,
    /// The destination of stdout that is not JSON.
    pub plain_stdout: Fact<PlainStdout>,
    /// The default timeout of a command, HTTP or MCP handler, in milliseconds.
    pub timeout_ms: Fact<u32>,
    /// The handler types that run.
    pub handlers: Fact<&'static [HandlerType]>,
    /// True if `CLAUDE_ENV_FILE` is set.
    pub env_file: Fact<bool>,
    /// The way in which the hook's text reaches the model.
    pub delivery: Option<Fact<&'static str>>,
    /// A warning about surprising behaviour.
    pub caveat: Option<Fact<&'static str>>,
    /// True if a payload of this event is recorded.
    pub captured: bool,
}

impl EventSpec {
    /// Returns true if `contract` has this event.
    pub fn is_at(&self, contract: Contract) -> bool {
        contract.has(self.since.version)
    }

    /// Returns the fields of `hookSpecificOutput` in `contract`; `None` if the client rejects the object.
    pub fn output_at(
        &self,
        contract: Contract,
    ) -> Option<impl Iterator<Item = &'static FieldSpec>> {
        self.output.map(|fields| fields.iter().filter(move |field| field.is_at(contract)))
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
