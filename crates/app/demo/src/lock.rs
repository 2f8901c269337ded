//! A lock file: only one process uses the folder of a demo. The file also holds that process's
//! address.
//!
//! The operating system releases the lock when the process ends, even after a crash. It is taken
//! before any change in the folder. The lock of the store is checked, too, so that files in use are
//! never deleted.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use terminal::errors::advised;

pub(super) const LOCK: &str = "torg-demo.lock";
/// The lock of the store. Another process may have the store open without running the demo.
const STORE_LOCK: &str = "store/lock";

/// A lock on the folder of a demo, released on drop.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

/// The content of the lock file, for the error message of a second process.
#[derive(Default, Serialize, Deserialize)]
struct Runs {
    pid: u32,
    /// Empty until the address is known.
    #[serde(default)]
    console: String,
}

impl Lock {
    /// Locks the folder, or reports the process that holds the lock.
    pub(super) fn take(folder: &Path) -> anyhow::Result<Lock> {
        let path = folder.join(LOCK);
        let opened = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let mut file = opened.map_err(|error| unwritable(&path, &error))?;
        if !is_free(&file, &path)? {
            let mut text = String::new();
            // An unreadable content is left out of the message.
            let _ = file.read_to_string(&mut text);
            return Err(runs_already(folder, &serde_json::from_str(&text).unwrap_or_default()));
        }
        let path = folder.join(STORE_LOCK);
        match OpenOptions::new().write(true).open(&path) {
            Ok(store) if is_free(&store, &path)? => {}
            Ok(_) => return Err(store_in_use(folder, &path)),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error).with_context(|| format!("cannot open {}", path.display())),
        }
        let lock = Lock { file, path: folder.join(LOCK) };
        lock.write(&Runs { pid: std::process::id(), console: String::new() })?;
        Ok(lock)
    }

    /// Records the address of the console.
    pub(super) fn tell(&self, console: &str) -> anyhow::Result<()> {
        self.write(&Runs { pid: std::process::id(), console: console.to_owned() })
    }

    fn write(&self, runs: &Runs) -> anyhow::Result<()> {
        let mut file = &self.file;
        let written = serde_json::to_vec(runs).map_err(std::io::Error::from).and_then(|bytes| {
            file.rewind()?;
            file.set_len(0)?;
            file.write_all(&bytes)
        });
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

/// Tries to lock a file. Returns false if another process holds the lock.
fn is_free(file: &File, path: &Path) -> anyhow::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => {
            let message = format!("cannot lock {}: {error}", path.display());
            Err(advised(message, "choose a folder on a disk of this machine with --data"))
        }
    }
}

fn runs_already(folder: &Path, runs: &Runs) -> anyhow::Error {
    let mut message = format!("the demo in {} runs already", folder.display());
    if !runs.console.is_empty() {
        message = format!("{message}, at {}", runs.console);
    }
    let end = if runs.pid == 0 {
        "end it where it was started".to_owned()
    } else {
        message = format!("{message} (process {})", runs.pid);
        format!("end it by Ctrl-C where it was started, or by `kill {}`", runs.pid)
    };
    advised(message, format!("{end}, and try again; or give this one another folder with --data"))
}

fn store_in_use(folder: &Path, lock: &Path) -> anyhow::Error {
    let message = format!("the store of the demo in {} is open in another process", folder.display());
    let hint = format!("end that process (`fuser {}` finds it), and try again", lock.display());
    advised(message, format!("{hint}; or give this one another folder with --data"))
}

pub(super) fn unwritable(file: &Path, error: &std::io::Error) -> anyhow::Error {
    let hint = "choose a folder that this user can write to, on a disk with room, with --data";
    advised(format!("cannot write {}: {error}", file.display()), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(folder: &Path) -> String {
        terminal::errors::report(&Lock::take(folder).unwrap_err())
    }

    #[test]
    fn a_folder_is_held_by_one_and_the_second_is_told_by_whom_and_where() {
        let place = tempfile::tempdir().unwrap();
        let lock = Lock::take(place.path()).unwrap();
        let pid = std::process::id();
        let told = refused(place.path());
        assert!(told.contains(&format!("runs already (process {pid})")), "{told}");
        lock.tell("http://localhost:8080/console/").unwrap();
        let told = refused(place.path());
        assert!(told.contains("runs already, at http://localhost:8080/console/ (process"), "{told}");
        assert!(told.contains(&format!("kill {pid}")) && told.contains("--data"), "{told}");
        drop(lock);
        Lock::take(place.path()).unwrap();
    }

    #[test]
    fn a_folder_whose_store_is_open_elsewhere_is_not_taken() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("store")).unwrap();
        let store = File::create(place.path().join(STORE_LOCK)).unwrap();
        store.lock().unwrap();
        let told = refused(place.path());
        assert!(told.contains("is open in another process") && told.contains("store/lock"), "{told}");
        drop(store);
        Lock::take(place.path()).unwrap();
    }
}
