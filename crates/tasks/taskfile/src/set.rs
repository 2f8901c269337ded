//! All tasks of all files.

use crate::problem::{Errors, Problem};
use crate::task::{Limits, Task, TaskName};
use std::collections::BTreeMap;
use std::sync::Arc;
use triggers::{Calendar, Parameter};

/// All tasks of all files, checked and immutable. [`difference`](crate::difference) compares two
/// sets.
#[derive(Clone, Debug, Default)]
pub struct TaskSet {
    tasks: BTreeMap<TaskName, Arc<Task>>,
    calendar: Calendar,
    limits: Limits,
    warnings: Vec<Problem>,
    more_warnings: usize,
    readers: BTreeMap<Parameter, Vec<TaskName>>,
    writers: BTreeMap<Parameter, Vec<TaskName>>,
}

impl TaskSet {
    /// Reads files, each a name for messages and a text, in any order. Accepts all tasks, or none
    /// and returns everything that is wrong.
    ///
    /// ```
    /// let file = "tasks:\n  report:\n    when: {new_day: sales.loaded_to}\n    run: ./report.sh\n";
    /// let set = taskfile::TaskSet::read(vec![("report.yaml".into(), file.into())])?;
    /// assert_eq!(set.readers_of(&"sales.loaded_to".parse().unwrap())[0].as_str(), "report");
    /// # Ok::<(), taskfile::Errors>(())
    /// ```
    pub fn read(files: Vec<(String, String)>) -> Result<Self, Errors> {
        crate::read::read(files)
    }

    pub(crate) fn new(
        tasks: BTreeMap<TaskName, Arc<Task>>,
        calendar: Calendar,
        limits: Limits,
        warnings: Vec<Problem>,
        more_warnings: usize,
    ) -> Self {
        let mut readers: BTreeMap<Parameter, Vec<TaskName>> = BTreeMap::new();
        let mut writers: BTreeMap<Parameter, Vec<TaskName>> = BTreeMap::new();
        for task in tasks.values() {
            for parameter in task.trigger.parameters() {
                readers.entry(parameter.clone()).or_default().push(task.name.clone());
            }
            for parameter in task.outputs() {
                writers.entry(parameter.clone()).or_default().push(task.name.clone());
            }
        }
        Self { tasks, calendar, limits, warnings, more_warnings, readers, writers }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    #[must_use]
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = &Arc<Task>> {
        self.tasks.values()
    }

    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Task>> {
        self.tasks.get(name)
    }

    /// The calendar of tasks without one of their own.
    #[must_use]
    pub const fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// By file, line and column; the first [`WARNINGS_MAX`](crate::limits::WARNINGS_MAX).
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// Warnings beyond these.
    #[must_use]
    pub const fn more_warnings(&self) -> usize {
        self.more_warnings
    }

    /// The tasks whose triggers read a parameter, references included, by name: those to check when
    /// it changes.
    #[must_use]
    pub fn readers_of(&self, parameter: &Parameter) -> &[TaskName] {
        self.readers.get(parameter).map_or(&[], Vec::as_slice)
    }

    /// The tasks that set or produce a parameter, by name.
    #[must_use]
    pub fn writers_of(&self, parameter: &Parameter) -> &[TaskName] {
        self.writers.get(parameter).map_or(&[], Vec::as_slice)
    }

    #[must_use]
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &Parameter> {
        self.readers.keys()
    }
}
