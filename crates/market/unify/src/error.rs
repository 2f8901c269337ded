pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A damaged bundled table. Unifying itself never fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("cannot parse line {line} of the table {table}")]
    Table {
        table: &'static str,
        /// From 1; 0 if the table cannot be unpacked.
        line: usize,
    },
    /// A labelled set names an unknown category.
    #[error("line {line} of the labelled set: there is no category {id}")]
    Label { line: usize, id: String },
}
