//! Task files on a disk.

use crate::limits::{FILE_BYTES_MAX, FILES_MAX, TOTAL_BYTES_MAX};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: line {line} is not UTF-8: save the file as UTF-8", path.display())]
    Encoding {
        path: PathBuf,
        /// The first line that is not UTF-8.
        line: usize,
    },
    #[error("{}: with this file there are more than {bytes} bytes: split it, or remove what is no task file", path.display())]
    TooLarge { path: PathBuf, bytes: usize },
    #[error("{}: there are more than {FILES_MAX} task files", path.display())]
    TooMany { path: PathBuf },
    #[error("{}: there is no task file in this folder: they end with .yaml or .yml", path.display())]
    Empty { path: PathBuf },
}

/// Reads a task file, or the `*.yaml` and `*.yml` files of a folder, sorted by name, without hidden
/// files and subfolders. Reads no more than the limits. For
/// [`TaskSet::read`](crate::TaskSet::read).
pub fn load(path: &Path) -> Result<Vec<(String, String)>, LoadError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| LoadError::Io { path, error }
    };
    if !path.metadata().map_err(failed(path))?.is_dir() {
        return Ok(vec![(path.display().to_string(), text_of(path)?)]);
    }
    let mut paths = Vec::new();
    for entry in path.read_dir().map_err(failed(path))? {
        let found = entry.map_err(failed(path))?.path();
        let hidden = found.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
        let named = found.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
        if named && !hidden && found.metadata().map_err(failed(&found))?.is_file() {
            paths.push(found);
        }
        if paths.len() > FILES_MAX {
            return Err(LoadError::TooMany { path: path.to_owned() });
        }
    }
    if paths.is_empty() {
        return Err(LoadError::Empty { path: path.to_owned() });
    }
    paths.sort();
    let (mut files, mut total) = (Vec::new(), 0);
    for path in paths {
        let text = text_of(&path)?;
        total += text.len();
        if total > TOTAL_BYTES_MAX {
            return Err(LoadError::TooLarge { path, bytes: TOTAL_BYTES_MAX });
        }
        files.push((path.display().to_string(), text));
    }
    Ok(files)
}

fn text_of(path: &Path) -> Result<String, LoadError> {
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes: Vec<u8> = read().map_err(|error| LoadError::Io { path: path.to_owned(), error })?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(LoadError::TooLarge { path: path.to_owned(), bytes: FILE_BYTES_MAX });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.split(|byte| *byte == b'\n').count();
        LoadError::Encoding { path: path.to_owned(), line }
    })
}
