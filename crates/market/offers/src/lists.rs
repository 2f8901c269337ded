//! The rows of a seller's lists: by preset with a card for filters, and by index value (facet).

use std::collections::BTreeMap;

use buffa::Message;
use bytes::Bytes;
use store::{Batch, Key};
use watcher::{ChangeContext, Fields};
use wire::torg::offers::v1::__buffa::oneof::{price, source};
use wire::torg::offers::v1::{Card, Money, Offer, Preset};

use crate::entity::{StoredOffer, seller_shard};
use crate::limits::{CARD_TITLE_CHARS, TITLE_FILTER_CHARS};
use crate::presets::{name, presets_of, with_cards};
use crate::tables::{FILTERS, PRESETS};

/// Writes and deletes the rows that a change of an offer concerns.
pub(crate) fn follow(change: &ChangeContext<'_, StoredOffer>, batch: &mut Batch) {
    let listed = Fields::of(["status", "title", "price", "category", "source", "seller"]);
    if change.fields.overlaps(&listed) {
        let rows = |offer: Option<&StoredOffer>| {
            offer.map(|offer| rows_of(offer, seller_shard(offer, change))).unwrap_or_default()
        };
        replace(batch, rows(change.before), rows(change.after));
    }
}

fn rows_of(stored: &StoredOffer, shard: u32) -> Vec<(Key, Bytes)> {
    let StoredOffer { id, offer, .. } = stored;
    let (id, created_ms, seller) = (id.to_string(), stored.created_ms(), &*offer.seller);
    let card = card(offer);
    let presets = presets_of(stored.status());
    let in_preset = |preset: &Preset| {
        let content = if with_cards(*preset) == *preset { card.encode_to_vec() } else { Vec::new() };
        (PRESETS.key((shard, seller, name(*preset), created_ms, &*id)), content.into())
    };
    let mut rows: Vec<(Key, Bytes)> = presets.iter().map(in_preset).collect();
    if !presets.is_empty() {
        let by = |facet: String| (FILTERS.key((shard, seller, &*facet, created_ms, &*id)), Bytes::new());
        rows.extend(facets_of(&card).map(by));
    }
    rows
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

/// The properties of an offer that filters compare.
pub(crate) fn card(offer: &Offer) -> Card {
    Card {
        category: offer.category.clone(),
        source: feed_of(offer)
            .map_or_else(|| "manual".to_owned(), |(namespace, _)| format!("feed:{namespace}")),
        title: title_key(&offer.title),
        price: lowest_price(offer).cloned().into(),
        ..Card::default()
    }
}

fn lowest_price(offer: &Offer) -> Option<&Money> {
    match offer.price.as_option()?.kind.as_ref()? {
        price::Kind::Fixed(money) => Some(money),
        price::Kind::Free(_) => None,
        price::Kind::Negotiable(negotiable) => negotiable.from.as_option(),
        price::Kind::Range(range) => range.from.as_option().or_else(|| range.to.as_option()),
    }
}

/// The feed that an offer comes from, and its id there.
pub(crate) fn feed_of(offer: &Offer) -> Option<(&str, &str)> {
    match offer.source.as_option()?.kind.as_ref()? {
        source::Kind::Feed(feed) => Some((&feed.namespace, &feed.external_id)),
        source::Kind::Manual(_) => None,
    }
}

/// The index values of an offer.
fn facets_of(card: &Card) -> impl Iterator<Item = String> {
    let price = card.price.as_option().map(price_facet);
    let others = [category_facet(&card.category), source_facet(&card.source), title_facet(&card.title)];
    others.into_iter().chain(price)
}

pub(crate) fn category_facet(category: &str) -> String {
    format!("c:{category}")
}

pub(crate) fn source_facet(source: &str) -> String {
    format!("s:{source}")
}

/// By the first letters of the title, in lower case.
pub(crate) fn title_facet(beginning: &str) -> String {
    "t:".chars().chain(beginning.chars().take(TITLE_FILTER_CHARS)).collect()
}

/// By the magnitude of the price: eight steps between an amount and its double.
pub(crate) fn price_facet(price: &Money) -> String {
    let micros = price.micros.max(0).cast_unsigned();
    let octave = 64 - u64::from(micros.leading_zeros());
    let eighth = if octave > 3 { micros >> (octave - 4) & 7 } else { 0 };
    format!("p:{}:{:03}", price.currency, octave * 8 + eighth)
}

/// The form in which titles are compared.
pub(crate) fn title_key(title: &str) -> String {
    title.trim_start().to_lowercase().chars().take(CARD_TITLE_CHARS).collect()
}
