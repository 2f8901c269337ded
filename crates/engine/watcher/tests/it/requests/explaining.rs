//! Why an entity waits, and over what stages fight.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use watcher::limits::FIGHTS_KEPT_MAX;
use watcher::{
    Answer, Blocked, Budget, Clock, Config, Fields, Interest, Lane, LimitOverrides, Line, Setup, Stage,
    StageLimits, Waits, Watcher,
};

use crate::common::{Doing, Running, SECOND, START, Thing, config, memory};

/// A stage that takes its time.
fn slow(id: &'static str) -> Arc<Doing> {
    let doing = Doing::with(id, Interest::visit_on(Fields::of(["price"])), |_| Ok(Answer::untouched()));
    Arc::new(Doing { takes: 8 * SECOND, ..doing })
}

#[tokio::test(start_paused = true)]
async fn who_is_visiting_an_entity_is_explained() {
    let running = Running::start(vec![slow("one"), slow("two")]).await;
    running.save(&Thing::new("a", 1)).await;
    running.pass(SECOND).await;
    let mut waits: Vec<(String, Waits)> = Vec::new();
    for (stage, standing) in running.explain("a").await.stages {
        waits.push((stage, standing.waits));
    }
    waits.sort_by_key(|(_, waits)| !matches!(waits, Waits::Visiting(_)));
    let [(visitor, first), (_, second)] = <[_; 2]>::try_from(waits).unwrap();
    assert_eq!(first, Waits::Visiting(Lane::Fresh));
    assert_eq!(second, Waits::Busy(Lane::Fresh, visitor));
    running.pass(60 * SECOND).await;
    assert!(running.explain("a").await.stages.values().all(|s| s.waits == Waits::NotInterested));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_holds_up_the_background_is_not_said_of_fresh_work() {
    let (store, clock, stage) = (memory(), Clock::starting_at(START), slow("slow"));
    let limits = StageLimits { batch_max: 1, ..StageLimits::default() };
    let config = Config { stages: limits, ..config() };
    let stages = || vec![stage.clone() as Arc<dyn Stage<Thing>>];
    let running = Running::start_on(store.clone(), clock.clone(), config.clone(), stages(), "one").await;
    for n in 0..20 {
        running.save(&Thing::new(&format!("e{n}"), 1)).await;
    }
    running.pass(60 * SECOND).await;
    running.watcher.start_recrawl(None).await.unwrap();
    running.pass(10 * SECOND).await;
    let status = running.watcher.statuses()["slow"].clone();
    assert_eq!(status.lines.get(&Line::Background), Some(&Blocked::Calls), "it has one call at a time");
    assert_eq!(status.lines.get(&Line::Fresh), None);
    running.save(&Thing::new("fresh", 1)).await;
    running.pass(6 * SECOND).await;
    let background = async |watcher: &Watcher<Thing>| {
        let mut blocked = 0;
        for n in 0..20 {
            let waits = watcher.explain(&format!("e{n}")).await.unwrap().stages["slow"].waits.clone();
            blocked += usize::from(waits == Waits::Blocked(Lane::Background, Blocked::Calls));
        }
        blocked
    };
    assert!(background(&running.watcher).await > 10);
    let fresh = running.explain("fresh").await.stages["slow"].waits.clone();
    assert_eq!(fresh, Waits::Visiting(Lane::Fresh));
    // Another process knows what the owner has written.
    let other = Watcher::open(&store, Setup { clock, config, stages: stages(), seed: 1, ..Setup::default() })
        .await
        .unwrap();
    assert!(background(&other).await > 10);
    let explained = other.explain(&"fresh".to_owned()).await.unwrap();
    assert_eq!(explained.owner.as_deref(), Some("one"));
    assert_eq!(
        explained.stages["slow"].waits,
        Waits::Due(Lane::Fresh),
        "what it does right now it does not write"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn when_stages_fight_no_more_an_entity_is_not_said_to_be_slowed_down() {
    let up = Doing::on("up", "price", |s| {
        let price = s.entity.price + 1;
        let answer = Answer::replace(Thing { price, ..s.entity.clone() });
        Ok(if price < 9 { answer.visit_at(s.now) } else { answer })
    });
    let budget = Budget { changes: 5, window: 60 * SECOND, delay: 5 * SECOND, delay_max: 10 * SECOND };
    let running = Running::start_with(Config { budget, ..config() }, vec![up]).await;
    running.save(&Thing::new("a", 0)).await;
    running.pass(SECOND).await;
    let slowed = running.explain("a").await.slowed.unwrap();
    assert_eq!((&*slowed.stages[0].stage, slowed.stages[0].changes), ("up", 6));
    assert_eq!((slowed.stages[0].fields.join(" "), slowed.delay), ("price".to_owned(), 5 * SECOND));
    assert_eq!(
        running.explain("a").await.stages["up"].waits,
        Waits::Until(slowed.until.unwrap(), Lane::Timer)
    );
    running.pass(600 * SECOND).await;
    assert_eq!(running.thing("a").await.0.price, 9);
    let explained = running.explain("a").await;
    assert_eq!(explained.slowed, None, "{explained}");
    // What has happened can still be read.
    let fights = running.watcher.fights();
    let delays: Vec<u64> = fights.iter().map(|fight| fight.fight.delay.as_secs()).collect();
    assert_eq!(delays, [5, 10, 10, 10]);
    for fight in &fights {
        assert_eq!((&*fight.entity, &*fight.fight.stages[0].stage), ("a", "up"));
        assert!(fight.at.since(START) < 60 * SECOND);
    }
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn only_the_last_fights_are_remembered() {
    let up = Doing::on("up", "price", |s| {
        Ok(Answer::replace(Thing { price: s.entity.price + 1, ..s.entity.clone() }).visit_at(s.now))
    });
    let step = Duration::from_millis(100);
    let budget = Budget { changes: 1, window: 3600 * SECOND, delay: step, delay_max: step };
    let running = Running::start_with(Config { budget, ..config() }, vec![up]).await;
    running.save(&Thing::new("a", 0)).await;
    running.pass(60 * SECOND).await;
    let fights = running.watcher.fights();
    assert_eq!(fights.len(), FIGHTS_KEPT_MAX);
    assert!(fights.is_sorted_by_key(|fight| fight.at) && fights[0].at > START + 30 * SECOND);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn who_serves_which_shard_is_told_of_all_processes_until_they_end() {
    let (store, clock) = (memory(), Clock::starting_at(START));
    let stages = || vec![slow("slow") as Arc<dyn Stage<Thing>>];
    let one = Running::start_on(store.clone(), clock.clone(), config(), stages(), "one").await;
    assert_eq!(one.watcher.instance(), None, "it has not begun");
    let two = Running::start_on(store.clone(), clock.clone(), config(), stages(), "two").await;
    one.pass(60 * SECOND).await;
    let cluster = one.watcher.cluster().await.unwrap();
    assert_eq!(one.watcher.instance().as_deref(), Some("one"));
    assert_eq!(cluster.processes.keys().collect::<Vec<_>>(), ["one", "two"]);
    let of = |name: &str| cluster.holders.values().filter(|holder| holder.owner == name).count();
    assert_eq!((of("one"), of("two")), (2, 2));
    for process in cluster.processes.values() {
        assert!(one.now().since(process.beat) <= one.watcher.lease_time() && process.started < process.beat);
        assert!(process.stages.contains_key("slow"));
    }
    two.stop().await;
    one.pass(30 * SECOND).await;
    let cluster = one.watcher.cluster().await.unwrap();
    assert_eq!(cluster.processes.keys().collect::<Vec<_>>(), ["one"]);
    assert!(cluster.holders.len() == 4 && cluster.holders.values().all(|holder| holder.owner == "one"));
    one.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_report_has_the_limits_in_force_and_the_oldest_visit_of_each_lane() {
    let running = Running::start(vec![slow("slow")]).await;
    running.watcher.pause_stage("slow", "").await.unwrap();
    running.pass(20 * SECOND).await;
    let saved = running.now();
    running.save(&Thing::new("a", 1)).await;
    running.pass(SECOND).await;
    running.save(&Thing::new("b", 1)).await;
    let few = LimitOverrides { calls_max: Some(3), ..LimitOverrides::default() };
    let in_force = running.watcher.set_limits("slow", few).await.unwrap();
    let report = running.watcher.report("slow").await.unwrap();
    assert_eq!((report.limits, report.limits.calls_max), (in_force, 3));
    assert_eq!(report.firsts, BTreeMap::from([(Lane::Fresh, saved)]));
    assert_eq!(report.oldest, Some(saved));
    running.stop().await;
}
