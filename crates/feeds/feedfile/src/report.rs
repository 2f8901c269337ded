//! The check of a whole file for people and programs.

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

/// Told how far a check has come.
pub trait Progress {
    /// So many bytes of the input have been read, as it is packed, and so many offers were found.
    fn advance(&mut self, bytes: u64, offers: u64);
}

impl Progress for () {
    fn advance(&mut self, _: u64, _: u64) {}
}

/// Problems of one code.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What follows from them.
    pub severity: Severity,
    /// How many there are.
    pub count: u64,
    /// The first of them: of errors all, of warnings one for each field and message.
    pub examples: Vec<Example>,
}

/// A problem that stands for others.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The first one.
    pub problem: Problem,
    /// How many say the same of the same field in other places.
    pub same: u64,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Counts, and what became of the file.
    pub summary: Summary,
    /// The problems by code, errors first.
    pub groups: BTreeMap<(Severity, Code), Group>,
    /// Offers that are accepted, but not to be had at present.
    pub withdrawn: u64,
}

/// Looks at what a file alone does not tell of an offer: what the catalogue says.
pub trait Judge {
    /// What else is wrong with an offer that can be read.
    fn judge(&mut self, item: Item, header: &Header) -> Vec<Problem>;
}

impl Judge for () {
    fn judge(&mut self, _: Item, _: &Header) -> Vec<Problem> {
        Vec::new()
    }
}

/// Reads a whole file and gathers its problems; memory does not grow with their number.
pub fn check(input: impl Read + Send, options: Options, progress: &mut dyn Progress) -> Report {
    check_with(input, options, progress, &mut (), REPORT_EXAMPLES_MAX)
}

/// The same with a judge, and with so many examples of each code.
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
    /// By the judge.
    rejected: u64,
    /// What the judge found, which the reader did not count.
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

    /// Whether a problem of this kind would only be counted.
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
    /// The example that says the same as a warning does. Each error has to be mended where it is.
    fn alike(&self, problem: &Problem) -> Option<usize> {
        let is_same = |known: &Problem| known.field == problem.field && known.message == problem.message;
        let is_warning = problem.severity == Severity::Warning && !problem.field.is_empty();
        self.examples.iter().position(|known| is_warning && is_same(&known.problem))
    }
}
