//! The problems of a load: by code, as a list, and as a file.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use serde::Deserialize;
use wire::torg::feeds::v1::problem::Severity;
use wire::torg::feeds::v1::summarize_problems_response::CodeSummary;
use wire::torg::feeds::v1::{
    ListProblemsRequest, ListProblemsResponse, OfferProblem, SummarizeProblemsRequest,
    SummarizeProblemsResponse,
};

use super::FeedRef;
use super::load::LoadRef;
use crate::address::Path;
use crate::layout::Section;
use crate::limits::ANSWER_BYTES_MAX;
use crate::services::{Failure, Kind, failure_of};
use crate::view::{Tone, columns, cut, empty, long, number, pager, part, path, piece, query, state, table};
use crate::visit::Visit;

const SHOWN: u32 = 100;
/// Codes of a category that was not recognised.
const CATEGORY_CODES: [&str; 2] = ["unknown_category", "unknown_category_id"];

/// A filter; without one no list is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    code: String,
    severity: String,
    /// External id of an offer.
    offer: String,
    page: String,
}

impl Params {
    fn severity(&self) -> Severity {
        match &*self.severity {
            "error" => Severity::SEVERITY_ERROR,
            "warning" => Severity::SEVERITY_WARNING,
            _ => Severity::SEVERITY_UNSPECIFIED,
        }
    }

    fn is_any(&self) -> bool {
        [&self.code, &self.severity, &self.offer].iter().any(|text| !text.is_empty())
    }
}

pub(super) struct Report {
    summary: Result<SummarizeProblemsResponse, Failure>,
    listed: Option<Result<ListProblemsResponse, Failure>>,
}

pub(super) async fn fetched(visit: &Visit, feed: &FeedRef, load: u64, params: &Params) -> Report {
    let language = visit.language().code().to_owned();
    let summary = SummarizeProblemsRequest {
        seller: feed.seller.clone(),
        namespace: feed.namespace.clone(),
        number: load,
        language: language.clone(),
        ..Default::default()
    };
    let listed = ListProblemsRequest {
        seller: feed.seller.clone(),
        namespace: feed.namespace.clone(),
        number: load,
        codes: Some(params.code.clone()).filter(|code| !code.is_empty()).into_iter().collect(),
        severity: params.severity().into(),
        external_id: params.offer.clone(),
        page_size: SHOWN,
        page_token: params.page.clone(),
        language,
        ..Default::default()
    };
    let (summary, listed) = tokio::join!(visit.call(&summary), async {
        if params.is_any() { Some(visit.call(&listed).await) } else { None }
    });
    Report { summary, listed }
}

impl Report {
    pub(super) fn has_nothing(&self) -> bool {
        self.summary.is_err() && self.listed.as_ref().is_none_or(Result::is_err)
    }

    pub(super) fn show(&self, visit: &Visit, feed: &FeedRef, page: &str, params: &Params) -> Markup {
        html! {
            h2 { (visit.t("Problems found")) }
            div data-live #report {
                (part(visit, &self.summary, |summary| codes(visit, feed, page, &summary.codes)))
            }
            @if let Some(listed) = &self.listed { div data-live #listed { (list(visit, page, params, listed)) } }
        }
    }
}

fn codes(visit: &Visit, feed: &FeedRef, page: &str, codes: &[CodeSummary]) -> Markup {
    if codes.is_empty() {
        return empty(visit.t("No problems so far."));
    }
    html! {
        p.line {
            a.button href={ (page) "/problems.xlsx" } { (visit.t("All as XLSX")) }
            a.button href={ (page) "/problems.csv" } { (visit.t("All as CSV")) }
        }
        ul.problems {
            @for (place, code) in codes.iter().enumerate() { (one_code(visit, feed, page, code, place == 0)) }
        }
    }
}

/// One code with its examples, which are unfolded for the first code.
fn one_code(visit: &Visit, feed: &FeedRef, page: &str, code: &CodeSummary, first: bool) -> Markup {
    let bad = code.severity.as_known() == Some(Severity::SEVERITY_ERROR);
    let all = format!("{page}{}#problems", query(&[("code", &code.code)]));
    html! {
        li.bad[bad].warn[!bad] {
            div.line {
                strong { a href=(all) { (number(code.count)) " × " (code.code) } }
                (severity(visit, bad))
                @if is_web(&code.link) { a href=(code.link) rel="noreferrer" { (visit.t("details")) } }
            }
            p { (code.meaning) }
            @if !code.remedy.is_empty() { p { (visit.t("What to do")) ": " (code.remedy) } }
            @if CATEGORY_CODES.contains(&&*code.code) {
                p { a href=(feed.under(&["categories"])) { (visit.t("Map these categories")) } }
            }
            @if !code.examples.is_empty() {
                details id={ "examples-" (code.code) } open[first] {
                    summary { (visit.t("Examples")) }
                    (rows(visit, page, &format!("example-{}", code.code), &code.examples))
                }
            }
        }
    }
}

fn list(
    visit: &Visit,
    page: &str,
    params: &Params,
    listed: &Result<ListProblemsResponse, Failure>,
) -> Markup {
    let chosen = [("code", &*params.code), ("severity", &*params.severity), ("offer", &*params.offer)];
    let next = listed.as_ref().map(|listed| &*listed.next_page_token).unwrap_or_default();
    let names: Vec<&str> = chosen.iter().map(|(_, value)| *value).filter(|value| !value.is_empty()).collect();
    html! {
        h2 #problems { (visit.f("All problems: {0}", &[&names.join(", ")])) }
        p { a href=(page) { (visit.t("Close this list")) } }
        (part(visit, listed, |listed| rows(visit, page, "listed", &listed.problems)))
        (pager(visit, &format!("{page}#problems"), &chosen, &params.page, next))
    }
}

fn rows(visit: &Visit, page: &str, which: &str, problems: &[OfferProblem]) -> Markup {
    let columns = columns![
        text "Offer", text "Problems", text "Field", text "Value", number "Line", number "Column",
    ];
    let none = visit.t("There are no problems of this kind in the load.");
    let rows = problems.iter().enumerate();
    let rows = rows.map(|(place, found)| row(visit, page, &format!("{which}-{place}"), found));
    table(visit, visit.t("Problems found"), &columns, none, rows)
}

fn row(visit: &Visit, page: &str, id: &str, found: &OfferProblem) -> Markup {
    let problem = found.problem.as_option().cloned().unwrap_or_default();
    let bad = problem.severity.as_known() == Some(Severity::SEVERITY_ERROR);
    let place = |at: u32| if at == 0 { "–".to_owned() } else { at.to_string() };
    html! {
        td.wide {
            @if found.offer.is_empty() { (cut(&found.title)) }
            @else { a href=(path(&["offers", &found.offer])) { @if found.title.is_empty() { (found.offer) } @else { (cut(&found.title)) } } }
            @if !found.external_id.is_empty() {
                br; a.quiet href={ (page) (query(&[("offer", &found.external_id)])) "#problems" } { (cut(&found.external_id)) }
            }
        }
        td.wide { (severity(visit, bad)) " " (problem.message) @if !problem.remedy.is_empty() { br; span.quiet { (problem.remedy) } } }
        td { (cut(&problem.field)) }
        td.wide.code { (long(id, &problem.value)) }
        td.n { (place(problem.line)) }
        td.n { (place(problem.column)) }
    }
}

fn severity(visit: &Visit, bad: bool) -> Markup {
    if bad { state(Tone::Bad, visit.t("error")) } else { state(Tone::Warn, visit.t("warning")) }
}

/// Whether a link is safe to follow: a web page, no script.
fn is_web(link: &str) -> bool {
    ["https://", "http://", "/"].iter().any(|begin| link.starts_with(begin))
}

pub(super) async fn xlsx(visit: Visit, Path(of): Path<LoadRef>) -> Response {
    file(&visit, &of, "problems.xlsx").await
}

pub(super) async fn csv(visit: Visit, Path(of): Path<LoadRef>) -> Response {
    file(&visit, &of, "problems.csv").await
}

/// Streams the report as a file.
async fn file(visit: &Visit, of: &LoadRef, name: &str) -> Response {
    let [seller, namespace, number] = [&of.seller, &of.namespace, &of.number].map(|text| piece(text));
    let language = visit.language().code();
    let path = format!("/feeds/{seller}/{namespace}/loads/{number}/{name}?language={language}");
    let failure = match Request::get(path).body(Body::empty()) {
        Ok(request) => {
            let answer = visit.forward(request).await;
            if answer.status() == StatusCode::OK {
                return answer;
            }
            let status = answer.status();
            let body = axum::body::to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await;
            failure_of(status, &body.unwrap_or_default())
        }
        Err(error) => Failure::new(Kind::Broken, error.to_string()),
    };
    visit.page(Section::Feeds, name, Err(failure))
}
