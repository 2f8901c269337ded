//! Sign-in and sessions of the console, and their security.

use std::sync::Arc;

use crate::common::run;
use crate::console::browser::{Browser, Driver, Width, is_there};
use crate::console::rig;

#[test]
fn a_key_opens_the_console_until_it_is_revoked_and_is_never_shown() {
    if !is_there() {
        return;
    }
    let (server, keys) = rig::guarded(&["admin", "support", "seller"]);
    let driver = Driver::start();
    let browser = Browser::open(&driver, &server.url(), Width::Desktop, "en");
    browser.go("/console/cluster");
    assert!(browser.place().starts_with("/console/sign-in?next="), "{}", browser.place());
    browser.picture("sign-in");
    browser.sign_in("torg_nobody00_wrong");
    browser.wait_for("This key or token is not valid.");

    browser.go("/console/sign-in?next=%2Fconsole%2Fcluster");
    browser.sign_in(&keys[0]);
    assert_eq!(browser.place(), "/console/cluster");
    let secret = keys[0].rsplit('_').next().unwrap();
    let page = browser.script("return document.documentElement.outerHTML + document.cookie");
    assert!(!page.as_str().unwrap().contains(secret));
    assert!(!server.log_so_far().join("\n").contains(secret));

    // The session ends with the key.
    revoke(&server, &keys[0], &keys[0]);
    browser.go("/console/cluster");
    assert!(browser.place().starts_with("/console/sign-in"), "{}", browser.place());

    // Another role sees another menu, and signs out.
    browser.sign_in(&keys[2]);
    browser.go("/console/");
    assert_eq!(browser.place(), "/console/sellers/anna");
    browser.click("details.person summary");
    browser.submit("form[action='/console/sign-out'] button");
    browser.go("/console/offers");
    assert!(browser.place().starts_with("/console/sign-in"));
}

#[test]
fn what_somebody_typed_outlives_their_session() {
    if !is_there() {
        return;
    }
    let (server, keys) = rig::guarded(&["admin", "admin"]);
    let driver = Driver::start();
    let browser = Browser::open(&driver, &server.url(), Width::Desktop, "en");
    browser.go("/console/sign-in?next=%2Fconsole%2Fstages%2Fexpiry");
    browser.sign_in(&keys[0]);
    browser.click("#pause summary");
    browser.fill("#pause [name=reason]", "to look at it");
    revoke(&server, &keys[0], &keys[1]);
    browser.wait_for("Your session has ended.");
    // The user submits the form with the expired session, signs in, and finds it filled in.
    browser.submit("#pause button");
    browser.sign_in(&keys[1]);
    assert_eq!(browser.place(), "/console/stages/expiry");
    browser.submit("#pause button");
    browser.wait_for("to look at it");
    assert!(browser.has(".notice.good"), "{}", browser.text());
}

#[test]
fn a_page_that_was_left_open_becomes_that_of_who_signs_in_elsewhere_without_what_was_typed() {
    if !is_there() {
        return;
    }
    let (server, keys) = rig::guarded(&["admin", "support"]);
    let driver = Driver::start();
    let browser = Browser::open(&driver, &server.url(), Width::Desktop, "en");
    browser.go("/console/sign-in?next=%2Fconsole%2Fstages%2Fexpiry");
    browser.sign_in(&keys[0]);
    browser.click("#pause summary");
    browser.fill("#pause [name=reason]", "for my eyes");
    let kept = "return sessionStorage.getItem('torg-form')";
    browser.script(
        "sessionStorage.setItem('torg-form', JSON.stringify({form: '', who: '', fields: ['for my eyes']}))",
    );
    // Another user signs in, as in another tab: tabs share their cookies.
    let signing = format!(
        "const done = arguments[0], body = new URLSearchParams({{token: {:?}}});
         fetch('/console/sign-in', {{method: 'POST', body}}).then((answer) => done(answer.status));",
        keys[1]
    );
    assert_eq!(browser.script_later(&signing), 200);
    browser.wait_for("This page has changed.");
    assert!(browser.script(kept).is_null(), "what was typed is nobody else's");
    browser.fill("#pause [name=reason]", "");
    browser.click("#pause summary");
    browser.wait_until("the page is still that of an admin", |browser| !browser.has("#pause"));
    assert!(browser.has("nav.menu"), "{}", browser.text());
}

#[test]
fn enter_in_the_field_of_the_seller_signs_in_as_that_seller() {
    if !is_there() {
        return;
    }
    let (server, driver) =
        (crate::common::Server::start_in(&Arc::new(tempfile::tempdir().unwrap()), &[]), Driver::start());
    let browser = Browser::open(&driver, &server.url(), Width::Phone, "ru");
    browser.go("/console/sign-in");
    browser.picture("sign-in-as");
    browser.send_keys("#seller", "anna\u{e007}");
    browser.wait_until("nobody is signed in", |browser| browser.place() == "/console/sellers/anna");
}

#[test]
fn over_tls_a_person_signs_in_and_acts() {
    if !is_there() {
        return;
    }
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let files = testkit::TlsFiles::create(folder.path(), "nobody").unwrap();
    let (certificate, key) = (files.server_cert.to_str().unwrap(), files.server_key.to_str().unwrap());
    let tls = [("TORG_TLS_CERT_FILE", certificate), ("TORG_TLS_KEY_FILE", key)];
    let (server, keys) = rig::guarded_with(&folder, &["admin"], &tls);
    let driver = Driver::start();
    let origin = format!("https://localhost:{}", server.address.port());
    let browser = Browser::open(&driver, &origin, Width::Desktop, "en");
    browser.go("/console/sign-in?next=%2Fconsole%2Fstages%2Fexpiry");
    browser.sign_in(&keys[0]);
    assert_eq!(browser.place(), "/console/stages/expiry");
    let protocol = browser.script("return performance.getEntriesByType('navigation')[0].nextHopProtocol");
    assert_eq!(protocol, "h2", "browsers take HTTP/2 where they can");
    browser.click("#pause summary");
    browser.fill("#pause [name=reason]", "to look at it");
    browser.submit("#pause button");
    browser.wait_for("to look at it");
    assert!(browser.has(".notice.good"), "{}", browser.text());
}

#[test]
fn every_answer_carries_the_headers_of_safety_and_cookies_are_out_of_reach() {
    let (server, keys) = rig::guarded(&["admin"]);
    for path in ["/console/", "/console/sign-in", "/console/assets/console.js", "/console/nothing"] {
        let head = server.get(path).head;
        for part in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';",
            "frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "x-frame-options: deny",
            "referrer-policy: same-origin",
            "cross-origin-opener-policy: same-origin",
        ] {
            assert!(head.contains(part), "{path} lacks {part}:\n{head}");
        }
        assert!(!head.contains("unsafe-inline"));
        // HSTS is sent over TLS only.
        assert!(!head.contains("strict-transport-security"), "{head}");
        let secure = server.ask(&format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-forwarded-proto: https\r\n\r\n"
        ));
        assert!(secure.head.contains("strict-transport-security: max-age=31536000"), "{}", secure.head);
    }
    let body = format!("token={}", keys[0]);
    let signed = sign_in(&server, &body, "");
    assert_eq!(signed.status, 303, "{}", signed.body);
    let cookie = signed.head.lines().find(|line| line.starts_with("set-cookie: torg_session=")).unwrap();
    assert!(cookie.contains("; httponly; samesite=lax"), "{cookie}");
    assert!(!cookie.contains(&keys[0].to_ascii_lowercase()));
    // A request from another site cannot sign in.
    let foreign = sign_in(&server, &body, "origin: http://evil.example\r\n");
    assert_eq!(foreign.status, 403);
    // A sign-in does not redirect to another site.
    let away = sign_in(&server, &format!("{body}&next=https%3A%2F%2Fevil.example"), "");
    assert!(away.head.contains("location: /console/\r\n"), "{}", away.head);
}

#[test]
fn a_form_that_was_not_made_for_the_session_does_nothing() {
    let (server, keys) = rig::guarded(&["admin"]);
    let signed = sign_in(&server, &format!("token={}", keys[0]), "");
    // The test client reads headers in lower case, but a sealed cookie is case-sensitive: read it
    // as it came.
    let cookie = raw_cookie(&server, &format!("token={}", keys[0]));
    assert_eq!(signed.status, 303);
    for (extra, token) in [("", ""), ("", "form_token=AAAA&"), ("origin: http://evil.example\r\n", "")] {
        let body = format!("{token}reason=test");
        let request = format!(
            "POST /console/stages/expiry/pause HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: {cookie}\r\n{extra}\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = server.ask(&request);
        assert_eq!(answer.status, 403, "{}", answer.body);
        assert!(answer.body.contains("This form is not from your session"), "{}", answer.body);
    }
    let shown =
        server.call("/torg.stages.v1.StageAdminService/GetStage", Some(&keys[0]), r#"{"id":"expiry"}"#);
    assert!(shown.json()["stage"]["pause"].is_null(), "{}", shown.body);
}

/// Revokes a key, with the rights of another one.
fn revoke(server: &crate::common::Server, key: &str, by: &str) {
    let id = key.split('_').nth(1).unwrap();
    let mut revoking =
        crate::common::torg(&server.folder, &["keys", "revoke", id, "--server", &server.url()]);
    revoking.env("TORG_TOKEN", by);
    let ended = run(revoking);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

fn sign_in(server: &crate::common::Server, body: &str, extra: &str) -> crate::common::Answer {
    server.ask(&format!(
        "POST /console/sign-in HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{extra}\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

/// The cookie of a session with its letters unchanged.
fn raw_cookie(server: &crate::common::Server, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(server.address).unwrap();
    write!(
        stream,
        "POST /console/sign-in HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let line =
        text.lines().find(|line| line.to_ascii_lowercase().starts_with("set-cookie: torg_session=")).unwrap();
    line.split_once(": ").unwrap().1.split(';').next().unwrap().to_owned()
}
