//! The re-crawl: asks every stage about every entity, and enqueues what they want in the background
//! lane.
//!
//! It is ordered once for all processes ([`Watcher::start_recrawl`]). Each process crawls through
//! its own shards and stores its progress; a new owner of a shard continues from there.

mod crawler;

use store::{Batch, Key, Read};

pub(crate) use crawler::Crawler;

use crate::change::{Stored, replace};
use crate::entity::Entity;
use crate::rows::{CrawlOrder, CrawlProgress, Settings, encode};
use crate::tables::{CRAWLS, SETTINGS};
use crate::watcher::Watcher;
use crate::{Error, Result};
use clock::Time;

/// The progress of a re-crawl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recrawl {
    pub started: Time,
    /// Entities a second over all processes; `None`: no limit.
    pub per_second: Option<u32>,
    pub paused: bool,
    /// Cancelled before its end.
    pub cancelled: bool,
    pub done: bool,
    /// Out of `shards`.
    pub shards_done: u32,
    pub shards: u32,
    /// Entities that stages were asked about.
    pub seen: u64,
    /// Visits that it enqueued.
    pub queued: u64,
    /// Entities that could not be read.
    pub damaged: u64,
}

impl<E: Entity> Watcher<E> {
    /// Has every stage asked about every entity, at most `per_second` a second.
    /// [`Conflict`](Error::Conflict) while another re-crawl is under way,
    /// [`Invalid`](Error::Invalid) for a speed of zero.
    pub async fn start_recrawl(&self, per_second: Option<u32>) -> Result<()> {
        require_speed(per_second)?;
        // Read before the check below: another start after that check changes this number.
        let before = self.settings().await?.content.crawl.as_option().map_or(0, |order| order.run);
        if let Some(under_way) = self.recrawl().await?
            && !under_way.done
            && !under_way.cancelled
            && !planted!(SecondCrawl)
        {
            let what = format!(
                "a re-crawl of all {} has been under way since {} ({} of {} shards are done): cancel it first",
                E::KIND,
                under_way.started,
                under_way.shards_done,
                under_way.shards
            );
            return Err(Error::Conflict { what });
        }
        let (started_ms, per_second) = (self.now().as_ms(), per_second.unwrap_or_default());
        self.change_order(|order| {
            // Another process may have started one meanwhile.
            if order.run != before {
                return Err("another re-crawl was started at the same moment: cancel it first");
            }
            *order = CrawlOrder { run: before + 1, started_ms, per_second, ..CrawlOrder::default() };
            Ok(())
        })
        .await
    }

    /// [`Conflict`](Error::Conflict) if no re-crawl is under way, as for the other calls.
    pub async fn pause_recrawl(&self) -> Result<()> {
        self.change_under_way(|order| order.paused = true).await
    }

    /// Resumes the re-crawl with this speed. [`Invalid`](Error::Invalid) for a speed of zero.
    pub async fn resume_recrawl(&self, per_second: Option<u32>) -> Result<()> {
        require_speed(per_second)?;
        let per_second = per_second.unwrap_or_default();
        self.change_under_way(|order| (order.paused, order.per_second) = (false, per_second)).await
    }

    /// Ends the re-crawl. What it has enqueued stays.
    pub async fn cancel_recrawl(&self) -> Result<()> {
        self.change_under_way(|order| order.cancelled = true).await
    }

    /// The last re-crawl; `None` if there never was one.
    pub async fn recrawl(&self) -> Result<Option<Recrawl>> {
        let settings = self.settings().await?.content;
        let Some(order) = settings.crawl.into_option() else { return Ok(None) };
        let shards = self.config().shards;
        let mut crawl = Recrawl {
            started: Time::from_ms(order.started_ms),
            per_second: (order.per_second > 0).then_some(order.per_second),
            paused: order.paused,
            cancelled: order.cancelled,
            done: false,
            shards_done: 0,
            shards,
            seen: 0,
            queued: 0,
            damaged: 0,
        };
        let keys: Vec<Key> = (0..shards).map(|shard| CRAWLS.key((shard, E::KIND))).collect();
        for keys in keys.chunks(crate::limits::LEASES_IN_A_READ_MAX) {
            for row in self.store().get(keys).await? {
                let progress = Stored::<CrawlProgress>::read(row)?.content;
                if progress.run == order.run {
                    crawl.shards_done += u32::from(progress.done);
                    crawl.seen += progress.seen;
                    crawl.queued += progress.queued;
                    crawl.damaged += progress.damaged;
                }
            }
        }
        crawl.done = crawl.shards_done == shards;
        // It may have ended while the order was under way.
        crawl.paused &= !crawl.done;
        crawl.cancelled &= !crawl.done;
        Ok(Some(crawl))
    }

    pub(crate) async fn settings(&self) -> Result<Stored<Settings>> {
        Stored::read(self.store().get_one(&SETTINGS.key((0, E::KIND))).await?)
    }

    async fn change_under_way(&self, change: impl Fn(&mut CrawlOrder)) -> Result<()> {
        let nothing = "no re-crawl is under way: start one first";
        if self.recrawl().await?.is_none_or(|crawl| crawl.done || crawl.cancelled) {
            return Err(Error::Conflict { what: nothing.to_owned() });
        }
        self.change_order(|order| {
            if order.cancelled {
                return Err(nothing);
            }
            change(order);
            Ok(())
        })
        .await
    }

    async fn change_order(
        &self,
        change: impl Fn(&mut CrawlOrder) -> std::result::Result<(), &'static str>,
    ) -> Result<()> {
        loop {
            let Stored { version, content: mut settings } = self.settings().await?;
            let mut order = settings.crawl.take().unwrap_or_default();
            change(&mut order).map_err(|what| Error::Conflict { what: what.to_owned() })?;
            settings.crawl = Some(order).into();
            let mut batch = Batch::new();
            replace(&mut batch, SETTINGS.key((0, E::KIND)), version, encode(&settings));
            if self.store().commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
    }
}

fn require_speed(per_second: Option<u32>) -> Result<()> {
    if per_second == Some(0) {
        let what =
            "a re-crawl of 0 entities in a second never ends: leave the limit out, or pause the re-crawl";
        return Err(Error::Invalid { what: what.to_owned() });
    }
    Ok(())
}
