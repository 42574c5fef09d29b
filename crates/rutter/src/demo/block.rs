//! Lines of the demo, before they are wrapped to the width of the screen.

/// The style of a text. There are few styles, and none carries information that the text lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
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
pub(super) type Piece = (Ink, String);

/// The actor of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Client,
    User,
    Agent,
    Rutter,
}

impl Who {
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
const MARGIN: usize = 8;
/// Width of the column with the names of fields.
const NAMES: usize = 12;

/// A logical line, which may need several rows on the screen.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Prefix of the first row.
    pub(super) first: Vec<Piece>,
    /// Prefix of the other rows.
    pub(super) others: Vec<Piece>,
    pub(super) text: Vec<Piece>,
    /// True if a horizontal rule fills the rest of the last row.
    pub(super) ruled: bool,
}

impl Line {
    pub(super) fn new(ink: Ink, text: &str) -> Self {
        Self {
            first: Vec::new(),
            others: Vec::new(),
            text: vec![(ink, text.to_owned())],
            ruled: false,
        }
    }

    fn led(mut self, first: Vec<Piece>, others: Vec<Piece>) -> Self {
        (self.first, self.others) = (first, others);
        self
    }

    /// Creates a heading followed by a horizontal rule.
    pub(super) fn heading(text: &str) -> Self {
        Self {
            ruled: true,
            ..Self::new(Ink::Strong, text).led(vec![(Ink::Faint, "── ".to_owned())], Vec::new())
        }
    }

    /// Creates a line with an actor and the action.
    pub(super) fn turn(who: Who, text: Vec<Piece>) -> Self {
        let ink = if who == Who::Rutter { Ink::Rutter } else { Ink::Strong };
        let name = format!("{:<MARGIN$}", who.name());
        Self { text, ..Self::new(ink, "").led(vec![(ink, name)], vec![blank(MARGIN)]) }
    }

    /// Creates a line with a detail of an action.
    pub(super) fn detail(ink: Ink, text: &str) -> Self {
        Self::new(ink, text).led(vec![blank(MARGIN)], vec![blank(MARGIN)])
    }

    /// Creates a line with a named field of an action.
    pub(super) fn named(name: &str, ink: Ink, text: &str) -> Self {
        let name = (Ink::Faint, format!("{name:<NAMES$}"));
        Self::new(ink, text).led(vec![blank(MARGIN), name], vec![blank(MARGIN + NAMES)])
    }

    /// Creates a line of text that the agent reads. Quoted text keeps its indentation when the line is wrapped.
    pub(super) fn read(text: &str) -> Self {
        let rest = text.trim_start_matches(' ');
        let indent = text.len() - rest.len();
        let (mark, ink) = match rest.as_bytes() {
            [b'>', b' ', b'-', ..] => ("> ", Ink::Bad),
            [b'>', b' ', b'+', ..] => ("> ", Ink::Good),
            [b'-', b' ', ..] => ("- ", Ink::Plain),
            _ => ("", Ink::Plain),
        };
        let bar = (Ink::Rutter, "│ ".to_owned());
        let first = (Ink::Plain, format!("{}{mark}", " ".repeat(indent)));
        Self::new(ink, &rest[mark.len()..]).led(
            vec![blank(MARGIN), bar.clone(), first],
            vec![blank(MARGIN), bar, blank(indent + mark.len())],
        )
    }
}

fn blank(columns: usize) -> Piece {
    (Ink::Plain, " ".repeat(columns))
}
