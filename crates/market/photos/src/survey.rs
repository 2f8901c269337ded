//! Whether the files of photos are there, some photos at a time: for whoever watches over them.

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

/// What came of a look at some photos.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surveyed {
    /// Photos that were looked at.
    pub photos: u64,
    /// Photos of which a file is missing, or has another size than it was made with: the name of the first such file of each.
    pub missing: Vec<String>,
    /// Behind this are more; `None` at the end.
    pub next: Option<Key>,
}

/// A place among all photos to look behind: for each number another one.
#[must_use]
pub fn place(number: u32) -> Key {
    PHOTOS.key((number % SHARDS, "0"))
}

impl Photos {
    /// Looks for the files of some of these photos: see [`survey`](survey()).
    pub async fn survey(&self, after: Option<Key>, photos_max: usize) -> Result<Surveyed> {
        survey(self.store(), &**self.files(), after, photos_max).await
    }
}

/// Looks for the files of so many photos at most, behind a place or from the first one on. Files that cannot be asked for are an error; that they are not there is none.
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

/// The first file of a photo that is missing.
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
