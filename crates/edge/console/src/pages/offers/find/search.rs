//! What a text may be: every service is asked that may know it.

use access::Action;
use futures::future::try_join_all;
use wire::torg::feeds::v1::{Feed, ListFeedsRequest};
use wire::torg::offers::v1::list_offers_request::Filter;
use wire::torg::offers::v1::{GetCountsRequest, GetOfferRequest, ListOffersRequest, Offer, Preset};
use wire::torg::stages::v1::GetStageRequest;

use crate::services::methods::{GET_COUNTS, GET_OFFER, GET_STAGE, LIST_FEEDS, LIST_OFFERS};
use crate::services::{Failure, Kind};
use crate::visit::Visit;

/// Feeds of one seller in which an id is looked for: as many as a seller can have.
const FEEDS_ASKED_MAX: u32 = 100;
/// How many of them are asked for at the same time: others want to be answered too.
const FEEDS_AT_ONCE_MAX: usize = 4;
/// Digits of the id of an offer.
const ID_DIGITS: usize = 16;

/// What a text may be.
#[derive(Default)]
pub(super) struct Found {
    pub(super) offers: Vec<Offer>,
    /// A seller of this name, and how many offers they have.
    pub(super) seller: Option<(String, u64)>,
    pub(super) stage: Option<String>,
    /// What was asked for and could not be answered, or is wrong with the text.
    pub(super) failures: Vec<Failure>,
}

/// What a text may be; only an id in a feed, if a seller is named.
pub(super) async fn find(visit: &Visit, text: &str, seller: &str) -> Found {
    let mut found = Found::default();
    if let (Some(id), true) = (id_in(text), seller.is_empty()) {
        match visit.call(GET_OFFER, &GetOfferRequest { id, ..GetOfferRequest::default() }).await {
            Ok(answer) => {
                found.offers.extend(answer.offer.into_option());
                return found;
            }
            // It may be anything else, too.
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

/// What was found, or nothing. That a text is no name of this kind is no failure; that nobody answered is one, told once.
fn answered<T: Default>(asked: Result<T, Failure>, failures: &mut Vec<Failure>) -> T {
    asked.unwrap_or_else(|failure| {
        if !matches!(failure.kind, Kind::NotFound | Kind::Refused) && !failures.contains(&failure) {
            failures.push(failure);
        }
        T::default()
    })
}

/// The digits of an id, if the text is one, however people write it: with spaces, dashes, dots, `#` or `№`.
fn id_in(text: &str) -> Option<String> {
    let is_between = |letter: char| letter.is_whitespace() || "-–—.#№".contains(letter);
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let plain = text.chars().all(|letter| letter.is_ascii_digit() || is_between(letter));
    (plain && digits.len() == ID_DIGITS).then_some(digits)
}

/// Whose feeds, which of them if it is said, and the id there.
fn in_which<'a>(text: &'a str, seller: &'a str) -> Vec<(&'a str, Option<&'a str>, &'a str)> {
    // Whoever names the seller apart may write the name once more with the id.
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

/// Offers that have this id in a feed.
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
    let request = ListFeedsRequest {
        seller: seller.to_owned(),
        page_size: FEEDS_ASKED_MAX,
        ..ListFeedsRequest::default()
    };
    Ok(visit.call(LIST_FEEDS, &request).await?.feeds)
}

async fn with_id(
    visit: &Visit,
    seller: &str,
    namespace: &str,
    external: &str,
) -> Result<Vec<Offer>, Failure> {
    let filter =
        Filter { source: namespace.to_owned(), external_id: external.to_owned(), ..Filter::default() };
    let request = ListOffersRequest {
        seller: seller.to_owned(),
        filter: Some(filter).into(),
        ..ListOffersRequest::default()
    };
    Ok(visit.call(LIST_OFFERS, &request).await?.offers)
}

/// A seller of this name who has offers or feeds, with how many offers. A first feed may have been rejected whole.
async fn seller_of(visit: &Visit, text: &str, within: &str) -> Result<Option<(String, u64)>, Failure> {
    if !within.is_empty() || !visit.caller().may(Action::ReadAny) {
        return Ok(None);
    }
    let request = GetCountsRequest { seller: text.to_owned(), ..GetCountsRequest::default() };
    let (counts, feeds) = tokio::join!(visit.call(GET_COUNTS, &request), feeds_of(visit, text));
    let counts = counts?.counts;
    // Every offer that is not removed stands in one of these two lists.
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
    let request = GetStageRequest { id: text.to_owned(), may_be_old: true, ..GetStageRequest::default() };
    visit.call(GET_STAGE, &request).await.map(|_| Some(text.to_owned()))
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
