//! Checks that the store answers and accepts writes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{Error, Read as _, Store};

/// Probes the store and remembers the last error. Clones share it.
#[derive(Clone)]
pub(crate) struct Probe {
    store: Store,
    last: Arc<Mutex<Option<Error>>>,
}

impl Probe {
    pub(crate) fn new(store: &Store) -> Probe {
        Probe { store: store.clone(), last: Arc::default() }
    }

    /// Reads a small table and checks that it could be written. Several probes may run at once; the
    /// last one to finish determines the remembered error.
    pub(crate) async fn ask(&self) -> store::Result<()> {
        let mut asked = Asked { probe: self, wrong: None };
        let answer = self.looked().await;
        asked.wrong = answer.clone().err();
        answer
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    async fn looked(&self) -> store::Result<()> {
        if let Some(table) = self.store.schema().tables().first() {
            self.store.scan(&table.scan().limit(1)).await?;
        }
        self.store.takes_writes().await
    }

    /// The error of the last probe. `None` if the store did not answer in time.
    pub(super) fn wrong(&self) -> Option<Error> {
        self.last().clone()
    }

    fn last(&self) -> MutexGuard<'_, Option<Error>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One probe. Its future may be dropped before there is an answer.
struct Asked<'a> {
    probe: &'a Probe,
    wrong: Option<Error>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        *self.probe.last() = self.wrong.take();
    }
}
