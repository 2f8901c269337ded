//! Random manual actions on committed states.

use jiff::SignedDuration;
use rand::RngExt;
use triggers::Scale;

use super::world::World;
use crate::{BackfillOrder, Signed, TaskName, actions, backfill};

impl World {
    /// A random action; an invalid one is refused.
    pub(super) fn act(&mut self) {
        let names: Vec<TaskName> = self.states.keys().cloned().collect();
        if names.is_empty() {
            return;
        }
        let name = names[self.dice.random_range(0..names.len())].clone();
        let (Some(plan), Some(state)) = (self.plans.get(&name), self.states.get(&name)) else { return };
        let signed = Signed::new("ann", "to try it", self.now).unwrap();
        let of = plan.trigger.parameters().into_iter().next().cloned().unwrap();
        let changed = match self.dice.random_range(0..12) {
            0..2 => actions::pause(state, &signed),
            2..5 => actions::resume(state, plan, &signed),
            5 => actions::run_now(state, false, &signed),
            6 => actions::run_now(state, true, &signed),
            7 => match self.values.get(&of) {
                Some(value) => actions::set_remembered(state, plan, &of, *value, &signed),
                None => return,
            },
            8 => actions::delete_remembered(state, Some(&of), &signed),
            9 => match self.planner.seen(&name) {
                Some(seen) => actions::cancel(state, seen, &signed),
                None => return,
            },
            10 => {
                let from = self.now - SignedDuration::from_hours(self.dice.random_range(1..4));
                let record = self.dice.random_bool(0.3);
                let order = BackfillOrder { scale: Some(Scale::Hour), from, to: self.now, limit: 3, record };
                backfill::start(state, plan, &order, &signed)
            }
            _ => backfill::resume(state, &signed).or_else(|_| backfill::cancel(state, &signed)),
        };
        let Ok(changed) = changed else { return };
        assert_eq!(changed.version, state.version + 1);
        self.states.insert(name.clone(), changed.clone());
        // The planner may learn of it now, or by the conflict.
        self.planner.state_changed(&name, changed);
    }

    /// Resumes tasks and some backfills.
    pub(super) fn release_all(&mut self) {
        let signed = Signed::new("ann", "all is well", self.now).unwrap();
        for (name, plan) in self.plans.clone() {
            let Some(state) = self.states.get(&name) else { continue };
            let mut state = state.clone();
            if let Ok(resumed) = actions::resume(&state, &plan, &signed) {
                state = resumed;
            }
            if self.dice.random_bool(0.5)
                && let Ok(resumed) = backfill::resume(&state, &signed)
            {
                state = resumed;
            }
            self.states.insert(name.clone(), state.clone());
            self.planner.state_changed(&name, state);
        }
    }
}
