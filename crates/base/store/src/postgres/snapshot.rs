//! Consistent views: a read-only transaction on a connection of its own.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::task::AbortHandle;

use super::errors::Trouble;
use super::pool::{Lease, Pool};
use super::{Tables, read};
use crate::engine::Read;
use crate::key::Key;
use crate::row::Row;
use crate::scan::{Page, Scan};
use crate::{Error, Result};

/// The first statement takes the view, not BEGIN.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1";

/// The transaction, or why it ended.
type State = Mutex<Result<Arc<Lease>, String>>;

/// A view of one moment. It ends when it is dropped or when its time limit is over.
pub(super) struct View {
    tables: Arc<Tables>,
    state: Arc<State>,
    clock: AbortHandle,
}

impl View {
    pub(super) async fn open(pool: &Arc<Pool>, tables: Arc<Tables>, limit: Duration) -> Result<Self> {
        let mut tries = pool.tries();
        let lease = loop {
            let lease = tries.connection().await?;
            match lease.run(BEGIN).await {
                Ok(()) => break lease,
                Err(error) => tries.failed(lease, error.into())?,
            }
        };
        let state: Arc<State> = Arc::new(Mutex::new(Ok(Arc::new(lease))));
        let ended = Arc::clone(&state);
        let clock = tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            end(&ended, format!("it was held for more than {} s", limit.as_secs_f32())).await;
        });
        Ok(Self { tables, state, clock: clock.abort_handle() })
    }

    fn transaction(&self) -> Result<Arc<Lease>> {
        match &*self.state.lock() {
            Ok(lease) => Ok(Arc::clone(lease)),
            Err(detail) => Err(Error::SnapshotExpired { detail: detail.clone() }),
        }
    }

    /// A failed statement ends the transaction.
    async fn failed(&self, trouble: Trouble) -> Error {
        let (detail, error) = match trouble {
            Trouble::Lost(detail) | Trouble::Again(detail) => {
                (detail.clone(), Error::SnapshotExpired { detail })
            }
            Trouble::OutOfRange => {
                let detail = "a number is out of range".to_owned();
                (detail.clone(), Error::SnapshotExpired { detail })
            }
            Trouble::Final(error) => (format!("an earlier read failed: {error}"), error),
        };
        end(&self.state, detail).await;
        error
    }
}

/// Ends the transaction and returns the connection, unless a read still uses it: then the
/// connection is closed behind that read.
async fn end(state: &State, why: String) {
    let ended = std::mem::replace(&mut *state.lock(), Err(why));
    if let Ok(Ok(mut lease)) = ended.map(Arc::try_unwrap) {
        let rolled_back = lease.run("ROLLBACK").await.is_ok();
        lease.set_reusable(rolled_back);
    }
}

impl Drop for View {
    fn drop(&mut self) {
        self.clock.abort();
        // Without a runtime there is no ROLLBACK: closing the connection does the same.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let state = Arc::clone(&self.state);
            runtime.spawn(async move { end(&state, "it was dropped".to_owned()).await });
        }
    }
}

#[async_trait]
impl Read for View {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Row>>> {
        let read = read::get(&*self.transaction()?, &self.tables, keys).await;
        match read {
            Ok(rows) => Ok(rows),
            Err(trouble) => Err(self.failed(trouble).await),
        }
    }

    async fn scan(&self, scan: &Scan) -> Result<Page> {
        let read = read::scan(&*self.transaction()?, &self.tables, scan).await;
        match read {
            Ok(page) => Ok(page),
            Err(trouble) => Err(self.failed(trouble).await),
        }
    }
}
