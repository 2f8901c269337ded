//! Files: spooled to the local disk on arrival, then stored under their hash.

use std::io::{BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path as DiskPath, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutPayload, WriteMultipart};
use tempfile::NamedTempFile;

use crate::error::{Result, invalid};
use crate::limits::FILE_BYTES_MAX;
use crate::name::FeedName;

const PIECE_BYTES: usize = 1 << 20;
/// The prefix of the names of spooled files.
const SPOOLED: &str = "feed-";
/// Files up to this size are stored by one request.
const WHOLE_BYTES_MAX: u64 = 8 << 20;

/// The storage and the spool of files. Cheap to clone.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
    spool: Arc<PathBuf>,
}

pub struct Spool {
    file: NamedTempFile,
    hasher: blake3::Hasher,
    bytes: u64,
}

/// A file that was received completely.
pub struct Spooled {
    file: NamedTempFile,
    /// The hash of the content, in hexadecimal digits.
    pub hash: String,
    pub bytes: u64,
}

impl Files {
    /// Files in this storage with a spool in this folder, which is created if missing.
    pub fn new(store: Arc<dyn ObjectStore>, spool: &DiskPath) -> Result<Self> {
        std::fs::create_dir_all(spool)?;
        Ok(Self { store, spool: Arc::new(spool.to_owned()) })
    }

    pub fn spool(&self) -> Result<Spool> {
        let file = NamedTempFile::with_prefix_in(SPOOLED, &*self.spool)?;
        Ok(Spool { file, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    /// Stores a file of a feed under its hash; returns its name. Files with the same content have
    /// different names, so that each can be deleted alone.
    pub async fn store(&self, feed: &FeedName, spooled: Spooled) -> Result<String> {
        let seller = blake3::hash(feed.seller.as_bytes()).to_hex();
        let apart = spooled.file.path().file_name().unwrap_or_default().to_string_lossy();
        let apart = apart.trim_start_matches(SPOOLED);
        let name = format!("feeds/{}/{}/{}-{apart}", &seller[..16], feed.namespace, spooled.hash);
        let path = Path::from(&*name);
        let mut file = tokio::fs::File::from_std(spooled.file.reopen()?);
        if spooled.bytes <= WHOLE_BYTES_MAX {
            let mut content = Vec::with_capacity(spooled.bytes as usize);
            tokio::io::AsyncReadExt::read_to_end(&mut file, &mut content).await?;
            self.store.put(&path, PutPayload::from(content)).await?;
            return Ok(name);
        }
        let mut upload = WriteMultipart::new(self.store.put_multipart(&path).await?);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let read = tokio::io::AsyncReadExt::read(&mut file, &mut piece).await?;
            if read == 0 {
                break;
            }
            upload.wait_for_capacity(4).await?;
            upload.write(&piece[..read]);
        }
        upload.finish().await?;
        Ok(name)
    }

    /// Copies a file to the local disk for reading.
    pub async fn fetch(&self, name: &str) -> Result<impl Read + Send + 'static + use<>> {
        let mut pieces = self.store.get(&Path::from(name)).await?.into_stream();
        let mut file = tempfile::tempfile_in(&*self.spool)?;
        while let Some(piece) = pieces.try_next().await? {
            file.write_all(&piece)?;
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(PIECE_BYTES, file))
    }

    pub async fn delete(&self, name: &str) -> Result<()> {
        match self.store.delete(&Path::from(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            done => Ok(done?),
        }
    }
}

impl Spool {
    pub fn write(&mut self, piece: &Bytes) -> Result<()> {
        self.bytes += piece.len() as u64;
        if self.bytes > FILE_BYTES_MAX {
            return Err(invalid(
                "file",
                format!("the file is larger than {} MiB: split it into several feeds", FILE_BYTES_MAX >> 20),
            ));
        }
        self.hasher.update(piece);
        self.file.write_all(piece)?;
        Ok(())
    }

    pub fn finish(mut self) -> Result<Spooled> {
        self.file.flush()?;
        Ok(Spooled { hash: self.hasher.finalize().to_hex().to_string(), bytes: self.bytes, file: self.file })
    }
}
