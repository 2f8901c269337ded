//! Creates the past offers in chunks, while the demo's clock runs from half a year ago to the
//! present.
//!
//! Each offer has an idempotency key of its own, so it is created only once. A demo that was
//! stopped in between resumes where it was.

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
use node::parts;
use terminal::errors::advised;

/// The caller in the idempotency keys.
const CALLER: &str = "demo";

/// Creates the past offers.
pub(super) struct Filling {
    pub(super) offers: Offers,
    pub(super) people: People,
    pub(super) folder: Folder,
    pub(super) clock: DemoClock,
    pub(super) site: Site,
    /// The target number of offers.
    pub(super) total: u32,
    pub(super) made: u32,
    /// The built-in stages.
    pub(super) built_in: Vec<String>,
}

impl Filling {
    pub(super) fn is_done(&self) -> bool {
        self.made >= self.total
    }

    /// Creates the next chunk of offers, but not beyond `end`. Existing offers change in the
    /// meantime.
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
        changed.map_err(for_people).context("what people do with the demo's offers")?;
        let before = self.made;
        self.made = end;
        self.folder.save_progress(Progress { offers: end })?;
        if before / PROGRESS_EVERY != end / PROGRESS_EVERY || self.is_done() {
            tracing::info!(offers = end, of = self.total, "the demo's offers are being made");
        }
        Ok(())
    }

    async fn make(&self, number: u32) -> anyhow::Result<()> {
        let (seller, offer) = offer::numbered(number.into(), self.site);
        let key = format!("demo-offer-{number}");
        let request = Request { caller: CALLER.to_owned(), key, fingerprint: number.into() };
        let call = Call { request: Some(request), ..by_seller(seller) };
        let made = self.offers.create(&call, &offer).await;
        made.map(|_| ())
            .map_err(for_people)
            .with_context(|| format!("the demo's offer {number}, {:?}", offer.title))
    }
}

/// Keeps the hints of store and topic errors.
fn for_people(error: offers::Error) -> anyhow::Error {
    match error {
        offers::Error::Store(error) | offers::Error::Watcher(watcher::Error::Store(error)) => {
            parts::store_error(error)
        }
        offers::Error::Topics(error) | offers::Error::Watcher(watcher::Error::Topics(error)) => {
            match error.hint() {
                Some(hint) => advised(error, hint),
                None => anyhow::Error::from(error),
            }
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Rig;

    #[test]
    fn a_disk_that_is_full_while_offers_are_made_brings_its_advice_along() {
        let full = || store::Error::DiskFull { detail: "9 MB".to_owned() };
        for error in [offers::Error::Store(full()), offers::Error::Watcher(full().into())] {
            let told = terminal::errors::report(&for_people(error).context("the demo's offer 7"));
            assert!(
                told.contains("the demo's offer 7: ") && told.contains("hint: free some space"),
                "{told}"
            );
        }
    }

    #[tokio::test]
    async fn offers_are_made_once_also_if_it_was_not_noted_that_they_are_there() {
        let rig = Rig::new().await;
        rig.filling(0, 100).chunk(1).await.unwrap();
        assert_eq!((rig.people.active().await.unwrap(), rig.folder.progress().unwrap().offers), (1, 1));
        rig.filling(0, 100).chunk(2).await.unwrap();
        assert_eq!(rig.people.active().await.unwrap(), 2);
    }
}
