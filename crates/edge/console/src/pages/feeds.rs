//! Feeds and the results of their loads.

mod categories;
mod change;
mod create;
mod fetch_error;
mod fields;
mod list;
mod load;
mod one;
mod report;
mod state;
mod upload;

use access::Action;
use axum::Router;
use axum::routing::{get, post};
use serde::Deserialize;

pub(super) use fetch_error::fetch_error;
pub(super) use state::of_feed;

use crate::routes::Console;
use crate::view::{path, query};
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    let feed = |rest: &str| format!("/console/feeds/{{seller}}/{{namespace}}{rest}");
    Router::new()
        .route("/console/feeds", get(list::show))
        .route("/console/feeds/create", post(create::take))
        .route(&feed(""), get(one::show))
        .route(&feed("/fetch"), post(change::fetch))
        .route(&feed("/pause"), post(change::pause))
        .route(&feed("/resume"), post(change::resume))
        .route(&feed("/edit"), post(change::edit))
        .route(&feed("/delete"), post(change::delete))
        .route(&feed("/upload"), post(upload::take))
        .route(&feed("/categories"), get(categories::show).post(categories::set))
        .route(&feed("/loads/{number}"), get(load::show))
        .route(&feed("/loads/{number}/confirm"), post(change::confirm))
        .route(&feed("/loads/{number}/problems.xlsx"), get(report::xlsx))
        .route(&feed("/loads/{number}/problems.csv"), get(report::csv))
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct FeedRef {
    seller: String,
    namespace: String,
}

impl FeedRef {
    fn page(&self) -> String {
        self.under(&[])
    }

    /// A page below that of the feed.
    fn under(&self, rest: &[&str]) -> String {
        path(&[&["feeds", &self.seller, &self.namespace], rest].concat())
    }

    fn offers(&self) -> String {
        format!("{}{}", path(&["sellers", &self.seller]), query(&[("source", &self.namespace)]))
    }
}

fn may_change(visit: &Visit, seller: &str) -> bool {
    let own = visit.own_seller() == Some(seller) && visit.may(Action::WriteOwn);
    own || visit.may(Action::WriteForSeller)
}
