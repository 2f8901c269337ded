//! Skips unchanged offers: they are neither recognised again nor sent with their contents.

use std::hash::Hash as _;

use buffa::Message as _;
use feedfile::{Batch, Header, Item, Position};
use tokio::runtime::Handle;
use wire::torg::feeds::v1::LoadedOffer;
use wire::torg::feeds::v1::loaded_offer::Verdict;
use xxhash_rust::xxh3::Xxh3Default;

use super::convert::{Conversion, Converter};
use crate::error::Result;
use crate::feeds::Feeds;
use crate::name::FeedName;

/// Raise it when the code converts the same text to another offer: then all offers are converted
/// again.
const EDITION: u32 = 1;

/// A hash of an offer's text and of all that decides its conversion.
type Fingerprint = [u8; 16];

/// Computes the fingerprints of the offers of one file.
pub(super) struct Fingerprints {
    /// The hash of what all offers of the file have in common.
    common: Xxh3Default,
}

impl Fingerprints {
    /// Hashes all that decides the conversion except the offer itself.
    pub(super) fn new(converter: &Converter) -> Self {
        let Converter { catalogue, seller, namespace, defaults, mappings, .. } = converter;
        let mut common = Xxh3Default::new();
        (EDITION, catalogue.version(), catalogue.digest(), seller, namespace).hash(&mut common);
        (defaults.encode_to_vec(), mappings).hash(&mut common);
        Self { common }
    }

    /// Includes the text, not only its meaning, because problems have positions in it.
    fn of(&self, part: &Batch, number: usize) -> Option<Fingerprint> {
        let offer = part.items[number].offer.as_ref()?;
        let mut all = self.common.clone();
        part.text(number).hash(&mut all);
        offer.hash(&mut all);
        if offer.category.path.is_none() {
            Conversion::path(offer, &part.header).hash(&mut all);
        }
        Some(all.digest128().to_be_bytes())
    }
}

/// Looks up which offers of a feed are published unchanged.
pub(super) struct PublishedLookup {
    feeds: Feeds,
    name: FeedName,
    runtime: Handle,
}

impl PublishedLookup {
    /// `None` if the feed has published nothing: all offers are new.
    pub(super) async fn about(feeds: &Feeds, name: &FeedName) -> Result<Option<Self>> {
        let has_offers = feeds.has_published(name).await?;
        let published = || Self { feeds: feeds.clone(), name: name.clone(), runtime: Handle::current() };
        Ok(has_offers.then(published))
    }

    /// Whether each of these offers is unchanged. Blocks the thread. On an error, none is.
    fn unchanged(&self, offers: &[(&str, &[u8])]) -> Vec<bool> {
        let answer = self.runtime.block_on(self.feeds.unchanged_since(&self.name, offers));
        answer.unwrap_or_else(|error| {
            tracing::warn!(seller = self.name.seller, %error, "cannot look up unchanged offers, converting all");
            vec![false; offers.len()]
        })
    }
}

/// Offers of a file with their fingerprints, and which of them are published unchanged.
pub(super) struct Compared {
    fingerprints: Vec<Option<Fingerprint>>,
    unchanged: Vec<bool>,
    bytes: Vec<usize>,
}

impl Compared {
    pub(super) fn new(
        part: &Batch,
        fingerprints: &Fingerprints,
        published: Option<&PublishedLookup>,
    ) -> Self {
        let numbers = 0..part.items.len();
        let fingerprints: Vec<_> = numbers.map(|number| fingerprints.of(part, number)).collect();
        let mut unchanged = vec![false; part.items.len()];
        if let Some(published) = published {
            let items = part.items.iter().zip(&fingerprints).enumerate();
            let asked = items.filter_map(|(number, (item, fingerprint))| {
                Some((number, (&*item.external_id, fingerprint.as_ref()?.as_slice())))
            });
            let (numbers, questions): (Vec<usize>, Vec<(&str, &[u8])>) = asked.unzip();
            for (number, is_same) in numbers.into_iter().zip(published.unchanged(&questions)) {
                unchanged[number] = is_same;
            }
        }
        let bytes = (0..part.items.len()).map(|number| part.text(number).len()).collect();
        Self { fingerprints, unchanged, bytes }
    }

    pub(super) fn bytes(&self, number: usize) -> usize {
        self.bytes[number]
    }

    pub(super) fn loaded(
        &self,
        number: usize,
        item: Item,
        header: &Header,
        session: &mut Conversion<'_>,
    ) -> LoadedOffer {
        let fingerprint = self.fingerprints[number].map(Vec::from).unwrap_or_default();
        let Position { line, column } = item.at;
        let loaded = if self.unchanged[number] {
            session.recognitions.pass_over();
            LoadedOffer {
                external_id: item.external_id,
                title: item.offer.map(|offer| offer.title.value).unwrap_or_default(),
                verdict: Verdict::VERDICT_UNCHANGED.into(),
                ..LoadedOffer::default()
            }
        } else {
            session.convert(item, header)
        };
        LoadedOffer { fingerprint, line, column, ..loaded }
    }
}
