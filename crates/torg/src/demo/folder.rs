//! The folder of a demo. A file in it says that it is one: no other folder is ever filled or emptied, and none that another process works in ([`Hold`]).

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::hold::{self, Hold};
use crate::errors::advised;

/// The file that makes a folder a demo's.
const MARKER: &str = "torg-demo.json";
/// How far the demo has come.
const PROGRESS: &str = "progress.json";
/// What time it is in the demo.
const CLOCK: &str = "clock.json";
/// Shown to whoever looks into the folder.
const ABOUT: &str = "Made by torg serve --demo; torg serve --demo --demo-reset empties this folder.";

/// The folder, with what its marker says. Nobody else works in it as long as there is a clone of this.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) started_ms: i64,
    hold: Arc<Hold>,
}

#[derive(Serialize, Deserialize)]
struct Marker {
    about: String,
    /// When the demo was started for the first time.
    started_ms: i64,
}

/// How far the demo has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Offers that are there: all with a lower number.
    pub(super) offers: u32,
}

/// What time it was in the demo, and how fast it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedTime {
    pub(super) now_ms: i64,
    pub(super) speed: u32,
}

impl Folder {
    /// Opens the folder of a demo, or makes it. A folder that has something in it and no marker is refused, and so is one that another process works in.
    pub(super) fn open(path: &Path, now_ms: i64) -> anyhow::Result<Folder> {
        let (folder, is_marked) = Folder::enter(path, now_ms)?;
        if !is_marked {
            folder.mark()?;
        }
        Ok(folder)
    }

    /// Opens the folder of a demo without what was in it, or makes it. What is refused is left as it is.
    pub(super) fn open_empty(path: &Path, now_ms: i64) -> anyhow::Result<Folder> {
        let (mut folder, _) = Folder::enter(path, now_ms)?;
        let path = &folder.path;
        for entry in std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))? {
            let entry = entry?.path();
            // The marker stays: what is left of a deletion that broke off is still a demo's.
            if [MARKER, hold::LOCK].iter().any(|kept| entry.file_name() == Some(kept.as_ref())) {
                continue;
            }
            let is_folder = std::fs::symlink_metadata(&entry)?.is_dir();
            let deleted =
                if is_folder { std::fs::remove_dir_all(&entry) } else { std::fs::remove_file(&entry) };
            deleted.with_context(|| format!("cannot delete {}", entry.display()))?;
        }
        folder.started_ms = now_ms;
        folder.mark()?;
        Ok(folder)
    }

    /// Takes the folder, if it is a demo's or empty, and tells whether it is marked.
    fn enter(path: &Path, now_ms: i64) -> anyhow::Result<(Folder, bool)> {
        std::fs::create_dir_all(path).map_err(|error| {
            let message = format!("cannot make the demo's folder {}: {error}", path.display());
            advised(message, "choose a folder that this user can write to with --data")
        })?;
        let path = std::path::absolute(path).context("the folder of the demo has no path")?;
        if read::<Marker>(&path.join(MARKER))?.is_none() {
            refuse_strangers(&path)?;
        }
        let hold = Arc::new(Hold::take(&path)?);
        // Whoever had it may have marked it meanwhile.
        let marker = read::<Marker>(&path.join(MARKER))?;
        let started_ms = marker.as_ref().map_or(now_ms, |marker| marker.started_ms);
        Ok((Folder { path, started_ms, hold }, marker.is_some()))
    }

    fn mark(&self) -> anyhow::Result<()> {
        self.write(MARKER, &Marker { about: ABOUT.to_owned(), started_ms: self.started_ms })
    }

    /// Says where the console is, to whoever starts the demo a second time.
    pub(super) fn tell(&self, console: &str) -> anyhow::Result<()> {
        self.hold.tell(console)
    }

    /// A file or a folder in it.
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

    /// What time it was in the demo when that was written down last.
    pub(super) fn saved_time(&self) -> anyhow::Result<Option<SavedTime>> {
        read(&self.place(CLOCK))
    }

    pub(super) fn save_time(&self, time: SavedTime) -> anyhow::Result<()> {
        self.write(CLOCK, &time)
    }

    /// Writes a file so that whoever reads it finds all of it.
    fn write(&self, name: &str, content: &impl Serialize) -> anyhow::Result<()> {
        let (file, fresh) = (self.place(name), self.place(&format!("{name}.new")));
        let written = serde_json::to_vec_pretty(content)
            .map_err(std::io::Error::from)
            .and_then(|bytes| std::fs::write(&fresh, bytes))
            .and_then(|()| std::fs::rename(&fresh, &file));
        written.with_context(|| format!("cannot write {}", file.display()))
    }
}

/// A folder that somebody else filled is left alone.
fn refuse_strangers(path: &Path) -> anyhow::Result<()> {
    let mut entries = std::fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    // A start that broke off leaves its lock.
    let is_ours = |entry: &std::io::Result<std::fs::DirEntry>| {
        entry.as_ref().is_ok_and(|entry| entry.file_name() == hold::LOCK)
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

    #[test]
    fn a_folder_that_is_marked_is_opened_again_and_emptied() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("demo");
        let folder = Folder::open(&path, 7).unwrap();
        folder.save_progress(Progress { offers: 40 }).unwrap();
        let time = SavedTime { now_ms: 99, speed: 2 };
        folder.save_time(time).unwrap();
        std::fs::create_dir_all(folder.place("store/db")).unwrap();
        drop(folder);
        let again = Folder::open(&path, 8).unwrap();
        assert_eq!((again.started_ms, again.progress().unwrap().offers), (7, 40));
        assert_eq!(again.saved_time().unwrap(), Some(time));
        drop(again);
        for now_ms in [9, 10] {
            let empty = Folder::open_empty(&path, now_ms).unwrap();
            assert_eq!((empty.started_ms, empty.progress().unwrap().offers), (now_ms, 0));
            assert!(!empty.place("store").exists());
        }
        assert_eq!(Folder::open(&path, 11).unwrap().started_ms, 10);
        Folder::open_empty(&place.path().join("new"), 12).unwrap();
    }

    #[test]
    fn a_folder_that_somebody_works_in_is_neither_opened_nor_emptied() {
        let place = tempfile::tempdir().unwrap();
        let first = Folder::open(place.path(), 1).unwrap();
        first.save_progress(Progress { offers: 40 }).unwrap();
        for second in [Folder::open(place.path(), 2), Folder::open_empty(place.path(), 2)] {
            let told = crate::errors::report(&second.unwrap_err());
            assert!(told.contains("runs already"), "{told}");
        }
        assert_eq!(first.progress().unwrap().offers, 40);
    }

    #[test]
    fn a_folder_of_somebody_else_is_neither_filled_nor_emptied() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("thesis.txt"), "years of work").unwrap();
        for refused in [Folder::open(place.path(), 1), Folder::open_empty(place.path(), 1)] {
            let told = crate::errors::report(&refused.unwrap_err());
            assert!(told.contains("is no folder of a demo"), "{told}");
        }
        let left: Vec<_> = std::fs::read_dir(place.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn what_a_start_that_broke_off_leaves_is_nobody_elses() {
        let place = tempfile::tempdir().unwrap();
        drop(Hold::take(place.path()).unwrap());
        assert_eq!(Folder::open(place.path(), 5).unwrap().started_ms, 5);
    }
}
