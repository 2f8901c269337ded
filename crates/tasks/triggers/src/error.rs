//! What can be wrong with what people write.

use jiff::SignedDuration;

use crate::duration::show_duration;
use crate::limits::{DAY_MINUTES, DURATION_MAX, LEAVES_MAX, NAME_BYTES_MAX};
use crate::trigger::Path;
use crate::value::Parameter;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a duration, a parameter, a calendar or a trigger cannot be used. Every text says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There is no number, no unit, or something else in it.
    #[error("{text:?} is no duration: {what}; write for example 30m, 6h, 2d or 1h 30m")]
    Duration {
        /// What was written, as far as it is worth showing.
        text: String,
        /// What is wrong with it.
        what: String,
    },
    /// Longer than [`DURATION_MAX`].
    #[error("{text:?} is too long: the longest duration is {}", show_duration(DURATION_MAX))]
    DurationTooLong {
        /// What was written.
        text: String,
    },
    /// A parameter is written as `entity.name`.
    #[error(
        "{text:?} is no parameter: {what}; write the entity, a dot and the name, for example sales.loaded_to"
    )]
    Parameter {
        /// What was written, as far as it is worth showing.
        text: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The database of time zones does not know it.
    #[error("there is no time zone {name:?}: write a name such as Europe/Moscow or UTC")]
    UnknownZone {
        /// What was written.
        name: String,
    },
    /// A day begins within a day of midnight.
    #[error("a day cannot begin {} from midnight: the offset is whole minutes and shorter than 24h", show_duration(*offset))]
    DayOffset {
        /// What was given.
        offset: SignedDuration,
    },
    /// Chunks have names, or are minutes.
    #[error(
        "{text:?} are no chunks: write hour, day, week, month or year, or minutes that divide a day, for example 15m"
    )]
    Scale {
        /// What was written, as far as it is worth showing.
        text: String,
    },
    /// Chunks of minutes divide the day.
    #[error("chunks of {minutes} minutes do not divide a day: take one of {}", divisors())]
    Minutes {
        /// What was given.
        minutes: u16,
    },
    /// An aggregate of nothing never fires.
    #[error("there is no condition{}: an aggregate needs at least one", at(*.place))]
    EmptyAggregate {
        /// Where; `None` is the trigger itself.
        place: Option<Path>,
    },
    /// With it a task would run again and again, or never.
    #[error("the threshold{} is {threshold}: it must be {needed}", at(Some(*.place)))]
    Threshold {
        /// Of which leaf.
        place: Path,
        /// What was given.
        threshold: String,
        /// What may be given.
        needed: &'static str,
    },
    /// It is never behind itself.
    #[error("{parameter} is compared with itself{}: name another parameter", at(Some(*.place)))]
    WithItself {
        /// In which leaf.
        place: Path,
        /// Which parameter.
        parameter: Parameter,
    },
    /// More than [`LEAVES_MAX`].
    #[error("{count} conditions are too many for one trigger: at most {LEAVES_MAX}")]
    TooManyLeaves {
        /// How many there are.
        count: usize,
    },
    /// Longer than [`NAME_BYTES_MAX`].
    #[error("a part of the parameter {text:?} is too long: at most {NAME_BYTES_MAX} bytes")]
    LongName {
        /// Its beginning.
        text: String,
    },
}

fn at(place: Option<Path>) -> String {
    match place.map(|place| place.to_string()) {
        Some(place) if !place.is_empty() => format!(" at {place}"),
        _ => String::new(),
    }
}

fn divisors() -> String {
    let all: Vec<String> =
        (1..=DAY_MINUTES).filter(|n| DAY_MINUTES.is_multiple_of(*n)).map(|n| n.to_string()).collect();
    all.join(", ")
}
