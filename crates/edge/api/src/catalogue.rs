//! `torg.catalog.v1.CatalogueService`: which categories there are, and what an offer in each of them says.

use access::{Action, Caller};
use catalog::{Bounds, Catalogue, Category, Kind, Use};
use connectrpc::{ErrorCode, RequestContext, Response, ServiceResult};
use wire::torg::catalog::v1::{self as proto, attribute, find_categories_response, limits};

use crate::caller::of_request;
use crate::errors::Refusal;
use crate::limits::{CATEGORY_BYTES_MAX, CATEGORY_QUERY_CHARS_MAX, LANGUAGE_BYTES_MAX, name, text};
use crate::market::Market;

/// Points of a candidate that is as sure as can be.
const POINTS_MAX: f64 = 1000.0;

/// The service.
pub(crate) struct CatalogueRpc(pub(crate) Market);

impl proto::CatalogueService for CatalogueRpc {
    async fn find_categories(
        &self,
        context: RequestContext,
        request: proto::FindCategoriesRequest,
    ) -> ServiceResult<proto::FindCategoriesResponse> {
        Response::ok(self.find(of_request(&context)?, &request)?)
    }

    async fn get_category(
        &self,
        context: RequestContext,
        request: proto::GetCategoryRequest,
    ) -> ServiceResult<proto::GetCategoryResponse> {
        Response::ok(self.get(of_request(&context)?, &request)?)
    }
}

impl CatalogueRpc {
    fn find(
        &self,
        caller: &Caller,
        request: &proto::FindCategoriesRequest,
    ) -> Result<proto::FindCategoriesResponse, Refusal> {
        Refusal::of_verdict(caller.judge(Action::ReadPublic), Refusal::forbidden)?;
        if request.text.trim().is_empty() {
            return Err(Refusal::required("text"));
        }
        text("text", &request.text, CATEGORY_QUERY_CHARS_MAX)?;
        let catalogue = self.0.offers.catalogue();
        let language = language(catalogue, &request.language)?;
        let found = catalogue.find_category(&request.text, Some(language)).into_iter().map(|candidate| {
            find_categories_response::Candidate {
                category: category_name(candidate.category, language).into(),
                score: f64::from(candidate.points) / POINTS_MAX,
                ..Default::default()
            }
        });
        Ok(proto::FindCategoriesResponse { candidates: found.collect(), ..Default::default() })
    }

    fn get(
        &self,
        caller: &Caller,
        request: &proto::GetCategoryRequest,
    ) -> Result<proto::GetCategoryResponse, Refusal> {
        Refusal::of_verdict(caller.judge(Action::ReadPublic), Refusal::forbidden)?;
        let catalogue = self.0.offers.catalogue();
        let language = language(catalogue, &request.language)?;
        let (catalogue_name, version) = (catalogue.name().to_owned(), catalogue.version());
        let answer = proto::GetCategoryResponse { catalogue: catalogue_name, version, ..Default::default() };
        if request.id.is_empty() {
            let children = catalogue.roots().map(|root| category_name(root, language)).collect();
            return Ok(proto::GetCategoryResponse { children, ..answer });
        }
        name("id", &request.id, CATEGORY_BYTES_MAX)?;
        let category = catalogue.category(&request.id).ok_or_else(|| {
            let text = format!("there is no category {:?}: find one by its name", request.id);
            Refusal::new(ErrorCode::NotFound, "CATEGORY_NOT_FOUND", text)
        })?;
        Ok(proto::GetCategoryResponse {
            category: category_name(category, language).into(),
            children: category.children().map(|child| category_name(child, language)).collect(),
            attributes: category.attributes().map(|used| attribute(used, language)).collect(),
            limits: limits_of(category).into(),
            ..answer
        })
    }
}

/// A language of the catalogue; its first if none is named.
fn language<'c>(catalogue: &'c Catalogue, named: &str) -> Result<&'c str, Refusal> {
    let known = catalogue.languages();
    if named.is_empty() {
        return Ok(known.first().map_or("en", |first| first));
    }
    if named.len() > LANGUAGE_BYTES_MAX {
        return Err(Refusal::wrong_field("language", "UNKNOWN_LANGUAGE", "such as en"));
    }
    known.iter().find(|language| ***language == *named).map(|language| &**language).ok_or_else(|| {
        let text = format!("the catalogue speaks {}", known.join(", "));
        Refusal::wrong_field("language", "UNKNOWN_LANGUAGE", text)
    })
}

fn category_name(category: Category<'_>, language: &str) -> proto::CategoryName {
    proto::CategoryName {
        id: category.id().to_owned(),
        name: category.name(language).to_owned(),
        path: category.path(language),
        accepts_offers: category.accepts_offers(),
        ..Default::default()
    }
}

fn attribute(used: Use<'_>, language: &str) -> proto::Attribute {
    let about = used.attribute();
    let (min, max) = ends(used.kind());
    let choice = |choice: catalog::Choice<'_>| attribute::Choice {
        id: choice.id().to_owned(),
        name: choice.name(language).to_owned(),
        ..Default::default()
    };
    proto::Attribute {
        id: about.id().to_owned(),
        name: about.name(language).to_owned(),
        required: used.required(),
        r#type: used.kind().type_name().to_owned(),
        unit: about.unit().map(|unit| unit.name(language).to_owned()).unwrap_or_default(),
        min,
        max,
        choices: used.choices().map(choice).collect(),
        ..Default::default()
    }
}

/// The least and the most; empty where there is no end.
fn ends(kind: &Kind) -> (String, String) {
    match kind {
        Kind::Text { min_length, max_length, .. } => (min_length.to_string(), max_length.to_string()),
        Kind::Whole { min, max } => {
            let end = |end: i64, none: i64| if end == none { String::new() } else { end.to_string() };
            (end(*min, i64::MIN), end(*max, i64::MAX))
        }
        Kind::Decimal { min, max, .. } => {
            let end =
                |end: &Option<catalog::Decimal>| end.as_ref().map(ToString::to_string).unwrap_or_default();
            (end(min), end(max))
        }
        Kind::Date { min, max } => (min.to_string(), max.to_string()),
        Kind::Several { max_values } => (String::new(), max_values.to_string()),
        Kind::YesNo | Kind::One => (String::new(), String::new()),
    }
}

fn limits_of(category: Category<'_>) -> proto::Limits {
    let limits = category.limits();
    let bounds =
        |bounds: Bounds| limits::Bounds { least: bounds.least, most: bounds.most, ..Default::default() };
    proto::Limits {
        title: bounds(limits.title).into(),
        description: bounds(limits.description).into(),
        photos: bounds(limits.photos).into(),
        price_required: limits.price_required,
        price_kinds: limits.price_kinds().map(|kind| kind.as_str().to_owned()).collect(),
        condition_required: limits.condition_required,
        conditions: category.conditions().map(|condition| condition.id().to_owned()).collect(),
        ..Default::default()
    }
}
