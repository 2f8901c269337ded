//! What a person can do about a parameter that was moved back.

use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use super::entry::Slot;
use super::{Board, TaskId, TaskName};

/// A parameter that is below what is remembered of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    /// Which.
    pub parameter: Parameter,
    /// What it is.
    pub current: Value,
    /// What is remembered: the task fires again when it has come past this.
    pub remembered: Value,
    /// When that was noticed; `None` if it is not committed yet.
    pub since: Option<Timestamp>,
    /// Each of these mends it.
    pub mends: Vec<Mend>,
}

/// Something that mends a regression. As text: the command to type, with the reason left to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Remember the value of now: the task fires when the parameter grows from there.
    Set {
        /// The task.
        task: TaskName,
        /// What of it.
        parameter: Parameter,
        /// To this.
        value: Value,
    },
    /// Forget it: the task fires at once.
    Delete {
        /// The task.
        task: TaskName,
        /// What of it.
        parameter: Parameter,
    },
    /// Run it now, and remember the values of now if that succeeds.
    RunAndRecord {
        /// The task.
        task: TaskName,
    },
}

impl fmt::Display for Mend {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { task, parameter, value } => {
                write!(
                    out,
                    "torg tasks state set {} {parameter} {value} --reason '...'",
                    text::shell::quoted(task)
                )
            }
            Self::Delete { task, parameter } => {
                write!(
                    out,
                    "torg tasks state delete {} {parameter} --reason '...'",
                    text::shell::quoted(task)
                )
            }
            Self::RunAndRecord { task } => {
                write!(out, "torg tasks run {} --record --reason '...'", text::shell::quoted(task))
            }
        }
    }
}

impl Board {
    /// What was moved back below what is remembered of the task.
    pub(super) fn regressions(&self, task: TaskId) -> Vec<Regression> {
        let entry = &self.entries[task as usize];
        let regression = |slot: &Slot| {
            let parameter = (*slot.parameter).clone();
            let current = self.catalogue.value(slot.id)?;
            let remembered = *entry.state.remembered.get(&parameter)?;
            let since = entry.state.regressed.get(&parameter).copied();
            let task = entry.name.clone();
            let mends = vec![
                Mend::Set { task: task.clone(), parameter: parameter.clone(), value: current },
                Mend::Delete { task: task.clone(), parameter: parameter.clone() },
                Mend::RunAndRecord { task },
            ];
            Some(Regression { parameter, current, remembered, since, mends })
        };
        let slots = entry.slots.iter().filter(|slot| entry.is_regressed(slot, &self.catalogue));
        slots.filter_map(regression).collect()
    }
}
