//! `torg.stages.v1.StageService`: a failure for one offer affects only that offer.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use connectrpc::{ConnectError, RequestContext, Response, ServiceResult};
use futures::FutureExt as _;
use futures::future::join_all;

use crate::answer::moment;
use crate::wire::__buffa::oneof::{answer::Change, wish::Kind};
use crate::wire::{
    Answer, DescribeRequest, DescribeResponse, OnSavedRequest, OnSavedResponse, ProcessRequest,
    ProcessResponse, SavedFailure, ShouldProcessRequest, ShouldProcessResponse, StageService, Wish,
};
use crate::{Error, Failure, Saved, Stage, Subject, wire};

/// Stages by their ids.
pub(crate) struct Stages(BTreeMap<String, Arc<dyn Stage>>);

impl Stages {
    /// Checks that there is a stage, and that ids are valid and unique.
    pub(crate) fn new(stages: Vec<Arc<dyn Stage>>) -> Result<Stages, Error> {
        let mut by_id = BTreeMap::new();
        for stage in stages {
            let id = stage.describe().id;
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
            if id.is_empty() || !id.bytes().all(allowed) {
                return Err(Error::Setup(format!(
                    "{id:?}: the id of a stage has to be letters, digits, - and _"
                )));
            }
            if by_id.insert(id.clone(), stage).is_some() {
                return Err(Error::Setup(format!("two stages with the id {id}")));
            }
        }
        if by_id.is_empty() {
            return Err(Error::Setup("no stage to serve".to_owned()));
        }
        Ok(Stages(by_id))
    }

    fn get(&self, id: &str) -> Result<&dyn Stage, ConnectError> {
        self.0.get(id).map(|stage| &**stage).ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            ConnectError::not_found(format!("no stage '{id}' here, only {}", known.join(", ")))
        })
    }
}

impl StageService for Stages {
    async fn describe(
        &self,
        _context: RequestContext,
        request: DescribeRequest,
    ) -> ServiceResult<DescribeResponse> {
        Response::ok(self.get(&request.stage)?.describe().into_wire())
    }

    async fn should_process(
        &self,
        _context: RequestContext,
        request: ShouldProcessRequest,
    ) -> ServiceResult<ShouldProcessResponse> {
        let stage = self.get(&request.stage)?;
        let subjects = subjects(request.subjects, &request.now)?;
        let wishes = join_all(subjects.iter().map(|subject| schedule(stage, subject))).await;
        Response::ok(ShouldProcessResponse { wishes, ..ShouldProcessResponse::default() })
    }

    async fn process(
        &self,
        _context: RequestContext,
        request: ProcessRequest,
    ) -> ServiceResult<ProcessResponse> {
        let stage = self.get(&request.stage)?;
        let subjects = subjects(request.subjects, &request.now)?;
        let answers = join_all(subjects.iter().map(|subject| answer(stage, subject))).await;
        Response::ok(ProcessResponse { answers, ..ProcessResponse::default() })
    }

    async fn on_saved(
        &self,
        _context: RequestContext,
        request: OnSavedRequest,
    ) -> ServiceResult<OnSavedResponse> {
        let stage = self.get(&request.stage)?;
        let mut failures = Vec::new();
        // Sequentially: the versions of an offer are ordered.
        for saved in request.saved {
            failures.extend(on_saved(stage, saved).await);
        }
        Response::ok(OnSavedResponse { failures, ..OnSavedResponse::default() })
    }
}

fn subjects(
    shown: Vec<wire::Subject>,
    now: &buffa_types::google::protobuf::Timestamp,
) -> Result<Vec<Subject>, ConnectError> {
    let now = moment(now).map_err(|error| ConnectError::invalid_argument(format!("now: {error}")))?;
    let subject = |shown: wire::Subject| Subject {
        offer: shown.offer.into_option().unwrap_or_default(),
        now,
        state: shown.state.into_option(),
    };
    Ok(shown.into_iter().map(subject).collect())
}

async fn schedule(stage: &dyn Stage, subject: &Subject) -> Wish {
    let kind = match guarded(stage.should_process(subject)).await {
        Ok(schedule) => schedule.to_wire(),
        Err(failure) => Kind::Failure(Box::new(failure.to_wire())),
    };
    Wish { id: subject.offer.id.clone(), kind: Some(kind), ..Wish::default() }
}

async fn answer(stage: &dyn Stage, subject: &Subject) -> Answer {
    let offer = &subject.offer;
    let answered = guarded(stage.process(subject)).await;
    answered.and_then(|answer| answer.into_wire(offer, subject.now)).unwrap_or_else(|failure| Answer {
        id: offer.id.clone(),
        version: offer.version,
        change: Some(Change::Failure(Box::new(failure.to_wire()))),
        ..Answer::default()
    })
}

async fn on_saved(stage: &dyn Stage, saved: wire::Saved) -> Option<SavedFailure> {
    let saved =
        Saved { offer: saved.offer.into_option().unwrap_or_default(), state: saved.state.into_option() };
    let failure = guarded(stage.on_saved(&saved)).await.err()?;
    Some(SavedFailure {
        id: saved.offer.id,
        version: saved.offer.version,
        failure: failure.to_wire().into(),
        ..SavedFailure::default()
    })
}

/// A panic becomes a passing failure: a fixed stage may succeed.
async fn guarded<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("without a message");
        tracing::error!("a stage panicked: {text}");
        Err(Failure::Passing(format!("panic: {text}")))
    })
}
