//! One run, from its plan to what came of it.

use std::time::Duration;

use offers::StoredOffer;
use store::{Batch, Faults, Read, TableDef};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use watcher::Entity;
use wire::torg::offers::v1::Status;

use crate::model::checks;
use crate::model::client::Client;
use crate::model::consumer::{Consumer, GROUP};
use crate::model::dice::Dice;
use crate::model::evidence::{Evidence, status};
use crate::model::journal::{Answer, Journal};
use crate::model::market::{Market, TOPIC};
use crate::model::moderator::Moderator;
use crate::model::plan::{Engine, Plan, SELLERS};

/// The group of consumers that applies opinions.
const MODERATION: &str = "offers.moderation";
/// Moderators.
const MODERATORS: u64 = 2;
/// The pause between two looks at whether all is at rest.
const LOOK: Duration = Duration::from_millis(100);

/// What came of a run that found nothing wrong.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) hash: u64,
    pub(crate) events: u64,
    pub(crate) trace: Vec<String>,
    /// Figures for people.
    pub(crate) figures: String,
}

/// Plays a plan; `None` if this machine lacks what it needs. Panics where something is wrong, and
/// tells the seed.
pub(crate) fn play(plan: &Plan) -> Option<Outcome> {
    let _seed = Seed(plan.clone());
    let mut builder = match plan.engine {
        Engine::Memory => tokio::runtime::Builder::new_current_thread(),
        Engine::Fjall | Engine::Postgres => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = match plan.engine {
        Engine::Memory => builder.enable_time().start_paused(true),
        Engine::Fjall | Engine::Postgres => builder.worker_threads(2).enable_all(),
    };
    runtime.build().unwrap().block_on(everything(plan))
}

/// Tells which run it was that ends in a panic.
struct Seed(Plan);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Plan { engine, seed, .. } = &self.0;
            eprintln!("this was seed {seed} on {engine:?}");
        }
    }
}

async fn everything(plan: &Plan) -> Option<Outcome> {
    let (mut market, began) = (Market::open(plan).await?, Instant::now());
    let journal = Journal::new(plan.keep_trace);
    market.begin(plan);
    let consumer = {
        let ((store, topics), journal, seed) = (market.consumers.clone(), journal.clone(), plan.seed);
        tokio::spawn(Consumer { store, topics, journal, seed }.live_and_die(plan.consumer_life))
    };
    for actor in actors(plan, &market, &journal) {
        actor.await.unwrap();
    }
    let (faults, acted) = (market.fault_count(), began.elapsed());
    market.set_faults(Faults::default());
    come_to_rest(plan, &market).await;
    consumer.abort();
    let _ = consumer.await;
    let evidence = Evidence::of(&market, journal.take()).await;
    checks::all(plan, &market, &evidence).await;
    market.close().await;
    Some(outcome(evidence, faults, acted, began.elapsed()))
}

/// Everybody who does something.
fn actors(plan: &Plan, market: &Market, journal: &Journal) -> Vec<JoinHandle<()>> {
    let mut actors = Vec::new();
    for number in 0..MODERATORS {
        let moderator = Moderator {
            topics: market.topics.clone(),
            topic: market.opinions.topic.clone(),
            clock: market.clock.clone(),
            journal: journal.clone(),
            dice: Dice::of(plan.seed, &format!("moderator {number}")),
            opinions: plan.opinions / MODERATORS,
            pause: plan.pause,
        };
        actors.push(tokio::spawn(moderator.run()));
    }
    for seller in SELLERS {
        for number in 0..plan.clients {
            let name = format!("{seller} {number}");
            let client = Client {
                offers: market.offers.clone(),
                journal: journal.clone(),
                seller,
                dice: Dice::of(plan.seed, &name),
                name,
                operations: plan.operations,
                pause: plan.pause,
                keyed: Vec::new(),
            };
            actors.push(tokio::spawn(client.run()));
        }
    }
    actors
}

/// Waits until nothing is left that would change by itself.
async fn come_to_rest(plan: &Plan, market: &Market) {
    // What callers who went away have left in the store's queue is written before this.
    for _ in 0..4 {
        let mut batch = Batch::new();
        let position = market.topics.position("nobody", TOPIC, 0).await.unwrap();
        let _ = position.commit_into(&mut batch, 0);
        assert!(market.store.commit(batch).await.unwrap().is_applied());
    }
    let deadline = Instant::now() + plan.patience;
    while let Some(unrest) = unrest(market).await {
        assert!(Instant::now() < deadline, "rest: {unrest}");
        sleep(LOOK).await;
    }
}

/// What is still going on. Each thing that ends sets off only those that are asked for after it.
async fn unrest(market: &Market) -> Option<String> {
    let lag = market.topics.lag(MODERATION, &market.opinions.topic).await.unwrap();
    if lag.iter().any(|lag| lag.messages > 0) {
        return Some(format!("opinions are behind: {lag:?}"));
    }
    for row in rows(market, "offers").await {
        let stored = StoredOffer::decode(&row.value).unwrap();
        if !matches!(stored.status(), Status::Expired | Status::Sold | Status::Banned) {
            return Some(format!("{} is {:?}", stored.id, stored.status()));
        }
    }
    if let Some(row) = rows(market, "watcher_outbox").await.first() {
        return Some(format!("{} is in the outbox", row.key));
    }
    let lag = market.topics.lag(GROUP, TOPIC).await.unwrap();
    lag.iter().any(|lag| lag.messages > 0).then(|| format!("the consumer is behind: {lag:?}"))
}

/// All rows of a table.
pub(crate) async fn rows(market: &Market, table: &str) -> Vec<store::Row> {
    let mut tables = watcher::tables().into_iter().chain(offers::tables());
    let table: &'static TableDef = tables.find(|def| def.name == table).unwrap();
    let (mut scan, mut rows) = (table.scan(), Vec::new());
    loop {
        let page = market.store.scan(&scan).await.unwrap();
        rows.extend(page.rows);
        let Some(next) = page.next else { return rows };
        scan = table.scan().after(next);
    }
}

fn outcome(evidence: Evidence, faults: u64, acted: Duration, took: Duration) -> Outcome {
    let Evidence { notes, versions, current, .. } = evidence;
    let answers = |is: fn(&Answer) -> bool| notes.calls.iter().filter(|call| is(&call.answer)).count();
    let done = answers(|answer| matches!(answer, Answer::Done(_)));
    let refused = answers(|answer| matches!(answer, Answer::Refused(_)));
    let of_status = |wanted| current.values().filter(|offer| status(offer) == wanted).count();
    let figures = format!(
        "{} calls ({done} done, {refused} refused), {} opinions, {} offers ({} expired, {} sold, {} banned, {} archived), {} versions, \
         {} messages by a consumer killed {} times, {faults} faults, {:.1} s of acting, {:.1} s in all",
        notes.calls.len(),
        notes.given.len(),
        current.len(),
        of_status(Status::Expired),
        of_status(Status::Sold),
        of_status(Status::Banned),
        of_status(Status::Archived),
        versions.values().map(Vec::len).sum::<usize>(),
        notes.received.len(),
        notes.consumer_kills,
        acted.as_secs_f64(),
        took.as_secs_f64(),
    );
    Outcome { hash: notes.hash(), events: notes.events, trace: notes.trace().to_vec(), figures }
}
