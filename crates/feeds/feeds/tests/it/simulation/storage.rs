//! The file storage: a memory that all processes share and that sometimes fails.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use super::dice::Dice;

/// So many of a hundred calls fail.
const FAILING: u64 = 10;

#[derive(Clone)]
pub(crate) struct Storage {
    memory: Arc<InMemory>,
    dice: Arc<Dice>,
    is_calm: Arc<AtomicBool>,
}

impl Storage {
    pub(crate) fn new(seed: u64) -> Self {
        Self { memory: Arc::default(), dice: Arc::new(Dice::of(seed, "storage")), is_calm: Arc::default() }
    }

    pub(crate) fn calm(&self) {
        self.is_calm.store(true, Ordering::Relaxed);
    }

    fn fate(&self) -> Result<()> {
        if !self.is_calm.load(Ordering::Relaxed) && self.dice.percent(FAILING) {
            return Err(Error::Generic { store: "storage", source: "it is away".into() });
        }
        Ok(())
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("storage")
    }
}

impl fmt::Debug for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Storage")
    }
}

#[async_trait]
impl ObjectStore for Storage {
    async fn put_opts(&self, place: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.fate()?;
        let put = self.memory.put_opts(place, payload, options).await?;
        // Kept, and yet the answer is lost.
        self.fate()?;
        Ok(put)
    }

    async fn put_multipart_opts(
        &self,
        place: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.fate()?;
        self.memory.put_multipart_opts(place, options).await
    }

    async fn get_opts(&self, place: &Path, options: GetOptions) -> Result<GetResult> {
        self.fate()?;
        self.memory.get_opts(place, options).await
    }

    fn delete_stream(&self, places: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.memory.delete_stream(places)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.memory.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.memory.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.memory.copy_opts(from, to, options).await
    }
}
