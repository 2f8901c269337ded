//! Photos over each engine, with a site in place of the internet.

use std::io::Cursor;
use std::sync::Arc;

use fetch::{Client, Rules};
use futures::TryStreamExt;
use image::{ImageFormat, Rgb, RgbImage};
use photos::{Config, PhotoError, Photos, UrlError, files, tables};
use store::{Memory, Schema, Store, StoreOptions};

use crate::site::Site;

/// The engines of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Engine {
    Memory,
    Fjall,
    Postgres,
}

/// When cases begin.
pub(crate) const NOW: i64 = 1_700_000_000_000;

/// Photos, the site that they come from, and the folder that they are in.
pub(crate) struct Studio {
    pub(crate) photos: Photos,
    pub(crate) site: Site,
    pub(crate) store: Store,
    _folder: tempfile::TempDir,
}

impl Studio {
    /// An empty one; `None` if this machine lacks what the engine needs.
    pub(crate) async fn on(engine: Engine) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let store = match engine {
            Engine::Memory => Store::over(Arc::new(Memory::new(schema())), &StoreOptions::default()),
            Engine::Fjall => open(&format!("fjall:{}", folder.path().join("store").display())).await,
            Engine::Postgres => open(&testkit::postgres()?.fresh_database()).await,
        };
        let place = match engine {
            Engine::Memory => "memory:".to_owned(),
            Engine::Fjall | Engine::Postgres => format!("file:{}", folder.path().join("files").display()),
        };
        let site = Site::default();
        let photos = with(&store, files::open(&place).unwrap(), &site, Config::default());
        Some(Self { photos, site, store, _folder: folder })
    }

    /// The same photos with another configuration.
    pub(crate) fn configured(&self, config: Config) -> Photos {
        with(&self.store, Arc::clone(self.photos.files()), &self.site, config)
    }

    /// The names of all files.
    pub(crate) async fn files(&self) -> Vec<String> {
        let all = self.photos.files().list(None).map_ok(|file| file.location.to_string());
        all.try_collect().await.unwrap()
    }

    /// Why a URL is refused.
    pub(crate) async fn refusal(&self, url: &str) -> UrlError {
        refused(self.photos.take(url, NOW).await)
    }
}

fn with(store: &Store, files: Arc<dyn object_store::ObjectStore>, site: &Site, config: Config) -> Photos {
    let client = Client::over(Arc::new(site.clone()), Rules::default());
    Photos::new(store.clone(), files, client, config)
}

fn schema() -> Schema {
    Schema::new(1, tables()).unwrap()
}

async fn open(url: &str) -> Store {
    let options = StoreOptions { cache_bytes: 16 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
    Store::open(&url.parse().unwrap(), schema(), &options).await.unwrap()
}

/// The row of a refusal.
pub(crate) fn refused<T: std::fmt::Debug>(result: Result<T, PhotoError>) -> UrlError {
    match result.unwrap_err() {
        PhotoError::Refused(error) => *error,
        other => panic!("not a refusal: {other}"),
    }
}

/// A picture with something in it.
pub(crate) fn scene(width: u32, height: u32, seed: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let square = if (x / 40 + y / 30 + seed).is_multiple_of(3) { 90 } else { 20 };
        let value = |base: u32| (base + square + (x * 60 / width) + (y * 50 / height)).min(255) as u8;
        Rgb([value(seed * 37 % 90), value(30), value(seed * 11 % 50)])
    })
}

/// A picture as a file.
pub(crate) fn file(picture: &RgbImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}
