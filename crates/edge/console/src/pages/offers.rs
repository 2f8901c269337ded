//! Offers: search, details, history, actions.

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

pub(super) use history::change;
pub(super) use money::{money, price};
pub(super) use names::{source, status};

use crate::address::{Page, Path, Query};
use crate::layout::Section;
use crate::routes::Console;
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/offers", get(find::show))
        .route("/console/offers/{id}", get(single))
        .route("/console/offers/{id}/move", post(moves::act))
}

async fn single(visit: Visit, Path(id): Path<String>, Query(params): Query<Page>) -> Response {
    match one::show(&visit, &id, &params.page).await {
        Ok((title, body)) => visit.page(Section::Offers, &title, Ok(body)),
        Err(failure) => visit.page(Section::Offers, &visit.f("Offer {0}", &[&id]), Err(failure)),
    }
}
