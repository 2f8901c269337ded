//! Parameters that moved back, and what an operator can do.

use std::fmt;

use jiff::Timestamp;
use triggers::{Parameter, Value};

use crate::entry::TriggerInput;
use crate::planner::TaskId;
use crate::{Planner, TaskName};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Regression {
    pub parameter: Parameter,
    pub current: Value,
    /// The task fires again once the parameter has passed this.
    pub remembered: Value,
    /// When it was noticed; `None` if that is not committed yet.
    pub since: Option<Timestamp>,
    /// Each of these fixes it. As text: the command to type, without the reason.
    pub fixes: Vec<Fix>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Remember the current value: the task fires when the parameter grows from there.
    Set { task: TaskName, parameter: Parameter, value: Value },
    /// Forget it: the task fires at once.
    Delete { task: TaskName, parameter: Parameter },
    /// Run it now, and remember the current values if that succeeds.
    RunAndRecord { task: TaskName },
}

impl fmt::Display for Fix {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Set { task, parameter, value } => {
                write!(out, "torg tasks state set {} {parameter} {value} --reason '...'", quoted(task))
            }
            Self::Delete { task, parameter } => {
                write!(out, "torg tasks state delete {} {parameter} --reason '...'", quoted(task))
            }
            Self::RunAndRecord { task } => {
                write!(out, "torg tasks run {} --record --reason '...'", quoted(task))
            }
        }
    }
}

pub(crate) fn quoted(word: &str) -> String {
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | ':' | '@');
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

impl Planner {
    /// Inputs of the task below their remembered values.
    pub(crate) fn regressions(&self, task: TaskId) -> Vec<Regression> {
        let entry = &self.entries[task as usize];
        let regression = |input: &TriggerInput| {
            let parameter = (*input.parameter).clone();
            let current = self.parameters.value(input.id)?;
            let remembered = *entry.state.remembered.get(&parameter)?;
            let since = entry.state.regressed.get(&parameter).copied();
            let task = entry.name.clone();
            let fixes = vec![
                Fix::Set { task: task.clone(), parameter: parameter.clone(), value: current },
                Fix::Delete { task: task.clone(), parameter: parameter.clone() },
                Fix::RunAndRecord { task },
            ];
            Some(Regression { parameter, current, remembered, since, fixes })
        };
        let inputs = entry.inputs.iter().filter(|input| entry.is_regressed(input, &self.parameters));
        inputs.filter_map(regression).collect()
    }
}
