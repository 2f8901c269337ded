//! Clock differences between machines.

use std::convert::Infallible;

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use jiff::{SignedDuration, Timestamp};

use crate::doctor::rig::Patient;

/// A stub of a process on a machine whose clock is ahead by this much; it answers what the doctor
/// asks before it checks clocks. Returns its URL.
fn process_elsewhere(ahead: SignedDuration) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let answer = move |_: Request<Incoming>| async move {
        let theirs = Timestamp::now() + ahead;
        let date = jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&theirs).unwrap();
        let body = r#"{"alive": true, "ready": true, "problems": []}"#;
        let answer = Response::builder().header("date", date).header("content-type", "application/json");
        Ok::<_, Infallible>(answer.body(Full::new(Bytes::from(body))).unwrap())
    };
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let serving = http2::Builder::new(TokioExecutor::new());
                tokio::spawn(serving.serve_connection(TokioIo::new(stream), service_fn(answer)));
            }
        });
    });
    url
}

#[test]
fn a_process_whose_clock_differs_is_told_with_the_side() {
    let apart = SignedDuration::from_mins(10);
    for (ahead, side) in [(apart, "ahead of the one here"), (-apart, "behind the one here")] {
        let url = process_elsewhere(ahead);
        let told = Patient::new().examine(&["--server", &url]);
        told.assert_mentioned("process", &["is ready"]);
        told.assert_told(
            "clock",
            "error",
            &format!("the clock of the process at {url}"),
            "have both machines follow a time server",
        );
        told.assert_mentioned("clock", &[side]);
    }
    let told = Patient::new().examine(&["--server", &process_elsewhere(SignedDuration::ZERO)]);
    told.assert_told("clock", "ok", "agrees with the one here", "");
}
