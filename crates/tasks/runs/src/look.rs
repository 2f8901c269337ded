//! What is known of a run, by its lock and its notes.

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

/// What is known of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// Nothing has happened, and whoever starts it is the first: there is no folder, or nobody came to start what was claimed.
    NotStarted,
    /// A supervisor, or somebody who carries out the call, lives.
    Running {
        /// The process, for people: it may be of another machine's count, and it is no promise.
        pid: Option<u32>,
        /// Since when.
        since: Time,
    },
    /// A call that was begun and that nobody carries out at present: [`Runner::start`](crate::Runner::start) takes it up where it is.
    Left {
        /// Since when it is under way.
        since: Time,
    },
    /// It is over.
    Ended(End),
    /// A command that was started, whose end nobody saw: the machine or the supervisor was brought down. No process of it is left.
    Died {
        /// When it was started.
        since: Time,
        /// When its death was noticed.
        noticed: Time,
    },
}

#[derive(Serialize, Deserialize)]
struct Death {
    noticed: Time,
}

impl Folder {
    /// What is known of the run. Kills what is left of a command whose supervisor is gone, before it says that it died.
    pub(crate) fn look(&self, now: Time) -> Result<Looked> {
        if let Some(end) = self.end()? {
            return Ok(Looked::Ended(end));
        }
        let Some(lock) = self.open_lock()? else { return Ok(Looked::NotStarted) };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => self.running(&lock),
            Err(TryLockError::Error(error)) => Err(self.failed("try its lock", error)),
            // While this lock is held, nobody can begin: what is read now stays so.
            Ok(()) => self.look_undisturbed(&lock, now),
        }
    }

    fn look_undisturbed(&self, lock: &File, now: Time) -> Result<Looked> {
        if let Some(end) = self.end()? {
            return Ok(Looked::Ended(end));
        }
        let Some(started) = self.started()? else { return Ok(Looked::NotStarted) };
        let since = started.since;
        if started.kind == Kind::Call {
            return Ok(Looked::Left { since });
        }
        if let Some(Death { noticed }) = self.json(DIED)? {
            return Ok(Looked::Died { since, noticed });
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
        Ok(Looked::Died { since, noticed })
    }

    fn running(&self, lock: &File) -> Result<Looked> {
        if let Some(started) = self.started()? {
            return Ok(Looked::Running { pid: Some(started.pid), since: started.since });
        }
        // Somebody is about to start it: it was claimed when its lock was made.
        let about = lock.metadata().map_err(|error| self.failed("look at its lock", error))?;
        let since = Time::from_ms(about.mtime() * 1000 + about.mtime_nsec() / 1_000_000);
        Ok(Looked::Running { pid: None, since })
    }

    /// Takes the lock to supervise a command; `None` if another one did or does, or there is nothing to do any more.
    ///
    /// Those who only look hold the lock for a moment. Another supervisor holds it until it has noted that it started, or died before that:
    /// so this waits for one of the two.
    pub(crate) fn take_to_supervise(&self) -> Result<Option<File>> {
        loop {
            let Some(lock) = self.open_lock()? else { return Ok(None) };
            match lock.try_lock() {
                Ok(()) if self.is_still(&lock)? => {
                    let is_open = self.started()?.is_none() && self.end()?.is_none();
                    return Ok(is_open.then_some(lock));
                }
                // Removed meanwhile, perhaps claimed again: look at what is there now.
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(self.failed("take its lock", error)),
                Err(TryLockError::WouldBlock) if self.started()?.is_some() => return Ok(None),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_EVERY),
            }
        }
    }

    /// Takes the lock to carry out a call, or to remove the run; `None` if somebody has it, or there is no such run.
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

    /// Whether a lock is that of the folder which is there now, and not of one that was removed.
    fn is_still(&self, lock: &File) -> Result<bool> {
        let ours = lock.metadata().map_err(|error| self.failed("look at its lock", error))?;
        match fs::metadata(self.file(LOCK)) {
            Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.failed("look at its lock", error)),
        }
    }

    /// Whether it is noted that the run has ended or died.
    pub(crate) fn is_over(&self) -> Result<bool> {
        Ok(self.end()?.is_some() || self.json::<Death>(DIED)?.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::end::Reason;
    use crate::folder::{Started, of};
    use crate::spec::{Command, Spec, What};
    use tempfile::TempDir;

    const NOW: Time = Time::from_ms(5000);

    fn spec(line: &str) -> Spec {
        Spec::new("task", What::Command(Command::shell(line)))
    }

    fn claimed() -> (TempDir, Folder) {
        let root = tempfile::tempdir().unwrap();
        let folder = of(root.path(), &"r1".parse().unwrap());
        assert_eq!(folder.look(NOW).unwrap(), Looked::NotStarted);
        assert!(folder.claim(root.path(), &spec("first")).unwrap());
        (root, folder)
    }

    fn start(folder: &Folder, kind: Kind) {
        folder.note_started(Started { kind, pid: 7, since: Time::from_ms(1000) }).unwrap();
    }

    #[test]
    fn what_a_look_says_follows_from_the_lock_and_the_notes() {
        let (_root, folder) = claimed();
        assert_eq!(folder.look(NOW).unwrap(), Looked::NotStarted);
        let lock = folder.take_to_supervise().unwrap().unwrap();
        assert!(matches!(folder.look(NOW).unwrap(), Looked::Running { pid: None, .. }));
        start(&folder, Kind::Command);
        let since = Time::from_ms(1000);
        assert_eq!(folder.look(NOW).unwrap(), Looked::Running { pid: Some(7), since });
        // Another supervisor that comes now goes.
        assert!(folder.take_to_supervise().unwrap().is_none());
        drop(lock);
        assert_eq!(folder.look(NOW).unwrap(), Looked::Died { since, noticed: NOW });
        assert_eq!(folder.look(Time::from_ms(9000)).unwrap(), Looked::Died { since, noticed: NOW });
        // One that comes late goes, too.
        assert!(folder.take_to_supervise().unwrap().is_none());
    }

    #[test]
    fn a_call_that_nobody_carries_out_is_left_and_an_end_stays_as_it_is() {
        let (_root, folder) = claimed();
        start(&folder, Kind::Call);
        let since = Time::from_ms(1000);
        assert_eq!(folder.look(NOW).unwrap(), Looked::Left { since });
        let end = |reason| End::new(reason, "", since, NOW);
        assert!(folder.note_end(&end(Reason::Done)).unwrap());
        assert!(!folder.note_end(&end(Reason::Killed)).unwrap());
        assert_eq!(folder.look(NOW).unwrap(), Looked::Ended(end(Reason::Done)));
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
        let told = folder.look(NOW).unwrap_err().to_string();
        assert!(told.contains("r1/end.json cannot be understood"), "{told}");
    }
}
