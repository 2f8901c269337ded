//! Several watchers share the shards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use store::Store;
use tokio::sync::Semaphore;
use watcher::{Answer, Config, shard_of};

use crate::common::{Doing, Thing, titled};
use crate::engines::held::Held;
use crate::engines::leaving::{TOPIC, exported, topic_in};
use crate::engines::place::Place;
use crate::engines::running::{Running, config};
use crate::waiting::{eventually, owners, rows};

const SHARDS: u32 = 8;
const THINGS: usize = 40;

fn shared() -> Config {
    Config { shards: SHARDS, ..config() }
}

/// A stage that writes the price and a name into the title.
fn signing(name: &'static str) -> Arc<Doing> {
    let sign = move |price: i64| format!("{price} by {name}");
    Doing::on("signing", "price", move |s| Ok(Answer::replace(titled(s, &sign(s.entity.price)))))
}

/// How many shards each has.
async fn shares(store: &Store) -> BTreeMap<String, usize> {
    let mut shares = BTreeMap::new();
    for (owner, _) in owners(store).await.into_values() {
        *shares.entry(owner).or_default() += 1;
    }
    shares
}

async fn eventually_shared(store: &Store, expected: &[(&str, usize)]) {
    let expected: BTreeMap<String, usize> = expected.iter().map(|(o, n)| ((*o).to_owned(), *n)).collect();
    let shared = async || (shares(store).await == expected).then_some(());
    eventually(&format!("the shards are shared as {expected:?}"), shared).await;
}

/// Saves all things with a price, and waits until each was signed for it. Returns who signed.
async fn save_and_see_signed(running: &Running, price: i64) -> BTreeSet<String> {
    for n in 0..THINGS {
        let id = format!("t{n}");
        running.change(&id, |thing| Thing { price, ..thing.unwrap_or(Thing::new(&id, 0)) }).await;
    }
    let mut signed = BTreeSet::new();
    for n in 0..THINGS {
        let signature = async || {
            let title = running.title(&format!("t{n}")).await;
            title.strip_prefix(&format!("{price} by ")).map(str::to_owned)
        };
        signed.insert(eventually("it is signed", signature).await);
    }
    signed
}

pub(crate) async fn two_watchers_share_the_shards_and_one_takes_over_when_the_other_leaves(place: Place) {
    let store = place.open().await;
    let beside = place.open_beside(&store).await;
    let one = Running::start_with(store, None, shared(), vec![signing("one")], "one").await;
    eventually_shared(&one.store, &[("one", 8)]).await;
    let alone = owners(&one.store).await;
    let two = Running::start_with(beside, None, shared(), vec![signing("two")], "two").await;
    eventually_shared(&one.store, &[("one", 4), ("two", 4)]).await;
    for (shard, (owner, epoch)) in owners(&one.store).await {
        let before = alone[&shard].1;
        assert!(if owner == "one" { epoch == before } else { epoch > before }, "a new owner, a new epoch");
    }
    let both = BTreeSet::from(["one", "two"].map(str::to_owned));
    assert_eq!(save_and_see_signed(&one, 1).await, both);
    one.stop().await;
    eventually_shared(&two.store, &[("two", 8)]).await;
    assert_eq!(save_and_see_signed(&two, 2).await, BTreeSet::from(["two".to_owned()]));
    two.stop().await;
}

pub(crate) async fn work_goes_on_while_shards_change_hands(place: Place) {
    let store = place.open().await;
    let topics = topic_in(&store).await;
    let topic = Some((&topics, TOPIC));
    let mut first = Running::start_with(store, topic, shared(), vec![signing("0")], "0").await;
    save_and_see_signed(&first, 0).await;
    for (price, name) in [(1, "1"), (2, "2"), (3, "3")] {
        let beside = place.open_beside(&first.store).await;
        let next = Running::start_with(beside, topic, shared(), vec![signing(name)], name).await;
        // While shards move to the next one, and while the one before leaves.
        save_and_see_signed(&next, price * 10).await;
        let ((), _) =
            tokio::join!(async { drop(first.stop().await) }, save_and_see_signed(&next, price * 10 + 1));
        first = next;
    }
    first.eventually_idle().await;
    for n in 0..THINGS {
        let found = first.find(&format!("t{n}")).await.unwrap();
        let all: Vec<String> = (1..=found.version).map(|version| version.to_string()).collect();
        let sent = async || {
            let sent = exported(&topics).await.remove(&found.entity.id).unwrap_or_default();
            (sent.last() == all.last()).then_some(sent)
        };
        let mut sent = eventually("everything is exported", sent).await;
        // What was on its way when a shard changed hands may come twice.
        sent.dedup();
        assert_eq!(sent, all, "{}", found.entity.id);
    }
    first.stop().await;
}

pub(crate) async fn changes_that_are_on_their_way_when_a_shard_changes_hands_stay_in_order(place: Place) {
    let store = place.open().await;
    let (topics, gate) = (topic_in(&store).await, Arc::new(Semaphore::new(0)));
    let held = Held::new(&topics, &gate);
    let slow = held.topics(&store);
    // The shards with the highest numbers are given away first.
    let id = (0..1000).map(|n| format!("t{n}")).find(|id| shard_of(id, SHARDS) == SHARDS - 1).unwrap();
    let one = Running::start_with(store, Some((&slow, TOPIC)), shared(), vec![], "one").await;
    eventually_shared(&one.store, &[("one", 8)]).await;
    one.save(&Thing::new(&id, 1)).await;
    held.came.acquire().await.unwrap().forget();

    let beside = place.open_beside(&one.store).await;
    let two = Running::start_with(beside, Some((&topics, TOPIC)), shared(), vec![], "two").await;
    // All of its share, but perhaps for the shard that is still in use.
    let shared = async || (shares(&one.store).await.get("two") >= Some(&3)).then_some(());
    eventually("the second has shards", shared).await;
    two.save(&Thing::new(&id, 2)).await;
    let sent = async || exported(&topics).await.remove(&id).unwrap_or_default();
    if owners(&one.store).await[&(SHARDS - 1)].0 == "two" {
        eventually("the second exports both", async || (sent().await.len() == 2).then_some(())).await;
    }
    gate.add_permits(100);
    held.went.acquire().await.unwrap().forget();
    eventually_shared(&one.store, &[("one", 4), ("two", 4)]).await;
    let both = async || rows(&one.store, "watcher_outbox").await.is_empty().then_some(());
    eventually("everything is exported", both).await;
    let mut sent = sent().await;
    sent.dedup();
    assert_eq!(sent, ["1", "2"]);
    one.stop().await;
    two.stop().await;
}
