//! The history of all figures in memory, at two resolutions.

use std::collections::BTreeMap;
use std::time::Duration;

use clock::Time;

use super::limits::{
    BACK_MAX, COARSE_POINTS, FINE_IN_COARSE, FINE_POINTS, POINTS_SHOWN, POINTS_SHOWN_MAX, SAMPLE_EVERY,
    SERIES_MAX,
};
use super::names::Name;
use super::series::{Series, begins_coarse, thinned};

pub(super) type Labels = Vec<(&'static str, String)>;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub name: Name,
    pub labels: Labels,
    /// NaN if unknown.
    pub value: f64,
}

/// All figures. A sample's number follows from its time, and all figures have their points at the
/// same samples.
#[derive(Debug, Default)]
pub(super) struct Figures {
    kept: BTreeMap<(&'static str, Labels), Kept>,
    /// The numbers of the first and the last sample.
    samples: Option<(i64, i64)>,
    /// When the last sample was taken.
    time: Time,
    is_full: bool,
}

#[derive(Debug)]
struct Kept {
    name: Name,
    now: f64,
    series: Series,
}

/// A filter on figures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// A prefix of the name.
    pub prefix: String,
    /// Required labels; a figure may have more.
    pub labels: BTreeMap<String, String>,
}

impl Wanted {
    fn fits(&self, name: &str, labels: &Labels) -> bool {
        let has = |(label, value): (&String, &String)| {
            labels.iter().any(|(known, own)| known == label && own == value)
        };
        name.starts_with(&self.prefix) && self.labels.iter().all(has)
    }
}

/// The result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub figures: Vec<ShownFigure>,
    /// When the last sample was taken; `None` if there was none.
    pub time: Option<Time>,
    /// The time between two points.
    pub step: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ShownFigure {
    pub name: Name,
    pub labels: Labels,
    pub now: f64,
    /// The oldest first.
    pub past: Vec<f64>,
}

impl Figures {
    /// Records a sample. Figures that it lacks, and samples that were skipped, are unknown.
    pub(super) fn record(&mut self, time: Time, points: Vec<Point>) {
        self.record_within(SERIES_MAX, time, points);
    }

    /// [`Self::record`] with a limit on the number of figures.
    fn record_within(&mut self, most: usize, time: Time, points: Vec<Point>) {
        let number = time.as_ms().div_euclid(SAMPLE_EVERY.as_millis() as i64);
        let (first, last) = self.samples.unwrap_or((number, number - 1));
        // If the clock was set back a little, the last point is overwritten. If it was set back
        // far, the history restarts.
        let is_again = number <= last && last - number < FINE_POINTS as i64;
        if number <= last && !is_again {
            *self = Self::default();
            return self.record_within(most, time, points);
        }
        if !is_again {
            self.pass_over(last + 1, number);
        }
        self.samples = Some((first, number.max(last)));
        self.time = time;
        let mut given: BTreeMap<(&'static str, Labels), (Name, f64)> = points
            .into_iter()
            .map(|point| ((point.name.name, point.labels), (point.name, point.value)))
            .collect();
        for (key, kept) in &mut self.kept {
            kept.now = given.remove(key).map_or(f64::NAN, |(_, value)| value);
            if is_again {
                kept.series.replace_last(kept.now);
            } else {
                kept.series.push(kept.now);
            }
        }
        self.take_new(most, given);
    }

    /// Advances all figures over skipped samples: their points are unknown, and coarse points end.
    fn pass_over(&mut self, from: i64, to: i64) {
        if to - from > (COARSE_POINTS * FINE_IN_COARSE) as i64 {
            // All kept points are unknown.
            self.kept.clear();
            return;
        }
        for number in from..=to {
            for kept in self.kept.values_mut() {
                if begins_coarse(number) {
                    kept.series.close();
                }
                if number < to {
                    kept.series.push(f64::NAN);
                }
            }
        }
        if begins_coarse(to) {
            self.kept.retain(|_, kept| !kept.series.is_unknown());
        }
    }

    fn take_new(&mut self, most: usize, given: BTreeMap<(&'static str, Labels), (Name, f64)>) {
        for (key, (name, now)) in given {
            if self.kept.len() >= most {
                if !std::mem::replace(&mut self.is_full, true) {
                    tracing::warn!(most, figure = key.0, "there are too many figures: some are left out");
                }
                return;
            }
            let mut series = Series::default();
            series.push(now);
            self.kept.insert(key, Kept { name, now, series });
        }
        self.is_full = false;
    }

    /// True if the last sample had figures that were dropped.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Matching figures over the time `back`, with at most `points_max` points each.
    pub(super) fn read(&self, wanted: &Wanted, back: Duration, points_max: u32) -> Shown {
        let Some((first, last)) = self.samples else {
            return Shown { step: SAMPLE_EVERY, ..Shown::default() };
        };
        let most = if points_max == 0 { POINTS_SHOWN } else { points_max.min(POINTS_SHOWN_MAX) } as usize;
        let back = back.clamp(SAMPLE_EVERY, BACK_MAX);
        let samples = (back.as_millis() / SAMPLE_EVERY.as_millis()) as usize;
        let is_fine = samples <= FINE_POINTS;
        let in_a_point = if is_fine { 1 } else { FINE_IN_COARSE };
        let known = ((last - first) as usize) / in_a_point + 1;
        let count = samples.div_ceil(in_a_point).min(known);
        let by = count.div_ceil(most).max(1);
        let past = |series: &Series| {
            let points = if is_fine { series.fine(count) } else { series.coarse(count) };
            thinned(&points, by)
        };
        let fitting = self.kept.iter().filter(|((name, labels), _)| wanted.fits(name, labels));
        let shown = |((_, labels), kept): (&(&'static str, Labels), &Kept)| ShownFigure {
            name: kept.name,
            labels: labels.clone(),
            now: kept.now,
            past: past(&kept.series),
        };
        let step = SAMPLE_EVERY * (in_a_point * by) as u32;
        Shown { figures: fitting.map(shown).collect(), time: Some(self.time), step }
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "these numbers are exact")]
mod tests {
    use super::super::names;
    use super::*;

    const QUARTER: Duration = Duration::from_secs(900);

    fn at(sample: i64) -> Time {
        // Half a minute begins with sample zero.
        Time::from_ms(sample * 2000 + 1_700_000_010_000)
    }

    fn named(prefix: &str) -> Wanted {
        Wanted { prefix: prefix.to_owned(), ..Wanted::default() }
    }

    fn depth(stage: &str, value: f64) -> Point {
        Point { name: names::STAGE_DEPTH, labels: vec![("stage", stage.to_owned())], value }
    }

    fn past(figures: &Figures, back: Duration, most: u32) -> Vec<f64> {
        figures.read(&named("stage_"), back, most).figures[0].past.clone()
    }

    #[test]
    fn a_sample_becomes_a_point_and_samples_that_were_left_out_are_not_known() {
        let mut figures = Figures::default();
        assert_eq!(figures.read(&named(""), QUARTER, 0).time, None);
        for (sample, value) in [(0, 1.0), (1, 2.0), (4, 5.0)] {
            figures.record(at(sample), vec![depth("price", value)]);
        }
        let shown = figures.read(&named("stage_depth"), QUARTER, 0);
        assert_eq!((shown.time, shown.step), (Some(at(4)), SAMPLE_EVERY));
        let points = &shown.figures[0].past;
        assert_eq!(points.len(), 5);
        assert_eq!([points[0], points[1], points[4]], [1.0, 2.0, 5.0]);
        assert!(points[2].is_nan() && points[3].is_nan());
        assert!(figures.read(&named("rpc_"), QUARTER, 0).figures.is_empty());
        assert_eq!(past(&figures, Duration::from_secs(4), 0).len(), 2, "the last four seconds");
    }

    #[test]
    fn a_figure_that_is_not_given_is_not_known_and_a_new_one_has_no_past() {
        let mut figures = Figures::default();
        figures.record(at(0), vec![depth("a", 1.0)]);
        figures.record(at(1), vec![depth("b", 2.0)]);
        let shown = figures.read(&named(""), QUARTER, 0).figures;
        assert!(shown[0].now.is_nan() && shown[0].past[1].is_nan());
        assert!(shown[1].past[0].is_nan());
        assert_eq!((shown[0].past[0], shown[1].now), (1.0, 2.0));
    }

    #[test]
    fn figures_are_chosen_by_labels_that_they_have_among_others() {
        let mut figures = Figures::default();
        figures.record(at(0), vec![depth("a", 1.0), depth("b", 2.0)]);
        let of = |labels: &[(&str, &str)]| {
            let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            let shown = figures.read(&Wanted { labels: labels.collect(), ..named("stage_") }, QUARTER, 0);
            shown.figures.iter().map(|figure| figure.now).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("stage", "b")]), [2.0]);
        assert_eq!(of(&[]), [1.0, 2.0]);
        assert!(of(&[("stage", "b"), ("lane", "fresh")]).is_empty());
    }

    #[test]
    fn older_points_are_thinned_to_means_and_the_oldest_are_forgotten() {
        let mut figures = Figures::default();
        let hours = 7 * 3600 / 2;
        for sample in 0..hours {
            figures.record(at(sample), vec![depth("a", (sample / 15) as f64)]);
        }
        let fine = past(&figures, QUARTER, 1000);
        assert_eq!((fine.len(), fine[449]), (450, ((hours - 1) / 15) as f64));
        let shown = figures.read(&named(""), BACK_MAX, 1000);
        let coarse = &shown.figures[0].past;
        assert_eq!((coarse.len(), shown.step), (720, Duration::from_secs(30)));
        assert!(coarse.windows(2).all(|two| (two[1] - two[0] - 1.0).abs() < 0.01), "{coarse:?}");
        let thin = figures.read(&named(""), BACK_MAX, 120);
        assert_eq!((thin.figures[0].past.len(), thin.step), (120, Duration::from_secs(180)));
        assert_eq!(
            past(&figures, Duration::from_secs(99 * 3600), 1000).len(),
            720,
            "no further than six hours"
        );
    }

    #[test]
    fn a_clock_that_is_set_back_a_little_adds_no_point_and_one_that_is_set_back_far_begins_anew() {
        let mut figures = Figures::default();
        for sample in [500, 501, 499] {
            figures.record(at(sample), vec![depth("a", sample as f64)]);
        }
        assert_eq!(past(&figures, QUARTER, 0), [500.0, 499.0]);
        figures.record(at(-100_000), vec![depth("a", 7.0)]);
        assert_eq!(past(&figures, QUARTER, 0), [7.0]);
    }

    #[test]
    fn there_are_no_more_figures_than_the_limit_and_those_of_which_nothing_is_known_make_room() {
        let (mut figures, most) = (Figures::default(), 20);
        let many: Vec<Point> = (0..most + 10).map(|n| depth(&format!("s{n:05}"), 1.0)).collect();
        figures.record_within(most, at(0), many);
        assert_eq!(figures.read(&named(""), QUARTER, 1).figures.len(), most);
        assert!(figures.is_full());
        figures.record_within(most, at(1), vec![depth("z", 1.0)]);
        assert!(figures.read(&named(""), QUARTER, 1).figures.iter().all(|figure| figure.labels[0].1 != "z"));
        assert!(figures.is_full());
        for sample in 2..6 * 1800 + 60 {
            figures.record_within(most, at(sample), vec![depth("s00000", 1.0)]);
        }
        assert_eq!(
            figures.read(&named(""), QUARTER, 1).figures.len(),
            1,
            "nothing is known of the others for six hours"
        );
        figures.record_within(most, at(7 * 1800), vec![depth("z", 1.0)]);
        assert_eq!(figures.read(&named(""), QUARTER, 1).figures.len(), 2);
        assert!(!figures.is_full());
    }

    #[test]
    fn after_a_rest_longer_than_all_that_is_kept_nothing_is_known() {
        let mut figures = Figures::default();
        figures.record(at(0), vec![depth("a", 1.0)]);
        figures.record(at(7 * 1800), vec![depth("b", 2.0)]);
        let shown = figures.read(&named(""), BACK_MAX, 1000).figures;
        assert_eq!(shown.len(), 1);
        assert!(shown[0].past[..719].iter().all(|point| point.is_nan()));
        assert_eq!((shown[0].past.len(), shown[0].past[719]), (720, 2.0));
    }
}
