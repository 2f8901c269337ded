//! `torg feed check FILE`: reports what a load would say about a file, without a server.

use std::fs::File;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use feedfile::{Judge, Language, Options, Outcome, Report};
use feeds::Offline;
use unify::Unifier;
use wire::torg::feeds::v1::Defaults;
use wire::torg::offers::v1::Place;

use super::super::print;
use super::bar::Bar;
use node::catalogue::load_catalogue;
use node::config::Config;
use terminal::errors::advised;
use terminal::print_words;

/// What to check, and how.
#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The file, packed or not; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Prints one object of JSON instead of a report.
    #[arg(long)]
    json: bool,
    /// With --json: also the problems, as many of each code as --limit says.
    #[arg(long, requires = "json")]
    problems: bool,
    /// The language of the report.
    #[arg(long, value_enum, default_value_t = Words::En)]
    language: Words,
    /// Problems of each code that are shown; the rest is counted.
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
    /// The currency of prices that name none.
    #[arg(long, value_name = "CODE", value_parser = currency)]
    currency: Option<String>,
    /// Where offers are that do not say so.
    #[arg(long, value_name = "TEXT")]
    address: Option<String>,
    /// The country in which places are looked for first, two letters.
    #[arg(long, value_name = "CODE")]
    country: Option<String>,
    /// A folder of catalogue files; by default the one of the configuration, or the built-in
    /// catalogue.
    #[arg(long, value_name = "DIR", conflicts_with = "file_only")]
    catalogue: Option<PathBuf>,
    /// Looks at the file alone: not whether categories, attributes and places are known.
    #[arg(long)]
    file_only: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Words {
    En,
    Ru,
}

impl From<Words> for Language {
    fn from(words: Words) -> Self {
        match words {
            Words::En => Self::English,
            Words::Ru => Self::Russian,
        }
    }
}

fn currency(text: &str) -> Result<String, String> {
    let is_code = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_code { Ok(text.to_uppercase()) } else { Err("three letters such as RUB are expected".to_owned()) }
}

/// Runs the check. Rejected offers make the command fail.
pub(super) fn run(check: &Check, config: &Config) -> anyhow::Result<()> {
    let (input, bytes) = open(&check.file)?;
    let mut bar = Bar::for_input(bytes);
    let report = if check.file_only {
        check.read(input, &mut bar, &mut ())
    } else {
        let offline = check.catalogue_side(&config.offers.catalogue_dir)?;
        check.read(input, &mut bar, &mut offline.session())
    };
    bar.clear();
    check.say(&report)?;
    verdict(&report)
}

impl Check {
    fn catalogue_side(&self, configured: &Path) -> anyhow::Result<Offline> {
        let folder = self.catalogue.as_deref().unwrap_or(configured);
        let catalogue = Arc::new(load_catalogue(folder)?);
        let places = Arc::new(geo::Places::builtin().context("the built-in places")?);
        let unifier = Unifier::new(Arc::clone(&catalogue), places).context("the catalogue")?;
        let address = self.address.clone().unwrap_or_default();
        let place = self.address.is_some().then(|| Place { address, ..Place::default() });
        let defaults = Defaults {
            currency: self.currency.clone().unwrap_or_default(),
            country: self.country.as_deref().unwrap_or_default().to_uppercase(),
            place: place.into(),
            ..Defaults::default()
        };
        Ok(Offline::new(Arc::new(unifier), catalogue, defaults))
    }

    fn read(&self, input: impl Read + Send, bar: &mut Bar, judge: &mut dyn Judge) -> Report {
        let options = Options { currency: self.currency.clone().unwrap_or_default(), ..Options::default() };
        feedfile::check_with(input, options, bar, judge, self.limit)
    }

    fn say(&self, report: &Report) -> anyhow::Result<()> {
        let language = Language::from(self.language);
        if !self.json {
            let name = if is_stdin(&self.file) { "stdin".into() } else { self.file.to_string_lossy() };
            return print_words(&[report.render(&name, language).trim_end()]);
        }
        let mut object = report.to_json();
        if self.problems {
            object["problems"] = report.problems_to_json(language);
        }
        print(&[serde_json::to_string_pretty(&object)?])
    }
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// The input, and its size in bytes if it is known.
pub(super) fn open(file: &Path) -> anyhow::Result<(Box<dyn Read + Send>, Option<u64>)> {
    if is_stdin(file) {
        return Ok((Box::new(std::io::stdin()), None));
    }
    let unreadable = |error: std::io::Error| {
        advised(format!("{}: {error}", file.display()), "give the name of a file, or - for standard input")
    };
    let opened = File::open(file).map_err(unreadable)?;
    let about = opened.metadata().map_err(unreadable)?;
    if about.is_dir() {
        return Err(unreadable(std::io::ErrorKind::IsADirectory.into()));
    }
    let bytes = about.is_file().then_some(about.len());
    Ok((Box::new(opened), bytes))
}

fn verdict(report: &Report) -> anyhow::Result<()> {
    // Flush stdout before the error goes to stderr.
    std::io::stdout().flush().ok();
    let summary = &report.summary;
    if let Outcome::Broken(problem) = &summary.outcome {
        let hint = problem.code.texts(Language::English).remedy;
        bail!(advised(format!("the file cannot be read to its end: {}", problem.message), hint));
    }
    if summary.rejected > 0 {
        let counts = format!("{} of {} offers would be rejected", summary.rejected, summary.offers);
        bail!(advised(counts, "mend what the report names and check again"));
    }
    Ok(())
}
