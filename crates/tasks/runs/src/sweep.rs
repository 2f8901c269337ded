//! Kills the processes of a command whose supervisor is gone.
//!
//! The kernel kills the command together with its supervisor; processes that the command started
//! survive. They inherited a variable with the folder of the run, by which they are found. A
//! process that cleared its environment is not found.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use tokio::time::Instant;

use crate::limits::{STRAGGLERS_EVERY, STRAGGLERS_TIME_MAX};

/// The variable that marks the processes of a run.
pub(crate) const RUN_FOLDER_VARIABLE: &str = "TORG_RUN_FOLDER";

/// Kills all processes of a run; returns whether they are gone.
pub(crate) fn kill_all_of(folder: &Path) -> io::Result<bool> {
    let mut mark = format!("{RUN_FOLDER_VARIABLE}=").into_bytes();
    mark.extend_from_slice(folder.as_os_str().as_bytes());
    let until = Instant::now() + STRAGGLERS_TIME_MAX;
    loop {
        // A killed process may have started another one before: only a scan that finds none is the
        // last one.
        if !kill_marked(&mark)? {
            return Ok(true);
        }
        if Instant::now() > until {
            return Ok(false);
        }
        std::thread::sleep(STRAGGLERS_EVERY);
    }
}

/// Kills the marked processes; returns whether there were any.
fn kill_marked(mark: &[u8]) -> io::Result<bool> {
    let mut found = false;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        // Torg may itself have been started by a command.
        if pid == getpid() || !is_marked(pid, mark) {
            continue;
        }
        // The id may belong to another process by now. The handle keeps its process: if the mark is
        // there after opening, it is a process of the run, or one that is gone.
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(process) if is_marked(pid, mark) => {
                found = true;
                match pidfd_send_signal(&process, Signal::KILL) {
                    Ok(()) | Err(Errno::SRCH) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(_) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Whether a process has the mark. The environment of an ended process is empty; that of another
/// user's is unreadable, and it belongs to no run.
fn is_marked(pid: Pid, mark: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == mark)
}
