//! R7: priorities, limits, pools.

use std::collections::BTreeMap;

use triggers::Value::Number;

use super::kit::*;
use crate::{Limits, Plan};

fn important(name: &str, of: &str, priority: i32) -> Plan {
    Plan { priority, ..counts(name, of) }
}

#[test]
fn the_more_important_goes_first_then_the_one_that_waits_longer_then_the_name() {
    let plans = vec![
        counts("busy", "busy.rows"),
        important("late_but_important", "c.rows", 5),
        counts("b_old", "a.rows"),
        counts("a_new", "b.rows"),
        counts("z_same", "d.rows"),
        counts("y_same", "d.rows"),
    ];
    let mut kit = Kit::new(1, plans);
    kit.set("busy.rows", 1);
    kit.set("a.rows", 1);
    kit.pass("1s");
    kit.set("b.rows", 1);
    kit.pass("1s");
    kit.set("d.rows", 1);
    kit.pass("1s");
    kit.set("c.rows", 1);
    let queue: Vec<String> = kit.planner.queue().iter().map(|(name, _)| name.to_string()).collect();
    assert_eq!(queue, ["late_but_important", "b_old", "a_new", "y_same", "z_same"]);
    let mut order = Vec::new();
    let mut running = vec!["busy".to_owned()];
    while let Some(task) = running.pop() {
        running = kit.succeed(&task);
        order.extend(running.clone());
    }
    assert_eq!(order, queue);
}

#[test]
fn a_full_pool_holds_up_nobody_else() {
    let pool = |plan: Plan| Plan { pool: Some("clickhouse".to_owned()), priority: 9, ..plan };
    let pools = BTreeMap::from([("clickhouse".to_owned(), Some(1))]);
    let plans = vec![pool(counts("one", "a.rows")), pool(counts("two", "a.rows")), counts("free", "a.rows")];
    let mut kit = Kit::with(Limits { running: 8, pools }, plans);
    assert_eq!(kit.set("a.rows", 1), ["one", "free"]);
    assert_eq!(kit.succeed("one"), ["two"]);
}

#[test]
fn limits_can_be_changed_and_with_none_nothing_starts() {
    let mut kit = Kit::new(0, vec![counts("t", "a.rows"), counts("u", "a.rows")]);
    assert_eq!(kit.set("a.rows", 1), [""; 0]);
    kit.planner.plans_changed(Some(&Limits { running: 1, ..Limits::default() }), vec![], kit.now);
    assert_eq!(kit.starts(), ["t"]);
    kit.planner.plans_changed(Some(&Limits { running: 2, ..Limits::default() }), vec![], kit.now);
    assert_eq!(kit.starts(), ["u"]);
}

#[test]
fn a_task_has_one_run_at_a_time() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    assert_eq!(kit.set("a.rows", 1), ["t"]);
    for number in 2..10 {
        assert_eq!(kit.set("a.rows", number), [""; 0]);
    }
    assert_eq!(kit.succeed("t"), ["t"]);
    assert_eq!(kit.remembered("t"), seen(&[("a.rows", Number(1))]));
}

#[test]
fn nobody_overtakes_a_task_whose_place_in_the_queue_is_being_written() {
    let mut kit =
        Kit::new(1, vec![important("high", "a.rows", 5), counts("low", "a.rows"), counts("x", "x.rows")]);
    kit.set("x.rows", 1);
    kit.put("a.rows", Number(1));
    let queued = kit.planner.decide(kit.now);
    assert_eq!(queued.len(), 2);
    let (run, _) = kit.state("x").running().unwrap();
    kit.planner.run_ended("x", run, crate::Outcome::success(), kit.now);
    let ended = kit.planner.decide(kit.now);
    kit.planner.commit_all(&ended);
    let low = queued.iter().find(|decision| &*decision.task == "low").unwrap();
    let high = queued.iter().find(|decision| &*decision.task == "high").unwrap();
    kit.planner.commit(low);
    assert_eq!(kit.starts(), [""; 0], "there is a place, but the more important task is not committed yet");
    kit.planner.commit(high);
    assert_eq!(kit.starts(), ["high"]);
}

#[test]
fn a_place_is_free_only_when_the_end_of_its_run_is_committed() {
    let mut kit = Kit::new(1, vec![counts("a", "a.rows"), counts("b", "b.rows")]);
    kit.set("a.rows", 1);
    kit.set("b.rows", 1);
    kit.planner.run_ended("a", 1, crate::Outcome::success(), kit.now);
    let ended = kit.planner.decide(kit.now);
    assert_eq!(started(&ended), []);
    assert_eq!(kit.planner.decide(kit.now), []);
    kit.planner.refused(&ended[0]);
    let ended = kit.planner.decide(kit.now);
    assert_eq!(started(&ended), [], "its end is told again, and b still waits");
    kit.planner.commit(&ended[0]);
    assert_eq!(kit.starts(), ["b"]);
}
