//! Plots of a stage's figures.

use maud::{Markup, html};
use wire::torg::admin::v1::{Figure, GetFiguresResponse};

use crate::language::w;
use crate::pages::overview::{counted, together};
use crate::view::{empty, figure, length, rate, tall_plot};
use crate::visit::Visit;

/// The prefix of all stage figures.
pub(super) const PREFIX: &str = "stage_";
pub(super) const POINTS: u32 = 180;
const VISITS: &str = "stage_visits_per_s";
const FAILURES: &str = "stage_failures_per_s";
const P50: &str = "stage_visit_p50_seconds";
const P95: &str = "stage_visit_p95_seconds";
const OLDEST: &str = "stage_oldest_due_seconds";
const DEPTH: &str = "stage_depth";
pub(super) const STAGE_LABEL: &str = "stage";
const LANE_LABEL: &str = "lane";
const LANES: [(&str, &str); 3] =
    [("fresh", w("Fresh")), ("timer", w("Timers")), ("background", w("Background"))];

pub(super) fn show(visit: &Visit, answer: &GetFiguresResponse, stage: &str) -> Markup {
    let of = |name: &str, lane: Option<&str>| {
        let figures = answer.figures.iter().filter(|figure| is_of(figure, name, stage, lane));
        Some(together(figures, |a, b| a + b)).filter(|(_, past)| !past.is_empty())
    };
    let rates = [(VISITS, visit.t("Visits per second")), (FAILURES, visit.t("Failures per second"))];
    let say_rate = |value: f64| rate(value);
    let say_time = |value: f64| length(visit, value);
    let say_depth = |value: f64| counted(value);
    let rates =
        rates.map(|(name, text)| (text.to_owned(), of(name, None), &say_rate as &dyn Fn(f64) -> String));
    let times = [
        (P50, visit.t("Time of a visit (p50)")),
        (P95, visit.t("Time of a visit (p95)")),
        (OLDEST, visit.t("Age of the oldest fresh visit")),
    ];
    let times =
        times.map(|(name, text)| (text.to_owned(), of(name, None), &say_time as &dyn Fn(f64) -> String));
    let depths = LANES.map(|(lane, text)| {
        let text = visit.f("Waiting: {0}", &[&visit.t(text)]);
        (text, of(DEPTH, Some(lane)), &say_depth as &dyn Fn(f64) -> String)
    });
    let known: Vec<_> = rates
        .into_iter()
        .chain(times)
        .chain(depths)
        .filter_map(|(text, curve, say)| Some((text, curve?, say)))
        .collect();
    if known.is_empty() {
        return empty(visit.t("No figures of this stage yet: the first ones come seconds after the start."));
    }
    html! {
        div.cards.wide {
            @for (text, (now, past), say) in &known {
                (figure(text, &html! { (say(*now)) }, &tall_plot(text, past)))
            }
        }
    }
}

fn is_of(figure: &Figure, name: &str, stage: &str, lane: Option<&str>) -> bool {
    let has = |label: &str, value: &str| figure.labels.get(label).is_some_and(|known| known == value);
    figure.name == name && has(STAGE_LABEL, stage) && lane.is_none_or(|lane| has(LANE_LABEL, lane))
}
