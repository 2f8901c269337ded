//! Reports: the problems of a load, filtered and paged, or counted by code. Problems of the file
//! come first; for the last load, later problems of its offers follow: bans, photos that cannot be
//! fetched.

use std::collections::BTreeMap;

use buffa::Message as _;
use store::Read as _;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{Load, OfferProblem, OfferProblems};

use crate::error::{Result, damaged};
use crate::feeds::Feeds;
use crate::limits::{EXAMPLES, LATER_PROBLEMS_MAX, PROBLEMS_READ_MAX, ROW_PROBLEMS};
use crate::name::FeedName;
use crate::tables::PROBLEMS;

/// Selects problems; an empty field selects all.
#[derive(Clone, Debug, Default)]
pub struct ProblemFilter {
    pub codes: Vec<String>,
    pub severity: Option<Severity>,
    pub external_id: String,
}

#[derive(Clone, Debug, Default)]
pub struct ProblemPage {
    pub problems: Vec<OfferProblem>,
    /// The cursor of the next page, if there may be one.
    pub next: Option<ProblemCursor>,
}

/// A position in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemCursor {
    /// A batch and a position in it.
    InFile(u32, u32),
    /// After the problems of the file, and after this offer.
    Later(String),
}

#[derive(Clone, Debug, Default)]
pub struct CodeCount {
    pub count: u64,
    pub examples: Vec<OfferProblem>,
}

impl ProblemFilter {
    fn takes(&self, problem: &OfferProblem) -> bool {
        let Some(found) = problem.problem.as_option() else { return false };
        (self.codes.is_empty() || self.codes.contains(&found.code))
            && self.severity.is_none_or(|severity| found.severity.as_known() == Some(severity))
            && (self.external_id.is_empty() || self.external_id == problem.external_id)
    }
}

impl Feeds {
    /// Problems of a load after a cursor. A page may have fewer than `limit` problems without being
    /// the last, because a call reads a limited number of rows, and more if one offer has them.
    pub async fn problems(
        &self,
        name: &FeedName,
        load: u64,
        filter: &ProblemFilter,
        after: Option<ProblemCursor>,
        limit: usize,
    ) -> Result<ProblemPage> {
        match after {
            Some(ProblemCursor::Later(external)) => self.later_problems(name, filter, &external, limit).await,
            Some(ProblemCursor::InFile(batch, place)) => {
                self.problems_in_file(name, load, filter, Some((batch, place)), limit).await
            }
            None => self.problems_in_file(name, load, filter, None, limit).await,
        }
    }

    async fn problems_in_file(
        &self,
        name: &FeedName,
        load: u64,
        filter: &ProblemFilter,
        after: Option<(u32, u32)>,
        limit: usize,
    ) -> Result<ProblemPage> {
        let prefix = (self.seller_shard(&name.seller), &*name.seller, &*name.namespace, load.cast_signed());
        let mut scan = PROBLEMS.prefix(prefix).limit(PROBLEMS_READ_MAX / ROW_PROBLEMS);
        if let Some((batch, place)) = after {
            // Begin with the row of the cursor, which may have more problems.
            let row = place - place % ROW_PROBLEMS as u32;
            let before = match (batch, row.checked_sub(1)) {
                (batch, Some(place)) => Some((batch, place)),
                (batch, None) => batch.checked_sub(1).map(|batch| (batch, u32::MAX)),
            };
            if let Some((batch, place)) = before {
                scan = scan.after(PROBLEMS.key((prefix.0, prefix.1, prefix.2, prefix.3, batch, place)));
            }
        }
        let mut page = ProblemPage::default();
        let rows = self.store().scan(&scan).await?.rows;
        for row in &rows {
            let (_, _, _, _, batch, first) = PROBLEMS.parts(&row.key)?;
            let kept = OfferProblems::decode_from_slice(&row.value).map_err(|error| damaged(row, error))?;
            for (place, problem) in (first..).zip(kept.problems) {
                if after.is_some_and(|after| (batch, place) <= after) {
                    continue;
                }
                page.next = Some(ProblemCursor::InFile(batch, place));
                if filter.takes(&problem) {
                    page.problems.push(problem);
                    if page.problems.len() == limit {
                        return Ok(page);
                    }
                }
            }
        }
        // The store may return less than the limit; only an empty page is the end.
        if page.next.is_none() {
            let is_last = self.loads(name, None, 1).await?.first().is_some_and(|last| last.number == load);
            page.next = is_last.then(|| ProblemCursor::Later(String::new()));
        }
        Ok(page)
    }

    /// Current problems of the offers of a feed.
    async fn later_problems(
        &self,
        name: &FeedName,
        filter: &ProblemFilter,
        after: &str,
        limit: usize,
    ) -> Result<ProblemPage> {
        let mut page = ProblemPage::default();
        let FeedName { seller, namespace } = name;
        let troubled = self.offers().troubles(seller, namespace, after, PROBLEMS_READ_MAX).await?;
        for (external_id, troubles) in troubled {
            page.next = Some(ProblemCursor::Later(external_id.clone()));
            let found = troubles.problems.into_iter().map(|problem| OfferProblem {
                external_id: external_id.clone(),
                title: troubles.title.clone(),
                offer: troubles.offer.clone(),
                problem: Some(problem).into(),
                ..OfferProblem::default()
            });
            page.problems.extend(found.filter(|problem| filter.takes(problem)));
            if page.problems.len() >= limit {
                break;
            }
        }
        Ok(page)
    }

    /// The problems of a load by code. Later problems are counted up to a limit.
    pub async fn count_problems(&self, name: &FeedName, load: &Load) -> Result<BTreeMap<String, CodeCount>> {
        let counted = |count: &u64| CodeCount { count: *count, examples: Vec::new() };
        let mut codes: BTreeMap<String, CodeCount> =
            load.problems_by_code.iter().map(|(code, count)| (code.clone(), counted(count))).collect();
        let (mut after, mut later) = (None, 0);
        loop {
            // Problems of the file are counted already: only examples are read.
            let has_all = codes.values().all(|code| code.examples.len() >= EXAMPLES.min(code.count as usize));
            if has_all && matches!(after, None | Some(ProblemCursor::InFile(..))) {
                after = Some(ProblemCursor::InFile(u32::MAX, u32::MAX));
            }
            let is_later = matches!(after, Some(ProblemCursor::Later(_)));
            let page =
                self.problems(name, load.number, &ProblemFilter::default(), after, PROBLEMS_READ_MAX).await?;
            for problem in page.problems {
                let code =
                    problem.problem.as_option().map(|problem| problem.code.clone()).unwrap_or_default();
                let code = codes.entry(code).or_default();
                (code.count, later) = (code.count + u64::from(is_later), later + usize::from(is_later));
                if code.examples.len() < EXAMPLES {
                    code.examples.push(problem);
                }
            }
            after = page.next;
            if after.is_none() || later >= LATER_PROBLEMS_MAX {
                return Ok(codes);
            }
        }
    }
}
