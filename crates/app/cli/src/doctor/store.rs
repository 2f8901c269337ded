//! Checks the store: whether it opens, whether it is undamaged, and whether its tables match this
//! program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use store::{Key, Read as _, Scan, Store, TableDef};
use tokio::time::Instant;

use super::finding::{Area, Finding, Findings};
use super::folders::{Past, leftovers};
use super::keeper::Keeper;
use super::limits::{DAMAGES_TOLD_MAX, PATIENCE_MS, READ_TIME_MAX, ROWS_READ_AT_ONCE, ROWS_READ_MAX};
use super::process::{Holder, Process};
use crate::owner;
use node::config::Config;
use node::parts::{schema, try_open_store};

const RESTORE: &str = "restore this store from a copy; `torg store check` lists all that is damaged";
/// A table that has rows once a process has served from the store.
const SERVED: &str = "watcher_settings";

pub(super) struct Opened {
    /// `None` if it cannot be opened, or if a process has it open.
    pub(super) store: Option<Store>,
    pub(super) is_locked: bool,
    /// What the store implies about the folders beside it.
    pub(super) past: Past,
}

pub(super) async fn check(
    config: &Config,
    holder: &Holder,
    keeper: Option<&Keeper>,
    found: &mut Findings,
) -> Opened {
    let process = holder.process().filter(|process| process.is_own);
    let mut opened = Opened { store: None, is_locked: false, past: Past::New };
    if config.store.url.scheme() == "memory" {
        let what = "the store is kept in memory and ends with its process";
        found.add(Finding::note(Area::Store, what, "name a folder or a database with --store to keep it"));
        opened.past = Past::of(process);
        return opened;
    }
    if let Some(stranger) = owner::stranger(config.store.url.expose(), false) {
        found.add(Finding::warning(Area::Store, stranger.what(), stranger.remedy("doctor")));
        opened.past = Past::of(process);
        return opened;
    }
    let is_embedded = config.store.url.scheme() == "fjall";
    match try_open_store(&impatient(config), false).await {
        Ok(store) => {
            look_at(&store, config, found).await;
            if let Some(process) = process.filter(|_| is_embedded) {
                found.add(unused(config, process));
            } else if is_embedded && has_served(&store).await {
                opened.past = Past::Served;
            } else {
                opened.past = Past::of(process);
            }
            opened.store = Some(store);
        }
        Err(error) => {
            opened.is_locked = matches!(error, store::Error::Locked { .. });
            if !matches!(error, store::Error::Missing { .. }) {
                opened.past = Past::of(process);
            }
            found.extend(refused(&error, config, holder, keeper));
        }
    }
    opened
}

/// Whether a process has ever served from this store.
async fn has_served(store: &Store) -> bool {
    let Some(table) = store.schema().tables().iter().find(|table| table.name == SERVED) else { return false };
    store.scan(&Scan::all(table).limit(1)).await.is_ok_and(|page| !page.rows.is_empty())
}

/// A process runs, but it uses another store than this one.
fn unused(config: &Config, process: &Process) -> Finding {
    let what = format!("the process at {} works with another store than {}", process.url, config.store.url);
    Finding::warning(Area::Store, what, SAME)
}

const SAME: &str = "give the doctor the same --data, --store and torg.toml that the process was started with";

/// The same configuration with a short wait for an unreachable database.
fn impatient(config: &Config) -> Config {
    let mut config = config.clone();
    let postgres = &mut config.store.postgres;
    postgres.patience_ms = postgres.patience_ms.min(PATIENCE_MS);
    postgres.connect_timeout_ms = postgres.connect_timeout_ms.min(PATIENCE_MS);
    config
}

fn refused(
    error: &store::Error,
    config: &Config,
    holder: &Holder,
    keeper: Option<&Keeper>,
) -> Option<Finding> {
    let remedy = error.hint().unwrap_or("look at docs/store.md");
    Some(match (error, holder) {
        (store::Error::Missing { place }, _) => missing(place, config, holder),
        (store::Error::Locked { path }, Holder::Torg(process)) => judge_keeper(path, &process.url, keeper),
        // The check of the process reports this.
        (store::Error::Locked { .. }, Holder::Silent(_)) => return None,
        (store::Error::Locked { path }, Holder::Nobody) => {
            let who = match keeper {
                Some(keeper) => format!("process {} has it", keeper.pid),
                None => format!("find it with `fuser {path}/lock`"),
            };
            Finding::error(
                Area::Store,
                format!("{error}, which does not answer at the configured address"),
                format!("give its address with --server, or wait until it has ended: {who}"),
            )
        }
        _ => Finding::error(Area::Store, error.to_string(), remedy),
    })
}

/// The finding for a store in use: whether the process at this address is the one that has it open.
fn judge_keeper(path: &str, url: &str, keeper: Option<&Keeper>) -> Finding {
    match keeper.and_then(|keeper| Some((keeper.pid, keeper.serves(url)?))) {
        Some((pid, true)) => {
            Finding::ok(Area::Store, format!("the process at {url} has it open (process {pid})"))
        }
        Some((pid, false)) => {
            let what = format!("process {pid} has it open, and that is not the one at {url}");
            Finding::warning(Area::Store, what, SAME)
        }
        None => {
            let what = format!(
                "another process has it open; whether that is the one at {url} cannot be seen from here"
            );
            let remedy = format!("`fuser {path}/lock`, as its user or as root, names that process");
            Finding::note(Area::Store, what, remedy)
        }
    }
}

/// The finding for a missing store, which is normal before the first start.
fn missing(place: &str, config: &Config, holder: &Holder) -> Finding {
    if let Some(process) = holder.process().filter(|process| process.is_own) {
        let what = format!("a process runs at {}, and there is no store at {place}", process.url);
        let remedy = format!(
            "{SAME}; if the store was taken away, restore it from a copy and start the process again"
        );
        return Finding::error(Area::Store, what, remedy);
    }
    let left: Vec<PathBuf> = leftovers(config);
    if let Some(first) = left.first() {
        let what =
            format!("there is no store at {place}, and {} is not empty: the store is gone", first.display());
        let shown: Vec<String> = left.iter().map(|folder| folder.display().to_string()).collect();
        let remedy = format!(
            "restore the store from a copy; to begin anew, take away what is in {}",
            shown.join(", ")
        );
        return Finding::error(Area::Store, what, remedy);
    }
    Finding::note(Area::Store, format!("there is no store at {place} yet: `torg serve` makes it"), "")
}

async fn look_at(store: &Store, config: &Config, found: &mut Findings) {
    if let Err(error) = store.health() {
        found.add(Finding::error(Area::Store, error.to_string(), error.hint().unwrap_or(RESTORE)));
    }
    found.add(match read(store, READ_TIME_MAX).await {
        Ok(looked) => looked.judge(&config.store.url.to_string()),
        Err(error) => Finding::error(Area::Store, error.to_string(), error.hint().unwrap_or(RESTORE)),
    });
    found.extend(missing_tables(store));
}

#[derive(Default)]
struct Looked {
    rows: u64,
    /// The estimated number of rows; `None` if all were read.
    of: Option<u64>,
    damages: Vec<store::Error>,
    /// Damages beyond those that are listed.
    more: u64,
}

impl Looked {
    fn note(&mut self, damage: store::Error) {
        if self.damages.len() < DAMAGES_TOLD_MAX {
            self.damages.push(damage);
        } else {
            self.more += 1;
        }
    }

    fn judge(self, place: &str) -> Finding {
        let Looked { rows, of, damages, more } = self;
        if !damages.is_empty() {
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let told: Vec<String> = damages.iter().map(ToString::to_string).collect();
            return Finding::error(Area::Store, format!("{}{more}", told.join("; ")), RESTORE);
        }
        let Some(of) = of else {
            return Finding::ok(Area::Store, format!("{place} is sound: all {rows} rows were read"));
        };
        // The total is an estimate.
        let percent = (rows.saturating_mul(100) / of.max(1)).min(99);
        let what = format!(
            "{place}: the {rows} rows that were read in {} s are sound, some {percent} of 100",
            READ_TIME_MAX.as_secs()
        );
        Finding::note(Area::Store, what, "`torg store check` reads all of them")
    }
}

/// Reads a small store completely, including the data kept beside rows. Reads a large store until
/// the time limit.
async fn read(store: &Store, time: Duration) -> store::Result<Looked> {
    let (of, mut looked) = (store.approximate_rows().await?, Looked::default());
    if of <= ROWS_READ_MAX {
        let counts = store.verify(&mut |damage| looked.note(damage)).await?;
        looked.rows = counts.values().sum();
        return Ok(looked);
    }
    let is_whole = read_in_turn(store, Instant::now() + time, &mut looked).await?;
    looked.of = (!is_whole).then_some(of);
    Ok(looked)
}

/// Reads some rows of each table in turn until the deadline. Returns whether all rows were read.
/// Stops reading a table at its first damage.
async fn read_in_turn(store: &Store, until: Instant, looked: &mut Looked) -> store::Result<bool> {
    let tables = store.schema().tables().iter().copied();
    let mut left: BTreeMap<&str, (&'static TableDef, Option<Key>)> =
        tables.map(|table| (table.name, (table, None))).collect();
    while !left.is_empty() {
        for (name, (table, after)) in std::mem::take(&mut left) {
            if Instant::now() >= until {
                return Ok(false);
            }
            let mut scan = Scan::all(table).limit(ROWS_READ_AT_ONCE);
            if let Some(after) = after {
                scan = scan.after(after);
            }
            match store.scan(&scan).await {
                Ok(page) => {
                    looked.rows += page.rows.len() as u64;
                    if page.next.is_some() {
                        left.insert(name, (table, page.next));
                    }
                }
                Err(damage @ store::Error::Corrupt { .. }) => looked.note(damage),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(true)
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
    use store::{Batch, Schema, StoreOptions, StoreUrl, Table};

    use super::super::finding::Severity;
    use super::*;

    #[test]
    fn what_keeps_a_store_from_being_opened_is_told_with_what_to_do() {
        let config = Config::default();
        let told = |error: &store::Error| refused(error, &config, &Holder::Nobody, None).unwrap();
        let locked = told(&store::Error::Locked { path: "data/store".to_owned() });
        assert_eq!(locked.severity, Severity::Error);
        assert!(
            locked.remedy.contains("--server") && locked.remedy.contains("data/store/lock"),
            "{locked:?}"
        );
        let missing = store::Error::Missing { place: "data/store".to_owned() };
        assert_eq!(told(&missing).severity, Severity::Note);
        let corrupt = store::Error::Corrupt { place: "p".to_owned(), detail: "d".to_owned() };
        assert_eq!(told(&corrupt).remedy, "restore this store from a copy");
    }

    #[test]
    fn that_a_process_has_the_store_open_is_told_only_of_one_that_was_seen_to_have_it() {
        let keeper = |address: &str| Keeper { pid: 7, addresses: vec![address.parse().unwrap()] };
        let told =
            |keeper: Option<Keeper>| judge_keeper("data/store", "http://127.0.0.1:8080", keeper.as_ref());
        let own = told(Some(keeper("127.0.0.1:8080")));
        assert_eq!(
            own,
            Finding::ok(Area::Store, "the process at http://127.0.0.1:8080 has it open (process 7)")
        );
        let another = told(Some(keeper("127.0.0.1:9090")));
        assert_eq!((another.severity, &*another.remedy), (Severity::Warning, SAME));
        assert!(another.what.starts_with("process 7 has it open, and that is not"), "{another:?}");
        let unseen = told(None);
        assert_eq!(unseen.severity, Severity::Note);
        assert!(
            unseen.what.contains("cannot be seen") && unseen.remedy.contains("data/store/lock"),
            "{unseen:?}"
        );
    }

    #[test]
    fn only_a_store_that_was_read_whole_is_told_to_be_sound() {
        let looked = |of, damages| Looked { rows: 300, of, damages, more: 0 }.judge("fjall:x");
        let whole = looked(None, Vec::new());
        assert_eq!(
            (whole.severity, &*whole.what),
            (Severity::Ok, "fjall:x is sound: all 300 rows were read")
        );
        let part = looked(Some(1000), Vec::new());
        assert!(part.severity == Severity::Note && part.what.ends_with("some 30 of 100"), "{part:?}");
        assert!(part.remedy.contains("torg store check"), "{part:?}");
        let corrupt = store::Error::Corrupt { place: "p".to_owned(), detail: "d".to_owned() };
        assert_eq!(looked(Some(1000), vec![corrupt]).severity, Severity::Error);
    }

    static FIRST: Table<(u32,)> = Table::plain("first", &["shard"]);
    static SECOND: Table<(u32,)> = Table::plain("second", &["shard"]);

    #[tokio::test]
    async fn tables_are_read_in_turn_until_all_were_or_it_is_time() {
        let (schema, options) = (Schema::new(1, [FIRST.def(), SECOND.def()]), StoreOptions::default());
        let store = Store::open(&StoreUrl::Memory, schema.unwrap(), &options).await.unwrap();
        let rows = u32::try_from(ROWS_READ_AT_ONCE).unwrap() + 7;
        let mut batch = Batch::new();
        for number in 0..rows {
            batch.set(FIRST.key((number,)), "x");
        }
        batch.set(SECOND.key((0,)), "x");
        assert!(store.commit(batch).await.unwrap().is_applied());
        let mut looked = Looked::default();
        let until = Instant::now() + Duration::from_secs(3600);
        assert!(read_in_turn(&store, until, &mut looked).await.unwrap());
        assert_eq!(looked.rows, u64::from(rows) + 1);
        let mut hurried = Looked::default();
        assert!(!read_in_turn(&store, Instant::now(), &mut hurried).await.unwrap(), "there was no time");
        assert_eq!(hurried.rows, 0);
    }
}
