//! Triggers and verdicts as sentences.

mod earliest;
mod moment;
mod trigger;
mod verdict;

use crate::calendar::Calendar;

/// Something with moments in it, shown in the zone of a calendar.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, T> {
    what: &'a T,
    calendar: &'a Calendar,
}

impl Calendar {
    /// Shows a moment, a [`Value`](crate::Value), a [`Verdict`](crate::Verdict), a
    /// [`LeafVerdict`](crate::LeafVerdict) or an [`Earliest`](crate::Earliest) with moments in the
    /// calendar's zone: `2021-04-25 03:27:33`. Leaves out zero seconds, and adds the offset from
    /// UTC only if the clock shows the moment twice.
    pub const fn show<'a, T>(&'a self, what: &'a T) -> Shown<'a, T> {
        Shown { what, calendar: self }
    }
}
