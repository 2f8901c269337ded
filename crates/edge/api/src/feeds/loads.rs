//! Calls about loads and their problems.

use access::Caller;
use feedfile::{Code, Language};
use feeds::FeedName;
use feeds::{CodeCount, ProblemCursor, ProblemFilter};
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::summarize_problems_response::CodeSummary;
use wire::torg::feeds::v1::{self as proto, Feed, Load, OfferProblem};

use super::view::{FeedView, severity, translate, translated};
use super::{FeedCalls, named};
use crate::caller::Intent;
use crate::errors::Refusal;
use crate::limits::{
    EXTERNAL_ID_BYTES_MAX, LOADS_PAGE, PROBLEM_CODES_MAX, PROBLEMS_PAGE, REASON_CODE_BYTES_MAX, count, name,
    page_size,
};
use crate::tokens::{self, About};

pub(super) struct Versioned {
    pub(super) name: FeedName,
    pub(super) feed: Feed,
    pub(super) load: Load,
}

impl FeedCalls {
    /// The load with this number; the last one for zero.
    pub(super) async fn find_load(&self, name: FeedName, number: u64) -> Result<Versioned, Refusal> {
        let feed = self.feeds.get(&name).await?;
        let load = match number {
            0 => self.feeds.loads(&name, None, 1).await?.pop().ok_or(feeds::Error::NoLoad(0))?,
            number => self.feeds.load(&name, number).await?,
        };
        Ok(Versioned { name, feed, load })
    }

    /// The loads of a feed, newest first.
    pub async fn list_loads(
        &self,
        caller: &Caller,
        request: proto::ListLoadsRequest,
    ) -> Result<proto::ListLoadsResponse, Refusal> {
        let limit = page_size(request.page_size, LOADS_PAGE)?;
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let about = About::method("ListLoads").and("seller", &name.seller).and("namespace", &name.namespace);
        let before: Option<u64> = tokens::page(&about, &request.page_token)?;
        let feed = self.feeds.get(&name).await?;
        let mut loads = self.feeds.loads(&name, before, limit + 1).await?;
        let next_page_token = tokens::cut(&about, &mut loads, limit, |last| last.number);
        let view = FeedView::by(caller);
        Ok(proto::ListLoadsResponse {
            loads: loads.into_iter().map(|load| view.load(&feed, load)).collect(),
            next_page_token,
            ..Default::default()
        })
    }

    /// One load, with its error in this language.
    pub async fn get_load(
        &self,
        caller: &Caller,
        request: proto::GetLoadRequest,
        language: Language,
    ) -> Result<proto::GetLoadResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let Versioned { feed, load, .. } = self.find_load(name, request.number).await?;
        let mut load = FeedView::by(caller).load(&feed, load);
        if let Some(failure) = load.failure.as_option_mut() {
            translate(failure, language);
        }
        Ok(proto::GetLoadResponse { load: Some(load).into(), ..Default::default() })
    }

    /// Confirms a waiting load.
    pub async fn confirm_load(
        &self,
        caller: &Caller,
        request: proto::ConfirmLoadRequest,
    ) -> Result<proto::ConfirmLoadResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Write)?;
        if request.number == 0 {
            return Err(Refusal::required("number"));
        }
        let Versioned { name, feed, .. } = self.find_load(name, request.number).await?;
        let load = self.feeds.confirm(&name, request.number).await?;
        let load = FeedView::by(caller).load(&feed, load);
        Ok(proto::ConfirmLoadResponse { load: Some(load).into(), ..Default::default() })
    }

    /// The problems of a load that match a filter, in file order. Empty for a feed whose problems
    /// the caller may not see.
    pub async fn list_problems(
        &self,
        caller: &Caller,
        request: proto::ListProblemsRequest,
        language: Language,
    ) -> Result<proto::ListProblemsResponse, Refusal> {
        let limit = page_size(request.page_size, PROBLEMS_PAGE)?;
        let filter = filter(&request)?;
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let Versioned { name, feed, load } = self.find_load(name, request.number).await?;
        if FeedView::by(caller).hides_problems_of(&feed) {
            return Ok(proto::ListProblemsResponse::default());
        }
        let about = About::method("ListProblems")
            .and("seller", &name.seller)
            .and("namespace", &name.namespace)
            .and("number", load.number.to_be_bytes())
            .and("codes", filter.codes.join(","))
            .and("severity", format!("{:?}", filter.severity))
            .and("external_id", &filter.external_id);
        let after: Option<ProblemCursor> = tokens::page(&about, &request.page_token)?;
        let page = self.feeds.problems(&name, load.number, &filter, after, limit).await?;
        Ok(proto::ListProblemsResponse {
            problems: page.problems.into_iter().map(|problem| translated(problem, language)).collect(),
            next_page_token: tokens::encode(&about, page.next.as_ref()),
            ..Default::default()
        })
    }

    /// The problems of a load by code: errors first, then by frequency.
    pub async fn summarize_problems(
        &self,
        caller: &Caller,
        request: proto::SummarizeProblemsRequest,
        language: Language,
    ) -> Result<proto::SummarizeProblemsResponse, Refusal> {
        let name = named(caller, &request.seller, &request.namespace, Intent::Read)?;
        let Versioned { name, feed, load } = self.find_load(name, request.number).await?;
        if FeedView::by(caller).hides_problems_of(&feed) {
            return Ok(proto::SummarizeProblemsResponse::default());
        }
        let counted = self.feeds.count_problems(&name, &load).await?;
        let mut codes: Vec<CodeSummary> = counted
            .into_iter()
            .map(|(code, CodeCount { count, examples })| self.summary(&code, count, examples, language))
            .collect();
        let is_error = |summary: &CodeSummary| summary.severity.as_known() == Some(Severity::SEVERITY_ERROR);
        codes.sort_by_key(|summary| (!is_error(summary), std::cmp::Reverse(summary.count)));
        Ok(proto::SummarizeProblemsResponse { codes, ..Default::default() })
    }

    fn summary(
        &self,
        name: &str,
        count: u64,
        examples: Vec<OfferProblem>,
        language: Language,
    ) -> CodeSummary {
        let code = Code::from_name(name);
        let texts = code.map(|code| code.texts(language));
        let first = examples.first().and_then(|example| example.problem.as_option());
        let usual = code.map(severity).unwrap_or_default();
        let severity = first.and_then(|problem| problem.severity.as_known()).unwrap_or(usual);
        CodeSummary {
            code: name.to_owned(),
            severity: severity.into(),
            count,
            meaning: texts.map(|texts| texts.meaning.to_owned()).unwrap_or_default(),
            remedy: texts.map(|texts| texts.remedy.to_owned()).unwrap_or_default(),
            link: self.link(name),
            examples: examples.into_iter().map(|example| translated(example, language)).collect(),
            ..CodeSummary::default()
        }
    }

    /// The page that explains a code.
    pub(super) fn link(&self, code: &str) -> String {
        if Code::from_name(code).is_some() { format!("{}#{code}", self.errors_url) } else { String::new() }
    }
}

fn filter(request: &proto::ListProblemsRequest) -> Result<ProblemFilter, Refusal> {
    count("codes", request.codes.len(), PROBLEM_CODES_MAX)?;
    for (number, code) in request.codes.iter().enumerate() {
        name(&format!("codes[{number}]"), code, REASON_CODE_BYTES_MAX)?;
    }
    if !request.external_id.is_empty() {
        name("external_id", &request.external_id, EXTERNAL_ID_BYTES_MAX)?;
    }
    let severity = match request.severity.as_known() {
        Some(Severity::SEVERITY_UNSPECIFIED) => None,
        Some(severity) => Some(severity),
        None => return Err(Refusal::wrong_field("severity", "UNKNOWN_VALUE", "there is no such severity")),
    };
    Ok(ProblemFilter { codes: request.codes.clone(), severity, external_id: request.external_id.clone() })
}
