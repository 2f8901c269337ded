//! All current offers, and then every change.

use std::collections::BTreeMap;

use futures::StreamExt;
use offers::status::Mover;
use offers::{OfferId, WatchEvent, WatchFrom};
use topics::Message;
use wire::torg::offers::v1::{Offer, Status, WatchCursor};

use crate::engines::market::{Market, TOPIC, bike, seller, status};

/// Reads a watch until every offer of `until` was told of in that version.
async fn follow(
    market: &Market,
    whose: Option<&str>,
    begin: WatchFrom,
    until: &BTreeMap<String, u64>,
) -> (Vec<WatchEvent>, WatchCursor) {
    let mut stream = market.offers.watch(TOPIC, whose, begin).await.unwrap();
    let (mut told, mut place, mut left) = (Vec::new(), WatchCursor::default(), until.clone());
    while !left.is_empty() {
        let (one, at) = stream.next().await.unwrap().unwrap();
        let seen = match &one {
            WatchEvent::Current(offer) => Some((&offer.id, offer.version)),
            WatchEvent::Change(change) => Some((&change.id, change.version)),
            WatchEvent::CaughtUp => None,
        };
        if let Some((id, version)) = seen
            && left.get(id).is_some_and(|wanted| version >= *wanted)
        {
            left.remove(id);
        }
        told.push(one);
        place = at;
    }
    (told, place)
}

#[allow(clippy::unnecessary_wraps, reason = "as a change is")]
fn longer(offer: &mut Offer) -> offers::Result<()> {
    offer.title += "!";
    Ok(())
}

pub(crate) async fn who_comes_late_gets_all_current_offers_and_then_every_change(market: Market) {
    let mut ids = Vec::new();
    for n in 0..10 {
        ids.push(market.publish(&bike(&format!("bike {n}"), 100)).await);
    }
    market.offers.update(&seller("ann"), ids[0], None, longer).await.unwrap();
    market.move_to(Mover::Seller, ids[9], Status::Removed).await.unwrap();
    let mut now: BTreeMap<String, u64> = ids.iter().map(|id| (id.to_string(), 1)).collect();
    now.insert(ids[0].to_string(), 2);
    now.remove(&ids[9].to_string());
    let (told, place) = follow(&market, None, WatchFrom::Current, &now).await;
    let current: BTreeMap<String, u64> = told
        .iter()
        .filter_map(|told| {
            if let WatchEvent::Current(offer) = told { Some((offer.id.clone(), offer.version)) } else { None }
        })
        .collect();
    assert_eq!(current, now);
    // From where it ended: only what is new, each version once and in order.
    market.offers.update(&seller("ann"), ids[0], None, longer).await.unwrap();
    market.offers.update(&seller("ann"), ids[0], None, longer).await.unwrap();
    let (told, _) = follow(&market, None, WatchFrom::Cursor(place), &[(ids[0].to_string(), 4)].into()).await;
    let changes: Vec<_> = told
        .into_iter()
        .filter_map(|told| if let WatchEvent::Change(change) = told { Some(change) } else { None })
        .filter(|change| change.id == ids[0].to_string())
        .collect();
    let last = changes.last().unwrap();
    assert_eq!(last.changed, ["title"]);
    assert_eq!(last.author.as_option().unwrap().name, "ann");
    assert_eq!(last.offer.as_option().unwrap().title, "bike 0!!!");
    let versions: Vec<u64> = changes.iter().map(|change| change.version).collect();
    assert!(versions.is_sorted() && versions.ends_with(&[3, 4]), "{versions:?}");
}

pub(crate) async fn a_watch_goes_on_from_any_place_without_a_gap(market: Market) {
    let mut until = BTreeMap::new();
    for n in 0..30 {
        let id = market.publish(&bike(&format!("bike {n}"), 100)).await;
        until.insert(id.to_string(), 1);
    }
    // Each time only one step further, also in the middle of the current offers.
    let (mut begin, mut left) = (WatchFrom::Current, until.clone());
    let mut changed = false;
    while !left.is_empty() {
        let mut stream = market.offers.watch(TOPIC, None, begin).await.unwrap();
        let (told, place) = stream.next().await.unwrap().unwrap();
        let (told, place) = if matches!(told, WatchEvent::CaughtUp) {
            stream.next().await.unwrap().unwrap()
        } else {
            (told, place)
        };
        match told {
            // One of an earlier version comes again.
            WatchEvent::Current(offer)
                if left.get(&offer.id).is_some_and(|wanted| offer.version >= *wanted) =>
            {
                left.remove(&offer.id);
            }
            WatchEvent::Change(change)
                if left.get(&change.id).is_some_and(|wanted| change.version >= *wanted) =>
            {
                left.remove(&change.id);
            }
            WatchEvent::Current(_) | WatchEvent::Change(_) | WatchEvent::CaughtUp => {}
        }
        if left.len() == 15 && !changed {
            changed = true;
            for id in until.keys() {
                market
                    .offers
                    .update(&seller("ann"), id.parse::<OfferId>().unwrap(), None, longer)
                    .await
                    .unwrap();
                left.insert(id.clone(), 2);
            }
        }
        begin = WatchFrom::Cursor(place);
    }
}

pub(crate) async fn a_seller_gets_their_own_offers_only(market: Market) {
    let mine = market.publish(&bike("mine", 100)).await;
    let bobs = market.publish(&Offer { seller: "bob".to_owned(), ..bike("bobs", 100) }).await;
    let (told, place) =
        follow(&market, Some("ann"), WatchFrom::Current, &[(mine.to_string(), 1)].into()).await;
    assert_eq!(told.len(), 1);
    market.offers.update(&seller("bob"), bobs, None, longer).await.unwrap();
    market.move_to(Mover::Seller, mine, Status::Sold).await.unwrap();
    let (told, _) =
        follow(&market, Some("ann"), WatchFrom::Cursor(place.clone()), &[(mine.to_string(), 2)].into()).await;
    for told in &told {
        if let WatchEvent::Change(change) = told {
            assert_eq!(change.offer.as_option().unwrap().seller, "ann");
        }
    }
    let Some(WatchEvent::Change(last)) = told.last() else { panic!("{told:?}") };
    assert_eq!(status(last.offer.as_option().unwrap()), Status::Sold);
    // A place of one watch is not a place of another.
    assert!(market.offers.watch(TOPIC, Some("bob"), WatchFrom::Cursor(place)).await.is_err());
}

pub(crate) async fn a_damaged_message_ends_no_watch(market: Market) {
    let id = market.publish(&bike("bike", 100)).await;
    let (_, place) = follow(&market, None, WatchFrom::Current, &[(id.to_string(), 1)].into()).await;
    let rubbish =
        Message::new(id.to_string(), vec![0xFF; 9], 5).header("kind", "offer").header("version", "2");
    market.topics.append(TOPIC, vec![rubbish]).await.unwrap();
    market.offers.update(&seller("ann"), id, None, longer).await.unwrap();
    let (told, _) = follow(&market, None, WatchFrom::Cursor(place), &[(id.to_string(), 2)].into()).await;
    let Some(WatchEvent::Change(last)) = told.last() else { panic!("{told:?}") };
    assert_eq!(last.offer.as_option().unwrap().title, "bike!");
}
