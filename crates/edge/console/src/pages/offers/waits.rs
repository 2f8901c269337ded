//! What an offer waits for in a stage, since when, and why.

use maud::{Markup, html};
use wire::torg::offers::v1::explain_offer_response::StageStanding;
use wire::torg::offers::v1::explain_offer_response::stage_standing::{LastVisit, Waits, Why};

use crate::language::w;
use crate::view::{Tone, ago_of_offers, cut, path, state};
use crate::visit::Visit;

pub(super) fn is_parked(stage: &StageStanding) -> bool {
    stage.waits == Waits::WAITS_PARKED
}

pub(super) fn show(visit: &Visit, stage: &StageStanding) -> Markup {
    let Some(text) = waits(stage) else {
        // A state that this console does not know yet.
        return html! { span lang="en" { (cut(&stage.standing)) } };
    };
    html! {
        @if is_parked(stage) { (state(Tone::Bad, visit.t("parked"))) " " }
        (visit.t(text))
        @if !stage.visitor.is_empty() { " " a href=(path(&["stages", &stage.visitor])) { (stage.visitor) } }
        @if stage.until.is_set() { ": " (ago_of_offers(visit, stage.until.as_option())) }
        @if stage.since.is_set() {
            br;
            span.quiet {
                (visit.t("entered the queue")) " " (ago_of_offers(visit, stage.since.as_option()))
                @if let Some(why) = why(stage) { ", " (visit.t(why)) }
            }
        }
    }
}

fn waits(stage: &StageStanding) -> Option<&'static str> {
    Some(match stage.waits.as_known().unwrap_or_default() {
        Waits::WAITS_UNSPECIFIED => return None,
        Waits::WAITS_NOT_INTERESTED => w("not interested"),
        Waits::WAITS_UNTIL => w("scheduled"),
        Waits::WAITS_VISITING => w("visiting it now"),
        Waits::WAITS_DUE => w("due, next in the queue"),
        Waits::WAITS_BUSY if stage.visitor.is_empty() => w("due, but another stage is visiting it now"),
        Waits::WAITS_BUSY => w("due, but visited now by"),
        Waits::WAITS_CALLS => w("due, but the limit of concurrent calls is reached"),
        Waits::WAITS_RATE => w("due, but rate-limited; it continues"),
        Waits::WAITS_PAUSED => w("due, but the stage is paused"),
        Waits::WAITS_DOWN => w("due, but the stage does not answer; next try"),
        Waits::WAITS_NO_OWNER => w("due, but no process serves its shard"),
        Waits::WAITS_PARKED => w("until it is released or changes"),
    })
}

fn why(stage: &StageStanding) -> Option<&'static str> {
    Some(match stage.why.as_known().unwrap_or_default() {
        Why::WHY_UNSPECIFIED => return None,
        Why::WHY_CHANGE => w("because it changed"),
        Why::WHY_TIMER => w("because the stage asked for it"),
        Why::WHY_UNSURE => w("because the stage could not say whether it wants it"),
        Why::WHY_RECRAWL => w("because of the re-crawl"),
        Why::WHY_RETRY => w("because the previous attempt failed"),
        Why::WHY_REQUEST => w("because somebody asked for it"),
    })
}

/// The last visit and its outcome.
pub(super) fn last(visit: &Visit, last: Option<&LastVisit>) -> Markup {
    let Some(last) = last else { return html! { (visit.t("never visited")) } };
    let came = match last.changed {
        Some(true) => w("changed it"),
        Some(false) => w("left it unchanged"),
        None => w("failed"),
    };
    html! {
        (ago_of_offers(visit, last.time.as_option())) ": " (visit.t(came))
        br; span.quiet { (visit.f("version {0}", &[&last.version])) }
    }
}
