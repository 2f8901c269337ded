//! A task in the planner.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use triggers::{Check, Parameter, Value, Values};

use crate::decision::{Act, Alert, Outcome, Step};
use crate::hold::Hold;
use crate::parameters::{ParameterId, Parameters};
use crate::plan::Plan;
use crate::queue::PoolId;
use crate::state::{Phase, TaskState};
use crate::{Seen, TaskName};

/// A task: its definition, its state, and its place in the indices.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    pub(crate) name: TaskName,
    /// `None`: the task was removed, or only its state is known.
    pub(crate) plan: Option<Arc<Plan>>,
    /// The parameters of its trigger, sorted.
    pub(crate) inputs: Box<[TriggerInput]>,
    pub(crate) outputs: Box<[ParameterId]>,
    pub(crate) pool: PoolId,
    /// The state after the pending decision.
    pub(crate) state: TaskState,
    /// A decision that is not confirmed yet.
    pub(crate) pending: Option<Box<Pending>>,
    /// Since when its run occupies a slot, until its end is committed.
    pub(crate) slot: Option<Timestamp>,
    /// The end of a run that is not committed yet.
    pub(crate) ended: Option<(u64, Outcome, Timestamp)>,
    /// Nothing of it is committed yet.
    pub(crate) fresh: bool,
    pub(crate) dirty: bool,
    pub(crate) timer: Option<Timestamp>,
    pub(crate) hold: Option<Hold>,
    /// When to check again whether others are to be held back for it.
    pub(crate) hold_recheck: Option<Timestamp>,
    /// When others were first held back for it since it fired last; see `hold.rs`.
    pub(crate) hold_began: Option<Timestamp>,
}

#[derive(Debug)]
pub(crate) struct TriggerInput {
    pub(crate) parameter: Arc<Parameter>,
    pub(crate) id: ParameterId,
    /// Whether a leaf compares it with the remembered value.
    pub(crate) delta: bool,
}

/// A decision that is being made, or was returned and is not confirmed yet.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The committed state.
    pub(crate) base: TaskState,
    /// Nothing may be added: it was returned, or a run starts or ends with it.
    pub(crate) sealed: bool,
    /// Returned even without a change.
    pub(crate) forced: bool,
    pub(crate) act: Act,
    pub(crate) alerts: Vec<Alert>,
    pub(crate) why: Vec<Step>,
}

impl Pending {
    pub(crate) fn new(base: TaskState) -> Self {
        let (alerts, why) = (Vec::new(), Vec::new());
        Self { base, sealed: false, forced: false, act: Act::Nothing, alerts, why }
    }
}

impl Entry {
    pub(crate) fn new(name: TaskName, state: TaskState, pool: PoolId) -> Self {
        Self { name, pool, state, ..Self::default() }
    }

    /// Whether the task gets no further decision now.
    pub(crate) fn is_sealed(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.sealed)
    }

    /// Whether regular firings and backfills are paused.
    pub(crate) fn is_paused(&self) -> bool {
        let by_plan = self.plan.as_ref().is_some_and(|plan| plan.paused);
        self.state.paused.is_some() || (by_plan && !self.state.resumed)
    }

    /// Since when its run occupies a slot: from the decision to start it until its end is
    /// committed.
    pub(crate) fn occupied_since(&self) -> Option<Timestamp> {
        let base = || self.pending.as_ref().and_then(|pending| pending.base.running());
        self.state.running().or_else(base).map(|(_, since)| since)
    }

    pub(crate) fn view<'a>(&'a self, parameters: &'a Parameters) -> View<'a> {
        View { inputs: &self.inputs, parameters, remembered: &self.state.remembered }
    }

    pub(crate) fn seen(&self, parameters: &Parameters) -> Seen {
        let value = |input: &TriggerInput| Some(((*input.parameter).clone(), parameters.value(input.id)?));
        self.inputs.iter().filter_map(value).collect()
    }

    pub(crate) fn sees(&self, seen: &Seen, parameters: &Parameters) -> bool {
        let mut there = 0;
        let same = self.inputs.iter().all(|input| {
            let value = parameters.value(input.id);
            there += usize::from(value.is_some());
            value == seen.get(&*input.parameter).copied()
        });
        same && there == seen.len()
    }

    pub(crate) fn is_regressed(&self, input: &TriggerInput, parameters: &Parameters) -> bool {
        let remembered = self.state.remembered.get(&*input.parameter);
        let (Some(current), Some(remembered)) = (parameters.value(input.id), remembered) else {
            return false;
        };
        input.delta && current.kind() == remembered.kind() && current < *remembered
    }

    pub(crate) const fn queued_since(&self) -> Option<Timestamp> {
        match self.state.phase {
            Phase::Queued { since, .. } => Some(since),
            _ => None,
        }
    }
}

/// The parameters of a trigger, indexed.
pub(crate) fn inputs_of(plan: &Plan, parameters: &mut Parameters) -> Box<[TriggerInput]> {
    let deltas: BTreeSet<&Parameter> =
        plan.trigger.leaves().filter(|(_, leaf)| leaf.check.is_delta()).map(|(_, leaf)| &leaf.of).collect();
    let input = |parameter: &Parameter| {
        let id = parameters.id(parameter);
        let delta = deltas.contains(parameter);
        TriggerInput { parameter: Arc::clone(&parameters.get(id).name), id, delta }
    };
    plan.trigger.parameters().into_iter().map(input).collect()
}

/// The values as one task sees them.
pub(crate) struct View<'a> {
    inputs: &'a [TriggerInput],
    parameters: &'a Parameters,
    remembered: &'a Seen,
}

impl Values for View<'_> {
    fn current(&self, of: &Parameter) -> Option<Value> {
        let place = self.inputs.binary_search_by(|input| (*input.parameter).cmp(of)).ok()?;
        self.parameters.value(self.inputs[place].id)
    }

    fn remembered(&self, of: &Parameter) -> Option<Value> {
        self.remembered.get(of).copied()
    }
}

impl View<'_> {
    /// The next moment at which time alone may make the trigger hold. Only a leaf that requires the
    /// current chunk can become true as time passes, when its value is in a later chunk; other
    /// leaves can only become false.
    pub(crate) fn wake(&self, plan: &Plan, now: Timestamp) -> Option<Timestamp> {
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
