//! The vocabulary of the event table: what can be said of an event, and how sure we are of it.

use serde::{Serialize, Serializer};

use crate::name::EventName;
use crate::version::{Contract, Version};

/// Where a fact comes from.
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
    /// Told by somebody else: changelog copies, wikis.
    ThirdParty,
    /// Concluded from neighbours; nobody said so.
    Inferred,
}

/// How far to trust a fact.
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
    /// The mark of this source in the documents.
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

    /// The name of this source in sentences.
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

    /// How far a fact from this source is to be trusted.
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
    /// The name of this degree in sentences.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Highest => "highest",
        }
    }
}

/// Something that is so, and who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fact<T> {
    /// What is so.
    pub value: T,
    /// Who says it.
    pub source: Source,
}

impl<T> Fact<T> {
    pub(crate) const fn new(value: T, source: Source) -> Self {
        Self { value, source }
    }
}

/// When an event came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// The version from which on it is certainly there.
    pub version: Version,
    /// Set when it may have come earlier: the last version that is known not to have it, if any is.
    pub earliest: Option<Version>,
    /// Whether `version` is the one that brought it, or only one that has it.
    pub exact: bool,
    /// Who says so.
    pub source: Source,
}

impl Since {
    pub(crate) const fn exact(version: (u16, u16, u16), source: Source) -> Self {
        Self { version: Version::of(version), earliest: None, exact: true, source }
    }

    pub(crate) const fn at_most(version: (u16, u16, u16), source: Source) -> Self {
        Self { version: Version::of(version), earliest: None, exact: false, source }
    }

    pub(crate) const fn between(
        earliest: (u16, u16, u16),
        version: (u16, u16, u16),
        source: Source,
    ) -> Self {
        let version = Version::of(version);
        Self { version, earliest: Some(Version::of(earliest)), exact: false, source }
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
pub struct Choice {
    /// The name of its Rust type.
    pub name: &'static str,
    /// What it tells.
    pub doc: &'static str,
    /// Its values.
    pub values: &'static [ChoiceValue],
    /// Whether the client is known to send other values too.
    pub open: bool,
}

/// One value of a [`Choice`].
#[derive(Debug, Clone, Copy)]
pub struct ChoiceValue {
    /// As it is written.
    pub text: &'static str,
    /// The client that brought it, where it is younger than its field.
    pub since: Option<Version>,
}

impl Choice {
    /// The values that `contract` knows.
    pub fn values_at(&self, contract: Contract) -> impl Iterator<Item = &'static str> + '_ {
        self.values
            .iter()
            .filter(move |value| value.since.is_none_or(|since| contract.has(since)))
            .map(|value| value.text)
    }
}

/// A nested object with fields of its own.
#[derive(Debug)]
pub struct Shape {
    /// The name of its Rust type.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its fields.
    pub fields: &'static [Field],
}

/// A nested object whose fields depend on one of them.
#[derive(Debug)]
pub struct Union {
    /// The name of its Rust type.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The field that tells the variants apart.
    pub tag: &'static str,
    /// Value of the tag, and the fields that go with it.
    pub variants: &'static [(&'static str, &'static [Field])],
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
    /// Whatever the tool in question makes.
    Any,
    /// An object whose keys are not the contract's.
    Object,
    /// A string, or `null` spelt out.
    NullableText,
    /// An array of strings.
    TextList,
    /// One of several strings.
    Choice(&'static Choice),
    /// A nested object.
    Shape(&'static Shape),
    /// An array of nested objects.
    Shapes(&'static Shape),
    /// A nested object in variants.
    Union(&'static Union),
    /// An array of such.
    Unions(&'static Union),
}

impl FieldType {
    /// The type in a word, for tables and JSON.
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
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// Its type.
    pub ty: FieldType,
    /// Whether it is always there (inputs) or must be (answers).
    pub required: bool,
    /// What to know about it; may be empty.
    pub note: &'static str,
    /// The client that brought it, where it is younger than its event.
    pub since: Option<Version>,
    /// Still there, to be avoided.
    pub deprecated: bool,
    /// Accepted, and without effect.
    pub inert: bool,
    /// Who says so.
    pub source: Source,
}

impl Field {
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
        Self { since: Some(Version::of(version)), ..self }
    }

    pub(crate) const fn deprecated(self) -> Self {
        Self { deprecated: true, ..self }
    }

    pub(crate) const fn inert(self) -> Self {
        Self { inert: true, ..self }
    }

    /// Whether `contract` knows this field.
    pub fn is_at(&self, contract: Contract) -> bool {
        self.since.is_none_or(|since| contract.has(since))
    }
}

/// What a matcher of this event is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Matcher {
    /// The input field it is compared with; `None` where a matcher is ignored and the hook fires anyway.
    pub field: Option<&'static str>,
    /// What it may name.
    pub values: MatcherValues,
    /// Exact lists here may hold only letters, digits, `_` and `|`; anything else is a regular expression.
    pub narrow: bool,
    /// Who says so.
    pub source: Source,
}

/// What a matcher may name.
#[derive(Debug, Clone, Copy)]
pub enum MatcherValues {
    /// Nothing: matchers are ignored here.
    Ignored,
    /// Tools.
    Tools,
    /// A known list.
    List(&'static Choice),
    /// Names that the user's setup decides; the text says which.
    Names(&'static str),
    /// File names, which are watched because of it.
    Files(&'static str),
}

impl Matcher {
    pub(crate) const fn none(source: Source) -> Self {
        Self { field: None, values: MatcherValues::Ignored, narrow: false, source }
    }

    pub(crate) const fn tools(source: Source) -> Self {
        Self { field: Some("tool_name"), values: MatcherValues::Tools, narrow: false, source }
    }

    pub(crate) const fn list(field: &'static str, list: &'static Choice, source: Source) -> Self {
        Self { field: Some(field), values: MatcherValues::List(list), narrow: false, source }
    }

    pub(crate) const fn names(field: &'static str, what: &'static str, source: Source) -> Self {
        Self { field: Some(field), values: MatcherValues::Names(what), narrow: false, source }
    }

    pub(crate) const fn files(field: &'static str, what: &'static str, source: Source) -> Self {
        Self { field: Some(field), values: MatcherValues::Files(what), narrow: false, source }
    }

    /// What it is compared with, as a reader should see it.
    pub fn label(&self) -> Option<String> {
        self.field.map(|field| match self.values {
            MatcherValues::Files(_) => format!("basename({field})"),
            _ => field.to_owned(),
        })
    }

    pub(crate) const fn narrow(self) -> Self {
        Self { narrow: true, ..self }
    }
}

/// How an answer decides anything on this event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionModel {
    /// `{"decision":"block","reason":…}`.
    TopLevelBlock,
    /// `hookSpecificOutput.permissionDecision`.
    PermissionDecision,
    /// `hookSpecificOutput.decision.behavior`.
    DecisionBehavior,
    /// The path that is printed, or `hookSpecificOutput.worktreePath` over HTTP.
    PathReturn,
    /// `hookSpecificOutput.action`.
    ElicitationAction,
    /// `hookSpecificOutput.retry`.
    Retry,
    /// `hookSpecificOutput.displayContent`.
    RewriteDisplay,
    /// Nothing is decided; context may be added.
    ContextOnly,
    /// Exit 2, or `continue: false`.
    ExitOrContinue,
    /// Exit 2, or `{"decision":"block","reason":…}`.
    ExitOrTopLevelBlock,
    /// Nothing.
    None,
}

impl DecisionModel {
    /// The model's name in JSON and tables.
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

/// Whether the client acts on a top-level field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Honoured {
    /// It does.
    Yes,
    /// It does, and says not to rely on it.
    Deprecated,
    /// It does, in a terminal; without one nothing is seen of it.
    Terminal,
    /// It does not.
    No,
    /// Nobody has seen either.
    Unknown,
}

/// What a top-level field does on this event.
#[derive(Debug, Clone, Copy)]
pub struct Effect {
    /// Whether anything.
    pub honoured: Honoured,
    /// What.
    pub fact: Fact<&'static str>,
}

impl Effect {
    pub(crate) const fn new(honoured: Honoured, text: &'static str, source: Source) -> Self {
        Self { honoured, fact: Fact::new(text, source) }
    }
}

/// What the exit code does on this event, beyond what JSON on stdout decides.
#[derive(Debug, Clone, Copy)]
pub struct ExitCodes {
    /// Exit 0.
    pub zero: Fact<&'static str>,
    /// Exit 2.
    pub two: Fact<&'static str>,
    /// Any other.
    pub other: Fact<&'static str>,
}

/// Where stdout goes that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlainStdout {
    /// To the model, as context.
    Context,
    /// Behind the instructions of the compaction.
    CompactPrompt,
    /// To the user.
    User,
    /// Its last line is the answer.
    Path,
    /// Into the debug log and nowhere else.
    DebugLog,
}

/// The ways a handler can be written.
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
    /// The value of `type` in a settings file.
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

/// All that is known of one event: a row of the table.
#[derive(Debug)]
pub struct EventSpec {
    /// Its name.
    pub name: EventName,
    /// When it came.
    pub since: Since,
    /// When it fires.
    pub when: Fact<&'static str>,
    /// What matchers are compared with.
    pub matcher: Matcher,
    /// What it sends beyond [`crate::table::UNIVERSAL_INPUT`].
    pub input: &'static [Field],
    /// How an answer decides.
    pub decision: Fact<DecisionModel>,
    /// The fields of `hookSpecificOutput` beside `hookEventName`; `None` where the client rejects one.
    pub output: Option<&'static [Field]>,
    /// Who says that these are its fields, or that there are none.
    pub output_source: Source,
    /// What top-level `decision` does.
    pub top_level_decision: Effect,
    /// What `continue: false` does.
    pub continue_false: Effect,
    /// What `systemMessage` does.
    pub system_message: Effect,
    /// What exit codes do.
    pub exit: ExitCodes,
    /// Whether a hook can prevent what the event announces.
    pub can_block: Fact<bool>,
    /// Where stdout goes that is not JSON.
    pub plain_stdout: Fact<PlainStdout>,
    /// How long a command, HTTP or MCP handler may take by default, in milliseconds.
    pub timeout_ms: Fact<u32>,
    /// Which handlers run.
    pub handlers: Fact<&'static [HandlerType]>,
    /// Whether `CLAUDE_ENV_FILE` is set.
    pub env_file: Fact<bool>,
    /// How its text reaches the model.
    pub delivery: Option<Fact<&'static str>>,
    /// What surprises people.
    pub caveat: Option<Fact<&'static str>>,
    /// Whether a payload of it is recorded.
    pub seen: bool,
}

impl EventSpec {
    /// Whether `contract` knows this event.
    pub fn is_at(&self, contract: Contract) -> bool {
        contract.has(self.since.version)
    }

    /// The input fields of this event in `contract`: the universal ones first, without those that
    /// the event declares itself.
    pub fn input_at(&self, contract: Contract) -> impl Iterator<Item = &'static Field> + '_ {
        crate::table::UNIVERSAL_INPUT
            .iter()
            .filter(|field| !self.input.iter().any(|own| own.name == field.name))
            .chain(self.input)
            .filter(move |field| field.is_at(contract))
    }

    /// The fields of `hookSpecificOutput` in `contract`; `None` where the client rejects one.
    pub fn output_at(&self, contract: Contract) -> Option<impl Iterator<Item = &'static Field>> {
        self.output.map(|fields| fields.iter().filter(move |field| field.is_at(contract)))
    }

    /// Where the official documentation describes the event.
    pub fn documentation(&self) -> String {
        format!("{}#{}", crate::table::DOCUMENTATION, self.name.as_str().to_ascii_lowercase())
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
