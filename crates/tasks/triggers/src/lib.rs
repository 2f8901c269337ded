//! Decides when a task should run, from the values of the data that it reads. No store, no clock,
//! no files: the caller passes values and time.
//!
//! - A [`Parameter`] such as `sales.loaded_to` has a [`Value`], a time or a number. [`Values`]
//!   gives a check the current values and those remembered from the last successful run; [`Known`]
//!   is a plain implementation.
//! - A [`Trigger`] is a [`Leaf`] or an aggregate of leaves. A [`Check`] is one of six: grown since
//!   the last run, behind the time, or behind another parameter, each exact or in chunks of a
//!   [`Calendar`].
//! - [`fires`] answers, [`check`] answers and explains in a [`Verdict`], [`next_change`] returns
//!   when time alone changes the answer, and [`earliest`] what the task waits for.
//! - [`Trigger::parameters`], [`Trigger::time_dependent`], [`Trigger::may_never_fire`],
//!   [`Trigger::may_loop`] and [`Trigger::validate`] need no values.
//! - [`parse_duration`] and [`show_duration`] define how durations are written; [`Calendar::show`]
//!   formats moments.
//!
//! Guarantees:
//! - The calendar counts chunks; durations are never divided. Counts are right on days of 23 and 25
//!   hours, in the repeated hour and over skipped days, in every zone of the IANA database, which
//!   is compiled in.
//! - [`fires`] and [`check`] agree, and both keep their answer until [`next_change`] as long as no
//!   value changes.
//! - Nothing panics, whatever the values are. Values that cannot be compared do not hold, and the
//!   verdict says why.
//!
//! Where things are: types (`value.rs`, `trigger.rs`), analysis without values (`analysis.rs`), one
//! leaf (`leaf.rs`), a whole trigger (`check.rs`), looking ahead (`next_change.rs`, `earliest.rs`),
//! chunks (`calendar.rs`; `calendar/track.rs` counts them through the changes of the clock that
//! `calendar/offsets.rs` lists), sentences (`show/`). The cases of `docs/triggers.md` are in
//! `tests/it/table/`, one file per type.
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

mod analysis;
mod calendar;
mod check;
mod duration;
mod earliest;
mod error;
mod leaf;
pub mod limits;
mod next_change;
mod show;
mod trigger;
mod value;
mod verdict;

pub use calendar::{Calendar, find_zone, zone_names};
pub use check::{check, fires};
pub use duration::{parse_duration, show_duration};
pub use earliest::{Earliest, Wait, earliest};
pub use error::{Error, Result};
pub use next_change::next_change;
pub use show::Shown;
pub use trigger::{Aggregate, Amount, Check, Group, Leaf, Path, Scale, Trigger};
pub use value::{Kind, Known, Parameter, Value, Values};
pub use verdict::{Difference, LeafVerdict, Operand, Reason, Threshold, Verdict};
