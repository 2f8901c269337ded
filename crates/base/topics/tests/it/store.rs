//! The log in the store: it passes the suite, and does what only it can promise.

use std::sync::Arc;
use std::time::Duration;

use store::{Batch, Faults, Faulty, Fjall, Memory, Read, Store, StoreOptions, StoreUrl};
use topics::conformance::{self, Bed};
use topics::{Error, KafkaOptions, Message, ReadLimit, Retention, TopicSpec, Topics};

/// Two handles on one log, each over a store of its own, as two processes on one database have
/// them.
fn bed(first: Store, second: &Store) -> Bed {
    Bed { topics: Topics::in_store(&first), other: Topics::in_store(second), store: first }
}

#[tokio::test(start_paused = true)]
async fn the_log_in_memory_passes_the_suite() {
    conformance::run(async |_| {
        let memory = memory();
        let open = || Store::over(Arc::new(memory.clone()), &StoreOptions::default());
        bed(open(), &open())
    })
    .await;
}

/// Only one process can have a fjall folder open: the two handles share the store.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_in_fjall_passes_the_suite() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    conformance::run(async |name| {
        let options =
            StoreOptions { cache_bytes: 8 << 20, free_bytes_min: 1 << 20, ..StoreOptions::default() };
        let schema = conformance::schema().expect("the suite's schema is valid");
        let engine = Fjall::open(folder.path().join(name), schema, &options).await.expect("the store opens");
        let store = Store::over(Arc::new(engine), &options);
        bed(store.clone(), &store)
    })
    .await;
}

/// Two processes on one database.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_in_postgresql_passes_the_suite() {
    let Some(postgres) = testkit::postgres() else { return };
    conformance::run(async |_| {
        let url: StoreUrl = postgres.fresh_database().parse().expect("the address is valid");
        let open = async || {
            let schema = conformance::schema().expect("the suite's schema is valid");
            Store::open(&url, schema, &StoreOptions::default()).await.expect("the store opens")
        };
        bed(open().await, &open().await)
    })
    .await;
}

const TOPIC: &str = "topic";
const NOW: i64 = conformance::NOW;

fn memory() -> Memory {
    Memory::new(conformance::schema().expect("the suite's schema is valid"))
}

fn open(memory: &Memory) -> (Store, Topics) {
    let store = Store::over(Arc::new(memory.clone()), &StoreOptions::default());
    let topics = Topics::in_store(&store);
    (store, topics)
}

fn large(n: u8) -> Message {
    Message::new("k", vec![n; 1000], NOW)
}

#[tokio::test(start_paused = true)]
async fn a_partition_that_is_too_large_loses_its_oldest_messages() {
    let memory = memory();
    let (_, topics) = open(&memory);
    let spec = TopicSpec::new(TOPIC, 2).retention(Retention::of_bytes(10_500));
    topics.create(&spec).await.unwrap();
    topics.append_to(TOPIC, 0, (0..25).map(large).collect()).await.unwrap();
    topics.append_to(TOPIC, 1, (0..10).map(large).collect()).await.unwrap();
    let trimmed = topics.trim(TOPIC, NOW).await.unwrap();
    assert_eq!(trimmed.messages, 15);
    // Another process goes on where this one stopped.
    let (_, topics) = open(&memory);
    let partitions = topics.describe(TOPIC).await.unwrap().partitions;
    assert_eq!((partitions[0].first, partitions[0].end), (15, 25));
    assert!(partitions[0].bytes.unwrap() <= 10_500 && partitions[0].bytes.unwrap() > 9_400);
    assert_eq!(partitions[1].first, 0);
    assert_eq!(topics.append_to(TOPIC, 0, vec![large(25)]).await.unwrap()[0].offset, 25);
    assert_eq!(topics.trim(TOPIC, NOW).await.unwrap().messages, 1);
}

#[tokio::test(start_paused = true)]
async fn the_newest_message_stays_however_large_it_is() {
    let (_, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 1).retention(Retention::of_bytes(0))).await.unwrap();
    topics.append(TOPIC, (0..5).map(large).collect()).await.unwrap();
    assert_eq!(topics.trim(TOPIC, NOW).await.unwrap().messages, 4);
    let page = topics.read(TOPIC, 0, 4, ReadLimit::default()).await.unwrap();
    assert_eq!(page.messages[0].message, large(4));
}

#[tokio::test(start_paused = true)]
async fn a_long_log_is_trimmed_in_bounded_commits_beside_appends_and_another_trimmer() {
    let memory = memory();
    let (_, topics) = open(&memory);
    let (_, other) = open(&memory);
    let hour = Retention::of_time(Duration::from_secs(3600));
    topics.create(&TopicSpec::new(TOPIC, 1).retention(hour)).await.unwrap();
    let old = |n: usize| Message::new("k", n.to_string(), NOW - 3_600_001);
    for part in 0..5 {
        topics.append(TOPIC, (0..1500).map(|n| old(part * 1500 + n)).collect()).await.unwrap();
    }
    let appends = async {
        for _ in 0..20 {
            topics.append(TOPIC, vec![large(0)]).await.unwrap();
        }
    };
    let (first, second, ()) = tokio::join!(topics.trim(TOPIC, NOW), other.trim(TOPIC, NOW), appends);
    assert_eq!(first.unwrap().messages + second.unwrap().messages, 7500, "each message was trimmed once");
    let info = topics.describe(TOPIC).await.unwrap().partitions[0];
    assert_eq!((info.first, info.end), (7500, 7520));
    let page = topics.read(TOPIC, 0, 7500, ReadLimit::default()).await.unwrap();
    assert_eq!(page.messages.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn an_append_needs_no_read_once_the_heads_are_known() {
    let engine = Faulty::new(memory(), 1, Faults::default());
    let store = Store::over(Arc::new(engine.clone()), &StoreOptions::default());
    let topics = Topics::in_store(&store);
    topics.create(&TopicSpec::new(TOPIC, 1)).await.unwrap();
    topics.append(TOPIC, vec![large(0)]).await.unwrap();
    engine.set_faults(Faults { read_error: 1000, ..Faults::default() });
    for n in 1..10 {
        assert_eq!(topics.append(TOPIC, vec![large(n)]).await.unwrap()[0].offset, i64::from(n));
    }
}

#[tokio::test(start_paused = true)]
async fn appends_that_run_at_once_are_written_together() {
    let engine = Faulty::new(memory(), 1, Faults::default());
    let store = Store::over(Arc::new(engine.clone()), &StoreOptions::default());
    let topics = Topics::in_store(&store);
    topics.create(&TopicSpec::new(TOPIC, 4)).await.unwrap();
    // A slow commit is counted twice: on its way to the engine and on its way back.
    engine.set_faults(Faults { delay: 1000, delay_max: Duration::from_secs(1), ..Faults::default() });
    let appends = (0..200).map(|n| topics.append(TOPIC, vec![Message::new(n.to_string(), "p", NOW)]));
    futures::future::try_join_all(appends).await.unwrap();
    let commits = engine.counts()["delay"] / 2;
    assert!(commits < 20, "{commits} commits carried 200 appends");
}

#[tokio::test(start_paused = true)]
async fn a_hint_wakes_a_waiting_reader_at_once() {
    let (_, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 1)).await.unwrap();
    let reader = {
        let topics = topics.clone();
        let limit = ReadLimit::default().waiting(Duration::from_secs(3600));
        tokio::spawn(async move { topics.read(TOPIC, 0, 0, limit).await })
    };
    tokio::time::sleep(Duration::from_millis(1)).await;
    let appended_at = tokio::time::Instant::now();
    topics.append(TOPIC, vec![large(1)]).await.unwrap();
    assert_eq!(reader.await.unwrap().unwrap().messages.len(), 1);
    assert_eq!(tokio::time::Instant::now(), appended_at, "the paused clock did not have to move");
}

#[tokio::test(start_paused = true)]
async fn closed_topics_finish_what_was_begun_and_take_no_more() {
    let (_, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 1)).await.unwrap();
    let begun: Vec<_> = (0..10)
        .map(|n| {
            let topics = topics.clone();
            tokio::spawn(async move { topics.append(TOPIC, vec![large(n)]).await })
        })
        .collect();
    tokio::task::yield_now().await;
    topics.close().await.unwrap();
    let acknowledged = futures::future::join_all(begun).await.into_iter().filter(|a| matches!(a, Ok(Ok(_))));
    let page = topics.read(TOPIC, 0, 0, ReadLimit::default()).await.unwrap();
    assert_eq!(page.messages.len(), acknowledged.count());
    assert!(matches!(topics.append(TOPIC, vec![large(0)]).await, Err(Error::Closed)));
}

/// Writes a row behind the back of the topics.
async fn overwrite(store: &Store, table: &str, change: impl Fn(&store::Row, &mut Batch)) {
    let table = topics::tables().into_iter().find(|t| t.name == table).expect("a table of the topics");
    let rows = store.scan(&table.scan()).await.expect("the memory answers").rows;
    let mut batch = Batch::new();
    for row in &rows {
        change(row, &mut batch);
    }
    assert!(store.commit(batch).await.expect("the memory answers").is_applied());
}

#[tokio::test(start_paused = true)]
async fn a_damaged_message_is_an_error_that_names_its_place() {
    let (store, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 2)).await.unwrap();
    topics.append_to(TOPIC, 1, (0..3).map(large).collect()).await.unwrap();
    overwrite(&store, "topic_messages", |row, batch| {
        _ = batch.set(row.key.clone(), "garbage");
    })
    .await;
    for offset in 0..3 {
        let error = topics.read(TOPIC, 1, offset, ReadLimit::default()).await.unwrap_err();
        let text = error.to_string();
        assert!(
            matches!(error, Error::DamagedMessage { partition: 1, offset: o, .. } if o == offset),
            "{text}"
        );
        assert!(text.contains(TOPIC) && error.hint().is_some(), "{text}");
        assert!(matches!(topics.offset_at(TOPIC, 1, NOW).await, Err(Error::DamagedMessage { .. })));
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_message_is_an_error_and_no_jump() {
    let (store, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 1)).await.unwrap();
    topics.append(TOPIC, (0..3).map(large).collect()).await.unwrap();
    let second = std::sync::atomic::AtomicUsize::new(0);
    overwrite(&store, "topic_messages", |row, batch| {
        if second.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 1 {
            batch.delete(row.key.clone());
        }
    })
    .await;
    let page = topics.read(TOPIC, 0, 0, ReadLimit::default()).await.unwrap();
    assert_eq!((page.messages.len(), page.next), (1, 1), "what stands before the hole is read");
    let error = topics.read(TOPIC, 0, 1, ReadLimit::default()).await.unwrap_err();
    assert!(matches!(error, Error::DamagedMessage { offset: 1, .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn other_damaged_rows_are_errors_that_name_their_keys() {
    let (store, topics) = open(&memory());
    topics.create(&TopicSpec::new(TOPIC, 1)).await.unwrap();
    topics.append(TOPIC, vec![large(0)]).await.unwrap();
    let mut batch = Batch::new();
    let _ = topics.position("group", TOPIC, 0).await.unwrap().commit_into(&mut batch, 1);
    assert!(store.commit(batch).await.unwrap().is_applied());
    for table in ["topic_heads", "topic_offsets", "topic_specs"] {
        overwrite(&store, table, |row, batch| {
            batch.put(row.key.clone(), row.version + 1, "garbage");
        })
        .await;
        let error = match table {
            "topic_heads" => topics.append(TOPIC, vec![large(1)]).await.unwrap_err(),
            "topic_offsets" => topics.position("group", TOPIC, 0).await.unwrap_err(),
            _ => topics.list().await.unwrap_err(),
        };
        assert!(matches!(&error, Error::DamagedRow { key, .. } if key.contains(table)), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_without_the_tables_is_refused() {
    let schema = store::Schema::new(1, []).unwrap();
    let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
    let error = Topics::in_store(&store).create(&TopicSpec::new(TOPIC, 1)).await.unwrap_err();
    assert!(matches!(error, Error::Store(store::Error::UnknownTable { .. })), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_address_chooses_the_log() {
    let (store, _) = open(&memory());
    let topics = Topics::open("store", &store, KafkaOptions::default()).await.unwrap();
    assert_eq!(topics.log_name(), "store");
    let error = Topics::open("rabbit://x", &store, KafkaOptions::default()).await.err().unwrap();
    assert!(matches!(error, Error::BadUrl { .. }), "{error}");
}
