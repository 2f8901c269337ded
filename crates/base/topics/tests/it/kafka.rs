//! The log in Kafka passes the suite, on a real broker.

use std::sync::Arc;

use store::{Memory, Store, StoreOptions};
use topics::conformance::{self, Bed};
use topics::{KafkaOptions, Topics};

fn store() -> Store {
    let schema = conformance::schema().expect("the suite's schema is valid");
    Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_in_kafka_passes_the_suite() {
    let Some(broker) = testkit::kafka() else { return };
    let mut number = 0;
    conformance::run(|name| {
        number += 1;
        let options = KafkaOptions {
            brokers: vec![broker.bootstrap()],
            prefix: format!("case{number}."),
            ..KafkaOptions::default()
        };
        async move {
            let store = store();
            let open = || Topics::in_kafka(&store, options.clone());
            let (topics, other) = (open().await.expect(name), open().await.expect(name));
            Bed { topics, other, store }
        }
    })
    .await;
}
