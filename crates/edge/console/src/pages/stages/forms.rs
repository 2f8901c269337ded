//! What an operator does with a stage.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::stages::v1::{
    PauseStageRequest, PromoteShadowRequest, ReleaseStageRequest, ResumeStageRequest, SetStageLimitsRequest,
    Stage, StageLimits,
};

use crate::address::Path;
use crate::form::Form;
use crate::services::methods::{PAUSE_STAGE, PROMOTE_SHADOW, RELEASE_STAGE, RESUME_STAGE, SET_STAGE_LIMITS};
use crate::services::{Failure, Kind};
use crate::view::{button, number, path, reason, token};
use crate::visit::Visit;
use crate::words_mark::w;

/// The form that the buttons beside parked visits belong to.
pub(super) const RELEASE_FORM: &str = "release-form";

fn place(stage: &Stage, act: &str) -> String {
    path(&["stages", &stage.id, act])
}

/// All forms of a stage, for who may use them.
pub(super) fn show(visit: &Visit, stage: &Stage) -> Markup {
    let is_paused = stage.pause.is_set();
    html! {
        h2 { (visit.t("What you can do")) }
        div.acts {
            @if is_paused { (button(visit, &place(stage, "resume"), visit.t("Let it go on"), "main", &html! {})) }
            details #pause {
                summary { (if is_paused { visit.t("Pause it for another reason") } else { visit.t("Pause it") }) }
                form.inline method="post" action=(place(stage, "pause")) {
                    (token(visit))
                    (reason(visit, "pause-reason"))
                    button.danger { (visit.t("Pause")) }
                }
            }
            (limits_form(visit, stage))
            @if stage.shadow.is_set() { (promote_form(visit, stage)) }
        }
        form id=(RELEASE_FORM) method="post" action=(place(stage, "release")) { (token(visit)) }
    }
}

fn limits_form(visit: &Visit, stage: &Stage) -> Markup {
    let ordered = stage.ordered_limits.as_option().cloned().unwrap_or_default();
    let whole = |limit: Option<u32>| limit.map(|limit| limit.to_string()).unwrap_or_default();
    html! {
        details #limits {
            summary { (visit.t("Set its limits")) }
            form.fields method="post" action=(place(stage, "limits")) {
                (token(visit))
                p.hint { (visit.t("For all processes together, also after a restart. What is left empty is the stage's own.")) }
                label for="rate" {
                    (visit.t("Visits in a second"))
                    input #rate name="rate" type="number" min="0" step="any"
                        value=(ordered.rate.map(|rate| rate.to_string()).unwrap_or_default());
                }
                label for="calls_max" {
                    (visit.t("Calls at the same time"))
                    input #calls_max name="calls_max" type="number" min="1" value=(whole(ordered.calls_max));
                }
                label for="batch_max" {
                    (visit.t("Offers in one call"))
                    input #batch_max name="batch_max" type="number" min="1" value=(whole(ordered.batch_max));
                }
                div { button.main { (visit.t("Set the limits")) } }
            }
        }
    }
}

fn promote_form(visit: &Visit, stage: &Stage) -> Markup {
    html! {
        details #promote {
            summary { (visit.t("Let the shadow take its place")) }
            p { (visit.t("The addresses of the shadow become those of the stage.")) }
            form.inline method="post" action=(place(stage, "promote"))
                data-confirm=(visit.f("Let the shadow take the place of stage {0}?", &[&stage.id])) {
                (token(visit))
                button.danger { (visit.t("Let it take the place")) }
            }
        }
    }
}

/// Limits in words.
pub(super) fn limits_in_words(visit: &Visit, limits: &StageLimits) -> String {
    let rate = limits.rate.map(|rate| visit.f("{0} visits in a second", &[&rate]));
    let calls = limits.calls_max.map(|calls| visit.f("{0} calls at the same time", &[&calls]));
    let batch = limits.batch_max.map(|batch| visit.f("{0} offers in one call", &[&batch]));
    [rate, calls, batch].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) async fn pause(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let outcome = match form.reason() {
        Ok(reason) => {
            let request = PauseStageRequest { id: id.clone(), reason, ..PauseStageRequest::default() };
            visit.act(PAUSE_STAGE, &request).await
        }
        Err(failure) => Err(failure),
    };
    let outcome = outcome.map(|_| visit.f("Stage {0} is paused: what comes meanwhile waits.", &[&id]));
    visit.done(&path(&["stages", &id]), outcome)
}

pub(super) async fn resume(visit: Visit, Path(id): Path<String>, _form: Form) -> Response {
    let request = ResumeStageRequest { id: id.clone(), ..ResumeStageRequest::default() };
    let outcome = visit.act(RESUME_STAGE, &request).await;
    let outcome = outcome.map(|_| visit.f("Stage {0} goes on.", &[&id]));
    visit.done(&path(&["stages", &id]), outcome)
}

/// Has parked visits tried again: of one offer, or of all, which a form has to say. Whoever comes from the page of the offer goes back there.
pub(super) async fn release(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let offer = form.text("offer").to_owned();
    let back = match form.text("from") {
        "offer" => path(&["offers", &offer]),
        _ => path(&["stages", &id]),
    };
    let outcome = if offer.is_empty() && !form.is_on("all") {
        Err(Failure::new(Kind::Refused, visit.t("The form does not say what to do.")))
    } else {
        let request = ReleaseStageRequest { id, offer, ..ReleaseStageRequest::default() };
        visit.act(RELEASE_STAGE, &request).await
    };
    let outcome = outcome.map(|answer| visit.f("Released: {0}", &[&number(answer.released)]));
    visit.done(&back, outcome)
}

pub(super) async fn limits(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let outcome = match wanted_limits(&id, &form) {
        Ok(request) => visit.act(SET_STAGE_LIMITS, &request).await,
        Err(failure) => Err(failure),
    };
    let outcome = outcome.map(|answer| {
        let limits = answer.limits.as_option().cloned().unwrap_or_default();
        visit.f("Stage {0} keeps now: {1}", &[&id, &limits_in_words(&visit, &limits)])
    });
    visit.done(&path(&["stages", &id]), outcome)
}

fn wanted_limits(id: &str, form: &Form) -> Result<SetStageLimitsRequest, Failure> {
    Ok(SetStageLimitsRequest {
        id: id.to_owned(),
        rate: given(form, "rate", w("Visits in a second"))?,
        calls_max: given(form, "calls_max", w("Calls at the same time"))?,
        batch_max: given(form, "batch_max", w("Offers in one call"))?,
        ..SetStageLimitsRequest::default()
    })
}

/// The number in a field, unless it was left empty.
fn given<N: std::str::FromStr + Default>(
    form: &Form,
    name: &str,
    label: &'static str,
) -> Result<Option<N>, Failure> {
    if form.text(name).is_empty() { Ok(None) } else { form.number(name, label).map(Some) }
}

pub(super) async fn promote(visit: Visit, Path(id): Path<String>, _form: Form) -> Response {
    let request = PromoteShadowRequest { id: id.clone(), ..PromoteShadowRequest::default() };
    let outcome = visit.act(PROMOTE_SHADOW, &request).await;
    let outcome = outcome.map(|_| visit.f("The shadow of stage {0} has taken its place.", &[&id]));
    visit.done(&path(&["stages", &id]), outcome)
}
