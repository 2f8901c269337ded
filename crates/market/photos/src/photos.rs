//! Takes photos from URLs.

use std::sync::Arc;

use bytes::Bytes;
use fetch::{Client, Fetched, Limits, Request, Validators};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use store::{Batch, Read, Row, Store};
use tokio::sync::Semaphore;
use url::Url;

use crate::config::Config;
use crate::decode::KINDS;
use crate::error::{PhotoError, Result};
use crate::keyed_semaphore::KeyedSemaphore;
use crate::limits::ATTEMPTS_MAX;
use crate::make::Made;
use crate::pool::ImagePool;
use crate::record::{Photo, Size, UrlError, UrlRow};
use crate::remember::{Failure, next_error};
use crate::serve::file_path;
use crate::tables::{ERRORS, PHOTOS, URLS, key, read, url_hash, write};

/// Cheap to clone; all clones share one budget of memory and downloads.
#[derive(Clone)]
pub struct Photos {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    files: Arc<dyn ObjectStore>,
    client: Client,
    config: Arc<Config>,
    recipe: String,
    pool: ImagePool,
    hosts: KeyedSemaphore,
    downloads: Semaphore,
    by_url: KeyedSemaphore,
    by_hash: KeyedSemaphore,
}

/// The rows of a URL.
struct Known {
    hash: String,
    url: Option<(UrlRow, u64)>,
    /// The photo of the URL, if its files match the configuration.
    photo: Option<Photo>,
    error: Option<(UrlError, u64)>,
}

enum Came {
    /// Not modified.
    NotModified,
    Bytes(Bytes, Validators),
}

impl Photos {
    /// `store` must have the [tables](crate::tables()); `files` is the object store.
    #[must_use]
    pub fn new(store: Store, files: Arc<dyn ObjectStore>, client: Client, config: Config) -> Self {
        let config = Arc::new(config);
        let inner = Inner {
            store,
            files,
            client,
            recipe: config.recipe(),
            pool: ImagePool::new(Arc::clone(&config)),
            hosts: KeyedSemaphore::new(config.downloads_per_host_max),
            downloads: Semaphore::new(config.downloads_max.max(1)),
            config,
            by_url: KeyedSemaphore::new(1),
            by_hash: KeyedSemaphore::new(1),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the photo of a URL from the tables, or downloads it.
    ///
    /// A failed URL returns the stored error until the time of its next attempt. Within a process
    /// concurrent calls for a URL share one download; two processes may both download it, with the
    /// same result. The photo is made again if the configured sizes changed. `now_ms` is the time
    /// in milliseconds since 1970.
    pub async fn take(&self, url: &str, now_ms: i64) -> Result<Photo> {
        let hash = url_hash(url);
        let _permit = self.inner.by_url.acquire(&hash).await;
        let known = self.known(hash).await?;
        if let Some(photo) = known.photo {
            return Ok(photo);
        }
        match known.error {
            Some((error, _)) if error.next_try_ms.is_none_or(|next| now_ms < next) => {
                Err(PhotoError::Refused(Box::new(error)))
            }
            _ => self.fetch(url, known, now_ms).await,
        }
    }

    /// Revalidates a URL with its server and takes a changed photo; ignores the next attempt of a
    /// failed URL.
    pub async fn check_again(&self, url: &str, now_ms: i64) -> Result<Photo> {
        let hash = url_hash(url);
        let _permit = self.inner.by_url.acquire(&hash).await;
        let known = self.known(hash).await?;
        self.fetch(url, known, now_ms).await
    }

    /// Deletes the rows of a URL, so that [`take`](Self::take) starts over. The photo stays: other
    /// URLs may use it.
    pub async fn forget(&self, url: &str) -> Result<()> {
        let hash = url_hash(url);
        let mut batch = Batch::new();
        batch.delete(key(&URLS, &hash)).delete(key(&ERRORS, &hash));
        // Without a check there is no conflict.
        let _ = self.inner.store.commit(batch).await?;
        Ok(())
    }

    pub async fn photo(&self, hash: &str) -> Result<Option<Photo>> {
        Ok(self.photo_row(hash).await?.map(|(photo, _)| photo))
    }

    #[must_use]
    pub fn files(&self) -> &Arc<dyn ObjectStore> {
        &self.inner.files
    }

    #[must_use]
    pub fn pool(&self) -> &ImagePool {
        &self.inner.pool
    }

    pub(crate) fn store(&self) -> &Store {
        &self.inner.store
    }

    async fn known(&self, hash: String) -> Result<Known> {
        let keys = [key(&URLS, &hash), key(&ERRORS, &hash)];
        let mut rows = self.inner.store.get(&keys).await?.into_iter();
        let url = rows.next().flatten().as_ref().map(versioned).transpose()?;
        let error = rows.next().flatten().as_ref().map(versioned).transpose()?;
        let photo = match &url {
            Some((UrlRow { photo, .. }, _)) => self.photo_row(photo).await?.map(|(photo, _)| photo),
            None => None,
        };
        let photo = photo.filter(|photo| photo.recipe == self.inner.recipe);
        Ok(Known { hash, url, photo, error })
    }

    async fn photo_row(&self, hash: &str) -> Result<Option<(Photo, u64)>> {
        self.inner.store.get_one(&key(&PHOTOS, hash)).await?.as_ref().map(versioned).transpose()
    }

    async fn fetch(&self, url: &str, known: Known, now_ms: i64) -> Result<Photo> {
        // The host comes first, so that waiting for it does not occupy a download.
        let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default();
        let at_host = self.inner.hosts.acquire(&host).await;
        // Held until the bytes are dropped: bytes that wait for the pool use memory too.
        let _slot = self.inner.downloads.acquire().await;
        let validators = match (&known.url, &known.photo) {
            (Some((row, _)), Some(_)) => {
                Validators { etag: row.etag.clone(), last_modified: row.last_modified.clone() }
            }
            _ => Validators::default(),
        };
        let came = self.download(url, validators).await;
        drop(at_host);
        let outcome = match came {
            Ok(Came::NotModified) => return self.confirm(known, now_ms).await,
            Ok(Came::Bytes(bytes, validators)) => self.keep(url, &known, bytes, validators, now_ms).await?,
            Err(error) => Err(Failure::from(error)),
        };
        match outcome {
            Ok(photo) => Ok(photo),
            Err(failure) => {
                Err(PhotoError::Refused(Box::new(self.fail(url, known, &failure, now_ms).await?)))
            }
        }
    }

    async fn download(&self, url: &str, validators: Validators) -> fetch::Result<Came> {
        let config = &self.inner.config;
        let limits = Limits {
            bytes_max: config.bytes_max,
            unpacked_bytes_max: config.bytes_max,
            total_time_max: config.download_time_max,
            ..self.inner.client.rules().limits.clone()
        };
        // SVG is accepted here to be refused with its own error.
        let kinds = [&KINDS[..], &[fetch::Kind::Svg]].concat();
        let request = Request::get(url).accept(&kinds).unless(validators).limits(limits);
        match self.inner.client.send(&request).await? {
            Fetched::NotModified => Ok(Came::NotModified),
            Fetched::Found(download) => {
                let validators = download.validators.clone();
                Ok(Came::Bytes(download.body.collect().await?.into(), validators))
            }
        }
    }

    /// The server says that nothing changed.
    async fn confirm(&self, known: Known, now_ms: i64) -> Result<Photo> {
        let (Some((row, version)), Some(photo)) = (known.url, known.photo) else {
            let detail = "the server answered a question that was not asked".to_owned();
            return Err(PhotoError::Damaged { place: known.hash, detail });
        };
        let row = UrlRow { checked_ms: now_ms, ..row };
        let mut batch = Batch::new();
        let place = key(&URLS, &known.hash);
        batch
            .check(place.clone(), version)
            .put(place, version + 1, write(&row))
            .delete(key(&ERRORS, &known.hash));
        // On a conflict the other writer has newer data.
        let _ = self.inner.store.commit(batch).await?;
        Ok(photo)
    }

    /// Makes and records the files of a photo unless it is known.
    async fn keep(
        &self,
        url: &str,
        known: &Known,
        bytes: Bytes,
        validators: Validators,
        now_ms: i64,
    ) -> Result<Result<Photo, Failure>> {
        let hash = blake3::hash(&bytes).to_hex().to_string();
        let _permit = self.inner.by_hash.acquire(&hash).await;
        let stored = self.photo_row(&hash).await?;
        let taken_ms = stored.as_ref().map_or(now_ms, |(photo, _)| photo.taken_ms);
        let photo = match stored {
            Some((photo, _)) if photo.recipe == self.inner.recipe => photo,
            _ => {
                let length = bytes.len() as u64;
                match self.inner.pool.make(bytes).await {
                    Ok(made) => self.put_files(hash, length, made, taken_ms).await?,
                    Err(refusal) => return Ok(Err(refusal.into())),
                }
            }
        };
        let Validators { etag, last_modified } = validators;
        let row = UrlRow {
            url: shortened(url),
            photo: photo.hash.clone(),
            etag,
            last_modified,
            checked_ms: now_ms,
        };
        self.remember(&known.hash, &row, &photo).await?;
        Ok(Ok(photo))
    }

    async fn put_files(&self, hash: String, bytes: u64, made: Made, taken_ms: i64) -> Result<Photo> {
        let mut sizes = Vec::new();
        for size in made.sizes {
            let path = file_path(&hash, &self.inner.recipe, size.sides[0]);
            let length = size.file.len() as u64;
            self.inner.files.put(&Path::from(&*path), size.file.into()).await?;
            for side in size.sides {
                let (width, height, path) = (size.width, size.height, path.clone());
                sizes.push(Size { side, width, height, bytes: length, path });
            }
        }
        Ok(Photo {
            hash,
            width: made.width,
            height: made.height,
            bytes,
            kind: made.kind.to_string(),
            sizes,
            recipe: self.inner.recipe.clone(),
            look: made.look,
            sharpness: made.sharpness,
            colour: made.colour,
            taken_ms,
        })
    }

    /// Writes the rows of a photo with stored files.
    async fn remember(&self, url_hash: &str, row: &UrlRow, photo: &Photo) -> Result<()> {
        let keys = [key(&URLS, url_hash), key(&PHOTOS, &photo.hash)];
        for _ in 0..ATTEMPTS_MAX {
            let rows = self.inner.store.get(&keys).await?;
            let mut batch = Batch::new();
            for (place, (found, value)) in keys.iter().zip(rows.iter().zip([write(row), write(photo)])) {
                let version = found.as_ref().map_or(0, |row| row.version);
                batch.check(place.clone(), version).put(place.clone(), version + 1, value);
            }
            batch.delete(key(&ERRORS, url_hash));
            if self.inner.store.commit(batch).await?.is_applied() {
                return Ok(());
            }
        }
        Err(PhotoError::Contended(row.url.clone()))
    }

    /// Records a failure of a URL.
    async fn fail(&self, url: &str, known: Known, failure: &Failure, now_ms: i64) -> Result<UrlError> {
        let (before, version) = known.error.map_or((None, 0), |(error, version)| (Some(error), version));
        let error = next_error(&shortened(url), &known.hash, before, failure, &self.inner.config, now_ms);
        let place = key(&ERRORS, &known.hash);
        let mut batch = Batch::new();
        batch.check(place.clone(), version).put(place, version + 1, write(&error));
        // On a conflict the row of the other process stays: it saw the same URL.
        let _ = self.inner.store.commit(batch).await?;
        Ok(error)
    }
}

fn versioned<T: serde::de::DeserializeOwned>(row: &Row) -> Result<(T, u64)> {
    Ok((read(row)?, row.version))
}

/// A URL as stored in rows.
fn shortened(url: &str) -> String {
    text::head_bytes(url, crate::limits::TEXT_BYTES_MAX).to_owned()
}
