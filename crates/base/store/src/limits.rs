//! Limits of the store. They are the same for every engine, so that data can move between engines.

/// Longest encoded key. The limit of index rows in PostgreSQL is 2.7 KB.
pub const KEY_BYTES_MAX: usize = 1024;
/// Longest value of one row.
pub const VALUE_BYTES_MAX: usize = 1024 * 1024;
/// Most operations (checks and writes together) in one batch.
pub const BATCH_OPS_MAX: usize = 10_000;
/// Most bytes of keys and values in one batch.
pub const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most keys in one `get`.
pub const GET_KEYS_MAX: usize = 10_000;
/// Most rows in one page of a scan.
pub const SCAN_ROWS_MAX: usize = 10_000;
/// A page ends after the row that takes it over this many bytes of values.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Largest single step of a counter, so that a sum cannot overflow unnoticed.
pub const ADD_MAX: i64 = 1 << 53;
/// Longest name of a table or column (PostgreSQL cuts names at 63).
pub const NAME_BYTES_MAX: usize = 48;
/// Most columns in a key.
pub const KEY_COLUMNS_MAX: usize = 8;
/// Batches that may wait for the committer before `commit` itself waits.
pub const QUEUE_BATCHES_MAX: usize = 4096;
/// A group that holds this many bytes takes no further batch.
pub const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Groups whose batch ids are kept for [`Store::applied`](crate::Store::applied).
pub const GROUPS_REMEMBERED: u64 = 4096;
