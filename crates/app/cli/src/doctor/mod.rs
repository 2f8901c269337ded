//! `torg doctor`: checks everything that the configuration names, and suggests remedies.
//!
//! Files, folders, the store, Kafka and configured stages are checked directly. Everything else is
//! asked of a running process: the one that is named, or the one that listens on the configured
//! port. Each area has its own file, in which requests are separate from judgement.

mod access;
mod catalogue;
mod clocks;
mod closed;
mod configuration;
mod files;
mod finding;
mod folders;
mod keeper;
mod limits;
mod machine;
mod postgres;
mod process;
mod stages;
mod store;
mod tasks;
mod tls;
mod topics;

use clap::Args;
use clock::Clock;

use self::closed::Closed;
use self::finding::{Area, Finding, Findings, Severity};
use self::keeper::Keeper;
use super::remote::Place;
use node::config::{Config, Effective, Error};
use terminal::errors::advised;
use terminal::{json, print, print_words};

/// How to look, and how to say it.
#[derive(Debug, Args)]
pub(crate) struct Examination {
    /// Prints one object of JSON instead of lines.
    #[arg(long)]
    json: bool,
    /// Ends with exit code 1 on warnings, too.
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    place: Place,
}

/// Runs all checks. Only errors lead to exit code 1; notes and warnings do not.
pub(crate) async fn run(asked: Examination, loaded: Result<Effective, Error>) -> anyhow::Result<()> {
    let mut found = Findings::default();
    match loaded {
        Ok(effective) => {
            found.extend(configuration::judge(&effective));
            examine(&asked.place, &effective.config, &mut found).await;
        }
        Err(error) => found.add(configuration::refused(&error)),
    }
    found.sort();
    if asked.json {
        print(&[json(&found.json())?])?;
    } else {
        print_words(&found.lines())?;
    }
    let wrong = found.count(Severity::Error) + if asked.strict { found.count(Severity::Warning) } else { 0 };
    if wrong == 0 {
        return Ok(());
    }
    Err(advised(found.verdict(), "do what stands below each of them, and ask again"))
}

async fn examine(place: &Place, config: &Config, found: &mut Findings) {
    let clock = Clock::system();
    let demo = demo::traces(&config.data_dir);
    found.extend(tls::check(config, clock.now()));
    let keeper = folders::store_folder(config).and_then(|store| Keeper::of(&store));
    let holder = process::find(place, config, demo.as_ref(), keeper.as_ref(), found).await;
    let process = holder.process();
    found.add(machine::check(config, process).await);
    if let Some(process) = process {
        found.extend(process.check(&clock).await);
    }
    // Runs before the store is opened, so that the store's connections are not counted.
    let postgres = postgres::check(config, process.is_some(), &clock).await;
    let store::Opened { store, is_locked, past } =
        store::check(config, &holder, keeper.as_ref(), found).await;
    found.extend(holder.silent().map(|silent| silent.judge(is_locked, keeper.as_ref())));
    found.extend(folders::check(config, &past));
    found.extend(postgres);
    found.extend(access::check(config, store.as_ref(), process, &clock).await);
    let mut closed = Closed::default();
    found.extend(topics::check(config, store.as_ref(), process, clock.now().as_ms(), &mut closed).await);
    found.extend(files::check(config, store.as_ref(), &past).await);
    if let Some(catalogue) = catalogue::check(config, found) {
        found.extend(stages::outside(config, &catalogue, store.as_ref(), demo.is_some()).await);
    }
    found.extend(tasks::files(config));
    if let Some(process) = process {
        // A process reports its own problems best. For an older version the findings are assembled
        // here.
        if let Some(problems) = process.problems(&mut closed).await {
            found.extend(problems);
        } else {
            found.extend(stages::at_work(process, clock.now().as_ms(), &mut closed).await);
            found.extend(tasks::at_work(process, &mut closed).await);
        }
    }
    found.extend(closed.finding());
    if let Some(store) = store
        && let Err(error) = store.close().await
    {
        found.add(Finding::failed(Area::Store, &error.into(), "look at docs/store.md"));
    }
}
