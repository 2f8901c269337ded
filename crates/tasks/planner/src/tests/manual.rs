//! R9: manual actions.

use triggers::Value::Number;

use super::kit::*;
use crate::Error;
use crate::{Cause, Phase, Plan, Signed, actions};

#[test]
fn a_run_by_hand_is_not_remembered_unless_it_is_asked_to() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 5);
    kit.succeed("t");
    kit.set("a.rows", 3);
    kit.act("t", |state| actions::run_now(state, false, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    kit.succeed("t");
    assert_eq!(kit.remembered("t"), seen(&[("a.rows", Number(5))]));
    kit.act("t", |state| actions::run_now(state, true, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    kit.succeed("t");
    assert_eq!(kit.remembered("t"), seen(&[("a.rows", Number(3))]));
    assert_eq!(kit.state("t").regressed.len(), 0);
}

#[test]
fn a_run_by_hand_that_fails_is_not_tried_again() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.act("t", |state| actions::run_now(state, true, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    kit.fail("t");
    assert_eq!(kit.state("t").phase, Phase::Idle);
    assert_eq!(kit.remembered("t"), seen(&[]));
    assert_eq!(kit.pass("1d"), [""; 0]);
}

#[test]
fn a_run_by_hand_waits_for_a_place_and_for_the_run_that_is_under_way() {
    let mut kit = Kit::new(1, vec![counts("t", "a.rows"), counts("u", "b.rows")]);
    kit.set("a.rows", 1);
    kit.act("t", |state| actions::run_now(state, false, &signed()));
    assert_eq!(kit.starts(), [""; 0]);
    kit.set("b.rows", 1);
    kit.pass("1s");
    assert_eq!(kit.succeed("t"), ["u"], "it stood in the queue before");
    assert_eq!(kit.succeed("u"), ["t"]);
    assert!(matches!(&kit.state("t").phase, Phase::Running { cause: Cause::Manual(_), .. }));
    let again = actions::run_now(kit.state("t"), false, &signed());
    assert!(again.is_ok(), "one is under way, one more may be asked for");
}

#[test]
fn a_run_that_is_asked_for_in_the_queue_takes_the_place_that_the_task_has() {
    let mut kit = Kit::new(1, vec![counts("busy", "x.rows"), counts("t", "a.rows")]);
    kit.set("x.rows", 1);
    kit.set("a.rows", 1);
    kit.now += duration("1m");
    kit.act("t", |state| actions::run_now(state, true, &signed()));
    kit.settle();
    let since = at("2021-04-25T10:00:00Z");
    assert!(
        matches!(&kit.state("t").phase, Phase::Queued { since: s, cause: Cause::Manual(_), .. } if *s == since)
    );
    let asked = actions::run_now(kit.state("t"), true, &signed());
    assert_eq!(asked, Err(Error::AlreadyRequested { by: "ann".to_owned() }));
}

#[test]
fn a_paused_task_fires_after_it_is_resumed_and_runs_by_hand_all_the_same() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.act("t", |state| actions::pause(state, &signed()));
    assert_eq!(kit.set("a.rows", 1), [""; 0]);
    assert!(matches!(actions::pause(kit.state("t"), &signed()), Err(Error::Paused { .. })));
    kit.act("t", |state| actions::run_now(state, false, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    assert_eq!(kit.succeed("t"), [""; 0]);
    let plan = counts("t", "a.rows");
    kit.act("t", |state| actions::resume(state, &plan, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    assert_eq!(actions::resume(kit.state("t"), &plan, &signed()), Err(Error::NotPaused));
}

#[test]
fn a_task_that_is_paused_in_the_queue_leaves_it() {
    let mut kit = Kit::new(1, vec![counts("busy", "x.rows"), counts("t", "a.rows")]);
    kit.set("x.rows", 1);
    kit.set("a.rows", 1);
    kit.act("t", |state| actions::pause(state, &signed()));
    kit.settle();
    assert_eq!(kit.state("t").phase, Phase::Idle);
    assert_eq!(kit.succeed("busy"), [""; 0]);
}

#[test]
fn a_definition_can_pause_and_a_person_can_resume_until_the_definition_changes_twice() {
    let paused = Plan { paused: true, ..counts("t", "a.rows") };
    let mut kit = Kit::new(8, vec![paused.clone()]);
    assert_eq!(kit.set("a.rows", 1), [""; 0]);
    kit.act("t", |state| actions::resume(state, &paused, &signed()));
    assert_eq!(kit.starts(), ["t"]);
    kit.succeed("t");
    let put = |plan: Plan| vec![crate::Change::Put(Box::new(plan))];
    kit.planner.plans_changed(None, put(counts("t", "a.rows")), kit.now);
    kit.settle();
    kit.planner.plans_changed(None, put(paused), kit.now);
    assert_eq!(kit.set("a.rows", 2), [""; 0]);
}

#[test]
fn what_is_remembered_can_be_set_and_deleted() {
    let plan = counts("t", "a.rows");
    let mut kit = Kit::new(8, vec![plan.clone()]);
    kit.set("a.rows", 5);
    kit.succeed("t");
    kit.act("t", |state| actions::set_remembered(state, &plan, &parameter("a.rows"), Number(4), &signed()));
    assert_eq!(kit.starts(), ["t"]);
    kit.succeed("t");
    kit.act("t", |state| actions::delete_remembered(state, Some(&parameter("a.rows")), &signed()));
    assert_eq!(kit.starts(), ["t"]);
    let state = kit.state("t");
    let missing = actions::delete_remembered(state, Some(&parameter("b.rows")), &signed());
    assert_eq!(missing, Err(Error::NotRemembered(parameter("b.rows"))));
    assert_eq!(actions::delete_remembered(state, None, &signed()), Err(Error::NothingRemembered));
    let other = actions::set_remembered(state, &plan, &parameter("b.rows"), Number(4), &signed());
    let text = other.unwrap_err().to_string();
    assert_eq!(text, "the trigger of t does not read b.rows: it reads a.rows");
}

#[test]
fn a_cancelled_task_rests_until_one_of_its_parameters_changes() {
    let mut kit = Kit::new(1, vec![counts("busy", "x.rows"), counts("t", "a.rows")]);
    kit.set("x.rows", 1);
    kit.set("a.rows", 1);
    kit.set("a.rows", 2);
    let now = kit.planner.seen("t").unwrap();
    kit.act("t", |state| actions::cancel(state, now, &signed()));
    kit.succeed("busy");
    assert_eq!(kit.pass("1d"), [""; 0]);
    assert!(kit.explained("t").contains("cancelled at 2021-04-25 00:00 by ann (to see what happens)"));
    assert_eq!(kit.set("a.rows", 3), ["t"]);
    let running = actions::cancel(kit.state("t"), seen(&[]), &signed());
    assert_eq!(running, Err(Error::NotQueued));
}

#[test]
fn every_action_needs_an_author_and_a_reason() {
    let now = at("2021-04-25T00:00:00Z");
    assert_eq!(Signed::new("ann", "  ", now), Err(Error::Reason));
    assert_eq!(Signed::new("ann", &"x".repeat(1001), now), Err(Error::Reason));
    assert_eq!(Signed::new("", "because", now), Err(Error::Author));
    let state = crate::TaskState::new(now);
    let empty = Signed { by: "ann".to_owned(), reason: String::new(), at: now };
    assert_eq!(actions::pause(&state, &empty), Err(Error::Reason));
}
