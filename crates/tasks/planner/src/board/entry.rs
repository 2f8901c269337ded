//! A task on the board.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use triggers::{Check, Parameter, Value, Values};

use super::decision::{Act, Alert, Outcome, Why};
use super::hold::Hold;
use super::known::{Catalogue, ParameterId};
use super::plan::Plan;
use super::queue::PoolId;
use super::state::{Phase, TaskState};
use super::{Seen, TaskName};

/// A task: its definition, its state, and where it stands in the indices.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: TaskName,
    /// `None`: the task is gone, or only its state is known.
    pub(super) plan: Option<Arc<Plan>>,
    /// The parameters of its trigger, sorted.
    pub(super) slots: Box<[Slot]>,
    /// What its runs move.
    pub(super) outputs: Box<[ParameterId]>,
    pub(super) pool: PoolId,
    /// As it will be when the decision that is under way is committed.
    pub(super) state: TaskState,
    /// The decision that is under way.
    pub(super) pending: Option<Box<Pending>>,
    /// Since when a run takes a place, until its end is committed.
    pub(super) place: Option<Timestamp>,
    /// An end of a run that is not committed yet.
    pub(super) ended: Option<(u64, Outcome, Timestamp)>,
    /// Nothing of it is committed yet.
    pub(super) fresh: bool,
    pub(super) dirty: bool,
    pub(super) timer: Option<Timestamp>,
    pub(super) hold: Option<Hold>,
    /// When to look whether others are to be held back for it.
    pub(super) hold_look: Option<Timestamp>,
    /// When others were first held back for it since it fired last; see `hold.rs`.
    pub(super) hold_began: Option<Timestamp>,
}

/// A parameter of a trigger.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) parameter: Arc<Parameter>,
    pub(super) id: ParameterId,
    /// Whether a leaf compares it with what is remembered.
    pub(super) delta: bool,
}

/// A decision that is being made, or was handed out and is not confirmed yet.
#[derive(Debug)]
pub(super) struct Pending {
    /// What is committed.
    pub(super) base: TaskState,
    /// Nothing may be added: it was handed out, or a run starts or ends with it.
    pub(super) sealed: bool,
    /// To be handed out even if nothing is new.
    pub(super) forced: bool,
    pub(super) act: Act,
    pub(super) alerts: Vec<Alert>,
    pub(super) why: Vec<Why>,
}

impl Pending {
    pub(super) fn new(base: TaskState) -> Self {
        let (alerts, why) = (Vec::new(), Vec::new());
        Self { base, sealed: false, forced: false, act: Act::Nothing, alerts, why }
    }
}

impl Entry {
    pub(super) fn new(name: TaskName, state: TaskState, pool: PoolId) -> Self {
        Self {
            name,
            plan: None,
            slots: Box::default(),
            outputs: Box::default(),
            pool,
            state,
            pending: None,
            place: None,
            ended: None,
            fresh: false,
            dirty: false,
            timer: None,
            hold: None,
            hold_look: None,
            hold_began: None,
        }
    }

    /// Whether nothing may be decided now.
    pub(super) fn is_sealed(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.sealed)
    }

    /// Whether regular firings and backfills have to wait for somebody.
    pub(super) fn is_paused(&self) -> bool {
        let by_plan = self.plan.as_ref().is_some_and(|plan| plan.paused);
        self.state.paused.is_some() || (by_plan && !self.state.resumed)
    }

    /// Since when a run takes a place: it does so from the decision to start it until its end is committed.
    pub(super) fn takes_place(&self) -> Option<Timestamp> {
        let base = || self.pending.as_ref().and_then(|pending| pending.base.running());
        self.state.running().or_else(base).map(|(_, since)| since)
    }

    pub(super) fn view<'a>(&'a self, catalogue: &'a Catalogue) -> View<'a> {
        View { slots: &self.slots, catalogue, remembered: &self.state.remembered }
    }

    /// What a check would see now.
    pub(super) fn seen(&self, catalogue: &Catalogue) -> Seen {
        let value = |slot: &Slot| Some(((*slot.parameter).clone(), catalogue.value(slot.id)?));
        self.slots.iter().filter_map(value).collect()
    }

    /// Whether a check would see just this.
    pub(super) fn sees(&self, seen: &Seen, catalogue: &Catalogue) -> bool {
        let mut there = 0;
        let same = self.slots.iter().all(|slot| {
            let value = catalogue.value(slot.id);
            there += usize::from(value.is_some());
            value == seen.get(&*slot.parameter).copied()
        });
        same && there == seen.len()
    }

    /// Whether the parameter is below what is remembered of it.
    pub(super) fn is_regressed(&self, slot: &Slot, catalogue: &Catalogue) -> bool {
        let remembered = self.state.remembered.get(&*slot.parameter);
        let (Some(current), Some(remembered)) = (catalogue.value(slot.id), remembered) else { return false };
        slot.delta && current.kind() == remembered.kind() && current < *remembered
    }

    pub(super) const fn queued_since(&self) -> Option<Timestamp> {
        match self.state.phase {
            Phase::Queued { since, .. } => Some(since),
            _ => None,
        }
    }
}

/// The parameters of a trigger with their places.
pub(super) fn slots_of(plan: &Plan, catalogue: &mut Catalogue) -> Box<[Slot]> {
    let deltas: BTreeSet<&Parameter> =
        plan.trigger.leaves().filter(|(_, leaf)| leaf.check.is_delta()).map(|(_, leaf)| &leaf.of).collect();
    let slot = |parameter: &Parameter| {
        let id = catalogue.id(parameter);
        let delta = deltas.contains(parameter);
        Slot { parameter: Arc::clone(&catalogue.get(id).name), id, delta }
    };
    plan.trigger.parameters().into_iter().map(slot).collect()
}

/// The values as one task sees them.
pub(super) struct View<'a> {
    slots: &'a [Slot],
    catalogue: &'a Catalogue,
    remembered: &'a Seen,
}

impl Values for View<'_> {
    fn current(&self, of: &Parameter) -> Option<Value> {
        let place = self.slots.binary_search_by(|slot| (*slot.parameter).cmp(of)).ok()?;
        self.catalogue.value(self.slots[place].id)
    }

    fn remembered(&self, of: &Parameter) -> Option<Value> {
        self.remembered.get(of).copied()
    }
}

impl View<'_> {
    /// The next moment at which the time alone may make a trigger hold that does not hold now. Of all leaves only one that asks for
    /// the chunk of the time can come to hold as the time passes, when its value is in a later chunk; the others only cease to.
    pub(super) fn wake(&self, plan: &Plan, now: Timestamp) -> Option<Timestamp> {
        let turn = |check: &Check, of: &Parameter| {
            let (Check::ChunkDelay { scale, within: None }, Some(Value::Time(current))) =
                (check, self.current(of))
            else {
                return None;
            };
            let start = plan.calendar.start_of(plan.calendar.index(current, *scale), *scale);
            Some(start).filter(|start| *start > now)
        };
        plan.trigger.leaves().filter_map(|(_, leaf)| turn(&leaf.check, &leaf.of)).min()
    }
}
