//! The log in the store over an engine that misbehaves in every way: nothing acknowledged is lost,
//! nothing is doubled, and keys stay in order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{Batch, FaultCounts, Faults, Faulty, Memory, Read, Store, StoreOptions};
use topics::conformance::{self, APPLIED, NOW};
use topics::{Delivered, Message, MessageId, ReadLimit, Result, TopicSpec, Topics};

const TOPIC: &str = "storm";
const PARTITIONS: u32 = 3;
const PROCESSES: u64 = 2;
const CALLERS: usize = 4;
const APPENDS: usize = 15;

const STORM: Faults = Faults {
    spurious_conflict: 50,
    error_not_applied: 50,
    error_but_applied: 50,
    unknown_not_applied: 50,
    read_error: 50,
    delay: 50,
    delay_max: Duration::from_secs(2),
};

fn memory() -> Memory {
    Memory::new(conformance::schema().expect("the suite's schema is valid"))
}

/// One process on the common disk.
#[derive(Clone)]
struct Process {
    engine: Faulty,
    store: Store,
    topics: Topics,
}

impl Process {
    fn start(memory: &Memory, seed: u64, faults: Faults) -> Self {
        let engine = Faulty::new(memory.clone(), seed, faults);
        let options = StoreOptions { id_seed: Some(seed), ..StoreOptions::default() };
        let store = Store::over(Arc::new(engine.clone()), &options);
        let topics = Topics::in_store(&store);
        Self { engine, store, topics }
    }
}

/// Tries until it works, as long as the errors are passing ones.
async fn insist<T, F: Future<Output = Result<T>>>(mut attempt: impl FnMut() -> F) -> T {
    loop {
        match attempt().await {
            Ok(answer) => return answer,
            Err(error) if error.is_passing() => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// Appends numbers to two keys, one call after the other, and returns where they stand.
async fn append_numbers(topics: Topics, caller: String) -> Vec<(String, String, MessageId)> {
    let mut acknowledged = Vec::new();
    for n in 0..APPENDS {
        let keys = [format!("{caller}-a"), format!("{caller}-b")];
        let messages = keys.clone().map(|key| Message::new(key, n.to_string(), NOW));
        let places = insist(|| topics.append(TOPIC, messages.to_vec())).await;
        assert_eq!(places.len(), 2);
        acknowledged.extend(keys.into_iter().zip(places).map(|(key, place)| (key, n.to_string(), place)));
    }
    acknowledged
}

/// Applies messages until it has seen `count` in its partition, beside another consumer of the same
/// group.
async fn consume(process: Process, partition: u32, count: i64) {
    loop {
        let position = insist(|| process.topics.position("group", TOPIC, partition)).await;
        if position.offset() >= count {
            return;
        }
        let limit = ReadLimit::messages(5).waiting(Duration::from_secs(1));
        let page = insist(|| process.topics.read(TOPIC, partition, position.offset(), limit)).await;
        let mut batch = Batch::new();
        for delivered in &page.messages {
            let key = APPLIED.key((partition, format!("{}", delivered.offset)));
            batch.check_absent(key.clone()).put(key, 1, delivered.message.payload.clone());
        }
        let _ = position.commit_into(&mut batch, page.next);
        // Refused or failed: nothing was applied, and the position is loaded again.
        let _ = process.store.commit(batch).await;
    }
}

async fn read_log(topics: &Topics) -> BTreeMap<u32, Vec<Delivered>> {
    let mut log = BTreeMap::new();
    for partition in 0..PARTITIONS {
        let mut all: Vec<Delivered> = Vec::new();
        loop {
            let page = topics.read(TOPIC, partition, all.len() as i64, ReadLimit::default()).await;
            let page = page.expect("fair weather");
            if page.messages.is_empty() {
                break;
            }
            all.extend(page.messages);
        }
        log.insert(partition, all);
    }
    log
}

/// The payloads of each key, in the order of the log, with their places.
fn by_key(log: &BTreeMap<u32, Vec<Delivered>>) -> BTreeMap<String, Vec<(String, MessageId)>> {
    let mut keys: BTreeMap<String, Vec<(String, MessageId)>> = BTreeMap::new();
    for (partition, delivered) in log {
        for (at, Delivered { offset, message }) in delivered.iter().enumerate() {
            assert_eq!(*offset, at as i64, "offsets have no gaps");
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text was appended");
            let place = MessageId { partition: *partition, offset: *offset };
            keys.entry(text(&message.key)).or_default().push((text(&message.payload), place));
        }
    }
    keys
}

/// Callers and consumers of two processes, in bad weather.
async fn storm(seed: u64) -> (BTreeMap<String, Vec<(String, MessageId)>>, FaultCounts) {
    let memory = memory();
    let processes: Vec<Process> =
        (0..PROCESSES).map(|n| Process::start(&memory, seed * PROCESSES + n, STORM)).collect();
    let spec = TopicSpec::new(TOPIC, PARTITIONS);
    insist(|| processes[0].topics.create(&spec)).await;
    let callers: Vec<_> = (0..CALLERS)
        .flat_map(|caller| processes.iter().enumerate().map(move |(n, process)| (n, caller, process.clone())))
        .map(|(n, caller, process)| tokio::spawn(append_numbers(process.topics, format!("{n}-{caller}"))))
        .collect();
    let mut acknowledged: BTreeMap<String, Vec<(String, MessageId)>> = BTreeMap::new();
    let mut counts: BTreeMap<u32, i64> = BTreeMap::new();
    for caller in callers {
        for (key, payload, place) in caller.await.expect("no panic") {
            *counts.entry(place.partition).or_default() += 1;
            acknowledged.entry(key).or_default().push((payload, place));
        }
    }
    for info in insist(|| processes[0].topics.describe(TOPIC)).await.partitions {
        let count = counts.get(&info.partition).copied().unwrap_or(0);
        assert_eq!(info.end, count, "seed {seed}: what was acknowledged is there");
    }
    let consumers: Vec<_> = processes
        .iter()
        .flat_map(|process| counts.iter().map(|(partition, count)| (process.clone(), *partition, *count)))
        .map(|(process, partition, count)| tokio::spawn(consume(process, partition, count)))
        .collect();
    for consumer in consumers {
        consumer.await.expect("no panic");
    }

    let mut faults = FaultCounts::new();
    for process in &processes {
        process.engine.set_faults(Faults::default());
        process.engine.counts().into_iter().for_each(|(kind, n)| *faults.entry(kind).or_default() += n);
    }
    let log = read_log(&processes[0].topics).await;
    assert_eq!(
        by_key(&log),
        acknowledged,
        "seed {seed}: the log is what was acknowledged, no less and no more"
    );
    for (partition, delivered) in &log {
        let applied =
            processes[0].store.scan(&APPLIED.prefix((*partition,))).await.expect("fair weather").rows;
        assert_eq!(applied.len(), delivered.len(), "seed {seed}: each message was applied once");
    }
    (acknowledged, faults)
}

#[tokio::test(start_paused = true)]
async fn under_faults_nothing_is_lost_doubled_or_out_of_order() {
    let mut faults = FaultCounts::new();
    for seed in 0..12 {
        let (acknowledged, counts) = storm(seed).await;
        let expected: Vec<String> = (0..APPENDS).map(|n| n.to_string()).collect();
        for (key, numbers) in acknowledged {
            let numbers: Vec<String> = numbers.into_iter().map(|(n, _)| n).collect();
            assert_eq!(numbers, expected, "seed {seed}, key {key}");
        }
        for (kind, n) in counts {
            *faults.entry(kind).or_default() += n;
        }
    }
    for kind in [
        "spurious conflict",
        "error, not applied",
        "error, but applied",
        "unknown, not applied",
        "read error",
        "delay",
    ] {
        let times = faults.get(kind).copied().unwrap_or(0);
        assert!(times > 10, "the fault {kind:?} was hardly tried: {faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_log() {
    assert_eq!(storm(100).await, storm(100).await);
    assert_ne!(storm(100).await.0, storm(101).await.0);
}

#[tokio::test(start_paused = true)]
async fn after_crashes_every_acknowledged_message_is_there_once_and_in_order() {
    let memory = memory();
    let slow = Faults { delay: 1000, delay_max: Duration::from_millis(200), ..Faults::default() };
    let mut acknowledged: Vec<(String, String, MessageId)> = Vec::new();
    let lives = 10;
    for life in 0..lives {
        let Process { store, topics, .. } = Process::start(&memory, life, slow);
        topics.create(&TopicSpec::new(TOPIC, PARTITIONS)).await.expect("slow, but fair");
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let (topics, told) = (topics.clone(), told.clone());
                tokio::spawn(async move {
                    let key = format!("caller-{caller}");
                    for n in 0.. {
                        let payload = format!("{life:02}-{n:06}");
                        let message = Message::new(key.clone(), payload.clone(), NOW);
                        let places = topics.append(TOPIC, vec![message]).await.expect("slow, but fair");
                        let _ = told.send((key.clone(), payload, places[0]));
                    }
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(1500)).await;
        callers.iter().for_each(tokio::task::JoinHandle::abort);
        drop((topics, store));
        while let Ok(answer) = heard.try_recv() {
            acknowledged.push(answer);
        }
    }
    let topics = Process::start(&memory, lives, Faults::default()).topics;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let keys = by_key(&read_log(&topics).await);
    for (key, payload, place) in &acknowledged {
        assert!(keys[key].contains(&(payload.clone(), *place)), "{key} {payload} is lost");
    }
    for (key, payloads) in &keys {
        let in_order = payloads.windows(2).all(|pair| pair[0].0 < pair[1].0);
        assert!(in_order, "{key} is out of order or doubled: {payloads:?}");
    }
    assert!(acknowledged.len() > 50, "only {} were acknowledged", acknowledged.len());
}
