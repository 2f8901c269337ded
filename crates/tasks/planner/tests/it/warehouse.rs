//! The example of a warehouse, through a week on a virtual clock. The week has a day of 23 hours, a
//! Monday and the first of a month; the day before it lets every task run for the first time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::civil::{Date, Weekday, date};
use jiff::{SignedDuration, Timestamp};
use planner::plans::{plan_of, plans_of};
use planner::recorded::read_log;
use planner::simulate::{Durations, Scenario, Simulation, simulate};
use taskfile::TaskSet;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../examples/warehouse")
}

fn warehouse() -> TaskSet {
    TaskSet::read(taskfile::load(&folder()).unwrap()).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Midnight in Berlin at the beginning of a day.
fn midnight(day: Date) -> Timestamp {
    day.to_zoned(warehouse().calendar().zone().clone()).unwrap().timestamp()
}

const WARM_UP: Date = date(2026, 3, 25);
const FIRST: Date = date(2026, 3, 26);
const AFTER: Date = date(2026, 4, 2);

fn scenario(set: &TaskSet) -> Scenario {
    Scenario {
        limits: set.limits().clone(),
        plans: plans_of(set),
        log: read_log(&std::fs::read_to_string(folder().join("week.csv")).unwrap()).unwrap(),
        durations: Durations { default: SignedDuration::from_mins(3), by_task: BTreeMap::new() },
        ..Scenario::new(midnight(WARM_UP), midnight(AFTER))
    }
}

/// The days of the week on which a task ran, in Berlin, once for each run.
fn days(set: &TaskSet, simulation: &Simulation, task: &str) -> Vec<Date> {
    let zone = set.calendar().zone();
    let runs = simulation.firings.iter().filter(|firing| &*firing.task == task);
    let days = runs.map(|firing| firing.at.to_zoned(zone.clone()).date());
    days.filter(|day| *day >= FIRST).collect()
}

fn of_rhythm<'s>(set: &'s TaskSet, rhythm: &str) -> Vec<&'s str> {
    let has = |task: &&std::sync::Arc<taskfile::Task>| {
        task.labels.get("rhythm").is_some_and(|found| found == rhythm)
    };
    set.tasks().filter(has).map(|task| task.name.as_str()).collect()
}

fn week() -> Vec<Date> {
    FIRST.series(jiff::Span::new().days(1)).take_while(|day| *day < AFTER).collect()
}

#[test]
fn the_example_has_thirty_tasks_and_no_warnings() {
    let set = warehouse();
    assert_eq!(set.len(), 30);
    assert_eq!(taskfile::render(set.warnings(), 0, set.more_warnings()), "");
}

#[test]
fn every_daily_task_runs_once_on_every_day_of_the_week() {
    let set = warehouse();
    let simulation = simulate(&scenario(&set)).unwrap();
    let daily = of_rhythm(&set, "daily");
    assert_eq!(daily.len(), 13);
    for task in daily {
        assert_eq!(days(&set, &simulation, task), week(), "{task}");
    }
    let working: Vec<Date> = week()
        .into_iter()
        .filter(|day| !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday))
        .collect();
    assert_eq!(days(&set, &simulation, "load_rates"), working);
}

#[test]
fn weekly_tasks_run_on_monday_and_monthly_ones_on_the_first() {
    let set = warehouse();
    let simulation = simulate(&scenario(&set)).unwrap();
    for (rhythm, tasks, day) in [("weekly", 3, date(2026, 3, 30)), ("monthly", 2, date(2026, 4, 1))] {
        let found = of_rhythm(&set, rhythm);
        assert_eq!(found.len(), tasks, "{rhythm}");
        for task in found {
            assert_eq!(days(&set, &simulation, task), [day], "{task}");
        }
    }
}

#[test]
fn hourly_tasks_run_twenty_three_times_on_the_day_of_twenty_three_hours() {
    let set = warehouse();
    let simulation = simulate(&scenario(&set)).unwrap();
    for task in [
        "load_orders",
        "load_order_items",
        "load_deliveries",
        "fact_sales",
        "fact_sessions",
        "fact_deliveries",
    ] {
        let days = days(&set, &simulation, task);
        for day in week() {
            let expected = if day == date(2026, 3, 29) { 23 } else { 24 };
            assert_eq!(days.iter().filter(|found| **found == day).count(), expected, "{task} on {day}");
        }
    }
}

#[test]
fn nothing_is_missed_starves_or_loops_and_no_alert_is_raised() {
    let set = warehouse();
    let simulation = simulate(&scenario(&set)).unwrap();
    let ran: BTreeSet<&str> = simulation.firings.iter().map(|firing| &*firing.task).collect();
    assert_eq!(ran.len(), set.len(), "every task has run");
    assert_eq!((simulation.misses.as_slice(), simulation.more_misses), (&[][..], 0));
    assert_eq!(simulation.loops, []);
    assert_eq!(simulation.alerts, []);
    assert!(!simulation.cut_off);
    let longest = simulation.starvation.values().max().copied().unwrap_or_default();
    assert!(longest <= SignedDuration::from_mins(20), "{:?}", simulation.starvation);
    assert!(simulation.writes.iter().all(|write| !write.moves_back));
}

#[test]
fn limits_of_all_tasks_and_of_pools_are_kept_at_every_moment() {
    let set = warehouse();
    let simulation = simulate(&scenario(&set)).unwrap();
    let pool_of = |task: &str| set.get(task).and_then(|task| task.pool.clone()).unwrap();
    for firing in &simulation.firings {
        let under_way = simulation
            .firings
            .iter()
            .filter(|other| other.at <= firing.at && other.ended.is_none_or(|(end, _)| end > firing.at));
        let mut pools: BTreeMap<String, u32> = BTreeMap::new();
        for other in under_way {
            *pools.entry(pool_of(&other.task)).or_default() += 1;
        }
        assert!(pools.values().sum::<u32>() <= 6, "{pools:?} at {}", firing.at);
        for (pool, running) in pools {
            assert!(running <= set.limits().pools[&pool].unwrap(), "{pool} at {}", firing.at);
        }
    }
    assert!(!simulation.starvation.is_empty(), "the limits are small enough for some task to wait");
}

#[test]
fn attempts_of_a_file_are_the_limit_of_the_board() {
    let set = warehouse();
    let plan = plan_of(set.get("load_orders").unwrap());
    assert_eq!(plan.retry.limit, Some(8));
    assert_eq!(plan.retry.failing_after, 3);
    let mut failing = scenario(&set);
    failing.failures = Some(planner::simulate::Failures {
        by_task: BTreeMap::from([("load_rates".into(), 1000)]),
        ..Default::default()
    });
    let simulation = simulate(&failing).unwrap();
    let attempts = simulation.firings.iter().filter(|firing| &*firing.task == "load_rates");
    assert_eq!(attempts.map(|firing| firing.attempt).max(), Some(8));
    let first = |task: &str| simulation.firings.iter().find(|firing| &*firing.task == task);
    assert!(first("sales_in_euro").is_none(), "no report is made of rates that are not there");
}
