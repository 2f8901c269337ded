//! What can go wrong when the unifier is made.

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A table that comes with the crate is damaged. Unifying itself does not fail: what it cannot do it marks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A line of a table cannot be read.
    #[error("line {line} of the table {table} cannot be read")]
    Table {
        /// Which.
        table: &'static str,
        /// Its line, from 1 on; 0 if it cannot be unpacked.
        line: usize,
    },
    /// A line of a labelled set names a category that the catalogue does not have.
    #[error("line {line} of the labelled set: there is no category {id}")]
    Label {
        /// Its line.
        line: usize,
        /// The category.
        id: String,
    },
}
