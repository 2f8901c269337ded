//! Reaps a command and kills what it left behind.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, wait, waitpid};
use tokio::time::Instant;

use crate::limits::{STRAGGLERS_EVERY, STRAGGLERS_TIME_MAX};

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exit {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

/// Takes the exit status of a command that has ended or was killed, and kills every process that it
/// left behind.
pub(crate) fn reap(pid: Pid, problems: &mut Vec<String>) -> Exit {
    // Before the command is reaped: until then its group id is not reused.
    match kill_process_group(pid, Signal::KILL) {
        Ok(()) | Err(Errno::SRCH) => {}
        Err(error) => problems.push(format!("what the command left behind could not be killed: {error}")),
    }
    let exit = match retry(|| waitpid(Some(pid), WaitOptions::empty())) {
        Ok(Some((_, status))) => Exit { code: status.exit_status(), signal: status.terminating_signal() },
        Ok(None) => Exit::default(),
        Err(error) => {
            problems.push(format!("how the command ended could not be seen: {error}"));
            Exit::default()
        }
    };
    let until = Instant::now() + STRAGGLERS_TIME_MAX;
    loop {
        match retry(|| wait(WaitOptions::NOHANG)) {
            Ok(Some(_)) => {}
            Ok(None) if Instant::now() > until => {
                problems.push("processes that the command left behind could not be killed".to_owned());
                return exit;
            }
            Ok(None) => {
                if let Err(error) = kill_children() {
                    problems.push(format!("processes that the command left behind were not found: {error}"));
                    return exit;
                }
                std::thread::sleep(STRAGGLERS_EVERY);
            }
            // No child is left.
            Err(_) => return exit,
        }
    }
}

fn retry<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            done => return done,
        }
    }
}

/// Kills orphans, which have become children of this process. Only this process reaps them, so
/// their ids are valid.
fn kill_children() -> io::Result<()> {
    let own = getpid();
    let children = fs::read_to_string(format!("/proc/{own}/task/{own}/children"))?;
    for child in children.split_whitespace().filter_map(|pid| pid.parse().ok()).filter_map(Pid::from_raw) {
        match kill_process(child, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
