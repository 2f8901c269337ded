//! The cost of an evaluation.

use triggers::Value::Number;

use super::kit::*;
use crate::{Plan, Planner, Snapshot};

/// Tasks that never fire, with three parameters each.
fn idle(tasks: usize) -> Kit {
    let plans = (0..tasks).map(|number| {
        let of = |place: usize| format!("table{}.rows", (number + place) % (tasks / 5).max(3));
        let leaves = [grew(&of(0), 1_000_000), grew(&of(1), 1_000_000), grew(&of(2), 1_000_000)];
        let mut plan = Plan::new(&format!("task{number}"), all(&leaves));
        plan.max_silence = Some(duration("1000d"));
        plan
    });
    let now = at("2021-04-25T10:00:00Z");
    let input = Snapshot { plans: plans.collect(), ..Snapshot::default() };
    let mut kit = Kit { planner: Planner::new(input, now), now };
    kit.settle();
    kit
}

#[test]
fn a_task_that_is_looked_at_and_does_not_fire_costs_no_allocation() {
    let mut kit = idle(100);
    for table in 0..20 {
        kit.put(&format!("table{table}.rows"), Number(5));
    }
    kit.settle();
    let running = |kit: &Kit| kit.planner.running().next().map(|(task, ..)| task.to_string());
    while let Some(task) = running(&kit) {
        kit.succeed(&task);
    }
    // The list of dirty tasks has its capacity by now.
    kit.put("table7.rows", Number(6));
    assert_eq!(kit.settle(), []);
    let parameter = parameter("table7.rows");
    let used = allocation_counter::measure(|| {
        for number in 7..1000 {
            kit.planner.value_changed(&parameter, Some(Number(number)));
            assert!(kit.planner.decide(kit.now).is_empty());
        }
    });
    assert_eq!(used.count_total, 0);
}

#[test]
fn nor_does_one_that_waits_for_the_time() {
    let plan = Plan::new("t", all(&[grew("a.rows", 1), fresh("b.loaded_to", "1h"), today("c.loaded_to")]));
    let mut kit = Kit::new(8, vec![plan]);
    kit.put("b.loaded_to", time("2021-04-25T10:00:00Z"));
    kit.put("c.loaded_to", time("2021-04-26T10:00:00Z"));
    assert_eq!(kit.set("a.rows", 1), [""; 0]);
    let parameter = parameter("a.rows");
    let used = allocation_counter::measure(|| {
        for number in 7..1000 {
            kit.planner.value_changed(&parameter, Some(Number(number)));
            assert!(kit.planner.decide(kit.now).is_empty());
        }
    });
    assert_eq!(used.count_total, 0);
    assert_eq!(kit.planner.next_moment(), Some(at("2021-04-26T00:00:00Z")));
}

#[test]
fn one_change_looks_at_as_many_tasks_on_a_large_board_as_on_a_small_one() {
    for tasks in [50, 5000] {
        let mut kit = idle(tasks);
        kit.put("table3.rows", Number(5));
        assert_eq!(kit.planner.dirty.len(), 15, "of {tasks}");
    }
}

#[test]
fn so_much_is_decided_at_once_and_no_more() {
    let plans = (0..crate::limits::DECISIONS_MAX + 10).map(|number| counts(&format!("t{number}"), "a.rows"));
    let now = at("2021-04-25T10:00:00Z");
    let mut planner = Planner::new(Snapshot { plans: plans.collect(), ..Snapshot::default() }, now);
    let first = planner.decide(now);
    assert_eq!(first.len(), crate::limits::DECISIONS_MAX);
    assert_eq!(planner.next_moment(), Some(now), "there is more to do");
    planner.commit_all(&first);
    let mut rest = planner.decide(now);
    assert!(rest.len() <= 10 && !rest.is_empty());
    while !rest.is_empty() {
        planner.commit_all(&rest);
        rest = planner.decide(now);
    }
    assert_eq!(planner.next_moment(), None);
}
