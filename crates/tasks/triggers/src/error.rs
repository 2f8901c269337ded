//! Errors in what people write.

use jiff::SignedDuration;

use crate::duration::show_duration;
use crate::limits::{DAY_MINUTES, DURATION_MAX, LEAVES_MAX, NAME_BYTES_MAX};
use crate::trigger::Path;
use crate::value::Parameter;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a duration, a parameter, a calendar or a trigger is refused. Every message says what to
/// write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{text:?} is no duration: {what}; write for example 30m, 6h, 2d or 1h 30m")]
    Duration { text: String, what: String },
    #[error("{text:?} is too long: the longest duration is {}", show_duration(DURATION_MAX))]
    DurationTooLong { text: String },
    #[error(
        "{text:?} is no parameter: {what}; write the entity, a dot and the name, for example sales.loaded_to"
    )]
    Parameter { text: String, what: &'static str },
    #[error("{text:?} is neither a whole number nor a time such as 2021-04-25T00:00:00Z")]
    Value { text: String },
    #[error("there is no time zone {name:?}: write a name such as Europe/Moscow or UTC")]
    UnknownZone { name: String },
    #[error("a day cannot begin {} from midnight: the offset is whole minutes and shorter than 24h", show_duration(*offset))]
    DayOffset { offset: SignedDuration },
    #[error(
        "{text:?} are no chunks: write hour, day, week, month or year, or minutes that divide a day, for example 15m"
    )]
    Scale { text: String },
    #[error("chunks of {minutes} minutes do not divide a day: take one of {}", divisors())]
    Minutes { minutes: u16 },
    #[error("there is no condition{}: an aggregate needs at least one", at(*.place))]
    EmptyAggregate { place: Option<Path> },
    #[error("the threshold{} is {threshold}: it must be {needed}", at(Some(*.place)))]
    Threshold { place: Path, threshold: String, needed: &'static str },
    #[error("{parameter} is compared with itself{}: name another parameter", at(Some(*.place)))]
    WithItself { place: Path, parameter: Parameter },
    #[error("{count} conditions are too many for one trigger: at most {LEAVES_MAX}")]
    TooManyLeaves { count: usize },
    #[error("a part of the parameter {text:?} is too long: at most {NAME_BYTES_MAX} bytes")]
    LongName { text: String },
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
