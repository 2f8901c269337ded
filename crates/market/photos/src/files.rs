//! Opens the object store for files.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;

use crate::error::{PhotoError, Result};
#[cfg(feature = "s3")]
use crate::limits::{CHECK_RETRIES_MAX, CHECK_RETRY_TIME_MAX};

/// Opens `file:FOLDER` (created if missing), `memory:`, or, with the feature `s3`,
/// `s3://BUCKET/PREFIX`. Credentials and endpoint of S3 come from the environment variables
/// `AWS_...`.
pub fn open(place: &str) -> Result<Arc<dyn ObjectStore>> {
    open_with(place, environment())
}

/// Like [`open`], with few retries: to check whether the store answers.
pub fn open_to_check(place: &str) -> Result<Arc<dyn ObjectStore>> {
    open_by(place, environment(), Patience::Little)
}

/// Environment variables in UTF-8.
fn environment() -> impl Iterator<Item = (String, String)> {
    let texts = std::env::vars_os().map(|(name, value)| (name.into_string(), value.into_string()));
    texts.filter_map(|(name, value)| name.ok().zip(value.ok()))
}

/// The number of retries.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "s3"), allow(dead_code, reason = "folders answer at once"))]
enum Patience {
    Usual,
    Little,
}

/// Like [`open`], with other variables than those of the environment.
pub fn open_with(
    place: &str,
    variables: impl IntoIterator<Item = (String, String)>,
) -> Result<Arc<dyn ObjectStore>> {
    open_by(place, variables, Patience::Usual)
}

fn open_by(
    place: &str,
    variables: impl IntoIterator<Item = (String, String)>,
    patience: Patience,
) -> Result<Arc<dyn ObjectStore>> {
    match place.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(InMemory::new())),
        Some(("file", folder)) if !folder.is_empty() => open_folder(folder),
        Some(("s3", _)) => open_s3(place, variables, patience),
        _ => Err(PhotoError::BadPlace(place.to_owned(), "")),
    }
}

fn open_folder(folder: &str) -> Result<Arc<dyn ObjectStore>> {
    let folder = folder.strip_prefix("//").unwrap_or(folder);
    std::fs::create_dir_all(folder)
        .map_err(|error| object_store::Error::Generic { store: "folder", source: Box::new(error) })?;
    Ok(Arc::new(LocalFileSystem::new_with_prefix(folder)?.with_fsync(true)))
}

#[cfg(not(feature = "s3"))]
fn open_s3(
    place: &str,
    _: impl IntoIterator<Item = (String, String)>,
    _: Patience,
) -> Result<Arc<dyn ObjectStore>> {
    Err(PhotoError::BadPlace(place.to_owned(), " (this program was built without S3)"))
}

#[cfg(feature = "s3")]
fn open_s3(
    place: &str,
    variables: impl IntoIterator<Item = (String, String)>,
    patience: Patience,
) -> Result<Arc<dyn ObjectStore>> {
    use object_store::RetryConfig;
    use object_store::aws::AmazonS3Builder;
    use object_store::prefix::PrefixStore;

    // Keep a provider that the program installed before.
    net::install_ring();
    let mut builder = AmazonS3Builder::new().with_url(place);
    for (name, value) in variables.into_iter().filter(|(name, _)| name.starts_with("AWS_")) {
        if let Ok(key) = name.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    if let Patience::Little = patience {
        builder = builder.with_retry(RetryConfig {
            max_retries: CHECK_RETRIES_MAX,
            retry_timeout: CHECK_RETRY_TIME_MAX,
            ..RetryConfig::default()
        });
    }
    let bucket = builder.build()?;
    let prefix = place.trim_start_matches("s3://").split_once('/').map_or("", |(_, prefix)| prefix);
    Ok(Arc::new(PrefixStore::new(bucket, prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_opened_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        for place in
            [format!("file:{}", inner.display()), format!("file://{}", inner.display()), "memory:".to_owned()]
        {
            assert!(open(&place).is_ok(), "{place}");
        }
        assert!(inner.is_dir());
        for place in ["", "file:", "memory:x", "http://example.com/", "/tmp"] {
            assert!(matches!(open(place), Err(PhotoError::BadPlace(..))), "{place}");
        }
    }

    #[cfg(feature = "s3")]
    #[test]
    fn a_bucket_is_opened_without_asking_the_network() {
        assert!(open("s3://bucket/photos").is_ok());
    }
}
