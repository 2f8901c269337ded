//! The queue: what runs, what waits and why, and how much may run at the same time.

use contract::torg::tasks::v1::GetQueueResponse;
use contract::torg::tasks::v1::get_queue_response::{Running, Waiting};
use maud::{Markup, html};

use super::cause::why;
use crate::view::{ago, empty, number, path, table};
use crate::visit::Visit;

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
        @if !queue.running.is_empty() { (running(visit, &queue.running)) }
        @if !queue.waiting.is_empty() { (waiting(visit, &queue.waiting)) }
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
    html! {
        h3 { (visit.t("Tasks that run")) }
        (table(visit.t("Tasks that run"), &head, &html! {
            @for one in running {
                tr {
                    th scope="row" { a href=(path(&["tasks", &one.task])) { (one.task) } }
                    td { a href=(path(&["tasks", &one.task, "runs", &one.run.to_string()])) { (one.run) } }
                    td { (ago(visit, one.since.as_option())) }
                    td { (one.pool) }
                    td { (why(visit, one.cause.as_option())) }
                }
            }
        }))
    }
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
                    td.wide { (one.blocked.join("; ")) }
                }
            }
        },
    )
}
