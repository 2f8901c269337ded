//! The data folder of a demo. A marker file identifies it: no other folder is ever filled or
//! emptied, and neither is one in use by another process ([`Lock`]).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::lock::{self, Lock, unwritable};
use terminal::errors::advised;

/// The file that marks the folder of a demo.
pub(super) const MARKER: &str = "torg-demo.json";
/// The file with the progress of the demo.
const PROGRESS: &str = "progress.json";
/// The folder of the store.
pub(super) const STORE: &str = "store";
/// The file with the saved clock.
const CLOCK: &str = "clock.json";
/// Explains the folder to people who find it.
const ABOUT: &str = "Made by torg serve --demo; torg serve --demo --demo-reset empties this folder.";

/// The folder of a demo and the content of its marker. No other process uses the folder while a
/// clone of this exists.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) started_ms: i64,
    hold: Arc<Lock>,
}

/// A locked folder that is still unchanged.
pub(super) struct Taken {
    path: PathBuf,
    hold: Arc<Lock>,
    marker: Option<Marker>,
}

#[derive(Serialize, Deserialize)]
struct Marker {
    about: String,
    /// The time of the demo's first start.
    started_ms: i64,
    /// A reset is in progress: the remaining content is to be deleted.
    #[serde(default)]
    emptying: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The number of offers created so far, which have the numbers below it.
    pub(super) offers: u32,
}

/// The saved time and speed of the demo's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedTime {
    pub(super) now_ms: i64,
    pub(super) speed: u32,
}

impl Taken {
    /// Opens the folder with its content. A demo that has lost its store starts over.
    pub(super) fn open(self, now_ms: i64) -> anyhow::Result<Folder> {
        match &self.marker {
            None => {
                let folder = self.started_at(now_ms);
                folder.mark(false)?;
                Ok(folder)
            }
            Some(marker) if marker.emptying => {
                tracing::warn!("a reset of the demo broke off: the demo starts over");
                self.open_empty(now_ms)
            }
            Some(marker) => {
                let started_ms = marker.started_ms;
                let mut folder = self.started_at(started_ms);
                if folder.has_begun()? && !folder.has_store() {
                    tracing::warn!("the store of the demo is gone: the demo starts over");
                    folder.start_over(now_ms)?;
                }
                Ok(folder)
            }
        }
    }

    /// Empties and opens the folder. After a crash in between, the next start repeats this.
    pub(super) fn open_empty(self, now_ms: i64) -> anyhow::Result<Folder> {
        let folder = self.started_at(now_ms);
        folder.mark(true)?;
        let path = &folder.path;
        for entry in std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            let entry = entry?.path();
            if ![MARKER, lock::LOCK].iter().any(|kept| entry.file_name() == Some(kept.as_ref())) {
                delete(&entry)?;
            }
        }
        folder.mark(false)?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn started_at(self, started_ms: i64) -> Folder {
        Folder { path: self.path, started_ms, hold: self.hold }
    }
}

impl Folder {
    /// Locks the folder of a demo, or creates it. Refuses a non-empty folder without a marker, and
    /// a folder that another process uses. Leaves a refused folder unchanged.
    pub(super) fn take(path: &Path) -> anyhow::Result<Taken> {
        std::fs::create_dir_all(path).map_err(|error| {
            let message = format!("cannot make the demo's folder {}: {error}", path.display());
            advised(message, "choose a folder that this user can write to with --data")
        })?;
        let path = std::path::absolute(path).context("the folder of the demo has no path")?;
        if read::<Marker>(&path.join(MARKER))?.is_none() {
            refuse_strangers(&path)?;
        }
        let hold = Arc::new(Lock::take(&path)?);
        // The previous holder of the lock may have marked the folder in the meantime.
        let marker = read::<Marker>(&path.join(MARKER))?;
        Ok(Taken { path, hold, marker })
    }

    fn mark(&self, emptying: bool) -> anyhow::Result<()> {
        self.write(MARKER, &Marker { about: ABOUT.to_owned(), started_ms: self.started_ms, emptying })
    }

    /// Whether a store is expected in the folder.
    fn has_begun(&self) -> anyhow::Result<bool> {
        Ok(self.progress()? != Progress::default() || self.saved_time()?.is_some())
    }

    fn has_store(&self) -> bool {
        std::fs::read_dir(self.place(STORE)).is_ok_and(|mut entries| entries.next().is_some())
    }

    /// Forgets all progress.
    fn start_over(&mut self, now_ms: i64) -> anyhow::Result<()> {
        for name in [PROGRESS, CLOCK] {
            delete(&self.place(name))?;
        }
        self.started_ms = now_ms;
        self.mark(false)
    }

    /// Records the address of the console, for the error message of a second start.
    pub(super) fn tell(&self, console: &str) -> anyhow::Result<()> {
        self.hold.tell(console)
    }

    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn progress(&self) -> anyhow::Result<Progress> {
        Ok(read(&self.place(PROGRESS))?.unwrap_or_default())
    }

    pub(super) fn save_progress(&self, progress: Progress) -> anyhow::Result<()> {
        self.write(PROGRESS, &progress)
    }

    /// The clock as it was saved last.
    pub(super) fn saved_time(&self) -> anyhow::Result<Option<SavedTime>> {
        read(&self.place(CLOCK))
    }

    pub(super) fn save_time(&self, time: SavedTime) -> anyhow::Result<()> {
        self.write(CLOCK, &time)
    }

    /// Writes a file atomically: readers find either the old or the new content.
    fn write(&self, name: &str, content: &impl Serialize) -> anyhow::Result<()> {
        let fresh = self.place(&format!("{name}.new"));
        let written = serde_json::to_vec_pretty(content)
            .map_err(std::io::Error::from)
            .and_then(|bytes| std::fs::write(&fresh, bytes))
            .and_then(|()| std::fs::rename(&fresh, self.place(name)));
        written.map_err(|error| self.unwritable(name, &error))
    }

    pub(super) fn write_text(&self, name: &str, text: &str) -> anyhow::Result<()> {
        std::fs::write(self.place(name), text).map_err(|error| self.unwritable(name, &error))
    }

    fn unwritable(&self, name: &str, error: &std::io::Error) -> anyhow::Error {
        unwritable(&self.place(name), error)
    }
}

/// Deletes a file or a folder, if it exists.
fn delete(path: &Path) -> anyhow::Result<()> {
    let deleted = match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match deleted {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            let message = format!("cannot delete {}: {error}", path.display());
            Err(advised(message, "delete it yourself, or give the demo another folder with --data"))
        }
        _ => Ok(()),
    }
}

/// Refuses a folder with content that is not from a demo.
fn refuse_strangers(path: &Path) -> anyhow::Result<()> {
    let mut entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    // An interrupted start leaves its lock file.
    let is_ours = |entry: &std::io::Result<std::fs::DirEntry>| {
        entry.as_ref().is_ok_and(|entry| entry.file_name() == lock::LOCK)
    };
    if entries.all(|entry| is_ours(&entry)) {
        return Ok(());
    }
    let message =
        format!("{} is no folder of a demo: there is something in it, and no {MARKER}", path.display());
    Err(advised(message, "give --data an empty folder, or one that does not exist yet"))
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> anyhow::Result<Option<T>> {
    let bytes = match std::fs::read(file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let read = serde_json::from_slice(&bytes);
    read.map(Some).map_err(|error| {
        let message = format!("{} cannot be understood: {error}", file.display());
        advised(message, "delete the demo's folder yourself, and start the demo again")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(path: &Path, now_ms: i64) -> anyhow::Result<Folder> {
        Folder::take(path)?.open(now_ms)
    }

    fn open_empty(path: &Path, now_ms: i64) -> anyhow::Result<Folder> {
        Folder::take(path)?.open_empty(now_ms)
    }

    /// The folder of a demo with some progress, and its saved clock.
    fn lived(path: &Path) -> (Folder, SavedTime) {
        let folder = open(path, 7).unwrap();
        folder.save_progress(Progress { offers: 40 }).unwrap();
        let time = SavedTime { now_ms: 99, speed: 2 };
        folder.save_time(time).unwrap();
        std::fs::create_dir_all(folder.place("store/db")).unwrap();
        (folder, time)
    }

    #[test]
    fn a_folder_that_is_marked_is_opened_again_and_emptied() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("demo");
        let (folder, time) = lived(&path);
        drop(folder);
        let again = open(&path, 8).unwrap();
        assert_eq!((again.started_ms, again.progress().unwrap().offers), (7, 40));
        assert_eq!(again.saved_time().unwrap(), Some(time));
        drop(again);
        for now_ms in [9, 10] {
            let empty = open_empty(&path, now_ms).unwrap();
            assert_eq!((empty.started_ms, empty.progress().unwrap().offers), (now_ms, 0));
            assert!(!empty.has_store() && empty.saved_time().unwrap().is_none());
        }
        assert_eq!(open(&path, 11).unwrap().started_ms, 10);
        open_empty(&place.path().join("new"), 12).unwrap();
    }

    #[test]
    fn a_reset_that_broke_off_is_gone_on_with_by_the_next_start() {
        let place = tempfile::tempdir().unwrap();
        let (folder, _) = lived(place.path());
        folder.mark(true).unwrap();
        drop(folder);
        let again = open(place.path(), 20).unwrap();
        assert_eq!((again.started_ms, again.progress().unwrap()), (20, Progress::default()));
        assert!(!again.has_store() && again.saved_time().unwrap().is_none());
        again.save_progress(Progress { offers: 1 }).unwrap();
        std::fs::create_dir_all(again.place("store/db")).unwrap();
        drop(again);
        assert_eq!(open(place.path(), 21).unwrap().progress().unwrap().offers, 1, "only once");
    }

    #[test]
    fn a_demo_whose_store_is_gone_starts_over() {
        let place = tempfile::tempdir().unwrap();
        let (folder, _) = lived(place.path());
        std::fs::remove_dir_all(folder.place("store")).unwrap();
        folder.write_text("tasks.yaml", "mine").unwrap();
        drop(folder);
        let again = open(place.path(), 20).unwrap();
        assert_eq!((again.started_ms, again.progress().unwrap()), (20, Progress::default()));
        assert!(again.saved_time().unwrap().is_none());
        assert!(again.place("tasks.yaml").exists(), "what people wrote stays");
    }

    #[test]
    fn a_folder_that_is_taken_is_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let (folder, time) = lived(place.path());
        drop(folder);
        drop(Folder::take(place.path()).unwrap());
        let again = open(place.path(), 20).unwrap();
        assert_eq!((again.started_ms, again.saved_time().unwrap()), (7, Some(time)));
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_says_what_to_do() {
        let place = tempfile::tempdir().unwrap();
        let folder = open(place.path(), 7).unwrap();
        std::fs::create_dir_all(folder.place("progress.json/full")).unwrap();
        let told = terminal::errors::report(&folder.save_progress(Progress { offers: 1 }).unwrap_err());
        assert!(
            told.contains("progress.json") && told.contains("hint: ") && told.contains("--data"),
            "{told}"
        );
    }

    #[test]
    fn a_folder_that_somebody_works_in_is_neither_opened_nor_emptied() {
        let place = tempfile::tempdir().unwrap();
        let first = open(place.path(), 1).unwrap();
        first.save_progress(Progress { offers: 40 }).unwrap();
        for second in [open(place.path(), 2), open_empty(place.path(), 2)] {
            let told = terminal::errors::report(&second.unwrap_err());
            assert!(told.contains("runs already"), "{told}");
        }
        assert_eq!(first.progress().unwrap().offers, 40);
    }

    #[test]
    fn a_folder_of_somebody_else_is_neither_filled_nor_emptied() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("thesis.txt"), "years of work").unwrap();
        for refused in [open(place.path(), 1), open_empty(place.path(), 1)] {
            let told = terminal::errors::report(&refused.unwrap_err());
            assert!(told.contains("is no folder of a demo"), "{told}");
        }
        let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn what_a_start_that_broke_off_leaves_is_nobody_elses() {
        let place = tempfile::tempdir().unwrap();
        drop(Lock::take(place.path()).unwrap());
        assert_eq!(open(place.path(), 5).unwrap().started_ms, 5);
    }
}
