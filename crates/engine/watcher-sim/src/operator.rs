//! Operators: they pause and resume stages, change limits, release what is parked, order re-crawls,
//! and ask why things wait.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use watcher::insight::Entry;
use watcher::{Error, LimitOverrides, Result, Waits, Watcher, shard_of};

use crate::dice::Dice;
use crate::gate::Gate;
use crate::instance::Ground;
use crate::invariants::require;
use crate::stages::Kind;
use crate::tables::Role;
use crate::thing::Thing;

/// The invariant that operators check themselves.
pub(crate) const ANSWERED: &str = "what operators order and ask is answered";
/// How long they go on after faults have stopped.
const AFTER_CHAOS: Duration = Duration::from_secs(25);

#[derive(Clone, Debug)]
enum Order {
    Pause(Kind),
    Resume(Kind),
    Limits(Kind, LimitOverrides),
    Release(Kind),
    /// A visit of an entity.
    Visit(Kind, String),
    /// At most this many entities a second.
    Crawl(Option<u32>),
    /// Two at the same moment.
    CrawlTwice,
    PauseCrawl,
    ResumeCrawl(Option<u32>),
    CancelCrawl,
    Explain(String),
    Report(Kind),
}

pub(crate) struct Operator {
    name: String,
    ground: Ground,
    watcher: Watcher<Thing>,
    dice: Dice,
    /// The stage that it paused last.
    paused: Option<Kind>,
}

impl Operator {
    pub(crate) async fn new(ground: Ground, name: &str) -> Self {
        let (actor, gate) = (ground.actor(name, Role::Outside), Gate::default());
        let store = ground.store(&actor, &gate);
        let watcher = ground.watcher(&actor, &store, &gate).await;
        let dice = Dice::of(ground.scenario.seed, name);
        Self { name: name.to_owned(), ground, watcher, dice, paused: None }
    }

    pub(crate) async fn run(mut self) {
        let until = Instant::now() + self.ground.scenario.chaos + AFTER_CHAOS;
        while Instant::now() < until {
            let order = self.draw();
            match order {
                Order::Pause(kind) => self.paused = Some(kind),
                Order::Resume(kind) => self.paused = self.paused.filter(|paused| *paused != kind),
                _ => {}
            }
            self.ground.world.event(format_args!("{} orders {order:?}", self.name));
            self.give(&order).await;
            sleep(self.dice.ms(1..self.ground.scenario.operator_pause.as_millis() as u64)).await;
        }
    }

    /// Takes back every order that keeps something from being done, once nothing fails any more.
    pub(crate) async fn settle(self) {
        for kind in Kind::ALL {
            self.give(&Order::Resume(kind)).await;
            self.give(&Order::Limits(kind, LimitOverrides::default())).await;
        }
        if self.is_crawl_under_way() {
            self.give(&Order::ResumeCrawl(None)).await;
        }
    }

    fn draw(&self) -> Order {
        let kind = *self.dice.one_of(&Kind::ALL);
        let id = format!("e{}", self.dice.within(0..self.ground.scenario.entities as u64 + 1));
        match self.dice.within(0..28) {
            0..4 => Order::Pause(kind),
            4..7 => Order::Resume(kind),
            7..9 => Order::Limits(kind, self.limits()),
            9..12 => Order::Release(*self.dice.one_of(&[kind, Kind::Shaky])),
            12..15 => Order::Crawl(self.per_second()),
            15 => Order::CrawlTwice,
            16 => Order::PauseCrawl,
            17..20 => Order::ResumeCrawl(self.per_second()),
            20 => Order::CancelCrawl,
            21 => Order::Report(kind),
            22..24 => Order::Explain(id),
            // Tempts the paused stage.
            _ => Order::Visit(self.paused.unwrap_or(kind), id),
        }
    }

    fn per_second(&self) -> Option<u32> {
        *self.dice.one_of(&[None, None, Some(1), Some(2), Some(5)])
    }

    fn limits(&self) -> LimitOverrides {
        let some = |most: u64| self.dice.thousandths(500).then(|| self.dice.within(1..most) as u32);
        LimitOverrides { rate: some(50).map(f64::from), calls_max: some(4), batch_max: some(6) }
    }

    async fn give(&self, order: &Order) {
        let watcher = &self.watcher;
        let answered = match order {
            Order::Pause(kind) => watcher.pause_stage(kind.id(), "a simulation").await,
            Order::Resume(kind) => watcher.resume_stage(kind.id()).await,
            Order::Limits(kind, limits) => watcher.set_limits(kind.id(), *limits).await.map(|_| ()),
            Order::Release(kind) => self.release(*kind).await,
            Order::Visit(kind, id) => watcher.request_visit(id, kind.id()).await.map(|_| ()),
            Order::Explain(id) => self.explain(id).await,
            Order::Report(kind) => watcher.report(kind.id()).await.map(|report| {
                self.ground.world.event(format_args!("{} hears: {report:?}", self.name));
            }),
            _ => return self.crawl(order).await,
        };
        self.note(order, answered.as_ref().err(), false);
    }

    /// Nothing stays parked as it was.
    async fn release(&self, kind: Kind) -> Result<()> {
        let before = self.ground.world.parked(kind.id());
        let count = self.watcher.release(kind.id()).await?;
        self.ground.world.event(format_args!("{} releases {count}", self.name));
        let after = self.ground.world.parked(kind.id());
        let left = before.intersection(&after).next();
        let seen = require(left.is_none(), || format!("{left:?} was not released by {}", kind.id()));
        self.ground.world.looked_at(ANSWERED, seen);
        Ok(())
    }

    /// An explanation is right where nothing changed meanwhile.
    async fn explain(&self, id: &String) -> Result<()> {
        let shard = shard_of(id, self.ground.scenario.config.shards);
        let before = self.ground.world.entries(shard, id);
        let explanation = self.watcher.explain(id).await?;
        self.ground.world.event(format_args!("{} hears of {id}: {explanation}", self.name));
        let after = self.ground.world.entries(shard, id);
        for (stage, row) in before.iter().filter(|(stage, row)| after.get(*stage) == Some(*row)) {
            let (entry, waits) = (row.read::<Entry>(), &explanation.stages[*stage].waits);
            let is_right = match waits {
                Waits::Parked => entry.parked,
                Waits::NotInterested => !entry.parked && !entry.queued,
                _ => entry.queued,
            };
            let seen =
                require(is_right, || format!("{id} in {stage} is {entry:?}, and explained as {waits:?}"));
            self.ground.world.looked_at(ANSWERED, seen);
        }
        Ok(())
    }

    /// Orders that may be refused, depending on whether a re-crawl is under way.
    async fn crawl(&self, order: &Order) {
        let (watcher, before) = (&self.watcher, self.crawl_under_way());
        let answers = match order {
            Order::Crawl(per_second) => vec![watcher.start_recrawl(*per_second).await],
            Order::CrawlTwice => {
                let (one, two) = tokio::join!(watcher.start_recrawl(Some(1)), watcher.start_recrawl(None));
                vec![one, two]
            }
            Order::PauseCrawl => vec![watcher.pause_recrawl().await],
            Order::ResumeCrawl(per_second) => vec![watcher.resume_recrawl(*per_second).await],
            _ => vec![watcher.cancel_recrawl().await],
        };
        let after = self.crawl_under_way();
        // A concurrent change may be the reason for any answer.
        let was_same = before == after;
        let is_start = matches!(order, Order::Crawl(_) | Order::CrawlTwice);
        let must_refuse = was_same && is_start == before.1;
        let may_refuse = must_refuse || !was_same || answers.len() > 1;
        for answer in &answers {
            self.note(order, answer.as_ref().err(), may_refuse);
            if must_refuse && answer.is_ok() {
                let seen = format!("{order:?} was accepted at {before:?}");
                self.ground.world.looked_at(ANSWERED, Err(seen));
            }
        }
    }

    /// The number of the last re-crawl, and whether it is under way.
    fn crawl_under_way(&self) -> (u64, bool) {
        let (order, is_done) = self.ground.world.crawl(self.ground.scenario.config.shards);
        (order.run, order.run > 0 && !order.cancelled && !is_done)
    }

    fn is_crawl_under_way(&self) -> bool {
        self.crawl_under_way().1
    }

    /// Only the store may fail, unless there is a reason to refuse.
    fn note(&self, order: &Order, error: Option<&Error>, may_refuse: bool) {
        if let Some(error) = error {
            self.ground.world.event(format_args!("{} hears: {error}", self.name));
        }
        let seen: Result<(), String> = match error {
            Some(Error::Conflict { .. }) if may_refuse => Ok(()),
            None | Some(Error::Store(_)) => Ok(()),
            Some(error) => Err(format!("{order:?} ended with: {error}")),
        };
        self.ground.world.looked_at(ANSWERED, seen);
    }
}
