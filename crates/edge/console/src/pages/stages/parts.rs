//! The parts of the page about a stage.

use access::Action;
use buffa_types::google::protobuf::{Duration, FieldMask};
use maud::{Markup, html};
use wire::torg::stages::v1::{Endpoint, FailedVisit, OutsideStage, Parked, Stage};

use super::forms::{RELEASE_FORM, limits_in_words};
use super::{standing, waiting};
use crate::view::{
    Tone, ago_of_offers, amount, empty, length, long, number, path, rate, state, table, time_of,
};
use crate::visit::Visit;

/// Parked visits that are shown, if somebody wants to see more than some.
pub(super) const PARKED_SHOWN_MAX: u32 = 500;

/// What it is, and how it is.
pub(super) fn about(visit: &Visit, stage: &Stage) -> Markup {
    html! {
        div.card {
            dl.facts {
                dt { (visit.t("State")) } dd { (standing::show(visit, stage)) }
                dt { (visit.t("Kind")) } dd { (visit.t(standing::kind(stage))) }
                @if !stage.version.is_empty() { dt { (visit.t("Version")) } dd { (stage.version) } }
                @if let Some(limits) = stage.limits.as_option() {
                    dt { (visit.t("Limits")) }
                    dd {
                        (limits_in_words(visit, limits))
                        @if stage.ordered_limits.is_set() { " " (state(Tone::Plain, visit.t("ordered"))) }
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
        dt { (visit.t("May change")) }
        dd { @if may_change.is_empty() { (visit.t("nothing: it only looks")) } @else { (may_change) } }
        @if !interest.is_empty() { dt { (visit.t("Hears of")) } dd { (interest) } }
        @if let Some(timeout) = outside.timeout.as_option() {
            dt { (visit.t("One call may take")) } dd { (length(visit, seconds_of(timeout))) }
        }
        @if let Some(share) = outside.timer_share { dt { (visit.t("Part of timers")) } dd { (amount(share)) } }
        @if let Some(share) = outside.background_share { dt { (visit.t("Part of the background")) } dd { (amount(share)) } }
        @if let Some(shadow) = outside.shadow.as_option() {
            dt { (visit.t("Shadow")) } dd { (shadow.endpoints.join(", ")) }
        }
    }
}

fn seconds_of(length: &Duration) -> f64 {
    length.seconds as f64 + f64::from(length.nanos) / 1e9
}

/// What waits for it.
pub(super) fn depth(visit: &Visit, stage: &Stage) -> Markup {
    let depth = stage.depth.as_option().cloned().unwrap_or_default();
    let lanes = [
        (
            "fresh",
            visit.t("Fresh"),
            depth.fresh,
            &depth.first_fresh,
            visit.t("Offers that have just changed"),
        ),
        (
            "timers",
            visit.t("Timers"),
            depth.timers,
            &depth.first_timer,
            visit.t("Visits that the stage asked for, also those ahead"),
        ),
        (
            "background",
            visit.t("Background"),
            depth.background,
            &depth.first_background,
            visit.t("Visits of the re-crawl"),
        ),
    ];
    html! {
        div.cards {
            @for (lane, name, offers, first, meaning) in lanes {
                div.card.figure {
                    div.label { (name) }
                    div.number { a href=(waiting::place(&stage.id, lane)) { (standing::count(visit, &depth, offers)) } }
                    @if let Some(first) = first.as_option() { div { (standing::due(visit, Some(first))) } }
                    div.quiet { (meaning) }
                }
            }
            div.card.figure {
                div.label { (visit.t("Parked")) }
                div.number { a href="#parked" { (standing::count(visit, &depth, depth.parked)) } }
                div.quiet { (visit.t("Failed too often")) }
            }
            div.card.figure {
                div.label { (visit.t("Oldest due")) }
                div { (standing::due(visit, depth.first_visit.as_option())) }
            }
        }
    }
}

/// How it fares in every process.
pub(super) fn processes(visit: &Visit, stage: &Stage) -> Markup {
    let (processes, is_outside) = (&stage.processes, !stage.endpoints.is_empty());
    if processes.is_empty() {
        return empty(visit.t("No process serves this stage at the moment."));
    }
    let head = html! {
        th scope="col" { (visit.t("Process")) }
        th scope="col" { (visit.t("State")) }
        th.n scope="col" { (visit.t("Visits in a second")) }
        th.n scope="col" { (visit.t("Calls under way")) }
        th scope="col" { (visit.t("What stands in its way")) }
        th.n scope="col" { (visit.t("Visits")) }
        th.n scope="col" { (visit.t("Changes")) }
        th.n scope="col" { (visit.t("Failures")) }
    };
    table(
        visit.t("In every process"),
        &head,
        &html! {
            @for process in processes {
                tr {
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
                        @else { (standing::block(visit, &process.blocked)) }
                    }
                    td.n { a href="#plots" { (number(process.visits)) } }
                    td.n { (number(process.changes)) }
                    td.n { a href="#failed" { (number(process.failures)) } }
                }
            }
        },
    )
}

/// Where it is called.
pub(super) fn endpoints(visit: &Visit, endpoints: &[Endpoint]) -> Markup {
    let head = html! {
        th scope="col" { (visit.t("Address")) }
        th scope="col" { (visit.t("State")) }
        th.n scope="col" { (visit.t("Calls")) }
        th.n scope="col" { (visit.t("Failures")) }
        th scope="col" { (visit.t("Last error")) }
    };
    table(
        visit.t("Endpoints"),
        &head,
        &html! {
            @for endpoint in endpoints {
                tr {
                    th scope="row" { code { (endpoint.address) } }
                    td {
                        @if endpoint.out { (state(Tone::Bad, visit.t("taken out, and probed"))) }
                        @else { (state(Tone::Good, visit.t("works"))) }
                    }
                    td.n { a href="#plots" { (number(endpoint.calls)) } }
                    td.n { a href="#failed" { (number(endpoint.failures)) } }
                    td.wide { (long(&format!("endpoint-{}", endpoint.address), &endpoint.last_error)) }
                }
            }
        },
    )
}

/// The last visits that failed, the newest first.
pub(super) fn failed(visit: &Visit, failed: &[FailedVisit]) -> Markup {
    if failed.is_empty() {
        return empty(visit.t("No visit has failed since the processes began."));
    }
    let head = html! {
        th scope="col" { (visit.t("Offer")) }
        th scope="col" { (visit.t("What failed")) }
        th scope="col" { (visit.t("When")) }
        th scope="col" { (visit.t("What comes of it")) }
        th scope="col" { (visit.t("Process")) }
    };
    let rows = html! {
        @for visited in failed {
            tr {
                th scope="row" { a href=(path(&["offers", &visited.id])) { (visited.id) } }
                td.wide { (long(&failure_id(visited), &visited.error)) }
                td { (ago_of_offers(visit, visited.time.as_option())) }
                td {
                    @if visited.parked { (state(Tone::Warn, visit.t("parked"))) }
                    @else { (visit.t("is tried again")) }
                }
                td { code { (visited.process) } }
            }
        }
    };
    html! {
        p.hint { (visit.t("Each process remembers its last failures only.")) }
        (table(visit.t("Visits that failed last"), &head, &rows))
    }
}

/// Tells a failed visit from the others.
fn failure_id(visited: &FailedVisit) -> String {
    let at = visited.time.as_option().map_or(0, |time| time_of(time).as_ms());
    format!("failure-{}-{at}", visited.id)
}

/// Visits that failed too often, some of them.
pub(super) fn parked(visit: &Visit, stage: &Stage, parked: &[Parked]) -> Markup {
    if parked.is_empty() {
        return empty(visit.t("No visit is parked."));
    }
    let offered = visit.may(Action::Administer);
    let head = html! {
        th scope="col" { (visit.t("Offer")) }
        th scope="col" { (visit.t("What failed")) }
        th.n scope="col" { (visit.t("Attempts")) }
        th scope="col" { (visit.t("Parked since")) }
        @if offered { th scope="col" { (visit.t("Release")) } }
    };
    let rows = html! {
        @for visited in parked {
            tr {
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
        }
    };
    let all = stage.depth.as_option().map_or(0, |depth| depth.parked);
    html! {
        @if all > parked.len() as u64 {
            p.hint {
                (visit.f("These are {0} of {1}. Others take their place here when these are released.", &[&parked.len(), &number(all)]))
                @if (parked.len() as u64) < u64::from(PARKED_SHOWN_MAX) {
                    " " a href={ (path(&["stages", &stage.id])) "?parked=" (PARKED_SHOWN_MAX) "#parked" } { (visit.f("Show up to {0}", &[&PARKED_SHOWN_MAX])) }
                }
            }
        }
        (table(visit.t("Parked visits"), &head, &rows))
        @if offered {
            p { button #release-all form=(RELEASE_FORM) name="all" value="on" data-confirm=(visit.t("Try all of them again?")) { (visit.t("Release all")) } }
        }
    }
}
