//! Lists, counts, what was sold and what was earned are what follows from the offers.

use std::collections::BTreeMap;

use offers::cabinet::Filter;
use wire::torg::offers::v1::__buffa::oneof::price::Kind;
use wire::torg::offers::v1::{Money, Offer, Preset, Status};

use crate::model::dice::Dice;
use crate::model::evidence::{Evidence, Version, status, tokens_brought};
use crate::model::filters;
use crate::model::journal::Asked;
use crate::model::market::Market;
use crate::model::plan::{Plan, SELLERS};
use crate::model::rules::{LISTS, is_listed};

/// Offers on a page.
const PAGE: usize = 7;
/// Filters that are tried on every list.
const FILTERS: usize = 12;

pub(crate) async fn check(plan: &Plan, market: &Market, evidence: &Evidence) {
    let mut dice = Dice::of(plan.seed, "filters");
    let filters: Vec<Filter> = (0..FILTERS).map(|_| filters::some(&mut dice)).collect();
    for seller in SELLERS {
        let offers: Vec<&Offer> = evidence.current.values().filter(|offer| offer.seller == seller).collect();
        let counts = market.offers.counts(seller).await.unwrap();
        for (preset, name) in LISTS {
            let mut expected: Vec<&Offer> =
                offers.iter().filter(|offer| is_listed(preset, status(offer))).copied().collect();
            expected.sort_by_key(|offer| std::cmp::Reverse((created(offer), &offer.id)));
            let listed = listed(market, seller, preset, &Filter::default()).await;
            assert_eq!(ids(&listed.iter().collect::<Vec<_>>()), ids(&expected), "lists: {name} of {seller}");
            assert!(listed.iter().eq(expected.iter().copied()), "lists: {name} of {seller} has other offers");
            assert_eq!(counts[name], expected.len() as i64, "lists: count of {name} of {seller}");
            for filter in &filters {
                let fitting: Vec<&Offer> =
                    expected.iter().filter(|offer| filters::fits(filter, offer)).copied().collect();
                let found = self::listed(market, seller, preset, filter).await;
                let found: Vec<&Offer> = found.iter().collect();
                assert_eq!(ids(&found), ids(&fitting), "lists: {name} of {seller} by {filter:?}");
            }
        }
        assert_eq!(counts.len(), LISTS.len(), "lists: counts of {seller}");
        let earned = market.offers.counters(seller).await.unwrap();
        let (sold, money) = sales(evidence, seller);
        assert_eq!((earned.sold, earned.money), (sold, money), "lists: what {seller} sold and earned");
        assert_eq!(
            market.offers.repair_counts(seller).await.unwrap(),
            [],
            "lists: counts of {seller} drifted"
        );
    }
}

async fn listed(market: &Market, seller: &str, preset: Preset, filter: &Filter) -> Vec<Offer> {
    let (mut listed, mut after) = (Vec::new(), None);
    loop {
        let page = market.offers.list(seller, preset, filter, after, PAGE).await.unwrap();
        listed.extend(page.offers);
        after = page.next;
        if after.is_none() {
            return listed;
        }
    }
}

fn ids<'a>(offers: &[&'a Offer]) -> Vec<&'a str> {
    offers.iter().map(|offer| &*offer.id).collect()
}

fn created(offer: &Offer) -> (i64, i32) {
    let time = offer.create_time.as_option().unwrap();
    (time.seconds, time.nanos)
}

/// Offers of a seller that were ever sold, and the money of their first sales by currency.
fn sales(evidence: &Evidence, seller: &str) -> (i64, BTreeMap<String, i64>) {
    let (mut sold, mut money) = (0, BTreeMap::new());
    for versions in evidence.versions.values().filter(|versions| versions[0].offer.seller == seller) {
        let Some(at) = versions.iter().position(|version| version.status() == Status::Sold) else { continue };
        sold += 1;
        if let Some(Money { micros, currency, .. }) = paid(evidence, &versions[at - 1], &versions[at]) {
            *money.entry(currency).or_default() += micros;
        }
    }
    (sold, money)
}

/// What was paid: as its seller said, or the price if it was fixed.
fn paid(evidence: &Evidence, before: &Version, sale: &Version) -> Option<Money> {
    let token = tokens_brought(Some(&before.offer), &sale.offer).pop_first();
    let call = evidence.notes.calls.iter().find(|call| Some(call.token) == token).unwrap();
    let Asked::Move { paid, .. } = &call.asked else { panic!("lists: {call:?} is no sale") };
    let price = before.offer.price.as_option().and_then(|price| price.kind.as_ref());
    match (paid, price) {
        (Some(paid), _) => Some(paid.clone()),
        (None, Some(Kind::Fixed(price))) => Some((**price).clone()),
        (None, _) => None,
    }
}
