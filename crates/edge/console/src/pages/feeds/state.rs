//! How feeds and loads stand, in words.

use maud::{Markup, html};
use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Feed, Load, Missing};

use crate::view::{Tone, state};
use crate::visit::Visit;
use crate::words_mark::w;

/// How a load stands.
pub(super) fn of_load(load: &Load) -> (Tone, &'static str) {
    match load.state.as_known() {
        Some(State::STATE_QUEUED) => (Tone::Plain, w("in the queue")),
        Some(State::STATE_READING) => (Tone::Good, w("its file is read")),
        Some(State::STATE_APPLYING) => (Tone::Good, w("offers are applied")),
        Some(State::STATE_WAITING) => (Tone::Warn, w("waits for somebody to confirm it")),
        Some(State::STATE_DONE) => (Tone::Good, w("done")),
        Some(State::STATE_FAILED) => (Tone::Bad, w("failed")),
        Some(State::STATE_SUPERSEDED) => (Tone::Plain, w("a later load came first")),
        Some(State::STATE_UNSPECIFIED) | None => (Tone::Plain, w("not known")),
    }
}

/// How a feed stands: what needs somebody comes first.
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
        (_, Some(State::STATE_WAITING)) => (Tone::Warn, w("waits for somebody to confirm it")),
        (Some(Outcome::OUTCOME_FAILED | Outcome::OUTCOME_FAILED_FOR_NOW), _) => {
            (Tone::Bad, w("cannot be fetched"))
        }
        (_, Some(State::STATE_FAILED)) => (Tone::Bad, w("the last load failed")),
        (_, Some(State::STATE_QUEUED | State::STATE_READING | State::STATE_APPLYING)) => {
            (Tone::Good, w("a load is under way"))
        }
        (None, None) => (Tone::Plain, w("nothing came yet")),
        _ => (Tone::Good, w("works")),
    }
}

/// The word for how a load stands.
pub(super) fn load_state(visit: &Visit, load: &Load) -> Markup {
    let (tone, text) = of_load(load);
    state(tone, visit.t(text))
}

/// Where the file of a load came from.
pub(super) fn origin(load: &Load) -> &'static str {
    match load.origin.as_known() {
        Some(Origin::ORIGIN_LINK) => w("fetched by the link"),
        Some(Origin::ORIGIN_UPLOAD) => w("uploaded"),
        Some(Origin::ORIGIN_PARSED) => w("from another service"),
        Some(Origin::ORIGIN_UNSPECIFIED) | None => w("not known"),
    }
}

/// Whether a load is still under way, so that its progress is worth a look.
pub(super) fn is_under_way(load: &Load) -> bool {
    matches!(
        load.state.as_known(),
        Some(State::STATE_QUEUED | State::STATE_READING | State::STATE_APPLYING | State::STATE_WAITING)
    )
}

/// How far a load is.
pub(super) fn progress(visit: &Visit, load: &Load) -> Markup {
    let part = (load.progress.clamp(0.0, 1.0) * 100.0).floor();
    html! {
        progress max="100" value=(part) aria-label=(visit.t("Progress of the load")) { (part) " %" }
        span.quiet { (part) " %" }
    }
}

/// What becomes of offers that a feed does not have any more.
pub(super) const MISSING: [(Missing, &str, &str); 3] = [
    (Missing::MISSING_REMOVE, "remove", w("They are removed")),
    (Missing::MISSING_MAKE_MANUAL, "manual", w("They stay, as if they had been typed in")),
    (Missing::MISSING_KEEP, "keep", w("They stay as they are")),
];

/// The same in words.
pub(super) fn missing(feed: &Feed) -> &'static str {
    let known = feed.missing.as_known();
    MISSING.iter().find(|(missing, ..)| Some(*missing) == known).map_or(MISSING[0].2, |(_, _, text)| text)
}

/// What a form means by this name.
pub(super) fn missing_named(name: &str) -> Option<Missing> {
    MISSING.iter().find(|(_, known, _)| *known == name).map(|(missing, ..)| *missing)
}

#[cfg(test)]
mod tests {
    use wire::torg::feeds::v1::Fetch;

    use super::*;

    #[test]
    fn what_needs_somebody_is_told_before_what_goes_well() {
        let load = |state: State| Load { state: state.into(), ..Load::default() };
        let fetch = |outcome: Outcome| Fetch { outcome: outcome.into(), ..Fetch::default() };
        let feed = |paused, fetch: Option<Fetch>, load: Option<Load>| {
            of_feed(&Feed { paused, last_fetch: fetch.into(), last_load: load.into(), ..Feed::default() }).1
        };
        assert_eq!(feed(true, None, Some(load(State::STATE_FAILED))), "paused");
        let failed = || Some(fetch(Outcome::OUTCOME_FAILED));
        assert_eq!(feed(false, failed(), Some(load(State::STATE_DONE))), "cannot be fetched");
        let waits = "waits for somebody to confirm it";
        assert_eq!(feed(false, failed(), Some(load(State::STATE_WAITING))), waits);
        assert_eq!(feed(false, None, Some(load(State::STATE_READING))), "a load is under way");
        assert_eq!(feed(false, None, None), "nothing came yet");
        let deleted = Feed { deleting: true, paused: true, ..Feed::default() };
        assert_eq!(of_feed(&deleted).1, "is being deleted");
        assert_eq!(feed(false, Some(fetch(Outcome::OUTCOME_UNCHANGED)), None), "works");
    }
}
