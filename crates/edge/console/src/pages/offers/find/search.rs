//! The lookup of a text by every service that may know it.

use access::Action;
use futures::future::try_join_all;
use wire::torg::feeds::v1::{Feed, ListFeedsRequest};
use wire::torg::offers::v1::list_offers_request::Filter;
use wire::torg::offers::v1::{GetCountsRequest, GetOfferRequest, ListOffersRequest, Offer, Preset};
use wire::torg::stages::v1::GetStageRequest;

use crate::services::{Failure, Kind};
use crate::visit::Visit;

/// Feeds of one seller in which an id is searched: the most that a seller can have.
const FEEDS_ASKED_MAX: u32 = 100;
/// Concurrent calls for them.
const FEEDS_AT_ONCE_MAX: usize = 4;
/// Digits of an offer's id.
const ID_DIGITS: usize = 16;

/// The matches of a text.
#[derive(Default)]
pub(super) struct Found {
    pub(super) offers: Vec<Offer>,
    /// A seller with this name, with the number of offers.
    pub(super) seller: Option<(String, u64)>,
    pub(super) stage: Option<String>,
    /// Calls that failed, and errors in the text.
    pub(super) failures: Vec<Failure>,
}

/// With a seller given, only ids in feeds are searched.
pub(super) async fn find(visit: &Visit, text: &str, seller: &str) -> Found {
    let mut found = Found::default();
    if let (Some(id), true) = (id_in(text), seller.is_empty()) {
        match visit.call(&GetOfferRequest { id, ..Default::default() }).await {
            Ok(answer) => {
                found.offers.extend(answer.offer.into_option());
                return found;
            }
            // It may still match something else.
            Err(failure) if failure.kind == Kind::NotFound => {}
            Err(failure) => found.failures.push(failure),
        }
    }
    let (offers, known, stage) = tokio::join!(
        in_feeds(visit, text, seller),
        seller_of(visit, text, seller),
        stage_of(visit, text, seller)
    );
    found.offers.extend(answered(offers, &mut found.failures));
    found.seller = answered(known, &mut found.failures);
    found.stage = answered(stage, &mut found.failures);
    found
}

/// The default if the text is not a name of this kind; other failures are collected once.
fn answered<T: Default>(params: Result<T, Failure>, failures: &mut Vec<Failure>) -> T {
    params.unwrap_or_else(|failure| {
        if !matches!(failure.kind, Kind::NotFound | Kind::Refused) && !failures.contains(&failure) {
            failures.push(failure);
        }
        T::default()
    })
}

/// The digits of an id with any separators: spaces, dashes, dots, `#`, `№`.
fn id_in(text: &str) -> Option<String> {
    let is_between = |letter: char| letter.is_whitespace() || "-–—.#№".contains(letter);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let plain = text.chars().all(|letter| letter.is_ascii_digit() || is_between(letter));
    (plain && digits.len() == ID_DIGITS).then_some(digits)
}

/// The possible readings of a text: seller, feed if given, external id.
fn in_which<'a>(text: &'a str, seller: &'a str) -> Vec<(&'a str, Option<&'a str>, &'a str)> {
    // The text may repeat the seller.
    let (seller, texts) = match text.split_once('/') {
        Some((first, rest)) if seller.is_empty() => (first, [None, Some(rest)]),
        None if seller.is_empty() => return Vec::new(),
        begins => (seller, [Some(text), begins.filter(|(first, _)| *first == seller).map(|(_, rest)| rest)]),
    };
    let readings = texts.into_iter().flatten().flat_map(|text| {
        let named = text.split_once('/').map(|(namespace, external)| (seller, Some(namespace), external));
        [Some((seller, None, text)), named].into_iter().flatten()
    });
    readings
        .filter(|(seller, namespace, external)| {
            !seller.is_empty() && !external.is_empty() && *namespace != Some("")
        })
        .collect()
}

async fn in_feeds(visit: &Visit, text: &str, seller: &str) -> Result<Vec<Offer>, Failure> {
    let seller = visit.own_seller().filter(|_| !visit.caller().may(Action::ReadAny)).unwrap_or(seller);
    let mut offers: Vec<Offer> = Vec::new();
    for (seller, namespace, external) in in_which(text, seller) {
        let namespaces = match namespace {
            Some(namespace) => vec![namespace.to_owned()],
            None => feeds_of(visit, seller).await?.into_iter().map(|feed| feed.namespace).collect(),
        };
        for some in namespaces.chunks(FEEDS_AT_ONCE_MAX) {
            let asking = some.iter().map(|namespace| with_id(visit, seller, namespace, external));
            offers.extend(try_join_all(asking).await?.into_iter().flatten());
        }
    }
    offers.sort_by(|a, b| a.id.cmp(&b.id));
    offers.dedup_by(|a, b| a.id == b.id);
    Ok(offers)
}

async fn feeds_of(visit: &Visit, seller: &str) -> Result<Vec<Feed>, Failure> {
    let request =
        ListFeedsRequest { seller: seller.to_owned(), page_size: FEEDS_ASKED_MAX, ..Default::default() };
    Ok(visit.call(&request).await?.feeds)
}

async fn with_id(
    visit: &Visit,
    seller: &str,
    namespace: &str,
    external: &str,
) -> Result<Vec<Offer>, Failure> {
    let filter =
        Filter { source: namespace.to_owned(), external_id: external.to_owned(), ..Default::default() };
    let request =
        ListOffersRequest { seller: seller.to_owned(), filter: Some(filter).into(), ..Default::default() };
    Ok(visit.call(&request).await?.offers)
}

/// A seller with offers or feeds, and the number of offers. All offers of a first feed may have
/// been rejected.
async fn seller_of(visit: &Visit, text: &str, within: &str) -> Result<Option<(String, u64)>, Failure> {
    if !within.is_empty() || !visit.caller().may(Action::ReadAny) {
        return Ok(None);
    }
    let request = GetCountsRequest { seller: text.to_owned(), ..Default::default() };
    let (counts, feeds) = tokio::join!(visit.call(&request), feeds_of(visit, text));
    let counts = counts?.counts;
    // Every offer that is not removed is in one of these two lists.
    let whole =
        |preset: Preset| counts.iter().find(|count| count.preset == preset).map_or(0, |count| count.offers);
    let offers = (whole(Preset::PRESET_ALL) + whole(Preset::PRESET_ARCHIVED)).max(0).unsigned_abs();
    let has_feeds = feeds.is_ok_and(|feeds| feeds.iter().any(|feed| feed.seller == text));
    Ok((offers > 0 || has_feeds).then(|| (text.to_owned(), offers)))
}

async fn stage_of(visit: &Visit, text: &str, within: &str) -> Result<Option<String>, Failure> {
    if !within.is_empty() || !visit.caller().may(Action::SeeProcess) {
        return Ok(None);
    }
    let request = GetStageRequest { id: text.to_owned(), may_be_old: true, ..Default::default() };
    visit.call(&request).await.map(|_| Some(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_however_people_write_it() {
        for text in
            ["4829175033168090", "4829-1750-3316-8090", "№ 4829 1750 3316 8090", "4829.1750.3316.8090"]
        {
            assert_eq!(id_in(text).as_deref(), Some("4829175033168090"), "{text}");
        }
        for text in ["482917503316809", "48291750331680901", "x4829175033168090", "4829/1750/3316/8090", ""] {
            assert_eq!(id_in(text), None, "{text}");
        }
    }

    #[test]
    fn an_id_in_a_feed_is_looked_for_in_every_way_that_it_can_be_read() {
        assert_eq!(in_which("A-1", "ann"), [("ann", None, "A-1")]);
        assert_eq!(in_which("shop/A-1", "ann"), [("ann", None, "shop/A-1"), ("ann", Some("shop"), "A-1")]);
        let all = in_which("ann/shop/A-1", "ann");
        assert!(all.contains(&("ann", None, "ann/shop/A-1")) && all.contains(&("ann", Some("shop"), "A-1")));
        assert_eq!(in_which("ann/A-1", ""), [("ann", None, "A-1")]);
        assert_eq!(in_which("ann/shop/A-1", ""), [("ann", None, "shop/A-1"), ("ann", Some("shop"), "A-1")]);
        for text in ["A-1", "/A-1", "ann/", ""] {
            assert!(in_which(text, "").is_empty(), "{text}");
        }
    }
}
