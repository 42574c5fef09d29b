//! Functions with their tests and bugs, before they are written to the files of a language.

use rutter_testkit::dice::SeededRandom;

use crate::project::{BugKind, fill_values};

/// Draws the names and numbers of a package's functions.
///
/// Names and numbers have separate dice: two packages of a monorepo share the names but not the numbers.
#[derive(Debug)]
pub struct UnitDice {
    names: SeededRandom,
    numbers: SeededRandom,
}

impl UnitDice {
    /// Creates the dice from two seeds.
    pub fn new(names: u64, numbers: u64) -> Self {
        Self { names: SeededRandom::new(names), numbers: SeededRandom::new(numbers) }
    }

    /// Draws one of several texts.
    pub fn text<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.names.below(texts.len())]
    }

    /// Draws a number from a range, both ends included.
    pub fn number(&mut self, least: i64, most: i64) -> i64 {
        let width = usize::try_from(most - least + 1).unwrap_or(1);
        least + i64::try_from(self.numbers.below(width)).unwrap_or_default()
    }
}

/// A test of a function.
#[derive(Debug, Clone)]
pub struct UnitTest {
    /// Name without the prefix of the language.
    pub name: String,
    /// Lines inside the test.
    pub body: String,
    /// The call under test, as the test writes it.
    pub call: String,
    /// Line of the body that fails.
    pub line: usize,
}

/// The way a test fails.
#[derive(Debug, Clone)]
pub enum UnitFailure {
    /// An equality does not hold. Some runners print more lines for strings.
    Equal {
        /// Actual value, as the language prints it.
        got: String,
        /// Expected value, as the language prints it.
        want: String,
        /// Additional lines of the runner.
        detail: Vec<String>,
    },
    /// Another assertion does not hold; lines of the message as the runner prints them.
    Message(Vec<String>),
    /// The function raises, throws or panics.
    Raised {
        /// Line of its body.
        line: usize,
        /// Part of that line.
        mark: String,
        /// Type of the error.
        error: String,
        /// Message of the error.
        message: String,
        /// Arguments of the call and their values, for runners that print them.
        arguments: Vec<(String, String)>,
    },
}

/// A way to write a bug.
#[derive(Debug, Clone, Default)]
pub struct UnitForm {
    /// Signature, if it differs.
    pub head: Option<String>,
    /// Body, if it differs.
    pub body: Option<String>,
    /// Configuration line, if it differs.
    pub setting: Option<String>,
    /// Tests that fail, by name, and how.
    pub fails: Vec<(String, UnitFailure)>,
}

/// A bug of a function.
#[derive(Debug, Clone)]
pub struct UnitBug {
    /// Name for human readers.
    pub key: &'static str,
    /// Kind of mistake.
    pub kind: BugKind,
    /// Ways to write it.
    pub forms: Vec<UnitForm>,
    /// Wrong repairs.
    pub attempts: Vec<UnitForm>,
    /// States between two edits of a repair.
    pub halfway: Vec<UnitForm>,
}

/// A function with its tests and bugs.
#[derive(Debug, Clone)]
#[must_use = "a unit is built step by step"]
pub struct FunctionUnit {
    /// Module of the function.
    pub module: String,
    /// Name.
    pub function: String,
    /// Import lines that the module needs for it.
    pub imports: Vec<String>,
    /// Declarations before the function, such as an error type.
    pub prelude: String,
    /// Other names that its tests import.
    pub also: Vec<String>,
    /// Signature.
    pub head: String,
    /// Documentation variants; the first is the original.
    pub docs: Vec<String>,
    /// Body without any bug.
    pub body: String,
    /// Last line, in languages that close a function.
    pub tail: String,
    /// A configuration file, and its line that the function reads.
    pub setting: Option<UnitSetting>,
    /// Tests.
    pub tests: Vec<UnitTest>,
    /// Bugs.
    pub bugs: Vec<UnitBug>,
    values: Vec<(&'static str, String)>,
}

/// A line of a configuration file.
#[derive(Debug, Clone)]
pub struct UnitSetting {
    /// File beside the module.
    pub file: String,
    /// Lines before it.
    pub before: String,
    /// The line.
    pub line: String,
    /// Lines after it.
    pub after: String,
}

impl FunctionUnit {
    /// Creates a unit. In every text, `$name` stands for a value and `$f` for the name of the function.
    pub fn new(module: &str, function: &str, values: &[(&'static str, String)]) -> Self {
        let mut values = values.to_vec();
        values.push(("f", function.to_owned()));
        Self {
            module: module.to_owned(),
            function: function.to_owned(),
            imports: Vec::new(),
            prelude: String::new(),
            also: Vec::new(),
            head: String::new(),
            docs: Vec::new(),
            body: String::new(),
            tail: String::new(),
            setting: None,
            tests: Vec::new(),
            bugs: Vec::new(),
            values,
        }
    }

    /// Replaces each `$name` by its value.
    pub fn fill(&self, text: &str) -> String {
        let values: Vec<(&str, &str)> =
            self.values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fill_values(text, &values)
    }

    /// Sets signature, documentation and body.
    pub fn code(mut self, head: &str, docs: &[&str], body: &str) -> Self {
        self.head = self.fill(head);
        self.docs = docs.iter().map(|doc| self.fill(doc)).collect();
        self.body = self.fill(body);
        self
    }

    /// Adds an import line of the module.
    pub fn import(mut self, line: &str) -> Self {
        self.imports.push(self.fill(line));
        self
    }

    /// Sets the declarations before the function, and those of their names that tests import.
    pub fn prelude(mut self, text: &str, also: &[&str]) -> Self {
        self.prelude = self.fill(text);
        self.also = also.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Sets the configuration line that the function reads.
    pub fn setting(mut self, file: &str, before: &str, line: &str, after: &str) -> Self {
        self.setting = Some(UnitSetting {
            file: file.to_owned(),
            before: self.fill(before),
            line: self.fill(line),
            after: self.fill(after),
        });
        self
    }

    /// Adds a test that fails, if at all, in its first line.
    pub fn test(self, name: &str, call: &str, body: &str) -> Self {
        self.test_at(name, call, body, 0)
    }

    /// Adds a test that fails in a given line of its body.
    pub fn test_at(mut self, name: &str, call: &str, body: &str, line: usize) -> Self {
        let [name, call, body] = [name, call, body].map(|text| self.fill(text));
        self.tests.push(UnitTest { name, body, call, line });
        self
    }

    /// Adds a bug; `body` is its first form.
    pub fn bug(
        mut self,
        key: &'static str,
        kind: BugKind,
        body: &str,
        fails: UnitFailures<'_>,
    ) -> Self {
        let form = self.form(body, fails);
        self.bugs.push(UnitBug {
            key,
            kind,
            forms: vec![form],
            attempts: Vec::new(),
            halfway: Vec::new(),
        });
        self
    }

    /// Adds another way to write the last bug.
    pub fn also_as(mut self, body: &str, fails: UnitFailures<'_>) -> Self {
        let form = self.form(body, fails);
        self.last().forms.push(form);
        self
    }

    /// Adds a wrong repair of the last bug.
    pub fn attempt(mut self, body: &str, fails: UnitFailures<'_>) -> Self {
        let form = self.form(body, fails);
        self.last().attempts.push(form);
        self
    }

    /// Adds a bug with its mistake in the configuration line.
    pub fn wrong_setting(
        mut self,
        key: &'static str,
        kind: BugKind,
        line: &str,
        fails: UnitFailures<'_>,
    ) -> Self {
        let form = UnitForm {
            setting: Some(self.fill(line)),
            fails: self.fails(fails),
            ..UnitForm::default()
        };
        self.bugs.push(UnitBug {
            key,
            kind,
            forms: vec![form],
            attempts: Vec::new(),
            halfway: Vec::new(),
        });
        self
    }

    /// Makes the last bug need two edits: its signature is wrong as well, and each edit alone still fails.
    pub fn with_head(mut self, head: &str) -> Self {
        let head = self.fill(head);
        let bug = self.last();
        let halfway = bug.forms[0].clone();
        for form in bug.forms.iter_mut().chain(&mut bug.attempts) {
            form.head = Some(head.clone());
        }
        bug.halfway.push(halfway);
        self
    }

    fn form(&self, body: &str, fails: UnitFailures<'_>) -> UnitForm {
        UnitForm { body: Some(self.fill(body)), fails: self.fails(fails), ..UnitForm::default() }
    }

    fn fails(&self, fails: UnitFailures<'_>) -> Vec<(String, UnitFailure)> {
        fails.iter().map(|(name, fail)| (self.fill(name), fail.clone())).collect()
    }

    fn last(&mut self) -> &mut UnitBug {
        self.bugs.last_mut().unwrap_or_else(|| unreachable!("a bug was added before"))
    }
}

/// Tests that fail, and how.
pub type UnitFailures<'a> = &'a [(&'a str, UnitFailure)];

/// Creates the failure of an equality.
#[expect(clippy::needless_pass_by_value, reason = "numbers and texts are given alike")]
pub fn equal(got: impl ToString, want: impl ToString) -> UnitFailure {
    UnitFailure::Equal { got: got.to_string(), want: want.to_string(), detail: Vec::new() }
}

/// Creates the failure of an equality, with additional lines of the runner.
pub fn equal_with(got: &str, want: &str, detail: &[&str]) -> UnitFailure {
    let detail = detail.iter().map(|line| (*line).to_owned()).collect();
    UnitFailure::Equal { got: got.to_owned(), want: want.to_owned(), detail }
}

/// Creates the failure of an assertion.
pub fn message(lines: &[&str]) -> UnitFailure {
    UnitFailure::Message(lines.iter().map(|line| (*line).to_owned()).collect())
}

/// Creates a failure in which the function raises an error.
pub fn raised(
    line: usize,
    mark: &str,
    error: &str,
    message: &str,
    arguments: &[(&str, &str)],
) -> UnitFailure {
    UnitFailure::Raised {
        line,
        mark: mark.to_owned(),
        error: error.to_owned(),
        message: message.to_owned(),
        arguments: arguments
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}
