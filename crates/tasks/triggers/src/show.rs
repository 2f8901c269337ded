//! Triggers and verdicts as sentences that a data engineer understands.

mod earliest;
mod moment;
mod trigger;
mod verdict;

use crate::calendar::Calendar;

/// Something with moments in it, to be shown in the zone of a calendar.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a, T> {
    what: &'a T,
    calendar: &'a Calendar,
}

impl Calendar {
    /// A moment, a [`Value`](crate::Value), a [`Verdict`](crate::Verdict), a [`LeafVerdict`](crate::LeafVerdict) or an
    /// [`Earliest`](crate::Earliest) as text, with moments as the clock of the zone shows them: `2021-04-25 03:27:33`. Seconds are
    /// left out if there are none, and the offset from UTC is there only if the clock shows the moment twice.
    pub const fn show<'a, T>(&'a self, what: &'a T) -> Shown<'a, T> {
        Shown { what, calendar: self }
    }
}
