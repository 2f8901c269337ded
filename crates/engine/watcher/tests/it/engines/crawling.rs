//! The re-crawl: every stage is asked about every entity, in the background.

use std::sync::Arc;
use std::time::Duration;

use store::Store;
use watcher::{Answer, Blocked, Fields, Interest, Lane, Recrawl, Schedule, VisitReason, Waits, Watcher};

use crate::common::{Doing, Thing, titled};
use crate::engines::place::Place;
use crate::engines::running::{Running, Stages, bystander, config, save_new};
use crate::waiting::eventually;

/// Longer than any test lasts.
const LATER: Duration = Duration::from_secs(3600);
/// Two entities in a second: it does not see all of [`MANY`] as long as a test has patience.
const SLOWLY: Option<u32> = Some(2);
const NO_LIMIT: Option<u32> = None;
const MANY: u64 = 160;

/// Things that were saved before there were any stages; every fourth has the same price, from 0 to
/// 3.
async fn save_base(store: &Store, count: u64) -> Vec<String> {
    let things: Vec<Thing> =
        (0..i64::try_from(count).unwrap()).map(|n| Thing::new(&format!("t{n}"), n % 4)).collect();
    save_new(store, &bystander(store, vec![]).await, &things).await;
    things.into_iter().map(|thing| thing.id).collect()
}

/// A stage that counts its visits to each entity.
fn counting() -> Arc<Doing> {
    Doing::on("counting", "price", |s| {
        let count: u32 = std::str::from_utf8(&s.state).unwrap().parse().unwrap_or(0);
        Ok(Answer::untouched().with_state((count + 1).to_string()))
    })
}

async fn crawl(watcher: &Watcher<Thing>) -> Recrawl {
    watcher.recrawl().await.unwrap().unwrap()
}

async fn start(store: Store, stages: Stages, instance: &str) -> Running {
    Running::start_with(store, None, config(), stages, instance).await
}

impl Running {
    async fn eventually_crawled(&self) -> Recrawl {
        eventually("the re-crawl is done", async || {
            let crawl = crawl(&self.watcher).await;
            crawl.done.then_some(crawl)
        })
        .await
    }

    async fn eventually_under_way(&self) {
        let under_way = async || (crawl(&self.watcher).await.seen > 0).then_some(());
        eventually("the re-crawl is under way", under_way).await;
    }

    async fn eventually_counted(&self, ids: &[String], count: &str) {
        for id in ids {
            let counted = async || (self.state(id, "counting").await == count).then_some(());
            eventually(&format!("{id} was visited {count} times"), counted).await;
        }
    }
}

pub(crate) async fn a_stage_that_is_new_sees_what_was_there_before_it(place: Place) {
    let picky = Doing::with("picky", Interest::ask_about(Fields::of(["price"])), |s| {
        Ok(Answer::replace(titled(s, "seen")))
    });
    let picky = Arc::new(picky.deciding(|s| match s.entity.price {
        0 => Ok(Schedule::No),
        1 => Ok(Schedule::At(s.now + LATER)),
        _ => Ok(Schedule::Now),
    }));
    let store = place.open().await;
    let ids = save_base(&store, 60).await;
    let elsewhere = bystander(&store, vec![picky.clone()]).await;
    elsewhere.pause_stage("picky", "to see what is queued").await.unwrap();
    let running = Running::start(store, vec![picky.clone()]).await;
    assert_eq!(running.watcher.recrawl().await.unwrap(), None);
    running.watcher.start_recrawl(NO_LIMIT).await.unwrap();
    let crawl = running.eventually_crawled().await;
    assert_eq!((crawl.shards_done, crawl.shards, crawl.per_second), (4, 4, NO_LIMIT));
    assert_eq!((crawl.seen, crawl.queued, crawl.damaged), (60, 45, 0));
    let report = running.report("picky").await;
    assert_eq!((report.depth[&Lane::Background].rows, report.depth[&Lane::Timer].rows), (30, 15));
    let paused = Waits::Blocked(Lane::Background, Blocked::Paused);
    running.eventually_waits("t2", "picky", |waits| *waits == paused).await;
    assert_eq!(running.standing("t2", "picky").await.why, Some(VisitReason::Recrawl));

    running.watcher.resume_stage("picky").await.unwrap();
    for (n, id) in ids.iter().enumerate() {
        match n % 4 {
            0 => assert_eq!(running.standing(id, "picky").await.waits, Waits::NotInterested),
            1 => {
                let waits = running.standing(id, "picky").await.waits;
                assert!(matches!(waits, Waits::Until(_, Lane::Timer)), "{waits}");
            }
            _ => running.eventually_titled(id, "seen").await,
        }
    }
    assert_eq!(running.report("picky").await.depth[&Lane::Background].rows, 0);
    running.stop().await;
}

pub(crate) async fn a_recrawl_rests_and_goes_on_where_it_was_after_restarts_too(place: Place) {
    let store = place.open().await;
    let ids = save_base(&store, MANY).await;
    let elsewhere = bystander(&store, vec![counting()]).await;
    elsewhere.start_recrawl(SLOWLY).await.unwrap();
    let refused = elsewhere.start_recrawl(NO_LIMIT).await.unwrap_err().to_string();
    assert!(refused.contains("(0 of 4 shards are done): cancel it first"), "{refused}");
    drop(elsewhere);
    let running = start(store, vec![counting()], "one").await;
    running.eventually_under_way().await;
    let store = place.reopen(running.stop().await).await;

    let elsewhere = bystander(&store, vec![counting()]).await;
    let before = crawl(&elsewhere).await;
    assert!(before.seen > 0 && !before.done && !before.paused && before.per_second == SLOWLY, "{before:?}");
    // At full speed, if it did not rest.
    elsewhere.resume_recrawl(NO_LIMIT).await.unwrap();
    elsewhere.pause_recrawl().await.unwrap();
    let rests = Recrawl { per_second: NO_LIMIT, paused: true, ..before };
    drop(elsewhere);
    let running = start(store, vec![counting()], "two").await;
    for price in 0..10 {
        let version = running.save(&Thing::new("fresh", price)).await;
        let seen = async || Some(running.standing("fresh", "counting").await.last?.version >= version);
        eventually("fresh work is done", async || seen().await.filter(|seen| *seen)).await;
    }
    assert_eq!(crawl(&running.watcher).await, rests);
    assert!(running.watcher.start_recrawl(NO_LIMIT).await.is_err(), "one that rests is under way");

    running.watcher.resume_recrawl(NO_LIMIT).await.unwrap();
    let done = running.eventually_crawled().await;
    assert!(
        (MANY..=MANY + 1).contains(&done.seen),
        "{done:?}: the fresh one may be where the crawl has been"
    );
    assert!(!done.paused && !done.cancelled && done.damaged == 0, "{done:?}");
    running.eventually_counted(&ids, "1").await;
    running.eventually_idle().await;
    running.watcher.start_recrawl(NO_LIMIT).await.unwrap();
    let again = running.eventually_crawled().await;
    assert_eq!((again.seen, again.queued), (MANY + 1, MANY + 1));
    running.eventually_counted(&ids, "2").await;
    running.stop().await;
}

pub(crate) async fn a_recrawl_that_is_cancelled_stays_where_it_is_and_another_may_follow(place: Place) {
    let store = place.open().await;
    let ids = save_base(&store, MANY).await;
    let running = Running::start(store, vec![counting()]).await;
    let watcher = &running.watcher;
    let nothing = async || {
        let orders = [
            watcher.pause_recrawl().await,
            watcher.resume_recrawl(NO_LIMIT).await,
            watcher.cancel_recrawl().await,
        ];
        for order in orders {
            let refused = order.unwrap_err().to_string();
            assert!(refused.starts_with("no re-crawl"), "{refused}");
        }
    };
    nothing().await;
    assert!(watcher.start_recrawl(Some(0)).await.unwrap_err().to_string().contains("never ends"));
    watcher.start_recrawl(SLOWLY).await.unwrap();
    running.eventually_under_way().await;
    watcher.cancel_recrawl().await.unwrap();
    let cancelled = crawl(watcher).await;
    assert!(cancelled.cancelled && !cancelled.done && cancelled.seen < MANY, "{cancelled:?}");
    nothing().await;
    watcher.start_recrawl(NO_LIMIT).await.unwrap();
    let done = running.eventually_crawled().await;
    assert_eq!((done.seen, done.cancelled), (MANY, false));
    nothing().await;
    running.eventually_idle().await;
    for id in &ids {
        assert!(["1", "2"].contains(&&*running.state(id, "counting").await), "{id}");
    }
    running.stop().await;
}
