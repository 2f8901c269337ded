//! Loads the configured catalogue and its earlier versions.

use std::path::Path;
use std::sync::Arc;

use catalog::{Catalogue, Sources};
use stages::Lineage;
use terminal::errors::advised;

/// Reads the catalogue in a folder, or the built-in one if the path is empty.
pub fn read_catalogue(folder: &Path) -> catalog::Result<Catalogue> {
    if folder.as_os_str().is_empty() { Catalogue::builtin() } else { Sources::new().directory(folder).load() }
}

/// [`read_catalogue`] with a hint in the error.
pub fn load_catalogue(folder: &Path) -> anyhow::Result<Catalogue> {
    read_catalogue(folder).map_err(|error| {
        advised(error, "mend the files in offers.catalogue_dir, or leave it out for the built-in catalogue")
    })
}

/// Reads earlier versions of the catalogue from a folder; there are none if the path is empty.
pub fn read_lineage(past: &Path, present: Arc<Catalogue>) -> anyhow::Result<Lineage> {
    if past.as_os_str().is_empty() {
        return Ok(Lineage::of(present));
    }
    let wrong = |error: &dyn std::fmt::Display| {
        advised(format!("the catalogue's past: {error}"), "mend the files in offers.catalogue_past_dir")
    };
    // Without this check a misspelt path would count as an empty folder.
    std::fs::read_dir(past).map_err(|error| wrong(&format!("{}: {error}", past.display())))?;
    Lineage::read(past, present).map_err(|error| wrong(&error))
}
