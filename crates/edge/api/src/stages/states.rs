//! `torg.stages.v1.StateService`: private states of stages, for services beside them.

use access::{Action, Caller};
use connectrpc::{ErrorCode, RequestContext, Response, ServiceResult};
use remote_stages::{Workshop, state_of, state_to};
use store::Batch;
use wire::torg::stages::v1 as proto;

use crate::caller::of_request;
use crate::errors::Refusal;
use crate::limits::{NAME_BYTES_MAX, name};
use crate::offers::checks;

/// The service.
pub(crate) struct StatesRpc(pub(crate) Workshop);

impl proto::StateService for StatesRpc {
    async fn get_state(
        &self,
        context: RequestContext,
        request: proto::GetStateRequest,
    ) -> ServiceResult<proto::GetStateResponse> {
        Response::ok(self.get(of_request(&context)?, request).await?)
    }

    async fn set_state(
        &self,
        context: RequestContext,
        request: proto::SetStateRequest,
    ) -> ServiceResult<proto::SetStateResponse> {
        Response::ok(self.set(of_request(&context)?, request).await?)
    }
}

fn may_use(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::UseStates), Refusal::forbidden)
}

impl StatesRpc {
    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetStateRequest,
    ) -> Result<proto::GetStateResponse, Refusal> {
        may_use(caller)?;
        name("stage", &request.stage, NAME_BYTES_MAX)?;
        let id = checks::id("id", &request.id)?;
        let watcher = self.0.offers().watcher();
        let state = watcher.state(&id, &request.stage).await.map_err(offers::Error::from)?;
        let (version, state) = (state.version, state_of(&state.bytes).into());
        Ok(proto::GetStateResponse { state, version, ..Default::default() })
    }

    /// Replaces a state, if nobody else did.
    async fn set(
        &self,
        caller: &Caller,
        request: proto::SetStateRequest,
    ) -> Result<proto::SetStateResponse, Refusal> {
        may_use(caller)?;
        name("stage", &request.stage, NAME_BYTES_MAX)?;
        let id = checks::id("id", &request.id)?;
        if request.state.as_option().is_some_and(|state| state.type_url.is_empty()) {
            return Err(Refusal::required("state.type_url"));
        }
        let (offers, bytes) = (self.0.offers(), state_to(request.state.as_option()));
        let (watcher, mut batch) = (offers.watcher(), Batch::new());
        let set = watcher.set_state(&mut batch, &id, &request.stage, request.version, bytes).await;
        set.map_err(offers::Error::from)?;
        if !offers.commit(batch).await? {
            let there = watcher.state(&id, &request.stage).await.map_err(offers::Error::from)?.version;
            let text =
                format!("the state has version {there} by now, or the offer changed: read and decide again");
            let refusal = Refusal::new(ErrorCode::Aborted, "VERSION_CONFLICT", text);
            return Err(refusal.with("expected", &request.version).with("actual", &there));
        }
        if request.visit {
            watcher.request_visit(&id, &request.stage).await.map_err(offers::Error::from)?;
        }
        let version = watcher.state(&id, &request.stage).await.map_err(offers::Error::from)?.version;
        Ok(proto::SetStateResponse { version, ..Default::default() })
    }
}
