//! Commits decisions and executes them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use buffa::Message as _;
use ctl::limits::AUTHOR_CHARS_MAX;
use ctl::{Change, messages};
use jiff::Timestamp;
use planner::{Act, Decision, End, Outcome, Seen, Start};
use store::{Batch, Key, Read as _};
use triggers::Parameter;
use watcher::Versioned;
use wire::torg::tasks::v1::{TaskEvent, TaskRun};

use super::rounds::{Leader, Stop, TaskExtras};
use crate::core::run_id;
use crate::entity::{TaskEntity, found};
use crate::error::Result;
use crate::limits::{ALERTS_KEPT, DECISIONS_IN_A_BATCH, EVENTS_KEPT, OPERATIONS_IN_A_BATCH, RUNS_KEPT};
use crate::rows::{alert_message, cause_message, decode, outcome_message};
use crate::spec::{RunContext, spec_of};
use crate::tables::{ENDS, EVENTS, RUNS, SHARD};

/// Approximate operations of a decision, besides its values.
const OPERATIONS: usize = 10;
/// Approximate operations of a value that is set.
const OPERATIONS_OF_A_VALUE: usize = 5;

impl Leader {
    /// Commits decisions in batches and executes them. Decisions that are not committed in the end
    /// are unconfirmed.
    pub(super) async fn execute(&mut self, decisions: Vec<Decision>) -> Result<(), Stop> {
        let mut groups = grouped(decisions);
        while let Some(mut group) = groups.pop_front() {
            let asked = writes_of(&group);
            let committed = self.commit_group(&mut group).await;
            let conflict = match committed {
                Ok(None) => {
                    self.after_commit(&group);
                    continue;
                }
                Ok(Some(conflict)) => conflict,
                Err(halt) => {
                    self.unconfirmed.append(&mut group);
                    self.unconfirmed.extend(groups.into_iter().flatten());
                    return Err(halt);
                }
            };
            if group.len() > 1 {
                // Refused values are determined again: this time they may differ, and the run's row
                // has to say it.
                restore_writes(&mut group, asked);
                for decision in group.into_iter().rev() {
                    groups.push_front(vec![decision]);
                }
                continue;
            }
            tracing::debug!(task = %group[0].task, ?conflict, "a task changed in between");
            self.unconfirmed.append(&mut group);
            self.resolve_unconfirmed().await?;
        }
        Ok(())
    }

    /// Returns the conflicting keys if the group was not committed. Values that a run may not set
    /// are removed from its decision.
    async fn commit_group(&self, group: &mut [Decision]) -> Result<Option<Vec<Key>>, Stop> {
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
        let TaskExtras { place, alerts } = self.extras.get(&decision.task).cloned().unwrap_or_default();
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
                what.push(format!("run {} {}", end.run, describe(&end.outcome)));
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
        let timeout =
            self.with(|leader, _| leader.definitions.task(&after.name).map(|task| task.run.timeout));
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

    /// Adds the values that a successful run sets; removes the refused ones and returns their
    /// reasons.
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
            let Some(wrong) = refused_parameter(&error) else { return Err(error.into()) };
            tracing::warn!(task, run = end.run, %error, "a value that a run sets was refused");
            let known =
                end.writes.keys().find(|of| ctl::canonical(of).as_ref().unwrap_or(of) == wrong).cloned();
            let Some(known) = known else { return Err(error.into()) };
            end.writes.remove(&known);
            refused.insert(known.to_string(), error.to_string());
        }
        Ok(refused)
    }

    /// Confirms committed decisions, starts runs and cleans up.
    fn after_commit(&mut self, group: &[Decision]) {
        let now = self.core.now();
        self.core.decisions.fetch_add(group.len() as u64, Ordering::Relaxed);
        self.with(|leader, _| leader.planner.commit_all(group));
        for decision in group {
            let (_, after) = self.change_of(decision, now);
            self.extras
                .insert(decision.task.clone(), TaskExtras { place: after.place, alerts: after.alerts });
            for alert in &decision.alerts {
                self.core.alerts.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(task = %decision.task, %alert, "alert");
            }
            match &decision.act {
                Act::Nothing => {}
                Act::Start(start) => self.start(decision, start),
                Act::End(end) => {
                    let key = (decision.task.clone(), end.run);
                    self.core.tracker.forget(&key);
                    self.remote_runs.remove(&key);
                    self.reported.remove(&key);
                }
            }
        }
    }

    fn start(&self, decision: &Decision, start: &Start) {
        let context = RunContext {
            attempt: start.attempt,
            seen: start.seen.clone(),
            cause: start.cause.clone(),
            timeout: None,
        };
        let definition = self.with(|leader, _| leader.definitions.task(&decision.task).cloned()).flatten();
        let spec = spec_of(definition, context, Arc::clone(&self.core.variables));
        let id = run_id(&decision.task, &decision.after, start.run);
        let since = decision.after.running().map_or_else(|| self.core.now(), |(_, since)| since);
        self.core.tracker.track((decision.task.clone(), start.run), id, since, spec);
        if let Some(old) = start.run.checked_sub(RUNS_KEPT) {
            let (executor, id) = (self.core.executor.clone(), run_id(&decision.task, &decision.after, old));
            tokio::spawn(async move {
                if let Err(error) = executor.remove(&id).await {
                    tracing::warn!(run = %id, %error, "cannot remove an old run");
                }
            });
        }
    }
}

/// Adds an event, and removes the one that is too old.
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
    let (outcome, mut error) = outcome_message(&end.outcome);
    if end.outcome == Outcome::Lost {
        error = describe(&end.outcome);
    }
    let run = TaskRun {
        task: after.name.to_string(),
        number: end.run,
        end_time: Some(messages::time(end.ended)).into(),
        outcome,
        error,
        wrote: messages::seen(&end.writes),
        refused,
        ..known
    };
    batch.set(RUNS.key((SHARD, &*after.name, end.run as i64)), run.encode_to_vec());
    batch.delete(ENDS.key((SHARD, &*after.name, end.run as i64)));
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Succeeded { .. } => "succeeded".to_owned(),
        Outcome::Failed { error } => format!("failed: {error}"),
        Outcome::Lost => "was lost: it died, and its end is unknown".to_owned(),
    }
}

/// The parameter that cannot be set, if that is the error.
fn refused_parameter(error: &ctl::Error) -> Option<&Parameter> {
    match error {
        ctl::Error::MovesBack { parameter, .. } | ctl::Error::OtherKind { parameter, .. } => Some(parameter),
        _ => None,
    }
}

/// The values that ending runs set, by index in the group.
fn writes_of(group: &[Decision]) -> Vec<(usize, Seen)> {
    let writes = |(at, decision): (usize, &Decision)| match &decision.act {
        Act::End(end) if !end.writes.is_empty() => Some((at, end.writes.clone())),
        _ => None,
    };
    group.iter().enumerate().filter_map(writes).collect()
}

fn restore_writes(group: &mut [Decision], asked: Vec<(usize, Seen)>) {
    for (at, writes) in asked {
        if let Act::End(end) = &mut group[at].act {
            end.writes = writes;
        }
    }
}

/// Splits decisions into batches: bounded, and without two that set the same value.
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
