//! The queue: running tasks, waiting tasks with reasons, slots.

use maud::{Markup, html};
use wire::torg::tasks::v1::GetQueueResponse;
use wire::torg::tasks::v1::get_queue_response::{Running, Waiting};

use super::cause::why;
use crate::view::{ago, columns, empty, number, path, query, table};
use crate::visit::Visit;

/// Running and waiting tasks shown; the services explain as many.
const SHOWN: usize = 100;

pub(super) fn show(visit: &Visit, queue: &GetQueueResponse) -> Markup {
    let counts: [String; 3] =
        [queue.running_count, u64::from(queue.running_max), queue.waiting_count].map(number);
    html! {
        h2 { (visit.t("Queue")) }
        p {
            (visit.f("Slots in use: {0} of {1}.", &[&counts[0], &counts[1]])) " "
            a href="/console/tasks?standing=running" { (visit.f("Running: {0}", &[&counts[0]])) } " · "
            a href="/console/tasks?standing=queued" { (visit.f("Waiting: {0}", &[&counts[2]])) }
        }
        @if queue.running.is_empty() && queue.waiting.is_empty() { (empty(visit.t("Nothing runs and nothing waits."))) }
        @if !queue.running.is_empty() {
            h3 { (visit.t("Running tasks")) }
            (more_hint(visit, queue.running.len(), queue.running_count, "running"))
            (running(visit, first(&queue.running)))
        }
        @if !queue.waiting.is_empty() {
            h3 { (visit.t("Waiting tasks")) }
            (more_hint(visit, queue.waiting.len(), queue.waiting_count, "queued"))
            (waiting(visit, first(&queue.waiting)))
        }
    }
}

fn first<T>(tasks: &[T]) -> &[T] {
    &tasks[..tasks.len().min(SHOWN)]
}

/// A hint if more tasks exist than are shown.
fn more_hint(visit: &Visit, listed: usize, all: u64, standing: &str) -> Markup {
    let shown = listed.min(SHOWN);
    let place = path(&["tasks"]) + &query(&[("standing", standing)]);
    html! {
        @if all > shown as u64 {
            p.hint { (visit.f("The first {0} of {1}.", &[&shown, &number(all)])) " " a href=(place) { (visit.t("Show all")) } }
        }
    }
}

fn running(visit: &Visit, running: &[Running]) -> Markup {
    let columns = columns![text "Task", text "Run", text "Since", text "Pool", text "Why"];
    let rows = running.iter().map(|one| {
        html! {
            th scope="row" { a href=(path(&["tasks", &one.task])) { (one.task) } }
            td { a href=(path(&["tasks", &one.task, "runs", &one.run.to_string()])) { (one.run) } }
            td { (ago(visit, one.since.as_option())) }
            td { (one.pool) }
            td { (why(visit, one.cause.as_option())) }
        }
    });
    table(visit, visit.t("Running tasks"), &columns, "", rows)
}

fn waiting(visit: &Visit, waiting: &[Waiting]) -> Markup {
    let columns = columns![
        text "Task", number "Priority", text "Pool", text "Since", text "Why",
        text "Not started because",
    ];
    let rows = waiting.iter().map(|one| {
        html! {
            th scope="row" { a href=(path(&["tasks", &one.task])) { (one.task) } }
            td.n { (one.priority) }
            td { (one.pool) }
            td { (ago(visit, one.since.as_option())) }
            td { (why(visit, one.cause.as_option())) }
            td.wide lang="en" { (one.blocked.join("; ")) }
        }
    });
    table(visit, visit.t("Waiting tasks"), &columns, "", rows)
}
