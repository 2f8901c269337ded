//! `torg catalog find | show | check | survey | accuracy`: reads the configured catalogue without a
//! server.

mod accuracy;
mod check;
mod survey;
mod words;

use std::path::PathBuf;

use anyhow::bail;
use catalog::{Catalogue, Category};
use clap::Subcommand;
use serde_json::json;

use self::words::{described, found, named, shown, whole};
use node::catalogue::load_catalogue;
use node::config::Config;
use terminal::errors::advised;
use terminal::say;
use text::nearest;

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
        /// Prints a list of JSON objects instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// A category, what is below it, and what its offers say; without an id the roots.
    Show {
        /// Such as `sg-4-4-3-2`; `torg catalog find` finds it by a name.
        id: Option<String>,
        /// The language of the names.
        #[arg(long, value_name = "LANGUAGE", default_value = "en")]
        language: String,
        /// Prints the category, or the list of roots, as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Reads a folder of catalogue files and says everything that is wrong with them.
    Check {
        /// By default the one of the configuration, or the built-in catalogue.
        folder: Option<PathBuf>,
        /// Prints one object of JSON instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Reads all offers and says how many are of an earlier catalogue, how many of them can be
    /// moved to the present one, and what hinders the others. Changes nothing.
    Survey {
        /// One object of JSON instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Says how often the category of a labelled title is recognised, on the part that words were
    /// chosen by and on the part that was held out.
    Accuracy(accuracy::Measure),
}

pub(crate) async fn run(command: CatalogCommand, config: &Config) -> anyhow::Result<()> {
    let configured = &config.offers.catalogue_dir;
    match command {
        CatalogCommand::Find { text, language, json } => {
            let catalogue = load_catalogue(configured)?;
            let candidates = catalogue.find_category(&text, Some(&language));
            if candidates.is_empty() {
                bail!(advised(
                    format!("nothing is called {text:?}"),
                    "try another word, or look from the roots with `torg catalog show`"
                ));
            }
            let candidate = |candidate: &catalog::Candidate<'_>| {
                let mut object = described(candidate.category, &language);
                object["points"] = json!(candidate.points);
                object
            };
            let answer: Vec<_> = candidates.iter().map(candidate).collect();
            say(json, &answer, || found(&candidates, &language))
        }
        CatalogCommand::Show { id, language, json } => {
            let catalogue = load_catalogue(configured)?;
            match id {
                None => {
                    let roots: Vec<_> = catalogue.roots().map(|root| described(root, &language)).collect();
                    say(json, &roots, || catalogue.roots().map(|root| named(root, &language)).collect())
                }
                Some(id) => {
                    let category = category(&catalogue, &id)?;
                    say(json, &whole(category, &language), || shown(category, &language))
                }
            }
        }
        CatalogCommand::Check { folder: Some(folder), json } => check::run(&folder, None, json),
        CatalogCommand::Check { folder: None, json } => {
            check::run(configured, Some(&config.offers.catalogue_past_dir), json)
        }
        CatalogCommand::Survey { json } => survey::run(config, json).await,
        CatalogCommand::Accuracy(measure) => accuracy::run(&measure, configured),
    }
}

fn category<'c>(catalogue: &'c Catalogue, id: &str) -> anyhow::Result<Category<'c>> {
    catalogue.category(id).ok_or_else(|| {
        let meant = nearest(id, catalogue.categories().map(Category::id));
        let hint = meant.map_or_else(
            || "find one by its name with `torg catalog find`".to_owned(),
            |meant| format!("did you mean {meant:?}?"),
        );
        advised(format!("there is no category {id:?}"), hint)
    })
}
