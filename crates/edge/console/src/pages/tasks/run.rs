//! One run of a task, with what it says while it runs.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{ListRunsRequest, TaskRun};

use super::super::values::text_of;
use super::cause::why;
use super::log::{self, Log};
use super::one::timeout;
use super::past::{came_to, outcome, took};
use crate::address::{Path, Query};
use crate::layout::Place;
use crate::services::methods::LIST_RUNS;
use crate::services::{Failure, Kind};
use crate::view::{ago, bytes, empty, moment, part, path};
use crate::visit::Visit;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// The log from this place on; its end if it is left out.
    offset: Option<u64>,
}

pub(super) async fn show(
    visit: Visit,
    Path((task, run)): Path<(String, String)>,
    Query(asked): Query<Asked>,
) -> Response {
    let body = body(&visit, &task, &run, &asked).await;
    visit.page(Place::Tasks, &visit.f("Run {0} of the task {1}", &[&run, &task]), body)
}

async fn found(visit: &Visit, task: &str, number: u64) -> Result<TaskRun, Failure> {
    let before = number.saturating_add(1);
    let request =
        ListRunsRequest { task: task.to_owned(), page_size: 1, before, ..ListRunsRequest::default() };
    let run = visit.call(LIST_RUNS, &request).await?.runs.into_iter().find(|run| run.number == number);
    run.ok_or_else(|| missing(visit))
}

fn missing(visit: &Visit) -> Failure {
    Failure::new(Kind::NotFound, visit.t("There is no run of this number, or it is not kept any more."))
}

async fn body(visit: &Visit, task: &str, run: &str, asked: &Asked) -> Result<Markup, Failure> {
    let number: u64 = run.parse().ok().filter(|number| *number > 0).ok_or_else(|| missing(visit))?;
    let (run, log) = tokio::join!(found(visit, task, number), async {
        match asked.offset {
            Some(offset) => log::from(visit, task, number, offset).await,
            None => log::tail(visit, task, number).await,
        }
    });
    match &run {
        Err(failure) if log.is_err() || failure.kind == Kind::NotFound => return Err(failure.clone()),
        _ => {}
    }
    let page = path(&["tasks", task, "runs", &number.to_string()]);
    Ok(html! {
        p { a href=(path(&["tasks", task])) { (visit.f("Task {0}", &[&task])) } }
        div data-live #run { (part(visit, &run, |run| facts(visit, run))) }
        h2 { (visit.t("What it says")) }
        div data-live #log { (part(visit, &log, |log| said(visit, &page, log, asked.offset.is_none()))) }
    })
}

fn facts(visit: &Visit, run: &TaskRun) -> Markup {
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("Outcome")) } dd { (outcome(visit, run)) }
                dt { (visit.t("Why")) } dd { (why(visit, run.cause.as_option())) }
                dt { (visit.t("Began")) } dd { (ago(visit, run.start_time.as_option())) " " span.quiet { (moment(run.start_time.as_option())) } }
                dt { (visit.t("Took")) } dd { (took(visit, run)) " " span.quiet { (visit.f("of at most {0}", &[&timeout(visit, run.timeout_ms)])) } }
                dt { (visit.t("Attempt")) } dd { (run.attempt) }
                @if !run.place.is_empty() { dt { (visit.t("Where")) } dd { code { (run.place) } } }
                @if !run.seen.is_empty() {
                    dt { (visit.t("What it saw")) }
                    dd { @for (name, value) in &run.seen { a href=(path(&["values", name])) { (name) } " = " (text_of(Some(value))) br; } }
                }
                @if !run.error.is_empty() || !run.wrote.is_empty() || !run.refused.is_empty() {
                    dt { (visit.t("What it came to")) } dd { (came_to(visit, run)) }
                }
            }
        }
    }
}

/// A piece of the log. The end of one that is followed stays in sight as it grows.
fn said(visit: &Visit, page: &str, log: &Log, follows: bool) -> Markup {
    let is_empty = log.text.is_empty();
    html! {
        @if log.begins > 0 {
            p.line {
                span.quiet { (visit.f("This begins {0} behind the beginning.", &[&bytes(log.begins)])) }
                a href={ (page) "?offset=0" } { (visit.t("From the beginning")) }
            }
        }
        @if log.left_out > 0 {
            p.quiet { (visit.f("Left out, because the run said too much: {0}.", &[&bytes(log.left_out)])) }
        }
        @if is_empty && log.complete { (empty(visit.t("It said nothing."))) }
        @else if is_empty { (empty(visit.t("It says nothing yet. What it says is shown here by itself."))) }
        @else { div.log.follows[follows] role="region" tabindex="0" aria-label=(visit.t("What it says")) { pre { (log.text) } } }
        @if !log.complete {
            p.line {
                @if is_empty { "" } @else { a href={ (page) "?offset=" (log.next) } { (visit.t("Further")) } }
                a href=(page) { (visit.t("The end, as it grows")) }
            }
        }
    }
}
