//! Every limit of the reader. What goes beyond one is refused or cut, and said; nothing grows with a hostile file.

/// A file when it is unpacked: 1 GB.
pub const FILE_BYTES_MAX: u64 = 1 << 30;
/// Unpacked bytes for each packed one.
pub const PACK_RATIO_MAX: u64 = 100;
/// The ratio is looked at from here on: a small file of equal lines packs better than that in good faith.
pub const PACK_RATIO_FROM_BYTES: u64 = 8 << 20;
/// The text of one offer: 1 MB.
pub const OFFER_BYTES_MAX: usize = 1 << 20;
/// One element of a header: a name, a category.
pub const HEADER_BYTES_MAX: usize = 64 << 10;
/// What may stand before the root element.
pub const PROLOGUE_BYTES_MAX: usize = 64 << 10;
/// Elements, or brackets of JSON, inside each other.
pub const DEPTH_MAX: usize = 64;
/// Attributes of one element.
pub const ATTRIBUTES_MAX: usize = 256;
/// Elements, or values of JSON, of one offer.
pub const NODES_MAX: usize = 20_000;
/// Elements and attributes of an offer of our own XML: more than the schema can allow.
pub const SCHEMA_NODES_MAX: usize = 1_200;
/// Offers of one file.
pub const OFFERS_MAX: u64 = 2_000_000;
/// Columns of a table.
pub const COLUMNS_MAX: usize = 1_000;
/// Categories that a file brings along.
pub const CATEGORIES_MAX: usize = 50_000;
/// Categories above each other.
pub const CATEGORY_DEPTH_MAX: usize = 16;
/// Currencies that a file brings along.
pub const CURRENCIES_MAX: usize = 200;

/// An external id.
pub const ID_CHARS_MAX: usize = 100;
/// A title; longer ones are cut, with a warning.
pub const TITLE_CHARS_MAX: usize = 200;
/// A description; longer ones are cut, with a warning.
pub const DESCRIPTION_CHARS_MAX: usize = 20_000;
/// An address, a name, a brand, a category's name.
pub const TEXT_CHARS_MAX: usize = 500;
/// A URL.
pub const URL_CHARS_MAX: usize = 2_048;
/// Parameters of an offer; the rest is left out, with a warning.
pub const PARAMS_MAX: usize = 300;
/// The name of a parameter.
pub const PARAM_NAME_CHARS_MAX: usize = 200;
/// The value of a parameter; longer ones are cut, with a warning.
pub const PARAM_VALUE_CHARS_MAX: usize = 4_000;
/// Photos of an offer; the rest is left out, with a warning.
pub const PHOTOS_MAX: usize = 50;
/// Phones of an offer.
pub const PHONES_MAX: usize = 10;
/// An amount of money, in whole units.
pub const AMOUNT_MAX: i64 = 1_000_000_000_000;

/// Problems of one offer; the first of them are kept.
pub const OFFER_PROBLEMS_MAX: usize = 50;
/// Problems of the file itself, beside its offers.
pub const FILE_PROBLEMS_MAX: usize = 1_000;
/// Examples of each code in a report.
pub const REPORT_EXAMPLES_MAX: usize = 10;
/// The offered value inside a problem; longer ones are cut.
pub const PROBLEM_VALUE_CHARS_MAX: usize = 120;
/// The piece of the line that is shown with a problem, on each side of the place.
pub const EXCERPT_CHARS_MAX: usize = 60;

/// Bytes that are looked at to tell an encoding, from the first that is not ASCII.
pub const ENCODING_PROBE_BYTES: usize = 32 << 10;
/// Damaged characters that are forgiven before their share is looked at.
pub const DAMAGED_MAX: u64 = 100;
/// Beyond [`DAMAGED_MAX`], one damaged character in so many bytes is too much.
pub const DAMAGED_SHARE: u64 = 100;
/// Bytes that are read at once.
pub const READ_BYTES: usize = 64 << 10;

/// A batch is full with so much text ...
pub const BATCH_BYTES: usize = 256 << 10;
/// ... or with so many offers.
pub const BATCH_OFFERS: usize = 500;
/// Batches that wait for each thread, and as many that wait for the caller.
pub const QUEUE_BATCHES: usize = 2;
/// Threads that parse, at most.
pub const THREADS_MAX: usize = 16;
