//! The static files of the console, compiled into the binary: one style, one script, one icon.
//!
//! Their addresses contain a hash of their content, so browsers cache them for a year. A request
//! with another hash, as from a page of another version during a rollout, is not cached.

use std::sync::LazyLock;

use axum::body::Body;
use axum::extract::{Path, Query};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use maud::{Markup, PreEscaped};
use serde::Deserialize;

const FILES: [(&str, &str, &[u8]); 3] = [
    ("console.css", "text/css; charset=utf-8", include_bytes!("../assets/console.css")),
    ("console.js", "text/javascript; charset=utf-8", include_bytes!("../assets/console.js")),
    ("icon.svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
];

/// One hash of all files: they change together, with the binary.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hash = ring::digest::Context::new(&ring::digest::SHA256);
    for (_, _, bytes) in FILES {
        hash.update(bytes);
    }
    URL_SAFE_NO_PAD.encode(&hash.finish().as_ref()[..9])
});

pub(crate) fn path(name: &str) -> String {
    format!("/console/assets/{name}?v={}", *VERSION)
}

pub(crate) fn logo() -> Markup {
    PreEscaped(include_str!("../assets/icon.svg").to_owned())
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    v: String,
}

pub(crate) async fn serve(Path(name): Path<String>, Query(params): Query<Params>) -> Response {
    let Some((_, kind, bytes)) = FILES.into_iter().find(|(known, ..)| *known == name) else {
        let mut answer = Response::new(Body::from("there is no such file\n"));
        *answer.status_mut() = StatusCode::NOT_FOUND;
        return answer;
    };
    let mut answer = Response::new(Body::from(bytes));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let kept = if params.v == *VERSION { "public, max-age=31536000, immutable" } else { "no-store" };
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    answer
}
