//! Reads the files that a demo leaves in its folder, without locking or changing anything.

use std::path::Path;

use rustix::process::{Pid, test_kill_process};
use serde::Deserialize;

use super::folder::MARKER;
use super::lock::LOCK;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traces {
    /// The address of its process, if that process is still running.
    pub url: Option<String>,
}

/// The content of the lock file.
#[derive(Default, Deserialize)]
struct Runs {
    #[serde(default)]
    pid: i32,
    #[serde(default)]
    console: String,
}

/// The traces of a demo in this folder; `None` if the folder does not belong to a demo.
pub fn traces(folder: &Path) -> Option<Traces> {
    folder.join(MARKER).try_exists().ok().filter(|is_there| *is_there)?;
    let text = std::fs::read_to_string(folder.join(LOCK)).unwrap_or_default();
    let Runs { pid, console } = serde_json::from_str(&text).unwrap_or_default();
    let runs = Pid::from_raw(pid).is_some_and(|pid| test_kill_process(pid).is_ok());
    let place = console.parse::<http::Uri>().ok();
    let place = place.and_then(|uri| Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?)));
    Some(Traces { url: place.filter(|_| runs) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_known_by_its_folder_and_its_address_as_long_as_its_process_is_there() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(traces(folder.path()), None);
        std::fs::write(folder.path().join(MARKER), "{}").unwrap();
        assert_eq!(traces(folder.path()), Some(Traces { url: None }), "it has never run to its end");
        let console = "http://localhost:8099/console/";
        let lock = |pid: u32| format!("{{\"pid\": {pid}, \"console\": \"{console}\"}}");
        std::fs::write(folder.path().join(LOCK), lock(std::process::id())).unwrap();
        let url = Some("http://localhost:8099".to_owned());
        assert_eq!(traces(folder.path()), Some(Traces { url }));
        // No machine has a process with this id.
        std::fs::write(folder.path().join(LOCK), lock(i32::MAX.unsigned_abs())).unwrap();
        assert_eq!(traces(folder.path()), Some(Traces { url: None }));
    }
}
