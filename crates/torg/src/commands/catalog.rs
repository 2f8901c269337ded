//! `torg catalog find | show | check | survey | accuracy`: the catalogue of the configuration, without a server.

mod accuracy;
mod survey;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use catalog::{Catalogue, Category, Kind, Use};
use clap::Subcommand;

use super::print;
use crate::config::Config;
use crate::errors::advised;
use crate::marketplace::{load_catalogue, read_catalogue, read_lineage};
use crate::nearest::nearest;

/// What can be asked of a catalogue.
#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    /// Categories that a text may mean: a name, a synonym, a path, an id.
    Find {
        /// Such as `bicycle` or `легковые автомобили`.
        text: String,
        /// The language of the names.
        #[arg(long, value_name = "LANGUAGE", default_value = "en")]
        language: String,
    },
    /// A category, what is below it, and what its offers say; without an id the roots.
    Show {
        id: Option<String>,
        #[arg(long, value_name = "LANGUAGE", default_value = "en")]
        language: String,
    },
    /// Reads a folder of catalogue files and says everything that is wrong with them.
    Check {
        /// By default the one of the configuration, or the built-in catalogue.
        folder: Option<PathBuf>,
    },
    /// Reads all offers and says how many are of an earlier catalogue, how many of them can be moved to the present one, and what hinders the others. Changes nothing.
    Survey {
        /// One object of JSON instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Says how often the category of a labelled title is recognised, on the part that words were chosen by and on the part that was held out.
    Accuracy(accuracy::Measure),
}

/// Runs the command.
pub(crate) async fn run(command: CatalogCommand, config: &Config) -> anyhow::Result<()> {
    let configured = &config.offers.catalogue_dir;
    match command {
        CatalogCommand::Find { text, language } => {
            let catalogue = load_catalogue(configured)?;
            let found = catalogue.find_category(&text, Some(&language));
            if found.is_empty() {
                bail!(advised(
                    format!("nothing is called {text:?}"),
                    "try another word, or look from the roots with `torg catalog show`"
                ));
            }
            let line = |candidate: &catalog::Candidate<'_>| {
                format!("{:>4}  {}", candidate.points, named(candidate.category, &language))
            };
            print(&found.iter().map(line).collect::<Vec<_>>())
        }
        CatalogCommand::Show { id, language } => {
            let catalogue = load_catalogue(configured)?;
            print(&shown(&catalogue, id.as_deref(), &language)?)
        }
        CatalogCommand::Check { folder: Some(folder) } => check(&folder).map(|_| ()),
        CatalogCommand::Check { folder: None } => {
            let catalogue = check(configured)?;
            check_past(&config.offers.catalogue_past_dir, catalogue)
        }
        CatalogCommand::Survey { json } => survey::run(config, json).await,
        CatalogCommand::Accuracy(measure) => accuracy::run(&measure, configured),
    }
}

/// Everything that is wrong goes to stdout, a line each.
fn check(folder: &Path) -> anyhow::Result<Catalogue> {
    let catalogue = match read_catalogue(folder) {
        Ok(catalogue) => catalogue,
        Err(catalog::Error { problems, more }) => {
            print(&problems)?;
            let count = problems.len() + more;
            let count = if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") };
            let unlisted = if more > 0 { format!(", {more} of them not listed") } else { String::new() };
            bail!(advised(
                format!("{count} in {}{unlisted}", folder.display()),
                "mend the files and check again"
            ));
        }
    };
    let (name, version, categories) = (catalogue.name(), catalogue.version(), catalogue.len());
    let attributes = catalogue.attributes().count();
    print(&[format!(
        "{name}, version {version}: {categories} categories, {attributes} attributes, nothing wrong"
    )])?;
    Ok(catalogue)
}

/// Whether a way leads from the earlier versions, if there are any.
fn check_past(past: &Path, catalogue: Catalogue) -> anyhow::Result<()> {
    if past.as_os_str().is_empty() {
        return Ok(());
    }
    let lineage = read_lineage(past, Arc::new(catalogue))?;
    print(&[format!("its past leads from version {} to version {}", lineage.first(), lineage.version())])
}

fn shown(catalogue: &Catalogue, id: Option<&str>, language: &str) -> anyhow::Result<Vec<String>> {
    let Some(id) = id else { return Ok(catalogue.roots().map(|root| named(root, language)).collect()) };
    let Some(category) = catalogue.category(id) else {
        let meant = nearest(id, catalogue.categories().map(Category::id));
        let hint = meant.map_or_else(
            || "find one by its name with `torg catalog find`".to_owned(),
            |meant| format!("did you mean {meant:?}?"),
        );
        bail!(advised(format!("there is no category {id:?}"), hint));
    };
    let mut lines = vec![named(category, language)];
    lines.extend(category.children().map(|child| format!("  {}", named(child, language))));
    lines.extend(category.attributes().map(|used| format!("  {}", attribute(used, language))));
    Ok(lines)
}

fn named(category: Category<'_>, language: &str) -> String {
    let closed = if category.accepts_offers() { "" } else { "  (no offers of its own)" };
    format!("{}  {}{closed}", category.id(), category.path(language))
}

fn attribute(used: Use<'_>, language: &str) -> String {
    let about = used.attribute();
    let required = if used.required() { ", required" } else { "" };
    let unit = about.unit().map(|unit| format!(" in {}", unit.name(language))).unwrap_or_default();
    let values = match used.kind() {
        Kind::One | Kind::Several { .. } => {
            format!(": {}", used.choices().map(catalog::Choice::id).collect::<Vec<_>>().join(", "))
        }
        Kind::Whole { min, max } => format!(" from {min} to {max}"),
        _ => String::new(),
    };
    format!("{} ({}): {}{unit}{values}{required}", about.id(), about.name(language), used.kind().type_name())
}
