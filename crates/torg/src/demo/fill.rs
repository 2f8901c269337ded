//! Makes the offers of the past, chunk by chunk, while the demo's time runs from half a year ago to the present.
//!
//! Each is made under a key of its own, so that one that is there is not made again: whoever stops the demo in between goes on where it was.

use anyhow::Context as _;
use futures::future::try_join_all;
use offers::{Call, Offers, Request};

use super::clock::{DemoClock, made_at_ms};
use super::dice::Dice;
use super::folder::{Folder, Progress};
use super::limits::{CHUNK, OFFERS_BY_CHANGE, PROGRESS_EVERY};
use super::people::{People, by_seller};
use super::site::Site;
use super::{life, offer};

/// Under which keys of calls are kept.
const CALLER: &str = "demo";

/// Makes offers.
pub(super) struct Filling {
    pub(super) offers: Offers,
    pub(super) people: People,
    pub(super) folder: Folder,
    pub(super) clock: DemoClock,
    pub(super) site: Site,
    /// How many there will be.
    pub(super) total: u32,
    pub(super) made: u32,
    /// The stages that Torg brings along.
    pub(super) built_in: Vec<String>,
}

impl Filling {
    pub(super) fn is_done(&self) -> bool {
        self.made >= self.total
    }

    /// Makes the next ones, but not beyond `end`; people do something meanwhile.
    pub(super) async fn chunk(&mut self, end: u32) -> anyhow::Result<()> {
        let end = end.min(self.total).min(self.made.saturating_add(CHUNK));
        if self.made >= end {
            return Ok(());
        }
        self.clock.move_to(made_at_ms(self.folder.started_ms, self.made, self.total));
        let made = try_join_all((self.made..end).map(|number| self.make(number)));
        let deeds = (self.made / OFFERS_BY_CHANGE)..(end / OFFERS_BY_CHANGE);
        let changed =
            try_join_all(deeds.map(async |number| {
                self.people.change(&mut Dice::new(life::SEED ^ u64::from(number))).await
            }));
        let (made, changed) = tokio::join!(made, changed);
        made?;
        changed.context("what people do with the demo's offers")?;
        let before = self.made;
        self.made = end;
        self.folder.save_progress(Progress { offers: end })?;
        if before / PROGRESS_EVERY != end / PROGRESS_EVERY || self.is_done() {
            tracing::info!(offers = end, of = self.total, "the demo's offers are being made");
        }
        Ok(())
    }

    async fn make(&self, number: u32) -> anyhow::Result<()> {
        let (seller, offer) = offer::numbered(number.into(), &self.site);
        let key = format!("demo-offer-{number}");
        let request = Request { caller: CALLER.to_owned(), key, fingerprint: number.into() };
        let call = Call { request: Some(request), ..by_seller(seller) };
        let made = self.offers.create(&call, &offer).await;
        made.map(|_| ()).with_context(|| format!("the demo's offer {number}, {:?}", offer.title))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::config::Config;
    use crate::demo::sellers::SELLERS;
    use crate::marketplace::{Marketplace, Surroundings};
    use crate::parts;

    async fn all(offers: &Offers) -> i64 {
        let mut sum = 0;
        for seller in SELLERS {
            sum += offers.counts(seller.id).await.unwrap()["all"];
        }
        sum
    }

    #[tokio::test]
    async fn offers_are_made_once_also_if_it_was_not_noted_that_they_are_there() {
        let place = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        (config.store.url, config.files.url) = ("memory:".into(), "memory:".into());
        config.feeds.spool_dir = place.path().to_owned();
        let folder = Folder::open(&place.path().join("demo"), 1_700_000_000_000).unwrap();
        let clock = DemoClock::standing_at(made_at_ms(folder.started_ms, 0, 100), 1);
        let store = parts::open_store(&config).await.unwrap();
        let topics = parts::open_topics(&config, &store).await.unwrap();
        let (closing, ctl) = (watch::Sender::new(false), parts::open_ctl(&store));
        let around = Surroundings { clock: clock.clock(), own: None };
        let opened = Marketplace::open_in(&around, &config, &store, &topics, &ctl, closing.subscribe()).await;
        let market = opened.unwrap().market;
        let (opinions, site) = (market.opinions.topic.clone(), Site::at("127.0.0.1:80".parse().unwrap()));
        let people = People::new(market.offers.clone(), opinions, clock.clone(), site.clone());
        let filling = |made| Filling {
            offers: market.offers.clone(),
            people: people.clone(),
            folder: folder.clone(),
            clock: clock.clone(),
            site: site.clone(),
            total: 100,
            made,
            built_in: Vec::new(),
        };
        filling(0).chunk(1).await.unwrap();
        assert_eq!((all(&market.offers).await, folder.progress().unwrap().offers), (1, 1));
        filling(0).chunk(2).await.unwrap();
        assert_eq!(all(&market.offers).await, 2);
    }
}
