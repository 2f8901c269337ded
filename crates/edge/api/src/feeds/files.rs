//! Uploads and downloads: files of feeds and reports.

use access::Caller;
use bytes::Bytes;
use feedfile::Language;
use feeds::FeedName;
use feeds::{Feeds, ProblemCursor, ProblemFilter, Spool};
use wire::torg::feeds::v1::OfferProblem;
use wire::torg::feeds::v1::load::Origin;
use wire::torg::feeds::v1::problem::Severity;

use super::loads::Versioned;
use super::view::{FeedView, translated};
use super::{FeedCalls, named};
use crate::caller::Intent;
use crate::errors::Refusal;
use crate::limits::REPORT_PAGE;

/// An upload in progress. Dropping it discards the data.
pub struct Upload {
    feeds: Feeds,
    name: FeedName,
    origin: Origin,
    spool: Spool,
}

/// Reads the problems of a load page by page.
pub struct Report {
    calls: FeedCalls,
    name: FeedName,
    number: u64,
    language: Language,
    after: Option<ProblemCursor>,
    is_over: bool,
}

/// A row of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProblemRow {
    /// External id of the offer.
    pub offer: String,
    pub title: String,
    /// `error` or `warning`.
    pub severity: &'static str,
    pub code: String,
    pub field: String,
    pub value: String,
    /// 0 if unknown.
    pub line: u32,
    pub column: u32,
    pub message: String,
    pub remedy: String,
    /// The page that explains the code.
    pub link: String,
}

impl FeedCalls {
    /// Starts an upload to an existing feed.
    pub async fn upload(&self, caller: &Caller, seller: &str, namespace: &str) -> Result<Upload, Refusal> {
        let name = named(caller, seller, namespace, Intent::Write)?;
        let feed = self.feeds.get(&name).await?;
        let origin = if feed.parsed.is_set() { Origin::ORIGIN_PARSED } else { Origin::ORIGIN_UPLOAD };
        let (feeds, spool) = (self.feeds.clone(), self.feeds.files().spool()?);
        Ok(Upload { feeds, name, origin, spool })
    }

    /// Empty for a feed whose problems the caller may not see.
    pub async fn report(
        &self,
        caller: &Caller,
        (seller, namespace, number): (&str, &str, u64),
        language: Language,
    ) -> Result<Report, Refusal> {
        let name = named(caller, seller, namespace, Intent::Read)?;
        let Versioned { name, feed, load } = self.find_load(name, number).await?;
        let is_over = FeedView::by(caller).hides_problems_of(&feed);
        Ok(Report { calls: self.clone(), name, number: load.number, language, after: None, is_over })
    }
}

impl Upload {
    #[must_use]
    pub fn name(&self) -> &FeedName {
        &self.name
    }

    pub fn write(&mut self, piece: &Bytes) -> Result<(), Refusal> {
        Ok(self.spool.write(piece)?)
    }

    /// Completes the upload; returns the number of its load.
    pub async fn finish(self) -> Result<u64, Refusal> {
        Ok(self.feeds.upload(&self.name, self.spool.finish()?, self.origin).await?)
    }
}

impl Report {
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next rows; `None` at the end. A page may be empty without being the last.
    pub async fn next(&mut self) -> Result<Option<Vec<ProblemRow>>, Refusal> {
        if self.is_over {
            return Ok(None);
        }
        let filter = ProblemFilter::default();
        let after = self.after.take();
        let page = self.calls.feeds.problems(&self.name, self.number, &filter, after, REPORT_PAGE).await?;
        self.is_over = page.next.is_none();
        self.after = page.next;
        let row = |problem| row(translated(problem, self.language), &self.calls);
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
