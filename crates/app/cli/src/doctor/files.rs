//! Checks the object store of uploads and photos: writes, reads and deletes a test file, and looks
//! up the files of some photos.

mod faults;

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use store::Store;
use tokio::time::timeout;

use self::faults::{Fault, remedy_for};
use super::finding::{Area, Finding};
use super::folders::{Past, State, files_folder, remedy, state};
use super::limits::{ANSWER_TIME_MAX, PHOTOS_AT_ONCE, PHOTOS_MAX};
use node::config::Config;

const PROBE: &[u8] = b"torg doctor";

/// Tests the object store. Also looks up photos that the store lists, if the store is available.
pub(super) async fn check(config: &Config, store: Option<&Store>, past: &Past) -> Vec<Finding> {
    let url = &config.files.url;
    if let Some(folder) = files_folder(config) {
        match state(&folder) {
            // Opening the folder would create it.
            State::ToBeMade => return vec![past.missing(Area::Files, &url.to_string())],
            State::Useless(why) => {
                let what = format!("{url} cannot be used: {why}");
                return vec![Finding::error(Area::Files, what, remedy(&why, "files.url"))];
            }
            State::Writable => {}
        }
    }
    let fault = match photos::files::open_to_check(url.expose()) {
        Ok(files) => match timeout(ANSWER_TIME_MAX, try_out(&files)).await {
            Ok(Ok(())) => {
                let what = format!("{url} takes files, gives them back and deletes them");
                let mut found = vec![Finding::ok(Area::Files, what)];
                if let Some(store) = store {
                    found.extend(look_for_photos(&files, store, &url.to_string()).await);
                }
                return found;
            }
            Ok(Err(fault)) => fault,
            Err(_) => Fault::silent(),
        },
        Err(error) => Fault::of_opening(&error),
    };
    let what = format!("{url}: {}", fault.what);
    vec![Finding::error(Area::Files, what, remedy_for(fault.kind, config))]
}

async fn try_out(files: &Arc<dyn ObjectStore>) -> Result<(), Fault> {
    let name = Path::from(format!("torg-doctor-{:016x}", rand::random::<u64>()));
    let put = files.put(&name, PROBE.into()).await;
    put.map_err(|error| Fault::of("nothing can be written", &error))?;
    let read = async { files.get(&name).await?.bytes().await };
    let read = read.await;
    let deleted = files.delete(&name).await;
    deleted.map_err(|error| Fault::of(&format!("{name} was written and cannot be deleted"), &error))?;
    match read {
        Ok(bytes) if bytes == PROBE => Ok(()),
        Ok(_) => Err(Fault::other("what is read is not what was written")),
        Err(error) => Err(Fault::of("what was written cannot be read", &error)),
    }
}

/// Looks up the files of photos at several places of the photo table, within a time limit. Returns
/// `None` if there are no photos.
async fn look_for_photos(files: &Arc<dyn ObjectStore>, store: &Store, url: &str) -> Option<Finding> {
    let (mut photos, mut missing) = (0, Vec::new());
    let looks = async {
        for _ in 0..PHOTOS_MAX / PHOTOS_AT_ONCE {
            let after = photos::place(rand::random());
            let mut seen = photos::survey(store, &**files, Some(after), PHOTOS_AT_ONCE).await?;
            photos += seen.photos;
            missing.append(&mut seen.missing);
        }
        photos::Result::Ok(())
    };
    let failed = timeout(ANSWER_TIME_MAX, looks).await.ok().and_then(Result::err);
    match failed {
        // The store predates photos.
        Some(photos::PhotoError::Store(store::Error::UnknownTable { .. })) => None,
        Some(error) => {
            let what = format!("photos cannot be looked for: {error}");
            Some(Finding::error(Area::Files, what, "see whether this user may read all of files.url"))
        }
        None => judge_photos(url, photos, &missing),
    }
}

fn judge_photos(url: &str, photos: u64, missing: &[String]) -> Option<Finding> {
    if photos == 0 {
        return None;
    }
    let Some(first) = missing.first() else {
        return Some(Finding::ok(
            Area::Files,
            format!("the files of {photos} photos were looked for: all are there"),
        ));
    };
    let what = format!(
        "of {photos} photos that were looked for in {url}, files of {} are missing or cut short, such as {first}",
        missing.len()
    );
    let remedy = "see whether files.url names the place where they were, and restore its files from a copy";
    Some(Finding::error(Area::Files, what, remedy))
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn photos_without_files_are_an_error_and_no_photos_are_nothing() {
        assert_eq!(judge_photos("file:x", 0, &[]), None);
        assert_eq!(judge_photos("file:x", 3, &[]).unwrap().severity, Severity::Ok);
        let told = judge_photos("file:x", 3, &["ab/x.jpg".to_owned()]).unwrap();
        assert!(told.severity == Severity::Error && told.what.contains("files of 1 are missing"), "{told:?}");
    }
}
