//! Lines of the demo, before they are wrapped to the width of the screen.

/// The style of a text. There are few styles, and none carries information that the text lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextStyle {
    Plain,
    /// Names of actors, and headings.
    Strong,
    /// Text that readers can skip.
    Faint,
    /// Output of rutter.
    Rutter,
    Good,
    Bad,
}

/// Text in one style.
pub(super) type StyledText = (TextStyle, String);

/// The actor of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Actor {
    Client,
    User,
    Agent,
    Rutter,
}

impl Actor {
    const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Rutter => "rutter",
        }
    }
}

/// Width of the column with the actor's name.
const ACTOR_COLUMN_WIDTH: usize = 8;
/// Width of the column with the names of fields.
const FIELD_COLUMN_WIDTH: usize = 12;

/// A logical line, which may need several rows on the screen.
#[derive(Debug, Clone)]
pub(super) struct DemoLine {
    /// Prefix of the first row.
    pub(super) first: Vec<StyledText>,
    /// Prefix of the other rows.
    pub(super) others: Vec<StyledText>,
    pub(super) text: Vec<StyledText>,
    /// True if a horizontal rule fills the rest of the last row.
    pub(super) ruled: bool,
}

impl DemoLine {
    pub(super) fn new(style: TextStyle, text: &str) -> Self {
        Self {
            first: Vec::new(),
            others: Vec::new(),
            text: vec![(style, text.to_owned())],
            ruled: false,
        }
    }

    fn with_prefixes(mut self, first: Vec<StyledText>, others: Vec<StyledText>) -> Self {
        (self.first, self.others) = (first, others);
        self
    }

    /// Creates a heading followed by a horizontal rule.
    pub(super) fn heading(text: &str) -> Self {
        Self {
            ruled: true,
            ..Self::new(TextStyle::Strong, text)
                .with_prefixes(vec![(TextStyle::Faint, "── ".to_owned())], Vec::new())
        }
    }

    /// Creates a line with an actor and the action.
    pub(super) fn action(who: Actor, text: Vec<StyledText>) -> Self {
        let style = if who == Actor::Rutter { TextStyle::Rutter } else { TextStyle::Strong };
        let name = format!("{:<ACTOR_COLUMN_WIDTH$}", who.name());
        Self {
            text,
            ..Self::new(style, "")
                .with_prefixes(vec![(style, name)], vec![spaces(ACTOR_COLUMN_WIDTH)])
        }
    }

    /// Creates a line with a detail of an action.
    pub(super) fn detail(style: TextStyle, text: &str) -> Self {
        Self::new(style, text)
            .with_prefixes(vec![spaces(ACTOR_COLUMN_WIDTH)], vec![spaces(ACTOR_COLUMN_WIDTH)])
    }

    /// Creates a line with a named field of an action.
    pub(super) fn named_field(name: &str, style: TextStyle, text: &str) -> Self {
        let name = (TextStyle::Faint, format!("{name:<FIELD_COLUMN_WIDTH$}"));
        Self::new(style, text).with_prefixes(
            vec![spaces(ACTOR_COLUMN_WIDTH), name],
            vec![spaces(ACTOR_COLUMN_WIDTH + FIELD_COLUMN_WIDTH)],
        )
    }

    /// Creates a line of text that the agent reads. Quoted text keeps its indentation when the line is wrapped.
    pub(super) fn agent_text(text: &str) -> Self {
        let rest = text.trim_start_matches(' ');
        let indent = text.len() - rest.len();
        let (mark, style) = match rest.as_bytes() {
            [b'>', b' ', b'-', ..] => ("> ", TextStyle::Bad),
            [b'>', b' ', b'+', ..] => ("> ", TextStyle::Good),
            [b'-', b' ', ..] => ("- ", TextStyle::Plain),
            _ => ("", TextStyle::Plain),
        };
        let bar = (TextStyle::Rutter, "│ ".to_owned());
        let first = (TextStyle::Plain, format!("{}{mark}", " ".repeat(indent)));
        Self::new(style, &rest[mark.len()..]).with_prefixes(
            vec![spaces(ACTOR_COLUMN_WIDTH), bar.clone(), first],
            vec![spaces(ACTOR_COLUMN_WIDTH), bar, spaces(indent + mark.len())],
        )
    }
}

fn spaces(columns: usize) -> StyledText {
    (TextStyle::Plain, " ".repeat(columns))
}
