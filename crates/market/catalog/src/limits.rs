//! The limits of the crate.

/// Problems in one report; further ones are only counted.
pub const LOAD_PROBLEMS_MAX: usize = 100;
/// Size of an unpacked catalogue file.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const CATEGORIES_MAX: usize = 1_000_000;
/// Levels below a root.
pub const DEPTH_MAX: usize = 32;
/// Inherited attributes included.
pub const CATEGORY_ATTRIBUTES_MAX: usize = 128;
pub const ATTRIBUTE_VALUES_MAX: usize = 20_000;
/// Ids of categories, attributes, values, units and conditions.
pub const ID_BYTES_MAX: usize = 100;
/// Names and synonyms.
pub const NAME_CHARS_MAX: usize = 200;
/// Digits after the point.
pub const DECIMAL_SCALE_MAX: u8 = 9;
pub const LANGUAGES_MAX: usize = 16;

/// Violations in one report.
pub const VIOLATIONS_MAX: usize = 200;
/// Longer given texts are truncated in reports.
pub const ECHO_CHARS_MAX: usize = 60;

/// The rest of a longer text is ignored.
pub const QUERY_CHARS_MAX: usize = 500;
/// Parts of a text that are searched for `name: value`.
pub const DESCRIPTION_PAIRS_MAX: usize = 500;
/// Candidates of one recognition.
pub const CANDIDATES_MAX: usize = 20;

/// Offers named in the report of a migration; further ones are only counted.
pub const REPORT_EXAMPLES_MAX: usize = 1_000;
