//! Checks the catalogue and its past.

use std::sync::Arc;

use catalog::Catalogue;

use super::finding::{Area, Finding, Findings};
use node::catalogue::{load_catalogue, read_lineage};
use node::config::Config;

/// Reads the catalogue files; `None` if they cannot be used.
pub(super) fn check(config: &Config, found: &mut Findings) -> Option<Arc<Catalogue>> {
    let hint = "`torg catalog check` lists everything that is wrong";
    let catalogue = match load_catalogue(&config.offers.catalogue_dir) {
        Ok(catalogue) => Arc::new(catalogue),
        Err(error) => {
            found.add(Finding::failed(Area::Catalogue, &error, hint));
            return None;
        }
    };
    found.add(match read_lineage(&config.offers.catalogue_past_dir, Arc::clone(&catalogue)) {
        Ok(_) => Finding::ok(
            Area::Catalogue,
            format!("{}, version {}: {} categories", catalogue.name(), catalogue.version(), catalogue.len()),
        ),
        Err(error) => Finding::failed(Area::Catalogue, &error, hint),
    });
    Some(catalogue)
}
