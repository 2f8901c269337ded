//! How a test that runs in real time waits for what must come to be, and looks at the rows of a
//! store.

use std::collections::BTreeMap;
use std::time::Duration;

use store::{Read, Row, Store};
use tokio::time::{Instant, sleep};

/// How long a busy machine may take for what usually takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(15);

/// Waits until `look` finds something.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(Instant::now() < deadline, "not within {PATIENCE:?}: {what}");
        sleep(LOOK_EVERY).await;
    }
}

/// All rows of a table.
pub(crate) async fn rows(store: &Store, table: &str) -> Vec<Row> {
    let all = store.schema().table(table).unwrap().scan();
    let (mut rows, mut scan) = (Vec::new(), all.clone());
    loop {
        let page = store.scan(&scan).await.unwrap();
        rows.extend(page.rows);
        let Some(next) = page.next else { return rows };
        scan = all.clone().after(next);
    }
}

/// The owner of each shard that has one, with the epoch.
pub(crate) async fn owners(store: &Store) -> BTreeMap<u32, (String, u64)> {
    let leases = rows(store, "watcher_leases").await.into_iter();
    leases.filter_map(|row| Some((row.key.shard(), (owner(&row.value)?, row.version)))).collect()
}

/// The first field of the message that a lease is: the owner's name. Nobody's lease does not have
/// it.
fn owner(lease: &[u8]) -> Option<String> {
    const FIRST_FIELD_TEXT: u8 = 0x0a;
    let (&FIRST_FIELD_TEXT, rest) = lease.split_first()? else { return None };
    let (length, rest) = rest.split_first()?;
    String::from_utf8(rest.get(..usize::from(*length))?.to_vec()).ok()
}
