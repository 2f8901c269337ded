//! R5, R6: when tasks fire, and what is remembered.

use triggers::Value::Number;

use super::kit::*;
use crate::{Alert, Change, Phase, Plan, Step};
use triggers::{Group, Trigger};

#[test]
fn a_new_task_fires_as_soon_as_its_parameter_has_a_value() {
    let mut kit = Kit::new(8, vec![counts("report", "sales.rows")]);
    assert_eq!(kit.starts(), [""; 0]);
    assert_eq!(kit.set("sales.rows", 7), ["report"]);
}

#[test]
fn what_is_remembered_is_what_the_check_saw_and_only_after_success() {
    let mut kit = Kit::new(8, vec![counts("report", "sales.rows")]);
    kit.set("sales.rows", 7);
    kit.set("sales.rows", 9);
    assert_eq!(kit.remembered("report"), seen(&[]));
    kit.fail("report");
    assert_eq!(kit.remembered("report"), seen(&[]));
    assert_eq!(kit.pass("30s"), ["report"]);
    kit.set("sales.rows", 9);
    kit.put("sales.rows", Number(12));
    assert_eq!(kit.succeed("report"), ["report"]);
    assert_eq!(kit.remembered("report"), seen(&[("sales.rows", Number(9))]));
}

#[test]
fn a_change_touches_only_the_tasks_of_its_parameter() {
    let mut kit = Kit::new(8, vec![counts("sales", "sales.rows"), counts("orders", "orders.rows")]);
    kit.put("sales.rows", Number(1));
    let decisions = kit.settle();
    assert_eq!(decisions.iter().map(|decision| &*decision.task).collect::<Vec<_>>(), ["sales"]);
    kit.put("nobody.asks", Number(1));
    assert_eq!(kit.settle(), []);
}

/// A level-triggered system must not lose one of two changes: here a value changes while the run
/// that saw the earlier one is current, twice, and between two evaluations.
#[test]
fn a_change_during_the_run_that_saw_the_earlier_value_leads_to_one_more_run() {
    let trigger = Trigger::Any(vec![Group::Leaf(grew("a.rows", 1)), Group::Leaf(grew("b.rows", 1))]);
    let mut kit = Kit::new(8, vec![Plan::new("t", trigger)]);
    kit.set("a.rows", 1);
    kit.set("b.rows", 1);
    kit.succeed("t");
    kit.succeed("t");
    assert_eq!(kit.starts(), [""; 0], "idle");
    assert_eq!(kit.set("a.rows", 2), ["t"], "after a");
    assert_eq!(kit.set("b.rows", 2), [""; 0], "b changes while the run that saw a is under way");
    assert_eq!(kit.set("b.rows", 3), [""; 0], "and again");
    assert_eq!(kit.succeed("t"), ["t"], "one more run for b");
    let both = seen(&[("a.rows", Number(2)), ("b.rows", Number(3))]);
    assert_eq!(kit.succeed("t"), [""; 0]);
    assert_eq!(kit.remembered("t"), both);
}

#[test]
fn a_change_between_two_evaluations_and_one_in_the_moment_of_the_commit_are_not_lost() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 1);
    let (run, _) = kit.state("t").running().unwrap();
    kit.planner.run_ended("t", run, crate::Outcome::success(), kit.now);
    let ended = kit.planner.decide(kit.now);
    kit.put("a.rows", Number(2));
    assert_eq!(kit.planner.decide(kit.now), []);
    kit.put("a.rows", Number(3));
    kit.planner.commit_all(&ended);
    assert_eq!(kit.starts(), ["t"]);
    kit.succeed("t");
    assert_eq!(kit.remembered("t"), seen(&[("a.rows", Number(3))]));
}

#[test]
fn the_time_alone_wakes_a_task_at_the_computed_moment() {
    let trigger = all(&[new_day("sales.loaded_to"), today("sales.loaded_to")]);
    let mut kit = Kit::new(8, vec![Plan::new("report", trigger)]);
    assert_eq!(kit.set_time("sales.loaded_to", "2021-04-26T05:00:00Z"), [""; 0]);
    assert_eq!(kit.planner.next_moment(), Some(at("2021-04-26T00:00:00Z")));
    kit.now = at("2021-04-25T23:59:59Z");
    assert_eq!(kit.starts(), [""; 0]);
    assert_eq!(kit.pass("1s"), ["report"]);
    assert_eq!(kit.planner.next_moment(), None);
}

#[test]
fn a_task_that_leaves_the_queue_is_checked_again_with_the_values_of_that_moment() {
    let late = Plan::new("late", all(&[grew("b.rows", 1), fresh("c.loaded_to", "1h")]));
    let mut kit = Kit::new(1, vec![counts("first", "a.rows"), late]);
    kit.set("a.rows", 1);
    kit.put("b.rows", Number(1));
    kit.put("c.loaded_to", time("2021-04-25T10:00:00Z"));
    assert_eq!(kit.starts(), [""; 0]);
    assert!(matches!(kit.state("late").phase, Phase::Queued { .. }));
    kit.set("b.rows", 5);
    kit.pass("30m");
    assert_eq!(kit.succeed("first"), ["late"]);
    let saw = seen(&[("b.rows", Number(5)), ("c.loaded_to", time("2021-04-25T10:00:00Z"))]);
    assert!(matches!(&kit.state("late").phase, Phase::Running { seen, .. } if *seen == saw));
}

#[test]
fn a_task_whose_trigger_no_longer_holds_when_its_turn_comes_is_idle_again_and_says_so() {
    let late = Plan::new("late", all(&[grew("b.rows", 1), fresh("c.loaded_to", "1h")]));
    let mut kit = Kit::new(1, vec![counts("first", "a.rows"), late]);
    kit.set("a.rows", 1);
    kit.put("b.rows", Number(1));
    kit.put("c.loaded_to", time("2021-04-25T10:00:00Z"));
    kit.settle();
    kit.pass("61m");
    let decisions = kit.end("first", crate::Outcome::success());
    let late = decisions.iter().find(|decision| &*decision.task == "late").unwrap();
    assert_eq!(late.why, [Step::NoLongerHolds]);
    assert_eq!(late.after.phase, Phase::Idle);
    assert_eq!(kit.set_time("c.loaded_to", "2021-04-25T11:00:00Z"), ["late"]);
}

#[test]
fn a_success_sets_values_before_anybody_is_looked_at() {
    let mut load = counts("load", "raw.rows");
    load.sets.insert(parameter("sales.rows"), crate::SetTo::Seen(parameter("raw.rows")));
    load.sets.insert(parameter("sales.loaded_to"), crate::SetTo::Now);
    let mut kit = Kit::new(8, vec![load, counts("report", "sales.rows")]);
    kit.set("raw.rows", 4);
    kit.now += duration("5m");
    assert_eq!(kit.succeed("load"), ["report"]);
    assert_eq!(kit.planner.value(&parameter("sales.rows")), Some(Number(4)));
    let checked = Some(time("2021-04-25T10:00:00Z"));
    assert_eq!(kit.planner.value(&parameter("sales.loaded_to")), checked, "the moment of the check");
}

#[test]
fn a_parameter_that_is_new_in_a_trigger_fires_it_and_a_known_one_does_not() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 1);
    kit.succeed("t");
    kit.set("b.rows", 1);
    let both = |b: &str| {
        let any = Trigger::Any(vec![Group::Leaf(grew("a.rows", 1)), Group::Leaf(grew(b, 1))]);
        vec![Change::Put(Box::new(Plan::new("t", any)))]
    };
    kit.planner.plans_changed(None, both("nobody.rows"), kit.now);
    assert_eq!(kit.starts(), [""; 0]);
    kit.planner.plans_changed(None, both("b.rows"), kit.now);
    assert_eq!(kit.starts(), ["t"]);
}

#[test]
fn a_task_that_is_gone_keeps_its_place_until_its_run_has_ended_and_never_fires_again() {
    let mut kit = Kit::new(1, vec![counts("gone", "a.rows"), counts("other", "b.rows")]);
    kit.set("a.rows", 1);
    kit.set("b.rows", 1);
    kit.planner.plans_changed(None, vec![Change::Gone("gone".into())], kit.now);
    assert_eq!(kit.set("a.rows", 2), [""; 0]);
    assert_eq!(kit.succeed("gone"), ["other"]);
    assert_eq!(kit.remembered("gone"), seen(&[("a.rows", Number(1))]));
    assert_eq!(kit.succeed("other"), [""; 0]);
    kit.planner.plans_changed(None, vec![Change::Put(Box::new(counts("gone", "a.rows")))], kit.now);
    assert_eq!(kit.starts(), ["gone"], "it is back, and knows what it has seen");
    assert_eq!(kit.state("gone").runs, 2);
}

#[test]
fn a_deleted_value_never_fires_and_one_that_comes_back_does() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 5);
    kit.succeed("t");
    kit.planner.value_changed(&parameter("a.rows"), None);
    assert_eq!(kit.starts(), [""; 0]);
    assert_eq!(kit.set("a.rows", 5), [""; 0], "it is what is remembered");
    assert_eq!(kit.set("a.rows", 6), ["t"]);
    assert!(!kit.state("t").regressed.contains_key(&parameter("a.rows")));
    let alerts: Vec<Alert> = kit.settle().into_iter().flat_map(|decision| decision.alerts).collect();
    assert_eq!(alerts, []);
}
