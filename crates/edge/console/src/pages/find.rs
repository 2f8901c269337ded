//! The search at the top of every page: sends to whatever has this name.

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
struct Asked {
    #[serde(default)]
    q: String,
}

async fn find(_visit: Visit, Query(asked): Query<Asked>) -> Response {
    see(&format!("/console/offers{}", query(&[("q", asked.q.trim())])))
}
