//! Wrong uses: clear errors, and nothing is lost.

use std::sync::Arc;
use std::time::Duration;

use store::{Batch, Store};
use watcher::{Answer, Config, Error, Setup, StageLimits, Time, Watcher};

use crate::common::{Doing, Thing, titled};
use crate::engines::place::Place;
use crate::engines::running::{Running, Stages, config};
use crate::waiting::eventually;

fn idle(id: &'static str) -> Arc<Doing> {
    Doing::on(id, "price", |_| Ok(Answer::untouched()))
}

async fn refusal(store: &Store, config: Config, stages: Stages) -> String {
    let opened = Watcher::<Thing>::open(store, Setup { config, stages, seed: 1, ..Setup::default() }).await;
    opened.err().expect("it is refused").to_string()
}

pub(crate) async fn what_cannot_work_is_refused_when_the_watcher_is_opened(place: Place) {
    let store = place.open().await;
    let error = refusal(&store, config(), vec![idle("same"), idle("same")]).await;
    assert_eq!(error, "two stages have the id \"same\": give one of them another id");
    let error = refusal(&store, Config { shards: 0, ..config() }, vec![]).await;
    assert!(error.contains("shards must be from 1"), "{error}");
    let stages = StageLimits { calls_max: 0, ..config().stages };
    let error = refusal(&store, Config { stages, ..config() }, vec![]).await;
    assert!(error.contains("one call"), "{error}");

    let running = Running::start(store, vec![idle("same")]).await;
    running.save(&Thing::new("a", 1)).await;
    let store = place.reopen(running.stop().await).await;
    let error = refusal(&store, Config { shards: 5, ..config() }, vec![idle("same")]).await;
    assert!(error.contains("keeps thing in 4 shards, and 5 are configured"), "{error}");
    let running = Running::start_with(store, None, config(), vec![idle("same")], "two").await;
    assert_eq!(running.thing("a").await, Thing::new("a", 1), "with the right number all is there");
    running.stop().await;
}

pub(crate) async fn answers_that_cannot_be_kept_are_parked_and_nothing_is_lost(place: Place) {
    const CENTURY: Duration = Duration::from_secs(101 * 366 * 24 * 3600);
    let wrong = Doing::on("wrong", "price", |s| {
        Ok(match s.entity.price {
            1 => Answer::replace(Thing::new("another", 1)),
            2 => Answer::untouched().with_state(vec![0; 300_000]),
            3 => Answer::untouched().visit_at(Time::from_ms(s.now.as_ms() - 3_600_000)),
            4 => Answer::untouched().visit_at(s.now + CENTURY),
            5 => Answer::replace(titled(s, &"x".repeat(600_000))),
            _ => Answer::replace(titled(s, "right")),
        })
    });
    let running = Running::start(place.open().await, vec![wrong.clone()]).await;
    for price in 1..=5 {
        running.save(&Thing::new(&format!("t{price}"), price)).await;
    }
    eventually("all were visited", async || (wrong.visits().len() == 5).then_some(())).await;
    running.eventually_idle().await;
    assert_eq!(wrong.visits().len(), 5, "a wrong answer is not asked for again");
    assert_eq!(running.find("another").await, None);
    for price in 1..=5 {
        let id = format!("t{price}");
        assert_eq!(running.thing(&id).await, Thing::new(&id, price));
        assert_eq!(running.state(&id, "wrong").await, "");
        running.change(&id, |thing| Thing { price: 6, ..thing.unwrap() }).await;
        running.eventually_titled(&id, "right").await;
    }
    running.stop().await;
}

pub(crate) async fn what_cannot_be_kept_is_refused_at_once(place: Place) {
    let running = Running::start(place.open().await, vec![idle("idle")]).await;
    let (watcher, mut batch) = (&running.watcher, Batch::new());
    let refused = |error: watcher::Result<u64>| match error {
        Err(Error::Refused { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let long = Thing::new(&"x".repeat(201), 1);
    assert!(refused(watcher.save(&mut batch, None, &long).await).contains("200 bytes"));
    running.save(&Thing::new("a", 1)).await;
    let before = running.find("a").await;
    let foreign = refused(watcher.save(&mut batch, before.as_ref(), &Thing::new("b", 1)).await);
    assert_eq!(foreign, "an entity cannot change its id");
    let large = Thing { title: "x".repeat(600_000), ..Thing::new("a", 1) };
    assert!(refused(watcher.save(&mut batch, before.as_ref(), &large).await).contains("the limit is"));
    let id = "a".to_owned();
    let state = watcher.set_state(&mut batch, &id, "idle", 0, vec![0; 300_000]).await;
    assert!(state.unwrap_err().to_string().contains("a state of 300000 bytes cannot be kept"));
    let unknown = watcher.request_visit(&id, "nobody").await.unwrap_err().to_string();
    assert_eq!(unknown, "thing has no stage \"nobody\"; it has idle");
    assert!(batch.is_empty(), "whatever was refused left the batch as it was");
    running.stop().await;
}
