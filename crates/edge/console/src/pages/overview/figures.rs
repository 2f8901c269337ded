//! Figures of the overview: cards with small plots, and a row by stage.

use std::collections::{BTreeMap, BTreeSet};

use access::Action;
use maud::{Markup, html};
use wire::torg::admin::v1::{Figure, GetFiguresResponse};

use crate::limits::DEPTH_COUNTED_MAX;
use crate::pages::stages::waiting;
use crate::view::{Tone, amount, columns, empty, figure, length, linked, path, plot, rate, state, table};
use crate::visit::Visit;

/// Error codes that are Torg's fault.
const OURS: [&str; 6] =
    ["internal", "unavailable", "deadline_exceeded", "unknown", "data_loss", "resource_exhausted"];

pub(super) struct Figures(BTreeMap<String, Vec<Figure>>);

impl Figures {
    pub(super) fn of(answer: &GetFiguresResponse) -> Self {
        let mut by_name: BTreeMap<String, Vec<Figure>> = BTreeMap::new();
        for figure in &answer.figures {
            by_name.entry(figure.name.clone()).or_default().push(figure.clone());
        }
        Self(by_name)
    }

    /// The figures with this name and these labels.
    fn named<'a>(&'a self, name: &str, labels: &'a [(&str, &str)]) -> impl Iterator<Item = &'a Figure> {
        let all = self.0.get(name).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(move |figure| {
            labels.iter().all(|(label, value)| figure.labels.get(*label).is_some_and(|known| known == value))
        })
    }

    /// The sum, now and over time; NaN if there are no figures.
    fn sum(&self, name: &str, labels: &[(&str, &str)]) -> (f64, Vec<f64>) {
        together(self.named(name, labels), |a, b| a + b)
    }

    /// The maximum, now and over time.
    fn most(&self, name: &str, labels: &[(&str, &str)]) -> (f64, Vec<f64>) {
        together(self.named(name, labels), f64::max)
    }

    /// The total, which has no labels, without its parts.
    fn whole(&self, name: &str) -> (f64, Vec<f64>) {
        together(self.named(name, &[]).filter(|figure| figure.labels.is_empty()), |a, b| a + b)
    }

    fn failures(&self) -> (f64, Vec<f64>) {
        let bad = |figure: &&Figure| figure.labels.get("code").is_some_and(|code| OURS.contains(&&**code));
        let (now, past) = together(self.named("rpc_outcomes_per_s", &[]).filter(bad), |a, b| a + b);
        // Nothing has failed so far.
        if past.is_empty() { (0.0, past) } else { (now, past) }
    }

    /// Visits that wait in a lane: a lower bound if one stage reached the counting limit.
    fn waiting(&self, lane: &str, sum: f64) -> String {
        let (most, _) = self.most("stage_depth", &[("lane", lane)]);
        at_least(sum, most >= DEPTH_COUNTED_MAX)
    }

    /// Unfinished loads: those that wait for confirmation, or the others.
    fn loads(&self, waiting: bool) -> (f64, Vec<f64>) {
        let is_so =
            |figure: &&Figure| figure.labels.get("state").is_some_and(|state| state == "waiting") == waiting;
        together(self.named("feed_loads", &[]).filter(is_so), |a, b| a + b)
    }

    pub(super) fn show(&self, visit: &Visit) -> Markup {
        if self.0.is_empty() {
            return empty(visit.t("No figures yet: the first ones come seconds after the start."));
        }
        let long = |value: f64| length(visit, value);
        // Others see the number of messages, without a link.
        let topics = visit.may(Action::UseTopics).then_some("/console/topics");
        html! {
            h2 { (visit.t("Figures")) }
            div.cards {
                (card(visit.t("Calls"), self.whole("rpc_calls_per_s"), rate, visit.t("per second"), Some("/console/calls")))
                (card(visit.t("Failed calls"), self.failures(), rate, visit.t("per second"), Some("/console/calls")))
                (card(visit.t("Slowest calls (p95)"), self.most("rpc_duration_p95_seconds", &[]), long, "", Some("/console/calls")))
                (card(visit.t("Stage visits"), self.sum("stage_visits_per_s", &[]), rate, visit.t("per second"), Some("/console/stages")))
                (card(visit.t("Failed visits"), self.sum("stage_failures_per_s", &[]), rate, visit.t("per second"), Some("/console/stages?by=failures")))
                (card(visit.t("Fresh visits waiting"), self.sum("stage_depth", &[("lane", "fresh")]), |waiting| self.waiting("fresh", waiting), visit.t("offers"), Some("/console/stages")))
                (card(visit.t("Export lag"), self.most("export_lag_seconds", &[]), long, "", Some("/console/cluster")))
                (card(visit.t("Unread messages of Torg's own consumers"), self.sum("topic_lag_messages", &[]), amount, "", topics))
                (card(visit.t("Feed loads in progress"), self.loads(false), amount, "", Some("/console/feeds?state=going")))
                (card(visit.t("Loads to confirm"), self.loads(true), amount, "", Some("/console/feeds?state=waiting")))
                (card(visit.t("Running tasks"), self.sum("tasks_running", &[]), amount, "", Some("/console/tasks?standing=running")))
            }
            h2 { (visit.t("Stages")) }
            (self.stages(visit))
        }
    }

    fn stages(&self, visit: &Visit) -> Markup {
        let names: BTreeSet<&str> = self
            .named("stage_visits_per_s", &[])
            .filter_map(|figure| figure.labels.get("stage").map(String::as_str))
            .collect();
        let columns = columns![
            text "Stage", text "State", number "Fresh", number "Timers", number "Background",
            number "Parked", number "Visits per second", number "Failures per second",
            text "Visits over time",
        ];
        let none = visit.t("No process serves stages, or it has just started.");
        table(
            visit,
            visit.t("Stages"),
            &columns,
            none,
            names.into_iter().map(|stage| self.stage(visit, stage)),
        )
    }

    fn stage(&self, visit: &Visit, stage: &str) -> Markup {
        let of = |name: &str| self.sum(name, &[("stage", stage)]).0;
        let depth = |lane| counted(self.sum("stage_depth", &[("stage", stage), ("lane", lane)]).0);
        let (visits, past) = self.sum("stage_visits_per_s", &[("stage", stage)]);
        let place = path(&["stages", stage]);
        html! {
            th scope="row" { a href=(place) { (stage) } }
            td {
                @if of("stage_down") > 0.0 { (state(Tone::Bad, visit.t("does not answer"))) }
                @else if of("stage_paused") > 0.0 { (state(Tone::Warn, visit.t("paused"))) }
                @else if visits.is_nan() { (state(Tone::Plain, visit.t("not known"))) }
                @else { (state(Tone::Good, visit.t("works"))) }
            }
            td.n { a href=(waiting(stage, "fresh")) { (depth("fresh")) } }
            td.n { a href=(waiting(stage, "timers")) { (depth("timer")) } }
            td.n { a href=(waiting(stage, "background")) { (depth("background")) } }
            td.n { a href={ (place) "#parked" } { (counted(of("stage_parked"))) } }
            td.n { a href={ (place) "#plots" } { (rate(visits)) } }
            td.n { a href={ (place) "#failed" } { (rate(of("stage_failures_per_s"))) } }
            td { (plot(stage, &past)) }
        }
    }
}

/// A count, with `+` if it reached the counting limit.
pub(in crate::pages) fn counted(waiting: f64) -> String {
    at_least(waiting, waiting >= DEPTH_COUNTED_MAX)
}

fn at_least(count: f64, is_more: bool) -> String {
    let more = if is_more { "+" } else { "" };
    format!("{}{more}", amount(count))
}

fn card(
    label: &str,
    (now, past): (f64, Vec<f64>),
    say: impl Fn(f64) -> String,
    unit: &str,
    place: Option<&str>,
) -> Markup {
    let number = html! { (linked(&say(now), place)) @if !unit.is_empty() { " " span.unit { (unit) } } };
    figure(label, &number, &plot(label, &past))
}

/// Combines figures point by point; unknown points are skipped.
pub(in crate::pages) fn together<'a>(
    figures: impl Iterator<Item = &'a Figure>,
    join: fn(f64, f64) -> f64,
) -> (f64, Vec<f64>) {
    let joined = |a: f64, b: f64| match (a.is_finite(), b.is_finite()) {
        (true, true) => join(a, b),
        (true, false) => a,
        _ => b,
    };
    figures.fold((f64::NAN, Vec::new()), |(now, past), figure| {
        let length = past.len().max(figure.past.len());
        // The last points belong to the same moment, whatever the lengths.
        let at = |points: &[f64], place: usize| {
            (place + points.len()).checked_sub(length).map_or(f64::NAN, |place| points[place])
        };
        let past = (0..length).map(|place| joined(at(&past, place), at(&figure.past, place))).collect();
        (joined(now, figure.now), past)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_all_services_are_not_added_to_those_of_each() {
        let service = [("service".to_owned(), "a".to_owned())].into_iter().collect();
        let figure = |labels| Figure { name: "calls".into(), labels, now: 2.0, ..Figure::default() };
        let figures = vec![figure(service), figure(BTreeMap::default())];
        let all = Figures::of(&GetFiguresResponse { figures, ..GetFiguresResponse::default() });
        assert!(all.whole("calls").0 < 3.0);
    }

    #[test]
    fn figures_that_began_at_different_times_are_joined_at_their_ends() {
        let figure = |now, past: &[f64]| Figure { now, past: past.to_vec(), ..Figure::default() };
        let figures = [figure(2.0, &[1.0, 2.0, 2.0]), figure(3.0, &[3.0]), figure(f64::NAN, &[f64::NAN])];
        let (now, past) = together(figures.iter(), |a, b| a + b);
        assert_eq!((now, past), (5.0, vec![1.0, 2.0, 5.0]));
        assert!(together([].iter(), f64::max).0.is_nan());
    }
}
