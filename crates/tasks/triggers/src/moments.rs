//! When the time alone changes what a trigger says.

use jiff::{SignedDuration, Timestamp};

use crate::calendar::Calendar;
use crate::check::fires;
use crate::leaf::judge;
use crate::trigger::{Check, Leaf, Trigger};
use crate::value::{Value, Values};

/// The next moment at which [`fires`] says something else if no value changes: not before it, and at it for certain. `None`: only a
/// value can change the answer.
#[must_use]
pub fn next_change(
    trigger: &Trigger,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Option<Timestamp> {
    if !trigger.time_dependent() {
        return None;
    }
    let mut moments: Vec<Timestamp> = trigger
        .leaves()
        .flat_map(|(_, leaf)| turns(leaf, values, calendar))
        .flatten()
        .filter(|moment| *moment > now)
        .collect();
    moments.sort_unstable();
    moments.dedup();
    let says = fires(trigger, values, now, calendar);
    moments.into_iter().find(|moment| fires(trigger, values, *moment, calendar) != says)
}

/// The next moment at which a leaf says something else if no value changes.
pub(crate) fn next_of_leaf(
    leaf: &Leaf,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Option<Timestamp> {
    let says = judge(leaf, values, now, calendar).why.holds();
    let another = |moment: &Timestamp| judge(leaf, values, *moment, calendar).why.holds() != says;
    turns(leaf, values, calendar).into_iter().flatten().filter(|moment| *moment > now).find(another)
}

/// The moments at which the time alone turns a leaf: on and off, in this order.
fn turns(leaf: &Leaf, values: &(impl Values + ?Sized), calendar: &Calendar) -> [Option<Timestamp>; 2] {
    if !leaf.check.is_time_dependent() {
        return [None; 2];
    }
    let Some(Value::Time(current)) = values.current(&leaf.of) else { return [None; 2] };
    match leaf.check {
        // It still holds at `current + within`, and no longer at the moment after it.
        Check::Delay { within } => [None, after(current, within)],
        Check::ChunkDelay { scale, within } => {
            let chunk = calendar.index(current, scale);
            let border = |chunks: i64| calendar.border(chunk.saturating_add(chunks), scale);
            match within {
                None => [border(0), border(1)],
                Some(within) => [None, border(i64::from(within) + 1)],
            }
        }
        _ => [None; 2],
    }
}

fn after(current: Timestamp, within: SignedDuration) -> Option<Timestamp> {
    current.checked_add(within.checked_add(SignedDuration::from_nanos(1))?).ok()
}
