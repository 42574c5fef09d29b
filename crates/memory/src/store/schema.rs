//! Schema versions and migrations. Migrations only go forward, and a released one is never edited.

use rusqlite::{Connection, TransactionBehavior};

use super::StoreResult;

/// SQLite application id that marks a database as ours: "rutr".
pub(crate) const APPLICATION_ID: i32 = 0x7275_7472;

/// Migration scripts; each leads from one version to the next.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_ground.sql"),
    include_str!("migrations/0002_episodes.sql"),
    concat!(include_str!("migrations/0003_search.sql"), include_str!("migrations/0003_spoken.sql")),
    include_str!("migrations/0004_caller.sql"),
    include_str!("migrations/0005_values.sql"),
    concat!(include_str!("migrations/0006_effects.sql"), include_str!("migrations/0006_sums.sql")),
    concat!(include_str!("migrations/0007_runs.sql"), include_str!("migrations/0007_session.sql")),
    include_str!("migrations/0008_origin.sql"),
    concat!(
        include_str!("migrations/0009_applies.sql"),
        include_str!("migrations/0009_commands.sql")
    ),
    include_str!("migrations/0010_derived.sql"),
];

/// Schema version that this program reads and writes.
pub const SCHEMA_VERSION: u32 = {
    assert!(MIGRATIONS.len() < 1_000);
    #[expect(clippy::cast_possible_truncation, reason = "asserted above")]
    let version = MIGRATIONS.len() as u32;
    version
};

/// The application and schema version of a database file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaState {
    /// Ours, with the current version.
    Current,
    /// Ours, with an older version.
    Older,
    /// Ours, with a newer version: it must not be written.
    Newer(u32),
    /// An empty database.
    Empty,
    /// A database of another program.
    Foreign,
}

pub(crate) fn detect_schema(connection: &Connection) -> rusqlite::Result<SchemaState> {
    // As pragmas, not as table-valued functions: those would make SQLite parse the whole schema first.
    let version = header_version(connection)?;
    let application: i32 = connection.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    Ok(match application {
        APPLICATION_ID if version == SCHEMA_VERSION => SchemaState::Current,
        APPLICATION_ID if version > SCHEMA_VERSION => SchemaState::Newer(version),
        APPLICATION_ID => SchemaState::Older,
        0 if version == 0 && is_empty(connection)? => SchemaState::Empty,
        _ => SchemaState::Foreign,
    })
}

/// Returns the version in the header. SQLite stores a signed number there, so a damaged one can be negative.
fn header_version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map(i32::cast_unsigned)
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Returns true if the header contradicts the tables: they are exactly those of a version of rutter, and the header
/// names another version or another program.
///
/// No two versions have the same tables (`versions_have_distinct_tables`), and a newer rutter or another program has
/// others. So only damage to the header explains the difference.
pub(crate) fn has_damaged_header(
    connection: &Connection,
    found: SchemaState,
) -> rusqlite::Result<bool> {
    Ok(match found {
        SchemaState::Current | SchemaState::Empty => false,
        SchemaState::Newer(_) | SchemaState::Foreign => {
            find_version_by_tables(connection)?.is_some()
        }
        SchemaState::Older => {
            let version = header_version(connection)?;
            find_version_by_tables(connection)?.is_some_and(|by_tables| by_tables != version)
        }
    })
}

/// Returns the version that has the tables, indexes and triggers of a database, or None if no version has them.
fn find_version_by_tables(connection: &Connection) -> rusqlite::Result<Option<u32>> {
    let found = read_definitions(connection)?;
    let sample = Connection::open_in_memory()?;
    for (version, migration) in (1..).zip(MIGRATIONS) {
        sample.execute_batch(migration)?;
        if read_definitions(&sample)? == found {
            return Ok(Some(version));
        }
    }
    Ok(None)
}

/// Reads type, name and SQL of everything that was created in a database, without SQLite's internal tables.
fn read_definitions(connection: &Connection) -> rusqlite::Result<Vec<(String, String, String)>> {
    let mut rows = connection.prepare(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY type, name",
    )?;
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
}

/// Migrates a database to [`SCHEMA_VERSION`], or leaves it as it was.
pub(crate) fn migrate(connection: &mut Connection) -> StoreResult {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Read the version again under the lock: another process may have migrated the database.
    let version = header_version(&transaction)?;
    for migration in MIGRATIONS.iter().skip(version as usize) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::tables::PROJECT_TABLES;

    #[test]
    fn versions_have_distinct_tables() {
        let connection = Connection::open_in_memory().unwrap();
        let mut known = vec![read_definitions(&connection).unwrap()];
        for (version, migration) in (1..).zip(MIGRATIONS) {
            connection.execute_batch(migration).unwrap();
            let definitions = read_definitions(&connection).unwrap();
            assert!(!known.contains(&definitions), "version {version} only changes rows");
            assert_eq!(find_version_by_tables(&connection).unwrap(), Some(version));
            known.push(definitions);
        }
        connection.execute_batch("CREATE TABLE news (text TEXT)").unwrap();
        assert_eq!(find_version_by_tables(&connection).unwrap(), None);
    }

    #[test]
    fn project_tables_are_complete() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let tables: BTreeSet<String> = connection
            .prepare(
                "SELECT child.name FROM sqlite_schema AS child, pragma_foreign_key_list(child.name) AS key
                 WHERE child.type = 'table' AND key.\"table\" = 'project'",
            )
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let known = PROJECT_TABLES.into_iter().chain(["document"]).map(str::to_owned).collect();
        assert_eq!(tables, known);
    }
}
