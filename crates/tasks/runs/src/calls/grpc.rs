//! Calls of a service that implements `torg.tasks.v1.TaskRunnerService`.

use std::sync::Arc;

use buffa::EnumValue;
use buffa_types::google::protobuf::{Duration as WireDuration, Timestamp as WireTimestamp};
use connectrpc::client::{ClientConfig, Http2Connection};
use connectrpc::{ConnectError, ErrorCode, Protocol};
use http::Uri;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::sleep;
use tokio_rustls::TlsConnector;
use wire::torg::tasks::v1 as proto;

use super::{Call, Pause, Progress, Verdict};
use crate::limits::{ANSWER_BYTES_MAX, CONNECT_TIMEOUT, DETAIL_BYTES_MAX, REQUEST_TIMEOUT, WAITING_MAX};
use crate::spec::Grpc;
use crate::tls;
use crate::value::{Value, Values, wrong_name};

type Client = proto::TaskRunnerServiceClient;

const HTTPS_PORT: u16 = 443;

pub(super) async fn work(call: &Call, grpc: &Grpc) -> Verdict {
    match carry_out(call, grpc).await {
        Ok(sets) => Verdict::done(sets),
        Err(why) => Verdict::failed(why),
    }
}

/// The error says why the work failed.
async fn carry_out(call: &Call, grpc: &Grpc) -> Result<Values, String> {
    let client = connect(grpc)?;
    let mut progress = call.progress().map_err(|error| error.to_string())?;
    let mut said = String::new();
    if !progress.accepted {
        let request = request(call, grpc);
        let answer = ask(call, "StartRun", || client.start_run(request.clone())).await?;
        let status = answer.status.as_option().cloned().unwrap_or_default();
        if let Some(sets) = judge(call, "StartRun", status, &mut said)? {
            return Ok(sets);
        }
        progress = Progress { accepted: true, location: None };
        call.note(&progress).await;
    }
    loop {
        sleep(grpc.every).await;
        let request = proto::GetRunRequest { run: call.run.to_string(), ..Default::default() };
        let answer = ask(call, "GetRun", || client.get_run(request.clone())).await?;
        let status = answer.status.as_option().cloned().unwrap_or_default();
        if let Some(sets) = judge(call, "GetRun", status, &mut said)? {
            return Ok(sets);
        }
    }
}

/// Tells the service that its work is not wanted any more.
pub(super) async fn cancel(call: &Call, grpc: &Grpc, reason: &str) -> Result<(), String> {
    let (run, reason) = (call.run.to_string(), reason.to_owned());
    let request = proto::CancelRunRequest { run, reason, ..Default::default() };
    connect(grpc)?.cancel_run(request).await.map(drop).map_err(|error| words(&error))
}

/// Calls until there is an answer that lasts.
async fn ask<T, F>(call: &Call, method: &str, mut ask: impl FnMut() -> F) -> Result<T, String>
where
    F: Future<Output = Result<T, ConnectError>>,
{
    let mut pause = Pause::default();
    loop {
        match ask().await {
            Ok(answer) => {
                call.forget_trouble();
                return Ok(answer);
            }
            Err(error) => {
                let why = format!("{method}: {}", words(&error));
                if !may_pass(error.code) {
                    return Err(why);
                }
                call.pause_after(why, &mut pause, None).await;
            }
        }
    }
}

fn may_pass(code: ErrorCode) -> bool {
    use ErrorCode::{Aborted, DeadlineExceeded, ResourceExhausted, Unavailable};
    matches!(code, Unavailable | DeadlineExceeded | ResourceExhausted | Aborted)
}

/// The values that a run sets which is done; `None` while it goes on.
fn judge(
    call: &Call,
    method: &str,
    status: proto::RunStatus,
    said: &mut String,
) -> Result<Option<Values>, String> {
    use proto::run_status::State;
    let message = super::shortened(&status.message, DETAIL_BYTES_MAX / 2);
    let shown = match status.state {
        EnumValue::Known(State::STATE_RUNNING) => "running",
        EnumValue::Known(State::STATE_DONE) => "done",
        EnumValue::Known(State::STATE_FAILED) => "failed",
        EnumValue::Known(State::STATE_UNSPECIFIED) => {
            return Err(format!("{method}: the service does not say how the run stands (state is missing)"));
        }
        EnumValue::Unknown(state) => {
            return Err(format!("{method}: the service tells a state that Torg does not know: {state}"));
        }
    };
    let line = format!("{method}: {shown}: {message}");
    if line != *said {
        call.log(&line);
        *said = line;
    }
    match shown {
        "running" => Ok(None),
        "failed" => Err(message),
        _ => status.sets.into_iter().map(value_of).collect::<Result<_, _>>().map(Some),
    }
}

fn value_of((name, value): (String, proto::SeenValue)) -> Result<(String, Value), String> {
    if let Some(what) = wrong_name(&name) {
        return Err(format!("the service sets {name:?}: {what}"));
    }
    let read = match value.kind {
        Some(proto::seen_value::Kind::Number(number)) => Some(Value::Number(number)),
        Some(proto::seen_value::Kind::Time(time)) => {
            jiff::Timestamp::new(time.seconds, time.nanos).ok().map(Value::Time)
        }
        None => None,
    };
    match read {
        Some(value) => Ok((name, value)),
        None => Err(format!("the service sets {name:?} to what is neither a number nor a time")),
    }
}

fn request(call: &Call, grpc: &Grpc) -> proto::StartRunRequest {
    let spec = &call.spec;
    let seen = |value: &Value| {
        let kind = match value {
            Value::Number(number) => proto::seen_value::Kind::Number(*number),
            Value::Time(time) => timestamp(*time).into(),
        };
        proto::SeenValue { kind: Some(kind), ..Default::default() }
    };
    let chunk = spec.chunk.map(|chunk| proto::SeenChunk {
        start: Some(timestamp(chunk.start)).into(),
        end: Some(timestamp(chunk.end)).into(),
        ..Default::default()
    });
    let timeout = WireDuration {
        seconds: spec.timeout.as_secs().cast_signed(),
        nanos: spec.timeout.subsec_nanos().cast_signed(),
        ..Default::default()
    };
    proto::StartRunRequest {
        run: call.run.to_string(),
        task: spec.task.clone(),
        attempt: spec.attempt,
        values: spec.values.iter().map(|(name, value)| (name.clone(), seen(value))).collect(),
        chunk: chunk.into(),
        arguments: grpc.arguments.clone(),
        timeout: Some(timeout).into(),
        ..Default::default()
    }
}

fn timestamp(time: jiff::Timestamp) -> WireTimestamp {
    // On the wire the nanoseconds count forwards, also before 1970.
    let (mut seconds, mut nanos) = (time.as_second(), time.subsec_nanosecond());
    if nanos < 0 {
        seconds -= 1;
        nanos += 1_000_000_000;
    }
    WireTimestamp { seconds, nanos, ..Default::default() }
}

/// A client whose connection is made when it is needed.
fn connect(grpc: &Grpc) -> Result<Client, String> {
    let address: Uri = grpc.address.parse().map_err(|error| format!("address: {error}"))?;
    let mut config = ClientConfig::new(address.clone())
        .with_protocol(Protocol::Grpc)
        .with_default_timeout(REQUEST_TIMEOUT)
        .with_default_max_message_size(ANSWER_BYTES_MAX);
    for (name, value) in &grpc.headers {
        config = config.with_default_header(name.as_str(), value.expose());
    }
    let builder = Http2Connection::builder().establishment_timeout(CONNECT_TIMEOUT);
    let connection = if address.scheme_str() == Some("https") {
        let mut tls = tls::config(grpc.tls.as_ref())?;
        tls.alpn_protocols = vec![b"h2".to_vec()];
        let connector = TlsConnector::from(Arc::new(tls));
        let host = address.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let port = address.port_u16().unwrap_or(HTTPS_PORT);
        let named = grpc.tls.as_ref().and_then(|tls| tls.server_name.clone()).unwrap_or_else(|| host.clone());
        let dial = tower::service_fn(move |_: Uri| {
            let (connector, host, named) = (connector.clone(), host.clone(), named.clone());
            async move {
                let name = ServerName::try_from(named).map_err(std::io::Error::other)?;
                let stream = TcpStream::connect((host.as_str(), port)).await?;
                stream.set_nodelay(true)?;
                connector.connect(name, stream).await.map(TokioIo::new)
            }
        });
        builder.lazy_with_connector(dial, address)
    } else {
        builder.lazy_plaintext(address)
    };
    Ok(Client::new(connection.shared(WAITING_MAX), config))
}

fn words(error: &ConnectError) -> String {
    let message = error.message.as_deref().unwrap_or_default();
    format!("{:?}: {}", error.code, super::shortened(message, DETAIL_BYTES_MAX / 2))
}
