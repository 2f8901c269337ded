//! Checks whether the files of photos exist, some photos at a time.

use futures::StreamExt as _;
use futures::stream;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use store::{Key, Read, Scan};

use crate::error::Result;
use crate::limits::{SHARDS, SURVEYED_FILES_AT_ONCE};
use crate::photos::Photos;
use crate::record::{Photo, Size};
use crate::tables::{PHOTOS, read};

/// The result for some photos.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surveyed {
    /// Checked photos.
    pub photos: u64,
    /// The first missing or wrong-sized file of each damaged photo.
    pub missing: Vec<String>,
    /// The start of the next part; `None` at the end.
    pub next: Option<Key>,
}

/// A pseudo-random position among all photos.
#[must_use]
pub fn place(number: u32) -> Key {
    PHOTOS.key((number % SHARDS, "0"))
}

impl Photos {
    /// See [`survey`](survey()).
    pub async fn survey(&self, after: Option<Key>, photos_max: usize) -> Result<Surveyed> {
        survey(self.store(), &**self.files(), after, photos_max).await
    }
}

/// Checks the files of at most `count` photos after a position or from the start. A missing file is
/// a result; an object store that does not answer is an error.
pub async fn survey(
    store: &(impl Read + ?Sized),
    files: &dyn ObjectStore,
    after: Option<Key>,
    photos_max: usize,
) -> Result<Surveyed> {
    let mut scan = Scan::all(PHOTOS.def()).limit(photos_max);
    if let Some(after) = after {
        scan = scan.after(after);
    }
    let page = store.scan(&scan).await?;
    let photos: Vec<Photo> = page.rows.iter().map(read).collect::<Result<_>>()?;
    let looks: Vec<_> = photos.iter().map(|photo| first_missing(files, photo)).collect();
    let looked: Vec<Result<Option<String>>> =
        stream::iter(looks).buffer_unordered(SURVEYED_FILES_AT_ONCE).collect().await;
    let looked: Vec<Option<String>> = looked.into_iter().collect::<Result<_>>()?;
    let missing = looked.into_iter().flatten().collect();
    Ok(Surveyed { photos: photos.len() as u64, missing, next: page.next })
}

/// The first missing file of a photo.
async fn first_missing(files: &dyn ObjectStore, photo: &Photo) -> Result<Option<String>> {
    for size in &photo.sizes {
        if !is_there(files, size).await? {
            return Ok(Some(size.path.clone()));
        }
    }
    Ok(None)
}

async fn is_there(files: &dyn ObjectStore, size: &Size) -> Result<bool> {
    match files.head(&Path::from(&*size.path)).await {
        Ok(about) => Ok(about.size == size.bytes),
        Err(object_store::Error::NotFound { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
