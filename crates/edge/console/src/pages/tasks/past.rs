//! Runs and events of a task.

use maud::{Markup, html};
use wire::torg::tasks::v1::task_run::Outcome;
use wire::torg::tasks::v1::{TaskEvent, TaskRun};

use super::super::values::text_of;
use super::cause::why;
use crate::language::w;
use crate::view::{Tone, ago, columns, empty, length, long, moment, path, state, table, time_of};
use crate::visit::Visit;

pub(super) fn outcome(visit: &Visit, run: &TaskRun) -> Markup {
    let (tone, text) = match run.outcome.as_known().unwrap_or_default() {
        Outcome::OUTCOME_UNSPECIFIED if run.end_time.is_set() => (Tone::Plain, w("not known")),
        Outcome::OUTCOME_UNSPECIFIED => (Tone::Good, w("in progress")),
        Outcome::OUTCOME_SUCCEEDED => (Tone::Good, w("succeeded")),
        Outcome::OUTCOME_FAILED => (Tone::Bad, w("failed")),
        Outcome::OUTCOME_LOST => (Tone::Bad, w("lost: it ended without an answer")),
    };
    state(tone, visit.t(text))
}

/// The duration so far, or of the whole run.
pub(super) fn took(visit: &Visit, run: &TaskRun) -> String {
    let Some(start) = run.start_time.as_option().map(time_of) else { return "–".to_owned() };
    let end = run.end_time.as_option().map_or_else(|| visit.now(), time_of);
    if end < start { "–".to_owned() } else { length(visit, end.since(start).as_secs_f64()) }
}

pub(super) fn runs(visit: &Visit, runs: &[TaskRun]) -> Markup {
    let columns = columns![
        number "Run", text "Start", number "Duration", text "Outcome", number "Attempt", text "Why",
        text "Result",
    ];
    let rows = runs.iter().map(|run| html! {
        th.n scope="row" { a href=(path(&["tasks", &run.task, "runs", &run.number.to_string()])) { (run.number) } }
        td { (ago(visit, run.start_time.as_option())) }
        td.n { (took(visit, run)) }
        td { (outcome(visit, run)) }
        td.n { (run.attempt) }
        td { (why(visit, run.cause.as_option())) }
        td.wide { (run_result(visit, run)) }
    });
    table(
        visit,
        visit.t("Runs"),
        &columns,
        visit.t("No runs: none yet, or they are too old to be kept."),
        rows,
    )
}

/// The error of a run and the values it set.
pub(super) fn run_result(visit: &Visit, run: &TaskRun) -> Markup {
    html! {
        @if !run.error.is_empty() { div.bad-text { (long(&format!("error-{}", run.number), &run.error)) } }
        @for (name, value) in &run.wrote {
            a href=(path(&["values", name])) { (name) } " = " (text_of(Some(value))) br;
        }
        @for (name, why) in &run.refused {
            a href=(path(&["values", name])) { (name) } " " (visit.t("was not set")) ": " (why) br;
        }
    }
}

pub(super) fn events(visit: &Visit, task: &str, events: &[TaskEvent]) -> Markup {
    if events.is_empty() {
        return empty(visit.t("No events yet."));
    }
    html! {
        ol.timeline {
            @for event in events {
                li {
                    span.quiet { (ago(visit, event.time.as_option())) " · " (moment(event.time.as_option())) " · "
                        @if event.author.is_empty() { "torg" } @else { (event.author) } }
                    br; (event.what.join("; "))
                    @if event.run > 0 {
                        " " a href=(path(&["tasks", task, "runs", &event.run.to_string()])) { (visit.f("run {0}", &[&event.run])) }
                    }
                    @if !event.reason.is_empty() { br; (visit.t("Reason")) ": " (event.reason) }
                    @for alert in &event.alerts { br; span.bad-text { (visit.t("alert sent")) ": " (alert.text) } }
                }
            }
        }
    }
}
