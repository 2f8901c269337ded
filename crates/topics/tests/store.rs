//! The log in the store passes the suite.

use std::sync::Arc;

use store::{Memory, Store, StoreOptions};
use topics::Topics;
use topics::conformance::{self, Bed};

/// Two handles on one log, each over a store of its own, as two processes on one database have them.
fn bed(first: Store, second: &Store) -> Bed {
    Bed { topics: Topics::in_store(&first), other: Topics::in_store(second), store: first }
}

// fjall and PostgreSQL take their place beside this as soon as the store has them.
#[tokio::test(start_paused = true)]
async fn the_log_in_memory_passes_the_suite() {
    conformance::run(async |_| {
        let memory = Memory::new(conformance::schema().expect("the suite's schema is valid"));
        let open = || Store::over(Arc::new(memory.clone()), &StoreOptions::default());
        bed(open(), &open())
    })
    .await;
}
