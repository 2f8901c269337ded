//! The API of feeds: creates, changes and deletes feeds, and accepts files.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buffa_types::google::protobuf::Timestamp;
use geo::Geocoder;
use offers::{BulkChanges, time};
use store::{Batch, Read as _, Scan, Store};
use topics::Topics;
use unify::Unifier;
use watcher::{Fields, Time, Versioned, Watcher, shard_of};
use wire::torg::feeds::v1::load::Origin;
use wire::torg::feeds::v1::{Deleting, Feed, Guard, Load, Missing, QueuedLoad};

use crate::error::{Error, Result, invalid};
use crate::feed::StoredFeed;
use crate::files::{Files, Spooled};
use crate::limits::{
    ATTEMPTS_MAX, CREDENTIAL_BYTES_MAX, FEEDS_OF_A_SELLER_MAX, GUARD_LEAST, GUARD_SHARE, NAMESPACE_BYTES_MAX,
    PERIOD, PERIOD_MAX, PERIOD_MIN, QUEUE_MAX, TITLE_CHARS_MAX, URL_BYTES_MAX,
};
use crate::name::FeedName;
use crate::tables::NAMES;

#[derive(Clone, Debug)]
pub struct Config {
    pub offers_topic: String,
    pub results_topic: String,
    /// The topic of messages that cannot be decoded.
    pub dead_letter_topic: String,
    pub loads_kept: u64,
    /// The maximum number of offers of a batch. A load that has begun keeps its number.
    pub batch_offers: u32,
    /// Batches of a load that may be in flight.
    pub batches_ahead: u32,
}

/// What [`Feeds`] needs.
#[derive(Clone)]
pub struct Dependencies {
    /// Opened with [`tables`](crate::tables) and those of the watcher, of topics and of offers.
    pub store: Store,
    /// With the topics of [`Config`].
    pub topics: Topics,
    pub offers: Arc<dyn BulkChanges>,
    pub watcher: Watcher<StoredFeed>,
    pub files: Files,
    pub unifier: Arc<Unifier>,
    /// A geocoder beside the built-in places.
    pub geocoder: Option<Arc<dyn Geocoder>>,
    /// Adds rows to the commits that end loads.
    pub load_hook: Option<Arc<dyn LoadHook>>,
    pub config: Config,
}

/// Adds rows to the commit that ends a load.
#[async_trait]
pub trait LoadHook: Send + Sync {
    /// Called when a load is done and all of its offers are applied, and again with another batch
    /// after a conflict.
    async fn load_done(&self, feed: &FeedName, load: &Load, batch: &mut Batch) -> store::Result<()>;
}

/// All feeds of a store. Cheap to clone.
#[derive(Clone)]
pub struct Feeds {
    pub(crate) deps: Arc<Dependencies>,
}

impl Feeds {
    #[must_use]
    pub fn new(deps: Dependencies) -> Self {
        Self { deps: Arc::new(deps) }
    }

    /// The same feeds with a watcher that has stages.
    #[must_use]
    pub fn with_watcher(&self, watcher: Watcher<StoredFeed>) -> Self {
        Self::new(Dependencies { watcher, ..(*self.deps).clone() })
    }

    #[must_use]
    pub fn watcher(&self) -> &Watcher<StoredFeed> {
        &self.deps.watcher
    }

    #[must_use]
    pub fn files(&self) -> &Files {
        &self.deps.files
    }

    pub(crate) fn offers(&self) -> &dyn BulkChanges {
        &*self.deps.offers
    }

    pub(crate) fn store(&self) -> &Store {
        &self.deps.store
    }

    pub(crate) fn now(&self) -> Time {
        self.deps.watcher.clock().now()
    }

    pub(crate) fn seller_shard(&self, seller: &str) -> u32 {
        shard_of(seller, self.deps.watcher.shards())
    }

    /// Creates a feed. A link is fetched at once.
    pub async fn create(&self, feed: Feed) -> Result<Feed> {
        let mut stored = StoredFeed(self.checked(callers_part(feed))?);
        let name = stored.name();
        if self.list(&name.seller, "", FEEDS_OF_A_SELLER_MAX).await?.len() >= FEEDS_OF_A_SELLER_MAX {
            return Err(invalid("seller", format!("a seller has at most {FEEDS_OF_A_SELLER_MAX} feeds")));
        }
        for _ in 0..ATTEMPTS_MAX {
            if self.load_feed(&name).await?.is_some() {
                return Err(Error::Exists { seller: name.seller, namespace: name.namespace });
            }
            // Later loads win, so numbers continue those of a deleted feed of this name.
            let before = self.load_progress(&name).await?.map_or(0, |progress| progress.load);
            (stored.internal_mut().last_load, stored.internal_mut().read_load) = (before, before);
            let mut batch = Batch::new();
            let version = self.deps.watcher.save(&mut batch, None, &stored).await?;
            if self.store().commit(batch).await?.is_applied() {
                return Ok(shown(stored.0, version));
            }
        }
        Err(Error::Contended)
    }

    /// A feed without secrets and internal fields.
    pub async fn get(&self, name: &FeedName) -> Result<Feed> {
        let found = self.find(name).await?;
        let mut feed = shown(found.entity.0.clone(), found.version);
        let last = found.entity.internal().last_load;
        if last > 0 {
            feed.last_load = self.load(name, last).await.ok().into();
        }
        Ok(feed)
    }

    /// The feeds of a seller by namespace, those after `after`.
    pub async fn list(&self, seller: &str, after: &str, limit: usize) -> Result<Vec<Feed>> {
        let shard = self.seller_shard(seller);
        let mut scan = NAMES.prefix((shard, seller));
        if !after.is_empty() {
            scan = scan.after(NAMES.key((shard, seller, after)));
        }
        self.named(scan, limit).await
    }

    /// The feeds of all sellers, those after `after`. Feeds of one seller are adjacent; sellers are
    /// in the order of their shards.
    pub async fn list_all(&self, after: Option<&FeedName>, limit: usize) -> Result<Vec<Feed>> {
        let mut scan = NAMES.scan();
        if let Some(FeedName { seller, namespace }) = after {
            scan = scan.after(NAMES.key((self.seller_shard(seller), seller, namespace)));
        }
        self.named(scan, limit).await
    }

    /// The first feeds whose names a scan finds, without those that are just being deleted.
    async fn named(&self, mut scan: Scan, limit: usize) -> Result<Vec<Feed>> {
        let mut feeds = Vec::new();
        loop {
            let page = self.store().scan(&scan.clone().limit(limit - feeds.len())).await?;
            for row in page.rows {
                let (_, seller, namespace) = NAMES.parts(&row.key)?;
                match self.get(&FeedName { seller, namespace }).await {
                    Ok(feed) => feeds.push(feed),
                    Err(Error::NotFound { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            match page.next {
                Some(next) if feeds.len() < limit => scan = scan.after(next),
                _ => return Ok(feeds),
            }
        }
    }

    /// Changes the settings. `change` may be called several times.
    pub async fn update(
        &self,
        name: &FeedName,
        version: Option<u64>,
        change: impl Fn(&mut Feed) -> Result<()>,
    ) -> Result<Feed> {
        self.rewrite(name, version, |stored| {
            let mut after = stored.0.clone();
            change(&mut after)?;
            let wanted = self.checked(after)?;
            let link_changed = wanted.link != stored.0.link;
            let (title, link, paused) = (wanted.title, wanted.link, wanted.paused);
            stored.0 = Feed {
                title,
                link,
                paused,
                missing: wanted.missing,
                guard: wanted.guard,
                defaults: wanted.defaults,
                parsed: wanted.parsed,
                ..stored.0.clone()
            };
            if link_changed {
                stored.0.next_fetch_time = None.into();
            }
            Ok(())
        })
        .await
    }

    /// Schedules a fetch of the link.
    pub async fn fetch_now(&self, name: &FeedName) -> Result<()> {
        let now = self.timestamp();
        self.rewrite(name, None, |stored| {
            if !stored.0.link.is_set() {
                return Err(invalid("link", "the feed has no link: upload a file, or set a link"));
            }
            stored.internal_mut().fetch_asked_time = Some(now.clone()).into();
            Ok(())
        })
        .await?;
        Ok(())
    }

    /// Queues a file; returns the number of its load.
    pub async fn upload(&self, name: &FeedName, spooled: Spooled, origin: Origin) -> Result<u64> {
        if spooled.bytes == 0 {
            return Err(invalid("file", "the file is empty"));
        }
        self.find(name).await?;
        let (hash, bytes) = (spooled.hash.clone(), spooled.bytes);
        let file = self.deps.files.store(name, spooled).await?;
        let queued = QueuedLoad {
            file,
            hash,
            bytes,
            origin: origin.into(),
            create_time: Some(self.timestamp()).into(),
            ..QueuedLoad::default()
        };
        let kept = queued.file.clone();
        let enqueued = self
            .rewrite_stored(name, None, |stored| {
                enqueue(stored, queued.clone());
                Ok(())
            })
            .await;
        let stored = match enqueued {
            Ok((stored, _)) => stored,
            Err(error) => {
                // Delete the file only if its load surely was not saved.
                if matches!(error, Error::NotFound { .. } | Error::Deleting | Error::Contended)
                    && let Err(left) = self.deps.files.delete(&kept).await
                {
                    tracing::warn!(file = kept, error = %left, "cannot delete the file of a load that was not saved");
                }
                return Err(error);
            }
        };
        Ok(stored.internal().last_load)
    }

    /// Removes the offers of a feed or makes them manual, then deletes the feed with its history.
    pub async fn delete(&self, name: &FeedName, offers: Missing) -> Result<()> {
        self.rewrite(name, None, |stored| {
            let keeping = stored.internal_mut();
            let load = keeping.last_load + 1;
            keeping.deleting = Some(Deleting { offers: offers.into(), load, ..Deleting::default() }).into();
            keeping.last_load = load;
            Ok(())
        })
        .await?;
        Ok(())
    }

    /// Reads, changes and saves a feed, again after a conflict.
    pub(crate) async fn rewrite(
        &self,
        name: &FeedName,
        version: Option<u64>,
        change: impl Fn(&mut StoredFeed) -> Result<()>,
    ) -> Result<Feed> {
        let (stored, version) = self.rewrite_stored(name, version, change).await?;
        Ok(shown(stored.0, version))
    }

    /// The same; returns the saved feed and its version.
    async fn rewrite_stored(
        &self,
        name: &FeedName,
        version: Option<u64>,
        change: impl Fn(&mut StoredFeed) -> Result<()>,
    ) -> Result<(StoredFeed, u64)> {
        for _ in 0..ATTEMPTS_MAX {
            let found = self.find(name).await?;
            if found.entity.internal().deleting.is_set() {
                return Err(Error::Deleting);
            }
            if let Some(expected) = version.filter(|expected| *expected != found.version) {
                return Err(Error::OtherVersion { expected, actual: found.version });
            }
            let mut after = found.entity.clone();
            change(&mut after)?;
            if after == found.entity {
                return Ok((after, found.version));
            }
            after.0.update_time = Some(self.timestamp()).into();
            let mut batch = Batch::new();
            let version = self.deps.watcher.save(&mut batch, Some(&found), &after).await?;
            if self.store().commit(batch).await?.is_applied() {
                return Ok((after, version));
            }
        }
        Err(Error::Contended)
    }

    pub(crate) async fn find(&self, name: &FeedName) -> Result<Versioned<StoredFeed>> {
        let missing = || Error::NotFound { seller: name.seller.clone(), namespace: name.namespace.clone() };
        self.load_feed(name).await?.ok_or_else(missing)
    }

    async fn load_feed(&self, name: &FeedName) -> Result<Option<Versioned<StoredFeed>>> {
        Ok(self.deps.watcher.load_to_change(name, &Fields::all()).await?)
    }

    pub(crate) fn timestamp(&self) -> Timestamp {
        time::from_time(self.now())
    }

    /// A validated feed with defaults for what is left out.
    fn checked(&self, feed: Feed) -> Result<Feed> {
        let now = self.timestamp();
        let namespace = if feed.namespace.is_empty() { "default".to_owned() } else { feed.namespace.clone() };
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if namespace.len() > NAMESPACE_BYTES_MAX || !namespace.chars().all(fits) {
            return Err(invalid("namespace", format!("1 to {NAMESPACE_BYTES_MAX} letters, digits, - and _")));
        }
        if feed.seller.is_empty() || feed.seller.len() > offers::validation::SELLER_BYTES_MAX {
            return Err(invalid("seller", "the seller is missing or too long"));
        }
        if feed.title.chars().count() > TITLE_CHARS_MAX {
            return Err(invalid("title", format!("at most {TITLE_CHARS_MAX} characters")));
        }
        check_link(&feed)?;
        let guard = feed.guard.as_option().cloned().unwrap_or(Guard {
            share: GUARD_SHARE,
            least: GUARD_LEAST,
            ..Guard::default()
        });
        if !(0.0..=1.0).contains(&guard.share) {
            return Err(invalid("guard.share", "expected a share from 0 to 1"));
        }
        let missing = match feed.missing.as_known() {
            Some(Missing::MISSING_UNSPECIFIED) | None => Missing::MISSING_REMOVE,
            Some(missing) => missing,
        };
        let guard = Guard { confirmed: false, ..guard };
        let mut defaults = feed.defaults.as_option().cloned().unwrap_or_default();
        if let (true, Some(usual)) =
            (defaults.currency.is_empty(), self.deps.offers.catalogue().currencies().first())
        {
            defaults.currency = usual.to_string();
        }
        let create_time = feed.create_time.clone().into_option().unwrap_or_else(|| now.clone());
        Ok(Feed {
            namespace,
            missing: missing.into(),
            guard: Some(guard).into(),
            defaults: Some(defaults).into(),
            create_time: Some(create_time).into(),
            last_load: None.into(),
            version: 0,
            ..feed
        })
    }
}

/// The settings of a new feed; Torg sets the rest.
fn callers_part(feed: Feed) -> Feed {
    Feed {
        seller: feed.seller,
        namespace: feed.namespace,
        title: feed.title,
        link: feed.link,
        paused: feed.paused,
        missing: feed.missing,
        guard: feed.guard,
        defaults: feed.defaults,
        parsed: feed.parsed,
        ..Feed::default()
    }
}

fn check_link(feed: &Feed) -> Result<()> {
    let Some(link) = feed.link.as_option() else { return Ok(()) };
    let is_web = link.url.starts_with("http://") || link.url.starts_with("https://");
    if !is_web || link.url.len() > URL_BYTES_MAX {
        let text =
            format!("expected a URL that begins with http:// or https://, of at most {URL_BYTES_MAX} bytes");
        return Err(invalid("link.url", text));
    }
    if link.user.len() > CREDENTIAL_BYTES_MAX || link.password.len() > CREDENTIAL_BYTES_MAX {
        return Err(invalid("link.password", format!("at most {CREDENTIAL_BYTES_MAX} bytes")));
    }
    let period = period_of(feed);
    if !(PERIOD_MIN..=PERIOD_MAX).contains(&period) {
        return Err(invalid("link.period", format!("from {PERIOD_MIN:?} to {PERIOD_MAX:?}")));
    }
    Ok(())
}

pub(crate) fn period_of(feed: &Feed) -> Duration {
    let period = feed.link.as_option().and_then(|link| link.period.as_option());
    period.map_or(PERIOD, |period| Duration::from_secs(u64::try_from(period.seconds).unwrap_or(0)))
}

/// Queues a load. If there are too many, the oldest are dropped: later files win anyway.
pub(crate) fn enqueue(stored: &mut StoredFeed, queued: QueuedLoad) {
    let keeping = stored.internal_mut();
    let number = keeping.last_load + 1;
    keeping.last_load = number;
    let read = keeping.read_load;
    keeping.queue.retain(|load| load.number > read);
    keeping.queue.push(QueuedLoad { number, ..queued });
    let surplus = keeping.queue.len().saturating_sub(QUEUE_MAX);
    keeping.queue.drain(..surplus);
}

/// A feed without secrets and internal fields.
pub(crate) fn shown(mut feed: Feed, version: u64) -> Feed {
    if let Some(link) = feed.link.as_option_mut()
        && !link.password.is_empty()
    {
        "***".clone_into(&mut link.password);
    }
    let deleting = feed.keeping.as_option().is_some_and(|keeping| keeping.deleting.is_set());
    Feed { version, deleting, keeping: None.into(), ..feed }
}
