//! HTTP answers and the headers that all of them carry.

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
use crate::visit::Preferences;

/// Scripts and styles come from files of Torg, forms go to Torg, and no other site may embed pages.
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

/// Adds the security headers; a header that the page has set wins.
pub(crate) fn secured(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in FIXED {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    // Pages belong to one person at one moment.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}

/// Secures every answer. A request over TLS is answered with HSTS for a year.
pub(crate) async fn leaving(
    State(console): State<Console>,
    request: HeaderMap,
    answer: Response,
) -> Response {
    let mut answer = secured(answer);
    if Preferences::of(&console, &request).secure {
        let year = HeaderValue::from_static("max-age=31536000");
        answer.headers_mut().insert(STRICT_TRANSPORT_SECURITY, year);
    }
    answer
}

pub(crate) fn html(status: StatusCode, page: Markup) -> Response {
    let mut answer = Response::new(Body::from(page.into_string()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    answer
}

/// Redirects the browser to another page of the console, with GET.
pub(crate) fn see(path: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    // `view::path` makes only characters that a header can hold.
    if let Ok(place) = HeaderValue::from_str(path) {
        answer.headers_mut().insert(LOCATION, place);
    }
    answer
}

/// A redirect target that the client names: a page of the console, or the first page.
pub(crate) fn inside(path: &str) -> &str {
    let plain = path.starts_with("/console/") && !path.contains("//") && !path.contains('\\');
    if plain && path.bytes().all(|byte| byte.is_ascii_graphic()) { path } else { "/console/" }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CookieOptions {
    /// Only over TLS.
    pub(crate) secure: bool,
    /// `None`: until the browser is closed.
    pub(crate) seconds: Option<u64>,
}

/// Sets a cookie that scripts cannot read. Links from other sites carry it; forms of other sites do
/// not.
pub(crate) fn set_cookie(headers: &mut HeaderMap, name: &str, value: &str, options: CookieOptions) {
    let secure = if options.secure { "; Secure" } else { "" };
    let age = options.seconds.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
    let cookie = format!("{name}={value}; Path=/console; HttpOnly; SameSite=Lax{secure}{age}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        headers.append(SET_COOKIE, cookie);
    }
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(http::header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_stay_inside_the_console() {
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
        set_cookie(&mut set, "torg", "v", CookieOptions { secure: true, seconds: Some(5) });
        assert_eq!(set[SET_COOKIE], "torg=v; Path=/console; HttpOnly; SameSite=Lax; Secure; Max-Age=5");
    }
}
