//! Tasks: list, graph, details, runs, actions.

mod act;
mod all;
mod cause;
mod explain;
mod graph;
mod list;
mod log;
mod one;
mod past;
mod picture;
mod queue;
mod run;
mod status;

use axum::Router;
use axum::routing::{get, post};

pub(super) use all::{All, all};
pub(super) use graph::Graph;
pub(super) use picture::picture;

use crate::routes::Console;

pub(super) fn routes() -> Router<Console> {
    Router::new()
        .route("/console/tasks", get(list::show))
        .route("/console/tasks/{task}", get(one::show))
        .route("/console/tasks/{task}/runs/{run}", get(run::show))
        .route("/console/tasks/{task}/{act}", post(act::take))
}
