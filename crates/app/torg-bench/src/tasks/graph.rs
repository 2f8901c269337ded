//! The task graph under measurement: the same as in `bench/peers/dagster/graph.py`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Tasks for each value.
pub(super) const TASKS_A_PARAMETER: u64 = 5;

/// The values that a task waits for, by number.
pub(super) fn reads(task: u64, parameters: u64) -> BTreeSet<u64> {
    [task, task * 7 + 1, task * 13 + 2].map(|number| number % parameters).into()
}

/// The tasks that wait for a value.
pub(super) fn readers(parameter: u64, tasks: u64) -> BTreeSet<u64> {
    let parameters = tasks / TASKS_A_PARAMETER;
    (0..tasks).filter(|task| reads(*task, parameters).contains(&parameter)).collect()
}

pub(super) fn parameter_name(number: u64) -> String {
    format!("bench.parameter_{number}")
}

pub(super) fn task_name(number: u64) -> String {
    format!("task_{number}")
}

/// A task file in which each task runs this command when one of its values has grown.
pub(super) fn task_file(tasks: u64, run: &str) -> String {
    let parameters = tasks / TASKS_A_PARAMETER;
    let mut text = "limits: {running: 100000}\ntasks:\n".to_owned();
    for task in 0..tasks {
        let conditions: Vec<String> = reads(task, parameters)
            .into_iter()
            .map(|number| format!("{{grew: {{of: {}, by: 1}}}}", parameter_name(number)))
            .collect();
        let _ = writeln!(
            text,
            "  {}:\n    when: {{any: [{}]}}\n    run: {run}",
            task_name(task),
            conditions.join(", ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_fifteen_tasks_and_every_task_three_values() {
        for tasks in [1000, 20_000] {
            let parameters = tasks / TASKS_A_PARAMETER;
            assert!((0..tasks).all(|task| reads(task, parameters).len() == 3));
            assert!([0, 5, 77].into_iter().all(|parameter| readers(parameter, tasks).len() == 15));
        }
    }

    #[test]
    fn the_file_is_a_task_file() {
        let set = taskfile::TaskSet::read(vec![("bench.yaml".into(), task_file(100, "[\"true\"]"))]).unwrap();
        assert_eq!(set.len(), 100);
    }
}
