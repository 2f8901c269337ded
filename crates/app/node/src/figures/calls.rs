//! Counts the calls of the current interval by service: outcomes and durations.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::limits::SERVICES_MAX;

/// A histogram of durations: each bucket is a quarter longer than the one before, from a tenth of a
/// millisecond to two minutes.
const CLASSES: usize = 64;
const FIRST_CLASS_S: f64 = 0.0001;
const CLASS_GROWTH: f64 = 1.25;
/// The label for services beyond the limit.
const OTHER: &str = "other";

/// Counts calls. Clones share their counters.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<BTreeMap<String, Window>>>);

/// Calls of a service since the last reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub by_code: BTreeMap<&'static str, u64>,
    classes: [u64; CLASSES],
}

impl Default for Window {
    fn default() -> Self {
        Self { by_code: BTreeMap::new(), classes: [0; CLASSES] }
    }
}

impl Calls {
    /// Counts a finished call of `package.Service/Method`. `took` is `None` for streams, whose
    /// duration means nothing.
    pub fn ended(&self, method: &str, code: &'static str, took: Option<Duration>) {
        let service = method.split('/').next().unwrap_or_default();
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let service =
            if windows.len() < SERVICES_MAX || windows.contains_key(service) { service } else { OTHER };
        let window = match windows.get_mut(service) {
            Some(window) => window,
            None => windows.entry(service.to_owned()).or_default(),
        };
        *window.by_code.entry(code).or_default() += 1;
        if let Some(took) = took {
            window.classes[class_of(took)] += 1;
        }
    }

    /// Returns and resets the counters, by service. Services that were called before are present
    /// with zero.
    pub fn take(&self) -> BTreeMap<String, Window> {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = windows.clone();
        for window in windows.values_mut() {
            window.classes = [0; CLASSES];
            window.by_code.values_mut().for_each(|count| *count = 0);
        }
        taken
    }
}

impl Window {
    pub fn count(&self) -> u64 {
        self.by_code.values().sum()
    }

    pub fn add(&mut self, other: &Window) {
        for (code, count) in &other.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        for (class, count) in self.classes.iter_mut().zip(other.classes) {
            *class += count;
        }
    }

    /// A quantile of the durations in seconds, accurate to about a tenth of itself. NaN without
    /// calls.
    pub fn quantile(&self, part: f64) -> f64 {
        let count: u64 = self.classes.iter().sum();
        if count == 0 {
            return f64::NAN;
        }
        let wanted = ((count as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        for (class, calls) in self.classes.iter().enumerate() {
            seen += calls;
            if seen >= wanted {
                return FIRST_CLASS_S * CLASS_GROWTH.powf(class as f64 - 0.5);
            }
        }
        f64::NAN
    }
}

/// The bucket of a duration. A bucket ends where the next one begins; the last one is open.
fn class_of(took: Duration) -> usize {
    let classes = (took.as_secs_f64() / FIRST_CLASS_S).ln() / CLASS_GROWTH.ln();
    // Below the first bucket the number is negative or NaN, which becomes zero.
    (classes.ceil() as usize).min(CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_once_with_the_times_that_they_took() {
        let calls = Calls::default();
        for ms in 1..=100 {
            calls.ended("a.B/C", if ms > 90 { "internal" } else { "ok" }, Some(Duration::from_millis(ms)));
        }
        let window = calls.take().remove("a.B").unwrap();
        assert_eq!((window.count(), window.by_code["ok"], window.by_code["internal"]), (100, 90, 10));
        let (half, most) = (window.quantile(0.5), window.quantile(0.95));
        assert!((0.042..0.058).contains(&half), "{half}");
        assert!((0.080..0.110).contains(&most), "{most}");
        calls.ended("a.B/Watch", "ok", None);
        let stream = calls.take().remove("a.B").unwrap();
        assert!(
            stream.count() == 1 && stream.quantile(1.0).is_nan(),
            "a stream takes as long as its client wants"
        );
        let next = calls.take().remove("a.B").unwrap();
        assert_eq!((next.count(), next.by_code["ok"]), (0, 0), "it is known that there were none");
        assert!(next.quantile(0.5).is_nan());
    }

    #[test]
    fn times_beyond_all_classes_and_services_beyond_the_limit_are_counted_too() {
        let calls = Calls::default();
        calls.ended("a.B/C", "ok", Some(Duration::ZERO));
        calls.ended("a.B/C", "ok", Some(Duration::from_secs(100_000)));
        let mut window = calls.take().remove("a.B").unwrap();
        assert_eq!(window.count(), 2);
        assert!(window.quantile(0.1) < 0.0002 && window.quantile(1.0) > 100.0);
        window.add(&window.clone());
        assert_eq!(window.count(), 4);
        for n in 0..SERVICES_MAX + 5 {
            calls.ended(&format!("s{n}/M"), "ok", Some(Duration::ZERO));
        }
        let taken = calls.take();
        assert!(taken.len() <= SERVICES_MAX + 1 && taken["other"].count() == 6, "{}", taken["other"].count());
    }
}
