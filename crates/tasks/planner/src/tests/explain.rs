//! R12: explanations.

use std::collections::BTreeMap;

use triggers::Value::Number;

use super::kit::*;
use crate::Error;
use crate::{Blocked, Limits, Plan, actions};

#[test]
fn an_idle_task_says_leaf_by_leaf_what_is_missing() {
    let trigger = all(&[new_day("sales.loaded_to"), fresh("rates.loaded_to", "3h")]);
    let mut kit = Kit::new(8, vec![Plan::new("report", trigger)]);
    kit.put("rates.loaded_to", time("2021-04-25T09:00:00Z"));
    kit.set_time("sales.loaded_to", "2021-04-25T03:00:00Z");
    kit.succeed("report");
    let expected = "\
report: idle, because its trigger does not hold
trigger: does not fire
- all[0]: sales.loaded_to came into a new day: not yet: 1 calendar day more is needed
    current 2021-04-25 03:00, remembered 2021-04-25 03:00, difference 0 calendar days, needed a new day
+ all[1]: rates.loaded_to is at most 3h behind the time: holds
    current 2021-04-25 09:00, difference 1h, needed at most 3h, holds until 2021-04-25 12:00
earliest firing: when sales.loaded_to reaches 2021-04-26 00:00";
    assert_eq!(kit.explained("report"), expected);
}

#[test]
fn a_queued_task_says_its_place_and_who_is_in_its_way() {
    let pools = BTreeMap::from([("db".to_owned(), Some(1))]);
    let pool = |plan: Plan| Plan { pool: Some("db".to_owned()), ..plan };
    let plans =
        vec![pool(counts("first", "a.rows")), pool(counts("second", "a.rows")), counts("third", "b.rows")];
    let mut kit = Kit::with(Limits { running: 2, pools }, plans);
    kit.set("a.rows", 1);
    let text = kit.explained("second");
    assert!(
        text.starts_with(
            "second: queued since 2021-04-25 10:00, place 1 of 1: its trigger holds\n\
             not started: the pool db is full with 1: first runs\ntrigger: fires"
        ),
        "{text}"
    );
    kit.set("b.rows", 1);
    let text = kit.explained("second");
    assert!(text.contains("\nnot started: the limit of 2 runs is reached: first, third run\n"), "{text}");
    assert!(text.contains("\nnot started: the pool db is full"), "{text}");
    assert!(
        kit.explained("first")
            .starts_with("first: run 1 is under way since 2021-04-25 10:00: its trigger holds")
    );
}

#[test]
fn a_task_that_is_held_back_says_for_whom_because_of_what_and_until_when() {
    let mut load = counts("load", "raw.rows");
    load.produces.insert(parameter("sales.rows"));
    let report = Plan { priority: 10, hold_back: duration("10m"), ..counts("report", "sales.rows") };
    let mut kit = Kit::new(2, vec![load, report, counts("minor", "m.rows")]);
    kit.set("raw.rows", 1);
    kit.set("m.rows", 1);
    let line = "held back for report until 2021-04-25 10:10, because load runs and produces sales.rows";
    assert!(kit.explained("minor").contains(line), "{}", kit.explained("minor"));
    let line = "others are held back for it until 2021-04-25 10:10: load runs and produces sales.rows";
    assert!(kit.explained("report").contains(line), "{}", kit.explained("report"));
}

#[test]
fn a_task_that_waits_says_until_when_after_which_attempt_with_which_error() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows")]);
    kit.set("a.rows", 1);
    kit.fail("t");
    let text = kit.explained("t");
    assert!(text.starts_with("t: waits until 2021-04-25 10:00:30 after 1 attempt\n"), "{text}");
    assert!(text.contains("\nlast error: exit code 1\n"), "{text}");
    kit.pass("30s");
    kit.fail("t");
    kit.pass("1m");
    kit.fail("t");
    assert!(kit.explained("t").contains("\nfailing: 3 attempts in a row failed\n"));
}

#[test]
fn a_paused_task_says_by_whom_and_why() {
    let mut kit = Kit::new(8, vec![counts("t", "a.rows"), Plan { paused: true, ..counts("u", "a.rows") }]);
    kit.act("t", |state| actions::pause(state, &signed()));
    kit.set("a.rows", 1);
    let text = kit.explained("t");
    let start = "t: idle, because it is paused\npaused by ann at 2021-04-25 00:00: to see what happens\n";
    assert!(text.starts_with(start), "{text}");
    assert!(kit.explained("u").contains("paused: its definition says so"));
}

#[test]
fn a_regressed_task_says_how_to_mend_it_and_a_silent_one_for_how_long() {
    let mut kit = Kit::new(8, vec![Plan { max_silence: Some(duration("1h")), ..counts("t", "a.rows") }]);
    kit.set("a.rows", 5);
    kit.succeed("t");
    kit.set("a.rows", 3);
    assert!(kit.explained("t").ends_with("\nno success for 0s; 1h is allowed"));
    kit.pass("2h");
    let text = kit.explained("t");
    let regressed = "\nregressed: a.rows is 3, and 5 is remembered; fix it with one of\n    \
                     torg tasks state set t a.rows 3 --reason '...'\n";
    assert!(text.contains(regressed), "{text}");
    assert!(text.ends_with("\nsilent for 2h, which is too long: 1h is allowed"), "{text}");
}

#[test]
fn what_is_being_written_and_what_is_unknown_is_said() {
    let mut kit = Kit::new(0, vec![counts("t", "a.rows")]);
    kit.put("a.rows", Number(1));
    let decisions = kit.planner.decide(kit.now);
    let queue = kit.planner.explain("t", kit.now).unwrap().queue;
    assert_eq!(queue.unwrap_or_else(|| panic!("{decisions:?}")).blocked[0], Blocked::Writing);
    assert_eq!(kit.planner.explain("nobody", kit.now), Err(Error::NoTask("nobody".to_owned())));
}
