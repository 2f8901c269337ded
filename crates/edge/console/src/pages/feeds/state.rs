//! The states of feeds and loads in words.

use maud::{Markup, html};
use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Feed, Load, Missing};

use crate::language::w;
use crate::view::{Tone, state};
use crate::visit::Visit;

pub(super) fn of_load(load: &Load) -> (Tone, &'static str) {
    match load.state.as_known() {
        Some(State::STATE_QUEUED) => (Tone::Plain, w("in the queue")),
        Some(State::STATE_READING) => (Tone::Good, w("reading the file")),
        Some(State::STATE_APPLYING) => (Tone::Good, w("applying offers")),
        Some(State::STATE_WAITING) => (Tone::Warn, w("waits for confirmation")),
        Some(State::STATE_DONE) => (Tone::Good, w("done")),
        Some(State::STATE_FAILED) => (Tone::Bad, w("failed")),
        Some(State::STATE_SUPERSEDED) => (Tone::Plain, w("superseded")),
        Some(State::STATE_UNSPECIFIED) | None => (Tone::Plain, w("not known")),
    }
}

/// The state of a feed; what needs attention comes first.
pub(in crate::pages) fn of_feed(feed: &Feed) -> (Tone, &'static str) {
    if feed.deleting {
        return (Tone::Warn, w("is being deleted"));
    }
    if feed.paused {
        return (Tone::Warn, w("paused"));
    }
    let fetch = feed.last_fetch.as_option().and_then(|fetch| fetch.outcome.as_known());
    let load = feed.last_load.as_option();
    match (fetch, load.and_then(|load| load.state.as_known())) {
        (_, Some(State::STATE_WAITING)) => (Tone::Warn, w("waits for confirmation")),
        (Some(Outcome::OUTCOME_FAILED | Outcome::OUTCOME_FAILED_FOR_NOW), _) => {
            (Tone::Bad, w("cannot be fetched"))
        }
        (_, Some(State::STATE_FAILED)) => (Tone::Bad, w("the last load failed")),
        (_, Some(State::STATE_QUEUED | State::STATE_READING | State::STATE_APPLYING)) => {
            (Tone::Good, w("load in progress"))
        }
        (None, None) => (Tone::Plain, w("no files yet")),
        _ => (Tone::Good, w("works")),
    }
}

pub(super) fn load_state(visit: &Visit, load: &Load) -> Markup {
    let (tone, text) = of_load(load);
    state(tone, visit.t(text))
}

pub(super) fn origin(load: &Load) -> &'static str {
    match load.origin.as_known() {
        Some(Origin::ORIGIN_LINK) => w("fetched by the link"),
        Some(Origin::ORIGIN_UPLOAD) => w("uploaded"),
        Some(Origin::ORIGIN_PARSED) => w("from another service"),
        Some(Origin::ORIGIN_UNSPECIFIED) | None => w("not known"),
    }
}

pub(super) fn is_under_way(load: &Load) -> bool {
    matches!(
        load.state.as_known(),
        Some(State::STATE_QUEUED | State::STATE_READING | State::STATE_APPLYING | State::STATE_WAITING)
    )
}

pub(super) fn progress(visit: &Visit, load: &Load) -> Markup {
    let part = (load.progress.clamp(0.0, 1.0) * 100.0).floor();
    html! {
        progress max="100" value=(part) aria-label=(visit.t("Progress of the load")) { (part) " %" }
        span.quiet { (part) " %" }
    }
}

/// What happens to offers that are no longer in the feed.
pub(super) const MISSING: [(Missing, &str, &str); 3] = [
    (Missing::MISSING_REMOVE, "remove", w("They are removed")),
    (Missing::MISSING_MAKE_MANUAL, "manual", w("They stay as offers added by hand")),
    (Missing::MISSING_KEEP, "keep", w("They stay as they are")),
];

pub(super) fn missing(feed: &Feed) -> &'static str {
    let known = feed.missing.as_known();
    MISSING.iter().find(|(missing, ..)| Some(*missing) == known).map_or(MISSING[0].2, |(_, _, text)| text)
}

pub(super) fn missing_named(name: &str) -> Option<Missing> {
    MISSING.iter().find(|(_, known, _)| *known == name).map(|(missing, ..)| *missing)
}

#[cfg(test)]
mod tests {
    use wire::torg::feeds::v1::Fetch;

    use super::*;

    #[test]
    fn what_needs_attention_comes_first() {
        let load = |state: State| Load { state: state.into(), ..Load::default() };
        let fetch = |outcome: Outcome| Fetch { outcome: outcome.into(), ..Fetch::default() };
        let feed = |paused, fetch: Option<Fetch>, load: Option<Load>| {
            of_feed(&Feed { paused, last_fetch: fetch.into(), last_load: load.into(), ..Default::default() })
                .1
        };
        assert_eq!(feed(true, None, Some(load(State::STATE_FAILED))), "paused");
        let failed = || Some(fetch(Outcome::OUTCOME_FAILED));
        assert_eq!(feed(false, failed(), Some(load(State::STATE_DONE))), "cannot be fetched");
        let waits = "waits for confirmation";
        assert_eq!(feed(false, failed(), Some(load(State::STATE_WAITING))), waits);
        assert_eq!(feed(false, None, Some(load(State::STATE_READING))), "load in progress");
        assert_eq!(feed(false, None, None), "no files yet");
        let deleted = Feed { deleting: true, paused: true, ..Default::default() };
        assert_eq!(of_feed(&deleted).1, "is being deleted");
        assert_eq!(feed(false, Some(fetch(Outcome::OUTCOME_UNCHANGED)), None), "works");
    }
}
