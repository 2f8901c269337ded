//! Serves files, independent of an HTTP framework.

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::path::Path;

use crate::error::PhotoError;
use crate::limits::CACHE_SECONDS;
use crate::photos::Photos;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// `None`: the client has the file; answer `304 Not Modified`.
    pub bytes: Option<Bytes>,
    /// Headers of the response, `ETag` and `Cache-Control` among them.
    pub headers: Vec<(&'static str, String)>,
}

#[derive(Debug, thiserror::Error)]
pub enum NotServed {
    /// Answer `404 Not Found`.
    #[error("there is no such photo")]
    NotFound,
    /// Answer `503 Service Unavailable`.
    #[error(transparent)]
    Unavailable(#[from] PhotoError),
}

impl Photos {
    /// The file of a [`Size::path`](crate::Size::path) with headers. `if_none_match` is the header
    /// of the request.
    ///
    /// Only names made by this crate are read: no path leads out of the object store.
    pub async fn serve(&self, path: &str, if_none_match: Option<&str>) -> Result<Served, NotServed> {
        if !is_photo_path(path) {
            return Err(NotServed::NotFound);
        }
        let tag = etag(path);
        let is_known = if_none_match.is_some_and(|known| {
            known.split(',').any(|one| {
                matches!(one.trim().trim_start_matches("W/"), "*")
                    || one.trim().trim_start_matches("W/") == tag
            })
        });
        let bytes = if is_known { None } else { Some(self.read_file(path).await?) };
        Ok(Served { bytes, headers: headers(tag) })
    }

    async fn read_file(&self, path: &str) -> Result<Bytes, NotServed> {
        let files = self.files();
        match files.get(&Path::from(path)).await {
            Ok(found) => Ok(found.bytes().await.map_err(PhotoError::from)?),
            Err(object_store::Error::NotFound { .. }) => Err(NotServed::NotFound),
            Err(error) => Err(NotServed::Unavailable(error.into())),
        }
    }
}

/// Other sites may show a photo; nothing in it is executed.
fn headers(tag: String) -> Vec<(&'static str, String)> {
    vec![
        ("content-type", "image/jpeg".to_owned()),
        ("etag", tag),
        ("cache-control", format!("public, max-age={CACHE_SECONDS}, immutable")),
        ("x-content-type-options", "nosniff".to_owned()),
        ("content-security-policy", "default-src 'none'; sandbox".to_owned()),
    ]
}

/// The `ETag` of a file. It depends on the name only, which always means the same bytes.
#[must_use]
pub fn etag(path: &str) -> String {
    format!("\"{}\"", &blake3::hash(path.as_bytes()).to_hex()[..32])
}

/// `ab/abcd.../0123abcd-800.jpg`.
pub(crate) fn file_path(hash: &str, recipe: &str, side: u32) -> String {
    format!("{}/{hash}/{recipe}-{side}.jpg", &hash[..2])
}

/// Whether a path is a file name of this crate.
#[must_use]
pub fn is_photo_path(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [folder, hash, file] = parts[..] else { return false };
    let Some((recipe, side)) = file.strip_suffix(".jpg").and_then(|name| name.split_once('-')) else {
        return false;
    };
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let is_side = (1..=6).contains(&side.len()) && side.bytes().all(|b| b.is_ascii_digit());
    is_hex(hash, 64) && hash.starts_with(folder) && folder.len() == 2 && is_hex(recipe, 8) && is_side
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_are_made_here_are_served() {
        let hash = "ab".repeat(32);
        let path = file_path(&hash, "0123abcd", 800);
        assert!(is_photo_path(&path));
        for wrong in [
            "",
            "/",
            "../../etc/passwd",
            "ab/../ab/x.jpg",
            &path.replace("800", "8/0"),
            &path.replace(".jpg", ".svg"),
            &path.replacen("ab/", "cd/", 1),
            &path.to_uppercase(),
            &format!("/{path}"),
            &format!("{path}\0"),
        ] {
            assert!(!is_photo_path(wrong), "{wrong}");
        }
    }
}
