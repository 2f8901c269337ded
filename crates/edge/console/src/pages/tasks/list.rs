//! All tasks: graph, filtered list, queue.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{GetQueueRequest, TaskSummary};

use super::all::{All, all};
use super::queue;
use super::status::{Status, shown, state_of, statuses};
use super::{Graph, picture};
use crate::address::Query;
use crate::language::w;
use crate::layout::Section;
use crate::services::Failure;
use crate::view::{ago, columns, number, pager, part, path, query, table, tabs};
use crate::visit::Visit;

const SHOWN: usize = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    /// Name prefix.
    prefix: String,
    standing: String,
    /// The last name of the previous page.
    page: String,
}

pub(super) async fn show(visit: Visit, Query(params): Query<Params>) -> Response {
    let params = Params { prefix: params.prefix.trim().to_owned(), ..params };
    let queue = GetQueueRequest::default();
    let (tasks, queue) = tokio::join!(known(&visit, &params.prefix), visit.call(&queue));
    let body = match (&tasks, &queue) {
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            (part(&visit, &tasks, |tasks| listed(&visit, &params, tasks)))
            div data-live #queue { (part(&visit, &queue, |queue| queue::show(&visit, queue))) }
        }),
    };
    visit.page(Section::Tasks, visit.t("Tasks"), body)
}

/// All tasks, because neighbours of the wanted ones are drawn too. If there are too many, only
/// those with the prefix. Large lists are not refreshed.
async fn known(visit: &Visit, prefix: &str) -> Result<All, Failure> {
    let every = all(visit, "").await?;
    let suffices = every.complete || prefix.is_empty() || visit.preferences().live;
    if suffices { Ok(every) } else { all(visit, prefix).await }
}

fn listed(visit: &Visit, params: &Params, all: &All) -> Markup {
    let named: Vec<&TaskSummary> =
        all.tasks.iter().filter(|task| task.name.starts_with(&params.prefix)).collect();
    let standing = Status::from_name(&params.standing);
    let is_wanted = |task: &TaskSummary| {
        task.name.starts_with(&params.prefix)
            && standing.is_none_or(|wanted| statuses(task).contains(&wanted))
    };
    let wanted: Vec<&TaskSummary> =
        named.iter().copied().filter(|task| is_wanted(task) && *task.name > *params.page).collect();
    let more = wanted.len() > SHOWN;
    let page = &wanted[..wanted.len().min(SHOWN)];
    let next = page.last().filter(|_| more).map(|task| &*task.name).unwrap_or_default();
    let others = [("prefix", &*params.prefix), ("standing", standing.map_or("", Status::name))];
    let followed = all.are_followed();
    html! {
        form.inline method="get" action="/console/tasks" {
            label for="prefix" { (visit.t("Name prefix")) input #prefix name="prefix" value=(params.prefix) maxlength="200"; }
            @if let Some(standing) = standing { input type="hidden" name="standing" value=(standing.name()); }
            button { (visit.t("Show")) }
        }
        @if !all.complete {
            p.notice { (visit.f("There are more tasks than are shown here: {0}. Enter a name prefix.", &[&number(all.tasks.len() as u64)])) }
        }
        @if !followed {
            p.hint {
                (visit.t("These are too many tasks to refresh: their states are from when the page was opened.")) " "
                a href={ "/console/tasks" (query(&[others[0], others[1], ("page", &params.page)])) } { (visit.t("Refresh")) }
            }
        }
        div #statuses data-live[followed] { (filters(visit, params, standing, &named)) }
        h2 { (visit.t("Graph of values and tasks")) }
        p { a href="#tasks" { (visit.t("Skip the graph")) } }
        div #graph data-live[followed] { (picture(visit, &Graph::around(&all.tasks, is_wanted))) }
        h2 { (visit.t("All tasks")) }
        div #tasks data-live[followed] { (rows(visit, page, all.tasks.is_empty())) }
        (pager(visit, "/console/tasks", &others, &params.page, next))
    }
}

/// Filters by state with their counts.
fn filters(visit: &Visit, params: &Params, chosen: Option<Status>, tasks: &[&TaskSummary]) -> Markup {
    let mut counts: BTreeMap<Status, u64> = BTreeMap::new();
    for standing in tasks.iter().flat_map(|task| statuses(task)) {
        *counts.entry(standing).or_default() += 1;
    }
    let to = |standing: &str| {
        format!("/console/tasks{}", query(&[("prefix", &params.prefix), ("standing", standing)]))
    };
    let shown = Status::ALL.into_iter().filter(|one| counts.contains_key(one) || chosen == Some(*one));
    let all = format!("{} {}", visit.t("all"), number(tasks.len() as u64));
    let all = (to(""), all, chosen.is_none());
    tabs(std::iter::once(all).chain(shown.map(|one| {
        let count = number(counts.get(&one).copied().unwrap_or_default());
        (to(one.name()), format!("{} {count}", visit.t(one.text())), chosen == Some(one))
    })))
}

fn rows(visit: &Visit, tasks: &[&TaskSummary], none_at_all: bool) -> Markup {
    let none = if none_at_all {
        w("No tasks yet. Apply task files with: torg tasks apply FILES --reason WHY")
    } else {
        w("No matching tasks.")
    };
    let columns = columns![
        text "Task", text "State", text "Fires when", text "Last success", number "Runs",
        number "Priority", text "Pool", text "Owner",
    ];
    table(visit, visit.t("Tasks"), &columns, visit.t(none), tasks.iter().map(|task| row(visit, task)))
}

fn row(visit: &Visit, task: &TaskSummary) -> Markup {
    let state = state_of(task);
    let page = path(&["tasks", &task.name]);
    html! {
        th scope="row" { a href=(page) { (task.name) } @if !task.about.is_empty() { br; span.quiet { (task.about) } } }
        td { (shown(visit, task)) }
        td.wide lang="en" { (task.trigger) }
        td { (ago(visit, state.and_then(|state| state.last_success_time.as_option()))) }
        td.n { a href={ (page) "#runs" } { (number(state.map_or(0, |state| state.runs))) } }
        td.n { (task.priority) }
        td { (task.pool) }
        td { (task.owner) }
    }
}
