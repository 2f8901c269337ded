//! A histogram of the time that visits take.

use std::time::Duration;

/// The end of the first class; each further one ends at twice as much, and the last one has no end.
const FIRST_US: u64 = 250;
const CLASSES: usize = 20;

/// How long visits took since the process started to serve: from the first read to the last commit
/// of their call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    classes: [u64; CLASSES],
    sum_us: u64,
}

impl Latencies {
    pub(crate) fn note(&mut self, took: Duration, visits: u64) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let doubled = us.saturating_sub(1) / FIRST_US;
        let class = (u64::BITS - doubled.leading_zeros()) as usize;
        self.classes[class.min(CLASSES - 1)] += visits;
        self.sum_us = self.sum_us.saturating_add(us.saturating_mul(visits));
    }

    #[must_use]
    pub fn count(&self) -> u64 {
        self.classes.iter().sum()
    }

    #[must_use]
    pub fn sum_s(&self) -> f64 {
        self.sum_us as f64 / 1e6
    }

    /// The upper end of each class in seconds, and its number of visits.
    pub fn classes(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.classes.iter().enumerate().map(|(class, visits)| (end_s(class), *visits))
    }

    pub fn add(&mut self, other: &Latencies) {
        for (visits, more) in self.classes.iter_mut().zip(other.classes) {
            *visits += more;
        }
        self.sum_us = self.sum_us.saturating_add(other.sum_us);
    }

    /// The visits since then; `None` if the process was restarted.
    #[must_use]
    pub fn since(&self, before: &Latencies) -> Option<Latencies> {
        let mut since = Latencies { sum_us: self.sum_us.checked_sub(before.sum_us)?, ..Latencies::default() };
        for (class, visits) in since.classes.iter_mut().enumerate() {
            *visits = self.classes[class].checked_sub(before.classes[class])?;
        }
        Some(since)
    }

    /// A quantile in seconds, as if the visits of a class were spread evenly; not a number without
    /// visits.
    #[must_use]
    pub fn quantile(&self, part: f64) -> f64 {
        let wanted = self.count() as f64 * part;
        let mut before = 0.0;
        for (class, visits) in self.classes.iter().enumerate().filter(|(_, visits)| **visits > 0) {
            let visits = *visits as f64;
            if before + visits >= wanted {
                let begin = if class == 0 { 0.0 } else { end_s(class - 1) };
                // The last class is taken to end where the next one would.
                let end = FIRST_US as f64 / 1e6 * 2_f64.powi(class as i32);
                return begin + (end - begin) * ((wanted - before) / visits);
            }
            before += visits;
        }
        f64::NAN
    }

    pub(crate) fn to_row(self) -> (Vec<u64>, u64) {
        let used = self.classes.iter().rposition(|visits| *visits > 0).map_or(0, |last| last + 1);
        (self.classes[..used].to_vec(), self.sum_us)
    }

    /// A newer process may know more classes; they are longer than ours.
    pub(crate) fn from_row(classes: &[u64], sum_us: u64) -> Self {
        let mut latencies = Self { sum_us, ..Self::default() };
        for (class, visits) in classes.iter().enumerate() {
            latencies.classes[class.min(CLASSES - 1)] += visits;
        }
        latencies
    }
}

fn end_s(class: usize) -> f64 {
    if class + 1 >= CLASSES { f64::INFINITY } else { FIRST_US as f64 / 1e6 * 2_f64.powi(class as i32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visits_are_counted_by_the_time_that_they_took() {
        let mut latencies = Latencies::default();
        assert!(latencies.quantile(0.5).is_nan(), "there were none");
        for ms in 1..=100 {
            latencies.note(Duration::from_millis(ms), 1);
        }
        let (half, most) = (latencies.quantile(0.5), latencies.quantile(0.95));
        assert!((0.032..0.064).contains(&half), "{half}");
        assert!((0.064..0.128).contains(&most), "{most}");
        assert_eq!((latencies.count(), latencies.sum_s()), (100, 5.05));
        let before = latencies;
        latencies.note(Duration::from_secs(3), 8);
        let since = latencies.since(&before).unwrap();
        assert_eq!(since.count(), 8);
        assert!((2.0..4.1).contains(&since.quantile(0.5)), "{}", since.quantile(0.5));
        assert_eq!(before.since(&latencies), None, "that is another process");
    }

    #[test]
    fn every_time_falls_into_the_class_that_ends_with_it_or_behind_it() {
        for us in [0, 1, 250, 251, 500, 501, 1000, 64_000_000, 65_536_000, 65_536_001, u64::MAX] {
            let mut latencies = Latencies::default();
            latencies.note(Duration::from_micros(us), 1);
            let (end, _) = latencies.classes().find(|(_, visits)| *visits == 1).unwrap();
            let s = us as f64 / 1e6;
            assert!(s <= end, "{us}");
            assert!(end < 0.000_3 || end.is_infinite() && s > 65.0 || s > end / 2.0, "{us}: {end}");
        }
    }

    #[test]
    fn what_a_process_has_counted_is_read_by_others() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.to_row(), (Vec::new(), 0));
        latencies.note(Duration::from_millis(3), 2);
        latencies.note(Duration::from_secs(1000), 1);
        let (classes, sum_us) = latencies.to_row();
        assert_eq!(Latencies::from_row(&classes, sum_us), latencies);
        let mut longer = classes;
        longer.push(1);
        assert_eq!(Latencies::from_row(&longer, sum_us).count(), 4);
    }
}
