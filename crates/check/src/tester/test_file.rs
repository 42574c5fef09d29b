//! Test files of hooks, `*.hooktest.toml`: payloads and what is expected of the answers.
//!
//! ```toml
//! command = "./guard"
//!
//! [[test]]
//! name = "a forced push is blocked"
//! event = "PreToolUse"
//! tool = "Bash"
//! input = { command = "git push --force" }
//! verdict = "blocked"
//! ```

use std::time::Duration;

use rutter_contract::EventName;
use rutter_contract::version::Contract;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::judgement::{TrialEffect, judge_trial};
use super::payloads::base_payload;
use super::trial::{HookStart, TestedHook, TrialEnding, TrialEnvironment, TrialRunner};

/// Deepest nesting of a value.
const MAX_DEPTH: usize = 32;

/// A test file.
#[derive(Debug, Clone, PartialEq)]
pub struct HookTestFile {
    /// The hook. None if the command line names it.
    pub start: Option<HookStart>,
    /// The path of settings whose hooks run, instead of one hook.
    pub settings: Option<String>,
    /// The tests, in the order of the file.
    pub cases: Vec<HookTestCase>,
}

/// A test: a payload and the expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct HookTestCase {
    /// The name.
    pub name: String,
    /// The event.
    pub event: EventName,
    /// The tool of the call.
    pub tool: Option<String>,
    /// Keys that replace those of `tool_input`.
    pub input: Map<String, Value>,
    /// Keys that replace those of the payload.
    pub payload: Map<String, Value>,
    /// The expected effect.
    pub verdict: Option<ExpectedVerdict>,
    /// A text that the model or the user must read.
    pub text: Option<String>,
    /// The expected exit code.
    pub exit: Option<i32>,
    /// The longest duration in milliseconds.
    pub max_ms: Option<u64>,
}

/// An expected effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedVerdict {
    /// Exactly this effect.
    Exactly(TrialEffect),
    /// The action goes on, and the hook did not fail.
    Allowed,
}

/// A mistake in a test file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TestFileError(String);

/// The result of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HookTestResult {
    /// The name of the test.
    pub name: String,
    /// The expectations that are not met, in sentences. Empty if the test passes.
    pub failures: Vec<String>,
    /// The effect of the hook.
    pub effect: TrialEffect,
    /// The duration of the hook in milliseconds.
    pub milliseconds: f64,
    /// What must be expected for the test to pass. None if the hook did not run.
    #[serde(skip)]
    pub observed: Option<ObservedAnswer>,
}

/// The answer of a hook, or of several together, to the payload of a test.
#[derive(Debug, Clone)]
pub struct CaseAnswer {
    /// The effect.
    pub effect: TrialEffect,
    /// The effect in a sentence.
    pub sentence: String,
    /// The texts that the model or the user reads.
    pub texts: Vec<String>,
    /// The end of the hook. None for several hooks.
    pub ending: Option<TrialEnding>,
    /// The duration.
    pub took: Duration,
}

/// The expectations of a test that differ from the answer, as they must be for the test to pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedAnswer {
    /// The verdict.
    pub verdict: Option<String>,
    /// A text that the model or the user reads.
    pub text: Option<String>,
    /// The exit code.
    pub exit: Option<i32>,
}

impl ObservedAnswer {
    /// Returns the number of expectations that differ.
    pub fn len(&self) -> usize {
        usize::from(self.verdict.is_some())
            + usize::from(self.text.is_some())
            + usize::from(self.exit.is_some())
    }

    /// Returns true if no expectation differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ExpectedVerdict {
    /// Returns the verdict that says exactly this effect. None if no verdict of a test does.
    fn for_effect(effect: TrialEffect) -> Option<Self> {
        let exact = Self::NAMES.iter().find(|(_, verdict)| *verdict == Self::Exactly(effect));
        match (exact, effect) {
            (Some((_, verdict)), _) => Some(*verdict),
            (None, TrialEffect::Allowed) => Some(Self::Allowed),
            (None, _) => None,
        }
    }

    const NAMES: [(&str, Self); 10] = [
        ("blocked", Self::Exactly(TrialEffect::Blocked)),
        ("allowed", Self::Allowed),
        ("asked", Self::Exactly(TrialEffect::Asked)),
        ("silent", Self::Exactly(TrialEffect::Silent)),
        ("context", Self::Exactly(TrialEffect::Context)),
        ("deferred", Self::Exactly(TrialEffect::Deferred)),
        ("rewritten", Self::Exactly(TrialEffect::Rewritten)),
        ("message", Self::Exactly(TrialEffect::Message)),
        ("stopped", Self::Exactly(TrialEffect::Stopped)),
        ("failed", Self::Exactly(TrialEffect::Failed)),
    ];

    fn is_met(self, effect: TrialEffect) -> bool {
        use TrialEffect::{Allowed, Context, Message, Rewritten, Silent};
        match self {
            Self::Exactly(expected) => effect == expected,
            Self::Allowed => matches!(effect, Allowed | Rewritten | Context | Message | Silent),
        }
    }

    fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, verdict)| *verdict == self).map_or("", |(name, _)| name)
    }
}

impl HookTestFile {
    /// Parses a test file. An unknown key is a mistake, and so is a test without an expectation unless `may_expect_nothing`.
    pub fn parse(text: &str, may_expect_nothing: bool) -> Result<Self, TestFileError> {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().lines().count().max(1);
            TestFileError(format!("line {line}: {}", error.message()))
        })?;
        let mut root = to_object(table.get_ref(), 0)?;
        let start = match root.remove("command") {
            None => None,
            Some(Value::String(line)) => Some(HookStart::Shell(line)),
            Some(Value::Array(words)) => Some(exec_start(&words)?),
            Some(_) => return Err(mistake("`command` must be a text or a list of texts")),
        };
        let settings = match root.remove("settings") {
            None => None,
            Some(Value::String(path)) if start.is_none() => Some(path),
            Some(Value::String(_)) => {
                return Err(mistake("give `command` or `settings`, not both"));
            }
            Some(_) => return Err(mistake("`settings` must be a path")),
        };
        let cases = match root.remove("test") {
            Some(Value::Array(tests)) if !tests.is_empty() => tests,
            _ => return Err(mistake("there is no [[test]]")),
        };
        refuse_unknown(&root, "the file", "command, settings and [[test]]")?;
        let cases = cases.into_iter().enumerate();
        let cases = cases.map(|(number, case)| HookTestCase::parse(number + 1, case));
        let cases = cases.collect::<Result<Vec<HookTestCase>, _>>()?;
        for case in &cases {
            if settings.is_some() && case.exit.is_some() {
                let name = &case.name;
                return Err(TestFileError(format!(
                    "test `{name}`: `exit` needs `command`; several hooks have no exit code together"
                )));
            }
            if !may_expect_nothing && !case.expects_something() {
                let name = &case.name;
                return Err(TestFileError(format!(
                    "test `{name}`: nothing is expected; add verdict, text, exit or max_ms, or run it with --update"
                )));
            }
        }
        Ok(Self { start, settings, cases })
    }
}

impl HookTestCase {
    fn parse(number: usize, value: Value) -> Result<Self, TestFileError> {
        let Value::Object(mut table) = value else {
            return Err(mistake("`test` must be [[test]]"));
        };
        let name = match table.remove("name") {
            Some(Value::String(name)) if !name.trim().is_empty() => name,
            _ => return Err(mistake(&format!("test {number} has no name"))),
        };
        let in_test = |what: String| TestFileError(format!("test `{name}`: {what}"));
        let mut text = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(in_test(format!("`{key}` must be a text"))),
        };
        let (event, tool) = (text("event")?, text("tool")?);
        let (verdict, expected_text) = (text("verdict")?, text("text")?);
        let event = event.ok_or_else(|| in_test("`event` is missing".to_owned()))?;
        let event = event.parse().map_err(|error| in_test(format!("{error}")))?;
        let verdict = match verdict {
            None => None,
            Some(word) => {
                let found = ExpectedVerdict::NAMES.iter().find(|(name, _)| *name == word);
                let names = ExpectedVerdict::NAMES.map(|(name, _)| name).join(", ");
                Some(found.ok_or_else(|| in_test(format!("`verdict` must be one of: {names}")))?.1)
            }
        };
        let mut object = |key: &str| match table.remove(key) {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(in_test(format!("`{key}` must be a table"))),
        };
        let (input, payload) = (object("input")?, object("payload")?);
        let mut number = |key: &str| match table.remove(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(in_test(format!("`{key}` must be a number"))),
            },
        };
        let (exit, max_ms) = (number("exit")?, number("max_ms")?);
        let keys = "name, event, tool, input, payload, verdict, text, exit and max_ms";
        refuse_unknown(&table, &format!("test `{name}`"), keys)?;
        let exit = exit.map(|exit| i32::try_from(exit).unwrap_or(i32::MAX));
        let text = expected_text;
        Ok(Self { name, event, tool, input, payload, verdict, text, exit, max_ms })
    }

    /// Returns true if there is an expectation.
    pub fn expects_something(&self) -> bool {
        self.verdict.is_some()
            || self.text.is_some()
            || self.exit.is_some()
            || self.max_ms.is_some()
    }

    /// Returns the payload. None if the event has no such tool.
    pub fn payload(&self, environment: &TrialEnvironment) -> Option<Value> {
        let mut payload = base_payload(self.event, self.tool.as_deref(), environment)?;
        for (key, value) in &self.payload {
            payload[key] = value.clone();
        }
        for (key, value) in &self.input {
            payload["tool_input"][key] = value.clone();
        }
        Some(payload)
    }

    /// Runs the hook on the payload and compares the answer with the expectations.
    pub fn run(
        &self,
        runner: &TrialRunner,
        start: &HookStart,
        contract: Contract,
    ) -> HookTestResult {
        let hook = TestedHook {
            event: self.event,
            start: start.clone(),
            plugin: None,
            timeout: None,
            blocks_on_failure: false,
        };
        let Some(payload) = self.payload(runner.environment()) else {
            return self.fail(format!("{} has no tool", self.event));
        };
        let judged = judge_trial(&hook, runner.run(&hook, &payload), contract);
        let answer = CaseAnswer {
            effect: judged.effect,
            sentence: judged.sentence(),
            texts: judged.texts().into_iter().map(str::to_owned).collect(),
            ending: Some(judged.trial.ending.clone()),
            took: judged.trial.took,
        };
        self.compare(&answer)
    }

    /// Returns the result of a test that cannot run.
    pub fn fail(&self, failure: String) -> HookTestResult {
        HookTestResult {
            name: self.name.clone(),
            failures: vec![failure],
            effect: TrialEffect::Failed,
            milliseconds: 0.0,
            observed: None,
        }
    }

    /// Compares an answer with the expectations.
    pub fn compare(&self, answer: &CaseAnswer) -> HookTestResult {
        let mut failures = Vec::new();
        if let Some(expected) = self.verdict.filter(|expected| !expected.is_met(answer.effect)) {
            failures.push(format!(
                "expected {}, but it is {}: {}",
                expected.name(),
                answer.effect,
                answer.sentence
            ));
        }
        if let Some(text) = &self.text
            && !answer.texts.iter().any(|said| said.contains(text.as_str()))
        {
            failures.push(format!("nobody reads {text:?}; the texts are {:?}", answer.texts));
        }
        if let (Some(exit), Some(ending)) = (self.exit, &answer.ending)
            && *ending != TrialEnding::Exited(exit)
        {
            let ending = match ending {
                TrialEnding::Exited(code) => format!("is {code}"),
                TrialEnding::Killed(signal) => format!("is missing: signal {signal}"),
                TrialEnding::TimedOut => "is missing: it did not end in time".to_owned(),
                TrialEnding::NotStarted(reason) => format!("is missing: {reason}"),
            };
            failures.push(format!("expected exit code {exit}, but it {ending}"));
        }
        let took = answer.took;
        if let Some(limit) = self.max_ms
            && took.as_millis() > u128::from(limit)
        {
            failures.push(format!("took {} ms, more than {limit} ms", took.as_millis()));
        }
        let milliseconds = (took.as_secs_f64() * 10_000.0).round() / 10.0;
        let observed = Some(self.observe(answer));
        let (name, effect) = (self.name.clone(), answer.effect);
        HookTestResult { name, failures, effect, milliseconds, observed }
    }

    /// Returns what must be expected for the test to pass, of the kinds that it expects. Without any, the verdict.
    fn observe(&self, answer: &CaseAnswer) -> ObservedAnswer {
        let is_met = self.verdict.is_some_and(|verdict| verdict.is_met(answer.effect));
        let wants_verdict = self.verdict.is_some() || !self.expects_something();
        let verdict = (wants_verdict && !is_met).then(|| {
            ExpectedVerdict::for_effect(answer.effect).map(|verdict| verdict.name().to_owned())
        });
        let text = self.text.as_ref().and_then(|text| {
            let is_met = answer.texts.iter().any(|said| said.contains(text.as_str()));
            let said = answer.texts.first()?.lines().find(|line| !line.trim().is_empty())?;
            (!is_met).then(|| said.to_owned())
        });
        let exit = match (self.exit, &answer.ending) {
            (Some(exit), Some(TrialEnding::Exited(code))) if exit != *code => Some(*code),
            _ => None,
        };
        ObservedAnswer { verdict: verdict.flatten(), text, exit }
    }
}

fn mistake(what: &str) -> TestFileError {
    TestFileError(what.to_owned())
}

fn refuse_unknown(
    rest: &Map<String, Value>,
    place: &str,
    known: &str,
) -> Result<(), TestFileError> {
    match rest.keys().next() {
        None => Ok(()),
        Some(key) => {
            Err(TestFileError(format!("{place} has an unknown key `{key}`; the keys are {known}")))
        }
    }
}

fn exec_start(words: &[Value]) -> Result<HookStart, TestFileError> {
    let words: Option<Vec<String>> =
        words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    match words.as_deref() {
        Some([program, args @ ..]) => {
            Ok(HookStart::Exec { program: program.clone(), args: args.to_vec() })
        }
        _ => Err(mistake("`command` must be a text or a list of texts")),
    }
}

fn to_object(table: &DeTable<'_>, depth: usize) -> Result<Map<String, Value>, TestFileError> {
    let members = table
        .iter()
        .map(|(key, value)| Ok((key.get_ref().to_string(), to_json(value.get_ref(), depth + 1)?)));
    members.collect()
}

fn to_json(value: &DeValue<'_>, depth: usize) -> Result<Value, TestFileError> {
    if depth > MAX_DEPTH {
        return Err(mistake("a value is nested too deeply"));
    }
    let number = |text: String| {
        let text = text.replace('_', "");
        serde_json::from_str(&text)
            .map_err(|_| TestFileError(format!("`{text}` is not a JSON number")))
    };
    match value {
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Boolean(flag) => Ok(Value::Bool(*flag)),
        DeValue::Integer(integer) => number(integer.as_str().to_owned()),
        DeValue::Float(float) => number(float.as_str().to_owned()),
        DeValue::Datetime(time) => Ok(Value::String(time.to_string())),
        DeValue::Array(items) => items
            .iter()
            .map(|item| to_json(item.get_ref(), depth + 1))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        DeValue::Table(table) => to_object(table, depth).map(Value::Object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUARD: &str = r#"
        command = "grep -q 'git push --force' && { echo 'no forced push' >&2; exit 2; }; exit 0"

        [[test]]
        name = "a forced push is blocked"
        event = "PreToolUse"
        tool = "Bash"
        input = { command = "git push --force" }
        verdict = "blocked"
        text = "forced"
        exit = 2
        max_ms = 60000

        [[test]]
        name = "a push is allowed"
        event = "PreToolUse"
        tool = "Bash"
        input.command = "git push"
        payload = { permission_mode = "plan", nested = [1, { a = true }] }
        verdict = "allowed"

        [[test]]
        name = "a wrong expectation"
        event = "PreToolUse"
        tool = "Bash"
        verdict = "blocked"
        text = "forced"
        exit = 2
    "#;

    fn run(file: &HookTestFile) -> Vec<HookTestResult> {
        let scratch = tempfile::tempdir().unwrap();
        let environment = TrialEnvironment {
            project: scratch.path().to_owned(),
            home: scratch.path().to_owned(),
            temporary: scratch.path().to_owned(),
            variables: vec![("PATH".into(), "/usr/bin:/bin".into())],
            is_copy: true,
        };
        let runner = TrialRunner::new(environment).unwrap();
        let start = file.start.clone().unwrap();
        file.cases.iter().map(|case| case.run(&runner, &start, Contract::newest())).collect()
    }

    #[test]
    fn expectations_are_compared() {
        let file = HookTestFile::parse(GUARD, false).unwrap();
        assert_eq!(file.cases[1].payload["nested"][1]["a"], true);
        let results = run(&file);
        assert_eq!((&results[0].failures[..], &results[1].failures[..]), (&[][..], &[][..]));
        assert_eq!(results[0].effect, TrialEffect::Blocked);
        assert_eq!(
            results[2].failures,
            [
                "expected blocked, but it is silent: The tool call continues as if there were no hook.",
                "nobody reads \"forced\"; the texts are []",
                "expected exit code 2, but it is 0",
            ]
        );
    }

    #[test]
    fn mistakes_are_named() {
        let case = |rest: &str| format!("[[test]]\nname = \"n\"\n{rest}");
        for (text, expected) in [
            (String::new(), "there is no [[test]]"),
            ("a = ".to_owned(), "line 1: "),
            ("[[test]]\nevent = \"Stop\"".to_owned(), "test 1 has no name"),
            (case(""), "`event` is missing"),
            (case("event = \"Stopp\"\nverdict = \"blocked\""), "test `n`: "),
            (case("event = \"Stop\""), "nothing is expected"),
            (
                case("event = \"Stop\"\nverdict = \"fine\""),
                "`verdict` must be one of: blocked, allowed",
            ),
            (case("event = \"Stop\"\nverdict = 1"), "`verdict` must be a text"),
            (case("event = \"Stop\"\nexit = -1"), "`exit` must be a number"),
            (case("event = \"Stop\"\nexit = 0\nexpect = 1"), "unknown key `expect`"),
            (
                format!("settings = \"x\"\n{}event = \"Stop\"\nexit = 0", case("")),
                "`exit` needs `command`",
            ),
            (format!("settings = \"x\"\ncommand = \"y\"\n{}", case("")), "not both"),
            (format!("command = 1\n{}", case("")), "`command` must be a text"),
        ] {
            let error = HookTestFile::parse(&text, false).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let deep = format!(
            "{}event = \"Stop\"\nexit = 0\npayload.a = {}1{}",
            case(""),
            "[".repeat(60),
            "]".repeat(60)
        );
        assert!(HookTestFile::parse(&deep, false).is_err());
    }
}
