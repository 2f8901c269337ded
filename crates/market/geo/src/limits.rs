//! Every limit and default of the crate.

/// The rest of a longer address is ignored.
pub const ADDRESS_CHARS_MAX: usize = 400;
pub const ADDRESS_WORDS_MAX: usize = 48;
/// Words of the longest name that is searched.
pub const NAME_WORDS_MAX: usize = 5;
pub const CANDIDATES_MAX: usize = 8;
/// Places with the same name that are ranked.
pub const NAMESAKES_MAX: usize = 400;
/// Size of the unpacked data.
pub const DATA_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Coordinates farther than this from every known place have no place.
pub const PLACE_DISTANCE_KM_MAX: f64 = 150.0;
/// Two places of one address that are nearer than this are a city and its suburb.
pub const SUBURB_DISTANCE_KM_MAX: f64 = 60.0;
/// Two candidates whose points differ by less are equally likely.
pub const AMBIGUOUS_POINTS: u16 = 40;
