//! One value: current state, history, related tasks.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::tasks::v1::{CtlCurrent, CtlPast, GetValuesRequest, ListHistoryRequest, TaskSummary};

use super::super::actions;
use super::super::tasks::{All, Graph, all, picture};
use super::value::difference;
use super::{change, may_set, shown, text_of};
use crate::address::{Page, Path, Query};
use crate::layout::Section;
use crate::services::{Failure, Kind};
use crate::view::{Tone, ago, columns, empty, moment, pager, part, path, state, table};
use crate::visit::Visit;

const SHOWN: u32 = 50;

pub(super) async fn show(visit: Visit, Path(name): Path<String>, Query(params): Query<Page>) -> Response {
    let body = body(&visit, &name, &params).await;
    visit.page(Section::Values, &visit.f("Value {0}", &[&name]), body)
}

async fn body(visit: &Visit, name: &str, params: &Page) -> Result<Markup, Failure> {
    let current = GetValuesRequest { parameters: vec![name.to_owned()], ..Default::default() };
    let history = ListHistoryRequest {
        parameter: name.to_owned(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        ..Default::default()
    };
    let (current, history, tasks) = tokio::join!(visit.call(&current), visit.call(&history), all(visit, ""),);
    let current = current.map(|answer| answer.values.into_iter().next().unwrap_or_default());
    match &current {
        Err(failure) if history.is_err() || failure.kind != Kind::Unavailable => return Err(failure.clone()),
        _ => {}
    }
    // The canonical name, as tasks use it.
    let name = current
        .as_ref()
        .ok()
        .map(|current| &*current.parameter)
        .filter(|own| !own.is_empty())
        .unwrap_or(name);
    let next = history.as_ref().map(|history| &*history.next_page_token).unwrap_or_default();
    let page = path(&["values", name]);
    Ok(html! {
        p { a href="/console/values" { (visit.t("All values")) } }
        div data-live #value { (part(visit, &current, |current| facts(visit, current))) }
        @if may_set(visit) {
            (change::form(visit, name))
            (part(visit, &current, |current| html! { @if current.value.is_set() { (change::deletion(visit, name)) } }))
        }
        h2 { (visit.t("Related tasks")) }
        div #tasks data-live[tasks.as_ref().ok().is_none_or(All::are_followed)] { (part(visit, &tasks, |all| related_tasks(visit, name, &all.tasks, all.complete))) }
        h2 #history { (visit.t("Changes")) }
        div data-live #changes { (part(visit, &history, |history| changes(visit, &history.changes))) }
        (pager(visit, &format!("{page}#history"), &[], &params.page, next))
        (actions::link(visit, name))
    })
}

fn facts(visit: &Visit, current: &CtlCurrent) -> Markup {
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("Now")) }
                dd { @if current.value.is_set() { (shown(visit, current.value.as_option())) } @else { (visit.t("it has no value")) } }
                @if current.version > 0 { dt { (visit.t("Version")) } dd { (current.version) } }
                @if current.change_time.is_set() {
                    dt { (visit.t("Changed")) }
                    dd { (ago(visit, current.change_time.as_option())) " " span.quiet { (moment(current.change_time.as_option())) } }
                }
                @if !current.author.is_empty() { dt { (visit.t("Who")) } dd { (current.author) } }
            }
        }
    }
}

/// Readers, setters and their graph.
fn related_tasks(visit: &Visit, name: &str, tasks: &[TaskSummary], complete: bool) -> Markup {
    let has = |names: &[String]| names.iter().any(|known| known == name);
    let links = |of: &dyn Fn(&TaskSummary) -> bool| {
        html! { @for task in tasks.iter().filter(|task| of(task)) { a href=(path(&["tasks", &task.name])) { (task.name) } " " } }
    };
    let (readers, setters) = (|task: &TaskSummary| has(&task.reads), |task: &TaskSummary| has(&task.sets));
    if !tasks.iter().any(|task| readers(task) || setters(task)) {
        return empty(if complete {
            visit.t("No task reads it or sets it.")
        } else {
            visit.t("None of the tasks checked reads or sets it; not all were checked.")
        });
    }
    html! {
        dl.facts {
            dt { (visit.t("Read by")) } dd { @if tasks.iter().any(readers) { (links(&readers)) } @else { (visit.t("nobody")) } }
            dt { (visit.t("Set by")) } dd { @if tasks.iter().any(setters) { (links(&setters)) } @else { (visit.t("none of the tasks")) } }
        }
        (picture(visit, &Graph::of_value(tasks, name)))
    }
}

fn changes(visit: &Visit, changes: &[CtlPast]) -> Markup {
    let columns = columns![
        number "Version", text "When", text "Who", text "Before", text "After", text "Difference",
        text "Reason",
    ];
    table(
        visit,
        visit.t("Changes"),
        &columns,
        visit.t("No changes, or they are too old to be kept."),
        changes.iter().map(|change| row(visit, change)),
    )
}

fn row(visit: &Visit, change: &CtlPast) -> Markup {
    let (before, after) = (change.before.as_option(), change.after.as_option());
    html! {
        td.n { (change.version) }
        td { (ago(visit, change.change_time.as_option())) }
        td { (change.author) }
        td.code { @if before.is_some() { span.old { (text_of(before)) } } @else { "–" } }
        td.code { @if after.is_some() { span.new { (text_of(after)) } } @else { (state(Tone::Warn, visit.t("deleted"))) } }
        td {
            (difference(visit, before, after))
            @if change.moved_back { " " (state(Tone::Bad, visit.t("moved back"))) }
        }
        td.wide { (change.reason) }
    }
}
