//! What is known at the end of a run: the journal, the versions that the consumer saw, and what can
//! be read.

use std::collections::{BTreeMap, BTreeSet};

use offers::OfferId;
use topics::ReadLimit;
use wire::torg::offers::v1::__buffa::oneof::price::Kind;
use wire::torg::offers::v1::{Offer, Price, Status};

use crate::model::consumer::received;
use crate::model::journal::{Notes, Received, Token};
use crate::model::market::{Market, PARTITIONS, TOPIC};
use crate::model::moderator::TOKEN;
use crate::model::rules::Who;

/// A version of an offer, as the topic told it.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) number: u64,
    pub(crate) by: Who,
    pub(crate) name: String,
    pub(crate) changed: String,
    pub(crate) time_ms: i64,
    /// Of an offer that leaves, what it was before.
    pub(crate) offer: Offer,
    /// Whether it left the active tables with this version.
    pub(crate) leaves: bool,
}

/// What is known at the end.
pub(crate) struct Evidence {
    pub(crate) notes: Notes,
    /// By offer, its versions from the first one on.
    pub(crate) versions: BTreeMap<OfferId, Vec<Version>>,
    /// What `get` answers.
    pub(crate) current: BTreeMap<OfferId, Offer>,
    /// The tokens of opinions, in the order of their partitions.
    pub(crate) opinions: Vec<Token>,
    /// The tokens of what was put aside.
    pub(crate) dead_letters: BTreeSet<Token>,
}

impl Evidence {
    /// Gathers it, once everything is at rest.
    pub(crate) async fn of(market: &Market, notes: Notes) -> Self {
        let whole = whole_topic(market).await;
        assert_received_all(&whole, &notes.received);
        let versions = in_order(&notes.received);
        let mut current = BTreeMap::new();
        for id in versions.keys() {
            current.insert(*id, market.offers.get(*id).await.unwrap());
        }
        let opinions = tokens(market, &market.opinions.topic).await;
        let dead_letters = tokens(market, &market.opinions.dead_letters).await.into_iter().collect();
        Self { notes, versions, current, opinions, dead_letters }
    }

    pub(crate) fn status(&self, id: OfferId) -> Status {
        status(&self.current[&id])
    }
}

impl Version {
    pub(crate) fn status(&self) -> Status {
        status(&self.offer)
    }
}

/// The status of an offer.
pub(crate) fn status(offer: &Offer) -> Status {
    offer.status.as_known().unwrap()
}

/// An offer as callers see it.
pub(crate) fn shown(version: &Version) -> Offer {
    Offer { version: version.number, ..version.offer.clone() }
}

/// The tokens that one version brings in after another.
pub(crate) fn tokens_brought(before: Option<&Offer>, after: &Offer) -> BTreeSet<Token> {
    let nothing = Offer::default();
    let before = before.unwrap_or(&nothing);
    let mut tokens = BTreeSet::new();
    if before.title != after.title {
        tokens.extend(token_after("thing ", &after.title));
    }
    if before.price != after.price {
        tokens.extend(after.price.as_option().and_then(price_token));
    }
    let code =
        |offer: &Offer| offer.status_reason.as_option().map(|reason| reason.code.clone()).unwrap_or_default();
    if code(before) != code(after) {
        tokens.extend(token_after("reason ", &code(after)));
    }
    tokens
}

/// The token of a text that begins like this.
pub(crate) fn token_after(beginning: &str, text: &str) -> Option<Token> {
    text.strip_prefix(beginning)?.parse().ok()
}

fn price_token(price: &Price) -> Option<Token> {
    let money = match price.kind.as_ref()? {
        Kind::Fixed(money) => money,
        Kind::Negotiable(negotiable) => negotiable.from.as_option()?,
        Kind::Free(_) | Kind::Range(_) => return None,
    };
    Some((money.micros / 1_000_000).cast_unsigned())
}

/// Every message of the topic, read without interruption.
async fn whole_topic(market: &Market) -> Vec<Received> {
    let mut whole = Vec::new();
    for partition in 0..PARTITIONS {
        let mut offset = 0;
        loop {
            let page = market.topics.read(TOPIC, partition, offset, ReadLimit::default()).await.unwrap();
            if page.messages.is_empty() {
                break;
            }
            whole.extend(page.messages.iter().map(|delivered| received(partition, delivered)));
            offset = page.next;
        }
    }
    whole
}

/// However often it was killed, the consumer got all that stands in the topic, as it stands there.
fn assert_received_all(whole: &[Received], got: &[Received]) {
    let by_place = |received: &Received| ((received.partition, received.offset), received.clone());
    let whole: BTreeMap<(u32, i64), Received> = whole.iter().map(by_place).collect();
    let places: BTreeSet<(u32, i64)> =
        got.iter().map(|received| (received.partition, received.offset)).collect();
    let missed: Vec<&(u32, i64)> = whole.keys().filter(|place| !places.contains(place)).collect();
    assert!(missed.is_empty(), "consumer: it never saw {missed:?}");
    for received in got {
        let place = (received.partition, received.offset);
        assert_eq!(whole.get(&place), Some(received), "consumer: {place:?} is another message in the topic");
    }
}

/// The versions of every offer, without a gap and in order; what comes again is what came before.
fn in_order(received: &[Received]) -> BTreeMap<OfferId, Vec<Version>> {
    let mut versions: BTreeMap<OfferId, Vec<Version>> = BTreeMap::new();
    let mut firsts: BTreeMap<(OfferId, u64), &Received> = BTreeMap::new();
    for message in received {
        let Received { id, version: number, author: (kind, name), changed, time_ms, offer, .. } = message;
        let known = versions.entry(*id).or_default();
        if let Some(first) = firsts.get(&(*id, *number)) {
            let again = Received { partition: first.partition, offset: first.offset, ..message.clone() };
            assert_eq!(again, **first, "consumer: {id} v{number} came again and is different");
            continue;
        }
        firsts.insert((*id, *number), message);
        let last = known.last();
        let next = last.map_or(0, |last| last.number) + 1;
        assert_eq!(*number, next, "consumer: {id} has v{next} before v{number}");
        assert!(!last.is_some_and(|last| last.leaves), "consumer: {id} v{number} after it left");
        assert!(!name.is_empty(), "consumer: {id} v{number} has no author");
        let (before, leaves) = (last.map(|last| last.offer.clone()), offer.is_none());
        known.push(Version {
            number: *number,
            by: Who::named(kind),
            name: name.clone(),
            changed: changed.clone(),
            time_ms: *time_ms,
            offer: offer.clone().or(before).expect("an offer is there before it leaves"),
            leaves,
        });
    }
    versions
}

/// The tokens of the messages of a topic, in the order of its partitions.
async fn tokens(market: &Market, topic: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for partition in 0..PARTITIONS {
        let mut offset = 0;
        loop {
            let page = market.topics.read(topic, partition, offset, ReadLimit::default()).await.unwrap();
            if page.messages.is_empty() {
                break;
            }
            let token = |message: &topics::Message| {
                std::str::from_utf8(message.header_value(TOKEN).unwrap()).unwrap().parse::<Token>().unwrap()
            };
            tokens.extend(page.messages.iter().map(|delivered| token(&delivered.message)));
            offset = page.next;
        }
    }
    tokens
}
