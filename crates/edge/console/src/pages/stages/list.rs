//! The list of stages.

use std::cmp::Reverse;

use maud::{Markup, html};
use wire::torg::stages::v1::Stage;

use super::{status, waiting};
use crate::view::{columns, number, path, query, rate, table, tabs};
use crate::visit::Visit;

/// The sort order by failures, in addresses.
const BY_FAILURES: &str = "failures";

pub(super) fn orders(visit: &Visit, by: &str) -> Markup {
    let all = path(&["stages"]);
    let by_failures = all.clone() + &query(&[("by", BY_FAILURES)]);
    tabs([
        (all, visit.t("By name").to_owned(), by != BY_FAILURES),
        (by_failures, visit.t("By failures").to_owned(), by == BY_FAILURES),
    ])
}

pub(super) fn table_of(visit: &Visit, stages: &[Stage], by: &str) -> Markup {
    let mut stages: Vec<&Stage> = stages.iter().collect();
    if by == BY_FAILURES {
        stages.sort_by_key(|stage| Reverse(status::failures(stage)));
    }
    let columns = columns![
        text "Stage", text "State", number "Fresh", number "Timers", number "Background",
        number "Parked", text "Oldest due", number "Visits per second", number "Failures", text "Kind",
    ];
    table(
        visit,
        visit.t("Stages"),
        &columns,
        visit.t("There are no stages."),
        stages.iter().map(|stage| row(visit, stage)),
    )
}

fn row(visit: &Visit, stage: &Stage) -> Markup {
    let place = path(&["stages", &stage.id]);
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let waits = |lane: &str, offers: u64| {
        html! { td.n { a href=(waiting::place(&stage.id, lane)) { (status::count(visit, &depth, offers)) } } }
    };
    html! {
        th scope="row" { a href=(place) { (stage.id) } }
        td.wide.less { (status::show(visit, stage)) }
        (waits("fresh", depth.fresh))
        (waits("timers", depth.timers))
        (waits("background", depth.background))
        td.n { a href={ (place) "#parked" } { (status::count(visit, &depth, depth.parked)) } }
        td { (status::due(visit, depth.first_visit.as_option())) }
        td.n { a href={ (place) "#processes" } { (rate(status::visits_per_s(stage))) } }
        td.n { a href={ (place) "#failed" } { (number(status::failures(stage))) } }
        td {
            (visit.t(status::kind(stage)))
            @if !stage.version.is_empty() { br; span.quiet { (stage.version) } }
        }
    }
}
