//! Values by how their names begin.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{CtlCurrent, ListValuesRequest};

use super::{change, may_set, shown};
use crate::address::Query;
use crate::layout::Place;
use crate::services::Failure;
use crate::services::methods::LIST_VALUES;
use crate::view::{ago, empty, pager, path, table};
use crate::visit::Visit;

const SHOWN: u32 = 100;

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(default)]
    prefix: String,
    #[serde(default)]
    page: String,
}

pub(super) async fn show(visit: Visit, Query(asked): Query<Asked>) -> Response {
    let body = body(&visit, &asked).await;
    visit.page(Place::Values, visit.t("Values"), body)
}

async fn body(visit: &Visit, asked: &Asked) -> Result<Markup, Failure> {
    let prefix = asked.prefix.trim();
    let request = ListValuesRequest {
        prefix: prefix.to_owned(),
        page_size: SHOWN,
        page_token: asked.page.clone(),
        ..ListValuesRequest::default()
    };
    let answer = visit.call(LIST_VALUES, &request).await;
    // What is wrong with the beginning of a name is told beside the box.
    let (values, wrong) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(failure) if failure.kind == crate::services::Kind::Refused => (None, Some(failure)),
        Err(failure) => return Err(failure),
    };
    Ok(html! {
        p { (visit.t("Up to which moment data is there, how many rows there are: tasks wait on these, and move them.")) }
        form.inline method="get" action="/console/values" {
            label for="prefix" {
                (visit.t("The name begins with"))
                input #prefix name="prefix" value=(prefix) maxlength="200" placeholder="sales.";
            }
            button { (visit.t("Show")) }
        }
        @if let Some(failure) = &wrong { p.notice.bad role="alert" { (failure.text) } }
        @if let Some(values) = &values {
            div data-live #values { (rows(visit, prefix, &values.values)) }
            (pager(visit, "/console/values", &[("prefix", prefix)], &asked.page, &values.next_page_token))
        }
        @if may_set(visit) { (change::form(visit, "")) }
    })
}

fn rows(visit: &Visit, prefix: &str, values: &[CtlCurrent]) -> Markup {
    if values.is_empty() && prefix.is_empty() {
        return empty(
            visit.t("There are no values yet: programs that load data set them, or torg ctl set NAME=VALUE."),
        );
    }
    if values.is_empty() {
        return empty(visit.t("No value has a name that begins so."));
    }
    let head = html! {
        th scope="col" { (visit.t("Value")) }
        th scope="col" { (visit.t("Now")) }
        th.n scope="col" { (visit.t("Version")) }
        th scope="col" { (visit.t("Changed")) }
        th scope="col" { (visit.t("Who")) }
    };
    table(
        visit.t("Values"),
        &head,
        &html! {
            @for value in values {
                @let page = path(&["values", &value.parameter]);
                tr {
                    th scope="row" { a href=(page) { (value.parameter) } }
                    td.held { (shown(visit, value.value.as_option())) }
                    td.n { a href={ (page) "#history" } { (value.version) } }
                    td { (ago(visit, value.change_time.as_option())) }
                    td { (value.author) }
                }
            }
        },
    )
}
