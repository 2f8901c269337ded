//! Folders on this machine: whether they are there, whether they can be written to, and how much room their disk has.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use store::StoreUrl;

use super::finding::{Area, Finding};
use super::limits::FREE_SPACE_TIMES;
use crate::config::{Config, Role};

const MIB: u64 = 1 << 20;

/// A folder that the configuration names.
struct Folder<'c> {
    area: Area,
    /// What it is, for people.
    what: &'static str,
    /// The key or flag that names it.
    key: &'static str,
    path: &'c Path,
}

/// The folders that a process of this configuration would write to.
pub(super) fn check(config: &Config) -> Vec<Finding> {
    let mut folders = Vec::new();
    let store = store_folder(config);
    if config.store.url.scheme() == "fjall" || config.files.url.scheme() == "file" {
        let path = &*config.data_dir;
        folders.push(Folder { area: Area::Folders, what: "the data folder", key: "--data", path });
    }
    if let Some(path) = store.as_deref().filter(|store| !is_inside(store, &config.data_dir)) {
        folders.push(Folder { area: Area::Folders, what: "the store's folder", key: "store.url", path });
    }
    let loads = config.roles.iter().any(|role| matches!(role, Role::Api | Role::Loader | Role::Processor));
    if loads {
        let path = &*config.feeds.spool_dir;
        folders.push(Folder { area: Area::Feeds, what: "the spool", key: "feeds.spool_dir", path });
    }
    if config.roles.contains(&Role::Reactive) {
        let path = &*config.tasks.runs_dir;
        folders.push(Folder { area: Area::Tasks, what: "the folder of runs", key: "tasks.runs_dir", path });
    }
    let mut found: Vec<Finding> = folders.iter().map(Folder::check).collect();
    found.extend(space(config));
    found
}

impl Folder<'_> {
    fn check(&self) -> Finding {
        let Folder { area, what, key, path } = self;
        let shown = path.display();
        match state(path) {
            State::Writable => Finding::ok(*area, format!("{what} {shown} can be written to")),
            State::ToBeMade => {
                Finding::note(*area, format!("{what} {shown} is not there yet: `torg serve` makes it"), "")
            }
            State::Useless(why) => {
                Finding::error(*area, format!("{what} {shown} cannot be used: {why}"), remedy(&why, key))
            }
        }
    }
}

/// Where the embedded store is, if it is this that is used.
fn store_folder(config: &Config) -> Option<PathBuf> {
    match config.store.url.expose().parse() {
        Ok(StoreUrl::Fjall(path)) => Some(path),
        _ => None,
    }
}

/// Whether a path leads into a folder, by its words: `./data/store` is in `data`.
fn is_inside(path: &Path, folder: &Path) -> bool {
    match (std::path::absolute(path), std::path::absolute(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// What to do about a folder that cannot be used.
pub(super) fn remedy(why: &io::Error, key: &str) -> String {
    let first = match why.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space there",
        io::ErrorKind::ReadOnlyFilesystem => {
            "mount its disk for writing (one with errors turns read-only: look at `dmesg`)"
        }
        io::ErrorKind::NotADirectory => "take away the file that stands in its way",
        _ => "give this user the right to write there",
    };
    format!("{first}, or choose another folder with {key}")
}

/// Whether a folder can be used.
#[derive(Debug)]
pub(super) enum State {
    Writable,
    /// It is not there, and can be made.
    ToBeMade,
    Useless(io::Error),
}

/// Tries it out: a file is written into the folder and taken away. Of one that is not there, the nearest above it is asked.
pub(super) fn state(folder: &Path) -> State {
    match std::fs::metadata(folder) {
        Ok(about) if !about.is_dir() => State::Useless(io::ErrorKind::NotADirectory.into()),
        Ok(_) => match try_out(folder) {
            Ok(()) => State::Writable,
            Err(error) => State::Useless(error),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => match above(folder) {
            Some(above) => match state(&above) {
                State::Writable => State::ToBeMade,
                other => other,
            },
            None => State::Useless(error),
        },
        Err(error) => State::Useless(error),
    }
}

fn try_out(folder: &Path) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".torg-doctor-").tempfile_in(folder)?;
    file.write_all(b"torg doctor")?;
    file.close()
}

fn above(folder: &Path) -> Option<PathBuf> {
    let parent = folder.parent()?;
    // The parent of a plain name is the folder that we stand in.
    Some(if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() })
}

/// How much room there is where the store and the spool are.
fn space(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(store) = store_folder(config)
        && let Some(free) = free_bytes(&store)
    {
        let key = if is_inside(&store, &config.data_dir) { "--data" } else { "store.url" };
        found.push(judge_space(&store, key, free, u64::from(config.store.free_mb_min) * MIB));
    }
    if let Some(free) = free_bytes(&config.feeds.spool_dir) {
        found.extend(judge_spool(&config.feeds.spool_dir, free, u64::from(config.feeds.upload_mb_max) * MIB));
    }
    found
}

/// Free bytes of the disk that the folder is on, or would be.
fn free_bytes(folder: &Path) -> Option<u64> {
    match rustix::fs::statvfs(folder) {
        Ok(about) => Some(about.f_bavail.saturating_mul(about.f_frsize)),
        Err(_) if folder.exists() => None,
        Err(_) => above(folder).and_then(|above| free_bytes(&above)),
    }
}

fn judge_space(folder: &Path, key: &str, free: u64, reserve: u64) -> Finding {
    let what = format!("{} MB are free on the disk of {}", free / MIB, folder.display());
    if free < reserve {
        let what = format!("{what}; below {} MB the store refuses writes", reserve / MIB);
        Finding::error(Area::Folders, what, format!("free some space, or choose another disk with {key}"))
    } else if free < reserve.saturating_mul(FREE_SPACE_TIMES) {
        let what = format!("{what}; below {} MB the store refuses writes", reserve / MIB);
        Finding::warning(Area::Folders, what, "free some space soon")
    } else {
        Finding::ok(Area::Folders, what)
    }
}

fn judge_spool(folder: &Path, free: u64, largest: u64) -> Option<Finding> {
    (free < largest).then(|| {
        let (free, largest) = (free / MIB, largest / MIB);
        Finding::warning(
            Area::Feeds,
            format!(
                "the disk of the spool {} has {free} MB left; a file may have {largest} MB",
                folder.display()
            ),
            "free some space, choose another folder with feeds.spool_dir, or lower feeds.upload_mb_max",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn a_folder_is_tried_out_and_nothing_is_left_in_it() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(state(folder.path()), State::Writable));
        assert!(matches!(state(&folder.path().join("a/b/c")), State::ToBeMade));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(matches!(state(&folder.path().join("file")), State::Useless(_)));
        assert!(matches!(state(&folder.path().join("file/inside")), State::Useless(_)));
    }

    #[test]
    fn a_store_in_the_data_folder_is_there_however_it_is_written() {
        let is_in_data = |store: &str| is_inside(Path::new(store), Path::new("data"));
        assert!(is_in_data("data/store") && is_in_data("./data/store"));
        assert!(!is_in_data("data2/store") && !is_in_data("/mnt/x/store"));
    }

    #[test]
    fn what_to_do_depends_on_why_a_folder_cannot_be_used() {
        let told = |kind: io::ErrorKind| remedy(&kind.into(), "--data");
        assert_eq!(
            told(io::ErrorKind::StorageFull),
            "free some space there, or choose another folder with --data"
        );
        assert!(told(io::ErrorKind::ReadOnlyFilesystem).starts_with("mount its disk for writing"));
        assert!(told(io::ErrorKind::NotADirectory).contains("the file that stands in its way"));
        assert!(told(io::ErrorKind::PermissionDenied).contains("the right to write there"));
    }

    #[test]
    fn little_space_is_a_warning_and_less_than_the_reserve_an_error() {
        let judged = |free| judge_space(Path::new("data"), "--data", free * MIB, 256 * MIB).severity;
        assert_eq!(
            [judged(255), judged(256), judged(1024)],
            [Severity::Error, Severity::Warning, Severity::Ok]
        );
        assert!(judge_spool(Path::new("spool"), 10 * MIB, 9 * MIB).is_none());
        let what = judge_spool(Path::new("spool"), 8 * MIB, 9 * MIB).unwrap().what;
        assert_eq!(what, "the disk of the spool spool has 8 MB left; a file may have 9 MB");
    }
}
