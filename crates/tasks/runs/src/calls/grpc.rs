//! Calls of a service that implements `torg.tasks.v1.TaskRunnerService`.

use buffa::EnumValue;
use buffa_types::google::protobuf::{Duration as WireDuration, Timestamp as WireTimestamp};
use connectrpc::client::{ClientConfig, Http2Connection};
use connectrpc::{ConnectError, ErrorCode, Protocol};
use http::Uri;
use hyper_util::rt::TokioIo;
use tokio::time::sleep;
use wire::torg::tasks::v1 as proto;

use super::{Backoff, Call, CallOutcome, Progress};
use crate::limits::{ANSWER_BYTES_MAX, CONNECT_TIMEOUT, DETAIL_BYTES_MAX, REQUEST_TIMEOUT, WAITING_MAX};
use crate::spec::Grpc;
use crate::tls;
use crate::value::{Values, wrong_name};
use triggers::Value;

type Client = proto::TaskRunnerServiceClient;

pub(super) async fn work(call: &Call, grpc: &Grpc) -> CallOutcome {
    match execute(call, grpc).await {
        Ok(sets) => CallOutcome::done(sets),
        Err(why) => CallOutcome::failed(why),
    }
}

/// The error says why the work failed.
async fn execute(call: &Call, grpc: &Grpc) -> Result<Values, String> {
    let client = connect(grpc)?;
    let mut progress = call.progress().map_err(|error| error.to_string())?;
    let mut last = String::new();
    if !progress.accepted {
        let request = request(call, grpc);
        let answer = ask(call, "StartRun", || client.start_run(request.clone())).await?;
        let status = answer.status.as_option().cloned().unwrap_or_default();
        if let Some(sets) = outcome_of(call, "StartRun", status, &mut last)? {
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
        if let Some(sets) = outcome_of(call, "GetRun", status, &mut last)? {
            return Ok(sets);
        }
    }
}

pub(super) async fn cancel(call: &Call, grpc: &Grpc, reason: &str) -> Result<(), String> {
    let (run, reason) = (call.run.to_string(), reason.to_owned());
    let request = proto::CancelRunRequest { run, reason, ..Default::default() };
    connect(grpc)?.cancel_run(request).await.map(drop).map_err(|error| describe(&error))
}

/// Retries transient errors until there is a final response.
async fn ask<T, F>(call: &Call, method: &str, mut ask: impl FnMut() -> F) -> Result<T, String>
where
    F: Future<Output = Result<T, ConnectError>>,
{
    let mut pause = Backoff::default();
    loop {
        match ask().await {
            Ok(answer) => {
                call.clear_error();
                return Ok(answer);
            }
            Err(error) => {
                let why = format!("{method}: {}", describe(&error));
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

/// The values that a finished run sets; `None` while it is running.
fn outcome_of(
    call: &Call,
    method: &str,
    status: proto::RunStatus,
    last: &mut String,
) -> Result<Option<Values>, String> {
    use proto::run_status::State;
    let message = super::truncate(&status.message, DETAIL_BYTES_MAX / 2);
    let shown = match status.state {
        EnumValue::Known(State::STATE_RUNNING) => "running",
        EnumValue::Known(State::STATE_DONE) => "done",
        EnumValue::Known(State::STATE_FAILED) => "failed",
        EnumValue::Known(State::STATE_UNSPECIFIED) => {
            return Err(format!("{method}: the response has no state"));
        }
        EnumValue::Unknown(state) => {
            return Err(format!("{method}: the response has the unknown state {state}"));
        }
    };
    let line = format!("{method}: {shown}: {message}");
    if line != *last {
        call.log(&line);
        *last = line;
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
    // On the wire nanoseconds count forward, also before 1970.
    let (mut seconds, mut nanos) = (time.as_second(), time.subsec_nanosecond());
    if nanos < 0 {
        seconds -= 1;
        nanos += 1_000_000_000;
    }
    WireTimestamp { seconds, nanos, ..Default::default() }
}

/// A client that connects on demand.
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
        let name = grpc.tls.as_ref().and_then(|tls| tls.server_name.as_deref());
        let dialer = net::Dialer::new(tls::config(grpc.tls.as_ref())?, name);
        let dialer = dialer.map_err(|error| format!("server_name: {error}"))?;
        let dial = tower::service_fn(move |address: Uri| {
            let dialer = dialer.clone();
            async move { dialer.connect(&address).await.map(TokioIo::new) }
        });
        builder.lazy_with_connector(dial, address)
    } else {
        builder.lazy_plaintext(address)
    };
    Ok(Client::new(connection.shared(WAITING_MAX), config))
}

fn describe(error: &ConnectError) -> String {
    let message = error.message.as_deref().unwrap_or_default();
    format!("{:?}: {}", error.code, super::truncate(message, DETAIL_BYTES_MAX / 2))
}
