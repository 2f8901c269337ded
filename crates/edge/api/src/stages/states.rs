//! `torg.stages.v1.StateService`: private states of stages, for services that work with a stage.

use access::{Action, Caller};
use connectrpc::ErrorCode;
use remote_stages::{StageRegistry, state_of, state_to};
use store::Batch;
use wire::torg::stages::v1 as proto;

use crate::caller::require;
use crate::errors::Refusal;
use crate::limits::{NAME_BYTES_MAX, name};
use crate::offers::checks;
use crate::service::service;

pub(crate) struct StatesRpc(pub(crate) StageRegistry);

service! { StateService for StatesRpc {
    get_state(GetStateRequest) -> GetStateResponse = get;
    set_state(SetStateRequest) -> SetStateResponse = set;
}}

impl StatesRpc {
    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetStateRequest,
    ) -> Result<proto::GetStateResponse, Refusal> {
        require(caller, Action::UseStates)?;
        name("stage", &request.stage, NAME_BYTES_MAX)?;
        let id = checks::id("id", &request.id)?;
        let watcher = self.0.offers().watcher();
        let state = watcher.state(&id, &request.stage).await?;
        let (version, state) = (state.version, state_of(&state.bytes).into());
        Ok(proto::GetStateResponse { state, version, ..Default::default() })
    }

    /// Replaces a state if its version is the expected one.
    async fn set(
        &self,
        caller: &Caller,
        request: proto::SetStateRequest,
    ) -> Result<proto::SetStateResponse, Refusal> {
        require(caller, Action::UseStates)?;
        name("stage", &request.stage, NAME_BYTES_MAX)?;
        let id = checks::id("id", &request.id)?;
        if request.state.as_option().is_some_and(|state| state.type_url.is_empty()) {
            return Err(Refusal::required("state.type_url"));
        }
        let (offers, bytes) = (self.0.offers(), state_to(request.state.as_option()));
        let (watcher, mut batch) = (offers.watcher(), Batch::new());
        let set = watcher.set_state(&mut batch, &id, &request.stage, request.version, bytes).await;
        set?;
        if !offers.commit(batch).await? {
            let there = watcher.state(&id, &request.stage).await?.version;
            let text =
                format!("the state has version {there} now, or the offer changed: read it and try again");
            let refusal = Refusal::new(ErrorCode::Aborted, "VERSION_CONFLICT", text);
            return Err(refusal.with("expected", &request.version).with("actual", &there));
        }
        if request.visit {
            watcher.request_visit(&id, &request.stage).await?;
        }
        let version = watcher.state(&id, &request.stage).await?.version;
        Ok(proto::SetStateResponse { version, ..Default::default() })
    }
}
