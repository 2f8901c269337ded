//! Telling: the stages hear of the changes that they made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use store::{Hint, Hints, Read, Row};
use tokio::sync::watch;
use tokio::task::{self, JoinError, JoinSet};
use tokio::time::{Instant, sleep_until};

use super::pauses::{Pauses, pause_after_errors};
use super::telling::{Telling, Told};
use super::{DOUBT_PAUSE, Damage, Excluded, Serving, Unbounded, log_failure, next_in_turn};
use crate::entity::Entity;
use crate::limits::RELAY_ROWS_MAX;
use crate::shards::Fence;
use crate::stage::Stage;
use crate::tables::SAVED;
use crate::watcher::Watcher;
use crate::{Error, Result};

/// The longest pause between two looks for changes of which stages have yet to hear, should no hint come.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Shards in which one stage is told of its changes at the same time.
const SHARDS_OF_A_STAGE_MAX: usize = 16;
/// Looks and tellings of all stages at the same time.
const TASKS_MAX: usize = 256;
/// A stage is told of no further change in one go once the changes have this many bytes.
const TELL_BYTES_FULL: usize = 2 * 1024 * 1024;

/// A stage in a shard: the stage is a number.
type Place = (u32, usize);

/// Tells the stages of this process of their changes in its shards.
pub(super) struct Teller<E: Entity> {
    watcher: Watcher<E>,
    serving: watch::Receiver<Serving>,
    damage: Damage,
    /// The stages that want to hear, by their names, in order. A stage's number is its place here.
    stages: Vec<Arc<dyn Stage<E>>>,
    names: Arc<[String]>,
    /// By shard, the stages for which there may be something.
    wanted: BTreeMap<u32, BTreeSet<usize>>,
    /// The shard that had the last turn.
    last: u32,
    pauses: Pauses<Place>,
    /// Places where a call about several changes came to nothing: they are told of one change a call.
    alone: BTreeSet<Place>,
    /// What the tasks are about.
    under_way: BTreeMap<task::Id, Vec<Place>>,
    busy: BTreeSet<Place>,
    /// Busy places by stage.
    busy_shards: Vec<usize>,
    tasks: JoinSet<Ended>,
}

/// What a task comes to.
enum Ended {
    Looked { shard: u32, fence: Fence, found: Result<Found> },
    Told { place: Place, told: Result<Told> },
}

/// The oldest changes of which stages have yet to hear, with the sum of their bytes.
type Found = BTreeMap<usize, (usize, Vec<Row>)>;

impl<E: Entity> Teller<E> {
    pub(super) fn new(watcher: Watcher<E>, serving: watch::Receiver<Serving>, damage: Damage) -> Self {
        let stages: Vec<_> =
            watcher.stages().values().filter(|stage| stage.wants_saved()).map(Arc::clone).collect();
        Self {
            watcher,
            serving,
            damage,
            wanted: BTreeMap::new(),
            last: 0,
            pauses: Pauses::new(),
            alone: BTreeSet::new(),
            under_way: BTreeMap::new(),
            busy: BTreeSet::new(),
            busy_shards: vec![0; stages.len()],
            names: stages.iter().map(|stage| stage.id().to_owned()).collect(),
            stages,
            tasks: JoinSet::new(),
        }
    }

    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        if self.stages.is_empty() {
            return;
        }
        let mut hints = self.watcher.store().hints();
        let (mut closed, mut next_look) = (false, Instant::now());
        while !*stop.borrow() {
            if self.serving.has_changed().unwrap_or(false) {
                self.heed_serving();
            }
            if Instant::now() >= next_look {
                next_look = Instant::now() + LOOK_EVERY * if planted!(RelayNeverLooks) { 10_000 } else { 1 };
                self.look_everywhere();
            }
            self.start_looks();
            let wake_at = self.pauses.next_end(Instant::now()).map_or(next_look, |end| end.min(next_look));
            tokio::select! {
                biased;
                _ = stop.wait_for(|stop| *stop) => {}
                Some(ended) = self.tasks.join_next_with_id() => self.finish(ended),
                Ok(()) = self.serving.changed() => self.heed_serving(),
                hint = hints.next(), if !closed => {
                    closed = hint.is_none();
                    self.hear_all(hint, &mut hints);
                }
                () = sleep_until(wake_at) => {}
            }
            self.hear_all(hints.next().now_or_never().flatten(), &mut hints);
        }
        self.tasks.shutdown().await;
    }

    fn heed_serving(&mut self) {
        let serving = self.serving.borrow_and_update().clone();
        self.pauses.retain(|(shard, _)| serving.contains_key(shard));
        self.alone.retain(|(shard, _)| serving.contains_key(shard));
        self.wanted.clear();
        self.look_everywhere();
    }

    fn look_everywhere(&mut self) {
        let shards: Vec<u32> = self.serving.borrow().keys().copied().collect();
        for shard in shards {
            self.look_for_all(shard);
        }
    }

    fn look_for_all(&mut self, shard: u32) {
        self.wanted.entry(shard).or_default().extend(0..self.stages.len());
    }

    fn hear_all(&mut self, hint: Option<Hint>, hints: &mut Hints) {
        let mut heard = hint;
        while let Some(hint) = heard {
            match hint {
                Hint::Put(key) if key.table().name == SAVED.def().name => {
                    if let Ok((shard, kind, stage, ..)) = SAVED.parts(&key)
                        && let (true, Some(stage)) = (kind == E::KIND, self.number_of(&stage))
                    {
                        self.wanted.entry(shard).or_default().insert(stage);
                    }
                }
                Hint::Changed { table, shard } if table == SAVED.def().name => self.look_for_all(shard),
                Hint::Put(_) | Hint::Changed { .. } => {}
                Hint::Anything => self.look_everywhere(),
            }
            heard = hints.next().now_or_never().flatten();
        }
    }

    fn number_of(&self, stage: &str) -> Option<usize> {
        self.names.binary_search_by(|name| name.as_str().cmp(stage)).ok()
    }

    /// Looks into the shards that may have something for a stage that can be told.
    fn start_looks(&mut self) {
        let down: Vec<bool> =
            self.stages.iter().map(|stage| self.watcher.board().is_down(stage.id())).collect();
        while self.tasks.len() < TASKS_MAX
            && let Some((shard, fence, stages)) = self.next_look(&down)
        {
            self.last = shard;
            self.look(shard, fence, stages);
        }
    }

    /// The next shard to look into, and for which stages.
    fn next_look(&self, down: &[bool]) -> Option<(u32, Fence, Vec<usize>)> {
        let (serving, now) = (self.serving.borrow(), Instant::now());
        let can = |place: Place| {
            !down[place.1]
                && self.busy_shards[place.1] < SHARDS_OF_A_STAGE_MAX
                && !self.busy.contains(&place)
                && !self.pauses.is_paused(&place, now)
        };
        let stages_of = |shard| self.wanted[&shard].iter().copied().filter(move |stage| can((shard, *stage)));
        let can_some = |shard| serving.contains_key(&shard) && stages_of(shard).next().is_some();
        let behind = self.wanted.range((Excluded(self.last), Unbounded)).map(|(shard, _)| *shard);
        let before = self.wanted.range(..=self.last).map(|(shard, _)| *shard);
        let shard = next_in_turn(behind, before, can_some)?;
        Some((shard, serving.get(&shard)?.clone(), stages_of(shard).collect()))
    }

    fn look(&mut self, shard: u32, fence: Fence, stages: Vec<usize>) {
        if let Some(wanted) = self.wanted.get_mut(&shard) {
            wanted.retain(|stage| !stages.contains(stage));
            if wanted.is_empty() {
                self.wanted.remove(&shard);
            }
        }
        let places = stages.iter().map(|stage| (shard, *stage)).collect();
        let look = Look { watcher: self.watcher.clone(), shard, names: Arc::clone(&self.names), stages };
        self.begin(places, async move { Ended::Looked { shard, fence, found: look.run().await } });
    }

    fn begin(&mut self, places: Vec<Place>, task: impl Future<Output = Ended> + Send + 'static) {
        for place in &places {
            self.busy.insert(*place);
            self.busy_shards[place.1] += 1;
        }
        let id = self.tasks.spawn(task).id();
        self.under_way.insert(id, places);
    }

    fn finish(&mut self, ended: Result<(task::Id, Ended), JoinError>) {
        let id = ended.as_ref().map_or_else(JoinError::id, |(id, _)| *id);
        let places = self.under_way.remove(&id).unwrap_or_default();
        for place in &places {
            self.busy.remove(place);
            self.busy_shards[place.1] -= 1;
        }
        match ended {
            Ok((_, Ended::Looked { shard, fence, found: Ok(found) })) => self.tell(shard, &fence, found),
            Ok((_, Ended::Looked { found: Err(error), .. })) => {
                for place in places {
                    self.failed(place, &error);
                }
            }
            Ok((_, Ended::Told { place, told })) => self.note(place, told),
            Err(error) => {
                tracing::error!(kind = E::KIND, %error, "telling was ended by a panic of the watcher itself");
                for place in places {
                    self.pauses.failed(place, pause_after_errors);
                    self.wanted.entry(place.0).or_default().insert(place.1);
                }
            }
        }
    }

    fn tell(&mut self, shard: u32, fence: &Fence, found: Found) {
        if self.serving.borrow().get(&shard) != Some(fence) {
            return;
        }
        for (stage, (_, rows)) in found {
            let place = (shard, stage);
            let telling = Telling {
                watcher: self.watcher.clone(),
                damage: self.damage.clone(),
                shard,
                fence: fence.clone(),
                stage: Arc::clone(&self.stages[stage]),
                alone: self.alone.contains(&place),
            };
            self.begin(vec![place], async move { Ended::Told { place, told: telling.run(rows).await } });
        }
    }

    /// Takes note of how a stage was told.
    fn note(&mut self, place: Place, told: Result<Told>) {
        match told {
            Ok(Told::All) => {
                self.pauses.clear(&place);
                self.alone.remove(&place);
            }
            Ok(Told::Failed { heard, alone }) => {
                if heard {
                    self.pauses.clear(&place);
                }
                if alone {
                    self.alone.insert(place);
                }
                let limits = self.watcher.limits_of(self.stages[place.1].id());
                self.pauses.failed(place, |failures| limits.pause_after(failures));
            }
            Ok(Told::NotOurs) => _ = self.pauses.failed(place, |_| DOUBT_PAUSE),
            Err(error) => return self.failed(place, &error),
        }
        self.wanted.entry(place.0).or_default().insert(place.1);
    }

    fn failed(&mut self, place: Place, error: &Error) {
        let failures = self.pauses.failed(place, pause_after_errors);
        log_failure(E::KIND, place.0, error, failures, "tell a stage of its changes");
        self.wanted.entry(place.0).or_default().insert(place.1);
    }
}

/// A look for the oldest changes of some stages in a shard.
struct Look<E: Entity> {
    watcher: Watcher<E>,
    shard: u32,
    /// All stages that want to hear.
    names: Arc<[String]>,
    /// The numbers of those that are meant.
    stages: Vec<usize>,
}

impl<E: Entity> Look<E> {
    /// One read if there is nothing: stages that stand beside each other are looked for together.
    async fn run(self) -> Result<Found> {
        let numbers: Vec<usize> = (0..self.names.len()).collect();
        let mut found = Found::new();
        for run in numbers.split(|number| !self.stages.contains(number)) {
            let mut run = run;
            while let (Some(first), Some(last)) = (run.first(), run.last()) {
                run = match self.read(*first, *last, &mut found).await? {
                    Some(reached) => &run[run.partition_point(|number| self.names[*number] <= reached)..],
                    None => &[],
                };
            }
        }
        Ok(found)
    }

    /// Reads the oldest rows of the first of these stages that has some, and of those behind it if there is room. Returns the last stage
    /// of which something was read, if there may be more behind it.
    async fn read(&self, first: usize, last: usize, found: &mut Found) -> Result<Option<String>> {
        let bound = |number: usize| SAVED.bound((self.shard, E::KIND, &*self.names[number]));
        let scan = SAVED.scan().from(bound(first)).through(bound(last)).limit(RELAY_ROWS_MAX);
        let page = self.watcher.store().scan(&scan).await?;
        let mut reached = None;
        for row in page.rows {
            let Ok((_, _, stage, ..)) = SAVED.parts(&row.key) else { continue };
            // Rows of a stage that is not known here wait for a process that knows it.
            if let Ok(number) = self.names.binary_search(&stage) {
                let (bytes, rows) = found.entry(number).or_default();
                if *bytes < TELL_BYTES_FULL {
                    *bytes += row.value.len();
                    rows.push(row);
                }
            }
            reached = Some(stage);
        }
        Ok(reached.filter(|_| page.next.is_some()))
    }
}
