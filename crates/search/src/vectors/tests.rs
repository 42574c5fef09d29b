use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::cache::EVERYWHERE;
use crate::file;

const EDITION: i64 = 41;
const ALL: Scope = Scope { axis: 0, kind: None, project: None };

fn write(path: &Path, vectors: &[(i64, Vector)], edition: i64) -> io::Result<()> {
    let mut draft = VectorDraft::begin(path, edition)?;
    for (row, vector) in vectors {
        draft.put(vector, Entry { row: *row, axis: 0, kind: 0, project: EVERYWHERE })?;
    }
    draft.finish(77)
}

struct Place {
    _folder: TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    Place { path: folder.path().join("vectors"), _folder: folder }
}

impl Place {
    fn write(&self, vectors: &[(i64, Vector)]) {
        write(&self.path, vectors, EDITION).unwrap();
    }

    fn open(&self) -> Option<VectorFile> {
        VectorFile::open(&self.path, HASH, &[7, EDITION])
    }

    #[expect(clippy::disallowed_methods, reason = "what a crash would leave")]
    fn put(&self, bytes: &[u8]) {
        fs::write(&self.path, bytes).unwrap();
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).unwrap()
    }
}

/// Returns a pseudo-random vector, the same for the same seed.
fn vector(seed: u64) -> Vector {
    let mut state = seed;
    let numbers = std::array::from_fn(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_le_bytes()[7].cast_signed()
    });
    Vector::new(numbers).unwrap()
}

fn some(count: u32) -> Vec<(i64, Vector)> {
    (0..count).map(|n| (i64::from(n) * 3 - 7, vector(n.into()))).collect()
}

#[test]
fn what_is_written_is_found() {
    let place = place();
    let all = some(2_000);
    place.write(&all);
    let file = place.open().unwrap();
    assert_eq!((file.len(), file.high_water()), (2_000, 77));
    let query = vector(5);
    let mut expected: Vec<(i64, f32)> =
        all.iter().map(|(row, vector)| (*row, query.cosine(vector))).collect();
    expected.sort_by(|(a, near), (b, far)| far.total_cmp(near).then(a.cmp(b)));
    for most in [0, 1, 10, 1_999, 2_000, 5_000, usize::MAX] {
        let found = file.scan(&query, most, ALL, |_| true).unwrap();
        assert_eq!(found, expected[..most.min(2_000)], "{most}");
    }
    assert_eq!(expected[0].0, 8);
    assert!((expected[0].1 - 1.0).abs() < 1e-6);
    let even = |row: i64| row % 2 == 0;
    expected.retain(|&(row, _)| even(row));
    assert_eq!(file.scan(&query, 50, ALL, even).unwrap(), expected[..50]);
}

#[test]
fn equal_ones_come_in_the_order_of_their_rows() {
    let place = place();
    let rows = [9, -1, 4, 300, 2, 8, 7];
    place.write(&rows.map(|row| (row, vector(1))));
    let found = place.open().unwrap().scan(&vector(1), 3, ALL, |_| true).unwrap();
    assert_eq!(found.iter().map(|hit| hit.0).collect::<Vec<_>>(), [-1, 2, 4]);
}

/// Returns the kind of a row.
fn kind_of(row: i64) -> u8 {
    u8::from(row / 9 % 2 == 1)
}

/// Documents outside of the scope do not displace others, however near they are.
#[test]
fn only_what_is_in_the_scope_is_found() {
    let place = place();
    let mut draft = VectorDraft::begin(&place.path, EDITION).unwrap();
    for row in 0_i64..900 {
        let (axis, project) = (u8::from(row % 3 == 0), row / 3 % 3);
        let kind = kind_of(row);
        // The documents in the scope are the farthest.
        let seed = if axis == 0 && project == 2 { 1_000 + row.cast_unsigned() } else { 1 };
        draft.put(&vector(seed), Entry { row, axis, kind, project }).unwrap();
    }
    draft.finish(900).unwrap();
    let file = place.open().unwrap();
    for (scope, count) in [
        (ALL, 600),
        (Scope { project: Some(2), ..ALL }, 400),
        (Scope { project: Some(9), ..ALL }, 200),
        (Scope { axis: 1, project: Some(2), ..ALL }, 200),
        (Scope { kind: Some(1), ..ALL }, 300),
        (Scope { axis: 2, ..ALL }, 0),
    ] {
        let found = file.scan(&vector(1), 1_000, scope, |_| true).unwrap();
        assert_eq!(found.len(), count, "{scope:?}");
        let is_in =
            |row: i64| u8::from(row % 3 == 0) == scope.axis && scope.has(row / 3 % 3, kind_of(row));
        assert!(found.iter().all(|(row, _)| is_in(*row)), "{scope:?}");
    }
    let only = |row: i64| row / 3 % 3 == 2;
    let found = file.scan(&vector(1), 20, Scope { project: Some(2), ..ALL }, only).unwrap();
    assert_eq!(found.len(), 20);
}

#[test]
fn an_empty_file_of_vectors_is_one() {
    let place = place();
    place.write(&[]);
    let file = place.open().unwrap();
    assert!(file.is_empty());
    assert_eq!(file.scan(&vector(1), 10, ALL, |_| true), Some(vec![]));
}

#[test]
fn it_is_for_its_owner_alone_and_leaves_nothing_beside() {
    let place = place();
    fs::File::create(file::with_end(&place.path, ".new")).unwrap();
    place.write(&some(3));
    assert_eq!(fs::metadata(&place.path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(place.path.parent().unwrap()).unwrap().count(), 1);
}

/// A reader that has the file open keeps the old content.
#[test]
fn it_is_replaced_and_never_changed() {
    let place = place();
    place.write(&some(100));
    let old = place.open().unwrap();
    place.write(&some(3));
    assert_eq!(old.scan(&vector(1), 1_000, ALL, |_| true).unwrap().len(), 100);
    assert_eq!(place.open().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_written_leaves_the_old_one() {
    let place = place();
    place.write(&some(5));
    let failing = file::with_end(&place.path, ".new");
    fs::create_dir(&failing).unwrap();
    assert!(write(&place.path, &some(1), EDITION).is_err());
    assert_eq!(place.open().unwrap().len(), 5);
}

#[test]
fn what_is_no_such_file_is_not_there() {
    let place = place();
    assert!(place.open().is_none());
    fs::create_dir(&place.path).unwrap();
    assert!(place.open().is_none());
    fs::remove_dir(&place.path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&place.path).status().unwrap();
    assert!(made.success());
    assert!(place.open().is_none());
    fs::remove_file(&place.path).unwrap();
    place.put(b"");
    assert!(place.open().is_none());
    place.write(&some(3));
    assert!(VectorFile::open(&place.path, HASH ^ 1, &[EDITION]).is_none());
    assert!(VectorFile::open(&place.path, HASH, &[EDITION - 1]).is_none());
    assert!(VectorFile::open(&place.path, HASH, &[]).is_none());
}

#[test]
fn every_byte_of_the_header_counts_and_so_does_the_length() {
    let place = place();
    place.write(&some(4));
    let whole = place.bytes();
    assert_eq!(whole.len(), HEADER + 4 * RECORD);
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
    place.put(&[&whole[..], &[0]].concat());
    assert!(place.open().is_none());
}

/// After a power cut, a file with the right length can have sectors that are empty or belong to an older file.
#[test]
fn a_lost_sector_is_noticed_wherever_it_is() {
    const SECTOR: usize = 512;
    let place = place();
    write(&place.path, &some(40), EDITION - 1).unwrap();
    let older = place.bytes();
    place.write(&some(40));
    let whole = place.bytes();
    for start in (0..whole.len()).step_by(SECTOR) {
        let range = start..whole.len().min(start + SECTOR);
        for lost in [&[0; SECTOR][..range.len()], &older[range.clone()]] {
            let mut bytes = whole.clone();
            bytes[range.clone()].copy_from_slice(lost);
            place.put(&bytes);
            let found = place.open().and_then(|file| file.scan(&vector(1), 10, ALL, |_| true));
            assert!(found.is_none(), "{start}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_not(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let place = place();
        place.put(&bytes);
        prop_assert!(place.open().is_none());
    }

    /// Random bytes after a valid header.
    #[test]
    fn any_records_are_read_or_not(
        (count, damage) in (0_u64..6, prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20)),
    ) {
        let place = place();
        place.write(&some(u32::try_from(count).unwrap()));
        let whole = place.bytes();
        let mut bytes = whole.clone();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes[..HEADER].copy_from_slice(&whole[..HEADER]);
        place.put(&bytes);
        if let Some(found) = place.open().and_then(|file| file.scan(&vector(1), 10, ALL, |_| true)) {
            prop_assert!(found.iter().all(|(_, score)| score.is_finite()));
        }
    }
}
