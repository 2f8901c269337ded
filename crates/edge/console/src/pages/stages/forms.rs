//! The actions of operators on a stage.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::stages::v1::{
    PauseStageRequest, PromoteShadowRequest, ReleaseStageRequest, ResumeStageRequest, SetStageLimitsRequest,
    SetStageLimitsResponse, Stage, StageLimits,
};

use crate::address::Path;
use crate::form::Form;
use crate::language::w;
use crate::services::{Failure, Kind};
use crate::view::{button, number, path, reason, token};
use crate::visit::Visit;

/// The form of the release buttons.
pub(super) const RELEASE_FORM: &str = "release-form";

fn place(stage: &Stage, act: &str) -> String {
    path(&["stages", &stage.id, act])
}

pub(super) fn show(visit: &Visit, stage: &Stage) -> Markup {
    let is_paused = stage.pause.is_set();
    html! {
        h2 { (visit.t("What you can do")) }
        div.acts {
            @if is_paused { (button(visit, &place(stage, "resume"), visit.t("Resume it"), "main", &html! {})) }
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
                p.hint { (visit.t("For all processes together, kept across restarts. An empty field means the stage's own limit.")) }
                label for="rate" {
                    (visit.t("Visits per second"))
                    input #rate name="rate" type="number" min="0" step="any"
                        value=(ordered.rate.map(|rate| rate.to_string()).unwrap_or_default());
                }
                label for="calls_max" {
                    (visit.t("Concurrent calls"))
                    input #calls_max name="calls_max" type="number" min="1" value=(whole(ordered.calls_max));
                }
                label for="batch_max" {
                    (visit.t("Offers per call"))
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
            summary { (visit.t("Promote the shadow")) }
            p { (visit.t("The addresses of the shadow become those of the stage.")) }
            form.inline method="post" action=(place(stage, "promote"))
                data-confirm=(visit.f("Promote the shadow of stage {0}?", &[&stage.id])) {
                (token(visit))
                button.danger { (visit.t("Promote")) }
            }
        }
    }
}

pub(super) fn limits_in_words(visit: &Visit, limits: &StageLimits) -> String {
    let rate = limits.rate.map(|rate| visit.f("{0} visits per second", &[&rate]));
    let calls = limits.calls_max.map(|calls| visit.f("{0} concurrent calls", &[&calls]));
    let batch = limits.batch_max.map(|batch| visit.f("{0} offers per call", &[&batch]));
    [rate, calls, batch].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub(super) async fn pause(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let request =
        form.reason().map(|reason| PauseStageRequest { id: id.clone(), reason, ..Default::default() });
    let say = |_| visit.f("Stage {0} is paused: new visits wait.", &[&id]);
    visit.submit(&path(&["stages", &id]), request, say).await
}

pub(super) async fn resume(visit: Visit, Path(id): Path<String>, _form: Form) -> Response {
    let request = ResumeStageRequest { id: id.clone(), ..Default::default() };
    visit.submit(&path(&["stages", &id]), Ok(request), |_| visit.f("Stage {0} is resumed.", &[&id])).await
}

/// Retries parked visits: of one offer, or of all, which the form has to say explicitly. A form on
/// the page of an offer leads back there.
pub(super) async fn release(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let offer = form.text("offer").to_owned();
    let back = match form.text("from") {
        "offer" => path(&["offers", &offer]),
        _ => path(&["stages", &id]),
    };
    let request = if offer.is_empty() && !form.is_on("all") {
        Err(Failure::new(Kind::Refused, visit.t("The form names no action.")))
    } else {
        Ok(ReleaseStageRequest { id, offer, ..Default::default() })
    };
    visit.submit(&back, request, |answer| visit.f("Released: {0}", &[&number(answer.released)])).await
}

pub(super) async fn limits(visit: Visit, Path(id): Path<String>, form: Form) -> Response {
    let say = |answer: SetStageLimitsResponse| {
        let limits = answer.limits.as_option().cloned().unwrap_or_default();
        visit.f("Limits of stage {0}: {1}", &[&id, &limits_in_words(&visit, &limits)])
    };
    visit.submit(&path(&["stages", &id]), wanted_limits(&id, &form), say).await
}

fn wanted_limits(id: &str, form: &Form) -> Result<SetStageLimitsRequest, Failure> {
    Ok(SetStageLimitsRequest {
        id: id.to_owned(),
        rate: form.optional_number("rate", w("Visits per second"))?,
        calls_max: form.optional_number("calls_max", w("Concurrent calls"))?,
        batch_max: form.optional_number("batch_max", w("Offers per call"))?,
        ..Default::default()
    })
}

pub(super) async fn promote(visit: Visit, Path(id): Path<String>, _form: Form) -> Response {
    let request = PromoteShadowRequest { id: id.clone(), ..Default::default() };
    let say = |_| visit.f("The shadow of stage {0} was promoted.", &[&id]);
    visit.submit(&path(&["stages", &id]), Ok(request), say).await
}
