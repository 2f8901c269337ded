//! The pages, one file each.

mod actions;
mod calls;
mod cluster;
mod feeds;
mod find;
mod offers;
mod overview;
mod preferences;
mod sellers;
pub(crate) mod sign_in;
mod stages;
mod tasks;
mod topics;
mod values;

use axum::Router;
use axum::response::Response;

use crate::layout::Section;
use crate::routes::Console;
use crate::services::{Failure, Kind};
use crate::visit::Visit;

/// All pages behind the sign-in.
pub(crate) fn routes() -> Router<Console> {
    Router::new()
        .merge(overview::routes())
        .merge(stages::routes())
        .merge(offers::routes())
        .merge(sellers::routes())
        .merge(topics::routes())
        .merge(cluster::routes())
        .merge(feeds::routes())
        .merge(tasks::routes())
        .merge(values::routes())
        .merge(actions::routes())
        .merge(calls::routes())
        .merge(find::routes())
        .merge(preferences::routes())
}

/// The answer for every unknown path.
pub(crate) async fn missing(visit: Visit) -> Response {
    let failure = Failure::new(Kind::NotFound, visit.t("The console has no page at this address."));
    visit.page(Section::Other, visit.t("Not found"), Err(failure))
}
