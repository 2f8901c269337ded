//! What a new configuration would start at once.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use planner::deploy::{Deployment, plan};
use planner::{Cause, Phase, Plan, Seen, TaskName, TaskState};
use triggers::{Amount, Check, Group, Leaf, Parameter, Trigger, Value};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn of(text: &str) -> Parameter {
    text.parse().unwrap()
}

fn grew(parameter: &str) -> Leaf {
    Leaf { of: of(parameter), check: Check::Delta { by: Amount::Number(1) } }
}

fn task(name: &str, parameters: &[&str]) -> Plan {
    let leaves = parameters.iter().map(|parameter| Group::Leaf(grew(parameter)));
    Plan::new(name, Trigger::Any(leaves.collect()))
}

fn values() -> Seen {
    BTreeMap::from([(of("a.rows"), Value::Number(5)), (of("b.rows"), Value::Number(5))])
}

/// A task that has seen the values of now.
fn done(parameters: &[&str]) -> TaskState {
    let mut state = TaskState::new(at("2021-04-01T00:00:00Z"));
    state.version = 1;
    state.remembered =
        values().into_iter().filter(|(of, _)| parameters.contains(&of.to_string().as_str())).collect();
    state
}

fn deployed(old: &[Plan], states: &[(&str, TaskState)], new: &[Plan]) -> Deployment {
    let states = states.iter().map(|(name, state)| (TaskName::from(*name), state.clone())).collect();
    plan(old, &states, new, &values(), at("2021-04-25T00:00:00Z"))
}

fn names(deployment: &Deployment) -> Vec<&str> {
    deployment.fires.iter().map(|fires| &*fires.task).collect()
}

#[test]
fn a_new_task_fires_at_once_if_its_parameters_have_values() {
    let deployment = deployed(&[], &[], &[task("new", &["a.rows"]), task("waits", &["nobody.rows"])]);
    assert_eq!(names(&deployment), ["new"]);
    assert!(deployment.fires[0].is_new);
    assert_eq!(deployment.fires[0].first_seen, BTreeSet::from([of("a.rows")]));
    let expected = "\
tasks: 2 new, 0 changed, 0 gone
  new: new
  new: waits
fire at once: 1
new: fires
+ any[0]: a.rows grew by 1 or more: holds, as nothing is remembered yet
    current 5, nothing remembered, needed at least 1
    nothing is remembered of a.rows: the task is new";
    assert_eq!(deployment.to_string(), expected);
}

#[test]
fn a_task_fires_at_once_for_a_parameter_that_is_new_in_its_trigger_and_not_for_one_that_it_knows() {
    let old = [task("t", &["a.rows"]), task("same", &["a.rows"])];
    let states = [("t", done(&["a.rows"])), ("same", done(&["a.rows"]))];
    let deployment = deployed(&old, &states, &[task("t", &["a.rows", "b.rows"]), task("same", &["a.rows"])]);
    assert_eq!(names(&deployment), ["t"]);
    assert_eq!(deployment.fires[0].first_seen, BTreeSet::from([of("b.rows")]));
    assert_eq!(deployment.changed, BTreeMap::from([("t".into(), vec!["trigger"])]));
    let known = deployed(&old, &states, &[task("t", &["a.rows", "nobody.rows"]), task("same", &["a.rows"])]);
    assert_eq!(names(&known), [""; 0]);
    assert!(known.to_string().ends_with("no task fires at once because of it"));
}

#[test]
fn a_task_that_fires_anyway_is_not_due_to_the_deployment() {
    let mut behind = done(&["a.rows"]);
    behind.remembered.insert(of("a.rows"), Value::Number(1));
    let old = [task("t", &["a.rows"])];
    let new = [Plan { priority: 9, ..task("t", &["a.rows"]) }];
    assert_eq!(names(&deployed(&old, &[("t", behind)], &new)), [""; 0]);
}

#[test]
fn a_paused_task_does_not_fire_and_one_that_is_no_longer_paused_does() {
    let paused = Plan { paused: true, ..task("t", &["a.rows"]) };
    assert_eq!(names(&deployed(&[], &[], std::slice::from_ref(&paused))), [""; 0]);
    let known = [("t", done(&[]))];
    assert_eq!(names(&deployed(&[paused], &known, &[task("t", &["a.rows"])])), ["t"]);
}

#[test]
fn the_run_of_a_task_that_is_gone_goes_on() {
    let mut running = done(&["a.rows"]);
    let since = at("2021-04-24T00:00:00Z");
    running.phase = Phase::Running { run: 1, since, seen: values(), cause: Cause::Trigger };
    let old = [task("runs", &["a.rows"]), task("idle", &["a.rows"])];
    let deployment = deployed(&old, &[("runs", running), ("idle", done(&["a.rows"]))], &[]);
    assert_eq!(deployment.gone, ["idle".into(), "runs".into()] as [TaskName; 2]);
    assert_eq!(deployment.gone_running, ["runs".into()] as [TaskName; 1]);
    assert!(deployment.to_string().contains("gone: runs, its run goes on"));
}
