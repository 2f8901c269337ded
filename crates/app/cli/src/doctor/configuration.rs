//! Checks the configuration: whether it can be read, and whether every key and variable is known.

use super::finding::{Area, Finding};
use node::config::{Effective, Error};

/// The finding for an unusable configuration, which stops all other checks.
pub(super) fn refused(error: &Error) -> Finding {
    Finding::error(Area::Configuration, error.to_string(), error.hint())
}

/// Warnings about a usable configuration.
pub(super) fn judge(effective: &Effective) -> Vec<Finding> {
    let doubts = effective.warnings.iter().map(|warning| {
        let remedy = "correct its name, or unset it; `torg config` prints every key";
        Finding::warning(Area::Configuration, warning, remedy)
    });
    let mut found: Vec<Finding> = doubts.collect();
    if found.is_empty() {
        let set = effective.set_keys();
        let what = if set == 0 {
            "all values are defaults".to_owned()
        } else {
            format!("{set} values are set, all of them known")
        };
        found.push(Finding::ok(Area::Configuration, what));
    }
    found
}
