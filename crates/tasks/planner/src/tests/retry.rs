//! R8: failed runs are tried again.

use jiff::SignedDuration;

use super::kit::*;
use crate::{Alert, Change, Outcome, Phase, Plan, Retry};

fn plan(limit: Option<u32>) -> Plan {
    let retry = Retry { first: duration("10s"), most: duration("25s"), failing_after: 2, limit };
    Plan { retry, ..counts("t", "a.rows") }
}

#[test]
fn pauses_double_up_to_the_longest() {
    let retry = plan(None).retry;
    let pauses = [1, 2, 3, 4, 31, 32, 33, 1000, u32::MAX].map(|failures| retry.pause(failures).as_secs());
    assert_eq!(pauses, [10, 20, 25, 25, 25, 25, 25, 25, 25]);
    assert_eq!(Retry { first: SignedDuration::MAX, ..retry }.pause(5).as_secs(), 25);
}

#[test]
fn a_failed_run_is_tried_again_after_a_pause_with_the_values_of_then_for_ever() {
    let mut kit = Kit::new(8, vec![plan(None)]);
    kit.set("a.rows", 1);
    kit.fail("t");
    assert_eq!(kit.state("t").phase, Phase::Waiting { until: at("2021-04-25T10:00:10Z") });
    assert_eq!(kit.set("a.rows", 2), [""; 0], "a change does not cut the pause short");
    assert_eq!(kit.planner.next_moment(), Some(at("2021-04-25T10:00:10Z")));
    assert_eq!(kit.pass("10s"), ["t"]);
    kit.fail("t");
    assert_eq!(kit.pass("19s"), [""; 0]);
    assert_eq!(kit.pass("1s"), ["t"]);
    for _ in 0..20 {
        kit.fail("t");
        assert_eq!(kit.pass("25s"), ["t"]);
    }
    kit.succeed("t");
    assert_eq!((kit.state("t").attempts, kit.state("t").error.clone()), (0, None));
    assert_eq!(kit.remembered("t"), seen(&[("a.rows", triggers::Value::Number(2))]));
}

#[test]
fn it_is_told_once_that_a_task_is_failing_and_once_that_it_is_not() {
    let mut kit = Kit::new(8, vec![plan(None)]);
    let alerts = |decisions: Vec<crate::Decision>| -> Vec<Alert> {
        decisions.into_iter().flat_map(|decision| decision.alerts).collect()
    };
    kit.set("a.rows", 1);
    assert_eq!(alerts(kit.fail("t")), []);
    assert_eq!((kit.planner.count().failing, kit.planner.unhealthy(10).failing.len()), (0, 0));
    kit.pass("10s");
    let failing = Alert::Failing { attempts: 2, error: "exit code 1".to_owned() };
    assert_eq!(alerts(kit.fail("t")), [failing]);
    let named = kit.planner.unhealthy(10).failing.remove(0);
    assert_eq!((&*named.0, named.1.attempts, named.1.error.as_deref()), ("t", 2, Some("exit code 1")));
    assert!(kit.planner.count().failing == 1 && kit.planner.unhealthy(0).failing.is_empty());
    kit.pass("25s");
    assert_eq!(alerts(kit.end("t", Outcome::Lost)), []);
    kit.pass("25s");
    assert_eq!(alerts(kit.end("t", Outcome::success())), [Alert::Recovered]);
}

#[test]
fn who_was_told_that_a_task_gave_up_is_told_when_it_succeeds_with_another_value() {
    let mut kit = Kit::new(8, vec![plan(Some(1))]);
    let alerts = |decisions: Vec<crate::Decision>| -> Vec<Alert> {
        decisions.into_iter().flat_map(|decision| decision.alerts).collect()
    };
    kit.set("a.rows", 1);
    assert_eq!(alerts(kit.fail("t")), [Alert::GaveUp { attempts: 1 }]);
    assert_eq!(kit.set("a.rows", 2), ["t"]);
    assert_eq!(alerts(kit.end("t", Outcome::success())), [Alert::Recovered]);
    assert_eq!(kit.set("a.rows", 3), ["t"]);
    assert_eq!(alerts(kit.end("t", Outcome::success())), []);
}

#[test]
fn with_a_limit_it_rests_until_a_value_changes() {
    let mut kit = Kit::new(8, vec![plan(Some(2))]);
    kit.set("a.rows", 1);
    kit.fail("t");
    kit.pass("10s");
    kit.fail("t");
    assert!(matches!(kit.state("t").phase, Phase::Resting { .. }));
    assert_eq!(kit.pass("1d"), [""; 0]);
    assert_eq!(kit.set("a.rows", 2), ["t"]);
    assert_eq!(kit.state("t").attempts, 0, "another value, another count");
}

#[test]
fn a_trigger_that_no_longer_holds_after_the_pause_lets_the_task_be_idle() {
    let trigger = all(&[grew("a.rows", 1), fresh("b.loaded_to", "1m")]);
    let mut kit = Kit::new(8, vec![Plan { trigger, ..plan(None) }]);
    kit.put("b.loaded_to", time("2021-04-25T10:00:00Z"));
    assert_eq!(kit.set("a.rows", 1), ["t"]);
    kit.pass("55s");
    kit.fail("t");
    assert_eq!(kit.pass("10s"), [""; 0]);
    assert_eq!(kit.state("t").phase, Phase::Idle);
    assert_eq!(kit.state("t").attempts, 1, "it has not succeeded since");
}

#[test]
fn a_run_that_ended_while_nobody_looked_waits_from_its_end_on() {
    let mut kit = Kit::new(8, vec![plan(None)]);
    kit.set("a.rows", 1);
    let ended = kit.now;
    kit.now += duration("1h");
    kit.planner.run_ended("t", 1, Outcome::Lost, ended);
    assert_eq!(kit.starts(), ["t"], "the pause is long over");
}

#[test]
fn a_task_whose_definition_was_gone_when_its_run_failed_is_looked_at_as_soon_as_it_comes_back() {
    let mut kit = Kit::new(8, vec![plan(None)]);
    kit.set("a.rows", 1);
    let now = at("2021-04-25T10:00:00Z");
    kit.planner.plans_changed(None, vec![Change::Gone("t".into())], now);
    kit.fail("t");
    assert_eq!((&kit.state("t").phase, kit.state("t").attempts), (&Phase::Idle, 1));
    kit.planner.plans_changed(None, vec![Change::Put(Box::new(plan(None)))], now);
    assert_eq!(kit.starts(), ["t"]);
}
