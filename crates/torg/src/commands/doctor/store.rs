//! The store: whether it can be opened, whether it is sound, and whether its tables are those of this program.

use std::collections::BTreeSet;

use store::{Read as _, Store};

use super::finding::{Area, Finding, Findings};
use super::limits::{DAMAGES_TOLD_MAX, PATIENCE_MS, ROWS_READ_MAX, SAMPLE_ROWS};
use super::process::Process;
use crate::config::Config;
use crate::parts::{schema, try_open_store};

const RESTORE: &str = "restore this store from a copy; `torg store check` lists all that is damaged";

/// Opens the store to look at it; `None` where that cannot be done, or where a process holds it.
pub(super) async fn check(config: &Config, process: Option<&Process>, found: &mut Findings) -> Option<Store> {
    if config.store.url.scheme() == "memory" {
        let what = "the store is kept in memory and ends with its process";
        found.add(Finding::note(Area::Store, what, "name a folder or a database with --store to keep it"));
        return None;
    }
    match try_open_store(&impatient(config), false).await {
        Ok(store) => {
            look_at(&store, config, found).await;
            Some(store)
        }
        Err(error) => {
            found.add(refused(&error, process));
            None
        }
    }
}

/// The same configuration for somebody who does not wait for a database that is away.
fn impatient(config: &Config) -> Config {
    let mut config = config.clone();
    let postgres = &mut config.store.postgres;
    postgres.patience_ms = postgres.patience_ms.min(PATIENCE_MS);
    postgres.connect_timeout_ms = postgres.connect_timeout_ms.min(PATIENCE_MS);
    config
}

fn refused(error: &store::Error, process: Option<&Process>) -> Finding {
    match (error, process) {
        (store::Error::Missing { place }, _) => {
            Finding::note(Area::Store, format!("there is no store at {place} yet: `torg serve` makes it"), "")
        }
        (store::Error::Locked { .. }, Some(Process { url, .. })) => {
            Finding::ok(Area::Store, format!("the process at {url} has it open"))
        }
        (store::Error::Locked { path }, None) => Finding::error(
            Area::Store,
            format!("{error}, which does not answer at the configured address"),
            format!("give its address with --server, or find it with `fuser {path}/lock`"),
        ),
        _ => Finding::error(Area::Store, error.to_string(), error.hint().unwrap_or("look at docs/store.md")),
    }
}

async fn look_at(store: &Store, config: &Config, found: &mut Findings) {
    let place = &config.store.url;
    if let Err(error) = store.health() {
        found.add(Finding::error(Area::Store, error.to_string(), error.hint().unwrap_or(RESTORE)));
    }
    match read(store).await {
        Ok(Looked { damages, more, .. }) if !damages.is_empty() => {
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let told: Vec<String> = damages.iter().map(ToString::to_string).collect();
            found.add(Finding::error(Area::Store, format!("{}{more}", told.join("; ")), RESTORE));
        }
        Ok(Looked { rows, whole: true, .. }) => {
            found.add(Finding::ok(Area::Store, format!("{place} is sound: all {rows} rows were read")));
        }
        Ok(Looked { rows, .. }) => found.add(Finding::ok(
            Area::Store,
            format!("{place} can be read ({rows} rows of its tables; `torg store check` reads all of them)"),
        )),
        Err(error) => {
            found.add(Finding::error(Area::Store, error.to_string(), error.hint().unwrap_or(RESTORE)));
        }
    }
    found.extend(missing_tables(store));
}

/// What was read.
struct Looked {
    rows: u64,
    /// All rows, not only the first ones.
    whole: bool,
    damages: Vec<store::Error>,
    /// Damages beyond these.
    more: u64,
}

/// Reads a small store whole, and the beginning of every table of a large one.
async fn read(store: &Store) -> store::Result<Looked> {
    let (mut damages, mut more) = (Vec::new(), 0);
    if store.approximate_rows().await? <= ROWS_READ_MAX {
        let mut note = |damage| {
            if damages.len() < DAMAGES_TOLD_MAX {
                damages.push(damage);
            } else {
                more += 1;
            }
        };
        let counts = store.verify(&mut note).await?;
        return Ok(Looked { rows: counts.values().sum(), whole: true, damages, more });
    }
    let mut rows = 0;
    for table in store.schema().tables() {
        rows += store.scan(&table.scan().limit(SAMPLE_ROWS)).await?.rows.len() as u64;
    }
    Ok(Looked { rows, whole: false, damages, more })
}

/// Tables of this program that the store does not have yet.
fn missing_tables(store: &Store) -> Option<Finding> {
    let wanted = schema().ok()?;
    let there: BTreeSet<&str> = store.schema().tables().iter().map(|table| table.name).collect();
    let missing = wanted.tables().iter().map(|table| table.name).filter(|name| !there.contains(name));
    let missing: Vec<&str> = missing.collect();
    (!missing.is_empty()).then(|| {
        let what = format!("the store is from an earlier version: it has no {} yet", missing.join(", "));
        Finding::note(Area::Store, what, "`torg serve` of this version makes these tables when it starts")
    })
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn what_keeps_a_store_from_being_opened_is_told_with_what_to_do() {
        let locked = store::Error::Locked { path: "data/store".to_owned() };
        let told = refused(&locked, None);
        assert_eq!(told.severity, Severity::Error);
        assert!(told.remedy.contains("--server") && told.remedy.contains("data/store/lock"), "{told:?}");
        let missing = store::Error::Missing { place: "data/store".to_owned() };
        assert_eq!(refused(&missing, None).severity, Severity::Note);
        let corrupt = store::Error::Corrupt { place: "p".to_owned(), detail: "d".to_owned() };
        assert_eq!(refused(&corrupt, None).remedy, "restore this store from a copy");
    }
}
