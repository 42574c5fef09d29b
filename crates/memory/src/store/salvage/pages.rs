//! Finds rows in the pages of a damaged database, without the trees that lead to them.
//!
//! Every leaf page of a table is read by itself. The types of its rows' columns identify the table, because no two
//! tables have columns of the same types in the same order. So a broken schema, root or branch costs no row; a broken
//! leaf costs its own rows.

use std::collections::HashMap;

use rusqlite::Connection;
use rusqlite::types::Value;

use super::record::{parse_record, read_sqlite_varint};
use crate::store::StoreResult;

/// Size of a page in every Rutter database.
pub(super) const PAGE_BYTES: usize = 4096;
/// Maximum length of a record that is stored in one page, and the minimum part of a longer record in its first page.
const MAX_LOCAL_BYTES: usize = PAGE_BYTES - 35;
const MIN_LOCAL_BYTES: usize = (PAGE_BYTES - 12) * 32 / 255 - 23;
/// Bytes of a longer record in each overflow page.
const OVERFLOW_BYTES: usize = PAGE_BYTES - 4;

const INDEX_BRANCH: u8 = 2;
const INDEX_LEAF: u8 = 10;
const TABLE_BRANCH: u8 = 5;
const TABLE_LEAF: u8 = 13;

/// The columns of a table, as far as they are visible in its rows.
pub(super) struct TableShape {
    pub(super) table: String,
    /// True if its rows are recovered; other tables are rebuilt.
    is_wanted: bool,
    columns: Vec<TableColumn>,
}

struct TableColumn {
    name: String,
    kind: ColumnKind,
    is_nullable: bool,
    /// True if a row may end before this column, because the column was added later.
    is_optional: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    RowId,
    Integer,
    Real,
    Text,
    /// The unique id of a row, 16 bytes.
    Uid,
    Blob,
    Any,
}

impl TableShape {
    /// Reads the columns of every table with row ids from a schema.
    pub(super) fn read_all(schema: &Connection, wanted: &[&str]) -> StoreResult<Vec<Self>> {
        let mut tables = schema.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%WITHOUT ROWID%'
             UNION ALL SELECT 'sqlite_schema'",
        )?;
        let tables: Vec<String> =
            tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        tables
            .into_iter()
            .map(|table| Self::read(schema, wanted.contains(&table.as_str()), table))
            .collect()
    }

    fn read(schema: &Connection, is_wanted: bool, table: String) -> StoreResult<Self> {
        let mut columns = schema.prepare(
            "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk FROM pragma_table_info(?1)",
        )?;
        let columns = columns.query_map([&table], |row| {
            let (name, kind): (String, String) = (row.get(0)?, row.get(1)?);
            let (is_required, has_default): (bool, bool) = (row.get(2)?, row.get(3)?);
            let is_key: bool = row.get(4)?;
            Ok(TableColumn {
                kind: match kind.as_str() {
                    "INTEGER" if is_key => ColumnKind::RowId,
                    "INTEGER" | "INT" => ColumnKind::Integer,
                    "REAL" => ColumnKind::Real,
                    "BLOB" if name == "uid" => ColumnKind::Uid,
                    "BLOB" => ColumnKind::Blob,
                    "TEXT" => ColumnKind::Text,
                    _ => ColumnKind::Any,
                },
                name,
                is_nullable: !is_required,
                is_optional: !is_required || has_default,
            })
        })?;
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, is_wanted, table })
    }

    /// Returns true if a row can belong to this table.
    fn fits(&self, values: &[Value]) -> bool {
        values.len() <= self.columns.len()
            && self.columns[values.len()..].iter().all(|column| column.is_optional)
            && self.columns.iter().zip(values).all(|(column, value)| column.fits(value))
    }

    /// Returns the names of the first `count` columns.
    pub(super) fn names(&self, count: usize) -> Vec<&str> {
        self.columns.iter().take(count).map(|column| column.name.as_str()).collect()
    }

    /// Returns the values of a row, with the row id in its column.
    pub(super) fn values_with_row_id(&self, row: PageRow) -> Vec<Value> {
        let mut values = row.values;
        for (column, value) in self.columns.iter().zip(&mut values) {
            if column.kind == ColumnKind::RowId {
                *value = Value::Integer(row.id);
            }
        }
        values
    }
}

impl TableColumn {
    fn fits(&self, value: &Value) -> bool {
        match (self.kind, value) {
            // The row id is stored outside of the record.
            (ColumnKind::RowId, value) => *value == Value::Null,
            (kind, Value::Null) => self.is_nullable || kind == ColumnKind::Any,
            // A number without a fraction is stored as an integer.
            (ColumnKind::Any, _)
            | (ColumnKind::Integer | ColumnKind::Real, Value::Integer(_))
            | (ColumnKind::Real, Value::Real(_))
            | (ColumnKind::Text, Value::Text(_))
            | (ColumnKind::Blob, Value::Blob(_)) => true,
            (ColumnKind::Uid, Value::Blob(uid)) => uid.len() == 16,
            _ => false,
        }
    }
}

/// A row in a page.
pub(super) struct PageRow {
    id: i64,
    values: Vec<Value>,
    /// Overflow pages of the row.
    overflow: Vec<usize>,
}

/// The rows of a table that were found.
pub(super) struct FoundTable {
    pub(super) shape: TableShape,
    pub(super) rows: Vec<PageRow>,
    /// Rows of its pages that could not be read.
    pub(super) unreadable: usize,
}

/// The result of scanning a database file.
pub(super) struct PageScan {
    /// By table.
    pub(super) tables: Vec<FoundTable>,
    /// Pages of an unknown kind, or leaves without a readable row.
    pub(super) unreadable_pages: usize,
}

/// Reads every page of a database.
pub(super) fn scan_pages(image: &[u8], shapes: Vec<TableShape>) -> PageScan {
    let tables = shapes.into_iter();
    let tables = tables.map(|shape| FoundTable { shape, rows: Vec::new(), unreadable: 0 });
    let mut scan = PageScan { tables: tables.collect(), unreadable_pages: 0 };
    // The first page contains the schema.
    for number in 2..=image.len() / PAGE_BYTES {
        let page = page_bytes(image, number);
        match page[0] {
            // An index, a free page, or an overflow page.
            INDEX_LEAF | INDEX_BRANCH | 0 => {}
            // The byte with the kind of a leaf may itself be damaged.
            kind => {
                let is_read = scan.read_leaf(image, page);
                let is_empty = kind == TABLE_LEAF && page[3..5] == [0, 0];
                if !is_read && !is_empty && kind != TABLE_BRANCH {
                    scan.unreadable_pages += 1;
                }
            }
        }
    }
    scan.drop_shared_pages();
    scan
}

fn page_bytes(image: &[u8], number: usize) -> &[u8] {
    &image[(number - 1) * PAGE_BYTES..number * PAGE_BYTES]
}

impl PageScan {
    /// Reads a leaf page of a table. Returns false if no row of a known table is in it.
    fn read_leaf(&mut self, image: &[u8], page: &[u8]) -> bool {
        let count = usize::from(u16::from_be_bytes([page[3], page[4]]));
        let pointers = page[8..].as_chunks::<2>().0.iter().take(count);
        let cells: Vec<Option<PageRow>> = pointers
            .map(|pointer| read_cell(image, page, usize::from(u16::from_be_bytes(*pointer))))
            .collect();
        // Rows of an older version are shorter, and may fit more than one table.
        let score = |shape: &TableShape| {
            let fitting = cells.iter().flatten().filter(|row| shape.fits(&row.values));
            fitting.fold((0, 0), |(fit, whole), row| {
                (fit + 1, whole + usize::from(row.values.len() == shape.columns.len()))
            })
        };
        let scores: Vec<_> = self.tables.iter().map(|found| score(&found.shape)).collect();
        let best = scores.iter().copied().max().unwrap_or_default();
        let likely = (0..scores.len()).filter(|at| best.0 > 0 && scores[*at] == best);
        let likely: Vec<usize> = likely.collect();
        if likely.iter().all(|at| !self.tables[*at].shape.is_wanted) {
            return !likely.is_empty();
        }
        let [at] = likely[..] else { return false };
        let best = &mut self.tables[at];
        let mut rows = cells
            .into_iter()
            .map(|row| row.filter(|row| best.shape.fits(&row.values)))
            .collect::<Vec<_>>();
        check_order(&mut rows);
        best.unreadable += rows.iter().filter(|row| row.is_none()).count();
        best.rows.extend(rows.into_iter().flatten());
        true
    }

    /// Removes rows that share an overflow page: damage led at least one of them there.
    fn drop_shared_pages(&mut self) {
        let mut claims: HashMap<usize, usize> = HashMap::new();
        let rows = self.tables.iter().flat_map(|found| &found.rows);
        for page in rows.flat_map(|row| &row.overflow) {
            *claims.entry(*page).or_default() += 1;
        }
        for found in &mut self.tables {
            let before = found.rows.len();
            found.rows.retain(|row| row.overflow.iter().all(|page| claims[page] == 1));
            found.unreadable += before - found.rows.len();
        }
    }
}

/// Checks that row ids rise from cell to cell. A wrong id is repaired if only one number is possible; otherwise its row
/// is dropped, because other rows refer to it by that number.
fn check_order(rows: &mut [Option<PageRow>]) {
    let ids: Vec<(usize, i64)> = (rows.iter().enumerate())
        .filter_map(|(at, row)| row.as_ref().map(|row| (at, row.id)))
        .collect();
    let rising = longest_rising_run(&ids);
    for (at, _) in ids {
        if rising.iter().any(|(in_order, _)| *in_order == at) {
            continue;
        }
        let next = rising.partition_point(|(in_order, _)| *in_order < at);
        let before = next.checked_sub(1).map(|before| rising[before]);
        let id = match (before, rising.get(next)) {
            (Some((one, low)), Some((other, high))) if one + 2 == *other && low + 2 == *high => {
                low + 1
            }
            _ => {
                rows[at] = None;
                continue;
            }
        };
        if let Some(row) = &mut rows[at] {
            row.id = id;
        }
    }
}

/// Returns the longest rising subsequence of a list.
fn longest_rising_run(ids: &[(usize, i64)]) -> Vec<(usize, i64)> {
    // For each place: the length of the longest rise that ends there, and the place before it.
    let mut ends: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, (_, id)) in ids.iter().enumerate() {
        let before = (0..at).filter(|before| ids[*before].1 < *id).max_by_key(|at| ends[*at].0);
        ends.push((before.map_or(1, |before| ends[before].0 + 1), before));
    }
    let mut rise = Vec::new();
    let mut next = (0..ends.len()).max_by_key(|at| ends[*at].0);
    while let Some(at) = next {
        rise.push(ids[at]);
        next = ends[at].1;
    }
    rise.reverse();
    rise
}

/// Reads the row at an offset of a page, including its overflow pages.
fn read_cell(image: &[u8], page: &[u8], at: usize) -> Option<PageRow> {
    let cell = page.get(at..)?;
    let (length, first) = read_sqlite_varint(cell)?;
    let (id, second) = read_sqlite_varint(cell.get(first..)?)?;
    let length = usize::try_from(length).ok().filter(|length| *length <= image.len())?;
    let start = first + second;
    if length <= MAX_LOCAL_BYTES {
        let values = parse_record(cell.get(start..start + length)?)?;
        return Some(PageRow { id, values, overflow: Vec::new() });
    }
    let local = MIN_LOCAL_BYTES + (length - MIN_LOCAL_BYTES) % OVERFLOW_BYTES;
    let local = if local <= MAX_LOCAL_BYTES { local } else { MIN_LOCAL_BYTES };
    let mut record = cell.get(start..start + local)?.to_vec();
    let mut next = page_number(cell.get(start + local..)?)?;
    let mut overflow = Vec::new();
    while record.len() < length {
        if next < 2 || next > image.len() / PAGE_BYTES || overflow.contains(&next) {
            return None;
        }
        overflow.push(next);
        let page = self::page_bytes(image, next);
        let rest = (length - record.len()).min(OVERFLOW_BYTES);
        record.extend_from_slice(&page[4..4 + rest]);
        next = page_number(page)?;
    }
    // The last overflow page has no successor.
    if next != 0 {
        return None;
    }
    Some(PageRow { id, values: parse_record(&record)?, overflow })
}

fn page_number(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_be_bytes(*bytes.first_chunk()?)).ok()
}
