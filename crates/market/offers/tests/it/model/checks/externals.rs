//! An id in a feed belongs to one offer at a time: to one that was neither removed nor archived.

use std::collections::BTreeMap;

use offers::Error;
use wire::torg::offers::v1::Status;

use crate::model::evidence::{Evidence, status};
use crate::model::filters::{Feed, feed_of};
use crate::model::journal::{Answer, Asked, Called};
use crate::model::market::Market;
use crate::model::run::rows;

pub(crate) async fn check(market: &Market, evidence: &Evidence) {
    let mut holders: BTreeMap<(String, Feed), String> = BTreeMap::new();
    for offer in evidence.current.values() {
        let is_gone = matches!(status(offer), Status::STATUS_REMOVED | Status::STATUS_ARCHIVED);
        if let Some(feed) = feed_of(offer).filter(|_| !is_gone) {
            let other = holders.insert((offer.seller.clone(), feed.clone()), offer.id.clone());
            assert_eq!(other, None, "externals: {} has {feed:?}, too", offer.id);
        }
    }
    let kept: Vec<String> = rows(market, "offer_externals")
        .await
        .into_iter()
        .map(|row| String::from_utf8(row.value.to_vec()).unwrap())
        .collect();
    let (mut kept, mut expected) = (kept, holders.into_values().collect::<Vec<_>>());
    kept.sort();
    expected.sort();
    assert_eq!(kept, expected, "externals: who is found by an id in a feed");
    for call in &evidence.notes.calls {
        if let Answer::Refused(Error::ExternalTaken { namespace, external, other }) = &call.answer {
            refused(evidence, call, &(namespace.clone(), external.clone()), other);
        }
    }
}

/// A refusal names an offer of the same seller with the same id in the same feed.
fn refused(evidence: &Evidence, call: &Called, feed: &Feed, other: &str) {
    let other = &evidence.current[&other.parse().unwrap()];
    assert_eq!((&*other.seller, feed_of(other).as_ref()), (call.seller, Some(feed)), "externals: {call:?}");
    match (&call.asked, call.target) {
        (Asked::Create { feed: asked, .. }, None) => {
            assert_eq!(asked.as_ref(), Some(feed), "externals: {call:?}");
        }
        (Asked::Move { to: Status::STATUS_ACTIVE, .. }, Some(id)) => {
            assert_eq!(feed_of(&evidence.current[&id]).as_ref(), Some(feed), "externals: {call:?}");
            assert_ne!(other.id, id.to_string(), "externals: {call:?} is refused for its own sake");
        }
        _ => panic!("externals: {call:?} takes no id"),
    }
}
