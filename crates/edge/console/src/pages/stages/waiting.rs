//! The queue of a stage, by due time.

use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::stages::v1::waiting::Lane;
use wire::torg::stages::v1::{Depth, GetStageRequest, Waiting};

use super::status;
use crate::address::{Path, Query};
use crate::language::w;
use crate::layout::Section;
use crate::services::Failure;
use crate::view::{ago_of_offers, columns, path, query, table, tabs};
use crate::visit::Visit;

/// Offers of a lane shown by default.
const SHOWN: u32 = 50;
/// Offers of a lane shown on request.
const SHOWN_MAX: u32 = 500;
const LANES: [(&str, Lane, &str); 3] = [
    ("fresh", Lane::LANE_FRESH, w("Fresh")),
    ("timers", Lane::LANE_TIMERS, w("Timers")),
    ("background", Lane::LANE_BACKGROUND, w("Background")),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    lane: String,
    /// Show as many as allowed.
    all: bool,
}

/// The address of the page about a lane: `fresh`, `timers`, `background`.
pub(in crate::pages) fn place(stage: &str, lane: &str) -> String {
    path(&["stages", stage, "waiting"]) + &query(&[("lane", lane)])
}

pub(super) async fn show(visit: Visit, Path(id): Path<String>, Query(params): Query<Params>) -> Response {
    let body = body(&visit, &id, &params).await;
    visit.page(Section::Stages, &visit.f("Queue of stage {0}", &[&id]), body)
}

async fn body(visit: &Visit, id: &str, params: &Params) -> Result<Markup, Failure> {
    let (name, lane, _) = LANES.into_iter().find(|(name, ..)| *name == params.lane).unwrap_or(LANES[0]);
    let most = if params.all { SHOWN_MAX } else { SHOWN };
    let request = GetStageRequest {
        id: id.to_owned(),
        may_be_old: true,
        waiting_max: most,
        waiting_lane: lane.into(),
        ..Default::default()
    };
    let answer = visit.call(&request).await?;
    let depth = answer.stage.depth.as_option().cloned().unwrap_or_default();
    Ok(html! {
        p { a href=(path(&["stages", id])) { (visit.f("Stage {0}", &[&id])) } }
        div data-live #lanes {
            (tabs(LANES.map(|(known, lane, text)| {
                let count = status::count(visit, &depth, of_lane(&depth, lane));
                (place(id, known), format!("{} {count}", visit.t(text)), known == name)
            })))
        }
        div data-live #waiting {
            @if is_cut(&depth, lane, answer.waiting.len()) {
                p.hint {
                    (visit.f("Showing the first {0}. There are more.", &[&most]))
                    @if !params.all { " " a href={ (place(id, name)) "&all=true" } { (visit.f("Show up to {0}", &[&SHOWN_MAX])) } }
                }
            }
            (rows(visit, &answer.waiting))
        }
    })
}

/// Whether more offers wait than are shown. The count may be some seconds old.
fn is_cut(depth: &Depth, lane: Lane, shown: usize) -> bool {
    shown >= SHOWN as usize
        && (of_lane(depth, lane) > shown as u64 || status::is_more(depth, of_lane(depth, lane)))
}

fn of_lane(depth: &Depth, lane: Lane) -> u64 {
    match lane {
        Lane::LANE_TIMERS => depth.timers,
        Lane::LANE_BACKGROUND => depth.background,
        _ => depth.fresh,
    }
}

fn rows(visit: &Visit, waiting: &[Waiting]) -> Markup {
    let columns = columns![text "Offer", text "Due"];
    let rows = waiting.iter().map(|visited| {
        html! {
            th scope="row" { a href=(path(&["offers", &visited.id])) { (visited.id) } }
            td { (ago_of_offers(visit, visited.visit.as_option())) }
        }
    });
    table(visit, visit.t("Waiting"), &columns, visit.t("This lane is empty."), rows)
}
