//! One number over time: points of every sample for a while, and one point for many of them for
//! much longer.

use std::collections::VecDeque;

use super::limits::{COARSE_POINTS, FINE_IN_COARSE, FINE_POINTS};

/// The points of one figure. The last point of each row of points stands at the same moment for all
/// figures, see [`Figures`](super::shown::Figures).
#[derive(Debug, Default)]
pub(super) struct Series {
    fine: VecDeque<f32>,
    coarse: VecDeque<f32>,
    /// The point at the longer step that is not over yet.
    open: Mean,
}

/// The mean of what is known.
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

    /// Not a number if nothing is known.
    pub(super) fn value(self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

impl Series {
    /// The next point.
    pub(super) fn push(&mut self, value: f64) {
        push(&mut self.fine, value as f32, FINE_POINTS);
        self.open.add(value);
    }

    /// Another value for the last point; the point at the longer step keeps what it had.
    pub(super) fn replace_last(&mut self, value: f64) {
        match self.fine.back_mut() {
            Some(last) => *last = value as f32,
            None => self.push(value),
        }
    }

    /// The point at the longer step is over.
    pub(super) fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        push(&mut self.coarse, open.value() as f32, COARSE_POINTS);
    }

    /// Whether nothing is known of all the time that is kept.
    pub(super) fn is_unknown(&self) -> bool {
        self.open.count == 0 && self.fine.iter().chain(&self.coarse).all(|point| point.is_nan())
    }

    /// The last so many points of every sample; not a number where there is none.
    pub(super) fn fine(&self, count: usize) -> Vec<f64> {
        last(&self.fine, count)
    }

    /// The last so many points at the longer step; the last one is of the time that is not over.
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

/// Points of so many samples become one.
pub(super) fn thinned(points: &[f64], by: usize) -> Vec<f64> {
    // The last group is whole: what is new must not change its weight with every sample.
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

/// Whether a point at the longer step ends before this sample, by the samples' numbers.
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
