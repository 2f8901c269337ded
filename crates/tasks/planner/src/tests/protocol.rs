//! How decisions are confirmed, refused, and repeated by a rebuilt planner.

use triggers::Value::Number;

use super::kit::*;
use crate::{Act, Decision, Outcome, Phase, Planner, Snapshot, TaskName, actions};

fn one(decisions: Vec<Decision>) -> Decision {
    let [decision] = <[Decision; 1]>::try_from(decisions).unwrap();
    decision
}

#[test]
fn a_task_that_fires_with_a_place_free_starts_in_one_decision() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.put("a.rows", Number(1));
    let decision = one(kit.planner.decide(kit.now));
    let Act::Start(start) = &decision.act else { panic!("{decision:?}") };
    assert_eq!((start.run, start.attempt), (1, 1));
    assert_eq!(start.seen, seen(&[("a.rows", Number(1))]));
    assert_eq!(decision.after.version, 2, "the first was that the task is known");
}

#[test]
fn nothing_is_decided_of_a_task_before_its_decision_is_answered() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.put("a.rows", Number(1));
    let decision = one(kit.planner.decide(kit.now));
    kit.put("a.rows", Number(2));
    assert_eq!(kit.planner.decide(kit.now), []);
    kit.planner.refused(&decision);
    let again = one(kit.planner.decide(kit.now));
    let Act::Start(start) = &again.act else { panic!("{again:?}") };
    assert_eq!(start.run, 1, "the number was not used");
    assert_eq!(start.seen, seen(&[("a.rows", Number(2))]));
    kit.planner.commit(&again);
    kit.planner.commit(&again);
    kit.planner.refused(&again);
    assert!(kit.state("t").running().is_some(), "what is answered is answered");
}

#[test]
fn a_conflict_with_a_person_is_decided_by_what_is_committed_in_whatever_order_it_is_told() {
    for told_first in [true, false] {
        let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
        let committed = kit.state("t").clone();
        kit.put("a.rows", Number(1));
        let decision = one(kit.planner.decide(kit.now));
        let paused = actions::pause(&committed, &signed()).unwrap();
        let name = TaskName::from("t");
        if told_first {
            kit.planner.state_changed(&name, paused.clone());
            kit.planner.refused(&decision);
        } else {
            kit.planner.refused(&decision);
            kit.planner.state_changed(&name, paused.clone());
        }
        assert_eq!(kit.planner.decide(kit.now), []);
        assert_eq!(kit.state("t"), &paused);
    }
}

#[test]
fn a_state_that_is_told_before_the_commit_that_it_follows_wins() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.put("a.rows", Number(1));
    let decision = one(kit.planner.decide(kit.now));
    let later = actions::pause(&decision.after, &signed()).unwrap();
    let name = TaskName::from("t");
    kit.planner.state_changed(&name, later.clone());
    kit.planner.commit(&decision);
    assert_eq!(kit.state("t"), &later);
    kit.planner.state_changed(&name, decision.after);
    assert_eq!(kit.state("t"), &later, "what is older does nothing");
}

#[test]
fn the_end_of_another_run_does_nothing() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 1);
    assert!(!kit.planner.run_ended("t", 7, Outcome::success(), kit.now));
    assert!(!kit.planner.run_ended("nobody", 1, Outcome::success(), kit.now));
    assert_eq!(kit.settle(), []);
    kit.succeed("t");
    assert!(!kit.planner.run_ended("t", 1, Outcome::Lost, kit.now));
    assert_eq!(kit.state("t").phase, Phase::Idle);
}

#[test]
fn a_board_that_is_built_anew_decides_as_the_old_one_would_have() {
    let plans = || vec![counts("t", "a.rows"), counts("u", "b.rows")];
    let mut kit = Kit::new(1, plans());
    kit.set("a.rows", 1);
    kit.set("b.rows", 1);
    let states = ["t", "u"].map(|name| (TaskName::from(name), kit.state(name).clone()));
    let limits = crate::Limits { running: 1, ..Default::default() };
    let values = seen(&[("a.rows", Number(2)), ("b.rows", Number(1))]);
    let input = Snapshot { limits, plans: plans(), states: states.into(), values };
    let mut again = Kit { planner: Planner::new(input, kit.now), now: kit.now };
    let running: Vec<(String, u64)> =
        again.planner.running().map(|(task, run, _)| (task.to_string(), run)).collect();
    assert_eq!(running, [("t".to_owned(), 1)]);
    assert_eq!(again.starts(), [""; 0], "the run under way takes the only place");
    again.pass("1s");
    assert_eq!(again.succeed("t"), ["u"], "the task that was queued keeps its place in the queue");
    assert_eq!(again.succeed("u"), ["t"]);
    assert_eq!(again.remembered("t"), seen(&[("a.rows", Number(1))]));
}

#[test]
fn what_a_commit_did_not_write_is_struck_out() {
    let mut load = counts("load", "raw.rows");
    load.sets.insert(parameter("sales.rows"), crate::SetTo::Number(3));
    let mut kit = Kit::new(8, vec![load, counts("report", "sales.rows")]);
    kit.set("raw.rows", 1);
    kit.planner.run_ended("load", 1, Outcome::success(), kit.now);
    let mut ended = one(kit.planner.decide(kit.now));
    let Act::End(end) = &mut ended.act else { panic!("{ended:?}") };
    assert_eq!(end.writes, seen(&[("sales.rows", Number(3))]));
    end.writes.clear();
    kit.planner.commit(&ended);
    assert_eq!(kit.starts(), [""; 0]);
}
