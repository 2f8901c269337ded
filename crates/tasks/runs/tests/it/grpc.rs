//! Runs that a service over gRPC carries out.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use connectrpc::{ConnectError, RequestContext, Response, Router, Server, ServiceResult};
use proto::run_status::State;
use runs::{Action, Chunk, Grpc, Reason, Spec, Status};
use tokio::task::JoinHandle;
use triggers::Value;
use wire::torg::tasks::v1 as proto;

use crate::common::{Place, eventually, id};

/// A service that carries out runs as a test says.
#[derive(Clone, Default)]
pub(crate) struct Worker {
    /// How runs stand; a new one is running.
    states: Arc<Mutex<BTreeMap<String, proto::RunStatus>>>,
    started: Arc<Mutex<Vec<(proto::StartRunRequest, String)>>>,
    asked: Arc<Mutex<u32>>,
    cancelled: Arc<Mutex<Vec<proto::CancelRunRequest>>>,
}

fn standing(state: State, message: &str) -> proto::RunStatus {
    proto::RunStatus { state: state.into(), message: message.to_owned(), ..Default::default() }
}

impl Worker {
    fn set(&self, run: &str, status: proto::RunStatus) {
        self.states.lock().unwrap().insert(run.to_owned(), status);
    }

    fn starts(&self) -> usize {
        self.started.lock().unwrap().len()
    }

    async fn until_asked(&self) {
        eventually("it was asked about", async || (*self.asked.lock().unwrap() > 0).then_some(())).await;
    }
}

impl proto::TaskRunnerService for Worker {
    async fn start_run(
        &self,
        context: RequestContext,
        request: proto::StartRunRequest,
    ) -> ServiceResult<proto::StartRunResponse> {
        let key = context.headers().get("authorization").map_or("", |key| key.to_str().unwrap()).to_owned();
        let mut known = self.states.lock().unwrap();
        let status =
            known.entry(request.run.clone()).or_insert_with(|| standing(State::STATE_RUNNING, "begun"));
        self.started.lock().unwrap().push((request, key));
        Response::ok(proto::StartRunResponse { status: Some(status.clone()).into(), ..Default::default() })
    }

    async fn get_run(
        &self,
        _: RequestContext,
        request: proto::GetRunRequest,
    ) -> ServiceResult<proto::GetRunResponse> {
        *self.asked.lock().unwrap() += 1;
        let run = request.run;
        match self.states.lock().unwrap().get(&run).cloned() {
            Some(status) => {
                Response::ok(proto::GetRunResponse { status: Some(status).into(), ..Default::default() })
            }
            None => Err(ConnectError::not_found("there is no such run")),
        }
    }

    async fn cancel_run(
        &self,
        _: RequestContext,
        request: proto::CancelRunRequest,
    ) -> ServiceResult<proto::CancelRunResponse> {
        self.cancelled.lock().unwrap().push(request);
        Response::ok(proto::CancelRunResponse::default())
    }
}

pub(crate) async fn serve(worker: &Worker, address: Option<SocketAddr>) -> (SocketAddr, JoinHandle<()>) {
    let wanted = address.unwrap_or_else(|| "127.0.0.1:0".parse().unwrap());
    let bound = Server::bind(wanted).await.unwrap();
    let address = bound.local_addr().unwrap();
    let router = Router::new().add_service(Arc::new(worker.clone()));
    (address, tokio::spawn(async move { _ = bound.serve(router).await }))
}

fn call(address: SocketAddr) -> Spec {
    let grpc = Grpc { every: Duration::from_millis(10), ..Grpc::at(format!("http://{address}")) };
    Spec { timeout: Duration::from_secs(60), ..Spec::new("sales_report", Action::Grpc(grpc)) }
}

#[tokio::test]
async fn a_service_is_told_what_to_do_and_asked_until_it_is_done() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, _serving) = serve(&worker, None).await;
    let time = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
    let mut spec = call(address);
    let Action::Grpc(grpc) = &mut spec.action else { panic!() };
    grpc.headers = [("authorization".to_owned(), "Bearer key".into())].into();
    grpc.arguments = [("report".to_owned(), "daily".to_owned())].into();
    spec.values = [
        ("sales.loaded_to".to_owned(), Value::Time(time("1969-12-31T23:59:59.5Z"))),
        ("sales.rows".to_owned(), Value::Number(7)),
    ]
    .into();
    spec.chunk = Some(Chunk { start: time("2021-04-24T00:00:00Z"), end: time("2021-04-25T00:00:00Z") });
    let handle = place.runner.start(&id("r1"), &spec).await.unwrap();
    worker.until_asked().await;
    let set = |kind: proto::seen_value::Kind| proto::SeenValue { kind: Some(kind), ..Default::default() };
    let sets = [("report.made".to_owned(), set(proto::seen_value::Kind::Number(3)))].into();
    worker.set("r1", proto::RunStatus { sets, ..standing(State::STATE_DONE, "3 pages") });
    let end = handle.wait().await.unwrap();
    assert_eq!((end.reason, end.sets["report.made"]), (Reason::Done, Value::Number(3)));
    let started = worker.started.lock().unwrap().clone();
    let [(asked, key)] = &started[..] else { panic!("{started:?}") };
    assert_eq!((asked.run.as_str(), asked.task.as_str(), asked.attempt), ("r1", "sales_report", 1));
    assert_eq!((asked.arguments["report"].as_str(), key.as_str()), ("daily", "Bearer key"));
    assert_eq!(asked.values["sales.rows"].kind, Some(proto::seen_value::Kind::Number(7)));
    let Some(proto::seen_value::Kind::Time(seen)) = &asked.values["sales.loaded_to"].kind else { panic!() };
    assert_eq!((seen.seconds, seen.nanos), (-1, 500_000_000));
    let start = asked.chunk.as_option().unwrap().start.as_option().unwrap().seconds;
    assert_eq!(start, time("2021-04-24T00:00:00Z").as_second());
    let log = place.log("r1").await;
    assert!(log.contains("StartRun: running: begun") && log.contains("GetRun: done: 3 pages"), "{log}");
}

#[tokio::test]
async fn a_run_that_the_service_fails_forgets_or_does_not_tell_has_failed() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, _serving) = serve(&worker, None).await;
    worker.set("r1", standing(State::STATE_FAILED, "no rows"));
    assert_eq!(place.execute("r1", &call(address)).await.to_string(), "failed: no rows");
    let handle = place.runner.start(&id("r2"), &call(address)).await.unwrap();
    worker.until_asked().await;
    worker.states.lock().unwrap().remove("r2");
    let end = handle.wait().await.unwrap();
    assert!(end.reason == Reason::Failed && end.detail.contains("there is no such run"), "{end}");
    worker.set("r3", proto::RunStatus::default());
    let end = place.execute("r3", &call(address)).await;
    assert!(end.reason == Reason::Failed && end.detail.contains("has no state"), "{end}");
    let sets = [("x".to_owned(), proto::SeenValue::default())].into();
    worker.set("r4", proto::RunStatus { sets, ..standing(State::STATE_DONE, "") });
    let end = place.execute("r4", &call(address)).await;
    assert!(end.reason == Reason::Failed && end.detail.contains("the service sets \"x\""), "{end}");
}

#[tokio::test]
async fn a_service_that_is_away_is_tried_again() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, serving) = serve(&worker, None).await;
    serving.abort();
    _ = serving.await;
    let handle = place.runner.start(&id("r1"), &call(address)).await.unwrap();
    place.until_said("r1", "StartRun: Unavailable").await;
    worker.set("r1", standing(State::STATE_DONE, ""));
    let (_, _serving) = serve(&worker, Some(address)).await;
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Done);
}

#[tokio::test]
async fn a_service_hears_that_its_run_was_killed_or_took_too_long() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, _serving) = serve(&worker, None).await;
    let handle = place.runner.start(&id("r1"), &call(address)).await.unwrap();
    worker.until_asked().await;
    assert!(handle.kill().await.unwrap());
    assert_eq!(handle.wait().await.unwrap().reason, Reason::Killed);
    let short = Spec { timeout: Duration::from_millis(300), ..call(address) };
    assert_eq!(place.execute("r2", &short).await.reason, Reason::TimedOut);
    let cancelled = worker.cancelled.lock().unwrap().clone();
    let told: Vec<_> = cancelled.iter().map(|told| (told.run.as_str(), told.reason.as_str())).collect();
    assert_eq!(told, [("r1", "the run was killed"), ("r2", "the run took too long")]);
}

#[tokio::test]
async fn a_run_that_was_begun_is_asked_about_by_another_process_and_not_begun_again() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, _serving) = serve(&worker, None).await;
    let spec = call(address);
    let starter = place.starter("start", "r1", &spec);
    worker.until_asked().await;
    starter.kill();
    assert!(matches!(place.runner.status(&id("r1")).await.unwrap(), Status::Abandoned { .. }));
    worker.set("r1", standing(State::STATE_DONE, ""));
    let end = place.runner.start(&id("r1"), &spec).await.unwrap().wait().await.unwrap();
    assert_eq!((end.reason, worker.starts()), (Reason::Done, 1));
}

#[tokio::test]
async fn a_run_of_nobody_that_is_killed_is_taken_up_to_tell_the_service() {
    let (place, worker) = (Place::new(), Worker::default());
    let (address, _serving) = serve(&worker, None).await;
    let starter = place.starter("start", "r1", &call(address));
    worker.until_asked().await;
    starter.kill();
    assert!(place.runner.kill(&id("r1")).await.unwrap());
    assert_eq!(place.runner.wait(&id("r1")).await.unwrap().reason, Reason::Killed);
    assert_eq!(worker.cancelled.lock().unwrap().len(), 1);
}

/// For the tests with TLS: a run that is done at once.
pub(crate) fn done_at_once(run: &str) -> Worker {
    let worker = Worker::default();
    worker.set(run, standing(State::STATE_DONE, ""));
    worker
}
