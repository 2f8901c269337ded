//! What one look at everything came to.

use watcher::Latencies;

use super::names::Name;
use super::shown::{Labels, Point};

/// Figures for the time that is kept in memory, and measures for `/metrics`.
#[derive(Debug, Default)]
pub(super) struct Sample {
    pub(super) points: Vec<Point>,
    pub(super) measures: Vec<Measure>,
}

/// A line of `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    pub name: Name,
    pub labels: Labels,
    pub value: Value,
}

/// What a line of `/metrics` says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// It goes up and down.
    Gauge(f64),
    /// It only grows.
    Counter(f64),
    /// How often it was how long.
    Times(Box<Latencies>),
}

impl Sample {
    /// A number that goes up and down: it is in both.
    pub(super) fn gauge(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels.clone(), value, Value::Gauge);
        self.figure(name, labels, value);
    }

    /// A number that `/metrics` has in another form, or somebody else shows there.
    pub(super) fn figure(&mut self, name: Name, labels: Labels, value: f64) {
        self.points.push(Point { name, labels, value });
    }

    /// A number that only grows: `/metrics` has it, the figures have how fast it grows.
    pub(super) fn counter(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels, value, Value::Counter);
    }

    /// A number that means nothing over time.
    pub(super) fn only_measure(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels, value, Value::Gauge);
    }

    /// How long something took so far: `/metrics` has all of it, the figures have parts of it.
    pub(super) fn times(&mut self, name: Name, labels: Labels, times: Latencies) {
        self.measures.push(Measure { name, labels, value: Value::Times(Box::new(times)) });
    }

    /// What is not known is left out.
    fn measure(&mut self, name: Name, labels: Labels, value: f64, kind: fn(f64) -> Value) {
        if !value.is_nan() {
            self.measures.push(Measure { name, labels, value: kind(value) });
        }
    }
}

/// One label.
pub(super) fn label(name: &'static str, value: &str) -> Labels {
    vec![(name, value.to_owned())]
}
