//! Chunks of a fixed length on the clock, counted through all changes of the clock.

use std::sync::Arc;

use super::offsets::{PERIOD, RULE_FROM, Stretch, stretch_at};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    Chunks,
    /// Dates: a skipped one keeps its number, and none repeats. Weeks, months and years are made of
    /// them.
    Dates,
}

#[derive(Debug)]
pub(super) struct Track {
    /// Seconds of a chunk on the clock.
    length: i64,
    /// Seconds from midnight to the first border.
    phase: i64,
    stretches: Arc<[Stretch]>,
    steps: Box<[Step]>,
    /// The index at [`RULE_FROM`].
    base: i64,
    /// Chunks in one period of the rule.
    in_period: i64,
}

/// How chunks are counted during a stretch. If the clock shows `label` whole chunks, the index is
/// `label + shift`, but at least `floor`.
#[derive(Clone, Copy, Debug)]
struct Step {
    shift: i64,
    floor: i64,
    /// The last index of the stretch.
    last: i64,
}

impl Track {
    pub(super) fn new(stretches: Arc<[Stretch]>, length: i64, phase: i64, count: Count) -> Self {
        let steps = vec![Step { shift: 0, floor: i64::MIN, last: i64::MAX }; stretches.len()];
        let steps = steps.into_boxed_slice();
        let mut track = Self { length, phase, stretches, steps, base: 0, in_period: 1 };
        for place in 1..track.stretches.len() {
            track.steps[place] = track.step_into(place, count);
        }
        track.base = track.index_in(track.at(RULE_FROM), RULE_FROM);
        let end = RULE_FROM + PERIOD;
        track.in_period = track.index_in(track.at(end), end) - track.base;
        track
    }

    /// Closes the stretch before `place` and returns how that one is counted.
    fn step_into(&mut self, place: usize, count: Count) -> Step {
        let (before, after) = (self.stretches[place - 1], self.stretches[place]);
        let reached = self.index_in(place - 1, after.from - 1);
        self.steps[place - 1].last = reached;
        let shift = self.steps[place - 1].shift;
        let label = self.label(after, after.from);
        let put_back = before.offset - after.offset;
        let another = if put_back > 0 { put_back >= self.length } else { label + shift > reached };
        if another && count == Count::Chunks {
            return Step { shift: reached + 1 - label, floor: reached + 1, last: i64::MAX };
        }
        Step { shift, floor: reached, last: i64::MAX }
    }

    fn at(&self, second: i64) -> usize {
        stretch_at(&self.stretches, second)
    }

    fn label(&self, stretch: Stretch, second: i64) -> i64 {
        (second + stretch.offset - self.phase).div_euclid(self.length)
    }

    fn index_in(&self, place: usize, second: i64) -> i64 {
        let step = self.steps[place];
        (self.label(self.stretches[place], second) + step.shift).max(step.floor)
    }

    pub(super) fn index(&self, second: i64) -> i64 {
        let periods = (second - RULE_FROM).div_euclid(PERIOD).max(0);
        let second = second - periods * PERIOD;
        self.index_in(self.at(second), second) + periods * self.in_period
    }

    /// The first second whose index is at least this one.
    pub(super) fn start_of(&self, index: i64) -> i64 {
        let periods = (index.saturating_sub(self.base).saturating_sub(1)).div_euclid(self.in_period).max(0);
        let start = self.start_in_lists(index - periods * self.in_period);
        start.saturating_add(periods.saturating_mul(PERIOD))
    }

    fn start_in_lists(&self, index: i64) -> i64 {
        let place = self.steps.partition_point(|step| step.last < index);
        let stretch = self.stretches[place];
        if place > 0 && self.index_in(place, stretch.from) >= index {
            return stretch.from;
        }
        let shown = index.saturating_sub(self.steps[place].shift).saturating_mul(self.length);
        shown.saturating_add(self.phase).saturating_sub(stretch.offset)
    }
}
