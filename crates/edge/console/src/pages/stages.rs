//! Stages: state, queues, failures, and the actions of operators.

mod forms;
mod list;
mod one;
mod parts;
mod plots;
mod recrawl;
mod shadow;
mod status;
mod waiting;

pub(super) use waiting::place as waiting;

use axum::Router;
use axum::response::Response;
use axum::routing::{get, post};
use maud::html;
use serde::Deserialize;
use wire::torg::stages::v1::{GetRecrawlRequest, ListStagesRequest};

use crate::address::{Path, Query};
use crate::layout::Section;
use crate::routes::Console;
use crate::view::part;
use crate::visit::Visit;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/stages", get(all))
        .route("/console/stages/{id}", get(single))
        .route("/console/stages/{id}/waiting", get(waiting::show))
        .route("/console/stages/{id}/pause", post(forms::pause))
        .route("/console/stages/{id}/resume", post(forms::resume))
        .route("/console/stages/{id}/release", post(forms::release))
        .route("/console/stages/{id}/limits", post(forms::limits))
        .route("/console/stages/{id}/promote", post(forms::promote))
        .route("/console/recrawl", post(recrawl::act))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Params {
    /// `failures`: sort by failures.
    by: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StageParams {
    /// How many parked visits to show.
    parked: u32,
}

async fn all(visit: Visit, Query(params): Query<Params>) -> Response {
    let (stages, going) =
        (ListStagesRequest { may_be_old: true, ..Default::default() }, GetRecrawlRequest::default());
    let (stages, going) = tokio::join!(visit.call(&stages), visit.call(&going));
    let body = match (&stages, &going) {
        // A caller who may see neither has no access to the page.
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            (list::orders(&visit, &params.by))
            div data-live #stages { (part(&visit, &stages, |answer| list::table_of(&visit, &answer.stages, &params.by))) }
            h2 #re-crawl { (visit.t("Re-crawl")) }
            p { (visit.t("Visits all offers in the background with all stages.")) }
            (recrawl::form(&visit))
            div data-live #recrawl { (part(&visit, &going, |answer| recrawl::show(&visit, answer.recrawl.as_option()))) }
        }),
    };
    visit.page(Section::Stages, visit.t("Stages"), body)
}

async fn single(visit: Visit, Path(id): Path<String>, Query(params): Query<StageParams>) -> Response {
    let body = one::show(&visit, &id, params.parked).await;
    visit.page(Section::Stages, &visit.f("Stage {0}", &[&id]), body)
}
