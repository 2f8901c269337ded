//! All stages at a glance.

use std::cmp::Reverse;

use maud::{Markup, html};
use wire::torg::stages::v1::Stage;

use super::{standing, waiting};
use crate::view::{empty, number, path, query, rate, table};
use crate::visit::Visit;

/// What the order is called in addresses in which those come first that fail most.
const BY_FAILURES: &str = "failures";

/// The orders in which stages can be listed.
pub(super) fn orders(visit: &Visit, by: &str) -> Markup {
    let all = path(&["stages"]);
    html! {
        ul.tabs {
            li { a href=(all) aria-current=[(by != BY_FAILURES).then_some("true")] { (visit.t("By name")) } }
            li {
                a href={ (all) (query(&[("by", BY_FAILURES)])) } aria-current=[(by == BY_FAILURES).then_some("true")] {
                    (visit.t("Those that fail most"))
                }
            }
        }
    }
}

pub(super) fn table_of(visit: &Visit, stages: &[Stage], by: &str) -> Markup {
    if stages.is_empty() {
        return empty(visit.t("There are no stages."));
    }
    let mut stages: Vec<&Stage> = stages.iter().collect();
    if by == BY_FAILURES {
        stages.sort_by_key(|stage| Reverse(standing::failures(stage)));
    }
    let head = html! {
        th scope="col" { (visit.t("Stage")) }
        th scope="col" { (visit.t("State")) }
        th.n scope="col" { (visit.t("Fresh")) }
        th.n scope="col" { (visit.t("Timers")) }
        th.n scope="col" { (visit.t("Background")) }
        th.n scope="col" { (visit.t("Parked")) }
        th scope="col" { (visit.t("Oldest due")) }
        th.n scope="col" { (visit.t("Visits in a second")) }
        th.n scope="col" { (visit.t("Failures")) }
        th scope="col" { (visit.t("Kind")) }
    };
    table(visit.t("Stages"), &head, &html! { @for stage in &stages { (row(visit, stage)) } })
}

fn row(visit: &Visit, stage: &Stage) -> Markup {
    let place = path(&["stages", &stage.id]);
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let waits = |lane: &str, offers: u64| {
        html! { td.n { a href=(waiting::place(&stage.id, lane)) { (standing::count(visit, &depth, offers)) } } }
    };
    html! {
        tr {
            th scope="row" { a href=(place) { (stage.id) } }
            td.wide.less { (standing::show(visit, stage)) }
            (waits("fresh", depth.fresh))
            (waits("timers", depth.timers))
            (waits("background", depth.background))
            td.n { a href={ (place) "#parked" } { (standing::count(visit, &depth, depth.parked)) } }
            td { (standing::due(visit, depth.first_visit.as_option())) }
            td.n { a href={ (place) "#processes" } { (rate(standing::visits_per_s(stage))) } }
            td.n { a href={ (place) "#failed" } { (number(standing::failures(stage))) } }
            td {
                (visit.t(standing::kind(stage)))
                @if !stage.version.is_empty() { br; span.quiet { (stage.version) } }
            }
        }
    }
}
