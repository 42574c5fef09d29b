//! `cargo xtask eval`: measures recall and false injections with the product's pipeline.

#![allow(clippy::print_stdout, reason = "the task's result")]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use rutter_memory::store::{DocumentHit, DocumentQuery, ImportFile, WhoseRows};
use rutter_memory::{Id, Store, Time};
use rutter_search::score::{MEANING_SHARE, MIN_CONFIDENCE};
use serde_json::{Value, json};

mod commands;
mod history;
mod picture;
mod said;
mod silent_loop;

pub(crate) use commands::run as eval_commands;
pub(crate) use picture::draw_injection_curve;
pub(crate) use said::run as eval_said;
pub(crate) use silent_loop::run as silent_loop;

/// A term limit above the length of any query.
const UNLIMITED_TERMS: usize = 100_000;

/// The search methods: name, weight of the meaning in a score, and number of terms to search.
const SEARCH_METHODS: [(&str, f64, usize); 3] =
    [("hybrid", MEANING_SHARE, 8), ("bm25", 0.0, 8), ("bm25-full", 0.0, UNLIMITED_TERMS)];

/// A store in a temporary folder, with the names of its texts.
struct TempStore {
    store: Store,
    names: HashMap<Id, String>,
    _folder: tempfile::TempDir,
}

impl TempStore {
    /// Creates a store and imports texts by name, with the phrases that say when each applies.
    fn new<'a>(
        texts: impl Iterator<Item = (&'a str, &'a str)>,
        phrases: &HashMap<String, Vec<String>>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let now = Time::from_millis(1_763_200_000_000);
        let mut store = Store::open(folder.path(), now)?;
        let mut names = HashMap::new();
        let mut lines =
            json!({ "rutter-export": { "schema": rutter_memory::store::SCHEMA_VERSION } })
                .to_string();
        lines.push('\n');
        for (name, text) in texts {
            let id = Id::new(now);
            names.insert(id, name.to_owned());
            // The maximum length of a memory.
            let text: String = text.chars().take(9_900).collect();
            let phrases = phrases.get(name).map(Vec::as_slice).unwrap_or_default();
            let memory = json!({
                "id": id, "project": null, "category": "fact", "text": text, "importance": 0.5, "tags": [],
                "created": now, "changed": now, "applies_when": phrases,
            });
            lines.push_str(&json!({ "memory": memory }).to_string());
            lines.push('\n');
        }
        let file = ImportFile::read(lines.as_bytes(), |_| {})?;
        store.import(&file, "evaluation", WhoseRows::Own, now)?;
        Ok(Self { store, names, _folder: folder })
    }

    /// Searches; returns the names of the hits with their confidence, best first.
    fn search(&mut self, query: &DocumentQuery<'_>) -> Result<Vec<(String, f64)>> {
        let hits = self.search_hits(query)?;
        Ok(hits.into_iter().map(|(name, hit)| (name, hit.confidence)).collect())
    }

    /// Searches; returns the hits with their names, best first.
    fn search_hits(&mut self, query: &DocumentQuery<'_>) -> Result<Vec<(String, DocumentHit)>> {
        let hits = self.store.search_documents(query)?;
        Ok(hits.into_iter().map(|hit| (self.names[&hit.row].clone(), hit)).collect())
    }
}

fn text_field<'a>(value: &'a Value, key: &str) -> Result<&'a str> {
    value[key].as_str().with_context(|| format!("no `{key}` in {value:.80}"))
}

fn ratio(part: usize, of: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let share = part as f64 / of.max(1) as f64;
    share
}

/// Prints recall, nDCG and MRR of every set, by every method.
pub(crate) fn eval_retrieval(files: &[&str]) -> Result<()> {
    let as_json = files.contains(&"--json");
    let mut rows = Vec::new();
    for file in files.iter().filter(|file| **file != "--json") {
        let set = std::fs::read_to_string(file).with_context(|| (*file).to_owned())?;
        let set: Value = serde_json::from_str(&set)?;
        let name = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut corpora = BTreeMap::new();
        for (id, texts) in set["corpora"].as_object().context("no `corpora`")? {
            let texts = texts.as_array().context("a corpus is a list")?;
            let texts = texts
                .iter()
                .map(|entry| Ok((text_field(entry, "id")?, text_field(entry, "text")?)))
                .collect::<Result<Vec<_>>>()?;
            corpora.insert(id.clone(), TempStore::new(texts.into_iter(), &HashMap::new())?);
        }
        let queries = set["queries"].as_array().context("no `queries`")?;
        for (method, meaning, searched) in SEARCH_METHODS {
            let mut sums = [0.0; 4];
            for query in queries {
                let corpus = corpora
                    .get_mut(text_field(query, "cid")?)
                    .context("a corpus that is not there")?;
                let asked = DocumentQuery {
                    meaning,
                    max_terms: searched,
                    ..DocumentQuery::new(text_field(query, "q")?)
                };
                let found = corpus.search(&asked)?;
                let wanted = query["rel"].as_array().context("no `rel`")?;
                let wanted: HashSet<&str> = wanted.iter().filter_map(Value::as_str).collect();
                for (sum, figure) in sums.iter_mut().zip(query_metrics(&found, &wanted)) {
                    *sum += figure;
                }
            }
            let mean = sums.map(|sum| sum * ratio(1, queries.len()));
            rows.push((name.clone(), method, queries.len(), mean));
        }
    }
    if as_json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(set, method, queries, [recall5, recall10, ndcg10, mrr])| {
                json!({
                    "set": set, "method": method, "queries": queries,
                    "recall5": recall5, "recall10": recall10, "ndcg10": ndcg10, "mrr": mrr,
                })
            })
            .collect();
        println!("{}", serde_json::to_string_pretty(&rows)?);
        return Ok(());
    }
    println!("{:<24} {:<10} queries  recall@5  recall@10  nDCG@10    MRR", "set", "method");
    for (set, method, queries, [recall5, recall10, ndcg10, mrr]) in &rows {
        println!(
            "{set:<24} {method:<10} {queries:>7}  {recall5:>8.3}  {recall10:>9.3}  {ndcg10:>7.3}  {mrr:>5.3}"
        );
    }
    for (method, ..) in SEARCH_METHODS {
        let of: Vec<f64> = rows.iter().filter(|row| row.1 == method).map(|row| row.3[2]).collect();
        println!("macro nDCG@10, {method}: {:.3}", of.iter().sum::<f64>() * ratio(1, of.len()));
    }
    Ok(())
}

/// Returns recall@5, recall@10, nDCG@10 and MRR of one query. A document of several chunks counts once, at its best rank.
fn query_metrics(found: &[(String, f64)], wanted: &HashSet<&str>) -> [f64; 4] {
    let mut seen = HashSet::new();
    let found: Vec<&str> =
        found.iter().map(|(name, _)| name.as_str()).filter(|name| seen.insert(*name)).collect();
    let hit = |at: &usize| found.get(*at).is_some_and(|name| wanted.contains(name));
    let recall = |most: usize| ratio((0..most).filter(hit).count(), wanted.len());
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let discount = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let gain: f64 = (0..10).filter(hit).map(discount).sum();
    let best: f64 = (0..wanted.len().min(10)).map(discount).sum();
    let mrr = (0..found.len()).find(hit).map_or(0.0, |at| ratio(1, at + 1));
    [recall(5), recall(10), if best > 0.0 { gain / best } else { 0.0 }, mrr]
}

/// The search result for a prompt: the confidence of the top three hits, and whether each was wanted.
struct PromptResult {
    related: bool,
    kind: String,
    top: Vec<(f64, bool)>,
    /// The measures of the best hits, for `tools/fit`.
    measures: Value,
}

/// Number of hits of a prompt whose measures are written for a fit.
const MEASURED_HITS: usize = 5;

/// Returns the measures of the best hits of a prompt.
fn hit_measures(found: &[(String, DocumentHit)], wanted: &HashSet<&str>) -> Value {
    let measures = found.iter().take(MEASURED_HITS).map(|(name, hit)| {
        let fit = &hit.fit;
        json!({
            "lexical": fit.lexical, "evidence": fit.evidence, "meaning": fit.meaning,
            "document": fit.coverage.document, "phrase": fit.phrase, "crowd": fit.is_in_crowd,
            "confidence": hit.confidence, "wanted": wanted.contains(name.as_str()),
        })
    });
    measures.collect()
}

/// Searches a store for every prompt. `phrases` is a file with the phrases that say when a lesson applies.
fn search_prompts(
    store: &Path,
    prompts: &Path,
    phrases: Option<&Path>,
) -> Result<Vec<PromptResult>> {
    let read = |path: &Path| -> Result<Vec<Value>> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        lines.map(|line| Ok(serde_json::from_str(line)?)).collect()
    };
    let lessons = read(store)?;
    let lessons = lessons
        .iter()
        .map(|lesson| Ok((text_field(lesson, "id")?, text_field(lesson, "text")?)))
        .collect::<Result<Vec<_>>>()?;
    let mut applies_when = HashMap::new();
    for line in phrases.map(read).transpose()?.unwrap_or_default() {
        let phrases = serde_json::from_value(line["applies_when"].clone())?;
        let id = text_field(&line, "id")?;
        ensure!(lessons.iter().any(|(known, _)| *known == id), "no lesson has the id {id}");
        applies_when.insert(id.to_owned(), phrases);
    }
    let mut scratch = TempStore::new(lessons.into_iter(), &applies_when)?;
    let mut asked = Vec::new();
    for prompt in read(prompts)? {
        let wanted = prompt["rel"].as_array().into_iter().flatten();
        let wanted: HashSet<&str> = wanted.filter_map(Value::as_str).collect();
        let found = scratch.search_hits(&DocumentQuery::new(text_field(&prompt, "prompt")?))?;
        let top = found.iter().take(3);
        asked.push(PromptResult {
            related: prompt["related"].as_bool().context("no `related`")?,
            kind: prompt["kind"].as_str().unwrap_or("-").to_owned(),
            top: top.map(|(name, hit)| (hit.confidence, wanted.contains(name.as_str()))).collect(),
            measures: hit_measures(&found, &wanted),
        });
    }
    Ok(asked)
}

/// Returns the curve over the confidence floor: the floor, the false rate, the hit rate.
fn floor_curve(asked: &[PromptResult]) -> Vec<(f64, f64, f64)> {
    (0..=100)
        .map(|step| {
            let floor = f64::from(step) / 100.0;
            let (wrong, right) = injection_rates(asked, floor, |_| true);
            (floor, wrong, right)
        })
        .collect()
}

/// Prints the rate of unrelated prompts with an injection, and of related prompts with the right one.
pub(crate) fn eval_injection(store: &str, prompts: &str, options: &[&str]) -> Result<()> {
    let (mut as_json, mut phrases, mut measures) = (false, None, None);
    let mut options = options.iter();
    while let Some(option) = options.next() {
        match *option {
            "--json" => as_json = true,
            "--applies-when" => {
                phrases = Some(Path::new(options.next().context("--applies-when needs a file")?));
            }
            "--measures" => {
                measures = Some(Path::new(options.next().context("--measures needs a file")?));
            }
            option => bail!("unknown option {option}"),
        }
    }
    let asked = search_prompts(Path::new(store), Path::new(prompts), phrases)?;
    if let Some(path) = measures {
        let lines = asked.iter().map(|asked| {
            let (related, kind, hits) = (asked.related, &asked.kind, &asked.measures);
            json!({ "related": related, "kind": kind, "hits": hits }).to_string() + "\n"
        });
        crate::files::replace_file(path, lines.collect::<String>().as_bytes())?;
    }
    let curve = floor_curve(&asked);
    let (wrong, right) = injection_rates(&asked, MIN_CONFIDENCE, |_| true);
    let unrelated = asked.iter().filter(|asked| !asked.related).count();
    let related = asked.len() - unrelated;
    if as_json {
        let curve: Vec<Value> = curve
            .iter()
            .map(|(floor, wrong, right)| json!({ "floor": floor, "false_rate": wrong, "hit_rate": right }))
            .collect();
        let report = json!({
            "unrelated": unrelated, "false_rate": wrong, "related": related, "hit_rate": right, "floor": MIN_CONFIDENCE,
            "curve": curve,
        });
        println!("{}", serde_json::to_string_pretty(&report)?);
        return Ok(());
    }
    let percent = |rate: f64| format!("{:.1} %", rate * 100.0);
    let interval = |rate: f64, of: usize| {
        let (low, high) = wilson_interval(rate, of);
        format!("{} ({:.0}–{:.0})", percent(rate), low * 100.0, high * 100.0)
    };
    println!(
        "floor {MIN_CONFIDENCE}: {} of {unrelated} unrelated prompts shown something; {} of {related} related ones hit",
        interval(wrong, unrelated),
        interval(right, related)
    );
    println!("in parentheses: 95 % confidence interval");
    let kinds: BTreeSet<&str> = asked.iter().map(|asked| asked.kind.as_str()).collect();
    for kind in kinds {
        let of: Vec<&PromptResult> = asked.iter().filter(|asked| asked.kind == kind).collect();
        let (wrong, right) = injection_rates(&asked, MIN_CONFIDENCE, |asked| asked.kind == kind);
        let (_, without) = injection_rates(&asked, 0.0, |asked| asked.kind == kind);
        let related = of.iter().filter(|asked| asked.related).count();
        if related > 0 {
            let (right, without) = (interval(right, related), percent(without));
            println!("  {kind:<14} {related:>4}  hit {right}, without a floor {without}");
        }
        if of.len() > related {
            let wrong = interval(wrong, of.len() - related);
            println!("  {kind:<14} {:>4}  false {wrong}", of.len() - related);
        }
    }
    for (floor, wrong, right) in curve.iter().step_by(5) {
        println!("  {floor:.2}  false {:>7}  hit {:>7}", percent(*wrong), percent(*right));
    }
    Ok(())
}

/// Returns the 95 % confidence interval of a rate that was measured on `of` cases (Wilson).
fn wilson_interval(rate: f64, of: usize) -> (f64, f64) {
    const NORMAL_QUANTILE: f64 = 1.96;
    #[expect(clippy::cast_precision_loss, reason = "a count of prompts")]
    let of = of.max(1) as f64;
    let square = NORMAL_QUANTILE * NORMAL_QUANTILE / of;
    let middle = rate + square / 2.0;
    let width = NORMAL_QUANTILE * (rate * (1.0 - rate) / of + square / (4.0 * of)).sqrt();
    (((middle - width) / (1.0 + square)).max(0.0), ((middle + width) / (1.0 + square)).min(1.0))
}

/// Returns the share of unrelated prompts with a shown text, and of related prompts with the right one.
fn injection_rates(
    asked: &[PromptResult],
    floor: f64,
    of: impl Fn(&PromptResult) -> bool,
) -> (f64, f64) {
    let rate = |related: bool, hit: &dyn Fn(&PromptResult) -> bool| {
        let all = asked.iter().filter(|asked| asked.related == related && of(asked));
        ratio(all.clone().filter(|asked| hit(asked)).count(), all.count())
    };
    let shown = |asked: &PromptResult| asked.top.iter().any(|(likely, _)| *likely >= floor);
    let right =
        |asked: &PromptResult| asked.top.iter().any(|(likely, wanted)| *wanted && *likely >= floor);
    (rate(false, &shown), rate(true, &right))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_contains_rate() {
        let (low, high) = wilson_interval(0.1, 30);
        assert!((low - 0.035).abs() < 0.001 && (high - 0.256).abs() < 0.001, "{low} {high}");
        assert!(wilson_interval(0.0, 10).0.abs() < 1e-12);
    }

    #[test]
    fn no_metric_exceeds_one() -> Result<()> {
        let texts = [
            ("port", "the staging port is 8080"),
            ("port", "the port of staging changed from 8000"),
            ("port", "staging listens on another port"),
            ("lock", "two workers take the lock in another order"),
        ];
        let mut store = TempStore::new(texts.into_iter(), &HashMap::new())?;
        let found = store.search(&DocumentQuery::new("which port has staging"))?;
        assert!(found.iter().filter(|(name, _)| name == "port").count() == 3, "{found:?}");
        for (wanted, recall) in [(["port", "port"], 1.0), (["port", "absent"], 0.5)] {
            let metrics = query_metrics(&found, &HashSet::from(wanted));
            assert!(metrics.iter().all(|metric| *metric <= 1.0), "{metrics:?}");
            assert!((metrics[0] - recall).abs() < f64::EPSILON, "{metrics:?}");
        }
        Ok(())
    }

    #[test]
    fn lessons_with_phrases_are_no_crowd() -> Result<()> {
        let fixtures = crate::repository_root()?.join("fixtures/recall");
        let folder = tempfile::tempdir()?;
        let prompts = folder.path().join("prompts");
        let lines = [
            "app links from the confirmation mail open chrome instead of the app",
            "what's the syntax of a mailto link with a subject",
        ]
        .map(|prompt| json!({ "prompt": prompt, "related": false }).to_string());
        crate::files::replace_file(&prompts, lines.join("\n").as_bytes())?;
        let phrases = fixtures.join("applies-c-6.jsonl");
        let asked = search_prompts(&fixtures.join("lessons-c.jsonl"), &prompts, Some(&phrases))?;
        for asked in asked {
            let hits = asked.measures.as_array().context("a list")?;
            assert!(!hits.is_empty() && hits.iter().all(|hit| hit["crowd"] == false), "{hits:?}");
        }
        Ok(())
    }

    #[test]
    fn phrases_reach_search() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let write = |name: &str, line: Value| -> Result<std::path::PathBuf> {
            let path = folder.path().join(name);
            crate::files::replace_file(&path, line.to_string().as_bytes())?;
            Ok(path)
        };
        let store =
            write("store", json!({ "id": "gpg", "text": "export GPG_TTY before signing" }))?;
        let prompts = write(
            "prompts",
            json!({ "prompt": "committing fails without a terminal", "related": true, "rel": ["gpg"] }),
        )?;
        let phrases = write(
            "phrases",
            json!({ "id": "gpg", "applies_when": ["committing fails without a terminal"] }),
        )?;
        let best = |phrases: Option<&Path>| -> Result<f64> {
            let asked = search_prompts(&store, &prompts, phrases)?;
            Ok(asked[0].top.first().map_or(0.0, |(likely, _)| *likely))
        };
        assert!(best(None)? < MIN_CONFIDENCE);
        assert!(best(Some(&phrases))? >= MIN_CONFIDENCE);
        Ok(())
    }
}
