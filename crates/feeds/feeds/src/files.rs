//! Files: spooled to this machine's disk while they come in, then kept under their hash, each on its own.

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

/// Bytes that are read or written at a time.
const PIECE_BYTES: usize = 1 << 20;
/// How the names of spooled files begin; the rest is different each time.
const SPOOLED: &str = "feed-";
/// Files up to this size are kept by one request.
const WHOLE_BYTES_MAX: u64 = 8 << 20;

/// Where files are kept, and where they are spooled. Cheap to clone.
#[derive(Clone)]
pub struct Files {
    store: Arc<dyn ObjectStore>,
    spool: Arc<PathBuf>,
}

/// A file that comes in.
pub struct Spool {
    file: NamedTempFile,
    hasher: blake3::Hasher,
    bytes: u64,
}

/// A file that has come in as a whole.
pub struct Spooled {
    file: NamedTempFile,
    /// Of its content, in hexadecimal digits.
    pub hash: String,
    /// Its size.
    pub bytes: u64,
}

impl Files {
    /// Files in this store, spooled to this folder, which is made if it is not there.
    pub fn new(store: Arc<dyn ObjectStore>, spool: &DiskPath) -> Result<Self> {
        std::fs::create_dir_all(spool)?;
        Ok(Self { store, spool: Arc::new(spool.to_owned()) })
    }

    /// Begins a file.
    pub fn spool(&self) -> Result<Spool> {
        let file = NamedTempFile::with_prefix_in(SPOOLED, &*self.spool)?;
        Ok(Spool { file, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    /// Keeps a file of a feed under its hash; where it is. Every file that comes is one of its own, also if it has the same content as another: none is forgotten with another.
    pub async fn keep(&self, feed: &FeedName, spooled: Spooled) -> Result<String> {
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

    /// Brings a file to this machine's disk, to be read there.
    pub async fn fetch(&self, name: &str) -> Result<impl Read + Send + 'static + use<>> {
        let mut pieces = self.store.get(&Path::from(name)).await?.into_stream();
        let mut file = tempfile::tempfile_in(&*self.spool)?;
        while let Some(piece) = pieces.try_next().await? {
            file.write_all(&piece)?;
        }
        file.seek(SeekFrom::Start(0))?;
        Ok(BufReader::with_capacity(PIECE_BYTES, file))
    }

    /// Forgets a file; it is no error if it is gone already.
    pub async fn forget(&self, name: &str) -> Result<()> {
        match self.store.delete(&Path::from(name)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            done => Ok(done?),
        }
    }
}

impl Spool {
    /// Adds a piece.
    pub fn write(&mut self, piece: &Bytes) -> Result<()> {
        self.bytes += piece.len() as u64;
        if self.bytes > FILE_BYTES_MAX {
            return Err(invalid(
                "file",
                format!("it is larger than {} MiB: divide it into several feeds", FILE_BYTES_MAX >> 20),
            ));
        }
        self.hasher.update(piece);
        self.file.write_all(piece)?;
        Ok(())
    }

    /// That was all.
    pub fn end(mut self) -> Result<Spooled> {
        self.file.flush()?;
        Ok(Spooled { hash: self.hasher.finalize().to_hex().to_string(), bytes: self.bytes, file: self.file })
    }
}
