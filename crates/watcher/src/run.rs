//! The loop: takes what is due in the shards of this process and has it visited.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use store::{Hint, Read};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::Result;
use crate::change::SYSTEM;
use crate::entity::Entity;
use crate::limits::PEEK_MAX;
use crate::queue::Lane;
use crate::relay::{Relay, Serving};
use crate::shards::Keeper;
use crate::stage::Stage;
use crate::tables::QUEUES;
use crate::time::Time;
use crate::visit::{Due, End};
use crate::watcher::Watcher;

/// The longest pause between two looks at the queues, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl<E: Entity> Watcher<E> {
    /// Serves this process's share of the shards until `stop` turns true; then gives them away. `instance` must be unique among all
    /// processes that share the store, and never used again.
    ///
    /// Errors of the store do not end it: it tries again.
    pub async fn run(&self, instance: String, stop: watch::Receiver<bool>) {
        let serving = watch::Sender::new(Serving::new());
        let relay = Relay::new(self.clone(), serving.subscribe());
        let mut keeper = self.keeper(instance);
        tokio::join!(self.run_visits(&mut keeper, &serving, stop.clone()), relay.run(stop));
        log_error(keeper.resign().await);
    }

    async fn run_visits(
        &self,
        keeper: &mut Keeper,
        serving: &watch::Sender<Serving>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut hints = self.store().hints();
        let mut next_beat = Instant::now();
        while !*stop.borrow() {
            if Instant::now() >= next_beat {
                next_beat = Instant::now() + keeper.beat_every();
                log_error(keeper.tick().await);
                for shard in keeper.leaving().collect::<Vec<_>>() {
                    log_error(keeper.give_away(shard).await);
                }
            }
            let fences: Serving =
                keeper.serving().filter_map(|shard| Some((shard, keeper.fence(shard)?))).collect();
            serving.send_if_modified(|serving| {
                let changed = *serving != fences;
                *serving = fences;
                changed
            });
            let next = self.serve(keeper).await;
            let wait = next.map_or(LOOK_EVERY, |next| next.since(self.now()).min(LOOK_EVERY));
            let until = next_beat.min(Instant::now() + wait);
            let hint = async {
                while let Some(hint) = hints.next().await {
                    if hint == Hint::Anything
                        || matches!(hint, Hint::Changed { table, .. } if table == QUEUES.def().name)
                    {
                        return;
                    }
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                _ = timeout_at(until, hint) => {}
            }
        }
    }

    /// Has everything visited that is due now; returns when the next visit is due.
    async fn serve(&self, keeper: &Keeper) -> Option<Time> {
        let mut next: Option<Time> = None;
        for shard in keeper.serving().collect::<Vec<_>>() {
            let Some(fence) = keeper.fence(shard) else { continue };
            for lane in Lane::ALL {
                for stage in std::iter::once(SYSTEM).chain(self.rules().interests.keys().map(String::as_str))
                {
                    let (due, later) = match self.peek(shard, lane, stage).await {
                        Ok(peeked) => peeked,
                        Err(error) => {
                            tracing::warn!(shard, stage, %error, "cannot look into a queue");
                            continue;
                        }
                    };
                    next = [next, later].into_iter().flatten().min();
                    let due =
                        due.into_iter().map(|entity| Due { shard, entity, fence: fence.clone() }).collect();
                    if self.have_visited(stage, due).await {
                        next = Some(self.now());
                    }
                }
            }
        }
        next
    }

    /// The entities that are due in a queue, oldest first, and when the one behind them is.
    async fn peek(&self, shard: u32, lane: Lane, stage: &str) -> Result<(Vec<String>, Option<Time>)> {
        let scan = QUEUES.prefix((shard, E::KIND, lane.number(), stage)).limit(PEEK_MAX);
        let now = self.now();
        let mut due = Vec::new();
        for row in self.store().scan(&scan).await?.rows {
            let (.., visit, entity) = QUEUES.parts(&row.key)?;
            let visit = Time::from_ms(visit);
            if visit > now {
                return Ok((due, Some(visit)));
            }
            due.push(entity);
        }
        let full = due.len() == PEEK_MAX;
        Ok((due, full.then_some(now)))
    }

    /// Says whether some of the visits have to be made again.
    async fn have_visited(&self, stage: &str, due: Vec<Due>) -> bool {
        if due.is_empty() {
            return false;
        }
        let ends = if let Some(stage) = self.stage(stage) {
            self.visit(stage, &due).await
        } else {
            let mut ends = Vec::with_capacity(due.len());
            for due in &due {
                ends.push(self.ask_stages(due).await);
            }
            ends
        };
        let mut again = false;
        for (due, end) in due.iter().zip(ends) {
            match end {
                Ok(End::Saved | End::Gone) => {}
                Ok(End::Failed(error)) => {
                    tracing::warn!(stage, entity = due.entity, %error, "a visit failed");
                }
                Ok(End::Again) => again = true,
                Err(error) => tracing::warn!(stage, entity = due.entity, %error, "a visit could not be made"),
            }
        }
        again
    }
}

fn log_error(outcome: Result<()>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "cannot keep the leases of the shards");
    }
}

/// The stages by their names.
pub(crate) type Stages<E> = BTreeMap<String, Arc<dyn Stage<E>>>;
