//! The supervisor: the small process that a command runs under.
//!
//! ```text
//! Torg ──starts──► supervisor (own session, holds the lock) ──starts──► launcher ──becomes──► the command (own group)
//! ```
//!
//! The supervisor has one thread. It reads the command's output, stops it after its timeout or on
//! request, waits for its end, and notes the end. The process that started it may end: only files
//! connect the two. The launcher (`launch.rs`) ties the command's life to that of the supervisor.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, Read};
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clock::{Clock, Time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process_group, pidfd_open, set_child_subreaper, setsid,
};
use tokio::time::Instant;

use crate::end::{End, Reason};
use crate::error::{Error, Result};
use crate::folder::{Folder, Kind, NOT_STARTED, OUTPUT, Started};
use crate::launch::{LAUNCH, launch, start};
use crate::limits::{END_EVERY, END_TRIES, READ_BYTES};
use crate::log::Writer;
use crate::reap::{Exit, reap};
use crate::spec::{Action, Spec};
use crate::{durable, output, value};

/// Supervises a run: the hidden verb of a program, with the arguments after the verb.
///
/// Call it before the program starts any thread, and exit with its result. Returns when the command
/// has ended and its end is noted.
pub fn supervise(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match &arguments[..] {
        [folder] => supervise_folder(&Folder::at(PathBuf::from(folder))),
        [folder, verb, parent] if verb == LAUNCH => {
            return launch(&Folder::at(PathBuf::from(folder)), parent);
        }
        _ => {
            Err(Error::spec("arguments", "the folder of a run; this verb is for Torg itself, not for people"))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn supervise_folder(folder: &Folder) -> Result<()> {
    // Fails for a group leader, which has its own session or was started from a shell: both are
    // fine.
    _ = setsid();
    let settled = std::env::set_current_dir("/")
        // Orphans become children of the supervisor, so that none escapes.
        .and_then(|()| set_child_subreaper(Some(getpid())).map_err(io::Error::from));
    settled.map_err(Error::while_doing(|| "the supervisor cannot settle down"))?;
    let Some(_lock) = folder.take_to_supervise()? else { return Ok(()) };
    let Some(spec) = folder.spec()? else {
        return Err(folder.failed("find what to do", ErrorKind::NotFound.into()));
    };
    let control = folder.open_control()?;
    let clock = Clock::system();
    let began = clock.now();
    folder.note_started(Started { kind: Kind::Command, pid: std::process::id(), since: began })?;
    let end = if folder.is_kill_asked() {
        End::new(Reason::Killed, "it was killed before the command was started", began, clock.now())
    } else {
        match Supervisor::begin(folder, &spec, control) {
            Ok(supervisor) => supervisor.run_to_end(&spec, began, &clock),
            Err(error) => End::new(Reason::NotStarted, error.to_string(), began, clock.now()),
        }
    };
    note(folder, &end)
}

/// Notes the end. A full disk may have space later; until then the run counts as running.
fn note(folder: &Folder, end: &End) -> Result<()> {
    let mut tries = 1;
    loop {
        match folder.note_end(end) {
            Ok(_) => return Ok(()),
            Err(error) if tries >= END_TRIES => return Err(error),
            Err(_) => std::thread::sleep(END_EVERY),
        }
        tries += 1;
    }
}

#[derive(Clone, Copy)]
struct Stop {
    reason: Reason,
    /// When KILL follows; `None` once it was sent.
    kill_at: Option<Instant>,
}

struct Supervisor<'a> {
    folder: &'a Folder,
    pid: Pid,
    process: OwnedFd,
    control: File,
    pipe: Option<PipeReader>,
    log: Option<Writer>,
    /// Problems other than the command's own.
    problems: Vec<String>,
    until: Instant,
    kill_after: Duration,
    stop: Option<Stop>,
}

impl<'a> Supervisor<'a> {
    fn begin(folder: &'a Folder, spec: &Spec, control: File) -> Result<Self> {
        let Action::Command(command) = &spec.action else {
            return Err(Error::spec("run", "this is no command, so it has no supervisor"));
        };
        let failed = |error| folder.failed("start its command", error);
        let (pipe, pid) = start(folder).map_err(failed)?;
        let process = pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
        let mut supervisor = Self {
            folder,
            pid,
            process,
            control,
            pipe: Some(pipe),
            log: None,
            problems: Vec::new(),
            until: Instant::now() + spec.timeout,
            kill_after: command.kill_after,
            stop: None,
        };
        match Writer::open(folder.path(), spec.log_bytes_max) {
            Ok(log) => supervisor.log = Some(log),
            Err(error) => supervisor.note_log(&error),
        }
        for note in value::variables(&spec.values).1 {
            supervisor.write_log(format!("{note}\n").as_bytes());
        }
        Ok(supervisor)
    }

    fn run_to_end(mut self, spec: &Spec, began: Time, clock: &Clock) -> End {
        let mut buffer = vec![0; READ_BYTES];
        while !self.wait(&mut buffer) {}
        // What the command wrote before its end is in the pipe by now.
        self.drain(&mut buffer);
        let exit = reap(self.pid, &mut self.problems);
        self.drain(&mut buffer);
        let mut end = self.end_of(exit, spec, began, clock.now());
        for problem in self.problems {
            end.detail = if end.detail.is_empty() { problem } else { format!("{}; {problem}", end.detail) };
        }
        end
    }

    /// Waits for an event and handles it; returns whether the command has ended.
    fn wait(&mut self, buffer: &mut [u8]) -> bool {
        let (has_ended, is_read, is_asked) = match self.poll() {
            Ok(happened) => happened,
            Err(error) => {
                // Not known to happen. The command is stopped rather than left alone.
                self.problems.push(format!("the supervisor could not wait: {error}"));
                self.signal(Signal::KILL);
                return true;
            }
        };
        if is_read {
            self.read(buffer);
        }
        if has_ended {
            return true;
        }
        if is_asked {
            while (&self.control).read(buffer).is_ok_and(|bytes| bytes > 0) {}
        }
        let now = Instant::now();
        match &mut self.stop {
            None if is_asked && self.folder.is_kill_asked() => self.begin_to_stop(Reason::Killed, now),
            None if now >= self.until => self.begin_to_stop(Reason::TimedOut, now),
            Some(Stop { kill_at, .. }) if kill_at.is_some_and(|kill_at| now >= kill_at) => {
                *kill_at = None;
                self.signal(Signal::KILL);
            }
            _ => {}
        }
        false
    }

    /// Waits for three events: the command has ended, has written output, or a kill is requested.
    fn poll(&self) -> io::Result<(bool, bool, bool)> {
        let next = match self.stop {
            None => Some(self.until),
            Some(stop) => stop.kill_at,
        };
        let left = next.map(|next| next.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = vec![
            PollFd::from_borrowed_fd(self.process.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.control.as_fd(), PollFlags::IN),
        ];
        fds.extend(self.pipe.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        match poll(&mut fds, left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let happened = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        Ok((happened(0), happened(2), happened(1)))
    }

    fn begin_to_stop(&mut self, reason: Reason, now: Instant) {
        self.stop = Some(Stop { reason, kill_at: Some(now + self.kill_after) });
        self.signal(Signal::TERM);
    }

    /// Signals the whole group. Its id is that of the command, which is not reaped yet: it is not
    /// reused.
    fn signal(&mut self, signal: Signal) {
        match kill_process_group(self.pid, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => self.problems.push(format!("a signal could not be sent: {error}")),
        }
    }

    /// Reads once; returns whether there may be more.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        match pipe.read(buffer) {
            Ok(0) => {
                self.pipe = None;
                false
            }
            Ok(bytes) => {
                self.write_log(&buffer[..bytes]);
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => {
                self.problems.push(format!("what the command said could not be read: {error}"));
                self.pipe = None;
                false
            }
        }
    }

    fn drain(&mut self, buffer: &mut [u8]) {
        while self.read(buffer) {}
    }

    /// A failing log does not stop the command: further output is dropped.
    fn write_log(&mut self, bytes: &[u8]) {
        let Some(log) = &mut self.log else { return };
        if let Err(error) = log.write(bytes) {
            self.note_log(&error);
        }
    }

    fn note_log(&mut self, error: &io::Error) {
        self.log = None;
        self.problems.push(format!("the log is not complete: {error}"));
    }

    fn end_of(&self, exit: Exit, spec: &Spec, began: Time, ended: Time) -> End {
        let (code, signal) = (exit.code, exit.signal);
        let end = |reason, detail: String| End { code, signal, ..End::new(reason, detail, began, ended) };
        if let Some(stop) = self.stop {
            let detail = match stop.reason {
                Reason::TimedOut => format!("it took longer than {:?}", spec.timeout),
                _ => String::new(),
            };
            return end(stop.reason, detail);
        }
        let not_started = durable::read(&self.folder.file(NOT_STARTED));
        if let Ok(Some(why)) = not_started {
            let why = String::from_utf8_lossy(&why).into_owned();
            return End::new(Reason::NotStarted, why, began, ended);
        }
        if code != Some(0) {
            return end(Reason::Failed, String::new());
        }
        match output::read(&self.folder.file(OUTPUT)) {
            Ok(sets) => End { sets, ..end(Reason::Done, String::new()) },
            Err(wrong) => end(Reason::Failed, wrong),
        }
    }
}
