//! `torg catalog check`: validates catalogue files and prints every error.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;

use node::catalogue::{read_catalogue, read_lineage};
use terminal::errors::advised;
use terminal::{counted, json, print, print_words, say};

/// Validates the catalogue files of a folder, together with the past of that catalogue if it is
/// given. Prints one error per line to stdout.
pub(super) fn run(folder: &Path, past: Option<&Path>, as_json: bool) -> anyhow::Result<()> {
    let catalogue = match read_catalogue(folder) {
        Ok(catalogue) => Arc::new(catalogue),
        Err(catalog::Error { problems, more }) => {
            if as_json {
                let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
                print(&[json(&json!({ "problems": told, "more_problems": more }))?])?;
            } else {
                print_words(&problems)?;
            }
            let unlisted = if more > 0 { format!(", {more} of them not listed") } else { String::new() };
            let count = counted((problems.len() + more) as u64, "problem");
            bail!(advised(
                format!("{count} in {}{unlisted}", folder.display()),
                "mend the files and check again"
            ));
        }
    };
    let (name, version, categories) = (catalogue.name(), catalogue.version(), catalogue.len());
    let attributes = catalogue.attributes().count();
    let lineage = match past.filter(|past| !past.as_os_str().is_empty()) {
        Some(past) => Some(read_lineage(past, Arc::clone(&catalogue))?),
        None => None,
    };
    let answer = json!({
        "name": name,
        "version": version,
        "categories": categories,
        "attributes": attributes,
        "from_version": lineage.as_ref().map(stages::Lineage::first),
        "problems": [],
        "more_problems": 0,
    });
    say(as_json, &answer, || {
        let found = format!(
            "{name}, version {version}: {categories} categories, {attributes} attributes, nothing wrong"
        );
        let past = lineage.iter().map(|lineage| {
            format!("its past leads from version {} to version {}", lineage.first(), lineage.version())
        });
        std::iter::once(found).chain(past).collect()
    })
}
