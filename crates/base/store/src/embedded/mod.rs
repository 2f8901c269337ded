//! The embedded engine: [fjall](https://docs.rs/fjall), a log-structured merge tree, in a folder of
//! its own.
//!
//! ```text
//! FOLDER/lock    held while the store is open
//! FOLDER/mark    the number of the last acknowledged group (mark.rs)
//! FOLDER/db/     fjall's files: journals, and four keyspaces (layout.rs)
//! ```
//!
//! A group of batches becomes one batch of fjall, forced to the disk before it becomes visible
//! (commit.rs). Damage is always detected: rows carry a checksum (layout.rs), fjall verifies its
//! blocks, and journals and manifests are surveyed before fjall opens them (survey.rs).

mod catalogue;
mod commit;
mod errors;
mod layout;
mod mark;
mod read;
mod recent;
mod survey;
mod verify;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use parking_lot::Mutex;

pub use self::errors::panic_becomes_error;

use self::commit::{GroupRow, Progress};
use self::errors::{engine_error, guarded, io_error, path_error};
use self::layout::{Home, Keyspaces};
use self::mark::Mark;
use self::read::{Moment, View};
use crate::batch::BatchId;
use crate::engine::{ApplyError, Engine, Read};
use crate::group::{Group, Verdict};
use crate::key::Key;
use crate::options::{Durability, StoreOptions};
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::table::{Schema, TableDef};
use crate::{Error, Result};

/// After this time a commit counts as failed: fjall's own threads have died.
const COMMIT_TIME_MAX: Duration = Duration::from_secs(300);
/// Larger reads go to a thread that may block; for smaller ones the thread switch costs more than
/// the read.
const INLINE_ROWS_MAX: usize = 128;
/// Threads that flush and merge tables. With fewer, one of them spins while the others merge: it
/// puts aside work that it must not do yet, and takes it up again.
const WORKER_THREADS: usize = 4;
/// Journal bytes after which fjall flushes its slowest keyspace.
const JOURNAL_BYTES_MAX: u64 = 512 << 20;

pub struct Fjall {
    schema: Schema,
    database: ArcSwapOption<Database>,
}

struct Database {
    // Dropped before the lock is released.
    engine: fjall::Database,
    keyspaces: Keyspaces,
    /// In the order of the schema.
    homes: Vec<Home>,
    progress: Mutex<Progress>,
    /// Set when a write failed: the state on the disk is uncertain then, and nothing more is
    /// written. Readable during a commit.
    failed: OnceLock<Error>,
    mark: Mark,
    durability: Durability,
    free_bytes_min: u64,
    path: PathBuf,
    closing: AtomicBool,
    _lock: File,
}

impl Fjall {
    /// Opens the store in a folder; creates one if the folder is empty or absent.
    pub async fn open(path: impl Into<PathBuf>, schema: Schema, options: &StoreOptions) -> Result<Self> {
        let (path, options) = (path.into(), options.clone());
        blocking(move || open(&path, &schema, &options)).await
    }

    fn database(&self) -> Result<Arc<Database>> {
        self.database.load_full().ok_or(Error::Closed)
    }

    /// Avoids the reference count that all readers would share.
    fn reading<T>(&self, read: impl FnOnce(&Database) -> Result<T>) -> Result<T> {
        read(self.database.load().as_deref().ok_or(Error::Closed)?)
    }
}

fn open(path: &Path, schema: &Schema, options: &StoreOptions) -> Result<Fjall> {
    let (files, mark_path) = (path.join("db"), path.join("mark"));
    let place = path.display().to_string();
    // A folder without access rights is an error, not a missing store.
    let there = |path: &Path| path.try_exists().map_err(|e| path_error(&e, path));
    if !options.create && !there(&files)? {
        return Err(if there(&mark_path)? { database_gone(place) } else { Error::Missing { place } });
    }
    fs::create_dir_all(path).map_err(|e| path_error(&e, path))?;
    let lock = take_lock(path)?;
    if !there(&files)? {
        create(path, &files, &mark_path)?;
    }
    let (mark, acknowledged) = Mark::open(&mark_path)?;
    if let Some(torn) = survey::survey(&files, acknowledged)? {
        torn.cut()?;
    }
    guarded(
        || place.clone(),
        || {
            let (engine, keyspaces) = open_engine(&files, options).map_err(|e| engine_error(&e, &place))?;
            let catalogue = catalogue::agree(&keyspaces, schema, options.create, &place)?;
            let database = Database {
                engine,
                keyspaces,
                homes: catalogue.homes,
                progress: Mutex::new(Progress::after(0)),
                failed: OnceLock::new(),
                mark,
                durability: options.durability,
                free_bytes_min: options.free_bytes_min,
                path: path.to_owned(),
                closing: AtomicBool::new(false),
                _lock: lock,
            };
            database.start(acknowledged, catalogue.missing)?;
            Ok(Fjall { schema: catalogue.schema, database: ArcSwapOption::from_pointee(database) })
        },
    )
}

fn take_lock(path: &Path) -> Result<File> {
    let lock_path = path.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
    let lock = lock.map_err(|e| path_error(&e, &lock_path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.display().to_string() }),
        Err(TryLockError::Error(error)) => Err(path_error(&error, &lock_path)),
    }
}

/// Creates an empty database in a temporary folder and renames it, so that an interrupted start
/// leaves no partial store.
fn create(path: &Path, files: &Path, mark_path: &Path) -> Result<()> {
    let unfinished = path.join("db.new");
    for entry in fs::read_dir(path).map_err(|e| path_error(&e, path))? {
        let entry = entry.map_err(|e| path_error(&e, path))?.path();
        if ![&*unfinished, mark_path, &path.join("lock")].contains(&&*entry) {
            let detail =
                "the folder holds other files and no Torg store; give an empty or a new folder".to_owned();
            return Err(Error::Io { path: path.display().to_string(), detail });
        }
    }
    let place = path.display().to_string();
    if mark_path.exists() && !unfinished.exists() {
        return Err(database_gone(place));
    }
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(|e| path_error(&e, &unfinished))?;
    }
    let (database, keyspaces) =
        open_engine(&unfinished, &StoreOptions::default()).map_err(|e| engine_error(&e, &place))?;
    drop((keyspaces, database));
    Mark::create(mark_path)?;
    fs::rename(&unfinished, files).map_err(|e| path_error(&e, files))?;
    let folder = File::open(path).and_then(|folder| folder.sync_all());
    folder.map_err(|e| path_error(&e, path))
}

fn database_gone(place: String) -> Error {
    Error::Corrupt { place, detail: "its folder `db` is missing, although it was a store".to_owned() }
}

fn open_engine(files: &Path, options: &StoreOptions) -> fjall::Result<(fjall::Database, Keyspaces)> {
    let builder = fjall::Database::builder(files)
        .cache_size(options.engine_cache_bytes())
        .worker_threads(WORKER_THREADS)
        .max_journaling_size(JOURNAL_BYTES_MAX);
    let database = builder.manual_journal_persist(true).open()?;
    let keyspaces = Keyspaces::open(&database)?;
    Ok((database, keyspaces))
}

/// The key of one of the store's own rows.
fn own_row(kind: u8, rest: &[u8]) -> Vec<u8> {
    [&[0, 0, kind], rest].concat()
}

impl Database {
    /// Checks that no acknowledged group is missing, and completes the catalogue.
    fn start(&self, acknowledged: u64, missing: Vec<(Vec<u8>, Vec<u8>)>) -> Result<()> {
        let group = GroupRow::read(self)?.map_or(0, |row| row.group);
        if group < acknowledged {
            let detail = format!("it ends with group {group}, but group {acknowledged} was acknowledged");
            return Err(Error::Corrupt { place: self.place(), detail });
        }
        self.progress.lock().group = group;
        if self.durability == Durability::Os {
            self.mark.reset().map_err(|e| io_error(&e, &self.place()))?;
        }
        if missing.is_empty() { Ok(()) } else { self.write_own_rows(missing) }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn home(&self, table: &TableDef) -> Result<&Home> {
        // Nearly always it is the same constant.
        let same = self.homes.iter().find(|home| std::ptr::eq(home.table, table));
        let home = same.or_else(|| self.homes.iter().find(|home| home.table.name == table.name));
        let reason = || "it is not in the catalogue".to_owned();
        home.ok_or_else(|| Error::BadTable { table: table.name.to_owned(), reason: reason() })
    }

    /// Refuses writes on a nearly full disk: fjall needs space to flush its memory, and cannot
    /// continue after a failed write.
    fn require_free_space(&self) -> Result<()> {
        let free = self.free_bytes()?;
        if free >= self.free_bytes_min {
            return Ok(());
        }
        let (free, min) = (free >> 20, self.free_bytes_min >> 20);
        Err(Error::DiskFull {
            detail: format!("{free} MiB are free at {}, {min} MiB are kept in reserve", self.place()),
        })
    }

    fn free_bytes(&self) -> Result<u64> {
        let disk = rustix::fs::statvfs(&self.path).map_err(|e| io_error(&e.into(), &self.place()))?;
        Ok(disk.f_bavail * disk.f_frsize)
    }

    fn health(&self) -> Result<()> {
        match self.failed.get() {
            Some(error) => Err(error.clone()),
            None => self.require_free_space(),
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    fn close(&self) -> Result<()> {
        self.closing.store(true, Ordering::Relaxed);
        let group = self.progress.lock().group;
        self.engine.persist(fjall::PersistMode::SyncAll).map_err(|e| engine_error(&e, &self.place()))?;
        let marked = self.mark.write(group).and_then(|()| self.mark.sync());
        marked.map_err(|e| io_error(&e, &self.place()))
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        let files = self.engine.disk_space().unwrap_or(0);
        let tables = [&self.keyspaces.small, &self.keyspaces.large, &self.keyspaces.queue];
        vec![
            ("store_disk_bytes", files as f64),
            ("store_journals", self.engine.journal_count() as f64),
            ("store_unwritten_bytes", self.engine.write_buffer_size() as f64),
            ("store_cache_bytes", self.engine.cache_size() as f64),
            ("store_compactions_active", self.engine.active_compactions() as f64),
            ("store_writable", f64::from(u8::from(self.health().is_ok()))),
            ("store_free_bytes", self.free_bytes().map_or(f64::NAN, |free| free as f64)),
            ("store_fresh_tables", tables.iter().map(|k| k.l0_table_count()).sum::<usize>() as f64),
        ]
    }
}

/// Runs blocking work.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let stopped = |e: tokio::task::JoinError| Error::Engine { engine: "fjall", detail: e.to_string() };
    tokio::task::spawn_blocking(work).await.map_err(stopped)?
}

#[async_trait]
impl Read for Fjall {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        if keys.len() <= INLINE_ROWS_MAX {
            return self.reading(|database| database.get(&Moment::Latest, keys));
        }
        let (database, keys) = (self.database()?, keys.to_vec());
        blocking(move || database.get(&Moment::Latest, &keys)).await
    }

    async fn get_one(&self, key: &Key) -> Result<Option<Row>> {
        self.reading(|database| database.get_one(&Moment::Latest, key))
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        if scan.limit <= INLINE_ROWS_MAX {
            return self.reading(|database| database.scan(&database.engine.snapshot(), scan));
        }
        let (database, scan) = (self.database()?, scan.clone());
        blocking(move || database.scan(&database.engine.snapshot(), &scan)).await
    }
}

#[async_trait]
impl Engine for Fjall {
    fn name(&self) -> &'static str {
        "fjall"
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    async fn snapshot(&self) -> Result<Box<dyn Read>> {
        let database = self.database()?;
        let snapshot = database.engine.snapshot();
        Ok(Box::new(View { database, snapshot }))
    }

    async fn apply(&self, group: &Group) -> Result<Vec<Verdict>, ApplyError> {
        let (database, group) = (self.database()?, group.clone());
        let commit = tokio::task::spawn_blocking(move || database.commit(&group));
        match tokio::time::timeout(COMMIT_TIME_MAX, commit).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(stopped)) => Err(unknown(stopped.to_string())),
            Err(_) => Err(unknown("a write of the engine does not end".to_owned())),
        }
    }

    async fn resolve(&self, _group: &Group) -> Result<bool> {
        // An outcome is unknown only after a failed write. It is found out when the folder is
        // opened again.
        Err(Error::Engine {
            engine: "fjall",
            detail: "a write failed; the outcome is known at the next start".to_owned(),
        })
    }

    fn health(&self) -> Result<()> {
        self.reading(Database::health)
    }

    async fn approximate_rows(&self) -> Result<u64> {
        let database = self.database()?;
        let keyspaces = &database.keyspaces;
        let rows = keyspaces.large.approximate_len()
            + keyspaces.small.approximate_len()
            + keyspaces.queue.approximate_len();
        Ok(rows as u64)
    }

    async fn applied(&self, batch: BatchId) -> Result<bool> {
        let database = self.database()?;
        blocking(move || guarded(|| database.place(), || database.remembers(batch))).await
    }

    async fn verify(&self, found: &mut (dyn FnMut(Error) + Send)) -> Result<BTreeMap<&'static str, u64>> {
        let database = self.database()?;
        let (counts, damages) = blocking(move || Ok(database.verify())).await?;
        damages.into_iter().for_each(found);
        Ok(counts)
    }

    fn gauges(&self) -> Vec<(&'static str, f64)> {
        self.database().map(|database| database.gauges()).unwrap_or_default()
    }

    async fn close(&self) -> Result<()> {
        let Some(database) = self.database.swap(None) else { return Ok(()) };
        // Dropping the database joins its threads.
        blocking(move || database.close()).await
    }
}

/// The verdicts are not used: an unknown outcome is not resolved before the next start.
fn unknown(detail: String) -> ApplyError {
    ApplyError::Unknown { verdicts: Vec::new(), error: Error::Engine { engine: "fjall", detail } }
}
