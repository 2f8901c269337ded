//! `torg.tasks.v1.TaskService`: what people do with reactive tasks.

mod act;
mod backfill;
mod files;
mod look;
mod shown;

use access::{Action, Caller};
use connectrpc::{RequestContext, Response, ServiceResult};
use planner::board::Signed;
use planner::limits::{AUTHOR_CHARS_MAX, REASON_CHARS_MAX};
use tasks::Scheduler;
use tasks::limits::TASK_NAME_BYTES_MAX;
use wire::torg::tasks::v1 as proto;

use crate::caller::of_request;
use crate::errors::Refusal;
use crate::limits::{name, text};

/// The service. Cheap to clone.
#[derive(Clone)]
pub struct TaskCalls {
    /// The tasks.
    pub scheduler: Scheduler,
}

/// Refuses whoever may not look at how the process fares.
fn may_look(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::SeeProcess), Refusal::forbidden)
}

/// Refuses whoever may not change how Torg works.
fn may_administer(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::Administer), Refusal::forbidden)
}

/// The task that a request names.
fn named(task: &str) -> Result<&str, Refusal> {
    name("task", task, TASK_NAME_BYTES_MAX)?;
    Ok(task)
}

impl TaskCalls {
    /// Whose action this is, and why; refuses those who may not, and an action without a reason.
    fn signed(&self, caller: &Caller, reason: &str) -> Result<Signed, Refusal> {
        text("reason", reason, REASON_CHARS_MAX)?;
        let author: String = caller.subject.chars().take(AUTHOR_CHARS_MAX).collect();
        Ok(self.scheduler.signed(&author, reason)?)
    }
}

/// Takes the caller and the request apart.
macro_rules! methods {
    ($($method:ident: $request:ident => $response:ident, $call:ident;)*) => {
        impl proto::TaskService for TaskCalls {
            $(async fn $method(
                &self,
                context: RequestContext,
                request: proto::$request,
            ) -> ServiceResult<proto::$response> {
                Response::ok(Box::pin(self.$call(of_request(&context)?, request)).await?)
            })*
        }
    };
}

methods! {
    list_tasks: ListTasksRequest => ListTasksResponse, list;
    explain_task: ExplainTaskRequest => ExplainTaskResponse, explain;
    get_queue: GetQueueRequest => GetQueueResponse, queue;
    list_events: ListEventsRequest => ListEventsResponse, events;
    list_runs: ListRunsRequest => ListRunsResponse, runs;
    read_log: ReadLogRequest => ReadLogResponse, log;
    run_task: RunTaskRequest => RunTaskResponse, run;
    pause_task: PauseTaskRequest => PauseTaskResponse, pause;
    resume_task: ResumeTaskRequest => ResumeTaskResponse, resume;
    cancel_task: CancelTaskRequest => CancelTaskResponse, cancel;
    kill_run: KillRunRequest => KillRunResponse, kill;
    set_remembered: SetRememberedRequest => SetRememberedResponse, set_remembered;
    delete_remembered: DeleteRememberedRequest => DeleteRememberedResponse, delete_remembered;
    start_backfill: StartBackfillRequest => StartBackfillResponse, start_backfill;
    resume_backfill: ResumeBackfillRequest => ResumeBackfillResponse, resume_backfill;
    cancel_backfill: CancelBackfillRequest => CancelBackfillResponse, cancel_backfill;
    apply_tasks: ApplyTasksRequest => ApplyTasksResponse, apply;
    get_task_files: GetTaskFilesRequest => GetTaskFilesResponse, files;
}
