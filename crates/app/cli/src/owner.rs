//! Protects the embedded store from commands of another user. A command of another user leaves
//! files in the store that the store's process cannot change, and that process then stops. Such a
//! command is refused.

use std::fs::{File, Metadata, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use store::StoreUrl;

use terminal::errors::advised;

/// The lock file of an open store.
pub(super) const LOCK: &str = "lock";

#[derive(Debug)]
pub(super) struct Stranger {
    store: PathBuf,
    owner: u32,
    ours: u32,
}

impl Stranger {
    pub(super) fn what(&self) -> String {
        let Stranger { store, owner, ours } = self;
        format!(
            "the store {} belongs to user {owner}, and this is user {ours}: it is not opened",
            store.display()
        )
    }

    /// How to run this `torg` command as the right user.
    pub(super) fn remedy(&self, command: &str) -> String {
        let owner = self.owner;
        format!(
            "run it as that user: `sudo -u '#{owner}' torg {command}`; files of another one would keep its process from writing"
        )
    }
}

/// Refuses to open a store of another user.
pub(super) fn require_own(url: &str, create: bool) -> anyhow::Result<()> {
    match stranger(url, create) {
        Some(stranger) => Err(advised(stranger.what(), stranger.remedy("..."))),
        None => Ok(()),
    }
}

/// The other owner of the store that would be opened. A store that is in use or unreadable is left
/// out: opening it fails without leaving files.
pub(super) fn stranger(url: &str, create: bool) -> Option<Stranger> {
    let Ok(StoreUrl::Fjall(store)) = url.parse() else { return None };
    let ours = rustix::process::geteuid().as_raw();
    let owner = match std::fs::metadata(&store) {
        Ok(about) => Some(about).filter(|_| std::fs::read_dir(&store).is_ok() && !is_held(&store)),
        Err(_) => above(&store).filter(|_| create && ours == 0),
    };
    let owner = owner?.uid();
    (owner != ours).then_some(Stranger { store, owner, ours })
}

/// The parent folder of a store to be created, if it exists. Its owner matters only to root: other
/// users create what is theirs wherever they are allowed to.
fn above(store: &Path) -> Option<Metadata> {
    let above = store.parent().filter(|above| !above.as_os_str().is_empty())?;
    std::fs::metadata(above).ok()
}

fn is_held(store: &Path) -> bool {
    let lock = File::open(store.join(LOCK));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user other than this one.
    fn another() -> u32 {
        rustix::process::geteuid().as_raw() + 7
    }

    #[test]
    fn what_is_ours_or_no_folder_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let store = place.path().join("store");
        let url = format!("fjall:{}", store.display());
        for url in [&*url, "memory:", "postgres://torg@db/torg", "nonsense"] {
            require_own(url, true).unwrap();
        }
        std::fs::create_dir(&store).unwrap();
        require_own(&url, false).unwrap();
    }

    #[test]
    fn a_store_of_another_user_is_opened_by_nobody_else_unless_its_process_has_it() {
        let place = tempfile::tempdir().unwrap();
        let store = place.path().join("store");
        std::fs::create_dir(&store).unwrap();
        let url = format!("fjall:{}", store.display());
        let lock = File::create(store.join(LOCK)).unwrap();
        if std::os::unix::fs::chown(&store, Some(another()), None).is_err() {
            return testkit::skip("a store of another user", "only root can make one");
        }
        let told = terminal::errors::report(&require_own(&url, false).unwrap_err());
        assert!(told.contains(&format!("belongs to user {}", another())), "{told}");
        assert!(told.contains(&format!("hint: run it as that user: `sudo -u '#{}'", another())), "{told}");
        lock.lock().unwrap();
        require_own(&url, false).unwrap();
    }

    #[test]
    fn root_makes_no_store_in_a_folder_of_another_user() {
        let place = tempfile::tempdir().unwrap();
        let url = format!("fjall:{}/store", place.path().display());
        if std::os::unix::fs::chown(place.path(), Some(another()), None).is_err() {
            return testkit::skip("a folder of another user", "only root can make one");
        }
        require_own(&url, false).unwrap();
        assert!(require_own(&url, true).is_err());
    }
}
