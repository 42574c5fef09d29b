//! Generated memories and queries: the same on every run, with word frequencies like those of real texts.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rutter_memory::project::{LocatedProject, ProjectKey};
use rutter_memory::store::{ExportRecord, Project};
use rutter_memory::{Clean, Time};
use serde_json::json;

use crate::bench::run_git;

/// Words of texts about software, with their frequencies.
const BACKGROUND_WORDS_PATH: &str = "crates/search/src/background.txt";
/// Number of additional names: functions, files, types, each of which occurs in few texts.
const NAME_COUNT: usize = 60_000;
/// Interval of names: every eighth word is one, on average.
const NAME_INTERVAL: u64 = 8;

/// A checkout, and a file with memories to import for it.
pub(crate) struct SeededCheckout {
    pub(crate) checkout: PathBuf,
    pub(crate) rows: PathBuf,
}

/// The words of generated texts.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// Cumulative frequencies of the words.
    sums: Vec<u64>,
    names: Vec<String>,
}

/// A seeded random number generator.
pub(super) struct WordRandom(u64);

impl WordRandom {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03)
    }

    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap_or_default()
    }
}

impl Vocabulary {
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(root.join(BACKGROUND_WORDS_PATH))?;
        let mut common: Vec<(&str, u64)> = text
            .lines()
            .map(|line| {
                let (word, count) = line.split_once(' ').context("a word and a count")?;
                Ok((word, count.parse()?))
            })
            .collect::<Result<_>>()?;
        common.retain(|(word, _)| {
            word.len() > 2 && word.bytes().all(|sign| sign.is_ascii_lowercase())
        });
        common.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        let mut total = 0;
        let sums = common.iter().map(|(_, count)| {
            total += count;
            total
        });
        let sums = sums.collect();
        let words: Vec<String> = common.iter().map(|(word, _)| (*word).to_owned()).collect();
        let mut draw = WordRandom::new(1);
        let names = (0..NAME_COUNT).map(|number| {
            let mut word = || words[draw.below(words.len())].clone();
            match number % 4 {
                0 => format!("{}_{}", word(), word()),
                1 => format!("{}_{}_{number}", word(), word()),
                2 => format!("src/{}/{}.rs", word(), word()),
                _ => {
                    let (one, other) = (word(), word());
                    let (head, tail) = other.split_at(1);
                    format!("{one}{}{tail}", head.to_uppercase())
                }
            }
        });
        let names = names.collect();
        Ok(Self { words, sums, names })
    }

    fn word(&self, draw: &mut WordRandom) -> &str {
        if draw.next().is_multiple_of(NAME_INTERVAL) {
            // Few names are frequent: a product of two uniform draws favours small numbers.
            let at = draw.below(NAME_COUNT) * draw.below(NAME_COUNT) / NAME_COUNT;
            return &self.names[at];
        }
        let at = draw.next() % self.sums.last().copied().unwrap_or(1);
        &self.words[self.sums.partition_point(|sum| *sum <= at)]
    }

    /// Generates sentences with a total number of words.
    fn text(&self, draw: &mut WordRandom, words: usize) -> String {
        let mut text = String::new();
        for number in 1..=words {
            text.push_str(self.word(draw));
            text.push_str(if number % 12 == 0 { ". " } else { " " });
        }
        text
    }

    /// Makes a checkout in a folder, and an export with memories for it.
    pub(crate) fn seed_checkout(&self, folder: &Path, count: u32) -> Result<SeededCheckout> {
        let checkout = folder.join("ship");
        run_git(folder, &["init", "--quiet", "ship"])?;
        run_git(&checkout, &["remote", "add", "origin", "https://github.com/ada/ship.git"])?;
        let rows = folder.join("seed.jsonl");
        let mut out = BufWriter::new(File::create(&rows)?);
        self.write(&LocatedProject::find(&checkout), count, &mut out)?;
        out.flush()?;
        Ok(SeededCheckout { checkout, rows })
    }

    /// Writes memories as an export: most belong to the checkout's project, some to another, some to no project.
    fn write(&self, checkout: &LocatedProject, count: u32, mut out: impl Write) -> Result<()> {
        let other = ProjectKey::new("github.com/ada/harbour");
        let at = |number: u32| Time::from_millis(1_763_200_000_000 + i64::from(number) * 60_000);
        let put = |out: &mut dyn Write, record: &ExportRecord| -> Result<()> {
            serde_json::to_writer(&mut *out, record)?;
            Ok(out.write_all(b"\n")?)
        };
        put(
            &mut out,
            &ExportRecord::RutterExport { schema: rutter_memory::store::SCHEMA_VERSION },
        )?;
        for (number, key) in (0..).zip([&checkout.key, &other]) {
            let record = ExportRecord::Project(Project {
                id: format!("019a86e0-0000-7000-8001-{number:012x}").parse()?,
                key: key.clone(),
                aliases: if number == 0 { checkout.aliases.clone() } else { Vec::new() },
                merged: Vec::new(),
                name: Clean::new(key.as_str().rsplit('/').next().unwrap_or_default()),
                root: Clean::new(&checkout.root.to_string_lossy()),
                created: at(0),
                changed: at(0),
            });
            put(&mut out, &record)?;
        }
        for number in 0..count {
            let mut draw = WordRandom::new(u64::from(number) + 2);
            let words = if number % 50 == 0 { 300 } else { 15 + draw.below(50) };
            let project = match number % 10 {
                0 => None,
                1 | 2 => Some(&other),
                _ => Some(&checkout.key),
            };
            let memory = json!({ "memory": {
                "id": format!("019a86e0-0000-7000-8002-{number:012x}"), "project": project, "category": "fact",
                "text": self.text(&mut draw, words).trim_end(), "importance": 0.5, "tags": [],
                "created": at(number), "changed": at(number),
            }});
            serde_json::to_writer(&mut out, &memory)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Returns a short sentence; the same number gives the same sentence.
    pub(crate) fn sentence(&self, number: u64) -> String {
        self.text(&mut WordRandom::new(number + 1_000_000), 9).trim_end().to_owned()
    }

    /// Returns the queries, each with the name of its kind.
    pub(crate) fn queries(&self) -> [(&'static str, String); 5] {
        let mut draw = WordRandom::new(0);
        let sentence = format!(
            "why does the {} fail when {} is called twice, and where do we set the {} of {}?",
            self.words[900], self.names[40], self.words[300], self.words[1_200],
        );
        let mut dump = vec!["thread 'main' panicked at src/store/spool.rs:177:9:".to_owned()];
        for line in 0..60 {
            dump.push(format!(
                "  {line}: 0x{:012x} - {}::{}\n      at {}:{}",
                draw.next() >> 16,
                self.word(&mut draw),
                self.names[draw.below(NAME_COUNT)],
                self.names[2 + 4 * draw.below(NAME_COUNT / 4)],
                draw.below(900),
            ));
        }
        [
            ("an ordinary sentence", sentence),
            ("a prompt of 4,000 words", self.text(&mut draw, 4_000)),
            ("twelve of the commonest words", self.words[..12].join(" ")),
            ("one name", self.names[1].clone()),
            ("an error dump", dump.join("\n")),
        ]
    }
}
