//! Decisions become durable, and what follows from them is done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::Ordering;

use buffa::{EnumValue, Message as _};
use ctl::Change;
use ctl::messages;
use jiff::Timestamp;
use planner::board::{Act, Decision, End, Outcome, Seen, Start};
use planner::limits::AUTHOR_CHARS_MAX;
use store::{Batch, Key, Read as _};
use triggers::Parameter;
use watcher::Versioned;
use wire::torg::tasks::v1::{TaskEvent, TaskRun, task_run};

use super::owner::{Halt, Kept, Owner};
use crate::core::run_id;
use crate::entity::{TaskEntity, found};
use crate::error::Result;
use crate::limits::{ALERTS_KEPT, DECISIONS_IN_A_BATCH, EVENTS_KEPT, OPERATIONS_IN_A_BATCH, RUNS_KEPT};
use crate::rows::{alert_message, cause_message, decode};
use crate::spec::{Facts, spec_of};
use crate::tables::{ENDS, EVENTS, RUNS, SHARD};

/// Operations of a decision beside the values that it sets, about.
const OPERATIONS: usize = 10;
/// Operations of a value that is set, about.
const OPERATIONS_OF_A_VALUE: usize = 5;

impl Owner {
    /// Commits decisions, several in one batch, and does what follows from them. What is not committed in the end is in doubt.
    pub(super) async fn carry_out(&mut self, decisions: Vec<Decision>) -> Result<(), Halt> {
        let mut groups = grouped(decisions);
        while let Some(mut group) = groups.pop_front() {
            let asked = writes_of(&group);
            let committed = self.commit_group(&mut group).await;
            let conflict = match committed {
                Ok(None) => {
                    self.follow(&group);
                    continue;
                }
                Ok(Some(conflict)) => conflict,
                Err(halt) => {
                    self.doubtful.append(&mut group);
                    self.doubtful.extend(groups.into_iter().flatten());
                    return Err(halt);
                }
            };
            if group.len() > 1 {
                // What must not be set is found out anew: it may be another time, and the row of the run has to say it.
                give_back(&mut group, asked);
                for decision in group.into_iter().rev() {
                    groups.push_front(vec![decision]);
                }
                continue;
            }
            tracing::debug!(task = %group[0].task, ?conflict, "a task changed in between");
            self.doubtful.append(&mut group);
            self.resolve_doubts().await?;
        }
        Ok(())
    }

    /// The keys that were in conflict, if the group was not committed for that. Values that a run may not set are struck out of its decision.
    async fn commit_group(&self, group: &mut [Decision]) -> Result<Option<Vec<Key>>, Halt> {
        let mut batch = Batch::new();
        self.fence.guard(&mut batch);
        let now = self.core.now();
        let changes: Vec<(Option<Versioned<TaskEntity>>, TaskEntity)> =
            group.iter().map(|decision| self.change_of(decision, now)).collect();
        let asked: Vec<_> = changes.iter().map(|(before, after)| (before.as_ref(), after)).collect();
        self.core.watcher.save_many(&mut batch, &asked).await?;
        let runs = self.ending_runs(group).await?;
        for (decision, (_, after)) in group.iter_mut().zip(&changes) {
            Self::add_event_of(&mut batch, decision, after, now);
            match &mut decision.act {
                Act::Nothing => {}
                Act::Start(start) => self.add_start(&mut batch, after, start, now),
                Act::End(end) => {
                    let refused = self.add_writes(&mut batch, &decision.task, end).await?;
                    let known = runs.get(&*decision.task).cloned().unwrap_or_default();
                    add_end(&mut batch, after, end, known, refused);
                }
            }
        }
        self.commit(batch).await
    }

    /// A task before and after a decision.
    fn change_of(&self, decision: &Decision, now: Timestamp) -> (Option<Versioned<TaskEntity>>, TaskEntity) {
        let Kept { place, alerts } = self.kept.get(&decision.task).cloned().unwrap_or_default();
        let mut before =
            TaskEntity { name: decision.task.clone(), state: decision.after.clone(), place, alerts };
        before.state.version -= 1;
        let mut after = TaskEntity { state: decision.after.clone(), ..before.clone() };
        match &decision.act {
            Act::Start(_) => after.place.clone_from(&self.core.place),
            Act::End(_) => after.place.clear(),
            Act::Nothing => {}
        }
        let last = before.last_alert();
        after.alerts.extend(
            (last + 1..).zip(&decision.alerts).map(|(number, alert)| alert_message(alert, number, now)),
        );
        after.alerts.drain(..after.alerts.len().saturating_sub(ALERTS_KEPT));
        ((before.state.version > 0).then(|| found(before)), after)
    }

    /// The rows of the runs that end, by task.
    async fn ending_runs(&self, group: &[Decision]) -> Result<BTreeMap<String, TaskRun>> {
        let ending = |decision: &Decision| match &decision.act {
            Act::End(end) => Some(RUNS.key((SHARD, &*decision.task, end.run as i64))),
            Act::Nothing | Act::Start(_) => None,
        };
        let keys: Vec<Key> = group.iter().filter_map(ending).collect();
        if keys.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut runs = BTreeMap::new();
        for row in self.core.store.get(&keys).await?.iter().flatten() {
            let run: TaskRun = decode(row)?;
            runs.insert(run.task.clone(), run);
        }
        Ok(runs)
    }

    fn add_event_of(batch: &mut Batch, decision: &Decision, after: &TaskEntity, now: Timestamp) {
        let mut what: Vec<String> = decision.why.iter().map(ToString::to_string).collect();
        let run = match &decision.act {
            Act::Nothing => 0,
            Act::Start(start) => {
                what.push(format!("run {} starts, attempt {}: {}", start.run, start.attempt, start.cause));
                start.run
            }
            Act::End(end) => {
                what.push(format!("run {} {}", end.run, told(&end.outcome)));
                end.run
            }
        };
        let new = after.alerts.len().saturating_sub(decision.alerts.len());
        let event = TaskEvent {
            version: after.state.version,
            time: Some(messages::time(now)).into(),
            what,
            run,
            alerts: after.alerts[new..].to_vec(),
            ..Default::default()
        };
        add_event(batch, &after.name, &event);
    }

    fn add_start(&self, batch: &mut Batch, after: &TaskEntity, start: &Start, now: Timestamp) {
        let timeout = self.with(|live, _| live.definitions.task(&after.name).map(|task| task.run.timeout));
        let timeout_ms = timeout.flatten().map_or(0, |timeout| timeout.as_millis());
        let run = TaskRun {
            task: after.name.to_string(),
            number: start.run,
            id: run_id(&after.name, &after.state, start.run).to_string(),
            attempt: start.attempt,
            cause: Some(cause_message(&start.cause)).into(),
            seen: messages::seen(&start.seen),
            place: self.core.place.clone(),
            start_time: Some(messages::time(now)).into(),
            timeout_ms: u64::try_from(timeout_ms).unwrap_or(u64::MAX),
            ..Default::default()
        };
        batch.set(RUNS.key((SHARD, &*after.name, start.run as i64)), run.encode_to_vec());
        if let Some(old) = start.run.checked_sub(RUNS_KEPT) {
            batch.delete(RUNS.key((SHARD, &*after.name, old as i64)));
        }
    }

    /// Adds the values that a successful run sets; those that must not be set are struck out, with the reason.
    async fn add_writes(
        &self,
        batch: &mut Batch,
        task: &str,
        end: &mut End,
    ) -> Result<BTreeMap<String, String>> {
        let author: String = format!("task {task}").chars().take(AUTHOR_CHARS_MAX).collect();
        let reason = format!("run {}", end.run);
        let mut refused = BTreeMap::new();
        while !end.writes.is_empty() {
            let changes: Vec<Change> =
                end.writes.iter().map(|(of, value)| Change::set(of.clone(), *value)).collect();
            let Err(error) = self.core.ctl.add_to(batch, &changes, &author, &reason).await else { break };
            let Some(wrong) = struck_out(&error) else { return Err(error.into()) };
            tracing::warn!(task, run = end.run, %error, "a run sets a value that it must not set");
            let known =
                end.writes.keys().find(|of| ctl::canonical(of).as_ref().unwrap_or(of) == wrong).cloned();
            let Some(known) = known else { return Err(error.into()) };
            end.writes.remove(&known);
            refused.insert(known.to_string(), error.to_string());
        }
        Ok(refused)
    }

    /// What follows from decisions that are committed.
    fn follow(&mut self, group: &[Decision]) {
        let now = self.core.now();
        self.core.decisions.fetch_add(group.len() as u64, Ordering::Relaxed);
        self.with(|live, _| live.board.commit_all(group));
        for decision in group {
            let (_, after) = self.change_of(decision, now);
            self.kept.insert(decision.task.clone(), Kept { place: after.place, alerts: after.alerts });
            for alert in &decision.alerts {
                self.core.alerts.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(task = %decision.task, %alert, "alert");
            }
            match &decision.act {
                Act::Nothing => {}
                Act::Start(start) => self.start(decision, start),
                Act::End(end) => {
                    let key = (decision.task.clone(), end.run);
                    self.core.attendant.forget(&key);
                    self.foreign.remove(&key);
                    self.told.remove(&key);
                }
            }
        }
    }

    fn start(&self, decision: &Decision, start: &Start) {
        let facts = Facts { attempt: start.attempt, seen: &start.seen, cause: &start.cause };
        let definition = self.with(|live, _| live.definitions.task(&decision.task).cloned()).flatten();
        let spec = match definition {
            Some(task) => spec_of(&task, &facts, &self.core.variables),
            None => Err("its definition was gone before it was started".to_owned()),
        };
        let id = run_id(&decision.task, &decision.after, start.run);
        let since = decision.after.running().map_or_else(|| self.core.now(), |(_, since)| since);
        self.core.attendant.attend((decision.task.clone(), start.run), id, since, spec);
        if let Some(old) = start.run.checked_sub(RUNS_KEPT) {
            let (carrier, id) = (self.core.carrier.clone(), run_id(&decision.task, &decision.after, old));
            tokio::spawn(async move {
                if let Err(error) = carrier.remove(&id).await {
                    tracing::warn!(run = %id, %error, "what an old run left cannot be removed");
                }
            });
        }
    }
}

/// Adds an event, and takes away the one that is too old.
pub(crate) fn add_event(batch: &mut Batch, task: &str, event: &TaskEvent) {
    batch.set(EVENTS.key((SHARD, task, event.version as i64)), event.encode_to_vec());
    if let Some(old) = event.version.checked_sub(EVENTS_KEPT) {
        batch.delete(EVENTS.key((SHARD, task, old as i64)));
    }
}

fn add_end(
    batch: &mut Batch,
    after: &TaskEntity,
    end: &End,
    known: TaskRun,
    refused: BTreeMap<String, String>,
) {
    use task_run::Outcome as Kind;
    let (outcome, error) = match &end.outcome {
        Outcome::Succeeded { .. } => (Kind::OUTCOME_SUCCEEDED, String::new()),
        Outcome::Failed { error } => (Kind::OUTCOME_FAILED, error.clone()),
        Outcome::Lost => (Kind::OUTCOME_LOST, told(&end.outcome)),
    };
    let run = TaskRun {
        task: after.name.to_string(),
        number: end.run,
        end_time: Some(messages::time(end.ended)).into(),
        outcome: EnumValue::Known(outcome),
        error,
        wrote: messages::seen(&end.writes),
        refused,
        ..known
    };
    batch.set(RUNS.key((SHARD, &*after.name, end.run as i64)), run.encode_to_vec());
    batch.delete(ENDS.key((SHARD, &*after.name, end.run as i64)));
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded { .. } => "succeeded".to_owned(),
        Outcome::Failed { error } => format!("failed: {error}"),
        Outcome::Lost => "was lost: it died, and nobody saw its end".to_owned(),
    }
}

/// The parameter that cannot be set, if that is what is wrong.
fn struck_out(error: &ctl::Error) -> Option<&Parameter> {
    match error {
        ctl::Error::MovesBack { parameter, .. } | ctl::Error::OtherKind { parameter, .. } => Some(parameter),
        _ => None,
    }
}

/// What the runs set that end with these decisions, by their place among them.
fn writes_of(group: &[Decision]) -> Vec<(usize, Seen)> {
    let writes = |(at, decision): (usize, &Decision)| match &decision.act {
        Act::End(end) if !end.writes.is_empty() => Some((at, end.writes.clone())),
        _ => None,
    };
    group.iter().enumerate().filter_map(writes).collect()
}

fn give_back(group: &mut [Decision], asked: Vec<(usize, Seen)>) {
    for (at, writes) in asked {
        if let Act::End(end) = &mut group[at].act {
            end.writes = writes;
        }
    }
}

/// Decisions that go into one batch each: not too many, and none that sets a value that another one of them sets.
fn grouped(decisions: Vec<Decision>) -> VecDeque<Vec<Decision>> {
    let mut groups = VecDeque::new();
    let (mut group, mut written, mut operations) = (Vec::new(), BTreeSet::new(), 0);
    for decision in decisions {
        let writes: Vec<Parameter> = match &decision.act {
            Act::End(end) => end.writes.keys().cloned().collect(),
            Act::Nothing | Act::Start(_) => Vec::new(),
        };
        let cost = OPERATIONS + OPERATIONS_OF_A_VALUE * writes.len();
        let full = group.len() >= DECISIONS_IN_A_BATCH || operations + cost > OPERATIONS_IN_A_BATCH;
        if !group.is_empty() && (full || writes.iter().any(|of| written.contains(of))) {
            groups.push_back(std::mem::take(&mut group));
            written.clear();
            operations = 0;
        }
        operations += cost;
        written.extend(writes);
        group.push(decision);
    }
    if !group.is_empty() {
        groups.push_back(group);
    }
    groups
}
