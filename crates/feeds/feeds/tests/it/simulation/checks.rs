//! What must be so in the end.

use std::collections::{BTreeMap, BTreeSet};

use buffa::Message as _;
use feeds::FeedName;
use feeds::Feeds;
use offers::Offers;
use store::{Read as _, Scan, Store};
use topics::{ReadLimit, Topics};
use wire::torg::feeds::v1::__buffa::oneof::load_message::Content;
use wire::torg::feeds::v1::load::State;
use wire::torg::feeds::v1::{Counts, LoadMessage};

use super::evidence::{Evidence, LoadId, name_of};
use crate::common::{PARTITIONS, live, schema};

/// What is shown of a feed is what its last file has.
pub(crate) async fn shows_the_last_file(offers: &Offers, evidence: &Evidence, name: &FeedName, number: u64) {
    let shown: BTreeMap<String, u64> =
        live(offers, name).await.into_iter().map(|(id, offer)| (id, price_of(&offer))).collect();
    let contents = evidence.look().contents(&(name.clone(), number)).clone();
    for (id, price) in &contents.right {
        assert_eq!(shown.get(id), Some(price), "{name:?}: {id}");
    }
    let surplus = shown.keys().find(|id| !contents.names(id));
    assert_eq!(surplus, None, "{name:?} shows what the last file does not have");
}

fn price_of(offer: &wire::torg::offers::v1::Offer) -> u64 {
    use wire::torg::offers::v1::__buffa::oneof::price::Kind;
    match offer.price.as_option().and_then(|price| price.kind.as_ref()) {
        Some(Kind::Fixed(money)) => (money.micros / 1_000_000) as u64,
        other => panic!("a price of a sofa is {other:?}"),
    }
}

/// Every load has an end, and its statistics are what commits showed. How many there were of each
/// state.
pub(crate) async fn statistics_are_what_happened(
    feeds: &Feeds,
    evidence: &Evidence,
    name: &FeedName,
) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for load in feeds.loads(name, None, 1000).await.unwrap() {
        let (state, id) = (load.state.as_known().unwrap(), (name.clone(), load.number));
        *states.entry(format!("{state:?}")).or_default() += 1;
        let inside = evidence.look();
        let happened = inside.loads.get(&id).cloned().unwrap_or_default().counts;
        let told = load.counts.as_option().cloned().unwrap_or_default();
        let told_of = |counts: &Counts| {
            (counts.created, counts.changed, counts.unchanged, counts.rejected, counts.removed)
        };
        assert_eq!(told_of(&told), told_of(&happened), "{id:?}: {load:?}");
        let contents = inside.contents(&id);
        match state {
            State::STATE_DONE => {
                let decided = told.created + told.changed + told.unchanged + told.rejected;
                assert!(contents.whole, "{id:?}");
                assert_eq!((told.offers, decided), (contents.offers, contents.offers), "{id:?}");
            }
            State::STATE_FAILED => assert!(!contents.whole && load.failure.is_set(), "{id:?}"),
            State::STATE_SUPERSEDED => {}
            other => panic!("{id:?} never ended: {other:?}"),
        }
    }
    states
}

/// In the topic, the end of every load comes after all of its batches.
pub(crate) async fn ends_come_last(topics: &Topics) {
    let mut batches: BTreeMap<LoadId, BTreeSet<u32>> = BTreeMap::new();
    for partition in 0..PARTITIONS {
        let mut offset = topics.describe("feed.offers").await.unwrap().partitions[partition as usize].first;
        loop {
            let page = topics.read("feed.offers", partition, offset, ReadLimit::messages(500)).await.unwrap();
            let Some(last) = page.messages.last() else { break };
            offset = last.offset + 1;
            for delivered in &page.messages {
                let message = LoadMessage::decode_from_slice(&delivered.message.payload).unwrap();
                let id = (name_of(&message.seller, &message.namespace), message.load);
                match message.content.unwrap() {
                    Content::Batch(batch) => {
                        batches.entry(id).or_default().insert(batch.number);
                    }
                    Content::End(end) => {
                        let before = batches.get(&id).map_or(0, BTreeSet::len);
                        assert_eq!(before, end.batches as usize, "{id:?} ends before its batches");
                    }
                }
            }
        }
    }
}

/// Nothing is left to do.
pub(crate) async fn nothing_is_left(store: &Store) {
    for table in ["feed_sweeps", "feed_answers"] {
        let def = schema().tables().iter().copied().find(|def| def.name == table).unwrap();
        let left = store.scan(&Scan::all(def).limit(10)).await.unwrap().rows;
        assert!(left.is_empty(), "{left:?}");
    }
}
