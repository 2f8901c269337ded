//! One task: state, explanation, runs, events, actions.

use access::Action;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{
    ExplainTaskRequest, ListEventsRequest, ListRunsRequest, ListTasksRequest, TaskState, TaskSummary,
};

use super::super::actions;
use super::all::{All, all};
use super::status::{shown, state_of};
use super::{Graph, act, explain, past, picture};
use crate::address::{Path, Query};
use crate::layout::Section;
use crate::services::{Failure, Kind};
use crate::view::{ago, length, part, path, query};
use crate::visit::Visit;

const EVENTS_SHOWN: u32 = 30;
const RUNS_SHOWN: u32 = 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    events: u64,
    runs: u64,
}

pub(super) async fn show(visit: Visit, Path(task): Path<String>, Query(params): Query<Params>) -> Response {
    let body = body(&visit, &task, &params).await;
    visit.page(Section::Tasks, &visit.f("Task {0}", &[&task]), body)
}

/// The task is the first one with its name as the prefix.
async fn summary(visit: &Visit, task: &str) -> Result<TaskSummary, Failure> {
    let request = ListTasksRequest { prefix: task.to_owned(), page_size: 1, ..Default::default() };
    let first = visit.call(&request).await?.tasks.into_iter().next();
    let missing = || Failure::new(Kind::NotFound, visit.t("There is no task with this name."));
    first.filter(|first| first.name == task).ok_or_else(missing)
}

async fn body(visit: &Visit, task: &str, params: &Params) -> Result<Markup, Failure> {
    let own = || task.to_owned();
    let explained = ExplainTaskRequest { task: own(), ..Default::default() };
    let events = ListEventsRequest {
        task: own(),
        page_size: EVENTS_SHOWN,
        before: params.events,
        ..Default::default()
    };
    let runs =
        ListRunsRequest { task: own(), page_size: RUNS_SHOWN, before: params.runs, ..Default::default() };
    let (summary, explained, events, runs, every) = tokio::join!(
        summary(visit, task),
        visit.call(&explained),
        visit.call(&events),
        visit.call(&runs),
        all(visit, ""),
    );
    match &summary {
        Err(failure) if matches!(failure.kind, Kind::NotFound | Kind::Forbidden) => {
            return Err(failure.clone());
        }
        Err(failure) if explained.is_err() && events.is_err() && runs.is_err() => return Err(failure.clone()),
        _ => {}
    }
    let older_run = runs.as_ref().ok().filter(|runs| runs.runs.len() >= RUNS_SHOWN as usize);
    let older_run = older_run.and_then(|runs| runs.runs.last()).map(|run| run.number);
    let older_event = events.as_ref().ok().filter(|events| events.events.len() >= EVENTS_SHOWN as usize);
    let older_event = older_event.and_then(|events| events.events.last()).map(|event| event.version);
    Ok(html! {
        p { a href="/console/tasks" { (visit.t("All tasks")) } }
        div data-live #task { (part(visit, &summary, |task| facts(visit, task))) }
        @if visit.may(Action::Administer) { div data-live #acts { (part(visit, &summary, |task| act::forms(visit, task))) } }
        h2 { (visit.t("Why it fires or not")) }
        div data-live #why { (part(visit, &explained, |it| explain::show(visit, it))) }
        h2 { (visit.t("Related tasks and values")) }
        div #graph data-live[every.as_ref().ok().is_none_or(All::are_followed)] { (part(visit, &every, |every| around(visit, every, task))) }
        h2 #runs { (visit.t("Runs")) }
        div data-live #past-runs { (part(visit, &runs, |runs| past::runs(visit, &runs.runs))) }
        (further(visit, task, "runs", params.runs, older_run))
        h2 #events { (visit.t("Events")) }
        div data-live #past-events { (part(visit, &events, |events| past::events(visit, task, &events.events))) }
        (further(visit, task, "events", params.events, older_event))
        (actions::link(visit, task))
    })
}

fn around(visit: &Visit, every: &All, task: &str) -> Markup {
    picture(visit, &Graph::around(&every.tasks, |known| known.name == task))
}

/// Links to older entries.
fn further(visit: &Visit, task: &str, what: &str, here: u64, older: Option<u64>) -> Markup {
    let to = |before: u64| {
        let before = if before == 0 { String::new() } else { before.to_string() };
        format!("{}{}#{what}", path(&["tasks", task]), query(&[(what, &before)]))
    };
    html! {
        @if here > 0 || older.is_some() {
            nav.pages aria-label=(visit.t("Pages of the list")) {
                @if here > 0 { a.button href=(to(0)) { (visit.t("First page")) } }
                @if let Some(older) = older { a.button href=(to(older)) { (visit.t("Next")) } }
            }
        }
    }
}

fn facts(visit: &Visit, task: &TaskSummary) -> Markup {
    let empty = TaskState::default();
    let state = state_of(task).unwrap_or(&empty);
    let values = |names: &[String]| {
        html! { @for name in names { a href=(path(&["values", name])) { (name) } " " } }
    };
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("State")) } dd { (shown(visit, task)) }
                @if !task.about.is_empty() { dt { (visit.t("Purpose")) } dd { (task.about) } }
                dt { (visit.t("Fires when")) }
                dd { @if task.trigger.is_empty() { (visit.t("never: its definition was removed")) } @else { span lang="en" { (task.trigger) } } }
                @if !task.timezone.is_empty() { dt { (visit.t("Time zone")) } dd { (task.timezone) } }
                @if !task.reads.is_empty() { dt { (visit.t("Reads")) } dd { (values(&task.reads)) } }
                @if !task.sets.is_empty() { dt { (visit.t("Sets")) } dd { (values(&task.sets)) } }
                @if !task.owner.is_empty() { dt { (visit.t("Owner")) } dd { (task.owner) } }
                @if !task.labels.is_empty() {
                    dt { (visit.t("Labels")) } dd { @for (name, label) in &task.labels { code { (name) "=" (label) } " " } }
                }
                dt { (visit.t("Priority")) } dd { (task.priority) @if !task.pool.is_empty() { ", " (visit.t("Pool")) " " (task.pool) } }
                dt { (visit.t("Last success")) } dd { (ago(visit, state.last_success_time.as_option())) }
                @if let Some(paused) = state.paused.as_option() {
                    dt { (visit.t("Paused by")) } dd { (paused.by) ", " (ago(visit, paused.time.as_option())) ": " (paused.reason) }
                } @else if task.paused && !task.gone { dt { (visit.t("Paused by")) } dd { (visit.t("its definition")) } }
                @if let Some(error) = &state.error {
                    dt { (visit.t("Last failure")) }
                    dd {
                        (ago(visit, state.last_failure_time.as_option())) " "
                        span.quiet { (visit.f("attempts in a row: {0}", &[&state.attempts])) } br;
                        span.bad-text { (error) }
                    }
                }
                @if let Some(silent) = state.silent_time.as_option() {
                    dt { (visit.t("Silent for too long")) } dd { (ago(visit, Some(silent))) }
                }
                @if let Some(backfill) = state.backfill.as_option() {
                    dt { (visit.t("Backfill")) }
                    dd {
                        (visit.f("{0} chunks done, {1} left, each: {2}", &[&backfill.done, &backfill.left, &backfill.scale]))
                        @if let Some(why) = &backfill.stopped { br; span.bad-text { (visit.t("stopped")) ": " (why) } }
                    }
                }
            }
        }
    }
}

pub(super) fn timeout(visit: &Visit, ms: u64) -> String {
    if ms == 0 { "–".to_owned() } else { length(visit, ms as f64 / 1000.0) }
}
