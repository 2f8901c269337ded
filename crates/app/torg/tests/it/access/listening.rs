//! Where a process listens, which connections it accepts, and the limits of requests.

use crate::access::{GET_INFO, HOUR_S, grpc_code, guarded, json_code};
use crate::common::{Ended, Server, authorized, run, torg};

#[test]
fn without_access_a_process_does_not_listen_where_other_machines_could_reach_it() {
    let folder = tempfile::tempdir().unwrap();
    // A process that listened nevertheless would fail on this, instead of running forever.
    std::fs::write(folder.path().join("data"), "no folder").unwrap();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:1"] {
        let Ended { code, stderr, .. } = run(torg(&folder, &["serve", "--listen", address]));
        assert_eq!(code, Some(1), "{stderr}");
        assert!(
            stderr.contains(&format!("error: refusing to listen on {address}: access is off")),
            "{stderr}"
        );
        assert!(stderr.contains("hint: set access.mode = \"required\""), "{stderr}");
        assert!(!stderr.contains("listening"), "the port was never taken: {stderr}");
    }
}

#[test]
fn with_access_a_process_listens_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = torg(&folder, &["serve", "--listen", "192.0.2.1:1"]);
    command.env("TORG_ACCESS_MODE", "required");
    let Ended { stderr, .. } = run(command);
    assert!(stderr.contains("cannot listen on 192.0.2.1:1"), "it tried: {stderr}");
}

#[test]
fn with_access_off_only_calls_to_this_machine_are_served() {
    let server = Server::start(&[]);
    let ask = |host: &str| {
        let request = format!(
            "POST {GET_INFO} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: 2\r\n\r\n{{}}"
        );
        server.ask(&request)
    };
    assert_eq!(ask("127.0.0.1").status, 200);
    let foreign = ask("shop.example");
    assert_eq!((foreign.status, foreign.json()["code"].as_str()), (403, Some("permission_denied")));
    assert!(foreign.body.contains("only calls to localhost are served"), "{foreign:?}");
}

#[test]
fn settings_that_cannot_work_are_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (variables, error) in [
        (&[("TORG_ACCESS_MODE", "maybe")][..], "access.mode: unknown variant `maybe`"),
        (
            &[("TORG_ACCESS_MODE", "required"), ("TORG_ACCESS_API_KEYS", "false")],
            "access.mode: \"required\", but no credential can be verified",
        ),
        (&[("TORG_ACCESS_JWKS_URL", "http://id.example/keys")], "access.jwks_url: http: "),
        (&[("TORG_ACCESS_USER_BURST", "-1")], "access.user.burst: -1 is not between 0 and 1000000"),
        (&[("TORG_TLS_CERT_FILE", "cert.pem")], "tls.key_file: empty, but tls.cert_file is set"),
        (&[("TORG_ACCESS_JWKS_FILE", "absent.json")], "absent.json: No such file"),
    ] {
        let mut command = torg(&folder, &["serve", "--listen", "127.0.0.1:0"]);
        command.envs(variables.iter().copied());
        let Ended { code, stderr, .. } = run(command);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains(error) && stderr.contains("\nhint: "), "{error} is not in {stderr}");
    }
}

#[tokio::test]
async fn a_caller_who_asks_too_often_is_told_when_to_come_again_and_others_are_not_touched() {
    let limits = [("TORG_ACCESS_USER_RATE_PER_S", "1"), ("TORG_ACCESS_USER_BURST", "2")];
    let (server, issuer) = guarded(&limits);
    let support = issuer.token(&["support"], HOUR_S);
    let refused = (0..100).map(|_| server.call(GET_INFO, Some(&support), "{}")).find(|answer| {
        assert!(matches!(answer.status, 200 | 429), "{answer:?}");
        answer.status == 429
    });
    let refused = refused.unwrap();
    assert_eq!(refused.json()["code"], "resource_exhausted");
    assert!(refused.head.contains("\r\nretry-after: 1"), "{}", refused.head);
    let mut codes = Vec::new();
    while !codes.iter().any(|code| code == "resource_exhausted") && codes.len() < 100 {
        codes.push(grpc_code(&server, GET_INFO, Some(&support)).await);
    }
    assert!(codes.iter().all(|code| code == "ok" || code == "resource_exhausted"), "{codes:?}");
    assert_eq!(codes.last().unwrap(), "resource_exhausted");
    assert_eq!(json_code(&server, GET_INFO, Some(&issuer.token(&["moderator"], HOUR_S))), "ok");
    assert_eq!(json_code(&server, GET_INFO, Some(&issuer.token(&["admin"], HOUR_S))), "ok");
}

#[test]
fn a_request_that_is_larger_than_its_caller_may_send_is_refused() {
    let (server, issuer) = guarded(&[("TORG_ACCESS_USER_REQUEST_BYTES_MAX", "100")]);
    let large = format!("{{\"a\": \"{}\"}}", "x".repeat(100));
    let answer = server.call(GET_INFO, Some(&issuer.token(&["support"], HOUR_S)), &large);
    assert_eq!((answer.status, answer.json()["code"].as_str()), (413, Some("resource_exhausted")));
    let answer = server.call(GET_INFO, Some(&issuer.token(&["admin"], HOUR_S)), &large);
    assert_eq!(answer.json()["code"], "invalid_argument", "{answer:?}");
}

/// Without a content length, the size of a request becomes known only while it arrives.
#[test]
fn a_request_that_turns_out_larger_than_its_caller_may_send_is_refused_as_such() {
    let (server, issuer) = guarded(&[("TORG_ACCESS_USER_REQUEST_BYTES_MAX", "100")]);
    let ask = |bytes: usize| {
        let head = format!(
            "POST {GET_INFO} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n"
        );
        let body = format!("{bytes:x}\r\n{{}}{}\r\n0\r\n\r\n", " ".repeat(bytes - 2));
        let token = issuer.token(&["support"], HOUR_S);
        server.ask(&authorized(&(head + &body), Some(&token)))
    };
    assert_eq!(ask(100).status, 200);
    let refused = ask(101);
    assert_eq!((refused.status, refused.json()["code"].as_str()), (413, Some("resource_exhausted")));
}
