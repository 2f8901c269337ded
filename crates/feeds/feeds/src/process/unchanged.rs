//! Offers that say what they said at the last load are neither recognised again nor sent whole.

use std::hash::Hash as _;

use buffa::Message as _;
use feedfile::{Batch, Header, Item, Position};
use tokio::runtime::Handle;
use wire::torg::feeds::v1::LoadedOffer;
use wire::torg::feeds::v1::loaded_offer::Verdict;
use xxhash_rust::xxh3::Xxh3Default;

use super::unifying::{Unification, Unifying};
use crate::error::Result;
use crate::feeds::Feeds;
use crate::name::FeedName;

/// To be raised whenever the code makes another offer of the same text: then all offers are looked at again.
const EDITION: u32 = 1;

/// What an offer says, and how it is understood.
type Fingerprint = [u8; 16];

/// Makes fingerprints of the offers of one file.
pub(super) struct Fingerprints {
    /// Has taken in what all offers of the file have in common.
    common: Xxh3Default,
}

impl Fingerprints {
    /// All that decides how an offer is understood, beside what it says itself.
    pub(super) fn new(unifying: &Unifying) -> Self {
        let Unifying { catalogue, seller, namespace, defaults, mappings, .. } = unifying;
        let mut common = Xxh3Default::new();
        (EDITION, catalogue.version(), catalogue.digest(), seller, namespace).hash(&mut common);
        (defaults.encode_to_vec(), mappings).hash(&mut common);
        Self { common }
    }

    /// By the text too, and not only by what it means: problems are told by where they are in it.
    fn of(&self, part: &Batch, number: usize) -> Option<Fingerprint> {
        let offer = part.items[number].offer.as_ref()?;
        let mut all = self.common.clone();
        part.text(number).hash(&mut all);
        offer.hash(&mut all);
        if offer.category.path.is_none() {
            Unification::path(offer, &part.header).hash(&mut all);
        }
        Some(all.digest128().to_be_bytes())
    }
}

/// Asks the ad store which offers of one feed it has as they are.
pub(super) struct Asking {
    feeds: Feeds,
    name: FeedName,
    runtime: Handle,
}

impl Asking {
    /// None if the feed has published nothing so far: all of its offers are new.
    pub(super) async fn about(feeds: &Feeds, name: &FeedName) -> Result<Option<Self>> {
        let has_offers = feeds.has_published(name).await?;
        let asking = || Self { feeds: feeds.clone(), name: name.clone(), runtime: Handle::current() };
        Ok(has_offers.then(asking))
    }

    /// Whether each of these offers need not be looked at. Blocks the thread. An ad store that cannot answer has none of them.
    fn unchanged(&self, offers: &[(&str, &[u8])]) -> Vec<bool> {
        let answer = self.runtime.block_on(self.feeds.unchanged_since(&self.name, offers));
        answer.unwrap_or_else(|error| {
            tracing::warn!(seller = self.name.seller, %error, "all offers of a feed are looked at");
            vec![false; offers.len()]
        })
    }
}

/// Some offers of a file, and which of them the ad store has as they are.
pub(super) struct Judged {
    fingerprints: Vec<Option<Fingerprint>>,
    unchanged: Vec<bool>,
    bytes: Vec<usize>,
}

impl Judged {
    pub(super) fn new(part: &Batch, fingerprints: &Fingerprints, asking: Option<&Asking>) -> Self {
        let numbers = 0..part.items.len();
        let fingerprints: Vec<_> = numbers.map(|number| fingerprints.of(part, number)).collect();
        let mut unchanged = vec![false; part.items.len()];
        if let Some(asking) = asking {
            let items = part.items.iter().zip(&fingerprints).enumerate();
            let asked = items.filter_map(|(number, (item, fingerprint))| {
                Some((number, (&*item.external_id, fingerprint.as_ref()?.as_slice())))
            });
            let (numbers, questions): (Vec<usize>, Vec<(&str, &[u8])>) = asked.unzip();
            for (number, is_same) in numbers.into_iter().zip(asking.unchanged(&questions)) {
                unchanged[number] = is_same;
            }
        }
        let bytes = (0..part.items.len()).map(|number| part.text(number).len()).collect();
        Self { fingerprints, unchanged, bytes }
    }

    /// The bytes of the offer with this number in the file.
    pub(super) fn bytes(&self, number: usize) -> usize {
        self.bytes[number]
    }

    /// What the ad store is told of the offer with this number.
    pub(super) fn loaded(
        &self,
        number: usize,
        item: Item,
        header: &Header,
        session: &mut Unification<'_>,
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
            session.unify(item, header)
        };
        LoadedOffer { fingerprint, line, column, ..loaded }
    }
}
