//! When a task should run, in terms of the data it reads. No store, no clock, no files: whoever asks hands in the values and the time.
//!
//! - A [`Parameter`] such as `sales.loaded_to` has a [`Value`], a time or a number. [`Values`] is where a check finds what they are now
//!   and what is remembered of the last successful run; [`Known`] is the plain one.
//! - A [`Trigger`] is a [`Leaf`] or an aggregate of them; a [`Check`] is one of six: grown since the last run, behind the time, or
//!   behind another parameter, each exact or in chunks of a [`Calendar`].
//! - [`fires`] answers, [`check`] answers and explains in a [`Verdict`], [`next_change`] says when the time alone changes the answer,
//!   and [`earliest`] what the task waits for.
//! - [`Trigger::parameters`], [`Trigger::time_dependent`], [`Trigger::may_never_fire`], [`Trigger::may_loop`] and
//!   [`Trigger::validate`] need no values.
//! - [`parse_duration`] and [`show_duration`] are the one way in which durations are written; [`Calendar::show`] shows moments.
//!
//! What is promised:
//! - Chunks are counted by the calendar, never by dividing durations: right on days of 23 and 25 hours, in the repeated hour and over
//!   skipped days, in every zone of the IANA database, which is part of the program.
//! - [`fires`] and [`check`] agree, and between now and [`next_change`] they say the same as long as no value changes.
//! - Nothing panics, whatever the values are. What cannot be compared does not hold, and the verdict says why.
//!
//! Where things are: `value.rs` and `trigger.rs` hold the types, `ways.rs` what can be said without values; `leaf.rs` asks one leaf,
//! `check.rs` a whole trigger, `moments.rs` and `earliest.rs` look ahead; `calendar.rs` says where chunks begin, `calendar/track.rs`
//! counts them through the changes of the clock that `calendar/offsets.rs` lists; `show/` makes sentences. The cases of
//! `docs/triggers.md` are in `tests/table/`, one file for each type.
//!
//! ```
//! use triggers::{Calendar, Check, Known, Leaf, Parameter, Scale, Trigger, Value, check};
//!
//! let sales: Parameter = "sales.loaded_to".parse()?;
//! let two_days = Check::ChunkDelta { scale: Scale::Day, by: Some(2) };
//! let trigger = Trigger::Leaf(Leaf { of: sales.clone(), check: two_days });
//!
//! let mut known = Known::default();
//! known.remembered.insert(sales.clone(), Value::Time("2021-04-23T03:51:16+03:00".parse()?));
//! known.current.insert(sales.clone(), Value::Time("2021-04-25T03:27:33+03:00".parse()?));
//!
//! let calendar = Calendar::of_zone("Europe/Moscow")?;
//! let verdict = check(&trigger, &known, "2021-04-25T12:00:00+03:00".parse()?, &calendar);
//! assert!(verdict.fires);
//! assert_eq!(verdict.seen, known.current);
//! assert_eq!(trigger.to_string(), "sales.loaded_to grew by 2 calendar days or more");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
