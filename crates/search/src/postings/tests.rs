use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const EDITION: i64 = 5;

struct Place {
    _folder: TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { path: folder.path().join("terms"), _folder: folder }
}

impl Place {
    fn write(&self, texts: &[&str], edition: i64) {
        let mut draft = PostingDraft::begin(&self.path, edition).unwrap();
        for (row, text) in (0..).zip(texts) {
            let length = u32::try_from(text.split(' ').count()).unwrap();
            let document =
                Document { row: row * 2 + 1, project: row % 3, kind: kind_of(row), length };
            draft.put(document, "~t:", text.split(' ')).unwrap();
        }
        draft.finish(99).unwrap();
    }

    fn open(&self) -> Option<PostingFile> {
        PostingFile::open(&self.path, &[EDITION])
    }

    #[expect(clippy::disallowed_methods, reason = "what a crash would leave")]
    fn put(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

/// Returns every list of a file by its term, or None if a part of the file is damaged.
fn lists<'t>(
    file: &PostingFile,
    terms: impl Iterator<Item = &'t str>,
) -> Option<BTreeMap<String, Vec<(Document, u16)>>> {
    let mut found = BTreeMap::new();
    for term in terms {
        let list = file.list(&format!("~t:{term}"))?;
        let places = file.read(&list)?;
        let documents: Option<Vec<_>> =
            places.map(|(place, times)| Some((file.document(place)?, times))).collect();
        found.insert(term.to_owned(), documents?);
    }
    Some(found)
}

/// Computes the same lists without a file.
fn expected(texts: &[&str]) -> BTreeMap<String, Vec<(Document, u16)>> {
    let mut found: BTreeMap<String, Vec<(Document, u16)>> = BTreeMap::new();
    for (row, text) in (0..).zip(texts) {
        let terms: Vec<&str> = text.split(' ').collect();
        let length = u32::try_from(terms.len()).unwrap();
        let document = Document { row: row * 2 + 1, project: row % 3, kind: kind_of(row), length };
        for term in terms.iter().collect::<BTreeSet<_>>() {
            let times = terms.iter().filter(|other| *other == term).count();
            let list = found.entry((*term).to_owned()).or_default();
            list.push((document, u16::try_from(times).unwrap()));
        }
    }
    found
}

const TEXTS: [&str; 4] = ["red green red", "blue", "green green green blue red", "naïve 日本"];

/// Returns the kind of a row.
fn kind_of(row: i64) -> u8 {
    u8::try_from(row % 5).unwrap()
}

#[test]
fn what_is_written_is_found() {
    let place = place();
    place.write(&TEXTS, EDITION);
    let file = place.open().unwrap();
    assert_eq!((file.documents(), file.high_water()), (4, 99));
    assert!(file.is_whole());
    let expected = expected(&TEXTS);
    assert_eq!(lists(&file, expected.keys().map(String::as_str)).unwrap(), expected);
    assert!(file.list("~t:violet").unwrap().is_empty());
    // The term without the prefix belongs to another axis.
    assert!(file.list("red").unwrap().is_empty());
    assert_eq!(
        [0, 1, 3, 7, 9].map(|row| file.place(row).unwrap()),
        [None, Some(0), Some(1), Some(3), None]
    );
    let green = file.list("~t:green").unwrap();
    assert_eq!(file.count_of(&green, &[0, 1, 3]), Some(1));
    assert_eq!(file.count_of(&green, &[]), Some(0));
}

#[test]
fn what_is_no_such_file_is_not_there() {
    let place = place();
    assert!(place.open().is_none());
    place.write(&[], EDITION);
    let file = place.open().unwrap();
    assert!(file.is_whole() && file.documents() == 0 && file.list("~t:red").unwrap().is_empty());
    place.write(&TEXTS, EDITION + 1);
    assert!(place.open().is_none());
    place.write(&TEXTS, EDITION);
    let whole = place.bytes();
    for at in 0..HEADER {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        place.put(&bytes);
        assert!(place.open().is_none(), "{at}");
    }
    for length in 0..whole.len() {
        place.put(&whole[..length]);
        assert!(place.open().is_none(), "{length}");
    }
}

/// After a power cut, a file with the right length can have sectors that are empty or belong to an older file.
#[test]
fn a_lost_sector_is_noticed_by_whoever_would_be_misled() {
    const SECTOR: usize = 512;
    let place = place();
    let texts: Vec<String> =
        (0..60).map(|n| format!("w{} w{} w{} common", n % 7, n, n * n % 31)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    place.write(&texts, EDITION - 1);
    let older = place.bytes();
    place.write(&texts, EDITION);
    let whole = place.bytes();
    let expected = expected(&texts);
    for start in (0..whole.len()).step_by(SECTOR) {
        let range = start..whole.len().min(start + SECTOR);
        for lost in [&[0; SECTOR][..range.len()], &older[range.clone()]] {
            let mut bytes = whole.clone();
            bytes[range.clone()].copy_from_slice(lost);
            // Both files have the same places and counts, so an unchanged sector is not lost.
            if bytes == whole {
                continue;
            }
            place.put(&bytes);
            let Some(file) = place.open() else { continue };
            assert!(!file.is_whole(), "{start}");
            for (term, expected) in &expected {
                let found = lists(&file, std::iter::once(term.as_str()));
                assert!(found.is_none_or(|found| found[term] == *expected), "{start}: {term}");
            }
        }
    }
}

proptest! {
    #[test]
    fn any_texts_are_found_again(texts in prop::collection::vec("[a-d]{1,2}( [a-d]{1,2}){0,9}", 0..30)) {
        let place = place();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        place.write(&texts, EDITION);
        let file = place.open().unwrap();
        let expected = expected(&texts);
        prop_assert_eq!(lists(&file, expected.keys().map(String::as_str)).unwrap(), expected);
    }

    /// Damage after a valid header is noticed, or the content is the same.
    #[test]
    fn any_damage_is_noticed_or_makes_no_difference(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let place = place();
        place.write(&TEXTS, EDITION);
        let mut bytes = place.bytes();
        for (at, byte) in damage {
            let at = HEADER + at.index(bytes.len() - HEADER);
            bytes[at] = byte;
        }
        place.put(&bytes);
        let file = place.open().unwrap();
        let expected = expected(&TEXTS);
        for (term, expected) in &expected {
            let found = lists(&file, std::iter::once(term.as_str()));
            prop_assert!(found.is_none_or(|found| found[term] == *expected), "{}", term);
        }
    }
}
