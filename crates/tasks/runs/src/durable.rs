//! Files that are written atomically, also across a crash of the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rand::TryRng as _;
use rand::rngs::SysRng;

/// Only Torg's user may access files of runs.
pub(crate) const FILE_MODE: u32 = 0o600;

pub(crate) fn unused_name(beginning: &str) -> io::Result<String> {
    Ok(format!(".{beginning}-{}", random_token()?))
}

/// 32 unpredictable digits.
pub(crate) fn random_token() -> io::Result<String> {
    let next = || SysRng.try_next_u64().map_err(io::Error::other);
    Ok(format!("{:016x}{:016x}", next()?, next()?))
}

/// Creates a file, without syncing it.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(bytes)?;
    Ok(file)
}

pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let prepared = prepare(folder, bytes)?;
    fs::rename(&prepared, folder.join(name)).inspect_err(|_| _ = fs::remove_file(&prepared))?;
    sync_folder(folder)
}

/// Creates a file unless it exists; returns whether it did. Of several concurrent calls one
/// succeeds.
pub(crate) fn create_once(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let prepared = prepare(folder, bytes)?;
    let linked = fs::hard_link(&prepared, folder.join(name));
    _ = fs::remove_file(&prepared);
    match linked {
        Ok(()) => sync_folder(folder).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

fn prepare(folder: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = folder.join(unused_name("part")?);
    let written = write_new(&path, bytes).and_then(|file| file.sync_all());
    written.inspect_err(|_| _ = fs::remove_file(&path)).map(|()| path)
}

/// Syncs the entries of a folder.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_ends_the_first_one_counts_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(create_once(path, "end", b"first").unwrap());
        assert!(!create_once(path, "end", b"second").unwrap());
        assert_eq!(read(&path.join("end")).unwrap().unwrap(), b"first");
        replace(path, "end", b"third").unwrap();
        assert_eq!(read(&path.join("end")).unwrap().unwrap(), b"third");
        assert_eq!(fs::read_dir(path).unwrap().count(), 1);
        remove(&path.join("end")).unwrap();
        remove(&path.join("end")).unwrap();
        assert_eq!(read(&path.join("end")).unwrap(), None);
    }
}
