//! A store with optimistic locking.

use rand::RngExt;

use super::world::World;
use crate::{Act, Decision, Start};

impl World {
    /// Commits or refuses one decision in flight.
    pub(super) fn answer(&mut self) {
        if self.in_flight.is_empty() {
            return;
        }
        let at = self.dice.random_range(0..self.in_flight.len());
        let decision = self.in_flight.swap_remove(at);
        if self.dice.random_bool(0.1) {
            self.planner.refused(&decision);
            return;
        }
        if self.store(&decision) {
            self.planner.commit(&decision);
            self.carry_out(&decision);
            return;
        }
        self.counts.conflicts += 1;
        let known = self.states.get(&decision.task).cloned();
        let first = self.dice.random_bool(0.5);
        if first {
            self.planner.refused(&decision);
        }
        if let Some(known) = known {
            self.planner.state_changed(&decision.task, known);
        }
        if !first {
            self.planner.refused(&decision);
        }
    }

    /// Commits a decision if it was made on the committed state.
    pub(super) fn store(&mut self, decision: &Decision) -> bool {
        let before = self.states.get(&decision.task).cloned();
        if before.as_ref().map_or(0, |before| before.version) + 1 != decision.after.version {
            return false;
        }
        self.check_commit(before.as_ref(), decision);
        self.states.insert(decision.task.clone(), decision.after.clone());
        if matches!(decision.act, Act::End(_)) {
            self.moved.remove(&decision.task);
        }
        if let Act::End(end) = &decision.act {
            for (of, value) in &end.writes {
                self.values.insert(of.clone(), *value);
                self.feed.push_back((of.clone(), Some(*value)));
            }
        }
        self.check_limits();
        true
    }

    pub(super) fn carry_out(&mut self, decision: &Decision) {
        match &decision.act {
            Act::Start(Start { run, seen, .. }) => self.start(&decision.task, *run, seen),
            Act::End(end) => self.known.extend(end.writes.clone()),
            Act::Nothing => {}
        }
    }
}
