//! All tasks of all files.

use crate::problem::{Errors, Problem};
use crate::task::{Limits, Task, TaskName};
use std::collections::BTreeMap;
use std::sync::Arc;
use triggers::{Calendar, Parameter};

/// All tasks of all files, checked. It never changes; a change of the files is another set, and [`difference`](crate::difference)
/// tells what it changes.
#[derive(Clone, Debug, Default)]
pub struct TaskSet {
    tasks: BTreeMap<TaskName, Arc<Task>>,
    calendar: Calendar,
    limits: Limits,
    warnings: Vec<Problem>,
    more_warnings: usize,
    readers: BTreeMap<Parameter, Vec<TaskName>>,
    makers: BTreeMap<Parameter, Vec<TaskName>>,
}

impl TaskSet {
    /// Reads files, each a name for messages and a text; the order in which they are given does not matter. Either all of their
    /// tasks are taken, or none, with everything that is wrong.
    ///
    /// ```
    /// let file = "tasks:\n  report:\n    when: {new_day: sales.loaded_to}\n    run: ./report.sh\n";
    /// let set = taskfile::TaskSet::read(vec![("report.yaml".into(), file.into())])?;
    /// assert_eq!(set.tasks_of(&"sales.loaded_to".parse().unwrap())[0].as_str(), "report");
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
        let mut makers: BTreeMap<Parameter, Vec<TaskName>> = BTreeMap::new();
        for task in tasks.values() {
            for parameter in task.trigger.parameters() {
                add(&mut readers, parameter, &task.name);
            }
            for parameter in task.outputs() {
                add(&mut makers, parameter, &task.name);
            }
        }
        Self { tasks, calendar, limits, warnings, more_warnings, readers, makers }
    }

    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The tasks, by name.
    #[must_use]
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = &Arc<Task>> {
        self.tasks.values()
    }

    /// The task of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Task>> {
        self.tasks.get(name)
    }

    /// The calendar of tasks that have none of their own.
    #[must_use]
    pub const fn calendar(&self) -> &Calendar {
        &self.calendar
    }

    /// How much runs at the same time.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What somebody should look at, by file, line and column; the first [`WARNINGS_MAX`](crate::limits::WARNINGS_MAX).
    #[must_use]
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    /// How many warnings there are beyond these.
    #[must_use]
    pub const fn more_warnings(&self) -> usize {
        self.more_warnings
    }

    /// The tasks whose triggers look at a parameter, as a reference too, by name: those to check when it changes.
    #[must_use]
    pub fn tasks_of(&self, parameter: &Parameter) -> &[TaskName] {
        self.readers.get(parameter).map_or(&[], Vec::as_slice)
    }

    /// The tasks that set or produce a parameter, by name.
    #[must_use]
    pub fn makers_of(&self, parameter: &Parameter) -> &[TaskName] {
        self.makers.get(parameter).map_or(&[], Vec::as_slice)
    }

    /// Every parameter that a trigger looks at.
    #[must_use]
    pub fn parameters(&self) -> impl ExactSizeIterator<Item = &Parameter> {
        self.readers.keys()
    }
}

fn add(index: &mut BTreeMap<Parameter, Vec<TaskName>>, parameter: &Parameter, task: &TaskName) {
    match index.get_mut(parameter) {
        Some(tasks) => tasks.push(task.clone()),
        None => {
            index.insert(parameter.clone(), vec![task.clone()]);
        }
    }
}
