//! Recovers databases with flipped bits, and checks that no wrong rows appear.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::types::Value as Cell;
use rutter_testkit::dice::SeededRandom;
use serde_json::Value;

use super::pages::PAGE_BYTES;
use super::*;
use crate::store::doctor::{check_store, repair_store};
use crate::store::exchange::ExportRecord;
use crate::store::{ImportFile, WhoseRows};

/// A row of each kind, as an export.
const ROWS_JSONL: &str = include_str!("../../../fixtures/salvage/every-table.jsonl");
/// Distance between the number of a row and that of its copy.
const COPY_STEP: i64 = 1_000;

fn now() -> Time {
    Time::from_millis(1_763_200_000_000)
}

/// Creates a database with `copies` copies of the rows of every table. References of a copy lead to copies.
fn build_database(folder: &Path, copies: i64) -> Vec<u8> {
    let mut store = Store::open(folder, now()).unwrap();
    let file = ImportFile::read(ROWS_JSONL.as_bytes(), |_| {}).unwrap();
    store.import(&file, "rows.jsonl", WhoseRows::Foreign, now()).unwrap();
    store.import(&file, "rows.jsonl", WhoseRows::Own, now()).unwrap();
    let path = store.files.database();
    store
        .write(|transaction| {
            for table in SALVAGED_TABLES {
                copy_rows(transaction, table, copies);
            }
            Ok(())
        })
        .unwrap();
    drop(store);
    fs::read(path).unwrap()
}

fn copy_rows(connection: &Connection, table: &str, copies: i64) {
    let list = |ask: &str| -> Vec<String> {
        let mut ask = connection.prepare(ask).unwrap();
        ask.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let names = list("SELECT name FROM pragma_table_info(?1)");
    let references = list("SELECT \"from\" FROM pragma_foreign_key_list(?1)");
    let mut rows = connection.prepare(&format!("SELECT * FROM {table}")).unwrap();
    let rows: Vec<Vec<Cell>> = rows
        .query_map([], |row| (0..names.len()).map(|at| row.get(at)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert!(!rows.is_empty(), "{table}");
    let marks = vec!["?"; names.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {table} VALUES ({marks})")).unwrap();
    for copy in 1..=copies {
        for row in &rows {
            let values = names.iter().zip(row).map(|(name, value)| match (name.as_str(), value) {
                ("uid", _) => Cell::Blob(copy_uid(table, row, copy)),
                ("row", _) if table == "origin" => Cell::Blob(copy_uid(table, row, copy)),
                ("key" | "client", Cell::Text(text)) => Cell::Text(format!("{text}-{copy}")),
                (name, Cell::Integer(number))
                    if name == "id" || references.iter().any(|of| of == name) =>
                {
                    Cell::Integer(number + COPY_STEP * copy)
                }
                (
                    "text" | "name" | "error" | "goal" | "command" | "hypothesis",
                    Cell::Text(text),
                ) => Cell::Text(format!("{text}, number {copy}")),
                (_, value) => value.clone(),
            });
            insert.execute(params_from_iter(values)).unwrap();
        }
    }
}

/// Returns a version 7 id that differs for each copy of each row.
fn copy_uid(table: &str, row: &[Cell], copy: i64) -> Vec<u8> {
    let Cell::Integer(number) = row[0] else { panic!("{table} has no row ids") };
    let table = SALVAGED_TABLES.iter().position(|of| *of == table).unwrap();
    let time = &now().millis().to_be_bytes()[2..];
    let rest = (number + COPY_STEP * copy).to_be_bytes();
    [time, &[0x70, u8::try_from(table).unwrap(), 0x80, 0], &rest[2..]].concat()
}

type RowsById = BTreeMap<(String, String), Value>;

/// Returns the rows of a store by kind and id, without the fields that a row loses when another one is lost.
fn rows_by_id(records: &[ExportRecord]) -> RowsById {
    let mut rows = RowsById::new();
    for record in records {
        let Value::Object(record) = serde_json::to_value(record).unwrap() else { panic!() };
        let (kind, mut fields) = record.into_iter().next().unwrap();
        let Some(id) = fields.get("id").and_then(Value::as_str).map(str::to_owned) else {
            continue;
        };
        for lost in ["project", "session", "aliases", "merged", "notes", "revisions", "outcome"] {
            fields.as_object_mut().unwrap().remove(lost);
        }
        rows.insert((kind, id), fields);
    }
    rows
}

/// Reads a database like a repair does, up to the import.
fn salvage_bytes(bytes: &[u8]) -> (SalvageReport, RowsById) {
    let folder = tempfile::tempdir().unwrap();
    let files = DataDir::new(folder.path());
    let damaged = folder.path().join("damaged");
    fs::File::create(&damaged)
        .and_then(|mut file| std::io::Write::write_all(&mut file, bytes))
        .unwrap();
    let workshop = SalvageFolder::create(&files, now()).unwrap();
    let (salvaged, fresh) =
        workshop.read_damaged(&damaged, &files.lock_for_changes().unwrap(), now()).unwrap();
    let mut records = Vec::new();
    Store::open(&fresh, now()).unwrap().export_readable(&mut records).unwrap();
    (salvaged, rows_by_id(&records))
}

/// The part of a database in which bits are flipped.
#[derive(Debug, Clone, Copy)]
enum FlipTarget {
    Anywhere,
    /// The first bytes of pages: their kind, and the number and places of their cells.
    Heads,
    /// The first page.
    Schema,
    /// Pages that lead to others.
    Branches,
}

fn flip_bits(
    bytes: &mut [u8],
    target: FlipTarget,
    flips: usize,
    dice: &mut SeededRandom,
) -> BTreeSet<usize> {
    let pages = bytes.len() / PAGE_BYTES;
    let branches: Vec<usize> = (1..pages).filter(|page| bytes[page * PAGE_BYTES] == 5).collect();
    assert!(branches.len() >= 10, "{branches:?}");
    let mut hit = BTreeSet::new();
    for _ in 0..flips {
        let (page, within) = match target {
            FlipTarget::Anywhere => (dice.below(pages), PAGE_BYTES),
            FlipTarget::Heads => (1 + dice.below(pages - 1), 24),
            FlipTarget::Schema => (0, PAGE_BYTES),
            FlipTarget::Branches => (*dice.pick(&branches), 64),
        };
        bytes[page * PAGE_BYTES + dice.below(within)] ^= 1 << dice.below(8);
        hit.insert(page);
    }
    hit
}

#[test]
fn flipped_bits_cost_only_their_pages() {
    let folder = tempfile::tempdir().unwrap();
    let original = build_database(&folder.path().join("memory"), 150);
    let (salvaged, whole) = salvage_bytes(&original);
    assert_eq!((salvaged.refused, salvaged.unreadable_pages), (0, 0), "{salvaged:?}");
    assert!(salvaged.tables.iter().all(|table| table.read > 150), "{salvaged:?}");
    for variant in 0..64 {
        let mut dice = SeededRandom::new(variant as u64);
        let targets =
            [FlipTarget::Anywhere, FlipTarget::Heads, FlipTarget::Schema, FlipTarget::Branches];
        let (target, flips) = (targets[variant % 4], [1, 3, 12][variant / 4 % 3]);
        let mut bytes = original.clone();
        let hit = flip_bits(&mut bytes, target, flips, &mut dice);
        let (found, rows) = salvage_bytes(&bytes);
        let case =
            format!("variant {variant}, {flips} flips in {target:?}, pages {hit:?}: {found:?}");
        for (table, before) in found.tables.iter().zip(&salvaged.tables) {
            // The smallest row has 40 bytes.
            let most = before.read.min(100 * hit.len());
            assert!(table.read + most >= before.read, "{case}");
            assert!(table.read > 0, "{case}");
        }
        if matches!(target, FlipTarget::Schema | FlipTarget::Branches) {
            assert_eq!(found.read, salvaged.read, "{case}");
        }
        // No row is invented, and none differs except in the flipped bits.
        let is_stand_in = |fields: &Value| fields.to_string().contains("salvaged");
        let strange = rows.iter().filter(|(key, fields)| {
            whole.get(*key).is_none_or(|before| before != *fields) && !is_stand_in(fields)
        });
        let strange: Vec<_> = strange.collect();
        assert!(strange.len() <= flips, "{strange:?}: {case}");
    }
}

#[test]
fn broken_branches_cost_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let memory = folder.path().join("memory");
    let mut bytes = build_database(&memory, 40);
    let mut records = Vec::new();
    Store::open(&memory, now()).unwrap().export_readable(&mut records).unwrap();
    // The schema, and every page that leads to others.
    for page in bytes.as_chunks_mut::<PAGE_BYTES>().0 {
        if page.starts_with(b"SQLite") || matches!(page[0], 2 | 5) {
            page.fill(0xa5);
        }
    }
    let database = DataDir::new(&memory).database();
    fs::File::create(&database)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .unwrap();
    let repaired = repair_store(&memory, now()).unwrap();
    let (_, salvaged) = &repaired.salvaged[0];
    assert!(salvaged.unreadable_pages > 5 && salvaged.refused == 0, "{salvaged:?}");
    assert_eq!(check_store(&memory).unwrap().findings, []);
    let mut after = Vec::new();
    Store::open(&memory, now()).unwrap().export_readable(&mut after).unwrap();
    assert_eq!(rows_by_id(&after), rows_by_id(&records), "{salvaged:?}");
}
