//! The supervisor: the small process that a command runs under.
//!
//! ```text
//! scheduler ──starts──► supervisor (own session, holds the lock) ──starts──► launcher ──becomes──► the command (own group)
//! ```
//!
//! The supervisor has one thread. It reads what the command says, stops it when its time is over or when somebody asks for that, sees how it
//! ends, and notes the end. Whoever started it may go: nothing connects the two but files. The launcher (`launch.rs`) ties the command's life to that of the
//! supervisor.

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
use crate::spec::{Spec, What};
use crate::{durable, output, value};

/// Supervises a run: what the hidden verb of a program calls, with the arguments that stand after the verb.
///
/// It has to be called before the program starts any thread, and the program has to end with what it answers. Returns when the command has ended and its
/// end is noted.
pub fn supervise(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let done = match &arguments[..] {
        [folder] => watch_over(&Folder::at(PathBuf::from(folder))),
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

fn watch_over(folder: &Folder) -> Result<()> {
    // A leader of a group already is one of a session of its own, or was started by a person in a shell: both are fine.
    _ = setsid();
    let settled = std::env::set_current_dir("/")
        // Processes whose parents end become children of the supervisor, so that none gets away.
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
            Ok(supervisor) => supervisor.until_the_end(&spec, began, &clock),
            Err(error) => End::new(Reason::NotStarted, error.to_string(), began, clock.now()),
        }
    };
    note(folder, &end)
}

/// Notes the end. A disk that is full now may have room later; until then the run counts as running.
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

/// Why a command is stopped.
#[derive(Clone, Copy)]
struct Stop {
    reason: Reason,
    /// When patience ends; `None` once it has ended.
    kill_at: Option<Instant>,
}

struct Supervisor<'a> {
    folder: &'a Folder,
    pid: Pid,
    process: OwnedFd,
    control: File,
    pipe: Option<PipeReader>,
    log: Option<Writer>,
    /// What went wrong beside the command.
    troubles: Vec<String>,
    until: Instant,
    kill_after: Duration,
    stop: Option<Stop>,
}

impl<'a> Supervisor<'a> {
    fn begin(folder: &'a Folder, spec: &Spec, control: File) -> Result<Self> {
        let What::Command(command) = &spec.what else {
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
            troubles: Vec::new(),
            until: Instant::now() + spec.timeout,
            kill_after: command.kill_after,
            stop: None,
        };
        match Writer::open(folder.path(), spec.log_bytes_max) {
            Ok(log) => supervisor.log = Some(log),
            Err(error) => supervisor.note_log(&error),
        }
        for note in value::variables(&spec.values).1 {
            supervisor.keep(format!("{note}\n").as_bytes());
        }
        Ok(supervisor)
    }

    fn until_the_end(mut self, spec: &Spec, began: Time, clock: &Clock) -> End {
        let mut buffer = vec![0; READ_BYTES];
        while !self.wait(&mut buffer) {}
        // What the command wrote before its end is in the pipe by now.
        self.drain(&mut buffer);
        let exit = reap(self.pid, &mut self.troubles);
        self.drain(&mut buffer);
        let mut end = self.judge(exit, spec, began, clock.now());
        for trouble in self.troubles {
            end.detail = if end.detail.is_empty() { trouble } else { format!("{}; {trouble}", end.detail) };
        }
        end
    }

    /// Waits until something happens, and does what is to be done: says whether the command has ended.
    fn wait(&mut self, buffer: &mut [u8]) -> bool {
        let (has_ended, is_read, is_asked) = match self.poll() {
            Ok(happened) => happened,
            Err(error) => {
                // Not known to happen. The command is stopped rather than left alone.
                self.troubles.push(format!("the supervisor could not wait: {error}"));
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

    /// Waits: has the command ended, has it said something, does somebody ask for something?
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

    /// To the whole group. Its number is that of the command, which was not reaped yet: no other group can have it.
    fn signal(&mut self, signal: Signal) {
        match kill_process_group(self.pid, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => self.troubles.push(format!("a signal could not be sent: {error}")),
        }
    }

    /// Reads once: says whether there may be more.
    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let Some(pipe) = &mut self.pipe else { return false };
        match pipe.read(buffer) {
            Ok(0) => {
                self.pipe = None;
                false
            }
            Ok(bytes) => {
                self.keep(&buffer[..bytes]);
                true
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => true,
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            Err(error) => {
                self.troubles.push(format!("what the command said could not be read: {error}"));
                self.pipe = None;
                false
            }
        }
    }

    /// Reads what is there, and does not wait for more.
    fn drain(&mut self, buffer: &mut [u8]) {
        while self.read(buffer) {}
    }

    /// A log that cannot be written does not stop the command: what it says is read on and thrown away.
    fn keep(&mut self, bytes: &[u8]) {
        let Some(log) = &mut self.log else { return };
        if let Err(error) = log.write(bytes) {
            self.note_log(&error);
        }
    }

    fn note_log(&mut self, error: &io::Error) {
        self.log = None;
        self.troubles.push(format!("the log is not complete: {error}"));
    }

    fn judge(&self, exit: Exit, spec: &Spec, began: Time, ended: Time) -> End {
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
