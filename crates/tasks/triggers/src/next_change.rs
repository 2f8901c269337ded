//! When time alone changes the answer of a trigger.

use jiff::{SignedDuration, Timestamp};

use crate::calendar::Calendar;
use crate::check::fires;
use crate::leaf::evaluate;
use crate::trigger::{Check, Leaf, Trigger};
use crate::value::{Value, Values};

/// The next moment at which [`fires`] changes its answer if no value changes, exactly. `None`: only
/// a value can change it.
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
    let mut next_change: Vec<Timestamp> = trigger
        .leaves()
        .flat_map(|(_, leaf)| turns(leaf, values, calendar))
        .flatten()
        .filter(|moment| *moment > now)
        .collect();
    next_change.sort_unstable();
    next_change.dedup();
    let says = fires(trigger, values, now, calendar);
    next_change.into_iter().find(|moment| fires(trigger, values, *moment, calendar) != says)
}

pub(crate) fn next_of_leaf(
    leaf: &Leaf,
    values: &(impl Values + ?Sized),
    now: Timestamp,
    calendar: &Calendar,
) -> Option<Timestamp> {
    let says = evaluate(leaf, values, now, calendar).reason.holds();
    let another = |moment: &Timestamp| evaluate(leaf, values, *moment, calendar).reason.holds() != says;
    turns(leaf, values, calendar).into_iter().flatten().filter(|moment| *moment > now).find(another)
}

/// The moments at which time alone turns a leaf on and off, in this order.
fn turns(leaf: &Leaf, values: &(impl Values + ?Sized), calendar: &Calendar) -> [Option<Timestamp>; 2] {
    if !leaf.check.is_time_dependent() {
        return [None; 2];
    }
    let Some(Value::Time(current)) = values.current(&leaf.of) else { return [None; 2] };
    match leaf.check {
        // It still holds at `current + within`, and no longer right after it.
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
