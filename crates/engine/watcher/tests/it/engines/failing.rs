//! Stages fail, panic, hang and fight.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use watcher::{Answer, Budget, Clock, Config, Fields, Interest, Schedule, StageError, StageLimits};

use crate::common::{Doing, Thing, titled, visit_on};
use crate::engines::place::Place;
use crate::engines::running::{Running, config};
use crate::waiting::eventually;

pub(crate) async fn a_failing_stage_is_tried_again_then_parked_and_released_on_request(place: Place) {
    let works = Arc::new(AtomicBool::new(false));
    let broken = {
        let works = Arc::clone(&works);
        Doing::on("broken", "price", move |s| match works.load(Ordering::SeqCst) {
            true => Ok(Answer::replace(titled(s, "mended"))),
            false if s.entity.price == 1 => Err(StageError::Passing("not now".to_owned())),
            false => Err(StageError::Lasting("never".to_owned())),
        })
    };
    let store = place.open().await;
    let running = Running::start(store, vec![broken.clone()]).await;
    for (id, price, attempts) in [("passing", 1, 3), ("lasting", 2, 1)] {
        let visits = || broken.visits_of(id).len();
        running.save(&Thing::new(id, price)).await;
        eventually("all attempts are made", async || (visits() == attempts).then_some(())).await;
        running.eventually_idle().await;
        assert_eq!(visits(), attempts, "{id} is parked");
    }
    works.store(true, Ordering::SeqCst);
    for id in ["passing", "lasting"] {
        assert_eq!(running.title(id).await, "a thing", "nothing happens by itself");
        assert!(running.watcher.request_visit(&id.to_owned(), "broken").await.unwrap());
        running.eventually_titled(id, "mended").await;
    }
    assert!(!running.watcher.request_visit(&"nobody".to_owned(), "broken").await.unwrap());
    running.stop().await;
}

pub(crate) async fn a_stage_that_panics_or_hangs_fails_and_the_others_go_on(place: Place) {
    // Nobody ever opens it.
    let gate = Arc::new(Semaphore::new(0));
    let hanging =
        Arc::new(Doing::with("hanging", visit_on("price"), |_| Ok(Answer::untouched())).behind(&gate));
    let panicking = Doing::on("panicking", "price", |s| match s.entity.price {
        13 => panic!("unlucky"),
        _ => Ok(Answer::replace(titled(s, "seen"))),
    });
    // More attempts than there can be before it is noticed that it always hangs.
    let limits = StageLimits { timeout: Duration::from_millis(100), attempts_max: 100, ..config().stages };
    let stages = vec![panicking.clone() as _, hanging.clone() as _];
    let config = Config { limits: BTreeMap::from([("hanging".to_owned(), limits)]), ..config() };
    let running = Running::start_with(place.open().await, None, config, stages, "one").await;
    for price in 10..16 {
        running.save(&Thing::new(&format!("t{price}"), price)).await;
    }
    for price in (10..16).filter(|price| *price != 13) {
        running.eventually_titled(&format!("t{price}"), "seen").await;
    }
    let parked = async || (running.watcher.report("panicking").await.unwrap().parked.rows == 1).then_some(());
    eventually("the entity over which a stage panics is parked", parked).await;
    assert_eq!(panicking.visits_of("t13").len(), 3);
    assert_eq!(running.title("t13").await, "a thing");
    let down = async || running.watcher.statuses().get("hanging").and_then(|status| status.down.clone());
    let error = eventually("the stage that always hangs is down", down).await.error;
    assert_eq!(error, "it did not answer within 100ms");
    assert_eq!(
        running.watcher.report("hanging").await.unwrap().parked.rows,
        0,
        "and its entities wait for it"
    );
    running.stop().await;
}

pub(crate) async fn stages_that_fight_are_slowed_down_and_nothing_is_lost(place: Place) {
    const CHANGES: u32 = 6;
    const HOUR: Duration = Duration::from_secs(3600);
    let by = |id, step: i64| {
        Arc::new(Doing::with(id, Interest::ask_about(Fields::of(["price"])), move |s| {
            Ok(Answer::replace(Thing { price: s.entity.price + step, ..s.entity.clone() }))
        }))
    };
    let (cheaper, dearer) = (by("cheaper", -1), by("dearer", 2));
    let budget = Budget { changes: CHANGES, window: HOUR, delay: HOUR, delay_max: HOUR };
    let stages = vec![cheaper.clone() as _, dearer.clone() as _];
    let config = Config { budget, ..config() };
    let running = Running::start_with(place.open().await, None, config, stages, "one").await;
    running.save(&Thing::new("a", 1)).await;
    let slowed = async || {
        let (queued, now) = (running.queued().await, Clock::system().now());
        let is_late = !queued.is_empty() && queued.iter().all(|(_, visit, _)| visit.since(now) > HOUR / 2);
        is_late.then_some(running.find("a").await.unwrap().version)
    };
    let version = eventually("all that waits for the entity waits long", slowed).await;
    // Visits that were under way or asked for by then still come; without a budget there would be
    // thousands.
    let (least, most) = (u64::from(CHANGES) + 2, u64::from(CHANGES) + 20);
    assert!((least..=most).contains(&version), "version {version}");
    let visits = || cheaper.visits().len() + dearer.visits().len();
    let before = visits();
    let version = running.change("a", |thing| Thing { price: 1000, ..thing.unwrap() }).await;
    let seen = async || (visits() > before && running.find("a").await?.version > version).then_some(());
    eventually("a change from outside is not put off", seen).await;
    running.stop().await;
}

pub(crate) async fn a_stage_that_is_asked_visits_on_request_too(place: Place) {
    let asked =
        Doing::with("asked", Interest::ask_about_all(), |s| Ok(Answer::replace(titled(s, "visited"))));
    let asked = Arc::new(asked.deciding(|_| Ok(Schedule::No)));
    let running = Running::start(place.open().await, vec![asked]).await;
    running.save(&Thing::new("a", 1)).await;
    running.eventually_idle().await;
    assert!(running.watcher.request_visit(&"a".to_owned(), "asked").await.unwrap());
    running.eventually_titled("a", "visited").await;
    running.stop().await;
}
