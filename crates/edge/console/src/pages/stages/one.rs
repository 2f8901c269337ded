//! The page of one stage.

use access::Action;
use maud::{Markup, html};
use wire::torg::admin::v1::{GetFiguresRequest, ListActionsRequest, ListActionsResponse};
use wire::torg::stages::v1::GetStageRequest;

use super::{forms, parts, plots, shadow};
use crate::pages::actions;
use crate::services::Failure;
use crate::view::{part, path, query};
use crate::visit::Visit;

/// Recorded actions that are shown.
const ACTIONS_SHOWN: u32 = 10;
/// The prefix of methods that act on stages.
const METHODS: &str = "torg.stages.";

pub(super) async fn show(visit: &Visit, id: &str, parked: u32) -> Result<Markup, Failure> {
    let stage = GetStageRequest {
        id: id.to_owned(),
        may_be_old: true,
        parked_max: parked.min(parts::PARKED_SHOWN_MAX),
        ..Default::default()
    };
    let figures = GetFiguresRequest {
        prefix: plots::PREFIX.to_owned(),
        points_max: plots::POINTS,
        labels: [(plots::STAGE_LABEL.to_owned(), id.to_owned())].into(),
        ..Default::default()
    };
    let done = ListActionsRequest {
        about: id.to_owned(),
        // Another object may have the same name.
        method_prefix: METHODS.to_owned(),
        page_size: ACTIONS_SHOWN,
        ..Default::default()
    };
    let (answer, figures, done) = tokio::join!(visit.call(&stage), visit.call(&figures), visit.call(&done),);
    let answer = answer?;
    let stage = answer.stage.as_option().cloned().unwrap_or_default();
    Ok(html! {
        div data-live #about { (parts::about(visit, &stage)) }
        @if visit.may(Action::Administer) { div data-live #forms { (forms::show(visit, &stage)) } }
        h2 { (visit.t("Waiting")) }
        div data-live #depth { (parts::depth(visit, &stage)) }
        p { a href={ (path(&["stages"])) "#re-crawl" } { (visit.t("Re-crawl of all offers")) } }
        h2 { (visit.t("Over time")) }
        div data-live #plots { (part(visit, &figures, |figures| plots::show(visit, figures, id))) }
        h2 { (visit.t("By process")) }
        div data-live #processes { (parts::processes(visit, &stage)) }
        @if !stage.endpoints.is_empty() {
            h2 { (visit.t("Endpoints")) }
            div data-live #endpoints { (parts::endpoints(visit, &stage.endpoints)) }
        }
        h2 { (visit.t("Last failed visits")) }
        div data-live #failed { (parts::failed(visit, &answer.failed)) }
        h2 { (visit.t("Parked visits")) }
        div data-live #parked { (parts::parked(visit, &stage, &answer.parked)) }
        @if let Some(report) = stage.shadow.as_option() {
            h2 { (visit.t("Shadow")) }
            div data-live #shadow { (shadow::show(visit, report)) }
        }
        h2 { (visit.t("Recorded actions")) }
        div data-live #actions { (part(visit, &done, |done| recorded(visit, done, id))) }
    })
}

fn recorded(visit: &Visit, done: &ListActionsResponse, id: &str) -> Markup {
    let none = visit.t("No actions on this stage yet.");
    html! {
        (actions::recorded(visit, visit.t("Recorded actions"), none, &done.actions))
        @if !done.actions.is_empty() {
            p { a href={ (path(&["actions"])) (query(&[("about", id)])) } { (visit.t("Show all")) } }
        }
    }
}
