//! Stages visit entities, change them, keep state and ask for later visits.

use std::sync::Arc;
use std::time::Duration;

use store::Batch;
use tokio::sync::Semaphore;
use watcher::{Answer, Fields, Interest, Schedule, StageError};

use crate::common::{Doing, Thing, titled, visit_on};
use crate::engines::place::Place;
use crate::engines::running::Running;
use crate::waiting::eventually;

const TIMER: Duration = Duration::from_millis(200);
/// Longer than any test lasts.
const LATER: Duration = Duration::from_secs(3600);

pub(crate) async fn one_stage_answers_to_the_change_of_another(place: Place) {
    let cheap = Doing::on("cheap", "price", |s| {
        Ok(Answer::replace(titled(s, if s.entity.price < 10 { "cheap" } else { "dear" })))
    });
    let loud = Doing::on("loud", "title", |s| Ok(Answer::replace(titled(s, &s.entity.title.to_uppercase()))));
    let running = Running::start(place.open().await, vec![cheap, loud]).await;
    for n in 0..20 {
        running.save(&Thing::new(&format!("t{n}"), n)).await;
    }
    for n in 0..20 {
        running.eventually_titled(&format!("t{n}"), if n < 10 { "CHEAP" } else { "DEAR" }).await;
    }
    running.change("t0", |thing| Thing { price: 50, ..thing.unwrap() }).await;
    running.eventually_titled("t0", "DEAR").await;
    running.eventually_idle().await;
    running.stop().await;
}

pub(crate) async fn a_state_is_kept_beside_the_entity_and_can_be_seen_and_set(place: Place) {
    let counting = Doing::on("counting", "price", |s| {
        let count: u32 = std::str::from_utf8(&s.state).unwrap().parse().unwrap_or(0);
        Ok(Answer::replace(titled(s, &format!("seen {count}"))).with_state((count + 1).to_string()))
    });
    let running = Running::start(place.open().await, vec![counting]).await;
    for price in 0..3 {
        running.save(&Thing::new("a", price)).await;
        running.eventually_titled("a", &format!("seen {price}")).await;
        assert_eq!(running.state("a", "counting").await, (price + 1).to_string(), "saved with the entity");
    }
    let (id, mut batch) = ("a".to_owned(), Batch::new());
    let seen = running.watcher.state(&id, "counting").await.unwrap().version;
    running.watcher.set_state(&mut batch, &id, "counting", seen, "100").await.unwrap();
    assert!(running.store.commit(batch.clone()).await.unwrap().is_applied());
    assert!(!running.store.commit(batch).await.unwrap().is_applied(), "the version seen is an old one now");
    running.save(&Thing::new("a", 7)).await;
    running.eventually_titled("a", "seen 100").await;
    running.stop().await;
}

pub(crate) async fn a_timer_fires_after_a_restart_and_not_before_its_time(place: Place) {
    let waking = || {
        Doing::on("waking", "price", |s| {
            if s.state.is_empty() {
                let next = s.now + TIMER;
                return Ok(Answer::untouched().with_state(next.as_ms().to_string()).visit_at(next));
            }
            Ok(Answer::replace(titled(s, "awake")))
        })
    };
    let running = Running::start(place.open().await, vec![waking()]).await;
    for n in 0..5 {
        running.save(&Thing::new(&format!("t{n}"), 1)).await;
    }
    for n in 0..5 {
        let look = async || (!running.state(&format!("t{n}"), "waking").await.is_empty()).then_some(());
        eventually("the timer is armed", look).await;
    }
    let store = place.reopen(running.stop().await).await;
    let stage = waking();
    let running =
        Running::start_with(store, None, crate::engines::running::config(), vec![stage.clone()], "two").await;
    for n in 0..5 {
        running.eventually_titled(&format!("t{n}"), "awake").await;
    }
    for id in (0..5).map(|n| format!("t{n}")) {
        let armed: i64 = running.state(&id, "waking").await.parse().unwrap();
        for (_, time) in stage.visits_of(&id) {
            assert!(time.as_ms() >= armed, "{time} is before {armed}");
        }
    }
    running.stop().await;
}

pub(crate) async fn a_stage_that_is_asked_is_visited_as_it_wishes(place: Place) {
    let picky = Doing::with("picky", Interest::ask_about(Fields::of(["price"])), |s| {
        Ok(Answer::replace(titled(s, "visited")))
    });
    let picky = picky.deciding(|s| match s.entity.price {
        0 => Ok(Schedule::No),
        1 => Ok(Schedule::Now),
        2 => Ok(Schedule::At(s.now + TIMER)),
        3 => Ok(Schedule::At(s.now + LATER)),
        4 => panic!("a stage may panic when it is asked"),
        _ => Err(StageError::Passing("who knows".to_owned())),
    });
    let picky = Arc::new(picky);
    let running = Running::start(place.open().await, vec![picky.clone()]).await;
    for price in 0..6 {
        running.save(&Thing::new(&format!("t{price}"), price)).await;
    }
    for price in [1, 2, 4, 5] {
        running.eventually_titled(&format!("t{price}"), "visited").await;
    }
    let only_the_late_one = async || {
        let queued = running.queued().await;
        (queued.len() == 1 && queued[0].0 == "picky" && queued[0].2 == "t3").then_some(())
    };
    eventually("all were asked, and only t3 waits", only_the_late_one).await;
    assert_eq!(running.find("t0").await.unwrap().version, 1);
    assert_eq!([picky.visits_of("t0"), picky.visits_of("t3")], [[], []]);
    running.stop().await;
}

pub(crate) async fn a_patch_is_made_to_the_version_that_came_meanwhile(place: Place) {
    let (price, gate) = (Fields::of(["price"]), Arc::new(Semaphore::new(0)));
    let slow = Doing::with("slow", visit_on("price"), move |s| {
        Ok(Answer::patch(price.clone(), Thing { price: 100, ..s.entity.clone() }))
    });
    let slow = Arc::new(slow.behind(&gate));
    let running = Running::start(place.open().await, vec![slow.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    eventually("the stage is at work", async || (slow.visits().len() == 1).then_some(())).await;
    running.change("a", |thing| Thing { title: "another".to_owned(), ..thing.unwrap() }).await;
    gate.add_permits(10);
    eventually("the patch is saved", async || (running.thing("a").await.price == 100).then_some(())).await;
    assert_eq!(running.title("a").await, "another", "both changes are there");
    running.eventually_idle().await;
    assert_eq!(slow.visits().len(), 1, "without another visit");
    running.stop().await;
}

pub(crate) async fn an_answer_to_an_old_version_is_not_saved(place: Place) {
    let gate = Arc::new(Semaphore::new(0));
    let slow = Doing::with("slow", visit_on("price"), |s| {
        let title = format!("{} of version {}", s.entity.price, s.version);
        Ok(Answer::replace(titled(s, &title)))
    });
    let slow = Arc::new(slow.behind(&gate));
    let running = Running::start(place.open().await, vec![slow.clone()]).await;
    running.save(&Thing::new("a", 1)).await;
    eventually("the stage is at work", async || (slow.visits().len() == 1).then_some(())).await;
    running.save(&Thing::new("a", 2)).await;
    gate.add_permits(10);
    running.eventually_titled("a", "2 of version 2").await;
    running.eventually_idle().await;
    assert_eq!(running.find("a").await.unwrap().version, 3, "the first answer left no trace");
    let versions: Vec<u64> = slow.visits().iter().map(|(version, _)| *version).collect();
    assert_eq!(versions, [1, 2]);
    running.stop().await;
}
