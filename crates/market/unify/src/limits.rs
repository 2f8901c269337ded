//! The limits of the crate. Longer texts are truncated.

pub const TITLE_CHARS_MAX: usize = 300;
/// The part of a description used for the category if the title is not enough.
pub const DESCRIPTION_CHARS_FOR_CATEGORY_MAX: usize = 300;
/// The part of a description searched for `name: value`.
pub const DESCRIPTION_CHARS_FOR_PAIRS_MAX: usize = 4_000;
/// The last parts of a category path are used.
pub const PATH_PARTS_MAX: usize = 8;
pub const PATH_PART_CHARS_MAX: usize = 200;
/// Words of one text that are used.
pub const WORDS_MAX: usize = 48;
/// Further parameters of an offer become leftovers.
pub const PARAMS_MAX: usize = 200;
/// Feed categories that a session caches.
pub const CACHED_PATHS_MAX: usize = 4_096;
/// Categories that are compared in the end.
pub const CANDIDATES_MAX: usize = 24;
/// Given values are truncated in marks.
pub const ECHO_CHARS_MAX: usize = 100;
/// Size of an unpacked table.
pub const TABLE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Longer values are not read as numbers, choices or dates.
pub const VALUE_BYTES_MAX: usize = 2_000;
/// Values of attributes that a session caches.
pub const CACHED_VALUES_MAX: usize = 10_000;
/// Longer values, with their units, are not cached.
pub const CACHED_VALUE_BYTES_MAX: usize = 100;
