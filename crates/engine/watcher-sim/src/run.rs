//! One simulation, from its seed to its outcome.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Once};

use parking_lot::Mutex;
use std::time::Duration;

use store::{Memory, Schema};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;
use topics::{ReadLimit, TopicSpec, Topics};
use watcher::planted::{Bug, plant, share_one_task};

use crate::chaos::fill_place;
use crate::engine::Switchboard;
use crate::gate::Gate;
use crate::instance::{Ground, Instance, TOPIC};
use crate::operator::Operator;
use crate::outside::Writer;
use crate::scenario::Scenario;
use crate::tables::Role;
use crate::world::{Violation, World};

/// Partitions of the topic.
const PARTITIONS: u32 = 2;
/// How long a process may take to stop when nothing is wrong.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Everything else follows from it.
    pub seed: u64,
    /// How long things go wrong; `None`: as the seed says.
    pub seconds: Option<u64>,
    pub bug: Option<Bug>,
    /// Whether to keep every line of the trace.
    pub keep_trace: bool,
    /// Only a violation of this invariant ends the simulation; `None`: of any.
    pub looking_for: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub seed: u64,
    /// In this order.
    pub violations: Vec<Violation>,
    /// The last lines of the trace.
    pub last: Vec<String>,
    /// A hash over the whole trace.
    pub hash: u64,
    /// The whole trace, if it was kept.
    pub trace: Option<Vec<String>>,
    /// Lines of the trace.
    pub events: u64,
    /// Batches that were applied.
    pub commits: u64,
    /// Calls of stages.
    pub calls: u64,
    /// By kind.
    pub faults: BTreeMap<String, u64>,
    /// How often each invariant was checked.
    pub checks: BTreeMap<&'static str, u64>,
    pub simulated: Duration,
}

/// Runs one simulation on this thread.
///
/// # Panics
/// If there is no memory for a runtime.
#[must_use]
pub fn simulate(options: &Options) -> Outcome {
    note_panics();
    PANICS.take();
    share_one_task();
    plant(options.bug);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without input and output needs nothing but memory");
    let outcome = runtime.block_on(play(options));
    drop(runtime);
    plant(None);
    outcome
}

thread_local! {
    /// Panics of the watcher and the simulator; those of stages do not count.
    static PANICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn note_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.with_borrow_mut(|panics| panics.push(panic.to_string()));
            usual(panic);
        }));
    });
}

async fn play(options: &Options) -> Outcome {
    let scenario = Scenario::of(options.seed, options.seconds);
    let world = World::new(&scenario, options.keep_trace, options.looking_for);
    world.event(format_args!("{scenario:?}"));
    let ground = ground(scenario, &world);
    tokio::select! {
        biased;
        () = world.failure() => {}
        () = everything(&ground) => {}
    }
    if let Some(panic) = PANICS.take().into_iter().next() {
        world.broken("nothing panics", panic);
    }
    let simulated = Duration::from_millis(world.now_ms());
    let summary = world.summary();
    Outcome {
        seed: options.seed,
        violations: summary.violations,
        last: summary.last,
        hash: summary.hash,
        trace: summary.trace,
        events: summary.events,
        commits: summary.commits,
        calls: summary.calls,
        faults: summary.faults,
        checks: summary.checks,
        simulated,
    }
}

fn ground(scenario: Scenario, world: &World) -> Ground {
    let tables = watcher::tables().into_iter().chain(topics::tables());
    let schema = Schema::new(1, tables).expect("the tables of the watcher and the topics fit together");
    let switchboard = Switchboard::new(scenario.seed, scenario.hints_lost);
    let (memory, engines) = (Memory::new(schema), Arc::new(Mutex::default()));
    Ground { scenario, world: world.clone(), memory, switchboard, engines }
}

async fn everything(ground: &Ground) {
    let topics = topic(ground).await;
    let places: Vec<JoinHandle<Instance>> =
        (0..ground.scenario.instances).map(|place| tokio::spawn(fill_place(ground.clone(), place))).collect();
    let mut writers = JoinSet::new();
    let ops = Arc::new(AtomicU64::new(0));
    for number in 0..ground.scenario.writers {
        let (ground, name, ops) = (ground.clone(), format!("w{number}"), Arc::clone(&ops));
        writers.spawn(async move { Writer::new(ground, name, ops).await.run().await });
    }
    let mut operators = JoinSet::new();
    for number in 0..ground.scenario.operators {
        let (ground, name) = (ground.clone(), format!("o{number}"));
        operators.spawn(async move { Operator::new(ground, &name).await.run().await });
    }
    sleep(ground.scenario.chaos).await;
    ground.end_faults();
    while writers.join_next().await.is_some() {}
    while operators.join_next().await.is_some() {}
    Operator::new(ground.clone(), "settler").await.settle().await;
    let mut instances = Vec::new();
    for place in places {
        instances.extend(place.await);
    }
    sleep(ground.scenario.calm).await;
    ground.switchboard.lose_all();
    Writer::new(ground.clone(), "last".to_owned(), ops).await.last_words().await;
    sleep(ground.scenario.quiet).await;
    ground.world.ended(&exported(&topics).await);
    for instance in instances {
        let name = instance.name.clone();
        if !instance.stop(PATIENCE).await {
            ground.world.broken("a process ends in order", format!("{name} does not end"));
        }
    }
    ground.world.left();
}

/// The topic, over a store without faults.
async fn topic(ground: &Ground) -> Topics {
    let actor = ground.actor("observer", Role::Outside);
    let store = ground.store(&actor, &Gate::default());
    let topics = Topics::in_store(&store);
    while let Err(error) = topics.create(&TopicSpec::new(TOPIC, PARTITIONS)).await {
        ground.world.event(format_args!("cannot make the topic: {error}"));
    }
    topics
}

/// The entities and versions in the topic.
async fn exported(topics: &Topics) -> Vec<(String, u64)> {
    let mut exported = Vec::new();
    for partition in 0..PARTITIONS {
        let mut offset = 0;
        while let Ok(page) = topics.read(TOPIC, partition, offset, ReadLimit::default()).await {
            if page.messages.is_empty() {
                break;
            }
            for delivered in page.messages {
                let message = delivered.message;
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let version = message.header_value("version").and_then(|v| text(v).parse().ok());
                exported.push((text(&message.key), version.unwrap_or(0)));
            }
            offset = page.next;
        }
    }
    exported
}
