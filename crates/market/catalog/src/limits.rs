//! Every limit of the crate.

/// Problems that one load reports; more are only counted.
pub const LOAD_PROBLEMS_MAX: usize = 100;
/// A catalogue file, unpacked.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Categories of one catalogue.
pub const CATEGORIES_MAX: usize = 1_000_000;
/// Steps from a root category to its deepest descendant.
pub const DEPTH_MAX: usize = 32;
/// Attributes that one category has, its ancestors' included.
pub const CATEGORY_ATTRIBUTES_MAX: usize = 128;
/// Values that one attribute may choose from.
pub const ATTRIBUTE_VALUES_MAX: usize = 20_000;
/// An id of a category, attribute, value, unit or condition.
pub const ID_BYTES_MAX: usize = 100;
/// A name or a synonym.
pub const NAME_CHARS_MAX: usize = 200;
/// Digits after the point of a decimal number.
pub const DECIMAL_SCALE_MAX: u8 = 9;
/// Languages of one catalogue.
pub const LANGUAGES_MAX: usize = 16;

/// Violations that one validation reports.
pub const VIOLATIONS_MAX: usize = 200;
/// What a report repeats of a text that somebody sent.
pub const ECHO_CHARS_MAX: usize = 60;

/// What recognition reads of a text.
pub const QUERY_CHARS_MAX: usize = 500;
/// Parts of a text that are looked at for `name: value`.
pub const DESCRIPTION_PAIRS_MAX: usize = 500;
/// Candidates that recognition returns.
pub const CANDIDATES_MAX: usize = 20;

/// Offers that could not be moved and are named in a migration's report; more are only counted.
pub const REPORT_EXAMPLES_MAX: usize = 1_000;
