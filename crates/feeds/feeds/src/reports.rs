//! Reports: the problems of a load, filtered and paged, and in short by code. First what was found in the file; then, of the last load, what went wrong with its offers since: bans,
//! photos that cannot be had.

use std::collections::BTreeMap;

use buffa::Message as _;
use store::Read as _;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::{Load, OfferProblem, OfferProblems};

use crate::error::{Result, damaged};
use crate::feeds::Feeds;
use crate::limits::{EXAMPLES, LATER_PROBLEMS_MAX, PROBLEM_LOOKS_MAX, ROW_PROBLEMS};
use crate::name::FeedName;
use crate::tables::PROBLEMS;

/// Which problems are wanted; what is empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct ProblemFilter {
    /// Of these codes.
    pub codes: Vec<String>,
    /// Of this severity.
    pub severity: Option<Severity>,
    /// Of this offer.
    pub external_id: String,
}

/// Some problems, and where the next ones begin.
#[derive(Clone, Debug, Default)]
pub struct ProblemPage {
    /// In the order of the file.
    pub problems: Vec<OfferProblem>,
    /// The place behind which there may be more.
    pub next: Option<ProblemPlace>,
}

/// A place in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemPlace {
    /// A batch, and a place in it.
    InFile(u32, u32),
    /// Behind what was found in the file, and behind this offer.
    Later(String),
}

/// The problems of one code.
#[derive(Clone, Debug, Default)]
pub struct CodeCount {
    /// How many there are.
    pub count: u64,
    /// Some of them.
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
    /// Problems of a load behind a place. A page may have fewer than `limit` and yet not be the last: one call looks at so many rows only. It may have some more if one offer has them.
    pub async fn problems(
        &self,
        name: &FeedName,
        load: u64,
        filter: &ProblemFilter,
        after: Option<ProblemPlace>,
        limit: usize,
    ) -> Result<ProblemPage> {
        match after {
            Some(ProblemPlace::Later(external)) => self.later_problems(name, filter, &external, limit).await,
            Some(ProblemPlace::InFile(batch, place)) => {
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
        let mut scan = PROBLEMS.prefix(prefix).limit(PROBLEM_LOOKS_MAX / ROW_PROBLEMS);
        if let Some((batch, place)) = after {
            // The row before the one in which the place is: that one may have more.
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
                page.next = Some(ProblemPlace::InFile(batch, place));
                if filter.takes(&problem) {
                    page.problems.push(problem);
                    if page.problems.len() == limit {
                        return Ok(page);
                    }
                }
            }
        }
        // What the store gave may be less than was asked for; only if it had nothing more is that the end.
        if page.next.is_none() {
            let is_last = self.loads(name, None, 1).await?.first().is_some_and(|last| last.number == load);
            page.next = is_last.then(|| ProblemPlace::Later(String::new()));
        }
        Ok(page)
    }

    /// What is wrong with the offers of a feed at present.
    async fn later_problems(
        &self,
        name: &FeedName,
        filter: &ProblemFilter,
        after: &str,
        limit: usize,
    ) -> Result<ProblemPage> {
        let mut page = ProblemPage::default();
        let FeedName { seller, namespace } = name;
        let troubled = self.offers().troubles(seller, namespace, after, PROBLEM_LOOKS_MAX).await?;
        for (external_id, troubles) in troubled {
            page.next = Some(ProblemPlace::Later(external_id.clone()));
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

    /// The problems of a load by code. What went wrong later is counted up to a limit.
    pub async fn count_problems(&self, name: &FeedName, load: &Load) -> Result<BTreeMap<String, CodeCount>> {
        let counted = |count: &u64| CodeCount { count: *count, examples: Vec::new() };
        let mut codes: BTreeMap<String, CodeCount> =
            load.problems_by_code.iter().map(|(code, count)| (code.clone(), counted(count))).collect();
        let (mut after, mut later) = (None, 0);
        loop {
            // Of what was found in the file, only examples are wanted.
            let has_all = codes.values().all(|code| code.examples.len() >= EXAMPLES.min(code.count as usize));
            if has_all && matches!(after, None | Some(ProblemPlace::InFile(..))) {
                after = Some(ProblemPlace::InFile(u32::MAX, u32::MAX));
            }
            let is_later = matches!(after, Some(ProblemPlace::Later(_)));
            let page =
                self.problems(name, load.number, &ProblemFilter::default(), after, PROBLEM_LOOKS_MAX).await?;
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
