//! Sections of the page of a stage.

use access::Action;
use buffa_types::google::protobuf::{Duration, FieldMask};
use maud::{Markup, html};
use wire::torg::stages::v1::{Endpoint, FailedVisit, OutsideStage, Parked, Stage};

use super::forms::{RELEASE_FORM, limits_in_words};
use super::{status, waiting};
use crate::language::w;
use crate::view::{
    Column, Tone, ago_of_offers, amount, columns, empty, figure, length, long, number, path, rate, state,
    table, time_of,
};
use crate::visit::Visit;

/// Parked visits shown on request.
pub(super) const PARKED_SHOWN_MAX: u32 = 500;

pub(super) fn about(visit: &Visit, stage: &Stage) -> Markup {
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("State")) } dd { (status::show(visit, stage)) }
                dt { (visit.t("Kind")) } dd { (visit.t(status::kind(stage))) }
                @if !stage.version.is_empty() { dt { (visit.t("Version")) } dd { (stage.version) } }
                @if let Some(limits) = stage.limits.as_option() {
                    dt { (visit.t("Limits")) }
                    dd {
                        (limits_in_words(visit, limits))
                        @if stage.ordered_limits.is_set() { " " (state(Tone::Plain, visit.t("set by an operator"))) }
                    }
                }
                @if let Some(outside) = stage.outside.as_option() { (outside_facts(visit, outside)) }
            }
        }
    }
}

fn outside_facts(visit: &Visit, outside: &OutsideStage) -> Markup {
    let fields = |mask: Option<&FieldMask>| mask.map(|mask| mask.paths.join(", ")).unwrap_or_default();
    let (may_change, interest) =
        (fields(outside.may_change.as_option()), fields(outside.interest.as_option()));
    html! {
        dt { (visit.t("May change")) } dd { @if may_change.is_empty() { (visit.t("nothing: read-only")) } @else { (may_change) } }
        @if !interest.is_empty() { dt { (visit.t("Watches fields")) } dd { (interest) } }
        @if let Some(timeout) = outside.timeout.as_option() {
            dt { (visit.t("Call timeout")) } dd { (length(visit, seconds_of(timeout))) }
        }
        @if let Some(share) = outside.timer_share { dt { (visit.t("Share of timers")) } dd { (amount(share)) } }
        @if let Some(share) = outside.background_share { dt { (visit.t("Share of background work")) } dd { (amount(share)) } }
        @if let Some(shadow) = outside.shadow.as_option() {
            dt { (visit.t("Shadow")) } dd { (shadow.endpoints.join(", ")) }
        }
    }
}

fn seconds_of(length: &Duration) -> f64 {
    length.seconds as f64 + f64::from(length.nanos) / 1e9
}

pub(super) fn depth(visit: &Visit, stage: &Stage) -> Markup {
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let lanes = [
        ("fresh", visit.t("Fresh"), depth.fresh, &depth.first_fresh, w("Offers that have just changed")),
        (
            "timers",
            visit.t("Timers"),
            depth.timers,
            &depth.first_timer,
            w("Visits that the stage asked for, including future ones"),
        ),
        (
            "background",
            visit.t("Background"),
            depth.background,
            &depth.first_background,
            w("Visits of the re-crawl"),
        ),
    ];
    html! {
        div.cards {
            @for (lane, name, offers, first, meaning) in lanes {
                (figure(name, &html! { a href=(waiting::place(&stage.id, lane)) { (status::count(visit, &depth, offers)) } }, &html! {
                    @if let Some(first) = first.as_option() { div { (status::due(visit, Some(first))) } }
                    div.quiet { (visit.t(meaning)) }
                }))
            }
            (figure(visit.t("Parked"), &html! { a href="#parked" { (status::count(visit, &depth, depth.parked)) } },
                &html! { div.quiet { (visit.t("Failed too often")) } }))
            (figure(visit.t("Oldest due"), &html! {}, &html! { div { (status::due(visit, depth.first_visit.as_option())) } }))
        }
    }
}

pub(super) fn processes(visit: &Visit, stage: &Stage) -> Markup {
    let (processes, is_outside) = (&stage.processes, !stage.endpoints.is_empty());
    let columns = columns![
        text "Process", text "State", number "Visits per second", number "Calls in progress",
        text "Blocked by", number "Visits", number "Changes", number "Failures",
    ];
    let rows = processes.iter().map(|process| html! {
        th scope="row" { a href=(path(&["cluster"])) { code { (process.process) } } }
        td.wide {
            @if let Some(since) = process.down_since.as_option() {
                (state(Tone::Bad, visit.t("does not answer"))) " " (ago_of_offers(visit, Some(since)))
                br; span.quiet { (long(&format!("down-{}", process.process), &process.error)) }
            } @else { (state(Tone::Good, visit.t("works"))) }
        }
        td.n { a href="#plots" { (rate(process.visits_per_s)) } }
        td.n { @if is_outside { a href="#endpoints" { (number(process.calls)) } } @else { (number(process.calls)) } }
        td {
            @if process.blocked.is_empty() { (visit.t("nothing")) }
            @else { (status::block(visit, &process.blocked)) }
        }
        td.n { a href="#plots" { (number(process.visits)) } }
        td.n { (number(process.changes)) }
        td.n { a href="#failed" { (number(process.failures)) } }
    });
    table(visit, visit.t("By process"), &columns, visit.t("No process serves this stage."), rows)
}

pub(super) fn endpoints(visit: &Visit, endpoints: &[Endpoint]) -> Markup {
    let columns = columns![
        text "Address", text "State", number "Calls", number "Failures", text "Last error",
    ];
    let rows = endpoints.iter().map(|endpoint| {
        html! {
            th scope="row" { code { (endpoint.address) } }
            td {
                @if endpoint.out { (state(Tone::Bad, visit.t("excluded, being probed"))) }
                @else { (state(Tone::Good, visit.t("works"))) }
            }
            td.n { a href="#plots" { (number(endpoint.calls)) } }
            td.n { a href="#failed" { (number(endpoint.failures)) } }
            td.wide { (long(&format!("endpoint-{}", endpoint.address), &endpoint.last_error)) }
        }
    });
    table(visit, visit.t("Endpoints"), &columns, "", rows)
}

/// The last failed visits, newest first.
pub(super) fn failed(visit: &Visit, failed: &[FailedVisit]) -> Markup {
    if failed.is_empty() {
        return empty(visit.t("No failed visits since the processes started."));
    }
    let columns = columns![
        text "Offer", text "Failure", text "When", text "What happens next", text "Process",
    ];
    let rows = failed.iter().map(|visited| {
        html! {
            th scope="row" { a href=(path(&["offers", &visited.id])) { (visited.id) } }
            td.wide { (long(&failure_id(visited), &visited.error)) }
            td { (ago_of_offers(visit, visited.time.as_option())) }
            td {
                @if visited.parked { (state(Tone::Warn, visit.t("parked"))) }
                @else { (visit.t("is retried")) }
            }
            td { code { (visited.process) } }
        }
    });
    html! {
        p.hint { (visit.t("Each process remembers its last failures only.")) }
        (table(visit, visit.t("Last failed visits"), &columns, "", rows))
    }
}

/// A unique id for a failed visit.
fn failure_id(visited: &FailedVisit) -> String {
    let at = visited.time.as_option().map_or(0, |time| time_of(time).as_ms());
    format!("failure-{}-{at}", visited.id)
}

/// Some of the parked visits.
pub(super) fn parked(visit: &Visit, stage: &Stage, parked: &[Parked]) -> Markup {
    if parked.is_empty() {
        return empty(visit.t("No visit is parked."));
    }
    let offered = visit.may(Action::Administer);
    let mut columns = columns![text "Offer", text "Failure", number "Attempts", text "Parked since"].to_vec();
    columns.extend(offered.then_some(Column::text(w("Release"))));
    let rows = parked.iter().map(|visited| {
        html! {
            th scope="row" { a href=(path(&["offers", &visited.id])) { (visited.id) } }
            td.wide { (long(&format!("parked-{}", visited.id), &visited.error)) }
            td.n { (visited.attempts) }
            td { (ago_of_offers(visit, visited.time.as_option())) }
            @if offered {
                td {
                    button id={ "release-" (visited.id) } form=(RELEASE_FORM) name="offer" value=(visited.id)
                        aria-label=(visit.f("Release {0}", &[&visited.id])) { (visit.t("Release")) }
                }
            }
        }
    });
    let all = stage.depth.as_option().map_or(0, |depth| depth.parked);
    html! {
        @if all > parked.len() as u64 {
            p.hint {
                (visit.f("Showing {0} of {1}. More appear when these are released.", &[&parked.len(), &number(all)]))
                @if (parked.len() as u64) < u64::from(PARKED_SHOWN_MAX) {
                    " " a href={ (path(&["stages", &stage.id])) "?parked=" (PARKED_SHOWN_MAX) "#parked" } { (visit.f("Show up to {0}", &[&PARKED_SHOWN_MAX])) }
                }
            }
        }
        (table(visit, visit.t("Parked visits"), &columns, "", rows))
        @if offered {
            p { button #release-all form=(RELEASE_FORM) name="all" value="on" data-confirm=(visit.t("Retry all of them?")) { (visit.t("Release all")) } }
        }
    }
}
