//! Hints between processes: writes are announced with NOTIFY, at most every few milliseconds, on a
//! connection of their own and outside of commits. A database without LISTEN works without hints.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;
use tokio_postgres::Notification;

use super::Tables;
use super::connection::{Connection, Connector, Role};
use super::errors::{PgError, Trouble, is_unsupported};
use super::pool::Backoff;
use crate::batch::Write;
use crate::hints::{Hint, HintSender};
use crate::key::Key;

/// Interval of announcements.
const ANNOUNCE_EVERY: Duration = Duration::from_millis(20);
/// The limit of PostgreSQL is 8000 bytes.
const ANNOUNCEMENT_BYTES_MAX: usize = 7900;
/// More than fit into one announcement.
const PLACES_MAX: usize = 4096;
const EVERYTHING: &str = "*";

/// Local writes that are not announced yet.
#[derive(Default)]
pub(super) struct Announcements {
    /// Whether announcements are sent.
    active: AtomicBool,
    waiting: Mutex<Waiting>,
    wake: Notify,
}

#[derive(Default)]
struct Waiting {
    places: Vec<(&'static str, u32)>,
    everything: bool,
}

impl Announcements {
    /// Keys come in order, so writes to one table and shard are adjacent.
    pub(super) fn note(&self, writes: &BTreeMap<Key, Write>) {
        if !self.active.load(Ordering::Relaxed) {
            return;
        }
        let mut waiting = self.waiting.lock();
        for (key, _) in writes.iter().filter(|(_, write)| !matches!(write, Write::Delete)) {
            let place = (key.table().name, key.shard());
            if waiting.places.last() != Some(&place) {
                waiting.places.push(place);
            }
            if waiting.places.len() >= PLACES_MAX {
                waiting.everything = true;
            }
            if waiting.everything {
                waiting.places.clear();
                break;
            }
        }
        drop(waiting);
        self.wake.notify_one();
    }

    /// The text of the next announcement: `table:shard,shard;table:shard`, or `*`.
    fn take(&self) -> Option<String> {
        let Waiting { places, everything } = std::mem::take(&mut *self.waiting.lock());
        if everything {
            return Some(EVERYTHING.to_owned());
        }
        let places: BTreeSet<_> = places.into_iter().collect();
        let mut text = String::new();
        let mut last = None;
        for (table, shard) in places {
            // Writing to a `String` does not fail.
            let _ = match last {
                Some(last) if last == table => write!(text, ",{shard}"),
                Some(_) => write!(text, ";{table}:{shard}"),
                None => write!(text, "{table}:{shard}"),
            };
            if text.len() > ANNOUNCEMENT_BYTES_MAX {
                return Some(EVERYTHING.to_owned());
            }
            last = Some(table);
        }
        (!text.is_empty()).then_some(text)
    }
}

/// The hints of an announcement; unknown tables are ignored.
fn hints_of(text: &str, tables: &Tables) -> Vec<Hint> {
    if text == EVERYTHING {
        return vec![Hint::Anything];
    }
    let mut hints = Vec::new();
    for part in text.split(';') {
        let Some((name, shards)) = part.split_once(':') else { continue };
        let Some(sql) = tables.named(name) else { continue };
        let shards = shards.split(',').filter_map(|shard| shard.parse().ok());
        hints.extend(shards.map(|shard| Hint::Changed { table: sql.table.name, shard }));
    }
    hints
}

/// Announces local writes and receives announcements of other processes.
pub(super) struct Exchange {
    pub(super) connector: Arc<Connector>,
    pub(super) tables: Arc<Tables>,
    pub(super) announcements: Arc<Announcements>,
    pub(super) channel: String,
    /// Distinguishes our own announcements.
    pub(super) opening: u64,
    pub(super) hints: HintSender,
}

enum Ended {
    /// The connection failed; another one may work.
    Lost,
    /// The database has no LISTEN.
    Unsupported,
}

impl From<PgError> for Ended {
    fn from(error: PgError) -> Self {
        if is_unsupported(&error) { Self::Unsupported } else { Self::Lost }
    }
}

impl Exchange {
    /// Runs until it is aborted, or the database turns out not to support it.
    pub(super) async fn run(self, mut backoff: Backoff) {
        self.announcements.active.store(true, Ordering::Relaxed);
        let mut missed = false;
        loop {
            let (forward, arriving) = mpsc::unbounded_channel();
            match self.connector.connect_and_forward(Role::Hints, Some(forward)).await {
                Ok(connection) => {
                    if let Ended::Unsupported = self.exchange(&connection, arriving, missed).await {
                        tracing::info!("the database has no LISTEN: writes of other processes give no hints");
                        break;
                    }
                }
                Err(Trouble::Final(error)) => tracing::debug!(%error, "no connection for hints"),
                Err(trouble) => tracing::debug!(?trouble, "no connection for hints"),
            }
            missed = true;
            tokio::time::sleep(backoff.next()).await;
        }
        self.announcements.active.store(false, Ordering::Relaxed);
    }

    async fn exchange(
        &self,
        connection: &Connection,
        mut arriving: mpsc::UnboundedReceiver<Notification>,
        missed: bool,
    ) -> Ended {
        if let Err(error) = connection.run(&format!("LISTEN \"{}\"", self.channel)).await {
            return error.into();
        }
        if missed {
            self.hints.send(vec![Hint::Anything]);
        }
        let mut quiet_until = Instant::now();
        loop {
            tokio::select! {
                biased;
                notification = arriving.recv() => match notification {
                    Some(notification) => self.heard(&notification),
                    None => return Ended::Lost,
                },
                () = self.announcements.wake.notified() => {
                    tokio::time::sleep_until(quiet_until).await;
                    quiet_until = Instant::now() + ANNOUNCE_EVERY;
                    if let Err(error) = self.announce(connection).await {
                        return error.into();
                    }
                }
            }
        }
    }

    async fn announce(&self, connection: &Connection) -> Result<(), PgError> {
        let Some(text) = self.announcements.take() else { return Ok(()) };
        let text = format!("{:016x} {text}", self.opening);
        connection.query("SELECT pg_notify($1, $2)", &vec![&self.channel, &text]).await.map(drop)
    }

    fn heard(&self, notification: &Notification) {
        let Some((opening, text)) = notification.payload().split_once(' ') else { return };
        if opening != format!("{:016x}", self.opening) {
            self.hints.send(hints_of(text, &self.tables));
        }
    }
}
