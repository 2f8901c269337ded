//! The launcher: ties itself to the supervisor, then becomes the command.
//!
//! The kernel is asked to kill this process when its parent ends. That survives `exec`, except of a
//! program that changes its user (`sudo`). The launcher asks for it, because between `fork` and
//! `exec` nothing else is safe.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, PipeReader};
use std::os::unix::process::CommandExt as _;
use std::process::{ExitCode, Stdio};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use crate::durable;
use crate::error::Result;
use crate::folder::{Folder, NOT_STARTED, OUTPUT, VALUES};
use crate::spec::{Action, Command, CommandLine, Spec};
use crate::sweep::RUN_FOLDER_VARIABLE;
use crate::value;

/// The argument by which the supervisor calls the launcher.
pub(crate) const LAUNCH: &str = "launch";

/// The exit code of shells for a command that cannot be executed.
const NOT_EXECUTED: u8 = 127;

pub(crate) fn start(folder: &Folder) -> io::Result<(PipeReader, Pid)> {
    let (reader, writer) = io::pipe()?;
    rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    // This program itself, even if its file was replaced.
    let child = std::process::Command::new("/proc/self/exe")
        .arg0(name)
        .args(arguments)
        .arg(LAUNCH)
        .arg(std::process::id().to_string())
        .env_clear()
        .env(RUN_FOLDER_VARIABLE, folder.path())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let pid = Pid::from_raw(child.id().cast_signed());
    pid.map(|pid| (reader, pid)).ok_or_else(|| io::Error::other("the process has no number"))
}

/// Becomes the command, or notes why it cannot.
pub(crate) fn launch(folder: &Folder, parent: &OsStr) -> ExitCode {
    let why = match tie_to(parent) {
        Ok(()) => become_command(folder).unwrap_or_else(|error| error.to_string()),
        Err(why) => why,
    };
    if let Err(error) = durable::write_new(&folder.file(NOT_STARTED), why.as_bytes()) {
        eprintln!("torg: the command could not be started: {why}; and that could not be noted: {error}");
    }
    ExitCode::from(NOT_EXECUTED)
}

/// Dies with the supervisor from now on.
fn tie_to(parent: &OsStr) -> Result<(), String> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("the kernel does not tie the command to its supervisor: {error}"))?;
    // The supervisor may have ended before: then this process has another parent.
    let is_there = getppid().is_some_and(|pid| parent == &*pid.to_string());
    if is_there { Ok(()) } else { Err("its supervisor is gone".to_owned()) }
}

/// Returns only if it cannot, with the reason.
fn become_command(folder: &Folder) -> Result<String> {
    let Some(spec) = folder.spec()? else {
        return Err(folder.failed("find what to do", ErrorKind::NotFound.into()));
    };
    let Action::Command(command) = &spec.action else { return Ok("this is no command".to_owned()) };
    folder.forget_spec().map_err(|error| folder.failed("forget its secrets", error))?;
    let directory = command.directory.as_deref().unwrap_or(folder.path());
    if let Err(error) = std::env::set_current_dir(directory) {
        return Ok(format!("the directory {} cannot be entered: {error}", directory.display()));
    }
    let (mut ready, name) = match &command.line {
        CommandLine::Program { program, arguments } => {
            let mut ready = std::process::Command::new(program);
            ready.args(arguments);
            (ready, program.as_str())
        }
        CommandLine::Shell(line) => {
            let mut ready = std::process::Command::new("/bin/sh");
            ready.arg("-c").arg(line);
            (ready, "/bin/sh")
        }
    };
    give_environment(&mut ready, folder, &spec, command);
    let error = ready.exec();
    Ok(match error.kind() {
        ErrorKind::NotFound => {
            format!("the program {name:?} was not found: {error} (PATH is {})", shown_path(command))
        }
        _ => format!("the program {name:?} could not be executed: {error}"),
    })
}

fn shown_path(command: &Command) -> String {
    command.environment.get("PATH").map_or("not set".to_owned(), |path| path.expose().to_owned())
}

/// The environment of the command. Torg's own variables come last and win.
fn give_environment(ready: &mut std::process::Command, folder: &Folder, spec: &Spec, command: &Command) {
    ready.env_clear();
    ready.envs(command.environment.iter().map(|(name, value)| (name, value.expose())));
    ready.envs(value::variables(&spec.values).0);
    if let Some(run) = folder.path().file_name() {
        ready.env("TORG_RUN", run);
    }
    ready.env("TORG_TASK", &spec.task);
    ready.env("TORG_ATTEMPT", spec.attempt.to_string());
    ready.env("TORG_VALUES_FILE", folder.file(VALUES));
    ready.env("TORG_OUTPUT_FILE", folder.file(OUTPUT));
    ready.env(RUN_FOLDER_VARIABLE, folder.path());
    if let Some(chunk) = &spec.chunk {
        ready.env("TORG_CHUNK_START", chunk.start.to_string());
        ready.env("TORG_CHUNK_END", chunk.end.to_string());
    }
}
