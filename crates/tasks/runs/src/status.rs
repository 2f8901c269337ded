//! The status of a run, from its lock and its notes.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};

use clock::Time;
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::end::End;
use crate::error::Result;
use crate::folder::{Folder, Kind, LOCK, to_json};
use crate::limits::{LOCK_EVERY, LOCK_TRIES};
use crate::sweep;

const DIED: &str = "died.json";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing has happened: there is no folder, or a claimed run was never started.
    NotStarted,
    /// A supervisor, or a process that executes the call, is alive.
    Running {
        /// For people: it may belong to another process namespace.
        pid: Option<u32>,
        since: Time,
    },
    /// A call that was begun and that no process executes: [`Runner::start`](crate::Runner::start)
    /// resumes it.
    Abandoned {
        since: Time,
    },
    Ended(End),
    /// A command whose end is unknown: the machine or the supervisor went down. None of its
    /// processes is left.
    Died {
        since: Time,
        noticed: Time,
    },
}

#[derive(Serialize, Deserialize)]
struct Death {
    noticed: Time,
}

impl Folder {
    /// The status of the run. Kills the remaining processes of a command without a supervisor
    /// before it reports that it died.
    pub(crate) fn status(&self, now: Time) -> Result<Status> {
        if let Some(end) = self.end()? {
            return Ok(Status::Ended(end));
        }
        let Some(lock) = self.open_lock()? else { return Ok(Status::NotStarted) };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => self.running(&lock),
            Err(TryLockError::Error(error)) => Err(self.failed("try its lock", error)),
            // While this lock is held, no run can begin: what is read now stays so.
            Ok(()) => self.status_locked(&lock, now),
        }
    }

    fn status_locked(&self, lock: &File, now: Time) -> Result<Status> {
        if let Some(end) = self.end()? {
            return Ok(Status::Ended(end));
        }
        let Some(started) = self.started()? else { return Ok(Status::NotStarted) };
        let since = started.since;
        if started.kind == Kind::Call {
            return Ok(Status::Abandoned { since });
        }
        if let Some(Death { noticed }) = self.json(DIED)? {
            return Ok(Status::Died { since, noticed });
        }
        let gone =
            sweep::kill_all_of(self.path()).map_err(|error| self.failed("clear up after it", error))?;
        if !gone {
            return self.running(lock);
        }
        let noticed = now.max(since);
        let death = to_json(&Death { noticed });
        let noted = durable::create_once(self.path(), DIED, &death);
        noted.map_err(|error| self.failed("note that it died", error))?;
        Ok(Status::Died { since, noticed })
    }

    fn running(&self, lock: &File) -> Result<Status> {
        if let Some(started) = self.started()? {
            return Ok(Status::Running { pid: Some(started.pid), since: started.since });
        }
        // It is about to be started: it was claimed when its lock was made.
        let about = lock.metadata().map_err(|error| self.failed("check its lock", error))?;
        let since = Time::from_ms(about.mtime() * 1000 + about.mtime_nsec() / 1_000_000);
        Ok(Status::Running { pid: None, since })
    }

    /// Takes the lock to supervise a command; `None` if another supervisor did or does, or nothing
    /// is left to do.
    ///
    /// Status checks hold the lock only briefly. Another supervisor holds it until it has noted its
    /// start or died, so this waits for one of the two.
    pub(crate) fn take_to_supervise(&self) -> Result<Option<File>> {
        loop {
            let Some(lock) = self.open_lock()? else { return Ok(None) };
            match lock.try_lock() {
                Ok(()) if self.is_still(&lock)? => {
                    let is_open = self.started()?.is_none() && self.end()?.is_none();
                    return Ok(is_open.then_some(lock));
                }
                // Removed in the meantime, perhaps claimed again: try again.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(self.failed("take its lock", error)),
                Err(TryLockError::WouldBlock) if self.started()?.is_some() => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_EVERY),
            }
        }
    }

    /// Takes the lock to execute a call or to remove the run; `None` if it is held, or there is no
    /// such run.
    pub(crate) fn take(&self) -> Result<Option<File>> {
        for _ in 0..LOCK_TRIES {
            let Some(lock) = self.open_lock()? else { return Ok(None) };
            match lock.try_lock() {
                Ok(()) if self.is_still(&lock)? => return Ok(Some(lock)),
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(self.failed("take its lock", error)),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_EVERY),
            }
        }
        Ok(None)
    }

    fn open_lock(&self) -> Result<Option<File>> {
        let mut options = OpenOptions::new();
        let opened = options.read(true).write(true).create(true).truncate(false).mode(durable::FILE_MODE);
        match opened.open(self.file(LOCK)) {
            Ok(lock) => Ok(Some(lock)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("open its lock", error)),
        }
    }

    /// Whether a lock belongs to the current folder, not to a removed one.
    fn is_still(&self, lock: &File) -> Result<bool> {
        let ours = lock.metadata().map_err(|error| self.failed("check its lock", error))?;
        match fs::metadata(self.file(LOCK)) {
            Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("check its lock", error)),
        }
    }

    /// Whether the run's end or death is noted.
    pub(crate) fn is_over(&self) -> Result<bool> {
        Ok(self.end()?.is_some() || self.json::<Death>(DIED)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::end::Reason;
    use crate::folder::{Started, of};
    use crate::spec::{Action, Command, Spec};
    use tempfile::TempDir;

    const NOW: Time = Time::from_ms(5000);

    fn spec(line: &str) -> Spec {
        Spec::new("task", Action::Command(Command::shell(line)))
    }

    fn claimed() -> (TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        let folder = of(root.path(), &"r1".parse().unwrap());
        assert_eq!(folder.status(NOW).unwrap(), Status::NotStarted);
        assert!(folder.claim(root.path(), &spec("first")).unwrap());
        (root, folder)
    }

    fn start(folder: &Folder, kind: Kind) {
        folder.note_started(Started { kind, pid: 7, since: Time::from_ms(1000) }).unwrap();
    }

    #[test]
    fn what_a_look_says_follows_from_the_lock_and_the_notes() {
        let (_root, folder) = claimed();
        assert_eq!(folder.status(NOW).unwrap(), Status::NotStarted);
        let lock = folder.take_to_supervise().unwrap().unwrap();
        assert!(matches!(folder.status(NOW).unwrap(), Status::Running { pid: None, .. }));
        start(&folder, Kind::Command);
        let since = Time::from_ms(1000);
        assert_eq!(folder.status(NOW).unwrap(), Status::Running { pid: Some(7), since });
        // Another supervisor gives up.
        assert!(folder.take_to_supervise().unwrap().is_none());
        drop(lock);
        assert_eq!(folder.status(NOW).unwrap(), Status::Died { since, noticed: NOW });
        assert_eq!(folder.status(Time::from_ms(9000)).unwrap(), Status::Died { since, noticed: NOW });
        // A late one gives up too.
        assert!(folder.take_to_supervise().unwrap().is_none());
    }

    #[test]
    fn an_unexecuted_call_is_abandoned_and_an_end_stays_as_it_is() {
        let (_root, folder) = claimed();
        start(&folder, Kind::Call);
        let since = Time::from_ms(1000);
        assert_eq!(folder.status(NOW).unwrap(), Status::Abandoned { since });
        let end = |reason| End::new(reason, "", since, NOW);
        assert!(folder.note_end(&end(Reason::Done)).unwrap());
        assert!(!folder.note_end(&end(Reason::Killed)).unwrap());
        assert_eq!(folder.status(NOW).unwrap(), Status::Ended(end(Reason::Done)));
        assert!(folder.spec().unwrap().is_none() && folder.token().unwrap().is_none());
    }

    #[test]
    fn a_lock_of_a_run_that_was_removed_is_not_taken_for_that_of_its_successor() {
        let (root, folder) = claimed();
        let old = folder.open_lock().unwrap().unwrap();
        folder.remove(root.path()).unwrap();
        assert!(!folder.is_still(&old).unwrap());
        assert!(folder.take().unwrap().is_none() && folder.take_to_supervise().unwrap().is_none());
        assert!(folder.claim(root.path(), &spec("second")).unwrap());
        assert!(!folder.is_still(&old).unwrap());
        old.try_lock().unwrap();
        assert!(folder.take_to_supervise().unwrap().is_some());
    }

    #[test]
    fn a_damaged_file_is_told_by_its_name() {
        let (_root, folder) = claimed();
        fs::write(folder.file("end.json"), "{").unwrap();
        let told = folder.status(NOW).unwrap_err().to_string();
        assert!(told.contains("r1/end.json cannot be read"), "{told}");
    }
}
