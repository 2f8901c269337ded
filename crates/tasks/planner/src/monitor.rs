//! Alerts: parameters that moved back, and silence.

use jiff::Timestamp;
use triggers::Parameter;

use crate::decision::{Alert, Step};
use crate::planner::TaskId;
use crate::{Planner, after};

impl Planner {
    /// Notes regressions, and whether the task has been silent for too long.
    pub(crate) fn watch(&mut self, task: TaskId, now: Timestamp) {
        self.watch_values(task, now);
        self.watch_silence(task, now);
    }

    fn watch_values(&mut self, task: TaskId, now: Timestamp) {
        let entry = &self.entries[task as usize];
        let mut noted = 0;
        let news = entry.inputs.iter().any(|input| {
            let is = entry.is_regressed(input, &self.parameters);
            noted += usize::from(is);
            is != entry.state.regressed.contains_key(&*input.parameter)
        });
        if !news && noted == entry.state.regressed.len() {
            return;
        }
        let is: Vec<Parameter> = entry
            .inputs
            .iter()
            .filter(|input| entry.is_regressed(input, &self.parameters))
            .map(|input| (*input.parameter).clone())
            .collect();
        let known = entry.state.regressed.clone();
        let ended = known.keys().filter(|parameter| !is.contains(parameter));
        let ended = ended.map(|parameter| Alert::RegressionEnded { parameter: parameter.clone() });
        let moved = is.iter().filter(|parameter| !known.contains_key(*parameter));
        let moved = moved.map(|parameter| Alert::Regressed { parameter: parameter.clone() });
        let alerts: Vec<Alert> = ended.chain(moved).collect();
        let pending = self.touch(task);
        pending.alerts.extend(alerts);
        pending.why.push(Step::Moved);
        let since = |parameter: &Parameter| known.get(parameter).copied().unwrap_or(now);
        self.entries[task as usize].state.regressed =
            is.into_iter().map(|parameter| (parameter.clone(), since(&parameter))).collect();
    }

    fn watch_silence(&mut self, task: TaskId, now: Timestamp) {
        let state = &self.entries[task as usize].state;
        let since = state.last_success.unwrap_or(state.known_since);
        let noted = state.silent_since.is_some();
        let is = self.silence_allowed(task).is_some_and(|max| after(since, max) <= now);
        if is == noted {
            return;
        }
        let pending = self.touch(task);
        pending.alerts.push(if is { Alert::Silent { since } } else { Alert::SilenceEnded });
        pending.why.push(Step::Silence);
        self.entries[task as usize].state.silent_since = is.then_some(now);
    }

    /// How long a silence is allowed. A task paused by its definition may be silent.
    fn silence_allowed(&self, task: TaskId) -> Option<jiff::SignedDuration> {
        let entry = &self.entries[task as usize];
        entry.plan.as_ref().filter(|plan| !plan.paused || entry.state.resumed)?.max_silence
    }

    /// When the task will have been silent for too long, if that was not reported yet.
    pub(crate) fn silent_from(&self, task: TaskId) -> Option<Timestamp> {
        let state = &self.entries[task as usize].state;
        let since = state.last_success.unwrap_or(state.known_since);
        self.silence_allowed(task).map(|max| after(since, max)).filter(|_| state.silent_since.is_none())
    }
}
