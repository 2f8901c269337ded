//! The search box: redirects to the search of offers.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use serde::Deserialize;

use crate::address::Query;
use crate::answer::see;
use crate::routes::Console;
use crate::view::query;
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new().route("/console/find", get(find))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params {
    q: String,
}

async fn find(_visit: Visit, Query(params): Query<Params>) -> Response {
    see(&format!("/console/offers{}", query(&[("q", params.q.trim())])))
}
