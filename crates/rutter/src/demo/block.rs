//! What is shown, before it is known how wide the screen is.

/// How text is written. Few inks, and nothing that is told by colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    Plain,
    /// Who acts, and headings.
    Strong,
    /// What can be passed over.
    Faint,
    /// What rutter says.
    Rutter,
    Good,
    Bad,
}

/// Text in one ink.
pub(super) type Piece = (Ink, String);

/// Whose turn it is.
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

/// The column that names who acts.
const MARGIN: usize = 8;
/// The column that names the parts of what is said.
const NAMES: usize = 12;

/// A line as it is meant; a screen may need several rows for it.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// What the first row begins with.
    pub(super) first: Vec<Piece>,
    /// What the other rows begin with.
    pub(super) others: Vec<Piece>,
    pub(super) text: Vec<Piece>,
    /// Whether the rest of the row is a rule.
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

    /// A heading with a rule behind it.
    pub(super) fn heading(text: &str) -> Self {
        Self {
            ruled: true,
            ..Self::new(Ink::Strong, text).led(vec![(Ink::Faint, "── ".to_owned())], Vec::new())
        }
    }

    /// What somebody does.
    pub(super) fn turn(who: Who, text: Vec<Piece>) -> Self {
        let ink = if who == Who::Rutter { Ink::Rutter } else { Ink::Strong };
        let name = format!("{:<MARGIN$}", who.name());
        Self { text, ..Self::new(ink, "").led(vec![(ink, name)], vec![blank(MARGIN)]) }
    }

    /// Something that belongs to what somebody does.
    pub(super) fn detail(ink: Ink, text: &str) -> Self {
        Self::new(ink, text).led(vec![blank(MARGIN)], vec![blank(MARGIN)])
    }

    /// A part of it that has a name.
    pub(super) fn named(name: &str, ink: Ink, text: &str) -> Self {
        let name = (Ink::Faint, format!("{name:<NAMES$}"));
        Self::new(ink, text).led(vec![blank(MARGIN), name], vec![blank(MARGIN + NAMES)])
    }

    /// A line of what the agent reads. What is quoted in it keeps its place when it has to be broken.
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
