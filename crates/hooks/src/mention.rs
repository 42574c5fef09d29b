//! Mentions: the tests, files and error texts that a prompt names.
//!
//! Recall ranks by words and by meaning. That is enough for a lesson, which is a sentence about a topic. It is not
//! enough for an episode, which is one failure of one test: most prompts that share words with it are about another
//! topic. So an unrequested episode is shown only if the prompt names its test or error, and in one line if the prompt
//! names its file and is about the failure.

use rutter_memory::episode::error_words::{count_content, is_content, prose_words, split_words};
use rutter_memory::episode::{Episode, files_of_episode, has_extension, is_same_file};
use rutter_runs::clues::own_name;

/// Maximum number of words of a prompt that are compared. The rest of a longer prompt is pasted text.
const MAX_WORDS: usize = 2_000;
/// Maximum number of paths of a prompt that are compared.
const MAX_PATHS: usize = 16;
/// Minimum number of consecutive words that count as a quotation of an error.
const MIN_QUOTED_WORDS: usize = 3;
/// Minimum number of characters in these words.
const MIN_QUOTED_CHARS: usize = 12;
/// Minimum number of words with information in a quotation that has less than two thirds of an error.
const MIN_QUOTED_CONTENT: usize = 3;
/// Maximum number of words of a prompt that is compared with the failures of a file. A longer one shares words with any
/// failure.
const MAX_TOPIC_WORDS: usize = 120;
/// Minimum number of different words that a prompt shares with a failure that it is about.
const MIN_TOPIC_WORDS: usize = 2;
/// Minimum length of a test name that a prompt can mention.
const MIN_NAME_CHARS: usize = 4;

/// Words after `the NAME test` that make NAME the name of a test.
const WORDS_AFTER_TEST: &[&str] = &[
    "again", "broke", "breaks", "errors", "fail", "failed", "failing", "fails", "hangs", "is",
    "passes", "still",
];

/// Words by which a prompt says that a run fails.
const FAILING_WORDS: &[&str] = &[
    "broke", "broken", "breaks", "crash", "crashes", "fail", "failed", "failing", "failure",
    "failures", "fails", "hangs", "red", "wrong",
];

/// The names in a prompt, parsed once and compared with many episodes.
#[derive(Debug)]
pub(crate) struct Mentions<'a> {
    text: &'a str,
    words: Vec<String>,
    /// The words outside of paths: many prompts and many errors share folder names.
    prose: Vec<String>,
    paths: Vec<&'a str>,
}

impl<'a> Mentions<'a> {
    /// Extracts the words and the paths of a prompt.
    pub(crate) fn parse(text: &'a str) -> Self {
        Self {
            text,
            words: split_words(text).take(MAX_WORDS).collect(),
            prose: prose_words(text).take(MAX_WORDS).collect(),
            paths: find_paths(text),
        }
    }

    /// Returns the paths and file names in the prompt, as typed but without line numbers and punctuation.
    pub(crate) fn paths(&self) -> &[&'a str] {
        &self.paths
    }

    /// Returns true if the prompt names the episode's test or quotes its error.
    pub(crate) fn names_failure(&self, episode: &Episode) -> bool {
        episode.test.as_deref().is_some_and(|test| self.names_test(test))
            || self.quotes_error(&episode.error)
    }

    /// Returns true if the prompt names one of the episode's files, by its path or its name, and is about the episode.
    pub(crate) fn is_about_failure_in_file(&self, episode: &Episode) -> bool {
        files_of_episode(episode)
            .filter(|file| self.paths.iter().any(|path| is_same_file(path, file)))
            .any(|file| self.is_about_failure(episode, file))
    }

    /// Returns true if the prompt, which names `path`, is about the episode: it names the failure, or is short and shares
    /// words with it that are not words of the path.
    pub(crate) fn is_about_failure(&self, episode: &Episode, path: &str) -> bool {
        if self.names_failure(episode) {
            return true;
        }
        if self.prose.len() > MAX_TOPIC_WORDS {
            return false;
        }
        let test = episode.test.as_deref().map(own_name).unwrap_or_default();
        let path: Vec<String> = name_parts(path).collect();
        let mut shared: Vec<String> = prose_words(&episode.error)
            .chain(name_parts(test))
            .filter(|word| is_content(word) && !path.contains(word) && self.prose.contains(word))
            .collect();
        shared.sort_unstable();
        shared.dedup();
        shared.len() >= MIN_TOPIC_WORDS
    }

    /// Returns true if the prompt says that something fails.
    pub(crate) fn is_about_failing(&self) -> bool {
        self.prose.len() <= MAX_TOPIC_WORDS
            && self.prose.iter().any(|word| FAILING_WORDS.contains(&word.as_str()))
    }

    /// Returns true if the prompt has the test's own name as a word.
    fn names_test(&self, test: &str) -> bool {
        let name = own_name(test);
        if name.contains(' ') {
            // A title of several words: the prompt must quote it.
            let title: Vec<String> = split_words(name).collect();
            return is_distinctive(&title) && contains_run(&self.words, &title);
        }
        if name.chars().count() < MIN_NAME_CHARS {
            return false;
        }
        let is_identifier = is_identifier(name);
        self.occurrences(name).any(|at| is_identifier || self.is_about_test(at, name, test))
    }

    /// Returns the byte offsets at which the prompt has a name as a whole word.
    fn occurrences(&self, name: &str) -> impl Iterator<Item = usize> {
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
        self.text.match_indices(name).map(|(at, _)| at).filter(move |at| {
            !self.text[..*at].ends_with(is_part)
                && !self.text[at + name.len()..].starts_with(is_part)
        })
    }

    /// Returns true if a name that is also an ordinary word means the test here: it is in backticks, follows the rest
    /// of the test's path, or is next to the word "test".
    fn is_about_test(&self, at: usize, name: &str, test: &str) -> bool {
        let (before, after) = (&self.text[..at], &self.text[at + name.len()..]);
        if before.ends_with('`') && after.starts_with('`') {
            return true;
        }
        let parent = before.strip_suffix("::").or_else(|| before.strip_suffix('.'));
        if let Some(parent) = parent.and_then(|parent| split_words(parent).last()) {
            return split_words(test).any(|part| part == parent);
        }
        let is_test =
            |word: Option<String>| word.is_some_and(|word| word == "test" || word == "tests");
        let mut next = split_words(after);
        is_test(split_words(before).last())
            || is_test(next.next())
                && next.next().is_none_or(|word| WORDS_AFTER_TEST.contains(&word.as_str()))
    }

    /// Returns true if the prompt quotes a distinctive part of an error, or has its type or code and words of its
    /// message.
    fn quotes_error(&self, error: &str) -> bool {
        let said: Vec<String> = prose_words(error).collect();
        let content = count_content(&said);
        let quotes = |at: usize| {
            let run = longest_run(&self.prose, &said[at..]);
            let run = &said[at..at + run];
            let quoted = count_content(run);
            let is_most = 3 * run.len() >= 2 * said.len();
            let is_telling = quoted >= MIN_QUOTED_CONTENT && 2 * quoted >= content;
            is_distinctive(run) && (is_most || is_telling)
        };
        if (0..said.len()).any(quotes) {
            return true;
        }
        let Some(code) = error_code(error) else { return false };
        if self.occurrences(code).next().is_none() {
            return false;
        }
        let lower = code.to_lowercase();
        let mut message: Vec<&String> =
            said.iter().filter(|word| is_content(word) && !lower.contains(word.as_str())).collect();
        message.sort();
        message.dedup();
        let found = message.iter().filter(|word| self.prose.contains(word)).count();
        let wanted = if code.contains(|sign: char| sign.is_ascii_digit()) { 1 } else { 2 };
        found > 0 && found >= wanted.min(message.len())
    }
}

/// Returns true if a name cannot be an ordinary word: it has an underscore, a digit or an inner capital.
fn is_identifier(name: &str) -> bool {
    let inner =
        name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    inner || name.contains(|sign: char| sign == '_' || sign.is_ascii_digit())
}

/// Splits a path or the name of a test into lower-case words: `tests/test_cart.py` has four.
fn name_parts(name: &str) -> impl Iterator<Item = String> {
    let mut parts: Vec<String> = Vec::new();
    let mut was_lower = false;
    let mut part = String::new();
    for sign in name.chars() {
        let starts = sign.is_uppercase() && was_lower;
        if (starts || !sign.is_alphanumeric()) && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
        }
        if sign.is_alphanumeric() {
            part.extend(sign.to_lowercase());
        }
        was_lower = sign.is_lowercase();
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts.into_iter()
}

/// Returns true if words are enough to identify the text that they were taken from.
fn is_distinctive(run: &[String]) -> bool {
    run.len() >= MIN_QUOTED_WORDS
        && run.iter().map(|word| word.chars().count()).sum::<usize>() >= MIN_QUOTED_CHARS
        && run.iter().any(|word| is_content(word))
}

/// Returns the maximum number of leading words of `run` that occur consecutively in `words`.
fn longest_run(words: &[String], run: &[String]) -> usize {
    let shared =
        |at: usize| words[at..].iter().zip(run).take_while(|(one, other)| one == other).count();
    (0..words.len()).map(shared).max().unwrap_or(0)
}

fn contains_run(words: &[String], run: &[String]) -> bool {
    longest_run(words, run) == run.len()
}

/// Returns the type or the code of an error: `KeyError`, `E0382`, `TS2345`, `ENOENT`.
fn error_code(error: &str) -> Option<&str> {
    let is_type = |word: &str| {
        word.starts_with(char::is_uppercase)
            && ["Error", "Exception", "Warning", "Fault"].iter().any(|end| word.ends_with(end))
    };
    let is_code = |word: &str| {
        let letters = word.chars().take_while(char::is_ascii_uppercase).count();
        let digits = word.len() - letters;
        let numbered = digits >= 2 && word[letters..].chars().all(|sign| sign.is_ascii_digit());
        letters > 0 && (numbered || digits == 0 && letters >= 5 && word.starts_with(['E', 'S']))
    };
    error
        .split(|sign: char| !sign.is_alphanumeric() && sign != '_')
        .find(|word| word.len() > 3 && (is_type(word) || is_code(word)))
}

fn find_paths(text: &str) -> Vec<&str> {
    let parts = text.split(|sign: char| {
        sign.is_whitespace()
            || matches!(
                sign,
                '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '<' | '>' | ',' | ';' | '='
            )
    });
    let mut found: Vec<&str> = Vec::new();
    for path in parts.filter_map(parse_path) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found.truncate(MAX_PATHS);
    found
}

/// Returns the path in a word of a prompt, without a leading `@`, line numbers and punctuation.
fn parse_path(word: &str) -> Option<&str> {
    let path = word.trim_start_matches('@');
    if path.contains("://") {
        return None;
    }
    let path = path.split("::").next().unwrap_or_default();
    let path = path.split('#').next().unwrap_or_default();
    let mut path = path.trim_end_matches(['.', ':', '!', '?', '/']);
    // `cart.py:12:5`
    while let Some((rest, number)) = path.rsplit_once(':')
        && !number.is_empty()
        && number.chars().all(|sign| sign.is_ascii_digit() || sign == '-')
    {
        path = rest;
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    let is_path = has_extension(path) || path.trim_start_matches('/').contains('/');
    (is_path && !path.contains(':')).then_some(path)
}

#[cfg(test)]
mod tests;
