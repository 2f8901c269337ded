//! Formatting of times and durations.

use buffa_types::google::protobuf::{Duration, Timestamp};
use clock::Time;
use maud::{Markup, html};

use super::number::seconds;
use crate::language::Language;
use crate::visit::Visit;

pub(crate) fn time_of(time: &Timestamp) -> Time {
    Time::from_ms(time.seconds.saturating_mul(1000).saturating_add(i64::from(time.nanos) / 1_000_000))
}

/// A time by the machine's clock (feeds, tasks, values, actions): `3 min ago` or `in 2 h`; a dash
/// if there is none.
pub(crate) fn ago(visit: &Visit, time: Option<&Timestamp>) -> Markup {
    seen_from(visit, visit.now(), time)
}

/// A time by the clock of offers and stages, which differs in the demo.
pub(crate) fn ago_of_offers(visit: &Visit, time: Option<&Timestamp>) -> Markup {
    seen_from(visit, visit.now_of_offers(), time)
}

fn seen_from(visit: &Visit, now: Time, time: Option<&Timestamp>) -> Markup {
    let Some(time) = time.map(time_of) else { return html! { "–" } };
    let text = if time <= now {
        visit.f("{0} ago", &[&length(visit, now.since(time).as_secs_f64().floor())])
    } else {
        visit.f("in {0}", &[&length(visit, time.since(now).as_secs_f64().ceil())])
    };
    html! { time datetime=(time) title=(exact(time)) { (text) } }
}

/// A duration in the visitor's language.
pub(crate) fn length(visit: &Visit, value: f64) -> String {
    let text = seconds(value);
    if visit.language() != Language::Russian {
        return text;
    }
    let units = [(" ms", " мс"), (" s", " с"), (" min", " мин"), (" h", " ч"), (" d", " д")];
    let unit = units.iter().find(|(english, _)| text.ends_with(english));
    unit.map_or_else(|| text.clone(), |(english, russian)| text.replace(english, russian))
}

/// An exact time in UTC; a dash if there is none.
pub(crate) fn moment(time: Option<&Timestamp>) -> Markup {
    let Some(time) = time.map(time_of) else { return html! { "–" } };
    html! { time datetime=(time) { (exact(time)) } }
}

/// `2026-11-16 12:30:05 UTC`.
fn exact(time: Time) -> String {
    let text = time.to_string();
    let whole = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    format!("{} UTC", whole.replace('T', " "))
}

/// A duration; a dash if there is none.
pub(crate) fn duration(visit: &Visit, given: Option<&Duration>) -> String {
    let exact = |given: &Duration| given.seconds as f64 + f64::from(given.nanos) / 1e9;
    given.map_or_else(|| "–".to_owned(), |given| length(visit, exact(given)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_time_is_told_without_fractions() {
        assert_eq!(exact(Time::from_ms(1_794_832_205_123)), "2026-11-16 12:30:05 UTC");
        let stamp = Timestamp { seconds: 1, nanos: 500_000_000, ..Timestamp::default() };
        assert_eq!(time_of(&stamp), Time::from_ms(1500));
    }
}
