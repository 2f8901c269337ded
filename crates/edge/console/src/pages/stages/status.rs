//! The state of a stage in words.

use buffa_types::google::protobuf::Timestamp;
use maud::{Markup, html};
use wire::torg::stages::v1::stage::Kind;
use wire::torg::stages::v1::{Depth, InProcess, Stage};

use crate::language::w;
use crate::limits::DEPTH_COUNTED_MAX;
use crate::view::{Tone, ago_of_offers, cut, long, number, state, time_of};
use crate::visit::Visit;

/// The status of an idle stage, as services report it.
const IDLE: &str = w("nothing is due");
/// Reasons of a blocked stage, as services report them; some are followed by a time.
const BLOCKS: [&str; 6] = [
    IDLE,
    w("what is due is being visited by other stages"),
    w("as many calls are under way as may be"),
    w("the stage is paused"),
    w("the rate is used up until"),
    w("the stage does not answer, it is probed at"),
];

pub(super) fn kind(stage: &Stage) -> &'static str {
    match stage.kind.as_known().unwrap_or_default() {
        Kind::KIND_UNSPECIFIED => w("not known"),
        Kind::KIND_BUILT_IN => w("built-in"),
        Kind::KIND_CONFIGURED => w("from the configuration"),
        Kind::KIND_REGISTERED => w("registered"),
    }
}

/// Whether it works; if not, since when and why.
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

/// Whether a stage with work cannot run.
fn is_blocked(process: &InProcess) -> bool {
    !process.blocked.is_empty() && process.blocked != IDLE
}

/// The reason of a blocked stage, translated if it is known.
pub(super) fn block(visit: &Visit, said: &str) -> String {
    let known = BLOCKS.iter().find_map(|text| Some((*text, said.strip_prefix(text)?)));
    known.map_or_else(|| cut(said), |(text, rest)| format!("{}{rest}", visit.t(text)))
}

/// When the next visit is due.
pub(super) fn due(visit: &Visit, first: Option<&Timestamp>) -> Markup {
    let Some(time) = first else { return html! { (visit.t("nothing waits")) } };
    html! {
        @if time_of(time) <= visit.now_of_offers() { (ago_of_offers(visit, first)) }
        @else { span.quiet { (visit.t("nothing; next")) " " (ago_of_offers(visit, first)) } }
    }
}

/// The number of waiting visits, which may be a lower bound.
pub(super) fn count(visit: &Visit, depth: &Depth, offers: u64) -> String {
    if is_more(depth, offers) { visit.f("at least {0}", &[&number(offers)]) } else { number(offers) }
}

/// Whether a count reached its limit. The services do not tell which lane did; one with a smaller
/// count did not.
pub(super) fn is_more(depth: &Depth, offers: u64) -> bool {
    depth.more && offers as f64 >= DEPTH_COUNTED_MAX
}

/// Visits per second of all processes.
pub(super) fn visits_per_s(stage: &Stage) -> f64 {
    stage.processes.iter().map(|process| process.visits_per_s).sum()
}

/// Failures since the processes started.
pub(super) fn failures(stage: &Stage) -> u64 {
    stage.processes.iter().map(|process| process.failures).sum()
}
