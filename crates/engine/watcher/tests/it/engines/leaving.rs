//! Changes leave for the topic, and entities leave for good.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{Batch, Store};
use topics::{ReadLimit, TopicSpec, Topics};
use watcher::Answer;

use crate::common::{Doing, Thing, titled, visit_on};
use crate::engines::place::Place;
use crate::engines::running::{Running, config};
use crate::waiting::{eventually, rows};

pub(crate) const TOPIC: &str = "things";
const PARTITIONS: u32 = 4;

pub(crate) async fn topic_in(store: &Store) -> Topics {
    let topics = Topics::in_store(store);
    topics.create(&TopicSpec::new(TOPIC, PARTITIONS)).await.unwrap();
    topics
}

/// The versions of each entity as the topic has them, in its order; a removal as `removed`.
pub(crate) async fn exported(topics: &Topics) -> BTreeMap<String, Vec<String>> {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for partition in 0..PARTITIONS {
        let mut next = 0;
        loop {
            let page = topics.read(TOPIC, partition, next, ReadLimit::messages(1000)).await.unwrap();
            if page.messages.is_empty() {
                break;
            }
            next = page.next;
            for record in page.messages {
                let header = |name| record.message.header_value(name);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let removed = if header("removed").is_some() { " removed" } else { "" };
                let version = format!("{}{removed}", text(header("version").unwrap()));
                versions.entry(text(&record.message.key)).or_default().push(version);
            }
        }
    }
    versions
}

pub(crate) async fn changes_reach_the_topic_and_their_stage_in_the_order_of_versions(place: Place) {
    const THINGS: i64 = 12;
    const SAVES: i64 = 4;
    let store = place.open().await;
    let topics = topic_in(&store).await;
    let stage = Doing::with("telling", visit_on("price"), |s| {
        Ok(Answer::replace(titled(s, &format!("costs {}", s.entity.price))))
    });
    let stage = Arc::new(stage.hearing());
    let topic = Some((&topics, TOPIC));
    let running = Running::start_with(store, topic, config(), vec![stage.clone()], "one").await;
    for price in 1..=SAVES {
        for n in 0..THINGS {
            let id = format!("t{n}");
            running.change(&id, |thing| Thing { price, ..thing.unwrap_or(Thing::new(&id, 0)) }).await;
        }
    }
    running.eventually_idle().await;
    let mut last = BTreeMap::new();
    for n in 0..THINGS {
        let found = running.find(&format!("t{n}")).await.unwrap();
        assert_eq!(found.entity.title, format!("costs {SAVES}"));
        last.insert(found.entity.id, found.version);
    }
    let all = last.iter().map(|(id, version)| (id.clone(), (1..=*version).map(|v| v.to_string()).collect()));
    let all: BTreeMap<String, Vec<String>> = all.collect();
    eventually("everything is exported", async || (exported(&topics).await == all).then_some(())).await;
    // What is exported may still stand in the outbox; only when it leaves that, the stage is to
    // hear of it.
    for table in ["watcher_outbox", "watcher_saved"] {
        let empty = async || rows(&running.store, table).await.is_empty().then_some(());
        eventually("the stage has heard of everything", empty).await;
    }
    for (id, last) in last {
        let heard: Vec<u64> = stage.heard().into_iter().filter(|(of, _)| *of == id).map(|h| h.1).collect();
        assert!(heard.is_sorted(), "{heard:?}");
        assert_eq!(heard.last(), Some(&last), "the stage made the last change");
    }
    running.stop().await;
}

pub(crate) async fn a_removed_entity_leaves_nothing_behind_and_its_versions_go_on(place: Place) {
    let store = place.open().await;
    let topics = topic_in(&store).await;
    let waiting = Doing::on("waiting", "price", |s| {
        Ok(Answer::untouched().with_state("kept").visit_at(s.now + Duration::from_secs(3600)))
    });
    let topic = Some((&topics, TOPIC));
    let running = Running::start_with(store, topic, config(), vec![waiting], "one").await;
    running.save(&Thing::new("a", 1)).await;
    let waits = async || (running.state("a", "waiting").await == "kept").then_some(());
    eventually("the stage has a state and a timer", waits).await;
    let (found, mut batch) = (running.find("a").await.unwrap(), Batch::new());
    assert_eq!(running.watcher.remove(&mut batch, &found).await.unwrap(), 2);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    assert_eq!(running.find("a").await, None);
    for table in ["watcher_entities", "watcher_queues", "watcher_entries", "watcher_states"] {
        assert_eq!(rows(&running.store, table).await, [], "{table}");
    }
    assert_eq!(running.save(&Thing::new("a", 2)).await, 3);
    eventually("the new one is visited", waits).await;
    let all = ["1", "2 removed", "3"].map(str::to_owned).to_vec();
    let heard = async || (exported(&topics).await.get("a") == Some(&all)).then_some(());
    eventually("the topic hears of it all", heard).await;
    running.stop().await;
}
