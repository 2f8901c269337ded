//! One sample of all figures.

use watcher::Latencies;

use super::names::Name;
use super::shown::{Labels, Point};

/// Points for the history in memory, and measures for `/metrics`.
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

/// The value of a line of `/metrics`.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Gauge(f64),
    Counter(f64),
    /// A histogram of durations.
    Times(Box<Latencies>),
}

impl Sample {
    /// Adds a gauge to both the history and `/metrics`.
    pub(super) fn gauge(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels.clone(), value, Value::Gauge);
        self.figure(name, labels, value);
    }

    /// Adds a number to the history only: `/metrics` has it in another form or from another source.
    pub(super) fn figure(&mut self, name: Name, labels: Labels, value: f64) {
        self.points.push(Point { name, labels, value });
    }

    /// Adds a counter to `/metrics`; the history has its rate.
    pub(super) fn counter(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels, value, Value::Counter);
    }

    /// Adds a number to `/metrics` only: its history means nothing.
    pub(super) fn only_measure(&mut self, name: Name, labels: Labels, value: f64) {
        self.measure(name, labels, value, Value::Gauge);
    }

    /// Adds a histogram to `/metrics`; the history has quantiles of it.
    pub(super) fn times(&mut self, name: Name, labels: Labels, times: Latencies) {
        self.measures.push(Measure { name, labels, value: Value::Times(Box::new(times)) });
    }

    /// Unknown values are omitted.
    fn measure(&mut self, name: Name, labels: Labels, value: f64, kind: fn(f64) -> Value) {
        if !value.is_nan() {
            self.measures.push(Measure { name, labels, value: kind(value) });
        }
    }
}

pub(super) fn label(name: &'static str, value: &str) -> Labels {
    vec![(name, value.to_owned())]
}
