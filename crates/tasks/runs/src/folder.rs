//! The folder of a run: its whole state, in files that any process can read.
//!
//! ```text
//! spec.json       what to do; removed once a command was started, or a call has ended
//! values.json     what the trigger saw, for the command
//! lock            held as long as the supervisor, or the process that executes the call, lives
//! started.json    written before anything happens: the run is never started again
//! end.json        how it ended; the first one counts
//! died.json       the lock is free, there is no end, and the command's processes are gone
//! kill, control   a kill was requested; a pipe that wakes the supervisor
//! output          values that the command sets
//! log, log.N      its output (log.rs)
//! call.json       the progress of a call
//! token           authenticates a callback
//! ```
//!
//! The folder is created under another name and renamed: it exists completely or not at all, and of
//! several concurrent claims one succeeds.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use clock::Time;
use rustix::fs::{CWD, Mode, OFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::durable;
use crate::end::End;
use crate::error::{Error, Result};
use crate::id::RunId;
use crate::limits::SPEC_BYTES_MAX;
use crate::spec::Spec;

pub(crate) const VALUES: &str = "values.json";
pub(crate) const OUTPUT: &str = "output";
pub(crate) const NOT_STARTED: &str = "not-started";
pub(crate) const SUPERVISOR: &str = "supervisor.log";
const SPEC: &str = "spec.json";
pub(crate) const LOCK: &str = "lock";
const STARTED: &str = "started.json";
const END: &str = "end.json";
const KILL: &str = "kill";
const CONTROL: &str = "control";
const CALL: &str = "call.json";
const TOKEN: &str = "token";

/// That a run was started.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Started {
    pub(crate) kind: Kind,
    pub(crate) pid: u32,
    pub(crate) since: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A supervisor. Nothing else ever resumes it.
    Command,
    /// The holder of the lock, and after it another.
    Call,
}

/// The folder of a run, which may not exist.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub(crate) fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Claims a run; returns whether this call did. A crash leaves nothing, or a complete claim.
    pub(crate) fn claim(&self, root: &Path, spec: &Spec) -> Result<bool> {
        if self.exists()? {
            return Ok(false);
        }
        let spec = spec_bytes(spec)?;
        let named = durable::unused_name("new").map_err(|error| self.failed("claim it", error))?;
        let fresh = root.join(named);
        let made = durable::random_token().and_then(|token| make(&fresh, &spec, &token));
        let renamed = made.and_then(|()| fs::rename(&fresh, &self.path));
        match renamed {
            Ok(()) => Ok(true),
            Err(error) => {
                _ = fs::remove_dir_all(&fresh);
                let is_taken =
                    matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists);
                if is_taken { Ok(false) } else { Err(self.failed("claim it", error)) }
            }
        }
    }

    /// Rewrites the spec of a run that was claimed and not started: a crash of the machine may have
    /// left empty files. If the run starts concurrently, either spec is executed.
    pub(crate) fn rewrite(&self, spec: &Spec) -> Result<()> {
        let [values, spec] = spec_bytes(spec)?;
        let renewed = || {
            for (name, bytes) in [values, spec] {
                self.put(name, &bytes)?;
            }
            // A complete token may already have been sent.
            match durable::read(&self.file(TOKEN))? {
                Some(token) if !token.is_empty() => Ok(()),
                _ => self.put(TOKEN, durable::random_token()?.as_bytes()),
            }
        };
        renewed().map_err(|error| self.failed("describe it", error))
    }

    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let fresh = self.file(&durable::unused_name("part")?);
        durable::write_new(&fresh, bytes)?;
        fs::rename(&fresh, self.file(name))
    }

    pub(crate) fn exists(&self) -> Result<bool> {
        self.path.try_exists().map_err(|error| self.failed("check it", error))
    }

    pub(crate) fn spec(&self) -> Result<Option<Spec>> {
        self.json(SPEC)
    }

    /// The spec may contain secrets: it is removed as soon as it is not needed.
    pub(crate) fn forget_spec(&self) -> io::Result<()> {
        durable::remove(&self.file(SPEC))
    }

    pub(crate) fn started(&self) -> Result<Option<Started>> {
        self.json(STARTED)
    }

    /// Notes the start. On return the note and the claim survive a crash of the machine, and so
    /// does the spec of a call.
    pub(crate) fn note_started(&self, started: Started) -> Result<()> {
        let kept: &[&str] = if started.kind == Kind::Call { &[SPEC, TOKEN] } else { &[] };
        let kept = kept.iter().try_for_each(|name| File::open(self.file(name))?.sync_all());
        let noted = kept.and_then(|()| durable::create_once(&self.path, STARTED, &to_json(&started)));
        let synced = noted.and_then(|_| self.path.parent().map_or(Ok(()), durable::sync_folder));
        synced.map_err(|error| self.failed("note its start", error))
    }

    pub(crate) fn end(&self) -> Result<Option<End>> {
        self.json(END)
    }

    /// Notes the end of the run unless one is noted; returns whether it was not.
    pub(crate) fn note_end(&self, end: &End) -> Result<bool> {
        let noted = durable::create_once(&self.path, END, &to_json(end));
        let noted = noted.map_err(|error| self.failed("note its end", error))?;
        for name in [SPEC, TOKEN] {
            durable::remove(&self.file(name)).map_err(|error| self.failed("forget its secrets", error))?;
        }
        Ok(noted)
    }

    pub(crate) fn call<T: DeserializeOwned + Default>(&self) -> Result<T> {
        Ok(self.json(CALL)?.unwrap_or_default())
    }

    pub(crate) fn note_call(&self, call: &impl Serialize) -> Result<()> {
        durable::replace(&self.path, CALL, &to_json(call))
            .map_err(|error| self.failed("note how far it came", error))
    }

    pub(crate) fn token(&self) -> Result<Option<String>> {
        let token = durable::read(&self.file(TOKEN)).map_err(|error| self.failed("read its token", error))?;
        Ok(token.and_then(|token| String::from_utf8(token).ok()).filter(|token| !token.is_empty()))
    }

    /// Requests a kill. The file comes first, then the supervisor is woken; the supervisor first
    /// opens the pipe and then looks for the file. So it always sees one of the two.
    pub(crate) fn request_kill(&self) -> Result<()> {
        let written = durable::write_new(&self.file(KILL), b"");
        match written {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(self.failed("ask to kill it", error));
            }
            _ => {}
        }
        let unblocked = OFlags::NONBLOCK.bits().cast_signed();
        let control = OpenOptions::new().write(true).custom_flags(unblocked).open(self.file(CONTROL));
        // Without a reader, or with a full pipe, the file alone is enough.
        if let Ok(mut control) = control {
            _ = control.write(b"k");
        }
        Ok(())
    }

    pub(crate) fn is_kill_asked(&self) -> bool {
        self.file(KILL).exists()
    }

    /// The supervisor's end of the wake-up pipe. Also opened for writing, so that it never reaches
    /// its end.
    pub(crate) fn open_control(&self) -> Result<File> {
        let unblocked = OFlags::NONBLOCK.bits().cast_signed();
        let opened =
            OpenOptions::new().read(true).write(true).custom_flags(unblocked).open(self.file(CONTROL));
        opened.map_err(|error| self.failed("open the pipe that wakes its supervisor", error))
    }

    /// Removes the folder, under a lock that the caller holds. It disappears atomically.
    pub(crate) fn remove(&self, root: &Path) -> Result<()> {
        let removed = durable::unused_name("gone").and_then(|gone| {
            let gone = root.join(gone);
            fs::rename(&self.path, &gone)?;
            fs::remove_dir_all(&gone)
        });
        removed.map_err(|error| self.failed("remove it", error))
    }

    pub(crate) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        let path = self.file(name);
        let bytes = durable::read(&path).map_err(|error| self.failed("read its files", error))?;
        let Some(bytes) = bytes else { return Ok(None) };
        match serde_json::from_slice(&bytes) {
            Ok(read) => Ok(Some(read)),
            Err(error) => Err(Error::Broken { path, what: error.to_string() }),
        }
    }

    pub(crate) fn failed(&self, what: &str, error: io::Error) -> Error {
        Error::Machine { doing: format!("run {}: cannot {what}", self.path.display()), error }
    }
}

pub(crate) fn of(root: &Path, run: &RunId) -> Folder {
    Folder::at(root.join(run.as_str()))
}

fn make(path: &Path, spec: &[(&str, Vec<u8>)], token: &str) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    for (name, bytes) in spec {
        durable::write_new(&path.join(name), bytes)?;
    }
    for (name, bytes) in [(TOKEN, token), (OUTPUT, ""), (LOCK, "")] {
        durable::write_new(&path.join(name), bytes.as_bytes())?;
    }
    rustix::fs::mkfifoat(CWD, path.join(CONTROL), Mode::RUSR | Mode::WUSR)?;
    Ok(())
}

fn spec_bytes(spec: &Spec) -> Result<[(&'static str, Vec<u8>); 2]> {
    let (values, spec) = (to_json(&spec.values), to_json(spec));
    if values.len() + spec.len() > SPEC_BYTES_MAX {
        return Err(Error::spec("run", format!("what describes it may have up to {SPEC_BYTES_MAX} bytes")));
    }
    Ok([(VALUES, values), (SPEC, spec)])
}

/// Our types have text keys only and infallible serializers.
pub(crate) fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Action, Command};
    use std::os::unix::fs::MetadataExt as _;

    fn spec(line: &str) -> Spec {
        Spec::new("task", Action::Command(Command::shell(line)))
    }

    #[test]
    fn a_run_is_claimed_once_and_nothing_is_left_of_other_claims() {
        let root = tempfile::tempdir().unwrap();
        let folder = of(root.path(), &"r1".parse().unwrap());
        assert!(folder.claim(root.path(), &spec("first")).unwrap());
        assert!(!folder.claim(root.path(), &spec("second")).unwrap());
        assert_eq!(folder.spec().unwrap().unwrap(), spec("first"));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
        let token = folder.token().unwrap().unwrap();
        folder.rewrite(&spec("third")).unwrap();
        assert_eq!(
            (folder.spec().unwrap().unwrap(), folder.token().unwrap().unwrap()),
            (spec("third"), token)
        );
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(folder.path()), mode(&folder.file(SPEC))), (0o700, 0o600));
    }

    #[test]
    fn a_claim_whose_files_a_crash_of_the_machine_left_empty_is_made_whole_by_the_next_start() {
        let root = tempfile::tempdir().unwrap();
        let folder = of(root.path(), &"r1".parse().unwrap());
        assert!(folder.claim(root.path(), &spec("first")).unwrap());
        for name in [SPEC, TOKEN, VALUES] {
            fs::write(folder.file(name), "").unwrap();
        }
        assert_eq!(folder.token().unwrap(), None);
        folder.rewrite(&spec("second")).unwrap();
        assert_eq!(folder.spec().unwrap().unwrap(), spec("second"));
        assert_eq!(folder.token().unwrap().unwrap().len(), 32);
        assert_eq!(fs::read(folder.file(VALUES)).unwrap(), b"{}");
    }
}
