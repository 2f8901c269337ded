//! Waking up when something was changed.

use store::{Hint, Hints};
use tokio::time::{Instant, timeout_at};

use super::Ctl;
use super::tables::CHANGED;
use crate::limits::LOOK_EVERY;

/// Wake-ups for whoever looks at [`Ctl::changed`]. Made before the first look, it misses nothing.
#[derive(Debug)]
pub struct Watch {
    hints: Hints,
}

impl Ctl {
    /// Wake-ups about what is changed from now on, by this process or another.
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch { hints: self.store.hints() }
    }
}

impl Watch {
    /// Waits until it is time to look: something was changed, or [`LOOK_EVERY`] has passed. False when the store is closed. It may
    /// wake up for nothing. Dropping the future loses nothing.
    pub async fn next(&mut self) -> bool {
        let until = Instant::now() + LOOK_EVERY;
        loop {
            match timeout_at(until, self.hints.next()).await {
                Ok(None) => return false,
                Ok(Some(hint)) if tells_of_change(&hint) => return true,
                Ok(Some(_)) => {}
                Err(_) => return true,
            }
        }
    }
}

/// Whether a hint is about a change of a value, for whoever listens to hints of several kinds.
#[must_use]
pub fn tells_of_change(hint: &Hint) -> bool {
    let name = CHANGED.def().name;
    match hint {
        Hint::Put(key) => key.table().name == name,
        Hint::Changed { table, .. } => *table == name,
        Hint::Anything => true,
    }
}
