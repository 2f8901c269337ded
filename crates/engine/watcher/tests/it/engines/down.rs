//! A stage does not answer at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use watcher::{Answer, Blocked, Config, Lane, StageError, StageLimits, Waits};

use crate::common::{Doing, Thing, titled};
use crate::engines::place::Place;
use crate::engines::running::{Running, config};
use crate::waiting::eventually;

pub(crate) async fn a_stage_that_does_not_answer_is_probed_and_goes_on_when_it_is_back(place: Place) {
    let works = Arc::new(AtomicBool::new(false));
    let broken = {
        let works = Arc::clone(&works);
        Doing::on("broken", "price", move |_| {
            let done = Answer::untouched().with_state("done");
            works.load(Ordering::SeqCst).then_some(done).ok_or(StageError::Passing("out of order".to_owned()))
        })
    };
    let alive = Doing::on("alive", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    // More attempts than there can be before it is noticed.
    let config = Config { stages: StageLimits { attempts_max: 100, ..config().stages }, ..config() };
    let stages = vec![broken.clone() as _, alive as _];
    let running = Running::start_with(place.open().await, None, config, stages, "one").await;
    let mut ids: Vec<String> = (0..6).map(|n| format!("t{n}")).collect();
    for id in &ids {
        running.save(&Thing::new(id, 1)).await;
    }
    let down = async || running.watcher.statuses().get("broken").and_then(|status| status.down.clone());
    let error = eventually("it is noticed that the stage does not answer", down).await.error;
    assert_eq!(error, "out of order");
    ids.push("late".to_owned());
    running.save(&Thing::new("late", 1)).await;
    for id in &ids {
        running.eventually_titled(id, "seen").await;
        let is_down = |waits: &Waits| matches!(waits, Waits::Blocked(_, Blocked::Down(_)));
        running.eventually_waits(id, "broken", is_down).await;
    }
    assert!(matches!(running.standing("late", "broken").await.waits, Waits::Blocked(Lane::Fresh, _)));
    let report = running.report("broken").await;
    assert_eq!(report.depth.values().map(|depth| depth.rows).sum::<u64>() + report.parked.rows, 7);
    assert_eq!(report.parked.rows, 0, "its entities wait for it");
    assert_eq!(report.processes["one"].down.clone().unwrap().error, "out of order");

    works.store(true, Ordering::SeqCst);
    for id in &ids {
        eventually("it goes on", async || (running.state(id, "broken").await == "done").then_some(())).await;
    }
    running.eventually_idle().await;
    let up = async || running.watcher.statuses()["broken"].down.is_none().then_some(());
    eventually("it is noticed that the stage answers", up).await;
    running.stop().await;
}

pub(crate) async fn an_entity_loses_no_attempt_while_its_stage_cannot_be_reached(place: Place) {
    let works = Arc::new(AtomicBool::new(false));
    let away = {
        let works = Arc::clone(&works);
        Doing::on("away", "price", move |_| {
            let done = Answer::untouched().with_state("done");
            works.load(Ordering::SeqCst).then_some(done).ok_or(StageError::Away("nobody is there".to_owned()))
        })
    };
    // The first attempt that counts is the last.
    let config = Config { stages: StageLimits { attempts_max: 1, ..config().stages }, ..config() };
    let running = Running::start_with(place.open().await, None, config, vec![away.clone() as _], "one").await;
    running.save(&Thing::new("only", 1)).await;
    // Nothing is said of a stage before the watcher has looked at it.
    let down = async || running.watcher.statuses().get("away").and_then(|status| status.down.clone());
    assert_eq!(eventually("one call shows that nobody is there", down).await.error, "nobody is there");
    let probed = async || (away.visits().len() >= 2).then_some(());
    eventually("it is probed", probed).await;
    assert_eq!(running.report("away").await.parked.rows, 0);

    works.store(true, Ordering::SeqCst);
    let done = async || (running.state("only", "away").await == "done").then_some(());
    eventually("it goes on", done).await;
    running.stop().await;
}
