//! How a stage stands, in words.

use buffa_types::google::protobuf::Timestamp;
use maud::{Markup, html};
use wire::torg::stages::v1::stage::Kind;
use wire::torg::stages::v1::{Depth, InProcess, Stage};

use crate::limits::DEPTH_COUNTED_MAX;
use crate::view::{Tone, ago_of_offers, cut, long, number, state, time_of};
use crate::visit::Visit;
use crate::words_mark::w;

/// What the services say of a stage that has nothing to do.
const IDLE: &str = w("nothing is due");
/// What the services say stands in the way of a stage; some of it goes on with a time.
const BLOCKS: [&str; 6] = [
    IDLE,
    w("what is due is being visited by other stages"),
    w("as many calls are under way as may be"),
    w("the stage is paused"),
    w("the rate is used up until"),
    w("the stage does not answer, it is probed at"),
];

/// What kind of stage it is.
pub(super) fn kind(stage: &Stage) -> &'static str {
    match stage.kind.as_known().unwrap_or_default() {
        Kind::KIND_UNSPECIFIED => w("not known"),
        Kind::KIND_BUILT_IN => w("built-in"),
        Kind::KIND_CONFIGURED => w("from the configuration"),
        Kind::KIND_REGISTERED => w("registered"),
    }
}

/// Whether it works, and if not, since when and why.
pub(super) fn show(visit: &Visit, stage: &Stage) -> Markup {
    let why = format!("why-{}", stage.id);
    if let Some(pause) = stage.pause.as_option() {
        return html! {
            (state(Tone::Warn, visit.t("paused"))) " " (ago_of_offers(visit, pause.time.as_option()))
            @if !pause.reason.is_empty() { br; span.quiet { (long(&why, &pause.reason)) } }
        };
    }
    if let Some(process) = stage.processes.iter().find(|process| process.down_since.is_set()) {
        return html! {
            (state(Tone::Bad, visit.t("does not answer"))) " " (ago_of_offers(visit, process.down_since.as_option()))
            br; span.quiet { (long(&why, &process.error)) }
        };
    }
    if stage.processes.is_empty() {
        return state(Tone::Bad, visit.t("no process serves it"));
    }
    if let Some(endpoint) = stage.endpoints.first().filter(|_| stage.endpoints.iter().all(|end| end.out)) {
        return html! {
            (state(Tone::Bad, visit.t("no endpoint answers"))) br; span.quiet { (long(&why, &endpoint.last_error)) }
        };
    }
    match stage.processes.iter().find(|process| is_blocked(process)) {
        Some(process) => html! {
            (state(Tone::Warn, visit.t("blocked"))) br; span.quiet { (block(visit, &process.blocked)) }
        },
        None => state(Tone::Good, visit.t("works")),
    }
}

/// Whether something stands in the way of a stage that has work.
fn is_blocked(process: &InProcess) -> bool {
    !process.blocked.is_empty() && process.blocked != IDLE
}

/// What stands in the way, in the language of the person as far as it is known.
pub(super) fn block(visit: &Visit, said: &str) -> String {
    let known = BLOCKS.iter().find_map(|text| Some((*text, said.strip_prefix(text)?)));
    known.map_or_else(|| cut(said), |(text, rest)| format!("{}{rest}", visit.t(text)))
}

/// When what waits first is due: how late it is, or when it comes.
pub(super) fn due(visit: &Visit, first: Option<&Timestamp>) -> Markup {
    let Some(time) = first else { return html! { (visit.t("nothing waits")) } };
    html! {
        @if time_of(time) <= visit.now_of_offers() { (ago_of_offers(visit, first)) }
        @else { span.quiet { (visit.t("nothing; the next")) " " (ago_of_offers(visit, first)) } }
    }
}

/// A count of what waits; it may be counted up to a limit only.
pub(super) fn count(visit: &Visit, depth: &Depth, offers: u64) -> String {
    if is_more(depth, offers) { visit.f("at least {0}", &[&number(offers)]) } else { number(offers) }
}

/// Whether a count ended at its limit. Which of the lanes was not counted to its end is not told: one with less surely was.
pub(super) fn is_more(depth: &Depth, offers: u64) -> bool {
    depth.more && offers as f64 >= DEPTH_COUNTED_MAX
}

/// Visits in a second, in all processes.
pub(super) fn visits_per_s(stage: &Stage) -> f64 {
    stage.processes.iter().map(|process| process.visits_per_s).sum()
}

/// Failures since the processes began to serve.
pub(super) fn failures(stage: &Stage) -> u64 {
    stage.processes.iter().map(|process| process.failures).sum()
}
