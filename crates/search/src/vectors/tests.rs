use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::cache::EVERYWHERE_PROJECT;
use crate::file;

const TEST_EDITION: i64 = 41;
const WHOLE_SCOPE: SearchScope = SearchScope { axis: 0, kind: None, project: None };

fn write_vectors(path: &Path, vectors: &[(i64, Vector)], edition: i64) -> io::Result<()> {
    let mut draft = VectorDraft::create(path, edition)?;
    for (row, vector) in vectors {
        draft.add(
            vector,
            VectorEntry { row: *row, axis: 0, kind: 0, project: EVERYWHERE_PROJECT },
        )?;
    }
    draft.finish(77)
}

struct VectorFixture {
    _folder: TempDir,
    path: PathBuf,
}

fn vector_fixture() -> VectorFixture {
    let folder = tempfile::tempdir().unwrap();
    VectorFixture { path: folder.path().join("vectors"), _folder: folder }
}

impl VectorFixture {
    fn write(&self, vectors: &[(i64, Vector)]) {
        write_vectors(&self.path, vectors, TEST_EDITION).unwrap();
    }

    fn open(&self) -> Option<VectorFile> {
        VectorFile::open(&self.path, EMBEDDING_HASH, &[7, TEST_EDITION])
    }

    #[expect(clippy::disallowed_methods, reason = "what a crash would leave")]
    fn overwrite(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

/// Returns a pseudo-random vector, the same for the same seed.
fn pseudo_random_vector(seed: u64) -> Vector {
    let mut state = seed;
    let numbers = std::array::from_fn(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7].cast_signed()
    });
    Vector::new(numbers).unwrap()
}

fn sample_vectors(count: u32) -> Vec<(i64, Vector)> {
    (0..count).map(|n| (i64::from(n) * 3 - 7, pseudo_random_vector(n.into()))).collect()
}

#[test]
fn finds_written_vectors() {
    let place = vector_fixture();
    let all = sample_vectors(2_000);
    place.write(&all);
    let file = place.open().unwrap();
    assert_eq!((file.len(), file.high_water()), (2_000, 77));
    let query = pseudo_random_vector(5);
    let mut expected: Vec<(i64, f32)> =
        all.iter().map(|(row, vector)| (*row, query.cosine(vector))).collect();
    expected.sort_by(|(a, near), (b, far)| far.total_cmp(near).then(a.cmp(b)));
    for most in [0, 1, 10, 1_999, 2_000, 5_000, usize::MAX] {
        let found = file.scan(&query, most, WHOLE_SCOPE, |_| true).unwrap();
        assert_eq!(found, expected[..most.min(2_000)], "{most}");
    }
    assert_eq!(expected[0].0, 8);
    assert!((expected[0].1 - 1.0).abs() < 1e-6);
    let even = |row: i64| row % 2 == 0;
    expected.retain(|&(row, _)| even(row));
    assert_eq!(file.scan(&query, 50, WHOLE_SCOPE, even).unwrap(), expected[..50]);
}

#[test]
fn equal_scores_sort_by_row() {
    let place = vector_fixture();
    let rows = [9, -1, 4, 300, 2, 8, 7];
    place.write(&rows.map(|row| (row, pseudo_random_vector(1))));
    let found =
        place.open().unwrap().scan(&pseudo_random_vector(1), 3, WHOLE_SCOPE, |_| true).unwrap();
    assert_eq!(found.iter().map(|hit| hit.0).collect::<Vec<_>>(), [-1, 2, 4]);
}

/// Returns the kind of a row.
fn kind_of(row: i64) -> u8 {
    u8::from(row / 9 % 2 == 1)
}

/// Documents outside of the scope do not displace others, however near they are.
#[test]
fn scope_limits_results() {
    let place = vector_fixture();
    let mut draft = VectorDraft::create(&place.path, TEST_EDITION).unwrap();
    for row in 0_i64..900 {
        let (axis, project) = (u8::from(row % 3 == 0), row / 3 % 3);
        let kind = kind_of(row);
        // The documents in the scope are the farthest.
        let seed = if axis == 0 && project == 2 { 1_000 + row.cast_unsigned() } else { 1 };
        draft.add(&pseudo_random_vector(seed), VectorEntry { row, axis, kind, project }).unwrap();
    }
    draft.finish(900).unwrap();
    let file = place.open().unwrap();
    for (scope, count) in [
        (WHOLE_SCOPE, 600),
        (SearchScope { project: Some(2), ..WHOLE_SCOPE }, 400),
        (SearchScope { project: Some(9), ..WHOLE_SCOPE }, 200),
        (SearchScope { axis: 1, project: Some(2), ..WHOLE_SCOPE }, 200),
        (SearchScope { kind: Some(1), ..WHOLE_SCOPE }, 300),
        (SearchScope { axis: 2, ..WHOLE_SCOPE }, 0),
    ] {
        let found = file.scan(&pseudo_random_vector(1), 1_000, scope, |_| true).unwrap();
        assert_eq!(found.len(), count, "{scope:?}");
        let is_in = |row: i64| {
            u8::from(row % 3 == 0) == scope.axis && scope.includes(row / 3 % 3, kind_of(row))
        };
        assert!(found.iter().all(|(row, _)| is_in(*row)), "{scope:?}");
    }
    let only = |row: i64| row / 3 % 3 == 2;
    let found = file
        .scan(&pseudo_random_vector(1), 20, SearchScope { project: Some(2), ..WHOLE_SCOPE }, only)
        .unwrap();
    assert_eq!(found.len(), 20);
}

#[test]
fn empty_file_is_valid() {
    let place = vector_fixture();
    place.write(&[]);
    let file = place.open().unwrap();
    assert!(file.is_empty());
    assert_eq!(file.scan(&pseudo_random_vector(1), 10, WHOLE_SCOPE, |_| true), Some(vec![]));
}

#[test]
fn file_is_private_without_leftovers() {
    let place = vector_fixture();
    fs::File::create(file::with_suffix(&place.path, ".new")).unwrap();
    place.write(&sample_vectors(3));
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.path.parent().unwrap()).unwrap().count(), 1);
}

/// A reader that has the file open keeps the old content.
#[test]
fn open_reader_keeps_old_file() {
    let place = vector_fixture();
    place.write(&sample_vectors(100));
    let old = place.open().unwrap();
    place.write(&sample_vectors(3));
    assert_eq!(
        old.scan(&pseudo_random_vector(1), 1_000, WHOLE_SCOPE, |_| true).unwrap().len(),
        100
    );
    assert_eq!(place.open().unwrap().len(), 3);
}

#[test]
fn failed_write_keeps_old_file() {
    let place = vector_fixture();
    place.write(&sample_vectors(5));
    let failing = file::with_suffix(&place.path, ".new");
    fs::create_dir(&failing).unwrap();
    assert!(write_vectors(&place.path, &sample_vectors(1), TEST_EDITION).is_err());
    assert_eq!(place.open().unwrap().len(), 5);
}

#[test]
fn rejects_other_files() {
    let place = vector_fixture();
    assert!(place.open().is_none());
    fs::create_dir(&place.path).unwrap();
    assert!(place.open().is_none());
    fs::remove_dir(&place.path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&place.path).status().unwrap();
    assert!(made.success());
    assert!(place.open().is_none());
    fs::remove_file(&place.path).unwrap();
    place.overwrite(b"");
    assert!(place.open().is_none());
    place.write(&sample_vectors(3));
    assert!(VectorFile::open(&place.path, EMBEDDING_HASH ^ 1, &[TEST_EDITION]).is_none());
    assert!(VectorFile::open(&place.path, EMBEDDING_HASH, &[TEST_EDITION - 1]).is_none());
    assert!(VectorFile::open(&place.path, EMBEDDING_HASH, &[]).is_none());
}

#[test]
fn rejects_damaged_header_or_length() {
    let place = vector_fixture();
    place.write(&sample_vectors(4));
    let whole = place.bytes();
    assert_eq!(whole.len(), HEADER_BYTES + 4 * RECORD_BYTES);
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
    place.overwrite(&[&whole[..], &[0]].concat());
    assert!(place.open().is_none());
}

/// After a power cut, a file with the right length can have sectors that are empty or belong to an older file.
#[test]
fn detects_lost_sectors() {
    const SECTOR_BYTES: usize = 512;
    let place = vector_fixture();
    write_vectors(&place.path, &sample_vectors(40), TEST_EDITION - 1).unwrap();
    let older = place.bytes();
    place.write(&sample_vectors(40));
    let whole = place.bytes();
    for start in (0..whole.len()).step_by(SECTOR_BYTES) {
        let range = start..whole.len().min(start + SECTOR_BYTES);
        for lost in [&[0; SECTOR_BYTES][..range.len()], &older[range.clone()]] {
            let mut bytes = whole.clone();
            bytes[range.clone()].copy_from_slice(lost);
            place.overwrite(&bytes);
            let found = place
                .open()
                .and_then(|file| file.scan(&pseudo_random_vector(1), 10, WHOLE_SCOPE, |_| true));
            assert!(found.is_none(), "{start}");
        }
    }
}

proptest! {
    #[test]
    fn opens_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let place = vector_fixture();
        place.overwrite(&bytes);
        prop_assert!(place.open().is_none());
    }

    /// Random bytes after a valid header.
    #[test]
    fn scans_any_records(
        (count, damage) in (0_u64..6, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)),
    ) {
        let place = vector_fixture();
        place.write(&sample_vectors(u32::try_from(count).unwrap()));
        let whole = place.bytes();
        let mut bytes = whole.clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes[..HEADER_BYTES].copy_from_slice(&whole[..HEADER_BYTES]);
        place.overwrite(&bytes);
        if let Some(found) = place.open().and_then(|file| file.scan(&pseudo_random_vector(1), 10, WHOLE_SCOPE, |_| true)) {
            prop_assert!(found.iter().all(|(_, score)| score.is_finite()));
        }
    }
}
