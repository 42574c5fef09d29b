//! Export and import: writes every row as a line of JSON without loss, and merges rows of several machines into one
//! store.
//!
//! Rows are identified by their ids. The user says whether the rows of a file are their own. Among own rows, the one
//! that changed last wins, so importing the same file twice, or two files in either order, gives the same result. Rows
//! of others are added as *imported*: they change no existing row, and those with effects beyond their project wait for
//! the user.

mod accept;
mod batch;
mod export;
mod foreign;
mod import;

pub(crate) use batch::carry_imports_over;
pub use batch::{BatchSummary, ImportFile, ImportSummary, ImportedProject, WhoseRows};
pub use export::ExportReport;
pub(crate) use export::count_invalid_rows;
pub use import::{ImportError, ImportReport};
pub(crate) use import::{RowImport, RowRefusal, import_record};

pub use super::export_record::{ExportRecord, ProjectAlias, RowOrigin};
