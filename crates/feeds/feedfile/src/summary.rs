//! The result of reading a file.

use crate::header::Header;
use crate::input::Packing;
use crate::{Code, Format, Problem, Severity};
use std::collections::BTreeMap;

/// Whether a file was read to its end.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Yes: offers that it does not have are no longer for sale.
    Complete,
    /// No: the offers before the error are valid; nothing is known of others.
    Broken(Box<Problem>),
    Stopped,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// `None` if the format is unknown.
    pub format: Option<Format>,
    /// The encoding of the text: `UTF-8`, `windows-1251`.
    pub encoding: &'static str,
    pub packing: Packing,
    pub bytes: u64,
    pub offers: u64,
    pub accepted: u64,
    pub rejected: u64,
    /// Rejected offers without a readable id.
    pub rejected_without_id: u64,
    pub errors_by_code: BTreeMap<Code, u64>,
    pub warnings_by_code: BTreeMap<Code, u64>,
    /// Problems of the file itself, not of its offers.
    pub problems: Vec<Problem>,
    /// The header of a file: what it says beside its offers.
    pub header: Header,
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

    #[must_use]
    pub fn warnings(&self) -> u64 {
        self.warnings_by_code.values().sum()
    }

    /// Whether everything was read without an error.
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

    pub(crate) fn break_off(&mut self, problem: Box<Problem>) {
        self.count(&problem);
        self.outcome = Outcome::Broken(problem);
    }
}
