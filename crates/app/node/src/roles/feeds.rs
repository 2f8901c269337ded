//! The role `feeds`: fetches feeds, reads them, and processes the results of loads.
//!
//! The ad store's side of a load belongs to the role `stages`, which processes offers.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use ctl::Ctl;
use feeds::{Dependencies, Download, Feeds, Files, Nominatim, NominatimOptions, Process, StoredFeed};
use fetch::Client;
use geo::{Geocoder, Places};
use offers::Offers;
use store::Store;
use topics::Topics;
use unify::Unifier;
use watcher::{Setup, Stage, StageLimits, Watcher};

use crate::config::{self, Config};
use crate::environment::Environment;

use crate::parts::{self, ensure_topic};
use crate::supervisor::Running;
use crate::system_values::FeedValues;
use terminal::errors::advised;

/// Concurrent downloads.
const DOWNLOADS_AT_ONCE: usize = 8;
/// Added to the time limit of one download.
const DOWNLOAD_SLACK: Duration = Duration::from_secs(60);
/// Spool files older than this belong to a process that died, and are deleted.
const SPOOL_LEFTOVER_AGE: Duration = Duration::from_secs(24 * 3600);

/// The feeds of a process and the number of partitions of their topics.
#[derive(Clone)]
pub struct FeedRole {
    pub feeds: Feeds,
    offers_partitions: u32,
    results_partitions: u32,
}

impl FeedRole {
    /// Opens the feeds; creates missing topics.
    pub async fn open(
        environment: &dyn Environment,
        config: &Config,
        store: &Store,
        topics: &Topics,
        offers: &Offers,
        ctl: &Ctl,
    ) -> anyhow::Result<FeedRole> {
        let config::Feeds { offers_topic, results_topic, dead_letter_topic, .. } = &config.feeds;
        for topic in [offers_topic, results_topic, dead_letter_topic] {
            ensure_topic(config, topics, topic, config.feeds.topic_partitions).await?;
        }
        let partitions = async |topic| topics.partition_count(topic).await.map_err(parts::topics_error);
        let (offers_partitions, results_partitions) =
            (partitions(offers_topic).await?, partitions(results_topic).await?);
        let client = environment.client(config.feeds.rules()?);
        let (unifier, geocoder) = open_unifier(config, offers).await?;
        let parts = Dependencies {
            store: store.clone(),
            topics: topics.clone(),
            offers: Arc::new(offers.clone()),
            watcher: open_watcher(config, store).await?,
            files: open_files(config)?,
            unifier,
            geocoder,
            load_hook: Some(Arc::new(FeedValues::new(ctl.clone()))),
            config: feeds::Config {
                offers_topic: offers_topic.clone(),
                results_topic: results_topic.clone(),
                dead_letter_topic: dead_letter_topic.clone(),
                loads_kept: config.feeds.loads_kept.into(),
                batch_offers: feeds::limits::BATCH_OFFERS,
                batches_ahead: config.feeds.batches_ahead,
            },
        };
        let feeds = with_stages(&Feeds::new(parts), client)?;
        Ok(FeedRole { feeds, offers_partitions, results_partitions })
    }

    /// Starts the ad store's side: loads are applied, and offers that a load no longer has are
    /// removed.
    pub fn run_autoload(&self, running: &mut Running) {
        for partition in 0..self.offers_partitions {
            let (feeds, stopped) = (self.feeds.clone(), running.stopped());
            running.start("offers of feeds are not applied any more", async move {
                feeds.follow_loads(partition, stopped).await;
                Ok(())
            });
        }
        let (feeds, stopped) = (self.feeds.clone(), running.stopped());
        running.start("loads of feeds are not ended any more", async move {
            feeds.follow_ends(stopped).await;
            Ok(())
        });
    }

    /// Starts the feed side: links are fetched, files are read, results are processed, and old
    /// loads are deleted.
    pub fn run_feeds(&self, running: &mut Running, instance: String) {
        let (watcher, stopped) = (self.feeds.watcher().clone(), running.stopped());
        running.start("feeds are not worked on any more", async move {
            Ok(watcher.run(instance, stopped).await?)
        });
        for partition in 0..self.results_partitions {
            let (feeds, stopped) = (self.feeds.clone(), running.stopped());
            running.start("answers about loads are not taken in any more", async move {
                feeds.follow_results(partition, stopped).await;
                Ok(())
            });
        }
        let (feeds, stopped) = (self.feeds.clone(), running.stopped());
        running.start("old loads are not thrown away any more", async move {
            feeds.run_cleaning(stopped).await;
            Ok(())
        });
    }
}

async fn open_watcher(config: &Config, store: &Store) -> anyhow::Result<Watcher<StoredFeed>> {
    let limits = watcher::Config { shards: config.feeds.shards, ..watcher::Config::default() };
    Watcher::open(store, Setup { config: limits, ..Setup::default() }).await.context("cannot open the feeds")
}

/// Adds the stages of feeds. Every process has them, also without running them, because a change is
/// queued for the stages that it concerns.
fn with_stages(feeds: &Feeds, client: Client) -> anyhow::Result<Feeds> {
    let (small, large) = (Process::small(feeds.clone()), Process::large(feeds.clone()));
    let timeout = feeds::limits::DOWNLOAD_TIME_MAX + DOWNLOAD_SLACK;
    let download =
        StageLimits { calls_max: DOWNLOADS_AT_ONCE, batch_max: 1, timeout, ..StageLimits::default() };
    let limits = [
        ("download".to_owned(), download),
        ("process".to_owned(), small.limits()),
        ("process-large".to_owned(), large.limits()),
    ];
    let download = Download::new(feeds.clone(), client);
    let stages: Vec<Arc<dyn Stage<StoredFeed>>> = vec![Arc::new(download), Arc::new(small), Arc::new(large)];
    let watcher = feeds.watcher().with_stages(stages, &limits.into()).context("cannot set up the feeds")?;
    Ok(feeds.with_watcher(watcher))
}

/// Opens the unifier, and a geocoder if one is configured.
async fn open_unifier(
    config: &Config,
    offers: &Offers,
) -> anyhow::Result<(Arc<Unifier>, Option<Arc<dyn Geocoder>>)> {
    let (catalogue, feeds) = (Arc::clone(offers.catalogue()), config.feeds.clone());
    let made = tokio::task::spawn_blocking(move || -> anyhow::Result<_> {
        let places = Arc::new(geo::Places::builtin().context("the built-in places are broken")?);
        let unifier =
            Unifier::new(catalogue, Arc::clone(&places)).context("the catalogue cannot be recognised")?;
        Ok((Arc::new(unifier), open_geocoder(&feeds, places)?))
    });
    made.await?
}

fn open_geocoder(config: &config::Feeds, places: Arc<Places>) -> anyhow::Result<Option<Arc<dyn Geocoder>>> {
    if config.geocoder_url.is_empty() {
        return Ok(None);
    }
    let interval = Duration::from_millis(config.geocoder_interval_ms.into());
    let options = NominatimOptions { interval, ..NominatimOptions::new(&*config.geocoder_url) };
    let geocoder = Nominatim::new(options, places)
        .map_err(|error| advised(error, "give the address before /search with feeds.geocoder_url"))?;
    Ok(Some(Arc::new(geocoder)))
}

fn open_files(config: &Config) -> anyhow::Result<Files> {
    let hint = "give another place with files.url";
    let store = photos::files::open(config.files.url.expose()).map_err(|error| advised(error, hint))?;
    let spool = &config.feeds.spool_dir;
    let files = Files::new(store, spool).map_err(|error| {
        let message =
            format!("cannot make the folder for files on their way in, {}: {error}", spool.display());
        advised(message, "choose a folder that this user can write to with feeds.spool_dir")
    })?;
    forget_leftovers(spool);
    Ok(files)
}

/// Deletes spool files of dead processes. A live file is spooled within minutes.
fn forget_leftovers(spool: &Path) {
    let Ok(entries) = std::fs::read_dir(spool) else { return };
    let is_old = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age > SPOOL_LEFTOVER_AGE);
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with("feed-")) {
        let modified = entry.metadata().and_then(|file| file.modified());
        if modified.is_ok_and(is_old)
            && let Err(error) = std::fs::remove_file(entry.path())
        {
            tracing::warn!(file = %entry.path().display(), %error, "cannot throw away what was left in the spool");
        }
    }
}
