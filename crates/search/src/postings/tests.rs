use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const TEST_EDITION: i64 = 5;

struct PostingFixture {
    _folder: TempDir,
    path: PathBuf,
}

fn posting_fixture() -> PostingFixture {
    let folder = tempfile::tempdir().unwrap();
    PostingFixture { path: folder.path().join("terms"), _folder: folder }
}

impl PostingFixture {
    fn write(&self, texts: &[&str], edition: i64) {
        let mut draft = PostingDraft::create(&self.path, edition).unwrap();
        for (row, text) in (0..).zip(texts) {
            let length = u32::try_from(text.split(' ').count()).unwrap();
            let document =
                IndexedDocument { row: row * 2 + 1, project: row % 3, kind: kind_of(row), length };
            draft.add_document(document, "~t:", text.split(' ')).unwrap();
        }
        draft.finish(99).unwrap();
    }

    fn open(&self) -> Option<PostingFile> {
        PostingFile::open(&self.path, &[TEST_EDITION])
    }

    #[expect(clippy::disallowed_methods, reason = "what a crash would leave")]
    fn overwrite(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

/// Returns every list of a file by its term, or None if a part of the file is damaged.
fn read_lists<'t>(
    file: &PostingFile,
    terms: impl Iterator<Item = &'t str>,
) -> Option<BTreeMap<String, Vec<(IndexedDocument, u16)>>> {
    let mut found = BTreeMap::new();
    for term in terms {
        let list = file.find_list(&format!("~t:{term}"))?;
        let places = file.read_list(&list)?;
        let documents: Option<Vec<_>> =
            places.map(|(place, times)| Some((file.document(place)?, times))).collect();
        found.insert(term.to_owned(), documents?);
    }
    Some(found)
}

/// Computes the same lists without a file.
fn expected_lists(texts: &[&str]) -> BTreeMap<String, Vec<(IndexedDocument, u16)>> {
    let mut found: BTreeMap<String, Vec<(IndexedDocument, u16)>> = BTreeMap::new();
    for (row, text) in (0..).zip(texts) {
        let terms: Vec<&str> = text.split(' ').collect();
        let length = u32::try_from(terms.len()).unwrap();
        let document =
            IndexedDocument { row: row * 2 + 1, project: row % 3, kind: kind_of(row), length };
        for term in terms.iter().collect::<BTreeSet<_>>() {
            let times = terms.iter().filter(|other| *other == term).count();
            let list = found.entry((*term).to_owned()).or_default();
            list.push((document, u16::try_from(times).unwrap()));
        }
    }
    found
}

const SAMPLE_TEXTS: [&str; 4] =
    ["red green red", "blue", "green green green blue red", "naïve 日本"];

/// Returns the kind of a row.
fn kind_of(row: i64) -> u8 {
    u8::try_from(row % 5).unwrap()
}

#[test]
fn finds_written_terms() {
    let place = posting_fixture();
    place.write(&SAMPLE_TEXTS, TEST_EDITION);
    let file = place.open().unwrap();
    assert_eq!((file.documents(), file.high_water()), (4, 99));
    assert!(file.is_whole());
    let expected = expected_lists(&SAMPLE_TEXTS);
    assert_eq!(read_lists(&file, expected.keys().map(String::as_str)).unwrap(), expected);
    assert!(file.find_list("~t:violet").unwrap().is_empty());
    // The term without the prefix belongs to another axis.
    assert!(file.find_list("red").unwrap().is_empty());
    assert_eq!(
        [0, 1, 3, 7, 9].map(|row| file.place_of_row(row).unwrap()),
        [None, Some(0), Some(1), Some(3), None]
    );
    let green = file.find_list("~t:green").unwrap();
    assert_eq!(file.count_places(&green, &[0, 1, 3]), Some(1));
    assert_eq!(file.count_places(&green, &[]), Some(0));
}

#[test]
fn rejects_other_files() {
    let place = posting_fixture();
    assert!(place.open().is_none());
    place.write(&[], TEST_EDITION);
    let file = place.open().unwrap();
    assert!(
        file.is_whole() && file.documents() == 0 && file.find_list("~t:red").unwrap().is_empty()
    );
    place.write(&SAMPLE_TEXTS, TEST_EDITION + 1);
    assert!(place.open().is_none());
    place.write(&SAMPLE_TEXTS, TEST_EDITION);
    let whole = place.bytes();
    for at in 0..HEADER_BYTES {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        place.overwrite(&bytes);
        assert!(place.open().is_none(), "{at}");
    }
    for length in 0..whole.len() {
        place.overwrite(&whole[..length]);
        assert!(place.open().is_none(), "{length}");
    }
}

/// After a power cut, a file with the right length can have sectors that are empty or belong to an older file.
#[test]
fn detects_lost_sectors() {
    const SECTOR_BYTES: usize = 512;
    let place = posting_fixture();
    let texts: Vec<String> =
        (0..60).map(|n| format!("w{} w{} w{} common", n % 7, n, n * n % 31)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    place.write(&texts, TEST_EDITION - 1);
    let older = place.bytes();
    place.write(&texts, TEST_EDITION);
    let whole = place.bytes();
    let expected = expected_lists(&texts);
    for start in (0..whole.len()).step_by(SECTOR_BYTES) {
        let range = start..whole.len().min(start + SECTOR_BYTES);
        for lost in [&[0; SECTOR_BYTES][..range.len()], &older[range.clone()]] {
            let mut bytes = whole.clone();
            bytes[range.clone()].copy_from_slice(lost);
            // Both files have the same places and counts, so an unchanged sector is not lost.
            if bytes == whole {
                continue;
            }
            place.overwrite(&bytes);
            let Some(file) = place.open() else { continue };
            assert!(!file.is_whole(), "{start}");
            for (term, expected) in &expected {
                let found = read_lists(&file, std::iter::once(term.as_str()));
                assert!(found.is_none_or(|found| found[term] == *expected), "{start}: {term}");
            }
        }
    }
}

proptest! {
    #[test]
    fn finds_any_texts(texts in prop::collection::vec("[a-d]{1,2}( [a-d]{1,2}){0,9}", 0..30)) {
        let place = posting_fixture();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        place.write(&texts, TEST_EDITION);
        let file = place.open().unwrap();
        let expected = expected_lists(&texts);
        prop_assert_eq!(read_lists(&file, expected.keys().map(String::as_str)).unwrap(), expected);
    }

    /// Damage after a valid header is noticed, or the content is the same.
    #[test]
    fn detects_any_damage(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let place = posting_fixture();
        place.write(&SAMPLE_TEXTS, TEST_EDITION);
        let mut bytes = place.bytes();
        for (at, byte) in damage {
            let at = HEADER_BYTES + at.index(bytes.len() - HEADER_BYTES);
            bytes[at] = byte;
        }
        place.overwrite(&bytes);
        let file = place.open().unwrap();
        let expected = expected_lists(&SAMPLE_TEXTS);
        for (term, expected) in &expected {
            let found = read_lists(&file, std::iter::once(term.as_str()));
            prop_assert!(found.is_none_or(|found| found[term] == *expected), "{}", term);
        }
    }
}
