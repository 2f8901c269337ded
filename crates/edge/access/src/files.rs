//! Files that are watched by content.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use ring::digest;

use crate::limits::FILE_BYTES_MAX;
use crate::{Error, Result};

/// Reads a small file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let opened = std::fs::File::open(path).map_err(|error| Error::file(path, error))?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut content).map_err(|error| Error::file(path, error))?;
    if content.len() as u64 > FILE_BYTES_MAX {
        return Err(Error::file(path, format!("more than {FILE_BYTES_MAX} bytes")));
    }
    Ok(content)
}

/// Hashes of some files at one moment, independent of modification times and symbolic links.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct FileState(Vec<Option<Vec<u8>>>);

impl FileState {
    pub(crate) fn of<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Self {
        let hash = |path: &PathBuf| {
            let content = read_file(path).ok()?;
            Some(digest::digest(&digest::SHA256, &content).as_ref().to_vec())
        };
        Self(paths.map(hash).collect())
    }
}
