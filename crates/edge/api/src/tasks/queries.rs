//! Read-only calls about tasks.

use std::collections::BTreeSet;

use access::{Action, Caller};
use planner::{Phase, Planner};
use tasks::{Definitions, Filter, Listed, cause_message};
use wire::torg::tasks::v1::{self as proto, list_tasks_request::Standing};

use super::{TaskCalls, messages, named};
use crate::caller::require;
use crate::errors::Refusal;
use crate::limits::{
    LOG_PIECE_BYTES, NAME_BYTES_MAX, QUEUE_EXPLAINED, QUEUE_SHOWN, TASK_PAST_PAGE, TASKS_PAGE, page_size,
    text,
};
use crate::tokens::{self, About};

impl TaskCalls {
    pub(super) async fn list(
        &self,
        caller: &Caller,
        request: proto::ListTasksRequest,
    ) -> Result<proto::ListTasksResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let limit = page_size(request.page_size, TASKS_PAGE)?;
        text("prefix", &request.prefix, NAME_BYTES_MAX)?;
        let mut wanted = BTreeSet::new();
        for (place, standing) in request.standing.iter().enumerate() {
            match standing.as_known() {
                Some(known) if known != Standing::STANDING_UNSPECIFIED => wanted.insert(known as i32),
                _ => {
                    let field = format!("standing[{place}]");
                    return Err(Refusal::wrong_field(&field, "UNKNOWN", "there is no such standing"));
                }
            };
        }
        let about =
            About::method("ListTasks").and("prefix", &request.prefix).and("standing", format!("{wanted:?}"));
        let after: Option<String> = tokens::page(&about, &request.page_token)?;
        let filter = Filter { prefix: request.prefix, after, limit: limit + 1 };
        let is_wanted = |task: &Listed| {
            wanted.is_empty()
                || standings(task).into_iter().any(|standing| wanted.contains(&(standing as i32)))
        };
        let mut tasks = self.tasks.list(&filter, is_wanted).await?;
        let next_page_token = tokens::cut(&about, &mut tasks, limit, |task| task.entity.name.to_string());
        Ok(proto::ListTasksResponse {
            tasks: tasks.iter().map(messages::summary).collect(),
            next_page_token,
            ..Default::default()
        })
    }

    pub(super) async fn explain(
        &self,
        caller: &Caller,
        request: proto::ExplainTaskRequest,
    ) -> Result<proto::ExplainTaskResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let task = named(&request.task)?;
        let summary = messages::summary(&self.tasks.get(task).await?);
        let explanation = self.tasks.explain(task).await?;
        Ok(messages::explanation(&explanation, summary))
    }

    pub(super) async fn queue(
        &self,
        caller: &Caller,
        _request: proto::GetQueueRequest,
    ) -> Result<proto::GetQueueResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let (definitions, now) = (self.tasks.definitions().await?, self.tasks.now());
        let read = move |board: &Planner| queue(board, &definitions, now);
        Ok(self.tasks.with_planner(read).await?)
    }

    pub(super) async fn events(
        &self,
        caller: &Caller,
        request: proto::ListEventsRequest,
    ) -> Result<proto::ListEventsResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let limit = page_size(request.page_size, TASK_PAST_PAGE)?;
        let events = self.tasks.events(named(&request.task)?, before(request.before)?, limit).await?;
        Ok(proto::ListEventsResponse { events, ..Default::default() })
    }

    pub(super) async fn runs(
        &self,
        caller: &Caller,
        request: proto::ListRunsRequest,
    ) -> Result<proto::ListRunsResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let limit = page_size(request.page_size, TASK_PAST_PAGE)?;
        let runs = self.tasks.runs(named(&request.task)?, before(request.before)?, limit).await?;
        Ok(proto::ListRunsResponse { runs, ..Default::default() })
    }

    pub(super) async fn log(
        &self,
        caller: &Caller,
        request: proto::ReadLogRequest,
    ) -> Result<proto::ReadLogResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let task = named(&request.task)?;
        let run = number("run", request.run)?;
        let (run, piece) = self.tasks.log(task, run, request.offset, LOG_PIECE_BYTES).await?;
        let next = piece.next();
        Ok(proto::ReadLogResponse {
            offset: piece.offset,
            next_offset: next,
            complete: run.end_time.is_set() && next >= piece.total,
            run: run.number,
            left_out: piece.left_out,
            text: piece.bytes,
            ..Default::default()
        })
    }
}

/// A number where zero means none. Row numbers have 63 bits.
fn number(field: &str, given: u64) -> Result<Option<u64>, Refusal> {
    if i64::try_from(given).is_err() {
        return Err(Refusal::wrong_field(field, "OUT_OF_RANGE", "there is no such number"));
    }
    Ok((given > 0).then_some(given))
}

fn before(given: u64) -> Result<Option<u64>, Refusal> {
    number("before", given)
}

/// The states of a task: its phase, and others in addition.
fn standings(task: &Listed) -> Vec<Standing> {
    let state = &task.entity.state;
    let phase = match &state.phase {
        Phase::Idle => Standing::STANDING_IDLE,
        Phase::Queued { .. } => Standing::STANDING_QUEUED,
        Phase::Running { .. } => Standing::STANDING_RUNNING,
        Phase::Waiting { .. } => Standing::STANDING_WAITING,
        Phase::Resting { .. } => Standing::STANDING_RESTING,
    };
    let gone = task.definition.is_none();
    let beside = [
        (task.paused && !gone, Standing::STANDING_PAUSED),
        (task.failing, Standing::STANDING_FAILING),
        (!state.regressed.is_empty() && !gone, Standing::STANDING_REGRESSED),
        (state.silent_since.is_some() && !gone, Standing::STANDING_SILENT),
        (gone, Standing::STANDING_GONE),
    ];
    // A removed task has no phase, unless a run is in progress.
    let is_phase = !gone || phase == Standing::STANDING_RUNNING;
    let beside = beside.into_iter().filter_map(|(is_so, standing)| is_so.then_some(standing));
    is_phase.then_some(phase).into_iter().chain(beside).collect()
}

fn queue(planner: &Planner, definitions: &Definitions, now: jiff::Timestamp) -> proto::GetQueueResponse {
    use proto::get_queue_response::{Running, Waiting};
    let pool = |task: &str| definitions.plan(task).and_then(|plan| plan.pool.clone()).unwrap_or_default();
    let queued = planner.queue();
    let waiting = queued.iter().take(QUEUE_SHOWN).enumerate().map(|(place, (task, since))| {
        let explained = (place < QUEUE_EXPLAINED).then(|| planner.explain(task, now).ok()).flatten();
        let cause = planner.state(task).and_then(|state| match &state.phase {
            Phase::Queued { cause, .. } => Some(cause_message(cause)),
            _ => None,
        });
        Waiting {
            task: task.to_string(),
            since: Some(ctl::messages::time(*since)).into(),
            priority: definitions.plan(task).map_or(0, |plan| plan.priority),
            pool: pool(task),
            blocked: explained.map(|explained| explained.blocked()).unwrap_or_default(),
            cause: cause.into(),
            ..Default::default()
        }
    });
    let mut under_way: Vec<_> = planner.running().map(|(task, run, _)| (task, run)).collect();
    under_way.sort_unstable();
    let running = under_way.iter().take(QUEUE_SHOWN).map(|(task, run)| {
        let (since, cause) = match planner.state(task).map(|state| &state.phase) {
            Some(Phase::Running { since, cause, .. }) => (Some(*since), Some(cause_message(cause))),
            _ => (None, None),
        };
        Running {
            task: task.to_string(),
            run: *run,
            since: since.map(ctl::messages::time).into(),
            pool: pool(task),
            cause: cause.into(),
            ..Default::default()
        }
    });
    proto::GetQueueResponse {
        waiting: waiting.collect(),
        running: running.collect(),
        running_max: definitions.limits().running,
        waiting_count: queued.len() as u64,
        running_count: under_way.len() as u64,
        ..Default::default()
    }
}
