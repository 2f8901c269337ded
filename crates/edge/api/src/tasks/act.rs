//! What is done with one task.

use access::Caller;
use wire::torg::tasks::v1 as proto;

use super::{TaskCalls, may_administer, named};
use crate::ctl::{parameter, read_value};
use crate::errors::Refusal;

impl TaskCalls {
    pub(super) async fn run(
        &self,
        caller: &Caller,
        request: proto::RunTaskRequest,
    ) -> Result<proto::RunTaskResponse, Refusal> {
        may_administer(caller)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        self.tasks.run_now(task, request.record, &signed).await?;
        Ok(proto::RunTaskResponse::default())
    }

    pub(super) async fn pause(
        &self,
        caller: &Caller,
        request: proto::PauseTaskRequest,
    ) -> Result<proto::PauseTaskResponse, Refusal> {
        may_administer(caller)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        self.tasks.pause(task, &signed).await?;
        Ok(proto::PauseTaskResponse::default())
    }

    pub(super) async fn resume(
        &self,
        caller: &Caller,
        request: proto::ResumeTaskRequest,
    ) -> Result<proto::ResumeTaskResponse, Refusal> {
        may_administer(caller)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        self.tasks.resume(task, &signed).await?;
        Ok(proto::ResumeTaskResponse::default())
    }

    pub(super) async fn cancel(
        &self,
        caller: &Caller,
        request: proto::CancelTaskRequest,
    ) -> Result<proto::CancelTaskResponse, Refusal> {
        may_administer(caller)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        self.tasks.cancel(task, &signed).await?;
        Ok(proto::CancelTaskResponse::default())
    }

    pub(super) async fn kill(
        &self,
        caller: &Caller,
        request: proto::KillRunRequest,
    ) -> Result<proto::KillRunResponse, Refusal> {
        may_administer(caller)?;
        let (task, signed) = (named(&request.task)?, self.signed(caller, &request.reason)?);
        let run = self.tasks.kill(task, &signed).await?;
        Ok(proto::KillRunResponse { run, ..Default::default() })
    }

    pub(super) async fn set_remembered(
        &self,
        caller: &Caller,
        request: proto::SetRememberedRequest,
    ) -> Result<proto::SetRememberedResponse, Refusal> {
        may_administer(caller)?;
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
        may_administer(caller)?;
        let task = named(&request.task)?;
        let of = Some(&request.parameter).filter(|name| !name.is_empty());
        let of = of.map(|name| parameter("parameter", name)).transpose()?;
        let signed = self.signed(caller, &request.reason)?;
        self.tasks.delete_remembered(task, of.as_ref(), &signed).await?;
        Ok(proto::DeleteRememberedResponse::default())
    }
}
