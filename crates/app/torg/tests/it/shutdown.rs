//! The shutdown of a process: running work completes while there is time, and a second signal ends
//! the process at once.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

use crate::common::{Answer, PATIENCE, Server, post_json};

/// A call with an incomplete body: it runs until [`Unfinished::finish`].
struct Unfinished {
    stream: TcpStream,
    rest: String,
}

impl Unfinished {
    fn start(server: &Server) -> Unfinished {
        const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
        let body = "{}";
        let request = post_json("/torg.admin.v1.AdminService/GetInfo", body)
            .replace("\r\n\r\n", "\r\nexpect: 100-continue\r\n\r\n");
        let (head, rest) = request.split_at(request.len() - body.len());
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        // The server sends this when the call begins to read its body: from now on it runs.
        let mut answer = [0; CONTINUE.len()];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, CONTINUE);
        Unfinished { stream, rest: rest.to_owned() }
    }

    fn finish(mut self) -> Answer {
        self.stream.write_all(self.rest.as_bytes()).unwrap();
        Answer::read(self.stream)
    }
}

#[test]
fn sigterm_stops_accepting_lets_the_running_call_end_and_exits_with_0() {
    for signal in ["TERM", "INT"] {
        let mut server = Server::start(&[]);
        let call = Unfinished::start(&server);
        server.signal(signal);
        server.wait_until_closed();
        assert!(server.runs(), "it waits for the call");
        let answer = call.finish();
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(server.wait().code(), Some(0));
        server.log_line("stopped");
    }
}

#[test]
fn a_call_that_does_not_end_is_cut_after_the_drain_timeout() {
    let mut server = Server::start(&[("TORG_LIMITS_DRAIN_TIMEOUT_S", "1")]);
    let call = Unfinished::start(&server);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(server.log_line("cut off: they were not done in limits.drain_timeout_s")["connections"], 1);
    drop(call);
}

#[test]
fn a_second_signal_ends_the_process_at_once_with_130() {
    let mut server = Server::start(&[("TORG_LIMITS_DRAIN_TIMEOUT_S", "600")]);
    let _call = Unfinished::start(&server);
    server.signal("TERM");
    server.wait_until_closed();
    assert!(server.runs());
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(130));
}

#[test]
fn an_idle_connection_does_not_hold_up_the_end() {
    let mut server = Server::start(&[("TORG_LIMITS_DRAIN_TIMEOUT_S", "600")]);
    let _silent = TcpStream::connect(server.address).unwrap();
    let mut kept_alive = TcpStream::connect(server.address).unwrap();
    kept_alive.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    assert_eq!(server.get("/readyz").status, 200);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn during_the_notice_calls_are_answered_but_the_process_is_not_ready() {
    let mut server = Server::start(&[("TORG_LIMITS_DRAIN_NOTICE_S", "600")]);
    server.signal("TERM");
    server.log_line("stopping");
    let until = Instant::now() + PATIENCE;
    let ready = loop {
        let ready = server.get("/readyz");
        if ready.status != 200 || Instant::now() > until {
            break ready;
        }
    };
    assert_eq!(ready.status, 503, "{ready:?}");
    assert_eq!(
        ready.json(),
        serde_json::json!({"ready": false, "problems": [{"check": "stop", "why": "stopping"}]})
    );
    assert_eq!(server.post_json("/torg.admin.v1.AdminService/GetInfo", "{}").status, 200);
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(130), "who does not want to wait for the end of the notice");
}
