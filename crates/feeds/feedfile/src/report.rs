//! Checks a whole file and reports to people and programs.

mod labels;
mod render;

use crate::limits::REPORT_EXAMPLES_MAX;
use crate::{
    Availability, Batch, Code, Excerpt, Header, Item, Options, Outcome, Problem, Reader, Severity, Summary,
};
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Receives the progress of a check.
pub trait Progress {
    /// Bytes of the packed input and offers that are read so far.
    fn advance(&mut self, bytes: u64, offers: u64);
}

impl Progress for () {
    fn advance(&mut self, _: u64, _: u64) {}
}

#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub severity: Severity,
    pub count: u64,
    /// The first ones: every error, but one warning for each field and message.
    pub examples: Vec<Example>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    pub problem: Problem,
    /// Other occurrences of the same message about the same field.
    pub same: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Counts, and how the file ended.
    pub summary: Summary,
    /// The problems by code, errors first.
    pub groups: BTreeMap<(Severity, Code), Group>,
    /// Accepted offers that are out of stock.
    pub withdrawn: u64,
}

/// Checks offers by what the file alone does not tell, such as a catalogue.
pub trait Judge {
    /// Further problems of a readable offer.
    fn judge(&mut self, item: Item, header: &Header) -> Vec<Problem>;
}

impl Judge for () {
    fn judge(&mut self, _: Item, _: &Header) -> Vec<Problem> {
        Vec::new()
    }
}

/// Reads a whole file and collects its problems, in bounded memory.
pub fn check(input: impl Read + Send, options: Options, progress: &mut dyn Progress) -> Report {
    check_with(input, options, progress, &mut (), REPORT_EXAMPLES_MAX)
}

/// The same with a judge and a limit of examples for each code.
pub fn check_with(
    input: impl Read + Send,
    options: Options,
    progress: &mut dyn Progress,
    judge: &mut dyn Judge,
    examples_max: usize,
) -> Report {
    let mut gathered = Gathered { examples_max, ..Gathered::default() };
    let mut summary = match Reader::open(input, options) {
        Err(problem) => {
            let mut summary = Summary::new();
            summary.break_off(problem);
            summary
        }
        Ok(reader) => reader.read(|batch| {
            gathered.take(batch, judge, progress);
            ControlFlow::Continue(())
        }),
    };
    gathered.judged.iter().for_each(|(problem, count)| summary.count_more(*problem, *count));
    summary.accepted -= gathered.rejected;
    summary.rejected += gathered.rejected;
    for problem in &summary.problems {
        gathered.add(problem.clone());
    }
    if let Outcome::Broken(problem) = &mut summary.outcome {
        gathered.add((**problem).clone());
    }
    Report { summary, groups: gathered.groups, withdrawn: gathered.withdrawn }
}

#[derive(Default)]
struct Gathered {
    groups: BTreeMap<(Severity, Code), Group>,
    examples_max: usize,
    offers: u64,
    withdrawn: u64,
    rejected: u64,
    /// Problems found by the judge, which the reader did not count.
    judged: BTreeMap<(Severity, Code), u64>,
}

impl Gathered {
    fn take(&mut self, mut batch: Batch, judge: &mut dyn Judge, progress: &mut dyn Progress) {
        let (items, header) = (std::mem::take(&mut batch.items), Arc::clone(&batch.header));
        for (number, mut item) in items.into_iter().enumerate() {
            self.offers += 1;
            for problem in std::mem::take(&mut item.problems) {
                self.add(problem);
            }
            let Some(offer) = &item.offer else { continue };
            let availability = offer.availability.as_ref().map(|at| at.value);
            self.withdrawn += u64::from(availability == Some(Availability::OutOfStock));
            let found = judge.judge(item, &header);
            self.rejected += u64::from(found.iter().any(|problem| problem.severity == Severity::Error));
            for problem in found {
                let key = (problem.severity, problem.code);
                *self.judged.entry(key).or_default() += 1;
                let is_shown = !self.is_counted_only(&problem);
                let excerpt = if is_shown { batch.excerpt(number, problem.at) } else { Excerpt::default() };
                self.add(problem.with_excerpt(excerpt));
            }
        }
        progress.advance(batch.bytes_read, self.offers);
    }

    /// Whether another problem of this kind is only counted.
    fn is_counted_only(&self, problem: &Problem) -> bool {
        let group = self.groups.get(&(problem.severity, problem.code));
        group.is_some_and(|group| group.examples.len() >= self.examples_max || group.alike(problem).is_some())
    }

    fn add(&mut self, problem: Problem) {
        let severity = problem.severity;
        let group = self.groups.entry((severity, problem.code)).or_insert_with(|| Group {
            severity,
            count: 0,
            examples: Vec::new(),
        });
        group.count += 1;
        if let Some(alike) = group.alike(&problem) {
            group.examples[alike].same += 1;
        } else if group.examples.len() < self.examples_max {
            group.examples.push(Example { problem, same: 0 });
        }
    }
}

impl Group {
    /// The example with the same text as a warning. Errors are listed one by one.
    fn alike(&self, problem: &Problem) -> Option<usize> {
        let is_same = |known: &Problem| known.field == problem.field && known.message == problem.message;
        let is_warning = problem.severity == Severity::Warning && !problem.field.is_empty();
        self.examples.iter().position(|known| is_warning && is_same(&known.problem))
    }
}
