//! Answers: what every one of them carries, whatever the page.

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, LOCATION, REFERRER_POLICY, SET_COOKIE,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use maud::Markup;

use crate::routes::Console;
use crate::visit::Look;

/// Scripts and styles come from Torg itself and stand in files; forms are sent to Torg; nobody shows these pages inside of their own.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const FIXED: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=(), payment=()"),
];

/// Puts the headers of safety on an answer; what a page says of itself wins.
pub(crate) fn secured(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in FIXED {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    // Pages are about one person at one moment.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// The same for whatever leaves. What was asked for over TLS is to be asked for over TLS only, for a year.
pub(crate) async fn leaving(State(console): State<Console>, asked: HeaderMap, answer: Response) -> Response {
    let mut answer = secured(answer);
    if Look::of(&console, &asked).secure {
        let year = HeaderValue::from_static("max-age=31536000");
        answer.headers_mut().insert(STRICT_TRANSPORT_SECURITY, year);
    }
    answer
}

/// A page.
pub(crate) fn html(status: StatusCode, page: Markup) -> Response {
    let mut answer = Response::new(Body::from(page.into_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    answer
}

/// Sends a browser to another page of the console, as if it had been asked for by itself.
pub(crate) fn see(path: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    // A path has no characters that a header cannot hold: they are made by `view::path`.
    if let Ok(place) = HeaderValue::from_str(path) {
        answer.headers_mut().insert(LOCATION, place);
    }
    answer
}

/// Where somebody may be sent who says so themselves: a page of the console, and nowhere else.
pub(crate) fn inside(path: &str) -> &str {
    let plain = path.starts_with("/console/") && !path.contains("//") && !path.contains('\\');
    if plain && path.bytes().all(|byte| byte.is_ascii_graphic()) { path } else { "/console/" }
}

/// How a cookie is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keeping {
    /// Only over TLS.
    pub(crate) secure: bool,
    /// Seconds; until the browser is closed if there are none.
    pub(crate) seconds: Option<u64>,
}

/// Sets a cookie that no script can read. Another site may lead here with it (a link in a mail, in Grafana), and cannot send a form with it.
pub(crate) fn set_cookie(headers: &mut HeaderMap, name: &str, value: &str, keeping: Keeping) {
    let secure = if keeping.secure { "; Secure" } else { "" };
    let age = keeping.seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let cookie = format!("{name}={value}; Path=/console; HttpOnly; SameSite=Lax{secure}{age}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(http::header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_out_of_the_console() {
        assert_eq!(inside("/console/stages/expiry?x=1"), "/console/stages/expiry?x=1");
        for outside in
            ["https://evil.example", "//evil.example", "/console//evil", "/console/\\evil", "/console/ x", ""]
        {
            assert_eq!(inside(outside), "/console/", "{outside}");
        }
    }

    #[test]
    fn a_cookie_is_found_among_others_and_is_kept_from_scripts_and_other_sites() {
        let mut headers = HeaderMap::new();
        headers.insert(http::header::COOKIE, "a=1; torg=x=y; b=2".parse().unwrap());
        assert_eq!(cookie(&headers, "torg"), Some("x=y"));
        assert_eq!(cookie(&headers, "c"), None);
        let mut set = HeaderMap::new();
        set_cookie(&mut set, "torg", "v", Keeping { secure: true, seconds: Some(5) });
        assert_eq!(set[SET_COOKIE], "torg=v; Path=/console; HttpOnly; SameSite=Lax; Secure; Max-Age=5");
    }
}
