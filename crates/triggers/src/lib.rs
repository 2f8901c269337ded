//! When a task should run, in terms of the data it reads. No store, no clock, no text: whoever asks hands in the values and the time.

mod calendar;
mod duration;
mod error;
pub mod limits;
mod show;
mod trigger;
mod value;
mod ways;

pub use calendar::{Calendar, find_zone, zone_names};
pub use duration::{parse_duration, show_duration};
pub use error::{Error, Result};
pub use trigger::{Aggregate, Amount, Check, Group, Leaf, Path, Scale, Trigger};
pub use value::{Kind, Known, Parameter, Value, Values};
