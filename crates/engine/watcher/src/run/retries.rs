//! Entities that are left alone for a while before they are visited again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::limits::ISOLATED_MAX;
use clock::Time;

/// The pause before a row that cannot be read is tried again.
const DAMAGE_PAUSE: Duration = Duration::from_secs(60);
/// Visits in a row that are made again at once because others changed the entity meanwhile; then
/// the first pause follows, which doubles each time.
const CONFLICTS_AT_ONCE: u32 = 3;
const CONFLICT_PAUSE: Duration = Duration::from_millis(10);
const CONFLICT_PAUSE_MAX: Duration = Duration::from_secs(5);

/// An entity in a stage: stage, shard and id.
pub(super) type Target = (usize, u32, Arc<str>);

#[derive(Clone, Copy, Debug)]
struct Delay {
    until: Time,
    /// Ends when the queue row is written again: the entity cannot be read, or its code panics.
    until_changed: bool,
}

#[derive(Default)]
pub(super) struct Retries {
    delays: BTreeMap<Target, Delay>,
    /// How often in a row others changed the entity during its visit.
    conflicts: BTreeMap<Target, u32>,
}

impl Retries {
    /// Leaves an entity alone for a while, or until it changes.
    pub(super) fn delay_damaged(&mut self, target: Target, now: Time) {
        self.delays.insert(target, Delay { until: now + DAMAGE_PAUSE, until_changed: true });
    }

    /// Counts a conflict; says whether the visit is to be made again at once.
    pub(super) fn conflict(&mut self, target: Target, now: Time) -> bool {
        let times = self.conflicts.get(&target).copied().unwrap_or(0) + 1;
        if times > 1 || self.conflicts.len() < ISOLATED_MAX {
            self.conflicts.insert(target.clone(), times);
        }
        if times <= CONFLICTS_AT_ONCE {
            return true;
        }
        let doubled = CONFLICT_PAUSE.saturating_mul(1 << (times - CONFLICTS_AT_ONCE).min(20));
        let delay = Delay { until: now + doubled.min(CONFLICT_PAUSE_MAX), until_changed: false };
        self.delays.insert(target, delay);
        false
    }

    pub(super) fn end_conflicts(&mut self, target: &Target) {
        if !self.conflicts.is_empty() {
            self.conflicts.remove(target);
        }
    }

    /// The queue row of an entity was written; says whether the entity is still delayed.
    pub(super) fn is_delayed_after_write(&mut self, target: &Target) -> bool {
        match self.delays.get(target) {
            Some(delay) if delay.until_changed => {
                self.delays.remove(target);
                false
            }
            other => other.is_some(),
        }
    }

    pub(super) fn is_delayed(&self, target: &Target) -> bool {
        self.delays.contains_key(target)
    }

    pub(super) fn len(&self) -> usize {
        self.delays.len()
    }

    /// Ends the delays that are over; returns their stages and shards.
    pub(super) fn take_over(&mut self, now: Time) -> Vec<(usize, u32)> {
        let mut over = Vec::new();
        self.delays.retain(|(stage, shard, _), delay| {
            if delay.until <= now {
                over.push((*stage, *shard));
            }
            delay.until > now
        });
        over
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.delays.values().map(|delay| delay.until).min()
    }

    pub(super) fn retain(&mut self, serves: impl Fn(u32) -> bool) {
        self.delays.retain(|(_, shard, _), _| serves(*shard));
        self.conflicts.retain(|(_, shard, _), _| serves(*shard));
    }
}
