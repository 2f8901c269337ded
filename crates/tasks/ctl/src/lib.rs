//! The values that tasks wait on: how far the sales were loaded, which version of the rates is
//! there.
//!
//! [`Ctl`] reads, lists and sets them, one or many at once, atomically. A parameter is
//! `entity.name` in the namespace `default`, or `namespace/entity.name`.
//!
//! Guarantees:
//! - A value moves back only if the caller allows it; a time becomes a number only after a
//!   deletion.
//! - Versions of a parameter grow by one with every change and are never reused, not even after a
//!   deletion.
//! - Every change is in the [history](Ctl::history) with its author, and marked until a consumer
//!   [forgets](Ctl::forget) the mark. A change concurrent with the forgetting is never lost, and
//!   many changes of one parameter are one mark.
//! - A change reads its values and commits one batch; its cost does not grow with the number of
//!   values or the history.
//!
//! ```
//! use clock::{Clock, Time};
//! use ctl::{Change, Ctl, Settings};
//! use triggers::{Parameter, Value};
//! # use store::{Memory, Schema, Store, StoreOptions};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = Schema::new(1, ctl::tables())?;
//! let store = Store::over(std::sync::Arc::new(Memory::new(schema)), &StoreOptions::default());
//! let ctl = Ctl::new(store, Clock::starting_at(Time::from_ms(0)), Settings::default());
//!
//! let sales: Parameter = "sales.rows".parse()?;
//! ctl.set(vec![Change::set(sales.clone(), Value::Number(5))], "loader", "").await?;
//! let back = ctl.set(vec![Change::set(sales.clone(), Value::Number(4))], "loader", "").await;
//! assert!(back.unwrap_err().to_string().contains("would move back"));
//! assert_eq!(ctl.get(&sales).await?.map(|current| current.value), Some(Value::Number(5)));
//! # Ok(()) }
//! ```
//!
//! Where things are: names (`name.rs`), tables and rows (`tables.rs`, `rows.rs`), changes
//! (`change.rs`, `write.rs`), reads (`read.rs`), marks and wake-ups (`marks.rs`, `watch.rs`).

mod change;
mod error;
pub mod limits;
mod marks;
pub mod messages;
mod name;
mod read;
mod rows;
mod tables;
mod watch;
mod write;

use std::sync::Arc;

use clock::Clock;
use jiff::Timestamp;
use store::Store;
use tokio::sync::Mutex;

use crate::limits::HISTORY_KEPT;

pub use change::{Change, Changed, Expected};
pub use error::{Error, Result};
pub use marks::Mark;
pub use name::{Prefix, canonical};
pub use read::{Current, HistoryEntry};
pub use tables::tables;
pub use watch::{Watch, is_value_change};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The shards that values are spread over. It must not change while values exist: they would
    /// not be found.
    pub shards: u32,
    /// Changes kept of each parameter, at least one. A few more remain until they are deleted
    /// together.
    pub history_kept: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { shards: 16, history_kept: HISTORY_KEPT }
    }
}

/// Conflicting writers queue here, by the value of the conflict.
const QUEUES: usize = 64;

#[derive(Clone)]
pub struct Ctl {
    store: Store,
    clock: Clock,
    settings: Settings,
    queues: Arc<[Mutex<()>]>,
}

impl Ctl {
    /// The values in a store that was opened with [`tables`].
    #[must_use]
    pub fn new(store: Store, clock: Clock, settings: Settings) -> Self {
        let settings =
            Settings { shards: settings.shards.max(1), history_kept: settings.history_kept.max(1) };
        let queues = std::iter::repeat_with(|| Mutex::new(())).take(QUEUES).collect();
        Self { store, clock, settings, queues }
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The current time, saturated at the range of [`Timestamp`].
    fn now(&self) -> Timestamp {
        let ms = self.clock.now().as_ms();
        let nearest = if ms < 0 { Timestamp::MIN } else { Timestamp::MAX };
        Timestamp::from_millisecond(ms).unwrap_or(nearest)
    }
}

impl std::fmt::Debug for Ctl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ctl").field("settings", &self.settings).finish_non_exhaustive()
    }
}
