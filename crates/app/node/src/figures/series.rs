//! A time series at two resolutions: every sample for a short time, and averages for a longer one.

use std::collections::VecDeque;

use super::limits::{COARSE_POINTS, FINE_IN_COARSE, FINE_POINTS};

/// The points of one figure. The last points of all figures stand for the same sample, see
/// [`Figures`](super::shown::Figures).
#[derive(Debug, Default)]
pub(super) struct Series {
    fine: VecDeque<f32>,
    coarse: VecDeque<f32>,
    /// The coarse point in progress.
    open: Mean,
}

/// The mean of the known values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64) {
        if !value.is_nan() {
            self.sum += value;
            self.count += 1;
        }
    }

    /// NaN if no value is known.
    pub(super) fn value(self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

impl Series {
    pub(super) fn push(&mut self, value: f64) {
        push(&mut self.fine, value as f32, FINE_POINTS);
        self.open.add(value);
    }

    /// Replaces the last fine point. The coarse point keeps its earlier value.
    pub(super) fn replace_last(&mut self, value: f64) {
        match self.fine.back_mut() {
            Some(last) => *last = value as f32,
            None => self.push(value),
        }
    }

    /// Completes the coarse point in progress.
    pub(super) fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        push(&mut self.coarse, open.value() as f32, COARSE_POINTS);
    }

    /// True if no kept point is known.
    pub(super) fn is_unknown(&self) -> bool {
        self.open.count == 0 && self.fine.iter().chain(&self.coarse).all(|point| point.is_nan())
    }

    /// The last `count` fine points; NaN where there is none.
    pub(super) fn fine(&self, count: usize) -> Vec<f64> {
        last(&self.fine, count)
    }

    /// The last `count` coarse points. The last one is in progress.
    pub(super) fn coarse(&self, count: usize) -> Vec<f64> {
        let mut points = last(&self.coarse, count.saturating_sub(1));
        points.push(self.open.value());
        points
    }
}

fn push(points: &mut VecDeque<f32>, value: f32, most: usize) {
    if points.len() >= most {
        points.pop_front();
    }
    points.push_back(value);
}

fn last(points: &VecDeque<f32>, count: usize) -> Vec<f64> {
    let missing = count.saturating_sub(points.len());
    let known = points.iter().skip(points.len().saturating_sub(count)).map(|point| f64::from(*point));
    std::iter::repeat_n(f64::NAN, missing).chain(known).collect()
}

/// Averages groups of `by` points.
pub(super) fn thinned(points: &[f64], by: usize) -> Vec<f64> {
    // The last group is complete, so that the weight of new points does not change with every
    // sample.
    let first = points.len() % by.max(1);
    let (odd, even) = points.split_at(first);
    let mean = |group: &[f64]| {
        let mut mean = Mean::default();
        for point in group {
            mean.add(*point);
        }
        mean.value()
    };
    let odd = (!odd.is_empty()).then(|| mean(odd));
    odd.into_iter().chain(even.chunks(by.max(1)).map(mean)).collect()
}

/// True if a coarse point ends before the sample of this number.
pub(super) fn begins_coarse(sample: i64) -> bool {
    sample.rem_euclid(FINE_IN_COARSE as i64) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_zero() {
        let mut series = Series::default();
        series.push(4.0);
        assert!(!series.is_unknown());
        let points = series.fine(3);
        assert!(points[0].is_nan() && points[1].is_nan());
        assert_eq!(points[2].to_bits(), 4.0_f64.to_bits());
        let mut nothing = Series::default();
        nothing.push(f64::NAN);
        assert!(nothing.is_unknown() && nothing.coarse(1)[0].is_nan());
    }

    #[test]
    fn the_mean_of_points_leaves_out_what_is_not_known_and_the_last_group_is_whole() {
        let nan = f64::NAN;
        let thin = thinned(&[1.0, 2.0, nan, 4.0, nan, nan, 8.0, 10.0], 3);
        assert_eq!(thin.len(), 3);
        assert_eq!(thin[0].to_bits(), 1.5_f64.to_bits());
        assert_eq!(thin[1].to_bits(), 4.0_f64.to_bits());
        assert_eq!(thin[2].to_bits(), 9.0_f64.to_bits());
        assert_eq!(thinned(&[1.0, 3.0], 1), [1.0, 3.0]);
        assert!(thinned(&[], 5).is_empty());
    }
}
