//! The calls of the last moment: how many of each service ended how, and how long they took.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::limits::SERVICES_MAX;

/// Where times fall: each class is a quarter longer than the one before, from a tenth of a
/// millisecond to two minutes.
const CLASSES: usize = 64;
const FIRST_CLASS_S: f64 = 0.0001;
const CLASS_GROWTH: f64 = 1.25;
/// Services beyond the limit.
const OTHER: &str = "other";

/// Counts calls; clones share what they count.
#[derive(Clone, Debug, Default)]
pub struct Calls(Arc<Mutex<BTreeMap<String, Window>>>);

/// Calls of a service since it was looked at last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Calls by their outcome.
    pub by_code: BTreeMap<&'static str, u64>,
    classes: [u64; CLASSES],
}

impl Default for Window {
    fn default() -> Self {
        Self { by_code: BTreeMap::new(), classes: [0; CLASSES] }
    }
}

impl Calls {
    /// A call ended. The method is `package.Service/Method`. How long it took, unless that says
    /// nothing, as of a stream.
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

    /// What ended since it was asked last, by service. Services that were called before are told
    /// with nothing.
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
    /// How many calls there were.
    pub fn count(&self) -> u64 {
        self.by_code.values().sum()
    }

    /// Adds the calls of another one.
    pub fn add(&mut self, other: &Window) {
        for (code, count) in &other.by_code {
            *self.by_code.entry(code).or_default() += count;
        }
        for (class, count) in self.classes.iter_mut().zip(other.classes) {
            *class += count;
        }
    }

    /// The time, in seconds, that this part of the calls did not exceed; to about a tenth of it.
    /// Not a number if there were none.
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

/// A class ends where the next one begins; the last one has no end.
fn class_of(took: Duration) -> usize {
    let classes = (took.as_secs_f64() / FIRST_CLASS_S).ln() / CLASS_GROWTH.ln();
    // Below the first class it is negative, or no number: zero.
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
