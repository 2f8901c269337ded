//! Actions on a task.

use access::{Action, Caller};
use wire::torg::tasks::v1 as proto;

use super::{TaskCalls, named};
use crate::caller::require;
use crate::ctl::{parameter, read_value};
use crate::errors::Refusal;

/// Actions whose request has only a task and a reason.
macro_rules! actions {
    ($($method:ident($request:ident) -> $response:ident;)*) => {
        impl TaskCalls {
            $(pub(super) async fn $method(
                &self,
                caller: &Caller,
                request: proto::$request,
            ) -> Result<proto::$response, Refusal> {
                require(caller, Action::Administer)?;
                let task = named(&request.task)?;
                let signed = self.signed(caller, &request.reason)?;
                self.tasks.$method(task, &signed).await?;
                Ok(proto::$response::default())
            })*
        }
    };
}

actions! {
    pause(PauseTaskRequest) -> PauseTaskResponse;
    resume(ResumeTaskRequest) -> ResumeTaskResponse;
    cancel(CancelTaskRequest) -> CancelTaskResponse;
    resume_backfill(ResumeBackfillRequest) -> ResumeBackfillResponse;
    cancel_backfill(CancelBackfillRequest) -> CancelBackfillResponse;
}

impl TaskCalls {
    pub(super) async fn run(
        &self,
        caller: &Caller,
        request: proto::RunTaskRequest,
    ) -> Result<proto::RunTaskResponse, Refusal> {
        require(caller, Action::Administer)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        self.tasks.run_now(task, request.record, &signed).await?;
        Ok(proto::RunTaskResponse::default())
    }

    pub(super) async fn kill(
        &self,
        caller: &Caller,
        request: proto::KillRunRequest,
    ) -> Result<proto::KillRunResponse, Refusal> {
        require(caller, Action::Administer)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        let run = self.tasks.kill(task, &signed).await?;
        Ok(proto::KillRunResponse { run, ..Default::default() })
    }

    pub(super) async fn set_remembered(
        &self,
        caller: &Caller,
        request: proto::SetRememberedRequest,
    ) -> Result<proto::SetRememberedResponse, Refusal> {
        require(caller, Action::Administer)?;
        let task = named(&request.task)?;
        let of = parameter("parameter", &request.parameter)?;
        let value = request.value.as_option().ok_or_else(|| Refusal::required("value"))?;
        let value = read_value("value", value)?;
        let signed = self.signed(caller, &request.reason)?;
        self.tasks.set_remembered(task, &of, value, &signed).await?;
        Ok(proto::SetRememberedResponse::default())
    }

    pub(super) async fn delete_remembered(
        &self,
        caller: &Caller,
        request: proto::DeleteRememberedRequest,
    ) -> Result<proto::DeleteRememberedResponse, Refusal> {
        require(caller, Action::Administer)?;
        let task = named(&request.task)?;
        let of = Some(&request.parameter).filter(|name| !name.is_empty());
        let of = of.map(|name| parameter("parameter", name)).transpose()?;
        let signed = self.signed(caller, &request.reason)?;
        self.tasks.delete_remembered(task, of.as_ref(), &signed).await?;
        Ok(proto::DeleteRememberedResponse::default())
    }
}
