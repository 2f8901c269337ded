//! The planner under random events: tasks, values, times, ends of runs, conflicts, manual actions
//! and crashes, in a world that checks every commit by its own evaluation. One seed gives one
//! trace.

mod actions;
mod commits;
mod generate;
mod invariants;
mod naive;
mod runs;
mod slots;
mod world;

use triggers::{Known, fires, next_change};

use super::bugs::Bug;
use super::{Act, Plan, Planner, Seen, Snapshot};
use world::{Flaw, World};

const SEEDS: u64 = 150;
const STEPS: usize = 400;

fn run(seed: u64, flaw: Flaw) -> Vec<String> {
    let mut world = World::new(seed, flaw);
    for _ in 0..STEPS {
        world.step();
        if !world.violations.is_empty() {
            return world.violations;
        }
    }
    world.come_to_rest();
    world.violations
}

/// The first seed with a violation that contains the words.
fn noticed(flaw: Flaw, words: &str) -> Option<u64> {
    (0..SEEDS).find(|seed| run(*seed, flaw).iter().any(|violation| violation.contains(words)))
}

#[test]
fn no_change_is_without_its_firing_and_no_firing_without_its_change_through_conflicts_and_crashes() {
    for seed in 0..SEEDS {
        let violations = run(seed, Flaw::None);
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
    }
}

#[test]
fn the_computed_moment_is_the_one_at_which_the_time_makes_a_trigger_hold() {
    let (mut by_time, mut never) = (0, 0);
    for seed in 0..3000 {
        let mut world = World::new(seed, Flaw::None);
        (0..40).for_each(|_| world.change_value());
        let Some(plan) = world.plans.values().next().cloned() else { continue };
        let plan = Plan { paused: false, max_silence: None, ..plan };
        let known = Known { current: world.values.clone(), remembered: Seen::new() };
        if fires(&plan.trigger, &known, world.now, &plan.calendar) {
            continue;
        }
        let expected = next_change(&plan.trigger, &known, world.now, &plan.calendar);
        let plans = vec![plan];
        let mut planner =
            Planner::new(Snapshot { plans, values: world.values.clone(), ..Snapshot::default() }, world.now);
        let mut now = world.now;
        let started = loop {
            let decisions = planner.decide(now);
            if decisions.iter().any(|decision| matches!(decision.act, Act::Start(_))) {
                break Some(now);
            }
            planner.commit_all(&decisions);
            match planner.next_moment() {
                Some(next) => now = now.max(next),
                None => break None,
            }
        };
        assert_eq!(started, expected, "seed {seed}");
        by_time += u32::from(started.is_some());
        never += u32::from(started.is_none());
    }
    assert!(by_time > 5 && never > 5, "{by_time} by the time, {never} never");
}

#[test]
fn the_world_is_busy_enough_for_the_invariants_to_mean_something() {
    let mut counts = world::Counts::default();
    for seed in 0..SEEDS {
        let mut world = World::new(seed, Flaw::None);
        (0..STEPS).for_each(|_| world.step());
        counts.add(&world.counts);
    }
    for (what, count) in counts.all() {
        assert!(count >= SEEDS / 10, "{what}: only {count} in {SEEDS} worlds");
    }
}

/// How each bug is noticed.
fn words_of(bug: Bug) -> &'static str {
    match bug {
        Bug::NotLookedAtAfterRun | Bug::NoWake | Bug::NoRetry => "has missed a change",
        Bug::LatestRemembered | Bug::FailureRemembered => "remembers",
        Bug::NoRecheck => "fires without a change",
        Bug::PlaceFreeEarly => "run at the same time",
        Bug::NoHold => "takes a place that is kept",
        Bug::EndlessHold | Bug::RefusedKept => "nothing is in its way",
        Bug::NewestFirst | Bug::NoPriority => "starts before",
        Bug::AnyEnd => "has not ended",
        Bug::CheckedWhileRunning => "is started while it runs",
        Bug::PauseIgnored => "starts though it is paused",
    }
}

#[test]
fn every_planted_bug_is_noticed() {
    for bug in Bug::ALL {
        let words = words_of(*bug);
        assert!(noticed(Flaw::Bug(*bug), words).is_some(), "{bug:?} is not noticed by: {words}");
    }
}

#[test]
fn limits_that_the_board_does_not_know_are_noticed_when_they_are_exceeded() {
    for (flaw, words) in
        [(Flaw::LimitUnknown, "run at the same time"), (Flaw::PoolUnknown, "run in the pool")]
    {
        assert!(noticed(flaw, words).is_some(), "{flaw:?}");
    }
}

#[test]
fn an_event_that_never_reaches_the_board_is_noticed() {
    assert!(noticed(Flaw::EventLost, "has missed a change").is_some());
}
