//! Access control of a running process, over JSON and gRPC, with and without TLS; and `torg keys`.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod actions;
mod issuer;
mod keys;
mod listening;
mod offers;
mod roles;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use crate::common::Server;
use buffa_types::google::protobuf::{Empty, EmptyView};
use connectrpc::client::{CallOptions, ClientConfig, Http2Connection, call_unary};
use connectrpc::{Protocol, Spec, StreamType};
use issuer::Issuer;

const GET_INFO: &str = "/torg.admin.v1.AdminService/GetInfo";
const LIST_KEYS: &str = "/torg.access.v1.KeyService/ListKeys";
const HOUR_S: i64 = 3600;

/// A process that requires tokens, and the issuer that it trusts.
fn guarded(environment: &[(&str, &str)]) -> (Server, Issuer) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let issuer = Issuer::new();
    let keys = issuer.write_keys(folder.path());
    let mut all = vec![("TORG_ACCESS_MODE", "required"), ("TORG_ACCESS_JWKS_FILE", keys.to_str().unwrap())];
    all.extend_from_slice(environment);
    (Server::start_in(&folder, &all), issuer)
}

/// The code of the response to an empty request over gRPC.
async fn grpc_code(server: &Server, method: &'static str, token: Option<&str>) -> String {
    let url: http::Uri = server.url().parse().unwrap();
    let connection = Http2Connection::connect_plaintext(url.clone()).await.unwrap().shared(1);
    let config =
        ClientConfig::new(url).with_protocol(Protocol::Grpc).with_default_timeout(Duration::from_secs(20));
    let config = match token {
        Some(token) => config.with_default_header("authorization", format!("Bearer {token}")),
        None => config,
    };
    let spec = Spec::client(method, StreamType::Unary);
    let answer = call_unary::<_, _, EmptyView<'_>>(
        &connection,
        &config,
        spec,
        Empty::default(),
        CallOptions::default(),
    );
    match answer.await {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.code.as_str().to_owned(),
    }
}

/// The code of the first response of a stream that is opened with an empty request; `ok` once its
/// first message has come.
async fn stream_code(
    server: &Server,
    method: &str,
    token: Option<&str>,
    protocol: crate::common::wire::Protocol,
) -> String {
    let mut wire = crate::common::wire::Wire::connect(server.address).await;
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    let message: &[u8] = if protocol == crate::common::wire::Protocol::Json { b"{}" } else { b"" };
    let kind = protocol.content_type(true);
    wire.call(method, kind, &headers, crate::common::wire::framed(message)).await.unwrap().code()
}

/// The code of the response to an empty request over JSON.
fn json_code(server: &Server, method: &str, token: Option<&str>) -> String {
    let answer = server.call(method, token, "{}");
    match answer.status {
        200 => "ok".to_owned(),
        _ => answer.json()["code"].as_str().unwrap().to_owned(),
    }
}
