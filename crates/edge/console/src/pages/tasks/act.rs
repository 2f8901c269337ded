//! What somebody does with a task, each with a reason.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::tasks::v1::task_state::Phase;
use wire::torg::tasks::v1::{
    CancelBackfillRequest, CancelTaskRequest, DeleteRememberedRequest, KillRunRequest, PauseTaskRequest,
    ResumeBackfillRequest, ResumeTaskRequest, RunTaskRequest, SetRememberedRequest, StartBackfillRequest,
    TaskState, TaskSummary,
};

use super::super::values::{read, text_of};
use super::standing::state_of;
use crate::address::Path;
use crate::form::Form;
use crate::services::methods::{
    CANCEL_BACKFILL, CANCEL_TASK, DELETE_REMEMBERED, KILL_RUN, PAUSE_TASK, RESUME_BACKFILL, RESUME_TASK,
    RUN_TASK, SET_REMEMBERED, START_BACKFILL,
};
use crate::services::{Failure, Kind};
use crate::view::{empty, number, path, reason, token};
use crate::visit::Visit;
use crate::words_mark::w;

/// The forms that fit how a task stands.
pub(super) fn forms(visit: &Visit, task: &TaskSummary) -> Markup {
    let nothing = TaskState::default();
    let state = state_of(task).unwrap_or(&nothing);
    let queued = matches!(state.phase, Some(Phase::Queued(_)));
    let running = matches!(state.phase, Some(Phase::Running(_)));
    let none = html! {};
    let form =
        |act, title, danger, inner: &Markup| one(visit, &task.name, act, visit.t(title), danger, inner);
    html! {
        h2 { (visit.t("What to do with it")) }
        div.acts {
            @if !task.gone {
                (form("run", w("Run now"), false, &record(visit, "run-record", w("Remember its success as that of a regular run"))))
                @if task.paused { (form("resume", w("Resume"), false, &none)) }
                @else { (form("pause", w("Pause"), false, &none)) }
            }
            @if queued { (form("cancel", w("Take it out of the queue"), false, &none)) }
            @if running { (form("kill", w("Kill the run"), true, &none)) }
            @if !task.gone {
                (form("remember", w("Change what is remembered"), true, &remembering(visit, task)))
                (form("forget", w("Forget what is remembered"), true, &remembered(visit, state)))
            }
            @if let Some(backfill) = state.backfill.as_option() {
                @if backfill.stopped.is_some() { (form("resume-backfill", w("Go on with the backfill"), false, &none)) }
                (form("cancel-backfill", w("Cancel the backfill"), true, &none))
            } @else if !task.gone {
                (form("backfill", w("Backfill: run it for the past"), false, &backfill(visit)))
            }
        }
    }
}

/// One form, folded.
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
        p.hint { (visit.t("The task goes on as if its last run had seen this value: set back, it fires again for what has come since.")) }
        label for="remember-parameter" {
            (visit.t("Which value"))
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
        @if state.remembered.is_empty() { (empty(visit.t("Nothing is remembered: it fires as at its first run."))) }
        p.hint { (visit.t("The task fires as at its first run of what it forgets.")) }
        label for="forget-parameter" {
            (visit.t("Which value"))
            select #forget-parameter name="parameter" {
                @for (name, value) in &state.remembered { option value=(name) { (name) " = " (text_of(Some(value))) } }
                option value="*" { (visit.t("all of them")) }
            }
        }
    }
}

fn backfill(visit: &Visit) -> Markup {
    html! {
        p.hint { (visit.t("Chunks of the past are run one after the other, before regular firings, by the calendar of the task.")) }
        label for="backfill-from" { (visit.t("From the day")) input #backfill-from name="from" type="date" required; }
        label for="backfill-to" { (visit.t("Up to, and without, the day")) input #backfill-to name="to" type="date" required; }
        label for="backfill-scale" {
            (visit.t("In chunks of: hour, day, week, month, year, or minutes such as 15m; left out: as in its trigger"))
            input #backfill-scale name="scale" list="scales" maxlength="20";
        }
        datalist #scales { @for scale in ["hour", "day", "week", "month", "year", "15m"] { option value=(scale) {} } }
        label for="backfill-limit" {
            (visit.t("At most so many chunks; left out: all"))
            input #backfill-limit name="limit" type="number" min="1";
        }
        (record(visit, "backfill-record", w("A chunk that succeeds moves forward what is remembered")))
    }
}

pub(super) async fn take(visit: Visit, Path((task, act)): Path<(String, String)>, form: Form) -> Response {
    let outcome = done(&visit, &task, &act, &form).await;
    visit.done(&path(&["tasks", &task]), outcome)
}

/// Calls a method whose request is the task and a reason.
macro_rules! plain {
    ($visit:ident, $method:ident, $request:ident, $task:ident, $reason:ident, $told:expr) => {{
        let request = $request { task: $task, reason: $reason, ..$request::default() };
        $visit.act($method, &request).await.map(|_| $visit.t($told).to_owned())
    }};
}

async fn done(visit: &Visit, task: &str, act: &str, form: &Form) -> Result<String, Failure> {
    let (task, reason) = (task.to_owned(), form.reason()?);
    match act {
        "run" => {
            let record = form.is_on("record");
            let request = RunTaskRequest { task, record, reason, ..RunTaskRequest::default() };
            visit.act(RUN_TASK, &request).await?;
            Ok(visit.t("It runs as soon as there is a place for it.").to_owned())
        }
        "pause" => plain!(visit, PAUSE_TASK, PauseTaskRequest, task, reason, w("The task is paused.")),
        "resume" => plain!(visit, RESUME_TASK, ResumeTaskRequest, task, reason, w("The task goes on.")),
        "cancel" => plain!(
            visit,
            CANCEL_TASK,
            CancelTaskRequest,
            task,
            reason,
            w("It was taken out of the queue, and rests until one of its values changes.")
        ),
        "kill" => {
            let request = KillRunRequest { task, reason, ..KillRunRequest::default() };
            let run = visit.act(KILL_RUN, &request).await?.run;
            Ok(visit.f("Run {0} was asked to end.", &[&run]))
        }
        "remember" => remember(visit, task, form).await,
        "forget" => forget(visit, task, form).await,
        "backfill" => start(visit, task, form).await,
        "resume-backfill" => {
            plain!(visit, RESUME_BACKFILL, ResumeBackfillRequest, task, reason, w("The backfill goes on."))
        }
        "cancel-backfill" => {
            plain!(
                visit,
                CANCEL_BACKFILL,
                CancelBackfillRequest,
                task,
                reason,
                w("The backfill was cancelled.")
            )
        }
        _ => Err(Failure::new(Kind::NotFound, visit.t("Nothing of this kind can be done with a task."))),
    }
}

async fn remember(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let parameter = form.text("parameter").to_owned();
    let value = Some(read(visit, form.text("value"))?).into();
    let reason = form.reason()?;
    let request = SetRememberedRequest { task, parameter, value, reason, ..SetRememberedRequest::default() };
    visit.act(SET_REMEMBERED, &request).await?;
    Ok(visit.t("It was changed.").to_owned())
}

async fn forget(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let parameter = match form.text("parameter") {
        "*" => String::new(),
        "" => return Err(Failure::new(Kind::Refused, visit.t("Say which value is to be forgotten."))),
        named => named.to_owned(),
    };
    let reason = form.reason()?;
    let request = DeleteRememberedRequest { task, parameter, reason, ..DeleteRememberedRequest::default() };
    visit.act(DELETE_REMEMBERED, &request).await?;
    Ok(visit.t("It was forgotten.").to_owned())
}

async fn start(visit: &Visit, task: String, form: &Form) -> Result<String, Failure> {
    let own = |name: &str| form.text(name).to_owned();
    let request = StartBackfillRequest {
        task,
        from_day: own("from"),
        to_day: own("to"),
        scale: own("scale"),
        limit: form.number("limit", w("At most so many chunks; left out: all"))?,
        record: form.is_on("record"),
        reason: form.reason()?,
        ..StartBackfillRequest::default()
    };
    let answer = visit.act(START_BACKFILL, &request).await?;
    Ok(visit.f("The backfill began: {0} chunks, each: {1}.", &[&number(answer.chunks.into()), &answer.scale]))
}
