//! All tasks: the graph, the list with its filters, the queue.

use std::collections::BTreeMap;

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{GetQueueRequest, TaskSummary};

use super::all::{All, all};
use super::queue;
use super::standing::{Standing, shown, standings, state_of};
use super::{Graph, picture};
use crate::address::Query;
use crate::layout::Place;
use crate::services::Failure;
use crate::services::methods::GET_QUEUE;
use crate::view::{ago, empty, number, pager, part, path, query, table};
use crate::visit::Visit;

/// Tasks of one page of the list.
const SHOWN: usize = 100;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    /// How names begin.
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    standing: String,
    /// The last name of the page before.
    #[serde(default)]
    page: String,
}

pub(super) async fn show(visit: Visit, Query(asked): Query<Asked>) -> Response {
    let asked = Asked { prefix: asked.prefix.trim().to_owned(), ..asked };
    let queue = GetQueueRequest::default();
    let (tasks, queue) = tokio::join!(known(&visit, &asked.prefix), visit.call(GET_QUEUE, &queue));
    let body = match (&tasks, &queue) {
        (Err(failure), Err(_)) => Err(failure.clone()),
        _ => Ok(html! {
            (part(&visit, &tasks, |tasks| listed(&visit, &asked, tasks)))
            div data-live #queue { (part(&visit, &queue, |queue| queue::show(&visit, queue))) }
        }),
    };
    visit.page(Place::Tasks, visit.t("Tasks"), body)
}

/// All tasks, because those beside the wanted ones are drawn too; if there are too many, only those whose names begin as is wanted. Too many to be followed are not
/// asked for again and again.
async fn known(visit: &Visit, prefix: &str) -> Result<All, Failure> {
    let every = all(visit, "").await?;
    let suffices = every.complete || prefix.is_empty() || visit.look().live;
    if suffices { Ok(every) } else { all(visit, prefix).await }
}

fn listed(visit: &Visit, asked: &Asked, all: &All) -> Markup {
    let named: Vec<&TaskSummary> =
        all.tasks.iter().filter(|task| task.name.starts_with(&asked.prefix)).collect();
    let standing = Standing::from_name(&asked.standing);
    let is_wanted = |task: &TaskSummary| {
        task.name.starts_with(&asked.prefix)
            && standing.is_none_or(|wanted| standings(task).contains(&wanted))
    };
    let wanted: Vec<&TaskSummary> =
        named.iter().copied().filter(|task| is_wanted(task) && *task.name > *asked.page).collect();
    let more = wanted.len() > SHOWN;
    let page = &wanted[..wanted.len().min(SHOWN)];
    let next = page.last().filter(|_| more).map(|task| &*task.name).unwrap_or_default();
    let others = [("prefix", &*asked.prefix), ("standing", standing.map_or("", Standing::name))];
    let followed = all.are_followed();
    html! {
        form.inline method="get" action="/console/tasks" {
            label for="prefix" { (visit.t("The name begins with")) input #prefix name="prefix" value=(asked.prefix) maxlength="200"; }
            @if let Some(standing) = standing { input type="hidden" name="standing" value=(standing.name()); }
            button { (visit.t("Show")) }
        }
        @if !all.complete {
            p.notice { (visit.f("There are more tasks than are looked at here: {0}. Say how their names begin.", &[&number(all.tasks.len() as u64)])) }
        }
        @if !followed {
            p.hint {
                (visit.t("So many tasks are not followed: their states stand here as they were when the page was opened.")) " "
                a href={ "/console/tasks" (query(&[others[0], others[1], ("page", &asked.page)])) } { (visit.t("Look again")) }
            }
        }
        div #standings data-live[followed] { (filters(visit, asked, standing, &named)) }
        h2 { (visit.t("Graph of values and tasks")) }
        p { a href="#tasks" { (visit.t("Past the graph, to the list")) } }
        div #graph data-live[followed] { (picture(visit, &Graph::around(&all.tasks, is_wanted))) }
        h2 { (visit.t("All tasks")) }
        div #tasks data-live[followed] { (rows(visit, page, all.tasks.is_empty())) }
        (pager(visit, "/console/tasks", &others, &asked.page, next))
    }
}

/// The states with how many tasks stand so: each leads to those.
fn filters(visit: &Visit, asked: &Asked, chosen: Option<Standing>, tasks: &[&TaskSummary]) -> Markup {
    let mut counts: BTreeMap<Standing, u64> = BTreeMap::new();
    for standing in tasks.iter().flat_map(|task| standings(task)) {
        *counts.entry(standing).or_default() += 1;
    }
    let to = |standing: &str| {
        format!("/console/tasks{}", query(&[("prefix", &asked.prefix), ("standing", standing)]))
    };
    let shown = Standing::ALL.into_iter().filter(|one| counts.contains_key(one) || chosen == Some(*one));
    html! {
        ul.tabs {
            li {
                a href=(to("")) aria-current=[chosen.is_none().then_some("true")] {
                    (visit.t("all")) " " (number(tasks.len() as u64))
                }
            }
            @for standing in shown {
                li {
                    a href=(to(standing.name())) aria-current=[(chosen == Some(standing)).then_some("true")] {
                        (visit.t(standing.text())) " " (number(counts.get(&standing).copied().unwrap_or_default()))
                    }
                }
            }
        }
    }
}

fn rows(visit: &Visit, tasks: &[&TaskSummary], none_at_all: bool) -> Markup {
    if tasks.is_empty() && none_at_all {
        return empty(visit.t(
            "There are no tasks yet. Task files are put to work by: torg tasks apply FILES --reason WHY",
        ));
    }
    if tasks.is_empty() {
        return empty(visit.t("No task is so."));
    }
    let head = html! {
        th scope="col" { (visit.t("Task")) }
        th scope="col" { (visit.t("State")) }
        th scope="col" { (visit.t("Fires when")) }
        th scope="col" { (visit.t("Last success")) }
        th.n scope="col" { (visit.t("Runs")) }
        th.n scope="col" { (visit.t("Priority")) }
        th scope="col" { (visit.t("Pool")) }
        th scope="col" { (visit.t("Owner")) }
    };
    table(visit.t("Tasks"), &head, &html! { @for task in tasks { (row(visit, task)) } })
}

fn row(visit: &Visit, task: &TaskSummary) -> Markup {
    let state = state_of(task);
    let page = path(&["tasks", &task.name]);
    html! {
        tr {
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
}
