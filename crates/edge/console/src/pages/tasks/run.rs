//! One run of a task with its log.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{ListRunsRequest, TaskRun};

use super::super::values::text_of;
use super::cause::why;
use super::log::{self, Log};
use super::one::timeout;
use super::past::{outcome, run_result, took};
use crate::address::{Path, Query};
use crate::layout::Section;
use crate::services::{Failure, Kind};
use crate::view::{ago, bytes, empty, moment, part, path};
use crate::visit::Visit;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Params {
    /// Offset in the log; its end by default.
    offset: Option<u64>,
}

pub(super) async fn show(
    visit: Visit,
    Path((task, run)): Path<(String, String)>,
    Query(params): Query<Params>,
) -> Response {
    let body = body(&visit, &task, &run, &params).await;
    visit.page(Section::Tasks, &visit.f("Run {0} of the task {1}", &[&run, &task]), body)
}

async fn found(visit: &Visit, task: &str, number: u64) -> Result<TaskRun, Failure> {
    let before = number.saturating_add(1);
    let request = ListRunsRequest { task: task.to_owned(), page_size: 1, before, ..Default::default() };
    let run = visit.call(&request).await?.runs.into_iter().find(|run| run.number == number);
    run.ok_or_else(|| missing(visit))
}

fn missing(visit: &Visit) -> Failure {
    Failure::new(Kind::NotFound, visit.t("There is no run with this number, or it is no longer kept."))
}

async fn body(visit: &Visit, task: &str, run: &str, params: &Params) -> Result<Markup, Failure> {
    let number: u64 = run.parse().ok().filter(|number| *number > 0).ok_or_else(|| missing(visit))?;
    let (run, log) = tokio::join!(found(visit, task, number), async {
        match params.offset {
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
        h2 { (visit.t("Output")) }
        div data-live #log { (part(visit, &log, |log| output(visit, &page, log, params.offset.is_none()))) }
    })
}

fn facts(visit: &Visit, run: &TaskRun) -> Markup {
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("Outcome")) } dd { (outcome(visit, run)) }
                dt { (visit.t("Why")) } dd { (why(visit, run.cause.as_option())) }
                dt { (visit.t("Start")) } dd { (ago(visit, run.start_time.as_option())) " " span.quiet { (moment(run.start_time.as_option())) } }
                dt { (visit.t("Duration")) } dd { (took(visit, run)) " " span.quiet { (visit.f("of at most {0}", &[&timeout(visit, run.timeout_ms)])) } }
                dt { (visit.t("Attempt")) } dd { (run.attempt) }
                @if !run.place.is_empty() { dt { (visit.t("Where")) } dd { code { (run.place) } } }
                @if !run.seen.is_empty() {
                    dt { (visit.t("Values seen")) }
                    dd { @for (name, value) in &run.seen { a href=(path(&["values", name])) { (name) } " = " (text_of(Some(value))) br; } }
                }
                @if !run.error.is_empty() || !run.wrote.is_empty() || !run.refused.is_empty() {
                    dt { (visit.t("Result")) } dd { (run_result(visit, run)) }
                }
            }
        }
    }
}

/// A piece of the log. With `follows` the page stays at its end.
fn output(visit: &Visit, page: &str, log: &Log, follows: bool) -> Markup {
    let is_empty = log.text.is_empty();
    html! {
        @if log.begins > 0 {
            p.line {
                span.quiet { (visit.f("Not shown before this: {0}.", &[&bytes(log.begins)])) }
                a href={ (page) "?offset=0" } { (visit.t("From the beginning")) }
            }
        }
        @if log.left_out > 0 {
            p.quiet { (visit.f("Omitted, because the output is too large: {0}.", &[&bytes(log.left_out)])) }
        }
        @if is_empty && log.complete { (empty(visit.t("No output."))) }
        @else if is_empty { (empty(visit.t("No output yet. It appears here by itself."))) }
        @else { div.log.follows[follows] role="region" tabindex="0" aria-label=(visit.t("Output")) { pre { (log.text) } } }
        @if !log.complete {
            p.line {
                @if is_empty { "" } @else { a href={ (page) "?offset=" (log.next) } { (visit.t("Next")) } }
                a href=(page) { (visit.t("Follow the end")) }
            }
        }
    }
}
