//! When a task should run, in terms of the data it reads. No store, no clock, no text: whoever asks hands in the values and the time.

mod calendar;
mod check;
mod duration;
mod earliest;
mod error;
mod leaf;
pub mod limits;
mod moments;
mod show;
mod trigger;
mod value;
mod verdict;
mod ways;

pub use calendar::{Calendar, find_zone, zone_names};
pub use check::{check, fires};
pub use duration::{parse_duration, show_duration};
pub use earliest::{Earliest, Wait, earliest};
pub use error::{Error, Result};
pub use moments::next_change;
pub use show::Shown;
pub use trigger::{Aggregate, Amount, Check, Group, Leaf, Path, Scale, Trigger};
pub use value::{Kind, Known, Parameter, Value, Values};
pub use verdict::{Difference, LeafVerdict, Threshold, Verdict, Whose, Why};
