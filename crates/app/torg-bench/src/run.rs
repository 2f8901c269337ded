//! Options that all benchmarks have, and the location of a run's stores.

use std::path::{Path, PathBuf};

use clap::Args;
use node::config::{BuiltInStage, Config, Url};

use crate::process;

#[derive(Clone, Debug, Args)]
pub(crate) struct Run {
    /// fjall:DIR (made and removed again; by default a folder beside the current one) or
    /// postgres://...
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Prints only the JSON line.
    #[arg(long)]
    json: bool,
}

impl Run {
    /// The folder of embedded stores.
    pub(crate) fn folder(&self) -> PathBuf {
        let given = self.store.as_deref().and_then(|url| url.strip_prefix("fjall:"));
        given.map_or_else(|| PathBuf::from(format!("torg-bench-{}", std::process::id())), PathBuf::from)
    }

    /// The server of the store, if it is PostgreSQL.
    pub(crate) fn postgres(&self) -> Option<&str> {
        self.store.as_deref().filter(|url| url.starts_with("postgres"))
    }

    pub(crate) fn engine(&self) -> &'static str {
        if self.postgres().is_some() { "postgres" } else { "fjall" }
    }

    /// The store in this schema of the server, or else in this folder.
    pub(crate) fn store_url(&self, schema: &str, folder: &Path) -> String {
        match self.postgres() {
            Some(url) => {
                let sign = if url.contains('?') { '&' } else { '?' };
                format!("{url}{sign}schema={schema}")
            }
            None => format!("fjall:{}", folder.join("store").display()),
        }
    }

    /// Prints a line for people.
    pub(crate) fn say(&self, line: &str) {
        if !self.json {
            process::print_line(line);
        }
    }
}

/// The configuration of a marketplace under measurement: the defaults, in this folder. Offers of a
/// benchmark have photos that do not exist and random prices, so the stages for these are left out.
pub(crate) fn market_config(data_dir: PathBuf, store_url: &str) -> Config {
    let mut config = Config { data_dir, ..Config::default() };
    config.feeds.spool_dir = config.data_dir.join("spool");
    config.tasks.runs_dir = config.data_dir.join("runs");
    config.files.url = Url::from(&*format!("file:{}", config.data_dir.join("files").display()));
    config.store.url = Url::from(store_url);
    config.stages.built_in = vec![BuiltInStage::Expiry, BuiltInStage::Evolution];
    config
}
