//! Actions on a task; each needs a reason.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::tasks::v1::task_state::Phase;
use wire::torg::tasks::v1::{
    CancelBackfillRequest, CancelTaskRequest, DeleteRememberedRequest, KillRunRequest, PauseTaskRequest,
    ResumeBackfillRequest, ResumeTaskRequest, RunTaskRequest, SetRememberedRequest, StartBackfillRequest,
    TaskState, TaskSummary,
};

use super::super::values::{read, text_of};
use super::status::state_of;
use crate::address::Path;
use crate::form::Form;
use crate::language::w;
use crate::services::{Failure, Kind};
use crate::view::{empty, number, path, reason, token};
use crate::visit::Visit;

/// The forms that fit the state of the task.
pub(super) fn forms(visit: &Visit, task: &TaskSummary) -> Markup {
    let nothing = TaskState::default();
    let state = state_of(task).unwrap_or(&nothing);
    let queued = matches!(state.phase, Some(Phase::Queued(_)));
    let running = matches!(state.phase, Some(Phase::Running(_)));
    let none = html! {};
    let form =
        |act, title, danger, inner: &Markup| one(visit, &task.name, act, visit.t(title), danger, inner);
    html! {
        h2 { (visit.t("What you can do")) }
        div.acts {
            @if !task.gone {
                (form("run", w("Run now"), false, &record(visit, "run-record", w("Count its success as a regular run"))))
                @if task.paused { (form("resume", w("Resume"), false, &none)) }
                @else { (form("pause", w("Pause"), false, &none)) }
            }
            @if queued { (form("cancel", w("Remove from the queue"), false, &none)) }
            @if running { (form("kill", w("Kill the run"), true, &none)) }
            @if !task.gone {
                (form("remember", w("Change a remembered value"), true, &remembering(visit, task)))
                (form("forget", w("Forget remembered values"), true, &remembered(visit, state)))
            }
            @if let Some(backfill) = state.backfill.as_option() {
                @if backfill.stopped.is_some() { (form("resume-backfill", w("Resume the backfill"), false, &none)) }
                (form("cancel-backfill", w("Cancel the backfill"), true, &none))
            } @else if !task.gone {
                (form("backfill", w("Backfill: run it for the past"), false, &backfill(visit)))
            }
        }
    }
}

fn one(visit: &Visit, task: &str, act: &str, title: &str, danger: bool, inner: &Markup) -> Markup {
    html! {
        details.card id={ "act-" (act) } {
            summary { (title) }
            form.fields method="post" action=(path(&["tasks", task, act]))
                data-confirm=[danger.then(|| format!("{title}?"))] {
                (token(visit))
                (inner)
                (reason(visit, &format!("reason-{act}")))
                div { button.main[!danger].danger[danger] { (title) } }
            }
        }
    }
}

fn record(visit: &Visit, id: &str, text: &'static str) -> Markup {
    html! { label.box for=(id) { input id=(id) type="checkbox" name="record"; " " (visit.t(text)) } }
}

fn remembering(visit: &Visit, task: &TaskSummary) -> Markup {
    html! {
        p.hint { (visit.t("The task continues as if its last run had seen this value. With a lower value it fires again for what is newer.")) }
        label for="remember-parameter" {
            (visit.t("Value"))
            select #remember-parameter name="parameter" { @for name in &task.reads { option { (name) } } }
        }
        label for="remember-value" {
            (visit.t("Value: a time such as 2026-03-25T08:05:00Z, the word now, or a whole number"))
            input #remember-value name="value" required maxlength="64";
        }
    }
}

fn remembered(visit: &Visit, state: &TaskState) -> Markup {
    html! {
        @if state.remembered.is_empty() { (empty(visit.t("Nothing is remembered: it fires as on its first run."))) }
        p.hint { (visit.t("For forgotten values the task fires as on its first run.")) }
        label for="forget-parameter" {
            (visit.t("Value"))
            select #forget-parameter name="parameter" {
                @for (name, value) in &state.remembered { option value=(name) { (name) " = " (text_of(Some(value))) } }
                option value="*" { (visit.t("all of them")) }
            }
        }
    }
}

fn backfill(visit: &Visit) -> Markup {
    html! {
        p.hint { (visit.t("Past chunks run one after another, before regular runs, by the calendar of the task.")) }
        label for="backfill-from" { (visit.t("From day")) input #backfill-from name="from" type="date" required; }
        label for="backfill-to" { (visit.t("To day (exclusive)")) input #backfill-to name="to" type="date" required; }
        label for="backfill-scale" {
            (visit.t("Size of a chunk: hour, day, week, month, year, or minutes such as 15m; empty: as in the trigger"))
            input #backfill-scale name="scale" list="scales" maxlength="20";
        }
        datalist #scales { @for scale in ["hour", "day", "week", "month", "year", "15m"] { option value=(scale) {} } }
        label for="backfill-limit" { (visit.t("Limit of chunks; empty: all")) input #backfill-limit name="limit" type="number" min="1"; }
        (record(visit, "backfill-record", w("A successful chunk advances the remembered value")))
    }
}

pub(super) async fn take(visit: Visit, Path((task, act)): Path<(String, String)>, form: Form) -> Response {
    let outcome = done(&visit, &task, &act, &form).await;
    visit.done(&path(&["tasks", &task]), outcome)
}

/// Calls a method whose request is the task and a reason.
macro_rules! call {
    ($visit:ident, $request:ident { $task:ident, $reason:ident }, $message:literal) => {{
        let request = $request { $task, $reason, ..Default::default() };
        $visit.act(&request).await.map(|_| $visit.t($message).to_owned())
    }};
}

async fn done(visit: &Visit, task: &str, act: &str, form: &Form) -> Result<String, Failure> {
    let task = task.to_owned();
    let reason = form.reason()?;
    match act {
        "run" => {
            let record = form.is_on("record");
            let request = RunTaskRequest { task, record, reason, ..Default::default() };
            visit.act(&request).await?;
            Ok(visit.t("It runs as soon as a slot is free.").to_owned())
        }
        "pause" => call!(visit, PauseTaskRequest { task, reason }, "The task is paused."),
        "resume" => call!(visit, ResumeTaskRequest { task, reason }, "The task is resumed."),
        "cancel" => {
            call!(
                visit,
                CancelTaskRequest { task, reason },
                "Removed from the queue: the task rests until one of its values changes."
            )
        }
        "kill" => {
            let request = KillRunRequest { task, reason, ..Default::default() };
            let run = visit.act(&request).await?.run;
            Ok(visit.f("Run {0} was asked to stop.", &[&run]))
        }
        "remember" => remember(visit, task, form).await,
        "forget" => forget(visit, task, form).await,
        "backfill" => start(visit, task, form).await,
        "resume-backfill" => {
            call!(visit, ResumeBackfillRequest { task, reason }, "The backfill is resumed.")
        }
        "cancel-backfill" => {
            call!(visit, CancelBackfillRequest { task, reason }, "The backfill was cancelled.")
        }
        _ => Err(Failure::new(Kind::NotFound, visit.t("There is no such action on a task."))),
    }
}

async fn remember(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let parameter = form.text("parameter").to_owned();
    let value = Some(read(visit, form.text("value"))?).into();
    let reason = form.reason()?;
    let request = SetRememberedRequest { task, parameter, value, reason, ..Default::default() };
    visit.act(&request).await?;
    Ok(visit.t("It was changed.").to_owned())
}

async fn forget(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let parameter = match form.text("parameter") {
        "*" => String::new(),
        "" => return Err(Failure::new(Kind::Refused, visit.t("Choose the value to forget."))),
        named => named.to_owned(),
    };
    let reason = form.reason()?;
    let request = DeleteRememberedRequest { task, parameter, reason, ..Default::default() };
    visit.act(&request).await?;
    Ok(visit.t("It was forgotten.").to_owned())
}

async fn start(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let own = |name: &str| form.text(name).to_owned();
    let request = StartBackfillRequest {
        task,
        from_day: own("from"),
        to_day: own("to"),
        scale: own("scale"),
        limit: form.number("limit", w("Limit of chunks; empty: all"))?,
        record: form.is_on("record"),
        reason: form.reason()?,
        ..Default::default()
    };
    let answer = visit.act(&request).await?;
    Ok(visit.f(
        "The backfill has started: {0} chunks, each: {1}.",
        &[&number(answer.chunks.into()), &answer.scale],
    ))
}
