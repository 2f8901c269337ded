//! The limits of the reader. Values beyond a limit are refused or truncated, with a problem; a
//! hostile file cannot exhaust memory.

/// An unpacked file: 1 GB.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
pub const PACK_RATIO_MAX: u64 = 100;
/// The ratio is checked from here on: a small file of equal lines exceeds it legitimately.
pub const PACK_RATIO_FROM_BYTES: u64 = 8 << 20;
/// The text of one offer: 1 MB.
pub const OFFER_BYTES_MAX: usize = 1 << 20;
/// The beginning of a too large offer that is kept to find its id.
pub const KEPT_BYTES: usize = 4 << 10;
/// One element of a header: a name, a category.
pub const HEADER_BYTES_MAX: usize = 64 << 10;
pub const PROLOGUE_BYTES_MAX: usize = 64 << 10;
/// Nesting of elements or JSON brackets.
pub const DEPTH_MAX: usize = 64;
pub const ATTRIBUTES_MAX: usize = 256;
/// Elements, or values of JSON, of one offer.
pub const NODES_MAX: usize = 20_000;
/// Elements and attributes of an offer of Torg's own XML: more than the schema allows.
pub const SCHEMA_NODES_MAX: usize = 1_200;
pub const OFFERS_MAX: u64 = 2_000_000;
pub const COLUMNS_MAX: usize = 1_000;
pub const CATEGORIES_MAX: usize = 50_000;
pub const CATEGORY_DEPTH_MAX: usize = 16;
pub const CURRENCIES_MAX: usize = 200;

pub const ID_CHARS_MAX: usize = 100;
/// A title; longer ones are cut, with a warning.
pub const TITLE_CHARS_MAX: usize = 200;
/// A description; longer ones are cut, with a warning.
pub const DESCRIPTION_CHARS_MAX: usize = 20_000;
/// An address, a name, a brand, a category's name.
pub const TEXT_CHARS_MAX: usize = 500;
pub const URL_CHARS_MAX: usize = 2_048;
/// Parameters of an offer; the rest is left out, with a warning.
pub const PARAMS_MAX: usize = 300;
pub const PARAM_NAME_CHARS_MAX: usize = 200;
/// The value of a parameter; longer ones are cut, with a warning.
pub const PARAM_VALUE_CHARS_MAX: usize = 4_000;
/// Photos of an offer; the rest is left out, with a warning.
pub const PHOTOS_MAX: usize = 50;
pub const PHONES_MAX: usize = 10;
/// An amount of money, in whole units.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000;

/// Problems of an offer that are kept, the first ones.
pub const OFFER_PROBLEMS_MAX: usize = 50;
/// Problems of the file itself, not of its offers.
pub const FILE_PROBLEMS_MAX: usize = 1_000;
pub const REPORT_EXAMPLES_MAX: usize = 10;
/// The value in a problem; longer ones are truncated.
pub const PROBLEM_VALUE_CHARS_MAX: usize = 120;
/// Characters of an excerpt on each side of the problem.
pub const EXCERPT_CHARS_MAX: usize = 60;

/// Bytes from the first that is not ASCII that decide the encoding.
pub const ENCODING_PROBE_BYTES: usize = 32 << 10;
/// Damaged characters that are accepted in any file.
pub const DAMAGED_MAX: u64 = 100;
/// Beyond [`DAMAGED_MAX`], one damaged character in this many bytes is too many.
pub const DAMAGED_SHARE: u64 = 100;
pub const READ_BYTES: usize = 64 << 10;

/// A batch is full at this size ...
pub const BATCH_BYTES: usize = 256 << 10;
/// ... or at this number of offers.
pub const BATCH_OFFERS: usize = 500;
/// Batches in the queue of each thread, and as many in the queue to the caller.
pub const QUEUE_BATCHES: usize = 2;
pub const THREADS_MAX: usize = 16;
