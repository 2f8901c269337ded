//! The list of values by prefix.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::tasks::v1::{CtlCurrent, ListValuesRequest};

use super::{change, may_set, shown};
use crate::address::Query;
use crate::language::w;
use crate::layout::Section;
use crate::services::Failure;
use crate::view::{ago, columns, pager, path, table};
use crate::visit::Visit;

const SHOWN: u32 = 100;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    prefix: String,
    page: String,
}

pub(super) async fn show(visit: Visit, Query(params): Query<Params>) -> Response {
    let body = body(&visit, &params).await;
    visit.page(Section::Values, visit.t("Values"), body)
}

async fn body(visit: &Visit, params: &Params) -> Result<Markup, Failure> {
    let prefix = params.prefix.trim();
    let request = ListValuesRequest {
        prefix: prefix.to_owned(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        ..Default::default()
    };
    let answer = visit.call(&request).await;
    // An invalid prefix is reported next to its field.
    let (values, wrong) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(failure) if failure.kind == crate::services::Kind::Refused => (None, Some(failure)),
        Err(failure) => return Err(failure),
    };
    Ok(html! {
        p { (visit.t("How far data is loaded, how many rows there are: tasks wait for these values and move them.")) }
        form.inline method="get" action="/console/values" {
            label for="prefix" { (visit.t("Name prefix")) input #prefix name="prefix" value=(prefix) maxlength="200" placeholder="sales."; }
            button { (visit.t("Show")) }
        }
        @if let Some(failure) = &wrong { p.notice.bad role="alert" { (failure.text) } }
        @if let Some(values) = &values {
            div data-live #values { (rows(visit, prefix, &values.values)) }
            (pager(visit, "/console/values", &[("prefix", prefix)], &params.page, &values.next_page_token))
        }
        @if may_set(visit) { (change::form(visit, "")) }
    })
}

fn rows(visit: &Visit, prefix: &str, values: &[CtlCurrent]) -> Markup {
    let none = if prefix.is_empty() {
        w("No values yet: programs that load data set them, or torg ctl set NAME=VALUE.")
    } else {
        w("No value has a name with this prefix.")
    };
    let columns = columns![text "Value", text "Now", number "Version", text "Changed", text "Who"];
    let rows = values.iter().map(|value| {
        html! {
            @let page = path(&["values", &value.parameter]);
            th scope="row" { a href=(page) { (value.parameter) } }
            td.held { (shown(visit, value.value.as_option())) }
            td.n { a href={ (page) "#history" } { (value.version) } }
            td { (ago(visit, value.change_time.as_option())) }
            td { (value.author) }
        }
    });
    table(visit, visit.t("Values"), &columns, visit.t(none), rows)
}
