//! Removes a server and its folder when the test process ends.
//!
//! The guardian is a shell that waits on a pipe whose other end only this process holds. The pipe
//! closes when the owner is dropped, when the process exits with the owner in a `static`, and when
//! the process is killed: one clean-up for all three.

use std::path::Path;
use std::process::{Child, Command, Stdio};

#[derive(Debug)]
pub(crate) struct Guardian {
    shell: Child,
}

impl Guardian {
    /// Runs `script` (a POSIX shell command with `folder` in `$1` and `args` from `$2`) when the
    /// pipe closes, then removes `folder`.
    pub(crate) fn watch(folder: &Path, script: &str, args: &[&str]) -> std::io::Result<Guardian> {
        use std::os::unix::process::CommandExt as _;
        let shell = Command::new("sh")
            .arg("-c")
            .arg(format!("cd /; cat >/dev/null; {script}; rm -rf \"$1\""))
            .arg("torg-testkit-guardian")
            .arg(folder)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Its own group: Ctrl-C in the terminal ends the tests, not the clean-up.
            .process_group(0)
            .spawn()?;
        Ok(Guardian { shell })
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // An error cannot be reported here, and the folder is temporary.
        let _ = self.shell.wait();
    }
}
