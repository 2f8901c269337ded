//! Three processes on one PostgreSQL. One is killed, one is stopped for half a minute and goes on:
//! its shards move to the living, work resumes, nothing is lost, and nothing that the stale process
//! still had in hand gets through.

mod child;
mod evidence;
mod serving;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{Batch, KeyValue, Row, Store, StoreOptions};
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use topics::{TopicSpec, Topics};
use watcher::{Clock, Setup, Watcher};

use crate::common::Thing;
use crate::waiting::{eventually, owners, rows};
use child::{INSTANCE, STORE, Serving};
use evidence::{Owners, histories, unheard};
use serving::{LEASE_TIME, SHARDS, TOPIC};

const THINGS: u32 = 300;
/// A thing is saved this often.
const SAVE_EVERY: Duration = Duration::from_millis(25);
/// How long the stopped process is stopped.
const STOPPED_FOR: Duration = Duration::from_secs(30);
/// How long a saved thing may wait for its stage, beyond the lease time, whatever happens to
/// processes.
const RESUMES_WITHIN: Duration = Duration::from_secs(5);

#[test]
fn serves_when_it_is_started_by_the_other_test() {
    if let (Ok(url), Ok(instance)) = (std::env::var(STORE), std::env::var(INSTANCE)) {
        serving::serve(&url, &instance);
    }
}

/// Something that runs until it is asked for its result.
struct Beside<T> {
    stop: Arc<AtomicBool>,
    task: JoinHandle<T>,
}

impl<T: Send + 'static> Beside<T> {
    fn start<F: Future<Output = T> + Send + 'static>(work: impl FnOnce(Arc<AtomicBool>) -> F) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        Self { task: tokio::spawn(work(Arc::clone(&stop))), stop }
    }

    async fn end(self) -> T {
        self.stop.store(true, Ordering::Relaxed);
        self.task.await.unwrap()
    }
}

/// Saves things, again and again with a higher price. Returns the last price of each.
async fn keep_saving(watcher: Watcher<Thing>, store: Store, stop: Arc<AtomicBool>) -> BTreeMap<String, i64> {
    let mut last = BTreeMap::new();
    let mut tick = interval(SAVE_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for n in 0i64.. {
        tick.tick().await;
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (id, price) = (format!("t{}", n % i64::from(THINGS)), n);
        loop {
            let before = watcher.load(&id).await.unwrap();
            let title = before.as_ref().map_or_else(|| "new".to_owned(), |found| found.entity.title.clone());
            let thing = Thing { id: id.clone(), price, title };
            let mut batch = Batch::new();
            watcher.save(&mut batch, before.as_ref(), &thing).await.unwrap();
            if store.commit(batch).await.unwrap().is_applied() {
                break;
            }
        }
        last.insert(id, price);
    }
    last
}

async fn keep_noting_owners(store: Store, stop: Arc<AtomicBool>) -> Owners {
    let mut noted = Owners::default();
    while !stop.load(Ordering::Relaxed) {
        noted.note(owners(&store).await);
        sleep(Duration::from_millis(50)).await;
    }
    noted
}

/// Waits until all shards are shared fairly by these processes and no others.
async fn eventually_shared_by(store: &Store, processes: &[&Serving]) {
    let names: Vec<&str> = processes.iter().map(|process| process.name).collect();
    let fair = SHARDS as usize / names.len();
    let shared = async || {
        let owners = owners(store).await;
        let has = |name: &str| owners.values().filter(|(owner, _)| owner == name).count();
        let shares: Vec<usize> = names.iter().map(|name| has(name)).collect();
        let is_fair = shares.iter().all(|share| (fair..=fair + 1).contains(share));
        (is_fair && shares.iter().sum::<usize>() == SHARDS as usize).then_some(())
    };
    eventually(&format!("the shards are shared by {names:?}"), shared).await;
}

/// Waits until nothing is due any more that is due now.
async fn eventually_caught_up(store: &Store) {
    let now = Clock::system().now().as_ms();
    let is_due = |row: &Row| match row.key.values().unwrap()[..] {
        [.., KeyValue::I64(visit), KeyValue::Text(_)] => visit <= now,
        ref other => panic!("{other:?}"),
    };
    let caught_up = async || (!rows(store, "watcher_queues").await.iter().any(is_due)).then_some(());
    eventually("all that was due is done", caught_up).await;
}

async fn eventually_empty(store: &Store, tables: &[&str]) {
    for table in tables {
        let look = async || rows(store, table).await.is_empty().then_some(());
        eventually(&format!("{table} is empty"), look).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_one_of_three_processes_is_killed_and_one_is_stopped_work_goes_on_and_nothing_stale_gets_through()
 {
    let Some(server) = testkit::postgres() else { return };
    let url = server.fresh_database();
    let store =
        Store::open(&url.parse().unwrap(), serving::schema(), &StoreOptions::default()).await.unwrap();
    let topics = Topics::in_store(&store);
    topics.create(&TopicSpec::new(TOPIC, 8)).await.unwrap();
    let (topic, stages) = (Some((&topics, TOPIC)), serving::stages("outside"));
    let watcher = Watcher::open(
        &store,
        Setup { topic, config: serving::config(), stages, seed: 1, ..Setup::default() },
    )
    .await
    .unwrap();

    let [mut steady, mut killed, mut stopped] =
        ["steady", "killed", "stopped"].map(|name| Serving::start(&url, name));
    let noting = Beside::start(|stop| keep_noting_owners(store.clone(), stop));
    eventually_shared_by(&store, &[&steady, &killed, &stopped]).await;
    let saving = Beside::start(|stop| keep_saving(watcher.clone(), store.clone(), stop));
    let works = async |process: &Serving| {
        let heard = async || process.said().iter().any(|line| line.starts_with("heard")).then_some(());
        eventually(&format!("{} works", process.name), heard).await;
    };
    for process in [&steady, &killed, &stopped] {
        works(process).await;
    }

    killed.signal("KILL");
    killed.wait();
    eventually_shared_by(&store, &[&steady, &stopped]).await;
    eventually_caught_up(&store).await;

    stopped.signal("STOP");
    let goes_on = Instant::now() + STOPPED_FOR;
    let refused_before = stopped.refused();
    eventually_shared_by(&store, &[&steady]).await;
    sleep_until(goes_on).await;
    stopped.signal("CONT");
    let refused = async || (stopped.refused() > refused_before).then_some(());
    eventually("the store refuses what the stale process had in hand", refused).await;
    eventually_shared_by(&store, &[&steady, &stopped]).await;
    eventually_caught_up(&store).await;

    let last = saving.end().await;
    eventually_empty(&store, &["watcher_queues", "watcher_outbox", "watcher_saved"]).await;
    let owners = noting.end().await;
    for process in [&mut steady, &mut stopped] {
        process.release();
        process.wait();
        assert_eq!(process.said().iter().filter(|line| *line == "ended").count(), 1, "{}", process.name);
    }

    let histories = histories(&topics).await;
    assert_eq!(histories.keys().collect::<Vec<_>>(), last.keys().collect::<Vec<_>>());
    for (id, price) in &last {
        let (history, found) = (&histories[id], watcher.load(id).await.unwrap().unwrap());
        assert_eq!(found.entity.price, *price, "{id}: the last save is there");
        let versions: Vec<u64> = history.changes.iter().map(|change| change.version).collect();
        assert_eq!(versions, (1..=found.version).collect::<Vec<_>>(), "{id}: every version left, in order");
        assert_eq!(history.changes.last().unwrap().thing, found.entity, "{id}");
        let seen = [
            ("marking", price.to_string()),
            ("waking", format!("fired {price}")),
            ("asked", price.to_string()),
        ];
        for (stage, state) in seen {
            let there = watcher.state(id, stage).await.unwrap().bytes;
            assert_eq!(there, state, "{id}: {stage} has seen the last price");
        }
        assert!(owners.explain(id, history), "{id}: {:?} changed it, {owners:?}", history.processes());
    }
    let said: Vec<String> = [&steady, &killed, &stopped].iter().flat_map(|process| process.said()).collect();
    assert_eq!(unheard(&histories, &said), Vec::<String>::new());

    let longest = histories.values().map(evidence::History::longest_wait).max().unwrap_or_default();
    let sum = |count: fn(&evidence::History) -> usize| histories.values().map(count).sum::<usize>();
    println!(
        "{} changes, {} sent again, {} of them late; {} batches refused; longest wait {longest:?}",
        sum(|history| history.changes.len()),
        sum(|history| history.repeated + history.repeated_late),
        sum(|history| history.repeated_late),
        stopped.refused() - refused_before,
    );
    assert!(longest <= LEASE_TIME + RESUMES_WITHIN, "a thing waited for {longest:?}");
}
