//! Where uploaded files and photos are kept: something is written, read again, and deleted.

use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use tokio::time::timeout;

use super::finding::{Area, Finding};
use super::folders::{State, remedy, state};
use super::limits::ANSWER_TIME_MAX;
use crate::config::Config;

const PROBE: &[u8] = b"torg doctor";
const ELSEWHERE: &str = "mend it, or give another place with files.url";

/// Tries the place out.
pub(super) async fn check(config: &Config) -> Finding {
    let url = &config.files.url;
    if let Some(folder) = url.expose().strip_prefix("file:") {
        let folder = FilePath::new(folder.strip_prefix("//").unwrap_or(folder));
        match state(folder) {
            // To open it would make it.
            State::ToBeMade => {
                let what = format!("{url} is not there yet: `torg serve` makes it");
                return Finding::note(Area::Files, what, "");
            }
            State::Useless(why) => {
                let what = format!("{url} cannot be used: {why}");
                return Finding::error(Area::Files, what, remedy(&why, "files.url"));
            }
            State::Writable => {}
        }
    }
    match photos::files::open(url.expose()) {
        Ok(files) => match timeout(ANSWER_TIME_MAX, try_out(&files)).await {
            Ok(Ok(())) => {
                Finding::ok(Area::Files, format!("{url} takes files, gives them back and deletes them"))
            }
            Ok(Err(why)) => Finding::error(Area::Files, format!("{url}: {why}"), ELSEWHERE),
            Err(_) => Finding::error(Area::Files, format!("{url} does not answer"), ELSEWHERE),
        },
        Err(error) => Finding::error(Area::Files, format!("{url} cannot be opened: {error}"), ELSEWHERE),
    }
}

async fn try_out(files: &Arc<dyn ObjectStore>) -> Result<(), String> {
    let name = Path::from(format!("torg-doctor-{:016x}", rand::random::<u64>()));
    files.put(&name, PROBE.into()).await.map_err(|error| format!("nothing can be written: {error}"))?;
    let read = async {
        let got = files.get(&name).await.map_err(|error| error.to_string())?;
        got.bytes().await.map_err(|error| error.to_string())
    };
    let read = read.await;
    files
        .delete(&name)
        .await
        .map_err(|error| format!("{name} was written and cannot be deleted: {error}"))?;
    match read {
        Ok(bytes) if bytes == PROBE => Ok(()),
        Ok(_) => Err("what is read is not what was written".to_owned()),
        Err(why) => Err(format!("what was written cannot be read: {why}")),
    }
}
