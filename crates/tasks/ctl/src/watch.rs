//! Wake-ups on changes.

use store::{Hint, Hints};
use tokio::time::{Instant, timeout_at};

use super::Ctl;
use super::tables::CHANGED;
use crate::limits::POLL_EVERY;

/// Wake-ups for readers of [`Ctl::changed`]. Created before the first read, it misses nothing.
#[derive(Debug)]
pub struct Watch {
    hints: Hints,
}

impl Ctl {
    /// Wake-ups about changes from now on, by any process.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch { hints: self.store.hints() }
    }
}

impl Watch {
    /// Waits until something changed or [`POLL_EVERY`] has passed; may wake up spuriously. False
    /// when the store is closed. Cancel safe.
    pub async fn next(&mut self) -> bool {
        let until = Instant::now() + POLL_EVERY;
        loop {
            match timeout_at(until, self.hints.next()).await {
                Ok(None) => return false,
                Ok(Some(hint)) if is_value_change(&hint) => return true,
                Ok(Some(_)) => {}
                Err(_) => return true,
            }
        }
    }
}

/// Whether a hint is about a change of a value.
#[must_use]
pub fn is_value_change(hint: &Hint) -> bool {
    let name = CHANGED.def().name;
    match hint {
        Hint::Put(key) => key.table().name == name,
        Hint::Changed { table, .. } => *table == name,
        Hint::Anything => true,
    }
}
