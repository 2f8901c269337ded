//! Checks local folders: whether they exist, whether they are writable, and how much disk space is
//! free.

use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use store::StoreUrl;

use super::finding::{Area, Finding};
use super::limits::{FREE_ENTRIES_MIN, FREE_MB_MIN, FREE_SPACE_TIMES};
use super::process::Process;
use node::config::{Config, Role};

const MIB: u64 = 1 << 20;

/// Evidence that the folders were created before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Past {
    /// No evidence: the first start creates missing folders.
    New,
    /// A process has served from the store beside them.
    Served,
    /// The process at this address uses them.
    AtWork(String),
}

impl Past {
    /// The evidence of a running process, if it is on this machine.
    pub(super) fn of(process: Option<&Process>) -> Past {
        process.map_or(Past::New, |process| Past::AtWork(process.url.clone()))
    }

    /// The finding for a missing folder that a start creates.
    pub(super) fn missing(&self, area: Area, folder: &str) -> Finding {
        match self {
            Past::New => Finding::note(area, format!("{folder} is not there yet: `torg serve` makes it"), ""),
            Past::Served => Finding::error(
                area,
                format!("{folder} is gone: a process has served with it"),
                "restore it from a copy; if there is none, `torg serve` makes an empty one, and what was in it is lost",
            ),
            Past::AtWork(url) => Finding::error(
                area,
                format!("{folder} is gone, and the process at {url} works with it"),
                "restore it from a copy if there is one, and start the process again: it makes what is missing",
            ),
        }
    }
}

struct Folder<'c> {
    area: Area,
    /// The description in findings.
    what: &'static str,
    /// The configuration key or flag that sets it.
    key: &'static str,
    path: &'c Path,
}

/// Checks the folders that a process with this configuration writes to.
pub(super) fn check(config: &Config, past: &Past) -> Vec<Finding> {
    let mut folders = Vec::new();
    let store = store_folder(config);
    if config.store.url.scheme() == "fjall" || config.files.url.scheme() == "file" {
        let path = &*config.data_dir;
        folders.push(Folder { area: Area::Folders, what: "the data folder", key: "--data", path });
    }
    let mut found: Vec<Finding> = folders.iter().map(|folder| folder.check(past)).collect();
    if let Some(path) = store.as_deref().filter(|store| !is_inside(store, &config.data_dir)) {
        let folder = Folder { area: Area::Folders, what: "the store's folder", key: "store.url", path };
        // A missing store is reported by the check of the store.
        found.push(folder.check(&Past::New));
    }
    found.extend(working_folders(config).iter().map(|folder| folder.check(past)));
    found.extend(space(config));
    found
}

/// The working folders of a process.
fn working_folders(config: &Config) -> Vec<Folder<'_>> {
    let mut folders = Vec::new();
    let loads = config.roles.contains(&Role::Api) || config.roles.contains(&Role::Feeds);
    if loads {
        let path = &*config.feeds.spool_dir;
        folders.push(Folder { area: Area::Feeds, what: "the spool", key: "feeds.spool_dir", path });
    }
    if config.roles.contains(&Role::Tasks) {
        let path = &*config.tasks.runs_dir;
        folders.push(Folder { area: Area::Tasks, what: "the folder of runs", key: "tasks.runs_dir", path });
    }
    folders
}

/// Non-empty folders inside the data folder whose content is meaningless without the store.
pub(super) fn leftovers(config: &Config) -> Vec<PathBuf> {
    if config.store.url.scheme() != "fjall" {
        return Vec::new();
    }
    let files = files_folder(config);
    let all = [files.as_deref(), Some(&*config.feeds.spool_dir), Some(&*config.tasks.runs_dir)];
    let is_full = |path: &&Path| {
        is_inside(path, &config.data_dir)
            && std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
    };
    all.into_iter().flatten().filter(is_full).map(Path::to_owned).collect()
}

/// The folder of the object store, if it is a local folder.
pub(super) fn files_folder(config: &Config) -> Option<PathBuf> {
    let folder = config.files.url.expose().strip_prefix("file:")?;
    Some(PathBuf::from(folder.strip_prefix("//").unwrap_or(folder)))
}

impl Folder<'_> {
    fn check(&self, past: &Past) -> Finding {
        let Folder { area, what, key, path } = self;
        let shown = path.display();
        match state(path) {
            State::Writable => Finding::ok(*area, format!("{what} {shown} can be written to")),
            State::ToBeMade => past.missing(*area, &format!("{what} {shown}")),
            State::Useless(why) => {
                Finding::error(*area, format!("{what} {shown} cannot be used: {why}"), remedy(&why, key))
            }
        }
    }
}

/// The folder of the embedded store, if it is configured.
pub(super) fn store_folder(config: &Config) -> Option<PathBuf> {
    match config.store.url.expose().parse() {
        Ok(StoreUrl::Fjall(path)) => Some(path),
        _ => None,
    }
}

/// Compares paths component by component: `./data/store` is inside `data`.
fn is_inside(path: &Path, folder: &Path) -> bool {
    match (std::path::absolute(path), std::path::absolute(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// The remedy for an unusable folder.
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

#[derive(Debug)]
pub(super) enum State {
    Writable,
    /// The folder does not exist and can be created.
    ToBeMade,
    Useless(io::Error),
}

/// Tests a folder: writes a file into it and deletes the file. For a folder that does not exist,
/// the nearest existing ancestor is tested.
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
    // The parent of a bare name is the current folder.
    Some(if parent.as_os_str().is_empty() { PathBuf::from(".") } else { parent.to_owned() })
}

/// Checks the free space of every disk that is written to.
fn space(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(store) = store_folder(config)
        && let Some(free) = Free::of(&store)
    {
        let key = if is_inside(&store, &config.data_dir) { "--data" } else { "store.url" };
        found.push(judge_space(&store, key, free.bytes, u64::from(config.store.free_mb_min) * MIB));
        found.extend(judge_entries(&store, Area::Folders, key, free));
    }
    let files = files_folder(config);
    let mut others = vec![(Area::Files, "files.url", files.as_deref())];
    for Folder { area, key, path, .. } in working_folders(config) {
        others.push((area, key, Some(path)));
    }
    // Each disk is reported once.
    let mut disks =
        Vec::from_iter(store_folder(config).and_then(|store| Free::of(&store)).map(|free| free.disk));
    for (area, key, path) in others {
        let Some((path, free)) = path.and_then(|path| Some((path, Free::of(path)?))) else { continue };
        if area == Area::Feeds {
            let largest = u64::from(config.feeds.upload_mb_max) * MIB;
            found.extend(judge_spool(path, free.bytes, largest));
        }
        if !disks.contains(&free.disk) {
            disks.push(free.disk);
            found.extend(judge_room(path, area, key, free.bytes));
            found.extend(judge_entries(path, area, key, free));
        }
    }
    found
}

/// Free space of a disk.
#[derive(Clone, Copy, Debug)]
struct Free {
    bytes: u64,
    /// Free inodes; `None` if the file system does not count them.
    entries: Option<u64>,
    /// The device number.
    disk: u64,
}

impl Free {
    /// The disk of this folder, or of its nearest existing ancestor.
    fn of(folder: &Path) -> Option<Free> {
        match (rustix::fs::statvfs(folder), std::fs::metadata(folder)) {
            (Ok(about), Ok(metadata)) => Some(Free {
                bytes: about.f_bavail.saturating_mul(about.f_frsize),
                entries: (about.f_files > 0).then_some(about.f_favail),
                disk: metadata.dev(),
            }),
            _ if folder.exists() => None,
            _ => above(folder).and_then(|above| Free::of(&above)),
        }
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

/// Checks the free space of a disk for which no reserve is configured.
fn judge_room(folder: &Path, area: Area, key: &str, free: u64) -> Option<Finding> {
    (free < FREE_MB_MIN * MIB).then(|| {
        let what = format!("only {} MB are free on the disk of {}", free / MIB, folder.display());
        Finding::warning(area, what, format!("free some space soon, or choose another disk with {key}"))
    })
}

fn judge_entries(folder: &Path, area: Area, key: &str, free: Free) -> Option<Finding> {
    let entries = free.entries.filter(|entries| *entries < FREE_ENTRIES_MIN)?;
    let what = format!("only {entries} more files can be made on the disk of {} (`df -i`)", folder.display());
    let remedy = format!("take away files that nobody needs, or choose another disk with {key}");
    let tell = if entries == 0 { Finding::error } else { Finding::warning };
    Some(tell(area, what, remedy))
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

    #[test]
    fn a_folder_is_made_by_the_first_start_and_gone_if_somebody_has_worked_with_it() {
        let told = |past: Past| past.missing(Area::Feeds, "the spool");
        assert_eq!(told(Past::New).severity, Severity::Note);
        let served = told(Past::Served);
        assert!(served.severity == Severity::Error && served.remedy.contains("restore"), "{served:?}");
        let at_work = told(Past::AtWork("http://x".to_owned()));
        assert!(at_work.severity == Severity::Error && at_work.what.contains("http://x"), "{at_work:?}");
    }

    #[test]
    fn a_disk_that_takes_few_more_files_is_told_and_one_that_does_not_count_them_is_not() {
        let severity = |entries| {
            let free = Free { bytes: 0, entries, disk: 1 };
            judge_entries(Path::new("d"), Area::Folders, "--data", free).map(|finding| finding.severity)
        };
        assert_eq!(severity(Some(0)), Some(Severity::Error));
        assert_eq!(severity(Some(FREE_ENTRIES_MIN - 1)), Some(Severity::Warning));
        assert_eq!((severity(Some(FREE_ENTRIES_MIN)), severity(None)), (None, None));
        let room = |mb| judge_room(Path::new("d"), Area::Files, "files.url", mb * MIB);
        assert!(room(FREE_MB_MIN).is_none());
        assert!(room(FREE_MB_MIN - 1).unwrap().remedy.contains("files.url"));
    }
}
