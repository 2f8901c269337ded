//! The queue: what runs, what waits and why, and how much may run at the same time.

use maud::{Markup, html};
use wire::torg::tasks::v1::GetQueueResponse;
use wire::torg::tasks::v1::get_queue_response::{Running, Waiting};

use super::cause::why;
use crate::view::{ago, empty, number, path, query, table};
use crate::visit::Visit;

/// Tasks that are shown of those that run, and of those that wait: of so many the services say why they wait.
const SHOWN: usize = 100;

pub(super) fn show(visit: &Visit, queue: &GetQueueResponse) -> Markup {
    let counts: [String; 3] =
        [queue.running_count, u64::from(queue.running_max), queue.waiting_count].map(number);
    html! {
        h2 { (visit.t("Queue")) }
        p {
            (visit.f("Places taken: {0} of {1}.", &[&counts[0], &counts[1]])) " "
            a href="/console/tasks?standing=running" { (visit.f("Run: {0}", &[&counts[0]])) } " · "
            a href="/console/tasks?standing=queued" { (visit.f("Wait: {0}", &[&counts[2]])) }
        }
        @if queue.running.is_empty() && queue.waiting.is_empty() { (empty(visit.t("Nothing runs and nothing waits."))) }
        @if !queue.running.is_empty() {
            h3 { (visit.t("Tasks that run")) }
            (cut_off(visit, queue.running.len(), queue.running_count, "running"))
            (running(visit, first(&queue.running)))
        }
        @if !queue.waiting.is_empty() {
            h3 { (visit.t("Tasks that wait")) }
            (cut_off(visit, queue.waiting.len(), queue.waiting_count, "queued"))
            (waiting(visit, first(&queue.waiting)))
        }
    }
}

/// As many as are shown: of so many it is told, too, why they wait.
fn first<T>(tasks: &[T]) -> &[T] {
    &tasks[..tasks.len().min(SHOWN)]
}

/// Says that there are more than are shown, and where they are.
fn cut_off(visit: &Visit, told: usize, all: u64, standing: &str) -> Markup {
    let shown = told.min(SHOWN);
    let place = path(&["tasks"]) + &query(&[("standing", standing)]);
    html! {
        @if all > shown as u64 {
            p.hint { (visit.f("The first {0} of {1}.", &[&shown, &number(all)])) " " a href=(place) { (visit.t("Show all of them")) } }
        }
    }
}

fn running(visit: &Visit, running: &[Running]) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Task")) }
        th scope="col" { (visit.t("Run")) }
        th scope="col" { (visit.t("Since")) }
        th scope="col" { (visit.t("Pool")) }
        th scope="col" { (visit.t("Why")) }
    };
    table(
        visit.t("Tasks that run"),
        &head,
        &html! {
            @for one in running {
                tr {
                    th scope="row" { a href=(path(&["tasks", &one.task])) { (one.task) } }
                    td { a href=(path(&["tasks", &one.task, "runs", &one.run.to_string()])) { (one.run) } }
                    td { (ago(visit, one.since.as_option())) }
                    td { (one.pool) }
                    td { (why(visit, one.cause.as_option())) }
                }
            }
        },
    )
}

fn waiting(visit: &Visit, waiting: &[Waiting]) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Task")) }
        th.n scope="col" { (visit.t("Priority")) }
        th scope="col" { (visit.t("Pool")) }
        th scope="col" { (visit.t("Since")) }
        th scope="col" { (visit.t("Why")) }
        th scope="col" { (visit.t("Not started because")) }
    };
    table(
        visit.t("Tasks that wait"),
        &head,
        &html! {
            @for one in waiting {
                tr {
                    th scope="row" { a href=(path(&["tasks", &one.task])) { (one.task) } }
                    td.n { (one.priority) }
                    td { (one.pool) }
                    td { (ago(visit, one.since.as_option())) }
                    td { (why(visit, one.cause.as_option())) }
                    td.wide lang="en" { (one.blocked.join("; ")) }
                }
            }
        },
    )
}
