//! R7: holding back for a more important task whose input is being produced.

use std::collections::BTreeMap;

use super::kit::*;
use crate::{Hold, Limits, Plan};

/// A loader that produces what an important report waits for, and an unimportant task.
fn plans() -> Vec<Plan> {
    let mut load = counts("load", "raw.rows");
    load.produces.insert(parameter("sales.rows"));
    let mut report = counts("report", "sales.rows");
    report.priority = 10;
    report.hold_back = duration("10m");
    vec![load, report, counts("minor", "m.rows"), counts("tiny", "m.rows")]
}

/// The report has run once, and the loader is running.
fn kit(running: u32) -> Kit {
    let mut kit = Kit::new(running, plans());
    kit.set("sales.rows", 1);
    kit.succeed("report");
    assert_eq!(kit.set("raw.rows", 1), ["load"]);
    kit
}

#[test]
fn the_last_place_is_kept_for_a_more_important_task_whose_input_is_being_produced() {
    let mut kit = kit(3);
    assert_eq!(kit.set("m.rows", 1), ["minor"], "one of the two places that are free");
    let hold = Hold {
        task: "report".into(),
        running: "load".into(),
        produces: parameter("sales.rows"),
        until: at("2021-04-25T10:10:00Z"),
    };
    assert_eq!(kit.planner.holds().collect::<Vec<_>>(), [&hold]);
    assert_eq!(kit.set("sales.rows", 2), ["report"], "its input has come while the loader still runs");
    assert_eq!(kit.succeed("load"), ["tiny"]);
}

#[test]
fn others_are_held_back_for_so_long_and_no_longer() {
    let mut kit = kit(2);
    assert_eq!(kit.set("m.rows", 1), [""; 0]);
    assert_eq!(kit.planner.next_moment(), Some(at("2021-04-25T10:10:00Z")));
    assert_eq!(kit.pass("9m 59s"), [""; 0]);
    assert_eq!(kit.pass("1s"), ["minor"]);
}

#[test]
fn others_go_on_when_the_run_has_ended_without_making_the_task_ready() {
    let mut kit = kit(2);
    kit.set("m.rows", 1);
    assert_eq!(kit.succeed("load"), ["minor", "tiny"]);
}

#[test]
fn the_time_counts_from_the_start_of_the_producing_run() {
    let mut kit = kit(2);
    kit.pass("8m");
    assert_eq!(kit.set("m.rows", 1), [""; 0]);
    assert_eq!(kit.pass("2m"), ["minor"]);
}

#[test]
fn nobody_is_held_back_for_a_task_that_would_not_fire_anyway() {
    let mut plans = plans();
    plans[1].trigger = all(&[grew("sales.rows", 1), grew("other.rows", 1)]);
    let mut kit = Kit::new(2, plans);
    kit.set("raw.rows", 1);
    assert_eq!(kit.set("m.rows", 1), ["minor"], "nothing is known of other.rows");
    kit.succeed("minor");
    kit.succeed("tiny");
    kit.set("other.rows", 1);
    assert_eq!(kit.set("m.rows", 2), [""; 0], "now only what is being produced is missing");
}

#[test]
fn nobody_of_the_same_importance_is_held_back_and_no_paused_task_holds_anybody_back() {
    let mut equal = plans();
    equal[1].priority = 0;
    let mut kit = Kit::new(2, equal);
    kit.set("raw.rows", 1);
    assert_eq!(kit.set("m.rows", 1), ["minor"]);
    let mut paused = plans();
    paused[1].paused = true;
    let mut kit = Kit::new(2, paused);
    kit.set("raw.rows", 1);
    assert_eq!(kit.set("m.rows", 1), ["minor"]);
}

#[test]
fn the_last_place_of_a_pool_is_kept_too() {
    let mut plans = plans();
    plans[1].pool = Some("db".to_owned());
    plans[2].pool = Some("db".to_owned());
    let pools = BTreeMap::from([("db".to_owned(), Some(1))]);
    let mut kit = Kit::with(Limits { running: 8, pools }, plans);
    kit.set("raw.rows", 1);
    assert_eq!(kit.set("m.rows", 1), ["tiny"], "it is of another pool");
    assert_eq!(kit.pass("10m"), ["minor"]);
}

#[test]
fn runs_that_follow_each_other_hold_others_back_for_no_more_than_half_of_the_time() {
    let mut plans = plans();
    plans[0].priority = 5;
    plans.truncate(3);
    let mut kit = Kit::new(2, plans);
    kit.set("sales.rows", 1);
    kit.succeed("report");
    kit.set("raw.rows", 1);
    kit.set("m.rows", 1);
    let mut waited = 0;
    // The loader runs again and again, four minutes each time, and never loads anything.
    for number in 2..20 {
        kit.put("raw.rows", triggers::Value::Number(number));
        kit.now += duration("4m");
        waited += 4;
        let mut started = kit.starts();
        started.extend(kit.succeed("load"));
        if started.contains(&"minor".to_owned()) {
            break;
        }
    }
    assert_eq!(waited, 12, "the hold began with the first run and ended after ten minutes");
    kit.succeed("minor");
    kit.put("m.rows", triggers::Value::Number(2));
    assert_eq!(kit.starts(), ["minor"], "it may not be held back again so soon");
}

#[test]
fn others_go_on_at_the_moment_at_which_the_task_can_no_longer_become_ready() {
    let mut plans = plans();
    plans[1].trigger = all(&[grew("sales.rows", 1), fresh("rates.loaded_to", "5m")]);
    let mut kit = Kit::new(2, plans);
    kit.set_time("rates.loaded_to", "2021-04-25T09:58:00Z");
    kit.set("raw.rows", 1);
    assert_eq!(kit.set("m.rows", 1), [""; 0]);
    assert_eq!(kit.pass("3m"), [""; 0], "the rates are just fresh enough");
    kit.now = kit.planner.next_moment().unwrap();
    assert_eq!(kit.now, at("2021-04-25T10:03:00.000000001Z"));
    assert_eq!(kit.starts(), ["minor"]);
}
