//! What a runner needs.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use clock::Clock;

use crate::durable::FILE_MODE;
use crate::error::Result;
use crate::folder::{Folder, SUPERVISOR};

#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of runs, on a local disk: locks over a network are unreliable.
    pub folder: PathBuf,
    /// The supervisor of commands.
    pub supervisor: Verb,
    /// The callback URL for services; `{run}` in it is replaced by the run's id.
    pub callbacks: Option<String>,
    pub clock: Clock,
}

/// The command line of the supervisor; the run's folder is appended as the last argument. It has to
/// call [`supervise`](crate::supervise).
#[derive(Clone, Debug)]
pub struct Verb {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Verb {
    /// A verb of the current program, even if its file is replaced later.
    #[must_use]
    pub fn of_this_program(verb: impl Into<OsString>) -> Self {
        Self::of("/proc/self/exe", verb)
    }

    #[must_use]
    pub fn of(program: impl Into<PathBuf>, verb: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: vec![verb.into()] }
    }

    /// Starts a supervisor. It inherits no variables, files or directory; its output goes into a
    /// file of the run.
    pub(crate) fn spawn(&self, folder: &Folder) -> Result<tokio::process::Child> {
        let starting = |error| folder.failed("start its supervisor", error);
        let output =
            OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(folder.file(SUPERVISOR));
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(folder.path())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(output.map_err(starting)?);
        command.spawn().map_err(starting)
    }
}
