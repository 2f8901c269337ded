//! A remote stage as the watcher sees it: an implementation of `Stage`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buffa::Message as _;
use catalog::Catalogue;
use connectrpc::ConnectError;
use futures::future::join_all;
use offers::StoredOffer;
use watcher::{Answer, Fields, Interest, Saved, Schedule, Stage, StageError, Subject};
use wire::torg::stages::v1 as proto;

use crate::answers::{Reader, read_failure, wrong_interest};
use crate::endpoint::{EndpointStatus, PingError, message};
use crate::endpoints::Endpoints;
use crate::requests;
use crate::shadow::{Shadow, ShadowReport};
use crate::spec::{StageSpec, paths};

#[derive(Clone, Debug, PartialEq)]
pub struct Description(proto::DescribeResponse);

impl Description {
    /// Checks the description of a stage against its declaration.
    pub fn check(spec: &StageSpec, said: proto::DescribeResponse) -> Result<Self, String> {
        let StageSpec { id, allowed, .. } = spec;
        if said.stage != *id {
            return Err(format!(
                "the stage at this address is {:?}, not {id:?}: correct the address or the id",
                said.stage
            ));
        }
        let sets = paths(said.sets.as_option()).iter().map(String::as_str);
        if let Some(path) = allowed.first_forbidden(sets) {
            return Err(format!(
                "the stage sets `{path}` without permission: add it to may_change to allow it"
            ));
        }
        let interest = said.interest.as_option();
        let fields = paths(interest.and_then(|interest| interest.fields.as_option()));
        let inputs = paths(interest.and_then(|interest| interest.inputs.as_option()));
        match fields.iter().chain(inputs).find_map(|path| wrong_interest(path)) {
            Some(wrong) => Err(format!("the interest of the stage: {wrong}")),
            None => Ok(Self(said)),
        }
    }

    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.version
    }

    pub(crate) fn as_message(&self) -> &proto::DescribeResponse {
        &self.0
    }

    fn interest(&self, instead: Option<&Fields>) -> Interest {
        let fields = |mask: Option<&_>| Fields::of(paths(mask).iter().cloned());
        let said = self.0.interest.as_option();
        let own = said.map(|said| fields(said.fields.as_option())).filter(|fields| !fields.is_empty());
        let wanted = instead.cloned().or(own).unwrap_or_else(Fields::all);
        let asks = said.is_some_and(|said| said.ask);
        let interest = if asks { Interest::ask_about(wanted) } else { Interest::visit_on(wanted) };
        interest.reading(&said.map_or_else(Fields::none, |said| fields(said.inputs.as_option())))
    }
}

#[derive(Clone)]
pub struct Plugin {
    id: Arc<str>,
    timeout: Duration,
    interest: Interest,
    wants_saved: bool,
    endpoints: Endpoints,
    reader: Reader,
    shadow: Option<Shadow>,
}

impl Plugin {
    /// A stage that never described itself is asked about every change and hears of every save.
    #[must_use]
    pub fn new(
        spec: &StageSpec,
        described: Option<&Description>,
        catalogue: &Arc<Catalogue>,
        exposure: Duration,
    ) -> Self {
        let id: Arc<str> = (&*spec.id).into();
        let instead = spec.interest.as_ref();
        let unknown = || instead.cloned().map_or_else(Interest::ask_about_all, Interest::visit_on);
        let (allowed, catalogue) = (spec.allowed.clone(), Arc::clone(catalogue));
        let reader = Reader { stage: Arc::clone(&id), allowed, catalogue, exposure };
        let shadow = spec
            .shadow
            .as_ref()
            .map(|(addresses, share)| Shadow::new(Endpoints::new(spec, addresses), reader.clone(), *share));
        Self {
            timeout: spec.timeout,
            interest: described.map_or_else(unknown, |described| described.interest(instead)),
            wants_saved: described.is_none_or(|described| described.as_message().wants_saved),
            endpoints: Endpoints::new(spec, &spec.endpoints),
            id,
            reader,
            shadow,
        }
    }

    /// Calls `Describe` and checks the answer.
    pub async fn describe(&self, spec: &StageSpec) -> Result<Description, String> {
        let said = self.endpoints.describe().await;
        let said = said.map_err(|error| format!("it does not answer: {}", message(&error)))?;
        Description::check(spec, said)
    }

    /// Succeeds if one address answers within `patience`, whatever it says. Not counted as a call.
    pub async fn ping(&self, patience: Duration) -> Result<(), PingError> {
        self.endpoints.ping(patience).await
    }

    /// The health of its addresses as this process sees it.
    #[must_use]
    pub fn endpoint_statuses(&self) -> Vec<EndpointStatus> {
        self.endpoints.statuses()
    }

    #[must_use]
    pub fn shadow(&self) -> Option<ShadowReport> {
        self.shadow.as_ref().map(Shadow::report)
    }

    fn failed(&self, error: &ConnectError) -> StageError {
        use connectrpc::ErrorCode::{DeadlineExceeded, Unavailable};
        match error.code {
            DeadlineExceeded => StageError::Passing(format!("it did not answer within {:?}", self.timeout)),
            Unavailable => StageError::Away(message(error)),
            _ => StageError::Passing(message(error)),
        }
    }
}

pub(crate) async fn process(
    endpoints: &Endpoints,
    reader: &Reader,
    subjects: &[Subject<StoredOffer>],
) -> Result<Vec<Result<Answer<StoredOffer>, StageError>>, ConnectError> {
    let Some(first) = subjects.first() else { return Ok(Vec::new()) };
    let answered = endpoints.call(|client| {
        let request = proto::ProcessRequest {
            stage: reader.stage.to_string(),
            now: Some(requests::timestamp(first.now)).into(),
            subjects: subjects.iter().map(requests::subject).collect(),
            ..proto::ProcessRequest::default()
        };
        async move { Ok(client.process(request).await?.answers) }
    });
    let answers = answered.await?;
    Ok(reader.answers(subjects, answers))
}

/// About the size of a subject in a request.
fn bytes_of(subject: &Subject<StoredOffer>) -> usize {
    subject.entity.offer.encoded_len() as usize + subject.state.len()
}

#[async_trait]
impl Stage<StoredOffer> for Plugin {
    fn id(&self) -> &str {
        &self.id
    }

    fn interest(&self) -> Interest {
        self.interest.clone()
    }

    fn wants_saved(&self) -> bool {
        self.wants_saved
    }

    async fn process(&self, subject: &Subject<StoredOffer>) -> Result<Answer<StoredOffer>, StageError> {
        let mut answers = self.process_many(std::slice::from_ref(subject)).await;
        answers.pop().unwrap_or_else(|| Err(StageError::Passing("no answer".to_owned())))
    }

    async fn process_many(
        &self,
        subjects: &[Subject<StoredOffer>],
    ) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let portions = requests::portions(subjects, bytes_of);
        join_all(portions.iter().map(|subjects| self.visit(subjects))).await.concat()
    }

    async fn should_process_many(
        &self,
        subjects: &[Subject<StoredOffer>],
    ) -> Vec<Result<Schedule, StageError>> {
        let portions = requests::portions(subjects, bytes_of);
        join_all(portions.iter().map(|subjects| self.ask(subjects))).await.concat()
    }

    async fn on_saved_many(&self, saved: &[Saved<StoredOffer>]) -> Vec<Result<(), StageError>> {
        let bytes =
            |saved: &Saved<StoredOffer>| saved.entity.offer.encoded_len() as usize + saved.state.len();
        let portions = requests::portions(saved, bytes);
        join_all(portions.iter().map(|saved| self.notify(saved))).await.concat()
    }
}

impl Plugin {
    async fn visit(&self, subjects: &[Subject<StoredOffer>]) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let answers = process(&self.endpoints, &self.reader, subjects).await;
        let answers = answers.unwrap_or_else(|error| vec![Err(self.failed(&error)); subjects.len()]);
        if let Some(shadow) = &self.shadow {
            shadow.compare(subjects, &answers);
        }
        answers
    }

    async fn ask(&self, subjects: &[Subject<StoredOffer>]) -> Vec<Result<Schedule, StageError>> {
        let Some(first) = subjects.first() else { return Vec::new() };
        let asked = self.endpoints.call(|client| {
            let request = proto::ShouldProcessRequest {
                stage: self.id.to_string(),
                now: Some(requests::timestamp(first.now)).into(),
                subjects: subjects.iter().map(requests::subject).collect(),
                ..proto::ShouldProcessRequest::default()
            };
            async move { Ok(client.should_process(request).await?.wishes) }
        });
        match asked.await {
            Ok(wishes) => self.reader.wishes(subjects, wishes),
            Err(error) => vec![Err(self.failed(&error)); subjects.len()],
        }
    }

    async fn notify(&self, saved: &[Saved<StoredOffer>]) -> Vec<Result<(), StageError>> {
        let notified = self.endpoints.call(|client| {
            let request = proto::OnSavedRequest {
                stage: self.id.to_string(),
                saved: saved.iter().map(saved_message).collect(),
                ..proto::OnSavedRequest::default()
            };
            async move { Ok(client.on_saved(request).await?.failures) }
        });
        match notified.await {
            Ok(failures) => saved.iter().map(|saved| outcome(saved, &failures)).collect(),
            Err(error) => vec![Err(self.failed(&error)); saved.len()],
        }
    }
}

fn saved_message(saved: &Saved<StoredOffer>) -> proto::Saved {
    let offer = Some(requests::shown(&saved.entity, saved.version)).into();
    proto::Saved { offer, state: requests::state_of(&saved.state).into(), ..proto::Saved::default() }
}

/// The outcome of one saved change. A failure without a version concerns every version.
fn outcome(saved: &Saved<StoredOffer>, failures: &[proto::SavedFailure]) -> Result<(), StageError> {
    let is_it = |failure: &&proto::SavedFailure| {
        failure.id == saved.entity.offer.id && (failure.version == 0 || failure.version == saved.version)
    };
    match failures.iter().find(is_it) {
        None => Ok(()),
        Some(failure) => Err(read_failure(&failure.failure.as_option().cloned().unwrap_or_default())),
    }
}
