//! Every limit of the crate.

/// What is read of a title.
pub const TITLE_CHARS_MAX: usize = 300;
/// What is read of a description to recognise the category, if the title says too little.
pub const DESCRIPTION_CHARS_FOR_CATEGORY_MAX: usize = 300;
/// What is read of a description to find `name: value`.
pub const DESCRIPTION_CHARS_FOR_PAIRS_MAX: usize = 4_000;
/// Parts of a feed's category path that are looked at: the last ones.
pub const PATH_PARTS_MAX: usize = 8;
/// What is read of one part.
pub const PATH_PART_CHARS_MAX: usize = 200;
/// Words of one text that are looked at.
pub const WORDS_MAX: usize = 48;
/// Parameters of one offer that are looked at; the rest is left over.
pub const PARAMS_MAX: usize = 200;
/// Feed categories whose evidence a session remembers.
pub const PATHS_REMEMBERED_MAX: usize = 4_096;
/// Categories that are weighed against each other at the end.
pub const CANDIDATES_MAX: usize = 24;
/// What a mark repeats of a value.
pub const ECHO_CHARS_MAX: usize = 100;
/// A table that comes packed with the crate, unpacked.
pub const TABLE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// A longer value is not read as a number, a choice or a date.
pub const VALUE_BYTES_MAX: usize = 2_000;
/// Values of attributes that a session remembers; when there are more, it begins anew.
pub const VALUES_REMEMBERED_MAX: usize = 10_000;
/// Bytes of a value, with its unit, that is remembered.
pub const VALUE_BYTES_REMEMBERED_MAX: usize = 100;
