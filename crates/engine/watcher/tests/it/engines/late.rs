//! Timers that came due while nobody could serve them.

use std::sync::Arc;
use std::time::Duration;

use watcher::{Answer, Blocked, Clock, Config, Lane, StageLimits, Time, VisitReason, Waits};

use crate::common::{Doing, Thing, titled};
use crate::engines::orders::{HOURLY, is_held_by_rate, ticking};
use crate::engines::place::Place;
use crate::engines::running::{Running, bystander, config, standing};
use crate::waiting::eventually;

const HOUR_MS: i64 = 3_600_000;
const DAY: Duration = Duration::from_secs(24 * 3600);
/// A process that stands still for a while on a busy machine keeps its shards.
const LEASE_TIME: Duration = Duration::from_secs(60);
const LATE: [&str; 6] = ["t0", "t1", "t2", "t3", "t4", "t5"];

/// A stage that asks for a second visit; the price says after how many milliseconds.
fn timed() -> Arc<Doing> {
    Doing::on("timed", "price", |s| {
        if s.state.is_empty() {
            let wait = Duration::from_millis(u64::try_from(s.entity.price).unwrap());
            return Ok(Answer::untouched().with_state("armed").visit_at(s.now + wait));
        }
        Ok(Answer::replace(titled(s, "seen again")))
    })
}

fn catching_up(catch_up: Option<f64>) -> Config {
    let stages = StageLimits { catch_up, ..config().stages };
    Config { stages, lease_time: LEASE_TIME, ..config() }
}

/// Has the stage arm a timer for each entity; returns the earliest. By the clock of that process it
/// is yesterday: its timers come due while it does not run, however long a test takes.
async fn arm_yesterday(running: &Running) -> Time {
    let mut first = None;
    for id in LATE {
        running.save(&Thing::new(id, HOUR_MS)).await;
        eventually("it is armed", async || (running.state(id, "timed").await == "armed").then_some(())).await;
        let standing = running.standing(id, "timed").await;
        assert_eq!((standing.why, standing.last.unwrap().changed), (Some(VisitReason::Timer), Some(false)));
        let Waits::Until(time, Lane::Timer) = standing.waits else { panic!("{:?}", standing.waits) };
        first = [first, Some(time)].into_iter().flatten().min();
    }
    first.unwrap()
}

pub(crate) async fn timers_that_came_due_while_nobody_served_are_spread(place: Place) {
    let (store, yesterday) = (place.open().await, Clock::new(|| Clock::system().now() - DAY));
    let running = Running::start_at(store, None, yesterday, config(), vec![timed() as _], "one").await;
    let first = arm_yesterday(&running).await;
    let store = place.reopen(running.stop().await).await;
    let elsewhere = bystander(&store, vec![timed()]).await;
    for id in LATE {
        assert_eq!(standing(&elsewhere, id, "timed").await.waits, Waits::NoOwner(Lane::Timer));
    }
    assert_eq!(elsewhere.explain(&"t0".to_owned()).await.unwrap().owner, None);
    drop(elsewhere);

    let stage = timed();
    let running =
        Running::start_with(store, None, catching_up(Some(HOURLY)), vec![stage.clone()], "two").await;
    running.save(&Thing::new("fresh", 20)).await;
    running.eventually_titled("fresh", "seen again").await;
    for id in LATE {
        running.eventually_waits(id, "timed", |waits| is_held_by_rate(waits, Lane::Timer)).await;
        assert_eq!(stage.visits_of(id), [], "only what is late is held back");
    }
    let report = running.report("timed").await;
    assert_eq!((report.depth[&Lane::Timer].rows, report.oldest), (6, Some(first)));
    let status = &report.processes["two"];
    assert!(matches!(status.blocked, Some(Blocked::Rate(_))), "{status:?}");
    assert_eq!(status.oldest_due, Some(first));

    let store = place.reopen(running.stop().await).await;
    let running = Running::start_with(store, None, catching_up(None), vec![timed()], "three").await;
    for id in LATE {
        running.eventually_titled(id, "seen again").await;
    }
    running.eventually_idle().await;
    running.stop().await;
}

pub(crate) async fn timers_that_came_due_during_a_pause_are_spread(place: Place) {
    let stage = ticking();
    let config = Config { lease_time: config().lease_time, ..catching_up(Some(HOURLY)) };
    let running = Running::start_with(place.open().await, None, config, vec![stage.clone()], "one").await;
    for id in LATE {
        running.save(&Thing::new(id, 1)).await;
        eventually("it is visited", async || (!stage.visits_of(id).is_empty()).then_some(())).await;
    }
    running.watcher.pause_stage("ticking", "").await.unwrap();
    for id in LATE {
        let paused = Waits::Blocked(Lane::Timer, Blocked::Paused);
        running.eventually_waits(id, "ticking", |waits| *waits == paused).await;
    }
    running.watcher.resume_stage("ticking").await.unwrap();
    for id in LATE {
        running.eventually_waits(id, "ticking", |waits| is_held_by_rate(waits, Lane::Timer)).await;
    }
    running.save(&Thing::new("fresh", 1)).await;
    eventually("fresh work is not held up", async || stage.visits_of("fresh").first().copied()).await;
    running.stop().await;
}
