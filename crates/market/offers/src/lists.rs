//! A seller's lists: rows by preset with what filters look at, and rows by what people filter by.

use std::collections::BTreeMap;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key};
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::{Card, Money, Offer, Preset};

use crate::entity::StoredOffer;
use crate::limits::{CARD_TITLE_CHARS, TITLE_FILTER_CHARS};
use crate::presets::{name, presets_of, with_cards};
use crate::tables::{FILTERS, PRESETS};

/// The rows of an offer in its seller's lists.
pub(crate) fn rows_of(stored: &StoredOffer, shard: u32) -> Vec<(Key, Bytes)> {
    let StoredOffer { id, offer } = stored;
    let (id, created_ms, seller) = (id.to_string(), stored.created_ms(), &*offer.seller);
    let (card, presets) = (card(offer), presets_of(stored.status()));
    let in_preset = |preset: &Preset| {
        let content = if with_cards(*preset) == *preset { card.encode_to_vec() } else { Vec::new() };
        (PRESETS.key((shard, seller, name(*preset), created_ms, &*id)), content.into())
    };
    let mut rows: Vec<(Key, Bytes)> = presets.iter().map(in_preset).collect();
    if !presets.is_empty() {
        let by = |filter: String| (FILTERS.key((shard, seller, &*filter, created_ms, &*id)), Bytes::new());
        rows.extend(filters_of(&card).map(by));
    }
    rows
}

/// Whether a change concerns no list.
pub(crate) fn are_as_before(before: Option<&StoredOffer>, after: Option<&StoredOffer>) -> bool {
    let (Some(StoredOffer { offer: before, .. }), Some(StoredOffer { offer: after, .. })) = (before, after)
    else {
        return false;
    };
    before.status == after.status
        && before.title == after.title
        && before.price == after.price
        && before.category == after.category
        && before.source == after.source
        && before.seller == after.seller
        && before.create_time == after.create_time
}

/// Writes the rows that are new or different, and deletes those that are gone.
pub(crate) fn replace(batch: &mut Batch, before: Vec<(Key, Bytes)>, after: Vec<(Key, Bytes)>) {
    let mut before: BTreeMap<Key, Bytes> = before.into_iter().collect();
    for (key, value) in after {
        if before.remove(&key).as_ref() != Some(&value) {
            batch.set(key, value);
        }
    }
    for (key, _) in before {
        batch.delete(key);
    }
}

/// What lists and filters see of an offer.
pub(crate) fn card(offer: &Offer) -> Card {
    let (category, title) = (offer.category.clone(), title_key(&offer.title));
    Card { category, source: source_of(offer), title, price: asked(offer).cloned().into(), ..Card::default() }
}

/// The least amount that is asked for.
fn asked(offer: &Offer) -> Option<&Money> {
    match offer.price.as_option()?.kind.as_ref()? {
        price::Kind::Fixed(money) => Some(money),
        price::Kind::Free(_) => None,
        price::Kind::Negotiable(negotiable) => negotiable.from.as_option(),
        price::Kind::Range(range) => range.from.as_option().or_else(|| range.to.as_option()),
    }
}

/// `manual`, or `feed:` and the namespace.
fn source_of(offer: &Offer) -> String {
    feed_of(offer).map_or_else(|| "manual".to_owned(), |(namespace, _)| format!("feed:{namespace}"))
}

/// The feed that an offer comes from, and its id there.
pub(crate) fn feed_of(offer: &Offer) -> Option<(&str, &str)> {
    match offer.source.as_option()?.kind.as_ref()? {
        source::Kind::Feed(feed) => Some((&feed.namespace, &feed.external_id)),
        source::Kind::Manual(_) => None,
    }
}

/// What an offer is found by: its category, its source, the beginning of its title, about what it costs.
fn filters_of(card: &Card) -> impl Iterator<Item = String> {
    let price = card.price.as_option().map(price_facet);
    let (category, source) = (category_facet(&card.category), source_facet(&card.source));
    [Some(category), Some(source), Some(title_facet(&card.title)), price].into_iter().flatten()
}

/// Where offers of this category stand.
pub(crate) fn category_facet(category: &str) -> String {
    format!("c:{category}")
}

/// Where offers of this source stand.
pub(crate) fn source_facet(source: &str) -> String {
    format!("s:{source}")
}

/// Where titles with this beginning stand, in small letters: by their first letters.
pub(crate) fn title_facet(beginning: &str) -> String {
    beginning
        .chars()
        .take(TITLE_FILTER_CHARS)
        .fold("t:".to_owned(), |facet, letter| facet + letter.encode_utf8(&mut [0; 4]))
}

/// Where offers of about this price stand: eight steps between an amount and twice as much.
pub(crate) fn price_facet(price: &Money) -> String {
    let micros = price.micros.max(0).cast_unsigned();
    let octave = 64 - u64::from(micros.leading_zeros());
    let eighth = if octave > 3 { micros >> (octave - 4) & 7 } else { 0 };
    format!("p:{}:{:03}", price.currency, octave * 8 + eighth)
}

/// As titles are compared: without space before it, in small letters.
pub(crate) fn title_key(title: &str) -> String {
    title.trim_start().to_lowercase().chars().take(CARD_TITLE_CHARS).collect()
}
