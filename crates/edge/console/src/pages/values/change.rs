//! Setting and deleting values.

use axum::response::Response;
use maud::{Markup, html};
use wire::torg::tasks::v1::{CtlChange, CtlDone, SetValuesRequest};

use super::text_of;
use super::value::read;
use crate::address::Path;
use crate::form::Form;
use crate::services::Failure;
use crate::view::{path, reason, token};
use crate::visit::Visit;

/// A form to set a value; it asks for the name if none is given.
pub(super) fn form(visit: &Visit, name: &str) -> Markup {
    html! {
        details #set {
            summary { (visit.t("Set a value")) }
            form.fields method="post" action="/console/values/set" {
                (token(visit))
                input type="hidden" name="from" value=(name);
                @if name.is_empty() {
                    label for="parameter" { (visit.t("Name, such as sales.loaded_to")) input #parameter name="parameter" required maxlength="300"; }
                } @else { input type="hidden" name="parameter" value=(name); }
                label for="given" {
                    (visit.t("Value: a time such as 2026-03-25T08:05:00Z, the word now, or a whole number"))
                    input #given name="value" required maxlength="64";
                }
                label.box for="back" {
                    input #back type="checkbox" name="may_move_back"; " "
                    (visit.t("Allow a value below the current one: tasks that saw a higher value do not fire until it is exceeded"))
                }
                label.box for="same" {
                    input #same type="checkbox" name="even_if_same"; " "
                    (visit.t("Count as a change even if the value is the same"))
                }
                (reason(visit, "set-reason"))
                div { button.main { (visit.t("Set")) } }
            }
        }
    }
}

pub(super) fn deletion(visit: &Visit, name: &str) -> Markup {
    html! {
        details #delete {
            summary { (visit.t("Delete the value")) }
            form.fields method="post" action=(path(&["values", name, "delete"]))
                data-confirm=(visit.f("Delete the value of {0}?", &[&name])) {
                (token(visit))
                p.hint { (visit.t("Tasks that read it do not fire by it until it is set again. Its history stays.")) }
                (reason(visit, "delete-reason"))
                div { button.danger { (visit.t("Delete the value")) } }
            }
        }
    }
}

pub(super) async fn set(visit: Visit, form: Form) -> Response {
    let name = form.text("parameter");
    // The page of the form keeps the input.
    let back = match form.text("from") {
        "" => "/console/values".to_owned(),
        from => path(&["values", from]),
    };
    let value = match read(&visit, form.text("value")) {
        Ok(value) => value,
        Err(failure) => return visit.done(&back, Err(failure)),
    };
    let change = CtlChange {
        parameter: name.to_owned(),
        value: Some(value).into(),
        may_move_back: form.is_on("may_move_back"),
        even_if_same: form.is_on("even_if_same"),
        ..Default::default()
    };
    match changed(&visit, change, &form).await {
        Ok(message) => visit.done(&path(&["values", name]), Ok(message)),
        Err(failure) => visit.done(&back, Err(failure)),
    }
}

pub(super) async fn delete(visit: Visit, Path(name): Path<String>, form: Form) -> Response {
    let back = path(&["values", &name]);
    let change = CtlChange { parameter: name, delete: true, ..Default::default() };
    let outcome = changed(&visit, change, &form).await;
    visit.done(&back, outcome)
}

async fn changed(visit: &Visit, change: CtlChange, form: &Form) -> Result<String, Failure> {
    let reason = form.reason()?;
    let request = SetValuesRequest { changes: vec![change], reason, ..Default::default() };
    let done: CtlDone = visit.act(&request).await?.done.into_iter().next().unwrap_or_default();
    let (before, after) = (text_of(done.before.as_option()), text_of(done.after.as_option()));
    Ok(match (done.changed, done.after.is_set()) {
        (true, _) => visit.f("{0}: {1} → {2}", &[&done.parameter, &before, &after]),
        (false, true) => visit.f("{0} is {1} already: nothing changed.", &[&done.parameter, &after]),
        (false, false) => visit.f("{0} has no value: nothing changed.", &[&done.parameter]),
    })
}
