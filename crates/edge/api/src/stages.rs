//! `torg.stages.v1.StageAdminService` and `StateService`: operating stages, and access to their
//! private states.

mod dry_run;
mod messages;
mod states;

use std::time::Duration;

use access::{Action, Caller};
use connectrpc::ErrorCode;
use remote_stages::{StageRegistry, StageStoreError};
use watcher::limits::DEPTH_COUNTED_MAX;
use watcher::{Lane, LimitOverrides};
use wire::torg::stages::v1 as proto;
use wire::torg::stages::v1::waiting::Lane as WireLane;

pub(crate) use states::StatesRpc;

use crate::caller::require;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{
    COUNT_AGE_MAX, LISTED_COUNT_AGE_MAX, LISTED_COUNTED_MAX, NAME_BYTES_MAX, PARKED_SHOWN, PARKED_SHOWN_MAX,
    REASON_TEXT_CHARS_MAX, WAITING_SHOWN_MAX, name, text,
};
use crate::offers::checks;
use crate::service::service;

pub(crate) struct StagesRpc(pub(crate) StageRegistry);

impl StagesRpc {
    async fn list(
        &self,
        caller: &Caller,
        request: proto::ListStagesRequest,
    ) -> Result<proto::ListStagesResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let outside = self.0.remote();
        let mut ids: Vec<String> =
            self.0.built_in().map(str::to_owned).chain(outside.keys().cloned()).collect();
        ids.sort();
        let age_max = if request.may_be_old { LISTED_COUNT_AGE_MAX } else { Duration::ZERO };
        let reports = self.0.reports_within(&ids, LISTED_COUNTED_MAX, age_max).await;
        let reports = reports?;
        let stages =
            ids.iter().zip(&reports).map(|(id, report)| messages::stage(&self.0, id, report)).collect();
        Ok(proto::ListStagesResponse { stages, ..Default::default() })
    }

    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetStageRequest,
    ) -> Result<proto::GetStageResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let id = self.known(&request.id)?;
        let asked = [
            ("waiting_max", request.waiting_max, WAITING_SHOWN_MAX),
            ("parked_max", request.parked_max, PARKED_SHOWN_MAX),
        ];
        if let Some((field, asked, most)) = asked.into_iter().find(|(_, asked, most)| asked > most) {
            let text = format!("at most {most}, not {asked}");
            return Err(Refusal::wrong_field(field, "OUT_OF_RANGE", text));
        }
        let (counted_max, age_max) = if request.may_be_old {
            (LISTED_COUNTED_MAX, COUNT_AGE_MAX)
        } else {
            (DEPTH_COUNTED_MAX, Duration::ZERO)
        };
        let report = self.0.report_within(id, counted_max, age_max).await?;
        let (stage, failed) = (messages::stage(&self.0, id, &report), messages::failed(&report));
        let most = if request.parked_max == 0 { PARKED_SHOWN } else { request.parked_max } as usize;
        let parked = self.0.offers().watcher().parked(id, most).await?;
        let parked = parked.into_iter().map(messages::parked).collect();
        let waiting = self.waiting(id, request.waiting_max as usize, request.waiting_lane.as_known()).await?;
        Ok(proto::GetStageResponse {
            stage: Some(stage).into(),
            parked,
            failed,
            waiting,
            ..Default::default()
        })
    }

    /// The first waiting visits of each lane, or of one.
    async fn waiting(
        &self,
        id: &str,
        limit: usize,
        lane: Option<WireLane>,
    ) -> Result<Vec<proto::Waiting>, Refusal> {
        let (mut waiting, wanted) = (Vec::new(), lane.unwrap_or_default());
        for lane in Lane::ALL.into_iter().filter(|_| limit > 0) {
            let shown = messages::lane(lane);
            if [shown, WireLane::LANE_UNSPECIFIED].contains(&wanted) {
                let ahead = self.0.offers().watcher().upcoming(id, lane, limit).await?;
                waiting.extend(ahead.into_iter().map(|ahead| messages::waiting(shown, ahead)));
            }
        }
        Ok(waiting)
    }

    /// Registers a stage after it has described itself.
    async fn register(
        &self,
        caller: &Caller,
        request: proto::RegisterStageRequest,
    ) -> Result<proto::RegisterStageResponse, Refusal> {
        require(caller, Action::Administer)?;
        let declared = request.stage.into_option().ok_or_else(|| Refusal::required("stage"))?;
        if self.0.built_in().any(|id| id == declared.id) {
            return Err(StageStoreError::Taken(declared.id).into());
        }
        self.0.store().require_free(&declared.id)?;
        let outside = self.0.store().complete(&declared).await?;
        let plugin = self.0.plugin(&outside, None);
        let described = plugin.describe(&outside).await.map_err(|why| {
            Refusal::new(
                ErrorCode::FailedPrecondition,
                "STAGE_REFUSED",
                format!("stage {:?}: {why}", outside.id),
            )
        })?;
        let now = self.0.offers().watcher().clock().now();
        if !request.validate_only {
            self.0.store().register(&outside, &described, &caller.subject, now).await?;
            self.0.refresh_soon();
        }
        let stage = proto::Stage {
            id: outside.id.clone(),
            kind: proto::stage::Kind::KIND_REGISTERED.into(),
            outside: Some(outside.redacted()).into(),
            version: described.version().to_owned(),
            ..proto::Stage::default()
        };
        Ok(proto::RegisterStageResponse { stage: Some(stage).into(), ..Default::default() })
    }

    async fn remove(
        &self,
        caller: &Caller,
        request: proto::RemoveStageRequest,
    ) -> Result<proto::RemoveStageResponse, Refusal> {
        require(caller, Action::Administer)?;
        name("id", &request.id, NAME_BYTES_MAX)?;
        self.0.store().remove(&request.id).await?;
        self.0.refresh_soon();
        Ok(proto::RemoveStageResponse::default())
    }

    /// The addresses of the shadow become those of the stage.
    async fn promote(
        &self,
        caller: &Caller,
        request: proto::PromoteShadowRequest,
    ) -> Result<proto::PromoteShadowResponse, Refusal> {
        require(caller, Action::Administer)?;
        let id = self.known(&request.id)?;
        let outside = self.0.remote();
        let promoted = outside.get(id).and_then(|bench| bench.entry.spec.promoted()).ok_or_else(|| {
            Refusal::new(ErrorCode::FailedPrecondition, "NO_SHADOW", format!("stage {id:?} has no shadow"))
        })?;
        let register = proto::RegisterStageRequest { stage: Some(promoted).into(), ..Default::default() };
        let registered = self.register(caller, register).await?;
        Ok(proto::PromoteShadowResponse { stage: registered.stage, ..Default::default() })
    }

    async fn pause(
        &self,
        caller: &Caller,
        request: proto::PauseStageRequest,
    ) -> Result<proto::PauseStageResponse, Refusal> {
        require(caller, Action::Administer)?;
        let id = self.known(&request.id)?;
        text("reason", &request.reason, REASON_TEXT_CHARS_MAX)?;
        let watcher = self.0.offers().watcher();
        watcher.pause_stage(id, &request.reason).await?;
        Ok(proto::PauseStageResponse::default())
    }

    async fn resume(
        &self,
        caller: &Caller,
        request: proto::ResumeStageRequest,
    ) -> Result<proto::ResumeStageResponse, Refusal> {
        require(caller, Action::Administer)?;
        let id = self.known(&request.id)?;
        self.0.offers().watcher().resume_stage(id).await?;
        Ok(proto::ResumeStageResponse::default())
    }

    /// Omitted limits return to the stage's own.
    async fn set_limits(
        &self,
        caller: &Caller,
        request: proto::SetStageLimitsRequest,
    ) -> Result<proto::SetStageLimitsResponse, Refusal> {
        require(caller, Action::Administer)?;
        let id = self.known(&request.id)?;
        let proto::SetStageLimitsRequest { rate, calls_max, batch_max, .. } = request;
        let ordered = LimitOverrides { rate, calls_max, batch_max };
        let watcher = self.0.offers().watcher();
        let in_force = watcher.set_limits(id, ordered).await?;
        let limits = Some(messages::limits(&in_force)).into();
        Ok(proto::SetStageLimitsResponse { limits, ..Default::default() })
    }

    async fn release(
        &self,
        caller: &Caller,
        request: proto::ReleaseStageRequest,
    ) -> Result<proto::ReleaseStageResponse, Refusal> {
        require(caller, Action::Administer)?;
        let (id, watcher) = (self.known(&request.id)?, self.0.offers().watcher());
        let released = if request.offer.is_empty() {
            watcher.release(id).await
        } else {
            let offer = checks::id("offer", &request.offer)?;
            watcher.request_visit(&offer, id).await.map(u64::from)
        };
        let released = released?;
        // The caller will look at the counts next.
        self.0.invalidate_count(id);
        Ok(proto::ReleaseStageResponse { released, ..Default::default() })
    }

    /// Checks that a stage exists.
    fn known<'a>(&self, id: &'a str) -> Result<&'a str, Refusal> {
        name("id", id, NAME_BYTES_MAX)?;
        let is_known = self.0.built_in().any(|known| known == id) || self.0.remote().contains_key(id);
        if is_known { Ok(id) } else { Err(no_stage(id)) }
    }
}

pub(super) fn no_stage(id: &str) -> Refusal {
    let text = format!("there is no stage {id:?}: list stages with `torg stages list`");
    Refusal::new(ErrorCode::NotFound, "STAGE_NOT_FOUND", text).with("stage", &id)
}

impl From<StageStoreError> for Refusal {
    fn from(error: StageStoreError) -> Self {
        let text = error.to_string();
        match error {
            StageStoreError::Store(error) => error.into(),
            StageStoreError::Invalid(wrong) => {
                let fault = |wrong: remote_stages::SpecError| {
                    FieldFault::new(format!("stage.{}", wrong.field), "WRONG_STAGE", wrong.text)
                };
                Self::wrong("WRONG_STAGE", wrong.into_iter().map(fault).collect())
            }
            StageStoreError::Taken(id) => {
                Self::new(ErrorCode::AlreadyExists, "STAGE_ID_TAKEN", text).with("stage", &id)
            }
            StageStoreError::Configured(id) => {
                Self::new(ErrorCode::FailedPrecondition, "STAGE_CONFIGURED", text).with("stage", &id)
            }
            StageStoreError::TooMany => Self::new(ErrorCode::ResourceExhausted, "TOO_MANY_STAGES", text),
            StageStoreError::Unknown(id) => {
                Self::new(ErrorCode::NotFound, "STAGE_NOT_FOUND", text).with("stage", &id)
            }
            StageStoreError::Contended(_) => Self::new(ErrorCode::Aborted, "CONTENDED", text).passing(),
        }
    }
}

service! { StageAdminService for StagesRpc {
    list_stages(ListStagesRequest) -> ListStagesResponse = list;
    get_stage(GetStageRequest) -> GetStageResponse = get;
    register_stage(RegisterStageRequest) -> RegisterStageResponse = register;
    remove_stage(RemoveStageRequest) -> RemoveStageResponse = remove;
    pause_stage(PauseStageRequest) -> PauseStageResponse = pause;
    resume_stage(ResumeStageRequest) -> ResumeStageResponse = resume;
    set_stage_limits(SetStageLimitsRequest) -> SetStageLimitsResponse = set_limits;
    promote_shadow(PromoteShadowRequest) -> PromoteShadowResponse = promote;
    release_stage(ReleaseStageRequest) -> ReleaseStageResponse = release;
    dry_run(DryRunRequest) -> DryRunResponse = dry_run;
    start_recrawl(StartRecrawlRequest) -> StartRecrawlResponse = start_recrawl;
    pause_recrawl(PauseRecrawlRequest) -> PauseRecrawlResponse = pause_recrawl;
    resume_recrawl(ResumeRecrawlRequest) -> ResumeRecrawlResponse = resume_recrawl;
    cancel_recrawl(CancelRecrawlRequest) -> CancelRecrawlResponse = cancel_recrawl;
    get_recrawl(GetRecrawlRequest) -> GetRecrawlResponse = get_recrawl;
}}

impl StagesRpc {
    async fn start_recrawl(
        &self,
        caller: &Caller,
        request: proto::StartRecrawlRequest,
    ) -> Result<proto::StartRecrawlResponse, Refusal> {
        require(caller, Action::Administer)?;
        let speed = (request.per_second > 0).then_some(request.per_second);
        self.0.offers().watcher().start_recrawl(speed).await?;
        Ok(proto::StartRecrawlResponse::default())
    }

    async fn pause_recrawl(
        &self,
        caller: &Caller,
        _request: proto::PauseRecrawlRequest,
    ) -> Result<proto::PauseRecrawlResponse, Refusal> {
        require(caller, Action::Administer)?;
        self.0.offers().watcher().pause_recrawl().await?;
        Ok(proto::PauseRecrawlResponse::default())
    }

    async fn resume_recrawl(
        &self,
        caller: &Caller,
        request: proto::ResumeRecrawlRequest,
    ) -> Result<proto::ResumeRecrawlResponse, Refusal> {
        require(caller, Action::Administer)?;
        let speed = (request.per_second > 0).then_some(request.per_second);
        self.0.offers().watcher().resume_recrawl(speed).await?;
        Ok(proto::ResumeRecrawlResponse::default())
    }

    async fn cancel_recrawl(
        &self,
        caller: &Caller,
        _request: proto::CancelRecrawlRequest,
    ) -> Result<proto::CancelRecrawlResponse, Refusal> {
        require(caller, Action::Administer)?;
        self.0.offers().watcher().cancel_recrawl().await?;
        Ok(proto::CancelRecrawlResponse::default())
    }

    async fn get_recrawl(
        &self,
        caller: &Caller,
        _request: proto::GetRecrawlRequest,
    ) -> Result<proto::GetRecrawlResponse, Refusal> {
        require(caller, Action::SeeProcess)?;
        let recrawl = self.0.offers().watcher().recrawl().await?;
        let recrawl = recrawl.as_ref().map(messages::recrawl);
        Ok(proto::GetRecrawlResponse { recrawl: recrawl.into(), ..Default::default() })
    }
}
