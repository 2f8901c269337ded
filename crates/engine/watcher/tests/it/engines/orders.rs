//! What people order for a stage: to rest and to go on, to keep other limits, to try again what it
//! has parked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use watcher::{
    Answer, Blocked, Clock, Config, Control, Failed, Lane, LimitOverrides, StageError, StageLimits, Waits,
};

use crate::common::{Doing, Thing, titled, visit_on};
use crate::engines::place::Place;
use crate::engines::running::{Running, bystander, config, save_new};
use crate::waiting::eventually;

const TICK: Duration = Duration::from_millis(10);
const HOUR: Duration = Duration::from_secs(3600);
/// One visit in an hour: none as long as a test lasts.
pub(crate) const HOURLY: f64 = 1.0 / 3600.0;

/// A stage that visits everything again and again.
pub(crate) fn ticking() -> Arc<Doing> {
    Doing::on("ticking", "price", |s| Ok(Answer::untouched().visit_at(s.now + TICK)))
}

fn seeing(id: &'static str) -> Arc<Doing> {
    Doing::on(id, "price", |s| Ok(Answer::replace(titled(s, "seen"))))
}

pub(crate) async fn a_stage_that_is_paused_rests_after_a_restart_too_until_it_is_resumed(place: Place) {
    let stage = ticking();
    let running = Running::start(place.open().await, vec![stage.clone(), seeing("other")]).await;
    for id in ["a", "b", "c"] {
        running.save(&Thing::new(id, 1)).await;
        eventually("it ticks", async || (stage.visits_of(id).len() > 1).then_some(())).await;
    }
    running.watcher.pause_stage("ticking", "the model is being trained").await.unwrap();
    let rests = async || {
        let status = running.watcher.statuses().remove("ticking").unwrap();
        (status.blocked == Some(Blocked::Paused) && status.calls == 0).then_some(())
    };
    eventually("it rests", rests).await;
    let visits = stage.visits().len();
    running.save(&Thing::new("d", 1)).await;
    running.eventually_titled("d", "seen").await;
    for (id, lane) in [("a", Lane::Timer), ("b", Lane::Timer), ("c", Lane::Timer), ("d", Lane::Fresh)] {
        let paused = Waits::Blocked(lane, Blocked::Paused);
        running.eventually_waits(id, "ticking", |waits| *waits == paused).await;
    }
    let report = running.report("ticking").await;
    assert_eq!(
        (report.depth[&Lane::Fresh].rows, report.depth[&Lane::Timer].rows, report.parked.rows),
        (1, 3, 0)
    );
    assert_eq!(report.control.paused.unwrap().reason, "the model is being trained");
    assert_eq!(report.processes["one"].blocked, Some(Blocked::Paused));
    assert_eq!(stage.visits().len(), visits, "nothing was visited meanwhile");

    let (store, stage) = (place.reopen(running.stop().await).await, ticking());
    let stages = vec![stage.clone() as _, seeing("other") as _];
    let running = Running::start_with(store, None, config(), stages, "two").await;
    running.save(&Thing::new("e", 1)).await;
    running.eventually_titled("e", "seen").await;
    let paused = Waits::Blocked(Lane::Fresh, Blocked::Paused);
    running.eventually_waits("e", "ticking", |waits| *waits == paused).await;
    assert!(stage.visits().is_empty());
    running.watcher.resume_stage("ticking").await.unwrap();
    assert_eq!(running.watcher.control("ticking").await.unwrap(), Control::default());
    for id in ["a", "b", "c", "d", "e"] {
        eventually("it ticks again", async || (stage.visits_of(id).len() > 1).then_some(())).await;
    }
    running.stop().await;
}

/// Whether something waits for a rate that lets nothing through for long.
pub(crate) fn is_held_by_rate(waits: &Waits, lane: Lane) -> bool {
    let Waits::Blocked(in_lane, Blocked::Rate(until)) = waits else { return false };
    *in_lane == lane && until.since(Clock::system().now()) > HOUR / 2
}

pub(crate) async fn a_rate_holds_visits_back_and_says_so_until_another_is_ordered(place: Place) {
    let slow = seeing("slow");
    let config = Config { stages: StageLimits { rate: Some(HOURLY), ..config().stages }, ..config() };
    let running = Running::start_with(place.open().await, None, config, vec![slow.clone()], "one").await;
    let watcher = &running.watcher;
    for id in ["a", "b", "c"] {
        running.save(&Thing::new(id, 1)).await;
        running.eventually_waits(id, "slow", |waits| is_held_by_rate(waits, Lane::Fresh)).await;
    }
    let report = running.report("slow").await;
    assert_eq!(report.depth[&Lane::Fresh].rows, 3);
    assert!(matches!(report.processes["one"].blocked, Some(Blocked::Rate(_))), "{report:?}");
    assert!(slow.visits().is_empty());

    for wrong in [0.0, f64::NAN] {
        let refused =
            watcher.set_limits("slow", LimitOverrides { rate: Some(wrong), ..LimitOverrides::default() });
        assert!(refused.await.unwrap_err().to_string().contains("rate must be more than 0"));
    }
    assert_eq!(watcher.control("slow").await.unwrap().limits, LimitOverrides::default());
    let quick = LimitOverrides { rate: Some(1000.0), ..LimitOverrides::default() };
    watcher.set_limits("slow", quick).await.unwrap();
    assert_eq!(running.report("slow").await.control.limits, quick);
    for id in ["a", "b", "c"] {
        running.eventually_titled(id, "seen").await;
    }

    watcher.set_limits("slow", LimitOverrides::default()).await.unwrap();
    let mut price = 1;
    // Visits go on until the order is heard.
    let held = async || {
        price += 1;
        running.save(&Thing::new("late", price)).await;
        is_held_by_rate(&running.standing("late", "slow").await.waits, Lane::Fresh).then_some(())
    };
    eventually("the configured rate holds again", held).await;
    running.stop().await;
}

pub(crate) async fn limits_that_were_ordered_while_nobody_served_hold_from_the_first_call_on(place: Place) {
    let (store, gate) = (place.open().await, Arc::new(Semaphore::new(0)));
    let slow = Doing::with("slow", visit_on("price"), |s| Ok(Answer::replace(titled(s, "seen"))));
    let slow = Arc::new(slow.behind(&gate));
    let elsewhere = bystander(&store, vec![slow.clone()]).await;
    let few = LimitOverrides { calls_max: Some(1), batch_max: Some(2), ..LimitOverrides::default() };
    elsewhere.set_limits("slow", few).await.unwrap();
    let ids: Vec<String> = (0..6).map(|n| format!("t{n}")).collect();
    let things: Vec<Thing> = ids.iter().map(|id| Thing::new(id, 1)).collect();
    save_new(&store, &elsewhere, &things).await;

    let config = Config { stages: StageLimits { timeout: HOUR, ..config().stages }, ..config() };
    let running = Running::start_with(store, None, config, vec![slow.clone()], "one").await;
    let waits_for_a_call =
        |waits: &Waits| matches!(waits, Waits::Visiting(_) | Waits::Blocked(Lane::Fresh, Blocked::Calls));
    for id in &ids {
        running.eventually_waits(id, "slow", waits_for_a_call).await;
    }
    assert!((1..=2).contains(&slow.visits().len()), "{:?}", slow.visits());
    let report = running.report("slow").await;
    assert_eq!((report.processes["one"].calls, report.control.limits), (1, few));
    gate.add_permits(100);
    for id in &ids {
        running.eventually_titled(id, "seen").await;
    }
    running.stop().await;
}

pub(crate) async fn all_that_a_stage_has_parked_is_released_at_once_and_nothing_of_another(place: Place) {
    let mended = Arc::new(AtomicBool::new(false));
    let strict = |id| {
        let mended = Arc::clone(&mended);
        Doing::on(id, "price", move |s| {
            let done = Answer::replace(titled(s, id));
            mended.load(Ordering::SeqCst).then_some(done).ok_or(StageError::Lasting("a bug".to_owned()))
        })
    };
    let running = Running::start(place.open().await, vec![strict("one"), strict("two")]).await;
    let ids: Vec<String> = (0..40).map(|n| format!("t{n}")).collect();
    let things: Vec<Thing> = ids.iter().map(|id| Thing::new(id, 1)).collect();
    save_new(&running.store, &running.watcher, &things).await;
    let parked = async |stage: &str| running.report(stage).await.parked.rows;
    for stage in ["one", "two"] {
        eventually("all are parked", async || (parked(stage).await == 40).then_some(())).await;
    }
    let standing = running.standing("t7", "one").await;
    assert_eq!(
        (standing.waits, standing.failed),
        (Waits::Parked, Some(Failed { attempts: 1, error: "a bug".to_owned() }))
    );
    assert_eq!(standing.last.unwrap().changed, None);

    mended.store(true, Ordering::SeqCst);
    assert_eq!(running.watcher.release("one").await.unwrap(), 40);
    for id in &ids {
        running.eventually_titled(id, "one").await;
    }
    assert_eq!((parked("one").await, parked("two").await), (0, 40));
    assert_eq!(running.watcher.release("one").await.unwrap(), 0);
    running.stop().await;
}
