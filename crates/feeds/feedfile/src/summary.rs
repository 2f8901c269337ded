//! What became of a file.

use crate::header::Header;
use crate::input::Packing;
use crate::{Code, Format, Problem, Severity};
use std::collections::BTreeMap;

/// Whether a file was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was: what is not in it is not offered any more.
    Complete,
    /// It was not: the offers before the place hold, and nothing follows about others.
    Broken(Box<Problem>),
    /// The caller wanted no more.
    Stopped,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// None if it is none that Torg reads.
    pub format: Option<Format>,
    /// The encoding of the text: `UTF-8`, `windows-1251`.
    pub encoding: &'static str,
    /// What it was packed with.
    pub packing: Packing,
    /// Bytes after unpacking.
    pub bytes: u64,
    /// Offers of the file.
    pub offers: u64,
    /// Those that can be taken.
    pub accepted: u64,
    /// Those with errors.
    pub rejected: u64,
    /// Those of the rejected whose id is not known either: nobody can tell which offers they are.
    pub rejected_without_id: u64,
    /// Errors by code.
    pub errors_by_code: BTreeMap<Code, u64>,
    /// Warnings by code.
    pub warnings_by_code: BTreeMap<Code, u64>,
    /// Problems of the file itself, beside its offers.
    pub problems: Vec<Problem>,
    /// What the file says beside its offers.
    pub header: Header,
    /// Whether it was read to its end.
    pub outcome: Outcome,
}

impl Summary {
    pub(crate) fn new() -> Self {
        Self {
            format: None,
            encoding: "",
            packing: Packing::Plain,
            bytes: 0,
            offers: 0,
            accepted: 0,
            rejected: 0,
            rejected_without_id: 0,
            errors_by_code: BTreeMap::new(),
            warnings_by_code: BTreeMap::new(),
            problems: Vec::new(),
            header: Header::default(),
            outcome: Outcome::Complete,
        }
    }

    /// All warnings.
    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.warnings_by_code.values().sum()
    }

    /// Everything was read, and nothing in it is an error.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.outcome == Outcome::Complete && self.errors_by_code.is_empty()
    }

    pub(crate) fn count(&mut self, problem: &Problem) {
        self.count_more((problem.severity, problem.code), 1);
    }

    pub(crate) fn count_more(&mut self, (severity, code): (Severity, Code), more: u64) {
        let counts = match severity {
            Severity::Error => &mut self.errors_by_code,
            Severity::Warning => &mut self.warnings_by_code,
        };
        *counts.entry(code).or_default() += more;
    }

    /// Ends as broken by this problem.
    pub(crate) fn break_off(&mut self, problem: Box<Problem>) {
        self.count(&problem);
        self.outcome = Outcome::Broken(problem);
    }
}
