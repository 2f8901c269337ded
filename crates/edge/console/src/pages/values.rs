//! Values that tasks wait for.

mod change;
mod list;
mod one;
mod value;

use access::{Action, Role};
use axum::Router;
use axum::routing::{get, post};

pub(super) use value::{read, shown, text_of};

use crate::routes::Console;
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/values", get(list::show))
        .route("/console/values/set", post(change::set))
        .route("/console/values/{parameter}", get(one::show))
        .route("/console/values/{parameter}/delete", post(change::delete))
}

/// Services and admins may set values.
fn may_set(visit: &Visit) -> bool {
    let is_service = visit.caller().roles.has(Role::Service) && !visit.is_unchecked();
    is_service || visit.may(Action::Administer)
}
