//! Entities that stand in a table of their own.

use std::collections::BTreeMap;

use store::{Batch, Row, Store};
use watcher::{Answer, Clock, Entity, Setup, Waits, Watcher, shard_of};

use crate::common::{Doing, Thing, titled};
use crate::engines::parcel::{LABELS, Labelling, PARCELS, Parcel};
use crate::engines::place::Place;
use crate::engines::running::{Running, config, save_new};
use crate::waiting::{eventually, rows};

/// As text, -2 stands between 1 and 2, and 10 does; as numbers they do not.
const IDS: [i64; 6] = [-2, 1, 2, 10, 11, i64::MAX];

async fn start(store: Store, instance: &str) -> Running<Parcel> {
    Running::start_at(store, None, Clock::system(), config(), Labelling::stages(), instance).await
}

/// What stands in the table, by key, with the versions.
async fn table(store: &Store) -> BTreeMap<(u32, i64), (Parcel, u64)> {
    let rows = rows(store, "test_parcels").await.into_iter();
    let parcel =
        |row: Row| (PARCELS.parts(&row.key).unwrap(), (Parcel::decode(&row.value).unwrap(), row.version));
    rows.map(parcel).collect()
}

/// How many parcels have each label in each shard: as they were counted with every change, and as
/// they are.
async fn labels(store: &Store) -> (BTreeMap<(u32, String), i64>, BTreeMap<(u32, String), i64>) {
    let counted = rows(store, "test_labels").await.into_iter();
    let counted = counted.map(|row| (LABELS.parts(&row.key).unwrap(), row.amount()));
    let mut there = BTreeMap::new();
    for ((shard, _), (parcel, _)) in table(store).await {
        *there.entry((shard, parcel.label)).or_default() += 1;
    }
    (counted.filter(|(_, count)| *count != 0).collect(), there)
}

fn place_of(id: i64) -> (u32, i64) {
    (shard_of(&id.to_string(), config().shards), id)
}

impl Running<Parcel> {
    async fn eventually_labelled(&self, id: i64, label: &str) {
        let labelled = async || (self.watcher.load(&id).await.unwrap()?.entity.label == label).then_some(());
        eventually(&format!("the label of {id} is {label:?}"), labelled).await;
    }
}

pub(crate) async fn an_entity_evolves_in_a_table_of_its_own_and_leaves_it(place: Place) {
    let running = start(place.open().await, "one").await;
    for id in IDS {
        running.change_entity(&id, |_| Parcel::new(id, 5)).await;
    }
    for id in IDS {
        running.eventually_labelled(id, "5 kg").await;
    }
    let labelled = |id, weight, version| {
        (place_of(id), (Parcel { label: format!("{weight} kg"), ..Parcel::new(id, weight) }, version))
    };
    assert_eq!(table(&running.store).await, BTreeMap::from(IDS.map(|id| labelled(id, 5, 2))));

    let running = start(place.reopen(running.stop().await).await, "two").await;
    let watcher = &running.watcher;
    running.change_entity(&10, |parcel| Parcel { weight: 7, ..parcel.unwrap() }).await;
    running.eventually_labelled(10, "7 kg").await;
    assert!(watcher.request_visit(&11, "labelling").await.unwrap());
    assert!(!watcher.request_visit(&12, "labelling").await.unwrap());
    let twice = async || (&*watcher.state(&11, "labelling").await.unwrap().bytes == b"2").then_some(());
    eventually("it is visited on request", twice).await;
    let explained = watcher.explain(&10).await.unwrap();
    assert_eq!((explained.version, explained.shard), (4, place_of(10).0));
    assert_eq!(explained.stages["labelling"].waits, Waits::NotInterested);

    let (found, mut batch) = (watcher.load(&-2).await.unwrap().unwrap(), Batch::new());
    assert_eq!(watcher.remove(&mut batch, &found).await.unwrap(), 3);
    assert!(running.store.commit(batch).await.unwrap().is_applied());
    let left = [labelled(1, 5, 2), labelled(2, 5, 2), labelled(10, 7, 4), labelled(11, 5, 2)];
    let left = left.into_iter().chain([labelled(i64::MAX, 5, 2)]).collect();
    assert_eq!(table(&running.store).await, left);
    assert_eq!(running.change_entity(&-2, |_| Parcel::new(-2, 9)).await, 4);
    running.eventually_labelled(-2, "9 kg").await;
    let (counted, there) = labels(&running.store).await;
    assert_eq!(counted, there, "what follows from a change is saved with it, whoever makes it");
    assert_eq!(rows(&running.store, "watcher_entities").await, [], "they stand nowhere else");
    running.stop().await;
}

pub(crate) async fn a_recrawl_goes_through_a_table_of_its_own(place: Place) {
    let store = place.open().await;
    let parcels: Vec<Parcel> = (-40..40).map(|id| Parcel::new(id, id * 2)).collect();
    let watcher =
        Watcher::open(&store, Setup { config: config(), seed: 1, ..Setup::default() }).await.unwrap();
    save_new(&store, &watcher, &parcels).await;
    // What is no parcel is not crawled with them.
    let things =
        Watcher::open(&store, Setup { config: config(), seed: 1, ..Setup::default() }).await.unwrap();
    save_new(&store, &things, &[Thing::new("1", 1), Thing::new("2", 2)]).await;

    let running = start(store, "one").await;
    running.watcher.start_recrawl(None).await.unwrap();
    let crawled = async || running.watcher.recrawl().await.unwrap().filter(|crawl| crawl.done);
    let crawl = eventually("the re-crawl is done", crawled).await;
    assert_eq!((crawl.seen, crawl.queued, crawl.damaged), (80, 80, 0));
    for parcel in parcels {
        running.eventually_labelled(parcel.id, &format!("{} kg", parcel.weight)).await;
    }
    assert_eq!(things.recrawl().await.unwrap(), None);
    running.stop().await;
}

pub(crate) async fn kinds_in_different_tables_do_not_meet(place: Place) {
    let store = place.open().await;
    let seeing = Doing::on("labelling", "price", |s| Ok(Answer::replace(titled(s, "seen"))));
    let things = Running::start(store.clone(), vec![seeing]).await;
    // The same name of the process, of the stage and of the entity.
    let parcels = start(store, "one").await;
    things.save(&Thing::new("7", 1)).await;
    parcels.change_entity(&7, |_| Parcel::new(7, 1)).await;
    things.eventually_titled("7", "seen").await;
    parcels.eventually_labelled(7, "1 kg").await;
    parcels.watcher.pause_stage("labelling", "").await.unwrap();
    assert_eq!(things.watcher.control("labelling").await.unwrap().paused, None);
    let (found, mut batch) = (things.find("7").await.unwrap(), Batch::new());
    things.watcher.remove(&mut batch, &found).await.unwrap();
    assert!(things.store.commit(batch).await.unwrap().is_applied());
    assert_eq!(things.find("7").await, None);
    let parcel = parcels.watcher.load(&7).await.unwrap().unwrap();
    assert_eq!((parcel.version, &*parcel.entity.label), (2, "1 kg"));
    assert_eq!(&*parcels.watcher.state(&7, "labelling").await.unwrap().bytes, b"1");
    things.stop().await;
    parcels.stop().await;
}
