//! A plug-in that does what a test says, and a marketplace around it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use buffa::{Inline, MessageField};
use buffa_types::google::protobuf::FieldMask;
use catalog::Catalogue;
use connectrpc::{ConnectError, RequestContext, Response, Router, Server, ServiceResult};
use offers::status::Mover;
use offers::{Call, Dependencies, Offers, StoredOffer};
use remote_stages::{StageRegistry, StageSpec, StageStore};
use store::{Memory, Schema, Store, StoreOptions};
use tokio::task::JoinHandle;
use topics::{TopicSpec, Topics};
use watcher::{Setup, Time, Watcher};
use wire::torg::offers::v1::{Author, Money, Offer, Price, Status, author};
use wire::torg::stages::v1 as proto;

type Answers = dyn Fn(&proto::ProcessRequest) -> Result<Vec<proto::Answer>, ConnectError> + Send + Sync;

/// What a plug-in does.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) description: proto::DescribeResponse,
    pub(crate) answers: Arc<Answers>,
    /// What it was told of, by id and version.
    pub(crate) told: Arc<Mutex<Vec<(String, u64)>>>,
    pub(crate) calls: Arc<Mutex<u32>>,
}

impl Script {
    pub(crate) fn new(
        stage: &str,
        answers: impl Fn(&proto::ProcessRequest) -> Result<Vec<proto::Answer>, ConnectError>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        let interest = proto::Interest { fields: mask(&["title"]), ..Default::default() };
        let description = proto::DescribeResponse {
            stage: stage.to_owned(),
            version: "1.0".to_owned(),
            interest: Some(interest).into(),
            wants_saved: true,
            ..Default::default()
        };
        Self { description, answers: Arc::new(answers), told: Arc::default(), calls: Arc::default() }
    }
}

pub(crate) fn mask(paths: &[&str]) -> MessageField<FieldMask, Inline<FieldMask>> {
    let paths = paths.iter().map(|path| (*path).to_owned()).collect();
    Some(FieldMask { paths, ..FieldMask::default() }).into()
}

/// Sets the title of every offer that it is shown.
pub(crate) fn titles(
    title: &'static str,
) -> impl Fn(&proto::ProcessRequest) -> Result<Vec<proto::Answer>, ConnectError> {
    move |request| {
        let answer = |subject: &proto::Subject| {
            let offer = subject.offer.as_option().unwrap();
            patch(offer, &["title"], Offer { title: title.to_owned(), ..Offer::default() })
        };
        Ok(request.subjects.iter().map(answer).collect())
    }
}

/// An answer that patches an offer.
pub(crate) fn patch(offer: &Offer, fields: &[&str], values: Offer) -> proto::Answer {
    let patch = proto::Patch { fields: mask(fields), values: Some(values).into(), ..Default::default() };
    proto::Answer {
        id: offer.id.clone(),
        version: offer.version,
        change: Some(patch.into()),
        ..Default::default()
    }
}

impl proto::StageService for Script {
    async fn describe(
        &self,
        _: RequestContext,
        _: proto::DescribeRequest,
    ) -> ServiceResult<proto::DescribeResponse> {
        Response::ok(self.description.clone())
    }

    async fn should_process(
        &self,
        _: RequestContext,
        request: proto::ShouldProcessRequest,
    ) -> ServiceResult<proto::ShouldProcessResponse> {
        let now = |subject: &proto::Subject| proto::Wish {
            id: subject.offer.as_option().unwrap().id.clone(),
            kind: Some(proto::wish::Now::default().into()),
            ..Default::default()
        };
        let wishes = request.subjects.iter().map(now).collect();
        Response::ok(proto::ShouldProcessResponse { wishes, ..Default::default() })
    }

    async fn process(
        &self,
        _: RequestContext,
        request: proto::ProcessRequest,
    ) -> ServiceResult<proto::ProcessResponse> {
        *self.calls.lock().unwrap() += 1;
        let answers = (self.answers)(&request)?;
        Response::ok(proto::ProcessResponse { answers, ..Default::default() })
    }

    async fn on_saved(
        &self,
        _: RequestContext,
        request: proto::OnSavedRequest,
    ) -> ServiceResult<proto::OnSavedResponse> {
        let of = |saved: &proto::Saved| {
            saved.offer.as_option().map(|offer| (offer.id.clone(), offer.version)).unwrap()
        };
        self.told.lock().unwrap().extend(request.saved.iter().map(of));
        Response::ok(proto::OnSavedResponse::default())
    }
}

/// A plug-in that runs.
pub(crate) struct Serving {
    pub(crate) address: SocketAddr,
    task: JoinHandle<()>,
}

impl Serving {
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Has a plug-in served on a free port, or on this one.
pub(crate) async fn serve(script: Script, address: Option<SocketAddr>) -> Serving {
    let wanted = address.unwrap_or_else(|| "127.0.0.1:0".parse().unwrap());
    let bound = Server::bind(wanted).await.unwrap();
    let address = bound.local_addr().unwrap();
    let router = Router::new().add_service(Arc::new(script));
    let task = tokio::spawn(async move { _ = bound.serve(router).await });
    Serving { address, task }
}

/// Has a plug-in served over TLS on a free port.
pub(crate) async fn serve_secured(script: Script, config: rustls::ServerConfig) -> Serving {
    let bound = Server::bind("127.0.0.1:0").await.unwrap().with_tls(Arc::new(config));
    let address = bound.local_addr().unwrap();
    let router = Router::new().add_service(Arc::new(script));
    let task = tokio::spawn(async move { _ = bound.serve(router).await });
    Serving { address, task }
}

/// A declaration with some fields that it may change.
pub(crate) fn declared(id: &str, endpoints: &[String], may_change: &[&str]) -> proto::OutsideStage {
    proto::OutsideStage {
        id: id.to_owned(),
        endpoints: endpoints.to_vec(),
        may_change: mask(may_change),
        ..Default::default()
    }
}

/// Offers over a store in memory.
pub(crate) async fn offers() -> Offers {
    let tables = topics::tables()
        .into_iter()
        .chain(watcher::tables())
        .chain(offers::tables())
        .chain(remote_stages::tables());
    let schema = Schema::new(1, tables).unwrap();
    let store = Store::over(Arc::new(Memory::new(schema)), &StoreOptions::default());
    let topics = Topics::in_store(&store);
    topics.create(&TopicSpec::new("offers", 4)).await.unwrap();
    let config = watcher::Config { shards: 4, ..watcher::Config::default() };
    let setup: Setup<'_, StoredOffer> =
        Setup { topic: Some((&topics, "offers")), config, ..Setup::default() };
    let watcher = Watcher::open(&store, setup).await.unwrap();
    let catalogue = Arc::new(Catalogue::builtin().unwrap());
    let parts = Dependencies { store, topics, watcher, catalogue, config: offers::Config::default() };
    Offers::new(parts, [7; 32])
}

/// A registry with these stages registered.
pub(crate) async fn registry(offers: &Offers, stages: &[proto::OutsideStage]) -> StageRegistry {
    let configured = stages.iter().map(|stage| StageSpec::check(stage).unwrap()).collect();
    StageRegistry::open(offers, StageStore::new(offers.store(), configured), Vec::new()).await.unwrap()
}

/// Registers a stage, as the API does: once it has said what it is.
pub(crate) async fn register(registry: &StageRegistry, stage: &proto::OutsideStage) {
    let spec = registry.store().complete(stage).await.unwrap();
    let described = registry.plugin(&spec, None).describe(&spec).await.unwrap();
    registry.store().register(&spec, &described, "test", Time::from_ms(1)).await.unwrap();
}

/// Somebody who sells.
pub(crate) fn ann() -> Call {
    let author =
        Author { kind: author::Kind::KIND_SELLER.into(), name: "ann".to_owned(), ..Author::default() };
    Call::by(author, Mover::Seller)
}

/// An offer that can stand.
pub(crate) fn bike(title: &str) -> Offer {
    let fixed = Money { micros: 100_000_000, currency: "EUR".to_owned(), ..Money::default() };
    Offer {
        seller: "ann".to_owned(),
        category: CATEGORY.to_owned(),
        title: title.to_owned(),
        description: "A bike in good order, ridden on Sundays only.".to_owned(),
        price: Some(Price { kind: Some(fixed.into()), ..Price::default() }).into(),
        status: Status::Active.into(),
        ..Offer::default()
    }
}

/// Bicycles.
pub(crate) const CATEGORY: &str = "sg-4-4-3-2";

/// Looks until something is so; by real time, for there are real connections.
pub(crate) async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it never came: {what}");
}
