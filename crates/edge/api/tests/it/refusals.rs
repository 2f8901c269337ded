//! What clients see of refusals: through a real server, in JSON and over gRPC.

use std::net::SocketAddr;
use std::sync::Arc;

use access::Verdict;
use api::{FieldFault, Refusal};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use buffa::Message;
use bytes::Bytes;
use connectrpc::client::{ClientConfig, HttpClient};
use connectrpc::{
    ConnectError, ConnectRpcService, ErrorCode, ErrorDetail, Protocol, RequestContext, Response, Router,
    ServiceResult,
};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use offers::masks::MaskError;
use offers::status::{Forbidden, Mover};
use offers::validation::Violation;
use offers::{Error, NotMoved, OfferId, WrongId};
use tokio::net::{TcpListener, TcpStream};
use wire::google::rpc::{BadRequest, ErrorInfo, RetryInfo};
use wire::torg::offers::v1::{
    GetModerationRequest, GetModerationResponse, GiveOpinionRequest, GiveOpinionResponse, ModerationService,
    ModerationServiceClient, Status,
};

const PATH: &str = "/torg.offers.v1.ModerationService/GetModeration";
/// What stock gRPC clients take of headers.
const HEADERS_BYTES_MAX: usize = 8 * 1024;

/// Refuses every call as the id says.
struct Refuses;

fn id() -> OfferId {
    "4829175033168090".parse().unwrap()
}

fn refusal(name: &str) -> Refusal {
    let violation = |n: usize| Violation {
        field: format!("attributes.a{n}"),
        code: "too_long",
        text: "слишком длинно, не больше 10 символов".into(),
    };
    match name {
        "version" => Error::OtherVersion { id: id(), expected: 3, actual: 5 }.into(),
        "mask" => Refusal::wrong_mask(
            "read_mask",
            &MaskError::Unknown { path: "titel".into(), nearest: Some("title".into()) },
        ),
        "offer" => Refusal::of_violations("offer", &[violation(1), violation(2)]).unwrap_err(),
        "many" => Refusal::of_violations("offer", &(0..200).map(violation).collect::<Vec<_>>()).unwrap_err(),
        "long" => {
            let long = |n: usize| FieldFault::new("п".repeat(n), "TOO_LONG", "😀".repeat(n));
            Refusal::wrong("LONG", vec![long(5000), long(1), long(5000), long(5000)])
        }
        "secret" => {
            Error::Store(store::Error::Engine { engine: "fjall", detail: "password hunter2".into() }).into()
        }
        "away" => Error::Store(store::Error::Unavailable { detail: "db7.internal".into() }).into(),
        _ => Refusal::internal(&"no such test"),
    }
}

impl ModerationService for Refuses {
    async fn give_opinion(
        &self,
        _context: RequestContext,
        _request: GiveOpinionRequest,
    ) -> ServiceResult<GiveOpinionResponse> {
        Response::ok(GiveOpinionResponse::default())
    }

    async fn get_moderation(
        &self,
        _context: RequestContext,
        request: GetModerationRequest,
    ) -> ServiceResult<GetModerationResponse> {
        Err(refusal(&request.id))?
    }
}

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = ConnectRpcService::new(Router::new().add_service(Arc::new(Refuses)));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let _ = auto::Builder::new(TokioExecutor::new())
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    address
}

/// The status and the body of an answer in JSON.
async fn call_json(address: SocketAddr, id: &str) -> (u16, serde_json::Value) {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = serde_json::json!({ "id": id }).to_string();
    let request = http::Request::post(PATH)
        .header("host", "torg")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body)))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    let status = answer.status().as_u16();
    (status, serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap())
}

async fn call_grpc(address: SocketAddr, id: &str) -> ConnectError {
    let config =
        ClientConfig::new(format!("http://{address}").parse().unwrap()).with_protocol(Protocol::Grpc);
    let client = ModerationServiceClient::new(HttpClient::plaintext_http2_only(), config);
    let request = GetModerationRequest { id: id.into(), ..GetModerationRequest::default() };
    client.get_moderation(request).await.err().unwrap()
}

fn detail<M: Message + Default>(details: &[ErrorDetail], name: &str) -> Option<M> {
    let found = details.iter().find(|detail| detail.type_url.rsplit('/').next() == Some(name))?;
    Some(M::decode_from_slice(&STANDARD_NO_PAD.decode(found.value.as_ref().unwrap()).unwrap()).unwrap())
}

fn info(details: &[ErrorDetail]) -> ErrorInfo {
    detail(details, "google.rpc.ErrorInfo").unwrap()
}

#[tokio::test]
async fn both_kinds_of_clients_find_reason_and_fields() {
    let address = serve().await;
    let (status, json) = call_json(address, "offer").await;
    assert_eq!((status, &json["code"]), (400, &"invalid_argument".into()));
    // For those who only look.
    assert_eq!(json["details"][0]["debug"]["reason"], "INVALID_OFFER");
    assert_eq!(json["details"][1]["debug"]["fieldViolations"][1]["field"], "offer.attributes.a2");
    let of_json: ConnectError = serde_json::from_value(json).unwrap();
    for error in [of_json, call_grpc(address, "offer").await] {
        assert_eq!(error.code, ErrorCode::InvalidArgument);
        let text = error.message.as_deref().unwrap();
        assert_eq!(text, "offer.attributes.a1: слишком длинно, не больше 10 символов (and 1 more)");
        let info = info(&error.details);
        assert_eq!((&*info.reason, &*info.domain), ("INVALID_OFFER", "torg"));
        let fields = detail::<BadRequest>(&error.details, "google.rpc.BadRequest").unwrap().field_violations;
        let field = (&*fields[0].field, &*fields[0].reason, &*fields[0].description);
        assert_eq!(field, ("offer.attributes.a1", "TOO_LONG", "слишком длинно, не больше 10 символов"));
        assert_eq!(fields.len(), 2);
    }
}

#[tokio::test]
async fn programs_learn_what_they_need_to_try_again() {
    let address = serve().await;
    let (status, json) = call_json(address, "version").await;
    assert_eq!(status, 409);
    let of_json: ConnectError = serde_json::from_value(json).unwrap();
    for error in [of_json, call_grpc(address, "version").await] {
        let info = info(&error.details);
        assert_eq!((error.code, &*info.reason), (ErrorCode::Aborted, "VERSION_CONFLICT"));
        assert_eq!((&*info.metadata["expected"], &*info.metadata["actual"]), ("3", "5"));
    }
    let away = call_grpc(address, "away").await;
    assert_eq!((away.code, &*info(&away.details).reason), (ErrorCode::Unavailable, "UNAVAILABLE"));
    let retry: RetryInfo = detail(&away.details, "google.rpc.RetryInfo").unwrap();
    assert_eq!(retry.retry_delay.seconds, 1);
    let mask = call_grpc(address, "mask").await;
    assert_eq!(mask.message.unwrap(), "read_mask: an offer has no field `titel`; did you mean `title`?");
}

#[tokio::test]
async fn errors_of_ours_show_an_id_and_nothing_else() {
    let address = serve().await;
    for name in ["secret", "away"] {
        let (_, json) = call_json(address, name).await;
        let grpc = call_grpc(address, name).await;
        let incident = info(&grpc.details).metadata["incident"].clone();
        assert_eq!(incident.len(), 16);
        let raw =
            grpc.details.iter().map(|detail| STANDARD_NO_PAD.decode(detail.value.as_ref().unwrap()).unwrap());
        let shown = format!(
            "{json} {grpc} {}",
            raw.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect::<String>()
        );
        for secret in ["hunter2", "fjall", "db7"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert_ne!(json["details"][0]["debug"]["metadata"]["incident"], *incident, "each has its own");
    }
}

/// All headers of an answer over gRPC, trailers too.
async fn headers_of(address: SocketAddr, id: &str) -> http::HeaderMap {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let message = GetModerationRequest { id: id.into(), ..GetModerationRequest::default() }.encode_to_vec();
    let frame = [&[0][..], &u32::try_from(message.len()).unwrap().to_be_bytes(), &message].concat();
    let request = http::Request::post(format!("http://{address}{PATH}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(frame)))
        .unwrap();
    let answer = sender.send_request(request).await.unwrap();
    let mut headers = answer.headers().clone();
    headers.extend(answer.into_body().collect().await.unwrap().trailers().cloned().unwrap_or_default());
    headers
}

#[tokio::test]
async fn however_much_is_wrong_the_headers_stay_as_small_as_clients_take_them() {
    let address = serve().await;
    for id in ["many", "long"] {
        let headers = headers_of(address, id).await;
        let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum();
        assert!(bytes < HEADERS_BYTES_MAX, "{id}: {bytes} bytes");
        let details = STANDARD_NO_PAD.decode(headers["grpc-status-details-bin"].as_bytes()).unwrap();
        let details = String::from_utf8_lossy(&details).into_owned();
        assert!(details.contains("type.googleapis.com/google.rpc.BadRequest"), "{id}");
        assert_eq!(details.contains("fields_left_out"), id == "many", "{id}");
    }
}

#[test]
fn everything_that_the_domain_refuses_has_its_code_and_reason() {
    let store = |error| Error::Store(error);
    let watcher = |error| Error::Watcher(error);
    let what = || "it is so".to_owned();
    let forbidden = |why| Error::NotMoved { id: id(), why: NotMoved::Forbidden(why) };
    let (active, sold) = (Status::Active, Status::Sold);
    let cases = [
        (Error::NotFound(id()), ErrorCode::NotFound, "OFFER_NOT_FOUND"),
        (forbidden(Forbidden::Unchanged(sold)), ErrorCode::FailedPrecondition, "STATUS_UNCHANGED"),
        (forbidden(Forbidden::Impossible(active, sold)), ErrorCode::FailedPrecondition, "MOVE_NOT_POSSIBLE"),
        (
            forbidden(Forbidden::WrongMover(active, sold, &[Mover::Admin], Mover::Seller)),
            ErrorCode::PermissionDenied,
            "MOVE_BY_OTHERS",
        ),
        (Error::NotMoved { id: id(), why: NotMoved::BanStands }, ErrorCode::FailedPrecondition, "BAN_STANDS"),
        (Error::Closed(id(), Status::Archived), ErrorCode::FailedPrecondition, "OFFER_CLOSED"),
        (Error::Contended(id()), ErrorCode::Aborted, "CONTENDED"),
        (Error::Damaged { place: what(), detail: what() }, ErrorCode::DataLoss, "DAMAGED"),
        (store(store::Error::Closed), ErrorCode::Unavailable, "UNAVAILABLE"),
        (store(store::Error::DiskFull { detail: what() }), ErrorCode::Unavailable, "UNAVAILABLE"),
        (store(store::Error::Corrupt { place: what(), detail: what() }), ErrorCode::DataLoss, "DAMAGED"),
        (store(store::Error::TooManyKeys { count: 2, max: 1 }), ErrorCode::InvalidArgument, "TOO_LARGE"),
        (store(store::Error::CounterOverflow { key: what() }), ErrorCode::FailedPrecondition, "COUNTER_FULL"),
        (watcher(watcher::Error::Conflict { what: what() }), ErrorCode::Aborted, "CONFLICT"),
        (watcher(watcher::Error::Setup { what: what() }), ErrorCode::Internal, "INTERNAL"),
        (watcher(store::Error::Closed.into()), ErrorCode::Unavailable, "UNAVAILABLE"),
        (
            watcher(Arc::new(topics::Error::Unavailable { detail: what() }).into()),
            ErrorCode::Unavailable,
            "UNAVAILABLE",
        ),
        (watcher(watcher::Error::Damaged { place: what(), detail: what() }), ErrorCode::DataLoss, "DAMAGED"),
    ];
    for (error, code, reason) in cases {
        let refusal = Refusal::from(error.clone());
        assert_eq!((refusal.code(), refusal.reason()), (code, reason), "{error:?}");
    }
}

#[test]
fn verdicts_and_ids_have_theirs() {
    let of = |verdict| {
        Refusal::of_verdict(verdict, || Refusal::no_offer(id()))
            .map_err(|refusal| (refusal.code(), refusal.reason()))
    };
    assert_eq!(of(Verdict::Allowed), Ok(()));
    assert_eq!(of(Verdict::Missing), Err((ErrorCode::NotFound, "OFFER_NOT_FOUND")));
    assert_eq!(of(Verdict::Forbidden), Err((ErrorCode::PermissionDenied, "FORBIDDEN")));
    assert_eq!(of(Verdict::SignIn), Err((ErrorCode::Unauthenticated, "SIGN_IN")));
    let wrong = Refusal::wrong_id("id", &WrongId::Check);
    let text = "this is no id: a digit is wrong, or two are swapped";
    assert_eq!(wrong.fields(), [FieldFault::new("id", "WRONG_ID_DIGIT", text)]);
    assert_eq!(Refusal::of_violations("offer", &[]), Ok(()));
}
