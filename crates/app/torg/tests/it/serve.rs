//! A running process, seen from outside: HTTP, JSON and gRPC on one port.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::Duration;

use crate::common::Server;
use connectrpc::client::{ClientConfig, Http2Connection, SharedHttp2Connection};
use connectrpc::{ErrorCode, Protocol};
use connectrpc_health::HealthClient;
use connectrpc_health::wire::{HealthCheckRequest, ServingStatus};
use connectrpc_reflection::ServerReflectionClient;
use connectrpc_reflection::wire::v1::ServerReflectionRequest;
use connectrpc_reflection::wire::v1::server_reflection_request::MessageRequest;

const GET_INFO: &str = "/torg.admin.v1.AdminService/GetInfo";

async fn grpc(server: &Server) -> (SharedHttp2Connection, ClientConfig) {
    let url: http::Uri = server.url().parse().unwrap();
    let connection = Http2Connection::connect_plaintext(url.clone()).await.unwrap().shared(16);
    (
        connection,
        ClientConfig::new(url).with_protocol(Protocol::Grpc).with_default_timeout(Duration::from_secs(10)),
    )
}

#[test]
fn a_started_process_is_alive_and_ready() {
    let server = Server::start(&[]);
    let alive = server.get("/healthz");
    assert_eq!((alive.status, alive.json()["alive"].as_bool()), (200, Some(true)));
    let ready = server.get("/readyz");
    assert_eq!((ready.status, ready.body.as_str()), (200, "{\"ready\":true,\"problems\":[]}\n"));
    assert!(server.folder.path().join("data").is_dir(), "the data folder is made");
}

#[test]
fn a_process_tells_who_it_is_in_plain_json() {
    let server = Server::start(&[("TORG_ROLES", "api,feeds"), ("TORG_STORE_URL", "memory:")]);
    let answer = server.post_json(GET_INFO, "{}");
    assert_eq!(answer.status, 200, "{answer:?}");
    let info = answer.json();
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["roles"], serde_json::json!(["api", "feeds"]));
    assert_eq!(info["storeEngine"], "memory");
}

#[test]
fn json_with_a_key_that_the_request_does_not_have_is_refused_by_its_name() {
    let server = Server::start(&[]);
    let answer = server.post_json(GET_INFO, "{\"versoin\": 1}");
    assert_eq!(answer.status, 400, "{answer:?}");
    assert_eq!(
        answer.json(),
        serde_json::json!({
            "code": "invalid_argument",
            "message": "unknown field \"versoin\" in torg.admin.v1.GetInfoRequest",
        })
    );
    let answer = server.post_json("/grpc.health.v1.Health/Check", "{\"servise\": \"\"}");
    assert!(answer.body.contains("did you mean \\\"service\\\"?"), "{answer:?}");
}

#[test]
fn paths_and_methods_that_do_not_exist_are_json_errors() {
    let server = Server::start(&[]);
    let nowhere = server.get("/nowhere");
    assert_eq!((nowhere.status, nowhere.json()["code"].as_str()), (404, Some("not_found")));
    let method = server.post_json("/torg.admin.v1.AdminService/Nothing", "{}");
    assert_eq!((method.status, method.json()["code"].as_str()), (404, Some("unimplemented")));
    let verb = server.post_json("/readyz", "{}");
    assert_eq!((verb.status, verb.json()["code"].as_str()), (405, Some("unimplemented")));
    let garbage = server.post_json(GET_INFO, "{\"a\": ");
    assert_eq!((garbage.status, garbage.json()["code"].as_str()), (400, Some("invalid_argument")));
}

#[test]
fn a_body_over_the_limit_is_refused() {
    let server = Server::start(&[("TORG_LIMITS_REQUEST_BYTES_MAX", "1024")]);
    let answer = server.post_json(GET_INFO, &format!("{{\"a\": \"{}\"}}", "x".repeat(2000)));
    assert_eq!(answer.json()["code"], "resource_exhausted", "{answer:?}");
}

#[test]
fn metrics_count_calls_and_describe_the_process() {
    let server = Server::start(&[]);
    server.post_json(GET_INFO, "{}");
    server.post_json(GET_INFO, "{\"x\": 1}");
    let metrics = server.get("/metrics");
    assert_eq!(metrics.status, 200);
    assert!(metrics.head.contains("content-type: application/openmetrics-text"), "{}", metrics.head);
    for line in [
        "torg_rpc_calls_total{method=\"torg.admin.v1.AdminService/GetInfo\",code=\"ok\"} 1",
        "torg_rpc_calls_total{method=\"torg.admin.v1.AdminService/GetInfo\",code=\"invalid_argument\"} 1",
        "torg_build_info{version=\"0.1.0\"} 1",
    ] {
        assert!(metrics.body.contains(line), "{line} is not in\n{}", metrics.body);
    }
    assert!(metrics.body.contains("\nprocess_resident_memory_bytes "));
}

#[tokio::test]
async fn grpc_health_knows_the_process_and_its_services_and_no_others() {
    let server = Server::start(&[]);
    let (connection, config) = grpc(&server).await;
    let health = HealthClient::new(connection, config);
    for service in ["", "torg.admin.v1.AdminService"] {
        let request = HealthCheckRequest { service: service.to_owned(), ..HealthCheckRequest::default() };
        let answer = health.check(request).await.unwrap().into_owned();
        assert_eq!(answer.status, ServingStatus::SERVING, "{service:?}");
    }
    let request = HealthCheckRequest { service: "nobody".to_owned(), ..HealthCheckRequest::default() };
    assert_eq!(health.check(request).await.err().unwrap().code, ErrorCode::NotFound);
}

#[tokio::test]
async fn one_address_has_so_many_health_watches_and_no_more() {
    const BY_ADDRESS_MAX: usize = 32;
    let server = Server::start(&[]);
    let (connection, config) = grpc(&server).await;
    let health = HealthClient::new(connection, config);
    let mut watches = Vec::new();
    for _ in 0..BY_ADDRESS_MAX {
        let mut watch = health.watch(HealthCheckRequest::default()).await.unwrap();
        let first = watch.message().await.unwrap().unwrap().to_owned_message();
        assert_eq!(first.status, ServingStatus::SERVING);
        watches.push(watch);
    }
    let refused = watch_once(&health).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ResourceExhausted);
    let why = "32 health watches of this address run already, end one first";
    assert_eq!(refused.message.as_deref(), Some(why));
    assert!(health.check(HealthCheckRequest::default()).await.is_ok(), "a question is answered all the same");
    watches.pop();
    // A new watch succeeds once the process has noticed the end of an old one.
    while watch_once(&health).await.is_err() {}
}

/// The first response of a watch.
async fn watch_once(health: &HealthClient<SharedHttp2Connection>) -> Result<(), connectrpc::ConnectError> {
    health.watch(HealthCheckRequest::default()).await?.message().await.map(drop)
}

#[tokio::test]
async fn reflection_lists_and_describes_the_services() {
    let server = Server::start(&[]);
    let (connection, config) = grpc(&server).await;
    let reflection = ServerReflectionClient::new(connection, config);
    let mut stream = reflection.server_reflection_info().await.unwrap();
    for question in [
        MessageRequest::ListServices(String::new()),
        MessageRequest::FileContainingSymbol("torg.admin.v1.AdminService".to_owned()),
        MessageRequest::FileContainingSymbol("grpc.health.v1.Health".to_owned()),
    ] {
        let request =
            ServerReflectionRequest { message_request: Some(question), ..ServerReflectionRequest::default() };
        stream.send(request).await.unwrap();
    }
    stream.close_send();
    let mut answers = Vec::new();
    while let Some(answer) = stream.message().await.unwrap() {
        answers.push(serde_json::to_value(answer.to_owned_message()).unwrap());
    }
    assert_eq!(answers.len(), 3, "{answers:?}");
    let listed = answers[0]["listServicesResponse"]["service"].as_array().unwrap();
    for service in ["torg.admin.v1.AdminService", "grpc.health.v1.Health"] {
        assert!(listed.iter().any(|entry| entry["name"] == service), "{service} is not in {listed:?}");
    }
    for answer in &answers[1..] {
        assert!(!answer["fileDescriptorResponse"]["fileDescriptorProto"].as_array().unwrap().is_empty());
    }
}
