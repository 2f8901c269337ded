//! `torg.stages.v1.StageAdminService` and `StateService`: what operators do with stages, and private states for services beside them.

mod rehearsal;
mod shown;
mod states;

use std::time::Duration;

use access::{Action, Caller};
use connectrpc::{ErrorCode, RequestContext, Response, ServiceResult};
use remote_stages::{RegistryError, Workshop};
use watcher::limits::DEPTH_COUNTED_MAX;
use watcher::{Lane, OtherLimits};
use wire::torg::stages::v1 as proto;
use wire::torg::stages::v1::waiting::Lane as LaneShown;

pub(crate) use states::StatesRpc;

use crate::caller::of_request;
use crate::errors::{FieldFault, Refusal};
use crate::limits::{
    COUNT_AGE_MAX, LISTED_COUNT_AGE_MAX, LISTED_COUNTED_MAX, NAME_BYTES_MAX, PARKED_SHOWN, PARKED_SHOWN_MAX,
    REASON_TEXT_CHARS_MAX, WAITING_SHOWN_MAX, name, text,
};
use crate::offers::checks;

/// The service.
pub(crate) struct StagesRpc(pub(crate) Workshop);

/// Refuses whoever may not look at how the process fares.
fn may_look(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::SeeProcess), Refusal::forbidden)
}

/// Refuses whoever may not change how Torg works.
fn may_administer(caller: &Caller) -> Result<(), Refusal> {
    Refusal::of_verdict(caller.judge(Action::Administer), Refusal::forbidden)
}

impl StagesRpc {
    async fn list(&self, caller: &Caller, may_be_old: bool) -> Result<proto::ListStagesResponse, Refusal> {
        may_look(caller)?;
        let outside = self.0.outside();
        let mut ids: Vec<String> =
            self.0.built_in().map(str::to_owned).chain(outside.keys().cloned()).collect();
        ids.sort();
        let age_max = if may_be_old { LISTED_COUNT_AGE_MAX } else { Duration::ZERO };
        let reports = self.0.reports_within(&ids, LISTED_COUNTED_MAX, age_max).await;
        let reports = reports.map_err(offers::Error::from)?;
        let stages = ids.iter().zip(&reports).map(|(id, report)| shown::stage(&self.0, id, report)).collect();
        Ok(proto::ListStagesResponse { stages, ..Default::default() })
    }

    async fn get(
        &self,
        caller: &Caller,
        request: proto::GetStageRequest,
    ) -> Result<proto::GetStageResponse, Refusal> {
        may_look(caller)?;
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
        let report = self.0.report_within(id, counted_max, age_max).await.map_err(offers::Error::from)?;
        let (stage, failed) = (shown::stage(&self.0, id, &report), shown::failed(&report));
        let most = if request.parked_max == 0 { PARKED_SHOWN } else { request.parked_max } as usize;
        let parked = self.0.offers().watcher().parked(id, most).await.map_err(offers::Error::from)?;
        let parked = parked.into_iter().map(shown::parked).collect();
        let waiting = self.waiting(id, request.waiting_max as usize, request.waiting_lane.as_known()).await?;
        Ok(proto::GetStageResponse {
            stage: Some(stage).into(),
            parked,
            failed,
            waiting,
            ..Default::default()
        })
    }

    /// So many of those that wait in each lane, or in one of them, the first ones.
    async fn waiting(
        &self,
        id: &str,
        limit: usize,
        lane: Option<LaneShown>,
    ) -> Result<Vec<proto::Waiting>, Refusal> {
        let (mut waiting, wanted) = (Vec::new(), lane.unwrap_or_default());
        for lane in Lane::ALL.into_iter().filter(|_| limit > 0) {
            let shown = shown::lane(lane);
            if [shown, LaneShown::LANE_UNSPECIFIED].contains(&wanted) {
                let ahead =
                    self.0.offers().watcher().ahead(id, lane, limit).await.map_err(offers::Error::from)?;
                waiting.extend(ahead.into_iter().map(|ahead| shown::waiting(shown, ahead)));
            }
        }
        Ok(waiting)
    }

    /// Registers a stage, once it has said what it is.
    async fn register(
        &self,
        caller: &Caller,
        request: proto::RegisterStageRequest,
    ) -> Result<proto::RegisterStageResponse, Refusal> {
        may_administer(caller)?;
        let declared = request.stage.into_option().ok_or_else(|| Refusal::required("stage"))?;
        if self.0.built_in().any(|id| id == declared.id) {
            return Err(RegistryError::Taken(declared.id).into());
        }
        self.0.registry().require_free(&declared.id)?;
        let outside = self.0.registry().complete(&declared).await?;
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
            self.0.registry().register(&outside, &described, &caller.subject, now).await?;
            self.0.look_soon();
        }
        let stage = proto::Stage {
            id: outside.id.clone(),
            kind: proto::stage::Kind::KIND_REGISTERED.into(),
            outside: Some(outside.shown()).into(),
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
        may_administer(caller)?;
        name("id", &request.id, NAME_BYTES_MAX)?;
        self.0.registry().remove(&request.id).await?;
        self.0.look_soon();
        Ok(proto::RemoveStageResponse::default())
    }

    /// The shadow's addresses become the stage's.
    async fn promote(
        &self,
        caller: &Caller,
        request: proto::PromoteShadowRequest,
    ) -> Result<proto::PromoteShadowResponse, Refusal> {
        may_administer(caller)?;
        let id = self.known(&request.id)?;
        let outside = self.0.outside();
        let promoted = outside.get(id).and_then(|bench| bench.known.outside.promoted()).ok_or_else(|| {
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
        may_administer(caller)?;
        let id = self.known(&request.id)?;
        text("reason", &request.reason, REASON_TEXT_CHARS_MAX)?;
        let watcher = self.0.offers().watcher();
        watcher.pause_stage(id, &request.reason).await.map_err(offers::Error::from)?;
        Ok(proto::PauseStageResponse::default())
    }

    async fn resume(
        &self,
        caller: &Caller,
        request: proto::ResumeStageRequest,
    ) -> Result<proto::ResumeStageResponse, Refusal> {
        may_administer(caller)?;
        let id = self.known(&request.id)?;
        self.0.offers().watcher().resume_stage(id).await.map_err(offers::Error::from)?;
        Ok(proto::ResumeStageResponse::default())
    }

    /// What is left out becomes the stage's own again.
    async fn set_limits(
        &self,
        caller: &Caller,
        request: proto::SetStageLimitsRequest,
    ) -> Result<proto::SetStageLimitsResponse, Refusal> {
        may_administer(caller)?;
        let id = self.known(&request.id)?;
        let proto::SetStageLimitsRequest { rate, calls_max, batch_max, .. } = request;
        let ordered = OtherLimits { rate, calls_max, batch_max };
        let watcher = self.0.offers().watcher();
        let in_force = watcher.set_limits(id, ordered).await.map_err(offers::Error::from)?;
        let limits = Some(shown::limits(&in_force)).into();
        Ok(proto::SetStageLimitsResponse { limits, ..Default::default() })
    }

    async fn release(
        &self,
        caller: &Caller,
        request: proto::ReleaseStageRequest,
    ) -> Result<proto::ReleaseStageResponse, Refusal> {
        may_administer(caller)?;
        let (id, watcher) = (self.known(&request.id)?, self.0.offers().watcher());
        let released = if request.offer.is_empty() {
            watcher.release(id).await
        } else {
            let offer = checks::id("offer", &request.offer)?;
            watcher.request_visit(&offer, id).await.map(u64::from)
        };
        let released = released.map_err(offers::Error::from)?;
        // Whoever did it looks what came of it.
        self.0.forget_count(id);
        Ok(proto::ReleaseStageResponse { released, ..Default::default() })
    }

    /// The id of a stage that there is.
    fn known<'a>(&self, id: &'a str) -> Result<&'a str, Refusal> {
        name("id", id, NAME_BYTES_MAX)?;
        let is_known = self.0.built_in().any(|known| known == id) || self.0.outside().contains_key(id);
        if is_known { Ok(id) } else { Err(no_stage(id)) }
    }
}

pub(super) fn no_stage(id: &str) -> Refusal {
    let text = format!("there is no stage {id:?}: `torg stages list` shows those that there are");
    Refusal::new(ErrorCode::NotFound, "STAGE_NOT_FOUND", text).with("stage", &id)
}

impl From<RegistryError> for Refusal {
    fn from(error: RegistryError) -> Self {
        let text = error.to_string();
        match error {
            RegistryError::Store(error) => offers::Error::from(error).into(),
            RegistryError::Wrong(wrong) => {
                let fault = |wrong: remote_stages::Wrong| {
                    FieldFault::new(format!("stage.{}", wrong.field), "WRONG_STAGE", wrong.text)
                };
                Self::wrong("WRONG_STAGE", wrong.into_iter().map(fault).collect())
            }
            RegistryError::Taken(id) => {
                Self::new(ErrorCode::AlreadyExists, "STAGE_ID_TAKEN", text).with("stage", &id)
            }
            RegistryError::Configured(id) => {
                Self::new(ErrorCode::FailedPrecondition, "STAGE_CONFIGURED", text).with("stage", &id)
            }
            RegistryError::TooMany => Self::new(ErrorCode::ResourceExhausted, "TOO_MANY_STAGES", text),
            RegistryError::Unknown(id) => {
                Self::new(ErrorCode::NotFound, "STAGE_NOT_FOUND", text).with("stage", &id)
            }
            RegistryError::Contended(_) => Self::new(ErrorCode::Aborted, "CONTENDED", text).passing(),
        }
    }
}

/// One method of the service: takes the caller and the request apart.
macro_rules! methods {
    ($($method:ident: $request:ident => $response:ident, $call:ident;)*) => {
        impl proto::StageAdminService for StagesRpc {
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
    list_stages: ListStagesRequest => ListStagesResponse, list_all;
    get_stage: GetStageRequest => GetStageResponse, get;
    register_stage: RegisterStageRequest => RegisterStageResponse, register;
    remove_stage: RemoveStageRequest => RemoveStageResponse, remove;
    pause_stage: PauseStageRequest => PauseStageResponse, pause;
    resume_stage: ResumeStageRequest => ResumeStageResponse, resume;
    set_stage_limits: SetStageLimitsRequest => SetStageLimitsResponse, set_limits;
    promote_shadow: PromoteShadowRequest => PromoteShadowResponse, promote;
    release_stage: ReleaseStageRequest => ReleaseStageResponse, release;
    dry_run: DryRunRequest => DryRunResponse, rehearse;
    start_recrawl: StartRecrawlRequest => StartRecrawlResponse, start_recrawl;
    pause_recrawl: PauseRecrawlRequest => PauseRecrawlResponse, pause_recrawl;
    resume_recrawl: ResumeRecrawlRequest => ResumeRecrawlResponse, resume_recrawl;
    cancel_recrawl: CancelRecrawlRequest => CancelRecrawlResponse, cancel_recrawl;
    get_recrawl: GetRecrawlRequest => GetRecrawlResponse, get_recrawl;
}

/// The re-crawl of all offers.
impl StagesRpc {
    async fn list_all(
        &self,
        caller: &Caller,
        request: proto::ListStagesRequest,
    ) -> Result<proto::ListStagesResponse, Refusal> {
        self.list(caller, request.may_be_old).await
    }

    async fn start_recrawl(
        &self,
        caller: &Caller,
        request: proto::StartRecrawlRequest,
    ) -> Result<proto::StartRecrawlResponse, Refusal> {
        may_administer(caller)?;
        let speed = (request.per_second > 0).then_some(request.per_second);
        self.0.offers().watcher().start_recrawl(speed).await.map_err(offers::Error::from)?;
        Ok(proto::StartRecrawlResponse::default())
    }

    async fn pause_recrawl(
        &self,
        caller: &Caller,
        _request: proto::PauseRecrawlRequest,
    ) -> Result<proto::PauseRecrawlResponse, Refusal> {
        may_administer(caller)?;
        self.0.offers().watcher().pause_recrawl().await.map_err(offers::Error::from)?;
        Ok(proto::PauseRecrawlResponse::default())
    }

    async fn resume_recrawl(
        &self,
        caller: &Caller,
        request: proto::ResumeRecrawlRequest,
    ) -> Result<proto::ResumeRecrawlResponse, Refusal> {
        may_administer(caller)?;
        let speed = (request.per_second > 0).then_some(request.per_second);
        self.0.offers().watcher().resume_recrawl(speed).await.map_err(offers::Error::from)?;
        Ok(proto::ResumeRecrawlResponse::default())
    }

    async fn cancel_recrawl(
        &self,
        caller: &Caller,
        _request: proto::CancelRecrawlRequest,
    ) -> Result<proto::CancelRecrawlResponse, Refusal> {
        may_administer(caller)?;
        self.0.offers().watcher().cancel_recrawl().await.map_err(offers::Error::from)?;
        Ok(proto::CancelRecrawlResponse::default())
    }

    async fn get_recrawl(
        &self,
        caller: &Caller,
        _request: proto::GetRecrawlRequest,
    ) -> Result<proto::GetRecrawlResponse, Refusal> {
        may_look(caller)?;
        let recrawl = self.0.offers().watcher().recrawl().await.map_err(offers::Error::from)?;
        let recrawl = recrawl.as_ref().map(shown::recrawl);
        Ok(proto::GetRecrawlResponse { recrawl: recrawl.into(), ..Default::default() })
    }
}
