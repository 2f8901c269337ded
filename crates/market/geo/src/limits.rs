//! Every limit and default of the crate.

use std::time::Duration;

/// What is read of an address.
pub const ADDRESS_CHARS_MAX: usize = 400;
/// Words of an address that are looked at.
pub const ADDRESS_WORDS_MAX: usize = 48;
/// Words of the longest name of a place that is looked for.
pub const NAME_WORDS_MAX: usize = 5;
/// Places that a search returns.
pub const CANDIDATES_MAX: usize = 8;
/// Places of one name that are compared.
pub const NAMESAKES_MAX: usize = 400;
/// The packed data, unpacked.
pub const DATA_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Coordinates farther than this from every known place are nowhere.
pub const PLACE_DISTANCE_KM_MAX: f64 = 150.0;
/// Two places of one address that are nearer than this are a city and a part of it, or a suburb.
pub const SUBURB_DISTANCE_KM_MAX: f64 = 60.0;
/// Two candidates whose points differ by less are equally likely.
pub const AMBIGUOUS_POINTS: u16 = 40;

/// Bytes of a geocoder's answer.
pub const ANSWER_BYTES_MAX: u64 = 256 * 1024;
/// Time for one answer of a geocoder.
pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(10);
/// Time between two questions to a geocoder; what its public service asks for.
pub const QUESTION_INTERVAL: Duration = Duration::from_secs(1);
/// Questions that wait for their turn; more fail for the moment.
pub const QUESTIONS_WAITING_MAX: usize = 64;
/// Answers that are kept, so that an address is asked once.
pub const ANSWERS_KEPT_MAX: usize = 10_000;
