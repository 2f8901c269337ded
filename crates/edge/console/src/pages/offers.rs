//! Offers: found by whatever is known of them, shown whole, with how they came to be and what can be done.

mod choices;
mod facts;
mod find;
mod history;
mod internals;
mod money;
mod moves;
mod names;
mod one;
mod photos;
mod waits;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use serde::Deserialize;

pub(super) use history::change;
pub(super) use money::{money, price};
pub(super) use names::{source, status};

use crate::address::{Path, Query};
use crate::layout::Place;
use crate::routes::Console;
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/offers", get(find::show))
        .route("/console/offers/{id}", get(single))
        .route("/console/offers/{id}/move", post(moves::act))
}

#[derive(Debug, Default, Deserialize)]
struct Asked {
    /// Which page of the history.
    #[serde(default)]
    page: String,
}

async fn single(visit: Visit, Path(id): Path<String>, Query(asked): Query<Asked>) -> Response {
    match one::show(&visit, &id, &asked.page).await {
        Ok((title, body)) => visit.page(Place::Offers, &title, Ok(body)),
        Err(failure) => visit.page(Place::Offers, &visit.f("Offer {0}", &[&id]), Err(failure)),
    }
}
