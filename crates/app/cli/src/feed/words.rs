//! Formats feeds and loads as text.

use wire::torg::feeds::v1::fetch::Outcome;
use wire::torg::feeds::v1::load::{Origin, State};
use wire::torg::feeds::v1::{Counts, Feed, Fetch, Load, Mapping, Missing};

use super::asked::Follow;
use terminal::{moment, one_line, state as paint_state, table};

pub(super) fn feeds(feeds: &[Feed], follow: &Follow) -> Vec<String> {
    if feeds.is_empty() {
        return vec![format!("there is no feed yet: {}", follow.line("add"))];
    }
    let head = ["SELLER", "FEED", "TITLE", "FROM", "STATE", "LAST LOAD"].map(str::to_owned);
    let rows = feeds.iter().map(|feed| {
        [
            feed.seller.clone(),
            feed.namespace.clone(),
            feed.title.clone(),
            from(feed),
            paint_state(if feed.paused { "paused" } else { "active" }),
            feed.last_load.as_option().map_or_else(|| "none".to_owned(), outcome),
        ]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn from(feed: &Feed) -> String {
    feed.link.as_option().map_or_else(|| "uploads".to_owned(), |link| link.url.clone())
}

pub(super) fn feed(feed: &Feed, follow: &Follow) -> Vec<String> {
    let title = one_line(&feed.title);
    let title = if title.is_empty() { title } else { format!(" ({title})") };
    let paused = if feed.paused { format!(", {}", paint_state("paused")) } else { String::new() };
    let mut lines = vec![format!("feed {} of {}{title}{paused}", feed.namespace, feed.seller)];
    if let Some(link) = feed.link.as_option() {
        let every =
            link.period.as_option().map(|period| format!(", every {}", period_in_words(period.seconds)));
        let user = if link.user.is_empty() { String::new() } else { format!(", as {}", link.user) };
        lines.push(format!("fetched from {}{}{user}", link.url, every.unwrap_or_default()));
        if feed.next_fetch_time.is_set() && !feed.paused {
            lines.push(format!("next at {}", moment(feed.next_fetch_time.as_option())));
        }
    } else {
        lines.push(format!("files are uploaded: {}", follow.line("upload FILE")));
    }
    lines.extend(feed.last_fetch.as_option().map(fetched));
    let missing = match feed.missing.as_known().unwrap_or_default() {
        Missing::MISSING_UNSPECIFIED | Missing::MISSING_REMOVE => "are removed",
        Missing::MISSING_MAKE_MANUAL => "become manual ones",
        Missing::MISSING_KEEP => "stay",
    };
    lines.push(format!("offers that its file does not have any more {missing}"));
    if let Some(guard) = feed.guard.as_option() {
        let percent = guard.share * 100.0;
        lines.push(format!(
            "a load waits to be confirmed if it would remove more than {percent:.0} % of more than {} offers",
            guard.least
        ));
    }
    lines.extend(feed.last_load.as_option().map(|last| load(last, follow)).into_iter().flatten());
    lines
}

fn fetched(fetch: &Fetch) -> String {
    let how = match fetch.outcome.as_known().unwrap_or_default() {
        Outcome::OUTCOME_UNSPECIFIED => "not yet".to_owned(),
        Outcome::OUTCOME_NEW => format!("a new file of {} bytes", fetch.bytes),
        Outcome::OUTCOME_UNCHANGED => "the file is the same as before".to_owned(),
        Outcome::OUTCOME_FAILED_FOR_NOW => {
            format!("failed {} times, and is tried again soon: {}", fetch.attempts, one_line(&fetch.text))
        }
        Outcome::OUTCOME_FAILED => format!("failed: {}", one_line(&fetch.text)),
    };
    format!("fetched last at {}: {how}", moment(fetch.time.as_option()))
}

pub(super) fn loads(loads: &[Load], follow: &Follow) -> Vec<String> {
    if loads.is_empty() {
        return vec![format!("there was no load yet: {}", follow.line("upload FILE"))];
    }
    let head = [
        "LOAD", "TIME", "FROM", "FORMAT", "OFFERS", "NEW", "CHANGED", "SAME", "REMOVED", "REJECTED", "STATE",
    ];
    let rows = loads.iter().map(|load| {
        let counts = load.counts.as_option().cloned().unwrap_or_default();
        let Counts { offers, created, changed, unchanged, removed, rejected, .. } = counts;
        let [offers, created, changed, unchanged, removed, rejected] =
            [offers, created, changed, unchanged, removed, rejected].map(|count| count.to_string());
        let (time, from) = (moment(load.create_time.as_option()), origin(load).to_owned());
        let (number, format, state) =
            (load.number.to_string(), load.format.clone(), paint_state(state(load)));
        [number, time, from, format, offers, created, changed, unchanged, removed, rejected, state]
    });
    table(&std::iter::once(head.map(str::to_owned)).chain(rows).collect::<Vec<_>>())
}

fn origin(load: &Load) -> &'static str {
    match load.origin.as_known().unwrap_or_default() {
        Origin::ORIGIN_UNSPECIFIED => "",
        Origin::ORIGIN_LINK => "link",
        Origin::ORIGIN_UPLOAD => "upload",
        Origin::ORIGIN_PARSED => "parsed",
    }
}

fn state(load: &Load) -> &'static str {
    match load.state.as_known().unwrap_or_default() {
        State::STATE_UNSPECIFIED => "unknown",
        State::STATE_QUEUED => "queued",
        State::STATE_READING => "reading",
        State::STATE_APPLYING => "applying",
        State::STATE_WAITING => "waits to be confirmed",
        State::STATE_DONE => "done",
        State::STATE_FAILED => "failed",
        State::STATE_SUPERSEDED => "superseded",
    }
}

/// Whether the load changes no more without an action of a user.
pub(super) fn is_settled(load: &Load) -> bool {
    use State::{STATE_DONE, STATE_FAILED, STATE_SUPERSEDED, STATE_WAITING};
    matches!(load.state.as_known(), Some(STATE_DONE | STATE_FAILED | STATE_SUPERSEDED | STATE_WAITING))
}

fn outcome(load: &Load) -> String {
    let rejected = load.counts.as_option().map_or(0, |counts| counts.rejected);
    let rejected = if rejected > 0 { format!(", {rejected} rejected") } else { String::new() };
    format!("{} {}{rejected}", load.number, paint_state(state(load)))
}

/// The progress of a load, in one line.
pub(super) fn progress(load: &Load) -> String {
    format!("load {}: {}, {:.0} %", load.number, state(load), load.progress * 100.0)
}

pub(super) fn load(load: &Load, follow: &Follow) -> Vec<String> {
    let kind = [&*load.format, &load.encoding].into_iter().filter(|text| !text.is_empty());
    let kind: Vec<&str> = kind.collect();
    let kind = if kind.is_empty() { String::new() } else { format!(" ({})", kind.join(", ")) };
    let mut lines = vec![format!("load {}{kind}: {}", load.number, paint_state(state(load)))];
    if let Some(counts) = load.counts.as_option() {
        let s = if counts.offers == 1 { "" } else { "s" };
        lines.push(format!("  {} offer{s}: {}", counts.offers, counted(counts)));
        if counts.errors + counts.warnings > 0 {
            let (errors, warnings) = (counts.errors, counts.warnings);
            let look = follow.line(&format!("errors --load {}", load.number));
            lines.push(format!("  {errors} errors, {warnings} warnings: {look}"));
        }
    }
    let mut codes: Vec<(&String, &u64)> = load.problems_by_code.iter().collect();
    codes.sort_by(|one, other| other.1.cmp(one.1));
    lines.extend(codes.into_iter().map(|(code, count)| format!("  {count:>8} {code}")));
    if let Some(failure) = load.failure.as_option() {
        let place = if failure.line > 0 {
            format!("line {}, column {}: ", failure.line, failure.column)
        } else {
            String::new()
        };
        lines.push(format!("  {place}{} [{}]", one_line(&failure.message), failure.code));
        lines.extend((!failure.remedy.is_empty()).then(|| format!("  = {}", one_line(&failure.remedy))));
    }
    if load.state.as_known() == Some(State::STATE_WAITING) {
        let (gone, all) = (load.would_remove, load.would_remove_of);
        let confirm = follow.line(&format!("confirm {}", load.number));
        lines.push(format!("  it would remove {gone} of {all} offers: look at the file, then {confirm}"));
    }
    lines
}

fn counted(counts: &Counts) -> String {
    let kinds = [
        (counts.created, "new"),
        (counts.changed, "changed"),
        (counts.unchanged, "unchanged"),
        (counts.rejected, "rejected"),
        (counts.withdrawn, "not available"),
        (counts.postponed, "put off"),
        (counts.superseded, "superseded"),
        (counts.removed, "removed"),
        (counts.made_manual, "made manual"),
    ];
    let present = kinds.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = present.map(|(count, kind)| format!("{count} {kind}")).collect();
    if words.is_empty() { "nothing so far".to_owned() } else { words.join(", ") }
}

/// A table of sellers' categories and the categories that they map to.
pub(super) fn mappings(mappings: &[Mapping], follow: &Follow) -> Vec<String> {
    if mappings.is_empty() {
        return vec![format!("no category was mapped yet: {}", follow.line("map 'Own > Category' CATEGORY"))];
    }
    let head = ["OWN CATEGORY", "CATEGORY", "BY"].map(str::to_owned);
    let rows = mappings.iter().map(|mapping| {
        let by = if mapping.by_hand {
            mapping.author.clone()
        } else {
            format!("recognised ({:.0} %)", mapping.score * 100.0)
        };
        [mapping.path.join(" > "), mapping.category.clone(), by]
    });
    table(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn period_in_words(seconds: i64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "m")];
    let unit = units.iter().find(|(length, _)| seconds >= *length && seconds % length == 0);
    unit.map_or_else(|| format!("{seconds}s"), |(length, name)| format!("{}{name}", seconds / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_tells_what_happened_and_what_to_do() {
        let counts = Counts { offers: 5, created: 3, rejected: 2, errors: 2, ..Counts::default() };
        let waiting = Load {
            number: 7,
            state: State::STATE_WAITING.into(),
            format: "yml".to_owned(),
            counts: Some(counts).into(),
            problems_by_code: [("bad_price".to_owned(), 2)].into(),
            would_remove: 30,
            would_remove_of: 40,
            ..Load::default()
        };
        assert_eq!(
            load(&waiting, &Follow::with(" --seller anna-k")),
            [
                "load 7 (yml): waits to be confirmed",
                "  5 offers: 3 new, 2 rejected",
                "  2 errors, 0 warnings: torg feed errors --load 7 --seller anna-k",
                "         2 bad_price",
                "  it would remove 30 of 40 offers: look at the file, then torg feed confirm 7 --seller anna-k",
            ]
        );
        assert!(is_settled(&waiting) && !is_settled(&Load::default()));
    }

    #[test]
    fn periods_are_told_in_the_largest_unit_that_fits() {
        assert_eq!([90, 1_800, 14_400, 86_400].map(period_in_words), ["90s", "30m", "4h", "1d"]);
    }
}
