//! An outside stage as the watcher visits it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use buffa::Message as _;
use catalog::Catalogue;
use connectrpc::ConnectError;
use futures::future::join_all;
use offers::StoredOffer;
use watcher::{Answer, Fields, Interest, Saved, Stage, StageError, Subject, Wish};
use wire::torg::stages::v1 as proto;

use crate::answers::{Reader, read_failure, wrong_interest};
use crate::endpoint::{Silence, Standing, words};
use crate::endpoints::Endpoints;
use crate::outside::{Outside, paths};
use crate::requests;
use crate::shadow::{Compared, Shadow};

/// What a stage says of itself, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Described(proto::DescribeResponse);

impl Described {
    /// Checks what a stage says of itself by what was declared.
    pub fn check(outside: &Outside, said: proto::DescribeResponse) -> Result<Self, String> {
        let Outside { id, allowed, .. } = outside;
        if said.stage != *id {
            return Err(format!(
                "the stage there is {:?}, not {id:?}: another address, or another id?",
                said.stage
            ));
        }
        let sets = paths(said.sets.as_option()).iter().map(String::as_str);
        if let Some(path) = allowed.first_forbidden(sets) {
            return Err(format!(
                "the stage sets `{path}`, which it may not: add it to may_change, if that is right"
            ));
        }
        let interest = said.interest.as_option();
        let fields = paths(interest.and_then(|interest| interest.fields.as_option()));
        let inputs = paths(interest.and_then(|interest| interest.inputs.as_option()));
        match fields.iter().chain(inputs).find_map(|path| wrong_interest(path)) {
            Some(wrong) => Err(format!("what interests the stage: {wrong}")),
            None => Ok(Self(said)),
        }
    }

    /// What the plug-in calls its version.
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

/// An outside stage, as the watcher visits it. Cheap to clone.
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
    /// A stage that is called as it was declared. Of one that has never described itself nothing is known: it is asked about every change, and hears of all that is saved.
    #[must_use]
    pub fn new(
        outside: &Outside,
        described: Option<&Described>,
        catalogue: &Arc<Catalogue>,
        exposure: Duration,
    ) -> Self {
        let id: Arc<str> = (&*outside.id).into();
        let instead = outside.interest.as_ref();
        let unknown = || instead.cloned().map_or_else(Interest::ask_about_all, Interest::visit_on);
        let (allowed, catalogue) = (outside.allowed.clone(), Arc::clone(catalogue));
        let reader = Reader { stage: Arc::clone(&id), allowed, catalogue, exposure };
        let shadow = outside.shadow.as_ref().map(|(addresses, share)| {
            Shadow::new(Endpoints::new(outside, addresses), reader.clone(), *share)
        });
        Self {
            timeout: outside.timeout,
            interest: described.map_or_else(unknown, |described| described.interest(instead)),
            wants_saved: described.is_none_or(|described| described.as_message().wants_saved),
            endpoints: Endpoints::new(outside, &outside.endpoints),
            id,
            reader,
            shadow,
        }
    }

    /// Asks the stage what it is.
    pub async fn describe(&self, outside: &Outside) -> Result<Described, String> {
        let said = self.endpoints.describe().await;
        let said = said.map_err(|error| format!("it does not answer: {}", words(&error)))?;
        Described::check(outside, said)
    }

    /// Whether one of its addresses answers within that time, whatever it says. That is no call, for whoever counts them.
    pub async fn ping(&self, patience: Duration) -> Result<(), Silence> {
        self.endpoints.ping(patience).await
    }

    /// How its addresses fare in this process.
    #[must_use]
    pub fn standings(&self) -> Vec<Standing> {
        self.endpoints.standings()
    }

    /// How its shadow compares in this process.
    #[must_use]
    pub fn compared(&self) -> Option<Compared> {
        self.shadow.as_ref().map(Shadow::compared)
    }

    fn failed(&self, error: &ConnectError) -> StageError {
        use connectrpc::ErrorCode::{DeadlineExceeded, Unavailable};
        match error.code {
            DeadlineExceeded => StageError::Passing(format!("it did not answer within {:?}", self.timeout)),
            Unavailable => StageError::Away(words(error)),
            _ => StageError::Passing(words(error)),
        }
    }
}

/// Asks a plug-in to visit offers.
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

/// The bytes that a subject has in a request, about.
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

    async fn should_process_many(&self, subjects: &[Subject<StoredOffer>]) -> Vec<Result<Wish, StageError>> {
        let portions = requests::portions(subjects, bytes_of);
        join_all(portions.iter().map(|subjects| self.ask(subjects))).await.concat()
    }

    async fn on_saved_many(&self, saved: &[Saved<StoredOffer>]) -> Vec<Result<(), StageError>> {
        let bytes =
            |saved: &Saved<StoredOffer>| saved.entity.offer.encoded_len() as usize + saved.state.len();
        let portions = requests::portions(saved, bytes);
        join_all(portions.iter().map(|saved| self.tell(saved))).await.concat()
    }
}

/// One request each.
impl Plugin {
    async fn visit(&self, subjects: &[Subject<StoredOffer>]) -> Vec<Result<Answer<StoredOffer>, StageError>> {
        let answers = process(&self.endpoints, &self.reader, subjects).await;
        let answers = answers.unwrap_or_else(|error| vec![Err(self.failed(&error)); subjects.len()]);
        if let Some(shadow) = &self.shadow {
            shadow.compare(subjects, &answers);
        }
        answers
    }

    async fn ask(&self, subjects: &[Subject<StoredOffer>]) -> Vec<Result<Wish, StageError>> {
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

    async fn tell(&self, saved: &[Saved<StoredOffer>]) -> Vec<Result<(), StageError>> {
        let told = self.endpoints.call(|client| {
            let request = proto::OnSavedRequest {
                stage: self.id.to_string(),
                saved: saved.iter().map(told).collect(),
                ..proto::OnSavedRequest::default()
            };
            async move { Ok(client.on_saved(request).await?.failures) }
        });
        match told.await {
            Ok(failures) => saved.iter().map(|saved| outcome(saved, &failures)).collect(),
            Err(error) => vec![Err(self.failed(&error)); saved.len()],
        }
    }
}

fn told(saved: &Saved<StoredOffer>) -> proto::Saved {
    let offer = Some(requests::shown(&saved.entity, saved.version)).into();
    proto::Saved { offer, state: requests::state_of(&saved.state).into(), ..proto::Saved::default() }
}

/// What became of one saved change. A failure without a version is of any.
fn outcome(saved: &Saved<StoredOffer>, failures: &[proto::SavedFailure]) -> Result<(), StageError> {
    let is_it = |failure: &&proto::SavedFailure| {
        failure.id == saved.entity.offer.id && (failure.version == 0 || failure.version == saved.version)
    };
    match failures.iter().find(is_it) {
        None => Ok(()),
        Some(failure) => Err(read_failure(&failure.failure.as_option().cloned().unwrap_or_default())),
    }
}
