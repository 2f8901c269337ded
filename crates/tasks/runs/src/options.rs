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

/// What a runner needs.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the folders of runs are. On a disk of this machine: locks over a network do not always keep what they promise.
    pub folder: PathBuf,
    /// What supervises commands.
    pub supervisor: Verb,
    /// Where services call back that tell an end so, as they are told it; `{run}` in it is replaced by the run's id.
    pub callbacks: Option<String>,
    /// What time it is.
    pub clock: Clock,
}

/// How the program is called that supervises commands: the run's folder is added as the last argument. It has to call
/// [`supervise`](crate::supervise) with that.
#[derive(Clone, Debug)]
pub struct Verb {
    program: PathBuf,
    arguments: Vec<OsString>,
}

impl Verb {
    /// A verb of the program that runs now. It is found also if its file is replaced later.
    #[must_use]
    pub fn of_this_program(verb: impl Into<OsString>) -> Self {
        Self::of("/proc/self/exe", verb)
    }

    /// A verb of another program.
    #[must_use]
    pub fn of(program: impl Into<PathBuf>, verb: impl Into<OsString>) -> Self {
        Self { program: program.into(), arguments: vec![verb.into()] }
    }

    /// Starts a supervisor. It gets no variable, no open file and no directory of this process; what it has to say goes into a file of the run.
    pub(crate) fn spawn(&self, folder: &Folder) -> Result<tokio::process::Child> {
        let starting = |error| folder.failed("start its supervisor", error);
        let said = OpenOptions::new().append(true).create(true).mode(FILE_MODE).open(folder.file(SUPERVISOR));
        let mut command = tokio::process::Command::new(&self.program);
        command
            .args(&self.arguments)
            .arg(folder.path())
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.map_err(starting)?);
        command.spawn().map_err(starting)
    }
}
