//! What goes beside the calls: files that are uploaded, and reports as files.

use access::Caller;
use bytes::Bytes;
use feedfile::Language;
use feeds::{Feeds, ProblemFilter, ProblemCursor, Spool};
use feeds::FeedName;
use wire::torg::feeds::v1::OfferProblem;
use wire::torg::feeds::v1::load::Origin;
use wire::torg::feeds::v1::problem::Severity;

use super::loads::Found;
use super::shown::{Seen, told};
use super::{FeedCalls, named};
use crate::caller::Intent;
use crate::errors::Refusal;
use crate::limits::REPORT_PAGE;

/// A file that comes in for a feed. What came is forgotten if it is dropped.
pub struct Upload {
    feeds: Feeds,
    name: FeedName,
    origin: Origin,
    spool: Spool,
}

/// The problems of a load, page by page.
pub struct Report {
    calls: FeedCalls,
    name: FeedName,
    number: u64,
    language: Language,
    after: Option<ProblemCursor>,
    is_over: bool,
}

/// A line of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemRow {
    /// The offer's id in the file.
    pub offer: String,
    /// Its title.
    pub title: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// For programs.
    pub code: String,
    /// Which field.
    pub field: String,
    /// What it has.
    pub value: String,
    /// Where in the file; 0 if it is nowhere in particular.
    pub line: u32,
    /// Where in the line.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
    /// Where the code is explained.
    pub link: String,
}

impl FeedCalls {
    /// Begins an upload into a feed that is there.
    pub async fn upload(&self, caller: &Caller, seller: &str, namespace: &str) -> Result<Upload, Refusal> {
        let name = named(caller, seller, namespace, Intent::Write)?;
        let feed = self.feeds.get(&name).await?;
        let origin = if feed.parsed.is_set() { Origin::ORIGIN_PARSED } else { Origin::ORIGIN_UPLOAD };
        let (feeds, spool) = (self.feeds.clone(), self.feeds.files().spool()?);
        Ok(Upload { feeds, name, origin, spool })
    }

    /// The problems of a load as a file. None of a feed whose problems the caller does not see.
    pub async fn report(
        &self,
        caller: &Caller,
        (seller, namespace, number): (&str, &str, u64),
        language: Language,
    ) -> Result<Report, Refusal> {
        let name = named(caller, seller, namespace, Intent::Read)?;
        let Found { name, feed, load } = self.find_load(name, number).await?;
        let is_over = Seen::by(caller).hides_problems_of(&feed);
        Ok(Report { calls: self.clone(), name, number: load.number, language, after: None, is_over })
    }
}

impl Upload {
    /// The feed.
    #[must_use]
    pub fn name(&self) -> &FeedName {
        &self.name
    }

    /// Adds a piece.
    pub fn write(&mut self, piece: &Bytes) -> Result<(), Refusal> {
        Ok(self.spool.write(piece)?)
    }

    /// That was all; the number of the load that it becomes.
    pub async fn finish(self) -> Result<u64, Refusal> {
        Ok(self.feeds.upload(&self.name, self.spool.finish()?, self.origin).await?)
    }
}

impl Report {
    /// The load that it is about.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next lines; `None` at the end. A page may be empty and not the last.
    pub async fn next(&mut self) -> Result<Option<Vec<ProblemRow>>, Refusal> {
        if self.is_over {
            return Ok(None);
        }
        let filter = ProblemFilter::default();
        let after = self.after.take();
        let page = self.calls.feeds.problems(&self.name, self.number, &filter, after, REPORT_PAGE).await?;
        self.is_over = page.next.is_none();
        self.after = page.next;
        let row = |problem| row(told(problem, self.language), &self.calls);
        Ok(Some(page.problems.into_iter().map(row).collect()))
    }
}

fn row(found: OfferProblem, calls: &FeedCalls) -> ProblemRow {
    let problem = found.problem.into_option().unwrap_or_default();
    let severity = match problem.severity.as_known() {
        Some(Severity::SEVERITY_WARNING) => "warning",
        _ => "error",
    };
    ProblemRow {
        offer: found.external_id,
        title: found.title,
        severity,
        link: calls.link(&problem.code),
        code: problem.code,
        field: problem.field,
        value: problem.value,
        line: problem.line,
        column: problem.column,
        message: problem.message,
        remedy: problem.remedy,
    }
}
