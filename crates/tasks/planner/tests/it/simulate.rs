//! What would happen, on a virtual clock.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use planner::Error;
use planner::simulate::{Durations, Failures, Miss, Recorded, Scenario, compare, simulate};
use planner::{Alert, Limits, Plan, Retry, SetTo, TaskName};
use triggers::{Amount, Check, Group, Leaf, Parameter, Scale, Trigger, Value};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn of(text: &str) -> Parameter {
    text.parse().unwrap()
}

fn leaf(parameter: &str, check: Check) -> Leaf {
    Leaf { of: of(parameter), check }
}

fn new_day(parameter: &str) -> Leaf {
    leaf(parameter, Check::ChunkDelta { scale: Scale::Day, by: None })
}

fn grew(parameter: &str, by: i64) -> Leaf {
    leaf(parameter, Check::Delta { by: Amount::Number(by) })
}

fn loaded(at_text: &str, parameter: &str, value: &str) -> Recorded {
    Recorded { at: at(at_text), parameter: of(parameter), value: Some(Value::Time(at(value))) }
}

fn number(at_text: &str, parameter: &str, value: i64) -> Recorded {
    Recorded { at: at(at_text), parameter: of(parameter), value: Some(Value::Number(value)) }
}

fn minutes(minutes: i64) -> Durations {
    Durations { default: SignedDuration::from_mins(minutes), by_task: BTreeMap::new() }
}

/// Three days: sales are loaded every six hours, a mart is built for every new day, and a report is
/// made of the mart.
fn warehouse() -> Scenario {
    let mut mart = Plan::new("mart", Trigger::Leaf(new_day("sales.loaded_to")));
    mart.sets.insert(of("mart.made_to"), SetTo::Seen(of("sales.loaded_to")));
    let report = Plan::new("report", Trigger::Leaf(new_day("mart.made_to")));
    let log = (0..12).map(|step| {
        let at = at("2021-04-20T01:00:00Z") + SignedDuration::from_hours(6) * step;
        Recorded {
            at,
            parameter: of("sales.loaded_to"),
            value: Some(Value::Time(at - SignedDuration::from_hours(1))),
        }
    });
    Scenario {
        plans: vec![mart, report],
        log: log.collect(),
        durations: minutes(20),
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-23T00:00:00Z"))
    }
}

fn starts(scenario: &Scenario) -> Vec<String> {
    let simulation = simulate(scenario).unwrap();
    simulation.firings.iter().map(|firing| format!("{} {}", firing.at, firing.task)).collect()
}

#[test]
fn a_day_of_data_starts_the_mart_and_the_mart_starts_the_report() {
    let expected = [
        "2021-04-20T01:00:00Z mart",
        "2021-04-20T01:20:00Z report",
        "2021-04-21T01:00:00Z mart",
        "2021-04-21T01:20:00Z report",
        "2021-04-22T01:00:00Z mart",
        "2021-04-22T01:20:00Z report",
    ];
    assert_eq!(starts(&warehouse()), expected);
    let simulation = simulate(&warehouse()).unwrap();
    assert_eq!(simulation.misses, []);
    assert_eq!(simulation.writes.len(), 3);
    assert_eq!(simulation.writes[0].value, Value::Time(at("2021-04-20T00:00:00Z")));
    let day = SignedDuration::from_hours(24);
    assert_eq!(simulation.silence[&TaskName::from("mart")], day);
    assert_eq!(simulation.starvation, BTreeMap::new());
    assert_eq!(simulate(&warehouse()).unwrap(), simulation, "the same again");
}

#[test]
fn what_was_before_the_beginning_is_known_at_it_and_what_comes_after_the_end_is_not() {
    let mut scenario = warehouse();
    scenario.from = at("2021-04-21T12:00:00Z");
    scenario.to = at("2021-04-22T01:00:00Z");
    let simulation = simulate(&scenario).unwrap();
    let expected = ["2021-04-21T12:00:00Z mart", "2021-04-21T12:20:00Z report", "2021-04-22T01:00:00Z mart"];
    assert_eq!(starts(&scenario), expected);
    assert_eq!(simulation.firings[2].ended, None, "still under way");
    let missed = Miss::Change {
        task: "mart".into(),
        parameter: of("sales.loaded_to"),
        value: Value::Time(at("2021-04-22T00:00:00Z")),
        since: at("2021-04-22T01:00:00Z"),
    };
    assert_eq!(simulation.misses, [missed]);
}

#[test]
fn a_chunk_that_passes_while_the_task_is_busy_is_a_miss() {
    let mut scenario = warehouse();
    scenario.durations.by_task.insert("mart".into(), SignedDuration::from_hours(47));
    let simulation = simulate(&scenario).unwrap();
    let missed = Miss::Chunk {
        task: "mart".into(),
        parameter: of("sales.loaded_to"),
        scale: Scale::Day,
        start: at("2021-04-21T00:00:00Z"),
    };
    assert!(simulation.misses.contains(&missed), "{:?}", simulation.misses);
}

#[test]
fn failures_depend_on_the_seed_and_are_tried_again() {
    let mut scenario = warehouse();
    scenario.failures = Some(Failures { seed: 4, per_mille: 500, by_task: BTreeMap::new() });
    for plan in &mut scenario.plans {
        plan.retry = Retry { first: SignedDuration::from_mins(10), ..Retry::default() };
    }
    let simulation = simulate(&scenario).unwrap();
    let failed = simulation.firings.iter().filter(|firing| matches!(firing.ended, Some((_, false)))).count();
    assert!(failed > 0);
    assert_eq!(simulation.firings.len() - failed, 6, "each is tried until it succeeds");
    assert_eq!(simulation.misses, []);
    assert!(simulation.firings.iter().any(|firing| firing.attempt == 2));
    let mut other = scenario.clone();
    other.failures.as_mut().unwrap().seed = 5;
    assert_ne!(simulate(&other).unwrap().firings, simulation.firings);
    scenario.failures.as_mut().unwrap().by_task =
        BTreeMap::from([("mart".into(), 1000), ("report".into(), 0)]);
    let never = simulate(&scenario).unwrap();
    assert!(never.firings.iter().all(|firing| &*firing.task == "mart"));
    assert_eq!(never.misses.len(), 3, "two days, and the value of the last: {:?}", never.misses);
    assert!(never.alerts.iter().any(|(_, _, alert)| matches!(alert, Alert::Failing { .. })));
}

#[test]
fn a_task_that_runs_in_a_loop_is_cut_off_and_reported() {
    let fresh = leaf("a.loaded_to", Check::Delay { within: SignedDuration::from_hours(10) });
    let scenario = Scenario {
        plans: vec![
            Plan::new("looping", Trigger::Leaf(fresh)),
            Plan::new("fine", Trigger::Leaf(new_day("a.loaded_to"))),
        ],
        log: vec![loaded("2021-04-20T00:00:00Z", "a.loaded_to", "2021-04-20T00:00:00Z")],
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-21T00:00:00Z"))
    };
    let simulation = simulate(&scenario).unwrap();
    assert_eq!(simulation.loops.len(), 1);
    assert_eq!((&*simulation.loops[0].task, simulation.loops[0].firings), ("looping", 11));
    assert_eq!(simulation.firings.len(), 12);
    assert!(
        simulation
            .to_string()
            .contains("looping runs in a loop: 11 runs saw a.loaded_to=2021-04-20T00:00:00Z")
    );
}

#[test]
fn a_task_that_waits_long_in_the_queue_is_shown() {
    let plans = vec![
        Plan { priority: 5, ..Plan::new("greedy", Trigger::Leaf(grew("a.rows", 1))) },
        Plan::new("starved", Trigger::Leaf(grew("b.rows", 1))),
    ];
    let mut log: Vec<Recorded> =
        (0..6).map(|hour| number(&format!("2021-04-20T0{hour}:00:00Z"), "a.rows", hour)).collect();
    log.push(number("2021-04-20T00:10:00Z", "b.rows", 1));
    let scenario = Scenario {
        limits: Limits { running: 1, ..Limits::default() },
        plans,
        log,
        durations: minutes(65),
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-21T00:00:00Z"))
    };
    let simulation = simulate(&scenario).unwrap();
    let waited = simulation.starvation[&TaskName::from("starved")];
    assert!(waited > SignedDuration::from_hours(5), "{waited:?}");
    let more = Scenario { limits: Limits::default(), ..scenario };
    assert!(!simulate(&more).unwrap().starvation.contains_key("starved"));
}

#[test]
fn what_would_move_back_is_not_written_and_says_so() {
    let mut plan = Plan::new("t", Trigger::Leaf(grew("a.rows", 1)));
    plan.sets.insert(of("b.rows"), SetTo::Number(3));
    let scenario = Scenario {
        plans: vec![plan],
        log: vec![number("2021-04-20T00:00:00Z", "b.rows", 5), number("2021-04-20T01:00:00Z", "a.rows", 1)],
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-21T00:00:00Z"))
    };
    let simulation = simulate(&scenario).unwrap();
    assert!(simulation.writes[0].moves_back);
    assert!(simulation.to_string().contains("not written: it would move back"));
}

#[test]
fn two_configurations_are_compared_run_by_run() {
    let first = simulate(&warehouse()).unwrap();
    assert!(compare(&first, &first).is_same());
    assert_eq!(compare(&first, &first).to_string(), "both do the same: 6 runs");
    let mut scenario = warehouse();
    scenario.durations.by_task.insert("mart".into(), SignedDuration::from_mins(50));
    scenario.plans.push(Plan::new("extra", Trigger::Leaf(new_day("sales.loaded_to"))));
    let second = simulate(&scenario).unwrap();
    let comparison = compare(&first, &second);
    assert_eq!(comparison.same, 3, "the mart");
    assert_eq!(comparison.moved.len(), 3, "the report comes later");
    let later = comparison.moved[0].second.duration_since(comparison.moved[0].first);
    assert_eq!(later, SignedDuration::from_mins(30));
    assert_eq!(comparison.only_second.len(), 3);
    assert_eq!(comparison.only_first, []);
    let back = compare(&second, &first);
    assert_eq!((back.only_first.len(), back.only_second.len()), (3, 0));
    let text = comparison.to_string();
    assert!(text.starts_with("3 runs at the same time in both\n3 runs only in the second\n"), "{text}");
}

#[test]
fn a_simulation_reads_as_a_table() {
    let mut scenario = warehouse();
    scenario.to = at("2021-04-20T12:00:00Z");
    let expected = "\
from 2021-04-20T00:00:00Z to 2021-04-20T12:00:00Z: 2 runs
  start                 task    run  waited  took  end  seen
  2021-04-20T01:00:00Z  mart    1    0s      20m   ok   sales.loaded_to=2021-04-20T00:00:00Z
  2021-04-20T01:20:00Z  report  1    0s      20m   ok   mart.made_to=2021-04-20T00:00:00Z
nothing was missed
longest times by task
  task    without success  in the queue
  mart    10h 40m
  report  10h 20m
values set
  at                    task  value
  2021-04-20T01:20:00Z  mart  mart.made_to=2021-04-20T00:00:00Z";
    assert_eq!(simulate(&scenario).unwrap().to_string(), expected);
}

#[test]
fn hold_back_shows_in_a_simulation() {
    let mut load = Plan::new("load", Trigger::Leaf(grew("raw.rows", 1)));
    load.sets.insert(of("sales.rows"), SetTo::Seen(of("raw.rows")));
    let mut report = Plan::new("report", Trigger::Leaf(grew("sales.rows", 1)));
    report.priority = 10;
    let minor = Plan::new("minor", Trigger::Any(vec![Group::Leaf(grew("m.rows", 1))]));
    let scenario = |hold_back: i64| Scenario {
        limits: Limits { running: 2, ..Limits::default() },
        plans: vec![
            load.clone(),
            Plan { hold_back: SignedDuration::from_mins(hold_back), ..report.clone() },
            minor.clone(),
        ],
        log: vec![number("2021-04-20T00:00:00Z", "raw.rows", 1), number("2021-04-20T00:01:00Z", "m.rows", 1)],
        durations: minutes(10),
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-21T00:00:00Z"))
    };
    let minor_at = |hold_back| {
        let simulation = simulate(&scenario(hold_back)).unwrap();
        simulation.firings.iter().find(|firing| &*firing.task == "minor").unwrap().at
    };
    assert_eq!(minor_at(0), at("2021-04-20T00:01:00Z"));
    assert_eq!(minor_at(5), at("2021-04-20T00:05:00Z"), "held back until the limit");
    assert_eq!(minor_at(60), at("2021-04-20T00:10:00Z"), "held back until the run has ended");
}

#[test]
fn time_runs_forward() {
    let backwards = Scenario::new(at("2021-04-21T00:00:00Z"), at("2021-04-20T00:00:00Z"));
    assert_eq!(simulate(&backwards), Err(Error::SimulationRange));
}

#[test]
fn tasks_that_feed_each_other_in_a_circle_are_cut_off() {
    let feeds = |name: &str, from: &str, to: &str| {
        let by = Amount::Time(SignedDuration::from_nanos(1));
        let mut plan = Plan::new(name, Trigger::Leaf(leaf(from, Check::Delta { by })));
        plan.sets.insert(of(to), SetTo::Now);
        plan
    };
    let scenario = Scenario {
        plans: vec![feeds("ping", "a.at", "b.at"), feeds("pong", "b.at", "a.at")],
        log: vec![loaded("2021-04-20T00:00:00Z", "a.at", "2021-04-19T00:00:00Z")],
        durations: Durations { default: SignedDuration::from_millis(1), by_task: BTreeMap::new() },
        ..Scenario::new(at("2021-04-20T00:00:00Z"), at("2021-04-21T00:00:00Z"))
    };
    let simulation = simulate(&scenario).unwrap();
    assert!(simulation.cut_off);
    assert_eq!(simulation.firings.len(), planner::limits::SIMULATED_FIRINGS_MAX);
    assert!(simulation.to < scenario.to);
}
