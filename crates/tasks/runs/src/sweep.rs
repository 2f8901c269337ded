//! Kills what is left of a command whose supervisor is gone.
//!
//! The kernel kills the command itself together with its supervisor; processes that the command started live on. They carry the folder of the
//! run in their environment, which they inherited: by that they are found, wherever they went. One that wiped its environment is
//! not found.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};
use tokio::time::Instant;

use crate::limits::{STRAGGLERS_EVERY, STRAGGLERS_TIME_MAX};

/// The variable that marks the processes of a run.
pub(crate) const MARK: &str = "TORG_RUN_FOLDER";

/// Kills all processes of a run: says whether they are gone.
pub(crate) fn kill_all_of(folder: &Path) -> io::Result<bool> {
    let mut mark = format!("{MARK}=").into_bytes();
    mark.extend_from_slice(folder.as_os_str().as_bytes());
    let until = Instant::now() + STRAGGLERS_TIME_MAX;
    loop {
        // A process that was killed may have started another before: only a look that finds none is the last one.
        if !kill_marked(&mark)? {
            return Ok(true);
        }
        if Instant::now() > until {
            return Ok(false);
        }
        std::thread::sleep(STRAGGLERS_EVERY);
    }
}

/// Kills those that carry a mark: says whether there were any.
fn kill_marked(mark: &[u8]) -> io::Result<bool> {
    let mut found = false;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
            continue;
        };
        // A scheduler that a command started is no leftover to itself.
        if pid == getpid() || !is_marked(pid, mark) {
            continue;
        }
        // The number may belong to another process by now. The handle does not change its process: if the mark is there after it was opened,
        // it was opened on a process of the run, or on one that is gone.
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

/// Whether a process carries the mark. The environment of one that has ended is empty; that of another user cannot be read, and is none of a run.
fn is_marked(pid: Pid, mark: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == mark)
}
