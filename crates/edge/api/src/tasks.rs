//! `torg.tasks.v1.TaskService`: operating tasks.

mod actions;
mod backfill;
mod files;
mod messages;
mod queries;

use access::Caller;
use ctl::limits::{AUTHOR_CHARS_MAX, REASON_CHARS_MAX};
use planner::Signed;
use tasks::Tasks;
use tasks::limits::TASK_NAME_BYTES_MAX;
use wire::torg::tasks::v1 as proto;

use crate::errors::Refusal;
use crate::limits::{name, text};
use crate::service::service;

/// Cheap to clone.
#[derive(Clone)]
pub struct TaskCalls {
    pub tasks: Tasks,
}

/// Checks the name of a task.
fn named(task: &str) -> Result<&str, Refusal> {
    name("task", task, TASK_NAME_BYTES_MAX)?;
    Ok(task)
}

impl TaskCalls {
    /// The author and the reason of an action. The reason is required.
    fn signed(&self, caller: &Caller, reason: &str) -> Result<Signed, Refusal> {
        text("reason", reason, REASON_CHARS_MAX)?;
        let author: String = caller.subject.chars().take(AUTHOR_CHARS_MAX).collect();
        Ok(self.tasks.signed(&author, reason)?)
    }
}

service! { TaskService for TaskCalls {
    list_tasks(ListTasksRequest) -> ListTasksResponse = list;
    explain_task(ExplainTaskRequest) -> ExplainTaskResponse = explain;
    get_queue(GetQueueRequest) -> GetQueueResponse = queue;
    list_events(ListEventsRequest) -> ListEventsResponse = events;
    list_runs(ListRunsRequest) -> ListRunsResponse = runs;
    read_log(ReadLogRequest) -> ReadLogResponse = log;
    run_task(RunTaskRequest) -> RunTaskResponse = run;
    pause_task(PauseTaskRequest) -> PauseTaskResponse = pause;
    resume_task(ResumeTaskRequest) -> ResumeTaskResponse = resume;
    cancel_task(CancelTaskRequest) -> CancelTaskResponse = cancel;
    kill_run(KillRunRequest) -> KillRunResponse = kill;
    set_remembered(SetRememberedRequest) -> SetRememberedResponse = set_remembered;
    delete_remembered(DeleteRememberedRequest) -> DeleteRememberedResponse = delete_remembered;
    start_backfill(StartBackfillRequest) -> StartBackfillResponse = start_backfill;
    resume_backfill(ResumeBackfillRequest) -> ResumeBackfillResponse = resume_backfill;
    cancel_backfill(CancelBackfillRequest) -> CancelBackfillResponse = cancel_backfill;
    apply_tasks(ApplyTasksRequest) -> ApplyTasksResponse = apply;
    get_task_files(GetTaskFilesRequest) -> GetTaskFilesResponse = files;
}}
