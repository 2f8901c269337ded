//! Sets up the built-in stages that the configuration enables.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use catalog::Catalogue;
use fetch::{Client, Rules};
use photos::{BestFirst, Photos};
use remote_stages::BuiltIn;
use stages::limits::{EVENTS_TOPIC, PRICE_COUNT_MIN};
use stages::{
    Evolution, Expiry, OrderPhotos, PhotosConfig, PriceConfig, PriceStage, Prices, TakePhotos, TopicEvents,
    VideoCheck,
};
use store::Store;
use topics::Topics;
use watcher::StageLimits;

use crate::catalogue::read_lineage;
use crate::config::{BuiltInStage, Config};
use crate::environment::Environment;
use terminal::errors::advised;

/// Downloads are slow: few offers per call, and minutes for each call.
const PHOTOS_TIMEOUT: Duration = Duration::from_secs(300);
const PHOTOS_BATCH_MAX: usize = 2;
/// Video hosts get few requests at a time.
const VIDEO_TIMEOUT: Duration = Duration::from_secs(30);
const VIDEO_BATCH_MAX: usize = 2;
const VIDEO_RATE: f64 = 20.0;

/// The enabled built-in stages and the parts they need.
pub(crate) struct BuiltInStages {
    pub stages: Vec<BuiltIn>,
    /// Set if a photo stage is enabled.
    pub photos: Option<Photos>,
    /// Set if the price stage is enabled. The caller must follow the changes of offers for it.
    pub prices: Option<Prices>,
}

impl BuiltInStages {
    pub(crate) async fn open(
        environment: &dyn Environment,
        config: &Config,
        store: &Store,
        topics: &Topics,
        catalogue: &Arc<Catalogue>,
    ) -> anyhow::Result<Self> {
        let wanted = |stage| config.stages.built_in.contains(&stage);
        let (mut stages, client): (Vec<BuiltIn>, Client) = (Vec::new(), environment.client(Rules::default()));
        if wanted(BuiltInStage::Expiry) {
            let events = Arc::new(TopicEvents::new(topics.clone(), EVENTS_TOPIC));
            stages.push((Arc::new(Expiry::default().publishing_to(events)), None));
        }
        if wanted(BuiltInStage::Evolution) {
            let lineage = read_lineage(&config.offers.catalogue_past_dir, Arc::clone(catalogue))?;
            stages.push((Arc::new(Evolution::new(lineage)), None));
        }
        let photos = if wanted(BuiltInStage::Photos) || wanted(BuiltInStage::PhotoOrder) {
            Some(open_photos(config, store, &client)?)
        } else {
            None
        };
        if let Some(photos) = photos.clone().filter(|_| wanted(BuiltInStage::Photos)) {
            let usual = StageLimits::default();
            let limits = StageLimits { timeout: PHOTOS_TIMEOUT, batch_max: PHOTOS_BATCH_MAX, ..usual };
            stages.push((Arc::new(TakePhotos::new(photos, PhotosConfig::default())), Some(limits)));
        }
        if let Some(photos) = photos.clone().filter(|_| wanted(BuiltInStage::PhotoOrder)) {
            stages.push((Arc::new(OrderPhotos::new(photos, Arc::new(BestFirst::default()))), None));
        }
        if wanted(BuiltInStage::Video) {
            let usual = StageLimits::default();
            let (timeout, batch_max, rate) = (VIDEO_TIMEOUT, VIDEO_BATCH_MAX, Some(VIDEO_RATE));
            let limits = StageLimits { timeout, batch_max, rate, ..usual };
            let videos = environment.videos();
            stages.push((Arc::new(VideoCheck::new(client, videos)), Some(limits)));
        }
        let mut prices = None;
        if wanted(BuiltInStage::Price) {
            let (topic, catalogue) = (&*config.offers.topic, Arc::clone(catalogue));
            let opened = Prices::open(store, topics, topic, catalogue, PRICE_COUNT_MIN).await;
            let opened = opened.context("cannot open what offers cost")?;
            stages.push((Arc::new(PriceStage::new(Arc::new(opened.clone()), PriceConfig::default())), None));
            prices = Some(opened);
        }
        Ok(Self { stages, photos, prices })
    }
}

fn open_photos(config: &Config, store: &Store, client: &Client) -> anyhow::Result<Photos> {
    let files = photos::files::open(config.files.url.expose()).map_err(|error| {
        advised(error, "give another place with files.url, or leave photos out of stages.built_in")
    })?;
    Ok(Photos::new(store.clone(), files, client.clone(), photos::Config::default()))
}
